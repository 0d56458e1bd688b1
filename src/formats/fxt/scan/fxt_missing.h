/* References to indexes that are not registered. */
#ifndef FXT_MISSING_H
#define FXT_MISSING_H

#include "formats/fxt/scan/fxt_table.h"

/* An index that is used and not registered, with its first use. */
struct fxt_missing {
	const struct fxt_provider *provider; /* which used it */
	uint16_t index;
	bool thread, elsewhere, reported;
	bool forward, no_magic; /* registered later; used before any magic number */
	uint8_t role;
	int8_t argument;
	uint8_t type, subtype;
	uint64_t record, offset, length, field, count;
	uint64_t before;	/* offset of a record some way in front of the first use */
	struct finding *cause;	/* damage that explains it, or NULL */
	struct finding *nobody; /* that nothing introduces its provider, or NULL */
};

/* Notes the first use of an index by the current provider. Returns the index into reg->missing: of the last entry when there are
 * too many; UINT32_MAX: no memory (report->status). field: offset of the reference in the file. */
uint32_t fxt_missing_add(struct fxt_registry *reg, const struct fxt_record *r, bool thread, uint16_t index, uint64_t field);
/* What that entry of reg->missing refers to is registered now, behind its use. */
void fxt_missing_forward(struct fxt_registry *reg, uint32_t n);
/* At the end of the file: reports what was never registered. Neighbouring indexes, which are lost together, are one finding. */
void fxt_missing_report(struct fxt_registry *reg);

#endif
