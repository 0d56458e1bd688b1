/* Wraps of the clock that no full stamp announces. An event word of 2.x has the low 27 bits of the clock. Tracers for 32-bit
 * machines (last_tsc_overflow() of LTTng and UST, where BITS_PER_LONG is 32) write a full stamp whenever the bits above these
 * change, so that low bits that fall without one are not a wrap: the clock stepped back a little, as that of another processor
 * does, or the bytes are damaged. Nearly any few bytes decode as some event, so where the walk reads what is not one, it goes on
 * over many, and their stamps are arbitrary: the clock wraps again and again. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* Bytes of events that are decoded to find out whether a trace announces its wraps: of a file, and of all. */
#define CENSUS_FILE (64u * 1024)
#define CENSUS_ALL (1024u * 1024)
/* Announced wraps that must be seen, in all, and for one that is not, or one full stamp that announces none. */
#define ANNOUNCED_MIN 4u
#define ANNOUNCED_SHARE 2u
/* A step back by less may be one of the clock, if there are so many: real ones were up to 888,593 ticks, and one for 5 announced
 * wraps. */
#define STEP_BACK_MAX (UINT64_C(1) << 21)
#define STEPS_SHARE 16u
/* By less than this, none was, as long as the next stamp is not lower than the one in front: a hit to the low bytes of a stamp is.
 */
#define STEP_BACK_MIN (UINT64_C(1) << 16)
/* Wraps without a full stamp, each at most so many events behind the one before, that are too many. */
#define WILD_WRAPS 3u
#define WILD_SPAN 16u
/* Events behind a wrap by which numbers are told from stamps, and links between them that are enough. */
#define NUMBERS_SPAN 16u
#define NUMBERS_MIN 3u
/* Events behind one of a guessed type that may be misread, if it is damage. */
#define RARE_SPAN 4u
/* A leap of the clock by so many ticks, and so many events in front of a wrap, may be what brought it: more than the events of a
 * page, which may be those of another place. */
#define LEAP_MIN (UINT64_C(1) << 24)
#define LEAP_SPAN 512u
/* Ticks from one declaration to the next but one: with so few, the one between them is not a lap ahead. */
#define CLOSE_MAX (UINT64_C(1) << 20)
/* Bytes in front of a wrap that may be those of another place: a page and an event. */
#define AHEAD_SPAN (LTTNG_PAGE + 512u)

/* Whether the bits above the low 27 change behind `before`, and no full stamp says so, and by how many ticks the clock steps back
 * if it did not wrap. */
static bool is_silent(uint64_t before, const struct lttng_event *e, uint64_t *step)
{
	*step = LTTNG_TIME_MASK + 1 - (e->stamp - before);
	return !e->has_full && (e->stamp ^ before) >> LTTNG_TIME_BITS;
}

static bool is_announced(const struct lttng_trace *t)
{
	return t->laps == LAPS_ANNOUNCED || t->laps == LAPS_STEPS;
}

bool lttng_laps_back(const struct lttng_trace *t, uint64_t before, const struct lttng_event *e)
{
	uint64_t step;
	return is_announced(t) && is_silent(before, e, &step) && (t->laps == LAPS_ANNOUNCED || step >= STEP_BACK_MAX);
}

/* What the full stamps of a trace show. A tracer for 64-bit machines writes one after a gap of 2^27 ticks or more, and no other. */
struct census {
	uint64_t left; /* bytes */
	/* Full stamps after less, at which the higher bits change, and where they do not; and wraps without one. */
	unsigned announced, needless, silent;
	unsigned steps; /* wraps without one that may be small steps back */
};

/* rel of the next event with a full stamp at or behind `rel`: its low bits are there twice. `end`: there is none. */
static uint64_t next_anchor(const struct lttng_trace *t, const struct lttng_stream *in, uint64_t rel, uint64_t end,
			    struct census *c)
{
	const uint64_t align = lttng_event_align(&t->coding, false), step = align ? align : 1;
	struct lttng_event e;

	for (rel = lttng_align(rel, step); rel < end && c->left; rel += step, c->left -= step < c->left ? step : c->left) {
		const uint8_t *p = end - rel > 4 ? lttng_stream_at(in, rel, 4) : NULL;
		if (!p)
			break;
		if (load_u32(p, t->coding.big_endian) >> LTTNG_TIME_BITS == LTTNG_FORM_FULL &&
		    lttng_event_decode(in, rel, end, 0, &e) == EVENT_OK)
			return rel;
	}
	return end;
}

/* Counts from an event on, up to the first wrap that is not announced: what is behind it may be misread. Where it came. */
static uint64_t census_run(const struct lttng_stream *in, uint64_t rel, uint64_t end, uint64_t stamp, struct census *c)
{
	const uint64_t first = rel;
	struct lttng_event e;
	uint64_t step;

	while (rel - first < c->left && lttng_event_decode(in, rel, end, stamp, &e) == EVENT_OK && e.word && e.end > rel) {
		const bool silent = is_silent(stamp, &e, &step);
		c->steps += silent && step < STEP_BACK_MAX;
		if (silent && step >= STEP_BACK_MAX) {
			c->silent++;
			break;
		}
		/* The first event of a tracer's buffer has a full stamp anyway. */
		if (e.has_full && rel > first && e.stamp - stamp <= LTTNG_TIME_MASK)
			*((e.stamp ^ stamp) >> LTTNG_TIME_BITS ? &c->announced : &c->needless) += 1;
		rel = e.end;
		stamp = e.stamp;
	}
	c->left -= rel - first < c->left ? rel - first : c->left;
	return rel;
}

static void census_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame, struct census *c)
{
	struct lttng_header h;
	if (frame->from != frame->offset || !lttng_header_at(t, f, frame->offset, &h))
		return;
	const struct lttng_stream in = lttng_stream_open(t, f, frame->offset);
	const uint64_t data = lttng_header_data_end(t->coding.layout, &h, frame->length);
	const uint64_t end = data < frame->length ? data : frame->length;
	uint64_t rel = census_run(&in, t->coding.layout->size, end, h.v[LF_BEGIN], c);

	while (rel < end && c->left) {
		rel = next_anchor(t, &in, rel + 1, end, c);
		if (rel < end)
			rel = census_run(&in, rel, end, 0, c);
	}
}

static void census_file(struct lttng_trace *t, struct lttng_file *f, struct census *all)
{
	struct census c = { .left = all->left < CENSUS_FILE ? all->left : CENSUS_FILE };
	const uint64_t had = c.left;
	struct lttng_frame frame;

	window_reset(&t->window, f->source);
	for (uint64_t at = 0; c.left && lttng_frame_at(t, f, at, &frame); at = frame.offset + frame.length) {
		census_block(t, f, &frame, &c);
		c.left -= c.left < t->coding.layout->size ? c.left : t->coding.layout->size;
	}
	all->left -= had - c.left;
	all->announced += c.announced;
	all->needless += c.needless;
	all->silent += c.silent;
	all->steps += c.steps;
}

/* Whether the tracer announces wraps, by the events of all data files. */
static enum lttng_laps census_take(struct lttng_trace *t)
{
	struct source *const was = t->window.source;
	struct census all = { .left = CENSUS_ALL };

	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || t->coding.arch != 4)
		return LAPS_SILENT;
	for (size_t i = 0; i < t->files.count && all.left && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && f->channel->table && !f->metadata && !f->aside && !f->empty)
			census_file(t, f, &all);
	}
	window_reset(&t->window, was);
	if (all.announced < ANNOUNCED_MIN || ANNOUNCED_SHARE * (all.needless + all.silent) > all.announced)
		return LAPS_SILENT;
	return STEPS_SHARE * all.steps > all.announced ? LAPS_STEPS : LAPS_ANNOUNCED;
}

bool lttng_laps_announced(struct lttng_trace *t)
{
	if (t->laps == LAPS_UNKNOWN)
		t->laps = census_take(t);
	return is_announced(t);
}

/* ---- the walk ---- */

bool lttng_laps_pending(const struct lttng_walk *w)
{
	return w->laps.wraps && w->at.events - w->laps.wrapped <= WILD_SPAN;
}

/* Whether wraps are counted in that file. */
static bool is_counted(const struct lttng_trace *t, const struct lttng_walk *w)
{
	return t->coding.layout->era >= LTTNG_TRACE_MARKERS && !w->file->metadata && !w->open;
}

/* Whether the event behind `before` is such a wrap. The trace is asked only where it may be one. */
static bool wraps(struct lttng_trace *t, uint64_t before, const struct lttng_event *e)
{
	uint64_t step;
	return is_silent(before, e, &step) && lttng_laps_announced(t) && lttng_laps_back(t, before, e);
}

/* Whether the clock steps back behind `before` by less than it ever does. */
static bool steps_little(struct lttng_trace *t, uint64_t before, const struct lttng_event *e)
{
	uint64_t step;
	return is_silent(before, e, &step) && step < STEP_BACK_MIN && lttng_laps_announced(t);
}

bool lttng_laps_alike(uint64_t ticks)
{
	return !(ticks & UINT8_MAX);
}

bool lttng_laps_are_numbers(const struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_event a = *e, b;
	unsigned links = 0, alike = 0;

	while (links < NUMBERS_SPAN && lttng_event_decode(&w->in, a.end, w->limit, a.stamp, &b) == EVENT_OK && b.word &&
	       !b.has_full) {
		links++;
		alike += lttng_laps_alike(b.stamp - a.stamp);
		a = b;
	}
	return links >= NUMBERS_MIN && 2 * alike >= links;
}

bool lttng_laps_wild(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (!is_counted(t, w) || !wraps(t, w->at.stamp, e))
		return false;
	if (lttng_laps_are_numbers(w, e))
		return true;
	unsigned count = lttng_laps_pending(w) ? w->laps.wraps + 1 : 1;
	struct lttng_event a = *e, b;
	/* The events behind it tell at once, as long as they decode. */
	for (unsigned quiet = 0; count < WILD_WRAPS && quiet < WILD_SPAN; quiet++) {
		if (lttng_event_decode(&w->in, a.end, w->limit, a.stamp, &b) != EVENT_OK || b.has_full || !b.word)
			break;
		if (lttng_laps_back(t, a.stamp, &b)) {
			count++;
			quiet = 0;
		}
		a = b;
	}
	return count >= WILD_WRAPS;
}

bool lttng_laps_allow(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (!lttng_laps_back(t, w->at.stamp, e))
		return true;
	return w->laps.wraps + 1 < WILD_WRAPS || !lttng_laps_pending(w);
}

bool lttng_laps_stray(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	const struct lttng_walk_laps *l = &w->laps;
	if (e->has_full || l->blind || w->at.last >= w->at.kept || !is_counted(t, w) ||
	    !((l->wrapped && l->wrap == w->at.last) || wraps(t, w->at.stamp, e) || steps_little(t, w->at.stamp, e)) ||
	    (e->stamp & LTTNG_TIME_MASK) < (w->at.before & LTTNG_TIME_MASK))
		return false;
	const uint8_t *last = lttng_stream_at(&w->in, w->at.last, 4);
	return last && load_u32(last, t->coding.big_endian) >> LTTNG_TIME_BITS != LTTNG_FORM_FULL &&
	       (e->start - w->at.last) % lttng_widest_align(&t->coding) == 0;
}

uint64_t lttng_laps_leap(const struct lttng_walk *w, uint64_t to)
{
	const struct lttng_walk_laps *l = &w->laps;
	const struct edits *edits = &w->edits->edits;
	uint64_t rel = l->anchored ? l->anchors[l->anchored - 1].rel : w->in.coding->layout->size, from = to, last = to;
	uint64_t stamp = l->anchored ? l->anchors[l->anchored - 1].stamp : w->begin;
	struct lttng_event e;

	if (edits->count && edits->list[edits->count - 1].at + edits->list[edits->count - 1].remove > rel)
		rel = edits->list[edits->count - 1].at + edits->list[edits->count - 1].remove;
	for (unsigned since = LEAP_SPAN; rel <= to; since += since < LEAP_SPAN) {
		if (lttng_event_decode(&w->in, rel, w->limit, stamp, &e) != EVENT_OK || e.end <= rel)
			return to;
		if (e.stamp - stamp >= LEAP_MIN && last < to) {
			from = last;
			since = 0;
		} else if (since == LEAP_SPAN) {
			from = to;
		}
		last = e.start;
		rel = e.end;
		stamp = e.stamp;
	}
	return from;
}

/* Whether the clock wraps at an event, or did before it, by what events of guessed types say alone. */
static bool rests_on_guess(const struct lttng_walk *w, const struct lttng_event *e)
{
	return (w->laps.guessed || w->laps.rare) && !e->has_full && e->stamp - w->laps.sure > LTTNG_TIME_MASK;
}

/* What is known of the stamp of an event that stays. Where few events bore the guess out, it may be damage, to the event before it
 * as well, and the next ones may be misread. */
static void note_guess(const struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	const struct lttng_marker *m = t->s->plan && e->type ? lttng_marker_of(e->type) : NULL;
	const bool rare = m && m->rare && !e->has_full;
	struct lttng_walk_laps *l = &w->laps;

	if (!l->guessed && !l->rare) {
		l->sure = rare && !l->blind ? w->at.before : w->at.stamp;
		l->unsure = rare ? w->at.last : e->start;
	}
	l->guessed = m && m->guessed && !e->has_full;
	l->rare = rare ? RARE_SPAN : l->rare && !e->has_full ? l->rare - 1 : 0;
}

/* Whether the stamp of the last declaration may have been hit: with it a lap lies between its neighbours, and without it they
 * follow closely on each other. Declarations stay anyway; from that one on their times are doubtful. */
static bool keep_declared(struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_walk_laps *l = &w->laps;
	const uint64_t passed = e->stamp - w->at.before;

	if (e->has_full)
		l->doubtful = false;
	if (l->doubtful || e->has_full || (l->anchored && l->anchors[l->anchored - 1].rel == w->at.last) ||
	    passed <= LTTNG_TIME_MASK || (passed & LTTNG_TIME_MASK) >= CLOSE_MAX)
		return false;
	l->doubtful = true;
	return true;
}

bool lttng_laps_keep(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_walk_laps *l = &w->laps;

	if (w->file->metadata && t->coding.layout->era >= LTTNG_TRACE_MARKERS && !w->open && w->at.events)
		return keep_declared(w, e);
	if (!is_counted(t, w))
		return false;
	l->was.wraps = l->wraps;
	l->was.wrapped = l->wrapped;
	l->was.doubtful = l->doubtful;
	l->misled = false;
	const bool guessed = rests_on_guess(w, e);
	note_guess(t, w, e);
	l->blind = false;
	if (e->has_full) {
		l->wraps = 0;
		l->doubtful = false;
	} else if (guessed && !l->guessed) {
		l->misled = !l->doubtful;
		l->doubtful = true;
	} else if (wraps(t, w->at.stamp, e)) {
		l->wraps = lttng_laps_pending(w) ? l->wraps + 1 : 1;
		l->wrapped = w->at.events + 1;
		l->wrap = e->start;
		const bool first = !l->doubtful;
		l->doubtful = true;
		return first;
	}
	return false;
}

void lttng_laps_take_back(struct lttng_walk *w)
{
	struct lttng_walk_laps *l = &w->laps;

	l->wraps = l->was.wraps;
	l->wrapped = l->was.wrapped;
	l->doubtful = l->was.doubtful;
	l->blind = true;
	l->first = l->first == w->at.last ? 0 : l->first;
	if (l->anchored && l->anchors[l->anchored - 1].rel == w->at.last)
		l->anchored--;
}

void lttng_laps_anchor(struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_walk_laps *l = &w->laps;

	if (!e->has_full)
		return;
	if (!l->first) {
		l->first = e->start;
		l->first_end = e->end;
		l->first_stamp = e->full;
	}
	if (l->anchored == LTTNG_ANCHORS) {
		memmove(l->anchors, l->anchors + 1, sizeof(l->anchors) - sizeof(l->anchors[0]));
		l->anchored--;
		l->forgot = true;
	}
	l->anchors[l->anchored].rel = e->start;
	l->anchors[l->anchored++].stamp = e->full;
}

uint64_t lttng_laps_from(struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_walk_laps *l = &w->laps;
	uint64_t from = UINT64_MAX;

	while (l->anchored && e->has_full && l->anchors[l->anchored - 1].stamp > e->full)
		from = l->anchors[--l->anchored].rel;
	if (from == UINT64_MAX && l->anchored)
		return l->anchors[l->anchored - 1].rel;
	const bool all = from == UINT64_MAX || (!l->anchored && (l->forgot || e->full < w->begin));
	return all ? w->in.coding->layout->size : from;
}

/* Where to decode from to see the events in front of `to`: within two spans, if times are known there. */
static uint64_t ahead_start(const struct lttng_walk *w, uint64_t to, uint64_t *stamp)
{
	const struct lttng_walk_laps *l = &w->laps;
	uint64_t rel = w->in.coding->layout->size;

	*stamp = w->begin;
	for (unsigned i = 0; i < l->anchored && rel + 2 * AHEAD_SPAN < to; i++) {
		rel = l->anchors[i].rel;
		*stamp = l->anchors[i].stamp;
	}
	return rel;
}

uint64_t lttng_laps_ahead(const struct lttng_walk *w, const struct lttng_event *e)
{
	uint64_t stamp, rel = ahead_start(w, e->start, &stamp);
	struct lttng_event a;

	if (e->has_full || !((e->stamp ^ w->at.before) >> LTTNG_TIME_BITS))
		return UINT64_MAX;
	while (rel < e->start && lttng_event_decode(&w->in, rel, w->limit, stamp, &a) == EVENT_OK && a.end > rel) {
		const uint64_t gap = a.stamp - stamp;
		if (rel + AHEAD_SPAN >= e->start && gap <= LTTNG_TIME_MASK && ((e->stamp - stamp) & LTTNG_TIME_MASK) < gap)
			return rel;
		rel = a.end;
		stamp = a.stamp;
	}
	return UINT64_MAX;
}
