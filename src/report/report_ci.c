/* junit, github and gitlab: for continuous integration. */
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
	struct report_reading r;
	const struct tracemend_finding *f;

	report_read(&r, run, entry);
	while ((f = report_read_next(&r))) {
		if (*f->file) {
			xml_text(run->out, f->file);
			fputs(":", run->out);
		}
		fprintf(run->out, "0x%llx: %s: ", (unsigned long long)f->offset, tracemend_severity_name(f->severity));
		xml_text(run->out, f->message);
		fprintf(run->out, " [%s]\n", f->rule->id);
	}
	for (size_t i = 0; i < r.tallies; i++) {
		char number[32];
		if (r.tally[i].count > r.tally[i].kept)
			fprintf(run->out, "and %s more [%s]\n", text_number(number, r.tally[i].count - r.tally[i].kept),
				r.tally[i].rule->id);
	}
	report_read_end(&r);
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
		const char *why = *s.incomplete ? s.incomplete : "the check is incomplete";
		fputs("<error message=\"", out);
		xml_text(out, why);
		fputs("\" type=\"incomplete\">", out);
		xml_text(out, why);
		fputs("</error>\n", out);
	} else if (report_fails(run, &s)) {
		/* Some readers, GitLab among them, show the text of the failure and nothing else. */
		fputs("<failure message=\"", out);
		report_counts(out, &s);
		fprintf(out, "\" type=\"%s\">", s.errors ? "error" : s.warnings ? "warning" : "note");
		junit_findings(run, entry);
		fputs("</failure>\n", out);
	}
	bool told = s.complete && report_fails(run, &s);
	if (!told && entry->report && tracemend_report_finding_count(entry->report)) {
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

/* GitHub shows ten annotations of a level and step, and drops the others. */
#define GITHUB_LEVEL_MAX 10u

struct github {
	struct github_level {
		char *lines[GITHUB_LEVEL_MAX]; /* in the order of the findings */
		size_t used;
		uint64_t findings, inputs; /* all of this level, and the inputs that have some */
	} levels[TM_ERROR + 1];
};

static void github_begin(struct report_run *run)
{
	run->state = calloc(1, sizeof(struct github));
	run->failed = run->failed || !run->state;
}

/* A stream into the next line of a level; NULL when it has enough. */
static FILE *github_line(struct report_run *run, struct github_level *level, size_t *size)
{
	if (level->used == GITHUB_LEVEL_MAX)
		return NULL;
	FILE *line = open_memstream(&level->lines[level->used], size);
	if (line)
		level->used++;
	else
		run->failed = true;
	return line;
}

static void github_close(struct report_run *run, FILE *line)
{
	if (fclose(line))
		run->failed = true;
}

static void github_finding(struct report_run *run, const struct tracemend_summary *s, const struct tracemend_finding *f)
{
	static const char *const commands[] = { "notice", "warning", "error" };
	struct github *g = run->state;
	size_t size;
	FILE *line = github_line(run, &g->levels[f->severity], &size);

	if (!line)
		return;
	fprintf(line, "::%s file=", commands[f->severity]);
	github_text(line, s->path, true);
	if (*f->file) {
		fputc('/', line);
		github_text(line, f->file, true);
	}
	fprintf(line, ",title=%s::0x%llx: ", f->rule->id, (unsigned long long)f->offset);
	github_text(line, f->message, false);
	github_close(run, line);
}

static void github_entry(struct report_run *run, const struct report_entry *entry)
{
	struct github *g = run->state;
	struct tracemend_summary s = report_summary(entry);
	const uint64_t counts[] = { s.notes, s.warnings, s.errors + !s.complete };
	size_t count = entry->report ? tracemend_report_finding_count(entry->report) : 0, size;

	if (!g)
		return;
	for (int i = TM_NOTE; i <= TM_ERROR; i++) {
		g->levels[i].findings += counts[i];
		g->levels[i].inputs += counts[i] > 0;
	}
	FILE *line = s.complete ? NULL : github_line(run, &g->levels[TM_ERROR], &size);
	if (line) {
		fputs("::error file=", line);
		github_text(line, s.path, true);
		fputs(",title=not checked::", line);
		github_text(line, *s.incomplete ? s.incomplete : "the check is incomplete", false);
		github_close(run, line);
	}
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		if (f->severity >= TM_NOTE && f->severity <= TM_ERROR)
			github_finding(run, &s, f);
	}
}

/* Errors first. Where a level has more than is shown, the last line sums up the others. */
static void github_end(struct report_run *run)
{
	static const char *const commands[] = { "notice", "warning", "error" };
	static const char *const nouns[] = { "note", "warning", "error" };
	struct github *g = run->state;

	for (int i = g ? TM_ERROR : TM_NOTE - 1; i >= TM_NOTE; i--) {
		struct github_level *level = &g->levels[i];
		bool summed = level->findings > level->used;
		size_t shown = summed && level->used ? level->used - 1 : level->used;
		for (size_t k = 0; k < level->used; k++) {
			if (k < shown && level->lines[k])
				fprintf(run->out, "%s\n", level->lines[k]);
			free(level->lines[k]);
		}
		if (summed) {
			fprintf(run->out, "::%s title=tracemend::", commands[i]);
			report_count(run->out, shown ? "and " : "", level->findings - shown, nouns[i]);
			report_count(run->out, shown ? " more; all are in " : " in ", level->inputs, "input");
			fputc('\n', run->out);
		}
	}
	free(g);
	run->state = NULL;
}

const struct report_printer report_github = {
	.name = "github",
	.begin = github_begin,
	.entry = github_entry,
	.end = github_end,
};

/* ---- gitlab: Code Quality ---- */

struct gitlab {
	struct report_alike alike;
	size_t printed;
};

static void gitlab_begin(struct report_run *run)
{
	run->state = calloc(1, sizeof(struct gitlab));
	run->failed = run->failed || !run->state;
	fputc('[', run->out);
}

/* A path in the repository: GitLab knows it without "./". */
static const char *gitlab_path(const char *path)
{
	while (path[0] == '.' && path[1] == '/')
		for (path += 2; *path == '/';)
			path++;
	return path;
}

static void gitlab_issue(struct report_run *run, const char *description, const char *check, const char *severity, const char *path,
			 const char *file, const char *fingerprint)
{
	struct gitlab *g = run->state;
	char unique[REPORT_FINGERPRINT_SIZE + 24];
	json_t *where = json_sprintf("%s%s%s", gitlab_path(path), *file ? "/" : "", file);

	report_alike_name(&g->alike, path, fingerprint, unique);
	fputs(g->printed++ ? ",\n" : "\n", run->out);
	report_json_print(run,
			  json_pack("{s:s,s:s,s:s,s:s,s:{s:o,s:{s:i}}}", "description", description, "check_name", check,
				    "fingerprint", unique, "severity", severity, "location", "path", where, "lines", "begin", 1));
}

static void gitlab_entry(struct report_run *run, const struct report_entry *entry)
{
	static const char *const severities[] = { "info", "minor", "critical" };
	struct tracemend_summary s = report_summary(entry);
	struct report_reading r;
	const struct tracemend_finding *f;

	if (!run->state)
		return;
	report_read(&r, run, entry);
	while ((f = report_read_next(&r))) {
		char fingerprint[REPORT_FINGERPRINT_SIZE], text[1024];
		if (f->severity < TM_NOTE || f->severity > TM_ERROR)
			continue;
		(void)snprintf(text, sizeof(text), "%s (byte offset 0x%llx)", f->message, (unsigned long long)f->offset);
		gitlab_issue(run, text, f->rule->id, severities[f->severity], s.path, f->file, report_fingerprint(f, fingerprint));
	}
	for (size_t i = 0; i < r.tallies; i++) {
		const struct report_tally *t = &r.tally[i];
		char number[32], text[256];
		if (t->count == t->kept)
			continue;
		(void)snprintf(text, sizeof(text), "and %s more of %s that are not listed", text_number(number, t->count - t->kept),
			       t->rule->id);
		gitlab_issue(run, text, "not-listed", severities[t->rule->severity], s.path, "", t->rule->id);
	}
	report_read_end(&r);
	if (!s.complete)
		gitlab_issue(run, *s.incomplete ? s.incomplete : "the check is incomplete", "not-checked", "blocker", s.path, "",
			     "not-checked");
}

static void gitlab_end(struct report_run *run)
{
	struct gitlab *g = run->state;

	fputs("\n]\n", run->out);
	if (g)
		report_alike_free(&g->alike);
	free(g);
	run->state = NULL;
}

const struct report_printer report_gitlab = {
	.name = "gitlab",
	.begin = gitlab_begin,
	.entry = gitlab_entry,
	.end = gitlab_end,
};
