#include "core/path.h"

#include <string.h>

const char *path_last(const char *path, size_t *length)
{
	size_t end = strlen(path);

	while (end > 1 && path[end - 1] == '/')
		end--;
	size_t start = end;
	while (start && path[start - 1] != '/')
		start--;
	*length = end - start;
	return path + start;
}

char *path_parent(const char *path)
{
	size_t length;
	size_t before = (size_t)(path_last(path, &length) - path);

	while (before > 1 && path[before - 1] == '/')
		before--;
	return before ? strndup(path, before) : strdup(".");
}
