/* html: one self-contained page, with a damage map where the run has made one (report_map.h). It works without its script, as
 * lists and tables. A Content-Security-Policy allows nothing but its own script and style, by their hashes. */
#include "report/report_html.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

/* The hash of an inline element, as a policy names it. */
static void html_hash(FILE *out, const char *const *lines)
{
	struct sha256_ctx hash;
	uint8_t digest[SHA256_DIGEST_SIZE];
	char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";

	sha256_init(&hash);
	for (; *lines; lines++)
		sha256_update(&hash, strlen(*lines), (const uint8_t *)*lines);
	sha256_digest(&hash, sizeof(digest), digest);
	base64_encode_raw(text, sizeof(digest), digest);
	fprintf(out, "'sha256-%s'", text);
}

static void html_lines(FILE *out, const char *const *lines)
{
	for (; *lines; lines++)
		fputs(*lines, out);
}

static void html_begin(struct report_run *run)
{
	struct html_page *page = calloc(1, sizeof(*page));
	FILE *out = run->out;

	run->state = page;
	if (page) {
		page->rules = tracemend_rule_count(NULL);
		page->explained = calloc(page->rules + 1, sizeof(*page->explained));
	}
	run->failed = run->failed || !page || !page->explained;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
	      "script-src ",
	      out);
	html_hash(out, html_script);
	fputs("; style-src ", out);
	html_hash(out, html_style);
	fputs("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>tracemend report</title>\n<style>",
	      out);
	html_lines(out, html_style);
	fputs("</style></head><body>\n<header class=\"page\"><h1>tracemend <span>report</span></h1></header>\n<main>\n", out);
}

/* ---- an input ---- */

static void html_pill(FILE *out, const char *class, uint64_t n, const char *noun)
{
	fprintf(out, "<li class=\"%s%s\"><i class=\"key %s\" aria-hidden=\"true\"></i>", class, n ? "" : " none", class);
	report_count(out, "", n, noun);
	fputs("</li>\n", out);
}

static void html_lost(FILE *out, const struct tracemend_outcome *o)
{
	fputs("<p class=\"verdict\">", out);
	if (!o->lost)
		fputs("Nothing was lost.", out);
	else if (o->dropped_is == TM_UNKNOWN_COUNT)
		fputs("Content was lost; how many records cannot be known.", out);
	else if (!o->dropped)
		fputs("No record was dropped, but other content is lost or unverified.", out);
	else
		report_count(out, o->dropped_is == TM_AT_LEAST ? "Lost: at least " : "Lost: ", o->dropped, "record");
	fputs("</p>\n", out);
}

static void html_kept(FILE *out, uint64_t n, const char *noun)
{
	fputs("<li><i class=\"key kept\" aria-hidden=\"true\"></i>", out);
	report_count(out, "", n, noun);
	fputs(" kept</li>\n", out);
}

/* What came back, of records and of bytes. */
static void html_outcome(FILE *out, const struct report_entry *entry)
{
	static const char *const classes[] = { "changed", "dropped", "doubtful", "made" };
	static const char *const labels[] = { "changed", "dropped", "doubtful", "made anew" };
	const struct tracemend_outcome *o = tracemend_repair_outcome(entry->repair);
	uint64_t fate[REPORT_FATES] = { 0 }, size = 0;

	fputs("<section class=\"outcome\"><h3>What came back</h3>\n", out);
	html_lost(out, o);
	fputs("<ul class=\"tally\">\n", out);
	html_kept(out, o->kept, "record");
	fputs("<li class=\"plain\">", out);
	html_number(out, o->patched);
	fputs(" patched</li>\n<li class=\"plain\">", out);
	html_number(out, o->added);
	fputs(" added</li>\n</ul>\n", out);
	if (!entry->map) {
		fputs("</section>\n", out);
		return;
	}
	for (size_t i = 0; i < entry->map->count; i++) {
		const struct report_strip *s = &entry->map->strips[i];
		size += s->file && !s->made ? s->size : 0;
		for (size_t k = 0; k < REPORT_FATES; k++)
			fate[k] += s->fate[k];
	}
	uint64_t gone = fate[REPORT_DROPPED] + fate[REPORT_CHANGED];
	fputs("<ul class=\"tally\">\n", out);
	html_kept(out, size > gone ? size - gone : 0, "byte");
	for (size_t k = 0; k < REPORT_FATES; k++) {
		fprintf(out, "<li class=\"%s%s\"><i class=\"key %s\" aria-hidden=\"true\"></i>", classes[k], fate[k] ? "" : " none",
			classes[k]);
		html_number(out, fate[k]);
		fprintf(out, " %s</li>\n", labels[k]);
	}
	fputs("</ul></section>\n", out);
}

static void html_head(FILE *out, const struct report_entry *entry, const struct tracemend_summary *s, size_t ordinal)
{
	fprintf(out, "<section class=\"capture\" id=\"c%zu\" aria-labelledby=\"h%zu\">\n<h2 id=\"h%zu\">", ordinal, ordinal,
		ordinal);
	html_text(out, s->path);
	fputs("</h2>\n", out);
	if (entry->report) {
		fprintf(out, "<p class=\"facts\">%s ", s->format);
		html_text(out, s->format_version);
		report_count(out, " · ", s->records, "record");
		report_count(out, " · ", s->size, "byte");
		fputs("</p>\n<ul class=\"tally\">\n", out);
		html_pill(out, "error", s->errors, "error");
		html_pill(out, "warning", s->warnings, "warning");
		html_pill(out, "note", s->notes, "note");
		fputs("</ul>\n", out);
	}
	if (entry->known)
		report_count(out, "<p>The baseline has ", entry->known, "finding"),
			fputs(" more: on the map, not in the list.</p>\n", out);
	if (!s->complete) {
		fputs("<p class=\"incomplete\"><strong>Not everything was checked:</strong> ", out);
		html_text(out, s->incomplete);
		fputs("</p>\n", out);
	}
}

static void html_next(FILE *out, const char *next)
{
	fputs("<section class=\"next\"><h3>Repair</h3>\n<pre tabindex=\"0\">", out);
	html_text(out, next);
	fputs("</pre></section>\n", out);
}

/* Everything about an input. */
static void html_capture(FILE *out, FILE *marks, struct report_run *run, struct html_page *page, const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	size_t ordinal = run->printed;
	bool map = entry->map && !entry->map->failed && page->used < HTML_MAPS_MAX;

	html_head(out, entry, &s, ordinal);
	if (entry->repair)
		html_outcome(out, entry);
	else if (entry->next && *entry->next)
		html_next(out, entry->next);
	if (map) {
		fprintf(out, "<section class=\"map\" data-map=\"%zu\"", ordinal);
		html_label(out, "Bytes", ordinal);
		fputs("></section>\n", out);
		html_tables(out, entry->map, ordinal);
	}
	if (entry->report && tracemend_report_finding_count(entry->report))
		html_findings(out, marks, run, page, entry, ordinal);
	else if (entry->report && s.complete && !s.errors && !s.warnings && !s.notes)
		fputs("<p class=\"clean\">Nothing was found.</p>\n", out);
	(void)fflush(marks);
	if (!map) {
		fputs("</section>\n", out);
		return;
	}
	fprintf(out, "<script type=\"application/json\" id=\"d%zu\">{", ordinal);
	html_data(out, entry->map);
}

static void html_entry(struct report_run *run, const struct report_entry *entry)
{
	struct html_page *page = run->state;
	char *text = NULL, *marked = NULL;
	size_t size = 0, marked_size = 0;

	if (!page || !page->explained)
		return;
	if (page->used >= HTML_BYTES_MAX - HTML_FINDINGS_MAX / 2) {
		page->left_out++;
		page->left_bad += !entry->report || tracemend_report_summary(entry->report)->errors;
		return;
	}
	FILE *out = open_memstream(&text, &size), *marks = open_memstream(&marked, &marked_size);
	if (out && marks) {
		html_capture(out, marks, run, page, entry);
		if (entry->map && !entry->map->failed && page->used < HTML_MAPS_MAX)
			fprintf(out, ",\"marks\":[%s]}</script>\n</section>\n", marked ? marked : "");
	}
	bool good = out && marks && !ferror(out) && !ferror(marks);
	if (out)
		good = !fclose(out) && good;
	if (marks)
		good = !fclose(marks) && good;
	run->failed = run->failed || !good;
	if (good)
		(void)fwrite(text, 1, size, run->out);
	page->used += size;
	free(text);
	free(marked);
}

static void html_end(struct report_run *run)
{
	struct html_page *page = run->state;
	FILE *out = run->out;

	if (page && page->left_out) {
		report_count(out, "<p class=\"more\">", page->left_out, "further capture");
		report_count(out, ", of which ", page->left_bad, "capture");
		fputs(" with errors, for which this page has no room: check them one by one.</p>\n", out);
	}
	fprintf(out, "</main>\n<footer>tracemend " TRACEMEND_VERSION "</footer>\n<script>");
	html_lines(out, html_script);
	fputs("</script>\n</body></html>\n", out);
	if (page)
		free(page->explained);
	free(page);
	run->state = NULL;
}

const struct report_printer report_html = {
	.name = "html", .people = true, .map = true, .begin = html_begin, .entry = html_entry, .end = html_end
};
