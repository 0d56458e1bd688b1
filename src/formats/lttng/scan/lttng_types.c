/* Declarations of a trace: channels, tables of event types, and the memory that they may take. */
#include <stdlib.h>

#include "formats/lttng/scan/lttng_trace.h"

bool lttng_no_memory(struct lttng_trace *t)
{
	t->status = fault_memory(&t->s->in->error);
	return false;
}

bool lttng_budget_failed(struct lttng_trace *t)
{
	if (t->status != TM_OK)
		return false;
	if (t->declared.budget.status == TM_LIMIT)
		t->status = scan_limit(t->s, "the trace declares more than %u bytes of channels and event types",
				       LTTNG_TABLE_BYTES_MAX);
	else if (t->declared.budget.status != TM_OK)
		(void)lttng_no_memory(t);
	return false;
}

void *lttng_table_alloc(struct lttng_trace *t, size_t size)
{
	void *p = t->status == TM_OK ? lttng_budget_alloc(&t->declared.budget, size) : NULL;
	if (!p)
		(void)lttng_budget_failed(t);
	return p;
}

char *lttng_table_copy(struct lttng_trace *t, const char *text, size_t length)
{
	char *copy = lttng_table_alloc(t, length + 1);
	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

/* ---- channels ---- */

struct lttng_channel *lttng_channel_find(struct lttng_trace *t, const char *name, size_t length, bool make)
{
	struct lttng_channel *c = NULL;
	HASH_FIND(hh, t->declared.channels, name, length, c);
	if (c || !make)
		return c;
	c = lttng_table_alloc(t, sizeof(*c));
	char *copy = c ? lttng_table_alloc(t, length + 1) : NULL;
	if (!copy) {
		free(c);
		return NULL;
	}
	memcpy(copy, name, length);
	c->name = copy;
	HASH_ADD_KEYPTR(hh, t->declared.channels, copy, length, c);
	if (!c->hh.tbl) {
		free(copy);
		free(c);
		(void)lttng_no_memory(t);
		return NULL;
	}
	return c;
}

/* ---- tables ---- */

struct lttng_marker *lttng_table_get(const struct lttng_table *table, uint32_t id)
{
	struct lttng_type *type = lttng_type_get(table ? &table->types : NULL, id);
	return type ? lttng_marker_of(type) : NULL;
}

struct lttng_marker *lttng_table_make(struct lttng_trace *t, struct lttng_table *table, uint32_t id)
{
	struct lttng_marker *m = lttng_table_get(table, id);
	if (m)
		return m;
	struct lttng_type ***page = &table->types.pages[id >> 8 & 0xff];
	if (!*page)
		*page = lttng_table_alloc(t, 256 * sizeof(struct lttng_type *));
	m = *page ? lttng_table_alloc(t, sizeof(*m)) : NULL;
	if (!m)
		return NULL;
	m->type.id = id;
	(*page)[id & 0xff] = &m->type;
	if (id > table->types.highest)
		table->types.highest = id;
	return m;
}

struct lttng_name *lttng_table_name(struct lttng_trace *t, struct lttng_table *table, const char *name, size_t length)
{
	struct lttng_name *n = NULL;
	HASH_FIND(hh, table->names, name, length, n);
	if (n)
		return n;
	n = lttng_table_alloc(t, sizeof(*n));
	char *copy = n ? lttng_table_copy(t, name, length) : NULL;
	if (!copy) {
		free(n);
		return NULL;
	}
	n->name = copy;
	HASH_ADD_KEYPTR(hh, table->names, copy, length, n);
	if (!n->hh.tbl) {
		free(copy);
		free(n);
		(void)lttng_no_memory(t);
		return NULL;
	}
	return n;
}

void lttng_marker_describe(struct lttng_marker *m, const struct lttng_name *n)
{
	for (; m; m = m->twin) {
		m->type.described = n->format != NULL;
		m->type.format = n->format;
		m->type.shape = n->shape;
		m->blame = n->blame;
		m->guessed = n->guessed ? n->guessed : m->guessed;
	}
}

void lttng_declarations_lose(struct lttng_declarations *d, struct finding *fd)
{
	if (d->lost)
		return;
	d->lost = true;
	d->broken = fd;
}

static void doubt_names(struct lttng_table *table, const struct source *s, uint64_t from, uint64_t to, const char *why)
{
	for (struct lttng_name *n = table ? table->names : NULL; n; n = n->hh.next) {
		if (!n->format || n->home != s || n->from < from || n->from >= to)
			continue;
		n->guessed = why;
		lttng_marker_describe(n->marker, n);
	}
}

void lttng_declarations_doubt(struct lttng_trace *t, const struct source *s, uint64_t from, uint64_t to, const char *why)
{
	doubt_names(t->declared.table, s, from, to, why);
	for (struct lttng_channel *c = t->declared.channels; c; c = c->hh.next)
		if (c->table != t->declared.table)
			doubt_names(c->table, s, from, to, why);
}

void lttng_table_free(struct lttng_table *table)
{
	struct lttng_name *n, *next;
	if (!table)
		return;
	for (unsigned i = 0; i < 256; i++) {
		for (unsigned j = 0; table->types.pages[i] && j < 256; j++) {
			struct lttng_type *type = table->types.pages[i][j];
			if (!type)
				continue;
			struct lttng_marker *m = lttng_marker_of(type);
			if (m->owns_steps)
				free(m->type.shape.steps);
			free(m->type.name);
			free(m);
		}
		free(table->types.pages[i]);
	}
	n = table->names;
	HASH_CLEAR(hh, table->names);
	for (; n; n = next) {
		next = n->hh.next;
		free(n->name);
		free(n->format);
		free(n->shape.steps);
		free(n);
	}
	free(table);
}

void lttng_declarations_free(struct lttng_trace *t)
{
	struct lttng_declarations *d = &t->declared;
	struct lttng_channel *c = d->channels, *next;
	bool own = t->coding.layout && t->coding.layout->era == LTTNG_CHANNEL_MARKERS;

	HASH_CLEAR(hh, d->channels);
	for (; c; c = next) {
		next = c->hh.next;
		if (own)
			lttng_table_free(c->table);
		free(c->name);
		free(c);
	}
	lttng_table_free(d->table);
	for (unsigned i = 0; i < 256; i++)
		if (d->facilities[i]) {
			free(d->facilities[i]->name);
			free(d->facilities[i]);
		}
}

/* ---- core types ---- */

static bool core_add(struct lttng_trace *t, struct lttng_table *table, uint32_t id, const char *name,
		     const struct lttng_step *steps, size_t count)
{
	struct lttng_marker *m = lttng_table_make(t, table, id);
	if (!m)
		return false;
	m->type.name = lttng_table_copy(t, name, strlen(name));
	m->type.declared = m->type.described = m->used = m->owns_steps = true;
	for (size_t i = 0; i < count && t->status == TM_OK; i++) {
		struct lttng_step s = steps[i];
		s.align = s.kind == STEP_STRING ? 1 : lttng_value_align(&t->coding, s.align);
		s.pad = s.pad > 1 && t->coding.alignment ? s.pad : 1;
		if (!lttng_shape_add(&t->declared.budget, &m->type.shape, s))
			return lttng_budget_failed(t);
	}
	lttng_shape_finish(&m->type.shape);
	return t->status == TM_OK;
}

#define VALUE(bytes) \
	{ \
		.kind = STEP_FIXED, .align = bytes, .pad = 1, .size = bytes \
	}
#define VALUES(bytes, n) \
	{ \
		.kind = STEP_FIXED, .align = bytes, .pad = 1, .size = (bytes) * (n) \
	}
#define STRING \
	{ \
		.kind = STEP_STRING, .align = 1, .pad = 1 \
	}
#define PADDED \
	{ \
		.kind = STEP_STRING, .align = 1, .pad = 4 \
	}

bool lttng_table_core(struct lttng_trace *t)
{
	static const struct lttng_step load[] = { PADDED, VALUES(4, 7) }, number[] = { VALUE(4) }, stamp[] = { VALUE(8) };
	static const struct lttng_step id[] = { STRING, VALUE(2), VALUES(1, 5) }, format[] = { STRING, STRING };
	static const struct lttng_step channel_id[] = { STRING, STRING, VALUE(2), VALUES(1, 5) };
	static const struct lttng_step channel_format[] = { STRING, STRING, STRING };
	bool full = t->coding.layout->minor == 8;

	if (t->coding.layout->era == LTTNG_CHANNEL_MARKERS) {
		struct lttng_channel *c = lttng_channel_find(t, "metadata", 8, true);
		if (!c)
			return false;
		c->table = lttng_table_alloc(t, sizeof(*c->table));
		return c->table && core_add(t, c->table, 0, "core_marker_id", channel_id, 4) &&
		       core_add(t, c->table, 1, "core_marker_format", channel_format, 3);
	}
	t->declared.table = lttng_table_alloc(t, sizeof(*t->declared.table));
	if (!t->declared.table)
		return false;
	if (t->coding.layout->era == LTTNG_FACILITIES)
		return core_add(t, t->declared.table, 0, "facility_load", load, 2) &&
		       core_add(t, t->declared.table, 1, "facility_unload", number, 1) &&
		       core_add(t, t->declared.table, 2, "heartbeat", NULL, 0) &&
		       (full ? core_add(t, t->declared.table, 3, "heartbeat_full", stamp, 1) &&
					core_add(t, t->declared.table, 4, "state_dump_facility_load", load, 2)
			     : core_add(t, t->declared.table, 3, "state_dump_facility_load", load, 2));
	if (!core_add(t, t->declared.table, 0, "core_marker_id", id, 3) ||
	    !core_add(t, t->declared.table, 1, "core_marker_format", format, 2))
		return false;
	return t->coding.layout->era != LTTNG_MARKERS || (core_add(t, t->declared.table, 2, "core_heartbeat_32", NULL, 0) &&
							  core_add(t, t->declared.table, 3, "core_heartbeat_64", stamp, 1));
}
