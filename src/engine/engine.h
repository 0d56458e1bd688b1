/* What the files of the engine share. The fuzz oracle and the tests use it as well, to give bundles of their own to the public
 * functions. */
#ifndef ENGINE_H
#define ENGINE_H

#include "core/facts.h"
#include "core/format.h"

struct tracemend_input {
	struct bundle *bundle;
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
	struct tracemend_summary summary;
	char version[sizeof(((struct scan *)0)->version)];
	char incomplete[sizeof(((struct scan *)0)->incomplete)];
	char *path;
};

/* Makes an input from a bundle, and takes ownership of the bundle, also on failure. */
struct tracemend_input *input_from_bundle(struct bundle *b, struct tracemend_error *error);
struct bundle *input_bundle(struct tracemend_input *input);

/* The format of that name, or NULL. */
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
/* The number of errors by the severity of the rules, before re-grading; those about archives included. */
uint64_t report_own_errors(const struct tracemend_report *report);

#endif
