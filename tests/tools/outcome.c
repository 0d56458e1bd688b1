/* What check and repair make of captures, one line of JSON each, on the public API alone: every finding by its rule, place and what
 *it explains, and the plan by its counts, ranges and hashes. No texts: messages may be reworded, outcomes may not change unseen.
 *
 *	outcome [-f FORMAT] [-p PROFILE] PATH...
 *
 * tests/tools/outcomes.py compares the lines of the corpus with those that are kept there. Many captures in one process: a
 * thousand small ones take a second or two. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracemend.h"

/* Entries of a list that are shown; of the others their number and a hash. */
#define SHOWN_MAX 40u

/* FNV-1a. */
static uint64_t hash_add(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* A list of which the first entries are shown as texts. */
struct list {
	json_t *shown;
	size_t count;
	uint64_t hash;
};

static void list_add(struct list *l, const char *text)
{
	if (!l->shown) {
		l->shown = json_array();
		l->hash = UINT64_C(0xcbf29ce484222325);
	}
	if (l->count++ < SHOWN_MAX)
		json_array_append_new(l->shown, json_string(text));
	else
		l->hash = hash_add(hash_add(l->hash, text), "\n");
}

static json_t *list_json(struct list *l)
{
	char rest[64];

	if (!l->shown)
		return json_array();
	if (l->count > SHOWN_MAX) {
		(void)snprintf(rest, sizeof(rest), "and %zu more %016llx", l->count - SHOWN_MAX, (unsigned long long)l->hash);
		json_array_append_new(l->shown, json_string(rest));
	}
	return l->shown;
}

static json_t *outcome_findings(const struct tracemend_report *report)
{
	struct list l = { 0 };
	char text[1024];

	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		(void)snprintf(text, sizeof(text), "%s %s %s%s0x%llx+%llu%s", f->rule->id, tracemend_severity_name(f->severity),
			       f->file, *f->file ? ":" : "", (unsigned long long)f->offset, (unsigned long long)f->length,
			       f->explains ? " x" : "");
		if (f->explains)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llu", (unsigned long long)f->explains);
		list_add(&l, text);
	}
	return list_json(&l);
}

static json_t *outcome_ranges(const struct tracemend_repair *repair, size_t count,
			      struct tracemend_range (*get)(const struct tracemend_repair *repair, size_t index))
{
	struct list l = { 0 };
	char text[256];

	for (size_t i = 0; i < count; i++) {
		struct tracemend_range r = get(repair, i);
		(void)snprintf(text, sizeof(text), "%zu:0x%llx+%llu", r.input, (unsigned long long)r.from,
			       (unsigned long long)r.length);
		if (r.times > 1)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), " x%llu /%llu",
				       (unsigned long long)r.times, (unsigned long long)r.repeat_from);
		if (r.rule)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", r.rule->id);
		list_add(&l, text);
	}
	return list_json(&l);
}

static json_t *outcome_repair(struct tracemend_input *input, const struct tracemend_options *options)
{
	struct tracemend_error error = { 0 };
	struct tracemend_repair *repair = tracemend_repair(input, options, &error);
	json_t *o = json_object();

	json_object_set_new(o, "status", json_integer(error.status));
	if (!repair)
		return o;
	if (tracemend_repair_digest(repair, &error) != TM_OK)
		json_object_set_new(o, "digest", json_integer(error.status));
	const struct tracemend_outcome *was = tracemend_repair_outcome(repair);
	char text[256];
	(void)snprintf(text, sizeof(text), "%llu kept, %llu patched, %llu added, %llu dropped (%d)%s, %u passes",
		       (unsigned long long)was->kept, (unsigned long long)was->patched, (unsigned long long)was->added,
		       (unsigned long long)was->dropped, (int)was->dropped_is, was->lost ? ", lost" : "", was->passes);
	json_object_set_new(o, "records", json_string(text));
	struct list outputs = { 0 };
	for (size_t i = 0; i < tracemend_repair_output_count(repair); i++) {
		const struct tracemend_output *output = tracemend_repair_output(repair, i);
		char line[1024];
		(void)snprintf(line, sizeof(line), "%s%s%llu %.16s", output->file, *output->file ? " " : "",
			       (unsigned long long)output->size, output->sha256);
		list_add(&outputs, line);
	}
	json_object_set_new(o, "outputs", list_json(&outputs));
	json_object_set_new(o, "dropped", outcome_ranges(repair, tracemend_repair_dropped_count(repair), tracemend_repair_dropped));
	json_object_set_new(o, "doubtful",
			    outcome_ranges(repair, tracemend_repair_doubtful_count(repair), tracemend_repair_doubtful));
	tracemend_repair_free(repair);
	return o;
}

static json_t *outcome(const char *path, const struct tracemend_options *options)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open(path, options, &error);
	json_t *o = json_object();

	json_object_set_new(o, "file", json_string(path));
	if (!input) {
		json_object_set_new(o, "open", json_integer(error.status));
		return o;
	}
	struct tracemend_report *report = tracemend_check(input, options, &error);
	json_object_set_new(o, "status", json_integer(error.status));
	if (report) {
		const struct tracemend_summary *s = tracemend_report_summary(report);
		json_object_set_new(o, "format", json_string(s->format));
		json_object_set_new(o, "version", json_string(s->format_version));
		json_object_set_new(o, "records", json_integer((json_int_t)s->records));
		json_object_set_new(o, "complete", json_boolean(s->complete));
		json_object_set_new(o, "findings", outcome_findings(report));
		json_object_set_new(o, "repair", outcome_repair(input, options));
	}
	tracemend_report_free(report);
	tracemend_close(input);
	return o;
}

int main(int argc, char **argv)
{
	struct tracemend_options options = { 0 };
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (!strcmp(argv[at], "-f"))
			options.format = argv[at + 1];
		else if (!strcmp(argv[at], "-p"))
			options.profile = argv[at + 1];
	}
	if (at == argc) {
		fputs("usage: outcome [-f FORMAT] [-p PROFILE] PATH...\n", stderr);
		return 2;
	}
	for (; at < argc; at++) {
		json_t *o = outcome(argv[at], &options);
		if (json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) || puts("") < 0)
			return 5;
		json_decref(o);
		fflush(stdout); /* what was said before a crash is seen */
	}
	return 0;
}
