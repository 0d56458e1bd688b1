#include "formats/tracedat/scan/tracedat_pids.h"

#include <stdlib.h>

bool tracedat_pids_add(struct tracedat_pids *pids, uint32_t pid)
{
	uint8_t **leaf = &pids->leaves[pid / TRACEDAT_PID_LEAF];
	if (!*leaf && !(*leaf = calloc(TRACEDAT_PID_LEAF / 8, 1)))
		return false;
	bit_set(*leaf, pid % TRACEDAT_PID_LEAF);
	return true;
}

void tracedat_pids_free(struct tracedat_pids *pids)
{
	for (size_t i = 0; i < sizeof(pids->leaves) / sizeof(pids->leaves[0]); i++)
		free(pids->leaves[i]);
}
