/* Resynchronising behind damage. Most events of 2.x do not tell their length, so that behind one that cannot be decoded the next
 * has to be searched for; and nearly any few bytes decode as some event. So all offsets of a stretch are candidates at once. Each
 * leads to the next by its description, or nowhere, and chains that go on merge: the correct chain is one of them, and all wrong
 * ones end or run into it (decoding synchronises itself, as with variable-length codes). Where only one is left, it is the correct
 * one. Of all that lead there, the events in front of it are those of the best chain: stamps of successive events are close, in
 * bits of a stamp, and those of wrong ones are not. */
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
/* To 1.0 each of them tells its size as well. */
#define VERIFIED_SIZED 4u
/* The same where the end of the data cuts the last one; bytes that are left of it. */
#define CUT_VERIFIED 12u
#define CUT_MAX 256u
/* Where the next event is not so near, the events in front may be those of another place. */
#define NEAR 2048u
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

static bool has_sizes(const struct lttng_walk *w)
{
	return w->in.coding->layout->era <= LTTNG_MARKERS && !w->in.compact;
}

static bool is_unknown(enum lttng_defect defect)
{
	return defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT || defect == EVENT_NO_FACILITY || defect == EVENT_NO_NUMBER;
}

/* To 1.0: where declarations are lost, an event of a type that is not known leads on by its size. */
static bool is_sized_unknown(const struct lttng_trace *t, const struct lttng_walk *w, enum lttng_defect defect)
{
	return t->declared.lost && has_sizes(w) && is_unknown(defect);
}

/* Whether an event that decodes so at `at`, after one of that stamp, can be one. Costs budget. */
static bool decoded_possible(struct lttng_walk *w, enum lttng_defect defect, uint64_t at, uint64_t limit, uint64_t stamp,
			     const struct lttng_event *e)
{
	uint64_t cost = defect == EVENT_STRING_CUT ? limit - at : e->end > at + COST_MIN ? e->end - at : COST_MIN;
	w->search.budget -= cost < w->search.budget ? cost : w->search.budget;
	/* From 2.0 on laps of the clock may have been counted that never were; a full stamp is right then. */
	const uint64_t least = w->in.coding->layout->era >= LTTNG_TRACE_MARKERS && w->begin < stamp ? w->begin : stamp;
	return defect == EVENT_OK && e->word && e->end > at && e->stamp <= w->end && (!e->has_full || e->full >= least);
}

/* Whether an event at `at`, after one of that stamp, decodes. */
static bool event_possible(struct lttng_walk *w, uint64_t at, uint64_t limit, uint64_t stamp, struct lttng_event *e)
{
	const enum lttng_defect defect = lttng_event_decode(&w->in, at, limit, stamp, e);
	return decoded_possible(w, defect, at, limit, stamp, e);
}

/* How a chain goes on. */
enum chain_link { CHAIN_ENDS, CHAIN_UNKNOWN, CHAIN_KNOWN, CHAIN_CUT };

/* CHAIN_CUT: the end of the data cuts the event, since bytes came in before it. */
static enum chain_link chain_link(const struct lttng_trace *t, struct lttng_walk *w, uint64_t at, uint64_t stamp,
				  struct lttng_event *e)
{
	enum lttng_defect defect = lttng_event_decode(&w->in, at, w->limit, stamp, e);
	const bool unknown = is_sized_unknown(t, w, defect);

	if (defect == EVENT_HEADER_CUT || defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT)
		return CHAIN_CUT;
	if (!decoded_possible(w, unknown ? EVENT_OK : defect, at, w->limit, stamp, e))
		return CHAIN_ENDS;
	return unknown ? CHAIN_UNKNOWN : CHAIN_KNOWN;
}

/* Whether the clock wraps at an event of a chain, behind one of that stamp, as it does not in this trace. */
static bool is_lapse(struct lttng_trace *t, uint64_t stamp, const struct lttng_event *e)
{
	return t->coding.layout->era >= LTTNG_TRACE_MARKERS && lttng_laps_back(t, stamp, e);
}

/* Follows the chain from `at`, behind an event of that stamp. True: it decodes, and *kept of its events, up to VERIFIED, can go on
 * behind the damage, from *first: the first event from which all that follows may move to `start` and stay aligned. */
static bool chain_holds(struct lttng_trace *t, struct lttng_walk *w, uint64_t at, uint64_t stamp, uint64_t start,
			struct lttng_event *first, unsigned *kept)
{
	const unsigned enough = has_sizes(w) ? VERIFIED_SIZED : VERIFIED;
	bool begun = false, verified = false;
	*kept = 0;
	while (at < w->search.limit && *kept < enough) {
		struct lttng_event e;
		const enum chain_link link = chain_link(t, w, at, stamp, &e);
		const bool known = link == CHAIN_KNOWN;
		if (link == CHAIN_CUT && w->limit - at <= CUT_MAX)
			return verified || *kept >= CUT_VERIFIED;
		if (link == CHAIN_ENDS || link == CHAIN_CUT || (begun && is_lapse(t, stamp, &e)))
			return false;
		verified |= known && is_verified(t, w, &e);
		bool goes_on = *kept ||
			       (known && (e.start - start) % lttng_widest_align(w->in.coding) == 0 && lttng_laps_allow(t, w, &e));
		begun = true;
		if (goes_on && !*kept) {
			if ((is_lapse(t, w->at.stamp, &e) || !w->search.coarse) && lttng_laps_are_numbers(w, &e))
				return false;
			*first = e;
		}
		*kept += goes_on && known;
		at = e.end;
		stamp = e.stamp;
	}
	return true;
}

/* What two successive events must have in common for the first to count, in bits of a stamp: what chance has seldom. */
#define LINK_BITS 8
/* Ticks that are between two events. */
#define GAP_MIN 16u

#define BEYOND UINT16_MAX
/* Bits by which the best of chains that do not merge must be ahead of all others. */
#define AHEAD_MIN 64

struct chains {
	uint64_t from;
	/* Of the events at each offset: the offset of the next (0: there is no event; BEYOND: it is out of reach), low bits of the
	 * stamp, and a bit for each that has a full stamp. */
	uint16_t next[STRETCH + REACH];
	uint32_t lows[STRETCH + REACH];
	uint8_t full[(STRETCH + REACH) / 8];
	uint64_t candidates[CANDIDATES_MAX];	/* offsets of chains behind the stretch */
	unsigned candidate_count;		/* more than CANDIDATES_MAX: too many */
	uint8_t arrived[(STRETCH + REACH) / 8]; /* a bit for each offset that a chain has arrived at */
	unsigned count;				/* of them */
	uint32_t stamps[STRETCH + REACH];	/* low bits of the lowest stamp that a chain has arrived there with */
	bool announced;				/* the trace announces wraps, and its clock makes no steps back */
	bool beyond;				/* a chain leads out of reach, or to the end of the data */
};

static bool chain_arrives(struct chains *r, uint64_t at)
{
	return bit_get(r->arrived, at - r->from);
}

static void chain_goes_to(struct chains *r, uint64_t at, uint64_t limit, uint64_t stamp)
{
	const uint32_t low = (uint32_t)(stamp & LTTNG_TIME_MASK);
	if (at >= limit) {
		r->beyond = true;
	} else if (!chain_arrives(r, at)) {
		bit_set(r->arrived, at - r->from);
		r->stamps[at - r->from] = low;
		r->count++;
	} else if (low < r->stamps[at - r->from]) {
		r->stamps[at - r->from] = low;
	}
}

/* Whether the event at `at`, where all chains that are followed arrive, is not one: the clock wraps. */
static bool chain_lapses(struct lttng_trace *t, const struct chains *r, uint64_t at, const struct lttng_event *e)
{
	const uint64_t before = (e->stamp & ~LTTNG_TIME_MASK) | r->stamps[at - r->from];
	return is_lapse(t, before > e->stamp ? before - LTTNG_TIME_MASK - 1 : before, e);
}

/* Collects the offsets of chains from `at` on. */
static void chains_collect(struct chains *r, uint64_t at, uint64_t reach)
{
	for (; at < reach && r->candidate_count <= CANDIDATES_MAX; at++)
		if (chain_arrives(r, at) && r->candidate_count++ < CANDIDATES_MAX)
			r->candidates[r->candidate_count - 1] = at;
}

/* Whether the chain from `at` ends where the data does. */
static bool chain_ends_well(struct lttng_trace *t, struct lttng_walk *w, uint64_t at, uint64_t step)
{
	uint64_t stamp = w->at.before;
	bool begun = false;
	while (at < w->limit && w->search.budget) {
		struct lttng_event e;
		if (!event_possible(w, at, w->limit, stamp, &e) || (begun && is_lapse(t, stamp, &e)))
			return false;
		begun = true;
		at = e.end < w->limit ? lttng_align(e.end, step) : e.end;
		stamp = e.stamp;
	}
	return at == w->limit;
}

/* Chains through events of equal length never merge: each wrong event is the same part of a correct one. At the end of the data
 * only the correct chain ends with it. UINT64_MAX: it is not clear which. */
static uint64_t chains_at_end(struct lttng_trace *t, struct lttng_walk *w, const struct chains *r, uint64_t step)
{
	uint64_t right = UINT64_MAX;
	for (unsigned i = 0; i < r->candidate_count && r->candidate_count <= CANDIDATES_MAX; i++) {
		if (!chain_ends_well(t, w, r->candidates[i], step))
			continue;
		if (right != UINT64_MAX)
			return UINT64_MAX;
		right = r->candidates[i];
	}
	return w->search.budget ? right : UINT64_MAX; /* without budget left, not all chains were followed */
}

/* Bits by which an event is close behind the one at offset i of a chain. INT32_MIN: the clock of this trace does not wrap there. */
static int32_t link_bits(const struct chains *r, uint64_t i, uint32_t low, bool full)
{
	const uint64_t gap = (low - r->lows[i]) & LTTNG_TIME_MASK;
	int32_t bits = (int32_t)LTTNG_TIME_BITS - LINK_BITS;

	/* The clock may have gone on by any time; numbers in payloads repeat, and events do not come so fast. */
	if (full || gap < GAP_MIN)
		return 0;
	if (r->announced && low < r->lows[i])
		return INT32_MIN;
	for (uint64_t g = gap; g; g >>= 1)
		bits--;
	return bits;
}

/* The scores of chains: bits by which their events are close to each other. */
struct scores {
	int32_t bits[STRETCH + REACH];	/* from each offset on; INT32_MIN: no chain is followed there */
	uint16_t last[STRETCH + REACH]; /* where the chain from there ends */
};

/* The score of the chain from offset i, which is known behind it. end: of these chains; e: the event there, if it is one. */
static void chain_score(const struct chains *r, struct scores *s, uint64_t i, uint64_t end, const struct lttng_event *e)
{
	const uint64_t next = r->next[i];

	s->bits[i] = INT32_MIN;
	s->last[i] = (uint16_t)i;
	if (next == BEYOND) {
		s->bits[i] = e ? INT32_MIN : 0;
	} else if (next == end && e) {
		s->bits[i] = link_bits(r, i, e->word & (uint32_t)LTTNG_TIME_MASK, e->has_full);
	} else if (next && next < end && s->bits[next] != INT32_MIN) {
		const int32_t link = link_bits(r, i, r->lows[next], bit_get(r->full, next));
		s->bits[i] = link == INT32_MIN ? link : s->bits[next] + link;
		s->last[i] = s->last[next];
	}
}

/* Where the best of the chains that lead to `found` begins. Linear in what lies between. */
static uint64_t chain_begin(struct lttng_walk *w, const struct chains *r, uint64_t found, uint64_t step)
{
	const uint64_t to = found - r->from;
	struct scores s;
	int32_t most = 0;
	uint64_t best = to;
	struct lttng_event e;

	if (w->in.coding->layout->era < LTTNG_TRACE_MARKERS || !event_possible(w, found, w->limit, w->at.before, &e))
		return found;
	for (uint64_t i = to; i >= step;) {
		i -= step;
		chain_score(r, &s, i, to, &e);
		if (s.bits[i] > most) {
			most = s.bits[i];
			best = i;
		}
	}
	return r->from + best;
}

/* Whether a chain from offset i would go on behind the damage without a wrap of the clock that the trace would announce. */
static bool chain_joins(const struct lttng_walk *w, const struct chains *r, uint64_t i)
{
	return bit_get(r->full, i) || r->lows[i] >= (w->at.stamp & LTTNG_TIME_MASK);
}

/* Of the chains from the stretch, or those of them that join: where the best begins. UINT64_MAX: it is not far enough ahead of
 * those that end elsewhere, or has fewer bits than `least`. */
static uint64_t scores_best(const struct lttng_walk *w, const struct chains *r, const struct scores *s, uint64_t end, uint64_t step,
			    bool joining, int32_t least)
{
	uint64_t best = UINT64_MAX;
	int32_t most = INT32_MIN, second = 0;

	for (uint64_t i = 0; i < end && i < STRETCH; i += step)
		if (s->bits[i] != INT32_MIN && s->bits[i] >= most && (!joining || chain_joins(w, r, i))) {
			most = s->bits[i];
			best = i;
		}
	for (uint64_t i = 0; best != UINT64_MAX && i < end && i < STRETCH; i += step)
		if (s->last[i] != s->last[best] && s->bits[i] > second && (!joining || chain_joins(w, r, i)))
			second = s->bits[i];
	return best != UINT64_MAX && most >= least && most - second >= AHEAD_MIN ? best : UINT64_MAX;
}

/* Of chains that do not merge: where the best begins. Numbers in payloads can rise more steadily than stamps do, so that where
 * wraps are announced one that joins is taken if the best does not have twice as many bits. UINT64_MAX: it is not clear which. */
static uint64_t chains_best(const struct lttng_walk *w, const struct chains *r, uint64_t reach, uint64_t step)
{
	const uint64_t end = (reach - r->from) / step * step;
	struct scores s;
	int32_t most = 0;

	if (w->in.coding->layout->era < LTTNG_TRACE_MARKERS)
		return UINT64_MAX;
	for (uint64_t i = end; i >= step;) {
		i -= step;
		chain_score(r, &s, i, end, NULL);
		if (i < STRETCH && s.bits[i] > most)
			most = s.bits[i];
	}
	uint64_t best = r->announced ? scores_best(w, r, &s, end, step, true, most / 2) : UINT64_MAX;
	if (best == UINT64_MAX)
		best = scores_best(w, r, &s, end, step, false, INT32_MIN);
	return best != UINT64_MAX ? r->from + best : best;
}

/* Remembers what the event at `at` leads to. */
static void chain_note(struct chains *r, uint64_t at, uint64_t next, uint64_t reach, const struct lttng_event *e)
{
	const uint64_t i = at - r->from;
	r->next[i] = next < reach ? (uint16_t)(next - r->from) : BEYOND;
	r->lows[i] = e->word & (uint32_t)LTTNG_TIME_MASK;
	if (e->has_full)
		bit_set(r->full, i);
}

/* The offset at which all chains from a stretch merge; UINT64_MAX: they do not, or all of them end. Then where
 * the best of them begins. */
static uint64_t chains_merge(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, uint64_t step)
{
	struct chains r = { .from = from, .announced = t->laps == LAPS_ANNOUNCED };
	const uint64_t left = w->limit - from, chained = w->search.limit - from;
	const uint64_t reach = from + (chained < STRETCH + REACH ? chained : STRETCH + REACH);
	const uint64_t look = from + (left < STRETCH + REACH + LONGEST ? left : STRETCH + REACH + LONGEST);

	/* The window holds all that is decoded, so that nothing is read twice. */
	(void)window_at(&t->window, w->in.base + from, (size_t)(look - from));
	bool noted = false;
	for (uint64_t at = from; at < reach && w->search.budget; at += step) {
		struct lttng_event e;
		bool comes = chain_arrives(&r, at);
		if (at >= from + STRETCH && r.count == 1 && comes && !r.beyond)
			return chain_begin(w, &r, at, step);
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
			return chain_begin(w, &r, at, step);
		if (at >= from + STRETCH && chain_lapses(t, &r, at, &e))
			continue;
		chain_note(&r, at, lttng_align(e.end, step), reach, &e);
		chain_goes_to(&r, lttng_align(e.end, step), reach, e.stamp);
	}
	if (!r.beyond || !w->search.budget)
		return UINT64_MAX;
	uint64_t right = chains_best(w, &r, reach, step);
	if (right != UINT64_MAX)
		return right;
	right = chains_at_end(t, w, &r, step);
	return right == UINT64_MAX ? right : chain_begin(w, &r, right, step);
}

static bool may_take_back(const struct lttng_walk *w)
{
	const struct edits *e = &w->edits->edits;
	bool changed = e->count && e->list[e->count - 1].at + e->list[e->count - 1].remove >= w->at.last;
	return w->at.last < w->at.kept && !w->file->metadata && !changed;
}

/* What was doubtful because of the last event that was kept no longer is. */
static void take_back_doubts(const struct lttng_trace *t, struct lttng_walk *w)
{
	if (!t->s->plan || !w->edits || w->was.rel != w->at.last || w->edits->guess_count < w->was.guesses)
		return;
	lttng_edits_unguess(w->edits, w->was.guesses, w->was.last);
	w->untimely = w->was.untimely;
}

void lttng_take_back(struct lttng_trace *t, struct lttng_walk *w)
{
	take_back_doubts(t, w);
	w->at.events--;
	lttng_laps_take_back(w);
	if (t->s->sink)
		sink_retract(t->s->sink);
	w->out.dropped++;
	w->at.rel = w->at.kept = w->at.last;
	w->at.stamp = w->at.before;
}

/* rel behind the last byte that is not zero: where the end of the data is not known, the padding begins there, or a little behind.
 */
static uint64_t content_end(struct lttng_trace *t, const struct lttng_walk *w)
{
	uint8_t buffer[4096];
	uint64_t end = w->limit;
	while (end > w->at.rel) {
		size_t n = end - w->at.rel < sizeof(buffer) ? (size_t)(end - w->at.rel) : sizeof(buffer);
		if (!lttng_file_read(t, w->file, w->in.base + end - n, buffer, n))
			return w->limit;
		while (n && !buffer[n - 1]) {
			n--;
			end--;
		}
		if (n)
			return end;
	}
	return end;
}

/* Whether stamps in the trace may have the lowest byte of those before them, as those at the start of the block do. */
static bool clock_is_coarse(const struct lttng_walk *w)
{
	struct lttng_event e;
	return w->in.coding->layout->era < LTTNG_TRACE_MARKERS || w->file->metadata ||
	       lttng_event_decode(&w->in, w->in.coding->layout->size, w->limit, w->begin, &e) != EVENT_OK ||
	       lttng_laps_are_numbers(w, &e);
}

static void search_begin(struct lttng_trace *t, struct lttng_walk *w)
{
	if (w->search.begun)
		return;
	w->search.coarse = clock_is_coarse(w);
	w->search.begun = true;
	w->search.budget = BUDGET * w->limit;
	w->search.limit = w->padded ? content_end(t, w) : w->limit;
}

bool lttng_size_leads_on(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	const unsigned enough = has_sizes(w) ? VERIFIED_SIZED : VERIFIED;
	uint64_t at = e->sized_end, stamp = w->at.stamp;

	/* A search would look so far anyway: a small size costs no more than that if it is wrong. */
	if (e->size <= STRETCH)
		return true;
	if (t->coding.layout->era >= LTTNG_TRACE_MARKERS && !w->file->metadata)
		(void)lttng_laps_announced(t);
	search_begin(t, w);
	for (unsigned kept = 0; at < w->search.limit && kept < enough && w->search.budget; kept++) {
		struct lttng_event next;
		const enum lttng_defect defect = lttng_event_decode(&w->in, at, w->limit, stamp, &next);
		if (t->declared.lost && is_unknown(defect) && (kept || e->size <= LONGEST))
			return true;
		if (!decoded_possible(w, defect, at, w->limit, stamp, &next) || is_lapse(t, stamp, &next))
			return false;
		if (is_verified(t, w, &next) && !has_sizes(w))
			return true;
		at = next.end;
		stamp = next.stamp;
	}
	return true;
}

/* What the search for the next event found. */
struct resync {
	uint64_t start; /* of what is left out */
	struct lttng_event first;
	bool late;
};

/* Searches from *at up to `to`, and moves it. True: r->first can go on behind what is left out. */
static bool resync_within(struct lttng_trace *t, struct lttng_walk *w, struct resync *r, uint64_t *at, uint64_t to)
{
	const uint64_t align = lttng_event_align(&t->coding, w->file->compact), step = align ? align : 1;

	while (*at < to && w->search.budget && t->window.status == TM_OK) {
		uint64_t found = chains_merge(t, w, *at, step);
		*at = found == UINT64_MAX ? *at + STRETCH : found + step;
		if (found == UINT64_MAX)
			continue;
		unsigned kept;
		bool sound = chain_holds(t, w, found, w->at.stamp, r->start, &r->first, &kept);
		if (sound && kept)
			return true;
		/* The damage may have reached the event before it, whose stamp is then wrong. A sound event is given up only for
		 * more than one, where what follows cannot move up to it. */
		if (may_take_back(w) && chain_holds(t, w, found, w->at.before, w->at.last, &r->first, &kept) && kept > sound) {
			lttng_take_back(t, w);
			r->start = w->at.rel;
			return true;
		}
	}
	return false;
}

/* The same behind events of another place, whose stamps are too late for those that follow: the clock goes on as in front of them.
 */
static bool resync_detour(struct lttng_trace *t, struct lttng_walk *w, struct resync *r, uint64_t at, uint64_t to, bool seam)
{
	const struct lttng_position was = w->at;
	const bool blind = w->laps.blind;
	struct lttng_leap leap;

	if (r->late || t->coding.layout->era < LTTNG_TRACE_MARKERS || w->file->metadata || !lttng_misread_leap(t, w, seam, &leap))
		return false;
	w->at.stamp = w->at.before = leap.before;
	w->laps.blind = r->late = true;
	if (resync_within(t, w, r, &at, to))
		return true;
	w->at = was;
	w->laps.blind = blind;
	r->late = false;
	return false;
}

static bool resync_take(struct lttng_walk *w, const struct resync *r, unsigned rule)
{
	const struct lttng_doubt doubt = { .torn_from = lttng_walk_torn(w),
					   .torn_to = w->at.kept,
					   .found_to = r->first.end,
					   .found_again = !r->first.has_full,
					   .late = r->late,
					   .stamp = w->at.stamp };

	if (r->first.start - r->start > UINT32_MAX ||
	    !lttng_edits_add(w->edits, r->start, r->first.start - r->start, NULL, 0, rule, &doubt))
		return false;
	w->at.last = w->at.kept;
	w->at.rel = r->first.start;
	w->out.resynced = w->unsettled = true;
	return true;
}

bool lttng_resync(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, unsigned rule)
{
	const uint64_t align = lttng_event_align(&t->coding, w->file->compact), step = align ? align : 1;
	struct resync r = { .start = lttng_align(w->at.rel, step), .late = w->at.stamp > w->end };

	/* A stamp that was damaged brought all behind it past the end of the block: that event is left out, if it is the last one.
	 */
	if (r.late && w->at.before <= w->end && may_take_back(w)) {
		lttng_take_back(t, w);
		r.start = lttng_align(w->at.rel, step);
		r.late = false;
	} else if (r.late) {
		/* Where wraps are counted, its low bits stay those of the last event. */
		w->laps.blind = true;
		const uint64_t counted = t->laps != LAPS_SILENT ? (w->at.timely - w->at.stamp) & LTTNG_TIME_MASK : 0;
		w->at.stamp = w->at.before = w->at.timely - (counted < w->at.timely ? counted : 0);
	}
	if (t->coding.layout->era >= LTTNG_TRACE_MARKERS && !w->file->metadata)
		(void)lttng_laps_announced(t);
	search_begin(t, w);
	from = lttng_align(from, step);
	const uint64_t limit = w->search.limit, near = limit > from && limit - from > NEAR ? from + NEAR : limit;
	uint64_t at = from;
	return (resync_within(t, w, &r, &at, near) || resync_detour(t, w, &r, from, near, false) ||
		resync_detour(t, w, &r, from, near, true) || resync_within(t, w, &r, &at, limit)) &&
	       resync_take(w, &r, rule);
}
