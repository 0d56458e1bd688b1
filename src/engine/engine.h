/* What the files behind tracemend.h share. The fuzz oracle and the tests use it, too: it lets them feed a bundle of their
 * own making to the public functions. */
#ifndef ENGINE_H
#define ENGINE_H

#include "core/facts.h"
#include "core/format.h"

struct tracemend_input {
	struct bundle *bundle;
};

struct tracemend_sample {
	const struct format *format; /* NULL: of an input that no format claims */
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

/* Makes an input of a bundle, which it owns from then on, also on failure. */
struct tracemend_input *input_from_bundle(struct bundle *b, struct tracemend_error *error);
struct bundle *input_bundle(struct tracemend_input *input);

/* The format of that name, or NULL. */
const struct format *format_find(const char *name);
/* The format of the bundle: the one the options force, or the highest bid. NULL and *error when there is none. */
const struct format *format_recognise(struct bundle *b, const struct tracemend_options *options, struct tracemend_error *error);
/* The profile of the options if the format has it, its default otherwise (NULL where it has none). *error is TM_USAGE when
 * the options name one that it has not. */
const char *format_profile(const struct format *f, const char *wanted, struct tracemend_error *error);

/* One walk over the bundle into a new report; plan may be NULL. *status is what became of the walk. Returns NULL (and
 * *error) only when memory is short before it began or the format is not recognised. */
struct tracemend_report *engine_scan(struct bundle *b, const struct format *f, const struct tracemend_options *options,
				     struct plan *plan, enum tracemend_status *status, struct tracemend_error *error);
/* Errors by the rules' own severity, archives included. */
uint64_t report_own_errors(const struct tracemend_report *report);

#endif
