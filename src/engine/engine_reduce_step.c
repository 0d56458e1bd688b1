/* One step of reducing: a smaller candidate is tested, and kept if the predicate holds. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_reduce.h"

static uint64_t sample_bytes(const struct tracemend_sample *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->gen.file_count; i++)
		sum += s->gen.files[i].bytes.size;
	return sum;
}

uint64_t reduction_size(const struct reduction *r)
{
	return sample_bytes(r->best);
}

struct tracemend_sample *reduction_blank(struct reduction *r)
{
	struct tracemend_sample *s = calloc(1, sizeof(*s));

	if (s)
		s->name = strdup(r->best->name);
	if (!s || !s->name) {
		tracemend_sample_free(s);
		(void)fault_memory(r->error);
		r->stop = true;
		return NULL;
	}
	s->format = r->best->format;
	s->directory = r->best->directory;
	return s;
}

static bool sample_failed(const struct tracemend_sample *s)
{
	for (size_t i = 0; i < s->gen.file_count; i++)
		if (s->gen.files[i].bytes.failed)
			return true;
	return s->gen.failed;
}

bool reduction_offer(struct reduction *r, struct tracemend_sample *candidate)
{
	if (candidate && sample_failed(candidate)) {
		tracemend_sample_free(candidate);
		candidate = NULL;
	}
	if (!candidate)
		(void)fault_memory(r->error);
	else if (r->options->progress && !r->options->progress(r->options->progress_ctx, 0, 0))
		(void)fault_set(r->error, TM_CANCELLED, "cancelled");
	if (r->error->status != TM_OK || (r->predicate->tries && r->tries >= r->predicate->tries) ||
	    (r->predicate->work && r->work >= r->predicate->work))
		r->stop = true;
	uint64_t bytes = candidate ? sample_bytes(candidate) : 0;
	bool holds = !r->stop && r->predicate->holds(r->predicate->ctx, candidate);
	r->tries++;
	r->work += bytes;
	if (holds) {
		tracemend_sample_free(r->best);
		r->best = candidate;
	} else {
		tracemend_sample_free(candidate);
	}
	return holds;
}

struct tracemend_input *reduction_open(struct reduction *r)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open_sample(r->best, r->options, &error);

	if (!input) {
		*r->error = error;
		r->stop = true;
	}
	return input;
}

/* One pass from the end to the beginning, `step` remaining elements at a time. */
static bool reduction_pass(struct reduction *r, size_t *left, size_t *count, size_t step, reduction_removal removal, void *ctx)
{
	bool any = false;
	size_t end = *count;

	while (end && !r->stop && !r->renew) {
		size_t begin = end > step ? end - step : 0;
		if (removal(ctx, &left[begin], end - begin)) {
			memmove(&left[begin], &left[end], (*count - end) * sizeof(*left));
			*count -= end - begin;
			any = true;
		}
		end = begin;
	}
	return any;
}

void reduction_minimise(struct reduction *r, size_t count, reduction_removal removal, void *ctx)
{
	size_t *left = malloc((count + !count) * sizeof(*left)), step = 1;

	if (!left) {
		(void)fault_memory(r->error);
		r->stop = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		left[i] = i;
	while (step < count)
		step *= 2;
	for (; step && count && !r->stop && !r->renew; step /= 2)
		while (reduction_pass(r, left, &count, step, removal, ctx) && step == 1 && count)
			;
	free(left);
}
