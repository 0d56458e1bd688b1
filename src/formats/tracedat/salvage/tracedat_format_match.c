/* Formats without an ID of their own: it is none, or comes twice. Where the records of one event have no format, and the sizes of
 * records leave one way only to give each format its ID, that is taken. */
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

void tracedat_orphans_free(struct tracedat_events *events)
{
	for (size_t i = 0; i < events->orphan_count; i++)
		bytes_free(&events->orphans[i].text);
	events->orphan_count = 0;
}

struct tracedat_orphan *tracedat_orphan_add(struct tracedat_walk *w, const struct tracedat_block *b, const struct tracedat_event *e)
{
	const uint8_t *text = b->data + e->text, *id = memmem(text, e->text_size, "\nID:", 4);
	const uint8_t *end = id ? memchr(id + 1, '\n', e->text_size - (size_t)(id + 1 - text)) : NULL;
	if (w->events.orphan_count == TRACEDAT_ORPHANS_MAX || !end)
		return NULL;
	struct tracedat_orphan *o = &w->events.orphans[w->events.orphan_count++];
	*o = (struct tracedat_orphan){ .id_at = (size_t)(id + 1 - text),
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

static bool fits(const struct tracedat_orphan *o, const struct tracedat_unknown *u)
{
	return !u->most || (u->least >= o->fixed && u->most - o->fixed <= o->slack);
}

/* Ways to give records of `id` an ID less format: to this one; or, of two with the same ID, to its rival (*swap). */
static unsigned ways(const struct tracedat_events *events, size_t orphan, uint32_t id, bool *swap)
{
	const struct tracedat_orphan *o = &events->orphans[orphan], *rival = o->rival >= 0 ? &events->orphans[o->rival] : NULL;
	const struct tracedat_unknown *u = &events->unknown[id], *own = rival ? &events->unknown[o->claim] : NULL;
	if (!u->records || o->holder)
		return 0;
	bool straight = fits(o, u) && (!rival || fits(rival, own));
	*swap = rival && fits(rival, u) && fits(o, own);
	return (unsigned)straight + *swap;
}

static void orphan_settle(struct tracedat_events *events, struct tracedat_orphan *o, uint32_t id, bool swap)
{
	o->id = swap ? o->claim : id;
	if (swap) {
		events->orphans[o->rival].id = id;
		events->orphans[o->rival].moved = true;
	}
}

void tracedat_orphans_match(struct tracedat_events *events)
{
	struct {
		unsigned ways;
		uint32_t id;
		bool swap;
	} found[TRACEDAT_ORPHANS_MAX] = { 0 };

	for (uint32_t id = 1; events->unknown && id < 65536; id++) {
		unsigned all = 0;
		size_t last = 0;
		bool swap = false;
		for (size_t i = 0; i < events->orphan_count; i++) {
			bool swaps = false;
			unsigned n = ways(events, i, id, &swaps);
			all += n;
			found[i].ways += n;
			last = n ? i : last;
			swap = n ? swaps : swap;
		}
		if (all == 1) {
			found[last].id = id;
			found[last].swap = swap;
		}
	}
	for (size_t i = 0; i < events->orphan_count; i++)
		if (found[i].ways == 1 && found[i].id)
			orphan_settle(events, &events->orphans[i], found[i].id, found[i].swap);
}

const struct tracedat_orphan *tracedat_orphan_of(const struct tracedat_events *events, uint32_t id)
{
	for (size_t i = 0; i < events->orphan_count; i++)
		if (events->orphans[i].id == id)
			return &events->orphans[i];
	return NULL;
}

bool tracedat_orphan_moved(const struct tracedat_events *events, uint64_t hash, uint32_t id)
{
	for (size_t i = 0; i < events->orphan_count; i++)
		if (events->orphans[i].moved && events->orphans[i].hash == hash && events->orphans[i].claim == id)
			return true;
	return false;
}

void tracedat_orphan_text(const struct tracedat_orphan *o, struct bytes *out)
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
