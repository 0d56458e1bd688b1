/* What counts as a chunk where one should be. limit: end of the bytes in which chunks may lie. */
#ifndef KTRACE_CHUNK_H
#define KTRACE_CHUNK_H

#include "formats/ktrace/scan/ktrace_input.h"

/* Whether a chunk header that a correct writer could have written is at offset: a known or plausible tag, small versions, a size
 * within limit, and the signature of its payload. */
bool ktrace_chunk_plausible(struct source *source, uint64_t offset, uint64_t limit, bool is_64);
/* Whether a plausible chunk is at offset that is of a known kind, or chained. */
bool ktrace_chunk_is_confirmed(struct source *source, uint64_t offset, uint64_t limit, bool is_64);
/* Whether a chunk is accepted at offset, where one must be: one of a known kind, or one of an unknown kind whose size leads to a
 * known one. What repair drops between chunks never changes the answer for those that it keeps: a kept chunk is followed by a known
 * one, by an accepted one, or by the end. */
bool ktrace_chunk_accepted(struct source *source, uint64_t offset, uint64_t limit, bool is_64);
/* Whether an unknown chunk is one of events that lost its tag, or its tag and version: it holds records, and no known writer has
 * such a version, or their times follow each other. */
bool ktrace_chunk_lost_tag(struct source *source, const struct ktrace_chunk *chunk, bool is_64);
/* Whether an unknown chunk has nothing but records, too few to tell that it is one of events. */
bool ktrace_chunk_may_be_events(struct source *source, const struct ktrace_chunk *chunk, bool is_64);
/* Whether the chunk at offset is chained: followed by the limit or by an accepted one. */
bool ktrace_chunk_is_chained(struct source *source, uint64_t offset, uint64_t limit, bool is_64);

#endif
