/* Which form a file has: version 3 or one of the RAW ones, by its magic or, where that is lost, by what follows; and what RAW
 * files do not store. */
#ifndef KTRACE_FORM_H
#define KTRACE_FORM_H

#include "core/window.h"
#include "formats/ktrace/decode/ktrace_record.h"

/* First records that repair keeps, of the first stretch with 64 bytes of them: by them the result's width is told. */
struct ktrace_head {
	uint8_t bytes[KTRACE_HEAD];
	size_t length;
	bool whole;
};

struct ktrace_form {
	uint32_t magic; /* that it has or had; of RAW version 0 its first word, since that has none */
	bool raw;
	unsigned bits; /* how sure that is, as a bid says it; 0: nothing tells */
};

/* word: the first one of the file. */
struct ktrace_form ktrace_form_find(struct window *window, uint32_t word);

/* What a file is as a RAW one of version 0, which has no magic: its first word is the number of threads. */
struct ktrace_raw0 {
	uint32_t entry; /* bytes of an entry of the thread map; 0: it is none */
	uint32_t threads;
	bool counted; /* not as stored: so many entries stand before the records */
};
/* stored: that word. kept: asks how the file that repair leaves would be taken, of whose records these are the first. */
struct ktrace_raw0 ktrace_raw0_find(struct window *window, uint32_t stored, const struct ktrace_head *kept);

/* What a file of version 1 does not store: where its thread map begins, and its width. */
struct ktrace_raw1 {
	uint8_t map;
	bool is_64, certain;
};
/* kept: as for version 0. */
struct ktrace_raw1 ktrace_raw1_find(struct window *window, uint64_t threads, const struct ktrace_head *kept);

/* Whether a CPU map, as version 1 may have one behind its thread map, stands at `at`. */
bool ktrace_raw1_has_cpu_map(struct window *window, uint64_t at);

/* ---- thread maps of RAW files, which nothing but their content tells ---- */

/* Entries of a thread map that tell how wide they are. */
#define KTRACE_MAP_SURE 8u

/* The first whole entry behind zeros that a hole may have left; `at` where there are none, or more. */
uint64_t ktrace_map_behind_hole(struct window *window, uint64_t at, uint32_t entry);
/* Whether the first of so many entries at `map`, or behind a hole there, look like ones of that width. */
bool ktrace_map_is_of(struct window *window, uint64_t map, uint64_t threads, uint32_t entry);

#endif
