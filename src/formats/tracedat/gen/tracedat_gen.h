/* The generator: a model of a capture, which a breaker may change, and its serialisation, whose bytes it may change
 * afterwards. */
#ifndef TRACEDAT_GEN_H
#define TRACEDAT_GEN_H

#include "core/format.h"
#include "formats/tracedat/decode/tracedat_codec.h"
#include "formats/tracedat/decode/tracedat_header_text.h"
#include "formats/tracedat/decode/tracedat_shape.h"

#define TRACEDAT_GEN_FORMATS 32u
#define TRACEDAT_GEN_KINDS 63u /* of events, in tracedat_gen_events.c */
#define TRACEDAT_GEN_OPTIONS 48u
#define TRACEDAT_GEN_BUFFERS 3u
#define TRACEDAT_GEN_CPUS 4u
#define TRACEDAT_GEN_TEXT_CHUNK 1024u /* bytes of latency output in a chunk */

/* What a capture can contain: TRACEDAT_FEATURE_V6, ... */
enum tracedat_feature {
#define FEATURE(symbol, ...) TRACEDAT_FEATURE_##symbol,
#include "formats/tracedat/gen/tracedat_features.def"
#undef FEATURE
	TRACEDAT_FEATURE_COUNT
};

struct tracedat_gen_format {
	char system[300];
	struct bytes text;
	int64_t size_delta; /* added to the size that is stored */
};

struct tracedat_gen_option {
	unsigned id;
	struct bytes data;
	size_t at;  /* of the item in the file */
	bool late;  /* v7: in the second options section */
	int buffer; /* v7: whose BUFFER option it is, or -1 */
};

/* Chunks of compressed data: made while their content grows, so that a large file needs no memory for its decompressed
 * content. */
struct tracedat_gen_chunks {
	struct bytes bytes;
	uint32_t count;
};

struct tracedat_gen_cpu {
	uint32_t cpu;
	struct bytes pages; /* those that are in no chunk */
	struct tracedat_gen_chunks chunks;
	uint64_t records;
	uint64_t page_records; /* in the last page */
	uint64_t missed;       /* events that its pages say were lost */
	uint64_t last;	       /* time of its last record */
	uint64_t at, size;     /* in the file */
	uint32_t used;	       /* bytes of data in the open page; 0: none is open */
};

struct tracedat_gen_buffer {
	char name[32], clock[16];
	struct tracedat_gen_cpu cpus[TRACEDAT_GEN_CPUS];
	size_t count;
	size_t record_at, table_at, clock_at; /* v6 */
	size_t section_at, option_at;	      /* v7: of the header; of the option's payload */
};

/* Where things are in the file. */
struct tracedat_gen_marks {
	size_t header, header_event, ftrace, systems, kallsyms, printk, cmdlines, cpus, tag, options, options_end, flyrecord, stop;
	size_t options_offset;
	size_t section[TRACEDAT_ID_LAST + 1]; /* of the first section of an id */
	size_t done[2];
	size_t first_data; /* v6: after the padding */
};

struct tracedat_gen {
	struct gen *g;
	struct choices *choices;
	struct bytes *out;
	unsigned version;
	enum tracedat_codec codec;
	bool big_endian;
	uint8_t long_size, user_long;
	uint32_t page_size, header_page_size;
	struct bytes header_page, header_event, kallsyms, printk, cmdlines;
	struct tracedat_gen_format formats[TRACEDAT_GEN_FORMATS]; /* those of a system follow each other; ftrace comes first */
	size_t format_count;
	uint64_t kinds; /* of events, beside the few that are always there: a bit each */
	struct tracedat_gen_option options[TRACEDAT_GEN_OPTIONS];
	size_t option_count;
	struct tracedat_gen_buffer buffers[TRACEDAT_GEN_BUFFERS];
	size_t buffer_count;
	bool latency;
	struct bytes text; /* of latency output: what is in no chunk */
	struct tracedat_gen_chunks text_chunks;
	bool no_options;		 /* v6: no options tag at all */
	bool no_clock_block;		 /* v6 */
	bool no_done;			 /* v6 */
	bool twice;			 /* v6: a second block of options */
	bool omit[TRACEDAT_ID_LAST + 1]; /* v7: no section of that id, and no option for it */
	bool extra_section;		 /* v7: an unknown section, or a second one of kallsyms */
	unsigned extra_id;
	bool with_btf, with_modules; /* v7: sections of these, and options that name them */
	bool slack, minus_four;
	int64_t hp_delta, he_delta, ftrace_delta, systems_delta, events_delta, kallsyms_delta, printk_delta, cmdlines_delta;
	uint32_t chunk_pages;
	uint64_t compressed_size, decompressed_size; /* sizes of data that was compressed last */
	size_t instances;			     /* of a broken file */
	bool keep_small;			     /* records of 4 and 8 bytes, which the kernel does not write */
	bool junk_after_done;			     /* v7: behind the end of the second options */
	bool extra_at_end;			     /* v7: a large unknown section behind all others */
	unsigned short_pointer;			     /* v7: the option of that id has 4 bytes */
	struct tracedat_gen_marks at;
	uint64_t time;
};

/* ---- for breakers ---- */

void tracedat_gen_text(struct bytes *b, const char *text); /* replaces the content */
struct bytes *tracedat_gen_format_of(struct tracedat_gen *g, const char *name);
/* Replaces `what` by `with` in a text that contains `what`. */
void tracedat_gen_swap(struct bytes *text, const char *what, const char *with);
struct tracedat_gen_option *tracedat_gen_option(struct tracedat_gen *g, unsigned id);
struct tracedat_gen_option *tracedat_gen_option_add(struct tracedat_gen *g, unsigned id, const void *data, size_t size);
void tracedat_gen_option_remove(struct tracedat_gen *g, unsigned id);
void tracedat_gen_u16(struct tracedat_gen *g, size_t at, uint16_t value);
void tracedat_gen_u32(struct tracedat_gen *g, size_t at, uint32_t value);
void tracedat_gen_u64(struct tracedat_gen *g, size_t at, uint64_t value);
uint32_t tracedat_gen_get32(struct tracedat_gen *g, size_t at);
uint64_t tracedat_gen_get64(struct tracedat_gen *g, size_t at);
/* Records appended to a CPU's pages. */
void tracedat_gen_tick(struct tracedat_gen *g, struct tracedat_gen_cpu *c);
void tracedat_gen_label(struct tracedat_gen *g, struct tracedat_gen_cpu *c, const char *name);
/* Any payload, whose type must be set by the caller. */
void tracedat_gen_record(struct tracedat_gen *g, struct tracedat_gen_cpu *c, const void *payload, uint32_t size, uint32_t delta);
void tracedat_gen_stamp(struct tracedat_gen *g, struct tracedat_gen_cpu *c, uint32_t type, uint64_t value);
/* The prefix of a record of that event. */
void tracedat_gen_common(struct tracedat_gen *g, uint8_t *payload, unsigned id, uint32_t pid);
/* Room for total bytes in a page; a new page takes the time of the next record, whose delta is then 0. */
uint8_t *tracedat_gen_room(struct tracedat_gen *g, struct tracedat_gen_cpu *c, uint32_t total, uint32_t *delta);
/* An event word. */
uint32_t tracedat_gen_word(const struct tracedat_gen *g, uint32_t type, uint32_t delta);
/* Marks the open page: events were lost in front of it, so many, or 0 for an unknown number, which is also what a page without room
 * says. */
void tracedat_gen_missed(struct tracedat_gen *g, struct tracedat_gen_cpu *c, uint64_t count);
/* Closes the open page. */
void tracedat_gen_page_end(struct tracedat_gen *g, struct tracedat_gen_cpu *c);
/* The page of a CPU in the model, its commit word, its data. */
uint8_t *tracedat_gen_page(struct tracedat_gen *g, struct tracedat_gen_cpu *c, size_t index);
uint8_t *tracedat_gen_last_page(struct tracedat_gen *g, struct tracedat_gen_cpu *c);
uint64_t tracedat_gen_commit(struct tracedat_gen *g, const uint8_t *page);
void tracedat_gen_commit_set(struct tracedat_gen *g, uint8_t *page, uint64_t commit);
/* Rewrites the statistics after records were added or removed. */
void tracedat_gen_stats(struct tracedat_gen *g);

/* A new format in a system of its own, without own fields when fields is empty. */
void tracedat_gen_format_add(struct tracedat_gen *g, const char *system, const char *name, unsigned id, const char *fields,
			     const char *print);

#define EXPECT(symbol) gen_expect(g->g, TRACEDAT_RULE_##symbol)

/* ---- inside ---- */

/* Events as kernels have them: which ones, their formats (of ftrace, or of all others), a record of one of them; false: there are
 * none. */
void tracedat_gen_event_choose(struct tracedat_gen *g);
void tracedat_gen_event_formats(struct tracedat_gen *g, bool ftrace);
bool tracedat_gen_event(struct tracedat_gen *g, struct tracedat_gen_cpu *c);

enum tracemend_status tracedat_generate(struct gen *g);

void tracedat_gen_model(struct tracedat_gen *g);
/* Bytes in the section that extra_at_end adds: room for the second CPU's pages somewhere inside. */
size_t tracedat_gen_extra(const struct tracedat_gen *g);
/* Moves the first size bytes of the content to a chunk. */
void tracedat_gen_pack(struct tracedat_gen *g, struct tracedat_gen_chunks *chunks, struct bytes *content, size_t size);
void tracedat_gen_serialise(struct tracedat_gen *g);

#define BREAKERS_FORMAT tracedat
#define BREAKERS_RULES "formats/tracedat/tracedat_rules.def"
#include "core/breakers.h"

#endif
