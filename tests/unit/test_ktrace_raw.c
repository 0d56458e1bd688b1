/* scan/ktrace_raw.c: what no capture of the corpus shows of RAW files, and the milder form of a rule. */
#include "ktrace_bytes.h"

#include "core/facts.h"
#include "core/plan.h"

/* The header of a RAW file of version 2. */
static void header(uint32_t magic, uint32_t threads, bool is_64)
{
	begin();
	bytes_u32(&file, magic);
	bytes_u32(&file, threads);
	bytes_u64(&file, 1500000000);
	bytes_u32(&file, 0);
	bytes_u32(&file, is_64);
	bytes_u64(&file, 24000000);
	(void)bytes_grow(&file, KTRACE_RAW2_HEADER - file.size);
}

static void threads(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char name[KTRACE_NAME] = "kernel_task";
		bytes_u64(&file, 0x64 + i);
		bytes_u32(&file, 1);
		bytes_append(&file, name, sizeof(name));
	}
}

static void records(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		record(UINT64_C(1000000000000) + i, 0x64, 0x01400000);
}

/* Whether the last check said that it did not judge something. */
static bool not_judged;

/* Checks the file: how often a rule is reported; *severity: of the first time. */
static uint64_t reported(enum ktrace_rule rule, enum tracemend_severity *severity)
{
	struct bundle *b = file_bundle(NULL);
	struct findings *f = findings_new(ktrace_rules, KTRACE_RULE_COUNT, NULL);
	struct facts facts = { 0 };
	struct scan s = { .in = b, .findings = f, .facts = &facts };
	assert_int_equal(ktrace_format.scan(&s), TM_OK);
	uint64_t count = findings_count(f, rule);
	not_judged = false;
	for (size_t i = 0; i < facts.count; i++)
		not_judged |= !strcmp(facts.list[i].key, "not judged");
	facts_free(&facts);
	for (size_t i = findings_kept_count(f); i-- > 0;)
		if (findings_kept_at(f, i)->rule == &ktrace_rules[rule] && severity)
			*severity = findings_kept_at(f, i)->severity;
	findings_free(f);
	bundle_free(b);
	return count;
}

static void a_whole_file_has_none_of_these(void **state)
{
	(void)state;
	header(KTRACE_MAGIC_RAW2, 8, true);
	threads(8);
	bytes_align(&file, KTRACE_PAGE);
	records(20);
	assert_int_equal(reported(KTRACE_RULE_legacy_raw_file, NULL), 1);
	assert_int_equal(reported(KTRACE_RULE_bad_magic, NULL), 0);
	assert_int_equal(reported(KTRACE_RULE_header_truncated, NULL), 0);
	assert_int_equal(reported(KTRACE_RULE_raw_events_partial, NULL), 0);
	assert_int_equal(reported(KTRACE_RULE_flags_bitness_mismatch, NULL), 0);
	assert_int_equal(reported(KTRACE_RULE_event_tid_dangling, NULL), 0);
}

static void a_lost_magic_is_reported(void **state)
{
	(void)state;
	header(0x11223344, 8, true);
	threads(8);
	bytes_align(&file, KTRACE_PAGE);
	records(20);
	assert_int_equal(reported(KTRACE_RULE_bad_magic, NULL), 1);
}

static void a_file_shorter_than_its_header_is_reported(void **state)
{
	(void)state;
	for (size_t size = 4; size <= 24; size++) {
		header(KTRACE_MAGIC_RAW1, 0, true);
		file.size = size;
		assert_int_equal(reported(KTRACE_RULE_header_truncated, NULL), size < 24);
	}
	for (size_t missing = 0; missing <= 9; missing += 3) {
		header(KTRACE_MAGIC_RAW2, 0, true);
		file.size -= missing;
		assert_int_equal(reported(KTRACE_RULE_header_truncated, NULL), missing > 0);
	}
}

static void a_file_that_ends_in_its_gap_is_reported(void **state)
{
	(void)state;
	header(KTRACE_MAGIC_RAW2, 8, true);
	threads(8);
	(void)bytes_grow(&file, 100);
	assert_int_equal(reported(KTRACE_RULE_raw_events_partial, NULL), 1);
}

static void a_wrong_width_is_reported_by_the_records_alone(void **state)
{
	(void)state;
	header(KTRACE_MAGIC_RAW2, 0, false);
	bytes_align(&file, KTRACE_PAGE);
	records(20);
	assert_int_equal(reported(KTRACE_RULE_flags_bitness_mismatch, NULL), 1);
}

static void unknown_threads_are_normal_where_events_were_lost(void **state)
{
	enum tracemend_severity severity = TM_ERROR;

	(void)state;
	for (unsigned lost = 0; lost < 2; lost++) {
		header(KTRACE_MAGIC_RAW2, 8, true);
		threads(8);
		bytes_align(&file, KTRACE_PAGE);
		records(20);
		record(UINT64_C(1000000000100), 0x999, 0x01400000);
		if (lost)
			record(UINT64_C(1000000000101), 0x64, 0x07020008);
		assert_int_equal(reported(KTRACE_RULE_event_tid_dangling, &severity), 1);
		assert_int_equal(severity, lost ? TM_NOTE : TM_WARNING);
	}
}

/* The CPU map of version 1 begins eight bytes before the page of the events: there is room for none of its entries. */
static void a_cpu_map_needs_room_in_the_gap(void **state)
{
	(void)state;
	for (unsigned count = 126; count <= 127; count++) {
		header(KTRACE_MAGIC_RAW1, count, false);
		file.size = 24;
		threads(count);
		bytes_u32(&file, KTRACE_MAGIC_RAW1);
		bytes_u32(&file, 1);
		bytes_u64(&file, 0);
		bytes_u64(&file, 0);
		file.size = file.size < KTRACE_PAGE ? file.size : KTRACE_PAGE;
		bytes_align(&file, KTRACE_PAGE);
		records(20);
		assert_int_equal(reported(KTRACE_RULE_raw_cpumap_count, NULL), count == 127);
		assert_int_equal(reported(KTRACE_RULE_raw_pad_nonzero, NULL), 0);
	}
}

/* Only version 1 has one. */
static void a_gap_of_version_2_has_no_cpu_map(void **state)
{
	(void)state;
	header(KTRACE_MAGIC_RAW2, 8, true);
	threads(8);
	bytes_u32(&file, KTRACE_MAGIC_RAW1);
	bytes_u32(&file, 1);
	bytes_align(&file, KTRACE_PAGE);
	records(20);
	assert_int_equal(reported(KTRACE_RULE_raw_pad_nonzero, NULL), 1);
}

/* A hole among the first records: their width is a guess, and readers would have to guess again. */
static void a_guessed_width_is_not_repaired(void **state)
{
	(void)state;
	for (unsigned holes = 2; holes <= 4; holes += 2) {
		header(KTRACE_MAGIC_RAW1, 0, false);
		file.size = 24;
		bytes_align(&file, KTRACE_PAGE);
		(void)bytes_grow(&file, holes * 64);
		records(40);
		struct bundle *b = file_bundle(NULL);
		struct findings *f = findings_new(ktrace_rules, KTRACE_RULE_COUNT, NULL);
		struct scan s = { .in = b, .findings = f, .plan = plan_new(b, ktrace_rules, KTRACE_RULE_COUNT) };
		assert_non_null(s.plan);
		assert_int_equal(ktrace_format.scan(&s), holes == 2 ? TM_OK : TM_NOTHING);
		findings_free(f);
		plan_free(s.plan);
		bundle_free(b);
	}
}

/* More than the tables hold: what needs them is no longer judged. */
static void full_tables_are_said(void **state)
{
	static const unsigned limits[] = { KTRACE_OPEN_MAX, KTRACE_THREADS_MAX };

	(void)state;
	for (unsigned which = 0; which < 2; which++) {
		for (unsigned more = 0; more < 2; more++) {
			header(KTRACE_MAGIC_RAW2, 8, true);
			threads(8);
			bytes_align(&file, KTRACE_PAGE);
			for (unsigned i = 0; i < limits[which] + more; i++)
				record(UINT64_C(1000000000000) + i, 0x1000 + i, which ? 0x01400000 : 0x01400001);
			assert_int_equal(reported(which ? KTRACE_RULE_event_tid_dangling : KTRACE_RULE_event_start_unclosed, NULL),
					 !more);
			assert_int_equal(not_judged, more);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_has_none_of_these),
		cmocka_unit_test(a_lost_magic_is_reported),
		cmocka_unit_test(a_file_shorter_than_its_header_is_reported),
		cmocka_unit_test(a_file_that_ends_in_its_gap_is_reported),
		cmocka_unit_test(a_wrong_width_is_reported_by_the_records_alone),
		cmocka_unit_test(unknown_threads_are_normal_where_events_were_lost),
		cmocka_unit_test(a_cpu_map_needs_room_in_the_gap),
		cmocka_unit_test(a_gap_of_version_2_has_no_cpu_map),
		cmocka_unit_test(a_guessed_width_is_not_repaired),
		cmocka_unit_test(full_tables_are_said),
	};
	int failed = RUN(tests);
	bytes_free(&file);
	return failed;
}
