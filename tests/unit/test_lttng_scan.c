/* What the scan of LTTng is built on: memory for declarations, values that break ties between headers. */
#include "unit.h"

#include "formats/lttng/salvage/lttng_salvage.h"

/* Declarations that take more than their budget stop the scan: it says so. */
static void declarations_have_a_limit(void **state)
{
	struct scan s = { 0 };
	struct lttng_trace t = { .s = &s, .declared.budget.max = 8 };
	(void)state;

	char *copy = lttng_table_copy(&t, "abcdefg", 7);
	assert_string_equal(copy, "abcdefg");
	free(copy);
	assert_int_equal(t.status, TM_OK);
	assert_null(lttng_table_alloc(&t, 1));
	assert_int_equal(t.status, TM_LIMIT);
	assert_null(lttng_table_alloc(&t, 0));
}

static void values_that_a_field_can_have(void **state)
{
	static const struct {
		enum lttng_field field;
		uint64_t value;
		bool plausible;
	} cases[] = {
		{ LF_ARCH_SIZE, 4, true },    { LF_ARCH_SIZE, 8, true },     { LF_ARCH_SIZE, 0, false },
		{ LF_ARCH_SIZE, 5, false },   { LF_ALIGNMENT, 0, true },     { LF_ALIGNMENT, 4, true },
		{ LF_ALIGNMENT, 8, true },    { LF_ALIGNMENT, 2, false },    { LF_FREQ, 0, false },
		{ LF_FREQ, 1, true },	      { LF_SCALE, 0, false },	     { LF_SCALE, 1, true },
		{ LF_HEARTBEAT, 1, true },    { LF_HEARTBEAT, 2, false },    { LF_HAS_TSC, 1, true },
		{ LF_HAS_TSC, 2, false },     { LF_FLIGHT, 2, true },	     { LF_FLIGHT, 3, false },
		{ LF_SUBSEC, 999999, true },  { LF_SUBSEC, 1000000, false }, { LF_SEC, 1041379200, false },
		{ LF_SEC, 1041379201, true }, { LF_SEC, 1924991999, true },  { LF_SEC, 1924992000, false },
		{ LF_TSC, 0, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(lttng_value_plausible(cases[i].field, cases[i].value, false), cases[i].plausible);
	assert_true(lttng_value_plausible(LF_SUBSEC, 999999999, true));
	assert_false(lttng_value_plausible(LF_SUBSEC, 1000000000, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declarations_have_a_limit),
		cmocka_unit_test(values_that_a_field_can_have),
	};
	return RUN(tests);
}
