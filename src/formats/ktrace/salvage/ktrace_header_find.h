/* The width and the size of the header of version 3 by the chunks and records after it. */
#ifndef KTRACE_HEADER_FIND_H
#define KTRACE_HEADER_FIND_H

#include "formats/ktrace/decode/ktrace_header.h"
#include "formats/ktrace/scan/ktrace_input.h"

/* Whether records are valid only in the width other than in->is_64. */
struct ktrace_width {
	bool other;
	uint64_t events; /* offset of these records */
};
/* first: offset of the first chunk. */
struct ktrace_width ktrace_header_width_find(struct ktrace_input *in, uint64_t first);

/* Where the header ends. */
struct ktrace_header_end {
	uint64_t chunks;	    /* offset of the first header chunk */
	uint64_t end;		    /* after the last one: the correct size field, plus 16 */
	enum ktrace_rule size_rule; /* KTRACE_RULE_COUNT: the size is fine */
};
/* size: of the header, as stored; first: offset of the first chunk, where it was found. */
struct ktrace_header_end ktrace_header_end_find(struct ktrace_input *in, uint64_t size, uint64_t first);

#endif
