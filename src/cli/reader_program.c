/* Which of the words of a command is the program that is tested. */
#include <ctype.h>
#include <string.h>

#include "cli/reader.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether the name is one of the words, with or without a version behind it: "python3.11". */
static bool name_is(const char *name, const char *const *words)
{
	for (; *words; words++) {
		size_t length = strlen(*words);
		if (!strncmp(name, *words, length) && !name[length + strspn(name + length, "0123456789.-")])
			return true;
	}
	return false;
}

/* Index of the next argument that may be a program or a script: no option, number, setting or capture. */
static size_t argument_next(const struct cli_list *line, size_t at)
{
	for (at++; at < line->count; at++) {
		const char *text = line->items[at];
		if (*text != '-' && !isdigit((unsigned char)*text) && !strchr(text, '=') && !strstr(text, "{}"))
			return at;
	}
	return line->count;
}

const char *reader_program(const struct cli_list *line, bool *script)
{
	static const char *const wrappers[] = { "env", "timeout", "nice", "stdbuf", "setarch", "nohup", "ionice", NULL };
	static const char *const interpreters[] = { "python", "pypy", "node", "java", "ruby", "perl",	  "sh",	    "bash",
						    "dash",   "deno", "go",   "php",  "lua",  "wasmtime", "wasmer", NULL };
	size_t at = 0, next;

	while (name_is(base_name(line->items[at]), wrappers) && (next = argument_next(line, at)) < line->count)
		at = next;
	*script = name_is(base_name(line->items[at]), interpreters) && (next = argument_next(line, at)) < line->count;
	return line->items[*script ? next : at];
}
