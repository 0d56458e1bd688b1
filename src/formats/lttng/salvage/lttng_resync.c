/* Resynchronising behind damage. Most events of 2.x do not tell their length, so that behind one that cannot be decoded the next
 * has to be searched for; and nearly any few bytes decode as some event. So all offsets of a stretch are candidates at once. Each
 * leads to the next by its description, or nowhere, and chains that go on merge: the correct chain is one of them, and all wrong
 * ones end or run into it (decoding synchronises itself, as with variable-length codes). Where only one is left, it is the correct
 * one. */
#include "core/bytes.h"
#include "core/sink.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Offsets that are candidates: one of them must be the start of an event, so this is how long the damaged one may be. */
#define STRETCH 512u
/* How far chains are followed until they merge. */
#define REACH 8192u
/* The longest event that is accepted. */
#define LONGEST 8192u
/* Events of the chain that was found that must decode, unless the data ends with them. */
#define VERIFIED 16u
/* Budget of a block: so many times its bytes. */
#define BUDGET 24u
/* What a candidate that leads nowhere costs. */
#define COST_MIN 16u
/* Chains that are followed to the end of the data where they do not merge. */
#define CANDIDATES_MAX 16u

/* Whether the event declares a type with the sizes that all declarations give: 40 bits that chance does not repeat. Its names are
 * text: a candidate that starts too early takes the word of the correct event for some of it. */
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

/* Whether an event needs no others to confirm it: its size, or the low bits of its full stamp, agree with the rest of it. */
static bool is_verified(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (t->coding.layout->era <= LTTNG_MARKERS)
		return e->size_width && !e->escaped;
	return e->has_full || declares_sizes(t, w, e);
}

/* Whether an event at `at`, after one of that stamp, decodes. Costs budget. */
static bool event_possible(struct lttng_walk *w, uint64_t at, uint64_t limit, uint64_t stamp, struct lttng_event *e)
{
	enum lttng_defect defect = lttng_event_decode(&w->in, at, limit, stamp, e);
	uint64_t cost = defect == EVENT_STRING_CUT ? limit - at : e->end > at + COST_MIN ? e->end - at : COST_MIN;
	w->search.budget -= cost < w->search.budget ? cost : w->search.budget;
	return defect == EVENT_OK && e->word && e->end > at && e->stamp <= w->end && (!e->has_full || e->full >= stamp);
}

/* Follows the chain from `at`, behind an event of that stamp. True: it decodes, and *kept of its events, up to VERIFIED, can go on
 * behind the damage, from *first: the first event from which all that follows may move to `start` and stay aligned. */
static bool chain_holds(struct lttng_walk *w, uint64_t at, uint64_t stamp, uint64_t start, struct lttng_event *first,
			unsigned *kept)
{
	*kept = 0;
	while (at < w->limit && *kept < VERIFIED) {
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

struct chains {
	uint64_t from;
	uint64_t candidates[CANDIDATES_MAX];	/* offsets of chains behind the stretch */
	unsigned candidate_count;		/* more than CANDIDATES_MAX: too many */
	uint8_t arrived[(STRETCH + REACH) / 8]; /* a bit for each offset that a chain has arrived at */
	unsigned count;				/* of them */
	bool beyond;				/* a chain leads out of reach, or to the end of the data */
};

static bool chain_arrives(struct chains *r, uint64_t at)
{
	return bit_get(r->arrived, at - r->from);
}

static void chain_goes_to(struct chains *r, uint64_t at, uint64_t limit)
{
	if (at >= limit) {
		r->beyond = true;
	} else if (!chain_arrives(r, at)) {
		bit_set(r->arrived, at - r->from);
		r->count++;
	}
}

/* Collects the offsets of chains from `at` on. */
static void chains_collect(struct chains *r, uint64_t at, uint64_t reach)
{
	for (; at < reach && r->candidate_count <= CANDIDATES_MAX; at++)
		if (chain_arrives(r, at) && r->candidate_count++ < CANDIDATES_MAX)
			r->candidates[r->candidate_count - 1] = at;
}

/* Whether the chain from `at` ends where the data does. */
static bool chain_ends_well(struct lttng_walk *w, uint64_t at, uint64_t step)
{
	uint64_t stamp = w->at.before;
	while (at < w->limit && w->search.budget) {
		struct lttng_event e;
		if (!event_possible(w, at, w->limit, stamp, &e))
			return false;
		at = e.end < w->limit ? lttng_align(e.end, step) : e.end;
		stamp = e.stamp;
	}
	return at == w->limit;
}

/* Chains through events of equal length never merge: each wrong event is the same part of a correct one. At the end of the data
 * only the correct chain ends with it. UINT64_MAX: it is not clear which. */
static uint64_t chains_at_end(struct lttng_walk *w, const struct chains *r, uint64_t step)
{
	uint64_t right = UINT64_MAX;
	for (unsigned i = 0; i < r->candidate_count && r->candidate_count <= CANDIDATES_MAX; i++) {
		if (!chain_ends_well(w, r->candidates[i], step))
			continue;
		if (right != UINT64_MAX)
			return UINT64_MAX;
		right = r->candidates[i];
	}
	return w->search.budget ? right : UINT64_MAX; /* without budget left, not all chains were followed */
}

/* The offset at which all chains from a stretch merge; UINT64_MAX: they do not. *none: all of them end. */
static uint64_t chains_merge(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, uint64_t step, bool *none)
{
	struct chains r = { .from = from };
	const uint64_t left = w->limit - from, reach = from + (left < STRETCH + REACH ? left : STRETCH + REACH);
	const uint64_t look = from + (left < STRETCH + REACH + LONGEST ? left : STRETCH + REACH + LONGEST);

	/* The window holds all that is decoded, so that nothing is read twice. */
	(void)window_at(&t->window, w->in.base + from, (size_t)(look - from));
	bool noted = false;
	*none = false;
	for (uint64_t at = from; at < reach && w->search.budget; at += step) {
		struct lttng_event e;
		bool comes = chain_arrives(&r, at);
		if (at >= from + STRETCH && r.count == 1 && comes && !r.beyond)
			return at;
		if (at >= from + STRETCH && !noted) {
			chains_collect(&r, at, reach);
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
		if (is_verified(t, w, &e))
			return at;
		chain_goes_to(&r, lttng_align(e.end, step), reach);
	}
	*none = !r.count && !r.beyond;
	return r.beyond ? chains_at_end(w, &r, step) : UINT64_MAX;
}

static bool may_take_back(const struct lttng_walk *w)
{
	const struct edits *e = &w->edits->edits;
	bool changed = e->count && e->list[e->count - 1].at + e->list[e->count - 1].remove >= w->at.last;
	return w->at.last < w->at.kept && !w->file->metadata && !changed;
}

/* Leaves out the last event that was kept, too. */
static void take_back(struct lttng_trace *t, struct lttng_walk *w)
{
	w->at.events--;
	if (t->s->sink)
		sink_retract(t->s->sink);
	w->out.dropped++;
	w->at.rel = w->at.kept = w->at.last;
	w->at.stamp = w->at.before;
}

bool lttng_resync(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, unsigned rule)
{
	const uint64_t align = lttng_event_align(&t->coding, w->file->compact), step = align ? align : 1;
	uint64_t start = lttng_align(w->at.rel, step);
	struct lttng_event first = { 0 };
	bool none = true, late = w->at.stamp > w->end;

	/* A stamp that was damaged brought all behind it past the end of the block: that event is left out, if it is the last one.
	 */
	if (late && w->at.before <= w->end && may_take_back(w)) {
		take_back(t, w);
		start = lttng_align(w->at.rel, step);
		late = false;
	} else if (late) {
		w->at.stamp = w->at.before = w->at.timely;
	}
	if (!w->search.begun) {
		w->search.begun = true;
		w->search.budget = BUDGET * w->limit;
	}
	for (uint64_t at = lttng_align(from, step); at < w->limit && w->search.budget && t->window.status == TM_OK && none;
	     at += STRETCH) {
		uint64_t found = chains_merge(t, w, at, step, &none);
		if (found == UINT64_MAX)
			continue;
		unsigned kept;
		bool sound = chain_holds(w, found, w->at.stamp, start, &first, &kept);
		if (!sound || !kept) {
			/* The damage may have reached the event before it, whose stamp is then wrong. A sound event is given up
			 * only for more than one, where what follows cannot move up to it. */
			if (!may_take_back(w) || !chain_holds(w, found, w->at.before, w->at.last, &first, &kept) || kept <= sound)
				continue;
			take_back(t, w);
			start = w->at.rel;
		}
		const struct lttng_doubt doubt = { .torn_from = w->at.last,
						   .torn_to = w->at.kept,
						   .found_to = first.end,
						   .found_again = !first.has_full,
						   .late = late };
		if (first.start - start > UINT32_MAX ||
		    !lttng_edits_add(w->edits, start, first.start - start, NULL, 0, rule, &doubt))
			return false;
		w->at.last = w->at.kept;
		w->at.rel = first.start;
		w->out.resynced = w->unsettled = true;
		return true;
	}
	return false;
}
