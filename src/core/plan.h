/* An edit plan: what repair would write, as segments that are copies of input ranges or literals. Dry run prints it, the
 * manifest is it, the writer executes it, the oracle replays it.
 *
 * A format appends to its outputs while it scans. In the end every byte of every input source (of roles INPUT and EXTRA)
 * must be kept or dropped, exactly once: plan_verify() holds it to that (P4). */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include "core/bundle.h"
#include "core/bytes.h"

struct plan;

/* A rule in these functions is one of the format, or a container rule and this. */
#define PLAN_CONTAINER 0xff00u

struct plan *plan_new(struct bundle *b, const struct tracemend_rule *table, size_t count);
void plan_free(struct plan *p);

/* The output of that name ("" for a single file); made when it is new. Appending goes on at its end. */
unsigned plan_output(struct plan *p, const char *name);

/* Keeps s[from, from + length): appends a copy to the output. Contiguous copies merge. */
void plan_copy(struct plan *p, unsigned output, const struct source *s, uint64_t from, uint64_t length);
/* As plan_copy for a range that another copy keeps already; rule and why say what for. */
void plan_copy_again(struct plan *p, unsigned output, const struct source *s, uint64_t from, uint64_t length, unsigned rule,
		     const char *why);
/* Appends bytes that are not from the input. They are copied. Literals that come again and again between copies that are evenly
 * apart are kept once, as one run. */
void plan_literal(struct plan *p, unsigned output, const void *bytes, size_t length, unsigned rule, const char *why);
/* Leaves s[from, from + length) out. */
void plan_drop(struct plan *p, const struct source *s, uint64_t from, uint64_t length, unsigned rule, const char *why);
/* plan_drop() of the range and plan_literal() of its replacement: a patch in place when the lengths are equal. */
void plan_replace(struct plan *p, unsigned output, const struct source *s, uint64_t from, uint64_t length, const void *bytes,
		  size_t bytes_length, unsigned rule, const char *why);
/* The range is kept, but unverified: it is listed as doubtful. Ranges may overlap, in any order. */
void plan_doubt(struct plan *p, const struct source *s, uint64_t from, uint64_t length, const char *why);
/* Doubts, and what is said to be lost, stay where the capture turns out to have no error and is copied as it is; each `why` is a
 * literal then. */
void plan_keep_doubts(struct plan *p);
/* `why` strings must outlive the plan: literals, or made by this. Equal consecutive texts share memory. */
const char *plan_why(struct plan *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* Goes through a list of the plan, with all repetitions. Zero-initialise. */
struct pieces;
struct pieces_walk {
	const struct pieces *list;
	size_t next, run; /* item; the run that begins there or behind it */
	uint64_t time;	  /* of the group, from 0 */
};
/* The next range that is left out, in the order in which they were. False: there is none, of those so far. */
bool plan_dropped_next(const struct plan *p, struct pieces_walk *walk, uint64_t *from, uint64_t *until);

/* Bytes that the output has so far. */
uint64_t plan_size(const struct plan *p, unsigned output);

/* Records, for the outcome. A record that is copied with changed bytes is patched, not kept. */
void plan_kept(struct plan *p, uint64_t records);
void plan_patched(struct plan *p, uint64_t records);
void plan_added(struct plan *p, uint64_t records);
/* Lost records. how: TM_EXACT when their number is known; the weakest claim wins. plan_lost(p, 0, TM_UNKNOWN_COUNT) says
 * that something is lost and that the amount cannot be known. */
void plan_lost(struct plan *p, uint64_t records, enum tracemend_exactness how);
/* Something that is no record is gone, and carried more than what is known without it: arguments, a name, a description. */
void plan_lost_other(struct plan *p);

/* TM_OK, TM_NO_MEMORY or TM_LIMIT: sticky, looked at once at the end. */
enum tracemend_status plan_status(const struct plan *p);

/* ---- for the engine ---- */

/* Checks that segments and drops together cover each source once, and completes the plan: nothing is appended after it,
 * and doubtful ranges are in order and do not overlap. TM_BUG and *error if they do not. */
enum tracemend_status plan_verify(struct plan *p, struct tracemend_error *error);
/* Forgets everything and copies each file of the input as it is (P2). */
enum tracemend_status plan_make_identity(struct plan *p);
/* True when every output is a copy of the source of its name and nothing is dropped. */
bool plan_is_identity(const struct plan *p);
/* The source of which the output is a copy as a whole, or NULL. */
struct source *plan_whole_copy(const struct plan *p, size_t output);
/* A bundle whose sources are the outputs, read through the plan without writing them. The plan must outlive it. */
struct bundle *plan_bundle(struct plan *p, const struct tracemend_options *options, struct tracemend_error *error);

/* Puts `next`, a verified plan for the bundle `written` that plan_bundle(p) made, behind p: p becomes the plan of both steps, in
 * terms of p's own input. What next drops or keeps of p's literals is no concern of the input. Empties next, which is only
 * to be freed. Must be verified again. Returns plan_status(p). */
enum tracemend_status plan_compose(struct plan *p, struct plan *next, const struct bundle *written);

size_t plan_output_count(const struct plan *p);
const char *plan_output_name(const struct plan *p, size_t output);
size_t plan_segment_count(const struct plan *p, size_t output);
struct tracemend_segment plan_segment_at(const struct plan *p, size_t output, size_t index);
size_t plan_dropped_count(const struct plan *p);
struct tracemend_range plan_dropped_at(const struct plan *p, size_t index);
size_t plan_doubtful_count(const struct plan *p);
struct tracemend_range plan_doubtful_at(const struct plan *p, size_t index);
struct tracemend_outcome plan_outcome(const struct plan *p);
enum tracemend_status plan_read(struct plan *p, size_t output, uint64_t offset, void *buffer, size_t length);

#endif
