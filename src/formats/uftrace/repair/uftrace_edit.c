/* Edits of text files, and a hash of ids. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

bool uftrace_str_is(struct uftrace_str s, const char *text)
{
	return s.length == strlen(text) && !memcmp(s.text, text, s.length);
}

bool uftrace_str_equal(struct uftrace_str a, struct uftrace_str b)
{
	return a.length == b.length && (!a.length || !memcmp(a.text, b.text, a.length));
}

struct uftrace_str uftrace_basename(struct uftrace_str path)
{
	const char *slash = path.length ? memrchr(path.text, '/', path.length) : NULL;

	if (slash) {
		path.length -= (size_t)(slash + 1 - path.text);
		path.text = slash + 1;
	}
	return path;
}

void *uftrace_grow(struct uftrace_walk *w, void *list, size_t *capacity, size_t count, size_t size)
{
	if (count < *capacity)
		return list;
	size_t room = *capacity ? *capacity * 2 : 16;
	void *moved = realloc(list, room * size);
	if (!moved) {
		uftrace_walk_fail(w, TM_NO_MEMORY);
		return NULL;
	}
	*capacity = room;
	return moved;
}

static struct uftrace_edit *edit_new(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length)
{
	struct uftrace_edit *list = uftrace_grow(w, e->list, &e->capacity, e->count, sizeof(*list));

	if (!list)
		return NULL;
	e->list = list;
	list[e->count] = (struct uftrace_edit){ .from = from, .length = length, .order = e->count };
	return &list[e->count++];
}

void uftrace_edit_add(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length, const char *text,
		      size_t text_length, unsigned rule, const char *why)
{
	struct uftrace_edit *edit = w->plan ? edit_new(w, e, from, length) : NULL;

	if (!edit)
		return;
	edit->rule = rule;
	edit->why = why;
	if (text_length) {
		edit->text = malloc(text_length);
		if (!edit->text) {
			uftrace_walk_fail(w, TM_NO_MEMORY);
			return;
		}
		memcpy(edit->text, text, text_length);
		edit->text_length = text_length;
	}
}

void uftrace_edit_lose(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length, unsigned rule,
		       const char *why)
{
	uftrace_edit_add(w, e, from, length, NULL, 0, rule, why);
	if (w->plan)
		plan_lost_other(w->plan);
}

void uftrace_edit_move(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length, uint64_t to, unsigned rule)
{
	struct uftrace_edit *edit = w->plan ? edit_new(w, e, to, 0) : NULL;

	if (!edit)
		return;
	edit->rule = rule;
	edit->move_from = from;
	edit->move_length = length;
	edit = edit_new(w, e, from, length);
	if (edit)
		edit->moved = true;
}

static int edit_compare(const void *a, const void *b)
{
	const struct uftrace_edit *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (!x->length != !y->length)
		return x->length ? 1 : -1;
	/* Insertions in their order; of what becomes of a range, the last word first. */
	int order = x->order < y->order ? -1 : x->order > y->order;
	return x->length ? -order : order;
}

void uftrace_edits_apply(struct uftrace_walk *w, struct uftrace_edits *e, struct uftrace_file *file, const char *output)
{
	uint64_t at = 0;

	if (!w->plan || w->status != TM_OK) {
		uftrace_edits_free(e);
		return;
	}
	unsigned out = plan_output(w->plan, output);
	if (e->count)
		qsort(e->list, e->count, sizeof(*e->list), edit_compare);
	for (size_t i = 0; i < e->count; i++) {
		const struct uftrace_edit *edit = &e->list[i];
		if (edit->from < at && edit->length)
			continue; /* the last edit of a range was it */
		if (edit->from > at) {
			plan_copy(w->plan, out, file->source, at, edit->from - at);
			at = edit->from;
		}
		if (edit->move_length)
			plan_copy(w->plan, out, file->source, edit->move_from, edit->move_length);
		else if (edit->text_length && edit->length)
			plan_replace(w->plan, out, file->source, edit->from, edit->length, edit->text, edit->text_length,
				     edit->rule, edit->why);
		else if (edit->text_length)
			plan_literal(w->plan, out, edit->text, edit->text_length, edit->rule, edit->why);
		else if (edit->length && !edit->moved)
			plan_drop(w->plan, file->source, edit->from, edit->length, edit->rule, edit->why);
		at += edit->length;
	}
	if (at < file->source->size)
		plan_copy(w->plan, out, file->source, at, file->source->size - at);
	file->planned = true;
	uftrace_edits_free(e);
}

void uftrace_edits_free(struct uftrace_edits *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->list[i].text);
	free(e->list);
	*e = (struct uftrace_edits){ 0 };
}

static size_t ids_slot(const struct uftrace_ids *ids, int64_t key)
{
	uint64_t hash = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);
	size_t slot = (size_t)(hash >> 20) & (ids->capacity - 1);

	while (ids->values[slot] != UFTRACE_NONE && ids->keys[slot] != key)
		slot = (slot + 1) & (ids->capacity - 1);
	return slot;
}

uint32_t uftrace_ids_get(const struct uftrace_ids *ids, int64_t key)
{
	return ids->capacity ? ids->values[ids_slot(ids, key)] : UFTRACE_NONE;
}

bool uftrace_ids_set(struct uftrace_ids *ids, int64_t key, uint32_t value)
{
	if (ids->count * 2 >= ids->capacity) {
		struct uftrace_ids more = { .capacity = ids->capacity ? ids->capacity * 2 : 64 };
		more.keys = malloc(more.capacity * sizeof(*more.keys));
		more.values = malloc(more.capacity * sizeof(*more.values));
		if (!more.keys || !more.values) {
			uftrace_ids_free(&more);
			return false;
		}
		memset(more.values, 0xff, more.capacity * sizeof(*more.values));
		for (size_t i = 0; i < ids->capacity; i++) {
			if (ids->values[i] == UFTRACE_NONE)
				continue;
			size_t slot = ids_slot(&more, ids->keys[i]);
			more.keys[slot] = ids->keys[i];
			more.values[slot] = ids->values[i];
			more.count++;
		}
		struct uftrace_ids old = *ids;
		*ids = more;
		uftrace_ids_free(&old);
	}
	size_t slot = ids_slot(ids, key);
	if (ids->values[slot] == UFTRACE_NONE)
		ids->count++;
	ids->keys[slot] = key;
	ids->values[slot] = value;
	return true;
}

void uftrace_ids_free(struct uftrace_ids *ids)
{
	free(ids->keys);
	free(ids->values);
	*ids = (struct uftrace_ids){ 0 };
}
