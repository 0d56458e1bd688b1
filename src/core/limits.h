/* The limits of the program, and what happens when one is reached. */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

#include <stdint.h>

/* Bytes that a window reads at a time: enough to hide the cost of the system call, and less than the second-level cache. */
#define WINDOW_DEFAULT (256u * 1024)
/* What it reads far from where it read last, and how many times as much each time that it goes on there. */
#define WINDOW_FIRST (16u * 1024)
#define WINDOW_GROWTH 4u
/* The longest span that window_at() returns at once; longer payloads are walked in pieces. A larger request returns NULL, as one
 * past the end of the source does, so that no length in the input decides how much memory is allocated. */
#define WINDOW_SPAN_MAX (4u * 1024 * 1024)

/* Findings kept in a report, over all rules. Further ones are only counted. */
#define FINDINGS_KEPT_MAX 100000u
/* Bytes of a message, a path or a field text; longer ones end in "...". */
#define FINDING_TEXT_MAX 480u

/* Under a fuzzer, to try many inputs is worth more than what long searches find: they have this share of their budgets. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SEARCH_SHARE 64u
#else
#define SEARCH_SHARE 1u
#endif

/* Segments, drops and doubtful ranges of a plan, each. Beyond it the repair stops with TM_LIMIT. 40 bytes apiece. */
#define PLAN_RANGES_MAX (4u * 1024 * 1024)
/* Passes of a repair: when the check of what a pass would write finds an error, the next pass repairs that. Usually there is one.
 * Records that are not quite such may fall one after the other. If an error is left after the last pass, nothing is written:
 * TM_BUG. */
#define REPAIR_PASSES_MAX 16u
/* Bytes of literals in a plan. Beyond it the repair stops with TM_LIMIT. */
#define PLAN_LITERALS_MAX (1u << 30)

/* Bytes that an archive or compressed file may unpack to where the caller sets no limit (struct tracemend_options): so many always,
 * more only up to a multiple of what was read of it so far, and never more than a maximum. They are spooled to disk. TM_LIMIT. */
#define UNPACK_BYTES_FREE (UINT64_C(512) << 20)
#define UNPACK_RATIO 200u
#define UNPACK_BYTES_MAX (UINT64_C(64) << 30)
/* What a decoder may take: the window of zstd --long=27, and what xz -9 needs. TM_LIMIT. */
#define INFLATE_ZSTD_WINDOW_LOG 27
#define INFLATE_XZ_MEMORY (UINT64_C(72) << 20)
/* Unpacked bytes kept in memory; more of them go to an unlinked temporary file. */
#define UNPACK_MEMORY_MAX (1u << 20)
/* Files of a directory or archive. TM_LIMIT. */
#define BUNDLE_SOURCES_MAX 100000u
/* Directory levels below the given one. Deeper ones are TM_LIMIT. */
#define BUNDLE_DEPTH_MAX 16u
/* Files kept open at a time; the one opened first is closed for the next. */
#define BUNDLE_OPEN_MAX 32u

/* Bytes of a generated capture. TM_LIMIT. */
#define GEN_BYTES_MAX (UINT64_C(8) << 30)

/* Bytes of a capture that reduce takes. TM_LIMIT. */
#define REDUCE_BYTES_MAX (UINT64_C(64) << 20)

#endif
