/* Block headers of every version. "The block start/end header", "The trace header". */
#include "formats/lttng/decode/lttng_layout.h"

#define P(field, at, bytes) [LF_##field] = { at, bytes }

/* From the magic number on, 0.6 to 1.0 are alike; `m` is where it is. */
/* clang-format off */
#define TRACE_HEADER(m)                                                                                                     \
	P(MAGIC, m, 4), P(ARCH_TYPE, (m) + 4, 4), P(ARCH_VARIANT, (m) + 8, 4), P(FLOAT_ORDER, (m) + 12, 4),                 \
		P(ARCH_SIZE, (m) + 16, 1), P(MAJOR, (m) + 17, 1), P(MINOR, (m) + 18, 1), P(FLIGHT, (m) + 19, 1),            \
		P(HEARTBEAT, (m) + 20, 1), P(ALIGNMENT, (m) + 21, 1)
/* The block part of 0.7 to 1.0. */
#define BLOCK_HEADER                                                                                                        \
	P(BEGIN, 0, 8), P(BEGIN_FREQ, 8, 8), P(END, 16, 8), P(END_FREQ, 24, 8), P(UNUSED, 32, 4), P(SIZE, 36, 4), TRACE_HEADER(40)
#define START(at) P(SCALE, at, 4), P(FREQ, (at) + 4, 8), P(TSC, (at) + 12, 8), P(MONOTONIC, (at) + 20, 8)
/* 2.x, without what follows buf_size. */
#define SMALL_HEADER                                                                                                        \
	P(BEGIN, 0, 8), P(END, 8, 8), P(MAGIC, 16, 4), P(MAJOR, 20, 1), P(MINOR, 21, 1), P(ARCH_SIZE, 22, 1),               \
		P(ALIGNMENT, 23, 1), P(SEC, 24, 8), P(SUBSEC, 32, 8), P(FREQ, 40, 8), P(SCALE, 48, 4), P(UNUSED, 52, 4),    \
		P(SIZE, 56, 4)
#define LOSS P(EVENTS_LOST, 60, 4), P(CORRUPT, 64, 4)

const struct lttng_layout lttng_layouts[] = {
	{ .major = 0, .minor = 6, .era = LTTNG_FACILITIES, .name = "0.6", .magic = 72, .size = 135,
	  .places = { P(BEGIN_SEC, 0, 8), P(BEGIN_USEC, 8, 8), P(BEGIN, 16, 8), P(BEGIN_FREQ, 24, 8), P(END_SEC, 32, 8),
		      P(END_USEC, 40, 8), P(END, 48, 8), P(END_FREQ, 56, 8), P(UNUSED, 64, 4), P(SIZE, 68, 4), TRACE_HEADER(72),
		      P(HAS_TSC, 94, 1), P(FREQ, 95, 8), P(TSC, 103, 8), P(MONOTONIC, 111, 8), P(SEC, 119, 8),
		      P(SUBSEC, 127, 8) } },
	{ .major = 0, .minor = 7, .era = LTTNG_FACILITIES, .name = "0.7", .magic = 40, .size = 106,
	  .places = { BLOCK_HEADER, START(62), P(SEC, 90, 8), P(SUBSEC, 98, 8) } },
	{ .major = 0, .minor = 8, .era = LTTNG_FACILITIES, .name = "0.8", .magic = 40, .size = 108,
	  .places = { BLOCK_HEADER, P(TRUNCATE, 62, 1), P(TSCBITS, 63, 1), START(64), P(SEC, 92, 8), P(SUBSEC, 100, 8) } },
	{ .major = 1, .minor = 0, .era = LTTNG_MARKERS, .name = "1.0", .magic = 40, .size = 109,
	  .places = { BLOCK_HEADER, P(TRUNCATE, 62, 1), P(TSCBITS, 63, 1), P(SHIFT, 64, 1), START(65), P(SEC, 93, 8),
		      P(SUBSEC, 101, 8) } },
	{ .major = 1, .minor = 0, .era = LTTNG_MARKERS, .name = "1.0", .magic = 40, .size = 101, .literal = true,
	  .nanoseconds = true,
	  .places = { BLOCK_HEADER, P(TRUNCATE, 62, 1), P(TSCBITS, 63, 1), P(SHIFT, 64, 1), START(65), P(SEC, 93, 4),
		      P(SUBSEC, 97, 4) } },
	{ .major = 2, .minor = 0, .era = LTTNG_TRACE_MARKERS, .name = "2.0", .magic = 16, .size = 60, .places = { SMALL_HEADER } },
	/* The C structure of 2.0 has a hole at its end where 64-bit values are aligned to 8. */
	{ .major = 2, .minor = 0, .era = LTTNG_TRACE_MARKERS, .name = "2.0", .magic = 16, .size = 64, .places = { SMALL_HEADER } },
	{ .major = 2, .minor = 1, .era = LTTNG_TRACE_MARKERS, .name = "2.1", .magic = 16, .size = 60, .places = { SMALL_HEADER } },
	{ .major = 2, .minor = 2, .era = LTTNG_TRACE_MARKERS, .name = "2.2", .magic = 16, .size = 68,
	  .places = { SMALL_HEADER, LOSS } },
	{ .major = 2, .minor = 3, .era = LTTNG_CHANNEL_MARKERS, .name = "2.3", .magic = 16, .size = 68,
	  .places = { SMALL_HEADER, LOSS } },
	{ .major = 2, .minor = 4, .era = LTTNG_CHANNEL_MARKERS, .name = "2.4", .magic = 16, .size = 68, .natural = true,
	  .places = { SMALL_HEADER, LOSS } },
	{ .major = 2, .minor = 5, .era = LTTNG_CHANNEL_MARKERS, .name = "2.5", .magic = 16, .size = 68, .natural = true,
	  .variable = true, .places = { SMALL_HEADER, LOSS } },
	{ .major = 2, .minor = 6, .era = LTTNG_CHANNEL_MARKERS, .name = "2.6", .magic = 16, .size = 68, .variable = true,
	  .places = { SMALL_HEADER, LOSS } },
};
/* clang-format on */
const size_t lttng_layout_count = sizeof(lttng_layouts) / sizeof(lttng_layouts[0]);

const char *const lttng_field_names[LF_COUNT] = {
	"begin cycle count",  "begin freq",	    "end cycle count",	"end freq",	    "begin seconds",
	"begin microseconds", "end seconds",	    "end microseconds", "lost_size",	    "buf_size",
	"events_lost",	      "subbuf_corrupt",	    "magic_number",	"major_version",    "minor_version",
	"arch_type",	      "arch_variant",	    "float_word_order", "arch_size",	    "flight_recorder",
	"has_heartbeat",      "alignment",	    "has_tsc",		"tsc_lsb_truncate", "tscbits",
	"compact_data_shift", "freq_scale",	    "start_freq",	"start_tsc",	    "start_monotonic",
	"start_time seconds", "start_time fraction"
};

const char *lttng_field_name(const struct lttng_layout *l, enum lttng_field field)
{
	if (l->variable && field == LF_UNUSED)
		return "data_size";
	if (l->variable && field == LF_SIZE)
		return "sb_size";
	return lttng_field_names[field];
}

static bool lttng_magic_at(const uint8_t *p, size_t length, size_t at, bool *big_endian)
{
	if (length < at + 4)
		return false;
	*big_endian = load_u32(p + at, true) == LTTNG_MAGIC;
	return *big_endian || load_u32(p + at, false) == LTTNG_MAGIC;
}

const struct lttng_layout *lttng_identify(const uint8_t *p, size_t length, bool *big_endian, int *major, int *minor)
{
	/* Where the magic number may be, where the version is then, and which versions have it there: dossier of the versions,
	 * "trace header". 16 goes first: a 2.x clock of 14,071,789 Hz looks like a magic number at 40. */
	static const struct {
		uint8_t magic, major;
	} places[] = { { 16, 20 }, { 40, 57 }, { 56, 73 }, { 72, 89 } };

	*major = *minor = -1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		bool big;
		if (!lttng_magic_at(p, length, places[i].magic, &big) || length < places[i].major + 2u)
			continue;
		if (*major < 0) {
			*big_endian = big;
			*major = p[places[i].major];
			*minor = p[places[i].major + 1];
		}
		for (size_t j = 0; j < lttng_layout_count; j++) {
			const struct lttng_layout *l = &lttng_layouts[j];
			if (l->magic != places[i].magic || l->major != p[places[i].major] || l->minor != p[places[i].major + 1])
				continue;
			/* 2.0: the size of a pointer decides which header it is. */
			if (l->major == 2 && l->minor == 0 && length > 22 && p[22] == 8)
				l++;
			*big_endian = big;
			*major = l->major;
			*minor = l->minor;
			return l;
		}
	}
	return NULL;
}

static uint64_t load_uint(const uint8_t *p, unsigned width, bool big_endian)
{
	switch (width) {
	case 1:
		return *p;
	case 4:
		return load_u32(p, big_endian);
	case 8:
		return load_u64(p, big_endian);
	default:
		return 0;
	}
}

void lttng_header_load(struct lttng_header *h, const struct lttng_layout *l, bool big_endian, const uint8_t *p)
{
	for (unsigned i = 0; i < LF_COUNT; i++)
		h->v[i] = load_uint(p + l->places[i].offset, l->places[i].width, big_endian);
}

void lttng_header_store(uint8_t *p, const struct lttng_layout *l, bool big_endian, enum lttng_field field, uint64_t value)
{
	uint8_t *at = p + l->places[field].offset;
	switch (l->places[field].width) {
	case 1:
		*at = (uint8_t)value;
		break;
	case 4:
		store_u32(at, (uint32_t)value, big_endian);
		break;
	case 8:
		store_u64(at, value, big_endian);
		break;
	default:
		break;
	}
}

uint64_t lttng_header_data_end(const struct lttng_layout *l, const struct lttng_header *h, uint64_t size)
{
	if (l->variable)
		return h->v[LF_UNUSED];
	return h->v[LF_UNUSED] <= size ? size - h->v[LF_UNUSED] : 0;
}
