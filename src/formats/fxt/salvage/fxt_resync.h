/* Resynchronising: finding the next sound record after one that is not, and evidence from the records that follow one. */
#ifndef FXT_RESYNC_H
#define FXT_RESYNC_H

#include "core/window.h"
#include "formats/fxt/decode/fxt_decode.h"
#include "formats/fxt/scan/fxt_table.h"

/* Bytes that a search may examine, for each byte that is passed. */
#define FXT_BUDGET_FACTOR 16u

/* Where the walk can be taken up again after a broken record; at is the size of the file when nowhere. */
struct fxt_resume {
	uint64_t at;
	bool shifted;	  /* off the grid */
	bool exactly_one; /* just the one broken record lies in between */
};

struct fxt_resync {
	struct window window;		    /* for reading at other offsets than the walk; its status is sticky */
	const struct window *walk;	    /* the walk's, which is never moved from here */
	const struct fxt_decoder *decoder;  /* the walk's */
	uint64_t size;			    /* of the file */
	uint64_t far_reads;		    /* far looks ahead so far */
	uint64_t looks;			    /* fxt_resync_provider() so far */
	uint64_t inner_budget, inner_until; /* bytes that may be examined inside records; where it was last topped up */
	uint64_t lost_budget;		    /* the same inside regions of damage */
	uint64_t single_budget;		    /* and for single records in them */
	struct fxt_search {
		uint64_t from;
		struct fxt_resume resume;
	} found;		 /* the last search, behind `from` */
	struct fxt_record other; /* what was decoded last */
};

void fxt_resync_open(struct fxt_resync *y, struct source *source, const struct window *walk, const struct fxt_decoder *decoder);
void fxt_resync_close(struct fxt_resync *y);
/* Where to go on behind `bad`. r: what was decoded there. */
struct fxt_resume fxt_resync(struct fxt_resync *y, uint64_t bad, const struct fxt_record *r);
/* Where in [from, until) several records in a row begin; until where there are none. */
uint64_t fxt_inner_records(struct fxt_resync *y, uint64_t from, uint64_t until);
/* Where, inside the record at `from`, other records begin, if its content cannot be checked (a payload, an unassigned type, words
 * too many) or is faulty: several in a row; in a sound payload only where they go on across its end, and no record follows it. The
 * end of the record where there are none. */
uint64_t fxt_hidden_records(struct fxt_resync *y, const struct fxt_record *r, uint64_t from);
/* True at the end of the file, and where two strict records follow. */
bool fxt_next_is_sound(struct fxt_resync *y, uint64_t at);
/* True when the file begins with records, although not with a magic number: two strict ones, or one and the end,
 * perhaps after others without an error. */
bool fxt_begins_sound(struct fxt_resync *y);
/* True where two records follow that are exact in size (and, unless `faults`, have no error), at the end of the file, and
 * before a hole or a cut, which are no evidence against the record before them. distance: how far ahead of the walk this is.
 * What repair leaves in place of bytes that it drops always fits, so that check comes to the same result in its output. */
bool fxt_next_fits(struct fxt_resync *y, uint64_t at, uint64_t distance, bool faults);
/* Whether the words behind the content of a record are sound records themselves: one that is longer than a word, or
 * all there is. *first is where they begin. Depends on nothing outside the record. */
bool fxt_swallows(struct fxt_resync *y, uint64_t at, const struct fxt_record *r, uint64_t *first);
/* Whether, read with one other bit in its type, the record is exact and refers to nothing but what the provider registered; one
 * that has no fault but unknown references must then refer to more, and fit in time, and what it lacks is not registered by the
 * record behind it. What it is then is in y->other. */
bool fxt_type_damaged(struct fxt_resync *y, const struct fxt_provider *p, uint64_t at, const struct fxt_record *r);
/* Decodes the record at `at`, strictly, into y->other. False where nothing decodes. */
bool fxt_decode_other(struct fxt_resync *y, uint64_t at);
/* Where in [at, until), on the grid of `at`, several strict records in a row begin; until: nowhere. */
uint64_t fxt_next_row(struct fxt_resync *y, uint64_t at, uint64_t until);
/* Whether the records from `at` on refer to nothing but what `other` registered, or they themselves, or what `current` registered
 * from `since` on, while most of them refer to something that `current` lacks, and that is more than the registrations that damage
 * had room for. sure: all of them do. Looks at a few records. */
bool fxt_resync_provider(struct fxt_resync *y, uint64_t at, uint64_t since, const struct fxt_provider *current,
			 const struct fxt_provider *other, bool sure, uint64_t room);
/* Whether an argument may decode as this record, since both have type and size in the low 16 bits of their headers: a pointer
 * as a kernel object, a koid as a context switch, a 64-bit number as an event without a name, null as a provider section, the
 * number 0 as an empty string, a blob as a profiler record. */
bool fxt_may_be_argument(const struct fxt_record *r);

#endif
