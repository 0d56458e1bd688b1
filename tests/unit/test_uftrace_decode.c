/* formats/uftrace/decode: names of files, lines of the texts, argument specifications. */
#include "unit.h"

#include "formats/uftrace/decode/uftrace_argspec.h"
#include "formats/uftrace/decode/uftrace_map_line.h"
#include "formats/uftrace/decode/uftrace_name.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/decode/uftrace_sym_line.h"
#include "formats/uftrace/decode/uftrace_task_line.h"

static enum uftrace_kind kind(const char *name, struct uftrace_name *out)
{
	*out = (struct uftrace_name){ 0 };
	return uftrace_name_read(out, name);
}

static void names(void **state)
{
	struct uftrace_name n;
	(void)state;

	assert_int_equal(kind("info", &n), UFTRACE_FILE_INFO);
	assert_int_equal(kind("1234.dat", &n), UFTRACE_FILE_DAT);
	assert_int_equal(n.number, 1234);
	assert_int_equal(kind("2147483647.dat", &n), UFTRACE_FILE_DAT);
	assert_int_equal(kind("2147483648.dat", &n), UFTRACE_FILE_DAT_ODD);
	assert_int_equal(kind("0.dat", &n), UFTRACE_FILE_DAT_ODD);
	assert_int_equal(kind("012.dat", &n), UFTRACE_FILE_DAT_ODD);
	assert_int_equal(kind("sub/1234.dat", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("sid-0123456789abcdef.map", &n), UFTRACE_FILE_MAP);
	assert_int_equal(n.sid_length, 16);
	assert_int_equal(kind("sid-0123456789abcdef.map.tmp", &n), UFTRACE_FILE_MAP_TMP);
	assert_int_equal(n.sid_length, 16);
	assert_int_equal(kind("sid-.map", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("perf-cpu3.dat", &n), UFTRACE_FILE_PERF);
	assert_int_equal(kind("kernel-cpu0.dat", &n), UFTRACE_FILE_KERNEL_DAT);
	assert_int_equal(kind("uftrace-0123456789abcdef-77-002", &n), UFTRACE_FILE_SHM);
	assert_int_equal(n.number, 77);
	assert_int_equal(kind("uftrace-0123456789abcdef0-77-002", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("a.out.sym", &n), UFTRACE_FILE_SYM);
	assert_int_equal(kind("notes", &n), UFTRACE_FILE_UNKNOWN);
}

static bool task(const char *text, struct uftrace_task_parsed *out)
{
	*out = (struct uftrace_task_parsed){ .kind = uftrace_task_keyword(text, strlen(text)) };
	return out->kind != UFTRACE_LINE_OTHER && uftrace_task_line_read(text, strlen(text), out);
}

static void task_lines(void **state)
{
	struct uftrace_task_parsed p;
	(void)state;

	assert_true(task("TASK timestamp=12.000000034 tid=5 pid=4", &p));
	assert_int_equal(p.time, UINT64_C(12000000034));
	assert_int_equal(p.id, 5);
	assert_int_equal(p.parent, 4);
	assert_false(p.odd_digits);
	assert_true(task("TASK timestamp=1.5 tid=5 pid=4", &p)); /* one second and five nanoseconds */
	assert_int_equal(p.time, UINT64_C(1000000005));
	assert_true(p.odd_digits);
	assert_true(task("SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename=\"/bin/a b\"", &p));
	assert_true(uftrace_str_is(p.sid, "0123456789abcdef"));
	assert_true(uftrace_str_is(p.path, "/bin/a b"));
	assert_true(task("SESS timestamp=1.000000000 tid=7 sid=0123456789abcdef exename=\"a\"", &p)); /* older writers */
	assert_true(task("DLOP timestamp=1.000000000 tid=7 sid=01 base=7f00 libname=\"l\"", &p));
	assert_int_equal(p.base, 0x7f00);
	assert_false(task("TASK timestamp=1.000000000 tid=5", &p));
	assert_false(task("TASK timestamp=1.000000000 tid=5 pid=4 x", &p));
	assert_false(task("TASK timestamp=1.000000000 tid=2147483648 pid=4", &p));
	assert_false(task("FOO timestamp=1.000000000", &p));
}

static enum uftrace_map_state map(const char *text, struct uftrace_map_line *out)
{
	*out = (struct uftrace_map_line){ 0 };
	return uftrace_map_line_read(text, strlen(text), out);
}

static void map_lines(void **state)
{
	struct uftrace_map_line m;
	char id[120], path[4200];
	(void)state;

	assert_int_equal(map("400000-401000 r-xp 00000000 08:01 12 /bin/a build-id:0011223344", &m), UFTRACE_MAP_GOOD);
	assert_int_equal(m.start, 0x400000);
	assert_int_equal(m.end, 0x401000);
	assert_true(uftrace_str_is(m.path, "/bin/a"));
	assert_true(uftrace_str_is(m.build_id, "0011223344"));
	assert_int_equal(map("400000-401000 r-xp 00000000 08:01 12", &m), UFTRACE_MAP_ANONYMOUS);
	assert_int_equal(map("# a comment", &m), UFTRACE_MAP_SKIPPED);
	assert_int_equal(map("400000-401000 r-xpx 00000000 08:01 12 a", &m), UFTRACE_MAP_LONG);
	assert_int_equal(map("400000-401000 r-x 00000000 08:01 12 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("400000-401000 r-xp 00000000 0801 12 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("", &m), UFTRACE_MAP_BAD);
	snprintf(id, sizeof(id), "1-2 r-xp 0 0:0 0 a build-id:%040d", 0);
	assert_int_equal(map(id, &m), UFTRACE_MAP_GOOD);
	snprintf(id, sizeof(id), "1-2 r-xp 0 0:0 0 a build-id:%041d", 0);
	assert_int_equal(map(id, &m), UFTRACE_MAP_LONG_ID);
	snprintf(path, sizeof(path), "1-2 r-xp 0 0:0 0 %04095d", 0);
	assert_int_equal(map(path, &m), UFTRACE_MAP_GOOD);
	snprintf(path, sizeof(path), "1-2 r-xp 0 0:0 0 %04096d", 0);
	assert_int_equal(map(path, &m), UFTRACE_MAP_LONG);
}

static void sym_lines(void **state)
{
	struct uftrace_sym_line s = { 0 };
	(void)state;

	assert_true(uftrace_sym_line_read("00001000 T main", 15, &s));
	assert_false(s.sized);
	assert_int_equal(s.type, 'T');
	assert_true(uftrace_str_is(s.name, "main"));
	assert_true(uftrace_sym_line_read("1000 0000002a t f(int)\tx", 24, &s));
	assert_true(s.sized);
	assert_int_equal(s.size, 0x2a);
	assert_true(uftrace_str_is(s.name, "f(int)"));
	assert_false(uftrace_sym_line_read("1000 T", 6, &s));
	assert_false(uftrace_sym_line_read("12345678123456781 T a", 21, &s)); /* more digits than an address has */
}

/* Bytes of one item of a 64-bit recording; -1: not understood; -2: a string; -3: ignored. */
static int item(const char *text, bool retval)
{
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count = 0;
	struct uftrace_str t = { text, strlen(text) };

	if (!uftrace_argspec_items(t, 8, retval, items, &count))
		return -1;
	return !count ? -3 : items[0].string ? -2 : items[0].size;
}

static void items(void **state)
{
	(void)state;

	assert_int_equal(item("arg1", false), 8);
	assert_int_equal(item("arg1/i32", false), 4);
	assert_int_equal(item("arg1/i24", false), -1);
	assert_int_equal(item("arg1/i80", false), -1);
	assert_int_equal(item("arg1/f80", false), 10);
	assert_int_equal(item("fparg1", false), 8);
	assert_int_equal(item("fparg1/32", false), 4);
	assert_int_equal(item("arg1/c", false), 1);
	assert_int_equal(item("arg1/p", false), 8);
	assert_int_equal(item("arg1/s", false), -2);
	assert_int_equal(item("arg1/S", false), -2);
	assert_int_equal(item("arg1/e:color", false), 8);
	assert_int_equal(item("arg1/e", false), -1);
	assert_int_equal(item("arg1/t24", false), 24);
	assert_int_equal(item("arg1/t1024", false), 1024);
	assert_int_equal(item("arg1/t1025", false), -1);
	assert_int_equal(item("arg1/t", false), -1);
	assert_int_equal(item("arg1%rdi", false), 8);
	assert_int_equal(item("arg0", false), -1);
	assert_int_equal(item("arg1x", false), -1);
	assert_int_equal(item("retval/i16", true), 2);
	assert_int_equal(item("retval/i16", false), -3);
	assert_int_equal(item("depth=1", false), -3);
	assert_int_equal(item("arg1/i8,arg1/i64", false), 8); /* a later one replaces an earlier one of its index */
}

static void events(void **state)
{
	unsigned min, max;
	(void)state;

	assert_false(uftrace_event_length(UFTRACE_E_READ_PROC_STATM - 1, 8, &min, &max));
	assert_true(uftrace_event_length(UFTRACE_E_READ_PROC_STATM, 8, &min, &max));
	assert_int_equal(min, 24);
	assert_true(uftrace_event_length(UFTRACE_E_WATCH_VAR, 4, &min, &max));
	assert_int_equal(min, 5);
	assert_int_equal(max, 12);
	assert_true(uftrace_event_length(UFTRACE_E_CALLSITE, 8, &min, &max));
	assert_false(uftrace_event_length(UFTRACE_E_CALLSITE + 1, 8, &min, &max));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),     cmocka_unit_test(task_lines), cmocka_unit_test(map_lines),
		cmocka_unit_test(sym_lines), cmocka_unit_test(items),	   cmocka_unit_test(events),
	};

	return RUN(tests);
}
