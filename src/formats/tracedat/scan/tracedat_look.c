/* Looks at pages that report nothing: is there one, where does it end, can it be what a recorder wrote? */
#include "formats/tracedat/decode/tracedat_page.h"

/* Searches for a page at another place than it should be; each looks at two pages' worth of places. */
#define SLIDES_MAX 256u
/* Contradictions of a chunk that are still taken for one bad record or page, not for a damaged frame. */
#define STRANGE_MAX 1u
/* A page may begin this long before the end of the one before: clocks step back a little. */
#define STEP_BACK_MAX UINT64_C(1000000000)

uint32_t tracedat_page_data(const struct tracedat_walk *w)
{
	return 8u + w->shape.long_size;
}

uint32_t tracedat_page_capacity(const struct tracedat_walk *w, uint32_t page_size)
{
	return page_size - 8u - w->shape.long_size;
}

/* The length of a page whose header makes sense. */
static bool page_length(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size, uint32_t *length)
{
	uint64_t commit = tracedat_long(w, page + 8);
	*length = (uint32_t)(commit & PAGE_LENGTH_MASK);
	return *length <= tracedat_page_capacity(w, page_size) && !(*length & 3) && !(commit & PAGE_RESERVED_BITS);
}

/* ---- is there a page? ---- */

uint32_t tracedat_page_prefix(const struct tracedat_walk *w, const uint8_t *data, uint32_t length, bool open, uint32_t *records)
{
	bool be = w->shape.big_endian;
	uint32_t at = 0, n = 0;
	struct tracedat_word word;

	for (; length - at >= 4; at += word.total) {
		if ((open && !load_u32(data + at, be)) || !tracedat_word(data, at, length, be, &word))
			break;
		if (word.type >= WORD_PADDING)
			continue;
		if (word.total - word.skip < 8 ||
		    (w->events.count && !w->events.index[load_u16(data + at + word.skip, be)] && !w->events.lost))
			break;
		n++;
	}
	if (records)
		*records = n;
	return at;
}

bool tracedat_page_plausible(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size, uint32_t *records)
{
	uint32_t length, n;

	if (!page_length(w, page, page_size, &length) || !load_u64(page, w->shape.big_endian))
		return false;
	uint32_t end = tracedat_page_prefix(w, page + tracedat_page_data(w), length ? length : tracedat_page_capacity(w, page_size),
					    !length, &n);
	if (records)
		*records = n;
	return n > 0 && (!length || end == length);
}

bool tracedat_page_cut_plausible(const struct tracedat_walk *w, const uint8_t *page, uint32_t available, uint32_t page_size)
{
	uint32_t head = tracedat_page_data(w), length, n = 0;

	if (available < head + 4 || !page_length(w, page, page_size, &length) || !length || !load_u64(page, w->shape.big_endian))
		return false;
	(void)tracedat_page_prefix(w, page + head, length < available - head ? length : available - head, false, &n);
	return n > 0;
}

bool tracedat_page_tail_zero(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size)
{
	uint32_t head = tracedat_page_data(w);
	uint64_t commit = tracedat_long(w, page + 8);
	uint32_t end = (uint32_t)(commit & PAGE_LENGTH_MASK) + (commit & PAGE_MISSED_STORED ? w->shape.long_size : 0);
	return end <= page_size - head && bytes_are_zero(page + head + end, page_size - head - end);
}

uint64_t tracedat_slide(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t low, uint64_t high)
{
	if (w->data.slides >= SLIDES_MAX || w->shape.old_ring)
		return UINT64_MAX;
	w->data.slides++;
	/* Near places first: a few bytes are the usual shift. A whole page away is another page. */
	for (uint64_t step = 1; step < page_size; step++)
		for (unsigned side = 0; side < 2; side++) {
			uint64_t place = side ? at + step : at - step;
			if (place < low || place >= high || (!side && step > at))
				continue;
			const uint8_t *p = window_at(&w->window, place, page_size);
			if (!p || !tracedat_page_plausible(w, p, page_size, NULL) || !tracedat_page_tail_zero(w, p, page_size))
				continue;
			p = high - place >= 2 * (uint64_t)page_size ? window_at(&w->window, place + page_size, page_size) : NULL;
			if (!p || tracedat_page_plausible(w, p, page_size, NULL) || bytes_are_zero(p, page_size))
				return place;
		}
	return UINT64_MAX;
}

/* ---- does a chunk unfold to what was once compressed? ---- */

struct vouch {
	const struct tracedat_walk *w;
	unsigned strange;
	uint32_t id;   /* an event ID without a format; 0: none yet */
	uint64_t time; /* of the last record */
};

static void vouch_record(struct vouch *v, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	uint32_t id = size >= 8 ? load_u16(payload, w->shape.big_endian) : 0;
	const struct tracedat_event *e = tracedat_event_of(w, id);

	if (!id || (e && size < e->fixed)) {
		v->strange++;
	} else if (!e && w->events.count && !w->events.lost && id != w->events.blk_id && id != v->id) {
		/* Many records of one unknown event are one contradiction. */
		v->strange++;
		v->id = id;
	}
}

static void vouch_page(struct vouch *v, const uint8_t *page, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	const uint8_t *data = page + tracedat_page_data(w);
	bool be = w->shape.big_endian;
	uint32_t length, at = 0;
	uint64_t time = load_u64(page, be);
	struct tracedat_word word;

	if (!page_length(w, page, size, &length)) {
		v->strange++;
		return;
	}
	v->strange += time ? length && time + STEP_BACK_MAX < v->time : !bytes_are_zero(page, size);
	for (; length - at >= 4 && tracedat_word(data, at, length, be, &word); at += word.total) {
		uint64_t high = word.type >= WORD_EXTEND ? (uint64_t)load_u32(data + at + 4, be) << 27 : 0;
		if (word.type == WORD_STAMP)
			time = (time & ~WORD_STAMP_MASK) | ((high + word.delta) & WORD_STAMP_MASK);
		else
			time += high + word.delta;
		if (word.type < WORD_PADDING)
			vouch_record(v, data + at + word.skip, word.total - word.skip);
	}
	v->strange += at != length;
	v->time = time;
}

bool tracedat_chunk_vouched(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size)
{
	struct vouch v = { .w = w };
	for (size_t at = 0; size - at >= page_size && v.strange <= STRANGE_MAX; at += page_size)
		vouch_page(&v, data + at, page_size);
	return v.strange <= STRANGE_MAX;
}
