/* uftrace data directories: numbers, layouts, rules.
 *
 * Source: the page "Data Format" of the uftrace project (versions 3 and 4); what it leaves open is set by the tool's
 * reader and writer. All integers are in the byte order that byte 14 of `info` names, except where noted. */
#ifndef UFTRACE_H
#define UFTRACE_H

#include "core/format.h"

/* ---- info: the header, 40 bytes ---- */

#define UFTRACE_MAGIC "Ftrace!" /* with its NUL: 8 bytes */
#define UFTRACE_MAGIC_SIZE 8u
#define UFTRACE_HEADER_SIZE 40u
#define UFTRACE_VERSION_MIN 3u
#define UFTRACE_VERSION_MAX 4u
#define UFTRACE_MAX_STACK_DEFAULT 1024u

/* Offsets in the header. */
enum uftrace_header {
	UFTRACE_H_MAGIC = 0,	    /* 8 bytes */
	UFTRACE_H_VERSION = 8,	    /* u32 */
	UFTRACE_H_HEADER_SIZE = 12, /* u16; readers do not swap it */
	UFTRACE_H_ENDIAN = 14,	    /* u8, ELF EI_DATA */
	UFTRACE_H_CLASS = 15,	    /* u8, ELF EI_CLASS */
	UFTRACE_H_FEAT_MASK = 16,   /* u64 */
	UFTRACE_H_INFO_MASK = 24,   /* u64 */
	UFTRACE_H_MAX_STACK = 32,   /* u16; unused in version 3 */
	UFTRACE_H_RESERVED = 34,    /* 6 bytes of 0 */
};

enum uftrace_endian { UFTRACE_LITTLE = 1, UFTRACE_BIG = 2 };
enum uftrace_class { UFTRACE_32 = 1, UFTRACE_64 = 2 };

enum uftrace_feat { /* bits of feat_mask */
		    UFTRACE_F_PLTHOOK,
		    UFTRACE_F_TASK_SESSION,
		    UFTRACE_F_KERNEL,
		    UFTRACE_F_ARGUMENT,
		    UFTRACE_F_RETVAL,
		    UFTRACE_F_SYM_REL_ADDR,
		    UFTRACE_F_MAX_STACK,
		    UFTRACE_F_EVENT,
		    UFTRACE_F_PERF_EVENT,
		    UFTRACE_F_AUTO_ARGS,
		    UFTRACE_F_DEBUG_INFO,
		    UFTRACE_F_ESTIMATE_RETURN,
		    UFTRACE_F_SYM_SIZE,
		    UFTRACE_F_CALLSITE,
		    UFTRACE_F_COUNT
};

enum uftrace_info { /* bits of info_mask, in the order of their lines */
		    UFTRACE_I_EXE_NAME,
		    UFTRACE_I_BUILD_ID,
		    UFTRACE_I_EXIT_STATUS,
		    UFTRACE_I_CMDLINE,
		    UFTRACE_I_CPUINFO,
		    UFTRACE_I_MEMINFO,
		    UFTRACE_I_OSINFO,
		    UFTRACE_I_TASKINFO,
		    UFTRACE_I_USAGEINFO,
		    UFTRACE_I_LOADINFO,
		    UFTRACE_I_ARG_SPEC,
		    UFTRACE_I_RECORD_DATE,
		    UFTRACE_I_PATTERN_TYPE,
		    UFTRACE_I_VERSION,
		    UFTRACE_I_UTC_OFFSET,
		    UFTRACE_I_SYSCTL,
		    UFTRACE_I_COUNT
};

#define UFTRACE_BIT(n) (UINT64_C(1) << (n))

/* Readers fetch all lines but those of taskinfo and argspec with a buffer of 4096: 4095 bytes with the LF. */
#define UFTRACE_INFO_LINE_MAX 4095u

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

/* ---- perf-cpuN.dat: u32 type, u16 misc, u16 size with this header, body ---- */

enum uftrace_perf_type {
	UFTRACE_PERF_COMM = 3,	  /* 40 or 48 bytes */
	UFTRACE_PERF_EXIT = 4,	  /* 48 */
	UFTRACE_PERF_FORK = 7,	  /* 48 */
	UFTRACE_PERF_SWITCH = 14, /* 24 */
};
#define UFTRACE_PERF_HEADER_SIZE 8u
#define UFTRACE_PERF_MISC_SWITCH_OUT 0x2000u
#define UFTRACE_PERF_MISC_COMM_EXEC 0x2000u

/* ---- legacy binary `task`: u16 magic, u16 type, u32 length of the body, body; in the byte order of the reader ---- */

#define UFTRACE_TASK_MAGIC 0xfaceu
#define UFTRACE_TASK_HEADER_SIZE 8u
enum uftrace_task_type { UFTRACE_TASK_START = 3, UFTRACE_TASK_FORK_END = 6, UFTRACE_TASK_SESSION = 7 };

/* ---- kernel files ---- */

#define UFTRACE_KERNEL_BLOCK_MAX 4096u /* bytes of a block of kernel_header that readers have room for */
#define UFTRACE_KERNEL_PAGE_HEADER 16u /* u64 base time, u64 commit word */
#define UFTRACE_KERNEL_COMMIT_MASK 0x7ffffffu
#define UFTRACE_KERNEL_PAGE_MAX 65536u

/* ---- shared-memory buffers: uftrace-<sid>-<tid>-<seq>: u32 size, u32 flag, 8 unused, data ---- */

#define UFTRACE_SHM_HEADER_SIZE 16u
enum uftrace_shm_flag { UFTRACE_SHM_NEW = 1, UFTRACE_SHM_WRITTEN = 2, UFTRACE_SHM_RECORDING = 4 };

/* ---- text ---- */

#define UFTRACE_SID_LENGTH 16u
#define UFTRACE_SYM_TYPES "?TtwPKDdvu"
#define UFTRACE_EVENT_NAME_MAX 511u /* of provider and of event, each */
#define UFTRACE_SYM_NAME_ADVISED 1024u
#define UFTRACE_PATH_MAX 4095u

/* ---- limits of this reader; beyond them the scan stops with TM_LIMIT, unless said otherwise ---- */

#define UFTRACE_TEXT_BYTES_MAX (64u * 1024 * 1024)    /* of info, task.txt, a map, events.txt: read whole */
#define UFTRACE_TASKS_MAX (256u * 1024)		      /* tids of task.txt, of info, and files TID.dat */
#define UFTRACE_SESSIONS_MAX (64u * 1024)	      /* SESS lines */
#define UFTRACE_LIBRARIES_MAX (64u * 1024)	      /* DLOP lines */
#define UFTRACE_MAPPINGS_MAX (1024u * 1024)	      /* lines of all maps */
#define UFTRACE_SYMBOLS_MAX (4u * 1024 * 1024)	      /* of all symbol files */
#define UFTRACE_SYMBOL_BYTES_MAX (256u * 1024 * 1024) /* names of all symbols */
#define UFTRACE_SPECS_MAX 16384u /* argument specifications; further ones are not used (dat/argument rules are mild then) */
#define UFTRACE_REGEX_MAX 256u	 /* regular expressions among them */
#define UFTRACE_MATCH_WORK_MAX (16u * 1024 * 1024) /* attempts to match a name; then specifications count as unknown */
#define UFTRACE_EVENTS_MAX (256u * 1024)	   /* lines of events.txt that are remembered */

/* ---- rules ---- */

enum uftrace_rule {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) UFTRACE_RULE_##sym,
#include "formats/uftrace/uftrace_rules.def"
#undef RULE
	UFTRACE_RULE_COUNT
};

/* uftrace.c */
extern const struct format uftrace_format;

/* uftrace_scan.c */
enum tracemend_status uftrace_scan(struct scan *s);

/* uftrace_outline.c */
enum tracemend_status uftrace_outline(struct outline *o, const char *profile);

/* uftrace_gen.c. One function for every rule, void uftrace_break_<sym>(struct uftrace_gen *), is declared there through
 * uftrace_rules.def, so that a rule without its breaker does not link. */
enum tracemend_status uftrace_generate(struct gen *g);

#endif
