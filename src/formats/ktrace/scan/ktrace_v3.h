/* Version 3. */
#ifndef KTRACE_V3_H
#define KTRACE_V3_H

#include "formats/ktrace/scan/ktrace_walk.h"

enum tracemend_status ktrace_v3_walk(struct ktrace_walk *w);

#endif
