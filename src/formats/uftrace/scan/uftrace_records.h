/* The records of all tasks: TID.dat and what was left in shared memory. */
#ifndef UFTRACE_RECORDS_H
#define UFTRACE_RECORDS_H

#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_dat {
	uint64_t tid;
	uint32_t file;		       /* UFTRACE_NONE: only leftover buffers */
	uint32_t shm_first, shm_count; /* in uftrace_records.shm */
	bool has_records;
	uint64_t first_time, first_address, last_time, records;
	enum uftrace_type first_type;
	bool forked; /* a FORK line is its first */
};

#define UFTRACE_UNSPECIFIED_MAX 16u /* functions */

/* A function without a specification, that was reported in one task and explains its records in others. */
struct uftrace_unspecified {
	uint64_t address;
	uint32_t module, symbol;
	bool retval;
	struct finding *finding;
};

struct uftrace_records {
	struct uftrace_dat *dats; /* owned, by tid */
	size_t dat_count;
	uint32_t *shm; /* owned: files of leftover buffers that are used, by tid and time */
	size_t shm_count;
	struct map event_ids; /* of events.txt */

	/* Of all tasks. */
	uint64_t count, fast; /* records; of these, taken by the fast path */
	uint64_t first_time, last_time;
	unsigned deepest;	       /* max_stack that they need */
	bool arguments, retvals;       /* some have */
	uint64_t unresolved;	       /* payloads whose specification could not be determined */
	struct finding *specs_missing; /* there are payloads, and no specifications */
	struct uftrace_unspecified unspecified[UFTRACE_UNSPECIFIED_MAX];
	size_t unspecified_count;
};

/* Room for a task of each file; those of the directory. */
bool uftrace_records_begin(struct uftrace_walk *w);
/* The records of that task, or NULL; after those of all tasks were sorted. */
struct uftrace_dat *uftrace_records_of(const struct uftrace_records *records, uint64_t tid);
void uftrace_records_sort(struct uftrace_records *records);
/* The first record of each task, before anything else is read. */
bool uftrace_records_probe(struct uftrace_walk *w);
bool uftrace_records_walk(struct uftrace_walk *w);
/* Where no task has a record: whether there were some, and anything else of the recording is left; after task.txt. */
bool uftrace_records_lost(const struct uftrace_walk *w);
void uftrace_records_free(struct uftrace_records *records);

#endif
