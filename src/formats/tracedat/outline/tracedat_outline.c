/* The parts of a trace.dat file. The walk has found sections, options and the data of each CPU (also where sizes lie); here
 * they are declared front to back, and what points is tied to what it points at.
 *
 * What is compressed (a section as a whole, CPU data chunk by chunk) is looked into when the file is done. */
#include "formats/tracedat/outline/tracedat_outline.h"

#include <stdlib.h>

/* ---- pointers ---- */

void tracedat_sketch_pointer(struct tracedat_sketch *s, uint32_t field, uint64_t to, bool length)
{
	if (field == OUTLINE_NONE ||
	    !tracedat_room(s->w, &s->pointers, &s->pointer_capacity, s->pointer_count, sizeof(*s->pointers), OUTLINE_PARTS_MAX))
		return;
	s->pointers[s->pointer_count++] = (struct tracedat_pointer){ field, to, length };
}

void tracedat_sketch_anchor(struct tracedat_sketch *s, uint64_t at, uint32_t part, int64_t bias)
{
	if (part == OUTLINE_NONE ||
	    !tracedat_room(s->w, &s->anchors, &s->anchor_capacity, s->anchor_count, sizeof(*s->anchors), OUTLINE_PARTS_MAX))
		return;
	s->anchors[s->anchor_count++] = (struct tracedat_anchor){ at, part, bias };
}

/* Anchors are made in the order of their offsets. Of several at one place (CPUs without data before one that has some) the
 * next one is taken for each pointer in turn. */
static void settle(struct tracedat_sketch *s)
{
	uint32_t *used = calloc(s->anchor_count + 1, sizeof(*used));
	if (!used) {
		s->o->status = TM_NO_MEMORY;
		return;
	}
	for (size_t i = 0; i < s->pointer_count; i++) {
		const struct tracedat_pointer *p = &s->pointers[i];
		size_t low = 0, high = s->anchor_count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (s->anchors[middle].at < p->to)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == s->anchor_count || s->anchors[low].at != p->to)
			continue;
		/* used[low]: offsets that were tied to this place; the length of the same entry follows its offset. */
		uint32_t turn = p->length ? used[low] - (used[low] > 0) : used[low]++;
		size_t pick = low + turn < s->anchor_count && s->anchors[low + turn].at == p->to ? low + turn : low;
		outline_measure(s->o, p->field, p->length ? MEASURE_LENGTH : MEASURE_START, s->anchors[pick].part, 1,
				p->length ? s->anchors[pick].bias : 0);
	}
	free(used);
}

uint64_t tracedat_sketch_number(const struct tracedat_sketch *s, uint64_t at, unsigned width)
{
	const uint8_t *p = s->data + at;
	return width == 2 ? load_u16(p, s->be) : width == 4 ? load_u32(p, s->be) : load_u64(p, s->be);
}

/* ---- the data of the CPUs ---- */

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

static int item_compare(const void *a, const void *b)
{
	const struct tracedat_place_item *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->length != y->length && (!x->length || !y->length))
		return x->length < y->length ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static bool gather(struct tracedat_sketch *s)
{
	struct tracedat_walk *w = s->w;
	size_t most = w->data.buffer_count;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		most += w->data.buffers[i].count;
	s->items = calloc(most + 1, sizeof(*s->items));
	if (!s->items)
		return false;
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		const struct tracedat_buffer *b = &w->data.buffers[i];
		if (w->shape.version == 6 && b->record_at)
			s->items[s->item_count++] = (struct tracedat_place_item){ .at = b->record_at, .buffer = b };
		for (size_t k = 0; k < b->count; k++) {
			const struct tracedat_cpu *c = &b->cpus[k];
			struct tracedat_place_item item = {
				.at = c->length ? c->from : c->offset, .length = c->length, .buffer = b, .cpu = c
			};
			if (c->lost || c->found) { /* where the data should be, whatever is there */
				item.at = c->offset;
				item.length = c->offset <= s->size && c->size <= s->size - c->offset ? c->size : 0;
				item.astray = true;
			} else if (b->compressed && c->length && c->end == c->from + c->length + 4) {
				item.length += 4; /* v7-buffer-size-minus-four: such a writer always counts too few */
				item.bias = -4;
			}
			if (item.at <= s->size)
				s->items[s->item_count++] = item;
		}
	}
	qsort(s->items, s->item_count, sizeof(*s->items), item_compare);
	return true;
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

/* ---- options ---- */

static bool is_pointer(unsigned id)
{
	return (id >= TRACEDAT_HEADER_INFO && id <= TRACEDAT_CMDLINES) || id == TRACEDAT_BTF_FILE || id == TRACEDAT_MODULES;
}

static void offset_field(struct tracedat_sketch *s, uint64_t at)
{
	tracedat_sketch_pointer(s, outline_field(s->o, "offset", FIELD_OFFSET, at, 8), tracedat_sketch_number(s, at, 8), false);
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
	offset_field(s, at);
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
	if ((is_pointer(id) || id == TRACEDAT_DONE) && size == 8)
		offset_field(s, at);
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
		bool fixed = id == TRACEDAT_DONE || is_pointer(id) || id == TRACEDAT_BUFFER || id == TRACEDAT_BUFFER_TEXT ||
			     id == TRACEDAT_TRACECLOCK || id == TRACEDAT_CPUCOUNT;
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

/* ---- version 6 ---- */

/* As far as sizes lead; what is behind stays bytes up to the data that the walk found. */
static void version_6(struct tracedat_sketch *s)
{
	uint64_t at = tracedat_sketch_header(s, s->w->prefix.end, s->size);
	if (at != UINT64_MAX)
		at = tracedat_sketch_formats(s, at, s->size, "ftrace formats");
	if (at != UINT64_MAX)
		at = tracedat_sketch_systems(s, at, s->size);
	if (at != UINT64_MAX)
		at = tracedat_sketch_lines(s, at, s->size, 4, "symbol");
	if (at != UINT64_MAX)
		at = tracedat_sketch_lines(s, at, s->size, 4, "printk format");
	if (at != UINT64_MAX)
		at = tracedat_sketch_lines(s, at, s->size, 8, "command line");
	if (at == UINT64_MAX || s->size - at < 4 + TRACEDAT_TAG_SIZE)
		return;
	(void)outline_field(s->o, "cpu count", FIELD_VALUE, at, 4);
	at += 4;
	if (!memcmp(s->data + at, "options  ", TRACEDAT_TAG_SIZE)) {
		(void)outline_field(s->o, "options tag", FIELD_MAGIC, at, TRACEDAT_TAG_SIZE);
		at = tracedat_sketch_options(s, at + TRACEDAT_TAG_SIZE, s->size);
	}
	if (s->w->data.latency && s->w->data.latency_at >= at) {
		for (at = s->w->data.latency_at; at < s->size && s->o->status == TM_OK;) {
			const uint8_t *lf = memchr(s->data + at, '\n', (size_t)(s->size - at));
			uint64_t next = lf ? (uint64_t)(lf - s->data) + 1 : s->size;
			(void)outline_open(s->o, PART_RECORD, "line", at, 0);
			outline_words(s->o, at, next);
			outline_close(s->o, next);
			at = next;
		}
		return;
	}
	(void)tracedat_sketch_items(s, at, s->size);
}

/* ---- version 7 ---- */

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

static void version_7(struct tracedat_sketch *s)
{
	struct tracedat_walk *w = s->w;
	if (w->prefix.options_at && w->prefix.options_at + 8 <= s->size) {
		uint64_t name = w->prefix.end;
		if (name < w->prefix.options_at)
			(void)outline_field(s->o, "compressor", FIELD_TEXT, name,
					    strnlen((const char *)s->data + name, w->prefix.options_at - name));
		offset_field(s, w->prefix.options_at);
	}
	for (size_t i = 0; i < w->dir.section_count && s->o->status == TM_OK; i++) {
		const struct tracedat_section *section = &w->dir.sections[i];
		uint64_t at = section->offset, body = at + TRACEDAT_SECTION_SIZE, end = body + section->size;
		if (end > s->size)
			end = s->size;
		if (body > end)
			continue;
		uint32_t part = outline_open(s->o, PART_GROUP, tracedat_id_name(section->id), at,
					     section->id == TRACEDAT_DONE ? PART_FIXED : PART_LOOSE);
		tracedat_sketch_anchor(s, at, part, 0);
		(void)outline_field(s->o, "section id", FIELD_TAG, at, 2);
		(void)outline_field(s->o, "section flags", FIELD_FLAGS, at + 2, 2);
		(void)outline_field(s->o, "description", FIELD_REFERENCE, at + 4, 4);
		uint32_t size = outline_field(s->o, "section size", FIELD_SIZE, at + 8, 8);
		uint32_t group = outline_open(s->o, PART_GROUP, "section body", body, PART_FIXED);
		if (!(section->flags & TRACEDAT_COMPRESSED) || section->id == TRACEDAT_BUFFER)
			tracedat_sketch_section(s, section->id, body, end);
		else if (end - body >= 8)
			tracedat_sketch_coded(s, body, end - body - 8, (struct tracedat_coded){ .id = section->id });
		outline_close(s->o, end);
		outline_measure(s->o, size, MEASURE_LENGTH, group, 1, 0);
		outline_close(s->o, end);
	}
}

/* ---- the file ---- */

void tracedat_outline_file(struct tracedat_walk *w)
{
	struct tracedat_sketch s = { .w = w, .o = w->s->outline, .be = w->shape.big_endian };
	struct outline *o = s.o;

	if (o->file_count != 1 || w->status != TM_OK || !w->prefix.end || w->prefix.end > o->files[0].size)
		return;
	s.data = o->files[0].data;
	s.size = o->files[0].size;
	o->big_endian = s.be;
	(void)outline_open_file(o, 0, "trace", 0);
	(void)outline_field(o, "magic", FIELD_MAGIC, 0, 10);
	outline_fix(o, outline_field(o, "version", FIELD_TEXT, 10, w->prefix.version_length - 1));
	uint64_t at = 10 + w->prefix.version_length;
	(void)outline_field(o, "byte order", FIELD_TAG, at, 1);
	(void)outline_field(o, "long size", FIELD_TAG, at + 1, 1);
	(void)outline_field(o, "page size", FIELD_VALUE, at + 2, 4);
	if (!gather(&s))
		o->status = TM_NO_MEMORY;
	else if (w->shape.version == 6)
		version_6(&s);
	else
		version_7(&s);
	outline_close_file(o);
	tracedat_sketch_streams(&s);
	if (o->status == TM_OK)
		settle(&s);
	free(s.coded);
	free(s.items);
	free(s.pointers);
	free(s.anchors);
}

enum tracemend_status tracedat_outline(struct outline *o, const char *profile)
{
	return outline_by_scan(o, &tracedat_format, profile);
}
