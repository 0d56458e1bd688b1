/* Seams of blocks from elsewhere. A seam can be anywhere in a region of damage, or in a record that was corrected. */
#include "formats/fxt/salvage/fxt_seam.h"
#include "formats/fxt/scan/fxt_missing.h"

/* Bytes of a record that is cut by a seam. What is longer is the damage itself. */
#define SEAM_BYTES 1024u
/* Indexes that records near each other refer to, and that are not registered, where no damage explains it. */
#define BURST 4u
#define BURST_BYTES 1024u

/* The last offset in the seam at which a block may begin or end, if it is not in front of the seam. */
static uint64_t sector_in(const struct fxt_seam *s)
{
	return s->until / FXT_SECTOR_BYTES * FXT_SECTOR_BYTES;
}

/* Whether a block of some size may begin in the seam s and end in [from, until]. */
static bool is_block(const struct fxt_seam *s, uint64_t from, uint64_t until)
{
	for (uint64_t size = FXT_SECTOR_BYTES; size <= FXT_BLOCK_BYTES; size *= 2) {
		const uint64_t end = until / size * size;
		if (end >= from && end >= size && end - size >= s->from && end - size <= s->until)
			return true;
	}
	return false;
}

uint64_t fxt_seam_add(struct fxt_seams *s, uint64_t from, uint64_t until, bool region)
{
	uint64_t begin = FXT_NO_BLOCK;

	/* Behind a long record that a block cut, records begin where the block does. */
	if (until - from > SEAM_BYTES && until % FXT_SECTOR_BYTES == 0)
		from = until - FXT_WORD;
	if (s->count == FXT_SEAMS_MAX || until - from > SEAM_BYTES)
		return FXT_NO_BLOCK;
	for (unsigned i = 0; i < s->count; i++)
		if (is_block(&s->list[i], from, until))
			begin = s->list[i].until;
	const struct fxt_seam *last = &s->list[s->count];
	s->list[s->count++] = (struct fxt_seam){ from, until, region };
	if (sector_in(last) >= from) {
		s->block = sector_in(last);
		s->bytes = FXT_SECTOR_BYTES;
		s->known = false;
	}
	return begin;
}

uint64_t fxt_seam_hit(struct fxt_seams *s, const struct fxt_position *here, const struct fxt_record *r)
{
	/* The record before may have been cut by the block, and have taken words in. */
	const uint64_t from = here->records ? fxt_position_recent(here, 1) + FXT_WORD : here->at;

	return fxt_seam_add(s, from, here->at + r->words * FXT_WORD, false);
}

uint64_t fxt_seam_pass(struct fxt_seams *s, struct fxt_registry *reg, uint64_t at)
{
	uint64_t begin = FXT_NO_BLOCK;

	while (s->bytes && at >= s->block + s->bytes) {
		/* A block of that size has signs of its own in its second half. */
		const uint64_t half = s->bytes > FXT_SECTOR_BYTES ? s->bytes / 2 : 0;
		if (fxt_block_odd(reg, s->block + half, s->bytes - half, s->known)) {
			begin = s->block;
			s->known = true;
		}
		s->bytes *= 2;
		if (s->bytes > FXT_BLOCK_BYTES || s->block % s->bytes)
			s->bytes = 0;
	}
	return begin;
}

uint64_t fxt_seam_front(const struct fxt_seams *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		const uint64_t end = sector_in(&s->list[i]);
		if (end >= s->list[i].from && end && end <= FXT_BLOCK_BYTES && !(end & (end - 1)))
			return end;
	}
	return 0;
}

/* Where the largest block begins that may end at `end`. */
static uint64_t block_before(uint64_t end)
{
	uint64_t size = FXT_BLOCK_BYTES;

	while (size > FXT_SECTOR_BYTES && (end % size || end < size))
		size /= 2;
	return end < size ? 0 : end - size;
}

uint64_t fxt_seam_missing(struct fxt_seams *s, const struct fxt_registry *reg, uint64_t at, uint64_t damage)
{
	const struct fxt_seam *last = s->count ? &s->list[s->count - 1] : NULL;
	uint64_t begin;

	if (reg->missing_count < BURST || s->burst || s->count == FXT_SEAMS_MAX)
		return FXT_NO_BLOCK;
	const struct fxt_missing *first = &reg->missing[reg->missing_count - BURST];
	if (at - first->offset > BURST_BYTES)
		return FXT_NO_BLOCK;
	if (last && first->offset - last->until < FXT_BLOCK_BYTES) {
		/* Else other damage, and what was registered in it. */
		if (last->region || sector_in(last) < last->from)
			return FXT_NO_BLOCK;
		s->burst = true;
		return block_before(sector_in(last));
	}
	begin = block_before(first->offset / FXT_BLOCK_BYTES * FXT_BLOCK_BYTES);
	if (damage > begin)
		return FXT_NO_BLOCK;
	for (const struct fxt_missing *m = first; m < first + BURST; m++)
		if (m->elsewhere || m->forward)
			return FXT_NO_BLOCK;
	s->burst = true;
	return begin;
}
