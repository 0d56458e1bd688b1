/* lttng_model.c: what the payload of an event type may look like whose declaration is lost. */
#ifndef LTTNG_MODEL_H
#define LTTNG_MODEL_H

#include "formats/lttng/repair/lttng_repair.h"

/* Values, texts, values. */
struct lttng_model {
	uint16_t before, after; /* bytes of values */
	uint8_t texts;
	bool wide;		    /* the values before hold one of eight bytes */
	bool counts;		    /* it is like no other in this trace */
	uint8_t align, after_align; /* of the start of the payload, and of the values after */
};
#define MODEL_VALUES_MAX 192u
#define MODEL_BEFORE_MAX 32u
#define MODEL_AFTER_MAX 32u
#define MODEL_TEXTS_MAX 2u
#define MODELS_PLAIN (2u * (MODEL_VALUES_MAX + 1)) /* those without texts come first */
#define MODELS (MODELS_PLAIN + 2u * MODEL_TEXTS_MAX * (MODEL_BEFORE_MAX + 1) * (MODEL_AFTER_MAX + 1))
#define MODEL_STEPS (2u + MODEL_TEXTS_MAX)

/* What speaks against a model. */
struct lttng_model_score {
	uint32_t bits;
	uint32_t ends; /* hash of where the next events begin: models for which that is the same cannot be told apart */
	uint32_t texts, clear_texts; /* events with texts that are not empty; clear: ASCII, with some in a row */
	bool out;		     /* it is none of them */
};

/* Texts of one event that were looked for and at: models in a row ask for the same. Zeroed before the first. */
struct lttng_model_memo {
	uint64_t payload, end; /* of texts behind so many bytes of values */
	uint64_t from, to;     /* looked at */
	uint16_t before;
	uint8_t texts; /* 0: none were looked for */
	bool sound, filled, clear;
};

struct lttng_model lttng_model_at(const struct lttng_trace *t, unsigned number);
/* Where a payload ends that begins at `payload`, which is rel; 0: its texts do not end within the block's limit. */
uint64_t lttng_model_end(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_model *m, uint64_t payload,
			 struct lttng_model_memo *memo);
/* As the model's format would be parsed; borrows the steps. */
struct lttng_shape lttng_model_shape(const struct lttng_trace *t, const struct lttng_model *m,
				     struct lttng_step steps[MODEL_STEPS]);
void lttng_model_format(char to[LTTNG_RESTORED_FORMAT], const struct lttng_model *m);
/* An event of which [payload, end) of the file would be the payload, and behind which the next begins at `next`. end 0: it cannot
 * be. */
void lttng_model_hear(struct lttng_trace *t, const struct lttng_model *m, uint64_t payload, uint64_t end, uint64_t next,
		      struct lttng_model_score *score, struct lttng_model_memo *memo);
/* The model that least speaks against, and by how many bits any that says something else is worse; UINT32_MAX: there is none.
 * MODELS: all are out. */
unsigned lttng_model_best(const struct lttng_model models[MODELS], const struct lttng_model_score scores[MODELS], uint32_t *margin);

#endif
