#include "formats/uftrace/decode/uftrace_str.h"

#include <string.h>

#include "core/text.h"

bool uftrace_str_is(struct uftrace_str str, const char *text)
{
	return str.length == strlen(text) && !memcmp(str.text, text, str.length);
}

bool uftrace_str_begins(struct uftrace_str str, const char *text)
{
	const size_t n = strlen(text);
	return str.length >= n && !memcmp(str.text, text, n);
}

bool uftrace_str_equal(struct uftrace_str a, struct uftrace_str b)
{
	return a.length == b.length && (!a.length || !memcmp(a.text, b.text, a.length));
}

int uftrace_str_order(const char *text, struct uftrace_str str)
{
	const size_t length = strlen(text);
	const int order = str.length ? memcmp(text, str.text, length < str.length ? length : str.length) : 0;

	return order ? order : (length > str.length) - (length < str.length);
}

size_t uftrace_line_length(const char *text, size_t length)
{
	while (length && text[length - 1] == '\r')
		length--;
	return length;
}

bool uftrace_str_next(struct uftrace_str *rest, char separator, struct uftrace_str *part)
{
	const char *end = rest->length ? memchr(rest->text, separator, rest->length) : NULL;

	*part = (struct uftrace_str){ rest->text, end ? (size_t)(end - rest->text) : rest->length };
	if (!rest->length)
		return false;
	size_t taken = part->length + (end ? 1 : 0);
	rest->text += taken;
	rest->length -= taken;
	return true;
}

struct uftrace_str uftrace_basename(struct uftrace_str path)
{
	const char *slash = path.length ? text_last_byte(path.text, '/', path.length) : NULL;

	if (slash) {
		path.length -= (size_t)(slash + 1 - path.text);
		path.text = slash + 1;
	}
	return path;
}

size_t uftrace_hex_digits(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] && strchr("0123456789abcdefABCDEF", text[n]))
		n++;
	return n;
}

bool uftrace_str_is_hex(struct uftrace_str str)
{
	return uftrace_hex_digits(str.text, str.length) == str.length;
}

bool uftrace_str_is_text(struct uftrace_str str)
{
	bool good = true;

	for (size_t i = 0; i < str.length; i++)
		good &= (unsigned char)str.text[i] >= ' ' && str.text[i] != 127;
	return good && utf8_is_valid(str.text, str.length);
}
