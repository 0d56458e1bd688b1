/* Every format's generator: captures are valid, whatever the choices; a recipe gives the same bytes each time; no failing
 * allocation goes unnoticed. */
#include "unit.h"

#include "../../fuzz/inject.h"
#include "tracemend.h"

struct generator {
	const char *format;
	const char *profiles[2];     /* NULL: the only one */
	const char *breaker_profile; /* NULL: the default */
	const char *inherent[4];     /* warnings that valid captures may have: legal, but odd */
	const char *asked_for;	     /* the one of a feature that is there only where it is asked for */
	unsigned seeds;		     /* valid captures a profile */
	uint64_t sizes[3];	     /* of large captures; 0: no more */
	unsigned packed;	     /* compression may make them so many times smaller */
	size_t smallest;	     /* bytes of the first file that no choice at all makes */
	const char *start;	     /* `start_length` bytes at `start_at` of that file */
	size_t start_at, start_length;
};

static const struct generator generators[] = {
	{ .format = "fxt",
	  .profiles = { "latest", "2022" },
	  .breaker_profile = "2022",
	  .inherent = { "fxt/buffer-full", "fxt/large-record-over-4095-words" },
	  .seeds = 300,
	  .sizes = { 20000, 300000, 2000000 },
	  .smallest = 8,
	  .start = "\x10\x00\x04\x46\x78\x54\x16\x00",
	  .start_length = 8 },
	{ .format = "lttng",
	  .inherent = { "lttng/alignment-invalid" }, /* a power of two that is not the size of a pointer */
	  .profiles = { "wire", "literal" },
	  .seeds = 150,
	  .sizes = { 100000, 300000, 2000000 },
	  .smallest = 4096, /* declarations of nothing: one block, which holds its header */
	  .start = "\xed\xb7\xd6\x00\x02\x06\x04\x00",
	  .start_at = 16,
	  .start_length = 8 },
	{ .format = "uftrace", .asked_for = "uftrace/dat-depth-wrap", .seeds = 150, .sizes = { 100000, 300000, 2000000 } },
	{ .format = "ktrace", .inherent = { "ktrace/kernel-v3-magic" }, .seeds = 150, .sizes = { 20000, 300000, 2000000 } },
	{ .format = "tracedat", .seeds = 100, .sizes = { 200000, 2000000 }, .packed = 8 },
};

static struct tracemend_sample *make(const struct tracemend_recipe *recipe)
{
	struct tracemend_error error;
	struct tracemend_sample *s = tracemend_generate(recipe, &error);
	if (!s)
		fail_msg("%s, seed %u: %s", recipe->format, (unsigned)recipe->seed, error.message);
	return s;
}

static bool inherent(const struct generator *g, const char *rule)
{
	for (unsigned i = 0; i < 4; i++)
		if (g->inherent[i] && !strcmp(g->inherent[i], rule))
			return true;
	return false;
}

/* No error, no warning but the inherent ones, and as many records as were made. */
static void check_clean(const struct generator *g, const struct tracemend_sample *s, const char *profile, unsigned seed)
{
	struct tracemend_options options = { .format = g->format, .profile = profile };
	struct tracemend_error error;
	struct tracemend_input *in = tracemend_open_sample(s, &options, &error);
	struct tracemend_report *r = in ? tracemend_check(in, &options, &error) : NULL;
	if (!r)
		fail_msg("%s, seed %u: %s", g->format, seed, error.message);
	const struct tracemend_summary *m = tracemend_report_summary(r);
	assert_true(m->complete);
	if (m->records != tracemend_sample_records(s))
		fail_msg("%s, seed %u, %s: %llu records, not %llu", g->format, seed, profile ? profile : "",
			 (unsigned long long)m->records, (unsigned long long)tracemend_sample_records(s));
	for (size_t i = 0; i < tracemend_report_finding_count(r); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(r, i);
		if (f->severity == TM_ERROR || (f->severity == TM_WARNING && !inherent(g, f->rule->id)))
			fail_msg("%s, seed %u, %s: %s at %llu: %s", g->format, seed, profile ? profile : "", f->rule->id,
				 (unsigned long long)f->offset, f->message);
	}
	tracemend_report_free(r);
	tracemend_close(in);
}

static void valid_captures_check_clean(void **state)
{
	const struct generator *g = *state;
	for (unsigned p = 0; p == 0 || (p < 2 && g->profiles[p]); p++)
		for (unsigned seed = 1; seed <= g->seeds; seed++) {
			struct tracemend_recipe recipe = { .format = g->format, .profile = g->profiles[p], .seed = seed };
			struct tracemend_sample *s = make(&recipe);
			check_clean(g, s, g->profiles[p], seed);
			tracemend_sample_free(s);
		}
}

static void captures_of_a_size_are_about_as_large(void **state)
{
	const struct generator *g = *state;
	for (unsigned i = 0; i < 3 && g->sizes[i]; i++)
		for (unsigned seed = 1; seed <= 6; seed++) {
			struct tracemend_recipe recipe = { .format = g->format, .seed = seed, .size = g->sizes[i] };
			struct tracemend_sample *s = make(&recipe);
			size_t total = 0;
			for (size_t k = 0; k < tracemend_sample_file_count(s); k++) {
				const uint8_t *data;
				size_t size;
				(void)tracemend_sample_file(s, k, &data, &size);
				total += size;
			}
			assert_in_range(total, g->sizes[i] / 2 / (g->packed ? g->packed : 1), g->sizes[i] * 2);
			check_clean(g, s, NULL, seed);
			tracemend_sample_free(s);
		}
}

static void no_choice_makes_the_smallest_capture(void **state)
{
	const struct generator *g = *state;
	struct tracemend_recipe recipe = { .format = g->format, .choices = (const uint8_t *)"" };
	struct tracemend_sample *s = make(&recipe);
	check_clean(g, s, NULL, 0);
	if (g->smallest) {
		const uint8_t *data;
		size_t size;
		(void)tracemend_sample_file(s, 0, &data, &size);
		assert_int_equal(tracemend_sample_file_count(s), 1);
		assert_int_equal(size, g->smallest);
		assert_memory_equal(data + g->start_at, g->start, g->start_length);
	}
	tracemend_sample_free(s);
}

static void any_choices_make_a_valid_capture(void **state)
{
	const struct generator *g = *state;
	uint8_t choices[256];
	uint32_t drawn = 1;
	for (unsigned round = 0; round < 300; round++) {
		for (size_t i = 0; i < sizeof(choices); i++) {
			drawn = drawn * 1103515245 + 12345;
			choices[i] = (uint8_t)(drawn >> 16);
		}
		struct tracemend_recipe recipe = { .format = g->format,
						   .choices = choices,
						   .choices_size = round % sizeof(choices) };
		struct tracemend_sample *s = make(&recipe);
		check_clean(g, s, NULL, round);
		tracemend_sample_free(s);
	}
}

static bool same_files(const struct tracemend_sample *a, const struct tracemend_sample *b)
{
	if (tracemend_sample_file_count(a) != tracemend_sample_file_count(b))
		return false;
	for (size_t i = 0; i < tracemend_sample_file_count(a); i++) {
		const uint8_t *data[2];
		size_t size[2];
		const char *name[2] = { tracemend_sample_file(a, i, &data[0], &size[0]),
					tracemend_sample_file(b, i, &data[1], &size[1]) };
		if (strcmp(name[0], name[1]) || size[0] != size[1] || (size[0] && memcmp(data[0], data[1], size[0])))
			return false;
	}
	return true;
}

/* The same recipe gives the same bytes, and not every seed of a breaker the same ones. */
static void breakers_are_deterministic_and_vary(void **state)
{
	const struct generator *g = *state;
	for (size_t i = 0; i < tracemend_rule_count(g->format); i++) {
		const char *rule = tracemend_rule_at(g->format, i)->id;
		static const unsigned seeds[] = { 7, 7, 8 };
		struct tracemend_sample *s[3];
		for (unsigned k = 0; k < 3; k++) {
			struct tracemend_recipe recipe = {
				.format = g->format, .profile = g->breaker_profile, .rule = rule, .seed = seeds[k]
			};
			s[k] = make(&recipe);
			assert_true(tracemend_sample_expect_count(s[k]) > 0);
		}
		if (!same_files(s[0], s[1]))
			fail_msg("%s: one seed gives two captures", rule);
		if (same_files(s[0], s[2]))
			fail_msg("%s: two seeds give one capture", rule);
		for (unsigned k = 0; k < 3; k++)
			tracemend_sample_free(s[k]);
	}
}

/* With any feature, and without any, captures are valid, and tracemend_generate() itself says where one has or lacks it. Names are
 * there once. */
static void features_are_there_or_not(void **state)
{
	const struct generator *g = *state;
	struct generator asked = *g;
	const struct tracemend_feature *f;
	asked.inherent[3] = g->asked_for;
	for (size_t i = 0; (f = tracemend_feature_at(g->format, i)); i++) {
		const char *names[] = { f->name, NULL };
		assert_true(i < 64);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(tracemend_feature_at(g->format, k)->name, f->name);
		for (unsigned seed = 1; seed <= 24; seed++) {
			struct tracemend_recipe recipe = { .format = g->format, .seed = seed };
			*(seed % 2 ? &recipe.with : &recipe.without) = names;
			struct tracemend_sample *s = make(&recipe);
			check_clean(seed % 2 ? &asked : g, s, NULL, seed);
			tracemend_sample_free(s);
		}
	}
}

/* Those of an ordinary host are those without the features that it does not read, byte for byte. */
static void a_host_is_a_set_of_features(void **state)
{
	const struct generator *g = *state;
	const char *names[65] = { NULL };
	size_t count = 0;
	const struct tracemend_feature *f;
	for (size_t i = 0; (f = tracemend_feature_at(g->format, i)); i++)
		if (!f->host)
			names[count++] = f->name;
	for (unsigned seed = 1; seed <= 40; seed++) {
		const char *rule = seed % 2 ? NULL : tracemend_rule_at(g->format, seed)->id;
		struct tracemend_recipe host = { .format = g->format, .seed = seed, .rule = rule, .host = true };
		struct tracemend_recipe without = { .format = g->format, .seed = seed, .rule = rule, .without = names };
		struct tracemend_sample *a = make(&host), *b = make(&without);
		assert_true(same_files(a, b));
		tracemend_sample_free(a);
		tracemend_sample_free(b);
	}
}

static void every_failing_allocation_is_told(void **state)
{
	const struct generator *g = *state;
	for (size_t i = 0; i < tracemend_rule_count(g->format); i++)
		for (uint64_t nth = 1;; nth++) {
			struct tracemend_recipe recipe = { .format = g->format,
							   .rule = tracemend_rule_at(g->format, i)->id,
							   .seed = 3 };
			struct tracemend_error error;
			inject_arm(nth, false);
			struct tracemend_sample *s = tracemend_generate(&recipe, &error);
			const bool fired = inject.fired;
			if (fired ? s || error.status != TM_NO_MEMORY : !s)
				fail_msg("%s, allocation %llu: status %d", recipe.rule, (unsigned long long)nth, (int)error.status);
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
	int failed = 0;
	for (size_t i = 0; i < sizeof(generators) / sizeof(*generators); i++) {
		const struct generator *g = &generators[i];
		if (!format_wanted(g->format))
			continue;
		const struct CMUnitTest tests[] = {
			cmocka_unit_test_prestate(valid_captures_check_clean, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(captures_of_a_size_are_about_as_large, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(no_choice_makes_the_smallest_capture, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(any_choices_make_a_valid_capture, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(features_are_there_or_not, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(a_host_is_a_set_of_features, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(breakers_are_deterministic_and_vary, (void *)(uintptr_t)g),
			cmocka_unit_test_prestate(every_failing_allocation_is_told, (void *)(uintptr_t)g)
		};
		failed += cmocka_run_group_tests_name(g->format, tests, NULL, NULL);
	}
	return failed;
}
