/* The words of a page of the ring buffer, for those who walk over them. */
#ifndef TRACEDAT_PAGE_H
#define TRACEDAT_PAGE_H

#include "formats/tracedat/tracedat.h"

/* The commit word. */
#define PAGE_LENGTH_MASK 0x7ffffffu
#define PAGE_RESERVED_BITS (7u << 27)
#define PAGE_MISSED_STORED (1u << 30)
#define PAGE_MISSED_EVENTS (1u << 31)
/* The type of an event word, beyond the 0 and 1 to 28 of data records; and its 27 bits of time. */
#define WORD_PADDING 29u
#define WORD_EXTEND 30u
#define WORD_STAMP 31u
#define WORD_DELTA_MAX 0x7ffffffu
/* Bits of an absolute time. */
#define WORD_STAMP_MASK ((UINT64_C(1) << 59) - 1)

/* An event word with what belongs to it. */
struct tracedat_word {
	uint32_t type, delta;
	uint32_t total; /* bytes */
	uint32_t skip;	/* bytes before the payload of a data record */
};

/* Reads the word at data[at, length), at + 4 <= length. False: it makes no sense, or reaches beyond. */
static inline bool tracedat_word(const uint8_t *data, uint32_t at, uint32_t length, bool be, struct tracedat_word *word)
{
	uint32_t first = load_u32(data + at, be);
	word->type = be ? first >> 27 : first & 31;
	word->delta = be ? first & WORD_DELTA_MAX : first >> 5;
	word->skip = 4;
	if (word->type - 1 < 28) {
		word->total = 4 + 4 * word->type;
	} else if (word->type >= WORD_EXTEND) {
		word->total = 8;
	} else {
		uint32_t size = length - at >= 8 ? load_u32(data + at + 4, be) : 0;
		if (size < 4 || size & 3 || size > length - at - 4 || (word->type == WORD_PADDING && !word->delta))
			return false;
		word->total = 4 + size;
		word->skip = 8;
	}
	return word->total <= length - at;
}

/* Records of known events from the begin of the data. Returns where they end; open: a zero word ends them, too. */
uint32_t tracedat_page_prefix(const struct tracedat_walk *w, const uint8_t *data, uint32_t length, bool open, uint32_t *records);

/* What a walk over one page carries along. */
struct tracedat_page {
	struct tracedat_walk *w;
	struct tracedat_stream *stream;
	const uint8_t *bytes; /* of the page */
	const uint8_t *data;  /* behind its header */
	const struct tracedat_place_of *where;
	uint32_t head;	/* bytes of the header */
	uint32_t limit; /* of the data that is walked */
	uint32_t capacity;
	uint32_t records, bad;
	uint32_t removed;		    /* bytes of removed records */
	uint32_t last;			    /* where the last data record begins */
	uint64_t time, carry;		    /* carry: deltas of removed records */
	struct tracedat_edit nowhere;	    /* written to and never read, when memory is short */
	bool be, emitting, failed, garbled; /* garbled: its header cannot be right */
	bool cut;			    /* its length ends inside of a record */
};

/* tracedat_record.c */
/* A finding on bytes [at, at + length) of the page; on its whole chunk where that is compressed. */
#define tracedat_page_finding(p, rule, ...) ((void)PLACE(rule), tracedat_page_finding_at((p), (rule), __VA_ARGS__))
struct finding *tracedat_page_finding_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length);
#define tracedat_page_report(p, rule, ...) ((void)PLACE(rule), tracedat_page_report_at((p), (rule), __VA_ARGS__))
struct finding *tracedat_page_report_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length, const char *format,
					...) PRINTF_LIKE(5, 6);
/* A change that takes `remove` bytes at `at` of the page away; what comes there is the caller's to say. Never NULL. */
struct tracedat_edit *tracedat_page_edit(struct tracedat_page *p, uint32_t at, uint32_t remove, unsigned rule, const char *why);
/* Walks records from `at` up to p->limit. Returns where it stopped: the limit when all is well. In a page whose length is not
 * trusted (`open`) a zero word is its end. */
uint32_t tracedat_page_walk(struct tracedat_page *p, uint32_t at, bool open);

#endif
