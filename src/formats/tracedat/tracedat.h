/* trace.dat, the file of trace-cmd, versions 6 and 7.
 *
 * Version 6 is one sequence: prefix, header_page and header_event, ftrace formats, event formats, kallsyms, printk formats,
 * command lines, CPU count, options, CPU table, clock, then page-aligned ring-buffer pages. Version 7 puts the same blocks
 * into sections that options point at, and may compress each. "MAN6" and "MAN7" in the rules are trace-cmd.dat.v6(5) and
 * trace-cmd.dat.v7(5); MAN6 is what the source document of this project became.
 *
 * A scan goes: prefix (tracedat_prefix.c), metadata into memory block by block (tracedat_v6.c, tracedat_v7.c, which call the
 * block files), placement of the CPU data (tracedat_place.c), then each page (tracedat_cpu.c, tracedat_page.c). While it
 * goes, a repairing scan notes for each block what its repaired form is made of (struct tracedat_pieces). When all pages are
 * known it goes over them once more and composes the output (tracedat_repair.c). */
#ifndef TRACEDAT_H
#define TRACEDAT_H

#include "core/cursor.h"
#include "core/format.h"
#include "core/limits.h"
#include "core/text.h"
#include "formats/tracedat/scan/tracedat_report.h"

/* ---- limits ---- */

#define TRACEDAT_PAGE_MIN 1024u
#define TRACEDAT_PAGE_MAX (1024u * 1024u)
/* CPUs of one buffer; the kernel's own NR_CPUS limit. Beyond it: cpu-count-range. */
#define TRACEDAT_CPUS_MAX 8192u
/* Bytes of metadata in memory at a time: all of version 6, one section of version 7 (decoded). Beyond it: TM_LIMIT. */
#define TRACEDAT_BLOCK_MAX (48u * 1024 * 1024)
/* Bytes of a header_page or header_event text. */
#define TRACEDAT_HEADER_MAX (64u * 1024)
/* Bytes of one event format file; longer ones are format-size-mismatch. */
#define TRACEDAT_FORMAT_MAX (1024u * 1024)
/* Formats whose ID is another's, or none, that are kept for records without a format. */
#define TRACEDAT_ORPHANS_MAX 16u
/* Fields of one event; further ones are not judged. */
#define TRACEDAT_FIELDS_MAX 512u
/* Option items, sections and buffers of a file; beyond it: TM_LIMIT. */
#define TRACEDAT_OPTIONS_MAX 65536u
#define TRACEDAT_SECTIONS_MAX 4096u
#define TRACEDAT_BUFFERS_MAX 1024u
/* Bytes of one decoded chunk of CPU data: trace-cmd writes ten pages. */
#define TRACEDAT_CHUNK_MAX (10u * TRACEDAT_PAGE_MAX)
/* Decoded bytes for a stored one, of a single block above 1 MiB, and of all of a file above 64 MiB. Beyond it:
 * size-overflow-bomb, and decoding stops there. Real captures are below 20. */
#define TRACEDAT_RATIO_MAX 5000u
#define TRACEDAT_RATIO_ALL_MAX 200u
/* Nesting and widths of a print format that readers survive. */
#define TRACEDAT_PRINT_DEPTH_MAX 200u
#define TRACEDAT_PRINT_WIDTH_MAX 4096u
/* Largest process id of Linux. */
#define TRACEDAT_PID_MAX 4194304u

/* ---- names of the format ---- */

enum tracedat_id {
	TRACEDAT_DONE = 0,
	TRACEDAT_DATE = 1,
	TRACEDAT_CPUSTAT = 2,
	TRACEDAT_BUFFER = 3,
	TRACEDAT_TRACECLOCK = 4,
	TRACEDAT_UNAME = 5,
	TRACEDAT_HOOK = 6,
	TRACEDAT_OFFSET = 7,
	TRACEDAT_CPUCOUNT = 8,
	TRACEDAT_VERSION = 9,
	TRACEDAT_PROCMAPS = 10,
	TRACEDAT_TRACEID = 11,
	TRACEDAT_TIME_SHIFT = 12,
	TRACEDAT_GUEST = 13,
	TRACEDAT_TSC2NSEC = 14,
	TRACEDAT_STRINGS = 15,
	TRACEDAT_HEADER_INFO = 16,
	TRACEDAT_FTRACE_EVENTS = 17,
	TRACEDAT_EVENT_FORMATS = 18,
	TRACEDAT_KALLSYMS = 19,
	TRACEDAT_PRINTK = 20,
	TRACEDAT_CMDLINES = 21,
	TRACEDAT_BUFFER_TEXT = 22,
	TRACEDAT_BTF_FILE = 23,
	TRACEDAT_LAST_BOOT = 24,
	TRACEDAT_MODULES = 25,
	TRACEDAT_ID_LAST = 25,
};

#define TRACEDAT_PARTS 6 /* HEADER_INFO to CMDLINES, in their order */
#define TRACEDAT_SECTION_SIZE 16u
#define TRACEDAT_OPTION_HEADER 6u /* id and size */
#define TRACEDAT_COMPRESSED 1u
#define TRACEDAT_TAG_SIZE 10u

enum tracedat_rule {
#define RULE(symbol, ...) TRACEDAT_RULE_##symbol,
#include "formats/tracedat/tracedat_rules.def"
#undef RULE
	TRACEDAT_RULE_COUNT
};

extern const struct tracemend_rule tracedat_rules[];

enum tracedat_codec { TRACEDAT_NONE, TRACEDAT_ZSTD, TRACEDAT_ZLIB };

/* ---- what an output is made of ---- */

/* A copy of bytes of a space (the file, or a block), or a literal. */
struct tracedat_piece {
	const struct source *source; /* of a copy in file space; NULL in block space */
	uint64_t from;		     /* copy: where; literal: offset in tracedat_pieces.literals */
	uint64_t length;
	uint64_t old;	 /* literal: bytes of the space that it takes the place of if they differ; NO_OLD */
	const char *why; /* literal; static or of plan_why() */
	uint16_t rule;
	bool literal, copied; /* copied: bytes that another piece has kept already */
};

#define TRACEDAT_NO_OLD UINT64_MAX

struct tracedat_pieces {
	struct tracedat_piece *list;
	size_t count, capacity;
	struct bytes literals;
	uint64_t size; /* bytes of all pieces */
	bool failed;
};

void tracedat_pieces_free(struct tracedat_pieces *p);
/* Appends a copy; contiguous ones merge. */
void tracedat_copy(struct tracedat_pieces *p, const struct source *s, uint64_t from, uint64_t length);
/* Appends a literal; its index in the list is returned for tracedat_fill(). */
size_t tracedat_literal(struct tracedat_pieces *p, const void *bytes, size_t length, unsigned rule, const char *why);
/* A literal that takes the place of a field at `old` of the space: where the bytes agree it becomes a copy. */
size_t tracedat_field(struct tracedat_pieces *p, const struct source *s, uint64_t old, const void *bytes, size_t length,
		      unsigned rule, const char *why);
void tracedat_fill(struct tracedat_pieces *p, size_t piece, const void *bytes);

/* ---- blocks: metadata in memory ---- */

/* A piece of the file as it is, or what a compressed section decodes to. */
struct tracedat_block {
	uint8_t *data; /* owned; a NUL follows */
	size_t size;
	uint64_t offset; /* in the file: of data[0], or of the compressed section's header */
	uint64_t stored; /* bytes in the file */
	bool compressed;
	const char *name; /* "event formats": begins a finding's path */
};

/* ---- events ---- */

struct tracedat_dynamic {
	uint16_t offset; /* of the field in the payload */
	bool relative;	 /* __rel_loc: the offset counts from the end of the field */
	bool text;	 /* char: a NUL is expected */
};

struct tracedat_event {
	uint32_t id;
	uint32_t fixed;	  /* bytes that a payload has at least */
	uint32_t slack;	  /* bytes that it may have more */
	uint32_t dynamic; /* first of its dynamic fields in tracedat.dynamics */
	uint16_t dynamic_count;
	uint16_t printk; /* offset of a pointer into the printk formats; 0: none */
	uint16_t ip[2];	 /* offsets of kernel text addresses; 0: none */
	bool special;	 /* one of the above is set, or it is contested */
	bool contested;	 /* another format has its ID */
	const struct tracedat_block *block;
	size_t text, text_size;	   /* of its format in the block */
	bool placeholder;	   /* made by repair for a format that is lost */
	uint64_t hash;		   /* of system and name */
	char system[24], name[40]; /* for messages; cut */
};

/* A format whose ID is none, or another's; or that other. */
struct tracedat_orphan {
	struct bytes text;
	size_t id_at, id_end;  /* of the line with the ID in the text */
	uint32_t fixed, slack; /* as of an event */
	uint64_t hash;
	uint32_t claim;		 /* the ID that comes twice; 0: the ID is none */
	int rival;		 /* which other orphan has that ID, and is its holder; -1: none */
	bool holder, moved;	 /* holder: it came first; moved: it gets another ID, and its rival this one */
	uint32_t id;		 /* that it gets; 0: none */
	uint64_t offset, stored; /* in the file: of the text, or of the compressed section */
};

/* ---- options, sections, buffers ---- */

struct tracedat_option {
	const struct tracedat_block *block; /* that it lies in */
	size_t at;			    /* of its payload in the block; the 6 bytes before it are id and size */
	uint32_t size;
	uint16_t id;
	uint16_t section; /* index of its options section (v7) */
	bool dropped;	  /* repair leaves it out */
	unsigned rule;	  /* why it is dropped or changed */
	const char *why;
	struct bytes changed; /* payload that repair writes instead; empty: as it is */
	int buffer;	      /* index of the buffer it describes, or -1 */
};

struct tracedat_section {
	uint64_t offset; /* of its header */
	uint64_t size;	 /* real bytes after the header */
	uint64_t declared;
	uint64_t moved; /* where repair puts it */
	uint16_t id, flags;
	int32_t description;
	bool referenced; /* by an option, or by the walk for STRINGS */
	bool reached;	 /* an options section of the chain */
	bool lost;	 /* its content cannot be used: repair leaves it out */
	bool size_bad;
	unsigned rule; /* why it is lost */
	const char *why;
	struct finding *damage; /* its content is what came out before the damage that this tells of; NULL: all of it */
	struct tracedat_block block;
	uint64_t frame;				 /* compressed: bytes of the frame itself */
	size_t first_option, option_count, done; /* of an options section; done: offset of its DONE item in the block */
	bool has_done;
};

struct tracedat_cpu {
	uint32_t cpu;
	uint64_t offset, size; /* as declared */
	uint64_t from, length; /* bytes of the file that are walked; length 0: none */
	uint64_t records;      /* data records that are sound */
	uint64_t first_time, last_time;
	uint64_t moved, moved_size; /* where repair puts it */
	uint64_t end;		    /* where its data in the file really ends */
	uint64_t declared_at;	    /* file offset of its table entry; 0: none */
	bool missed;		    /* a page says that events were lost */
	uint64_t limit;		    /* compressed: chunks may reach up to here */
	bool found;		    /* by content, no table names it */
	bool clipped;		    /* its range was shortened: that is reported already */
	bool fewer;		    /* chunks, or bytes of them, than are claimed */
	bool lost;		    /* its range cannot be used */
	bool shifted;		    /* its data is not where the table says: that is reported already */
};

struct tracedat_buffer {
	char name[64]; /* of the instance, cut, for messages */
	struct bytes raw_name, clock;
	uint32_t page_size;
	struct tracedat_cpu *cpus;
	size_t count, capacity;
	int section;		       /* v7: its section 3, or -1 */
	size_t option;		       /* its option, or SIZE_MAX */
	bool compressed, text;	       /* text: latency output */
	bool text_torn;		       /* of which chunks are lost, or the last line has no end */
	uint64_t text_stop;	       /* where its last whole line ends, of one that is not compressed */
	uint64_t record_at;	       /* v6: of its tag in the file */
	uint64_t table_at;	       /* v6: of its table in the file */
	uint64_t clock_at, clock_size; /* v6: clock block with its length, or 0 */
	bool clock_bad, lost;
	uint64_t moved;
};

/* What one CPUSTAT option says. */
struct tracedat_stat {
	int buffer_name; /* option index of the "Buffer:" heading, or -1 for the top buffer */
	uint32_t cpu;
	uint64_t entries, overrun, read;
	bool known;		    /* entries and read events were there */
	uint64_t oldest_us, now_us; /* microseconds; 0: not there */
	size_t option;
};

/* ---- one scan ---- */

struct tracedat_drop {
	const struct source *source;
	uint64_t from, length;
	unsigned rule;
	const char *why;
};

struct tracedat_edit {
	uint32_t at, remove, zeros;
	uint8_t bytes[8];
	uint8_t length;
	uint16_t rule;
	const char *why;
};

/* What the bytes look like. */
struct tracedat_shape {
	unsigned version;
	bool big_endian, old_ring; /* old_ring: the encoding of Linux 2.6.30 and before */
	uint8_t long_size;	   /* of the kernel */
	enum tracedat_codec codec;
	uint32_t page_size;
};

/* The initial block, and the compression header of v7. */
struct tracedat_prefix {
	uint8_t user_long;
	bool page_size_bad, lost; /* lost: all of it is inferred from the content */
	bool codec_bad;		  /* v7: the name of the compressor cannot be kept */
	uint64_t end;		  /* of the common 18 bytes */
	uint64_t header_end;	  /* v7: of the compression header */
	uint64_t options_offset;  /* v7 */
	size_t version_length;	  /* bytes of the version string with its NUL, as it is */
	uint64_t options_at;	  /* v7: where the offset is */
};

/* The blocks of metadata, and what they become. */
struct tracedat_metadata {
	struct tracedat_block v6;
	struct tracedat_pieces parts[TRACEDAT_PARTS];
	bool seen[TRACEDAT_PARTS];
	const struct tracedat_block *blocks[TRACEDAT_PARTS];
	struct {
		size_t size_at, text, text_size; /* header_page in its block */
		size_t event_size_at, event, event_size;
		bool page_tag_bad, event_tag_bad, page_lost, event_lost, regenerate;
		const struct tracedat_block *block;
		unsigned rule;
	} header;
	uint32_t header_page_size; /* as header_page implies; 0: unknown */
	uint64_t stop;		   /* v6: end of all metadata before the CPU data */
};

struct tracedat_unknown {
	struct finding *finding;
	uint64_t records;
	uint32_t least, most; /* bytes of their payloads */
};

/* What the event formats say. */
struct tracedat_events {
	bool lost;		 /* some formats are */
	struct finding *finding; /* the first that says so; explains records without a format */
	size_t systems;		 /* of the event formats */
	uint16_t *index;	 /* by id: 1 + index in list; 65536 of them */
	struct tracedat_event *list;
	size_t count, capacity;
	struct tracedat_dynamic *dynamics;
	size_t dynamic_count, dynamic_capacity;
	uint64_t *names; /* open addressing over hashes of system and name */
	size_t name_capacity;
	struct bytes common;		  /* the common block of the first good format */
	uint32_t common_size;		  /* bytes of it in a record */
	struct tracedat_field *fields;	  /* scratch of the format parser */
	struct tracedat_unknown *unknown; /* by id, of records without a format; made when the first is met */
	struct tracedat_orphan orphans[TRACEDAT_ORPHANS_MAX];
	size_t orphan_count;
	uint32_t blk_id;	/* of blktrace records without a format; 0: none */
	unsigned measures;	/* searches for the end of a format: bounded */
	uint64_t *placeholders; /* repair: bitmap of ids that get a placeholder */
};

struct tracedat_message {
	uint64_t address, hash;
};

/* What kallsyms, printk formats and command lines say. */
struct tracedat_texts {
	uint8_t *pids;			 /* bitmap of known process ids */
	struct tracedat_message *printk; /* sorted by address */
	size_t printk_count, printk_capacity;
	uint64_t symbol_low, symbol_high;
	bool symbols, cmdlines; /* there are any */
};

/* Options and sections. */
struct tracedat_directory {
	struct tracedat_option *options;
	size_t option_count, option_capacity;
	struct tracedat_stat *stats;
	size_t stat_count, stat_capacity;
	struct tracedat_section *sections;
	size_t section_count, section_capacity;
	struct bytes strings;
	int clock_option, cpucount_option; /* last ones; -1: none */
	uint64_t tag_at;		   /* v6: of the first data tag */
	bool tag_seen;			   /* v6: it is that of options */
	unsigned resyncs;		   /* searches for options after damage: bounded */
};

/* Where the data of the CPUs is. */
struct tracedat_data {
	struct tracedat_buffer *buffers;
	size_t buffer_count, buffer_capacity;
	uint32_t cpu_count;    /* as the file says */
	uint64_t cpu_count_at; /* v6 */
	uint64_t tag_at;       /* v6: of the data tag after the options */
	bool latency;
	bool errors; /* placement is broken in a way that loses data */
	uint64_t latency_at, latency_stop;
	unsigned slides, searches; /* searches after damage: each kind is bounded */
	uint64_t compared;	   /* statistics that were compared: bounded */
};

/* The pages that are walked. */
struct tracedat_pages {
	uint8_t *chunk; /* one decoded chunk */
	size_t chunk_capacity;
	uint8_t *previous; /* the page before, when it was in another chunk */
	uint64_t decoded;  /* bytes decoded so far */
	void *zstd;
	struct tracedat_edit *edits;
	size_t edit_count, edit_capacity;
	uint64_t records, lines; /* lines: those of them that are latency output */
	struct finding *ip_finding, *printk_finding, *pid_finding;
};

/* What repair writes. */
struct tracedat_output {
	struct tracedat_pieces pieces;
	struct tracedat_drop *drops;
	size_t drop_count, drop_capacity;
	uint64_t kept, lost;
	enum tracemend_exactness lost_is;
	bool lost_other; /* texts, formats and the like */
};

struct tracedat_walk {
	struct scan *s;
	struct findings *findings; /* of the scan, or a scratch list while repair walks again */
	struct findings *scratch;
	struct source *source;
	struct window window;
	enum tracemend_status status; /* sticky: TM_NO_MEMORY, TM_LIMIT, TM_IO, TM_CANCELLED */
	bool repair;		      /* compose pieces */
	bool emitting;		      /* second walk over the pages: append them to out */
	bool stopped;		      /* a decompression bomb: nothing more is decoded */
	struct tracedat_shape shape;
	struct tracedat_prefix prefix;
	struct tracedat_metadata meta;
	struct tracedat_events events;
	struct tracedat_texts texts;
	struct tracedat_directory dir;
	struct tracedat_data data;
	struct tracedat_pages pages;
	struct tracedat_output out;
};

/* ---- tracedat.c ---- */

/* Grows an array for one more element. False and a sticky status when memory is short or max is reached. */
bool tracedat_room(struct tracedat_walk *w, void *array, size_t *capacity, size_t count, size_t size, size_t max);
void tracedat_no_memory(struct tracedat_walk *w);
void tracedat_block_free(struct tracedat_block *b);
const char *tracedat_id_name(unsigned id);
/* Notes why input bytes will not be in the output. */
void tracedat_drop(struct tracedat_walk *w, uint64_t from, uint64_t length, unsigned rule, const char *why);
/* The same for a range of a block. */
void tracedat_drop_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			 const char *why);
bool tracedat_page_size_ok(uint64_t size);
uint64_t tracedat_align(uint64_t offset, uint64_t alignment);

/* ---- tracedat_prefix.c ---- */

/* Reads the initial block (MAN6 "INITIAL FORMAT") and the compression header of v7. False: nothing else can be judged. */
bool tracedat_prefix(struct tracedat_walk *w);

/* ---- tracedat_infer.c ---- */

struct tracedat_inferred {
	unsigned version;
	bool big_endian;
	enum tracedat_codec codec; /* of version 7 */
};
/* What the first section header or event format of a file of `size` bytes tells. False: there is none near its beginning. */
bool tracedat_infer(struct window *window, uint64_t size, struct tracedat_inferred *found);

/* ---- blocks: each parses data[at, end), which is the block's extent as far as the file tells, reports, notes what the
 * repaired block is made of in parts[], and takes from it what the pages need ---- */

void tracedat_header(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_ftrace(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_systems(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_kallsyms(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_printk(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
void tracedat_cmdlines(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end);
/* The default header_page text of that shape; for repair and the generator. */
void tracedat_header_page_text(struct bytes *b, unsigned long_size, uint32_t page_size);
void tracedat_header_event_text(struct bytes *b);
/* Where a list of formats that begins at `at` ends, going by sizes alone; SIZE_MAX where they make no sense. */
size_t tracedat_formats_hop(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t size, uint32_t count);
/* The same for a list of systems, which begins with their number. */
size_t tracedat_systems_hop(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t size);
/* Whether a format file begins there: a size, and a text that begins as one does. */
bool tracedat_format_begins(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t end);

/* Parses one format file (text of the block) into the event tables; `quiet` only counts errors. Returns its errors.
 * changed gets the repaired text when repair is on and there are errors; empty: the file is dropped. */
unsigned tracedat_format_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t size, const char *system,
			       struct bytes *changed);

struct tracedat_field {
	uint32_t name, name_length, type, type_length; /* in the text */
	uint32_t line, line_end;
	uint32_t offset, size;
	uint32_t elements; /* of a fixed array; 0: not one, or unknown */
	bool array, open_array, dynamic, relative, text, pointer, common, bad;
	bool has_signed, is_signed;
};

/* Parses one field line, text[0, size) without its LF, whose offset in the format is line. False: not a field line. */
bool tracedat_field_line(const char *text, uint32_t line, uint32_t size, struct tracedat_field *f);
/* The event of an id, or NULL. */
static inline const struct tracedat_event *tracedat_event_of(const struct tracedat_walk *w, uint32_t id)
{
	uint16_t index = w->events.index[id & 0xffff];
	return index ? &w->events.list[index - 1] : NULL;
}
/* The text of a format for an event whose own is lost: common fields and the rest as bytes. */
void tracedat_placeholder_text(const struct tracedat_walk *w, uint32_t id, struct bytes *out);

/* ---- tracedat_orphan.c ---- */

/* Makes t->unknown where there is none yet. False: memory is short. */
bool tracedat_unknown_table(struct tracedat_walk *w);
void tracedat_orphans_free(struct tracedat_walk *w);
/* Keeps the format of an event, a text of the block; NULL: there are too many. */
struct tracedat_orphan *tracedat_orphan_add(struct tracedat_walk *w, const struct tracedat_block *b, const struct tracedat_event *e);
/* Gives orphans the IDs of records without a format that only they fit, when all records are known. */
void tracedat_orphans_match(struct tracedat_walk *w);
/* Whether the event of that name has to leave that ID to its rival. */
bool tracedat_orphan_moved(const struct tracedat_walk *w, uint64_t hash, uint32_t id);
/* The orphan that got the ID, or NULL; and its text with it. */
const struct tracedat_orphan *tracedat_orphan_of(const struct tracedat_walk *w, uint32_t id);
void tracedat_orphan_text(const struct tracedat_orphan *o, struct bytes *out);

/* Composes parts[0] when page size and long size are settled. */
void tracedat_header_compose(struct tracedat_walk *w);

/* Checks a print format: text[0, size) after "print fmt:". Returns its errors. report: NULL for a quiet look. */
struct tracedat_print {
	struct tracedat_walk *w;
	const struct tracedat_block *block; /* NULL: quiet */
	size_t base;			    /* of text in the block */
	const char *text, *file;	    /* file: the format file that the fields index */
	size_t size;
	const struct tracedat_field *fields;
	size_t field_count;
	const char *path; /* "sched > sched_switch" */
};
unsigned tracedat_print_check(struct tracedat_print *p);

/* ---- tracedat_v6.c, tracedat_v7.c, tracedat_section.c ---- */

void tracedat_v6(struct tracedat_walk *w);
void tracedat_v7(struct tracedat_walk *w);
/* Finds all sections, whatever the pointers say. */
void tracedat_sections_find(struct tracedat_walk *w);
/* The section whose header is at offset; -1: none. */
int tracedat_section_at(const struct tracedat_walk *w, uint64_t offset);
struct tracedat_section *tracedat_section_add(struct tracedat_walk *w, uint64_t offset);
/* Whether a header stands there that may follow another section, or the file ends. */
bool tracedat_section_sane(struct tracedat_walk *w, uint64_t at);
/* Whether an uncompressed body looks like what its id says. size is the declared one. */
bool tracedat_body_fits(struct tracedat_walk *w, unsigned id, uint64_t at, uint64_t size);
/* Whether a compressed metadata body stands there: *real is its size by its own count. */
bool tracedat_frame_fits(struct tracedat_walk *w, uint64_t at, uint64_t size, uint64_t *real);
static inline bool tracedat_id_is_metadata(unsigned id)
{
	return id >= TRACEDAT_HEADER_INFO && id <= TRACEDAT_CMDLINES;
}

/* ---- tracedat_load.c ---- */

/* Loads the content of a metadata section into its block. False after a finding. */
bool tracedat_section_load(struct tracedat_walk *w, struct tracedat_section *s);

/* ---- tracedat_headless.c: sections whose header is lost ---- */

struct tracedat_headless {
	unsigned id;
	bool compressed;
	uint64_t size; /* of the section */
};
/* Whether the content behind a lost header at `at` is of a known kind and ends where its own counts say. */
bool tracedat_headless(struct tracedat_walk *w, uint64_t at, struct tracedat_headless *h);
/* Adds that section, after a finding. */
void tracedat_headless_adopt(struct tracedat_walk *w, uint64_t at, const struct tracedat_headless *h);
/* Formats whose section has lost its header: where that section begins, in [from, to), if the first format that is left is its
 * first one; `to` where there are none. */
uint64_t tracedat_formats_begin(struct tracedat_walk *w, uint64_t from, uint64_t to);
/* A section for formats in [at, to) whose own header is lost. */
void tracedat_formats_adopt(struct tracedat_walk *w, uint64_t at, uint64_t to);

/* ---- tracedat_options.c, tracedat_option.c ---- */

/* Parses items of block[at, end) until DONE. Returns the offset after DONE, or SIZE_MAX when there was none. */
size_t tracedat_options(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section);
/* Judges payloads when all options are known. */
void tracedat_options_judge(struct tracedat_walk *w);
/* Whether option items fill data[at, end) exactly and end in DONE. */
bool tracedat_options_fit(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t end);
/* The first place in [from, stop) from which options lead to the end of options that is right in front of stop; no further back
 * than 64 KB. SIZE_MAX: there is none. */
size_t tracedat_options_lead(const struct tracedat_walk *w, const uint8_t *data, size_t from, size_t stop);
void tracedat_option_drop(struct tracedat_option *o, unsigned rule, const char *why);
struct tracedat_buffer *tracedat_buffer_add(struct tracedat_walk *w);
struct tracedat_cpu *tracedat_cpu_add(struct tracedat_walk *w, struct tracedat_buffer *b);
/* The name between brackets of a trace_clock text; *length 0: none. */
const char *tracedat_clock_name(const char *text, size_t size, size_t *length);
bool tracedat_clock_known(const char *name, size_t length);

/* ---- tracedat_codec.c ---- */

struct tracedat_decoded {
	size_t size;	 /* bytes that came out */
	size_t consumed; /* bytes of the frame */
	bool fits;	 /* false: it wants more than the room */
};
/* Decodes one frame or stream from data[0, size) into out[0, room). False: the frame is broken. */
bool tracedat_decode(struct tracedat_walk *w, enum tracedat_codec codec, const uint8_t *data, size_t size, uint8_t *out, size_t room,
		     struct tracedat_decoded *d);
/* Bytes of the frame at data, or 0 when it does not end within size. */
size_t tracedat_frame_size(enum tracedat_codec codec, const uint8_t *data, size_t size);
bool tracedat_frame_begins(enum tracedat_codec codec, const uint8_t *data, size_t size);
/* Appends the frame of data. */
bool tracedat_encode(enum tracedat_codec codec, const void *data, size_t size, struct bytes *out);
const char *tracedat_codec_version(enum tracedat_codec codec);
void tracedat_codec_close(struct tracedat_walk *w);
/* True when decoding `decoded` bytes from `stored` is beyond the limits; reports it. */
bool tracedat_bomb(struct tracedat_walk *w, uint64_t at, uint64_t stored, uint64_t decoded);

/* ---- tracedat_place.c, tracedat_cpu.c, tracedat_page.c, tracedat_look.c, tracedat_latency.c ---- */

/* Where the pages of each CPU are: judges tables, finds lost ranges. */
void tracedat_place(struct tracedat_walk *w);
/* Walks all pages. */
void tracedat_cpus(struct tracedat_walk *w);
/* Latency output. Returns where its last whole line ends. */
uint64_t tracedat_latency_text(struct tracedat_walk *w, uint64_t from, uint64_t to);
/* Latency output in a section of v7; compressed chunks of it are appended to the output while t->emitting. */
void tracedat_latency_section(struct tracedat_walk *w, struct tracedat_buffer *b);

/* Lines that come in pieces. */
struct tracedat_text {
	bool begun, event;     /* a line is open; it is none of the heading */
	bool skip;	       /* up to the next LF: what comes before it is lost */
	bool torn;	       /* something is lost: chunks are made anew of whole lines */
	uint64_t total, whole; /* bytes so far, and of them up to the end of the last line */
	struct bytes carry;    /* the begin of a line */
};

void tracedat_text_count(struct tracedat_walk *w, struct tracedat_text *l, const uint8_t *text, size_t size);
/* Something between two pieces is lost. */
void tracedat_text_break(struct tracedat_text *l);
/* Appends the lines that end in this piece. */
void tracedat_text_whole(struct tracedat_text *l, const uint8_t *text, size_t size, struct bytes *out);

/* State of a walk over the pages of one CPU. */
struct tracedat_stream {
	struct tracedat_buffer *buffer;
	struct tracedat_cpu *cpu;
	struct tracedat_text *text; /* of latency output in chunks; else NULL */
	uint32_t page_size;
	uint64_t index;			 /* of the page */
	uint64_t last;			 /* time of the last record */
	uint64_t page_time, page_commit; /* of the previous page */
	uint64_t previous_at;		 /* file offset of it; 0: none, or in a chunk */
	bool started, pending_missed;
	bool sound; /* the last page was read to its end */
	struct finding *zero;
};

/* Where a page is, for findings. */
struct tracedat_place_of {
	uint64_t offset, length; /* of the page in the file, or of the chunk that holds it */
	bool in_chunk;
	uint32_t in;	    /* offset of the page in the decoded chunk */
	uint32_t available; /* bytes of the page that are there; 0: all */
};

enum tracedat_verdict { TRACEDAT_KEEP, TRACEDAT_PATCH, TRACEDAT_LEAVE };

/* Judges one page of walk->page_size bytes. Edits are left in t->edits. *records: sound ones; *bad: others that are known. */
enum tracedat_verdict tracedat_page(struct tracedat_walk *w, struct tracedat_stream *stream, const uint8_t *page,
				    const struct tracedat_place_of *where, uint32_t *records, uint32_t *bad);
/* A quick look: a page whose commit is sane, whose records end on it and have known ids. *records may be NULL. */
bool tracedat_page_plausible(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size, uint32_t *records);
/* The same for a page of which only the first `available` bytes are there: it begins with a sound record. */
bool tracedat_page_cut_plausible(const struct tracedat_walk *w, const uint8_t *page, uint32_t available, uint32_t page_size);
/* Where bytes were inserted or removed: the place in [low, high) nearest to `at`, at most a page away, where a plausible page
 * begins that another, or nothing, follows. UINT64_MAX: none. */
uint64_t tracedat_slide(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t low, uint64_t high);
/* Whether all bytes behind the data of a plausible page are zero. */
bool tracedat_page_tail_zero(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size);
/* Whether decoded pages can be what was compressed: frames have no checksum, and damage inside of one may decode all the same. */
bool tracedat_chunk_vouched(const struct tracedat_walk *w, const uint8_t *data, size_t size, uint32_t page_size);
uint32_t tracedat_page_data(const struct tracedat_walk *w); /* offset of the data in a page: 8 + L */
uint32_t tracedat_page_capacity(const struct tracedat_walk *w, uint32_t page_size);
/* A word of the size of long of the machine that wrote the capture; so many bytes are at `at`. */
static inline uint64_t tracedat_long(const struct tracedat_walk *w, const uint8_t *at)
{
	return w->shape.long_size == 8 ? load_u64(at, w->shape.big_endian) : load_u32(at, w->shape.big_endian);
}

/* Walks the pages of one CPU; also appends them to the output while t->emitting. */
void tracedat_cpu_walk(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_cpu *c);
/* The same for chunks of compressed CPU data. */
void tracedat_chunks(struct tracedat_walk *w, struct tracedat_stream *stream);
/* Whether the chunk at `at` unfolds to a page. */
bool tracedat_chunk_pages(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size);
/* Whether a chunk with a frame stands there. */
bool tracedat_chunk_begins(struct tracedat_walk *w, uint64_t at, uint64_t limit);
void tracedat_page_account(struct tracedat_walk *w, enum tracedat_verdict verdict, uint32_t records, uint32_t bad);

/* ---- tracedat_repair.c ---- */

/* Composes the output from what the scan noted and hands it to the plan. */
enum tracemend_status tracedat_repair(struct tracedat_walk *w);
/* Sets up and tears down; tracedat_restore.c runs more than one. */
bool tracedat_open(struct tracedat_walk *w, struct scan *s, struct source *source);
void tracedat_close(struct tracedat_walk *w);
void tracedat_walk_file(struct tracedat_walk *w);

/* ---- tracedat_restore.c: what a killed recorder leaves ---- */

/* Whether the name ends in .cpuN; *cpu. */
bool tracedat_cpu_file(const char *name, uint32_t *cpu);
enum tracemend_status tracedat_restore(struct scan *s);
/* Whether t's window shows raw pages: sets byte order, long size and page size. */
bool tracedat_shape_guess(struct tracedat_walk *w);

/* ---- tracedat_outline.c ---- */

extern const struct format tracedat_format;
/* Declares the parts of the file after its walk. */
void tracedat_outline_file(struct tracedat_walk *w);
enum tracemend_status tracedat_outline(struct outline *o, const char *profile);

/* ---- tracedat_gen.c ---- */

enum tracemend_status tracedat_generate(struct gen *g);

#endif
