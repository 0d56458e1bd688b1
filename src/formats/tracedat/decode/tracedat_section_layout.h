/* Sections of version 7 by their bytes alone (MAN7 "SECTIONS"). */
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
/* Whether an uncompressed body looks like what its id says. size is the declared one; p has min(size, 17) bytes. */
bool tracedat_body_is(const uint8_t *p, unsigned id, uint64_t size, bool be);
/* Whether a body that is found among other bytes begins like the text of its kind. p has 17 bytes. */
bool tracedat_body_begins(const uint8_t *p, unsigned id);
/* What content that begins so is: the id of its section; 0: none. *size: all of its bytes; 0: it does not say. */
unsigned tracedat_content_kind(const uint8_t *p, size_t length, bool be, uint64_t *size);

static inline bool tracedat_id_is_metadata(unsigned id)
{
	return id >= TRACEDAT_HEADER_INFO && id <= TRACEDAT_CMDLINES;
}

/* Whether an option of that id holds the offset of a section. */
static inline bool tracedat_id_is_pointer(unsigned id)
{
	return tracedat_id_is_metadata(id) || id == TRACEDAT_BTF_FILE || id == TRACEDAT_MODULES;
}

#endif
