/* Blocks of a disk that are from elsewhere: their times are far from those on both sides, which go on as if the block was not
 * there. */
#ifndef FXT_UNTIMELY_H
#define FXT_UNTIMELY_H

#include "formats/fxt/salvage/fxt_resync.h"

#define FXT_UNTIMELY_MAX 8u

/* The largest steps back of timestamps: how many ticks, and the record behind. Zero-initialised is none. */
#define FXT_LEAPS_MAX 16u
struct fxt_leap {
	uint64_t ticks, at; /* both 0: none */
};
struct fxt_leaps {
	struct fxt_leap list[FXT_LEAPS_MAX];
};

void fxt_leaps_add(struct fxt_leaps *l, uint64_t ticks, uint64_t at);

struct fxt_block {
	uint64_t from, until;
};

/* Times in a block that tell, where nothing else does. */
#define FXT_TIMES_LEAST 2u

/* Whether the block is from elsewhere: it has so many times at least, and they are far. Reads some kilobytes. */
bool fxt_is_untimely(struct fxt_resync *y, uint64_t size, const struct fxt_block *b, unsigned least);

/* Such blocks, of 512 to 4096 bytes and aligned to their size, that begin or end at a leap. Writes FXT_UNTIMELY_MAX at most, and
 * returns how many; 0 where there may be more: then it is how the recorder writes. Sorts the leaps, and reads some
 * kilobytes around each. */
unsigned fxt_untimely_find(struct fxt_resync *y, uint64_t size, struct fxt_leaps *leaps, struct fxt_block *blocks);

/* Of the blocks that fxt_untimely_find() found, those whose step back is more than the recorder's habit; keeps them in front, and
 * returns how many. For a file in which nothing else shows damage. */
unsigned fxt_untimely_rare(const struct fxt_leaps *leaps, struct fxt_block *blocks, unsigned count);

#endif
