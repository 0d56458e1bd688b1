/* json and jsonl, and what the other JSON writers share. Findings are printed one by one: a report may be long. */
#include "report/report.h"

#include <stdlib.h>

bool report_json_set(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

json_t *report_json_number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* The underlined bytes and the bytes for the hex rows. False: out of memory. */
static bool json_places(json_t *o, const struct tracemend_finding *f)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * TRACEMEND_CONTEXT + 1];

	if (f->field_length && !report_json_set(o, "field",
						json_pack("{s:o,s:I,s:s}", "offset", report_json_number(f->field_offset), "length",
							  (json_int_t)f->field_length, "name", f->field)))
		return false;
	if (!f->context_length)
		return true;
	for (size_t i = 0; i < f->context_length; i++) {
		hex[2 * i] = digits[f->context[i] >> 4];
		hex[2 * i + 1] = digits[f->context[i] & 15];
	}
	return report_json_set(o, "context",
			       json_pack("{s:o,s:s#}", "offset", report_json_number(f->context_offset), "bytes", hex,
					 (int)(2 * f->context_length)));
}

json_t *report_json_finding(const struct tracemend_finding *f)
{
	char fingerprint[REPORT_FINGERPRINT_SIZE], url[512];
	json_t *o = json_object();

	if (report_json_set(o, "rule", json_string(f->rule->id)) &&
	    report_json_set(o, "severity", json_string(tracemend_severity_name(f->severity))) &&
	    report_json_set(o, "file", json_string(f->file)) && report_json_set(o, "offset", report_json_number(f->offset)) &&
	    report_json_set(o, "length", report_json_number(f->length)) && report_json_set(o, "path", json_string(f->path)) &&
	    report_json_set(o, "message", json_string(f->message)) &&
	    report_json_set(o, "explains", report_json_number(f->explains)) &&
	    report_json_set(o, "title", json_string(f->rule->title)) &&
	    report_json_set(o, "repair", json_string(f->rule->repair)) &&
	    report_json_set(o, "clause", json_string(f->rule->clause)) &&
	    (!*tracemend_rule_url(f->rule, url, sizeof(url)) || report_json_set(o, "url", json_string(url))) && json_places(o, f) &&
	    report_json_set(o, "fingerprint", json_string(report_fingerprint(f, fingerprint))))
		return o;
	json_decref(o);
	return NULL;
}

/* The rules whose findings are not all listed, with the number of the others. NULL: there are none, or out of memory. */
static json_t *json_unlisted(const struct report_reading *r)
{
	json_t *o = NULL;

	for (size_t i = 0; i < r->tallies && !r->run->failed; i++) {
		if (r->tally[i].count == r->tally[i].kept)
			continue;
		if (!o)
			o = json_object();
		if (!report_json_set(o, r->tally[i].rule->id, report_json_number(r->tally[i].count - r->tally[i].kept)))
			r->run->failed = true;
	}
	return o;
}

const char *report_status_name(enum tracemend_status status)
{
	static const char *const names[] = {
		[TM_OK] = "",
		[TM_USAGE] = "usage",
		[TM_IO] = "io",
		[TM_NO_MEMORY] = "memory",
		[TM_LIMIT] = "limit",
		[TM_UNRECOGNISED] = "unrecognised",
		[TM_NOTHING] = "nothing",
		[TM_CANCELLED] = "cancelled",
		[TM_BUG] = "bug",
	};

	return (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status] : "";
}

json_t *report_json_summary(const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	const char *status = entry->error ? report_status_name(entry->error->status) : "";
	json_t *o = json_object();

	if (report_json_set(o, "path", json_string(s.path)) && report_json_set(o, "format", json_string(s.format)) &&
	    report_json_set(o, "format_version", json_string(s.format_version)) &&
	    report_json_set(o, "size", report_json_number(s.size)) &&
	    report_json_set(o, "records", report_json_number(s.records)) &&
	    report_json_set(o, "errors", report_json_number(s.errors)) &&
	    report_json_set(o, "warnings", report_json_number(s.warnings)) &&
	    report_json_set(o, "notes", report_json_number(s.notes)) && report_json_set(o, "complete", json_boolean(s.complete)) &&
	    (s.complete || report_json_set(o, "incomplete", json_string(s.incomplete))) &&
	    (!*status || report_json_set(o, "status", json_string(status))) &&
	    (!entry->known || report_json_set(o, "known", report_json_number(entry->known))))
		return o;
	json_decref(o);
	return NULL;
}

void report_json_print(struct report_run *run, json_t *value)
{
	if (!value || json_dumpf(value, run->out, JSON_COMPACT | JSON_ENCODE_ANY)) {
		/* A failed write is noticed at the stream; another failure here is out of memory. */
		if (!ferror(run->out))
			run->failed = true;
	}
	json_decref(value);
}

json_t *report_json_rule(const struct tracemend_rule *rule)
{
	json_t *o = json_object();
	char url[512];

	if (report_json_set(o, "id", json_string(rule->id)) && report_json_set(o, "format", json_string(rule->format)) &&
	    report_json_set(o, "severity", json_string(tracemend_severity_name(rule->severity))) &&
	    report_json_set(o, "preview", json_boolean(rule->preview)) &&
	    report_json_set(o, "class", json_string(rule->class_name)) && report_json_set(o, "title", json_string(rule->title)) &&
	    report_json_set(o, "clause", json_string(rule->clause)) &&
	    report_json_set(o, "url", json_string(tracemend_rule_url(rule, url, sizeof(url)))) &&
	    report_json_set(o, "explanation", json_string(rule->explanation)) &&
	    report_json_set(o, "repair", json_string(rule->repair)))
		return o;
	json_decref(o);
	return NULL;
}

/* ---- json ---- */

static void json_begin(struct report_run *run)
{
	fprintf(run->out, "{\"tool\":\"tracemend\",\"version\":\"%s\",\"inputs\":[", TRACEMEND_VERSION);
}

/* The members of the summary, and the findings as a further member. */
static void json_entry(struct report_run *run, const struct report_entry *entry)
{
	struct report_reading r;
	const struct tracemend_finding *f;
	json_t *summary = report_json_summary(entry);

	/* Directly to the stream: jansson ignores a failed allocation when it prints to memory. */
	fprintf(run->out, "%s\n{", run->printed ? "," : "");
	if (!summary || json_dumpf(summary, run->out, JSON_COMPACT | JSON_EMBED))
		run->failed = run->failed || !ferror(run->out);
	json_decref(summary);
	fputs(",\n\"findings\":[", run->out);
	report_read(&r, run, entry);
	for (const char *comma = "\n"; (f = report_read_next(&r)); comma = ",\n") {
		fputs(comma, run->out);
		report_json_print(run, report_json_finding(f));
	}
	fputs("]", run->out);
	json_t *unlisted = json_unlisted(&r);
	if (unlisted) {
		fputs(",\n\"unlisted\":", run->out);
		report_json_print(run, unlisted);
	}
	fputs("}", run->out);
	report_read_end(&r);
}

static void json_end(struct report_run *run)
{
	fputs("\n]", run->out);
	if (run->passed_over)
		fprintf(run->out, ",\"passed_over\":%zu", run->passed_over);
	fputs("}\n", run->out);
}

const struct report_printer report_json = { .name = "json", .begin = json_begin, .entry = json_entry, .end = json_end };

/* ---- jsonl ---- */

/* A finding on a line of its own names its input; both kinds of lines name their kind. */
static json_t *jsonl_tag(json_t *object, const char *type, const char *input)
{
	json_t *tagged = json_object();

	if (object && report_json_set(tagged, "type", json_string(type)) &&
	    (!input || report_json_set(tagged, "input", json_string(input))) && !json_object_update(tagged, object)) {
		json_decref(object);
		return tagged;
	}
	json_decref(object);
	json_decref(tagged);
	return NULL;
}

static void jsonl_entry(struct report_run *run, const struct report_entry *entry)
{
	struct report_reading r;
	const struct tracemend_finding *f;

	report_read(&r, run, entry);
	while ((f = report_read_next(&r))) {
		report_json_print(run, jsonl_tag(report_json_finding(f), "finding", entry->shown));
		fputc('\n', run->out);
	}
	json_t *summary = report_json_summary(entry), *unlisted = json_unlisted(&r);
	if (unlisted && !report_json_set(summary, "unlisted", unlisted))
		run->failed = true;
	report_json_print(run, jsonl_tag(summary, "summary", NULL));
	report_read_end(&r);
	fputc('\n', run->out);
}

/* The last line shows that there are no more: a file that was cut behind any other line looks whole. */
static void jsonl_end(struct report_run *run)
{
	if (run->passed_over)
		fprintf(run->out, "{\"type\":\"search\",\"passed_over\":%zu}\n", run->passed_over);
	if (!run->failed && !run->stopped)
		fprintf(run->out, "{\"type\":\"end\",\"inputs\":%zu,\"incomplete\":%zu}\n", run->printed, run->incomplete);
}

const struct report_printer report_jsonl = { .name = "jsonl", .entry = jsonl_entry, .end = jsonl_end };
