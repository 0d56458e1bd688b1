#include "formats/fxt/salvage/fxt_untimely.h"

#include <stdlib.h>

#include "formats/fxt/salvage/fxt_block.h"

/* Bytes on each side in which the next time is looked for. */
#define SIDE_BYTES 1024u
/* The times of a block are further away than so many times the time it spans, and the time that passed across it. */
#define FAR_TIMES 8u

struct times {
	uint64_t before, after, lowest, highest; /* of the block: the last two */
	bool has_before, has_after;
	unsigned inside;
	bool begins_section; /* the first record of the block says whose it is: another clock is nothing odd */
};

static bool is_change(const struct fxt_record *r)
{
	return r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_PROVIDER_SECTION);
}

static void take(struct times *t, const struct fxt_record *r, uint64_t at, const struct fxt_block *b)
{
	const uint64_t end = at + r->words * FXT_WORD;

	if (end <= b->from) {
		t->has_before = !is_change(r) && (t->has_before || r->has_timestamp);
		t->before = r->has_timestamp ? r->timestamp : t->before;
	} else if (at >= b->from && end <= b->until) {
		t->begins_section = t->begins_section || (is_change(r) && !t->inside);
		if (!r->has_timestamp)
			return;
		t->lowest = t->inside && t->lowest < r->timestamp ? t->lowest : r->timestamp;
		t->highest = t->inside && t->highest > r->timestamp ? t->highest : r->timestamp;
		t->inside++;
	} else if (at >= b->until && r->has_timestamp) {
		t->has_after = true;
		t->after = r->timestamp;
	}
}

static bool is_untimely(struct fxt_resync *y, uint64_t size, const struct fxt_block *b)
{
	const struct fxt_record *r = &y->other;
	const uint64_t first = b->from > SIDE_BYTES ? b->from - SIDE_BYTES : 0;
	const uint64_t last = size - b->until > SIDE_BYTES ? b->until + SIDE_BYTES : size;
	struct times t = { 0 };
	bool row = false; /* what follows the block are records in a row */

	for (uint64_t at = fxt_next_row(y, first, last); at < last && !t.has_after && !t.begins_section;) {
		const bool behind = at >= b->until && !row;
		if (behind || !fxt_decode_other(y, at)) {
			at = fxt_next_row(y, behind ? at : at + FXT_WORD, last);
			row = row || at >= b->until;
			continue;
		}
		take(&t, r, at, b);
		if (at >= b->until && is_change(r))
			return false;
		at += r->words * FXT_WORD;
	}
	if (!t.has_before || !t.has_after || t.inside < 2 || t.begins_section || t.after < t.before)
		return false;
	const uint64_t gap = t.after - t.before, span = t.highest - t.lowest, least = gap > span ? gap : span;
	const uint64_t away = t.highest < t.before ? t.before - t.highest : t.lowest > t.after ? t.lowest - t.after : 0;
	return away / FAR_TIMES > least;
}

void fxt_leaps_add(struct fxt_leaps *l, uint64_t ticks, uint64_t at)
{
	unsigned least = 0;

	for (unsigned i = 1; i < FXT_LEAPS_MAX; i++)
		least = l->list[i].ticks < l->list[least].ticks ? i : least;
	if (ticks <= l->list[least].ticks)
		return;
	l->list[least].ticks = ticks;
	l->list[least].at = at;
}

static void find(struct fxt_resync *y, uint64_t size, uint64_t from, uint64_t bytes, struct fxt_block *blocks, unsigned *found)
{
	const struct fxt_block b = { from, from + bytes };

	for (unsigned i = 0; i < *found; i++)
		if (blocks[i].from < b.until && b.from < blocks[i].until)
			return;
	if (*found < FXT_UNTIMELY_MAX && b.until <= size && is_untimely(y, size, &b))
		blocks[(*found)++] = b;
}

static int by_offset(const void *a, const void *b)
{
	const struct fxt_leap *one = a, *other = b;
	return (one->at > other->at) - (one->at < other->at);
}

unsigned fxt_untimely_find(struct fxt_resync *y, uint64_t size, struct fxt_leaps *leaps, struct fxt_block *blocks)
{
	unsigned found = 0;

	/* In the order of the file, which is read once then. */
	qsort(leaps->list, FXT_LEAPS_MAX, sizeof(*leaps->list), by_offset);

	for (unsigned i = 0; i < FXT_LEAPS_MAX; i++)
		for (uint64_t bytes = FXT_SECTOR_BYTES; bytes <= FXT_BLOCK_BYTES; bytes *= 2) {
			/* The time is the second word: a record may begin in front of the block. */
			const uint64_t edge = (leaps->list[i].at + FXT_WORD) / bytes * bytes;
			if (edge > bytes)
				find(y, size, edge - bytes, bytes, blocks, &found);
			if (edge)
				find(y, size, edge, bytes, blocks, &found);
		}
	return found < FXT_UNTIMELY_MAX ? found : 0;
}
