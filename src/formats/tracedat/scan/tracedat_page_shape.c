/* Page size and long size where the header contradicts itself: the pages decide. */
#include "formats/tracedat/scan/tracedat_place.h"

/* Pages of a buffer that are plausible with that size, of the first few. */
static unsigned buffer_score(struct tracedat_walk *w, const struct tracedat_buffer *b, uint32_t page_size, unsigned *tried)
{
	unsigned score = 0;
	for (size_t j = 0; j < b->count && *tried < 8; j++) {
		const struct tracedat_cpu *c = &b->cpus[j];
		for (uint64_t at = c->offset, n = 0; n < 3 && c->size / page_size > n; n++, at += page_size) {
			const uint8_t *p = c->offset < w->source->size ? window_at(&w->window, at, page_size) : NULL;
			(*tried)++;
			score += p && tracedat_page_plausible(w, p, page_size, NULL);
		}
	}
	return score;
}

static unsigned shape_score(struct tracedat_walk *w, uint32_t page_size, uint8_t long_size)
{
	uint8_t was = w->shape.long_size;
	unsigned score = 0, tried = 0;
	w->shape.long_size = long_size;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		score += buffer_score(w, &w->data.buffers[i], page_size, &tried);
	w->shape.long_size = was;
	return score;
}

/* An instance may have pages of its own size, when they are pages of that size. */
void tracedat_instance_page_size(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	unsigned own = 0, other = 0;
	if (b->page_size == w->shape.page_size || b->compressed || b->option == SIZE_MAX)
		return;
	if (buffer_score(w, b, b->page_size, &own) >= buffer_score(w, b, w->shape.page_size, &other))
		return;
	const struct tracedat_option *o = &w->dir.options[b->option];
	struct finding *fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_page_size, o->block, o->at, o->size,
						   "the page size is %u, expected %u by its pages", b->page_size,
						   w->shape.page_size);
	finding_path(fd, "buffer \"%s\"", b->name);
	b->page_size = w->shape.page_size;
}

/* The percentage of valid pages with only zeros after their records, among the first pages of each buffer: with too small a
 * page size records are cut, with too large a one data follows. */
static unsigned shape_share(struct tracedat_walk *w, uint32_t page_size)
{
	unsigned whole = 0, tried = 0;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count && tried < 16; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			for (uint64_t at = c->offset, n = 0; n < 4 && c->offset < w->source->size && c->size / page_size > n;
			     n++, at += page_size) {
				const uint8_t *p = window_at(&w->window, at, page_size);
				tried++;
				whole += p && tracedat_page_plausible(w, p, page_size, NULL) &&
					 tracedat_page_tail_zero(&w->shape, p, page_size);
			}
		}
	return tried ? 100 * whole / tried : 0;
}

/* Page size and long size of plain pages where all headers are lost; the usual sizes first. */
static void shape_of_pages(struct tracedat_walk *w)
{
	static const uint32_t sizes[] = { 4096, 8192, 16384, 32768, 65536, 1024, 2048, 131072, 262144, 524288, 1048576 };
	uint32_t page_size = w->shape.page_size;
	uint8_t long_size = w->shape.long_size;
	unsigned best = 0;

	for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		w->shape.long_size = i & 1 ? 4 : 8;
		unsigned share = shape_share(w, sizes[i / 2]);
		if (share <= best)
			continue;
		best = share;
		page_size = sizes[i / 2];
		long_size = w->shape.long_size;
	}
	w->shape.page_size = page_size;
	w->shape.long_size = long_size;
}

/* The long size of compressed pages: the one with which the first readable chunk begins with a valid page. */
static void shape_of_chunks(struct tracedat_walk *w)
{
	const uint8_t sizes[2] = { w->shape.long_size, w->shape.long_size == 8 ? 4 : 8 };
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count && j < 8 && w->data.buffers[i].compressed; j++)
			for (unsigned k = 0; k < 2; k++) {
				w->shape.long_size = sizes[k];
				if (tracedat_chunk_pages(w, w->data.buffers[i].cpus[j].offset + 4, w->source->size,
							 w->shape.page_size))
					return;
			}
	w->shape.long_size = sizes[0];
}

/* Where the header contradicts itself, the pages decide. */
void tracedat_shape_decide(struct tracedat_walk *w)
{
	bool compressed = w->shape.version == 7 && w->shape.codec != TRACEDAT_NONE;
	if (!tracedat_page_size_ok(w->shape.page_size))
		w->shape.page_size = w->meta.header_page_size ? w->meta.header_page_size : 4096;
	if (!w->shape.long_size)
		w->shape.long_size = w->prefix.user_long == 4 ? 4 : 8;
	bool unknown = (w->meta.header.regenerate && !w->meta.header.long_stated) || !w->meta.seen[0] || w->meta.header.page_lost;
	if (compressed) {
		if (w->meta.header_page_size && w->meta.header_page_size != w->shape.page_size)
			w->shape.page_size = w->meta.header_page_size;
		if (unknown)
			shape_of_chunks(w);
		return;
	}
	if (w->meta.header_page_size && w->meta.header_page_size != w->shape.page_size &&
	    shape_score(w, w->meta.header_page_size, w->shape.long_size) >= shape_score(w, w->shape.page_size, w->shape.long_size))
		w->shape.page_size = w->meta.header_page_size;
	if (w->prefix.page_size_bad && !w->meta.header_page_size) {
		shape_of_pages(w);
	} else if (unknown) {
		uint8_t other = w->shape.long_size == 8 ? 4 : 8;
		unsigned own = shape_score(w, w->shape.page_size, w->shape.long_size);
		if (shape_score(w, w->shape.page_size, other) > own) {
			w->shape.long_size = other;
		}
	}
}

/* The shape of raw pages: the usual ones are tried on the first page. */
bool tracedat_shape_infer(struct window *window, struct tracedat_shape *shape)
{
	static const uint32_t sizes[] = { 4096, 65536, 16384, 8192, 1024, 2048 };
	for (unsigned i = 0; i < 6 * 4; i++) {
		uint32_t records;
		shape->long_size = i & 1 ? 4 : 8;
		shape->big_endian = i & 2;
		const uint8_t *p = window_at(window, 0, sizes[i / 4]);
		if (p && tracedat_page_sound(shape, NULL, p, sizes[i / 4], &records) && tracedat_long(shape, p + 8) &&
		    tracedat_page_tail_zero(shape, p, sizes[i / 4])) {
			shape->page_size = sizes[i / 4];
			return true;
		}
	}
	return false;
}
