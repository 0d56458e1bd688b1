/* Files of pages that a killed recorder leaves, and whether they belong together. */
#ifndef TRACEDAT_RESTORE_H
#define TRACEDAT_RESTORE_H

#include "formats/tracedat/repair/tracedat_repair.h"
#include "formats/tracedat/scan/tracedat_walk.h"

struct tracedat_piece_file {
	struct source *source;
	const char *name;
	size_t stem; /* length of the name without .cpuN */
	uint32_t cpu;
	unsigned buffer;
	bool named;   /* its name says which CPU */
	bool damaged; /* something of it was dropped or changed */
};

struct tracedat_restore {
	struct scan *scan;
	struct tracedat_piece_file *files; /* in the order of their names and CPUs */
	size_t count;
	struct source *main, *metadata; /* main: the trace.dat beside them */
	struct tracedat_walk *w;	/* over the metadata */
	bool cut;
	bool clock_known; /* the metadata names it */
};

bool tracedat_restore_collect(struct tracedat_restore *r, struct bundle *b);

/* ---- tracedat_restore_fit.c ---- */

/* Why the files are not one recording: those of several, or a trace.dat beside them with events of its own. NULL: they are. */
const char *tracedat_restore_several(const struct tracedat_restore *r, struct bundle *b);
/* Which CPUs have no file although one with a higher number has, and which files are empty: words for a message, or "". */
void tracedat_restore_gaps(const struct tracedat_restore *r, char *text, size_t size);
/* Counts the records of all pages without any metadata, and gives them to the sink of the scan. */
uint64_t tracedat_restore_count(const struct tracedat_restore *r, struct tracedat_walk *w);
/* Whether the metadata fits the pages, which were walked with it; `bad` of their records are too short for their formats. Else says
 * why. */
bool tracedat_restore_fits(struct tracedat_restore *r, uint64_t bad);
/* Says what stopped the repair. */
void tracedat_restore_say(struct tracedat_restore *r, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
