/* Validity checks of ring-buffer pages that use nothing but their bytes. */
#include "formats/tracedat/decode/tracedat_page_layout.h"

/* The length of a page with a valid header. */
bool tracedat_page_length(const struct tracedat_shape *shape, const uint8_t *page, uint32_t page_size, uint32_t *length)
{
	uint64_t commit = tracedat_long(shape, page + 8), high = shape->long_size == 8 ? commit >> 32 : 0;
	*length = (uint32_t)(commit & TRACEDAT_COMMIT_LENGTH);
	/* A length of another word: a page that is not at its place. */
	if (high && high != UINT32_MAX)
		return false;
	return *length <= tracedat_page_capacity(shape, page_size) && !(*length & 3) && !(commit & TRACEDAT_COMMIT_RESERVED);
}

/* ---- is there a page? ---- */

uint32_t tracedat_page_prefix(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *data, uint32_t length,
			      bool open, uint32_t *records)
{
	bool be = shape->big_endian;
	uint32_t at = 0, n = 0;
	struct tracedat_word word;

	for (; length - at >= 4; at += word.total) {
		if ((open && !load_u32(data + at, be)) || !tracedat_word_read(data, at, length, be, &word))
			break;
		if (word.type >= TRACEDAT_WORD_PADDING)
			continue;
		if (word.total - word.skip < 8 || (known && !known[load_u16(data + at + word.skip, be)]))
			break;
		n++;
	}
	if (records)
		*records = n;
	return at;
}

bool tracedat_page_sound(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *page, uint32_t page_size,
			 uint32_t *records)
{
	uint32_t length, n;

	const uint64_t time = load_u64(page, shape->big_endian);
	if (!tracedat_page_length(shape, page, page_size, &length) || !time)
		return false;
	/* A page with a long length, four bytes away, looks so. */
	if (shape->big_endian && shape->long_size == 4 && !(time & UINT32_MAX))
		return false;
	uint32_t end = tracedat_page_prefix(shape, known, page + tracedat_page_data(shape),
					    length ? length : tracedat_page_capacity(shape, page_size), !length, &n);
	if (records)
		*records = n;
	/* A length of 0 was hit: nothing follows the records then. */
	const uint32_t capacity = tracedat_page_capacity(shape, page_size);
	return n > 0 &&
	       (length ? end == length : end <= capacity && bytes_are_zero(page + tracedat_page_data(shape) + end, capacity - end));
}

bool tracedat_page_cut_sound(const struct tracedat_shape *shape, const uint16_t *known, const uint8_t *page, uint32_t available,
			     uint32_t page_size)
{
	uint32_t head = tracedat_page_data(shape), length, n = 0;

	if (available < head + 4 || !tracedat_page_length(shape, page, page_size, &length) || !length ||
	    !load_u64(page, shape->big_endian))
		return false;
	(void)tracedat_page_prefix(shape, known, page + head, length < available - head ? length : available - head, false, &n);
	return n > 0;
}

bool tracedat_page_tail_zero(const struct tracedat_shape *shape, const uint8_t *page, uint32_t page_size)
{
	uint32_t head = tracedat_page_data(shape);
	uint64_t commit = tracedat_long(shape, page + 8);
	uint32_t end = (uint32_t)(commit & TRACEDAT_COMMIT_LENGTH) +
		       (commit & TRACEDAT_COMMIT_MISSED_STORED ? shape->long_size : 0);
	return end <= page_size - head && bytes_are_zero(page + head + end, page_size - head - end);
}
