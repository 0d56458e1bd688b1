/* Manual pages in mdoc(7), made of the tables of commands and options, and what else `tracemend --generate` prints. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* Of the last change of what the pages say: the day of the release. */
#define PAGES_DATE "November 23, 2026"

/* Prints text so that roff takes nothing in it for a request or an escape. */
static void page_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool first = !i || text[i - 1] == '\n';
		if (first && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", stdout);
		if (text[i] == '\\')
			fputs("\\e", stdout);
		else if (text[i] == '-')
			fputs("\\-", stdout);
		else
			putchar(text[i]);
	}
}

static void page_string(const char *text)
{
	page_text(text, strlen(text));
}

/* A sentence a line, as mdoc wants it; blank lines are paragraphs. */
static void page_prose(const char *text, size_t length)
{
	bool fresh = true; /* at the beginning of a line */

	for (size_t i = 0; i < length; i++) {
		bool blank = text[i] == ' ' || text[i] == '\n';
		if (text[i] == '\n' && i + 1 < length && text[i + 1] == '\n') {
			fputs(fresh ? ".Pp\n" : "\n.Pp\n", stdout);
			fresh = true;
		} else if (blank && !fresh) {
			bool ends = strchr(".!?", text[i - 1]) || i + 1 == length;
			putchar(ends ? '\n' : ' ');
			fresh = ends;
		} else if (!blank) {
			page_text(text + i, 1);
			fresh = false;
		}
	}
	if (!fresh)
		putchar('\n');
}

static void page_begin(const char *name, const char *summary)
{
	printf(".Dd %s\n.Dt ", PAGES_DATE);
	for (const char *p = name; *p; p++)
		putchar(toupper((unsigned char)*p));
	fputs(" 1\n.Os\n.Sh NAME\n.Nm ", stdout);
	page_string(name);
	fputs("\n.Nd ", stdout);
	page_string(summary);
	putchar('\n');
}

/* The usage, a form a line, each "tracemend ..." or, the first, without that word. */
static void page_synopsis(const struct cli_command *c)
{
	const char *line = c->synopsis;

	fputs(".Sh SYNOPSIS\n", stdout);
	while (line) {
		const char *end = strchr(line, '\n');
		size_t length = end ? (size_t)(end - line) : strlen(line);
		printf(".Nm tracemend %s\n", c->name);
		page_text(line + strlen(c->name) + 1, length - strlen(c->name) - 1);
		putchar('\n');
		line = end ? strstr(end, c->name) : NULL;
	}
}

static void page_options(const struct cli_command *c)
{
	const struct cli_option *o;

	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", stdout);
	for (size_t i = 0; (o = cli_option_at(i)); i++) {
		if (!strchr(c->accepts, o->key))
			continue;
		fputs(".It ", stdout);
		if (cli_option_is_letter(o))
			printf("Fl %c%s%s , ", o->key, o->argument ? " Ar " : "", o->argument ? o->argument : "");
		fputs("Fl \\-", stdout);
		page_string(o->name);
		if (o->argument)
			printf(" Ns = Ns Ar %s", o->argument);
		putchar('\n');
		const char *help = cli_option_help(c, o);
		page_prose(help, strlen(help));
	}
	fputs(".El\n", stdout);
	if (strchr(c->accepts, 'F')) {
		fputs(".Pp\nReport formats:", stdout);
		for (size_t i = 0; cli_report_name(c, i); i++) {
			fputs(i ? ", " : " ", stdout);
			page_string(cli_report_name(c, i));
		}
		fputs(".\n", stdout);
	}
}

/* "Exit status:" and its like begin a section; rows of two columns are a list; those of examples are shown as they are. */
static void page_ending(const char *text)
{
	bool list = false, examples = false;

	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		size_t length = (size_t)(end - line);
		bool row = length > 2 && !strncmp(line, "  ", 2);
		if (list && !row) {
			fputs(".El\n", stdout);
			list = false;
		}
		if (!length)
			continue;
		if (!row && end[-1] == ':') {
			fputs(".Sh ", stdout);
			for (const char *p = line; p < end - 1; p++)
				putchar(toupper((unsigned char)*p));
			examples = !strncmp(line, "Example", 7);
			fputs(examples && end[-2] != 's' ? "S\n" : "\n", stdout);
		} else if (row && examples) {
			fputs(".Dl ", stdout);
			page_text(line + 2, length - 2);
			putchar('\n');
		} else if (row) {
			size_t key = strcspn(line + 2, " "), gap = strspn(line + 2 + key, " ");
			if (!list)
				fputs(".Bl -tag -width Ds\n", stdout);
			list = true;
			fputs(".It ", stdout);
			page_text(line + 2, key);
			putchar('\n');
			page_text(line + 2 + key + gap, length - 2 - key - gap);
			putchar('\n');
		} else {
			fputs(".Pp\n", stdout);
			page_prose(line, length);
		}
	}
	if (list)
		fputs(".El\n", stdout);
}

static void page_of(const struct cli_command *c)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "tracemend-%s", c->name);
	page_begin(name, c->summary);
	page_synopsis(c);
	fputs(".Sh DESCRIPTION\n", stdout);
	page_prose(c->description, strlen(c->description));
	page_options(c);
	if (c->ending)
		page_ending(c->ending);
	fputs(".Sh SEE ALSO\n.Xr tracemend 1", stdout);
	if (!strcmp(c->name, "repair"))
		fputs(" ,\n.Xr tracemend-manifest 5", stdout);
	else if (strchr(c->accepts, 'F'))
		fputs(" ,\n.Xr tracemend-report 5", stdout);
	putchar('\n');
}

/* The commands in the order of their names. NULL: none comes after `name`. */
static const struct cli_command *page_command_after(const struct cli_command *commands, const char *name)
{
	const struct cli_command *next = NULL;

	for (const struct cli_command *c = commands; c->name; c++)
		if (strcmp(c->name, name) > 0 && (!next || strcmp(c->name, next->name) < 0))
			next = c;
	return next;
}

static void page_main(const struct cli_command *commands)
{
	page_begin("tracemend", "check, repair and generate binary trace captures");
	fputs(".Sh SYNOPSIS\n"
	      ".Nm tracemend\n"
	      ".Ar command\n"
	      ".Op Ar options\n"
	      ".Ar arguments ...\n"
	      ".Nm tracemend\n"
	      ".Fl \\-help | \\-\\-version\n"
	      ".Sh DESCRIPTION\n"
	      "Checks captures of five binary trace formats for defects, writes what is left of a damaged one into a new file, "
	      "and\n"
	      "makes test files for trace readers.\n"
	      "A capture is recognised by its content, not by its name.\n"
	      ".Bl -tag -width tracedat\n",
	      stdout);
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);
	for (size_t i = 0; i < count; i++) {
		printf(".It Cm %s\n", formats[i]->name);
		page_string(formats[i]->title);
		putchar('\n');
	}
	fputs(".El\n.Sh COMMANDS\n.Bl -tag -width Ds\n", stdout);
	for (const struct cli_command *c = commands; c->name; c++) {
		printf(".It Xr tracemend-%s 1\n", c->name);
		page_string(c->summary);
		putchar('\n');
	}
	fputs(".El\n"
	      ".Sh ENVIRONMENT\n"
	      ".Bl -tag -width Ds\n"
	      ".It Ev NO_COLOR\n"
	      "If it is set and not empty, text is not coloured.\n"
	      ".It Ev TMPDIR\n"
	      "Where unpacked archives are kept while they are read, and where commands are tried; default\n"
	      ".Pa /tmp .\n"
	      ".El\n"
	      ".Sh SANDBOX\n"
	      "Before a byte of a capture is read, the program gives up the right to read other files than those that are named,\n"
	      "to write elsewhere than to the folder of the output and\n"
	      ".Ev TMPDIR ,\n"
	      "to run programs, to make sockets and to trace processes, as far as the system has the means (Landlock, seccomp):\n"
	      ".Fl \\-version\n"
	      "says which it has.\n"
	      "Commands that read captures for\n"
	      ".Cm try , reduce\n"
	      "and\n"
	      ".Cm repair Fl \\-verify\\-with\n"
	      "are run by a process that is started before, and are not in the sandbox.\n"
	      "The library has none.\n"
	      ".Sh EXIT STATUS\n"
	      ".Bl -tag -width Ds\n"
	      ".It 0\nNothing was found, nothing was lost, or nothing needed doing.\n"
	      ".It 1\nFindings; of a dry run, that there is something to repair.\n"
	      ".It 2\nUsage: nothing was examined.\n"
	      ".It 3\nA valid output was written, but content was lost, or it is unknown whether any was.\n"
	      ".It 4\nNot recognised, or nothing can be salvaged: nothing was written.\n"
	      ".It 5\nI/O: a file cannot be opened, read or written.\n"
	      ".It 6\nA limit stopped the work: the verdict is incomplete.\n"
	      ".It 70\nAn internal check failed: nothing was written.\n"
	      ".It 129, 130, 141, 143\nStopped by SIGHUP, SIGINT, SIGPIPE or SIGTERM.\n"
	      ".El\n"
	      ".Pp\n"
	      "With several inputs the most serious wins: 70, 5, 6, 4, 3, 1, 0.\n"
	      ".Sh EXAMPLES\n"
	      ".Dl tracemend check trace.fxt\n"
	      ".Dl tracemend repair crashed.fxt \\-o mended.fxt\n"
	      ".Sh SEE ALSO\n",
	      stdout);
	const char *last = "";
	for (const struct cli_command *next; (next = page_command_after(commands, last)); last = next->name)
		printf(".Xr tracemend-%s 1 ,\n", next->name);
	fputs(".Xr libtracemend 3 ,\n.Xr tracemend-manifest 5 ,\n.Xr tracemend-report 5\n", stdout);
}

int cli_generate(const struct cli_command *commands, const char *what)
{
	size_t count = tracemend_rule_count(NULL);

	if (cli_complete(commands, what))
		return CLI_CLEAN;
	if (!strcmp(what, "man")) {
		page_main(commands);
		return CLI_CLEAN;
	}
	if (!strcmp(what, "rules")) {
		for (size_t i = 0; i < count; i++)
			puts(tracemend_rule_at(NULL, i)->id);
		return CLI_CLEAN;
	}
	bool found = false;
	for (const struct cli_command *c = commands; c->name; c++) {
		if (!strcmp(what, "commands"))
			puts(c->name);
		else if (!strncmp(what, "man-", 4) && !strcmp(what + 4, c->name))
			page_of(c);
		else
			continue;
		found = true;
	}
	return found ? CLI_CLEAN : cli_usage("--generate %s: expected man, man-COMMAND, bash, zsh, fish, commands or rules", what);
}
