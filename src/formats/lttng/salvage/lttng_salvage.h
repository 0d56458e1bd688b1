/* What is found out where bytes are lost. */
#ifndef LTTNG_SALVAGE_H
#define LTTNG_SALVAGE_H

#include "formats/lttng/scan/lttng_frame.h"
#include "formats/lttng/scan/lttng_walk.h"

/* lttng_vote.c: what the headers of the trace agree on, by majority: t->coding.layout, its byte order, t->constants. */
void lttng_vote(struct lttng_trace *t);
/* Whether a version of that era looks for declarations where the file is. */
bool lttng_metadata_in_place(const struct lttng_trace *t, const struct lttng_file *f, enum lttng_era era);
/* Whether the headers of a file are those of the trace. */
bool lttng_file_votes(const struct lttng_trace *t, const struct lttng_file *f);
/* Whether a value is one that the field can have: breaks ties. */
bool lttng_value_plausible(enum lttng_field field, uint64_t v, bool nanoseconds);
/* Whether all constants of a header can be. first: of the first block of a file; in later ones a vendor's 0.8 counts losses in two
 * of them. */
bool lttng_header_plausible(const struct lttng_layout *l, const struct lttng_header *h, bool first);

/* lttng_census.c: what the declarations of the trace agree on, before anything is judged. */
/* The sizes that most declarations give: t->coding.sizes, t->declared.sizes_known. */
void lttng_census(struct lttng_trace *t);
/* How the first metadata block of a file, the one of all files that fits best, reads by the layout: its events end where the data
 * does, and (not loosely) all are declarations of the size that they state. */
enum lttng_fit { LTTNG_FITS_NOT, LTTNG_FITS_LOOSELY, LTTNG_FITS };
enum lttng_fit lttng_census_fit(struct lttng_trace *t);
/* Whether the sizes can be those of the machine that the headers tell of. */
bool lttng_sizes_plausible(const struct lttng_trace *t, const struct lttng_sizes *s);

/* lttng_cut_text.c */
/* Whether what stands behind a declaration of a format is the rest of its text. */
bool lttng_text_is_cut(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);

/* lttng_resync.c */
/* Resynchronises: searches the next event at or behind `from`, and leaves out all before it. False: there is none. */
bool lttng_resync(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, unsigned rule);
/* Whether events follow where an event of an unknown type ends by the size in its header. Bytes that are not an event have a size
 * of up to 64 KB there, and nearly any few bytes decode as one event. */
bool lttng_size_leads_on(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e);

/* lttng_laps.c: wraps of the clock without a full stamp, from 2.0 on. */
/* Whether the stamp of an event is a wrap behind `before` that no full stamp announces, where that is known to be none of the
 * clock. */
bool lttng_laps_back(const struct lttng_trace *t, uint64_t before, const struct lttng_event *e);
/* Whether the tracer announces wraps: found out the first time, which moves the window. */
bool lttng_laps_announced(struct lttng_trace *t);
/* Whether the lowest byte of a stamp is that of the one before, so many ticks ago: seldom so in a clock, and mostly in numbers. */
bool lttng_laps_alike(uint64_t ticks);
/* Whether the stamps from an event on are numbers of payloads. What is read between the correct events, at a constant distance from
 * them, has stamps that rise as well, but their lowest byte is a higher one of some number, and repeats. */
bool lttng_laps_are_numbers(const struct lttng_walk *w, const struct lttng_event *e);
/* Whether one was so close before that the next one counts with it: then the walk must see each event. */
bool lttng_laps_pending(const struct lttng_walk *w);
/* Whether the clock wraps again and again from that event on: it is not one. */
bool lttng_laps_wild(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);
/* Whether the stamp of the last event that was kept is not between those of its neighbours, of which this is the next: without it
 * the clock does not wrap. */
bool lttng_laps_stray(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);
/* Whether the event may follow what the walk keeps, by these counts. */
bool lttng_laps_allow(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);
/* Counts an event that stays, before it is kept. True: from the event before it on, times are doubtful up to the next full stamp.
 */
bool lttng_laps_keep(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e);
/* rel of the event in front of which times are right, if a wrap behind the event at `to` shows that they are not there: the clock
 * leaps behind it, since a text that was hit may end early, and the next events are misread, or since they are those of another
 * place. `to`: it does not leap. Linear in what lies between them and the last full stamp. */
uint64_t lttng_laps_leap(const struct lttng_walk *w, uint64_t to);
/* The last event that was kept is not kept. */
void lttng_laps_take_back(struct lttng_walk *w);
/* Remembers the full stamp of an event that is kept. */
void lttng_laps_anchor(struct lttng_walk *w, const struct lttng_event *e);
/* rel of the event from which on times may be wrong where that of e cannot be: times are counted from the full stamp before it; if
 * that one is higher than e's own, it may be the wrong one. Forgets full stamps that are higher. */
uint64_t lttng_laps_from(struct lttng_walk *w, const struct lttng_event *e);
/* Where the clock wraps at e, out of the times of the block: rel from which on the events in front may be those of another place,
 * as they are later than e is in some lap. UINT64_MAX: there are none, not far in front. Linear in these. */
uint64_t lttng_laps_ahead(const struct lttng_walk *w, const struct lttng_event *e);

/* lttng_resync.c: leaves out the last event that was kept, too. */
void lttng_take_back(struct lttng_trace *t, struct lttng_walk *w);

/* lttng_misread.c: events that the walk took before it met damage, and that may be misread. */
struct lttng_leap {
	uint64_t from;	 /* rel of the event behind it */
	uint64_t before; /* the stamp in front of it */
	uint64_t ticks;	 /* 0: there is none */
	uint64_t event;	 /* its number */
};
struct lttng_misread {
	uint64_t rel, stamp;	/* where it is, and the stamp there */
	uint64_t events, leaps; /* so far */
	int64_t score;
	uint64_t from;		/* rel: of the events that raised the score */
	struct lttng_leap leap; /* the last one */
	struct lttng_leap seam; /* the one to the first event behind a change, which may have been where another place begins */
};
void lttng_misread_open(struct lttng_misread *m, const struct lttng_walk *w);
/* rel from which on the events up to `to`, where there is damage, may be misread; `to`: none is. Goes on at `next`, behind the
 * damage. Linear in what lies between. */
uint64_t lttng_misread_from(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_misread *m, uint64_t to,
			    uint64_t next);

/* The last leap of the clock since the last full stamp or change, or the one at that change (seam), if what is behind it may be
 * events of another place; `before` counts as w->at.stamp does. Linear in what lies between. */
bool lttng_misread_leap(const struct lttng_trace *t, const struct lttng_walk *w, bool seam, struct lttng_leap *leap);

/* lttng_parts.c: parts of another place within a block. */
#define LTTNG_SECTOR 512u
/* Ends of parts that are remembered: as many as a page can have; and of a file: those behind them are not compared. */
#define LTTNG_PART_ENDS (LTTNG_PAGE / LTTNG_SECTOR + 1u)
#define LTTNG_PART_ENDS_ALL 4096u
struct lttng_part_end {
	uint64_t at;		/* of the file: a multiple of a sector; 0: none */
	uint64_t from, to;	/* of the file: the event before it, and the first full stamp behind it, or the end of the data */
	uint32_t before, after; /* low bits of the stamps on both sides */
	bool damage;
};
struct lttng_part_list {
	struct lttng_part_end ends[LTTNG_PART_ENDS_ALL];
	size_t count;
	uint64_t first; /* of the file: the first block that is damaged */
};
struct lttng_parts {
	uint64_t rel, stamp; /* where it is, and the stamp there */
	uint64_t limit;	     /* rel: end of the data */
	uint64_t last;	     /* rel of the event before */
	uint64_t from;	     /* rel of the first part since the last full stamp; 0: none */
	size_t edit;	     /* the next one */
	size_t timed;	     /* ends of the list whose `to` is known */
	bool damaged;	     /* something was left out behind the event before, */
	uint64_t hole;	     /* from here on */
	bool ended;
	struct lttng_part_end ends[LTTNG_PART_ENDS];
};
/* The next block of a file. */
void lttng_parts_open(const struct lttng_trace *t, struct lttng_parts *p, const struct lttng_walk *w, uint64_t data_end);
/* The next events that may be such a part, or have wrong times because of one, up to a full stamp. False: there are none. Linear in
 * the block, over all calls. */
bool lttng_parts_next(const struct lttng_trace *t, const struct lttng_walk *w, struct lttng_parts *p, uint64_t *from, uint64_t *to);
/* Goes through the blocks in front of the first damaged one. */
void lttng_parts_front(struct lttng_trace *t, struct lttng_file *f);
/* Of a file in which something is damaged: parts without damage, by their stamps from the place where other ends are. From the i-th
 * end on; offsets of the file. */
bool lttng_parts_moved(struct lttng_part_list *all, size_t *i, uint64_t *from, uint64_t *to);

/* lttng_repeat.c: bytes that are there twice. */
/* The first bytes of [from, to) of the file that come again `distance` bytes behind, and are as many. False: there are none, or
 * t->status. Offsets of *found count from `from`. */
bool lttng_repeat_find(struct lttng_trace *t, struct lttng_file *f, uint64_t from, uint64_t to, uint64_t distance,
		       struct lttng_repeat *found);
/* Whether the bytes at `at` are those right before it once more. */
bool lttng_repeat_before(struct lttng_trace *t, struct lttng_file *f, uint64_t at, uint64_t length);
/* Whether the header at `at` is in such bytes. */
bool lttng_repeat_header(struct lttng_trace *t, struct lttng_file *f, uint64_t at, uint64_t distance);
/* Leaves out one of the two where the walk is at an event that both of them have. */
void lttng_repeat_skip(struct lttng_walk *w);

/* lttng_stale.c: events of an earlier lap in blocks without an end. */
/* rel of the first byte of the block's tail that an earlier block of the file has at the same place; UINT64_MAX: none. */
uint64_t lttng_stale_tail(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame, uint64_t size);
/* Remembers the events of earlier blocks; then tells whether an event is one of them. */
void lttng_seen_gather(struct lttng_trace *t, struct lttng_file *f);
bool lttng_seen_test(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);
void lttng_seen_add(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e);
void lttng_seen_free(struct lttng_trace *t);
/* The latest stamp that the trace can hold, by the ends of its closed blocks; UINT64_MAX: not known. */
uint64_t lttng_latest(struct lttng_trace *t);

/* lttng_infer.c: between the declarations and the events. Where declarations are lost, finds out how long the events of their types
 * are, and has repair declare them again. False: of none, or t->status. */
bool lttng_infer(struct lttng_trace *t);
/* lttng_orphans.c: numbers without a description, where there are descriptions without a number. */
/* Whether something describes a type that has no number. */
bool lttng_orphans_any(const struct lttng_trace *t);
/* They are doubtful, if there are both. */
void lttng_orphans_doubt(const struct lttng_trace *t);
struct lttng_restored;
/* Whether the number of one type is not the one behind that of the type before, as all others are: one number is missing then. */
bool lttng_orphans_gap(const struct lttng_table *table, uint32_t *missing, uint32_t *moved);
/* Describes the missing type of a channel as the one that has the number `moved`: its number is damaged. False: it cannot be, or
 * t->status. */
bool lttng_orphans_renumber(struct lttng_trace *t, struct lttng_channel *c, uint32_t missing, uint32_t moved,
			    struct lttng_restored *is);
/* Describes the types of numbers and descriptions that belong together; their events are doubtful. How many there are. */
unsigned lttng_orphans_join(struct lttng_trace *t, struct lttng_restored *types, unsigned room);
/* lttng_probe.c: whether events show that declarations are missing, of which nothing in the files of declarations tells. */
bool lttng_probe(struct lttng_trace *t);
/* lttng_told.c: the same for 1.0, whose events tell their sizes. home: where repair declares them. */
bool lttng_told(struct lttng_trace *t, struct lttng_file *home);

#endif
