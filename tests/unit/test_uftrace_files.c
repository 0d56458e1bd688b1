/* formats/uftrace: whole recordings of a few lines, with one thing changed in one file: what is reported, and what repair writes.
 */
#include "uftrace_recording.h"

static void clean(void **state)
{
	struct recording *r = begin();
	(void)state;
	look(r);
	FINDS(r, BASE);
	MAKES_NOT(r, "\n++");
	MAKES_NOT(r, "\n--");
	end(r);
}

/* Behind a line that closes a circle of parents, the others are looked at. */
static void circle(void **state)
{
	static const char *const closing[] = { "FORK timestamp=1.000000000 pid=10 ppid=11\n",
					       "TASK timestamp=1.000000000 tid=10 pid=11\n" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct recording *r = begin();
		set(r, "task.txt", SESSION TASK "FORK timestamp=1.000000000 pid=11 ppid=10\n");
		bytes_text(file_of(r, "task.txt"), closing[i]);
		bytes_text(file_of(r, "task.txt"), TASK);
		look(r);
		assert_non_null(strstr(r->found, "uftrace/task-fork-cycle task.txt:"));
		assert_non_null(strstr(r->found, "uftrace/task-repeat-without-exec task.txt:"));
		MAKES(r, "it closes a cycle of parents");
		end(r);
	}
}

#define LEFT "uftrace-0123456789abcdef-"

/* Leftovers are appended in the order of their times, whatever their names. */
static void leftovers(void **state)
{
	static const char early[] = "\\xe8\\x13\\xa5\\xd4\\xe8", late[] = "\\xd0\\x17\\xa5\\xd4\\xe8"; /* START + 1000, + 2000 */
	struct recording *r = begin();
	(void)state;
	put_leftover(r, LEFT "10-000", START + 2000, true);
	put_leftover(r, LEFT "10-001", START + 1000, true);
	look(r);
	FINDS(r, BASE "uftrace/shm-leftover " LEFT "10-000:0+0\nuftrace/shm-leftover " LEFT "10-001:0+0\n");
	MAKES(r, early);
	assert_non_null(strstr(strstr(r->made, early), late));
	end(r);

	r = begin();
	put_leftover(r, LEFT "10-000", START + 1000, true);
	put_leftover(r, LEFT "10-001", START + 2000, true);
	look(r);
	MAKES(r, early);
	assert_non_null(strstr(strstr(r->made, early), late));
	end(r);

	/* Those beside the recording stay unused, and do not hide those of --extra. */
	r = begin();
	put_leftover(r, LEFT "10-000", START + 1000, false);
	put_leftover(r, LEFT "10-001", START + 2000, true);
	look(r);
	MAKES(r, "== " LEFT "10-000\n");
	MAKES(r, late);
	assert_true(strstr(r->made, late) < strstr(r->made, early));
	end(r);

	/* Nor does one that was saved already hide the next. */
	r = begin();
	put_leftover(r, LEFT "10-000", START + 1000, true);
	put_leftover(r, LEFT "10-001", START + 2000, true);
	store_u32(file_of(r, LEFT "10-000")->data + 4, UFTRACE_SHM_WRITTEN, false);
	look(r);
	MAKES_NOT(r, early);
	MAKES(r, late);
	end(r);

	/* Of a task that has no file. */
	r = begin();
	set(r, "task.txt", SESSION TASK "TASK timestamp=1.000000000 tid=11 pid=10\n");
	put_info(r, FEATURES, BLOCKS, "exit_status:0\ntaskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=10,11\n" ARGUMENTS);
	put_leftover(r, LEFT "11-000", START + 1000, true);
	look(r);
	FINDS(r, BASE "uftrace/shm-leftover " LEFT "11-000:0+0\n");
	MAKES(r, "== 11.dat\n");
	MAKES(r, early);
	end(r);

	/* Of another recording, saved already, with a header that is not valid, or with less than a record. */
	for (unsigned i = 0; i < 6; i++) {
		static const struct {
			uint32_t size, flag;
			const char *expect;
		} cases[] = { { 32, UFTRACE_SHM_RECORDING, "another recording" },
			      { 32, UFTRACE_SHM_WRITTEN, "saved already" },
			      { 33, UFTRACE_SHM_RECORDING, "not valid" },
			      { 15, UFTRACE_SHM_RECORDING, "saved already" },
			      { 16, UFTRACE_SHM_RECORDING, NULL },
			      { 32, UFTRACE_SHM_RECORDING, NULL } };
		const char *name = i ? LEFT "10-000" : "uftrace-1123456789abcdef-10-000";
		r = begin();
		put_leftover(r, name, START + 1000, true);
		store_u32(file_of(r, name)->data, cases[i].size, false);
		store_u32(file_of(r, name)->data + 4, cases[i].flag, false);
		look(r);
		if (cases[i].expect)
			MAKES(r, cases[i].expect);
		assert_int_equal(strstr(r->made, early) == NULL, cases[i].expect != NULL);
		end(r);
	}
}

/* An event at the end of the file, with its data, or cut in them. */
static void event_at_the_end(void **state)
{
	(void)state;
	for (size_t left = 0; left <= 24; left++) {
		struct recording *r = begin();
		uint8_t data[24] = { 16 };
		put(r, "10.dat", START + 1000, uftrace_word(UFTRACE_EVENT, true, 0, UFTRACE_E_READ_PAGE_FAULT));
		bytes_append(file_of(r, "10.dat"), data, left);
		look(r);
		char expect[200];
		snprintf(expect, sizeof(expect), "%suftrace/%s 10.dat:128+%zu\n", BASE,
			 left ? "dat-trailing-bytes" : "dat-event-length", 16 + left);
		FINDS(r, left == 24 ? BASE : expect);
		end(r);
	}
}

static void debug_lines(void **state)
{
	static const struct {
		const char *line, *rule;
	} lines[] = {
		{ "F: 1000 f\n", NULL },
		{ "F: 0x1000 f\n", NULL },
		{ "F: 1000 \n", "dbg-malformed" },
		{ "F: 1000\n", "dbg-malformed" },
		{ "F: 10000000000000000 f\n", "dbg-malformed" },
		{ "F: 1000000000001000 f\n", "dbg-func-unknown" },
		{ "F: g f\n", "dbg-malformed" },
		{ "F 1000 f\n", "dbg-malformed" },
		{ "F:1000 f\n", "dbg-malformed" },
		{ "F:\n", "dbg-malformed" },
		{ "F: \n", "dbg-malformed" },
		{ "X: 1000 f\n", "dbg-malformed" },
		{ "E: enum e {A,B=5,C}\n", NULL },
		{ "E: enum e{ A, B = -1, C = 0x1f, };\n", NULL },
		{ "E: enum e {}\n", NULL },
		{ "E: e=1\n", "dbg-malformed" },
		{ "E: enum {A}\n", "dbg-malformed" },
		{ "E: enum e {A,B=5C}\n", "dbg-malformed" },
		{ "E: enum e {A,B=}\n", "dbg-malformed" },
		{ "E: enum e {A B}\n", "dbg-malformed" },
		{ "E: enum e {A,B\n", "dbg-malformed" },
		{ "A: @arg1\n", "dbg-malformed" },
		{ "L: 1 a.c\n", "dbg-malformed" },
		{ "F: 1000 f\nA: @arg1\nR: @retval\nL: 1 a.c\nE: enum e {A}\n", NULL },
		{ "F: 1000 f\nX: 1\n", "dbg-malformed" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct recording *r = begin();
		char text[200];
		put_info(r, FEATURES | UFTRACE_BIT(UFTRACE_F_DEBUG_INFO), BLOCKS, LINES ARGUMENTS);
		snprintf(text, sizeof(text), "# path name: /a\n%s", lines[i].line);
		set(r, "a.dbg", text);
		look(r);
		if (lines[i].rule)
			assert_non_null(strstr(r->found, lines[i].rule));
		else
			FINDS(r, BASE);
		end(r);
	}
}

/* Without a header the word size is that of the widest address. */
static void word_size(void **state)
{
	static const char *const maps[] = {
		"08048000-08050000 r-xp 00000000 08:01 1 /a\n7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n",
		"08048000-08050000 r-xp 00000000 08:01 1 /a\nbffdf000-bffff000 rw-p 00000000 00:00 0 [stack]\n",
		"08048000-08050000 r-xp 00000000 08:01 1 /a-123456789-1\nbffdf000-bffff000 rw-p 00000000 00:00 0 [stack]\n",
		"008048000-08050000 r-xp 00000000 08:01 1 /a\nbffdf000-bffff000 rw-p 00000000 00:00 0 [stack]\n",
		"8048000-8050000 r-xp 00000000 08:01 1 /a\n",
		"08048000-08050000 r-xp 00000000 08:01 1 /a\n100000000-100001000 rw-p 00000000 00:00 0 [stack]\n",
	};
	static const char class[] = { UFTRACE_64, UFTRACE_32, UFTRACE_32, UFTRACE_64, UFTRACE_64, UFTRACE_64 };
	(void)state;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct recording *r = begin();
		char head[64];
		without(r, "info");
		set(r, MAP, maps[i]);
		look(r);
		snprintf(head, sizeof(head), "== info\nFtrace!\\x00\\x04\\x00\\x00\\x00(\\x00\\x01\\x%02x", class[i]);
		MAKES(r, head);
		MAKES(r, "uftrace/info-missing: made from task.txt, the maps and the records\n");
		end(r);
	}
}

/* The name of the program is taken from the first session if a line can hold it. */
static void program_name(void **state)
{
	char long_name[4200], task[4400];
	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct recording *r = begin();
		static const char *const names[] = { "/a", "", "/a\rb" };
		memset(long_name, 'n', sizeof(long_name));
		long_name[i == 3 ? 4078 : 4079] = '\0';
		snprintf(task, sizeof(task), "SESS timestamp=1.000000000 pid=10 sid=0123456789abcdef exename=\"%s\"\n" TASK,
			 i < 3 ? names[i] : long_name);
		set(r, "task.txt", task);
		without(r, "info");
		look(r);
		if (i == 0 || i == 3)
			MAKES(r, "exename:");
		else
			MAKES_NOT(r, "exename:");
		end(r);
	}
}

/* The pages of the kernel have no symbols, wherever they stand in the map. */
static void vdso_first(void **state)
{
	struct recording *r = begin();
	(void)state;
	set(r, MAP, "00300000-00301000 r-xp 00000000 00:00 0 [vdso]\n" MAPPING STACK);
	look(r);
	FINDS(r, BASE);
	end(r);
	r = begin();
	set(r, MAP, "00300000-00301000 r-xp 00000000 08:01 1 /b\n" MAPPING STACK);
	look(r);
	FINDS(r, BASE);
	end(r);
}

/* The version that info names: 2000 is 0.20, from which on there are call sites. */
static void versions(void **state)
{
	static const struct {
		const char *text;
		bool newer;
	} cases[] = { { "v0.19", true },  { "v0.20", false }, { "0.19", true },	   { "0.20", false },
		      { "1.2", false },	  { "v1.2", false },  { "v0.19.9", true }, { "", false },
		      { "v", false },	  { "v0", false },    { "v0.0.1", true },  { "v0.20.1 ( x86_64 )", false },
		      { "0.1.2.3", true } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recording *r = begin();
		char lines[300];
		snprintf(lines, sizeof(lines), LINES ARGUMENTS "uftrace_version:%s\n", cases[i].text);
		put_info(r, FEATURES | UFTRACE_BIT(UFTRACE_F_CALLSITE), BLOCKS | UFTRACE_BIT(UFTRACE_I_VERSION), lines);
		look(r);
		assert_int_equal(strstr(r->found, "feat-newer-than-version") != NULL, cases[i].newer);
		end(r);
	}
}

/* The first and the last time of all tasks, in which order they ever are. */
static void times(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct recording *r = begin();
		r->facts = true;
		set(r, "task.txt", SESSION TASK "TASK timestamp=1.000000000 tid=11 pid=10\n");
		put_info(r, FEATURES, BLOCKS,
			 "exit_status:0\ntaskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=10,11\n" ARGUMENTS);
		put_call(r, "11.dat", i ? START - 1000 : START + 1000, ADDRESS);
		look(r);
		assert_non_null(strstr(r->found, i ? "first record: 999.999999000 s\n" : "first record: 1000.000000000 s\n"));
		assert_non_null(strstr(r->found, i ? "last record: 1000.000000031 s\n" : "last record: 1000.000001001 s\n"));
		end(r);
	}
}

static bool finds_renamed(struct recording *r, const char *name)
{
	char text[128];
	look(r);
	(void)snprintf(text, sizeof(text), "uftrace/file-renamed %s:", name);
	bool found = strstr(r->found, text) != NULL;
	end(r);
	return found;
}

/* Files whose names have something added, and are missing without it. */
static void names_with_something_added(void **state)
{
	static const struct {
		const char *name;
		bool known;
	} names[] = {
		{ "perf-cpu0-copy.dat", true },
		{ "kernel-cpu0-copy.dat", true },
		{ "kernel-cpu123456 (1).dat", true },
		{ "kernel-cpu1234567-1.dat", false },
		{ "kernel-cpu-copy.dat", false },
		{ "kernel-cpu0copy.dat", false },
		{ "kernel_header.bak", true },
		{ "events-2.txt", true },
		{ "note~.txt", true },
		{ "default.opts", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct recording *r = begin();
		set(r, names[i].name, "content");
		if (finds_renamed(r, names[i].name) != names[i].known)
			fail_msg("%s", names[i].name);
	}
}

/* Records of a task, which TASK or FORK names, whose own file is missing. */
static void records_with_something_added(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct recording *r = begin();
		put_info(r, FEATURES, BLOCKS,
			 "exit_status:0\ntaskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=10,11\n" ARGUMENTS);
		set(r, "task.txt", SESSION TASK);
		bytes_text(file_of(r, "task.txt"),
			   i % 2 ? "TASK timestamp=1.000000000 tid=11 pid=10\n" : "FORK timestamp=1.000000000 pid=11 ppid=10\n");
		put_call(r, "11-copy.dat", START, ADDRESS);
		if (i / 2)
			put_call(r, "11.dat", START, ADDRESS);
		assert_int_equal(finds_renamed(r, "11-copy.dat"), i < 2);
	}
}

/* Lines of symbols are sorted; the last one has no line feed, and gets one where others follow it. */
static void the_last_line_stays_as_it_is(void **state)
{
	static const char added[] = "the end of a line that was the last";
	(void)state;
	struct recording *r = begin();
	set(r, "a.sym", "# symbols: 3\n# path name: /a\n1100 T g\n1000 T f\n1200 T h\n1300 ? __sym_end");
	look(r);
	MAKES(r, "\n1000 T f\n1100 T g\n1200 T h\n1300 ? __sym_end");
	MAKES_NOT(r, added);
	set(r, "a.sym", "# symbols: 3\n# path name: /a\n1100 T g\n1200 T h\n1300 ? __sym_end\n1000 T f");
	look(r);
	MAKES(r, "\n1000 T f\n1100 T g\n1200 T h\n1300 ? __sym_end\n");
	MAKES(r, added);
	end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_with_something_added),
		cmocka_unit_test(records_with_something_added),
		cmocka_unit_test(the_last_line_stays_as_it_is),
		cmocka_unit_test(clean),
		cmocka_unit_test(circle),
		cmocka_unit_test(leftovers),
		cmocka_unit_test(event_at_the_end),
		cmocka_unit_test(debug_lines),
		cmocka_unit_test(word_size),
		cmocka_unit_test(program_name),
		cmocka_unit_test(vdso_first),
		cmocka_unit_test(versions),
		cmocka_unit_test(times),
	};

	return RUN(tests);
}
