/* The printers as functions of the library. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

const char *tracemend_print_format(size_t index)
{
	for (size_t i = 0; i <= index; i++)
		if (!report_printers[i])
			return NULL;
	return report_printers[index]->name;
}

/* The first bytes of what the caller gives, of the size that it knows; 0 is that of version 0.1.0, which is all there is. */
static struct tracemend_print print_wanted(const struct tracemend_print *given)
{
	struct tracemend_print own = { .fail_on = TM_ERROR };

	if (given)
		memcpy(&own, given, given->size && given->size < sizeof(own) ? given->size : sizeof(own));
	return own;
}

/* The name without its escapes is not known here: the escaped one is shown, and used where a printer wants the raw bytes. */
static void print_entry(struct report_run *run, const struct report_printer *printer, const struct tracemend_report *report)
{
	const struct tracemend_summary *s = tracemend_report_summary(report);
	struct tracemend_error error = { .status = s->complete ? TM_OK : TM_LIMIT };
	size_t length = strlen(s->incomplete) < sizeof(error.message) ? strlen(s->incomplete) : sizeof(error.message) - 1;

	memcpy(error.message, s->incomplete, length);
	run->with_errors += s->errors > 0;
	run->incomplete += !s->complete;
	printer->entry(run, &(struct report_entry){ .path = s->path, .shown = s->path, .report = report, .error = &error });
	run->printed++;
}

enum tracemend_status tracemend_print(FILE *out, const struct tracemend_report *const *reports, size_t count,
				      const struct tracemend_print *print, struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	struct tracemend_print own = print_wanted(print);
	const struct report_printer *printer = own.format ? report_printer_find(own.format) : report_printers[0];

	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	if (!out || (!reports && count))
		return fault_set(error, TM_USAGE, "%s is NULL", out ? "reports" : "out");
	if (!printer)
		return fault_set(error, TM_USAGE, "unknown report format: %s", own.format);
	struct report_run run = { .out = out,
				  .color = own.color,
				  .quiet = own.quiet,
				  .verbose = own.verbose,
				  .fail_on = own.fail_on,
				  .options = own.options };
	if (printer->begin)
		printer->begin(&run);
	for (size_t i = 0; i < count; i++)
		if (reports[i])
			print_entry(&run, printer, reports[i]);
	if (printer->end)
		printer->end(&run);
	if (run.failed)
		return fault_memory(error);
	return ferror(out) ? fault_set(error, TM_IO, "the report could not be written") : TM_OK;
}

enum tracemend_status tracemend_print_manifest(FILE *out, struct tracemend_repair *repair, struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };

	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	if (!out)
		return fault_set(error, TM_USAGE, "out is NULL");
	if (tracemend_repair_digest(repair, error) != TM_OK)
		return error->status;
	if (!report_manifest(out, repair))
		return fault_memory(error);
	return ferror(out) ? fault_set(error, TM_IO, "the manifest could not be written") : TM_OK;
}

/* A stream into memory. */
struct print_text {
	FILE *stream;
	char *text;
	size_t size;
};

static bool print_text_open(struct print_text *t, struct tracemend_error *error)
{
	*t = (struct print_text){ 0 };
	t->stream = open_memstream(&t->text, &t->size);
	if (!t->stream)
		(void)fault_memory(error);
	return t->stream != NULL;
}

static char *print_text_close(struct print_text *t, enum tracemend_status status, struct tracemend_error *error)
{
	bool closed = fclose(t->stream) == 0;

	if (status == TM_OK && closed)
		return t->text;
	if (status == TM_OK)
		(void)fault_memory(error);
	free(t->text);
	return NULL;
}

char *tracemend_report_text(const struct tracemend_report *report, const struct tracemend_print *print,
			    struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	struct print_text text;

	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	if (!report)
		(void)fault_set(error, TM_USAGE, "report is NULL");
	if (!report || !print_text_open(&text, error))
		return NULL;
	return print_text_close(&text, tracemend_print(text.stream, &report, 1, print, error), error);
}

char *tracemend_manifest_text(struct tracemend_repair *repair, struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	struct print_text text;

	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	if (!print_text_open(&text, error))
		return NULL;
	return print_text_close(&text, tracemend_print_manifest(text.stream, repair, error), error);
}
