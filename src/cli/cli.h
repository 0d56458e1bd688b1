/* The program: commands, options, exit codes. It stands on the public API alone. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tracemend.h"

/* Exit codes, as documented. With several inputs the most serious one wins: see cli_worse(). */
enum cli_exit {
	CLI_CLEAN = 0,
	CLI_FINDINGS = 1,
	CLI_USAGE = 2,
	CLI_LOST = 3,
	CLI_NOTHING = 4,
	CLI_IO = 5,
	CLI_LIMIT = 6,
	CLI_BUG = 70,
	CLI_SIGNAL = 128, /* plus the number of the signal */
};

/* Bytes that cli_show() may need for the longest path. */
#define CLI_TEXT_MAX 20000

struct cli_list {
	const char **items;
	size_t count;
};

struct cli_regrade {
	const struct tracemend_rule *rule;
	enum tracemend_severity severity;
};

enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };

struct cli_options {
	const struct cli_command *command;
	struct tracemend_options library;
	const char *format; /* --format: of the report */
	struct cli_list paths;

	enum cli_color color;
	bool quiet, verbose;

	enum tracemend_severity fail_on; /* the mildest that makes check exit 1; TM_IGNORE: none does */
	struct cli_list only, ignore;
	struct cli_regrade *regrades;
	size_t regrade_count;
	unsigned jobs;

	const char *output, *manifest;
	struct cli_list extra, donor;
	bool dry_run;

	struct cli_list command_line; /* what stands behind "--" */
	const char *shell;	      /* --command */
	unsigned timeout;	      /* seconds */
	uint64_t memory, tries;
	unsigned outcomes; /* a bit for each enum try_outcome */
	bool no_debugger, strict;

	const char *rule_name; /* --rule, as it was given */
	const struct tracemend_rule *rule;
	enum tracemend_damage damage;
	bool valid;
	uint64_t seed, count, size;
};

struct cli_command {
	const char *name;
	const char *summary;	    /* one line */
	const char *synopsis;	    /* what follows "tracemend " */
	const char *description;    /* of --help */
	const char *ending;	    /* of --help, after the options: exit status, examples */
	const char *accepts;	    /* the keys of its options, see cli_options.c */
	const char *const *reports; /* names for --format, then NULL; NULL: those of all printers */
	bool tables;		    /* -f may name any table of rules, also one that is no format's: "container" */
	uint64_t tries;		    /* default of --tries; 0: no limit */
	int (*run)(struct cli_options *o);
};

/* All commands; a row with name NULL ends them. */
extern const struct cli_command cli_commands[];

int cli_check(struct cli_options *o);
int cli_repair(struct cli_options *o);
int cli_gen(struct cli_options *o);
int cli_info(struct cli_options *o);
int cli_try(struct cli_options *o);
int cli_reduce(struct cli_options *o);
int cli_rules(struct cli_options *o);
int cli_explain(struct cli_options *o);

/* ---- cli_options.c ---- */

/* Fills *o from the arguments after the command. Returns true to go on; else *code is how to exit, and everything has
 * been said. cli_options_free() is due in both cases. */
bool cli_options_parse(struct cli_options *o, const struct cli_command *command, int argc, char **argv, int *code);
void cli_options_free(struct cli_options *o);
/* Prints the help of a command. */
void cli_options_help(const struct cli_command *command, FILE *out);
/* Whether --only and --ignore leave a rule in. */
bool cli_rule_chosen(const struct cli_options *o, const struct tracemend_rule *rule);

/* ---- cli_talk.c ---- */

/* Prints "tracemend: ", the message and a line end to stderr, escaped. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Same, and returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Complains that memory is short, and returns CLI_LIMIT. */
int cli_memory(void);
/* Escapes text that came from outside, into out (CLI_TEXT_MAX bytes). Returns out. */
const char *cli_show(char out[CLI_TEXT_MAX], const char *text);
/* The exit code of a status that is not TM_OK; also of TM_OK, for which it is 0. */
int cli_exit_code(enum tracemend_status status);
/* Complains about *error and returns its exit code. */
int cli_fail(const struct tracemend_error *error);
/* The more serious of two exit codes. */
int cli_worse(int a, int b);
/* "1,234,567" in a buffer of 32 bytes. Returns out. */
const char *cli_number(char out[32], uint64_t n);
/* Prints text wrapped to 100 columns, every line behind `indent` blanks except the first, which is behind `label`. */
void cli_wrap(FILE *out, const char *label, unsigned indent, const char *text);
/* Whether text to this stream is coloured. */
bool cli_colored(const struct cli_options *o, FILE *stream);

/* ---- cli_names.c ---- */

/* The rule of that id, or of that bare name where only one format has it, or `format` (may be NULL) does. NULL after it has
 * complained. */
const struct tracemend_rule *cli_rule_find(const char *name, const char *format);
/* The name without its format. */
const char *cli_rule_bare(const struct tracemend_rule *rule);
/* The format of that name or NULL. "container" is none. */
const struct tracemend_format *cli_format_find(const char *name);

/* ---- cli_file.c ---- */

/* A text file that appears whole under its name or not at all; "-" is standard output. */
struct cli_file {
	FILE *stream;
	char *path, *temporary; /* NULL for standard output */
};

/* Opens a temporary sibling of path. False after it has complained. */
bool cli_file_begin(struct cli_file *f, const char *path);
/* Flushes to disk; the file is still not there. False after it has complained, and then the temporary file is gone. */
bool cli_file_flush(struct cli_file *f);
/* Renames into place. False after it has complained. */
bool cli_file_commit(struct cli_file *f);
/* Removes the temporary file; nothing happens after a commit. */
void cli_file_abandon(struct cli_file *f);
/* Whether two paths are one file, or `path` (which may not exist yet) would lie inside the directory `other`. */
bool cli_path_same(const char *path, const char *other);
bool cli_path_inside(const char *path, const char *other);
/* Removes a file, or a directory with all that is in it; follows no link. */
void cli_path_remove(const char *path);
/* The rules of the errors that a first report has; later ones are held against it. */
struct cli_errors {
	bool *of; /* by rule */
	bool known;
};
bool cli_errors_open(struct cli_errors *e);
void cli_errors_close(struct cli_errors *e);
/* Whether the report has errors of no other rules than the first one that was given here. */
bool cli_errors_known(struct cli_errors *e, const struct tracemend_report *report);
/* Bytes of all files of a sample. */
uint64_t cli_sample_size(const struct tracemend_sample *sample);
/* Makes a directory of the program's own below TMPDIR; the caller frees the name. NULL after it has complained. */
char *cli_scratch_make(void);

/* ---- cli_progress.c ---- */

struct cli_progress;

/* What tracemend_options.progress_ctx points to: one for each thing that works at the same time. */
struct cli_progress_slot {
	struct cli_progress *progress;
	uint64_t done, total;
};

/* Catches SIGINT, SIGTERM and SIGHUP: the work stops at the next tick. */
void cli_signals_catch(void);
/* The signal that was caught, or 0. */
int cli_signals_caught(void);
/* slots: how many work at once; inputs: how many there are in all. NULL is a progress that shows nothing. */
struct cli_progress *cli_progress_new(const struct cli_options *o, size_t slots, size_t inputs);
void cli_progress_free(struct cli_progress *p);
/* Sets the progress members of *library for slot `index`. */
void cli_progress_attach(struct cli_progress *p, size_t index, struct tracemend_options *library);
/* One input is done. */
void cli_progress_finished(struct cli_progress *p, size_t index);
/* Erases the line and keeps it away, while other text is printed. */
void cli_progress_hide(struct cli_progress *p);
void cli_progress_show(struct cli_progress *p);

#endif
