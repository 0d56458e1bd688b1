/* Doubtful records: kept, and perhaps not what the recorder wrote. Without a plan all functions do nothing. */
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
	uint64_t unverified; /* end of the last record that is doubtful since no verified record came since damage; 0: none */
	uint64_t faulty;     /* end of the last record that had an error and stays; 0: none */
	uint64_t uncounted;  /* end of the last region with an unknown number of records; 0: none */
};

/* [from, until) is damage and is dropped: marks the records before it, and the record behind zeros. r: the record that was
 * there, or NULL. */
void fxt_doubt_region(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, const struct fxt_record *r,
		      enum tracemend_exactness lost);
/* The records in front of a region of damage. */
void fxt_doubt_before(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost);
/* The record that the walk is at, before it is accepted. wrote_magic: the file had none, and gets one. */
void fxt_doubt_record(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic);
/* Whether the record at `at` follows damage or a doubtful record. */
static inline bool fxt_doubt_follows(const struct fxt_doubt *d, uint64_t at)
{
	return at && (at == d->uncounted || at == d->faulty || at == d->unverified);
}
/* A provider info record that may be the damaged one of a provider that is missing. */
void fxt_doubt_provider(struct fxt_doubt *d, uint32_t missing);
/* Records that refer to missing registrations, and registrations that may be those, damaged. */
void fxt_doubt_missing(struct fxt_doubt *d);
/* Records whose references may resolve to older registrations than the recorder meant. */
void fxt_doubt_stale(struct fxt_doubt *d);

#endif
