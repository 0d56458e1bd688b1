/* The program: commands, options, exit codes. It uses the public API only. */
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

/* Size of a buffer for cli_show(), enough for the longest path. */
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
	const char *format; /* --format: that of the report */
	struct cli_list paths;

	enum cli_color color;
	bool quiet, verbose;

	enum tracemend_severity fail_on; /* the lowest severity for which check exits with 1; TM_IGNORE: none */
	struct cli_list only, ignore;
	struct cli_regrade *regrades;
	size_t regrade_count;
	unsigned jobs;

	const char *output, *manifest;
	struct cli_list extra, donor;
	bool dry_run;

	struct cli_list command_line; /* what follows "--" */
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
	const char *accepts;	    /* the keys of its options (cli_options.c) */
	const char *const *reports; /* names for --format, then NULL; NULL: those of all printers */
	bool tables;		    /* -f may name any table of rules, "container" included */
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

/* Fills *o from the arguments after the command. Returns true to go on. Else everything was printed, and *code is the exit code.
 * cli_options_free() is due in both cases. */
bool cli_options_parse(struct cli_options *o, const struct cli_command *command, int argc, char **argv, int *code);
void cli_options_free(struct cli_options *o);
/* Prints the help of a command. */
void cli_options_help(const struct cli_command *command, FILE *out);
/* Whether --only and --ignore select a rule. */
bool cli_rule_chosen(const struct cli_options *o, const struct tracemend_rule *rule);

/* ---- cli_message.c ---- */

/* Prints "tracemend: ", the escaped message and a line end to standard error. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same; returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports that memory ran out; returns CLI_LIMIT. */
int cli_memory(void);
/* Escapes text from outside into out (CLI_TEXT_MAX bytes). Returns out. */
const char *cli_show(char out[CLI_TEXT_MAX], const char *text);
/* The exit code for a status; 0 for TM_OK. */
int cli_exit_code(enum tracemend_status status);
/* Prints *error; returns its exit code. */
int cli_fail(const struct tracemend_error *error);
/* The more serious of two exit codes. */
int cli_worse(int a, int b);
/* "1,234,567" in a buffer of 32 bytes. Returns out. */
const char *cli_number(char out[32], uint64_t n);
/* "1 byte", "1,234 bytes". Returns out. */
const char *cli_count(char out[64], uint64_t n, const char *noun);
/* Prints text wrapped to 100 columns. The first line follows `label`, the others are indented by `indent` blanks. */
void cli_wrap(FILE *out, const char *label, unsigned indent, const char *text);
/* Whether text to this stream is coloured. */
bool cli_colored(const struct cli_options *o, FILE *stream);

/* ---- cli_names.c ---- */

/* The rule with that id, or with that bare name if it is unique or `format` (may be NULL) has it. NULL after an error message. */
const struct tracemend_rule *cli_rule_find(const char *name, const char *format);
/* The id of a rule without its format. */
const char *cli_rule_bare(const struct tracemend_rule *rule);
/* The format with that name, or NULL; "container" is not a format. */
const struct tracemend_format *cli_format_find(const char *name);

/* ---- cli_file.c ---- */

/* A text file that appears as a whole or not at all; "-" is standard output. */
struct cli_file {
	FILE *stream;
	char *path, *temporary; /* NULL for standard output */
};

/* Opens a temporary file beside path. False after an error message. */
bool cli_file_begin(struct cli_file *f, const char *path);
/* Writes the file to disk; it does not have its name yet. False after an error message, when the temporary file was removed. */
bool cli_file_flush(struct cli_file *f);
/* Renames the file into place. False after an error message. */
bool cli_file_commit(struct cli_file *f);
/* Removes the temporary file; does nothing after a commit. */
void cli_file_abandon(struct cli_file *f);
/* Whether two paths are the same file; whether `path` (which need not exist) is inside the directory `other`. */
bool cli_path_same(const char *path, const char *other);
bool cli_path_inside(const char *path, const char *other);
/* Removes a file, or a directory with its contents. Follows no symbolic links. */
void cli_path_remove(const char *path);
/* The rules with errors in a first report, with which later ones are compared. */
struct cli_errors {
	bool *of; /* indexed by rule */
	bool known;
};
bool cli_errors_open(struct cli_errors *e);
void cli_errors_close(struct cli_errors *e);
/* Whether the errors of the report are of rules that the first report has. The first call stores them. */
bool cli_errors_known(struct cli_errors *e, const struct tracemend_report *report);
/* Bytes of all files of a sample. */
uint64_t cli_sample_size(const struct tracemend_sample *sample);
/* Makes a private directory below TMPDIR; the caller frees the name. NULL after an error message. */
char *cli_scratch_make(void);

/* ---- cli_progress.c ---- */

struct cli_progress;

/* The progress_ctx of tracemend_options: one for each concurrent input. */
struct cli_progress_slot {
	struct cli_progress *progress;
	uint64_t done, total;
};

/* Catches SIGINT, SIGTERM and SIGHUP: the work stops at the next progress call. */
void cli_signals_catch(void);
/* The signal that was caught, or 0. */
int cli_signals_caught(void);
/* slots: inputs worked on at once; inputs: all of them. NULL: no progress is shown, which the functions below accept. */
struct cli_progress *cli_progress_new(const struct cli_options *o, size_t slots, size_t inputs);
void cli_progress_free(struct cli_progress *p);
/* Sets the progress members of *library for slot `index`. */
void cli_progress_attach(struct cli_progress *p, size_t index, struct tracemend_options *library);
/* An input is finished. */
void cli_progress_finished(struct cli_progress *p, size_t index);
/* Erases the line, and keeps it erased while other text is printed. */
void cli_progress_hide(struct cli_progress *p);
void cli_progress_show(struct cli_progress *p);

#endif
