/* markdown and html: for issues, mails and artifacts. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- markdown ---- */

/* Prints text, escaped so that nothing in it is markup. */
static void markdown_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&')
			fprintf(out, "&#%d;", *text); /* backslashes do not escape all HTML */
		else if (strchr("\\`*_{}[]()#+-.!|~:@", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void markdown_rows(struct report_run *run, const struct report_entry *entry)
{
	size_t count = tracemend_report_finding_count(entry->report);
	FILE *out = run->out;

	fputs("| severity | where | what | rule |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		fprintf(out, "| %s | ", tracemend_severity_name(f->severity));
		if (*f->file) {
			markdown_text(out, f->file);
			fputs(" at ", out);
		}
		fprintf(out, "0x%llx", (unsigned long long)f->offset);
		if (*f->path) {
			fputs(", ", out);
			markdown_text(out, f->path);
		}
		fputs(" | ", out);
		markdown_text(out, f->message);
		char number[32];
		if (f->explains)
			fprintf(out, " (explains %s more)", report_number(number, f->explains));
		fprintf(out, " | `%s` |\n", f->rule->id);
	}
	char number[32];
	struct report_tally *tally = report_tally(run, entry, &count);
	for (size_t i = 0; i < count; i++)
		if (tally[i].count > tally[i].kept)
			fprintf(out, "| | | and %s more | `%s` |\n", report_number(number, tally[i].count - tally[i].kept),
				tally[i].rule->id);
	free(tally);
}

static void markdown_entry(struct report_run *run, const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	FILE *out = run->out;

	fprintf(out, "%s## ", run->printed ? "\n" : "");
	markdown_text(out, s.path);
	fputs("\n\n", out);
	if (entry->report) {
		fprintf(out, "%s%s", s.format, *s.format_version ? " " : "");
		markdown_text(out, s.format_version);
		report_count(out, ", ", s.records, "record");
		report_count(out, ", ", s.size, "byte");
		fputs(": ", out);
		report_counts(out, &s);
		fputs(".\n", out);
	}
	if (!s.complete) {
		fputs("\n**Not everything was checked:** ", out);
		markdown_text(out, s.incomplete);
		fputc('\n', out);
	}
	if (entry->report && tracemend_report_finding_count(entry->report)) {
		fputc('\n', out);
		markdown_rows(run, entry);
	}
}

const struct report_printer report_markdown = { .name = "markdown", .people = true, .entry = markdown_entry };

/* ---- html: one self-contained file ---- */

static void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static void html_begin(struct report_run *run)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tracemend report</title>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	      "<style>\n"
	      "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }\n"
	      "h2 { overflow-wrap: anywhere; } article { border-left: 4px solid #888; padding-left: 1em; margin: 1.5em 0; }\n"
	      "article.error { border-color: #b00020; } article.warning { border-color: #a66a00; }\n"
	      "article h3 { font-size: 1em; margin: 0; } pre { overflow-x: auto; background: #8881; padding: .5em; }\n"
	      "p { margin: .3em 0; } .incomplete { color: #b00020; }\n"
	      "</style></head><body>\n<h1>tracemend report</h1>\n",
	      run->out);
}

static void html_line(FILE *out, const char *label, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "<p>%s", label);
	html_text(out, text);
	fputs("</p>\n", out);
}

static void html_finding(FILE *out, const struct tracemend_finding *f)
{
	fprintf(out, "<article class=\"%s\"><h3>%s: ", tracemend_severity_name(f->severity), tracemend_severity_name(f->severity));
	html_text(out, f->message);
	fprintf(out, "</h3>\n<p>");
	if (*f->file) {
		html_text(out, f->file);
		fputs(" at ", out);
	}
	fprintf(out, "0x%llx", (unsigned long long)f->offset);
	if (*f->path) {
		fputs(", ", out);
		html_text(out, f->path);
	}
	fprintf(out, " <code>%s</code></p>\n", f->rule->id);
	if (f->context_length) {
		fputs("<pre>", out);
		report_hex(out, f, false, html_text);
		fputs("</pre>\n", out);
	}
	html_line(out, "Because: ", f->rule->clause);
	html_line(out, "Repair: ", f->rule->repair);
	if (f->explains) {
		report_count(out, "<p>Explains ", f->explains, "further finding");
		fputs(".</p>\n", out);
	}
	fputs("</article>\n", out);
}

static void html_entry(struct report_run *run, const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	size_t count = entry->report ? tracemend_report_finding_count(entry->report) : 0;
	FILE *out = run->out;

	fputs("<h2>", out);
	html_text(out, s.path);
	fputs("</h2>\n", out);
	if (entry->report) {
		fprintf(out, "<p>%s ", s.format);
		html_text(out, s.format_version);
		report_count(out, ", ", s.records, "record");
		report_count(out, ", ", s.size, "byte");
		fputs(": ", out);
		report_counts(out, &s);
		fputs("</p>\n", out);
	}
	if (!s.complete) {
		fputs("<p class=\"incomplete\">Not everything was checked: ", out);
		html_text(out, s.incomplete);
		fputs("</p>\n", out);
	}
	for (size_t i = 0; i < count; i++)
		html_finding(out, tracemend_report_finding(entry->report, i));
	char number[32];
	struct report_tally *tally = report_tally(run, entry, &count);
	for (size_t i = 0; i < count; i++)
		if (tally[i].count > tally[i].kept)
			fprintf(out, "<p>and %s more of <code>%s</code></p>\n",
				report_number(number, tally[i].count - tally[i].kept), tally[i].rule->id);
	free(tally);
}

static void html_end(struct report_run *run)
{
	fputs("</body></html>\n", run->out);
}

const struct report_printer report_html = {
	.name = "html", .people = true, .begin = html_begin, .entry = html_entry, .end = html_end
};
