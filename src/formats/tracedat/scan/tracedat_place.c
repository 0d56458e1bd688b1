/* Locates the data of each CPU: tables are checked against the file and each other. */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdlib.h>

/* Bytes of a CPU with a chunk: the number of chunks, two sizes, a frame. */
#define CHUNK_LEAST 16u

/* ---- ranges ---- */

/* A finding on the table entry of a CPU. */
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

/* Whether the data of the buffer ends `beyond` bytes behind the file because so many or more of its section are missing. */
static bool end_explained(struct tracedat_walk *w, const struct tracedat_buffer *b, uint64_t beyond)
{
	const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	if (!section || !section->resized || section->size > section->declared || section->declared - section->size < beyond)
		return tracedat_range_explained(w, TRACEDAT_RULE_cpu_range_eof, b, -beyond);
	tracedat_follows(w, TRACEDAT_RULE_cpu_range_eof, section->resized);
	return true;
}

/* The data begins there. Where its end seemed to be behind that of the file, it may be in it; and the other way round. */
static void range_from(const struct tracedat_walk *w, struct tracedat_cpu *c, uint64_t place)
{
	c->from = place;
	c->length = c->size < tracedat_file_end(w) - place ? c->size : tracedat_file_end(w) - place;
}

/* Unaligned data: is the offset wrong, or was the data moved? */
static void range_align(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	uint64_t below = c->offset & ~(uint64_t)(b->page_size - 1), above = below + b->page_size;
	(void)cpu_report(w, TRACEDAT_RULE_cpu_offset_alignment, b, c, "the data begins at 0x%llx, expected a multiple of %u",
			 (unsigned long long)c->offset, b->page_size);
	if (b->compressed) {
		if (!tracedat_chunk_begins(w, c->offset + 4, tracedat_file_end(w))) {
			if (tracedat_chunk_begins(w, below + 4, tracedat_file_end(w)))
				range_from(w, c, below);
			else if (tracedat_chunk_begins(w, above + 4, tracedat_file_end(w)))
				range_from(w, c, above);
		}
		return;
	}
	if (tracedat_page_at(w, c->offset, b->page_size))
		return;
	if (tracedat_page_at(w, below, b->page_size))
		range_from(w, c, below);
	else if (tracedat_page_at(w, above, b->page_size))
		range_from(w, c, above);
}

/* Whether a table has the data of a CPU there. */
static bool place_is_taken(const struct tracedat_walk *w, uint64_t place)
{
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			if (w->data.buffers[i].cpus[j].size && w->data.buffers[i].cpus[j].offset == place)
				return true;
	return false;
}

/* The data is at `place`; UINT64_MAX: it is not found. */
static void range_moved(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c, uint64_t place)
{
	if (place == UINT64_MAX || place_is_taken(w, place))
		return;
	if (!tracedat_range_explained(w, TRACEDAT_RULE_cpu_offset_alignment, b, place - c->from)) {
		struct finding *fd =
			cpu_report(w, TRACEDAT_RULE_cpu_offset_alignment, b, c,
				   "there is no page at 0x%llx but one at 0x%llx: bytes were inserted or removed before",
				   (unsigned long long)c->from, (unsigned long long)place);
		tracedat_shift_note(w, fd, place - c->from);
	}
	range_from(w, c, place);
	c->sought = true;
}

/* An aligned offset without a page, but with one nearby. */
static void range_shift(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	uint32_t size = b->page_size;
	if (b->compressed && c->length >= CHUNK_LEAST) {
		if (!tracedat_chunk_begins(w, c->from + 4, tracedat_file_end(w)))
			range_moved(
				w, b, c,
				tracedat_chunks_shifted(w, c->from, size,
							w->meta.stop > w->prefix.header_end ? w->meta.stop : w->prefix.header_end,
							tracedat_file_end(w)));
		return;
	}
	/* Bytes that were removed are missing at the end of the file: its last page may be the only one. */
	if (b->compressed || c->size < size || w->shape.old_ring || tracedat_page_at(w, c->from, size))
		return;
	size_t there = c->length < size ? (size_t)c->length : size;
	const uint8_t *p = window_at(&w->window, c->from, there);
	if (!p || (there == size && bytes_are_zero(p, size)))
		return;
	/* It begins there, and was hit inside. */
	if (tracedat_page_cut_sound(&w->shape, tracedat_known(w), p, (uint32_t)there, size))
		return;
	/* Where the next one is a page, only this one was hit; a moved page may seem to be one without records. */
	uint32_t records = 0;
	p = c->length >= 2 * (uint64_t)size ? window_at(&w->window, c->from + size, size) : NULL;
	if (p && tracedat_page_plausible(w, p, size, &records) && records > 1)
		return;
	uint64_t place = tracedat_page_shifted(w, c->from, size, c->size / size,
					       w->meta.stop > w->prefix.header_end ? w->meta.stop : w->prefix.header_end,
					       tracedat_file_end(w));
	range_moved(w, b, c, place);
}

/* Pages by which data is looked for in front of, and behind, where the table says. */
#define MOVED_PAGES 4u

/* Where the chunk at `at` ends, by its size; 0: none begins there. */
static uint64_t chunk_end(struct tracedat_walk *w, uint64_t at, uint64_t limit)
{
	const uint8_t *p = tracedat_chunk_begins(w, at, limit) ? window_at(&w->window, at, 4) : NULL;
	return p ? at + 8 + load_u32(p, w->shape.big_endian) : 0;
}

/* Whether chunks of so many bytes in all begin there. */
static bool chunks_fill(struct tracedat_walk *w, uint64_t from, uint64_t size)
{
	const uint8_t *p = from < tracedat_file_end(w) ? window_at(&w->window, from, 4) : NULL;
	uint64_t at = from + 4;
	uint32_t count = p ? load_u32(p, w->shape.big_endian) : 0;

	for (; count && at - from <= size; count--)
		if ((at = chunk_end(w, at, tracedat_file_end(w))) == 0)
			return false;
	/* trace-cmd states 4 bytes less than there are. */
	return !count && (at - from == size || at - from == size + 4);
}

/* Whether the chunks of a CPU lead on over more than `far` bytes: then it is not what stands in front of, or behind, data that was
 * moved by so many bytes at most, and the rest of it need not be read here. */
static bool chunks_lead(struct tracedat_walk *w, const struct tracedat_cpu *c, uint64_t far)
{
	uint64_t at = c->size > far ? c->offset + 4 : 0, end;

	while (at && (end = chunk_end(w, at, tracedat_file_end(w))) != 0 && at - c->offset <= far)
		at = end;
	return at && end;
}

/* Whether the table has the data of another CPU at the place to which c would be moved, and that other one is not so far away as
 * well: blocks changed places then, and nothing was moved. Where the table leads behind the end of the file, bytes were removed. */
static bool changed_places(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c, uint64_t place)
{
	bool changed = false;

	for (size_t i = 0; i < b->count; i++) {
		const struct tracedat_cpu *other = &b->cpus[i];
		if (other->size > tracedat_file_end(w) || other->offset > tracedat_file_end(w) - other->size)
			return false;
		changed |= other != c && other->size && other->offset == place &&
			   !chunks_fill(w, place + (place - c->offset), other->size);
	}
	return changed;
}

/* Chunks of another CPU stand there, and chunks of the stated size some pages away: bytes were inserted or removed before. */
static void range_pages_away(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	if (c->size < CHUNK_LEAST || chunks_lead(w, c, MOVED_PAGES * (uint64_t)b->page_size) || chunks_fill(w, c->offset, c->size))
		return;
	for (uint64_t step = 1; step <= 2 * MOVED_PAGES; step++) {
		uint64_t away = (step + 1) / 2 * b->page_size, place = step & 1 ? c->offset - away : c->offset + away;
		if ((step & 1 && away > c->offset) || place < w->prefix.header_end || !chunks_fill(w, place, c->size) ||
		    changed_places(w, b, c, place))
			continue;
		if (!tracedat_range_explained(w, TRACEDAT_RULE_cpu_offset_alignment, b, place - c->offset)) {
			struct finding *fd = cpu_report(w, TRACEDAT_RULE_cpu_offset_alignment, b, c,
							"the chunks at 0x%llx have another size, those at 0x%llx have it: "
							"bytes were inserted or removed before",
							(unsigned long long)c->offset, (unsigned long long)place);
			tracedat_shift_note(w, fd, place - c->offset);
		}
		c->offset = place;
		c->exact = true;
		return;
	}
}

/* The chunks show where they end, where the size of them all is wrong. */
static void range_measure(struct tracedat_walk *w, struct tracedat_cpu *c)
{
	const uint8_t *p = window_at(&w->window, c->from, 4);
	uint64_t at = c->from + 4, end = c->from + c->length;
	uint32_t count = p ? load_u32(p, w->shape.big_endian) : 0;

	for (uint64_t next; count && (next = chunk_end(w, at, end)) != 0; count--, at = next)
		if (next == at + 8 || next > end)
			return;
	if (!count && at > c->from + 4)
		c->length = at - c->from;
}

/* The first data that a table places behind the end of the file, and inside the header, which explain the others. */
struct outside {
	struct finding *eof, *header;
};

/* Data that its table places outside of the file, or inside the header, in whole or in part. */
static void range_outside(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c, struct outside *o)
{
	const uint64_t size = tracedat_file_end(w);
	uint64_t end;

	if (__builtin_add_overflow(c->offset, c->size, &end)) {
		(void)cpu_report(w, TRACEDAT_RULE_cpu_range_wrap, b, c, "the sum of offset 0x%llx and size 0x%llx exceeds 64 bits",
				 (unsigned long long)c->offset, (unsigned long long)c->size);
		c->lost = true;
	} else if (c->offset < w->meta.stop || c->offset < w->prefix.header_end) {
		if (o->header)
			finding_explains(o->header, 1);
		else
			o->header = cpu_report(w, TRACEDAT_RULE_cpu_range_in_header, b, c,
					       "the table places the data at 0x%llx, inside the header",
					       (unsigned long long)c->offset);
		c->lost = true;
	} else if (end > size) {
		if (tracedat_cut_explains(w, w->shape.version == 6 && w->dir.truncated)) {
			/* Tables of instances are behind the end as well. */
		} else if (o->eof) {
			finding_explains(o->eof, 1);
		} else if (!end_explained(w, b, end - size)) {
			o->eof = cpu_report(w, TRACEDAT_RULE_cpu_range_eof, b, c,
					    "the table places the end of the data at 0x%llx, but the file ends at 0x%llx",
					    (unsigned long long)end, (unsigned long long)size);
			tracedat_shift_note(w, o->eof, size - end);
		}
		c->clipped = true;
		if (c->offset >= size)
			c->lost = true;
		else
			c->length = size - c->offset;
	}
}

static void range_check(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_cpu *c, struct outside *o)
{
	const uint64_t size = tracedat_file_end(w);
	struct finding *fd;

	if (b->compressed && !b->text)
		range_pages_away(w, b, c);
	c->from = c->offset;
	c->length = c->size;
	c->limit = 0;
	if (!c->size)
		return;
	range_outside(w, b, c, o);
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
		range_shift(w, b, c);
	if (b->compressed && c->clipped)
		range_measure(w, c);
	if (!b->compressed && c->size % b->page_size && !c->clipped) {
		(void)cpu_report(w, TRACEDAT_RULE_cpu_size_not_page_multiple, b, c,
				 "the data has %llu bytes, expected a multiple of the page size %u", (unsigned long long)c->size,
				 b->page_size);
	}
	const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	if (section && !section->size_bad && !c->clipped &&
	    (c->from < section->offset + 16 || c->from + c->length > section->offset + 16 + section->size)) {
		fd = cpu_finding(w, TRACEDAT_RULE_v7_buffer_cpu_outside_section, b, c);
		unsigned long long stop = section->offset + 16 + section->size;
		finding_say(fd, "the data at 0x%llx is outside its section, 0x%llx to 0x%llx", (unsigned long long)c->from,
			    (unsigned long long)section->offset, stop);
		/* A compressed range that reaches into the next section is reported with its chunks. */
		if (c->from < section->offset + 16 || c->from >= section->offset + 16 + section->size) {
			bool fits = b->compressed ? tracedat_chunk_begins(w, c->from + 4, size)
						  : tracedat_page_at(w, c->from, b->page_size);
			c->lost = !fits;
			c->length = fits ? c->length : 0;
			w->data.errors |= !fits;
		}
	}
}

static void ranges_overlap(struct tracedat_walk *w)
{
	size_t count;
	struct tracedat_range *r = tracedat_ranges_list(w, &count);

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
		/* What was removed is missing to the first range, and the second begins so much earlier. */
		const uint64_t moved = b->cpu ? b->cpu->from - b->cpu->offset : 0;
		if (a->to - b->from != -moved || !tracedat_range_explained(w, TRACEDAT_RULE_cpu_range_overlap, owner, moved))
			(void)cpu_report(w, TRACEDAT_RULE_cpu_range_overlap, owner, c,
					 "the data at 0x%llx to 0x%llx overlaps the range that begins at 0x%llx",
					 (unsigned long long)b->from, (unsigned long long)b->to, (unsigned long long)a->from);
		w->data.errors = true;
		if (a->cpu && b->from > a->from) {
			/* The first range is too long: the second begins where its own entry says. */
			a->cpu->length = b->from - a->from;
			a->cpu->clipped = true;
			a->to = b->from;
		} else if (b->cpu && a->cpu && b->cpu->exact && !a->cpu->exact) {
			a->cpu->length = 0;
			a->cpu->lost = true;
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
	struct tracedat_range *r = tracedat_ranges_list(w, &count);
	if (!r)
		return;
	bool reported = false;
	const struct tracedat_cpu *last = NULL;
	const struct tracedat_buffer *last_buffer = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!r[i].cpu)
			continue;
		const struct tracedat_section *section = r[i].buffer->section >= 0 ? &w->dir.sections[r[i].buffer->section] : NULL;
		uint64_t limit = i + 1 < count ? r[i + 1].from : tracedat_file_end(w);
		if (section && section->offset + 16 + section->size < limit && section->offset + 16 + section->size > r[i].from)
			limit = section->offset + 16 + section->size;
		r[i].cpu->limit = limit;
		if (last && r[i].buffer == last_buffer && r[i].cpu->cpu < last->cpu && !reported && !r[i].cpu->found) {
			(void)cpu_report(w, TRACEDAT_RULE_cpu_order, r[i].buffer, r[i].cpu,
					 "the data of CPU %u comes before that of CPU %u", last->cpu, r[i].cpu->cpu);
			reported = true;
		}
		last = r[i].cpu;
		last_buffer = r[i].buffer;
	}
	free(r);
}

/* ---- version 7: sections of event data without a buffer ---- */

/* Whether one of the first `count` buffers has that name. */
static bool buffer_named(const struct tracedat_data *data, size_t count, const void *name, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (data->buffers[i].raw_name.size == size && (!size || !memcmp(data->buffers[i].raw_name.data, name, size)))
			return true;
	return false;
}

/* The name of the buffer in the description of its section, which is not owned; NULL: none. */
static const char *described_name(const struct tracedat_walk *w, const struct tracedat_section *section, size_t *length)
{
	static const char lead[] = "buffer flyrecord ";
	const size_t head = sizeof(lead) - 1;
	const struct bytes *strings = &w->dir.strings;

	if (section->description < 0 || (size_t)section->description + head >= strings->size ||
	    memcmp(strings->data + section->description, lead, head) != 0)
		return NULL;
	const char *text = (const char *)strings->data + section->description + head;
	*length = strnlen(text, strings->size - (size_t)section->description - head);
	return text;
}

static bool heading_named(const struct tracedat_directory *dir, const char *name, size_t length)
{
	for (size_t i = 0; i < dir->heading_count; i++)
		if (dir->headings[i].size == length && !memcmp(dir->headings[i].name, name, length))
			return true;
	return false;
}

/* The name in an option and the one in the description of its section differ: one was hit. The statistics, or an option whose size
 * shows a hit, decide which; else it is doubtful. */
static void name_decide(struct tracedat_walk *w, size_t index)
{
	struct tracedat_buffer *b = &w->data.buffers[index];
	struct tracedat_option *o = &w->dir.options[b->option];
	const size_t own = b->raw_name.size - 1;
	size_t length;
	const char *name = described_name(w, &w->dir.sections[b->section], &length);
	char shown[TEXT_QUOTE_SIZE];

	if (!name || (length == own && !memcmp(name, b->raw_name.data, own)))
		return;
	bool own_counted = !own || heading_named(&w->dir, (const char *)b->raw_name.data, own);
	if (!o->head_bad && (own_counted || !length || !heading_named(&w->dir, name, length))) {
		b->name_doubtful = !own_counted;
		return;
	}
	struct bytes found = { 0 };
	bytes_append(&found, name, length);
	bytes_u8(&found, 0);
	if (found.failed) {
		tracedat_no_memory(w);
	} else if (buffer_named(&w->data, w->data.buffer_count, found.data, found.size)) {
		b->name_doubtful = true;
	} else {
		if (!o->rule) {
			(void)tracedat_block_report(
				w, TRACEDAT_RULE_option_buffer_name, o->block, o->at + 8, own + 1,
				"the name of the instance is \"%s\", its section and its statistics have \"%s\"", b->name,
				text_quote(shown, found.data, length));
			o->rule = TRACEDAT_RULE_option_buffer_name;
		}
		b->raw_name.size = 0;
		bytes_append(&b->raw_name, found.data, found.size);
		text_sanitise(b->name, sizeof(b->name), text_quote(shown, found.data, length));
	}
	bytes_free(&found);
}

static void buffer_of_section(struct tracedat_walk *w, unsigned index)
{
	struct tracedat_section *section = &w->dir.sections[index];
	struct tracedat_buffer *b = tracedat_buffer_add(w);
	unsigned nth = 0;
	size_t length = 0;

	if (!b)
		return;
	b->text = section->id == TRACEDAT_BUFFER_TEXT;
	/* Its description names it, if there is a strings section. */
	const char *text = described_name(w, section, &length);
	if (text)
		bytes_append(&b->raw_name, text, length);
	b->name_doubtful = !b->raw_name.size;
	bytes_u8(&b->raw_name, 0);
	if (buffer_named(&w->data, w->data.buffer_count - 1, b->raw_name.data, b->raw_name.size)) {
		while (!b->raw_name.failed &&
		       buffer_named(&w->data, w->data.buffer_count - 1, b->raw_name.data, b->raw_name.size)) {
			b->raw_name.size = 0;
			const struct tracedat_heading *h = nth < w->dir.heading_count ? &w->dir.headings[nth++] : NULL;
			if (h)
				bytes_append(&b->raw_name, h->name, h->size);
			else
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
	const char *clock = tracedat_clock_selected(&w->dir, &length);
	if (clock)
		bytes_append(&b->clock, clock, length);
	else
		bytes_text(&b->clock, "local");
	bytes_u8(&b->clock, 0);
	b->section = (int)index;
	b->page_size = w->shape.page_size;
	b->compressed = section->flags & TRACEDAT_COMPRESSED && w->shape.codec != TRACEDAT_NONE;
	section->referenced = true;
}

/* Names by the order of sections and statistics are right where there are as many of both. */
static void names_verify(struct tracedat_walk *w)
{
	struct bytes name = { 0 };
	size_t headings = w->dir.heading_count;
	bool all = headings + 1 == w->data.buffer_count;

	for (size_t i = 0; i < headings && all; i++) {
		name.size = 0;
		bytes_append(&name, w->dir.headings[i].name, w->dir.headings[i].size);
		bytes_u8(&name, 0);
		all &= buffer_named(&w->data, w->data.buffer_count, name.data, name.size);
	}
	all &= buffer_named(&w->data, w->data.buffer_count, "", 1) && !name.failed;
	bytes_free(&name);
	for (size_t i = 0; i < w->data.buffer_count && all; i++)
		w->data.buffers[i].name_doubtful = false;
}

/* Whether the first page of a CPU or its last one is not where a table of version 6 says, or is behind the end of the file. */
static bool pages_are_missing(struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (!c->size)
				continue;
			if (c->size > w->source->size || c->offset > w->source->size - c->size ||
			    !tracedat_page_at(w, c->offset, w->shape.page_size))
				return true;
			if (c->size >= w->shape.page_size &&
			    !tracedat_page_at(w, c->offset + c->size - w->shape.page_size, w->shape.page_size))
				return true;
		}
	return false;
}

/* Whether a table has data behind `place`, and a page is there: the file was not cut in front. */
static bool pages_go_on(struct tracedat_walk *w, uint64_t place)
{
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (c->size && c->offset > place && tracedat_page_at(w, c->offset, w->shape.page_size))
				return true;
		}
	return false;
}

/* Where data is missing the file may have been cut, and another one joined to it: nothing of that is ours. */
static void other_find(struct tracedat_walk *w)
{
	const uint64_t size = w->source->size;

	if (w->shape.version != 6 || w->meta.other || w->shape.old_ring || !pages_are_missing(w))
		return;
	for (uint64_t at = w->meta.stop; at < size && size - at >= TRACEDAT_MAGIC_SIZE && w->status == TM_OK;) {
		size_t got;
		const uint8_t *p = window_upto(&w->window, at, 65536, &got);
		const uint8_t *magic = p ? memmem(p, got, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE) : NULL;
		uint64_t place = magic ? at + (uint64_t)(magic - p) : 0;
		const bool more = p && !magic && got >= TRACEDAT_MAGIC_SIZE;
		/* Behind a block of another file our pages go on. */
		if (place && !pages_go_on(w, place) && !tracedat_foreign_block(w, place) &&
		    !tracedat_page_at(w, tracedat_align(place, w->shape.page_size) + w->shape.page_size, w->shape.page_size))
			w->meta.other = place;
		if (!more)
			return;
		at += got - (TRACEDAT_MAGIC_SIZE - 1);
	}
}

void tracedat_data_place(struct tracedat_walk *w)
{
	struct outside outside = { 0 };

	tracedat_shape_decide(w);
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++)
		if ((w->dir.sections[i].id == TRACEDAT_BUFFER || w->dir.sections[i].id == TRACEDAT_BUFFER_TEXT) &&
		    !w->dir.sections[i].referenced && !w->dir.sections[i].lost)
			buffer_of_section(w, (unsigned)i);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK && w->shape.version == 7; i++)
		if (w->data.buffers[i].option != SIZE_MAX && w->data.buffers[i].section >= 0 && w->data.buffers[i].raw_name.size)
			name_decide(w, i);
	if (w->shape.version == 7)
		names_verify(w);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (w->shape.version == 6 || !*b->name || !tracedat_page_size_ok(b->page_size))
			b->page_size = w->shape.page_size;
		tracedat_instance_page_size(w, b);
	}
	other_find(w);
	tracedat_tables_correct(w);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		for (size_t j = 0; j < b->count; j++)
			range_check(w, b, &b->cpus[j], &outside);
		if (!b->compressed && !w->shape.old_ring)
			tracedat_ranges_step(w, b);
	}
	if (w->status == TM_OK)
		ranges_overlap(w);
	if (w->status == TM_OK)
		tracedat_gaps_examine(w);
	if (w->status == TM_OK)
		ranges_limit(w);
}
