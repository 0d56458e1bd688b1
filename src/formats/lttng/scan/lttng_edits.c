/* Changes within a block. */
#include "formats/lttng/scan/lttng_edits.h"

bool lttng_edits_add(struct lttng_edits *e, uint64_t rel, uint64_t drop, const void *bytes, size_t length, unsigned rule,
		     const struct lttng_doubt *doubt)
{
	size_t n = e->edits.count;

	if (n == LTTNG_EDITS_MAX)
		return false;
	edits_add(&e->edits, rel, drop, bytes, length, rule, lttng_rules[rule].title);
	if (e->edits.failed)
		return false;
	e->doubts[n] = doubt ? *doubt : (struct lttng_doubt){ 0 };
	return true;
}

void lttng_edits_cut(struct lttng_edits *e, size_t count)
{
	e->edits.count = count;
}

void lttng_edits_trim(struct lttng_edits *e, uint64_t rel)
{
	while (e->edits.count && e->edits.list[e->edits.count - 1].at >= rel)
		e->edits.count--;
}

uint64_t lttng_edits_size(const struct lttng_edits *e, uint64_t size)
{
	for (size_t i = 0; i < e->edits.count; i++)
		size -= e->edits.list[i].remove - e->edits.list[i].length;
	return size;
}
