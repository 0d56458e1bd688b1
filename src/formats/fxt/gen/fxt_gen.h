/* The generator of captures: one pass that appends records to the output, and a breaker for each rule that is called
 * once in the middle of it, when tables, open durations and the current provider are whatever the seed made them.
 *
 * Three floors: fxt_put.c knows the layout of each record and nothing else; fxt_gen_model.c keeps providers, tables and
 * threads, so that what is written refers to what is registered; fxt_gen.c draws what comes next. A breaker
 * (break/) writes one more record with the means of the first two and damages it, guided by the marks that the
 * first floor leaves: where the strings, references, arguments and reserved bits of the last record are. */
#ifndef FXT_GEN_H
#define FXT_GEN_H

#include "core/format.h"
#include "formats/fxt/gen/fxt_put.h"

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
	unsigned provider; /* index of the only provider that refers to it */
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
	FEATURE_STRINGS,      /* registrations that nothing needs: empty, duplicate, highest index */
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

/* What a capture must have, or not, for its defect to be possible. */
struct fxt_gen_shape {
	bool with[FEATURE_COUNT], without[FEATURE_COUNT];
	bool big_endian, no_items;
};

struct fxt_gen {
	struct gen *g;
	struct choices *c;
	struct bytes *out;
	bool latest; /* the profile is not 2022 */
	struct fxt_gen_shape shape;
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

	uint64_t note; /* of a breaker, for its last stage */
};

#endif
