/* The generator of captures: one pass that appends records to the output, and a breaker for each rule that is called
 * once in the middle of it, when tables, open durations and the current provider are whatever the seed made them.
 *
 * Three floors: fxt_put.c knows the layout of each record and nothing else; fxt_gen_model.c keeps providers, tables and
 * threads, so that what is written refers to what is registered; fxt_gen.c draws what comes next. A breaker
 * (fxt_break_*.c) writes one more record with the means of the first two and spoils it, guided by the marks that the
 * first floor leaves: where the strings, references, arguments and reserved bits of the last record are.
 *
 * A new rule needs its row in fxt_rules.def and a function `void fxt_break_<symbol>(struct fxt_gen *)`. */
#ifndef FXT_GEN_H
#define FXT_GEN_H

#include "core/format.h"
#include "formats/fxt/fxt.h"

/* Text of the capture. data lives as long as the generator. */
struct fxt_text {
	const uint8_t *data;
	uint16_t length;
};

/* A string reference ready to be written: bit 15 set means that text follows inline. */
struct fxt_ref {
	uint16_t value;
	struct fxt_text text;
};

/* A thread reference ready to be written: index 0 means that the koids follow inline. */
struct fxt_who {
	uint8_t index;
	uint64_t process, thread;
};

/* An argument. value: what the type wants (for a bool its bit, for a blob its length in bytes). */
struct fxt_arg {
	unsigned type;
	struct fxt_ref name;
	uint64_t value;
	struct fxt_ref text;	/* type string */
	const uint8_t *payload; /* type blob; NULL: zeros */
};

#define FXT_ARGS_MAX 15u

/* An event of any type. */
struct fxt_gen_event {
	unsigned type;
	uint64_t time;
	struct fxt_who who;
	struct fxt_ref category, name;
	const struct fxt_arg *args;
	unsigned arg_count;
	uint64_t tail; /* counter id, end time or correlation id, for the types that have one */
	bool scope;    /* append `tail` to an instant as the undocumented scope word */
};

/* ---- marks: where the parts of the record written last are ---- */

enum fxt_mark_kind {
	MARK_TIME,     /* a word with a timestamp */
	MARK_STRING,   /* 16 bits: a string reference */
	MARK_THREAD,   /* 8 bits: a thread reference */
	MARK_KOIDS,    /* inline koids */
	MARK_STREAM,   /* bytes and their padding; role FXT_STREAM_* says what they are */
	MARK_RESERVED, /* bits that must be zero */
	MARK_ARGUMENT, /* an argument, from its header; role is its type */
	MARK_FIXED,    /* a word of another meaning */
};

enum fxt_stream_role { STREAM_TEXT, STREAM_PROVIDER, STREAM_OBJECT_NAME, STREAM_BYTES };

struct fxt_mark {
	uint8_t kind;
	uint8_t role;
	uint8_t shift, width; /* bits within the word at offset */
	size_t offset;	      /* of the word or stream in the output */
	size_t length;	      /* bytes of a stream, of an argument, of koids */
};

#define FXT_MARKS_MAX 256u

/* ---- the model ---- */

/* Strings that one provider registered and that may be referred to. Further registrations are written, never used. */
#define FXT_GEN_STRINGS 48u
#define FXT_GEN_THREADS 24u
#define FXT_GEN_STACK 24u
#define FXT_GEN_OPEN 12u
#define FXT_GEN_PATTERN 32768u

struct fxt_gen_string {
	uint16_t index;
	struct fxt_text text;
};

struct fxt_gen_provider {
	uint32_t id;
	struct fxt_text name;
	bool introduced; /* its provider info record is written */
	bool initialised;
	bool timed;  /* it has a record with a timestamp */
	bool filled; /* all string indexes are registered */
	uint64_t rate;
	uint64_t now; /* ticks */
	struct fxt_gen_string strings[FXT_GEN_STRINGS];
	unsigned string_count;
	uint16_t next_string;
	uint8_t next_thread;
};

struct fxt_gen_thread {
	unsigned provider; /* index of the only provider that speaks of it */
	uint64_t process, thread;
	uint8_t index;						      /* in that provider's table; 0: not registered */
	unsigned depth;						      /* open durations */
	struct fxt_text category[FXT_GEN_STACK], name[FXT_GEN_STACK]; /* of the outermost of them */
};

/* An async operation or a flow that is open. */
struct fxt_gen_open {
	bool flow;
	unsigned thread;
	struct fxt_text category, name;
	uint64_t id;
};

enum fxt_feature {
	FEATURE_PROVIDERS, /* several providers, interleaved */
	FEATURE_ANONYMOUS, /* no provider record at all */
	FEATURE_NO_INIT,   /* the default tick rate */
	FEATURE_LONG_INIT, /* the 4-word initialization */
	FEATURE_RATES,	   /* other rates than nanoseconds */
	FEATURE_INLINE,	   /* inline strings and threads */
	FEATURE_ARGS,
	FEATURE_MANY_ARGS, /* 15 of them */
	FEATURE_UTF8,
	FEATURE_EDGE_LENGTHS, /* string lengths around word boundaries */
	FEATURE_STRINGS,      /* registrations for their own sake: empty, duplicate, highest index */
	FEATURE_REDEFINE,     /* indexes registered again */
	FEATURE_COUNTERS,
	FEATURE_DURATIONS,
	FEATURE_COMPLETE,
	FEATURE_ASYNC,
	FEATURE_FLOW,
	FEATURE_SCOPE,
	FEATURE_BLOBS,
	FEATURE_PROTO,
	FEATURE_FILLER,
	FEATURE_LARGE,
	FEATURE_USERSPACE,
	FEATURE_KERNEL,
	FEATURE_LEGACY_SWITCH,
	FEATURE_SWITCH,
	FEATURE_WAKEUP,
	FEATURE_LOG,
	FEATURE_PROFILER,
	FEATURE_BACKWARD,
	FEATURE_EQUAL_TIMES,
	FEATURE_HIGH_KOIDS,
	FEATURE_ARTIFICIAL,	       /* koids of virtual threads */
	FEATURE_UNKNOWN_THREAD,	       /* koids (0, 0) */
	FEATURE_BUFFER_FULL,	       /* inherent warning: the capture says that records were dropped */
	FEATURE_COMMON,		       /* how many of them are drawn evenly; those below are rare, since they are large */
	FEATURE_DEEP = FEATURE_COMMON, /* 1,000 nested durations */
	FEATURE_LONG_STRINGS,	       /* 31,999 and 32,000 bytes */
	FEATURE_FULL_RECORD,	       /* records of 4,095 words */
	FEATURE_HUGE_BLOB,	       /* large records beyond 4,095 words and beyond 64 KiB */
	FEATURE_FULL_STRINGS,	       /* all 32,767 indexes */
	FEATURE_FULL_THREADS,	       /* all 255 */
	FEATURE_MANY_PROVIDERS,	       /* 300 */
	FEATURE_COUNT
};

/* As struct format has it. */
enum tracemend_status fxt_generate(struct gen *g);

struct fxt_gen {
	struct gen *g;
	struct choices *c;
	struct bytes *out;
	bool latest; /* the profile is not 2022 */
	bool has[FEATURE_COUNT];

	/* the record written last */
	size_t start;
	struct fxt_mark marks[FXT_MARKS_MAX];
	unsigned mark_count;
	uint64_t records;

	struct fxt_gen_provider *providers; /* [0] is the anonymous one in force before any provider record */
	unsigned provider_count, provider_max, current;
	struct fxt_gen_thread threads[FXT_GEN_THREADS];
	unsigned thread_count;
	struct fxt_gen_open open[FXT_GEN_OPEN];
	unsigned open_count;
	uint64_t next_koid, next_id, reuse_id;
	/* By index: registered by some provider; never to be registered by any. */
	uint8_t string_used[0x8000 / 8], string_aside[0x8000 / 8];
	bool thread_used[256], thread_aside[256];
	uint8_t *pattern; /* FXT_GEN_PATTERN bytes of ASCII, then as many of any kind */

	/* What a breaker that needs the whole file does at the end; NULL: nothing. */
	void (*at_end)(struct fxt_gen *f);
	uint64_t note; /* for it */
};

/* ---- fxt_put.c: records as the specification lays them out ---- */

/* Starts and ends a record of any type by hand. fields: the header without type and size. */
void fxt_put_begin(struct fxt_gen *f);
void fxt_put_end(struct fxt_gen *f, unsigned type, uint64_t fields);
void fxt_put_end_large(struct fxt_gen *f, unsigned large_type, uint64_t fields);
void fxt_put_word(struct fxt_gen *f, uint64_t word);
void fxt_put_time(struct fxt_gen *f, uint64_t ticks);
/* A stream and its padding. data NULL: zeros. */
void fxt_put_stream(struct fxt_gen *f, enum fxt_stream_role role, const void *data, size_t length);
void fxt_put_args(struct fxt_gen *f, const struct fxt_arg *args, unsigned count);
void fxt_put_mark(struct fxt_gen *f, enum fxt_mark_kind kind, unsigned role, size_t offset, unsigned shift, unsigned width,
		  size_t length);

void fxt_put_magic(struct fxt_gen *f);
void fxt_put_provider_info(struct fxt_gen *f, uint32_t id, struct fxt_text name);
void fxt_put_provider_section(struct fxt_gen *f, uint32_t id);
void fxt_put_provider_event(struct fxt_gen *f, uint32_t id, unsigned event);
void fxt_put_initialization(struct fxt_gen *f, uint64_t rate);
void fxt_put_long_initialization(struct fxt_gen *f, uint64_t rate, uint64_t ticks, uint64_t wall_ns);
void fxt_put_string(struct fxt_gen *f, uint16_t index, struct fxt_text text);
void fxt_put_thread(struct fxt_gen *f, uint8_t index, uint64_t process, uint64_t thread);
void fxt_put_event(struct fxt_gen *f, const struct fxt_gen_event *event);
void fxt_put_blob(struct fxt_gen *f, struct fxt_ref name, unsigned type, const void *data, size_t length);
void fxt_put_userspace(struct fxt_gen *f, uint64_t pointer, struct fxt_who process, struct fxt_ref name, const struct fxt_arg *args,
		       unsigned arg_count);
void fxt_put_kernel(struct fxt_gen *f, unsigned object_type, uint64_t koid, struct fxt_ref name, const struct fxt_arg *args,
		    unsigned arg_count);
void fxt_put_legacy_switch(struct fxt_gen *f, uint64_t time, unsigned cpu, unsigned state, struct fxt_who outgoing,
			   struct fxt_who incoming, unsigned outgoing_priority, unsigned incoming_priority);
void fxt_put_switch(struct fxt_gen *f, uint64_t time, unsigned cpu, unsigned state, uint64_t outgoing, uint64_t incoming,
		    const struct fxt_arg *args, unsigned arg_count);
void fxt_put_wakeup(struct fxt_gen *f, uint64_t time, unsigned cpu, uint64_t thread, const struct fxt_arg *args,
		    unsigned arg_count);
void fxt_put_log(struct fxt_gen *f, uint64_t time, struct fxt_who who, struct fxt_text message);
void fxt_put_module(struct fxt_gen *f, uint64_t time, struct fxt_who who, unsigned module, struct fxt_text name,
		    struct fxt_text build_id);
void fxt_put_mmap(struct fxt_gen *f, uint64_t time, struct fxt_who who, unsigned module, unsigned flags, uint64_t start,
		  uint64_t range, uint64_t vaddr);
void fxt_put_backtrace(struct fxt_gen *f, uint64_t time, struct fxt_who who, unsigned frames);
/* A large blob of either format (metadata: format 0, with time, thread and arguments). Event supplies the rest. */
void fxt_put_large_blob(struct fxt_gen *f, bool metadata, const struct fxt_gen_event *event, size_t payload);

/* The record written last, for those who spoil it: its header, its words, its marks. */
uint64_t fxt_last_header(const struct fxt_gen *f);
void fxt_last_set(struct fxt_gen *f, size_t offset, unsigned shift, unsigned width, uint64_t value);
uint64_t fxt_last_get(const struct fxt_gen *f, size_t offset, unsigned shift, unsigned width);
/* Bytes of the record written last. */
size_t fxt_last_size(const struct fxt_gen *f);
/* Changes the size that its header claims; words may be anything. */
void fxt_last_claim(struct fxt_gen *f, uint64_t words);
/* One of its marks of that kind, chosen; NULL when there is none. */
const struct fxt_mark *fxt_last_mark(struct fxt_gen *f, enum fxt_mark_kind kind);

/* ---- fxt_gen_model.c: what may be referred to ---- */

struct fxt_text fxt_text(const char *text);
/* A text of exactly that many ASCII bytes, at most 32,670. */
struct fxt_text fxt_text_of(struct fxt_gen *f, unsigned length);
/* Any text that the features allow. */
struct fxt_text fxt_text_any(struct fxt_gen *f);

struct fxt_ref fxt_ref_inline(struct fxt_text text);
/* Registers the text first when it has to. */
struct fxt_ref fxt_ref_indexed(struct fxt_gen *f, struct fxt_text text);
struct fxt_ref fxt_ref_to(struct fxt_gen *f, struct fxt_text text);
struct fxt_ref fxt_ref_any(struct fxt_gen *f);
/* The empty string by index 0. */
struct fxt_ref fxt_ref_empty(void);
/* Registers a text under an index of the current provider, known or new. */
void fxt_register_string(struct fxt_gen *f, uint16_t index, struct fxt_text text);
/* An index that no provider registers in this capture. */
uint16_t fxt_string_unused(struct fxt_gen *f);
uint8_t fxt_thread_unused(struct fxt_gen *f);

/* The current provider. */
struct fxt_gen_provider *fxt_provider(struct fxt_gen *f);
/* Writes the info record of the current provider, and its initialization. */
void fxt_introduce(struct fxt_gen *f);
/* Makes that provider the current one: info the first time, section later. */
void fxt_switch_provider(struct fxt_gen *f, unsigned provider);
/* Adds a provider that no record speaks of yet. Returns its number; the current one when there is no room. */
unsigned fxt_add_provider(struct fxt_gen *f);
/* An initialization record of the current provider. */
void fxt_put_initial(struct fxt_gen *f);
/* The time of the next record; moves the provider's clock. */
uint64_t fxt_tick(struct fxt_gen *f);
uint64_t fxt_koid(struct fxt_gen *f);
/* A thread of the current provider, by its place in f->threads. */
unsigned fxt_thread_any(struct fxt_gen *f);
/* A thread that nothing else in the capture uses. */
struct fxt_gen_thread fxt_thread_fresh(struct fxt_gen *f);
/* A reference to it: registers it, or not. */
struct fxt_who fxt_who(struct fxt_gen *f, unsigned thread);
struct fxt_who fxt_who_inline(const struct fxt_gen_thread *thread);
struct fxt_who fxt_who_any(struct fxt_gen *f);
/* That index of the current provider's table is about to mean another thread. */
void fxt_forget_thread_index(struct fxt_gen *f, uint8_t index);
struct fxt_arg fxt_arg_any(struct fxt_gen *f);
struct fxt_arg fxt_arg_of(struct fxt_gen *f, unsigned type, struct fxt_ref name);
/* A list of arguments; returns how many. At least `least`. */
unsigned fxt_args_any(struct fxt_gen *f, struct fxt_arg args[FXT_ARGS_MAX], unsigned least);

/* ---- fxt_gen_items.c: what a capture is made of ---- */

/* Anything legal here, by the features of the seed; and what the large features add, once. */
void fxt_make_item(struct fxt_gen *f);
void fxt_make_rarities(struct fxt_gen *f);
/* Ends every open duration, async operation and flow. */
void fxt_close_all(struct fxt_gen *f);

/* An instant, counter or complete event of any thread with at least so many arguments. */
void fxt_make_event(struct fxt_gen *f, unsigned type, unsigned least_args);
void fxt_make_begin(struct fxt_gen *f, unsigned thread);
void fxt_make_end(struct fxt_gen *f, unsigned thread);
/* A large blob of about that many words, at least 3. */
void fxt_make_large_blob(struct fxt_gen *f, size_t words);

/* Records on which nothing else depends: what spoils one of them has no consequences. */
enum fxt_leaf {
	LEAF_INSTANT,
	LEAF_COUNTER,
	LEAF_COMPLETE,
	LEAF_LOG,
	LEAF_BLOB,
	LEAF_KERNEL,
	LEAF_USERSPACE,
	LEAF_LARGE,
	LEAF_LEGACY_SWITCH,
	LEAF_STRING,
	LEAF_THREAD,
	/* not in the 2022 profile, which takes an instant event instead: */
	LEAF_SWITCH,
	LEAF_WAKEUP,
	LEAF_MODULE,
	LEAF_MMAP,
	LEAF_BACKTRACE,
	FXT_LEAVES
};
void fxt_make_leaf_of(struct fxt_gen *f, enum fxt_leaf leaf);
void fxt_make_leaf(struct fxt_gen *f);

/* ---- fxt_break.c ---- */

/* Puts the defect of g->rule into the capture. */
void fxt_break(struct fxt_gen *f);

/* One breaker a rule. */
#define RULE(sym, id, severity, class, title, clause, explanation, repair) void fxt_break_##sym(struct fxt_gen *f);
#include "formats/fxt/fxt_rules.def"
#undef RULE

/* What breakers share. */

/* Closes what the anonymous context has open: there is no way back to it. Called before another provider comes. */
void fxt_break_leave(struct fxt_gen *f);
/* A new provider, introduced and current. */
void fxt_break_provider(struct fxt_gen *f);
/* Goes back to the provider that was current, unless it is the anonymous one. */
void fxt_break_return(struct fxt_gen *f, unsigned provider);
/* True, and the record written last is withdrawn, when it reads without a fault as a record of another type that
 * differs in one bit: then nobody can say which of the two is damaged. `tries` are left; the last one always stands. */
bool fxt_break_withdraw(struct fxt_gen *f, unsigned tries);
/* A few valid records that follow a damaged one. */
void fxt_break_settle(struct fxt_gen *f);
/* A word that no record and no argument begins with: its size would be 0. */
uint64_t fxt_break_word(struct fxt_gen *f);
/* An instant event with arguments that are given; who and names are any. */
void fxt_break_event(struct fxt_gen *f, unsigned type, const struct fxt_arg *args, unsigned count, uint64_t tail);

#endif
