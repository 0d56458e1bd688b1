/* Inside of repair: the metadata of the output (tracedat_formats_reread.c), and parts of it (tracedat_put.c). All append to t->out;
 * an `old` is where in the input the bytes stood, or TRACEDAT_NO_OLD. */
#ifndef TRACEDAT_REPAIR_H
#define TRACEDAT_REPAIR_H

#include "formats/tracedat/scan/tracedat_page.h"

/* Makes parts[] the metadata of the output, in every detail, and the event tables those that a reader will have of it. False:
 * memory. */
bool tracedat_metadata_finish(struct tracedat_walk *w);

void tracedat_put_zeros(struct tracedat_walk *w, uint64_t n, unsigned rule, const char *why);
void tracedat_put_padding(struct tracedat_walk *w, uint64_t alignment, uint64_t from, uint64_t to);
size_t tracedat_put_u64(struct tracedat_walk *w, uint64_t old, uint64_t value, unsigned rule, const char *why);
size_t tracedat_put_u32(struct tracedat_walk *w, uint64_t old, uint32_t value, unsigned rule, const char *why);
void tracedat_fill_u64(struct tracedat_walk *w, size_t piece, uint64_t value);
void tracedat_put_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			const char *why);
void tracedat_put_part(struct tracedat_walk *w, const struct tracedat_pieces *p, const struct tracedat_block *b);
bool tracedat_part_unchanged(const struct tracedat_pieces *p, const struct tracedat_block *b);
void tracedat_part_flatten(const struct tracedat_pieces *p, const struct tracedat_block *b, struct bytes *out);
/* The initial block, and what v7 has behind it up to the offset of the options. */
void tracedat_put_prefix(struct tracedat_walk *w);
void tracedat_put_compression(struct tracedat_walk *w);
/* Sections of v7. section: the one that it has in the input; NULL: none, and the part is added. Returns where it is. */
uint64_t tracedat_put_part_section(struct tracedat_walk *w, struct tracedat_section *section, unsigned k);
void tracedat_put_strings(struct tracedat_walk *w, struct tracedat_section *section);
/* The data of all CPUs of a buffer. *at: up to where the input was used. */
void tracedat_put_cpus(struct tracedat_walk *w, struct tracedat_buffer *b, uint64_t *at);
/* The chunks of latency output. */
void tracedat_put_text(struct tracedat_walk *w, struct tracedat_buffer *b);
/* Writes a clock option, where it was lost with damaged options and the buffer still names its clock. */
void tracedat_put_clock(struct tracedat_walk *w);
enum tracemend_status tracedat_output_plan(struct tracedat_walk *w);
void tracedat_compose_v7(struct tracedat_walk *w);
void tracedat_compose_v6(struct tracedat_walk *w);
/* CPUs that the table of version 6 has in the output. */
uint32_t tracedat_table_entries(const struct tracedat_data *data);
/* Whether the file itself names the clock of that buffer: the block behind its table (version 6), or its option. */
bool tracedat_clock_said(const struct tracedat_walk *w, const struct tracedat_buffer *b);
/* The clock that the option of the output names; NULL: there is no such option. */
const char *tracedat_clock_of_output(const struct tracedat_walk *w, size_t *length);
/* Whether the kernel counted another number of events of the CPU, and no damage within its data is the reason. */
bool tracedat_cpu_contradicted(const struct tracedat_cpu *c);
/* Lists pages of CPUs that miss a page, or have one of another CPU. */
void tracedat_displaced_doubt(struct tracedat_walk *w);
/* Composes the output from what the scan noted and hands it to the plan. */
enum tracemend_status tracedat_repair(struct tracedat_walk *w);

/* ---- tracedat_restore.c: what a killed recorder leaves ---- */

/* Whether the name ends in .cpuN; *cpu. */
bool tracedat_cpu_file(const char *name, uint32_t *cpu);
enum tracemend_status tracedat_restore(struct scan *s);

#endif
