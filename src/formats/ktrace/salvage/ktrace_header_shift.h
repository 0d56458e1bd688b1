/* A header structure of version 3 into which bytes were inserted, or from which bytes were removed: the first chunk is not where it
 * should be, nor are the fields between. Or one that is lost. */
#ifndef KTRACE_HEADER_SHIFT_H
#define KTRACE_HEADER_SHIFT_H

#include "formats/ktrace/decode/ktrace_header.h"
#include "formats/ktrace/scan/ktrace_input.h"

struct ktrace_header_shift {
	uint64_t first;		       /* offset of the first chunk; KTRACE_HEADER: nothing is shifted */
	uint64_t at;		       /* where bytes were inserted or are missing */
	uint8_t header[KTRACE_HEADER]; /* as it was before; zeros where bytes are missing */
	bool lost;		       /* nothing of it is there: mark, size and width by the chunks, zeros for the rest */
};

/* Where the first chunk is, when no header is in front of it by which it is found: one near the beginning that leads on to two more
 * of known kinds. UINT64_MAX: none. */
uint64_t ktrace_first_chunk_find(struct window *window);
/* Finds the place by the fields: they must be better than as they stand, with the timebase of a known machine and a size that fits,
 * and all places that are equally good must agree on the timebase and on the flags. Where there is none, the header is lost when it
 * has no mark, either. */
struct ktrace_header_shift ktrace_header_shift_find(struct ktrace_input *in, const uint8_t header[KTRACE_HEADER]);

#endif
