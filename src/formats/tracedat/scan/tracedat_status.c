/* The status of a walk, and the bytes that repair leaves out. */
#include <stdlib.h>

#include "core/array.h"
#include "formats/tracedat/scan/tracedat_walk.h"

void tracedat_no_memory(struct tracedat_walk *w)
{
	if (w->status == TM_OK)
		w->status = TM_NO_MEMORY;
}

bool tracedat_room(struct tracedat_walk *w, void *array, size_t *capacity, size_t count, size_t size, size_t max)
{
	enum tracemend_status status = array_room(array, capacity, count, size, max);
	if (status == TM_LIMIT && w->status == TM_OK)
		w->status = scan_limit(w->s, "more than %zu items of a kind that a capture has few of", max);
	if (status == TM_NO_MEMORY)
		tracedat_no_memory(w);
	return status == TM_OK;
}

void tracedat_block_free(struct tracedat_block *b)
{
	free(b->data);
	b->data = NULL;
	b->size = 0;
}

static void drop_note(struct tracedat_walk *w, struct tracedat_drop d)
{
	if (!w->repair || !d.length)
		return;
	if (!tracedat_room(w, &w->out.drops, &w->out.drop_capacity, w->out.drop_count, sizeof(*w->out.drops), PLAN_RANGES_MAX))
		return;
	w->out.drops[w->out.drop_count++] = d;
}

void tracedat_drop(struct tracedat_walk *w, uint64_t from, uint64_t length, unsigned rule, const char *why)
{
	drop_note(w, (struct tracedat_drop){ w->source, from, length, rule, why, false });
}

void tracedat_drop_remade(struct tracedat_walk *w, uint64_t from, uint64_t length, unsigned rule, const char *why)
{
	drop_note(w, (struct tracedat_drop){ w->source, from, length, rule, why, true });
}

void tracedat_drop_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			 const char *why)
{
	if (!b->compressed)
		tracedat_drop(w, b->offset + at, length, rule, why);
}
