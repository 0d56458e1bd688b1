/* Runs of equal edits as one entry. A recorder that breaks one field breaks it in each record: the plan of a million such edits is
 * four pieces and a count. */
#include <string.h>

#include "core/array.h"
#include "core/plan_parts.h"

bool pieces_next(struct pieces_walk *w, struct piece *piece)
{
	const struct pieces *list = w->list;

	if (w->next == list->count)
		return false;
	*piece = list->items[w->next++];
	if (w->run == list->run_count || w->next <= list->runs[w->run].first)
		return true;
	const struct piece_run *run = &list->runs[w->run];
	if (piece->source != LITERAL)
		piece->from += w->time * run->step;
	if (w->next == run->first + run->size) {
		if (++w->time < run->times) {
			w->next = run->first;
		} else {
			w->time = 0;
			w->run++;
		}
	}
	return true;
}

bool plan_dropped_next(const struct plan *p, struct pieces_walk *walk, uint64_t *from, uint64_t *until)
{
	struct piece piece;

	walk->list = &p->dropped;
	if (!pieces_next(walk, &piece))
		return false;
	*from = piece.from;
	*until = piece.from + piece.length;
	return true;
}

const struct piece_run *pieces_run_of(const struct pieces *list, size_t index)
{
	size_t i;

	array_search(i, list->run_count, list->runs[i].first + list->runs[i].size <= index);
	return i < list->run_count && list->runs[i].first <= index ? &list->runs[i] : NULL;
}

/* Whether `b` is `a` once more, `step` bytes further in the input. */
static bool piece_repeats(const struct plan *p, const struct piece *a, const struct piece *b, uint64_t step)
{
	if (a->length != b->length || a->source != b->source || a->rule != b->rule || a->why != b->why || a->again != b->again)
		return false;
	if (a->source != LITERAL)
		return b->from - a->from == step;
	return !memcmp(p->literals.data + a->from, p->literals.data + b->from, (size_t)a->length);
}

/* Whether items[at, at + size) are items[first, first + size) once more. */
static bool group_repeats(const struct plan *p, const struct piece *items, size_t first, size_t at, size_t size, uint64_t step)
{
	for (size_t i = 0; i < size; i++)
		if (!piece_repeats(p, &items[first + i], &items[at + i], step))
			return false;
	return true;
}

/* How much further in the input a group is than the one before it; 0: nothing of it is of the input, or it goes backwards. */
static uint64_t group_step(const struct piece *items, size_t first, size_t at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (items[first + i].source != LITERAL)
			return items[at + i].from > items[first + i].from ? items[at + i].from - items[first + i].from : 0;
	return 0;
}

/* Takes the last pieces off the list, and their literals where these are the last ones. */
static void pieces_cut(struct plan *p, struct pieces *list, size_t count)
{
	while (list->count > count) {
		const struct piece *last = &list->items[--list->count];
		if (last->source == LITERAL && !p->shared && last->from + last->length == p->literals.size)
			p->literals.size -= (size_t)last->length;
	}
}

void pieces_fold(struct plan *p, struct pieces *list)
{
	struct piece_run *run = list->run_count ? &list->runs[list->run_count - 1] : NULL;
	size_t end = run ? run->first + run->size : 0, tail = list->count - end;

	if (p->status != TM_OK)
		return;
	if (run && tail == run->size && group_repeats(p, list->items, run->first, end, run->size, run->times * run->step)) {
		run->times++;
		pieces_cut(p, list, end);
		return;
	}
	for (uint32_t size = 1; size <= RUN_SIZE_MAX && size * RUN_TIMES_MIN <= tail; size++) {
		size_t first = list->count - size * RUN_TIMES_MIN;
		uint64_t step = group_step(list->items, first, first + size, size);
		unsigned times = 1;
		while (step && times < RUN_TIMES_MIN &&
		       group_repeats(p, list->items, first, first + times * size, size, times * step))
			times++;
		if (times < RUN_TIMES_MIN)
			continue;
		if (!plan_room(p, &list->runs, &list->run_capacity, list->run_count, sizeof(*list->runs), PLAN_RANGES_MAX))
			return;
		list->runs[list->run_count++] = (struct piece_run){ first, size, times, step };
		pieces_cut(p, list, first + size);
		return;
	}
}
