/* The mutator for AFL++: AFL_CUSTOM_MUTATOR_LIBRARY=build/libtracemend-mutator.so. The format comes from the environment
 * variable TRACEMEND_FORMAT, else from each input. Files that afl-fuzz keeps are named by operator, rule and
 * seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/choices.h"
#include "mutate.h"

/* Mutants of a queue entry. */
#define FUZZ_COUNT 64u
/* Steps of a trim; each runs the target once. */
#define TRIM_STEPS_MAX 256u

#define MUTATOR_API __attribute__((visibility("default")))

/* The functions are described in custom_mutators/ of AFL++ 4; afl_state_t is not needed. */
MUTATOR_API void *afl_custom_init(void *afl, unsigned int seed);
MUTATOR_API void afl_custom_deinit(void *data);
MUTATOR_API unsigned int afl_custom_fuzz_count(void *data, const uint8_t *buffer, size_t size);
MUTATOR_API size_t afl_custom_fuzz(void *data, uint8_t *buffer, size_t size, uint8_t **out, const uint8_t *other, size_t other_size,
				   size_t size_max);
MUTATOR_API const char *afl_custom_describe(void *data, size_t length_max);
MUTATOR_API int afl_custom_init_trim(void *data, uint8_t *buffer, size_t size);
MUTATOR_API size_t afl_custom_trim(void *data, uint8_t **out);
MUTATOR_API int afl_custom_post_trim(void *data, int success);

struct afl_mutator {
	struct mutation mutation;
	struct choices seeds;
	char description[256];
	/* trimming: runs of parts are removed, each shorter than the last */
	struct mutation_input input;
	struct bytes copy, trimmed;
	uint32_t *parts;
	uint32_t part_count;
	uint32_t step, steps, at, run;
};

void *afl_custom_init(void *afl, unsigned int seed)
{
	struct afl_mutator *m = calloc(1, sizeof(*m));
	(void)afl;
	if (!m)
		return NULL;
	m->seeds = choices_from_seed(seed);
	m->mutation.format = getenv("TRACEMEND_FORMAT");
	m->mutation.profile = getenv("TRACEMEND_PROFILE");
	return m;
}

static void trim_close(struct afl_mutator *m)
{
	if (m->input.open)
		mutation_close(&m->input);
	free(m->parts);
	m->parts = NULL;
	m->part_count = 0;
}

void afl_custom_deinit(void *data)
{
	struct afl_mutator *m = data;
	trim_close(m);
	bytes_free(&m->copy);
	bytes_free(&m->trimmed);
	mutation_free(&m->mutation);
	free(m);
}

unsigned int afl_custom_fuzz_count(void *data, const uint8_t *buffer, size_t size)
{
	(void)data, (void)buffer, (void)size;
	return FUZZ_COUNT;
}

size_t afl_custom_fuzz(void *data, uint8_t *buffer, size_t size, uint8_t **out, const uint8_t *other, size_t other_size,
		       size_t size_max)
{
	struct afl_mutator *m = data;
	m->mutation.data = buffer;
	m->mutation.size = size;
	m->mutation.other = other;
	m->mutation.other_size = other_size;
	m->mutation.size_max = size_max;
	m->mutation.seed = choices_u64(&m->seeds) >> 1; /* a label has signed numbers */
	if (!mutation_make(&m->mutation) || !m->mutation.result.size) {
		*out = buffer;
		return size;
	}
	*out = m->mutation.result.data;
	return m->mutation.result.size;
}

const char *afl_custom_describe(void *data, size_t length_max)
{
	struct afl_mutator *m = data;
	size_t size = length_max + 1 < sizeof(m->description) ? length_max + 1 : sizeof(m->description);
	return mutation_describe(&m->mutation, m->description, size);
}

/* ---- trim ---- */

/* The number of steps for runs of that length, then of a quarter of it, and so on. */
static uint32_t steps_of(uint32_t parts, uint32_t run)
{
	uint32_t steps = 0;
	for (; run; run /= 4)
		steps += (parts + run - 1) / run;
	return steps;
}

int afl_custom_init_trim(void *data, uint8_t *buffer, size_t size)
{
	struct afl_mutator *m = data;

	trim_close(m);
	m->step = m->steps = m->at = 0;
	m->copy.size = 0;
	bytes_append(&m->copy, buffer, size);
	if (m->copy.failed || !mutation_open(&m->input, m->mutation.format, m->mutation.profile, m->copy.data, size, false))
		return 0;
	const struct outline *o = &m->input.outline;
	m->parts = malloc((o->count + !o->count) * sizeof(*m->parts));
	if (!m->parts)
		return 0;
	/* From the end, since definitions precede their uses. */
	for (uint32_t i = o->count; i-- > 0;)
		if (mutation_may_move(o, i))
			m->parts[m->part_count++] = i;
	m->run = m->part_count / 4 + (m->part_count != 0);
	m->steps = steps_of(m->part_count, m->run);
	if (m->steps > TRIM_STEPS_MAX)
		m->steps = TRIM_STEPS_MAX;
	return (int)m->steps;
}

enum trim_mark { TRIM_TRY, TRIM_BACK, TRIM_KEEP };
/* Marks in `parts` what is removed for good. */
#define TRIM_GONE UINT32_C(0x80000000)

static void trim_mark(struct afl_mutator *m, enum trim_mark mark)
{
	for (uint32_t i = m->at; i < m->part_count && i - m->at < m->run; i++) {
		if (m->parts[i] & TRIM_GONE)
			continue;
		if (mark == TRIM_TRY)
			outline_delete(&m->input.outline, m->parts[i]);
		else if (mark == TRIM_BACK)
			outline_restore(&m->input.outline, m->parts[i]);
		else
			m->parts[i] |= TRIM_GONE;
	}
}

size_t afl_custom_trim(void *data, uint8_t **out)
{
	struct afl_mutator *m = data;
	if (m->input.open) {
		trim_mark(m, TRIM_TRY);
		if (mutation_write(&m->input.outline, &m->trimmed, NULL) && m->trimmed.size) {
			*out = m->trimmed.data;
			return m->trimmed.size;
		}
	}
	*out = m->copy.data;
	return m->copy.size;
}

int afl_custom_post_trim(void *data, int success)
{
	struct afl_mutator *m = data;
	if (m->input.open)
		trim_mark(m, success ? TRIM_KEEP : TRIM_BACK);
	m->at += m->run;
	if (m->at >= m->part_count) {
		m->at = 0;
		m->run /= 4;
	}
	m->step = m->run ? m->step + 1 : m->steps;
	if (m->step >= m->steps)
		trim_close(m);
	return (int)m->step;
}
