/* Breakers of maps, events, strings and other payloads. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

struct bytes *ktrace_break_events(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_EVENTS, 0, false);
	if (!m)
		return NULL;
	bytes_u64(&m->payload, 0);
	ktrace_make_events(k, &m->payload, 5);
	return m->payload.failed ? NULL : &m->payload;
}

/* One spoiled event among sound ones. */
static void spoiled_event(struct ktrace_gen *k, struct ktrace_event e)
{
	struct bytes *b = ktrace_break_events(k);
	if (!b)
		return;
	ktrace_make_event(k, b, e);
	ktrace_make_events(k, b, 5);
}

static struct bytes *payload_of(struct ktrace_gen *k, uint32_t tag)
{
	struct ktrace_made *m = ktrace_made_find(k, tag);
	return m ? &m->payload : NULL;
}

/* ---- CPU map ---- */

/* Replaces the map by one of form C with n entries numbered in order. */
static uint8_t *cpumap(struct ktrace_gen *k, uint32_t n)
{
	struct bytes *b = payload_of(k, KTRACE_CPU_MAP);
	if (!b)
		return NULL;
	k->cpus = n > k->cpus ? n : k->cpus;
	n = k->cpus;
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

void ktrace_break_cpumap_form(struct ktrace_gen *k)
{
	struct bytes *b = payload_of(k, KTRACE_CPU_MAP);
	if (!b)
		return;
	b->size = 0;
	bytes_u32(b, 77);
	(void)bytes_grow(b, 8 + choices_below(k->c, 40));
	k->cpus = 0;
}

void ktrace_break_cpumap_bare(struct ktrace_gen *k)
{
	struct bytes *b = payload_of(k, KTRACE_CPU_MAP);
	if (!b)
		return;
	b->size = 0;
	for (uint32_t i = 0; i < k->cpus; i++) {
		bytes_u32(b, i);
		bytes_u32(b, 0);
		bytes_append(b, "AP\0\0\0\0\0\0", 8);
	}
}

void ktrace_break_cpumap_count_mismatch(struct ktrace_gen *k)
{
	uint8_t *p = cpumap(k, 2);
	if (p)
		store_u32(p - 4, k->cpus + 1 + (uint32_t)choices_below(k->c, 100), false);
}

void ktrace_break_cpumap_id_out_of_range(struct ktrace_gen *k)
{
	uint8_t *p = cpumap(k, 3);
	if (p)
		store_u32(p + 40 * (size_t)(k->cpus - 1), k->cpus + (uint32_t)choices_below(k->c, 1000), false);
}

void ktrace_break_cpumap_duplicate_id(struct ktrace_gen *k)
{
	uint8_t *p = cpumap(k, 3);
	if (p)
		store_u32(p + 40, 0, false);
}

void ktrace_break_cpumap_order(struct ktrace_gen *k)
{
	uint8_t *p = cpumap(k, 3);
	if (p) {
		store_u32(p, 1, false);
		store_u32(p + 40, 0, false);
	}
}

void ktrace_break_cpumap_flags(struct ktrace_gen *k)
{
	uint8_t *p = cpumap(k, 2);
	if (p)
		store_u32(p + 4, UINT32_C(2) << choices_below(k->c, 30), false);
}

void ktrace_break_cpumap_name_unterminated(struct ktrace_gen *k)
{
	uint8_t *p = cpumap(k, 2);
	if (p && choices_chance(k->c, 1, 2))
		memset(p + 8, 'x', 32);
	else if (p)
		p[9] = 7;
}

void ktrace_break_cpumap_missing(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_CPU_MAP);
	if (!m)
		return;
	m->tag = KTRACE_NULL;
	memset(m->payload.data, 0, m->payload.size);
}

void ktrace_break_cpumap_empty(struct ktrace_gen *k)
{
	struct bytes *b = payload_of(k, KTRACE_CPU_MAP);
	if (!b)
		return;
	b->size = 0;
	bytes_u32(b, 1);
	bytes_u32(b, 0);
}

/* ---- thread map ---- */

static void one_thread(struct ktrace_gen *k, uint64_t tid, int32_t pid, const char *name, size_t length)
{
	struct bytes *b = payload_of(k, KTRACE_THREAD_MAP);
	if (b)
		ktrace_make_thread(k, b, tid, pid, name, length);
}

void ktrace_break_threadmap_size(struct ktrace_gen *k)
{
	struct bytes *b = payload_of(k, KTRACE_THREAD_MAP);
	if (b)
		(void)bytes_grow(b, 1 + choices_below(k->c, ktrace_thread_size(k->is_64) - 1));
}

void ktrace_break_threadmap_name_unterminated(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 77, "abcdefghijklmnopqrst", 20);
}

void ktrace_break_threadmap_name_control_bytes(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 77, "bell\a", 5);
}

void ktrace_break_threadmap_name_not_utf8(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 77, "caf\xe9!", 5);
}

void ktrace_break_threadmap_name_residue(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 77, "new\0old", 7);
}

void ktrace_break_threadmap_zero_tid(struct ktrace_gen *k)
{
	one_thread(k, 0, 77, "nobody", 6);
}

void ktrace_break_threadmap_unused_entry(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 0, "", 0);
}

void ktrace_break_threadmap_negative_pid(struct ktrace_gen *k)
{
	one_thread(k, 0x900, -1 - (int32_t)choices_below(k->c, 1000), "minus", 5);
}

void ktrace_break_threadmap_duplicate_tid(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 77, "twice", 5);
	one_thread(k, 0x900, 77, "twice", 5);
}

void ktrace_break_threadmap_pid_name_conflict(struct ktrace_gen *k)
{
	one_thread(k, 0x900, 77, "one", 3);
	one_thread(k, 0x901, 77, "two", 3);
}

void ktrace_break_threadmap_missing(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_THREAD_MAP);
	if (!m)
		return;
	m->tag = KTRACE_NULL;
	memset(m->payload.data, 0, m->payload.size);
}

/* ---- events ---- */

void ktrace_break_events_size_short(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, choices_chance(k->c, 1, 2) ? KTRACE_EVENTS : KTRACE_EVENTS_COMPRESSED, 0,
						  false);
	if (m)
		(void)bytes_grow(&m->payload, choices_below(k->c, 8));
	m = ktrace_make_chunk(k, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, k->time + 1);
}

void ktrace_break_events_empty(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_EVENTS, 0, false);
	if (m)
		bytes_u64(&m->payload, 0);
}

void ktrace_break_events_partial_record(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	struct ktrace_made *m;
	if (b)
		(void)bytes_grow(b, 1 + choices_below(k->c, ktrace_event_size(k->is_64) - 1));
	m = ktrace_make_chunk(k, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, k->time + 1);
}

void ktrace_break_events_size_excludes_future(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	struct ktrace_made *m = b ? &k->chunks[k->count - 1] : NULL;
	if (m) {
		m->major = 1;
		m->stored_size = m->payload.size - 8;
	}
	m = ktrace_make_chunk(k, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, k->time + 1);
}

void ktrace_break_events_damaged(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	if (!b)
		return;
	/* A block that never reached the disk, in the middle of the records. */
	(void)bytes_grow(b, (4 + (size_t)choices_below(k->c, 8)) * ktrace_event_size(k->is_64));
	ktrace_make_events(k, b, 8);
}

void ktrace_break_events_future_timestamp_set(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	if (b)
		store_u64(b->data, k->time, false);
}

void ktrace_break_event_before_future_timestamp(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	if (b)
		store_u64(b->data, k->time + 1000000, false);
	gen_expect(k->g, KTRACE_RULE_events_future_timestamp_set);
	(void)ktrace_break_events(k);
}

void ktrace_break_event_unused_nonzero(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.unused = 1 + choices_below(k->c, 1000);
	spoiled_event(k, e);
}

void ktrace_break_event_debugid_zero(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = 0;
	spoiled_event(k, e);
}

static void time_zero(struct ktrace_gen *k)
{
	/* The record was written with a mark for a time, since 0 means "draw one". */
	for (size_t i = 0; i + 8 <= k->out->size; i += 8)
		if (load_u64(k->out->data + i, false) == UINT64_C(0x00fedcba98765432))
			store_u64(k->out->data + i, 0, false);
}

void ktrace_break_event_timestamp_zero(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.cpu = 0;
	e.time = UINT64_C(0x00fedcba98765432);
	k->finish = time_zero;
	spoiled_event(k, e);
}

void ktrace_break_event_timestamp_implausible(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.time = UINT64_C(1) << (56 + choices_below(k->c, 8));
	spoiled_event(k, e);
}

void ktrace_break_event_timestamp_order(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	struct ktrace_event e = ktrace_any_event(k);
	if (!b)
		return;
	k->time += 100;
	ktrace_make_event(k, b, e);
	e.time = k->time - 1 - choices_below(k->c, 50);
	ktrace_make_event(k, b, e);
	ktrace_make_events(k, b, 3);
}

void ktrace_break_event_timestamp_order_cpu(struct ktrace_gen *k)
{
	ktrace_break_event_timestamp_order(k);
}

void ktrace_break_event_before_header_timestamp(struct ktrace_gen *k)
{
	k->header_time = 1000 + 1000 * (1 + choices_below(k->c, 100000));
	k->header_time += k->time;
}

void ktrace_break_event_cpu_out_of_map(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.cpu = k->cpus + (uint32_t)choices_below(k->c, 100);
	spoiled_event(k, e);
}

void ktrace_break_event_tid_dangling(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.tid = 0x90000 + choices_below(k->c, 0x10000);
	spoiled_event(k, e);
}

void ktrace_break_event_tid_zero(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.tid = 0;
	spoiled_event(k, e);
}

void ktrace_break_event_start_end_both(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = 0x040c0014 | KTRACE_FUNC_MASK;
	spoiled_event(k, e);
}

void ktrace_break_event_end_without_start(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = 0x040c7770 | KTRACE_FUNC_END;
	spoiled_event(k, e);
}

void ktrace_break_event_start_unclosed(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = 0x040c7770 | KTRACE_FUNC_START;
	spoiled_event(k, e);
}

void ktrace_break_events_lost(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = KTRACE_LOST_EVENTS;
	spoiled_event(k, e);
}

void ktrace_break_events_retrograde(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = choices_chance(k->c, 1, 2) ? KTRACE_RETROGRADE : KTRACE_PAST;
	spoiled_event(k, e);
}

/* ---- strings ---- */

void ktrace_break_string_sequence_broken(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	static const uint32_t ids[] = { KTRACE_STRING_GLOBAL, KTRACE_STRING_THREADNAME, KTRACE_STRING_THREADNAME_PREV };
	e.debugid = ids[choices_below(k->c, 3)];
	if (choices_chance(k->c, 1, 2))
		e.debugid |= KTRACE_FUNC_END;
	spoiled_event(k, e);
}

void ktrace_break_string_id_signature(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = KTRACE_STRING_GLOBAL | KTRACE_FUNC_MASK;
	e.args[1] = choices_chance(k->c, 1, 2) ? 5 : UINT64_C(0x70ac) << 48;
	e.args[2] = 0x61;
	spoiled_event(k, e);
}

void ktrace_break_string_id_unknown(struct ktrace_gen *k)
{
	struct ktrace_event e = ktrace_any_event(k);
	e.debugid = KTRACE_STRING_GLOBAL | KTRACE_FUNC_MASK;
	e.args[1] = UINT64_C(0x70ac000000777777);
	e.args[2] = e.args[3] = 0;
	spoiled_event(k, e);
}

void ktrace_break_string_too_long(struct ktrace_gen *k)
{
	struct bytes *b = ktrace_break_events(k);
	struct ktrace_event e = ktrace_any_event(k);
	uint64_t pieces = (k->is_64 ? 5 : 10) + choices_below(k->c, 4);
	for (uint64_t i = 0; b && i < pieces; i++) {
		e.debugid = KTRACE_STRING_THREADNAME | (i ? 0 : KTRACE_FUNC_START) | (i + 1 < pieces ? 0 : KTRACE_FUNC_END);
		ktrace_make_event(k, b, e);
	}
}

/* ---- other payloads ---- */

static struct bytes *new_payload(struct ktrace_gen *k, uint32_t tag, uint16_t major)
{
	struct ktrace_made *m = ktrace_make_chunk(k, tag, major, false);
	return m ? &m->payload : NULL;
}

void ktrace_break_compressed_count(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_EVENTS_COMPRESSED, 0);
	if (!b)
		return;
	bytes_u64(b, 0);
	bytes_u32(b, choices_chance(k->c, 1, 2) ? 0 : 1000);
	(void)bytes_grow(b, 20);
}

void ktrace_break_plist_magic(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, 0x8010, 0);
	if (b)
		bytes_text(b, "no property list, surely");
}

void ktrace_break_plist_trailer(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, 0x8010, 0);
	if (!b)
		return;
	ktrace_make_plist(b);
	if (!b->failed)
		store_u64(b->data + b->size - 8, 1000 + choices_below(k->c, 1000), true);
}

void ktrace_break_stackshot_magic(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_STACKSHOT, 1);
	if (b)
		bytes_u64(b, choices_below(k->c, 1000000));
	(void)new_payload(k, KTRACE_NULL, 0);
}

void ktrace_break_fixed_payload_short(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_PASSIVE_INTERVAL, 0);
	if (b)
		(void)bytes_grow(b, choices_below(k->c, 48));
}

void ktrace_break_summary_before_last_event(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_SUMMARY, 0);
	if (b)
		bytes_u64(b, choices_below(k->c, 900));
}

void ktrace_break_timesync_conflict(struct ktrace_gen *k)
{
	struct bytes *b = payload_of(k, KTRACE_TIME_SYNC);
	if (!b) {
		b = new_payload(k, KTRACE_TIME_SYNC, 1);
		if (b)
			(void)bytes_grow(b, 48);
	}
	if (!b || b->failed)
		return;
	store_u32(b->data + 16, 7, false);
	store_u32(b->data + 20, 11, false);
}

void ktrace_break_subfile_id_unmatched(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_SUBFILE_BODY, KTRACE_SUBCHUNKS);
	if (!b)
		return;
	bytes_u32(b, KTRACE_SUBFILE_ID);
	bytes_u32(b, 0);
	bytes_u64(b, 4);
	bytes_u32(b, 99 + (uint32_t)choices_below(k->c, 100));
	bytes_align(b, 8);
}

void ktrace_break_trace_codes_syntax(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_TRACE_CODES, 0);
	if (b)
		bytes_text(b, choices_chance(k->c, 1, 2) ? "0x1400000 MACH_SCHED\nno code at all\n" : "0x1400000\n");
}

void ktrace_break_nested_ktrace_invalid(struct ktrace_gen *k)
{
	struct bytes *b = new_payload(k, KTRACE_NESTED, 0);
	if (b)
		(void)bytes_grow(b, choices_below(k->c, 100));
}

void ktrace_break_no_events(struct ktrace_gen *k)
{
	for (unsigned i = 0; i < k->count; i++)
		if (k->chunks[i].tag == KTRACE_EVENTS || k->chunks[i].tag == KTRACE_EVENTS_COMPRESSED) {
			k->chunks[i].tag = KTRACE_NULL;
			k->chunks[i].payload.size = 0;
		}
	k->g->records = 0;
}
