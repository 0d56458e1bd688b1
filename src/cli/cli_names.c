/* Rules and formats by their names. */
#include <string.h>

#include "cli/cli.h"

/* Longer names are not compared for similarity. */
#define NAME_MAX_LIKE 64

const char *cli_rule_bare(const struct tracemend_rule *rule)
{
	const char *slash = strchr(rule->id, '/');

	return slash ? slash + 1 : rule->id;
}

const struct tracemend_format *cli_format_find(const char *name)
{
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

/* The Levenshtein distance of two names. */
static unsigned name_distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LIKE + 1];
	size_t length = strlen(b);

	if (strlen(a) > NAME_MAX_LIKE || length > NAME_MAX_LIKE)
		return NAME_MAX_LIKE;
	for (unsigned k = 0; k <= length; k++)
		row[k] = k;
	for (; *a; a++) {
		unsigned diagonal = row[0]++;
		for (size_t k = 1; k <= length; k++) {
			unsigned change = diagonal + (*a != b[k - 1]), least = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
			diagonal = row[k];
			row[k] = change < least ? change : least;
		}
	}
	return row[length];
}

const char *cli_nearest(const char *word, const char *const *words)
{
	/* A third of the letters may differ; a word that is begun stands for the whole. */
	size_t length = strlen(word);
	unsigned best = (unsigned)(length + 2) / 3 + 1;
	const char *found = NULL;

	for (; *words; words++) {
		unsigned d = length > 1 && !strncmp(word, *words, length) ? 0 : name_distance(word, *words);
		if (d < best) {
			best = d;
			found = *words;
		}
	}
	return found;
}

const char *cli_hint(char out[CLI_HINT_MAX], const char *before, const char *word, const char *const *words)
{
	const char *near = cli_nearest(word, words);

	if (near)
		(void)snprintf(out, CLI_HINT_MAX, "; did you mean %s%s?", before, near);
	else
		*out = '\0';
	return out;
}

const char *cli_format_hint(char out[CLI_HINT_MAX], const char *word)
{
	const char *names[16] = { NULL };
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);

	for (size_t i = 0; i < count && i + 1 < sizeof(names) / sizeof(names[0]); i++) {
		names[i] = formats[i]->name;
		if (strlen(word) > 2 && strcasestr(formats[i]->title, word)) {
			(void)snprintf(out, CLI_HINT_MAX, "; did you mean %s?", names[i]);
			return out;
		}
	}
	return cli_hint(out, "", word, names);
}

/* Prints the rules whose names contain a word; false: there is none. */
static bool rule_suggest_part(const char *name)
{
	char list[512];
	size_t count = tracemend_rule_count(NULL), at = 0, more = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(NULL, i);
		if (!strstr(rule->id, name))
			continue;
		size_t room = strlen(rule->id) + 3;
		if (at + room + 32 < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", rule->id);
		else
			more++;
	}
	if (more)
		(void)snprintf(list + at, sizeof(list) - at, " and %zu more", more);
	if (at)
		cli_error("unknown rule '%s'; rules with this word: %s", name, list);
	return at;
}

/* Prints the rules with similar names. */
static void rule_suggest(const char *name)
{
	const struct tracemend_rule *best[3] = { NULL, NULL, NULL };
	unsigned distance[3] = { NAME_MAX_LIKE, NAME_MAX_LIKE, NAME_MAX_LIKE };
	size_t count = tracemend_rule_count(NULL);
	bool whole = strchr(name, '/') != NULL;

	if (strlen(name) > 2 && rule_suggest_part(name))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(NULL, i);
		unsigned d = name_distance(name, whole ? rule->id : cli_rule_bare(rule));
		size_t at = 3;
		while (at > 0 && d < distance[at - 1])
			at--;
		for (size_t k = 2; k > at && at < 3; k--) {
			best[k] = best[k - 1];
			distance[k] = distance[k - 1];
		}
		if (at < 3) {
			best[at] = rule;
			distance[at] = d;
		}
	}
	if (!best[0])
		cli_error("unknown rule '%s'; 'tracemend rules' lists them", name);
	else
		cli_error("unknown rule '%s'; similar ones are %s%s%s%s%s", name, best[0]->id, best[1] ? ", " : "",
			  best[1] ? best[1]->id : "", best[2] ? ", " : "", best[2] ? best[2]->id : "");
}

const struct tracemend_rule *cli_rule_find(const char *name, const char *format)
{
	const struct tracemend_rule *found = tracemend_rule_find(name);
	size_t count = tracemend_rule_count(NULL);

	for (size_t i = 0; i < count && !strchr(name, '/'); i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(NULL, i);
		if (strcmp(cli_rule_bare(rule), name))
			continue;
		if (format && !strcmp(rule->format, format))
			return rule;
		if (found && !format) {
			cli_error("several formats have a rule '%s': write %s or %s", name, found->id, rule->id);
			return NULL;
		}
		found = rule;
	}
	if (!found)
		rule_suggest(name);
	return found;
}
