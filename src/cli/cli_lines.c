/* Files of JSON objects, one a line: reports of other runs, and baselines. They come from other machines: no line is trusted. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* No line of a report is longer: its texts are bounded, but for the path of the input. */
#define LINE_MAX_BYTES ((size_t)1 << 18)

static void lines_fault(const struct cli_lines *l, enum tracemend_status status, struct tracemend_error *error, const char *format,
			va_list arguments) __attribute__((format(printf, 4, 0)));

static void lines_fault(const struct cli_lines *l, enum tracemend_status status, struct tracemend_error *error, const char *format,
			va_list arguments)
{
	char why[sizeof(error->message)], raw[CLI_TEXT_MAX / 4];

	(void)vsnprintf(why, sizeof(why), format, arguments);
	if (l->number)
		(void)snprintf(raw, sizeof(raw), "%s:%llu: %s", l->path, (unsigned long long)l->number, why);
	else
		(void)snprintf(raw, sizeof(raw), "%s: %s", l->path, why);
	error->status = status;
	tracemend_escape(error->message, sizeof(error->message), raw);
}

bool cli_lines_fail(const struct cli_lines *l, enum tracemend_status status, struct tracemend_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	lines_fault(l, status, error, format, arguments);
	va_end(arguments);
	return false;
}

bool cli_lines_open(struct cli_lines *l, const char *path, struct tracemend_error *error)
{
	*error = (struct tracemend_error){ 0 };
	*l = (struct cli_lines){ .path = path, .text = malloc(LINE_MAX_BYTES) };
	if (!l->text)
		return cli_lines_fail(l, TM_NO_MEMORY, error, "out of memory");
	l->stream = strcmp(path, "-") ? fopen(path, "re") : stdin;
	return l->stream || cli_lines_fail(l, TM_IO, error, "cannot be opened: %s", strerror(errno));
}

void cli_lines_close(struct cli_lines *l)
{
	if (l->stream && l->stream != stdin)
		(void)fclose(l->stream);
	free(l->text);
	*l = (struct cli_lines){ 0 };
}

bool cli_lines_next(struct cli_lines *l, json_t **object, struct tracemend_error *error)
{
	json_error_t why;
	size_t length = 0;
	int c;

	*object = NULL;
	while ((c = getc_unlocked(l->stream)) != EOF && c != '\n') {
		if (length == LINE_MAX_BYTES) {
			l->number++;
			return cli_lines_fail(l, TM_UNRECOGNISED, error, "damaged: the line is too long for a report");
		}
		l->text[length++] = (char)c;
	}
	if (c == EOF && ferror(l->stream))
		return cli_lines_fail(l, TM_IO, error, "cannot be read: %s", strerror(errno));
	if (c == EOF && !length)
		return true;
	l->number++;
	if (c == EOF)
		return cli_lines_fail(l, TM_UNRECOGNISED, error, "damaged: the file ends within this line");
	*object = json_loadb(l->text, length, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_object(*object)) {
		json_decref(*object);
		*object = NULL;
		return cli_lines_fail(l, TM_UNRECOGNISED, error, "damaged: the line is no JSON object");
	}
	return true;
}

bool cli_lines_number(const json_t *object, const char *key, uint64_t *value)
{
	const json_t *number = json_object_get(object, key);

	*value = json_is_integer(number) && json_integer_value(number) > 0 ? (uint64_t)json_integer_value(number) : 0;
	return json_is_integer(number) && json_integer_value(number) >= 0;
}

const char *cli_lines_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}
