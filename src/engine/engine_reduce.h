/* What the files of reduce share: the smallest capture so far, and the predicate that must hold for it. */
#ifndef ENGINE_REDUCE_H
#define ENGINE_REDUCE_H

#include "engine/engine.h"

struct reduction {
	const struct format *format; /* NULL: of no known format */
	const char *profile;
	const struct tracemend_options *options;
	const struct tracemend_predicate *predicate;
	struct tracemend_sample *best;
	uint64_t tries, work;
	bool stop;  /* stop: the tries are used up, or something failed */
	bool renew; /* the outline is out of date: begin again with what is left */
	struct tracemend_error *error;
};

/* Tests the predicate on the candidate. If it holds, the candidate becomes the best; else it is freed. NULL as candidate: out of
 * memory. */
bool reduction_offer(struct reduction *r, struct tracemend_sample *candidate);
/* A sample with the name, format and kind of the best, without files. NULL: out of memory. */
struct tracemend_sample *reduction_blank(struct reduction *r);
/* The best so far, as an input. The best must not change while the input is open. */
struct tracemend_input *reduction_open(struct reduction *r);

/* Bytes of the best so far. */
uint64_t reduction_size(const struct reduction *r);

/* Removes the elements which[0..count) of a list, in ascending order, and tests the predicate; restores them when it does not
 * hold. Returns whether it held. */
typedef bool (*reduction_removal)(void *ctx, const size_t *which, size_t count);
/* Removes as many of `count` elements as possible: large shares first, in the end single ones, until none can be removed. Goes
 * from the end to the beginning, since later elements depend on earlier ones. */
void reduction_minimise(struct reduction *r, size_t count, reduction_removal removal, void *ctx);

/* Tests the predicate on shorter content. Returns whether it held. */
typedef bool (*reduction_shorter)(void *ctx, const struct bytes *shorter);
/* Removes ranges of bytes from content, large ones first, none of `finest` bytes or less. Returns whether it became shorter. */
bool reduction_ranges(struct reduction *r, struct bytes *content, size_t finest, reduction_shorter offer, void *ctx);

/* Reduces by the outline (engine_reduce_parts.c). Returns whether anything was removed. */
bool reduction_parts(struct reduction *r);
/* Removes whole files, then ranges of bytes, in the end single bytes (engine_reduce_bytes.c). Returns whether anything was
 * removed. */
bool reduction_bytes(struct reduction *r);

#endif
