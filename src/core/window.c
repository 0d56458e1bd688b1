#include "core/window.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/limits.h"

#if defined(__SANITIZE_ADDRESS__)
#define WINDOW_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WINDOW_POISON 1
#endif
#endif

#ifdef WINDOW_POISON
#include <sanitizer/asan_interface.h>
/* Bytes after the valid ones must not be read, although the buffer has room for them. */
static void window_guard(struct window *w)
{
	ASAN_POISON_MEMORY_REGION(w->buffer, w->capacity);
	ASAN_UNPOISON_MEMORY_REGION(w->buffer, w->length);
}
static void window_unguard(struct window *w)
{
	ASAN_UNPOISON_MEMORY_REGION(w->buffer, w->capacity);
}
/* Nor bytes of before a move: each gets a buffer of its own. */
static bool window_fits(const struct window *w, size_t length)
{
	(void)w;
	(void)length;
	return false;
}
#else
static void window_guard(struct window *w)
{
	(void)w;
}
static void window_unguard(struct window *w)
{
	(void)w;
}
static bool window_fits(const struct window *w, size_t length)
{
	return w->capacity >= length;
}
#endif

void window_open(struct window *w, struct source *source)
{
	/* A window without a buffer contains no offset: even an empty span takes the slow path. */
	*w = (struct window){ .source = source, .base = UINT64_MAX };
}

void window_reset(struct window *w, struct source *source)
{
	w->source = source;
	w->base = UINT64_MAX;
	w->length = 0;
	w->status = TM_OK;
}

void window_close(struct window *w)
{
	if (w->buffer)
		window_unguard(w);
	free(w->buffer);
	*w = (struct window){ 0 };
}

static bool window_room(struct window *w, size_t length)
{
	if (window_fits(w, length))
		return true;
	if (w->buffer)
		window_unguard(w);
	/* The old bytes are not needed: the caller reads the buffer again. */
	free(w->buffer);
	w->buffer = malloc(length);
	w->length = 0;
	w->base = UINT64_MAX;
	w->capacity = w->buffer ? length : 0;
	if (!w->buffer)
		w->status = fault_memory(&w->source->bundle->error);
	return w->buffer != NULL;
}

/* How much to read where no more is asked for. Many walks look at one header, or search on in several places by turns: very far
 * from what was read last, or far back, or far from it twice in succession, little is read, and more each time that more is asked
 * for near there. A source that fits the window is read at once. */
static size_t window_ahead(struct window *w, uint64_t offset)
{
	const size_t whole = w->source->bundle->window;
	const uint64_t far = offset < w->base ? w->base - offset : offset - w->base > w->length ? offset - w->base - w->length : 0;
	const bool often = w->jumped || offset < w->base;

	w->jumped = far > WINDOW_FIRST;
	if (w->jumped && (often || far > whole))
		w->ahead = WINDOW_FIRST;
	else if (w->ahead < whole)
		w->ahead *= WINDOW_GROWTH;
	return w->source->size <= whole || w->ahead > whole ? whole : w->ahead;
}

const uint8_t *window_move(struct window *w, uint64_t offset, size_t length)
{
	static const uint8_t nothing[1];
	uint64_t size = w->source->size;

	if (w->status != TM_OK || offset > size || length > size - offset || length > WINDOW_SPAN_MAX)
		return NULL;
	if (!length)
		return nothing;
	const bool behind = offset >= w->base;
	size_t want = window_ahead(w, offset), back = 0;
	/* Requests of a search, each a little behind or in front of the one before: what is read lasts for many of them. */
	if ((behind ? offset - w->base : w->base - offset) < w->length / 2) {
		back = behind ? 0 : offset < want ? (size_t)offset : want;
		want += length;
	}
	if (want < length)
		want = length;
	if (want > size - offset)
		want = (size_t)(size - offset);
	if (!window_room(w, back + want))
		return NULL;
	window_unguard(w);
	w->length = 0;
	w->status = source_read(w->source, offset - back, w->buffer, back + want);
	if (w->status == TM_OK) {
		w->base = offset - back;
		w->length = back + want;
	}
	window_guard(w);
	return w->status == TM_OK ? w->buffer + back : NULL;
}

const uint8_t *window_upto(struct window *w, uint64_t offset, size_t length, size_t *got)
{
	uint64_t left = window_left(w, offset);
	if (length > left)
		length = (size_t)left;
	if (length > WINDOW_SPAN_MAX)
		length = WINDOW_SPAN_MAX;
	const uint8_t *p = length ? window_at(w, offset, length) : NULL;
	*got = p ? length : 0;
	return p;
}

/* For walks that take what the window has: steps of its own size, so that nothing is read twice. */
static size_t window_step(const struct window *w)
{
	size_t step = w->source->bundle->window;
	return step > 65536 ? 65536 : step;
}

uint64_t window_skip_zeros_to(struct window *w, uint64_t offset, uint64_t end)
{
	const size_t step = window_step(w);
	size_t got;
	const uint8_t *p;

	while (offset < end && (p = window_upto(w, offset, end - offset < step ? (size_t)(end - offset) : step, &got)) != NULL) {
		if (bytes_are_zero(p, got)) {
			offset += got;
			continue;
		}
		while (!*p) {
			p++;
			offset++;
		}
		return offset;
	}
	return offset;
}

uint64_t window_skip_zeros(struct window *w, uint64_t offset)
{
	const uint64_t at = window_skip_zeros_to(w, offset, w->source->size);
	return w->status == TM_OK && at > w->source->size ? w->source->size : at;
}

uint64_t window_pass_zeros(struct window *w, uint64_t at, uint64_t end, unsigned step, unsigned head)
{
	const uint8_t *p = at < end && end - at >= head ? window_at(w, at, 8) : NULL;
	if (!p || load_u64(p, false))
		return at;
	uint64_t zeros = window_skip_zeros_to(w, at, end) - at;
	return zeros < head ? at : at + (zeros - head + step) / step * step;
}

enum tracemend_status source_slurp(struct source *s, size_t max, char **out, size_t *size)
{
	*out = NULL;
	*size = 0;
	if (s->size > max)
		return fault_set(&s->bundle->error, TM_LIMIT, "%s: %llu bytes; the limit for such a file is %zu", s->name,
				 (unsigned long long)s->size, max);
	size_t length = (size_t)s->size;
	char *text = malloc(length + 1);
	if (!text)
		return fault_memory(&s->bundle->error);
	enum tracemend_status status = length ? source_read(s, 0, text, length) : TM_OK;
	if (status != TM_OK) {
		free(text);
		return status;
	}
	text[length] = '\0';
	*out = text;
	*size = length;
	return TM_OK;
}

bool window_line(struct window *w, uint64_t *offset, struct line *line)
{
	size_t step = window_step(w), length = 0, got;
	const uint8_t *p, *end = NULL;

	if (!window_left(w, *offset))
		return false;
	do {
		/* Doubling keeps the work linear: less than the length of the line is read again. */
		step = length + step > WINDOW_SPAN_MAX ? WINDOW_SPAN_MAX : length + step;
		p = window_upto(w, *offset, step, &got);
		if (!p)
			return false;
		end = memchr(p + length, '\n', got - length);
		if (end || got < step)
			break;
		length = got;
	} while (got < WINDOW_SPAN_MAX);
	*line = (struct line){
		.text = (const char *)p,
		.length = end ? (size_t)(end - p) : got,
		.offset = *offset,
		.ended = end != NULL,
	};
	*offset += line->length + (end ? 1 : 0);
	if (end || !window_left(w, *offset))
		return true;
	/* The line is longer than a window may be: skip the rest of it. Its beginning, which is the text, is read again at the
	 * end. */
	line->cut = true;
	while ((p = window_upto(w, *offset, window_step(w), &got)) != NULL) {
		end = memchr(p, '\n', got);
		*offset += end ? (size_t)(end - p) + 1 : got;
		if (end) {
			line->ended = true;
			break;
		}
	}
	line->text = (const char *)window_at(w, line->offset, line->length);
	return line->text != NULL;
}
