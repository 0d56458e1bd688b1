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

static const struct lttng_layout *layout_of(unsigned major, unsigned minor)
{
	for (size_t i = 0; i < lttng_layout_count; i++)
		if (lttng_layouts[i].major == major && lttng_layouts[i].minor == minor)
			return &lttng_layouts[i];
	fail();
	return lttng_layouts;
}

/* Of a later block, scale and frequency do not count: a vendor's 0.8 has other numbers there. */
static void headers_that_can_be(void **state)
{
	const struct lttng_layout *l = layout_of(0, 8);
	struct lttng_header good = { { 0 } };
	(void)state;

	good.v[LF_ARCH_SIZE] = 8;
	good.v[LF_SCALE] = good.v[LF_FREQ] = 1;
	good.v[LF_SEC] = 1300000000;
	assert_true(lttng_has(l, LF_SCALE) && lttng_has(l, LF_FREQ) && lttng_has(l, LF_SEC));
	assert_true(lttng_header_plausible(l, &good, true));
	for (unsigned i = 0; i < 3; i++) {
		static const enum lttng_field fields[] = { LF_SCALE, LF_FREQ, LF_SEC };
		struct lttng_header h = good;
		h.v[fields[i]] = 0;
		assert_false(lttng_header_plausible(l, &h, true));
		assert_int_equal(lttng_header_plausible(l, &h, false), fields[i] != LF_SEC);
	}
}

/* Up to 1.0 no value is aligned to more than the size of a long. */
static void alignments_of_a_machine(void **state)
{
	static const struct {
		unsigned major, minor, arch, alignment, is;
	} cases[] = {
		{ 0, 8, 4, 8, 4 }, { 0, 8, 8, 8, 8 }, { 1, 0, 4, 8, 4 }, { 1, 0, 4, 4, 4 },  { 1, 0, 8, 8, 8 },
		{ 2, 0, 4, 8, 8 }, { 2, 6, 4, 8, 8 }, { 2, 6, 8, 3, 0 }, { 2, 6, 8, 16, 0 }, { 2, 6, 8, 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scan s = { 0 };
		struct lttng_trace t = { .s = &s, .coding = { .layout = layout_of(cases[i].major, cases[i].minor) } };
		t.constants.want.v[LF_ARCH_SIZE] = cases[i].arch;
		t.constants.want.v[LF_ALIGNMENT] = cases[i].alignment;
		lttng_constants_apply(&t);
		assert_int_equal(t.coding.alignment, cases[i].is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declarations_have_a_limit),
		cmocka_unit_test(values_that_a_field_can_have),
		cmocka_unit_test(headers_that_can_be),
		cmocka_unit_test(alignments_of_a_machine),
	};
	return RUN(tests);
}
