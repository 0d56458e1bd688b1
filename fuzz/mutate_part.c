/* Changes of parts: removing, doubling, exchanging, and inserting parts of another capture. */
#include "core/choices.h"
#include "mutate.h"

#include <string.h>

/* Random tries to find a part before all parts are searched. */
#define PICK_TRIES 48u
/* Maximal number of adjacent parts that are removed or doubled at once. */
#define RUN_MAX 8u

static bool is_alive(const struct outline *o, uint32_t part)
{
	const struct part *p = &o->parts[part];
	for (unsigned depth = 0; depth < 4 * OUTLINE_DEPTH_MAX; depth++) {
		if (p->flags & PART_DELETED)
			return false;
		if (p->parent == OUTLINE_NONE)
			return p->kind == PART_FILE;
		p = &o->parts[p->parent];
	}
	return false;
}

bool mutation_may_move(const struct outline *o, uint32_t part)
{
	const struct part *p = &o->parts[part];
	if (p->flags & (PART_FIXED | PART_DELETED))
		return false;
	return p->kind == PART_RECORD || ((p->kind == PART_GROUP || p->kind == PART_FILE) && p->flags & PART_LOOSE) ||
	       (p->kind == PART_BYTES && p->length);
}

uint32_t mutate_pick(const struct outline *o, struct choices *c, bool (*fits)(const struct outline *o, uint32_t part))
{
	if (!o->count)
		return OUTLINE_NONE;
	for (unsigned i = 0; i < PICK_TRIES; i++) {
		uint32_t part = (uint32_t)choices_below(c, o->count);
		if (fits(o, part) && is_alive(o, part))
			return part;
	}
	uint32_t start = (uint32_t)choices_below(c, o->count);
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t part = start + i < o->count ? start + i : start + i - o->count;
		if (fits(o, part) && is_alive(o, part))
			return part;
	}
	return OUTLINE_NONE;
}

/* Whole files are removed rarely: there are few of them. */
static bool moves(const struct outline *o, uint32_t part)
{
	return o->parts[part].kind != PART_FILE && mutation_may_move(o, part);
}

bool mutate_delete(struct outline *o, struct choices *c)
{
	uint32_t part = mutate_pick(o, c, choices_chance(c, 1, 16) ? mutation_may_move : moves);
	if (part == OUTLINE_NONE)
		return false;
	uint64_t run = choices_chance(c, 1, 4) ? 1 + choices_below(c, RUN_MAX) : 1;
	for (; run && part != OUTLINE_NONE; run--, part = o->parts[part].next)
		if (mutation_may_move(o, part))
			outline_delete(o, part);
	return true;
}

bool mutate_duplicate(struct outline *o, struct choices *c)
{
	uint32_t part = mutate_pick(o, c, moves);
	if (part == OUTLINE_NONE)
		return false;
	/* The copy is often directly after the part, sometimes elsewhere among parts of its kind, and sometimes there are many
	 * copies. */
	if (choices_chance(c, 1, 3))
		return mutate_import(o, o, part, c);
	uint64_t times = choices_chance(c, 1, 8) ? 1 + choices_below(c, 32) : 1;
	for (; times; times--)
		if (outline_copy(o, o, part, o->parts[part].parent, o->parts[part].next) == OUTLINE_NONE)
			return false;
	return true;
}

static bool is_within(const struct outline *o, uint32_t part, uint32_t whole)
{
	for (; part != OUTLINE_NONE; part = o->parts[part].parent)
		if (part == whole)
			return true;
	return false;
}

/* A part of the same kind, whose place is used. */
static bool same_place(const struct outline *o, uint32_t part, const struct outline *from, uint32_t like)
{
	uint32_t parent = o->parts[part].parent, other = from->parts[like].parent;
	return parent != OUTLINE_NONE && other != OUTLINE_NONE && !strcmp(o->parts[parent].name, from->parts[other].name);
}

bool mutate_swap(struct outline *o, struct choices *c)
{
	uint32_t a = mutate_pick(o, c, moves);
	for (unsigned i = 0; i < PICK_TRIES && a != OUTLINE_NONE; i++) {
		uint32_t b = choices_chance(c, 1, 2) && o->parts[a].next != OUTLINE_NONE ? o->parts[a].next
											 : (uint32_t)choices_below(c, o->count);
		if (b == a || !moves(o, b) || !is_alive(o, b) || is_within(o, a, b) || is_within(o, b, a) ||
		    !same_place(o, a, o, b))
			continue;
		outline_swap(o, a, b);
		return true;
	}
	return false;
}

/* A group or file of that name, to insert into. */
static uint32_t pick_parent(const struct outline *o, const char *name, struct choices *c)
{
	uint32_t start = (uint32_t)choices_below(c, o->count);
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t part = start + i < o->count ? start + i : start + i - o->count;
		const struct part *p = &o->parts[part];
		if ((p->kind == PART_GROUP || p->kind == PART_FILE || (p->kind == PART_RECORD && p->first != OUTLINE_NONE)) &&
		    !strcmp(p->name, name) && is_alive(o, part))
			return part;
	}
	return OUTLINE_NONE;
}

/* Chooses the child before which to insert: a place next to a movable part, or the end. */
static uint32_t pick_place(const struct outline *o, uint32_t parent, struct choices *c)
{
	uint32_t count = 0, pick = OUTLINE_NONE;
	for (uint32_t i = o->parts[parent].first; i != OUTLINE_NONE; i = o->parts[i].next) {
		if (!mutation_may_move(o, i))
			continue;
		/* Of all such places, one is chosen uniformly. */
		if (choices_below(c, ++count) == 0)
			pick = choices_chance(c, 1, 2) ? o->parts[i].next : i;
	}
	if (count)
		return pick;
	/* All children are fixed: between header and trailer. */
	uint32_t last = o->parts[parent].last;
	return last != OUTLINE_NONE && o->parts[last].previous != OUTLINE_NONE && o->parts[last].flags & PART_FIXED ? last
														    : OUTLINE_NONE;
}

bool mutate_import(struct outline *o, const struct outline *from, uint32_t part, struct choices *c)
{
	if (!o->count || o->big_endian != from->big_endian)
		return false;
	uint64_t run = choices_chance(c, 1, 3) ? 1 + choices_below(c, RUN_MAX) : 1;
	for (unsigned i = 0; i < 8; i++) {
		uint32_t one = part != OUTLINE_NONE ? part : mutate_pick(from, c, moves);
		if (one == OUTLINE_NONE || from->parts[one].parent == OUTLINE_NONE)
			return false;
		uint32_t parent = pick_parent(o, from->parts[from->parts[one].parent].name, c);
		if (parent == OUTLINE_NONE || (o == from && is_within(o, parent, one)))
			continue;
		uint32_t before = pick_place(o, parent, c);
		for (; run && one != OUTLINE_NONE; run--, one = from->parts[one].next)
			if (moves(from, one) && outline_copy(o, from, one, parent, before) == OUTLINE_NONE)
				return false;
		return true;
	}
	return false;
}
