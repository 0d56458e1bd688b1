/* Composes version 6: the blocks in their order, and tables and options for what the output contains. */
#include "formats/tracedat/repair/tracedat_repair.h"

#include <stdlib.h>

uint32_t tracedat_table_entries(const struct tracedat_data *data)
{
	uint32_t count = 0;
	for (size_t i = 0; i < data->buffer_count; i++)
		for (size_t j = 0; j < data->buffers[i].count; j++)
			if (data->buffers[i].cpus[j].cpu + 1 > count && (i == 0 || data->buffers[i].cpus[j].length))
				count = data->buffers[i].cpus[j].cpu + 1;
	if (!count && data->cpu_count && data->cpu_count <= TRACEDAT_CPUS_MAX)
		count = data->cpu_count;
	return count ? count : 1;
}

static void put_tag(struct tracedat_walk *w, uint64_t old, const char *tag)
{
	/* Odd padding is legal enough: it stays. */
	const uint8_t *p = old != TRACEDAT_NO_OLD ? window_at(&w->window, old, TRACEDAT_TAG_SIZE) : NULL;
	size_t letters = tag[0] == 'f' ? 9 : 7;
	if (p && !memcmp(p, tag, letters))
		tracedat_pieces_copy(&w->out.pieces, w->source, old, TRACEDAT_TAG_SIZE);
	else
		(void)tracedat_pieces_field(&w->out.pieces, w->source, old, tag, TRACEDAT_TAG_SIZE, TRACEDAT_RULE_data_tag_invalid,
					    "the tag that the content needs");
}

/* Behind the table of a version 6 buffer. */
static void put_clock_block(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	struct bytes clock = { .big_endian = w->shape.big_endian };
	size_t length = 0;
	const char *name = b->clock_size ? NULL : tracedat_clock_of_output(w, &length);

	if (b->clock_size)
		tracedat_pieces_copy(&w->out.pieces, w->source, b->clock_at, b->clock_size);
	if (!name)
		return;
	bytes_u64(&clock, length + 2);
	bytes_u8(&clock, '[');
	bytes_append(&clock, name, length);
	bytes_u8(&clock, ']');
	(void)tracedat_pieces_literal(&w->out.pieces, clock.data, clock.size, TRACEDAT_RULE_v6_clock_block_missing,
				      "the clock that the option selects");
	w->out.pieces.failed |= clock.failed;
	bytes_free(&clock);
}

/* A CPU of a table. */
struct row {
	uint64_t declared_at;		 /* where its range is in the input; 0: nowhere */
	size_t offset, size;		 /* the pieces of the output that tell it */
	const struct tracedat_cpu *last; /* the last range of the CPU; NULL: none */
	uint64_t lowest;		 /* the lowest place of its data in the output; 0: none */
};

struct table {
	struct row *rows;
	uint32_t count;
};

static bool put_table(struct tracedat_walk *w, struct tracedat_buffer *b, struct table *table)
{
	table->rows = calloc(table->count ? table->count : 1, sizeof(*table->rows));
	if (!table->rows) {
		tracedat_no_memory(w);
		return false;
	}
	for (size_t i = 0; i < b->count; i++)
		if (b->cpus[i].cpu < table->count && b->cpus[i].declared_at)
			table->rows[b->cpus[i].cpu].declared_at = b->cpus[i].declared_at;
	static const char why[] = "where the data of the CPU is";
	for (uint32_t cpu = 0; cpu < table->count; cpu++) {
		struct row *row = &table->rows[cpu];
		const uint64_t old = row->declared_at ? row->declared_at : TRACEDAT_NO_OLD;
		row->offset = tracedat_put_u64(w, old, 0, TRACEDAT_RULE_cpu_range_eof, why);
		row->size = tracedat_put_u64(w, old == TRACEDAT_NO_OLD ? old : old + 8, 0, TRACEDAT_RULE_cpu_range_eof, why);
	}
	put_clock_block(w, b);
	return true;
}

static void fill_table(struct tracedat_walk *w, const struct tracedat_buffer *b, struct table *table)
{
	/* Recorders give empty CPUs the place where data would come. */
	uint64_t next = tracedat_align(w->out.pieces.size, b->page_size);

	for (size_t i = 0; i < b->count; i++) {
		const struct tracedat_cpu *c = &b->cpus[i];
		if (c->cpu >= table->count)
			continue;
		struct row *row = &table->rows[c->cpu];
		row->last = c;
		if (c->moved_size && (!row->lowest || c->moved < row->lowest))
			row->lowest = c->moved;
	}
	for (uint32_t cpu = table->count; cpu-- > 0;) {
		const struct row *row = &table->rows[cpu];
		const struct tracedat_cpu *c = row->last;
		tracedat_fill_u64(w, row->offset, c && c->moved_size ? c->moved : next);
		tracedat_fill_u64(w, row->size, c ? c->moved_size : 0);
		if (row->lowest)
			next = row->lowest;
	}
	free(table->rows);
	table->rows = NULL;
}

/* An option for an instance whose option is lost. Returns the piece of the offset. */
static size_t put_instance(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	static const char why[] = "an option instead of a lost one of an instance";
	size_t name = strlen(b->name) + 1;
	uint8_t head[6];
	store_u16(head, TRACEDAT_BUFFER, w->shape.big_endian);
	store_u32(head + 2, (uint32_t)(8 + name), w->shape.big_endian);
	(void)tracedat_pieces_literal(&w->out.pieces, head, sizeof(head), TRACEDAT_RULE_v6_buffer_offset, why);
	size_t piece = tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, TRACEDAT_RULE_v6_buffer_offset, "where the instance is");
	(void)tracedat_pieces_literal(&w->out.pieces, b->name, name, TRACEDAT_RULE_v6_buffer_offset, why);
	return piece;
}

/* Options of version 6. pieces[i] gets the piece of the offset of instance i. */
static void put_options(struct tracedat_walk *w, size_t *offsets)
{
	const uint8_t done[2] = { 0 };
	for (size_t i = 0; i < w->dir.option_count; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		uint64_t at = o->block->offset + o->at;
		uint8_t head[6];
		if (o->dropped) {
			tracedat_drop(w, at - 6, 6 + (uint64_t)o->size, o->rule, o->why);
			continue;
		}
		size_t size = o->changed.size ? o->changed.size : o->size;
		const uint8_t *payload = o->changed.size ? o->changed.data : o->block->data + o->at;
		store_u16(head, o->id, w->shape.big_endian);
		store_u32(head + 2, (uint32_t)size, w->shape.big_endian);
		(void)tracedat_pieces_field(&w->out.pieces, w->source, at - 6, head, 6, o->rule, o->why);
		if (o->id == TRACEDAT_BUFFER && o->buffer >= 0) {
			offsets[o->buffer] = tracedat_put_u64(w, at, 0, TRACEDAT_RULE_v6_buffer_offset, "where the instance is");
			payload += 8;
			size -= 8;
			at += 8;
		}
		if (o->changed.size)
			(void)tracedat_pieces_literal(&w->out.pieces, payload, size, o->rule, o->why);
		else
			tracedat_pieces_copy(&w->out.pieces, w->source, at, size);
	}
	tracedat_put_clock(w);
	for (size_t i = 1; i < w->data.buffer_count; i++)
		if (w->data.buffers[i].option == SIZE_MAX)
			offsets[i] = put_instance(w, &w->data.buffers[i]);
	/* The end of the list stands before the tag, if it stands anywhere. */
	uint64_t old = TRACEDAT_NO_OLD;
	if (w->dir.option_count) {
		const struct tracedat_option *o = &w->dir.options[w->dir.option_count - 1];
		old = o->block->offset + o->at + o->size;
		old = old + 2 <= w->source->size ? old : TRACEDAT_NO_OLD;
	} else if (w->data.tag_at >= 2) {
		old = w->data.tag_at - 2;
	}
	(void)tracedat_pieces_field(&w->out.pieces, w->source, old, done, 2, TRACEDAT_RULE_option_missing_done,
				    "the end of the options");
}

void tracedat_compose_v6(struct tracedat_walk *w)
{
	size_t *offsets = calloc(w->data.buffer_count + 1, sizeof(*offsets));
	struct table table = { .count = tracedat_table_entries(&w->data) };
	uint64_t at;

	if (!offsets) {
		tracedat_no_memory(w);
		return;
	}
	tracedat_put_prefix(w);
	for (size_t k = 0; k < TRACEDAT_PARTS; k++)
		tracedat_put_part(w, &w->meta.parts[k], &w->meta.v6);
	uint64_t old = w->dir.tag_at ? w->data.cpu_count_at : TRACEDAT_NO_OLD;
	if (w->data.latency)
		table.count = w->data.cpu_count && w->data.cpu_count <= TRACEDAT_CPUS_MAX ? w->data.cpu_count : 1;
	(void)tracedat_put_u32(w, old, table.count, TRACEDAT_RULE_cpu_count_range, "the number of CPUs in the table");
	if (w->dir.tag_seen || w->dir.option_count) {
		put_tag(w, w->dir.tag_at ? w->dir.tag_at : TRACEDAT_NO_OLD, "options  ");
		put_options(w, offsets);
	}
	old = w->data.tag_at ? w->data.tag_at : TRACEDAT_NO_OLD;
	put_tag(w, old, w->data.latency ? "latency  " : "flyrecord");
	if (w->data.latency) {
		tracedat_pieces_copy(&w->out.pieces, w->source, w->data.latency_at, w->data.latency_stop - w->data.latency_at);
		tracedat_drop(w, w->data.latency_stop, w->source->size - w->data.latency_stop, TRACEDAT_RULE_truncated_file,
			      "an incomplete line");
		free(offsets);
		return;
	}
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (i) {
			tracedat_fill_u64(w, offsets[i], w->out.pieces.size);
			put_tag(w, b->record_at, "flyrecord");
		}
		if (!put_table(w, b, &table))
			break;
		at = i ? b->clock_at + b->clock_size : w->meta.stop;
		if (!w->meta.stop)
			at = 0;
		/* Without data recorders pad all the same. */
		bool any = false;
		for (size_t j = 0; j < b->count; j++)
			any |= b->cpus[j].length != 0;
		if (any)
			tracedat_put_cpus(w, b, &at);
		fill_table(w, b, &table);
	}
	free(offsets);
}
