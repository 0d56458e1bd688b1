/* RAW files, versions 0 to 2. */
#ifndef KTRACE_RAW_H
#define KTRACE_RAW_H

#include "formats/ktrace/scan/ktrace_walk.h"

/* form: one that is raw. */
enum tracemend_status ktrace_raw_walk(struct ktrace_walk *w, const struct ktrace_form *form);

#endif
