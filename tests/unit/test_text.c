/* core/text.h: what comes from the input is shown escaped, and numbers are read strictly. */
#include "unit.h"

#include "core/text.h"

#define PREFIX(text) utf8_valid_prefix(text, sizeof(text) - 1)

static void utf8_is_strict(void **state)
{
	(void)state;
	assert_int_equal(PREFIX("plain"), 5);
	assert_int_equal(PREFIX("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), 9);
	assert_int_equal(PREFIX("ab\x80"), 2); /* a lone continuation */
	assert_int_equal(PREFIX("ab\xc3"), 2); /* cut */
	assert_int_equal(PREFIX("ab\xe2\x82"), 2);
	assert_int_equal(PREFIX("\xc0\xaf"), 0); /* overlong */
	assert_int_equal(PREFIX("\xe0\x80\xaf"), 0);
	assert_int_equal(PREFIX("\xf0\x80\x80\xaf"), 0);
	assert_int_equal(PREFIX("\xed\xa0\x80"), 0);	 /* surrogate */
	assert_int_equal(PREFIX("\xed\x9f\xbf"), 3);	 /* the last before them */
	assert_int_equal(PREFIX("\xf4\x8f\xbf\xbf"), 4); /* U+10FFFF */
	assert_int_equal(PREFIX("\xf4\x90\x80\x80"), 0); /* beyond */
	assert_int_equal(PREFIX("\xf8\x88\x80\x80\x80"), 0);
	assert_int_equal(PREFIX("long enough for the fast path, then \xff and more of it"), 36);
	assert_int_equal(utf8_valid_prefix(NULL, 0), 0);
}

static void utf8_agrees_with_the_definition_on_all_short_strings(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 256; a++) {
		for (unsigned b = 0; b < 256; b++) {
			const uint8_t s[2] = { (uint8_t)a, (uint8_t)b };
			size_t expected = a < 0x80 ? 1 + (b < 0x80) : a >= 0xc2 && a <= 0xdf && b >= 0x80 && b <= 0xbf ? 2 : 0;
			assert_int_equal(utf8_valid_prefix(s, 2), expected);
		}
	}
}

static void nothing_unescaped_is_shown(void **state)
{
	static const char *const hostile[] = { "\x1b[31m",
					       "a\nb",
					       "\x7f",
					       "\xc2\x9b",
					       "\xe2\x80\xae"
					       "abc",
					       "\xe2\x81\xa6",
					       "\xff\xfe",
					       "tab\t" };
	char out[TEXT_QUOTE_SIZE], small[8];
	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		text_quote(out, hostile[i], strlen(hostile[i]));
		assert_null(strpbrk(out, "\x1b\n\t\x7f"));
		assert_null(strstr(out, "\xc2\x9b"));
		assert_null(strstr(out, "\xe2\x80\xae"));
		assert_true(utf8_is_valid(out, strlen(out)));
		assert_non_null(strstr(out, "\\x"));
		char sane[256];
		text_sanitise(sane, sizeof(sane), hostile[i]);
		assert_null(strpbrk(sane, "\x1b\n\t\x7f"));
		assert_null(strstr(sane, "\xe2\x80\xae"));
	}
	assert_string_equal(text_quote(out, "caf\xc3\xa9", 5), "caf\xc3\xa9");
	assert_string_equal(text_quote(out, "a\0b", 3), "a\\x00b");
	uint8_t longer[500];
	memset(longer, 0xfe, sizeof(longer));
	text_quote(out, longer, sizeof(longer));
	assert_true(strlen(out) < TEXT_QUOTE_SIZE);
	assert_string_equal(out + strlen(out) - 3, "...");
	text_sanitise(small, sizeof(small), "longer than eight");
	assert_true(strlen(small) < sizeof(small));
	assert_string_equal(small + strlen(small) - 3, "...");
}

static void numbers_are_strict(void **state)
{
	uint64_t v = 99;
	(void)state;
	assert_true(text_parse_u64("0", 1, &v) && v == 0);
	assert_true(text_parse_u64("18446744073709551615", 20, &v) && v == UINT64_MAX);
	assert_false(text_parse_u64("18446744073709551616", 20, &v));
	assert_false(text_parse_u64("99999999999999999999", 20, &v));
	assert_false(text_parse_u64("", 0, &v));
	assert_false(text_parse_u64("-1", 2, &v));
	assert_false(text_parse_u64("+1", 2, &v));
	assert_false(text_parse_u64(" 1", 2, &v));
	assert_false(text_parse_u64("1 ", 2, &v));
	assert_false(text_parse_u64("0x1", 3, &v));
	assert_true(text_parse_hex("ffffFFFF00000001", 16, &v) && v == UINT64_C(0xffffffff00000001));
	assert_false(text_parse_hex("10000000000000000", 17, &v));
	assert_false(text_parse_hex("", 0, &v));
	assert_false(text_parse_hex("0x1", 3, &v));
	assert_false(text_parse_hex("g", 1, &v));
}

static void counts_are_written_for_people(void **state)
{
	static const struct {
		uint64_t n;
		const char *expected;
	} cases[] = {
		{ 0, "0 events" },
		{ 1, "1 event" },
		{ 999, "999 events" },
		{ 1000, "1,000 events" },
		{ 1234567, "1,234,567 events" },
		{ UINT64_MAX, "18,446,744,073,709,551,615 events" },
	};
	char out[TEXT_COUNT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(text_count(out, cases[i].n, "event"), cases[i].expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_is_strict),
		cmocka_unit_test(utf8_agrees_with_the_definition_on_all_short_strings),
		cmocka_unit_test(nothing_unescaped_is_shown),
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(counts_are_written_for_people),
	};
	return RUN(tests);
}
