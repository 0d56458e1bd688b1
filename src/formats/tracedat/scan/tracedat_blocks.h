/* The walk over the metadata, in the order of a file.
 *
 * Each function of a block parses data[at, end), the extent of the block as the file states it. It reports, composes the
 * repaired block in w->meta.parts, and fills the tables that the pages need. */
#ifndef TRACEDAT_BLOCKS_H
#define TRACEDAT_BLOCKS_H

#include "formats/tracedat/scan/tracedat_walk.h"

/* Reads the initial block (MAN6 "INITIAL FORMAT") and the compression header of v7. False: nothing else can be checked. */
bool tracedat_prefix_read(struct tracedat_walk *w);
void tracedat_header_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
/* Composes the header's part when page size and long size are final. */
void tracedat_header_compose(struct tracedat_walk *w);
void tracedat_ftrace_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_systems_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_kallsyms_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_printk_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_cmdlines_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);

void tracedat_v6_read(struct tracedat_walk *w);
void tracedat_v7_read(struct tracedat_walk *w);
/* Reads the options of buffers, when all sections are known. */
void tracedat_v7_buffers(struct tracedat_walk *w);

/* ---- options: tracedat_option_items.c, tracedat_option_payloads.c ---- */

/* Parses items of block[at, end) until DONE. Returns the offset after DONE, or SIZE_MAX when there was none. */
size_t tracedat_options_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section);
/* Lists an option as doubtful. */
void tracedat_option_doubt(struct tracedat_walk *w, const struct tracedat_option *o);
/* Lists the last option as doubtful if it ends at `at`: something is damaged there, and may begin inside of it. */
void tracedat_option_suspect(struct tracedat_walk *w, const struct tracedat_block *b, size_t at);
/* Checks payloads when all options are known. */
void tracedat_options_check(struct tracedat_walk *w);
/* Notes the headings of the statistics, before the options are checked. */
void tracedat_headings_read(struct tracedat_walk *w);

/* ---- sections: tracedat_section_table.c, tracedat_section_find.c, tracedat_section_load.c ---- */

/* Finds all sections, also those that no option names. */
void tracedat_sections_find(struct tracedat_walk *w);
struct tracedat_section *tracedat_section_add(struct tracedat_walk *w, uint64_t offset);
bool tracedat_section_header_at(struct tracedat_walk *w, uint64_t at, struct tracedat_section_header *h);
/* Whether a header stands there that may follow another section, or the file ends. */
bool tracedat_section_sane(struct tracedat_walk *w, uint64_t at);
/* Whether an uncompressed body begins as one of that id does. size is the declared one. */
bool tracedat_body_fits(struct tracedat_walk *w, unsigned id, uint64_t at, uint64_t size);
/* Whether a body of that size ends as options do. */
bool tracedat_options_done(struct tracedat_walk *w, uint64_t at, uint64_t size);
/* Whether a compressed metadata body stands there: *real is its size by its own count. */
bool tracedat_frame_fits(struct tracedat_walk *w, uint64_t at, uint64_t size, uint64_t *real);
/* Loads the content of a metadata section into its block. False after a finding. */
bool tracedat_section_load(struct tracedat_walk *w, struct tracedat_section *section);

#endif
