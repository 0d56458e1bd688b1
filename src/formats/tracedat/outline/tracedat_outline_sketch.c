/* What all files of the outline use. */
#include "formats/tracedat/outline/tracedat_outline.h"

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

uint64_t tracedat_sketch_number(const struct tracedat_sketch *s, uint64_t at, unsigned width)
{
	const uint8_t *p = s->data + at;
	return width == 2 ? load_u16(p, s->be) : width == 4 ? load_u32(p, s->be) : load_u64(p, s->be);
}

void tracedat_sketch_offset(struct tracedat_sketch *s, uint64_t at)
{
	tracedat_sketch_pointer(s, outline_field(s->o, "offset", FIELD_OFFSET, at, 8), tracedat_sketch_number(s, at, 8), false);
}

void tracedat_sketch_coded(struct tracedat_sketch *s, uint64_t at, uint64_t size, struct tracedat_coded coded)
{
	uint32_t measure = outline_field(s->o, "compressed size", FIELD_SIZE, at, 4);

	coded.decoded = outline_field(s->o, "decoded size", FIELD_CHECKSUM, at + 4, 4);
	coded.compressed = outline_field(s->o, "compressed", FIELD_CHECKSUM, at + 8, size);
	outline_measure(s->o, measure, MEASURE_LENGTH, coded.compressed, 1, 0);
	if (coded.compressed != OUTLINE_NONE &&
	    tracedat_room(s->w, &s->coded, &s->coded_capacity, s->coded_count, sizeof(*s->coded), OUTLINE_PARTS_MAX))
		s->coded[s->coded_count++] = coded;
}
