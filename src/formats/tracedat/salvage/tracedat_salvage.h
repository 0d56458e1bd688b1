/* Salvage: how the walk continues behind damage. */
#ifndef TRACEDAT_SALVAGE_H
#define TRACEDAT_SALVAGE_H

#include "formats/tracedat/scan/tracedat_walk.h"

/* ---- tracedat_infer.c ---- */

struct tracedat_inferred {
	unsigned version;
	bool big_endian;
	enum tracedat_codec codec; /* of version 7 */
};
/* Infers from the first section header or event format of a file of `size` bytes. False: there is none near its beginning. */
bool tracedat_infer(struct window *window, uint64_t size, struct tracedat_inferred *found);

/* ---- tracedat_foreign_block.c ---- */

/* The least and the usual size of the blocks of a disk. */
#define TRACEDAT_SECTOR_OF_DISK 512u
#define TRACEDAT_BLOCK_OF_DISK 4096u

/* Where the block of a disk ends with which another trace.dat begins at `at`, and breaks off; 0: a whole one begins there, or one
 * that the end of the file cuts. */
uint64_t tracedat_foreign_block(struct tracedat_walk *w, uint64_t at);
/* Version 7: lists sections that may stand in a block of another file. */
void tracedat_foreign_doubt(struct tracedat_walk *w);

/* ---- tracedat_section_carve.c: sections whose header is lost ---- */

struct tracedat_carved {
	unsigned id;
	bool compressed;
	uint64_t size; /* of the section */
};
/* Whether content of a known kind follows a lost header at `at`, and ends where its own counts say (carving). */
bool tracedat_section_carve(struct tracedat_walk *w, uint64_t at, struct tracedat_carved *h);
/* Reports and adds that section. */
void tracedat_section_carved_add(struct tracedat_walk *w, uint64_t at, const struct tracedat_carved *h);
/* Searches [from, to) for event formats whose section header is lost. Returns where that section begins, assuming that the
 * first format found is its first; `to`: there are none. */
uint64_t tracedat_formats_begin(struct tracedat_walk *w, uint64_t from, uint64_t to);
/* Adds a section for formats in [at, to) whose section header is lost. */
void tracedat_formats_section_add(struct tracedat_walk *w, uint64_t at, uint64_t to);

/* ---- tracedat_format_match.c ---- */

/* Allocates w->events.unknown on first use. False: out of memory. */
bool tracedat_unknown_table(struct tracedat_walk *w);
void tracedat_unassigned_free(struct tracedat_events *events);
/* Keeps the format of an event, a text of the block, for a later assignment; NULL: there are too many. */
struct tracedat_unassigned *tracedat_unassigned_add(struct tracedat_walk *w, const struct tracedat_block *b,
						    const struct tracedat_event *e);
/* Assigns formats to IDs of records without a format, where only one assignment fits. Called when all records are known. */
void tracedat_unassigned_match(struct tracedat_events *events);
/* Whether the format o and its rival have one ID, and the records do not show whose it is: the rival keeps it. */
bool tracedat_unassigned_disputed(const struct tracedat_events *events, const struct tracedat_unassigned *o);
/* Whether the event of that name has to leave that ID to its rival. */
bool tracedat_unassigned_moved(const struct tracedat_events *events, uint64_t hash, uint32_t id);
/* The format that got the ID, or NULL; and its text with that ID. */
const struct tracedat_unassigned *tracedat_unassigned_of(const struct tracedat_events *events, uint32_t id);
void tracedat_unassigned_text(const struct tracedat_unassigned *o, struct bytes *out);
/* The system of formats that repair makes up. */
#define TRACEDAT_MADE_UP "unknown_events"

/* A placeholder format for an event whose format is lost: common fields, and the rest as bytes. */
void tracedat_placeholder_text(const struct tracedat_events *events, uint32_t id, struct bytes *out);

/* ---- tracedat_option_identify.c, tracedat_table_correct.c ---- */

/* Gives options whose content contradicts their id the id that fits it. */
void tracedat_options_identify(struct tracedat_walk *w);
/* Corrects the one entry of a CPU table that contradicts all others. Page sizes are known. */
void tracedat_tables_correct(struct tracedat_walk *w);
/* Version 7: corrects the one CPU of a table that contradicts the statistics of all CPUs of the buffer. Options are read, but the
 * CPU count. */
void tracedat_table_cpus_correct(struct tracedat_walk *w);

/* ---- tracedat_metadata_doubt.c ---- */

/* Whether a Linux kernel has a system of that name. */
bool tracedat_system_known(const char *name);
/* Lists texts, and events with their formats, that may have been hit without a sign of it. Data is placed. */
void tracedat_metadata_doubt(struct tracedat_walk *w);

/* ---- tracedat_gap_doubt.c ---- */

/* Which pages beside a leap of time are listed. */
enum tracedat_leaps {
	TRACEDAT_LEAPS_FRONT, /* those in front of it */
	TRACEDAT_LEAPS_BOTH,  /* those behind it as well */
	TRACEDAT_LEAPS_TAILS, /* those in front of it that have more than zeros behind their data */
};
/* Lists pages of a CPU beside which time leaps, or whose records do not lead to their ends. Returns how many there are. The data is
 * not compressed. */
unsigned tracedat_gaps_doubt(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c,
			     enum tracedat_leaps which);

/* The least time by which a page of the CPU begins before the end of the one in front of it; UINT64_MAX: none does. */
uint64_t tracedat_gaps_overlap(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c);
/* Lists the pages of a CPU behind which time leaps by so much at least. */
void tracedat_gaps_doubt_over(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c,
			      uint64_t least);

/* ---- tracedat_latency_doubt.c ---- */

/* Lists lines of latency output in [from, to) that the kernel does not write, and those beside them. A line was hit. */
void tracedat_latency_doubt(struct tracedat_walk *w, uint64_t from, uint64_t to);

/* ---- tracedat_page_copy.c ---- */

/* Reports and lists pages of a CPU that are those of another. The data is walked, and compared with the statistics. */
void tracedat_pages_compare(struct tracedat_walk *w);

/* ---- tracedat_page_shift.c ---- */

/* After inserted or removed pages: moves the ranges of CPUs that follow each other to where time steps back. */
void tracedat_ranges_step(struct tracedat_walk *w, struct tracedat_buffer *b);
/* The same for the chunks of a CPU. */
uint64_t tracedat_chunks_shifted(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t low, uint64_t high);
/* After inserted or removed bytes: the offset in [low, high) nearest to `at`, less than a page away, at which a plausible
 * page begins that another page or nothing follows; of less than two pages that a CPU has from there on, anything may follow.
 * UINT64_MAX: there is none. */
uint64_t tracedat_page_shifted(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t pages, uint64_t low,
			       uint64_t high);

#endif
