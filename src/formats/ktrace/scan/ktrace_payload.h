/* What is inside of chunks. These checks report and never edit, since the manual page leaves payloads to their writers; but for the
 * prefix of a CPU map, without which readers give up. */
#ifndef KTRACE_PAYLOAD_H
#define KTRACE_PAYLOAD_H

#include "formats/ktrace/scan/ktrace_walk.h"

/* The version of a chunk of any kind. False: readers do not know it. */
bool ktrace_version_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk);
/* size: what is kept of the data. depth: of sub-chunks. */
void ktrace_payload_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size, unsigned depth);

#endif
