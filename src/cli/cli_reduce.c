/* reduce: makes a capture small for which check still reports a rule, or a command still ends in the same way. */
#include "cli/cli.h"
#include "cli/reader.h"
#include "cli/try.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With --rule: the limit on the bytes of all candidates, as a multiple of the capture and at least; the same again for the pass
 * that allows other errors. */
#define REDUCE_WORK 512u
#define REDUCE_WORK_LEAST (UINT64_C(64) << 20)

/* How one run of the command ends. */
struct reduce_end {
	enum child_end end;
	int code;
	struct try_crash crash; /* with --count-with or --reader: the summary is what the group says */
	bool wrong;		/* with them: another number of records than check counts, or the readers disagree */
	char *place;		/* of the whole capture, where only the debugger knows it; NULL: nobody does */
};

/* When the debugger is asked, which takes longer than most commands. */
enum reduce_asking {
	REDUCE_SOMETIMES, /* each time the capture has lost half of its bytes, after some steps, and at the end */
	REDUCE_SLIPPED,	  /* that found another place: again from the last that crashed in the right one, */
	REDUCE_ALWAYS,	  /* and each candidate that ends alike */
};

/* Steps after which the debugger is asked again. */
#define REDUCE_STEPS 8u

struct reduce {
	struct cli_options *options;
	struct tracemend_options library;
	struct tracemend_predicate predicate;
	const char *command;	  /* its first word; NULL: there is none */
	struct cli_errors errors; /* of the whole capture */
	struct reduce_end like;	  /* of the command with the whole capture */
	bool begun, loose;	  /* loose: other errors are allowed */
	char *scratch;
	uint64_t tries, work, records_before, records; /* of the smallest so far */
	uint64_t size_before, size;
	int64_t started, shown; /* milliseconds */
	enum reduce_asking asking;
	uint64_t asked, candidate;	 /* bytes of the last one of which the debugger was asked, and of this one */
	unsigned steps;			 /* since it was asked */
	bool asks, placed;		 /* its answer counts; it was asked of this one, and the place is the right one */
	struct tracemend_sample *proven; /* the last one like that; NULL: the whole capture */
	uint64_t proven_size, proven_records;
	bool out_of_time;
	int failed;
};

static uint64_t reduce_work(uint64_t size)
{
	return size > REDUCE_WORK_LEAST / REDUCE_WORK ? REDUCE_WORK * size : REDUCE_WORK_LEAST;
}

/* Whether check reports the rule, and no error of a rule that the whole capture does not have. The first report is that of the
 * whole capture. */
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
	/* Nobody knows the number of records of a capture with errors. */
	if (r->options->count_with && !r->options->compared.count && tracemend_report_summary(report)->errors)
		good = false;
	if (rule && good && !r->loose)
		good = cli_errors_known(&r->errors, report);
	*records = tracemend_report_summary(report)->records;
	tracemend_report_free(report);
	return good;
}

static bool reduce_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Whether the command is judged as try judges it, not by its end alone. */
static bool reduce_judges(const struct cli_options *o)
{
	return o->count_with || o->compared.count;
}

/* records: of the candidate, as check counts them. */
static struct reduce_end reduce_judge(struct reduce *r, const char *path, uint64_t records)
{
	struct cli_options *o = r->options;
	const struct try t = { .options = o, .scratch = r->scratch };
	struct try_case c = { .valid = true, .records = records };
	struct reduce_end e = { .end = CHILD_CANCELLED };

	if (try_case_read(&t, &c, path, &r->failed)) {
		e.end = c.end;
		e.code = c.code;
		e.wrong = c.outcome == TRY_COUNT || c.outcome == TRY_DIFFER;
		e.crash.summary = c.last;
		c.last = NULL;
	}
	try_case_free(&c);
	return e;
}

static struct reduce_end reduce_run_once(struct reduce *r, const char *path, uint64_t records)
{
	struct child_result result = { .end = CHILD_CANCELLED };

	if (reduce_judges(r->options))
		return reduce_judge(r, path, records);
	reader_run(r->options, READER_RUN, path, &result);
	if (result.end == CHILD_NOT_RUN) {
		cli_error("%s: cannot be run: %s", r->command, strerror(result.code));
		r->failed = CLI_IO;
	}
	struct reduce_end e = { .end = result.end, .code = result.code };
	(void)try_crash_parse(result.trail ? result.trail : "", &e.crash);
	child_result_free(&result);
	return e;
}

/* Whether the command crashes where it did on the whole capture, as far as that is asked now. */
static bool reduce_place_is(struct reduce *r, const char *path)
{
	if (!r->asks || (r->asking == REDUCE_SOMETIMES && r->candidate > r->asked / 2 && r->steps < REDUCE_STEPS))
		return true;
	char *place = try_site_of(r->options, path);
	bool same = reduce_same(r->like.place, place);
	free(place);
	r->asked = r->candidate;
	r->steps = 0;
	r->placed = same;
	if (!same && r->asking == REDUCE_SOMETIMES && !cli_signals_caught())
		r->asking = REDUCE_SLIPPED;
	return same;
}

/* Whether a run ends as those of the whole capture did. Another crash is another bug, also where the reader ends in the same way.
 */
static bool reduce_ends_alike(struct reduce *r, const struct reduce_end *e, const char *path)
{
	if (r->failed || e->end == CHILD_CANCELLED || e->end != r->like.end || e->wrong != r->like.wrong ||
	    (e->end != CHILD_HUNG && e->code != r->like.code) || !reduce_same(r->like.crash.site, e->crash.site) ||
	    (!e->crash.site && !reduce_same(r->like.crash.summary, e->crash.summary)))
		return false;
	return reduce_place_is(r, path);
}

/* Whether a debugger may know more of how a run ended than its signal. */
static bool reduce_asks(const struct reduce *r, const struct reduce_end *e)
{
	return e->end == CHILD_KILLED && e->code != SIGKILL && !e->crash.site && !reduce_judges(r->options) &&
	       !r->options->no_debugger && try_site_possible();
}

/* The whole capture: the end to look for is that of the first run that fails, else of the first. */
static void reduce_begin(struct reduce *r, const char *path, uint64_t records)
{
	bool judges = reduce_judges(r->options);

	for (uint64_t i = 0; i < r->options->repeat && !r->failed; i++) {
		struct reduce_end e = reduce_run_once(r, path, records);
		bool fails = judges ? e.wrong : e.end != CHILD_EXITED || e.code || e.crash.summary;
		if (i && !fails) {
			try_crash_free(&e.crash);
			continue;
		}
		try_crash_free(&r->like.crash);
		r->like = e;
		if (fails)
			break;
	}
	r->asks = !r->failed && reduce_asks(r, &r->like);
	if (r->asks)
		r->like.place = try_site_of(r->options, path);
}

/* Whether enough of the runs end alike. */
static bool reduce_reads_often(struct reduce *r, const char *path, uint64_t records)
{
	const struct cli_options *o = r->options;
	uint64_t alike = 0;

	if (!r->begun)
		reduce_begin(r, path, records);
	if (reduce_judges(o) && !r->like.wrong)
		return false;
	/* One run, which has been made: it is like itself. */
	if (!r->begun && o->repeat == 1)
		return !r->failed && r->like.end != CHILD_CANCELLED;
	for (uint64_t i = 0; i < o->repeat && alike < o->enough && !r->failed; i++) {
		if (alike + (o->repeat - i) < o->enough)
			break;
		struct reduce_end e = reduce_run_once(r, path, records);
		alike += reduce_ends_alike(r, &e, path);
		try_crash_free(&e.crash);
	}
	return alike >= o->enough;
}

static bool reduce_reads(struct reduce *r, const struct tracemend_sample *candidate, uint64_t records)
{
	struct tracemend_error error = { 0 };
	char *path = NULL;

	if (tracemend_sample_write(candidate, r->scratch, &error) != TM_OK) {
		r->failed = cli_fail(&error);
		return false;
	}
	if (asprintf(&path, "%s/%s", r->scratch, tracemend_sample_name(candidate)) < 0) {
		r->failed = cli_memory();
		return false;
	}
	bool same = reduce_reads_often(r, path, records);
	cli_path_remove(path);
	free(path);
	return same;
}

/* On a terminal, from the first second on: what has been done. */
static void reduce_show(struct reduce *r)
{
	int64_t now = cli_now();
	char n[3][32];

	if (r->options->quiet || !isatty(STDERR_FILENO) || now - r->started < 1000 || now - r->shown < 100)
		return;
	fprintf(stderr, "\r\033[K%s of %s bytes, %s tries, %llu s", text_number(n[0], r->size), text_number(n[1], r->size_before),
		text_number(n[2], r->tries), (unsigned long long)(now - r->started) / 1000);
	r->shown = now;
}

/* tracemend_options.progress: stops on a signal, and when the time is over. */
static bool reduce_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct reduce *r = ctx;

	(void)done;
	(void)total;
	if (r->options->budget && (uint64_t)(cli_now() - r->started) >= 1000 * r->options->budget)
		r->out_of_time = true;
	return !r->out_of_time && !cli_signals_caught() && r->asking != REDUCE_SLIPPED;
}

/* Keeps a copy of a candidate that crashes in the right place. */
static void reduce_prove(struct reduce *r, const struct tracemend_sample *candidate)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open_sample(candidate, &r->library, &error);
	struct tracemend_sample *copy = input ? tracemend_sample_of(input, &error) : NULL;

	tracemend_close(input);
	if (!copy)
		return;
	tracemend_sample_free(r->proven);
	r->proven = copy;
	r->proven_size = r->size;
	r->proven_records = r->records;
}

/* tracemend_predicate.holds */
static bool reduce_holds(void *ctx, const struct tracemend_sample *candidate)
{
	struct reduce *r = ctx;
	uint64_t records = 0;

	r->tries++;
	r->candidate = cli_sample_size(candidate);
	r->work += r->candidate;
	r->placed = false;
	bool good = !r->failed && r->asking != REDUCE_SLIPPED && reduce_checks(r, candidate, &records) &&
		    (!r->command || reduce_reads(r, candidate, records));
	if (!r->begun) {
		r->begun = true;
		r->records_before = records;
		r->size_before = r->asked = cli_sample_size(candidate);
		if (r->options->rule && !r->options->strict)
			r->predicate.work = reduce_work(r->size_before);
	}
	if (good) {
		r->records = records;
		r->size = cli_sample_size(candidate);
		r->steps++;
	}
	if (good && r->placed && r->asking == REDUCE_SOMETIMES)
		reduce_prove(r, candidate);
	reduce_show(r);
	return good;
}

static int reduce_check_options(const struct cli_options *o)
{
	bool named = o->shell && strstr(o->shell, "{}");
	int code = o->compared.count ? cli_compared_check(o) : CLI_CLEAN;

	if (code)
		return code;
	if (o->paths.count != 1)
		return cli_usage("reduce takes one capture, not %zu", o->paths.count);
	if (!o->output)
		return cli_usage("reduce needs -o OUT for the result");
	if (o->shell && o->command_line.count)
		return cli_usage("--command and a command after -- exclude each other");
	if (o->enough > o->repeat)
		return cli_usage("--enough %llu is more than --repeat %llu", (unsigned long long)o->enough,
				 (unsigned long long)o->repeat);
	if (o->compared.count && o->shell)
		return cli_usage("--reader and --command exclude each other");
	if (o->count_with && !o->shell && !o->command_line.count && !o->compared.count)
		return cli_usage("--count-with needs a command that prints the number of records");
	if (!o->rule && !o->shell && !o->command_line.count && !o->compared.count)
		return cli_usage("reduce needs a condition for the result: --rule RULE or --command 'COMMAND {}'");
	for (size_t i = 0; i < o->command_line.count; i++)
		named = named || strstr(o->command_line.items[i], "{}");
	if ((o->shell || o->command_line.count) && !named)
		return cli_usage("the command needs {} for the path of the capture");
	return cli_path_check_output("-o", o->output, o->paths.items[0]);
}

static void reduce_say(const struct reduce *r)
{
	char shown[CLI_TEXT_MAX], output[CLI_TEXT_MAX], name[32], n[5][64];

	if (r->options->quiet)
		return;
	if (r->shown)
		fputs("\r\033[K", stderr);
	if (cli_signals_caught() || r->out_of_time)
		printf("stopped %s: this is the smallest so far\n", r->out_of_time ? "by --budget" : "by a signal");
	printf("%s: %s reduced to %s, %s to %s, in %s %s\n", cli_show(shown, r->options->paths.items[0]),
	       text_count(n[0], r->size_before, "byte"), text_number(n[1], r->size), text_count(n[2], r->records_before, "record"),
	       text_number(n[3], r->records), text_number(n[4], r->tries), r->tries == 1 ? "try" : "tries");
	if (r->options->rule)
		printf("  check reports %s%s\n", r->options->rule->id,
		       r->loose ? ", and errors that the whole capture does not have" : "");
	if (r->options->compared.count)
		puts("  the readers disagree");
	else if (r->like.wrong)
		puts("  the command counts other records than check");
	else if (r->command && r->like.end == CHILD_EXITED)
		printf("  the command ends with exit %d\n", r->like.code);
	if (r->command && r->like.end == CHILD_KILLED)
		printf("  the command is killed by %s%s%s\n", child_signal_name(name, r->like.code), r->like.place ? " in " : "",
		       r->like.place ? r->like.place : "");
	if (r->command && r->like.end == CHILD_HUNG)
		puts("  the command hangs");
	printf("written to %s\n", cli_show(output, r->options->output));
}

/* Results of this size are not reduced further by allowing other errors. A trace.dat consists of pages. */
static uint64_t reduce_enough(const struct reduce *r)
{
	return strcmp(r->options->rule->format, "tracedat") ? 1024 : 8192;
}

/* With --rule: whether the result is still too large, and tries are left. */
static bool reduce_goes_on(const struct reduce *r)
{
	const struct cli_options *o = r->options;

	return o->rule && !o->strict && r->size > reduce_enough(r) && (!o->tries || r->tries < o->tries) && !r->out_of_time &&
	       !cli_signals_caught();
}

/* Reduces an input, which it closes, with the predicate as it is now. Keeps and returns the result if it has less than `bound`
 * bytes; else frees it and returns the sample. */
static struct tracemend_sample *reduce_again(struct reduce *r, struct tracemend_input *input, struct tracemend_sample *sample,
					     uint64_t bound)
{
	struct tracemend_error error = { 0 };
	uint64_t size = r->size, records = r->records;

	r->predicate.tries = r->options->tries ? r->options->tries - r->tries : 0;
	struct tracemend_sample *smaller = input ? tracemend_reduce(input, &r->library, &r->predicate, &error) : NULL;
	tracemend_close(input);
	if (smaller && r->size < bound) {
		tracemend_sample_free(sample);
		return smaller;
	}
	tracemend_sample_free(smaller);
	r->size = size;
	r->records = records;
	return sample;
}

/* Where the defect hides what follows it, or blocks have a fixed size, only removing bytes makes the capture smaller, at the price
 * of other errors. That is accepted if the result is small enough. */
static struct tracemend_sample *reduce_loosely(struct reduce *r, struct tracemend_sample *sample)
{
	struct tracemend_error error = { 0 };

	if (!reduce_goes_on(r))
		return sample;
	uint64_t bound = reduce_enough(r) + 1;
	r->loose = r->predicate.bytes = true;
	r->predicate.work = reduce_work(r->size);
	sample = reduce_again(r, tracemend_open_sample(sample, &r->library, &error), sample, bound);
	r->loose = r->size < bound;
	r->predicate.bytes = false;
	return sample;
}

/* One block of the usual size may be larger than several small ones: the whole capture is reduced again with records before
 * blocks, with the work that is left. */
static struct tracemend_sample *reduce_inside_out(struct reduce *r, struct tracemend_sample *sample)
{
	struct tracemend_error error = { 0 };
	uint64_t most = reduce_work(r->size_before);

	if (!reduce_goes_on(r) || r->work >= most)
		return sample;
	r->predicate.inside_out = true;
	r->predicate.work = most - r->work;
	return reduce_again(r, tracemend_open(r->options->paths.items[0], &r->library, &error), sample, r->size);
}

/* Writes the sample, and asks the debugger. */
static void reduce_look(struct reduce *r, const struct tracemend_sample *sample)
{
	struct tracemend_error error = { 0 };
	char *path = NULL;

	r->asked = UINT64_MAX;
	r->candidate = 0;
	if (tracemend_sample_write(sample, r->scratch, &error) != TM_OK)
		r->failed = cli_fail(&error);
	else if (asprintf(&path, "%s/%s", r->scratch, tracemend_sample_name(sample)) < 0)
		r->failed = cli_memory();
	else
		(void)reduce_place_is(r, path);
	if (path)
		cli_path_remove(path);
	free(path);
}

/* Takes the last candidate of which the debugger said that it crashes in the right place; NULL: there is none. */
static struct tracemend_sample *reduce_proven(struct reduce *r)
{
	struct tracemend_sample *proven = r->proven;

	r->proven = NULL;
	r->size = proven ? r->proven_size : r->size_before;
	r->records = proven ? r->proven_records : r->records_before;
	return proven;
}

/* Where the crash slipped to another place, again from the last that was in the right one, with the place in the predicate. */
static struct tracemend_sample *reduce_whole(struct reduce *r, struct tracemend_input *input, struct tracemend_error *error)
{
	struct tracemend_sample *sample = tracemend_reduce(input, &r->library, &r->predicate, error);
	bool asks = r->asks && r->asking == REDUCE_SOMETIMES && !r->failed;

	r->placed = false;
	if (sample && asks && !cli_signals_caught())
		reduce_look(r, sample);
	bool stopped = r->out_of_time || cli_signals_caught(), slipped = r->asking == REDUCE_SLIPPED;
	r->asking = REDUCE_ALWAYS;
	/* What was made since the debugger was asked, and cannot be asked any more, may crash elsewhere. */
	if (r->failed || (!slipped && !(asks && stopped && !r->placed)))
		return sample;
	tracemend_sample_free(sample);
	sample = reduce_proven(r);
	if (stopped)
		return sample;
	*error = (struct tracemend_error){ 0 };
	return sample ? reduce_again(r, tracemend_open_sample(sample, &r->library, error), sample, UINT64_MAX)
		      : tracemend_reduce(input, &r->library, &r->predicate, error);
}

static int reduce_run(struct reduce *r)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open(r->options->paths.items[0], &r->library, &error);
	int code;

	struct tracemend_sample *reduced = input ? reduce_whole(r, input, &error) : NULL;

	tracemend_close(input);
	if (reduced)
		reduced = reduce_loosely(r, reduced);
	if (reduced)
		reduced = reduce_loosely(r, reduce_inside_out(r, reduced));
	code = r->failed;
	if (reduced && (r->out_of_time || cli_signals_caught()) && r->size >= r->size_before) {
		tracemend_sample_free(reduced);
		reduced = NULL;
	}
	if (!code && reduced) {
		code = tracemend_sample_write_as(reduced, r->options->output, &error) == TM_OK ? CLI_CLEAN : cli_fail(&error);
		if (!code)
			reduce_say(r);
	} else if (!code && r->out_of_time) {
		cli_error("--budget: the time was over before a smaller capture was found");
		code = CLI_LIMIT;
	} else if (!code && !cli_signals_caught()) {
		code = cli_fail(&error);
	}
	if (cli_signals_caught())
		code = CLI_SIGNAL + cli_signals_caught();
	tracemend_sample_free(reduced);
	return code;
}

int cli_reduce(struct cli_options *o)
{
	struct reduce r = { .options = o, .library = o->library };
	int code = reduce_check_options(o);

	if (code)
		return code;
	r.predicate = (struct tracemend_predicate){ .holds = reduce_holds, .ctx = &r, .tries = o->tries };
	r.library.max_findings = 1; /* one finding of the rule is enough */
	r.library.progress = reduce_progress;
	r.library.progress_ctx = &r;
	r.started = cli_now();
	if (o->shell || o->compared.count)
		r.command = "/bin/sh";
	else if (o->command_line.count)
		r.command = o->command_line.items[0];
	r.scratch = cli_scratch_make();
	if (!cli_errors_open(&r.errors))
		code = cli_memory();
	else if (!r.scratch)
		code = CLI_IO;
	else
		code = reduce_run(&r);
	if (r.scratch)
		cli_path_remove(r.scratch);
	tracemend_sample_free(r.proven);
	try_crash_free(&r.like.crash);
	free(r.like.place);
	free(r.scratch);
	cli_errors_close(&r.errors);
	return code;
}
