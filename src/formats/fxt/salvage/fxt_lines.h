/* Traces that were copied as text: a byte 0x0d was put in front of each byte 0x0a. Records are decoded from bytes that are
 * converted back. */
#ifndef FXT_LINES_H
#define FXT_LINES_H

#include "formats/fxt/salvage/fxt_resync.h"

/* Whether the record at `at` has such a byte, and is sound, with others behind it, without. It is then in r, whose bytes are those
 * of y->lines until the next call. *end: where it ends in the file. */
bool fxt_lines_record(struct fxt_resync *y, struct fxt_record *r, uint64_t at, uint64_t *end);
/* Where to go on behind `bad`, by all means. r: what was decoded there. */
struct fxt_resume fxt_resync(struct fxt_resync *y, uint64_t bad, const struct fxt_record *r);

#endif
