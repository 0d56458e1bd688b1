/* The parts of a trace.dat file. The walk has found sections, options and the data of each CPU (also where sizes are wrong);
 * here they are declared front to back, and each offset is tied to its target.
 *
 * Compressed parts (a section as a whole, CPU data chunk by chunk) are outlined after the file. */
#include "formats/tracedat/outline/tracedat_outline.h"

#include <stdlib.h>

#include "core/array.h"

/* Ties pointers to anchors, which are in the order of their offsets. Of several anchors at one offset (CPUs without data
 * before one with data) each pointer gets the next one. */
static void pointers_resolve(struct tracedat_sketch *sketch)
{
	uint32_t *used = calloc(sketch->anchor_count + 1, sizeof(*used));
	if (!used) {
		sketch->o->status = TM_NO_MEMORY;
		return;
	}
	for (size_t i = 0; i < sketch->pointer_count; i++) {
		const struct tracedat_sketch_pointer *p = &sketch->pointers[i];
		size_t low;
		array_search(low, sketch->anchor_count, sketch->anchors[low].at < p->to);
		if (low == sketch->anchor_count || sketch->anchors[low].at != p->to)
			continue;
		/* used[low]: offsets that were tied to this place; the length of the same entry follows its offset. */
		uint32_t turn = p->length ? used[low] - (used[low] > 0) : used[low]++;
		size_t pick = low + turn < sketch->anchor_count && sketch->anchors[low + turn].at == p->to ? low + turn : low;
		outline_measure(sketch->o, p->field, p->length ? MEASURE_LENGTH : MEASURE_START, sketch->anchors[pick].part, 1,
				p->length ? sketch->anchors[pick].bias : 0);
	}
	free(used);
}

static int item_compare(const void *a, const void *b)
{
	const struct tracedat_sketch_item *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->length != y->length && (!x->length || !y->length))
		return x->length < y->length ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static bool gather(struct tracedat_sketch *sketch)
{
	struct tracedat_walk *w = sketch->w;
	size_t most = w->data.buffer_count;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		most += w->data.buffers[i].count;
	sketch->items = calloc(most + 1, sizeof(*sketch->items));
	if (!sketch->items)
		return false;
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		const struct tracedat_buffer *b = &w->data.buffers[i];
		if (w->shape.version == 6 && b->record_at)
			sketch->items[sketch->item_count++] = (struct tracedat_sketch_item){ .at = b->record_at, .buffer = b };
		for (size_t k = 0; k < b->count; k++) {
			const struct tracedat_cpu *c = &b->cpus[k];
			struct tracedat_sketch_item item = {
				.at = c->length ? c->from : c->offset, .length = c->length, .buffer = b, .cpu = c
			};
			if (c->lost || c->found) { /* where the data should be, whatever is there */
				item.at = c->offset;
				item.length = c->offset <= sketch->size && c->size <= sketch->size - c->offset ? c->size : 0;
				item.elsewhere = true;
			} else if (b->compressed && c->length && c->end == c->from + c->length + 4) {
				item.length += 4; /* v7-buffer-size-minus-four: such a writer always counts too few */
				item.bias = -4;
			}
			if (item.at <= sketch->size)
				sketch->items[sketch->item_count++] = item;
		}
	}
	qsort(sketch->items, sketch->item_count, sizeof(*sketch->items), item_compare);
	return true;
}

/* Blocks as far as their sizes are valid; the rest stays bytes, up to the data that the walk found. */
static void version_6(struct tracedat_sketch *sketch)
{
	uint64_t at = tracedat_sketch_header(sketch, sketch->w->prefix.end, sketch->size);
	if (at != UINT64_MAX)
		at = tracedat_sketch_formats(sketch, at, sketch->size, "ftrace formats");
	if (at != UINT64_MAX)
		at = tracedat_sketch_systems(sketch, at, sketch->size);
	if (at != UINT64_MAX)
		at = tracedat_sketch_lines(sketch, at, sketch->size, 4, "symbol");
	if (at != UINT64_MAX)
		at = tracedat_sketch_lines(sketch, at, sketch->size, 4, "printk format");
	if (at != UINT64_MAX)
		at = tracedat_sketch_lines(sketch, at, sketch->size, 8, "command line");
	if (at == UINT64_MAX || sketch->size - at < 4 + TRACEDAT_TAG_SIZE)
		return;
	(void)outline_field(sketch->o, "cpu count", FIELD_VALUE, at, 4);
	at += 4;
	if (!memcmp(sketch->data + at, "options  ", TRACEDAT_TAG_SIZE)) {
		(void)outline_field(sketch->o, "options tag", FIELD_MAGIC, at, TRACEDAT_TAG_SIZE);
		at = tracedat_sketch_options(sketch, at + TRACEDAT_TAG_SIZE, sketch->size);
	}
	if (sketch->w->data.latency && sketch->w->data.latency_at >= at) {
		for (at = sketch->w->data.latency_at; at < sketch->size && sketch->o->status == TM_OK;) {
			const uint8_t *lf = memchr(sketch->data + at, '\n', (size_t)(sketch->size - at));
			uint64_t next = lf ? (uint64_t)(lf - sketch->data) + 1 : sketch->size;
			(void)outline_open(sketch->o, PART_RECORD, "line", at, 0);
			outline_words(sketch->o, at, next);
			outline_close(sketch->o, next);
			at = next;
		}
		return;
	}
	(void)tracedat_sketch_items(sketch, at, sketch->size);
}

static void version_7(struct tracedat_sketch *sketch)
{
	struct tracedat_walk *w = sketch->w;
	if (w->prefix.options_at && w->prefix.options_at + 8 <= sketch->size) {
		uint64_t name = w->prefix.end;
		if (name < w->prefix.options_at)
			(void)outline_field(sketch->o, "compressor", FIELD_TEXT, name,
					    strnlen((const char *)sketch->data + name, (size_t)(w->prefix.options_at - name)));
		tracedat_sketch_offset(sketch, w->prefix.options_at);
	}
	for (size_t i = 0; i < w->dir.section_count && sketch->o->status == TM_OK; i++) {
		const struct tracedat_section *section = &w->dir.sections[i];
		uint64_t at = section->offset, body = at + TRACEDAT_SECTION_SIZE, end = body + section->size;
		if (end > sketch->size)
			end = sketch->size;
		if (body > end)
			continue;
		uint32_t part = outline_open(sketch->o, PART_GROUP, tracedat_id_name(section->id), at,
					     section->id == TRACEDAT_DONE ? PART_FIXED : PART_LOOSE);
		tracedat_sketch_anchor(sketch, at, part, 0);
		(void)outline_field(sketch->o, "section id", FIELD_TAG, at, 2);
		(void)outline_field(sketch->o, "section flags", FIELD_FLAGS, at + 2, 2);
		(void)outline_field(sketch->o, "description", FIELD_REFERENCE, at + 4, 4);
		uint32_t size = outline_field(sketch->o, "section size", FIELD_SIZE, at + 8, 8);
		uint32_t group = outline_open(sketch->o, PART_GROUP, "section body", body, PART_FIXED);
		if (!(section->flags & TRACEDAT_COMPRESSED) || section->id == TRACEDAT_BUFFER)
			tracedat_sketch_section(sketch, section->id, body, end);
		else if (end - body >= 8)
			tracedat_sketch_coded(sketch, body, end - body - 8, (struct tracedat_coded){ .id = section->id });
		outline_close(sketch->o, end);
		outline_measure(sketch->o, size, MEASURE_LENGTH, group, 1, 0);
		outline_close(sketch->o, end);
	}
}

void tracedat_outline_file(struct tracedat_walk *w)
{
	struct tracedat_sketch sketch = { .w = w, .o = w->s->outline, .be = w->shape.big_endian };
	struct outline *o = sketch.o;

	if (o->file_count != 1 || w->status != TM_OK || !w->prefix.end || w->prefix.end > o->files[0].size)
		return;
	sketch.data = o->files[0].data;
	sketch.size = o->files[0].size;
	o->big_endian = sketch.be;
	(void)outline_open_file(o, 0, "trace", 0);
	(void)outline_field(o, "magic", FIELD_MAGIC, 0, 10);
	outline_fix(o, outline_field(o, "version", FIELD_TEXT, 10, w->prefix.version_length - 1));
	uint64_t at = 10 + w->prefix.version_length;
	(void)outline_field(o, "byte order", FIELD_TAG, at, 1);
	(void)outline_field(o, "long size", FIELD_TAG, at + 1, 1);
	(void)outline_field(o, "page size", FIELD_VALUE, at + 2, 4);
	if (!gather(&sketch))
		o->status = TM_NO_MEMORY;
	else if (w->shape.version == 6)
		version_6(&sketch);
	else
		version_7(&sketch);
	outline_close_file(o);
	tracedat_sketch_streams(&sketch);
	if (o->status == TM_OK)
		pointers_resolve(&sketch);
	free(sketch.coded);
	free(sketch.items);
	free(sketch.pointers);
	free(sketch.anchors);
}
