/* A page of one CPU in the place of one of another, as a disk leaves it that wrote a block to the wrong place. Two CPUs do not
 * begin a page in the same nanosecond and with the same events, so the page is there twice. It is looked for where the kernel
 * counted another number of events than there are, or where time steps back. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

/* Pages of a capture in which copies are looked for, and pairs of pages of one time that are compared: bounds of memory and work.
 */
#define COPY_PAGES_MAX (1u << 16)
#define COPY_PAIRS_MAX 256u

struct copy_page {
	uint64_t time, at;
	const struct tracedat_buffer *buffer;
	const struct tracedat_cpu *cpu;
};

static bool is_plain(const struct tracedat_buffer *b)
{
	return !b->compressed && !b->text && tracedat_page_size_ok(b->page_size);
}

static bool contradicted(const struct tracedat_cpu *c)
{
	return c->length && (c->backwards || (c->stat && c->stat->known && !c->agrees));
}

/* Bounds the pages; 0: no CPU is contradicted, or there are too many. */
static size_t copy_room(const struct tracedat_walk *w)
{
	uint64_t pages = 0;
	bool any = false;

	for (size_t i = 0; i < w->data.buffer_count; i++) {
		const struct tracedat_buffer *b = &w->data.buffers[i];
		for (size_t j = 0; j < b->count && is_plain(b); j++) {
			pages += b->cpus[j].length / b->page_size;
			any |= contradicted(&b->cpus[j]);
		}
	}
	return any && pages <= COPY_PAGES_MAX ? (size_t)pages : 0;
}

static size_t copy_collect(struct tracedat_walk *w, struct copy_page *pages, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < w->data.buffer_count; i++) {
		const struct tracedat_buffer *b = &w->data.buffers[i];
		for (size_t j = 0; j < b->count && is_plain(b); j++) {
			const struct tracedat_cpu *c = &b->cpus[j];
			for (uint64_t at = c->from; c->from + c->length - at >= b->page_size && count < room; at += b->page_size) {
				const uint8_t *p = window_at(&w->window, at, 8);
				if (p && load_u64(p, w->shape.big_endian))
					pages[count++] = (struct copy_page){ load_u64(p, w->shape.big_endian), at, b, c };
			}
		}
	}
	return count;
}

static int copy_order(const void *left, const void *right)
{
	const struct copy_page *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Whether both pages have the same bytes, and events. */
static bool copy_is_same(struct tracedat_walk *w, const struct copy_page *a, const struct copy_page *b, uint8_t *room)
{
	const uint32_t size = a->buffer->page_size;
	uint32_t records = 0;
	const uint8_t *p = window_at(&w->window, a->at, size);

	if (!p || !tracedat_page_plausible(w, p, size, &records) || !records)
		return false;
	memcpy(room, p, size);
	p = window_at(&w->window, b->at, size);
	return p && !memcmp(room, p, size);
}

static void copy_report(struct tracedat_walk *w, const struct copy_page *copy, const struct copy_page *other)
{
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_page_duplicate, copy->at, copy->buffer->page_size,
					     "the page is identical to that of CPU %u at 0x%llx", other->cpu->cpu,
					     (unsigned long long)other->at);
	finding_path(fd, "%s%sCPU %u", copy->buffer->name, *copy->buffer->name ? " > " : "", copy->cpu->cpu);
	if (w->s->plan)
		plan_doubt(w->s->plan, w->source, copy->at, copy->buffer->page_size,
			   "the same page is there for another CPU, and this one has other events than the kernel counted, or "
			   "steps back in time");
}

/* The copy is where the kernel's count does not fit; where it fits nowhere, both may be. */
static void copy_judge(struct tracedat_walk *w, const struct copy_page *a, const struct copy_page *b, uint8_t *room)
{
	const bool first = contradicted(a->cpu), second = contradicted(b->cpu);

	if (a->cpu == b->cpu || a->buffer->page_size != b->buffer->page_size || (!first && !second) || !copy_is_same(w, a, b, room))
		return;
	if (first)
		copy_report(w, a, b);
	if (second)
		copy_report(w, b, a);
}

void tracedat_pages_compare(struct tracedat_walk *w)
{
	const size_t room = w->status == TM_OK && !w->stopped && !w->shape.old_ring ? copy_room(w) : 0;
	struct copy_page *pages = room ? malloc(room * sizeof(*pages)) : NULL;
	uint8_t *page = room ? malloc(TRACEDAT_PAGE_MAX) : NULL;

	if (room && (!pages || !page)) {
		tracedat_no_memory(w);
	} else if (room) {
		const size_t count = copy_collect(w, pages, room);
		unsigned pairs = 0;
		qsort(pages, count, sizeof(*pages), copy_order);
		for (size_t i = 1; i < count && pairs < COPY_PAIRS_MAX && w->window.status == TM_OK; i++)
			if (pages[i].time == pages[i - 1].time) {
				pairs++;
				copy_judge(w, &pages[i - 1], &pages[i], page);
			}
	}
	free(pages);
	free(page);
}
