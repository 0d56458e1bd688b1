/* Breakers: the defects of blocks, of their sizes and of what is in them. */
#include "formats/lttng/gen/break/lttng_target.h"

#include <string.h>

/* ---- where blocks begin and end ---- */

static uint64_t wrong_magic(struct lttng_gen *g)
{
	return choices_chance(g->c, 1, 3) ? 0 : LTTNG_MAGIC ^ (UINT64_C(1) << choices_below(g->c, 32));
}

void lttng_break_bad_magic_first_block(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1 + (unsigned)(g->g->stage == GEN_SHAPE ? choices_below(g->c, 3) : 0)))
		return;
	const struct lttng_made_file *f = lttng_target_file(g);
	for (size_t i = 0; i < g->block_count; i++)
		if (g->blocks[i].file == (unsigned)(f - g->files) && !g->blocks[i].number)
			lttng_target_set(g, &g->blocks[i], LF_MAGIC, wrong_magic(g));
}

void lttng_break_magic_lost_in_block(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 3))
		return;
	uint64_t magic = wrong_magic(g);
	lttng_target_set(g, lttng_target_block(g, 1, ANY_BLOCK), LF_MAGIC, magic);
}

void lttng_break_byte_order_mixed(struct lttng_gen *g)
{
	g->flip = true;
	(void)lttng_target_shape(g, LV_ALL, 1);
}

void lttng_break_version_mixed(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 3))
		return;
	uint64_t minor = (uint64_t)g->l->minor + 1 + choices_below(g->c, 9);
	lttng_target_set(g, lttng_target_block(g, 1, ANY_BLOCK), LF_MINOR, minor);
}

void lttng_break_buf_size_zero(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 3))
		return;
	lttng_target_set(g, lttng_target_block(g, 0, ANY_BLOCK), LF_SIZE, 0);
}

void lttng_break_buf_size_not_constant(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_FIXED, 3))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 1, ANY_BLOCK);
	lttng_target_set(g, b, LF_SIZE, choices_chance(g->c, 1, 2) ? 2 * b->size : b->size + 1 + choices_below(g->c, 9999));
}

void lttng_break_sb_size_misleads(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_VARIABLE, 3))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, NOT_LAST);
	uint64_t left = g->files[b->file].b.size - b->at;
	lttng_target_set(g, b, LF_SIZE, left + LTTNG_PAGE * (1 + choices_below(g->c, 1000)));
}

void lttng_break_buf_size_not_power_of_two(struct lttng_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->block_size = LTTNG_PAGE * (3 + 2 * choices_below(g->c, 5));
	(void)lttng_target_shape(g, LV_FIXED, 1);
}

void lttng_break_buf_size_below_page(struct lttng_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->block_size = UINT64_C(1024) << choices_below(g->c, 2);
	(void)lttng_target_shape(g, LV_FIXED, 1);
}

void lttng_break_sb_size_not_page_multiple(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_VARIABLE, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_SIZE, b->size + 1 + choices_below(g->c, LTTNG_PAGE - 1));
}

void lttng_break_sb_size_not_minimal(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_VARIABLE, 1 + (unsigned)(g->g->stage == GEN_SHAPE ? choices_below(g->c, 3) : 0)))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, LAST);
	uint64_t pages = b->size / LTTNG_PAGE + 1 + choices_below(g->c, 5);
	while (!(pages & (pages - 1)))
		pages++;
	(void)bytes_grow(&g->files[b->file].b, (size_t)(pages * LTTNG_PAGE - b->size));
	if (!g->files[b->file].b.failed)
		lttng_target_set(g, b, LF_SIZE, pages * LTTNG_PAGE);
}

void lttng_break_file_size_not_multiple(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	uint64_t length = 1 + choices_below(g->c, g->l->size - 1u);
	lttng_target_junk(g, &lttng_target_file(g)->b, length);
}

void lttng_break_block_beyond_eof(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 1, LAST);
	g->files[b->file].b.size = b->at + g->l->size + choices_below(g->c, LTTNG_PAGE - g->l->size);
}

void lttng_break_trailing_garbage(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	uint64_t length = g->l->size + choices_below(g->c, 3000);
	lttng_target_junk(g, &lttng_target_file(g)->b, length);
}

void lttng_break_zero_block(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	size_t pages = 1 + (size_t)choices_below(g->c, 3);
	(void)bytes_grow(&lttng_target_file(g)->b, pages * LTTNG_PAGE);
}

void lttng_break_lost_size_range(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_FIXED, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, ANY_BLOCK);
	lttng_target_set(g, b, LF_UNUSED, b->size - g->l->size + 1 + choices_below(g->c, UINT32_C(0xffff0000)));
}

void lttng_break_data_size_range(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_VARIABLE, 2))
		return;
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

void lttng_break_unterminated_block(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1 + (unsigned)(g->g->stage == GEN_SHAPE ? choices_below(g->c, 3) : 0)))
		return;
	leave_open(g, lttng_target_block(g, 0, LAST));
}

void lttng_break_unterminated_not_last(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 3))
		return;
	leave_open(g, lttng_target_block(g, 0, NOT_LAST));
}

/* ---- ends of data ---- */

void lttng_break_data_end_mid_event(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING | WITH_EVENTS);
	uint64_t start = b->last_event - b->at;
	lttng_target_data_end(g, b, start + 1 + choices_below(g->c, b->data - start - 1));
}

void lttng_break_data_end_in_padding(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING | WITH_EVENTS);
	lttng_target_data_end(g, b, b->data + 80 + choices_below(g->c, b->size - b->data - 79));
}

void lttng_break_padding_not_zero(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING);
	uint64_t at = b->data + choices_below(g->c, b->size - b->data);
	lttng_target_bytes(g, b)[at] = (uint8_t)(1 + choices_below(g->c, 255));
}

void lttng_break_header_truncated(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_PADDING | WITH_EVENTS);
	lttng_target_data_end(g, b, b->data + 1 + choices_below(g->c, 3));
}

void lttng_break_event_after_end(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, WITH_EVENTS);
	lttng_target_set(g, b, LF_END, b->last_stamp - 1);
}

void lttng_break_wrap_without_heartbeat(struct lttng_gen *g)
{
	g->want_heartbeat = 1;
	if (lttng_target_shape(g, LV_OLD, 2))
		return;
	const struct lttng_made_block *b = lttng_target_block(g, 0, LAST);
	lttng_target_set(g, b, LF_END, b->end + (UINT64_C(1) << 32) + choices_below(g->c, UINT64_C(1) << 34));
}

void lttng_break_event_alignment_nonzero_pad(struct lttng_gen *g)
{
	g->want_aligned = 1;
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	unsigned first = (unsigned)choices_below(g->c, g->event_count ? g->event_count : 1);
	for (unsigned i = 0; i < g->event_count; i++) {
		const struct lttng_made_event *e = &g->events[(first + i) % g->event_count];
		uint8_t *data = g->files[e->file].b.data;
		uint64_t at = e->before < e->start ? e->before : e->header_end < e->payload ? e->header_end : 0;
		if (!at)
			continue;
		data[at] = (uint8_t)(1 + choices_below(g->c, 255));
		return;
	}
}
