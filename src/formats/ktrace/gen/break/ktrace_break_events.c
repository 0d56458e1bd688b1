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

void ktrace_break_events_size_short(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, choices_chance(g->c, 1, 2) ? KTRACE_EVENTS : KTRACE_EVENTS_COMPRESSED, 0,
						  false);
	if (m)
		(void)bytes_grow(&m->payload, choices_below(g->c, 8));
	m = ktrace_make_chunk(g, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

void ktrace_break_events_empty(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_EVENTS, 0, false);
	if (m)
		bytes_u64(&m->payload, 0);
}

void ktrace_break_events_partial_record(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct bytes *b = ktrace_make_events_chunk(g);
	struct ktrace_made *m;
	if (b)
		(void)bytes_grow(b, 1 + choices_below(g->c, ktrace_event_size(g->is_64) - 1));
	m = ktrace_make_chunk(g, KTRACE_SUMMARY, 0, false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

void ktrace_break_events_size_excludes_future(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
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

void ktrace_break_events_damaged(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct bytes *b = ktrace_make_events_chunk(g);
	if (!b)
		return;
	/* A block that never reached the disk, in the middle of the records. */
	(void)bytes_grow(b, (4 + (size_t)choices_below(g->c, 8)) * ktrace_event_size(g->is_64));
	ktrace_make_events(g, b, 8);
}

void ktrace_break_events_future_timestamp_set(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct bytes *b = ktrace_make_events_chunk(g);
	if (b)
		store_u64(b->data, g->time, false);
}

void ktrace_break_event_before_future_timestamp(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct bytes *b = ktrace_make_events_chunk(g);
	if (b)
		store_u64(b->data, g->time + 1000000, false);
	gen_expect(g->g, KTRACE_RULE_events_future_timestamp_set);
	(void)ktrace_make_events_chunk(g);
}

void ktrace_break_event_unused_nonzero(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->width = 64;
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.unused = 1 + choices_below(g->c, 1000);
	defective_event(g, e);
}

void ktrace_break_event_debugid_zero(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0;
	defective_event(g, e);
}

/* A record is written with this time, since 0 means "draw one". */
#define TIME_ZERO_MARK UINT64_C(0x00fedcba98765432)

static void time_zero(struct bytes *out)
{
	for (size_t i = 0; i + 8 <= out->size; i += 8)
		if (load_u64(out->data + i, false) == TIME_ZERO_MARK)
			store_u64(out->data + i, 0, false);
}

void ktrace_break_event_timestamp_zero(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_BYTES)
		time_zero(g->out);
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.cpu = 0;
	e.time = TIME_ZERO_MARK;
	defective_event(g, e);
}

void ktrace_break_event_timestamp_implausible(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->width = 64;
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.time = UINT64_C(1) << (56 + choices_below(g->c, 8));
	defective_event(g, e);
}

void ktrace_break_event_timestamp_order(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
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

void ktrace_break_event_timestamp_order_cpu(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	ktrace_break_event_timestamp_order(g);
}

void ktrace_break_event_before_header_timestamp(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->header_time = 1000 + 1000 * (1 + choices_below(g->c, 100000));
	g->header_time += g->time;
}

void ktrace_break_event_cpu_out_of_map(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.cpu = g->cpus + (uint32_t)choices_below(g->c, 100);
	defective_event(g, e);
}

void ktrace_break_event_tid_dangling(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.tid = 0x90000 + choices_below(g->c, 0x10000);
	defective_event(g, e);
}

void ktrace_break_event_tid_zero(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.tid = 0;
	defective_event(g, e);
}

void ktrace_break_event_start_end_both(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0x040c0014 | KTRACE_FUNC_MASK;
	defective_event(g, e);
}

void ktrace_break_event_end_without_start(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0x040c7770 | KTRACE_FUNC_END;
	defective_event(g, e);
}

void ktrace_break_event_start_unclosed(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = 0x040c7770 | KTRACE_FUNC_START;
	defective_event(g, e);
}

void ktrace_break_events_lost(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = KTRACE_LOST_EVENTS;
	defective_event(g, e);
}

void ktrace_break_events_retrograde(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = choices_chance(g->c, 1, 2) ? KTRACE_RETROGRADE : KTRACE_PAST;
	defective_event(g, e);
}

/* ---- strings ---- */

void ktrace_break_string_sequence_broken(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	static const uint32_t ids[] = { KTRACE_STRING_GLOBAL, KTRACE_STRING_THREADNAME, KTRACE_STRING_THREADNAME_PREV };
	e.debugid = ids[choices_below(g->c, 3)];
	if (choices_chance(g->c, 1, 2))
		e.debugid |= KTRACE_FUNC_END;
	defective_event(g, e);
}

void ktrace_break_string_id_signature(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->width = 64;
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = KTRACE_STRING_GLOBAL | KTRACE_FUNC_MASK;
	e.args[1] = choices_chance(g->c, 1, 2) ? 5 : UINT64_C(0x70ac) << 48;
	e.args[2] = 0x61;
	defective_event(g, e);
}

void ktrace_break_string_id_unknown(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_event e = ktrace_any_event(g);
	e.debugid = KTRACE_STRING_GLOBAL | KTRACE_FUNC_MASK;
	e.args[1] = UINT64_C(0x70ac000000777777);
	e.args[2] = e.args[3] = 0;
	defective_event(g, e);
}

void ktrace_break_string_too_long(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct bytes *b = ktrace_make_events_chunk(g);
	struct ktrace_event e = ktrace_any_event(g);
	uint64_t pieces = (g->is_64 ? 5 : 10) + choices_below(g->c, 4);
	for (uint64_t i = 0; b && i < pieces; i++) {
		e.debugid = KTRACE_STRING_THREADNAME | (i ? 0 : KTRACE_FUNC_START) | (i + 1 < pieces ? 0 : KTRACE_FUNC_END);
		ktrace_make_event(g, b, e);
	}
}
