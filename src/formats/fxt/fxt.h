/* FXT, the Fuchsia trace format: its numbers, its layouts, its rules.
 *
 * Source of every layout: the Fuchsia trace format document; sections are cited by their anchors ("#event-record").
 * A word is 8 bytes in the byte order of the writer; streams (text, payloads) are plain bytes, zero padded to a word.
 * Bit ranges are [low..high], bit 0 the least significant. */
#ifndef FXT_H
#define FXT_H

#include <stdbool.h>
#include <stdint.h>

#include "tracemend.h"

/* ---- limits of the format ---- */

#define FXT_WORD 8u
#define FXT_MAGIC UINT64_C(0x0016547846040010) /* the whole record, #magic-number-record */
#define FXT_MAGIC_NUMBER UINT32_C(0x16547846)
#define FXT_RECORD_WORDS_MAX 4095u /* 12-bit size field, in words, header included */
#define FXT_ARGUMENT_WORDS_MAX 4095u
#define FXT_ARGUMENTS_MAX 15u
#define FXT_STRING_INDEX_MAX 0x7fffu	/* 1 to this; 0 is the empty string */
#define FXT_STRING_INLINE 0x8000u	/* flag of a string ref; the other 15 bits are the length */
#define FXT_STRING_BYTES_ADVISED 32000u /* #string-references: the conservative limit */
#define FXT_STRING_BYTES_MAX 32752u	/* what fits a string record: (4095 - 1) * 8 */
#define FXT_THREAD_INDEX_MAX 0xffu	/* 1 to this; 0 is an inline thread */
#define FXT_PROVIDER_NAME_MAX 255u
#define FXT_TICKS_DEFAULT UINT64_C(1000000000)
#define FXT_LARGE_ENGINE_BYTES_MAX (256u * 1024) /* what Fuchsia's own engine can write */
#define FXT_CPU_MAX 4096u			 /* a documented reader aborts at this cpu number */

/* Bits by which a first word may differ from the magic number and still be taken for a damaged one. */
#define FXT_MAGIC_DAMAGE_MAX 6

/* ---- limits of this reader, each reported when it is reached ---- */

/* Providers that are tracked. A capture that names more stops the walk: TM_LIMIT. */
#define FXT_PROVIDERS_MAX 65536u
/* Bytes of string and thread tables of all providers together. TM_LIMIT. One full table is under 300 KiB. */
#define FXT_TABLE_BYTES_MAX (96u * 1024 * 1024)
/* Indexes without a registration that are tracked. Further ones are only counted, under the last one. */
#define FXT_DANGLING_MAX 65536u
/* Threads whose durations are tracked; events of further ones are not checked (fxt/semantic-bound-reached). */
#define FXT_THREADS_MAX 65536u
/* Open durations of a thread, and of all threads together (fxt/semantic-bound-reached). */
#define FXT_DEPTH_MAX 65536u
#define FXT_OPEN_MAX (1024u * 1024)
/* Entries by which a late event may move in the list of open durations of its thread; beyond that it is not checked. */
#define FXT_LATE_MAX 1024u
/* Async and flow ids that are open at a time (fxt/semantic-bound-reached). */
#define FXT_IDS_MAX (256u * 1024)
/* Named blob streams that are tracked (fxt/semantic-bound-reached). */
#define FXT_BLOB_STREAMS_MAX 4096u

/* ---- numbers ---- */

enum fxt_type {
	FXT_METADATA = 0,
	FXT_INITIALIZATION,
	FXT_STRING,
	FXT_THREAD,
	FXT_EVENT,
	FXT_BLOB,
	FXT_USERSPACE,
	FXT_KERNEL,
	FXT_SCHEDULING,
	FXT_LOG,
	FXT_PROFILER,
	FXT_LARGE = 15
};

/* Whether a record of this type gives an index to a string or thread. type: bits 0 to 3 of a header. */
static inline bool fxt_registers(unsigned type)
{
	return type == FXT_STRING || type == FXT_THREAD;
}

enum fxt_metadata { FXT_PROVIDER_INFO = 1, FXT_PROVIDER_SECTION, FXT_PROVIDER_EVENT, FXT_TRACE_INFO };
enum fxt_trace_info { FXT_TRACE_INFO_MAGIC = 0 };
enum fxt_provider_event { FXT_PROVIDER_BUFFER_FULL = 0 };

enum fxt_event {
	FXT_INSTANT = 0,
	FXT_COUNTER,
	FXT_DURATION_BEGIN,
	FXT_DURATION_END,
	FXT_DURATION_COMPLETE,
	FXT_ASYNC_BEGIN,
	FXT_ASYNC_INSTANT,
	FXT_ASYNC_END,
	FXT_FLOW_BEGIN,
	FXT_FLOW_STEP,
	FXT_FLOW_END,
	FXT_EVENT_TYPES
};

enum fxt_argument {
	FXT_ARG_NULL = 0,
	FXT_ARG_INT32,
	FXT_ARG_UINT32,
	FXT_ARG_INT64,
	FXT_ARG_UINT64,
	FXT_ARG_DOUBLE,
	FXT_ARG_STRING,
	FXT_ARG_POINTER,
	FXT_ARG_KOID,
	FXT_ARG_BOOL,
	FXT_ARG_BLOB,
	FXT_ARG_TYPES
};

enum fxt_blob { FXT_BLOB_DATA = 1, FXT_BLOB_LAST_BRANCH, FXT_BLOB_PERFETTO };
enum fxt_scheduling { FXT_SWITCH_LEGACY = 0, FXT_SWITCH, FXT_WAKEUP };
enum fxt_profiler { FXT_PROFILER_MODULE = 0, FXT_PROFILER_MMAP, FXT_PROFILER_BACKTRACE };
enum fxt_large { FXT_LARGE_BLOB = 0 };
enum fxt_large_blob { FXT_LARGE_BLOB_METADATA = 0, FXT_LARGE_BLOB_PLAIN };
enum fxt_thread_state {
	FXT_STATE_NEW = 0,
	FXT_STATE_RUNNING,
	FXT_STATE_SUSPENDED,
	FXT_STATE_BLOCKED,
	FXT_STATE_DYING,
	FXT_STATE_DEAD
};
enum fxt_object { FXT_OBJECT_PROCESS = 1, FXT_OBJECT_THREAD = 2, FXT_OBJECT_MAX = 34 };

enum fxt_profile { FXT_LATEST, FXT_2022 };

/* ---- fields ---- */

/* Bits [low..low+width-1] of a word; width 1 to 63. */
static inline uint64_t fxt_bits(uint64_t word, unsigned low, unsigned width)
{
	return (word >> low) & ((UINT64_C(1) << width) - 1);
}

/* The value placed at those bits, cut to width. */
static inline uint64_t fxt_field(unsigned low, unsigned width, uint64_t value)
{
	return (value & ((UINT64_C(1) << width) - 1)) << low;
}

/* Words that a stream of so many bytes takes. */
static inline uint64_t fxt_words(uint64_t bytes)
{
	return bytes / FXT_WORD + (bytes % FXT_WORD != 0);
}

/* Header of any record: type and size in words. Type-specific fields are or-ed in with fxt_field() at the positions that
 * #records and the layouts of fxt_decode.c give. */
static inline uint64_t fxt_header(enum fxt_type type, uint64_t words)
{
	return type == FXT_LARGE ? fxt_field(0, 4, type) | fxt_field(4, 32, words)
				 : fxt_field(0, 4, (uint64_t)type) | fxt_field(4, 12, words);
}

/* ---- rules ---- */

enum fxt_rule {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) FXT_RULE_##sym,
#include "formats/fxt/fxt_rules.def"
#undef RULE
	FXT_RULE_COUNT
};

/* fxt_rules.c */
extern const struct tracemend_rule fxt_rules[FXT_RULE_COUNT];
extern const char *const fxt_type_names[16];	 /* "event"; unassigned ones are "unknown" */
extern const char *const fxt_event_names[16];	 /* "duration begin" */
extern const char *const fxt_argument_names[16]; /* "int32" */

#endif
