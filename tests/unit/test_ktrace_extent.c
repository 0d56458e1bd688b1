/* salvage/ktrace_extent.h: how far a chunk reaches, at the edges of what is told apart. */
#include "ktrace_bytes.h"

#include "formats/ktrace/salvage/ktrace_extent.h"

#define RECORD 64u

static void events(unsigned records)
{
	bytes_u64(&file, 0);
	for (unsigned i = 0; i < records; i++)
		record_64(1000 + i);
}

/* The extent of the first chunk of the file. */
static struct ktrace_extent extent(void)
{
	struct ktrace_input in;
	struct ktrace_chunk chunk;

	struct bundle *b = file_bundle(NULL);
	ktrace_input_open(&in, bundle_single(b));
	in.is_64 = true;
	assert_true(ktrace_chunk_read(in.source, 0, &chunk));
	struct ktrace_extent x = ktrace_chunk_extent(&in, &chunk, file.size);
	ktrace_input_close(&in);
	bundle_free(b);
	return x;
}

#define EXPECT(x, size_, next_, rule_) \
	do { \
		struct ktrace_extent expect_x = (x); \
		assert_int_equal(expect_x.rule, rule_); \
		assert_int_equal(expect_x.size, size_); \
		assert_int_equal(expect_x.next, next_); \
	} while (0)

static void a_size_may_reach_the_end_and_not_a_byte_more(void **state)
{
	(void)state;
	for (uint64_t more = 0; more <= 40; more++) {
		begin();
		chunk_header(KTRACE_TRACE_CODES, 32 + more);
		bytes_append(&file, "0x1400000 ABC\n0x1400004 ABCDEFG\n", 32);
		EXPECT(extent(), 32, file.size, more ? KTRACE_RULE_chunk_size_past_eof : KTRACE_RULE_COUNT);
	}
}

static void the_next_chunk_is_within_the_file(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_TRACE_CODES, 14);
	bytes_append(&file, "0x1400000 ABC\n", 14);
	EXPECT(extent(), 14, 30, KTRACE_RULE_COUNT);
}

/* The size may be right, and the header of the next chunk damaged. */
static void a_lost_header_is_not_the_fault_of_the_size(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_TRACE_CODES, 32);
	bytes_append(&file, "0x1400000 ABC\n0x1400004 ABCDEFG\n", 32);
	bytes_u64(&file, UINT64_C(0xa1a2a3a4a5a6a7a8));
	summary();
	summary();
	EXPECT(extent(), 32, 48, KTRACE_RULE_COUNT);
}

static void an_events_size_without_its_prefix_is_eight_short(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_EVENTS, 4 * RECORD);
	events(4);
	/* At the end of the file the rest is too short for a chunk header, which is said there. */
	EXPECT(extent(), 4 * RECORD, 16 + 4 * RECORD, KTRACE_RULE_COUNT);
	summary();
	EXPECT(extent(), 8 + 4 * RECORD, 24 + 4 * RECORD, KTRACE_RULE_events_size_excludes_future);
	/* No chunk where the next one should be, and no end either. */
	begin();
	chunk_header(KTRACE_EVENTS, 4 * RECORD);
	events(4);
	bytes_u64(&file, UINT64_C(0xa1a2a3a4a5a6a7a8));
	assert_int_not_equal(extent().rule, KTRACE_RULE_events_size_excludes_future);
	/* A byte less than the prefix is there. */
	begin();
	chunk_header(KTRACE_EVENTS, 4 * RECORD);
	events(4);
	file.size--;
	assert_int_not_equal(extent().rule, KTRACE_RULE_events_size_excludes_future);
}

static void a_size_with_its_header_is_sixteen_too_large(void **state)
{
	(void)state;
	for (uint64_t more = 8; more <= 24; more += 8) {
		begin();
		chunk_header(KTRACE_TRACE_CODES, 32 + more);
		bytes_append(&file, "0x1400000 ABC\n0x1400004 ABCDEFG\n", 32);
		summary();
		summary();
		if (more == 16)
			EXPECT(extent(), 32, 48, KTRACE_RULE_chunk_size_includes_header);
		else
			assert_int_not_equal(extent().rule, KTRACE_RULE_chunk_size_includes_header);
	}
}

static void a_size_of_only_the_header_is_none(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_NULL, 16);
	summary();
	summary();
	EXPECT(extent(), 0, 16, KTRACE_RULE_chunk_size_includes_header);
}

static void a_next_chunk_may_stand_off_the_grid(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_TRACE_CODES, 14);
	bytes_append(&file, "0x1400000 ABC\n", 14);
	summary();
	EXPECT(extent(), 14, 30, KTRACE_RULE_chunk_header_misaligned);
}

/* The padding that a size a little too small gives is the end of a record, or of an entry. */
static void padding_that_completes_a_record_belongs_to_it(void **state)
{
	(void)state;
	for (uint64_t stored = 8 + 2 * RECORD; stored <= 8 + 3 * RECORD; stored++) {
		begin();
		chunk_header(KTRACE_EVENTS, stored);
		events(3);
		summary();
		bool completes = stored > 8 + 3 * RECORD - 8 && stored < 8 + 3 * RECORD; /* else the next chunk is elsewhere */
		bool whole = stored == 8 + 3 * RECORD;
		if (completes || whole)
			EXPECT(extent(), 8 + 3 * RECORD, 24 + 3 * RECORD,
			       whole ? KTRACE_RULE_COUNT : KTRACE_RULE_chunk_size_damaged);
	}
	/* Half a record is none. */
	begin();
	chunk_header(KTRACE_EVENTS, 8 + RECORD + 32);
	events(1);
	record_64(1001);
	file.size -= 32;
	summary();
	EXPECT(extent(), 8 + RECORD + 32, 24 + RECORD + 32, KTRACE_RULE_COUNT);
}

static void padding_that_completes_an_entry_belongs_to_it(void **state)
{
	uint8_t entry[32] = { 0x64, [8] = 10, [12] = 'a' };

	(void)state;
	for (uint64_t stored = 57; stored <= 64; stored++) {
		begin();
		chunk_header(KTRACE_THREAD_MAP, stored);
		bytes_append(&file, entry, sizeof(entry));
		bytes_append(&file, entry, sizeof(entry));
		summary();
		EXPECT(extent(), 64, 80, stored == 64 ? KTRACE_RULE_COUNT : KTRACE_RULE_chunk_size_damaged);
	}
	begin();
	chunk_header(KTRACE_THREAD_MAP, 56);
	bytes_append(&file, entry, sizeof(entry));
	bytes_append(&file, entry, 24);
	summary();
	EXPECT(extent(), 56, 72, KTRACE_RULE_COUNT);
}

static void a_list_behind_an_empty_size_is_the_payload(void **state)
{
	(void)state;
	for (size_t there = 0; there <= 16; there++) {
		begin();
		chunk_header(KTRACE_IMAGES, 0);
		bytes_append(&file, "bplist00--------", there);
		struct ktrace_extent x = extent();
		if (there >= 8)
			EXPECT(x, there, file.size, KTRACE_RULE_chunk_size_damaged);
		else
			assert_int_equal(x.rule, KTRACE_RULE_COUNT);
	}
	/* A size that has room for its beginning may be right. */
	begin();
	chunk_header(KTRACE_IMAGES, 8);
	bytes_append(&file, "bplist00----------------", 24);
	EXPECT(extent(), 8, 24, KTRACE_RULE_COUNT);
}

static void records_behind_the_end_are_the_payload(void **state)
{
	(void)state;
	for (unsigned missing = 0; missing <= 8; missing++) {
		begin();
		chunk_header(KTRACE_EVENTS, 0);
		events(1);
		file.size -= missing;
		struct ktrace_extent x = extent();
		if (!missing)
			EXPECT(x, 8 + RECORD, file.size, KTRACE_RULE_chunk_size_damaged);
		else
			assert_int_equal(x.rule, KTRACE_RULE_COUNT);
	}
	/* Up to the next chunk: the last one before it tells, since what follows it is no record. */
	static const uint64_t sizes[] = { 4, 60 };
	for (size_t i = 0; i < 2; i++) {
		begin();
		chunk_header(KTRACE_EVENTS, sizes[i]);
		events(1);
		for (unsigned n = 0; n < 6; n++)
			summary();
		EXPECT(extent(), 8 + RECORD, 24 + RECORD, KTRACE_RULE_chunk_size_damaged);
	}
}

static void impossible_sizes_have_rules_of_their_own(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_EVENTS, KTRACE_SIZE_UNFINISHED);
	events(4);
	EXPECT(extent(), 8 + 4 * RECORD, file.size, KTRACE_RULE_chunk_size_unknown);
	begin();
	chunk_header(KTRACE_EVENTS, UINT64_C(1) << 62);
	events(4);
	EXPECT(extent(), 8 + 4 * RECORD, file.size, KTRACE_RULE_chunk_size_overflow);
	begin();
	chunk_header(KTRACE_EVENTS, (UINT64_C(1) << 62) - 1);
	events(4);
	EXPECT(extent(), 8 + 4 * RECORD, file.size, KTRACE_RULE_chunk_size_past_eof);
	summary();
	EXPECT(extent(), 8 + 4 * RECORD, 24 + 4 * RECORD, KTRACE_RULE_chunk_size_damaged);
}

/* What a kind of a fixed size has, and what follows is not its own. */
static void a_guess_keeps_to_the_fixed_size(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_SUMMARY, 4096);
	bytes_u64(&file, 2000);
	summary();
	EXPECT(extent(), 8, 24, KTRACE_RULE_chunk_size_damaged);
	begin();
	chunk_header(KTRACE_SUMMARY, 4096);
	bytes_u64(&file, 2000);
	bytes_u64(&file, 0);
	summary();
	EXPECT(extent(), 8, 24, KTRACE_RULE_chunk_size_damaged);
	/* Its padding is cut as well. */
	begin();
	chunk_header(KTRACE_SUBFILE_ID, 4096);
	bytes_append(&file, "\1\0\0\0\0\0", 6);
	summary();
	EXPECT(extent(), 4, 22, KTRACE_RULE_chunk_size_damaged);
	/* Records in it, whose own header is lost with 16 bytes and a prefix before them. */
	for (size_t length = 8; length <= 32; length += 8) {
		begin();
		chunk_header(KTRACE_TRACE_CODES, 1 << 20);
		bytes_append(&file, "0x1400000 ABCDEF0x1400000 ABCDEF", length);
		chunk_header(0, 0);
		events(6);
		EXPECT(extent(), length, 16 + length, KTRACE_RULE_chunk_size_past_eof);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_may_reach_the_end_and_not_a_byte_more),
		cmocka_unit_test(the_next_chunk_is_within_the_file),
		cmocka_unit_test(a_lost_header_is_not_the_fault_of_the_size),
		cmocka_unit_test(an_events_size_without_its_prefix_is_eight_short),
		cmocka_unit_test(a_size_with_its_header_is_sixteen_too_large),
		cmocka_unit_test(a_size_of_only_the_header_is_none),
		cmocka_unit_test(a_next_chunk_may_stand_off_the_grid),
		cmocka_unit_test(padding_that_completes_a_record_belongs_to_it),
		cmocka_unit_test(padding_that_completes_an_entry_belongs_to_it),
		cmocka_unit_test(a_list_behind_an_empty_size_is_the_payload),
		cmocka_unit_test(records_behind_the_end_are_the_payload),
		cmocka_unit_test(impossible_sizes_have_rules_of_their_own),
		cmocka_unit_test(a_guess_keeps_to_the_fixed_size),
	};
	int failed = RUN(tests);
	bytes_free(&file);
	return failed;
}
