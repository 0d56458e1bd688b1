/* What the header of version 3 should say, by the chunks and records behind it. */
#ifndef KTRACE_HEADER_FIND_H
#define KTRACE_HEADER_FIND_H

#include "formats/ktrace/decode/ktrace_header.h"
#include "formats/ktrace/scan/ktrace_input.h"

/* Where records make sense in the other width only than in->is_64 says. */
struct ktrace_width {
	bool other;
	uint64_t events; /* the records that tell it */
};
struct ktrace_width ktrace_header_width_find(struct ktrace_input *in);

/* Where the header ends. */
struct ktrace_header_end {
	uint64_t chunks;	    /* offset of the first header chunk */
	uint64_t end;		    /* behind the last one; what the size field should say, plus 16 */
	enum ktrace_rule size_rule; /* KTRACE_RULE_COUNT: the size is fine */
};
/* size: as the header says. */
struct ktrace_header_end ktrace_header_end_find(struct ktrace_input *in, uint64_t size);

#endif
