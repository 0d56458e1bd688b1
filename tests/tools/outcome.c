/* What check and repair make of captures, one line of JSON each, on the public API alone: every finding by its rule, place and what
 * it explains, and the plan by its counts, ranges and hashes. No texts: messages may be reworded, outcomes may not change unseen.
 * With -x, of damaged copies: sums and two hashes, of the outcomes and of the texts.
 *
 *	outcome [-f FORMAT] [-p PROFILE] [-x COPIES] PATH...
 *	outcome [-f FORMAT] [-p PROFILE] -n N -o DIR PATH
 *
 * -n N -o DIR writes the files of copy N instead. A copy that ends with an internal error is named on stderr.
 *
 * tests/tools/outcomes.py compares the lines of the corpus with those that are kept there. Many captures in one process: a
 * thousand small ones take a second or two. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../fuzz/capture.h"
#include "core/text.h"
#include "engine/engine.h"
#include "sweep.h"

/* Entries of a list that are shown; of the others their number and a hash. */
#define SHOWN_MAX 40u

static uint64_t hash_add(uint64_t hash, const char *text)
{
	return text_hash_more(hash, text, strlen(text));
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
		l->hash = TEXT_HASH_NONE;
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

/* Adds why bytes were made, dropped and doubted. */
static void reasons_add(uint64_t *hash, const struct tracemend_repair *repair)
{
	for (size_t i = 0; i < tracemend_repair_output_count(repair); i++)
		for (size_t k = 0; k < tracemend_repair_output(repair, i)->segment_count; k++)
			*hash = hash_add(*hash, tracemend_repair_segment(repair, i, k).why);
	for (size_t i = 0; i < tracemend_repair_dropped_count(repair); i++)
		*hash = hash_add(*hash, tracemend_repair_dropped(repair, i).why);
	for (size_t i = 0; i < tracemend_repair_doubtful_count(repair); i++)
		*hash = hash_add(*hash, tracemend_repair_doubtful(repair, i).why);
}

static json_t *outcome_repair(struct tracemend_input *input, const struct tracemend_options *options, uint64_t *texts,
			      struct tracemend_error *error)
{
	struct tracemend_repair *repair = tracemend_repair(input, options, error);
	json_t *o = json_object();

	json_object_set_new(o, "status", json_integer(error->status));
	if (!repair)
		return o;
	if (tracemend_repair_digest(repair, error) != TM_OK)
		json_object_set_new(o, "digest", json_integer(error->status));
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
	if (texts)
		reasons_add(texts, repair);
	tracemend_repair_free(repair);
	return o;
}

/* Adds what a person reads: paths, messages, fields, facts, advice. */
static void texts_add(uint64_t *hash, const struct tracemend_report *report)
{
	char text[96];

	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		(void)snprintf(text, sizeof(text), "%llx+%x", (unsigned long long)f->field_offset, (unsigned)f->field_length);
		*hash = hash_add(hash_add(hash_add(hash_add(*hash, f->path), f->message), f->field ? f->field : ""), text);
	}
	for (size_t i = 0; i < tracemend_report_fact_count(report); i++) {
		const struct tracemend_fact *f = tracemend_report_fact(report, i);
		*hash = hash_add(hash_add(*hash, f->key), f->value);
	}
	*hash = hash_add(*hash, tracemend_report_summary(report)->incomplete);
}

/* Takes input, which may be NULL. texts (may be NULL): a hash of all texts. */
static void outcome_of(json_t *o, struct tracemend_input *input, const struct tracemend_options *options,
		       struct tracemend_error *error, uint64_t *texts)
{
	if (!input) {
		json_object_set_new(o, "open", json_integer(error->status));
		return;
	}
	struct tracemend_report *report = tracemend_check(input, options, error);
	json_object_set_new(o, "status", json_integer(error->status));
	if (report) {
		const struct tracemend_summary *s = tracemend_report_summary(report);
		json_object_set_new(o, "format", json_string(s->format));
		json_object_set_new(o, "version", json_string(s->format_version));
		json_object_set_new(o, "records", json_integer((json_int_t)s->records));
		json_object_set_new(o, "complete", json_boolean(s->complete));
		json_object_set_new(o, "findings", outcome_findings(report));
		json_object_set_new(o, "repair", outcome_repair(input, options, texts, error));
		if (texts)
			texts_add(texts, report);
	}
	tracemend_report_free(report);
	tracemend_close(input);
}

static json_t *outcome(const char *path, const struct tracemend_options *options)
{
	struct tracemend_error error = { 0 };
	json_t *o = json_object();

	json_object_set_new(o, "file", json_string(path));
	outcome_of(o, tracemend_open(path, options, &error), options, &error, NULL);
	return o;
}

/* ---- damaged copies ---- */

struct sums {
	uint64_t hash, texts, errors, warnings, records, kept, dropped, refused, bugs;
};

static void sums_add(struct sums *s, const json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	const json_t *repair = json_object_get(o, "repair");
	unsigned long long kept = 0, patched = 0, added = 0, dropped = 0;
	size_t i;
	json_t *finding;

	s->hash = hash_add(s->hash, text);
	free(text);
	json_array_foreach(json_object_get(o, "findings"), i, finding)
	{
		s->errors += strstr(json_string_value(finding), " error ") != NULL;
		s->warnings += strstr(json_string_value(finding), " warning ") != NULL;
	}
	s->records += (uint64_t)json_integer_value(json_object_get(o, "records"));
	const char *records = json_string_value(json_object_get(repair, "records"));
	if (!records || sscanf(records, "%llu kept, %llu patched, %llu added, %llu", &kept, &patched, &added, &dropped) != 4)
		s->refused++;
	s->bugs += json_integer_value(json_object_get(repair, "status")) == TM_BUG;
	s->kept += kept + patched;
	s->dropped += dropped;
}

/* Adds all that a record says. */
static void record_add(void *ctx, const struct tracemend_record *r)
{
	uint64_t *hash = ctx;
	char numbers[96];

	(void)snprintf(numbers, sizeof(numbers), "%llx+%llx %d %llx", (unsigned long long)r->offset, (unsigned long long)r->length,
		       r->timed, (unsigned long long)r->time);
	const char *texts[] = { r->file, numbers, r->kind, r->track, r->unit, r->name, r->arguments, r->rule ? r->rule->id : NULL };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*hash = hash_add(hash_add(*hash, texts[i] ? texts[i] : "-"), "\n");
}

/* The capture of the file at path, damaged so many times. Facts are asked for in every second copy, records in every fourth:
 * then there is no fast path. */
static json_t *outcome_damaged(const char *path, const uint8_t *data, size_t size, const struct tracemend_options *options,
			       unsigned times)
{
	struct sums sums = { .hash = TEXT_HASH_NONE, .texts = TEXT_HASH_NONE };
	uint64_t seed = hash_add(TEXT_HASH_NONE, path);
	json_t *line = json_object();
	struct sweep sweep;

	sweep_open(&sweep, options->format, options->profile, data, size);
	for (unsigned n = 0; n < times; n++) {
		struct tracemend_options how = *options;
		struct tracemend_error error = { 0 };
		struct capture copy;
		how.facts = n % 2;
		if (n % 4 == 3) {
			how.record = record_add;
			how.record_ctx = &sums.texts;
			how.arguments = true;
		}
		sweep_copy(&sweep, seed + n, &copy);
		struct bundle *b = capture_bundle(&copy, &how, NULL);
		json_t *o = json_object();
		outcome_of(o, b ? input_from_bundle(b, &error) : NULL, &how, &error, &sums.texts);
		uint64_t bugs = sums.bugs;
		sums_add(&sums, o);
		if (sums.bugs > bugs)
			fprintf(stderr, "%s: copy %u: internal check failed: %s\n", path, n, error.message);
		json_decref(o);
		capture_free(&copy);
	}
	sweep_close(&sweep);
	char text[32];
	(void)snprintf(text, sizeof(text), "%016llx", (unsigned long long)sums.hash);
	json_object_set_new(line, "file", json_string(path));
	json_object_set_new(line, "damaged", json_integer(times));
	json_object_set_new(line, "errors", json_integer((json_int_t)sums.errors));
	json_object_set_new(line, "warnings", json_integer((json_int_t)sums.warnings));
	json_object_set_new(line, "records", json_integer((json_int_t)sums.records));
	json_object_set_new(line, "kept", json_integer((json_int_t)sums.kept));
	json_object_set_new(line, "dropped", json_integer((json_int_t)sums.dropped));
	json_object_set_new(line, "nothing", json_integer((json_int_t)sums.refused));
	if (sums.bugs)
		json_object_set_new(line, "bugs", json_integer((json_int_t)sums.bugs));
	json_object_set_new(line, "hash", json_string(text));
	(void)snprintf(text, sizeof(text), "%016llx", (unsigned long long)sums.texts);
	json_object_set_new(line, "texts", json_string(text));
	return line;
}

/* Makes the folders of a path that are not there. */
static void make_folders(char *path)
{
	for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
		*end = '\0';
		(void)mkdir(path, 0777);
		*end = '/';
	}
}

/* Writes the files of a damaged copy below the folder. */
static int copy_write(const char *path, const uint8_t *data, size_t size, const struct tracemend_options *options, unsigned n,
		      const char *folder)
{
	struct capture copy;
	struct sweep sweep;
	int status = 0;

	sweep_open(&sweep, options->format, options->profile, data, size);
	sweep_copy(&sweep, hash_add(TEXT_HASH_NONE, path) + n, &copy);
	for (size_t i = 0; i < copy.count && !status; i++) {
		char name[2 * CAPTURE_NAME_MAX + 1024];
		const char *role = copy.files[i].role == TM_ROLE_DONOR	 ? "donor-"
				   : copy.files[i].role == TM_ROLE_EXTRA ? "extra-"
									 : "";
		(void)snprintf(name, sizeof(name), "%s/%s%s", folder, role, *copy.files[i].name ? copy.files[i].name : "capture");
		if (copy.files[i].kind != SOURCE_FILE)
			continue;
		make_folders(name);
		FILE *out = fopen(name, "wb");
		if (!out || fwrite(copy.files[i].data, 1, copy.files[i].size, out) != copy.files[i].size || fclose(out))
			status = 5;
	}
	capture_free(&copy);
	sweep_close(&sweep);
	return status;
}

static uint8_t *slurp(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = NULL;
	long length;

	if (!in || fseek(in, 0, SEEK_END) || (length = ftell(in)) < 0 || fseek(in, 0, SEEK_SET)) {
		perror(path);
		exit(5);
	}
	*size = (size_t)length;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, in) != *size)
		exit(5);
	(void)fclose(in);
	return data;
}

int main(int argc, char **argv)
{
	struct tracemend_options options = { 0 };
	unsigned times = 0, number = 0;
	const char *folder = NULL;
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (!strcmp(argv[at], "-f"))
			options.format = argv[at + 1];
		else if (!strcmp(argv[at], "-p"))
			options.profile = argv[at + 1];
		else if (!strcmp(argv[at], "-x"))
			times = (unsigned)strtoul(argv[at + 1], NULL, 10);
		else if (!strcmp(argv[at], "-n"))
			number = (unsigned)strtoul(argv[at + 1], NULL, 10);
		else if (!strcmp(argv[at], "-o"))
			folder = argv[at + 1];
	}
	if (at == argc) {
		fputs("usage: outcome [-f FORMAT] [-p PROFILE] [-x COPIES | -n N -o DIR] PATH...\n", stderr);
		return 2;
	}
	for (; at < argc; at++) {
		size_t size = 0;
		uint8_t *data = times || folder ? slurp(argv[at], &size) : NULL;
		if (folder)
			return copy_write(argv[at], data, size, &options, number, folder);
		json_t *o = times ? outcome_damaged(argv[at], data, size, &options, times) : outcome(argv[at], &options);
		if (json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) || puts("") < 0)
			return 5;
		json_decref(o);
		free(data);
		fflush(stdout); /* what was said before a crash is seen */
	}
	return 0;
}
