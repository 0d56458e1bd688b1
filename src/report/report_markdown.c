/* markdown: for issues and mails. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

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
	char message[REPORT_MESSAGE_SIZE];

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
		markdown_text(out, report_message(f->message, message));
		char number[32];
		if (f->explains)
			fprintf(out, " (explains %s more)", text_number(number, f->explains));
		fprintf(out, " | `%s` |\n", f->rule->id);
	}
	char number[32];
	struct report_tally *tally = report_tally(run, entry, &count);
	for (size_t i = 0; i < count; i++)
		if (tally[i].count > tally[i].kept)
			fprintf(out, "| | | and %s more | `%s` |\n", text_number(number, tally[i].count - tally[i].kept),
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
