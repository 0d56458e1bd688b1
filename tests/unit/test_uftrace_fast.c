/* formats/uftrace/scan/uftrace_fast.c: whatever a task's records are, findings and plan are the same as without the fast path; and
 * of plain records it takes nearly all. tests/unit/test_fast.c holds the fast paths of all formats to their contracts; here are
 * records that only this one can mistake. */
#include "unit.h"

#include "core/bytes.h"
#include "core/format.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/uftrace.h"

#define RECORDS 2000u
#define STACK 8u
#define ADDRESS UINT64_C(0x401000)
#define START UINT64_C(1000000000000)

struct capture {
	char path[64];
	uint8_t dat[(RECORDS + 8) * 32]; /* with room behind the last record */
	size_t size;
};

static void capture_write(struct capture *c, bool foreign)
{
	uint8_t info[UFTRACE_HEADER_SIZE] = UFTRACE_MAGIC;
	struct bytes b = { 0 };
	static const char task[] = "SESS timestamp=1.000000000 pid=10 sid=0123456789abcdef exename=\"/a\"\n"
				   "TASK timestamp=1.000000000 tid=10 pid=10\n";
	static const char map[] = "00400000-00402000 r-xp 00000000 08:01 1 /a\n"
				  "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n";
	static const char sym[] = "# symbols: 3\n# path name: /a\n1000 T f\n1100 T g\n1200 T h\n1300 ? __sym_end\n";
	static const char lines[] =
		"taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=10\nargspec:lines=1\nargspec:g@arg1;h@arg1/s\n";
	static const char plugin[] = "build_id:0000000000000000000000000000000000000000\nexit_status:\n";
	uint64_t mask = UFTRACE_BIT(UFTRACE_I_TASKINFO) | UFTRACE_BIT(UFTRACE_I_ARG_SPEC);

	if (foreign)
		mask |= UFTRACE_BIT(UFTRACE_I_BUILD_ID) | UFTRACE_BIT(UFTRACE_I_EXIT_STATUS);
	store_u32(info + UFTRACE_H_VERSION, 4, false);
	store_u16(info + UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE, false);
	info[UFTRACE_H_ENDIAN] = UFTRACE_LITTLE;
	info[UFTRACE_H_CLASS] = UFTRACE_64;
	store_u64(info + UFTRACE_H_FEAT_MASK,
		  UFTRACE_BIT(UFTRACE_F_TASK_SESSION) | UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK) |
			  UFTRACE_BIT(UFTRACE_F_ARGUMENT),
		  false);
	store_u64(info + UFTRACE_H_INFO_MASK, mask, false);
	store_u16(info + UFTRACE_H_MAX_STACK, STACK, false);
	bytes_append(&b, info, sizeof(info));
	if (foreign)
		bytes_text(&b, plugin);
	bytes_text(&b, lines);
	scratch_make(c->path);
	file_write(c->path, "info", b.data, b.size);
	file_write(c->path, "task.txt", task, strlen(task));
	file_write(c->path, "sid-0123456789abcdef.map", map, strlen(map));
	file_write(c->path, "a.sym", sym, strlen(sym));
	file_write(c->path, "10.dat", c->dat, c->size);
	bytes_free(&b);
}

static void put(struct capture *c, uint64_t time, uint64_t word)
{
	store_u64(c->dat + c->size, time, false);
	store_u64(c->dat + c->size + 8, word, false);
	c->size += 16;
}

/* Calls and returns in turn; each call of g() has an argument. */
static void put_plain(struct capture *c, unsigned count, bool arguments)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t address = arguments ? ADDRESS + 0x100 : ADDRESS, time = START + c->size;
		put(c, time, uftrace_word(i % 2 ? UFTRACE_EXIT : UFTRACE_ENTRY, arguments && i % 2 == 0, 0, address));
		if (arguments && i % 2 == 0) {
			store_u64(c->dat + c->size, 42, false);
			c->size += 8;
		}
	}
}

/* Findings and plan in words. */
static char *run(const char *path, bool slow, bool plan, uint64_t *records, uint64_t *fast)
{
	struct tracemend_error error = { 0 };
	struct bundle *b = bundle_open(path, NULL, &error);
	assert_non_null(b);
	struct findings *f = findings_new(uftrace_format.rules, uftrace_format.rule_count, NULL);
	struct plan *p = plan ? plan_new(b, uftrace_format.rules, uftrace_format.rule_count) : NULL;
	struct scan s = { .in = b, .findings = f, .slow = slow, .plan = p };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(uftrace_format.scan(&s), TM_OK);
	for (size_t i = 0; i < findings_kept_count(f); i++) {
		const struct tracemend_finding *x = findings_kept_at(f, i);
		fprintf(out, "%s %llu %llu %s %llu\n", x->rule->id, (unsigned long long)x->offset, (unsigned long long)x->length,
			x->message, (unsigned long long)x->explains);
	}
	for (size_t i = 0; p && i < plan_doubtful_count(p); i++) {
		struct tracemend_range x = plan_doubtful_at(p, i);
		fprintf(out, "doubtful %llu %llu\n", (unsigned long long)x.from, (unsigned long long)x.length);
	}
	fclose(out);
	*records = s.records;
	*fast = s.fast;
	if (p)
		plan_free(p);
	findings_free(f);
	bundle_free(b);
	return text;
}

/* expect: a part of what is reported; NULL: anything. */
static void same(struct capture *c, bool foreign, const char *expect, bool plain)
{
	capture_write(c, foreign);
	for (unsigned plan = 0; plan < 2; plan++) {
		uint64_t records, fast, slow_records, none;
		char *with = run(c->path, false, plan, &records, &fast), *without = run(c->path, true, plan, &slow_records, &none);
		assert_string_equal(with, without);
		assert_int_equal(records, slow_records);
		assert_int_equal(none, 0);
		if (plain)
			assert_true(fast * 10 >= records * 9);
		if (expect && !plan)
			assert_non_null(strstr(with, expect));
		free(with);
		free(without);
	}
	scratch_remove(c->path);
}

static void plain(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct capture c = { .size = 0 };
		put_plain(&c, RECORDS, k & 1);
		same(&c, k & 2, NULL, true);
	}
}

/* Times behind which the next one says nothing. */
static void times(void **state)
{
	static const struct {
		uint64_t time[2];
		const char *expect;
	} cases[] = {
		{ { 0, 0 }, "dat-time-zero" },
		{ { (UINT64_C(1) << 62) - 8, UINT64_C(1) << 62 }, "dat-time-far" },
		{ { START * 2, START * 2 + (UINT64_C(1) << 47) }, NULL },
		{ { 5, 6 }, "dat-time-backward" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture c = { .size = 0 };
		put_plain(&c, 40, false);
		put(&c, cases[i].time[0], uftrace_word(UFTRACE_ENTRY, false, 0, ADDRESS));
		put(&c, cases[i].time[1], uftrace_word(UFTRACE_EXIT, false, 0, ADDRESS));
		put_plain(&c, 40, false);
		same(&c, false, cases[i].expect, false);
	}
}

/* What is in doubt in front of damage: the last record, also where the fast path took it, with its values. */
static void doubt(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 6; k++) {
		struct capture c = { .size = 0 };
		put_plain(&c, 40 + k % 3, k >= 3);
		memset(c.dat + c.size, 0xee, 48);
		c.size += 48;
		put_plain(&c, 40, k >= 3);
		same(&c, false, NULL, false);
	}
}

/* Two records with values, and the values of the second one are damaged: the first one, which the fast path took, is in doubt. */
static void doubt_values(void **state)
{
	struct capture c = { .size = 0 };
	uint64_t address = ADDRESS + 0x100;
	(void)state;

	put_plain(&c, 40, true);
	put(&c, START + c.size, uftrace_word(UFTRACE_ENTRY, true, 0, address));
	c.size += 8;
	put(&c, START + c.size, uftrace_word(UFTRACE_ENTRY, true, 1, address));
	c.size += 4;
	put(&c, START + c.size, uftrace_word(UFTRACE_EXIT, false, 1, address));
	put(&c, START + c.size, uftrace_word(UFTRACE_EXIT, false, 0, address));
	put_plain(&c, 40, true);
	same(&c, false, "dat-bad-magic", false);
}

/* A record that is there twice; other writers have no depths by which it would be seen. */
static void again(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct capture c = { .size = 0 };
		put_plain(&c, 41, false);
		memcpy(c.dat + c.size, c.dat + c.size - 16, 16);
		c.size += 16;
		put(&c, START + c.size, uftrace_word(UFTRACE_EXIT, false, 0, ADDRESS));
		put_plain(&c, 40, false);
		same(&c, k, "dat-duplicate-block", false);
	}
}

static uint64_t seed;
static unsigned seed_deep; /* 1: calls are deeper than the maximum of info */

/* A linear congruential generator (Knuth, MMIX). */
static unsigned below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

/* Calls f, g with a number and h with a string, nested up to the maximum; offsets of the records. */
static unsigned put_tree(struct capture *c, size_t offsets[300])
{
	uint64_t open[STACK + 1];
	unsigned depth = 0;

	for (unsigned i = 0; i < 300; i++) {
		bool call = depth == 0 || (depth < STACK + seed_deep && below(2));
		uint64_t address = call ? ADDRESS + 0x100 * (uint64_t)below(3) : open[depth - 1];
		bool more = call && address != ADDRESS;
		depth -= !call;
		offsets[i] = c->size;
		put(c, START + c->size, uftrace_word(call ? UFTRACE_ENTRY : UFTRACE_EXIT, more, depth, address));
		if (more && address == ADDRESS + 0x100)
			c->size += 8; /* the value 0 */
		else if (more) {
			store_u16(c->dat + c->size, 6, false);
			memcpy(c->dat + c->size + 2, "string", 6);
			c->size += 8;
		}
		if (call)
			open[depth++] = address;
	}
	return 300;
}

/* Changes one field of a record to what a rule is about, or nearly. */
static void change(uint8_t *record)
{
	static const uint64_t addresses[] = { ADDRESS, ADDRESS + 0x100, 0x400500, 0x900000, UINT64_C(1) << 47, 0 };
	uint64_t time = load_u64(record, false), word = load_u64(record + 8, false);

	switch (below(6)) {
	case 0:
		time = below(3) ? time - 60 + below(120) : below(2) ? 0 : UINT64_C(1) << (30 + below(33));
		break;
	case 1:
		word = (word & 0xffff) | addresses[below(6)] << 16;
		break;
	case 2:
		word = (word & ~UINT64_C(0xffc0)) | (uint64_t)below(STACK + 2) << 6;
		break;
	case 3:
		word ^= 1u << below(6);
		break;
	case 4:
		store_u16(record + 16, (uint16_t)(90 + below(20)), false); /* the length of a string, or the next time */
		break;
	default:
		memcpy(record, record + 16 * (1 + below(2)), 16);
		return;
	}
	store_u64(record, time, false);
	store_u64(record + 8, word, false);
}

static void changes(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 500; k++) {
		struct capture c = { .size = 0 };
		size_t offsets[300];
		seed = k;
		seed_deep = k % 3 == 0;
		put_tree(&c, offsets);
		for (unsigned n = 1 + below(2); n; n--)
			change(c.dat + offsets[below(290)]);
		same(&c, k % 5 == 4, NULL, false);
	}
}

/* Longer strings than writers make, of a function whose specification is known. */
static void strings(void **state)
{
	struct capture c = { .size = 0 };
	(void)state;

	for (unsigned i = 0; i < 40; i++) {
		put(&c, START + c.size, uftrace_word(UFTRACE_ENTRY, true, 0, ADDRESS + 0x200));
		unsigned length = i == 30 ? 99 : 10;
		store_u16(c.dat + c.size, (uint16_t)length, false);
		memset(c.dat + c.size + 2, 'x', length);
		c.size += (length + 2 + 7) & ~7u;
		put(&c, START + c.size, uftrace_word(UFTRACE_EXIT, false, 0, ADDRESS + 0x200));
	}
	same(&c, false, "dat-string-length", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(plain),	    cmocka_unit_test(times), cmocka_unit_test(doubt),
					    cmocka_unit_test(doubt_values), cmocka_unit_test(again), cmocka_unit_test(changes),
					    cmocka_unit_test(strings) };

	return RUN(tests);
}
