/* Pages that are not at their offset, since bytes were inserted or removed before them. */
#include "formats/tracedat/decode/tracedat_codec.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* Searches for a shifted page; each tries the offsets of two pages. */
#define SHIFTS_MAX 256u

uint64_t tracedat_page_shifted(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t pages, uint64_t low,
			       uint64_t high)
{
	if (w->data.shifts >= SHIFTS_MAX || w->shape.old_ring)
		return UINT64_MAX;
	w->data.shifts++;
	/* Near places first: a few bytes are the usual shift. A whole page away is another page. */
	for (uint64_t step = 1; step < page_size; step++)
		for (unsigned side = 0; side < 2; side++) {
			uint64_t place = side ? at + step : at - step;
			if (place < low || place >= high || (!side && step > at))
				continue;
			uint32_t records = 0;
			const uint8_t *p = window_at(&w->window, place, page_size);
			if (!p || !tracedat_page_plausible(w, p, page_size, &records) ||
			    !tracedat_page_tail_zero(&w->shape, p, page_size))
				continue;
			/* Behind the only page of a CPU anything may follow. */
			if (pages < 2 && records)
				return place;
			p = high - place >= 2 * (uint64_t)page_size ? window_at(&w->window, place + page_size, page_size) : NULL;
			if (!p || tracedat_page_plausible(w, p, page_size, NULL) || bytes_are_zero(p, page_size))
				return place;
		}
	return UINT64_MAX;
}

/* Chunks of one CPU beyond which their number is damage: 4 billion of ten pages are not recorded. */
#define CHUNKS_MAX (1u << 20)

/* Whether the number of chunks stands there, and the first of them behind it. */
static bool chunks_begin(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t high)
{
	const uint8_t *p = high > at && high - at >= 16 ? window_at(&w->window, at, 16) : NULL;
	if (!p || !tracedat_frame_begins(w->shape.codec, p + 12, 4))
		return false;
	uint32_t count = load_u32(p, w->shape.big_endian), csize = load_u32(p + 4, w->shape.big_endian);
	uint32_t usize = load_u32(p + 8, w->shape.big_endian);
	return count - 1 < CHUNKS_MAX && csize && csize <= high - at - 12 && usize && usize <= TRACEDAT_CHUNK_MAX &&
	       usize % page_size == 0;
}

uint64_t tracedat_chunks_shifted(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t low, uint64_t high)
{
	if (w->data.shifts >= SHIFTS_MAX)
		return UINT64_MAX;
	w->data.shifts++;
	/* The limit is one of bytes that damage inserts at once, not of the format. */
	for (uint64_t step = 1; step <= 2 * (uint64_t)page_size; step++)
		for (unsigned side = 0; side < 2; side++) {
			uint64_t place = side ? at + step : at - step;
			if (place >= low && place < high && (side || step <= at) && chunks_begin(w, place, page_size, high))
				return place;
		}
	return UINT64_MAX;
}

/* The time of a plausible page; 0: there is none. */
static uint64_t page_time(struct tracedat_walk *w, uint64_t at, uint32_t page_size)
{
	const uint8_t *p = window_at(&w->window, at, page_size);
	return p && tracedat_page_plausible(w, p, page_size, NULL) ? load_u64(p, w->shape.big_endian) : 0;
}

/* From one CPU to the next time steps back. */
static bool cpu_begins(struct tracedat_walk *w, uint64_t at, uint32_t page_size)
{
	uint64_t before = at >= page_size ? page_time(w, at - page_size, page_size) : 0, time = page_time(w, at, page_size);
	return before && time && time < before;
}

/* Moves the beginning of c, and the end of the CPU in front of it. */
static void range_step(struct tracedat_walk *w, struct tracedat_cpu *c, struct tracedat_cpu *last, uint64_t from, bool earlier)
{
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_cpu_offset_alignment, from, w->shape.page_size,
					     "the data of the CPU begins a page %s than its table says: a page was %s before",
					     earlier ? "earlier" : "later", earlier ? "removed" : "inserted");
	finding_path(fd, "CPU %u", c->cpu);
	if (last && last->length && last->from + last->length == c->from)
		last->length = from - last->from;
	/* It may have been cut at the end of the file, where it seemed to end. */
	c->length = last ? c->size : c->length + (c->from - from);
	c->from = from;
	if (c->length > w->source->size - from)
		c->length = w->source->size - from;
}

void tracedat_ranges_step(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	uint32_t size = b->page_size;
	bool all_earlier = false;

	for (size_t i = 1; i < b->count && w->data.shifts < SHIFTS_MAX; i++) {
		struct tracedat_cpu *c = &b->cpus[i], *last = &b->cpus[i - 1];
		if (!c->length || c->from < 3 * (uint64_t)size || cpu_begins(w, c->from, size))
			continue;
		w->data.shifts++;
		bool earlier = cpu_begins(w, c->from - size, size), later = cpu_begins(w, c->from + size, size);
		if (earlier == later || (earlier && last->length && last->length <= size))
			continue;
		all_earlier |= earlier && i == 1;
		range_step(w, c, last, earlier ? c->from - size : c->from + size, earlier);
	}
	/* The first one has no other in front of it, but a page of its own. */
	struct tracedat_cpu *first = b->count ? &b->cpus[0] : NULL;
	if (!all_earlier || !first->length || first->from < 2 * (uint64_t)size)
		return;
	uint64_t before = page_time(w, first->from - size, size);
	if (before && before <= page_time(w, first->from, size))
		range_step(w, first, NULL, first->from - size, true);
}
