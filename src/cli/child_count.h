/* The number of records that a program prints: its lines that match a regular expression, or the numbers in them. */
#ifndef CHILD_COUNT_H
#define CHILD_COUNT_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line that are looked at. */
#define CHILD_LINE_MAX 4096u

struct child_count {
	const regex_t *pattern; /* NULL: nothing is counted */
	bool seen;		/* a line matched */
	uint64_t number;
	size_t length; /* of the line so far */
	char line[CHILD_LINE_MAX];
};

/* Takes the next bytes of the output, however it is cut. */
void child_count_add(struct child_count *c, const char *bytes, size_t length);
/* Takes the last line, which may have no LF. */
void child_count_end(struct child_count *c);

#endif
