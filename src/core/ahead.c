#include "core/ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS_MAX 64u

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t given_one, done_one;
	ahead_work *work;
	uint8_t *pieces; /* borrowed */
	size_t size, count;
	/* Numbers of pieces, which only grow; piece n is at n % count. Those up to `oldest` are free again, those up to `begun` are
	 * worked on or done, those up to `given` wait. */
	uint64_t oldest, begun, given;
	bool *done; /* owned, by place */
	bool ends;
	unsigned threads;
	pthread_t thread[THREADS_MAX];
};

static void *piece_at(const struct ahead *a, uint64_t number)
{
	return a->pieces + number % a->count * a->size;
}

/* Works on the next piece that waits. The lock is held before and after, not meanwhile. */
static void work_on_next(struct ahead *a)
{
	uint64_t number = a->begun++;

	(void)pthread_mutex_unlock(&a->lock);
	a->work(piece_at(a, number));
	(void)pthread_mutex_lock(&a->lock);
	a->done[number % a->count] = true;
	if (number == a->oldest)
		(void)pthread_cond_signal(&a->done_one);
}

static void *thread_run(void *context)
{
	struct ahead *a = context;

	(void)pthread_mutex_lock(&a->lock);
	while (!a->ends) {
		if (a->begun < a->given)
			work_on_next(a);
		else
			(void)pthread_cond_wait(&a->given_one, &a->lock);
	}
	(void)pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void threads_end(struct ahead *a)
{
	(void)pthread_mutex_lock(&a->lock);
	a->ends = true;
	(void)pthread_cond_broadcast(&a->given_one);
	(void)pthread_mutex_unlock(&a->lock);
	while (a->threads)
		(void)pthread_join(a->thread[--a->threads], NULL);
}

static bool locks_make(struct ahead *a)
{
	if (pthread_mutex_init(&a->lock, NULL))
		return false;
	if (!pthread_cond_init(&a->given_one, NULL)) {
		if (!pthread_cond_init(&a->done_one, NULL))
			return true;
		(void)pthread_cond_destroy(&a->given_one);
	}
	(void)pthread_mutex_destroy(&a->lock);
	return false;
}

struct ahead *ahead_open(unsigned threads, void *pieces, size_t size, size_t count, ahead_work *work)
{
	struct ahead *a = calloc(1, sizeof(*a));
	bool *done = calloc(count, sizeof(*done));

	if (!a || !done || !locks_make(a)) {
		free(a);
		free(done);
		return NULL;
	}
	a->work = work;
	a->pieces = pieces;
	a->size = size;
	a->count = count;
	a->done = done;
	while (a->threads < threads && a->threads < THREADS_MAX && !pthread_create(&a->thread[a->threads], NULL, thread_run, a))
		a->threads++;
	if (a->threads)
		return a;
	ahead_close(a);
	return NULL;
}

void ahead_close(struct ahead *a)
{
	if (!a)
		return;
	threads_end(a);
	(void)pthread_cond_destroy(&a->done_one);
	(void)pthread_cond_destroy(&a->given_one);
	(void)pthread_mutex_destroy(&a->lock);
	free(a->done);
	free(a);
}

/* `oldest` and `given` are changed by the walk only, which therefore reads them without the lock. */
void *ahead_room(struct ahead *a)
{
	return a->given - a->oldest < a->count ? piece_at(a, a->given) : NULL;
}

void ahead_give(struct ahead *a)
{
	(void)pthread_mutex_lock(&a->lock);
	a->done[a->given % a->count] = false;
	a->given++;
	(void)pthread_cond_signal(&a->given_one);
	(void)pthread_mutex_unlock(&a->lock);
}

const void *ahead_oldest(const struct ahead *a)
{
	return a->oldest < a->given ? piece_at(a, a->oldest) : NULL;
}

void *ahead_take(struct ahead *a)
{
	if (a->oldest == a->given)
		return NULL;
	(void)pthread_mutex_lock(&a->lock);
	while (!a->done[a->oldest % a->count]) {
		if (a->begun < a->given)
			work_on_next(a);
		else
			(void)pthread_cond_wait(&a->done_one, &a->lock);
	}
	(void)pthread_mutex_unlock(&a->lock);
	return piece_at(a, a->oldest);
}

void ahead_free(struct ahead *a)
{
	(void)pthread_mutex_lock(&a->lock);
	a->oldest++;
	(void)pthread_mutex_unlock(&a->lock);
}

void ahead_drop(struct ahead *a)
{
	(void)pthread_mutex_lock(&a->lock);
	/* Those that wait are the newest ones. */
	a->given = a->begun;
	(void)pthread_mutex_unlock(&a->lock);
	while (ahead_take(a))
		ahead_free(a);
}
