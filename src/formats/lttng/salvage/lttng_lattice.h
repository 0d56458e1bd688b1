/* The best path from event to event through bytes in which some event types are not known.
 *
 * The bytes are a lattice: a node is a place where an event may start, an edge leads from an event to one that may follow it. Each
 * node and edge has a score in bits, as a log-likelihood ratio against chance. The best path is found as by Viterbi ("Error bounds
 * for convolutional codes", 1967), and how much worse each other edge is by a forward and a backward pass (Rabiner, "A tutorial on
 * hidden Markov models", 1989, III, with the maximum in place of the sum). Edges of events of unknown length go only to the nodes
 * that a beam keeps, and all work counts against a budget. */
#ifndef LTTNG_LATTICE_H
#define LTTNG_LATTICE_H

#include "formats/lttng/scan/lttng_walk.h"

/* Bytes of a block that are searched at a time. */
#define LATTICE_SPAN 2048u
#define LATTICE_WORDS (LATTICE_SPAN / 64 + 1)
/* Bytes of whose nodes a beam keeps the best: fewer than two events take. */
#define LATTICE_BEAM 16u
/* The most bytes between the header of an event of unknown type and the next event. */
#define LATTICE_GAP_MAX 255u
/* A path whose score is lower by so many bits is not an alternative. */
#define LATTICE_WORST 48

enum lttng_node_kind {
	NODE_NEW,
	NODE_DEAD,    /* no event can start here */
	NODE_KNOWN,   /* an event of a known type */
	NODE_UNKNOWN, /* an event of a type that is not known */
	NODE_CUT,     /* an event that reaches beyond the span */
	NODE_END,     /* of the data, or of the span */
};

/* A place where an event may start. */
struct lttng_node {
	int32_t forward, backward; /* score of the best path from the first event to here, and from here on */
	uint32_t header_end;	   /* node behind its header */
	uint32_t next, last;	   /* nodes that may follow: one, if the type is known */
	uint32_t word, id;
	int32_t score; /* of the node alone; edges add what the stamps say */
	uint8_t kind;  /* enum lttng_node_kind */
	bool has_full;
	bool reached;	/* by an edge; then `stamp` and `delta` are those of the best path to here */
	uint64_t size;	/* of the payload, if its header tells; else UINT64_MAX */
	uint64_t full;	/* full stamp */
	uint64_t stamp; /* extended from that of the event before */
	uint64_t delta; /* ticks since the event before */
};

/* The best of the nodes of LATTICE_BEAM bytes. */
struct lttng_beam {
	uint32_t node;
	int32_t score;
	bool any; /* there is one */
};

struct lttng_lattice {
	uint64_t first;		       /* rel of node 0, whose event is certain; node n is n bytes behind it */
	uint32_t count;		       /* the node that is the end */
	uint32_t step;		       /* between nodes; the end may be anywhere */
	int32_t stamp_mean, stamp_max; /* bits that a stamp gives: on average, and at most */
	uint64_t delta_min;	       /* ticks between stamps that are evidence */
	uint64_t latest;	       /* that a stamp may be */
	bool at_end;		       /* the end is that of the data */
	uint32_t span;		       /* bytes to search; up to LATTICE_SPAN */
	uint32_t budget;	       /* bytes that may still be decoded */
	uint32_t highest;	       /* id that is declared */
	uint32_t beyond;	       /* how far beyond it ids may be */
	bool known_only; /* a path ends before an event of unknown type; where its size is told, it may go on, and the edge scores 0
			  */
	uint64_t marked[LATTICE_WORDS]; /* a bit for each node that is not all zeros */
	uint32_t reach;			/* the last node that an event of unknown length may lead to */
	struct lttng_beam beams[(LATTICE_SPAN + 1) / LATTICE_BEAM + 1];
	struct lttng_node nodes[LATTICE_SPAN + 1];
};

static inline void lttng_lattice_spend(struct lttng_lattice *l, uint64_t cost)
{
	l->budget -= cost < l->budget ? (uint32_t)cost : l->budget;
}

/* Finds the best path from the event at w->at.rel, behind one of stamp w->at.stamp. False: there is none. The window is at the
 * walk's file. */
bool lttng_lattice_search(struct lttng_trace *t, const struct lttng_walk *w, struct lttng_lattice *l);
/* The node behind this one on the best path. */
uint32_t lttng_lattice_next(const struct lttng_lattice *l, uint32_t node);
/* For an event of unknown type on that path: penalties[n] is by how many bits, up to LATTICE_WORST, the score drops if the next
 * event, or the end of the data, is n bytes behind its header. */
void lttng_lattice_gaps(const struct lttng_lattice *l, uint32_t node, uint8_t penalties[LATTICE_GAP_MAX + 1]);

#endif
