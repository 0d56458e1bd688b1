/* scan/fxt_nesting.c and scan/fxt_scan.c: what shows only in captures of a megabyte or more, which the corpus has not. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/format.h"
#include "formats/fxt/decode/fxt_decode.h"
#include "formats/fxt/fxt.h"

extern const struct format fxt_format;

static struct bytes file;

static uint64_t records; /* of the capture that was checked last */

/* Checks the file, and forgets it: how often a rule is reported. */
static uint64_t reported(enum fxt_rule rule)
{
	struct capture c = { .count = 1 };

	assert_false(file.failed);
	c.files[0].data = file.data;
	c.files[0].size = file.size;
	struct bundle *b = capture_bundle(&c, NULL, NULL);
	struct findings *f = findings_new(fxt_format.rules, fxt_format.rule_count, NULL);
	struct scan s = { .in = b, .findings = f };
	assert_int_equal(fxt_format.scan(&s), TM_OK);
	uint64_t count = findings_count(f, rule);
	records = s.records;
	assert_int_equal(findings_count(f, FXT_RULE_record_content_overrun), 0);
	findings_free(f);
	bundle_free(b);
	bytes_free(&file);
	file = (struct bytes){ 0 };
	return count;
}

static void magic(void)
{
	bytes_u64(&file, UINT64_C(0x0016547846040010));
}

/* Instants with the thread in the record, each of another thread. */
static void threads(unsigned count)
{
	magic();
	for (unsigned i = 1; i <= count; i++) {
		bytes_u64(&file, FXT_EVENT | 4 << 4);
		bytes_u64(&file, i);
		bytes_u64(&file, 1);
		bytes_u64(&file, i);
	}
}

static void threads_beyond_the_bound_are_reported(void **state)
{
	(void)state;
	threads(FXT_THREADS_MAX);
	assert_int_equal(reported(FXT_RULE_semantic_bound_reached), 0);
	threads(FXT_THREADS_MAX + 1);
	assert_true(reported(FXT_RULE_semantic_bound_reached) > 0);
}

/* A large blob without metadata whose last word has `last` as its last byte: 3 bytes of it are padding. */
static void blob(size_t length, uint8_t last)
{
	size_t words = (length + 7) / 8;

	magic();
	bytes_u64(&file, FXT_LARGE | (uint64_t)(3 + words) << 4 | UINT64_C(1) << 40);
	bytes_u64(&file, 0);
	bytes_u64(&file, length);
	(void)bytes_grow(&file, words * 8);
	file.data[file.size - 1] = last;
}

/* Beyond what is decoded at once, padding is read by itself. */
static void late_padding_is_read(void **state)
{
	(void)state;
	blob(FXT_DECODE_SPAN + 5, 0);
	assert_int_equal(reported(FXT_RULE_nonzero_padding), 0);
	blob(FXT_DECODE_SPAN + 5, 1);
	assert_int_equal(reported(FXT_RULE_nonzero_padding), 1);
}

/* A record of as many words as the smaller size field can say is not over its bound. */
static void large_records_up_to_4095_words_are_plain(void **state)
{
	(void)state;
	blob((FXT_RECORD_WORDS_MAX - 3) * FXT_WORD, 0);
	assert_int_equal(reported(FXT_RULE_large_record_over_4095_words), 0);
	blob((FXT_RECORD_WORDS_MAX - 2) * FXT_WORD, 0);
	assert_int_equal(reported(FXT_RULE_large_record_over_4095_words), 1);
}

/* Begins of `count` durations of a thread that the capture registers as `index`. */
static void begins(unsigned index, unsigned count)
{
	bytes_u64(&file, FXT_THREAD | 3 << 4 | (uint64_t)index << 16);
	bytes_u64(&file, 1);
	bytes_u64(&file, 100 + index);
	for (unsigned i = 0; i < count; i++) {
		bytes_u64(&file, FXT_EVENT | 2 << 4 | (uint64_t)FXT_DURATION_BEGIN << 16 | (uint64_t)index << 24);
		bytes_u64(&file, 1000 + i);
	}
}

static void durations_are_tracked_up_to_a_depth(void **state)
{
	(void)state;
	magic();
	begins(1, FXT_DEPTH_MAX);
	assert_int_equal(reported(FXT_RULE_semantic_bound_reached), 0);
	magic();
	begins(1, FXT_DEPTH_MAX + 1);
	assert_int_equal(reported(FXT_RULE_semantic_bound_reached), 1);
}

/* A hole explains as many ends without a begin as it has room for; what is in front of it, it does not. */
static void holes_explain_what_they_took(void **state)
{
	const size_t first = 8 + 3 * 8, event = 16;

	(void)state;
	for (unsigned ends = 0; ends < 4; ends++) {
		magic();
		begins(1, 6);
		memset(file.data + first + 2 * event, 0, 2 * event); /* two begins of six */
		for (unsigned i = 0; i < 4 + ends; i++) {
			bytes_u64(&file, FXT_EVENT | 2 << 4 | (uint64_t)FXT_DURATION_END << 16 | (uint64_t)1 << 24);
			bytes_u64(&file, 2000 + i);
		}
		assert_int_equal(reported(FXT_RULE_unmatched_duration_end), ends > 2 ? ends - 2 : 0);
	}
	magic();
	begins(1, 6);
	memset(file.data + first + 2 * event, 0, 2 * event);
	assert_int_equal(reported(FXT_RULE_unclosed_duration), 2);
}

static void durations_of_all_threads_have_a_bound(void **state)
{
	(void)state;
	magic();
	for (unsigned i = 1; i <= FXT_OPEN_MAX / FXT_DEPTH_MAX; i++)
		begins(i, FXT_DEPTH_MAX);
	assert_int_equal(reported(FXT_RULE_semantic_bound_reached), 0);
	magic();
	for (unsigned i = 1; i <= FXT_OPEN_MAX / FXT_DEPTH_MAX; i++)
		begins(i, FXT_DEPTH_MAX);
	begins(100, 1);
	assert_int_equal(reported(FXT_RULE_semantic_bound_reached), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_explain_what_they_took),		 cmocka_unit_test(large_records_up_to_4095_words_are_plain),
		cmocka_unit_test(durations_are_tracked_up_to_a_depth),	 cmocka_unit_test(durations_of_all_threads_have_a_bound),
		cmocka_unit_test(threads_beyond_the_bound_are_reported), cmocka_unit_test(late_padding_is_read),
	};
	return RUN(tests);
}
