/* Which program is tested: its name, version, build id and package. */
#include "cli/reader.h"
#include "cli/try.h"

#include <stdlib.h>
#include <string.h>

#define READER_TEXT_MAX 160u

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
	const char *slash = strrchr(program, '/');
	(void)snprintf(name, sizeof(name), "%s", slash ? slash + 1 : program);
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
