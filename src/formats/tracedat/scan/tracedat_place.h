/* Ranges of the file that are in use, for those who place the CPU data. */
#ifndef TRACEDAT_PLACE_H
#define TRACEDAT_PLACE_H

#include "formats/tracedat/scan/tracedat_page.h"

struct tracedat_range {
	uint64_t from, to;
	struct tracedat_buffer *buffer;
	struct tracedat_cpu *cpu; /* NULL: metadata */
	size_t order;
};

/* All ranges in use, sorted. The caller frees them. NULL: none, or out of memory. */
struct tracedat_range *tracedat_ranges_list(struct tracedat_walk *w, size_t *count);
/* Whether a plausible page stands there. */
bool tracedat_page_at(struct tracedat_walk *w, uint64_t at, uint32_t size);

/* Locates the pages of each CPU: checks tables, carves lost ranges. */
void tracedat_data_place(struct tracedat_walk *w);

/* ---- tracedat_page_shape.c ---- */

/* Page size and long size where the header contradicts itself. */
void tracedat_shape_decide(struct tracedat_walk *w);
/* An instance may have pages of its own size, when they are pages of that size. */
void tracedat_instance_page_size(struct tracedat_walk *w, struct tracedat_buffer *b);
/* Whether the window shows raw pages: sets byte order, long size and page size. */
bool tracedat_shape_infer(struct window *window, struct tracedat_shape *shape);

/* ---- salvage/tracedat_unreferenced.c ---- */

/* Examines the gaps between the ranges in use: pages in them are assigned to CPUs without data. */
void tracedat_gaps_examine(struct tracedat_walk *w);

#endif
