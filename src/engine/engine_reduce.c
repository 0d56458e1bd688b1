/* Reducing: the same question again and again, of ever smaller captures. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_reduce.h"

/* Rounds over the whole capture: each begins with the parts of what the one before left, which may be other parts than
 * before, and the last one finds nothing. */
#define REDUCE_ROUNDS 40u

/* ---- samples of inputs ---- */

/* What the capture is called without what it was packed in. */
static char *sample_title(const struct bundle *b)
{
	static const char *const packed[] = { ".gz", ".zst", ".xz", ".bz2", ".tar" };
	const char *slash = strrchr(b->path, '/');
	char *name = strdup(slash && slash[1] ? slash + 1 : b->path);

	for (size_t i = 0; name && b->unpacked && i < sizeof(packed) / sizeof(packed[0]); i++) {
		size_t length = strlen(name), tail = strlen(packed[i]);
		if (length > tail && !strcmp(name + length - tail, packed[i]))
			name[length - tail] = '\0';
	}
	while (name && *name && name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = '\0';
	if (name && (!*name || !strcmp(name, "-") || !strcmp(name, ".") || !strcmp(name, ".."))) {
		free(name);
		name = strdup("capture");
	}
	return name;
}

static enum tracemend_status sample_take(struct tracemend_sample *s, struct source *source)
{
	struct bytes *bytes = gen_file(&s->gen, source->name);
	if (!bytes || source->size > SIZE_MAX)
		return TM_NO_MEMORY;
	if (!source->size)
		return TM_OK;
	uint8_t *room = bytes_grow(bytes, (size_t)source->size);
	return room ? source_read(source, 0, room, (size_t)source->size) : TM_NO_MEMORY;
}

struct tracemend_sample *tracemend_sample_of(struct tracemend_input *input, struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	struct bundle *b = input_bundle(input);
	enum tracemend_status status = TM_OK;
	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };

	struct tracemend_sample *s = calloc(1, sizeof(*s));
	if (s)
		s->name = sample_title(b);
	if (!s || !s->name) {
		tracemend_sample_free(s);
		(void)fault_memory(error);
		return NULL;
	}
	s->directory = b->directory;
	if (b->bytes_total > REDUCE_BYTES_MAX)
		status = fault_set(error, TM_LIMIT, "a capture of more than %llu bytes is not taken whole",
				   (unsigned long long)REDUCE_BYTES_MAX);
	for (size_t i = 0; i < b->count && status == TM_OK; i++)
		if (b->sources[i]->role == TM_ROLE_INPUT && b->sources[i]->kind == SOURCE_FILE)
			status = sample_take(s, b->sources[i]);
	if (status == TM_OK)
		return s;
	if (b->error.status != TM_OK)
		*error = b->error;
	else if (error->status == TM_OK)
		(void)fault_memory(error);
	tracemend_sample_free(s);
	return NULL;
}

static uint64_t sample_bytes(const struct tracemend_sample *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->gen.file_count; i++)
		sum += s->gen.files[i].bytes.size;
	return sum;
}

/* ---- for the ways to reduce ---- */

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
		r->over = true;
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
	if (r->error->status != TM_OK || (r->wish->tries && r->tries >= r->wish->tries) ||
	    (r->wish->work && r->work >= r->wish->work))
		r->over = true;
	uint64_t bytes = candidate ? sample_bytes(candidate) : 0;
	bool holds = !r->over && r->wish->holds(r->wish->ctx, candidate);
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
		r->over = true;
	}
	return input;
}

/* One pass from the end to the beginning, `step` things that are still there at a time. */
static bool reduction_pass(struct reduction *r, size_t *left, size_t *count, size_t step, reduction_leave leave, void *ctx)
{
	bool any = false;
	size_t end = *count;

	while (end && !r->over && !r->renew) {
		size_t begin = end > step ? end - step : 0;
		if (leave(ctx, &left[begin], end - begin)) {
			memmove(&left[begin], &left[end], (*count - end) * sizeof(*left));
			*count -= end - begin;
			any = true;
		}
		end = begin;
	}
	return any;
}

void reduction_minimise(struct reduction *r, size_t count, reduction_leave leave, void *ctx)
{
	size_t *left = malloc((count + !count) * sizeof(*left)), step = 1;

	if (!left) {
		(void)fault_memory(r->error);
		r->over = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		left[i] = i;
	while (step < count)
		step *= 2;
	for (; step && count && !r->over && !r->renew; step /= 2)
		while (reduction_pass(r, left, &count, step, leave, ctx) && step == 1 && count)
			;
	free(left);
}

/* ---- the whole ---- */

/* Again from the beginning, as long as it helps. */
static void reduction_run(struct reduction *r)
{
	for (unsigned round = 0; round < REDUCE_ROUNDS && !r->over; round++) {
		uint64_t before = reduction_size(r);
		bool known = r->format && r->format->outline, any = known && reduction_parts(r);
		if (!known || (r->wish->bytes && !any))
			any = reduction_bytes(r);
		if (!any || reduction_size(r) >= before)
			break;
	}
}

struct tracemend_sample *tracemend_reduce(struct tracemend_input *input, const struct tracemend_options *options,
					  const struct tracemend_wish *wish, struct tracemend_error *error)
{
	static const struct tracemend_options none;
	struct tracemend_error fallback = { 0 }, ignored = { 0 };
	struct reduction r = { .options = options ? options : &none, .wish = wish, .error = error ? error : &fallback };
	*r.error = (struct tracemend_error){ 0 };

	r.best = tracemend_sample_of(input, r.error);
	if (!r.best)
		return NULL;
	r.format = format_recognise(input_bundle(input), r.options, &ignored);
	if (r.format)
		r.profile = format_profile(r.format, r.options->profile, &ignored);
	r.best->format = r.format;
	if (!wish->holds(wish->ctx, r.best))
		(void)fault_set(r.error, TM_NOTHING, "what is looked for is not there in the whole capture");
	else
		reduction_run(&r);
	if (r.error->status == TM_OK)
		return r.best;
	tracemend_sample_free(r.best);
	return NULL;
}
