/* Event formats whose ID is invalid or used twice. Where the records of an ID have no format, and their sizes allow exactly
 * one assignment of formats to IDs, that assignment is used. */
#include "formats/tracedat/salvage/tracedat_salvage.h"

#include <stdlib.h>

bool tracedat_unknown_table(struct tracedat_walk *w)
{
	if (!w->events.unknown)
		w->events.unknown = calloc(65536, sizeof(*w->events.unknown));
	if (!w->events.unknown)
		tracedat_no_memory(w);
	return w->events.unknown != NULL;
}

void tracedat_unassigned_free(struct tracedat_events *events)
{
	for (size_t i = 0; i < events->unassigned_count; i++)
		bytes_free(&events->unassigned[i].text);
	events->unassigned_count = 0;
}

struct tracedat_unassigned *tracedat_unassigned_add(struct tracedat_walk *w, const struct tracedat_block *b,
						    const struct tracedat_event *e)
{
	const uint8_t *text = b->data + e->text, *id = memmem(text, e->text_size, "\nID:", 4);
	const uint8_t *end = id ? memchr(id + 1, '\n', e->text_size - (size_t)(id + 1 - text)) : NULL;
	if (w->events.unassigned_count == TRACEDAT_UNASSIGNED_MAX || !end)
		return NULL;
	struct tracedat_unassigned *o = &w->events.unassigned[w->events.unassigned_count++];
	*o = (struct tracedat_unassigned){ .id_at = (size_t)(id + 1 - text),
					   .id_end = (size_t)(end - text),
					   .fixed = e->fixed,
					   .slack = e->slack,
					   .hash = e->hash,
					   .rival = -1,
					   .offset = b->compressed ? b->offset : b->offset + e->text,
					   .stored = b->compressed ? b->stored : e->text_size };
	bytes_append(&o->text, text, e->text_size);
	if (o->text.failed)
		tracedat_no_memory(w);
	return o;
}

static bool fits(const struct tracedat_unassigned *o, const struct tracedat_unknown *u)
{
	return !u->most || (u->least >= o->fixed && u->most - o->fixed <= o->slack);
}

/* Ways to give records of `id` an ID less format: to this one; or, of two with the same ID, to its rival (*swap). */
static unsigned assignments(const struct tracedat_events *events, size_t index, uint32_t id, bool *swap)
{
	const struct tracedat_unassigned *o = &events->unassigned[index],
					 *rival = o->rival >= 0 ? &events->unassigned[o->rival] : NULL;
	const struct tracedat_unknown *u = &events->unknown[id], *own = rival ? &events->unknown[o->claim] : NULL;
	if (!u->records || o->holder)
		return 0;
	bool straight = fits(o, u) && (!rival || fits(rival, own));
	*swap = rival && fits(rival, u) && fits(o, own);
	return (unsigned)straight + *swap;
}

static void id_assign(struct tracedat_events *events, struct tracedat_unassigned *o, uint32_t id, bool swap)
{
	o->id = swap ? o->claim : id;
	if (swap) {
		events->unassigned[o->rival].id = id;
		events->unassigned[o->rival].moved = true;
	}
}

/* Of two formats with one ID, the one that its records do not fit leaves it, where no other ID has records for it. */
static void rivals_match(struct tracedat_events *events, struct tracedat_unassigned *o)
{
	struct tracedat_unassigned *rival = &events->unassigned[o->rival];
	const struct tracedat_unknown *own = &events->unknown[o->claim];

	if (!own->most || fits(rival, own) || !fits(o, own) || rival->moved)
		return;
	o->id = o->claim;
	rival->moved = true;
}

void tracedat_unassigned_match(struct tracedat_events *events)
{
	struct {
		unsigned assignments;
		uint32_t id;
		bool swap;
	} found[TRACEDAT_UNASSIGNED_MAX] = { 0 };

	for (uint32_t id = 1; events->unknown && id < 65536; id++) {
		unsigned all = 0;
		size_t last = 0;
		bool swap = false;
		for (size_t i = 0; i < events->unassigned_count; i++) {
			bool swaps = false;
			unsigned n = assignments(events, i, id, &swaps);
			all += n;
			found[i].assignments += n;
			last = n ? i : last;
			swap = n ? swaps : swap;
		}
		if (all == 1) {
			found[last].id = id;
			found[last].swap = swap;
		}
	}
	for (size_t i = 0; i < events->unassigned_count; i++)
		if (found[i].assignments == 1 && found[i].id)
			id_assign(events, &events->unassigned[i], found[i].id, found[i].swap);
	for (size_t i = 0; i < events->unassigned_count; i++)
		if (!events->unassigned[i].id && events->unassigned[i].rival >= 0)
			rivals_match(events, &events->unassigned[i]);
}

bool tracedat_unassigned_disputed(const struct tracedat_events *events, const struct tracedat_unassigned *o)
{
	return o->rival >= 0 && !o->id && !events->unassigned[o->rival].moved;
}

const struct tracedat_unassigned *tracedat_unassigned_of(const struct tracedat_events *events, uint32_t id)
{
	for (size_t i = 0; i < events->unassigned_count; i++)
		if (events->unassigned[i].id == id)
			return &events->unassigned[i];
	return NULL;
}

bool tracedat_unassigned_moved(const struct tracedat_events *events, uint64_t hash, uint32_t id)
{
	for (size_t i = 0; i < events->unassigned_count; i++)
		if (events->unassigned[i].moved && events->unassigned[i].hash == hash && events->unassigned[i].claim == id)
			return true;
	return false;
}

void tracedat_unassigned_text(const struct tracedat_unassigned *o, struct bytes *out)
{
	const char *text = (const char *)o->text.data;
	bytes_append(out, text, o->id_at);
	bytes_printf(out, "ID: %u", o->id);
	bytes_append(out, text + o->id_end, o->text.size - o->id_end);
}

void tracedat_placeholder_text(const struct tracedat_events *events, uint32_t id, struct bytes *out)
{
	static const char common[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
	bytes_printf(out, "name: unknown_%u\nID: %u\nformat:\n", id, id);
	if (events->common.size)
		bytes_append(out, events->common.data, events->common.size);
	else
		bytes_text(out, common);
	bytes_printf(out, "\n\tfield:unsigned char data[];\toffset:%u;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n",
		     events->common_size > 8 ? events->common_size : 8);
}
