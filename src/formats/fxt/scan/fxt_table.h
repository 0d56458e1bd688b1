/* Providers and what they register: #string-references, #thread-references, #provider-section-metadata. */
#ifndef FXT_TABLE_H
#define FXT_TABLE_H

#include "core/map.h"
#include "formats/fxt/repair/fxt_repair.h"
#include "formats/fxt/scan/fxt_hash.h"
#include "formats/fxt/scan/fxt_nesting.h"

#define FXT_PAGE 256u

/* FXT_DOUBTFUL: the registration is, and so is what refers to it. Only a repair sets it. */
enum { FXT_REGISTERED = 1, FXT_USED = 2, FXT_DANGLING = 4, FXT_DOUBTFUL = 8 };

/* 256 strings: allocated when the first of them is registered or missed. */
struct fxt_string_page {
	uint8_t state[FXT_PAGE];
	uint64_t hash[FXT_PAGE];   /* of the text; of a dangling one: index into fxt_registry.missing */
	uint64_t offset[FXT_PAGE]; /* of the record that registered it last */
};

struct fxt_thread_entry {
	uint8_t state;
	uint32_t missing; /* of a dangling one: index into fxt_registry.missing */
	uint64_t process, thread;
	uint64_t offset;	  /* of the record that registered it last */
	struct fxt_thread *track; /* NULL: too many threads to follow */
};

struct fxt_tables {
	struct fxt_string_page *pages[FXT_STRING_INDEX_MAX / FXT_PAGE + 1];
	struct fxt_thread_entry threads[FXT_THREAD_INDEX_MAX + 1];
};

/* A change of what is registered; fxt_journal.h. */
#define FXT_JOURNAL_BYTES 4608u /* a block, and the records that are cut by its ends */
#define FXT_JOURNAL_MAX 64u
#define FXT_JOURNAL_SAVED_MAX 8u /* providers whose tables are kept */
enum fxt_change_kind { FXT_CHANGE_ENTER, FXT_CHANGE_RESET, FXT_CHANGE_RATE, FXT_CHANGE_STRING, FXT_CHANGE_THREAD };

struct fxt_rate {
	uint64_t ticks, limit, offset;
	bool initialized;
};

struct fxt_change {
	uint8_t kind;		       /* enum fxt_change_kind */
	uint16_t index;		       /* of the string or thread */
	uint64_t at;		       /* of the record that made it */
	struct fxt_provider *provider; /* whose; of FXT_CHANGE_ENTER the one before */
	struct fxt_provider *before;   /* owned, of FXT_CHANGE_RESET: as it was; NULL: not kept */
	struct {
		uint8_t state;
		uint64_t hash, offset;
	} string; /* as it was registered */
	struct fxt_thread_entry thread;
	struct fxt_rate rate;
};

struct fxt_journal {
	struct fxt_change list[FXT_JOURNAL_MAX]; /* a ring */
	unsigned first, count, saved;
	uint64_t redefined; /* strings and threads, all that there were */
};

/* What of a provider is doubtful; used by fxt_doubt.c alone, and only in a repair. */
struct fxt_distrust {
	bool info;		/* who it is */
	bool clock;		/* the tick rate: its record may be lost */
	uint64_t rate;		/* the tick rate before it was set to another one; 0: it is the first */
	uint64_t gap;		/* end of the last region of damage since it was introduced; 0: none */
	bool redefined;		/* its recorder uses indexes again for other strings or threads */
	uint32_t waiting, last; /* numbers of the records that are doubtful if it does, from 1: the first, the last; 0: none */
	uint64_t unlisted;	/* the first of those that had no room there; 0: none */
	uint32_t group;		/* fxt_stale.group of these */
	uint32_t seen,
		gap_seen;     /* records that may refer to what is registered, and those in front of gap; where they are counted */
	uint64_t from, until; /* registrations from here to there may be another provider's */
};

struct fxt_provider {
	uint32_t id;
	uint64_t offset;       /* of the record that introduced it last, or of the first that refers to it if that is made up */
	bool placeholder;      /* no record of the file introduces it, and repair writes one */
	struct finding *cause; /* the finding about that, which explains references to what it did not register; or NULL */
	bool introduced, anonymous, buffer_full, initialized, init_misplaced;
	bool mistaken; /* the id in the record that introduced it may have been that of another one */
	char name[FXT_PROVIDER_NAME_MAX + 1];
	uint8_t name_length;
	struct fxt_tables *tables; /* never NULL: fxt_registry.no_tables until something is registered */
	uint64_t ticks;		   /* a second */
	uint64_t rate_offset;	   /* of the initialization record in force; 0: none */
	uint64_t tick_limit;	   /* beyond it nanoseconds pass 2^63 - 1 */
	uint64_t first, last;	   /* timestamps, lowest and highest */
	uint64_t previous;	   /* timestamp */
	uint64_t step_max;	   /* a larger step may be an outlier */
	uint64_t backward;
	uint64_t timed; /* records with a timestamp */
	uint64_t records, strings, threads;
	bool redefined;
	struct fxt_distrust distrust;
	uint32_t sessions; /* times that it was introduced again */
	uint64_t version;  /* of what it registered: another one when an entry changes, not when one is added; never 0 */
	uint64_t outlier, outlier_offset, outlier_before; /* a timestamp that may be an outlier */
	bool outlier_open;
};

struct fxt_registry {
	struct fxt_report *report;
	struct fxt_nesting *nesting;   /* has the thread of each thread index */
	struct fxt_repair *repair;     /* writes registrations that are missing */
	struct fxt_provider *provider; /* current */
	struct fxt_provider **list;    /* owned, each; in the order of appearance; the first is the anonymous one */
	size_t count, capacity;
	struct map ids;	   /* to the place in list, but for the anonymous one */
	bool introduced;   /* some provider was */
	uint64_t versions; /* given out so far */
	size_t table_bytes;
	struct fxt_tables no_tables;			    /* of providers that registered nothing; never written to */
	struct fxt_string_page no_page, zero_page;	    /* no string; none but index 0, which is the empty one */
	uint8_t anywhere_strings[FXT_STRING_INDEX_MAX + 1]; /* registered by whichever provider */
	uint8_t anywhere_threads[FXT_THREAD_INDEX_MAX + 1];
	struct fxt_journal journal;
	struct fxt_missing *missing; /* owned */
	size_t missing_count, missing_capacity;
};

/* False: out of memory (report->status). */
bool fxt_registry_open(struct fxt_registry *reg, struct fxt_report *report, struct fxt_nesting *nesting, struct fxt_repair *repair);
void fxt_registry_close(struct fxt_registry *reg);

struct fxt_provider *fxt_provider_find(const struct fxt_registry *reg, uint32_t id);
/* The provider of that id, made if new. NULL: a limit or no memory (report->status). */
struct fxt_provider *fxt_provider_get(struct fxt_registry *reg, uint32_t id);
/* Makes it the current one. */
void fxt_provider_enter(struct fxt_registry *reg, struct fxt_provider *provider);
/* Frees the tables of a provider, which has none then. */
void fxt_tables_free(struct fxt_registry *reg, struct fxt_provider *provider);
/* The provider is introduced anew: reports what it registered before, which is forgotten by fxt_journal_reset(). */
void fxt_provider_reset(struct fxt_registry *reg, struct fxt_provider *provider);

/* Registers in the tables of the current provider. Where there is no room: report->status. */
void fxt_string_register(struct fxt_registry *reg, uint32_t index, uint64_t hash, uint64_t offset, uint64_t length);
void fxt_thread_register(struct fxt_registry *reg, uint32_t index, uint64_t process, uint64_t thread, uint64_t offset);
/* Looks a reference of the record being walked up, marks it used; a dangling one is counted and, in a repair, given a
 * placeholder. Returns the hash of its text. */
uint64_t fxt_string_use(struct fxt_registry *reg, const struct fxt_record *r, const struct fxt_string_ref *ref);
struct fxt_thread_entry *fxt_thread_use(struct fxt_registry *reg, const struct fxt_record *r, uint8_t ref);
/* True when an index has been registered, or was given a placeholder. */
bool fxt_string_known(const struct fxt_provider *provider, uint16_t ref);
bool fxt_thread_known(const struct fxt_provider *provider, uint8_t ref);
/* Whether the record refers to an index without registration that one record before it refers to: a rare one is a damaged one. */
bool fxt_refs_rare(const struct fxt_registry *reg, const struct fxt_record *r);

/* Times of a provider from which it is known how far apart they are. */
#define FXT_TIMES_KNOWN 8u
/* Whether the record has a time, and how far apart those of its provider are is known. */
bool fxt_is_timed(const struct fxt_provider *p, const struct fxt_record *r);
/* Whether its time is no further from those of its provider than they are from each other, where that is known. */
bool fxt_time_fits(const struct fxt_provider *p, const struct fxt_record *r);
/* References of a record to what a provider registered; *all tells whether there are no others. */
unsigned fxt_refs_known(const struct fxt_provider *provider, const struct fxt_record *r, bool *all);
/* Reports registrations that nothing refers to. */
void fxt_unused_report(struct fxt_registry *reg);

/* The entry of a string or a thread. */
struct fxt_entry {
	uint8_t state;
	uint64_t offset;  /* of the record that registered it last */
	uint32_t missing; /* of a dangling one: index into fxt_registry.missing */
};

static inline struct fxt_entry fxt_entry_of(const struct fxt_tables *t, bool thread, uint32_t index)
{
	const struct fxt_thread_entry *e = &t->threads[thread ? index : 0];
	const struct fxt_string_page *page = t->pages[thread ? 0 : index / FXT_PAGE];
	const uint32_t i = index % FXT_PAGE;

	return thread ? (struct fxt_entry){ e->state, e->offset, e->missing }
		      : (struct fxt_entry){ page->state[i], page->offset[i], (uint32_t)page->hash[i] };
}

static inline uint8_t fxt_string_state(const struct fxt_tables *t, uint32_t index)
{
	return t->pages[index / FXT_PAGE]->state[index % FXT_PAGE];
}

#endif
