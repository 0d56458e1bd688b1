/* Bytes that are not a record: what is reported and dropped, and where the walk goes on. */
#ifndef FXT_REGION_H
#define FXT_REGION_H

#include "formats/fxt/scan/fxt_walk.h"

/* Reports [from, until) as damage, drops it, and goes on behind it. r: what was decoded at `from`, or NULL; lost, records: how many
 * went with it; say: what is wrong, NULL: the fault of r. */
#define fxt_region(w, rule, ...) ((void)PLACE(rule), fxt_region_at((w), (rule), __VA_ARGS__))
void fxt_region_at(struct fxt_walk *w, unsigned rule, uint64_t from, uint64_t until, const struct fxt_record *r,
		   enum tracemend_exactness lost, uint64_t records, const char *say);
/* A magic number record with a wrong size or number, at the position. */
#define fxt_bad_magic(w, r, rule) ((void)PLACE(rule), fxt_bad_magic_at((w), (r), (rule)))
void fxt_bad_magic_at(struct fxt_walk *w, struct fxt_record *r, unsigned rule);
/* Records go on at `until`, off the 8-byte grid. */
void fxt_region_misaligned(struct fxt_walk *w, const struct fxt_record *r, uint64_t until);
/* Finds where to go on behind what is broken at the position, and reports what lies in between under `rule`. */
void fxt_region_resume(struct fxt_walk *w, struct fxt_record *r, unsigned rule);
/* The record at the position is faulty. Whether the one in front of it took in its beginning, since bytes of that are missing:
 * drops it then, unless others depend on it, and goes on at what it took in. */
bool fxt_region_goes_back(struct fxt_walk *w);
/* Takes the record at the position, of which `rule` says that its size is damaged, if its content ends at `until` and is sound.
 * False: that is not so. */
bool fxt_region_resized(struct fxt_walk *w, struct fxt_record *r, unsigned rule, uint64_t until);
/* The record at the position cannot be used. */
void fxt_region_broken(struct fxt_walk *w, struct fxt_record *r);

#endif
