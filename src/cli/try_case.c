/* One case of try, from recipe or path to its outcome; and the reduced sample of a group. */
#include "cli/reader.h"
#include "cli/try.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The result of check. */
struct try_check {
	bool known; /* it is a capture of the format */
	bool valid;
	uint64_t records;
	const struct tracemend_rule *error; /* the first */
	const struct tracemend_rule *asked; /* set by the caller: whether this rule is reported; NULL: none */
	bool reports;
};

/* ---- the reader ---- */

/* Runs the command on a path. False after an error message, or when tracemend was told to stop. */
static bool try_read(const struct try *t, const char *path, struct child_result *r, int *code)
{
	reader_run(t->options, READER_RUN, path, r);
	if (r->end == CHILD_NOT_RUN) {
		cli_error("%s: cannot be run: %s", t->options->shell ? "/bin/sh" : t->options->command_line.items[0],
			  strerror(r->code));
		*code = CLI_IO;
	}
	if (r->end == CHILD_NOT_RUN || r->end == CHILD_CANCELLED)
		child_result_free(r);
	return r->end != CHILD_NOT_RUN && r->end != CHILD_CANCELLED;
}

/* ---- check ---- */

/* Checks an input, and closes it. False after an error message. */
static bool try_check(struct tracemend_input *input, const struct tracemend_options *library, struct try_check *check,
		      struct tracemend_error *error, int *code)
{
	*check = (struct try_check){ .asked = check->asked };
	struct tracemend_report *report = input ? tracemend_check(input, library, error) : NULL;
	tracemend_close(input);
	if (!report && error->status == TM_UNRECOGNISED)
		return true; /* readers get such files, too */
	if (!report || error->status != TM_OK) {
		*code = cli_fail(error);
		tracemend_report_free(report);
		return false;
	}
	size_t count = tracemend_report_finding_count(report);
	for (size_t i = 0; i < count && !check->error; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		if (f->severity == TM_ERROR)
			check->error = f->rule;
	}
	check->known = true;
	check->valid = !tracemend_report_summary(report)->errors;
	check->records = tracemend_report_summary(report)->records;
	check->reports = check->asked && tracemend_report_rule_count(report, check->asked);
	tracemend_report_free(report);
	return true;
}

static struct tracemend_options try_library(const struct try *t, const struct try_case *c)
{
	struct tracemend_options library = t->options->library;

	if (!c->path)
		library.format = c->recipe.format;
	cli_progress_attach(NULL, 0, &library);
	return library;
}

/* ---- cases ---- */

/* The path for a thread in the scratch directory. NULL: out of memory. */
static char *try_scratch(const struct try *t, size_t slot)
{
	char *path;

	return asprintf(&path, "%s/%zu", t->scratch, slot) < 0 ? NULL : path;
}

/* Writes a sample into the directory. Returns its path, or NULL after an error message. */
static char *try_write(const struct tracemend_sample *sample, const char *directory, int *code)
{
	struct tracemend_error error = { 0 };
	char *path = NULL;

	if (tracemend_sample_write(sample, directory, &error) != TM_OK)
		*code = cli_fail(&error);
	else if (asprintf(&path, "%s/%s", directory, tracemend_sample_name(sample)) < 0)
		*code = cli_memory();
	return *code ? NULL : path;
}

/* Writes the files of a case for the reader, and checks them. Returns the path; NULL: there is nothing to read (c->skipped), or it
 * failed. *made: a path to remove later. */
static char *try_case_make(struct try *t, struct try_case *c, const char *directory, struct try_check *check, bool *made)
{
	struct tracemend_options library = try_library(t, c);
	struct tracemend_error error = { 0 };

	*made = false;
	if (c->path) {
		struct tracemend_input *input = tracemend_open(c->path, &library, &error);
		struct stat st;
		if (!try_check(input, &library, check, &error, &c->failed))
			return NULL;
		c->size = stat(c->path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
		return strdup(c->path);
	}
	struct tracemend_sample *sample = tracemend_generate(&c->recipe, &error);
	if (!sample) {
		c->skipped = error.status == TM_USAGE && c->recipe.rule;
		if (!c->skipped)
			c->failed = cli_fail(&error);
		return NULL;
	}
	c->size = cli_sample_size(sample);
	char *path = NULL;
	if (try_check(tracemend_open_sample(sample, &library, &error), &library, check, &error, &c->failed))
		path = try_write(sample, directory, &c->failed);
	*made = path != NULL;
	tracemend_sample_free(sample);
	return path;
}

typedef void (*try_use)(struct try *t, struct try_case *c, const char *path, const struct try_check *check);

static void try_case_use(struct try *t, struct try_case *c, size_t slot, try_use use)
{
	char *directory = try_scratch(t, slot), *path = NULL;
	struct try_check check = { .asked = c->recipe.sound ? tracemend_rule_find(c->recipe.rule) : NULL };
	bool made = false;

	if (directory)
		path = try_case_make(t, c, directory, &check, &made);
	else
		c->failed = cli_memory();
	if (path)
		use(t, c, path, &check);
	if (made)
		cli_path_remove(path);
	free(path);
	free(directory);
}

/* Compares the number of records that the reader prints with that of check. */
static void try_case_count(const struct try *t, struct try_case *c, const struct child_result *r)
{
	const char *how = r->count < c->records ? "fewer" : "more";
	bool lines = !t->options->count_with || !t->options->count_with->re_nsub;
	char number[2][64];

	if (!t->options->count_with || !c->valid || c->outcome != TRY_FINE || (r->counted ? r->count : 0) == c->records)
		return;
	free(c->message);
	free(c->last);
	c->outcome = TRY_COUNT;
	c->last = strdup(!lines && !r->counted ? "no number of records" : how);
	if (!lines && !r->counted)
		c->message = strdup("nothing that --count-with matches");
	else if (asprintf(&c->message, "%s, check counts %s", text_count(number[0], r->count, "record"),
			  text_number(number[1], c->records)) < 0)
		c->message = NULL;
}

/* Fills in how the reader ended on the path. c->valid and c->records are known. */
static void try_case_end(const struct try *t, struct try_case *c, const char *path, const struct child_result *r)
{
	struct try_crash crash;

	c->outcome = try_outcome_judge(t->options, c->valid, r, &crash);
	c->end = r->end;
	c->code = r->code;
	c->message = crash.summary ? crash.summary : try_first_line(t, path, r->messages);
	char *last = crash.summary ? strdup(crash.summary) : try_last_line(t, path, r->trail ? r->trail : "");
	c->last = last ? try_mask(last) : NULL;
	free(last);
	c->site = crash.site;
	c->reported = crash.site != NULL;
	try_case_count(t, c, r);
}

bool try_case_read(const struct try *t, struct try_case *c, const char *path, int *failed)
{
	struct child_result r;

	if (t->options->compared.count)
		return try_compare_run(t, c, path, failed);
	if (!try_read(t, path, &r, failed))
		return false;
	try_case_end(t, c, path, &r);
	child_result_free(&r);
	return true;
}

void try_case_free(struct try_case *c)
{
	free(c->message);
	free(c->site);
	free(c->last);
	free(c->key);
}

static void try_case_judge(struct try *t, struct try_case *c, const char *path, const struct try_check *check)
{
	c->valid = check->known && check->valid;
	c->records = check->records;
	c->spoiled = check->reports;
	c->rule = c->recipe.rule && !c->recipe.sound ? tracemend_rule_find(c->recipe.rule) : check->error;
	(void)try_case_read(t, c, path, &c->failed);
}

void try_case_run(struct try *t, struct try_case *c, size_t slot)
{
	try_case_use(t, c, slot, try_case_judge);
}

static void try_case_debug(struct try *t, struct try_case *c, const char *path, const struct try_check *check)
{
	(void)check;
	char *site = try_site_of(t->options, path);
	if (site) {
		free(c->site);
		c->site = site;
	}
}

void try_case_locate(struct try *t, struct try_case *c, size_t slot)
{
	try_case_use(t, c, slot, try_case_debug);
}

/* ---- samples ---- */

/* The context of the predicate for a reduced sample. */
struct try_wish {
	struct try *try;
	const struct try_case *like;
	struct tracemend_options library;
	const char *directory;
	struct cli_errors errors; /* of the case */
	uint64_t records;	  /* of the candidate */
	bool site;		  /* it must crash at the same place, too */
	int failed;
};

/* Whether check says the same of a candidate as of the case, which is the first candidate. */
static bool try_wish_checks(struct try_wish *w, const struct tracemend_sample *candidate)
{
	const struct try_case *like = w->like;
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open_sample(candidate, &w->library, &error);
	struct tracemend_report *report = input ? tracemend_check(input, &w->library, &error) : NULL;
	bool good = false;

	tracemend_close(input);
	if (report) {
		bool valid = !tracemend_report_summary(report)->errors;
		w->records = tracemend_report_summary(report)->records;
		good = valid == like->valid && (!like->rule || tracemend_report_rule_count(report, like->rule)) &&
		       cli_errors_known(&w->errors, report);
	} else if (error.status == TM_UNRECOGNISED) {
		good = !like->valid && !like->rule;
	}
	tracemend_report_free(report);
	return good;
}

/* Whether the reader ends on the path as it did on the case: in its group. Where only the debugger knows the place, it is asked if
 * w->site. */
static bool try_wish_ends(struct try_wish *w, const char *path)
{
	const struct try_case *like = w->like;
	struct try_case c = { .valid = like->valid, .rule = like->rule, .records = w->records };
	bool debugged = like->site && !like->reported, good = false;

	if (!try_case_read(w->try, &c, path, &w->failed)) {
		try_case_free(&c);
		return false;
	}
	if (debugged && c.outcome == like->outcome && !c.site && w->site)
		c.site = try_site_of(w->try->options, path);
	if (debugged && !w->site) {
		good = c.outcome == like->outcome && c.code == like->code;
	} else if (c.outcome == like->outcome) {
		c.key = try_key(&c);
		good = c.key && !strcmp(c.key, like->key);
	}
	try_case_free(&c);
	return good;
}

static bool try_predicate_holds(void *ctx, const struct tracemend_sample *candidate)
{
	struct try_wish *w = ctx;

	if (w->failed || !try_wish_checks(w, candidate))
		return false;
	char *path = try_write(candidate, w->directory, &w->failed);
	bool good = path && try_wish_ends(w, path);
	if (path)
		cli_path_remove(path);
	free(path);
	return good;
}

/* Opens a case as an input: its path, or a generated sample, which must outlive the input. */
static struct tracemend_input *try_open(const struct try_case *c, const struct tracemend_options *library,
					struct tracemend_sample **sample, struct tracemend_error *error)
{
	if (c->path)
		return tracemend_open(c->path, library, error);
	*sample = tracemend_generate(&c->recipe, error);
	return *sample ? tracemend_open_sample(*sample, library, error) : NULL;
}

/* The name of the sample, in the folder of its group: "signal-taskinfo-missing-tid.fxt". NULL: out of memory. */
static char *try_sample_path(const struct try_group *g)
{
	const struct try_case *c = g->first;
	const char *what = c->rule ? cli_rule_bare(c->rule) : c->valid ? "valid" : "unrecognised", *dot = NULL;
	char *path = NULL;

	const struct tracemend_format *f = cli_format_find(c->path ? (c->rule ? c->rule->format : "") : c->recipe.format);
	if (f)
		dot = f->extension;
	else if (c->path && strrchr(c->path, '.') && !strchr(strrchr(c->path, '.'), '/'))
		dot = strrchr(c->path, '.');
	return asprintf(&path, "%s/%s-%s%s", g->folder, try_outcome_name(c->outcome), what, dot ? dot : "") < 0 ? NULL : path;
}

/* Makes the folder DIR/ID of a group, without what an earlier run left in it. False after an error message. */
static bool try_folder_make(const struct try *t, struct try_group *g)
{
	if (asprintf(&g->folder, "%s/%s", t->options->output, g->id) < 0) {
		g->folder = NULL;
		g->failed = cli_memory();
		return false;
	}
	cli_path_remove(g->folder);
	if (mkdir(g->folder, 0777)) {
		char shown[CLI_TEXT_MAX];
		cli_error("%s: cannot be created: %s", cli_show(shown, g->folder), strerror(errno));
		g->failed = CLI_IO;
		return false;
	}
	g->sample = try_sample_path(g);
	if (!g->sample)
		g->failed = cli_memory();
	return g->sample != NULL;
}

/* A candidate that hangs takes the whole time limit, so a hang gets this fraction of the tries. */
#define TRY_HANG_SHARE 10u

static struct tracemend_sample *try_reduce(struct try_wish *w, struct tracemend_input *input, struct tracemend_error *error)
{
	uint64_t tries = w->try->options->tries;
	struct tracemend_predicate predicate = { .holds = try_predicate_holds,
						 .ctx = w,
						 .tries = w->like->outcome == TRY_HANG
								  ? (tries + TRY_HANG_SHARE - 1) / TRY_HANG_SHARE
								  : tries };
	struct tracemend_sample *reduced = tracemend_reduce(input, &w->library, &predicate, error);

	/* If the reduced sample crashes at another place, it is reduced again with the place in the predicate, which takes longer.
	 */
	if (reduced && w->like->site && !w->site) {
		w->site = true;
		if (!try_predicate_holds(w, reduced)) {
			tracemend_sample_free(reduced);
			reduced = tracemend_reduce(input, &w->library, &predicate, error);
		}
	}
	return reduced;
}

void try_group_keep(struct try *t, struct try_group *g, size_t slot)
{
	const struct try_case *c = g->first;
	struct tracemend_error error = { 0 };
	struct try_wish w = { .try = t, .like = c, .library = try_library(t, c) };
	struct tracemend_sample *original = NULL, *kept = NULL;
	char *directory = try_scratch(t, slot);

	w.directory = directory;
	if (!try_folder_make(t, g)) {
		free(directory);
		return;
	}
	struct tracemend_input *input = directory && cli_errors_open(&w.errors) ? try_open(c, &w.library, &original, &error) : NULL;
	if (input && t->options->tries)
		kept = try_reduce(&w, input, &error);
	if (input && (!t->options->tries || error.status == TM_NOTHING)) /* the outcome varies: the sample is kept as it is */
		kept = tracemend_sample_of(input, &error);
	if (kept) {
		g->size = cli_sample_size(kept);
		g->failed = w.failed;
		if (tracemend_sample_write_as(kept, g->sample, &error) != TM_OK)
			g->failed = cli_fail(&error);
		else if (!g->failed && !try_page_write(t, g))
			g->failed = CLI_IO;
	} else if (error.status != TM_CANCELLED) {
		g->failed = error.status != TM_OK ? cli_fail(&error) : cli_memory();
	}
	tracemend_close(input);
	tracemend_sample_free(kept);
	tracemend_sample_free(original);
	cli_errors_close(&w.errors);
	free(directory);
}
