/* RAW files as repair writes them: what their headers say, and the gap before the events. */
#ifndef KTRACE_REPAIR_RAW_H
#define KTRACE_REPAIR_RAW_H

#include "formats/ktrace/repair/ktrace_repair.h"

void ktrace_repair_raw_magic(struct ktrace_repair *r, uint32_t magic);
void ktrace_repair_raw2_width(struct ktrace_repair *r, bool is_64);
void ktrace_repair_raw_walltime(struct ktrace_repair *r, uint64_t seconds, uint32_t usec);
/* The number of threads, at offset `at`. */
void ktrace_repair_raw_threads(struct ktrace_repair *r, uint32_t at, uint64_t threads, enum ktrace_rule rule);
/* Fills the gap up so that events, which begin at `events`, start at a page, where readers look for them. cut: the file ends
 * there. */
void ktrace_repair_raw_gap(struct ktrace_repair *r, uint64_t events, bool cut);

#endif
