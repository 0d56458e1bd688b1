/* The parts of a ktrace file. */
#ifndef KTRACE_OUTLINE_H
#define KTRACE_OUTLINE_H

#include "core/outline.h"

enum tracemend_status ktrace_outline(struct outline *o, const char *profile);

#endif
