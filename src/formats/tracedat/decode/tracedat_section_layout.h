/* The layout of sections of version 7 (MAN7 "SECTIONS"). */
#ifndef TRACEDAT_SECTION_LAYOUT_H
#define TRACEDAT_SECTION_LAYOUT_H

#include "formats/tracedat/decode/tracedat_shape.h"

struct tracedat_section_header {
	uint16_t id, flags;
	int32_t description;
	uint64_t size;
};

/* p has TRACEDAT_SECTION_SIZE bytes. */
void tracedat_section_header_read(const uint8_t *p, bool be, struct tracedat_section_header *h);
/* Whether an uncompressed body begins as one of that id does. size: the declared one; p has min(size, 17) bytes. */
bool tracedat_body_is(const uint8_t *p, unsigned id, uint64_t size, bool be);
/* Whether a body that is found among other bytes begins like the text of its kind. p has 17 bytes. */
bool tracedat_body_begins(const uint8_t *p, unsigned id);
/* The section id of content that begins with p[0, length); 0: unknown. *size: its whole size, 0 where the content does not
 * state it. */
unsigned tracedat_content_kind(const uint8_t *p, size_t length, bool be, uint64_t *size);
/* The id of the section of symbols, printk formats or command lines to which the first lines in p[0, size) belong that are alike;
 * other bytes may stand in front of them. 0: there are none. */
unsigned tracedat_lines_kind(const uint8_t *p, size_t size);

static inline bool tracedat_id_is_metadata(unsigned id)
{
	return id >= TRACEDAT_HEADER_INFO && id <= TRACEDAT_CMDLINES;
}

/* Whether an option of that id holds the offset of a section. */
static inline bool tracedat_id_is_pointer(unsigned id)
{
	return tracedat_id_is_metadata(id) || id == TRACEDAT_BTF_FILE || id == TRACEDAT_MODULES;
}

/* Whether a section may have that id. */
static inline bool tracedat_id_is_section(unsigned id)
{
	return id == TRACEDAT_DONE || id == TRACEDAT_BUFFER || id == TRACEDAT_BUFFER_TEXT || id == TRACEDAT_STRINGS ||
	       tracedat_id_is_pointer(id);
}

#endif
