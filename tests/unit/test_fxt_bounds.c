/* decode, scan, salvage and repair of fxt at their bounds: what is left to the walk, what is said, what is corrected. */
#include "fxt_check.h"

#include "../../fuzz/capture.h"
#include "core/plan.h"
#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/scan/fxt_report.h"

/* Events that are taken by the walk before timestamps may differ, and some more. */
#define WARM 24u
#define NAME 1u
#define OTHER 2u
#define UNKNOWN 3u
#define INLINE(length) (FXT_STRING_INLINE | (length))

static struct bytes out;
static size_t opened;
static uint64_t now;

/* What the last scan came to. */
static struct {
	uint64_t fast, records, counts[FXT_RULE_COUNT];
	struct tracemend_finding first; /* of the rule that was asked for; its texts below */
	char path[200], message[200];
} got;

static void put(uint64_t word)
{
	bytes_u64(&out, word);
}

static void text(uint64_t length, char letter)
{
	uint8_t *p = bytes_grow(&out, (size_t)(fxt_words(length) * FXT_WORD));

	assert_non_null(p);
	memset(out.data + out.size - fxt_words(length) * FXT_WORD, 0, (size_t)(fxt_words(length) * FXT_WORD));
	memset(out.data + out.size - fxt_words(length) * FXT_WORD, letter, (size_t)length);
}

static void string(unsigned index, uint64_t length, char letter)
{
	put(fxt_header(FXT_STRING, 1 + fxt_words(length)) | fxt_field(16, 15, index) | fxt_field(32, 15, length));
	text(length, letter);
}

/* The header of an event of thread 1; event_end() sets its size. */
static void event(enum fxt_event type, unsigned arguments, unsigned category, unsigned name)
{
	opened = out.size;
	put(fxt_header(FXT_EVENT, 0) | fxt_field(16, 4, type) | fxt_field(20, 4, arguments) | fxt_field(24, 8, 1) |
	    fxt_field(32, 16, category) | fxt_field(48, 16, name));
	put(now);
}

static void event_end(void)
{
	uint8_t *p = out.data + opened;

	store_u64(p, load_u64(p, false) | fxt_field(4, 12, (out.size - opened) / FXT_WORD), false);
}

static void instant(unsigned category, unsigned name)
{
	event(FXT_INSTANT, 0, category, name);
	event_end();
}

static void argument(enum fxt_argument type, uint64_t words, unsigned name, uint64_t value)
{
	put(fxt_field(0, 4, type) | fxt_field(4, 12, words) | fxt_field(16, 16, name) | value << 32);
}

/* A thread, two strings, and so many events that later ones may come at any time. */
static void begin(void)
{
	bytes_free(&out);
	out = (struct bytes){ 0 };
	put(FXT_MAGIC);
	put(fxt_header(FXT_INITIALIZATION, 2));
	put(FXT_TICKS_DEFAULT);
	put(fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, 1));
	put(10);
	put(11);
	string(NAME, 4, 'n');
	string(OTHER, 8, 'o');
	for (now = 1000; now < 1000 + 1000 * WARM; now += 1000)
		instant(NAME, NAME);
}

/* slow: without the fast path. */
static void scan_as(enum fxt_rule rule, bool slow)
{
	struct scan s;
	struct findings *f = fxt_check(&out, slow, &s);

	memset(&got, 0, sizeof(got));
	got.fast = s.fast;
	got.records = s.records;
	for (unsigned i = 0; i < FXT_RULE_COUNT; i++)
		got.counts[i] = findings_count(f, i);
	for (size_t i = findings_kept_count(f); i-- > 0;) {
		if (findings_kept_at(f, i)->rule != &fxt_rules[rule])
			continue;
		got.first = *findings_kept_at(f, i);
		(void)snprintf(got.path, sizeof(got.path), "%s", got.first.path);
		(void)snprintf(got.message, sizeof(got.message), "%s", got.first.message);
	}
	fxt_check_end(f, &s);
}

static uint64_t scan(enum fxt_rule rule)
{
	scan_as(rule, false);
	return got.counts[rule];
}

/* How many of the records since the last call the fast path takes, which must find the same as the walk. */
static uint64_t fast_taken;

static uint64_t fast(void)
{
	uint64_t counts[FXT_RULE_COUNT], before = fast_taken;

	scan_as(0, true);
	assert_int_equal(got.fast, 0);
	memcpy(counts, got.counts, sizeof(counts));
	scan_as(0, false);
	assert_memory_equal(counts, got.counts, sizeof(counts));
	fast_taken = got.fast;
	return got.fast - before;
}

static void begin_fast(void)
{
	begin();
	fast_taken = 0;
	assert_true(fast() > 2);
}

/* ---- the fast path ---- */

static void events_of_each_type_are_taken(void **state)
{
	(void)state;
	begin_fast();
	now++;
	instant(NAME, NAME);
	instant(OTHER, NAME);
	instant(NAME, OTHER);
	instant(0, 0);
	assert_int_equal(fast(), 4);
	/* The first begin of a thread is left to the walk, as it needs memory. */
	for (unsigned i = 0; i < 3; i++) {
		now++;
		event(FXT_DURATION_BEGIN, 0, NAME, NAME);
		event_end();
		now++;
		event(FXT_DURATION_END, 0, NAME, NAME);
		event_end();
		assert_int_equal(fast(), i ? 2 : 1);
	}
	for (unsigned end = 0; end < 3; end++) {
		now += 10;
		event(FXT_DURATION_COMPLETE, 0, NAME, NAME);
		put(now - 1 + end);
		event_end();
		assert_int_equal(fast(), end ? 1 : 0);
	}
	for (enum fxt_event type = FXT_ASYNC_BEGIN; type < FXT_EVENT_TYPES; type++) {
		now++;
		event(type, 0, NAME, NAME);
		put(77);
		event_end();
		assert_int_equal(fast(), 1);
	}
	event(FXT_COUNTER, 1, NAME, NAME);
	argument(FXT_ARG_INT32, 1, NAME, 5);
	put(77);
	event_end();
	assert_int_equal(fast(), 1);
	/* A counter of nothing, one of a number that may be none, and types and threads that do not exist. */
	event(FXT_COUNTER, 0, NAME, NAME);
	put(77);
	event_end();
	event(FXT_COUNTER, 1, NAME, NAME);
	argument(FXT_ARG_DOUBLE, 2, NAME, 0);
	put(0);
	put(77);
	event_end();
	event(FXT_EVENT_TYPES, 0, NAME, NAME);
	event_end();
	instant(UNKNOWN, NAME);
	instant(NAME, UNKNOWN);
	assert_int_equal(fast(), 0);
}

static void runs_begin_at_events_that_differ_from_the_last(void **state)
{
	(void)state;
	begin_fast();
	instant(NAME, OTHER);
	string(10, 3, 'x');
	assert_int_equal(fast(), 2);
	/* Another header at the same time. */
	instant(OTHER, NAME);
	string(11, 3, 'y');
	assert_int_equal(fast(), 2);
	/* The same header at another time. */
	now++;
	instant(OTHER, NAME);
	assert_int_equal(fast(), 1);
	/* The same again is left to the walk, and so is one that steps back. */
	instant(OTHER, NAME);
	assert_int_equal(fast(), 0);
	assert_int_equal(got.counts[FXT_RULE_suspicious_repeat], 1);
	now--;
	instant(OTHER, NAME);
	assert_int_equal(fast(), 0);
	assert_int_equal(got.counts[FXT_RULE_non_monotonic_timestamps], 1);
}

static void early_events_of_one_time_are_taken(void **state)
{
	(void)state;
	begin();
	out.size = 3 * FXT_WORD;
	put(fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, 1));
	put(10);
	put(11);
	string(NAME, 4, 'n');
	now = 1000;
	instant(NAME, NAME);
	fast_taken = 0;
	assert_int_equal(fast(), 1);
	instant(0, NAME);
	assert_int_equal(fast(), 1);
	/* A step may be an outlier. */
	now++;
	instant(0, NAME);
	assert_int_equal(fast(), 0);
}

static void inline_texts_are_taken_up_to_a_bound(void **state)
{
	static const unsigned lengths[] = { 1, 2, 7, 8, 9, 15, 16, 17, 24, 2039, 2040 };

	(void)state;
	begin_fast();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		now++;
		event(FXT_INSTANT, 0, INLINE(lengths[i]), NAME);
		text(lengths[i], 'c');
		event_end();
		event(FXT_INSTANT, 0, NAME, INLINE(lengths[i]));
		text(lengths[i], 'd');
		event_end();
		event(FXT_INSTANT, 0, INLINE(lengths[i]), INLINE(5));
		text(lengths[i], 'c');
		text(5, 'd');
		event_end();
		assert_int_equal(fast(), 3);
		/* Bytes that are padding, and bytes that are not printable. */
		if (lengths[i] % FXT_WORD) {
			event(FXT_INSTANT, 0, NAME, INLINE(lengths[i]));
			text(lengths[i], 'd');
			event_end();
			out.data[out.size - 1] = 'x';
			assert_int_equal(fast(), 0);
		}
		event(FXT_INSTANT, 0, OTHER, INLINE(lengths[i]));
		text(lengths[i], 1);
		event_end();
		assert_int_equal(fast(), 0);
	}
	event(FXT_INSTANT, 0, NAME, INLINE(2041u));
	text(2041, 'd');
	event_end();
	event(FXT_INSTANT, 0, INLINE(2041u), NAME);
	text(2041, 'd');
	event_end();
	assert_int_equal(fast(), 0);
}

static void plain_arguments_are_taken(void **state)
{
	static const unsigned lengths[] = { 1, 7, 8, 9, 16, 17, 2040, 2041, 9000 };

	(void)state;
	begin_fast();
	for (enum fxt_argument type = FXT_ARG_NULL; type < FXT_ARG_BLOB; type++) {
		const struct fxt_argument_layout *layout = &fxt_argument_layouts[type];
		for (size_t i = 0; i <= sizeof(lengths) / sizeof(*lengths); i++) {
			uint64_t length = i ? lengths[i - 1] : 0;
			now++;
			event(FXT_INSTANT, 2, NAME, NAME);
			argument(type, layout->words + fxt_words(length), length ? INLINE((unsigned)length) : OTHER,
				 type == FXT_ARG_STRING || type == FXT_ARG_BOOL);
			text(length, 'a');
			if (layout->words > 1)
				put(UINT64_C(1) << 40);
			argument(FXT_ARG_INT32, 1, NAME, 7);
			event_end();
			assert_int_equal(fast(), 1);
		}
		/* Reserved bits. */
		for (uint64_t bit = 32; bit < 64; bit++) {
			if (!(layout->reserved >> bit & 1))
				continue;
			now++;
			event(FXT_INSTANT, 1, NAME, NAME);
			argument(type, layout->words, OTHER, 0);
			store_u64(out.data + out.size - FXT_WORD,
				  load_u64(out.data + out.size - FXT_WORD, false) | UINT64_C(1) << bit, false);
			if (layout->words > 1)
				put(UINT64_C(1) << 40);
			event_end();
			assert_int_equal(fast(), 0);
		}
		/* The record behind one that is at fault is left to the walk. */
		now++;
		instant(NAME, NAME);
		(void)fast();
	}
}

static void values_of_text_are_taken(void **state)
{
	static const unsigned lengths[] = {
		1, 7, 8, 9, 16, 17, 2040, 2041, 9000, FXT_STRING_BYTES_ADVISED, FXT_STRING_BYTES_ADVISED + 1
	};

	(void)state;
	begin_fast();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		now++;
		event(FXT_INSTANT, 1, NAME, NAME);
		argument(FXT_ARG_STRING, 1 + fxt_words(lengths[i]), OTHER, INLINE(lengths[i]));
		text(lengths[i], 'v');
		event_end();
		assert_int_equal(fast(), lengths[i] <= FXT_STRING_BYTES_ADVISED);
	}
	/* Names that are equal, that are not known, and that are none; a value that is not known; numbers that would be short. */
	static const unsigned names[][2] = { { NAME, NAME }, { UNKNOWN, NAME }, { NAME, 0 } };
	for (size_t i = 0; i < 3; i++) {
		now++;
		event(FXT_INSTANT, 2, NAME, NAME);
		argument(FXT_ARG_NULL, 1, names[i][0], 0);
		argument(FXT_ARG_NULL, 1, names[i][1], 0);
		event_end();
		assert_int_equal(fast(), 0);
	}
	event(FXT_INSTANT, 1, NAME, NAME);
	argument(FXT_ARG_STRING, 1, NAME, UNKNOWN);
	event_end();
	event(FXT_INSTANT, 1, NAME, NAME);
	argument(FXT_ARG_UINT64, 2, NAME, 0);
	put(UINT32_MAX);
	event_end();
	assert_int_equal(fast(), 0);
	now++;
	event(FXT_INSTANT, 1, NAME, NAME);
	argument(FXT_ARG_UINT64, 2, NAME, 0);
	put(UINT64_C(1) << 32);
	event_end();
	assert_int_equal(fast(), 1);
}

static void strings_are_taken_up_to_a_length(void **state)
{
	(void)state;
	begin_fast();
	string(FXT_STRING_INDEX_MAX, 1, 's');
	string(20, FXT_STRING_BYTES_ADVISED, 's');
	assert_int_equal(fast(), 2);
	string(21, FXT_STRING_BYTES_ADVISED + 1, 's');
	string(20, 2, 's');
	string(22, 0, 's');
	string(0, 2, 's');
	assert_int_equal(fast(), 0);
}

/* ---- what is said ---- */

static void records_are_described(void **state)
{
	static const struct {
		enum fxt_type type;
		uint8_t subtype;
		const char *text;
	} described[] = {
		{ FXT_METADATA, FXT_PROVIDER_INFO, "provider info" },
		{ FXT_METADATA, FXT_TRACE_INFO, "trace info" },
		{ FXT_METADATA, 0, NULL },
		{ FXT_METADATA, FXT_TRACE_INFO + 1, NULL },
		{ FXT_SCHEDULING, FXT_SWITCH_LEGACY, "legacy context switch" },
		{ FXT_SCHEDULING, FXT_WAKEUP, "thread wakeup" },
		{ FXT_SCHEDULING, FXT_WAKEUP + 1, NULL },
		{ FXT_PROFILER, FXT_PROFILER_BACKTRACE, "backtrace" },
		{ FXT_PROFILER, FXT_PROFILER_BACKTRACE + 1, NULL },
		{ FXT_LARGE, FXT_LARGE_BLOB, "blob" },
		{ FXT_LARGE, 1, NULL },
		{ FXT_STRING, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(described) / sizeof(*described); i++) {
		struct fxt_record r = { .type = described[i].type, .subtype = described[i].subtype };
		char want[64], have[64];
		(void)snprintf(want, sizeof(want), "%s%s%s", fxt_type_names[r.type], described[i].text ? ", " : "",
			       described[i].text ? described[i].text : "");
		fxt_describe(&r, have, sizeof(have));
		assert_string_equal(have, want);
	}
}

static void arguments_are_counted_from_one(void **state)
{
	(void)state;
	begin();
	event(FXT_COUNTER, 2, NAME, NAME);
	argument(FXT_ARG_INT32, 1, NAME, 1);
	argument(FXT_ARG_INT32, 1, 0, 1);
	put(77);
	event_end();
	assert_int_equal(scan(FXT_RULE_empty_argument_name), 1);
	assert_string_equal(got.message, "argument 2 has no name");
	begin();
	event(FXT_COUNTER, 2, NAME, NAME);
	argument(FXT_ARG_NULL, 1, NAME, 0);
	argument(FXT_ARG_INT64, 2, OTHER, 0);
	put(5);
	put(77);
	event_end();
	assert_int_equal(scan(FXT_RULE_counter_non_numeric), 1);
	assert_string_equal(got.message, "argument 1 is of type null, expected a number");
	assert_int_equal(scan(FXT_RULE_wide_integer_not_needed), 1);
	assert_string_equal(got.message, "the value of argument 2 is stored in 64 bits and fits 32 bits");
	begin();
	event(FXT_COUNTER, 2, NAME, NAME);
	argument(FXT_ARG_INT32, 1, NAME, 1);
	argument(FXT_ARG_DOUBLE, 2, OTHER, 0);
	put(UINT64_C(0x7ff) << 52);
	put(77);
	event_end();
	assert_int_equal(scan(FXT_RULE_counter_nan), 1);
	assert_string_equal(got.message, "the value of argument 2 is infinite or not a number");
}

static void the_field_of_a_missing_string_is_named(void **state)
{
	(void)state;
	begin();
	uint64_t at = out.size;
	instant(NAME, UNKNOWN);
	assert_int_equal(scan(FXT_RULE_dangling_string_ref), 1);
	assert_int_equal(got.first.field_offset, at + 6);
	assert_int_equal(got.first.field_length, 2);
	begin();
	at = out.size;
	instant(UNKNOWN, NAME);
	assert_int_equal(scan(FXT_RULE_dangling_string_ref), 1);
	assert_int_equal(got.first.field_offset, at + 4);
}

/* What a block that was lost had registered is one finding, and what is far from it, or beyond a string that is there, is not of
 * it. */
static void neighbours_that_are_missing_are_one_finding(void **state)
{
	(void)state;
	begin();
	instant(NAME, 107);
	instant(NAME, 100);
	instant(NAME, 107);
	instant(NAME, 104);
	instant(NAME, 116);
	assert_int_equal(scan(FXT_RULE_dangling_string_ref), 2);
	assert_string_equal(got.message, "3 string indexes from 0x0064 to 0x006b are not registered");
	assert_int_equal(got.first.explains, 3);
	begin();
	string(102, 2, 'x');
	instant(102, 101);
	instant(NAME, 103);
	assert_int_equal(scan(FXT_RULE_dangling_string_ref), 2);
	assert_string_equal(got.message, "string index 0x0065 is not registered");
	assert_int_equal(got.first.explains, 0);
}

/* ---- the meaning ---- */

static void repeats_are_of_the_event_before(void **state)
{
	uint8_t again[2 * FXT_WORD];

	(void)state;
	begin();
	instant(OTHER, NAME);
	now++;
	/* A blob whose end is equal to the event behind it. */
	put(fxt_header(FXT_BLOB, 3) | fxt_field(32, 15, 16) | fxt_field(48, 8, FXT_BLOB_DATA));
	instant(OTHER, NAME);
	instant(OTHER, NAME);
	out.size -= 2 * FXT_WORD;
	memcpy(again, out.data + out.size - sizeof(again), sizeof(again));
	put(load_u64(again, false));
	put(load_u64(again + FXT_WORD, false));
	for (unsigned slow = 0; slow < 2; slow++) {
		scan_as(FXT_RULE_suspicious_repeat, slow);
		assert_int_equal(got.counts[FXT_RULE_suspicious_repeat], 0);
		assert_int_equal(got.counts[FXT_RULE_record_content_overrun], 0);
	}
	instant(OTHER, NAME);
	assert_int_equal(scan(FXT_RULE_suspicious_repeat), 1);
	assert_int_equal(got.first.offset, out.size - 2 * FXT_WORD);
}

static void the_longest_event_may_be_a_repeat(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 2; i++) {
		uint64_t rest = (FXT_RECORD_WORDS_MAX - 3) * FXT_WORD - 16;
		event(FXT_INSTANT, 1, NAME, NAME);
		argument(FXT_ARG_STRING, 1 + fxt_words(rest), NAME, INLINE((unsigned)rest));
		text(rest, 'v');
		if (out.size - opened < FXT_RECORD_WORDS_MAX * FXT_WORD)
			text(FXT_RECORD_WORDS_MAX * FXT_WORD - (out.size - opened), 0);
		event_end();
	}
	assert_int_equal(scan(FXT_RULE_suspicious_repeat), 1);
}

/* Two events of one id, the first of them at `now`, the other later by `later`. How often the rule is reported. */
static uint64_t two(enum fxt_event first, enum fxt_event second, int later, enum fxt_rule rule)
{
	begin();
	event(first, 0, NAME, NAME);
	put(77);
	event_end();
	now = (uint64_t)((int64_t)now + later);
	event(second, 0, NAME, NAME);
	put(77);
	event_end();
	return scan(rule);
}

static void operations_forgive_what_comes_late(void **state)
{
	(void)state;
	assert_int_equal(two(FXT_FLOW_STEP, FXT_FLOW_BEGIN, 1, FXT_RULE_flow_without_begin), 1);
	assert_int_equal(two(FXT_FLOW_STEP, FXT_FLOW_BEGIN, 0, FXT_RULE_flow_without_begin), 0);
	assert_int_equal(two(FXT_FLOW_STEP, FXT_FLOW_BEGIN, -1, FXT_RULE_flow_without_begin), 0);
	assert_int_equal(two(FXT_ASYNC_INSTANT, FXT_ASYNC_BEGIN, 1, FXT_RULE_async_instant_outside), 1);
	assert_int_equal(two(FXT_ASYNC_INSTANT, FXT_ASYNC_BEGIN, -1, FXT_RULE_async_instant_outside), 0);
	assert_int_equal(two(FXT_FLOW_BEGIN, FXT_FLOW_END, 1, FXT_RULE_unmatched_flow_begin), 0);
	assert_int_equal(two(FXT_FLOW_BEGIN, FXT_FLOW_STEP, 1, FXT_RULE_unmatched_flow_begin), 1);
	assert_int_equal(two(FXT_FLOW_BEGIN, FXT_FLOW_BEGIN, 1, FXT_RULE_flow_id_reused), 1);
	assert_int_equal(two(FXT_FLOW_END, FXT_FLOW_BEGIN, -1, FXT_RULE_flow_without_begin), 0);
	assert_int_equal(two(FXT_ASYNC_END, FXT_ASYNC_BEGIN, -1, FXT_RULE_unmatched_async_end), 0);
	assert_int_equal(two(FXT_ASYNC_END, FXT_ASYNC_END, 1, FXT_RULE_unmatched_async_end), 1);
	assert_int_equal(two(FXT_ASYNC_BEGIN, FXT_ASYNC_BEGIN, 1, FXT_RULE_unmatched_async_begin), 1);
}

/* ---- decode ---- */

static void a_wall_clock_is_of_this_century(void **state)
{
	static const struct {
		uint64_t time;
		bool extended;
	} clocks[] = {
		{ UINT64_C(946684800000000000), true }, /* 2000-01-01 */
		{ UINT64_C(946684799999999999), false },
		{ UINT64_C(4102444800000000000), true }, /* 2100-01-01 */
		{ UINT64_C(4102444800000000001), false },
	};
	static const struct fxt_decoder little;
	static struct fxt_record r;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint8_t data[4 * FXT_WORD] = { 0 };
		store_u64(data, fxt_header(FXT_INITIALIZATION, 4), false);
		store_u64(data + FXT_WORD, FXT_TICKS_DEFAULT, false);
		store_u64(data + 3 * FXT_WORD, clocks[i].time, false);
		assert_true(fxt_decode(&little, &r, data, sizeof(data), sizeof(data), 0));
		assert_int_equal(r.extended, clocks[i].extended);
		/* Out of sight. */
		assert_true(fxt_decode(&little, &r, data, 3 * FXT_WORD, sizeof(data), 0));
		assert_false(r.extended);
	}
}

/* At 1,000 ticks a second, 2^63 - 1 nanoseconds are 9,223,372,036,854 ticks and a part of one. */
static void time_ends_with_63_bits_of_nanoseconds(void **state)
{
	(void)state;
	for (uint64_t beyond = 0; beyond < 2; beyond++) {
		bytes_free(&out);
		out = (struct bytes){ 0 };
		put(FXT_MAGIC);
		put(fxt_header(FXT_INITIALIZATION, 2));
		put(1000);
		put(fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, 1));
		put(10);
		put(11);
		string(NAME, 4, 'n');
		now = UINT64_C(9223372036854) + beyond;
		instant(NAME, NAME);
		assert_int_equal(scan(FXT_RULE_timestamp_overflow), beyond);
	}
}

/* ---- salvage ---- */

static bool may_be(enum fxt_type type, unsigned subtype, uint64_t header, uint64_t words, unsigned arguments)
{
	struct fxt_record r = { .type = (uint8_t)type,
				.subtype = (uint8_t)subtype,
				.header = header,
				.words = words,
				.argument_count = (uint8_t)arguments };
	return fxt_may_be_argument(&r);
}

static void what_may_be_an_argument(void **state)
{
	const uint64_t low = UINT64_C(1) << 31, high = UINT64_C(1) << 32;

	(void)state;
	for (enum fxt_type type = FXT_METADATA; type <= FXT_STRING; type += FXT_STRING) {
		assert_true(may_be(type, 0, low, 1, 0));
		assert_false(may_be(type, 0, high, 1, 0));
		assert_false(may_be(type, 0, low, 2, 0));
	}
	assert_true(may_be(FXT_INITIALIZATION, 0, 0, 2, 0));
	assert_true(may_be(FXT_EVENT, 0, UINT64_C(1) << 47, 4, 0));
	assert_false(may_be(FXT_EVENT, 0, UINT64_C(1) << 48, 4, 0));
	for (enum fxt_type type = FXT_USERSPACE; type <= FXT_KERNEL; type++) {
		assert_true(may_be(type, 0, 0, 2, 0));
		assert_false(may_be(type, 0, 0, 2, 1));
	}
	assert_true(may_be(FXT_SCHEDULING, FXT_SWITCH_LEGACY, 0, 2, 0));
	assert_false(may_be(FXT_SCHEDULING, FXT_SWITCH, 0, 4, 0));
	assert_true(may_be(FXT_PROFILER, 0, 9 * high, 3, 0));
	assert_false(may_be(FXT_PROFILER, 0, 8 * high, 3, 0));
	assert_false(may_be(FXT_THREAD, 0, 0, 3, 0));
	assert_false(may_be(FXT_BLOB, 0, 0, 3, 0));
	assert_false(may_be(FXT_LOG, 0, 0, 3, 0));
	assert_false(may_be(FXT_LARGE, 0, 0, 3, 0));
}

/* Whether a record of that many words, of a type that is one bit from that of the header, is there instead. */
static bool damaged(uint64_t header, uint8_t type, const uint64_t *words, unsigned count)
{
	static const struct fxt_decoder little;
	static struct fxt_resync y;
	static struct fxt_string_page page;
	static struct fxt_tables tables;
	static struct fxt_provider provider = { .tables = &tables };
	uint8_t data[8 * FXT_WORD] = { 0 };
	struct fxt_record r = { .data = data, .header = header, .words = count, .type = type };

	store_u64(data, header, false);
	for (unsigned i = 1; i < count; i++)
		store_u64(data + i * FXT_WORD, words[i - 1], false);
	for (size_t i = 0; i < sizeof(tables.pages) / sizeof(tables.pages[0]); i++)
		tables.pages[i] = &page;
	r.issues.worst = TM_ERROR;
	y.decoder = &little;
	y.size = count * FXT_WORD;
	return fxt_type_damaged(&y, &provider, 0, &r);
}

static void types_one_bit_apart_are_tried(void **state)
{
	const uint64_t ticks[] = { FXT_TICKS_DEFAULT }, blob[] = { 0, 8, 1 };

	(void)state;
	for (unsigned bit = 0; bit < 4; bit++) {
		uint64_t header = fxt_header(FXT_INITIALIZATION, 2) ^ UINT64_C(1) << bit;
		assert_true(damaged(header, (uint8_t)(header & 15), ticks, 2));
	}
	/* But for large records, and to one. */
	assert_false(damaged(fxt_header(FXT_KERNEL, 4) | fxt_field(40, 4, FXT_LARGE_BLOB_PLAIN), FXT_KERNEL, blob, 4));
	assert_false(damaged(fxt_header(FXT_INITIALIZATION, 2), FXT_LARGE, ticks, 2));
}

/* ---- repair ---- */

static void bits_of_each_word_are_cleared(void **state)
{
	struct tracemend_options options = { 0 };
	struct tracemend_error error = { 0 };
	uint64_t at[3];

	(void)state;
	begin();
	event(FXT_INSTANT, 3, NAME, NAME);
	for (unsigned i = 0; i < 3; i++) {
		at[i] = out.size;
		argument(FXT_ARG_BOOL, 1, i ? OTHER + 10 * i : NAME, 1 | UINT64_C(2) << i);
	}
	event_end();
	now++;
	instant(NAME, NAME);
	struct bundle *b = bundle_open_memory("capture", out.data, out.size, &options, &error);
	struct findings *f = findings_new(fxt_rules, FXT_RULE_COUNT, &options);
	struct plan *plan = plan_new(b, fxt_rules, FXT_RULE_COUNT);
	struct scan s = { .in = b, .profile = "latest", .findings = f, .plan = plan };
	assert_int_equal(fxt_format.scan(&s), TM_OK);
	assert_int_equal(plan_verify(plan, &error), TM_OK);
	unsigned corrected = 0;
	for (size_t i = 0; i < plan_segment_count(plan, 0); i++) {
		struct tracemend_segment segment = plan_segment_at(plan, 0, i);
		if (!segment.bytes || segment.rule != &fxt_rules[FXT_RULE_bool_value_bits])
			continue;
		/* Words that follow each other are one segment. */
		for (uint64_t k = 0; k < segment.length; k += FXT_WORD, corrected++) {
			assert_true(corrected < 3);
			assert_int_equal(load_u64(segment.bytes + k, false),
					 load_u64(out.data + at[corrected], false) & ((UINT64_C(1) << 33) - 1));
		}
	}
	assert_int_equal(corrected, 3);
	plan_free(plan);
	findings_free(f);
	bundle_free(b);
}

/* ---- reads that fail ---- */

static void no_failed_read_is_lost(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 40; i++) {
		now++;
		event(FXT_INSTANT, 1, NAME, NAME);
		argument(FXT_ARG_STRING, 1 + fxt_words(30000), OTHER, INLINE(30000u));
		text(30000, 'v');
		event_end();
	}
	struct capture c = { .count = 1 };
	c.files[0].data = out.data;
	c.files[0].size = out.size;
	struct capture_faults faults = { 0 };
	for (;;) {
		faults.reads = 0;
		faults.fired = false;
		struct bundle *b = capture_bundle(&c, NULL, &faults);
		struct findings *f = findings_new(fxt_rules, FXT_RULE_COUNT, NULL);
		struct scan s = { .in = b, .findings = f };
		enum tracemend_status status = fxt_format.scan(&s);
		assert_int_equal(status != TM_OK, faults.fired);
		findings_free(f);
		bundle_free(b);
		if (faults.fail_at && !faults.fired)
			break;
		faults.fail_at++;
	}
	assert_true(faults.fail_at > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_each_type_are_taken),
		cmocka_unit_test(runs_begin_at_events_that_differ_from_the_last),
		cmocka_unit_test(early_events_of_one_time_are_taken),
		cmocka_unit_test(inline_texts_are_taken_up_to_a_bound),
		cmocka_unit_test(plain_arguments_are_taken),
		cmocka_unit_test(values_of_text_are_taken),
		cmocka_unit_test(strings_are_taken_up_to_a_length),
		cmocka_unit_test(records_are_described),
		cmocka_unit_test(arguments_are_counted_from_one),
		cmocka_unit_test(the_field_of_a_missing_string_is_named),
		cmocka_unit_test(neighbours_that_are_missing_are_one_finding),
		cmocka_unit_test(repeats_are_of_the_event_before),
		cmocka_unit_test(the_longest_event_may_be_a_repeat),
		cmocka_unit_test(operations_forgive_what_comes_late),
		cmocka_unit_test(a_wall_clock_is_of_this_century),
		cmocka_unit_test(time_ends_with_63_bits_of_nanoseconds),
		cmocka_unit_test(what_may_be_an_argument),
		cmocka_unit_test(types_one_bit_apart_are_tried),
		cmocka_unit_test(bits_of_each_word_are_cleared),
		cmocka_unit_test(no_failed_read_is_lost),
	};
	return RUN(tests);
}
