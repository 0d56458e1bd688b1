/* What the rooms of version 3 share: the header structure, the extent of a chunk. */
#ifndef KTRACE_V3_H
#define KTRACE_V3_H

#include "formats/ktrace/ktrace.h"

/* ---- ktrace_header.c ---- */

struct ktrace_header {
	uint8_t bytes[KTRACE_HEADER]; /* as repair would write it */
	uint32_t magic, numer, denom, usec, flags, dst;
	int32_t west;
	uint16_t major, minor;
	uint64_t size, time, seconds;
	uint64_t chunks;	    /* offset of the first header chunk */
	uint64_t end;		    /* offset behind the last one; what the size field should say, plus 16 */
	enum ktrace_rule size_rule; /* KTRACE_RULE_COUNT: the size is fine */
};

struct ktrace_header ktrace_header_decode(const uint8_t bytes[KTRACE_HEADER]);
/* Changes a field of the header, in the copy that the plan will write. */
void ktrace_header_fix(struct ktrace_walk *w, struct ktrace_header *h, uint32_t offset, uint64_t value, uint32_t length,
		       enum ktrace_rule rule, const char *why);
/* Fields that stand alone. */
void ktrace_header_fields(struct ktrace_walk *w, struct ktrace_header *h);
/* The flag for 64-bit events against the first events there are. */
void ktrace_header_width(struct ktrace_walk *w, struct ktrace_header *h);
/* Where the header ends: h->chunks, h->end, h->size_rule. */
void ktrace_header_extent(struct ktrace_walk *w, struct ktrace_header *h);
/* What can be said of the header only after the last chunk. */
void ktrace_header_finish(struct ktrace_walk *w, const struct ktrace_header *h);

/* ---- ktrace_extent.c ---- */

/* What is decided of a chunk before its payload is looked at. */
struct ktrace_extent {
	uint64_t size;	       /* bytes of payload that belong to it */
	uint64_t next;	       /* where the next chunk starts */
	enum ktrace_rule rule; /* what is wrong with the size; KTRACE_RULE_COUNT: nothing */
	bool guessed;	       /* the end of the payload is known to within its padding only */
	bool retagged;	       /* the chunk's tag and version are not the stored ones, but those its placeholder is to get */
};

/* A placeholder that a writer puts where it will write the header of the chunk that it has begun: all ones. */
bool ktrace_chunk_is_placeholder(const struct ktrace_chunk *chunk);
/* Whether an events chunk it is, or the placeholder of one. */
bool ktrace_chunk_holds_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk);
/* How much of a payload of so many bytes is whole records, entries or fields. */
uint64_t ktrace_chunk_whole(const struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size);
/* How far a chunk reaches, by its size or, where that leads nowhere, by what follows. */
struct ktrace_extent ktrace_chunk_extent(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t limit);

/* ---- ktrace_chunk_walk.c ---- */

/* Reports, and with a plan copies, one chunk: its header, its payload, its padding, up to x->next. */
void ktrace_chunk_walk(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x);
/* Where a chunk does not stand where the one before ends, bytes may have come in or gone missing in that one. */
void ktrace_chunk_doubt_last(struct ktrace_walk *w);

#endif
