/* The walk over a recording. */
#include "uftrace.h"

enum tracemend_status uftrace_scan(struct scan *s)
{
	return scan_limit(s, "the walk over uftrace recordings is being written");
}
