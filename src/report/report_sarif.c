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
	struct report_alike alike;
	size_t results;
	/* github: what is kept until the end, by severity, so that errors are not cut for notes */
	json_t *kept[TM_ERROR + 1];
	uint64_t cut;
};

/* Results that GitHub shows of an upload. */
#define SARIF_GITHUB_RESULTS 5000u

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
	for (size_t i = 0; github && i <= TM_ERROR; i++)
		s->kept[i] = json_array();
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

/* The level of a severity in SARIF. */
static const char *sarif_level(enum tracemend_severity severity)
{
	return severity == TM_IGNORE ? "none" : tracemend_severity_name(severity);
}

/* In Markdown, what is markup in a text of a rule. */
static void sarif_markdown(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>#|", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static json_t *sarif_help(const struct tracemend_rule *rule, const char *url)
{
	char *plain = NULL, *markdown = NULL;
	size_t size;
	FILE *out = open_memstream(&plain, &size);

	if (out) {
		fprintf(out, "%s\nBecause: %s.\nRepair: %s.\n", rule->explanation, rule->clause, rule->repair);
		(void)fclose(out);
	}
	out = open_memstream(&markdown, &size);
	if (out) {
		sarif_markdown(out, rule->explanation);
		fputs("\n\n**Because:** ", out);
		fputs(*url ? "[" : "", out);
		sarif_markdown(out, rule->clause);
		if (*url)
			fprintf(out, "](<%s>)", url);
		fputs("\n\n**Repair:** ", out);
		sarif_markdown(out, rule->repair);
		fputc('\n', out);
		(void)fclose(out);
	}
	json_t *help = plain && markdown ? json_pack("{s:s,s:s}", "text", plain, "markdown", markdown) : NULL;
	free(plain);
	free(markdown);
	return help;
}

/* "DanglingStringRef" for "fxt/dangling-string-ref". */
static json_t *sarif_rule_name(const struct tracemend_rule *rule)
{
	char name[128];
	size_t at = 0;
	bool upper = true;
	const char *slash = strchr(rule->id, '/');

	for (const char *p = slash ? slash + 1 : rule->id; *p && at < sizeof(name) - 1; p++) {
		if (*p == '-') {
			upper = true;
			continue;
		}
		name[at++] = upper && *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
		upper = false;
	}
	return json_stringn(name, at);
}

/* A sentence, which SARIF wants to end in a full stop. */
static json_t *sarif_sentence(const char *text)
{
	size_t length = strlen(text);

	return json_pack("{s:o}", "text", json_sprintf("%s%s", text, length && strchr(".!?", text[length - 1]) ? "" : "."));
}

static json_t *sarif_rule(const struct tracemend_rule *rule)
{
	char url[512];

	(void)tracemend_rule_url(rule, url, sizeof(url));
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o,s:{s:s},s:{s:[s,s],s:s}}", "id", rule->id, "name", sarif_rule_name(rule),
			      "shortDescription", sarif_sentence(rule->title), "fullDescription", sarif_sentence(rule->explanation),
			      "help", sarif_help(rule, url), "defaultConfiguration", "level", sarif_level(rule->severity),
			      "properties", "tags", rule->format, rule->class_name, "precision", "very-high");
	if (o && *url && !report_json_set(o, "helpUri", json_string(url))) {
		json_decref(o);
		return NULL;
	}
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
	struct sarif *s = run->state;
	char place[64] = "", fingerprint[REPORT_FINGERPRINT_SIZE], unique[REPORT_FINGERPRINT_SIZE + 24];

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
	report_alike_name(&s->alike, entry->shown, report_fingerprint(f, fingerprint), unique);
	json_t *message = json_sprintf("%s%s.", f->message, place);
	json_t *o = json_pack("{s:s,s:I,s:s,s:{s:o},s:[o],s:{s:s}}", "ruleId", f->rule->id, "ruleIndex",
			      sarif_rule_index(run, f->rule), "level", sarif_level(f->severity), "message", "text", message,
			      "locations", location, "partialFingerprints", "tracemendFinding/v1", unique);
	if (f->explains && !report_json_set(o, "properties", json_pack("{s:o}", "explains", report_json_number(f->explains))))
		run->failed = true;
	return o;
}

/* What was not checked, or is not listed, as a notification of the run. */
static void sarif_notify(struct report_run *run, const char *level, const char *text, const char *path, json_int_t artifact)
{
	struct sarif *s = run->state;

	if (json_array_append_new(s->notifications, json_pack("{s:s,s:{s:s},s:[{s:{s:{s:o,s:I}}}]}", "level", level, "message",
							      "text", text, "locations", "physicalLocation", "artifactLocation",
							      "uri", sarif_uri(path, ""), "index", artifact)))
		run->failed = true;
}

/* Prints a result, or keeps it for the end, as long as there is room. */
static void sarif_put(struct report_run *run, enum tracemend_severity severity, json_t *result)
{
	struct sarif *s = run->state;

	if (!s->github) {
		fputs(s->results++ ? ",\n" : "\n", run->out);
		report_json_print(run, result);
	} else if (json_array_size(s->kept[severity]) >= SARIF_GITHUB_RESULTS) {
		s->cut++;
		json_decref(result);
	} else if (json_array_append_new(s->kept[severity], result)) {
		run->failed = true;
	}
}

/* github: the errors, then the warnings and notes, as many as are shown. */
static void sarif_put_kept(struct report_run *run)
{
	struct sarif *s = run->state;

	for (int i = TM_ERROR; s->github && i >= TM_NOTE; i--) {
		for (size_t k = 0; k < json_array_size(s->kept[i]); k++) {
			if (s->results >= SARIF_GITHUB_RESULTS) {
				s->cut++;
				continue;
			}
			fputs(s->results++ ? ",\n" : "\n", run->out);
			report_json_print(run, json_incref(json_array_get(s->kept[i], k)));
		}
		json_decref(s->kept[i]);
	}
	if (!s->cut)
		return;
	char text[160], cut[32], shown[32];
	(void)snprintf(text, sizeof(text), "%s results are left out: GitHub shows %s. Errors are listed first.",
		       text_number(cut, s->cut), text_number(shown, SARIF_GITHUB_RESULTS));
	if (json_array_append_new(s->notifications, json_pack("{s:s,s:{s:s}}", "level", "warning", "message", "text", text)))
		run->failed = true;
}

static void sarif_unlisted(const struct report_reading *r, json_int_t artifact)
{
	char text[256], number[32];

	for (size_t i = 0; i < r->tallies; i++) {
		uint64_t more = r->tally[i].count - r->tally[i].kept;
		if (!more)
			continue;
		(void)snprintf(text, sizeof(text), "%s more result%s of %s not listed", text_number(number, more),
			       more == 1 ? "" : "s", r->tally[i].rule->id);
		sarif_notify(r->run, "note", text, r->entry->path, artifact);
	}
}

static void sarif_entry(struct report_run *run, const struct report_entry *entry)
{
	struct sarif *s = run->state;
	struct tracemend_summary summary = report_summary(entry);
	struct report_reading r;
	const struct tracemend_finding *f;

	if (!s || run->failed)
		return;
	json_int_t input = sarif_artifact(run, entry->path, "", summary.size);
	json_t *members = json_object(); /* name -> index of its artifact */
	report_read(&r, run, entry);
	while ((f = report_read_next(&r))) {
		json_t *known = json_object_get(members, f->file);
		json_int_t artifact = !*f->file ? input : known ? json_integer_value(known) : -1;
		if (artifact < 0) {
			artifact = sarif_artifact(run, entry->path, f->file, 0);
			if (!report_json_set(members, f->file, json_integer(artifact)))
				run->failed = true;
		}
		if (f->severity >= TM_NOTE && f->severity <= TM_ERROR)
			sarif_put(run, f->severity, sarif_result(run, entry, f, artifact));
	}
	json_decref(members);
	if (!summary.complete) {
		s->successful = false;
		sarif_notify(run, "error", *summary.incomplete ? summary.incomplete : "the check is incomplete", entry->path,
			     input);
	}
	sarif_unlisted(&r, input);
	report_read_end(&r);
}

static void sarif_end(struct report_run *run)
{
	struct sarif *s = run->state;

	if (!s)
		return;
	sarif_put_kept(run);
	report_alike_free(&s->alike);
	fputs("],\n\"artifacts\":", run->out);
	report_json_print(run, json_incref(s->artifacts));
	fputs(",\n\"invocations\":[", run->out);
	report_json_print(run, json_pack("{s:b,s:O}", "executionSuccessful", (int)s->successful, "toolExecutionNotifications",
					 s->notifications));
	fputs("],\n\"tool\":{\"driver\":", run->out);
	report_json_print(run, json_pack("{s:s,s:s,s:s,s:s,s:O}", "name", "tracemend", "informationUri",
					 "https://github.com/tracemend/tracemend", "version", TRACEMEND_VERSION, "semanticVersion",
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
