/* try: runs a reader on captures. Cases are made, read and judged in parallel and keep their order; cases with the same outcome
 * and cause form a group, of which one reduced sample is kept. */
#include "cli/try.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system.h"

/* ---- in parallel ---- */

typedef void (*try_work)(struct try *t, size_t index, size_t slot);

struct try_thread {
	struct try *try;
	try_work work;
	size_t count, slot;
	pthread_t thread;
};

static void *try_thread(void *ctx)
{
	struct try_thread *thread = ctx;

	while (!cli_signals_caught()) {
		size_t index = __atomic_fetch_add(&thread->try->next, 1, __ATOMIC_RELAXED);
		if (index >= thread->count)
			break;
		thread->work(thread->try, index, thread->slot);
	}
	return NULL;
}

/* Works on those from `from` on, in front of `count`. */
static void try_parallel(struct try *t, size_t from, size_t count, try_work work)
{
	size_t jobs = t->options->jobs < count - from ? t->options->jobs : count - from, started = 0;
	struct try_thread *threads = calloc(jobs + 1, sizeof(*threads)), alone = { .try = t, .work = work, .count = count };

	t->next = from;
	for (; threads && jobs > 1 && started < jobs; started++) {
		threads[started] = (struct try_thread){ .try = t, .work = work, .count = count, .slot = started };
		if (pthread_create(&threads[started].thread, NULL, try_thread, &threads[started]))
			break;
	}
	if (!started)
		(void)try_thread(&alone);
	for (size_t i = 0; i < started; i++)
		(void)pthread_join(threads[i].thread, NULL);
	free(threads);
}

/* ---- cases ---- */

static struct try_case *try_case_add(struct try *t)
{
	if ((t->case_count & (t->case_count - 1)) == 0) { /* the array is full at each power of two */
		size_t room = t->case_count ? 2 * t->case_count : 1;
		struct try_case *cases = system_resize(t->cases, room, sizeof(*cases));
		if (!cases)
			return NULL;
		t->cases = cases;
	}
	struct try_case *c = &t->cases[t->case_count++];
	*c = (struct try_case){ 0 };
	return c;
}

/* Adds a case for each seed. */
static bool try_add_seeds(struct try *t, const struct tracemend_rule *rule, enum tracemend_damage damage)
{
	const struct cli_options *o = t->options;

	for (uint64_t i = 0; i < o->count; i++) {
		struct try_case *c = try_case_add(t);
		if (!c)
			return false;
		c->recipe = (struct tracemend_recipe){ .format = o->library.format,
						       .profile = o->library.profile,
						       .damage = damage,
						       .rule = rule ? rule->id : NULL,
						       .seed = o->seed + i,
						       .size = o->size,
						       .host = o->host,
						       .with = o->with.items,
						       .without = o->without.items };
	}
	return true;
}

/* Without a selection: valid captures, each rule, each kind of damage. */
static bool try_add_generated(struct try *t)
{
	const struct cli_options *o = t->options;
	bool chosen = o->rule || o->damage || o->valid || o->only.count, good = true;

	if (o->valid || !chosen)
		good = try_add_seeds(t, NULL, TM_DAMAGE_NONE);
	for (size_t i = 0; i < o->rule_count; i++)
		good = good && try_add_seeds(t, o->rules[i], TM_DAMAGE_NONE);
	for (size_t i = 0; (o->only.count || !chosen) && good && i < tracemend_rule_count(o->library.format); i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(o->library.format, i);
		if (cli_rule_chosen(o, rule))
			good = try_add_seeds(t, rule, TM_DAMAGE_NONE);
	}
	for (int i = TM_DAMAGE_NONE + 1; i < TM_DAMAGE_COUNT && good; i++)
		if (!chosen || (int)o->damage == i)
			good = try_add_seeds(t, NULL, (enum tracemend_damage)i);
	return good;
}

static bool try_add_cases(struct try *t)
{
	const struct cli_options *o = t->options;

	if (!o->paths.count)
		return try_add_generated(t);
	for (size_t i = 0; i < o->paths.count; i++) {
		struct try_case *c = try_case_add(t);
		if (!c)
			return false;
		c->path = o->paths.items[i];
	}
	return true;
}

/* Adds the capture of the same seed without the defect for each case in which the reader did not just read on, and which that
 * would explain. */
static bool try_add_baselines(struct try *t)
{
	size_t asked = t->case_count;

	for (size_t i = 0; i < asked; i++) {
		struct tracemend_recipe r = t->cases[i].recipe;
		const struct try_case *of = &t->cases[i];
		if ((!r.rule && !r.damage) || of->skipped || of->failed || (of->end == CHILD_EXITED && !of->code))
			continue;
		r.damage = TM_DAMAGE_NONE;
		r.sound = r.rule != NULL;
		struct try_case *c = try_case_add(t);
		if (!c)
			return false;
		c->recipe = r;
		c->unasked = true;
		t->cases[i].baseline = t->case_count - 1;
		t->cases[i].has_baseline = true;
	}
	return true;
}

static void try_work_run(struct try *t, size_t index, size_t slot)
{
	try_case_run(t, &t->cases[index], slot);
}

static void try_work_locate(struct try *t, size_t index, size_t slot)
{
	struct try_case *c = &t->cases[index];

	if (c->outcome == TRY_SIGNAL && !c->reported && !c->failed && !c->skipped)
		try_case_locate(t, c, slot);
}

/* ---- samples ---- */

static void try_work_keep(struct try *t, size_t index, size_t slot)
{
	try_group_keep(t, &t->groups[index], slot);
}

/* ---- the command ---- */

int cli_compared_check(const struct cli_options *o)
{
	if (o->command_line.count)
		return cli_usage("--reader and a command after -- exclude each other");
	if (o->compared.count == 1)
		return cli_usage("--reader is given once: one reader alone follows --, as in -- COMMAND {}");
	for (size_t i = 0; i < o->compared.count; i++)
		if (!strstr(o->compared.items[i], "{}"))
			return cli_usage("--reader=%s: needs {} for the path of the capture", o->compared.items[i]);
	return CLI_CLEAN;
}

static int try_check_command(const struct cli_options *o)
{
	if (o->compared.count)
		return cli_compared_check(o);
	if (!o->command_line.count)
		return cli_usage("try needs a reader: tracemend try -f FORMAT -- COMMAND {}");
	for (size_t i = 0; i < o->command_line.count; i++)
		if (strstr(o->command_line.items[i], "{}"))
			return CLI_CLEAN;
	return cli_usage("the command needs {} for the path of the capture");
}

/* Checks the captures that are given, or what to generate. */
static int try_check_captures(const struct cli_options *o)
{
	bool generated = o->rule || o->damage || o->valid || o->only.count || o->ignore.count;
	if (o->paths.count && generated)
		return cli_usage("captures cannot be given together with --valid, --rule, --damage, --only or --ignore, which "
				 "generate them");
	for (size_t i = 0; i < o->paths.count; i++)
		if (!strcmp(o->paths.items[i], "-"))
			return cli_usage("standard input is not a path for a reader");
	if (!o->paths.count && !o->library.format && !o->rule)
		return cli_usage("try needs captures, or -f FORMAT to generate them: fxt, uftrace, tracedat, ktrace or lttng");
	if (o->rule && o->library.format && strcmp(o->rule->format, o->library.format) && cli_format_find(o->rule->format))
		return cli_usage("%s is not a rule of the format %s", o->rule->id, o->library.format);
	if (o->rule && !o->library.format && !cli_format_find(o->rule->format))
		return cli_usage("%s applies to every format: choose one with -f", o->rule->id);
	return o->paths.count ? CLI_CLEAN : cli_features_check(o, o->library.format ? o->library.format : o->rule->format);
}

static int try_check_options(const struct cli_options *o)
{
	struct stat st;
	int code = try_check_command(o);

	if (!code)
		code = try_check_captures(o);
	if (code)
		return code;
	if (o->seed > INT64_MAX - (o->count - 1))
		return cli_usage("--seed and --count exceed the largest seed, which is %lld", (long long)INT64_MAX);
	if (o->output && stat(o->output, &st) == 0 && !S_ISDIR(st.st_mode))
		return cli_usage("-o %s: is not a directory", o->output);
	return CLI_CLEAN;
}

static int try_all(struct try *t)
{
	const struct cli_options *o = t->options;
	int code = CLI_CLEAN;

	if (o->output && mkdir(o->output, 0777) && errno != EEXIST) {
		cli_error("%s: cannot be created: %s", o->output, strerror(errno));
		return CLI_IO;
	}
	try_parallel(t, 0, t->case_count, try_work_run);
	size_t asked = t->case_count;
	if (!try_add_baselines(t))
		return cli_memory();
	try_parallel(t, asked, t->case_count, try_work_run);
	if (t->debugger)
		try_parallel(t, 0, t->case_count, try_work_locate);
	if (!try_group(t))
		return cli_memory();
	if (o->output)
		try_parallel(t, 0, t->group_count, try_work_keep);
	if (cli_signals_caught())
		return CLI_SIGNAL + cli_signals_caught();
	for (size_t i = 0; i < t->case_count; i++)
		code = cli_worse(code, t->cases[i].failed);
	for (size_t i = 0; i < t->group_count; i++)
		code = cli_worse(code, t->groups[i].failed);
	if (o->output && !try_index_write(t))
		code = cli_worse(code, CLI_IO);
	if (!strcmp(o->format, "text"))
		try_report_text(t, stdout);
	else if (!(strcmp(o->format, "json") ? try_report_sarif : try_report_json)(t, stdout))
		code = cli_worse(code, cli_memory());
	return cli_worse(code, t->group_count ? CLI_FINDINGS : CLI_CLEAN);
}

static void try_free(struct try *t)
{
	for (size_t i = 0; i < t->case_count; i++)
		try_case_free(&t->cases[i]);
	for (size_t i = 0; i < t->group_count; i++) {
		free(t->groups[i].folder);
		free(t->groups[i].sample);
		free(t->groups[i].origin);
	}
	try_reader_free(&t->reader);
	free(t->found);
	free(t->cases);
	free(t->groups);
	if (t->scratch)
		cli_path_remove(t->scratch);
	free(t->scratch);
}

/* Whether execvp() would find the command; else it is said once, and not for every capture. */
static bool try_command_found(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/')) {
		if (!access(name, X_OK))
			return true;
		cli_error("%s: cannot be run: %s", name, strerror(errno));
		return false;
	}
	for (const char *p = path ? path : ""; *p; p += *p == ':') {
		size_t length = strcspn(p, ":");
		char *file = NULL;
		bool found = asprintf(&file, "%.*s/%s", (int)length, p, name) >= 0 && !access(file, X_OK);
		free(file);
		if (found)
			return true;
		p += length;
	}
	cli_error("%s: cannot be run: there is no such command in PATH", name);
	return false;
}

/* Whether the programs of all commands exist. False after an error message. */
static bool try_commands_found(const struct cli_options *o)
{
	bool found = true;

	for (size_t i = 0; found && i < o->compared.count; i++) {
		struct cli_list words;
		char *text;
		if (!try_reader_words(o->compared.items[i], &words, &text))
			return cli_memory() == CLI_CLEAN;
		/* What the shell itself knows, settings and pipes are its business. */
		found = !words.count || strpbrk(words.items[0], "=$`'\"(") || try_command_found(words.items[0]);
		free(words.items);
		free(text);
	}
	return o->compared.count ? found : try_command_found(o->command_line.items[0]);
}

int cli_try(struct cli_options *o)
{
	struct try t = { .options = o };
	int code = try_check_options(o);

	if (code)
		return code;
	if (!try_commands_found(o))
		return CLI_IO;
	if (!o->library.format && !o->paths.count)
		o->library.format = o->rule->format;
	o->library.grade = NULL; /* --only and --ignore select what to generate, not what check reports */
	t.debugger = !o->no_debugger && try_site_possible();
	t.scratch = cli_scratch_make();
	if (!t.scratch)
		return CLI_IO;
	code = try_reader_ask(&t) && try_add_cases(&t) ? try_all(&t) : cli_memory();
	try_free(&t);
	return code;
}
