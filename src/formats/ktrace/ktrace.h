/* ktrace, the trace files of Darwin: version 3, made of tagged chunks, and the RAW versions 0, 1 and 2 before it.
 *
 * Layouts: ktrace(5) for the header structure and the chunks; xnu's bsd/sys/kdebug.h for thread map, CPU map and events.
 * All integers are little-endian; no writer of another order is known. */
#ifndef KTRACE_H
#define KTRACE_H

#include "core/cursor.h"
#include "core/format.h"

/* ---- numbers of the format ---- */

#define KTRACE_MAGIC UINT32_C(0x55aa0300)
#define KTRACE_MAGIC_KERNEL UINT32_C(0x00001000) /* the kernel's own V3 header tag */
#define KTRACE_MAGIC_RAW1 UINT32_C(0x55aa0101)
#define KTRACE_MAGIC_RAW1_OLD UINT32_C(0x55aa0100)
#define KTRACE_MAGIC_RAW2 UINT32_C(0x55aa0200)
#define KTRACE_MAGIC_ARTRACE UINT32_C(0x41525430)
#define KTRACE_HEADER 56u	    /* bytes of the header structure: the sum of its field table */
#define KTRACE_HEADER_UNCOUNTED 16u /* bytes that the header size leaves out */
#define KTRACE_CHUNK_HEADER 16u
#define KTRACE_SIZE_UNFINISHED UINT64_MAX
#define KTRACE_FLAG_64 1u
#define KTRACE_SUBCHUNKS 0x8000u /* bit of a chunk's major version */
#define KTRACE_SUBCHUNK_DEPTH_MAX 4u
#define KTRACE_RAW0_THREADS_MAX 100000u /* readers refuse more */
#define KTRACE_RAW2_HEADER 288u
#define KTRACE_PAGE 4096u
#define KTRACE_STRING_GLOBAL_MAX 1040u /* bytes */
#define KTRACE_STRING_SIMPLE_MAX 64u
#define KTRACE_NAME 20u /* bytes of a process name, its NUL included */
#define KTRACE_PID_MAX 99999
#define KTRACE_HEAD 512u /* bytes of the first records, by which their width is told */

/* ---- limits of this reader ---- */

/* Thread ids that are told apart, and start/end pairs and strings that are open at a time. Beyond it references and pairs
 * are no longer judged; a fact says so. */
#define KTRACE_THREADS_MAX (256u * 1024)
#define KTRACE_OPEN_MAX (64u * 1024)
/* Entries of a CPU map; more are not looked at. */
#define KTRACE_CPUS_MAX 4096u
/* Coprocessors that may register while tracing goes on, after the CPU map was written. */
#define KTRACE_CPUS_LATE 32u
/* Bytes of a property list or text that are examined. */
#define KTRACE_PAYLOAD_MAX (1u << 20)

enum ktrace_tag {
	KTRACE_CONFIG_KERNEL = 0x1b00,
	KTRACE_RESERVED_1A = 0x1a00,
	KTRACE_CPU_MAP = 0x1c00,
	KTRACE_THREAD_MAP = 0x1d00,
	KTRACE_EVENTS = 0x1e00,
	KTRACE_EVENTS_COMPRESSED = 0x1f00,
	KTRACE_NULL = 0x2000,
	KTRACE_NESTED = 0x5203,
	KTRACE_STACKSHOT = 0x8002,
	KTRACE_IMAGES = 0x8004,
	KTRACE_CONFIG = 0x8006,
	KTRACE_SUMMARY = 0x8007,
	KTRACE_SUBFILE_HEADER = 0x800a,
	KTRACE_SUBFILE_BODY = 0x800b,
	KTRACE_SUBFILE_ID = 0x800c,
	KTRACE_SUBFILE_FILE_HEADER = 0x800d,
	KTRACE_REMOTE_TIME = 0x800e,
	KTRACE_TRACE_CODES = 0x800f,
	KTRACE_TIME_SYNC = 0x8013,
	KTRACE_CATALOG = 0x8014,
	KTRACE_PASSIVE_INTERVAL = 0x8030,
	KTRACE_MACHINE = 0x8c00,
	KTRACE_UUID = 0x8c01,
	KTRACE_TRIMMED = 0x8c02
};
#define KTRACE_TAG_UNFINISHED UINT32_MAX

/* What a known tag is. */
enum ktrace_place { KTRACE_ANYWHERE, KTRACE_IN_HEADER, KTRACE_IN_BODY };
enum ktrace_content { KTRACE_OPAQUE, KTRACE_PLIST, KTRACE_FIXED };

struct ktrace_kind {
	uint32_t tag;
	enum ktrace_place place;
	enum ktrace_content content;
	uint16_t major_max; /* highest major version that a reader knows; 0xffff: any */
	uint32_t size_min;  /* of a fixed payload, in bytes */
	bool single;	    /* meant to exist once a file */
	const char *name;
};

/* The kind of that tag, or NULL. */
const struct ktrace_kind *ktrace_kind_find(uint32_t tag);

/* Its place in the table of kinds, below 64. */
unsigned ktrace_kind_index(const struct ktrace_kind *kind);

struct ktrace_chunk {
	uint64_t offset; /* of the chunk header */
	uint32_t tag;
	uint16_t major, minor;
	uint64_t size; /* as stored */
};

/* ---- rules ---- */

enum ktrace_rule {
#define RULE(symbol, ...) KTRACE_RULE_##symbol,
#include "formats/ktrace/ktrace_rules.def"
#undef RULE
	KTRACE_RULE_COUNT
};

/* ---- events ---- */

struct ktrace_event {
	uint64_t time, args[4], tid;
	uint32_t debugid, cpu;
	uint64_t unused;
};

#define KTRACE_FUNC_START 1u
#define KTRACE_FUNC_END 2u
#define KTRACE_FUNC_MASK 3u

enum ktrace_debugid {
	KTRACE_VFS_LOOKUP = 0x03010090,
	KTRACE_VFS_LOOKUP_DONE = 0x0301009c,
	KTRACE_NEWTHREAD = 0x07000004,
	KTRACE_STRING_GLOBAL = 0x07010000,
	KTRACE_STRING_THREADNAME = 0x07010010,
	KTRACE_STRING_THREADNAME_PREV = 0x07010014,
	KTRACE_LOST_EVENTS = 0x07020008,
	KTRACE_RETROGRADE = 0x07020014,
	KTRACE_PAST = 0x07020018
};

/* A counting rule: one finding a chunk, with the first place and the count. */
struct ktrace_count {
	uint64_t count, first;
};

/* Open-addressing set of 64-bit keys with a value each; bounded. */
struct ktrace_set {
	struct ktrace_slot {
		uint64_t key, value;
		bool used;
	} * slots;
	size_t capacity, used, max;
	bool full; /* the bound was reached: the set no longer knows all */
};

/* The value of a key, made 0 when it is new; NULL when the set is full (set->full) or memory is short (*failed). */
uint64_t *ktrace_set_put(struct ktrace_set *set, uint64_t key, bool *failed);
/* The value of a key, or NULL. */
uint64_t *ktrace_set_get(const struct ktrace_set *set, uint64_t key);
void ktrace_set_free(struct ktrace_set *set);

/* ---- one walk ---- */

struct ktrace_walk {
	struct scan *scan;
	struct source *source;
	struct window window;
	unsigned output;
	bool is_64; /* width of thread map entries and events */
	bool no_memory;

	/* of the file */
	uint32_t chunks;
	bool seen_time_sync, seen_cpu_map, seen_thread_map, seen_events, lost_events;
	bool in_header;
	uint64_t last_data, last_size; /* payload of the chunk before */
	uint64_t body;		       /* offset of the body */
	uint64_t header_time;
	uint32_t numer, denom;
	uint32_t cpus;	  /* entries of the CPU map; 0: unknown */
	uint64_t singles; /* bit i: kind i of the table was seen */
	uint64_t last_time, first_time;
	uint64_t future; /* lower bound that an earlier events chunk promised */
	uint64_t summary_time, summary_offset;
	uint64_t time_of_cpu[256];
	struct ktrace_set threads; /* tid -> 1: known */
	struct ktrace_set unknown; /* tid -> offset of its first event + 1 */
	uint64_t unknown_events;
	struct ktrace_set open;	    /* tid and event id -> open starts */
	struct ktrace_set strings;  /* global string ids */
	struct ktrace_set spans;    /* tid and string kind -> bytes so far + 1 */
	struct ktrace_set subfiles; /* ids of sub-file headers */
	uint64_t open_starts, lone_ends, lone_ends_first, starts_first;
	uint8_t head[KTRACE_HEAD]; /* first records that are kept, of the first chunk with 64 bytes of them */
	size_t head_length;
	bool head_whole;
};

/* ktrace_chunk.c: chunks without the walk. Probing reads just the bytes it needs, so that a hostile file cannot make a
 * candidate cost a window. */

/* Reads the chunk header at offset. False when fewer than 16 bytes are left, or on a fault. */
bool ktrace_chunk_read(struct source *s, uint64_t offset, struct ktrace_chunk *chunk);
/* Whether a plausible chunk stands at offset that is of a known kind, or lands. */
bool ktrace_chunk_stands(struct source *s, uint64_t offset, uint64_t limit, bool is_64);
/* Whether what stands at offset counts as a chunk where one must be: of a known kind, or of one that nobody knows, which must
 * be accepted when its size leads on. What repair leaves out in between never changes the answer for what it keeps: a kept
 * chunk is followed by a known one, by an accepted one, or by the end. */
bool ktrace_chunk_accepted(struct source *s, uint64_t offset, uint64_t limit, bool is_64);
/* Whether the chunk at offset is followed by the limit or by an accepted one. */
bool ktrace_chunk_lands(struct source *s, uint64_t offset, uint64_t limit, bool is_64);
/* Where the chunk behind a payload of so many bytes starts; chunks found off the grid stay on their own. */
static inline uint64_t ktrace_chunk_next(uint64_t offset, uint64_t size)
{
	return size > UINT64_MAX - offset - 32 ? UINT64_MAX : offset + ((KTRACE_CHUNK_HEADER + size + 7) & ~UINT64_C(7));
}
/* Whether a chunk header that a sound writer could have put stands at offset: known tag or plausible one, versions, a size
 * within limit, and the signature of its payload. */
bool ktrace_chunk_plausible(struct source *s, uint64_t offset, uint64_t limit, bool is_64);
/* The first offset at or after from (in steps of `step` bytes) at which a plausible chunk starts that leads to the limit or
 * to three more. UINT64_MAX: none. */
uint64_t ktrace_chunk_resync(struct ktrace_walk *w, uint64_t from, uint64_t limit, unsigned step);
/* Where chunks go on at or behind `from`, on the 8-byte grid or else off it. UINT64_MAX: nowhere. */
uint64_t ktrace_chunk_find_next(struct ktrace_walk *w, uint64_t from, uint64_t limit);
static inline uint64_t ktrace_align(uint64_t offset)
{
	return offset > UINT64_MAX - 7 ? UINT64_MAX : (offset + 7) & ~UINT64_C(7);
}

/* ktrace_payload.c: what is inside a chunk; reports only, never edits. size is what is kept of the data. */
void ktrace_payload_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size, unsigned depth);
/* Entries of a thread map at [offset, offset + count * entry size). */
void ktrace_threads_check(struct ktrace_walk *w, uint64_t offset, uint64_t count, bool filler_is_normal);
static inline uint32_t ktrace_thread_size(bool is_64)
{
	return is_64 ? 32 : 28;
}

/* ktrace_record.c, ktrace_event.c */
static inline uint32_t ktrace_event_size(bool is_64)
{
	return is_64 ? 64 : 32;
}
/* Where records lie. */
struct ktrace_stretch {
	uint64_t offset, end;
	const char *where;     /* for paths: "chunk 3 (events)" */
	enum ktrace_rule rule; /* what is wrong with its size; KTRACE_RULE_COUNT: nothing */
	bool resized;	       /* bytes may have come in or gone missing inside of it */
};
/* Walks the records of a stretch; reports, and with a plan copies or drops every byte of it. Returns the bytes kept. */
uint64_t ktrace_events_walk(struct ktrace_walk *w, const struct ktrace_stretch *stretch);
/* How many records from offset on pass all tests and are in the order of their times, as far as is looked; 0 when they are too
 * few to tell. */
#define KTRACE_IN_ORDER_MAX 12u
unsigned ktrace_events_in_order(struct ktrace_walk *w, uint64_t offset, uint64_t end);
/* Whether records that pass every test fill [offset, end). */
bool ktrace_records_fill(struct ktrace_walk *w, uint64_t offset, uint64_t end);
/* The first offset in [offset, end), in steps of `step`, at which several records in a row look real, or fewer fill the
 * rest; end: none. */
uint64_t ktrace_events_find(struct ktrace_walk *w, uint64_t offset, uint64_t end, unsigned step);
/* Whether count records at offset all look real (section tests of xnu's writer: unused word, CPU, class, time). */
bool ktrace_events_plausible(struct source *s, uint64_t offset, uint64_t limit, bool is_64, unsigned count);
/* How many tests of real records up to count records at offset fail; count: at most KTRACE_HEAD bytes of them. */
unsigned ktrace_events_failures(struct source *s, uint64_t offset, uint64_t limit, bool is_64, unsigned count);
/* The same of bytes in memory. */
unsigned ktrace_records_failures(const uint8_t *p, size_t length, bool is_64, unsigned count);
/* Whether the first records of a file make sense in the other width only. */
bool ktrace_events_other_width(const uint8_t *head, size_t length, bool is_64);
/* What can be said only after the last event. */
void ktrace_events_finish(struct ktrace_walk *w);

/* ktrace.c: what a file is as a RAW one of version 0, which has no magic: its first word is the number of threads. */
struct ktrace_raw0 {
	uint32_t entry; /* bytes of an entry of the thread map; 0: it is none */
	uint32_t threads;
	bool counted; /* not as stored: so many entries stand before the records */
};
/* stored: that word. kept: asks how the file that repair leaves would be taken, of whose records these are the first. */
struct ktrace_raw0 ktrace_raw0_find(struct window *w, uint32_t stored, const struct ktrace_walk *kept);

/* ktrace_v3.c and its rooms (ktrace_v3.h), ktrace_raw.c */
enum tracemend_status ktrace_v3_walk(struct ktrace_walk *w);
enum tracemend_status ktrace_raw_walk(struct ktrace_walk *w, uint32_t magic);
/* Whether the file looks like one of version 2, but for its first 32 bytes. */
bool ktrace_raw2_begins(struct window *w);
/* What a file of version 1 does not store: where its thread map begins, and its width. limit: end of the bytes that count. */
struct ktrace_raw1 {
	uint8_t map;
	bool is_64, certain;
};
struct ktrace_raw1 ktrace_raw1_probe(struct ktrace_walk *w, uint64_t threads, uint64_t limit, bool kept);
/* ktrace_outline.c */
enum tracemend_status ktrace_outline(struct outline *o, const char *profile);
/* ktrace_gen.c */
enum tracemend_status ktrace_generate(struct gen *g);

extern const struct format ktrace_format;

#endif
