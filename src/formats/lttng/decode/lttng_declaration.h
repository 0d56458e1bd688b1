/* Records that declare event types: facility loads to 0.8, markers from 1.0 on. */
#ifndef LTTNG_DECLARATION_H
#define LTTNG_DECLARATION_H

#include "formats/lttng/decode/lttng_event.h"

/* The fields of a declaration, read out of its payload. Texts are not terminated; they are valid until the reader's next call. */
struct lttng_declaration {
	const char *channel, *name, *format;
	size_t channel_length, name_length, format_length;
	uint32_t id, checksum;
	struct lttng_sizes sizes;
	uint64_t sizes_at;    /* rel */
	unsigned sizes_width; /* of each */
};

/* False: the event is not one, or far too long. */
bool lttng_declaration_read(const struct lttng_stream *in, const struct lttng_event *e, struct lttng_declaration *d);
/* Whether zeros right behind a declaration cannot have cut it short: its size says where it ends, or it ends with what is not zero
 * where it is whole, the sizes of types or the format of no fields. */
bool lttng_declaration_is_whole(const struct lttng_stream *in, const struct lttng_event *e);

#endif
