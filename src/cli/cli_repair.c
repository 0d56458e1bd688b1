/* repair: plans, prints what is changed and lost, and writes the output. With -j, threads repair several inputs, and what each says
 * is printed in the order of the arguments. */
#include "cli/cli.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"

/* Checks -o, --manifest and --report against a list of inputs. */
static int repair_check_inputs(const struct cli_options *o, const struct cli_list *inputs)
{
	int code = CLI_CLEAN;

	for (size_t i = 0; i < inputs->count && !code; i++) {
		if (inputs != &o->paths && !strcmp(inputs->items[i], "-"))
			code = cli_usage("only the capture itself can be standard input");
		if (o->output && !code)
			code = cli_path_check_output("-o", o->output, inputs->items[i]);
		if (o->manifest && strcmp(o->manifest, "-") && !code)
			code = cli_path_check_output("--manifest", o->manifest, inputs->items[i]);
		if (o->page && !code)
			code = cli_path_check_output("--report", o->page, inputs->items[i]);
	}
	return code;
}

static bool repair_same_file(const char *path, const char *other)
{
	return path && other && strcmp(other, "-") && cli_path_same(path, other);
}

static int repair_check_paths(const struct cli_options *o)
{
	int code;

	code = repair_check_inputs(o, &o->paths);
	if (!code)
		code = repair_check_inputs(o, &o->extra);
	if (!code)
		code = repair_check_inputs(o, &o->donor);
	if (!code && repair_same_file(o->manifest, o->output))
		return cli_usage("--manifest and -o name the same file");
	if (!code && repair_same_file(o->page, o->output))
		return cli_usage("--report and -o name the same file");
	if (!code && repair_same_file(o->page, o->manifest))
		return cli_usage("--report and --manifest name the same file");
	return code;
}

/* Writes the manifest to its temporary file, or to standard output. */
static int repair_manifest(struct cli_file *file, struct tracemend_repair *r, const char *path)
{
	int code = cli_file_begin(file, path);
	if (code)
		return code;
	if (!report_manifest(file->stream, r)) {
		cli_file_abandon(file);
		return cli_memory();
	}
	return cli_file_flush(file) ? CLI_CLEAN : CLI_IO;
}

/* Publishes the output, if the reader accepts it, and its manifest before it. */
static int repair_publish(const struct cli_options *o, struct tracemend_repair *r, struct cli_verify *verify)
{
	const char *input = o->paths.items[0];
	bool written = !o->dry_run && (!o->in_place || tracemend_repair_outcome(r)->changed);

	if (written && o->in_place)
		return cli_output_in_place(r, input, verify);
	if (written)
		return cli_verify_publish(verify, r, o->output, true);
	if (o->in_place && o->verify_with && !cli_verify_ask(verify, input))
		return CLI_LOST; /* the input is the result */
	return cli_verify_ready(verify) ? CLI_CLEAN : CLI_IO;
}

/* Manifest and page are on disk before the output is, and get their names first. If the output does not get its own then, they are
 * removed. What is printed cannot be taken back: on standard output, the manifest comes after the output. */
static int repair_write(const struct cli_options *o, struct tracemend_repair *r, struct cli_page *page, struct cli_verify *verify)
{
	struct tracemend_error error = { 0 };
	struct cli_file beside[2] = { { 0 } }, printed = { 0 };
	const char *names[2];
	size_t count = 0;
	int code = CLI_CLEAN;

	bool print = o->manifest && !strcmp(o->manifest, "-");
	if (o->manifest && tracemend_repair_digest(r, &error) != TM_OK)
		return cli_fail(&error);
	if (o->manifest && !print) {
		code = repair_manifest(&beside[count], r, o->manifest);
		names[count++] = o->manifest;
	}
	if (o->page && !code) {
		code = cli_page_write(page, &beside[count], o->page);
		names[count++] = o->page;
	}
	if (!code) {
		verify->beside = beside;
		verify->beside_count = count;
		code = repair_publish(o, r, verify);
		verify->beside = NULL;
		if (!code && print)
			code = repair_manifest(&printed, r, o->manifest);
	}
	for (size_t i = 0; i < count; i++) {
		if (code && i < verify->beside_named)
			(void)unlink(names[i]);
		cli_file_abandon(&beside[i]);
	}
	return code;
}

/* Whether the input was unpacked: its name cannot be that of the output. */
static bool repair_was_packed(const struct tracemend_repair *r)
{
	const struct tracemend_report *report = tracemend_repair_report(r);

	for (size_t i = 0; i < tracemend_rule_count("container"); i++)
		if (tracemend_report_rule_count(report, tracemend_rule_at("container", i)))
			return true;
	return false;
}

static int repair_run(const struct cli_options *o, struct tracemend_input *input, struct tracemend_repair *r,
		      const struct tracemend_options *library, struct cli_progress *progress)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r);
	/* With -n the plan is the result; otherwise it is a message. */
	FILE *out = o->dry_run && !(o->manifest && !strcmp(o->manifest, "-")) ? cli_result() : cli_talk();
	struct stat st;
	bool replaced = o->output && !o->dry_run && stat(o->output, &st) == 0 && S_ISREG(st.st_mode);
	struct cli_verify verify = { .options = o };
	struct cli_windows windows = { .count = 0 };
	int code = CLI_CLEAN;

	/* Before anything is renamed: the input is read. */
	if (!o->quiet)
		cli_windows_find(&windows, input, r, library);
	struct cli_page page = { .path = o->paths.items[0], .repair = r };
	if (o->page)
		code = cli_page_fill(&page, input, library);
	if (!code)
		code = repair_write(o, r, &page, &verify);
	cli_page_free(&page);
	cli_progress_hide(progress);
	if (verify.answer && (cli_verify_refused(&verify) || !o->quiet))
		cli_verify_say(&verify, out);
	cli_verify_free(&verify);
	if (!code) {
		cli_repair_print(o, out, r, &windows);
		cli_repair_print_donor(o, out, r);
	}
	if (!code && !o->quiet)
		cli_next_advice(out, tracemend_repair_report(r), false);
	if (!code && !o->dry_run && !o->quiet) {
		char shown[CLI_TEXT_MAX];
		if (!o->in_place)
			fprintf(out, "written to %s%s%s\n", cli_show(shown, o->output),
				replaced ? ", in place of the file that was there" : "",
				cli_output_is_packed(o->output) ? ", which is not compressed, in spite of its name" : "");
		else if (outcome->changed)
			fprintf(out, "written to %s; the input is now %s.orig\n", cli_show(shown, o->paths.items[0]), shown);
	}
	cli_progress_show(progress);
	if (code)
		return code;
	if (o->dry_run)
		return outcome->changed ? CLI_FINDINGS : CLI_CLEAN;
	return outcome->lost ? CLI_LOST : CLI_CLEAN;
}

/* -n with a format: what was found, and in a page what would be done. r: NULL, and *error says why. */
static int repair_report(const struct cli_options *o, struct tracemend_repair *r, const struct tracemend_error *error,
			 struct report_run *run)
{
	const char *path = o->paths.items[0];
	char shown[CLI_TEXT_MAX];
	struct report_entry entry = { .path = path,
				      .shown = cli_show(shown, path),
				      .report = r ? tracemend_repair_report(r) : NULL,
				      .error = error,
				      .repair = r };

	cli_print_entry(run, report_printer_find(o->format), run->options->max_findings, &entry);
	if (run->failed)
		return cli_memory();
	return !r ? CLI_CLEAN : tracemend_repair_outcome(r)->changed ? CLI_FINDINGS : CLI_CLEAN;
}

/* Nothing can be salvaged of what was given: says what is missing. */
static void repair_advise(const struct cli_options *o, struct tracemend_input *input, const struct tracemend_options *library)
{
	struct tracemend_error error = { 0 };
	struct tracemend_report *report = tracemend_check(input, library, &error);

	if (report) {
		cli_next_donors(cli_talk(), o, tracemend_report_summary(report)->format);
		cli_next_advice(cli_talk(), report, true);
	}
	tracemend_report_free(report);
}

/* The capture with its further pieces and donors. */
static struct tracemend_input *repair_open(const struct cli_options *o, const struct tracemend_options *library,
					   struct tracemend_error *error)
{
	struct tracemend_input *input = tracemend_open(o->paths.items[0], library, error);

	for (size_t i = 0; i < o->extra.count && input && error->status == TM_OK; i++)
		(void)tracemend_add(input, o->extra.items[i], TM_ROLE_EXTRA, error);
	for (size_t i = 0; i < o->donor.count && input && error->status == TM_OK; i++)
		(void)tracemend_add(input, o->donor.items[i], TM_ROLE_DONOR, error);
	return input;
}

/* run: NULL, or the report that -n with a format prints. */
static int repair_one(const struct cli_options *o, struct cli_progress *progress, size_t slot, struct report_run *run)
{
	struct tracemend_error error = { 0 };
	struct tracemend_options library = o->library;
	struct tracemend_repair *r = NULL;
	int code = repair_check_paths(o);

	if (code)
		return code;
	if (run)
		library.max_findings = run->options->max_findings;
	cli_progress_attach(progress, slot, &library);
	struct tracemend_input *input = repair_open(o, &library, &error);
	if (input && error.status == TM_OK && tracemend_is_tree(input))
		code = cli_refuse_several(o->paths.items[0], input, &library);
	if (input && error.status == TM_OK && !code && o->extra_auto)
		(void)cli_next_take(input, o->paths.items[0], &library, &error);
	if (input && error.status == TM_OK && !code)
		r = tracemend_repair(input, &library, &error);
	if (!code && error.status == TM_UNRECOGNISED)
		code = cli_refuse_several(o->paths.items[0], input, &library);
	if (r && o->in_place && repair_was_packed(r))
		code = cli_usage("%s: is an archive or compressed, and the result is not: --in-place is not possible",
				 o->paths.items[0]);
	else if (r && !run)
		code = repair_run(o, input, r, &library, progress);
	else
		cli_progress_hide(progress);
	if (run && !code)
		code = repair_report(o, r, &error, run);
	if (!r && !code) {
		(void)fflush(stdout);
		code = cli_fail(&error);
		if (error.status == TM_NOTHING && !o->quiet)
			repair_advise(o, input, &library);
	}
	tracemend_repair_free(r);
	tracemend_close(input);
	cli_progress_finished(progress, slot);
	return code;
}

/* The name of the output of an input; *made is to be freed. Returns an exit code after a message. */
static int repair_name(const struct cli_options *all, struct cli_options *one, char **made)
{
	const char *path = one->paths.items[0];
	bool beside = !all->output && !all->in_place;

	*made = NULL;
	if (all->dry_run || (all->output && all->paths.count == 1))
		return CLI_CLEAN;
	if (!strcmp(path, "-"))
		return cli_usage("standard input has no name: repair needs -o OUT");
	*made = all->in_place ? cli_output_original(path) : beside ? cli_output_beside(path) : cli_output_below(all->output, path);
	if (!*made)
		return cli_memory();
	if ((all->in_place || beside) && cli_output_exists(*made))
		return cli_usage("%s: %s exists already; %s", path, *made,
				 beside ? "-o OUT gives another name"
					: "it would be the input under its new name: rename it first");
	if (!all->in_place)
		one->output = *made;
	return CLI_CLEAN;
}

static int repair_check_usage(const struct cli_options *o)
{
	bool several = o->paths.count > 1;
	struct stat st;

	if (!o->paths.count)
		return cli_usage("repair needs a capture");
	if (o->output && !strcmp(o->output, "-"))
		return cli_usage(
			"-o -: repair writes a file, which appears as a whole or not at all; standard output is not possible");
	if (o->in_place && o->output)
		return cli_usage("--in-place and -o OUT: only one of them");
	if (strcmp(o->format, "text") != 0 && !o->dry_run)
		return cli_usage("--format is for -n, which prints a report instead of writing the result");
	if (strcmp(o->format, "text") != 0 && (o->page || o->manifest))
		return cli_usage("--format and %s: only one of them", o->page ? "--report" : "--manifest");
	if (o->dry_run && o->verify_with)
		return cli_usage("-n writes nothing that --verify-with could read: only one of them");
	if (several && (o->manifest || o->page || o->extra.count))
		return cli_usage("%s belongs to one capture, and there are %zu%s",
				 o->extra.count ? "--extra"
				 : o->manifest	? "--manifest"
						: "--report",
				 o->paths.count, o->extra.count ? " (a pattern of --extra stands in quotes)" : "");
	if (several && o->output && !stat(o->output, &st) && !S_ISDIR(st.st_mode))
		return cli_usage("-o %s: is not a directory, and there are %zu captures", o->output, o->paths.count);
	return CLI_CLEAN;
}

/* ---- several inputs ---- */

/* What one input came to, and what was said of it. */
struct repair_job {
	struct cli_options options;
	char *made; /* the name of its output */
	char *result, *talk;
	size_t result_size, talk_size;
	int code;
	bool done;
};

struct repair_jobs {
	struct repair_job *list;
	size_t count, next;
	struct cli_progress *progress;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct repair_thread {
	struct repair_jobs *jobs;
	size_t slot;
	pthread_t thread;
};

static void repair_aside(struct repair_job *job, struct cli_progress *progress, size_t slot)
{
	FILE *result = open_memstream(&job->result, &job->result_size), *talk = open_memstream(&job->talk, &job->talk_size);

	if (result && talk) {
		cli_redirect(result, talk);
		job->code = repair_one(&job->options, progress, slot, NULL);
		cli_redirect(NULL, NULL);
	}
	bool good = result && talk && !ferror(result) && !ferror(talk);
	if (result)
		good = !fclose(result) && good;
	if (talk)
		good = !fclose(talk) && good;
	if (!good)
		job->code = cli_worse(job->code, cli_memory());
}

static void *repair_thread(void *ctx)
{
	struct repair_thread *thread = ctx;
	struct repair_jobs *jobs = thread->jobs;

	(void)pthread_mutex_lock(&jobs->lock);
	while (jobs->next < jobs->count && !cli_signals_caught()) {
		struct repair_job *job = &jobs->list[jobs->next++];
		(void)pthread_mutex_unlock(&jobs->lock);
		repair_aside(job, jobs->progress, thread->slot);
		(void)pthread_mutex_lock(&jobs->lock);
		job->done = true;
		(void)pthread_cond_broadcast(&jobs->changed);
	}
	(void)pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

static void repair_print_job(const struct repair_job *job, struct cli_progress *progress)
{
	cli_progress_hide(progress);
	if (job->result)
		(void)fwrite(job->result, 1, job->result_size, stdout);
	(void)fflush(stdout);
	if (job->talk)
		(void)fwrite(job->talk, 1, job->talk_size, stderr);
	cli_progress_show(progress);
}

/* Returns how many threads were started; with 0, nothing was done. */
static size_t repair_parallel(struct repair_jobs *jobs, struct repair_thread *threads, size_t count, int *code)
{
	size_t started = 0;

	if (pthread_mutex_init(&jobs->lock, NULL))
		return 0;
	if (pthread_cond_init(&jobs->changed, NULL)) {
		(void)pthread_mutex_destroy(&jobs->lock);
		return 0;
	}
	for (; started < count; started++) {
		threads[started] = (struct repair_thread){ .jobs = jobs, .slot = started };
		if (pthread_create(&threads[started].thread, NULL, repair_thread, &threads[started]))
			break;
	}
	for (size_t i = 0; i < jobs->count && started; i++) {
		struct repair_job *job = &jobs->list[i];
		(void)pthread_mutex_lock(&jobs->lock);
		/* After a signal, what was begun ends, and nothing else is begun. */
		while (!job->done && !(cli_signals_caught() && i >= jobs->next))
			(void)pthread_cond_wait(&jobs->changed, &jobs->lock);
		bool done = job->done;
		(void)pthread_mutex_unlock(&jobs->lock);
		if (!done)
			break;
		repair_print_job(job, jobs->progress);
		*code = cli_worse(*code, job->code);
	}
	for (size_t i = 0; i < started; i++)
		(void)pthread_join(threads[i].thread, NULL);
	(void)pthread_cond_destroy(&jobs->changed);
	(void)pthread_mutex_destroy(&jobs->lock);
	return started;
}

static int repair_all(const struct cli_options *o, struct repair_jobs *jobs)
{
	size_t count = o->jobs < jobs->count ? o->jobs : jobs->count;
	struct repair_thread *threads = count > 1 ? calloc(count, sizeof(*threads)) : NULL;
	int code = CLI_CLEAN;

	for (size_t i = 0; i < jobs->count; i++)
		jobs->list[i].options.library.threads = o->jobs / (unsigned)(count ? count : 1);
	jobs->progress = cli_progress_new(o, count, jobs->count);
	if (!threads || !repair_parallel(jobs, threads, count, &code))
		for (size_t i = 0; i < jobs->count && !cli_signals_caught(); i++)
			code = cli_worse(code, repair_one(&jobs->list[i].options, jobs->progress, 0, NULL));
	cli_progress_free(jobs->progress);
	free(threads);
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : code;
}

/* The report of -n with a format, of one input after the other. */
static int repair_all_reported(const struct cli_options *o, struct repair_jobs *jobs)
{
	const struct report_printer *printer = report_printer_find(o->format);
	struct tracemend_options shown = o->library;
	struct report_run run = cli_saves_run(o, &shown);
	int code = CLI_CLEAN;

	shown.max_findings = cli_saves_findings(o, printer);
	jobs->progress = cli_progress_new(o, 1, jobs->count);
	if (printer->begin)
		printer->begin(&run);
	for (size_t i = 0; i < jobs->count && !cli_signals_caught(); i++)
		code = cli_worse(code, repair_one(&jobs->list[i].options, jobs->progress, 0, &run));
	run.stopped = cli_signals_caught();
	if (printer->end)
		printer->end(&run);
	cli_progress_free(jobs->progress);
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : run.failed ? cli_memory() : code;
}

/* Two inputs must not get the same name in the directory. */
static int repair_check_names(const struct repair_jobs *jobs, const struct cli_list *paths)
{
	for (size_t i = 0; i < jobs->count; i++)
		for (size_t k = 0; k < i; k++) {
			const char *made = jobs->list[i].made, *other = jobs->list[k].made;
			if (made && other && !strcmp(made, other))
				return cli_usage("%s and %s would both be written to %s", paths->items[k], paths->items[i], made);
		}
	return CLI_CLEAN;
}

int cli_repair(struct cli_options *o)
{
	int code = repair_check_usage(o);
	struct repair_jobs jobs = { .count = code ? 0 : o->paths.count };

	jobs.list = calloc(jobs.count ? jobs.count : 1, sizeof(*jobs.list));
	if (!code && !jobs.list)
		code = cli_memory();
	for (size_t i = 0; i < jobs.count && !code; i++) {
		struct repair_job *job = &jobs.list[i];
		job->options = *o;
		job->options.paths = (struct cli_list){ .items = &o->paths.items[i], .count = 1 };
		code = repair_name(o, &job->options, &job->made);
	}
	if (!code)
		code = repair_check_names(&jobs, &o->paths);
	if (!code && jobs.count > 1 && o->output && !o->dry_run && mkdir(o->output, 0777) && errno != EEXIST) {
		cli_error("%s: cannot be created: %s", o->output, strerror(errno));
		code = CLI_IO;
	}
	if (!code)
		code = strcmp(o->format, "text") != 0 ? repair_all_reported(o, &jobs) : repair_all(o, &jobs);
	for (size_t i = 0; i < jobs.count && jobs.list; i++) {
		free(jobs.list[i].made);
		free(jobs.list[i].result);
		free(jobs.list[i].talk);
	}
	free(jobs.list);
	return code;
}
