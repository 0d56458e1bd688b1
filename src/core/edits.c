#include "core/edits.h"

#include <stdlib.h>

#include "core/array.h"
#include "core/limits.h"

static struct edit *edits_new(struct edits *e, uint64_t at, uint64_t remove)
{
	if (e->failed || array_room(&e->list, &e->capacity, e->count, sizeof(*e->list), PLAN_RANGES_MAX) != TM_OK) {
		e->failed = true;
		return NULL;
	}
	e->list[e->count] = (struct edit){ .at = at, .remove = remove, .order = e->count, .why = "" };
	return &e->list[e->count++];
}

void edits_add(struct edits *e, uint64_t at, uint64_t remove, const void *bytes, size_t length, unsigned rule, const char *why)
{
	struct edit *edit = edits_new(e, at, remove);

	if (!edit)
		return;
	edit->rule = rule;
	edit->why = why;
	edit->bytes = e->bytes.size;
	edit->length = length;
	if (length)
		bytes_append(&e->bytes, bytes, length);
	e->failed |= e->bytes.failed;
}

void edits_move(struct edits *e, uint64_t from, uint64_t length, uint64_t to, unsigned rule)
{
	struct edit *edit = edits_new(e, to, 0);

	if (!edit)
		return;
	edit->rule = rule;
	edit->move_from = from;
	edit->move_length = length;
	edit = edits_new(e, from, length);
	if (edit)
		edit->moved = true;
}

void edits_skip(struct edits *e, uint64_t at, uint64_t length)
{
	struct edit *edit = edits_new(e, at, length);

	if (edit)
		edit->moved = true;
}

static int edits_compare(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (!x->remove != !y->remove)
		return x->remove ? 1 : -1;
	/* Insertions in the order in which they were added; of what replaces a range, the last one first. */
	int order = x->order < y->order ? -1 : x->order > y->order;
	return x->remove ? -order : order;
}

void edits_sort(struct edits *e)
{
	for (size_t i = 1; i < e->count; i++)
		if (edits_compare(&e->list[i - 1], &e->list[i]) > 0) {
			qsort(e->list, e->count, sizeof(*e->list), edits_compare);
			return;
		}
}

/* The next edit from *i on that does not begin inside of what one before it replaced; NULL at the end. */
static const struct edit *edits_next(const struct edits *e, size_t *i, uint64_t at)
{
	for (; *i < e->count; ++*i) {
		const struct edit *edit = &e->list[*i];
		if (edit->at >= at || !edit->remove) {
			++*i;
			return edit;
		}
	}
	return NULL;
}

uint64_t edits_size(struct edits *e, uint64_t size)
{
	uint64_t at = 0;

	edits_sort(e);
	for (size_t i = 0; i < e->count;) {
		const struct edit *edit = edits_next(e, &i, at);
		if (!edit)
			break;
		size += edit->length + edit->move_length - edit->remove;
		if (edit->remove)
			at = edit->at + edit->remove;
	}
	return size;
}

void edits_apply(struct edits *e, struct plan *p, unsigned output, const struct source *s, uint64_t base, uint64_t from,
		 uint64_t until)
{
	uint64_t at = from;

	edits_sort(e);
	for (size_t i = 0; i < e->count;) {
		const struct edit *edit = edits_next(e, &i, at);
		if (!edit || edit->at > until)
			break;
		if (edit->at < from)
			continue;
		if (edit->at > at) {
			plan_copy(p, output, s, base + at, edit->at - at);
			at = edit->at;
		}
		const uint8_t *bytes = edits_bytes(e, edit);
		if (edit->move_length)
			plan_copy(p, output, s, base + edit->move_from, edit->move_length);
		else if (edit->length && edit->remove)
			plan_replace(p, output, s, base + edit->at, edit->remove, bytes, edit->length, edit->rule, edit->why);
		else if (edit->length)
			plan_literal(p, output, bytes, edit->length, edit->rule, edit->why);
		else if (edit->remove && !edit->moved)
			plan_drop(p, s, base + edit->at, edit->remove, edit->rule, edit->why);
		at += edit->remove;
	}
	if (at < until)
		plan_copy(p, output, s, base + at, until - at);
}

void edits_apply_bytes(struct edits *e, const uint8_t *data, size_t size, struct bytes *out)
{
	size_t at = 0;

	edits_sort(e);
	for (size_t i = 0; i < e->count;) {
		const struct edit *edit = edits_next(e, &i, at);
		if (!edit || edit->at > size || edit->remove > size - edit->at)
			break;
		if (edit->at > at) { /* else it inserts inside of what another one replaced */
			bytes_append(out, data + at, (size_t)edit->at - at);
			at = (size_t)edit->at;
		}
		if (edit->move_length)
			bytes_append(out, data + edit->move_from, (size_t)edit->move_length);
		else if (edit->length)
			bytes_append(out, edits_bytes(e, edit), edit->length);
		at += (size_t)edit->remove;
	}
	bytes_append(out, data + at, size - at);
}

void edits_clear(struct edits *e)
{
	e->count = 0;
	e->bytes.size = 0;
}

void edits_free(struct edits *e)
{
	free(e->list);
	bytes_free(&e->bytes);
	*e = (struct edits){ 0 };
}
