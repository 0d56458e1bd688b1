/* The hex rows of a finding: the bytes of the file around it, sixteen a row, and a mark under the field. */
#include "report/report.h"

#include <string.h>

#define ROW 16u

/* Whether the byte at that offset of the file is part of the field. */
static bool hex_is_field(const struct tracemend_finding *f, uint64_t offset)
{
	return offset >= f->field_offset && offset - f->field_offset < f->field_length;
}

/* Whether a byte is shown: those of the finding and of its field; where something is missing, those around it. */
static bool hex_is_shown(const struct tracemend_finding *f, uint64_t offset)
{
	if (offset < f->context_offset || offset - f->context_offset >= f->context_length)
		return false;
	return !f->length || (offset >= f->offset && offset - f->offset < f->length) || hex_is_field(f, offset);
}

/* Whether the byte is part of the context of the finding. */
static bool hex_is_known(const struct tracemend_finding *f, uint64_t offset)
{
	return offset >= f->context_offset && offset - f->context_offset < f->context_length;
}

static uint8_t hex_byte(const struct tracemend_finding *f, uint64_t offset)
{
	return f->context[offset - f->context_offset];
}

static void hex_row(FILE *out, const struct tracemend_finding *f, uint64_t row, int width, bool color, report_put put)
{
	fprintf(out, "  %0*llx  ", width, (unsigned long long)row);
	for (uint64_t at = row; at < row + ROW; at++) {
		bool marked = color && hex_is_shown(f, at) && hex_is_field(f, at);
		if (hex_is_shown(f, at))
			fprintf(out, "%s%02x%s ", marked ? "\033[1;31m" : "", hex_byte(f, at), marked ? "\033[0m" : "");
		else
			fputs("   ", out);
	}
	fputs("  ", out);
	uint64_t end = row + ROW;
	while (end > row && !hex_is_shown(f, end - 1))
		end--; /* no trailing blanks */
	for (uint64_t at = row; at < end; at++) {
		uint8_t byte = hex_is_shown(f, at) ? hex_byte(f, at) : ' ';
		char text[2] = ".";
		if (byte >= 0x20 && byte < 0x7f)
			text[0] = (char)byte;
		put(out, text);
	}
	fputc('\n', out);
}

/* The mark under the bytes of the field in a row; the field's text follows the last of them. */
static void hex_mark(FILE *out, const struct tracemend_finding *f, uint64_t row, int width, bool color, report_put put)
{
	uint64_t end = f->field_offset + f->field_length;
	bool begun = false;

	fprintf(out, "  %*s  ", width, "");
	for (uint64_t at = row; at < row + ROW && at < end; at++) {
		bool under = hex_is_field(f, at) && hex_is_shown(f, at);
		if (under && !begun && color)
			fputs("\033[1;31m", out);
		/* The blank between two marked bytes is marked too. */
		fprintf(out, "%s%s", begun ? "^" : at > row ? " " : "", under ? "^^" : "  ");
		begun = begun || under;
	}
	if (color)
		fputs("\033[0m", out);
	if (end <= row + ROW || !hex_is_shown(f, row + ROW)) {
		fputc(' ', out);
		put(out, f->field);
	}
	fputc('\n', out);
}

/* The range of the rows: from the start of the finding to the last byte of its field, or, without a field, two rows at most. */
static void hex_extent(const struct tracemend_finding *f, bool field, uint64_t *first, uint64_t *last)
{
	uint64_t known_end = f->context_offset + f->context_length;

	*first = hex_is_known(f, f->offset) ? f->offset : field ? f->field_offset : f->context_offset;
	*last = *first;
	if (field) {
		*first = f->field_offset < *first ? f->field_offset : *first;
		*last = f->field_length > known_end - f->field_offset ? known_end - 1 : f->field_offset + f->field_length - 1;
	} else if (f->length) {
		*last = f->length > known_end - *first ? known_end - 1 : *first + f->length - 1;
		if (*last - *first >= 2 * ROW)
			*last = *first + 2 * ROW - 1;
	}
	*first -= *first % ROW;
}

void report_hex(FILE *out, const struct tracemend_finding *f, bool color, report_put put)
{
	uint64_t first, last;

	if (!f->context_length || f->context_length > TRACEMEND_CONTEXT || f->context_offset > UINT64_MAX - 2 * TRACEMEND_CONTEXT)
		return;
	bool field = f->field_length && *f->field && hex_is_known(f, f->field_offset);
	hex_extent(f, field, &first, &last);
	int width = snprintf(NULL, 0, "%llx", (unsigned long long)last);
	width = width < 4 ? 4 : width;
	for (uint64_t row = first; row <= last; row += ROW) {
		hex_row(out, f, row, width, color, put);
		uint64_t begin = f->field_offset > row ? f->field_offset : row;
		if (field && begin < row + ROW && hex_is_field(f, begin) && hex_is_known(f, begin))
			hex_mark(out, f, row, width, color, put);
	}
}
