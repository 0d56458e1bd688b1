/* A valid format becomes an event, against which records are checked. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_format.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t name_hash(const char *system, const char *name, size_t length)
{
	uint64_t hash = text_hash(system, strlen(system));

	hash = text_hash_more(text_hash_more(hash, "\xff", 1), name, length);
	return hash ? hash : 1;
}

/* Remembers a hash; false when it was there. */
static bool name_add(struct tracedat_walk *w, uint64_t hash)
{
	if (map_get(&w->events.names, hash) != MAP_NONE)
		return false;
	if (map_set(&w->events.names, hash, 1, TRACEDAT_EVENTS_MAX) == TM_NO_MEMORY)
		tracedat_no_memory(w);
	return true;
}

static bool named(const struct tracedat_format *p, const struct tracedat_field *f, const char *name)
{
	return f->name_length == strlen(name) && !memcmp(p->text + f->name, name, f->name_length);
}

static bool event_named(const struct tracedat_format *p, const char *name)
{
	return p->name && p->name_length == strlen(name) && !memcmp(p->name, name, p->name_length);
}

bool tracedat_event_doubtful(struct tracedat_walk *w, uint32_t id, bool hit)
{
	uint64_t bit = UINT64_C(1) << id % 64, **ids = &w->events.doubtful_ids;

	id &= 0xffff;
	hit |= w->events.doubtful || w->events.text_hit;
	if (hit && !*ids && !(*ids = calloc(65536 / 64, sizeof(**ids))))
		tracedat_no_memory(w);
	if (!*ids)
		return false;
	if (hit)
		(*ids)[id / 64] |= bit;
	return (*ids)[id / 64] & bit;
}

/* What the fast path knows of an event, after it was made or changed. */
static void tell_plain(struct tracedat_events *events, const struct tracedat_event *e)
{
	events->plain[e->id & 0xffff] = e->special ? (struct tracedat_plain){ 0 } : (struct tracedat_plain){ e->fixed, e->slack };
}

void tracedat_event_hit(struct tracedat_walk *w, struct tracedat_event *e)
{
	e->doubtful = tracedat_event_doubtful(w, e->id, true);
	e->special |= e->doubtful;
	tell_plain(&w->events, e);
}

/* Events that programs write (Linux, Documentation/trace/user_events.rst): the kernel takes any bytes behind the fields.
 * EventHeader has all of its content there. */
static bool from_user(const char *system)
{
	return !strncmp(system, "user_events", 11);
}

/* What its records have without fields of their own. */
static void event_begin(const struct tracedat_format *p, struct tracedat_event *e)
{
	const struct tracedat_events *events = &p->w->events;

	e->fixed = events->common_size > 8 ? events->common_size : 8;
	e->loose = e->special = from_user(p->system);
	e->slack = e->loose ? TRACEDAT_SLACK_ANY : 7;
}

static void event_fields(struct tracedat_format *p, struct tracedat_event *e)
{
	struct tracedat_walk *w = p->w;
	bool ftrace = !strcmp(p->system, "ftrace");
	bool stack = ftrace && (event_named(p, "kernel_stack") || event_named(p, "user_stack"));
	bool print = ftrace && (event_named(p, "bprint") || event_named(p, "bputs"));

	event_begin(p, e);
	e->dynamic = (uint32_t)w->events.dynamic_count;
	for (size_t i = 0; i < p->field_count; i++) {
		const struct tracedat_field *f = &p->fields[i];
		if (f->common)
			continue;
		if (f->bad) {
			e->slack = UINT32_MAX; /* nor is it known how short a record may be */
			e->open = true;
			continue;
		}
		uint32_t end = f->offset + f->size;
		if (f->open_array)
			end = f->offset;
		if (f->open_array || f->dynamic)
			e->slack |= TRACEDAT_SLACK_ANY;
		e->open |= f->open_array || (f->dynamic && f->size != 4);
		if (stack && named(p, f, "caller")) {
			e->slack = TRACEDAT_SLACK_ANY;
			e->open = true;
			end = f->offset;
		}
		if (end > e->fixed)
			e->fixed = end;
		if (f->dynamic && f->size == 4 &&
		    tracedat_room(w, &w->events.dynamics, &w->events.dynamic_capacity, w->events.dynamic_count,
				  sizeof(*w->events.dynamics), 1u << 22)) {
			w->events.dynamics[w->events.dynamic_count++] = (struct tracedat_dynamic){ (uint16_t)f->offset, f->relative,
												   f->text };
			e->dynamic_count++;
			e->special = true;
		}
		if (print && f->size == w->shape.long_size && (named(p, f, "fmt") || named(p, f, "str")))
			e->printk = (uint16_t)f->offset;
		if (ftrace && f->size == w->shape.long_size && (named(p, f, "ip") || named(p, f, "parent_ip")))
			e->ip[e->ip[0] != 0] = (uint16_t)f->offset;
	}
	/* Of a format that got its ID from the sizes of records, or lost it to such a one, repair does not know the system any
	 * more. */
	e->doubtful = tracedat_event_doubtful(w, e->id,
					      !strcmp(p->system, TRACEDAT_MADE_UP) && tracedat_unassigned_of(&w->events, e->id));
	e->special |= e->printk || e->ip[0] || e->doubtful;
}

/* Repair has put it there, and knows no format of which it is the place. */
static bool format_made_up(const struct tracedat_format *p)
{
	const struct tracedat_events *events = &p->w->events;
	return events->placeholders && events->placeholders[p->id / 64] >> p->id % 64 & 1 && !strcmp(p->system, TRACEDAT_MADE_UP) &&
	       !tracedat_unassigned_of(events, (uint32_t)p->id);
}

void tracedat_event_add(struct tracedat_format *p, bool placeholder)
{
	struct tracedat_walk *w = p->w;
	char shown[TEXT_QUOTE_SIZE];

	if (!p->id_known)
		return;
	const struct tracedat_event *other = tracedat_event_of(&w->events, (uint32_t)p->id);
	if (!placeholder && tracedat_unassigned_moved(&w->events, name_hash(p->system, p->name, p->name_length), (uint32_t)p->id)) {
		/* It is so only while repair walks again, whose findings are counted and not kept. */
		p->fatal = true;
		p->errors++;
		return;
	}
	if (other) {
		if (!placeholder) {
			p->fatal = p->id_bad = true;
			tracedat_format_report(p, TRACEDAT_RULE_event_id_duplicate, 0, p->size, "the ID %llu is that of %s as well",
					       (unsigned long long)p->id, other->name);
		}
		return;
	}
	if (!tracedat_room(w, &w->events.list, &w->events.capacity, w->events.count, sizeof(*w->events.list), TRACEDAT_EVENTS_MAX))
		return;
	struct tracedat_event *e = &w->events.list[w->events.count];
	*e = (struct tracedat_event){
		.id = (uint32_t)p->id, .placeholder = placeholder, .block = p->block, .text = p->base, .text_size = p->size
	};
	(void)snprintf(e->system, sizeof(e->system), "%s", p->system);
	text_sanitise(e->name, sizeof(e->name), p->name ? text_quote(shown, p->name, p->name_length) : "unknown");
	if (placeholder) {
		e->fixed = w->events.common_size > 8 ? w->events.common_size : 8;
		e->slack = TRACEDAT_SLACK_ANY;
	} else {
		event_fields(p, e);
		e->hash = name_hash(p->system, p->name, p->name_length);
		if (!name_add(w, e->hash))
			tracedat_format_report(p, TRACEDAT_RULE_event_name_duplicate, 0, p->size,
					       "a second event of this name in the system");
		if (!strcmp(p->system, "ftrace") && event_named(p, "user_stack"))
			w->events.blk_id = e->id + 1;
	}
	e->blind = placeholder || format_made_up(p);
	e->special |= e->blind;
	w->events.count++;
	w->events.index[e->id] = (uint16_t)w->events.count;
	tell_plain(&w->events, e);
}

void tracedat_event_unassigned(struct tracedat_format *p)
{
	struct tracedat_walk *w = p->w;
	struct tracedat_event own = { .text = p->base, .text_size = p->size };
	struct tracedat_event *holder = p->id_known ? &w->events.list[w->events.index[p->id] - 1] : NULL;

	event_fields(p, &own);
	struct tracedat_unassigned *first = NULL, *o = tracedat_unassigned_add(w, p->block, &own);
	if (o && holder && !holder->contested && !holder->placeholder && tracedat_unknown_table(w))
		first = tracedat_unassigned_add(w, holder->block, holder);
	if (!first) {
		/* A duplicate ID needs both formats. */
		if (o && holder)
			bytes_free(&w->events.unassigned[--w->events.unassigned_count].text);
		return;
	}
	holder->contested = holder->special = true;
	tell_plain(&w->events, holder);
	o->claim = first->claim = (uint32_t)p->id;
	o->rival = (int)(first - w->events.unassigned);
	first->holder = true;
}
