/* Counts while the output is read, which is not kept as a whole. A pattern with a group stands for the number in it: "([0-9]+)
 * events"; the numbers of several lines are added. */
#include "cli/child_count.h"

#include <stdlib.h>
#include <string.h>

/* The number at the beginning of a text of so many bytes; of one that is too large, as much as fits. */
static uint64_t count_number(const char *text, size_t length)
{
	uint64_t n = 0;

	for (size_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; i++)
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) || __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return UINT64_MAX;
	return n;
}

static void count_line(struct child_count *c)
{
	regmatch_t at[2] = { 0 };
	uint64_t n = 1;

	c->line[c->length] = '\0';
	c->length = 0;
	if (regexec(c->pattern, c->line, 2, at, 0))
		return;
	if (c->pattern->re_nsub)
		n = at[1].rm_so < 0 ? 0 : count_number(c->line + at[1].rm_so, (size_t)(at[1].rm_eo - at[1].rm_so));
	c->seen = true;
	if (__builtin_add_overflow(c->number, n, &c->number))
		c->number = UINT64_MAX;
}

void child_count_add(struct child_count *c, const char *bytes, size_t length)
{
	for (size_t i = 0; c->pattern && i < length; i++) {
		if (bytes[i] == '\n')
			count_line(c);
		else if (c->length < sizeof(c->line) - 1)
			c->line[c->length++] = bytes[i] ? bytes[i] : ' '; /* a NUL would end the line */
	}
}

void child_count_end(struct child_count *c)
{
	if (c->pattern && c->length)
		count_line(c);
}
