/* The damage map on an HTML page: tables for everybody, and data for the script, which draws them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_html.h"

/* ---- data ---- */

/* Counts of a bin, which are members of the JSON array. */
static void bin_values(const struct report_map *m, const struct report_bins *b, uint32_t bin, int64_t sums[TM_ERROR + 1],
		       uint64_t values[REPORT_FATES])
{
	memset(values, 0, REPORT_FATES * sizeof(*values));
	for (size_t i = 0; i < (m->repair ? (size_t)REPORT_FATES : 0); i++)
		values[i] = b->fate[i][bin];
	for (size_t i = 0; i <= TM_ERROR; i++) {
		sums[i] += b->found[i][bin];
		if (!m->repair)
			values[i] = (uint64_t)sums[i];
	}
}

/* [first, bins, values...], ... of those in which there is something. */
static void html_bins(FILE *out, const struct report_map *m, const struct report_bins *b)
{
	uint64_t last[REPORT_FATES] = { 0 }, values[REPORT_FATES];
	int64_t sums[TM_ERROR + 1] = { 0 };
	static const uint64_t none[REPORT_FATES];
	uint32_t first = 0;
	bool any = false;

	for (uint32_t i = 0; b && i <= b->count; i++) {
		if (i < b->count)
			bin_values(m, b, i, sums, values);
		if (i < b->count && i && !memcmp(values, last, sizeof(last)))
			continue;
		if (i && memcmp(last, none, sizeof(last)) != 0) {
			fprintf(out, "%s[%u,%u", any ? "," : "", (unsigned)first, (unsigned)(i - first));
			for (size_t k = 0; k < (m->repair ? (size_t)REPORT_FATES : TM_ERROR + 1); k++)
				fprintf(out, ",%" PRIu64, last[k]);
			fputc(']', out);
			any = true;
		}
		first = i;
		memcpy(last, values, sizeof(last));
	}
}

static void html_track(FILE *out, const struct report_track *k, bool rest)
{
	uint32_t skipped = 0;
	bool any = false;

	fputs("{\"name\":", out);
	html_json(out, rest ? "all other tracks" : *k->name ? k->name : "no track");
	fprintf(out, ",\"total\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"some\":%s,\"gaps\":%" PRIu64 ",\"counts\":[", k->total, k->lost,
		k->lost_some ? "true" : "false", k->gaps);
	/* Negative: so many empty bins. */
	for (size_t i = 0; i < REPORT_TRACK_BINS; i++) {
		if (!k->counts[0][i]) {
			skipped++;
			continue;
		}
		if (skipped)
			fprintf(out, "%s-%u", any ? "," : "", (unsigned)skipped);
		fprintf(out, "%s%u", any || skipped ? "," : "", (unsigned)k->counts[0][i]);
		any = true;
		skipped = 0;
	}
	fputs("],\"flags\":[", out);
	any = false;
	for (size_t i = 0; i < REPORT_TRACK_BINS;) {
		size_t end = i + 1;
		while (end < REPORT_TRACK_BINS && k->flags[0][end] == k->flags[0][i])
			end++;
		if (k->flags[0][i]) {
			fprintf(out, "%s%zu,%zu,%u", any ? "," : "", i, end - i, (unsigned)k->flags[0][i]);
			any = true;
		}
		i = end;
	}
	fputs("]}", out);
}

void html_data(FILE *out, const struct report_map *m)
{
	const struct report_times *t = &m->times;
	bool any = false;

	fprintf(out, "\"mode\":\"%s\",\"strips\":[", m->repair ? "repair" : "check");
	for (size_t i = 0; i < m->count; i++) {
		const struct report_strip *s = &m->strips[i];
		if (!s->shown)
			continue;
		fprintf(out, "%s{\"index\":%zu,\"name\":", any ? ",\n" : "", i);
		html_json(out, s->name);
		fprintf(out, ",\"size\":%" PRIu64 ",\"width\":%" PRIu64 ",\"count\":%u,\"bins\":[", s->size,
			s->bins ? s->bins->width : 0, s->bins ? (unsigned)s->bins->count : 0);
		html_bins(out, m, s->bins);
		fputs("]}", out);
		any = true;
	}
	fputs("]", out);
	if (!t->scale[0].total)
		return;
	fprintf(out, ",\n\"times\":{\"unit\":\"%s\",\"first\":\"%" PRIu64 "\",\"shift\":%u,\"bins\":%u,\"tracks\":[", t->unit,
		t->scale[0].first << t->scale[0].shift, t->scale[0].shift, (unsigned)REPORT_TRACK_BINS);
	for (size_t i = 0; i < t->count; i++) {
		fputs(i ? ",\n" : "", out);
		html_track(out, &t->tracks[i], i == REPORT_TRACKS);
	}
	fputs("]}", out);
}

/* ---- tables ---- */

static void html_cell(FILE *out, uint64_t n)
{
	fputs("<td>", out);
	html_number(out, n);
	fputs("</td>", out);
}

static void html_strip_cells(FILE *out, const struct report_map *m, const struct report_strip *s)
{
	html_cell(out, s->size);
	if (m->repair) {
		uint64_t gone = s->made ? s->size : s->fate[REPORT_DROPPED] + s->fate[REPORT_CHANGED];
		html_cell(out, s->size > gone ? s->size - gone : 0);
		for (size_t k = 0; k < REPORT_FATES; k++)
			html_cell(out, s->fate[k]);
	}
	for (int k = TM_ERROR; k >= TM_NOTE; k--)
		html_cell(out, s->found[k]);
	fputs("</tr>\n", out);
}

static void html_files(FILE *out, const struct report_map *m, size_t ordinal)
{
	struct report_strip rest = { .size = 0 };
	size_t left = 0, made = 0;
	uint64_t made_bytes = 0;

	fputs("<details class=\"table\"><summary>Bytes as a table</summary><div class=\"wide\" tabindex=\"0\" role=\"region\"",
	      out);
	html_label(out, "Bytes as a table", ordinal);
	fputs("><table><thead><tr><th scope=\"col\">File</th><th scope=\"col\">Bytes</th>", out);
	if (m->repair)
		fputs("<th scope=\"col\">kept</th><th scope=\"col\">changed</th><th scope=\"col\">dropped</th>"
		      "<th scope=\"col\">doubtful</th><th scope=\"col\">made anew</th>",
		      out);
	fputs("<th scope=\"col\">errors</th><th scope=\"col\">warnings</th><th scope=\"col\">notes</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < m->count; i++) {
		const struct report_strip *s = &m->strips[i];
		if (!s->file)
			continue;
		made += s->made;
		made_bytes += s->made ? s->size : 0;
		if (s->shown) {
			fputs("<tr><th scope=\"row\">", out);
			html_text(out, *s->name ? s->name : "the capture");
			fputs("</th>", out);
			html_strip_cells(out, m, s);
			continue;
		}
		left++;
		rest.size += s->size;
		for (size_t k = 0; k <= TM_ERROR; k++)
			rest.found[k] += s->found[k];
		for (size_t k = 0; k < REPORT_FATES; k++)
			rest.fate[k] += s->fate[k];
	}
	if (left) {
		report_count(out, "<tr><th scope=\"row\">", left, "further file");
		fputs("</th>", out);
		html_strip_cells(out, m, &rest);
	}
	fputs("</tbody></table></div></details>\n", out);
	if (made) {
		report_count(out, "<p>", made, "file");
		report_count(out, " made anew, with ", made_bytes, "byte");
		fputs(".</p>\n", out);
	}
	if (left) {
		report_count(out, "<p class=\"more\">", left, "further file");
		fputs(" of this capture: in the table, not on the map.</p>\n", out);
	}
}

static void html_missing(FILE *out, const struct report_track *k)
{
	if (!k->lost && !k->lost_some) {
		fputs("<td>–</td>", out);
		return;
	}
	fputs("<td>", out);
	if (k->lost)
		html_number(out, k->lost);
	fputs(k->lost_some ? k->lost ? " or more</td>" : "some</td>" : "</td>", out);
}

static void html_gaps(FILE *out, const struct report_times *t, size_t ordinal)
{
	static const char *const why[] = { "the recorder lost events", "damage", "dropped by the repair" };

	fputs("<h4>Gaps</h4><div class=\"wide\" tabindex=\"0\" role=\"region\"", out);
	html_label(out, "Gaps", ordinal);
	fputs("><table><thead><tr><th scope=\"col\">Track</th><th scope=\"col\">Why</th><th scope=\"col\">From</th><th "
	      "scope=\"col\">To</th>"
	      "<th scope=\"col\">Missing events</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < t->listed; i++) {
		const struct report_gap *g = &t->list[i];
		fputs("<tr><th scope=\"row\">", out);
		html_text(out, g->track == REPORT_TRACKS ? "all other tracks" : t->tracks[g->track].name);
		fprintf(out, "</th><td>%s</td>", why[g->why]);
		html_cell(out, g->from);
		html_cell(out, g->to);
		if (g->lost)
			html_cell(out, g->lost);
		else
			fputs("<td>unknown</td>", out);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	if (t->gaps > t->listed) {
		report_count(out, "<p class=\"more\">", t->gaps - t->listed, "further gap");
		fputs(": on the lines only.</p>\n", out);
	}
}

static void html_tracks(FILE *out, const struct report_times *t, size_t ordinal)
{
	fprintf(out, "<section class=\"times\" data-times=\"%zu\"", ordinal);
	html_label(out, "Time", ordinal);
	fprintf(out, "><h3>Time</h3>\n<p class=\"facts\">In %s%s.", t->unit,
		strcmp(t->unit, "ticks") ? "" : " of the capture's clock");
	if (t->merged) {
		report_count(out, " ", t->merged, "track");
		fputs(" share the last line.", out);
	}
	if (t->scale[1].total) {
		report_count(out, " ", t->scale[1].total, "record");
		fputs(" with times far from all others: not on the lines.", out);
	}
	fputs("</p>\n<div class=\"lines\"></div>\n<details class=\"table\"><summary>Time as a table</summary>"
	      "<div class=\"wide\" tabindex=\"0\" role=\"region\"",
	      out);
	html_label(out, "Tracks", ordinal);
	fputs("><table><thead><tr><th scope=\"col\">Track</th>"
	      "<th scope=\"col\">Records</th><th scope=\"col\">Missing by the recorder's word</th><th scope=\"col\">Gaps</th></tr>"
	      "</thead><tbody>\n",
	      out);
	for (size_t i = 0; i < t->count; i++) {
		const struct report_track *k = &t->tracks[i];
		fputs("<tr><th scope=\"row\">", out);
		html_text(out, i == REPORT_TRACKS ? "all other tracks" : *k->name ? k->name : "no track");
		fputs("</th>", out);
		html_cell(out, k->total);
		html_missing(out, k);
		html_cell(out, k->gaps);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	if (t->listed)
		html_gaps(out, t, ordinal);
	fputs("</details></section>\n", out);
}

void html_tables(FILE *out, const struct report_map *m, size_t ordinal)
{
	html_files(out, m, ordinal);
	if (m->times.scale[0].total)
		html_tracks(out, &m->times, ordinal);
}
