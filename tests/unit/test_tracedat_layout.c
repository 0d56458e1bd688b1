/* Layouts of sections, options and pages, and what is inferred from them: at the bounds of each. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/bytes.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/decode/tracedat_page_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "tracemend.h"

static bool is_body(unsigned id, const char *begin, size_t length, uint64_t first, unsigned width, uint64_t size)
{
	uint8_t p[17] = { 0 };
	memcpy(p + width, begin, length);
	if (width == 4)
		store_u32(p, (uint32_t)first, false);
	else if (width == 8)
		store_u64(p, first, false);
	return tracedat_body_is(p, id, size, false);
}

static void bodies(void **state)
{
	(void)state;
	uint8_t p[17] = { 0 };
	assert_true(tracedat_body_is(p, TRACEDAT_DONE, 14, false));
	assert_false(tracedat_body_is(p, TRACEDAT_DONE, 13, false));
	store_u16(p, TRACEDAT_ID_LATER, false);
	store_u32(p + 2, 8, false);
	assert_true(tracedat_body_is(p, TRACEDAT_DONE, 14, false));
	store_u32(p + 2, 9, false);
	assert_false(tracedat_body_is(p, TRACEDAT_DONE, 14, false));
	store_u32(p + 2, 0x08000000, false);
	assert_true(tracedat_body_is(p, TRACEDAT_DONE, 14, false));
	store_u16(p, TRACEDAT_ID_LATER + 1, false);
	assert_false(tracedat_body_is(p, TRACEDAT_DONE, 14, false));

	assert_true(is_body(TRACEDAT_HEADER_INFO, "header_page", 12, 0, 0, 12));
	assert_false(is_body(TRACEDAT_HEADER_INFO, "header_page", 12, 0, 0, 11));
	assert_false(is_body(TRACEDAT_HEADER_INFO, "header_pagf", 12, 0, 0, 12));

	assert_true(is_body(TRACEDAT_FTRACE_EVENTS, "\0\0\0\0\0\0\0\0name:", 13, 1, 4, 17));
	assert_false(is_body(TRACEDAT_FTRACE_EVENTS, "\0\0\0\0\0\0\0\0name:", 13, 1, 4, 16));
	assert_false(is_body(TRACEDAT_FTRACE_EVENTS, "\0\0\0\0\0\0\0\0nam:", 12, 1, 4, 17));
	assert_true(is_body(TRACEDAT_FTRACE_EVENTS, "", 0, 0, 4, 4));
	assert_false(is_body(TRACEDAT_FTRACE_EVENTS, "", 0, 1, 4, 4));
	assert_false(is_body(TRACEDAT_FTRACE_EVENTS, "", 0, 0, 4, 5));
	assert_false(is_body(TRACEDAT_FTRACE_EVENTS, "", 0, 0, 4, 3));

	assert_true(is_body(TRACEDAT_EVENT_FORMATS, "!", 1, 1, 4, 17));
	assert_true(is_body(TRACEDAT_EVENT_FORMATS, "~", 1, 65536, 4, 17));
	assert_false(is_body(TRACEDAT_EVENT_FORMATS, "a", 1, 0, 4, 17));
	assert_false(is_body(TRACEDAT_EVENT_FORMATS, "a", 1, 65537, 4, 17));
	assert_false(is_body(TRACEDAT_EVENT_FORMATS, " ", 1, 1, 4, 17));
	assert_false(is_body(TRACEDAT_EVENT_FORMATS, "\x7f", 1, 1, 4, 17));
	assert_true(is_body(TRACEDAT_EVENT_FORMATS, "", 0, 0, 4, 4));
	assert_false(is_body(TRACEDAT_EVENT_FORMATS, "a", 1, 1, 4, 16));
	assert_false(is_body(TRACEDAT_EVENT_FORMATS, "", 0, 0, 4, 3));

	assert_true(is_body(TRACEDAT_KALLSYMS, "", 0, 0, 4, 4));
	assert_true(is_body(TRACEDAT_PRINTK, "", 0, 96, 4, 100));
	assert_false(is_body(TRACEDAT_PRINTK, "", 0, 97, 4, 100));
	assert_false(is_body(TRACEDAT_KALLSYMS, "", 0, UINT32_MAX, 4, 3));
	assert_true(is_body(TRACEDAT_CMDLINES, "", 0, 0, 8, 8));
	assert_false(is_body(TRACEDAT_CMDLINES, "", 0, UINT64_MAX, 8, 7));
	assert_false(is_body(TRACEDAT_CMDLINES, "", 0, 1, 8, 8));
	assert_false(is_body(TRACEDAT_BUFFER, "", 0, 0, 8, 8));
}

static bool begins(unsigned id, size_t at, const char *text)
{
	uint8_t p[17] = { 0 };
	memcpy(p + at, text, strlen(text));
	return tracedat_body_begins(p, id);
}

static void beginnings(void **state)
{
	(void)state;
	for (const char *c = "09af"; *c; c++)
		assert_true(begins(TRACEDAT_KALLSYMS, 4, (const char[]){ *c, 0 }));
	for (const char *c = "/:`g"; *c; c++)
		assert_false(begins(TRACEDAT_KALLSYMS, 4, (const char[]){ *c, 0 }));
	assert_true(begins(TRACEDAT_PRINTK, 4, "0x"));
	assert_false(begins(TRACEDAT_PRINTK, 4, "0y"));
	assert_false(begins(TRACEDAT_PRINTK, 4, "1x"));
	assert_true(begins(TRACEDAT_CMDLINES, 8, "0"));
	assert_true(begins(TRACEDAT_CMDLINES, 8, "9"));
	assert_false(begins(TRACEDAT_CMDLINES, 8, "/"));
	assert_false(begins(TRACEDAT_CMDLINES, 8, ":"));
	assert_true(begins(TRACEDAT_HEADER_INFO, 0, ""));
}

/* What content begins with that number and text; *size as it states it. */
static unsigned kind(uint64_t first, unsigned width, const char *text, size_t text_size, size_t length, uint64_t *size)
{
	uint8_t p[300];
	memset(p, 1, sizeof(p));
	store_u64(p, first, false);
	memcpy(p + width, text, text_size);
	return tracedat_content_kind(p, length, false, size);
}

#define KIND(first, width, text, length) kind((first), (width), (text), sizeof(text) - 1, (length), &size)

static void kinds_of_content(void **state)
{
	(void)state;
	uint64_t size;
	assert_int_equal(KIND(0, 0, "header_page\0", 20), TRACEDAT_HEADER_INFO);
	assert_int_equal(size, 0);
	assert_int_equal(KIND(0, 0, "header_page\0", 19), 0);
	assert_int_equal(KIND(1, 12, "name:", 20), TRACEDAT_FTRACE_EVENTS);
	assert_int_equal(KIND(TRACEDAT_SECTIONS_MAX, 12, "name:", 20), TRACEDAT_FTRACE_EVENTS);
	assert_int_not_equal(KIND(TRACEDAT_SECTIONS_MAX + 1, 12, "name:", 20), TRACEDAT_FTRACE_EVENTS);

	/* A system: its name, two numbers, and a format. */
	assert_int_equal(KIND(1, 4, "a\0\1\1\1\1\1\1\1\1\1\1\1\1name:", 23), TRACEDAT_EVENT_FORMATS);
	assert_int_equal(size, 0);
	assert_int_equal(KIND(65536, 4, "!~\0\1\1\1\1\1\1\1\1\1\1\1\1name:", 24), TRACEDAT_EVENT_FORMATS);
	assert_int_not_equal(KIND(65537, 4, "a\0\1\1\1\1\1\1\1\1\1\1\1\1name:", 23), TRACEDAT_EVENT_FORMATS);
	assert_int_not_equal(KIND(1, 4, "a\0\1\1\1\1\1\1\1\1\1\1\1\1name:", 22), TRACEDAT_EVENT_FORMATS);
	assert_int_not_equal(KIND(1, 4, "\0\1\1\1\1\1\1\1\1\1\1\1\1name:", 23), TRACEDAT_EVENT_FORMATS);
	assert_int_not_equal(KIND(1, 4, " \0\1\1\1\1\1\1\1\1\1\1\1\1name:", 23), TRACEDAT_EVENT_FORMATS);
	assert_int_not_equal(KIND(1, 4, "\x7f\0\1\1\1\1\1\1\1\1\1\1\1\1name:", 23), TRACEDAT_EVENT_FORMATS);

	assert_int_equal(KIND(100, 4, "0 a !", 20), TRACEDAT_KALLSYMS);
	assert_int_equal(size, 104);
	assert_int_equal(KIND(100, 4, "0123456789abcdef Z x", 24), TRACEDAT_KALLSYMS);
	assert_int_equal(KIND(100, 4, "9fa0 A x", 20), TRACEDAT_KALLSYMS);
	assert_int_equal(KIND(100, 4, "0123456789abcdef0 T x", 40), 0);
	assert_int_equal(KIND(100, 4, "0123456789abcdef T x", 23), 0);
	assert_int_equal(KIND(100, 4, " T x", 20), 0);
	assert_int_equal(KIND(100, 4, "g T x", 20), 0);
	assert_int_equal(KIND(100, 4, "0 @ x", 20), 0);
	assert_int_equal(KIND(100, 4, "0 { x", 20), 0);
	assert_int_equal(KIND(100, 4, "0 Tx!", 20), 0);
	assert_int_equal(KIND(100, 4, "0 T  ", 20), 0);
	assert_int_equal(KIND(100, 4, "0-T x", 20), 0);

	assert_int_equal(KIND(7, 4, "0xf", 20), TRACEDAT_PRINTK);
	assert_int_equal(size, 11);
	assert_int_equal(KIND(7, 4, "0xg", 20), 0);

	assert_int_equal(KIND(50, 8, "09 x", 20), TRACEDAT_CMDLINES);
	assert_int_equal(size, 58);
	assert_int_equal(KIND(50, 8, " x", 20), 0);
	assert_int_equal(KIND(50, 8, "1:", 20), 0);
	assert_int_equal(KIND(50, 8, "1/", 20), 0);
	assert_int_equal(KIND(50, 8, "12345678901 ", 20), TRACEDAT_CMDLINES);
	assert_int_equal(KIND(50, 8, "123456789012 ", 20), 0);
	assert_int_equal(KIND(TRACEDAT_BLOCK_MAX - 8, 8, "1 x", 20), TRACEDAT_CMDLINES);
	assert_int_equal(KIND(TRACEDAT_BLOCK_MAX - 7, 8, "1 x", 20), 0);
}

/* Appends an option. */
static size_t option(uint8_t *p, size_t at, unsigned id, uint32_t size)
{
	store_u16(p + at, (uint16_t)id, false);
	store_u32(p + at + 2, size, false);
	return at + 6 + size;
}

static void options(void **state)
{
	(void)state;
	uint8_t p[64] = { 0 };
	const struct tracedat_shape six = { .version = 6 }, seven = { .version = 7 };
	size_t end = option(p, option(p, 0, TRACEDAT_ID_LAST, 0), 1, 3);
	assert_true(tracedat_options_fit(&six, p, 0, end + 2));
	assert_false(tracedat_options_fit(&six, p, 0, end + 3));
	assert_false(tracedat_options_fit(&six, p, 0, end));
	assert_false(tracedat_options_fit(&six, p, 0, end + 1));
	assert_int_equal(tracedat_options_lead(&six, p, 0, end + 2), 0);
	assert_int_equal(tracedat_options_lead(&six, p, 1, end + 2), 6);
	assert_int_equal(tracedat_options_lead(&six, p, 7, end + 2), SIZE_MAX);
	assert_int_equal(tracedat_options_lead(&six, p, end + 1, end + 2), SIZE_MAX);
	(void)option(p, end, 0, 8);
	assert_true(tracedat_options_fit(&seven, p, 0, end + 14));
	assert_false(tracedat_options_fit(&seven, p, 0, end + 13));
	assert_false(tracedat_options_fit(&seven, p, 0, end + 15));
	assert_int_equal(tracedat_options_lead(&seven, p, 0, end + 14), 0);
	assert_int_equal(tracedat_options_lead(&seven, p, 0, end + 15), SIZE_MAX);
	(void)option(p, end, 0, 7);
	assert_false(tracedat_options_fit(&seven, p, 0, end + 13));
	assert_int_equal(tracedat_options_lead(&seven, p, 0, end + 14), SIZE_MAX);
	memset(p, 0, sizeof(p));
	(void)option(p, 0, TRACEDAT_ID_LATER + 1, 0);
	assert_false(tracedat_options_fit(&six, p, 0, 8));
	assert_int_equal(tracedat_options_lead(&six, p, 0, 8), SIZE_MAX);
}

static void clocks(void **state)
{
	(void)state;
	size_t length;
	const char *text = "local [mono] x";
	assert_ptr_equal(tracedat_clock_name(text, 12, &length), text + 7);
	assert_int_equal(length, 4);
	assert_null(tracedat_clock_name(text, 11, &length));
	assert_int_equal(length, 0);
	assert_null(tracedat_clock_name("mono]", 5, &length));
	assert_non_null(tracedat_clock_name("[ mono]", 7, &length));
	assert_int_equal(length, 0);
	assert_non_null(tracedat_clock_name("[[mono]", 7, &length));
	assert_int_equal(length, 0);
	assert_non_null(tracedat_clock_name("[\0mono]", 7, &length));
	assert_int_equal(length, 0);
	assert_true(tracedat_clock_known("mono", 4));
	assert_true(tracedat_clock_known("local", 5));
	assert_true(tracedat_clock_known("tsc2nsec", 8));
	assert_false(tracedat_clock_known("mono", 3));
	assert_false(tracedat_clock_known("monx", 4));
}

static unsigned lines_of(const char *text)
{
	return tracedat_lines_kind((const uint8_t *)text, strlen(text));
}

static void kinds_of_lines(void **state)
{
	(void)state;
	assert_int_equal(lines_of("ffffffff81000000 T a\nffffffff81000010 t b\t[m]\nffffffff81000020 D c\n"), TRACEDAT_KALLSYMS);
	assert_int_equal(lines_of("\xff\xff 0 T x\n81000000 T a\n81000010 t b\n81000020 D c\n"), TRACEDAT_KALLSYMS);
	assert_int_equal(lines_of("T a\n81000010 t b\n81000020 D c\n"), 0);
	assert_int_equal(lines_of("81000000 T a\n?\n81000010 t b\n81000020 D c\n"), 0);
	assert_int_equal(lines_of("0xffffffff81000000 : \"a\"\n0xffffffff81000001 : \"b %d\"\n0xffffffff81000002 : \"c\"\n"),
			 TRACEDAT_PRINTK);
	assert_int_equal(lines_of("1 init\n24208 load.sh\n18 migration/0\n"), TRACEDAT_CMDLINES);
	assert_int_equal(lines_of("1 init\n24208 load.sh\n"), 0);
	assert_int_equal(lines_of("name: x\nID: 1\nformat:\n\tfield:int a;\n"), 0);
	assert_int_equal(lines_of(""), 0);
}

static void buffers(void **state)
{
	(void)state;
	uint8_t p[64] = { 0 };
	struct tracedat_buffer_layout l;
	store_u64(p, 77, false);
	memcpy(p + 8, "ab\0cde\0", 7);
	store_u32(p + 15, 4096, false);
	store_u32(p + 19, 1, false);
	assert_true(tracedat_buffer_layout(p, 43, false, false, &l));
	assert_int_equal(l.offset, 77);
	assert_int_equal(l.name_size, 3);
	assert_string_equal(l.clock, "cde");
	assert_int_equal(l.clock_size, 4);
	assert_int_equal(l.page_size, 4096);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.entries, 23);
	assert_int_equal(l.fitting, 1);
	assert_true(l.exact);
	assert_true(tracedat_buffer_layout(p, 42, false, false, &l));
	assert_int_equal(l.fitting, 0);
	assert_false(l.exact);
	assert_true(tracedat_buffer_layout(p, 23, false, false, &l));
	assert_false(tracedat_buffer_layout(p, 22, false, false, &l));
	assert_true(tracedat_buffer_layout(p, 15, false, true, &l));
	assert_true(l.exact);
	assert_true(tracedat_buffer_layout(p, 16, false, true, &l));
	assert_false(l.exact);
	assert_false(tracedat_buffer_layout(p, 14, false, true, &l));
	assert_false(tracedat_buffer_layout((const uint8_t *)"12345678ab", 10, false, true, &l));
	assert_true(tracedat_buffer_layout((const uint8_t *)"12345678\0\0", 10, false, true, &l));
	assert_false(tracedat_buffer_layout((const uint8_t *)"12345678\0\0", 9, false, true, &l));
}

/* A payload with bytes removed or inserted in front of its numbers: the size that these show, and its parts. */
static void buffers_moved(void **state)
{
	(void)state;
	uint8_t p[96] = { 0 };
	struct tracedat_buffer_layout l;
	for (int be = 0; be < 2; be++) {
		/* The top buffer, with three bytes of its offset gone: its clock is in the place of its name. */
		memset(p, 0, sizeof(p));
		store_u32(p + (be ? 1 : 0), 77, be);
		memcpy(p + 6, "mono", 5);
		store_u32(p + 11, 4096, be);
		store_u32(p + 15, 2, be);
		assert_int_equal(tracedat_buffer_measure(p, sizeof(p), be), 59);
		assert_true(tracedat_buffer_layout(p, 59, be, false, &l));
		assert_int_equal(l.offset, 77);
		assert_int_equal(l.name_size, 1);
		assert_string_equal(l.name, "");
		assert_string_equal(l.clock, "mono");
		assert_int_equal(l.page_size, 4096);
		assert_int_equal(l.entries, 19);
		assert_int_equal(l.fitting, 2);
		/* Five bytes behind the clock. */
		memset(p, 0, sizeof(p));
		store_u64(p, 77, be);
		memcpy(p + 8, "sub\0local\0\0abc", 15);
		store_u32(p + 23, 4096, be);
		store_u32(p + 27, 2, be);
		assert_int_equal(tracedat_buffer_measure(p, sizeof(p), be), 71);
		assert_true(tracedat_buffer_layout(p, 71, be, false, &l));
		assert_int_equal(l.offset, 77);
		assert_string_equal(l.name, "sub");
		assert_string_equal(l.clock, "local");
		assert_int_equal(l.entries, 31);
		assert_int_equal(l.fitting, 2);
		/* Numbers that do not fit in. */
		assert_int_equal(tracedat_buffer_measure(p, 70, be), 0);
		store_u32(p + 23, 4095, be);
		assert_false(tracedat_buffer_layout(p, 71, be, false, &l) && l.clock_mended);
	}
}

/* What is inferred from a file of zeros with a section or format at `at`. */
static bool inferred(const char *text, size_t length, size_t at, size_t size, struct tracedat_inferred *found)
{
	uint8_t *data = calloc(size, 1);
	assert_non_null(data);
	memcpy(data + at, text, length);
	struct capture c = { .count = 1 };
	c.files[0].data = data;
	c.files[0].size = size;
	struct tracemend_options o = { 0 };
	struct bundle *b = capture_bundle(&c, &o, NULL);
	struct window w;
	window_open(&w, bundle_single(b));
	bool ok = tracedat_infer(&w, size, found);
	window_close(&w);
	bundle_free(b);
	free(data);
	return ok;
}

#define SECTION "\x10\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0header_page\0"
#define SECTION_BE "\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\x0cheader_page\0"
#define INFER(text, at, size) inferred((text), sizeof(text) - 1, (at), (size), &found)

static void inferring(void **state)
{
	(void)state;
	struct tracedat_inferred found;
	/* In each step of the search, and where two steps overlap. */
	static const size_t places[] = { 0, 40, 65376, 65377, 65500, 100000, 200000, 261000 };
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		assert_true(INFER(SECTION, places[i], 400000));
		assert_int_equal(found.version, 7);
		assert_false(found.big_endian);
		assert_int_equal(found.codec, TRACEDAT_NONE);
		assert_true(INFER(SECTION_BE, places[i], 400000));
		assert_true(found.big_endian);
	}
	assert_false(INFER(SECTION, 390000, 400000));
	/* The last place at which there are enough bytes. */
	assert_true(INFER(SECTION, 40, 200));
	assert_false(INFER(SECTION, 41, 200));
	assert_false(INFER("", 0, 100));
	/* An id, flags, a description, a size that are not of a section. */
	assert_false(INFER("\x0f\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_false(INFER("\x10\0\2\0\0\0\0\0\x0c\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_false(INFER("\x10\0\0\0\0\0\1\0\x0c\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_true(INFER("\x10\0\0\0\xff\xff\0\0\x0c\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_true(INFER("\x10\0\0\0\xff\xff\xff\xff\x0c\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_false(INFER("\x10\0\0\0\0\0\0\0\x0b\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_true(INFER("\x10\0\0\0\0\0\0\0\xb8\0\0\0\0\0\0\0header_page\0", 0, 200));
	assert_false(INFER("\x10\0\0\0\0\0\0\0\xb9\0\0\0\0\0\0\0header_page\0", 0, 200));
}

static struct tracedat_walk walk;

static struct tracedat_unassigned *unassigned(const char *text, size_t size)
{
	uint8_t copy[64] = { 0 };
	memcpy(copy, text, strlen(text));
	const struct tracedat_block b = { .data = copy, .size = strlen(text) };
	const struct tracedat_event e = { .text_size = (uint32_t)size, .fixed = 16, .slack = 7 };
	return tracedat_unassigned_add(&walk, &b, &e);
}

static void texts_without_an_id(void **state)
{
	(void)state;
	const struct tracedat_unassigned *o = unassigned("name: x\nID: 5\nformat:\n", 22);
	assert_non_null(o);
	assert_int_equal(o->id_at, 8);
	assert_int_equal(o->id_end, 13);
	assert_non_null(unassigned("name: x\nID: 5\n", 14));
	/* The line does not end within the text. */
	assert_null(unassigned("name: x\nID: 5\n", 13));
	assert_null(unassigned("name: x\nID: 5\n", 12));
	assert_null(unassigned("name: x\nIX: 5\n", 14));
	while (walk.events.unassigned_count < TRACEDAT_UNASSIGNED_MAX)
		assert_non_null(unassigned("name: x\nID: 5\n", 14));
	assert_null(unassigned("name: x\nID: 5\n", 14));
	tracedat_unassigned_free(&walk.events);
}

/* The ID that one format of 16 to 23 bytes gets, where records of ID 9 have that many bytes. */
static uint32_t matched(uint32_t least, uint32_t most, uint32_t id)
{
	assert_true(tracedat_unknown_table(&walk));
	memset(walk.events.unknown, 0, 65536 * sizeof(*walk.events.unknown));
	struct tracedat_unassigned *o = unassigned("name: x\nID: 5\nformat:\n", 22);
	walk.events.unknown[id] = (struct tracedat_unknown){ .records = 1, .least = least, .most = most };
	tracedat_unassigned_match(&walk.events);
	uint32_t got = o->id;
	assert_true(!got || tracedat_unassigned_of(&walk.events, got) == o);
	tracedat_unassigned_free(&walk.events);
	return got;
}

static void matches(void **state)
{
	(void)state;
	assert_int_equal(matched(16, 23, 9), 9);
	assert_int_equal(matched(16, 16, 1), 1);
	assert_int_equal(matched(16, 16, 65535), 65535);
	assert_int_equal(matched(15, 23, 9), 0);
	assert_int_equal(matched(16, 24, 9), 0);
	assert_int_equal(matched(0, 0, 9), 9);
	/* Two formats fit one ID; then, one format fits two. */
	struct tracedat_unassigned *a = unassigned("name: x\nID: 5\n", 14), *b = unassigned("name: y\nID: 5\n", 14);
	walk.events.unknown[9] = (struct tracedat_unknown){ .records = 1, .least = 16, .most = 16 };
	tracedat_unassigned_match(&walk.events);
	assert_int_equal(a->id, 0);
	assert_int_equal(b->id, 0);
	a->holder = true;
	tracedat_unassigned_match(&walk.events);
	assert_int_equal(a->id, 0);
	assert_int_equal(b->id, 9);
	b->id = 0;
	walk.events.unknown[10] = walk.events.unknown[9];
	tracedat_unassigned_match(&walk.events);
	assert_int_equal(b->id, 0);
	/* Of two with ID 5, only the rival fits the records of ID 9: it moves. */
	walk.events.unknown[10].records = 0;
	walk.events.unknown[5] = (struct tracedat_unknown){ .records = 0, .least = 16, .most = 16 };
	b->rival = 0;
	b->claim = a->claim = 5;
	a->hash = 77;
	a->fixed = 40;
	walk.events.unknown[9] = (struct tracedat_unknown){ .records = 1, .least = 40, .most = 47 };
	tracedat_unassigned_match(&walk.events);
	assert_int_equal(b->id, 5);
	assert_int_equal(a->id, 9);
	assert_true(tracedat_unassigned_moved(&walk.events, 77, 5));
	assert_false(tracedat_unassigned_moved(&walk.events, 76, 5));
	assert_false(tracedat_unassigned_moved(&walk.events, 77, 9));
	struct bytes text = { 0 };
	tracedat_unassigned_text(a, &text);
	assert_int_equal(text.size, 14);
	assert_memory_equal(text.data, "name: x\nID: 9\n", 14);
	bytes_free(&text);
	tracedat_unassigned_free(&walk.events);
	free(walk.events.unknown);
	walk.events.unknown = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies),	    cmocka_unit_test(beginnings),
		cmocka_unit_test(kinds_of_content), cmocka_unit_test(options),
		cmocka_unit_test(clocks),	    cmocka_unit_test(kinds_of_lines),
		cmocka_unit_test(buffers),	    cmocka_unit_test(buffers_moved),
		cmocka_unit_test(inferring),	    cmocka_unit_test(texts_without_an_id),
		cmocka_unit_test(matches),
	};
	return RUN(tests);
}
