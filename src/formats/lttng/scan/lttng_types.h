/* Declarations of a trace: its channels, and the event types of each. */
#ifndef LTTNG_TYPES_H
#define LTTNG_TYPES_H

#include "core/finding.h"
#include "formats/lttng/decode/lttng_declaration.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct lttng_trace;

/* An event type, and what the scan knows of it. */
struct lttng_marker {
	struct lttng_type type;	   /* first: lttng_marker_of() */
	uint64_t first_use;	   /* stamp of the declaration; 0 unknown */
	const struct source *home; /* of the declaration; NULL: not known */
	uint64_t from, length;	   /* where it is in there */
	bool used;
	uint32_t unknown; /* events of it that were met without a declaration */
	uint32_t met;	  /* the same, by salvage/lttng_probe.c */
	bool late;	  /* lttng/declaration-after-use was reported */
	bool in_row;	  /* its number is the one behind that of the type declared before it, or it is the first */
	bool owns_steps;
	const char *guessed;	   /* static; why its events are doubtful. NULL: they are not */
	bool rare;		   /* and so few bore the guess out that they may be damage, which may begin in the event before */
	uint32_t ready;		   /* serial of the file whose events of this type go through the fast path; 0: none yet */
	struct finding *blame;	   /* what is wrong with using it, reported already */
	struct lttng_marker *twin; /* another number of the same name */
};

static inline struct lttng_marker *lttng_marker_of(struct lttng_type *type)
{
	return (struct lttng_marker *)(void *)type;
}

/* What is known of a name: its description may come before or after its number. */
struct lttng_name {
	char *name, *format;	  /* owned */
	struct lttng_shape shape; /* owned; the markers borrow its steps */
	struct finding *blame;	  /* its description is bad */
	struct lttng_marker *marker;
	const struct source *home; /* of the description; NULL: not known */
	uint64_t from, length;	   /* where it is in there */
	const char *guessed;	   /* static; why it is doubtful. NULL: it is not */
	UT_hash_handle hh;
};

struct lttng_table {
	struct lttng_types types; /* owned; of markers */
	struct lttng_name *names; /* owned hash */
	uint32_t next;		  /* number behind that of the last type that a record declares; 0: there is none */
};

struct lttng_channel {
	char *name;		   /* owned; relative to the trace, without "flight-" */
	struct lttng_table *table; /* borrowed from the trace up to 2.2, owned from 2.3 */
	UT_hash_handle hh;	   /* by name; in the order in which they were met */
	bool has_file, has_data, declared;
	bool opened;	     /* the table is lttng_infer()'s, for what no declaration is left of */
	bool unsearched;     /* its searches for lost types reached their limit */
	uint32_t budget;     /* bytes that they may still decode */
	uint64_t block_size; /* of its files, up to 2.4; 0: not known */
};

/* 0.x: a facility was loaded under a number that no event has, and events have one that nothing loads. 0: none was. */
struct lttng_misnumbered {
	uint32_t wrong, right;
};

/* All that is declared. */
struct lttng_declarations {
	struct lttng_channel *channels; /* owned hash */
	struct lttng_table *table;	/* up to 2.2: the ids of the trace; owned */
	struct lttng_budget budget;
	struct lttng_name *facilities[256]; /* 0.x; owned, with name and checksum in marker-less form */
	uint32_t checksums[256];	    /* of them */
	struct lttng_misnumbered misnumbered;
	bool sizes_known;
	bool lost;		     /* declarations were lost, it cannot be known which */
	bool unseen;		     /* and nothing but events tells of it */
	bool absent;		     /* so are all of them: no file has any, from 1.0 on */
	bool kept;		     /* repair: some of them stay */
	struct finding *broken;	     /* the first error that lost declarations; later dangling ids follow from it */
	struct finding *sizes_blame; /* the declarations give wrong sizes: one finding for all of them */
	struct finding *duplicates;  /* one for all of them, as the next */
	struct finding *late_use;
};

/* Zeroed bytes of the budget; NULL with t->status set. */
void *lttng_table_alloc(struct lttng_trace *t, size_t size);
char *lttng_table_copy(struct lttng_trace *t, const char *text, size_t length);
/* Takes over the status of the budget, after a function of decode/lttng_type.h failed. Returns false. */
bool lttng_budget_failed(struct lttng_trace *t);
struct lttng_channel *lttng_channel_find(struct lttng_trace *t, const char *name, size_t length, bool make);
/* The marker of that id, NULL: there is none. table may be NULL. */
struct lttng_marker *lttng_table_get(const struct lttng_table *table, uint32_t id);
/* The same, made when it is new; NULL with t->status set. */
struct lttng_marker *lttng_table_make(struct lttng_trace *t, struct lttng_table *table, uint32_t id);
/* The entry of that name, made when it is new; NULL with t->status set. */
struct lttng_name *lttng_table_name(struct lttng_trace *t, struct lttng_table *table, const char *name, size_t length);
/* Gives a marker and its twins what is known of their name. */
void lttng_marker_describe(struct lttng_marker *m, const struct lttng_name *n);
/* The core types, which need no declaration. */
bool lttng_table_core(struct lttng_trace *t);
/* Declarations are lost, for this: it cannot be known which. The first reason is the one that counts. */
void lttng_declarations_lose(struct lttng_declarations *d, struct finding *fd);
/* Descriptions that begin in these bytes of a file, and with them the events of their types, are doubtful, for this. */
void lttng_declarations_doubt(struct lttng_trace *t, const struct source *s, uint64_t from, uint64_t to, const char *why);
void lttng_table_free(struct lttng_table *table);
void lttng_declarations_free(struct lttng_trace *t);

#endif
