/* report: one report of those of several runs, from their lines. The lines of an input are its findings and then its summary, so
 * that the findings wait for it. What a line says is taken only if it is whole, and agrees with the summary. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "report/report.h"

/* The findings that a report keeps: FINDINGS_KEPT_MAX of the format, and as many of its container. */
#define PENDING_MAX 200000u
#define PENDING_BYTES_MAX ((size_t)256 << 20)
#define FINDING_TEXT 1024u

/* A finding that waits for its summary. Its texts are in one piece of memory. */
struct pending {
	struct tracemend_finding finding;
	char *texts;
};

struct merge {
	struct cli_options *options;
	struct report_run run;
	const struct report_printer *printer;
	struct cli_saves *saves;
	struct cli_baseline *baseline;
	int code;

	struct cli_lines lines;
	char *input; /* of the pending findings; NULL: there are none */
	struct pending *pending;
	size_t count, capacity, bytes;
	json_t *beyond; /* the rules of findings that are not listed, with their numbers; NULL: none */

	/* Of the run whose lines are being read: */
	bool begun; /* there were some, and its last one has not been read */
	uint64_t inputs, incomplete;
};

static void merge_drop(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->pending[i].texts);
	free(m->input);
	json_decref(m->beyond);
	m->input = NULL;
	m->beyond = NULL;
	m->count = m->bytes = 0;
}

static bool merge_damaged(const struct merge *m, struct tracemend_error *error, const char *what)
{
	return cli_lines_fail(&m->lines, TM_UNRECOGNISED, error, "damaged: %s", what);
}

/* ---- findings ---- */

/* Copies the texts, escaped: those of a hostile line are not. */
static bool pending_texts(struct pending *p, const char *const texts[4], size_t *bytes)
{
	const char **members[] = { &p->finding.file, &p->finding.path, &p->finding.message, &p->finding.field };
	char escaped[4][FINDING_TEXT];
	size_t room = 0, at = 0;

	for (size_t i = 0; i < 4; i++) {
		tracemend_escape(escaped[i], FINDING_TEXT, texts[i]);
		room += strlen(escaped[i]) + 1;
	}
	p->texts = malloc(room);
	if (!p->texts)
		return false;
	for (size_t i = 0; i < 4; i++) {
		size_t length = strlen(escaped[i]) + 1;
		memcpy(p->texts + at, escaped[i], length);
		*members[i] = p->texts + at;
		at += length;
	}
	*bytes += room;
	return true;
}

static bool pending_severity(const char *text, enum tracemend_severity *severity)
{
	for (int i = TM_NOTE; text && i <= TM_ERROR; i++) {
		*severity = (enum tracemend_severity)i;
		if (!strcmp(text, tracemend_severity_name(*severity)))
			return true;
	}
	return false;
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes for the hex rows: at most TRACEMEND_CONTEXT, from the beginning of a row. */
static bool pending_context(struct tracemend_finding *f, const json_t *context)
{
	const char *hex = cli_lines_text(context, "bytes");

	if (!context)
		return true;
	if (!hex || !cli_lines_number(context, "offset", &f->context_offset) || f->context_offset % 16)
		return false;
	size_t length = strlen(hex);
	if (length % 2 || length > 2 * (size_t)TRACEMEND_CONTEXT)
		return false;
	for (size_t i = 0; i < length / 2; i++) {
		int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		f->context[i] = (uint8_t)(high << 4 | low);
	}
	f->context_length = (uint32_t)(length / 2);
	return true;
}

static bool pending_field(struct tracemend_finding *f, const json_t *field)
{
	uint64_t length;

	if (!field)
		return true;
	if (!cli_lines_number(field, "offset", &f->field_offset) || !cli_lines_number(field, "length", &length) ||
	    length > UINT32_MAX || !cli_lines_text(field, "name"))
		return false;
	f->field_length = (uint32_t)length;
	return true;
}

/* Counts n findings of a rule that are not listed: here, as there is no room, or there already. */
static bool merge_count(struct merge *m, const char *id, json_int_t n)
{
	json_int_t all;

	if (!m->beyond)
		m->beyond = json_object();
	return n > 0 && !__builtin_add_overflow(json_integer_value(json_object_get(m->beyond, id)), n, &all) &&
	       report_json_set(m->beyond, id, json_integer(all));
}

static bool merge_finding(struct merge *m, const json_t *line, struct tracemend_error *error)
{
	const char *input = cli_lines_text(line, "input"), *id = cli_lines_text(line, "rule");
	const char *file = cli_lines_text(line, "file"), *path = cli_lines_text(line, "path");
	const char *message = cli_lines_text(line, "message");
	const json_t *field = json_object_get(line, "field");
	struct pending p = { .texts = NULL };
	struct tracemend_finding *f = &p.finding;

	if (!input || !id || !file || !path || !message || !pending_severity(cli_lines_text(line, "severity"), &f->severity) ||
	    !cli_lines_number(line, "offset", &f->offset) || !cli_lines_number(line, "length", &f->length) ||
	    !cli_lines_number(line, "explains", &f->explains) || !pending_field(f, field) ||
	    !pending_context(f, json_object_get(line, "context")))
		return merge_damaged(m, error, "no whole finding of a report");
	f->rule = tracemend_rule_find(id);
	if (!f->rule)
		return cli_lines_fail(&m->lines, TM_UNRECOGNISED, error, "unknown rule '%.100s': of another version?", id);
	if (m->input && strcmp(m->input, input) != 0)
		return merge_damaged(m, error, "a finding of another input, before the summary of the last one");
	if (!m->input)
		m->input = strdup(input);
	if (m->count >= PENDING_MAX || m->bytes > PENDING_BYTES_MAX)
		return merge_count(m, id, 1) || cli_lines_fail(&m->lines, TM_NO_MEMORY, error, "out of memory");
	if (array_room(&m->pending, &m->capacity, m->count, sizeof(*m->pending), PENDING_MAX) != TM_OK)
		return cli_lines_fail(&m->lines, TM_NO_MEMORY, error, "out of memory");
	const char *const texts[] = { file, path, message, field ? cli_lines_text(field, "name") : "" };
	if (!m->input || !pending_texts(&p, texts, &m->bytes))
		return cli_lines_fail(&m->lines, TM_NO_MEMORY, error, "out of memory");
	m->pending[m->count++] = p;
	return true;
}

/* ---- summaries ---- */

/* The summary's number of findings of a severity, which is not TM_IGNORE: those are not counted. */
static uint64_t *merge_total(struct tracemend_summary *s, enum tracemend_severity severity)
{
	return severity == TM_ERROR ? &s->errors : severity == TM_WARNING ? &s->warnings : &s->notes;
}

/* Moves findings from one severity to another, as --only, --ignore and --severity say. */
static void merge_move(struct tracemend_summary *s, enum tracemend_severity from, enum tracemend_severity to, uint64_t count)
{
	*merge_total(s, from) -= count;
	if (to != TM_IGNORE)
		*merge_total(s, to) += count;
}

static enum tracemend_severity merge_grade(const struct merge *m, const struct tracemend_rule *rule,
					   enum tracemend_severity severity)
{
	const struct tracemend_options *o = &m->options->library;

	if (rule->preview && !o->preview)
		return TM_IGNORE;
	return o->grade ? o->grade(o->grade_ctx, rule, severity) : severity;
}

/* Re-grades the pending findings, and removes those that are ignored. *s counts at least these. */
static void merge_grade_pending(struct merge *m, struct tracemend_summary *s)
{
	size_t used = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct tracemend_finding *f = &m->pending[i].finding;
		enum tracemend_severity severity = merge_grade(m, f->rule, f->severity);
		merge_move(s, f->severity, severity, 1);
		f->severity = severity;
		if (severity == TM_IGNORE)
			free(m->pending[i].texts);
		else
			m->pending[used++] = m->pending[i];
	}
	m->count = used;
}

/* Re-grades findings of a rule that are not listed. unlisted: how many there are of each severity. The severity of each is not
 * known: they are taken to have that of the rule, as far as there are so many. */
static void merge_grade_unlisted(const struct merge *m, struct tracemend_summary *s, uint64_t unlisted[3],
				 const struct tracemend_rule *rule, uint64_t count)
{
	for (int i = rule->severity; i >= TM_NOTE && count; i--) {
		uint64_t n = count < unlisted[i] ? count : unlisted[i];
		unlisted[i] -= n;
		count -= n;
		merge_move(s, (enum tracemend_severity)i, merge_grade(m, rule, (enum tracemend_severity)i), n);
	}
}

/* Prints an input, and adds to the exit code as check does. Takes the report. */
static void merge_print(struct merge *m, struct tracemend_report *report, const char *path, const struct tracemend_error *error,
			uint64_t known)
{
	struct report_entry entry = { .path = path, .shown = path, .error = error };
	int code = error->status == TM_CANCELLED ? CLI_LIMIT : cli_exit_code(error->status);

	report = cli_baseline_select(m->baseline, report, path, &entry.known);
	entry.report = report;
	entry.known = known > UINT64_MAX - entry.known ? UINT64_MAX : entry.known + known;
	if (report) {
		const struct tracemend_summary *s = tracemend_report_summary(report);
		if (report_fails(&m->run, s))
			code = cli_worse(code, CLI_FINDINGS);
		if (!s->complete && error->status == TM_OK)
			code = cli_worse(code, CLI_LIMIT);
	}
	cli_print_entry(&m->run, m->printer, 0, &entry);
	cli_saves_entry(m->saves, 0, &entry);
	tracemend_report_free(report);
	m->code = cli_worse(m->code, code);
}

/* Adds what is not listed, whose number must be that of the summary with what is listed. report: NULL: only re-grades it. */
static bool merge_unlisted(const struct merge *m, struct tracemend_report *report, struct tracemend_summary *s, uint64_t left[3])
{
	uint64_t all = left[0] + left[1] + left[2];
	const char *id;
	json_t *value;

	json_object_foreach(m->beyond, id, value)
	{
		const struct tracemend_rule *rule = tracemend_rule_find(id);
		uint64_t n = json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
		if (!rule || !n || n > all)
			return false;
		all -= n;
		if (!report)
			merge_grade_unlisted(m, s, left, rule, n);
		else if (merge_grade(m, rule, rule->severity) != TM_IGNORE &&
			 tracemend_report_add_unlisted(report, rule, n) != TM_OK)
			return false;
	}
	return !all;
}

/* Whether the summary counts what is listed and what is not; *s is re-graded then. */
static bool merge_agrees(struct merge *m, struct tracemend_summary *s, uint64_t left[3])
{
	uint64_t listed[] = { 0, 0, 0 }, total = 0;

	for (size_t i = 0; i < m->count; i++)
		listed[m->pending[i].finding.severity - TM_NOTE]++;
	for (int i = TM_NOTE; i <= TM_ERROR; i++) {
		uint64_t counted = *merge_total(s, (enum tracemend_severity)i);
		if (listed[i] > counted || __builtin_add_overflow(total, counted, &total))
			return false;
		left[i] = counted - listed[i];
	}
	uint64_t unlisted[] = { left[0], left[1], left[2] };
	merge_grade_pending(m, s);
	return merge_unlisted(m, NULL, s, unlisted);
}

/* The report of the summary and the pending findings. NULL and *error: they do not agree, or out of memory. */
static struct tracemend_report *merge_report(struct merge *m, const json_t *line, struct tracemend_summary *s,
					     struct tracemend_error *error)
{
	static const char missing[] = "the summary counts other findings than there are: lines are missing";
	struct tracemend_error why;
	const char *id;
	json_t *value;
	uint64_t left[3];
	bool good = true;

	json_object_foreach(json_object_get(line, "unlisted"), id, value)
		good = good && merge_count(m, id, json_integer_value(value));
	if (!good || !merge_agrees(m, s, left)) {
		merge_damaged(m, error, missing);
		return NULL;
	}
	struct tracemend_report *report = tracemend_report_make(s, 0, &why);
	if (!report) {
		cli_lines_fail(&m->lines, why.status == TM_USAGE ? TM_UNRECOGNISED : why.status, error, "%s", why.message);
		return NULL;
	}
	for (size_t i = 0; i < m->count; i++) {
		enum tracemend_status status = tracemend_report_add(report, &m->pending[i].finding);
		if (status == TM_OK)
			continue;
		if (status == TM_USAGE)
			merge_damaged(m, error, "a finding is of another format than its input");
		else
			cli_lines_fail(&m->lines, status, error, "out of memory");
		tracemend_report_free(report);
		return NULL;
	}
	if (merge_unlisted(m, report, s, left))
		return report;
	merge_damaged(m, error, missing);
	tracemend_report_free(report);
	return NULL;
}

/* The status that a summary names. Lines of the first versions have none. */
static bool merge_status(const json_t *line, bool checked, bool complete, enum tracemend_status *status)
{
	const char *name = cli_lines_text(line, "status");

	*status = checked ? TM_OK : TM_UNRECOGNISED;
	if (!name)
		return checked || !complete;
	for (int i = TM_OK + 1; *report_status_name((enum tracemend_status)i); i++) {
		*status = (enum tracemend_status)i;
		if (!strcmp(name, report_status_name(*status)))
			return true;
	}
	return false;
}

static bool merge_summary(struct merge *m, const json_t *line, struct tracemend_error *error)
{
	const char *path = cli_lines_text(line, "path"), *incomplete = cli_lines_text(line, "incomplete");
	const json_t *complete = json_object_get(line, "complete");
	struct tracemend_error why = { .message = "" };
	char shown[CLI_TEXT_MAX];
	uint64_t known = 0;
	struct tracemend_summary s = { .format = cli_lines_text(line, "format"),
				       .format_version = cli_lines_text(line, "format_version"),
				       .complete = json_is_true(complete),
				       .incomplete = incomplete ? incomplete : "" };

	if (!path || !s.format || !s.format_version || !json_is_boolean(complete) || s.complete != !incomplete ||
	    !cli_lines_number(line, "size", &s.size) || !cli_lines_number(line, "records", &s.records) ||
	    !cli_lines_number(line, "errors", &s.errors) || !cli_lines_number(line, "warnings", &s.warnings) ||
	    !cli_lines_number(line, "notes", &s.notes) || !merge_status(line, *s.format, s.complete, &why.status) ||
	    (json_object_get(line, "known") && !cli_lines_number(line, "known", &known)))
		return merge_damaged(m, error, "no whole summary of a report");
	if (m->input && strcmp(m->input, path) != 0)
		return merge_damaged(m, error, "the summary is of another input than the findings before it");
	s.path = cli_show(shown, path);
	struct tracemend_report *report = NULL;
	if (*s.format)
		report = merge_report(m, line, &s, error);
	else if (m->count || s.errors || s.warnings || s.notes)
		merge_damaged(m, error, "findings of an input that was not checked");
	if (!report && error->status != TM_OK)
		return false;
	tracemend_escape(why.message, sizeof(why.message), s.incomplete);
	merge_drop(m);
	m->inputs++;
	m->incomplete += !s.complete;
	merge_print(m, report, shown, &why, known);
	if (!s.complete) {
		size_t length = strlen(shown);
		fflush(stdout);
		cli_error("%s%s%s", strncmp(why.message, shown, length) ? shown : "",
			  strncmp(why.message, shown, length) ? ": " : "", why.message);
	}
	return true;
}

/* ---- files ---- */

/* The last line of a run. */
static bool merge_end(struct merge *m, const json_t *line, struct tracemend_error *error)
{
	uint64_t inputs, incomplete;

	if (!cli_lines_number(line, "inputs", &inputs) || !cli_lines_number(line, "incomplete", &incomplete))
		return merge_damaged(m, error, "no whole last line of a run");
	if (m->count)
		return merge_damaged(m, error, "the run ends in findings without the summary of their input");
	if (inputs != m->inputs || incomplete != m->incomplete)
		return merge_damaged(m, error, "the run had other inputs than there are: lines are missing");
	m->begun = false;
	m->inputs = m->incomplete = 0;
	return true;
}

static bool merge_line(struct merge *m, const json_t *line, struct tracemend_error *error)
{
	const char *type = cli_lines_text(line, "type");
	uint64_t passed_over;

	if (type && !strcmp(type, "end"))
		return merge_end(m, line, error);
	m->begun = true;
	if (type && !strcmp(type, "finding"))
		return merge_finding(m, line, error);
	if (type && !strcmp(type, "summary"))
		return merge_summary(m, line, error);
	if (type && !strcmp(type, "search") && cli_lines_number(line, "passed_over", &passed_over) && passed_over <= UINT32_MAX) {
		m->run.passed_over += (size_t)passed_over;
		return true;
	}
	return cli_lines_fail(&m->lines, TM_UNRECOGNISED, error, "not a line of 'tracemend check --format jsonl'");
}

static void merge_file(struct merge *m, const char *path)
{
	struct tracemend_error error;
	char shown[CLI_TEXT_MAX];
	json_t *line = NULL;
	bool good = cli_lines_open(&m->lines, path, &error);

	m->begun = false;
	m->inputs = m->incomplete = 0;
	while (good && !cli_signals_caught() && (good = cli_lines_next(&m->lines, &line, &error)) && line) {
		good = merge_line(m, line, &error);
		json_decref(line);
	}
	if (good && !m->lines.number)
		good = cli_lines_fail(&m->lines, TM_UNRECOGNISED, &error, "empty: the run did not write its report");
	else if (good && m->count)
		good = merge_damaged(m, &error, "the file ends in findings without the summary of their input");
	else if (good && m->begun)
		good = merge_damaged(m, &error, "the last line of the run is missing: the file was cut, or the run did not end");
	cli_lines_close(&m->lines);
	merge_drop(m);
	if (good || cli_signals_caught())
		return;
	merge_print(m, NULL, cli_show(shown, path), &error, 0);
	fflush(stdout);
	(void)cli_fail(&error);
}

int cli_report(struct cli_options *o)
{
	struct tracemend_options shown = o->library; /* as the report lists findings */
	struct merge m = {
		.options = o,
		.run = cli_saves_run(o, &shown),
		.printer = report_printer_find(o->format),
	};

	if (!o->paths.count)
		return cli_usage("report needs the report of a run: a file that 'tracemend check --format jsonl' wrote");
	shown.max_findings = cli_saves_findings(o, m.printer);
	m.code = cli_baseline_begin(&m.baseline, o);
	if (!m.code)
		m.code = cli_saves_begin(&m.saves, o, NULL);
	if (m.code) {
		(void)cli_saves_end(m.saves, 0, false);
		cli_baseline_free(m.baseline);
		return m.code;
	}
	if (m.printer->begin)
		m.printer->begin(&m.run);
	for (size_t i = 0; i < o->paths.count && !cli_signals_caught(); i++)
		merge_file(&m, o->paths.items[i]);
	m.run.stopped = cli_signals_caught();
	if (m.printer->end)
		m.printer->end(&m.run);
	m.code = cli_worse(m.code, cli_saves_end(m.saves, m.run.passed_over, !cli_signals_caught()));
	m.code = cli_worse(m.code, cli_baseline_end(m.baseline, !m.run.incomplete && !m.run.failed && !cli_signals_caught()));
	cli_say_passed_over(o, m.run.passed_over);
	free(m.pending);
	if (m.run.failed) {
		cli_error("out of memory: the report is incomplete");
		m.code = cli_worse(m.code, CLI_LIMIT);
	}
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : m.code;
}
