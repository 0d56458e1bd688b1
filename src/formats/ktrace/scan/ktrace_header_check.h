/* The checks of the header structure of version 3. */
#ifndef KTRACE_HEADER_CHECK_H
#define KTRACE_HEADER_CHECK_H

#include "formats/ktrace/salvage/ktrace_header_find.h"
#include "formats/ktrace/scan/ktrace_walk.h"

/* Reads the header and reports its fields, its width (w->in.is_64) and its end, which is returned in *end. */
enum tracemend_status ktrace_header_check(struct ktrace_walk *w, struct ktrace_header *h, struct ktrace_header_end *end);
/* Checks that need the last chunk. */
void ktrace_header_finish(struct ktrace_walk *w, const struct ktrace_header *h, const struct ktrace_header_end *end);

#endif
