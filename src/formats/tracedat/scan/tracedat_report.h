/* Findings of trace.dat. Of each kind there are three macros: _finding makes a finding, _report makes it with its message in
 * one statement, and _milder makes it milder than the row of its rule. The macros number the places that report
 * (core/place.h). */
#ifndef TRACEDAT_REPORT_H
#define TRACEDAT_REPORT_H

#include <stdarg.h>

#include "core/finding.h"

struct tracedat_walk;
struct tracedat_block;

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

/* Whether `follows`, what would be reported here, comes from the cut that was reported: counts it there, w->dir.truncated, which is
 * not NULL then. */
bool tracedat_cut_explains(struct tracedat_walk *w, bool follows);
/* The same for what reaches to `end` of the block: its last bytes, where the file ends inside of the metadata of version 6. */
bool tracedat_tail_explained(struct tracedat_walk *w, const struct tracedat_block *b, size_t end);

#endif
