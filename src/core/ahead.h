/* Work ahead of a walk. Pieces of a capture that do not depend on each other, such as chunks that are compressed each by itself,
 * are worked on by threads while the walk is still at earlier ones. The walk takes the results in the order in which it gave the
 * pieces, and works itself where it would have to wait: what it sees is the same with any number of threads.
 *
 * An object is used by one thread, that of the walk. */
#ifndef CORE_AHEAD_H
#define CORE_AHEAD_H

#include <stddef.h>

struct ahead;

/* Works on one piece. Called in any thread, and in several at once: it touches nothing but the piece. */
typedef void ahead_work(void *piece);

/* pieces: an array of `count` pieces of `size` bytes, all of them free; borrowed. threads: besides that of the walk, at least 1.
 * NULL: memory is short, or no thread can be started. */
struct ahead *ahead_open(unsigned threads, void *pieces, size_t size, size_t count, ahead_work *work);
/* Waits for the threads and ends them. NULL is allowed. */
void ahead_close(struct ahead *a);

/* The next free piece, which the caller fills; NULL: none is free. */
void *ahead_room(struct ahead *a);
/* That piece is filled: it may be worked on. */
void ahead_give(struct ahead *a);
/* The oldest piece that was given and is not free again; NULL: there is none. Nothing but what the caller filled in may be read. */
const void *ahead_oldest(const struct ahead *a);
/* The same when it is worked on. */
void *ahead_take(struct ahead *a);
/* The oldest piece is free again; ahead_take() returned it before. */
void ahead_free(struct ahead *a);
/* All pieces are free again, worked on or not. */
void ahead_drop(struct ahead *a);

#endif
