/* Streams: what a field of the capture holds in coded form. */
#include <stdlib.h>
#include <string.h>

#include "core/outline.h"

uint32_t outline_stream(struct outline *o, uint32_t field, uint8_t *data, uint32_t size, outline_encode encode, int codec)
{
	uint32_t index = o->file_count + o->stream_count;
	struct outline_file *files = NULL;

	/* A field that is short enough for a number may get the value of one. */
	bool there = field != OUTLINE_NONE && o->parts[field].parent != OUTLINE_NONE && o->parts[field].length > sizeof(uint64_t);
	if (there && o->status == TM_OK && size <= OUTLINE_STREAMS_MAX - o->stream_bytes) {
		files = reallocarray(o->files, (size_t)index + 1, sizeof(*files));
		o->status = files ? TM_OK : TM_NO_MEMORY;
	}
	if (!files) {
		free(data);
		return OUTLINE_NONE;
	}
	o->files = files;
	files[index] = (struct outline_file){
		.name = "", .data = data, .size = size, .part = OUTLINE_NONE, .field = field, .encode = encode, .codec = codec
	};
	o->stream_count++;
	o->stream_bytes += size;
	uint32_t part = outline_root(o, index);
	outline_measure(o, field, MEASURE_CODED, part, 1, 0);
	return part == OUTLINE_NONE ? OUTLINE_NONE : index;
}

const struct bytes *outline_coded(const struct outline *o, const struct part *field)
{
	if (field->measure != MEASURE_CODED)
		return NULL;
	const struct outline_file *stream = &o->files[o->parts[field->target].file];
	return stream->coded.size ? &stream->coded : NULL;
}

static bool is(const struct bytes *a, const void *data, size_t size)
{
	return a->size == size && (!size || !memcmp(a->data, data, size));
}

static void forget(struct outline_file *stream)
{
	bytes_free(&stream->plain);
	bytes_free(&stream->coded);
}

/* One stream that is in the capture. */
static enum tracemend_status code(struct outline *o, struct outline_file *stream, bool *again)
{
	struct bytes plain = { 0 }, coded = { 0 };
	size_t before = stream->coded.size ? stream->coded.size : o->parts[stream->field].length;

	outline_write_part(o, stream->part, &plain);
	if (!plain.failed && is(&plain, stream->data, stream->size)) {
		forget(stream);
	} else if (!plain.failed && !(stream->coded.size && is(&stream->plain, plain.data, plain.size))) {
		if (!stream->encode(stream->codec, plain.data, plain.size, &coded) || coded.failed) {
			bytes_free(&plain);
			bytes_free(&coded);
			return TM_NO_MEMORY;
		}
		forget(stream);
		stream->plain = plain;
		stream->coded = coded;
		plain = (struct bytes){ 0 };
	}
	bool failed = plain.failed;
	bytes_free(&plain);
	*again = *again || (stream->coded.size ? stream->coded.size : o->parts[stream->field].length) != before;
	return failed ? TM_NO_MEMORY : TM_OK;
}

enum tracemend_status outline_code(struct outline *o, bool *again)
{
	enum tracemend_status status = TM_OK;

	for (uint32_t i = o->file_count; i < o->file_count + o->stream_count && status == TM_OK; i++)
		status = code(o, &o->files[i], again);
	return status;
}
