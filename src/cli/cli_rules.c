/* rules and explain: the list of rules, and the text of one. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static void rules_text(const char *format)
{
	size_t count = tracemend_rule_count(format), width = 0;

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(tracemend_rule_at(format, i)->id);
		width = length > width ? length : width;
	}
	for (size_t i = 0; i < count; i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(format, i);
		printf("%-*s  %-7s  %-10s  %s%s\n", (int)width, rule->id, tracemend_severity_name(rule->severity), rule->class_name,
		       rule->title, rule->preview ? " (preview)" : "");
	}
}

/* Prints a cell of a Markdown table. */
static void rules_text_cell(const char *text)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]", *text))
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
}

static void rules_cell(const char *text)
{
	fputs("| ", stdout);
	rules_text_cell(text);
	putchar(' ');
}

/* The clause, as a link where its document is published. */
static void rules_link(const struct tracemend_rule *rule)
{
	char url[512];

	if (!*tracemend_rule_url(rule, url, sizeof(url))) {
		rules_cell(rule->clause);
		return;
	}
	fputs("| [", stdout);
	rules_text_cell(rule->clause);
	printf("](<%s>) ", url);
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
		fputs(rule->preview ? "(preview) " : "", stdout);
		rules_link(rule);
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
	bool color = cli_colored(o, stdout);
	int code = CLI_CLEAN;
	char url[512];

	if (!o->paths.count)
		return cli_usage("explain needs a rule; 'tracemend rules' lists them");
	for (size_t i = 0; i < o->paths.count; i++)
		if (!cli_rule_find(o->paths.items[i], NULL))
			code = CLI_USAGE;
	for (size_t i = 0; i < o->paths.count && !code; i++) {
		const struct tracemend_rule *rule = cli_rule_find(o->paths.items[i], NULL);
		printf("%s%s%s%s: %s\n", i ? "\n" : "", color ? "\033[1m" : "", rule->id, color ? "\033[0m" : "", rule->title);
		printf("  severity %s, class %s%s\n\n", tracemend_severity_name(rule->severity), rule->class_name,
		       rule->preview ? ", preview: reported with --preview only" : "");
		cli_wrap(stdout, "  ", 2, rule->explanation);
		putchar('\n');
		cli_wrap(stdout, "  because  ", 11, rule->clause);
		if (*tracemend_rule_url(rule, url, sizeof(url)))
			printf("           %s\n", url);
		cli_wrap(stdout, "  repair   ", 11, rule->repair);
	}
	return code;
}
