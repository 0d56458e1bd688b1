/* A trace.dat whose beginning is gone: what the content further in says of version, byte order and compressor. */
#include "formats/tracedat/decode/tracedat_codec.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

/* Bytes from the beginning in which the first section header or event format is looked for, and the steps of it. */
#define INFER_MAX (256u * 1024)
#define INFER_STEP 65536u
/* Bytes behind a place that tell whether something begins there. */
#define INFER_LOOK 160u
/* Between the beginning of an event format and its fields: a name, an ID. */
#define FORMAT_HEAD_MAX 128u

/* A section header of version 7 with a body of its kind (MAN7 "SECTIONS"). p has INFER_LOOK bytes. */
static bool section_begins(const uint8_t *p, uint64_t left, bool be, enum tracedat_codec *codec)
{
	uint16_t id = load_u16(p, be), flags = load_u16(p + 2, be);
	uint32_t description = load_u32(p + 4, be);
	uint64_t size = load_u64(p + 8, be);

	if (id < TRACEDAT_HEADER_INFO || id > TRACEDAT_CMDLINES || flags > 1 ||
	    (description > 65535 && description != UINT32_MAX) || size < 12 || size > left - TRACEDAT_SECTION_SIZE)
		return false;
	p += TRACEDAT_SECTION_SIZE;
	if (flags & TRACEDAT_COMPRESSED) {
		*codec = tracedat_frame_begins(TRACEDAT_ZSTD, p + 8, 4) ? TRACEDAT_ZSTD : TRACEDAT_ZLIB;
		return load_u32(p, be) == size - 8 && tracedat_frame_begins(*codec, p + 8, 4);
	}
	*codec = TRACEDAT_NONE;
	switch (id) {
	case TRACEDAT_HEADER_INFO:
		return !memcmp(p, "header_page", 12);
	case TRACEDAT_FTRACE_EVENTS:
		return size >= 17 && !memcmp(p + 12, "name:", 5);
	case TRACEDAT_KALLSYMS:
	case TRACEDAT_PRINTK:
		return load_u32(p, be) == size - 4;
	case TRACEDAT_CMDLINES:
		return load_u64(p, be) == size - 8;
	default:
		return false;
	}
}

/* A size and an event format of it, as both versions have them. */
static bool format_begins(const uint8_t *p, uint64_t left, bool be)
{
	if (memcmp(p + 8, "name: ", 6))
		return false;
	uint64_t size = load_u64(p, be);
	const uint8_t *id = memmem(p + 14, FORMAT_HEAD_MAX - 6, "\nID: ", 5);
	return id && size > 64 && size <= TRACEDAT_FORMAT_MAX && size <= left - 8 &&
	       memmem(id, FORMAT_HEAD_MAX - (size_t)(id - p) + 8, "\nformat:\n", 9);
}

/* Looks at data[0, size), of which the file has `left`. Sections settle it; of formats the first byte order is kept. */
static bool look(struct tracedat_inferred *found, const uint8_t *data, size_t size, uint64_t left)
{
	for (size_t i = 0; i + INFER_LOOK <= size; i++)
		for (unsigned be = 0; be < 2; be++) {
			if (section_begins(data + i, left - i, be, &found->codec)) {
				found->version = 7;
				found->big_endian = be;
				return true;
			}
			if (!found->version && format_begins(data + i, left - i, be)) {
				found->version = 6;
				found->big_endian = be;
			}
		}
	return false;
}

bool tracedat_infer(struct window *window, uint64_t size, struct tracedat_inferred *found)
{
	*found = (struct tracedat_inferred){ 0 };
	for (uint64_t at = 0; at < INFER_MAX; at += INFER_STEP - INFER_LOOK) {
		size_t got;
		const uint8_t *data = window_upto(window, at, INFER_STEP, &got);
		if (!data || got < INFER_LOOK || look(found, data, got, size - at))
			break;
	}
	return found->version != 0;
}
