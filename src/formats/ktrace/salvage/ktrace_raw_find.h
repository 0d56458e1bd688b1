/* The parts of a RAW file by content: none of them has a size field. */
#ifndef KTRACE_RAW_FIND_H
#define KTRACE_RAW_FIND_H

#include "formats/ktrace/salvage/ktrace_form.h"
#include "formats/ktrace/salvage/ktrace_map_find.h"
#include "formats/ktrace/scan/ktrace_input.h"

struct ktrace_raw {
	unsigned version;
	uint32_t count_offset; /* of the thread count */
	uint64_t threads;      /* as stored */
	uint64_t map;	       /* offset of the thread map */
	uint64_t map_end;      /* after the last whole entry that is there */
	uint64_t events;
	struct ktrace_map_gap gap; /* of the thread map */
	uint64_t stated_end;	   /* of the map without a gap */
	bool unpadded;		   /* events follow the map directly, where a page was to be filled up */
	bool early;		   /* events begin before their page */
	bool guessed;		   /* the width of the records is not certain, or would not be of what repair leaves */
	bool flipped;		   /* version 2: the header gives the wrong width */
	uint32_t magic;		   /* which it should be */
	bool magic_lost;
};

/* Version 2 stores the width of its records (in->is_64). Whether they are valid only in the other one. */
struct ktrace_raw2_width {
	bool other;
	uint64_t events; /* offset of the records that show it; 0: the thread map does */
};
struct ktrace_raw2_width ktrace_raw2_width_find(struct ktrace_input *in, const struct ktrace_raw *raw);

/* How many entries the thread map has by its content, when the count is damaged: those before the first empty one, or
 * before the page at which records begin. UINT64_MAX: there is no evidence that the count is wrong. */
uint64_t ktrace_raw_threads_find(struct ktrace_input *in, const struct ktrace_raw *raw);

/* Where the events start: sets raw->events and raw->unpadded. */
void ktrace_raw_events_find(struct ktrace_input *in, struct ktrace_raw *raw);

/* Whether the events begin up to a page behind raw->events: bytes were inserted in front of them. */
bool ktrace_raw_events_are_late(struct ktrace_input *in, const struct ktrace_raw *raw);

/* Whether readers find the same version, width and thread map in the output, whose first records are `kept`. */
bool ktrace_raw_is_unambiguous(struct ktrace_input *in, const struct ktrace_raw *raw, const struct ktrace_head *kept);

#endif
