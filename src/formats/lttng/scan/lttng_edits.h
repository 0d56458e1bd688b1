/* Changes within a block: core's edits, and beside each what it says of the events around it. */
#ifndef LTTNG_EDITS_H
#define LTTNG_EDITS_H

#include "core/edits.h"
#include "formats/lttng/lttng.h"

/* What an edit says of its neighbours: they are doubtful. Offsets are rel. */
struct lttng_doubt {
	uint64_t torn_from, torn_to; /* the event before it, which the damage may have reached; equal: there is none */
	uint64_t found_to;	     /* end of the first event behind it, which the damage may have reached; 0: none */
	bool found_again;	     /* what follows was searched for, and may be off in time */
	bool late;		     /* an event before it that stays brings what follows a lap too late */
	uint64_t settled;	     /* behind it, where a full stamp makes times sure again; 0: none */
	bool sure;		     /* that stamp shows that no lap of the clock was lost before */
	uint64_t stamp;		     /* of the last event that stays before the edit; 0: not known */
};

/* Events that are doubtful. */
struct lttng_guess {
	uint64_t from, to; /* rel */
	const char *why;   /* static */
};

struct lttng_edits {
	struct edits edits; /* of the block in work, in the order of the block */
	struct lttng_doubt doubts[LTTNG_EDITS_MAX];
	struct lttng_guess *guesses; /* owned; in the order of the block */
	size_t guess_count, guess_capacity;
	bool unsearched; /* lttng_channel.unsearched, of the block's channel */
};

/* Why bytes are left out for the rule: its title, or that lost types were not searched to the end. Static. */
const char *lttng_loss_why(unsigned rule, bool unsearched);

/* The event is doubtful if it stays. align: of events; 0: none. TM_NO_MEMORY, TM_LIMIT: it is not in the list. */
enum tracemend_status lttng_edits_guess(struct lttng_edits *e, uint64_t from, uint64_t to, uint64_t align, const char *why);

/* The last of them, if there is one; and the first `count` again, of which that one was the last. */
struct lttng_guess lttng_edits_guessed(const struct lttng_edits *e);
void lttng_edits_unguess(struct lttng_edits *e, size_t count, struct lttng_guess last);

/* Replaces [rel, rel + drop) by `length` bytes; 0: leaves it out. The edit stands behind all others. False: there are too many, or
 * no memory (then e->edits.failed). doubt may be NULL. */
bool lttng_edits_add(struct lttng_edits *e, uint64_t rel, uint64_t drop, const void *bytes, size_t length, unsigned rule,
		     const struct lttng_doubt *doubt);
/* Takes back all edits but the first `count`. */
void lttng_edits_cut(struct lttng_edits *e, size_t count);
/* Takes back those at or behind `rel`. */
void lttng_edits_trim(struct lttng_edits *e, uint64_t rel);
/* Bytes that [0, size) has after the edits. */
uint64_t lttng_edits_size(const struct lttng_edits *e, uint64_t size);

#endif
