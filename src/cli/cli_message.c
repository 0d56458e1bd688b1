/* Messages: everything that is not part of the report. It is printed to standard error, escaped. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report.h"

/* Where this thread prints; NULL: the standard streams. */
static _Thread_local FILE *own_result, *own_talk;

void cli_redirect(FILE *result, FILE *talk)
{
	own_result = result;
	own_talk = talk;
}

FILE *cli_result(void)
{
	return own_result ? own_result : stdout;
}

FILE *cli_talk(void)
{
	return own_talk ? own_talk : stderr;
}

static void cli_verror(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static void cli_verror(const char *format, va_list arguments)
{
	char raw[CLI_TEXT_MAX / 4], shown[CLI_TEXT_MAX];

	(void)vsnprintf(raw, sizeof(raw), format, arguments);
	fprintf(cli_talk(), "tracemend: %s\n", cli_show(shown, raw));
}

void cli_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cli_verror(format, arguments);
	va_end(arguments);
}

int cli_usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cli_verror(format, arguments);
	va_end(arguments);
	return CLI_USAGE;
}

int cli_memory(void)
{
	cli_error("out of memory");
	return CLI_LIMIT;
}

const char *cli_show(char out[CLI_TEXT_MAX], const char *text)
{
	tracemend_escape(out, CLI_TEXT_MAX, text);
	return out;
}

int cli_exit_code(enum tracemend_status status)
{
	switch (status) {
	case TM_OK:
		return CLI_CLEAN;
	case TM_USAGE:
		return CLI_USAGE;
	case TM_IO:
		return CLI_IO;
	case TM_NO_MEMORY:
	case TM_LIMIT:
		return CLI_LIMIT;
	case TM_UNRECOGNISED:
	case TM_NOTHING:
		return CLI_NOTHING;
	case TM_CANCELLED:
		return CLI_SIGNAL + cli_signals_caught();
	case TM_BUG:
		break;
	}
	return CLI_BUG;
}

int cli_fail(const struct tracemend_error *error)
{
	cli_error("%s%s", error->status == TM_BUG ? "internal check failed; nothing was written: " : "", error->message);
	return cli_exit_code(error->status);
}

int cli_worse(int a, int b)
{
	static const int order[] = { CLI_CLEAN, CLI_FINDINGS, CLI_LOST, CLI_NOTHING, CLI_USAGE, CLI_LIMIT, CLI_IO, CLI_BUG };
	size_t rank_a = sizeof(order) / sizeof(order[0]), rank_b = rank_a; /* a signal has priority over all */

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (order[i] == a)
			rank_a = i;
		if (order[i] == b)
			rank_b = i;
	}
	return rank_a >= rank_b ? a : b;
}

void cli_wrap(FILE *out, const char *label, unsigned indent, const char *text)
{
	const size_t width = 100;
	size_t column = indent;
	bool first = true;

	fprintf(out, "%-*s", (int)indent, label);
	while (*text) {
		size_t word = strcspn(text, " ");
		if (!first && column + 1 + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, word, out);
		column += word;
		text += word;
		text += strspn(text, " ");
		first = false;
	}
	fputc('\n', out);
}

bool cli_colored(const struct cli_options *o, FILE *stream)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (o->color != CLI_COLOR_AUTO)
		return o->color == CLI_COLOR_ALWAYS;
	return !(no_color && *no_color) && !(term && !strcmp(term, "dumb")) && isatty(fileno(stream));
}
