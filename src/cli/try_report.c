/* The findings of try, as text and as JSON. */
#include "cli/try.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

/* ---- text ---- */

void try_print_heading(FILE *out, const struct try_case *c)
{
	char name[32];

	switch (c->outcome) {
	case TRY_SIGNAL:
		fprintf(out, "killed by %s%s%s", child_signal_name(name, c->code), c->site ? " in " : "", c->site ? c->site : "");
		break;
	case TRY_CRASH:
		fprintf(out, "crash: %s%s%s", c->message ? c->message : "the exit code that stands for one", c->site ? " in " : "",
			c->site ? c->site : "");
		break;
	case TRY_MEMORY:
		fputs("memory: it takes more than the limit", out);
		break;
	case TRY_HANG:
		fputs("hang: the time limit was reached", out);
		break;
	case TRY_DIFFER:
		fputs("differ: the readers do not end alike", out);
		break;
	case TRY_COUNT:
		fputs("count: exit 0, but not the number of records that check counts", out);
		break;
	case TRY_REJECTED:
		fprintf(out, "rejected: exit %d, but check finds no error", c->code);
		break;
	case TRY_SILENT:
		fputs("silent: exit 0 and nothing on standard error, but check finds errors", out);
		break;
	case TRY_FINE:
	case TRY_OUTCOMES:
		break;
	}
}

static bool try_same_heading(const struct try_case *a, const struct try_case *b)
{
	return a->outcome == b->outcome && a->outcome != TRY_CRASH &&
	       (a->outcome == TRY_HANG || a->outcome == TRY_MEMORY || a->outcome == TRY_DIFFER || a->code == b->code) &&
	       !strcmp(a->site ? a->site : "", b->site ? b->site : "");
}

char *try_replay(const struct try *t, const struct try_group *g)
{
	const struct cli_list *line = &t->options->command_line;
	const char *path = g->sample ? g->sample : g->first->path;

	if (!path)
		return NULL;
	if (t->options->compared.count)
		return try_compare_replay(t->options, path);
	char **arguments = child_arguments(line->items, line->count, path);
	char *quoted = arguments ? child_quote((const char *const *)arguments, line->count) : NULL;
	child_arguments_free(arguments);
	return quoted;
}

static void try_print_similar(FILE *out, const struct try *t, const struct try_group *g)
{
	bool any = false;

	for (size_t i = 0; i < t->group_count; i++) {
		if (!try_similar(g, &t->groups[i]))
			continue;
		fprintf(out, "%s%s", any ? ", " : "    like    ", t->groups[i].id);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static void try_print_group(FILE *out, const struct try *t, const struct try_group *g)
{
	const struct try_case *c = g->first;
	char shown[CLI_TEXT_MAX], size[64];

	fprintf(out, "  %s", c->rule ? c->rule->id : c->valid ? "no defect" : "not recognised");
	if (g->others)
		fprintf(out, " and %s", text_count(size, g->others, "other rule"));
	fprintf(out, ": %zu of %zu\n", g->cases, g->of);
	fprintf(out, "    group   %s\n", g->id);
	fprintf(out, "    first   %s\n", cli_show(shown, g->origin));
	if (g->alike)
		fprintf(out, "    also    %s with a defect, which is not the cause\n", text_count(size, g->alike, "capture"));
	if (g->alike && !c->recipe.host && c->outcome == TRY_REJECTED)
		fputs("    hint    --host makes only what readers on an ordinary host open\n", out);
	if (c->message && c->outcome != TRY_CRASH)
		fprintf(out, "    %s %s\n",
			c->outcome == TRY_COUNT	   ? "counts "
			: c->outcome == TRY_DIFFER ? "differ "
						   : "says   ",
			c->message);
	try_print_similar(out, t, g);
	if (g->sample && !g->failed)
		fprintf(out, "    sample  %s, %s\n", cli_show(shown, g->sample), text_count(size, g->size, "byte"));
	char *replay = try_replay(t, g);
	if (replay)
		fprintf(out, "    replay  %s\n", cli_show(shown, replay));
	free(replay);
}

void try_report_text(const struct try *t, FILE *out)
{
	const size_t *n = t->outcomes;
	size_t all = 0;

	for (size_t i = 0; i < TRY_OUTCOMES; i++)
		all += n[i];
	for (size_t i = 0; i < t->group_count; i++) {
		if (!i || !try_same_heading(t->groups[i - 1].first, t->groups[i].first)) {
			if (i)
				fputc('\n', out);
			try_print_heading(out, t->groups[i].first);
			fputc('\n', out);
		}
		try_print_group(out, t, &t->groups[i]);
	}
	if (t->options->quiet)
		return;
	if (t->group_count)
		fputc('\n', out);
	fprintf(out, "%zu capture%s: %zu killed by a signal, %zu that the reader reports as a crash, %zu out of memory, %zu hung, ",
		all, all == 1 ? "" : "s", n[TRY_SIGNAL], n[TRY_CRASH], n[TRY_MEMORY], n[TRY_HANG]);
	if (t->options->compared.count)
		fprintf(out, "%zu on which the readers disagree, ", n[TRY_DIFFER]);
	if (t->options->count_with)
		fprintf(out, "%zu counted wrong, ", n[TRY_COUNT]);
	fprintf(out, "%zu valid but rejected, %zu invalid but accepted silently, %zu fine\n", n[TRY_REJECTED], n[TRY_SILENT],
		n[TRY_FINE]);
}

/* ---- JSON ---- */

static json_t *try_json_text(const char *text)
{
	char shown[CLI_TEXT_MAX];

	return text ? json_string(cli_show(shown, text)) : json_null();
}

static json_t *try_json_sites(const char *site)
{
	json_t *sites = json_array();

	while (sites && site && *site) {
		const char *end = strstr(site, " < ");
		size_t length = end ? (size_t)(end - site) : strlen(site);
		if (json_array_append_new(sites, json_stringn(site, length))) {
			json_decref(sites);
			return NULL;
		}
		site += length + (end ? 3 : 0);
	}
	return sites;
}

/* The outcome of the cases of a group. */
static bool try_json_outcome(json_t *o, const struct try_case *c)
{
	char name[32];

	return report_json_set(o, "outcome", json_string(try_outcome_name(c->outcome))) &&
	       report_json_set(o, "signal",
			       c->outcome == TRY_SIGNAL ? json_string(child_signal_name(name, c->code)) : json_null()) &&
	       report_json_set(o, "exit",
			       c->outcome == TRY_REJECTED || c->outcome == TRY_CRASH ? report_json_number((uint64_t)c->code)
										     : json_null()) &&
	       report_json_set(o, "site", try_json_sites(c->site)) &&
	       report_json_set(o, "rule", c->rule ? json_string(c->rule->id) : json_null()) &&
	       report_json_set(o, "valid", json_boolean(c->valid));
}

/* The rules that the captures of a group break, each once, in the order of the cases. */
static json_t *try_json_rules(const struct try_group *g)
{
	json_t *rules = json_array();
	const struct tracemend_rule *last = NULL;

	for (size_t i = 0; rules && i < g->cases; i++) {
		const struct tracemend_rule *rule = g->list[i]->rule;
		if (!rule || rule == last)
			continue;
		last = rule;
		if (json_array_append_new(rules, json_string(rule->id))) {
			json_decref(rules);
			return NULL;
		}
	}
	return rules;
}

/* The names of the groups that may be of the same cause. */
static json_t *try_json_similar(const struct try *t, const struct try_group *g)
{
	json_t *similar = json_array();

	for (size_t i = 0; similar && i < t->group_count; i++) {
		if (try_similar(g, &t->groups[i]) && json_array_append_new(similar, json_string(t->groups[i].id))) {
			json_decref(similar);
			return NULL;
		}
	}
	return similar;
}

static json_t *try_json_reader(const struct try *t)
{
	json_t *o = json_object();
	const struct try_reader *r = &t->reader;

	if (report_json_set(o, "name", json_string(r->name)) && report_json_set(o, "version", json_string(r->version)) &&
	    report_json_set(o, "build_id", json_string(r->build_id)) && report_json_set(o, "package", json_string(r->package)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *try_json_group(const struct try *t, const struct try_group *g)
{
	const struct try_case *c = g->first;
	json_t *o = json_object();
	char *replay = try_replay(t, g);
	bool kept = g->sample && !g->failed;
	bool good = report_json_set(o, "id", json_string(g->id)) && try_json_outcome(o, c) &&
		    report_json_set(o, "similar", try_json_similar(t, g)) &&
		    report_json_set(o, "not_the_cause", report_json_number(g->alike)) &&
		    report_json_set(o, "captures", report_json_number(g->cases)) &&
		    report_json_set(o, "of", report_json_number(g->of)) && report_json_set(o, "rules", try_json_rules(g)) &&
		    report_json_set(o, "first", try_json_text(g->origin)) &&
		    report_json_set(o, "first_size", report_json_number(c->size)) &&
		    report_json_set(o, "message", c->message ? json_string(c->message) : json_null()) &&
		    report_json_set(o, "sample", kept ? try_json_text(g->sample) : json_null()) &&
		    report_json_set(o, "size", kept ? report_json_number(g->size) : json_null()) &&
		    report_json_set(o, "replay", try_json_text(replay));

	free(replay);
	if (good)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *try_json_command(const struct try *t)
{
	json_t *command = json_array();

	const struct cli_list *list = t->options->compared.count ? &t->options->compared : &t->options->command_line;
	for (size_t i = 0; command && i < list->count; i++)
		if (json_array_append_new(command, try_json_text(list->items[i]))) {
			json_decref(command);
			return NULL;
		}
	return command;
}

static json_t *try_json_outcomes(const struct try *t, size_t *all)
{
	json_t *outcomes = json_object();

	*all = 0;
	for (int i = TRY_OUTCOMES - 1; i >= TRY_FINE; i--) {
		*all += t->outcomes[i];
		if (!report_json_set(outcomes, try_outcome_name((enum try_outcome)i), report_json_number(t->outcomes[i]))) {
			json_decref(outcomes);
			return NULL;
		}
	}
	return outcomes;
}

bool try_report_json(const struct try *t, FILE *out)
{
	struct report_run run = { .out = out };
	json_t *o = json_object(), *groups = json_array();
	size_t all;
	json_t *outcomes = try_json_outcomes(t, &all);
	bool good = groups != NULL;

	for (size_t i = 0; good && i < t->group_count; i++)
		good = !json_array_append_new(groups, try_json_group(t, &t->groups[i]));
	good = report_json_set(o, "tool", json_string("tracemend")) &&
	       report_json_set(o, "version", json_string(TRACEMEND_VERSION)) &&
	       report_json_set(o, "command", try_json_command(t)) && report_json_set(o, "reader", try_json_reader(t)) &&
	       report_json_set(o, "seconds", report_json_number(t->options->timeout)) &&
	       report_json_set(o, "memory", report_json_number(t->options->memory)) &&
	       report_json_set(o, "debugger", json_boolean(t->debugger)) &&
	       report_json_set(o, "captures", report_json_number(all)) && report_json_set(o, "outcomes", outcomes) && good;
	if (!good || !report_json_set(o, "groups", groups)) {
		if (!good)
			json_decref(groups);
		json_decref(o);
		return false;
	}
	report_json_print(&run, o);
	fputc('\n', out);
	return !run.failed;
}

/* ---- SARIF ---- */

/* A text of try_print_heading() as JSON. */
static json_t *try_heading(const struct try_case *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	try_print_heading(out, c);
	json_t *value = fclose(out) ? NULL : json_string(text);
	free(text);
	return value;
}

static json_t *try_sarif_result(const struct try_group *g)
{
	const struct try_case *c = g->first;
	const char *place = g->sample && !g->failed ? g->sample : c->path ? c->path : NULL;
	char shown[CLI_TEXT_MAX];

	json_t *o = json_pack("{s:s, s:s, s:{s:o*}, s:{s:s}, s:{s:s*, s:s*, s:I}}", "ruleId", try_outcome_name(c->outcome), "level",
			      c->outcome >= TRY_HANG ? "error" : "warning", "message", "text", try_heading(c),
			      "partialFingerprints", "tracemendGroup/v1", g->id, "properties", "rule", c->rule ? c->rule->id : NULL,
			      "origin", cli_show(shown, g->origin), "captures", (json_int_t)g->cases);
	if (o && place &&
	    !report_json_set(o, "locations",
			     json_pack("[{s:{s:{s:s}}}]", "physicalLocation", "artifactLocation", "uri", cli_show(shown, place)))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

bool try_report_sarif(const struct try *t, FILE *out)
{
	struct report_run run = { .out = out };
	json_t *results = json_array(), *rules = json_array();
	bool good = results && rules;

	for (int i = TRY_OUTCOMES - 1; good && i > TRY_FINE; i--)
		good = !json_array_append_new(rules, json_pack("{s:s}", "id", try_outcome_name((enum try_outcome)i)));
	for (size_t i = 0; good && i < t->group_count; i++)
		good = !json_array_append_new(results, try_sarif_result(&t->groups[i]));
	json_t *o = good ? json_pack("{s:s, s:s, s:[{s:s, s:{s:{s:s, s:s, s:s, s:O}}, s:O}]}", "$schema",
				     "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "columnKind",
				     "unicodeCodePoints", "tool", "driver", "name", "tracemend try", "semanticVersion",
				     TRACEMEND_VERSION, "informationUri", "https://github.com/tracemend/tracemend", "rules", rules,
				     "results", results)
			 : NULL;
	json_decref(results);
	json_decref(rules);
	if (!o)
		return false;
	report_json_print(&run, o);
	fputc('\n', out);
	return !run.failed;
}
