/* A thread map into which bytes were inserted, or from which bytes were removed: the entries after that are out of step. */
#ifndef KTRACE_MAP_FIND_H
#define KTRACE_MAP_FIND_H

#include "formats/ktrace/scan/ktrace_input.h"

struct ktrace_map_gap {
	uint64_t from, until; /* bytes that are not whole entries; empty: none are */
	uint64_t end;	      /* of the last entry after them */
};

/* The gap of a map of so many entries at `map`. limit: where it must end. */
struct ktrace_map_gap ktrace_map_gap_find(struct ktrace_input *in, uint64_t map, uint64_t threads, uint64_t limit);

/* How many entries from `at` on, up to `most`, are threads with names that are padded with zeros. */
unsigned ktrace_map_run(struct ktrace_input *in, uint64_t at, uint64_t limit, unsigned most);

/* Where the entries begin that are left of a map at the beginning of the file, and where they end, in front of `limit`: both the
 * same where there are none. */
uint64_t ktrace_map_rest(struct ktrace_input *in, uint64_t limit, uint64_t *end);

/* Whether the map may go on with the entry at `at`: one as kernels write it, a filler, or one in front of such. */
bool ktrace_map_goes_on(struct ktrace_input *in, uint64_t at, uint64_t limit);

#endif
