/* The lines of NAME.sym. */
#include "formats/uftrace/decode/uftrace_sym_line.h"

#include <string.h>

#include "core/text.h"

bool uftrace_sym_line_read(const char *text, size_t length, struct uftrace_sym_line *out)
{
	size_t n = uftrace_hex_digits(text, length);

	if (!n || n > 16 || n + 3 > length || text[n] != ' ' || !text_parse_hex(text, n, &out->address))
		return false;
	size_t at = n + 1;
	out->sized = text[at] >= '0' && text[at] <= '9'; /* as the loader decides */
	out->size = 0;
	if (out->sized) {
		size_t k = uftrace_hex_digits(text + at, length - at);
		if (k > 16 || at + k >= length || text[at + k] != ' ' || !text_parse_hex(text + at, k, &out->size))
			return false;
		at += k + 1;
	}
	if (at + 2 > length || text[at + 1] != ' ')
		return false;
	out->type = text[at];
	out->name = (struct uftrace_str){ text + at + 2, length - at - 2 };
	const char *tab = memchr(out->name.text, '\t', out->name.length);
	if (tab)
		out->name.length = (size_t)(tab - out->name.text);
	return true;
}
