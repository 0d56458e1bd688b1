/* Records that are kept and may yet not be what the recorder wrote. All of it does nothing without a plan. */
#ifndef FXT_DOUBT_H
#define FXT_DOUBT_H

#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/scan/fxt_table.h"

struct fxt_doubt {
	struct plan *plan; /* NULL: only check */
	struct source *source;
	struct fxt_resync *resync;
	const struct fxt_registry *registry;
	const struct fxt_position *here;
	uint64_t gap; /* end of the first region whose content is not known */
	bool gapped;
	uint64_t unvouched; /* end of the last record that is doubtful since nothing behind damage vouched for it; 0: none */
	uint64_t faulty;    /* end of the last record that had an error and stays; 0: none */
	uint64_t torn;	    /* end of the last region of which nobody knows how much was in it; 0: none */
};

/* [from, until) is damage and goes: the records in front of it, and the one behind zeros. r: the record that was there, or NULL. */
void fxt_doubt_region(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, const struct fxt_record *r,
		      enum tracemend_exactness lost);
/* The records in front of a region of damage. */
void fxt_doubt_before(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost);
/* The record that the walk is at, before it is accepted. wrote_magic: the file had none, and gets one. */
void fxt_doubt_record(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic);
/* Whether what stands at `at` follows damage, or what is doubtful. */
static inline bool fxt_doubt_follows(const struct fxt_doubt *d, uint64_t at)
{
	return at && (at == d->torn || at == d->faulty || at == d->unvouched);
}
/* An introduction that may have been that of another provider, which is missing. */
void fxt_doubt_provider(struct fxt_doubt *d, uint32_t missing);
/* What refers to what is missing, and what may have registered it. */
void fxt_doubt_missing(struct fxt_doubt *d);
/* What may show older registrations. */
void fxt_doubt_stale(struct fxt_doubt *d);

#endif
