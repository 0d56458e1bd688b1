/* Resynchronising to chunks after damage. */
#ifndef KTRACE_RESYNC_H
#define KTRACE_RESYNC_H

#include "formats/ktrace/scan/ktrace_input.h"

/* The next chunk at or after `from`: aligned to 8 bytes, or else at any byte. UINT64_MAX: none. */
uint64_t ktrace_chunk_find_next(struct ktrace_input *in, uint64_t from, uint64_t limit);

#endif
