/* The metadata of version 6 in memory, and where its blocks are. */
#ifndef TRACEDAT_V6_H
#define TRACEDAT_V6_H

#include "formats/tracedat/scan/tracedat_blocks.h"

#define V6_UNKNOWN SIZE_MAX

/* Where the blocks of the metadata begin. */
struct v6_map {
	size_t header, ftrace, systems, kallsyms, printk, cmdlines, cpus, tag;
};

struct v6 {
	struct tracedat_walk *w;
	const uint8_t *data;
	size_t size;
	struct v6_map m;
};

/* Where those bytes stand at or behind `from`. */
size_t tracedat_v6_find(const struct v6 *v, size_t from, const char *what, size_t length);

/* ---- tracedat_v6_salvage.c ---- */

/* Fills in what the map lacks. */
void tracedat_v6_salvage(struct v6 *v);

#endif
