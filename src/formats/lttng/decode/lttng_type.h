/* Event types: how long the payload of an event is, and where its values are. */
#ifndef LTTNG_TYPE_H
#define LTTNG_TYPE_H

#include "formats/lttng/decode/lttng_layout.h"

/* The sizes that declarations give: int, long, pointer, size_t, alignment. */
struct lttng_sizes {
	uint8_t v[5];
};
enum { SIZE_INT, SIZE_LONG, SIZE_POINTER, SIZE_SIZE_T, SIZE_ALIGNMENT, SIZE_KINDS };

/* How the bytes of a trace are to be read, as its headers and declarations agree. */
struct lttng_coding {
	const struct lttng_layout *layout; /* NULL: no file shows one */
	bool big_endian, heartbeat;
	uint8_t arch, alignment;	   /* bytes of a pointer; of what values are aligned to, 0: nothing is */
	struct lttng_sizes sizes;	   /* of C types */
	uint64_t truncate, tscbits, shift; /* bit fields of compact events */
	uint32_t compact_facility;	   /* 0.8: its number; UINT32_MAX: not loaded */
	uint32_t compact_events;	   /* 0.8: events of facility compact */
};

/* A step in measuring a payload. Fixed steps are merged where alignment allows. */
struct lttng_step {
	enum { STEP_FIXED, STEP_STRING, STEP_SEQUENCE } kind;
	uint8_t align;	    /* before it; 1: none */
	uint8_t pad;	    /* after it (0.x strings and sequences): to this; 1: none */
	uint8_t count_size; /* sequence: width of its count */
	uint32_t size;	    /* fixed: bytes. sequence: bytes of an element */
};

struct lttng_shape {
	struct lttng_step *steps; /* owned */
	uint32_t count;
	uint32_t fixed; /* payload bytes when it has one length */
	uint8_t align;	/* of the start of the payload, where the version aligns it to its largest field */
	bool is_fixed;
	bool known; /* false: the length is not known */
};

/* One event type: a marker, or an event of a facility. */
struct lttng_type {
	char *name; /* owned */
	uint32_t id;
	bool declared;	    /* an id record was kept */
	bool described;	    /* so was a format */
	const char *format; /* of a marker, borrowed; NULL: not known */
	struct lttng_shape shape;
};

/* Event types by id. Two levels of arrays, not a map: an id has 16 bits, and each event asks for one. */
struct lttng_types {
	struct lttng_type **pages[256]; /* owned, as are the types */
	uint32_t highest;
};

/* The type of that id; NULL: nothing was said of it. types may be NULL. */
static inline struct lttng_type *lttng_type_get(const struct lttng_types *types, uint32_t id)
{
	struct lttng_type **page = types ? types->pages[id >> 8 & 0xff] : NULL;
	return page && id <= 0xffff ? page[id & 0xff] : NULL;
}

/* Memory for declarations, which the input could ask any amount of. */
struct lttng_budget {
	size_t used, max;
	enum tracemend_status status; /* sticky: TM_OK, TM_LIMIT, TM_NO_MEMORY */
};

/* Zeroed bytes; NULL with b->status set. The caller frees them. */
void *lttng_budget_alloc(struct lttng_budget *b, size_t size);
/* A copy of the text with a NUL behind it; NULL as above. */
char *lttng_budget_copy(struct lttng_budget *b, const char *text, size_t length);

/* Alignment of a value of that size in payloads of this trace. */
uint8_t lttng_value_align(const struct lttng_coding *c, uint32_t size);
/* The widest alignment of anything in the trace; what is moved moves by multiples of it. */
uint64_t lttng_widest_align(const struct lttng_coding *c);
/* Alignment of event headers; 0: none. */
uint64_t lttng_event_align(const struct lttng_coding *c, bool compact);

/* Alignment of the full stamp of a 2.x event; 0: none. */
uint64_t lttng_stamp_align(const struct lttng_coding *c);

/* The lowest bits, which stamps of compact events lack. */
uint64_t lttng_stamp_slack(const struct lttng_coding *c, bool compact);
/* The bits of an id in a compact event word, as a mask. */
uint32_t lttng_compact_ids(const struct lttng_coding *c);

/* Adds a step and merges it with the one before where possible. False: b->status. */
bool lttng_shape_add(struct lttng_budget *b, struct lttng_shape *shape, struct lttng_step step);
/* After the last step: computes the fixed size. */
void lttng_shape_finish(struct lttng_shape *shape);

/* lttng_marker.c */
enum lttng_format_flaw { FORMAT_FINE, FORMAT_BAD, FORMAT_EIGHT = 2, FORMAT_UNNAMED = 4 };
/* A field of a format string. */
struct lttng_format_field {
	const char *name, *mark; /* in the format; mark: its '#' or '%' */
	size_t name_length;
	char letter;		/* of its conversion: how it is shown */
	bool elsewhere;		/* it is in the event word, not in the payload */
	unsigned flaws;		/* or-ed; FORMAT_BAD: it cannot be parsed */
	struct lttng_step step; /* never a sequence */
};
/* The next field; *at, which begins as the format, moves behind it. False: there are no more. */
bool lttng_format_next(const struct lttng_coding *c, const char **at, struct lttng_format_field *f);
/* Parses a format string into a shape. Returns flaws, or-ed; FORMAT_BAD leaves shape->known false. *at is the offset of what
 * is bad. False only when memory is short (b->status). */
bool lttng_format_parse(const struct lttng_coding *c, struct lttng_budget *b, const char *format, struct lttng_shape *shape,
			unsigned *flaws, size_t *at);

#endif
