/* Child processes: fork, exec, limits, and reading their output without waiting longer than the limits. */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/child_count.h"
#include "cli/cli.h"
#include "core/system.h"

/* ---- arguments ---- */

void child_arguments_free(char **arguments)
{
	for (size_t i = 0; arguments && arguments[i]; i++)
		free(arguments[i]);
	free(arguments);
}

static char *child_replace(const char *text, const char *path)
{
	size_t size = strlen(text) + 1, places = 0;

	for (const char *p = text; (p = strstr(p, "{}")); p += 2)
		places++;
	char *out = malloc(size + places * strlen(path)), *at = out;
	if (!out)
		return NULL;
	for (const char *p = text;;) {
		const char *place = strstr(p, "{}");
		size_t length = place ? (size_t)(place - p) : strlen(p);
		memcpy(at, p, length);
		at += length;
		if (!place)
			break;
		at = stpcpy(at, path);
		p = place + 2;
	}
	*at = '\0';
	return out;
}

char **child_arguments(const char *const *command, size_t count, const char *path)
{
	char **arguments = calloc(count + 1, sizeof(*arguments));

	for (size_t i = 0; arguments && i < count; i++) {
		arguments[i] = child_replace(command[i], path);
		if (!arguments[i]) {
			child_arguments_free(arguments);
			return NULL;
		}
	}
	return arguments;
}

char *child_quote(const char *const *arguments, size_t count)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%{}";
	char *out = NULL;
	size_t size = 0;
	FILE *line = open_memstream(&out, &size);

	if (!line)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *p = arguments[i];
		if (i)
			fputc(' ', line);
		if (*p && !p[strspn(p, plain)]) {
			fputs(p, line);
			continue;
		}
		fputc('\'', line);
		for (; *p; p++)
			if (*p == '\'')
				fputs("'\\''", line);
			else
				fputc(*p, line);
		fputc('\'', line);
	}
	bool failed = ferror(line);
	if (fclose(line) || failed) {
		free(out);
		return NULL;
	}
	return out;
}

const char *child_signal_name(char name[32], int number)
{
	const char *known = system_signal_name(number);

	if (known)
		(void)snprintf(name, 32, "SIG%s", known);
	else
		(void)snprintf(name, 32, "signal %d", number);
	return name;
}

/* ---- the child's side: between fork and exec, only what may be done there ---- */

/* A macro, since the type of the first argument of setrlimit() is not the same everywhere. */
#define CHILD_LIMIT(what, soft, hard) \
	(void)setrlimit(what, &(struct rlimit){ .rlim_cur = (rlim_t)(soft), .rlim_max = (rlim_t)(hard) })

_Noreturn static void child_become(char *const *arguments, const struct child_limits *limits, int out, int err, int status)
{
	sigset_t none;
	int nothing = open("/dev/null", O_RDONLY);

	(void)setpgid(0, 0);
	system_fix_addresses();		/* a program that reads uninitialised memory finds the same there each time */
	(void)signal(SIGPIPE, SIG_DFL); /* exec resets handlers, but an ignored signal stays ignored */
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	CHILD_LIMIT(RLIMIT_CORE, 0, 0);
	CHILD_LIMIT(RLIMIT_CPU, limits->seconds, (uint64_t)limits->seconds + 1);
	if (limits->memory)
		CHILD_LIMIT(RLIMIT_AS, limits->memory, limits->memory);
	if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
		(void)execvp(arguments[0], arguments);
	int why = errno;
	(void)!write(status, &why, sizeof(why));
	_exit(127);
}

/* ---- the parent's side ---- */

static int64_t child_clock(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC, &now) ? 0 : (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct child {
	pid_t pid;
	int out, err; /* -1: at its end */
	bool keep;
	struct child_result *result;
	struct child_count count;
};

static void child_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void child_result_free(struct child_result *r)
{
	free(r->output);
	free(r->trail);
	r->output = r->trail = NULL;
}

/* Keeps the last bytes: a full buffer loses its first half. kept: of `room` bytes and one; NULL: nothing is kept. */
static void child_keep(char *kept, size_t *size, size_t room, const char *bytes, size_t length)
{
	size_t half = room / 2;

	if (!kept)
		return;
	if (*size + length >= room) {
		memmove(kept, kept + *size - half, half);
		*size = half;
	}
	memcpy(kept + *size, bytes, length);
	*size += length;
	kept[*size] = '\0';
}

static void child_hear(struct child_result *r, const char *bytes, size_t length)
{
	size_t have = strlen(r->messages);

	r->wrote_messages = true;
	if (!r->trail)
		r->trail = calloc(1, CHILD_TRAIL_MAX + 1);
	child_keep(r->trail, &r->trail_size, CHILD_TRAIL_MAX, bytes, length);
	for (size_t i = 0; i < length && have < sizeof(r->messages) - 1; i++)
		if (bytes[i]) /* a NUL would end the text */
			r->messages[have++] = bytes[i];
	r->messages[have] = '\0';
}

/* Reads what is available. False: nothing, for now or for good. */
static bool child_read(struct child *c, int *fd)
{
	char bytes[16384];
	ssize_t got = read(*fd, bytes, sizeof(bytes));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (got <= 0) {
		child_close(fd);
		return false;
	}
	if (fd == &c->out) {
		child_count_add(&c->count, bytes, (size_t)got);
		child_keep(c->result->output, &c->result->output_size, CHILD_OUTPUT_MAX, bytes, (size_t)got);
	} else {
		child_hear(c->result, bytes, (size_t)got);
	}
	return true;
}

static void child_ended(struct child *c, int status, const struct rusage *used, const struct child_limits *limits)
{
	struct child_result *r = c->result;
	int64_t microseconds = (int64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 + used->ru_utime.tv_usec +
			       used->ru_stime.tv_usec;
	/* The kernel ends a process that passes its limit of processor time with SIGXCPU, then SIGKILL. It may have been a child
	 * of the command, whose time is included here. The limit counts ticks and the usage is exact: beside other work they are
	 * apart by some percent. */
	bool spent = microseconds >= (int64_t)limits->seconds * 1000000 / 8 * 7;

	r->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	if (WIFEXITED(status))
		r->end = spent ? CHILD_HUNG : CHILD_EXITED;
	else
		r->end = r->code == SIGXCPU || (r->code == SIGKILL && spent) ? CHILD_HUNG : CHILD_KILLED;
}

/* Whether whoever asked for the child does not want it any more. */
static bool child_unwanted(const struct child_limits *limits)
{
	struct pollfd stop = { .fd = limits->stop, .events = POLLIN };

	return cli_signals_caught() || (limits->stop >= 0 && poll(&stop, 1, 0) > 0);
}

/* Reads until the child has ended or its time is over. */
static void child_watch(struct child *c, const struct child_limits *limits)
{
	int64_t until = child_clock() + (int64_t)limits->seconds * CHILD_PATIENCE * 1000;
	struct rusage used = { 0 };
	int status = 0;

	for (;;) {
		struct pollfd fds[] = { { .fd = c->out, .events = POLLIN }, { .fd = c->err, .events = POLLIN } };
		bool ended = wait4(c->pid, &status, WNOHANG, &used) == c->pid;
		if (!ended)
			(void)poll(fds, 2, c->out < 0 && c->err < 0 ? 1 : 20); /* most children end by closing their output */
		if (c->out >= 0)
			(void)child_read(c, &c->out);
		if (c->err >= 0)
			(void)child_read(c, &c->err);
		if (ended) {
			child_ended(c, status, &used, limits);
			break;
		}
		bool cancelled = child_unwanted(limits);
		if (cancelled || child_clock() >= until) {
			(void)kill(-c->pid, SIGKILL);
			(void)wait4(c->pid, &status, 0, &used);
			c->result->end = cancelled ? CHILD_CANCELLED : CHILD_HUNG;
			break;
		}
	}
	(void)kill(-c->pid, SIGKILL); /* processes that it left running */
	while (c->out >= 0 && child_read(c, &c->out))
		;
	while (c->err >= 0 && child_read(c, &c->err))
		;
}

static bool child_pipe(int fds[2])
{
	return system_pipe(fds) == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0;
}

static void child_start(struct child *c, char *const *arguments, const struct child_limits *limits)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, status[2] = { -1, -1 }, why = 0;

	if (!child_pipe(out) || !child_pipe(err) || system_pipe(status)) {
		c->result->code = errno;
	} else {
		c->pid = fork();
		if (c->pid == 0)
			child_become(arguments, limits, out[1], err[1], status[1]);
		if (c->pid < 0)
			c->result->code = errno;
	}
	child_close(&out[1]);
	child_close(&err[1]);
	child_close(&status[1]);
	if (c->pid > 0) {
		(void)setpgid(c->pid, c->pid); /* of this signal and a normal end, the first decides */
		ssize_t got;
		do
			got = read(status[0], &why, sizeof(why));
		while (got < 0 && errno == EINTR);
		if (got == (ssize_t)sizeof(why)) {
			c->result->code = why;
			(void)waitpid(c->pid, NULL, 0);
			c->pid = -1;
		}
	}
	child_close(&status[0]);
	if (c->pid <= 0) {
		child_close(&out[0]);
		child_close(&err[0]);
	}
	c->out = out[0];
	c->err = err[0];
}

void child_run(char *const *arguments, const struct child_limits *limits, bool keep, struct child_result *result)
{
	struct child c = { .pid = -1, .result = result, .count.pattern = limits->count };

	*result = (struct child_result){ .end = CHILD_NOT_RUN };
	if (keep && !(result->output = calloc(1, CHILD_OUTPUT_MAX + 1))) {
		result->code = ENOMEM;
		return;
	}
	child_start(&c, arguments, limits);
	if (c.pid > 0)
		child_watch(&c, limits);
	child_count_end(&c.count);
	result->counted = c.count.seen;
	result->count = c.count.number;
	child_close(&c.out);
	child_close(&c.err);
}
