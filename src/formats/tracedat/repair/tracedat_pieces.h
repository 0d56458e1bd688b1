/* A composition: what an output, or a block of it, is made of, in its own order.
 *
 * This is no list of edits (core/edits.h): sections and blocks come out in an order and number of their own, parts of several
 * inputs and none are joined, offsets are written before what they point at is placed, and the same input may be used twice. Each
 * piece knows where it stood, so that a field that comes out as it was is a copy again when the plan is made. Edits of one
 * page, which keep its order, are core edits. */
#ifndef TRACEDAT_PIECES_H
#define TRACEDAT_PIECES_H

#include "core/plan.h"
#include "formats/tracedat/tracedat.h"

/* A copy of bytes of a space (the file, or a block), or a literal. */
struct tracedat_piece {
	const struct source *source; /* of a copy in file space; NULL in block space */
	uint64_t from;		     /* copy: where; literal: offset in tracedat_pieces.literals */
	uint64_t length;
	uint64_t old;	 /* literal: bytes of the space that it takes the place of if they differ; NO_OLD */
	const char *why; /* literal; static or of plan_why() */
	uint16_t rule;
	bool literal, copied; /* copied: bytes that another piece has kept already */
};

#define TRACEDAT_NO_OLD UINT64_MAX

struct tracedat_pieces {
	struct tracedat_piece *list;
	size_t count, capacity;
	struct bytes literals;
	uint64_t size; /* bytes of all pieces */
	bool failed;
};

void tracedat_pieces_free(struct tracedat_pieces *p);
/* Appends a copy; contiguous ones merge. */
void tracedat_copy(struct tracedat_pieces *p, const struct source *s, uint64_t from, uint64_t length);
/* Appends a literal; its index in the list is returned for tracedat_fill(). */
size_t tracedat_literal(struct tracedat_pieces *p, const void *bytes, size_t length, unsigned rule, const char *why);
/* A literal that takes the place of a field at `old` of the space: where the bytes agree it becomes a copy. */
size_t tracedat_field(struct tracedat_pieces *p, const struct source *s, uint64_t old, const void *bytes, size_t length,
		      unsigned rule, const char *why);
void tracedat_fill(struct tracedat_pieces *p, size_t piece, const void *bytes);

/* Appends n zeros as literals. */
void tracedat_pieces_zeros(struct tracedat_pieces *p, uint64_t n, unsigned rule, const char *why);

#endif
