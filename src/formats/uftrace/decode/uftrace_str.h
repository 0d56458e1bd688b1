/* A run of bytes within a text; not terminated. */
#ifndef UFTRACE_STR_H
#define UFTRACE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct uftrace_str {
	const char *text;
	size_t length;
};

bool uftrace_str_is(struct uftrace_str str, const char *text);
bool uftrace_str_begins(struct uftrace_str str, const char *text);
bool uftrace_str_equal(struct uftrace_str a, struct uftrace_str b);
/* As strcmp(text, str), of bytes that may hold NULs. */
int uftrace_str_order(const char *text, struct uftrace_str str);
/* Whether it is not empty and all of it are hexadecimal digits. */
bool uftrace_str_is_hex(struct uftrace_str str);
/* Hexadecimal digits at the beginning of text. */
size_t uftrace_hex_digits(const char *text, size_t length);
/* The length of a line without the CRs at its end. */
size_t uftrace_line_length(const char *text, size_t length);
/* Takes the first of the parts that a separator stands between from *rest, and leaves what is behind it. False: *rest is empty. */
bool uftrace_str_next(struct uftrace_str *rest, char separator, struct uftrace_str *part);
/* What is behind the last slash. */
struct uftrace_str uftrace_basename(struct uftrace_str path);

/* Whether it is UTF-8 without control characters: what no writer of names and paths departs from. */
bool uftrace_str_is_text(struct uftrace_str str);

#endif
