/* What a record is, for the sink of a scan: its event by the format of its id, its fields as bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/sink.h"
#include "formats/tracedat/scan/tracedat_page.h"

void tracedat_record_note(struct tracedat_page *p, uint32_t at, uint32_t total, uint32_t skip, bool timed)
{
	struct tracedat_pages *pages = &p->w->pages;

	if (array_room(&pages->given, &pages->given_capacity, pages->given_count, sizeof(*pages->given), p->capacity / 4 + 1) !=
	    TM_OK) {
		tracedat_no_memory(p->w);
		return;
	}
	pages->given[pages->given_count++] =
		(struct tracedat_given){ .at = at, .total = total, .skip = skip, .time = p->time, .timed = timed };
}

static void record_give(struct tracedat_page *p, const struct tracedat_given *g)
{
	struct tracedat_walk *w = p->w;
	struct sink *sink = w->s->sink;
	const uint8_t *payload = p->data + g->at + g->skip;
	uint32_t size = g->total > g->skip ? g->total - g->skip : 0, limit = p->capacity - g->at;
	bool chunk = p->where->in_chunk;
	char text[2 * TEXT_QUOTE_INPUT + 1];

	if (g->skip > limit || size > limit - g->skip)
		size = 0;
	struct sink_record *r = sink_begin(sink, w->source, p->where->offset + (chunk ? 0 : p->head + g->at),
					   chunk ? p->where->length : g->total, "event");
	if (g->timed)
		sink_time(r, g->time, "ticks");
	sink_track(r, "%s%scpu %" PRIu32, p->stream->buffer->name, *p->stream->buffer->name ? ", " : "", p->stream->cpu->cpu);
	/* The common fields. */
	if (size < 8)
		return;
	uint32_t id = load_u16(payload, p->be);
	const struct tracedat_event *e = tracedat_event_of(&w->events, id);
	int n = e ? snprintf(text, sizeof(text), "%s:%s", e->system, e->name) : snprintf(text, sizeof(text), "event %" PRIu32, id);
	sink_name(r, text, (size_t)n);
	if (!sink->arguments)
		return;
	sink_argument(r, "pid", 3, "%" PRId32, (int32_t)load_u32(payload + 4, p->be));
	uint32_t shown = size < TEXT_QUOTE_INPUT ? size : TEXT_QUOTE_INPUT;
	text_hex(text, payload, shown);
	sink_argument(r, "payload", 7, "%s%s", text, shown < size ? "..." : "");
}

void tracedat_page_give(struct tracedat_page *p)
{
	struct tracedat_pages *pages = &p->w->pages;

	for (size_t i = 0; i < pages->given_count && !p->emitting; i++)
		record_give(p, &pages->given[i]);
	pages->given_count = 0;
}

void tracedat_line_give(struct tracedat_walk *w, uint64_t offset, const uint8_t *line, size_t length)
{
	struct sink_record *r = sink_begin(w->s->sink, w->source, offset, length, "line");
	sink_name(r, line, length);
}

void tracedat_blind_give(struct tracedat_walk *w, uint32_t cpu, uint64_t offset, uint32_t records)
{
	for (uint32_t i = 0; i < records; i++) {
		struct sink_record *r = sink_begin(w->s->sink, w->source, offset, w->shape.page_size, "event without metadata");
		sink_track(r, "cpu %" PRIu32, cpu);
	}
}
