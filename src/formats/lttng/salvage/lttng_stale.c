/* Events of an earlier lap. A tracer writes into the same memory lap after lap, so that behind the last event of a block that
 * was never closed there may be well-formed events of an earlier use. They are recognised by one of two things: the bytes are at
 * the same place of an earlier block of the file; or the same event, stamp and all, is in an earlier block. */
#include <stdlib.h>

#include "core/map.h"
#include "core/text.h"
#include "formats/lttng/salvage/lttng_salvage.h"

#define STALE_MIN 16u /* bytes that two blocks must share at their ends to count */
#define STEP 65536u
#define REPEATS 8u    /* events that must repeat one after the other */
#define HASHED 4096u  /* bytes of an event that tell it from others */
#define FULL_SHARE 2u /* of three: how many files must be closed for their ends to bound the trace */

/* Length of the common end of [a, a + size) and [b, b + size). */
static uint64_t common_end(struct lttng_trace *t, struct source *s, uint64_t a, uint64_t b, uint64_t size, uint8_t *buffer,
			   bool *content)
{
	uint64_t common = 0;
	*content = false;
	while (common < size) {
		size_t n = size - common < STEP ? (size_t)(size - common) : STEP;
		if (source_read(s, a + size - common - n, buffer, n) != TM_OK ||
		    source_read(s, b + size - common - n, buffer + STEP, n) != TM_OK) {
			t->status = TM_IO;
			return 0;
		}
		for (size_t i = n; i-- > 0;) {
			if (buffer[i] != buffer[STEP + i])
				return common;
			*content |= buffer[i] != 0;
			common++;
		}
	}
	return common;
}

uint64_t lttng_stale_tail(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame, uint64_t size)
{
	uint64_t stale = UINT64_MAX;
	uint8_t *buffer = malloc(2 * STEP);

	if (!buffer) {
		(void)lttng_no_memory(t);
		return stale;
	}
	/* The slot was used some blocks ago; how many, only the tracer knew. */
	for (unsigned lap = 0; lap < LTTNG_LAPS && t->status == TM_OK; lap++) {
		bool content;
		uint64_t length = f->laps[lap].length < size ? f->laps[lap].length : size;
		if (length <= t->coding.layout->size)
			continue;
		uint64_t common = common_end(t, f->source, frame->offset, f->laps[lap].offset, length, buffer, &content);
		if (content && common >= STALE_MIN && common < length - t->coding.layout->size && length - common < stale)
			stale = length - common;
	}
	free(buffer);
	return stale;
}

/* ---- events seen before ---- */

struct lttng_seen {
	struct map events; /* by hash */
};

/* Of the first bytes of an event. */
static uint64_t event_hash(const struct lttng_stream *in, const struct lttng_event *e)
{
	uint64_t length = e->end - e->start < HASHED ? e->end - e->start : HASHED;
	const uint8_t *p = lttng_stream_at(in, e->start, length);
	uint64_t h = p ? text_hash(p, (size_t)length) : 0;
	h ^= h >> 29;
	return p && h ? h : 1;
}

static void seen_add(struct lttng_trace *t, const struct lttng_stream *in, const struct lttng_event *e)
{
	if (t->seen && t->seen->events.count < LTTNG_SEEN_MAX &&
	    map_set(&t->seen->events, event_hash(in, e), 1, LTTNG_SEEN_MAX) == TM_NO_MEMORY)
		(void)lttng_no_memory(t);
}

void lttng_seen_add(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	seen_add(t, &w->in, e);
}

static bool seen_has(const struct lttng_seen *seen, const struct lttng_stream *in, const struct lttng_event *e)
{
	return map_get(&seen->events, event_hash(in, e)) != MAP_NONE;
}

bool lttng_seen_test(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_event next = *e;
	if (!t->seen || !t->seen->events.count)
		return false;
	/* An event has so few bits of time that chance repeats one, and in a tight loop the next ones with it. */
	for (unsigned i = 0; i < REPEATS; i++) {
		if (!seen_has(t->seen, &w->in, &next))
			return false;
		if (next.has_full)
			return true;
		enum lttng_defect defect = lttng_event_decode(&w->in, next.end, w->limit, next.stamp, &next);
		if (defect != EVENT_OK)
			return defect != EVENT_END && next.word != 0;
		if (!next.word)
			return false;
	}
	return true;
}

static void seen_block(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, uint64_t length)
{
	struct lttng_header h;
	struct lttng_event e;
	if (!length || !lttng_header_at(t, f, offset, &h))
		return;
	const struct lttng_stream in = lttng_stream_open(t, f, offset);
	uint64_t end = lttng_header_data_end(t->coding.layout, &h, length), rel = t->coding.layout->size, stamp = h.v[LF_BEGIN];
	while (end <= length && t->seen->events.count < LTTNG_SEEN_MAX && t->status == TM_OK &&
	       lttng_event_decode(&in, rel, end, stamp, &e) == EVENT_OK && e.end > rel) {
		seen_add(t, &in, &e);
		rel = e.end;
		stamp = e.stamp;
	}
}

void lttng_seen_gather(struct lttng_trace *t, struct lttng_file *f)
{
	lttng_seen_free(t);
	t->seen = calloc(1, sizeof(*t->seen));
	if (!t->seen) {
		(void)lttng_no_memory(t);
		return;
	}
	window_reset(&t->window, f->source);
	for (unsigned lap = 0; lap < LTTNG_LAPS; lap++)
		seen_block(t, f, f->laps[lap].offset, f->laps[lap].length);
}

void lttng_seen_free(struct lttng_trace *t)
{
	if (t->seen)
		map_free(&t->seen->events);
	free(t->seen);
	t->seen = NULL;
}

/* ---- how late a stamp can be ---- */

static bool header_is_open(const struct lttng_header *h)
{
	return h->v[LF_UNUSED] == LTTNG_OPEN || h->v[LF_SIZE] == LTTNG_OPEN || h->v[LF_END] < h->v[LF_BEGIN] ||
	       h->v[LF_END] > LTTNG_CLOCK_MAX;
}

uint64_t lttng_latest(struct lttng_trace *t)
{
	uint64_t latest = 0;
	unsigned closed = 0, all = 0;

	if (t->latest.known)
		return t->latest.stamp;
	t->latest.known = true;
	t->latest.stamp = UINT64_MAX;
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		struct lttng_header h;
		bool any = false;
		if (!f->channel || f->aside || f->layout != t->coding.layout)
			continue;
		h = f->first;
		uint64_t at = 0;
		if (!t->coding.layout->variable && f->block_size) {
			uint64_t blocks = f->source->size / f->block_size;
			any = blocks && lttng_header_at(t, f, (blocks - 1) * f->block_size, &h);
		} else {
			do {
				any = true;
				at += h.v[LF_SIZE] >= t->coding.layout->size ? h.v[LF_SIZE] : f->source->size;
			} while (at < f->source->size && lttng_header_at(t, f, at, &h));
		}
		if (!any)
			continue;
		all++;
		if (!header_is_open(&h)) {
			closed++;
			latest = h.v[LF_END] > latest ? h.v[LF_END] : latest;
		}
	}
	/* A recording that was stopped closes all its blocks; one that died closes none. */
	if (closed && 3 * closed >= FULL_SHARE * all) {
		uint64_t slack = UINT64_C(1) << LTTNG_TIME_BITS;
		t->latest.stamp = latest > UINT64_MAX - slack ? UINT64_MAX : latest + slack;
	}
	return t->latest.stamp;
}
