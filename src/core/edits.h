/* Sorted edits of a range of a source: what a repair changes there, collected while it is examined and applied to the plan
 * when all of them are known. Offsets count from wherever the caller says (the file, a block, a page, a decoded chunk). */
#ifndef CORE_EDITS_H
#define CORE_EDITS_H

#include "core/plan.h"

struct edit {
	uint64_t at, remove;		 /* bytes [at, at + remove) are left out; remove 0: an insertion in front of `at` */
	size_t bytes, length;		 /* what is written instead: struct edits.bytes[bytes, bytes + length) */
	uint64_t move_from, move_length; /* an insertion that is a copy of this range, which is an edit with `moved` */
	unsigned rule;
	const char *why; /* borrowed: static, or from plan_why() */
	size_t order;	 /* of edits at one place: the order in which they were added */
	bool moved;	 /* the range is written elsewhere, or the plan knows already what becomes of it */
};

/* Zero-initialised is empty. */
struct edits {
	struct edit *list; /* owned */
	size_t count, capacity;
	struct bytes bytes; /* owned: literals of all edits */
	bool failed;	    /* out of memory: sticky; nothing is added any more */
};

/* What an edit writes instead; NULL where no edit writes anything. Valid until the next edit is added. */
static inline const uint8_t *edits_bytes(const struct edits *e, const struct edit *edit)
{
	return e->bytes.data ? e->bytes.data + edit->bytes : NULL;
}

/* Replaces [at, at + remove) by `length` bytes, which are copied. Edits may be added in any order. Of two that replace the
 * same range the later one holds. */
void edits_add(struct edits *e, uint64_t at, uint64_t remove, const void *bytes, size_t length, unsigned rule, const char *why);
/* Writes [from, from + length) in front of `to` instead of where it stands. */
void edits_move(struct edits *e, uint64_t from, uint64_t length, uint64_t to, unsigned rule);
/* Leaves [at, at + length) out, of which the caller tells the plan itself what becomes: drops then stand in the plan in the order
 * in which they were found. */
void edits_skip(struct edits *e, uint64_t at, uint64_t length);
/* Brings the edits into the order of the source. For callers that walk the list themselves; the others below sort first. */
void edits_sort(struct edits *e);
/* Bytes that [0, size) has after the edits. */
uint64_t edits_size(struct edits *e, uint64_t size);
/* Appends [base + from, base + until) of the source to the output with all edits whose `at` lies in [from, until]; their
 * offsets count from base. Copies, drops and literals go into the plan. */
void edits_apply(struct edits *e, struct plan *p, unsigned output, const struct source *s, uint64_t base, uint64_t from,
		 uint64_t until);
/* As edits_apply() for bytes in memory, data[0, size): appends to out. Nothing is said to a plan. */
void edits_apply_bytes(struct edits *e, const uint8_t *data, size_t size, struct bytes *out);
/* Forgets all edits and keeps the memory. */
void edits_clear(struct edits *e);
void edits_free(struct edits *e);

#endif
