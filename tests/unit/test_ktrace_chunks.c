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
	};
	return cmocka_run_group_tests_name(__FILE__, tests, NULL, finish);
}
