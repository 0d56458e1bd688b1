/* decode/fxt_decode.c at its bounds: what is out of sight, the sizes of records, where text may be cut. */
#include "unit.h"

#include <sys/mman.h>

#include "formats/fxt/decode/fxt_decode.h"

static const struct fxt_decoder little;
static struct fxt_record r;

/* Whether an issue of that rule is among those of r, with that severity. */
static bool has_issue(enum fxt_rule rule, enum tracemend_severity severity)
{
	for (uint32_t i = 0; i < r.issues.count; i++)
		if (r.issues.list[i].rule == rule)
			return r.issues.list[i].severity == severity;
	return false;
}

/* Bytes in front of a page that cannot be read: whoever reads behind them dies. */
static uint8_t *guarded(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
	uint8_t *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_int_equal(mprotect(p + room, page, PROT_NONE), 0);
	return p + room - size;
}

/* A large blob without metadata, of which only the first `sight` bytes are there. */
static void decode_blob(uint64_t payload, size_t sight)
{
	uint8_t *data = guarded(sight);
	uint64_t words = 3 + fxt_words(payload);

	store_u64(data, fxt_header(FXT_LARGE, words) | fxt_field(40, 4, FXT_LARGE_BLOB_PLAIN), false);
	store_u64(data + 2 * FXT_WORD, payload, false);
	assert_true(fxt_decode(&little, &r, data, sight, words * FXT_WORD, 0));
	assert_int_equal(r.payload_length, payload);
}

static void padding_out_of_sight_is_left_for_later(void **state)
{
	(void)state;
	decode_blob(FXT_DECODE_SPAN + 5, FXT_DECODE_SPAN);
	assert_true(r.late_padding);
	assert_int_equal(r.issues.worst, TM_NOTE);
	/* One word short of the end. */
	decode_blob(61, 3 * FXT_WORD + 56);
	assert_true(r.late_padding);
}

static void a_payload_without_padding_is_not(void **state)
{
	(void)state;
	decode_blob(FXT_DECODE_SPAN, FXT_DECODE_SPAN);
	assert_false(r.late_padding);
	decode_blob(61, 3 * FXT_WORD + 64);
	assert_false(r.late_padding);
}

static void padding_in_sight_is_checked(void **state)
{
	uint8_t data[4 * FXT_WORD] = { 0 };

	(void)state;
	store_u64(data, fxt_header(FXT_LARGE, 4) | fxt_field(40, 4, FXT_LARGE_BLOB_PLAIN), false);
	store_u64(data + 2 * FXT_WORD, 5, false);
	data[3 * FXT_WORD + 4] = 1; /* the last byte of the payload */
	assert_true(fxt_decode(&little, &r, data, sizeof(data), sizeof(data), 0));
	assert_false(has_issue(FXT_RULE_nonzero_padding, TM_ERROR));
	data[3 * FXT_WORD + 5] = 1;
	assert_true(fxt_decode(&little, &r, data, sizeof(data), sizeof(data), 0));
	assert_true(has_issue(FXT_RULE_nonzero_padding, TM_ERROR));
	assert_int_equal(r.issues.list[0].at, 3 * FXT_WORD + 5);
	assert_int_equal(r.issues.list[0].length, 3);
}

/* A string record of that many letters, whose last `cut` bytes are the beginning of a character of four bytes, or none when more.
 */
static void decode_text(uint64_t length, unsigned cut)
{
	static uint8_t data[5000 * FXT_WORD];
	uint64_t words = 1 + fxt_words(length);

	memset(data, 0, sizeof(data));
	store_u64(data, fxt_header(FXT_STRING, words) | fxt_field(16, 15, 1) | fxt_field(32, 15, length), false);
	memset(data + FXT_WORD, 'x', (size_t)length);
	for (unsigned i = 0; i < cut; i++)
		data[FXT_WORD + length - cut + i] = cut > 3 ? 0xff : i ? 0x9f : 0xf0;
	assert_true(fxt_decode(&little, &r, data, words * FXT_WORD, words * FXT_WORD, 0));
}

static void text_may_be_cut_inside_one_character(void **state)
{
	(void)state;
	for (unsigned cut = 1; cut <= 3; cut++) {
		decode_text(FXT_STRING_BYTES_ADVISED, cut);
		assert_true(has_issue(FXT_RULE_invalid_utf8, TM_NOTE));
		/* Only where writers cut. */
		decode_text(FXT_STRING_BYTES_ADVISED - 1, cut);
		assert_true(has_issue(FXT_RULE_invalid_utf8, TM_ERROR));
	}
	/* More bytes than of one character. */
	for (unsigned cut = 4; cut <= 30; cut++) {
		decode_text(FXT_STRING_BYTES_ADVISED, cut);
		assert_true(has_issue(FXT_RULE_invalid_utf8, TM_ERROR));
	}
}

/* Words that a record has at least, by its kind: fields are those of the header. */
static const struct {
	enum fxt_type type;
	uint64_t fields;
	unsigned least;
} kinds[] = {
	{ FXT_INITIALIZATION, 0, 2 },
	{ FXT_THREAD, UINT64_C(1) << 16, 3 },
	{ FXT_EVENT, UINT64_C(1) << 24, 2 },
	{ FXT_USERSPACE, UINT64_C(1) << 16, 2 },
	{ FXT_KERNEL, 0, 2 },
	{ FXT_SCHEDULING, UINT64_C(1) << 28 | UINT64_C(1) << 36, 2 },
	{ FXT_SCHEDULING, (uint64_t)FXT_SWITCH << 60, 4 },
	{ FXT_SCHEDULING, (uint64_t)FXT_WAKEUP << 60, 3 },
	{ FXT_LOG, UINT64_C(1) << 32, 2 },
	{ FXT_PROFILER, (uint64_t)FXT_PROFILER_MODULE << 16 | UINT64_C(1) << 20, 2 },
	{ FXT_PROFILER, (uint64_t)FXT_PROFILER_MMAP << 16 | UINT64_C(1) << 20, 5 },
	{ FXT_LARGE, (uint64_t)FXT_LARGE_BLOB_PLAIN << 40, 3 },
};

static void records_have_a_least_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint8_t data[8 * FXT_WORD] = { 0 };
		unsigned least = kinds[i].least;
		store_u64(data, fxt_header(kinds[i].type, least) | kinds[i].fields, false);
		assert_true(fxt_decode(&little, &r, data, least * FXT_WORD, sizeof(data), 0));
		assert_int_equal(r.content, least);
		assert_int_equal(r.issues.count, 0);
		store_u64(data, fxt_header(kinds[i].type, least - 1) | kinds[i].fields, false);
		assert_false(fxt_decode(&little, &r, data, (least - 1) * FXT_WORD, sizeof(data), 0));
		assert_int_equal(r.fault.rule, FXT_RULE_record_size_too_small);
		assert_int_equal(r.fault.want, least);
	}
}

static void three_strict_records_are_found(void **state)
{
	uint8_t data[1 + 3 * 2 * FXT_WORD] = { 0xff };
	bool big_endian;
	size_t offset;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		store_u64(data + 1 + 16 * i, fxt_header(FXT_INITIALIZATION, 2), true);
		store_u64(data + 1 + 16 * i + FXT_WORD, 1000000, true);
	}
	assert_true(fxt_probe(data, sizeof(data), sizeof(data) + 100, &big_endian, &offset));
	assert_true(big_endian);
	assert_int_equal(offset, 1);
	/* Two of them are enough only where the file ends. */
	assert_false(fxt_probe(data, 33, sizeof(data), &big_endian, &offset));
	assert_true(fxt_probe(data, 33, 33, &big_endian, &offset));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(padding_out_of_sight_is_left_for_later),
		cmocka_unit_test(a_payload_without_padding_is_not),
		cmocka_unit_test(padding_in_sight_is_checked),
		cmocka_unit_test(text_may_be_cut_inside_one_character),
		cmocka_unit_test(records_have_a_least_size),
		cmocka_unit_test(three_strict_records_are_found),
	};
	return RUN(tests);
}
