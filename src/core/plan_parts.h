/* What the files of the edit plan share. Nobody else includes it. */
#ifndef CORE_PLAN_PARTS_H
#define CORE_PLAN_PARTS_H

#include "core/limits.h"
#include "core/map.h"
#include "core/plan.h"
#include "core/window.h"

/* Segments, drops and doubts are as small as they can be: hostile input makes millions of them. */
struct piece {
	uint64_t length;
	uint64_t from;	 /* copy: offset in the source; literal: offset in plan.literals */
	uint32_t source; /* LITERAL, or index in the bundle */
	uint16_t rule;	 /* NO_RULE: a plain copy */
	bool again;	 /* copy: the range is kept by another copy already */
	const char *why;
};

#define LITERAL UINT32_MAX
#define NO_RULE UINT16_MAX

/* Pieces that come again and again: items[first, first + size) stand for `times` groups of so many pieces, each group's copies
 * `step` bytes further in the input than those of the group before. Literals are the same each time. */
struct piece_run {
	size_t first;
	uint32_t size;
	uint64_t times, step;
};

/* A list of pieces. The last one is never in a run: it may still grow. */
struct pieces {
	struct piece *items;
	size_t count, capacity;
	struct piece_run *runs; /* in order of `first`, without overlap */
	size_t run_count, run_capacity;
};

/* Pieces of a group at most, and groups from which on they are a run. */
#define RUN_SIZE_MAX 8u
#define RUN_TIMES_MIN 4u

/* The next piece, as it stands in its place. False at the end. */
bool pieces_next(struct pieces_walk *w, struct piece *piece);
/* The run that item index is in, or NULL. */
const struct piece_run *pieces_run_of(const struct pieces *list, size_t index);
/* Folds what stands at the end of a list and comes again, when nothing will be added to its last piece any more. */
void pieces_fold(struct plan *p, struct pieces *list);
void pieces_free(struct pieces *list);

struct output {
	char *name;
	size_t before; /* the output before it whose name has the same hash, and 1; 0: none */
	uint64_t size;
	struct pieces pieces;
	uint64_t *offsets; /* of each piece, in the first group of a run; made on the first read */
	size_t last;	   /* piece of the last read: reads go forward */
};

/* Reads of an output whose copies are small and near to each other: the input is read in large pieces then. */
struct plan_near {
	struct window window;
	uint64_t end;	/* of the last small copy */
	unsigned steps; /* small copies so far, each a little further in the source than the one before it */
};

struct plan {
	struct bundle *in;
	const struct tracemend_rule *table;
	size_t rules;
	struct output *outputs;
	size_t output_count, output_capacity;
	struct map by_name; /* hash of a name -> the last output of it */
	struct pieces dropped, doubtful;
	struct bytes literals;
	bool doubts_stay; /* plan_make_identity() leaves them */
	bool shared;	  /* more than the pieces refer to literals: none may be taken back */
	char **whys;
	size_t why_count, why_capacity;
	struct plan_near near;
	struct tracemend_outcome outcome;
	enum tracemend_status status;
};

/* A source of plan_bundle(): an output that is read before it is written. */
struct plan_source {
	struct plan *plan;
	size_t output;
};

/* Forgets everything but what it was made with. */
void plan_clear(struct plan *p);
/* TM_OK stays TM_OK: the first failure is kept. */
void plan_fail(struct plan *p, enum tracemend_status status);
/* Makes room for one more element of a growing array of p (list: the address of its pointer). False after a failure, and when it
 * would pass max. */
bool plan_room(struct plan *p, void *list, size_t *capacity, size_t count, size_t size, size_t max);
/* Appends to dropped or doubtful; merges with the last piece where that goes on. False when nothing was added. */
bool pieces_add(struct plan *p, struct pieces *list, struct piece piece);
/* The same for an output. */
void plan_append(struct plan *p, unsigned output, struct piece piece);
/* Makes the offsets of the pieces, for random access; once, when the plan is complete. */
bool output_index(struct plan *p, struct output *o);
/* The piece that holds the byte at offset < size, as it stands in its place, after output_index(). *skip: bytes of it in front of
 * that byte. */
struct piece output_piece(struct output *o, uint64_t offset, uint64_t *skip);

#endif
