/* Models of payloads: bytes of values, up to two texts, bytes of values. */
#include "formats/lttng/salvage/lttng_model.h"

#include <stdio.h>

#define HASH_PRIME 0x01000193u /* of FNV-1a */

/* The largest value that so many bytes of values begin with. */
static uint32_t largest(uint32_t bytes, bool wide)
{
	return bytes >= 8 && wide ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
}

static uint8_t values_align(const struct lttng_trace *t, uint32_t bytes, bool wide)
{
	return bytes ? lttng_value_align(&t->coding, largest(bytes, wide)) : 1;
}

static void add_values(const struct lttng_trace *t, struct lttng_shape *s, uint32_t bytes, bool wide)
{
	if (!bytes)
		return;
	uint8_t align = values_align(t, bytes, wide);
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

struct lttng_model lttng_model_at(const struct lttng_trace *t, unsigned number)
{
	struct lttng_model m = { .wide = number % 2 };
	if (number < MODELS_PLAIN) {
		m.before = (uint16_t)(number / 2);
	} else {
		unsigned rest = (number - MODELS_PLAIN) / 2;
		m.after = (uint16_t)(rest % (MODEL_AFTER_MAX + 1));
		m.texts = (uint8_t)(1 + rest / (MODEL_AFTER_MAX + 1) % MODEL_TEXTS_MAX);
		m.before = (uint16_t)(rest / (MODEL_AFTER_MAX + 1) / MODEL_TEXTS_MAX);
	}
	/* Wide values only where that makes a difference. */
	m.distinct = !m.wide || (m.before >= 8 && lttng_value_align(&t->coding, 8) > lttng_value_align(&t->coding, 4));
	m.after_align = values_align(t, m.after, true);
	m.align = values_align(t, m.before, m.wide);
	if (m.align < m.after_align)
		m.align = m.after_align;
	return m;
}

/* Where the texts end; 0: nowhere. */
static uint64_t texts_end(struct lttng_trace *t, const struct lttng_stream *in, const struct lttng_model *m, uint64_t payload,
			  uint64_t limit, struct lttng_model_memo *memo)
{
	if (memo->texts == m->texts && memo->before == m->before && memo->payload == payload)
		return memo->end;
	const struct lttng_model texts = { .before = m->before, .texts = m->texts };
	struct lttng_step steps[MODEL_STEPS];
	const struct lttng_shape shape = lttng_model_shape(t, &texts, steps);
	struct lttng_stream with = *in;
	enum lttng_defect cut;
	with.seen = &memo->seen;
	memo->payload = payload;
	memo->before = m->before;
	memo->texts = m->texts;
	memo->end = lttng_measure(&with, &shape, payload, limit, &cut);
	return memo->end;
}

uint64_t lttng_model_end(struct lttng_trace *t, const struct lttng_stream *in, const struct lttng_model *m, uint64_t payload,
			 uint64_t limit, struct lttng_model_memo *memo)
{
	if (!m->texts)
		return payload + m->before;
	uint64_t end = texts_end(t, in, m, payload, limit, memo);
	if (end)
		end = payload + lttng_align(end - payload, m->after_align) + m->after;
	return end <= limit ? end : 0;
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

/* Whether [from, to) of the file can be so many texts, and whether they are readable. */
static void classify_texts(struct lttng_trace *t, uint64_t from, uint64_t to, unsigned texts, struct lttng_model_memo *memo)
{
	size_t got, run = 0;
	if (memo->from == from && memo->to == to)
		return;
	memo->from = from;
	memo->to = to;
	memo->valid = memo->readable = false;
	memo->filled = to > from && to - from > texts;
	const uint8_t *s = to > from ? window_upto(&t->window, from, to - from < 256 ? (size_t)(to - from) : 256, &got) : NULL;
	if (!s)
		return;
	bool ascii = true, letters = false;
	for (size_t i = 0; i < got; i++) {
		if (s[i] && s[i] < 0x20 && s[i] != '\n' && s[i] != '\t')
			return;
		ascii = ascii && s[i] < 0x7f;
		run = s[i] >= 0x20 ? run + 1 : 0;
		letters |= run >= 4;
	}
	memo->valid = true;
	memo->readable = ascii && letters;
}

void lttng_model_observe(struct lttng_trace *t, const struct lttng_model *m, uint64_t payload, uint64_t end, uint64_t next,
			 struct lttng_model_score *score, struct lttng_model_memo *memo)
{
	score->ends = (score->ends ^ (uint32_t)next) * HASH_PRIME;
	if (!m->texts)
		return;
	if (end)
		classify_texts(t, payload + m->before, end - m->after, m->texts, memo);
	score->excluded |= !end || !memo->valid;
	score->texts += end && memo->valid && memo->filled;
	score->readable_texts += end && memo->readable;
}

static bool is_readable(const struct lttng_model_score *s)
{
	return s->readable_texts && 3 * s->readable_texts >= s->texts;
}

/* Of equivalent models: texts where they are readable; then values of whole words, since padding hides their zeros more often than
 * not; then the shorter one. */
static bool is_likelier(const struct lttng_model *models, const struct lttng_model_score *scores, unsigned model, unsigned than)
{
	const struct lttng_model *m = &models[model], *o = &models[than];
	if (!m->texts != !o->texts)
		return m->texts;
	if (scores[model].readable_texts != scores[than].readable_texts)
		return scores[model].readable_texts > scores[than].readable_texts;
	if (!(m->before % 4) != !(o->before % 4))
		return !(m->before % 4);
	if (!(m->after % 4) != !(o->after % 4))
		return !(m->after % 4);
	return m->texts && m->before + m->after < o->before + o->after;
}

static bool is_possible(const struct lttng_model_score *scores, unsigned model)
{
	return !scores[model].excluded && (model < MODELS_PLAIN || is_readable(&scores[model]));
}

static bool is_better(const struct lttng_model *models, const struct lttng_model_score *scores, unsigned model, unsigned than)
{
	const struct lttng_model_score *s = &scores[model], *o = &scores[than];
	if (s->penalty != o->penalty || s->ends != o->ends)
		return s->penalty < o->penalty;
	return is_likelier(models, scores, model, than);
}

unsigned lttng_model_best(const struct lttng_model models[MODELS], const struct lttng_model_score scores[MODELS], uint32_t *margin)
{
	unsigned best = MODELS;
	for (unsigned i = 0; i < MODELS; i++)
		if (is_possible(scores, i) && (best == MODELS || is_better(models, scores, i, best)))
			best = i;
	*margin = UINT32_MAX;
	for (unsigned i = 0; i < MODELS && best < MODELS; i++) {
		uint32_t worse = scores[i].penalty - scores[best].penalty;
		if (is_possible(scores, i) && scores[i].ends != scores[best].ends && worse < *margin)
			*margin = worse;
	}
	return best;
}
