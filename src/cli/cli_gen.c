/* gen: captures and their labels. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../report/report.h"

#define LABELS "labels.jsonl"

/* Labels of an earlier run into the same directory: one line a file. A line is kept unless this run makes its file. */
struct gen_labels {
	char **lines; /* with their line end; the file's name is in names */
	json_t *names; /* file name -> index + 1 of its line */
	size_t count, capacity;
};

static void gen_labels_free(struct gen_labels *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->lines[i]);
	free(l->lines);
	json_decref(l->names);
}

/* Adds a line, or replaces the one of the same file. Takes line (which may be NULL) in every case. */
static bool gen_labels_add(struct gen_labels *l, const char *file, char *line)
{
	json_int_t at = json_integer_value(json_object_get(l->names, file));

	if (!line)
		return false;
	if (at) {
		free(l->lines[at - 1]);
		l->lines[at - 1] = line;
		return true;
	}
	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 64;
		char **lines = realloc(l->lines, capacity * sizeof(*lines));
		if (!lines) {
			free(line);
			return false;
		}
		l->lines = lines;
		l->capacity = capacity;
	}
	l->lines[l->count++] = line;
	return !json_object_set_new(l->names, file, json_integer((json_int_t)l->count));
}

/* Reads what an earlier run left. */
static int gen_labels_load(struct gen_labels *l, const char *path)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	int code = CLI_CLEAN;

	l->names = json_object();
	if (!in && errno != ENOENT) {
		cli_complain("%s: cannot be opened: %s", path, strerror(errno));
		return CLI_IO;
	}
	while (in && !code && getline(&line, &room, in) > 0) {
		json_t *label = json_loads(line, 0, NULL);
		const char *file = json_string_value(json_object_get(label, "file"));
		if (!file) {
			cli_complain("%s: is there, and is not a list of labels", path);
			code = CLI_IO;
		} else if (!gen_labels_add(l, file, strdup(line))) {
			cli_complain("out of memory");
			code = CLI_LIMIT;
		}
		json_decref(label);
	}
	if (in && ferror(in) && !code) {
		cli_complain("%s: cannot be read: %s", path, strerror(errno));
		code = CLI_IO;
	}
	free(line);
	if (in)
		(void)fclose(in);
	return code;
}

static int gen_labels_write(const struct gen_labels *l, const char *path)
{
	struct cli_file file;

	if (!cli_file_begin(&file, path))
		return CLI_IO;
	for (size_t i = 0; i < l->count; i++)
		fputs(l->lines[i], file.stream);
	return cli_file_flush(&file) && cli_file_commit(&file) ? CLI_CLEAN : CLI_IO;
}

/* The label of one capture as a line. NULL: out of memory. */
static char *gen_label(const struct tracemend_recipe *recipe, const struct tracemend_sample *sample)
{
	json_t *label = json_object(), *expect = json_array();
	char *text = NULL, *line = NULL;
	size_t count = tracemend_sample_expect_count(sample);
	bool good = true;

	for (size_t i = 0; i < count && good; i++)
		good = !json_array_append_new(expect, json_string(tracemend_sample_expect(sample, i)->id));
	good = good && report_json_set(label, "file", json_string(tracemend_sample_name(sample))) &&
	       report_json_set(label, "format", json_string(recipe->format)) &&
	       report_json_set(label, "seed", report_json_number(recipe->seed)) &&
	       report_json_set(label, "rule", recipe->rule ? json_string(recipe->rule) : json_null()) &&
	       report_json_set(label, "expect", json_incref(expect)) &&
	       report_json_set(label, "damage",
			       recipe->damage ? json_string(tracemend_damage_name(recipe->damage)) : json_null()) &&
	       report_json_set(label, "records", report_json_number(tracemend_sample_records(sample)));
	if (good)
		text = json_dumps(label, JSON_COMPACT);
	if (text && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	json_decref(expect);
	json_decref(label);
	return line;
}

static int gen_one(const struct cli_options *o, const struct tracemend_recipe *recipe, struct gen_labels *labels)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	int code = CLI_CLEAN;

	if (!sample)
		return cli_fail(&error);
	if (tracemend_sample_write(sample, o->output, &error) != TM_OK) {
		code = cli_fail(&error);
	} else if (!gen_labels_add(labels, tracemend_sample_name(sample), gen_label(recipe, sample))) {
		cli_complain("out of memory");
		code = CLI_LIMIT;
	}
	tracemend_sample_free(sample);
	return code;
}

static int gen_check_options(const struct cli_options *o, struct tracemend_recipe *recipe)
{
	if (o->paths.count)
		return cli_usage("gen takes no input, and '%s' looks like one; files are made below -o DIR", o->paths.items[0]);
	if ((o->rule != NULL) + (o->damage != TM_DAMAGE_NONE) + o->valid > 1)
		return cli_usage("--valid, --rule and --damage exclude each other");
	if (!recipe->format && o->rule && cli_format_find(o->rule->format))
		recipe->format = o->rule->format;
	if (!recipe->format)
		return cli_usage("gen needs -f FORMAT: fxt, uftrace, tracedat, ktrace or lttng");
	if (o->rule && strcmp(o->rule->format, recipe->format) && cli_format_find(o->rule->format))
		return cli_usage("%s is not a rule of the format %s", o->rule->id, recipe->format);
	if (!o->output)
		return cli_usage("gen needs -o DIR, the directory to make files in");
	if (o->seed > UINT64_MAX - (o->count - 1))
		return cli_usage("--seed and --count pass the largest seed");
	return CLI_CLEAN;
}

int cli_gen(struct cli_options *o)
{
	struct tracemend_recipe recipe = {
		.format = o->library.format,
		.profile = o->library.profile,
		.rule = o->rule ? o->rule->id : NULL,
		.damage = o->damage,
		.size = o->size,
	};
	struct gen_labels labels = { 0 };
	char *path = NULL;
	int code = gen_check_options(o, &recipe);

	if (code)
		return code;
	struct stat st;
	if (stat(o->output, &st) == 0 && !S_ISDIR(st.st_mode))
		return cli_usage("-o %s: is not a directory", o->output);
	if (asprintf(&path, "%s/%s", o->output, LABELS) < 0) {
		cli_complain("out of memory");
		return CLI_LIMIT;
	}
	code = gen_labels_load(&labels, path);
	size_t before = labels.count;
	for (uint64_t i = 0; i < o->count && !code && !cli_signals_caught(); i++) {
		recipe.seed = o->seed + i;
		code = gen_one(o, &recipe, &labels);
	}
	if (labels.count > before || !code) { /* also when it stopped early: what is there is labelled */
		int written = gen_labels_write(&labels, path);
		code = code ? code : written;
	}
	gen_labels_free(&labels);
	free(path);
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : code;
}
