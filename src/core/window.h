/* A window: a part of a source in memory, moved by reading. The hot path of every scan. */
#ifndef CORE_WINDOW_H
#define CORE_WINDOW_H

#include "core/bundle.h"

struct window {
	struct source *source; /* borrowed */
	uint8_t *buffer;
	size_t capacity;
	uint64_t base;		      /* offset in the source of buffer[0] */
	size_t length;		      /* valid bytes in buffer */
	enum tracemend_status status; /* sticky: TM_OK, or why a read failed */
	bool jumped;		      /* what is in it is far from what was in it before */
	size_t ahead;		      /* bytes to read where no more is asked for */
};

void window_open(struct window *w, struct source *source);
/* Starts again on another source and keeps the buffer. */
void window_reset(struct window *w, struct source *source);
void window_close(struct window *w);

/* Whether the bytes [offset, offset + length) of the source are in the window now. */
static inline bool window_holds(const struct window *w, const struct source *source, uint64_t offset, uint64_t length)
{
	uint64_t skip = offset - w->base;
	return w->source == source && offset >= w->base && skip <= w->length && length <= w->length - skip;
}

/* The slow path of window_at(). */
const uint8_t *window_move(struct window *w, uint64_t offset, size_t length);

/* Bytes [offset, offset + length) of the source, valid until the next call on this window. NULL when they pass the end
 * of the source, when length exceeds WINDOW_SPAN_MAX, or when reading failed: then, and only then, w->status is set. */
static inline const uint8_t *window_at(struct window *w, uint64_t offset, size_t length)
{
	if (__builtin_expect(window_holds(w, w->source, offset, length), 1))
		return w->buffer + (offset - w->base);
	return window_move(w, offset, length);
}

/* As window_at(), but returns what there is, up to length bytes: *got is the count, 0 at the end of the source. */
const uint8_t *window_upto(struct window *w, uint64_t offset, size_t length, size_t *got);

/* Bytes from offset to the end of the source; 0 past it. */
static inline uint64_t window_left(const struct window *w, uint64_t offset)
{
	return offset < w->source->size ? w->source->size - offset : 0;
}

/* Offset of the first non-zero byte at or after offset, or the size of the source when all are zero. Moves the window. */
uint64_t window_skip_zeros(struct window *w, uint64_t offset);
/* The same up to `end`, which is returned where all bytes in front of it are zeros: a walk of blocks that asks about each reads
 * none of them twice. An offset behind `end` is returned as it is. */
uint64_t window_skip_zeros_to(struct window *w, uint64_t offset, uint64_t end);
/* For a search from `at` to `end` in steps of `step`: the first of these places at which not all of `head` bytes (8 at least) are
 * zeros, or the first behind which there are fewer of them. */
uint64_t window_pass_zeros(struct window *w, uint64_t at, uint64_t end, unsigned step, unsigned head);
/* Reads a whole source of at most max bytes into *out (NUL-terminated; *size does not count that). A larger one is TM_LIMIT. The
 * caller frees *out. */
enum tracemend_status source_slurp(struct source *s, size_t max, char **out, size_t *size);

/* Lines of a text source, ended by LF. */
struct line {
	const char *text; /* not terminated; valid until the next call */
	size_t length;	  /* without the LF */
	uint64_t offset;
	bool ended; /* false: the last line has no LF */
	bool cut;   /* longer than WINDOW_SPAN_MAX: text is its beginning, and the rest is skipped */
};
/* Reads the line at *offset and moves *offset past it. False at the end of the source, or on a fault (w->status). */
bool window_line(struct window *w, uint64_t *offset, struct line *line);

#endif
