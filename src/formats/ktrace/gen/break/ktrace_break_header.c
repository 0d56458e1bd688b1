/* Breakers of the file header of version 3. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

void ktrace_break_bad_magic(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	/* Still a ktrace file when it is called one: the rest of the header is valid. */
	g->magic = KTRACE_MAGIC ^ (UINT32_C(1) << (16 + choices_below(g->c, 8)));
}

void ktrace_break_legacy_raw_file(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 1 + (int)choices_below(g->c, 2);
}

void ktrace_break_kernel_v3_magic(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->magic = KTRACE_MAGIC_KERNEL;
	g->major = 1;
}

void ktrace_break_header_truncated(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_BYTES)
		ktrace_made_cut(g, g->rest);
	if (g->g->stage != GEN_MODEL)
		return;
	g->rest = 4 + choices_below(g->c, KTRACE_HEADER - 4);
	g->g->records = 0;
}

void ktrace_break_header_major_unsupported(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->major = 2 + (uint16_t)choices_below(g->c, 30);
}

void ktrace_break_header_minor_nonzero(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->minor = 1 + (uint16_t)choices_below(g->c, 9);
}

void ktrace_break_header_size_below_minimum(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->header_size = choices_below(g->c, 40);
}

void ktrace_break_header_size_past_eof(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->header_size = UINT64_C(1) << (32 + choices_below(g->c, 24));
}

void ktrace_break_header_size_unfinished(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->header_size = UINT64_MAX;
}

void ktrace_break_header_size_splits_chunk(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	/* Into the payload of the CPU map, which every header has. */
	uint64_t end = KTRACE_HEADER;
	for (unsigned i = 0; i < g->count && g->chunks[i].in_header; i++) {
		if (g->chunks[i].tag == KTRACE_CPU_MAP) {
			g->header_size = end + KTRACE_CHUNK_HEADER + 8 - KTRACE_HEADER_UNCOUNTED;
			return;
		}
		end = ktrace_align(end + KTRACE_CHUNK_HEADER + g->chunks[i].payload.size);
	}
}

void ktrace_break_header_size_excludes_header_chunk(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_CPU_MAP);
	/* The last header chunk is the CPU map: it becomes the first of the body. */
	if (m)
		m->in_header = false;
}

void ktrace_break_header_size_includes_body_chunk(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	for (unsigned i = 0; i < g->count; i++)
		if (g->chunks[i].tag != KTRACE_EVENTS && g->chunks[i].tag != KTRACE_SUMMARY)
			g->chunks[i].in_header = true;
		else
			break;
}

void ktrace_break_header_size_not_multiple_of_8(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRIMMED, 0, true);
	g->counts_padding = false;
	if (m)
		(void)bytes_grow(&m->payload, 1 + choices_below(g->c, 7));
}

void ktrace_break_header_size_64_structure(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->header_gap = 8;
}

void ktrace_break_timebase_zero(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_TIME_SYNC);
	if (m)
		m->tag = KTRACE_NULL;
	if (m)
		memset(m->payload.data, 0, m->payload.size);
	if (choices_chance(g->c, 1, 2))
		g->numer = 0;
	else
		g->denom = 0;
}

void ktrace_break_timebase_implausible(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_TIME_SYNC);
	g->numer = UINT32_C(2000000) * (1 + (uint32_t)choices_below(g->c, 50));
	g->denom = 1;
	if (m)
		store_u32(m->payload.data + 16, g->numer, false);
	if (m)
		store_u32(m->payload.data + 20, 1, false);
}

static void no_time_sync(struct ktrace_gen *g)
{
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_TIME_SYNC);
	if (m)
		m->tag = 0x8055; /* unknown: skipped */
}

void ktrace_break_walltime_missing(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	no_time_sync(g);
	g->seconds = 0;
}

void ktrace_break_walltime_usec_range(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->usec = UINT32_C(1000000) + (uint32_t)choices_below(g->c, 5000000);
}

void ktrace_break_walltime_before_2000(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->seconds = 1 + choices_below(g->c, 900000000);
}

void ktrace_break_minutes_west_range(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->west = (int32_t)(721 + choices_below(g->c, 100000));
}

void ktrace_break_dst_range(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->dst = 7 + (uint32_t)choices_below(g->c, 100);
}

void ktrace_break_flags_reserved_bits(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	g->flags |= UINT32_C(2) << choices_below(g->c, 30);
}

void ktrace_break_flags_bitness_mismatch(struct ktrace_gen *g)
{
	if (g->g->stage != GEN_MODEL)
		return;
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_EVENTS);
	g->flags ^= KTRACE_FLAG_64;
	if (m)
		ktrace_make_events(g, &m->payload, 8);
}
