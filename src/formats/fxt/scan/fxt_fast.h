/* What the fast path (fxt_fast.c) keeps: what headers say, once it was looked up. */
#ifndef FXT_FAST_H
#define FXT_FAST_H

#include "formats/fxt/scan/fxt_nesting.h"

/* What a plain event's header says: the whole header, where a reference is inline text, else its lower half, since registered
 * strings are many. Empty while version is 0. */
struct fxt_shape {
	uint64_t key;		  /* that part of the header */
	uint64_t version;	  /* of the tables that it was looked up in */
	struct fxt_thread *track; /* of a registered thread; NULL: there were too many, or it is inline */
	uint64_t name;		  /* hash of a registered name beside an inline category */
	uint16_t types;		  /* that arguments may have, a bit each */
	uint8_t event, arguments, tail, used;
	uint8_t words[2]; /* of inline category and name */
};

/* The same of the lower half of a plain argument's header: type, size, name. */
struct fxt_argument_shape {
	uint64_t version, name, reserved; /* name: hash of a registered one; reserved: bits of the whole header that are zero */
	uint32_t header;
	uint16_t size; /* bytes */
	uint8_t words; /* of an inline name */
	bool string;
};

/* An inline thread that is plain. */
struct fxt_koids {
	uint64_t process, thread;
	struct fxt_thread *track; /* NULL: none yet */
	unsigned wide;		  /* of the two, those that are noted for their width */
};

#define FXT_SHAPE_BITS 9
#define FXT_KOIDS_BITS 6

/* Direct-mapped caches: one entry a hash, which the next one of it replaces. */
struct fxt_fast {
	struct fxt_shape shapes[1u << FXT_SHAPE_BITS];
	struct fxt_argument_shape arguments[1u << FXT_SHAPE_BITS];
	struct fxt_koids koids[1u << FXT_KOIDS_BITS];
};

/* The place of a shape, which may be another's. Fibonacci hashing. */
static inline struct fxt_shape *fxt_shape_of(struct fxt_fast *fast, uint64_t key)
{
	return &fast->shapes[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FXT_SHAPE_BITS)];
}

static inline struct fxt_argument_shape *fxt_argument_shape_of(struct fxt_fast *fast, uint32_t header)
{
	return &fast->arguments[header * UINT32_C(0x9e3779b1) >> (32 - FXT_SHAPE_BITS)];
}

static inline struct fxt_koids *fxt_koids_of(struct fxt_fast *fast, uint64_t thread)
{
	return &fast->koids[thread * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FXT_KOIDS_BITS)];
}

/* Why the fast path hides no rule: enum fast_reason of core/format.h, by rule. */
extern const uint8_t fxt_fast_contract[FXT_RULE_COUNT];

#endif
