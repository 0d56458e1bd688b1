/* try: what the files behind the command share. A case is one capture that a reader is given; a group is what became of
 * several of them for, as far as can be told, one reason. */
#ifndef TRY_H
#define TRY_H

#include "cli/child.h"
#include "cli/cli.h"

/* In order of gravity. */
enum try_outcome {
	TRY_FINE,
	TRY_SILENT,   /* exit 0 and no word on stderr, of a capture with errors */
	TRY_REJECTED, /* exit code not 0, of a capture without errors */
	TRY_HANG,
	TRY_SIGNAL,
	TRY_OUTCOMES
};

struct try_case {
	struct tracemend_recipe recipe; /* of a capture to generate; format NULL: there is a path */
	const char *path;
	const struct tracemend_rule *rule; /* what is wrong with it: what was broken, else the first error; NULL: nothing */
	bool skipped;			   /* the profile has no such capture */
	bool valid;			   /* check shows no error */
	uint64_t size;
	enum try_outcome outcome;
	int code;   /* exit code or signal */
	char *talk; /* the first line on stderr, escaped; may be NULL */
	char *site; /* where it crashed, escaped: "memcpy < read_page < main"; NULL: not known */
	int failed; /* exit code of the program, when it could not do its work; it has complained then */
};

struct try_group {
	const struct try_case *first;
	size_t cases;  /* in the group */
	size_t of;     /* tried of the same rule */
	char *sample;  /* path of the kept sample; NULL: none */
	char *origin;  /* the command that makes, or is, the first case */
	uint64_t size; /* of the sample */
	int failed;
};

struct
try {
	struct cli_options *options;
	struct child_limits limits;
	struct try_case *cases;
	size_t case_count;
	struct try_group *groups;
	size_t group_count;
	size_t outcomes[TRY_OUTCOMES];
	bool debugger;
	char *scratch; /* a directory of its own */
	size_t next;   /* the next case or group to take */
};

/* ---- try_outcome.c ---- */

const char *try_outcome_name(enum try_outcome outcome);
/* The outcome of a reader's run on a capture. valid: check shows no error. */
enum try_outcome try_outcome_judge(bool valid, const struct child_result *r);

/* ---- try_case.c ---- */

/* Generates or opens the case, checks it, runs the command on it, and files the outcome. slot: a number of the thread. */
void try_case_run(struct try *t, struct try_case *c, size_t slot);
/* Runs the debugger on a case that was killed by a signal. */
void try_case_locate(struct try *t, struct try_case *c, size_t slot);
/* Keeps a sample of a group, reduced, below the output directory. */
void try_group_keep(struct try *t, struct try_group *g, size_t slot);

/* ---- try_site.c ---- */

/* Whether there is a debugger to ask. */
bool try_site_possible(void);
/* Where the command crashes: up to three functions from the inside out, without those that only carry out an abort.
 * Escaped; the caller frees it. NULL: it does not crash under the debugger, or nothing can be told. */
char *try_site_find(char *const *arguments, const struct child_limits *limits);

/* ---- try_report.c ---- */

void try_report_text(const struct try *t);
/* False: out of memory. */
bool try_report_json(const struct try *t);

#endif
