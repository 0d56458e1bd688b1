/* What counts as a chunk where one should be. limit: end of the bytes in which chunks may lie. */
#ifndef KTRACE_CHUNK_H
#define KTRACE_CHUNK_H

#include "formats/ktrace/scan/ktrace_input.h"

/* Whether a chunk header that a sound writer could have put stands at offset: known tag or plausible one, versions, a size
 * within limit, and the signature of its payload. */
bool ktrace_chunk_plausible(struct source *source, uint64_t offset, uint64_t limit, bool is_64);
/* Whether a plausible chunk stands at offset that is of a known kind, or lands. */
bool ktrace_chunk_stands(struct source *source, uint64_t offset, uint64_t limit, bool is_64);
/* Whether what stands at offset counts as a chunk where one must be: of a known kind, or of one that nobody knows, which must
 * be accepted when its size leads on. What repair leaves out in between never changes the answer for what it keeps: a kept
 * chunk is followed by a known one, by an accepted one, or by the end. */
bool ktrace_chunk_accepted(struct source *source, uint64_t offset, uint64_t limit, bool is_64);
/* Whether the chunk at offset is followed by the limit or by an accepted one. */
bool ktrace_chunk_lands(struct source *source, uint64_t offset, uint64_t limit, bool is_64);

#endif
