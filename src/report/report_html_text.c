/* Text, as HTML and as JSON within it. */
#include "report/report_html.h"

#include <string.h>

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

void html_json(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (strchr("<>&\"'\\", *text) || (unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

void html_number(FILE *out, uint64_t n)
{
	char number[32];

	fputs(text_number(number, n), out);
}

void html_label(FILE *out, const char *what, size_t ordinal)
{
	fprintf(out, " aria-label=\"%s", what);
	if (ordinal)
		fprintf(out, ", capture %zu", ordinal + 1);
	fputc('"', out);
}
