/* formats/uftrace at the edges of what is accepted: kernel pages and their header, events, symbols, mappings, depths. */
#include "uftrace_recording.h"

#define PAGE 64u

static bool finds(struct recording *r, const char *rule)
{
	look(r);
	bool found = strstr(r->found, rule) != NULL;
	end(r);
	return found;
}

/* ---- kernel_header ---- */

static struct recording *with_kernel(const char *header)
{
	struct recording *r = begin();
	put_info(r, FEATURES | UFTRACE_BIT(UFTRACE_F_KERNEL), BLOCKS, LINES ARGUMENTS);
	set(r, "kernel_header", header);
	file_of(r, "kernel-cpu0.dat");
	return r;
}

#define HEADER "PAGE_SIZE: 64\nLONG_SIZE: 8\nENDIAN: LE\n"

static bool header_fails(const char *header)
{
	return finds(with_kernel(header), "kernel-header-malformed");
}

static void three_lines_with_sound_values(void **state)
{
	(void)state;
	assert_false(header_fails(HEADER));
	assert_false(header_fails("PAGE_SIZE: 65536\nLONG_SIZE: 4\nENDIAN: BE\n"));
	assert_true(header_fails("PAGE_SIZE: 65544\nLONG_SIZE: 8\nENDIAN: LE\n"));
	assert_true(header_fails("PAGE_SIZE: 56\nLONG_SIZE: 8\nENDIAN: LE\n"));
	assert_true(header_fails("PAGE_SIZE: 68\nLONG_SIZE: 8\nENDIAN: LE\n"));
	assert_true(header_fails("PAGE_SIZE: 64\nLONG_SIZE: 2\nENDIAN: LE\n"));
	assert_true(header_fails("PAGE_SIZE: 64\nLONG_SIZE: 6\nENDIAN: LE\n"));
	assert_true(header_fails("PAGE_SIZE: 64\nLONG_SIZE: 8\nENDIAN: XE\n"));
	assert_true(header_fails("PAGE_SIZE: 64\nLONG_SIZE: 8\n"));
}

#define FORMAT "name: b\nID: 7\nformat:\n"

/* What readers need of a format, each without. */
static void formats_have_a_name_and_an_id(void **state)
{
	(void)state;
	assert_true(header_fails(HEADER "TRACEFS: events/a/format: 22\nname= b\nID: 7\nformat:\n"));
	assert_true(header_fails(HEADER "TRACEFS: events/a/format: 22\nname: b\nID= 7\nformat:\n"));
	assert_true(header_fails(HEADER "TRACEFS: events/a/format: 22\nname: b\nID: x\nformat:\n"));
	assert_true(header_fails(HEADER "TRACEFS: events/a/format: 22\nname: b\nID: 7\nformat=\n"));
	assert_true(header_fails(HEADER "TRACEFS: events/a/format: 22\nname: \001\nID: 7\nformat:\n"));
}

static void blocks_are_as_long_as_they_say(void **state)
{
	(void)state;
	assert_false(header_fails(HEADER "TRACEFS: events/header_page: 3\nabc"));
	assert_false(header_fails(HEADER "TRACEFS: events/header_page: 0\n"));
	assert_false(header_fails(HEADER "TRACEFS: events/header_page: 3\nabcTRACEFS: events/a/b/format: 22\n" FORMAT));
	assert_false(header_fails(HEADER "TRACEFS: events/a/format: 22\n" FORMAT));
	assert_true(header_fails(HEADER "TRACEFS: events//format: 22\n" FORMAT));
	assert_true(header_fails(HEADER "TRACEFS: events/format: 22\n" FORMAT));
	assert_true(header_fails(HEADER "TRACEFS: events/a/format: 21\n" FORMAT));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page: 4\nabc"));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page: 2\nabc"));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page 3\nabc"));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page:3\nabc"));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page:\nabc"));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page: 3"));
	assert_true(header_fails(HEADER "TRACEFS: : 3\nabc"));
	assert_true(header_fails(HEADER "TRACEFS: x"));
	assert_true(header_fails(HEADER "TRACEFS: events/header_page: 3\nabcTRACEFS:"));
}

/* ---- kernel pages: a time, a commit word, records: type and length below, time delta above bit 5 ---- */

/* A page with that many bytes of data, which begin with these words. */
static bool page_fails(uint64_t commit, const uint32_t *words, size_t count)
{
	struct recording *r = with_kernel(HEADER);
	struct bytes *b = file_of(r, "kernel-cpu0.dat");
	bytes_u64(b, START);
	bytes_u64(b, commit);
	for (size_t i = 0; i < count; i++)
		bytes_u32(b, words[i]);
	(void)bytes_grow(b, PAGE - b->size);
	return finds(r, "kernel-page-malformed");
}

#define DATA(n) ((uint32_t)(n))
#define DELTA (3u << 5)
#define FAILS(commit, ...) \
	page_fails(commit, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void records_end_where_the_page_says(void **state)
{
	(void)state;
	/* The page has 64 bytes, 48 of them data. */
	assert_false(FAILS(0, 0));
	assert_false(FAILS(48, DATA(11) | DELTA));
	assert_true(FAILS(49, DATA(11) | DELTA));
	assert_true(FAILS(48, DATA(12) | DELTA));
	/* Of one word: 1 to 28 words of data behind the first. */
	assert_false(FAILS(8, DATA(1) | DELTA));
	assert_true(FAILS(8, DATA(2) | DELTA));
	assert_true(FAILS(4, DATA(1) | DELTA));
	assert_true(FAILS(48, DATA(28) | DELTA));
	/* 0: the length is in the second word, itself included. */
	assert_false(FAILS(12, DELTA, 8));
	assert_true(FAILS(12, DELTA, 9));
	assert_true(FAILS(4, DELTA, 8));
	assert_false(FAILS(8, DELTA, 4));
	assert_true(FAILS(8, DELTA, 3));
	/* 29: padding; with a delta its length is in the second word, without it reaches the end. */
	assert_false(FAILS(4, 29));
	assert_false(FAILS(40, 29));
	assert_true(FAILS(4, 29 | DELTA, 4));
	assert_false(FAILS(8, 29 | DELTA, 4));
	assert_true(FAILS(8, 29 | DELTA, 5));
	/* 30 and 31: a longer time, of two words. */
	assert_false(FAILS(8, 30 | DELTA, 1));
	assert_true(FAILS(4, 30 | DELTA, 1));
	assert_false(FAILS(16, 31 | DELTA, 1, DATA(1)));
	assert_true(FAILS(16, 31 | DELTA, 1, DATA(2)));
}

static void whole_pages(void **state)
{
	(void)state;
	for (size_t more = 0; more <= 1; more++) {
		struct recording *r = with_kernel(HEADER);
		(void)bytes_grow(file_of(r, "kernel-cpu0.dat"), PAGE + more);
		assert_int_equal(finds(r, "kernel-size"), more);
	}
}

/* The file ends within its last page: behind the time, within the data, behind them. */
static void a_page_that_is_cut(void **state)
{
	(void)state;
	for (size_t size = 8; size < PAGE; size++) {
		struct recording *r = with_kernel(HEADER);
		struct bytes *b = file_of(r, "kernel-cpu0.dat");
		bytes_u64(b, START);
		bytes_u64(b, 16);
		bytes_u32(b, DATA(3) | DELTA);
		(void)bytes_grow(b, PAGE - b->size);
		b->size = size;
		assert_int_equal(finds(r, size < 32 ? "kernel-page-malformed" : "kernel-size"), true);
	}
}

/* ---- events ---- */

/* An event of that number between two calls. */
static bool event_finds(uint64_t id, const char *rule)
{
	struct recording *r = begin();
	put(r, "10.dat", START + 50, uftrace_word(UFTRACE_EVENT, false, 0, id));
	put_call(r, "10.dat", START + 60, ADDRESS);
	return finds(r, rule);
}

static void numbers_of_events(void **state)
{
	(void)state;
	assert_false(event_finds(200000, "dat-event-virtual"));
	assert_true(event_finds(200001, "dat-event-virtual"));
	assert_true(event_finds(200008, "dat-event-virtual"));
	assert_false(event_finds(200009, "dat-event-virtual"));
	assert_false(event_finds(1999999, "dat-event-virtual"));
	assert_true(event_finds(2000000, "dat-event-virtual"));
	assert_true(event_finds(2000001, "dat-event-virtual"));
	assert_true(event_finds(200000, "dat-event-unknown"));
	assert_true(event_finds(200009, "dat-event-unknown"));
	assert_true(event_finds(999999, "dat-event-unknown"));
	assert_false(event_finds(200001, "dat-event-unknown"));
}

/* ---- mappings and depths ---- */

static bool map_finds(const char *map, const char *rule)
{
	struct recording *r = begin();
	set(r, MAP, map);
	return finds(r, rule);
}

static void mappings_ascend(void **state)
{
	(void)state;
	assert_false(map_finds("00300000-00301000 r-xp 00000000 08:01 1 /b\n" MAPPING STACK, "map-unsorted"));
	assert_true(map_finds(MAPPING "00300000-00301000 r-xp 00000000 08:01 1 /b\n" STACK, "map-unsorted"));
	/* Two parts of one image at one address. */
	assert_false(map_finds(MAPPING "00400000-00403000 r-xp 00000000 08:01 1 /a\n" STACK, "map-unsorted"));
	assert_false(map_finds(MAPPING "00402000-00403000 r-xp 00000000 08:01 1 /b\n" STACK, "map-overlap"));
	assert_true(map_finds(MAPPING "00401fff-00403000 r-xp 00000000 08:01 1 /b\n" STACK, "map-overlap"));
	/* Behind a pair that does not overlap. */
	assert_true(map_finds("00300000-00301000 r-xp 00000000 08:01 1 /c\n" MAPPING
			      "00401fff-00403000 r-xp 00000000 08:01 1 /b\n" STACK,
			      "map-overlap"));
}

/* info allows eight calls. */
static void depths_up_to_the_maximum(void **state)
{
	(void)state;
	for (unsigned deepest = 7; deepest <= 9; deepest++) {
		struct recording *r = begin();
		uint64_t time = START + 100;
		for (unsigned depth = 0; depth < deepest; depth++)
			put(r, "10.dat", time++, uftrace_word(UFTRACE_ENTRY, false, depth, ADDRESS));
		for (unsigned depth = deepest; depth--;)
			put(r, "10.dat", time++, uftrace_word(UFTRACE_EXIT, false, depth, ADDRESS));
		assert_int_equal(finds(r, "dat-depth-exceeds-max-stack"), deepest > 8);
	}
}

/* ---- symbols ---- */

static bool symbol_fails(const char *line)
{
	struct recording *r = begin();
	char text[300];
	snprintf(text, sizeof(text), "# symbols: 3\n# path name: /a\n%s\n1000 T f\n1100 T g\n1300 ? __sym_end\n", line);
	set(r, "a.sym", text);
	return finds(r, "sym-line-malformed");
}

static void lines_of_symbols(void **state)
{
	(void)state;
	assert_false(symbol_fails("0900 T f"));
	assert_false(symbol_fails("0000000000000900 T f"));
	assert_true(symbol_fails("00000000000000900 T f"));
	assert_true(symbol_fails("0900 T "));
	assert_true(symbol_fails("0900 T"));
	assert_true(symbol_fails("0900"));
	assert_true(symbol_fails("0900Tf"));
	assert_true(symbol_fails("0900 Tf"));
	assert_true(symbol_fails("x900 T f"));
	assert_true(symbol_fails(" 0900 T f"));
	/* With a size. */
	assert_true(symbol_fails("0900 10"));
	assert_true(symbol_fails("0900 10 T"));
	assert_true(symbol_fails("0900 10 T "));
	assert_true(symbol_fails("0900 10T f"));
	assert_true(symbol_fails("0900 00000000000000010 T f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_lines_with_sound_values),
		cmocka_unit_test(blocks_are_as_long_as_they_say),
		cmocka_unit_test(formats_have_a_name_and_an_id),
		cmocka_unit_test(records_end_where_the_page_says),
		cmocka_unit_test(whole_pages),
		cmocka_unit_test(a_page_that_is_cut),
		cmocka_unit_test(numbers_of_events),
		cmocka_unit_test(mappings_ascend),
		cmocka_unit_test(depths_up_to_the_maximum),
		cmocka_unit_test(lines_of_symbols),
	};

	return RUN(tests);
}
