/* What try -o writes about its findings: report.md and a .casrep for each group, to be sent to the authors of the reader, and an
 * index of all groups. */
#include "cli/reader.h"
#include "cli/try.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_html.h"

/* Lines of the reader's last words and of the debugger's stack that a report shows. */
#define PAGE_LINES 80u

/* Runs the reader again on the kept sample: its messages, and where it was killed the stack. */
struct page_run {
	struct child_result result, debug;
	char *messages; /* of several readers, each behind its name */
};

/* What a reader wrote to standard error. */
static const char *page_messages(const struct page_run *run)
{
	return run->messages ? run->messages : run->result.trail ? run->result.trail : "";
}

/* What several readers write, one after the other. NULL: out of memory. */
static char *page_compare(const struct try *t, const char *path)
{
	const struct cli_options *o = t->options;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < o->compared.count; i++) {
		struct child_result r;
		char *name = try_reader_name(o, i);
		reader_run_compared(o, i, path, &r);
		fprintf(out, "%s:\n%s%s", name ? name : "", r.trail ? r.trail : "",
			r.trail && i + 1 < o->compared.count ? "\n" : "");
		free(name);
		child_result_free(&r);
	}
	if (out && fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void page_run(const struct try *t, const struct try_group *g, struct page_run *run)
{
	const char *path = g->sample;

	*run = (struct page_run){ 0 };
	if (t->options->compared.count) {
		run->messages = page_compare(t, path);
		return;
	}
	reader_run(t->options, READER_RUN, path, &run->result);
	if (g->first->outcome == TRY_SIGNAL && t->debugger)
		reader_run(t->options, READER_DEBUG, path, &run->debug);
}

static void page_run_free(struct page_run *run)
{
	child_result_free(&run->result);
	child_result_free(&run->debug);
	free(run->messages);
}

/* ---- report.md ---- */

/* Text in a Markdown document, outside code: what would begin markup is escaped. */
static void md_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>#|~&", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void md_plain(FILE *out, const char *text)
{
	fputs(text, out);
}

static void md_row(FILE *out, const char *name, const char *value)
{
	if (!*value)
		return;
	fprintf(out, "- %s: ", name);
	md_text(out, value);
	fputc('\n', out);
}

/* Lines in a block of code, escaped, each behind four blanks: no text of a reader can end the block. */
static void md_code(FILE *out, const char *text, unsigned most)
{
	unsigned lines = 0;
	char line[1024], shown[4 * sizeof(line) + 1];

	for (; *text && lines < most; lines++) {
		size_t length = strcspn(text, "\r\n");
		(void)snprintf(line, sizeof(line), "%.*s", (int)(length < sizeof(line) ? length : sizeof(line) - 1), text);
		for (char *tab = line; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		tracemend_escape(shown, sizeof(shown), line);
		fprintf(out, "%s%s\n", *shown ? "    " : "", shown);
		text += length;
		text += *text == '\r';
		text += *text == '\n';
	}
	if (*text)
		fputs("    ...\n", out);
	fputc('\n', out);
}

/* The stack in what gdb printed: its lines that begin with "#". NULL: there is none, or memory ran out. */
static char *page_stack(const char *output)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = output && strstr(output, "\n#0 ") ? open_memstream(&text, &size) : NULL;

	for (const char *line = out ? strstr(output, "\n#0 ") + 1 : ""; *line == '#';) {
		size_t length = strcspn(line, "\n");
		fprintf(out, "%.*s\n", (int)length, line);
		line += length;
		line += *line == '\n';
	}
	if (out && fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* What check says of the sample: the finding that the group is about, else the first error. */
static void md_check(FILE *out, const struct try *t, const struct try_group *g)
{
	struct tracemend_options library = t->options->library;
	struct tracemend_error error = { 0 };

	library.format = g->first->path ? library.format : g->first->recipe.format;
	struct tracemend_input *input = tracemend_open(g->sample, &library, &error);
	struct tracemend_report *report = input ? tracemend_check(input, &library, &error) : NULL;
	const struct tracemend_finding *shown = NULL;
	tracemend_close(input);
	if (!report) {
		fputs("`tracemend check` does not recognise the format of the capture.\n\n", out);
		return;
	}
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		if (f->severity == TM_ERROR && (!shown || (f->rule == g->first->rule && shown->rule != f->rule)))
			shown = f;
	}
	if (!shown) {
		fputs("`tracemend check` finds no error in the capture: a reader should accept it.\n\n", out);
	} else {
		char url[512];
		fputs("`tracemend check` finds ", out);
		md_text(out, shown->rule->id);
		fprintf(out, " at offset 0x%llx", (unsigned long long)shown->offset);
		if (*shown->file) {
			fputs(" of ", out);
			md_text(out, shown->file);
		}
		fputs(": ", out);
		md_text(out, shown->message);
		fputs("\n\n", out);
		if (shown->context_length) {
			fputs("```\n", out);
			report_hex(out, shown, false, md_plain);
			fputs("```\n\n", out);
		}
		fputs("The clause: ", out);
		md_text(out, shown->rule->clause);
		tracemend_rule_url(shown->rule, url, sizeof(url));
		fprintf(out, "%s%s%s\n\n", *url ? " (<" : "", url, *url ? ">)" : "");
	}
	tracemend_report_free(report);
}

static void md_about(FILE *out, const struct try *t, const struct try_group *g)
{
	const struct try_case *c = g->first;
	char size[64], count[64];

	fputs("# ", out);
	md_text(out, t->reader.name);
	fputs(": ", out);
	char *heading = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&heading, &length);
	if (text) {
		try_print_heading(text, c);
		if (!fclose(text))
			md_text(out, heading);
	}
	free(heading);
	fputs("\n\n", out);
	md_row(out, "Reader", t->reader.name);
	md_row(out, "Version", t->reader.version);
	md_row(out, "Package", t->reader.package);
	md_row(out, "Build id", t->reader.build_id);
	md_row(out, "Group", g->id);
	md_row(out, "Broken rule", c->rule ? c->rule->id : c->valid ? "none: the capture is valid" : "not recognised");
	fprintf(out, "- Captures: %zu of %zu that were tried end like this\n", g->cases, g->of);
	fprintf(out, "- Sample: `%s`, %s, reduced from %s\n", strrchr(g->sample, '/') + 1, text_count(size, g->size, "byte"),
		text_count(count, c->size, "byte"));
}

static void md_write(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run)
{
	const char *messages = page_messages(run);
	char *stack = page_stack(run->debug.output), *replay = try_replay(t, g);

	md_about(out, t, g);
	if (g->first->outcome == TRY_COUNT || g->first->outcome == TRY_DIFFER) {
		fputs(g->first->outcome == TRY_COUNT ? "- Numbers: " : "- How they end: ", out);
		md_text(out, g->first->message ? g->first->message : "");
		fputc('\n', out);
	}
	fputs("\n## To see it\n\n", out);
	md_code(out, replay ? replay : "", 1);
	if (!g->first->path) {
		fputs("The first capture that showed it, before it was reduced, is made by\n\n", out);
		md_code(out, g->origin, 1);
	}
	if (*messages) {
		fputs("## What the reader says\n\n", out);
		md_code(out, messages, PAGE_LINES);
	}
	if (stack) {
		fputs("## Where it was killed\n\n", out);
		md_code(out, stack, PAGE_LINES);
	}
	fputs("## The capture\n\n", out);
	md_check(out, t, g);
	fputs("Found with tracemend " TRACEMEND_VERSION " (`tracemend try`).\n", out);
	free(stack);
	free(replay);
}

/* ---- .casrep ---- */

/* The lines of a text as an array. NULL: out of memory. */
static json_t *json_lines(const char *text)
{
	json_t *lines = json_array();
	char line[1024], shown[4 * sizeof(line) + 1];

	while (lines && text && *text) {
		size_t length = strcspn(text, "\n");
		(void)snprintf(line, sizeof(line), "%.*s", (int)(length < sizeof(line) ? length : sizeof(line) - 1), text);
		tracemend_escape(shown, sizeof(shown), line);
		if (json_array_append_new(lines, json_string(shown))) {
			json_decref(lines);
			return NULL;
		}
		text += length;
		text += *text == '\n';
	}
	return lines;
}

/* The report of a crash as CASR has it: what its tools for groups read. */
static json_t *casrep(const struct try *t, const struct try_group *g, const struct page_run *run)
{
	const struct try_case *c = g->first;
	char *replay = try_replay(t, g), *stack = page_stack(run->debug.output), name[32] = "";
	const char *type = c->outcome == TRY_SIGNAL ? child_signal_name(name, c->code) : try_outcome_name(c->outcome);

	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s}, s:o, s:s, s:o, s:s, s:s}", "Date", "", "PackageName",
			      t->reader.package, "ExecutablePath", t->reader.name, "ProcCmdline", replay ? replay : "",
			      "CrashSeverity", "Type", "UNDEFINED", "ShortDescription", type, "Description",
			      c->message ? c->message : type, "Explanation", c->rule ? c->rule->title : "", "Stacktrace",
			      json_lines(stack ? stack : c->site), "CrashLine", c->site ? c->site : "", "AsanReport",
			      json_lines(page_messages(run)), "TracemendGroup", g->id, "TracemendRule", c->rule ? c->rule->id : "");
	free(stack);
	free(replay);
	return o;
}

/* ---- files ---- */

typedef bool (*page_print)(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run);

/* Writes folder/name as a whole. False after an error message. */
static bool page_file(const char *folder, const char *name, page_print print, const struct try *t, const struct try_group *g,
		      const struct page_run *run)
{
	struct cli_file file;
	char *path = NULL;

	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		(void)cli_memory();
		return false;
	}
	bool good = !cli_file_begin(&file, path);
	if (good && !print(file.stream, t, g, run)) {
		(void)cli_memory();
		good = false;
	}
	if (good)
		good = cli_file_flush(&file) && cli_file_commit(&file);
	else if (file.stream)
		cli_file_abandon(&file);
	free(path);
	return good;
}

static bool page_print_report(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run)
{
	md_write(out, t, g, run);
	return true;
}

static bool page_print_casrep(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run)
{
	struct report_run printed = { .out = out };

	report_json_print(&printed, casrep(t, g, run));
	fputc('\n', out);
	return !printed.failed;
}

bool try_page_write(const struct try *t, const struct try_group *g)
{
	struct page_run run;

	page_run(t, g, &run);
	bool good = page_file(g->folder, "report.md", page_print_report, t, g, &run) &&
		    page_file(g->folder, "report.casrep", page_print_casrep, t, g, &run);
	page_run_free(&run);
	return good;
}

/* ---- the index ---- */

static bool index_text(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run)
{
	(void)g;
	(void)run;
	try_report_text(t, out);
	return true;
}

static bool index_json(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run)
{
	(void)g;
	(void)run;
	return try_report_json(t, out);
}

static void index_html_row(FILE *out, const struct try_group *g)
{
	const struct try_case *c = g->first;
	char number[32], *heading = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&heading, &length);

	if (text) {
		try_print_heading(text, c);
		if (fclose(text))
			*heading = '\0';
	}
	fprintf(out, "<tr><td><a href=\"%s/report.md\"><code>%s</code></a></td><td>", g->id, g->id);
	html_text(out, heading ? heading : "");
	fputs("</td><td>", out);
	html_text(out, c->rule ? c->rule->id : c->valid ? "no defect" : "not recognised");
	fprintf(out, "</td><td>%zu of %zu</td><td>", g->cases, g->of);
	if (g->sample && !g->failed) {
		const char *name = g->sample + strlen(g->folder) + 1;
		fprintf(out, "<a href=\"%s/%s\">", g->id, name); /* made of names of rules: nothing to escape */
		html_text(out, name);
		fprintf(out, "</a>, %s bytes", text_number(number, g->size));
	}
	fputs("</td></tr>\n", out);
	free(heading);
}

static bool index_html(FILE *out, const struct try *t, const struct try_group *g, const struct page_run *run)
{
	(void)g;
	(void)run;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
	      "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"><title>",
	      out);
	html_text(out, t->reader.name);
	fputs(": what tracemend try found</title><style>body{font:1rem/1.5 system-ui,sans-serif;margin:1rem}"
	      "td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;overflow-wrap:anywhere}</style></head>"
	      "<body><main><h1>What tracemend try found</h1><p>Reader: ",
	      out);
	html_text(out, t->reader.name);
	fputs(*t->reader.version ? " " : "", out);
	html_text(out, t->reader.version);
	fputs("</p><table><thead><tr><th scope=\"col\">Group</th><th scope=\"col\">What happens</th><th scope=\"col\">Broken "
	      "rule</th>"
	      "<th scope=\"col\">Captures</th><th scope=\"col\">Sample</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < t->group_count; i++)
		index_html_row(out, &t->groups[i]);
	fputs("</tbody></table></main></body></html>\n", out);
	return true;
}

bool try_index_write(const struct try *t)
{
	const char *folder = t->options->output;

	return page_file(folder, "index.txt", index_text, t, NULL, NULL) &&
	       page_file(folder, "index.json", index_json, t, NULL, NULL) &&
	       page_file(folder, "index.html", index_html, t, NULL, NULL);
}
