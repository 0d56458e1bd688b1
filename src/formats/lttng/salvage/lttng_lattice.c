/* The lattice of candidate events and the best path through it (lttng_lattice.h). Any place may hold an event: its stamp follows
 * the one before, or chance decides, and 27 bits of a stamp are rarely close by chance. So an edge scores the bits that chance
 * would not have given, and an event of unknown length may end anywhere at a price. */
#include "formats/lttng/salvage/lttng_lattice.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Scores are bits. What a stamp gives at most: values in payloads are close to it as well. Closer than the mean by more than
 * STAMP_CLOSER bits is no more evidence. */
#define STAMP_MAX 20
#define STAMP_MIN 8
#define STAMP_CLOSER 4
#define EVENT_BYTES 16u /* of an event, for the mean */
/* The prior of how far delta events are is not known. */
#define STAMP_PRIOR 5
/* An event of a known type; one of an unknown type with an id above all that are declared, of which those come first that a file of
 * declarations loses when it is cut off; an end where the data ends. */
#define SCORE_KNOWN 1
#define COST_BEYOND 3
#define SCORE_END 4
/* An event of unknown length: so much, and one bit more for so many bytes. */
#define COST_LENGTH 4
#define LENGTH_BYTES 32u
/* Events are rarely closer than one in so many parts of a second. */
#define CLOSEST 25000000u
/* Of two paths to one node, the one that comes before the low bits of the clock wrap once more is preferred by so much. */
#define SCORE_WRAP 32
/* Bytes of the budget that a node costs at least. */
#define COST_MIN 8u
#define NEVER (INT32_MIN / 2)
/* The most bytes from an event of unknown type to the next. */
#define FARTHEST (LATTICE_GAP_MAX + 16u)
#define NO_NODE UINT16_MAX

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* ---- nodes ---- */

static void mark(struct lttng_lattice *l, uint32_t node)
{
	l->marked[node / 64] |= UINT64_C(1) << node % 64;
}

/* The first marked node at or behind `node`; NO_NODE: there is none. */
static uint32_t marked_from(const struct lttng_lattice *l, uint32_t node)
{
	uint64_t mask = ~UINT64_C(0) << node % 64;
	for (uint32_t word = node / 64; word < LATTICE_WORDS; word++, mask = ~UINT64_C(0))
		if (l->marked[word] & mask)
			return word * 64 + (uint32_t)__builtin_ctzll(l->marked[word] & mask);
	return NO_NODE;
}

/* The last marked node before `node`; NO_NODE: there is none. */
static uint32_t marked_before(const struct lttng_lattice *l, uint32_t node)
{
	uint64_t mask = ~(~UINT64_C(0) << node % 64);
	for (uint32_t word = node / 64 + 1; word-- > 0; mask = ~UINT64_C(0))
		if (l->marked[word] & mask)
			return word * 64 + 63 - (uint32_t)__builtin_clzll(l->marked[word] & mask);
	return NO_NODE;
}

static void lattice_clear(struct lttng_lattice *l)
{
	for (uint32_t i = marked_from(l, 0); i != NO_NODE; i = marked_from(l, i + 1))
		memset(&l->nodes[i], 0, sizeof(l->nodes[i]));
	memset(l->marked, 0, sizeof(l->marked));
}

static uint32_t node_after(const struct lttng_lattice *l, uint32_t node)
{
	return node < l->count && node + l->step > l->count ? l->count : node + l->step;
}

/* The first node at or behind rel. */
static uint32_t node_at(const struct lttng_lattice *l, uint64_t rel)
{
	uint64_t at = lttng_align(rel, l->step) - l->first;
	return at < l->count ? (uint32_t)at : l->count;
}

/* The score of a stamp that is `delta` ticks behind the one before: fewer ticks are rarer by chance. Fewer bits than the mean count
 * against it twice. */
static int32_t stamp_score(const struct lttng_lattice *l, uint64_t delta)
{
	int32_t bits = (int32_t)LTTNG_TIME_BITS - (int32_t)bits_of(delta);
	if (bits < l->stamp_mean)
		bits -= l->stamp_mean - bits;
	return (bits < l->stamp_max ? bits : l->stamp_max) - STAMP_PRIOR;
}

/* Whether the decoded bytes can be an event on a path. */
static bool can_be_event(const struct lttng_walk *w, const struct lttng_lattice *l, const struct lttng_event *e, bool fine,
			 bool unknown)
{
	if (!e->word || e->padded || !fine || (e->has_full && (e->full < w->begin || e->full > w->end)))
		return false;
	return !unknown || e->id <= l->highest + l->beyond;
}

/* The nodes that may follow an event of unknown type. */
static void unknown_next(const struct lttng_walk *w, const struct lttng_lattice *l, const struct lttng_event *e,
			 struct lttng_node *n)
{
	n->next = node_at(l, e->payload);
	if (e->size_width) {
		/* The size counts from behind padding of unknown length. */
		n->next = node_at(l, e->payload + e->size);
		n->last = node_at(l, lttng_align(e->payload, lttng_value_align(w->in.coding, 8)) + e->size);
	} else if (l->known_only) {
		n->next = n->last = l->count;
	} else {
		n->last = n->header_end + LATTICE_GAP_MAX < l->count ? n->header_end + LATTICE_GAP_MAX : l->count;
	}
}

/* Decodes the event that would start at the node. */
static void node_decode(const struct lttng_walk *w, struct lttng_lattice *l, uint32_t node)
{
	struct lttng_node *n = &l->nodes[node];
	const uint64_t limit = l->first + l->count;
	struct lttng_event e;

	n->kind = NODE_DEAD;
	mark(l, node);
	enum lttng_defect defect = lttng_event_decode(&w->in, l->first + node, limit, w->begin, &e);
	bool unknown = defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT;
	bool cut = !l->at_end && (defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT);
	uint64_t cost = defect == EVENT_STRING_CUT ? limit - e.start : e.end > e.start + COST_MIN ? e.end - e.start : COST_MIN;
	lttng_lattice_spend(l, cost);
	if (defect == EVENT_HEADER_CUT && !l->at_end) {
		n->kind = NODE_CUT;
		n->next = n->last = l->count;
		return;
	}
	if (!can_be_event(w, l, &e, defect == EVENT_OK || unknown || cut, unknown))
		return;
	n->kind = unknown ? NODE_UNKNOWN : NODE_KNOWN;
	n->word = e.word;
	n->id = e.id;
	n->size = e.size_width ? e.size : UINT64_MAX;
	n->full = e.full;
	n->has_full = e.has_full;
	n->score = n->kind == NODE_KNOWN ? SCORE_KNOWN : n->id > l->highest ? -COST_BEYOND : 0;
	if (n->has_full)
		n->score += stamp_score(l, l->delta_min);
	n->header_end = (uint32_t)(e.payload - l->first);
	n->next = n->last = cut ? l->count : node_at(l, e.end);
	if (unknown)
		unknown_next(w, l, &e, n);
}

/* The score of the edge from an event to a node, with that of the node; NEVER: there is no such edge. *stamp: of the node then. */
static inline int32_t edge_score(const struct lttng_lattice *l, const struct lttng_node *n, uint32_t to, uint64_t *stamp)
{
	const struct lttng_node *next = &l->nodes[to];
	int32_t sum = next->score;

	*stamp = n->stamp;
	if (n->kind == NODE_UNKNOWN && l->known_only)
		return 0;
	if (n->kind == NODE_UNKNOWN)
		sum -= COST_LENGTH + (int32_t)((to - n->header_end) / LENGTH_BYTES);
	if (next->kind == NODE_END || next->kind == NODE_CUT)
		return sum;
	/* For a full stamp that lies before, the difference wraps to more than any may be. */
	uint64_t delta = next->has_full ? next->full - n->stamp : (next->word - n->stamp) & LTTNG_TIME_MASK;
	if (delta > l->latest - n->stamp)
		return NEVER;
	*stamp += delta;
	/* Values that repeat, or that count up, look like this, too, and words that begin with the higher bytes of a stamp. */
	if (next->has_full || delta < l->delta_min || delta == n->delta || lttng_laps_alike(delta))
		return sum;
	return sum + stamp_score(l, delta);
}

/* ---- the beam ---- */

/* An event of unknown length has edges to some 250 nodes, and nearly all of these are chance. So of each LATTICE_BEAM bytes only
 * the node with the best score keeps its edges (beam search). */

static bool is_of_any_length(const struct lttng_lattice *l, const struct lttng_node *n)
{
	return n->kind == NODE_UNKNOWN && n->size == UINT64_MAX && !l->known_only;
}

static uint32_t beam_of(uint32_t node)
{
	return node / LATTICE_BEAM;
}

static void beams_clear(struct lttng_lattice *l)
{
	memset(l->beams, 0, sizeof(l->beams));
}

/* The forward pass keeps the nodes with the best paths to them, the backward pass those with the best paths on. */
static void beam_add(struct lttng_lattice *l, uint32_t node, int32_t score)
{
	struct lttng_beam *beam = &l->beams[beam_of(node)];
	if (!beam->any || beam->score < score)
		*beam = (struct lttng_beam){ .node = node, .score = score, .any = true };
}

/* ---- forward and backward ---- */

/* Takes the edge into the best path to its end, if it is better than what leads there (the step of Viterbi's algorithm). */
static void relax(struct lttng_lattice *l, const struct lttng_node *n, uint32_t to)
{
	struct lttng_node *next = &l->nodes[to];
	uint64_t stamp;
	int32_t bits = edge_score(l, n, to, &stamp);

	if (bits == NEVER)
		return;
	int32_t wrap = !next->reached || stamp == next->stamp ? 0 : stamp < next->stamp ? SCORE_WRAP : -SCORE_WRAP;
	if (next->reached && next->forward >= n->forward + bits + wrap)
		return;
	next->reached = true;
	next->forward = n->forward + bits;
	next->stamp = stamp;
	next->delta = stamp - n->stamp;
}

/* The edges here from events of any length that the beam kept. */
static void relax_beams(struct lttng_lattice *l, uint32_t to)
{
	const uint32_t from = to > FARTHEST ? to - FARTHEST : 0, count = beam_of(to) - beam_of(from) + 1;
	const struct lttng_beam *beams = &l->beams[beam_of(from)];

	lttng_lattice_spend(l, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct lttng_node *n = &l->nodes[beams[i].node];
		if (beams[i].any && n->next <= to && to <= n->last)
			relax(l, n, to);
	}
}

/* The edges from an event. */
static void node_expand(const struct lttng_walk *w, struct lttng_lattice *l, uint32_t from)
{
	const struct lttng_node *n = &l->nodes[from];

	if (is_of_any_length(l, n)) {
		beam_add(l, from, n->forward);
		l->reach = n->last > l->reach ? n->last : l->reach;
		return;
	}
	for (uint32_t to = n->next; to <= n->last; to = node_after(l, to)) {
		if (l->nodes[to].kind == NODE_NEW)
			node_decode(w, l, to);
		if (l->nodes[to].kind != NODE_DEAD)
			relax(l, n, to);
	}
}

/* The score of the best path from an event over the edge to a node and on to the end. */
static int32_t path_score(const struct lttng_lattice *l, const struct lttng_node *n, uint32_t to)
{
	const struct lttng_node *next = &l->nodes[to];
	uint64_t stamp;
	if (!next->reached || next->backward == NEVER)
		return NEVER;
	int32_t bits = edge_score(l, n, to, &stamp);
	return bits == NEVER ? NEVER : bits + next->backward;
}

/* The node that follows on the best path, and the score of that path. */
static uint32_t best_next(const struct lttng_lattice *l, const struct lttng_node *n, int32_t *best_score)
{
	uint32_t best = l->count;
	*best_score = NEVER;
	for (uint32_t to = n->next; to <= n->last; to = node_after(l, to)) {
		int32_t bits = path_score(l, n, to);
		if (bits > *best_score) {
			*best_score = bits;
			best = to;
		}
	}
	return best;
}

/* The score of the best path from an event to the end. */
static void node_score_back(struct lttng_lattice *l, uint32_t from)
{
	struct lttng_node *n = &l->nodes[from];

	if (!is_of_any_length(l, n)) {
		(void)best_next(l, n, &n->backward);
	} else {
		const uint32_t count = beam_of(n->last) - beam_of(n->next) + 1;
		const struct lttng_beam *beams = &l->beams[beam_of(n->next)];
		n->backward = n->last == l->count ? path_score(l, n, l->count) : NEVER;
		lttng_lattice_spend(l, count);
		for (uint32_t i = 0; i < count; i++) {
			bool behind = beams[i].any && n->next <= beams[i].node && beams[i].node <= n->last;
			int32_t bits = behind ? path_score(l, n, beams[i].node) : NEVER;
			n->backward = bits > n->backward ? bits : n->backward;
		}
	}
	if (n->backward != NEVER)
		beam_add(l, from, n->backward + n->score);
}

/* The next node that an edge may lead to. */
static uint32_t node_to_expand(const struct lttng_lattice *l, uint32_t node)
{
	uint32_t next = node_after(l, node);
	return next <= l->reach ? next : marked_from(l, next);
}

/* How many bits a stamp of the block gives, by how far apart its events are on average. */
static void stamp_statistics(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_lattice *l)
{
	uint64_t events = (w->limit - t->coding.layout->size) / EVENT_BYTES + 1;
	unsigned delta = bits_of((w->end - w->begin) / events);
	l->stamp_mean = delta < LTTNG_TIME_BITS ? (int32_t)(LTTNG_TIME_BITS - delta) : 0;
	l->stamp_max = l->stamp_mean + STAMP_CLOSER < STAMP_MIN	  ? STAMP_MIN
		       : l->stamp_mean + STAMP_CLOSER < STAMP_MAX ? l->stamp_mean + STAMP_CLOSER
								  : STAMP_MAX;
	l->delta_min = 1 + t->constants.want.v[LF_FREQ] / CLOSEST;
	l->latest = w->end;
}

bool lttng_lattice_search(struct lttng_trace *t, const struct lttng_walk *w, struct lttng_lattice *l)
{
	const uint64_t align = lttng_event_align(&t->coding, w->file->compact);
	const struct lttng_node before = { .kind = NODE_KNOWN, .stamp = w->at.stamp };

	lattice_clear(l);
	l->step = align ? (uint32_t)align : 1;
	l->first = lttng_align(w->at.rel, l->step);
	if (l->first >= w->limit || w->at.stamp > w->end)
		return false;
	stamp_statistics(t, w, l);
	l->at_end = w->limit - l->first <= l->span;
	l->count = l->at_end ? (uint32_t)(w->limit - l->first) : l->span;
	mark(l, l->count);
	l->nodes[l->count].kind = NODE_END;
	l->nodes[l->count].score = l->at_end ? SCORE_END : 0;
	l->reach = 0;
	beams_clear(l);
	node_decode(w, l, 0);
	l->nodes[0].reached = l->nodes[0].kind != NODE_DEAD && edge_score(l, &before, 0, &l->nodes[0].stamp) != NEVER;
	for (uint32_t i = 0; i < l->count && l->budget && t->window.status == TM_OK; i = node_to_expand(l, i)) {
		struct lttng_node *n = &l->nodes[i];
		if (i <= l->reach && n->kind == NODE_NEW)
			node_decode(w, l, i);
		if (i <= l->reach && n->kind != NODE_DEAD)
			relax_beams(l, i);
		if (n->reached)
			node_expand(w, l, i);
	}
	if (l->reach == l->count)
		relax_beams(l, l->count);
	beams_clear(l);
	for (uint32_t i = marked_before(l, l->count); i != NO_NODE; i = marked_before(l, i))
		if (l->nodes[i].reached)
			node_score_back(l, i);
	return l->nodes[0].reached && l->nodes[0].backward != NEVER && l->budget && t->window.status == TM_OK;
}

uint32_t lttng_lattice_next(const struct lttng_lattice *l, uint32_t node)
{
	int32_t best;
	return best_next(l, &l->nodes[node], &best);
}

void lttng_lattice_gaps(const struct lttng_lattice *l, uint32_t node, uint8_t penalties[LATTICE_GAP_MAX + 1])
{
	const struct lttng_node *n = &l->nodes[node];
	int32_t best;

	memset(penalties, LATTICE_WORST, LATTICE_GAP_MAX + 1);
	(void)best_next(l, n, &best);
	for (uint32_t to = n->next; to <= n->last && to - n->header_end <= LATTICE_GAP_MAX; to = node_after(l, to)) {
		int32_t bits = path_score(l, n, to);
		if (bits > best - LATTICE_WORST)
			penalties[to - n->header_end] = (uint8_t)(best - bits);
	}
}
