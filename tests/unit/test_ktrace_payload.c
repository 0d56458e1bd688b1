/* scan/ktrace_payload.c: lines of the trace codes, and trailers of property lists, at the edges of what is accepted. */
#include "ktrace_bytes.h"

#include "formats/ktrace/decode/ktrace_kind.h"

/* A file of version 3 with one chunk: how often the rule is reported. */
static uint64_t reported(enum ktrace_rule rule, uint32_t tag, const void *payload, size_t size)
{
	begin();
	file_header();
	chunk_header(tag, size);
	bytes_append(&file, payload, size);
	bytes_align(&file, 8);
	struct bundle *b = file_bundle(NULL);
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

/* A file within the file: its header says its own size without 16 bytes, 40 at least, and is all there. */
static bool nested(uint32_t magic, uint64_t header, size_t size)
{
	uint8_t payload[128] = { 0 };
	store_u32(payload, magic, false);
	store_u64(payload + 8, header, false);
	return !reported(KTRACE_RULE_nested_ktrace_invalid, KTRACE_NESTED, payload, size);
}

static void a_nested_file_has_a_header(void **state)
{
	(void)state;
	assert_true(nested(KTRACE_MAGIC, 40, 56));
	assert_true(nested(KTRACE_MAGIC, 40, 128));
	assert_true(nested(KTRACE_MAGIC, 112, 128));
	assert_false(nested(KTRACE_MAGIC, 113, 128));
	assert_false(nested(KTRACE_MAGIC, 39, 128));
	assert_false(nested(KTRACE_MAGIC ^ 1, 40, 128));
	assert_false(nested(KTRACE_MAGIC, 40, 55));
	assert_false(nested(KTRACE_MAGIC, 0, 8));
}

/* A prefix of 8 bytes, a count, and 3 to 65 bytes for each event. */
static bool compressed(uint32_t count, size_t stream)
{
	uint8_t payload[12 + 256] = { 0 };
	store_u32(payload + 8, count, false);
	return !reported(KTRACE_RULE_compressed_count, KTRACE_EVENTS_COMPRESSED, payload, 12 + stream);
}

static void compressed_events_take_some_bytes(void **state)
{
	(void)state;
	assert_true(compressed(0, 0));
	assert_false(compressed(0, 1));
	assert_true(compressed(2, 6));
	assert_false(compressed(2, 5));
	assert_true(compressed(2, 130));
	assert_false(compressed(2, 131));
}

/* A name of a thread map, with zeros up to its 20 bytes. */
static bool name_is_text(const char *name)
{
	uint8_t entry[8 + 4 + KTRACE_NAME] = { 0x64 };
	entry[8] = 1;
	memcpy(entry + 12, name, strlen(name));
	return !reported(KTRACE_RULE_threadmap_name_not_utf8, KTRACE_THREAD_MAP, entry, sizeof(entry));
}

/* A name that fills its field may end within a character, which has four bytes at most. */
static void a_full_name_may_be_cut(void **state)
{
	(void)state;
	assert_true(name_is_text("plain"));
	assert_true(name_is_text("seventeen-bytes-\xc3\xa9"));
	assert_true(name_is_text("eighteen-bytes--xx\xc3"));
	assert_true(name_is_text("sixteen-bytes---\xf0\x9f\x98"));
	assert_false(name_is_text("fifteen-bytes--\xf0\x9f\x98"));
	assert_false(name_is_text("seventeen-bytes--\xc3"));
	assert_false(name_is_text("fifteen-bytes--\xc3\xff\xff\xff"));
	assert_false(name_is_text("\xff"));
}

static void versions_of_chunks_are_small(void **state)
{
	(void)state;
	for (unsigned sub = 0; sub <= KTRACE_SUBCHUNKS; sub += KTRACE_SUBCHUNKS) {
		struct ktrace_chunk c = { .major = (uint16_t)(16 | sub), .minor = 16 };
		assert_true(ktrace_chunk_versions_are_small(&c));
		c.minor = 17;
		assert_false(ktrace_chunk_versions_are_small(&c));
		c = (struct ktrace_chunk){ .major = (uint16_t)(17 | sub) };
		assert_false(ktrace_chunk_versions_are_small(&c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_code_and_a_name), cmocka_unit_test(a_trailer_points_into_its_list),
		cmocka_unit_test(a_nested_file_has_a_header),  cmocka_unit_test(compressed_events_take_some_bytes),
		cmocka_unit_test(a_full_name_may_be_cut),      cmocka_unit_test(versions_of_chunks_are_small),
	};
	int failed = RUN(tests);
	bytes_free(&file);
	return failed;
}
