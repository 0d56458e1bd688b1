/* What the files share that walk the events of a block: lttng_walk.c goes from event to event, lttng_fast.c passes over those that
 * are fine, lttng_judge.c speaks of the others, lttng_mend.c and lttng_resync.c say what becomes of them. */
#ifndef LTTNG_WALK_H
#define LTTNG_WALK_H

#include "formats/lttng/lttng.h"

/* lttng_fast.c: passes over plain events of types that are `ready`. */
void lttng_fast(struct lttng_trace *t, struct lttng_walk *k);
/* Events of that type are looked at no more in this file when they are plain. */
void lttng_fast_learn(struct lttng_trace *t, const struct lttng_file *f, struct lttng_marker *m, uint32_t id);

/* lttng_judge.c */
/* Reports something on bytes [from, to) of the block. NULL: an error that follows from what is wrong with the block. */
#define lttng_event_report(t, k, rule, ...) ((void)PLACE(rule), lttng_event_report_at((t), (k), (rule), __VA_ARGS__))
struct finding *lttng_event_report_at(struct lttng_trace *t, const struct lttng_walk *k, unsigned rule, uint64_t from, uint64_t to,
				      const char *format, ...) PRINTF_LIKE(6, 7);
/* The same about an event, whose name is in the path. */
#define lttng_event_named(t, k, e, rule, ...) ((void)PLACE(rule), lttng_event_named_at((t), (k), (e), (rule), __VA_ARGS__))
struct finding *lttng_event_named_at(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e, unsigned rule,
				     uint64_t from, uint64_t to, const char *format, ...) PRINTF_LIKE(7, 8);
/* The name of its type, for messages. */
const char *lttng_event_name(const struct lttng_event *e);
/* Notes and warnings on an event that stays; one of a kind a block. before: stamp of the event before. */
void lttng_event_judge(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, uint64_t before);
unsigned lttng_defect_rule(const struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e,
			   enum lttng_defect defect);
struct finding *lttng_defect_finding(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e,
				     enum lttng_defect defect);

/* lttng_walk.c */
/* The event stays, and the walk goes on behind it. */
void lttng_event_keep(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e);
/* The walk ends here. broken: what follows up to the limit is lost. */
void lttng_walk_stop(struct lttng_walk *k, struct finding *fd, unsigned rule, bool broken);

/* lttng_mend.c */
/* A defect of the event at k->rel in a block whose end is known. False: the walk is over. */
bool lttng_mend(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e, enum lttng_defect defect);
/* Something was left out or changed up to k->rel, for this. */
void lttng_note_mended(struct lttng_trace *t, struct lttng_walk *k, struct finding *fd);
/* Leaves out the event between the last kept one and `end`, if what follows stays aligned and in time. */
bool lttng_drop_event(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, uint64_t end, unsigned rule);
/* Back to the end of the last event that stays: changes behind it are no changes of what stays. */
void lttng_trim_edits(const struct lttng_trace *t, struct lttng_walk *k);
/* The widest alignment of anything in the trace; what is moved moves by multiples of it. */
uint64_t lttng_widest_align(const struct lttng_trace *t);
/* Room for a change; NULL when there were too many. */
struct lttng_edit *lttng_edit_add(struct lttng_trace *t, struct lttng_walk *k);

/* lttng_resync.c */
/* Looks for the place at or behind `from` where events go on again, and leaves out all before it. False: there is none. */
bool lttng_resync(struct lttng_trace *t, struct lttng_walk *k, uint64_t from, unsigned rule);

#endif
