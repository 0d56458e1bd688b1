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

/* Prints the rules with similar names. */
static void rule_suggest(const char *name)
{
	const struct tracemend_rule *best[3] = { NULL, NULL, NULL };
	unsigned distance[3] = { NAME_MAX_LIKE, NAME_MAX_LIKE, NAME_MAX_LIKE };
	size_t count = tracemend_rule_count(NULL);
	bool whole = strchr(name, '/') != NULL;

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
