/* A mutator that knows the formats, for fuzzing programs that read traces.
 *
 * It parses a capture into an outline (core/outline.h), changes some of its parts, and writes it with every size, count, offset
 * and padding corrected, so that a reader does not reject it at the first check. In about one mutant in a hundred, one of them is
 * wrong on purpose. The same input and seed give the same bytes. A directory is one byte string, a plain tar. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "core/outline.h"
#include "capture.h"

/* Maximal size of an input to parse; for a larger one a capture is generated. */
#define MUTATE_INPUT_MAX (4u * 1024 * 1024)
/* One in this number of mutants has a wrong measure on purpose. */
#define MUTATE_FAULT_IN 100u

enum mutate_operator {
	MUTATE_INSERT,
	MUTATE_DELETE,
	MUTATE_DUPLICATE,
	MUTATE_SWAP,
	MUTATE_SPLICE,
	MUTATE_EDIT,
	MUTATE_BREAK,
	MUTATE_GRAFT,
	MUTATE_FAULT,
	MUTATE_GENERATE,
	MUTATE_OPERATORS
};

struct mutation {
	/* in */
	const char *format;	     /* NULL: recognised from the content */
	const char *profile;	     /* NULL: the default */
	const uint8_t *data, *other; /* other: a second input to splice from; NULL: none */
	size_t size, other_size;
	uint64_t seed;
	size_t size_max; /* maximal size of the result; 0: OUTLINE_BYTES_MAX only */
	bool no_fault;	 /* no wrong measures on purpose, and no edits of measures */
	/* out */
	struct bytes result;		   /* reused between calls; freed with mutation_free() */
	uint32_t operators;		   /* bit i: operator i was applied */
	const struct tracemend_rule *rule; /* the broken rule; NULL: none */
	const char *field;		   /* the last field that was edited; NULL: none */
	const struct format *of;	   /* the format */
};

/* Makes a mutant of m->data in m->result. False when memory ran out, or the format is unknown. */
bool mutation_make(struct mutation *m);
/* "op:duplicate+edit-timestamp,rule:dangling-string-ref": the operators of the last mutant, and a rule. Contains only characters
 * that file names may contain. */
const char *mutation_name(const struct mutation *m, const struct tracemend_rule *rule, char *out, size_t size);
/* The same with the rule that the mutant breaks (the chosen one, else that of the first error that check reports, else "none") and,
 * where there is room, ",seed:123". */
const char *mutation_describe(struct mutation *m, char *out, size_t size);
void mutation_free(struct mutation *m);

/* A parsed capture. The outline refers to the capture and the bundle: mutation_close() frees all of them. */
struct mutation_input {
	struct capture capture;
	struct bundle *bundle;
	const struct format *format;
	struct outline outline;
	bool open;
};
bool mutation_open(struct mutation_input *in, const char *format, const char *profile, const uint8_t *data, size_t size,
		   bool fields);
void mutation_close(struct mutation_input *in);
/* Writes the outline as one byte string: the file, or a tar of the directory. False: out of memory. */
bool mutation_write(struct outline *o, struct bytes *out, uint32_t *misfits);
/* The files of a generated sample as one byte string. */
void mutation_pack(const struct tracemend_sample *sample, struct bytes *out);
/* Whether the part can be removed, doubled and moved. */
bool mutation_may_move(const struct outline *o, uint32_t part);

/* Changes of parts (mutate_part.c). False: nothing to change was found. */
struct choices;
uint32_t mutate_pick(const struct outline *o, struct choices *c, bool (*fits)(const struct outline *o, uint32_t part));
bool mutate_delete(struct outline *o, struct choices *c);
bool mutate_duplicate(struct outline *o, struct choices *c);
bool mutate_swap(struct outline *o, struct choices *c);
/* Copies parts of `from` to places of parts of the same kind. part: the part, or OUTLINE_NONE for any. */
bool mutate_import(struct outline *o, const struct outline *from, uint32_t part, struct choices *c);
/* Edits a field, according to its kind (mutate_field.c). Returns its name, or NULL. */
const char *mutate_edit(struct outline *o, struct choices *c);
/* Makes a size, count or offset wrong. */
const char *mutate_fault(struct outline *o, struct choices *c);

#endif
