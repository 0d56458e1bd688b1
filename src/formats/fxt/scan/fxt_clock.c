/* Ticks and timestamps: #timestamps, #initialization-record. */
#include "formats/fxt/scan/fxt_clock.h"

/* Timestamps that must be known before one can be an outlier, and by how many times the span of all others it then differs. */
#define OUTLIER_KNOWN 16u
#define OUTLIER_SPANS 100u
/* A timestamp of 0 is an outlier once all others are above this. */
#define ZERO_STRANGE UINT64_C(1000000)

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t spans(const struct fxt_provider *p)
{
	uint64_t span = p->last - p->first;
	return span > UINT64_MAX / OUTLIER_SPANS ? UINT64_MAX : span * OUTLIER_SPANS;
}

static void widen(struct fxt_provider *p, uint64_t time)
{
	if (time < p->first)
		p->first = time;
	if (time > p->last)
		p->last = time;
	p->step_max = p->timed < OUTLIER_KNOWN || p->outlier_open ? 0 : spans(p);
}

static void first_time(struct fxt_clock *c, struct fxt_provider *p, uint64_t offset)
{
	struct finding *fd;

	if (p->initialized)
		return;
	if (c->default_init && !p->anonymous && !p->init_misplaced) {
		p->init_misplaced = true;
		fxt_report(c->report, FXT_RULE_initialization_in_other_context, c->default_init_offset, 2 * FXT_WORD,
			   "this initialization record precedes all providers; provider %u has no initialization record", p->id);
		return;
	}
	fd = fxt_note(c->report, FXT_RULE_missing_initialization, offset, 2 * FXT_WORD,
		      "no initialization record precedes the first timestamp; %llu ticks a second are assumed",
		      (unsigned long long)FXT_TICKS_DEFAULT);
	if (fd)
		fxt_path(c->report, fd, c->report->here.record, NULL);
}

/* The next timestamp decides whether the one before was an outlier: it was when this one is among the others again. */
static void decide_outlier(struct fxt_clock *c, struct fxt_provider *p, uint64_t time)
{
	p->outlier_open = false;
	if (distance(time, p->outlier_before) < distance(time, p->outlier)) {
		fxt_note(c->report, FXT_RULE_timestamp_outlier, p->outlier_offset, 2 * FXT_WORD,
			 "timestamp %llu is between timestamps %llu and %llu", (unsigned long long)p->outlier,
			 (unsigned long long)p->outlier_before, (unsigned long long)time);
	} else {
		widen(p, p->outlier);
	}
}

void fxt_clock_step(struct fxt_clock *c, struct fxt_provider *p, uint64_t time, uint64_t offset)
{

	if (!p->timed++) {
		p->first = p->last = p->previous = time;
		first_time(c, p, offset);
	}
	if (time > p->tick_limit)
		fxt_report(c->report, FXT_RULE_timestamp_overflow, offset, 2 * FXT_WORD,
			   "timestamp %llu at %llu ticks a second is beyond 2^63 - 1 nanoseconds", (unsigned long long)time,
			   (unsigned long long)p->ticks);
	if (p->outlier_open)
		decide_outlier(c, p, time);
	if (time < p->previous) {
		p->backward++;
		struct finding *fd = fxt_note(c->report, FXT_RULE_non_monotonic_timestamps, offset, 2 * FXT_WORD,
					      "timestamp %llu follows %llu", (unsigned long long)time,
					      (unsigned long long)p->previous);
		if (fd)
			fxt_path(c->report, fd, c->report->here.record, NULL);
	}
	bool far = p->timed > OUTLIER_KNOWN && distance(time, p->previous) > spans(p) && p->last > p->first;
	if (far || (!time && p->first > ZERO_STRANGE && p->timed > 2)) {
		p->outlier_open = true;
		p->outlier = time;
		p->outlier_before = p->previous;
		p->outlier_offset = offset;
		p->step_max = 0;
	} else {
		widen(p, time);
	}
	p->previous = time;
}

/* The last tick whose nanoseconds fit 63 bits. */
static uint64_t tick_limit(uint64_t ticks)
{
	uint64_t seconds = INT64_MAX / UINT64_C(1000000000), rest = INT64_MAX % UINT64_C(1000000000);
	if (ticks > UINT64_MAX / (seconds + 1))
		return UINT64_MAX;
	uint64_t part = ticks <= UINT64_MAX / rest ? rest * ticks / UINT64_C(1000000000) : ticks / UINT64_C(1000000000) * rest;
	return seconds * ticks + part;
}

void fxt_clock_initialize(struct fxt_clock *c, struct fxt_provider *p, uint64_t ticks, bool before_all, uint64_t offset,
			  uint64_t length)
{

	if (ticks && (ticks < 1000 || ticks > UINT64_C(1000000000000)))
		fxt_note(c->report, FXT_RULE_implausible_tick_rate, offset, length,
			 "tick rate is %llu a second, expected 1000 to 10^12", (unsigned long long)ticks);
	if (p->timed && ticks && ticks != p->ticks)
		fxt_report(c->report, FXT_RULE_late_initialization, offset, length,
			   "the tick rate changes from %llu to %llu a second after %llu timestamps", (unsigned long long)p->ticks,
			   (unsigned long long)ticks, (unsigned long long)p->timed);
	if (p->anonymous && before_all && !p->timed) {
		c->default_init = true;
		c->default_init_offset = offset;
	}
	p->initialized = true;
	p->ticks = ticks ? ticks : FXT_TICKS_DEFAULT;
	p->tick_limit = tick_limit(p->ticks);
}
