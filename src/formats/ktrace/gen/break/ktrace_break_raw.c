/* Breakers of RAW files. */
#include "formats/ktrace/gen/ktrace_gen.h"

void ktrace_break_raw_threadmap_truncated(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_BYTES)
		ktrace_made_cut(g, g->rest);
	if (g->g->stage == GEN_SHAPE)
		g->raw = 1 + (int)choices_below(g->c, 2);
	if (g->g->stage != GEN_MODEL)
		return;
	g->events.size = 0;
	g->gap.size = 0;
	g->g->records = 0;
	g->rest = (g->raw == 2 ? KTRACE_RAW2_HEADER : g->is_64 ? 24 : 20) + g->map.size - choices_below(g->c, 20);
	g->raw_count += g->rest % 2 ? 2 : 5;
}

void ktrace_break_raw_thread_count(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 2; /* version 1 does not tell its width any more, then */
	if (g->g->stage != GEN_MODEL)
		return;
	/* More than the file has room for. */
	ktrace_make_events(g, &g->events, 16);
	g->raw_count += (uint32_t)(g->events.size / 28) + 1000 + (uint32_t)choices_below(g->c, 100000);
}

void ktrace_break_raw_pad_nonzero(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 1;
	if (g->g->stage != GEN_MODEL)
		return;
	(void)bytes_grow(&g->gap, 32);
	bytes_u8(&g->gap, 1 + (uint8_t)choices_below(g->c, 255));
}

void ktrace_break_raw_extra_page(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE) {
		g->raw = 1;
		g->width = 32; /* a 64-bit map of version 1 never ends at a page */
	}
	if (g->g->stage != GEN_MODEL)
		return;
	/* Filler entries up to the end of the page, then a page of zeros. */
	uint32_t head = g->is_64 ? 24 : 20, entry = ktrace_thread_size(g->is_64);
	g->gap.size = 0;
	while ((head + g->map.size) % KTRACE_PAGE && !g->map.failed && g->raw_count < 100000) {
		(void)bytes_grow(&g->map, entry);
		g->raw_count++;
	}
	(void)bytes_grow(&g->gap, KTRACE_PAGE);
}

void ktrace_break_raw_cpumap_count(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 1;
	if (g->g->stage != GEN_MODEL)
		return;
	g->gap.size = 0;
	bytes_u32(&g->gap, KTRACE_MAGIC_RAW1);
	bytes_u32(&g->gap, 1001 + (uint32_t)choices_below(g->c, 100000));
}

void ktrace_break_raw_events_partial(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 1 + (int)choices_below(g->c, 2);
	if (g->g->stage != GEN_MODEL)
		return;
	uint64_t partial = 1 + choices_below(g->c, ktrace_event_size(g->is_64) - 1);
	g->events.size -= ktrace_event_size(g->is_64) - partial;
	g->g->records--;
}

void ktrace_break_v2_frequency_zero(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 2;
	if (g->g->stage != GEN_MODEL)
		return;
	g->frequency = 0;
}

void ktrace_break_v2_reserved_nonzero(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 2;
	if (g->g->stage != GEN_MODEL)
		return;
	g->reserved = 1 + (uint8_t)choices_below(g->c, 255);
}

void ktrace_break_v2_event_offset_ambiguous(struct ktrace_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->raw = 2;
	if (g->g->stage != GEN_MODEL)
		return;
	/* A map of a whole number of pages: 128 entries of 32 bytes, 1024 of 28. */
	while (g->map.size % KTRACE_PAGE && !g->map.failed) {
		(void)bytes_grow(&g->map, ktrace_thread_size(g->is_64));
		g->raw_count++;
	}
}
