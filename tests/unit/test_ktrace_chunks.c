/* Chunks beside damage: what repair keeps of them, and what it lists. */
#include "ktrace_bytes.h"

#include "core/plan.h"

/* What repair makes of the file. */
static struct bundle *input;
static struct findings *found;
static struct scan scan;

static void mend_end(void)
{
	findings_free(found);
	plan_free(scan.plan);
	bundle_free(input);
	found = NULL;
	input = NULL;
	scan = (struct scan){ 0 };
}

static void mend(void)
{
	struct tracemend_error error = { 0 };

	mend_end();
	input = file_bundle(NULL);
	found = findings_new(ktrace_rules, KTRACE_RULE_COUNT, NULL);
	scan = (struct scan){ .in = input, .findings = found, .plan = plan_new(input, ktrace_rules, KTRACE_RULE_COUNT) };
	assert_non_null(scan.plan);
	assert_int_equal(ktrace_format.scan(&scan), TM_OK);
	assert_int_equal(plan_verify(scan.plan, &error), TM_OK);
}

/* How many bytes of [from, until) are listed as doubtful. */
static uint64_t doubted(uint64_t from, uint64_t until)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan_doubtful_count(scan.plan); i++) {
		struct tracemend_range r = plan_doubtful_at(scan.plan, i);
		uint64_t a = r.from > from ? r.from : from, b = r.from + r.length < until ? r.from + r.length : until;
		bytes += b > a ? b - a : 0;
	}
	return bytes;
}

static void records(unsigned count, uint64_t time)
{
	chunk_header(KTRACE_EVENTS, 8 + 64 * (uint64_t)count);
	bytes_u64(&file, 0);
	for (unsigned i = 0; i < count; i++)
		record_64(time + 10 * i);
}

static void part(uint32_t tag, uint64_t size)
{
	chunk_header(tag, size);
	fill(1, (size_t)size);
	bytes_align(&file, 8);
}

/* The header of a chunk of sub-chunks, whose size is filled in by parts_end(). */
static size_t parts_begin(uint32_t tag)
{
	size_t at = file.size;

	bytes_u32(&file, tag);
	bytes_u32(&file, KTRACE_SUBCHUNKS);
	bytes_u64(&file, 0);
	part(KTRACE_SUBFILE_ID, 4);
	return at;
}

static void parts_end(size_t at, uint64_t end)
{
	store_u64(file.data + at + 8, end - at - KTRACE_CHUNK_HEADER, false);
}

/* Events, a sub-file of a header and a body, and events: the offset of the body. */
static size_t subfile(size_t *header, size_t *inner, size_t *end)
{
	begin();
	file_header();
	records(8, 2000);
	*header = parts_begin(KTRACE_SUBFILE_HEADER);
	chunk_header(KTRACE_SUBFILE_RELATION, 58);
	bytes_append(&file, "bplist00", 8);
	fill(0, 50);
	parts_end(*header, file.size);
	bytes_align(&file, 8);
	size_t body = parts_begin(KTRACE_SUBFILE_BODY);
	*inner = file.size;
	records(10, 1500);
	part(KTRACE_NULL, 0);
	records(10, 1800);
	*end = file.size;
	parts_end(body, file.size);
	records(8, 3000);
	return body;
}

/* The chunk in front of it, whose sub-chunks fill it, is not to blame; which of the events are of the sub-file, nothing says. */
static void events_of_a_subfile_without_its_header_are_listed(void **state)
{
	size_t header, inner, end, body = subfile(&header, &inner, &end);

	(void)state;
	memset(file.data + body, 0, KTRACE_CHUNK_HEADER);
	mend();
	assert_int_equal(findings_count(found, KTRACE_RULE_chunk_size_damaged), 0);
	assert_int_equal(doubted(inner, end), end - inner);
	assert_int_equal(plan_dropped_count(scan.plan), 1);
	assert_int_equal(plan_dropped_at(scan.plan, 0).from, body);
}

static void damaged_events_of_a_subfile_are_listed(void **state)
{
	size_t header, inner, end;

	(void)state;
	(void)subfile(&header, &inner, &end);
	mend();
	assert_int_equal(doubted(inner, file.size), 0);
	memset(file.data + inner + 24 + 64 * 4 + 20, 0xaa, 40);
	mend();
	assert_int_equal(doubted(inner + 24 + 64 * 4, inner + 24 + 64 * 5), 64);
	assert_int_equal(doubted(inner, inner + 24 + 64 * 3), 0);
}

#define STRANGE 0x4000u
#define STRANGE_BYTES 20000u

/* A thread map, events, a chunk of an unknown kind, events: the offsets of the chunks. */
static void strange(size_t at[4])
{
	begin();
	file_header();
	at[0] = file.size;
	chunk_header(KTRACE_THREAD_MAP, 32);
	bytes_u64(&file, 0x64);
	bytes_u32(&file, 10);
	bytes_append(&file, "alpha\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	at[1] = file.size;
	records(10, 2000);
	at[2] = file.size;
	chunk_header(STRANGE, STRANGE_BYTES);
	for (uint32_t i = 0; i < STRANGE_BYTES / 4; i++)
		bytes_u32(&file, i * UINT32_C(2654435761));
	at[3] = file.size;
	records(10, 3000);
}

static uint64_t dropped(void)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan_dropped_count(scan.plan); i++)
		bytes += plan_dropped_at(scan.plan, i).length;
	return bytes;
}

/* Damage in front of it costs what it hit. */
static void an_unknown_chunk_behind_damage_is_kept(void **state)
{
	size_t at[4];

	(void)state;
	for (int more = -64; more <= 8; more += 72) {
		strange(at);
		store_u64(file.data + at[1] + 8, 8 + 64 * 10 + (uint64_t)more, false);
		mend();
		assert_int_equal(scan.records, 20);
		assert_int_equal(dropped(), 8); /* the size, which is replaced */
	}
	strange(at);
	store_u64(file.data + at[1] + 8, 0, false);
	mend();
	assert_int_equal(scan.records, 20);
	assert_int_equal(dropped(), 8);
	strange(at);
	memset(file.data + at[1], 0, KTRACE_CHUNK_HEADER);
	mend();
	assert_int_equal(scan.records, 20);
	assert_int_equal(dropped(), KTRACE_CHUNK_HEADER + 8);
	strange(at);
	memset(file.data + at[0], 0, KTRACE_CHUNK_HEADER);
	mend();
	assert_int_equal(scan.records, 20);
	assert_int_equal(dropped(), at[1] - at[0]);
}

static void an_unknown_chunk_behind_a_size_without_the_prefix_is_kept(void **state)
{
	size_t at[4];

	(void)state;
	strange(at);
	store_u64(file.data + at[1] + 8, 64 * 10, false);
	mend();
	assert_int_equal(findings_count(found, KTRACE_RULE_events_size_excludes_future), 1);
	assert_int_equal(findings_errors(found), 1);
	assert_int_equal(scan.records, 20);
	assert_int_equal(dropped(), 8);
}

static void padding_behind_an_unknown_chunk_is_added(void **state)
{
	(void)state;
	begin();
	file_header();
	records(4, 2000);
	chunk_header(STRANGE, 501);
	fill('x', 501);
	records(8, 3000);
	mend();
	assert_int_equal(findings_count(found, KTRACE_RULE_chunk_header_misaligned), 1);
	assert_int_equal(scan.records, 12);
	assert_int_equal(dropped(), 0);
}

/* The header of a null chunk and that of the events behind it fill a record. */
static void headers_between_records_are_no_event(void **state)
{
	(void)state;
	begin();
	file_header();
	size_t at = file.size;
	records(8, 2000);
	chunk_header(KTRACE_NULL, 24);
	fill(0, 24);
	records(8, 3000);
	chunk_header(STRANGE, 30);
	fill('x', 30);
	store_u64(file.data + at + 8, UINT64_C(1) << 40, false);
	mend();
	assert_int_equal(scan.records, 16);
	assert_int_equal(dropped(), 8);
}

static void cpu_map(void)
{
	chunk_header(KTRACE_CPU_MAP, 8 + 40 * 2);
	bytes_u32(&file, 1);
	bytes_u32(&file, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bytes_u32(&file, i);
		bytes_u32(&file, 0);
		bytes_append(&file, "AP", 2);
		fill(0, 30);
	}
}

/* A size that takes in the CPU map behind it is wrong, and so is one that the map's own count denies. */
static void header_chunks_keep_to_what_they_hold(void **state)
{
	(void)state;
	for (unsigned which = 0; which < 2; which++) {
		begin();
		file_header();
		chunk_header(KTRACE_UUID, 16);
		fill(7, 16);
		cpu_map();
		store_u64(file.data + 8, file.size - KTRACE_HEADER_UNCOUNTED, false);
		const size_t end = file.size;
		records(8, 2000);
		mend();
		assert_int_equal(findings_errors(found), 0);
		if (which)
			store_u64(file.data + KTRACE_HEADER + 32 + 8, 341, false);
		else
			store_u64(file.data + KTRACE_HEADER + 8, end - KTRACE_HEADER - KTRACE_CHUNK_HEADER - 3, false);
		mend();
		assert_int_equal(findings_errors(found), 1);
		assert_int_equal(findings_count(found, KTRACE_RULE_cpumap_missing), 0);
		assert_int_equal(scan.records, 8);
		assert_int_equal(dropped(), 8);
	}
}

static int finish(void **state)
{
	(void)state;
	mend_end();
	bytes_free(&file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_a_subfile_without_its_header_are_listed),
		cmocka_unit_test(damaged_events_of_a_subfile_are_listed),
		cmocka_unit_test(an_unknown_chunk_behind_damage_is_kept),
		cmocka_unit_test(an_unknown_chunk_behind_a_size_without_the_prefix_is_kept),
		cmocka_unit_test(padding_behind_an_unknown_chunk_is_added),
		cmocka_unit_test(headers_between_records_are_no_event),
		cmocka_unit_test(header_chunks_keep_to_what_they_hold),
	};
	return cmocka_run_group_tests_name(__FILE__, tests, NULL, finish);
}
