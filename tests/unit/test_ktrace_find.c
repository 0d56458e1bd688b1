/* What decoding and salvage make of bytes at the edges of what they tell apart: records, thread maps, gaps, chunk headers. */
#include "ktrace_bytes.h"

#include "formats/ktrace/decode/ktrace_header.h"
#include "formats/ktrace/salvage/ktrace_map_find.h"
#include "formats/ktrace/salvage/ktrace_raw_find.h"
#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/salvage/ktrace_resync.h"
#include "formats/ktrace/scan/ktrace_chunk.h"

static struct capture_faults faults;
static struct bundle *bundle;
static struct ktrace_input in;

/* Opens the file as it is now. */
static void open_file(bool is_64)
{
	faults = (struct capture_faults){ 0 };
	bundle = file_bundle(&faults);
	ktrace_input_open(&in, bundle_single(bundle));
	in.is_64 = is_64;
}

static void close_file(void)
{
	ktrace_input_close(&in);
	bundle_free(bundle);
}

/* ---- decode ---- */

static void three_failures_tell_the_width(void **state)
{
	(void)state;
	/* As one of 64 bits: the class, the unused field, and the CPU from 4096 on. */
	for (uint32_t cpu = 4095; cpu <= 4096; cpu++) {
		begin();
		bytes_u64(&file, 1000);
		for (unsigned i = 0; i < 4; i++)
			bytes_u32(&file, 0);
		bytes_u32(&file, 0x64);
		bytes_u32(&file, 0x01400000);
		bytes_u64(&file, 1001);
		for (unsigned i = 0; i < 3; i++)
			bytes_u32(&file, 0);
		bytes_u32(&file, cpu);
		bytes_u32(&file, 0x64);
		bytes_u32(&file, 0x01400000);
		assert_int_equal(ktrace_records_failures(file.data, 64, true, 8), cpu < 4096 ? 2 : 3);
		assert_int_equal(ktrace_records_failures(file.data, 63, true, 8), 0);
		assert_int_equal(ktrace_records_failures(file.data, 64, true, 0), 0);
		assert_int_equal(ktrace_records_failures(file.data, 64, false, 8), 0);
		assert_int_equal(ktrace_records_other_width(file.data, 64, true), cpu == 4096);
		assert_false(ktrace_records_other_width(file.data, 64, false));
	}
}

/* One field of an otherwise good header: whether it is reported. */
static bool header_field(enum ktrace_rule rule, unsigned at, unsigned size, uint64_t value)
{
	struct issue list[KTRACE_HEADER_ISSUES];
	struct issues issues = { .list = list, .room = KTRACE_HEADER_ISSUES };

	begin();
	file_header();
	assert_int_equal(file.size, KTRACE_HEADER);
	for (unsigned i = 0; i < size; i++)
		file.data[at + i] = (uint8_t)(value >> (8 * i));
	(void)ktrace_header_decode(file.data, &issues);
	assert_in_range(issues.count, 0, 1);
	if (issues.count)
		assert_int_equal(list[0].rule, rule);
	return issues.count > 0;
}

static void fields_of_the_header_have_bounds(void **state)
{
	(void)state;
#define WEST(value) header_field(KTRACE_RULE_minutes_west_range, KTRACE_AT_WEST, 4, (uint64_t)(int64_t)(value))
	assert_true(WEST(-841));
	assert_false(WEST(-840));
	assert_false(WEST(720));
	assert_true(WEST(721));
#define FIELD(rule, at, size, good, bad) \
	do { \
		assert_false(header_field(KTRACE_RULE_##rule, at, size, good)); \
		assert_true(header_field(KTRACE_RULE_##rule, at, size, bad)); \
	} while (0)
	FIELD(dst_range, KTRACE_AT_DST, 4, 6, 7);
	FIELD(walltime_usec_range, KTRACE_AT_USEC, 4, 999999, 1000000);
	FIELD(walltime_before_2000, KTRACE_AT_SECONDS, 8, 946684800, 946684799);
	FIELD(walltime_before_2000, KTRACE_AT_SECONDS, 8, 0, 1);
	FIELD(header_major_unsupported, KTRACE_AT_MAJOR, 2, 1, 2);
	FIELD(header_minor_nonzero, KTRACE_AT_MINOR, 2, 0, 1);
	FIELD(flags_reserved_bits, KTRACE_AT_FLAGS, 4, 0, 2);
	FIELD(bad_magic, KTRACE_AT_MAGIC, 4, KTRACE_MAGIC, 0x12345678);
	/* Numerator and denominator. */
	FIELD(timebase_implausible, KTRACE_AT_TIMEBASE, 8, UINT64_C(1) << 32 | 1000000, UINT64_C(1) << 32 | 1000001);
	FIELD(timebase_implausible, KTRACE_AT_TIMEBASE, 8, UINT64_C(3) << 32 | 3000000, UINT64_C(1) << 32 | 1000001);
	FIELD(timebase_implausible, KTRACE_AT_TIMEBASE, 8, UINT64_C(1000) << 32 | 1, UINT64_C(1001) << 32 | 1);
}

/* ---- chunks ---- */

static void a_chunk_header_is_read_up_to_the_end(void **state)
{
	struct ktrace_chunk chunk;

	(void)state;
	begin();
	summary();
	open_file(true);
	assert_true(ktrace_chunk_read(in.source, 8, &chunk));
	for (uint64_t at = 9; at <= 26; at++)
		assert_false(ktrace_chunk_read(in.source, at, &chunk));
	assert_false(ktrace_chunk_read(in.source, UINT64_MAX, &chunk));
	assert_true(ktrace_chunk_plausible(in.source, 0, 24, true));
	assert_false(ktrace_chunk_plausible(in.source, 0, 23, true));
	assert_false(ktrace_chunk_plausible(in.source, 0, 15, true));
	close_file();
}

static void bytes_that_cannot_be_read_are_no_chunk(void **state)
{
	(void)state;
	begin();
	chunk_header(KTRACE_IMAGES, 8);
	bytes_append(&file, "bplist00", 8);
	open_file(true);
	for (unsigned fail = 0; fail <= 2; fail++) {
		faults.fail_at = fail ? faults.reads + fail : 0;
		assert_int_equal(ktrace_chunk_plausible(in.source, 0, file.size, true), !fail);
	}
	faults.fail_at = faults.reads + 1;
	assert_int_equal(ktrace_events_failures(in.source, 0, file.size, true, 8), UINT32_MAX);
	faults.fail_at = faults.reads + 1;
	assert_false(ktrace_events_plausible(in.source, 0, 64, false, 1));
	close_file();
}

static void an_unfinished_chunk_is_found(void **state)
{
	(void)state;
	for (unsigned known = 0; known < 2; known++) {
		begin();
		fill(0xa5, 16);
		chunk_header(known ? KTRACE_TAG_UNFINISHED : 0x30000, 8);
		bytes_u64(&file, 1);
		for (unsigned i = 0; i < 4; i++)
			summary();
		open_file(true);
		assert_int_equal(ktrace_chunk_find_next(&in, 1, file.size), known ? 16 : 40);
		close_file();
	}
}

/* ---- records ---- */

static void the_last_record_is_found_again(void **state)
{
	(void)state;
	for (unsigned good = 1; good <= 5; good++) {
		bool lenient = false;
		begin();
		fill(0xff, 64);
		for (unsigned i = 0; i < good; i++)
			record_64(1000 + i);
		open_file(true);
		assert_int_equal(ktrace_records_resync(&in, 0, file.size, &lenient), 64);
		assert_false(lenient);
		assert_int_equal(ktrace_records_bad_run(&in, 0, file.size, 0), 1);
		assert_int_equal(ktrace_events_in_order(&in, 64, file.size), good >= KTRACE_RUN ? good : 0);
		assert_true(ktrace_records_fill(&in, 64, file.size));
		assert_false(ktrace_records_fill(&in, 64, file.size - 1));
		assert_false(ktrace_records_fill(&in, file.size, file.size));
		assert_int_equal(ktrace_events_find(&in, 0, file.size, 8), 64);
		close_file();
	}
}

/* ---- RAW files: thread maps ---- */

/* Entries of 32-bit maps that begin at 20, and can be read from 24 on as well, in that width only. */
static void shifted_entries(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bytes_u32(&file, 0x200000 + i);
		bytes_u32(&file, 1);
		fill(0, KTRACE_NAME);
	}
}

static void raw1_header(uint32_t threads, size_t map)
{
	begin();
	bytes_u32(&file, KTRACE_MAGIC_RAW1);
	bytes_u32(&file, threads);
	bytes_u64(&file, 1500000000);
	fill(0, map - file.size);
}

static void a_cpu_map_tells_where_the_thread_map_begins(void **state)
{
	(void)state;
	for (unsigned map = 20; map <= 24; map += 4) {
		raw1_header(10, 20);
		shifted_entries(10);
		fill(0, map - 20);
		bytes_u32(&file, KTRACE_MAGIC_RAW1);
		bytes_u32(&file, 1);
		fill(0, KTRACE_PAGE - file.size);
		for (unsigned i = 0; i < 16; i++)
			record_32(1000 + i);
		open_file(false);
		struct ktrace_raw1 form = ktrace_raw1_find(&in.window, 10, NULL);
		assert_int_equal(form.map, map);
		assert_false(form.is_64);
		assert_true(form.certain);
		close_file();
	}
}

/* The map ends in one page or in the next, and only one of them begins with records. Of two maps of one width neither is certain.
 */
static void maps_of_one_width_leave_it_uncertain(void **state)
{
	const unsigned threads = 877;

	(void)state;
	raw1_header(threads, 20);
	shifted_entries(threads);
	assert_int_equal(file.size, 6 * KTRACE_PAGE);
	for (unsigned i = 0; i < KTRACE_PAGE / 32; i++)
		record_32(1000 + i);
	fill(0x0d, KTRACE_PAGE); /* a class that does not exist */
	open_file(false);
	struct ktrace_raw1 form = ktrace_raw1_find(&in.window, threads, NULL);
	assert_int_equal(form.map, 20);
	assert_false(form.is_64);
	assert_false(form.certain);
	close_file();
}

static void a_raw_file_is_read_again_as_it_was(void **state)
{
	struct ktrace_head kept = { 0 };
	struct ktrace_raw raw = { .version = 1, .threads = 10, .map = 24 };

	(void)state;
	raw1_header(10, 20);
	shifted_entries(10);
	fill(0, 4);
	bytes_u32(&file, KTRACE_MAGIC_RAW1);
	bytes_u32(&file, 1);
	fill(0, KTRACE_PAGE - file.size);
	open_file(false);
	assert_true(ktrace_raw_is_unambiguous(&in, &raw, &kept));
	raw.map = 20;
	assert_false(ktrace_raw_is_unambiguous(&in, &raw, &kept));
	raw.map = 24;
	in.is_64 = true;
	assert_false(ktrace_raw_is_unambiguous(&in, &raw, &kept));
	close_file();
	/* Without the CPU map two thread maps are possible. */
	memset(file.data + 304, 0, 8);
	open_file(false);
	raw.map = 20;
	assert_false(ktrace_raw_is_unambiguous(&in, &raw, &kept));
	close_file();
}

static void entries(unsigned count, bool is_64)
{
	for (unsigned i = 0; i < count; i++) {
		char name[KTRACE_NAME] = "kernel_task";
		bytes_u32(&file, 0x64 + i);
		if (is_64)
			bytes_u32(&file, 0);
		bytes_u32(&file, 1);
		bytes_append(&file, name, sizeof(name));
	}
}

static void the_entries_are_counted_again(void **state)
{
	(void)state;
	/* The count that is stored ends the map at the end of the file, after it, or at the page where the records are; or an entry
	 * is left behind it. */
	static const uint32_t counts[] = { 159, 160, 100, 8, 7 };
	for (unsigned i = 0; i < 5; i++) {
		struct ktrace_raw raw = { .version = 2, .threads = counts[i], .map = KTRACE_RAW2_HEADER };
		begin();
		fill(0, KTRACE_RAW2_HEADER);
		entries(8, true);
		fill(0, KTRACE_PAGE - file.size);
		for (unsigned n = 0; n < 20; n++)
			record_64(1000 + n);
		assert_int_equal(file.size, KTRACE_RAW2_HEADER + 159 * 32);
		open_file(true);
		assert_int_equal(ktrace_raw_threads_find(&in, &raw), counts[i] > 100 || counts[i] < 8 ? 8 : UINT64_MAX);
		close_file();
	}
}

/* Bytes inserted between two entries: as few as one. A whole entry that is odd is no gap. */
static void a_map_out_of_step(void **state)
{
	(void)state;
	for (unsigned more = 0; more <= 40; more++) {
		begin();
		entries(4, true);
		fill(0xff, more);
		entries(8, true);
		open_file(true);
		struct ktrace_map_gap gap = ktrace_map_gap_find(&in, 0, 12, file.size);
		if (!more || more == 32) {
			assert_int_equal(gap.from, gap.until);
		} else {
			assert_int_equal(gap.from, 128);
			assert_int_equal(gap.until, 128 + more);
			assert_int_equal(gap.end, file.size);
		}
		close_file();
	}
}

/* A header whose magic number is lost says how long it is, 40 bytes without a list of CPUs; or two known chunks follow. */
static void a_header_has_a_least_size(void **state)
{
	(void)state;
	for (unsigned chunks = 1; chunks <= 3; chunks++)
		for (uint64_t size = 39; size <= 41; size++) {
			begin();
			file_header();
			store_u32(file.data, 0x12345678, false);
			store_u64(file.data + 8, size, false);
			for (unsigned i = 0; i < chunks; i++)
				summary();
			open_file(true);
			assert_int_equal(ktrace_form_find(&in.window, 0x12345678).bits == 12, size >= 40 || chunks >= 2);
			assert_int_equal(ktrace_form_find(&in.window, KTRACE_MAGIC_KERNEL).bits == 24, size >= 40);
			close_file();
		}
}

/* A map of one entry. */
static bool entry_is_plausible(uint64_t tid, int32_t pid, uint8_t first)
{
	begin();
	bytes_u64(&file, tid);
	bytes_u32(&file, (uint32_t)pid);
	fill(first, 1);
	fill(0, KTRACE_NAME - 1);
	open_file(true);
	bool plausible = ktrace_map_is_of(&in.window, 0, 1, 32);
	close_file();
	return plausible;
}

static void entries_have_small_numbers(void **state)
{
	(void)state;
	assert_true(entry_is_plausible(1, 0, 'a'));
	assert_true(entry_is_plausible(1, KTRACE_PID_MAX, 'a'));
	assert_false(entry_is_plausible(1, KTRACE_PID_MAX + 1, 'a'));
	assert_false(entry_is_plausible(1, -1, 'a'));
	assert_true(entry_is_plausible((UINT64_C(1) << 48) - 1, 1, 'a'));
	assert_false(entry_is_plausible(UINT64_C(1) << 48, 1, 'a'));
	assert_true(entry_is_plausible(1, 1, 0));
	assert_true(entry_is_plausible(1, 1, 0x20));
	assert_false(entry_is_plausible(1, 1, 0x1f));
}

/* The last entry ends where the records begin. */
static void entries_end_before_the_records(void **state)
{
	struct ktrace_raw raw = { .version = 2, .threads = 300, .map = KTRACE_RAW2_HEADER };

	(void)state;
	begin();
	fill(0, KTRACE_RAW2_HEADER);
	entries(119, true);
	assert_int_equal(file.size, KTRACE_PAGE);
	for (unsigned n = 0; n < 20; n++)
		record_64(1000 + n);
	open_file(true);
	assert_int_equal(ktrace_raw_threads_find(&in, &raw), 119);
	close_file();
}

/* ---- RAW files: the gap ---- */

static struct ktrace_raw gap(unsigned version, uint64_t map_end)
{
	struct ktrace_raw raw = { .version = version, .map = KTRACE_RAW2_HEADER, .map_end = map_end };

	open_file(true);
	ktrace_raw_events_find(&in, &raw);
	close_file();
	return raw;
}

static void events_begin_at_a_page(void **state)
{
	(void)state;
	for (uint64_t map_end = KTRACE_PAGE - 16; map_end <= KTRACE_PAGE; map_end += 8) {
		for (unsigned pages = 1; pages <= 3; pages++) {
			begin();
			fill(1, map_end);
			fill(0, pages * KTRACE_PAGE - map_end);
			record_64(1001);
			struct ktrace_raw raw = gap(2, map_end);
			assert_int_equal(raw.events, pages * KTRACE_PAGE);
			assert_false(raw.unpadded);
			assert_int_equal(gap(0, map_end).events, map_end);
			/* Zeros up to the end are no more pages of padding. */
			file.size = pages * KTRACE_PAGE;
			raw = gap(2, map_end);
			assert_int_equal(raw.events, KTRACE_PAGE);
			assert_false(raw.unpadded);
			file.size = map_end;
			assert_int_equal(gap(2, map_end).events, map_end);
		}
	}
}

/* One byte of eight is not zero, or fewer; unless records begin at the page. */
static void a_gap_is_mostly_zeros(void **state)
{
	(void)state;
	for (unsigned filled = 1; filled <= 9; filled++)
		for (unsigned records = 0; records < 2; records++) {
			begin();
			fill(1, KTRACE_PAGE - 64);
			fill(0, 64 - filled);
			fill(1, filled);
			if (records)
				record_64(1001);
			else
				fill(1, 64);
			struct ktrace_raw raw = gap(2, KTRACE_PAGE - 64);
			bool unpadded = filled >= 8 && !records;
			assert_int_equal(raw.unpadded, unpadded);
			assert_int_equal(raw.events, unpadded ? KTRACE_PAGE - 64 : KTRACE_PAGE);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_failures_tell_the_width),
		cmocka_unit_test(fields_of_the_header_have_bounds),
		cmocka_unit_test(a_chunk_header_is_read_up_to_the_end),
		cmocka_unit_test(bytes_that_cannot_be_read_are_no_chunk),
		cmocka_unit_test(an_unfinished_chunk_is_found),
		cmocka_unit_test(the_last_record_is_found_again),
		cmocka_unit_test(a_cpu_map_tells_where_the_thread_map_begins),
		cmocka_unit_test(maps_of_one_width_leave_it_uncertain),
		cmocka_unit_test(a_raw_file_is_read_again_as_it_was),
		cmocka_unit_test(the_entries_are_counted_again),
		cmocka_unit_test(a_map_out_of_step),
		cmocka_unit_test(a_header_has_a_least_size),
		cmocka_unit_test(entries_have_small_numbers),
		cmocka_unit_test(entries_end_before_the_records),
		cmocka_unit_test(events_begin_at_a_page),
		cmocka_unit_test(a_gap_is_mostly_zeros),
	};
	int failed = RUN(tests);
	bytes_free(&file);
	return failed;
}
