/* Ticks and timestamps of providers: #timestamps, #initialization-record. */
#ifndef FXT_CLOCK_H
#define FXT_CLOCK_H

#include "formats/fxt/scan/fxt_table.h"

struct fxt_clock {
	struct fxt_report *report;
	bool default_init; /* an initialization record precedes every provider */
	uint64_t default_init_offset;
};

/* Whether a clock may have so many ticks a second. */
static inline bool fxt_rate_is_plausible(uint64_t ticks)
{
	return ticks >= 1000 && ticks <= UINT64_C(1000000000000);
}

/* Whether two times are further apart than those of the provider, so far, make likely. */
bool fxt_clock_is_far(const struct fxt_provider *provider, uint64_t from, uint64_t until);
/* An initialization record of a provider. before_all: no provider was introduced so far. */
void fxt_clock_initialize(struct fxt_clock *c, struct fxt_provider *provider, uint64_t ticks, bool before_all, uint64_t offset,
			  uint64_t length);
/* The timestamp of a record, when it is not simply a little later than the one before: see fxt_clock_time(). */
void fxt_clock_step(struct fxt_clock *c, struct fxt_provider *provider, uint64_t time, uint64_t offset);

/* The timestamp of a record. */
static inline void fxt_clock_time(struct fxt_clock *c, struct fxt_provider *provider, uint64_t time, uint64_t offset)
{
	if (__builtin_expect(provider->timed && time >= provider->previous && time - provider->previous <= provider->step_max &&
				     time <= provider->tick_limit,
			     1)) {
		provider->previous = time;
		if (time > provider->last)
			provider->last = time;
		provider->timed++;
	} else {
		fxt_clock_step(c, provider, time, offset);
	}
}

#endif
