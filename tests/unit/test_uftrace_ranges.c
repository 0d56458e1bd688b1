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
		"00300000-00402000 r-xp 00000000 08:01 1 /a\n", "00400100-00402000 r-xp 00000000 08:01 1 /a\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct recording *r = three(lines[i]);
		look(r);
		assert_non_null(strstr(r->found, "uftrace/map-exe-missing " MAP ":0+0\n"));
		assert_null(strstr(r->found, "dat-"));
		MAKES(r, "== " MAP "\n000000400000-00000040");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_range),
		cmocka_unit_test(sound_range),
		cmocka_unit_test(empty_range),
	};

	return RUN(tests);
}
