/* A recording of uftrace of a few lines, of which a unit test changes something: what is reported, and what repair writes. */
#ifndef UFTRACE_RECORDING_H
#define UFTRACE_RECORDING_H

#include "unit.h"

#include "core/bytes.h"
#include "core/facts.h"
#include "core/format.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/uftrace.h"

#define ADDRESS UINT64_C(0x401000)
#define START UINT64_C(1000000000000)
#define SESSION "SESS timestamp=1.000000000 pid=10 sid=0123456789abcdef exename=\"/a\"\n"
#define TASK "TASK timestamp=1.000000000 tid=10 pid=10\n"
#define MAPPING "00400000-00402000 r-xp 00000000 08:01 1 /a\n"
#define STACK "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n"
#define SYMBOLS "# symbols: 3\n# path name: /a\n1000 T f\n1100 T g\n1200 T h\n1300 ? __sym_end\n"
#define LINES "exit_status:0\ntaskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=10\n"
#define ARGUMENTS "argspec:lines=1\nargspec:g@arg1;h@arg1/s\n"
/* info has no line of every kind that a recorder writes at the end. */
#define BASE "uftrace/info-recorder-interrupted info:24+8\n"
#define MAP "sid-0123456789abcdef.map"
#define FEATURES \
	(UFTRACE_BIT(UFTRACE_F_TASK_SESSION) | UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK) | \
	 UFTRACE_BIT(UFTRACE_F_ARGUMENT))
#define BLOCKS (UFTRACE_BIT(UFTRACE_I_EXIT_STATUS) | UFTRACE_BIT(UFTRACE_I_TASKINFO) | UFTRACE_BIT(UFTRACE_I_ARG_SPEC))

struct file {
	const char *name;
	struct bytes data;
	bool extra;
};

struct recording {
	struct file files[16];
	size_t count;
	bool facts;
	char *found; /* what was reported: "rule file:offset+length", one a line */
	char *made;  /* what repair writes: "== file", its bytes, then what was changed and why */
};

static inline struct bytes *file_of(struct recording *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->files[i].name, name))
			return &r->files[i].data;
	assert_true(r->count < 16);
	r->files[r->count].name = name;
	return &r->files[r->count++].data;
}

static inline void set(struct recording *r, const char *name, const char *text)
{
	struct bytes *b = file_of(r, name);
	b->size = 0;
	bytes_text(b, text);
}

static inline void without(struct recording *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->files[i].name, name)) {
			bytes_free(&r->files[i].data);
			r->files[i] = r->files[--r->count];
			r->files[r->count] = (struct file){ 0 };
			return;
		}
	fail();
}

static inline void put(struct recording *r, const char *name, uint64_t time, uint64_t word)
{
	uint8_t record[UFTRACE_RECORD_SIZE];
	store_u64(record, time, false);
	store_u64(record + 8, word, false);
	bytes_append(file_of(r, name), record, sizeof(record));
}

/* A call and its return. */
static inline void put_call(struct recording *r, const char *name, uint64_t time, uint64_t address)
{
	put(r, name, time, uftrace_word(UFTRACE_ENTRY, false, 0, address));
	put(r, name, time + 1, uftrace_word(UFTRACE_EXIT, false, 0, address));
}

static inline void put_info(struct recording *r, uint64_t features, uint64_t blocks, const char *lines)
{
	uint8_t info[UFTRACE_HEADER_SIZE] = UFTRACE_MAGIC;
	struct bytes *b = file_of(r, "info");

	store_u32(info + UFTRACE_H_VERSION, 4, false);
	store_u16(info + UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE, false);
	info[UFTRACE_H_ENDIAN] = UFTRACE_LITTLE;
	info[UFTRACE_H_CLASS] = UFTRACE_64;
	store_u64(info + UFTRACE_H_FEAT_MASK, features, false);
	store_u64(info + UFTRACE_H_INFO_MASK, blocks, false);
	store_u16(info + UFTRACE_H_MAX_STACK, 8, false);
	b->size = 0;
	bytes_append(b, info, sizeof(info));
	bytes_text(b, lines);
}

static inline struct recording *begin(void)
{
	struct recording *r = calloc(1, sizeof(*r));
	assert_non_null(r);
	put_info(r, FEATURES, BLOCKS, LINES ARGUMENTS);
	set(r, "task.txt", SESSION TASK);
	set(r, MAP, MAPPING STACK);
	set(r, "a.sym", SYMBOLS);
	for (unsigned i = 0; i < 4; i++)
		put_call(r, "10.dat", START + i * 10, ADDRESS);
	return r;
}

/* A buffer of /dev/shm that holds one call. */
static inline void put_leftover(struct recording *r, const char *name, uint64_t time, bool extra)
{
	uint8_t head[UFTRACE_SHM_HEADER_SIZE] = { 0 };
	store_u32(head, 2 * UFTRACE_RECORD_SIZE, false);
	store_u32(head + 4, UFTRACE_SHM_RECORDING, false);
	bytes_append(file_of(r, name), head, sizeof(head));
	put_call(r, name, time, ADDRESS);
	r->files[r->count - 1].extra = extra;
}

static inline void show(FILE *out, struct plan *p, size_t output)
{
	uint64_t size = plan_size(p, (unsigned)output);
	char *data = calloc(size + 1, 1);

	assert_non_null(data);
	assert_int_equal(plan_read(p, output, 0, data, size), TM_OK);
	fprintf(out, "== %s\n", plan_output_name(p, output));
	for (uint64_t i = 0; i < size; i++)
		fprintf(out, data[i] == '\n' || (data[i] >= ' ' && data[i] < 127) ? "%c" : "\\x%02x", (uint8_t)data[i]);
	free(data);
	for (size_t i = 0; i < plan_segment_count(p, output); i++) {
		struct tracemend_segment s = plan_segment_at(p, output, i);
		if (s.rule)
			fprintf(out, "++ %s %llu+%llu %s: %s\n", plan_output_name(p, output), (unsigned long long)s.offset,
				(unsigned long long)s.length, s.rule->id, s.why);
	}
}

static inline void look(struct recording *r)
{
	for (unsigned pass = 0; pass < 2; pass++) {
		struct tracemend_error error = { 0 };
		struct facts facts = { 0 };
		struct bundle *b = bundle_new("recording", NULL);
		for (size_t i = 0; i < r->count; i++) {
			struct source *s = bundle_add_memory(b, r->files[i].name, r->files[i].data.data, r->files[i].data.size);
			assert_non_null(s);
			if (r->files[i].extra)
				s->role = TM_ROLE_EXTRA;
		}
		bundle_sort(b);
		struct findings *f = findings_new(uftrace_format.rules, uftrace_format.rule_count, NULL);
		struct plan *p = pass ? plan_new(b, uftrace_format.rules, uftrace_format.rule_count) : NULL;
		struct scan s = { .in = b, .findings = f, .plan = p, .facts = &facts };
		size_t size = 0;
		char **text = pass ? &r->made : &r->found;
		free(*text);
		FILE *out = open_memstream(text, &size);
		assert_int_equal(uftrace_format.scan(&s), TM_OK);
		for (size_t i = 0; !pass && i < findings_kept_count(f); i++) {
			const struct tracemend_finding *x = findings_kept_at(f, i);
			fprintf(out, "%s %s:%llu+%llu\n", x->rule->id, x->file, (unsigned long long)x->offset,
				(unsigned long long)x->length);
		}
		for (size_t i = 0; !pass && i < facts.count; i++)
			if (r->facts)
				fprintf(out, "%s: %s\n", facts.list[i].key, facts.list[i].value);
		facts_free(&facts);
		if (pass) {
			assert_int_equal(plan_verify(p, &error), TM_OK);
			for (size_t i = 0; i < plan_output_count(p); i++)
				show(out, p, i);
			for (size_t i = 0; i < plan_dropped_count(p); i++) {
				struct tracemend_range x = plan_dropped_at(p, i);
				fprintf(out, "-- %llu+%llu %s: %s\n", (unsigned long long)x.from, (unsigned long long)x.length,
					x.rule->id, x.why);
			}
			plan_free(p);
		}
		fclose(out);
		findings_free(f);
		bundle_free(b);
	}
}

static inline void end(struct recording *r)
{
	for (size_t i = 0; i < r->count; i++)
		bytes_free(&r->files[i].data);
	free(r->found);
	free(r->made);
	free(r);
}

#define FINDS(r, text) assert_string_equal((r)->found, text)
#define MAKES(r, text) assert_non_null(strstr((r)->made, text))
#define MAKES_NOT(r, text) assert_null(strstr((r)->made, text))

#endif
