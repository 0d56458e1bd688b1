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

static uint64_t spans(const struct fxt_provider *provider)
{
	uint64_t span = provider->last - provider->first;
	return span > UINT64_MAX / OUTLIER_SPANS ? UINT64_MAX : span * OUTLIER_SPANS;
}

static void widen(struct fxt_provider *provider, uint64_t time)
{
	if (time < provider->first)
		provider->first = time;
	if (time > provider->last)
		provider->last = time;
	provider->step_max = provider->timed < OUTLIER_KNOWN || provider->outlier_open ? 0 : spans(provider);
}

bool fxt_clock_is_far(const struct fxt_provider *provider, uint64_t from, uint64_t until)
{
	return provider->timed > OUTLIER_KNOWN && provider->last > provider->first && distance(from, until) > spans(provider);
}

static void first_time(struct fxt_clock *c, struct fxt_provider *provider, uint64_t offset)
{
	struct finding *fd;

	if (provider->initialized)
		return;
	if (c->default_init && !provider->anonymous && !provider->init_misplaced) {
		provider->init_misplaced = true;
		fxt_report(c->report, FXT_RULE_initialization_in_other_context, c->default_init_offset, 2 * FXT_WORD,
			   "this initialization record precedes all providers; provider %u has no initialization record",
			   provider->id);
		return;
	}
	fd = fxt_note(c->report, FXT_RULE_missing_initialization, offset, 2 * FXT_WORD,
		      "no initialization record precedes the first timestamp; %llu ticks a second are assumed",
		      (unsigned long long)FXT_TICKS_DEFAULT);
	if (fd)
		fxt_path(c->report, fd, c->report->here.record, NULL);
}

/* The next timestamp decides whether the one before was an outlier: it was when this one is among the others again. Returns what
 * this one goes on from. */
static uint64_t decide_outlier(struct fxt_clock *c, struct fxt_provider *provider, uint64_t time)
{
	provider->outlier_open = false;
	if (distance(time, provider->outlier_before) < distance(time, provider->outlier)) {
		fxt_note(c->report, FXT_RULE_timestamp_outlier, provider->outlier_offset, 2 * FXT_WORD,
			 "timestamp %llu is between timestamps %llu and %llu", (unsigned long long)provider->outlier,
			 (unsigned long long)provider->outlier_before, (unsigned long long)time);
		return provider->outlier_before;
	}
	widen(provider, provider->outlier);
	return provider->outlier;
}

void fxt_clock_step(struct fxt_clock *c, struct fxt_provider *provider, uint64_t time, uint64_t offset)
{

	if (!provider->timed++) {
		provider->first = provider->last = provider->previous = time;
		first_time(c, provider, offset);
	}
	if (time > provider->tick_limit)
		fxt_report(c->report, FXT_RULE_timestamp_overflow, offset, 2 * FXT_WORD,
			   "timestamp %llu at %llu ticks a second is beyond 2^63 - 1 nanoseconds", (unsigned long long)time,
			   (unsigned long long)provider->ticks);
	const uint64_t before = provider->outlier_open ? decide_outlier(c, provider, time) : provider->previous;
	if (time < provider->previous) {
		provider->backward++;
		struct finding *fd = fxt_note(c->report, FXT_RULE_non_monotonic_timestamps, offset, 2 * FXT_WORD,
					      "timestamp %llu follows %llu", (unsigned long long)time,
					      (unsigned long long)provider->previous);
		if (fd)
			fxt_path(c->report, fd, c->report->here.record, NULL);
	}
	bool far = fxt_clock_is_far(provider, time, before);
	if (far || (!time && provider->first > ZERO_STRANGE && provider->timed > 2)) {
		provider->outlier_open = true;
		provider->outlier = time;
		provider->outlier_before = before;
		provider->outlier_offset = offset;
		provider->step_max = 0;
	} else {
		widen(provider, time);
	}
	provider->previous = time;
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

void fxt_clock_initialize(struct fxt_clock *c, struct fxt_provider *provider, uint64_t ticks, bool before_all, uint64_t offset,
			  uint64_t length)
{

	if (ticks && !fxt_rate_is_plausible(ticks))
		fxt_note(c->report, FXT_RULE_implausible_tick_rate, offset, length,
			 "tick rate is %llu a second, expected 1000 to 10^12", (unsigned long long)ticks);
	if (provider->timed && ticks && ticks != provider->ticks)
		fxt_report(c->report, FXT_RULE_late_initialization, offset, length,
			   "the tick rate changes from %llu to %llu a second after %llu timestamps",
			   (unsigned long long)provider->ticks, (unsigned long long)ticks, (unsigned long long)provider->timed);
	if (provider->anonymous && before_all && !provider->timed) {
		c->default_init = true;
		c->default_init_offset = offset;
	}
	provider->initialized = true;
	provider->rate_offset = offset;
	provider->ticks = ticks ? ticks : FXT_TICKS_DEFAULT;
	provider->tick_limit = tick_limit(provider->ticks);
}
