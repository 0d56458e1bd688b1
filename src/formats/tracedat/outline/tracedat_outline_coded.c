/* The compressed parts of a trace.dat 7: a stream of the outline for each section and chunk. */
#include "formats/tracedat/outline/tracedat_outline.h"

#include <stdlib.h>

/* outline_encode */
static bool encode(int codec, const void *bytes, size_t size, struct bytes *out)
{
	return tracedat_encode((enum tracedat_codec)codec, bytes, size, out);
}

/* The decoded bytes, as many as are stated, or NULL. Only of one whole frame: the rest would be lost when it is encoded
 * again. */
static uint8_t *decode(struct tracedat_sketch *sketch, const struct tracedat_coded *coded, uint32_t size)
{
	const struct part *field = &sketch->o->parts[coded->compressed];
	struct tracedat_decoded d;
	uint8_t *data = malloc(size + !size);

	if (!data)
		sketch->o->status = TM_NO_MEMORY;
	else if (!tracedat_decompress(sketch->w, sketch->data + field->offset, field->length, data, size, &d) || !d.fits ||
		 d.size != size || d.consumed != field->length) {
		free(data);
		data = NULL;
	}
	return data;
}

static void stream(struct tracedat_sketch *sketch, const struct tracedat_coded *coded, uint8_t *data, uint32_t size)
{
	uint32_t file = outline_stream(sketch->o, coded->compressed, data, size, encode, (int)sketch->w->shape.codec);
	const uint8_t *outer = sketch->data;
	uint64_t outer_size = sketch->size;

	if (file == OUTLINE_NONE)
		return;
	uint32_t part = outline_open_file(sketch->o, file, coded->page_size ? "cpu data" : "section body", 0);
	outline_measure(sketch->o, coded->decoded, MEASURE_LENGTH, part, 1, 0);
	sketch->data = data;
	sketch->size = size;
	if (!coded->page_size)
		tracedat_sketch_section(sketch, coded->id, 0, size);
	for (uint64_t at = 0; coded->page_size && size - at >= coded->page_size && sketch->o->status == TM_OK;
	     at += coded->page_size)
		tracedat_sketch_page(sketch, at, coded->page_size);
	outline_close_file(sketch->o);
	sketch->data = outer;
	sketch->size = outer_size;
}

void tracedat_sketch_streams(struct tracedat_sketch *sketch)
{
	/* Bytes to decode, whatever comes of it. */
	uint32_t left = OUTLINE_STREAMS_MAX;

	/* Their offsets are those of the file. */
	sketch->next_item = sketch->item_count;
	for (size_t i = 0; i < sketch->coded_count && sketch->o->status == TM_OK && sketch->w->shape.codec != TRACEDAT_NONE; i++) {
		const struct tracedat_coded *coded = &sketch->coded[i];
		uint64_t size = outline_value(sketch->o, coded->decoded);
		if (coded->decoded == OUTLINE_NONE || size > left)
			continue;
		left -= (uint32_t)size;
		uint8_t *data = decode(sketch, coded, (uint32_t)size);
		if (data)
			stream(sketch, coded, data, (uint32_t)size);
	}
}
