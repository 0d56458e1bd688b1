/* The walk over the record stream of one task: what its files share. */
#ifndef UFTRACE_STREAM_H
#define UFTRACE_STREAM_H

#include "core/window.h"
#include "formats/uftrace/decode/uftrace_argspec.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_walk.h"

/* The address of a frame that is not known: after lost records. */
#define UFTRACE_ANY UINT64_MAX
/* Depth up to which frames are followed; the format has no more (max_stack is 16 bit). */
#define UFTRACE_FRAMES_MAX 65536u
/* Bytes that the fast path is given at a time. */
#define UFTRACE_CHUNK (64u * 1024)
/* A duplicated block is searched for in so many bytes in front of it. */
#define UFTRACE_REREAD_MAX (1024u * 1024)
/* Times from here on are not those of a clock: 146 years. */
#define UFTRACE_TIME_MAX (UINT64_C(1) << 62)

enum uftrace_place { /* what an address is; from MAPPED on no rule is about it */
		     UFTRACE_PLACE_UNMAPPED,
		     UFTRACE_PLACE_KERNEL,
		     UFTRACE_PLACE_NO_SYMBOL,
		     UFTRACE_PLACE_MAPPED,
		     UFTRACE_PLACE_UNCHECKED,
};

/* An entry of the cache of addresses. */
struct uftrace_known {
	uint64_t key; /* the address, and above it the era: entries of other sessions and tasks do not match */
	const struct uftrace_spec *specs[2]; /* of its arguments, of its return value; NULL: not asked yet, or not known */
	enum uftrace_place place;
};

/* A finding that is reported once a task, with a count. */
struct uftrace_fold {
	struct finding *finding;
	uint64_t count;
};

struct uftrace_folds {
	struct uftrace_fold unmapped, no_symbol, kernel;			     /* addresses */
	struct uftrace_fold backward, zero, far;				     /* times */
	struct uftrace_fold gap, without_entry, mismatch, closed, too_deep, wrapped; /* depths */
	struct uftrace_fold lost, lost_more;
	struct uftrace_fold event_depth, event_length, event_more, unknown_event, virtual_event;
	struct uftrace_fold desync, no_spec, long_string; /* payloads */
};

/* The session that holds at the time of the last record, in [since, next). */
struct uftrace_stream_session {
	const struct uftrace_map *map;
	uint32_t index;
	bool found, changed;
	uint64_t since, next;
};

/* The output of this task. */
struct uftrace_stream_output {
	unsigned out;	    /* of the plan */
	bool planned;	    /* something is written: `out` is valid */
	uint64_t kept_from; /* bytes from here on are not planned yet */
	uint64_t doubted;   /* the end of what is listed as doubtful */
	uint64_t patched;
	bool lost_some; /* records are left out, in unknown number */
};

/* The state in front of the last record, which may turn out to be a part of the damage behind it. */
struct uftrace_stream_back {
	uint64_t at; /* of the last record */
	uint64_t time, last_time, last_word;
	bool behind_values; /* the record in front of it has values */
	unsigned depth, unknown;
};

struct uftrace_stream {
	struct uftrace_walk *w;
	struct uftrace_dat *dat;
	struct source *source;
	struct window window, other; /* `other` reads what is in front, for duplicated blocks */
	bool other_open;
	uint64_t reread; /* bytes that may still be read for duplicated blocks */
	uint64_t recall; /* the same for calls whose return is another's */

	uint64_t *frames; /* addresses of the open calls; owned */
	unsigned frame_max;
	unsigned depth;	  /* how many */
	unsigned unknown; /* frames below this are not known: after lost records */
	bool wrap;	  /* depths beyond 1023 can occur */
	bool find_depth;  /* the depth is taken from the next record: at the start, after lost records */
	bool started;

	uint64_t time;	     /* of the last record */
	uint64_t time_limit; /* the fast path leaves records from here on: a new session, or a jump */
	uint64_t begin;	     /* of the task in task.txt; 0 unknown */
	int64_t pid;
	uint64_t last_time, last_word;
	bool suspect; /* the last record may be a part of the damage behind it */
	bool ahead;   /* the time of the last record was reported: it is far ahead */
	struct uftrace_stream_back back;
	struct uftrace_stream_session session;

	struct uftrace_known *places; /* by uftrace_known_at(); owned */
	uint64_t place_mask;	      /* one less than there are: a power of two */
	uint64_t era;		      /* changes with the session; in the bits above an address */
	struct uftrace_folds folds;
	uint64_t lost_records;
	struct uftrace_stream_output output;
};

/* t->other reads the same file from now on: what stands elsewhere in it. */
static inline void uftrace_stream_open_other(struct uftrace_stream *t)
{
	if (!t->other_open)
		window_open(&t->other, t->source);
	t->other_open = true;
}

/* The entry of the cache for an address: Fibonacci hashing (Knuth, The Art of Computer Programming 6.4). */
static inline struct uftrace_known *uftrace_known_at(const struct uftrace_stream *t, uint64_t address)
{
	return &t->places[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 40 & t->place_mask];
}

/* Whether a call or return is the last record again, with or without its values. */
static inline bool uftrace_is_again(uint64_t time, uint64_t word, uint64_t last_time, uint64_t last_word)
{
	return time == last_time && !((word ^ last_word) & ~UINT64_C(4));
}

static inline const char *uftrace_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Where `length` bytes of the word of a record lie that are `at` above its lowest byte, by the byte order. */
uint64_t uftrace_word_at(const struct uftrace_walk *w, uint64_t record, unsigned at, unsigned length);

/* Reports a rule once a task, as finding_report() does. NULL when it was reported before and is only counted. */
#define uftrace_fold(t, fold, rule, ...) ((void)PLACE(rule), uftrace_fold_at((t), (fold), (rule), TM_ERROR, __VA_ARGS__))
/* The same with a severity that is milder than the row's. */
#define uftrace_fold_milder(t, fold, rule, ...) ((void)PLACE(rule), uftrace_fold_at((t), (fold), (rule), __VA_ARGS__))
struct finding *uftrace_fold_at(struct uftrace_stream *t, struct uftrace_fold *fold, enum uftrace_rule rule,
				enum tracemend_severity severity, uint64_t offset, uint64_t length, const char *format, ...)
	PRINTF_LIKE(7, 8);

/* ---- uftrace_place.c: what an address is ---- */

enum uftrace_place uftrace_place_of(struct uftrace_stream *t, uint64_t address);
/* Index of the mapping's module and the symbol at an address; UFTRACE_NONE. */
void uftrace_place_symbol(struct uftrace_stream *t, uint64_t address, uint32_t *module, uint32_t *symbol);
/* Whether the name of the function at an address has these letters. */
bool uftrace_place_has_name(struct uftrace_stream *t, uint64_t address, const char *part);
/* Forgets what is known of addresses. */
void uftrace_place_forget(struct uftrace_stream *t);
/* Brings the session and the map to that time. */
void uftrace_place_session(struct uftrace_stream *t, uint64_t time);

/* ---- uftrace_nesting.c ---- */

/* An ENTRY or EXIT at offset. Returns false where the depth does not fit. */
bool uftrace_nest(struct uftrace_stream *t, uint64_t offset, uint64_t word);

/* ---- uftrace_payload.c ---- */

/* Whether bytes that are not a valid record were one: zeros; or a time from `time` on or an address that can hardly be there by
 * chance. Fewer bytes than a record has are taken for its beginning. */
bool uftrace_payload_was_record(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time);
/* The bytes after an ENTRY or EXIT with `more` at offset. Returns the offset of the next record, 0 when there is none;
 * *strip: the bytes go, and the bit; UFTRACE_RULE_dat_duplicate_block: the record itself is there again. */
uint64_t uftrace_payload(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word, unsigned *strip);
/* A record with values whose time says nothing of the session: whether readers find the specification by that time. The rule by
 * which its values go, or UFTRACE_RULE_COUNT. */
unsigned uftrace_payload_strayed(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word);
uint64_t uftrace_event(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word, unsigned *drop);

/* ---- uftrace_fast.c ---- */

/* Takes records at `at`, p[0, size), of which the walk would have nothing to say; everything else stops it. Returns how many
 * bytes they have. */
size_t uftrace_fast(struct uftrace_stream *t, uint64_t at, const uint8_t *p, size_t size);

/* ---- uftrace_give.c ---- */

/* Gives the record at [at, next) to the sink of the scan. */
void uftrace_record_give(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word);

/* ---- uftrace_stream.c ---- */

/* A stream with the tables that the records of the capture can fill; NULL: no memory, and the walk has failed. */
struct uftrace_stream *uftrace_stream_new(struct uftrace_walk *w);
void uftrace_stream_free(struct uftrace_stream *t);
/* Starts t anew, on the records of dat; its buffers stay. */
void uftrace_stream_begin(struct uftrace_stream *t, struct uftrace_dat *dat);
/* All records of a task. t keeps what may be used again for the next one. */
bool uftrace_stream_walk(struct uftrace_stream *t, struct uftrace_dat *dat);

#endif
