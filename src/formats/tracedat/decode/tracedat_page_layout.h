/* The words of a page of the ring buffer, and what a page is by its bytes alone. Layout: MAN6 "CPU DATA", and the kernel's
 * include/linux/ring_buffer.h. `known` tells the event IDs that have a format (0: none); NULL where any ID will do. */
#ifndef TRACEDAT_PAGE_LAYOUT_H
#define TRACEDAT_PAGE_LAYOUT_H

#include "formats/tracedat/decode/tracedat_shape.h"

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
uint32_t tracedat_page_prefix(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *data, uint32_t length,
			      bool open, uint32_t *records);
/* The length that the header of a page states. False: the header makes no sense. */
bool tracedat_page_length(const struct tracedat_shape *shape, const uint8_t *page, uint32_t page_size, uint32_t *length);
/* A page whose commit is sane, whose records end on it and have known ids. *records may be NULL. */
bool tracedat_page_sound(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *page, uint32_t page_size,
			 uint32_t *records);
/* The same for a page of which only the first `available` bytes are there: it begins with a sound record. */
bool tracedat_page_cut_sound(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *page, uint32_t available,
			     uint32_t page_size);
/* Whether all bytes behind the data of a sound page are zero. */
bool tracedat_page_tail_zero(const struct tracedat_shape *shape, const uint8_t *page, uint32_t page_size);

#endif
