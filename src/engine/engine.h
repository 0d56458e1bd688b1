/* What the files of the engine share. The fuzz oracle and the tests use it as well, to give bundles of their own to the public
 * functions. */
#ifndef ENGINE_H
#define ENGINE_H

#include "core/facts.h"
#include "core/format.h"

struct tracemend_input {
	struct bundle *bundle;
	unsigned users;			/* the caller, and each repair: the last one frees it */
	struct tracemend_input **parts; /* of an archive with several captures */
	size_t part_count, part_capacity;
};

struct tracemend_sample {
	const struct format *format; /* NULL: the sample was made from an input of no known format */
	char *name;
	bool directory;
	struct gen gen; /* its files */
	const struct tracemend_rule **expected;
	size_t expected_count;
};

struct tracemend_report {
	const struct format *format;
	struct findings *container; /* about archives and compression */
	struct findings *findings;
	struct facts facts;
	struct advice advice[ADVICE_MAX];
	size_t advice_count;
	struct tracemend_summary summary;
	char version[sizeof(((struct scan *)0)->version)];
	char incomplete[sizeof(((struct scan *)0)->incomplete)];
	bool reasoned; /* the format said why it is incomplete */
	char *path;
};

/* Copies what the caller gives, of given_size bytes (0: first_size, that of the first version), into *own of `size` bytes: what an
 * older caller does not know is 0. False and *error when a newer caller sets what is not known here. */
bool engine_take(void *own, size_t size, size_t first_size, const void *given, size_t given_size, struct tracemend_error *error);
bool engine_options(struct tracemend_options *own, const struct tracemend_options *given, struct tracemend_error *error);
/* The error of a call: *fallback when the caller gave none. It is emptied. */
struct tracemend_error *engine_begin(struct tracemend_error *error, struct tracemend_error *fallback);
/* Sets *error to TM_USAGE; returns NULL. */
void *engine_null(struct tracemend_error *error, const char *what);

/* Makes an input from a bundle, and takes ownership of the bundle, also on failure. */
struct tracemend_input *input_from_bundle(struct bundle *b, struct tracemend_error *error);
/* Another user of the input, which calls tracemend_close(). */
struct tracemend_input *input_share(struct tracemend_input *input);
/* The progress of these options is called from now on, if they have one. */
void input_progress(struct tracemend_input *input, const struct tracemend_options *options);
struct bundle *input_bundle(struct tracemend_input *input);

/* The format of that name, or NULL, also for the name NULL. */
const struct format *format_find(const char *name);
/* The format of the bundle: the one in the options, or the one with the highest bid. NULL and *error when there is none. */
const struct format *format_recognise(struct bundle *b, const struct tracemend_options *options, struct tracemend_error *error);
/* The wanted profile if the format has it; else its default (NULL when it has no profiles). *error is TM_USAGE when another one is
 * wanted. */
const char *format_profile(const struct format *f, const char *wanted, struct tracemend_error *error);

/* Walks the bundle into a new report; plan may be NULL. *status is the outcome of the walk. Returns NULL, with *error, only when
 * the format is not recognised or memory ran out before the walk. */
struct tracemend_report *engine_scan(struct bundle *b, const struct format *f, const struct tracemend_options *options,
				     struct plan *plan, enum tracemend_status *status, struct tracemend_error *error);
/* A capture that was copied as text, and what it was before. */
struct engine_text {
	struct plan *undo;   /* leaves out what was put in */
	struct bundle *view; /* its output; reads from the bundle that it was made of */
};
/* text->view is not NULL where the bundle was copied as text: it has errors, and fewer without these bytes. */
enum tracemend_status engine_text_open(struct engine_text *text, struct bundle *b, const struct format *f,
				       const struct tracemend_options *options, struct tracemend_error *error);
void engine_text_close(struct engine_text *text);
/* *plan is not NULL where the bundle, which has errors, is wholly sound when blocks that are out of place are put back. nothing:
 * there is nothing to salvage as it is, and only its first block is looked for. */
enum tracemend_status engine_blocks(struct plan **plan, struct bundle *b, const struct format *f, bool nothing,
				    const struct tracemend_options *options, struct tracemend_error *error);

/* The number of errors by the severity of the rules, before re-grading; those about archives included. */
uint64_t report_own_errors(const struct tracemend_report *report);

#endif
