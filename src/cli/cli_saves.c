/* --save FORMAT=FILE: further reports of the run that prints one. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

struct cli_save {
	const struct report_printer *printer;
	struct report_run run;
	struct tracemend_options library; /* of the run, with its own max_findings */
	struct cli_file file;
};

struct cli_saves {
	struct cli_save *list;
	size_t count;
};

struct report_run cli_saves_run(const struct cli_options *o, const struct tracemend_options *shown)
{
	return (struct report_run){ .out = stdout,
				    .color = cli_colored(o, stdout),
				    .quiet = o->quiet,
				    .verbose = o->verbose,
				    .fail_on = o->fail_on,
				    .options = shown };
}

size_t cli_saves_findings(const struct cli_options *o, const struct report_printer *printer)
{
	return o->max_given || printer->people ? o->max_findings : 0;
}

int cli_saves_parse(const char *text, const struct report_printer **printer, const char **file)
{
	const char *equal = strchr(text, '=');
	char *name = equal ? strndup(text, (size_t)(equal - text)) : NULL;

	*printer = name ? report_printer_find(name) : NULL;
	free(name);
	if (!*printer || !equal[1])
		return cli_usage("--save=%s: expected FORMAT=FILE with a report format", text);
	*file = equal + 1;
	return strcmp(*file, "-") ? CLI_CLEAN : cli_usage("--save=%s: standard output has the report of --format", text);
}

/* Whether a file that a search found is a capture; an earlier report is none. */
static bool save_is_capture(const struct cli_options *o, const char *path)
{
	struct tracemend_options library = o->library;
	struct tracemend_error error = { 0 };

	library.progress = NULL;
	library.found = true;
	struct tracemend_input *input = tracemend_open(path, &library, &error);
	bool capture = input && tracemend_recognise(input, &library, &error);
	tracemend_close(input);
	return capture;
}

/* A report must not be an input, nor lie inside one, nor be what the run writes besides. before: how many of --save are begun. */
static int save_check(const struct cli_options *o, const struct cli_targets *targets, const char *text, const char *file,
		      size_t before)
{
	const struct report_printer *printer;
	const char *other;
	int code = CLI_CLEAN;

	for (size_t i = 0; !targets && i < o->paths.count && !code; i++)
		code = cli_path_check_output("--save", file, o->paths.items[i]);
	for (size_t i = 0; targets && i < targets->count && !code; i++) {
		const struct cli_target *t = &targets->list[i];
		/* Into a directory that is searched, a report may be written. */
		if (t->first == SIZE_MAX && !(t->found && cli_path_same(file, t->path) && !save_is_capture(o, t->path)))
			code = cli_path_check_output("--save", file, t->path);
	}
	for (size_t i = 0; i < before && !code; i++)
		if (!cli_saves_parse(o->save.items[i], &printer, &other) && cli_path_same(file, other))
			code = cli_usage("--save=%s and --save=%s name the same file", o->save.items[i], text);
	if (!code && o->update_baseline && o->baseline && cli_path_same(file, o->baseline))
		code = cli_usage("--save=%s and --baseline name the same file", text);
	return code;
}

int cli_saves_begin(struct cli_saves **saves, const struct cli_options *o, const struct cli_targets *targets)
{
	struct cli_saves *s = calloc(1, sizeof(*s));
	int code = CLI_CLEAN;

	*saves = s;
	if (s)
		s->list = calloc(o->save.count ? o->save.count : 1, sizeof(*s->list));
	if (!s || !s->list)
		return cli_memory();
	for (size_t i = 0; i < o->save.count && !code; i++) {
		struct cli_save *save = &s->list[i];
		const char *file;
		code = cli_saves_parse(o->save.items[i], &save->printer, &file);
		if (!code)
			code = save_check(o, targets, o->save.items[i], file, i);
		if (!code)
			code = cli_file_begin(&save->file, file);
		if (code)
			break;
		s->count++;
		save->library = o->library;
		save->library.max_findings = cli_saves_findings(o, save->printer);
		save->run = (struct report_run){
			.out = save->file.stream, .verbose = o->verbose, .fail_on = o->fail_on, .options = &save->library
		};
		if (save->printer->begin)
			save->printer->begin(&save->run);
	}
	return code;
}

void cli_print_entry(struct report_run *run, const struct report_printer *printer, size_t kept, const struct report_entry *entry)
{
	struct report_entry shown = *entry;
	struct tracemend_report *copy = NULL;
	size_t max = run->options->max_findings;

	if (entry->report && max && (!kept || kept > max)) {
		copy = tracemend_report_select(entry->report, max, NULL, NULL, NULL);
		run->failed = run->failed || !copy;
		shown.report = copy ? copy : entry->report;
	}
	if (max && !(kept && kept <= max))
		shown.more = NULL;
	if (entry->report)
		run->with_errors += tracemend_report_summary(entry->report)->errors > 0;
	run->incomplete += !entry->report || !tracemend_report_summary(entry->report)->complete;
	printer->entry(run, &shown);
	run->printed++;
	tracemend_report_free(copy);
}

void cli_say_passed_over(const struct cli_options *o, size_t passed_over)
{
	char count[64];

	if (passed_over && !o->quiet && strcmp(o->format, "text") != 0 && strcmp(o->format, "concise") != 0)
		cli_error("%s passed over", text_count(count, passed_over, "other file"));
}

void cli_saves_entry(struct cli_saves *s, size_t kept, const struct report_entry *entry)
{
	for (size_t i = 0; i < s->count; i++)
		cli_print_entry(&s->list[i].run, s->list[i].printer, kept, entry);
}

int cli_saves_end(struct cli_saves *s, size_t passed_over, bool good)
{
	int code = CLI_CLEAN;

	for (size_t i = 0; s && i < s->count; i++) {
		struct cli_save *save = &s->list[i];
		save->run.passed_over = passed_over;
		save->run.stopped = cli_signals_caught();
		if (save->printer->end)
			save->printer->end(&save->run);
		if (!good || save->run.failed)
			cli_file_abandon(&save->file);
		else if (!cli_file_flush(&save->file) || !cli_file_commit(&save->file))
			code = CLI_IO;
		if (save->run.failed)
			code = cli_memory();
	}
	if (s)
		free(s->list);
	free(s);
	return code;
}
