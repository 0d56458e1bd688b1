/* Numbers and layouts of the files of a uftrace directory, but for the records of a task (uftrace_record.h).
 *
 * Source: the page "Data Format" of the uftrace project (versions 3 and 4); what it leaves open is set by the tool's
 * reader and writer. All integers are in the byte order that byte 14 of `info` names, except where noted. */
#ifndef UFTRACE_LAYOUT_H
#define UFTRACE_LAYOUT_H

#include <stdint.h>

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

enum uftrace_info_bit { /* bits of info_mask, in the order of their lines */
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

/* ---- perf-cpuN.dat: u32 type, u16 misc, u16 size with this header, body ---- */

enum uftrace_perf_type {
	UFTRACE_PERF_COMM = 3,	  /* 40 or 48 bytes */
	UFTRACE_PERF_EXIT = 4,	  /* 48 */
	UFTRACE_PERF_FORK = 7,	  /* 48 */
	UFTRACE_PERF_SWITCH = 14, /* 24 */
};
#define UFTRACE_PERF_TYPES 32u /* the kernel has types up to 21 (Linux 6.1) */
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
#define UFTRACE_PROGRAM_MAX 246u /* its name, in front of "-0123.sym": readers stop where they cannot open such a file */

#endif
