/* Where events go on behind damage. Most events of 2.x tell no length, so that behind one that cannot be read the next has to be
 * searched for; and nearly any few bytes look like some event. So all places of a stretch are tried at once. Each leads to the
 * next by the description of what it would be, or to nothing, and those that go on meet: the right row of events is one
 * of them, and all wrong ones end or run into it. Where only one is left, it is the right one. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* Places that are tried: one of them must be the start of an event, so this is how long the one that was hit may be. */
#define STRETCH 512u
/* How far rows are followed until they meet. */
#define REACH 8192u
/* The longest event that is taken for one. */
#define LONGEST 8192u
/* Events of the row that was found that must hold, unless the data ends with them. */
#define HOLD 16u
/* Work on a block: so many times its bytes. */
#define TRIES 24u
/* What a place costs that leads nowhere. */
#define COST_MIN 16u
/* Rows that are followed to the end of the data where they do not meet. */
#define RIVALS 16u

/* Whether the event declares a type with the sizes that all declarations give: 40 bits that chance does not repeat. Its names are
 * text: a guess that comes too early takes the word of the right event for some of it. */
static bool declares_sizes(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	uint64_t length = e->end - e->payload, names = length - SIZE_KINDS - 2;
	if (e->id != 0 || !lttng_event_declares(&w->in, e) || length < SIZE_KINDS + 2 || length > LONGEST)
		return false;
	const uint8_t *p = lttng_stream_at(&w->in, e->payload, length);
	for (uint64_t i = 0; p && i < names; i++)
		if (p[i] && (p[i] < 0x20 || p[i] > 0x7e))
			return false;
	return p && !memcmp(p + length - SIZE_KINDS, t->coding.sizes.v, SIZE_KINDS);
}

/* Whether an event needs no others to vouch for it: its size, or the low bits of its full stamp, agree with what else it says. */
static bool is_sure(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (t->coding.layout->era <= LTTNG_MARKERS)
		return e->size_width && !e->escaped;
	return e->has_full || declares_sizes(t, w, e);
}

/* Whether there may be an event at `at`, after one of that stamp. */
static bool event_possible(struct lttng_walk *w, uint64_t at, uint64_t limit, uint64_t stamp, struct lttng_event *e)
{
	enum lttng_defect defect = lttng_event_decode(&w->in, at, limit, stamp, e);
	uint64_t cost = defect == EVENT_STRING_CUT ? limit - at : e->end > at + COST_MIN ? e->end - at : COST_MIN;
	w->search.tries -= cost < w->search.tries ? cost : w->search.tries;
	return defect == EVENT_OK && e->word && e->end > at && e->stamp <= w->end && (!e->has_full || e->full >= stamp);
}

/* Follows the row from `at`, behind an event of that stamp. True: it holds, and *kept of its events, up to HOLD, can go on behind
 * the damage, from *first: a place from which all that follows may move to `start` without losing its alignment. */
static bool row_holds(struct lttng_walk *w, uint64_t at, uint64_t stamp, uint64_t start, struct lttng_event *first, unsigned *kept)
{
	*kept = 0;
	while (at < w->limit && *kept < HOLD) {
		struct lttng_event e;
		if (!event_possible(w, at, w->limit, stamp, &e))
			return false;
		bool goes_on = *kept || (e.start - start) % lttng_widest_align(w->in.coding) == 0;
		if (goes_on && !*kept)
			*first = e;
		*kept += goes_on;
		at = e.end;
		stamp = e.stamp;
	}
	return true;
}

struct rows {
	uint64_t from;
	uint64_t rivals[RIVALS];	     /* where the rows stand behind the stretch */
	unsigned rival_count;		     /* more than RIVALS: too many */
	uint8_t open[(STRETCH + REACH) / 8]; /* places that a row has come to, a bit each */
	unsigned count;			     /* of them */
	bool beyond;			     /* a row leads out of reach, or to the end of the data */
};

static bool row_comes(struct rows *r, uint64_t at)
{
	return r->open[(at - r->from) / 8] >> ((at - r->from) % 8) & 1;
}

static void row_goes_to(struct rows *r, uint64_t at, uint64_t limit)
{
	if (at >= limit) {
		r->beyond = true;
	} else if (!row_comes(r, at)) {
		r->open[(at - r->from) / 8] |= (uint8_t)(1u << ((at - r->from) % 8));
		r->count++;
	}
}

/* Notes where the rows stand, from `at` on. */
static void rows_stand(struct rows *r, uint64_t at, uint64_t reach)
{
	for (; at < reach && r->rival_count <= RIVALS; at++)
		if (row_comes(r, at) && r->rival_count++ < RIVALS)
			r->rivals[r->rival_count - 1] = at;
}

/* Follows the row from `at` to where the data ends. False: it ends before, or beyond. */
static bool row_fills(struct lttng_walk *w, uint64_t at, uint64_t step)
{
	uint64_t stamp = w->at.before;
	while (at < w->limit && w->search.tries) {
		struct lttng_event e;
		if (!event_possible(w, at, w->limit, stamp, &e))
			return false;
		at = e.end < w->limit ? lttng_align(e.end, step) : e.end;
		stamp = e.stamp;
	}
	return at == w->limit;
}

/* Rows of events that are all alike go on side by side: what is no event of the right row is always the same part of one. Where the
 * data ends, only the right one does. UINT64_MAX: it is not clear which. */
static uint64_t rows_fill(struct lttng_walk *w, const struct rows *r, uint64_t step)
{
	uint64_t right = UINT64_MAX;
	for (unsigned i = 0; i < r->rival_count && r->rival_count <= RIVALS; i++) {
		if (!row_fills(w, r->rivals[i], step))
			continue;
		if (right != UINT64_MAX)
			return UINT64_MAX;
		right = r->rivals[i];
	}
	return w->search.tries ? right : UINT64_MAX; /* without tries left, not all rows were followed */
}

/* The place to which all rows from a stretch lead; UINT64_MAX: they do not meet. *none: all of them end. */
static uint64_t rows_meet(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, uint64_t step, bool *none)
{
	struct rows r = { .from = from };
	const uint64_t left = w->limit - from, reach = from + (left < STRETCH + REACH ? left : STRETCH + REACH);
	const uint64_t look = from + (left < STRETCH + REACH + LONGEST ? left : STRETCH + REACH + LONGEST);

	/* All that is looked at is in the window, so that nothing is read twice. */
	(void)window_at(&t->window, w->in.base + from, (size_t)(look - from));
	bool noted = false;
	*none = false;
	for (uint64_t at = from; at < reach && w->search.tries; at += step) {
		struct lttng_event e;
		bool comes = row_comes(&r, at);
		if (at >= from + STRETCH && r.count == 1 && comes && !r.beyond)
			return at;
		if (at >= from + STRETCH && !noted) {
			rows_stand(&r, at, reach);
			noted = true;
		}
		r.count -= comes;
		if (!comes && at >= from + STRETCH) {
			if (!r.count)
				break;
			continue;
		}
		if (!event_possible(w, at, look, w->at.before, &e))
			continue;
		if (is_sure(t, w, &e))
			return at;
		row_goes_to(&r, lttng_align(e.end, step), reach);
	}
	*none = !r.count && !r.beyond;
	return r.beyond ? rows_fill(w, &r, step) : UINT64_MAX;
}

static bool may_take_back(const struct lttng_walk *w)
{
	const struct edits *e = &w->edits->edits;
	bool changed = e->count && e->list[e->count - 1].at + e->list[e->count - 1].remove >= w->at.last;
	return w->at.last < w->at.kept && !w->file->metadata && !changed;
}

/* Leaves out the last event that was kept, too. */
static void take_back(struct lttng_walk *w)
{
	w->at.events--;
	w->out.dropped++;
	w->at.rel = w->at.kept = w->at.last;
	w->at.stamp = w->at.before;
}

bool lttng_resync(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, unsigned rule)
{
	const uint64_t align = lttng_event_align(&t->coding, w->file->compact), step = align ? align : 1;
	uint64_t start = lttng_align(w->at.rel, step);
	struct lttng_event first = { 0 };
	bool none = true;

	if (!w->search.begun) {
		w->search.begun = true;
		w->search.tries = TRIES * w->limit;
	}
	for (uint64_t at = lttng_align(from, step); at < w->limit && w->search.tries && t->window.status == TM_OK && none;
	     at += STRETCH) {
		uint64_t place = rows_meet(t, w, at, step, &none);
		if (place == UINT64_MAX)
			continue;
		unsigned kept;
		bool sound = row_holds(w, place, w->at.stamp, start, &first, &kept);
		if (!sound || !kept) {
			/* The damage may have reached the event before it, which then has another stamp. One that is sound, and
			 * only in the way of what cannot move up to it, is given up for more than one. */
			if (!may_take_back(w) || !row_holds(w, place, w->at.before, w->at.last, &first, &kept) || kept <= sound)
				continue;
			take_back(w);
			start = w->at.rel;
		}
		const struct lttng_doubt doubt = {
			.torn_from = w->at.last, .torn_to = w->at.kept, .found_to = first.end, .found_again = !first.has_full
		};
		if (first.start - start > UINT32_MAX ||
		    !lttng_edits_add(w->edits, start, first.start - start, NULL, 0, rule, &doubt))
			return false;
		w->at.last = w->at.kept;
		w->at.rel = first.start;
		w->out.resynced = true;
		return true;
	}
	return false;
}
