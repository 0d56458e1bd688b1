/* Options, CPU data, and the bodies of sections. */
#include "formats/tracedat/outline/tracedat_outline.h"

static void chunks(struct tracedat_sketch *sketch, uint32_t page_size, uint64_t at, uint64_t end)
{
	if (end - at < 4)
		return;
	uint32_t count = outline_field(sketch->o, "chunk count", FIELD_COUNT, at, 4);
	uint32_t group = outline_open(sketch->o, PART_GROUP, "chunks", at + 4, PART_FIXED);
	outline_measure(sketch->o, count, MEASURE_COUNT, group, 1, 0);
	for (at += 4; end - at >= 8 && sketch->o->status == TM_OK;) {
		uint64_t size = tracedat_sketch_number(sketch, at, 4);
		if (size > end - at - 8)
			break;
		(void)outline_open(sketch->o, PART_RECORD, "chunk", at, 0);
		tracedat_sketch_coded(sketch, at, size, (struct tracedat_coded){ .page_size = page_size });
		outline_close(sketch->o, at + 8 + size);
		at += 8 + size;
	}
	outline_close(sketch->o, end);
}

static void cpu_data(struct tracedat_sketch *sketch, const struct tracedat_sketch_item *item)
{
	uint32_t page = item->buffer->page_size ? item->buffer->page_size : sketch->w->shape.page_size;
	uint64_t end = item->at + item->length;
	uint32_t part = outline_open(sketch->o, PART_GROUP, "cpu data", item->at, PART_LOOSE);

	tracedat_sketch_anchor(sketch, item->cpu->offset, part, item->bias);
	outline_align(sketch->o, part, page);
	if (item->elsewhere) {
		/* bytes */
	} else if (item->buffer->compressed) {
		chunks(sketch, page, item->at, end);
	} else {
		for (uint64_t at = item->at; end - at >= page && sketch->o->status == TM_OK; at += page)
			tracedat_sketch_page(sketch, at, page);
	}
	outline_close(sketch->o, end);
}

/* The CPU table of v6 from `at` on, and the clock behind it. */
static uint64_t table(struct tracedat_sketch *sketch, const struct tracedat_buffer *b, uint64_t at)
{
	for (size_t i = 0; i < b->count && sketch->size - at >= 16; i++, at += 16) {
		uint64_t to = tracedat_sketch_number(sketch, at, 8);
		tracedat_sketch_pointer(sketch, outline_field(sketch->o, "cpu offset", FIELD_OFFSET, at, 8), to, false);
		tracedat_sketch_pointer(sketch, outline_field(sketch->o, "cpu size", FIELD_SIZE, at + 8, 8), to, true);
	}
	if (b->clock_size && b->clock_at == at && b->clock_size <= sketch->size - at) {
		uint32_t size = outline_field(sketch->o, "clock size", FIELD_SIZE, at, 8);
		uint32_t text = outline_field(sketch->o, "clock", FIELD_TEXT, at + 8, b->clock_size - 8);
		outline_measure(sketch->o, size, MEASURE_LENGTH, text, 1, 0);
		at += b->clock_size;
	}
	return at;
}

static uint64_t flyrecord(struct tracedat_sketch *sketch, const struct tracedat_buffer *b)
{
	uint32_t part = outline_open(sketch->o, PART_GROUP, "cpu table", b->record_at, PART_FIXED);
	tracedat_sketch_anchor(sketch, b->record_at, part, 0);
	(void)outline_field(sketch->o, "data tag", FIELD_MAGIC, b->record_at, TRACEDAT_TAG_SIZE);
	uint64_t end = table(sketch, b, b->record_at + TRACEDAT_TAG_SIZE);
	outline_close(sketch->o, end);
	return end;
}

uint64_t tracedat_sketch_items(struct tracedat_sketch *sketch, uint64_t at, uint64_t end)
{
	while (sketch->next_item < sketch->item_count && sketch->items[sketch->next_item].at <= end && sketch->o->status == TM_OK) {
		const struct tracedat_sketch_item *item = &sketch->items[sketch->next_item];
		if (item->at == end && (item->length || !item->cpu) && end != sketch->size)
			break;
		sketch->next_item++;
		if (item->at < at || item->length > sketch->size - item->at)
			continue;
		uint32_t page = item->buffer->page_size ? item->buffer->page_size : sketch->w->shape.page_size;
		if (item->cpu && item->at > at)
			(void)outline_padding(sketch->o, at, item->at, page, OUTLINE_NONE);
		if (item->cpu)
			cpu_data(sketch, item);
		at = item->cpu ? item->at + item->length : flyrecord(sketch, item->buffer);
	}
	return at;
}

/* Text up to and with a NUL; the offset behind it. */
static uint64_t terminated(struct tracedat_sketch *sketch, uint64_t at, uint64_t end, const char *name)
{
	const uint8_t *nul = memchr(sketch->data + at, 0, (size_t)(end - at));
	uint64_t length = nul ? (uint64_t)(nul - sketch->data) - at : end - at;
	(void)outline_field(sketch->o, name, FIELD_TEXT, at, length);
	return at + length + (nul != NULL);
}

static void buffer_option(struct tracedat_sketch *sketch, unsigned id, uint64_t at, uint64_t end)
{
	tracedat_sketch_offset(sketch, at);
	at = terminated(sketch, at + 8, end, "buffer name");
	if (sketch->w->shape.version == 6 || at >= end)
		return;
	at = terminated(sketch, at, end, "clock");
	if (id != TRACEDAT_BUFFER || at > end || end - at < 8)
		return;
	(void)outline_field(sketch->o, "page size", FIELD_VALUE, at, 4);
	uint32_t count = outline_field(sketch->o, "cpu count", FIELD_COUNT, at + 4, 4);
	uint32_t group = outline_open(sketch->o, PART_GROUP, "buffer cpus", at + 8, PART_FIXED);
	outline_measure(sketch->o, count, MEASURE_COUNT, group, 1, 0);
	for (at += 8; end - at >= 20 && sketch->o->status == TM_OK; at += 20) {
		uint64_t to = tracedat_sketch_number(sketch, at + 4, 8);
		(void)outline_open(sketch->o, PART_RECORD, "buffer cpu", at, PART_FIXED);
		(void)outline_field(sketch->o, "cpu", FIELD_ID, at, 4);
		tracedat_sketch_pointer(sketch, outline_field(sketch->o, "cpu offset", FIELD_OFFSET, at + 4, 8), to, false);
		tracedat_sketch_pointer(sketch, outline_field(sketch->o, "cpu size", FIELD_SIZE, at + 12, 8), to, true);
		outline_close(sketch->o, at + 20);
	}
	outline_close(sketch->o, end);
}

static void option_payload(struct tracedat_sketch *sketch, unsigned id, uint64_t at, uint64_t end)
{
	uint64_t size = end - at;
	if ((tracedat_id_is_pointer(id) || id == TRACEDAT_DONE) && size == 8)
		tracedat_sketch_offset(sketch, at);
	else if ((id == TRACEDAT_BUFFER || id == TRACEDAT_BUFFER_TEXT) && size > 8)
		buffer_option(sketch, id, at, end);
	else if (id == TRACEDAT_CPUCOUNT && size == 4)
		(void)outline_field(sketch->o, "cpu count", FIELD_VALUE, at, 4);
	else if (id == TRACEDAT_TRACEID || id == TRACEDAT_TIME_SHIFT || id == TRACEDAT_TSC2NSEC)
		for (; end - at >= 4; at += 4)
			(void)outline_field(sketch->o, "value", FIELD_VALUE, at, 4);
	else
		outline_words(sketch->o, at, end);
}

uint64_t tracedat_sketch_options(struct tracedat_sketch *sketch, uint64_t at, uint64_t end)
{
	(void)outline_open(sketch->o, PART_GROUP, "option list", at, PART_FIXED);
	while (end - at >= 2 && sketch->o->status == TM_OK) {
		unsigned id = (unsigned)tracedat_sketch_number(sketch, at, 2);
		if (sketch->w->shape.version == 6 && id == TRACEDAT_DONE) {
			(void)outline_leaf(sketch->o, PART_BYTES, "done", at, 2, PART_FIXED);
			at += 2;
			break;
		}
		uint64_t size = end - at >= 6 ? tracedat_sketch_number(sketch, at + 2, 4) : UINT64_MAX;
		if (size > end - at - 6)
			break;
		/* What others lean on must stay: sections and buffers would be there without their name. */
		bool fixed = id == TRACEDAT_DONE || tracedat_id_is_pointer(id) || id == TRACEDAT_BUFFER ||
			     id == TRACEDAT_BUFFER_TEXT || id == TRACEDAT_TRACECLOCK || id == TRACEDAT_CPUCOUNT;
		(void)outline_open(sketch->o, PART_RECORD, "option", at, fixed ? PART_FIXED : 0);
		(void)outline_field(sketch->o, "option id", FIELD_TAG, at, 2);
		uint32_t field = outline_field(sketch->o, "option size", FIELD_SIZE, at + 2, 4);
		uint32_t group = outline_open(sketch->o, PART_GROUP, tracedat_id_name(id), at + 6, PART_FIXED);
		option_payload(sketch, id, at + 6, at + 6 + size);
		outline_close(sketch->o, at + 6 + size);
		outline_measure(sketch->o, field, MEASURE_LENGTH, group, 1, 0);
		outline_close(sketch->o, at + 6 + size);
		at += 6 + size;
		if (id == TRACEDAT_DONE)
			break;
	}
	outline_close(sketch->o, at);
	return at;
}

void tracedat_sketch_section(struct tracedat_sketch *sketch, unsigned id, uint64_t at, uint64_t end)
{
	uint64_t done = at;

	switch (id) {
	case TRACEDAT_DONE:
		done = tracedat_sketch_options(sketch, at, end);
		break;
	case TRACEDAT_HEADER_INFO:
		done = tracedat_sketch_header(sketch, at, end);
		break;
	case TRACEDAT_FTRACE_EVENTS:
		done = tracedat_sketch_formats(sketch, at, end, "ftrace formats");
		break;
	case TRACEDAT_EVENT_FORMATS:
		done = tracedat_sketch_systems(sketch, at, end);
		break;
	case TRACEDAT_KALLSYMS:
		done = tracedat_sketch_lines(sketch, at, end, 4, "symbol");
		break;
	case TRACEDAT_PRINTK:
		done = tracedat_sketch_lines(sketch, at, end, 4, "printk format");
		break;
	case TRACEDAT_CMDLINES:
		done = tracedat_sketch_lines(sketch, at, end, 8, "command line");
		break;
	case TRACEDAT_BUFFER:
		done = tracedat_sketch_items(sketch, at, end);
		break;
	default:
		/* CPU data may lie in a section that is not its own. */
		if (sketch->next_item < sketch->item_count && sketch->items[sketch->next_item].at < end)
			done = tracedat_sketch_items(sketch, at, end);
		else
			(void)outline_field(sketch->o, "section text", FIELD_TEXT, at, end - at);
		break;
	}
	(void)done;
}
