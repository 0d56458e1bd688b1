/* The metadata of version 6 in memory, and where its blocks are. */
#ifndef TRACEDAT_V6_H
#define TRACEDAT_V6_H

#include "formats/tracedat/scan/tracedat_blocks.h"

#define TRACEDAT_V6_UNKNOWN SIZE_MAX

/* Where the blocks of the metadata begin. */
struct tracedat_v6_map {
	size_t header, ftrace, systems, kallsyms, printk, cmdlines, cpus, tag;
};

struct tracedat_v6 {
	struct tracedat_walk *w;
	const uint8_t *data;
	size_t size;
	struct tracedat_v6_map m;
};

/* Where those bytes stand at or behind `from`. */
size_t tracedat_v6_find(const struct tracedat_v6 *v, size_t from, const char *what, size_t length);

/* The kind of a data tag: 1 options, 2 flyrecord, 3 latency; 0: none of these. */
static inline unsigned tracedat_v6_tag(const uint8_t *p)
{
	return !memcmp(p, "options", 7) ? 1 : !memcmp(p, "flyrecord", 9) ? 2 : !memcmp(p, "latency", 7) ? 3 : 0;
}

/* ---- tracedat_v6_tables.c ---- */

/* Adds a buffer whose tag is at `tag`. */
struct tracedat_buffer *tracedat_v6_buffer_add(struct tracedat_walk *w, uint64_t tag, const char *name);
/* The number of entries of the first table, which begins at `table`. */
uint32_t tracedat_v6_cpu_count(struct tracedat_walk *w, uint64_t table);
/* Reads the table of a buffer at `at`, and the clock behind it. */
void tracedat_v6_table_read(struct tracedat_walk *w, unsigned index, uint64_t at, uint32_t count);
/* The buffers that BUFFER options name. */
void tracedat_v6_instances(struct tracedat_walk *w, uint32_t count);
/* Tables of instances whose options are lost. */
void tracedat_v6_unnamed(struct tracedat_walk *w, uint32_t count);
/* Compares the clock behind a table with the options. */
void tracedat_v6_clock_check(struct tracedat_walk *w, struct tracedat_buffer *b);

/* ---- tracedat_v6_salvage.c ---- */

/* A table of CPUs without its tag, at or behind `from`: by offsets and sizes of pages that follow each other. */
size_t tracedat_v6_table_find(const struct tracedat_v6 *v, size_t from);

/* Finds the blocks that the map does not have yet. */
void tracedat_v6_salvage(struct tracedat_v6 *v);

#endif
