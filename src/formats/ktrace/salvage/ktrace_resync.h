/* Resynchronising to chunks after damage. */
#ifndef KTRACE_RESYNC_H
#define KTRACE_RESYNC_H

#include "formats/ktrace/scan/ktrace_input.h"

/* The next chunk at or after `from`: aligned to 8 bytes, or else at any byte. UINT64_MAX: none. */
uint64_t ktrace_chunk_find_next(struct ktrace_input *in, uint64_t from, uint64_t limit);

/* The first chunk of an unknown kind in [from, until) that does not lie in records and whose size leads to `until`, or to another
 * such chunk in front of it; `until`: there is none. until: where a chunk of a known kind is, or limit. records:
 * records begin at `from`. */
uint64_t ktrace_chunk_find_strange(struct ktrace_input *in, uint64_t from, uint64_t until, uint64_t limit, bool records);
#define KTRACE_STRANGE_CHAIN 16u /* so many in a row at most */

#endif
