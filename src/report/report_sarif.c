/* SARIF 2.1.0. Results are printed one by one; the tables to which they refer follow them. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

struct sarif {
	bool github;	 /* with line numbers, which GitHub code scanning requires */
	bool successful; /* every input was checked whole */
	json_t *rules;	 /* reportingDescriptors, in order of first use */
	json_t *indexes; /* rule id -> index in rules */
	json_t *artifacts, *notifications;
	size_t results;
};

static void sarif_start(struct report_run *run, bool github)
{
	struct sarif *s = calloc(1, sizeof(*s));

	run->state = s;
	if (!s) {
		run->failed = true;
		return;
	}
	*s = (struct sarif){ .github = github,
			     .successful = true,
			     .rules = json_array(),
			     .indexes = json_object(),
			     .artifacts = json_array(),
			     .notifications = json_array() };
	fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n"
	      "\"columnKind\":\"unicodeCodePoints\",\n\"results\":[",
	      run->out);
}

static void sarif_begin(struct report_run *run)
{
	sarif_start(run, false);
}

static void sarif_github_begin(struct report_run *run)
{
	sarif_start(run, true);
}

/* A path as a URI reference: reserved and non-ASCII bytes are %XX. */
static json_t *sarif_uri(const char *path, const char *member)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	size_t room = 3 * (strlen(path) + strlen(member)) + 16, at = 0;
	char *text = malloc(room);

	if (!text)
		return NULL;
	if (*path == '/') {
		memcpy(text, "file://", 7);
		at = 7;
	}
	const char *parts[] = { path, *member ? "/" : "", member };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (const char *p = parts[i]; *p; p++) {
			unsigned char c = (unsigned char)*p;
			if (strchr(plain, *p)) {
				text[at++] = *p;
			} else {
				text[at++] = '%';
				text[at++] = digits[c >> 4];
				text[at++] = digits[c & 15];
			}
		}
	json_t *uri = json_stringn(text, at);
	free(text);
	return uri;
}

static json_t *sarif_text(const char *text)
{
	return json_pack("{s:s}", "text", text);
}

/* The level of a severity in SARIF. */
static const char *sarif_level(enum tracemend_severity severity)
{
	return severity == TM_IGNORE ? "none" : tracemend_severity_name(severity);
}

static json_t *sarif_rule(const struct tracemend_rule *rule)
{
	char help[2048];

	(void)snprintf(help, sizeof(help), "%s Because: %s. Repair: %s.", rule->explanation, rule->clause, rule->repair);
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:{s:s},s:{s:[s,s]}}", "id", rule->id, "shortDescription", sarif_text(rule->title),
			      "fullDescription", sarif_text(rule->explanation), "help", sarif_text(help), "defaultConfiguration",
			      "level", sarif_level(rule->severity), "properties", "tags", rule->format, rule->class_name);
	return o;
}

/* The index of a rule in the rules array, to which it is added on first use. */
static json_int_t sarif_rule_index(struct report_run *run, const struct tracemend_rule *rule)
{
	struct sarif *s = run->state;
	json_t *known = json_object_get(s->indexes, rule->id);

	if (known)
		return json_integer_value(known);
	json_int_t index = (json_int_t)json_array_size(s->rules);
	if (json_array_append_new(s->rules, sarif_rule(rule)) || !report_json_set(s->indexes, rule->id, json_integer(index)))
		run->failed = true;
	return index;
}

/* Adds an artifact and returns its index. */
static json_int_t sarif_artifact(struct report_run *run, const char *path, const char *member, uint64_t size)
{
	struct sarif *s = run->state;
	json_t *o = json_pack("{s:{s:o},s:[s]}", "location", "uri", sarif_uri(path, member), "roles", "analysisTarget");

	if (*member)
		(void)json_object_del(o, "roles");
	else if (o && size && !report_json_set(o, "length", report_json_number(size)))
		run->failed = true;
	if (json_array_append_new(s->artifacts, o))
		run->failed = true;
	return (json_int_t)json_array_size(s->artifacts) - 1;
}

static json_t *sarif_result(struct report_run *run, const struct report_entry *entry, const struct tracemend_finding *f,
			    json_int_t artifact)
{
	const struct sarif *s = run->state;
	char place[64] = "";

	if (s->github) /* these readers show the line, which means nothing, and not the offset */
		(void)snprintf(place, sizeof(place), " (byte offset 0x%llx)", (unsigned long long)f->offset);
	json_t *region = json_pack("{s:o,s:o}", "byteOffset", report_json_number(f->offset), "byteLength",
				   report_json_number(f->length));
	if (s->github && !report_json_set(region, "startLine", json_integer(1)))
		run->failed = true;
	json_t *location = json_pack("{s:{s:{s:o,s:I},s:o}}", "physicalLocation", "artifactLocation", "uri",
				     sarif_uri(entry->path, f->file), "index", artifact, "region", region);
	if (*f->path && !report_json_set(location, "logicalLocations", json_pack("[{s:s}]", "fullyQualifiedName", f->path)))
		run->failed = true;
	json_t *message = json_sprintf("%s%s", f->message, place);
	json_t *o = json_pack("{s:s,s:I,s:s,s:{s:o},s:[o]}", "ruleId", f->rule->id, "ruleIndex", sarif_rule_index(run, f->rule),
			      "level", sarif_level(f->severity), "message", "text", message, "locations", location);
	if (f->explains && !report_json_set(o, "properties", json_pack("{s:o}", "explains", report_json_number(f->explains))))
		run->failed = true;
	return o;
}

/* What was not checked, or is not listed, as a notification of the run. */
static void sarif_notify(struct report_run *run, const char *level, const char *text, json_int_t artifact)
{
	struct sarif *s = run->state;

	if (json_array_append_new(s->notifications,
				  json_pack("{s:s,s:{s:s},s:[{s:{s:{s:I}}}]}", "level", level, "message", "text", text, "locations",
					    "physicalLocation", "artifactLocation", "index", artifact)))
		run->failed = true;
}

static void sarif_unlisted(struct report_run *run, const struct report_entry *entry, json_int_t artifact)
{
	size_t count;
	struct report_tally *tally = report_tally(run, entry, &count);
	char text[256];

	for (size_t i = 0; i < count; i++) {
		if (tally[i].count == tally[i].kept)
			continue;
		uint64_t more = tally[i].count - tally[i].kept;
		(void)snprintf(text, sizeof(text), "%llu more result%s of %s not listed", (unsigned long long)more,
			       more == 1 ? "" : "s", tally[i].rule->id);
		sarif_notify(run, "note", text, artifact);
	}
	free(tally);
}

static void sarif_entry(struct report_run *run, const struct report_entry *entry)
{
	struct sarif *s = run->state;
	struct tracemend_summary summary = report_summary(entry);
	size_t count = entry->report ? tracemend_report_finding_count(entry->report) : 0;

	if (!s || run->failed)
		return;
	json_int_t input = sarif_artifact(run, entry->path, "", summary.size);
	json_t *members = json_object(); /* name -> index of its artifact */
	for (size_t i = 0; i < count && !run->failed; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		json_t *known = json_object_get(members, f->file);
		json_int_t artifact = !*f->file ? input : known ? json_integer_value(known) : -1;
		if (artifact < 0) {
			artifact = sarif_artifact(run, entry->path, f->file, 0);
			if (!report_json_set(members, f->file, json_integer(artifact)))
				run->failed = true;
		}
		fputs(s->results++ ? ",\n" : "\n", run->out);
		report_json_print(run, sarif_result(run, entry, f, artifact));
	}
	json_decref(members);
	if (!summary.complete) {
		s->successful = false;
		sarif_notify(run, "error", *summary.incomplete ? summary.incomplete : "the check is incomplete", input);
	}
	sarif_unlisted(run, entry, input);
}

static void sarif_end(struct report_run *run)
{
	struct sarif *s = run->state;

	if (!s)
		return;
	fputs("],\n\"artifacts\":", run->out);
	report_json_print(run, json_incref(s->artifacts));
	fputs(",\n\"invocations\":[", run->out);
	report_json_print(run, json_pack("{s:b,s:O}", "executionSuccessful", (int)s->successful, "toolExecutionNotifications",
					 s->notifications));
	fputs("],\n\"tool\":{\"driver\":", run->out);
	report_json_print(run, json_pack("{s:s,s:s,s:s,s:O}", "name", "tracemend", "version", TRACEMEND_VERSION, "semanticVersion",
					 TRACEMEND_VERSION, "rules", s->rules));
	fputs("}}]}\n", run->out);
	json_decref(s->rules);
	json_decref(s->indexes);
	json_decref(s->artifacts);
	json_decref(s->notifications);
	free(s);
	run->state = NULL;
}

const struct report_printer report_sarif = { .name = "sarif", .begin = sarif_begin, .entry = sarif_entry, .end = sarif_end };
const struct report_printer report_sarif_github = {
	.name = "sarif-github",
	.begin = sarif_github_begin,
	.entry = sarif_entry,
	.end = sarif_end,
};
