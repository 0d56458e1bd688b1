/* Which program is tested: its name, version, build id and package. */
#include "cli/reader.h"
#include "cli/try.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define READER_TEXT_MAX 160u

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

const char *reader_program(const struct cli_options *o, bool *script)
{
	static const char *const wrappers[] = { "env", "timeout", "nice", "stdbuf", "setarch", "nohup", "ionice", NULL };
	static const char *const interpreters[] = { "python", "pypy", "node", "java", "ruby", "perl",	  "sh",	    "bash",
						    "dash",   "deno", "go",   "php",  "lua",  "wasmtime", "wasmer", NULL };
	const struct cli_list *line = &o->command_line;
	size_t at = 0, next;

	while (name_is(base_name(line->items[at]), wrappers) && (next = argument_next(line, at)) < line->count)
		at = next;
	*script = name_is(base_name(line->items[at]), interpreters) && (next = argument_next(line, at)) < line->count;
	return line->items[*script ? next : at];
}

/* The value of a line "key value" of what was printed, escaped; "" where there is none. NULL: out of memory. */
static char *answer(const char *output, const char *key)
{
	char value[READER_TEXT_MAX] = "", shown[4 * READER_TEXT_MAX + 1];
	size_t length = strlen(key);

	for (const char *line = output; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, length) && !*value)
			(void)snprintf(value, sizeof(value), "%.*s", (int)strcspn(line + length, "\r\n"), line + length);
	tracemend_escape(shown, sizeof(shown), value);
	return strdup(shown);
}

/* From the first digit on, or from a "v" in front of it, without what stands behind in brackets: "uftrace v0.13 ( x86_64 )". */
static void version_trim(char *text)
{
	size_t from = strcspn(text, "0123456789");
	size_t length = strcspn(text + from, " \t(,;");

	if (!text[from]) {
		*text = '\0';
		return;
	}
	memmove(text, text + from, length);
	text[length] = '\0';
}

bool try_reader_ask(struct try *t)
{
	struct child_result result;
	struct try_reader *r = &t->reader;
	bool script;

	const char *program = reader_program(t->options, &script);
	char shown[4 * READER_TEXT_MAX + 1], name[READER_TEXT_MAX];
	(void)snprintf(name, sizeof(name), "%s", base_name(program));
	tracemend_escape(shown, sizeof(shown), name);
	r->name = strdup(shown);
	reader_run(t->options, READER_ORIGIN, program, &result);
	const char *output = result.end == CHILD_EXITED && result.output ? result.output : "";
	r->version = answer(output, "version ");
	r->build_id = answer(output, "build-id ");
	r->package = answer(output, "package ");
	child_result_free(&result);
	if (r->version)
		version_trim(r->version);
	return r->name && r->version && r->build_id && r->package;
}

void try_reader_free(struct try_reader *reader)
{
	free(reader->name);
	free(reader->version);
	free(reader->build_id);
	free(reader->package);
}
