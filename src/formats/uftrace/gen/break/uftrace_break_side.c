/* Breakers of the rules about perf and kernel data, user events, remarks and options. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>

enum { NANOSECONDS = 1000000000, UNUSED_TID = 4000000, PERF_SWITCH = 14 };

/* ---- perf-cpu<N>.dat ---- */

/* One of the perf files; its records start where the offsets say. */
static struct bytes *perf(struct uftrace_gen *g, size_t offsets[static 64], unsigned *count)
{
	struct bytes *b = uftrace_genfile_any(g, "perf-cpu", ".dat", NULL);
	bool big = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);

	*count = 0;
	for (size_t at = 0; b && at + 8 <= b->size && *count < 64;) {
		uint16_t size = load_u16(b->data + at + 6, big);

		offsets[(*count)++] = at;
		if (size < 8)
			break;
		at += size;
	}
	return b;
}

/* Writes a context switch of a task. */
static void put_switch(struct uftrace_gen *g, struct bytes *b, int tid, uint64_t time, bool out)
{
	bytes_u32(b, PERF_SWITCH);
	bytes_u16(b, out ? 0x2000 : 0);
	bytes_u16(b, 24);
	bytes_u32(b, (uint32_t)g->tasks[0].pid);
	bytes_u32(b, (uint32_t)tid);
	bytes_u64(b, time);
}

BREAKER_OF(perf_record_size, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, 0))
{
	static const uint16_t wrong[] = { 0, 4, 20, 4000, 65528, 16 };
	size_t offsets[64];
	unsigned count;
	struct bytes *b = perf(g, offsets, &count);

	if (b && count) {
		uint8_t *record = b->data + offsets[uftrace_gen_below(g, count)];

		store_u16(record + 6, wrong[uftrace_gen_below(g, 6)], uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
	}
}

BREAKER_OF(perf_truncated, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, 0))
{
	size_t offsets[64];
	unsigned count;
	struct bytes *b = perf(g, offsets, &count);

	if (b && b->size > 24)
		b->size -= 1 + uftrace_gen_below(g, 15);
}

BREAKER_OF(perf_unknown_type, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, 0))
{
	size_t offsets[64];
	unsigned count;
	struct bytes *b = perf(g, offsets, &count);

	if (b && count) {
		uint8_t *record = b->data + offsets[uftrace_gen_below(g, count)];

		store_u32(record, UFTRACE_PERF_TYPES + uftrace_gen_below(g, 100), uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
	}
}

BREAKER_OF(perf_time_order, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, 0))
{
	size_t offsets[64];
	unsigned count;
	struct bytes *b = perf(g, offsets, &count);

	if (!b)
		return;
	put_switch(g, b, g->tasks[0].tid, g->end, true);
	put_switch(g, b, g->tasks[0].tid, g->start, false);
}

BREAKER_OF(perf_unknown_tid, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, 0), uftrace_gen_unused(g, 1000))
{
	size_t offsets[64];
	unsigned count;
	struct bytes *b = perf(g, offsets, &count);
	int tid = UNUSED_TID + (int)uftrace_gen_below(g, 1000);

	if (!b)
		return;
	put_switch(g, b, tid, g->end, true);
	put_switch(g, b, tid, g->end, false);
}

BREAKER_OF(perf_switch_unpaired, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, 0), uftrace_gen_unused(g, 2))
{
	size_t offsets[64];
	unsigned count;
	struct bytes *b = perf(g, offsets, &count);
	bool out = uftrace_gen_below(g, 2);

	if (!b)
		return;
	put_switch(g, b, g->tasks[0].tid, g->end, out);
	put_switch(g, b, g->tasks[0].tid, g->end, out);
}

/* ---- text files ---- */

BREAKER_OF(events_malformed, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PROBES, 0))
{
	static const char *const wrong[] = { "EVENT: x shop:order\n", "EVENT 1000009 shop:order\n", "EVENT: 1000009\n",
					     "nothing\n" };
	struct bytes *b = uftrace_genfile(g, "events.txt");

	if (!b)
		return;
	if (uftrace_gen_below(g, 2)) {
		uftrace_row_insert_any(g, b, wrong, 4);
		return;
	}
	uftrace_row_insert(b, b->size, "EVENT: 1000099 shop:");
	for (unsigned i = 520 + uftrace_gen_below(g, 100); i; i--)
		bytes_u8(b, 'n');
	bytes_u8(b, '\n');
}

BREAKER_OF(events_duplicate_id, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PROBES, 0))
{
	struct bytes *b = uftrace_genfile(g, "events.txt");

	if (b)
		uftrace_row_insert(b, b->size, "EVENT: %u shop:again\n", 1000000 + uftrace_gen_below(g, g->probes));
}

BREAKER_OF(extern_malformed, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_EXTERN, 0))
{
	struct bytes *b = uftrace_genfile(g, "extern.dat");

	if (!b)
		return;
	switch (uftrace_gen_below(g, 3)) {
	case 0:
		uftrace_row_insert(b, uftrace_row_any(g, b, "").at, "no time at all\n");
		break;
	case 1:
		uftrace_row_insert(b, b->size, "%llu.%09llu\n", (unsigned long long)(g->end / NANOSECONDS),
				   (unsigned long long)(g->end % NANOSECONDS));
		break;
	default:
		uftrace_row_insert(b, uftrace_row_any(g, b, "").at, "12:30:00 lunch\n");
		break;
	}
}

BREAKER_OF(extern_unsorted, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_EXTERN, 0))
{
	struct bytes *b = uftrace_genfile(g, "extern.dat");

	if (b)
		uftrace_row_insert(b, b->size, "%llu.000000001 an early remark\n",
				   (unsigned long long)(g->start / NANOSECONDS - 1));
}

BREAKER_OF(default_opts_whitespace, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_OPTS, 0))
{
	static const char *const wrong[] = { "\n", " \n", "\t", "\n\n" };
	struct bytes *b = gen_file(g->g, "default.opts");

	if (!b)
		return;
	b->size = 0;
	bytes_text(b, wrong[uftrace_gen_below(g, 4)]);
}

BREAKER_OF(default_opts_unexpected, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_OPTS, 0))
{
	static const char *const wrong[] = { "-d elsewhere\n", "record\n", "-F main -t 1us\n", "-t\n" };
	struct bytes *b = gen_file(g->g, "default.opts");

	if (!b)
		return;
	b->size = 0;
	bytes_text(b, wrong[uftrace_gen_below(g, 4)]);
}

/* ---- kernel ---- */

BREAKER_OF(kernel_header_malformed, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_KERNEL, 0))
{
	struct bytes *b = uftrace_genfile(g, "kernel_header");

	if (!b)
		return;
	switch (uftrace_gen_below(g, 4)) {
	case 0:
		(void)uftrace_row_replace_text(b, 0, "header_page: ", "header_page: 9");
		break;
	case 1:
		bytes_text(b, "TRACEFS: events/enable: 2\n0\n");
		b->size--;
		break;
	case 2:
		(void)uftrace_row_replace_text(b, 0, "LONG_SIZE: 8", "LONG_SIZE: 16");
		break;
	default:
		b->size -= 1 + uftrace_gen_below(g, 20);
		break;
	}
}

BREAKER_OF(kernel_page_malformed, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_KERNEL, 0))
{
	struct bytes *b = uftrace_genfile_any(g, "kernel-cpu", ".dat", NULL);
	bool big = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);

	if (!b)
		return;
	if (uftrace_gen_below(g, 2))
		store_u64(b->data + 8, 4081 + uftrace_gen_below(g, 4000), big);
	else
		store_u64(b->data + 8, load_u64(b->data + 8, big) - 4 - 4 * (uint64_t)uftrace_gen_below(g, 4), big);
}

BREAKER_OF(kernel_size, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_KERNEL, 0))
{
	struct bytes *b = uftrace_genfile_any(g, "kernel-cpu", ".dat", NULL);

	if (b)
		(void)bytes_grow(b, 1 + uftrace_gen_below(g, 4095));
}

/* ---- shared memory ---- */

BREAKER_OF(shm_leftover, GEN_BYTES,
	   uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS | UFTRACE_GEN_AUTO))
{
	char name[64];
	struct bytes *b;
	uint64_t address = g->marks[0].address;

	(void)snprintf(name, sizeof(name), "uftrace-%s-%d-%03u", g->sessions[0].sid, g->tasks[0].tid, uftrace_gen_below(g, 4));
	b = gen_file(g->g, name);
	if (!b)
		return;
	b->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
	bytes_u32(b, 32); /* bytes of records */
	bytes_u32(b, UFTRACE_SHM_RECORDING);
	bytes_u64(b, 0);
	bytes_u64(b, g->end + 1);
	bytes_u64(b, uftrace_record_make(RECORD_ENTRY, 0, address));
	bytes_u64(b, g->end + 2);
	bytes_u64(b, uftrace_record_make(RECORD_EXIT, 0, address));
	(void)bytes_grow(b, 4096 - b->size);
}
