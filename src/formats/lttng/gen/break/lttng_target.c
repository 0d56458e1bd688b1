/* What breakers share: the trace they need, and places in it. */
#include "formats/lttng/gen/break/lttng_target.h"

void lttng_target_shape(struct lttng_gen *g, uint32_t versions, unsigned blocks)
{
	g->versions = versions;
	g->min_blocks = blocks;
}

static bool block_fits(const struct lttng_gen *g, const struct lttng_made_block *b, unsigned least, unsigned kind)
{
	bool last = b->number + 1 == g->files[b->file].blocks;
	return b->file >= g->data_first && b->number >= least && (!(kind & WITH_PADDING) || b->size - b->data >= 128) &&
	       (!(kind & NOT_LAST) || !last) && (!(kind & LAST) || last) && (!(kind & WITH_EVENTS) || b->events >= 2);
}

struct lttng_made_block *lttng_target_block(struct lttng_gen *g, unsigned least, unsigned kind)
{
	size_t count = 0;
	for (size_t i = 0; i < g->block_count; i++)
		count += block_fits(g, &g->blocks[i], least, kind);
	size_t nth = (size_t)choices_below(g->c, count ? count : 1);
	for (size_t i = 0; i < g->block_count; i++)
		if (block_fits(g, &g->blocks[i], least, kind) && !nth--)
			return &g->blocks[i];
	return &g->blocks[g->block_count - 1];
}

struct lttng_made_file *lttng_target_file(struct lttng_gen *g)
{
	unsigned count = g->channel_count * g->cpu_count;
	return &g->files[g->data_first + choices_below(g->c, count)];
}

uint8_t *lttng_target_bytes(struct lttng_gen *g, const struct lttng_made_block *b)
{
	return g->files[b->file].b.data + b->at;
}

void lttng_target_set(struct lttng_gen *g, const struct lttng_made_block *b, enum lttng_field field, uint64_t value)
{
	lttng_header_store(lttng_target_bytes(g, b), g->l, g->files[b->file].big, field, value);
}

void lttng_target_set_all(struct lttng_gen *g, enum lttng_field field, uint64_t value)
{
	for (size_t i = 0; i < g->block_count; i++)
		lttng_target_set(g, &g->blocks[i], field, value);
}

void lttng_target_data_end(struct lttng_gen *g, const struct lttng_made_block *b, uint64_t data)
{
	lttng_target_set(g, b, LF_UNUSED, g->l->variable ? data : b->size - data);
}

void lttng_target_junk(struct lttng_gen *g, struct bytes *b, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		bytes_u8(b, (uint8_t)(1 + choices_below(g->c, 255)));
}
