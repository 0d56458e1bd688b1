/* What the payload of an event type may look like whose declaration is lost, and which of many looks is the likeliest. */
#include "lttng_model.h"

#include <stdio.h>

#define HASH_PRIME 0x01000193u /* of FNV-1a */

struct lttng_model lttng_model_at(unsigned number)
{
	if (number < MODELS_PLAIN)
		return (struct lttng_model){ .before = (uint16_t)(number / 2), .wide = number % 2 };
	unsigned rest = (number - MODELS_PLAIN) / 2;
	return (struct lttng_model){ .wide = number % 2, .after = (uint16_t)(rest % (MODEL_AFTER_MAX + 1)),
				     .texts = (uint8_t)(1 + rest / (MODEL_AFTER_MAX + 1) % MODEL_TEXTS_MAX),
				     .before = (uint16_t)(rest / (MODEL_AFTER_MAX + 1) / MODEL_TEXTS_MAX) };
}

/* Wide values only where that makes a difference. */
bool lttng_model_counts(const struct lttng_trace *t, const struct lttng_model *m)
{
	bool differs = lttng_value_align(t, 8) > lttng_value_align(t, 4);
	return !m->wide || (differs && m->before >= 8);
}

/* The largest value that a row of so many bytes begins with. */
static uint32_t largest(uint32_t bytes, bool wide)
{
	return bytes >= 8 && wide ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
}

static void add_values(const struct lttng_trace *t, struct lttng_shape *s, uint32_t bytes, bool wide)
{
	if (!bytes)
		return;
	uint8_t align = lttng_value_align(t, largest(bytes, wide));
	s->steps[s->count++] = (struct lttng_step){ .kind = STEP_FIXED, .align = align, .pad = 1, .size = bytes };
	s->align = s->align > align ? s->align : align;
}

struct lttng_shape lttng_model_shape(const struct lttng_trace *t, const struct lttng_model *m, struct lttng_step steps[MODEL_STEPS])
{
	struct lttng_shape s = { .steps = steps, .align = 1 };
	add_values(t, &s, m->before, m->wide);
	for (unsigned i = 0; i < m->texts; i++)
		s.steps[s.count++] = (struct lttng_step){ .kind = STEP_STRING, .align = 1, .pad = 1 };
	add_values(t, &s, m->after, true);
	lttng_shape_finish(&s);
	return s;
}

static size_t print_values(char *to, size_t room, unsigned *number, uint32_t bytes, bool wide)
{
	size_t at = 0;
	while (bytes) {
		uint32_t size = largest(bytes, wide);
		at += (size_t)snprintf(to + at, room - at, "lost_%u #%uu%%%s ", ++*number, size, size == 8 ? "llu" : "u");
		bytes -= size;
	}
	return at;
}

void lttng_model_format(char to[LTTNG_RESTORED_FORMAT], const struct lttng_model *m)
{
	unsigned number = 0;
	size_t at = print_values(to, LTTNG_RESTORED_FORMAT, &number, m->before, m->wide);
	for (unsigned i = 0; i < m->texts; i++)
		at += (size_t)snprintf(to + at, LTTNG_RESTORED_FORMAT - at, "lost_%u %%s ", ++number);
	at += print_values(to + at, LTTNG_RESTORED_FORMAT - at, &number, m->after, true);
	if (at)
		to[at - 1] = '\0';
	else
		memcpy(to, " ", 2); /* as tracers write where there are no fields */
}

/* Whether the texts can be texts, and what they look like. */
static bool is_text(struct lttng_trace *t, const struct lttng_model *m, uint64_t from, uint64_t to, struct lttng_model_score *score)
{
	size_t got, run = 0;
	if (to <= from)
		return false;
	const uint8_t *s = window_upto(&t->w, from, to - from < 256 ? (size_t)(to - from) : 256, &got);
	bool ascii = true, letters = false;
	for (size_t i = 0; s && i < got; i++) {
		if (s[i] && s[i] < 0x20 && s[i] != '\n' && s[i] != '\t')
			return false;
		ascii = ascii && s[i] < 0x7f;
		run = s[i] >= 0x20 ? run + 1 : 0;
		letters |= run >= 4;
	}
	score->texts += to - from > m->texts;
	score->clear_texts += ascii && letters;
	return s != NULL;
}

void lttng_model_hear(struct lttng_trace *t, const struct lttng_model *m, uint64_t payload, uint64_t end, uint64_t next,
		      struct lttng_model_score *score)
{
	score->ends = (score->ends ^ (uint32_t)next) * HASH_PRIME;
	score->out |= m->texts && (!end || !is_text(t, m, payload + m->before, end - m->after, score));
}

static bool is_clear(const struct lttng_model_score *s)
{
	return s->clear_texts && 3 * s->clear_texts >= s->texts;
}

/* Of those that measure the same: what padding hides are zeros of values, more often than not, and what reads as text is text. */
static bool is_likelier(const struct lttng_model_score *scores, unsigned model, unsigned than)
{
	struct lttng_model m = lttng_model_at(model), o = lttng_model_at(than);
	if (!m.texts != !o.texts)
		return m.texts;
	if (scores[model].clear_texts != scores[than].clear_texts)
		return scores[model].clear_texts > scores[than].clear_texts;
	if (!(m.before % 4) != !(o.before % 4))
		return !(m.before % 4);
	if (!(m.after % 4) != !(o.after % 4))
		return !(m.after % 4);
	return m.texts && m.before + m.after < o.before + o.after;
}

static bool is_possible(const struct lttng_model_score *scores, unsigned model)
{
	return !scores[model].out && (model < MODELS_PLAIN || is_clear(&scores[model]));
}

static bool is_better(const struct lttng_model_score *scores, unsigned model, unsigned than)
{
	const struct lttng_model_score *s = &scores[model], *o = &scores[than];
	if (s->bits != o->bits || s->ends != o->ends)
		return s->bits < o->bits;
	return is_likelier(scores, model, than);
}

unsigned lttng_model_best(const struct lttng_model_score scores[MODELS], uint32_t *margin)
{
	unsigned best = MODELS;
	for (unsigned i = 0; i < MODELS; i++)
		if (is_possible(scores, i) && (best == MODELS || is_better(scores, i, best)))
			best = i;
	*margin = UINT32_MAX;
	for (unsigned i = 0; i < MODELS && best < MODELS; i++) {
		uint32_t worse = scores[i].bits - scores[best].bits;
		if (is_possible(scores, i) && scores[i].ends != scores[best].ends && worse < *margin)
			*margin = worse;
	}
	return best;
}
