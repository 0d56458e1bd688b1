/* The parts of a page of the ring buffer. Layout as in tracedat_page.c. */
#include "formats/tracedat/decode/tracedat_page_layout.h"
#include "formats/tracedat/outline/tracedat_outline.h"

#define LENGTH_BITS 27u
#define TYPE_PADDING 29u
#define TYPE_EXTEND 30u

/* What a data record begins with: id, flags, preempt count, pid; what follows is its event's. */
static void payload(struct tracedat_sketch *s, uint64_t at, uint64_t end)
{
	if (end - at >= 8) {
		(void)outline_field(s->o, "event id", FIELD_REFERENCE, at, 2);
		(void)outline_field(s->o, "record flags", FIELD_FLAGS, at + 2, 1);
		(void)outline_field(s->o, "preempt count", FIELD_VALUE, at + 3, 1);
		(void)outline_field(s->o, "pid", FIELD_REFERENCE, at + 4, 4);
		at += 8;
	}
	for (; end - at >= 4 && s->o->fields; at += 4)
		(void)outline_field(s->o, "value", FIELD_VALUE, at, 4);
}

/* The record at `at`; 0 where there is none. */
static uint64_t record(struct tracedat_sketch *s, uint64_t at, uint64_t end)
{
	uint32_t word = load_u32(s->data + at, s->be), type = s->be ? word >> 27 : word & 31,
		 delta = s->be ? word & 0x7ffffff : word >> 5;
	uint64_t left = end - at, skip = 4, total = 8;
	bool data = type < TYPE_PADDING, sized = type == 0 || type == TYPE_PADDING;

	if (sized) {
		uint64_t length = left >= 8 ? load_u32(s->data + at + 4, s->be) : 0;
		if (length < 4 || length & 3 || (type == TYPE_PADDING && !delta))
			return 0;
		total = 4 + length;
		skip = 8;
	} else if (data) {
		total = 4 + 4 * (uint64_t)type;
	}
	if (total > left)
		return 0;
	(void)outline_open(s->o, PART_RECORD, data ? "record" : type == TYPE_PADDING ? "discarded" : "time", at, 0);
	uint32_t short_size = outline_bits(s->o, "type length", data && !sized ? FIELD_SIZE : FIELD_TAG, at, 4, s->be ? 27 : 0, 5);
	(void)outline_bits(s->o, "delta", FIELD_TIME, at, 4, s->be ? 0 : 5, 27);
	uint32_t size = sized ? outline_field(s->o, "length", FIELD_SIZE, at + 4, 4) : short_size;
	if (!data && !sized)
		(void)outline_field(s->o, "time high", FIELD_TIME, at + 4, 4);
	if (data || sized) {
		uint32_t group = outline_open(s->o, PART_GROUP, "payload", at + skip, PART_FIXED);
		payload(s, at + skip, at + total);
		outline_close(s->o, at + total);
		outline_measure(s->o, size, MEASURE_LENGTH, group, sized ? 1 : 4, sized ? 4 : 0);
	}
	outline_close(s->o, at + total);
	return at + total;
}

void tracedat_sketch_page(struct tracedat_sketch *s, uint64_t at, uint32_t page_size)
{
	struct tracedat_walk *w = s->w;
	unsigned width = w->shape.long_size;
	uint64_t data = at + tracedat_page_data(&w->shape), end = at + page_size;
	uint32_t page = outline_open(s->o, PART_GROUP, "page", at, PART_LOOSE);

	outline_room(s->o, page, page_size);
	(void)outline_field(s->o, "page time", FIELD_TIME, at, 8);
	uint64_t length = tracedat_sketch_number(s, at + 8, width) & ((1u << LENGTH_BITS) - 1);
	uint32_t commit = outline_bits(s->o, "commit", FIELD_SIZE, at + 8, width, 0, LENGTH_BITS);
	(void)outline_bits(s->o, "missed", FIELD_FLAGS, at + 8, width, 30, 2);
	if (length > end - data || w->shape.old_ring)
		length = 0;
	uint32_t group = outline_open(s->o, PART_GROUP, "records", data, PART_FIXED);
	uint64_t stop = data + length;
	for (uint64_t next = data; next && stop - next >= 4 && s->o->status == TM_OK;)
		next = record(s, next, stop);
	outline_close(s->o, stop);
	outline_measure(s->o, commit, MEASURE_LENGTH, group, 1, 0);
	uint64_t missed = s->data[at + 8 + (s->be ? width - 4 : 3)];
	if (s->be ? s->data[at + 8 + width - 4] & 0x40 : missed & 0x40) {
		/* The number of lost events is behind the data. */
		if (end - stop >= width)
			(void)outline_leaf(s->o, PART_BYTES, "missed count", stop, width, PART_FIXED);
		stop = end - stop >= width ? stop + width : stop;
	}
	if (!w->shape.old_ring)
		(void)outline_padding(s->o, stop, end, page_size, page);
	outline_close(s->o, end);
}
