/* --baseline: the findings that are known already, by their fingerprints, each with how often it may occur in a run. They are
 * neither listed nor counted again. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "report/report.h"

/* Findings that a baseline may have. */
#define BASELINE_MAX ((size_t)1 << 20)

struct baseline_entry {
	const struct tracemend_rule *rule;
	char fingerprint[REPORT_FINGERPRINT_SIZE];
	uint64_t count, met;
	char *input, *message; /* of the first one, for people */
	size_t order;
};

struct cli_baseline {
	const char *path;
	const struct cli_options *options;
	struct baseline_entry *list; /* sorted by rule and fingerprint, unless it is made anew */
	size_t count, capacity;
	const char *input;
	uint64_t input_known;
	bool update, quiet;
	enum tracemend_status status;
};

static int entry_compare(const void *a, const void *b)
{
	const struct baseline_entry *x = a, *y = b;
	int by_rule = strcmp(x->rule->id, y->rule->id), by_print = strcmp(x->fingerprint, y->fingerprint);

	return by_rule ? by_rule : by_print ? by_print : (x->order > y->order) - (x->order < y->order);
}

/* Makes one entry of those that are alike. */
static void baseline_sort(struct cli_baseline *b)
{
	size_t used = 0;

	if (b->count)
		qsort(b->list, b->count, sizeof(*b->list), entry_compare);
	for (size_t i = 0; i < b->count; i++) {
		struct baseline_entry *last = used ? &b->list[used - 1] : NULL, *e = &b->list[i];
		if (last && last->rule == e->rule && !strcmp(last->fingerprint, e->fingerprint)) {
			if (__builtin_add_overflow(last->count, e->count, &last->count))
				last->count = UINT64_MAX;
			free(e->input);
			free(e->message);
		} else {
			b->list[used] = *e;
			b->list[used++].order = 0;
		}
	}
	b->count = used;
}

static struct baseline_entry *baseline_find(const struct cli_baseline *b, const struct tracemend_rule *rule,
					    const char *fingerprint)
{
	struct baseline_entry key = { .rule = rule };

	(void)snprintf(key.fingerprint, sizeof(key.fingerprint), "%s", fingerprint);
	return b->count ? bsearch(&key, b->list, b->count, sizeof(key), entry_compare) : NULL;
}

/* Appends an entry. */
static enum tracemend_status baseline_add(struct cli_baseline *b, const struct tracemend_rule *rule, const char *fingerprint,
					  uint64_t count, const char *input, const char *message)
{
	enum tracemend_status status = array_room(&b->list, &b->capacity, b->count, sizeof(*b->list), BASELINE_MAX);

	if (status != TM_OK)
		return status;
	struct baseline_entry *e = &b->list[b->count];
	*e = (struct baseline_entry){
		.rule = rule, .count = count, .input = strdup(input), .message = strdup(message), .order = b->count
	};
	(void)snprintf(e->fingerprint, sizeof(e->fingerprint), "%s", fingerprint);
	b->count++;
	return e->input && e->message ? TM_OK : TM_NO_MEMORY;
}

static bool baseline_take(struct cli_baseline *b, const struct cli_lines *lines, const json_t *line, struct tracemend_error *error)
{
	const char *type = cli_lines_text(line, "type"), *id = cli_lines_text(line, "rule");
	const char *fingerprint = cli_lines_text(line, "fingerprint"), *input = cli_lines_text(line, "input");
	const char *message = cli_lines_text(line, "message");
	const struct tracemend_rule *rule = id ? tracemend_rule_find(id) : NULL;
	uint64_t count;

	if (!type || strcmp(type, "known") != 0)
		return cli_lines_fail(lines, TM_USAGE, error, "not a line of a baseline, which --update-baseline writes");
	if (id && !rule)
		return cli_lines_fail(lines, TM_USAGE, error, "unknown rule '%.100s'", id);
	if (!rule || !fingerprint || strlen(fingerprint) != REPORT_FINGERPRINT_SIZE - 1 ||
	    strspn(fingerprint, "0123456789abcdef") != REPORT_FINGERPRINT_SIZE - 1 || !input || !message ||
	    !cli_lines_number(line, "count", &count) || !count)
		return cli_lines_fail(lines, TM_USAGE, error, "damaged: no whole entry of a baseline");
	enum tracemend_status status = baseline_add(b, rule, fingerprint, count, input, message);
	return status == TM_OK || cli_lines_fail(lines, status, error, "too many entries");
}

static int baseline_read(struct cli_baseline *b)
{
	struct tracemend_error error;
	struct cli_lines lines;
	json_t *line = NULL;
	bool good = cli_lines_open(&lines, b->path, &error);

	while (good && (good = cli_lines_next(&lines, &line, &error)) && line) {
		good = baseline_take(b, &lines, line, &error);
		json_decref(line);
	}
	cli_lines_close(&lines);
	if (!good && error.status == TM_UNRECOGNISED)
		error.status = TM_USAGE; /* an option is wrong, not an input */
	baseline_sort(b);
	return good ? CLI_CLEAN : cli_fail(&error);
}

int cli_baseline_begin(struct cli_baseline **baseline, const struct cli_options *o)
{
	*baseline = NULL;
	if (!o->baseline)
		return o->update_baseline ? cli_usage("--update-baseline needs --baseline=FILE, which it writes") : CLI_CLEAN;
	for (size_t i = 0; i < o->paths.count && o->update_baseline; i++) {
		const int code = cli_path_check_output("--baseline", o->baseline, o->paths.items[i]);
		if (code)
			return code;
	}
	struct cli_baseline *b = calloc(1, sizeof(*b));
	if (!b)
		return cli_memory();
	*baseline = b;
	b->path = o->baseline;
	b->options = o;
	b->update = o->update_baseline;
	b->quiet = o->quiet;
	return b->update ? CLI_CLEAN : baseline_read(b);
}

/* Whether a finding is new. Of a baseline that is written anew, none is. */
static bool baseline_is_new(void *ctx, const struct tracemend_finding *f)
{
	struct cli_baseline *b = ctx;
	char fingerprint[REPORT_FINGERPRINT_SIZE];

	(void)report_fingerprint(f, fingerprint);
	if (b->update) {
		enum tracemend_status status = baseline_add(b, f->rule, fingerprint, 1, b->input, f->message);
		if (b->status == TM_OK)
			b->status = status;
	} else {
		struct baseline_entry *e = baseline_find(b, f->rule, fingerprint);
		if (!e || e->met == e->count)
			return true;
		e->met++;
	}
	b->input_known++;
	return false;
}

struct tracemend_report *cli_baseline_select(struct cli_baseline *b, struct tracemend_report *report, const char *shown,
					     uint64_t *known)
{
	struct tracemend_error error;

	*known = 0;
	if (!b || !report)
		return report;
	b->input = shown;
	b->input_known = 0;
	struct tracemend_report *rest = tracemend_report_select(report, 0, baseline_is_new, b, &error);
	if (!rest) {
		b->status = error.status; /* the report is as it was: all counts */
		return report;
	}
	*known = b->input_known;
	tracemend_report_free(report);
	return rest;
}

/* Whether nobody looked for an entry: its rule is ignored, everywhere or where it was found. */
static bool baseline_is_ignored(const struct cli_baseline *b, const struct baseline_entry *e)
{
	const struct tracemend_options *library = &b->options->library;
	struct cli_grading grading;

	if (e->rule->preview && !library->preview)
		return true;
	if (!library->grade)
		return false;
	cli_config_grading(&grading, b->options, e->input);
	return library->grade(&grading, e->rule, e->rule->severity) == TM_IGNORE;
}

/* Names the entries that did not occur as often as they may, unless nobody looked for them. */
static void baseline_name_gone(const struct cli_baseline *b)
{
	size_t gone = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct baseline_entry *e = &b->list[i];
		char met[32], count[32];
		if (e->met == e->count || baseline_is_ignored(b, e))
			continue;
		if (++gone <= CLI_FINDINGS_LISTED)
			cli_error("%s: occurs %s times, not %s: %s [%s] in %s", b->path, text_number(met, e->met),
				  text_number(count, e->count), e->message, e->rule->id, e->input);
	}
	if (gone > CLI_FINDINGS_LISTED)
		cli_error("%s: and %zu more that occur less often", b->path, gone - CLI_FINDINGS_LISTED);
	if (gone)
		cli_error("%s: what is mended may come back unseen: --update-baseline forgets it", b->path);
}

static int baseline_write(struct cli_baseline *b)
{
	struct cli_file file;
	bool good = true;

	if (b->status != TM_OK) {
		cli_error("%s: not written: %s", b->path,
			  b->status == TM_LIMIT ? "more findings than a baseline can have" : "out of memory");
		return CLI_LIMIT;
	}
	baseline_sort(b);
	int code = cli_file_begin(&file, b->path);
	if (code)
		return code;
	for (size_t i = 0; i < b->count && good; i++) {
		const struct baseline_entry *e = &b->list[i];
		json_t *line = json_pack("{s:s,s:s,s:s,s:o,s:s,s:s}", "type", "known", "rule", e->rule->id, "fingerprint",
					 e->fingerprint, "count", report_json_number(e->count), "input", e->input, "message",
					 e->message);
		good = line && !json_dumpf(line, file.stream, JSON_COMPACT) && fputc('\n', file.stream) != EOF;
		json_decref(line);
	}
	if (!good && !ferror(file.stream)) {
		cli_file_abandon(&file);
		return cli_memory();
	}
	return cli_file_flush(&file) && cli_file_commit(&file) ? CLI_CLEAN : CLI_IO;
}

void cli_baseline_free(struct cli_baseline *b)
{
	for (size_t i = 0; b && i < b->count; i++) {
		free(b->list[i].input);
		free(b->list[i].message);
	}
	if (b)
		free(b->list);
	free(b);
}

int cli_baseline_end(struct cli_baseline *b, bool whole)
{
	int code = CLI_CLEAN;

	if (!b)
		return code;
	if (b->update && whole)
		code = baseline_write(b);
	else if (b->update)
		cli_error("%s: not written, as not everything was checked", b->path);
	else if (b->status != TM_OK)
		code = cli_memory();
	else if (whole && !b->quiet)
		baseline_name_gone(b);
	cli_baseline_free(b);
	return code;
}
