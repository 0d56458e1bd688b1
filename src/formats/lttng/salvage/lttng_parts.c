/* Parts of another place: whole sectors or pages of the file that stand where others were, in the middle of a block. Their events
 * decode and follow each other, so only their two ends show: the clock leaps there, or bytes are not an event. Both are at
 * multiples of a sector, which leaps and damage of other kinds seldom are, and a sector or a page apart. Where two changed places,
 * the stamps of each go on where the other stands. */
#include "core/array.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* A gap is a leap where it is more than 1/2^n of a lap. */
#define LEAP_BITS 8u
/* In a hole that is longer, a part may end so near to its ends: what was left out between them is the part itself. */
#define NEAR 128u

void lttng_parts_open(const struct lttng_trace *t, struct lttng_parts *p, const struct lttng_walk *w, uint64_t data_end)
{
	*p = (struct lttng_parts){
		.rel = w->in.coding->layout->size, .stamp = w->begin, .limit = data_end, .timed = t->parts ? t->parts->count : 0
	};
	p->last = p->rel;
}

static bool is_leap(const struct lttng_trace *t, uint64_t ticks)
{
	return ticks > lttng_lap(&t->coding) >> LEAP_BITS;
}

static struct lttng_part_end *end_at(struct lttng_parts *p, uint64_t at)
{
	return &p->ends[at / LTTNG_SECTOR % LTTNG_PART_ENDS];
}

/* Whether a part begins `length` before an end, which is damage or not. Two leaps may be those of the clock. */
static void note_part(struct lttng_parts *p, uint64_t base, uint64_t at, uint64_t length, bool damage)
{
	const struct lttng_part_end *begin = at > length ? end_at(p, at - length) : NULL;

	if (begin && begin->at == at - length && (begin->damage || damage) && (!p->from || begin->from - base < p->from))
		p->from = begin->from - base;
}

/* Parts may end between the event before and `to`, where the stamp is `after`. */
static void note_ends(const struct lttng_trace *t, struct lttng_parts *p, uint64_t base, uint64_t to, uint64_t after, bool damage)
{
	struct lttng_part_list *all = t->parts;

	for (uint64_t at = ((base + p->last) / LTTNG_SECTOR + 1) * LTTNG_SECTOR; at <= base + to; at += LTTNG_SECTOR) {
		if (damage && at > base + p->hole + NEAR && at + NEAR < base + to)
			continue;
		note_part(p, base, at, LTTNG_PAGE, damage);
		note_part(p, base, at, LTTNG_SECTOR, damage);
		*end_at(p, at) = (struct lttng_part_end){ .at = at,
							  .from = base + p->last,
							  .to = base + p->limit,
							  .before = (uint32_t)(p->stamp & LTTNG_TIME_MASK),
							  .after = (uint32_t)(after & LTTNG_TIME_MASK),
							  .damage = damage };
		if (all && all->count < LTTNG_PART_ENDS_ALL)
			all->ends[all->count++] = *end_at(p, at);
	}
}

/* There is a full stamp at `to`. True: a part was in front of it. */
static bool note_full(const struct lttng_trace *t, struct lttng_parts *p, uint64_t base, uint64_t *from, uint64_t to)
{
	for (; t->parts && p->timed < t->parts->count; p->timed++)
		t->parts->ends[p->timed].to = base + to;
	*from = p->from;
	p->from = 0;
	return *from && *from < to;
}

/* Goes on behind the next edit that leaves something out. False: there is none. */
static bool pass_edit(const struct lttng_walk *w, struct lttng_parts *p)
{
	const struct edits *edits = &w->edits->edits;

	while (p->edit < edits->count && edits->list[p->edit].length)
		p->edit++;
	if (p->edit == edits->count)
		return false;
	const struct edit *e = &edits->list[p->edit++];
	p->rel = e->at + e->remove;
	p->hole = p->damaged ? p->hole : e->at;
	p->damaged = true;
	return true;
}

/* Where the next edit that leaves something out begins. */
static uint64_t next_edit(const struct lttng_walk *w, const struct lttng_parts *p)
{
	for (size_t i = p->edit; i < w->edits->edits.count; i++)
		if (!w->edits->edits.list[i].length)
			return w->edits->edits.list[i].at;
	return p->limit;
}

/* The next event. One of which a part was changed is damage. */
static bool decode_next(const struct lttng_walk *w, struct lttng_parts *p, uint64_t stop, struct lttng_event *e)
{
	const enum lttng_defect defect = lttng_event_decode(&w->in, p->rel, stop, p->stamp, e);
	const bool changed = defect == EVENT_SIZE || defect == EVENT_LOW_BITS;

	if (changed && !p->damaged)
		p->hole = e->start;
	p->damaged |= changed;
	return (defect == EVENT_OK || changed) && e->end > p->rel;
}

/* The end of the data: where it was damaged, it may be one of a part. */
static bool parts_end(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_parts *p, uint64_t *from, uint64_t *to)
{
	if (p->ended)
		return false;
	p->ended = true;
	p->hole = p->damaged ? p->hole : p->limit;
	if (p->damaged || w->out.torn || w->out.end_moved || w->out.broken)
		note_ends(t, p, w->in.base, w->room, p->stamp, true);
	*to = *from = p->limit;
	if (p->from)
		*from = p->from;
	return *from < *to;
}

bool lttng_parts_next(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_parts *p, uint64_t *from, uint64_t *to)
{
	struct lttng_event e;

	while (p->rel < p->limit) {
		const uint64_t rel = p->rel, stop = next_edit(w, p);
		if (rel >= stop || !decode_next(w, p, stop, &e)) {
			if (!pass_edit(w, p))
				break;
			continue;
		}
		/* Behind damage the event before the edit is the one before, and may have been cut as well. */
		const bool given = e.has_full && note_full(t, p, w->in.base, from, e.start);
		*to = e.start;
		if (p->damaged || e.stamp < p->stamp || is_leap(t, e.stamp - p->stamp))
			note_ends(t, p, w->in.base, e.start, e.stamp, p->damaged);
		p->damaged = false;
		p->last = e.start;
		p->rel = e.end;
		p->stamp = e.stamp;
		if (given)
			return true;
	}
	return parts_end(t, w, p, from, to);
}

void lttng_parts_front(struct lttng_trace *t, struct lttng_file *f)
{
	struct lttng_header h;
	struct lttng_frame frame;
	uint64_t from, to;

	edits_clear(&t->edits->edits);
	window_reset(&t->window, f->source);
	for (uint64_t at = 0; t->status == TM_OK && at < t->parts->first && lttng_frame_at(t, f, at, &frame);
	     at = frame.offset + frame.length) {
		if (frame.from != frame.offset || !lttng_header_at(t, f, at, &h))
			continue;
		const uint64_t data = lttng_header_data_end(t->coding.layout, &h, frame.length);
		const struct lttng_walk w = { .in = lttng_stream_open(t, f, at),
					      .file = f,
					      .edits = t->edits,
					      .begin = h.v[LF_BEGIN],
					      .room = frame.length };
		struct lttng_parts p;
		lttng_parts_open(t, &p, &w, data < frame.length ? data : frame.length);
		while (lttng_parts_next(t, &w, &p, &from, &to))
			;
	}
	if (t->window.status != TM_OK)
		t->status = t->window.status;
}

/* ---- parts without damage ---- */

/* The end at that offset of the file; NULL: there is none. */
static const struct lttng_part_end *find_end(const struct lttng_part_list *all, uint64_t at)
{
	size_t i;

	array_search(i, all->count, all->ends[i].at < at);
	return i < all->count && all->ends[i].at == at ? &all->ends[i] : NULL;
}

static bool follows(uint32_t before, uint32_t after)
{
	return ((after - before) & LTTNG_TIME_MASK) <= LTTNG_TIME_MASK >> LEAP_BITS;
}

/* Whether the part between two ends goes on, by its stamps, in front of another place and behind it. */
static bool is_moved(const struct lttng_part_list *all, const struct lttng_part_end *begin, const struct lttng_part_end *end)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct lttng_part_end *k = &all->ends[i];
		if (k == begin || !follows(k->before, begin->after))
			continue;
		const struct lttng_part_end *l = find_end(all, k->at + (end->at - begin->at));
		if (l && follows(end->before, l->after))
			return true;
	}
	return false;
}

static int by_offset(const void *a, const void *b)
{
	const struct lttng_part_end *const x = a, *const y = b;
	return (x->at > y->at) - (x->at < y->at);
}

bool lttng_parts_moved(struct lttng_part_list *all, size_t *i, uint64_t *from, uint64_t *to)
{
	static const uint64_t lengths[] = { LTTNG_PAGE, LTTNG_SECTOR };

	if (!*i)
		qsort(all->ends, all->count, sizeof(all->ends[0]), by_offset);
	for (; *i < all->count * 2; ++*i) {
		const struct lttng_part_end *begin = &all->ends[*i / 2];
		const struct lttng_part_end *end = find_end(all, begin->at + lengths[*i % 2]);
		if (!end || begin->damage || end->damage || begin->from >= end->to || !is_moved(all, begin, end))
			continue;
		*from = begin->from;
		*to = end->to;
		++*i;
		return true;
	}
	return false;
}
