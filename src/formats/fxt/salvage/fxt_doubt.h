/* Doubtful records: kept, and perhaps not what the recorder wrote. Without a plan all functions do nothing. */
#ifndef FXT_DOUBT_H
#define FXT_DOUBT_H

#include "core/finding.h"
#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/salvage/fxt_seam.h"
#include "formats/fxt/salvage/fxt_stale.h"
#include "formats/fxt/salvage/fxt_untimely.h"
#include "formats/fxt/scan/fxt_table.h"

/* Records with undescribed content that are a habit of the recorder, in a file without errors. */
#define FXT_STRANGE_HABIT 3u

/* Timestamps that step back which are remembered; and of so many records at most one may, or it is a habit of the recorder, unless
 * there are only a few. */
#define FXT_STEPS_BACK 64u
#define FXT_STEPS_RARE 256u
#define FXT_STEPS_FEW 3u

struct fxt_step {
	uint64_t at, length;
	bool far; /* its time is far from those of all others */
};

/* References to providers that nothing introduces; of more, ids say nothing. */
#define FXT_UNKNOWN_PROVIDERS 16u
struct fxt_unknown_provider {
	uint32_t id;
	uint64_t at;	     /* of the record that refers to it */
	uint64_t seam, next; /* ends of the region in front of it, and beginning of the one behind; 0: none */
};

/* Payloads with records in them that are remembered. */
#define FXT_FILLED_MAX 16u

struct fxt_doubt {
	struct plan *plan; /* NULL: only check */
	struct source *source;
	struct fxt_resync *resync;
	struct fxt_registry *registry; /* states of entries are changed */
	const struct fxt_position *here;
	bool active;		      /* there was damage: the fast path, which knows no doubt, is not taken any more */
	bool context;		      /* it is not known whose the records are, up to the next provider or section record */
	uint64_t regions, region_end; /* regions of damage so far; end of the last one */
	uint64_t seam;		      /* end of the last region of damage; 0: none. Also where nothing is repaired */
	struct fxt_seam before;	      /* the region before it */
	struct fxt_block undone_blocks[FXT_UNTIMELY_MAX]; /* from elsewhere: what they changed is undone behind them */
	unsigned undone_count, undone_tries;
	struct fxt_unknown_provider unknown[FXT_UNKNOWN_PROVIDERS];
	unsigned unknown_count;
	struct fxt_block filled[FXT_FILLED_MAX]; /* records with a payload that has records in a row */
	unsigned filled_count;
	uint64_t undone;       /* the seam for which changes were undone; 0: none */
	uint64_t seam_length;  /* of that region */
	uint64_t seam_stated;  /* where the record that begins it ends by its size */
	size_t seam_missing;   /* registrations that were known to be missing in front of it */
	uint64_t version;      /* of the provider, in front of the record */
	uint64_t entered;      /* offset of the last provider or section record */
	uint64_t anonymous;    /* end of what precedes any provider or section record; 0: nothing */
	uint64_t section_gap;  /* end of the first region of damage since such a record; 0: none */
	uint64_t unverified;   /* end of the last record that is doubtful since no verified record came since damage; 0: none */
	uint64_t faulty;       /* end of the last record that had an error and stays; 0: none */
	uint64_t uncounted;    /* end of the last region with an unknown number of records; 0: none */
	uint64_t listed;       /* ranges of records in the order of the walk */
	uint64_t listed_until; /* end of the last of them */
	uint64_t strange;      /* records with undescribed content */
	struct fxt_step steps[FXT_STEPS_BACK];
	unsigned step_count;
	uint64_t steps_back;	/* all of them */
	struct fxt_leaps leaps; /* the largest of them */
	struct fxt_stale stale; /* records that refer to something that was registered before damage */
	uint64_t island;	/* where the last block between two regions begins; 0: none */
	bool headless;		/* the file had no magic number, and gets one */
	bool joined;		/* another archive begins in damage */
	uint64_t other_rate;	/* where, in front of all damage, a provider gets another tick rate; 0: nowhere */
	uint64_t archive;	/* the last magic number that is not the first record; 0: none */
	uint64_t settled;	/* end of the last region of which it is known what was registered in it; 0: none */
	uint64_t room;		/* registrations that the regions since may have held at most; 0: none */
	size_t missing;		/* registrations that were known to be missing in front of them */
	struct fxt_seams seams;
};

void fxt_doubt_close(struct fxt_doubt *d);

/* Lists so many bytes as doubtful; why must outlive the plan. */
void fxt_doubt_list(struct fxt_doubt *d, uint64_t at, uint64_t length, const char *why);
/* The header of a record that was accepted, and its bytes by that. */
uint64_t fxt_doubt_header_at(struct fxt_doubt *d, uint64_t at);
uint64_t fxt_doubt_length_at(struct fxt_doubt *d, uint64_t at);
/* Whether there are several providers, but for those of blocks from elsewhere that are undone. */
bool fxt_doubt_has_several(const struct fxt_doubt *d);
/* Whether a block was written twice, and its second copy has bytes at `from`, or begins or ends in [from, until]: lists that copy.
 * Returns the size of one that begins in it, or 0. */
uint64_t fxt_doubt_repeat(struct fxt_doubt *d, uint64_t from, uint64_t until);

/* [from, until) is damage and is dropped: marks the records before it, and the record behind zeros. stated: where the record at
 * `from` ends by its size. */
void fxt_doubt_region(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost,
		      uint64_t stated);
/* The records in front of a region of damage. */
void fxt_doubt_before(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost);
/* The record that the walk is at, before it is accepted: whether it is doubtful. wrote_magic: the file had none, and gets one.
 * unknown_refs: it refers to something that is not registered. */
bool fxt_doubt_record(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic, bool unknown_refs);
/* It turns out that what the record says is odd. */
void fxt_doubt_odd(struct fxt_doubt *d, const struct fxt_record *r);
/* The same after it was accepted: what it registers is doubtful if it is. */
void fxt_doubt_accepted(struct fxt_doubt *d, const struct fxt_record *r, bool doubtful);
/* [from, until) may be a block from elsewhere: lists it, and what it registered is doubtful; so is which providers it introduced,
 * and their rates, from `change` on. */
void fxt_doubt_block(struct fxt_doubt *d, uint64_t from, uint64_t change, uint64_t until);
/* The records at these offsets contradict each other: both are doubtful. */
void fxt_doubt_pair(struct fxt_doubt *d, uint64_t one, uint64_t other, const char *why);
/* What the provider registered is forgotten. */
void fxt_doubt_forget(struct fxt_doubt *d, struct fxt_provider *p);
/* The provider or section record at `at` ends the records of the current provider. */
void fxt_doubt_leave(struct fxt_doubt *d, uint64_t at);
/* [from, until), in front of the position, may be from elsewhere, and so may be the record that says whose the records behind are.
 */
void fxt_doubt_foreign(struct fxt_doubt *d, uint64_t from, uint64_t until);
/* Whether [from, until] is in a block from elsewhere, and what that changed is undone behind it. */
bool fxt_doubt_is_undone(const struct fxt_doubt *d, uint64_t from, uint64_t until);
/* The record at the position refers to a provider that nothing introduces. */
void fxt_doubt_provider(struct fxt_doubt *d, uint32_t missing);
/* At the end of the file: provider info records that may be those of such providers, damaged. */
void fxt_doubt_mistaken_providers(struct fxt_doubt *d);
/* Records that refer to missing registrations, and registrations that may be those, damaged. */
void fxt_doubt_missing(struct fxt_doubt *d);
/* The record that the walk is at refers to strings that are missing: one may be registered under another index. */
void fxt_doubt_mistaken(struct fxt_doubt *d, const struct fxt_record *r, bool unknown_refs);
/* At the end of the file. */
void fxt_doubt_finish(struct fxt_doubt *d, const struct fxt_report *report);

#endif
