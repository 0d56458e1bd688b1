/* Event types: their shapes, and the memory that they may take. */
#include "formats/lttng/decode/lttng_type.h"

#include <stdlib.h>

void *lttng_budget_alloc(struct lttng_budget *b, size_t size)
{
	if (b->status != TM_OK)
		return NULL;
	if (size > b->max - b->used) {
		b->status = TM_LIMIT;
		return NULL;
	}
	void *p = calloc(1, size ? size : 1);
	if (p)
		b->used += size;
	else
		b->status = TM_NO_MEMORY;
	return p;
}

char *lttng_budget_copy(struct lttng_budget *b, const char *text, size_t length)
{
	char *copy = lttng_budget_alloc(b, length + 1);
	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

uint8_t lttng_value_align(const struct lttng_coding *c, uint32_t size)
{
	if (!c->alignment || size <= 1)
		return 1;
	if (c->layout->natural)
		return (uint8_t)(size > 8 ? 8 : size);
	return (uint8_t)(size < c->alignment ? size : c->alignment);
}

uint64_t lttng_widest_align(const struct lttng_coding *c)
{
	return !c->alignment ? 1 : c->layout->natural ? 8 : c->alignment;
}

uint64_t lttng_event_align(const struct lttng_coding *c, bool compact)
{
	bool words = c->layout->era >= LTTNG_TRACE_MARKERS || compact;
	return words && c->alignment > 4 ? 4 : c->alignment;
}

uint64_t lttng_stamp_align(const struct lttng_coding *c)
{
	return !c->alignment ? 0 : c->layout->natural ? 8 : c->alignment;
}

uint64_t lttng_stamp_slack(const struct lttng_coding *c, bool compact)
{
	return compact && c->truncate < 32 ? (UINT64_C(1) << c->truncate) - 1 : 0;
}

uint32_t lttng_compact_ids(const struct lttng_coding *c)
{
	unsigned bits = 0;
	if (c->layout->era == LTTNG_MARKERS)
		bits = c->shift > c->tscbits ? (unsigned)(c->shift - c->tscbits) : 0;
	else
		while (bits < 32 && c->compact_events >> bits)
			bits++;
	return (uint32_t)((bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX) & (c->layout->era == LTTNG_MARKERS ? 0xffff : 0xff));
}

bool lttng_shape_add(struct lttng_budget *b, struct lttng_shape *shape, struct lttng_step step)
{
	struct lttng_step *last = shape->count ? &shape->steps[shape->count - 1] : NULL;
	if (step.align > shape->align)
		shape->align = step.align;
	if (last && last->kind == STEP_FIXED && step.kind == STEP_FIXED && step.size <= UINT32_MAX - last->size &&
	    (step.align == 1 || (step.align <= last->align && last->size % step.align == 0))) {
		last->size += step.size;
		return true;
	}
	if (!(shape->count & (shape->count - 1))) {
		/* Doubled at each power of two. Not array_room(): the budget counts it. */
		size_t capacity = shape->count ? 2u * shape->count : 1u;
		struct lttng_step *steps = lttng_budget_alloc(b, capacity * sizeof(*steps));
		if (!steps)
			return false;
		if (shape->count)
			memcpy(steps, shape->steps, shape->count * sizeof(*steps));
		free(shape->steps);
		shape->steps = steps;
	}
	shape->steps[shape->count++] = step;
	return true;
}

void lttng_shape_finish(struct lttng_shape *shape)
{
	uint64_t size = 0;
	shape->known = true;
	shape->is_fixed = true;
	if (!shape->align)
		shape->align = 1;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct lttng_step *s = &shape->steps[i];
		if (s->kind != STEP_FIXED)
			shape->is_fixed = false;
		size = lttng_align(size, s->align) + s->size;
	}
	if (size > UINT32_MAX)
		shape->is_fixed = false;
	shape->fixed = shape->is_fixed ? (uint32_t)size : 0;
}
