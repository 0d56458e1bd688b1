/* Threads work on the data of a CPU ahead of the walk: they decode its compressed chunks, or read its pages, and find out what the
 * fast path takes of them. Of the walk they read the shape, the formats and the texts, which do not change while a CPU is
 * walked, but for process ids that are added: a page that was judged without one is walked in the usual way. */
#include "formats/tracedat/scan/tracedat_ahead.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ahead.h"
#include "core/descriptor.h"
#include "formats/tracedat/scan/tracedat_record.h"

#define PIECES 16u
/* Larger chunks, compressed or not, are the walk's. */
#define PIECE_MAX (1u << 20)
/* Of less data, threads cost more than they save. */
#define DATA_MIN (1u << 18)
/* Pages, and bytes of pages, of a piece of data that is not compressed. */
#define PAGES_MAX 64u
#define PAGES_BYTES (1u << 18)

/* One chunk, or some pages. */
struct piece {
	const struct tracedat_walk *w;
	enum tracedat_codec codec;
	struct tracedat_decoder decoder; /* owned */
	uint64_t at;			 /* of the two sizes of a chunk, or of the first page */
	int fd;				 /* pages are read from it; -1: it is a chunk */
	uint32_t page_size;
	uint8_t *frame, *out; /* owned */
	size_t size, room;    /* bytes of the frame, or of the pages; for what comes out of a frame */
	size_t frame_capacity, capacity;
	struct tracedat_decoded decoded;
	bool fine;
	bool plain[PAGES_MAX]; /* of a chunk only the first one, for all of its pages */
	struct tracedat_run runs[PAGES_MAX];
};

struct tracedat_ahead {
	struct ahead *threads;
	struct window window; /* which the walk's own does not follow */
	struct piece pieces[PIECES];
	const struct piece *held; /* the oldest one, while the walk is at its pages; else NULL */
	int fd;			  /* owned: the capture; -1: it is no file by itself */
	uint64_t next;		  /* where the piece behind those that were given begins */
	unsigned few;		  /* pieces that are given at once: more and more, as long as the walk takes them */
};

static void chunk_work(struct piece *p)
{
	p->fine = tracedat_decode(&p->decoder, p->codec, p->frame, p->size, p->out, p->room, &p->decoded);
	p->plain[0] = p->fine && p->decoded.fits && tracedat_chunk_plain(p->w, p->out, p->decoded.size, p->page_size, p->runs);
}

/* A page is plain here where the walk would look at nothing else of it, either. */
static void pages_work(struct piece *p)
{
	const struct tracedat_walk *w = p->w;
	const bool there = descriptor_read(p->fd, p->at, p->frame, p->size) == p->size;

	for (size_t i = 0; i < p->size / p->page_size; i++) {
		const uint8_t *page = p->frame + i * p->page_size;
		p->plain[i] = there && tracedat_page_plausible(w, page, p->page_size, NULL) &&
			      tracedat_page_tail_zero(&w->shape, page, p->page_size) &&
			      tracedat_fast_begin(w, page, p->page_size, &p->runs[i]) && tracedat_run_is_whole(&p->runs[i]);
	}
}

static void piece_work(void *piece)
{
	struct piece *p = piece;

	if (p->fd < 0)
		chunk_work(p);
	else
		pages_work(p);
}

/* Opened for the first data that is worth it. NULL: the walk does all itself. */
static struct tracedat_ahead *ahead_of(struct tracedat_walk *w, uint64_t bytes)
{
	struct tracedat_ahead *a = w->pages.ahead;

	if (a || w->s->threads < 2 || bytes < DATA_MIN || w->shape.old_ring)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->threads = ahead_open(w->s->threads - 1, a->pieces, sizeof(a->pieces[0]), PIECES, piece_work);
	if (!a->threads) {
		free(a);
		return NULL;
	}
	window_open(&a->window, w->source);
	const int fd = w->s->slow ? -1 : source_descriptor(w->source);
	a->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return w->pages.ahead = a;
}

void tracedat_ahead_free(struct tracedat_ahead *a)
{
	if (!a)
		return;
	ahead_close(a->threads);
	window_close(&a->window);
	if (a->fd >= 0)
		(void)close(a->fd);
	for (unsigned i = 0; i < PIECES; i++) {
		tracedat_decoder_free(&a->pieces[i].decoder);
		free(a->pieces[i].frame);
		free(a->pieces[i].out);
	}
	free(a);
}

void tracedat_ahead_stop(struct tracedat_ahead *a)
{
	if (!a)
		return;
	a->held = NULL;
	ahead_drop(a->threads);
}

/* The piece that the walk comes to is that at `at`: others are forgotten. */
static void ahead_start(struct tracedat_ahead *a, uint64_t at)
{
	const struct piece *oldest = ahead_oldest(a->threads);

	if (oldest && oldest->at == at)
		return;
	tracedat_ahead_stop(a);
	a->next = at;
	a->few = 2;
}

/* The oldest piece was of use: it is free again, and more are given the next time. */
static void ahead_done(struct tracedat_ahead *a)
{
	ahead_free(a->threads);
	a->held = NULL;
	a->few = a->few < PIECES ? 2 * a->few : a->few;
}

/* ---- chunks ---- */

/* Gives the chunk at a->next. False: none is there that can be given. */
static bool chunk_give(struct tracedat_walk *w, struct tracedat_ahead *a, uint64_t limit, uint32_t page_size)
{
	struct piece *piece = ahead_room(a->threads);
	const uint8_t *p = piece && limit > a->next && limit - a->next > 8 ? window_at(&a->window, a->next, 8) : NULL;

	if (!p)
		return false;
	const uint32_t size = load_u32(p, w->shape.big_endian), usize = load_u32(p + 4, w->shape.big_endian);
	const size_t room = tracedat_chunk_space(usize, page_size);
	if (!size || size > PIECE_MAX || room > PIECE_MAX || size > limit - a->next - 8)
		return false;
	p = window_at(&a->window, a->next + 8, size);
	if (!p || !tracedat_bytes_room(&piece->frame, &piece->frame_capacity, size) ||
	    !tracedat_bytes_room(&piece->out, &piece->capacity, room))
		return false;
	memcpy(piece->frame, p, size);
	piece->w = w;
	piece->codec = w->shape.codec;
	piece->fd = -1;
	piece->page_size = page_size;
	piece->at = a->next;
	piece->size = size;
	piece->room = room;
	ahead_give(a->threads);
	a->next += 8 + (uint64_t)size;
	return true;
}

void tracedat_ahead_give(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size)
{
	struct tracedat_ahead *a = ahead_of(w, limit - at);

	if (!a)
		return;
	ahead_start(a, at);
	for (unsigned given = 0; given < a->few && chunk_give(w, a, limit, page_size); given++)
		;
}

bool tracedat_ahead_take(struct tracedat_walk *w, uint64_t at, size_t size, size_t room, struct tracedat_chunk *c)
{
	struct tracedat_ahead *a = w->pages.ahead;
	const struct piece *oldest = a ? ahead_oldest(a->threads) : NULL;

	if (!oldest || oldest->at != at || oldest->size != size || oldest->room != room)
		return false;
	struct piece *piece = ahead_take(a->threads);
	*c = (struct tracedat_chunk){ .decoded = piece->decoded, .fine = piece->fine, .plain = piece->plain[0] };
	if (c->plain)
		memcpy(w->pages.runs, piece->runs, sizeof(w->pages.runs));
	uint8_t *chunk = w->pages.chunk;
	const size_t capacity = w->pages.chunk_capacity;
	w->pages.chunk = piece->out;
	w->pages.chunk_capacity = piece->capacity;
	piece->out = chunk;
	piece->capacity = capacity;
	if (piece->decoder.no_memory)
		tracedat_no_memory(w);
	ahead_done(a);
	return true;
}

/* ---- pages ---- */

/* Gives the pages at a->next. False: none can be given. */
static bool pages_give(struct tracedat_walk *w, struct tracedat_ahead *a, uint64_t end, uint32_t page_size)
{
	struct piece *piece = ahead_room(a->threads);
	const uint64_t most = PAGES_BYTES / page_size < PAGES_MAX ? PAGES_BYTES / page_size : PAGES_MAX;
	const uint64_t left = end > a->next ? (end - a->next) / page_size : 0, count = left < most ? left : most;

	if (!piece || !count || !tracedat_bytes_room(&piece->frame, &piece->frame_capacity, PAGES_BYTES))
		return false;
	piece->w = w;
	piece->fd = a->fd;
	piece->page_size = page_size;
	piece->at = a->next;
	piece->size = (size_t)count * page_size;
	ahead_give(a->threads);
	a->next += piece->size;
	return true;
}

const uint8_t *tracedat_ahead_page(struct tracedat_walk *w, uint64_t at, uint64_t end, uint32_t page_size,
				   const struct tracedat_run **run)
{
	struct tracedat_ahead *a = ahead_of(w, end - at);

	if (!a || a->fd < 0)
		return NULL;
	if (!a->held || at < a->held->at || at - a->held->at >= a->held->size) {
		if (a->held)
			ahead_done(a);
		ahead_start(a, at);
		for (unsigned given = 0; given < a->few && pages_give(w, a, end, page_size); given++)
			;
		a->held = ahead_take(a->threads);
		if (a->held)
			w->status = bundle_passed(w->source->bundle, a->held->size);
	}
	const struct piece *held = a->held;
	const size_t in = held ? (size_t)(at - held->at) : 0;
	if (!held || w->status != TM_OK || in % page_size || !held->plain[in / page_size])
		return NULL;
	*run = &held->runs[in / page_size];
	return held->frame + in;
}
