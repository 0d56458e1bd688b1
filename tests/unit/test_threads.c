/* Eight threads use the library at once, each on captures of its own: every one gets what one thread alone gets. Built with
 * -fsanitize=thread (scripts/harden.sh threads), it shows what they share. */
#include "unit.h"

#include <pthread.h>

#include "tracemend.h"

#define THREADS 8u
#define SEEDS 6u

struct outcome {
	uint64_t records, errors, warnings, notes, outputs;
};

struct job {
	const char *format;
	unsigned first; /* seed with which this thread begins */
	struct outcome found[SEEDS];
	bool failed;
};

/* Generates, checks, repairs, and checks what came out. */
static bool work(const char *format, unsigned seed, struct outcome *o)
{
	const struct tracemend_options options = { .format = format };
	struct tracemend_error error = { 0 };
	struct tracemend_recipe recipe = { .format = format,
					   .seed = seed,
					   .damage = seed % 2 ? TM_DAMAGE_HOLE : TM_DAMAGE_TRUNCATE };
	struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
	struct tracemend_input *in = sample ? tracemend_open_sample(sample, NULL, &error) : NULL;
	struct tracemend_report *report = in ? tracemend_check(in, &options, &error) : NULL;
	bool good = report != NULL;

	if (good) {
		const struct tracemend_summary *s = tracemend_report_summary(report);
		*o = (struct outcome){ s->records, s->errors, s->warnings, s->notes, 0 };
		struct tracemend_repair *repair = tracemend_repair(in, &options, &error);
		for (size_t i = 0; repair && i < tracemend_repair_output_count(repair); i++)
			o->outputs += tracemend_repair_output(repair, i)->size;
		tracemend_repair_free(repair);
	}
	tracemend_report_free(report);
	tracemend_close(in);
	tracemend_sample_free(sample);
	return good;
}

static void *run(void *arg)
{
	struct job *job = arg;

	for (unsigned i = 0; i < SEEDS; i++) {
		unsigned at = (job->first + i) % SEEDS;
		job->failed |= !work(job->format, 1 + at, &job->found[at]);
	}
	return NULL;
}

static void threads_do_not_meet(void **state)
{
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);
	(void)state;

	for (size_t f = 0; f < count; f++) {
		if (!format_wanted(formats[f]->name))
			continue;
		struct job jobs[THREADS] = { 0 }, alone = { .format = formats[f]->name };
		pthread_t threads[THREADS];
		for (unsigned i = 0; i < THREADS; i++) {
			jobs[i] = (struct job){ .format = formats[f]->name, .first = i };
			assert_int_equal(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		(void)run(&alone);
		assert_false(alone.failed);
		for (unsigned i = 0; i < THREADS; i++) {
			assert_false(jobs[i].failed);
			assert_memory_equal(jobs[i].found, alone.found, sizeof(alone.found));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(threads_do_not_meet) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
