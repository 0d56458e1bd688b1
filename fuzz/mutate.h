/* A mutator that knows the formats: for fuzzing programs that read traces, ours or anybody's.
 *
 * It takes a capture apart (core/outline.h), changes some of its parts, and puts it together so that every size, count,
 * offset and padding is right again: what comes out gets past the front door of a reader. About once in a hundred it leaves
 * one of them wrong on purpose. The same input and seed give the same bytes. Directories travel as a plain tar. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "core/outline.h"
#include "capture.h"

/* Bytes of an input that is taken apart; a larger one is answered with a generated capture. */
#define MUTATE_INPUT_MAX (4u * 1024 * 1024)
/* One mutant in so many has a measure that is wrong on purpose. */
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
	size_t size_max; /* of the result; 0: no bound but OUTLINE_BYTES_MAX */
	bool no_fault;	 /* never leave a measure wrong on purpose, nor edit one */
	/* out */
	struct bytes result;		   /* reused between calls; freed with mutation_free() */
	uint32_t operators;		   /* bit i: operation i took part */
	const struct tracemend_rule *rule; /* that was broken; NULL: none */
	const char *field;		   /* the last field that was edited; NULL: none */
	const struct format *of;	   /* the format */
};

/* Makes one mutant of m->data in m->result. False when memory is short or there is no format to go by. */
bool mutation_make(struct mutation *m);
/* "op:duplicate+edit-timestamp,rule:dangling-string-ref": which operators made the last mutant, and the rule it breaks: the
 * one that was asked for, else the first error that check finds in it, else "none". No character that a file name cannot have. */
const char *mutation_describe(struct mutation *m, char *out, size_t size);
void mutation_free(struct mutation *m);

/* The parts of a capture in a byte string. The capture and the bundle back the outline: mutation_close() frees all. */
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
/* Writes the outline as one byte string: the file, or a tar of the directory. False when memory is short. */
bool mutation_write(struct outline *o, struct bytes *out, uint32_t *misfits);
/* The files of a generated sample as one byte string. */
void mutation_pack(const struct tracemend_sample *sample, struct bytes *out);
/* Whether the part can be left out, doubled and moved. */
bool mutation_may_move(const struct outline *o, uint32_t part);

/* mutate_part.c, for mutate.c: changes of parts. Each returns false when it found nothing to do. */
struct choices;
uint32_t mutate_pick(const struct outline *o, struct choices *c, bool (*fits)(const struct outline *o, uint32_t part));
bool mutate_delete(struct outline *o, struct choices *c);
bool mutate_duplicate(struct outline *o, struct choices *c);
bool mutate_swap(struct outline *o, struct choices *c);
/* Copies parts of `from` to where parts of that kind are. part: which, or OUTLINE_NONE. */
bool mutate_import(struct outline *o, const struct outline *from, uint32_t part, struct choices *c);
/* mutate_field.c: changes of fields by their kind. Returns the field's name, or NULL. */
const char *mutate_edit(struct outline *o, struct choices *c);
/* Leaves a size, count or offset wrong. */
const char *mutate_fault(struct outline *o, struct choices *c);

#endif
