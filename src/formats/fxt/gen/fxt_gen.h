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

/* FEATURE_PROVIDERS, ... */
enum fxt_feature {
#define FEATURE(symbol, ...) FEATURE_##symbol,
#include "formats/fxt/gen/fxt_features.def"
#undef FEATURE
	FEATURE_COUNT,
	FEATURE_COMMON = FEATURE_DEEP /* how many of them are drawn evenly */
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

/* Whether no record may have the feature, for which nobody asked. */
static inline bool fxt_gen_barred(const struct fxt_gen *g, unsigned feature)
{
	return (g->g->without & FEATURE_BIT(feature)) && !g->shape.with[feature];
}

#endif
