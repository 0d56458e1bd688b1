/* Breakers: the defects of blocks, of their sizes and of what is in them. */
#include "formats/lttng/gen/break/lttng_target.h"

#include <string.h>

/* ---- where blocks begin and end ---- */

static uint64_t wrong_magic(struct lttng_gen *g)
{
	return choices_chance(g->c, 1, 3) ? 0 : LTTNG_MAGIC ^ (UINT64_C(1) << choices_below(g->c, 32));
}

BREAKER_OF(bad_magic_first_block, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1 + (unsigned)choices_below(g->c, 3)))
{
	const struct lttng_made_file *f = lttng_target_file(g);
	for (size_t i = 0; i < g->block_count; i++)
		if (g->blocks[i].file == (unsigned)(f - g->files) && !g->blocks[i].number)
			lttng_target_set(g, &g->blocks[i], LF_MAGIC, wrong_magic(g));
}

BREAKER_OF(magic_lost_in_block, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	uint64_t magic = wrong_magic(g);
	lttng_target_set(g, lttng_target_block(g, 1, ANY_BLOCK), LF_MAGIC, magic);
}

BREAKER(byte_order_mixed, GEN_SHAPE)
{
	g->flip = true;
	lttng_target_shape(g, LV_ALL, 1);
}

BREAKER_OF(version_mixed, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	uint64_t minor = (uint64_t)g->l->minor + 1 + choices_below(g->c, 9);
	lttng_target_set(g, lttng_target_block(g, 1, ANY_BLOCK), LF_MINOR, minor);
}

BREAKER_OF(buf_size_zero, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	lttng_target_set(g, lttng_target_block(g, 0, ANY_BLOCK), LF_SIZE, 0);
}

BREAKER_OF(buf_size_not_constant, GEN_BYTES, lttng_target_shape(g, LV_FIXED, 3))
{
	const struct lttng_made_block *b = lttng_target_block(g, 1, ANY_BLOCK);
	lttng_target_set(g, b, LF_SIZE, choices_chance(g->c, 1, 2) ? 2 * b->size : b->size + 1 + choices_below(g->c, 9999));
}

BREAKER_OF(sb_size_misleads, GEN_BYTES, lttng_target_shape(g, LV_VARIABLE, 3))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, NOT_LAST);
	uint64_t left = g->files[b->file].b.size - b->at;
	lttng_target_set(g, b, LF_SIZE, left + LTTNG_PAGE * (1 + choices_below(g->c, 1000)));
}

BREAKER(buf_size_not_power_of_two, GEN_SHAPE)
{
	g->block_size = LTTNG_PAGE * (3 + 2 * choices_below(g->c, 5));
	lttng_target_shape(g, LV_FIXED, 1);
}

BREAKER(buf_size_below_page, GEN_SHAPE)
{
	g->block_size = UINT64_C(1024) << choices_below(g->c, 2);
	lttng_target_shape(g, LV_FIXED, 1);
}

BREAKER_OF(sb_size_not_page_multiple, GEN_BYTES, lttng_target_shape(g, LV_VARIABLE, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_SIZE, b->size + 1 + choices_below(g->c, LTTNG_PAGE - 1));
}

BREAKER_OF(sb_size_not_minimal, GEN_BYTES, lttng_target_shape(g, LV_VARIABLE, 1 + (unsigned)choices_below(g->c, 3)))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, LAST);
	uint64_t pages = b->size / LTTNG_PAGE + 1 + choices_below(g->c, 5);
	while (!(pages & (pages - 1)))
		pages++;
	(void)bytes_grow(&g->files[b->file].b, (size_t)(pages * LTTNG_PAGE - b->size));
	if (!g->files[b->file].b.failed)
		lttng_target_set(g, b, LF_SIZE, pages * LTTNG_PAGE);
}

BREAKER_OF(file_size_not_multiple, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	uint64_t length = 1 + choices_below(g->c, g->l->size - 1u);
	lttng_target_junk(g, &lttng_target_file(g)->b, length);
}

BREAKER_OF(block_beyond_eof, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 1, LAST);
	g->files[b->file].b.size = (size_t)(b->at + g->l->size + choices_below(g->c, LTTNG_PAGE - g->l->size));
}

BREAKER_OF(trailing_garbage, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	uint64_t length = g->l->size + choices_below(g->c, 3000);
	lttng_target_junk(g, &lttng_target_file(g)->b, length);
}

BREAKER_OF(zero_block, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	size_t pages = 1 + (size_t)choices_below(g->c, 3);
	(void)bytes_grow(&lttng_target_file(g)->b, pages * LTTNG_PAGE);
}

BREAKER_OF(lost_size_range, GEN_BYTES, lttng_target_shape(g, LV_FIXED, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_UNUSED, b->size - g->l->size + 1 + choices_below(g->c, UINT32_C(0xffff0000)));
}

BREAKER_OF(data_size_range, GEN_BYTES, lttng_target_shape(g, LV_VARIABLE, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_UNUSED,
			 choices_chance(g->c, 1, 2) ? choices_below(g->c, g->l->size)
						    : b->size + 1 + choices_below(g->c, 1u << 30));
}

static void leave_open(struct lttng_gen *g, const struct lttng_made_block *b)
{
	lttng_target_set(g, b, LF_UNUSED, LTTNG_OPEN);
	if (choices_chance(g->c, 3, 4))
		lttng_target_set(g, b, LF_SIZE, LTTNG_OPEN);
	lttng_target_set(g, b, LF_END, 0);
}

BREAKER_OF(unterminated_block, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1 + (unsigned)choices_below(g->c, 3)))
{
	leave_open(g, lttng_target_block(g, 0, LAST));
}

BREAKER_OF(unterminated_not_last, GEN_BYTES, lttng_target_shape(g, LV_ALL, 3))
{
	leave_open(g, lttng_target_block(g, 0, NOT_LAST));
}

/* ---- ends of data ---- */

BREAKER_OF(data_end_mid_event, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING | WITH_EVENTS);
	uint64_t start = b->last_event - b->at;
	lttng_target_data_end(g, b, start + 1 + choices_below(g->c, b->data - start - 1));
}

BREAKER_OF(data_end_in_padding, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING | WITH_EVENTS);
	lttng_target_data_end(g, b, b->data + 80 + choices_below(g->c, b->size - b->data - 79));
}

BREAKER_OF(padding_not_zero, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING);
	uint64_t at = b->data + choices_below(g->c, b->size - b->data);
	lttng_target_bytes(g, b)[at] = (uint8_t)(1 + choices_below(g->c, 255));
}

BREAKER_OF(header_truncated, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING | WITH_EVENTS);
	lttng_target_data_end(g, b, b->data + 1 + choices_below(g->c, 3));
}

BREAKER_OF(event_after_end, GEN_BYTES, lttng_target_shape(g, LV_ALL, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_EVENTS);
	lttng_target_set(g, b, LF_END, b->last_stamp - 1);
}

BREAKER_OF(wrap_without_heartbeat, GEN_BYTES, g->want_heartbeat = 1, lttng_target_shape(g, LV_OLD, 2))
{
	const struct lttng_made_block *b = lttng_target_block(g, 0, LAST);
	lttng_target_set(g, b, LF_END, b->end + (UINT64_C(1) << 32) + choices_below(g->c, UINT64_C(1) << 34));
}
