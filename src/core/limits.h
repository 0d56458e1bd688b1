/* Every limit of the program, with what happens when it is reached. */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

#include <stdint.h>

/* Bytes a window reads at a time. Large enough to hide the system call, small enough to stay in the second-level cache. */
#define WINDOW_DEFAULT (256u * 1024)
/* The longest span window_at() hands out at once. Longer payloads are walked in pieces. A larger request returns NULL
 * as if it passed the end of the source, so no length of the input decides how much is allocated. */
#define WINDOW_SPAN_MAX (4u * 1024 * 1024)

/* Findings kept whole in a report, over all rules. Beyond it they are only counted. */
#define FINDINGS_KEPT_MAX 100000u
/* Bytes of a message, a path or a field text; longer ones end in "...". */
#define FINDING_TEXT_MAX 480u

/* Segments, drops and doubtful ranges of a plan, each. Beyond it the repair stops with TM_LIMIT. 40 bytes apiece. */
#define PLAN_RANGES_MAX (4u * 1024 * 1024)
/* Passes of a repair: when the re-check finds an error in what a pass would write, the next pass repairs that. One is the rule.
 * If the last leaves an error, nothing is written: TM_BUG. */
#define REPAIR_PASSES_MAX 4u
/* Bytes of literals in a plan. Beyond it the repair stops with TM_LIMIT. */
#define PLAN_LITERALS_MAX (1u << 30)

/* Bytes that archives and compressed files of one input may unpack to (they are spooled to disk). TM_LIMIT. */
#define UNPACK_BYTES_MAX (UINT64_C(64) << 30)
/* Bytes of unpacked data kept in memory; what is larger goes to an unlinked temporary file. */
#define UNPACK_MEMORY_MAX (1u << 20)
/* Files of a directory or archive. TM_LIMIT. */
#define BUNDLE_SOURCES_MAX 100000u
/* Directories below the one that was named. Deeper ones are TM_LIMIT. */
#define BUNDLE_DEPTH_MAX 16u
/* Files kept open at a time; the one opened longest ago is closed for the next. */
#define BUNDLE_OPEN_MAX 32u

/* Bytes of a generated capture. TM_LIMIT. */
#define GEN_BYTES_MAX (UINT64_C(8) << 30)

/* Bytes of a capture that reduce takes. TM_LIMIT. */
#define REDUCE_BYTES_MAX (UINT64_C(64) << 20)

#endif
