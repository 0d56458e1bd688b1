/* Decoding one event. "Event header". */
#include "formats/lttng/lttng.h"

/* The stamp that a field of a few bits means: the next one at or after `last`. */
static uint64_t extend(uint64_t last, uint64_t value, uint64_t mask)
{
	return last + ((value - last) & mask);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t lttng_event_align(const struct lttng_trace *t, const struct lttng_file *f)
{
	bool words = t->layout->era >= LTTNG_TRACE_MARKERS || f->compact;
	return words && t->alignment > 4 ? 4 : t->alignment;
}

static bool any_padding(struct lttng_trace *t, const struct lttng_walk *k, uint64_t from, uint64_t to)
{
	const uint8_t *p = to > from ? window_at(&t->w, k->base + from, (size_t)(to - from)) : NULL;
	return p && !bytes_are_zero(p, (size_t)(to - from));
}

/* The rest of an event whose header is decoded: its type and payload. */
static enum lttng_defect event_payload(struct lttng_trace *t, const struct lttng_walk *k, uint64_t limit, struct lttng_event *e)
{
	enum lttng_defect cut;
	const struct lttng_file *f = k->file;
	enum lttng_era era = t->layout->era;
	uint64_t after_header = e->payload;
	bool sized = e->size_width != 0 && !(era <= LTTNG_MARKERS && e->escaped);

	if (sized) {
		uint64_t start = e->payload;
		e->sized_end = start <= limit && e->size <= limit - start ? start + e->size : 0;
	}
	/* Who may declare, and who must. */
	bool core = era == LTTNG_FACILITIES ? e->id < 0x100 : e->id <= (era == LTTNG_MARKERS ? 3u : 1u);
	bool declares = era != LTTNG_FACILITIES && e->id <= 1 && era != LTTNG_CHANNEL_MARKERS;
	if (f->metadata ? !core : declares) {
		e->end = e->sized_end;
		return f->metadata ? EVENT_NOT_CORE : EVENT_CORE_ID;
	}
	e->marker = lttng_table_get(f->channel->table, e->id);
	if (!e->marker || !e->marker->declared) {
		e->end = e->sized_end;
		if (era != LTTNG_FACILITIES)
			return EVENT_DANGLING;
		const struct lttng_marker *first = lttng_table_get(f->channel->table, e->id & ~0xffu);
		return first && first->declared ? EVENT_NO_NUMBER : EVENT_NO_FACILITY;
	}
	const struct lttng_shape *shape = &e->marker->shape;
	if (!shape->known) {
		e->end = e->sized_end;
		/* 0.x readers go by the size. */
		if (era == LTTNG_FACILITIES && sized)
			return e->sized_end ? EVENT_OK : EVENT_PAYLOAD_CUT;
		return EVENT_NO_FORMAT;
	}
	if (era >= LTTNG_TRACE_MARKERS) {
		e->payload = lttng_align(e->payload, shape->align);
		if (sized)
			e->sized_end = e->payload <= limit && e->size <= limit - e->payload ? e->payload + e->size : 0;
		e->padded |= any_padding(t, k, after_header, min_u64(e->payload, limit));
	}
	if (e->payload > limit)
		return EVENT_PAYLOAD_CUT;
	if (shape->is_fixed) {
		e->end = e->payload + shape->fixed;
		cut = EVENT_PAYLOAD_CUT;
		if (e->end > limit)
			e->end = 0;
	} else {
		e->end = lttng_measure(t, k, shape, e->payload, limit, &cut);
	}
	if (sized && e->end && e->end - e->payload != e->size)
		return EVENT_SIZE;
	if (!e->end && sized && e->sized_end && cut != EVENT_STRING_CUT)
		return EVENT_SIZE;
	return e->end ? EVENT_OK : cut;
}

/* 2.x: "bits 31..27 id, bits 26..0 time", and what may follow. */
static enum lttng_defect decode_word(struct lttng_trace *t, const struct lttng_walk *k, uint64_t limit, uint64_t stamp,
				     struct lttng_event *e)
{
	bool big = t->big_endian;
	const uint8_t *p = e->start + 4 <= limit ? window_at(&t->w, k->base + e->start, 4) : NULL;
	if (!p)
		return EVENT_HEADER_CUT;
	e->word = load_u32(p, big);
	e->id = e->word >> LTTNG_TIME_BITS;
	e->stamp = extend(stamp, e->word & LTTNG_TIME_MASK, LTTNG_TIME_MASK);
	uint64_t at = e->start + 4;
	if (e->id >= LTTNG_FORM_FULL) {
		e->form = (uint8_t)e->id;
		uint64_t n = e->form == LTTNG_FORM_ID ? 2 : 4;
		p = at + n <= limit ? window_at(&t->w, k->base + at, (size_t)n) : NULL;
		if (!p)
			return EVENT_HEADER_CUT;
		e->id = load_u16(p, big);
		if (n == 4) {
			e->size = load_u16(p + 2, big);
			e->size_at = at + 2;
			e->size_width = 2;
		}
		at += n;
		if (n == 4 && (k->escape == ESCAPE_ALWAYS || (e->size == LTTNG_SIZE_ESCAPE && k->escape != ESCAPE_NEVER))) {
			e->escaped = true;
			p = at + 4 <= limit ? window_at(&t->w, k->base + at, 4) : NULL;
			if (!p)
				return EVENT_HEADER_CUT;
			e->size = load_u32(p, big);
			e->size_at = at;
			e->size_width = 4;
			at += 4;
		}
	}
	if (e->form == LTTNG_FORM_FULL) {
		uint64_t a = t->alignment ? (t->layout->natural ? 8 : t->alignment) : 0;
		uint64_t from = at;
		at = lttng_align(at, a);
		p = at + 8 <= limit ? window_at(&t->w, k->base + at, 8) : NULL;
		if (!p)
			return EVENT_HEADER_CUT;
		e->full = e->stamp = load_u64(p, big);
		e->has_full = true;
		e->padded |= any_padding(t, k, from, at);
		at += 8;
	}
	e->payload = at;
	enum lttng_defect defect = event_payload(t, k, limit, e);
	return e->has_full && (e->full & LTTNG_TIME_MASK) != (e->word & LTTNG_TIME_MASK) &&
			       (defect == EVENT_OK || defect == EVENT_SIZE)
		       ? EVENT_LOW_BITS
		       : defect;
}

/* To 1.0: stamp, id, size. */
static enum lttng_defect decode_old(struct lttng_trace *t, const struct lttng_walk *k, uint64_t limit, uint64_t stamp,
				    struct lttng_event *e)
{
	bool big = t->big_endian;
	uint64_t width = t->heartbeat ? 4 : 8;
	const uint8_t *p = e->start + width + 4 <= limit ? window_at(&t->w, k->base + e->start, (size_t)width + 4) : NULL;
	if (!p)
		return EVENT_HEADER_CUT;
	e->word = load_u32(p, big);
	if (t->heartbeat) {
		e->stamp = extend(stamp, e->word, UINT32_MAX);
	} else {
		e->full = e->stamp = load_u64(p, big);
		e->has_full = true;
		e->word |= (uint32_t)(e->full >> 32) | (uint32_t)e->full;
	}
	p += width;
	e->id = t->layout->era == LTTNG_FACILITIES ? (uint32_t)p[0] << 8 | p[1] : load_u16(p, big);
	e->size = load_u16(p + 2, big);
	e->size_at = e->start + width + 2;
	e->size_width = 2;
	e->escaped = e->size == LTTNG_SIZE_ESCAPE;
	e->word |= e->id | (uint32_t)e->size;
	e->payload = lttng_align(e->start + width + 4, t->alignment);
	e->padded |= any_padding(t, k, e->start + width + 4, min_u64(e->payload, limit));
	return event_payload(t, k, limit, e);
}

/* 0.8 and 1.0: time, id and data in one word. */
static enum lttng_defect decode_compact(struct lttng_trace *t, const struct lttng_walk *k, uint64_t limit, uint64_t stamp,
					struct lttng_event *e)
{
	const uint8_t *p = e->start + 4 <= limit ? window_at(&t->w, k->base + e->start, 4) : NULL;
	unsigned bits = (unsigned)t->want.v[LF_TSCBITS], cut = (unsigned)t->want.v[LF_TRUNCATE], id_bits;
	if (!p)
		return EVENT_HEADER_CUT;
	e->word = load_u32(p, t->big_endian);
	if (t->layout->era == LTTNG_MARKERS) {
		unsigned shift = (unsigned)t->want.v[LF_SHIFT];
		id_bits = shift > bits ? shift - bits : 0;
	} else {
		for (id_bits = 0; id_bits < 32 && t->compact_events >> id_bits;)
			id_bits++;
	}
	if (bits > 32 || bits + cut > 63)
		return EVENT_MALFORMED;
	uint64_t mask = ((UINT64_C(1) << bits) - 1) << cut;
	uint64_t value = ((uint64_t)e->word << cut) & mask;
	e->stamp = (stamp & ~mask) | value;
	if (value < (stamp & mask))
		e->stamp += mask + (UINT64_C(1) << cut);
	uint64_t id = (uint64_t)e->word >> bits & ((UINT64_C(1) << id_bits) - 1);
	e->id = t->layout->era == LTTNG_MARKERS	    ? (uint32_t)(id & 0xffff)
		: t->compact_facility == UINT32_MAX ? 0xff00
						    : t->compact_facility << 8 | (uint32_t)(id & 0xff);
	e->payload = e->start + 4;
	return event_payload(t, k, limit, e);
}

enum lttng_defect lttng_event_decode(struct lttng_trace *t, const struct lttng_walk *k, uint64_t rel, uint64_t limit,
				     uint64_t stamp, struct lttng_event *e)
{
	*e = (struct lttng_event){ .start = rel };
	if (rel >= limit)
		return EVENT_END;
	e->start = lttng_align(rel, lttng_event_align(t, k->file));
	e->padded = any_padding(t, k, rel, min_u64(e->start, limit));
	if (t->layout->era >= LTTNG_TRACE_MARKERS)
		return decode_word(t, k, limit, stamp, e);
	return k->file->compact ? decode_compact(t, k, limit, stamp, e) : decode_old(t, k, limit, stamp, e);
}
