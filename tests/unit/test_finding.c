/* core/finding.h: counting, keeping, folding, grading. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/finding.h"
#include "core/limits.h"
#include "core/rule.h"

static const struct tracemend_rule rules[] = {
	{ "toy/bad", "toy", TM_ERROR, "malformed", "bad", "-", "-", "-", false },
	{ "toy/odd", "toy", TM_WARNING, "semantics", "odd", "-", "-", "-", false },
	{ "toy/fyi", "toy", TM_NOTE, "semantics", "fyi", "-", "-", "-", false },
};

/* As a row of a table makes it: a preview rule, and one that is none. */
static const struct tracemend_rule preview_rules[] = { RULE_ROW("toy", "new", PREVIEW_WARNING, SEMANTICS, "new", "-", "-", "-")
							       RULE_ROW("toy", "newer", PREVIEW_NOTE, LOSS, "newer", "-", "-", "-")
								       RULE_ROW("toy", "old", WARNING, SEMANTICS, "old", "-", "-",
										"-") };

static enum tracemend_severity only_odd_matters(void *ctx, const struct tracemend_rule *rule, enum tracemend_severity severity)
{
	(void)ctx, (void)severity;
	return !strcmp(rule->id, "toy/odd") ? TM_ERROR : TM_IGNORE;
}

static struct capture file = { .count = 1 };

static struct bundle *bundle(void)
{
	file.files[0].data = (const uint8_t *)"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	file.files[0].size = 64;
	return capture_bundle(&file, NULL, NULL);
}

static void findings_are_kept_whole(void **state)
{
	struct bundle *b = bundle();
	struct findings *f = findings_new(rules, 3, NULL);
	uint64_t errors, warnings, notes;
	(void)state;
	struct finding *fd = finding_new(f, 0, bundle_single(b), 16, 8);
	finding_say(fd, "is %d, expected \x1b%s", 5, "six\n");
	finding_path(fd, "record %d > name", 7);
	finding_field(fd, 18, 2, "name ref = %#x", 0x12u);
	finding_explains(fd, 3);
	finding_explains(fd, 2);
	finding_extend(fd, 10);
	(void)finding_milder(f, 0, TM_NOTE, bundle_single(b), 0, 1);
	(void)finding_new(f, 1, bundle_single(b), 1, 1);
	findings_totals(f, &errors, &warnings, &notes);
	assert_int_equal(errors, 1);
	assert_int_equal(warnings, 1);
	assert_int_equal(notes, 1);
	assert_int_equal(findings_errors(f), 1);
	assert_int_equal(findings_count(f, 0), 2);
	assert_int_equal(findings_kept_count(f), 3);
	const struct tracemend_finding *p = findings_kept_at(f, 0);
	assert_string_equal(p->rule->id, "toy/bad");
	assert_string_equal(p->message, "is 5, expected \\x1bsix\\x0a");
	assert_string_equal(p->path, "record 7 > name");
	assert_string_equal(p->field, "name ref = 0x12");
	assert_int_equal(p->explains, 5);
	assert_int_equal(p->length, 10);
	assert_int_equal(p->field_offset, 18);
	assert_true(p->context_length > 0);
	assert_memory_equal(p->context, file.files[0].data + p->context_offset, p->context_length);
	findings_free(f);
	bundle_free(b);
}

static void ranges_end_with_the_file(void **state)
{
	struct bundle *b = bundle();
	struct findings *f = findings_new(rules, 3, NULL);
	(void)state;
	finding_extend(finding_new(f, 0, bundle_single(b), 60, UINT64_MAX), UINT64_MAX);
	finding_field(finding_new(f, 0, bundle_single(b), UINT64_MAX, 8), 62, 8, "size");
	assert_int_equal(findings_kept_at(f, 0)->length, 4);
	assert_int_equal(findings_kept_at(f, 1)->offset, 64);
	assert_int_equal(findings_kept_at(f, 1)->length, 0);
	assert_int_equal(findings_kept_at(f, 1)->field_length, 2);
	findings_free(f);
	bundle_free(b);
}

static void counting_never_stops(void **state)
{
	struct bundle *b = bundle();
	struct tracemend_options options = { .max_findings = 5 };
	struct findings *f = findings_new(rules, 3, &options);
	uint64_t errors, warnings, notes;
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct finding *fd = finding_new(f, 0, bundle_single(b), 0, 1);
		assert_non_null(fd);
		assert_int_equal(finding_kept(fd), i < 5);
		finding_say(fd, "number %d", i);
		finding_path(fd, "p");
		finding_field(fd, 0, 1, "f");
		finding_explains(fd, 1);
		finding_extend(fd, 2);
	}
	(void)finding_new(f, 2, bundle_single(b), 0, 1);
	findings_totals(f, &errors, &warnings, &notes);
	assert_int_equal(errors, 100);
	assert_int_equal(notes, 1);
	assert_int_equal(findings_count(f, 0), 100);
	assert_int_equal(findings_kept_count(f), 6);
	assert_string_equal(findings_kept_at(f, 4)->message, "number 4");
	assert_int_equal(findings_kept_at(f, 4)->explains, 1);
	findings_free(f);
	bundle_free(b);
}

/* A report that is full is read in turns: each finding is in one of them. */
static void what_has_no_room_comes_in_turns(void **state)
{
	struct bundle *b = bundle();
	const size_t all = FINDINGS_KEPT_MAX + 7;
	size_t next = 0;
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct findings *f = findings_new(rules, 3, NULL);
		findings_skip(f, next);
		for (size_t i = 0; i < all; i++) {
			struct finding *fd = finding_new(f, i % 2, NULL, i, 1);
			if (finding_kept(fd))
				finding_say(fd, "number %zu", i);
		}
		assert_int_equal(findings_count(f, 0) + findings_count(f, 1), all);
		assert_int_equal(findings_full(f), !turn);
		assert_int_equal(findings_kept_count(f), turn ? 7 : FINDINGS_KEPT_MAX);
		for (size_t i = 0; i < findings_kept_count(f); i++, next++)
			assert_int_equal(findings_kept_at(f, i)->offset, next);
		findings_free(f);
	}
	assert_int_equal(next, all);
	/* Of a rule as many as are kept without room for more. */
	struct findings *f = findings_new(rules, 3, &(struct tracemend_options){ .max_findings = 3 });
	findings_skip(f, 2);
	for (size_t i = 0; i < 10; i++)
		(void)finding_new(f, 0, NULL, i, 1);
	assert_int_equal(findings_kept_count(f), 1);
	assert_int_equal(findings_kept_at(f, 0)->offset, 2);
	assert_false(findings_full(f));
	findings_free(f);
	bundle_free(b);
}

static void notes_take_no_room_from_errors(void **state)
{
	struct bundle *b = bundle();
	struct tracemend_options options = { .max_findings = 2 };
	struct findings *f = findings_new(rules, 3, &options);
	(void)state;
	for (int i = 0; i < 10; i++)
		(void)finding_milder(f, 0, TM_NOTE, bundle_single(b), 0, 1);
	assert_true(finding_kept(finding_new(f, 0, bundle_single(b), 0, 1)));
	assert_int_equal(findings_kept_count(f), 3);
	assert_int_equal(findings_count(f, 0), 11);
	findings_free(f);
	bundle_free(b);
}

static void grading_changes_reports_only(void **state)
{
	struct bundle *b = bundle();
	struct tracemend_options options = { .grade = only_odd_matters };
	struct findings *f = findings_new(rules, 3, &options);
	uint64_t errors, warnings, notes;
	(void)state;
	(void)finding_new(f, 0, bundle_single(b), 0, 1);
	(void)finding_new(f, 1, bundle_single(b), 0, 1);
	(void)finding_new(f, 2, bundle_single(b), 0, 1);
	findings_totals(f, &errors, &warnings, &notes);
	assert_int_equal(errors, 1);
	assert_int_equal(warnings, 0);
	assert_int_equal(notes, 0);
	assert_int_equal(findings_errors(f), 1); /* toy/bad, by its row */
	assert_int_equal(findings_count(f, 0), 1);
	assert_int_equal(findings_kept_count(f), 1);
	assert_string_equal(findings_kept_at(f, 0)->rule->id, "toy/odd");
	assert_int_equal(findings_kept_at(f, 0)->severity, TM_ERROR);
	findings_free(f);
	bundle_free(b);
}

static void overlong_texts_are_cut(void **state)
{
	struct bundle *b = bundle();
	struct findings *f = findings_new(rules, 3, NULL);
	char text[3000];
	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	finding_say(finding_new(f, 0, bundle_single(b), 0, 1), "%s", text);
	size_t n = strlen(findings_kept_at(f, 0)->message);
	assert_true(n < FINDING_TEXT_MAX);
	assert_string_equal(findings_kept_at(f, 0)->message + n - 3, "...");
	findings_free(f);
	bundle_free(b);
}

static enum tracemend_severity all_are_errors(void *ctx, const struct tracemend_rule *rule, enum tracemend_severity severity)
{
	(void)ctx, (void)rule, (void)severity;
	return TM_ERROR;
}

static void preview_rules_are_silent_unless_asked_for(void **state)
{
	struct bundle *b = bundle();
	(void)state;
	assert_true(preview_rules[0].preview && preview_rules[0].severity == TM_WARNING);
	assert_true(preview_rules[1].preview && preview_rules[1].severity == TM_NOTE);
	assert_false(preview_rules[2].preview);
	for (unsigned i = 0; i < 4; i++) {
		/* Nor does re-grading bring them out. */
		struct tracemend_options options = { .preview = i & 1, .grade = i & 2 ? all_are_errors : NULL };
		struct findings *f = findings_new(preview_rules, 3, &options);
		uint64_t errors, warnings, notes;
		for (unsigned rule = 0; rule < 3; rule++)
			(void)finding_new(f, rule, bundle_single(b), rule, 1);
		findings_totals(f, &errors, &warnings, &notes);
		assert_int_equal(findings_kept_count(f), i & 1 ? 3 : 1);
		assert_int_equal(errors, i == 3 ? 3 : i == 2 ? 1 : 0);
		assert_int_equal(warnings, i == 1 ? 2 : i == 0 ? 1 : 0);
		assert_int_equal(notes, i == 1 ? 1 : 0);
		/* Repair acts on them in no case. */
		assert_int_equal(findings_errors(f), 0);
		findings_free(f);
	}
	bundle_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(preview_rules_are_silent_unless_asked_for),
					    cmocka_unit_test(findings_are_kept_whole),
					    cmocka_unit_test(counting_never_stops),
					    cmocka_unit_test(notes_take_no_room_from_errors),
					    cmocka_unit_test(what_has_no_room_comes_in_turns),
					    cmocka_unit_test(ranges_end_with_the_file),
					    cmocka_unit_test(grading_changes_reports_only),
					    cmocka_unit_test(overlong_texts_are_cut) };
	return RUN(tests);
}
