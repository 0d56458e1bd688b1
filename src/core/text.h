/* Bounded text building, and making bytes of the input safe to show. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of input that text_quote() shows at most. */
#define TEXT_QUOTE_INPUT 64
#define TEXT_QUOTE_SIZE (TEXT_QUOTE_INPUT * 4 + 8)

/* Length of the longest prefix that is valid UTF-8 (RFC 3629: no surrogates, nothing beyond U+10FFFF, no overlong
 * forms). Equal to length when all of it is valid. */
size_t utf8_valid_prefix(const void *data, size_t length);
/* Same, and false also for NUL. Fast path for ASCII. */
static inline bool utf8_is_valid(const void *data, size_t length)
{
	return utf8_valid_prefix(data, length) == length;
}

/* Writes input bytes as they can be shown: printable UTF-8 stays, all else becomes \xNN, and what is longer than
 * TEXT_QUOTE_INPUT ends in "...". No quotes are put around it. Returns out. */
const char *text_quote(char out[TEXT_QUOTE_SIZE], const void *data, size_t length);

/* Escapes in place of copying: writes the NUL-terminated text to out (size bytes, always terminated) with control
 * characters, C1, bidirectional overrides and invalid UTF-8 as \xNN. Cuts with "..." where it does not fit. */
void text_sanitise(char *out, size_t size, const char *text);
/* A file name that can be shown and told back: like text_sanitise(), and a backslash is \x5c. malloc()ed, or NULL. */
char *text_name(const char *name);
/* vsnprintf followed by text_sanitise. Locale-independent. */
void text_format(char *out, size_t size, const char *format, va_list arguments) __attribute__((format(printf, 3, 0)));

/* Strict decimal: digits only, no sign, no blanks, at most UINT64_MAX. */
bool text_parse_u64(const char *text, size_t length, uint64_t *value);
/* Strict hexadecimal without prefix: 1 to 16 digits. */
bool text_parse_hex(const char *text, size_t length, uint64_t *value);

/* Two lower-case digits a byte, and a terminator: out holds 2 * length + 1. */
void text_hex(char *out, const uint8_t *data, size_t length);

#endif
