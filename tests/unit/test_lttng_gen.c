/* formats/lttng: generated captures are valid, whatever the choices, and no failing allocation goes unnoticed. */
#include "unit.h"

#include "../../fuzz/inject.h"
#include "tracemend.h"

static const char *const profiles[] = { "wire", "literal" };

static struct tracemend_sample *make(const struct tracemend_recipe *recipe)
{
	struct tracemend_error error;
	struct tracemend_sample *s = tracemend_generate(recipe, &error);
	if (!s)
		fail_msg("seed %u: %s", (unsigned)recipe->seed, error.message);
	return s;
}

/* No error, no warning, and as many records as were made. */
static void check_clean(const struct tracemend_sample *s, const char *profile, unsigned seed)
{
	struct tracemend_options options = { .format = "lttng", .profile = profile };
	struct tracemend_error error;
	struct tracemend_input *in = tracemend_open_sample(s, &options, &error);
	struct tracemend_report *r = in ? tracemend_check(in, &options, &error) : NULL;
	if (!r)
		fail_msg("seed %u: %s", seed, error.message);
	const struct tracemend_summary *m = tracemend_report_summary(r);
	assert_true(m->complete);
	assert_int_equal(m->records, tracemend_sample_records(s));
	for (size_t i = 0; i < tracemend_report_finding_count(r); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(r, i);
		if (f->severity != TM_NOTE)
			fail_msg("seed %u, %s: %s at %llu: %s", seed, profile, f->rule->id,
				 (unsigned long long)f->offset, f->message);
	}
	tracemend_report_free(r);
	tracemend_close(in);
}

static void valid_captures_check_clean(void **state)
{
	(void)state;
	for (unsigned p = 0; p < 2; p++)
		for (unsigned seed = 1; seed <= 150; seed++) {
			struct tracemend_recipe recipe = { .format = "lttng", .profile = profiles[p], .seed = seed };
			struct tracemend_sample *s = make(&recipe);
			check_clean(s, profiles[p], seed);
			tracemend_sample_free(s);
		}
}

static void captures_of_a_size_are_about_as_large(void **state)
{
	static const uint64_t sizes[] = { 100000, 300000, 2000000 };
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned seed = 1; seed <= 6; seed++) {
			struct tracemend_recipe recipe = { .format = "lttng", .seed = seed, .size = sizes[i] };
			struct tracemend_sample *s = make(&recipe);
			size_t total = 0;
			for (size_t k = 0; k < tracemend_sample_file_count(s); k++) {
				const uint8_t *data;
				size_t size;
				(void)tracemend_sample_file(s, k, &data, &size);
				total += size;
			}
			assert_in_range(total, sizes[i] / 2, sizes[i] * 2);
			check_clean(s, "wire", seed);
			tracemend_sample_free(s);
		}
}

static void no_choice_makes_the_smallest_capture(void **state)
{
	(void)state;
	struct tracemend_recipe recipe = { .format = "lttng", .choices = (const uint8_t *)"" };
	struct tracemend_sample *s = make(&recipe);
	const uint8_t *data;
	size_t size;
	(void)tracemend_sample_file(s, 0, &data, &size);
	/* Declarations of nothing: one block, which holds its header. */
	assert_int_equal(tracemend_sample_file_count(s), 1);
	assert_int_equal(size, 4096);
	assert_memory_equal(data + 16, "\xed\xb7\xd6\x00\x02\x06\x04\x00", 8);
	assert_int_equal(tracemend_sample_records(s), 0);
	tracemend_sample_free(s);
}

static void any_choices_make_a_valid_capture(void **state)
{
	uint8_t choices[256];
	uint32_t drawn = 1;
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		for (size_t i = 0; i < sizeof(choices); i++) {
			drawn = drawn * 1103515245 + 12345;
			choices[i] = (uint8_t)(drawn >> 16);
		}
		struct tracemend_recipe recipe = { .format = "lttng",
						   .choices = choices,
						   .choices_size = round % sizeof(choices) };
		struct tracemend_sample *s = make(&recipe);
		check_clean(s, "wire", round);
		tracemend_sample_free(s);
	}
}

/* The same recipe gives the same bytes, and each seed of a breaker gives others. */
static void breakers_are_deterministic_and_vary(void **state)
{
	(void)state;
	for (size_t i = 0; i < tracemend_rule_count("lttng"); i++) {
		const char *rule = tracemend_rule_at("lttng", i)->id;
		const uint8_t *data[3];
		size_t size[3];
		struct tracemend_sample *s[3];
		for (unsigned k = 0; k < 3; k++) {
			struct tracemend_recipe recipe = { .format = "lttng", .profile = "wire", .rule = rule };
			recipe.seed = k == 2 ? 8 : 7;
			s[k] = make(&recipe);
			(void)tracemend_sample_file(s[k], 0, &data[k], &size[k]);
			assert_true(tracemend_sample_expect_count(s[k]) > 0);
		}
		assert_true(size[0] == size[1] && !memcmp(data[0], data[1], size[0]));
		if (size[0] == size[2] && !memcmp(data[0], data[2], size[0]))
			fail_msg("%s: two seeds give one file", rule);
		for (unsigned k = 0; k < 3; k++)
			tracemend_sample_free(s[k]);
	}
}

static void every_failing_allocation_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < tracemend_rule_count("lttng"); i += 7)
		for (uint64_t nth = 1;; nth++) {
			struct tracemend_recipe recipe = { .format = "lttng",
							   .rule = tracemend_rule_at("lttng", i)->id,
							   .seed = 3 };
			struct tracemend_error error;
			inject_arm(nth, false);
			struct tracemend_sample *s = tracemend_generate(&recipe, &error);
			const bool fired = inject.fired;
			assert_true(fired ? !s && error.status == TM_NO_MEMORY : s != NULL);
			tracemend_sample_free(s);
			if (fired) /* the name of a sample that succeeds is made by asprintf(), which is not counted */
				assert_int_equal(inject.live, 0);
			inject_disarm();
			if (!fired)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_captures_check_clean),
		cmocka_unit_test(captures_of_a_size_are_about_as_large),
		cmocka_unit_test(no_choice_makes_the_smallest_capture),
		cmocka_unit_test(any_choices_make_a_valid_capture),
		cmocka_unit_test(breakers_are_deterministic_and_vary),
		cmocka_unit_test(every_failing_allocation_is_told),
	};
	return RUN(tests);
}
