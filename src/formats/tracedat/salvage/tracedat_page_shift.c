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
static void range_step(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c, struct tracedat_cpu *last,
		       uint64_t from, bool earlier)
{
	if (!tracedat_range_explained(w, TRACEDAT_RULE_cpu_offset_alignment, b, from - c->from)) {
		struct finding *fd =
			tracedat_report(w, TRACEDAT_RULE_cpu_offset_alignment, from, w->shape.page_size,
					"the data of the CPU begins a page %s than its table says: a page was %s before",
					earlier ? "earlier" : "later", earlier ? "removed" : "inserted");
		finding_path(fd, "CPU %u", c->cpu);
		tracedat_shift_note(w, fd, from - c->from);
	}
	if (last && last->length && last->from + last->length == c->from)
		last->length = from - last->from;
	/* It may have been cut at the end of the file, where it seemed to end. */
	c->length = last ? c->size : c->length + (c->from - from);
	c->from = from;
	if (c->length > tracedat_file_end(w) - from)
		c->length = tracedat_file_end(w) - from;
}

/* Where the table of the buffer says that its data ends. */
static uint64_t stated_end(const struct tracedat_buffer *b)
{
	uint64_t end = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct tracedat_cpu *c = &b->cpus[i];
		if (c->size && c->offset <= UINT64_MAX - c->size && c->offset + c->size > end)
			end = c->offset + c->size;
	}
	return end;
}

/* What is known of the pages of a buffer that moved. */
struct steps {
	struct tracedat_walk *w;
	uint32_t size;
	uint64_t moved;	    /* how far behind the end that the table states the file ends, modulo 2^64 */
	bool sized;	    /* its section (version 7) is as long as it says: it has no page more or less */
	bool absent, extra; /* the file is a page shorter than the table says, or a page longer */
	bool stepped;
};

/* Whether the table has the data of another CPU there, so that what begins there shows nothing of c. */
static bool another_begins(const struct tracedat_buffer *b, const struct tracedat_cpu *c, uint64_t place)
{
	for (const struct tracedat_cpu *other = c + 1; other < b->cpus + b->count; other++)
		if (other->size && other->offset != c->offset)
			return other->offset == place;
	return false;
}

/* Whether the data of c begins a page earlier (-1) or later (1) than its table says; 0: neither. */
static int range_away(struct steps *s, const struct tracedat_buffer *b, const struct tracedat_cpu *c,
		      const struct tracedat_cpu *last)
{
	struct tracedat_walk *w = s->w;
	/* Behind what moved all did, also what seems to be behind the end of the file. */
	bool behind = s->stepped && (s->absent || s->extra) && c->size;

	if ((!c->length && !behind) || c->from < 3 * (uint64_t)s->size)
		return 0;
	if (behind)
		return s->absent ? -1 : 1;
	if (s->sized && c->from == c->offset && !s->absent && !s->extra)
		return 0;
	bool begins = cpu_begins(w, c->from, s->size);
	if (begins && !s->absent)
		return 0;
	/* Behind a page that was hit, nothing shows that it does not begin where its table says, or as far away as the file ends.
	 */
	bool stays = c->from == c->offset || c->from == c->offset + s->moved;
	if (stays && !s->absent && !s->extra && !page_time(w, c->from - s->size, s->size) && page_time(w, c->from, s->size))
		return 0;
	w->data.shifts++;
	bool earlier = !s->extra && cpu_begins(w, c->from - s->size, s->size);
	bool later = !begins && (s->extra || !another_begins(b, c, c->from + s->size)) && cpu_begins(w, c->from + s->size, s->size);
	if (earlier == later || (earlier && last->length && last->length <= s->size))
		return 0;
	return earlier ? -1 : 1;
}

/* The first one has no other in front of it, but a page of its own. */
static void first_step(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *first, uint32_t size)
{
	uint64_t before = first->length && first->from >= 2 * (uint64_t)size ? page_time(w, first->from - size, size) : 0;
	if (before && before <= page_time(w, first->from, size))
		range_step(w, b, first, NULL, first->from - size, true);
}

/* Whether a page was removed from the metadata of version 6: data begins a page in front of where the table says, right behind the
 * metadata. */
static bool data_is_early(const struct steps *s, const struct tracedat_buffer *b)
{
	struct tracedat_walk *w = s->w;

	if (!s->absent || w->shape.version != 6 || b != w->data.buffers || !b->count)
		return false;
	const struct tracedat_cpu *first = &b->cpus[0];
	return first->size && first->offset == tracedat_align(w->meta.stop, s->size) + s->size &&
	       page_time(w, first->offset - s->size, s->size);
}

void tracedat_ranges_step(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	uint64_t end = stated_end(b), real = tracedat_file_end(w);
	struct steps s = { .w = w, .size = b->page_size, .moved = end ? real - end : 0 };
	const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	bool all_earlier = false;

	s.sized = section && section->declared == section->size && !section->size_bad && !section->cut;
	s.absent = end && end == real + s.size;
	s.extra = end && end + s.size == real && page_time(w, end, s.size);
	if (!s.extra && !findings_errors(w->findings))
		return;
	if (data_is_early(&s, b)) {
		range_step(w, b, &b->cpus[0], NULL, b->cpus[0].from - s.size, true);
		b->cpus[0].length = b->cpus[0].size < real - b->cpus[0].from ? b->cpus[0].size : real - b->cpus[0].from;
		s.stepped = true;
	}
	for (size_t i = 1; i < b->count && w->data.shifts < SHIFTS_MAX; i++) {
		struct tracedat_cpu *c = &b->cpus[i], *last = &b->cpus[i - 1];
		int away = range_away(&s, b, c, last);
		if (!away)
			continue;
		all_earlier |= away < 0 && i == 1;
		s.stepped = true;
		c->lost = false;
		range_step(w, b, c, last, away < 0 ? c->from - s.size : c->from + s.size, away < 0);
	}
	if (all_earlier)
		first_step(w, b, &b->cpus[0], s.size);
}
