/* The words of a page of the ring buffer, for those who walk over them. */
#ifndef TRACEDAT_PAGE_H
#define TRACEDAT_PAGE_H

#include "tracedat.h"

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
static inline bool tracedat_word(const uint8_t *data, uint32_t at, uint32_t length, bool be, struct tracedat_word *w)
{
	uint32_t word = load_u32(data + at, be);
	w->type = be ? word >> 27 : word & 31;
	w->delta = be ? word & WORD_DELTA_MAX : word >> 5;
	w->skip = 4;
	if (w->type - 1 < 28) {
		w->total = 4 + 4 * w->type;
	} else if (w->type >= WORD_EXTEND) {
		w->total = 8;
	} else {
		uint32_t size = length - at >= 8 ? load_u32(data + at + 4, be) : 0;
		if (size < 4 || size & 3 || size > length - at - 4 || (w->type == WORD_PADDING && !w->delta))
			return false;
		w->total = 4 + size;
		w->skip = 8;
	}
	return w->total <= length - at;
}

/* Records of known events from the begin of the data. Returns where they end; open: a zero word ends them, too. */
uint32_t tracedat_page_prefix(const struct tracedat *t, const uint8_t *data, uint32_t length, bool open, uint32_t *records);

#endif
