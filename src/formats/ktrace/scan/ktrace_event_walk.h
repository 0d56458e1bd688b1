/* The walk over one stretch of records: what its parts share. ktrace_event.c goes from record to record, ktrace_fast.c passes over
 * those whose fields are plain, ktrace_meaning.c knows what events mean. */
#ifndef KTRACE_EVENT_WALK_H
#define KTRACE_EVENT_WALK_H

#include "formats/ktrace/decode/ktrace_record.h"
#include "formats/ktrace/repair/ktrace_odd.h"
#include "formats/ktrace/scan/ktrace_walk.h"

/* ---- rules that count ---- */

/* One finding a stretch of records, with the first record and the count. */
#define EVENT_COUNTED(ROW) \
	ROW(event_before_future_timestamp, "earlier than the lower bound of an earlier chunk") \
	ROW(event_unused_nonzero, "with bytes in the unused word") \
	ROW(event_debugid_zero, "with debug id 0") \
	ROW(event_timestamp_zero, "with time 0") \
	ROW(event_timestamp_implausible, "with a time of 2^56 ticks or more") \
	ROW(event_timestamp_order, "earlier than the one before") \
	ROW(event_timestamp_order_cpu, "earlier than the one before on the same CPU") \
	ROW(event_before_header_timestamp, "earlier than the header's timestamp") \
	ROW(event_cpu_out_of_map, "of a CPU that is not in the CPU map, or that no machine has") \
	ROW(event_tid_zero, "with thread id 0") \
	ROW(event_start_end_both, "with both START and END") \
	ROW(events_lost, "that record lost events") \
	ROW(events_retrograde, "that record late events") \
	ROW(string_sequence_broken, "that continue a string without its first event") \
	ROW(string_id_signature, "with a string id without the kernel's signature") \
	ROW(string_id_unknown, "that remove a string that was not defined") \
	ROW(string_too_long, "that make a string longer than the kernel does")

enum counted {
#define ROW(symbol, what) COUNT_##symbol,
	EVENT_COUNTED(ROW)
#undef ROW
		COUNTS
};

/* Slots of the thread ids that were met: the last one that came to each, and is known. 0: none. */
#define KTRACE_MET_SLOTS 256u
static inline uint64_t ktrace_met_slot(uint64_t tid)
{
	return (tid ^ tid >> 8) % KTRACE_MET_SLOTS;
}

/* Leaps in time that are remembered. */
#define LEAPS 4u

/* One stretch of records. */
struct stretch_walk {
	struct ktrace_walk *walk;
	struct ktrace_count counts[COUNTS];
	uint64_t met[KTRACE_MET_SLOTS];
	struct ktrace_odd odd;
	bool is_odd;	    /* the record at hand */
	uint64_t peak;	    /* the latest time before the last record that was earlier than the one before; UINT64_MAX: passed */
	uint64_t block;	    /* see struct ktrace_events ... */
	uint64_t block_end; /* ... and where its double ends, or the block that belongs in its place */
	bool back;	    /* it is earlier than the one before ... */
	uint64_t late;	    /* ... the time of which is this */
	uint64_t start;	    /* offset of the first record of the stretch */
	uint64_t run;	    /* offset of the first record since the last that was earlier than the one before */
	struct {
		uint64_t offset, time; /* of the first record after the leap, and of the one before it */
		bool lone;	       /* one record is in front of it, or behind another leap: it may have been hit */
	} leaps[LEAPS];		       /* from which time did not come back so far */
	unsigned leap_count;
	uint64_t since; /* offset of the first record behind the last leap */
};

#define event_count(ev, symbol, offset) \
	((void)PLACE(KTRACE_RULE_##symbol), ktrace_event_count((ev), COUNT_##symbol, KTRACE_RULE_##symbol, (offset)))
void ktrace_event_count(struct stretch_walk *ev, enum counted what, enum ktrace_rule rule, uint64_t offset);

/* ---- ktrace_meaning.c ---- */

/* Whether an event has a meaning beyond its fields: a start, an end, a string, a thread. */
static inline bool ktrace_event_means(uint32_t debugid)
{
	return debugid & KTRACE_FUNC_MASK || debugid >> 24 == KTRACE_CLASS_TRACE || debugid >> 16 == KTRACE_VFS_LOOKUP >> 16;
}
/* Takes it into account; what is wrong with it is counted. */
void ktrace_event_meaning(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset);

/* ---- ktrace_fast.c ---- */

/* Passes over records from `offset` on that are in the window and end in front of `end`, whose fields are plain and whose threads
 * were met. Returns the offset behind the last one, which alone may be odd by its meaning. */
uint64_t ktrace_fast(struct stretch_walk *ev, uint64_t offset, uint64_t end);

#endif
