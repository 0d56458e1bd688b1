/* Completions for bash, zsh and fish, made of the tables of commands and options. */
#include "cli/cli.h"

#include <string.h>

#include "cli/try.h"

/* What an argument is completed with. */
enum complete_kind { COMPLETE_NOTHING, COMPLETE_WORDS, COMPLETE_RULES, COMPLETE_FILES, COMPLETE_FOLDERS };

static bool complete_is(const char *text, const char *const *of)
{
	for (size_t i = 0; of[i]; i++)
		if (!strcmp(text, of[i]))
			return true;
	return false;
}

static enum complete_kind complete_kind(const struct cli_option *o)
{
	static const char *const words[] = { "input-format", "format",	 "profile", "fail-on", "color",
					     "damage",	     "outcomes", "save",    NULL };
	static const char *const rules[] = { "only", "ignore", "severity", "rule", NULL };

	if (!o->argument)
		return COMPLETE_NOTHING;
	if (complete_is(o->name, words))
		return COMPLETE_WORDS;
	if (complete_is(o->name, rules))
		return COMPLETE_RULES;
	if (!strcmp(o->argument, "DIR"))
		return COMPLETE_FOLDERS;
	return strstr(o->argument, "FILE") || strstr(o->argument, "PATH") ? COMPLETE_FILES : COMPLETE_NOTHING;
}

/* Prints the words of an option, with a blank before each but the first. */
static void complete_words(FILE *out, const struct cli_command *c, const struct cli_option *o)
{
	const char *before = "";
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);

#define COMPLETE_WORD(...) (fputs(before, out), fprintf(out, __VA_ARGS__), before = " ")
	if (!strcmp(o->name, "input-format")) {
		for (size_t i = 0; i < count; i++)
			COMPLETE_WORD("%s", formats[i]->name);
		if (c->tables)
			COMPLETE_WORD("container");
	} else if (!strcmp(o->name, "profile")) {
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; formats[i]->profiles && formats[i]->profiles[k]; k++)
				COMPLETE_WORD("%s", formats[i]->profiles[k]);
	} else if (!strcmp(o->name, "format") || !strcmp(o->name, "save")) {
		for (size_t i = 0; cli_report_name(c, i); i++)
			COMPLETE_WORD("%s%s", cli_report_name(c, i), *o->name == 's' ? "=" : "");
	} else if (!strcmp(o->name, "fail-on")) {
		fputs("error warning note never", out);
	} else if (!strcmp(o->name, "color")) {
		fputs("auto always never", out);
	} else if (!strcmp(o->name, "damage")) {
		for (int i = TM_DAMAGE_NONE + 1; i < TM_DAMAGE_COUNT; i++)
			COMPLETE_WORD("%s", tracemend_damage_name((enum tracemend_damage)i));
	} else if (!strcmp(o->name, "outcomes")) {
		for (int i = TRY_FINE + 1; i < TRY_OUTCOMES; i++)
			COMPLETE_WORD("%s", try_outcome_name((enum try_outcome)i));
	}
#undef COMPLETE_WORD
}

/* What the arguments of a command are that are not options. */
static enum complete_kind complete_arguments(const struct cli_command *c)
{
	const char *synopsis = c->synopsis + strlen(c->name);

	if (strstr(synopsis, " RULE..."))
		return COMPLETE_RULES;
	return strstr(synopsis, "PATH") || strstr(synopsis, "JSONL") || strstr(synopsis, " A B") ? COMPLETE_FILES
												 : COMPLETE_NOTHING;
}

/* Calls `each` for the options of a command. */
static void complete_options(const struct cli_command *c,
			     void (*each)(const struct cli_command *c, const struct cli_option *o, const char *letter))
{
	const struct cli_option *o;

	for (size_t i = 0; (o = cli_option_at(i)); i++) {
		const char letter[2] = { o->key, '\0' };
		if (strchr(c->accepts, o->key))
			each(c, o, cli_option_is_letter(o) ? letter : "");
	}
}

/* Prints text between single quotes of a shell; `special` are characters that get a backslash before them. */
static void complete_quoted(const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			putchar('\\');
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
}

/* ---- bash ---- */

static void bash_names(const struct cli_command *c, const struct cli_option *o, const char *letter)
{
	(void)c;
	printf("%s%s --%s%s", *letter ? " -" : "", letter, o->name, o->argument ? "=" : "");
}

static void bash_values(const struct cli_command *c, const struct cli_option *o, const char *letter)
{
	enum complete_kind kind = complete_kind(o);

	if (!o->argument)
		return;
	printf("\t%s:--%s", c->name, o->name);
	if (*letter)
		printf(" | %s:-%s", c->name, letter);
	fputs(") ", stdout);
	if (kind == COMPLETE_WORDS) {
		fputs("_tracemend_words '", stdout);
		complete_words(stdout, c, o);
		putchar('\'');
	} else if (kind == COMPLETE_RULES) {
		fputs("_tracemend_words \"$(\"$1\" --generate rules 2> /dev/null)\"", stdout);
	} else if (kind == COMPLETE_FILES || kind == COMPLETE_FOLDERS) {
		printf("_tracemend_paths -%c", kind == COMPLETE_FILES ? 'f' : 'd');
	} else {
		putchar(':');
	}
	fputs(" ;;\n", stdout);
}

static void complete_bash(const struct cli_command *commands)
{
	fputs("# bash completion for tracemend; made by 'tracemend --generate bash'.\n\n"
	      "_tracemend_words() {\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	      "\tcase ${COMPREPLY[0]-} in *=) compopt -o nospace 2> /dev/null ;; esac\n"
	      "}\n\n"
	      "_tracemend_paths() {\n"
	      "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	      "\tcompopt -o filenames 2> /dev/null\n"
	      "}\n\n"
	      "# PROGRAM COMMAND:OPTION\n"
	      "_tracemend_value() {\n"
	      "\tcase $2 in\n",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++)
		complete_options(c, bash_values);
	fputs("\t*) return 1 ;;\n"
	      "\tesac\n"
	      "}\n\n"
	      "_tracemend() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	      "\t\t_tracemend_words '",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++)
		printf("%s ", c->name);
	fputs("help --help --version'\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\t# Readline takes --format=json for three words.\n"
	      "\tif [ \"$cur\" = = ]; then\n"
	      "\t\tcur=\n"
	      "\telif [ \"$option\" = = ]; then\n"
	      "\t\toption=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\tfi\n"
	      "\t_tracemend_value \"$1\" \"$command:$option\" && return\n"
	      "\tcase $command:$cur in\n",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++) {
		printf("\t%s:-*) _tracemend_words '", c->name);
		complete_options(c, bash_names);
		fputs("' ;;\n", stdout);
	}
	for (const struct cli_command *c = commands; c->name; c++)
		if (complete_arguments(c) == COMPLETE_RULES)
			printf("\t%s:*) _tracemend_words \"$(\"$1\" --generate rules 2> /dev/null)\" ;;\n", c->name);
		else if (complete_arguments(c) == COMPLETE_NOTHING)
			printf("\t%s:*) : ;;\n", c->name);
	fputs("\thelp:*) _tracemend_words \"$(\"$1\" --generate commands 2> /dev/null)\" ;;\n"
	      "\t*) _tracemend_paths -f ;;\n"
	      "\tesac\n"
	      "}\n"
	      "complete -F _tracemend tracemend\n",
	      stdout);
}

/* ---- zsh ---- */

static void zsh_action(const struct cli_command *c, const struct cli_option *o, enum complete_kind kind)
{
	switch (kind) {
	case COMPLETE_WORDS:
		putchar('(');
		complete_words(stdout, c, o);
		putchar(')');
		break;
	case COMPLETE_RULES:
		fputs("_tracemend_rules", stdout);
		break;
	case COMPLETE_FILES:
		fputs("_files", stdout);
		break;
	case COMPLETE_FOLDERS:
		fputs("_files -/", stdout);
		break;
	case COMPLETE_NOTHING:
		putchar(' ');
		break;
	}
}

static void zsh_option(const struct cli_command *c, const struct cli_option *o, const char *letter)
{
	bool often = strstr(o->help, "may be repeated") != NULL;

	for (unsigned form = *letter ? 0 : 1; form < 2; form++) {
		fputs(" \\\n\t\t\t'", stdout);
		if (often)
			putchar('*');
		else if (*letter)
			printf("(-%s --%s)", letter, o->name);
		if (form)
			printf("--%s%s[", o->name, o->argument ? "=" : "");
		else
			printf("-%s%s[", letter, o->argument ? "+" : "");
		complete_quoted(o->help, "[]:\\");
		putchar(']');
		if (o->argument) {
			printf(":%s:", o->argument);
			zsh_action(c, o, complete_kind(o));
		}
		putchar('\'');
	}
}

static void complete_zsh(const struct cli_command *commands)
{
	fputs("#compdef tracemend\n"
	      "# zsh completion for tracemend; made by 'tracemend --generate zsh'.\n\n"
	      "_tracemend_rules() {\n"
	      "\tlocal -a rules=(${(f)\"$($_tracemend_program --generate rules 2> /dev/null)\"})\n"
	      "\tcompadd -a rules\n"
	      "}\n\n"
	      "_tracemend_commands() {\n"
	      "\tlocal -a commands=(\n",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++) {
		printf("\t\t'%s:", c->name);
		complete_quoted(c->summary, "\\");
		fputs("'\n", stdout);
	}
	fputs("\t)\n"
	      "\t_describe -t commands command commands\n"
	      "}\n\n"
	      "_tracemend() {\n"
	      "\tlocal curcontext=$curcontext state line _tracemend_program=$words[1]\n"
	      "\t_arguments -C '(- *)'{-h,--help}'[print this help]' '(- *)--version[print the version]' \\\n"
	      "\t\t'1:command:_tracemend_commands' '*::argument:->argument'\n"
	      "\t[[ $state = argument ]] || return\n"
	      "\tcase $words[1] in\n",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++) {
		printf("\t%s)\n\t\t_arguments -s :", c->name);
		complete_options(c, zsh_option);
		if (complete_arguments(c) != COMPLETE_NOTHING) {
			fputs(" \\\n\t\t\t'*:argument:", stdout);
			zsh_action(c, NULL, complete_arguments(c));
			putchar('\'');
		}
		fputs("\n\t\t;;\n", stdout);
	}
	fputs("\thelp)\n\t\t_tracemend_commands\n\t\t;;\n"
	      "\tesac\n"
	      "}\n\n"
	      "_tracemend \"$@\"\n",
	      stdout);
}

/* ---- fish ---- */

static void fish_option(const struct cli_command *c, const struct cli_option *o, const char *letter)
{
	enum complete_kind kind = complete_kind(o);

	printf("complete -c tracemend -n '__fish_seen_subcommand_from %s'%s%s -l %s", c->name, *letter ? " -s " : "", letter,
	       o->name);
	if (kind == COMPLETE_FILES)
		fputs(" -r -F", stdout);
	else if (kind == COMPLETE_FOLDERS)
		fputs(" -x -a '(__fish_complete_directories)'", stdout);
	else if (o->argument)
		fputs(" -x", stdout);
	if (kind == COMPLETE_WORDS) {
		fputs(" -a '", stdout);
		complete_words(stdout, c, o);
		putchar('\'');
	} else if (kind == COMPLETE_RULES) {
		fputs(" -a '(tracemend --generate rules)'", stdout);
	}
	fputs(" -d '", stdout);
	for (const char *p = o->help; *p; p++) {
		if (*p == '\'' || *p == '\\')
			putchar('\\');
		putchar(*p);
	}
	fputs("'\n", stdout);
}

static void complete_fish(const struct cli_command *commands)
{
	fputs("# fish completion for tracemend; made by 'tracemend --generate fish'.\n"
	      "complete -c tracemend -f -n __fish_use_subcommand -s h -l help -d 'print this help'\n"
	      "complete -c tracemend -f -n __fish_use_subcommand -l version -d 'print the version'\n",
	      stdout);
	for (const struct cli_command *c = commands; c->name; c++)
		printf("complete -c tracemend -f -n __fish_use_subcommand -a %s -d '%s'\n", c->name, c->summary);
	for (const struct cli_command *c = commands; c->name; c++) {
		enum complete_kind kind = complete_arguments(c);
		complete_options(c, fish_option);
		if (kind != COMPLETE_FILES)
			printf("complete -c tracemend -n '__fish_seen_subcommand_from %s' -f%s\n", c->name,
			       kind == COMPLETE_RULES ? " -a '(tracemend --generate rules)'" : "");
	}
}

bool cli_complete(const struct cli_command *commands, const char *shell)
{
	if (!strcmp(shell, "bash"))
		complete_bash(commands);
	else if (!strcmp(shell, "zsh"))
		complete_zsh(commands);
	else if (!strcmp(shell, "fish"))
		complete_fish(commands);
	else
		return false;
	return true;
}
