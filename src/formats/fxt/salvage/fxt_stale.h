/* References to strings and threads that were registered before damage, in which their indexes may have been registered again.
 *
 * A recorder that gives an index away registers the text (or the thread) that had it again, under another index, as soon as it
 * needs it, or writes it inline. So an index that was referred to often before the damage, and whose text is met in neither way
 * since, still has it. */
#ifndef FXT_STALE_H
#define FXT_STALE_H

#include "core/map.h"
#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/scan/fxt_table.h"

/* Records that wait, indexes that they refer to, all references; registrations behind damage; indexes whose uses are counted. What
 * finds no room stays doubtful. */
#define FXT_WAITING_MAX 65536u
#define FXT_SUSPECTS_MAX 65536u
#define FXT_WAITING_REFS_MAX (4 * FXT_WAITING_MAX)
#define FXT_FRESH_MAX 65536u
#define FXT_USES_MAX (256u * 1024)
#define FXT_TEXTS_MAX (256u * 1024)
/* Bytes in front of the first damage of which the uses are counted, at least, where there are as many. */
#define FXT_USES_BYTES (512u * 1024)

/* The registration at `offset`, and the records since of its provider, counted from `born`. */
struct fxt_use {
	uint64_t offset;
	uint32_t uses, born, last; /* last: of those that refer to it */
	uint32_t suspect, group;   /* number of the suspect, from 1; 0: none; fxt_stale.group of it */
};

/* An index that may have been registered again in damage. */
struct fxt_suspect {
	uint64_t hash;		/* of what is registered */
	uint64_t offset;	/* of the registration */
	uint64_t gap, again;	/* end of the damage; where it was registered again behind it: UINT64_MAX: it was not */
	uint32_t uses, records; /* in front of the damage */
	uint32_t from, until;	/* records of the provider, at the damage and where it was registered again */
	uint32_t before;	/* number of the suspect for the damage before; 0: none */
	bool thread, open;	/* open: until is not known yet */
};

/* Records that refer to them. */
struct fxt_waiting {
	uint64_t at;
	uint32_t words; /* its length */
	uint32_t next;	/* number of the next one of the same provider, from 1; 0: none */
	uint32_t refs, ref_count;
};

/* What was registered behind damage, and the time before that; prev: number of that, from 1. */
struct fxt_fresh {
	uint64_t at;
	uint32_t prev;
};

struct fxt_mark {
	uint64_t at;
	struct fxt_provider *provider;
};

struct fxt_stale {
	struct fxt_resync *resync;
	struct fxt_registry *registry;
	struct fxt_mark marks[2]; /* beginnings of records, while there is no damage */
	bool counting, walking;	  /* there was damage: uses are counted; walking: those behind its beginning */
	bool full;		  /* something found no room */
	struct map keys;	  /* to the place in uses */
	struct map texts;	  /* hashes of what was written inline or registered; to how */
	struct map fresh_keys;	  /* to the number of the last one in fresh */
	struct fxt_use *uses;	  /* owned, as those below */
	struct fxt_suspect *suspects;
	struct fxt_waiting *waiting;
	uint32_t *refs;
	struct fxt_fresh *fresh;
	size_t use_count, use_capacity, suspect_count, suspect_capacity, waiting_count, waiting_capacity, ref_count, ref_capacity,
		fresh_count, fresh_capacity;
	uint32_t group; /* number of times that these were settled */
};

enum fxt_verdict { FXT_STALE_CLEARED, FXT_STALE_OPEN, FXT_STALE_REPLACED };

void fxt_stale_close(struct fxt_stale *s);
/* The walk is at `at`, before any damage. */
void fxt_stale_mark(struct fxt_stale *s, uint64_t at);
/* Damage begins at `from`: counts the uses in front of the first one. */
void fxt_stale_begin(struct fxt_stale *s, uint64_t from);
/* A record that was accepted; old: end of the damage in front of which registrations are old; 0: none. */
void fxt_stale_accepted(struct fxt_stale *s, const struct fxt_record *r, uint64_t at, uint64_t old);
/* The record, which is not accepted yet, refers to registrations of the current provider in front of `gap`. False: there is no
 * room. */
bool fxt_stale_wait(struct fxt_stale *s, const struct fxt_record *r, uint64_t at, uint64_t gap);
/* Forgets all that wait. */
void fxt_stale_settle(struct fxt_stale *s);
/* What is known of a record that waits, at the end of what its provider p registered. room: registrations that the damage may have
 * held, at most. */
enum fxt_verdict fxt_stale_judge(struct fxt_stale *s, const struct fxt_provider *p, const struct fxt_waiting *w, uint64_t room);

#endif
