/* Runs the reader of captures: here, or in a process that stays outside the sandbox. */
#include "cli/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sandbox.h"
#include "cli/try.h"
#include "core/system.h"

/* Bytes of a path that a request may have. */
#define READER_PATH_MAX (1u << 16)
/* Milliseconds after which it is looked at whether the program was told to stop. */
#define READER_LOOK 50

struct reader {
	pid_t pid;
	int ask, answer; /* pipes to and from the process; -1: it has ended */
	bool busy;
};

struct reader_pool {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	size_t count;
	struct reader list[];
};

struct reader_request {
	uint32_t task, which, length; /* of the path, which follows; which: of several readers */
};

/* ---- the command ---- */

/* What is asked about the program $1, as far as the system has the tools. $2 is "script" where it cannot be asked itself. */
#define READER_ORIGIN_SCRIPT \
	"p=$(command -v \"$1\") && p=$(readlink -f \"$p\")\n" \
	"test \"$2\" = script || \"$1\" --version </dev/null 2>/dev/null | sed -n '/[vV ][0-9]/{s/^/version /p;q}'\n" \
	"readelf -n \"$p\" 2>/dev/null | sed -n 's/^ *Build ID: /build-id /p'\n" \
	"n=$(dpkg-query -S \"$p\" 2>/dev/null | sed -n '1s/:.*//p') && test -n \"$n\" && " \
	"dpkg-query -W -f 'package ${Package} ${Version}\\n' \"$n\" 2>/dev/null\n" \
	"exit 0"
/* Seconds of processor time for that. */
#define READER_ORIGIN_SECONDS 2u

/* which: of the commands of --reader, if there are any. */
static char **reader_arguments(const struct cli_options *o, enum reader_task task, size_t which, const char *path)
{
	char *text = NULL, *quoted = NULL, **arguments = NULL;

	if (task == READER_ORIGIN) {
		bool script = !strncmp(path, "script:", 7);
		const char *const items[] = {
			"/bin/sh", "-c", READER_ORIGIN_SCRIPT, "sh", script ? path + 7 : path, script ? "script" : "program"
		};
		return child_arguments(items, 6, "{}");
	}

	const char *shell = o->compared.count ? o->compared.items[which] : o->verify_with ? o->verify_with : o->shell;
	if (!shell) {
		arguments = child_arguments(o->command_line.items, o->command_line.count, path);
	} else {
		/* With --verify-with, errors and results in one stream: in their order, and the last of each are kept. */
		if (asprintf(&text, "%s%s", o->verify_with ? "exec 2>&1\n" : "", shell) < 0)
			text = NULL;
		const char *const items[] = { "/bin/sh", "-c", text };
		quoted = child_quote(&path, 1);
		if (text && quoted)
			arguments = child_arguments(items, 3, quoted);
	}
	free(text);
	free(quoted);
	if (arguments && task == READER_DEBUG) {
		char **debugged = try_site_command(arguments);
		child_arguments_free(arguments);
		return debugged;
	}
	return arguments;
}

/* stop: see struct child_limits. */
static void reader_run_here(const struct cli_options *o, enum reader_task task, size_t which, const char *path, int stop,
			    struct child_result *result)
{
	struct child_limits limits = { .seconds = o->timeout, .memory = o->memory, .stop = stop, .count = o->count_with };
	char **arguments = reader_arguments(o, task, which, path);

	if (task == READER_DEBUG)
		limits.seconds += TRY_SITE_SECONDS;
	if (task == READER_ORIGIN)
		limits = (struct child_limits){ .seconds = READER_ORIGIN_SECONDS, .stop = stop };
	if (arguments)
		child_run(arguments, &limits, task != READER_RUN, result);
	else
		*result = (struct child_result){ .end = CHILD_NOT_RUN, .code = ENOMEM };
	child_arguments_free(arguments);
}

/* ---- between the processes ---- */

static bool reader_put(int fd, const void *data, size_t length)
{
	for (const char *from = data; length;) {
		ssize_t n = write(fd, from, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		from += n;
		length -= (size_t)n;
	}
	return true;
}

static bool reader_get(int fd, void *data, size_t length)
{
	for (char *to = data; length;) {
		ssize_t n = read(fd, to, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		length -= (size_t)n;
	}
	return true;
}

/* The process: runs the command for each path that comes, until nothing can come any more. */
_Noreturn static void reader_serve(const struct cli_options *o, int requests, int answers)
{
	struct reader_request request;

	while (reader_get(requests, &request, sizeof(request)) && request.length < READER_PATH_MAX &&
	       request.task <= READER_ORIGIN && (!request.which || request.which < o->compared.count)) {
		struct child_result result = { .end = CHILD_NOT_RUN, .code = ENOMEM };
		char *path = calloc(1, (size_t)request.length + 1);
		if (!path || !reader_get(requests, path, request.length))
			break;
		reader_run_here(o, (enum reader_task)request.task, request.which, path, requests, &result);
		free(path);
		if (!reader_put(answers, &result, sizeof(result)) || !reader_put(answers, result.output, result.output_size) ||
		    !reader_put(answers, result.trail, result.trail_size))
			break;
		child_result_free(&result);
	}
	_exit(0);
}

static void reader_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static bool reader_fork(const struct cli_options *o, struct reader_pool *pool)
{
	int requests[2] = { -1, -1 }, answers[2] = { -1, -1 };
	struct reader *r = &pool->list[pool->count];

	*r = (struct reader){ .pid = -1, .ask = -1, .answer = -1 };
	if (system_pipe(requests) == 0 && system_pipe(answers) == 0)
		r->pid = fork();
	if (r->pid == 0) {
		/* Its own ends only: what is held here would keep the others alive. */
		for (size_t i = 0; i < pool->count; i++) {
			(void)close(pool->list[i].ask);
			(void)close(pool->list[i].answer);
		}
		(void)close(requests[1]);
		(void)close(answers[0]);
		reader_serve(o, requests[0], answers[1]);
	}
	int why = errno;
	reader_close(&requests[0]);
	reader_close(&answers[1]);
	if (r->pid < 0) {
		reader_close(&requests[1]);
		reader_close(&answers[0]);
		errno = why;
		return false;
	}
	r->ask = requests[1];
	r->answer = answers[0];
	pool->count++;
	return true;
}

int reader_start(struct cli_options *o)
{
	if (!sandbox_wanted(o) || !(o->verify_with || o->shell || o->compared.count || o->command_line.count))
		return CLI_CLEAN;
	struct reader_pool *pool = calloc(1, sizeof(*pool) + o->jobs * sizeof(pool->list[0]));
	if (!pool || pthread_mutex_init(&pool->lock, NULL)) {
		free(pool);
		return cli_memory();
	}
	if (pthread_cond_init(&pool->freed, NULL)) {
		(void)pthread_mutex_destroy(&pool->lock);
		free(pool);
		return cli_memory();
	}
	o->readers = pool;
	while (pool->count < o->jobs && reader_fork(o, pool))
		;
	if (pool->count)
		return CLI_CLEAN;
	cli_error("the command cannot be run: %s", strerror(errno));
	return CLI_IO;
}

void reader_stop(struct reader_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->count; i++) {
		reader_close(&pool->list[i].ask);
		reader_close(&pool->list[i].answer);
	}
	for (size_t i = 0; i < pool->count; i++)
		while (waitpid(pool->list[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
	(void)pthread_cond_destroy(&pool->freed);
	(void)pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* ---- the sandboxed side ---- */

static struct reader *reader_take(struct reader_pool *pool)
{
	struct reader *free_one = NULL;

	(void)pthread_mutex_lock(&pool->lock);
	while (!free_one) {
		for (size_t i = 0; i < pool->count && !free_one; i++)
			if (!pool->list[i].busy)
				free_one = &pool->list[i];
		if (!free_one)
			(void)pthread_cond_wait(&pool->freed, &pool->lock);
	}
	free_one->busy = true;
	(void)pthread_mutex_unlock(&pool->lock);
	return free_one;
}

static void reader_give(struct reader_pool *pool, struct reader *r)
{
	(void)pthread_mutex_lock(&pool->lock);
	r->busy = false;
	(void)pthread_cond_signal(&pool->freed);
	(void)pthread_mutex_unlock(&pool->lock);
}

/* Waits for the answer. When the program is told to stop, the process sees it by the end of its requests, and stops, too. */
static void reader_wait(struct reader *r)
{
	struct pollfd answer = { .fd = r->answer, .events = POLLIN };

	while (poll(&answer, 1, READER_LOOK) <= 0)
		if (cli_signals_caught())
			reader_close(&r->ask);
}

/* A text of the answer, with a NUL. always: also where it is empty. */
static bool reader_get_text(struct reader *r, char **text, size_t size, size_t most, bool always)
{
	if (!size && !always)
		return true;
	*text = size <= most ? calloc(1, size + 1) : NULL;
	return *text && reader_get(r->answer, *text, size);
}

static bool reader_ask(struct reader *r, enum reader_task task, size_t which, const char *path, struct child_result *result)
{
	struct reader_request request = { .task = task, .which = (uint32_t)which, .length = (uint32_t)strlen(path) };

	if (r->ask < 0 || !reader_put(r->ask, &request, sizeof(request)) || !reader_put(r->ask, path, request.length))
		return false;
	reader_wait(r);
	bool answered = reader_get(r->answer, result, sizeof(*result));
	/* Pointers of the other process. */
	result->output = result->trail = NULL;
	return answered && reader_get_text(r, &result->output, result->output_size, CHILD_OUTPUT_MAX, task != READER_RUN) &&
	       reader_get_text(r, &result->trail, result->trail_size, CHILD_TRAIL_MAX, false);
}

static void reader_run_one(const struct cli_options *o, enum reader_task task, size_t which, const char *path,
			   struct child_result *result)
{
	*result = (struct child_result){ .end = CHILD_NOT_RUN, .code = ENAMETOOLONG };
	if (strlen(path) >= READER_PATH_MAX)
		return;
	if (!o->readers) {
		reader_run_here(o, task, which, path, -1, result);
		return;
	}
	struct reader *r = reader_take(o->readers);
	if (!reader_ask(r, task, which, path, result)) {
		child_result_free(result);
		*result = (struct child_result){ .end = cli_signals_caught() ? CHILD_CANCELLED : CHILD_NOT_RUN, .code = EPIPE };
		reader_close(&r->ask);
	}
	reader_give(o->readers, r);
}

void reader_run(const struct cli_options *o, enum reader_task task, const char *path, struct child_result *result)
{
	reader_run_one(o, task, 0, path, result);
}

void reader_run_compared(const struct cli_options *o, size_t which, const char *path, struct child_result *result)
{
	reader_run_one(o, READER_RUN, which, path, result);
}
