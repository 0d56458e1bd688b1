/* Placeholder until the generator lands. */
#include "fxt.h"

enum tracemend_status fxt_generate(struct gen *g)
{
	(void)g;
	return TM_USAGE;
}
