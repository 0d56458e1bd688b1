/* Breakers of the file header of version 3. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

BREAKER(bad_magic, GEN_MODEL)
{
	/* Still a ktrace file when it is called one: the rest of the header is valid. */
	g->magic = KTRACE_MAGIC ^ (UINT32_C(1) << (16 + choices_below(g->c, 8)));
}

BREAKER(legacy_raw_file, GEN_SHAPE)
{
	g->raw = 1 + (int)choices_below(g->c, 2);
}

BREAKER(kernel_v3_magic, GEN_MODEL)
{
	g->magic = KTRACE_MAGIC_KERNEL;
	g->major = 1;
}

static void model_header_truncated(struct ktrace_gen *g)
{
	g->rest = 4 + choices_below(g->c, KTRACE_HEADER - 4);
	g->g->records = 0;
}

BREAKER_STAGES(header_truncated, [GEN_MODEL] = model_header_truncated, [GEN_BYTES] = ktrace_made_cut)

BREAKER(header_major_unsupported, GEN_MODEL)
{
	g->major = 2 + (uint16_t)choices_below(g->c, 30);
}

BREAKER(header_minor_nonzero, GEN_MODEL)
{
	g->minor = 1 + (uint16_t)choices_below(g->c, 9);
}

BREAKER(header_shifted, GEN_BYTES)
{
	/* Into the seconds, behind the timebase. */
	size_t at = 33 + (size_t)choices_below(g->c, 6), count = 8 + 8 * (size_t)choices_below(g->c, 3);

	if (!bytes_grow(g->out, count))
		return;
	memmove(g->out->data + at + count, g->out->data + at, g->out->size - count - at);
	memset(g->out->data + at, 0xff, count);
}

BREAKER(header_size_below_minimum, GEN_MODEL)
{
	g->header_size = choices_below(g->c, 40);
}

BREAKER(header_size_past_eof, GEN_MODEL)
{
	g->header_size = UINT64_C(1) << (32 + choices_below(g->c, 24));
}

BREAKER(header_size_unfinished, GEN_MODEL)
{
	g->header_size = UINT64_MAX;
}

BREAKER(header_size_splits_chunk, GEN_MODEL)
{
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

BREAKER(header_size_excludes_header_chunk, GEN_MODEL)
{
	struct ktrace_made *last = NULL;
	for (unsigned i = 0; i < g->count && g->chunks[i].in_header; i++)
		last = &g->chunks[i];
	if (last) /* the CPU map, or what belongs in the header as well: it becomes the first of the body */
		last->in_header = false;
}

BREAKER(header_size_includes_body_chunk, GEN_MODEL)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->chunks[i].tag != KTRACE_EVENTS && g->chunks[i].tag != KTRACE_SUMMARY)
			g->chunks[i].in_header = true;
		else
			break;
}

BREAKER(header_size_not_multiple_of_8, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_make_chunk(g, KTRACE_TRIMMED, 0, true);
	g->counts_padding = false;
	if (m)
		(void)bytes_grow(&m->payload, (size_t)(1 + choices_below(g->c, 7)));
}

BREAKER(header_size_64_structure, GEN_MODEL)
{
	g->header_gap = 8;
}

BREAKER(timebase_zero, GEN_MODEL)
{
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

BREAKER(timebase_implausible, GEN_MODEL)
{
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

BREAKER(walltime_missing, GEN_MODEL)
{
	no_time_sync(g);
	g->seconds = 0;
}

BREAKER(walltime_usec_range, GEN_MODEL)
{
	g->usec = UINT32_C(1000000) + (uint32_t)choices_below(g->c, 5000000);
}

BREAKER(walltime_before_2000, GEN_MODEL)
{
	g->seconds = 1 + choices_below(g->c, 900000000);
}

BREAKER(minutes_west_range, GEN_MODEL)
{
	g->west = (int32_t)(721 + choices_below(g->c, 100000));
}

BREAKER(dst_range, GEN_MODEL)
{
	g->dst = 7 + (uint32_t)choices_below(g->c, 100);
}

BREAKER(flags_reserved_bits, GEN_MODEL)
{
	g->flags |= UINT32_C(2) << choices_below(g->c, 30);
}

BREAKER(flags_bitness_mismatch, GEN_MODEL)
{
	struct ktrace_made *m = ktrace_made_find(g, KTRACE_EVENTS);
	g->flags ^= KTRACE_FLAG_64;
	if (m)
		ktrace_make_events(g, &m->payload, 8);
}
