/* What the files of the oracle share: a text that is compared, and one run. */
#ifndef FUZZ_ORACLE_PARTS_H
#define FUZZ_ORACLE_PARTS_H

#include "oracle.h"
#include "tracemend.h"

/* ---- oracle_text.c ---- */

/* Prints what is broken and aborts. */
void oracle_broken(const char *promise, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* Aborts unless the text is valid UTF-8 without control characters. */
void oracle_text_is_sane(const char *what, const char *text);

/* A text that grows. Zero-initialised is empty. */
struct oracle_text {
	char *data; /* owned; ends in NUL */
	size_t size, capacity;
};

void oracle_text_add(struct oracle_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends bytes in hex; literals of a plan may be as long as a block. */
void oracle_text_hex(struct oracle_text *t, const uint8_t *data, uint64_t length);
void oracle_text_free(struct oracle_text *t);
/* Aborts with the first line that differs. */
void oracle_texts_agree(const char *promise, const char *what, const struct oracle_text *a, const struct oracle_text *b);

/* ---- oracle_report.c ---- */

void oracle_report_print(struct oracle_text *t, const struct tracemend_report *report);
/* c: the capture that was checked, or NULL where its files are not known by name. */
void oracle_report_is_sane(const struct tracemend_report *report, const struct capture *c);

/* ---- oracle_run.c ---- */

/* One run: open, check or repair, close. */
struct oracle_run {
	struct tracemend_options options;
	struct capture_faults faults;
	struct tracemend_error error;
	struct tracemend_input *input;
	struct tracemend_report *report;
	struct tracemend_repair *repair;
};

typedef void oracle_run_function(struct oracle_run *r, const struct oracle *o, const struct capture *c, size_t window);
/* Opens the capture and checks or repairs it, and tests that status and result agree. window: as in tracemend_options. */
void oracle_run_check(struct oracle_run *r, const struct oracle *o, const struct capture *c, size_t window);
void oracle_run_repair(struct oracle_run *r, const struct oracle *o, const struct capture *c, size_t window);
void oracle_run_close(struct oracle_run *r);
/* P7: work and memory stay below a multiple of the input. Allocations are counted since inject_arm(). */
void oracle_run_is_bounded(const struct oracle_run *r, const char *what, uint64_t size, unsigned passes);
/* Appends the results of the run: status, report and plan. */
void oracle_run_print(struct oracle_text *t, const struct oracle_run *r);
/* P8: repeats the run with a failing read or allocation, `faults` times each. rotate selects which ones fail. */
void oracle_faults(const struct oracle *o, const struct capture *c, oracle_run_function *run, unsigned faults, uint64_t rotate);

/* ---- oracle_plan.c ---- */

void oracle_plan_print(struct oracle_text *t, const struct tracemend_repair *repair);
/* Replays the plan into *out, which owns its bytes, and tests P4. */
void oracle_plan_replay(struct oracle_run *r, const struct capture *c, struct capture *out);

#endif
