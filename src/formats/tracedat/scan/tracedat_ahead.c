/* Chunks of compressed CPU data are decoded by threads ahead of the walk. */
#include "formats/tracedat/scan/tracedat_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "core/ahead.h"

#define PIECES 16u
/* Larger chunks, compressed or not, are the walk's. */
#define PIECE_MAX (1u << 20)
/* Of less data, threads cost more than they save. */
#define DATA_MIN (1u << 18)

/* One chunk. */
struct piece {
	enum tracedat_codec codec;
	struct tracedat_decoder decoder; /* owned */
	uint64_t at;			 /* of its two sizes */
	uint8_t *frame, *out;		 /* owned */
	size_t size, room;		 /* bytes of the frame, and for what comes out */
	size_t frame_capacity, capacity;
	struct tracedat_decoded decoded;
	bool fine;
};

struct tracedat_ahead {
	struct ahead *threads;
	struct window window; /* which the walk's own does not follow */
	struct piece pieces[PIECES];
	uint64_t next; /* where the chunk behind those that were given begins */
	unsigned few;  /* pieces that are given at once: more and more, as long as the walk takes them */
};

static void piece_decode(void *piece)
{
	struct piece *p = piece;
	p->fine = tracedat_decode(&p->decoder, p->codec, p->frame, p->size, p->out, p->room, &p->decoded);
}

/* Opened for the first data that is worth it. NULL: the walk decodes all itself. */
static struct tracedat_ahead *ahead_of(struct tracedat_walk *w, uint64_t bytes)
{
	struct tracedat_ahead *a = w->pages.ahead;

	if (a || w->s->threads < 2 || bytes < DATA_MIN)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->threads = ahead_open(w->s->threads - 1, a->pieces, sizeof(a->pieces[0]), PIECES, piece_decode);
	if (!a->threads) {
		free(a);
		return NULL;
	}
	window_open(&a->window, w->source);
	return w->pages.ahead = a;
}

void tracedat_ahead_free(struct tracedat_ahead *a)
{
	if (!a)
		return;
	ahead_close(a->threads);
	window_close(&a->window);
	for (unsigned i = 0; i < PIECES; i++) {
		tracedat_decoder_free(&a->pieces[i].decoder);
		free(a->pieces[i].frame);
		free(a->pieces[i].out);
	}
	free(a);
}

/* Gives the chunk at a->next. False: none is there that can be given. */
static bool piece_give(struct tracedat_walk *w, struct tracedat_ahead *a, uint64_t limit, uint32_t page_size)
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
	piece->codec = w->shape.codec;
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
	const struct piece *oldest = a ? ahead_oldest(a->threads) : NULL;

	if (!a)
		return;
	if (!oldest || oldest->at != at) {
		ahead_drop(a->threads);
		a->next = at;
		a->few = 2;
	}
	for (unsigned given = 0; given < a->few && piece_give(w, a, limit, page_size); given++)
		;
}

bool tracedat_ahead_take(struct tracedat_walk *w, uint64_t at, size_t size, size_t room, bool *fine, struct tracedat_decoded *d)
{
	struct tracedat_ahead *a = w->pages.ahead;
	const struct piece *oldest = a ? ahead_oldest(a->threads) : NULL;

	if (!oldest || oldest->at != at || oldest->size != size || oldest->room != room)
		return false;
	struct piece *piece = ahead_take(a->threads);
	*fine = piece->fine;
	*d = piece->decoded;
	uint8_t *chunk = w->pages.chunk;
	const size_t capacity = w->pages.chunk_capacity;
	w->pages.chunk = piece->out;
	w->pages.chunk_capacity = piece->capacity;
	piece->out = chunk;
	piece->capacity = capacity;
	if (piece->decoder.no_memory)
		tracedat_no_memory(w);
	ahead_free(a->threads);
	a->few = a->few < PIECES ? 2 * a->few : a->few;
	return true;
}
