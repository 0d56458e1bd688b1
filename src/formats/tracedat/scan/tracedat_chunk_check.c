/* Consistency of decoded chunks: frames have no checksum, and damage inside of one may decode without an error. */
#include "formats/tracedat/scan/tracedat_page.h"

/* Contradictions of a chunk up to which it counts as one with a bad record or page; with more its frame is damaged. */
#define CONTRADICTIONS_MAX 1u
/* A page may begin this long before the end of the one before: clocks step back a little. */
#define STEP_BACK_MAX UINT64_C(1000000000)

struct contradictions {
	const struct tracedat_walk *w;
	unsigned count;
	uint32_t id;   /* the last event ID without a format; 0: none yet */
	uint64_t time; /* of the last record */
};

static void record_compare(struct contradictions *v, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	uint32_t id = size >= 8 ? load_u16(payload, w->shape.big_endian) : 0;
	const struct tracedat_event *e = tracedat_event_of(&w->events, id);

	if (!id || (e && size < e->fixed)) {
		v->count++;
	} else if (!e && w->events.count && !w->events.lost && id != w->events.blk_id && id != v->id) {
		/* Several records of one unknown event are one contradiction. */
		v->count++;
		v->id = id;
	}
}

static void page_compare(struct contradictions *v, const uint8_t *page, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	const uint8_t *data = page + tracedat_page_data(&w->shape);
	bool be = w->shape.big_endian;
	uint32_t length, at = 0;
	uint64_t time = load_u64(page, be);
	struct tracedat_word word;

	if (!tracedat_page_length(&w->shape, page, size, &length)) {
		v->count++;
		return;
	}
	v->count += time ? length && time + STEP_BACK_MAX < v->time : !bytes_are_zero(page, size);
	for (; length - at >= 4 && tracedat_word_read(data, at, length, be, &word); at += word.total) {
		uint64_t high = word.type >= TRACEDAT_WORD_EXTEND ? (uint64_t)load_u32(data + at + 4, be) << 27 : 0;
		if (word.type == TRACEDAT_WORD_STAMP)
			time = (time & ~TRACEDAT_WORD_STAMP_MASK) | ((high + word.delta) & TRACEDAT_WORD_STAMP_MASK);
		else
			time += high + word.delta;
		if (word.type < TRACEDAT_WORD_PADDING)
			record_compare(v, data + at + word.skip, word.total - word.skip);
	}
	v->count += at != length;
	v->time = time;
}

bool tracedat_chunk_consistent(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size)
{
	struct contradictions v = { .w = w };
	for (size_t at = 0; size - at >= page_size && v.count <= CONTRADICTIONS_MAX; at += page_size)
		page_compare(&v, data + at, page_size);
	return v.count <= CONTRADICTIONS_MAX;
}
