/* dump: the records of captures, one a line. In text, damaged places go to standard error as they are found, so that a pipe has one
 * line for each record. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

#include "report/report.h"

/* Records that --around prints on each side. */
#define DUMP_AROUND 8u

/* What dump keeps between two records of one capture. */
struct dump {
	const struct cli_options *options;
	struct report_run run;
	const char *shown; /* the capture's name, escaped; NULL: there is only one, and lines do not name it */
	bool json, damaged;
	uint64_t shown_behind;			  /* --around: lines behind the offset so far */
	char before[DUMP_AROUND][CLI_RECORD_MAX]; /* and the last ones in front of it, a ring */
	bool before_damaged[DUMP_AROUND];
	uint64_t seen; /* lines that went through the ring */
};

/* A line for people; without LF. Memory of the caller. */
void cli_record_line(const struct tracemend_record *r, char out[CLI_RECORD_MAX])
{
	char time[64] = "-";

	if (r->rule) {
		snprintf(out, CLI_RECORD_MAX, "%s%s0x%08" PRIx64 "  !! %s: %s (%" PRIu64 " bytes)", r->file, *r->file ? ":" : "",
			 r->offset, r->rule->id, r->rule->title, r->length);
		return;
	}
	if (r->timed)
		snprintf(time, sizeof(time), "%" PRIu64 " %s", r->time, r->unit);
	snprintf(out, CLI_RECORD_MAX, "%s%s0x%08" PRIx64 "  %-20s  %-24s  %-20s  %s%s%s", r->file, *r->file ? ":" : "", r->offset,
		 time, *r->track ? r->track : "-", r->kind, *r->name ? r->name : "-", *r->arguments ? "  " : "", r->arguments);
}

static json_t *record_json(const struct tracemend_record *r)
{
	json_t *object = json_object();
	bool good = report_json_set(object, "file", json_string(r->file)) &&
		    report_json_set(object, "offset", report_json_number(r->offset)) &&
		    report_json_set(object, "length", report_json_number(r->length));

	if (r->rule) {
		good = good && report_json_set(object, "damaged", json_string(r->rule->id));
	} else {
		good = good && report_json_set(object, "kind", json_string(r->kind)) &&
		       report_json_set(object, "track", json_string(r->track)) &&
		       report_json_set(object, "name", json_string(r->name)) &&
		       report_json_set(object, "arguments", json_string(r->arguments));
		/* A time may pass 2^63-1, which is the largest number in JSON here: as a text it is whole. */
		if (good && r->timed) {
			char time[32];
			snprintf(time, sizeof(time), "%" PRIu64, r->time);
			good = report_json_set(object, "time", json_string(time)) &&
			       report_json_set(object, "unit", json_string(r->unit));
		}
	}
	if (good)
		return object;
	json_decref(object);
	return NULL;
}

/* Whether the record is one of those asked for. Damage has no time. */
static bool dump_wanted(const struct dump *d, const struct tracemend_record *r)
{
	const struct cli_options *o = d->options;

	if (o->range_given && (r->offset > o->range[1] || (r->offset < o->range[0] && r->offset + r->length <= o->range[0])))
		return false;
	return !o->times_given || (r->timed && r->time >= o->times[0] && r->time <= o->times[1]);
}

static void dump_line(const struct dump *d, const char *line, bool damaged)
{
	FILE *out = damaged ? stderr : stdout;

	if (damaged)
		(void)fflush(stdout);
	fprintf(out, "%s%s%s\n", d->shown ? d->shown : "", d->shown ? ":" : "", line);
}

/* Keeps the lines in front of the offset of --around, and prints them when it is reached. Whether this line is to be printed. */
static bool dump_around(struct dump *d, const struct tracemend_record *r, const char *line)
{
	if (r->offset + r->length <= d->options->around && r->offset < d->options->around) {
		d->before_damaged[d->seen % DUMP_AROUND] = r->rule != NULL;
		memcpy(d->before[d->seen++ % DUMP_AROUND], line, CLI_RECORD_MAX);
		d->shown_behind = 0;
		return false;
	}
	for (uint64_t n = d->seen < DUMP_AROUND ? d->seen : DUMP_AROUND; n; n--) {
		size_t at = (size_t)((d->seen - n) % DUMP_AROUND);
		dump_line(d, d->before[at], d->before_damaged[at]);
	}
	d->seen = 0;
	return d->shown_behind++ <= DUMP_AROUND;
}

static void dump_record(void *ctx, const struct tracemend_record *r)
{
	struct dump *d = ctx;
	char line[CLI_RECORD_MAX];

	d->damaged |= r->rule != NULL;
	if (!dump_wanted(d, r))
		return;
	if (d->json) {
		json_t *object = record_json(r);
		if (object && d->shown && !report_json_set(object, "path", json_string(d->shown)))
			d->run.failed = true;
		report_json_print(&d->run, object);
		fputc('\n', d->run.out);
		return;
	}
	cli_record_line(r, line);
	if (d->options->around_given && !dump_around(d, r, line))
		return;
	dump_line(d, line, r->rule != NULL);
}

int cli_dump(struct cli_options *o)
{
	struct dump d = { .options = o, .run = { .out = stdout, .options = &o->library }, .json = !strcmp(o->format, "jsonl") };
	int code = CLI_CLEAN;

	if (!o->paths.count)
		return cli_usage("dump needs a file or directory");
	o->library.record = dump_record;
	o->library.record_ctx = &d;
	o->library.arguments = true;
	o->library.max_findings = 1;
	struct cli_progress *progress = cli_progress_new(o, 1, o->paths.count);
	cli_progress_attach(progress, 0, &o->library);
	for (size_t i = 0; i < o->paths.count && !cli_signals_caught(); i++) {
		struct tracemend_error error = { 0 };
		char shown[CLI_TEXT_MAX];
		d.shown = o->paths.count > 1 ? cli_show(shown, o->paths.items[i]) : NULL;
		struct tracemend_input *input = tracemend_open(o->paths.items[i], &o->library, &error);
		struct tracemend_report *report = input ? tracemend_check(input, &o->library, &error) : NULL;
		cli_progress_finished(progress, 0);
		if (error.status != TM_OK)
			code = cli_worse(code, cli_fail(&error));
		tracemend_report_free(report);
		tracemend_close(input);
	}
	cli_progress_free(progress);
	if (d.run.failed) {
		cli_error("out of memory: the records are incomplete");
		code = cli_worse(code, CLI_LIMIT);
	}
	if (d.damaged)
		code = cli_worse(code, CLI_FINDINGS);
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : code;
}
