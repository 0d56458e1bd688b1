/* core/plan.h: what adds up is accepted, what does not is refused (P4), and outputs read as they will be written. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/limits.h"
#include "core/plan.h"

static const struct tracemend_rule rules[] = {
	{ "toy/one", "toy", TM_ERROR, "malformed", "one", "-", "-", "-", false },
	{ "toy/two", "toy", TM_ERROR, "malformed", "two", "-", "-", "-", false },
};

static const char text[] = "0123456789abcdef";

struct fixture {
	struct capture capture;
	struct bundle *bundle;
	struct source *source;
	struct plan *plan;
};

static int set_up(void **state)
{
	static struct fixture f;
	f = (struct fixture){ .capture = { .count = 1 } };
	f.capture.files[0].data = (const uint8_t *)text;
	f.capture.files[0].size = 16;
	f.bundle = capture_bundle(&f.capture, NULL, NULL);
	f.source = f.bundle ? bundle_single(f.bundle) : NULL;
	f.plan = f.bundle ? plan_new(f.bundle, rules, 2) : NULL;
	*state = &f;
	return f.plan ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	plan_free(f->plan);
	bundle_free(f->bundle);
	return 0;
}

static void refused(struct fixture *f)
{
	struct tracemend_error error = { 0 };
	assert_int_equal(plan_verify(f->plan, &error), TM_BUG);
	assert_int_equal(error.status, TM_BUG);
	assert_true(*error.message);
}

static void accepted(struct fixture *f)
{
	struct tracemend_error error = { 0 };
	assert_int_equal(plan_verify(f->plan, &error), TM_OK);
	assert_int_equal(plan_status(f->plan), TM_OK);
}

static void a_whole_plan(void **state)
{
	struct fixture *f = *state;
	char out[64] = "";
	unsigned o = plan_output(f->plan, "");
	plan_copy(f->plan, o, f->source, 0, 4);
	plan_copy(f->plan, o, f->source, 4, 2); /* merges */
	plan_literal(f->plan, o, "!!", 2, 0, "size");
	plan_drop(f->plan, f->source, 6, 2, 1, "damaged");
	(void)plan_replace(f->plan, o, f->source, 8, 2, "XYZ", 3, 1, "replaced");
	plan_copy(f->plan, o, f->source, 10, 6);
	plan_copy_again(f->plan, o, f->source, 0, 2, 0, "registered again");
	plan_doubt(f->plan, f->source, 12, 1, "stale");
	plan_kept(f->plan, 5);
	plan_lost(f->plan, 1, TM_EXACT);
	accepted(f);
	assert_int_equal(plan_size(f->plan, o), 19);
	assert_int_equal(plan_read(f->plan, o, 0, out, 19), TM_OK);
	assert_memory_equal(out, "012345!!XYZabcdef01", 19);
	for (size_t from = 0; from < 19; from++) {
		memset(out, 0, sizeof(out));
		assert_int_equal(plan_read(f->plan, o, from, out, 19 - from), TM_OK);
		assert_memory_equal(out, &"012345!!XYZabcdef01"[from], 19 - from);
	}
	assert_int_not_equal(plan_read(f->plan, o, 0, out, 20), TM_OK);
	assert_int_equal(plan_segment_at(f->plan, o, 0).length, 6);
	assert_int_equal(plan_dropped_count(f->plan), 2);
	assert_int_equal(plan_doubtful_count(f->plan), 1);
	assert_string_equal(plan_dropped_at(f->plan, 0).rule->id, "toy/two");
	assert_true(plan_outcome(f->plan).changed);
	assert_true(plan_outcome(f->plan).lost);
	assert_false(plan_is_identity(f->plan));
}

static void gaps_are_refused(void **state)
{
	struct fixture *f = *state;
	unsigned o = plan_output(f->plan, "");
	plan_copy(f->plan, o, f->source, 0, 4);
	plan_copy(f->plan, o, f->source, 5, 11);
	refused(f);
}

static void a_missing_head_is_refused(void **state)
{
	struct fixture *f = *state;
	plan_copy(f->plan, plan_output(f->plan, ""), f->source, 1, 15);
	refused(f);
}

static void a_missing_tail_is_refused(void **state)
{
	struct fixture *f = *state;
	plan_copy(f->plan, plan_output(f->plan, ""), f->source, 0, 15);
	refused(f);
}

static void nothing_at_all_is_refused(void **state)
{
	struct fixture *f = *state;
	(void)plan_literal(f->plan, plan_output(f->plan, ""), "x", 1, 0, "made up");
	refused(f);
}

static void bytes_kept_twice_are_refused(void **state)
{
	struct fixture *f = *state;
	unsigned o = plan_output(f->plan, "");
	plan_copy(f->plan, o, f->source, 0, 16);
	plan_copy(f->plan, o, f->source, 3, 1);
	refused(f);
}

static void bytes_kept_and_dropped_are_refused(void **state)
{
	struct fixture *f = *state;
	plan_copy(f->plan, plan_output(f->plan, ""), f->source, 0, 16);
	plan_drop(f->plan, f->source, 15, 1, 0, "again");
	refused(f);
}

static void bytes_past_the_end_are_refused(void **state)
{
	struct fixture *f = *state;
	plan_copy(f->plan, plan_output(f->plan, ""), f->source, 0, 17);
	refused(f);
}

static void second_copies_past_the_end_are_refused(void **state)
{
	struct fixture *f = *state;
	unsigned o = plan_output(f->plan, "");
	plan_copy(f->plan, o, f->source, 0, 16);
	plan_copy_again(f->plan, o, f->source, 15, 2, 0, "again");
	refused(f);
}

static void overflowing_ranges_are_refused(void **state)
{
	struct fixture *f = *state;
	unsigned o = plan_output(f->plan, "");
	plan_copy(f->plan, o, f->source, 0, 16);
	plan_drop(f->plan, f->source, UINT64_MAX - 1, 4, 0, "far");
	refused(f);
}

static void identity_is_identity(void **state)
{
	struct fixture *f = *state;
	unsigned o = plan_output(f->plan, "");
	plan_drop(f->plan, f->source, 0, 16, 0, "all");
	(void)plan_literal(f->plan, o, "x", 1, 0, "y");
	assert_int_equal(plan_make_identity(f->plan), TM_OK);
	accepted(f);
	assert_true(plan_is_identity(f->plan));
	assert_false(plan_outcome(f->plan).changed);
	assert_int_equal(plan_dropped_count(f->plan), 0);
	assert_int_equal(plan_size(f->plan, 0), 16);
}

static void the_plan_is_a_bundle(void **state)
{
	struct fixture *f = *state;
	struct tracemend_error error = { 0 };
	char out[8] = "";
	plan_copy(f->plan, plan_output(f->plan, ""), f->source, 8, 8);
	plan_drop(f->plan, f->source, 0, 8, 0, "first half");
	accepted(f);
	struct bundle *b = plan_bundle(f->plan, NULL, &error);
	assert_non_null(b);
	assert_int_equal(bundle_single(b)->size, 8);
	assert_int_equal(source_read(bundle_single(b), 2, out, 4), TM_OK);
	assert_memory_equal(out, "abcd", 4);
	bundle_free(b);
}

/* 0123XY6789abcdef01, of which a second plan makes 0123X!789abcdef01, in doubt about its 7. */
static void a_plan_behind_a_plan(void **state)
{
	struct fixture *f = *state;
	static const char wanted[] = "0123X!789abcdef01";
	struct tracemend_error error = { 0 };
	char out[64] = "";
	unsigned o = plan_output(f->plan, "");
	plan_copy(f->plan, o, f->source, 0, 4);
	(void)plan_replace(f->plan, o, f->source, 4, 2, "XY", 2, 0, plan_why(f->plan, "mended"));
	plan_copy(f->plan, o, f->source, 6, 10);
	plan_copy_again(f->plan, o, f->source, 0, 2, 0, "registered again");
	plan_kept(f->plan, 6);
	plan_patched(f->plan, 1);
	accepted(f);

	struct bundle *written = plan_bundle(f->plan, NULL, &error);
	assert_non_null(written);
	struct plan *next = plan_new(written, rules, 2);
	struct source *s = bundle_single(written);
	assert_non_null(next);
	unsigned again = plan_output(next, "");
	plan_copy(next, again, s, 0, 5);
	(void)plan_replace(next, again, s, 5, 2, "!", 1, 1, plan_why(next, "no Y"));
	plan_doubt(next, s, 7, 1, "a 7");
	plan_copy(next, again, s, 7, 11);
	plan_kept(next, 5);
	plan_patched(next, 1);
	plan_lost(next, 1, TM_EXACT);
	assert_int_equal(plan_verify(next, &error), TM_OK);
	assert_int_equal(plan_compose(f->plan, next, written), TM_OK);
	plan_free(next);
	bundle_free(written);

	accepted(f);
	assert_int_equal(plan_output_count(f->plan), 1);
	assert_int_equal(plan_size(f->plan, 0), strlen(wanted));
	assert_int_equal(plan_read(f->plan, 0, 0, out, strlen(wanted)), TM_OK);
	assert_memory_equal(out, wanted, strlen(wanted));
	/* The X is the first plan's, for its reason; the 6 is lost for the second's; the Y was nobody's. */
	assert_string_equal(plan_segment_at(f->plan, 0, 1).why, "mended");
	assert_string_equal(plan_segment_at(f->plan, 0, 2).why, "no Y");
	assert_int_equal(plan_dropped_count(f->plan), 2);
	assert_int_equal(plan_dropped_at(f->plan, 1).from, 6);
	assert_int_equal(plan_dropped_at(f->plan, 1).length, 1);
	assert_string_equal(plan_dropped_at(f->plan, 1).rule->id, "toy/two");
	assert_int_equal(plan_doubtful_count(f->plan), 1);
	assert_int_equal(plan_doubtful_at(f->plan, 0).from, 7);
	struct tracemend_outcome outcome = plan_outcome(f->plan);
	assert_int_equal(outcome.passes, 2);
	assert_int_equal(outcome.kept + outcome.patched + outcome.added, 6);
	assert_int_equal(outcome.patched, 2);
	assert_int_equal(outcome.dropped, 1);
	assert_int_equal(outcome.dropped_is, TM_EXACT);
}

static void the_weakest_claim_wins(void **state)
{
	struct fixture *f = *state;
	plan_lost(f->plan, 3, TM_EXACT);
	assert_int_equal(plan_outcome(f->plan).dropped_is, TM_EXACT);
	plan_lost(f->plan, 1, TM_AT_LEAST);
	plan_lost(f->plan, 1, TM_EXACT);
	assert_int_equal(plan_outcome(f->plan).dropped_is, TM_AT_LEAST);
	plan_lost(f->plan, 0, TM_UNKNOWN_COUNT);
	plan_lost(f->plan, 2, TM_AT_LEAST);
	assert_int_equal(plan_outcome(f->plan).dropped_is, TM_UNKNOWN_COUNT);
	assert_true(plan_outcome(f->plan).lost);
}

static void what_is_no_record_can_be_lost_too(void **state)
{
	struct fixture *f = *state;
	plan_patched(f->plan, 1);
	assert_false(plan_outcome(f->plan).lost);
	plan_lost(f->plan, 0, TM_EXACT);
	assert_false(plan_outcome(f->plan).lost);
	plan_lost_other(f->plan);
	assert_true(plan_outcome(f->plan).lost);
	assert_int_equal(plan_outcome(f->plan).dropped, 0);
	assert_int_equal(plan_outcome(f->plan).dropped_is, TM_EXACT);
}

static void equal_reasons_share_memory(void **state)
{
	struct fixture *f = *state;
	const char *a = plan_why(f->plan, "reason %d", 1), *b = plan_why(f->plan, "reason %d", 1);
	assert_string_equal(a, "reason 1");
	assert_ptr_equal(a, b);
	assert_string_equal(plan_why(f->plan, "reason %d", 2), "reason 2");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_whole_plan),
		T(gaps_are_refused),
		T(a_missing_head_is_refused),
		T(a_missing_tail_is_refused),
		T(nothing_at_all_is_refused),
		T(bytes_kept_twice_are_refused),
		T(bytes_kept_and_dropped_are_refused),
		T(bytes_past_the_end_are_refused),
		T(second_copies_past_the_end_are_refused),
		T(overflowing_ranges_are_refused),
		T(identity_is_identity),
		T(the_plan_is_a_bundle),
		T(a_plan_behind_a_plan),
		T(the_weakest_claim_wins),
		T(what_is_no_record_can_be_lost_too),
		T(equal_reasons_share_memory),
	};
	return RUN(tests);
}
