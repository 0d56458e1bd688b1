/* Changing an outline. */
#include <stdlib.h>
#include <string.h>

#include "core/outline_part.h"

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
	f->value = value & outline_part_mask(f);
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

/* Copies a part, without linking it, with its fields and children. map: the copies, by index in `from`. */
static uint32_t copy_part(struct outline *o, const struct outline *from, uint32_t part, uint32_t *map)
{
	struct part copy = from->parts[part];
	uint32_t i = outline_part_new(o, PART_BYTES, "");

	if (i == OUTLINE_NONE)
		return i;
	map[part] = i;
	/* The bytes of a field are those of its leaf. Bytes of another outline are copied to the pool; those of the same one stay
	 * in the file. */
	if (o != from && copy.kind != PART_FIELD && copy.first == OUTLINE_NONE) {
		uint64_t where = pool_add(o, outline_part_data(from, &copy), copy.length);
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
