/* check: checks inputs and prints a report. With -j, threads check inputs ahead of the one that prints, in the order of the
 * arguments, so that the report is the same. */
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_map.h"

/* Finished targets that may wait to be printed, per thread; and their findings, beyond which no further target is begun. */
#define WAITING_PER_THREAD 4
#define WAITING_FINDINGS 50000

/* What came of one input; an archive may have several. */
struct check_result {
	char *path;
	bool found; /* below a directory or in an archive: the report ends in no advice */
	struct tracemend_report *report;
	struct report_map *map;		 /* NULL: no report of this run draws one */
	struct tracemend_input *input;	 /* of the repair, or of `again`: kept open */
	struct tracemend_input *again;	 /* to be checked again for what the report has no room for; NULL: it has room, or a
					  * baseline wants to see all findings at once */
	struct tracemend_repair *repair; /* what it would do, for the advice at the end; may be NULL */
	struct tracemend_error error, repair_error;
	struct check_result *next;
};

struct check_job {
	struct tracemend_options library; /* outlives the inputs */
	struct cli_grading grading;	  /* of the library */
	struct check_result *results;
	struct tracemend_input *archive; /* that the inputs of results are in; NULL: nobody needs it any more */
	size_t passed_over;
	size_t findings; /* kept, of all results */
	bool failed;	 /* out of memory */
	bool printed;	 /* it had results */
	bool done;
};

struct check {
	struct cli_options *options;
	struct cli_targets targets;
	struct report_run run;
	const struct report_printer *printer;
	struct cli_saves *saves;
	struct cli_baseline *baseline;
	struct cli_progress *progress;
	struct check_job *jobs; /* of the targets */
	int code;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next, printed; /* the next target to check; the number of printed ones */
	size_t waiting;	      /* findings of targets that are finished and not printed */
	bool stopped;
};

/* Adds a result at the end. NULL: out of memory. */
static struct check_result *check_result_add(struct check_job *job, const char *path)
{
	struct check_result **end = &job->results;
	struct check_result *result = calloc(1, sizeof(*result));

	while (*end)
		end = &(*end)->next;
	if (result)
		result->path = strdup(path);
	if (!result || !result->path) {
		free(result);
		job->failed = true;
		return NULL;
	}
	*end = result;
	return result;
}

static void check_results_free(struct check_job *job)
{
	while (job->results) {
		struct check_result *result = job->results;
		job->results = result->next;
		tracemend_report_free(result->report);
		report_map_free(result->map);
		tracemend_repair_free(result->repair);
		tracemend_close(result->input);
		free(result->path);
		free(result);
	}
	tracemend_close(job->archive);
	job->archive = NULL;
}

/* Whether something that was found in a search may be left out, as it is no capture (then it may still be an archive of some:
 * *error is TM_UNRECOGNISED), or none of the format that is wanted. */
static bool check_passes_over(const struct cli_options *o, struct tracemend_input *input, const char *path,
			      struct tracemend_error *error)
{
	struct tracemend_options library = o->library;
	bool expected = tracemend_name_expected(path);

	library.format = NULL;
	library.found = !expected;
	const char *format = tracemend_recognise(input, &library, error);
	if (format)
		return o->library.format && strcmp(format, o->library.format) != 0;
	return error->status == TM_UNRECOGNISED && !expected;
}

/* The labels that gen writes beside its captures: `check DIR/...` with all files of it names them as well. */
static bool check_is_labels(const struct cli_options *o, const char *path)
{
	const char *slash = strrchr(path, '/');

	return o->paths.count > 1 && !strcmp(slash ? slash + 1 : path, "labels.jsonl");
}

/* Checks an input, with a map if a report wants one. */
static struct tracemend_report *check_input(const struct cli_options *o, struct tracemend_input *input,
					    const struct tracemend_options *library, struct check_result *result)
{
	if (cli_map_wanted(o))
		return cli_map_check(input, NULL, library, &result->map, &result->error);
	return tracemend_check(input, library, &result->error);
}

/* Whether the input of a result is to stay open, for what its report has no room for. */
static bool check_goes_on(const struct cli_options *o, struct check_result *result, struct tracemend_input *input)
{
	if (!o->baseline && tracemend_report_is_full(result->report))
		result->again = input;
	return result->again;
}

/* Checks the captures in an archive that is none itself, and keeps it open where *again is set. False: there are none, or *error
 * says why they were not found. */
static bool check_parts(const struct cli_options *o, struct check_job *job, struct tracemend_input *input,
			const struct tracemend_options *library, bool *again, struct tracemend_error *error)
{
	struct tracemend_error failed;
	size_t count = tracemend_split(input, library, &job->passed_over, &failed);

	if (failed.status != TM_OK)
		*error = failed;
	for (size_t i = 0; i < count; i++) {
		const char *path;
		struct tracemend_input *part = tracemend_part(input, i, &path);
		struct check_result *result = check_result_add(job, path);
		if (result) {
			result->found = true;
			result->report = check_input(o, part, library, result);
			*again |= check_goes_on(o, result, part);
		}
	}
	return count;
}

/* Plans the repair that the report ends in. The result keeps the input then. */
static void check_plan(const struct check *c, const struct check_job *job, struct check_result *result,
		       struct tracemend_input **input)
{
	if (result->found || c->options->paths.count > 1 || !cli_next_wanted(c->options, result->report))
		return;
	result->repair = cli_next_plan(*input, result->report, &job->library, &result->repair_error);
	if (!result->repair)
		return;
	result->input = *input;
	*input = NULL;
}

static void check_work(struct check *c, size_t index, size_t slot)
{
	const struct cli_target *target = &c->targets.list[index];
	struct check_job *job = &c->jobs[index];
	struct tracemend_options *library = &job->library;
	struct tracemend_error error;

	if (target->first != SIZE_MAX)
		return;
	*library = c->options->library;
	cli_progress_attach(c->progress, slot, library);
	bool left = true, again = false;
	if (c->options->config) {
		left = cli_config_choose(&job->grading, c->options, target->path);
		library->grade_ctx = &job->grading;
	}
	struct tracemend_input *input = left ? tracemend_open(target->path, library, &error) : NULL;
	if (!left) {
		error.status = TM_USAGE;
		(void)snprintf(error.message, sizeof(error.message), "the settings leave no rule: it would be called clean");
	}
	bool labels = input && check_is_labels(c->options, target->path);
	struct check_result checked = { .report = NULL };
	bool tree = input && tracemend_is_tree(input);
	bool passed_over = input && (target->found || labels) && check_passes_over(c->options, input, target->path, &error);
	if (input && !passed_over && !tree) {
		checked.report = check_input(c->options, input, library, &checked);
		error = checked.error;
	}
	if ((error.status == TM_UNRECOGNISED || tree) && input && check_parts(c->options, job, input, library, &again, &error)) {
		/* printed one by one */
		job->archive = again ? input : NULL;
		input = again ? NULL : input;
	} else if (passed_over) {
		job->passed_over++;
	} else {
		struct check_result *result = check_result_add(job, target->path);
		if (result) {
			result->report = checked.report;
			result->map = checked.map;
			result->error = error;
			result->found = target->found;
			checked = (struct check_result){ .report = NULL };
			bool more = check_goes_on(c->options, result, input);
			check_plan(c, job, result, &input);
			if (more && input) {
				result->input = input;
				input = NULL;
			}
		}
	}
	tracemend_report_free(checked.report);
	report_map_free(checked.map);
	tracemend_close(input);
	cli_progress_finished(c->progress, slot);
}

/* What to do next, as text; NULL: nothing. */
static char *check_next(const struct check *c, const struct check_result *result)
{
	char *text = NULL;
	size_t size = 0;

	if (result->found || !cli_next_wanted(c->options, result->report))
		return NULL;
	FILE *out = open_memstream(&text, &size);
	if (out) {
		cli_next(out, result->path, result->report, result->repair, &result->repair_error);
		(void)fclose(out);
	}
	return text;
}

/* What is checked again for the findings behind the first ones. */
struct check_again {
	struct check_result *result;
	struct tracemend_options library;
	bool failed; /* it is not what it was */
};

/* The progress that is shown is that of other inputs. */
static bool check_again_goes_on(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	(void)done;
	(void)total;
	return !cli_signals_caught();
}

static struct tracemend_report *check_more(void *ctx, size_t skip)
{
	struct check_again *again = ctx;
	const struct tracemend_summary *first = tracemend_report_summary(again->result->report), *s;
	struct tracemend_error error;

	again->library.skip_findings = skip;
	struct tracemend_report *report = tracemend_check(again->result->again, &again->library, &error);
	s = tracemend_report_summary(report);
	if (s->errors == first->errors && s->warnings == first->warnings && s->notes == first->notes)
		return report;
	again->failed = true;
	tracemend_report_free(report);
	return NULL;
}

static void check_print_result(struct check *c, struct check_result *result, const struct tracemend_options *library)
{
	char shown[CLI_TEXT_MAX];
	struct report_entry entry = { .path = result->path, .shown = cli_show(shown, result->path), .error = &result->error };
	struct check_again again = { .result = result, .library = *library };
	int code = cli_exit_code(result->error.status);

	result->report = cli_baseline_select(c->baseline, result->report, shown, &entry.known);
	entry.report = result->report;
	entry.map = result->map;
	again.library.progress = check_again_goes_on;
	entry.more = result->again ? check_more : NULL;
	entry.more_ctx = &again;
	char *next = check_next(c, result);
	entry.next = next;
	cli_progress_hide(c->progress);
	if (result->report) {
		const struct tracemend_summary *s = tracemend_report_summary(result->report);
		if (report_fails(&c->run, s))
			code = cli_worse(code, CLI_FINDINGS);
		if (!s->complete && result->error.status == TM_OK)
			code = cli_worse(code, CLI_LIMIT);
	}
	cli_print_entry(&c->run, c->printer, c->options->library.max_findings, &entry);
	cli_saves_entry(c->saves, c->options->library.max_findings, &entry);
	if (again.failed && result->error.status == TM_OK) {
		(void)snprintf(result->error.message, sizeof(result->error.message),
			       "%.200s: was changed while it was checked: not all findings are listed", shown);
		result->error.status = TM_IO;
		code = cli_worse(code, CLI_IO);
	}
	if (result->error.status != TM_OK) {
		fflush(stdout);
		(void)cli_fail(&result->error);
	}
	if (next && !strcmp(c->options->format, "text") && c->options->paths.count == 1 && !c->options->quiet)
		fputs(next, stdout);
	free(next);
	cli_progress_show(c->progress);
	c->code = cli_worse(c->code, code);
}

/* A searched directory: it fails only if there is nothing in it. */
static void check_print_searched(struct check *c, size_t index)
{
	const struct cli_target *target = &c->targets.list[index];
	struct check_result result = { .path = target->path, .error = { .status = TM_UNRECOGNISED } };
	char shown[CLI_TEXT_MAX];

	for (size_t i = target->first; i < index; i++)
		if (c->jobs[i].printed)
			return; /* something was printed */
	/* What it is instead, if that can be told. */
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open(target->path, &c->options->library, &error);
	struct tracemend_report *report = input ? tracemend_check(input, &c->options->library, &error) : NULL;
	tracemend_report_free(report);
	tracemend_close(input);
	if (error.status == TM_UNRECOGNISED)
		(void)snprintf(result.error.message, sizeof(result.error.message), "%.*s; no capture is below it",
			       (int)sizeof(result.error.message) - 32, error.message);
	else
		(void)snprintf(result.error.message, sizeof(result.error.message),
			       "%s: not a capture of a known format; no capture is below it", cli_show(shown, target->path));
	check_print_result(c, &result, &c->options->library);
}

static void check_print(struct check *c, size_t index)
{
	struct check_job *job = &c->jobs[index];

	if (c->targets.list[index].first != SIZE_MAX)
		check_print_searched(c, index);
	/* The reports ask which rules are ignored, too: for this path. */
	c->options->grading.sections |= job->grading.sections;
	for (struct check_result *result = job->results; result; result = result->next)
		check_print_result(c, result, &job->library);
	c->options->grading.sections = 1;
	c->run.passed_over += job->passed_over;
	c->run.failed = c->run.failed || job->failed;
	job->printed = job->results;
	check_results_free(job);
}

struct check_thread {
	struct check *check;
	size_t slot;
	pthread_t thread;
};

static size_t check_findings(const struct check_job *job)
{
	size_t count = 0;

	for (const struct check_result *result = job->results; result; result = result->next)
		count += tracemend_report_finding_count(result->report);
	return count;
}

/* Whether a thread is to wait before it begins a target: memory is for so many reports. What is to be printed next never waits. */
static bool check_is_ahead(const struct check *c)
{
	size_t ahead = c->next - c->printed;

	return ahead && (ahead >= (size_t)c->options->jobs * WAITING_PER_THREAD || c->waiting >= WAITING_FINDINGS);
}

static void *check_thread(void *ctx)
{
	struct check_thread *thread = ctx;
	struct check *c = thread->check;

	(void)pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->stopped && c->next < c->targets.count && check_is_ahead(c))
			(void)pthread_cond_wait(&c->changed, &c->lock);
		if (c->stopped || c->next >= c->targets.count)
			break;
		size_t index = c->next++;
		(void)pthread_mutex_unlock(&c->lock);
		check_work(c, index, thread->slot);
		size_t findings = check_findings(&c->jobs[index]);
		(void)pthread_mutex_lock(&c->lock);
		c->waiting += c->jobs[index].findings = findings;
		c->jobs[index].done = true;
		(void)pthread_cond_broadcast(&c->changed);
	}
	(void)pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Prints every input as soon as it and all before it are finished. */
static void check_print_in_order(struct check *c)
{
	for (size_t i = 0; i < c->targets.count && !cli_signals_caught(); i++) {
		(void)pthread_mutex_lock(&c->lock);
		while (!c->jobs[i].done)
			(void)pthread_cond_wait(&c->changed, &c->lock);
		(void)pthread_mutex_unlock(&c->lock);
		check_print(c, i);
		(void)pthread_mutex_lock(&c->lock);
		c->printed = i + 1;
		c->waiting -= c->jobs[i].findings;
		(void)pthread_cond_broadcast(&c->changed);
		(void)pthread_mutex_unlock(&c->lock);
	}
}

/* Returns how many threads were started; 0 when there can be none. */
static size_t check_parallel(struct check *c, struct check_thread *threads, size_t count)
{
	size_t started = 0;

	if (pthread_mutex_init(&c->lock, NULL))
		return 0;
	if (pthread_cond_init(&c->changed, NULL)) {
		(void)pthread_mutex_destroy(&c->lock);
		return 0;
	}
	for (; started < count; started++) {
		threads[started] = (struct check_thread){ .check = c, .slot = started };
		if (pthread_create(&threads[started].thread, NULL, check_thread, &threads[started]))
			break;
	}
	if (started)
		check_print_in_order(c);
	(void)pthread_mutex_lock(&c->lock);
	c->stopped = true;
	(void)pthread_cond_broadcast(&c->changed);
	(void)pthread_mutex_unlock(&c->lock);
	for (size_t i = 0; i < started; i++)
		(void)pthread_join(threads[i].thread, NULL);
	(void)pthread_cond_destroy(&c->changed);
	(void)pthread_mutex_destroy(&c->lock);
	return started;
}

static void check_serial(struct check *c)
{
	for (size_t i = 0; i < c->targets.count && !cli_signals_caught(); i++) {
		check_work(c, i, 0);
		check_print(c, i);
	}
}

int cli_check(struct cli_options *o)
{
	struct tracemend_options shown = o->library; /* as the report lists findings */
	struct check c = {
		.options = o,
		.run = cli_saves_run(o, &shown),
		.printer = report_printer_find(o->format),
	};

	if (!o->paths.count)
		return cli_usage("check needs a file or directory");
	shown.max_findings = cli_saves_findings(o, c.printer);
	c.code = cli_targets_find(&c.targets, o);
	if (!c.code)
		c.code = cli_baseline_begin(&c.baseline, o);
	if (!c.code)
		c.code = cli_saves_begin(&c.saves, o, &c.targets);
	size_t threads = o->jobs < c.targets.count ? o->jobs : c.targets.count;
	struct check_thread *array = calloc(threads ? threads : 1, sizeof(*array));
	c.jobs = calloc(c.targets.count ? c.targets.count : 1, sizeof(*c.jobs));
	if (c.code || !c.jobs || !array) {
		(void)cli_saves_end(c.saves, 0, false);
		cli_baseline_free(c.baseline);
		cli_targets_free(&c.targets);
		free(c.jobs);
		free(array);
		return c.code ? c.code : cli_memory();
	}
	o->library.threads = threads ? o->jobs / (unsigned)threads : 1;
	c.run.passed_over = c.targets.passed_over;
	c.progress = cli_progress_new(o, threads, c.targets.count);
	if (c.printer->begin)
		c.printer->begin(&c.run);
	if (threads < 2 || !check_parallel(&c, array, threads))
		check_serial(&c);
	c.run.stopped = cli_signals_caught();
	if (c.printer->end)
		c.printer->end(&c.run);
	c.code = cli_worse(c.code, cli_saves_end(c.saves, c.run.passed_over, !cli_signals_caught()));
	c.code = cli_worse(c.code, cli_baseline_end(c.baseline, !c.run.incomplete && !c.run.failed && !cli_signals_caught()));
	cli_say_passed_over(o, c.run.passed_over);
	for (size_t i = 0; i < c.targets.count; i++)
		check_results_free(&c.jobs[i]);
	cli_progress_free(c.progress);
	cli_targets_free(&c.targets);
	free(c.jobs);
	free(array);
	if (c.run.failed) {
		cli_error("out of memory: the report is incomplete");
		c.code = cli_worse(c.code, CLI_LIMIT);
	}
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : c.code;
}
