/* Resynchronising to records of events, and the gap in a stretch that is not a whole number of records. */
#ifndef KTRACE_RECORDS_H
#define KTRACE_RECORDS_H

#include "formats/ktrace/decode/ktrace_record.h"
#include "formats/ktrace/scan/ktrace_input.h"

/* Records in a row that must fail, or pass, for a range to count as damaged, or as valid again. One record is not enough: noise
 * passes the tests now and then, and real records may fail one. */
#define KTRACE_RUN 4u

/* A range of bytes that holds records. */
struct ktrace_stretch {
	uint64_t offset, end;
	const char *where;     /* for paths: "chunk 3 (events)" */
	enum ktrace_rule rule; /* what is wrong with its size; KTRACE_RULE_COUNT: nothing */
	bool resized;	       /* bytes may have been inserted or removed inside of it */
	int64_t surplus;       /* so many, by the size of its chunk; negative: are missing; 0: unknown */
	bool headless;	       /* the header before its first record is lost */
};
/* How many records from offset on, up to KTRACE_IN_ORDER_MAX, pass all tests and are in the order of time; 0 when they are fewer
 * than KTRACE_RUN. */
#define KTRACE_IN_ORDER_MAX 12u
unsigned ktrace_events_in_order(struct ktrace_input *in, uint64_t offset, uint64_t end);
/* Whether records that pass every test fill [offset, end). */
bool ktrace_records_fill(struct ktrace_input *in, uint64_t offset, uint64_t end);
/* The first offset in [offset, end), in steps of `step`, at which KTRACE_RUN plausible records begin, or fewer that fill the rest;
 * end: none. */
uint64_t ktrace_events_find(struct ktrace_input *in, uint64_t offset, uint64_t end, unsigned step);

/* From the first bad record: where valid records begin again, at any byte; end: nowhere. *lenient becomes true when nothing up to
 * the end passes the strict tests (ktrace_records_resync_strict()); then, and in further calls for the same stretch, KTRACE_RUN
 * plausible records are enough. */
uint64_t ktrace_records_resync(struct ktrace_input *in, uint64_t offset, uint64_t end, bool *lenient);
/* The same by the strict tests only; UINT64_MAX: nowhere. */
uint64_t ktrace_records_resync_strict(struct ktrace_input *in, uint64_t offset, uint64_t end);
/* How many records from offset on are bad, up to KTRACE_RUN, which begin a damaged range. Fewer are returned as KTRACE_RUN when one
 * of them is all zeros: a hole. previous: time of the record before. */
unsigned ktrace_records_bad_run(struct ktrace_input *in, uint64_t offset, uint64_t end, uint64_t previous);

/* The record at `offset` is earlier than the one before; those from `run` on up to it are in order. The first of these that is not
 * earlier than it. */
uint64_t ktrace_records_later(struct ktrace_input *in, uint64_t run, uint64_t offset);
/* Where the record at `offset` is a copy of that at `original`, and what follows of what follows that: a block was doubled. The end
 * of the second copy, or `offset`. */
uint64_t ktrace_records_doubled(struct ktrace_input *in, const struct ktrace_stretch *stretch, uint64_t original, uint64_t offset);
/* Its time; 0 where it cannot be read. */
uint64_t ktrace_record_time(struct ktrace_input *in, uint64_t offset);
/* Anomalies of the record at offset by itself: failed tests, a CPU or thread that is not in the maps. */
unsigned ktrace_record_anomalies(struct ktrace_input *in, uint64_t offset);
/* The bytes in a stretch that is not a whole number of records that are not records; the range may be empty. */
struct ktrace_gap {
	uint64_t from, until;
};
struct ktrace_gap ktrace_records_gap(struct ktrace_input *in, const struct ktrace_stretch *stretch);

#endif
