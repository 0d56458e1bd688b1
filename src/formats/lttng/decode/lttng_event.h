/* One event: its header, its type, its length. "Event header". */
#ifndef LTTNG_EVENT_H
#define LTTNG_EVENT_H

#include "formats/lttng/decode/lttng_type.h"

/* Where decoding gets bytes of a file from. Both functions return memory that is valid until the next call; NULL: there are no
 * such bytes, or they cannot be read, which the owner knows. */
struct lttng_reader {
	void *owner;
	const uint8_t *(*at)(void *owner, uint64_t offset, size_t length);
	/* At most `length` bytes; *got: how many. */
	const uint8_t *(*upto)(void *owner, uint64_t offset, size_t length, size_t *got);
};

/* Where texts of one event end. Many descriptions are tried of it, whose texts end at the same NUL, however far that is.
 * Zeroed before the first. */
#define LTTNG_TEXTS_SEEN 2u
struct lttng_texts_seen {
	struct {
		uint64_t from, to; /* rel; no NUL is between them */
		bool nul;	   /* one is at `to` */
	} spans[LTTNG_TEXTS_SEEN];
	unsigned oldest;
	uint64_t searched; /* bytes */
};

/* The events of a block, as decoding needs to know them. */
struct lttng_stream {
	const struct lttng_coding *coding;
	const struct lttng_types *types; /* NULL: none is declared */
	struct lttng_reader reader;
	uint64_t base;		       /* of the block in its file */
	struct lttng_texts_seen *seen; /* NULL: each text is searched */
	bool metadata, compact;
	enum { ESCAPE_AS_IT_IS, ESCAPE_NEVER, ESCAPE_ALWAYS } escape; /* of 2.x sizes: whether 0xFFFF says that 32 bits follow */
};

static inline const uint8_t *lttng_stream_at(const struct lttng_stream *in, uint64_t rel, uint64_t length)
{
	return in->reader.at(in->reader.owner, in->base + rel, (size_t)length);
}

enum lttng_defect {
	EVENT_OK,
	EVENT_END,
	EVENT_HEADER_CUT,
	EVENT_PAYLOAD_CUT,
	EVENT_STRING_CUT,
	EVENT_DANGLING,
	EVENT_NO_FORMAT,
	EVENT_SIZE,
	EVENT_LOW_BITS,
	EVENT_CORE_ID,
	EVENT_NOT_CORE,
	EVENT_NO_FACILITY,
	EVENT_NO_NUMBER,
	EVENT_MALFORMED
};

struct lttng_event {
	uint64_t start;	    /* rel of its header, after padding */
	uint64_t payload;   /* rel */
	uint64_t end;	    /* rel; by the description where there is one */
	uint64_t sized_end; /* rel; by the size in its header; 0: it has none */
	uint64_t size_at;   /* rel of the size field */
	uint64_t stamp;
	uint64_t full; /* the full stamp of its header */
	uint32_t id;
	uint32_t word;
	uint8_t form; /* 2.x: 0, 29, 30 or 31 */
	uint8_t size_width;
	bool has_full;
	bool escaped;  /* its size uses the escape */
	uint64_t size; /* in its header */
	struct lttng_type *type;
	bool padded; /* padding before or in the header is not zero */
};

/* Decodes the event at or after rel; all of it must lie before limit. stamp is that of the event before. */
enum lttng_defect lttng_event_decode(const struct lttng_stream *in, uint64_t rel, uint64_t limit, uint64_t stamp,
				     struct lttng_event *e);
/* Whether the event is a record that declares an event type, by its file and its id. */
bool lttng_event_declares(const struct lttng_stream *in, const struct lttng_event *e);

/* lttng_measure.c */
/* End of the payload at rel, or 0 when it does not end within limit; *cut is the defect then. */
uint64_t lttng_measure(const struct lttng_stream *in, const struct lttng_shape *shape, uint64_t rel, uint64_t limit,
		       enum lttng_defect *cut);

#endif
