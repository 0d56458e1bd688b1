/* Seams of a block of a disk that is from elsewhere: it begins and ends at offsets that are aligned to its size, where records are
 * cut, and not each cut shows as damage. */
#ifndef FXT_SEAM_H
#define FXT_SEAM_H

#include "formats/fxt/salvage/fxt_block.h"
#include "formats/fxt/scan/fxt_report.h"

/* Seams that are looked at. Where there are more, single bytes were hit. */
#define FXT_SEAMS_MAX 6u

struct fxt_seam {
	uint64_t from, until;
	bool region; /* damage; else a record that was corrected in place */
};

/* Zero-initialised is none. */
struct fxt_seams {
	struct fxt_seam list[FXT_SEAMS_MAX];
	unsigned count;
	uint64_t block, bytes; /* a block from elsewhere may begin there, and have so many bytes or more; 0: none is looked for */
	bool known;	       /* its first bytes are from elsewhere */
	bool burst;	       /* fxt_seam_missing() found one */
};

/* A seam may be in [from, until), which lies behind those so far. Returns where what is in front of it and may be a block begins;
 * FXT_NO_BLOCK: there is none. */
uint64_t fxt_seam_add(struct fxt_seams *s, uint64_t from, uint64_t until, bool region);
/* The same for the record at the position, which is corrected in place. */
uint64_t fxt_seam_hit(struct fxt_seams *s, const struct fxt_position *here, const struct fxt_record *r);
/* The walk has come to `at`. Returns where a block begins that ends in front of it and has signs that it is from elsewhere, or
 * FXT_NO_BLOCK. */
uint64_t fxt_seam_pass(struct fxt_seams *s, struct fxt_registry *reg, uint64_t at);
/* The record at `at` refers to what is not registered: where several near each other do, a block may have ended in front of them.
 * Returns where it begins, or FXT_NO_BLOCK. damage: end of the last region; 0: none. */
uint64_t fxt_seam_missing(struct fxt_seams *s, const struct fxt_registry *reg, uint64_t at, uint64_t damage);
/* The record that introduces a provider is missing: where the first block of the file ends that may be from elsewhere; 0: there is
 * none. */
uint64_t fxt_seam_front(const struct fxt_seams *s);

#endif
