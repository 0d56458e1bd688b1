/* core/plan_runs.c: equal edits that come again and again are one entry, and nothing that a plan says is another for it. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/choices.h"
#include "core/plan.h"

#define SIZE 16384u

static const struct tracemend_rule rules[] = {
	{ "toy/one", "toy", TM_ERROR, "malformed", "one", "-", "-", "-", false },
	{ "toy/two", "toy", TM_ERROR, "malformed", "two", "-", "-", "-", false },
};

struct fixture {
	uint8_t data[SIZE];
	struct capture capture;
	struct bundle *bundle;
	struct source *source;
	struct plan *plan;
	/* What the plan was told, in the plainest form. */
	uint8_t out[4 * SIZE];
	size_t out_size;
	uint8_t fate[SIZE]; /* 'k', 'd'; doubtful: upper case */
};

static struct fixture f;

static int set_up(void **state)
{
	(void)state;
	f = (struct fixture){ .capture = { .count = 1 } };
	for (size_t i = 0; i < SIZE; i++)
		f.data[i] = (uint8_t)(i * 7 + i / 251);
	f.capture.files[0].data = f.data;
	f.capture.files[0].size = SIZE;
	f.bundle = capture_bundle(&f.capture, NULL, NULL);
	f.source = f.bundle ? bundle_single(f.bundle) : NULL;
	f.plan = f.bundle ? plan_new(f.bundle, rules, 2) : NULL;
	return f.plan ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	plan_free(f.plan);
	bundle_free(f.bundle);
	return 0;
}

static void copy(uint64_t from, uint64_t length)
{
	plan_copy(f.plan, plan_output(f.plan, ""), f.source, from, length);
	memcpy(f.out + f.out_size, f.data + from, length);
	f.out_size += length;
	memset(f.fate + from, 'k', length);
}

static void literal(const char *bytes, size_t length, unsigned rule)
{
	plan_literal(f.plan, plan_output(f.plan, ""), bytes, length, rule, rule ? "second" : "first");
	memcpy(f.out + f.out_size, bytes, length);
	f.out_size += length;
}

static void drop(uint64_t from, uint64_t length, unsigned rule)
{
	plan_drop(f.plan, f.source, from, length, rule, rule ? "second" : "first");
	memset(f.fate + from, 'd', length);
}

static void doubt(uint64_t from, uint64_t length)
{
	plan_doubt(f.plan, f.source, from, length, "doubt");
	for (size_t i = 0; i < length; i++)
		f.fate[from + i] = (uint8_t)(f.fate[from + i] & ~0x20u);
}

/* Reads the whole output, and windows of it, and compares the lists with what the plan was told. */
static void holds(struct plan *p)
{
	struct tracemend_error error = { 0 };
	static uint8_t out[4 * SIZE];
	uint8_t fate[SIZE] = { 0 };

	assert_int_equal(plan_verify(p, &error), TM_OK);
	assert_int_equal(plan_size(p, 0), f.out_size);
	assert_int_equal(plan_read(p, 0, 0, out, f.out_size), TM_OK);
	assert_memory_equal(out, f.out, f.out_size);
	struct choices c = choices_from_seed(f.out_size);
	for (unsigned i = 0; i < 500; i++) {
		size_t from = choices_below(&c, f.out_size), length = choices_below(&c, f.out_size - from + 1);
		if (length > 64 && choices_chance(&c, 3, 4))
			length = 64;
		assert_int_equal(plan_read(p, 0, from, out, length), TM_OK);
		assert_memory_equal(out, f.out + from, length);
	}
	for (size_t i = 0; i < plan_segment_count(p, 0); i++) {
		struct tracemend_segment s = plan_segment_at(p, 0, i);
		for (uint64_t t = 0; t < s.times; t++) {
			uint64_t at = s.offset + t * s.repeat_offset, from = s.from + t * s.repeat_from;
			assert_true(at + s.length <= f.out_size);
			assert_memory_equal(s.bytes ? s.bytes : f.data + from, f.out + at, s.length);
			if (!s.bytes)
				memset(fate + from, 'k', s.length);
		}
	}
	for (size_t i = 0; i < plan_dropped_count(p); i++) {
		struct tracemend_range r = plan_dropped_at(p, i);
		for (uint64_t t = 0; t < r.times; t++)
			memset(fate + r.from + t * r.repeat_from, 'd', r.length);
	}
	for (size_t i = 0; i < plan_doubtful_count(p); i++) {
		struct tracemend_range r = plan_doubtful_at(p, i);
		for (uint64_t t = 0; t < r.times; t++)
			for (uint64_t k = 0; k < r.length; k++) {
				uint8_t *byte = &fate[r.from + t * r.repeat_from + k];
				assert_true(*byte & 0x20); /* each is doubted once */
				*byte &= (uint8_t)~0x20u;
			}
	}
	assert_memory_equal(fate, f.fate, SIZE);
}

/* A field of each record of 16 bytes is replaced: 1,024 edits. */
static void replace_all(void)
{
	for (uint64_t at = 0; at < SIZE; at += 16) {
		copy(at, 4);
		drop(at + 4, 2, 0);
		literal("XY", 2, 0);
		copy(at + 6, 10);
		doubt(at + 8, 2);
	}
}

static void a_thousand_edits_are_a_few_entries(void **state)
{
	(void)state;
	replace_all();
	holds(f.plan);
	assert_in_range(plan_segment_count(f.plan, 0), 3, 8);
	assert_in_range(plan_dropped_count(f.plan), 1, 3);
	assert_in_range(plan_doubtful_count(f.plan), 1, 3);
	uint64_t dropped = 0;
	for (size_t i = 0; i < plan_dropped_count(f.plan); i++)
		dropped += plan_dropped_at(f.plan, i).times;
	assert_int_equal(dropped, SIZE / 16);
}

static void three_edits_are_three(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 48; at += 16) {
		copy(at, 14);
		drop(at + 14, 2, 0);
	}
	copy(48, SIZE - 48);
	holds(f.plan);
	for (size_t i = 0; i < plan_segment_count(f.plan, 0); i++)
		assert_int_equal(plan_segment_at(f.plan, 0, i).times, 1);
	assert_int_equal(plan_dropped_count(f.plan), 3);
}

/* What breaks the pattern: another rule, other bytes, another length, another distance. */
static void what_differs_is_told(void **state)
{
	(void)state;
	for (uint64_t i = 0, at = 0; i < 400; i++, at += 16) {
		copy(at, 8);
		drop(at + 8, 2, i == 100);
		literal(i == 200 ? "xy" : "XY", i == 300 ? 1 : 2, i == 100);
		if (i == 350) {
			copy(at + 10, 22);
			at += 16;
		} else {
			copy(at + 10, 6);
		}
	}
	copy(401 * 16, SIZE - 401 * 16);
	holds(f.plan);
	assert_in_range(plan_segment_count(f.plan, 0), 10, 80);
}

/* The same text for another rule is another reason. */
static void another_rule_ends_a_run(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < SIZE; at += 16) {
		copy(at, 14);
		plan_drop(f.plan, f.source, at + 14, 2, at >= SIZE / 2, "gone");
		memset(f.fate + at + 14, 'd', 2);
	}
	holds(f.plan);
	uint64_t second = 0;
	for (size_t i = 0; i < plan_dropped_count(f.plan); i++) {
		struct tracemend_range r = plan_dropped_at(f.plan, i);
		if (r.rule == &rules[1])
			second += r.times;
	}
	assert_int_equal(second, SIZE / 32);
}

static void a_gap_in_a_run_is_refused(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	for (uint64_t at = 0; at < SIZE; at += 16) {
		copy(at, 14);
		if (at < SIZE - 16)
			drop(at + 14, 2, 0);
	}
	assert_int_equal(plan_verify(f.plan, &error), TM_BUG);
	assert_non_null(strstr(error.message, "not accounted for"));
}

static void a_run_that_overlaps_is_refused(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	for (uint64_t at = 0; at < SIZE; at += 16) {
		copy(at, 14);
		drop(at + (at < 8000 ? 14 : 13), at < 8000 ? 2 : 3, 0);
	}
	assert_int_equal(plan_verify(f.plan, &error), TM_BUG);
	assert_non_null(strstr(error.message, "accounted for twice"));
}

/* Any mix of periods and single edits. */
static void random_plans(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct choices c = choices_from_seed(seed);
		uint64_t at = 0;
		while (at < SIZE) {
			uint64_t keep = 1 + choices_below(&c, 20), gone = choices_below(&c, 5), put = choices_below(&c, 4);
			uint64_t times = choices_chance(&c, 1, 2) ? 1 + choices_below(&c, 3) : choices_below(&c, 200);
			unsigned rule = (unsigned)choices_below(&c, 2);
			bool doubtful = choices_chance(&c, 1, 3);
			for (; times && at + keep + gone <= SIZE; times--) {
				copy(at, keep);
				if (doubtful)
					doubt(at, 1);
				at += keep;
				if (gone)
					drop(at, gone, rule);
				at += gone;
				if (put)
					literal("abcd", put, rule);
			}
			if (at + 40 > SIZE) {
				copy(at, SIZE - at);
				at = SIZE;
			}
		}
		holds(f.plan);
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

/* Doubts in any order, some of them over others. */
static void doubts_overlap(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct choices c = choices_from_seed(seed);
		copy(0, SIZE);
		for (uint64_t n = choices_below(&c, 6); n--;) {
			uint64_t at = choices_below(&c, SIZE), length = 1 + choices_below(&c, 40), step = 1 + choices_below(&c, 60);
			uint64_t times = choices_chance(&c, 1, 2) ? 1 : 1 + choices_below(&c, 100);
			for (; times && at + length <= SIZE; times--, at += step)
				doubt(at, length);
		}
		holds(f.plan);
		for (size_t i = 1; i < plan_doubtful_count(f.plan); i++)
			assert_true(plan_doubtful_at(f.plan, i - 1).from < plan_doubtful_at(f.plan, i).from);
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

/* Of two reasons the one in front holds; the other one begins behind it. */
static void doubts_for_two_reasons(void **state)
{
	(void)state;
	struct tracemend_error error = { 0 };
	plan_copy(f.plan, plan_output(f.plan, ""), f.source, 0, SIZE);
	plan_doubt(f.plan, f.source, 40, 20, "late");
	plan_doubt(f.plan, f.source, 10, 40, "early");
	plan_doubt(f.plan, f.source, 20, 10, "inside");
	assert_int_equal(plan_verify(f.plan, &error), TM_OK);
	assert_int_equal(plan_doubtful_count(f.plan), 2);
	assert_string_equal(plan_doubtful_at(f.plan, 0).why, "early");
	assert_int_equal(plan_doubtful_at(f.plan, 0).length, 40);
	assert_string_equal(plan_doubtful_at(f.plan, 1).why, "late");
	assert_int_equal(plan_doubtful_at(f.plan, 1).from, 50);
	assert_int_equal(plan_doubtful_at(f.plan, 1).length, 10);
}

/* A second plan over what the first would write: bytes and counts as if both had been written. */
static void a_run_behind_a_run(void **state)
{
	struct tracemend_error error = { 0 };
	(void)state;
	replace_all();
	assert_int_equal(plan_verify(f.plan, &error), TM_OK);
	struct bundle *written = plan_bundle(f.plan, NULL, &error);
	assert_non_null(written);
	struct plan *next = plan_new(written, rules, 2);
	assert_non_null(next);
	struct source *s = bundle_single(written);
	size_t size = 0;
	for (uint64_t at = 0; at < SIZE; at += 32) { /* the Y of each second record, and two bytes behind it */
		plan_copy(next, plan_output(next, ""), s, at, 5);
		plan_replace(next, 0, s, at + 5, 3, "--", 2, 1, "again");
		plan_copy(next, 0, s, at + 8, 24);
		memmove(f.out + size, f.out + at, 5);
		memcpy(f.out + size + 5, "--", 2);
		memmove(f.out + size + 7, f.out + at + 8, 24);
		size += 31;
		memset(f.fate + at + 6, 'd', 2);
	}
	f.out_size = size;
	assert_int_equal(plan_verify(next, &error), TM_OK);
	assert_int_equal(plan_compose(f.plan, next, written), TM_OK);
	plan_free(next);
	bundle_free(written);
	holds(f.plan);
	assert_in_range(plan_segment_count(f.plan, 0), 4, 20);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_thousand_edits_are_a_few_entries),
		T(three_edits_are_three),
		T(what_differs_is_told),
		T(another_rule_ends_a_run),
		T(a_gap_in_a_run_is_refused),
		T(a_run_that_overlaps_is_refused),
		T(random_plans),
		T(doubts_overlap),
		T(doubts_for_two_reasons),
		T(a_run_behind_a_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
