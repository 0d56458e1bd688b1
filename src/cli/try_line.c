/* Lines of what a reader wrote, in a form that is the same in each run. */
#include <stdlib.h>
#include <string.h>

#include "cli/try.h"

/* Replaces each `from` by `to`, which is not longer. */
static void try_replace(char *line, const char *from, const char *to)
{
	size_t length = strlen(from), room = strlen(to);

	for (char *at = line; length && (at = strstr(at, from)); at += room) {
		memcpy(at, to, room);
		memmove(at + room, at + length, strlen(at + length) + 1);
	}
}

/* A line, escaped, with {} for the path of the capture and without the name of the scratch directory, which differ between runs.
 * NULL: it is empty, or memory ran out. */
static char *try_line(const struct try *t, const char *path, const char *from, size_t length)
{
	if (length >= CHILD_MESSAGES_MAX)
		length = CHILD_MESSAGES_MAX - 1;
	char *line = length ? strndup(from, length) : NULL, *shown = line ? malloc(4 * length + 1) : NULL;
	if (shown) {
		size_t scratch = strlen(t->scratch);
		if (strlen(path) > 2)
			try_replace(line, path, "{}");
		for (char *at = line; (at = strstr(at, t->scratch));) {
			char *end = at + scratch; /* and the name of the slot: "/1/" */
			end += *end == '/';
			end += strspn(end, "0123456789");
			end += *end == '/';
			memmove(at, end, strlen(end) + 1);
		}
		tracemend_escape(shown, 4 * length + 1, line);
	}
	free(line);
	return shown;
}

char *try_first_line(const struct try *t, const char *path, const char *messages)
{
	messages += strspn(messages, " \t\r\n");
	return try_line(t, path, messages, strcspn(messages, "\r\n"));
}

char *try_last_line(const struct try *t, const char *path, const char *messages)
{
	size_t end = strlen(messages);

	while (end && strchr(" \t\r\n", messages[end - 1]))
		end--;
	size_t from = end;
	while (from && !strchr("\r\n", messages[from - 1]))
		from--;
	return try_line(t, path, messages + from, end - from);
}
