/* Options, CPU data, and the bodies of sections. */
#include "formats/tracedat/outline/tracedat_outline.h"

static void chunks(struct tracedat_sketch *s, uint32_t page_size, uint64_t at, uint64_t end)
{
	if (end - at < 4)
		return;
	uint32_t count = outline_field(s->o, "chunk count", FIELD_COUNT, at, 4);
	uint32_t group = outline_open(s->o, PART_GROUP, "chunks", at + 4, PART_FIXED);
	outline_measure(s->o, count, MEASURE_COUNT, group, 1, 0);
	for (at += 4; end - at >= 8 && s->o->status == TM_OK;) {
		uint64_t size = tracedat_sketch_number(s, at, 4);
		if (size > end - at - 8)
			break;
		(void)outline_open(s->o, PART_RECORD, "chunk", at, 0);
		tracedat_sketch_coded(s, at, size, (struct tracedat_coded){ .page_size = page_size });
		outline_close(s->o, at + 8 + size);
		at += 8 + size;
	}
	outline_close(s->o, end);
}

static void cpu_data(struct tracedat_sketch *s, const struct tracedat_place_item *item)
{
	uint32_t page = item->buffer->page_size ? item->buffer->page_size : s->w->shape.page_size;
	uint64_t end = item->at + item->length;
	uint32_t part = outline_open(s->o, PART_GROUP, "cpu data", item->at, PART_LOOSE);

	tracedat_sketch_anchor(s, item->cpu->offset, part, item->bias);
	outline_align(s->o, part, page);
	if (item->astray) {
		/* bytes */
	} else if (item->buffer->compressed) {
		chunks(s, page, item->at, end);
	} else {
		for (uint64_t at = item->at; end - at >= page && s->o->status == TM_OK; at += page)
			tracedat_sketch_page(s, at, page);
	}
	outline_close(s->o, end);
}

/* The CPU table of v6 from `at` on, and the clock behind it. */
static uint64_t table(struct tracedat_sketch *s, const struct tracedat_buffer *b, uint64_t at)
{
	for (size_t i = 0; i < b->count && s->size - at >= 16; i++, at += 16) {
		uint64_t to = tracedat_sketch_number(s, at, 8);
		tracedat_sketch_pointer(s, outline_field(s->o, "cpu offset", FIELD_OFFSET, at, 8), to, false);
		tracedat_sketch_pointer(s, outline_field(s->o, "cpu size", FIELD_SIZE, at + 8, 8), to, true);
	}
	if (b->clock_size && b->clock_at == at && b->clock_size <= s->size - at) {
		uint32_t size = outline_field(s->o, "clock size", FIELD_SIZE, at, 8);
		uint32_t text = outline_field(s->o, "clock", FIELD_TEXT, at + 8, b->clock_size - 8);
		outline_measure(s->o, size, MEASURE_LENGTH, text, 1, 0);
		at += b->clock_size;
	}
	return at;
}

static uint64_t flyrecord(struct tracedat_sketch *s, const struct tracedat_buffer *b)
{
	uint32_t part = outline_open(s->o, PART_GROUP, "cpu table", b->record_at, PART_FIXED);
	tracedat_sketch_anchor(s, b->record_at, part, 0);
	(void)outline_field(s->o, "data tag", FIELD_MAGIC, b->record_at, TRACEDAT_TAG_SIZE);
	uint64_t end = table(s, b, b->record_at + TRACEDAT_TAG_SIZE);
	outline_close(s->o, end);
	return end;
}

uint64_t tracedat_sketch_items(struct tracedat_sketch *s, uint64_t at, uint64_t end)
{
	while (s->next_item < s->item_count && s->items[s->next_item].at <= end && s->o->status == TM_OK) {
		const struct tracedat_place_item *item = &s->items[s->next_item];
		if (item->at == end && (item->length || !item->cpu) && end != s->size)
			break;
		s->next_item++;
		if (item->at < at || item->length > s->size - item->at)
			continue;
		uint32_t page = item->buffer->page_size ? item->buffer->page_size : s->w->shape.page_size;
		if (item->cpu && item->at > at)
			(void)outline_padding(s->o, at, item->at, page, OUTLINE_NONE);
		if (item->cpu)
			cpu_data(s, item);
		at = item->cpu ? item->at + item->length : flyrecord(s, item->buffer);
	}
	return at;
}

/* Text up to and with a NUL; the offset behind it. */
static uint64_t terminated(struct tracedat_sketch *s, uint64_t at, uint64_t end, const char *name)
{
	const uint8_t *nul = memchr(s->data + at, 0, (size_t)(end - at));
	uint64_t length = nul ? (uint64_t)(nul - s->data) - at : end - at;
	(void)outline_field(s->o, name, FIELD_TEXT, at, length);
	return at + length + (nul != NULL);
}

static void buffer_option(struct tracedat_sketch *s, unsigned id, uint64_t at, uint64_t end)
{
	tracedat_sketch_offset(s, at);
	at = terminated(s, at + 8, end, "buffer name");
	if (s->w->shape.version == 6 || at >= end)
		return;
	at = terminated(s, at, end, "clock");
	if (id != TRACEDAT_BUFFER || at > end || end - at < 8)
		return;
	(void)outline_field(s->o, "page size", FIELD_VALUE, at, 4);
	uint32_t count = outline_field(s->o, "cpu count", FIELD_COUNT, at + 4, 4);
	uint32_t group = outline_open(s->o, PART_GROUP, "buffer cpus", at + 8, PART_FIXED);
	outline_measure(s->o, count, MEASURE_COUNT, group, 1, 0);
	for (at += 8; end - at >= 20 && s->o->status == TM_OK; at += 20) {
		uint64_t to = tracedat_sketch_number(s, at + 4, 8);
		(void)outline_open(s->o, PART_RECORD, "buffer cpu", at, PART_FIXED);
		(void)outline_field(s->o, "cpu", FIELD_ID, at, 4);
		tracedat_sketch_pointer(s, outline_field(s->o, "cpu offset", FIELD_OFFSET, at + 4, 8), to, false);
		tracedat_sketch_pointer(s, outline_field(s->o, "cpu size", FIELD_SIZE, at + 12, 8), to, true);
		outline_close(s->o, at + 20);
	}
	outline_close(s->o, end);
}

static void option_payload(struct tracedat_sketch *s, unsigned id, uint64_t at, uint64_t end)
{
	uint64_t size = end - at;
	if ((tracedat_id_is_pointer(id) || id == TRACEDAT_DONE) && size == 8)
		tracedat_sketch_offset(s, at);
	else if ((id == TRACEDAT_BUFFER || id == TRACEDAT_BUFFER_TEXT) && size > 8)
		buffer_option(s, id, at, end);
	else if (id == TRACEDAT_CPUCOUNT && size == 4)
		(void)outline_field(s->o, "cpu count", FIELD_VALUE, at, 4);
	else if (id == TRACEDAT_TRACEID || id == TRACEDAT_TIME_SHIFT || id == TRACEDAT_TSC2NSEC)
		for (; end - at >= 4; at += 4)
			(void)outline_field(s->o, "value", FIELD_VALUE, at, 4);
	else
		outline_words(s->o, at, end);
}

uint64_t tracedat_sketch_options(struct tracedat_sketch *s, uint64_t at, uint64_t end)
{
	(void)outline_open(s->o, PART_GROUP, "option list", at, PART_FIXED);
	while (end - at >= 2 && s->o->status == TM_OK) {
		unsigned id = (unsigned)tracedat_sketch_number(s, at, 2);
		if (s->w->shape.version == 6 && id == TRACEDAT_DONE) {
			(void)outline_leaf(s->o, PART_BYTES, "done", at, 2, PART_FIXED);
			at += 2;
			break;
		}
		uint64_t size = end - at >= 6 ? tracedat_sketch_number(s, at + 2, 4) : UINT64_MAX;
		if (size > end - at - 6)
			break;
		/* What others lean on must stay: sections and buffers would be there without their name. */
		bool fixed = id == TRACEDAT_DONE || tracedat_id_is_pointer(id) || id == TRACEDAT_BUFFER ||
			     id == TRACEDAT_BUFFER_TEXT || id == TRACEDAT_TRACECLOCK || id == TRACEDAT_CPUCOUNT;
		(void)outline_open(s->o, PART_RECORD, "option", at, fixed ? PART_FIXED : 0);
		(void)outline_field(s->o, "option id", FIELD_TAG, at, 2);
		uint32_t field = outline_field(s->o, "option size", FIELD_SIZE, at + 2, 4);
		uint32_t group = outline_open(s->o, PART_GROUP, tracedat_id_name(id), at + 6, PART_FIXED);
		option_payload(s, id, at + 6, at + 6 + size);
		outline_close(s->o, at + 6 + size);
		outline_measure(s->o, field, MEASURE_LENGTH, group, 1, 0);
		outline_close(s->o, at + 6 + size);
		at += 6 + size;
		if (id == TRACEDAT_DONE)
			break;
	}
	outline_close(s->o, at);
	return at;
}

void tracedat_sketch_section(struct tracedat_sketch *s, unsigned id, uint64_t at, uint64_t end)
{
	uint64_t done = at;

	switch (id) {
	case TRACEDAT_DONE:
		done = tracedat_sketch_options(s, at, end);
		break;
	case TRACEDAT_HEADER_INFO:
		done = tracedat_sketch_header(s, at, end);
		break;
	case TRACEDAT_FTRACE_EVENTS:
		done = tracedat_sketch_formats(s, at, end, "ftrace formats");
		break;
	case TRACEDAT_EVENT_FORMATS:
		done = tracedat_sketch_systems(s, at, end);
		break;
	case TRACEDAT_KALLSYMS:
		done = tracedat_sketch_lines(s, at, end, 4, "symbol");
		break;
	case TRACEDAT_PRINTK:
		done = tracedat_sketch_lines(s, at, end, 4, "printk format");
		break;
	case TRACEDAT_CMDLINES:
		done = tracedat_sketch_lines(s, at, end, 8, "command line");
		break;
	case TRACEDAT_BUFFER:
		done = tracedat_sketch_items(s, at, end);
		break;
	default:
		/* CPU data may lie in a section that is not its own. */
		if (s->next_item < s->item_count && s->items[s->next_item].at < end)
			done = tracedat_sketch_items(s, at, end);
		else
			(void)outline_field(s->o, "section text", FIELD_TEXT, at, end - at);
		break;
	}
	(void)done;
}
