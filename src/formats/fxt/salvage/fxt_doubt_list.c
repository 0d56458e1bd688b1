/* What is listed as doubtful, and blocks that were written twice. */
#include "formats/fxt/salvage/fxt_doubt.h"

/* Blocks that were written twice: sizes are powers of two. */
#define BLOCK_MOST FXT_BLOCK_BYTES
#define BLOCK_LEAST 64u

void fxt_doubt_list(struct fxt_doubt *d, uint64_t at, uint64_t length, const char *why)
{
	d->active = true;
	plan_doubt(d->plan, d->source, at, length, why);
	plan_lost_other(d->plan);
}

uint64_t fxt_doubt_header_at(struct fxt_doubt *d, uint64_t at)
{
	const uint8_t *p = window_at(&d->resync->window, at, FXT_WORD);
	return p ? load_u64(p, d->resync->decoder->big_endian) : 0;
}

uint64_t fxt_doubt_length_at(struct fxt_doubt *d, uint64_t at)
{
	return fxt_size(fxt_doubt_header_at(d, at)) * FXT_WORD;
}

bool fxt_doubt_is_undone(const struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	for (unsigned i = 0; i < d->undone_count; i++)
		if (from >= d->undone_blocks[i].from && until <= d->undone_blocks[i].until)
			return true;
	return false;
}

/* Whether there are two providers or more, which only a block from elsewhere does not have. */
bool fxt_doubt_has_several(const struct fxt_doubt *d)
{
	const struct fxt_registry *reg = d->registry;
	size_t here = 0;

	if (!d->undone_count)
		return reg->count > 2;
	for (size_t i = 0; i < reg->count && here <= 2; i++)
		here += !fxt_doubt_is_undone(d, reg->list[i]->offset, reg->list[i]->offset) || reg->list[i]->anonymous;
	return here > 2;
}

/* Whether the bytes at `seam` repeat those before: lists them. */
static bool doubt_copy(struct fxt_doubt *d, uint64_t seam, uint64_t size)
{
	const uint8_t *p;

	if (seam < size || seam > d->here->size || d->here->size - seam < size)
		return false;
	p = window_at(&d->resync->window, seam - size, (size_t)(2 * size));
	/* Where a word is repeated all over it is a fill. */
	if (!p || memcmp(p, p + size, (size_t)size) || !memcmp(p, p + FXT_WORD, (size_t)size - FXT_WORD))
		return false;
	fxt_doubt_list(d, seam, size, "repeats the bytes before it: a block may have been written twice");
	return true;
}

/* Whether a block was written twice, and its second copy has bytes at `from`, or begins or ends in [from, until]: lists that copy.
 * Returns the size of one that begins in it, or 0. */
uint64_t fxt_doubt_repeat(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	for (uint64_t size = BLOCK_MOST; size >= BLOCK_LEAST; size /= 2) {
		uint64_t seam = from / size * size, next = seam + size;
		if (doubt_copy(d, seam, size))
			return seam == from ? size : 0;
		if (next <= until && doubt_copy(d, next, size))
			return size;
		if (seam == from && seam && doubt_copy(d, seam - size, size))
			return 0;
	}
	return 0;
}
