/* What is compressed in a trace.dat 7, looked into: a stream of the outline for each section and chunk. */
#include "formats/tracedat/outline/tracedat_outline.h"

#include <stdlib.h>

/* outline_encode */
static bool encode(int codec, const void *bytes, size_t size, struct bytes *out)
{
	return tracedat_encode((enum tracedat_codec)codec, bytes, size, out);
}

/* The decoded bytes, as many as are stated, or NULL. Only what is one whole frame: else not all of it would be coded again. */
static uint8_t *decode(struct tracedat_sketch *s, const struct tracedat_coded *coded, uint32_t size)
{
	const struct part *field = &s->o->parts[coded->compressed];
	struct tracedat_decoded d;
	uint8_t *data = malloc(size + !size);

	if (!data)
		s->o->status = TM_NO_MEMORY;
	else if (!tracedat_decompress(s->w, s->data + field->offset, field->length, data, size, &d) || !d.fits || d.size != size ||
		 d.consumed != field->length) {
		free(data);
		data = NULL;
	}
	return data;
}

static void stream(struct tracedat_sketch *s, const struct tracedat_coded *coded, uint8_t *data, uint32_t size)
{
	uint32_t file = outline_stream(s->o, coded->compressed, data, size, encode, (int)s->w->shape.codec);
	const uint8_t *outer = s->data;
	uint64_t outer_size = s->size;

	if (file == OUTLINE_NONE)
		return;
	uint32_t part = outline_open_file(s->o, file, coded->page_size ? "cpu data" : "section body", 0);
	outline_measure(s->o, coded->decoded, MEASURE_LENGTH, part, 1, 0);
	s->data = data;
	s->size = size;
	if (!coded->page_size)
		tracedat_sketch_section(s, coded->id, 0, size);
	for (uint64_t at = 0; coded->page_size && size - at >= coded->page_size && s->o->status == TM_OK; at += coded->page_size)
		tracedat_sketch_page(s, at, coded->page_size);
	outline_close_file(s->o);
	s->data = outer;
	s->size = outer_size;
}

void tracedat_sketch_streams(struct tracedat_sketch *s)
{
	/* Bytes to decode, whatever comes of it. */
	uint32_t left = OUTLINE_STREAMS_MAX;

	/* Their offsets are those of the file. */
	s->next_item = s->item_count;
	for (size_t i = 0; i < s->coded_count && s->o->status == TM_OK && s->w->shape.codec != TRACEDAT_NONE; i++) {
		const struct tracedat_coded *coded = &s->coded[i];
		uint64_t size = outline_value(s->o, coded->decoded);
		if (coded->decoded == OUTLINE_NONE || size > left)
			continue;
		left -= (uint32_t)size;
		uint8_t *data = decode(s, coded, (uint32_t)size);
		if (data)
			stream(s, coded, data, (uint32_t)size);
	}
}
