/* Records inside what the size of another one claims, which what is registered tells from arguments. */
#ifndef FXT_INNER_H
#define FXT_INNER_H

#include "formats/fxt/salvage/fxt_resync.h"

/* Whether the word at the beginning of r, which is decoded as a record, can be no argument of the record before it: its name would
 * not be registered, and as a record it refers to what is, and to nothing else. */
bool fxt_inner_is_told(const struct fxt_registry *reg, const struct fxt_record *r);
/* Whether the words behind the content of the record at `at` are sound records up to its end that are no arguments. *first is where
 * they begin. */
bool fxt_inner_swallowed(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t at, const struct fxt_record *r,
			 uint64_t *first);
/* Where inside [from, until), which is taken for one record, sound records begin that end with it; until: there are none. */
uint64_t fxt_inner_last(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t until);
/* Where in [from, until), behind the word at `from`, a single sound record begins that is evidence by itself: between two that are
 * damaged none follows it. until: there is none. */
uint64_t fxt_inner_single(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t until);
/* Where in [last, end), which was taken for a record, a sound one begins that goes on beyond `end`, and after which sound ones
 * follow: bytes of the first are missing. end: there is none. */
uint64_t fxt_inner_torn(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t last, uint64_t end);

/* Sound records begin at `first`, in what the record at `from` claims: where they begin, if the word in front of them is the record
 * that says whose they are. */
uint64_t fxt_inner_section(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t first);

#endif
