/* The parts of a model: chunks, records, entries of thread maps. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

struct ktrace_made *ktrace_make_chunk(struct ktrace_gen *g, uint32_t tag, uint16_t major, bool in_header)
{
	unsigned at = in_header ? 0 : g->count;

	if (g->count == KTRACE_GEN_CHUNKS)
		return NULL;
	while (at < g->count && g->chunks[at].in_header)
		at++;
	memmove(&g->chunks[at + 1], &g->chunks[at], (g->count - at) * sizeof(g->chunks[0]));
	g->count++;
	g->chunks[at] = (struct ktrace_made){ .tag = tag, .major = major, .in_header = in_header, .stored_size = KTRACE_REAL_SIZE };
	return &g->chunks[at];
}

struct ktrace_made *ktrace_made_find(struct ktrace_gen *g, uint32_t tag)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->chunks[i].tag == tag)
			return &g->chunks[i];
	return NULL;
}

void ktrace_make_event(struct ktrace_gen *g, struct bytes *to, struct ktrace_event e)
{
	if (!e.time)
		e.time = g->time += choices_below(g->c, 200);
	if (!g->is_64) {
		bytes_u64(to, (e.time & KTRACE_TIME_MAX) | (uint64_t)e.cpu << 56);
		for (unsigned i = 0; i < 4; i++)
			bytes_u32(to, (uint32_t)e.args[i]);
		bytes_u32(to, (uint32_t)e.tid);
		bytes_u32(to, e.debugid);
	} else {
		bytes_u64(to, e.time);
		for (unsigned i = 0; i < 4; i++)
			bytes_u64(to, e.args[i]);
		bytes_u64(to, e.tid);
		bytes_u32(to, e.debugid);
		bytes_u32(to, e.cpu);
		bytes_u64(to, e.unused);
	}
	g->g->records++;
}

struct ktrace_event ktrace_any_event(struct ktrace_gen *g)
{
	static const uint32_t ids[] = { 0x01400000, 0x040c0014, 0x0301000c, 0x25010000, 0x1f050008, 0x05000004 };
	struct ktrace_event e = { .debugid = ids[choices_below(g->c, sizeof(ids) / sizeof(ids[0]))] };
	for (unsigned i = 0; i < 4; i++)
		e.args[i] = choices_number(g->c);
	e.tid = g->thread_count ? g->threads[choices_below(g->c, g->thread_count)] : 0x64;
	e.cpu = (uint32_t)choices_below(g->c, g->cpus ? g->cpus : 4);
	return e;
}

/* A string over several events of one thread, as the kernel cuts them (xnu, kernel_debug_string). */
static void make_string(struct ktrace_gen *g, struct bytes *to)
{
	struct ktrace_event e = ktrace_any_event(g);
	bool global = choices_chance(g->c, 1, 2);
	uint64_t pieces = 1 + choices_below(g->c, global ? 8 : 2);

	e.debugid = global ? KTRACE_STRING_GLOBAL : KTRACE_STRING_THREADNAME;
	for (uint64_t i = 0; i < pieces; i++) {
		struct ktrace_event piece = e;
		for (unsigned j = 0; j < 4; j++)
			piece.args[j] = UINT64_C(0x6162636465666768) + i;
		if (!i && global) {
			piece.args[0] = 0x01400000;
			piece.args[1] = UINT64_C(0x70ac000000000001) + choices_below(g->c, 16);
		}
		piece.debugid |= (i ? 0 : KTRACE_FUNC_START) | (i + 1 < pieces ? 0 : KTRACE_FUNC_END);
		ktrace_make_event(g, to, piece);
	}
}

/* A point event, and often what belongs to it. */
void ktrace_make_some(struct ktrace_gen *g, struct bytes *to)
{
	struct ktrace_event e = ktrace_any_event(g);
	switch (choices_below(g->c, 16)) {
	case 1: /* a pair */
		e.debugid |= KTRACE_FUNC_START;
		ktrace_make_event(g, to, e);
		e.debugid ^= KTRACE_FUNC_MASK;
		break;
	case 2: /* a thread is born, and acts */
		e.debugid = KTRACE_NEWTHREAD;
		e.args[0] = 0x1000 + choices_below(g->c, 0x1000);
		e.args[1] = 10;
		ktrace_make_event(g, to, e);
		e = ktrace_any_event(g);
		break;
	case 3:
		make_string(g, to);
		break;
	default:
		break;
	}
	ktrace_make_event(g, to, e);
}

void ktrace_make_events(struct ktrace_gen *g, struct bytes *to, uint64_t n)
{
	for (uint64_t i = 0; i < n && !to->failed; i++)
		ktrace_make_some(g, to);
}

void ktrace_make_thread(struct ktrace_gen *g, struct bytes *to, uint64_t tid, int32_t pid, const char *name, size_t length)
{
	char field[KTRACE_NAME] = { 0 };
	memcpy(field, name, length);
	if (g->is_64)
		bytes_u64(to, tid);
	else
		bytes_u32(to, (uint32_t)tid);
	bytes_u32(to, (uint32_t)pid);
	bytes_append(to, field, sizeof(field));
}

struct bytes *ktrace_make_events_chunk(struct ktrace_gen *g)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_EVENTS, 0, false);
	if (!m)
		return NULL;
	bytes_u64(&m->payload, 0);
	ktrace_make_events(g, &m->payload, 5);
	return m->payload.failed ? NULL : &m->payload;
}

void ktrace_make_valid_chunk(struct ktrace_gen *g, uint32_t tag)
{
	struct ktrace_made *m = ktrace_make_chunk(g, tag, 0, false);
	if (m && tag == KTRACE_SUMMARY)
		bytes_u64(&m->payload, g->time + 1);
}

struct bytes *ktrace_made_payload(struct ktrace_gen *g, uint32_t tag)
{
	struct ktrace_made *m = ktrace_made_find(g, tag);
	return m ? &m->payload : NULL;
}

void ktrace_made_cut(struct ktrace_gen *g)
{
	if (g->rest < g->out->size)
		g->out->size = (size_t)g->rest;
}
