/* try: what its files share. A case is one capture that is given to a reader; a group is the cases with the same outcome and, as
 * far as is known, the same cause. */
#ifndef TRY_H
#define TRY_H

#include "cli/child.h"
#include "cli/cli.h"

/* The worst last. */
enum try_outcome {
	TRY_FINE,
	TRY_SILENT,   /* exit 0 and nothing on standard error, for a capture with errors */
	TRY_REJECTED, /* exit code other than 0, for a capture without errors */
	TRY_COUNT,    /* exit 0 and another number of records than check counts, for a capture without errors */
	TRY_DIFFER,   /* of several readers: they do not end alike, or count differently */
	TRY_HANG,
	TRY_MEMORY, /* it ends since the memory that it is allowed does not suffice */
	TRY_CRASH,  /* it ends by itself, and reports a crash: a sanitizer, a panic, an exception that nobody caught */
	TRY_SIGNAL,
	TRY_OUTCOMES
};

/* What a reader reports of its crash; the texts are escaped. */
struct try_crash {
	char *summary; /* "AddressSanitizer: heap-buffer-overflow"; NULL: none */
	char *site;    /* as that of a case */
};

struct try_case {
	struct tracemend_recipe recipe; /* to generate the capture; format NULL: it has a path */
	const char *path;
	const struct tracemend_rule *rule; /* its defect: the broken rule, else that of the first error; NULL: none */
	bool skipped;			   /* the profile cannot have such a capture */
	bool valid;			   /* check shows no error */
	uint64_t records;		   /* as check counts them */
	uint64_t size;
	size_t baseline;   /* the case of the same seed without the defect */
	bool has_baseline; /* whether there is one */
	bool unasked;	   /* it is a baseline only, which nobody asked for: not counted */
	bool spoiled;	   /* as a baseline it has the defect itself: its shape is the defect */
	bool alike;	   /* its baseline ends in the same way, so that the defect is not the cause; it has the rule of that */
	enum try_outcome outcome;
	enum child_end end;
	int code;      /* exit code or signal */
	char *message; /* what it reports of a crash, else the first line on stderr, escaped; may be NULL */
	char *last;    /* the last line on stderr, escaped and masked; may be NULL */
	char *key;     /* of its group; NULL until there is one */
	char *site;    /* where it crashed, escaped: "memcpy < read_page < main"; NULL: not known */
	bool reported; /* the reader itself says where */
	int failed;    /* exit code of tracemend when the case could not be run, after an error message */
};

/* Size of the name of a group. */
#define TRY_ID_SIZE 13

struct try_group {
	char id[TRY_ID_SIZE]; /* a hash of the reader, its version, the outcome and the key */
	const struct try_case *first;
	const struct try_case **list; /* the cases, of which there are so many */
	size_t cases;
	size_t of;     /* number of cases with the same rule; where the place of the crash is known, of all cases */
	size_t others; /* rules that cases of the group break, without that of the first */
	size_t alike;  /* cases whose defect is not the cause */
	char *folder;  /* of the sample and of the report about the group; NULL: none */
	char *sample;  /* path of the kept sample; NULL: none */
	char *origin;  /* the command that generates the first case, or its path */
	uint64_t size; /* of the sample */
	int failed;
};

/* The program that is tested; of several that are compared, what each has, separated by commas. The texts are escaped; "" where it
 * is not known. */
struct try_reader {
	char *name; /* "trace-cmd"; of a script, that of its file */
	char *version, *build_id, *package;
};

struct
try {
	struct cli_options *options;
	struct try_reader reader;
	struct try_case *cases;
	size_t case_count;
	const struct try_case **found; /* the cases that are in groups, in their order */
	struct try_group *groups;
	size_t group_count;
	size_t outcomes[TRY_OUTCOMES];
	bool debugger;
	char *scratch; /* private directory for captures */
	size_t next;   /* the next case or group to take */
};

/* ---- cli_try.c ---- */

/* Whether the commands of --reader can be compared. Else CLI_USAGE after a message. */
int cli_compared_check(const struct cli_options *o);

/* ---- try_outcome.c ---- */

const char *try_outcome_name(enum try_outcome outcome);
/* The outcome of a reader's run on a capture. valid: check shows no error. crash: what the reader reports of one, which the caller
 * frees. */
enum try_outcome try_outcome_judge(const struct cli_options *o, bool valid, const struct child_result *r, struct try_crash *crash);

/* ---- try_compare.c ---- */

/* Runs the readers on a path, and fills in how they end: alike (fine), or not. False after an error message, or when tracemend was
 * told to stop. */
bool try_compare_run(const struct try *t, struct try_case *c, const char *path, int *failed);
/* A line for a shell that runs them all. NULL: out of memory. */
char *try_compare_replay(const struct cli_options *o, const char *path);

/* ---- try_group.c ---- */

/* Puts the cases that were run into groups. False: out of memory. */
bool try_group(struct try *t);
/* What makes two cases of one reader and outcome one bug; the caller frees it. NULL: out of memory. */
char *try_key(const struct try_case *c);
/* A text in which all numbers are "#". The caller frees it. NULL: out of memory. */
char *try_mask(const char *text);
/* Whether what the readers say is all that is known of the cause. */
bool try_says(const struct try_case *c);
/* Whether two groups may be of one cause: their innermost functions are the same. */
bool try_similar(const struct try_group *a, const struct try_group *b);

/* ---- try_reader.c ---- */

/* The words of a shell command, as far as blanks tell them. The caller frees *text, which they are in, and their items. False: out
 * of memory. */
bool try_reader_words(const char *command, struct cli_list *words, char **text);
/* The name of a command of --reader: that of its program, with its number where another has the same. The caller frees it. NULL:
 * out of memory. */
char *try_reader_name(const struct cli_options *o, size_t which);
/* Asks the program for its version, and the system where it is from. False: out of memory. */
bool try_reader_ask(struct try *t);
void try_reader_free(struct try_reader *reader);
/* The place at which the command crashes on the path: runs it in the debugger, and gives what try_site_parse() finds. */
char *try_site_of(const struct cli_options *o, const char *path);

/* ---- try_page.c ---- */

/* Writes report.md and a .casrep into the folder of a group. False after an error message. */
bool try_page_write(const struct try *t, const struct try_group *g);
/* Writes index.txt, index.json and index.html. False after an error message. */
bool try_index_write(const struct try *t);

/* ---- try_crash.c ---- */

/* The report of a crash in what a reader wrote to standard error. The caller frees the texts. False: there is none. */
bool try_crash_parse(const char *messages, struct try_crash *crash);
void try_crash_free(struct try_crash *crash);

/* ---- try_line.c ---- */

/* The first line that is not empty, and the last, of what a reader wrote: escaped, with {} for the path and without what differs
 * between runs. The caller frees it. NULL: it is empty, or memory ran out. */
char *try_first_line(const struct try *t, const char *path, const char *messages);
char *try_last_line(const struct try *t, const char *path, const char *messages);

/* ---- try_case.c ---- */

/* Runs the reader, or those that are compared, on a path, and fills in how it ended. valid and records are known. False after an
 * error message, or when tracemend was told to stop. */
bool try_case_read(const struct try *t, struct try_case *c, const char *path, int *failed);
/* Generates or opens the case, checks it, runs the command on it, and stores the outcome. slot: the number of the thread. */
void try_case_free(struct try_case *c);
void try_case_run(struct try *t, struct try_case *c, size_t slot);
/* Runs the debugger for a case that was killed by a signal. */
void try_case_locate(struct try *t, struct try_case *c, size_t slot);
/* Writes a reduced sample of a group to the output directory. */
void try_group_keep(struct try *t, struct try_group *g, size_t slot);

/* ---- try_site.c ---- */

/* Whether a debugger is installed. */
bool try_site_possible(void);
/* The arguments for a debugger that runs a command and prints its stack. NULL: out of memory. */
char **try_site_command(char *const *arguments);
/* The place of a crash in what it printed: up to three functions, the innermost first, without those that carry out an abort.
 * Escaped; the caller frees it. NULL: the command does not crash in the debugger, or its stack says nothing. */
char *try_site_parse(const char *output);
/* Processor time for the debugger itself, in seconds. */
#define TRY_SITE_SECONDS 20u

/* ---- try_report.c ---- */

/* "killed by SIGSEGV in memcpy < read_page", without LF. */
void try_print_heading(FILE *out, const struct try_case *c);
/* The command that replays the kept sample, or the first case. NULL: out of memory, or the file is gone. */
char *try_replay(const struct try *t, const struct try_group *g);
void try_report_text(const struct try *t, FILE *out);
/* False: out of memory. */
bool try_report_json(const struct try *t, FILE *out);
bool try_report_sarif(const struct try *t, FILE *out);

#endif
