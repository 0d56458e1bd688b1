/* repair: plans, prints what is changed and lost, and writes the output. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
		fprintf(out, "    %s, %s, the first at ", cli_count(a, g->count, "place"), cli_count(b, g->bytes, "byte"));
		repair_print_place(out, r, &g->first);
		fprintf(out, ": %s%s%s%s\n", g->why, g->rule ? " [" : "", g->rule ? g->rule->id : "", g->rule ? "]" : "");
	}
	if (groups.other.count)
		fprintf(out, "    %s, %s: %s\n", cli_count(a, groups.other.count, "place"),
			cli_count(b, groups.other.bytes, "byte"), groups.other.why);
}

/* extra: those of the pieces of --extra, else the others. */
static void repair_print_ranges(FILE *out, const struct tracemend_repair *r, const char *label, repair_get get, size_t count,
				bool extra, bool all)
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
	fprintf(out, "  %s: %s in %s\n", label, cli_count(a, bytes, "byte"), cli_count(b, places, "place"));
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
			fprintf(out, " + %s: %s%s%s%s\n", cli_count(a, range.length, "byte"), range.why, range.rule ? " [" : "",
				range.rule ? range.rule->id : "", range.rule ? "]" : "");
		}
	}
}

static void repair_print_unverified(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	for (int extra = 0; extra < 2; extra++)
		repair_print_ranges(out, r, extra ? "kept of --extra, but unverified" : "kept, but unverified",
				    tracemend_repair_doubtful, tracemend_repair_doubtful_count(r), extra, o->verbose);
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
	cli_next_donors(out, o, format ? format->name : "");
}

static void repair_print(const struct cli_options *o, FILE *out, const struct tracemend_repair *r)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r);
	const struct tracemend_summary *s = tracemend_report_summary(tracemend_repair_report(r));
	char shown[CLI_TEXT_MAX], kept[64];

	if (o->quiet)
		return;
	if (!outcome->changed) {
		fprintf(out, "%s: nothing to repair: %s, no errors; the output is identical to the input\n",
			cli_show(shown, o->paths.items[0]), cli_count(kept, s->records, "record"));
		if (outcome->lost)
			fputs("  it is not known whether anything is missing in it, or was altered\n", out);
		repair_print_unverified(o, out, r);
		return;
	}
	bool bare = *s->format_version >= '0' && *s->format_version <= '9'; /* as in the report */
	fprintf(out, "%s: %s%s%s%s, %s\n", cli_show(shown, o->paths.items[0]), s->format, bare ? " format" : "",
		*s->format_version ? " " : "", s->format_version, cli_count(kept, s->errors, "error"));
	cli_next_totals(out, outcome);
	if (o->verbose && outcome->passes > 1)
		fprintf(out, "  passes: %u, since a defect hid another\n", outcome->passes);
	repair_print_ranges(out, r, "dropped", tracemend_repair_dropped, tracemend_repair_dropped_count(r), false, o->verbose);
	repair_print_ranges(out, r, "not used of --extra", tracemend_repair_dropped, tracemend_repair_dropped_count(r), true,
			    o->verbose);
	repair_print_literals(out, r, o->verbose);
	repair_print_unverified(o, out, r);
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
	if (!cli_file_begin(file, path))
		return CLI_IO;
	if (!report_manifest(file->stream, r)) {
		cli_file_abandon(file);
		return cli_memory();
	}
	return cli_file_flush(file) ? CLI_CLEAN : CLI_IO;
}

/* Publishes the output, if the reader accepts it. */
static int repair_publish(const struct cli_options *o, struct tracemend_repair *r, struct cli_verify *verify)
{
	const char *input = o->paths.items[0];

	if (o->dry_run)
		return CLI_CLEAN;
	if (!o->in_place)
		return cli_verify_publish(verify, r, o->output);
	if (tracemend_repair_outcome(r)->changed)
		return cli_output_in_place(r, input, verify);
	return !o->verify_with || cli_verify_ask(verify, input) ? CLI_CLEAN : CLI_LOST; /* the input is the result */
}

/* The manifest is on disk before the output appears, and gets its name after it: there is never a manifest without its output. What
 * is printed cannot be taken back: on standard output, the manifest comes after the output. */
static int repair_write(const struct cli_options *o, struct tracemend_repair *r, struct cli_verify *verify)
{
	struct tracemend_error error = { 0 };
	struct cli_file manifest = { 0 };
	int code = CLI_CLEAN;

	bool print = o->manifest && !strcmp(o->manifest, "-");
	if (o->manifest && tracemend_repair_digest(r, &error) != TM_OK)
		return cli_fail(&error);
	if (o->manifest && !print)
		code = repair_manifest(&manifest, r, o->manifest);
	if (code)
		return code;
	code = repair_publish(o, r, verify);
	if (!code && print)
		code = repair_manifest(&manifest, r, o->manifest);
	if (code) {
		cli_file_abandon(&manifest);
		return code;
	}
	return cli_file_commit(&manifest) ? CLI_CLEAN : CLI_IO;
}

/* Whether the input was unpacked: its name cannot be that of the output. */
static bool repair_was_packed(const struct tracemend_repair *r)
{
	const struct tracemend_report *report = tracemend_repair_report(r);

	for (size_t i = 0; i < tracemend_rule_count("container"); i++)
		if (tracemend_report_rule_count(report, tracemend_rule_at("container", i)))
			return true;
	return false;
}

static int repair_run(const struct cli_options *o, struct tracemend_repair *r, struct cli_progress *progress)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r);
	/* With -n the plan is the result; otherwise it is a message. */
	FILE *out = o->dry_run && !(o->manifest && !strcmp(o->manifest, "-")) ? stdout : stderr;
	struct stat st;
	bool replaced = o->output && !o->dry_run && stat(o->output, &st) == 0 && S_ISREG(st.st_mode);
	struct cli_verify verify = { .options = o };
	int code = repair_write(o, r, &verify);

	cli_progress_hide(progress);
	if (verify.answer && (cli_verify_refused(&verify) || !o->quiet))
		cli_verify_say(&verify, out);
	cli_verify_free(&verify);
	if (!code) {
		repair_print(o, out, r);
		repair_print_donor(o, out, r);
	}
	if (!code && !o->quiet)
		cli_next_advice(out, tracemend_repair_report(r), false);
	if (!code && !o->dry_run && !o->quiet) {
		char shown[CLI_TEXT_MAX];
		if (!o->in_place)
			fprintf(out, "written to %s%s%s\n", cli_show(shown, o->output),
				replaced ? ", in place of the file that was there" : "",
				cli_output_is_packed(o->output) ? ", which is not compressed, in spite of its name" : "");
		else if (outcome->changed)
			fprintf(out, "written to %s; the input is now %s.orig\n", cli_show(shown, o->paths.items[0]), shown);
	}
	cli_progress_show(progress);
	if (code)
		return code;
	if (o->dry_run)
		return outcome->changed ? CLI_FINDINGS : CLI_CLEAN;
	return outcome->lost ? CLI_LOST : CLI_CLEAN;
}

/* Nothing can be salvaged of what was given: says what is missing. */
static void repair_advise(const struct cli_options *o, struct tracemend_input *input, const struct tracemend_options *library)
{
	struct tracemend_error error = { 0 };
	struct tracemend_report *report = tracemend_check(input, library, &error);

	if (report) {
		cli_next_donors(stderr, o, tracemend_report_summary(report)->format);
		cli_next_advice(stderr, report, true);
	}
	tracemend_report_free(report);
}

static int repair_one(const struct cli_options *o)
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
	if (r && o->in_place && repair_was_packed(r))
		code = cli_usage("%s: is an archive or compressed, and the result is not: --in-place is not possible",
				 o->paths.items[0]);
	else if (r)
		code = repair_run(o, r, progress);
	else
		cli_progress_hide(progress);
	if (!r) {
		code = cli_fail(&error);
		if (error.status == TM_NOTHING && !o->quiet)
			repair_advise(o, input, &library);
	}
	tracemend_repair_free(r);
	tracemend_close(input);
	cli_progress_free(progress);
	return code;
}

/* The name of the output of an input; *made is to be freed. Returns an exit code after a message. */
static int repair_name(const struct cli_options *all, struct cli_options *one, char **made)
{
	const char *path = one->paths.items[0];
	bool beside = !all->output && !all->in_place;

	*made = NULL;
	if (all->dry_run || (all->output && all->paths.count == 1))
		return CLI_CLEAN;
	if (!strcmp(path, "-"))
		return cli_usage("standard input has no name: repair needs -o OUT");
	*made = all->in_place ? cli_output_original(path) : beside ? cli_output_beside(path) : cli_output_below(all->output, path);
	if (!*made)
		return cli_memory();
	if ((all->in_place || beside) && cli_output_exists(*made))
		return cli_usage("%s: %s exists already; -o OUT gives another name", path, *made);
	if (!all->in_place)
		one->output = *made;
	return CLI_CLEAN;
}

/* Two inputs must not get the same name in the directory. */
static int repair_check_names(char **made, size_t count, const struct cli_list *paths)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (made[i] && made[k] && !strcmp(made[i], made[k]))
				return cli_usage("%s and %s would both be written to %s", paths->items[k], paths->items[i],
						 made[i]);
	return CLI_CLEAN;
}

static int repair_check_usage(const struct cli_options *o)
{
	bool several = o->paths.count > 1;
	struct stat st;

	if (!o->paths.count)
		return cli_usage("repair needs a capture");
	if (o->output && !strcmp(o->output, "-"))
		return cli_usage(
			"-o -: repair writes a file, which appears as a whole or not at all; standard output is not possible");
	if (o->in_place && o->output)
		return cli_usage("--in-place and -o OUT: only one of them");
	if (o->dry_run && o->verify_with)
		return cli_usage("-n writes nothing that --verify-with could read: only one of them");
	if (several && (o->manifest || o->extra.count))
		return cli_usage("--manifest and --extra belong to one capture, and there are %zu", o->paths.count);
	if (several && o->output && !stat(o->output, &st) && !S_ISDIR(st.st_mode))
		return cli_usage("-o %s: is not a directory, and there are %zu captures", o->output, o->paths.count);
	return CLI_CLEAN;
}

int cli_repair(struct cli_options *o)
{
	int code = repair_check_usage(o);
	size_t count = o->paths.count;
	char **made = code ? NULL : calloc(count, sizeof(*made));
	struct cli_options *each = made ? calloc(count, sizeof(*each)) : NULL;

	if (!code && !each)
		code = cli_memory();
	for (size_t i = 0; i < count && !code; i++) {
		each[i] = *o;
		each[i].paths = (struct cli_list){ .items = &o->paths.items[i], .count = 1 };
		code = repair_name(o, &each[i], &made[i]);
	}
	if (!code)
		code = repair_check_names(made, count, &o->paths);
	if (!code && count > 1 && o->output && !o->dry_run && mkdir(o->output, 0777) && errno != EEXIST) {
		cli_error("%s: cannot be created: %s", o->output, strerror(errno));
		code = CLI_IO;
	}
	bool go = !code;
	for (size_t i = 0; i < count && go && !cli_signals_caught(); i++)
		code = cli_worse(code, repair_one(&each[i]));
	for (size_t i = 0; i < count && made; i++)
		free(made[i]);
	free(made);
	free(each);
	return code;
}
