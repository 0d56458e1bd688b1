#include "formats/fxt/salvage/fxt_untimely.h"

#include <stdlib.h>

#include "formats/fxt/salvage/fxt_block.h"

/* Bytes on each side in which the next time is looked for. */
#define SIDE_BYTES 1024u
/* The times of a block are further away than so many times the time it spans, and the time that passed across it. */
#define FAR_TIMES 8u
/* A step back that is less than so many times the largest one elsewhere is how the recorder writes. */
#define HABIT_TIMES 2u

/* Stretches of a block, each of one provider, whose times are compared: the first ones that have any. */
#define STRETCHES 2u

struct stretch {
	uint64_t lowest, highest;
	unsigned count;
};

struct times {
	uint64_t before, after; /* of the block */
	bool has_before, has_after;
	struct stretch inside[STRETCHES];
	unsigned stretches;  /* begun: a record that says whose those behind are ends one, for they have another clock */
	bool begins_section; /* the first record of the block says whose it is: another clock is nothing odd */
	bool archive;	     /* it is the magic number of an archive, in which what was in front of it does not go on */
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
		struct stretch *s = &t->inside[t->stretches < STRETCHES ? t->stretches : 0];
		t->archive = t->archive || (at == b->from && r->header == FXT_MAGIC);
		t->begins_section = t->begins_section || (is_change(r) && !t->inside[0].count && !t->archive);
		if (is_change(r) && s->count && t->stretches < STRETCHES)
			t->stretches++;
		if (!r->has_timestamp || t->stretches == STRETCHES)
			return;
		s->lowest = s->count && s->lowest < r->timestamp ? s->lowest : r->timestamp;
		s->highest = s->count && s->highest > r->timestamp ? s->highest : r->timestamp;
		s->count++;
	} else if (at >= b->until && r->has_timestamp) {
		t->has_after = true;
		t->after = r->timestamp;
	}
}

/* Whether the times of the stretch are far from those on both sides. */
static bool is_away(const struct times *t, const struct stretch *s)
{
	const uint64_t gap = t->after - t->before, span = s->highest - s->lowest, least = gap > span ? gap : span;
	const uint64_t away = s->highest < t->before ? t->before - s->highest : s->lowest > t->after ? s->lowest - t->after : 0;
	return away / FAR_TIMES > least;
}

bool fxt_is_untimely(struct fxt_resync *y, uint64_t size, const struct fxt_block *b, unsigned least)
{
	const struct fxt_record *r = &y->other;
	const uint64_t first = b->from > SIDE_BYTES ? b->from - SIDE_BYTES : 0;
	const uint64_t last = size - b->until > SIDE_BYTES ? b->until + SIDE_BYTES : size;
	struct times t = { 0 };
	bool row = false; /* what follows the block are records in a row */

	for (uint64_t at = fxt_next_row(y, first, last); at < last && !t.has_after && !t.begins_section;) {
		const bool behind = at >= b->until && !row;
		if (behind || !fxt_decode_other(y, at) || !fxt_is_exact(r)) {
			at = fxt_next_row(y, behind ? at : at + FXT_WORD, last);
			row = row || at >= b->until;
			continue;
		}
		take(&t, r, at, b);
		if (at >= b->until && is_change(r))
			return false;
		/* Its ends cut records. */
		const uint64_t edge = at < b->from ? b->from : b->until;
		const bool cut = at < edge && r->words * FXT_WORD > edge - at;
		at = cut ? edge : at + r->words * FXT_WORD;
	}
	const struct stretch *one = &t.inside[0], *two = &t.inside[1];
	if (!t.has_before || !t.has_after || one->count + two->count < least || t.begins_section || t.after < t.before)
		return false;
	return is_away(&t, one) && (!two->count || is_away(&t, two));
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
	if (*found < FXT_UNTIMELY_MAX && b.until <= size && fxt_is_untimely(y, size, &b, FXT_TIMES_LEAST))
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

static bool is_near(const struct fxt_leap *l, const struct fxt_block *b)
{
	return l->at + SIDE_BYTES >= b->from && l->at <= b->until + SIDE_BYTES;
}

unsigned fxt_untimely_rare(const struct fxt_leaps *leaps, struct fxt_block *blocks, unsigned count)
{
	uint64_t habit = 0, most[FXT_UNTIMELY_MAX] = { 0 };
	unsigned kept = 0;

	for (unsigned i = 0; i < FXT_LEAPS_MAX; i++) {
		const struct fxt_leap *l = &leaps->list[i];
		bool near = false;
		for (unsigned n = 0; n < count; n++)
			if (is_near(l, &blocks[n])) {
				near = true;
				most[n] = most[n] > l->ticks ? most[n] : l->ticks;
			}
		habit = near || habit > l->ticks ? habit : l->ticks;
	}
	for (unsigned n = 0; n < count; n++)
		if (most[n] / HABIT_TIMES > habit)
			blocks[kept++] = blocks[n];
	return kept;
}
