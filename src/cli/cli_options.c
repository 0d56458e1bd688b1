/* Options: one table for all commands, so that an option has the same meaning everywhere. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system.h"
#include "core/text.h"
#include "report/report.h"
#include "cli/sandbox.h"
#include "cli/try.h"

static const struct cli_option options[] = {
	{ 'f', "input-format", "NAME",
	  "read the input as this format instead of recognising it: fxt, uftrace, tracedat, ktrace, lttng" },
	{ 'p', "profile", "NAME", "use this revision of the specification (fxt: latest, 2022; lttng 1.0: wire, literal)" },
	{ 'F', "format", "NAME", "print the report as NAME (default: text)" },
	{ 'A', "save", "FORMAT=FILE", "write another report of the same run to FILE; may be repeated" },
	{ 'B', "baseline", "FILE", "neither list nor count the findings that FILE has; name those of FILE that no longer occur" },
	{ 'J', "update-baseline", NULL, "write the findings of this run to the file of --baseline: they are known from now on" },
	{ 'L', "fail-on", "LEVEL", "exit 1 for findings of this severity or a higher one: error (default), warning, note, never" },
	{ 'O', "only", "GLOB", "use only rules whose id or bare name matches; may be repeated" },
	{ 'I', "ignore", "GLOB", "ignore rules whose id or bare name matches; may be repeated" },
	{ 'S', "severity", "RULE=LEVEL", "report a rule as error, warning or note, or not at all (ignore); may be repeated" },
	{ 'x', "preview", NULL, "report what preview rules find, too: new rules, which 'tracemend rules' marks" },
	{ 'M', "max-findings", "N",
	  "list at most N findings of each severity for each rule, and count the others (0: list all; default: 20 in text, "
	  "markdown and html, all "
	  "in the other formats)" },
	{ 'Q', "config", "FILE",
	  "take settings from FILE (default: the nearest .tracemend.ini upwards from the working directory, but not from inside a "
	  "capture): lines KEY = VALUE with the keys ignore, only, severity, fail-on, max-findings; a section [GLOB] is for the "
	  "paths "
	  "that match. Options of the command line win" },
	{ 'z', "no-config", NULL, "take no settings from files" },
	{ 'j', "jobs", "N",
	  "work with N threads, on several captures and inside of one; the report does not change (default of check and repair: "
	  "the number of cores; else 1)" },
	{ 'o', "output", "PATH", "the result; not the input, nor a path inside it" },
	{ 'P', "in-place", NULL, "write the result under the name of the input, which is renamed to NAME.orig" },
	{ 'n', "dry-run", NULL, "print what would be done and lost, and write nothing" },
	{ 'm', "manifest", "FILE", "write the origin of every part of the output as JSON (-: standard output)" },
	{ 'g', "report", "FILE",
	  "write an HTML page to FILE that shows where the damage is, and what was kept, changed, dropped, doubted and made anew" },
	{ 'E', "extra", "PATH",
	  "more pieces of the same capture: a path, or a quoted pattern such as '/dev/shm/uftrace-*'; may be repeated. "
	  "auto: what a recorder that was killed left in the shared memory of this machine, of the owner of the capture only" },
	{ 'w', "verify-with", "COMMAND",
	  "run this shell command before the result gets its name: {} is the result, under a temporary name. If the command fails, "
	  "nothing is written" },
	{ 'D', "donor", "PATH", "a healthy capture of the same machine, to take missing metadata from; may be repeated" },
	{ 'u', "max-unpacked", "BYTES",
	  "limit on what an archive or compressed file unpacks to (default: 512M or 200 times what was read of it, at most 64G)" },
	{ 'y', "no-sandbox", NULL,
	  "keep the rights to open other files, run programs and make connections, which are given up before a capture is read" },
	{ 's', "seed", "N", "the number from which all decisions follow (default 1)" },
	{ 'c', "count", "N", "the number of captures; their seeds follow each other (default 1)" },
	{ 'b', "size", "BYTES", "the size of each, roughly, with an optional suffix K, M or G (default: small)" },
	{ 'l', "host", NULL,
	  "make only what readers on an ordinary host open (64 bits, little-endian, pages of 4096 bytes, no zlib in trace.dat): "
	  "--without all features that --list-features marks" },
	{ '4', "with", "FEATURE",
	  "each capture has this feature; several of one kind, such as versions: one of them. What a defect needs comes first; may "
	  "be "
	  "repeated" },
	{ '5', "without", "FEATURE", "no capture has this feature, unless its defect needs it; may be repeated" },
	{ '6', "list-features", NULL, "list the features that captures of the format can have" },
	{ '0', "sound", NULL, "with --rule: make the captures that the defects would be in, without these" },
	{ 'V', "valid", NULL, "make captures without a defect (the default)" },
	{ 'R', "rule", "RULE", "make captures with exactly the defect that this rule reports; may be repeated" },
	{ 'W', "rule", "RULE", "reduce while check reports this rule" },
	{ 'K', "damage", "KIND", "damage valid captures: truncate, hole, zero-tail, bitflip, duplicate, insert, delete" },
	{ 'X', "command", "TEXT", "reduce while this shell command ends with the same signal or exit code; {} is the capture" },
	{ 'T', "timeout", "SECONDS",
	  "limit on the processor time of the command for each capture (default 5); elapsed time is limited to five times that" },
	{ 'Y', "memory", "BYTES", "limit on the address space of the command (default 2G; 0: none, which sanitizers need)" },
	{ 'U', "outcomes", "LIST",
	  "the outcomes to report, separated by commas: signal, crash, memory, hang, differ, count, rejected, silent "
	  "(default: all)" },
	{ 'i', "crash-exit", "N", "an exit code that stands for a crash" },
	{ 'k', "crash-pattern", "REGEX", "an extended regular expression; a crash, if something on standard error matches it" },
	{ '2', "count-with", "REGEX",
	  "an extended regular expression for what the command prints: of captures without errors it must match as many lines as "
	  "there "
	  "are records; if it has a group in parentheses, the numbers there are added" },
	{ '3', "reader", "COMMAND",
	  "a shell command with {} for the capture; given twice or more often: where the readers disagree" },
	{ 'N', "tries", "N", "captures that a reduction may test; for a hang, try tests a tenth of them" },
	{ 'd', "repeat", "N", "run the command so often for each candidate (default 1), for what does not show itself each time" },
	{ 'e', "enough", "K", "so many of the runs must end in the same way (default 1)" },
	{ '1', "budget", "SECONDS", "stop after so many seconds, and keep the smallest so far (default 0: no limit)" },
	{ 'H', "strict", NULL, "allow no other errors, even if the result stays larger than 1 KB (tracedat: 8 KB)" },
	{ 'G', "no-debugger", NULL, "do not run gdb to find the place of a crash" },
	{ 'r', "range", "FROM-TO", "only records with a byte at these offsets; either end may be left out" },
	{ 't', "times", "FROM-TO",
	  "only records with a time from FROM to TO, in the unit that is printed; either end may be left out" },
	{ 'a', "around", "OFFSET", "only the 8 records in front of this offset, the one there, and the 8 behind it" },
	{ 'C', "color", "WHEN", "colour the text: auto (default), always, never; NO_COLOR in the environment is honoured" },
	{ 'q', "quiet", NULL, "print problems only" },
	{ 'v', "verbose", NULL, "print more" },
	{ 'h', "help", NULL, "print this help" },
	{ 'Z', "version", NULL, "print the version" },
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

const struct cli_option *cli_option_at(size_t index)
{
	return index < OPTION_COUNT ? &options[index] : NULL;
}

const char *cli_option_help(const struct cli_command *command, const struct cli_option *o)
{
	if (o->key == 'f' && strchr(command->accepts, 'V'))
		return "make captures of this format: fxt, uftrace, tracedat, ktrace, lttng";
	if (o->key == 'o' && !strcmp(command->name, "gen"))
		return "the directory for the files and their labels; -: one capture goes to standard output";
	if (o->key == 'f' && command->tables)
		return "list only the rules of this format: fxt, uftrace, tracedat, ktrace, lttng, container";
	if (o->key == 'F' && command->run == cli_repair)
		return "with -n, print what was found as NAME, as check does (default: text, which is the plan)";
	if (o->key == 'T' && command->run == cli_repair)
		return "limit on the processor time of the command (default 60); elapsed time is limited to five times that";
	return o->help;
}

bool cli_option_is_letter(const struct cli_option *o)
{
	return strchr("fjonqvh", o->key) != NULL;
}

const char *cli_report_name(const struct cli_command *command, size_t index)
{
	if (command->reports)
		return command->reports[index];
	return report_printers[index] ? report_printers[index]->name : NULL;
}

void cli_options_help(const struct cli_command *command, FILE *out)
{
	fprintf(out, "Usage: tracemend %s\n\n", command->synopsis);
	fprintf(out, "%s\nOptions:\n", command->description);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct cli_option *o = &options[i];
		char label[64];
		if (!strchr(command->accepts, o->key))
			continue;
		bool letter = cli_option_is_letter(o);
		(void)snprintf(label, sizeof(label), "  %c%c%s --%s%s%s ", letter ? '-' : ' ', letter ? o->key : ' ',
			       letter ? "," : " ", o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
		cli_wrap(out, label, 28, cli_option_help(command, o));
	}
	if (strchr(command->accepts, 'F')) {
		fputs("\nReport formats:", out);
		for (size_t i = 0; cli_report_name(command, i); i++)
			fprintf(out, "%s %s", i ? "," : "", cli_report_name(command, i));
		fputc('\n', out);
	}
	if (command->ending)
		fprintf(out, "\n%s", command->ending);
}

/* ---- values ---- */

/* A decimal number, with a suffix K, M or G (powers of 1024) where allowed. */
static bool cli_parse_number(const char *text, bool suffix, uint64_t *value)
{
	uint64_t n = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) || __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	if (p == text)
		return false;
	if (suffix && *p) {
		static const char letters[] = "KMG";
		const char *letter = strchr(letters, *p == 'k' ? 'K' : *p);
		if (!letter)
			return false;
		unsigned shift = 10 * (unsigned)(letter - letters + 1);
		if (n > UINT64_MAX >> shift)
			return false;
		n <<= shift;
		p++;
	}
	*value = n;
	return !*p;
}

/* error, warning, note, or `none`, which is TM_IGNORE. */
static bool cli_parse_severity(const char *text, const char *none, enum tracemend_severity *severity)
{
	for (int i = TM_NOTE; i <= TM_ERROR; i++) {
		*severity = (enum tracemend_severity)i;
		if (!strcmp(text, tracemend_severity_name(*severity)))
			return true;
	}
	*severity = TM_IGNORE;
	return !strcmp(text, none);
}

/* Returns CLI_CLEAN, or an exit code after an error message. */
static int cli_list_add(struct cli_list *list, const char *item)
{
	const char **items = system_resize(list->items, list->count + 2, sizeof(*items));

	if (!items)
		return cli_memory();
	items[list->count++] = item;
	items[list->count] = NULL;
	list->items = items;
	return CLI_CLEAN;
}

/* Adds a path. A pattern that the shell left alone, and that is no file, stands for the files that match it. */
static int cli_list_add_paths(struct cli_options *o, struct cli_list *list, const char *path)
{
	glob_t found = { 0 };
	struct stat st;
	int code = CLI_CLEAN;

	if (!strpbrk(path, "*?[") || stat(path, &st) == 0 || glob(path, 0, NULL, &found)) {
		globfree(&found);
		return cli_list_add(list, path);
	}
	for (size_t i = 0; i < found.gl_pathc && !code; i++) {
		char *copy = strdup(found.gl_pathv[i]);
		code = copy ? cli_list_add(&o->owned, copy) : cli_memory();
		if (code)
			free(copy);
		else
			code = cli_list_add(list, copy);
	}
	globfree(&found);
	return code;
}

static bool cli_glob_matches(const char *glob, const struct tracemend_rule *rule)
{
	return !fnmatch(glob, rule->id, 0) || !fnmatch(glob, cli_rule_bare(rule), 0);
}

bool cli_globs_match(const struct cli_list *globs, const struct tracemend_rule *rule)
{
	for (size_t i = 0; i < globs->count; i++)
		if (cli_glob_matches(globs->items[i], rule))
			return true;
	return false;
}

/* Adds a pattern. One that matches no rule is a mistake, with which everything could look clean. */
static int cli_add_glob(struct cli_list *list, const char *option, const char *glob)
{
	size_t count = tracemend_rule_count(NULL);

	for (size_t i = 0; i < count; i++)
		if (cli_glob_matches(glob, tracemend_rule_at(NULL, i)))
			return cli_list_add(list, glob);
	(void)cli_rule_find(glob, NULL);
	return cli_usage("--%s=%s matches no rule; 'tracemend rules' lists them", option, glob);
}

static int cli_add_regrade(struct cli_options *o, const char *text)
{
	const char *equal = strrchr(text, '=');
	struct cli_regrade regrade;

	if (!equal || !cli_parse_severity(equal + 1, "ignore", &regrade.severity))
		return cli_usage("--severity=%s: expected RULE=LEVEL with the level error, warning, note or ignore", text);
	char *name = strndup(text, (size_t)(equal - text));
	struct cli_regrade *regrades = system_resize(o->regrades, o->regrade_count + 1, sizeof(*regrades));
	if (regrades)
		o->regrades = regrades;
	if (!name || !regrades) {
		free(name);
		return cli_memory();
	}
	regrade.rule = cli_rule_find(name, NULL);
	free(name);
	if (!regrade.rule)
		return CLI_USAGE;
	o->regrades[o->regrade_count++] = regrade;
	return CLI_CLEAN;
}

bool cli_rule_chosen(const struct cli_options *o, const struct tracemend_rule *rule)
{
	return (!o->only.count || cli_globs_match(&o->only, rule)) && !cli_globs_match(&o->ignore, rule);
}

/* tracemend_options.grade */
static enum tracemend_severity cli_grade(void *ctx, const struct tracemend_rule *rule, enum tracemend_severity severity)
{
	const struct cli_grading *g = ctx;
	const struct cli_options *o = g->options;

	if (!cli_rule_chosen(o, rule))
		return TM_IGNORE;
	for (size_t i = o->regrade_count; i-- > 0;) /* the last one counts */
		if (o->regrades[i].rule == rule)
			return o->regrades[i].severity;
	return cli_config_chosen(g, rule) ? cli_config_severity(g, rule, severity) : TM_IGNORE;
}

/* Index of text in a NULL-terminated list, or -1. */
static int cli_parse_choice(const char *text, const char *const *choices)
{
	for (int i = 0; choices[i]; i++)
		if (!strcmp(text, choices[i]))
			return i;
	return -1;
}

/* cli_hint() over the report formats of a command. */
static const char *cli_report_hint(const struct cli_command *command, char out[CLI_HINT_MAX], const char *before, const char *word)
{
	const char *names[32] = { NULL };

	for (size_t i = 0; i + 1 < sizeof(names) / sizeof(names[0]) && cli_report_name(command, i); i++)
		names[i] = cli_report_name(command, i);
	return cli_hint(out, before, word, names);
}

/* -f: a format of captures, or for tables one that has rules ("container"). */
static int cli_set_input_format(struct cli_options *o, const char *text)
{
	char hint[CLI_HINT_MAX] = "";

	o->library.format = text;
	if (cli_format_find(text) || (o->command->tables && tracemend_rule_count(text)))
		return CLI_CLEAN;
	if (!*cli_format_hint(hint, text) && strchr(o->command->accepts, 'F'))
		(void)cli_report_hint(o->command, hint, "--format ", text);
	return cli_usage("unknown format '%s'%s", text, *hint ? hint : ": expected fxt, uftrace, tracedat, ktrace or lttng");
}

static int cli_set_format(struct cli_options *o, const char *text)
{
	o->format = text;
	for (size_t i = 0; cli_report_name(o->command, i); i++)
		if (!strcmp(text, cli_report_name(o->command, i)))
			return CLI_CLEAN;
	char hint[CLI_HINT_MAX];
	if (cli_format_find(text) && strchr(o->command->accepts, 'f'))
		return cli_usage("--format=%s: unknown report format; did you mean -f %s, the format of the input?", text, text);
	return cli_usage("--format=%s: unknown report format%s; 'tracemend %s --help' lists them", text,
			 cli_report_hint(o->command, hint, "", text), o->command->name);
}

static int cli_set_damage(struct cli_options *o, const char *text)
{
	for (int i = TM_DAMAGE_NONE + 1; i < TM_DAMAGE_COUNT; i++)
		if (!strcmp(text, tracemend_damage_name((enum tracemend_damage)i))) {
			o->damage = (enum tracemend_damage)i;
			return CLI_CLEAN;
		}
	return cli_usage("--damage=%s: expected truncate, hole, zero-tail, bitflip, duplicate, insert or delete", text);
}

static int cli_set_crash_exit(struct cli_options *o, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !n || n > 255)
		return cli_usage("--crash-exit=%s: expected an exit code from 1 to 255", text);
	o->crash_exit = (unsigned)n;
	return CLI_CLEAN;
}

/* used: where the option of that name has its expression. */
static int cli_set_pattern(const char *name, const char *text, regex_t *pattern, const regex_t **used)
{
	char why[128];

	if (*used)
		regfree(pattern);
	*used = NULL;
	int wrong = regcomp(pattern, text, REG_EXTENDED | REG_NEWLINE);
	if (wrong) {
		(void)regerror(wrong, pattern, why, sizeof(why));
		return cli_usage("%s=%s: %s", name, text, why);
	}
	*used = pattern;
	return CLI_CLEAN;
}

static int cli_set_crash_pattern(struct cli_options *o, const char *text)
{
	static regex_t pattern;

	return cli_set_pattern("--crash-pattern", text, &pattern, &o->crash_pattern);
}

static int cli_set_count_with(struct cli_options *o, const char *text)
{
	static regex_t pattern;

	return cli_set_pattern("--count-with", text, &pattern, &o->count_with);
}

/* A list of outcomes, as in "signal,hang". */
static int cli_set_outcomes(struct cli_options *o, const char *text)
{
	o->outcomes = 0;
	for (const char *p = text; *p; p += *p == ',') {
		size_t length = strcspn(p, ",");
		int found = TRY_FINE;
		for (int i = TRY_FINE + 1; i < TRY_OUTCOMES; i++) {
			const char *name = try_outcome_name((enum try_outcome)i);
			if (strlen(name) == length && !strncmp(p, name, length))
				found = i;
		}
		if (found == TRY_FINE)
			return cli_usage(
				"--outcomes=%s: expected signal, crash, memory, hang, differ, count, rejected or silent, separated "
				"by commas",
				text);
		o->outcomes |= 1u << found;
		p += length;
	}
	return o->outcomes ? CLI_CLEAN : cli_usage("--outcomes needs at least one outcome");
}

static int cli_set_number(const char *option, const char *text, bool suffix, uint64_t low, uint64_t high, uint64_t *value)
{
	if (cli_parse_number(text, suffix, value) && *value >= low && *value <= high)
		return CLI_CLEAN;
	return cli_usage("%s %s: expected a whole number from %llu to %llu%s", option, text, (unsigned long long)low,
			 (unsigned long long)high, suffix ? ", with an optional suffix K, M or G" : "");
}

/* A number in decimal, or in hexadecimal with 0x; *end is set behind it. */
static bool cli_parse_offset(const char *text, const char **end, uint64_t *value)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	size_t length = strspn(text += hex ? 2 : 0, hex ? "0123456789abcdef" : "0123456789");

	*end = text + length;
	return hex ? text_parse_hex(text, length, value) : text_parse_u64(text, length, value);
}

/* FROM-TO, FROM- or -TO. */
static int cli_set_range(const char *option, const char *text, uint64_t range[2], bool *given)
{
	const char *p = text;
	bool good = true;

	range[0] = 0;
	range[1] = UINT64_MAX;
	if (*p != '-')
		good = cli_parse_offset(p, &p, &range[0]);
	good = good && *p == '-' && p[*p == '-'] != '-';
	if (good && *++p)
		good = cli_parse_offset(p, &p, &range[1]) && !*p;
	*given = true;
	if (good && strcmp(text, "-") && range[0] <= range[1])
		return CLI_CLEAN;
	return cli_usage("%s=%s: expected FROM-TO, FROM- or -TO, in decimal or as 0x...", option, text);
}

/* The member that an option without argument sets; NULL: it is another option. */
static bool *cli_flag(struct cli_options *o, int key)
{
	switch (key) {
	case 'n':
		return &o->dry_run;
	case 'x':
		return &o->library.preview;
	case 'z':
		return &o->no_config;
	case 'P':
		return &o->in_place;
	case 'J':
		return &o->update_baseline;
	case 'l':
		return &o->host;
	case '0':
		return &o->sound;
	case '6':
		return &o->list_features;
	case 'V':
		return &o->valid;
	case 'H':
		return &o->strict;
	case 'G':
		return &o->no_debugger;
	case 'y':
		return &o->no_sandbox;
	case 'q':
		return &o->quiet;
	case 'v':
		return &o->verbose;
	default:
		return NULL;
	}
}

/* The options that take a number. */
static int cli_set_count(struct cli_options *o, int key, const char *text)
{
	uint64_t n = 0;
	int code;

	switch (key) {
	case 'M':
		code = cli_set_number("--max-findings", text, false, 0, SIZE_MAX, &n);
		o->max_findings = (size_t)n;
		o->max_given = true;
		return code;
	case 'j':
		code = cli_set_number("-j", text, false, 1, 1024, &n);
		o->jobs = (unsigned)n;
		return code;
	case 's':
		return cli_set_number("--seed", text, false, 0, INT64_MAX, &o->seed); /* the largest integer in JSON */
	case 'c':
		return cli_set_number("--count", text, false, 1, UINT64_C(1) << 32, &o->count);
	case 'b':
		return cli_set_number("--size", text, true, 1, UINT64_MAX, &o->size);
	case 'u':
		return cli_set_number("--max-unpacked", text, true, 1, UINT64_MAX, &o->library.max_unpacked);
	case 'T':
		code = cli_set_number("--timeout", text, false, 1, 3600, &n);
		o->timeout = (unsigned)n;
		return code;
	case 'Y':
		return cli_set_number("--memory", text, true, 0, INT64_MAX, &o->memory);
	case 'd':
		return cli_set_number("--repeat", text, false, 1, 1000, &o->repeat);
	case 'e':
		return cli_set_number("--enough", text, false, 1, 1000, &o->enough);
	case '1':
		return cli_set_number("--budget", text, false, 0, 100000000, &o->budget);
	case 'N':
		return cli_set_number("--tries", text, false, 0, UINT64_C(1) << 32, &o->tries);
	default:
		return CLI_BUG;
	}
}

int cli_options_set(struct cli_options *o, int key, const char *text)
{
	static const char *const colors[] = { "auto", "always", "never", NULL };
	bool *flag = cli_flag(o, key);
	int choice;

	if (flag) {
		*flag = true;
		return CLI_CLEAN;
	}
	switch (key) {
	case 'f':
		return cli_set_input_format(o, text);
	case 'p':
		o->library.profile = text;
		return CLI_CLEAN;
	case 'F':
		return cli_set_format(o, text);
	case 'A': {
		const struct report_printer *printer;
		const char *file;
		int code = cli_saves_parse(text, &printer, &file);
		return code ? code : cli_list_add(&o->save, text);
	}
	case 'B':
		o->baseline = text;
		return *text && strcmp(text, "-") ? CLI_CLEAN : cli_usage("--baseline needs the name of a file");
	case 'L':
		o->fail_given = true;
		if (!cli_parse_severity(text, "never", &o->fail_on))
			return cli_usage("--fail-on=%s: expected error, warning, note or never", text);
		return CLI_CLEAN;
	case 'O':
		return cli_add_glob(&o->only, "only", text);
	case 'I':
		return cli_add_glob(&o->ignore, "ignore", text);
	case 'S':
		return cli_add_regrade(o, text);
	case 'Q':
		o->config_path = text;
		return CLI_CLEAN;
	case 'o':
		o->output = text;
		return *text ? CLI_CLEAN : cli_usage("-o needs a name");
	case 'm':
		o->manifest = text;
		return *text ? CLI_CLEAN : cli_usage("--manifest needs a name");
	case 'g':
		o->page = text;
		return *text && strcmp(text, "-") ? CLI_CLEAN : cli_usage("--report needs the name of a file");
	case 'w':
		o->verify_with = text;
		return strstr(text, "{}") ? CLI_CLEAN : cli_usage("--verify-with=%s: needs {} for the path of the result", text);
	case 'E':
		if (!strcmp(text, "auto")) {
			o->extra_auto = true;
			return CLI_CLEAN;
		}
		return cli_list_add_paths(o, &o->extra, text);
	case 'D':
		return cli_list_add_paths(o, &o->donor, text);
	case 'R':
	case 'W':
		return cli_list_add(&o->rule_names, text);
	case '4':
		return cli_list_add(&o->with, text);
	case '5':
		return cli_list_add(&o->without, text);
	case 'K':
		return cli_set_damage(o, text);
	case 'r':
		return cli_set_range("--range", text, o->range, &o->range_given);
	case 't':
		return cli_set_range("--times", text, o->times, &o->times_given);
	case 'a': {
		const char *end;
		o->around_given = cli_parse_offset(text, &end, &o->around) && !*end;
		return o->around_given ? CLI_CLEAN : cli_usage("--around=%s: expected an offset, in decimal or as 0x...", text);
	}
	case 'X':
		o->shell = text;
		return CLI_CLEAN;
	case 'U':
		return cli_set_outcomes(o, text);
	case 'i':
		return cli_set_crash_exit(o, text);
	case 'k':
		return cli_set_crash_pattern(o, text);
	case '2':
		return cli_set_count_with(o, text);
	case '3':
		return cli_list_add(&o->compared, text);
	case 'C':
		choice = cli_parse_choice(text, colors);
		if (choice < 0)
			return cli_usage("--color=%s: expected auto, always or never", text);
		o->color = (enum cli_color)choice;
		return CLI_CLEAN;
	default:
		return cli_set_count(o, key, text);
	}
}

/* ---- parsing ---- */

/* Names the nearest option of the command, or the commands that have an option of this name. */
static int cli_options_unknown(const struct cli_command *commands, const struct cli_command *command, const char *given)
{
	const char *names[OPTION_COUNT + 1] = { NULL };
	char hint[CLI_HINT_MAX], word[64];
	size_t count = 0, length = strcspn(given, "=");

	(void)snprintf(word, sizeof(word), "%.*s", (int)length, given);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strchr(command->accepts, options[i].key))
			names[count++] = options[i].name;
	const char *name = word + strspn(word, "-");
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (strcmp(options[i].name, name) != 0)
			continue;
		for (const struct cli_command *c = commands; c->name; c++)
			if (strchr(c->accepts, options[i].key))
				return cli_usage("%s has no option '%s'; %s has it", command->name, word, c->name);
	}
	cli_hint(hint, "--", name, names);
	return cli_usage("%s has no option '%s'%s; 'tracemend %s --help' lists them", command->name, word, hint, command->name);
}

/* Explains an option that getopt_long() did not accept. */
static int cli_options_strange(const struct cli_options *o, int answer, char **argv)
{
	const struct cli_command *command = o->command;

	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (optopt != options[i].key)
			continue;
		if (answer == ':')
			return cli_usage("option --%s needs %s", options[i].name, options[i].argument);
		if (strchr(command->accepts, options[i].key) && argv[optind - 1][1] == '-')
			return cli_usage("option --%s takes no argument", options[i].name);
	}
	if (optopt)
		return cli_usage("%s has no option '-%c'; 'tracemend %s --help' lists them", command->name, optopt, command->name);
	return cli_options_unknown(o->commands, command, argv[optind - 1]);
}

/* The profile must be one of the format, or of any format when the format will be recognised. */
static int cli_check_profile(const struct cli_options *o)
{
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);

	if (!o->library.profile)
		return CLI_CLEAN;
	for (size_t i = 0; i < count; i++) {
		if (o->library.format && strcmp(o->library.format, formats[i]->name))
			continue;
		for (size_t k = 0; formats[i]->profiles && formats[i]->profiles[k]; k++)
			if (!strcmp(formats[i]->profiles[k], o->library.profile))
				return CLI_CLEAN;
	}
	if (o->library.format)
		return cli_usage("--profile=%s: %s has no such profile", o->library.profile, o->library.format);
	return cli_usage("--profile=%s: no format has such a profile", o->library.profile);
}

/* Takes the command after "--" from the arguments. */
static int cli_take_command(struct cli_options *o, int *argc, char **argv)
{
	int end = *argc, code = CLI_CLEAN;

	if (!strchr(o->command->accepts, '-'))
		return CLI_CLEAN;
	for (int i = *argc; i-- > 1;)
		if (!strcmp(argv[i], "--"))
			end = i;
	for (int i = end + 1; i < *argc && !code; i++)
		code = cli_list_add(&o->command_line, argv[i]);
	*argc = end;
	return code;
}

/* The options of a command, for getopt_long(). */
struct cli_getopt {
	struct option longs[OPTION_COUNT + 1];
	char shorts[2 * OPTION_COUNT + 8];
};

static void cli_getopt_fill(struct cli_getopt *g, const struct cli_command *command)
{
	size_t at = 0, count = 0;

	*g = (struct cli_getopt){ 0 };
	g->shorts[at++] = ':'; /* getopt_long() returns ':' for a missing argument */
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct cli_option *o = &options[i];
		if (!strchr(command->accepts, o->key))
			continue;
		g->longs[count++] = (struct option){ o->name, o->argument ? required_argument : no_argument, NULL, o->key };
		if (!cli_option_is_letter(o))
			continue;
		g->shorts[at++] = o->key;
		if (o->argument)
			g->shorts[at++] = ':';
	}
}

/* Takes the arguments after the options. */
static int cli_take_paths(struct cli_options *o, int argc, char **argv)
{
	bool stdin_used = false;
	int code = CLI_CLEAN;

	for (int i = optind; i < argc && !code; i++) {
		bool is_stdin = !strcmp(argv[i], "-");
		code = cli_list_add(&o->paths, argv[i]);
		if (is_stdin && stdin_used)
			code = cli_usage("standard input can be read only once");
		stdin_used = stdin_used || is_stdin;
	}
	return code;
}

/* Takes all options. *done: the program is finished, and exits with the returned code. */
static int cli_take_options(struct cli_options *o, int argc, char **argv, bool *done)
{
	struct cli_getopt g;
	int answer, code = CLI_CLEAN;

	*done = true;
	cli_getopt_fill(&g, o->command);
	opterr = 0;
	while (!code && (answer = getopt_long(argc, argv, g.shorts, g.longs, NULL)) != -1) {
		switch (answer) {
		case 'h':
			cli_options_help(o->command, stdout);
			return CLI_CLEAN;
		case 'Z':
			sandbox_print_version(stdout);
			return CLI_CLEAN;
		case '?':
		case ':':
			code = cli_options_strange(o, answer, argv);
			break;
		default:
			code = cli_options_set(o, answer, optarg);
		}
	}
	*done = code != CLI_CLEAN;
	return code;
}

/* Finds the rules of --rule. Only gen takes more than one. */
static int cli_take_rules(struct cli_options *o)
{
	size_t count = o->rule_names.count;

	if (count > 1 && !strchr(o->command->accepts, 'R'))
		return cli_usage("%s takes one --rule", o->command->name);
	o->rules = count ? calloc(count, sizeof(*o->rules)) : NULL;
	if (count && !o->rules)
		return cli_memory();
	for (; o->rule_count < count; o->rule_count++) {
		o->rules[o->rule_count] = cli_rule_find(o->rule_names.items[o->rule_count], o->library.format);
		if (!o->rules[o->rule_count])
			return CLI_USAGE;
	}
	o->rule = count ? o->rules[0] : NULL;
	return CLI_CLEAN;
}

/* With no rule left, every capture would be clean. */
static int cli_check_rules_left(const struct cli_options *o)
{
	size_t count = tracemend_rule_count(NULL), left = 0;

	for (size_t i = 0; i < count; i++)
		left += cli_rule_chosen(o, tracemend_rule_at(NULL, i)) &&
			(o->library.preview || !tracemend_rule_at(NULL, i)->preview);
	return left ? CLI_CLEAN
		    : cli_usage("--only and --ignore leave no rule (preview rules need --preview): every capture would be called "
				"clean");
}

bool cli_options_parse(struct cli_options *o, const struct cli_command *commands, const struct cli_command *command, int argc,
		       char **argv, int *code)
{
	bool done = false;

	*o = (struct cli_options){ .commands = commands,
				   .command = command,
				   .fail_on = TM_ERROR,
				   .jobs = 1,
				   .seed = 1,
				   .count = 1,
				   .timeout = command->run == cli_repair ? 60 : 5,
				   .memory = UINT64_C(2) << 30,
				   .tries = command->tries,
				   .repeat = 1,
				   .enough = 1,
				   .outcomes = UINT_MAX };
	o->max_findings = CLI_FINDINGS_LISTED;
	o->format = "text";
	long cores = command->run == cli_check || command->run == cli_repair ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	o->jobs = cores > 1 && cores < 1024 ? (unsigned)cores : 1;
	*code = cli_take_command(o, &argc, argv);
	if (!*code)
		*code = cli_take_options(o, argc, argv, &done);
	if (*code || done)
		return false;
	*code = cli_check_profile(o);
	/* After all options: -f decides which rule a bare name means. */
	if (!*code)
		*code = cli_take_rules(o);
	if (!*code && (o->only.count || o->ignore.count))
		*code = cli_check_rules_left(o);
	if (!*code)
		*code = cli_take_paths(o, argc, argv);
	return !*code;
}

bool cli_options_settle(struct cli_options *o, int *code)
{
	*code = strchr(o->command->accepts, 'Q') ? cli_config_load(o) : CLI_CLEAN;
	const struct report_printer *printer = report_printer_find(o->format);
	if (!o->max_given && printer && !printer->people)
		o->max_findings = 0;
	o->library.max_findings = o->baseline ? 0 : o->max_findings;
	for (size_t i = 0; i < o->save.count; i++) {
		const char *file;
		if (!cli_saves_parse(o->save.items[i], &printer, &file) && !cli_saves_findings(o, printer))
			o->library.max_findings = 0;
	}
	if (o->only.count || o->ignore.count || o->regrade_count || o->config) {
		o->grading = (struct cli_grading){ .options = o, .sections = 1 };
		o->library.grade = cli_grade;
		o->library.grade_ctx = &o->grading;
	}
	return !*code;
}

void cli_options_free(struct cli_options *o)
{
	for (size_t i = 0; i < o->owned.count; i++)
		free((void *)(uintptr_t)o->owned.items[i]);
	free(o->owned.items);
	free(o->with.items);
	free(o->without.items);
	free(o->rule_names.items);
	free(o->rules);
	free(o->paths.items);
	free(o->command_line.items);
	free(o->compared.items);
	free(o->save.items);
	free(o->only.items);
	free(o->ignore.items);
	free(o->extra.items);
	free(o->donor.items);
	free(o->regrades);
	cli_config_free(o->config);
}
