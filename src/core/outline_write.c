/* Writing an outline, with every size, count, offset and padding corrected. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/outline_part.h"
#include "core/text.h"

/* Rounds of laying out: a decimal field may change its length, and with it other measures. */
#define LAYOUT_ROUNDS 8u
#define NUMBER_TEXT 24u

static void store_word(uint8_t *p, uint32_t length, bool big_endian, uint64_t v)
{
	for (uint32_t i = 0; i < length && i < 8; i++)
		p[big_endian ? length - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

static size_t number_text(const struct part *f, char text[NUMBER_TEXT])
{
	int n = f->coding == CODING_HEX
			? snprintf(text, NUMBER_TEXT, "%0*" PRIx64, (int)(f->length < 16 ? f->length : 16), f->value)
			: snprintf(text, NUMBER_TEXT, "%" PRIu64, f->value);
	return (size_t)n;
}

/* ---- layout ---- */

/* The encoded bytes of the stream in a field, if the stream changed; else NULL. */
static const struct bytes *stream_coded(const struct outline *o, const struct part *field)
{
	if (field->measure != MEASURE_CODED)
		return NULL;
	const struct outline_file *stream = &o->files[o->parts[field->target].file];
	return stream->coded.size ? &stream->coded : NULL;
}

static uint32_t replaced_length(const struct part *p)
{
	return (uint32_t)p->value;
}

static uint32_t field_length(const struct outline *o, const struct part *f)
{
	char text[NUMBER_TEXT];
	const struct bytes *coded = stream_coded(o, f);
	if (f->flags & PART_REPLACED)
		return replaced_length(f);
	if (coded)
		return (uint32_t)coded->size;
	if (f->coding != CODING_BINARY && f->flags & (PART_SET | PART_REFIXED))
		return (uint32_t)number_text(f, text);
	return f->length;
}

static bool same_word(const struct part *a, const struct part *b)
{
	return a && a->offset == b->offset && a->width && b->width;
}

static uint64_t lay_fields(struct outline *o, const struct part *leaf, uint64_t at)
{
	uint32_t from = leaf->offset;
	const struct part *word = NULL;

	for (uint32_t i = leaf->fields; i != OUTLINE_NONE; i = o->parts[i].next) {
		const struct part *f = &o->parts[i];
		o->lengths[i] = field_length(o, f);
		if (same_word(word, f)) {
			o->starts[i] = (uint32_t)(at - o->lengths[i]);
			continue;
		}
		at += f->offset - from;
		o->starts[i] = (uint32_t)at;
		at += o->lengths[i];
		from = f->offset + f->length;
		word = f;
	}
	return at + (leaf->offset + leaf->length - from);
}

static uint64_t padding_length(const struct outline *o, const struct part *p, uint64_t at)
{
	uint64_t base = p->base != OUTLINE_NONE && o->starts[p->base] != OUTLINE_NONE ? o->starts[p->base] : 0;
	uint64_t over = at > base ? (at - base) % p->unit : 0;
	return over ? p->unit - over : 0;
}

/* Lays out a part at offset `at` of its file. Returns the offset of its end. */
static uint64_t lay_part(struct outline *o, uint32_t part, uint64_t at)
{
	const struct part *p = &o->parts[part];
	if (p->flags & PART_DELETED || at > OUTLINE_BYTES_MAX)
		return at;
	if (p->kind != PART_PADDING && p->unit > 1)
		at = (at + p->unit - 1) / p->unit * p->unit;
	uint64_t start = at;
	o->starts[part] = (uint32_t)at;
	if (p->flags & PART_REPLACED)
		at += replaced_length(p);
	else if (p->kind == PART_PADDING)
		at += padding_length(o, p, at);
	else if (p->first == OUTLINE_NONE)
		at = p->kind == PART_FILE ? at : lay_fields(o, p, at);
	else
		for (uint32_t i = p->first; i != OUTLINE_NONE; i = o->parts[i].next)
			at = lay_part(o, i, at);
	o->lengths[part] = (uint32_t)(at - start);
	return at;
}

static enum tracemend_status lay(struct outline *o)
{
	uint32_t *starts = realloc(o->starts, (size_t)(o->count + !o->count) * sizeof(*starts));
	if (starts)
		o->starts = starts;
	uint32_t *lengths = realloc(o->lengths, (size_t)(o->count + !o->count) * sizeof(*lengths));
	if (lengths)
		o->lengths = lengths;
	if (!starts || !lengths)
		return TM_NO_MEMORY;
	uint64_t total = 0;
	memset(starts, 0xff, o->count * sizeof(*starts));
	memset(lengths, 0, o->count * sizeof(*lengths));
	for (uint32_t i = 0; i < o->file_count + o->stream_count; i++) {
		total += lay_part(o, o->files[i].part, 0);
		if (total > OUTLINE_BYTES_MAX)
			return TM_LIMIT;
	}
	return TM_OK;
}

/* ---- measures ---- */

static uint64_t count_below(const struct outline *o, uint32_t part)
{
	uint64_t n = 0;
	for (uint32_t i = o->parts[part].first; i != OUTLINE_NONE; i = o->parts[i].next) {
		const struct part *p = &o->parts[i];
		n += !(p->flags & PART_DELETED) && (p->kind == PART_RECORD || p->kind == PART_GROUP);
	}
	return n;
}

static uint64_t measured(const struct outline *o, const struct part *f)
{
	bool there = o->starts[f->target] != OUTLINE_NONE;
	uint64_t bytes;

	switch ((enum field_measure)f->measure) {
	case MEASURE_COUNT:
		return (there ? count_below(o, f->target) : 0) + (uint64_t)f->bias;
	case MEASURE_START:
		if (!there)
			return 0;
		bytes = o->starts[f->target];
		if (f->base != OUTLINE_NONE && o->starts[f->base] != OUTLINE_NONE)
			bytes -= o->starts[f->base];
		break;
	case MEASURE_LENGTH:
		bytes = o->lengths[f->target];
		break;
	case MEASURE_CODED:
	case MEASURE_NOTHING:
	default:
		return 0;
	}
	return (bytes + f->unit - 1) / f->unit + (uint64_t)f->bias;
}

/* ---- writing ---- */

static void write_number(const struct part *f, struct bytes *out, uint32_t at)
{
	uint64_t word = outline_part_word(out->data + at, f->length, f->flags & PART_BIG_ENDIAN), mask = outline_part_mask(f)
													 << f->shift;
	store_word(out->data + at, f->length, f->flags & PART_BIG_ENDIAN, (word & ~mask) | (f->value << f->shift & mask));
}

static void write_text(const struct part *f, struct bytes *out)
{
	char text[NUMBER_TEXT];
	size_t length = number_text(f, text);
	bytes_append(out, text, length);
}

static void write_leaf(const struct outline *o, const struct part *leaf, struct bytes *out)
{
	uint32_t from = leaf->offset;
	const struct part *word = NULL;

	for (uint32_t i = leaf->fields; i != OUTLINE_NONE; i = o->parts[i].next) {
		const struct part *f = &o->parts[i];
		struct part gap = *leaf;
		uint32_t at = o->starts[i], length = o->lengths[i];
		if (!same_word(word, f)) {
			gap.offset = from;
			bytes_append(out, outline_part_data(o, &gap), f->offset - from);
			const struct bytes *coded = stream_coded(o, f);
			if (f->flags & PART_REPLACED)
				bytes_append(out, length ? o->pool.data + (f->value >> 32) : NULL, length);
			else if (coded)
				bytes_append(out, coded->data, coded->size);
			else if (f->coding != CODING_BINARY && f->flags & (PART_SET | PART_REFIXED))
				write_text(f, out);
			else
				bytes_append(out, outline_part_data(o, f), length);
			from = f->offset + f->length;
			word = f;
		}
		if (!out->failed && f->coding == CODING_BINARY && f->flags & (PART_SET | PART_REFIXED))
			write_number(f, out, at);
	}
	struct part rest = *leaf;
	rest.offset = from;
	bytes_append(out, outline_part_data(o, &rest), leaf->offset + leaf->length - from);
}

static void write_part(const struct outline *o, uint32_t part, struct bytes *out)
{
	const struct part *p = &o->parts[part];

	if (p->flags & PART_DELETED)
		return;
	if (out->size < o->starts[part])
		(void)bytes_grow(out, o->starts[part] - out->size);
	if (p->flags & PART_REPLACED) {
		bytes_append(out, o->pool.data + (p->value >> 32), replaced_length(p));
	} else if (p->kind == PART_PADDING && o->lengths[part] != p->length) {
		uint8_t *fill = bytes_grow(out, o->lengths[part]);
		if (fill)
			memset(fill, p->fill, o->lengths[part]);
	} else if (p->first != OUTLINE_NONE) {
		for (uint32_t i = p->first; i != OUTLINE_NONE; i = o->parts[i].next)
			write_part(o, i, out);
	} else if (p->length) {
		write_leaf(o, p, out);
	}
}

/* ---- streams: encoded again when they change ---- */

static bool stream_is(const struct bytes *a, const void *data, size_t size)
{
	return a->size == size && (!size || !memcmp(a->data, data, size));
}

static void stream_forget(struct outline_file *stream)
{
	bytes_free(&stream->plain);
	bytes_free(&stream->coded);
}

/* Encodes one stream, if it changed. */
static enum tracemend_status stream_code(struct outline *o, struct outline_file *stream, bool *again)
{
	struct bytes plain = { 0 }, coded = { 0 };
	size_t before = stream->coded.size ? stream->coded.size : o->parts[stream->field].length;

	write_part(o, stream->part, &plain);
	if (!plain.failed && stream_is(&plain, stream->data, stream->size)) {
		stream_forget(stream);
	} else if (!plain.failed && !(stream->coded.size && stream_is(&stream->plain, plain.data, plain.size))) {
		if (!stream->encode(stream->codec, plain.data, plain.size, &coded) || coded.failed) {
			bytes_free(&plain);
			bytes_free(&coded);
			return TM_NO_MEMORY;
		}
		stream_forget(stream);
		stream->plain = plain;
		stream->coded = coded;
		plain = (struct bytes){ 0 };
	}
	bool failed = plain.failed;
	bytes_free(&plain);
	*again = *again || (stream->coded.size ? stream->coded.size : o->parts[stream->field].length) != before;
	return failed ? TM_NO_MEMORY : TM_OK;
}

static enum tracemend_status streams_code(struct outline *o, bool *again)
{
	enum tracemend_status status = TM_OK;

	for (uint32_t i = o->file_count; i < o->file_count + o->stream_count && status == TM_OK; i++)
		status = stream_code(o, &o->files[i], again);
	return status;
}

/* ---- all files ---- */

/* Padding of another length than its alignment requires becomes bytes. */
static enum tracemend_status verify_paddings(struct outline *o)
{
	enum tracemend_status status = lay(o);

	for (bool again = true; again && status == TM_OK;) {
		again = false;
		for (uint32_t i = 0; i < o->count; i++) {
			struct part *p = &o->parts[i];
			if (p->kind != PART_PADDING || o->starts[i] == OUTLINE_NONE || o->lengths[i] == p->length)
				continue;
			p->kind = PART_BYTES;
			p->unit = 1;
			again = true;
		}
		if (again)
			status = lay(o);
	}
	return status;
}

static bool is_measure(const struct part *p)
{
	return p->kind == PART_FIELD && p->measure && p->measure != MEASURE_CODED;
}

/* Whether the field has the value that it measures, in the form in which it would be written. */
static bool measure_holds(const struct outline *o, uint32_t field)
{
	const struct part *f = &o->parts[field];

	if (o->starts[field] == OUTLINE_NONE || o->starts[f->target] == OUTLINE_NONE || !outline_is_number(f) ||
	    measured(o, f) != outline_value(o, field))
		return false;
	/* No leading zeros. */
	return f->coding != CODING_DECIMAL || f->length == 1 || *outline_part_data(o, f) != '0';
}

enum tracemend_status outline_verify(struct outline *o)
{
	for (uint32_t i = 0; i < o->count; i++) {
		struct part *p = &o->parts[i];
		if (p->kind != PART_FIELD && p->kind != PART_PADDING && p->unit > 1 && p->offset % p->unit)
			p->unit = 1;
	}
	enum tracemend_status status = verify_paddings(o);
	for (uint32_t i = 0; i < o->count && status == TM_OK; i++)
		if (is_measure(&o->parts[i]) && !measure_holds(o, i))
			o->parts[i].measure = MEASURE_NOTHING;
	return status;
}

/* Sets the value of a measure. *misfits counts values that do not fit; *again is set when the length of the field changed. */
static void correct_measure(struct outline *o, uint32_t field, uint32_t *misfits, bool *again)
{
	struct part *f = &o->parts[field];
	uint64_t value = measured(o, f), mask = outline_part_mask(f);

	*misfits += value > mask;
	value &= mask;
	if (value == outline_value(o, field))
		return;
	uint32_t length = field_length(o, f);
	f->value = value;
	f->flags |= PART_REFIXED;
	*again = *again || field_length(o, f) != length;
}

static enum tracemend_status correct_measures(struct outline *o, uint32_t *misfits)
{
	enum tracemend_status status = TM_OK;
	bool again = true;

	for (uint32_t i = 0; i < o->count; i++)
		o->parts[i].flags &= (uint8_t)~PART_REFIXED;
	for (unsigned round = 0; again && round < LAYOUT_ROUNDS && status == TM_OK; round++) {
		again = false;
		*misfits = 0;
		status = lay(o);
		for (uint32_t i = 0; i < o->count && status == TM_OK; i++) {
			const struct part *f = &o->parts[i];
			if (f->room && o->starts[i] != OUTLINE_NONE && o->lengths[i] > f->room)
				++*misfits;
			if (is_measure(f) && !(f->flags & (PART_SET | PART_REPLACED)) && o->starts[i] != OUTLINE_NONE)
				correct_measure(o, i, misfits, &again);
		}
		/* Only when all lengths are final, since encoding is expensive, and not after the last layout. */
		if (status == TM_OK && !again && round + 1 < LAYOUT_ROUNDS)
			status = streams_code(o, &again);
	}
	return status;
}

enum tracemend_status outline_write(struct outline *o, struct outline_output *outputs, uint32_t *misfits)
{
	uint32_t own = 0;
	enum tracemend_status status = o->status == TM_OK ? correct_measures(o, misfits ? misfits : &own) : o->status;

	for (uint32_t i = 0; i < o->file_count && status == TM_OK; i++) {
		outputs[i].file = i;
		outputs[i].deleted = o->parts[o->files[i].part].flags & PART_DELETED;
		outputs[i].bytes.size = 0;
		write_part(o, o->files[i].part, &outputs[i].bytes);
		if (outputs[i].bytes.failed)
			status = TM_NO_MEMORY;
	}
	return status;
}
