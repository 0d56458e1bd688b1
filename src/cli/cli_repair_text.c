/* What repair prints of a plan: what is kept, changed, dropped and unverified. */
#include <string.h>

#include "cli/cli.h"

/* More ranges than this are grouped by their reason. */
#define RANGES_LISTED 12
/* Reasons listed when ranges are grouped. */
#define REASONS_LISTED 40

/* Prints the offset of an input range, with its file when there are several. */
static void repair_print_place(FILE *out, const struct tracemend_repair *r, const struct tracemend_range *range)
{
	if (tracemend_repair_member_count(r) > 1) {
		const struct tracemend_member *m = tracemend_repair_member(r, range->input);
		char shown[CLI_TEXT_MAX];
		size_t path = strlen(m->path), file = strlen(m->file);
		bool whole = path >= file && !strcmp(m->path + path - file, m->file); /* an extra piece that is a file */
		if (m->role == TM_ROLE_EXTRA || !*m->file)
			fprintf(out, "%s%s", cli_show(shown, m->path), *m->file && !whole ? "/" : "");
		fprintf(out, "%s:", m->role == TM_ROLE_EXTRA && whole ? "" : cli_show(shown, m->file));
	}
	fprintf(out, "0x%llx", (unsigned long long)range->from);
}

struct repair_group {
	const struct tracemend_rule *rule;
	const char *why;
	struct tracemend_range first;
	uint64_t count, bytes;
};

static bool repair_same_reason(const struct repair_group *g, const struct tracemend_range *range)
{
	return g->rule == range->rule && !strcmp(g->why, range->why);
}

typedef struct tracemend_range (*repair_get)(const struct tracemend_repair *r, size_t index);

/* Ranges grouped by reason; those beyond REASONS_LISTED reasons are together. */
struct repair_groups {
	struct repair_group list[REASONS_LISTED];
	size_t used;
	struct repair_group other;
};

static void repair_groups_add(struct repair_groups *groups, const struct tracemend_range *range)
{
	struct repair_group *g = &groups->other;

	for (size_t k = 0; k < groups->used && g == &groups->other; k++)
		if (repair_same_reason(&groups->list[k], range))
			g = &groups->list[k];
	if (g == &groups->other && groups->used < REASONS_LISTED) {
		g = &groups->list[groups->used++];
		*g = (struct repair_group){ .rule = range->rule, .why = range->why, .first = *range };
	}
	g->count += range->times;
	g->bytes += range->length * range->times;
}

/* Whether a range is of the capture itself, or of the pieces of --extra. */
static bool repair_is_of(const struct tracemend_repair *r, const struct tracemend_range *range, bool extra)
{
	return (tracemend_repair_member(r, range->input)->role == TM_ROLE_EXTRA) == extra;
}

/* Prints many ranges: for each reason their number, and the place of the first. */
static void repair_print_groups(FILE *out, const struct tracemend_repair *r, repair_get get, size_t count, bool extra)
{
	struct repair_groups groups = { .other = { .why = "other reasons" } };
	char a[64], b[64];

	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = get(r, i);
		if (repair_is_of(r, &range, extra))
			repair_groups_add(&groups, &range);
	}
	for (size_t k = 0; k < groups.used; k++) {
		const struct repair_group *g = &groups.list[k];
		fprintf(out, "    %s, %s, the first at ", text_count(a, g->count, "place"), text_count(b, g->bytes, "byte"));
		repair_print_place(out, r, &g->first);
		fprintf(out, ": %s%s%s%s\n", g->why, g->rule ? " [" : "", g->rule ? g->rule->id : "", g->rule ? "]" : "");
	}
	if (groups.other.count)
		fprintf(out, "    %s, %s: %s\n", text_count(a, groups.other.count, "place"),
			text_count(b, groups.other.bytes, "byte"), groups.other.why);
}

/* extra: those of the pieces of --extra, else the others. windows: the times around them; may be NULL. */
static void repair_print_ranges(FILE *out, const struct tracemend_repair *r, const char *label, repair_get get, size_t count,
				bool extra, bool all, const struct cli_windows *windows)
{
	uint64_t bytes = 0, places = 0;
	char a[64], b[64];

	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = get(r, i);
		if (!repair_is_of(r, &range, extra))
			continue;
		bytes += range.length * range.times;
		places += range.times;
	}
	if (!places)
		return;
	fprintf(out, "  %s: %s in %s\n", label, text_count(a, bytes, "byte"), text_count(b, places, "place"));
	if (places > RANGES_LISTED && !all) {
		repair_print_groups(out, r, get, count, extra);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = get(r, i);
		for (uint64_t time = 0; time < range.times && repair_is_of(r, &range, extra);
		     time++, range.from += range.repeat_from) {
			fputs("    ", out);
			repair_print_place(out, r, &range);
			fprintf(out, " + %s: %s%s%s%s", text_count(a, range.length, "byte"), range.why, range.rule ? " [" : "",
				range.rule ? range.rule->id : "", range.rule ? "]" : "");
			if (windows)
				cli_windows_say(out, windows, tracemend_repair_member(r, range.input)->file, range.from);
			fputc('\n', out);
		}
	}
}

static void repair_print_unverified(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	for (int extra = 0; extra < 2; extra++)
		repair_print_ranges(out, r, extra ? "kept of --extra, but unverified" : "kept, but unverified",
				    tracemend_repair_doubtful, tracemend_repair_doubtful_count(r), extra, o->verbose, NULL);
}

/* Prints new bytes by rule; all reasons with -v. */
static void repair_print_literals(FILE *out, const struct tracemend_repair *r, bool all)
{
	struct repair_groups groups = { .used = 0 };
	size_t outputs = tracemend_repair_output_count(r);
	uint64_t count = 0, bytes = 0;
	char a[64], b[64];

	for (size_t o = 0; o < outputs; o++) {
		const struct tracemend_output *output = tracemend_repair_output(r, o);
		for (size_t i = 0; i < output->segment_count; i++) {
			struct tracemend_segment s = tracemend_repair_segment(r, o, i);
			if (!s.bytes)
				continue;
			repair_groups_add(
				&groups,
				&(struct tracemend_range){
					.from = s.offset, .length = s.length, .rule = s.rule, .why = s.why, .times = s.times });
			count += s.times;
			bytes += s.length * s.times;
		}
	}
	if (!count)
		return;
	fprintf(out, "  replaced or inserted: %s in %s\n", text_count(a, bytes, "byte"), text_count(b, count, "place"));
	for (size_t k = 0; k < groups.used && (all || k < RANGES_LISTED); k++) {
		const struct repair_group *g = &groups.list[k];
		fprintf(out, "    %s in %s: %s [%s]\n", text_count(a, g->bytes, "byte"), text_count(b, g->count, "place"), g->why,
			g->rule ? g->rule->id : "");
	}
	if (groups.other.count || (!all && groups.used > RANGES_LISTED))
		fputs("    and for other reasons: see --manifest\n", out);
}

static bool repair_uses_donor(const struct tracemend_repair *r)
{
	for (size_t i = 0; i < tracemend_repair_output_count(r); i++) {
		size_t count = tracemend_repair_output(r, i)->segment_count;
		for (size_t k = 0; k < count; k++) {
			struct tracemend_segment s = tracemend_repair_segment(r, i, k);
			if (!s.bytes && tracemend_repair_member(r, s.input)->role == TM_ROLE_DONOR)
				return true;
		}
	}
	return false;
}

void cli_repair_print_donor(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	if (o->quiet || !o->donor.count || repair_uses_donor(r))
		return;
	const struct tracemend_format *format = cli_format_find(tracemend_report_summary(tracemend_repair_report(r))->format);
	const char *when = format ? format->donor : NULL;
	fprintf(out, "the donor was not used%s%s\n", when ? ": " : "", when ? when : "");
	cli_next_donors(out, o, format ? format->name : "");
}

void cli_repair_print(const struct cli_options *o, FILE *out, const struct tracemend_repair *r, const struct cli_windows *windows)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r);
	const struct tracemend_summary *s = tracemend_report_summary(tracemend_repair_report(r));
	char shown[CLI_TEXT_MAX], kept[64];

	if (o->quiet)
		return;
	if (!outcome->changed) {
		fprintf(out, "%s: nothing to repair: %s, no errors; the output is identical to the input\n",
			cli_show(shown, o->paths.items[0]), text_count(kept, s->records, "record"));
		if (outcome->lost)
			fputs("  it is not known whether anything is missing in it, or was altered\n", out);
		repair_print_unverified(o, out, r);
		return;
	}
	bool bare = *s->format_version >= '0' && *s->format_version <= '9'; /* as in the report */
	fprintf(out, "%s: %s%s%s%s, %s\n", cli_show(shown, o->paths.items[0]), s->format, bare ? " format" : "",
		*s->format_version ? " " : "", s->format_version, text_count(kept, s->errors, "error"));
	cli_next_totals(out, outcome);
	if (o->verbose && outcome->passes > 1)
		fprintf(out, "  passes: %u, since a defect hid another\n", outcome->passes);
	repair_print_ranges(out, r, "dropped", tracemend_repair_dropped, tracemend_repair_dropped_count(r), false, o->verbose,
			    windows);
	repair_print_ranges(out, r, "not used of --extra", tracemend_repair_dropped, tracemend_repair_dropped_count(r), true,
			    o->verbose, NULL);
	repair_print_literals(out, r, o->verbose);
	repair_print_unverified(o, out, r);
}
