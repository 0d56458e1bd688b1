/* Checks of the values of a record, by its type: arguments, counters, objects, scheduling, large records. They report, and
 * change nothing else. */
#ifndef FXT_CHECK_H
#define FXT_CHECK_H

#include "formats/fxt/scan/fxt_report.h"

struct fxt_check {
	struct fxt_report *report;
	uint64_t *cpu_times; /* owned; by cpu, NULL until there is one */
	/* Hashes of names by which readers know an argument. */
	uint64_t process, weight, incoming_weight, outgoing_weight, waker;
};

void fxt_check_open(struct fxt_check *c, struct fxt_report *report);
void fxt_check_close(struct fxt_check *c);
/* What checks of single values share with the fast path. */

/* Viewers keep 32 bits of a koid; the highest bit marks koids of virtual threads. */
static inline bool fxt_koid_is_wide(uint64_t koid)
{
	return (koid & ~(UINT64_C(1) << 63)) >> 32;
}

static inline bool fxt_thread_is_unknown(uint64_t process, uint64_t thread)
{
	return !(process | thread);
}

static inline bool fxt_integer_fits_32(unsigned type, uint64_t value)
{
	return (type == FXT_ARG_UINT64 && value <= UINT32_MAX) ||
	       (type == FXT_ARG_INT64 && value + UINT64_C(0x80000000) <= UINT32_MAX);
}

void fxt_check_koid(struct fxt_check *c, uint64_t koid, uint64_t offset);
/* names: hashes of the names of all arguments. */
void fxt_check_arguments(struct fxt_check *c, const struct fxt_record *r, const uint64_t *names, uint64_t offset);
/* What later revisions of the document added. */
void fxt_check_newer(struct fxt_check *c, const struct fxt_record *r);
void fxt_check_counter(struct fxt_check *c, const struct fxt_record *r, uint64_t offset);
void fxt_check_complete(struct fxt_check *c, uint64_t start, uint64_t end, uint64_t offset);
void fxt_check_kernel_object(struct fxt_check *c, const struct fxt_record *r, uint64_t offset);
void fxt_check_scheduling(struct fxt_check *c, const struct fxt_record *r, uint64_t offset);
void fxt_check_large(struct fxt_check *c, const struct fxt_record *r, uint64_t offset);

#endif
