/* The walk over the events of a block: lttng_walk.c goes from event to event, lttng_fast.c passes over those that are fine,
 * lttng_judge.c reports on the others, repair/lttng_mend.c and salvage/lttng_resync.c say what becomes of them. */
#ifndef LTTNG_WALK_H
#define LTTNG_WALK_H

#include "formats/lttng/scan/lttng_edits.h"
#include "formats/lttng/scan/lttng_trace.h"

/* Where the walk is; all offsets are rel. */
struct lttng_position {
	uint64_t rel;	 /* how far it came; in the end, the end of the last event that counts */
	uint64_t last;	 /* start of the last event that stays */
	uint64_t kept;	 /* end of it */
	uint64_t stamp;	 /* of it */
	uint64_t before; /* stamp of the event before it */
	uint64_t timely; /* of the last event whose stamp is within the block's, where `stamp` is not */
	uint64_t first_stamp;
	uint64_t events; /* that count */
};

/* What became of the events. */
struct lttng_outcome {
	uint64_t patched, dropped;
	uint64_t
		unusual; /* start of the first kept event that is legal, but unusual, so that damage may have reached it; 0: none */
	bool broken;	 /* the walk stopped before the limit; what lies behind it is lost */
	bool cut_known;	 /* the number of events lost is known */
	bool end_moved;	 /* the end of data was wrong and is `rel` */
	uint64_t crossed; /* rel of the event in which it was; 0: in none */
	bool torn;	  /* what stands behind the last event is damaged, and may be its own end */
	bool stopped;	  /* the end of the data is not known because of damage, and what is not an event ended the walk */
	bool resynced;	  /* some of it was passed over, it cannot be known how many events */
	unsigned rule;	  /* for what it stopped */
	struct finding *finding;
};

/* What was reported already: further errors follow from it. */
struct lttng_causes {
	struct finding *block;	/* what is wrong with the block as a whole: errors of its events follow from it */
	struct finding *header; /* what is wrong with the header */
	struct finding *mended; /* the last event that was left out or patched ended at mended_to */
	uint64_t mended_to;
	bool cut;      /* the block is known to be cut off: no finding for its last event */
	bool noted[4]; /* kinds of notes that this block has given already */
};

/* Full stamps that are remembered. */
#define LTTNG_ANCHORS 64u

/* The full stamps that the times of events are counted from; from 2.0 on, wraps of the clock that none announces. */
struct lttng_walk_laps {
	struct {
		uint64_t rel, stamp; /* of the event */
	} anchors[LTTNG_ANCHORS];    /* the last ones, rising; kept for repair only */
	unsigned anchored;
	uint64_t first, first_end, first_stamp; /* of the first one in the block: rel; 0: there is none yet */
	bool forgot;				/* there were more */
	/* Owner: salvage/lttng_laps.c */
	unsigned wraps;	  /* without a full stamp between them, each close behind the one before, */
	uint64_t wrapped; /* and at.events right behind the last */
	uint64_t wrap;	  /* rel of the last one */
	bool doubtful;	  /* there was one since the last full stamp */
	bool skewed;	  /* to 1.0: the last heartbeat carries a stamp that does not fit its own. Owner: scan/lttng_keep.c */
	bool blind;	  /* at.before is not the stamp of the event before the last one */
	bool guessed;	  /* the last event is of a type whose declaration was guessed: it may be none; */
	unsigned rare;	  /* or one of the last ones was, and so many more may be misread; */
	uint64_t sure;	  /* stamp of the last event before these, */
	uint64_t unsure;  /* and rel of the first one behind it */
	bool misled;	  /* by its stamp the clock wraps at this event */
	struct {
		unsigned wraps;
		uint64_t wrapped;
		bool doubtful;
	} was; /* before the last event */
};

struct lttng_walk {
	struct lttng_stream in;
	struct lttng_file *file;
	struct lttng_edits *edits; /* borrowed; NULL: the walk changes nothing */
	uint64_t number;	   /* of the block, for messages */
	uint64_t limit;		   /* rel: where events must end */
	uint64_t room;		   /* rel: end of the bytes that there are */
	uint64_t begin, end;	   /* stamps of the block; end UINT64_MAX: not known */
	uint64_t floor;		   /* begin, or the end of the block before, if that is earlier; earlier events are doubtful */
	uint64_t due;		   /* end, or where that is wrong, when the next block begins; later events are doubtful */
	bool headless;		   /* its header is lost, */
	bool endless;		   /* or what it says of the end of the data */
	struct lttng_repeat repeat;
	bool repeated;	   /* it was left out */
	bool unsettled;	   /* laps of the clock may have been lost where the walk resynchronised: no full stamp since */
	uint64_t untimely; /* rel of the last event that stays, if its stamp was not within the times of the block; else 0 */
	uint64_t strayed;  /* repair: rel of a full stamp that is far lower than those before it, not far behind; 0: none */
	/* What was doubtful before the event at `rel`, which stays: */
	struct {
		uint64_t rel;
		size_t guesses;
		struct lttng_guess last;
		uint64_t untimely;
	} was;
	struct lttng_walk_laps laps;
	bool open;	/* the end is not known: stop at what is not an event, and report nothing. Then: */
	bool padded;	/* the end is not known, and zeros up to the room are the padding */
	uint64_t bound; /* the latest stamp that an event can have */
	uint64_t stale; /* rel: from here on the bytes are those of an earlier lap; UINT64_MAX: not known */
	struct lttng_position at;
	uint64_t fast; /* of at.events, those that lttng_fast() took */
	struct lttng_outcome out;
	struct lttng_causes causes;
	struct {
		uint64_t budget; /* bytes that searches may still decode */
		uint64_t limit;	 /* rel: where chains of events end; w->limit, or, if that is not known, where the padding may begin
				  */
		bool begun;
		bool coarse; /* the lowest byte of stamps may be that of those before them */
	} search;
};

/* lttng_walk.c */
void lttng_walk_events(struct lttng_trace *t, struct lttng_walk *w);

/* lttng_keep.c: the steps of a walk. */
/* Ticks that an event without a full stamp can tell apart, less one. */
uint64_t lttng_lap(const struct lttng_coding *c);
/* Sets the walk to the first event of its block. */
void lttng_walk_begin(struct lttng_walk *w);
/* Behind damage that may have reached the event at `rel`, after one of that stamp: whether its own stamp is what makes the next one
 * a lap later. *end: of the event; 0: it does not decode within `limit`. */
bool lttng_event_lapses(const struct lttng_walk *w, uint64_t rel, uint64_t limit, uint64_t stamp, uint64_t *end);
/* The same of the event e, which is damaged and is not kept yet, and the one behind it; *next_end: of that one. */
bool lttng_damage_lapses(const struct lttng_walk *w, const struct lttng_event *e, uint64_t *next_end);
/* The event stays, and the walk goes on behind it. */
void lttng_event_keep(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e);
/* The walk ends here. broken: what follows up to the limit is lost. */
void lttng_walk_stop(struct lttng_walk *w, struct finding *fd, unsigned rule, bool broken);
/* Back to the end of the last event that stays: edits behind it are taken back. */
void lttng_walk_trim(struct lttng_walk *w);
/* rel of the last byte of the event that ends at rel, or of the padding behind it; rel: there is none before it. */
uint64_t lttng_walk_before(const struct lttng_walk *w, uint64_t rel);
/* rel: from there to w->at.kept is an event, or the end of one, that damage behind it may have reached; w->at.kept: there is none.
 */
uint64_t lttng_walk_torn(const struct lttng_walk *w);
/* Something was left out or changed up to w->at.rel, for this. */
void lttng_walk_mended(struct lttng_trace *t, struct lttng_walk *w, struct finding *fd);

/* lttng_give.c: gives an event to the sink of the scan. */
void lttng_event_give(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);

/* lttng_fast.c: passes over plain events of types that are `ready`. */
void lttng_fast(struct lttng_trace *t, struct lttng_walk *w);
/* From now on the fast path takes plain events of that type in this file. */
void lttng_fast_learn(struct lttng_trace *t, const struct lttng_file *f, struct lttng_marker *m);
void lttng_fast_free(struct lttng_fast *fast);
/* Why it cannot hide a rule: enum fast_reason, by rule. */
extern const uint8_t lttng_fast_contract[LTTNG_RULE_COUNT];

/* lttng_judge.c */
/* Reports something on bytes [from, to) of the block. NULL: an error that follows from what is wrong with the block. */
#define lttng_event_report(t, w, rule, ...) ((void)PLACE(rule), lttng_event_report_at((t), (w), (rule), __VA_ARGS__))
struct finding *lttng_event_report_at(struct lttng_trace *t, const struct lttng_walk *w, unsigned rule, uint64_t from, uint64_t to,
				      const char *format, ...) PRINTF_LIKE(6, 7);
/* The same about an event, whose name is in the path. */
#define lttng_event_named(t, w, e, rule, ...) ((void)PLACE(rule), lttng_event_named_at((t), (w), (e), (rule), __VA_ARGS__))
struct finding *lttng_event_named_at(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e, unsigned rule,
				     uint64_t from, uint64_t to, const char *format, ...) PRINTF_LIKE(7, 8);
/* The name of its type, for messages. */
const char *lttng_event_name(const struct lttng_event *e);
/* Notes and warnings on an event that stays; one of a kind a block. before: stamp of the event before. */
void lttng_event_judge(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before);
unsigned lttng_defect_rule(const struct lttng_walk *w, const struct lttng_event *e, enum lttng_defect defect);
struct finding *lttng_defect_finding(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e,
				     enum lttng_defect defect);

#endif
