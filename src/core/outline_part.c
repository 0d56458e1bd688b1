#include "core/outline_part.h"

#include "core/array.h"
#include "core/text.h"

uint32_t outline_part_new(struct outline *o, enum part_kind kind, const char *name)
{
	if (o->status != TM_OK)
		return OUTLINE_NONE;
	o->status = array_room(&o->parts, &o->capacity, o->count, sizeof(*o->parts), OUTLINE_PARTS_MAX);
	if (o->status != TM_OK)
		return OUTLINE_NONE;
	o->parts[o->count] = (struct part){
		.name = name,
		.kind = (uint8_t)kind,
		.parent = OUTLINE_NONE,
		.first = OUTLINE_NONE,
		.last = OUTLINE_NONE,
		.next = OUTLINE_NONE,
		.previous = OUTLINE_NONE,
		.fields = OUTLINE_NONE,
		.target = OUTLINE_NONE,
		.base = OUTLINE_NONE,
		.unit = 1,
		.flags = o->big_endian ? PART_BIG_ENDIAN : 0,
	};
	return o->count++;
}

uint32_t outline_part_file(struct outline *o, uint32_t file)
{
	uint32_t part = outline_part_new(o, PART_FILE, "file");

	if (part != OUTLINE_NONE) {
		o->files[file].part = part;
		o->parts[part].file = file;
		o->parts[part].length = o->files[file].size;
	}
	return part;
}

const uint8_t *outline_part_data(const struct outline *o, const struct part *p)
{
	return p->flags & PART_POOLED ? o->pool.data + p->offset : o->files[p->file].data + p->offset;
}

const uint8_t *outline_bytes(const struct outline *o, uint32_t part)
{
	const struct part *p = &o->parts[part];
	bool there = p->flags & PART_POOLED ? (size_t)p->offset + p->length <= o->pool.size
					    : p->file < o->file_count + o->stream_count;
	return there ? outline_part_data(o, p) : NULL;
}

bool outline_is_number(const struct part *p)
{
	return p->kind == PART_FIELD && p->field != FIELD_TEXT && (p->coding != CODING_BINARY || p->length <= 8) && p->length;
}

uint64_t outline_part_word(const uint8_t *p, uint32_t length, bool big_endian)
{
	uint64_t v = 0;
	for (uint32_t i = 0; i < length && i < 8; i++)
		v |= (uint64_t)p[big_endian ? length - 1 - i : i] << (8 * i);
	return v;
}

uint64_t outline_part_mask(const struct part *f)
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
	const uint8_t *p = outline_part_data(o, f);
	if (f->coding == CODING_DECIMAL)
		return text_parse_u64((const char *)p, f->length, &v) ? v : 0;
	if (f->coding == CODING_HEX)
		return text_parse_hex((const char *)p, f->length, &v) ? v : 0;
	return outline_part_word(p, f->length, f->flags & PART_BIG_ENDIAN) >> f->shift & outline_part_mask(f);
}
