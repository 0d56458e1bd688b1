/* Version 6, composed: the blocks in their order, tables and options that name what the output has. */
#include "formats/tracedat/repair/tracedat_repair.h"

#include <stdlib.h>

uint32_t tracedat_table_entries(const struct tracedat_walk *w)
{
	uint32_t count = 0;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			if (w->data.buffers[i].cpus[j].cpu + 1 > count && (i == 0 || w->data.buffers[i].cpus[j].length))
				count = w->data.buffers[i].cpus[j].cpu + 1;
	if (!count && w->data.cpu_count && w->data.cpu_count <= TRACEDAT_CPUS_MAX)
		count = w->data.cpu_count;
	return count ? count : 1;
}

static void put_tag(struct tracedat_walk *w, uint64_t old, const char *tag)
{
	/* Odd padding is legal enough: it stays. */
	const uint8_t *p = old != TRACEDAT_NO_OLD ? window_at(&w->window, old, TRACEDAT_TAG_SIZE) : NULL;
	size_t letters = tag[0] == 'f' ? 9 : 7;
	if (p && !memcmp(p, tag, letters))
		tracedat_copy(&w->out.pieces, w->source, old, TRACEDAT_TAG_SIZE);
	else
		(void)tracedat_field(&w->out.pieces, w->source, old, tag, TRACEDAT_TAG_SIZE, TRACEDAT_RULE_data_tag_invalid,
				     "the word that the content calls for");
}

/* Behind the table of a version 6 buffer. */
static void put_clock_block(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	struct bytes clock = { .big_endian = w->shape.big_endian };
	size_t length = 0;
	const char *name = b->clock_size ? NULL : tracedat_clock_of_output(w, &length);

	if (b->clock_size)
		tracedat_copy(&w->out.pieces, w->source, b->clock_at, b->clock_size);
	if (!name)
		return;
	bytes_u64(&clock, length + 2);
	bytes_u8(&clock, '[');
	bytes_append(&clock, name, length);
	bytes_u8(&clock, ']');
	(void)tracedat_literal(&w->out.pieces, clock.data, clock.size, TRACEDAT_RULE_v6_clock_block_missing,
			       "the clock that the option selects");
	w->out.pieces.failed |= clock.failed;
	bytes_free(&clock);
}

struct table {
	size_t *pieces; /* two a CPU: offset and size */
	uint32_t count;
};

static bool put_table(struct tracedat_walk *w, struct tracedat_buffer *b, struct table *table)
{
	table->pieces = calloc(2 * (size_t)table->count, sizeof(*table->pieces));
	if (!table->pieces) {
		tracedat_no_memory(w);
		return false;
	}
	static const char why[] = "where the data of the CPU is";
	for (uint32_t cpu = 0; cpu < table->count; cpu++) {
		uint64_t old = TRACEDAT_NO_OLD;
		for (size_t i = 0; i < b->count; i++)
			if (b->cpus[i].cpu == cpu && b->cpus[i].declared_at)
				old = b->cpus[i].declared_at;
		table->pieces[2 * cpu] = tracedat_put_u64(w, old, 0, TRACEDAT_RULE_cpu_range_eof, why);
		table->pieces[2 * cpu + 1] = tracedat_put_u64(w, old == TRACEDAT_NO_OLD ? old : old + 8, 0,
							      TRACEDAT_RULE_cpu_range_eof, why);
	}
	put_clock_block(w, b);
	return true;
}

static void fill_table(struct tracedat_walk *w, const struct tracedat_buffer *b, struct table *table)
{
	for (uint32_t cpu = 0; cpu < table->count; cpu++) {
		const struct tracedat_cpu *c = NULL;
		for (size_t i = 0; i < b->count; i++)
			if (b->cpus[i].cpu == cpu)
				c = &b->cpus[i];
		/* Recorders give empty CPUs the place where data would come. */
		uint64_t offset = c && c->moved_size ? c->moved : UINT64_MAX;
		for (uint32_t next = cpu + 1; offset == UINT64_MAX && next < table->count; next++)
			for (size_t i = 0; i < b->count; i++)
				if (b->cpus[i].cpu == next && b->cpus[i].moved_size && b->cpus[i].moved < offset)
					offset = b->cpus[i].moved;
		if (offset == UINT64_MAX)
			offset = tracedat_align(w->out.pieces.size, b->page_size);
		tracedat_fill_u64(w, table->pieces[2 * cpu], offset);
		tracedat_fill_u64(w, table->pieces[2 * cpu + 1], c ? c->moved_size : 0);
	}
	free(table->pieces);
	table->pieces = NULL;
}

/* The option of an instance whose own is lost. Returns the piece of the offset. */
static size_t put_instance(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	static const char why[] = "the option of an instance, which is lost";
	size_t name = strlen(b->name) + 1;
	uint8_t head[6];
	store_u16(head, TRACEDAT_BUFFER, w->shape.big_endian);
	store_u32(head + 2, (uint32_t)(8 + name), w->shape.big_endian);
	(void)tracedat_literal(&w->out.pieces, head, sizeof(head), TRACEDAT_RULE_v6_buffer_offset, why);
	size_t piece = tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, TRACEDAT_RULE_v6_buffer_offset, "where the instance is");
	(void)tracedat_literal(&w->out.pieces, b->name, name, TRACEDAT_RULE_v6_buffer_offset, why);
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
		(void)tracedat_field(&w->out.pieces, w->source, at - 6, head, 6, o->rule, o->why);
		if (o->id == TRACEDAT_BUFFER && o->buffer >= 0) {
			offsets[o->buffer] = tracedat_put_u64(w, at, 0, TRACEDAT_RULE_v6_buffer_offset, "where the instance is");
			payload += 8;
			size -= 8;
			at += 8;
		}
		if (o->changed.size)
			(void)tracedat_literal(&w->out.pieces, payload, size, o->rule, o->why);
		else
			tracedat_copy(&w->out.pieces, w->source, at, size);
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
	(void)tracedat_field(&w->out.pieces, w->source, old, done, 2, TRACEDAT_RULE_option_missing_done, "the end of the options");
}

void tracedat_compose_v6(struct tracedat_walk *w)
{
	size_t *offsets = calloc(w->data.buffer_count + 1, sizeof(*offsets));
	struct table table = { .count = tracedat_table_entries(w) };
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
		tracedat_copy(&w->out.pieces, w->source, w->data.latency_at, w->data.latency_stop - w->data.latency_at);
		tracedat_drop(w, w->data.latency_stop, w->source->size - w->data.latency_stop, TRACEDAT_RULE_truncated_file,
			      "a line without its end");
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
