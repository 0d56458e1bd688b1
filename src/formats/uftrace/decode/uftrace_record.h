/* Records of TID.dat, their payloads and events. */
#ifndef UFTRACE_RECORD_H
#define UFTRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* The address in a record is that behind the call of the recorder's hook: at most so far behind the beginning of the function. */
#define UFTRACE_PROLOGUE_MAX 64u

/* ---- TID.dat: records of 16 bytes, each followed by its payload if `more` is set ---- */

#define UFTRACE_RECORD_SIZE 16u /* u64 time in ns, u64 word */
#define UFTRACE_RECORD_MAGIC 5u
#define UFTRACE_DEPTH_BITS 10u
#define UFTRACE_DEPTH_MASK 1023u
#define UFTRACE_ADDRESS_BITS 48u
#define UFTRACE_MAX_STACK_MAX 65535u

enum uftrace_type { UFTRACE_ENTRY, UFTRACE_EXIT, UFTRACE_LOST, UFTRACE_EVENT };

/* The word: bits 0-1 type, 2 more, 3-5 magic, 6-15 depth, 16-63 address (or event id, or lost count). */
static inline uint64_t uftrace_word(enum uftrace_type type, bool more, uint64_t depth, uint64_t address)
{
	return (uint64_t)type | (more ? 4u : 0u) | UFTRACE_RECORD_MAGIC << 3 | (depth & UFTRACE_DEPTH_MASK) << 6 | address << 16;
}

static inline enum uftrace_type uftrace_word_type(uint64_t word)
{
	return (enum uftrace_type)(word & 3);
}

static inline bool uftrace_word_more(uint64_t word)
{
	return (word >> 2 & 1) != 0;
}

static inline unsigned uftrace_word_magic(uint64_t word)
{
	return (unsigned)(word >> 3 & 7);
}

static inline unsigned uftrace_word_depth(uint64_t word)
{
	return (unsigned)(word >> 6 & UFTRACE_DEPTH_MASK);
}

static inline uint64_t uftrace_word_address(uint64_t word)
{
	return word >> 16;
}

/* ---- payloads ---- */

#define UFTRACE_PAYLOAD_MAX 1024u     /* bytes of a record's payload, padded to 8 */
#define UFTRACE_STRING_WRITER_MAX 98u /* bytes of a string argument as writers cut it */
#define UFTRACE_STRING_MAX 1018u

/* Event ids of TID.dat. Payload: u16 length, that many bytes, padding to 8. */
enum uftrace_event_id {
	UFTRACE_E_READ_PROC_STATM = 100001, /* 24 bytes: u64 vmsize, vmrss, shared */
	UFTRACE_E_READ_PAGE_FAULT,	    /* 16: u64 major, minor */
	UFTRACE_E_DIFF_PROC_STATM,	    /* 24 */
	UFTRACE_E_DIFF_PAGE_FAULT,	    /* 16 */
	UFTRACE_E_READ_PMU_CYCLE,
	UFTRACE_E_DIFF_PMU_CYCLE, /* 16: u64 cycles, instructions */
	UFTRACE_E_READ_PMU_CACHE,
	UFTRACE_E_DIFF_PMU_CACHE, /* 16: u64 references, misses */
	UFTRACE_E_READ_PMU_BRANCH,
	UFTRACE_E_DIFF_PMU_BRANCH, /* 16: u64 branches, misses */
	UFTRACE_E_WATCH_CPU,	   /* 4: s32 cpu */
	UFTRACE_E_WATCH_VAR,	   /* address of 4 or 8 bytes, value of 1, 2, 4 or 8 */
	UFTRACE_E_CALLSITE,	   /* 8: u64 return address */
};
#define UFTRACE_E_PERF_FIRST 200001u /* to 200008: never stored in TID.dat */
#define UFTRACE_E_PERF_LAST 200008u
#define UFTRACE_E_USER_FIRST 1000000u /* events.txt; no payload */
#define UFTRACE_E_EXTERN 2000000u     /* never stored */

/* True and the range of lengths that an event of this id may have; false for ids without payload or unknown.
 * long_size: 4 or 8. */
bool uftrace_event_length(uint64_t id, unsigned long_size, unsigned *min, unsigned *max);

#endif
