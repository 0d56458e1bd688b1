/* Chunks of version 3, one after the other. */
#ifndef KTRACE_CHUNK_WALK_H
#define KTRACE_CHUNK_WALK_H

#include "formats/ktrace/salvage/ktrace_extent.h"
#include "formats/ktrace/scan/ktrace_walk.h"

/* What is known from one chunk to the next. */
struct ktrace_chunks {
	bool in_header;
	uint64_t body;		       /* offset of the body */
	uint64_t singles;	       /* bit i: kind i of the table was seen */
	uint64_t first[64];	       /* offset of the first of that kind */
	uint64_t last_data, last_size; /* payload of the chunk before */
	bool last_events;	       /* they are records of events */
	bool broken;		       /* the size of that chunk is wrong */
	uint64_t part;	 /* where a part of a sub-file stands outside of one; 0: nowhere, or another sub-file follows */
	uint64_t island; /* where the first chunk behind damage begins; 0: there was none */
};

/* Reports, and with a plan keeps, one chunk: its header, its payload, its padding, up to x->next. */
void ktrace_chunk_walk(struct ktrace_walk *w, struct ktrace_chunks *c, const struct ktrace_chunk *chunk,
		       const struct ktrace_extent *x);
/* Lists the payload of the chunk before as doubtful, or its last records: when no chunk starts where it ends, bytes may have been
 * inserted into it or removed. */
void ktrace_chunk_doubt_last(struct ktrace_walk *w, struct ktrace_chunks *c);
/* Where the sub-file ends of which a part stands outside of one, nothing says: what is between is listed as doubtful. */
void ktrace_chunk_part_end(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t until);
/* The chain of chunks is broken at `at`, and goes on at `until`. Few bytes since it broke before may be a block of another file:
 * they are listed as doubtful. */
void ktrace_chunk_island(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t at, uint64_t until);

#endif
