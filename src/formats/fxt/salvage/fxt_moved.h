/* What was registered for others: in sections whose records may be another provider's, since the section record in front of them
 * was cut out and no byte shows it, and in blocks from elsewhere. */
#ifndef FXT_MOVED_H
#define FXT_MOVED_H

#include "core/plan.h"
#include "formats/fxt/salvage/fxt_untimely.h"

/* Missing indexes that are looked for, and providers; of more, the others are not. */
#define FXT_MOVED_MISSING_MAX 64u
#define FXT_MOVED_PROVIDERS_MAX 64u
/* Registrations in such sections. Of more, all behind the last one that has room is listed. */
#define FXT_MOVED_ENTRIES_MAX 65536u

/* At the end of the file: lists each section with a registration that is out of sequence there, and is the next one of a provider
 * which turned out to lack it; and what refers to what is registered in it or in one of so many blocks. Reads the file again where
 * there may be one. */
void fxt_moved_doubt(struct fxt_resync *y, struct fxt_registry *reg, struct plan *plan, struct source *source,
		     const struct fxt_block *blocks, unsigned block_count);

#endif
