/* CPU tables in which one number contradicts all others. Recorders put the data of the CPUs one behind the other, up to what
 * follows: each offset is the end of the data before it (MAN6 "REST OF TRACE-CMD HEADER", MAN7 "OPTIONS"). */
#include "core/bytes.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_place.h"

struct table {
	struct tracedat_walk *w;
	struct tracedat_buffer *b;
	uint64_t first, stop; /* where its data begins, and ends */
};

static uint64_t end_of(const struct table *t, size_t i)
{
	return i ? t->b->cpus[i - 1].offset + t->b->cpus[i - 1].size : t->first;
}

static uint64_t begin_of(const struct table *t, size_t i)
{
	return i < t->b->count ? t->b->cpus[i].offset : t->stop;
}

/* The offset of what follows the data of b: the next table, the end of its section, the end of the file. */
static uint64_t stop_of(const struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	uint64_t stop = w->source->size;
	if (w->shape.version == 7) {
		const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
		bool elsewhere = b->option != SIZE_MAX && w->dir.options[b->option].rule == TRACEDAT_RULE_v7_buffer_section;
		return section && !section->size_bad && !elsewhere ? section->offset + TRACEDAT_SECTION_SIZE + section->size : 0;
	}
	for (size_t i = 1; i < w->data.buffer_count; i++) {
		uint64_t tag = w->data.buffers[i].record_at;
		stop = tag > b->table_at && tag < stop ? tag : stop;
	}
	return stop;
}

/* Says what is wrong with an entry whose data should be at [offset, offset + size). */
static void entry_report(struct table *t, struct tracedat_cpu *c, uint64_t offset, uint64_t size)
{
	struct tracedat_walk *w = t->w;
	uint64_t end, page = t->b->page_size;
	const struct tracedat_section *section = t->b->section >= 0 ? &w->dir.sections[t->b->section] : NULL;
	unsigned rule = TRACEDAT_RULE_cpu_range_overlap;

	if (__builtin_add_overflow(c->offset, c->size, &end))
		rule = TRACEDAT_RULE_cpu_range_wrap;
	else if (c->size && (c->offset < w->meta.stop || c->offset < w->prefix.header_end))
		rule = TRACEDAT_RULE_cpu_range_in_header;
	else if (c->size && end > w->source->size)
		rule = TRACEDAT_RULE_cpu_range_eof;
	else if (section && c->size && (c->offset < section->offset || end > t->stop))
		rule = TRACEDAT_RULE_v7_buffer_cpu_outside_section;
	else if (c->offset % page)
		rule = TRACEDAT_RULE_cpu_offset_alignment;
	else if (c->size % page)
		rule = TRACEDAT_RULE_cpu_size_not_page_multiple;
	else if (c->size < size)
		rule = TRACEDAT_RULE_data_unreferenced;
	struct finding *fd = tracedat_report(
		w, rule, c->declared_at, w->shape.version == 6 ? 16 : 20,
		"the table has %llu bytes of data at 0x%llx, expected %llu at 0x%llx between its neighbours",
		(unsigned long long)c->size, (unsigned long long)c->offset, (unsigned long long)size, (unsigned long long)offset);
	finding_path(fd, "%s%sCPU %u", t->b->name, *t->b->name ? " > " : "", c->cpu);
	c->offset = offset;
	c->size = size;
}

/* Whether the pages from where the data of c begins up to `stop` have as many events as the kernel counted of that CPU. */
static bool counted_up_to(const struct table *t, const struct tracedat_cpu *c, uint64_t stop)
{
	const struct tracedat_stat *stat = tracedat_stat_of(&t->w->dir, t->b->name, c->cpu);
	uint32_t size = t->b->page_size;
	uint64_t events = 0;

	if (!stat || !stat->known)
		return false;
	for (uint64_t at = c->offset; at < stop && t->w->status == TM_OK; at += size) {
		uint32_t records = 0;
		const uint8_t *p = window_at(&t->w->window, at, size);
		if (!p || !tracedat_page_plausible(t->w, p, size, &records))
			return false;
		events += records;
	}
	return events && (events == stat->entries + stat->read || events == stat->entries || events == stat->read);
}

/* Whether the entries but one fit each other and that one does with another offset or size: corrects it. */
static void table_correct(struct table *t)
{
	size_t broken = 0, last = 0, n = t->b->count;
	uint32_t page = t->b->page_size;

	for (size_t i = 0; i <= n; i++)
		if (end_of(t, i) != begin_of(t, i)) {
			broken++;
			last = i;
		}
	struct tracedat_cpu *c = last ? &t->b->cpus[last - 1] : NULL;
	if (!c || broken > 2)
		return;
	uint64_t begin = end_of(t, last - 1), stop = begin_of(t, last);
	if (broken == 2) {
		/* Both sides of an entry: its offset. */
		if (begin == c->offset || begin + c->size != stop || !c->size || !tracedat_page_at(t->w, begin, page))
			return;
		entry_report(t, c, begin, c->size);
		return;
	}
	uint64_t size = stop - c->offset;
	if (stop < c->offset || size % page || (size && !tracedat_page_at(t->w, c->offset, page)) ||
	    (size > c->size && !tracedat_page_at(t->w, stop - page, page)))
		return;
	/* What the kernel counted is in the size that is stated: the pages behind are those of a CPU whose entry was hit. */
	if (size > c->size && c->size && c->size % page == 0 && counted_up_to(t, c, c->offset + c->size))
		return;
	/* Where the file ends it may be cut, or have grown: there the kernel's count decides. */
	if (last == n && t->w->shape.version == 6 && stop == t->w->source->size && (size <= c->size || !counted_up_to(t, c, stop)))
		return;
	entry_report(t, c, c->offset, size);
}

/* The CPUs of the buffer that had events, by the statistics. False where they are not those of all `count` CPUs, each once. */
static bool cpus_busy(const struct tracedat_walk *w, const struct tracedat_buffer *b, uint32_t count, uint8_t *busy)
{
	size_t n;
	const struct tracedat_stat *stat = tracedat_stats_of(&w->dir, b->name, 0, &n);

	if (n != count)
		return false;
	for (uint32_t cpu = 0; cpu < count; cpu++, stat++) {
		if (!stat->known || stat->cpu != cpu)
			return false;
		if (stat->entries || stat->read)
			bit_set(busy, cpu);
	}
	return true;
}

/* An entry with data whose CPU had no events, and a CPU that had some and has no entry: the number of the entry was hit. */
static void cpu_correct(struct tracedat_walk *w, struct tracedat_buffer *b, uint32_t count)
{
	uint8_t busy[TRACEDAT_CPUS_MAX / 8] = { 0 };
	struct tracedat_cpu *wrong = NULL;
	uint32_t without = TRACEDAT_CPUS_MAX;

	if (!cpus_busy(w, b, count, busy))
		return;
	for (size_t i = 0; i < b->count; i++) {
		struct tracedat_cpu *c = &b->cpus[i];
		if (c->cpu < count && bit_get(busy, c->cpu)) {
			bit_clear(busy, c->cpu);
		} else if (c->size) {
			if (wrong)
				return;
			wrong = c;
		}
	}
	for (uint32_t cpu = 0; cpu < count; cpu++) {
		if (!bit_get(busy, cpu))
			continue;
		if (without != TRACEDAT_CPUS_MAX)
			return;
		without = cpu;
	}
	if (!wrong || without == TRACEDAT_CPUS_MAX)
		return;
	struct tracedat_option *o = &w->dir.options[b->option];
	bool plain = !o->block->compressed;
	struct finding *fd = tracedat_block_report(
		w, TRACEDAT_RULE_v7_buffer_cpu_id, o->block, plain ? (size_t)(wrong->declared_at - o->block->offset) : o->at,
		plain ? 4 : o->size, "the CPU is %u, of which the kernel counted no event, expected %u, which has no data",
		wrong->cpu, without);
	finding_path(fd, "buffer \"%s\" > entry %zu", b->name, (size_t)(wrong - b->cpus));
	o->rule = TRACEDAT_RULE_v7_buffer_cpu_id;
	wrong->cpu = without;
}

void tracedat_table_cpus_correct(struct tracedat_walk *w)
{
	const struct tracedat_option *o = w->dir.cpucount_option >= 0 ? &w->dir.options[w->dir.cpucount_option] : NULL;
	uint32_t count = o && o->size == 4 && !o->dropped ? load_u32(o->block->data + o->at, w->shape.big_endian) : 0;

	if (w->shape.version == 6 || count - 1 >= TRACEDAT_CPUS_MAX)
		return;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		if (!w->data.buffers[i].text && w->data.buffers[i].option != SIZE_MAX)
			cpu_correct(w, &w->data.buffers[i], count);
}

void tracedat_tables_correct(struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
		uint64_t first = w->shape.version == 6 ? b->clock_at + b->clock_size
				 : section	       ? section->offset + TRACEDAT_SECTION_SIZE
						       : 0;
		if (!b->count || b->compressed || b->text || !first || !tracedat_page_size_ok(b->page_size) || w->shape.old_ring)
			continue;
		struct table t = { w, b, tracedat_align(first, b->page_size), stop_of(w, b) };
		table_correct(&t);
	}
}
