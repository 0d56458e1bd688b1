/* Records that declare event types, field by field. */
#include "formats/lttng/decode/lttng_declaration.h"

#include "core/cursor.h"

static const char *take_string(struct cursor *c, size_t *length)
{
	const uint8_t *p = c->data + c->position;
	const uint8_t *nul = c->failed ? NULL : memchr(p, 0, cursor_left(c));
	*length = nul ? (size_t)(nul - p) : 0;
	cursor_skip(c, nul ? *length + 1 : cursor_left(c) + 1);
	return (const char *)p;
}

bool lttng_declaration_read(const struct lttng_stream *in, const struct lttng_event *e, struct lttng_declaration *d)
{
	const struct lttng_coding *coding = in->coding;
	const enum lttng_era era = coding->layout->era;
	uint64_t length = e->end - e->payload;
	const uint8_t *p = length <= 3u * LTTNG_TEXT_MAX ? lttng_stream_at(in, e->payload, length) : NULL;

	*d = (struct lttng_declaration){ 0 };
	if (!p)
		return false;
	struct cursor c = cursor_make(p, (size_t)length, coding->big_endian);
	if (era == LTTNG_CHANNEL_MARKERS)
		d->channel = take_string(&c, &d->channel_length);
	d->name = take_string(&c, &d->name_length);
	if (era == LTTNG_FACILITIES) {
		cursor_seek(&c, (size_t)lttng_align(c.position, coding->alignment ? 4 : 0));
		d->checksum = cursor_u32(&c);
		d->id = cursor_u32(&c);
		d->sizes_width = 4;
		d->sizes_at = e->payload + c.position;
		for (unsigned i = 0; i < SIZE_KINDS; i++) {
			uint32_t v = cursor_u32(&c);
			d->sizes.v[i] = v > 255 ? 255 : (uint8_t)v;
		}
	} else if (e->id == 1) {
		d->format = take_string(&c, &d->format_length);
	} else {
		cursor_seek(&c, (size_t)lttng_align(c.position, lttng_value_align(coding, 2)));
		d->id = cursor_u16(&c);
		d->sizes_width = 1;
		d->sizes_at = e->payload + c.position;
		for (unsigned i = 0; i < SIZE_KINDS; i++)
			d->sizes.v[i] = cursor_u8(&c);
	}
	return !c.failed && d->name_length <= LTTNG_TEXT_MAX && d->format_length <= LTTNG_TEXT_MAX;
}

bool lttng_declaration_is_whole(const struct lttng_stream *in, const struct lttng_event *e)
{
	static const uint8_t no_fields[] = { '\0', ' ', '\0' };
	uint64_t length = e->id == 0 ? SIZE_KINDS : sizeof(no_fields);
	if (e->size_width)
		return true;
	if (e->id > 1 || e->end - e->payload < length)
		return false;
	const uint8_t *p = lttng_stream_at(in, e->end - length, length);
	return p && (e->id == 0 ? p[SIZE_INT] && p[SIZE_LONG] && p[SIZE_POINTER] && p[SIZE_SIZE_T]
				: !memcmp(p, no_fields, sizeof(no_fields)));
}
