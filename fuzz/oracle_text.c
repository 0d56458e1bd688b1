/* Messages of the oracle, and the texts that it compares. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "oracle_parts.h"

void oracle_broken(const char *promise, const char *format, ...)
{
	va_list arguments;
	fprintf(stderr, "oracle: %s broken: ", promise);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

void oracle_text_add(struct oracle_text *t, const char *format, ...)
{
	va_list arguments;
	for (;;) {
		size_t room = t->capacity - t->size;
		va_start(arguments, format);
		int n = vsnprintf(t->data ? t->data + t->size : NULL, room, format, arguments);
		va_end(arguments);
		if (n < 0)
			abort();
		if ((size_t)n < room) {
			t->size += (size_t)n;
			return;
		}
		t->capacity = t->capacity * 2 + (size_t)n + 256;
		t->data = realloc(t->data, t->capacity);
		if (!t->data)
			abort();
	}
}

/* Literals of a plan may be as long as a block. */
void oracle_text_hex(struct oracle_text *t, const uint8_t *data, uint64_t length)
{
	char shown[129];
	for (uint64_t i = 0, n; i < length; i += n) {
		n = length - i < sizeof(shown) / 2 ? length - i : sizeof(shown) / 2;
		text_hex(shown, data + i, (size_t)n);
		oracle_text_add(t, "%s", shown);
	}
}

void oracle_text_free(struct oracle_text *t)
{
	free(t->data);
	*t = (struct oracle_text){ 0 };
}

/* Aborts with the first line that differs. */
void oracle_texts_agree(const char *promise, const char *what, const struct oracle_text *a, const struct oracle_text *b)
{
	if (a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size)))
		return;
	const char *p = a->data ? a->data : "", *q = b->data ? b->data : "";
	while (*p || *q) {
		size_t m = strcspn(p, "\n"), n = strcspn(q, "\n");
		if (m != n || memcmp(p, q, m) != 0)
			oracle_broken(promise, "%s:\n  one    %.*s\n  other  %.*s", what, (int)m, p, (int)n, q);
		p += m + (p[m] == '\n');
		q += n + (q[n] == '\n');
	}
	oracle_broken(promise, "%s", what);
}

void oracle_text_is_sane(const char *what, const char *text)
{
	if (!text)
		oracle_broken("P7", "%s is NULL", what);
	size_t n = strlen(text);
	if (utf8_valid_prefix(text, n) != n)
		oracle_broken("P7", "%s is not valid UTF-8", what);
	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)text[i];
		if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0))
			oracle_broken("P7", "%s has the control character 0x%02x: %s", what, byte, text);
	}
}
