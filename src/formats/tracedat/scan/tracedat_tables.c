/* Growing tables of buffers and CPUs. */
#include "formats/tracedat/scan/tracedat_walk.h"

struct tracedat_buffer *tracedat_buffer_add(struct tracedat_walk *w)
{
	if (!tracedat_room(w, &w->data.buffers, &w->data.buffer_capacity, w->data.buffer_count, sizeof(*w->data.buffers),
			   TRACEDAT_BUFFERS_MAX))
		return NULL;
	struct tracedat_buffer *b = &w->data.buffers[w->data.buffer_count++];
	*b = (struct tracedat_buffer){ .section = -1, .option = SIZE_MAX };
	return b;
}

struct tracedat_cpu *tracedat_cpu_add(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	if (!tracedat_room(w, &b->cpus, &b->capacity, b->count, sizeof(*b->cpus), TRACEDAT_CPUS_MAX))
		return NULL;
	if (w->data.entries == TRACEDAT_ENTRIES_MAX) {
		if (w->status == TM_OK)
			w->status = scan_limit(w->s, "more than %u CPUs in all instances", TRACEDAT_ENTRIES_MAX);
		return NULL;
	}
	w->data.entries++;
	struct tracedat_cpu *c = &b->cpus[b->count++];
	*c = (struct tracedat_cpu){ 0 };
	return c;
}

void tracedat_option_drop(struct tracedat_option *o, unsigned rule, const char *why)
{
	o->dropped = true;
	o->rule = rule;
	o->why = why;
}
