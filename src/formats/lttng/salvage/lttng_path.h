/* lttng_path.c: the likeliest way from event to event where some types are not known. */
#ifndef LTTNG_PATH_H
#define LTTNG_PATH_H

#include "formats/lttng/scan/lttng_walk.h"

/* Bytes of a block that are looked at in one go. */
#define PATH_SPAN 2048u
#define PATH_WORDS (PATH_SPAN / 64 + 1)
/* Bytes of whose spots the best counts: fewer than two events take. */
#define PATH_ROW 16u
/* The most bytes behind a header of unknown type, up to the next event. */
#define PATH_GAP_MAX 255u
/* Bits by which a way may be behind the best and still be thought of. */
#define PATH_WORST 48

enum lttng_spot_kind { SPOT_NEW, SPOT_DEAD, SPOT_KNOWN, SPOT_UNKNOWN, SPOT_CUT, SPOT_END };

/* What may be at a place. */
struct lttng_spot {
	int32_t alpha, beta; /* bits of the best way from the first event to here, and from here on */
	uint32_t header_end; /* spot behind its header */
	uint32_t next, last; /* spots that may be behind the event: one, if its type is known */
	uint32_t word, id;
	int32_t worth;		     /* bits for coming here, but for how close the stamp is */
	uint8_t kind;		     /* enum lttng_spot_kind */
	bool has_full, open;	     /* open: a way leads here */
	uint64_t size;		     /* of the payload, if its header tells; else UINT64_MAX */
	uint64_t full, stamp, apart; /* apart: from the stamp before */
};

/* The best of a few spots, and how good it is. */
struct lttng_row {
	uint32_t spot;
	int32_t value;
	bool any; /* there is one */
};

struct lttng_path {
	uint64_t first;	     /* rel of the first spot, whose event is sure; the others are so many bytes behind it */
	uint32_t count;	     /* the spot that is the end */
	uint32_t step;	     /* between spots; the end may be anywhere */
	int32_t usual, most; /* bits that stamps say: on average, and at most */
	uint64_t least;	     /* between stamps that say something */
	uint64_t latest;     /* that a stamp may be */
	bool ends;	     /* the end is that of the data */
	uint32_t span;	     /* bytes to be looked at; up to PATH_SPAN */
	uint32_t budget;     /* bytes that may still be looked at */
	uint32_t highest;    /* id that is declared */
	uint32_t beyond;     /* how far beyond it ids may be */
	bool known_only; /* a way ends before an event of unknown type; where its size is told, it may go on, and the step is worth
			    nothing */
	uint64_t touched[PATH_WORDS]; /* a bit for each spot that is not all zeros */
	uint32_t reach;		      /* the last spot behind an event of any length */
	struct lttng_row rows[(PATH_SPAN + 1) / PATH_ROW + 1];
	struct lttng_spot spots[PATH_SPAN + 1];
};

static inline void lttng_path_spend(struct lttng_path *p, uint64_t cost)
{
	p->budget -= cost < p->budget ? (uint32_t)cost : p->budget;
}

/* Finds the way from the event at w->at.rel, behind one of stamp w->at.stamp. False: there is none. The window is at the walk's
 * file. */
bool lttng_path_find(struct lttng_trace *t, const struct lttng_walk *w, struct lttng_path *path);
/* The spot behind this one on the best way. */
uint32_t lttng_path_next(const struct lttng_path *path, uint32_t spot);
/* For an event of unknown type on that way: by how many bits, up to PATH_WORST, the way gets worse if the next event, or the end of
 * the data, is so many bytes behind its header. */
void lttng_path_gaps(const struct lttng_path *path, uint32_t spot, uint8_t worse[PATH_GAP_MAX + 1]);

#endif
