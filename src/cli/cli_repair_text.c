/* What repair prints of a plan: what is kept, changed, dropped and unverified. */
#include <string.h>

#include "cli/cli.h"
#include "report/report_map.h"

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
	bool replaces; /* new bytes that stand for what was dropped for the same reason */
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

static struct repair_group *repair_groups_add(struct repair_groups *groups, const struct tracemend_range *range)
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
	return g;
}

/* New bytes by their reasons. */
struct repair_literals {
	struct repair_groups groups;
	uint64_t count, bytes;
};

static void repair_literals_find(struct repair_literals *l, const struct tracemend_repair *r)
{
	for (size_t o = 0; o < tracemend_repair_output_count(r); o++) {
		size_t count = tracemend_repair_output(r, o)->segment_count;
		for (size_t i = 0; i < count; i++) {
			struct tracemend_segment s = tracemend_repair_segment(r, o, i);
			if (!s.bytes)
				continue;
			struct repair_group *g = repair_groups_add(
				&l->groups,
				&(struct tracemend_range){
					.from = s.offset, .length = s.length, .rule = s.rule, .why = s.why, .times = s.times });
			g->replaces = g->replaces || !report_literal_is_zeros(&s);
			l->count += s.times;
			l->bytes += s.length * s.times;
		}
	}
}

/* Which ranges are listed together. */
struct repair_list {
	const char *label;
	repair_get get;
	size_t count;
	bool extra;				/* those of the pieces of --extra, else the others */
	bool all;				/* and not only their reasons */
	const struct repair_literals *literals; /* reasons with new bytes are listed there; NULL: all are listed here */
	const struct cli_windows *windows;	/* the times around them; NULL: they are not said */
};

/* Whether a range is in the list. */
static bool repair_is_listed(const struct tracemend_repair *r, const struct repair_list *list, const struct tracemend_range *range)
{
	for (size_t k = 0; list->literals && k < list->literals->groups.used; k++)
		if (list->literals->groups.list[k].replaces && repair_same_reason(&list->literals->groups.list[k], range))
			return false;
	return (tracemend_repair_member(r, range->input)->role == TM_ROLE_EXTRA) == list->extra;
}

/* Prints many ranges: for each reason their number, and the place of the first. */
static void repair_print_groups(FILE *out, const struct tracemend_repair *r, const struct repair_list *list)
{
	struct repair_groups groups = { .other = { .why = "other reasons" } };
	char a[64], b[64];

	for (size_t i = 0; i < list->count; i++) {
		struct tracemend_range range = list->get(r, i);
		if (repair_is_listed(r, list, &range))
			(void)repair_groups_add(&groups, &range);
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

static void repair_print_ranges(FILE *out, const struct tracemend_repair *r, const struct repair_list *list)
{
	uint64_t bytes = 0, places = 0;
	char a[64], b[64];

	for (size_t i = 0; i < list->count; i++) {
		struct tracemend_range range = list->get(r, i);
		if (!repair_is_listed(r, list, &range))
			continue;
		bytes += range.length * range.times;
		places += range.times;
	}
	if (!places)
		return;
	fprintf(out, "  %s: %s in %s\n", list->label, text_count(a, bytes, "byte"), text_count(b, places, "place"));
	if (places > RANGES_LISTED && !list->all) {
		repair_print_groups(out, r, list);
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		struct tracemend_range range = list->get(r, i);
		uint64_t times = repair_is_listed(r, list, &range) ? range.times : 0;
		for (uint64_t time = 0; time < times; time++, range.from += range.repeat_from) {
			fputs("    ", out);
			repair_print_place(out, r, &range);
			fprintf(out, " + %s: %s%s%s%s", text_count(a, range.length, "byte"), range.why, range.rule ? " [" : "",
				range.rule ? range.rule->id : "", range.rule ? "]" : "");
			if (list->windows)
				cli_windows_say(out, list->windows, tracemend_repair_member(r, range.input)->file, range.from);
			fputc('\n', out);
		}
	}
}

static void repair_print_unverified(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	for (int extra = 0; extra < 2; extra++)
		repair_print_ranges(
			out, r,
			&(struct repair_list){ .label = extra ? "kept of --extra, but unverified" : "kept, but unverified",
					       .get = tracemend_repair_doubtful,
					       .count = tracemend_repair_doubtful_count(r),
					       .extra = extra,
					       .all = o->verbose });
}

/* Prints new bytes by reason; all reasons with -v. */
static void repair_print_literals(FILE *out, const struct repair_literals *l, bool all)
{
	const struct repair_groups *groups = &l->groups;
	char a[64], b[64];

	if (!l->count)
		return;
	fprintf(out, "  replaced or inserted: %s in %s\n", text_count(a, l->bytes, "byte"), text_count(b, l->count, "place"));
	for (size_t k = 0; k < groups->used && (all || k < RANGES_LISTED); k++) {
		const struct repair_group *g = &groups->list[k];
		fprintf(out, "    %s in %s: %s [%s]\n", text_count(a, g->bytes, "byte"), text_count(b, g->count, "place"), g->why,
			g->rule ? g->rule->id : "");
	}
	if (groups->other.count || (!all && groups->used > RANGES_LISTED))
		fputs("    and for other reasons: see --manifest\n", out);
}

/* Blocks that were put back, where nothing else was done: copies that are not where they were. */
static void repair_print_moved(FILE *out, const struct tracemend_repair *r)
{
	if (tracemend_repair_is_directory(r) || tracemend_repair_dropped_count(r))
		return;
	const size_t count = tracemend_repair_output(r, 0)->segment_count;
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_segment s = tracemend_repair_segment(r, 0, i);
		char bytes[64];
		if (s.offset != s.from)
			fprintf(out, "  put back: %s from 0x%llx to 0x%llx\n", text_count(bytes, s.length, "byte"),
				(unsigned long long)s.from, (unsigned long long)s.offset);
	}
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
	struct repair_literals literals = { .count = 0 };
	repair_literals_find(&literals, r);
	struct repair_list dropped = { .label = "dropped",
				       .get = tracemend_repair_dropped,
				       .count = tracemend_repair_dropped_count(r),
				       .all = o->verbose,
				       .literals = &literals,
				       .windows = windows };
	repair_print_ranges(out, r, &dropped);
	dropped.label = "not used of --extra";
	dropped.extra = true;
	dropped.literals = NULL;
	dropped.windows = NULL;
	repair_print_ranges(out, r, &dropped);
	repair_print_literals(out, &literals, o->verbose);
	if (!literals.count)
		repair_print_moved(out, r);
	repair_print_unverified(o, out, r);
}
