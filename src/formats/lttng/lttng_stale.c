/* Events of an earlier lap. A tracer writes into the same memory lap after lap, so that behind the last event of a block that
 * was never closed there may be well-formed events of an earlier use. Two things give them away: the bytes are at the same place
 * of an earlier block of the file; or the same event, stamp and all, is in an earlier block. */
#include "lttng.h"

#include <stdlib.h>

#define STALE_MIN 16u	/* bytes that two blocks must share at their ends to count */
#define STEP 65536u
#define LAP_BYTES (1024u * 1024) /* of a block of unknown size */
#define FULL_SHARE 2u	/* of three: how many files must be closed for their ends to bound the trace */

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
	uint64_t stale = UINT64_MAX, block = f->block_size;
	uint8_t *buffer;

	/* Blocks of one size: the same slot is a few blocks back. From 2.5 on unused pages are not written. */
	if (t->layout->variable || !block || frame->length < block)
		return stale;
	buffer = malloc(2 * STEP);
	if (!buffer) {
		(void)lttng_no_memory(t);
		return stale;
	}
	for (unsigned lap = 1; lap <= LTTNG_LAPS && lap * block <= frame->offset && t->status == TM_OK; lap++) {
		bool content;
		uint64_t common = common_end(t, f->source, frame->offset, frame->offset - lap * block, size, buffer, &content);
		if (content && common >= STALE_MIN && common < size - t->layout->size && size - common < stale)
			stale = size - common;
	}
	free(buffer);
	return stale;
}

/* ---- events seen before ---- */

struct lttng_seen {
	uint64_t *slots; /* hashes; 0 is free */
	size_t mask, count;
};

static uint64_t event_hash(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	uint64_t length = e->end - e->start;
	const uint8_t *p = window_at(&t->w, k->base + e->start, length < 4096 ? (size_t)length : 4096);
	for (uint64_t i = 0; p && i < length && i < 4096; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	h ^= h >> 29;
	return p && h ? h : 1;
}

static bool seen_slot(const struct lttng_seen *seen, uint64_t hash, size_t *slot)
{
	for (*slot = (size_t)hash & seen->mask; seen->slots[*slot]; *slot = (*slot + 1) & seen->mask)
		if (seen->slots[*slot] == hash)
			return true;
	return false;
}

static bool seen_room(struct lttng_trace *t)
{
	struct lttng_seen *seen = t->seen;
	if (2 * seen->count < seen->mask)
		return true;
	size_t size = seen->slots ? 2 * (seen->mask + 1) : 4096;
	struct lttng_seen grown = { calloc(size, sizeof(uint64_t)), size - 1, seen->count };
	if (!grown.slots)
		return lttng_no_memory(t);
	for (size_t i = 0; seen->slots && i <= seen->mask; i++) {
		size_t slot;
		if (seen->slots[i] && !seen_slot(&grown, seen->slots[i], &slot))
			grown.slots[slot] = seen->slots[i];
	}
	free(seen->slots);
	*seen = grown;
	return true;
}

void lttng_seen_add(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	size_t slot;
	if (!t->seen || t->seen->count >= LTTNG_SEEN_MAX || !seen_room(t))
		return;
	uint64_t hash = event_hash(t, k, e);
	if (!seen_slot(t->seen, hash, &slot)) {
		t->seen->slots[slot] = hash;
		t->seen->count++;
	}
}

bool lttng_seen_test(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	size_t slot;
	/* An event without payload has so few bits that chance may repeat it. */
	if (!t->seen || !t->seen->slots || e->end - e->start < 8)
		return false;
	return seen_slot(t->seen, event_hash(t, k, e), &slot);
}

void lttng_seen_gather(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame)
{
	uint64_t from = frame->offset;

	lttng_seen_free(t);
	t->seen = calloc(1, sizeof(*t->seen));
	if (!t->seen) {
		(void)lttng_no_memory(t);
		return;
	}
	/* Up to 2.4 the blocks before are known; later ones are found by their headers. */
	uint64_t back = t->layout->variable ? LTTNG_LAPS * LAP_BYTES : LTTNG_LAPS * f->block_size;
	from = back < from ? from - back : 0;
	while (from < frame->offset && t->status == TM_OK) {
		struct lttng_header h;
		uint64_t next = from + (t->layout->variable ? LTTNG_PAGE : f->block_size);
		if (lttng_header_at(t, f, from, &h)) {
			uint64_t size = t->layout->variable ? h.v[LF_SIZE] : f->block_size;
			uint64_t end = lttng_header_data_end(t->layout, &h, size);
			struct lttng_walk k = { .file = f, .base = from, .limit = end, .room = end, .rel = t->layout->size,
						.begin = h.v[LF_BEGIN], .end = UINT64_MAX, .stamp = h.v[LF_BEGIN] };
			struct lttng_event e;
			if (size <= frame->offset - from && size >= t->layout->size) {
				next = from + size;
				while (end <= size && t->seen->count < LTTNG_SEEN_MAX && t->status == TM_OK &&
				       lttng_event_decode(t, &k, k.rel, k.limit, k.stamp, &e) == EVENT_OK && e.end > k.rel) {
					lttng_seen_add(t, &k, &e);
					k.rel = e.end;
					k.stamp = e.stamp;
				}
			}
		}
		from = next;
	}
}

void lttng_seen_free(struct lttng_trace *t)
{
	if (t->seen)
		free(t->seen->slots);
	free(t->seen);
	t->seen = NULL;
}

/* ---- how late a stamp can be ---- */

static bool header_is_open(const struct lttng_header *h)
{
	return h->v[LF_UNUSED] == LTTNG_OPEN || h->v[LF_SIZE] == LTTNG_OPEN || h->v[LF_END] < h->v[LF_BEGIN];
}

uint64_t lttng_latest(struct lttng_trace *t)
{
	uint64_t latest = 0;
	unsigned closed = 0, all = 0;

	if (t->latest_known)
		return t->latest;
	t->latest_known = true;
	t->latest = UINT64_MAX;
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files[i];
		struct lttng_header h;
		bool any = false;
		if (!f->channel || f->aside || f->layout != t->layout)
			continue;
		h = f->first;
		uint64_t at = 0;
		if (!t->layout->variable && f->block_size) {
			uint64_t blocks = f->source->size / f->block_size;
			any = blocks && lttng_header_at(t, f, (blocks - 1) * f->block_size, &h);
		} else {
			do {
				any = true;
				at += h.v[LF_SIZE] >= t->layout->size ? h.v[LF_SIZE] : f->source->size;
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
		t->latest = latest > UINT64_MAX - slack ? UINT64_MAX : latest + slack;
	}
	return t->latest;
}
