/* Where chunks go on behind damage. */
#ifndef KTRACE_RESYNC_H
#define KTRACE_RESYNC_H

#include "formats/ktrace/scan/ktrace_input.h"

/* Where chunks go on at or behind `from`, on the 8-byte grid or else off it. UINT64_MAX: nowhere. */
uint64_t ktrace_chunk_find_next(struct ktrace_input *in, uint64_t from, uint64_t limit);

#endif
