/* Pages of a CPU that is known to miss a page, or to have pages of another CPU: which of them are doubtful. */
#include "formats/tracedat/repair/tracedat_repair.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

/* Whether the events that the kernel counted besides may have stood where pages were hit, or are missing. */
static bool damage_explains(const struct tracedat_cpu *c)
{
	uint64_t absent = c->size > c->length ? (c->size - c->length) / TRACEDAT_RECORD_LEAST : 0;
	uint64_t most = c->stat->entries + c->stat->read, records = c->records - c->repeated;
	/* Where pages were read while the kernel counted, there are more than the least. */
	if (!c->missing && records < most && most - records <= c->room)
		return true;
	return c->missing && c->missing <= c->room + absent;
}

bool tracedat_cpu_contradicted(const struct tracedat_cpu *c)
{
	return c->stat && c->stat->known && !c->agrees && !damage_explains(c);
}

/* Whole pages less than its table says, where it does not end inside of one as where a file is cut. */
static bool misses_pages(const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	return c->length && c->size > c->length && c->size - c->length < TRACEDAT_PAGE_MAX && !(c->size % b->page_size) &&
	       !(c->length % b->page_size) && !c->found;
}

/* CPUs of which the kernel counted another number of events, without a reason: events of one may be with the other. */
static unsigned contradictions(const struct tracedat_walk *w)
{
	unsigned n = 0;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			n += tracedat_cpu_contradicted(&w->data.buffers[i].cpus[j]);
	return n;
}

/* Whether no page is where a CPU of the buffer should begin. */
static bool begins_bad(const struct tracedat_buffer *b)
{
	for (size_t i = 0; i < b->count && !b->compressed; i++)
		if (b->cpus[i].length && b->cpus[i].begin_bad)
			return true;
	return false;
}

static bool has_plain_pages(const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	return !b->compressed && !b->text && c->length && !c->stepped;
}

/* Where time steps back, records of a page may be those of a block of another one, which lacks their time. */
static void exchanged_doubt(struct tracedat_walk *w)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_buffer *b = &w->data.buffers[i];
			uint64_t overlap = has_plain_pages(b, &b->cpus[j]) && b->cpus[j].backwards
						   ? tracedat_gaps_overlap(w, b, &b->cpus[j])
						   : UINT64_MAX;
			least = overlap < least ? overlap : least;
		}
	for (size_t i = 0; i < w->data.buffer_count && least != UINT64_MAX; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			if (has_plain_pages(&w->data.buffers[i], &w->data.buffers[i].cpus[j]))
				tracedat_gaps_doubt_over(w, &w->data.buffers[i], &w->data.buffers[i].cpus[j], least);
}

/* Where chunks of several CPUs lead to no other chunk, blocks with whole chunks of one may be in the data of another. */
static void unchained_doubt(struct tracedat_walk *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			n += w->data.buffers[i].cpus[j].unchained;
	for (size_t i = 0; i < w->data.buffer_count && n > 1; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (c->unchained && !c->agrees)
				plan_doubt(w->s->plan, w->source, c->from, c->end > c->from ? c->end - c->from : c->length,
					   "chunks of this CPU and of another one lead to no other chunk: blocks may have been "
					   "exchanged");
		}
}

/* The last pages of a CPU whose last event is later than its statistics: their time was hit. */
static void late_doubt(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	uint64_t size = b->page_size, from = c->from, end = c->from + c->length / size * size;

	if (!b->compressed && end > from)
		for (from = end - size; from > c->from && w->status == TM_OK; from -= size) {
			const uint8_t *p = window_at(&w->window, from - size, 8);
			if (!p || load_u64(p, w->shape.big_endian) / 1000 <= c->stat->now_us)
				break;
		}
	plan_doubt(w->s->plan, w->source, from, c->from + c->length - from,
		   "its last event is later than the statistics of the CPU: a time was hit");
}

/* Whether a section of data is not where its option says, and data is not where tables say: bytes in front of both are missing, or
 * too many. Whole pages of them leave the data aligned. */
static bool data_moved(const struct tracedat_walk *w)
{
	return w->shape.version == 7 && TRACEDAT_ANY(w, TRACEDAT_RULE_v7_buffer_section) &&
	       (TRACEDAT_ANY(w, TRACEDAT_RULE_cpu_offset_alignment) || TRACEDAT_ANY(w, TRACEDAT_RULE_data_unreferenced) ||
		TRACEDAT_ANY(w, TRACEDAT_RULE_cpu_range_eof));
}

void tracedat_displaced_doubt(struct tracedat_walk *w)
{
	const bool exchanged = contradictions(w) > 1, lost = data_moved(w);

	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++)
		for (size_t j = 0; j < w->data.buffers[i].count && w->status == TM_OK; j++) {
			const struct tracedat_buffer *b = &w->data.buffers[i];
			const struct tracedat_cpu *c = &b->cpus[j];
			if (c->late && c->length && !b->text)
				late_doubt(w, b, c);
			bool strange = exchanged && tracedat_cpu_contradicted(c);
			if (lost && b->section < 0 && c->length && !(c->stat && c->agrees) && begins_bad(b))
				plan_doubt(w->s->plan, w->source, c->from, c->length,
					   "the section of this data is not where its option says, nor is data behind it");
			if (!has_plain_pages(b, c))
				continue;
			if (!strange && !misses_pages(b, c) && !c->backwards && !c->tail_hit)
				continue;
			enum tracedat_leaps which = strange || c->backwards ? TRACEDAT_LEAPS_BOTH
						    : misses_pages(b, c)    ? TRACEDAT_LEAPS_FRONT
									    : TRACEDAT_LEAPS_TAILS;
			unsigned leaps = tracedat_gaps_doubt(w, b, c, which);
			if (strange && !leaps)
				plan_doubt(w->s->plan, w->source, c->from, c->length,
					   "the kernel counted other numbers of events of this CPU and of another one");
		}
	exchanged_doubt(w);
	unchained_doubt(w);
}
