/* Declarations of event types that were lost, written again: a block behind the others of a metadata file. */
#include "formats/lttng/lttng.h"

#include <stdlib.h>

struct writer {
	struct lttng_trace *t;
	struct lttng_file *file;
	uint8_t *block;
	size_t length, capacity;
	uint64_t stamp;
};

static void put_text(struct writer *w, const char *text)
{
	size_t n = strlen(text) + 1;
	memcpy(w->block + w->length, text, n);
	w->length += n;
}

/* Room for an event with so many bytes of texts; begins it. False: it goes beyond the block. */
static bool put_event(struct writer *w, uint32_t id, size_t texts)
{
	const struct lttng_trace *t = w->t;
	const struct lttng_marker *core = lttng_table_get(w->file->channel->table, id);
	size_t start = (size_t)lttng_align(w->length, lttng_event_align(t, w->file));
	size_t payload = (size_t)lttng_align(start + 4, core->shape.align);
	if (payload + texts + 16 > w->capacity)
		return false;
	store_u32(w->block + start, id << LTTNG_TIME_BITS | (uint32_t)(w->stamp & LTTNG_TIME_MASK), t->big_endian);
	w->length = payload;
	return true;
}

/* The two records that declare a type, the first only where its name is made up. False: there is no room left in the block. */
static bool put_declaration(struct writer *w, const struct lttng_restored *type)
{
	const struct lttng_trace *t = w->t;
	bool of_channel = t->layout->era == LTTNG_CHANNEL_MARKERS;
	const char *channel = type->channel->name, *name = type->marker->name, *format = type->format;
	size_t names = strlen(name) + 1 + (of_channel ? strlen(channel) + 1 : 0), was = w->length;

	for (uint32_t id = type->named ? 1 : 0; id <= 1; id++) {
		if (!put_event(w, id, names + (id ? strlen(format) + 1 : 0))) {
			memset(w->block + was, 0, w->capacity - was);
			w->length = was;
			return false;
		}
		size_t payload = w->length;
		if (of_channel)
			put_text(w, channel);
		put_text(w, name);
		if (id) {
			put_text(w, format);
			continue;
		}
		w->length = payload + (size_t)lttng_align(w->length - payload, lttng_value_align(t, 2));
		store_u16(w->block + w->length, (uint16_t)type->marker->id, t->big_endian);
		memcpy(w->block + w->length + 2, t->sizes.v, SIZE_KINDS);
		w->length += 2 + SIZE_KINDS;
	}
	return true;
}

/* What a block may hold. */
static size_t block_capacity(const struct lttng_trace *t, const struct lttng_file *f)
{
	return t->layout->variable ? 16 * LTTNG_PAGE : (size_t)f->block_size;
}

struct lttng_file *lttng_declaring_file(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->file_count; i++) {
		struct lttng_file *f = &t->files[i];
		size_t capacity = block_capacity(t, f);
		if (f->channel && f->metadata && !f->aside && !f->empty && capacity >= LTTNG_PAGE &&
		    capacity <= LTTNG_ZEROS_MAX / 2)
			return f;
	}
	return NULL;
}

void lttng_redeclare(struct lttng_trace *t, struct lttng_file *f, const struct lttng_restored *types, size_t count)
{
	if (!f->has_last) {
		/* Nothing else is left in the file. */
		f->last = t->want;
		f->last.v[LF_END] = t->begin;
		f->has_last = true;
	}
	uint64_t stamp = f->last.v[LF_END];
	/* A word of zeros is no event. */
	struct writer w = {
		.t = t, .file = f, .capacity = block_capacity(t, f), .stamp = stamp & LTTNG_TIME_MASK ? stamp : stamp + 1
	};

	w.block = calloc(1, w.capacity);
	if (!w.block) {
		(void)lttng_no_memory(t);
		return;
	}
	w.length = t->layout->size;
	for (size_t i = 0; i < count;) {
		if (put_declaration(&w, &types[i])) {
			plan_added(t->scan->plan, types[i].named ? 1 : 2);
			i++;
			continue;
		}
		/* One always fits an empty block: LTTNG_RESTORED_NAMES, LTTNG_RESTORED_FORMAT. */
		lttng_repair_made_up(t, f, w.block, w.length, w.stamp, LTTNG_RULE_dangling_event_id);
		memset(w.block, 0, w.capacity);
		w.length = t->layout->size;
	}
	lttng_repair_made_up(t, f, w.block, w.length, w.stamp, LTTNG_RULE_dangling_event_id);
	free(w.block);
	t->metadata_kept = true;
}
