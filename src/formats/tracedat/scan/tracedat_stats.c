/* The statistics of the CPUs, by buffer and CPU: sorted, so that each look-up is short also among very many. */
#include <stdlib.h>

#include "core/array.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

/* The name in a heading of statistics, "Buffer: NAME"; of size 0 where there is none. */
static struct tracedat_heading heading_name(const struct tracedat_option *o)
{
	const char *text = (const char *)o->block->data + o->at, *p = memmem(text, o->size, "Buffer: ", 8);
	struct tracedat_heading h = { p ? p + 8 : text, 0 };
	size_t room = p ? o->size - (size_t)(h.name - text) : 0;
	while (h.size < room && h.name[h.size] != '\n' && h.name[h.size])
		h.size++;
	return h;
}

bool tracedat_heading_is(const struct tracedat_option *o, struct tracedat_heading *h)
{
	if (!memmem(o->block->data + o->at, o->size, "Buffer:", 7))
		return false;
	*h = heading_name(o);
	/* The rest of one that was hit may be the name of another instance. */
	const char *end = (const char *)o->block->data + o->at + o->size;
	if (h->name + h->size >= end || h->name[h->size] != '\n')
		h->size = 0;
	return true;
}

void tracedat_headings_read(struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->dir.option_count && w->dir.heading_count < TRACEDAT_BUFFERS_MAX; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (o->id != TRACEDAT_CPUSTAT || !memmem(o->block->data + o->at, o->size, "Buffer: ", 8))
			continue;
		if (!tracedat_room(w, &w->dir.headings, &w->dir.heading_capacity, w->dir.heading_count, sizeof(*w->dir.headings),
				   TRACEDAT_BUFFERS_MAX))
			return;
		w->dir.headings[w->dir.heading_count++] = heading_name(o);
	}
}

/* The top buffer, which has no name, is the first. */
static int compare_names(const struct tracedat_heading *a, const struct tracedat_heading *b)
{
	if (!a->name || !b->name)
		return (a->name != NULL) - (b->name != NULL);
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->size ? memcmp(a->name, b->name, a->size) : 0;
}

static int compare_stats(const void *a, const void *b)
{
	const struct tracedat_stat *x = a, *y = b;
	int names = compare_names(&x->buffer, &y->buffer);
	if (names)
		return names;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->option < y->option ? -1 : x->option > y->option;
}

void tracedat_stats_sort(struct tracedat_directory *dir)
{
	if (dir->stat_count)
		qsort(dir->stats, dir->stat_count, sizeof(*dir->stats), compare_stats);
}

/* The first of the statistics that is not before that CPU of that buffer. */
static size_t first_of(const struct tracedat_directory *dir, const struct tracedat_heading *buffer, uint32_t cpu)
{
	const struct tracedat_stat first = { .buffer = *buffer, .cpu = cpu };
	size_t i;
	array_search(i, dir->stat_count, compare_stats(&dir->stats[i], &first) < 0);
	return i;
}

const struct tracedat_stat *tracedat_stats_of(const struct tracedat_directory *dir, const char *buffer, uint32_t from,
					      size_t *count)
{
	struct tracedat_heading name = { *buffer ? buffer : NULL, strlen(buffer) };
	size_t first = first_of(dir, &name, from);
	*count = first_of(dir, &name, UINT32_MAX) - first;
	return dir->stats ? dir->stats + first : NULL;
}

const struct tracedat_stat *tracedat_stat_of(const struct tracedat_directory *dir, const char *buffer, uint32_t cpu)
{
	size_t count;
	const struct tracedat_stat *stat = tracedat_stats_of(dir, buffer, cpu, &count);
	return count && stat->cpu == cpu ? stat : NULL;
}
