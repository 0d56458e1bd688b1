/* The words of a page of the ring buffer, and validity checks of whole pages. Layout: MAN6 "CPU DATA", and the kernel's
 * include/linux/ring_buffer.h. `known` is an array over event IDs, 0 for an ID without a format; NULL accepts any ID. */
#ifndef TRACEDAT_PAGE_LAYOUT_H
#define TRACEDAT_PAGE_LAYOUT_H

#include "formats/tracedat/decode/tracedat_shape.h"

/* The commit word. */
#define TRACEDAT_COMMIT_LENGTH 0x7ffffffu
#define TRACEDAT_COMMIT_RESERVED (7u << 27)
#define TRACEDAT_COMMIT_MISSED_STORED (1u << 30)
#define TRACEDAT_COMMIT_MISSED_EVENTS (1u << 31)
/* The type of an event word, beyond the 0 and 1 to 28 of data records; and its 27 bits of time. */
#define TRACEDAT_WORD_PADDING 29u
#define TRACEDAT_WORD_EXTEND 30u
#define TRACEDAT_WORD_STAMP 31u
#define TRACEDAT_WORD_DELTA_MAX 0x7ffffffu
/* Bits of an absolute time. */
#define TRACEDAT_WORD_STAMP_MASK ((UINT64_C(1) << 59) - 1)

/* An event word and the sizes that follow from it. */
struct tracedat_word {
	uint32_t type, delta;
	uint32_t total; /* bytes */
	uint32_t skip;	/* bytes before the payload of a data record */
};

/* What the first 4 bytes of a word say. */
struct tracedat_word_head {
	uint32_t type, delta;
};

static inline struct tracedat_word_head tracedat_word_head(const uint8_t *p, bool be)
{
	const uint32_t first = load_u32(p, be);
	return be ? (struct tracedat_word_head){ first >> 27, first & TRACEDAT_WORD_DELTA_MAX }
		  : (struct tracedat_word_head){ first & 31, first >> 5 };
}

/* Reads the word at data[at, length). False: it is not there, or its length is invalid or passes the end. */
static inline bool tracedat_word_read(const uint8_t *data, uint32_t at, uint32_t length, bool be, struct tracedat_word *word)
{
	if (at > length || length - at < 4)
		return false;
	const struct tracedat_word_head head = tracedat_word_head(data + at, be);
	word->type = head.type;
	word->delta = head.delta;
	word->skip = 4;
	if (word->type - 1 < 28) {
		word->total = 4 + 4 * word->type;
	} else if (word->type >= TRACEDAT_WORD_EXTEND) {
		word->total = 8;
	} else {
		uint32_t size = length - at >= 8 ? load_u32(data + at + 4, be) : 0;
		if (size < 4 || size & 3 || size > length - at - 4 || (word->type == TRACEDAT_WORD_PADDING && !word->delta))
			return false;
		word->total = 4 + size;
		word->skip = 8;
	}
	return word->total <= length - at;
}

/* Walks records of known events from the beginning of the data. Returns where they end; open: a zero word ends them as well. */
uint32_t tracedat_page_prefix(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *data, uint32_t length,
			      bool open, uint32_t *records);
/* The length that the header of a page states. False: the header is invalid. */
bool tracedat_page_length(const struct tracedat_shape *shape, const uint8_t *page, uint32_t page_size, uint32_t *length);
/* Whether the page has a valid commit word and records of known IDs that end exactly at its length. *records may be NULL. */
bool tracedat_page_sound(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *page, uint32_t page_size,
			 uint32_t *records);
/* The same for a page of which only the first `available` bytes exist: it begins with a valid record. */
bool tracedat_page_cut_sound(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *page, uint32_t available,
			     uint32_t page_size);
/* Whether all bytes after the data of a valid page are zero. */
bool tracedat_page_tail_zero(const struct tracedat_shape *shape, const uint8_t *page, uint32_t page_size);

#endif
