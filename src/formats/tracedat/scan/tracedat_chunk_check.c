/* Consistency of decoded chunks: frames of zstd have no checksum, and damage inside of one may decode without an error. */
#include "formats/tracedat/scan/tracedat_record.h"

/* A page may begin this long before the end of the one before: clocks step back a little. */
#define STEP_BACK_MAX UINT64_C(1000000000)

struct contradictions {
	const struct tracedat_walk *w;
	unsigned count;
	uint32_t unknown; /* the event ID without a format; 0: none yet */
	uint64_t time;	  /* of the last record */
	/* Bitmaps over the events of the file: some record is sound, or is not. */
	uint64_t good[TRACEDAT_EVENTS_MAX / 64], bad[TRACEDAT_EVENTS_MAX / 64];
};

/* The event ID of a record; 0: it has none. */
static uint32_t record_id(const struct tracedat_walk *w, const uint8_t *payload, uint32_t size)
{
	return size >= TRACEDAT_COMMON_MIN ? load_u16(payload, w->shape.big_endian) : 0;
}

static bool process_is_sound(const struct tracedat_walk *w, const uint8_t *payload)
{
	return load_u32(payload + 4, w->shape.big_endian) <= TRACEDAT_PID_MAX;
}

static bool record_is_sound(const struct tracedat_walk *w, const struct tracedat_event *e, const uint8_t *payload, uint32_t size)
{
	return process_is_sound(w, payload) && size >= e->fixed &&
	       tracedat_arrays_sound(&w->events, e, payload, size, w->shape.big_endian);
}

static void record_compare(struct contradictions *v, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_walk *w = v->w;
	uint32_t id = record_id(w, payload, size);
	if (!id) {
		v->count++;
		return;
	}
	const struct tracedat_event *e = tracedat_event_of(&w->events, id);
	if (e) {
		size_t i = (size_t)(e - w->events.list);
		(record_is_sound(w, e, payload, size) ? v->good : v->bad)[i / 64] |= (uint64_t)(!e->contested) << i % 64;
	} else if (w->events.count && !w->events.lost && id != w->events.blk_id) {
		/* The records of one event without a format are no contradiction. */
		v->count += !process_is_sound(w, payload) || (v->unknown && v->unknown != id);
		v->unknown = id;
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
	v->count += at != length ||
		    (!length && load_u32(data, be) && !(tracedat_long(&w->shape, page + 8) & TRACEDAT_COMMIT_MISSED_STORED));
	v->time = time;
}

bool tracedat_chunk_consistent(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size)
{
	struct contradictions v = { .w = w };
	for (size_t at = 0; size - at >= page_size && !v.count; at += page_size)
		page_compare(&v, data + at, page_size);
	/* Where no record of an event is sound, its format may have been hit instead. */
	bool format = false;
	for (size_t i = 0; i * 64 < w->events.count && !v.count; i++) {
		uint64_t none = v.bad[i] & ~v.good[i];
		v.count += (v.good[i] & v.bad[i]) || (w->events.trusted && none && (format || (none & (none - 1))));
		format |= none != 0;
	}
	return !v.count;
}

/* Passes the record at r->at, which the fast path leaves. False: it may contradict what others say. */
static bool record_pass(const struct tracedat_walk *w, const uint8_t *data, struct tracedat_run *r)
{
	struct tracedat_word word;

	if (!tracedat_word_read(data, r->at, r->limit, w->shape.big_endian, &word) || word.type >= TRACEDAT_WORD_PADDING)
		return false;
	const uint8_t *payload = data + r->at + word.skip;
	const uint32_t size = word.total - word.skip, id = record_id(w, payload, size);
	const struct tracedat_event *e = id ? tracedat_event_of(&w->events, id) : NULL;
	if (!e || !record_is_sound(w, e, payload, size))
		return false;
	r->time += word.delta;
	r->at += word.total;
	return true;
}

bool tracedat_chunk_plain(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size,
			  struct tracedat_run runs[TRACEDAT_CHUNK_PAGES])
{
	const size_t pages = size / page_size;
	uint64_t time = 0;

	if (w->s->slow || size % page_size || pages > TRACEDAT_CHUNK_PAGES)
		return false;
	for (size_t i = 0; i < pages; i++) {
		const uint8_t *page = data + i * page_size;
		if (!tracedat_fast_begin(w, page, page_size, &runs[i]) || runs[i].from + STEP_BACK_MAX < time)
			return false;
		struct tracedat_run rest = runs[i];
		for (; rest.at != rest.limit; tracedat_fast_more(w, page, &rest))
			if (!record_pass(w, page + tracedat_page_data(&w->shape), &rest))
				return false;
		if (!rest.at)
			return false;
		time = rest.time;
	}
	return true;
}
