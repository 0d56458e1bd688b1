/* Block headers of every version: which fields they have, and where. */
#ifndef LTTNG_LAYOUT_H
#define LTTNG_LAYOUT_H

#include "formats/lttng/lttng.h"

enum lttng_field {
	/* of this block */
	LF_BEGIN,
	LF_BEGIN_FREQ,
	LF_END,
	LF_END_FREQ,
	LF_BEGIN_SEC,
	LF_BEGIN_USEC,
	LF_END_SEC,
	LF_END_USEC,
	LF_UNUSED, /* lost_size; from 2.5 data_size */
	LF_SIZE,   /* buf_size; from 2.5 sb_size */
	LF_EVENTS_LOST,
	LF_CORRUPT,
	/* of the trace: the same in every block of every file */
	LF_MAGIC,
	LF_MAJOR,
	LF_MINOR,
	LF_ARCH_TYPE,
	LF_ARCH_VARIANT,
	LF_FLOAT_ORDER,
	LF_ARCH_SIZE,
	LF_FLIGHT,
	LF_HEARTBEAT,
	LF_ALIGNMENT,
	LF_HAS_TSC,
	LF_TRUNCATE,
	LF_TSCBITS,
	LF_SHIFT,
	LF_SCALE,
	LF_FREQ,
	LF_TSC,
	LF_MONOTONIC,
	LF_SEC,
	LF_SUBSEC,
	LF_COUNT
};
#define LF_FIRST_CONSTANT LF_MAGIC

/* What the versions have in common. */
enum lttng_era {
	LTTNG_FACILITIES,      /* 0.6 to 0.8: facilities, described by XML files */
	LTTNG_MARKERS,	       /* 1.0: markers, ids of the trace, event sizes */
	LTTNG_TRACE_MARKERS,   /* 2.0 to 2.2: 32-bit event words, ids of the trace */
	LTTNG_CHANNEL_MARKERS, /* 2.3 to 2.6: ids of each channel */
};

struct lttng_place {
	uint8_t offset, width; /* width 0: the version has no such field */
};

struct lttng_layout {
	uint8_t major, minor;
	enum lttng_era era;
	const char *name; /* "2.6" */
	uint8_t magic;	  /* offset of the magic number */
	uint8_t size;	  /* of the header; the first event slot */
	bool literal;	  /* 1.0 as the document says, not as tracers wrote it */
	bool variable;	  /* 2.5 and later: blocks of any number of pages, data_size for lost_size */
	bool natural;	  /* 2.4 and 2.5: values of 8 bytes are aligned to 8 also on 32-bit machines */
	bool nanoseconds; /* unit of LF_SUBSEC; else microseconds */
	struct lttng_place places[LF_COUNT];
};

struct lttng_header {
	uint64_t v[LF_COUNT]; /* 0 where the version has no such field */
};

extern const struct lttng_layout lttng_layouts[];
extern const size_t lttng_layout_count;
extern const char *const lttng_field_names[LF_COUNT];
/* How a layout calls a field: lost_size and data_size share a place. */
const char *lttng_field_name(const struct lttng_layout *l, enum lttng_field field);

/* The version that the first bytes of a block show: magic at one of the four places and version bytes that belong there.
 * Of 2.0 and 1.0 the usual layout. NULL: no such block. `major`, `minor` are set when there is a magic number, also of a
 * version that has no layout here. length may be short. */
const struct lttng_layout *lttng_identify(const uint8_t *p, size_t length, bool *big_endian, int *major, int *minor);
/* p has l->size bytes. */
void lttng_header_load(struct lttng_header *h, const struct lttng_layout *l, bool big_endian, const uint8_t *p);
void lttng_header_store(uint8_t *p, const struct lttng_layout *l, bool big_endian, enum lttng_field field, uint64_t value);
/* Offset of the end of data that the header claims; l->size - 1 or less, or more than size, when it makes no sense. */
uint64_t lttng_header_data_end(const struct lttng_layout *l, const struct lttng_header *h, uint64_t size);

static inline bool lttng_has(const struct lttng_layout *l, enum lttng_field field)
{
	return l->places[field].width != 0;
}

static inline uint64_t lttng_align(uint64_t offset, uint64_t alignment)
{
	return alignment > 1 ? (offset + alignment - 1) & ~(alignment - 1) : offset;
}

#endif
