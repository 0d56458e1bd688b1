/* The likeliest way from event to event through bytes in which some types are not known. Any place may hold an event: its clock
 * goes on from the one before or it does not, and 27 bits of clock are rarely close by chance. So each step is worth the bits that
 * chance would not have brought, an event of unknown length may end anywhere at a price, and the way that is worth most is taken.
 */
#include "formats/lttng/salvage/lttng_path.h"

/* What a stamp says at most: values of payloads are close as well. So many bits closer than events are on average says no more. */
#define RARITY_MAX 20
#define RARITY_MIN 8
#define CLOSER 4
#define EVENT_BYTES 16u
/* What is not known of how far apart events are. */
#define STAMP_COST 5
/* A type that is known; one that is not, of a number beyond all that are; and to end where the data does. */
#define KNOWN_WORTH 1
#define BEYOND_COST 6
#define END_WORTH 4
/* An event of unknown length: so much, and one bit more for so many bytes. */
#define LENGTH_COST 4
#define LENGTH_BYTES 32u
/* Events are rarely closer than one in so many parts of a second. */
#define CLOSEST 25000000u
/* Of two ways to one event, the one that comes to it before the clock's low bits come round once more. */
#define LAP_WORTH 32
/* What a spot costs, in bytes looked at. */
#define COST_MIN 8u
#define NEVER (INT32_MIN / 2)
/* The most bytes from an event of unknown type to the next. */
#define FARTHEST (PATH_GAP_MAX + 16u)
#define NO_SPOT UINT16_MAX

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* ---- spots ---- */

static void touch(struct lttng_path *p, uint32_t spot)
{
	p->touched[spot / 64] |= UINT64_C(1) << spot % 64;
}

/* The first spot at or behind that one that was touched; NO_SPOT: there is none. */
static uint32_t touched_from(const struct lttng_path *p, uint32_t spot)
{
	uint64_t mask = ~UINT64_C(0) << spot % 64;
	for (uint32_t word = spot / 64; word < PATH_WORDS; word++, mask = ~UINT64_C(0))
		if (p->touched[word] & mask)
			return word * 64 + (uint32_t)__builtin_ctzll(p->touched[word] & mask);
	return NO_SPOT;
}

/* The last spot before that one that was touched; NO_SPOT: there is none. */
static uint32_t touched_before(const struct lttng_path *p, uint32_t spot)
{
	uint64_t mask = ~(~UINT64_C(0) << spot % 64);
	for (uint32_t word = spot / 64 + 1; word-- > 0; mask = ~UINT64_C(0))
		if (p->touched[word] & mask)
			return word * 64 + 63 - (uint32_t)__builtin_clzll(p->touched[word] & mask);
	return NO_SPOT;
}

static void forget(struct lttng_path *p)
{
	for (uint32_t i = touched_from(p, 0); i != NO_SPOT; i = touched_from(p, i + 1))
		memset(&p->spots[i], 0, sizeof(p->spots[i]));
	memset(p->touched, 0, sizeof(p->touched));
}

static uint32_t spot_after(const struct lttng_path *p, uint32_t spot)
{
	return spot < p->count && spot + p->step > p->count ? p->count : spot + p->step;
}

/* The first spot at or behind a place. */
static uint32_t spot_of(const struct lttng_path *p, uint64_t rel)
{
	uint64_t at = lttng_align(rel, p->step) - p->first;
	return at < p->count ? (uint32_t)at : p->count;
}

/* What a stamp says that is so much behind the one before. */
static int32_t closeness(const struct lttng_path *p, uint64_t apart)
{
	int32_t bits = (int32_t)LTTNG_TIME_BITS - (int32_t)bits_of(apart);
	if (bits < p->usual)
		bits -= p->usual - bits;
	return (bits < p->most ? bits : p->most) - STAMP_COST;
}

/* Whether the decoded bytes can be an event on a way. */
static bool may_be_event(const struct lttng_walk *w, const struct lttng_path *p, const struct lttng_event *e, bool fine,
			 bool unknown)
{
	if (!e->word || e->padded || !fine || (e->has_full && (e->full < w->begin || e->full > w->end)))
		return false;
	return !unknown || e->id <= p->highest + p->beyond;
}

/* Where the next event may be behind one of unknown length. */
static void unknown_next(const struct lttng_walk *w, const struct lttng_path *p, const struct lttng_event *e, struct lttng_spot *s)
{
	s->next = spot_of(p, e->payload);
	if (e->size_width) {
		/* Behind padding, of which nothing is known. */
		s->next = spot_of(p, e->payload + e->size);
		s->last = spot_of(p, lttng_align(e->payload, lttng_value_align(w->in.coding, 8)) + e->size);
	} else if (p->known_only) {
		s->next = s->last = p->count;
	} else {
		s->last = s->header_end + PATH_GAP_MAX < p->count ? s->header_end + PATH_GAP_MAX : p->count;
	}
}

/* What the event at the spot would be. */
static void look_at(const struct lttng_walk *w, struct lttng_path *p, uint32_t spot)
{
	struct lttng_spot *s = &p->spots[spot];
	const uint64_t limit = p->first + p->count;
	struct lttng_event e;

	s->kind = SPOT_DEAD;
	touch(p, spot);
	enum lttng_defect defect = lttng_event_decode(&w->in, p->first + spot, limit, w->begin, &e);
	bool unknown = defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT;
	bool cut = !p->ends && (defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT);
	uint64_t cost = defect == EVENT_STRING_CUT ? limit - e.start : e.end > e.start + COST_MIN ? e.end - e.start : COST_MIN;
	lttng_path_spend(p, cost);
	if (defect == EVENT_HEADER_CUT && !p->ends) {
		s->kind = SPOT_CUT;
		s->next = s->last = p->count;
		return;
	}
	if (!may_be_event(w, p, &e, defect == EVENT_OK || unknown || cut, unknown))
		return;
	s->kind = unknown ? SPOT_UNKNOWN : SPOT_KNOWN;
	s->word = e.word;
	s->id = e.id;
	s->size = e.size_width ? e.size : UINT64_MAX;
	s->full = e.full;
	s->has_full = e.has_full;
	s->worth = s->kind == SPOT_KNOWN ? KNOWN_WORTH : s->id > p->highest ? -BEYOND_COST : 0;
	if (s->has_full)
		s->worth += closeness(p, p->least);
	s->header_end = (uint32_t)(e.payload - p->first);
	s->next = s->last = cut ? p->count : spot_of(p, e.end);
	if (unknown)
		unknown_next(w, p, &e, s);
}

/* Bits for the step from an event to what may be behind it; NEVER: it is not. *stamp: of the latter. */
static inline int32_t worth(const struct lttng_path *p, const struct lttng_spot *s, uint32_t to, uint64_t *stamp)
{
	const struct lttng_spot *next = &p->spots[to];
	int32_t sum = next->worth;

	*stamp = s->stamp;
	if (s->kind == SPOT_UNKNOWN && p->known_only)
		return 0;
	if (s->kind == SPOT_UNKNOWN)
		sum -= LENGTH_COST + (int32_t)((to - s->header_end) / LENGTH_BYTES);
	if (next->kind == SPOT_END || next->kind == SPOT_CUT)
		return sum;
	/* A full stamp that lies before is more apart than any may be. */
	uint64_t apart = next->has_full ? next->full - s->stamp : (next->word - s->stamp) & LTTNG_TIME_MASK;
	if (apart > p->latest - s->stamp)
		return NEVER;
	*stamp += apart;
	/* Values that repeat, or that are counted, are apart like this, too. */
	if (next->has_full || apart < p->least || apart == s->apart)
		return sum;
	return sum + closeness(p, apart);
}

/* ---- which ways are weighed ---- */

/* An event of unknown length has a way to each of some 250 places, and chance made nearly all of them. So of a few places in a row,
 * only the best is thought of. */

static bool has_any_length(const struct lttng_path *p, const struct lttng_spot *s)
{
	return s->kind == SPOT_UNKNOWN && s->size == UINT64_MAX && !p->known_only;
}

static uint32_t row_of(uint32_t spot)
{
	return spot / PATH_ROW;
}

static void rows_clear(struct lttng_path *p)
{
	memset(p->rows, 0, sizeof(p->rows));
}

/* How good the spot is, seen from its row: in one pass by what leads to it, in the other by what it leads to. */
static void row_add(struct lttng_path *p, uint32_t spot, int32_t value)
{
	struct lttng_row *row = &p->rows[row_of(spot)];
	if (!row->any || row->value < value)
		*row = (struct lttng_row){ .spot = spot, .value = value, .any = true };
}

/* ---- forward and backward ---- */

/* The way from one to the other, if it is better than those that lead there. */
static void come(struct lttng_path *p, const struct lttng_spot *s, uint32_t to)
{
	struct lttng_spot *next = &p->spots[to];
	uint64_t stamp;
	int32_t bits = worth(p, s, to, &stamp);

	if (bits == NEVER)
		return;
	int32_t lap = !next->open || stamp == next->stamp ? 0 : stamp < next->stamp ? LAP_WORTH : -LAP_WORTH;
	if (next->open && next->alpha >= s->alpha + bits + lap)
		return;
	next->open = true;
	next->alpha = s->alpha + bits;
	next->stamp = stamp;
	next->apart = stamp - s->stamp;
}

/* The ways here from events of any length. */
static void come_far(struct lttng_path *p, uint32_t to)
{
	const uint32_t from = to > FARTHEST ? to - FARTHEST : 0, count = row_of(to) - row_of(from) + 1;
	const struct lttng_row *rows = &p->rows[row_of(from)];

	lttng_path_spend(p, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct lttng_spot *s = &p->spots[rows[i].spot];
		if (rows[i].any && s->next <= to && to <= s->last)
			come(p, s, to);
	}
}

/* From an event to those that may be behind it. */
static void go_on(const struct lttng_walk *w, struct lttng_path *p, uint32_t from)
{
	const struct lttng_spot *s = &p->spots[from];

	if (has_any_length(p, s)) {
		row_add(p, from, s->alpha);
		p->reach = s->last > p->reach ? s->last : p->reach;
		return;
	}
	for (uint32_t to = s->next; to <= s->last; to = spot_after(p, to)) {
		if (p->spots[to].kind == SPOT_NEW)
			look_at(w, p, to);
		if (p->spots[to].kind != SPOT_DEAD)
			come(p, s, to);
	}
}

/* What the way is worth by the one spot and on from there. */
static int32_t worth_on(const struct lttng_path *p, const struct lttng_spot *s, uint32_t to)
{
	const struct lttng_spot *next = &p->spots[to];
	uint64_t stamp;
	if (!next->open || next->beta == NEVER)
		return NEVER;
	int32_t bits = worth(p, s, to, &stamp);
	return bits == NEVER ? NEVER : bits + next->beta;
}

/* The best of all ways on, and what it is worth. */
static uint32_t best_next(const struct lttng_path *p, const struct lttng_spot *s, int32_t *most)
{
	uint32_t best = p->count;
	*most = NEVER;
	for (uint32_t to = s->next; to <= s->last; to = spot_after(p, to)) {
		int32_t bits = worth_on(p, s, to);
		if (bits > *most) {
			*most = bits;
			best = to;
		}
	}
	return best;
}

/* What the best of the ways on from an event is worth. */
static void look_back(struct lttng_path *p, uint32_t from)
{
	struct lttng_spot *s = &p->spots[from];

	if (!has_any_length(p, s)) {
		(void)best_next(p, s, &s->beta);
	} else {
		const uint32_t count = row_of(s->last) - row_of(s->next) + 1;
		const struct lttng_row *rows = &p->rows[row_of(s->next)];
		s->beta = s->last == p->count ? worth_on(p, s, p->count) : NEVER;
		lttng_path_spend(p, count);
		for (uint32_t i = 0; i < count; i++) {
			bool behind = rows[i].any && s->next <= rows[i].spot && rows[i].spot <= s->last;
			int32_t bits = behind ? worth_on(p, s, rows[i].spot) : NEVER;
			s->beta = bits > s->beta ? bits : s->beta;
		}
	}
	if (s->beta != NEVER)
		row_add(p, from, s->beta + s->worth);
}

/* The next spot that a way may lead to. */
static uint32_t spot_to_see(const struct lttng_path *p, uint32_t spot)
{
	uint32_t next = spot_after(p, spot);
	return next <= p->reach ? next : touched_from(p, next);
}

/* How far apart events of the block are. */
static void measure(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_path *p)
{
	uint64_t events = (w->limit - t->coding.layout->size) / EVENT_BYTES + 1;
	unsigned apart = bits_of((w->end - w->begin) / events);
	p->usual = apart < LTTNG_TIME_BITS ? (int32_t)(LTTNG_TIME_BITS - apart) : 0;
	p->most = p->usual + CLOSER < RARITY_MIN ? RARITY_MIN : p->usual + CLOSER < RARITY_MAX ? p->usual + CLOSER : RARITY_MAX;
	p->least = 1 + t->constants.want.v[LF_FREQ] / CLOSEST;
	p->latest = w->end;
}

bool lttng_path_find(struct lttng_trace *t, const struct lttng_walk *w, struct lttng_path *p)
{
	const uint64_t align = lttng_event_align(&t->coding, w->file->compact);
	const struct lttng_spot before = { .kind = SPOT_KNOWN, .stamp = w->at.stamp };

	forget(p);
	p->step = align ? (uint32_t)align : 1;
	p->first = lttng_align(w->at.rel, p->step);
	if (p->first >= w->limit || w->at.stamp > w->end)
		return false;
	measure(t, w, p);
	p->ends = w->limit - p->first <= p->span;
	p->count = p->ends ? (uint32_t)(w->limit - p->first) : p->span;
	touch(p, p->count);
	p->spots[p->count].kind = SPOT_END;
	p->spots[p->count].worth = p->ends ? END_WORTH : 0;
	p->reach = 0;
	rows_clear(p);
	look_at(w, p, 0);
	p->spots[0].open = p->spots[0].kind != SPOT_DEAD && worth(p, &before, 0, &p->spots[0].stamp) != NEVER;
	for (uint32_t i = 0; i < p->count && p->budget && t->window.status == TM_OK; i = spot_to_see(p, i)) {
		struct lttng_spot *s = &p->spots[i];
		if (i <= p->reach && s->kind == SPOT_NEW)
			look_at(w, p, i);
		if (i <= p->reach && s->kind != SPOT_DEAD)
			come_far(p, i);
		if (s->open)
			go_on(w, p, i);
	}
	if (p->reach == p->count)
		come_far(p, p->count);
	rows_clear(p);
	for (uint32_t i = touched_before(p, p->count); i != NO_SPOT; i = touched_before(p, i))
		if (p->spots[i].open)
			look_back(p, i);
	return p->spots[0].open && p->spots[0].beta != NEVER && p->budget && t->window.status == TM_OK;
}

uint32_t lttng_path_next(const struct lttng_path *p, uint32_t spot)
{
	int32_t most;
	return best_next(p, &p->spots[spot], &most);
}

void lttng_path_gaps(const struct lttng_path *p, uint32_t spot, uint8_t worse[PATH_GAP_MAX + 1])
{
	const struct lttng_spot *s = &p->spots[spot];
	int32_t most;

	memset(worse, PATH_WORST, PATH_GAP_MAX + 1);
	(void)best_next(p, s, &most);
	for (uint32_t to = s->next; to <= s->last && to - s->header_end <= PATH_GAP_MAX; to = spot_after(p, to)) {
		int32_t bits = worth_on(p, s, to);
		if (bits > most - PATH_WORST)
			worse[to - s->header_end] = (uint8_t)(most - bits);
	}
}
