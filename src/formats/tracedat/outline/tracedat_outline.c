/* The parts of a trace.dat file. The walk has found sections, options and the data of each CPU (also where sizes lie); here
 * they are declared front to back, and what points is tied to what it points at.
 *
 * What is compressed (a section as a whole, CPU data chunk by chunk) is looked into when the file is done. */
#include "formats/tracedat/outline/tracedat_outline.h"

#include <stdlib.h>

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

static void version_7(struct tracedat_sketch *s)
{
	struct tracedat_walk *w = s->w;
	if (w->prefix.options_at && w->prefix.options_at + 8 <= s->size) {
		uint64_t name = w->prefix.end;
		if (name < w->prefix.options_at)
			(void)outline_field(s->o, "compressor", FIELD_TEXT, name,
					    strnlen((const char *)s->data + name, w->prefix.options_at - name));
		tracedat_sketch_offset(s, w->prefix.options_at);
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
