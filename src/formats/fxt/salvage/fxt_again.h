/* The records that are kept, once more, at the end of the file: what is left out, and what its sizes say, is passed over. */
#ifndef FXT_AGAIN_H
#define FXT_AGAIN_H

#include "core/plan.h"
#include "formats/fxt/salvage/fxt_resync.h"

/* Zero-initialise but for the first two. A copy goes on where the original was. */
struct fxt_again {
	struct fxt_resync *resync;
	const struct plan *plan;
	struct pieces_walk walk;
	uint64_t from, until; /* the next range that is left out: not behind the position */
};

/* Decodes the next record at *at or behind it to resync->other, and puts *at there. *at must not go back. False: there is none in
 * front of `size`. */
bool fxt_again_next(struct fxt_again *a, uint64_t *at, uint64_t size);

#endif
