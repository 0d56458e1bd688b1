/* Declarations of event types that were lost, written again: a block behind the others of a metadata file. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/lttng/repair/lttng_repair.h"

/* A name for a type that has none: no other has it. */
static struct lttng_name *name_make_up(struct lttng_trace *t, struct lttng_table *table, uint32_t id)
{
	char name[32];
	struct lttng_name *n;
	for (unsigned i = 0;; i++) {
		int length = i ? snprintf(name, sizeof(name), "lost_%u_%u", id, i) : snprintf(name, sizeof(name), "lost_%u", id);
		HASH_FIND(hh, table->names, name, (size_t)length, n);
		if (!n)
			return lttng_table_name(t, table, name, (size_t)length);
	}
}

const char *lttng_restore(struct lttng_trace *t, const struct lttng_channel *c, struct lttng_marker *m, const char *format)
{
	unsigned flaws;
	size_t at;
	struct lttng_name *n = m->type.name ? lttng_table_name(t, c->table, m->type.name, strlen(m->type.name))
					    : name_make_up(t, c->table, m->type.id);
	if (!n)
		return NULL;
	char *name = m->type.name ? m->type.name : lttng_table_copy(t, n->name, strlen(n->name));
	char *copy = name ? lttng_table_copy(t, format, strlen(format)) : NULL;
	m->type.name = name;
	free(n->shape.steps);
	n->shape = (struct lttng_shape){ 0 };
	if (!copy || !lttng_format_parse(&t->coding, &t->declared.budget, copy, &n->shape, &flaws, &at)) {
		free(copy);
		(void)lttng_budget_failed(t);
		return NULL;
	}
	free(n->format);
	n->format = copy;
	n->blame = NULL;
	n->marker = n->marker ? n->marker : m;
	m->type.declared = true;
	m->guessed = "the type of these events was inferred from the events themselves";
	lttng_marker_describe(n->marker, n);
	return n->format;
}

/* ---- the block ---- */

struct writer {
	struct lttng_trace *t;
	struct lttng_file *file;
	uint8_t *block;
	size_t length, capacity;
	size_t size_at; /* to 1.0: where the size of the event goes that was begun */
	uint64_t stamp;
};

static void put_text(struct writer *out, const char *text)
{
	size_t n = strlen(text) + 1;
	memcpy(out->block + out->length, text, n);
	out->length += n;
}

/* The header of 1.0: a stamp, the id, and the size of the payload, which comes later. */
static void put_old_header(const struct writer *out, size_t start, uint32_t id)
{
	const struct lttng_coding *c = &out->t->coding;
	size_t width = c->heartbeat ? 4 : 8;

	if (c->heartbeat)
		store_u32(out->block + start, (uint32_t)out->stamp, c->big_endian);
	else
		store_u64(out->block + start, out->stamp, c->big_endian);
	store_u16(out->block + start + width, (uint16_t)id, c->big_endian);
}

/* Room for an event with so many bytes of texts; begins it. False: it goes beyond the block. */
static bool put_event(struct writer *out, uint32_t id, size_t texts)
{
	const struct lttng_coding *c = &out->t->coding;
	const bool old = c->layout->era == LTTNG_MARKERS;
	const struct lttng_type *core = lttng_type_get(&out->file->channel->table->types, id);
	size_t start = (size_t)lttng_align(out->length, lttng_event_align(c, out->file->compact));
	size_t payload = (size_t)(old ? lttng_align(start + (c->heartbeat ? 8 : 12), c->alignment)
				      : lttng_align(start + 4, core->shape.align));
	if (payload + texts + 16 > out->capacity)
		return false;
	if (old)
		put_old_header(out, start, id);
	else
		store_u32(out->block + start, id << LTTNG_TIME_BITS | (uint32_t)(out->stamp & LTTNG_TIME_MASK), c->big_endian);
	out->size_at = start + (c->heartbeat ? 6 : 10);
	out->length = payload;
	return true;
}

/* The event that was begun, with its payload from there on, is whole. */
static void end_event(struct writer *out, size_t payload)
{
	const struct lttng_coding *c = &out->t->coding;
	if (c->layout->era == LTTNG_MARKERS)
		store_u16(out->block + out->size_at, (uint16_t)(out->length - payload), c->big_endian);
}

/* The two records that declare a type, the first only where its name is made up. False: there is no room left in the block. */
static bool put_declaration(struct writer *out, const struct lttng_restored *type)
{
	const struct lttng_trace *t = out->t;
	bool of_channel = t->coding.layout->era == LTTNG_CHANNEL_MARKERS;
	const char *channel = type->channel->name, *name = type->marker->type.name, *format = type->format;
	size_t names = strlen(name) + 1 + (of_channel ? strlen(channel) + 1 : 0), was = out->length;

	for (uint32_t id = type->named ? 1 : 0; id <= 1; id++) {
		if (!put_event(out, id, names + (id ? strlen(format) + 1 : 0))) {
			memset(out->block + was, 0, out->capacity - was);
			out->length = was;
			return false;
		}
		size_t payload = out->length;
		if (of_channel)
			put_text(out, channel);
		put_text(out, name);
		if (id) {
			put_text(out, format);
			end_event(out, payload);
			continue;
		}
		out->length = payload + (size_t)lttng_align(out->length - payload, lttng_value_align(&t->coding, 2));
		store_u16(out->block + out->length, (uint16_t)type->marker->type.id, t->coding.big_endian);
		memcpy(out->block + out->length + 2, t->coding.sizes.v, SIZE_KINDS);
		out->length += 2 + SIZE_KINDS;
		end_event(out, payload);
	}
	return true;
}

/* What a block may hold. */
static size_t block_capacity(const struct lttng_trace *t, const struct lttng_file *f)
{
	return t->coding.layout->variable ? 16 * LTTNG_PAGE : (size_t)f->block_size;
}

/* The file in which readers look for declarations, where none has data; NULL: there is another, or no memory. */
static struct lttng_file *file_make(struct lttng_trace *t)
{
	const enum lttng_era era = t->coding.layout->era;
	const char *name = era == LTTNG_MARKERS		? "control/facilities"
			   : era == LTTNG_TRACE_MARKERS ? "control/metadata"
							: "metadata";
	struct lttng_file *f = &t->out.declaring;

	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].metadata && !t->files.list[i].empty && !t->files.list[i].aside)
			return NULL;
	f->channel = lttng_channel_find(t, name, strlen(name), true);
	if (!f->channel)
		return NULL;
	if (!f->channel->table)
		f->channel->table = t->declared.table;
	f->block_size = LTTNG_PAGE;
	f->metadata = true;
	return f;
}

/* Puts the file that was made into the output. False: t->status. */
static bool file_put(struct lttng_trace *t, struct lttng_file *f)
{
	const size_t room = t->files.root_length + strlen(f->channel->name) + sizeof("_0");
	char *path = malloc(room);
	if (!path)
		return lttng_no_memory(t);
	(void)snprintf(path, room, "%.*s%s_0", (int)t->files.root_length, t->files.root, f->channel->name);
	f->output = plan_output(t->s->plan, path);
	free(path);
	return true;
}

struct lttng_file *lttng_declaring_file(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count; i++) {
		struct lttng_file *f = &t->files.list[i];
		size_t capacity = block_capacity(t, f);
		if (f->channel && f->metadata && !f->aside && !f->empty && capacity >= LTTNG_PAGE &&
		    capacity <= LTTNG_ZEROS_MAX / 2)
			return f;
	}
	return file_make(t);
}

void lttng_redeclare(struct lttng_trace *t, struct lttng_file *f, const struct lttng_restored *types, size_t count)
{
	if (f == &t->out.declaring && !file_put(t, f))
		return;
	if (!f->has_last) {
		/* Nothing else is left in the file. */
		f->last = t->constants.want;
		f->last.v[LF_END] = t->constants.begin;
		f->has_last = true;
	}
	uint64_t stamp = f->last.v[LF_END];
	/* A word of zeros is not an event. */
	struct writer out = {
		.t = t, .file = f, .capacity = block_capacity(t, f), .stamp = stamp & LTTNG_TIME_MASK ? stamp : stamp + 1
	};

	out.block = calloc(1, out.capacity);
	if (!out.block) {
		(void)lttng_no_memory(t);
		return;
	}
	out.length = t->coding.layout->size;
	for (size_t i = 0; i < count;) {
		if (put_declaration(&out, &types[i])) {
			plan_added(t->s->plan, types[i].named ? 1 : 2);
			i++;
			continue;
		}
		/* One always fits an empty block: LTTNG_RESTORED_NAMES, LTTNG_RESTORED_FORMAT. */
		lttng_repair_new_block(t, f, out.block, out.length, out.stamp, LTTNG_RULE_dangling_event_id);
		memset(out.block, 0, out.capacity);
		out.length = t->coding.layout->size;
	}
	lttng_repair_new_block(t, f, out.block, out.length, out.stamp, LTTNG_RULE_dangling_event_id);
	free(out.block);
	t->declared.kept = true;
}
