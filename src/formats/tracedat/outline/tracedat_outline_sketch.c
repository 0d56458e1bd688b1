/* What all files of the outline use. */
#include "formats/tracedat/outline/tracedat_outline.h"

void tracedat_sketch_pointer(struct tracedat_sketch *sketch, uint32_t field, uint64_t to, bool length)
{
	if (field == OUTLINE_NONE || !tracedat_room(sketch->w, &sketch->pointers, &sketch->pointer_capacity, sketch->pointer_count,
						    sizeof(*sketch->pointers), OUTLINE_PARTS_MAX))
		return;
	sketch->pointers[sketch->pointer_count++] = (struct tracedat_sketch_pointer){ field, to, length };
}

void tracedat_sketch_anchor(struct tracedat_sketch *sketch, uint64_t at, uint32_t part, int64_t bias)
{
	if (part == OUTLINE_NONE || !tracedat_room(sketch->w, &sketch->anchors, &sketch->anchor_capacity, sketch->anchor_count,
						   sizeof(*sketch->anchors), OUTLINE_PARTS_MAX))
		return;
	sketch->anchors[sketch->anchor_count++] = (struct tracedat_sketch_anchor){ at, part, bias };
}

uint64_t tracedat_sketch_number(const struct tracedat_sketch *sketch, uint64_t at, unsigned width)
{
	const uint8_t *p = sketch->data + at;
	return width == 2 ? load_u16(p, sketch->be) : width == 4 ? load_u32(p, sketch->be) : load_u64(p, sketch->be);
}

void tracedat_sketch_offset(struct tracedat_sketch *sketch, uint64_t at)
{
	tracedat_sketch_pointer(sketch, outline_field(sketch->o, "offset", FIELD_OFFSET, at, 8),
				tracedat_sketch_number(sketch, at, 8), false);
}

void tracedat_sketch_coded(struct tracedat_sketch *sketch, uint64_t at, uint64_t size, struct tracedat_coded coded)
{
	uint32_t measure = outline_field(sketch->o, "compressed size", FIELD_SIZE, at, 4);

	coded.decoded = outline_field(sketch->o, "decoded size", FIELD_CHECKSUM, at + 4, 4);
	coded.compressed = outline_field(sketch->o, "compressed", FIELD_CHECKSUM, at + 8, size);
	outline_measure(sketch->o, measure, MEASURE_LENGTH, coded.compressed, 1, 0);
	if (coded.compressed != OUTLINE_NONE && tracedat_room(sketch->w, &sketch->coded, &sketch->coded_capacity,
							      sketch->coded_count, sizeof(*sketch->coded), OUTLINE_PARTS_MAX))
		sketch->coded[sketch->coded_count++] = coded;
}
