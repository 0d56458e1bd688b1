/* The findings on an HTML page: a group a rule, with the rule's explanation beside it. */
#include <stdlib.h>
#include <string.h>

#include "report/report_html.h"

static void html_line(FILE *out, const char *label, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "<dt>%s</dt><dd>", label);
	html_text(out, text);
	fputs("</dd>\n", out);
}

static size_t rule_index(const struct html_page *page, const struct tracemend_rule *rule)
{
	size_t i = 0;

	while (i < page->rules && tracemend_rule_at(NULL, i) != rule)
		i++;
	return i;
}

/* What a rule means, once a page. */
static void html_rule(FILE *out, struct html_page *page, const struct tracemend_rule *rule)
{
	size_t index = rule_index(page, rule);
	char url[512];

	if (page->explained[index]) {
		fprintf(out, "<aside><p><a href=\"#r%zu\">What this rule means</a></p></aside>\n", index);
		return;
	}
	page->explained[index] = true;
	fprintf(out, "<aside id=\"r%zu\"><p>", index);
	html_text(out, rule->explanation);
	fputs("</p>\n<dl>", out);
	if (*tracemend_rule_url(rule, url, sizeof(url))) {
		fputs("<dt>Because</dt><dd><a rel=\"noreferrer\" href=\"", out);
		html_text(out, url);
		fputs("\">", out);
		html_text(out, rule->clause);
		fputs("</a></dd>\n", out);
	} else {
		html_line(out, "Because", rule->clause);
	}
	html_line(out, "Repair", rule->repair);
	fputs("</dl></aside>\n", out);
}

static void html_finding(FILE *out, FILE *marks, const struct report_entry *entry, const struct tracemend_finding *f,
			 size_t ordinal, size_t index, bool open)
{
	const char *severity = tracemend_severity_name(f->severity);
	char message[REPORT_MESSAGE_SIZE];

	fprintf(out, "<details class=\"finding %s\" id=\"f%zu-%zu\"%s><summary><span class=\"at\">", severity, ordinal, index,
		open ? " open" : "");
	if (*f->file) {
		html_text(out, f->file);
		fputs(" ", out);
	}
	fprintf(out, "0x%llx</span> <span class=\"what\">", (unsigned long long)f->offset);
	html_text(out, report_message(f->message, message));
	fputs("</span></summary>\n", out);
	if (*f->path) {
		fputs("<p class=\"path\">", out);
		html_text(out, f->path);
		fputs("</p>\n", out);
	}
	if (f->context_length) {
		fputs("<pre tabindex=\"0\" aria-label=\"Bytes\">", out);
		report_hex(out, f, false, html_text);
		fputs("</pre>\n", out);
	}
	if (f->explains) {
		report_count(out, "<p>Explains ", f->explains, "further finding");
		fputs(".</p>\n", out);
	}
	fputs("</details>\n", out);
	size_t strip = entry->map ? report_map_strip(entry->map, f->file) : SIZE_MAX;
	if (strip != SIZE_MAX)
		fprintf(marks, "%s[%zu,%llu,%llu,%d,%zu]", ftell(marks) > 0 ? "," : "", strip, (unsigned long long)f->offset,
			(unsigned long long)f->length, (int)f->severity, index);
}

/* Prints the listed findings of a rule. Returns how many. */
static size_t html_listed(FILE *out, FILE *marks, const struct html_page *page, const struct report_entry *entry,
			  const struct report_tally *t, size_t ordinal, long begun)
{
	size_t count = tracemend_report_finding_count(entry->report), listed = 0;

	for (size_t i = 0; i < count && i <= t->last && t->kept; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		if (f->rule != t->rule)
			continue;
		/* The first of each rule always. */
		if (listed && page->used + (size_t)(ftell(out) - begun) > HTML_FINDINGS_MAX)
			break;
		html_finding(out, marks, entry, f, ordinal, i, !listed);
		listed++;
	}
	return listed;
}

static void html_group(FILE *out, FILE *marks, struct html_page *page, const struct report_entry *entry,
		       const struct report_tally *t, enum tracemend_severity severity, size_t ordinal, long begun)
{
	char number[32];

	fprintf(out, "<section class=\"rule %s\" data-severity=\"%s\">\n<h4><i class=\"key %s\" aria-hidden=\"true\"></i>",
		tracemend_severity_name(severity), tracemend_severity_name(severity), tracemend_severity_name(severity));
	fprintf(out, "<span class=\"count\">%s</span> ", text_number(number, t->count));
	html_text(out, t->rule->title);
	fprintf(out, " <code>%s</code> <span class=\"level\">%s</span></h4>\n<div class=\"pair\"><div class=\"list\">\n",
		t->rule->id, tracemend_severity_name(severity));
	size_t listed = html_listed(out, marks, page, entry, t, ordinal, begun);
	if (t->count > listed) {
		report_count(out, "<p class=\"more\">", t->count - listed, "more of these");
		fputs(entry->map ? ", which are on the map only" : ", not listed", out);
		fputs(".</p>\n", out);
	}
	fputs("</div>\n", out);
	html_rule(out, page, t->rule);
	fputs("</div></section>\n", out);
}

static enum tracemend_severity tally_severity(const struct report_entry *entry, const struct report_tally *t)
{
	const struct tracemend_finding *f = t->kept ? tracemend_report_finding(entry->report, t->last) : NULL;

	return f ? f->severity : t->rule->severity;
}

void html_findings(FILE *out, FILE *marks, struct report_run *run, struct html_page *page, const struct report_entry *entry,
		   size_t ordinal)
{
	size_t count;
	struct report_tally *tally = report_tally(run, entry, &count);
	long begun = ftell(out);

	fputs("<section class=\"findings\"", out);
	html_label(out, "Findings", ordinal);
	fputs("><h3>Findings</h3>\n<div class=\"filter\"></div>\n", out);
	for (int severity = TM_ERROR; severity >= TM_NOTE; severity--)
		for (size_t i = 0; i < count; i++)
			if ((int)tally_severity(entry, &tally[i]) == severity)
				html_group(out, marks, page, entry, &tally[i], (enum tracemend_severity)severity, ordinal, begun);
	fputs("</section>\n", out);
	free(tally);
}
