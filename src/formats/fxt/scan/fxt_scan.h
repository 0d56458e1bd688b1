/* The walk over an FXT file, as struct format has it. */
#ifndef FXT_SCAN_H
#define FXT_SCAN_H

#include "core/format.h"

enum tracemend_status fxt_scan(struct scan *s);

#endif
