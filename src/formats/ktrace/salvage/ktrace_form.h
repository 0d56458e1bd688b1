/* Which form a file has: version 3 or one of the RAW ones, by its magic or, where that is lost, by what follows; and what RAW
 * files do not store. */
#ifndef KTRACE_FORM_H
#define KTRACE_FORM_H

#include "core/window.h"
#include "formats/ktrace/salvage/ktrace_raw_rest.h"

/* The first records that repair keeps, of the first stretch with 64 bytes of them: readers find the width of the output by them. */
struct ktrace_head {
	uint8_t bytes[KTRACE_HEAD];
	size_t length;
	bool whole;
	bool moved;   /* RAW version 0: the thread map of the output is not behind a count in the input ... */
	uint64_t map; /* ... but at this offset */
	uint64_t end; /* of ktrace_raw0_find(): bytes of the thread map in front of these records */
};

struct ktrace_form {
	uint32_t magic; /* which it has, or had before damage; of RAW version 0, which has none, the first word */
	bool raw;
	unsigned bits;		     /* of evidence, as in a bid; 0: none */
	bool lost;		     /* its beginning; what is left of it are records */
	struct ktrace_raw_rest rest; /* these */
};

/* word: the first one of the file. */
struct ktrace_form ktrace_form_find(struct window *window, uint32_t word);

/* A file as RAW version 0, which has no magic: its first word is the number of threads. */
struct ktrace_raw0 {
	uint32_t entry; /* bytes of an entry of the thread map; 0: it is not such a file */
	uint32_t threads;
	bool counted; /* not as stored: so many entries stand before the records */
};
/* stored: that word. kept: not NULL: as readers will see the output, whose first records these are. */
struct ktrace_raw0 ktrace_raw0_find(struct window *window, uint32_t stored, const struct ktrace_head *kept);

/* Whether it is one beyond doubt: its count, all entries of its thread map that are looked at, and the eight
 * records behind it are sound. */
bool ktrace_raw0_is_sure(struct window *window, uint32_t stored);

/* Whether the thread map of version 2 is beside its place: bytes were inserted in the header in front of it, or removed.
 * threads: as the header says. */
bool ktrace_raw2_is_shifted(struct window *window, uint64_t threads);

/* What a file of version 1 does not store: where its thread map begins, and its width. */
struct ktrace_raw1 {
	uint8_t map;
	bool is_64, certain;
	bool found; /* a thread map is there */
};
/* kept: as above. */
struct ktrace_raw1 ktrace_raw1_find(struct window *window, uint64_t threads, const struct ktrace_head *kept);

/* Whether a CPU map is at `at`; version 1 may have one after its thread map. */
bool ktrace_raw1_has_cpu_map(struct window *window, uint64_t at);

/* ---- thread maps of RAW files, by their content ---- */

/* Entries of a thread map by which their width is tested. */
#define KTRACE_MAP_SAMPLE 8u

/* The first whole entry after zeros that a hole may have left; `at` where there are no zeros, or too many. */
uint64_t ktrace_map_after_hole(struct window *window, uint64_t at, uint32_t entry);
/* Whether the first of so many entries at `map`, or after a hole there, are plausible ones of that width. */
bool ktrace_map_is_of(struct window *window, uint64_t map, uint64_t threads, uint32_t entry);

#endif
