/* What breakers share: the trace they need, and places in it. */
#ifndef LTTNG_TARGET_H
#define LTTNG_TARGET_H

#include "formats/lttng/gen/lttng_gen.h"

/* What block lttng_target_block() is to find, as bits. */
enum { ANY_BLOCK = 0, WITH_PADDING = 1, NOT_LAST = 2, LAST = 4, WITH_EVENTS = 8 };

/* Says what trace is needed, at GEN_SHAPE. */
void lttng_target_shape(struct lttng_gen *g, uint32_t versions, unsigned blocks);
/* A block of a data file, of at least that number; the shape sees to it that there is one. */
struct lttng_made_block *lttng_target_block(struct lttng_gen *g, unsigned least, unsigned kind);
/* A data file. */
struct lttng_made_file *lttng_target_file(struct lttng_gen *g);
/* The bytes of a block, as long as its file does not grow. */
uint8_t *lttng_target_bytes(struct lttng_gen *g, const struct lttng_made_block *b);
/* Sets a field in the header of that block, or of every block. */
void lttng_target_set(struct lttng_gen *g, const struct lttng_made_block *b, enum lttng_field field, uint64_t value);
void lttng_target_set_all(struct lttng_gen *g, enum lttng_field field, uint64_t value);
/* Moves the end of the data. */
void lttng_target_data_end(struct lttng_gen *g, const struct lttng_made_block *b, uint64_t data);
/* Appends n bytes, none of them 0. */
void lttng_target_junk(struct lttng_gen *g, struct bytes *b, uint64_t n);

#endif
