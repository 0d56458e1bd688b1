/* What repair has so far: the composed output, the reasons of dropped bytes, and the losses. */
#ifndef TRACEDAT_OUTPUT_H
#define TRACEDAT_OUTPUT_H

#include "formats/tracedat/repair/tracedat_pieces.h"

struct tracedat_drop {
	const struct source *source;
	uint64_t from, length;
	unsigned rule;
	const char *why;
	bool remade; /* literal bytes stand for its content: says so whatever is dropped around it */
};

/* What repair writes. */
struct tracedat_output {
	struct tracedat_pieces pieces;
	struct tracedat_drop *drops;
	size_t drop_count, drop_capacity;
	uint64_t kept, lost;
	enum tracemend_exactness lost_is;
	bool lost_other; /* texts, formats and the like */
};

#endif
