/* Breakers of RAW files. */
#include "formats/ktrace/gen/ktrace_gen.h"

static void any_raw(struct ktrace_gen *g)
{
	g->raw = 1 + (int)choices_below(g->c, 2);
}

static void model_raw_threadmap_truncated(struct ktrace_gen *g)
{
	g->events.size = 0;
	g->gap.size = 0;
	g->g->records = 0;
	g->rest = (g->raw == 2 ? KTRACE_RAW2_HEADER : g->is_64 ? 24 : 20) + g->map.size - choices_below(g->c, 20);
	g->raw_count += g->rest % 2 ? 2 : 5;
}

BREAKER_STAGES(
	raw_threadmap_truncated, [GEN_SHAPE] = any_raw, [GEN_MODEL] = model_raw_threadmap_truncated, [GEN_BYTES] = ktrace_made_cut)

/* Of version 2: version 1 does not tell its width any more, then. */
BREAKER_OF(raw_thread_count, GEN_MODEL, g->raw = 2)
{
	/* More than the file has room for. */
	ktrace_make_events(g, &g->events, 16);
	g->raw_count += (uint32_t)(g->events.size / 28) + 1000 + (uint32_t)choices_below(g->c, 100000);
}

BREAKER_OF(raw_pad_nonzero, GEN_MODEL, g->raw = 1)
{
	(void)bytes_grow(&g->gap, 32);
	bytes_u8(&g->gap, 1 + (uint8_t)choices_below(g->c, 255));
}

/* Of 32 bits: a 64-bit map of version 1 never ends at a page. */
BREAKER_OF(raw_extra_page, GEN_MODEL, g->raw = 1, g->width = 32)
{
	/* Filler entries up to the end of the page, then a page of zeros. */
	uint32_t head = g->is_64 ? 24 : 20, entry = ktrace_thread_size(g->is_64);
	g->gap.size = 0;
	while ((head + g->map.size) % KTRACE_PAGE && !g->map.failed && g->raw_count < 100000) {
		(void)bytes_grow(&g->map, entry);
		g->raw_count++;
	}
	(void)bytes_grow(&g->gap, KTRACE_PAGE);
}

BREAKER_OF(raw_cpumap_count, GEN_MODEL, g->raw = 1)
{
	g->gap.size = 0;
	bytes_u32(&g->gap, KTRACE_MAGIC_RAW1);
	bytes_u32(&g->gap, 1001 + (uint32_t)choices_below(g->c, 100000));
}

BREAKER_OF(raw_events_partial, GEN_MODEL, g->raw = 1 + (int)choices_below(g->c, 2))
{
	uint64_t partial = 1 + choices_below(g->c, ktrace_event_size(g->is_64) - 1);
	g->events.size -= (size_t)(ktrace_event_size(g->is_64) - partial);
	g->g->records--;
}

BREAKER_OF(v2_frequency_zero, GEN_MODEL, g->raw = 2)
{
	g->frequency = 0;
}

BREAKER_OF(v2_reserved_nonzero, GEN_MODEL, g->raw = 2)
{
	g->reserved = 1 + (uint8_t)choices_below(g->c, 255);
}

BREAKER_OF(v2_event_offset_ambiguous, GEN_MODEL, g->raw = 2)
{
	/* A map of a whole number of pages: 128 entries of 32 bytes, 1024 of 28. */
	while (g->map.size % KTRACE_PAGE && !g->map.failed) {
		(void)bytes_grow(&g->map, ktrace_thread_size(g->is_64));
		g->raw_count++;
	}
}
