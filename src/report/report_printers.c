/* The list of printers. A new printer is added here and declared in report.h. */
#include <string.h>

#include "report/report.h"

const struct report_printer *const report_printers[] = { &report_text,	 &report_concise,      &report_json,  &report_jsonl,
							 &report_sarif,	 &report_sarif_github, &report_junit, &report_github,
							 &report_gitlab, &report_markdown,     &report_html,  NULL };

const struct report_printer *report_printer_find(const char *name)
{
	for (size_t i = 0; report_printers[i]; i++)
		if (!strcmp(report_printers[i]->name, name))
			return report_printers[i];
	return NULL;
}
