/* Breakers of chunks: their headers, sizes and order. */
#include "formats/ktrace/gen/ktrace_gen.h"

/* Bytes after the last chunk that are not a chunk. */
static void append_rest(struct ktrace_gen *g)
{
	for (uint64_t i = 0; i < g->rest; i++)
		bytes_u8(g->out, (uint8_t)(0xa1 + i));
}

static void model_chunk_header_truncated(struct ktrace_gen *g)
{
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	g->counts_padding = false;
	g->rest = 1 + choices_below(g->c, 15);
}

BREAKER_STAGES(chunk_header_truncated, [GEN_MODEL] = model_chunk_header_truncated, [GEN_BYTES] = append_rest)

/* Two chunks without padding, and a chunk after each. */
BREAKER(chunk_header_misaligned, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->no_padding = true;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	g->chunks[g->count - 1].no_padding = true;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

BREAKER(chunk_size_past_eof, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_EVENTS, 0, false);
	if (!m)
		return;
	bytes_u64(&m->payload, 0);
	ktrace_make_events(g, &m->payload, 1 + choices_below(g->c, 9));
	m->stored_size = m->payload.size + 64 + choices_below(g->c, 4096);
	g->counts_padding = false;
}

BREAKER(chunk_size_unknown, GEN_MODEL)
{
	break_chunk_size_past_eof(g);
	g->chunks[g->count - 1].stored_size = KTRACE_SIZE_UNFINISHED;
}

BREAKER(chunk_size_overflow, GEN_MODEL)
{
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_EVENTS);
	if (m)
		m->stored_size = UINT64_MAX - 2 - choices_below(g->c, 100);
}

BREAKER(chunk_size_damaged, GEN_MODEL)
{
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_EVENTS);
	if (m)
		m->stored_size = choices_chance(g->c, 1, 2) ? 0 : m->payload.size + 4096 + 8 * choices_below(g->c, 4096);
}

BREAKER(chunk_unfinished, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TAG_UNFINISHED, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, (size_t)(8 * (1 + choices_below(g->c, 8))));
}

BREAKER(chunk_garbage, GEN_MODEL)
{
	/* A chunk whose header never reached the disk, between valid ones. */
	struct ktrace_made *m = ktrace_make_chunk(g, 0, 0, false);
	if (m) {
		(void)bytes_grow(&m->payload, (size_t)(8 * (1 + choices_below(g->c, 32))));
		m->stored_size = 0;
	}
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

BREAKER(chunk_size_includes_padding, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_SUBFILE_ID, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8);
}

BREAKER(chunk_size_includes_header, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	for (uint64_t lines = 1 + choices_below(g->c, 5); lines; lines--)
		bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->stored_size = m->payload.size + 16;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

BREAKER(chunk_size_zero_at_eof, GEN_MODEL)
{
	(void)ktrace_make_chunk(g, KTRACE_NULL, 0, false);
}

BREAKER(chunk_padding_nonzero, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->padding = 1 + (uint8_t)choices_below(g->c, 255);
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

BREAKER(chunk_padding_missing_at_eof, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->no_padding = true;
}

static void model_trailing_garbage(struct ktrace_gen *g)
{
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	g->counts_padding = false;
	g->rest = 16 + choices_below(g->c, 200);
}

BREAKER_STAGES(trailing_garbage, [GEN_MODEL] = model_trailing_garbage, [GEN_BYTES] = append_rest)

BREAKER(file_header_in_body, GEN_MODEL)
{
	/* As a chunk: its size is that of the header without the first 16 bytes. */
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_MAGIC, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED);
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

BREAKER(chunk_unknown_tag, GEN_MODEL)
{
	bool in_header = choices_chance(g->c, 1, 3);
	uint32_t tag = 0x8200 + (uint32_t)choices_below(g->c, 256);
	struct ktrace_made *m = ktrace_make_chunk(g, tag, 0, in_header);
	if (m)
		(void)bytes_grow(&m->payload, (size_t)choices_below(g->c, 64));
}

BREAKER(chunk_unsupported_major, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_SUMMARY, 1 + (uint16_t)choices_below(g->c, 12), false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

BREAKER(chunk_reserved_version_bit, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_NULL, KTRACE_SUBCHUNKS, false);
	if (m)
		(void)bytes_grow(&m->payload, 16);
}

static struct bytes *subfile(struct ktrace_gen *g, uint32_t tag, uint32_t id)
{
	struct ktrace_made *m = ktrace_make_chunk(g, tag, KTRACE_SUBCHUNKS, false);
	if (!m)
		return NULL;
	bytes_u32(&m->payload, KTRACE_SUBFILE_ID);
	bytes_u32(&m->payload, 0);
	bytes_u64(&m->payload, 4);
	bytes_u32(&m->payload, id);
	bytes_align(&m->payload, 8);
	return &m->payload;
}

BREAKER(subchunk_walk_failed, GEN_MODEL)
{
	struct bytes *b = subfile(g, KTRACE_SUBFILE_HEADER, 9);
	if (!b)
		return;
	bytes_u32(b, KTRACE_NULL);
	bytes_u32(b, 0);
	bytes_u64(b, 1000 + choices_below(g->c, 1000));
	(void)bytes_grow(b, 16);
}

BREAKER(subchunk_depth, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_SUBFILE_HEADER, KTRACE_SUBCHUNKS, false);
	for (uint64_t depth = 6; m && depth; depth--) {
		bytes_u32(&m->payload, KTRACE_SUBFILE_HEADER);
		bytes_u16(&m->payload, KTRACE_SUBCHUNKS);
		bytes_u16(&m->payload, 0);
		bytes_u64(&m->payload, 16 * (depth - 1));
	}
}

BREAKER(header_chunk_in_body, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRIMMED, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8);
}

BREAKER(body_chunk_in_header, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, 0x8010, 0, true);
	if (m)
		ktrace_make_plist(g, &m->payload, "owner_kind kdebug_state");
}

BREAKER(duplicate_singleton_chunk, GEN_MODEL)
{
	for (unsigned i = 0; i < 2; i++) {
		struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_MACHINE, 0, true);
		if (m)
			ktrace_make_plist(g, &m->payload, "owner_kind kdebug_state");
	}
}

BREAKER(null_chunk_nonzero, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_NULL, 0, false);
	uint8_t *p = m ? bytes_grow(&m->payload, 32) : NULL;
	if (!p)
		return;
	uint8_t value = 1 + (uint8_t)choices_below(g->c, 255);
	p[8 + choices_below(g->c, 24)] = value;
}
