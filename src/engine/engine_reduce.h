/* What the files of reduce share: a capture that only ever becomes smaller, and the question that it must go on answering
 * with yes. */
#ifndef ENGINE_REDUCE_H
#define ENGINE_REDUCE_H

#include "engine/engine.h"

struct reduction {
	const struct format *format; /* NULL: none that would know its parts */
	const char *profile;
	const struct tracemend_options *options;
	const struct tracemend_wish *wish;
	struct tracemend_sample *best;
	uint64_t tries, work;
	bool over;  /* no more tries: they are used up, or something failed */
	bool renew; /* what is being gone through is stale: begin again with what is left */
	struct tracemend_error *error;
};

/* Whether the wish holds for the candidate, which then is the best; else it is freed. NULL: out of memory. */
bool reduction_offer(struct reduction *r, struct tracemend_sample *candidate);
/* A sample of the same name, format and kind without files. NULL: out of memory. */
struct tracemend_sample *reduction_blank(struct reduction *r);
/* The best so far, as an input; the best must not change while it is used. */
struct tracemend_input *reduction_open(struct reduction *r);

/* Bytes of the best so far. */
uint64_t reduction_size(const struct reduction *r);

/* Leaves out `count` of a list of things, which[] of them in ascending order; asks; and brings them back if the answer is
 * no. Returns the answer. */
typedef bool (*reduction_leave)(void *ctx, const size_t *which, size_t count);
/* Leaves out as much of `count` things as can be: large shares first, in the end one by one until no single one can go.
 * Later things depend on earlier ones, and so go first. */
void reduction_minimise(struct reduction *r, size_t count, reduction_leave leave, void *ctx);

/* Offers a shorter content; the answer. */
typedef bool (*reduction_shorter)(void *ctx, const struct bytes *shorter);
/* Leaves ranges out of content, large ones first, none of `finest` bytes or fewer. True when it became shorter. */
bool reduction_ranges(struct reduction *r, struct bytes *content, size_t finest, reduction_shorter offer, void *ctx);

/* engine_reduce_parts.c: by the outline. True when anything became smaller. */
bool reduction_parts(struct reduction *r);
/* engine_reduce_bytes.c: whole files, then ranges of the files, down to single bytes. True when anything became smaller. */
bool reduction_bytes(struct reduction *r);

#endif
