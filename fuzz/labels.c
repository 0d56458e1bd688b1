/* tracemend-labels [-r RECENT] DIRECTORY...: labels what a fuzzer with the mutator left in its folders (queue, crashes, hangs; a
 * corpus; artifacts), one line of JSON for each file, in DIRECTORY/labels.jsonl. The keys are those of 'tracemend gen', and then
 * how the file was made. `seed`, `operators` and `source` are the mutation's, from the file's name (AFL++) or from RECENT
 * (libFuzzer, TRACEMEND_RECENT); operators of the engine itself have its names ("havoc"), and null is unknown. `rule` is what the
 * mutator or the name says is broken; null: nothing, or it is unknown. `expect` has the rules of the errors and warnings that check
 * reports, whoever made the file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "recent.h"
#include "report/report.h"

#define LABELS "labels.jsonl"
#define INPUT_MAX (64u * 1024 * 1024)

/* What is known of the origin of a file: pieces of its name, else of its line in RECENT. */
struct origin {
	char name[256];	  /* "...,src:000005,op:edit,rule:none,seed:7" */
	char source[256]; /* "": unknown */
};

/* The value of a key in a name: `at` is its start, the result its length. 0: it is not there. */
static size_t name_value(const char *name, const char *key, const char **at)
{
	for (const char *p = name; (p = strstr(p, key)) != NULL; p++)
		if (p == name || p[-1] == ',') {
			*at = p + strlen(key);
			return strcspn(*at, ",");
		}
	return 0;
}

static json_t *label_operators(const char *name)
{
	const char *at;
	size_t length = name_value(name, "op:", &at);
	json_t *list = json_array();
	bool good = list != NULL;

	if (!length) {
		json_decref(list);
		return json_null();
	}
	for (const char *end = at + length; at < end && good;) {
		size_t n = strcspn(at, "+,");
		good = !json_array_append_new(list, json_stringn(at, n));
		at += n + 1;
	}
	return good ? list : NULL;
}

/* The rules that check reports as errors and warnings, each once. */
static json_t *label_expect(const struct tracemend_report *report)
{
	json_t *list = json_array();
	size_t count = report ? tracemend_report_finding_count(report) : 0;
	const struct tracemend_rule *last = NULL;

	for (size_t i = 0; i < count && list; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		bool met = f->rule == last || f->severity < TM_WARNING;
		for (size_t k = 0; k < json_array_size(list) && !met; k++)
			met = !strcmp(json_string_value(json_array_get(list, k)), f->rule->id);
		last = f->rule;
		if (!met && json_array_append_new(list, json_string(f->rule->id))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *label_rule(const char *name, const char *format)
{
	const char *at;
	size_t length = name_value(name, "rule:", &at);
	char id[128];

	if (!format || !length || (length == 4 && !memcmp(at, "none", 4)))
		return json_null();
	(void)snprintf(id, sizeof(id), "%s/%.*s", format, (int)length, at);
	/* afl-fuzz cuts long names. */
	return tracemend_rule_find(id) ? json_string(id) : json_null();
}

static json_t *label_make(const char *file, const struct origin *origin, const char *format, const struct tracemend_report *report)
{
	const char *seed;
	bool seeded = name_value(origin->name, "seed:", &seed) > 0;
	json_t *label = json_object();

	if (label && report_json_set(label, "file", json_string(file)) &&
	    report_json_set(label, "format", format ? json_string(format) : json_null()) &&
	    report_json_set(label, "seed", seeded ? report_json_number(strtoull(seed, NULL, 10)) : json_null()) &&
	    report_json_set(label, "rule", label_rule(origin->name, format)) &&
	    report_json_set(label, "expect", label_expect(report)) && report_json_set(label, "damage", json_null()) &&
	    report_json_set(label, "records",
			    report ? report_json_number(tracemend_report_summary(report)->records) : json_null()) &&
	    report_json_set(label, "operators", label_operators(origin->name)) &&
	    report_json_set(label, "source", *origin->source ? json_string(origin->source) : json_null()))
		return label;
	json_decref(label);
	return NULL;
}

static bool read_file(int directory, const char *name, struct bytes *out)
{
	uint8_t buffer[65536];
	ssize_t n = 0;
	struct stat st;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	out->size = 0;
	bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	while (regular && out->size < INPUT_MAX && (n = read(fd, buffer, sizeof(buffer))) > 0)
		bytes_append(out, buffer, (size_t)n);
	if (fd >= 0)
		(void)close(fd);
	return regular && n == 0 && !out->failed;
}

/* By name, as AFL++ says it; else by content, as the mutator noted it. */
static void find_origin(struct origin *origin, const char *file, const struct bytes *bytes, json_t *recent)
{
	char digest[RECENT_DIGEST_SIZE];
	const char *at = NULL;
	size_t length = name_value(file, "src:", &at);

	*origin = (struct origin){ 0 };
	(void)snprintf(origin->name, sizeof(origin->name), "%s", file);
	(void)snprintf(origin->source, sizeof(origin->source), "%.*s", (int)length, length ? at : "");
	json_t *line = recent ? json_object_get(recent, recent_digest(bytes->data, bytes->size, digest)) : NULL;
	const char *name = json_string_value(json_object_get(line, "name"));
	if (!name)
		return;
	json_t *seed = json_object_get(line, "seed");
	(void)snprintf(origin->name, sizeof(origin->name), json_is_integer(seed) ? "%s,seed:%lld" : "%s", name,
		       (long long)json_integer_value(seed));
	(void)snprintf(origin->source, sizeof(origin->source), "%s", json_string_value(json_object_get(line, "source")));
}

/* NULL: out of memory. */
static json_t *label_file(const char *file, const struct bytes *bytes, json_t *recent)
{
	const struct tracemend_options options = { .format = getenv("TRACEMEND_FORMAT"),
						   .profile = getenv("TRACEMEND_PROFILE"),
						   .max_findings = 1 };
	struct capture *capture = calloc(1, sizeof(*capture));
	struct tracemend_error error = { 0 };
	enum tracemend_status status;
	struct origin origin;

	if (!capture)
		return NULL;
	capture_parse(capture, bytes->data, bytes->size);
	struct bundle *bundle = capture_bundle(capture, &options, NULL);
	const struct format *format = bundle ? format_recognise(bundle, &options, &error) : NULL;
	struct tracemend_report *report = format ? engine_scan(bundle, format, &options, NULL, &status, &error) : NULL;
	find_origin(&origin, file, bytes, recent);
	json_t *label = label_make(file, &origin, format ? format->public.name : NULL, report);
	tracemend_report_free(report);
	bundle_free(bundle);
	capture_free(capture);
	free(capture);
	return label;
}

/* The lines of RECENT by digest. Blank ones were not used yet. */
static json_t *recent_load(const char *path)
{
	char line[RECENT_LINE + 1];
	json_t *all = json_object();
	FILE *in = fopen(path, "r");

	while (in && fgets(line, sizeof(line), in)) {
		json_t *one = json_loads(line, 0, NULL);
		const char *digest = json_string_value(json_object_get(one, "sha1"));
		if (digest)
			(void)json_object_set(all, digest, one);
		json_decref(one);
	}
	if (!in)
		fprintf(stderr, "tracemend-labels: %s: %s\n", path, strerror(errno));
	else
		(void)fclose(in);
	return in ? all : NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool label_directory(const char *path, json_t *recent)
{
	struct dirent **names = NULL;
	struct bytes bytes = { 0 };
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = directory < 0 ? -1 : scandir(path, &names, NULL, by_name), labelled = 0;
	int fd = count < 0 ? -1 : openat(directory, LABELS, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct report_run run = { .out = fd < 0 ? NULL : fdopen(fd, "w") };

	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		/* afl-fuzz adds a README and files of its own, with dots. */
		if (run.out && *name != '.' && strcmp(name, LABELS) != 0 && strcmp(name, "README.txt") != 0 &&
		    read_file(directory, name, &bytes)) {
			report_json_print(&run, label_file(name, &bytes, recent));
			fputc('\n', run.out);
			labelled++;
		}
		free(names[i]);
	}
	free(names);
	bytes_free(&bytes);
	bool good = run.out && !run.failed;
	if (run.out)
		good = !fclose(run.out) && good;
	if (!good)
		fprintf(stderr, "tracemend-labels: %s: %s\n", path, strerror(errno));
	else
		printf("%s/" LABELS ": %d files\n", path, labelled);
	if (directory >= 0)
		(void)close(directory);
	return good;
}

int main(int argc, char **argv)
{
	json_t *recent = NULL;
	int first = 1;
	bool good = true;

	if (argc > 2 && !strcmp(argv[1], "-r")) {
		recent = recent_load(argv[2]);
		good = recent != NULL;
		first = 3;
	}
	if (argc <= first || argv[first][0] == '-') {
		fprintf(stderr, "usage: %s [-r RECENT] DIRECTORY...\n", argv[0]);
		return 2;
	}
	for (int i = first; i < argc; i++)
		good = label_directory(argv[i], recent) && good;
	json_decref(recent);
	return good ? 0 : 1;
}
