/* Ranges of the file that are in use, for those who place the CPU data. */
#ifndef TRACEDAT_PLACE_H
#define TRACEDAT_PLACE_H

#include "formats/tracedat/tracedat.h"

struct tracedat_range {
	uint64_t from, to;
	struct tracedat_buffer *buffer;
	struct tracedat_cpu *cpu; /* NULL: metadata */
	size_t order;
};

/* All ranges in use, sorted. The caller frees them. NULL: none, or out of memory. */
struct tracedat_range *tracedat_ranges(struct tracedat_walk *w, size_t *count);
/* Whether a plausible page stands there. */
bool tracedat_page_at(struct tracedat_walk *w, uint64_t at, uint32_t size);

/* ---- tracedat_gap.c ---- */

/* Gaps in [from, to), where the ranges of one buffer or of the file lie: pages in them are given to CPUs that lack some. */
void tracedat_gaps(struct tracedat_walk *w, unsigned buffer, uint64_t from, uint64_t to);

#endif
