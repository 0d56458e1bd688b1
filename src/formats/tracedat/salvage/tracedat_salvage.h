/* Where a walk goes on behind damage. */
#ifndef TRACEDAT_SALVAGE_H
#define TRACEDAT_SALVAGE_H

#include "formats/tracedat/scan/tracedat_walk.h"

/* ---- tracedat_infer.c ---- */

struct tracedat_inferred {
	unsigned version;
	bool big_endian;
	enum tracedat_codec codec; /* of version 7 */
};
/* What the first section header or event format of a file of `size` bytes tells. False: there is none near its beginning. */
bool tracedat_infer(struct window *window, uint64_t size, struct tracedat_inferred *found);

/* ---- tracedat_section_carve.c: sections whose header is lost ---- */

struct tracedat_headless {
	unsigned id;
	bool compressed;
	uint64_t size; /* of the section */
};
/* Whether the content behind a lost header at `at` is of a known kind and ends where its own counts say. */
bool tracedat_headless(struct tracedat_walk *w, uint64_t at, struct tracedat_headless *h);
/* Adds that section, after a finding. */
void tracedat_headless_adopt(struct tracedat_walk *w, uint64_t at, const struct tracedat_headless *h);
/* Formats whose section has lost its header: where that section begins, in [from, to), if the first format that is left is its
 * first one; `to` where there are none. */
uint64_t tracedat_formats_begin(struct tracedat_walk *w, uint64_t from, uint64_t to);
/* A section for formats in [at, to) whose own header is lost. */
void tracedat_formats_adopt(struct tracedat_walk *w, uint64_t at, uint64_t to);

/* ---- tracedat_format_match.c ---- */

/* Makes w->events.unknown where there is none yet. False: memory is short. */
bool tracedat_unknown_table(struct tracedat_walk *w);
void tracedat_orphans_free(struct tracedat_events *events);
/* Keeps the format of an event, a text of the block; NULL: there are too many. */
struct tracedat_orphan *tracedat_orphan_add(struct tracedat_walk *w, const struct tracedat_block *b,
					    const struct tracedat_event *e);
/* Gives orphans the IDs of records without a format that only they fit, when all records are known. */
void tracedat_orphans_match(struct tracedat_events *events);
/* Whether the event of that name has to leave that ID to its rival. */
bool tracedat_orphan_moved(const struct tracedat_events *events, uint64_t hash, uint32_t id);
/* The orphan that got the ID, or NULL; and its text with it. */
const struct tracedat_orphan *tracedat_orphan_of(const struct tracedat_events *events, uint32_t id);
void tracedat_orphan_text(const struct tracedat_orphan *o, struct bytes *out);
/* The text of a format for an event whose own is lost: common fields and the rest as bytes. */
void tracedat_placeholder_text(const struct tracedat_events *events, uint32_t id, struct bytes *out);

/* ---- tracedat_slide.c ---- */

/* Where bytes were inserted or removed: the place in [low, high) nearest to `at`, at most a page away, where a plausible page
 * begins that another, or nothing, follows. UINT64_MAX: none. */
uint64_t tracedat_slide(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t low, uint64_t high);

#endif
