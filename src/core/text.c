#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"

/* Length of the UTF-8 sequence at p (n bytes left), or 0 when it is not one (RFC 3629, section 4). */
static size_t utf8_sequence(const uint8_t *p, size_t n)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t length;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		length = 2;
	} else if (p[0] >= 0xe0 && p[0] <= 0xef) {
		length = 3;
		if (p[0] == 0xe0)
			low = 0xa0; /* overlong */
		else if (p[0] == 0xed)
			high = 0x9f; /* surrogates */
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		length = 4;
		if (p[0] == 0xf0)
			low = 0x90; /* overlong */
		else if (p[0] == 0xf4)
			high = 0x8f; /* beyond U+10FFFF */
	} else {
		return 0;
	}
	if (length > n || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

size_t utf8_valid_prefix(const void *data, size_t length)
{
	const uint8_t *p = data;
	size_t i = 0;

	while (i < length) {
		uint64_t word;
		while (length - i >= sizeof(word)) {
			memcpy(&word, p + i, sizeof(word));
			if (word & UINT64_C(0x8080808080808080))
				break;
			i += sizeof(word);
		}
		if (i == length)
			break;
		size_t n = utf8_sequence(p + i, length - i);
		if (!n)
			return i;
		i += n;
	}
	return length;
}

/* Code points, in ascending order, that are invisible, end a line, or change the direction of text. They are shown as escapes. */
static const struct {
	uint32_t first, last;
} unprintable[] = {
	{ 0x00, 0x1f },	      /* C0 controls */
	{ 0x7f, 0x9f },	      /* delete, C1 controls */
	{ 0xad, 0xad },	      /* soft hyphen */
	{ 0x34f, 0x34f },     /* combining grapheme joiner */
	{ 0x61c, 0x61c },     /* a bidirectional mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* inherent vowels of Khmer */
	{ 0x180b, 0x180f },   /* Mongolian variation selectors and vowel separator */
	{ 0x200b, 0x200f },   /* zero width, bidirectional marks */
	{ 0x2028, 0x202e },   /* line and paragraph separators, bidirectional overrides */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, bidirectional isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* Hangul filler, half width */
	{ 0xfff0, 0xffff },   /* specials */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical beams and slurs */
	{ 0xe0000, 0xe0fff }, /* tags, variation selectors */
};

/* Whether the valid sequence of n bytes can be shown unescaped. */
static bool utf8_is_printable(const uint8_t *p, size_t n)
{
	uint32_t point = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		point = point << 6 | (p[i] & 0x3fu);
	for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]) && point >= unprintable[i].first; i++)
		if (point <= unprintable[i].last)
			return false;
	return true;
}

/* Copies up to length bytes to out, escaped, as long as 4 bytes are left there. Returns how many bytes of the input were copied.
 * reversible: a backslash is escaped as well, so that \xNN always stands for a byte. */
static size_t text_escape(char *out, size_t size, const uint8_t *p, size_t length, bool reversible)
{
	static const char hex[] = "0123456789abcdef";
	size_t used = 0, at = 0;

	while (used < length) {
		size_t n = utf8_sequence(p + used, length - used);
		/* CI systems obey "##[command]" and "##vso[command]" anywhere in a line. */
		bool command = p[used] == '#' && used + 1 < length && p[used + 1] == '#';
		if (n && utf8_is_printable(p + used, n) && !command && !(reversible && p[used] == '\\')) {
			if (size - at < n + 4)
				break;
			memcpy(out + at, p + used, n);
			at += n;
		} else {
			n = 1;
			if (size - at < 8)
				break;
			out[at++] = '\\';
			out[at++] = 'x';
			out[at++] = hex[p[used] >> 4];
			out[at++] = hex[p[used] & 15];
		}
		used += n;
	}
	if (used < length) {
		memcpy(out + at, "...", 3);
		at += 3;
	}
	out[at] = '\0';
	return used;
}

const char *text_quote(char out[TEXT_QUOTE_SIZE], const void *data, size_t length)
{
	const uint8_t *p = data;
	size_t shown = length;

	if (shown > TEXT_QUOTE_INPUT) {
		shown = TEXT_QUOTE_INPUT;
		while (shown && (p[shown] & 0xc0) == 0x80 && shown > TEXT_QUOTE_INPUT - 3)
			shown--; /* not inside a character */
	}
	(void)text_escape(out, TEXT_QUOTE_SIZE, p, shown, false);
	if (shown < length) {
		size_t at = strlen(out);
		if (at + 4 <= TEXT_QUOTE_SIZE)
			memcpy(out + at, "...", 4);
	}
	return out;
}

void text_sanitise(char *out, size_t size, const char *text)
{
	if (size < 8) {
		if (size)
			out[0] = '\0';
		return;
	}
	/* CI systems obey "::command" at the head of a line. */
	size_t blanks = strspn(text, " ");
	if (!strncmp(text + blanks, "::", 2) && size - blanks > 16 && blanks < size) {
		memset(out, ' ', blanks);
		memcpy(out + blanks, "\\x3a", 4);
		out += blanks + 4;
		size -= blanks + 4;
		text += blanks + 1;
	}
	(void)text_escape(out, size, (const uint8_t *)text, strlen(text), false);
}

char *text_name(const char *name)
{
	size_t length = strlen(name), room = 4 * length + 8;
	char *copy = malloc(room);

	if (copy)
		(void)text_escape(copy, room, (const uint8_t *)name, length, true);
	return copy;
}

void text_format(char *out, size_t size, const char *format, va_list arguments)
{
	char raw[2 * FINDING_TEXT_MAX];
	int n = vsnprintf(raw, sizeof(raw), format, arguments);
	text_sanitise(out, size, n < 0 ? "" : raw);
}

bool text_parse_u64(const char *text, size_t length, uint64_t *value)
{
	uint64_t v = 0;
	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) || __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
			return false;
	}
	*value = v;
	return true;
}

bool text_parse_hex(const char *text, size_t length, uint64_t *value)
{
	uint64_t v = 0;
	if (!length || length > 16)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		unsigned digit;
		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'F')
			digit = (unsigned)(c - 'A') + 10;
		else
			return false;
		v = v << 4 | digit;
	}
	*value = v;
	return true;
}

void text_hex(char *out, const uint8_t *data, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		*out++ = digits[data[i] >> 4];
		*out++ = digits[data[i] & 15];
	}
	*out = '\0';
}

const char *text_number(char out[32], uint64_t n)
{
	char digits[24];
	size_t count = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

const char *text_count(char out[TEXT_COUNT_SIZE], uint64_t n, const char *noun)
{
	char number[32];

	snprintf(out, TEXT_COUNT_SIZE, "%s %s%s", text_number(number, n), noun, n == 1 ? "" : "s");
	return out;
}

uint64_t text_hash(const void *bytes, size_t length)
{
	return text_hash_more(TEXT_HASH_NONE, bytes, length);
}

uint64_t text_hash_more(uint64_t hash, const void *bytes, size_t length)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

void *text_last_byte(const void *bytes, int c, size_t size)
{
	const unsigned char *p = bytes;

	while (size--)
		if (p[size] == (unsigned char)c)
			return (void *)(uintptr_t)(p + size);
	return NULL;
}
