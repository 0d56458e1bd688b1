/* Events before damage that may be misread. Nearly any few bytes decode as some event, so where bytes came in, or are missing, the
 * walk can go over several before it meets one that cannot be. What it takes for their stamps is arbitrary, though: the clock
 * leaps. Where the leaps begin is a change-point problem, solved by cumulative sums (E. S. Page, "Continuous Inspection Schemes",
 * Biometrika 41, 1954): the score of an event is the logarithm of how much likelier its gap is if it is misread.
 *
 * Where a part of another place stands there, its events decode and follow each other, and the clock leaps only once, in front of
 * them. Behind the damage it is back where it was. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* A gap is a leap where it is more than 1/2^n of a lap: one of 2^n events that are misread has none. */
#define LEAP_BITS 6u
/* Events behind a leap that may be those of another place: more than those of a page. Leaps are as rare as one of 2^n events. */
#define DETOUR_SPAN 512u
#define DETOUR_RARITY 3

void lttng_misread_open(struct lttng_misread *m, const struct lttng_walk *w)
{
	*m = (struct lttng_misread){ .rel = w->in.coding->layout->size, .stamp = w->begin };
	m->from = m->rel;
}

/* Binary logarithm, rounded down, of how rare leaps were so far. */
static int rarity(const struct lttng_misread *m)
{
	int log = 0;
	for (uint64_t rare = m->events / (m->leaps + 1); rare > 1; rare /= 2)
		log++;
	return log;
}

/* Whether the clock leaps to the event, which is remembered. */
static bool note_leap(const struct lttng_trace *t, struct lttng_misread *m, const struct lttng_event *e, struct lttng_leap *last)
{
	const bool leap = e->stamp - m->stamp > lttng_lap(&t->coding) >> LEAP_BITS;

	if (leap)
		*last = (struct lttng_leap){ .from = m->rel, .before = m->stamp, .ticks = e->stamp - m->stamp, .event = m->events };
	if (e->has_full)
		m->leap.ticks = m->seam.ticks = 0;
	return leap;
}

static void misread_step(const struct lttng_trace *t, struct lttng_misread *m, const struct lttng_event *e)
{
	const bool leap = note_leap(t, m, e, &m->leap);
	/* A size, or the low bits of a stamp, that agree are not there by chance. */
	const bool verified = e->has_full || (e->size_width && !e->escaped);

	m->score += leap ? rarity(m) : -(int64_t)LEAP_BITS;
	if (verified || m->score <= 0) {
		m->score = 0;
		m->from = e->end;
	}
	m->events++;
	m->leaps += leap;
}

/* Whether a leap is one to another place, if the clock is behind it where it was. */
static bool may_be_detour(const struct lttng_misread *m, const struct lttng_leap *l)
{
	return l->ticks && m->events - l->event <= DETOUR_SPAN && rarity(m) >= DETOUR_RARITY;
}

/* Whether the clock, at `next` behind damage, is back where it was in front of the leap. */
static bool is_detour(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_misread *m,
		      const struct lttng_leap *l, uint64_t next)
{
	struct lttng_event e;

	if (!may_be_detour(m, l) || lttng_event_decode(&w->in, next, w->limit, m->stamp, &e) != EVENT_OK || !e.word)
		return false;
	const uint64_t since = e.stamp - l->before;
	return (e.has_full ? since : since & lttng_lap(&t->coding)) < l->ticks;
}

bool lttng_misread_leap(const struct lttng_trace *t, const struct lttng_walk *w, bool seam, struct lttng_leap *leap)
{
	const struct edits *edits = &w->edits->edits;
	struct lttng_misread m;
	struct lttng_event e;

	lttng_misread_open(&m, w);
	if (edits->count) {
		m.rel = edits->list[edits->count - 1].at + edits->list[edits->count - 1].remove;
		m.stamp = w->edits->doubts[edits->count - 1].stamp;
	}
	for (bool first = edits->count != 0; m.rel < w->at.kept; first = false) {
		if (lttng_event_decode(&w->in, m.rel, w->at.kept, m.stamp, &e) != EVENT_OK || e.end <= m.rel)
			return false;
		if (!first)
			misread_step(t, &m, &e);
		else if (m.stamp)
			(void)note_leap(t, &m, &e, &m.seam);
		m.rel = e.end;
		m.stamp = e.stamp;
	}
	*leap = seam ? m.seam : m.leap;
	leap->before += w->at.stamp - m.stamp;
	return may_be_detour(&m, leap);
}

uint64_t lttng_misread_from(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_misread *m, uint64_t to,
			    uint64_t next)
{
	struct lttng_event e;
	bool first = m->rel > t->coding.layout->size;

	m->score = 0;
	m->from = m->rel;
	while (m->rel < to && lttng_event_decode(&w->in, m->rel, to, m->stamp, &e) == EVENT_OK && e.end > m->rel) {
		/* The clock may have wrapped before the first one behind other damage. */
		if (!first) {
			misread_step(t, m, &e);
		} else {
			(void)note_leap(t, m, &e, &m->seam);
			m->from = e.end;
		}
		first = false;
		m->rel = e.end;
		m->stamp = e.stamp;
	}
	uint64_t from = m->from < to ? m->from : to;
	if (is_detour(t, w, m, &m->leap, next) && m->leap.from < from)
		from = m->leap.from;
	if (is_detour(t, w, m, &m->seam, next) && m->seam.from < from)
		from = m->seam.from;
	m->leap.ticks = m->seam.ticks = 0;
	m->rel = next;
	return from;
}
