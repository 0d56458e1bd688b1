/* What is known of events from one stretch of records to the next. */
#ifndef KTRACE_EVENTS_H
#define KTRACE_EVENTS_H

#include <stdbool.h>

#include "formats/ktrace/scan/ktrace_table.h"

/* A thread that nothing introduced so far. */
struct ktrace_unknown {
	uint64_t tid, first, last; /* offsets of its first and its last event */
	uint64_t count;		   /* of its events */
};

/* Events that create threads, and that are remembered. */
#define KTRACE_BORN_MAX 256u

#define KTRACE_CPUS_TIMED 256u /* the CPUs whose times are checked by themselves */

struct ktrace_events {
	bool seen;		   /* there are events chunks, or records in a RAW file */
	bool lost;		   /* an event records that others were lost */
	uint64_t first_time;	   /* of the first record */
	uint64_t earliest, latest; /* of records that time steps back to, and from; 0: it never does */
	uint64_t last;		   /* offset of the last record of the last events chunk; 0: there is none */
	uint64_t future;	   /* lower bound that an earlier events chunk states ... */
	uint64_t future_at;	   /* ... with its header at this offset */
	uint64_t block;	  /* the latest time of a block of records that are later than those behind them; UINT64_MAX: passed */
	uint64_t but_one; /* time of the last record but one of the stretch before */
	uint64_t time_of_cpu[KTRACE_CPUS_TIMED];
	struct ktrace_unknown *unknown; /* owned */
	size_t unknown_count, unknown_capacity;
	struct ktrace_table unknown_index; /* tid -> its place in `unknown` */
	struct ktrace_table open;	   /* thread and event id -> starts that have no end so far */
	struct ktrace_born {
		uint64_t offset, tid;
	} born[KTRACE_BORN_MAX]; /* events that create a thread */
	unsigned born_count;
	struct ktrace_table met; /* where something is repaired: threads that have events */
	uint64_t leap;		 /* offset of the first record behind a leap in time from which it did not come back; 0: none */
	bool sampled;		 /* the records so far are one sample of a profiler */
	uint64_t open_starts, starts_first, lone_ends, lone_ends_first;
	struct ktrace_table strings; /* ids of global strings */
	struct ktrace_table spans;   /* thread and kind of string -> its bytes so far + 1; 0: it is complete */
};

#endif
