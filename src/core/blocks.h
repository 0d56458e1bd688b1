/* Blocks of a disk that were written to the wrong place: two that were exchanged, or one that was written a second time in front of
 * what follows it. Nothing is missing then, and the capture is whole again when they are back. */
#ifndef CORE_BLOCKS_H
#define CORE_BLOCKS_H

#include "core/plan.h"

/* Sizes of blocks: powers of two from the least on. */
#define BLOCKS_LEAST 512u
#define BLOCKS_SIZES 4u
/* Places of errors that are looked at. */
#define BLOCKS_PLACES_MOST 256u
/* Moves that are tried, each by a walk of its own, of blocks of each size and of all; and what all these walks read, in bytes and
 * in sizes of the file. */
#define BLOCKS_TRIALS_OF_SIZE 16u
#define BLOCKS_TRIALS_MOST (BLOCKS_TRIALS_OF_SIZE * BLOCKS_SIZES)
#define BLOCKS_READ_MOST (UINT64_C(256) * 1024 * 1024)
#define BLOCKS_READ_TIMES 56u

struct block_place {
	uint64_t offset, length;
};

/* twice: the block at `second` repeats the one that ends there; else those at `first` and `second` stand in each other's place. */
struct block_move {
	uint64_t size, first, second;
	bool twice;
	unsigned errors; /* that are at the ends of these blocks */
};

/* What may have been moved, judged by where the errors of the file are: the most likely first. Returns how many, at most
 * BLOCKS_TRIALS_MOST; 0 also where reading fails (b->error). */
unsigned blocks_moved(struct source *s, const struct block_place *errors, unsigned count,
		      struct block_move out[BLOCKS_TRIALS_MOST]);

/* Exchanges of the first block with the one at `at`, which looks like the first: one for each size. Returns how many. */
unsigned blocks_first(const struct source *s, uint64_t at, struct block_move out[BLOCKS_SIZES]);

/* Plans the file with the blocks where they belong. rule: what was found there, for a block that is left out. */
void blocks_undo(struct plan *p, const struct source *s, const struct block_move *m, unsigned rule);

#endif
