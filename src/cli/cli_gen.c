/* gen: captures and their labels. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/report.h"

#define LABELS "labels.jsonl"

/* Labels by file name. Those of an earlier run into the same directory are kept, unless this run makes the file again. JSON
 * objects keep the order of their keys. */
static int gen_labels_load(json_t *labels, const char *path)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	int code = CLI_CLEAN;

	if (!in && errno != ENOENT) {
		cli_error("%s: cannot be opened: %s", path, strerror(errno));
		return CLI_IO;
	}
	while (in && !code && getline(&line, &room, in) > 0) {
		json_t *label = json_loads(line, 0, NULL);
		const char *file = json_string_value(json_object_get(label, "file"));
		if (!file) {
			cli_error("%s: exists and is not a list of labels", path);
			code = CLI_IO;
		} else if (json_object_set(labels, file, label)) {
			code = cli_memory();
		}
		json_decref(label);
	}
	if (in && !feof(in) && !code) {
		cli_error("%s: cannot be read: %s", path, strerror(errno));
		code = CLI_IO;
	}
	free(line);
	if (in)
		(void)fclose(in);
	return code;
}

static int gen_labels_write(json_t *labels, const char *path)
{
	struct cli_file file;
	struct report_run run = { 0 };
	const char *name;
	json_t *label;

	int code = cli_file_begin(&file, path);
	if (code)
		return code;
	run.out = file.stream;
	json_object_foreach(labels, name, label)
	{
		report_json_print(&run, json_incref(label));
		fputc('\n', file.stream);
	}
	if (run.failed) {
		cli_file_abandon(&file);
		return cli_memory();
	}
	return cli_file_flush(&file) && cli_file_commit(&file) ? CLI_CLEAN : CLI_IO;
}

/* The label of one capture. NULL: out of memory. */
static json_t *gen_label(const struct tracemend_recipe *recipe, const struct tracemend_sample *sample)
{
	json_t *label = json_object(), *expect = json_array();
	size_t count = tracemend_sample_expect_count(sample);
	bool good = true;

	for (size_t i = 0; i < count && good; i++)
		good = !json_array_append_new(expect, json_string(tracemend_sample_expect(sample, i)->id));
	if (good && report_json_set(label, "file", json_string(tracemend_sample_name(sample))) &&
	    report_json_set(label, "format", json_string(recipe->format)) &&
	    report_json_set(label, "seed", report_json_number(recipe->seed)) &&
	    report_json_set(label, "rule", recipe->rule ? json_string(recipe->rule) : json_null()) &&
	    report_json_set(label, "expect", json_incref(expect)) &&
	    report_json_set(label, "damage", recipe->damage ? json_string(tracemend_damage_name(recipe->damage)) : json_null()) &&
	    report_json_set(label, "records", report_json_number(tracemend_sample_records(sample)))) {
		json_decref(expect);
		return label;
	}
	json_decref(expect);
	json_decref(label);
	return NULL;
}

static int gen_one(const struct cli_options *o, const struct tracemend_recipe *recipe, json_t *labels)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	int code = CLI_CLEAN;

	if (!sample)
		return cli_fail(&error);
	if (tracemend_sample_write(sample, o->output, &error) != TM_OK) {
		code = cli_fail(&error);
	} else if (!report_json_set(labels, tracemend_sample_name(sample), gen_label(recipe, sample))) {
		code = cli_memory();
	}
	tracemend_sample_free(sample);
	return code;
}

static int gen_check_options(const struct cli_options *o, struct tracemend_recipe *recipe)
{
	if (o->paths.count)
		return cli_usage("gen takes no input such as '%s'; it writes files to -o DIR", o->paths.items[0]);
	if ((o->rule != NULL) + (o->damage != TM_DAMAGE_NONE) + o->valid > 1)
		return cli_usage("--valid, --rule and --damage exclude each other");
	if (o->sound && !o->rule)
		return cli_usage("--sound needs --rule, whose defect is left out");
	if (!recipe->format && o->rule && cli_format_find(o->rule->format))
		recipe->format = o->rule->format;
	if (!recipe->format)
		return cli_usage("gen needs -f FORMAT: fxt, uftrace, tracedat, ktrace or lttng");
	for (size_t i = 0; i < o->rule_count; i++)
		if (strcmp(o->rules[i]->format, recipe->format) && cli_format_find(o->rules[i]->format))
			return cli_usage("%s is not a rule of the format %s", o->rules[i]->id, recipe->format);
	int code = cli_features_check(o, recipe->format);
	if (code)
		return code;
	if (!o->output)
		return cli_usage("gen needs -o DIR, the directory for the files");
	if (o->seed > INT64_MAX - (o->count - 1))
		return cli_usage("--seed and --count exceed the largest seed, which is %lld", (long long)INT64_MAX);
	return CLI_CLEAN;
}

/* -o -: the bytes of one capture. */
static int gen_to_stdout(const struct cli_options *o, const struct tracemend_recipe *recipe)
{
	struct tracemend_error error = { 0 };
	const uint8_t *data;
	size_t size;

	if (o->count > 1 || o->rule_count > 1)
		return cli_usage("-o - is for one capture; give a directory for several");
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	if (!sample)
		return cli_fail(&error);
	bool directory = tracemend_sample_is_directory(sample);
	if (!directory) {
		(void)tracemend_sample_file(sample, 0, &data, &size);
		(void)fwrite(data, 1, size, stdout); /* checked when the program ends */
	}
	tracemend_sample_free(sample);
	return directory ? cli_usage("-o -: a capture of %s is a directory; give one with -o DIR", recipe->format) : CLI_CLEAN;
}

int cli_gen(struct cli_options *o)
{
	struct tracemend_recipe recipe = {
		.format = o->library.format,
		.profile = o->library.profile,
		.rule = o->rule ? o->rule->id : NULL,
		.damage = o->damage,
		.size = o->size,
		.host = o->host,
		.sound = o->sound,
		.with = o->with.items,
		.without = o->without.items,
	};
	char *path = NULL;
	int code = CLI_CLEAN;

	if (o->list_features)
		return cli_features_print(recipe.format);
	code = gen_check_options(o, &recipe);

	if (code)
		return code;
	recipe.seed = o->seed;
	if (!strcmp(o->output, "-"))
		return gen_to_stdout(o, &recipe);
	struct stat st;
	if (stat(o->output, &st) == 0 && !S_ISDIR(st.st_mode))
		return cli_usage("-o %s: is not a directory", o->output);
	if (asprintf(&path, "%s/%s", o->output, LABELS) < 0)
		return cli_memory();
	json_t *labels = json_object();
	code = labels ? gen_labels_load(labels, path) : cli_memory();
	bool loaded = !code;
	for (size_t k = 0; k < o->rule_count || !k; k++) {
		recipe.rule = o->rule_count ? o->rules[k]->id : NULL;
		for (uint64_t i = 0; i < o->count && !code && !cli_signals_caught(); i++) {
			recipe.seed = o->seed + i;
			code = gen_one(o, &recipe, labels);
		}
	}
	if (loaded && json_object_size(labels)) { /* also after an early stop: the files that exist are labelled */
		int written = gen_labels_write(labels, path);
		code = code ? code : written;
	}
	json_decref(labels);
	free(path);
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : code;
}
