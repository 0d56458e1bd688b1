/* A bounded table of ids that knows when it no longer has all of them. */
#ifndef KTRACE_TABLE_H
#define KTRACE_TABLE_H

#include "core/map.h"

struct ktrace_table {
	struct map map;
	size_t max;
	bool full;   /* the bound was reached: an id is missing */
	bool failed; /* out of memory */
};

static inline uint32_t ktrace_table_get(const struct ktrace_table *t, uint64_t key)
{
	return map_get(&t->map, key);
}
static inline bool ktrace_table_has(const struct ktrace_table *t, uint64_t key)
{
	return map_get(&t->map, key) != MAP_NONE;
}
/* False when there is no room, or no memory. */
static inline bool ktrace_table_set(struct ktrace_table *t, uint64_t key, uint32_t value)
{
	enum tracemend_status status = map_set(&t->map, key, value, t->max);

	t->full |= status == TM_LIMIT;
	t->failed |= status == TM_NO_MEMORY;
	return status == TM_OK;
}
static inline void ktrace_table_free(struct ktrace_table *t)
{
	map_free(&t->map);
}

#endif
