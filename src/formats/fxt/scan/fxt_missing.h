/* References to indexes that are not registered. */
#ifndef FXT_MISSING_H
#define FXT_MISSING_H

#include "formats/fxt/scan/fxt_table.h"

/* Notes the first use of an index by the current provider. Returns the index into reg->missing: of the last entry when there are
 * too many; UINT32_MAX: no memory (report->status). field: offset of the reference in the file. */
uint32_t fxt_missing_add(struct fxt_registry *reg, const struct fxt_record *r, bool thread, uint16_t index, uint64_t field);
/* What that entry of reg->missing refers to is registered now, behind its use. */
void fxt_missing_forward(struct fxt_registry *reg, uint32_t n);
/* At the end of the file: reports what was never registered. Neighbouring indexes, which are lost together, are one finding. */
void fxt_missing_report(struct fxt_registry *reg);

#endif
