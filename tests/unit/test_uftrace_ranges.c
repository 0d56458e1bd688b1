/* formats/uftrace: a line of the map that is not where the program was, and what of the sessions says so. */
#include "uftrace_recording.h"

/* Calls of f, g and h of the program, which is mapped from 0x400000 on. */
static struct recording *three(const char *mapping)
{
	struct recording *r = begin();

	put_call(r, "10.dat", START + 100, ADDRESS + 0x100);
	put_call(r, "10.dat", START + 110, ADDRESS + 0x204);
	set(r, MAP, mapping);
	bytes_text(file_of(r, MAP), STACK);
	return r;
}

/* The addresses of the records show where the program was, whatever is wrong in the range. */
static void wrong_range(void **state)
{
	static const char *const lines[] = {
		"00400000-00302000 r-xp 00000000 08:01 1 /a\n", /* empty */
		"00500000-00402000 r-xp 00000000 08:01 1 /a\n", "10400000-20402000 r-xp 00000000 08:01 1 /a\n",
		"00300000-00402000 r-xp 00000000 08:01 1 /a\n", "00400080-00402000 r-xp 00000000 08:01 1 /a\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct recording *r = three(lines[i]);
		look(r);
		assert_non_null(strstr(r->found, "uftrace/map-exe-missing " MAP ":0+0\n"));
		assert_null(strstr(r->found, "dat-"));
		MAKES(r, "== " MAP "\n000000400000-0000");
		MAKES(r, "the range where the addresses of the records are those of its functions");
		end(r);
	}
}

/* Of two functions, or of a program that is where it is said to be, nothing is known. */
static void sound_range(void **state)
{
	struct recording *r = three(MAPPING);
	(void)state;
	look(r);
	FINDS(r, BASE);
	end(r);

	r = begin();
	set(r, MAP, "00500000-00502000 r-xp 00000000 08:01 1 /a\n" STACK);
	look(r);
	assert_null(strstr(r->found, "map-exe-missing"));
	end(r);

	/* Of two sessions the addresses may be the other's. */
	r = three("00300000-00402000 r-xp 00000000 08:01 1 /a\n");
	set(r, "task.txt", SESSION TASK "SESS timestamp=1.000000000 pid=11 sid=0123456789abcdee exename=\"/b\"\n");
	look(r);
	assert_null(strstr(r->found, "map-exe-missing"));
	end(r);
}

/* Addresses far from where functions begin are not of these symbols. */
static void nameless(void **state)
{
	struct recording *r = begin();
	(void)state;
	file_of(r, "10.dat")->size = 0;
	for (unsigned i = 0; i < 3; i++)
		put_call(r, "10.dat", START + i * 10, ADDRESS + 0x80 + i * 0x100);
	look(r);
	FINDS(r, BASE "uftrace/map-exe-missing " MAP ":0+0\n");
	end(r);
}

/* One cause in several tasks is one error. */
static void one_cause(void **state)
{
	const uint64_t value = 1;
	struct recording *r = begin();
	(void)state;
	set(r, "task.txt", SESSION TASK "TASK timestamp=1.000000000 tid=11 pid=10\n");
	put_info(r, FEATURES, BLOCKS, "exit_status:0\ntaskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=10,11\n" ARGUMENTS);
	for (unsigned i = 0; i < 2; i++) {
		const char *name = i ? "11.dat" : "10.dat";
		put_call(r, name, START + 90, ADDRESS);
		put(r, name, START + 100, uftrace_word(UFTRACE_ENTRY, true, 0, ADDRESS));
		bytes_append(file_of(r, name), &value, 8);
		put(r, name, START + 101, uftrace_word(UFTRACE_EXIT, false, 0, ADDRESS));
	}
	look(r);
	FINDS(r, BASE "uftrace/dat-payload-without-spec 10.dat:160+24\n");
	assert_non_null(strstr(r->made, "++ 11.dat "));
	end(r);
}

/* Records with arguments are found in a program whose range is lost, also where nothing shows it. */
static void empty_range(void **state)
{
	const uint64_t values[] = { 1, 2 };
	struct recording *r = begin();
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		put(r, "10.dat", START + 100 + i * 2, uftrace_word(UFTRACE_ENTRY, true, 0, ADDRESS + 0x100));
		bytes_append(file_of(r, "10.dat"), &values[i], 8);
		put(r, "10.dat", START + 101 + i * 2, uftrace_word(UFTRACE_EXIT, false, 0, ADDRESS + 0x100));
	}
	without(r, "a.sym");
	set(r, MAP, "00400000-00302000 r-xp 00000000 08:01 1 /a\n" STACK);
	look(r);
	assert_null(strstr(r->found, "dat-bad-magic"));
	MAKES_NOT(r, "not a record");
	end(r);
}

#define OTHER_MAP "sid-1111111111111111.map"

/* The only map that has the program is that of the only session, whatever is wrong in the id. */
static void wrong_id(void **state)
{
	static const char *const ids[] = { "0123456789abcde", "0123456789abcdef", "012456789abcdef", "x" };
	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct recording *r = begin();
		char text[200];
		const bool other = strlen(ids[i]) == 16;
		without(r, MAP);
		set(r, other ? OTHER_MAP : MAP, MAPPING STACK);
		snprintf(text, sizeof(text), "SESS timestamp=1.000000000 pid=10 sid=%s exename=\"/a\"\n" TASK, ids[i]);
		set(r, "task.txt", text);
		look(r);
		assert_non_null(strstr(r->found, "uftrace/task-session-without-map task.txt:0+"));
		MAKES(r, other ? "pid=10 sid=1111111111111111 exename" : "pid=10 sid=0123456789abcdef exename");
		MAKES_NOT(r, "a map with nothing but the stack");
		end(r);
	}

	/* Of two sessions one that lacks a digit is told by the rest. */
	struct recording *r = begin();
	set(r, "task.txt",
	    "SESS timestamp=1.000000000 pid=10 sid=0123456789bcdef exename=\"/a\"\n" TASK
	    "SESS timestamp=1.000000000 pid=11 sid=2222222222222222 exename=\"/a\"\n"
	    "TASK timestamp=1.000000000 tid=11 pid=11\n");
	set(r, "sid-2222222222222222.map", MAPPING STACK);
	look(r);
	MAKES(r, "pid=10 sid=0123456789abcdef exename");
	end(r);
}

/* The only session is that of the process of all tasks. */
static void wrong_process(void **state)
{
	struct recording *r = begin();
	(void)state;
	set(r, "task.txt",
	    "SESS timestamp=1.000000000 pid=11 sid=0123456789abcdef exename=\"/a\"\n" TASK
	    "FORK timestamp=1.000000000 pid=12 ppid=10\n");
	look(r);
	assert_non_null(strstr(r->found, "uftrace/task-sess-after-task task.txt:"));
	MAKES(r, "== task.txt\nSESS timestamp=1.000000000 pid=10 sid=0123456789abcdef exename=\"/a\"\n" TASK);
	end(r);

	/* Where a line has its process, this one stays. */
	static const char *const lines[] = { "TASK timestamp=1.000000000 tid=12 pid=11\n",
					     "FORK timestamp=1.000000000 pid=12 ppid=11\n",
					     "TASK timestamp=1.000000000 tid=13 pid=14\n" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		r = begin();
		set(r, "task.txt", "SESS timestamp=1.000000000 pid=11 sid=0123456789abcdef exename=\"/a\"\n" TASK);
		bytes_text(file_of(r, "task.txt"), lines[i]);
		look(r);
		MAKES_NOT(r, "of the process of all tasks");
		end(r);
	}
}

/* A build id of noise is that of the symbols. */
static void wrong_build_id(void **state)
{
#define ID "0123456789abcdef0123456789abcdef01234567"
	struct recording *r = begin();
	(void)state;
	set(r, "a.sym", "# symbols: 3\n# path name: /a\n# build-id: " ID "\n1000 T f\n1100 T g\n1200 T h\n1300 ? __sym_end\n");
	set(r, MAP,
	    "00400000-00402000 r-xp 00000000 08:01 1 /a build-id:0123456789abcdef0123456789abcd\xce\xd4\x58\xbb\xbf\x2c\xe0\x53\x37"
	    "7\n" STACK);
	look(r);
	assert_non_null(strstr(r->found, "uftrace/sym-mismatched-identity " MAP ":"));
	MAKES(r, "/a build-id:" ID "\n");
	end(r);
}

/* A symbol file of nothing is missing. */
static void emptied_symbols(void **state)
{
	struct recording *r = begin();
	(void)state;
	set(r, "a.sym", "");
	look(r);
	assert_non_null(strstr(r->found, "uftrace/sym-missing " MAP ":"));
	end(r);
}

/* Blanks that are too many go, and nothing else. */
static void blanks(void **state)
{
	static const char *const lines[] = { "TASK  timestamp=1.000000000 tid=10 pid=10\n",
					     "TASK\t timestamp=1.000000000 tid=10 pid=10\n",
					     "TASK timestamp=1.000000000   tid=10 pid=10\n" };
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct recording *r = begin();
		set(r, "task.txt", SESSION);
		bytes_text(file_of(r, "task.txt"), lines[i]);
		look(r);
		assert_non_null(strstr(r->found, "uftrace/task-line-malformed task.txt:"));
		assert_null(strstr(r->found, "dat-unreferenced"));
		MAKES(r, SESSION TASK "++");
		end(r);
	}

	struct recording *r = begin();
	set(r, "task.txt", SESSION "TASK  timestamp=1.000000000 tid= pid=10\n");
	look(r);
	MAKES(r, "a line that readers abort on");
	end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_range),	   cmocka_unit_test(sound_range),   cmocka_unit_test(empty_range),
		cmocka_unit_test(wrong_id),	   cmocka_unit_test(wrong_process), cmocka_unit_test(wrong_build_id),
		cmocka_unit_test(emptied_symbols), cmocka_unit_test(blanks),	    cmocka_unit_test(nameless),
		cmocka_unit_test(one_cause),
	};

	return RUN(tests);
}
