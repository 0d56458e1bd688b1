/* reduce: the smallest capture for which check still reports a rule, or a command still ends alike. */
#include "child.h"
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* By a rule, so many times the bytes of the capture are looked at, first strictly and then, if need be, loosely. */
#define REDUCE_WORK 512u

struct reduce {
	const struct cli_options *options;
	struct tracemend_options library;
	struct tracemend_wish wish;
	struct child_limits limits;
	const char *items[3]; /* of a shell command */
	const char *const *command;
	size_t command_count; /* 0: none */
	struct cli_errors errors; /* of the whole capture */
	struct child_result like; /* how the command ends with the whole capture */
	bool begun, loose; /* loose: other errors may come along */
	char *scratch;
	uint64_t tries, records_before, records; /* of the best so far */
	uint64_t size_before, size;
	int failed;
};

/* Whether check reports the rule, and no error that the whole capture has not. The first report is that of the whole. */
static bool reduce_checks(struct reduce *r, const struct tracemend_sample *candidate, uint64_t *records)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open_sample(candidate, &r->library, &error);
	struct tracemend_report *report = input ? tracemend_check(input, &r->library, &error) : NULL;
	const struct tracemend_rule *rule = r->options->rule;

	tracemend_close(input);
	if (!report || error.status != TM_OK) {
		if (error.status != TM_UNRECOGNISED && error.status != TM_CANCELLED && !r->begun)
			r->failed = cli_fail(&error);
		tracemend_report_free(report);
		return !rule && error.status == TM_UNRECOGNISED;
	}
	bool good = !rule || tracemend_report_rule_count(report, rule);
	if (rule && good && !r->loose)
		good = cli_errors_known(&r->errors, report);
	*records = tracemend_report_summary(report)->records;
	tracemend_report_free(report);
	return good;
}

static bool reduce_reads(struct reduce *r, const struct tracemend_sample *candidate)
{
	struct tracemend_error error = { 0 };
	struct child_result result = { .end = CHILD_CANCELLED };
	char *path = NULL;

	if (tracemend_sample_write(candidate, r->scratch, &error) != TM_OK) {
		r->failed = cli_fail(&error);
		return false;
	}
	if (asprintf(&path, "%s/%s", r->scratch, tracemend_sample_name(candidate)) < 0) {
		r->failed = cli_memory();
		return false;
	}
	const char *const one = path;
	char *quoted = r->options->shell ? child_quote(&one, 1) : strdup(path);
	char **arguments = quoted ? child_arguments(r->command, r->command_count, quoted) : NULL;
	if (arguments)
		child_run(arguments, &r->limits, false, &result);
	else
		r->failed = cli_memory();
	if (result.end == CHILD_NOT_RUN) {
		cli_complain("%s: cannot be run: %s", r->command[0], strerror(result.code));
		r->failed = CLI_IO;
	}
	child_arguments_free(arguments);
	free(quoted);
	cli_path_remove(path);
	free(path);
	if (!r->begun)
		r->like = result;
	return !r->failed && result.end != CHILD_CANCELLED && result.end == r->like.end &&
	       (result.end == CHILD_HUNG || result.code == r->like.code);
}

/* tracemend_wish.holds */
static bool reduce_holds(void *ctx, const struct tracemend_sample *candidate)
{
	struct reduce *r = ctx;
	uint64_t records = 0;

	r->tries++;
	bool good = !r->failed && reduce_checks(r, candidate, &records) && (!r->command_count || reduce_reads(r, candidate));
	if (!r->begun) {
		r->begun = true;
		r->records_before = records;
		r->size_before = cli_sample_size(candidate);
		if (r->options->rule && !r->options->strict)
			r->wish.work = REDUCE_WORK * r->size_before;
	}
	if (good) {
		r->records = records;
		r->size = cli_sample_size(candidate);
	}
	return good;
}

static int reduce_check_options(const struct cli_options *o)
{
	bool named = o->shell && strstr(o->shell, "{}");

	if (o->paths.count != 1)
		return cli_usage("reduce needs one capture, and has %zu", o->paths.count);
	if (!o->output)
		return cli_usage("reduce needs -o OUT, where the result goes");
	if (o->shell && o->command_line.count)
		return cli_usage("either --command or a command behind --, not both");
	if (!o->rule && !o->shell && !o->command_line.count)
		return cli_usage("reduce needs --rule RULE or --command 'COMMAND {}': what must go on being true");
	for (size_t i = 0; i < o->command_line.count; i++)
		named = named || strstr(o->command_line.items[i], "{}");
	if ((o->shell || o->command_line.count) && !named)
		return cli_usage("the command needs {} where the path of the capture goes");
	if (cli_path_same(o->output, o->paths.items[0]) || cli_path_inside(o->output, o->paths.items[0]))
		return cli_usage("-o %s: is the input, or lies inside it", o->output);
	return CLI_CLEAN;
}

static void reduce_say(const struct reduce *r)
{
	char shown[CLI_TEXT_MAX], output[CLI_TEXT_MAX], name[32], n[5][32];

	if (r->options->quiet)
		return;
	printf("%s: %s bytes reduced to %s, %s records to %s, in %s tries\n", cli_show(shown, r->options->paths.items[0]),
	       cli_number(n[0], r->size_before), cli_number(n[1], r->size), cli_number(n[2], r->records_before),
	       cli_number(n[3], r->records), cli_number(n[4], r->tries));
	if (r->options->rule)
		printf("  check reports %s%s\n", r->options->rule->id, r->loose ? ", and errors that the whole capture has not" : "");
	if (r->command_count && r->like.end == CHILD_EXITED)
		printf("  the command ends with exit %d\n", r->like.code);
	if (r->command_count && r->like.end == CHILD_KILLED)
		printf("  the command is killed by %s\n", child_signal_name(name, r->like.code));
	if (r->command_count && r->like.end == CHILD_HUNG)
		puts("  the command hangs");
	printf("written to %s\n", cli_show(output, r->options->output));
}

/* Bytes that need no further reduction at the price of other errors. Pages make a trace.dat what it is. */
static uint64_t reduce_enough(const struct reduce *r)
{
	return strcmp(r->options->rule->format, "tracedat") ? 1024 : 8192;
}

/* Where the defect hides what follows, or blocks have a given size, only leaving bytes out brings it further, and other
 * errors. Returns the sample, or one that is small enough and frees the sample. */
static struct tracemend_sample *reduce_loosely(struct reduce *r, struct tracemend_sample *sample)
{
	struct tracemend_error error = { 0 };
	uint64_t size = r->size, records = r->records;
	struct tracemend_input *input = tracemend_open_sample(sample, &r->library, &error);

	r->loose = true;
	r->wish.work = REDUCE_WORK * size;
	r->wish.bytes = true;
	r->wish.tries = r->options->tries ? r->options->tries - r->tries : 0;
	struct tracemend_sample *smaller = input ? tracemend_reduce(input, &r->library, &r->wish, &error) : NULL;
	tracemend_close(input);
	if (smaller && r->size <= reduce_enough(r)) {
		tracemend_sample_free(sample);
		return smaller;
	}
	tracemend_sample_free(smaller);
	r->loose = false;
	r->size = size;
	r->records = records;
	return sample;
}

static int reduce_run(struct reduce *r)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open(r->options->paths.items[0], &r->library, &error);
	int code;

	struct tracemend_sample *reduced = input ? tracemend_reduce(input, &r->library, &r->wish, &error) : NULL;

	tracemend_close(input);
	bool more = !r->options->tries || r->tries < r->options->tries;
	if (reduced && more && r->options->rule && !r->options->strict && r->size > reduce_enough(r) && !cli_signals_caught())
		reduced = reduce_loosely(r, reduced);
	code = r->failed;
	if (cli_signals_caught()) {
		code = CLI_SIGNAL + cli_signals_caught();
	} else if (!code && !reduced) {
		code = cli_fail(&error);
	} else if (!code) {
		code = tracemend_sample_write_as(reduced, r->options->output, &error) == TM_OK ? CLI_CLEAN : cli_fail(&error);
		if (!code)
			reduce_say(r);
	}
	tracemend_sample_free(reduced);
	return code;
}

int cli_reduce(struct cli_options *o)
{
	struct reduce r = { .options = o, .library = o->library, .limits = { .seconds = o->timeout, .memory = o->memory } };
	int code = reduce_check_options(o);

	if (code)
		return code;
	r.wish = (struct tracemend_wish){ .holds = reduce_holds, .ctx = &r, .tries = o->tries };
	r.library.max_findings = 1; /* a rule; more do not matter */
	cli_progress_attach(NULL, 0, &r.library);
	if (o->shell) {
		r.items[0] = "/bin/sh";
		r.items[1] = "-c";
		r.items[2] = o->shell;
		r.command = r.items;
		r.command_count = 3;
	} else {
		r.command = o->command_line.items;
		r.command_count = o->command_line.count;
	}
	r.scratch = cli_scratch_make();
	if (!cli_errors_open(&r.errors))
		code = cli_memory();
	else if (!r.scratch)
		code = CLI_IO;
	else
		code = reduce_run(&r);
	if (r.scratch)
		cli_path_remove(r.scratch);
	free(r.scratch);
	cli_errors_close(&r.errors);
	return code;
}
