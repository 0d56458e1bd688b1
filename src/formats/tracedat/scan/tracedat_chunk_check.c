/* Can a decoded chunk be what was once compressed? Frames have no checksum, and damage inside of one may decode all the same. */
#include "formats/tracedat/scan/tracedat_page.h"

/* Contradictions of a chunk that are still taken for one bad record or page, not for a damaged frame. */
#define STRANGE_MAX 1u
/* A page may begin this long before the end of the one before: clocks step back a little. */
#define STEP_BACK_MAX UINT64_C(1000000000)

struct vouch {
	const struct tracedat_walk *w;
	unsigned strange;
	uint32_t id;   /* an event ID without a format; 0: none yet */
	uint64_t time; /* of the last record */
};

static void vouch_record(struct vouch *v, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	uint32_t id = size >= 8 ? load_u16(payload, w->shape.big_endian) : 0;
	const struct tracedat_event *e = tracedat_event_of(&w->events, id);

	if (!id || (e && size < e->fixed)) {
		v->strange++;
	} else if (!e && w->events.count && !w->events.lost && id != w->events.blk_id && id != v->id) {
		/* Many records of one unknown event are one contradiction. */
		v->strange++;
		v->id = id;
	}
}

static void vouch_page(struct vouch *v, const uint8_t *page, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	const uint8_t *data = page + tracedat_page_data(&w->shape);
	bool be = w->shape.big_endian;
	uint32_t length, at = 0;
	uint64_t time = load_u64(page, be);
	struct tracedat_word word;

	if (!tracedat_page_length(&w->shape, page, size, &length)) {
		v->strange++;
		return;
	}
	v->strange += time ? length && time + STEP_BACK_MAX < v->time : !bytes_are_zero(page, size);
	for (; length - at >= 4 && tracedat_word(data, at, length, be, &word); at += word.total) {
		uint64_t high = word.type >= WORD_EXTEND ? (uint64_t)load_u32(data + at + 4, be) << 27 : 0;
		if (word.type == WORD_STAMP)
			time = (time & ~WORD_STAMP_MASK) | ((high + word.delta) & WORD_STAMP_MASK);
		else
			time += high + word.delta;
		if (word.type < WORD_PADDING)
			vouch_record(v, data + at + word.skip, word.total - word.skip);
	}
	v->strange += at != length;
	v->time = time;
}

bool tracedat_chunk_vouched(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size)
{
	struct vouch v = { .w = w };
	for (size_t at = 0; size - at >= page_size && v.strange <= STRANGE_MAX; at += page_size)
		vouch_page(&v, data + at, page_size);
	return v.strange <= STRANGE_MAX;
}
