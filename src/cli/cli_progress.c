/* The progress line, and stopping on a signal. The line is shown on a terminal only, from the first second on, at most ten times a
 * second, and is erased at the end. */
#include "cli/cli.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The only variable that the signal handler writes. */
static volatile sig_atomic_t caught;

struct cli_progress {
	pthread_mutex_t lock;
	bool enabled, drawn;
	unsigned hidden;
	int64_t started, last; /* milliseconds */
	size_t inputs, finished, count;
	struct cli_progress_slot slots[];
};

static void cli_signal(int number)
{
	caught = number;
}

void cli_signals_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	/* The second signal of a kind ends the program at once. */
	struct sigaction action = { .sa_handler = cli_signal, .sa_flags = (int)SA_RESETHAND };

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN) /* as with nohup */
			(void)sigaction(numbers[i], &action, NULL);
	}
	/* Writing to a closed pipe is reported as a failed write. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* So is writing past a limit on the size of files. */
	(void)signal(SIGXFSZ, SIG_IGN);
}

bool cli_output_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

int cli_signals_caught(void)
{
	return (int)caught;
}

int64_t cli_now(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC, &now) ? 0 : (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct cli_progress *cli_progress_new(const struct cli_options *o, size_t slots, size_t inputs)
{
	struct cli_progress *p = calloc(1, sizeof(*p) + slots * sizeof(p->slots[0]));

	if (!p)
		return NULL;
	if (pthread_mutex_init(&p->lock, NULL)) {
		free(p);
		return NULL;
	}
	p->enabled = !o->quiet && isatty(STDERR_FILENO);
	p->started = cli_now();
	p->inputs = inputs;
	p->count = slots;
	for (size_t i = 0; i < slots; i++)
		p->slots[i].progress = p;
	return p;
}

static void cli_progress_erase(struct cli_progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}

static void cli_progress_draw(struct cli_progress *p, int64_t now)
{
	uint64_t done = 0, total = 0;

	for (size_t i = 0; i < p->count; i++) {
		done += p->slots[i].done;
		total += p->slots[i].total;
	}
	/* A repair reads a capture several times: to plan, to check what it would write, to write it. */
	uint64_t pass = total ? done / total : 0, percent = total ? (done - pass * total) / (total / 100 + 1) : 0;
	cli_progress_erase(p);
	if (p->inputs > 1)
		fprintf(stderr, "%zu of %zu done, ", p->finished, p->inputs);
	fprintf(stderr, "%llu MB read", (unsigned long long)(done >> 20));
	if (pass)
		fprintf(stderr, ", pass %llu", (unsigned long long)pass + 1);
	if (total)
		fprintf(stderr, ", %llu%%", (unsigned long long)(percent > 99 ? 99 : percent));
	fflush(stderr);
	p->drawn = true;
	p->last = now;
}

static bool cli_progress_tick(void *ctx, uint64_t done, uint64_t total)
{
	struct cli_progress_slot *slot = ctx;
	struct cli_progress *p = slot->progress;

	if (p && p->enabled) {
		(void)pthread_mutex_lock(&p->lock);
		/* Standard input has been read, whose size was not known. */
		bool begins = p->inputs == 1 && !slot->total && total;
		slot->done = done;
		slot->total = total;
		int64_t now = cli_now();
		if (!p->hidden && now - p->started > 1000 && (begins || now - p->last >= 100))
			cli_progress_draw(p, now);
		(void)pthread_mutex_unlock(&p->lock);
	}
	return !caught;
}

void cli_progress_attach(struct cli_progress *p, size_t index, struct tracemend_options *library)
{
	static struct cli_progress_slot none; /* never written: its progress is NULL */

	library->progress = cli_progress_tick;
	library->progress_ctx = p ? &p->slots[index] : &none;
}

void cli_progress_finished(struct cli_progress *p, size_t index)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->slots[index].done = p->slots[index].total = 0;
	p->finished++;
	(void)pthread_mutex_unlock(&p->lock);
}

void cli_progress_hide(struct cli_progress *p)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->hidden++;
	cli_progress_erase(p);
	fflush(stderr);
	(void)pthread_mutex_unlock(&p->lock);
}

void cli_progress_show(struct cli_progress *p)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->hidden--;
	(void)pthread_mutex_unlock(&p->lock);
}

void cli_progress_free(struct cli_progress *p)
{
	if (!p)
		return;
	cli_progress_erase(p);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}
