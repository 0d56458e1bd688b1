/* Events before damage that may be misread. Nearly any few bytes decode as some event, so where bytes came in, or are missing, the
 * walk can go over several before it meets one that cannot be. What it takes for their stamps is arbitrary, though: the clock
 * leaps. Where the leaps begin is a change-point problem, solved by cumulative sums (E. S. Page, "Continuous Inspection Schemes",
 * Biometrika 41, 1954): the score of an event is the logarithm of how much likelier its gap is if it is misread. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* A gap is a leap where it is more than 1/2^n of a lap: one of 2^n events that are misread has none. */
#define LEAP_BITS 6u

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

static void misread_step(const struct lttng_trace *t, struct lttng_misread *m, const struct lttng_event *e)
{
	const bool leap = e->stamp - m->stamp > lttng_lap(&t->coding) >> LEAP_BITS;
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

uint64_t lttng_misread_from(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_misread *m, uint64_t to,
			    uint64_t next)
{
	struct lttng_event e;
	bool first = m->rel > t->coding.layout->size;

	m->score = 0;
	m->from = m->rel;
	while (m->rel < to && lttng_event_decode(&w->in, m->rel, to, m->stamp, &e) == EVENT_OK && e.end > m->rel) {
		/* The clock may have wrapped before the first one behind other damage. */
		if (!first)
			misread_step(t, m, &e);
		else
			m->from = e.end;
		first = false;
		m->rel = e.end;
		m->stamp = e.stamp;
	}
	const uint64_t from = m->from < to ? m->from : to;
	m->rel = next;
	return from;
}
