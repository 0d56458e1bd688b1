/* rules and explain: what can be wrong with a capture, and finding a rule by its name. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

/* Names longer than this are not compared for likeness. */
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

/* Number of letters to insert, delete or change to turn a into b. */
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

/* Says which rules are called nearly so. */
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
		cli_complain("there is no rule '%s'; 'tracemend rules' lists them", name);
	else
		cli_complain("there is no rule '%s'; the nearest are %s%s%s%s%s", name, best[0]->id, best[1] ? ", " : "",
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
			cli_complain("several formats have a rule '%s': say %s or %s", name, found->id, rule->id);
			return NULL;
		}
		found = rule;
	}
	if (!found)
		rule_suggest(name);
	return found;
}

static void rules_text(const char *format)
{
	size_t count = tracemend_rule_count(format), width = 0;

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(tracemend_rule_at(format, i)->id);
		width = length > width ? length : width;
	}
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(format, i);
		printf("%-*s  %-7s  %-10s  %s\n", (int)width, rule->id, tracemend_severity_name(rule->severity), rule->class_name,
		       rule->title);
	}
}

/* A cell of a Markdown table. */
static void rules_cell(const char *text)
{
	fputs("| ", stdout);
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]", *text))
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
	putchar(' ');
}

static void rules_markdown(const char *format)
{
	size_t count = tracemend_rule_count(format);

	puts("| rule | severity | class | what is wrong | where the specification says so | what repair does |\n"
	     "|---|---|---|---|---|---|");
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(format, i);
		printf("| `%s` ", rule->id);
		rules_cell(tracemend_severity_name(rule->severity));
		rules_cell(rule->class_name);
		rules_cell(rule->title);
		rules_cell(rule->clause);
		rules_cell(rule->repair);
		puts("|");
	}
}

static int rules_json(const char *format)
{
	struct report_run run = { .out = stdout };
	size_t count = tracemend_rule_count(format);

	fputs("{\"rules\":[", stdout);
	for (size_t i = 0; i < count && !run.failed; i++) {
		fputs(i ? ",\n" : "\n", stdout);
		report_json_print(&run, report_json_rule(tracemend_rule_at(format, i)));
	}
	fputs("\n]}\n", stdout);
	if (!run.failed)
		return CLI_CLEAN;
	return cli_memory();
}

int cli_rules(struct cli_options *o)
{
	if (o->paths.count)
		return cli_usage("rules takes no arguments; 'tracemend explain %s' explains one", o->paths.items[0]);
	if (!strcmp(o->format, "json"))
		return rules_json(o->library.format);
	if (!strcmp(o->format, "markdown"))
		rules_markdown(o->library.format);
	else
		rules_text(o->library.format);
	return CLI_CLEAN;
}

int cli_explain(struct cli_options *o)
{
	bool color = cli_options_color(o, stdout);
	int code = CLI_CLEAN;

	if (!o->paths.count)
		return cli_usage("explain needs a rule; 'tracemend rules' lists them");
	for (size_t i = 0; i < o->paths.count; i++)
		if (!cli_rule_find(o->paths.items[i], NULL))
			code = CLI_USAGE;
	for (size_t i = 0; i < o->paths.count && !code; i++) {
		const struct tracemend_rule *rule = cli_rule_find(o->paths.items[i], NULL);
		printf("%s%s%s%s: %s\n", i ? "\n" : "", color ? "\033[1m" : "", rule->id, color ? "\033[0m" : "", rule->title);
		printf("  severity %s, class %s\n\n", tracemend_severity_name(rule->severity), rule->class_name);
		cli_wrap(stdout, "  ", 2, rule->explanation);
		putchar('\n');
		cli_wrap(stdout, "  because  ", 11, rule->clause);
		cli_wrap(stdout, "  repair   ", 11, rule->repair);
	}
	return code;
}
