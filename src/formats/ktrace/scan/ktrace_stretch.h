/* What is kept of a stretch of records, and how sure that is. */
#ifndef KTRACE_STRETCH_H
#define KTRACE_STRETCH_H

#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/scan/ktrace_walk.h"

struct ktrace_keep {
	struct ktrace_walk *walk;
	const struct ktrace_stretch *stretch;
	uint64_t from;	       /* start of the run of records that are kept */
	uint64_t kept;	       /* bytes before that run */
	uint64_t time_before;  /* of the last record before that run */
	struct ktrace_gap gap; /* where the stretch lost its step; at its end: nowhere, or further on than the walk */
	uint64_t torn_from;    /* where records that may be out of step begin, if they reach the end */
	bool anywhere;	       /* see ktrace_records_resume() */
	bool damaged;	       /* something was dropped before that run */
};

/* Finds out where the stretch lost its step, if it did. */
struct ktrace_keep ktrace_keep_begin(struct ktrace_walk *w, const struct ktrace_stretch *stretch);
/* Records at offset are bad: reports and drops those up to where sound ones go on, which is returned. */
uint64_t ktrace_keep_resume(struct ktrace_keep *keep, uint64_t offset);
/* At offset the stretch loses its step: as ktrace_keep_resume(), up to the end of the gap. */
uint64_t ktrace_keep_gap(struct ktrace_keep *keep, uint64_t offset);
/* Behind the last whole record. Returns the bytes kept. */
uint64_t ktrace_keep_end(struct ktrace_keep *keep, uint64_t offset);

#endif
