/* The legacy LTTng/LTTV trace format, versions 0.6 to 2.6: its numbers, its layouts, its rules.
 *
 * A trace is a directory of tracefiles, one a channel and cpu. A tracefile is a row of blocks (sub-buffers); a block is a
 * header, events packed one after the other, and padding. Sources: "The LTTng trace format" of 2008-06-02, which describes
 * 1.0 (cited by heading, as in the rules), and for the other versions what their tracers wrote and their readers read.
 *
 * Offsets called `rel` count from the start of a block, all others from the start of the file. */
#ifndef LTTNG_H
#define LTTNG_H

#include "core/format.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* ---- limits of the format ---- */

#define LTTNG_MAGIC UINT32_C(0x00D6B7ED)
#define LTTNG_HEADER_MAX 135u		/* the longest block header (0.6) */
#define LTTNG_PAGE 4096u		/* blocks of the kernel tracer are whole pages */
#define LTTNG_OPEN UINT32_C(0xFFFFFFFF) /* in a size field: the block was never closed */
#define LTTNG_TIME_BITS 27u		/* of a 2.x event word */
#define LTTNG_TIME_MASK ((UINT64_C(1) << LTTNG_TIME_BITS) - 1)
#define LTTNG_CPU_MAX 4095u
#define LTTNG_SIZE_ESCAPE 0xFFFFu /* event size: 65,535 or more, see elsewhere */
#define LTTNG_FORM_FULL 29u	  /* id field of a 2.x event word: id, size and full stamp follow */
#define LTTNG_FORM_SIZE 30u	  /* id and size follow */
#define LTTNG_FORM_ID 31u	  /* id follows */

/* ---- limits of this reader, each reported when it is reached ---- */

/* Bytes of declarations (markers, facilities, channels) of one trace. TM_LIMIT. */
#define LTTNG_TABLE_BYTES_MAX (96u * 1024 * 1024)
/* Fields that one marker or event description may declare; more makes its size unknown (lttng/format-syntax). */
#define LTTNG_FIELDS_MAX 4096u
/* Nested types of an event description. */
#define LTTNG_TYPE_DEPTH_MAX 32u
/* A marker's name and format text; longer ones are a malformed declaration (lttng/metadata-payload-length). */
#define LTTNG_TEXT_MAX 65536u
/* Bytes of a facility's name; longer ones are a malformed record. */
#define LTTNG_NAME_MAX 256u
/* Changes that repair makes within one block; the rest of the block is given up after them. */
#define LTTNG_EDITS_MAX 256u
/* XML files up to this size are looked into; larger ones are passed over (lttng/eventdefs-syntax). */
#define LTTNG_XML_MAX (1024u * 1024)
/* Zeros that repair writes for one trace; beyond it, bytes that are no events any more are left in the padding. */
#define LTTNG_ZEROS_MAX (8u * 1024 * 1024)
/* Blocks before a block without an end that are searched for events it repeats: laps of up to so many sub-buffers. */
#define LTTNG_LAPS 4u
/* Events of these blocks that are remembered. */
#define LTTNG_SEEN_MAX (1024u * 1024)

/* ---- block headers: lttng_layout.c ---- */

enum lttng_field {
	/* of this block */
	LF_BEGIN,
	LF_BEGIN_FREQ,
	LF_END,
	LF_END_FREQ,
	LF_BEGIN_SEC,
	LF_BEGIN_USEC,
	LF_END_SEC,
	LF_END_USEC,
	LF_UNUSED, /* lost_size; from 2.5 data_size */
	LF_SIZE,   /* buf_size; from 2.5 sb_size */
	LF_EVENTS_LOST,
	LF_CORRUPT,
	/* of the trace: the same in every block of every file */
	LF_MAGIC,
	LF_MAJOR,
	LF_MINOR,
	LF_ARCH_TYPE,
	LF_ARCH_VARIANT,
	LF_FLOAT_ORDER,
	LF_ARCH_SIZE,
	LF_FLIGHT,
	LF_HEARTBEAT,
	LF_ALIGNMENT,
	LF_HAS_TSC,
	LF_TRUNCATE,
	LF_TSCBITS,
	LF_SHIFT,
	LF_SCALE,
	LF_FREQ,
	LF_TSC,
	LF_MONOTONIC,
	LF_SEC,
	LF_SUBSEC,
	LF_COUNT
};
#define LF_FIRST_CONSTANT LF_MAGIC

/* What the versions have in common. */
enum lttng_era {
	LTTNG_FACILITIES,      /* 0.6 to 0.8: facilities, described by XML files */
	LTTNG_MARKERS,	       /* 1.0: markers, ids of the trace, event sizes */
	LTTNG_TRACE_MARKERS,   /* 2.0 to 2.2: 32-bit event words, ids of the trace */
	LTTNG_CHANNEL_MARKERS, /* 2.3 to 2.6: ids of each channel */
};

struct lttng_place {
	uint8_t offset, width; /* width 0: the version has no such field */
};

struct lttng_layout {
	uint8_t major, minor;
	enum lttng_era era;
	const char *name; /* "2.6" */
	uint8_t magic;	  /* offset of the magic number */
	uint8_t size;	  /* of the header; the first event slot */
	bool literal;	  /* 1.0 as the document says, not as tracers wrote it */
	bool variable;	  /* 2.5 and later: blocks of any number of pages, data_size for lost_size */
	bool natural;	  /* 2.4 and 2.5: values of 8 bytes are aligned to 8 also on 32-bit machines */
	bool nanoseconds; /* unit of LF_SUBSEC; else microseconds */
	struct lttng_place places[LF_COUNT];
};

struct lttng_header {
	uint64_t v[LF_COUNT]; /* 0 where the version has no such field */
};

extern const struct lttng_layout lttng_layouts[];
extern const size_t lttng_layout_count;
extern const char *const lttng_field_names[LF_COUNT];
/* How a layout calls a field: lost_size and data_size share a place. */
const char *lttng_field_name(const struct lttng_layout *l, enum lttng_field field);

/* The version that the first bytes of a block show: magic at one of the four places and version bytes that belong there.
 * Of 2.0 and 1.0 the usual layout. NULL: no such block. `major`, `minor` are set when there is a magic number, also of a
 * version that has no layout here. length may be short. */
const struct lttng_layout *lttng_identify(const uint8_t *p, size_t length, bool *big_endian, int *major, int *minor);
/* p has l->size bytes. */
void lttng_header_load(struct lttng_header *h, const struct lttng_layout *l, bool big_endian, const uint8_t *p);
void lttng_header_store(uint8_t *p, const struct lttng_layout *l, bool big_endian, enum lttng_field field, uint64_t value);
/* Offset of the end of data that the header claims; l->size - 1 or less, or more than size, when it makes no sense. */
uint64_t lttng_header_data_end(const struct lttng_layout *l, const struct lttng_header *h, uint64_t size);

static inline bool lttng_has(const struct lttng_layout *l, enum lttng_field field)
{
	return l->places[field].width != 0;
}

static inline uint64_t lttng_align(uint64_t offset, uint64_t alignment)
{
	return alignment > 1 ? (offset + alignment - 1) & ~(alignment - 1) : offset;
}

/* ---- event descriptions: lttng_marker.c, lttng_facility.c ---- */

/* A step in measuring a payload. Fixed steps are merged where alignment allows. */
struct lttng_step {
	enum { STEP_FIXED, STEP_STRING, STEP_SEQUENCE } kind;
	uint8_t align;	    /* before it; 1: none */
	uint8_t pad;	    /* after it (0.x strings and sequences): to this; 1: none */
	uint8_t count_size; /* sequence: width of its count */
	uint32_t size;	    /* fixed: bytes. sequence: bytes of an element */
};

struct lttng_shape {
	struct lttng_step *steps; /* owned */
	uint32_t count;
	uint32_t fixed; /* payload bytes when it has one length */
	uint8_t align;	/* of the start of the payload, where the version aligns it to its largest field */
	bool is_fixed;
	bool known; /* false: nobody knows the length */
};

/* One event type: a marker, or an event of a facility. */
struct lttng_marker {
	char *name; /* owned */
	bool described;
	uint64_t first_use; /* stamp of the declaration; 0 unknown */
	uint32_t id;
	bool declared; /* an id record was kept */
	bool used;
	uint32_t ready; /* serial of the file whose events of this type go through the fast path; 0: none yet */
	bool late;	/* lttng/declaration-after-use was reported */
	bool owns_steps;
	struct finding *blame;	   /* what is wrong with using it, reported already */
	struct lttng_marker *twin; /* another number of the same name */
	struct lttng_shape shape;
};

/* What is known of a name: its description may come before or after its number. */
struct lttng_name {
	char *name, *format;	  /* owned */
	struct lttng_shape shape; /* owned; the markers borrow its steps */
	struct finding *blame;	  /* its description is bad */
	struct lttng_marker *marker;
	UT_hash_handle hh;
};

/* Event types by id: two levels, since ids are sparse. */
struct lttng_table {
	struct lttng_marker **pages[256]; /* owned, as are the markers */
	struct lttng_name *names;	  /* owned hash */
	uint32_t highest;
};

/* The sizes that declarations give: int, long, pointer, size_t, alignment. */
struct lttng_sizes {
	uint8_t v[5];
};
enum { SIZE_INT, SIZE_LONG, SIZE_POINTER, SIZE_SIZE_T, SIZE_ALIGNMENT, SIZE_KINDS };

struct lttng_channel {
	char *name;		   /* owned; relative to the trace, without "flight-" */
	struct lttng_table *table; /* borrowed from the trace up to 2.2, owned from 2.3 */
	UT_hash_handle hh;	   /* by name; in the order in which they were met */
	bool has_file, has_data, declared;
	bool opened;	     /* the table is lttng_infer()'s, for what no declaration is left of */
	uint64_t block_size; /* of its files, up to 2.4; 0: not known */
};

/* ---- the trace ---- */

struct lttng_file {
	struct source *source;
	const char *base;	       /* borrowed: the last part of the name */
	struct lttng_channel *channel; /* NULL: no tracefile */
	int64_t cpu;
	const struct lttng_layout *layout; /* that its first block shows; NULL: none */
	uint32_t header;		   /* bytes of a header of the version that the file names; 0: of none that is known */
	struct lttng_header first;	   /* the first header, when layout is set */
	struct lttng_header last;	   /* the last block's header as kept, when has_last */
	uint64_t block_size;		   /* up to 2.4 */
	uint64_t resync; /* the next sound header that a search found; 0: none searched; UINT64_MAX: there is none */
	uint64_t events, blocks;
	uint64_t last_from, last_to; /* bytes of the source: the last event that repair keeps of the block before; equal: none */
	struct {
		uint64_t offset, length;
	} laps[LTTNG_LAPS];    /* the blocks before; length 0: none */
	struct finding *cause; /* of an error in the block before */
	const char *aside_why; /* NULL: its bytes are dropped */
	unsigned aside_rule;
	unsigned lap;	  /* the one to be replaced */
	unsigned output;  /* of the plan */
	uint32_t serial;  /* from 1 */
	int major, minor; /* that its first block shows, known or not; -1: none */
	bool aside;	  /* not walked: set aside or dropped by repair, for `aside_rule` */
	bool flight, metadata, compact, control, empty, big_endian, has_last;
	bool noted_padding, noted_order, noted_freq, noted_switch, noted_session, noted_vendor; /* once a file */
};

/* A change within a block that repair makes. */
struct lttng_edit {
	uint64_t rel;
	uint32_t drop;		     /* bytes left out */
	uint64_t torn_from, torn_to; /* the event before it, which may have been hit, too; equal: it was not */
	bool found_again;	     /* what follows was searched for, and may be off in time */
	uint64_t found_to;	     /* end of the first event that was found, whose stamp may have been hit; 0: none */
	uint8_t length;		     /* bytes put in their place */
	uint8_t bytes[20];
	unsigned rule;
};

struct lttng_seen;
struct lttng_types;

/* How far the block behind the one in work has been walked already, see lttng_fast.c. */
struct lttng_ahead {
	struct window w;
	uint32_t serial;		  /* of its file; 0: none */
	uint64_t base, begin, end, limit; /* limit 0: there is no such block */
	uint64_t rel, last, stamp, before, events, first_stamp;
};

struct lttng_trace {
	struct scan *scan;
	struct findings *f;
	struct bundle *in;
	struct window w;	      /* events */
	enum tracemend_status status; /* sticky */

	const char *root; /* prefix of the names of its files, with '/', or "" */
	size_t root_length;
	struct lttng_file *files; /* owned; in order of name */
	size_t file_count, file_capacity;
	struct lttng_channel *channels; /* owned hash */
	struct lttng_table *table;	/* up to 2.2: the ids of the trace; owned */
	size_t table_bytes;

	const struct lttng_layout *layout; /* NULL: no file shows one */
	bool big_endian;
	struct lttng_header want; /* what the constants of every header should be */
	unsigned blame[LF_COUNT]; /* rule that a constant broke everywhere, + 1 */
	uint8_t arch, alignment;  /* effective */
	bool heartbeat, has_compact;
	bool clock_made_up;	  /* its frequency or scale was 0 everywhere */
	uint64_t begin;		  /* of the trace: the first begin stamp of most files */
	struct lttng_sizes sizes; /* of C types, as the declarations say */
	bool sizes_known;
	struct finding *sizes_blame; /* the declarations give wrong sizes: one finding for all of them */
	struct finding *duplicates;  /* one for all of them, as the next */
	struct finding *late_use;
	struct lttng_name *facilities[256]; /* 0.x; owned, with name and checksum in marker-less form */
	uint32_t facility_checksums[256];
	uint32_t compact_facility;	 /* 0.8: its number; UINT32_MAX: not loaded */
	uint32_t compact_events;	 /* 0.8: events of facility compact */
	struct finding *metadata_broken; /* the first error that lost declarations; later dangling ids follow from it */
	bool metadata_lost;		 /* declarations were lost, it cannot be known which */
	bool metadata_kept;		 /* repair: some of them stay */
	uint64_t latest;		 /* upper bound of stamps in blocks without end; UINT64_MAX: none known */
	bool latest_known;
	uint64_t zeros; /* written by repair so far */
	struct lttng_seen *seen;
	struct lttng_types *types; /* by id, of the file in work; owned */
	struct lttng_ahead ahead;
	struct lttng_edit edits[LTTNG_EDITS_MAX];
	uint32_t outline_block, outline_unused; /* parts of scan->outline: the open block, and its lost_size or data_size */
	uint64_t outline_at;			/* rel: end of the last event that has its part */
	uint64_t records, kept, patched;
	uint64_t lost_events, corrupt_blocks;
	uint64_t first_stamp, last_stamp;
};

/* ---- rules ---- */

enum lttng_rule {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) LTTNG_RULE_##sym,
#include "formats/lttng/lttng_rules.def"
#undef RULE
	LTTNG_RULE_COUNT
};
extern const struct tracemend_rule lttng_rules[LTTNG_RULE_COUNT];

/* lttng.c */
extern const struct format lttng_format;
/* Remembers the failure; returns false. */
bool lttng_no_memory(struct lttng_trace *t);
/* Counts bytes of tables against LTTNG_TABLE_BYTES_MAX and allocates them zeroed; NULL with t->status set. */
void *lttng_table_alloc(struct lttng_trace *t, size_t size);

/* lttng_dir.c: names. All of these report as they go. */
enum tracemend_status lttng_scan(struct scan *s);
/* Adds the bundle's files below t->root to the trace, and judges names. */
void lttng_dir_collect(struct lttng_trace *t);
/* What the version asks of the directory; needs t->layout. */
void lttng_dir_judge(struct lttng_trace *t);
/* Splits "name_3": length of the name part, or 0. *cpu is -1 when it is negative or has no digits, *loose that there is more
 * than digits or a leading zero. */
size_t lttng_name_split(const char *base, int64_t *cpu, bool *loose);
struct lttng_channel *lttng_channel_find(struct lttng_trace *t, const char *name, size_t length, bool make);

/* lttng_trace.c */
/* One trace: its files are those below root. */
enum tracemend_status lttng_trace_scan(struct scan *s, const char *root, size_t root_length, struct lttng_trace *t);
void lttng_trace_free(struct lttng_trace *t);

/* lttng_vote.c: what the headers of the trace agree on. */
void lttng_vote(struct lttng_trace *t);
/* Reports what is wrong with that. */
void lttng_vote_judge(struct lttng_trace *t);

/* lttng_frame.c: where blocks begin and end. */
struct lttng_frame {
	uint64_t offset, length; /* length: to the next block, or to the end of the file */
	bool last;
	bool next_sound; /* a sound header follows */
	bool sound;	 /* its own header was found sound by a search */
};
void lttng_frame_open(struct lttng_trace *t, struct lttng_file *f);
/* The frame at offset; false at the end of the file. */
bool lttng_frame_at(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_frame *frame);
/* How many constants of the header agree with the trace, and how many there are. */
unsigned lttng_header_score(const struct lttng_trace *t, const struct lttng_header *h, unsigned *of);
/* Whether it is what a hole left of a header of this trace: constants that agree, and zeros. */
bool lttng_header_is_rest(const struct lttng_trace *t, const struct lttng_header *h);
/* Copies bytes that the file has, without moving the window. */
bool lttng_read(struct lttng_trace *t, const struct lttng_file *f, uint64_t offset, void *to, size_t length);
/* Whether a sound header of this trace is at that offset. */
bool lttng_header_at(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_header *h);

/* lttng_event.c: walking the events of a block. */
struct lttng_walk {
	struct lttng_file *file;
	uint64_t base;	     /* of the block */
	uint64_t limit;	     /* rel: where events must end */
	uint64_t room;	     /* rel: end of the bytes that there are */
	uint64_t begin, end; /* stamps of the block; end UINT64_MAX: not known */
	uint64_t bound;	     /* stamps beyond it are of no event of this block (when `open`) */
	uint64_t stale;	     /* rel: from here on the bytes are those of an earlier lap; UINT64_MAX: not known */
	bool open;	     /* the end is not known: stop at what is no event, and report nothing */
	enum { ESCAPE_AS_IT_IS, ESCAPE_NEVER, ESCAPE_ALWAYS } escape; /* of 2.x sizes: whether 0xFFFF says that 32 bits follow */
	bool headless;						      /* its header is gone */
	uint64_t number;					      /* of the block, for messages */
	/* out */
	uint64_t rel;	 /* how far it came; in the end, the end of the last event that counts */
	uint64_t last;	 /* start of the last event that stays */
	uint64_t kept;	 /* end of it */
	uint64_t stamp;	 /* of it */
	uint64_t before; /* stamp of the event before it */
	uint64_t first_stamp;
	uint64_t events; /* that count */
	uint64_t patched, dropped;
	uint64_t late_events;
	uint64_t odd;	/* start of the first event that stays and is legal, but strange where something is damaged; 0: none */
	bool broken;	/* the walk stopped before the limit; what lies behind it is lost */
	bool cut_known; /* the number of events lost is known */
	bool end_moved; /* the end of data was wrong and is `rel` */
	bool torn;	/* what stands behind the last event is damaged, and may be its own end */
	bool resynced;	/* some of it was passed over, it cannot be known how many events */
	uint64_t tries; /* bytes that searches may still look at, once tries_set */
	bool tries_set;
	unsigned rule; /* for what it stopped */
	struct finding *finding;
	unsigned edit_count;
	struct finding *cause;	      /* what is wrong with the block as a whole: errors of its events follow from it */
	bool cut_explained;	      /* the block is known to be cut off: no finding for its last event */
	struct finding *header_cause; /* what is wrong with the header */
	struct finding *mended;	      /* the last event that was left out or patched ended at mended_to */
	uint64_t mended_to;
	bool noted[4]; /* kinds of notes that this block has given already */
};
void lttng_walk_events(struct lttng_trace *t, struct lttng_walk *k);

enum lttng_defect {
	EVENT_OK,
	EVENT_END,
	EVENT_HEADER_CUT,
	EVENT_PAYLOAD_CUT,
	EVENT_STRING_CUT,
	EVENT_DANGLING,
	EVENT_NO_FORMAT,
	EVENT_SIZE,
	EVENT_LOW_BITS,
	EVENT_CORE_ID,
	EVENT_NOT_CORE,
	EVENT_NO_FACILITY,
	EVENT_NO_NUMBER,
	EVENT_MALFORMED
};

struct lttng_event {
	uint64_t start;	    /* rel of its header, after padding */
	uint64_t payload;   /* rel */
	uint64_t end;	    /* rel; by the description where there is one */
	uint64_t sized_end; /* rel; by the size in its header; 0: it has none */
	uint64_t size_at;   /* rel of the size field */
	uint64_t stamp;
	uint64_t full; /* the full stamp of its header */
	uint32_t id;
	uint32_t word;
	uint8_t form; /* 2.x: 0, 29, 30 or 31 */
	uint8_t size_width;
	bool has_full;
	bool escaped;  /* its size uses the escape */
	uint64_t size; /* in its header */
	struct lttng_marker *marker;
	bool padded; /* padding before or in the header is not zero */
};
/* Alignment of event headers in that file; 0: none. */
uint64_t lttng_event_align(const struct lttng_trace *t, const struct lttng_file *f);
/* Decodes the event at or after rel. stamp is that of the event before. */
enum lttng_defect lttng_event_decode(struct lttng_trace *t, const struct lttng_walk *k, uint64_t rel, uint64_t limit,
				     uint64_t stamp, struct lttng_event *e);
struct lttng_marker *lttng_table_get(const struct lttng_table *table, uint32_t id);
/* The entry of that id, made when it is new; NULL with t->status set. */
struct lttng_marker *lttng_table_make(struct lttng_trace *t, struct lttng_table *table, uint32_t id);

/* lttng_measure.c */
/* End of the payload at rel, or 0 when it does not end within limit; *cut is the defect then. */
uint64_t lttng_measure(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_shape *shape, uint64_t rel,
		       uint64_t limit, enum lttng_defect *cut);

/* lttng_marker.c */
enum lttng_format_flaw { FORMAT_FINE, FORMAT_BAD, FORMAT_EIGHT = 2, FORMAT_UNNAMED = 4 };
/* Parses a format string into a shape. Returns flaws, or-ed; FORMAT_BAD leaves shape->known false. *at is the offset of what
 * is bad. False only when memory is short. */
bool lttng_format_parse(struct lttng_trace *t, const char *format, struct lttng_shape *shape, unsigned *flaws, size_t *at);
/* Adds a step and merges it with the one before where possible. */
bool lttng_shape_add(struct lttng_trace *t, struct lttng_shape *shape, struct lttng_step step);
/* After the last step: computes the fixed size. */
void lttng_shape_finish(struct lttng_shape *shape);
/* Alignment of a value of that size in payloads of this trace. */
uint8_t lttng_value_align(const struct lttng_trace *t, uint32_t size);

/* lttng_metadata.c: records that declare event types. */
/* The core types that need no declaration. */
bool lttng_metadata_core(struct lttng_trace *t);
/* Whether the event is one, of this file. */
bool lttng_metadata_is_declaration(const struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e);
/* Whether zeros right behind a declaration cannot have cut it short: its size says where it ends, or it ends with what is not zero
 * where it is whole, the sizes of types or the format of no fields. */
bool lttng_metadata_is_whole(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e);
/* Takes the declaration in. False: it is not to be kept (an error was reported, *rule). */
bool lttng_metadata_take(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, struct finding **fd,
			 unsigned *rule);
/* Declarations are lost, for this: it cannot be known which. The first reason is the one that counts. */
void lttng_metadata_lose(struct lttng_trace *t, struct finding *fd);
/* Gathers what the declarations say of sizes; before anything is judged. */
void lttng_metadata_vote(struct lttng_trace *t);
/* Whether what the declarations gave so far is no worse than by another layout: events of the first metadata block that are
 * whole, ending where the data does. 0: they do not. */
uint64_t lttng_metadata_fits(struct lttng_trace *t);
/* Describes a type of that channel by a format that was found out, and gives it a name where it has none. The format must parse.
 * Returns the table's copy of it; NULL when memory is short. */
const char *lttng_metadata_restore(struct lttng_trace *t, const struct lttng_channel *c, struct lttng_marker *m,
				   const char *format);
/* After the last data file. */
void lttng_metadata_unused(struct lttng_trace *t);
void lttng_table_free(struct lttng_table *table);
/* Adds a patch of the block at rel; false when there are too many. */
bool lttng_walk_patch(struct lttng_trace *t, struct lttng_walk *k, uint64_t rel, const void *bytes, size_t length, unsigned rule);

/* lttng_infer.c: between the declarations and the events. Where declarations are lost, finds out how long the events of their types
 * are, and has repair declare them again. */
void lttng_infer(struct lttng_trace *t);

/* lttng_redeclare.c */
/* A type whose declaration was lost and whose format was found out. */
struct lttng_restored {
	const struct lttng_channel *channel;
	struct lttng_marker *marker;
	const char *format; /* borrowed; NULL: not yet */
	bool named;	    /* only its description was lost */
};
/* Bytes of a format, and of the names of a channel and a type: with no more, any declaration fits the smallest block. */
#define LTTNG_RESTORED_FORMAT 1024u
#define LTTNG_RESTORED_NAMES 512u
/* The metadata file that can take them; NULL: there is none. */
struct lttng_file *lttng_declaring_file(struct lttng_trace *t);
/* Appends their declarations to the output of that file. */
void lttng_redeclare(struct lttng_trace *t, struct lttng_file *f, const struct lttng_restored *types, size_t count);

/* lttng_facility.c: 0.x */
/* Reads eventdefs/<name>.xml and fills the table for facility id. */
void lttng_facility_describe(struct lttng_trace *t, const char *name, uint32_t id, uint32_t checksum, const struct lttng_file *f,
			     uint64_t at);

/* lttng_xml.c */
struct lttng_xml {
	const char *text;
	size_t length, position;
	bool failed; /* not well-formed */
	size_t failed_at;
	const char *why;
};
enum lttng_xml_kind { XML_END, XML_OPEN, XML_CLOSE };
struct lttng_xml_tag {
	enum lttng_xml_kind kind;
	const char *name;
	size_t name_length;
	const char *attributes;
	size_t attributes_length;
	bool empty; /* <a/> */
	size_t at;
};
/* The next tag; text between tags, comments, and declarations are passed over. Dialects without a prolog and with unquoted
 * attributes are read, too. */
bool lttng_xml_next(struct lttng_xml *x, struct lttng_xml_tag *tag);
bool lttng_xml_is(const struct lttng_xml_tag *tag, const char *name);
/* The value of an attribute; NULL: it has none. */
const char *lttng_xml_attribute(const struct lttng_xml_tag *tag, const char *name, size_t *length);
bool lttng_xml_number(const struct lttng_xml_tag *tag, const char *name, uint64_t *value);
/* Looks at info/system.xml and bookmarks. */
void lttng_xml_info(struct lttng_trace *t, struct source *s);

/* lttng_block.c: one block: judge the header, walk the events, decide. */
struct lttng_block {
	const struct lttng_frame *frame;
	uint64_t number;
	uint8_t head[LTTNG_HEADER_MAX];	  /* as it is */
	uint8_t header[LTTNG_HEADER_MAX]; /* as it should be */
	struct lttng_header h;		  /* its values, as they should be */
	uint64_t size;			  /* of the block, as it should be */
	uint64_t data_end;		  /* rel, where the data ends; before the walk as the header says */
	bool keep;			  /* it stays */
	bool open;			  /* the marks of a block that was never closed */
	bool unknown_end;		  /* where its data ends is not known */
	bool bad_end;			  /* its end stamp is no good */
	bool cut;			  /* the file ends within it */
	bool made_up;			  /* the header is gone */
	bool lost;			  /* something of it is lost, it cannot be known how much */
	unsigned rule;			  /* of the first error: what changes are for */
	struct finding *cause;
	bool errors;
};
void lttng_file_scan(struct lttng_trace *t, struct lttng_file *f);
/* Reports something on bytes [from, from + length) of the block. The first error is the reason for what repair changes; later
 * errors of the same block follow from the same damage: they are folded, and NULL is returned. */
#define lttng_block_report(t, f, b, rule, ...) ((void)PLACE(rule), lttng_block_report_at((t), (f), (b), (rule), __VA_ARGS__))
struct finding *lttng_block_report_at(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, unsigned rule,
				      uint64_t from, uint64_t length, const char *format, ...) PRINTF_LIKE(7, 8);
/* The same on a field of the header. */
#define lttng_field_report(t, f, b, rule, ...) ((void)PLACE(rule), lttng_field_report_at((t), (f), (b), (rule), __VA_ARGS__))
struct finding *lttng_field_report_at(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, unsigned rule,
				      enum lttng_field field, const char *format, ...) PRINTF_LIKE(6, 7);

/* lttng_sizes.c: the size fields of a block. */
void lttng_sizes_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b);

/* lttng_time.c */
/* Stamps of a block against each other, the trace and the block before; after the walk. */
void lttng_time_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *k);
void lttng_losses_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b);

/* lttng_repair.c: what becomes of a block in the output. */
void lttng_repair_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *k);
void lttng_repair_copy(struct lttng_trace *t, struct source *s);
void lttng_repair_aside(struct lttng_trace *t, struct lttng_file *f);
/* Appends a block of `data` bytes, from its header on, with events up to `end`; the header is filled in after that of the block
 * before. */
void lttng_repair_made_up(struct lttng_trace *t, struct lttng_file *f, uint8_t *block, size_t data, uint64_t end, unsigned rule);
/* Makes the file in the output; its name, unless "flight-" comes off. */
unsigned lttng_repair_output(struct lttng_trace *t, const struct lttng_file *f);

/* lttng_stale.c: events of an earlier lap in blocks without an end. */
/* rel of the first byte of the block's tail that an earlier block of the file has at the same place; UINT64_MAX: none. */
uint64_t lttng_stale_tail(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame, uint64_t size);
/* Remembers the events of earlier blocks; then tells whether an event is one of them. */
void lttng_seen_gather(struct lttng_trace *t, struct lttng_file *f);
bool lttng_seen_test(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e);
void lttng_seen_add(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e);
void lttng_seen_free(struct lttng_trace *t);
/* The latest stamp that the trace can hold, by the ends of its closed blocks; UINT64_MAX when they do not tell. */
uint64_t lttng_latest(struct lttng_trace *t);

/* lttng_vote.c */
/* Ticks in a second; 0 when the header does not tell. */
double lttng_frequency(const struct lttng_layout *l, const struct lttng_header *h);

/* lttng_outline.c: declares the parts as the walk goes, when the scan has an outline. */
void lttng_outline_file(struct lttng_trace *t, const struct lttng_file *f);
void lttng_outline_file_end(struct lttng_trace *t);
void lttng_outline_block(struct lttng_trace *t, const struct lttng_file *f, const struct lttng_frame *frame);
void lttng_outline_block_end(struct lttng_trace *t, const struct lttng_frame *frame, uint64_t rel);
void lttng_outline_event(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e);
enum tracemend_status lttng_outline(struct outline *o, const char *profile);

/* lttng_gen.c. One function for every rule, void lttng_break_<sym>(struct lttng_gen *), is declared through
 * lttng_rules.def in lttng_gen.h, so that a rule without its breaker does not link. */
enum tracemend_status lttng_generate(struct gen *g);

#endif
