/* What the payload of an event type may look like whose declaration is lost, and which of these models fits what is observed. */
#ifndef LTTNG_MODEL_H
#define LTTNG_MODEL_H

#include "formats/lttng/repair/lttng_repair.h"

/* Values, texts, values. */
struct lttng_model {
	uint16_t before, after; /* bytes of values */
	uint8_t texts;
	bool wide;		    /* the values before hold one of eight bytes */
	bool distinct;		    /* it is like no other in this trace */
	uint8_t align, after_align; /* of the start of the payload, and of the values after */
};
#define MODEL_VALUES_MAX 192u
#define MODEL_BEFORE_MAX 32u
#define MODEL_AFTER_MAX 32u
#define MODEL_TEXTS_MAX 2u
#define MODELS_PLAIN (2u * (MODEL_VALUES_MAX + 1)) /* those without texts come first */
#define MODELS (MODELS_PLAIN + 2u * MODEL_TEXTS_MAX * (MODEL_BEFORE_MAX + 1) * (MODEL_AFTER_MAX + 1))
#define MODEL_STEPS (2u + MODEL_TEXTS_MAX)

/* What was observed of a model. */
struct lttng_model_score {
	uint32_t penalty; /* bits against it */
	uint32_t ends;	  /* hash of where the next events begin: models for which that is the same cannot be told apart */
	uint32_t texts,
		readable_texts; /* events with texts that are not empty; readable: ASCII, with four printable bytes in a row */
	bool excluded;		/* it cannot be */
};

/* Texts of one event that were measured and classified: consecutive models ask for the same. Zeroed before the first. */
struct lttng_model_memo {
	uint64_t payload, end; /* of texts behind so many bytes of values */
	uint64_t from, to;     /* classified */
	uint16_t before;
	uint8_t texts; /* 0: none were measured */
	bool valid, filled, readable;
	struct lttng_texts_seen seen;
};

struct lttng_model lttng_model_at(const struct lttng_trace *t, unsigned number);
/* Where a payload ends that begins at `payload`, which is rel; 0: not up to `limit`. Many models are asked of one event, so that
 * the limit should be no further than an end that matters: texts are read up to it. */
uint64_t lttng_model_end(struct lttng_trace *t, const struct lttng_stream *in, const struct lttng_model *m, uint64_t payload,
			 uint64_t limit, struct lttng_model_memo *memo);
/* As the model's format would be parsed; borrows the steps. */
struct lttng_shape lttng_model_shape(const struct lttng_trace *t, const struct lttng_model *m,
				     struct lttng_step steps[MODEL_STEPS]);
void lttng_model_format(char to[LTTNG_RESTORED_FORMAT], const struct lttng_model *m);
/* Counts an event of which [payload, end) of the file would be the payload, and behind which the next begins at `next`. end 0: it
 * cannot be. */
void lttng_model_observe(struct lttng_trace *t, const struct lttng_model *m, uint64_t payload, uint64_t end, uint64_t next,
			 struct lttng_model_score *score, struct lttng_model_memo *memo);
/* The model with the least penalty, and by how many bits any that is not equivalent is worse; UINT32_MAX: there is none.
 * MODELS: all are excluded. */
unsigned lttng_model_best(const struct lttng_model models[MODELS], const struct lttng_model_score scores[MODELS], uint32_t *margin);

#endif
