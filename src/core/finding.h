/* Findings: what is wrong with a capture. Formats report them with the functions below. Text is formatted only for findings that
 * are kept, and a record without defects costs nothing. */
#ifndef CORE_FINDING_H
#define CORE_FINDING_H

#include <stdarg.h>

#include "core/bundle.h"
#include "core/place.h"

struct finding; /* a handle; valid as long as the findings */
struct findings;

/* table, count: the rules of the format. options->max_findings findings are kept for each rule and severity, 0: all (up to
 * FINDINGS_KEPT_MAX); options may be NULL. NULL: out of memory. */
struct findings *findings_new(const struct tracemend_rule *table, size_t count, const struct tracemend_options *options);
void findings_free(struct findings *f);

/* Reports rule (an index into the table) at source[offset, offset + length), which is cut at the end of the source; the severity
 * is that of the row. Never NULL: a finding that is not kept has a handle, too, and the functions below do nothing with it but
 * count. s may be NULL where the finding is about no file. */
#define finding_new(f, rule, ...) ((void)PLACE(rule), finding_new_at((f), (rule), __VA_ARGS__))
struct finding *finding_new_at(struct findings *f, unsigned rule, const struct source *s, uint64_t offset, uint64_t length);
/* The same, with the message as finding_say() takes it. */
#define finding_report(f, rule, ...) ((void)PLACE(rule), finding_report_at((f), (rule), __VA_ARGS__))
struct finding *finding_report_at(struct findings *f, unsigned rule, const struct source *s, uint64_t offset, uint64_t length,
				  const char *format, ...) PRINTF_LIKE(6, 7);
/* As finding_new(), with a severity below that of the row, for rules whose text says when. A higher one is lowered to the row's. */
#define finding_milder(f, rule, ...) ((void)PLACE(rule), finding_milder_at((f), (rule), __VA_ARGS__))
struct finding *finding_milder_at(struct findings *f, unsigned rule, enum tracemend_severity severity, const struct source *s,
				  uint64_t offset, uint64_t length);
/* Sets the message: actual and expected value. The message is escaped here, but bytes of the input go through text_quote() first.
 */
void finding_say(struct finding *fd, const char *format, ...) PRINTF_LIKE(2, 3);
void finding_say_list(struct finding *fd, const char *format, va_list arguments) PRINTF_LIKE(2, 0);
/* Sets the path of the place, from the outermost part to the field: "provider 3 > record 1042 (event) > name". */
void finding_path(struct finding *fd, const char *format, ...) PRINTF_LIKE(2, 3);
/* Sets the bytes to underline in the hex rows, and their description: "name ref = 0x0123; highest registered is 0x00f1". */
void finding_field(struct finding *fd, uint64_t offset, uint32_t length, const char *format, ...) PRINTF_LIKE(4, 5);
/* Sets the length, where it is known only after the finding was made. */
void finding_extend(struct finding *fd, uint64_t length);
/* Counts n further defects that follow from this one and are not reported themselves. */
void finding_explains(struct finding *fd, uint64_t n);
/* Whether the text of this finding is kept. Guards work that is needed for its message only. */
bool finding_kept(const struct finding *fd);

/* Errors by the severity of the rows (or the lower one of finding_milder()), before re-grading. Repair goes by them. */
uint64_t findings_errors(const struct findings *f);
/* How often a rule was reported, re-graded or not. */
uint64_t findings_count(const struct findings *f, unsigned rule);
/* Whether any of `count` rules was reported. FINDINGS_ANY(f, RULE, ...) counts its arguments. */
bool findings_any(const struct findings *f, const unsigned *of, size_t count);
#define FINDINGS_ANY(f, ...) \
	findings_any((f), (const unsigned[]){ __VA_ARGS__ }, sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))
/* TM_OK, or TM_NO_MEMORY once a finding could not be kept. */
enum tracemend_status findings_status(const struct findings *f);

/* ---- for the engine ---- */

/* Of those that are to be kept, the first n are not. */
void findings_skip(struct findings *f, size_t n);
/* Whether there was no room for one that should have been kept. */
bool findings_full(const struct findings *f);

struct sink;
/* From now on the place of each error, after re-grading, is given to the sink as well. It must outlive the reporting. */
void findings_observe(struct findings *f, struct sink *sink);

/* From now on each finding that counts is told as soon as it is made (tracemend_options.observe). */
void findings_tell(struct findings *f, void (*tell)(void *ctx, const struct tracemend_finding *finding), void *ctx);

/* Counts and keeps a copy of a finding of another report, whose texts are escaped already. rule: its index in the table. */
void findings_copy(struct findings *f, unsigned rule, const struct tracemend_finding *from);
/* Counts n findings of a rule that are not kept. */
void findings_count_more(struct findings *f, unsigned rule, uint64_t n);
size_t findings_kept_count(const struct findings *f);
const struct tracemend_finding *findings_kept_at(const struct findings *f, size_t index);
void findings_totals(const struct findings *f, uint64_t *errors, uint64_t *warnings, uint64_t *notes);

#endif
