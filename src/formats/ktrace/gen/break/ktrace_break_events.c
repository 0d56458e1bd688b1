/* Breakers of events, and of strings that span them. */
#include "formats/ktrace/gen/ktrace_gen.h"

/* One defective event among valid ones. */
static void defective_event(struct ktrace_gen *g, struct ktrace_event e)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	if (!b)
		return;
	ktrace_make_event(g, b, e);
	ktrace_make_events(g, b, 5);
}

/* ---- events ---- */

BREAKER(events_size_short, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, choices_chance(g->c, 1, 2) ? KTRACE_EVENTS : KTRACE_EVENTS_COMPRESSED, 0,
						  false);
	if (m)
		(void)bytes_grow(&m->payload, (size_t)choices_below(g->c, 8));
	m = ktrace_make_chunk(g, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

BREAKER(events_empty, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_EVENTS, 0, false);
	if (m)
		bytes_u64(&m->payload, 0);
}

BREAKER(events_partial_record, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	struct ktrace_made *m;
	if (b)
		(void)bytes_grow(b, (size_t)(1 + choices_below(g->c, ktrace_event_size(g->is_64) - 1)));
	m = ktrace_make_chunk(g, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

BREAKER(events_size_excludes_future, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	struct ktrace_made *m = b ? &g->chunks[g->count - 1] : NULL;
	if (m) {
		m->major = 1;
		m->stored_size = m->payload.size - 8;
	}
	m = ktrace_make_chunk(g, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

BREAKER(events_damaged, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	if (!b)
		return;
	/* A block that never reached the disk, in the middle of the records. */
	(void)bytes_grow(b, (4 + (size_t)choices_below(g->c, 8)) * ktrace_event_size(g->is_64));
	ktrace_make_events(g, b, 8);
}

BREAKER(events_future_timestamp_set, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	if (b)
		store_u64(b->data, g->time, false);
}

BREAKER(event_before_future_timestamp, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	if (b)
		store_u64(b->data, g->time + 1000000, false);
	gen_expect(g->g, KTRACE_RULE_events_future_timestamp_set);
	(void)ktrace_make_events_chunk(g);
}

BREAKER_OF(event_unused_nonzero, GEN_MODEL, g->width = 64)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.unused = 1 + choices_below(g->c, 1000);
	defective_event(g, e);
}

BREAKER(event_debugid_zero, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0;
	defective_event(g, e);
}

/* A record is written with this time, since 0 means "draw one". */
#define TIME_ZERO_MARK UINT64_C(0x00fedcba98765432)

static void time_zero(struct ktrace_gen *g)
{
	struct bytes *out = g->out;
	for (size_t i = 0; i + 8 <= out->size; i += 8)
		if (load_u64(out->data + i, false) == TIME_ZERO_MARK)
			store_u64(out->data + i, 0, false);
}

static void model_event_timestamp_zero(struct ktrace_gen *g)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.cpu = 0;
	e.time = TIME_ZERO_MARK;
	defective_event(g, e);
}

BREAKER_STAGES(event_timestamp_zero, [GEN_MODEL] = model_event_timestamp_zero, [GEN_BYTES] = time_zero)

BREAKER_OF(event_timestamp_implausible, GEN_MODEL, g->width = 64)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.time = UINT64_C(1) << (56 + choices_below(g->c, 8));
	defective_event(g, e);
}

BREAKER(event_timestamp_order, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	struct ktrace_event e = ktrace_any_event(g);
	if (!b)
		return;
	g->time += 100;
	ktrace_make_event(g, b, e);
	e.time = g->time - 1 - choices_below(g->c, 50);
	ktrace_make_event(g, b, e);
	ktrace_make_events(g, b, 3);
}

BREAKER(event_timestamp_order_cpu, GEN_MODEL)
{
	break_event_timestamp_order(g);
}

BREAKER(event_before_header_timestamp, GEN_MODEL)
{
	g->header_time = 1000 + 1000 * (1 + choices_below(g->c, 100000));
	g->header_time += g->time;
}

BREAKER(event_cpu_out_of_map, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.cpu = g->cpus + (uint32_t)choices_below(g->c, 100);
	defective_event(g, e);
}

BREAKER(event_tid_dangling, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.tid = 0x90000 + choices_below(g->c, 0x10000);
	defective_event(g, e);
}

BREAKER(event_tid_zero, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.tid = 0;
	defective_event(g, e);
}

BREAKER(event_start_end_both, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0x040c0014 | KTRACE_FUNC_MASK;
	defective_event(g, e);
}

BREAKER(event_end_without_start, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0x040c7770 | KTRACE_FUNC_END;
	defective_event(g, e);
}

BREAKER(event_start_unclosed, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0x040c7770 | KTRACE_FUNC_START;
	defective_event(g, e);
}

BREAKER(events_lost, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = KTRACE_LOST_EVENTS;
	defective_event(g, e);
}

BREAKER(events_retrograde, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = choices_chance(g->c, 1, 2) ? KTRACE_RETROGRADE : KTRACE_PAST;
	defective_event(g, e);
}

/* ---- strings ---- */

BREAKER(string_sequence_broken, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	static const uint32_t ids[] = { KTRACE_STRING_GLOBAL, KTRACE_STRING_THREADNAME, KTRACE_STRING_THREADNAME_PREV };
	e.debugid = ids[choices_below(g->c, 3)];
	if (choices_chance(g->c, 1, 2))
		e.debugid |= KTRACE_FUNC_END;
	defective_event(g, e);
}

BREAKER_OF(string_id_signature, GEN_MODEL, g->width = 64)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = KTRACE_STRING_GLOBAL | KTRACE_FUNC_MASK;
	e.args[1] = choices_chance(g->c, 1, 2) ? 5 : UINT64_C(0x70ac) << 48;
	e.args[2] = 0x61;
	defective_event(g, e);
}

BREAKER(string_id_unknown, GEN_MODEL)
{
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = KTRACE_STRING_GLOBAL | KTRACE_FUNC_MASK;
	e.args[1] = UINT64_C(0x70ac000000777777);
	e.args[2] = e.args[3] = 0;
	defective_event(g, e);
}

BREAKER(string_too_long, GEN_MODEL)
{
	struct bytes *b = ktrace_make_events_chunk(g);
	struct ktrace_event e = ktrace_any_event(g);
	uint64_t pieces = (g->is_64 ? 5 : 10) + choices_below(g->c, 4);
	for (uint64_t i = 0; b && i < pieces; i++) {
		e.debugid = KTRACE_STRING_THREADNAME | (i ? 0 : KTRACE_FUNC_START) | (i + 1 < pieces ? 0 : KTRACE_FUNC_END);
		ktrace_make_event(g, b, e);
	}
}
