/* Breakers: the defects of the constants, stamps and counters of block headers. */
#include "formats/lttng/gen/break/lttng_target.h"

#include <string.h>

/* ---- constants of the header ---- */

BREAKER_OF(arch_size_invalid, GEN_BYTES, g->want_aligned = 0, lttng_target_shape(g, LV_ALL & ~LTTNG_V(LV_2_0_64), 1))
{
	static const uint8_t sizes[] = { 0, 1, 2, 3, 5, 6, 7, 16, 32, 64 };
	lttng_target_set_all(g, LF_ARCH_SIZE, sizes[choices_below(g->c, sizeof(sizes))]);
}

BREAKER_OF(arch_type_unknown, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_ARCH_TYPE, choices_chance(g->c, 1, 4) ? 0 : 13 + choices_below(g->c, 9999));
}

BREAKER_OF(arch_type_size_conflict, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_ARCH_TYPE, (g->arch == 8 ? 1 : 7) + choices_below(g->c, 2));
}

BREAKER_OF(arch_variant_nonzero, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_ARCH_VARIANT, 1 + choices_below(g->c, 9));
}

BREAKER_OF(float_word_order_value, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_FLOAT_ORDER, 1 + choices_below(g->c, 1000));
}

BREAKER_OF(flag_not_boolean, GEN_BYTES, g->want_heartbeat = 1, lttng_target_shape(g, LV_OLD, 1))
{
	uint64_t value = 3 + choices_below(g->c, 253);
	lttng_target_set_all(g, choices_chance(g->c, 1, 2) ? LF_FLIGHT : LF_HEARTBEAT, value);
}

BREAKER_OF(alignment_invalid, GEN_BYTES, g->want_aligned = 0, lttng_target_shape(g, LV_ALL, 1))
{
	static const uint8_t values[] = { 3, 5, 6, 7, 9, 12, 16, 32, 255 };
	lttng_target_set_all(g, LF_ALIGNMENT, values[choices_below(g->c, sizeof(values))]);
}

BREAKER_OF(compact_fields_invalid, GEN_BYTES, lttng_target_shape(g, LTTNG_V(LV_0_8) | LV_ONE, 1))
{
	lttng_target_set_all(g, LF_TSCBITS, choices_chance(g->c, 1, 3) ? 0 : 33 + choices_below(g->c, 200));
}

BREAKER(compact_without_heartbeat, GEN_SHAPE)
{
	g->want_compact = true;
	g->want_heartbeat = 0;
	lttng_target_shape(g, LTTNG_V(LV_0_8) | LV_ONE, 1);
}

BREAKER_OF(freq_zero, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	lttng_target_set_all(g, LF_FREQ, 0);
}

BREAKER_OF(freq_scale_zero, GEN_BYTES, lttng_target_shape(g, LV_ALL & ~(LTTNG_V(LV_0_6) | LTTNG_V(LV_0_8)), 1))
{
	/* 0.6 has none; in 0.8 a scale of 0 marks blocks of some vendors. */
	lttng_target_set_all(g, LF_SCALE, 0);
}

BREAKER_OF(freq_implausible, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	lttng_target_set_all(g, LF_FREQ, (UINT64_C(1) << 50) + choices_u64(g->c) / 2);
}

BREAKER_OF(block_freq_differs, GEN_BYTES, lttng_target_shape(g, LV_OLD, 2))
{
	uint64_t freq = g->h.v[LF_FREQ] + 1 + choices_below(g->c, 999);
	enum lttng_field field = choices_chance(g->c, 1, 2) ? LF_BEGIN_FREQ : LF_END_FREQ;
	lttng_target_set(g, lttng_target_block(g, 0, ANY_BLOCK), field, freq);
}

BREAKER_OF(start_time_subsecond_range, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	lttng_target_set_all(g, LF_SUBSEC, 1000000000 + choices_below(g->c, 1000000000));
}

BREAKER_OF(start_time_implausible, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	lttng_target_set_all(g, LF_SEC,
			     choices_chance(g->c, 1, 2) ? choices_below(g->c, 1000000000)
							: 2000000000 + choices_below(g->c, 99999999));
}

BREAKER_OF(start_monotonic_nonzero, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_MONOTONIC, 1 + choices_u64(g->c) / 2);
}

BREAKER_OF(header_field_differs, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	static const enum lttng_field fields[] = { LF_FREQ, LF_SUBSEC, LF_ARCH_TYPE, LF_MONOTONIC, LF_ALIGNMENT };
	enum lttng_field field = fields[choices_below(g->c, 5)];
	if (!lttng_has(g->l, field))
		field = LF_FREQ;
	uint64_t value = g->h.v[field] + 1 + choices_below(g->c, 90);
	lttng_target_set(g, lttng_target_block(g, 1, ANY_BLOCK), field, value);
}

BREAKER_OF(vendor_0_8_loss_fields, GEN_BYTES, lttng_target_shape(g, LTTNG_V(LV_0_8), 3))
{
	for (size_t i = 0; i < g->block_count; i++)
		if (g->blocks[i].number) {
			lttng_target_set(g, &g->blocks[i], LF_SCALE, 0);
			lttng_target_set(g, &g->blocks[i], LF_FREQ, choices_below(g->c, 50));
		}
}

BREAKER(seed_literal_start_time, GEN_SHAPE)
{
	lttng_target_shape(g, LTTNG_V(LV_LITERAL), 1);
}

/* ---- stamps and counters of blocks ---- */

BREAKER_OF(end_before_begin, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_END, b->begin - 1 - choices_below(g->c, 1000000));
}

BREAKER_OF(end_stamp_zero, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	lttng_target_set(g, lttng_target_block(g, 0, ANY_BLOCK), LF_END, 0);
}

BREAKER_OF(stamp_beyond_clocks, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_END, LTTNG_CLOCK_MAX + 1 + choices_u64(g->c) / 2);
}

/* The block before it in its file. */
static const struct lttng_made_block *before(const struct lttng_made_block *b)
{
	return b - 1;
}

BREAKER_OF(blocks_overlap, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	const struct lttng_made_block *b = lttng_target_block(g, 1, ANY_BLOCK), *a = before(b);
	lttng_target_set(g, b, LF_BEGIN, a->begin + choices_below(g->c, a->end - a->begin));
}

BREAKER_OF(first_begin_differs, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	const struct lttng_made_file *f = lttng_target_file(g);
	for (size_t i = 0; i < g->block_count; i++) {
		const struct lttng_made_block *b = &g->blocks[i];
		if (b->file != (unsigned)(f - g->files) || b->number)
			continue;
		/* The first block may have no events. */
		uint64_t room = (b->first_stamp ? b->first_stamp : b->end) - b->begin;
		lttng_target_set(g, b, LF_BEGIN, b->begin + 1 + choices_below(g->c, room));
	}
}

BREAKER_OF(start_tsc_mismatch, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_TSC, g->begin - 1 - choices_below(g->c, 999999));
}

BREAKER_OF(blocks_not_sorted, GEN_BYTES, g->block_size = LTTNG_PAGE, lttng_target_shape(g, LV_ALL, 4))
{
	struct lttng_made_block *b = lttng_target_block(g, 2, ANY_BLOCK);
	const struct lttng_made_block *a = before(b);
	uint8_t *p = lttng_target_bytes(g, a), *q = lttng_target_bytes(g, b);
	for (uint64_t i = 0; i < LTTNG_PAGE; i++) {
		uint8_t byte = p[i];
		p[i] = q[i];
		q[i] = byte;
	}
}

BREAKER_OF(block_recorded_twice, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, LAST);
	struct bytes *file = &g->files[b->file].b;
	/* That may move its bytes. */
	uint8_t *again = bytes_grow(file, (size_t)b->size);
	if (again)
		memcpy(again, file->data + b->at, (size_t)b->size);
}

BREAKER_OF(block_switch_first_event, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	const struct lttng_made_block *b = lttng_target_block(g, 1, WITH_EVENTS);
	lttng_target_set(g, before(b), LF_END, b->first_stamp - 1);
	lttng_target_set(g, b, LF_BEGIN, b->first_stamp - 1);
}

BREAKER_OF(appended_sessions, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	struct lttng_made_file *f = lttng_target_file(g);
	for (size_t i = 0; i < g->block_count; i++) {
		struct lttng_made_block b = g->blocks[i];
		if (b.file != (unsigned)(f - g->files) || b.number)
			continue;
		uint8_t *p = bytes_grow(&f->b, (size_t)b.size);
		if (!p)
			return;
		memcpy(p, f->b.data + b.at, (size_t)b.size);
		b.at = f->b.size - b.size;
		lttng_target_set(g, &b, LF_SEC, g->h.v[LF_SEC] + 1 + choices_below(g->c, 100000));
		return;
	}
}

/* A counter from a block of the file on. */
static void count_from(struct lttng_gen *g, const struct lttng_made_block *b, enum lttng_field field, uint64_t value)
{
	for (const struct lttng_made_block *p = b; p < g->blocks + g->block_count && p->file == b->file; p++)
		lttng_target_set(g, p, field, value);
}

BREAKER_OF(events_lost_decreases, GEN_BYTES, lttng_target_shape(g, LV_LOSS, 3))
{
	const struct lttng_made_block *b = lttng_target_block(g, 1, ANY_BLOCK);
	enum lttng_field field = choices_chance(g->c, 1, 2) ? LF_EVENTS_LOST : LF_CORRUPT;
	uint64_t value = 1 + choices_below(g->c, 100000);
	count_from(g, before(b), field, value);
	count_from(g, b, field, choices_below(g->c, value));
}

BREAKER_OF(events_lost, GEN_BYTES, lttng_target_shape(g, LV_LOSS, 3))
{
	uint64_t lost = 1 + choices_below(g->c, 100000);
	count_from(g, lttng_target_block(g, 0, ANY_BLOCK), LF_EVENTS_LOST, lost);
}

BREAKER_OF(subbuf_corrupt, GEN_BYTES, lttng_target_shape(g, LV_LOSS, 3))
{
	uint64_t corrupt = 1 + choices_below(g->c, 100);
	count_from(g, lttng_target_block(g, 0, ANY_BLOCK), LF_CORRUPT, corrupt);
}
