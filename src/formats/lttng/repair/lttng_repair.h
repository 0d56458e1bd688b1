/* What the output is. Decisions are made by the walk; what writes the plan is here. */
#ifndef LTTNG_REPAIR_H
#define LTTNG_REPAIR_H

#include "formats/lttng/scan/lttng_block.h"

/* lttng_output.c: whole files. */
/* Makes the file in the output; its name, unless "flight-" comes off. */
unsigned lttng_repair_output(struct lttng_trace *t, const struct lttng_file *f);
/* A file of eventdefs that is copied from a donor, as the description of facility `name`. */
void lttng_repair_description(struct lttng_trace *t, const char *name, struct source *s);
/* Makes the directory eventdefs, for which readers ask. */
void lttng_repair_eventdefs(struct lttng_trace *t);
/* Everything that is not walked: copied, set aside or dropped. */
void lttng_repair_rest(struct lttng_trace *t);
/* Drops files that are not part of this capture. */
void lttng_repair_extras(struct scan *s);

/* lttng_repair.c: what becomes of a block in the output. */
void lttng_repair_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *w);
/* Behind the last block of a file. */
void lttng_repair_file_end(struct lttng_trace *t, struct lttng_file *f);
/* Appends a block of `data` bytes, from its header on, with events up to `end`; the header is filled in after that of the block
 * before. */
void lttng_repair_new_block(struct lttng_trace *t, struct lttng_file *f, uint8_t *block, size_t data, uint64_t end, unsigned rule);

/* lttng_mend.c */
/* A defect of the event at w->at.rel in a block whose end is known. False: the walk is over. */
bool lttng_mend(struct lttng_trace *t, struct lttng_walk *w, struct lttng_event *e, enum lttng_defect defect);
/* The event at w->at.rel, and what follows, are not events: the clock wraps again and again. False: the walk is over. */
bool lttng_mend_wild(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e);
/* The stamp of the last event that was kept is not between those of its neighbours: it is left out, and the walk goes on at the
 * event at w->at.rel. False: the walk is over. */
bool lttng_mend_stray(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e);
/* Leaves out the event between the last kept one and `end`, if what follows stays aligned and in time. hit: it is damaged itself,
 * and that may reach into its neighbours. */
bool lttng_drop_event(struct lttng_walk *w, const struct lttng_event *e, uint64_t end, unsigned rule, bool hit);

/* lttng_several.c */
/* Whether the files are those of two recordings, which the error of the bundle names then: t->status. */
bool lttng_repair_refuses(struct lttng_trace *t);

/* lttng_redeclare.c */
/* A type whose declaration was lost and whose format was found out. */
struct lttng_restored {
	struct lttng_channel *channel;
	struct lttng_marker *marker;
	const char *format; /* borrowed; NULL: not yet */
	bool named;	    /* only its description was lost */
};
/* Bytes of a format, and of the names of a channel and a type: with no more, any declaration fits the smallest block. */
#define LTTNG_RESTORED_FORMAT 1024u
#define LTTNG_RESTORED_NAMES 512u
/* Describes a type by a format that was found out, and gives it a name where it has none. The format must parse. Returns the
 * table's copy of it; NULL when memory is short. */
const char *lttng_restore(struct lttng_trace *t, const struct lttng_channel *c, struct lttng_marker *m, const char *format);
/* The metadata file that can take them, or one to be made where none has data; NULL: there is none, or t->status. */
struct lttng_file *lttng_declaring_file(struct lttng_trace *t);
/* Appends their declarations to the output of that file. */
void lttng_redeclare(struct lttng_trace *t, struct lttng_file *f, const struct lttng_restored *types, size_t count);

#endif
