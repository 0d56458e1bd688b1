/* Chunks of compressed CPU data that threads decode ahead of the walk. */
#ifndef TRACEDAT_AHEAD_H
#define TRACEDAT_AHEAD_H

#include "formats/tracedat/scan/tracedat_walk.h"

/* Bytes of room in which a chunk is decoded first, that says it has `usize`. */
static inline size_t tracedat_chunk_space(uint32_t usize, uint32_t page_size)
{
	const size_t pages = TRACEDAT_CHUNK_PAGES * (size_t)page_size + page_size;
	return usize > pages && usize <= TRACEDAT_CHUNK_MAX ? usize : pages;
}

/* The walk comes to the chunk at `at`: that one, and some of those that seem to follow it in front of `limit`, are given to the
 * threads. Where there are none, nothing happens. */
void tracedat_ahead_give(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size);
/* Whether the chunk at `at`, with a frame of `size` bytes, was decoded into so much room. Then w->pages.chunk is what came out, and
 * *fine and *d are as tracedat_decode() sets them. */
bool tracedat_ahead_take(struct tracedat_walk *w, uint64_t at, size_t size, size_t room, bool *fine, struct tracedat_decoded *d);
/* NULL is allowed. */
void tracedat_ahead_free(struct tracedat_ahead *a);

#endif
