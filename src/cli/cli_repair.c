/* repair: plans, prints what is changed and lost, and writes the output. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

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
		if (m->role == TM_ROLE_EXTRA || !*m->file)
			fprintf(out, "%s%s", cli_show(shown, m->path), *m->file ? "/" : "");
		fprintf(out, "%s:", cli_show(shown, m->file));
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

/* Prints many ranges: for each reason their number, and the place of the first. */
static void repair_print_groups(FILE *out, const struct tracemend_repair *r, repair_get get, size_t count)
{
	struct repair_groups groups = { .other = { .why = "other reasons" } };
	char a[64], b[64];

	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = get(r, i);
		repair_groups_add(&groups, &range);
	}
	for (size_t k = 0; k < groups.used; k++) {
		const struct repair_group *g = &groups.list[k];
		fprintf(out, "    %s, %s, the first at ", cli_count(a, g->count, "place"), cli_count(b, g->bytes, "byte"));
		repair_print_place(out, r, &g->first);
		fprintf(out, ": %s%s%s%s\n", g->why, g->rule ? " [" : "", g->rule ? g->rule->id : "", g->rule ? "]" : "");
	}
	if (groups.other.count)
		fprintf(out, "    %s, %s: %s\n", cli_count(a, groups.other.count, "place"),
			cli_count(b, groups.other.bytes, "byte"), groups.other.why);
}

static void repair_print_ranges(FILE *out, const struct tracemend_repair *r, const char *label, repair_get get, size_t count,
				bool all)
{
	uint64_t bytes = 0, places = 0;
	char a[64], b[64];

	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = get(r, i);
		bytes += range.length * range.times;
		places += range.times;
	}
	fprintf(out, "  %s: %s in %s\n", label, cli_count(a, bytes, "byte"), cli_count(b, places, "place"));
	if (places > RANGES_LISTED && !all) {
		repair_print_groups(out, r, get, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = get(r, i);
		for (uint64_t time = 0; time < range.times; time++, range.from += range.repeat_from) {
			fputs("    ", out);
			repair_print_place(out, r, &range);
			fprintf(out, " + %s: %s%s%s%s\n", cli_count(a, range.length, "byte"), range.why, range.rule ? " [" : "",
				range.rule ? range.rule->id : "", range.rule ? "]" : "");
		}
	}
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
	fprintf(out, "  replaced or inserted: %s in %s\n", cli_count(a, bytes, "byte"), cli_count(b, count, "place"));
	for (size_t k = 0; k < groups.used && (all || k < RANGES_LISTED); k++) {
		const struct repair_group *g = &groups.list[k];
		fprintf(out, "    %s in %s: %s [%s]\n", cli_count(a, g->bytes, "byte"), cli_count(b, g->count, "place"), g->why,
			g->rule ? g->rule->id : "");
	}
	if (groups.other.count || (!all && groups.used > RANGES_LISTED))
		fputs("    and for other reasons: see --manifest\n", out);
}

static const char *repair_lost(const struct tracemend_outcome *o, char text[96])
{
	char number[32];

	if (!o->lost)
		return "nothing was lost";
	switch (o->dropped_is) {
	case TM_EXACT:
		if (!o->dropped)
			return "no record was lost, but other content was";
		(void)snprintf(text, 96, "%s record%s lost", cli_number(number, o->dropped), o->dropped == 1 ? " was" : "s were");
		return text;
	case TM_AT_LEAST:
		(void)snprintf(text, 96, "at least %s record%s lost", cli_number(number, o->dropped),
			       o->dropped == 1 ? " was" : "s were");
		return text;
	case TM_UNKNOWN_COUNT:
		break;
	}
	return "the number of lost records is unknown";
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

/* Reports a donor from which nothing was taken. */
static void repair_print_donor(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	if (o->quiet || !o->donor.count || repair_uses_donor(r))
		return;
	const struct tracemend_format *format = cli_format_find(tracemend_report_summary(tracemend_repair_report(r))->format);
	const char *when = format ? format->donor : NULL;
	fprintf(out, "the donor was not used%s%s\n", when ? ": " : "", when ? when : "");
}

static void repair_print(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r);
	const struct tracemend_summary *s = tracemend_report_summary(tracemend_repair_report(r));
	char shown[CLI_TEXT_MAX], text[96], kept[64], patched[32], added[32];

	if (o->quiet)
		return;
	if (!outcome->changed) {
		fprintf(out, "%s: nothing to repair: %s, no errors; the output is identical to the input\n",
			cli_show(shown, o->paths.items[0]), cli_count(kept, s->records, "record"));
		return;
	}
	fprintf(out, "%s: %s%s%s, %s\n", cli_show(shown, o->paths.items[0]), s->format, *s->format_version ? " " : "",
		s->format_version, cli_count(kept, s->errors, "error"));
	fprintf(out, "  records: %s kept, %s patched, %s added; %s\n", cli_number(kept, outcome->kept),
		cli_number(patched, outcome->patched), cli_number(added, outcome->added), repair_lost(outcome, text));
	if (o->verbose && outcome->passes > 1)
		fprintf(out, "  passes: %u, since a defect hid another\n", outcome->passes);
	repair_print_ranges(out, r, "dropped", tracemend_repair_dropped, tracemend_repair_dropped_count(r), o->verbose);
	repair_print_literals(out, r, o->verbose);
	repair_print_ranges(out, r, "kept, but unverified", tracemend_repair_doubtful, tracemend_repair_doubtful_count(r),
			    o->verbose);
}

/* An output or manifest must not be an input, nor lie inside one. */
static int repair_check_output(const char *option, const char *output, const char *input)
{
	if (!strcmp(input, "-"))
		return CLI_CLEAN;
	if (cli_path_same(output, input))
		return cli_usage("%s %s: is the input itself, which is never written to", option, output);
	if (cli_path_inside(output, input))
		return cli_usage("%s %s: lies inside the input %s, which is never written to", option, output, input);
	return CLI_CLEAN;
}

/* Checks -o and --manifest against a list of inputs. */
static int repair_check_inputs(const struct cli_options *o, const struct cli_list *inputs)
{
	int code = CLI_CLEAN;

	for (size_t i = 0; i < inputs->count && !code; i++) {
		if (inputs != &o->paths && !strcmp(inputs->items[i], "-"))
			code = cli_usage("only the capture itself can be standard input");
		if (o->output && !code)
			code = repair_check_output("-o", o->output, inputs->items[i]);
		if (o->manifest && strcmp(o->manifest, "-") && !code)
			code = repair_check_output("--manifest", o->manifest, inputs->items[i]);
	}
	return code;
}

static int repair_check_paths(const struct cli_options *o)
{
	int code;

	if (o->paths.count != 1)
		return cli_usage(o->paths.count ? "repair takes one capture at a time; further pieces of it are given with --extra"
						: "repair needs a capture");
	if (!o->output && !o->dry_run)
		return cli_usage("repair needs -o OUT for the repaired copy, or -n to print only what it would do");
	if (o->output && !strcmp(o->output, "-"))
		return cli_usage(
			"-o -: repair writes a file, which appears as a whole or not at all; standard output is not possible");
	code = repair_check_inputs(o, &o->paths);
	if (!code)
		code = repair_check_inputs(o, &o->extra);
	if (!code)
		code = repair_check_inputs(o, &o->donor);
	if (!code && o->manifest && o->output && (!strcmp(o->manifest, o->output) || cli_path_same(o->manifest, o->output)))
		return cli_usage("--manifest and -o name the same file");
	return code;
}

/* Writes the manifest to its temporary file, or to standard output. */
static int repair_manifest(struct cli_file *file, struct tracemend_repair *r, const char *path)
{
	struct tracemend_error error = { 0 };

	if (tracemend_repair_digest(r, &error) != TM_OK)
		return cli_fail(&error);
	if (!cli_file_begin(file, path))
		return CLI_IO;
	if (!report_manifest(file->stream, r)) {
		cli_file_abandon(file);
		return cli_memory();
	}
	return cli_file_flush(file) ? CLI_CLEAN : CLI_IO;
}

/* The manifest is on disk before the output appears, and gets its name after it: there is never a manifest without its output. */
static int repair_write(const struct cli_options *o, struct tracemend_repair *r)
{
	struct tracemend_error error = { 0 };
	struct cli_file manifest = { 0 };
	int code = CLI_CLEAN;

	if (o->manifest)
		code = repair_manifest(&manifest, r, o->manifest);
	if (code)
		return code;
	if (!o->dry_run && tracemend_repair_publish(r, o->output, &error) != TM_OK) {
		cli_file_abandon(&manifest);
		return cli_fail(&error);
	}
	return cli_file_commit(&manifest) ? CLI_CLEAN : CLI_IO;
}

static int repair_run(const struct cli_options *o, struct tracemend_repair *r, struct cli_progress *progress)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r);
	/* With -n the plan is the result; otherwise it is a message. */
	FILE *out = o->dry_run && !(o->manifest && !strcmp(o->manifest, "-")) ? stdout : stderr;
	int code = repair_write(o, r);

	cli_progress_hide(progress);
	if (!code) {
		repair_print(o, out, r);
		repair_print_donor(o, out, r);
	}
	if (!code && !o->dry_run && !o->quiet) {
		char shown[CLI_TEXT_MAX];
		fprintf(out, "written to %s\n", cli_show(shown, o->output));
	}
	cli_progress_show(progress);
	if (code)
		return code;
	if (o->dry_run)
		return outcome->changed ? CLI_FINDINGS : CLI_CLEAN;
	return outcome->lost ? CLI_LOST : CLI_CLEAN;
}

int cli_repair(struct cli_options *o)
{
	struct tracemend_error error = { 0 };
	struct tracemend_options library = o->library;
	struct tracemend_repair *r = NULL;
	int code = repair_check_paths(o);

	if (code)
		return code;
	struct cli_progress *progress = cli_progress_new(o, 1, 1);
	cli_progress_attach(progress, 0, &library);
	struct tracemend_input *input = tracemend_open(o->paths.items[0], &library, &error);
	for (size_t i = 0; i < o->extra.count && input && error.status == TM_OK; i++)
		(void)tracemend_add(input, o->extra.items[i], TM_ROLE_EXTRA, &error);
	for (size_t i = 0; i < o->donor.count && input && error.status == TM_OK; i++)
		(void)tracemend_add(input, o->donor.items[i], TM_ROLE_DONOR, &error);
	if (input && error.status == TM_OK)
		r = tracemend_repair(input, &library, &error);
	if (r)
		code = repair_run(o, r, progress);
	else
		cli_progress_hide(progress);
	if (!r)
		code = cli_fail(&error);
	tracemend_repair_free(r);
	tracemend_close(input);
	cli_progress_free(progress);
	return code;
}
