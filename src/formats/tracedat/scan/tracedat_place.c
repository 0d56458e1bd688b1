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
static unsigned buffer_score(struct tracedat *t, const struct tracedat_buffer *b, uint32_t page_size, unsigned *looked)
{
	unsigned score = 0;
	for (size_t j = 0; j < b->count && *looked < 8; j++) {
		const struct tracedat_cpu *c = &b->cpus[j];
		for (uint64_t at = c->offset, n = 0; n < 3 && c->size / page_size > n; n++, at += page_size) {
			const uint8_t *p = c->offset < t->source->size ? window_at(&t->window, at, page_size) : NULL;
			(*looked)++;
			score += p && tracedat_page_plausible(t, p, page_size, NULL);
		}
	}
	return score;
}

static unsigned shape_score(struct tracedat *t, uint32_t page_size, uint8_t long_size)
{
	uint8_t was = t->long_size;
	unsigned score = 0, looked = 0;
	t->long_size = long_size;
	for (size_t i = 0; i < t->buffer_count; i++)
		score += buffer_score(t, &t->buffers[i], page_size, &looked);
	t->long_size = was;
	return score;
}

/* An instance may have pages of its own size, when they are pages of that size. */
static void instance_settle(struct tracedat *t, struct tracedat_buffer *b)
{
	unsigned own = 0, other = 0;
	if (b->page_size == t->page_size || b->compressed || b->option == SIZE_MAX)
		return;
	if (buffer_score(t, b, b->page_size, &own) >= buffer_score(t, b, t->page_size, &other))
		return;
	const struct tracedat_option *o = &t->options[b->option];
	struct finding *fd = tracedat_block_report(t, TRACEDAT_RULE_v7_buffer_page_size, o->block, o->at, o->size,
						   "the page size is %u, its pages are of %u", b->page_size, t->page_size);
	finding_path(fd, "buffer \"%s\"", b->name);
	b->page_size = t->page_size;
}

/* Of a hundred pages of that shape, as far as the first ones of each buffer tell, how many have nothing but zeros behind their
 * records: smaller pages cut those, larger ones hold more. */
static unsigned shape_share(struct tracedat *t, uint32_t page_size)
{
	unsigned whole = 0, looked = 0;
	for (size_t i = 0; i < t->buffer_count; i++)
		for (size_t j = 0; j < t->buffers[i].count && looked < 16; j++) {
			const struct tracedat_cpu *c = &t->buffers[i].cpus[j];
			for (uint64_t at = c->offset, n = 0; n < 4 && c->offset < t->source->size && c->size / page_size > n;
			     n++, at += page_size) {
				const uint8_t *p = window_at(&t->window, at, page_size);
				looked++;
				whole += p && tracedat_page_plausible(t, p, page_size, NULL) &&
					 tracedat_page_tail_zero(t, p, page_size);
			}
		}
	return looked ? 100 * whole / looked : 0;
}

/* Page size and long size of plain pages of which nothing else tells: the usual ones first. */
static void shape_of_pages(struct tracedat *t)
{
	static const uint32_t sizes[] = { 4096, 8192, 16384, 32768, 65536, 1024, 2048, 131072, 262144, 524288, 1048576 };
	uint32_t page_size = t->page_size;
	uint8_t long_size = t->long_size;
	unsigned best = 0;

	for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		t->long_size = i & 1 ? 4 : 8;
		unsigned share = shape_share(t, sizes[i / 2]);
		if (share <= best)
			continue;
		best = share;
		page_size = sizes[i / 2];
		long_size = t->long_size;
	}
	t->page_size = page_size;
	t->long_size = long_size;
}

/* The long size of compressed pages: that with which the first chunk that can be read begins with a page. */
static void shape_of_chunks(struct tracedat *t)
{
	const uint8_t sizes[2] = { t->long_size, t->long_size == 8 ? 4 : 8 };
	for (size_t i = 0; i < t->buffer_count; i++)
		for (size_t j = 0; j < t->buffers[i].count && j < 8 && t->buffers[i].compressed; j++)
			for (unsigned k = 0; k < 2; k++) {
				t->long_size = sizes[k];
				if (tracedat_chunk_pages(t, t->buffers[i].cpus[j].offset + 4, t->source->size, t->page_size))
					return;
			}
	t->long_size = sizes[0];
}

/* Where the header contradicts itself, the pages decide. */
static void shape_settle(struct tracedat *t)
{
	bool compressed = t->version == 7 && t->codec != TRACEDAT_NONE;
	if (!tracedat_page_size_ok(t->page_size))
		t->page_size = t->header_page_size ? t->header_page_size : 4096;
	if (!t->long_size)
		t->long_size = t->user_long == 4 ? 4 : 8;
	bool unknown = t->header.regenerate || !t->part_seen[0] || t->header.page_lost;
	if (compressed) {
		if (t->header_page_size && t->header_page_size != t->page_size)
			t->page_size = t->header_page_size;
		if (unknown)
			shape_of_chunks(t);
		return;
	}
	if (t->header_page_size && t->header_page_size != t->page_size &&
	    shape_score(t, t->header_page_size, t->long_size) >= shape_score(t, t->page_size, t->long_size))
		t->page_size = t->header_page_size;
	if (t->prefix_page_bad && !t->header_page_size) {
		shape_of_pages(t);
	} else if (unknown) {
		uint8_t other = t->long_size == 8 ? 4 : 8;
		unsigned own = shape_score(t, t->page_size, t->long_size);
		if (shape_score(t, t->page_size, other) > own) {
			t->long_size = other;
		}
	}
}

/* ---- ranges ---- */

/* A finding on what a table says of a CPU. */
#define cpu_finding(t, rule, ...) ((void)PLACE(rule), cpu_finding_at((t), (rule), __VA_ARGS__))
static struct finding *cpu_finding_at(struct tracedat *t, unsigned rule, const struct tracedat_buffer *b,
				      const struct tracedat_cpu *c)
{
	struct finding *fd = tracedat_finding_at(t, rule, c->declared_at, t->version == 6 ? 16 : 20);
	finding_path(fd, "%s%sCPU %u", b->name, *b->name ? " > " : "", c->cpu);
	return fd;
}

#define cpu_report(t, rule, ...) ((void)PLACE(rule), cpu_report_at((t), (rule), __VA_ARGS__))
static struct finding *cpu_report_at(struct tracedat *t, unsigned rule, const struct tracedat_buffer *b,
				     const struct tracedat_cpu *c, const char *format, ...) PRINTF_LIKE(5, 6);
static struct finding *cpu_report_at(struct tracedat *t, unsigned rule, const struct tracedat_buffer *b,
				     const struct tracedat_cpu *c, const char *format, ...)
{
	struct finding *fd = cpu_finding_at(t, rule, b, c);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

bool tracedat_page_at(struct tracedat *t, uint64_t at, uint32_t size)
{
	const uint8_t *p = window_at(&t->window, at, size);
	return p && tracedat_page_plausible(t, p, size, NULL);
}

/* Data that is not aligned: is it the offset that lies, or was the data moved? */
static void range_align(struct tracedat *t, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	uint64_t below = c->offset & ~(uint64_t)(b->page_size - 1), above = below + b->page_size;
	(void)cpu_report(t, TRACEDAT_RULE_cpu_offset_alignment, b, c, "the data begins at 0x%llx, not at a multiple of %u",
			 (unsigned long long)c->offset, b->page_size);
	if (b->compressed) {
		if (!tracedat_chunk_begins(t, c->offset + 4, t->source->size)) {
			if (tracedat_chunk_begins(t, below + 4, t->source->size))
				c->from = below;
			else if (tracedat_chunk_begins(t, above + 4, t->source->size))
				c->from = above;
		}
		return;
	}
	if (tracedat_page_at(t, c->offset, b->page_size))
		return;
	if (tracedat_page_at(t, below, b->page_size))
		c->from = below;
	else if (tracedat_page_at(t, above, b->page_size))
		c->from = above;
}

/* An aligned offset at which there is no page, and one is near. */
static void range_slide(struct tracedat *t, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	uint32_t size = b->page_size;
	if (b->compressed || c->length < size || t->old_ring || tracedat_page_at(t, c->from, size))
		return;
	const uint8_t *p = window_at(&t->window, c->from, size);
	if (!p || bytes_are_zero(p, size) || (c->length >= 2 * (uint64_t)size && tracedat_page_at(t, c->from + size, size)))
		return;
	uint64_t place = tracedat_slide(t, c->from, size, t->header_stop > t->header_end ? t->header_stop : t->header_end,
					t->source->size);
	if (place == UINT64_MAX)
		return;
	(void)cpu_report(t, TRACEDAT_RULE_cpu_offset_alignment, b, c,
			 "there is no page at 0x%llx, but one at 0x%llx: bytes were inserted or removed before",
			 (unsigned long long)c->from, (unsigned long long)place);
	c->from = place;
	if (c->length > t->source->size - place)
		c->length = t->source->size - place;
}

static void range_judge(struct tracedat *t, struct tracedat_buffer *b, struct tracedat_cpu *c, struct finding **eof)
{
	uint64_t size = t->source->size, end;
	struct finding *fd;

	c->from = c->offset;
	c->length = c->size;
	c->limit = 0;
	if (!c->size)
		return;
	if (__builtin_add_overflow(c->offset, c->size, &end)) {
		(void)cpu_report(t, TRACEDAT_RULE_cpu_range_wrap, b, c, "offset 0x%llx and size 0x%llx wrap around",
				 (unsigned long long)c->offset, (unsigned long long)c->size);
		c->lost = true;
	} else if (c->offset < t->header_stop || c->offset < t->header_end) {
		(void)cpu_report(t, TRACEDAT_RULE_cpu_range_in_header, b, c,
				 "the data should begin at 0x%llx, inside of the header", (unsigned long long)c->offset);
		c->lost = true;
	} else if (end > size) {
		if (*eof) {
			finding_explains(*eof, 1);
		} else {
			*eof = fd = cpu_report(t, TRACEDAT_RULE_cpu_range_eof, b, c,
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
		t->data_errors = true;
		return;
	}
	if (c->shifted)
		c->clipped = true;
	else if (c->offset % b->page_size)
		range_align(t, b, c);
	else
		range_slide(t, b, c);
	if (!b->compressed && c->size % b->page_size && !c->clipped) {
		(void)cpu_report(t, TRACEDAT_RULE_cpu_size_not_page_multiple, b, c,
				 "the data has %llu bytes, not a multiple of the page size %u", (unsigned long long)c->size,
				 b->page_size);
	}
	const struct tracedat_section *s = b->section >= 0 ? &t->sections[b->section] : NULL;
	if (s && !s->size_bad && !c->clipped && (c->from < s->offset + 16 || c->from + c->length > s->offset + 16 + s->size)) {
		fd = cpu_finding(t, TRACEDAT_RULE_v7_buffer_cpu_outside_section, b, c);
		unsigned long long stop = s->offset + 16 + s->size;
		finding_say(fd, "the data at 0x%llx is outside of its section, 0x%llx to 0x%llx", (unsigned long long)c->from,
			    (unsigned long long)s->offset, stop);
		/* A compressed range that reaches into the next section is told by its chunks. */
		if (c->from < s->offset + 16 || c->from >= s->offset + 16 + s->size) {
			bool fits = b->compressed ? tracedat_chunk_begins(t, c->from + 4, size)
						  : tracedat_page_at(t, c->from, b->page_size);
			c->lost = !fits;
			c->length = fits ? c->length : 0;
			t->data_errors |= !fits;
		}
	}
}

struct tracedat_range *tracedat_ranges(struct tracedat *t, size_t *count)
{
	size_t n = 0, all = t->section_count;
	for (size_t i = 0; i < t->buffer_count; i++)
		all += t->buffers[i].count + 1;
	struct tracedat_range *r = calloc(all + 1, sizeof(*r));
	if (!r) {
		tracedat_no_memory(t);
		return NULL;
	}
	for (size_t i = 0; i < t->buffer_count; i++) {
		struct tracedat_buffer *b = &t->buffers[i];
		if (t->version == 6 && i && b->record_at)
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

static void ranges_overlap(struct tracedat *t)
{
	size_t count;
	struct tracedat_range *r = tracedat_ranges(t, &count);

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
		(void)cpu_report(t, TRACEDAT_RULE_cpu_range_overlap, owner, c,
				 "the data at 0x%llx to 0x%llx overlaps what begins at 0x%llx", (unsigned long long)b->from,
				 (unsigned long long)b->to, (unsigned long long)a->from);
		t->data_errors = true;
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
static void ranges_limit(struct tracedat *t)
{
	size_t count;
	struct tracedat_range *r = tracedat_ranges(t, &count);
	if (!r)
		return;
	bool told = false;
	const struct tracedat_cpu *last = NULL;
	const struct tracedat_buffer *last_buffer = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!r[i].cpu)
			continue;
		const struct tracedat_section *s = r[i].buffer->section >= 0 ? &t->sections[r[i].buffer->section] : NULL;
		uint64_t limit = i + 1 < count ? r[i + 1].from : t->source->size;
		if (s && s->offset + 16 + s->size < limit && s->offset + 16 + s->size > r[i].from)
			limit = s->offset + 16 + s->size;
		r[i].cpu->limit = limit;
		if (last && r[i].buffer == last_buffer && r[i].cpu->cpu < last->cpu && !told && !r[i].cpu->found) {
			(void)cpu_report(t, TRACEDAT_RULE_cpu_order, r[i].buffer, r[i].cpu,
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
static bool heading_name(const struct tracedat *t, unsigned index, struct bytes *name)
{
	unsigned n = 0;
	for (size_t i = 0; i < t->option_count; i++) {
		const struct tracedat_option *o = &t->options[i];
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
static bool buffer_named(const struct tracedat *t, size_t count, const void *name, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (t->buffers[i].raw_name.size == size && !memcmp(t->buffers[i].raw_name.data, name, size))
			return true;
	return false;
}

static void orphan_section(struct tracedat *t, unsigned index)
{
	struct tracedat_section *s = &t->sections[index];
	struct tracedat_buffer *b = tracedat_buffer_add(t);
	unsigned nth = 0;

	if (!b)
		return;
	/* Its description names it, when the strings are there. */
	b->text = s->id == TRACEDAT_BUFFER_TEXT;
	if (s->description >= 0 && (size_t)s->description + 17 < t->string_data.size &&
	    !memcmp(t->string_data.data + s->description, "buffer flyrecord ", 17)) {
		const char *text = (const char *)t->string_data.data + s->description + 17;
		bytes_append(&b->raw_name, text, strnlen(text, t->string_data.size - (size_t)s->description - 17));
	}
	bytes_u8(&b->raw_name, 0);
	if (buffer_named(t, t->buffer_count - 1, b->raw_name.data, b->raw_name.size)) {
		while (!b->raw_name.failed && buffer_named(t, t->buffer_count - 1, b->raw_name.data, b->raw_name.size)) {
			b->raw_name.size = 0;
			if (!heading_name(t, nth++, &b->raw_name))
				bytes_printf(&b->raw_name, "unknown-%u", index);
			bytes_u8(&b->raw_name, 0);
		}
	}
	char shown[TEXT_QUOTE_SIZE];
	if (b->raw_name.failed || !b->raw_name.size) {
		tracedat_no_memory(t);
		return;
	}
	text_sanitise(b->name, sizeof(b->name), text_quote(shown, b->raw_name.data, b->raw_name.size - 1));
	size_t length = 0;
	const struct tracedat_option *o = t->clock_option >= 0 ? &t->options[t->clock_option] : NULL;
	const char *clock = o ? tracedat_clock_name((const char *)o->block->data + o->at, o->size, &length) : NULL;
	if (clock && length)
		bytes_append(&b->clock, clock, length);
	else
		bytes_text(&b->clock, "local");
	bytes_u8(&b->clock, 0);
	b->section = (int)index;
	b->page_size = t->page_size;
	b->compressed = s->flags & TRACEDAT_COMPRESSED && t->codec != TRACEDAT_NONE;
	s->referenced = true;
}

void tracedat_place(struct tracedat *t)
{
	struct finding *eof = NULL;

	shape_settle(t);
	for (size_t i = 0; i < t->section_count && t->status == TM_OK; i++)
		if ((t->sections[i].id == TRACEDAT_BUFFER || t->sections[i].id == TRACEDAT_BUFFER_TEXT) &&
		    !t->sections[i].referenced && !t->sections[i].lost)
			orphan_section(t, (unsigned)i);
	for (size_t i = 0; i < t->buffer_count && t->status == TM_OK; i++) {
		struct tracedat_buffer *b = &t->buffers[i];
		if (t->version == 6 || !*b->name || !tracedat_page_size_ok(b->page_size))
			b->page_size = t->page_size;
		instance_settle(t, b);
		for (size_t j = 0; j < b->count; j++)
			range_judge(t, b, &b->cpus[j], &eof);
	}
	if (t->status == TM_OK)
		ranges_overlap(t);
	if (t->version == 6) {
		if (t->buffer_count && !t->latency && t->status == TM_OK)
			tracedat_gaps(t, 0, t->header_stop, t->source->size);
	} else {
		for (size_t i = 0; i < t->buffer_count && t->status == TM_OK; i++) {
			const struct tracedat_buffer *b = &t->buffers[i];
			const struct tracedat_section *s = b->section >= 0 ? &t->sections[b->section] : NULL;
			if (s && !b->text)
				tracedat_gaps(t, (unsigned)i, s->offset + 16, s->offset + 16 + s->size);
		}
	}
	if (t->status == TM_OK)
		ranges_limit(t);
}
