/* text and concise: for people. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static const char *text_severity_color(enum tracemend_severity severity)
{
	switch (severity) {
	case TM_ERROR:
		return "\033[1;31m";
	case TM_WARNING:
		return "\033[1;33m";
	case TM_NOTE:
		return "\033[1;36m";
	case TM_IGNORE:
		break;
	}
	return "";
}

/* "file:0x41c0: error: message [rule]" */
static void text_headline(const struct report_run *run, const struct report_entry *entry, const struct tracemend_finding *f)
{
	const char *bold = run->color ? "\033[1m" : "", *off = run->color ? "\033[0m" : "";

	fprintf(run->out, "%s%s%s%s:0x%llx:%s ", bold, entry->shown, *f->file ? "/" : "", f->file, (unsigned long long)f->offset,
		off);
	fprintf(run->out, "%s%s:%s %s [%s]\n", run->color ? text_severity_color(f->severity) : "",
		tracemend_severity_name(f->severity), off, f->message, f->rule->id);
}

/* Prints text of a rule or a finding in lines of 100 columns after a label. */
static void text_line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "  %-8s %s\n", label, text);
}

static void text_put(FILE *out, const char *text)
{
	fputs(text, out);
}

static void text_finding(const struct report_run *run, const struct report_entry *entry, const struct tracemend_finding *f)
{
	text_headline(run, entry, f);
	if (*f->path)
		fprintf(run->out, "  %s\n", f->path);
	report_hex(run->out, f, run->color, text_put);
	/* The hex rows show the beginning of the finding, not its extent. */
	if (f->length > TRACEMEND_CONTEXT)
		fprintf(run->out, "  %-8s %llu bytes, up to 0x%llx\n", "length", (unsigned long long)f->length,
			(unsigned long long)(f->offset + f->length - 1));
	if (*f->rule->clause)
		text_line(run->out, "because", f->rule->clause);
	if (run->verbose && *f->rule->explanation)
		text_line(run->out, "means", f->rule->explanation);
	if (*f->rule->repair)
		text_line(run->out, "repair", f->rule->repair);
	if (f->explains) {
		report_count(run->out, "  explains ", f->explains, "further finding");
		fputc('\n', run->out);
	}
}

static void text_cut(const struct report_run *run, const struct report_tally *t)
{
	if (t->count <= t->kept)
		return;
	fprintf(run->out, "  and %llu more of this rule%s%s%s: %s\n", (unsigned long long)(t->count - t->kept),
		t->last == SIZE_MAX ? " [" : "", t->last == SIZE_MAX ? t->rule->id : "", t->last == SIZE_MAX ? "]" : "",
		run->options && run->options->max_findings ? "--max-findings 0 shows all" : "the report is full");
}

/* "magic.fxt: fxt, 35463 records, 992384 bytes: 1 error, 0 warnings, 4 notes" */
static void text_summary(const struct report_run *run, const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	FILE *out = run->out;

	if (!entry->report)
		return; /* standard error says why */
	fprintf(out, "%s: %s%s%s", s.path, s.format, *s.format_version ? " " : "", s.format_version);
	report_count(out, ", ", s.records, "record");
	report_count(out, ", ", s.size, "byte");
	if (s.errors || s.warnings || s.notes) {
		fputs(": ", out);
		report_counts(out, &s);
	} else if (s.complete) {
		fputs(": clean", out);
	} else {
		fputs(": nothing found", out);
	}
	if (!s.complete) {
		size_t prefix = strlen(s.path); /* it is in the line already */
		bool named = !strncmp(s.incomplete, s.path, prefix) && !strncmp(s.incomplete + prefix, ": ", 2);
		fprintf(out, "; INCOMPLETE, not everything was checked: %s", s.incomplete + (named ? prefix + 2 : 0));
	}
	fputc('\n', out);
}

static void text_entry(struct report_run *run, const struct report_entry *entry)
{
	size_t findings = entry->report ? tracemend_report_finding_count(entry->report) : 0, count;
	struct report_tally *tally = report_tally(run, entry, &count);

	for (size_t i = 0; i < findings; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		text_finding(run, entry, f);
		for (size_t k = 0; k < count; k++)
			if (tally[k].last == i)
				text_cut(run, &tally[k]);
		fputc('\n', run->out);
	}
	for (size_t k = 0; k < count; k++)
		if (tally[k].last == SIZE_MAX)
			text_cut(run, &tally[k]);
	free(tally);
	if (entry->report && (!run->quiet || !tracemend_report_summary(entry->report)->complete))
		text_summary(run, entry);
}

/* The last line of a report on several inputs. */
static void text_end(struct report_run *run)
{
	if (run->printed < 2 || run->quiet)
		return;
	fprintf(run->out, "%zu inputs: %zu with errors", run->printed, run->with_errors);
	if (run->incomplete)
		fprintf(run->out, ", %zu not checked completely", run->incomplete);
	fputc('\n', run->out);
}

const struct report_printer report_text = { .name = "text", .entry = text_entry, .end = text_end };

static void concise_entry(struct report_run *run, const struct report_entry *entry)
{
	size_t findings = entry->report ? tracemend_report_finding_count(entry->report) : 0, count;
	struct report_tally *tally = report_tally(run, entry, &count);

	for (size_t i = 0; i < findings; i++)
		text_headline(run, entry, tracemend_report_finding(entry->report, i));
	for (size_t k = 0; k < count; k++)
		if (tally[k].count > tally[k].kept)
			fprintf(run->out, "%s: and %llu more [%s]\n", entry->shown,
				(unsigned long long)(tally[k].count - tally[k].kept), tally[k].rule->id);
	free(tally);
	if (entry->report && (!run->quiet || !tracemend_report_summary(entry->report)->complete))
		text_summary(run, entry);
}

const struct report_printer report_concise = { .name = "concise", .entry = concise_entry, .end = text_end };
