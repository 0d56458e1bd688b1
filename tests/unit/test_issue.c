/* core/issue.h: a bounded list that counts what it does not keep, and knows the gravest of all. */
#include "unit.h"

#include "core/issue.h"

enum { NOTE_RULE, WARNING_RULE, ERROR_RULE };

static const struct tracemend_rule rules[] = {
	[NOTE_RULE] = { "toy/note", "toy", TM_NOTE, "malformed", "note", "-", "-", "-", false },
	[WARNING_RULE] = { "toy/warning", "toy", TM_WARNING, "malformed", "warning", "-", "-", "-", false },
	[ERROR_RULE] = { "toy/error", "toy", TM_ERROR, "malformed", "error", "-", "-", "-", false },
};

static void an_issue_has_its_values_and_the_severity_of_its_row(void **state)
{
	struct issue list[4];
	struct issues issues = { .list = list, .room = 4 };

	(void)state;
	issue_add(&issues, rules, WARNING_RULE, .at = 12, .length = 4, .got = 7, .want = 9);
	issue_add_at(&issues, (struct issue){ .rule = ERROR_RULE, .severity = TM_ERROR, .which = 2 });
	assert_int_equal(issues.count, 2);
	assert_int_equal(issues.more, 0);
	assert_int_equal(list[0].rule, WARNING_RULE);
	assert_int_equal(list[0].severity, TM_WARNING);
	assert_int_equal(list[0].at, 12);
	assert_int_equal(list[0].length, 4);
	assert_int_equal(list[0].got, 7);
	assert_int_equal(list[0].want, 9);
	assert_int_equal(list[0].which, -1);
	assert_int_equal(list[1].rule, ERROR_RULE);
	assert_int_equal(list[1].severity, TM_ERROR);
	assert_int_equal(list[1].which, 2);
	assert_int_equal(list[1].at, 0);
}

static void what_has_no_room_is_counted(void **state)
{
	struct issue list[3];
	struct issues issues = { .list = list, .room = 2 };

	(void)state;
	list[2] = (struct issue){ .got = 4711 };
	for (uint64_t i = 0; i < 5; i++)
		issue_add(&issues, rules, NOTE_RULE, .got = i);
	assert_int_equal(issues.count, 2);
	assert_int_equal(issues.more, 3);
	assert_int_equal(list[0].got, 0);
	assert_int_equal(list[1].got, 1);
	assert_int_equal(list[2].got, 4711);
	/* No list at all only counts. */
	struct issues none = { 0 };
	issue_add(&none, rules, ERROR_RULE, .at = 0);
	assert_int_equal(none.count, 0);
	assert_int_equal(none.more, 1);
	assert_int_equal(none.worst, TM_ERROR);
}

static void the_gravest_counts_kept_or_not(void **state)
{
	struct issue list[1];
	struct issues issues = { .list = list, .room = 1 };

	(void)state;
	assert_int_equal(issues.worst, TM_NOTE);
	issue_add(&issues, rules, NOTE_RULE, .at = 0);
	assert_int_equal(issues.worst, TM_NOTE);
	issue_add(&issues, rules, ERROR_RULE, .at = 0);
	assert_int_equal(issues.worst, TM_ERROR);
	issue_add(&issues, rules, WARNING_RULE, .at = 0);
	assert_int_equal(issues.worst, TM_ERROR);
	/* A milder one than its row. */
	struct issues milder = { .list = list, .room = 1 };
	issue_add_at(&milder, (struct issue){ .rule = ERROR_RULE, .severity = TM_WARNING });
	assert_int_equal(milder.worst, TM_WARNING);
	assert_int_equal(list[0].severity, TM_WARNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_issue_has_its_values_and_the_severity_of_its_row),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(the_gravest_counts_kept_or_not),
	};
	return RUN(tests);
}
