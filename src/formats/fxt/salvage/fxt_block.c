#include "formats/fxt/salvage/fxt_block.h"

#include "formats/fxt/scan/fxt_journal.h"
#include "formats/fxt/scan/fxt_missing.h"

/* Indexes that are registered again in such a block, or are not registered, at least; and how many times as often as elsewhere. */
#define ODD_LEAST 3u
#define ODD_TIMES 8u

/* Indexes that are registered again in [from, until), by the journal. */
static uint64_t redefined_in(struct fxt_registry *reg, uint64_t from, uint64_t until)
{
	const unsigned count = fxt_journal_recent(reg);
	uint64_t found = 0;

	for (unsigned n = 1; n <= count; n++) {
		const struct fxt_change *c = fxt_journal_last(reg, n);
		found += c->at >= from && c->at < until && (c->kind == FXT_CHANGE_STRING || c->kind == FXT_CHANGE_THREAD);
	}
	return found;
}

/* Indexes that records from `from` on are the first to refer to, and that are not registered: the last ones of the list. */
static uint64_t missing_since(const struct fxt_registry *reg, uint64_t from)
{
	uint64_t found = 0;

	while (found < reg->missing_count && reg->missing[reg->missing_count - 1 - found].offset >= from)
		found++;
	return found;
}

/* How much in [begin, until) the recorder does nowhere else as often: 0 where that is little, or there is too little else. One more
 * elsewhere may be by chance. */
static uint64_t odd_in(struct fxt_registry *reg, uint64_t begin, uint64_t until, uint64_t size)
{
	const uint64_t redefined = redefined_in(reg, begin, until), missing = missing_since(reg, begin);
	const uint64_t found = redefined > missing ? redefined : missing,
		       all = redefined > missing ? reg->journal.redefined : reg->missing_count;

	return found < ODD_LEAST || (all - found + 1) * size * ODD_TIMES > found * begin ? 0 : found;
}

bool fxt_block_odd(struct fxt_registry *reg, uint64_t begin, uint64_t size, bool known)
{
	if (known)
		return redefined_in(reg, begin, begin + size) || missing_since(reg, begin);
	return odd_in(reg, begin, begin + size, size) != 0;
}

uint64_t fxt_block_foreign(struct fxt_registry *reg, uint64_t archive, uint64_t from, uint64_t until)
{
	uint64_t found = FXT_NO_BLOCK, most = 0;

	for (uint64_t size = FXT_SECTOR_BYTES; size <= FXT_BLOCK_BYTES; size *= 2) {
		const uint64_t end = (from + size - 1) / size * size, begin = end - size;
		if (end < size || end > until)
			continue;
		/* The beginning of another capture. */
		if (archive && begin == archive)
			return begin;
		const uint64_t odd = odd_in(reg, begin, from, size);
		if (odd > most) {
			most = odd;
			found = begin;
		}
	}
	return found;
}
