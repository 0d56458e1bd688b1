/* The data of a CPU, on which threads work ahead of the walk. */
#ifndef TRACEDAT_AHEAD_H
#define TRACEDAT_AHEAD_H

#include "formats/tracedat/scan/tracedat_page.h"

/* Bytes of room in which a chunk is decoded first, that says it has `usize`. */
static inline size_t tracedat_chunk_space(uint32_t usize, uint32_t page_size)
{
	const size_t pages = TRACEDAT_CHUNK_PAGES * (size_t)page_size + page_size;
	return usize > pages && usize <= TRACEDAT_CHUNK_MAX ? usize : pages;
}

/* A chunk that was worked on. */
struct tracedat_chunk {
	struct tracedat_decoded decoded;
	bool fine;  /* as tracedat_decode() returns */
	bool plain; /* as tracedat_chunk_plain() returns */
};

/* The walk comes to the chunk at `at`: that one, and some of those that seem to follow it in front of `limit`, are given to the
 * threads. Where there are none, nothing happens. */
void tracedat_ahead_give(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size);
/* Whether the chunk at `at`, with a frame of `size` bytes, was decoded into so much room. Then w->pages.chunk is what came out, and
 * w->pages.runs are those of its pages if it is plain. */
bool tracedat_ahead_take(struct tracedat_walk *w, uint64_t at, size_t size, size_t room, struct tracedat_chunk *c);
/* The walk comes to the page at `at`, of data that is not compressed and ends at `end`: it and some that follow it are given to the
 * threads. Where nothing is wrong with it: the page, up to the next call, and *run. NULL: the walk reads and judges it itself. */
const uint8_t *tracedat_ahead_page(struct tracedat_walk *w, uint64_t at, uint64_t end, uint32_t page_size,
				   const struct tracedat_run **run);
/* Waits until the threads work on nothing more: the formats may change. NULL is allowed. */
void tracedat_ahead_stop(struct tracedat_ahead *a);
/* NULL is allowed. */
void tracedat_ahead_free(struct tracedat_ahead *a);

#endif
