/* What breakers share: the trace they need, and places in it. */
#include "formats/lttng/gen/break/lttng_spoil.h"

bool lttng_spoil_shape(struct lttng_gen *k, uint32_t versions, unsigned blocks)
{
	if (k->stage == LTTNG_SHAPE) {
		k->versions = versions;
		k->min_blocks = blocks;
	}
	return k->stage != LTTNG_FINISH;
}

static bool block_fits(const struct lttng_gen *k, const struct lttng_made_block *b, unsigned least, unsigned kind)
{
	bool last = b->number + 1 == k->files[b->file].blocks;
	return b->file >= k->data_first && b->number >= least && (!(kind & WITH_PADDING) || b->size - b->data >= 128) &&
	       (!(kind & NOT_LAST) || !last) && (!(kind & LAST) || last) && (!(kind & WITH_EVENTS) || b->events >= 2);
}

struct lttng_made_block *lttng_spoil_block(struct lttng_gen *k, unsigned least, unsigned kind)
{
	size_t count = 0;
	for (size_t i = 0; i < k->block_count; i++)
		count += block_fits(k, &k->blocks[i], least, kind);
	size_t nth = choices_below(k->c, count ? count : 1);
	for (size_t i = 0; i < k->block_count; i++)
		if (block_fits(k, &k->blocks[i], least, kind) && !nth--)
			return &k->blocks[i];
	return &k->blocks[k->block_count - 1];
}

struct lttng_made_file *lttng_spoil_file(struct lttng_gen *k)
{
	unsigned count = k->channel_count * k->cpu_count;
	return &k->files[k->data_first + choices_below(k->c, count)];
}

uint8_t *lttng_spoil_bytes(struct lttng_gen *k, const struct lttng_made_block *b)
{
	return k->files[b->file].b.data + b->at;
}

void lttng_spoil_set(struct lttng_gen *k, const struct lttng_made_block *b, enum lttng_field field, uint64_t value)
{
	lttng_header_store(lttng_spoil_bytes(k, b), k->l, k->files[b->file].big, field, value);
}

void lttng_spoil_everywhere(struct lttng_gen *k, enum lttng_field field, uint64_t value)
{
	for (size_t i = 0; i < k->block_count; i++)
		lttng_spoil_set(k, &k->blocks[i], field, value);
}

void lttng_spoil_data_end(struct lttng_gen *k, const struct lttng_made_block *b, uint64_t data)
{
	lttng_spoil_set(k, b, LF_UNUSED, k->l->variable ? data : b->size - data);
}

void lttng_spoil_junk(struct lttng_gen *k, struct bytes *b, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		bytes_u8(b, (uint8_t)(1 + choices_below(k->c, 255)));
}
