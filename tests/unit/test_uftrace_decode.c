/* formats/uftrace/decode: names of files, lines of the texts, argument specifications. */
#include "unit.h"

#include "formats/uftrace/decode/uftrace_argspec.h"
#include "formats/uftrace/decode/uftrace_demangle.h"
#include "formats/uftrace/decode/uftrace_library.h"
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
	/* One change each. */
	assert_int_equal(kind("sub/uftrace-0123456789abcdef-77-002", &n), UFTRACE_FILE_SHM);
	assert_int_equal(n.number, 77);
	assert_int_equal(n.sid_length, 16);
	assert_memory_equal(n.sid, "0123456789abcdef", 16);
	assert_int_equal(kind("uftrace-1-2147483647-0", &n), UFTRACE_FILE_SHM);
	assert_int_equal(n.sid_length, 1);
	assert_int_equal(kind("uftrace-1-2147483648-0", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("uftrace--77-002", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("uftrace-0123456789abcdef", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("uftrace-0123456789abcdef-77x002", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("uftrace-0123456789abcdef--002", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("uftrace-0123456789abcdef-77-", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("uftrace-0123456789abcdef-77-2x", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("sid-1.map", &n), UFTRACE_FILE_MAP);
	assert_int_equal(n.sid_length, 1);
	assert_int_equal(*n.sid, '1');
	assert_int_equal(kind("sid-1.map.tmp", &n), UFTRACE_FILE_MAP_TMP);
	assert_int_equal(n.sid_length, 1);
	assert_int_equal(kind("sid-.map.tmp", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("sid-1.sym", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("sub/sid-1.map", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(n.number, 0);
	assert_int_equal(kind("perf-cpu.dat", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("perf-cpu3.da", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("perf-cpu3x.dat", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("perf-cpu99999999999999999999.dat", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("kernel-cpu12.dat", &n), UFTRACE_FILE_KERNEL_DAT);
	assert_int_equal(n.number, 12);
	assert_int_equal(kind("1.dat", &n), UFTRACE_FILE_DAT);
	assert_int_equal(kind("9.dat", &n), UFTRACE_FILE_DAT);
	assert_int_equal(kind("1x.dat", &n), UFTRACE_FILE_DAT_ODD);
	assert_int_equal(kind("1", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind(".dat", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("x.dat", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind(".sym", &n), UFTRACE_FILE_UNKNOWN);
	assert_int_equal(kind("a.sym", &n), UFTRACE_FILE_SYM);
	assert_int_equal(kind("a.dbg", &n), UFTRACE_FILE_DBG);
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
	assert_false(task("TASK", &p));
	p.kind = UFTRACE_LINE_OTHER;
	assert_false(uftrace_task_line_read("XXXX timestamp=1.000000000", 26, &p));
	assert_false(task("TASK ", &p));
	assert_false(task("TASKxtimestamp=1.000000000 tid=5 pid=4", &p));
	assert_false(task("TAS", &p));
	assert_true(task("TASK timestamp=0.000000000 tid=2147483647 pid=-1 \r", &p));
	assert_int_equal(p.id, INT32_MAX);
	assert_int_equal(p.parent, -1);
	assert_false(p.odd_quotes);
	assert_false(task("TASK timestamp=0.000000000 tid= pid=4", &p));
	assert_false(task("TASK timestamp=0.000000000 tid=5 pid=", &p));
	assert_false(task("TASK timestamp=0.000000000 tid=5 ppid=4", &p));
	assert_false(task("TASK timestamp=0x000000000 tid=5 pid=4", &p));
	assert_false(task("TASK timestamp=.000000000 tid=5 pid=4", &p));
	assert_true(task("TASK timestamp=10000000000.000000000 tid=5 pid=4", &p));
	assert_false(task("TASK timestamp=10000000001.000000000 tid=5 pid=4", &p));
	assert_true(task("TASK timestamp=0.1000000000000000000 tid=5 pid=4", &p));
	assert_int_equal(p.time, UINT64_C(1000000000000000000));
	assert_false(task("TASK timestamp=0.1000000000000000001 tid=5 pid=4", &p));
	assert_true(task("FORK timestamp=1.000000009 pid=5 ppid=4", &p));
	assert_int_equal(p.kind, UFTRACE_LINE_FORK);
	assert_int_equal(p.time, 1000000009);
	assert_int_equal(p.id, 5);
	assert_int_equal(p.parent, 4);
	assert_false(task("FORK timestamp=1.000000009 pid=5 pid=4", &p));
	assert_false(task("FORK timestamp=1.000000009 pid=5 ppid=4 x", &p));
#define SESS "SESS timestamp=1.000000000 pid=7 "
	assert_false(task(SESS, &p));
	assert_false(task(SESS "sid=", &p));
	assert_false(task(SESS "sid= exename=\"a\"", &p));
	assert_false(task(SESS "sid=1", &p));
	assert_false(task(SESS "sid=1 exename=", &p));
	assert_false(task(SESS "sid=1 exename=\"", &p));
	assert_false(task(SESS "sid=1 exename=\"\r\r", &p));
	assert_true(task(SESS "sid=1 exename=\"\"", &p));
	assert_true(uftrace_str_is(p.path, ""));
	assert_false(p.odd_quotes);
	assert_true(task(SESS "sid=1 exename=\"a\"\r\r", &p));
	assert_true(uftrace_str_is(p.path, "a"));
	assert_false(p.odd_quotes);
	assert_true(task(SESS "sid=1 exename=\"ab", &p));
	assert_true(uftrace_str_is(p.path, "ab"));
	assert_true(p.odd_quotes);
	assert_true(task(SESS "sid=1 exename=ab\"", &p));
	assert_true(uftrace_str_is(p.path, "b"));
	assert_true(p.odd_quotes);
	assert_false(task("SESS timestamp=1.000000000 tid", &p));
	assert_false(task("SESS timestamp=1.000000000 tid=", &p));
#define DLOP "DLOP timestamp=1.000000000 tid=7 sid=01 "
	assert_true(task(DLOP "base=aF09 libname=\"l\"", &p));
	assert_int_equal(p.kind, UFTRACE_LINE_DLOP);
	assert_int_equal(p.base, 0xaf09);
	assert_int_equal(p.id, 7);
	assert_true(uftrace_str_is(p.sid, "01"));
	assert_true(uftrace_str_is(p.path, "l"));
	assert_true(task(DLOP "base=ffffffffffffffff libname=\"l\"", &p));
	assert_true(p.base == UINT64_MAX);
	assert_false(task(DLOP "base=10000000000000000 libname=\"l\"", &p));
	assert_false(task(DLOP "base= libname=\"l\"", &p));
	assert_false(task(DLOP "base=", &p));
	assert_false(task(DLOP "base=g libname=\"l\"", &p));
	assert_false(task(DLOP "base=1 libname=", &p));
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
	assert_int_equal(map("#", &m), UFTRACE_MAP_SKIPPED);
	assert_int_equal(map("1-2 r-xp 0 0:0 0 a", &m), UFTRACE_MAP_GOOD);
	assert_null(m.build_id.text);
	assert_int_equal(m.id_at, 18);
	assert_int_equal(map("1-2 r-xp 0 0:0 0\t a\v build-id:", &m), UFTRACE_MAP_GOOD);
	assert_non_null(m.build_id.text);
	assert_int_equal(m.build_id.length, 0);
	assert_int_equal(m.id_at, 19);
	assert_int_equal(map("1-2 r-xp 0 0:0 0 a build-ix:1", &m), UFTRACE_MAP_GOOD);
	assert_null(m.build_id.text);
	assert_int_equal(map("1-2 r-xp 0 0:0 0 a build-id", &m), UFTRACE_MAP_GOOD);
	assert_null(m.build_id.text);
	assert_int_equal(map("1", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("-2 r-xp 0 0:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1 2 r-xp 0 0:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2xr-xp 0 0:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2\tr-xp 0 0:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1234567812345678-2 r-xp 0 0:0 0 a", &m), UFTRACE_MAP_GOOD);
	assert_int_equal(m.start, UINT64_C(0x1234567812345678));
	assert_int_equal(map("01234567812345678-2 r-xp 0 0:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp g 0:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0 :0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0 0: 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0 g:0 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0 0:g 0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0 0:0 x a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0 00 0:0 a", &m), UFTRACE_MAP_BAD);
	assert_int_equal(map("1-2 r-xp 0", &m), UFTRACE_MAP_BAD);
	snprintf(id, sizeof(id), "1-2 r-xp 0 0:0 0 a build-id:%040d", 0);
	assert_int_equal(map(id, &m), UFTRACE_MAP_GOOD);
	snprintf(id, sizeof(id), "1-2 r-xp 0 0:0 0 a build-id:%041d", 0);
	assert_int_equal(map(id, &m), UFTRACE_MAP_LONG_ID);
	snprintf(path, sizeof(path), "1-2 r-xp 0 0:0 0 %03848d/%0246d", 0, 0);
	assert_int_equal(map(path, &m), UFTRACE_MAP_GOOD);
	snprintf(path, sizeof(path), "1-2 r-xp 0 0:0 0 %03849d/%0246d", 0, 0);
	assert_int_equal(map(path, &m), UFTRACE_MAP_LONG);
	snprintf(path, sizeof(path), "1-2 r-xp 0 0:0 0 /%0247d", 0);
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
	assert_true(uftrace_sym_line_read("1 T a", 5, &s));
	assert_true(uftrace_str_is(s.name, "a"));
	assert_true(uftrace_sym_line_read("1 T ab", 4, &s)); /* for readers it is one, whose name is empty */
	assert_int_equal(s.name.length, 0);
	assert_false(uftrace_sym_line_read("1 T ab", 3, &s));
	assert_false(uftrace_sym_line_read(" T abc", 6, &s));
	assert_false(uftrace_sym_line_read("1xT abc", 7, &s));
	assert_false(uftrace_sym_line_read("1 Txabc", 7, &s));
	assert_true(uftrace_sym_line_read("1234567812345678 T a", 20, &s));
	assert_int_equal(s.address, UINT64_C(0x1234567812345678));
	assert_true(uftrace_sym_line_read("1 9234567812345678 T a", 22, &s));
	assert_int_equal(s.size, UINT64_C(0x9234567812345678));
	assert_int_equal(s.type, 'T');
	assert_true(uftrace_str_is(s.name, "a"));
	assert_false(uftrace_sym_line_read("1 09234567812345678 T a", 23, &s));
	assert_true(uftrace_sym_line_read("1 0 T ab", 7, &s));
	assert_true(uftrace_sym_line_read("1 0 T ab", 6, &s));
	assert_false(uftrace_sym_line_read("1 0 T ab", 5, &s));
	assert_false(uftrace_sym_line_read("1 0 T ab", 5, &s));
	assert_false(uftrace_sym_line_read("1 0 T ab", 4, &s));
	assert_false(uftrace_sym_line_read("1 00 T ab", 4, &s));
	assert_false(uftrace_sym_line_read("1 0xT ab", 8, &s));
	assert_true(uftrace_sym_line_read("1 a name", 8, &s)); /* a size begins with a digit */
	assert_int_equal(s.type, 'a');
	assert_int_equal(s.size, 0);
	assert_false(s.sized);
	assert_true(uftrace_sym_line_read("1 T \t", 5, &s));
	assert_int_equal(s.name.length, 0);
	assert_false(uftrace_sym_line_read("1000 T", 6, &s));
	assert_false(uftrace_sym_line_read("12345678123456781 T a", 21, &s)); /* more digits than an address has */
}

/* Bytes of one item of a 64-bit recording; -1: not understood; -2: a string; -3: ignored. */
static int item(const char *text, bool retval)
{
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count = 0;
	struct uftrace_str t = { text, strlen(text) };
	const struct uftrace_argspec_of of = { .long_size = 8 };
	bool any = false;

	if (uftrace_argspec_items(t, &of, retval, items, &count, &any) != UFTRACE_ARGSPEC_TAKEN)
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
	assert_int_equal(item("arg1/t", false), 0);
	assert_int_equal(item("arg1%rdi", false), 8);
	assert_int_equal(item("arg0", false), 0);
	assert_int_equal(item("arg1x", false), -1);
	assert_int_equal(item("retval/i16", true), 2);
	assert_int_equal(item("retval/i16", false), -3);
	assert_int_equal(item("depth=1", false), -3);
	assert_int_equal(item("arg1/i8,arg1/i64", false), 8); /* a later one replaces an earlier one of its index */
}

/* How many items there are, and of the first one its index. */
static void several(void **state)
{
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count = 0;
	char text[1000] = "";
	const struct uftrace_argspec_of narrow = { .long_size = 4 }, wide = { .long_size = 8 };
	bool any = false;
	(void)state;

	assert_int_equal(uftrace_argspec_items((struct uftrace_str){ ",arg2,,fparg2,arg1/i8,retval,arg2/s,", 36 }, &narrow, false,
					       items, &count, &any),
			 UFTRACE_ARGSPEC_TAKEN);
	assert_true(any);
	assert_int_equal(count, 3);
	assert_int_equal(items[0].index, 2);
	assert_true(items[0].string);
	assert_int_equal(items[1].size, 8);
	assert_int_equal(items[1].floating, 1);
	assert_int_equal(items[2].size, 1);
	assert_int_equal(uftrace_argspec_items((struct uftrace_str){ "arg3", 4 }, &narrow, false, items, &count, &any),
			 UFTRACE_ARGSPEC_TAKEN);
	assert_int_equal(count, 4);
	assert_int_equal(items[3].size, 4);
	/* All or nothing. */
	assert_int_equal(uftrace_argspec_items((struct uftrace_str){ "arg4,arg,arg5", 13 }, &narrow, false, items, &count, &any),
			 UFTRACE_ARGSPEC_REFUSED);
	assert_int_equal(count, 4);
	count = 0;
	for (unsigned i = 1; i <= UFTRACE_ITEMS_MAX + 1; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "arg%u,", i);
	assert_int_equal(uftrace_argspec_items((struct uftrace_str){ text, strlen(text) }, &wide, false, items, &count, &any),
			 UFTRACE_ARGSPEC_TAKEN);
	assert_int_equal(count, UFTRACE_ITEMS_MAX);
	assert_int_equal(items[UFTRACE_ITEMS_MAX - 1].index, UFTRACE_ITEMS_MAX);
	assert_int_equal(item("arg", false), -1);
	assert_int_equal(item("fparg", false), -1);
	assert_int_equal(item("fparg1/80", false), 10);
	assert_int_equal(item("arg1/80", false), -1);
	assert_int_equal(item("arg1/8", false), -1);
	assert_int_equal(item("arg1/", false), -1);
	assert_int_equal(item("arg1/f", false), 8);
	assert_int_equal(item("arg1/f32", false), 4);
	assert_int_equal(item("arg1/f24", false), -1);
	assert_int_equal(item("arg1/x64", false), 8);
	assert_int_equal(item("arg1/e8:a", false), -1);
	assert_int_equal(item("arg1/e:", false), -1);
	assert_int_equal(item("arg1/t0", false), 0);
	assert_int_equal(item("arg1/z", false), -1);
	assert_int_equal(item("retva", true), -3);
	assert_int_equal(item("retval", true), 8);
	assert_int_equal(item("", false), -3);
}

/* The values of a string and a number. */
static void sizes(void **state)
{
	struct uftrace_spec *spec = calloc(1, sizeof(*spec) + 2 * sizeof(spec->items[0]));
	uint8_t data[2000] = { 3, 0 };
	struct uftrace_strings strings;
	(void)state;

	assert_non_null(spec);
	spec->count = 1;
	spec->items[0].string = true;
	assert_int_equal(uftrace_argspec_size(spec, data, 8, false, &strings), 8);
	assert_int_equal(strings.longest, 3);
	assert_int_equal(uftrace_argspec_size(spec, data, 7, false, &strings), -1);
	assert_int_equal(uftrace_argspec_size(spec, data, 1, false, &strings), -1);
	assert_int_equal(strings.longest, 0);
	data[0] = 0;
	assert_int_equal(uftrace_argspec_size(spec, data, 8, false, &strings), 8);
	data[0] = 6;
	assert_int_equal(uftrace_argspec_size(spec, data, 8, false, &strings), 8);
	data[0] = 7;
	assert_int_equal(uftrace_argspec_size(spec, data, 16, false, &strings), 16);
	/* A NUL that is counted is the end; one within is not of a writer. */
	memcpy(data + 2, "abcdef", 7);
	assert_int_equal(uftrace_argspec_size(spec, data, 16, false, &strings), 16);
	assert_false(strings.nul);
	data[7] = 0;
	assert_int_equal(uftrace_argspec_size(spec, data, 16, false, &strings), 16);
	assert_true(strings.nul);
	data[0] = 1022 & 0xff, data[1] = 1022 >> 8;
	assert_int_equal(uftrace_argspec_size(spec, data, 2000, false, &strings), 1024);
	assert_int_equal(strings.longest, 1022);
	data[0] = 1023 & 0xff;
	assert_int_equal(uftrace_argspec_size(spec, data, 2000, false, &strings), -1);
	data[0] = 0, data[1] = 5;
	assert_int_equal(uftrace_argspec_size(spec, data, 8, true, &strings), 8);
	assert_int_equal(strings.longest, 5);
	spec->count = 2;
	spec->items[1].size = 1;
	assert_int_equal(uftrace_argspec_size(spec, data, 16, true, &strings), 16);
	spec->items[1] = spec->items[0];
	data[0] = 2, data[1] = 0, data[4] = 1, data[5] = 0;
	assert_int_equal(uftrace_argspec_size(spec, data, 8, false, &strings), 8);
	assert_int_equal(strings.longest, 2);
	assert_int_equal(uftrace_argspec_size(spec, data, 5, false, &strings), -1);
	spec->count = 0;
	assert_int_equal(uftrace_argspec_size(spec, data, 0, false, &strings), 0);
	free(spec);
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
	assert_true(uftrace_event_length(UFTRACE_E_WATCH_CPU, 8, &min, &max));
	assert_int_equal(min, 4);
	assert_int_equal(max, 4);
	assert_true(uftrace_event_length(UFTRACE_E_DIFF_PROC_STATM, 8, &min, &max));
	assert_int_equal(min, 24);
	assert_true(uftrace_event_length(UFTRACE_E_READ_PAGE_FAULT, 8, &min, &max));
	assert_int_equal(min, 16);
	assert_int_equal(max, 16);
	assert_true(uftrace_event_length(UFTRACE_E_CALLSITE, 8, &min, &max));
	assert_int_equal(min, 8);
	assert_int_equal(max, 8);
	assert_false(uftrace_event_length(UFTRACE_E_CALLSITE + 1, 8, &min, &max));
}

/* As uftrace 0.13 shows them; NULL: not read. */
static void mangled_names(void **state)
{
	static const struct {
		const char *mangled, *name;
	} known[] = {
		{ "_ZN1A3fooEi", "A::foo" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back" },
		{ "_ZN1AC2Ev", "A::A" },
		{ "_ZN1AD1Ev", "A::~A" },
		{ "_ZlsRSoRK1A", "operator<<" },
		{ "_ZN1AcvbEv", "A::operator(cast)" },
		{ "_ZdlPvm", "operator delete" },
		{ "_ZdaPv", "operator delete[]" },
		{ "_Znwm", "operator new" },
		{ "_ZZN1A3fooEvENKUlvE_clEv", "A::foo::$_0::operator()" },
		{ "_ZN12_GLOBAL__N_13barEv", "_GLOBAL__N_1::bar" },
		{ "_ZNSsC1Ev", "std::basic_string<>::basic_string<>" },
		{ "_ZNSi3getEv", "std::basic_istream::get" },
		{ "_ZN1AB5cxx113fooB5cxx11Ev", "A::cxx11::foo::cxx11" },
		{ "_Z3fooi.part.0", "foo" },
		{ "_ZNK1A3getEv", "A::get" },
		{ "_ZN1AixEi", "A::operator[]" },
		{ "_ZNSt3__13fooEv", "std::__1::foo" },
		{ "_Z3fooIiEvT_", "foo" },
		{ "_ZN1AaSERKS_", "A::operator=" },
		{ "_ZNKSt8functionIFvvEEclEv", "std::function::operator()" },
		{ "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move" },
		{ "_ZThn16_N1A3fooEv", "A::foo" },
		{ "_ZTv0_n24_NSt9strstreamD0Ev", "std::strstream::~strstream" },
		{ "_ZGTtNKSt11logic_error4whatEv", "std::logic_error::what" },
		{ "main", NULL },
		{ "_Z", NULL },
		{ "_ZN", NULL },
		{ "_ZN1", NULL },
		{ "_ZN9A3fooEv", NULL },
		{ "_ZN1A3foo", NULL },
		{ "_ZN99999999999999999999999A3fooEv", NULL },
		{ "_ZN1AIX1EE3fooEv", NULL },
		{ "_ZTV1A", NULL },
		{ "_ZN1AIT_E3fooEv", "A::foo" },
		{ "_ZN1AIT0_E3fooEv", "A::foo" },
		{ "_ZN1AITE3fooEv", NULL },
		{ "_ZNS_3fooEv", NULL },
		{ "_ZN1AIiE", NULL },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char buffer[UFTRACE_DEMANGLE_MAX];
		struct uftrace_str name, mangled = { known[i].mangled, strlen(known[i].mangled) };
		bool good = uftrace_demangle(mangled, buffer, sizeof(buffer), &name);
		if (good != (known[i].name != NULL) || (good && !uftrace_str_is(name, known[i].name)))
			fail_msg("%s: %.*s", known[i].mangled, good ? (int)name.length : 1, good ? name.text : "-");
	}
	/* Nesting beyond all names, and no room. */
	char deep[600] = "_Z", small[4];
	struct uftrace_str name;
	memset(deep + 2, 'P', sizeof(deep) - 3);
	assert_false(uftrace_demangle((struct uftrace_str){ deep, sizeof(deep) - 1 }, small, sizeof(small), &name));
	for (size_t i = 2; i + 3 < sizeof(deep); i += 3)
		memcpy(deep + i, "1aI", 3);
	assert_false(uftrace_demangle((struct uftrace_str){ deep, sizeof(deep) - 1 }, small, sizeof(small), &name));
	assert_false(uftrace_demangle((struct uftrace_str){ "_ZN1A3fooEv", 11 }, small, sizeof(small), &name));
}

/* A name of a symbol may hold any byte: what stands behind a NUL is a part of it. */
static void names_with_nul_are_no_functions_of_the_library(void **state)
{
	static const char name[] = "write\0and then many more bytes than the name of any function of the library has";

	(void)state;
	assert_string_equal(uftrace_library_items((struct uftrace_str){ name, 5 }, false), "arg1/d32,arg2/p,arg3/u");
	assert_null(uftrace_library_items((struct uftrace_str){ name, 4 }, false));
	assert_null(uftrace_library_items((struct uftrace_str){ name, 6 }, false));
	assert_null(uftrace_library_items((struct uftrace_str){ name, sizeof(name) }, false));
	assert_null(uftrace_library_items((struct uftrace_str){ name, 0 }, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mangled_names), cmocka_unit_test(names),
		cmocka_unit_test(task_lines),	 cmocka_unit_test(map_lines),
		cmocka_unit_test(sym_lines),	 cmocka_unit_test(items),
		cmocka_unit_test(events),	 cmocka_unit_test(several),
		cmocka_unit_test(sizes),	 cmocka_unit_test(names_with_nul_are_no_functions_of_the_library),
	};

	return RUN(tests);
}
