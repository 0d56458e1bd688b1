/* One walk over a file: the state that its parts share. Each sub-structure is defined by its owner. */
#ifndef KTRACE_WALK_H
#define KTRACE_WALK_H

#include "core/format.h"
#include "formats/ktrace/repair/ktrace_repair.h"
#include "formats/ktrace/salvage/ktrace_form.h"
#include "formats/ktrace/scan/ktrace_events.h"
#include "formats/ktrace/scan/ktrace_input.h"

/* A counting rule: one finding a chunk, with the first place and the count. */
struct ktrace_count {
	uint64_t count, first;
};

/* Clocks and times, for checks between chunks. */
struct ktrace_clock {
	uint32_t numer, denom;	 /* timebase of the header */
	uint64_t header_time;	 /* timestamp of the header */
	uint64_t summary_time;	 /* the last event, as the summary chunk says ... */
	uint64_t summary_offset; /* ... at this offset; 0: it does not */
	bool synced;		 /* a time sync chunk was seen */
	bool doubtful;		 /* the timebase may be damaged */
};

#define KTRACE_STRANGE 16u /* chunks with an unknown tag that are remembered */

struct ktrace_walk {
	struct scan *scan;
	struct ktrace_input in;
	struct ktrace_repair repair;
	struct ktrace_clock clock;
	struct ktrace_head head; /* of the records that are kept */
	struct ktrace_events events;
	struct ktrace_table subfiles; /* ids of sub-file headers */
	uint32_t chunks;	      /* so far */
	struct {
		uint64_t from, until;
	} strange[KTRACE_STRANGE]; /* chunks with an unknown tag */
	uint32_t strange_count;
	bool padded;	  /* a chunk is followed by padding, as all should be */
	bool cpu_map;	  /* one was seen */
	bool map_damaged; /* entries of a thread map may be gone */
	bool header_odd;  /* something is wrong with the header structure ... */
	bool header_hit;  /* ... that is not only a mark or a size */
	bool foreign;	  /* a second file begins inside of this one */
};

/* What follows `at` belongs to another capture: it is listed as doubtful, once. */
static inline void ktrace_foreign_doubt(struct ktrace_walk *w, uint64_t at)
{
	if (!w->foreign)
		ktrace_repair_doubt(&w->repair, at, w->in.source->size, "the header of another file, and what follows it");
	w->foreign = true;
}
/* The same where such a header is in [from, until), which holds neither chunks nor records. */
void ktrace_foreign_find(struct ktrace_walk *w, uint64_t from, uint64_t until);

#endif
