/* Reports: a file for each printer. A printer gets the inputs of a run one by one, in the order of the arguments, and keeps
 * nothing of them. It knows findings and rules, but no format. */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/map.h"
#include "core/text.h"
#include "tracemend.h"

struct report_map;

/* The result of one input. */
struct report_entry {
	const char *path;		       /* as given: raw bytes */
	const char *shown;		       /* the same, escaped */
	const struct tracemend_report *report; /* NULL: it was not checked at all */
	const struct tracemend_error *error;   /* status TM_OK unless the work stopped early */
	uint64_t known;			       /* findings that a baseline has, which are not in the report */
	/* For a page that shows more than a report has; each may be NULL. */
	const struct report_map *map;
	const struct tracemend_repair *repair; /* what was done with the input */
	const char *next;		       /* what to do next, as text of several lines */
	/* A report of the same input with the findings behind the first `skip` of its format: struct tracemend_options. NULL: it
	 * could not be checked again. May be NULL: there is none, or nobody wants them. The caller frees it. */
	struct tracemend_report *(*more)(void *ctx, size_t skip);
	void *more_ctx;
};

struct report_run {
	FILE *out;
	bool color, quiet, verbose;
	enum tracemend_severity fail_on;	 /* the lowest severity for which an input fails; TM_IGNORE: it never fails */
	const struct tracemend_options *options; /* the options with which every input was checked */
	size_t printed;				 /* inputs printed so far; of these: */
	size_t with_errors, incomplete;
	size_t passed_over; /* files in searched directories and archives that are no captures; known at the end */
	bool failed;	    /* out of memory: the report is incomplete */
	bool stopped;	    /* by a signal: inputs are missing; known at the end */
	void *state;	    /* for the printer */
};

struct report_printer {
	const char *name;
	bool people;			       /* made to be read: by default, it lists 20 findings a rule */
	bool map;			       /* it draws entry->map where there is one */
	void (*begin)(struct report_run *run); /* may be NULL; so may end */
	void (*entry)(struct report_run *run, const struct report_entry *entry);
	void (*end)(struct report_run *run);
};

/* All printers, the default first, then NULL. */
extern const struct report_printer *const report_printers[];
/* The printer of that name, or NULL. */
const struct report_printer *report_printer_find(const char *name);

extern const struct report_printer report_text;
extern const struct report_printer report_concise;
extern const struct report_printer report_json;
extern const struct report_printer report_jsonl;
extern const struct report_printer report_sarif;
extern const struct report_printer report_sarif_github;
extern const struct report_printer report_junit;
extern const struct report_printer report_github;
extern const struct report_printer report_gitlab;
extern const struct report_printer report_markdown;
extern const struct report_printer report_html;

/* The summary of an input, also of one that was not checked. path is the escaped one. */
struct tracemend_summary report_summary(const struct report_entry *entry);

/* Whether the findings of an input make it fail, by run->fail_on. */
bool report_fails(const struct report_run *run, const struct tracemend_summary *s);

/* How often a rule was reported, and how many of these findings are listed, or were read. */
struct report_tally {
	const struct tracemend_rule *rule;
	uint64_t count, kept;
	size_t last; /* index of its last listed finding; SIZE_MAX: none */
};

/* The rules that were reported for an input and are not silenced; *count is set. The caller frees the array. NULL: none, or out of
 * memory (run->failed). */
struct report_tally *report_tally(struct report_run *run, const struct report_entry *entry, size_t *count);

/* Reads the findings of an input one by one, also those for which its report has no room: entry->more() gives them. Memory is that
 * of one report. */
struct report_reading {
	struct report_run *run;
	const struct report_entry *entry;
	const struct tracemend_report *report; /* with the next finding */
	struct tracemend_report *own;	       /* the same, where it is not the entry's */
	size_t index;			       /* of the next finding in it */
	size_t skip;			       /* findings of the format that were read */
	struct report_tally *tally;	       /* kept: that were read; NULL: none, or out of memory (run->failed) */
	size_t tallies, last;		       /* of them; the one of the last finding */
};
void report_read(struct report_reading *r, struct report_run *run, const struct report_entry *entry);
/* NULL: there are no more. A finding is valid until the next call. */
const struct tracemend_finding *report_read_next(struct report_reading *r);
void report_read_end(struct report_reading *r);

/* Prints `before`, the number and the noun, in the plural unless n is 1: ", 2 errors". */
void report_count(FILE *out, const char *before, uint64_t n, const char *noun);
/* The same for errors, warnings and notes: "1 error, 0 warnings, 4 notes". */
void report_counts(FILE *out, const struct tracemend_summary *s);

/* A message for people: numbers that count something are grouped, "4,206,592 bytes", as everywhere else. Machines get them as they
 * are. Returns out. */
#define REPORT_MESSAGE_SIZE 2048
const char *report_message(const char *message, char out[REPORT_MESSAGE_SIZE]);

/* Prints text, escaped for the kind of document. */
typedef void (*report_put)(FILE *out, const char *text);

/* Prints the hex rows of a finding; nothing if it has no context. */
void report_hex(FILE *out, const struct tracemend_finding *f, bool color, report_put put);

/* What a finding has in common with the same finding of another run: a hash, in lower-case hex, of its rule, its file, its path
 * without numbers, and its first bytes, but not of its offset. Returns out. */
#define REPORT_FINGERPRINT_SIZE 33
const char *report_fingerprint(const struct tracemend_finding *f, char out[REPORT_FINGERPRINT_SIZE]);

/* How many findings of a report have the same fingerprint. Zero-initialised is none. */
struct report_alike {
	struct map met;
	uint64_t beyond;
};
/* A name for a finding of the input `path` that no other has in this report: a hash, and how many of it there were. Returns out. */
const char *report_alike_name(struct report_alike *a, const char *path, const char *fingerprint,
			      char out[REPORT_FINGERPRINT_SIZE + 24]);
void report_alike_free(struct report_alike *a);

/* ---- JSON ---- */

/* Sets key to value and takes ownership of value, which may be NULL. False: out of memory. */
bool report_json_set(json_t *object, const char *key, json_t *value);
/* An unsigned number, at most 2^63-1 (no file offset is larger). */
json_t *report_json_number(uint64_t n);
/* One finding as an object. NULL: out of memory. */
json_t *report_json_finding(const struct tracemend_finding *f);
/* The word for a status in reports; "" for TM_OK. */
const char *report_status_name(enum tracemend_status status);
/* The summary as an object, without findings. NULL: out of memory. */
json_t *report_json_summary(const struct report_entry *entry);
/* Prints a value compactly and frees it; NULL sets run->failed. */
void report_json_print(struct report_run *run, json_t *value);

/* A rule with all its texts. NULL: out of memory. */
json_t *report_json_rule(const struct tracemend_rule *rule);

/* Writes the manifest of a repair whose digests are computed. False: out of memory. */
bool report_manifest(FILE *out, const struct tracemend_repair *repair);

#endif
