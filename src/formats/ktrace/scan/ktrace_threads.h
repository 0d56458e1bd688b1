/* Thread maps, of both versions. */
#ifndef KTRACE_THREADS_H
#define KTRACE_THREADS_H

#include "formats/ktrace/scan/ktrace_walk.h"

/* Entries of a thread map at [offset, offset + count * entry size). */
void ktrace_threads_check(struct ktrace_walk *w, uint64_t offset, uint64_t count, bool filler_is_normal);

#endif
