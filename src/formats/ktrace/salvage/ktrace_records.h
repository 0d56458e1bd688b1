/* Where records of events begin again behind damage, and where a stretch of them lost its step. */
#ifndef KTRACE_RECORDS_H
#define KTRACE_RECORDS_H

#include "formats/ktrace/decode/ktrace_record.h"
#include "formats/ktrace/scan/ktrace_input.h"

/* Records in a row that must fail, or pass, before a stretch counts as damaged, or as sound again. One record alone proves
 * nothing: noise passes the tests now and then, and real records may be odd. */
#define KTRACE_RUN 4u

/* Where records lie. */
struct ktrace_stretch {
	uint64_t offset, end;
	const char *where;     /* for paths: "chunk 3 (events)" */
	enum ktrace_rule rule; /* what is wrong with its size; KTRACE_RULE_COUNT: nothing */
	bool resized;	       /* bytes may have come in or gone missing inside of it */
};
/* How many records from offset on pass all tests and are in the order of their times, as far as is looked; 0 when they are too
 * few to tell. */
#define KTRACE_IN_ORDER_MAX 12u
unsigned ktrace_events_in_order(struct ktrace_input *in, uint64_t offset, uint64_t end);
/* Whether records that pass every test fill [offset, end). */
bool ktrace_records_fill(struct ktrace_input *in, uint64_t offset, uint64_t end);
/* The first offset in [offset, end), in steps of `step`, at which several records in a row look real, or fewer fill the
 * rest; end: none. */
uint64_t ktrace_events_find(struct ktrace_input *in, uint64_t offset, uint64_t end, unsigned step);

/* From the first record of a damaged stretch: where sound records begin again, or end. They may begin at any byte. *anywhere
 * becomes true when nothing up to the end is beyond doubt; then, and in further calls for the same stretch, less is enough. */
uint64_t ktrace_records_resume(struct ktrace_input *in, uint64_t offset, uint64_t end, bool *anywhere);
/* How many records from offset on are bad, up to KTRACE_RUN: so many begin a damaged stretch. Fewer do when one of them is
 * all zeros, which is no record but a hole. previous: time of the record before. */
unsigned ktrace_records_bad_run(struct ktrace_input *in, uint64_t offset, uint64_t end, uint64_t previous);

/* What speaks against the record at offset, by itself. */
unsigned ktrace_record_suspicion(struct ktrace_input *in, uint64_t offset);
/* Where a stretch whose records do not fill it lost its step: what lies between is no record, and may be empty. */
struct ktrace_gap {
	uint64_t from, until;
};
struct ktrace_gap ktrace_records_gap(struct ktrace_input *in, const struct ktrace_stretch *stretch);

#endif
