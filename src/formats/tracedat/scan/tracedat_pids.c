#include "formats/tracedat/scan/tracedat_pids.h"

#include <stdlib.h>

bool tracedat_pids_add(struct tracedat_pids *pids, uint32_t pid)
{
	const uint32_t place = pid / TRACEDAT_PID_LEAF, bit = pid % TRACEDAT_PID_LEAF;
	uint8_t *leaf = pids->leaves[place];
	if (!leaf) {
		leaf = calloc(TRACEDAT_PID_LEAF / 8, 1);
		if (!leaf)
			return false;
		__atomic_store_n(&pids->leaves[place], leaf, __ATOMIC_RELEASE);
	}
	__atomic_fetch_or(&leaf[bit / 8], (uint8_t)(1u << bit % 8), __ATOMIC_RELAXED);
	return true;
}

void tracedat_pids_free(struct tracedat_pids *pids)
{
	for (size_t i = 0; i < sizeof(pids->leaves) / sizeof(pids->leaves[0]); i++)
		free(pids->leaves[i]);
}
