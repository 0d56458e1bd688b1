/* Changing an outline, and writing it with every size, count, offset and padding set right. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/outline.h"
#include "core/text.h"

/* Decimal fields may change their length, and with it what is measured: so often until nothing changes. */
#define REFIX_ROUNDS 8u
#define NUMBER_TEXT 24u

/* ---- values ---- */

static const uint8_t *part_data(const struct outline *o, const struct part *p)
{
	return p->flags & PART_POOLED ? o->pool.data + p->offset : o->files[p->file].data + p->offset;
}

const uint8_t *outline_bytes(const struct outline *o, uint32_t part)
{
	const struct part *p = &o->parts[part];
	bool there = p->flags & PART_POOLED ? (size_t)p->offset + p->length <= o->pool.size
					    : p->file < o->file_count + o->stream_count;
	return there ? part_data(o, p) : NULL;
}

bool outline_is_number(const struct part *p)
{
	return p->kind == PART_FIELD && p->field != FIELD_TEXT && (p->coding != CODING_BINARY || p->length <= 8) && p->length;
}

static uint64_t load_word(const uint8_t *p, uint32_t length, bool big_endian)
{
	uint64_t v = 0;
	for (uint32_t i = 0; i < length && i < 8; i++)
		v |= (uint64_t)p[big_endian ? length - 1 - i : i] << (8 * i);
	return v;
}

static void store_word(uint8_t *p, uint32_t length, bool big_endian, uint64_t v)
{
	for (uint32_t i = 0; i < length && i < 8; i++)
		p[big_endian ? length - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

static uint64_t width_mask(const struct part *f)
{
	unsigned width = f->width ? f->width : f->coding != CODING_BINARY || f->length >= 8 ? 64 : 8 * f->length;
	return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

uint64_t outline_value(const struct outline *o, uint32_t field)
{
	const struct part *f = &o->parts[field];
	uint64_t v = 0;

	if (!outline_is_number(f))
		return 0;
	if (f->flags & (PART_SET | PART_REFIXED))
		return f->value;
	const uint8_t *p = part_data(o, f);
	if (f->coding == CODING_DECIMAL)
		return text_parse_u64((const char *)p, f->length, &v) ? v : 0;
	if (f->coding == CODING_HEX)
		return text_parse_hex((const char *)p, f->length, &v) ? v : 0;
	return load_word(p, f->length, f->flags & PART_BIG_ENDIAN) >> f->shift & width_mask(f);
}

static size_t number_text(const struct part *f, char text[NUMBER_TEXT])
{
	int n = f->coding == CODING_HEX
			? snprintf(text, NUMBER_TEXT, "%0*" PRIx64, (int)(f->length < 16 ? f->length : 16), f->value)
			: snprintf(text, NUMBER_TEXT, "%" PRIu64, f->value);
	return (size_t)n;
}

/* ---- where everything goes ---- */

static uint32_t replaced_length(const struct part *p)
{
	return (uint32_t)p->value;
}

static uint32_t field_length(const struct outline *o, const struct part *f)
{
	char text[NUMBER_TEXT];
	const struct bytes *coded = outline_coded(o, f);
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

/* The offset after the part, in its file. */
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

enum tracemend_status outline_verify(struct outline *o)
{
	for (uint32_t i = 0; i < o->count; i++) {
		struct part *p = &o->parts[i];
		if (p->kind != PART_FIELD && p->kind != PART_PADDING && p->unit > 1 && p->offset % p->unit)
			p->unit = 1;
	}
	enum tracemend_status status = lay(o);
	/* A padding of another length than the rule says is no padding. */
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
	for (uint32_t i = 0; i < o->count && status == TM_OK; i++) {
		struct part *f = &o->parts[i];
		if (f->kind != PART_FIELD || !f->measure || f->measure == MEASURE_CODED)
			continue;
		if (o->starts[i] == OUTLINE_NONE || o->starts[f->target] == OUTLINE_NONE || !outline_is_number(f) ||
		    measured(o, f) != outline_value(o, i))
			f->measure = MEASURE_NOTHING;
		/* A number as another would write it, too: no leading zeros. */
		if (f->coding == CODING_DECIMAL && f->length > 1 && *part_data(o, f) == '0')
			f->measure = MEASURE_NOTHING;
	}
	return status;
}

static enum tracemend_status refix(struct outline *o, uint32_t *misfits)
{
	enum tracemend_status status = TM_OK;
	bool again = true;

	for (uint32_t i = 0; i < o->count; i++)
		o->parts[i].flags &= (uint8_t)~PART_REFIXED;
	for (unsigned round = 0; again && round < REFIX_ROUNDS && status == TM_OK; round++) {
		again = false;
		*misfits = 0;
		status = lay(o);
		for (uint32_t i = 0; i < o->count && status == TM_OK; i++) {
			struct part *f = &o->parts[i];
			if (f->room && o->starts[i] != OUTLINE_NONE && o->lengths[i] > f->room)
				++*misfits;
			if (f->kind != PART_FIELD || !f->measure || f->measure == MEASURE_CODED ||
			    f->flags & (PART_SET | PART_REPLACED) || o->starts[i] == OUTLINE_NONE)
				continue;
			uint64_t value = measured(o, f), mask = width_mask(f);
			*misfits += value > mask;
			value &= mask;
			if (value == outline_value(o, i))
				continue;
			uint32_t length = field_length(o, f);
			f->value = value;
			f->flags |= PART_REFIXED;
			again = again || field_length(o, f) != length;
		}
		/* Only when no number grows, since coding is dear; and never behind the last layout. */
		if (status == TM_OK && !again && round + 1 < REFIX_ROUNDS)
			status = outline_code(o, &again);
	}
	return status;
}

/* ---- writing ---- */

static void write_number(const struct part *f, struct bytes *out, uint32_t at)
{
	uint64_t word = load_word(out->data + at, f->length, f->flags & PART_BIG_ENDIAN), mask = width_mask(f) << f->shift;
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
			bytes_append(out, part_data(o, &gap), f->offset - from);
			const struct bytes *coded = outline_coded(o, f);
			if (f->flags & PART_REPLACED)
				bytes_append(out, length ? o->pool.data + (f->value >> 32) : NULL, length);
			else if (coded)
				bytes_append(out, coded->data, coded->size);
			else if (f->coding != CODING_BINARY && f->flags & (PART_SET | PART_REFIXED))
				write_text(f, out);
			else
				bytes_append(out, part_data(o, f), length);
			from = f->offset + f->length;
			word = f;
		}
		if (!out->failed && f->coding == CODING_BINARY && f->flags & (PART_SET | PART_REFIXED))
			write_number(f, out, at);
	}
	struct part rest = *leaf;
	rest.offset = from;
	bytes_append(out, part_data(o, &rest), leaf->offset + leaf->length - from);
}

void outline_write_part(const struct outline *o, uint32_t part, struct bytes *out)
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
			outline_write_part(o, i, out);
	} else if (p->length) {
		write_leaf(o, p, out);
	}
}

enum tracemend_status outline_write(struct outline *o, struct outline_output *outputs, uint32_t *misfits)
{
	uint32_t own = 0;
	enum tracemend_status status = o->status == TM_OK ? refix(o, misfits ? misfits : &own) : o->status;

	for (uint32_t i = 0; i < o->file_count && status == TM_OK; i++) {
		outputs[i].file = i;
		outputs[i].deleted = o->parts[o->files[i].part].flags & PART_DELETED;
		outputs[i].bytes.size = 0;
		outline_write_part(o, o->files[i].part, &outputs[i].bytes);
		if (outputs[i].bytes.failed)
			status = TM_NO_MEMORY;
	}
	return status;
}

/* ---- edits ---- */

void outline_delete(struct outline *o, uint32_t part)
{
	o->parts[part].flags |= PART_DELETED;
}

void outline_restore(struct outline *o, uint32_t part)
{
	o->parts[part].flags &= (uint8_t)~PART_DELETED;
}

void outline_set(struct outline *o, uint32_t field, uint64_t value)
{
	struct part *f = &o->parts[field];
	if (!outline_is_number(f))
		return;
	f->value = value & width_mask(f);
	f->flags |= PART_SET;
}

static uint64_t pool_add(struct outline *o, const void *bytes, size_t length)
{
	size_t at = o->pool.size;
	if (length > OUTLINE_BYTES_MAX || at + length > OUTLINE_BYTES_MAX) {
		o->status = TM_LIMIT;
		return 0;
	}
	bytes_append(&o->pool, bytes, length);
	if (o->pool.failed)
		o->status = TM_NO_MEMORY;
	return (uint64_t)at << 32 | length;
}

void outline_replace(struct outline *o, uint32_t part, const void *bytes, size_t length)
{
	uint64_t where = pool_add(o, bytes, length);
	if (o->status != TM_OK)
		return;
	o->parts[part].value = where;
	o->parts[part].flags = (uint8_t)((o->parts[part].flags & ~(PART_SET | PART_REFIXED)) | PART_REPLACED);
}

static void unlink_part(struct outline *o, uint32_t part)
{
	struct part *p = &o->parts[part], *parent = &o->parts[p->parent];
	if (p->previous != OUTLINE_NONE)
		o->parts[p->previous].next = p->next;
	else
		parent->first = p->next;
	if (p->next != OUTLINE_NONE)
		o->parts[p->next].previous = p->previous;
	else
		parent->last = p->previous;
}

static void link_before(struct outline *o, uint32_t part, uint32_t parent, uint32_t before)
{
	struct part *p = &o->parts[part];
	p->parent = parent;
	p->next = before;
	p->previous = before == OUTLINE_NONE ? o->parts[parent].last : o->parts[before].previous;
	if (p->previous != OUTLINE_NONE)
		o->parts[p->previous].next = part;
	else
		o->parts[parent].first = part;
	if (before != OUTLINE_NONE)
		o->parts[before].previous = part;
	else
		o->parts[parent].last = part;
}

void outline_swap(struct outline *o, uint32_t a, uint32_t b)
{
	uint32_t parent_a = o->parts[a].parent, parent_b = o->parts[b].parent;
	uint32_t after_a = o->parts[a].next, after_b = o->parts[b].next;

	if (a == b || parent_a == OUTLINE_NONE || parent_b == OUTLINE_NONE)
		return;
	unlink_part(o, a);
	if (after_a == b) {
		link_before(o, a, parent_b, after_b);
		return;
	}
	unlink_part(o, b);
	if (after_b == a) {
		link_before(o, a, parent_a, after_a);
		link_before(o, b, parent_a, after_a);
		return;
	}
	link_before(o, a, parent_b, after_b);
	link_before(o, b, parent_a, after_a);
}

/* One part without its place; fields and children follow. map: by index in `from`. */
static uint32_t copy_part(struct outline *o, const struct outline *from, uint32_t part, uint32_t *map)
{
	struct part copy = from->parts[part];
	uint32_t i = outline_blank(o);

	if (i == OUTLINE_NONE)
		return i;
	map[part] = i;
	/* A field is where its leaf is. Copied bytes are in the pool, but within one outline they stay in the file. */
	if (o != from && copy.kind != PART_FIELD && copy.first == OUTLINE_NONE) {
		uint64_t where = pool_add(o, part_data(from, &copy), copy.length);
		copy.offset = (uint32_t)(where >> 32);
		copy.flags |= PART_POOLED;
	}
	if (o != from && copy.flags & PART_REPLACED)
		copy.value = pool_add(o, from->pool.data + (copy.value >> 32), (uint32_t)copy.value);
	copy.first = copy.last = copy.next = copy.previous = copy.parent = copy.fields = OUTLINE_NONE;
	o->parts[i] = copy;
	uint32_t last = OUTLINE_NONE;
	for (uint32_t f = from->parts[part].fields; f != OUTLINE_NONE; f = from->parts[f].next) {
		uint32_t field = copy_part(o, from, f, map);
		if (field == OUTLINE_NONE)
			return field;
		struct part *p = &o->parts[field];
		p->parent = i;
		p->previous = last;
		p->offset = o->parts[i].offset + (from->parts[f].offset - from->parts[part].offset);
		p->flags = (uint8_t)((p->flags & ~PART_POOLED) | (o->parts[i].flags & PART_POOLED));
		p->file = o->parts[i].file;
		if (last != OUTLINE_NONE)
			o->parts[last].next = field;
		else
			o->parts[i].fields = field;
		last = field;
	}
	for (uint32_t c = from->parts[part].first; c != OUTLINE_NONE; c = from->parts[c].next) {
		uint32_t child = copy_part(o, from, c, map);
		if (child == OUTLINE_NONE)
			return child;
		link_before(o, child, i, OUTLINE_NONE);
	}
	return i;
}

uint32_t outline_copy(struct outline *o, const struct outline *from, uint32_t part, uint32_t parent, uint32_t before)
{
	uint32_t first = o->count, known = from->count;
	uint32_t *map = malloc((size_t)(known + !known) * sizeof(*map));
	if (!map) {
		o->status = TM_NO_MEMORY;
		return OUTLINE_NONE;
	}
	memset(map, 0xff, known * sizeof(*map));
	uint32_t i = copy_part(o, from, part, map);
	if (i != OUTLINE_NONE && o->status == TM_OK) {
		link_before(o, i, parent, before);
		for (uint32_t k = first; k < o->count; k++) {
			struct part *p = &o->parts[k];
			uint32_t target = p->target == OUTLINE_NONE ? OUTLINE_NONE : map[p->target];
			uint32_t base = p->base == OUTLINE_NONE ? OUTLINE_NONE : map[p->base];
			if (p->measure && target == OUTLINE_NONE && o != from)
				p->measure = MEASURE_NOTHING;
			if (target != OUTLINE_NONE || o != from)
				p->target = target;
			if (base != OUTLINE_NONE || o != from)
				p->base = base;
		}
	}
	free(map);
	return o->status == TM_OK ? i : OUTLINE_NONE;
}
