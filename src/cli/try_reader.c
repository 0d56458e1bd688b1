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

bool try_reader_words(const char *command, struct cli_list *words, char **text)
{
	char *rest = NULL;

	*words = (struct cli_list){ 0 };
	*text = strdup(command);
	words->items = *text ? calloc(strlen(command) / 2 + 1, sizeof(*words->items)) : NULL;
	if (!words->items) {
		free(*text);
		return false;
	}
	for (char *word = strtok_r(*text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
		words->items[words->count++] = word;
	return true;
}

char *try_reader_name(const struct cli_options *o, size_t which)
{
	char *name = NULL;
	bool twice = false;

	for (size_t i = 0; i < o->compared.count && (!i || name); i++) {
		/* The one that is asked for first. */
		size_t at = i == 0 ? which : i <= which ? i - 1 : i;
		struct cli_list words;
		char *text, *program;
		bool script;
		if (!try_reader_words(o->compared.items[at], &words, &text))
			break;
		const char *path = words.count ? reader_program(&words, &script) : "";
		const char *slash = strrchr(path, '/');
		program = strdup(slash ? slash + 1 : path);
		free(words.items);
		free(text);
		if (!i)
			name = program;
		twice = i && program && !strcmp(name, program) ? true : twice;
		if (i)
			free(program);
	}
	char *shown = name ? malloc(4 * strlen(name) + 24) : NULL;
	if (shown) {
		tracemend_escape(shown, 4 * strlen(name) + 1, name);
		if (twice)
			(void)snprintf(shown + strlen(shown), 23, " %zu", which + 1);
	}
	free(name);
	return shown;
}

/* Asks about the program of one command. False: out of memory; what there is of the texts is to be freed. */
static bool reader_ask_one(const struct try *t, const struct cli_list *line, struct try_reader *r)
{
	struct child_result result;
	bool script;
	char *question = NULL;

	const char *program = reader_program(line, &script);
	if (asprintf(&question, "%s%s", script ? "script:" : "", program) < 0)
		return false;
	char shown[4 * READER_TEXT_MAX + 1], name[READER_TEXT_MAX];
	const char *slash = strrchr(program, '/');
	(void)snprintf(name, sizeof(name), "%s", slash ? slash + 1 : program);
	tracemend_escape(shown, sizeof(shown), name);
	r->name = strdup(shown);
	reader_run(t->options, READER_ORIGIN, question, &result);
	free(question);
	const char *output = result.end == CHILD_EXITED && result.output ? result.output : "";
	r->version = answer(output, "version ");
	r->build_id = answer(output, "build-id ");
	r->package = answer(output, "package ");
	child_result_free(&result);
	if (r->version)
		version_trim(r->version);
	return r->name && r->version && r->build_id && r->package;
}

/* Adds a text behind those that there are, and frees it. */
static bool answer_add(char **all, char *text)
{
	char *both = NULL;

	if (!*all || !**all) {
		free(*all);
		*all = text;
		return text != NULL;
	}
	bool good = text && asprintf(&both, "%s%s%s", *all, *text ? ", " : "", text) >= 0;
	free(text);
	if (good) {
		free(*all);
		*all = both;
	}
	return good;
}

bool try_reader_ask(struct try *t)
{
	const struct cli_options *o = t->options;
	struct try_reader *all = &t->reader;
	bool good = true;

	if (!o->compared.count)
		return reader_ask_one(t, &o->command_line, all);
	for (size_t i = 0; good && i < o->compared.count; i++) {
		struct try_reader one = { 0 };
		struct cli_list words;
		char *text;
		if (!try_reader_words(o->compared.items[i], &words, &text))
			return false;
		good = reader_ask_one(t, &words, &one);
		free(words.items);
		free(text);
		free(one.name);
		one.name = try_reader_name(o, i);
		/* One that fails frees its own text; the others stay with their owner. */
		bool added[] = { answer_add(&all->name, one.name), answer_add(&all->version, one.version),
				 answer_add(&all->build_id, one.build_id), answer_add(&all->package, one.package) };
		good = good && added[0] && added[1] && added[2] && added[3];
	}
	return good;
}

void try_reader_free(struct try_reader *reader)
{
	free(reader->name);
	free(reader->version);
	free(reader->build_id);
	free(reader->package);
}

char *try_site_of(const struct cli_options *o, const char *path)
{
	struct child_result result;

	reader_run(o, READER_DEBUG, path, &result);
	char *site = result.output ? try_site_parse(result.output) : NULL;
	child_result_free(&result);
	return site;
}
