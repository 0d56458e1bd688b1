/* Findings of trace.dat. Of each kind there are three macros: _finding makes a finding, _report makes it with its message in
 * one statement, and _milder makes it milder than the row of its rule. The macros number the places that report
 * (core/place.h). */
#ifndef TRACEDAT_REPORT_H
#define TRACEDAT_REPORT_H

#include <stdarg.h>

#include "core/finding.h"

struct tracedat_walk;
struct tracedat_block;
struct tracedat_buffer;
struct tracedat_section;

/* In the file, clamped to it. */
#define tracedat_finding(w, rule, ...) ((void)PLACE(rule), tracedat_finding_at((w), (rule), __VA_ARGS__))
struct finding *tracedat_finding_at(struct tracedat_walk *w, unsigned rule, uint64_t offset, uint64_t length);
#define tracedat_report(w, rule, ...) ((void)PLACE(rule), tracedat_report_at((w), (rule), __VA_ARGS__))
struct finding *tracedat_report_at(struct tracedat_walk *w, unsigned rule, uint64_t offset, uint64_t length, const char *format,
				   ...) PRINTF_LIKE(5, 6);
#define tracedat_milder(w, rule, ...) ((void)PLACE(rule), tracedat_milder_at((w), (rule), __VA_ARGS__))
struct finding *tracedat_milder_at(struct tracedat_walk *w, unsigned rule, enum tracemend_severity severity, uint64_t offset,
				   uint64_t length);

/* At block[at, at + length): in the file where the block is plain, else at its section. Sets the path. */
#define tracedat_block_finding(w, rule, ...) ((void)PLACE(rule), tracedat_block_finding_at((w), (rule), __VA_ARGS__))
struct finding *tracedat_block_finding_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_block *b, size_t at,
					  size_t length);
#define tracedat_block_report(w, rule, ...) ((void)PLACE(rule), tracedat_block_report_at((w), (rule), __VA_ARGS__))
struct finding *tracedat_block_report_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_block *b, size_t at,
					 size_t length, const char *format, ...) PRINTF_LIKE(6, 7);
#define tracedat_block_milder(w, rule, ...) ((void)PLACE(rule), tracedat_block_milder_at((w), (rule), __VA_ARGS__))
struct finding *tracedat_block_milder_at(struct tracedat_walk *w, unsigned rule, enum tracemend_severity severity,
					 const struct tracedat_block *b, size_t at, size_t length);

/* What follows from another finding, `cause`, and would be reported as `rule`: counts it there. */
void tracedat_follows(struct tracedat_walk *w, unsigned rule, struct finding *cause);
/* Whether any of `count` rules was reported, or would have been but for another finding that explains it. TRACEDAT_ANY(w, RULE,
 * ...) counts its arguments. */
bool tracedat_any(const struct tracedat_walk *w, const unsigned *of, size_t count);
#define TRACEDAT_ANY(w, ...) \
	tracedat_any((w), (const unsigned[]){ __VA_ARGS__ }, sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

/* Whether `follows`, what would be reported here, comes from the cut that was reported: counts it there, w->dir.truncated, which is
 * not NULL then. */
bool tracedat_cut_explains(struct tracedat_walk *w, bool follows);
/* The same for what reaches to `end` of the block: its last bytes, where the file ends inside of the metadata of version 6. */
bool tracedat_tail_explained(struct tracedat_walk *w, const struct tracedat_block *b, size_t end);
/* Whether something is `by` bytes (modulo 2^64) behind where its offset says for a reason that was reported: sections in front of
 * `upto` (NULL: there are none) are longer or shorter than stated, or w->dir.shift. Counts it there instead of reporting the rule.
 */
bool tracedat_shift_explains(struct tracedat_walk *w, unsigned rule, const struct tracedat_section *upto, uint64_t by);
/* Whether torn text of the block is explained by other torn text of it, which a compressed one repeats: counts it there. */
bool tracedat_garbled_explains(struct tracedat_walk *w, const struct tracedat_block *b);
/* fd reports torn text of the block. */
void tracedat_garbled_note(struct tracedat_walk *w, const struct tracedat_block *b, struct finding *fd);
/* Whether data of the buffer is `by` bytes (modulo 2^64) behind where its table says for a reason that was reported: counts it
 * there instead of reporting the rule. */
bool tracedat_range_explained(struct tracedat_walk *w, unsigned rule, const struct tracedat_buffer *b, uint64_t by);
/* fd tells of what may have moved others by so much. */
void tracedat_shift_note(struct tracedat_walk *w, struct finding *fd, uint64_t by);
/* Whether that a part of the block is `by` bytes longer than stated was reported of its section. */
bool tracedat_size_explained(struct tracedat_walk *w, unsigned rule, const struct tracedat_block *b, uint64_t by);

#endif
