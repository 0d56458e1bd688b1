/* The generator of LTTng traces. A trace is drawn (version, machine, channels), its declarations and events are written block by
 * block, and places of blocks and events are remembered. A breaker is called at each stage: before anything is drawn it says
 * what trace it needs; behind the declarations and among the events it may add what is wrong; at the end it may change files. */
#ifndef LTTNG_GEN_H
#define LTTNG_GEN_H

#include "core/format.h"
#include "formats/lttng/decode/lttng_type.h"

#define LTTNG_GEN_FILES 96u
#define LTTNG_GEN_CHANNELS 6u
#define LTTNG_GEN_CPUS 8u
#define LTTNG_GEN_PAYLOAD 130500u /* most bytes of one; blocks of 131,072 have room for a header and an event of it */
#define LTTNG_GEN_EVENTS 2048u	  /* whose places are remembered */

/* Versions, as bits of places in lttng_layouts. */
#define LTTNG_V(i) (UINT32_C(1) << (i))
enum { LV_0_6, LV_0_7, LV_0_8, LV_1_0, LV_LITERAL, LV_2_0, LV_2_0_64, LV_2_1, LV_2_2, LV_2_3, LV_2_4, LV_2_5, LV_2_6, LV_COUNT };
#define LV_ALL ((LTTNG_V(LV_COUNT) - 1) & ~LTTNG_V(LV_LITERAL))
#define LV_FACILITIES (LTTNG_V(LV_0_6) | LTTNG_V(LV_0_7) | LTTNG_V(LV_0_8))
#define LV_ONE LTTNG_V(LV_1_0)
#define LV_OLD (LV_FACILITIES | LV_ONE)
#define LV_NEW (LV_ALL & ~LV_OLD)
#define LV_VARIABLE (LTTNG_V(LV_2_5) | LTTNG_V(LV_2_6))
#define LV_FIXED (LV_ALL & ~LV_VARIABLE)
#define LV_CHANNEL (LV_VARIABLE | LTTNG_V(LV_2_3) | LTTNG_V(LV_2_4))
#define LV_TRACE (LV_NEW & ~LV_CHANNEL)
#define LV_LOSS (LV_CHANNEL | LTTNG_V(LV_2_2))

/* What a trace can contain: LTTNG_FEATURE_BIG_ENDIAN, ... */
enum lttng_feature {
#define FEATURE(symbol, ...) LTTNG_FEATURE_##symbol,
#include "formats/lttng/gen/lttng_features.def"
#undef FEATURE
	LTTNG_FEATURE_COUNT
};

/* An event type of the pool: its fields by a letter each, see lttng_gen_types.c. */
struct lttng_kind {
	const char *name, *format, *fields;
};
extern const struct lttng_kind lttng_kinds[];
extern const unsigned lttng_kind_count;
#define LTTNG_KIND_PRINTK 4u					 /* one string */
extern const struct lttng_kind lttng_kind_wide, lttng_kind_text; /* 320 bytes; one string: always declared when a rule is broken */

struct lttng_made_file {
	char name[64];
	struct bytes b;
	bool big, metadata, compact, tracefile;
	unsigned channel, cpu;
	uint64_t stamp; /* as a reader knows it */
	uint64_t block; /* offset of the open one */
	uint64_t begin; /* stamp of it */
	uint64_t limit; /* most bytes of a block */
	uint64_t end;	/* of the last event */
	unsigned blocks;
	bool first_event; /* none was written to this file yet */
	uint32_t lost, corrupt;
};

struct lttng_made_block {
	unsigned file, number;	 /* number within the file */
	uint64_t at, size, data; /* data: its end, from the start of the block */
	uint64_t begin, end;
	uint64_t first_stamp, last_stamp; /* of its events; 0: none */
	uint64_t last_event;		  /* offset of the last event's header in the file */
	unsigned events;
};

struct lttng_made_event {
	unsigned file;
	uint64_t before, start, payload, end; /* offsets in the file; before: end of what is in front */
	uint64_t header_end;
};

struct lttng_put {
	uint32_t id;
	uint8_t align;	/* of the payload, 2.x */
	int form;	/* 2.x; -1: as a tracer would */
	bool escape;	/* size in the long form */
	int size_error; /* added to the size */
	uint32_t word_xor;
	uint64_t stamp;
	uint64_t cut; /* offset in the block where the bytes stop; 0: nowhere */
};

struct lttng_gen {
	struct gen *g;
	struct choices *c;
	bool breaking;
	bool failed;
	/* What a breaker asks for. */
	uint32_t versions;
	unsigned min_blocks, min_cpus;
	int want_heartbeat, want_aligned;			    /* -1: any */
	bool want_compact, want_control, want_gap, want_exact_arch; /* exact_arch: 4 bytes */
	const char *prefix;					    /* of data channels, declarations included */
	uint64_t block_size;					    /* 0: drawn */
	uint32_t checksum_xor;
	bool early; /* data before its declarations */
	bool flip;  /* the first data file has the other byte order */
	/* The trace. */
	const struct lttng_layout *l;
	bool big, heartbeat, compact, flight, huge, losses;
	uint8_t arch, alignment;
	char home[48]; /* directory of a trace of user space; else empty */
	struct lttng_header h;
	unsigned cpus[LTTNG_GEN_CPUS], cpu_count;
	char channels[LTTNG_GEN_CHANNELS][40];
	bool channel_flight[LTTNG_GEN_CHANNELS];
	uint32_t first_id[LTTNG_GEN_CHANNELS]; /* of kinds */
	unsigned channel_count, kind_count;
	uint64_t begin, declare_stamp;
	uint64_t budget; /* bytes a data file; 0: events */
	struct lttng_made_file files[LTTNG_GEN_FILES];
	unsigned file_count, data_first; /* tracefiles from data_first on hold data */
	struct lttng_made_file *plant;	 /* PLANT: where */
	struct lttng_made_file *load;	 /* 0.x: where the last facility is loaded */
	size_t load_number;		 /* and where its number is in there */
	struct lttng_made_block *blocks; /* owned */
	size_t block_count, block_capacity;
	struct lttng_made_event events[LTTNG_GEN_EVENTS];
	unsigned event_count;
	unsigned last_written; /* events of the open block */
	uint64_t open_first, open_last_at;
	struct bytes scratch;
};

/* Whether a trace of so many bytes is asked for that it is made as real ones are: larger blocks, and mostly events without texts.
 */
static inline bool lttng_gen_is_large(const struct lttng_gen *g)
{
	return g->g->size > (4u << 20);
}

/* lttng_gen_types.c */
uint32_t lttng_gen_long(const struct lttng_gen *g);
/* Appends the payload of an event of that kind to g->scratch, emptied before, and returns its alignment. */
uint8_t lttng_gen_payload(struct lttng_gen *g, const struct lttng_kind *kind);
/* The XML of a facility, and the checksum that a tracer gives it. */
uint32_t lttng_gen_xml(struct lttng_gen *g, struct bytes *to, const char *facility, const struct lttng_kind *const *kinds,
		       unsigned count);

/* lttng_gen_write.c */
struct lttng_made_file *lttng_gen_file(struct lttng_gen *g, const char *name);
void lttng_gen_open(struct lttng_gen *g, struct lttng_made_file *f, uint64_t begin);
void lttng_gen_close(struct lttng_gen *g, struct lttng_made_file *f, uint64_t end);
/* Writes an event with the payload in g->scratch. */
void lttng_gen_put(struct lttng_gen *g, struct lttng_made_file *f, const struct lttng_put *put);
/* An event of any kind of the file's channel; flush, or lack of room, opens a new block. */
void lttng_gen_event(struct lttng_gen *g, struct lttng_made_file *f, uint64_t stamp, bool flush);
uint32_t lttng_gen_id(const struct lttng_gen *g, unsigned channel, unsigned kind);
void lttng_gen_declare_id(struct lttng_gen *g, struct lttng_made_file *f, const char *channel, const char *name, uint32_t id,
			  const uint8_t sizes[5]);
void lttng_gen_declare_format(struct lttng_gen *g, struct lttng_made_file *f, const char *channel, const char *name,
			      const char *format);
void lttng_gen_load(struct lttng_gen *g, struct lttng_made_file *f, const char *name, uint32_t id, uint32_t checksum,
		    const uint8_t sizes[5]);
void lttng_gen_sizes(const struct lttng_gen *g, uint8_t sizes[5]);

/* lttng_gen.c */
enum tracemend_status lttng_generate(struct gen *gen);

/* lttng_break.c: GEN_MODEL is behind the declarations, before any event. */
#define BREAKERS_FORMAT lttng
#define BREAKERS_RULES "formats/lttng/lttng_rules.def"
#include "core/breakers.h"

#endif
