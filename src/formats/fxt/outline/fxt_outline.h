/* The parts of an FXT file, as struct format has it. */
#ifndef FXT_OUTLINE_H
#define FXT_OUTLINE_H

#include "core/outline.h"

enum tracemend_status fxt_outline(struct outline *o, const char *profile);

#endif
