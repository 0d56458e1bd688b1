/* check: checks inputs and prints a report. With -j, threads check inputs ahead of the one that prints, in the order of the
 * arguments, so that the report is the same. */
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>

#include "report/report.h"

/* Finished inputs that may wait to be printed, per thread. */
#define WAITING_PER_THREAD 4

struct check_job {
	struct tracemend_input *input;
	struct tracemend_report *report;
	struct tracemend_error error;
	bool done;
};

struct check {
	struct cli_options *options;
	struct report_run run;
	const struct report_printer *printer;
	struct cli_progress *progress;
	struct check_job *jobs;
	int code;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next, printed; /* the next input to check; the number of printed ones */
	bool stopped;
};

static void check_work(struct check *c, size_t index, size_t slot)
{
	struct check_job *job = &c->jobs[index];
	struct tracemend_options library = c->options->library;

	cli_progress_attach(c->progress, slot, &library);
	job->input = tracemend_open(c->options->paths.items[index], &library, &job->error);
	if (job->input)
		job->report = tracemend_check(job->input, &library, &job->error);
	tracemend_close(job->input);
	job->input = NULL;
	cli_progress_finished(c->progress, slot);
}

static void check_print(struct check *c, size_t index)
{
	struct check_job *job = &c->jobs[index];
	char shown[CLI_TEXT_MAX];
	struct report_entry entry = {
		.path = c->options->paths.items[index],
		.shown = cli_show(shown, c->options->paths.items[index]),
		.report = job->report,
		.error = &job->error,
	};
	int code = cli_exit_code(job->error.status);

	cli_progress_hide(c->progress);
	if (job->report) {
		const struct tracemend_summary *s = tracemend_report_summary(job->report);
		if (report_fails(&c->run, s))
			code = cli_worse(code, CLI_FINDINGS);
		if (!s->complete && job->error.status == TM_OK)
			code = cli_worse(code, CLI_LIMIT);
		c->run.with_errors += s->errors > 0;
	}
	c->run.incomplete += !job->report || !tracemend_report_summary(job->report)->complete;
	c->printer->entry(&c->run, &entry);
	c->run.printed++;
	if (job->error.status != TM_OK) {
		fflush(stdout);
		(void)cli_fail(&job->error);
	}
	cli_progress_show(c->progress);
	c->code = cli_worse(c->code, code);
	tracemend_report_free(job->report);
	job->report = NULL;
}

struct check_thread {
	struct check *check;
	size_t slot;
	pthread_t thread;
};

static void *check_thread(void *ctx)
{
	struct check_thread *thread = ctx;
	struct check *c = thread->check;
	size_t ahead = (size_t)c->options->jobs * WAITING_PER_THREAD;

	(void)pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->stopped && c->next < c->options->paths.count && c->next - c->printed >= ahead)
			(void)pthread_cond_wait(&c->changed, &c->lock);
		if (c->stopped || c->next >= c->options->paths.count)
			break;
		size_t index = c->next++;
		(void)pthread_mutex_unlock(&c->lock);
		check_work(c, index, thread->slot);
		(void)pthread_mutex_lock(&c->lock);
		c->jobs[index].done = true;
		(void)pthread_cond_broadcast(&c->changed);
	}
	(void)pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Prints every input as soon as it and all before it are finished. */
static void check_print_in_order(struct check *c)
{
	for (size_t i = 0; i < c->options->paths.count && !cli_signals_caught(); i++) {
		(void)pthread_mutex_lock(&c->lock);
		while (!c->jobs[i].done)
			(void)pthread_cond_wait(&c->changed, &c->lock);
		(void)pthread_mutex_unlock(&c->lock);
		check_print(c, i);
		(void)pthread_mutex_lock(&c->lock);
		c->printed = i + 1;
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
	for (size_t i = 0; i < c->options->paths.count && !cli_signals_caught(); i++) {
		check_work(c, i, 0);
		check_print(c, i);
	}
}

int cli_check(struct cli_options *o)
{
	if (!o->paths.count)
		return cli_usage("check needs a file or directory");

	size_t threads = o->jobs < o->paths.count ? o->jobs : o->paths.count;
	struct check c = {
		.options = o,
		.run = { .out = stdout,
			 .color = cli_colored(o, stdout),
			 .quiet = o->quiet,
			 .verbose = o->verbose,
			 .fail_on = o->fail_on,
			 .options = &o->library },
		.printer = report_printer_find(o->format),
		.jobs = calloc(o->paths.count, sizeof(*c.jobs)),
	};
	struct check_thread *array = calloc(threads, sizeof(*array));
	if (!c.jobs || !array) {
		free(c.jobs);
		free(array);
		return cli_memory();
	}
	c.progress = cli_progress_new(o, threads, o->paths.count);
	if (c.printer->begin)
		c.printer->begin(&c.run);
	if (threads < 2 || !check_parallel(&c, array, threads))
		check_serial(&c);
	if (c.printer->end)
		c.printer->end(&c.run);
	for (size_t i = 0; i < o->paths.count; i++)
		tracemend_report_free(c.jobs[i].report);
	cli_progress_free(c.progress);
	free(c.jobs);
	free(array);
	if (c.run.failed) {
		cli_error("out of memory: the report is incomplete");
		c.code = cli_worse(c.code, CLI_LIMIT);
	}
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : c.code;
}
