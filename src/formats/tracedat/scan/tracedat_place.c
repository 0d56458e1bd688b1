/* Where the data of each CPU is: tables are judged against the file and each other. */
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdlib.h>

static int range_order(const void *left, const void *right)
{
	const struct tracedat_range *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- page size and long size ---- */

/* Pages of a buffer that are plausible with that size, of the first few. */
static unsigned buffer_score(struct tracedat_walk *w, const struct tracedat_buffer *b, uint32_t page_size, unsigned *looked)
{
	unsigned score = 0;
	for (size_t j = 0; j < b->count && *looked < 8; j++) {
		const struct tracedat_cpu *c = &b->cpus[j];
		for (uint64_t at = c->offset, n = 0; n < 3 && c->size / page_size > n; n++, at += page_size) {
			const uint8_t *p = c->offset < w->source->size ? window_at(&w->window, at, page_size) : NULL;
			(*looked)++;
			score += p && tracedat_page_plausible(w, p, page_size, NULL);
		}
	}
	return score;
}

static unsigned shape_score(struct tracedat_walk *w, uint32_t page_size, uint8_t long_size)
{
	uint8_t was = w->shape.long_size;
	unsigned score = 0, looked = 0;
	w->shape.long_size = long_size;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		score += buffer_score(w, &w->data.buffers[i], page_size, &looked);
	w->shape.long_size = was;
	return score;
}

/* An instance may have pages of its own size, when they are pages of that size. */
static void instance_settle(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	unsigned own = 0, other = 0;
	if (b->page_size == w->shape.page_size || b->compressed || b->option == SIZE_MAX)
		return;
	if (buffer_score(w, b, b->page_size, &own) >= buffer_score(w, b, w->shape.page_size, &other))
		return;
	const struct tracedat_option *o = &w->dir.options[b->option];
	struct finding *fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_page_size, o->block, o->at, o->size,
						   "the page size is %u, its pages are of %u", b->page_size, w->shape.page_size);
	finding_path(fd, "buffer \"%s\"", b->name);
	b->page_size = w->shape.page_size;
}

/* Of a hundred pages of that shape, as far as the first ones of each buffer tell, how many have nothing but zeros behind their
 * records: smaller pages cut those, larger ones hold more. */
static unsigned shape_share(struct tracedat_walk *w, uint32_t page_size)
{
	unsigned whole = 0, looked = 0;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count && looked < 16; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			for (uint64_t at = c->offset, n = 0; n < 4 && c->offset < w->source->size && c->size / page_size > n;
			     n++, at += page_size) {
				const uint8_t *p = window_at(&w->window, at, page_size);
				looked++;
				whole += p && tracedat_page_plausible(w, p, page_size, NULL) &&
					 tracedat_page_tail_zero(w, p, page_size);
			}
		}
	return looked ? 100 * whole / looked : 0;
}

/* Page size and long size of plain pages of which nothing else tells: the usual ones first. */
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

/* The long size of compressed pages: that with which the first chunk that can be read begins with a page. */
static void shape_of_chunks(struct tracedat_walk *w)
{
	const uint8_t sizes[2] = { w->shape.long_size, w->shape.long_size == 8 ? 4 : 8 };
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count && j < 8 && w->data.buffers[i].compressed; j++)
			for (unsigned k = 0; k < 2; k++) {
				w->shape.long_size = sizes[k];
				if (tracedat_chunk_pages(w, w->data.buffers[i].cpus[j].offset + 4, w->source->size, w->shape.page_size))
					return;
			}
	w->shape.long_size = sizes[0];
}

/* Where the header contradicts itself, the pages decide. */
static void shape_settle(struct tracedat_walk *w)
{
	bool compressed = w->shape.version == 7 && w->shape.codec != TRACEDAT_NONE;
	if (!tracedat_page_size_ok(w->shape.page_size))
		w->shape.page_size = w->meta.header_page_size ? w->meta.header_page_size : 4096;
	if (!w->shape.long_size)
		w->shape.long_size = w->prefix.user_long == 4 ? 4 : 8;
	bool unknown = w->meta.header.regenerate || !w->meta.seen[0] || w->meta.header.page_lost;
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

/* ---- ranges ---- */

/* A finding on what a table says of a CPU. */
#define cpu_finding(w, rule, ...) ((void)PLACE(rule), cpu_finding_at((w), (rule), __VA_ARGS__))
static struct finding *cpu_finding_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_buffer *b,
				      const struct tracedat_cpu *c)
{
	struct finding *fd = tracedat_finding_at(w, rule, c->declared_at, w->shape.version == 6 ? 16 : 20);
	finding_path(fd, "%s%sCPU %u", b->name, *b->name ? " > " : "", c->cpu);
	return fd;
}

#define cpu_report(w, rule, ...) ((void)PLACE(rule), cpu_report_at((w), (rule), __VA_ARGS__))
static struct finding *cpu_report_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_buffer *b,
				     const struct tracedat_cpu *c, const char *format, ...) PRINTF_LIKE(5, 6);
static struct finding *cpu_report_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_buffer *b,
				     const struct tracedat_cpu *c, const char *format, ...)
{
	struct finding *fd = cpu_finding_at(w, rule, b, c);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

bool tracedat_page_at(struct tracedat_walk *w, uint64_t at, uint32_t size)
{
	const uint8_t *p = window_at(&w->window, at, size);
	return p && tracedat_page_plausible(w, p, size, NULL);
}

/* Data that is not aligned: is it the offset that lies, or was the data moved? */
static void range_align(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	uint64_t below = c->offset & ~(uint64_t)(b->page_size - 1), above = below + b->page_size;
	(void)cpu_report(w, TRACEDAT_RULE_cpu_offset_alignment, b, c, "the data begins at 0x%llx, not at a multiple of %u",
			 (unsigned long long)c->offset, b->page_size);
	if (b->compressed) {
		if (!tracedat_chunk_begins(w, c->offset + 4, w->source->size)) {
			if (tracedat_chunk_begins(w, below + 4, w->source->size))
				c->from = below;
			else if (tracedat_chunk_begins(w, above + 4, w->source->size))
				c->from = above;
		}
		return;
	}
	if (tracedat_page_at(w, c->offset, b->page_size))
		return;
	if (tracedat_page_at(w, below, b->page_size))
		c->from = below;
	else if (tracedat_page_at(w, above, b->page_size))
		c->from = above;
}

/* An aligned offset at which there is no page, and one is near. */
static void range_slide(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	uint32_t size = b->page_size;
	if (b->compressed || c->length < size || w->shape.old_ring || tracedat_page_at(w, c->from, size))
		return;
	const uint8_t *p = window_at(&w->window, c->from, size);
	if (!p || bytes_are_zero(p, size) || (c->length >= 2 * (uint64_t)size && tracedat_page_at(w, c->from + size, size)))
		return;
	uint64_t place = tracedat_slide(w, c->from, size, w->meta.stop > w->prefix.header_end ? w->meta.stop : w->prefix.header_end,
					w->source->size);
	if (place == UINT64_MAX)
		return;
	(void)cpu_report(w, TRACEDAT_RULE_cpu_offset_alignment, b, c,
			 "there is no page at 0x%llx, but one at 0x%llx: bytes were inserted or removed before",
			 (unsigned long long)c->from, (unsigned long long)place);
	c->from = place;
	if (c->length > w->source->size - place)
		c->length = w->source->size - place;
}

static void range_judge(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_cpu *c, struct finding **eof)
{
	uint64_t size = w->source->size, end;
	struct finding *fd;

	c->from = c->offset;
	c->length = c->size;
	c->limit = 0;
	if (!c->size)
		return;
	if (__builtin_add_overflow(c->offset, c->size, &end)) {
		(void)cpu_report(w, TRACEDAT_RULE_cpu_range_wrap, b, c, "offset 0x%llx and size 0x%llx wrap around",
				 (unsigned long long)c->offset, (unsigned long long)c->size);
		c->lost = true;
	} else if (c->offset < w->meta.stop || c->offset < w->prefix.header_end) {
		(void)cpu_report(w, TRACEDAT_RULE_cpu_range_in_header, b, c,
				 "the data should begin at 0x%llx, inside of the header", (unsigned long long)c->offset);
		c->lost = true;
	} else if (end > size) {
		if (*eof) {
			finding_explains(*eof, 1);
		} else {
			*eof = fd = cpu_report(w, TRACEDAT_RULE_cpu_range_eof, b, c,
					       "the data should end at 0x%llx, the file ends at 0x%llx", (unsigned long long)end,
					       (unsigned long long)size);
		}
		c->clipped = true;
		if (c->offset >= size)
			c->lost = true;
		else
			c->length = size - c->offset;
	}
	if (c->lost) {
		c->length = 0;
		w->data.errors = true;
		return;
	}
	if (c->shifted)
		c->clipped = true;
	else if (c->offset % b->page_size)
		range_align(w, b, c);
	else
		range_slide(w, b, c);
	if (!b->compressed && c->size % b->page_size && !c->clipped) {
		(void)cpu_report(w, TRACEDAT_RULE_cpu_size_not_page_multiple, b, c,
				 "the data has %llu bytes, not a multiple of the page size %u", (unsigned long long)c->size,
				 b->page_size);
	}
	const struct tracedat_section *s = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	if (s && !s->size_bad && !c->clipped && (c->from < s->offset + 16 || c->from + c->length > s->offset + 16 + s->size)) {
		fd = cpu_finding(w, TRACEDAT_RULE_v7_buffer_cpu_outside_section, b, c);
		unsigned long long stop = s->offset + 16 + s->size;
		finding_say(fd, "the data at 0x%llx is outside of its section, 0x%llx to 0x%llx", (unsigned long long)c->from,
			    (unsigned long long)s->offset, stop);
		/* A compressed range that reaches into the next section is told by its chunks. */
		if (c->from < s->offset + 16 || c->from >= s->offset + 16 + s->size) {
			bool fits = b->compressed ? tracedat_chunk_begins(w, c->from + 4, size)
						  : tracedat_page_at(w, c->from, b->page_size);
			c->lost = !fits;
			c->length = fits ? c->length : 0;
			w->data.errors |= !fits;
		}
	}
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

static void ranges_overlap(struct tracedat_walk *w)
{
	size_t count;
	struct tracedat_range *r = tracedat_ranges(w, &count);

	if (!r)
		return;
	for (size_t i = 1; i < count; i++) {
		struct tracedat_range *a = &r[i - 1], *b = &r[i];
		if (b->from >= a->to)
			continue;
		struct tracedat_cpu *c = b->cpu ? b->cpu : a->cpu;
		if (!c)
			continue;
		const struct tracedat_buffer *owner = b->cpu ? b->buffer : a->buffer;
		(void)cpu_report(w, TRACEDAT_RULE_cpu_range_overlap, owner, c,
				 "the data at 0x%llx to 0x%llx overlaps what begins at 0x%llx", (unsigned long long)b->from,
				 (unsigned long long)b->to, (unsigned long long)a->from);
		w->data.errors = true;
		if (a->cpu && b->from > a->from) {
			/* The first is too long: what follows begins where its own table says. */
			a->cpu->length = b->from - a->from;
			a->cpu->clipped = true;
			a->to = b->from;
		} else if (b->cpu) {
			b->cpu->length = 0;
			b->cpu->lost = true;
			*b = *a;
		}
	}
	free(r);
}

/* Up to where chunks of each CPU may reach. */
static void ranges_limit(struct tracedat_walk *w)
{
	size_t count;
	struct tracedat_range *r = tracedat_ranges(w, &count);
	if (!r)
		return;
	bool told = false;
	const struct tracedat_cpu *last = NULL;
	const struct tracedat_buffer *last_buffer = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!r[i].cpu)
			continue;
		const struct tracedat_section *s = r[i].buffer->section >= 0 ? &w->dir.sections[r[i].buffer->section] : NULL;
		uint64_t limit = i + 1 < count ? r[i + 1].from : w->source->size;
		if (s && s->offset + 16 + s->size < limit && s->offset + 16 + s->size > r[i].from)
			limit = s->offset + 16 + s->size;
		r[i].cpu->limit = limit;
		if (last && r[i].buffer == last_buffer && r[i].cpu->cpu < last->cpu && !told && !r[i].cpu->found) {
			(void)cpu_report(w, TRACEDAT_RULE_cpu_order, r[i].buffer, r[i].cpu,
					 "the data of CPU %u comes before that of CPU %u", last->cpu, r[i].cpu->cpu);
			told = true;
		}
		last = r[i].cpu;
		last_buffer = r[i].buffer;
	}
	free(r);
}

/* ---- version 7: sections of event data without a buffer ---- */

/* The names that the statistics give to instances, in their order. */
static bool heading_name(const struct tracedat_walk *w, unsigned index, struct bytes *name)
{
	unsigned n = 0;
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (o->id != TRACEDAT_CPUSTAT)
			continue;
		const char *text = (const char *)o->block->data + o->at, *p = memmem(text, o->size, "Buffer: ", 8);
		if (!p || n++ != index)
			continue;
		size_t room = o->size - (size_t)(p + 8 - text), length = 0;
		while (length < room && p[8 + length] != '\n' && p[8 + length])
			length++;
		bytes_append(name, p + 8, length);
		return true;
	}
	return false;
}

/* Whether one of the first `count` buffers has that name. */
static bool buffer_named(const struct tracedat_walk *w, size_t count, const void *name, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (w->data.buffers[i].raw_name.size == size && !memcmp(w->data.buffers[i].raw_name.data, name, size))
			return true;
	return false;
}

static void orphan_section(struct tracedat_walk *w, unsigned index)
{
	struct tracedat_section *s = &w->dir.sections[index];
	struct tracedat_buffer *b = tracedat_buffer_add(w);
	unsigned nth = 0;

	if (!b)
		return;
	/* Its description names it, when the strings are there. */
	b->text = s->id == TRACEDAT_BUFFER_TEXT;
	if (s->description >= 0 && (size_t)s->description + 17 < w->dir.strings.size &&
	    !memcmp(w->dir.strings.data + s->description, "buffer flyrecord ", 17)) {
		const char *text = (const char *)w->dir.strings.data + s->description + 17;
		bytes_append(&b->raw_name, text, strnlen(text, w->dir.strings.size - (size_t)s->description - 17));
	}
	bytes_u8(&b->raw_name, 0);
	if (buffer_named(w, w->data.buffer_count - 1, b->raw_name.data, b->raw_name.size)) {
		while (!b->raw_name.failed && buffer_named(w, w->data.buffer_count - 1, b->raw_name.data, b->raw_name.size)) {
			b->raw_name.size = 0;
			if (!heading_name(w, nth++, &b->raw_name))
				bytes_printf(&b->raw_name, "unknown-%u", index);
			bytes_u8(&b->raw_name, 0);
		}
	}
	char shown[TEXT_QUOTE_SIZE];
	if (b->raw_name.failed || !b->raw_name.size) {
		tracedat_no_memory(w);
		return;
	}
	text_sanitise(b->name, sizeof(b->name), text_quote(shown, b->raw_name.data, b->raw_name.size - 1));
	size_t length = 0;
	const struct tracedat_option *o = w->dir.clock_option >= 0 ? &w->dir.options[w->dir.clock_option] : NULL;
	const char *clock = o ? tracedat_clock_name((const char *)o->block->data + o->at, o->size, &length) : NULL;
	if (clock && length)
		bytes_append(&b->clock, clock, length);
	else
		bytes_text(&b->clock, "local");
	bytes_u8(&b->clock, 0);
	b->section = (int)index;
	b->page_size = w->shape.page_size;
	b->compressed = s->flags & TRACEDAT_COMPRESSED && w->shape.codec != TRACEDAT_NONE;
	s->referenced = true;
}

void tracedat_place(struct tracedat_walk *w)
{
	struct finding *eof = NULL;

	shape_settle(w);
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++)
		if ((w->dir.sections[i].id == TRACEDAT_BUFFER || w->dir.sections[i].id == TRACEDAT_BUFFER_TEXT) &&
		    !w->dir.sections[i].referenced && !w->dir.sections[i].lost)
			orphan_section(w, (unsigned)i);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (w->shape.version == 6 || !*b->name || !tracedat_page_size_ok(b->page_size))
			b->page_size = w->shape.page_size;
		instance_settle(w, b);
		for (size_t j = 0; j < b->count; j++)
			range_judge(w, b, &b->cpus[j], &eof);
	}
	if (w->status == TM_OK)
		ranges_overlap(w);
	if (w->shape.version == 6) {
		if (w->data.buffer_count && !w->data.latency && w->status == TM_OK)
			tracedat_gaps(w, 0, w->meta.stop, w->source->size);
	} else {
		for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
			const struct tracedat_buffer *b = &w->data.buffers[i];
			const struct tracedat_section *s = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
			if (s && !b->text)
				tracedat_gaps(w, (unsigned)i, s->offset + 16, s->offset + 16 + s->size);
		}
	}
	if (w->status == TM_OK)
		ranges_limit(w);
}
