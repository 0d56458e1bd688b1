/* The generator of ktrace files: a model (header fields and a list of chunks, or a RAW file's parts) that is drawn first and
 * serialised last. Breakers change the model or the finished bytes. */
#ifndef KTRACE_GEN_H
#define KTRACE_GEN_H

#include "core/format.h"
#include "formats/ktrace/decode/ktrace_record.h"

#define KTRACE_GEN_CHUNKS 48u
#define KTRACE_GEN_THREADS 40u
#define KTRACE_REAL_SIZE (UINT64_MAX - 1)

/* What a file can contain: KTRACE_FEATURE_V3, ... */
enum ktrace_feature {
#define FEATURE(symbol, ...) KTRACE_FEATURE_##symbol,
#include "formats/ktrace/gen/ktrace_features.def"
#undef FEATURE
	KTRACE_FEATURE_COUNT
};

struct ktrace_made {
	uint32_t tag;
	uint16_t major, minor;
	bool in_header;
	struct bytes payload;
	uint64_t stored_size; /* KTRACE_REAL_SIZE: that of the payload */
	bool no_padding;
	uint8_t padding; /* value of the padding bytes */
	uint64_t at;	 /* out: offset of the chunk header */
};

struct ktrace_gen {
	struct gen *g;
	struct choices *c;
	struct bytes *out;
	int raw;	/* -1: version 3; 0, 1, 2: RAW */
	unsigned width; /* that a breaker needs: 32 or 64; 0: any */
	bool is_64;
	uint32_t magic, numer, denom, usec, flags, dst;
	int32_t west;
	uint16_t major, minor;
	uint64_t header_time, seconds;
	uint64_t header_size; /* KTRACE_REAL_SIZE: computed */
	bool counts_padding;  /* of the last header chunk */
	uint32_t header_gap;  /* bytes between header structure and first chunk */
	struct ktrace_made chunks[KTRACE_GEN_CHUNKS];
	unsigned count;
	uint64_t threads[KTRACE_GEN_THREADS]; /* ids in the thread map */
	unsigned thread_count;
	uint32_t cpus;
	uint64_t time;
	/* RAW */
	struct bytes map, gap, events;
	uint32_t raw_count; /* of threads, as stored */
	uint64_t frequency;
	uint8_t reserved; /* value of the reserved bytes of version 2 */
	uint64_t rest;	  /* of a breaker, for GEN_BYTES: bytes of the file that are left, or that are appended to it */
};

enum tracemend_status ktrace_generate(struct gen *gen);

/* As gen_has(), where no rule is broken: breakers take the file as it was drawn. */
static inline bool ktrace_gen_has(struct ktrace_gen *g, enum ktrace_feature feature, bool drawn)
{
	return g->g->rule >= 0 ? drawn : gen_has(g->g, feature, drawn);
}

/* Adds a chunk in the header (after the other header chunks) or at the end of the body. NULL: no room. */
struct ktrace_made *ktrace_make_chunk(struct ktrace_gen *g, uint32_t tag, uint16_t major, bool in_header);
/* The first chunk of that tag, or NULL. */
struct ktrace_made *ktrace_made_find(struct ktrace_gen *g, uint32_t tag);
/* Appends a record in the width of the file; its time is drawn from g->time when e->time is 0. */
void ktrace_make_event(struct ktrace_gen *g, struct bytes *to, struct ktrace_event e);
/* A point event of a known thread on a known CPU. */
struct ktrace_event ktrace_any_event(struct ktrace_gen *g);
/* n of them. */
void ktrace_make_events(struct ktrace_gen *g, struct bytes *to, uint64_t n);
void ktrace_make_thread(struct ktrace_gen *g, struct bytes *to, uint64_t tid, int32_t pid, const char *name, size_t length);
/* A point event, and often what belongs to it. */
void ktrace_make_some(struct ktrace_gen *g, struct bytes *to);
/* A new events chunk at the end of the body with a few events, for breakers. NULL: no room, or no memory. */
struct bytes *ktrace_make_events_chunk(struct ktrace_gen *g);
/* Adds an empty chunk, or a summary, that is valid: the one before it is then not the last. */
void ktrace_make_valid_chunk(struct ktrace_gen *g, uint32_t tag);
/* The payload of the first chunk of that tag, or NULL. */
struct bytes *ktrace_made_payload(struct ktrace_gen *g, uint32_t tag);
/* Cuts the finished file to g->rest bytes. */
void ktrace_made_cut(struct ktrace_gen *g);
/* A binary property list: a dictionary with these keys, which spaces part, and values that are drawn. */
void ktrace_make_plist(struct ktrace_gen *g, struct bytes *to, const char *keys);
/* A few chunks of the other kinds that readers know, at the end of the header or of the body. */
void ktrace_make_others(struct ktrace_gen *g, bool in_header);

#define BREAKERS_FORMAT ktrace
#define BREAKERS_RULES "formats/ktrace/ktrace_rules.def"
#include "core/breakers.h"

#endif
