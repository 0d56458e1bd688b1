/* Breakers of chunks: their headers, sizes and order. */
#include "formats/ktrace/gen/ktrace_gen.h"

/* Bytes after the last chunk that are not a chunk. */
static void append_rest(struct ktrace_gen *g)
{
	for (uint64_t i = 0; i < g->rest; i++)
		bytes_u8(g->out, (uint8_t)(0xa1 + i));
}

void ktrace_break_chunk_header_truncated(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_BYTES)
		append_rest(g);
	if (g->g->stage != GEN_MODEL)
		return;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	g->counts_padding = false;
	g->rest = 1 + choices_below(g->c, 15);
}

/* Two chunks without padding, and a chunk after each. */
void ktrace_break_chunk_header_misaligned(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->no_padding = true;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	g->chunks[g->count - 1].no_padding = true;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

void ktrace_break_chunk_size_past_eof(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_EVENTS, 0, false);
	if (!m)
		return;
	bytes_u64(&m->payload, 0);
	ktrace_make_events(g, &m->payload, 1 + choices_below(g->c, 9));
	m->stored_size = m->payload.size + 64 + choices_below(g->c, 4096);
	g->counts_padding = false;
}

void ktrace_break_chunk_size_unknown(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	ktrace_break_chunk_size_past_eof(g);
	g->chunks[g->count - 1].stored_size = KTRACE_SIZE_UNFINISHED;
}

void ktrace_break_chunk_size_overflow(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_EVENTS);
	if (m)
		m->stored_size = UINT64_MAX - 2 - choices_below(g->c, 100);
}

void ktrace_break_chunk_size_damaged(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_EVENTS);
	if (m)
		m->stored_size = choices_chance(g->c, 1, 2) ? 0 : m->payload.size + 4096 + 8 * choices_below(g->c, 4096);
}

void ktrace_break_chunk_unfinished(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TAG_UNFINISHED, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8 * (1 + choices_below(g->c, 8)));
}

void ktrace_break_chunk_garbage(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	/* A chunk whose header never reached the disk, between valid ones. */
	struct ktrace_made *m = ktrace_make_chunk(g, 0, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8 * (1 + choices_below(g->c, 32)));
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

void ktrace_break_chunk_size_includes_padding(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_SUBFILE_ID, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8);
}

void ktrace_break_chunk_size_includes_header(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	for (uint64_t lines = 1 + choices_below(g->c, 5); lines; lines--)
		bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->stored_size = m->payload.size + 16;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

void ktrace_break_chunk_size_zero_at_eof(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	(void)ktrace_make_chunk(g, KTRACE_NULL, 0, false);
}

void ktrace_break_chunk_padding_nonzero(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->padding = 1 + (uint8_t)choices_below(g->c, 255);
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
}

void ktrace_break_chunk_padding_missing_at_eof(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->no_padding = true;
}

void ktrace_break_trailing_garbage(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_BYTES)
		append_rest(g);
	if (g->g->stage != GEN_MODEL)
		return;
	ktrace_make_valid_chunk(g, KTRACE_SUMMARY);
	g->counts_padding = false;
	g->rest = 16 + choices_below(g->c, 200);
}

void ktrace_break_chunk_unknown_tag(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	bool in_header = choices_chance(g->c, 1, 3);
	uint32_t tag = 0x8200 + (uint32_t)choices_below(g->c, 256);
	struct ktrace_made *m = ktrace_make_chunk(g, tag, 0, in_header);
	if (m)
		(void)bytes_grow(&m->payload, choices_below(g->c, 64));
}

void ktrace_break_chunk_unsupported_major(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_SUMMARY, 1 + (uint16_t)choices_below(g->c, 12), false);
	if (m)
		bytes_u64(&m->payload, g->time + 1);
}

void ktrace_break_chunk_reserved_version_bit(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
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

void ktrace_break_subchunk_walk_failed(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct bytes *b = subfile(g, KTRACE_SUBFILE_HEADER, 9);
	if (!b)
		return;
	bytes_u32(b, KTRACE_NULL);
	bytes_u32(b, 0);
	bytes_u64(b, 1000 + choices_below(g->c, 1000));
	(void)bytes_grow(b, 16);
}

void ktrace_break_subchunk_depth(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_SUBFILE_HEADER, KTRACE_SUBCHUNKS, false);
	for (uint64_t depth = 6; m && depth; depth--) {
		bytes_u32(&m->payload, KTRACE_SUBFILE_HEADER);
		bytes_u16(&m->payload, KTRACE_SUBCHUNKS);
		bytes_u16(&m->payload, 0);
		bytes_u64(&m->payload, 16 * (depth - 1));
	}
}

void ktrace_break_header_chunk_in_body(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRIMMED, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8);
}

void ktrace_break_body_chunk_in_header(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, 0x8010, 0, true);
	if (m)
		ktrace_make_plist(&m->payload);
}

void ktrace_break_duplicate_singleton_chunk(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_MACHINE, 0, true);
		if (m)
			ktrace_make_plist(&m->payload);
	}
}

void ktrace_break_null_chunk_nonzero(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_NULL, 0, false);
	uint8_t *p = m ? bytes_grow(&m->payload, 32) : NULL;
	if (!p)
		return;
	uint8_t value = 1 + (uint8_t)choices_below(g->c, 255);
	p[8 + choices_below(g->c, 24)] = value;
}
