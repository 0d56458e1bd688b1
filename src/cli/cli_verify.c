/* --verify-with: a reader is run on a result before the result gets its name. */
#include "cli/cli.h"
#include "cli/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the reader's output, the last lines that are printed, and the bytes of each. */
#define VERIFY_LINES 8
#define VERIFY_LINE_MAX 400

bool cli_verify_ask(void *ctx, const char *path)
{
	struct cli_verify *v = ctx;
	/* The reader may go to another directory, and must not take the path for an option. */
	char *absolute = realpath(path, NULL);

	v->answer = calloc(1, sizeof(*v->answer));
	if (v->answer && absolute)
		reader_run(v->options, READER_KEEP, absolute, v->answer);
	else if (v->answer)
		*v->answer = (struct child_result){ .end = CHILD_NOT_RUN, .code = ENOMEM };
	free(absolute);
	return v->answer && !cli_verify_refused(v);
}

/* Manifest and page get their names directly before the output does: there is never an output without its manifest, and after a
 * kill in between, the hash in the manifest is that of no file. */
bool cli_verify_ready(void *ctx)
{
	struct cli_verify *v = ctx;

	while (v->beside_named < v->beside_count && !v->beside_failed) {
		v->beside_failed = !cli_file_commit(&v->beside[v->beside_named]);
		v->beside_named += !v->beside_failed;
	}
	return !v->beside_failed;
}

int cli_verify_publish(struct cli_verify *v, struct tracemend_repair *repair, const char *path, bool last)
{
	struct tracemend_error error = { 0 };
	const struct tracemend_publish publish = { .size = sizeof(publish),
						   .accept = v->options->verify_with ? cli_verify_ask : NULL,
						   .ready = last ? cli_verify_ready : NULL,
						   .ctx = v };

	if (tracemend_repair_publish_with(repair, path, &publish, &error) == TM_OK)
		return CLI_CLEAN;
	if (v->beside_failed)
		return CLI_IO;
	if (error.status != TM_CANCELLED || cli_signals_caught())
		return cli_fail(&error);
	return v->answer ? CLI_LOST : cli_memory();
}

bool cli_verify_refused(const struct cli_verify *v)
{
	return v->answer && (v->answer->end != CHILD_EXITED || v->answer->code);
}

/* Prints the last lines of the output, escaped. */
static void verify_print_lines(FILE *out, const char *text, size_t size)
{
	char line[VERIFY_LINE_MAX + 1], shown[CLI_TEXT_MAX];
	size_t from = size, lines = 0;

	while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		from = --size;
	while (from && (text[from - 1] != '\n' || ++lines < VERIFY_LINES))
		from--;
	while (from < size) {
		size_t length = 0, used = 0;
		for (; from + length < size && text[from + length] != '\n'; length++)
			if (text[from + length] && text[from + length] != '\r' && used < VERIFY_LINE_MAX)
				line[used++] = text[from + length]; /* a NUL would end the text */
		line[used] = '\0';
		fprintf(out, "  | %s\n", cli_show(shown, line));
		from += length + 1;
	}
}

void cli_verify_say(const struct cli_verify *v, FILE *out)
{
	const struct child_result *r = v->answer;
	const char *input = v->options->paths.items[0];
	char name[32];

	if (!cli_verify_refused(v))
		fputs("the reader accepts the result: exit 0\n", out);
	else if (r->end == CHILD_EXITED)
		cli_error("%s: the reader rejects the result with exit %d; nothing was written", input, r->code);
	else if (r->end == CHILD_KILLED)
		cli_error("%s: the reader is killed by %s; nothing was written", input, child_signal_name(name, r->code));
	else if (r->end == CHILD_HUNG)
		cli_error("%s: the reader does not end within %u seconds of processor time, or %u in all; nothing was written "
			  "(--timeout gives it more)",
			  input, v->options->timeout, v->options->timeout * CHILD_PATIENCE);
	else if (r->end == CHILD_NOT_RUN)
		cli_error("%s: the reader cannot be run: %s; nothing was written", input, strerror(r->code));
	if (r->output)
		verify_print_lines(cli_verify_refused(v) ? cli_talk() : out, r->output, r->output_size);
}

void cli_verify_free(struct cli_verify *v)
{
	if (v->answer)
		child_result_free(v->answer);
	free(v->answer);
	v->answer = NULL;
}
