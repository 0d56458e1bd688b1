/* The generator. */
#include "uftrace.h"

enum tracemend_status uftrace_generate(struct gen *g)
{
	(void)g;
	return TM_USAGE;
}
