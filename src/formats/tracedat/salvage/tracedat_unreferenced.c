/* CPU data that no table names, carved between and behind the ranges in use and assigned to CPUs without data. */
#include "core/array.h"
#include "core/bytes.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdlib.h>

static const struct tracedat_stat *expected_of(const struct tracedat_directory *dir, const struct tracedat_buffer *b, uint32_t cpu)
{
	const struct tracedat_stat *stat = tracedat_stat_of(dir, b->name, cpu);
	return stat && stat->known ? stat : NULL;
}

/* CPUs of a buffer of which it is asked what lacks data: bounds the search in hostile files. */
#define FILLED_MAX 1024u

/* The next CPU from `from` on that has no data and should have some. */
static uint32_t cpu_without_data(const struct tracedat_walk *w, const struct tracedat_buffer *b, uint32_t from)
{
	uint8_t filled[TRACEDAT_CPUS_MAX / 8] = { 0 }, counted[TRACEDAT_CPUS_MAX / 8] = { 0 };
	size_t count;

	if (b->count > FILLED_MAX || w->dir.stat_count > 4096)
		return from < TRACEDAT_CPUS_MAX ? from : TRACEDAT_CPUS_MAX - 1;
	for (size_t i = 0; i < b->count; i++)
		if (b->cpus[i].length && b->cpus[i].cpu < TRACEDAT_CPUS_MAX)
			bit_set(filled, b->cpus[i].cpu);
	uint32_t most = w->data.cpu_count && w->data.cpu_count <= TRACEDAT_CPUS_MAX ? w->data.cpu_count : TRACEDAT_CPUS_MAX;
	/* First a CPU that had events according to the statistics, then one without statistics. */
	const struct tracedat_stat *stat = tracedat_stats_of(&w->dir, b->name, from, &count);
	for (; count && stat->cpu < most; stat++, count--) {
		if (!stat->known || bit_get(counted, stat->cpu))
			continue;
		if (stat->entries + stat->read && !bit_get(filled, stat->cpu))
			return stat->cpu;
		bit_set(counted, stat->cpu);
	}
	for (uint32_t cpu = from; cpu < most; cpu++)
		if (!bit_get(filled, cpu) && !bit_get(counted, cpu))
			return cpu;
	for (uint32_t cpu = from; cpu < TRACEDAT_CPUS_MAX; cpu++)
		if (!bit_get(filled, cpu))
			return cpu;
	return TRACEDAT_CPUS_MAX - 1;
}

/* Whether the table of the buffer names no data of the CPU, which had some or may have had. */
static bool cpu_lacks_data(const struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	if (c->length)
		return false;
	const struct tracedat_stat *s = expected_of(&w->dir, b, c->cpu);
	return c->lost || (!c->offset && !c->size && w->shape.version == 6) || (s && s->entries + s->read);
}

static bool buffer_lacks_data(const struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	bool lacks = b->count > FILLED_MAX;

	for (size_t i = 0; i < b->count && !lacks; i++)
		lacks = cpu_lacks_data(w, b, &b->cpus[i]);
	return lacks;
}

/* Whether data of a CPU may be in what no table names. As data that is found only fills CPUs, each is looked at once in a file. */
static bool cpu_is_missing(struct tracedat_walk *w)
{
	for (; w->data.filled_buffers < w->data.buffer_count; w->data.filled_buffers++, w->data.filled_cpus = 0) {
		const struct tracedat_buffer *b = &w->data.buffers[w->data.filled_buffers];
		for (; w->data.filled_cpus < b->count; w->data.filled_cpus++) {
			if (cpu_lacks_data(w, b, &b->cpus[w->data.filled_cpus]))
				return true;
		}
	}
	return false;
}

struct search {
	struct tracedat_walk *w;
	unsigned buffer;
	uint32_t next; /* CPU */
	struct tracedat_cpu run;
	bool running, any;
	uint64_t records, last;
	uint64_t pages;
};

static void run_end(struct search *found, uint64_t at)
{
	struct tracedat_buffer *b = &found->w->data.buffers[found->buffer];
	struct tracedat_cpu *c = NULL;

	if (!found->running)
		return;
	found->running = false;
	for (size_t i = 0; i < b->count && !c; i++)
		if (b->cpus[i].cpu == found->run.cpu)
			c = &b->cpus[i];
	if (!c)
		c = tracedat_cpu_add(found->w, b);
	if (!c)
		return;
	c->cpu = found->run.cpu;
	c->from = found->run.from;
	c->length = at - found->run.from;
	c->found = true;
	c->lost = false;
	c->clipped = true;
	found->any = true;
	found->next = found->run.cpu + 1;
}

/* Adds the page at `at` to the run or begins one: the data of a CPU ends where its count is reached, or time steps back. */
static void search_page(struct search *found, uint64_t at, uint64_t ts, uint32_t records)
{
	struct tracedat_walk *w = found->w;
	const struct tracedat_stat *expected = found->running
						       ? expected_of(&w->dir, &w->data.buffers[found->buffer], found->run.cpu)
						       : NULL;
	bool full = expected && found->records >= expected->entries + expected->read;
	/* Clocks step back a little; from one CPU's data to the next, time steps back by the whole trace. */
	if (found->running &&
	    (full || (ts < found->last && !(expected && found->records + records <= expected->entries + expected->read))))
		run_end(found, at);
	if (!found->running) {
		found->run = (struct tracedat_cpu){ .cpu = cpu_without_data(w, &w->data.buffers[found->buffer], found->next),
						    .from = at };
		found->running = true;
		found->records = 0;
	}
	found->records += records;
	found->last = ts;
	found->pages++;
}

/* The first bytes of a page that the end of the file cuts; NULL: there are none. */
static const uint8_t *page_cut(struct tracedat_walk *w, uint64_t at, uint64_t to, uint32_t size)
{
	const uint8_t *p = to == w->source->size && to > at && to - at < size ? window_at(&w->window, at, (size_t)(to - at)) : NULL;
	return p && tracedat_page_cut_sound(&w->shape, tracedat_known(w), p, (uint32_t)(to - at), size) ? p : NULL;
}

/* Uncompressed pages in [at, to), one at `at`. */
static void search_pages(struct search *found, uint64_t at, uint64_t to)
{
	struct tracedat_walk *w = found->w;
	uint32_t size = w->data.buffers[found->buffer].page_size;
	uint64_t end = at;
	const uint8_t *p;

	for (; to >= at && to - at >= size && w->status == TM_OK; at += size) {
		uint32_t records = 0;
		p = window_at(&w->window, at, size);
		if (!p)
			return;
		if (!tracedat_page_plausible(w, p, size, &records))
			continue;
		search_page(found, at, load_u64(p, w->shape.big_endian), records);
		end = at + size;
	}
	p = page_cut(w, at, to, size);
	if (p) {
		search_page(found, at, load_u64(p, w->shape.big_endian), 1);
		end = to;
	}
	run_end(found, end);
}

static void search_chunks(struct search *found, uint64_t from, uint64_t to)
{
	struct tracedat_walk *w = found->w;
	uint32_t size = w->data.buffers[found->buffer].page_size;

	for (uint64_t at = tracedat_align(from, size); to > at && to - at >= 16 && w->status == TM_OK; at += size) {
		if (!tracedat_chunk_begins(w, at + 4, to))
			continue;
		uint64_t end = at + 4;
		while (tracedat_chunk_begins(w, end, to)) {
			const uint8_t *p = window_at(&w->window, end, 8);
			uint32_t csize = p ? load_u32(p, w->shape.big_endian) : 0;
			if (!csize || csize > to - end - 8)
				break;
			end += 8 + csize;
			found->pages++;
		}
		found->run = (struct tracedat_cpu){ .cpu = cpu_without_data(w, &w->data.buffers[found->buffer], found->next),
						    .from = at };
		found->running = true;
		if (end == at + 4)
			end = to < at + size ? to : at + size;
		run_end(found, end);
		at = ((end + size - 1) & ~(uint64_t)(size - 1)) - size;
	}
}

/* The number of plausible pages in [at, to), one at `at`. */
static uint64_t count_pages(struct tracedat_walk *w, uint64_t at, uint64_t to, uint32_t size)
{
	uint64_t n = 0;
	for (; to >= at && to - at >= size; at += size)
		n += tracedat_page_at(w, at, size);
	return n + (page_cut(w, at, to, size) != NULL);
}

/* Whether another trace.dat begins at `at`, up to `to`, which is reported, or further in front: its pages are not ours. */
static bool gap_is_other(struct tracedat_walk *w, uint64_t from, uint64_t at, uint64_t to)
{
	const uint8_t *magic = window_at(&w->window, at, TRACEDAT_MAGIC_SIZE);

	if (w->meta.other && from > w->meta.other)
		return true;
	if (!magic || memcmp(magic, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE) || tracedat_foreign_block(w, at))
		return false;
	(void)tracedat_report(w, TRACEDAT_RULE_trailing_bytes, at, to - at, "another trace.dat of %llu bytes begins here",
			      (unsigned long long)(to - at));
	return true;
}

/* The number of pages in [*from, to), and where the first of them begins: not at its offset where bytes were inserted or removed.
 */
static uint64_t gap_pages(struct tracedat_walk *w, uint64_t *from, uint64_t to, uint32_t size, bool lost)
{
	uint64_t begin = tracedat_align(*from, size), pages = count_pages(w, begin, to, size);

	if (!pages && lost && to - *from > size) {
		uint64_t place = tracedat_page_shifted(w, begin, size, (to - *from) / size, *from, to);
		begin = place != UINT64_MAX ? place : begin;
		pages = place != UINT64_MAX ? count_pages(w, begin, to, size) : 0;
	}
	*from = begin;
	return pages;
}

/* Examines a range that is not in use. */
static void gap_examine(struct tracedat_walk *w, unsigned buffer, uint64_t from, uint64_t to, bool last)
{
	struct tracedat_buffer *b = &w->data.buffers[buffer];
	struct finding *fd;
	uint64_t nonzero = window_skip_zeros(&w->window, from), other = w->meta.other;
	/* Pages behind the beginning of another trace.dat are not ours. */
	if (other && from < other && other < to && nonzero < other)
		to = other;
	if (from >= to || nonzero >= to)
		return;
	if (gap_is_other(w, from, nonzero, to))
		return;
	bool lost = w->data.errors || !b->count || cpu_is_missing(w);
	uint64_t begin = from, pages = b->compressed ? 0 : gap_pages(w, &begin, to, b->page_size, lost);
	if (b->compressed && lost) {
		struct search s = { .w = w, .buffer = buffer };
		search_chunks(&s, from, to);
		pages = s.pages;
		if (!s.any)
			return;
	} else if (pages && lost) {
		struct search s = { .w = w, .buffer = buffer };
		search_pages(&s, begin, to);
	}
	if (pages) {
		if (!w->data.errors || !findings_errors(w->findings)) {
			fd = tracedat_milder(w, TRACEDAT_RULE_data_unreferenced, lost ? TM_ERROR : TM_WARNING, from, to - from);
			finding_say(fd, "%llu %s that no table assigns to a CPU", (unsigned long long)pages,
				    b->compressed ? "chunks" : "pages of events");
		}
		return;
	}
	if (lost && w->data.errors)
		return;
	(void)tracedat_report(w, last ? TRACEDAT_RULE_trailing_bytes : TRACEDAT_RULE_cpu_gap_nonzero, nonzero, to - nonzero,
			      last ? "%llu bytes after the end of the data" : "%llu bytes of padding that are not zero",
			      (unsigned long long)(to - nonzero));
}

/* The plausible pages in [from, to), one after the other, and their records. */
static uint64_t pages_sound(struct tracedat_walk *w, uint64_t from, uint64_t to, uint32_t size, uint64_t *records)
{
	uint64_t n = 0;
	for (uint64_t at = from; to >= at && to - at >= size; at += size) {
		const uint8_t *p = window_at(&w->window, at, size);
		uint32_t count = 0;
		if (p && tracedat_page_plausible(w, p, size, &count)) {
			n++;
			*records += count;
		}
	}
	return n;
}

/* Whether the pages of [from, to) are the last ones of the CPU whose data the table ends there, as as many bytes were inserted: so
 * many pages of its data are none, and the kernel counted the events of all others. Then its data reaches over them. */
static bool cpu_goes_on(struct tracedat_walk *w, const struct tracedat_range *r, uint64_t from, uint64_t to)
{
	struct tracedat_cpu *c = r && r->to == from && !r->buffer->compressed ? r->cpu : NULL;
	const uint32_t size = r ? r->buffer->page_size : 0;
	uint64_t records = 0;

	if (!c || c->found || c->clipped || c->from + c->length != from || c->length % size || (to - from) % size ||
	    to - from > c->length)
		return false;
	const uint64_t pages = (to - from) / size;
	if (!tracedat_page_at(w, from, size) || pages_sound(w, from, to, size, &records) != pages ||
	    pages_sound(w, c->from, from, size, &records) != c->length / size - pages)
		return false;
	/* Where bytes were removed elsewhere, tables are as wrong: without the number nothing tells the two. */
	const struct tracedat_stat *s = expected_of(&w->dir, r->buffer, c->cpu);
	if (!s || s->entries + s->read != records)
		return false;
	(void)tracedat_report(
		w, TRACEDAT_RULE_data_unreferenced, from, to - from,
		"%llu pages of CPU %u behind the end that its table says: as many bytes were inserted in front of them",
		(unsigned long long)pages, c->cpu);
	c->length += to - from;
	return true;
}

/* In version 6 the data of an instance follows its table: what is found behind the table is of the instance, if that lacks data. */
static unsigned gap_buffer(const struct tracedat_walk *w, unsigned buffer, const struct tracedat_range *table)
{
	if (w->shape.version != 6 || !table || !buffer_lacks_data(w, table->buffer))
		return buffer;
	return (unsigned)(table->buffer - w->data.buffers);
}

/* The gaps of [from, to) between the `count` ranges r. */
static void gaps_of(struct tracedat_walk *w, unsigned buffer, uint64_t from, uint64_t to, const struct tracedat_range *r,
		    size_t count)
{
	size_t i;
	array_search(i, count, r[i].to <= from);
	const struct tracedat_range *table = NULL; /* the last one that the gaps are behind */
	const struct tracedat_range *last = NULL;
	uint64_t at = from;
	for (; i < count && r[i].from < to && w->status == TM_OK; i++) {
		if (r[i].to <= from)
			continue;
		/* The extent of the chunks is not known yet: four more bytes may belong to them. */
		if (r[i].from > at && !cpu_goes_on(w, last, at, r[i].from))
			gap_examine(w, gap_buffer(w, buffer, table), at, r[i].from, false);
		table = r[i].cpu ? table : &r[i];
		last = r[i].to > at ? &r[i] : last;
		uint64_t end = r[i].to;
		if (r[i].buffer->compressed && r[i].cpu)
			end = tracedat_align(end, r[i].buffer->page_size);
		at = end > at ? end : at;
	}
	if (at < to && w->status == TM_OK && !cpu_goes_on(w, last, at, to))
		gap_examine(w, gap_buffer(w, buffer, table), at, to, true);
}

void tracedat_gaps_examine(struct tracedat_walk *w)
{
	size_t count;
	struct tracedat_range *r = tracedat_ranges_list(w, &count);

	if (r && w->shape.version == 6 && w->data.buffer_count && !w->data.latency && w->status == TM_OK)
		gaps_of(w, 0, w->meta.stop, w->source->size, r, count);
	for (size_t i = 0; r && w->shape.version == 7 && i < w->data.buffer_count && w->status == TM_OK; i++) {
		const struct tracedat_buffer *b = &w->data.buffers[i];
		struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
		if (!section || b->text || section->searched)
			continue;
		section->searched = true;
		gaps_of(w, (unsigned)i, section->offset + 16, section->offset + 16 + section->size, r, count);
	}
	free(r);
}
