/* The length of a page: each of its four contradictions is reported, to the byte; and what repair makes of it. */
#include "unit.h"

#include "core/bytes.h"
#include "tracemend.h"

#define PAGE_SIZE 4096u
#define HEAD 16u /* time and commit word, of a kernel with longs of 8 bytes */
#define CAPACITY (PAGE_SIZE - HEAD)

/* The smallest capture: version 6, one CPU, one page at the end of the file. */
struct capture {
	uint8_t *data;
	size_t size;
	uint8_t *page;
	uint64_t length; /* of its data */
};

static struct capture capture_make(void)
{
	const struct tracemend_recipe recipe = { .format = "tracedat", .choices = (const uint8_t *)"" };
	struct tracemend_error error;
	struct tracemend_sample *s = tracemend_generate(&recipe, &error);
	struct capture c = { 0 };
	const uint8_t *data;

	assert_non_null(s);
	assert_string_equal(tracemend_sample_file(s, 0, &data, &c.size), "");
	c.data = malloc(c.size);
	assert_non_null(c.data);
	memcpy(c.data, data, c.size);
	tracemend_sample_free(s);
	assert_int_equal(c.size % PAGE_SIZE, 0);
	c.page = c.data + c.size - PAGE_SIZE;
	c.length = load_u64(c.page + 8, false);
	assert_in_range(c.length, 16, CAPACITY - 8);
	return c;
}

static struct tracemend_input *capture_open(const struct capture *c)
{
	struct tracemend_error error;
	struct tracemend_input *in = tracemend_open_memory("page.dat", c->data, c->size, NULL, &error);
	assert_non_null(in);
	return in;
}

/* One finding of that rule, on those bytes of the page. */
static void expect(const struct capture *c, const char *rule, uint64_t at, uint64_t length)
{
	struct tracemend_error error;
	struct tracemend_input *in = capture_open(c);
	struct tracemend_report *r = tracemend_check(in, NULL, &error);
	unsigned found = 0;

	assert_non_null(r);
	for (size_t i = 0; i < tracemend_report_finding_count(r); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(r, i);
		if (strcmp(f->rule->id, rule))
			continue;
		found++;
		assert_int_equal(f->severity, TM_ERROR);
		assert_int_equal(f->offset, (uint64_t)(c->page - c->data) + at);
		assert_int_equal(f->length, length);
	}
	if (found != 1)
		fail_msg("%s: %u findings, not 1", rule, found);
	tracemend_report_free(r);
	tracemend_close(in);
}

/* The commit word of the page in what repair makes, and its data; a repaired page ends in zeros. */
static uint64_t repaired(const struct capture *c, uint8_t page[PAGE_SIZE])
{
	struct tracemend_error error;
	struct tracemend_input *in = capture_open(c);
	struct tracemend_repair *r = tracemend_repair(in, NULL, &error);

	if (!r)
		fail_msg("repair: %s", error.message);
	assert_int_equal(tracemend_repair_output(r, 0)->size, c->size);
	assert_int_equal(tracemend_repair_read(r, 0, c->size - PAGE_SIZE, page, PAGE_SIZE), TM_OK);
	tracemend_repair_free(r);
	tracemend_close(in);
	uint64_t length = load_u64(page + 8, false) & 0x7ffffff;
	assert_in_range(length, 0, CAPACITY);
	for (uint64_t i = HEAD + length; i < PAGE_SIZE; i++)
		assert_int_equal(page[i], 0);
	return length;
}

static const char rule[] = "tracedat/page-commit-length";

static void beyond_the_page(void **state)
{
	(void)state;
	/* By as little as it can be, and by more. */
	static const uint64_t lengths[] = { CAPACITY + 1, CAPACITY + 4, CAPACITY + 8, 0x7fffffc };
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct capture c = capture_make();
		uint8_t page[PAGE_SIZE];
		uint64_t length = c.length;
		store_u64(c.page + 8, lengths[i], false);
		expect(&c, rule, 8, 8);
		assert_int_equal(repaired(&c, page), length);
		free(c.data);
	}
}

static void nothing_but_data(void **state)
{
	(void)state;
	struct capture c = capture_make();
	memset(c.page, 0, HEAD);
	expect(&c, rule, 0, HEAD);
	free(c.data);
}

static void length_of_zero(void **state)
{
	(void)state;
	struct capture c = capture_make();
	uint8_t page[PAGE_SIZE];
	uint64_t length = c.length;
	store_u64(c.page + 8, 0, false);
	expect(&c, rule, 8, 8);
	assert_int_equal(repaired(&c, page), length);
	free(c.data);
}

static void length_of_zero_and_noise(void **state)
{
	(void)state;
	struct capture c = capture_make();
	store_u64(c.page + 8, 0, false);
	memset(c.page + HEAD, 0xaa, 64);
	expect(&c, rule, 8, 8);
	free(c.data);
}

/* The length ends inside a time stamp, of which only the first word is data. */
static void time_stamp_cut(void **state)
{
	(void)state;
	struct capture c = capture_make();
	store_u32(c.page + HEAD + c.length, 1u << 5 | 30, false);
	store_u32(c.page + HEAD + c.length + 4, 1, false);
	store_u64(c.page + 8, c.length + 4, false);
	expect(&c, "tracedat/page-commit-mid-record", HEAD + c.length, 4);
	free(c.data);
}

/* One record of an unknown event is taken out of its page, which gets shorter by as much. */
static void record_removed(void **state)
{
	(void)state;
	struct capture c = capture_make();
	uint8_t page[PAGE_SIZE];
	uint32_t total = 4 + 4 * (load_u32(c.page + HEAD, false) & 31);
	assert_in_range(total, 16, 4 + 4 * 28);
	assert_true(total < c.length);
	store_u16(c.page + HEAD + 4, 999, false);
	expect(&c, "tracedat/record-unknown-event-id", HEAD, 8);
	assert_int_equal(repaired(&c, page), c.length - total);
	/* The records behind it move up. Their first one takes its time on. */
	assert_memory_equal(page + HEAD + 4, c.page + HEAD + total + 4, c.length - total - 4);
	uint32_t gone = load_u32(c.page + HEAD, false) >> 5, next = load_u32(c.page + HEAD + total, false) >> 5;
	assert_int_equal(load_u32(page + HEAD, false) >> 5, gone + next);
	free(c.data);
}

/* A record is left out since zeros begin in it: the edit of its own array must not reach the plan. */
static void array_in_a_record_left_out(void **state)
{
	(void)state;
	const char *id = "tracedat/record-data-loc-range";
	const struct tracemend_recipe recipe = { .format = "tracedat", .rule = id, .seed = 1 };
	const struct tracemend_rule *range = tracemend_rule_find(id);
	struct tracemend_error error;
	struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
	const uint8_t *data;
	struct capture c = { 0 };
	uint64_t field = 0;

	assert_non_null(sample);
	(void)tracemend_sample_file(sample, 0, &data, &c.size);
	c.data = malloc(c.size);
	assert_non_null(c.data);
	memcpy(c.data, data, c.size);
	tracemend_sample_free(sample);
	struct tracemend_input *in = capture_open(&c);
	struct tracemend_report *report = tracemend_check(in, NULL, &error);
	assert_non_null(report);
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++)
		if (tracemend_report_finding(report, i)->rule == range)
			field = tracemend_report_finding(report, i)->offset;
	tracemend_report_free(report);
	tracemend_close(in);
	/* Pages of these samples have 1024 bytes. The field is behind the word and 8 bytes of common fields. */
	assert_true(field > 12);
	size_t record = (size_t)field - 12, page = record & ~(size_t)1023;
	size_t end = record + 4 + 4 * (load_u32(c.data + record, false) & 31);
	assert_true(end + 64 <= page + 1024);
	store_u64(c.data + page + 8, end - page - HEAD + 64, false);
	memset(c.data + end - 4, 0, page + 1024 - (end - 4));
	in = capture_open(&c);
	struct tracemend_repair *repair = tracemend_repair(in, NULL, &error);
	if (!repair)
		fail_msg("repair: %s", error.message);
	tracemend_repair_free(repair);
	tracemend_close(in);
	free(c.data);
}

/* The metadata is loaded in steps, the first of 1 MiB: an option that reaches across is whole, and what follows it as well. */
static void option_across_the_first_load(void **state)
{
	(void)state;
	const size_t more = 1u << 20;
	struct capture c = capture_make();
	const uint8_t *tag = memmem(c.data, c.size, "options  ", 10);
	const uint8_t *table = memmem(c.data, c.size, "flyrecord", 10);

	if (!tag || !table || tag > table)
		fail_msg("the smallest capture has no options");
	size_t at = (size_t)(tag - c.data) + 10, entry = (size_t)(table - c.data) + 10 + more;
	uint8_t *data = calloc(1, c.size + more);
	assert_non_null(data);
	memcpy(data, c.data, at);
	memcpy(data + at + more, c.data + at, c.size - at);
	store_u16(data + at, 30, false); /* of an id that nobody knows yet */
	store_u32(data + at + 2, (uint32_t)more - 6, false);
	store_u64(data + entry, load_u64(data + entry, false) + more, false);
	free(c.data);
	c.data = data;
	c.size += more;
	struct tracemend_error error;
	struct tracemend_input *in = capture_open(&c);
	struct tracemend_report *r = tracemend_check(in, NULL, &error);
	assert_non_null(r);
	for (size_t i = 0; i < tracemend_report_finding_count(r); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(r, i);
		if (f->severity != TM_NOTE)
			fail_msg("%s: %s", f->rule->id, f->message);
	}
	tracemend_report_free(r);
	tracemend_close(in);
	free(c.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beyond_the_page),
		cmocka_unit_test(nothing_but_data),
		cmocka_unit_test(length_of_zero),
		cmocka_unit_test(length_of_zero_and_noise),
		cmocka_unit_test(time_stamp_cut),
		cmocka_unit_test(record_removed),
		cmocka_unit_test(array_in_a_record_left_out),
		cmocka_unit_test(option_across_the_first_load),
	};
	return RUN(tests);
}
