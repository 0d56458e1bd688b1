/* Ranges of the file that are in use. */
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdlib.h>

static int range_order(const void *left, const void *right)
{
	const struct tracedat_range *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

bool tracedat_page_at(struct tracedat_walk *w, uint64_t at, uint32_t size)
{
	const uint8_t *p = window_at(&w->window, at, size);
	return p && tracedat_page_plausible(w, p, size, NULL);
}

struct tracedat_range *tracedat_ranges(struct tracedat_walk *w, size_t *count)
{
	size_t n = 0, all = w->dir.section_count;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		all += w->data.buffers[i].count + 1;
	struct tracedat_range *r = calloc(all + 1, sizeof(*r));
	if (!r) {
		tracedat_no_memory(w);
		return NULL;
	}
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (w->shape.version == 6 && i && b->record_at)
			r[n++] = (struct tracedat_range){ .from = b->record_at, .to = b->clock_at + b->clock_size, .buffer = b };
		for (size_t j = 0; j < b->count; j++) {
			struct tracedat_cpu *c = &b->cpus[j];
			if (c->length)
				r[n++] = (struct tracedat_range){
					.from = c->from, .to = c->from + c->length, .buffer = b, .cpu = c
				};
		}
	}
	for (size_t i = 0; i < n; i++)
		r[i].order = i;
	*count = n;
	qsort(r, n, sizeof(*r), range_order);
	return r;
}
