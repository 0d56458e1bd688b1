/* ktrace, the trace files of Darwin: version 3, made of tagged chunks, and the RAW versions 0, 1 and 2 before it.
 *
 * Layouts: ktrace(5) for the header structure and the chunks; xnu's bsd/sys/kdebug.h for thread map, CPU map and events.
 * All integers are little-endian; no writer of another order is known. */
#ifndef KTRACE_H
#define KTRACE_H

#include "core/bytes.h"
#include "core/rule.h"

/* ---- numbers of the format ---- */

#define KTRACE_MAGIC UINT32_C(0x55aa0300)
#define KTRACE_MAGIC_KERNEL UINT32_C(0x00001000) /* the kernel's own V3 header tag */
#define KTRACE_MAJOR_KERNEL 14u			 /* major version of such a header, at most */
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
#define KTRACE_TID_BITS 48u /* thread ids are counted up from the start of the system, and stay below */

/* ---- limits of this reader ---- */

/* Thread ids, and pairs of START and END and strings that are open at a time. Beyond it references and pairs are no longer
 * checked; a fact says so. */
#define KTRACE_THREADS_MAX (256u * 1024)
#define KTRACE_OPEN_MAX (64u * 1024)
/* Entries of a CPU map that are checked. */
#define KTRACE_CPUS_MAX 4096u
/* A CPU map: bytes of its prefix, and of an entry by the form that the prefix begins with. */
#define KTRACE_CPUS_PREFIX 8u
#define KTRACE_CPU 16u
#define KTRACE_CPU_EXTENDED 40u
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
	KTRACE_SUBFILE_RELATION = 0x8009,
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

/* Sizes of records of events and of entries of the thread map, by their width. */
static inline uint32_t ktrace_event_size(bool is_64)
{
	return is_64 ? 64 : 32;
}
static inline uint32_t ktrace_thread_size(bool is_64)
{
	return is_64 ? 32 : 28;
}
static inline uint64_t ktrace_align(uint64_t offset)
{
	return offset > UINT64_MAX - 7 ? UINT64_MAX : (offset + 7) & ~UINT64_C(7);
}
static inline uint64_t ktrace_page_up(uint64_t offset)
{
	return (offset + KTRACE_PAGE - 1) & ~(uint64_t)(KTRACE_PAGE - 1);
}

/* ---- rules ---- */

enum ktrace_rule {
#define RULE(symbol, ...) KTRACE_RULE_##symbol,
#include "formats/ktrace/ktrace_rules.def"
#undef RULE
	KTRACE_RULE_COUNT
};

/* ktrace_rules.c */
extern const struct tracemend_rule ktrace_rules[KTRACE_RULE_COUNT];

#endif
