/* Bounded building of text, and escaping of bytes of the input. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the input that text_quote() shows at most. */
#define TEXT_QUOTE_INPUT 64
#define TEXT_QUOTE_SIZE (TEXT_QUOTE_INPUT * 4 + 8)

/* Length of the longest prefix that is valid UTF-8 (RFC 3629: no surrogates, nothing beyond U+10FFFF, no overlong
 * forms). Equal to length when all of it is valid. */
size_t utf8_valid_prefix(const void *data, size_t length);
/* Whether all bytes are valid UTF-8 without NUL. With a fast path for ASCII. */
static inline bool utf8_is_valid(const void *data, size_t length)
{
	return utf8_valid_prefix(data, length) == length;
}

/* Writes bytes of the input as they can be shown: printable UTF-8 as it is, other bytes as \xNN; more than TEXT_QUOTE_INPUT bytes
 * end in "...". It puts no quotes around them. Returns out. */
const char *text_quote(char out[TEXT_QUOTE_SIZE], const void *data, size_t length);

/* Writes the NUL-terminated text to out (size bytes, always terminated), with control characters, C1, bidirectional overrides and
 * invalid UTF-8 as \xNN. Text that does not fit ends in "...". */
void text_sanitise(char *out, size_t size, const char *text);
/* An escaped file name from which the bytes can be restored: as text_sanitise(), with a backslash as \x5c. Allocated by malloc(),
 * or NULL. */
char *text_name(const char *name);
/* vsnprintf followed by text_sanitise. Locale-independent. */
void text_format(char *out, size_t size, const char *format, va_list arguments) __attribute__((format(printf, 3, 0)));

/* Strict decimal: digits only, no sign, no blanks, at most UINT64_MAX. */
bool text_parse_u64(const char *text, size_t length, uint64_t *value);
/* Strict hexadecimal without prefix: 1 to 16 digits. */
bool text_parse_hex(const char *text, size_t length, uint64_t *value);

/* Two lower-case digits a byte, and a terminator: out holds 2 * length + 1. */
void text_hex(char *out, const uint8_t *data, size_t length);
/* A number for people: 1,234,567. Returns out. */
const char *text_number(char out[32], uint64_t n);
/* The number and the noun, in the plural unless n is 1: "2,000 events". A noun of at most 31 bytes. Returns out. */
#define TEXT_COUNT_SIZE 64
const char *text_count(char out[TEXT_COUNT_SIZE], uint64_t n, const char *noun);

/* FNV-1a of 64 bits (Fowler, Noll, Vo): the same everywhere, but not safe from who wants two texts of one hash. Of 100 million
 * different texts, two have the same once in 3,700 times. */
#define TEXT_HASH_NONE UINT64_C(0xcbf29ce484222325) /* of no bytes */
uint64_t text_hash(const void *bytes, size_t length);
/* Of bytes that follow those of `hash`. */
uint64_t text_hash_more(uint64_t hash, const void *bytes, size_t length);
/* The last byte c among size bytes, or NULL. */
void *text_last_byte(const void *bytes, int c, size_t size);

#endif
