/* .tracemend.ini: settings of check, for all paths and by globs of paths. It is read here and not by a library, since inih cuts
 * section names at 50 bytes and ends them at their first bracket, and globs are longer and have brackets.
 *
 * circle: the file is read when the options of the command line are known, and its keys are options. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX (64u << 10)
/* The sections that apply to a path are a bit each. */
#define CONFIG_SECTIONS_MAX 64

struct config_section {
	const char *glob;	    /* NULL: all paths */
	struct cli_options options; /* of the keys only */
};

struct cli_config {
	char *path, *folder; /* folder: without symbolic links */
	char *text;
	struct config_section list[CONFIG_SECTIONS_MAX]; /* the first: what stands before all sections */
	size_t count;
};

/* ---- reading ---- */

static const struct {
	const char *name;
	char key; /* of the option with the same meaning */
	bool list, whole;
} config_keys[] = {
	{ "ignore", 'I', true, false },	 { "only", 'O', true, false },	       { "severity", 'S', true, false },
	{ "fail-on", 'L', false, true }, { "max-findings", 'M', false, true }, /* a report has one of each */
};
#define CONFIG_KEYS (sizeof(config_keys) / sizeof(config_keys[0]))

/* Removes blanks at both ends. */
static char *config_trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static int config_section(struct cli_config *c, const struct cli_options *o, char *glob, unsigned line)
{
	if (!*glob || strpbrk(glob, "{}") || glob[strlen(glob) - 1] == '/')
		return cli_usage(
			"%s:%u: a section is a glob of paths, with *, ?, [...] and **, without braces, and no slash at its end",
			c->path, line);
	if (c->count == CONFIG_SECTIONS_MAX)
		return cli_usage("%s:%u: more than %d sections", c->path, line, CONFIG_SECTIONS_MAX - 1);
	c->list[c->count++] = (struct config_section){ .glob = glob,
						       .options = { .commands = o->commands, .command = o->command } };
	return CLI_CLEAN;
}

static int config_set(struct cli_config *c, size_t key, char *value, unsigned line)
{
	struct cli_options *o = &c->list[c->count - 1].options;
	const char *separators = config_keys[key].list ? ", \t" : "";
	int code = CLI_CLEAN;

	if (!*value)
		return cli_usage("%s:%u: %s has no value", c->path, line, config_keys[key].name);
	if (config_keys[key].whole && c->count > 1)
		return cli_usage("%s:%u: %s belongs before the first section: it is of the whole report", c->path, line,
				 config_keys[key].name);
	for (char *next = value; *value && !code; value = next) {
		size_t length = strcspn(value, separators);
		next = value + length;
		if (*next)
			*next++ = '\0';
		if (*value)
			code = cli_options_set(o, config_keys[key].key, value);
	}
	if (code == CLI_USAGE)
		return cli_usage("%s:%u: not a value of '%s'", c->path, line, config_keys[key].name);
	return code;
}

static int config_line(struct cli_config *c, const struct cli_options *o, char *text, unsigned line)
{
	const char *names[CONFIG_KEYS + 1] = { NULL };
	char hint[CLI_HINT_MAX];
	size_t length = strlen(text);

	if (!*text || *text == '#' || *text == ';')
		return CLI_CLEAN;
	if (*text == '[') {
		if (text[length - 1] != ']')
			return cli_usage("%s:%u: a section ends in ']'", c->path, line);
		text[length - 1] = '\0';
		return config_section(c, o, config_trim(text + 1), line);
	}
	char *equal = strchr(text, '=');
	if (!equal)
		return cli_usage("%s:%u: expected [GLOB] or KEY = VALUE", c->path, line);
	*equal = '\0';
	char *name = config_trim(text);
	for (size_t i = 0; i < CONFIG_KEYS; i++) {
		names[i] = config_keys[i].name;
		if (!strcmp(name, names[i]))
			return config_set(c, i, config_trim(equal + 1), line);
	}
	return cli_usage("%s:%u: unknown key '%s'%s", c->path, line, name, cli_hint(hint, "", name, names));
}

/* Reads the file, up to the limit. Returns an exit code after a message. */
static int config_read(struct cli_config *c)
{
	struct stat st;
	size_t size = 0;
	ssize_t got = 0;
	int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		cli_error("%s: cannot be read: %s", c->path, fd < 0 ? strerror(errno) : "not a regular file");
		if (fd >= 0)
			(void)close(fd);
		return CLI_IO;
	}
	c->text = malloc(CONFIG_BYTES_MAX + 1);
	while (c->text && size <= CONFIG_BYTES_MAX && (got = read(fd, c->text + size, CONFIG_BYTES_MAX + 1 - size)) > 0)
		size += (size_t)got;
	(void)close(fd);
	if (!c->text)
		return cli_memory();
	if (got < 0) {
		cli_error("%s: cannot be read", c->path);
		return CLI_IO;
	}
	if (size > CONFIG_BYTES_MAX)
		return cli_usage("%s: is larger than %u bytes", c->path, CONFIG_BYTES_MAX);
	if (memchr(c->text, '\0', size))
		return cli_usage("%s: is not text", c->path);
	c->text[size] = '\0';
	return CLI_CLEAN;
}

static int config_parse(struct cli_config *c, const struct cli_options *o)
{
	int code = config_read(c);
	unsigned line = 0;

	c->list[c->count++] = (struct config_section){ .options = { .commands = o->commands, .command = o->command } };
	for (char *at = c->text, *next; at && *at && !code; at = next) {
		next = at + strcspn(at, "\n");
		if (*next)
			*next++ = '\0';
		code = config_line(c, o, config_trim(at), ++line);
	}
	return code;
}

/* ---- finding it ---- */

/* Whether a folder is in a capture that is to be checked: what is there came with the capture, and decides nothing. */
static bool config_in_capture(const struct cli_options *o, const char *folder)
{
	struct stat st;
	bool inside = false;

	for (size_t i = 0; i < o->paths.count && !inside; i++) {
		const char *path = o->paths.items[i];
		if (stat(path, &st) || !S_ISDIR(st.st_mode) || !(cli_path_same(folder, path) || cli_path_inside(folder, path)))
			continue;
		struct tracemend_options library = { .size = sizeof(library) };
		struct tracemend_input *input = tracemend_open(path, &library, NULL);
		inside = input && tracemend_recognise(input, &library, NULL);
		tracemend_close(input);
	}
	return inside;
}

/* The nearest file upwards from the working directory; the caller frees it. NULL: there is none. */
static char *config_find(const struct cli_options *o)
{
	char *folder = realpath(".", NULL), *path = NULL;

	while (folder) {
		struct stat st;
		if (asprintf(&path, "%s/" CLI_CONFIG_NAME, strcmp(folder, "/") ? folder : "") < 0)
			path = NULL;
		if (path && !stat(path, &st) && S_ISREG(st.st_mode) && !config_in_capture(o, folder))
			break;
		free(path);
		path = NULL;
		char *slash = strrchr(folder, '/');
		if (!slash || !slash[1])
			break;
		slash[slash == folder ? 1 : 0] = '\0';
	}
	free(folder);
	return path;
}

/* With no rule left, every capture would be clean. */
static int config_check_sections(const struct cli_config *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct cli_options *o = &c->list[i].options;
		size_t count = tracemend_rule_count(NULL), left = 0;
		for (size_t k = 0; k < count; k++)
			left += cli_rule_chosen(o, tracemend_rule_at(NULL, k));
		if (!left)
			return cli_usage("%s: only and ignore leave no rule in %s", c->path,
					 c->list[i].glob ? c->list[i].glob : "what is for all paths");
	}
	return CLI_CLEAN;
}

int cli_config_load(struct cli_options *o)
{
	char *path = o->config_path ? strdup(o->config_path) : o->no_config ? NULL : config_find(o);
	int code;

	if (!path)
		return o->config_path ? cli_memory() : CLI_CLEAN;
	struct cli_config *c = calloc(1, sizeof(*c));
	if (!c) {
		free(path);
		return cli_memory();
	}
	o->config = c;
	c->path = path;
	code = config_parse(c, o);
	if (!code)
		code = config_check_sections(c);
	if (code)
		return code;
	c->folder = realpath(path, NULL);
	if (!c->folder)
		return cli_memory();
	char *slash = strrchr(c->folder, '/');
	if (slash)
		slash[slash == c->folder ? 1 : 0] = '\0';
	const struct cli_options *all = &c->list[0].options;
	if (!o->fail_given && all->fail_given)
		o->fail_on = all->fail_on;
	if (!o->max_given && all->max_given) {
		o->max_findings = all->max_findings;
		o->max_given = true;
	}
	if (o->verbose)
		cli_error("settings of %s", path);
	return CLI_CLEAN;
}

void cli_config_free(struct cli_config *c)
{
	for (size_t i = 0; c && i < c->count; i++)
		cli_options_free(&c->list[i].options);
	if (!c)
		return;
	free(c->path);
	free(c->folder);
	free(c->text);
	free(c);
}

/* ---- using it ---- */

/* Whether a part of a path matches a part of a glob, of these lengths. */
static bool config_part_matches(const char *glob, size_t glob_length, const char *part, size_t part_length)
{
	char *copies[] = { strndup(glob, glob_length), strndup(part, part_length) };
	bool matches = copies[0] && copies[1] && !fnmatch(copies[0], copies[1], 0);

	free(copies[0]);
	free(copies[1]);
	return matches;
}

/* Whether a path matches a glob, part by part; ** is any number of parts. Only the last ** needs to be tried again. */
static bool config_matches(const char *glob, const char *path)
{
	const char *again = NULL, *from = NULL;

	while (*path) {
		size_t g = strcspn(glob, "/"), p = strcspn(path, "/");
		const char *next = path + p + (path[p] == '/');
		if (g == 2 && !strncmp(glob, "**", 2)) {
			again = glob + g + (glob[g] == '/');
			from = path;
			if (!*again)
				return true;
			glob = again;
		} else if (g && config_part_matches(glob, g, path, p)) {
			glob += g + (glob[g] == '/');
			path = next;
		} else if (again) {
			from += strcspn(from, "/");
			from += *from == '/';
			path = from;
			glob = again;
		} else {
			return false;
		}
	}
	return !*glob;
}

/* The sections that are for a path. A glob without a slash is for the last name, one with a slash for the path below the folder of
 * the file. */
static uint64_t config_sections(const struct cli_config *c, const char *path)
{
	char *full = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	uint64_t sections = 1;

	if (!full)
		return sections;
	size_t folder = strlen(c->folder);
	const char *slash = strrchr(full, '/'), *below = NULL;
	if (!strcmp(c->folder, "/"))
		below = full + 1;
	else if (!strncmp(full, c->folder, folder) && full[folder] == '/')
		below = full + folder + 1;
	for (size_t i = 1; i < c->count; i++) {
		const char *glob = c->list[i].glob;
		bool named = !strchr(glob, '/'), matches;
		if (named)
			matches = slash && config_part_matches(glob, strlen(glob), slash + 1, strlen(slash + 1));
		else
			matches = below && config_matches(glob + (*glob == '/'), below);
		sections |= (uint64_t)matches << i;
	}
	free(full);
	return sections;
}

static bool config_applies(const struct cli_grading *g, size_t section)
{
	return g->sections >> section & 1;
}

bool cli_config_chosen(const struct cli_grading *g, const struct tracemend_rule *rule)
{
	const struct cli_config *c = g->options->config;
	const struct cli_options *only = NULL;

	/* What the command line asks for by name is reported. */
	for (size_t i = 0; c && !g->options->only.count && i < c->count; i++) {
		const struct cli_options *o = &c->list[i].options;
		if (!config_applies(g, i))
			continue;
		if (o->only.count)
			only = o; /* the last one counts */
		if (cli_globs_match(&o->ignore, rule))
			return false;
	}
	return !only || cli_globs_match(&only->only, rule);
}

enum tracemend_severity cli_config_severity(const struct cli_grading *g, const struct tracemend_rule *rule,
					    enum tracemend_severity severity)
{
	const struct cli_config *c = g->options->config;

	for (size_t i = c ? c->count : 0; i-- > 0;) /* the last one counts */
		for (size_t k = c->list[i].options.regrade_count; config_applies(g, i) && k-- > 0;)
			if (c->list[i].options.regrades[k].rule == rule)
				return c->list[i].options.regrades[k].severity;
	return severity;
}

void cli_config_grading(struct cli_grading *g, const struct cli_options *o, const char *path)
{
	char *outer = strdup(path);

	*g = (struct cli_grading){ .options = o, .sections = 1 };
	/* What is in an archive goes by the archive. */
	while (outer && o->config) {
		char *slash = strrchr(outer, '/');
		if (!access(outer, F_OK) || !slash || slash == outer) {
			g->sections = config_sections(o->config, outer);
			break;
		}
		*slash = '\0';
	}
	free(outer);
}

bool cli_config_choose(struct cli_grading *g, const struct cli_options *o, const char *path)
{
	size_t count = tracemend_rule_count(NULL);

	*g = (struct cli_grading){ .options = o, .sections = o->config ? config_sections(o->config, path) : 0 };
	for (size_t i = 0; i < count; i++)
		if (cli_rule_chosen(o, tracemend_rule_at(NULL, i)) && cli_config_chosen(g, tracemend_rule_at(NULL, i)))
			return true;
	return false;
}
