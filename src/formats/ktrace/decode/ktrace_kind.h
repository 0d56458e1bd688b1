/* Chunks: their header, and the kinds that readers know by their tags. Layouts: ktrace(5). */
#ifndef KTRACE_KIND_H
#define KTRACE_KIND_H

#include "formats/ktrace/ktrace.h"

/* What a known tag is. */
enum ktrace_place { KTRACE_ANYWHERE, KTRACE_IN_HEADER, KTRACE_IN_BODY };
enum ktrace_content { KTRACE_OPAQUE, KTRACE_PLIST, KTRACE_FIXED };

struct ktrace_kind {
	uint32_t tag;
	enum ktrace_place place;
	enum ktrace_content content;
	uint16_t major_max; /* highest major version that a reader knows; 0xffff: any */
	uint32_t size_min;  /* of a fixed payload, in bytes */
	bool single;	    /* meant to exist once a file */
	const char *name;
};

/* The kind of that tag, or NULL. */
const struct ktrace_kind *ktrace_kind_find(uint32_t tag);
/* Its name, or "unknown". */
const char *ktrace_kind_name(uint32_t tag);
/* Its place in the table of kinds, below 64. */
unsigned ktrace_kind_index(const struct ktrace_kind *kind);
/* Whether a known kind is a property list. */
bool ktrace_kind_is_plist(const struct ktrace_kind *kind);
/* The size of its payload where that is fixed; 0: it is not. */
uint32_t ktrace_kind_fixed_size(const struct ktrace_kind *kind);

struct ktrace_chunk {
	uint64_t offset; /* of the chunk header */
	uint32_t tag;
	uint16_t major, minor;
	uint64_t size; /* as stored */
};

struct ktrace_chunk ktrace_chunk_decode(const uint8_t bytes[KTRACE_CHUNK_HEADER], uint64_t offset);
/* Where the payload starts. */
static inline uint64_t ktrace_chunk_data(const struct ktrace_chunk *chunk)
{
	return chunk->offset + KTRACE_CHUNK_HEADER;
}
/* Where the chunk after a payload of so many bytes starts. Of chunks that are not aligned to 8 bytes the next one keeps their
 * offset modulo 8. */
static inline uint64_t ktrace_chunk_next(uint64_t offset, uint64_t size)
{
	return size > UINT64_MAX - offset - 32 ? UINT64_MAX : offset + ((KTRACE_CHUNK_HEADER + size + 7) & ~UINT64_C(7));
}
/* A placeholder that a writer puts where it will write the header of the chunk that it has begun: all ones. */
bool ktrace_chunk_is_placeholder(const struct ktrace_chunk *chunk);
/* Whether its versions are ones that a writer gives. */
/* The major version with which a chunk whose own was lost is written. */
uint16_t ktrace_chunk_first_major(uint32_t tag);
bool ktrace_chunk_versions_are_small(const struct ktrace_chunk *chunk);
/* How much of a payload of so many bytes is whole records, entries or fields. */
uint64_t ktrace_chunk_whole(const struct ktrace_chunk *chunk, uint64_t size, bool is_64);

/* Whether the first word of a stackshot is one of kernel chunked data (xnu kcdata.h). */
bool ktrace_stackshot_begins(uint32_t word);

#endif
