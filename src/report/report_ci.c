/* junit and github: for continuous integration. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- junit: an input is a test case, and it fails as --fail-on says ---- */

/* Prints text, which is UTF-8 without control characters, escaped for XML. */
static void xml_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

static void junit_begin(struct report_run *run)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tracemend\">\n", run->out);
}

static void junit_findings(struct report_run *run, const struct report_entry *entry)
{
	size_t count = tracemend_report_finding_count(entry->report);

	for (size_t i = 0; i < count; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		if (*f->file) {
			xml_text(run->out, f->file);
			fputs(":", run->out);
		}
		fprintf(run->out, "0x%llx: %s: ", (unsigned long long)f->offset, tracemend_severity_name(f->severity));
		xml_text(run->out, f->message);
		fprintf(run->out, " [%s]\n", f->rule->id);
	}
	struct report_tally *tally = report_tally(run, entry, &count);
	for (size_t i = 0; i < count; i++)
		if (tally[i].count > tally[i].kept)
			fprintf(run->out, "and %llu more [%s]\n", (unsigned long long)(tally[i].count - tally[i].kept),
				tally[i].rule->id);
	free(tally);
}

static void junit_entry(struct report_run *run, const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	FILE *out = run->out;

	fprintf(out, "<testsuite name=\"");
	xml_text(out, s.path);
	fprintf(out, "\" tests=\"1\" failures=\"%d\" errors=\"%d\">\n<testcase classname=\"%s\" name=\"",
		s.complete && report_fails(run, &s), !s.complete, *s.format ? s.format : "unknown");
	xml_text(out, s.path);
	fputs("\">\n", out);
	if (!s.complete) {
		fputs("<error message=\"", out);
		xml_text(out, *s.incomplete ? s.incomplete : "the check is incomplete");
		fputs("\"/>\n", out);
	} else if (report_fails(run, &s)) {
		fputs("<failure message=\"", out);
		report_counts(out, &s);
		fprintf(out, "\" type=\"%s\"/>\n", s.errors ? "error" : s.warnings ? "warning" : "note");
	}
	if (entry->report && tracemend_report_finding_count(entry->report)) {
		fputs("<system-out>", out);
		junit_findings(run, entry);
		fputs("</system-out>\n", out);
	}
	fputs("</testcase>\n</testsuite>\n", out);
}

static void junit_end(struct report_run *run)
{
	fputs("</testsuites>\n", run->out);
}

const struct report_printer report_junit = {
	.name = "junit",
	.begin = junit_begin,
	.entry = junit_entry,
	.end = junit_end,
};

/* ---- github: workflow commands, which become annotations ---- */

/* Prints a message or a property of a workflow command, in which '%' and, in a property, ',' and ':' are escaped. */
static void github_text(FILE *out, const char *text, bool property)
{
	for (; *text; text++) {
		if (*text == '%' || (property && strchr(",:", *text)))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			fputc(*text, out);
	}
}

static void github_entry(struct report_run *run, const struct report_entry *entry)
{
	static const char *const commands[] = { "notice", "warning", "error" };
	struct tracemend_summary s = report_summary(entry);
	size_t count = entry->report ? tracemend_report_finding_count(entry->report) : 0;
	FILE *out = run->out;

	for (size_t i = 0; i < count; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		fprintf(out, "::%s file=", commands[f->severity <= TM_ERROR ? f->severity : TM_ERROR]);
		github_text(out, s.path, true);
		if (*f->file) {
			fputc('/', out);
			github_text(out, f->file, true);
		}
		fprintf(out, ",title=%s::0x%llx: ", f->rule->id, (unsigned long long)f->offset);
		github_text(out, f->message, false);
		fputc('\n', out);
	}
	struct report_tally *tally = report_tally(run, entry, &count);
	for (size_t i = 0; i < count; i++) {
		if (tally[i].count == tally[i].kept)
			continue;
		fputs("::notice file=", out);
		github_text(out, s.path, true);
		fprintf(out, ",title=%s::and %llu more of this rule\n", tally[i].rule->id,
			(unsigned long long)(tally[i].count - tally[i].kept));
	}
	free(tally);
	if (s.complete)
		return;
	fputs("::error file=", out);
	github_text(out, s.path, true);
	fputs(",title=not checked::", out);
	github_text(out, *s.incomplete ? s.incomplete : "the check is incomplete", false);
	fputc('\n', out);
}

const struct report_printer report_github = { .name = "github", .entry = github_entry };
