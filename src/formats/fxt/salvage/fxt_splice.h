/* Bytes that are elsewhere's: a block of another capture, or of another place of this one, may contain records that change to a
 * provider, introduce it again, or set its tick rate. The records behind the block then mean what they meant in front of it. */
#ifndef FXT_SPLICE_H
#define FXT_SPLICE_H

#include "formats/fxt/scan/fxt_walk.h"

/* Whether the records from the position on (r is the first, with a reference that is not registered, or behind a region of damage)
 * show that the last changes of the registry were not meant for them: these are undone then, and written to the output again as
 * they were. */
bool fxt_splice_undo(struct fxt_walk *w, const struct fxt_record *r, bool unknown_refs);

#endif
