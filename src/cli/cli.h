/* The program: commands, options, exit codes. It uses the public API only. */
#ifndef CLI_H
#define CLI_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/text.h"
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

/* Findings of a rule that a report for people lists by default. */
#define CLI_FINDINGS_LISTED 20u

struct cli_list {
	const char **items;
	size_t count;
};

struct cli_regrade {
	const struct tracemend_rule *rule;
	enum tracemend_severity severity;
};

enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };

/* What decides on the rules for a path. */
struct cli_grading {
	const struct cli_options *options;
	uint64_t sections; /* of options->config: a bit for each that applies */
};

struct cli_options {
	const struct cli_command *commands; /* all of them */
	const struct cli_command *command;
	struct tracemend_options library;
	const char *format; /* --format: that of the report */
	struct cli_list paths;

	enum cli_color color;
	bool quiet, verbose;

	enum tracemend_severity fail_on; /* the lowest severity for which check exits with 1; TM_IGNORE: none */
	struct cli_list only, ignore;
	struct cli_list save; /* --save: FORMAT=FILE */
	const char *baseline; /* --baseline */
	bool update_baseline;
	size_t max_findings; /* --max-findings; 0: all */
	bool max_given, fail_given;
	const char *config_path;    /* --config */
	struct cli_config *config;  /* the file in use; may be NULL */
	struct cli_grading grading; /* for all paths */
	bool no_config;
	struct cli_regrade *regrades;
	size_t regrade_count;
	unsigned jobs;

	const char *output, *manifest, *page, *verify_with; /* page: --report of repair */
	struct cli_list extra, donor;
	bool extra_auto;       /* --extra auto */
	struct cli_list owned; /* names that patterns stand for: freed with the options */
	bool dry_run, in_place;

	/* Of dump: offsets and times, from and to, both included. */
	uint64_t range[2], times[2], around;
	bool range_given, times_given, around_given;

	struct cli_list command_line; /* what follows "--" */
	const char *shell;	      /* --command */
	unsigned timeout;	      /* seconds */
	uint64_t memory, tries;
	uint64_t repeat, enough, budget; /* of reduce: runs of the command, how many must end alike; seconds, 0: no limit */
	unsigned outcomes;		 /* a bit for each enum try_outcome */
	unsigned crash_exit;		 /* 0: none */
	const regex_t *crash_pattern;	 /* NULL: none */
	const regex_t *count_with;	 /* NULL: none */
	struct cli_list compared;	 /* --reader: shell commands, whose results are compared */
	bool no_debugger, strict;
	bool no_sandbox;
	struct reader_pool *readers; /* processes that run the command from outside the sandbox; NULL: there is none */

	struct cli_list rule_names; /* --rule, as given */
	const struct tracemend_rule **rules;
	size_t rule_count;
	const struct tracemend_rule *rule; /* the first */
	enum tracemend_damage damage;
	bool valid, host, sound;
	struct cli_list with, without; /* features */
	bool list_features;
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
int cli_report(struct cli_options *o);
int cli_repair(struct cli_options *o);
int cli_gen(struct cli_options *o);
/* Whether the format has the features of --with and --without; an exit code, after a message. */
int cli_features_check(const struct cli_options *o, const char *format);
/* Lists the features of a format; NULL: of all. */
int cli_features_print(const char *format);
int cli_info(struct cli_options *o);
int cli_dump(struct cli_options *o);
int cli_diff(struct cli_options *o);
int cli_try(struct cli_options *o);
int cli_reduce(struct cli_options *o);
int cli_rules(struct cli_options *o);
int cli_explain(struct cli_options *o);

/* ---- cli_dump.c ---- */

/* Bytes of the line of a record. */
#define CLI_RECORD_MAX 4096u
/* A record as a line for people, without LF. */
void cli_record_line(const struct tracemend_record *r, char out[CLI_RECORD_MAX]);

/* ---- cli_histogram.c ---- */

#define CLI_HISTOGRAM_ROWS 16u
/* Records over time. Zero-initialised is empty. */
struct cli_histogram {
	uint64_t counts[CLI_HISTOGRAM_ROWS];
	uint64_t first, total;
	unsigned shift;
	const char *unit;
};
/* For tracemend_options.record; ctx: struct cli_histogram. */
void cli_histogram_add(void *ctx, const struct tracemend_record *r);
/* Prints the rows, or nothing where no record has a time. */
void cli_histogram_print(const struct cli_histogram *h);

/* ---- cli_options.c ---- */

/* An option of the one table that parsing, --help, the manual pages and the completions are made of. key is its value from
 * getopt_long(): a letter that users may type, or another one that stands for a long option only. */
struct cli_option {
	char key;
	const char *name, *argument, *help; /* argument: NULL for none */
};
/* The option at that index of the table; NULL behind the last one. A command has those whose key is in its `accepts`. */
const struct cli_option *cli_option_at(size_t index);
/* Whether the option has a short form, its key. */
/* The help of an option, for a command. */
const char *cli_option_help(const struct cli_command *command, const struct cli_option *o);
bool cli_option_is_letter(const struct cli_option *o);
/* The report formats of a command, one by one, then NULL. */
const char *cli_report_name(const struct cli_command *command, size_t index);

/* Fills *o from the arguments after the command, which is one of `commands`. Returns true to go on. Else everything was printed,
 * and *code is the exit code. cli_options_free() is due in both cases. */
bool cli_options_parse(struct cli_options *o, const struct cli_command *commands, const struct cli_command *command, int argc,
		       char **argv, int *code);
/* What follows from the options, and from the file of settings, which it reads. True to go on, as above. */
bool cli_options_settle(struct cli_options *o, int *code);
void cli_options_free(struct cli_options *o);
/* Prints the help of a command. */
void cli_options_help(const struct cli_command *command, FILE *out);
/* Whether --only and --ignore select a rule. */
bool cli_rule_chosen(const struct cli_options *o, const struct tracemend_rule *rule);

/* Whether a rule matches one of the patterns. */
bool cli_globs_match(const struct cli_list *globs, const struct tracemend_rule *rule);
/* Sets an option by its key. Returns an exit code after a message. */
int cli_options_set(struct cli_options *o, int key, const char *text);

/* ---- cli_config.c ---- */

#define CLI_CONFIG_NAME ".tracemend.ini"
struct cli_config;
/* Finds and reads the file of settings. Returns an exit code after a message. */
int cli_config_load(struct cli_options *o);
void cli_config_free(struct cli_config *c);
/* Fills *g for a path; it is to be the grade_ctx of its tracemend_options. False: no rule is left. */
bool cli_config_choose(struct cli_grading *g, const struct cli_options *o, const char *path);
/* Fills *g for a path of an earlier run, which may be inside an archive. */
void cli_config_grading(struct cli_grading *g, const struct cli_options *o, const char *path);
/* What the file says about a rule. */
bool cli_config_chosen(const struct cli_grading *g, const struct tracemend_rule *rule);
enum tracemend_severity cli_config_severity(const struct cli_grading *g, const struct tracemend_rule *rule,
					    enum tracemend_severity severity);

/* ---- cli_pages.c, cli_complete.c ---- */

/* tracemend --generate WHAT, for `make install`: a manual page ("man", "man-check"), completions ("bash", "zsh", "fish"), or a list
 * that completions ask for ("commands", "rules"). Returns an exit code. */
int cli_generate(const struct cli_command *commands, const char *what);
/* Prints completions for a shell. False: not one of bash, zsh and fish. */
bool cli_complete(const struct cli_command *commands, const char *shell);

/* ---- cli_message.c ---- */

/* Where results and messages are printed: standard output and standard error, or what this thread was given. NULL: the standard
 * streams again. */
FILE *cli_result(void);
FILE *cli_talk(void);
void cli_redirect(FILE *result, FILE *talk);
/* Prints "tracemend: ", the escaped message and a line end to cli_talk(). */
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
/* Prints text wrapped to 100 columns. The first line follows `label`, the others are indented by `indent` blanks. */
void cli_wrap(FILE *out, const char *label, unsigned indent, const char *text);
/* Whether text to this stream is coloured. */
bool cli_colored(const struct cli_options *o, FILE *stream);

/* ---- cli_names.c ---- */

/* The rule with that id, or with that bare name if it is unique or `format` (may be NULL) has it. NULL after an error message. */
const struct tracemend_rule *cli_rule_find(const char *name, const char *format);
/* The word of a NULL-terminated list that is nearest to `word`; NULL: none is near. */
const char *cli_nearest(const char *word, const char *const *words);
/* "; did you mean BEFOREword?" for the nearest word, or "". Returns out. */
#define CLI_HINT_MAX 128
const char *cli_hint(char out[CLI_HINT_MAX], const char *before, const char *word, const char *const *words);
/* The same for the names and titles of formats. */
const char *cli_format_hint(char out[CLI_HINT_MAX], const char *word);
/* The id of a rule without its format. */
const char *cli_rule_bare(const struct tracemend_rule *rule);
/* The format with that name, or NULL; "container" is not a format. */
const struct tracemend_format *cli_format_find(const char *name);

/* ---- cli_next.c ---- */

/* Whether a report of check, text or html, says what to do next. */
bool cli_next_wanted(const struct cli_options *o, const struct tracemend_report *report);
/* The repair that cli_next() describes; NULL: the capture is large, or nothing can be salvaged (*error). */
struct tracemend_repair *cli_next_plan(struct tracemend_input *input, const struct tracemend_report *report,
				       const struct tracemend_options *library, struct tracemend_error *error);
/* Adds what the recorder of the capture at path left on this machine, where it is the capture's owner's (--extra auto). */
bool cli_next_take(struct tracemend_input *input, const char *path, const struct tracemend_options *library,
		   struct tracemend_error *error);
/* Prints the command that repairs the capture, what it would keep, and where more of the capture may be. */
void cli_next(FILE *out, const char *path, const struct tracemend_report *report, const struct tracemend_repair *repair,
	      const struct tracemend_error *error);
/* Prints where more of the capture may be; donors only where one is needed. */
void cli_next_advice(FILE *out, const struct tracemend_report *report, bool donor_needed);
/* Prints what is wrong with the donors that were given: damaged, or not of the format. */
void cli_next_donors(FILE *out, const struct cli_options *o, const char *format);
/* Prints the numbers of records that a repair keeps. */
void cli_next_totals(FILE *out, const struct tracemend_outcome *outcome);

/* ---- cli_file.c ---- */

struct publication;
/* A text file that appears as a whole or not at all; "-" is standard output. */
struct cli_file {
	FILE *stream;
	struct publication *publication; /* NULL for standard output */
};

/* Opens a file that gets its name at the commit. Returns CLI_CLEAN, or CLI_IO or CLI_LIMIT (no memory) after an error message. */
int cli_file_begin(struct cli_file *f, const char *path);
/* Writes the file to disk; it does not have its name yet. False after an error message, when nothing is left of it. */
bool cli_file_flush(struct cli_file *f);
/* Gives the file its name. False after an error message. */
bool cli_file_commit(struct cli_file *f);
/* Leaves nothing of the file; does nothing after a commit. */
void cli_file_abandon(struct cli_file *f);
/* Whether two paths are the same file; whether `path` (which need not exist) is inside the directory `other`. */
bool cli_path_same(const char *path, const char *other);
bool cli_path_inside(const char *path, const char *other);
/* Whether a run may write `path`, which the option names: not where it is the input or lies inside of it, which is never written
 * to. Returns CLI_CLEAN, or CLI_USAGE after a message. */
int cli_path_check_output(const char *option, const char *path, const char *input);
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

/* ---- cli_saves.c ---- */

struct cli_saves;
struct cli_targets;
struct report_printer;
struct report_run;
struct report_entry;

/* The run of the report on standard output; shown: the options as it lists findings, which must outlive it. */
struct report_run cli_saves_run(const struct cli_options *o, const struct tracemend_options *shown);
/* How many findings a rule a report of this printer lists; 0: all. */
size_t cli_saves_findings(const struct cli_options *o, const struct report_printer *printer);
/* Takes FORMAT=FILE apart. Returns an exit code after a message. */
int cli_saves_parse(const char *text, const struct report_printer **printer, const char **file);
/* Begins the files of --save, none of which may be an input, nor inside one. targets: the inputs; NULL: the PATHs. Returns an exit
 * code after a message; cli_saves_end() is due in every case. */
int cli_saves_begin(struct cli_saves **saves, const struct cli_options *o, const struct cli_targets *targets);
/* Prints an input to one report, or to all of --save. kept: findings a rule that its report keeps; 0: all. */
void cli_print_entry(struct report_run *run, const struct report_printer *printer, size_t kept, const struct report_entry *entry);
/* Says how many files were passed over, if the report has no place for it. */
void cli_say_passed_over(const struct cli_options *o, size_t passed_over);
void cli_saves_entry(struct cli_saves *s, size_t kept, const struct report_entry *entry);
/* Gives the files their names, or removes them if the run is not good, and frees s, which may be NULL. */
int cli_saves_end(struct cli_saves *s, size_t passed_over, bool good);

/* ---- cli_lines.c ---- */

/* A file of JSON objects, one a line. */
struct cli_lines {
	FILE *stream;
	const char *path;
	char *text;
	uint64_t number; /* of the line that was read last */
};

/* Opens a file, or "-". cli_lines_close() is due in every case. False and *error on failure, as of the next two. */
bool cli_lines_open(struct cli_lines *l, const char *path, struct tracemend_error *error);
/* Reads the object of the next line, which the caller frees; NULL at the end. */
bool cli_lines_next(struct cli_lines *l, json_t **object, struct tracemend_error *error);
/* Sets *error, with the path and the number of the line. */
bool cli_lines_fail(const struct cli_lines *l, enum tracemend_status status, struct tracemend_error *error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void cli_lines_close(struct cli_lines *l);
/* A member that is a whole number of 0 or more; false (and 0): it is not. A member that is a text, or NULL. */
bool cli_lines_number(const json_t *object, const char *key, uint64_t *value);
const char *cli_lines_text(const json_t *object, const char *key);

/* ---- cli_baseline.c ---- */

/* The findings that are known already. */
struct cli_baseline;

/* Reads the file of --baseline; *b is NULL without one, which the functions below accept. Returns an exit code after a message.
 * cli_baseline_end() or cli_baseline_free() is due in every case. */
int cli_baseline_begin(struct cli_baseline **b, const struct cli_options *o);
/* The report of the next input without the findings that are known, in place of `report` (NULL: there is none), and their number.
 */
struct tracemend_report *cli_baseline_select(struct cli_baseline *b, struct tracemend_report *report, const char *shown,
					     uint64_t *known);
/* Names what did not occur again, or writes the file anew; neither unless the whole of all inputs was checked. Frees b. */
int cli_baseline_end(struct cli_baseline *b, bool whole);
/* Frees b and does nothing else. */
void cli_baseline_free(struct cli_baseline *b);

/* ---- cli_output.c ---- */

struct cli_verify;

/* "dir/name.mended.ext" for "dir/name.ext", without endings of archives and compressed files, which the output does not have; the
 * name of a directory has no extension. made: the extension where the input has none. The caller frees it. NULL: out of memory; so
 * the next three. */
char *cli_output_named(const char *path, bool directory, const char *made);
/* The name that repair gives to the result where none is given. */
char *cli_output_beside(const char *path);
/* The name of the input in a directory, without compression. */
char *cli_output_below(const char *directory, const char *path);
/* "path.orig" */
char *cli_output_original(const char *path);
/* Whether there is anything of that name, a dangling link included. */
bool cli_output_exists(const char *path);
/* Whether the name ends as that of a compressed file. */
bool cli_output_is_packed(const char *path);
/* Writes the output of a repair under the name of its input, which is renamed to "path.orig". Returns an exit code after a message.
 */
int cli_output_in_place(struct tracemend_repair *repair, const char *path, struct cli_verify *verify);

/* ---- cli_window.c ---- */

/* The times of the records in front of and behind a dropped range. */
struct cli_window {
	const char *file;
	uint64_t from, length, before, after;
	bool has_before, has_after;
	char unit[16];
};

/* Dropped ranges that are listed one by one; of more, no times are looked for. */
#define CLI_WINDOWS_MAX 12

struct cli_windows {
	struct cli_window list[CLI_WINDOWS_MAX];
	size_t count;
};

/* Looks for the times around what a repair drops, by another check of its input. None are found in large captures. The repair must
 * outlive *windows. */
void cli_windows_find(struct cli_windows *windows, struct tracemend_input *input, const struct tracemend_repair *r,
		      const struct tracemend_options *library);
/* Prints the times around the dropped range that begins there: "; from 12 to 15 ns", or nothing. */
void cli_windows_say(FILE *out, const struct cli_windows *windows, const char *file, uint64_t from);

/* ---- cli_repair_text.c ---- */

/* Prints what a repair keeps, changes, drops and cannot verify; with -q, nothing. */
void cli_repair_print(const struct cli_options *o, FILE *out, const struct tracemend_repair *r, const struct cli_windows *windows);
/* Reports a donor from which nothing was taken. */
void cli_repair_print_donor(const struct cli_options *o, FILE *out, const struct tracemend_repair *r);

/* ---- cli_verify.c ---- */

struct child_result;
/* --verify-with, for one result. */
struct cli_verify {
	const struct cli_options *options;
	struct child_result *answer; /* NULL: nobody was asked */
	struct cli_file *beside;     /* files that get their names before the result: manifest, page */
	size_t beside_count;
	size_t beside_named; /* have theirs */
	bool beside_failed;
};

/* Runs the command with the path of a result. Whether it ends with exit 0. ctx: struct cli_verify. */
bool cli_verify_ask(void *ctx, const char *path);
/* Publishes the result if the command of --verify-with accepts it; if this is its last name, the files beside it before it. Returns
 * an exit code after a message; none about the answer. */
int cli_verify_publish(struct cli_verify *v, struct tracemend_repair *repair, const char *path, bool last);
/* Gives manifest and page their names. False after a message. ctx: struct cli_verify. */
bool cli_verify_ready(void *ctx);
/* Whether the command was asked and did not end with exit 0. */
bool cli_verify_refused(const struct cli_verify *v);
/* Prints what the command answered. */
void cli_verify_say(const struct cli_verify *v, FILE *out);
void cli_verify_free(struct cli_verify *v);

/* ---- cli_map.c ---- */

struct report_map;

/* Whether any report of the run draws maps. */
bool cli_map_wanted(const struct cli_options *o);
/* Checks an input, and fills a map of it. repair: what is done with it; may be NULL. *map is NULL where there is no memory for it.
 */
struct tracemend_report *cli_map_check(struct tracemend_input *input, const struct tracemend_repair *repair,
				       const struct tracemend_options *library, struct report_map **map,
				       struct tracemend_error *error);

/* The page of a repair. */
struct cli_page {
	const char *path;
	struct tracemend_repair *repair;
	struct report_map *map;
};

/* Reads the input once more for it. Returns an exit code after a message. */
int cli_page_fill(struct cli_page *p, struct tracemend_input *input, const struct tracemend_options *library);
/* Writes it to the temporary file of a path. */
int cli_page_write(struct cli_page *p, struct cli_file *file, const char *path);
void cli_page_free(struct cli_page *p);

/* ---- cli_search.c ---- */

/* Something to check. */
struct cli_target {
	char *path;
	bool found;   /* below a directory, and not named by the user: it may be no capture */
	size_t first; /* a directory that is no capture: the first of the targets that were found below it, which precede it. Else
			 SIZE_MAX */
};

struct cli_targets {
	struct cli_target *list;
	size_t count, capacity;
	size_t passed_over; /* what is neither a regular file nor a directory */
};

/* Lists the PATHs, and what is below those that are directories and no captures, in the order of their names. Returns an exit code
 * after an error message. cli_targets_free() is due in every case. */
int cli_targets_find(struct cli_targets *t, const struct cli_options *o);
void cli_targets_free(struct cli_targets *t);
/* For a command that takes one capture, and an input that is none, or a tree: if there are captures in it, names the first two and
 * returns CLI_USAGE. Else CLI_CLEAN, without a message. */
int cli_refuse_several(const char *path, struct tracemend_input *input, const struct tracemend_options *library);

/* ---- cli_progress.c ---- */

struct cli_progress;

/* The progress_ctx of tracemend_options: one for each concurrent input. */
struct cli_progress_slot {
	struct cli_progress *progress;
	uint64_t done, total;
};

/* Catches SIGINT, SIGTERM and SIGHUP: the work stops at the next progress call. */
void cli_signals_catch(void);
/* Whether the reader of a pipe that is standard output went away. */
bool cli_output_gone(void);
/* Milliseconds of a clock that goes on. */
int64_t cli_now(void);
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
