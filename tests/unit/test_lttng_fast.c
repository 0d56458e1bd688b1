/* The loops of lttng_fast.c only pass over what is fine: whatever a capture holds, its report and its repair are the same when
 * lttng_walk.c looks at every event. The linker puts __wrap_lttng_fast() between the two (see the Makefile).
 *
 * Over the corpus, and over generated captures, whole and damaged; FAST_CAPTURES=10000 in the environment asks for more of these.
 * Arguments are captures that are compared as well. */
#include "unit.h"

#include <dirent.h>

#include "../../fuzz/capture.h"
#include "../../fuzz/oracle.h"
#include "core/choices.h"
#include "engine/engine.h"
#include "formats/lttng/scan/lttng_walk.h"

#define CAPTURES_DEFAULT 900u

void __real_lttng_fast(struct lttng_trace *t, struct lttng_walk *k);
void __wrap_lttng_fast(struct lttng_trace *t, struct lttng_walk *k);

static struct {
	bool off;
	uint64_t passed; /* events, by the loops */
} fast;

void __wrap_lttng_fast(struct lttng_trace *t, struct lttng_walk *k)
{
	uint64_t before = k->events;
	if (fast.off)
		return;
	__real_lttng_fast(t, k);
	fast.passed += k->events - before;
}

struct tally {
	unsigned captures, repaired;
	uint64_t records, errors;
};

/* ---- the same, whichever way ---- */

/* With the loops, or without. */
struct way {
	struct tracemend_error check_error, repair_error;
	struct tracemend_report *report;
	struct tracemend_repair *repair;
};

static struct way go(struct tracemend_input *input, const struct tracemend_options *options, bool without)
{
	struct way w = { 0 };
	fast.off = without;
	w.report = tracemend_check(input, options, &w.check_error);
	w.repair = tracemend_repair(input, options, &w.repair_error);
	fast.off = false;
	return w;
}

static void way_free(struct way *w)
{
	tracemend_report_free(w->report);
	tracemend_repair_free(w->repair);
}

/* The same capture, opened twice; closes both. */
static void compare(struct tracemend_input *one, struct tracemend_input *other, const struct tracemend_options *options,
		    struct tally *t)
{
	assert_non_null(one);
	assert_non_null(other);
	struct way with = go(one, options, false), without = go(other, options, true);

	assert_int_equal(with.check_error.status, without.check_error.status);
	assert_int_equal(with.repair_error.status, without.repair_error.status);
	assert_string_equal(with.repair_error.message, without.repair_error.message);
	assert_int_equal(with.report == NULL, without.report == NULL);
	assert_int_equal(with.repair == NULL, without.repair == NULL);
	char *one_text = oracle_text(with.report, with.repair), *other_text = oracle_text(without.report, without.repair);
	assert_string_equal(one_text, other_text);
	free(one_text);
	free(other_text);
	if (with.report) {
		t->captures++;
		t->records += tracemend_report_summary(with.report)->records;
		t->errors += tracemend_report_summary(with.report)->errors;
	}
	if (with.repair)
		t->repaired += tracemend_repair_outcome(with.repair)->changed;
	way_free(&with);
	way_free(&without);
	tracemend_close(one);
	tracemend_close(other);
}

static struct tracemend_input *open_capture(const struct capture *c, const struct tracemend_options *options)
{
	struct tracemend_error error = { 0 };
	struct bundle *b = capture_bundle(c, options, NULL);
	return b ? input_from_bundle(b, &error) : NULL;
}

static void compare_capture(const struct capture *c, const char *profile, size_t window, struct tally *t)
{
	const struct tracemend_options options = {
		.format = "lttng", .profile = profile, .max_findings = 64, .window = window, .facts = true
	};
	compare(open_capture(c, &options), open_capture(c, &options), &options, t);
}

static void tell(const char *what, const struct tally *t)
{
	print_message("fast: %s: %u captures, %u of them repaired, %llu errors, %llu records; the loops passed over %llu events\n",
		      what, t->captures, t->repaired, (unsigned long long)t->errors, (unsigned long long)t->records,
		      (unsigned long long)fast.passed);
	fast.passed = 0;
}

/* ---- the corpus ---- */

static void compare_file(const char *path, struct tally *t)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size_t size = (size_t)ftell(f);
	rewind(f);
	uint8_t *data = malloc(size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, size, f), size);
	fclose(f);

	struct capture c;
	capture_parse(&c, data, size);
	compare_capture(&c, strstr(path, "literal") ? "literal" : NULL, 0, t);
	capture_free(&c);
	free(data);
}

static void test_corpus(void **state)
{
	static const char *const kinds[] = { "valid", "invalid", "damaged", "regress" };
	struct tally t = { 0 };
	(void)state;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		char folder[64], path[384];
		struct dirent **list;
		snprintf(folder, sizeof(folder), "corpus/lttng/%s", kinds[k]);
		int n = scandir(folder, &list, NULL, alphasort);
		for (int i = 0; i < n; i++) {
			snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
			if (list[i]->d_name[0] != '.')
				compare_file(path, &t);
			free(list[i]);
		}
		if (n >= 0)
			free(list);
	}
	tell("corpus", &t);
	assert_true(t.captures > 0);
}

/* ---- generated captures ---- */

/* Other values for a few bytes, at places that the seed names; sometimes for all of a short range. */
static void spoil(struct capture *c, uint64_t seed)
{
	struct choices d = choices_from_seed(seed);
	for (uint64_t left = 1 + choices_below(&d, 4); left; left--) {
		struct capture_file *f = &c->files[choices_below(&d, c->count)];
		if (!f->size)
			continue;
		if (!f->owned) {
			f->owned = malloc(f->size);
			assert_non_null(f->owned);
			memcpy(f->owned, f->data, f->size);
			f->data = f->owned;
		}
		size_t at = (size_t)choices_below(&d, f->size), length = choices_below(&d, 4) ? 1 : (size_t)choices_below(&d, 64);
		uint8_t value = (uint8_t)choices_below(&d, 256);
		for (size_t i = at; i < at + length && i < f->size; i++)
			f->owned[i] = value;
	}
}

static void test_generated(void **state)
{
	static const uint64_t sizes[] = { 0, 6000, 40000 };
	static const size_t windows[] = { 0, 1, 4096, 65536 };
	const char *text = getenv("FAST_CAPTURES");
	unsigned count = text ? (unsigned)strtoul(text, NULL, 10) : CAPTURES_DEFAULT;
	size_t rules = tracemend_rule_count("lttng");
	struct tally t = { 0 };
	(void)state;

	for (unsigned i = 0; i < count; i++) {
		/* Valid, with a rule broken, with one of the recorder's damages; most with bytes spoilt. */
		unsigned kind = i % 6, round = i / 6;
		struct tracemend_recipe recipe = {
			.format = "lttng", .profile = i % 5 ? NULL : "literal", .seed = i, .size = sizes[round % 3]
		};
		if (kind == 1)
			recipe.rule = tracemend_rule_at("lttng", round % rules)->id;
		if (kind == 2)
			recipe.damage = (enum tracemend_damage)(1 + round % (TM_DAMAGE_COUNT - 1));
		struct tracemend_error error = { 0 };
		struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
		if (!sample && error.status == TM_USAGE) /* a rule that the profile does not have */
			continue;
		assert_non_null(sample);
		struct capture c;
		capture_from_sample(&c, sample);
		if (kind > 2)
			spoil(&c, i);
		compare_capture(&c, recipe.profile, windows[round / 3 % 4], &t);
		capture_free(&c);
		tracemend_sample_free(sample);
	}
	tell("generated", &t);
	assert_true(t.repaired > 0);
}

/* ---- captures that are named ---- */

static void compare_path(const char *path)
{
	const struct tracemend_options options = { .format = "lttng", .max_findings = 64, .facts = true };
	struct tracemend_error error = { 0 };
	struct tally t = { 0 };
	compare(tracemend_open(path, &options, &error), tracemend_open(path, &options, &error), &options, &t);
	tell(path, &t);
}

static void test_named(void **state)
{
	for (char **path = *state; *path; path++)
		compare_path(*path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus), cmocka_unit_test(test_generated),
					    cmocka_unit_test_prestate(test_named, argv + (argc > 0)) };
	return RUN(tests);
}
