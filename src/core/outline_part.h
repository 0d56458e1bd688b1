/* Single parts of an outline: what building, editing and writing have in common. */
#ifndef CORE_OUTLINE_PART_H
#define CORE_OUTLINE_PART_H

#include "core/outline.h"

/* A new part that is not linked into the tree. OUTLINE_NONE, and the status of the outline, on failure. */
uint32_t outline_part_new(struct outline *o, enum part_kind kind, const char *name);
/* Makes the root part of a file. OUTLINE_NONE as above. */
uint32_t outline_part_file(struct outline *o, uint32_t file);
/* The first byte of a part that is in a file or the pool. */
const uint8_t *outline_part_data(const struct outline *o, const struct part *p);
/* The largest value of a numeric field. */
uint64_t outline_part_mask(const struct part *f);
/* The first `length` bytes (8 at most) as a number. */
uint64_t outline_part_word(const uint8_t *p, uint32_t length, bool big_endian);

/* The last step of outline_make(): a measure whose value is wrong in the input is no longer a measure, and padding of another
 * length than its alignment requires becomes bytes. (outline_write.c) */
enum tracemend_status outline_verify(struct outline *o);

#endif
