/* Decoding one event. "Event header". */
#include "formats/lttng/decode/lttng_event.h"

/* The stamp that a field of a few bits means: the next one at or after `last`. */
static uint64_t extend(uint64_t last, uint64_t value, uint64_t mask)
{
	return last + ((value - last) & mask);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool any_padding(const struct lttng_stream *in, uint64_t from, uint64_t to)
{
	const uint8_t *p = to > from ? lttng_stream_at(in, from, (to - from)) : NULL;
	return p && !bytes_are_zero(p, (size_t)(to - from));
}

bool lttng_event_declares(const struct lttng_stream *in, const struct lttng_event *e)
{
	const struct lttng_layout *l = in->coding->layout;
	if (!in->metadata)
		return false;
	if (l->era == LTTNG_FACILITIES)
		return e->id == 0 || e->id == (l->minor == 8 ? 4u : 3u);
	return e->id <= 1;
}

/* rel of the end of a payload at `start` by the size in the header; 0: it is not within limit. */
static uint64_t end_by_size(const struct lttng_event *e, uint64_t start, uint64_t limit)
{
	return start <= limit && e->size <= limit - start ? start + e->size : 0;
}

/* The type of an event, where one of that id may stand and is declared. */
static enum lttng_defect event_type(const struct lttng_stream *in, struct lttng_event *e)
{
	enum lttng_era era = in->coding->layout->era;
	/* Metadata files hold nothing but core events; others hold no declarations. */
	bool core = era == LTTNG_FACILITIES ? e->id < 0x100 : e->id <= (era == LTTNG_MARKERS ? 3u : 1u);
	bool declares = era != LTTNG_FACILITIES && e->id <= 1 && era != LTTNG_CHANNEL_MARKERS;

	if (in->metadata && !core)
		return EVENT_NOT_CORE;
	if (!in->metadata && declares)
		return EVENT_CORE_ID;
	e->type = lttng_type_get(in->types, e->id);
	if (e->type && e->type->declared)
		return EVENT_OK;
	if (era != LTTNG_FACILITIES)
		return EVENT_DANGLING;
	const struct lttng_type *first = lttng_type_get(in->types, e->id & ~0xffu);
	return first && first->declared ? EVENT_NO_NUMBER : EVENT_NO_FACILITY;
}

/* The end of a payload by its description; 0: it is beyond limit. *cut is the defect then. */
static uint64_t end_by_shape(const struct lttng_stream *in, const struct lttng_shape *shape, uint64_t payload, uint64_t limit,
			     enum lttng_defect *cut)
{
	*cut = EVENT_PAYLOAD_CUT;
	if (!shape->is_fixed)
		return lttng_measure(in, shape, payload, limit, cut);
	return payload + shape->fixed <= limit ? payload + shape->fixed : 0;
}

/* The rest of an event whose header is decoded: its type and payload. */
static enum lttng_defect event_payload(const struct lttng_stream *in, uint64_t limit, struct lttng_event *e)
{
	enum lttng_era era = in->coding->layout->era;
	uint64_t after_header = e->payload;
	bool sized = e->size_width != 0 && !(era <= LTTNG_MARKERS && e->escaped);
	enum lttng_defect cut, defect = event_type(in, e);

	if (sized)
		e->sized_end = end_by_size(e, e->payload, limit);
	e->end = e->sized_end;
	if (defect != EVENT_OK)
		return defect;
	const struct lttng_shape *shape = &e->type->shape;
	if (!shape->known) {
		/* 0.x readers go by the size. */
		if (era == LTTNG_FACILITIES && sized)
			return e->sized_end ? EVENT_OK : EVENT_PAYLOAD_CUT;
		return EVENT_NO_FORMAT;
	}
	e->end = 0;
	if (era >= LTTNG_TRACE_MARKERS) {
		e->payload = lttng_align(e->payload, shape->align);
		if (sized)
			e->sized_end = end_by_size(e, e->payload, limit);
		e->padded |= any_padding(in, after_header, min_u64(e->payload, limit));
	}
	if (e->payload > limit)
		return EVENT_PAYLOAD_CUT;
	e->end = end_by_shape(in, shape, e->payload, limit, &cut);
	if (!sized)
		return e->end ? EVENT_OK : cut;
	if (e->end ? e->end - e->payload != e->size : e->sized_end && cut != EVENT_STRING_CUT)
		return EVENT_SIZE;
	return e->end ? EVENT_OK : cut;
}

/* 2.x: the id where it does not fit the event word, and the size; *at moves behind them. False: they go beyond limit. */
static bool word_extension(const struct lttng_stream *in, uint64_t limit, struct lttng_event *e, uint64_t *at)
{
	const bool big = in->coding->big_endian;
	uint64_t n = e->form == LTTNG_FORM_ID ? 2 : 4;
	const uint8_t *p = *at + n <= limit ? lttng_stream_at(in, *at, n) : NULL;

	if (!p)
		return false;
	e->id = load_u16(p, big);
	if (n == 2) {
		*at += n;
		return true;
	}
	e->size = load_u16(p + 2, big);
	e->size_at = *at + 2;
	e->size_width = 2;
	*at += n;
	if (in->escape != ESCAPE_ALWAYS && (e->size != LTTNG_SIZE_ESCAPE || in->escape == ESCAPE_NEVER))
		return true;
	e->escaped = true;
	p = *at + 4 <= limit ? lttng_stream_at(in, *at, 4) : NULL;
	if (!p)
		return false;
	e->size = load_u32(p, big);
	e->size_at = *at;
	e->size_width = 4;
	*at += 4;
	return true;
}

/* 2.x: the whole stamp; *at moves behind it. False: it goes beyond limit. */
static bool word_stamp(const struct lttng_stream *in, uint64_t limit, struct lttng_event *e, uint64_t *at)
{
	uint64_t from = *at;
	*at = lttng_align(from, lttng_stamp_align(in->coding));
	const uint8_t *p = *at + 8 <= limit ? lttng_stream_at(in, *at, 8) : NULL;
	if (!p)
		return false;
	e->full = e->stamp = load_u64(p, in->coding->big_endian);
	e->has_full = true;
	e->padded |= any_padding(in, from, *at);
	*at += 8;
	return true;
}

/* 2.x: "bits 31..27 id, bits 26..0 time", and what may follow. */
static enum lttng_defect decode_word(const struct lttng_stream *in, uint64_t limit, uint64_t stamp, struct lttng_event *e)
{
	const uint8_t *p = e->start + 4 <= limit ? lttng_stream_at(in, e->start, 4) : NULL;
	uint64_t at = e->start + 4;

	if (!p)
		return EVENT_HEADER_CUT;
	e->word = load_u32(p, in->coding->big_endian);
	e->id = e->word >> LTTNG_TIME_BITS;
	e->stamp = extend(stamp, e->word & LTTNG_TIME_MASK, LTTNG_TIME_MASK);
	if (e->id >= LTTNG_FORM_FULL)
		e->form = (uint8_t)e->id;
	if (e->form && !word_extension(in, limit, e, &at))
		return EVENT_HEADER_CUT;
	if (e->form == LTTNG_FORM_FULL && !word_stamp(in, limit, e, &at))
		return EVENT_HEADER_CUT;
	e->payload = at;
	enum lttng_defect defect = event_payload(in, limit, e);
	bool low_bits = e->has_full && (e->full & LTTNG_TIME_MASK) != (e->word & LTTNG_TIME_MASK);
	return low_bits && (defect == EVENT_OK || defect == EVENT_SIZE) ? EVENT_LOW_BITS : defect;
}

/* To 1.0: stamp, id, size. */
static enum lttng_defect decode_old(const struct lttng_stream *in, uint64_t limit, uint64_t stamp, struct lttng_event *e)
{
	const struct lttng_coding *c = in->coding;
	bool big = c->big_endian;
	uint64_t width = c->heartbeat ? 4 : 8;
	const uint8_t *p = e->start + width + 4 <= limit ? lttng_stream_at(in, e->start, width + 4) : NULL;
	if (!p)
		return EVENT_HEADER_CUT;
	e->word = load_u32(p, big);
	if (c->heartbeat) {
		e->stamp = extend(stamp, e->word, UINT32_MAX);
	} else {
		e->full = e->stamp = load_u64(p, big);
		e->has_full = true;
		e->word |= (uint32_t)(e->full >> 32) | (uint32_t)e->full;
	}
	p += width;
	e->id = c->layout->era == LTTNG_FACILITIES ? (uint32_t)p[0] << 8 | p[1] : load_u16(p, big);
	e->size = load_u16(p + 2, big);
	e->size_at = e->start + width + 2;
	e->size_width = 2;
	e->escaped = e->size == LTTNG_SIZE_ESCAPE;
	e->word |= e->id | (uint32_t)e->size;
	e->payload = lttng_align(e->start + width + 4, c->alignment);
	e->padded |= any_padding(in, e->start + width + 4, min_u64(e->payload, limit));
	return event_payload(in, limit, e);
}

/* 0.8 and 1.0: time, id and data in one word. */
static enum lttng_defect decode_compact(const struct lttng_stream *in, uint64_t limit, uint64_t stamp, struct lttng_event *e)
{
	const struct lttng_coding *c = in->coding;
	const uint8_t *p = e->start + 4 <= limit ? lttng_stream_at(in, e->start, 4) : NULL;
	unsigned bits = (unsigned)c->tscbits, cut = (unsigned)c->truncate;
	if (!p)
		return EVENT_HEADER_CUT;
	e->word = load_u32(p, c->big_endian);
	if (bits > 32 || bits + cut > 63)
		return EVENT_MALFORMED;
	uint64_t mask = ((UINT64_C(1) << bits) - 1) << cut;
	uint64_t value = ((uint64_t)e->word << cut) & mask;
	e->stamp = (stamp & ~mask) | value;
	if (value < (stamp & mask))
		e->stamp += mask + (UINT64_C(1) << cut);
	uint32_t id = (uint32_t)((uint64_t)e->word >> bits) & lttng_compact_ids(c);
	e->id = c->layout->era == LTTNG_MARKERS ? id : c->compact_facility == UINT32_MAX ? 0xff00 : c->compact_facility << 8 | id;
	e->payload = e->start + 4;
	return event_payload(in, limit, e);
}

enum lttng_defect lttng_event_decode(const struct lttng_stream *in, uint64_t rel, uint64_t limit, uint64_t stamp,
				     struct lttng_event *e)
{
	*e = (struct lttng_event){ .start = rel };
	if (rel >= limit)
		return EVENT_END;
	e->start = lttng_align(rel, lttng_event_align(in->coding, in->compact));
	e->padded = any_padding(in, rel, min_u64(e->start, limit));
	if (in->coding->layout->era >= LTTNG_TRACE_MARKERS)
		return decode_word(in, limit, stamp, e);
	return in->compact ? decode_compact(in, limit, stamp, e) : decode_old(in, limit, stamp, e);
}
