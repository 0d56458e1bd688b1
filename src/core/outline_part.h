/* Parts of an outline, one by one: what building, editing and writing one have in common. */
#ifndef CORE_OUTLINE_PART_H
#define CORE_OUTLINE_PART_H

#include "core/outline.h"

/* A new part that is nowhere in the tree yet; OUTLINE_NONE, and the outline's status, where there is no room. */
uint32_t outline_part_new(struct outline *o, enum part_kind kind, const char *name);
/* The part of a file, which is its root; OUTLINE_NONE as above. */
uint32_t outline_part_file(struct outline *o, uint32_t file);
/* The first byte of a part that is in a file or the pool. */
const uint8_t *outline_part_data(const struct outline *o, const struct part *p);
/* The bits that a numeric field can hold, shifted down. */
uint64_t outline_part_mask(const struct part *f);
/* The first `length` bytes (8 at most) as a number. */
uint64_t outline_part_word(const uint8_t *p, uint32_t length, bool big_endian);

/* Ends outline_make(): takes the measures away that do not hold in the input, and makes bytes of what is not the padding that its
 * alignment asks for. (outline_write.c) */
enum tracemend_status outline_verify(struct outline *o);

#endif
