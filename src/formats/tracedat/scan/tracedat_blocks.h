/* The parts of a walk over the metadata, in the order of a file.
 *
 * Each function of a block parses data[at, end), which is the block's extent as far as the file tells, reports, notes what the
 * repaired block is made of in w->meta.parts, and takes from it what the pages need. */
#ifndef TRACEDAT_BLOCKS_H
#define TRACEDAT_BLOCKS_H

#include "formats/tracedat/scan/tracedat_walk.h"

/* Reads the initial block (MAN6 "INITIAL FORMAT") and the compression header of v7. False: nothing else can be judged. */
bool tracedat_prefix(struct tracedat_walk *w);
void tracedat_header(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
/* Composes the header's part when page size and long size are settled. */
void tracedat_header_compose(struct tracedat_walk *w);
void tracedat_ftrace(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_systems(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_kallsyms(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_printk(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_cmdlines(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);

void tracedat_v6(struct tracedat_walk *w);
void tracedat_v7(struct tracedat_walk *w);

/* ---- options: tracedat_option_items.c, tracedat_option_payloads.c ---- */

/* Parses items of block[at, end) until DONE. Returns the offset after DONE, or SIZE_MAX when there was none. */
size_t tracedat_options(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section);
/* Judges payloads when all options are known. */
void tracedat_options_judge(struct tracedat_walk *w);

/* ---- sections: tracedat_section_table.c, tracedat_section_find.c, tracedat_section_load.c ---- */

/* Finds all sections, whatever the pointers say. */
void tracedat_sections_find(struct tracedat_walk *w);
struct tracedat_section *tracedat_section_add(struct tracedat_walk *w, uint64_t offset);
bool tracedat_section_header_at(struct tracedat_walk *w, uint64_t at, struct tracedat_section_header *h);
/* Whether a header stands there that may follow another section, or the file ends. */
bool tracedat_section_sane(struct tracedat_walk *w, uint64_t at);
/* Whether an uncompressed body looks like what its id says. size is the declared one. */
bool tracedat_body_fits(struct tracedat_walk *w, unsigned id, uint64_t at, uint64_t size);
/* Whether a compressed metadata body stands there: *real is its size by its own count. */
bool tracedat_frame_fits(struct tracedat_walk *w, uint64_t at, uint64_t size, uint64_t *real);
/* Loads the content of a metadata section into its block. False after a finding. */
bool tracedat_section_load(struct tracedat_walk *w, struct tracedat_section *s);

#endif
