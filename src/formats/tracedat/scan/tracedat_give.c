/* What a record is, for the sink of a scan: its event and its fields by the format of its id. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/sink.h"
#include "formats/tracedat/decode/tracedat_field.h"
#include "formats/tracedat/scan/tracedat_page.h"
#include "formats/tracedat/scan/tracedat_record.h"

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

/* An integer of 1, 2, 4 or 8 bytes. */
static uint64_t value_read(const uint8_t *p, uint32_t size, bool be)
{
	return size == 1 ? *p : size == 2 ? load_u16(p, be) : size == 4 ? load_u32(p, be) : load_u64(p, be);
}

/* The value of a field in a payload of `size` bytes. Characters are a text, other arrays and structures are bytes. */
static void field_give(struct sink_record *r, const char *text, const struct tracedat_field *f, const uint8_t *payload,
		       uint32_t size, bool be)
{
	char shown[TEXT_QUOTE_SIZE];
	uint32_t at = f->offset, length = f->open_array && at <= size ? size - at : f->size;
	bool characters = f->text && (f->array || f->dynamic);

	if (f->dynamic && f->size == 4 && at <= size && size - at >= 4) {
		uint32_t where = load_u32(payload + at, be);
		at = (where & 0xffff) + (f->relative ? at + 4 : 0);
		length = where >> 16;
	}
	/* The last array of a record may be shorter than its format says. */
	if (f->array && at < size && length > size - at)
		length = size - at;
	if (at > size || length > size - at) {
		sink_argument(r, text + f->name, f->name_length, "?");
	} else if (characters) {
		const uint8_t *nul = length ? memchr(payload + at, 0, length) : NULL;
		sink_argument(r, text + f->name, f->name_length, "\"%s\"",
			      text_quote(shown, payload + at, nul ? (size_t)(nul - payload) - at : length));
	} else if (!f->array && !f->dynamic && (length == 1 || length == 2 || length == 4 || length == 8)) {
		uint64_t value = value_read(payload + at, length, be);
		unsigned unused = 64 - 8 * length;
		if (f->pointer)
			sink_argument(r, text + f->name, f->name_length, "0x%" PRIx64, value);
		else if (f->has_signed && f->is_signed)
			sink_argument(r, text + f->name, f->name_length, "%" PRId64, (int64_t)(value << unused) >> unused);
		else
			sink_argument(r, text + f->name, f->name_length, "%" PRIu64, value);
	} else {
		char hex[2 * TEXT_QUOTE_INPUT + 1];
		uint32_t part = length < TEXT_QUOTE_INPUT ? length : TEXT_QUOTE_INPUT;
		text_hex(hex, payload + at, part);
		sink_argument(r, text + f->name, f->name_length, "%s%s", hex, part < length ? "..." : "");
	}
}

/* The fields of an event, by the lines of its format. */
static void fields_give(struct sink_record *r, const struct tracedat_event *e, const uint8_t *payload, uint32_t size, bool be)
{
	const char *text = (const char *)e->block->data + e->text;

	for (size_t at = 0; at < e->text_size;) {
		const char *lf = memchr(text + at, '\n', e->text_size - at);
		size_t end = lf ? (size_t)(lf - text) : e->text_size;
		struct tracedat_field f;
		if (end - at < UINT16_MAX && tracedat_field_line(text, (uint32_t)at, (uint32_t)(end - at), &f) &&
		    f.offset >= TRACEDAT_COMMON_MIN)
			field_give(r, text, &f, payload, size, be);
		at = end + 1;
	}
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
	if (size < TRACEDAT_COMMON_MIN)
		return;
	uint32_t id = load_u16(payload, p->be);
	const struct tracedat_event *e = tracedat_event_of(&w->events, id);
	int n = e ? snprintf(text, sizeof(text), "%s:%s", e->system, e->name) : snprintf(text, sizeof(text), "event %" PRIu32, id);
	sink_name(r, text, (size_t)n);
	if (!sink->arguments)
		return;
	sink_argument(r, "pid", 3, "%" PRId32, (int32_t)load_u32(payload + 4, p->be));
	if (e && !e->placeholder && e->block && e->text + e->text_size <= e->block->size) {
		fields_give(r, e, payload, size, p->be);
		return;
	}
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
