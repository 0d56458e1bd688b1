/* RAW files, versions 0 to 2. */
#ifndef KTRACE_RAW_H
#define KTRACE_RAW_H

#include "formats/ktrace/scan/ktrace_walk.h"

/* magic: of the form that the file has, or had (struct ktrace_form). */
enum tracemend_status ktrace_raw_walk(struct ktrace_walk *w, uint32_t magic);

#endif
