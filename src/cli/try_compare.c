/* Several readers of one capture: whether all read it or none does, and whether they count the same number of records. What each
 * does by itself is not judged; one reader alone is tried for that. */
#include <stdlib.h>
#include <string.h>

#include "cli/reader.h"
#include "cli/try.h"

/* How one of the readers ends. */
struct compare_end {
	char *name;
	enum try_outcome outcome; /* fine, rejected, hang, memory or signal, which stands for a crash of any kind, too */
	bool counted;
	uint64_t count;
	char *words; /* of a crash, or the last line on standard error where the reader refuses; escaped; NULL: none */
	int code;
};

char *try_compare_replay(const struct cli_options *o, const char *path)
{
	char *line = NULL, *quoted = child_quote(&path, 1);
	size_t size = 0;
	FILE *out = quoted ? open_memstream(&line, &size) : NULL;

	for (size_t i = 0; out && i < o->compared.count; i++) {
		const char *const command[] = { o->compared.items[i] };
		char **replaced = child_arguments(command, 1, quoted);
		fprintf(out, "%s%s", i ? "; " : "", replaced ? replaced[0] : "");
		child_arguments_free(replaced);
	}
	free(quoted);
	if (out && fclose(out)) {
		free(line);
		return NULL;
	}
	return line;
}

static void compare_free(struct compare_end *ends, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(ends[i].name);
		free(ends[i].words);
	}
	free(ends);
}

/* Runs one of them. False after an error message, or when tracemend was told to stop. */
static bool compare_read(const struct try *t, size_t which, const char *path, struct compare_end *e, int *failed)
{
	struct child_result r;
	struct try_crash crash;

	e->name = try_reader_name(t->options, which);
	if (!e->name) {
		*failed = cli_memory();
		return false;
	}
	reader_run_compared(t->options, which, path, &r);
	if (r.end == CHILD_NOT_RUN) {
		cli_error("%s: cannot be run: %s", e->name, strerror(r.code));
		*failed = CLI_IO;
	}
	if (r.end == CHILD_NOT_RUN || r.end == CHILD_CANCELLED) {
		child_result_free(&r);
		return false;
	}
	e->outcome = try_outcome_judge(t->options, true, &r, &crash);
	e->code = r.code;
	e->counted = r.counted;
	e->count = r.count;
	if (e->outcome == TRY_CRASH) {
		if (!crash.site || asprintf(&e->words, "%s in %s", crash.summary, crash.site) < 0)
			e->words = crash.summary ? strdup(crash.summary) : NULL;
		e->outcome = TRY_SIGNAL;
		e->code = 0;
	} else if (e->outcome == TRY_REJECTED) {
		e->words = try_last_line(t, path, r.trail ? r.trail : "");
	}
	try_crash_free(&crash);
	child_result_free(&r);
	return true;
}

/* "reader reads 12 records" */
static void compare_say(FILE *out, const struct compare_end *e)
{
	char name[32], number[64];

	fprintf(out, "%s ", e->name);
	if (e->outcome == TRY_REJECTED)
		fprintf(out, "refuses it (exit %d)", e->code);
	else if (e->outcome == TRY_HANG)
		fputs("hangs", out);
	else if (e->outcome == TRY_MEMORY)
		fputs("takes more memory than the limit", out);
	else if (e->outcome == TRY_SIGNAL && e->code)
		fprintf(out, "is killed by %s", child_signal_name(name, e->code));
	else if (e->outcome == TRY_SIGNAL)
		fputs("crashes", out);
	else if (e->counted)
		fprintf(out, "reads %s", text_count(number, e->count, "record"));
	else
		fputs("reads it", out);
	if (e->words)
		fprintf(out, ": %s", e->words);
}

/* The sentence about all of them, and for the group its words where there are any. False: out of memory. */
static bool compare_describe(struct try_case *c, const struct compare_end *ends, size_t count)
{
	size_t size = 0;
	bool words = false;
	FILE *out = open_memstream(&c->message, &size);

	if (!out)
		return false;
	for (size_t i = 0; i < count; i++) {
		fputs(i ? "; " : "", out);
		compare_say(out, &ends[i]);
		words = words || ends[i].words;
	}
	if (fclose(out)) {
		free(c->message);
		c->message = NULL;
		return false;
	}
	c->last = words ? try_mask(c->message) : NULL;
	return !words || c->last;
}

/* A number for how they end, each compared with the first. */
static int compare_code(const struct compare_end *ends, size_t count)
{
	unsigned code = 1;

	for (size_t i = 0; i < count; i++) {
		unsigned end = ends[i].outcome == TRY_FINE ? 0 : 2 + (unsigned)ends[i].outcome;
		if (!end && ends[i].counted && ends[0].counted)
			end = ends[i].count < ends[0].count ? 1 : ends[i].count > ends[0].count ? 2 : 0;
		code = (code * 31 + end) & 0xffffff;
	}
	return (int)code;
}

static bool compare_alike(const struct compare_end *a, const struct compare_end *b)
{
	if (a->outcome != b->outcome)
		return false;
	return a->outcome != TRY_FINE || (a->counted == b->counted && a->count == b->count);
}

bool try_compare_run(const struct try *t, struct try_case *c, const char *path, int *failed)
{
	size_t count = t->options->compared.count, done = 0;
	struct compare_end *ends = calloc(count + 1, sizeof(*ends));
	bool alike = true;

	if (!ends)
		*failed = cli_memory();
	while (ends && done < count && compare_read(t, done, path, &ends[done], failed)) {
		alike = alike && compare_alike(&ends[0], &ends[done]);
		done++;
	}
	bool good = ends && done == count;
	c->end = CHILD_EXITED;
	c->outcome = alike ? TRY_FINE : TRY_DIFFER;
	c->code = good && !alike ? compare_code(ends, count) : 0;
	if (good && !alike && !compare_describe(c, ends, count)) {
		*failed = cli_memory();
		good = false;
	}
	if (ends)
		compare_free(ends, done < count ? done + 1 : count);
	return good;
}
