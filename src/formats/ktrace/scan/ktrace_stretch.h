/* Which records of a stretch are kept, and which of them are doubtful. */
#ifndef KTRACE_STRETCH_H
#define KTRACE_STRETCH_H

#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/scan/ktrace_walk.h"

#define KTRACE_ISLANDS 8u /* runs between damage that are remembered */

struct ktrace_keep {
	struct ktrace_walk *walk;
	const struct ktrace_stretch *stretch;
	uint64_t from;	      /* start of the run of records that are kept */
	uint64_t kept;	      /* bytes before that run */
	uint64_t time_before; /* of the last record before that run */
	struct ktrace_before {
		uint64_t from, until, time; /* the last records before that run, and the middle one of their times */
	} before;
	struct ktrace_island {
		uint64_t from, until, time_before;
		struct ktrace_before before;
	} islands[KTRACE_ISLANDS]; /* the last runs between two regions of damage, the number i % KTRACE_ISLANDS, and what is
				      before each */
	uint64_t island_count;
	struct ktrace_gap gap;	 /* ktrace_records_gap(); at the end of the stretch: none, or passed already */
	unsigned gaps;		 /* that were found inside of it */
	uint64_t unaligned_from; /* records from here to the end of the stretch may be unaligned */
	bool lenient;		 /* see ktrace_records_resync() */
	bool damaged;		 /* something was dropped before that run */
	bool odd;		 /* a record is listed as doubtful by itself */
};

/* Locates the gap of the stretch, if it has one. */
struct ktrace_keep ktrace_keep_begin(struct ktrace_walk *w, const struct ktrace_stretch *stretch);
/* Reports and drops bad records from offset on. Returns where valid ones continue, or the end. */
uint64_t ktrace_keep_resume(struct ktrace_keep *keep, uint64_t offset);
/* The same for the gap, at or before offset. */
uint64_t ktrace_keep_gap(struct ktrace_keep *keep, uint64_t offset);
/* Ends the stretch; offset: after its last whole record. Returns the bytes kept. */
uint64_t ktrace_keep_end(struct ktrace_keep *keep, uint64_t offset);

#endif
