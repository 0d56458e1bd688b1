/* How far a chunk reaches. */
#ifndef KTRACE_EXTENT_H
#define KTRACE_EXTENT_H

#include "formats/ktrace/scan/ktrace_input.h"

/* The extent of a chunk, which is known before its payload is read. */
struct ktrace_extent {
	uint64_t size;	       /* bytes of payload that belong to it */
	uint64_t next;	       /* where the next chunk starts */
	enum ktrace_rule rule; /* what is wrong with the size; KTRACE_RULE_COUNT: nothing */
	bool guessed;	       /* the end of the payload is known to within its padding only */
	bool retagged;	 /* the tag and version of the chunk are not the stored ones (a placeholder, or hit), but those that repair
			    writes */
	uint32_t stored; /* the stored tag then */
};

/* Whether it is an events chunk, or the placeholder of one. */
bool ktrace_chunk_holds_events(struct source *source, const struct ktrace_chunk *chunk);
/* Whether entries of a thread map follow the placeholder of a chunk. */
bool ktrace_chunk_holds_threads(struct ktrace_input *in, const struct ktrace_chunk *chunk);
/* Whether a chunk of an unknown kind has the data of a thread map, or of a CPU map with a count, but for an entry that may have
 * been hit. A map of few threads is told only where the version shows that the header was hit. */
bool ktrace_chunk_was_threads(struct ktrace_input *in, const struct ktrace_chunk *chunk);
/* Whether so many entries of a CPU map, each of so many bytes, are for the CPUs 0, 1, 2 and so on, but for one of several. */
bool ktrace_cpus_are_sane(struct ktrace_input *in, uint64_t at, uint64_t count, uint32_t entry);
bool ktrace_chunk_was_cpus(struct ktrace_input *in, const struct ktrace_chunk *chunk);
/* How far a chunk reaches, by its size or, where that leads nowhere, by what follows. */
struct ktrace_extent ktrace_chunk_extent(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit);

#endif
