/* trace.dat, the file of trace-cmd, versions 6 and 7.
 *
 * Version 6 is one sequence: prefix, header_page and header_event, ftrace formats, event formats, kallsyms, printk formats,
 * command lines, CPU count, options, CPU table, clock, then page-aligned ring-buffer pages. Version 7 puts the same blocks
 * into sections that options point at, and may compress each. "MAN6" and "MAN7" in the rules are the manual pages
 * trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5); MAN6 is the current edition of this project's source document.
 *
 * A scan (scan/tracedat_walk.c) reads the prefix, loads the metadata block by block (tracedat_v6.c, tracedat_v7.c, which
 * call the files of the blocks), locates the CPU data (tracedat_place.c), and walks each page (tracedat_cpu.c,
 * tracedat_page.c, tracedat_fast.c). A scan for repair also composes the repaired form of each block
 * (repair/tracedat_pieces.h). When all pages are known it walks them once more and composes the output
 * (repair/tracedat_repair.c). */
#ifndef TRACEDAT_H
#define TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/limits.h"
#include "core/rule.h"

/* ---- limits ---- */

#define TRACEDAT_PAGE_MIN 1024u
#define TRACEDAT_PAGE_MAX (1024u * 1024u)
/* CPUs of one buffer; the kernel's own NR_CPUS limit. Beyond it: cpu-count-range. */
#define TRACEDAT_CPUS_MAX 8192u
/* CPUs of all instances: more than 250 instances of a machine of 512 CPUs. */
#define TRACEDAT_ENTRIES_MAX 131072u
/* Bytes of metadata in memory at a time: all of version 6, one section of version 7 (decoded). Beyond it: TM_LIMIT. */
#define TRACEDAT_BLOCK_MAX (48u * 1024 * 1024)
/* Bytes of a header_page or header_event text. */
#define TRACEDAT_HEADER_MAX (64u * 1024)
/* Bytes of one event format file; longer ones are format-size-mismatch. */
#define TRACEDAT_FORMAT_MAX (1024u * 1024)
/* Events of a file: their IDs have 16 bits. */
#define TRACEDAT_EVENTS_MAX 65536u
/* Formats with an invalid or duplicate ID that are kept for records without a format. */
#define TRACEDAT_UNASSIGNED_MAX 16u
/* Fields of one event; further ones are not checked. */
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
/* Runs of lines of a text that repair leaves out one by one. A kernel has some 200,000 symbols. */
#define TRACEDAT_LINE_RUNS_MAX 131072u
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
	/* Of a later version, and accepted where sizes fit; beyond it: damage. */
	TRACEDAT_ID_LATER = 1024,
};

/* The first bytes of a trace.dat. */
#define TRACEDAT_MAGIC "\x17\x08\x44tracing"
#define TRACEDAT_MAGIC_SIZE 10u

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

/* "event formats", "buffer": what a section or an option of that id holds. */
const char *tracedat_id_name(unsigned id);

#endif
