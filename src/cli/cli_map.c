/* Damage maps: what reports in HTML are given besides findings. */
#include <string.h>

#include "cli/cli.h"
#include "report/report.h"
#include "report/report_map.h"

bool cli_map_wanted(const struct cli_options *o)
{
	const struct report_printer *printer = report_printer_find(o->format);
	bool wanted = printer && printer->map;
	const char *file;

	for (size_t i = 0; i < o->save.count && !wanted; i++)
		wanted = !cli_saves_parse(o->save.items[i], &printer, &file) && printer->map;
	return wanted;
}

struct tracemend_report *cli_map_check(struct tracemend_input *input, const struct tracemend_repair *repair,
				       const struct tracemend_options *library, struct report_map **map,
				       struct tracemend_error *error)
{
	struct tracemend_options own = *library;

	*map = report_map_new(input);
	if (*map) {
		report_map_listen(*map, &own);
		if (repair)
			report_map_repair(*map, repair);
	}
	struct tracemend_report *report = tracemend_check(input, &own, error);
	if (*map)
		report_map_settle(*map);
	return report;
}

int cli_page_fill(struct cli_page *p, struct tracemend_input *input, const struct tracemend_options *library)
{
	struct tracemend_error error = { 0 };
	struct tracemend_report *report = cli_map_check(input, p->repair, library, &p->map, &error);

	if (!report)
		return cli_fail(&error);
	tracemend_report_free(report);
	return p->map && !p->map->failed ? CLI_CLEAN : cli_memory();
}

int cli_page_write(struct cli_page *p, struct cli_file *file, const char *path)
{
	static const struct tracemend_error none = { .status = TM_OK };
	const struct tracemend_options shown = { .max_findings = CLI_FINDINGS_LISTED };
	char text[CLI_TEXT_MAX];

	int code = cli_file_begin(file, path);
	if (code)
		return code;
	struct report_run run = { .out = file->stream, .fail_on = TM_ERROR, .options = &shown };
	struct report_entry entry = { .path = p->path,
				      .shown = cli_show(text, p->path),
				      .report = tracemend_repair_report(p->repair),
				      .error = &none,
				      .map = p->map,
				      .repair = p->repair };
	report_html.begin(&run);
	cli_print_entry(&run, &report_html, 0, &entry);
	report_html.end(&run);
	if (run.failed) {
		cli_file_abandon(file);
		return cli_memory();
	}
	return cli_file_flush(file) ? CLI_CLEAN : CLI_IO;
}

void cli_page_free(struct cli_page *p)
{
	report_map_free(p->map);
	p->map = NULL;
}
