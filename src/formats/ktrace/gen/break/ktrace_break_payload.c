/* Breakers of maps and other payloads. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

/* ---- CPU map ---- */

/* Replaces the map by one of form C with n entries numbered in order. */
static uint8_t *cpumap(struct ktrace_gen *g, uint32_t n)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_CPU_MAP);
	if (!b)
		return NULL;
	g->cpus = n > g->cpus ? n : g->cpus;
	n = g->cpus;
	b->size = 0;
	bytes_u32(b, 1);
	bytes_u32(b, n);
	uint8_t *p = bytes_grow(b, 40 * (size_t)n);
	for (uint32_t i = 0; p && i < n; i++) {
		store_u32(p + 40 * i, i, false);
		memcpy(p + 40 * i + 8, "AP", 2);
	}
	return p;
}

BREAKER(cpumap_form, GEN_MODEL)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_CPU_MAP);
	if (!b)
		return;
	/* A prefix that is not that of the entries, or no entries. */
	if (b->size > 8 && choices_below(g->c, 2)) {
		store_u32(b->data, 77, false);
		return;
	}
	b->size = 0;
	bytes_u32(b, 77);
	(void)bytes_grow(b, (size_t)(8 + choices_below(g->c, 40)));
	g->cpus = 0;
}

BREAKER(cpumap_bare, GEN_MODEL)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_CPU_MAP);
	if (!b)
		return;
	b->size = 0;
	for (uint32_t i = 0; i < g->cpus; i++) {
		bytes_u32(b, i);
		bytes_u32(b, 0);
		bytes_append(b, "AP\0\0\0\0\0\0", 8);
	}
}

BREAKER(cpumap_count_mismatch, GEN_MODEL)
{
	uint8_t *p = cpumap(g, 2);
	if (p)
		store_u32(p - 4, g->cpus + 1 + (uint32_t)choices_below(g->c, 100), false);
}

BREAKER(cpumap_id_out_of_range, GEN_MODEL)
{
	uint8_t *p = cpumap(g, 3);
	if (p)
		store_u32(p + 40 * (size_t)(g->cpus - 1), g->cpus + (uint32_t)choices_below(g->c, 1000), false);
}

BREAKER(cpumap_duplicate_id, GEN_MODEL)
{
	uint8_t *p = cpumap(g, 3);
	if (p)
		store_u32(p + 40, 0, false);
}

BREAKER(cpumap_order, GEN_MODEL)
{
	uint8_t *p = cpumap(g, 3);
	if (p) {
		store_u32(p, 1, false);
		store_u32(p + 40, 0, false);
	}
}

BREAKER(cpumap_flags, GEN_MODEL)
{
	uint8_t *p = cpumap(g, 2);
	if (p)
		store_u32(p + 4, UINT32_C(2) << choices_below(g->c, 30), false);
}

BREAKER(cpumap_name_unterminated, GEN_MODEL)
{
	uint8_t *p = cpumap(g, 2);
	if (p && choices_chance(g->c, 1, 2))
		memset(p + 8, 'x', 32);
	else if (p)
		p[9] = 7;
}

BREAKER(cpumap_missing, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_CPU_MAP);
	if (!m)
		return;
	m->tag = KTRACE_NULL;
	memset(m->payload.data, 0, m->payload.size);
}

BREAKER(cpumap_empty, GEN_MODEL)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_CPU_MAP);
	if (!b)
		return;
	b->size = 0;
	bytes_u32(b, 1);
	bytes_u32(b, 0);
}

/* ---- thread map ---- */

static void one_thread(struct ktrace_gen *g, uint64_t tid, int32_t pid, const char *name, size_t length)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_THREAD_MAP);
	if (b)
		ktrace_make_thread(g, b, tid, pid, name, length);
}

BREAKER(threadmap_size, GEN_MODEL)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_THREAD_MAP);
	if (b)
		(void)bytes_grow(b, (size_t)(1 + choices_below(g->c, ktrace_thread_size(g->is_64) - 1)));
}

BREAKER(threadmap_name_unterminated, GEN_MODEL)
{
	one_thread(g, 0x900, 77, "abcdefghijklmnopqrst", 20);
}

BREAKER(threadmap_name_control_bytes, GEN_MODEL)
{
	one_thread(g, 0x900, 77, "bell\a", 5);
}

BREAKER(threadmap_name_not_utf8, GEN_MODEL)
{
	one_thread(g, 0x900, 77, "caf\xe9!", 5);
}

BREAKER(threadmap_name_residue, GEN_MODEL)
{
	one_thread(g, 0x900, 77, "new\0old", 7);
}

BREAKER(threadmap_zero_tid, GEN_MODEL)
{
	one_thread(g, 0, 77, "nobody", 6);
}

BREAKER(threadmap_unused_entry, GEN_MODEL)
{
	one_thread(g, 0x900, 0, "", 0);
}

BREAKER(threadmap_negative_pid, GEN_MODEL)
{
	one_thread(g, 0x900, -1 - (int32_t)choices_below(g->c, 1000), "minus", 5);
}

BREAKER(threadmap_duplicate_tid, GEN_MODEL)
{
	one_thread(g, 0x900, 77, "twice", 5);
	one_thread(g, 0x900, 77, "twice", 5);
}

BREAKER(threadmap_pid_name_conflict, GEN_MODEL)
{
	one_thread(g, 0x900, 77, "one", 3);
	one_thread(g, 0x901, 77, "two", 3);
}

BREAKER(threadmap_missing, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_THREAD_MAP);
	if (!m)
		return;
	m->tag = KTRACE_NULL;
	memset(m->payload.data, 0, m->payload.size);
}

/* ---- other payloads ---- */

static struct bytes *new_payload(struct ktrace_gen *g, uint32_t tag, uint16_t major)
{
	struct ktrace_made *m = ktrace_make_chunk(g, tag, major, false);
	return m ? &m->payload : NULL;
}

BREAKER(compressed_count, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_EVENTS_COMPRESSED, 0);
	if (!b)
		return;
	bytes_u64(b, 0);
	bytes_u32(b, choices_chance(g->c, 1, 2) ? 0 : 1000);
	(void)bytes_grow(b, 20);
}

BREAKER(plist_magic, GEN_MODEL)
{
	struct bytes *b = new_payload(g, 0x8010, 0);
	if (b)
		bytes_text(b, "no property list, surely");
}

BREAKER(plist_trailer, GEN_MODEL)
{
	struct bytes *b = new_payload(g, 0x8010, 0);
	if (!b)
		return;
	ktrace_make_plist(g, b, "owner_kind kdebug_state");
	if (!b->failed)
		store_u64(b->data + b->size - 8, 1000 + choices_below(g->c, 1000), true);
}

BREAKER(stackshot_magic, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_STACKSHOT, 1);
	if (b)
		bytes_u64(b, choices_below(g->c, 1000000));
	(void)new_payload(g, KTRACE_NULL, 0);
}

BREAKER(fixed_payload_short, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_PASSIVE_INTERVAL, 0);
	if (b)
		(void)bytes_grow(b, (size_t)choices_below(g->c, 48));
}

BREAKER(summary_before_last_event, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_SUMMARY, 0);
	if (b)
		bytes_u64(b, choices_below(g->c, 900));
}

BREAKER(timesync_conflict, GEN_MODEL)
{
	struct bytes *b = ktrace_made_payload(g, KTRACE_TIME_SYNC);
	if (!b) {
		b = new_payload(g, KTRACE_TIME_SYNC, 1);
		if (b)
			(void)bytes_grow(b, 48);
	}
	if (!b || b->failed)
		return;
	store_u32(b->data + 16, 7, false);
	store_u32(b->data + 20, 11, false);
}

BREAKER(subfile_id_unmatched, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_SUBFILE_BODY, KTRACE_SUBCHUNKS);
	if (!b)
		return;
	bytes_u32(b, KTRACE_SUBFILE_ID);
	bytes_u32(b, 0);
	bytes_u64(b, 4);
	bytes_u32(b, 99 + (uint32_t)choices_below(g->c, 100));
	bytes_align(b, 8);
}

BREAKER(trace_codes_syntax, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_TRACE_CODES, 0);
	if (b)
		bytes_text(b, choices_chance(g->c, 1, 2) ? "0x1400000 MACH_SCHED\nno code at all\n" : "0x1400000\n");
}

BREAKER(nested_ktrace_invalid, GEN_MODEL)
{
	struct bytes *b = new_payload(g, KTRACE_NESTED, 0);
	if (b)
		(void)bytes_grow(b, (size_t)choices_below(g->c, 100));
}

BREAKER(no_events, GEN_MODEL)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->chunks[i].tag == KTRACE_EVENTS || g->chunks[i].tag == KTRACE_EVENTS_COMPRESSED) {
			g->chunks[i].tag = KTRACE_NULL;
			g->chunks[i].payload.size = 0;
		}
	g->g->records = 0;
}
