/* What the files of the edit plan share. Nobody else includes it. */
#ifndef CORE_PLAN_PARTS_H
#define CORE_PLAN_PARTS_H

#include "core/plan.h"

/* Segments, drops and doubts are as small as they can be: hostile input makes millions of them. */
struct piece {
	uint64_t length;
	uint64_t from;	 /* copy: offset in the source; literal: offset in plan.literals */
	uint32_t source; /* LITERAL, or index in the bundle */
	uint16_t rule;	 /* NO_RULE: a plain copy */
	bool again;
	const char *why;
};

#define LITERAL UINT32_MAX
#define NO_RULE UINT16_MAX

struct pieces {
	struct piece *items;
	size_t count, capacity;
};

struct output {
	char *name;
	uint64_t size;
	struct pieces pieces;
	uint64_t *offsets; /* of each piece, made on the first read */
	size_t last;	   /* piece of the last read: reads go forward */
};

struct plan {
	struct bundle *in;
	const struct tracemend_rule *table;
	size_t rules;
	struct output *outputs;
	size_t output_count, output_capacity;
	struct pieces dropped, doubtful;
	struct bytes literals;
	char **whys;
	size_t why_count, why_capacity;
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
/* Makes room for one more element of a growing array of p. False after a failure, and when it would pass max. */
bool plan_room(struct plan *p, void **array, size_t *capacity, size_t count, size_t size, size_t max);
/* Appends to dropped or doubtful; merges with the last piece where that goes on. False when nothing was added. */
bool pieces_add(struct plan *p, struct pieces *list, struct piece piece);
/* The same for an output. */
void plan_append(struct plan *p, unsigned output, struct piece piece);
/* Makes the offsets of the pieces, for random access; once, when the plan is complete. */
bool output_index(struct plan *p, struct output *o);
/* The piece that holds the byte at offset < size, after output_index(). */
size_t output_piece(const struct output *o, uint64_t offset);

#endif
