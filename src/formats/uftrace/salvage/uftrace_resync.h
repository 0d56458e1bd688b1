/* Where records go on behind damage. */
#ifndef UFTRACE_RESYNC_H
#define UFTRACE_RESYNC_H

#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_stream;

/* How far ahead of the record in front of it a record may be. */
uint64_t uftrace_resync_horizon(const struct uftrace_walk *w);
/* The last time that is plausible; 0: none. */
uint64_t uftrace_resync_time(const struct uftrace_stream *t);
/* Whether [at, ...) reads like `chain` records in a row, or fewer up to the end, from `time` on or the one before it. */
bool uftrace_resync_plausible(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, unsigned chain);
/* The same, but time may go back, to any time of the task: after a block at the wrong place. */
bool uftrace_resync_goes_on(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, unsigned chain);
/* The first record in [at, limit) that such a row begins with, and that is not the last one again; `end`: none. */
uint64_t uftrace_resync(struct uftrace_stream *t, uint64_t at, uint64_t limit, uint64_t end, uint64_t time);
/* The size of a payload by search: the first after which records go on. -1: none. */
int uftrace_resync_payload(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, bool may_be_empty);

/* ---- uftrace_copy.c ---- */

/* Where the 16 bytes at `at` stand the last time before, up to UFTRACE_REREAD_MAX back; `at`: nowhere, or too much was read in
 * vain, with *unread. What is read grows with the distance, so that a copy that is found costs no more than a multiple of its
 * length. */
uint64_t uftrace_copy_find(struct uftrace_stream *t, uint64_t at, bool *unread);
/* Whether the record at `at` is there already, not far in front of it; true, too, where that is not known. */
bool uftrace_copy_is_there(struct uftrace_stream *t, uint64_t at);

/* ---- uftrace_damage.c ---- */

/* Bytes at `at` that are not a record. Returns where records go on, or end. */
uint64_t uftrace_damage(struct uftrace_stream *t, uint64_t at, uint64_t end);
/* Time goes back at `at`: is it a block that is there twice? Returns the offset after it, or 0. */
uint64_t uftrace_damage_repeated(struct uftrace_stream *t, uint64_t at, uint64_t end);
/* No record follows that at `at`, whose values seem to reach up to `until`: is a block there twice, which ends within them? Returns
 * where the record is again, or 0. */
uint64_t uftrace_damage_straddling(struct uftrace_stream *t, uint64_t at, uint64_t until, uint64_t end);
uint64_t uftrace_damage_drop_repeated(struct uftrace_stream *t, uint64_t at, uint64_t next);

#endif
