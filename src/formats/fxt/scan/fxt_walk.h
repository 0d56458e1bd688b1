/* The state of one walk over an FXT file, and the rooms that share it: tables, semantics, resynchronisation, repair. */
#ifndef FXT_WALK_H
#define FXT_WALK_H

#include "core/format.h"
#include "formats/fxt/decode/fxt_decode.h"

#define FXT_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)

/* ---- tables of a provider (fxt_table.c) ---- */

#define FXT_PAGE 256u

enum { FXT_REGISTERED = 1, FXT_USED = 2, FXT_DANGLING = 4 };

/* 256 strings: allocated when the first of them is registered or missed. */
struct fxt_string_page {
	uint8_t state[FXT_PAGE];
	uint64_t hash[FXT_PAGE];   /* of the text; of a dangling one: index into fxt_walk.missing */
	uint64_t offset[FXT_PAGE]; /* of the record that registered it last */
};

struct fxt_thread_entry {
	uint8_t state;
	uint32_t missing; /* of a dangling one: index into fxt_walk.missing */
	uint64_t process, thread;
	uint64_t offset;	  /* of the record that registered it last */
	struct fxt_thread *track; /* NULL: too many threads to follow */
};

struct fxt_tables {
	struct fxt_string_page *pages[FXT_STRING_INDEX_MAX / FXT_PAGE + 1];
	struct fxt_thread_entry threads[FXT_THREAD_INDEX_MAX + 1];
};

struct fxt_provider {
	uint32_t id;
	uint64_t offset; /* of the record that introduced it last, unless it is made up */
	bool made_up;	 /* no record of the file introduces it */
	bool introduced, anonymous, buffer_full, initialized, init_misplaced;
	char name[FXT_PROVIDER_NAME_MAX + 1];
	uint8_t name_length;
	struct fxt_tables *tables; /* never NULL: fxt_walk.no_tables until something is registered */
	uint64_t ticks;		   /* a second */
	uint64_t tick_limit;	   /* beyond it nanoseconds pass 2^63 - 1 */
	uint64_t first, last;	   /* timestamps, lowest and highest */
	uint64_t previous;	   /* timestamp */
	uint64_t step_max;	   /* a larger step is looked at (outliers) */
	uint64_t backward;
	uint64_t timed; /* records with a timestamp */
	uint64_t records, strings, threads;
	bool redefined;
	uint32_t sessions; /* times that it was introduced again */
	uint64_t version;  /* of what it registered: another one when an entry changes, not when one is added; never 0 */
	uint64_t outlier, outlier_offset, outlier_before; /* a timestamp under suspicion */
	bool outlier_open;
	struct fxt_provider *next;  /* in the order of appearance */
	struct fxt_provider *chain; /* of the hash bucket */
};

/* A reference that nothing registered, with its first use. */
struct fxt_missing {
	uint32_t provider;
	uint16_t index;
	bool thread, elsewhere, settled;
	bool forward, headless; /* registered later; used before any magic number */
	uint8_t role;
	int8_t argument;
	uint8_t type, subtype;
	uint64_t record, offset, length, field, count;
	uint64_t before;       /* offset of a record some way in front of the first use */
	struct finding *cause; /* damage that explains it, or NULL */
};

/* ---- semantics (fxt_nesting.c, fxt_async.c) ---- */

struct fxt_open {
	uint64_t time, offset, name;
};

struct fxt_thread {
	uint64_t process, thread;
	uint64_t newest, first_begin;
	struct fxt_open *open, *ends; /* begins and ends without partner, each in order of time */
	uint32_t depth, open_capacity, ends_count, ends_capacity;
	bool began, completes, late, unsure, lost;
	bool fresh;	  /* its provider was introduced anew since its last duration */
	bool steady;	  /* it began, and is neither lost nor fresh: begins and ends need no more than their lists */
	uint32_t session; /* of its provider, when it was registered last */
	uint64_t flows_outside, flow_offset;
	struct fxt_thread *next;  /* in the order of appearance */
	struct fxt_thread *chain; /* of the hash bucket */
};

struct fxt_tally {
	uint64_t count;
	struct finding *finding;
};

/* What the document of 2022 does not know: fxt/newer-feature, each kind by itself. */
enum fxt_newer {
	FXT_NEWER_SWITCH,
	FXT_NEWER_WAKEUP,
	FXT_NEWER_PROFILER,
	FXT_NEWER_PERFETTO_BLOB,
	FXT_NEWER_BLOB_ARGUMENT,
	FXT_NEWER_COUNT,
};

struct fxt_ids;

/* What a plain event's header says, once it was looked up (fxt_events.c): the whole header, where a reference is inline text,
 * else its lower half, since registered strings are many. Empty while version is 0. */
struct fxt_shape {
	uint64_t key;	  /* that part of the header */
	uint64_t version; /* of the tables that it was looked up in */
	struct fxt_thread *track;
	uint64_t name;	/* hash of a registered name beside an inline category */
	uint16_t types; /* that arguments may have, a bit each */
	uint8_t event, arguments, tail, used;
	uint8_t words[2]; /* of inline category and name */
};

/* The same of the lower half of a plain argument's header: type, size, name. */
struct fxt_argument_shape {
	uint64_t version, name, reserved; /* name: hash of a registered one; reserved: bits of the whole header that are zero */
	uint32_t header;
	uint16_t size; /* bytes */
	uint8_t words; /* of an inline name */
	bool string;
};

#define FXT_RECENT 8u
#define FXT_SHAPE_BITS 9

struct fxt_walk {
	struct scan *s;
	struct source *source;
	struct window window; /* of the walk itself */
	struct window peek;   /* of everything that looks elsewhere */
	struct fxt_decoder decoder;
	enum tracemend_status status;
	uint64_t size, at; /* of the file; of the next record */

	struct fxt_tables no_tables;		   /* of providers that registered nothing; never written to */
	struct fxt_string_page no_page, zero_page; /* no string; none but index 0, which is the empty one */

	struct fxt_provider *provider; /* current */
	struct fxt_provider *first, **tail;
	struct fxt_provider **buckets;
	uint32_t provider_count;
	uint64_t versions; /* given out so far */
	size_t table_bytes;
	uint8_t anywhere_strings[FXT_STRING_INDEX_MAX + 1]; /* registered by whichever provider */
	uint8_t anywhere_threads[FXT_THREAD_INDEX_MAX + 1];
	struct fxt_missing *missing;
	uint32_t missing_count, missing_capacity;

	struct finding *damage;	  /* the last region that was unreadable: may have held what is missing */
	struct finding *headless; /* says that the magic number is missing */
	bool magic_seen, magic_written, info_seen, buffer_full, default_init, lost_prefix, eventful;
	uint64_t default_init_offset;

	uint64_t by_type[16], by_event[16], records;
	uint64_t previous_header, previous_time; /* of the event before; 0: none */
	uint64_t recent[FXT_RECENT]; /* offsets of the last records that were accepted: that of record n at n % FXT_RECENT */

	struct fxt_thread **thread_buckets, *first_thread, **thread_tail;
	uint32_t thread_count;
	uint32_t open_room; /* entries that all lists of open durations have room for */
	struct fxt_ids *asyncs, *flows, *blobs;
	uint64_t *cpu_times; /* by cpu, below FXT_CPU_FOLLOWED */
	uint64_t hash_process, hash_weight, hash_incoming, hash_outgoing, hash_waker;
	struct fxt_tally tallies[FXT_RULE_COUNT], newer[FXT_NEWER_COUNT];

	/* repair: input bytes since the last break are kept; see fxt_repair.c */
	uint64_t keep_from, patched;
	uint64_t moved; /* records that are written elsewhere */
	uint64_t gap;	/* end of the first region whose content is not known */
	bool gapped;
	uint64_t unvouched; /* end of the last record that is doubtful since nothing behind damage vouched for it; 0: none */
	uint64_t faulty;    /* end of the last record that had an error and stays; 0: none */
	uint64_t torn;	    /* end of the last region of which nobody knows how much was in it; 0: none */
	unsigned output;
	uint64_t jumps; /* far looks ahead so far, see fxt_resync.c */

	struct fxt_record record; /* of the walk */
	struct fxt_record other;  /* of what looks ahead */

	struct fxt_shape shapes[1u << FXT_SHAPE_BITS];
	struct fxt_argument_shape argument_shapes[1u << FXT_SHAPE_BITS];
};

/* The place of a shape, which may be another's. */
static inline struct fxt_shape *fxt_shape_of(struct fxt_walk *x, uint64_t key)
{
	return &x->shapes[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FXT_SHAPE_BITS)];
}

static inline struct fxt_argument_shape *fxt_argument_shape_of(struct fxt_walk *x, uint32_t header)
{
	return &x->argument_shapes[header * UINT32_C(0x9e3779b1) >> (32 - FXT_SHAPE_BITS)];
}

#define FXT_CPU_FOLLOWED 1024u

/* ---- fxt_table.c ---- */

uint64_t fxt_hash(const void *data, size_t length);

static inline uint64_t fxt_hash_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 32;
}

/* As fxt_hash(), of text that is not empty and has zero padding: by whole words. */
static inline uint64_t fxt_hash_padded(const uint8_t *text, uint64_t length)
{
	uint64_t h = length * FXT_HASH_SEED;
	for (const uint8_t *end = text + length; text < end; text += FXT_WORD)
		h = fxt_hash_mix(h, load_u64(text, false));
	return h ? h : 1;
}

bool fxt_tables_open(struct fxt_walk *x);
void fxt_tables_close(struct fxt_walk *x);
/* The provider of that id, made if new. NULL: a limit or no memory (x->status). */
struct fxt_provider *fxt_provider_get(struct fxt_walk *x, uint32_t id);
struct fxt_provider *fxt_provider_find(const struct fxt_walk *x, uint32_t id);
/* Forgets strings and threads of a provider that is introduced anew. */
void fxt_provider_reset(struct fxt_walk *x, struct fxt_provider *p);
bool fxt_string_register(struct fxt_walk *x, uint32_t index, uint64_t hash, uint64_t offset, uint64_t length);
bool fxt_thread_register(struct fxt_walk *x, uint32_t index, uint64_t process, uint64_t thread, uint64_t offset);
/* Looks a reference up, marks it used; a dangling one is counted and, in a repair, given a placeholder. Returns the
 * hash of its text. */
uint64_t fxt_string_use(struct fxt_walk *x, const struct fxt_record *r, const struct fxt_string_ref *ref);
struct fxt_thread_entry *fxt_thread_use(struct fxt_walk *x, const struct fxt_record *r, uint8_t ref, uint64_t field);
/* True when an index has been registered, or was given a placeholder. */
bool fxt_string_known(const struct fxt_provider *p, uint16_t ref);
bool fxt_thread_known(const struct fxt_provider *p, uint8_t ref);
/* Reports what stayed dangling. */
void fxt_missing_report(struct fxt_walk *x);
void fxt_unused_report(struct fxt_walk *x, struct fxt_provider *p);

static inline uint8_t fxt_string_state(const struct fxt_tables *t, uint32_t index)
{
	return t->pages[index / FXT_PAGE]->state[index % FXT_PAGE];
}

/* ---- reporting (fxt_report.c) ---- */

/* A finding at the record being walked, with its path. */
#define fxt_report(x, rule, ...) ((void)PLACE(rule), fxt_report_at((x), (rule), __VA_ARGS__))
struct finding *fxt_report_at(struct fxt_walk *x, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
/* A note that may come a million times: the first is reported, the others are folded under it. NULL when folded. */
#define fxt_note(x, rule, ...) ((void)PLACE(rule), fxt_note_at((x), (rule), __VA_ARGS__))
struct finding *fxt_note_at(struct fxt_walk *x, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
/* The same as a note, of a rule whose row is graver. */
#define fxt_note_milder(x, rule, ...) ((void)PLACE(rule), fxt_note_milder_at((x), (rule), __VA_ARGS__))
struct finding *fxt_note_milder_at(struct fxt_walk *x, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
void fxt_notes_flush(struct fxt_walk *x);
void fxt_path(const struct fxt_walk *x, struct finding *fd, const struct fxt_record *r, const char *part);
/* Reports the issues of a decoded record at offset, all but the fatal one when skip_fatal. */
void fxt_issues_report(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset);
/* Why, in words; for findings of the issue's rule. */
void fxt_issue_say(struct finding *fd, const struct fxt_record *r, const struct issue *i);
void fxt_describe(const struct fxt_record *r, char *out, size_t size);

/* ---- fxt_nesting.c, fxt_async.c ---- */

struct fxt_thread *fxt_thread_track(struct fxt_walk *x, uint64_t process, uint64_t thread);
void fxt_duration_begin(struct fxt_walk *x, struct fxt_thread *t, uint64_t time, uint64_t offset, uint64_t name);
void fxt_duration_end(struct fxt_walk *x, struct fxt_thread *t, uint64_t time, uint64_t offset, uint64_t name);
void fxt_nesting_report(struct fxt_walk *x);
void fxt_nesting_close(struct fxt_walk *x);
void fxt_async(struct fxt_walk *x, unsigned event, uint64_t process, uint64_t category, uint64_t name, uint64_t id, uint64_t time,
	       uint64_t offset);
void fxt_flow(struct fxt_walk *x, unsigned event, uint64_t id, uint64_t time, uint64_t offset, struct fxt_thread *t);
void fxt_blob_stream(struct fxt_walk *x, uint64_t name, uint32_t type, const struct fxt_record *r, uint64_t offset);
void fxt_ids_report(struct fxt_walk *x);
void fxt_ids_close(struct fxt_walk *x);
/* The timestamp of a record, when it is not simply a little later than the one before: see fxt_time(). */
void fxt_initialize(struct fxt_walk *x, uint64_t ticks, uint64_t offset, uint64_t length);
void fxt_time_step(struct fxt_walk *x, uint64_t time, uint64_t offset);

/* ---- fxt_events.c ---- */

/* Takes plain events from x->at, which is in the window, into account. False when the first one is not plain. */
bool fxt_events_run(struct fxt_walk *x);
/* Registers the string record with that header, at x->at. False: it is not plain, or not the first of its index. */
bool fxt_string_plain(struct fxt_walk *x, uint64_t header);

/* ---- fxt_record.c: everything about a record that is not on the fast path ---- */

/* Takes a sound record into account: tables, clocks, references, meaning. */
void fxt_record_accept(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset);
/* What fxt_record_accept and the fast path share, once the references of an event are resolved. */
void fxt_event_meaning(struct fxt_walk *x, unsigned event, struct fxt_thread *t, uint64_t process, uint64_t category, uint64_t name,
		       uint64_t time, uint64_t tail, uint64_t offset);

/* Counts the record at offset as accepted. */
static inline void fxt_took(struct fxt_walk *x, uint64_t offset)
{
	x->recent[x->records++ % FXT_RECENT] = offset;
}

/* Offset of the n-th last record, n from 1 to x->records, or of as early a one as is remembered. */
static inline uint64_t fxt_recent(const struct fxt_walk *x, uint64_t n)
{
	if (n > FXT_RECENT)
		n = FXT_RECENT;
	return x->recent[(x->records - (n < x->records ? n : x->records)) % FXT_RECENT];
}

static inline void fxt_time(struct fxt_walk *x, uint64_t time, uint64_t offset)
{
	struct fxt_provider *p = x->provider;
	if (__builtin_expect(p->timed && time >= p->previous && time - p->previous <= p->step_max && time <= p->tick_limit, 1)) {
		p->previous = time;
		if (time > p->last)
			p->last = time;
		p->timed++;
	} else {
		fxt_time_step(x, time, offset);
	}
}

/* ---- fxt_resync.c ---- */

/* Where the walk can be taken up again after a broken record; at is x->size when nowhere. */
struct fxt_resume {
	uint64_t at;
	bool shifted;	  /* off the grid */
	bool exactly_one; /* just the one broken record lies in between */
};
/* r: what was decoded at `bad`. */
struct fxt_resume fxt_resync(struct fxt_walk *x, uint64_t bad, const struct fxt_record *r);
/* Where in [from, until) records begin that stand there in a row; until where there are none. */
uint64_t fxt_inner_records(struct fxt_walk *x, uint64_t from, uint64_t until);
/* Where, inside the record at `from` whose content can be anything (a payload, an unknown kind, words too many), records begin that
 * stand there in a row, and go on across its end although it has a fault or is not followed by a record; or that stand in a record
 * of unknown kind right behind damage. Its end where there are none. */
uint64_t fxt_hidden_records(struct fxt_walk *x, const struct fxt_record *r, uint64_t from);
/* True at the end of the file, and where two strict records follow. */
bool fxt_next_is_sound(struct fxt_walk *x, uint64_t at);
/* True when the file begins with records, although not with a magic number: two strict ones, or one and the end,
 * perhaps after others without an error. */
bool fxt_begins_sound(struct fxt_walk *x);
/* True where two records stand that are exact in size (and, unless `faults`, have no error), at the end of the file, and before
 * what cannot count against the record in front: a hole, a cut. distance: how far ahead of the walk this is. What repair
 * leaves in place of bytes that it drops always fits, so that no verdict changes in what it writes. */
bool fxt_next_fits(struct fxt_walk *x, uint64_t at, uint64_t distance, bool faults);
/* Whether the words behind the content of a record are sound records themselves: one that is longer than a word, or
 * all there is. *first is
 * where they begin. Depends on nothing outside the record. */
bool fxt_swallows(struct fxt_walk *x, uint64_t at, const struct fxt_record *r, uint64_t *first);
/* Whether, read with one other bit in its type, the record is exact and refers to nothing but what is known; one that has no
 * fault but unknown references must then refer to more. */
bool fxt_type_damaged(struct fxt_walk *x, uint64_t at, const struct fxt_record *r);
/* Whether an argument may look like this record: both have type and size in the same low 16 bits of their headers. A pointer reads
 * as a kernel object, a koid as a context switch, a 64-bit number as a nameless event, none at all as a provider's section, the
 * number 0 as an empty string, a blob as a profiler's. */
bool fxt_may_be_argument(const struct fxt_record *r);
/* References of a record to what the current provider registered; *all tells whether there are no others. */
unsigned fxt_known_refs(const struct fxt_walk *x, const struct fxt_record *r, bool *all);

/* ---- fxt_repair.c; all of it does nothing without a plan ---- */

void fxt_keep_flush(struct fxt_walk *x, uint64_t until);
void fxt_drop(struct fxt_walk *x, uint64_t from, uint64_t until, unsigned rule, const char *why);
void fxt_insert(struct fxt_walk *x, uint64_t before, const uint64_t *words, size_t count, unsigned rule, const char *why);
void fxt_insert_string(struct fxt_walk *x, uint64_t before, uint16_t index);
void fxt_insert_thread(struct fxt_walk *x, uint64_t before, uint8_t index);
void fxt_patch(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset);

/* ---- fxt_doubt.c: what is kept and nothing vouches for; all of it does nothing without a plan ---- */

/* The records in front of a region of damage. */
void fxt_doubt_before(struct fxt_walk *x, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost);
/* The record behind zeros, if it begins with one. */
void fxt_doubt_behind_zeros(struct fxt_walk *x, uint64_t at);
/* The record at x->at, before it is accepted. */
void fxt_doubt_record(struct fxt_walk *x, const struct fxt_record *r);
/* An introduction that may have been that of another provider, which is missing. */
void fxt_doubt_provider(struct fxt_walk *x, uint32_t missing);
/* What refers to what is missing, and what may have registered it. */
void fxt_doubt_missing(struct fxt_walk *x);
/* What may show older registrations. */
void fxt_doubt_stale(struct fxt_walk *x);

/* ---- fxt_facts.c ---- */
void fxt_facts(struct fxt_walk *x);

#endif
