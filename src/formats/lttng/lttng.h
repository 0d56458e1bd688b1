/* The legacy LTTng/LTTV trace format, versions 0.6 to 2.6: its numbers, its limits, its rules.
 *
 * A trace is a directory of tracefiles, one a channel and cpu. A tracefile is a sequence of blocks (sub-buffers); a block is a
 * header, events packed one after the other, and padding. Sources: "The LTTng trace format" of 2008-06-02, which describes
 * 1.0 (cited by heading, as in the rules), and for the other versions what their tracers wrote and their readers read.
 *
 * Offsets called `rel` count from the start of a block, all others from the start of the file. */
#ifndef LTTNG_H
#define LTTNG_H

#include "core/bytes.h"
#include "core/rule.h"

/* ---- limits of the format ---- */

#define LTTNG_MAGIC UINT32_C(0x00D6B7ED)
#define LTTNG_HEADER_MAX 135u		/* the longest block header (0.6) */
#define LTTNG_PAGE 4096u		/* blocks of the kernel tracer are whole pages */
#define LTTNG_OPEN UINT32_C(0xFFFFFFFF) /* in a size field: the block was never closed */
#define LTTNG_TIME_BITS 27u		/* of a 2.x event word */
#define LTTNG_TIME_MASK ((UINT64_C(1) << LTTNG_TIME_BITS) - 1)
#define LTTNG_CLOCK_MAX (UINT64_MAX >> 1) /* no stamp of a block is later */
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
/* XML files up to this size are read; larger ones are ignored (lttng/eventdefs-syntax). */
#define LTTNG_XML_MAX (1024u * 1024)
/* Zeros that repair writes for one trace; beyond it, bytes that are not events any more are left in the padding. */
#define LTTNG_ZEROS_MAX (8u * 1024 * 1024)
/* Blocks before a block without an end that are searched for events it repeats: laps of up to so many sub-buffers. */
#define LTTNG_LAPS 4u
/* Events of these blocks that are remembered. */
#define LTTNG_SEEN_MAX (1024u * 1024)

/* ---- rules ---- */

enum lttng_rule {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) LTTNG_RULE_##sym,
#include "formats/lttng/lttng_rules.def"
#undef RULE
	LTTNG_RULE_COUNT
};
extern const struct tracemend_rule lttng_rules[LTTNG_RULE_COUNT];

#endif
