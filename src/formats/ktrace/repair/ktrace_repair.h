/* What repair writes: the file with edits. They are collected while a chunk is walked and applied to the plan at its end, since its
 * size is known only then. Without a plan (the file is only checked) these functions do nothing. */
#ifndef KTRACE_REPAIR_H
#define KTRACE_REPAIR_H

#include "core/edits.h"
#include "formats/ktrace/decode/ktrace_header.h"
#include "formats/ktrace/decode/ktrace_kind.h"

struct ktrace_repair {
	struct plan *plan; /* NULL: the file is only checked; borrowed */
	const struct source *source;
	unsigned output;
	struct edits edits;	       /* of bytes from `done` on */
	uint64_t done;		       /* bytes of the source that the plan has */
	uint64_t added;		       /* bytes that all edits so far put in ... */
	uint64_t removed;	       /* ... and take out */
	uint8_t header[KTRACE_HEADER]; /* the header structure, where it is written anew ... */
	uint64_t header_length;	       /* ... for so many bytes of the source */
	bool header_anew;
};

void ktrace_repair_open(struct ktrace_repair *r, struct plan *plan, const struct source *source);
/* Writes what is left of the source. TM_OK, TM_NO_MEMORY or TM_LIMIT; the plan has a status of its own. */
enum tracemend_status ktrace_repair_finish(struct ktrace_repair *r);
void ktrace_repair_free(struct ktrace_repair *r);

/* ---- edits: offsets are of the source; `why` must outlive the plan ---- */

/* Leaves [from, until) out. */
void ktrace_repair_drop(struct ktrace_repair *r, uint64_t from, uint64_t until, enum ktrace_rule rule, const char *why);
/* Writes other bytes in place. */
void ktrace_repair_replace(struct ktrace_repair *r, uint64_t at, const void *bytes, size_t length, enum ktrace_rule rule,
			   const char *why);
void ktrace_repair_insert(struct ktrace_repair *r, uint64_t at, const void *bytes, size_t length, enum ktrace_rule rule,
			  const char *why);
/* Inserts zeros before `at` so that it is at a multiple of `unit`, a power of two up to a page, in the output. */
void ktrace_repair_pad(struct ktrace_repair *r, uint64_t at, uint64_t unit, enum ktrace_rule rule, const char *why);
/* The offset of `at` in the output; everything before it must have been edited. */
uint64_t ktrace_repair_place(const struct ktrace_repair *r, uint64_t at);
/* The plan gets everything before `until`, whose edits are complete. */
void ktrace_repair_write(struct ktrace_repair *r, uint64_t until);

/* ---- the outcome ---- */

/* [from, until) is kept, but unverified. */
void ktrace_repair_doubt(struct ktrace_repair *r, uint64_t from, uint64_t until, const char *why);
void ktrace_repair_kept(struct ktrace_repair *r, uint64_t records);
/* Bytes are gone; how many records they were is unknown. */
void ktrace_repair_lost(struct ktrace_repair *r);
/* Entries of a thread map are gone. */
void ktrace_repair_lost_threads(struct ktrace_repair *r);

#endif
