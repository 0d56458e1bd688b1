/* scan/ktrace_payload.c: lines of the trace codes, and trailers of property lists, at the edges of what is accepted. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/format.h"
#include "formats/ktrace/ktrace.h"

extern const struct format ktrace_format;

static struct bytes file;

/* A file of version 3 with one chunk: how often the rule is reported. */
static uint64_t reported(enum ktrace_rule rule, uint32_t tag, const void *payload, size_t size)
{
	struct capture c = { .count = 1 };

	bytes_free(&file);
	file = (struct bytes){ 0 };
	bytes_u32(&file, KTRACE_MAGIC);
	bytes_u32(&file, 0);
	bytes_u64(&file, KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED);
	bytes_u32(&file, 125);
	bytes_u32(&file, 3);
	bytes_u64(&file, 1000);
	bytes_u64(&file, 1500000000);
	for (unsigned i = 0; i < 3; i++)
		bytes_u32(&file, 0);
	bytes_u32(&file, KTRACE_FLAG_64);
	bytes_u32(&file, tag);
	bytes_u32(&file, 0);
	bytes_u64(&file, size);
	bytes_append(&file, payload, size);
	bytes_align(&file, 8);
	assert_false(file.failed);
	c.files[0].data = file.data;
	c.files[0].size = file.size;
	struct bundle *b = capture_bundle(&c, NULL, NULL);
	struct findings *f = findings_new(ktrace_rules, KTRACE_RULE_COUNT, NULL);
	struct scan s = { .in = b, .findings = f };
	assert_int_equal(ktrace_format.scan(&s), TM_OK);
	uint64_t count = findings_count(f, rule);
	findings_free(f);
	bundle_free(b);
	return count;
}

static bool codes(const char *text)
{
	return !reported(KTRACE_RULE_trace_codes_syntax, KTRACE_TRACE_CODES, text, strlen(text));
}

static void a_line_is_a_code_and_a_name(void **state)
{
	(void)state;
	assert_true(codes("0x1 A"));
	assert_true(codes("0x1\tA\n"));
	assert_true(codes("0X1 A\n0xffffffff BC\n"));
	assert_true(codes("0x1\tA B\n"));
	assert_true(codes("0x1 A\tB\n"));
	assert_true(codes("\n0x1 A\n\n0x2 B"));
	assert_false(codes("0x1 \n"));
	assert_false(codes("0x1\n"));
	assert_false(codes("0x A\n"));
	assert_false(codes("1x1 A\n"));
	assert_false(codes("001 A\n"));
	assert_false(codes("0xg A\n"));
	assert_false(codes("0x1 A\n0x2 B\n0x3 \n"));
}

/* A property list whose trailer has these fields. */
static bool plist(unsigned offset_size, unsigned reference_size, uint64_t objects, uint64_t top, uint64_t table, size_t room)
{
	uint8_t list[128] = "bplist00";
	uint8_t *p = list + room;

	p[6] = (uint8_t)offset_size;
	p[7] = (uint8_t)reference_size;
	p[15] = (uint8_t)objects;
	p[23] = (uint8_t)top;
	p[31] = (uint8_t)table;
	return !reported(KTRACE_RULE_plist_trailer, KTRACE_IMAGES, list, room + 32);
}

static void a_trailer_points_into_its_list(void **state)
{
	(void)state;
	assert_true(plist(1, 1, 1, 0, 8, 9));
	assert_false(plist(1, 1, 1, 0, 8, 8));
	assert_false(plist(1, 1, 1, 0, 9, 9));
	assert_false(plist(1, 1, 0, 0, 8, 9));
	assert_false(plist(1, 1, 1, 1, 8, 9));
	assert_false(plist(1, 1, 1, 0, 7, 9));
	assert_false(plist(1, 1, 1, 0, 11, 10));
	assert_true(plist(8, 8, 2, 1, 9, 25));
	assert_false(plist(8, 8, 2, 1, 10, 25));
	assert_false(plist(9, 1, 1, 0, 8, 40));
	assert_false(plist(0, 1, 1, 0, 8, 40));
	assert_false(plist(1, 9, 1, 0, 8, 40));
	assert_false(plist(1, 0, 1, 0, 8, 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_code_and_a_name),
		cmocka_unit_test(a_trailer_points_into_its_list),
	};
	int failed = RUN(tests);
	bytes_free(&file);
	return failed;
}
