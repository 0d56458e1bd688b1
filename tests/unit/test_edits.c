/* core/edits.h: the same edits give the same bytes in a plan and in memory, whatever their order, and the plan adds up (P4). */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "../../fuzz/inject.h"
#include "core/edits.h"

static const struct tracemend_rule rules[] = {
	{ "toy/one", "toy", TM_ERROR, "malformed", "one", "-", "-", "-", false },
	{ "toy/two", "toy", TM_ERROR, "malformed", "two", "-", "-", "-", false },
};

static const char text[] = "0123456789abcdefghijklmnopqrstuv";
#define SIZE 32u

/* A source with that text, and an empty plan for it. */
struct fixture {
	struct capture capture;
	struct bundle *bundle;
	struct plan *plan;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){ .capture = { .count = 1 } };
	f->capture.files[0].data = (const uint8_t *)text;
	f->capture.files[0].size = SIZE;
	f->bundle = capture_bundle(&f->capture, NULL, NULL);
	assert_non_null(f->bundle);
	f->plan = plan_new(f->bundle, rules, 2);
	assert_non_null(f->plan);
	(void)plan_output(f->plan, "");
}

static void tear_down(struct fixture *f)
{
	plan_free(f->plan);
	bundle_free(f->bundle);
}

static void assert_written(struct fixture *f, const char *expected)
{
	char written[512] = "";
	size_t size = strlen(expected);

	assert_int_equal(plan_status(f->plan), TM_OK);
	assert_int_equal(plan_size(f->plan, 0), size);
	assert_int_equal(plan_read(f->plan, 0, 0, written, size), TM_OK);
	written[size] = '\0';
	assert_string_equal(written, expected);
}

static void assert_adds_up(struct fixture *f)
{
	struct tracemend_error error = { 0 };
	assert_int_equal(plan_verify(f->plan, &error), TM_OK);
}

/* Applies the edits to the whole text, in a plan that must add up and in memory, and frees them. */
static void expect(struct edits *e, const char *expected)
{
	struct fixture f;
	struct bytes out = { 0 };

	assert_false(e->failed);
	assert_int_equal(edits_size(e, SIZE), strlen(expected));
	set_up(&f);
	edits_apply(e, f.plan, 0, bundle_single(f.bundle), 0, 0, SIZE);
	assert_written(&f, expected);
	assert_adds_up(&f);
	tear_down(&f);
	edits_apply_bytes(e, (const uint8_t *)text, SIZE, &out);
	assert_false(out.failed);
	assert_int_equal(out.size, strlen(expected));
	assert_memory_equal(out.data, expected, out.size);
	bytes_free(&out);
	edits_free(e);
}

static void replace(struct edits *e, uint64_t at, uint64_t remove, const char *by)
{
	edits_add(e, at, remove, by, strlen(by), 0, "");
}

static void no_edit_is_a_copy(void **state)
{
	struct edits e = { 0 };
	(void)state;
	expect(&e, text);
}

static void bytes_are_replaced_inserted_and_left_out(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 20, 4, "");	   /* left out */
	replace(&e, 4, 2, "WXYZ"); /* longer */
	replace(&e, 10, 0, "++");  /* inserted */
	replace(&e, 12, 3, "-");   /* shorter */
	expect(&e, "0123WXYZ6789++ab-fghijopqrstuv");
}

static void the_edges_of_the_range(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 0, 0, "<");
	replace(&e, SIZE, 0, ">");
	replace(&e, 0, 1, "A");
	replace(&e, SIZE - 1, 1, "Z");
	expect(&e, "<A123456789abcdefghijklmnopqrstuZ>");
	replace(&e, 0, SIZE, "");
	expect(&e, "");
	replace(&e, 0, SIZE, "all");
	replace(&e, SIZE, 0, "!");
	expect(&e, "all!");
}

static void insertions_keep_the_order_in_which_they_were_added(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 8, 0, "a");
	replace(&e, 30, 0, "x"); /* one further on between them */
	replace(&e, 8, 0, "b");
	replace(&e, 8, 2, "-"); /* a replacement comes after all insertions at its place */
	replace(&e, 8, 0, "c");
	expect(&e, "01234567abc-abcdefghijklmnopqrstxuv");
}

static void of_two_that_replace_the_same_range_the_later_one_holds(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 8, 4, "first");
	replace(&e, 8, 4, "second");
	expect(&e, "01234567secondcdefghijklmnopqrstuv");
	replace(&e, 8, 4, "long");
	replace(&e, 8, 1, "short");
	expect(&e, "01234567short9abcdefghijklmnopqrstuv");
}

/* The one that begins first holds; the other one is not applied at all. */
static void edits_that_begin_inside_of_another_are_passed_over(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 10, 4, "inner");
	replace(&e, 8, 4, "outer");
	replace(&e, 11, 1, "");
	replace(&e, 12, 1, "next");
	expect(&e, "01234567outernextdefghijklmnopqrstuv");
}

static void an_insertion_inside_of_a_replaced_range_follows_it(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 10, 0, "+");
	replace(&e, 8, 4, "-");
	replace(&e, 11, 0, "*");
	replace(&e, 11, 2, "never");
	expect(&e, "01234567-+*cdefghijklmnopqrstuv");
	replace(&e, 31, 1, "");
	replace(&e, 30, 2, "");
	replace(&e, 31, 0, "end");
	expect(&e, "0123456789abcdefghijklmnopqrstend");
}

static void ranges_move_both_ways(void **state)
{
	struct edits e = { 0 };

	(void)state;
	edits_move(&e, 20, 4, 4, 0);
	expect(&e, "0123klmn456789abcdefghijopqrstuv");
	edits_move(&e, 4, 4, 20, 0);
	expect(&e, "012389abcdefghij4567klmnopqrstuv");
	edits_move(&e, 0, 2, SIZE, 0);
	edits_move(&e, 30, 2, 0, 0);
	expect(&e, "uv23456789abcdefghijklmnopqrst01");
	/* With others beside them and between. */
	replace(&e, 3, 1, "#");
	edits_move(&e, 20, 4, 4, 0);
	replace(&e, 4, 0, "+");
	replace(&e, 24, 1, "");
	replace(&e, 21, 1, "inside");
	expect(&e, "012#klmn+456789abcdefghijpqrstuv");
}

static void a_range_that_is_skipped_is_the_callers_to_drop(void **state)
{
	struct edits e = { 0 };
	struct fixture f;

	(void)state;
	set_up(&f);
	plan_drop(f.plan, bundle_single(f.bundle), 8, 4, 1, "by the caller");
	replace(&e, 8, 0, "new");
	edits_skip(&e, 8, 4);
	edits_apply(&e, f.plan, 0, bundle_single(f.bundle), 0, 0, SIZE);
	assert_written(&f, "01234567newcdefghijklmnopqrstuv");
	assert_adds_up(&f);
	assert_int_equal(plan_dropped_count(f.plan), 1);
	assert_string_equal(plan_dropped_at(f.plan, 0).why, "by the caller");
	tear_down(&f);
	edits_free(&e);
}

static void a_part_of_a_source_is_edited_from_its_base(void **state)
{
	struct edits e = { 0 };
	struct fixture f;

	(void)state;
	set_up(&f);
	replace(&e, 2, 0, "before");
	replace(&e, 4, 0, "<");
	replace(&e, 6, 2, "--");
	edits_move(&e, 10, 2, 5, 0);
	replace(&e, 12, 0, ">");
	replace(&e, 13, 1, "after");
	/* Offsets count from 8: text[12, 20) is [4, 12). */
	edits_apply(&e, f.plan, 0, bundle_single(f.bundle), 8, 4, 12);
	assert_written(&f, "<cijd--gh>");
	tear_down(&f);
	set_up(&f);
	edits_apply(&e, f.plan, 0, bundle_single(f.bundle), 8, 3, 3);
	assert_written(&f, "");
	tear_down(&f);
	edits_free(&e);
}

static void drops_and_literals_have_their_rule_and_reason(void **state)
{
	struct edits e = { 0 };
	struct fixture f;

	(void)state;
	set_up(&f);
	edits_add(&e, 4, 2, "XY", 2, 1, "replaced");
	edits_add(&e, 20, 3, NULL, 0, 0, "left out");
	edits_apply(&e, f.plan, 0, bundle_single(f.bundle), 0, 0, SIZE);
	assert_int_equal(plan_dropped_count(f.plan), 2);
	assert_string_equal(plan_dropped_at(f.plan, 0).why, "replaced");
	assert_ptr_equal(plan_dropped_at(f.plan, 0).rule, &rules[1]);
	assert_string_equal(plan_dropped_at(f.plan, 1).why, "left out");
	assert_ptr_equal(plan_dropped_at(f.plan, 1).rule, &rules[0]);
	assert_int_equal(plan_dropped_at(f.plan, 1).from, 20);
	assert_int_equal(plan_dropped_at(f.plan, 1).length, 3);
	assert_adds_up(&f);
	tear_down(&f);
	edits_free(&e);
}

static void cleared_edits_are_none_and_may_be_used_again(void **state)
{
	struct edits e = { 0 };

	(void)state;
	replace(&e, 4, 2, "WXYZ");
	edits_clear(&e);
	assert_int_equal(e.count, 0);
	assert_int_equal(edits_size(&e, SIZE), SIZE);
	replace(&e, 8, 1, "!");
	expect(&e, "01234567!9abcdefghijklmnopqrstuv");
}

/* ---- against a model ---- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % below;
}

/* Byte for byte: what is inserted before each, what replaces it, and whether it is there still. */
struct model {
	char insert[SIZE + 1][64], replace[SIZE + 1][8];
	uint64_t remove[SIZE + 1]; /* of the replacement that begins there; 0: none */
};

static void model_write(const struct model *m, char *out)
{
	uint64_t gone = 0; /* end of what is replaced */

	for (uint64_t i = 0; i <= SIZE; i++) {
		out = stpcpy(out, m->insert[i]);
		if (m->remove[i] && i >= gone) {
			out = stpcpy(out, m->replace[i]);
			gone = i + m->remove[i];
		}
		if (i >= gone && i < SIZE)
			*out++ = text[i];
	}
	*out = '\0';
}

static void any_edits_in_any_order(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct edits e = { 0 };
		struct model m = { 0 };
		char expected[SIZE * 80];
		for (uint64_t n = draw(&random, 9); n; n--) {
			uint64_t at = draw(&random, SIZE + 1), remove = draw(&random, 2) ? draw(&random, 7) : 0;
			size_t length = (size_t)draw(&random, 4);
			char by[8] = { 0 };
			remove = remove > SIZE - at ? SIZE - at : remove;
			for (size_t i = 0; i < length; i++)
				by[i] = (char)('A' + draw(&random, 26));
			replace(&e, at, remove, by);
			if (remove) {
				m.remove[at] = remove;
				memcpy(m.replace[at], by, sizeof(by));
			} else {
				strcat(m.insert[at], by);
			}
		}
		model_write(&m, expected);
		expect(&e, expected);
	}
}

/* ---- failures ---- */

static void a_failure_is_sticky_and_leaks_nothing(void **state)
{
	unsigned fired = 0;

	(void)state;
	for (uint64_t fail_at = 1; fail_at <= 20; fail_at++) {
		struct edits e = { 0 };
		inject_arm(fail_at, false);
		for (unsigned i = 0; i < 400; i++) {
			replace(&e, i % SIZE, i % 2, "0123456789012345678901234567890123456789");
			edits_move(&e, 20, 4, 4, 0);
			edits_skip(&e, 1, 2);
		}
		if (inject.fired) {
			size_t count = e.count;
			fired++;
			assert_true(e.failed);
			replace(&e, 4, 1, "x");
			edits_skip(&e, 1, 2);
			edits_move(&e, 4, 1, 9, 0);
			assert_int_equal(e.count, count);
			edits_clear(&e);
			assert_true(e.failed);
		} else {
			assert_false(e.failed);
			assert_int_equal(e.count, 4 * 400);
		}
		edits_free(&e);
		assert_int_equal(inject.live, 0);
		inject_disarm();
		assert_false(e.failed);
	}
	assert_true(fired > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_edit_is_a_copy),
		cmocka_unit_test(bytes_are_replaced_inserted_and_left_out),
		cmocka_unit_test(the_edges_of_the_range),
		cmocka_unit_test(insertions_keep_the_order_in_which_they_were_added),
		cmocka_unit_test(of_two_that_replace_the_same_range_the_later_one_holds),
		cmocka_unit_test(edits_that_begin_inside_of_another_are_passed_over),
		cmocka_unit_test(an_insertion_inside_of_a_replaced_range_follows_it),
		cmocka_unit_test(ranges_move_both_ways),
		cmocka_unit_test(a_range_that_is_skipped_is_the_callers_to_drop),
		cmocka_unit_test(a_part_of_a_source_is_edited_from_its_base),
		cmocka_unit_test(drops_and_literals_have_their_rule_and_reason),
		cmocka_unit_test(cleared_edits_are_none_and_may_be_used_again),
		cmocka_unit_test(any_edits_in_any_order),
		cmocka_unit_test(a_failure_is_sticky_and_leaks_nothing),
	};
	return RUN(tests);
}
