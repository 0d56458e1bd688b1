/* Places that report rules of fxt and that no file of the corpus reaches: each reports once in a capture made for it. */
#include "fxt_check.h"

#define THREAD_INLINE 0u
/* A word that no record begins with: its size is 0. */
#define NOISE UINT64_C(0xa5a5a5a5a5a50003)

static struct bytes out;

static void put(uint64_t word)
{
	bytes_u64(&out, word);
}

/* The magic number: what each capture begins with. */
static void begin(void)
{
	bytes_free(&out);
	out = (struct bytes){ 0 };
	put(FXT_MAGIC);
}

static void put_initialization(void)
{
	put(fxt_header(FXT_INITIALIZATION, 2));
	put(FXT_TICKS_DEFAULT);
}

/* Two records that a walk can be resumed at. */
static void put_sound(void)
{
	put_initialization();
	put_initialization();
}

static void put_event(unsigned type, unsigned arguments, uint64_t words, uint64_t time, uint64_t thread)
{
	put(fxt_header(FXT_EVENT, words) | fxt_field(16, 4, type) | fxt_field(20, 4, arguments) | fxt_field(24, 8, THREAD_INLINE));
	put(time);
	put(1);
	put(thread);
}

/* How often a rule is reported. severity: of the first finding of it. */
static uint64_t reported(enum fxt_rule rule, enum tracemend_severity *severity)
{
	struct scan s;
	struct findings *f = fxt_check(&out, false, &s);

	for (size_t i = findings_kept_count(f); i-- > 0;)
		if (severity && findings_kept_at(f, i)->rule == &fxt_rules[rule])
			*severity = findings_kept_at(f, i)->severity;
	uint64_t count = findings_count(f, rule);
	fxt_check_end(f, &s);
	return count;
}

#define assert_reported(rule) assert_int_equal(reported(rule, NULL), 1)

static void an_argument_larger_than_its_record(void **state)
{
	(void)state;
	begin();
	put_event(FXT_INSTANT, 1, 5, 10, 2);
	put(fxt_field(0, 4, FXT_ARG_NULL) | fxt_field(4, 12, 3));
	put_sound();
	assert_reported(FXT_RULE_argument_overrun);
}

static void a_long_record_that_nothing_follows(void **state)
{
	(void)state;
	begin();
	put(fxt_header(FXT_INITIALIZATION, 4));
	put(FXT_TICKS_DEFAULT);
	put(NOISE);
	put(NOISE);
	put(fxt_header(FXT_EVENT, 1)); /* too small */
	put(NOISE);
	put_sound();
	assert_reported(FXT_RULE_unreadable_bytes);
}

static void a_header_with_zeros_to_the_end(void **state)
{
	(void)state;
	begin();
	put_sound();
	put(fxt_header(FXT_EVENT, 1)); /* too small */
	for (unsigned i = 0; i < 5; i++)
		put(0);
	assert_reported(FXT_RULE_zero_filled_tail);
}

static void a_flow_end_without_a_begin(void **state)
{
	(void)state;
	begin();
	put_initialization();
	put_event(FXT_FLOW_END, 0, 5, 10, 2);
	put(77);
	assert_reported(FXT_RULE_flow_without_begin);
}

static void a_perfetto_blob_that_is_none(void **state)
{
	(void)state;
	begin();
	put(fxt_header(FXT_BLOB, 2) | fxt_field(32, 15, 8) | fxt_field(48, 8, FXT_BLOB_PERFETTO));
	put(UINT64_C(0xfefefefefefefefe));
	assert_reported(FXT_RULE_perfetto_blob_invalid);
}

static void put_switch(unsigned cpu)
{
	begin();
	put_initialization();
	put(fxt_header(FXT_SCHEDULING, 4) | fxt_field(20, 16, cpu) | fxt_field(60, 4, FXT_SWITCH));
	put(10);
	put(1);
	put(2);
}

static void cpu_numbers(void **state)
{
	enum tracemend_severity severity;

	(void)state;
	put_switch(1023);
	assert_int_equal(reported(FXT_RULE_cpu_number_implausible, NULL), 0);
	put_switch(1024);
	assert_int_equal(reported(FXT_RULE_cpu_number_implausible, &severity), 1);
	assert_int_equal(severity, TM_NOTE);
	put_switch(FXT_CPU_MAX - 1);
	assert_int_equal(reported(FXT_RULE_cpu_number_implausible, &severity), 1);
	assert_int_equal(severity, TM_NOTE);
	put_switch(FXT_CPU_MAX);
	assert_int_equal(reported(FXT_RULE_cpu_number_implausible, &severity), 1);
	assert_int_equal(severity, TM_WARNING);
}

static void more_threads_than_are_tracked(void **state)
{
	(void)state;
	begin();
	put_initialization();
	for (unsigned i = 0; i < FXT_THREADS_MAX; i++)
		put_event(FXT_INSTANT, 0, 4, 10 + i, 1 + i);
	assert_int_equal(reported(FXT_RULE_semantic_bound_reached, NULL), 0);
	put_event(FXT_INSTANT, 0, 4, 10 + FXT_THREADS_MAX, 1 + FXT_THREADS_MAX);
	assert_reported(FXT_RULE_semantic_bound_reached);
}

static void an_event_that_comes_too_late(void **state)
{
	(void)state;
	begin();
	put_initialization();
	for (unsigned i = 0; i <= FXT_LATE_MAX; i++)
		put_event(FXT_DURATION_BEGIN, 0, 4, 1000 + i, 2);
	put_event(FXT_DURATION_BEGIN, 0, 4, 10, 2);
	assert_reported(FXT_RULE_semantic_bound_reached);
	/* What is open is not reported then. */
	assert_int_equal(reported(FXT_RULE_unclosed_duration, NULL), 0);
}

static void a_damaged_magic_number_at_the_beginning(void **state)
{
	(void)state;
	begin();
	put_sound();
	store_u64(out.data, FXT_MAGIC ^ UINT64_C(1) << 30, false);
	assert_reported(FXT_RULE_bad_magic_value);
	assert_int_equal(reported(FXT_RULE_bad_magic_size, NULL), 0);
	store_u64(out.data, FXT_MAGIC ^ UINT64_C(1) << 5, false);
	assert_reported(FXT_RULE_bad_magic_size);
	assert_int_equal(reported(FXT_RULE_bad_magic_value, NULL), 0);
}

static void bytes_before_the_magic_number(void **state)
{
	(void)state;
	begin();
	out.size = 0;
	put(NOISE);
	put(NOISE);
	put(FXT_MAGIC);
	put_sound();
	assert_reported(FXT_RULE_magic_not_first);
}

static void padding_beyond_the_window(void **state)
{
	const uint64_t payload = FXT_DECODE_SPAN + 5;

	(void)state;
	begin();
	put(fxt_header(FXT_LARGE, 3 + fxt_words(payload)) | fxt_field(40, 4, FXT_LARGE_BLOB_PLAIN));
	put(0);
	put(payload);
	assert_non_null(bytes_grow(&out, (size_t)(fxt_words(payload) * FXT_WORD)));
	put_sound();
	assert_int_equal(reported(FXT_RULE_nonzero_padding, NULL), 0);
	out.data[4 * FXT_WORD + payload] = 1;
	assert_reported(FXT_RULE_nonzero_padding);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_argument_larger_than_its_record),
		cmocka_unit_test(a_long_record_that_nothing_follows),
		cmocka_unit_test(a_header_with_zeros_to_the_end),
		cmocka_unit_test(a_flow_end_without_a_begin),
		cmocka_unit_test(a_perfetto_blob_that_is_none),
		cmocka_unit_test(cpu_numbers),
		cmocka_unit_test(more_threads_than_are_tracked),
		cmocka_unit_test(an_event_that_comes_too_late),
		cmocka_unit_test(a_damaged_magic_number_at_the_beginning),
		cmocka_unit_test(bytes_before_the_magic_number),
		cmocka_unit_test(padding_beyond_the_window),
	};
	return RUN(tests);
}
