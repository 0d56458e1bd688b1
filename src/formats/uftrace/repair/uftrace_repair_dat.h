/* The records of a task in the output. */
#ifndef UFTRACE_REPAIR_DAT_H
#define UFTRACE_REPAIR_DAT_H

#include <stdint.h>

struct uftrace_stream;
struct uftrace_walk;

/* Keeps the records from `kept_from` on. */
void uftrace_repair_keep(struct uftrace_stream *t, uint64_t upto);
void uftrace_repair_leave(struct uftrace_stream *t, uint64_t from, uint64_t upto, unsigned rule, const char *why);
/* Keeps the record at `at` with `more` cleared, and leaves its payload, up to `next`, out. */
void uftrace_repair_strip(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t word, unsigned rule);
/* A record of lost events, where bytes are left out. */
void uftrace_repair_lost(struct uftrace_stream *t, uint64_t count);
/* The same in the file of a task, where not one record of any task is left: readers refuse a recording without. */
void uftrace_repair_mark(struct uftrace_walk *w, uint64_t tid);
/* The bytes directly before damage may be hit as well, where no check can see it: the values behind a record. */
void uftrace_repair_doubt_before(struct uftrace_stream *t, uint64_t at);
/* Lists the call that is open at that depth, of that address, as doubtful: the return at `at` is of another function. */
void uftrace_repair_doubt_call(struct uftrace_stream *t, uint64_t at, unsigned depth, uint64_t address);
/* Keeps the record, which can hardly be as it was written. */
void uftrace_repair_doubt_record(struct uftrace_stream *t, uint64_t at, uint64_t next);
/* The same for the last record, in front of the one at `at`. */
void uftrace_repair_doubt_last(struct uftrace_stream *t, uint64_t at);
/* The record at `from` with its values, which end at `at`, where one begins that does not fit: the same damage may have reached
 * them. */
void uftrace_repair_doubt_values(struct uftrace_stream *t, uint64_t from, uint64_t at);
/* What hit the bytes before it may have hit the low bytes of its time, which no check can see. */
void uftrace_repair_doubt_behind(struct uftrace_stream *t, uint64_t at);

#endif
