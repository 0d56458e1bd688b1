/* Files that stand beside the records: perf, kernel, events, options. */
#ifndef UFTRACE_SIDE_H
#define UFTRACE_SIDE_H

#include "formats/uftrace/scan/uftrace_walk.h"

bool uftrace_perf_walk(struct uftrace_walk *w);
bool uftrace_kernel_walk(struct uftrace_walk *w);
/* events.txt: before the records, which refer to it. */
bool uftrace_events_walk(struct uftrace_walk *w);
/* extern.dat and default.opts */
bool uftrace_misc_walk(struct uftrace_walk *w);

#endif
