/* The header structure and the chunks of version 3 as repair writes them. */
#ifndef KTRACE_REPAIR_V3_H
#define KTRACE_REPAIR_V3_H

#include "formats/ktrace/repair/ktrace_repair.h"

/* A field of the header structure of 4 or 8 bytes; of 4: the lower half of value. */
void ktrace_repair_header_field(struct ktrace_repair *r, enum ktrace_header_field field, uint64_t value, enum ktrace_rule rule,
				const char *why);
/* The header structure is written anew, for the first `length` bytes of the source, when its end is; fields are changed in it until
 * then. */
void ktrace_repair_header_anew(struct ktrace_repair *r, const uint8_t header[KTRACE_HEADER], uint64_t length);
/* The end of the header, unchanged where nothing before it changed. Else its size counts what was kept and new padding. stored: the
 * size; rule: what is wrong with it, KTRACE_RULE_COUNT: nothing; chunks: offset of the first header chunk; [end, body): padding. */
void ktrace_repair_header_end(struct ktrace_repair *r, uint64_t stored, enum ktrace_rule rule, uint64_t chunks, uint64_t end,
			      uint64_t body);

/* Writes the chunk with another tag and version 0. */
void ktrace_repair_chunk_tag(struct ktrace_repair *r, const struct ktrace_chunk *chunk, uint32_t tag, enum ktrace_rule rule);
/* The end of a chunk of whose payload `kept` bytes are kept and everything before `end` is edited: a new size; the rest up to
 * `next` is dropped; new padding. rule: what is wrong with it; KTRACE_RULE_COUNT: nothing. */
void ktrace_repair_chunk_end(struct ktrace_repair *r, const struct ktrace_chunk *chunk, uint64_t kept, uint64_t end, uint64_t next,
			     enum ktrace_rule rule);
/* Inserts the header of an events chunk for records at `at`, of which `kept` bytes are kept. */
void ktrace_repair_events_header(struct ktrace_repair *r, uint64_t at, uint64_t kept, enum ktrace_rule rule);

#endif
