/* The parts of the metadata blocks: header texts, event formats, symbol tables and the like. Both versions have them, in a row
 * or one a section. */
#include "formats/tracedat/outline/tracedat_outline.h"

#define BAD UINT64_MAX

/* A size field that measures a group of text, which is declared as `whole` field or in words. */
static uint64_t sized_text(struct tracedat_sketch *sketch, uint64_t at, uint64_t end, unsigned width, const char *name)
{
	if (end - at < width)
		return BAD;
	uint64_t size = tracedat_sketch_number(sketch, at, width), text = at + width;
	if (size > end - text)
		return BAD;
	uint32_t field = outline_field(sketch->o, "size", FIELD_SIZE, at, width);
	uint32_t group = outline_open(sketch->o, PART_GROUP, name, text, PART_FIXED);
	outline_words(sketch->o, text, text + size);
	outline_close(sketch->o, text + size);
	outline_measure(sketch->o, field, MEASURE_LENGTH, group, 1, 0);
	return text + size;
}

uint64_t tracedat_sketch_header(struct tracedat_sketch *sketch, uint64_t at, uint64_t end)
{
	static const struct {
		const char *tag;
		size_t length;
	} tags[] = { { "header_page", 12 }, { "header_event", 13 } };

	for (size_t i = 0; i < 2 && at != BAD; i++) {
		if (end - at < tags[i].length || memcmp(sketch->data + at, tags[i].tag, tags[i].length) != 0)
			return BAD;
		(void)outline_open(sketch->o, PART_GROUP, tags[i].tag, at, PART_FIXED);
		(void)outline_field(sketch->o, "tag", FIELD_MAGIC, at, tags[i].length);
		at = sized_text(sketch, at + tags[i].length, end, 8, "header text");
		outline_close(sketch->o, at == BAD ? 0 : at);
	}
	return at;
}

/* A count, and as many formats: a size and a text. */
uint64_t tracedat_sketch_formats(struct tracedat_sketch *sketch, uint64_t at, uint64_t end, const char *name)
{
	if (end - at < 4)
		return BAD;
	uint64_t count = tracedat_sketch_number(sketch, at, 4);
	uint32_t field = outline_field(sketch->o, "format count", FIELD_COUNT, at, 4);
	uint32_t group = outline_open(sketch->o, PART_GROUP, name, at + 4, PART_FIXED);

	outline_measure(sketch->o, field, MEASURE_COUNT, group, 1, 0);
	for (at += 4; count && at != BAD && sketch->o->status == TM_OK; count--) {
		(void)outline_open(sketch->o, PART_RECORD, "format", at, 0);
		at = sized_text(sketch, at, end, 8, "format text");
		outline_close(sketch->o, at == BAD ? 0 : at);
	}
	outline_close(sketch->o, at == BAD ? 0 : at);
	return at;
}

uint64_t tracedat_sketch_systems(struct tracedat_sketch *sketch, uint64_t at, uint64_t end)
{
	if (end - at < 4)
		return BAD;
	uint64_t count = tracedat_sketch_number(sketch, at, 4);
	uint32_t field = outline_field(sketch->o, "system count", FIELD_COUNT, at, 4);
	uint32_t group = outline_open(sketch->o, PART_GROUP, "systems", at + 4, PART_FIXED);

	outline_measure(sketch->o, field, MEASURE_COUNT, group, 1, 0);
	for (at += 4; count && at != BAD && at < end && sketch->o->status == TM_OK; count--) {
		const uint8_t *nul = memchr(sketch->data + at, 0, (size_t)(end - at));
		if (!nul)
			break;
		(void)outline_open(sketch->o, PART_RECORD, "system", at, 0);
		(void)outline_field(sketch->o, "system name", FIELD_TEXT, at, (uint64_t)(nul - sketch->data) - at);
		at = tracedat_sketch_formats(sketch, (uint64_t)(nul - sketch->data) + 1, end, "event formats");
		outline_close(sketch->o, at == BAD ? 0 : at);
	}
	outline_close(sketch->o, at == BAD ? 0 : at);
	return count ? BAD : at;
}

uint64_t tracedat_sketch_lines(struct tracedat_sketch *sketch, uint64_t at, uint64_t end, unsigned width, const char *name)
{
	if (end - at < width)
		return BAD;
	uint64_t size = tracedat_sketch_number(sketch, at, width), stop = at + width + size;
	if (size > end - at - width)
		return BAD;
	uint32_t field = outline_field(sketch->o, "size", FIELD_SIZE, at, width);
	uint32_t group = outline_open(sketch->o, PART_GROUP, name, at + width, PART_FIXED);
	outline_measure(sketch->o, field, MEASURE_LENGTH, group, 1, 0);
	for (at += width; at < stop && sketch->o->status == TM_OK;) {
		const uint8_t *lf = memchr(sketch->data + at, '\n', (size_t)(stop - at));
		uint64_t next = lf ? (uint64_t)(lf - sketch->data) + 1 : stop;
		(void)outline_open(sketch->o, PART_RECORD, name, at, 0);
		outline_words(sketch->o, at, next);
		outline_close(sketch->o, next);
		at = next;
	}
	outline_close(sketch->o, stop);
	return stop;
}
