/* Threads, and the durations that are open in each: #duration-begin-event and #duration-end-event. */
#ifndef FXT_NESTING_H
#define FXT_NESTING_H

#include "core/map.h"
#include "formats/fxt/scan/fxt_report.h"

struct fxt_open {
	uint64_t time, offset, name;
};

struct fxt_thread {
	uint64_t process, thread;
	uint64_t newest, first_begin;
	struct fxt_open *open, *ends; /* unmatched begins and ends, each in the order of time */
	uint32_t depth, open_capacity, ends_count, ends_capacity;
	bool began, completes, late, unsure, given_up;
	bool fresh;	  /* its provider was introduced anew since its last duration */
	bool steady;	  /* it began, and is neither lost nor fresh: begins and ends need no more than their lists */
	uint32_t session; /* of its provider, when it was registered last */
	uint32_t registrations, provider; /* thread records with these koids; id of the provider of the last one, */
	uint64_t registered;		  /* and its offset */
	bool anonymous;			  /* that has no id */
	uint64_t flows_outside, flow_offset;
	struct fxt_thread *same_hash; /* another one whose koids have the same hash, or NULL */
};

struct fxt_nesting {
	struct fxt_report *report;
	struct fxt_thread **threads; /* owned, each; in the order of appearance */
	size_t count, capacity;
	struct map hashes;  /* hash of the koids to the newest thread of it */
	uint32_t open_room; /* entries that all lists of open durations have room for */
};

/* The thread of these koids, made if new. NULL: there are too many, which is noted, or there is no memory (report->status). */
struct fxt_thread *fxt_nesting_thread(struct fxt_nesting *n, uint64_t process, uint64_t thread);
/* The thread of these koids, or NULL. */
struct fxt_thread *fxt_nesting_find(const struct fxt_nesting *n, uint64_t process, uint64_t thread);
void fxt_nesting_begin(struct fxt_nesting *n, struct fxt_thread *t, uint64_t time, uint64_t offset, uint64_t name);
void fxt_nesting_end(struct fxt_nesting *n, struct fxt_thread *t, uint64_t time, uint64_t offset, uint64_t name);
/* The only begin or end of a thread that no record registers, if it has one alone; or NULL. */
const struct fxt_open *fxt_nesting_single(const struct fxt_thread *t);
/* Reports what stayed open. */
void fxt_nesting_report(struct fxt_nesting *n);
void fxt_nesting_close(struct fxt_nesting *n);

#endif
