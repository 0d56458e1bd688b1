/* Process ids that command lines or records have. */
#ifndef TRACEDAT_PIDS_H
#define TRACEDAT_PIDS_H

#include "formats/tracedat/tracedat.h"

/* A set of process ids: a bit for each, in leaves that are made when one of theirs comes. */
#define TRACEDAT_PID_LEAF 16384u /* bits */
struct tracedat_pids {
	uint8_t *leaves[TRACEDAT_PID_MAX / TRACEDAT_PID_LEAF + 1]; /* owned; NULL: none of these */
};

/* pid: at most TRACEDAT_PID_MAX. In any thread, also while another one adds. */
static inline bool tracedat_pids_has(const struct tracedat_pids *pids, uint32_t pid)
{
	const uint32_t bit = pid % TRACEDAT_PID_LEAF;
	const uint8_t *leaf = __atomic_load_n(&pids->leaves[pid / TRACEDAT_PID_LEAF], __ATOMIC_ACQUIRE);
	return leaf && __atomic_load_n(&leaf[bit / 8], __ATOMIC_RELAXED) >> bit % 8 & 1;
}

/* False: no memory. In one thread. */
bool tracedat_pids_add(struct tracedat_pids *pids, uint32_t pid);
void tracedat_pids_free(struct tracedat_pids *pids);

#endif
