/* The parts of an LTTng trace. Only the walk knows how long an event is, so the walk declares them: it calls the functions
 * here when a scan has an outline. */
#include "formats/lttng/outline/lttng_outline.h"

#include "core/array.h"

static enum field_kind kind_of(enum lttng_field field)
{
	if (field == LF_MAGIC)
		return FIELD_MAGIC;
	/* What is the same in all blocks of a trace is a tag of it. */
	if (field >= LF_FIRST_CONSTANT)
		return FIELD_TAG;
	if (field == LF_UNUSED || field == LF_SIZE)
		return FIELD_SIZE;
	bool value = field == LF_BEGIN_FREQ || field == LF_END_FREQ || field == LF_EVENTS_LOST || field == LF_CORRUPT;
	return value ? FIELD_VALUE : FIELD_TIME;
}

/* The outline's file of a source: both are in the order of the bundle. */
static uint32_t file_of(const struct outline *o, const struct source *s)
{
	size_t i;
	array_search(i, o->file_count, o->files[i].source->index < s->index);
	return i < o->file_count && o->files[i].source == s ? (uint32_t)i : OUTLINE_NONE;
}

void lttng_outline_file(struct lttng_trace *t, const struct lttng_file *f)
{
	struct outline *o = t->s->outline;
	uint32_t file = file_of(o, f->source);
	o->big_endian = t->coding.big_endian;
	if (file != OUTLINE_NONE)
		(void)outline_open_file(o, file,
					f->metadata  ? "declarations file"
					: f->compact ? "compact file"
						     : "events file",
					f->metadata ? PART_FIXED : PART_LOOSE);
}

void lttng_outline_file_end(struct lttng_trace *t)
{
	outline_close_file(t->s->outline);
}

/* ---- blocks ---- */

static int by_offset(const struct lttng_layout *l, unsigned *order)
{
	int n = 0;
	for (unsigned i = 0; i < LF_COUNT; i++) {
		if (!l->places[i].width)
			continue;
		int at = n++;
		for (; at > 0 && l->places[order[at - 1]].offset > l->places[i].offset; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return n;
}

void lttng_outline_block(struct lttng_trace *t, const struct lttng_file *f, const struct lttng_frame *frame)
{
	struct outline *o = t->s->outline;
	const struct lttng_layout *l = t->coding.layout;
	unsigned order[LF_COUNT];
	int n = by_offset(l, order);

	(void)f;
	t->outline.block = outline_open(o, PART_GROUP, "block", frame->offset, PART_LOOSE);
	t->outline.unused = OUTLINE_NONE;
	if (!l->variable && frame->length <= UINT32_MAX)
		outline_room(o, t->outline.block, (uint32_t)frame->length);
	for (int i = 0; i < n && frame->length >= l->size; i++) {
		const struct lttng_place *p = &l->places[order[i]];
		enum lttng_field field = (enum lttng_field)order[i];
		uint32_t part = outline_field(o, lttng_field_name(l, field), kind_of(field), frame->offset + p->offset, p->width);
		if (field == LF_SIZE)
			outline_measure(o, part, MEASURE_LENGTH, t->outline.block, 1, 0);
		else if (field == LF_UNUSED)
			t->outline.unused = part;
	}
	(void)outline_open(o, PART_GROUP,
			   f->metadata	? "declarations"
			   : f->compact ? "compact events"
					: "events",
			   frame->offset + l->size, PART_FIXED);
	t->outline.at = l->size;
}

/* The end of the data that the header claims, where that can be; else `walked`, where the walk came to. */
static uint64_t claimed_end(const struct lttng_trace *t, const struct lttng_frame *frame, uint64_t walked)
{
	if (t->outline.unused == OUTLINE_NONE)
		return walked;
	uint64_t stored = outline_value(t->s->outline, t->outline.unused);
	uint64_t claimed = t->coding.layout->variable ? stored : frame->length - (stored < frame->length ? stored : frame->length);
	return claimed >= walked && claimed <= frame->length ? claimed : walked;
}

/* rel: where the walk came to. What it could not pass are bytes of the data, and no padding. */
void lttng_outline_block_end(struct lttng_trace *t, const struct lttng_frame *frame, uint64_t rel)
{
	struct outline *o = t->s->outline;
	uint64_t data = frame->offset + claimed_end(t, frame, rel < frame->length ? rel : frame->length),
		 end = frame->offset + frame->length;

	outline_close(o, data);
	uint32_t tail = outline_open(o, PART_GROUP, "padding", data, PART_FIXED);
	if (t->coding.layout->variable)
		outline_measure_from(o, t->outline.unused, tail, t->outline.block, 1, 0);
	else
		outline_measure(o, t->outline.unused, MEASURE_LENGTH, tail, 1, 0);
	/* What is left there of something else is no padding. Zeros are: a block stays as long as it was, or grows to a multiple of
	 * that. */
	const uint8_t *bytes = o->depth ? o->files[o->parts[o->open[0].part].file].data : NULL;
	uint64_t zeros = end;
	while (bytes && zeros > data && !bytes[zeros - 1])
		zeros--;
	(void)outline_padding(o, zeros, end, (uint32_t)(frame->length < UINT32_MAX ? frame->length : 0), t->outline.block);
	outline_close(o, end);
	outline_close(o, end);
}

/* ---- events ---- */

/* What a sketch of one event needs. */
struct sketch {
	struct lttng_trace *t;
	struct outline *o;
	uint64_t base; /* of the block */
	uint32_t part;
};

/* Padding before rel `to`, that aligns it within the part. */
static void align(const struct sketch *s, uint64_t from, uint64_t to, uint64_t alignment, uint32_t base)
{
	if (alignment > 1)
		(void)outline_padding(s->o, s->base + from, s->base + to, (uint32_t)alignment, base);
}

static void values(const struct sketch *s, uint64_t rel, uint64_t size)
{
	/* Merged steps: what they were is not known any more. */
	for (uint64_t n; size && s->o->fields; rel += n, size -= n) {
		n = size >= 8 && rel % 8 == 0 ? 8 : size >= 4 ? 4 : 1;
		(void)outline_field(s->o, "value", FIELD_VALUE, s->base + rel, n);
	}
}

static uint64_t string(const struct sketch *s, const uint8_t *data, uint64_t rel, uint64_t end)
{
	const uint8_t *nul = memchr(data + s->base + rel, 0, (size_t)(end - rel));
	uint64_t length = nul ? (uint64_t)(nul - (data + s->base + rel)) : end - rel;
	(void)outline_field(s->o, "string", FIELD_TEXT, s->base + rel, length);
	return rel + length + (nul != NULL);
}

/* The values of a payload, as lttng_measure() went over them. Alignment counts from the start of the payload. */
static void payload(const struct sketch *s, const struct lttng_shape *shape, const uint8_t *data, uint64_t start, uint64_t end,
		    uint32_t group)
{
	uint64_t at = 0, limit = end - start;

	for (uint32_t i = 0; i < shape->count && at < limit; i++) {
		const struct lttng_step *step = &shape->steps[i];
		uint64_t from = at;
		at = lttng_align(at, step->align);
		if (at >= limit)
			break;
		align(s, start + from, start + at, step->align, group);
		if (step->kind == STEP_FIXED) {
			values(s, start + at, at + step->size <= limit ? step->size : limit - at);
			at += step->size;
			continue;
		}
		if (step->kind == STEP_STRING) {
			at = string(s, data, start + at, end) - start;
		} else {
			uint32_t count = outline_field(s->o, "sequence count", FIELD_COUNT, s->base + start + at, step->count_size);
			uint64_t elements = lttng_align(at + step->count_size, step->align);
			if (elements >= limit)
				break;
			const uint8_t *p = data + s->base + start + at;
			uint64_t n = step->count_size == 1   ? *p
				     : step->count_size == 2 ? load_u16(p, s->t->coding.big_endian)
							     : load_u32(p, s->t->coding.big_endian);
			uint64_t bytes = n * step->size < limit - elements ? n * step->size : limit - elements;
			uint32_t field = outline_field(s->o, "sequence", FIELD_TEXT, s->base + start + elements, bytes);
			outline_measure(s->o, count, MEASURE_LENGTH, field, step->size, 0);
			at = elements + bytes;
		}
		uint64_t padded = lttng_align(at, step->pad);
		if (padded > at && padded <= limit)
			align(s, start + at, start + padded, step->pad, group);
		at = padded;
	}
}

/* Returns the size field. */
static uint32_t old_header(const struct sketch *s, const struct lttng_event *e)
{
	uint64_t at = s->base + e->start, width = s->t->coding.heartbeat ? 4 : 8;
	(void)outline_field(s->o, "time", FIELD_TIME, at, width);
	if (s->t->coding.layout->era == LTTNG_FACILITIES) {
		(void)outline_field(s->o, "facility", FIELD_REFERENCE, at + width, 1);
		(void)outline_field(s->o, "event number", FIELD_REFERENCE, at + width + 1, 1);
	} else {
		(void)outline_field(s->o, "event id", FIELD_REFERENCE, at + width, 2);
	}
	return outline_field(s->o, "event size", FIELD_SIZE, at + width + 2, 2);
}

static uint32_t word_header(const struct sketch *s, const struct lttng_event *e)
{
	uint64_t at = s->base + e->start;
	uint32_t size = OUTLINE_NONE;

	(void)outline_bits(s->o, "time", FIELD_TIME, at, 4, 0, LTTNG_TIME_BITS);
	(void)outline_bits(s->o, e->form ? "form" : "event id", e->form ? FIELD_TAG : FIELD_REFERENCE, at, 4, LTTNG_TIME_BITS, 5);
	if (e->form)
		(void)outline_field(s->o, "event id", FIELD_REFERENCE, at + 4, 2);
	if (e->size_width)
		size = outline_field(s->o, "event size", FIELD_SIZE, s->base + e->size_at, e->size_width);
	if (e->has_full) {
		uint64_t after = e->size_at + e->size_width, alignment = s->t->coding.layout->natural ? 8 : s->t->coding.alignment;
		uint64_t full = lttng_align(after, s->t->coding.alignment ? alignment : 1);
		if (s->t->coding.alignment)
			align(s, after, full, alignment, s->t->outline.block);
		(void)outline_field(s->o, "full time", FIELD_TIME, s->base + full, 8);
	}
	return size;
}

/* Where the header of an event ends, and what aligns its payload begins. */
static uint64_t header_end(const struct lttng_trace *t, const struct lttng_event *e)
{
	if (t->coding.layout->era <= LTTNG_MARKERS)
		return e->start + (t->coding.heartbeat ? 8 : 12);
	uint64_t end = e->size_width ? e->size_at + e->size_width : e->start + (e->form ? 6 : 4);
	if (!e->has_full)
		return end;
	return lttng_align(end, t->coding.alignment ? (t->coding.layout->natural ? 8 : t->coding.alignment) : 1) + 8;
}

void lttng_outline_event(struct lttng_trace *t, const struct lttng_stream *in, const struct lttng_event *e)
{
	struct sketch s = { .t = t, .o = t->s->outline, .base = in->base };
	const struct lttng_shape *shape = e->type ? &e->type->shape : NULL;
	bool old = t->coding.layout->era <= LTTNG_MARKERS, compact = in->compact;
	uint64_t step = lttng_event_align(in->coding, in->compact);
	uint32_t size = OUTLINE_NONE;

	if (e->start < t->outline.at || e->payload < e->start || e->end < e->payload || !s.o->depth)
		return;
	uint32_t file = s.o->parts[s.o->open[0].part].file;
	/* Padding belongs to the event that it aligns. */
	s.part = outline_open(s.o, PART_RECORD, in->metadata ? "declaration" : "event", in->base + t->outline.at, 0);
	align(&s, t->outline.at, e->start, step, t->outline.block);
	if (compact)
		(void)outline_field(s.o, "compact word", FIELD_VALUE, in->base + e->start, 4);
	else
		size = old ? old_header(&s, e) : word_header(&s, e);
	/* The payload begins aligned, by its version: to the machine, or to its widest value. */
	uint64_t alignment = compact ? 1 : old ? t->coding.alignment : shape ? shape->align : 1;
	uint64_t header = header_end(t, e);
	if (header < e->payload)
		align(&s, header, e->payload, alignment, t->outline.block);
	uint32_t group = outline_open(s.o, PART_GROUP, "payload", in->base + e->payload, PART_FIXED);
	if (!e->escaped || !old)
		outline_measure(s.o, size, MEASURE_LENGTH, group, 1, 0);
	if (shape && shape->known)
		payload(&s, shape, s.o->files[file].data, e->payload, e->end, group);
	outline_close(s.o, in->base + e->end);
	outline_close(s.o, in->base + e->end);
	t->outline.at = e->end;
}

/* ---- the directory ---- */

static void text_file(struct outline *o, uint32_t file)
{
	(void)outline_open_file(o, file, "xml", PART_LOOSE);
	(void)outline_open(o, PART_GROUP, "text", 0, PART_FIXED);
	outline_words(o, 0, o->files[file].size);
	outline_close(o, o->files[file].size);
	outline_close_file(o);
}

void lttng_outline_texts(struct outline *o)
{
	for (uint32_t i = 0; i < o->file_count && o->status == TM_OK; i++) {
		size_t n = strlen(o->files[i].name);
		if (n > 4 && !strcmp(o->files[i].name + n - 4, ".xml") && o->parts[o->files[i].part].first == OUTLINE_NONE)
			text_file(o, i);
	}
}
