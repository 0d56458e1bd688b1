/* Findings: what is wrong with the capture. Formats report through here; nothing is formatted for a finding that will
 * not be kept, and nothing at all happens for a record that is fine. */
#ifndef CORE_FINDING_H
#define CORE_FINDING_H

#include <stdarg.h>

#include "core/bundle.h"
#include "core/place.h"

struct finding; /* a handle; stays valid as long as its findings */
struct findings;

/* table: the format's rules; count of them. options->max_findings are kept a rule, 0: all (see FINDINGS_KEPT_MAX); options may be
 * NULL. NULL: out of memory. */
struct findings *findings_new(const struct tracemend_rule *table, size_t count, const struct tracemend_options *options);
void findings_free(struct findings *f);

/* Reports rule (index into the table) at source[offset, offset + length), cut to the bytes that the source has; the severity is
 * the row's. Never NULL: a finding that is not kept has a handle, too, on which the functions below only count. s may be NULL where
 * the finding is of no file. */
#define finding_new(f, rule, ...) ((void)PLACE(rule), finding_new_at((f), (rule), __VA_ARGS__))
struct finding *finding_new_at(struct findings *f, unsigned rule, const struct source *s, uint64_t offset, uint64_t length);
/* The same in one statement with what is wrong, as finding_say() takes it. */
#define finding_report(f, rule, ...) ((void)PLACE(rule), finding_report_at((f), (rule), __VA_ARGS__))
struct finding *finding_report_at(struct findings *f, unsigned rule, const struct source *s, uint64_t offset, uint64_t length,
				  const char *format, ...) PRINTF_LIKE(6, 7);
/* As finding_new() with a severity that is milder than the row's, for rules whose text says when. It is never graver. */
#define finding_milder(f, rule, ...) ((void)PLACE(rule), finding_milder_at((f), (rule), __VA_ARGS__))
struct finding *finding_milder_at(struct findings *f, unsigned rule, enum tracemend_severity severity, const struct source *s,
				  uint64_t offset, uint64_t length);
/* What is wrong: actual and expected value. Escapes for itself; input bytes go through text_quote() first. */
void finding_say(struct finding *fd, const char *format, ...) PRINTF_LIKE(2, 3);
void finding_say_list(struct finding *fd, const char *format, va_list arguments) PRINTF_LIKE(2, 0);
/* Where it is, from the outside in: "provider 3 > record 1042 (event) > name". */
void finding_path(struct finding *fd, const char *format, ...) PRINTF_LIKE(2, 3);
/* The bytes to underline in the hex rows and what they are: "name ref = 0x0123; highest registered is 0x00f1". */
void finding_field(struct finding *fd, uint64_t offset, uint32_t length, const char *format, ...) PRINTF_LIKE(4, 5);
/* The defect turned out longer than it began: sets the length. */
void finding_extend(struct finding *fd, uint64_t length);
/* Folds: n further defects follow from this one and are not reported themselves. */
void finding_explains(struct finding *fd, uint64_t n);
/* True when the text of this finding is kept: guards work that is only for its message. */
bool finding_kept(const struct finding *fd);

/* Counts by the rows' own (or milder) severity, before any re-grading: what repair goes by. */
uint64_t findings_errors(const struct findings *f);
/* How often a rule was reported, re-graded or not. */
uint64_t findings_count(const struct findings *f, unsigned rule);
/* Whether any of so many rules was reported; FINDINGS_ANY(f, RULE, ...) counts them itself. */
bool findings_any(const struct findings *f, const unsigned *of, size_t count);
#define FINDINGS_ANY(f, ...) \
	findings_any((f), (const unsigned[]){ __VA_ARGS__ }, sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))
/* TM_OK, or TM_NO_MEMORY once keeping one failed. */
enum tracemend_status findings_status(const struct findings *f);

/* ---- for the engine ---- */

size_t findings_kept_count(const struct findings *f);
const struct tracemend_finding *findings_kept_at(const struct findings *f, size_t index);
void findings_totals(const struct findings *f, uint64_t *errors, uint64_t *warnings, uint64_t *notes);

#endif
