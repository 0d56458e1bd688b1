/* Reducing a capture by repeated passes of removing parts while the predicate holds (delta debugging: Zeller, Hildebrandt,
 * Simplifying and Isolating Failure-Inducing Input, 2002). */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_reduce.h"

/* Rounds over the whole capture. Each begins with a new outline of what the one before left; the last one removes nothing. */
#define REDUCE_ROUNDS 40u

/* ---- samples of inputs ---- */

/* The name of the capture without the extensions of archives and compression. */
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
	struct tracemend_error fallback;
	enum tracemend_status status = TM_OK;

	error = engine_begin(error, &fallback);
	if (!input)
		return engine_null(error, "input");
	struct bundle *b = input_bundle(input);
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
		status = fault_set(error, TM_LIMIT, "the capture is too large: the limit is %llu bytes",
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

/* ---- rounds ---- */

/* Repeats until a round removes nothing. */
static void reduction_run(struct reduction *r)
{
	for (unsigned round = 0; round < REDUCE_ROUNDS && !r->stop; round++) {
		uint64_t before = reduction_size(r);
		bool known = r->format && r->format->outline, any = known && reduction_parts(r);
		if (!known || (r->predicate->bytes && !any))
			any = reduction_bytes(r);
		if (!any || reduction_size(r) >= before)
			break;
	}
}

struct tracemend_sample *tracemend_reduce(struct tracemend_input *input, const struct tracemend_options *options,
					  const struct tracemend_predicate *given, struct tracemend_error *error)
{
	struct tracemend_error fallback, ignored = { 0 };
	struct tracemend_options own;
	struct tracemend_predicate own_predicate, *predicate = &own_predicate;
	struct reduction r = { .options = &own, .predicate = predicate };

	r.error = error = engine_begin(error, &fallback);
	if (!input || !given)
		return engine_null(error, input ? "predicate" : "input");
	if (!engine_options(&own, options, error) ||
	    !engine_take(predicate, sizeof(*predicate), sizeof(*predicate), given, given->size, error))
		return NULL;
	if (!predicate->holds)
		return engine_null(error, "predicate.holds");
	r.best = tracemend_sample_of(input, r.error);
	if (!r.best)
		return NULL;
	r.format = format_recognise(input_bundle(input), r.options, &ignored);
	if (r.format)
		r.profile = format_profile(r.format, r.options->profile, &ignored);
	r.best->format = r.format;
	uint64_t whole = reduction_size(&r);
	if (!predicate->holds(predicate->ctx, r.best))
		(void)fault_set(r.error, TM_NOTHING, "the whole capture does not meet the condition");
	else
		reduction_run(&r);
	if (r.error->status == TM_OK || (r.error->status == TM_CANCELLED && reduction_size(&r) < whole))
		return r.best;
	tracemend_sample_free(r.best);
	return NULL;
}
