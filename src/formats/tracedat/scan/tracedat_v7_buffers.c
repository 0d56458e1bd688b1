/* Version 7: the options of buffers, and the sections that they name (MAN7 "OPTIONS"). */
#include <stdlib.h>

#include "core/array.h"
#include "core/bytes.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* The number of CPUs by its option; 0: there is none. */
static uint32_t cpus_stated(const struct tracedat_walk *w, bool be)
{
	const struct tracedat_option *o = w->dir.cpucount_option >= 0 ? &w->dir.options[w->dir.cpucount_option] : NULL;
	return o && o->size == 4 && !o->dropped ? load_u32(o->block->data + o->at, be) : 0;
}

/* The CPU of the entry i of those at `entries`. Of two in a row with one number the one was hit for which the others, that ascend,
 * leave a number: where that is the only one, it is taken. */
static uint32_t cpu_of_entry(const uint8_t *entries, size_t i, size_t count, uint32_t cpus, bool be)
{
	const uint32_t cpu = load_u32(entries + 20 * i, be);
	const bool first = i + 1 < count && load_u32(entries + 20 * (i + 1), be) == cpu;
	if (cpu >= TRACEDAT_CPUS_MAX || (!first && (!i || load_u32(entries + 20 * (i - 1), be) != cpu)))
		return cpu;
	const size_t pair = first ? i : i - 1;
	const int64_t low = pair ? (int64_t)load_u32(entries + 20 * (pair - 1), be) + 1 : 0;
	const int64_t high = pair + 2 < count ? (int64_t)load_u32(entries + 20 * (pair + 2), be) - 1 : (int64_t)cpus - 1;
	const int64_t below = cpu - low, above = high - cpu;
	if (below < 0 || above < 0 || below + above != 1)
		return cpu;
	return first && below ? (uint32_t)low : !first && above ? (uint32_t)high : cpu;
}

/* Lists the data of CPUs whose numbers other entries have as well: it may not be theirs. */
static void cpus_doubt(struct tracedat_walk *w, const struct tracedat_buffer *b, const uint8_t *again)
{
	for (size_t i = 0; i < b->count && w->s->plan; i++) {
		const struct tracedat_cpu *c = &b->cpus[i];
		if (bit_get(again, c->cpu) && c->size && c->offset < w->source->size && c->size <= w->source->size - c->offset)
			plan_doubt(w->s->plan, w->source, c->offset, c->size,
				   "another entry of the table has the number of this CPU");
	}
}

static void buffer_cpus(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_option *o,
			const struct tracedat_buffer_layout *l, bool be)
{
	uint8_t seen[TRACEDAT_CPUS_MAX / 8] = { 0 }, again[TRACEDAT_CPUS_MAX / 8] = { 0 };
	const uint8_t *p = o->block->data + o->at + l->entries;
	size_t count = l->count < l->fitting ? l->count : l->fitting;
	const uint32_t cpus = cpus_stated(w, be);
	int64_t last = -1;
	bool ordered = true;
	struct finding *fd;

	if (!l->exact)
		count = l->fitting;
	for (size_t i = 0; i < count && w->status == TM_OK; i++, p += 20) {
		uint32_t stated = load_u32(p, be), cpu = cpu_of_entry(p - 20 * i, i, count, cpus, be);
		bool twice = cpu < TRACEDAT_CPUS_MAX && bit_get(seen, cpu);
		if (cpu >= TRACEDAT_CPUS_MAX || twice || cpu != stated) {
			fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_cpu_id, o->block, (size_t)(p - o->block->data), 4,
						   twice || cpu != stated ? "CPU %u is listed twice"
									  : "the CPU is %u, expected a number below 8192",
						   stated);
			finding_path(fd, "buffer \"%s\" > entry %zu", b->name, i);
			o->rule = TRACEDAT_RULE_v7_buffer_cpu_id;
			if (twice)
				bit_set(again, cpu);
			/* All of an entry of zeros was hit. */
			w->data.errors |= cpu >= TRACEDAT_CPUS_MAX || twice || !load_u64(p + 12, be);
			if (cpu >= TRACEDAT_CPUS_MAX || twice)
				continue;
		}
		bit_set(seen, cpu);
		ordered &= (int64_t)cpu > last;
		last = cpu;
		struct tracedat_cpu *c = tracedat_cpu_add(w, b);
		if (!c)
			return;
		c->cpu = cpu;
		c->offset = load_u64(p + 4, be);
		c->size = load_u64(p + 12, be);
		c->declared_at = o->block->compressed ? o->block->offset : o->block->offset + (size_t)(p - o->block->data);
	}
	cpus_doubt(w, b, again);
	if (!ordered) {
		fd = tracedat_block_milder(w, TRACEDAT_RULE_v7_buffer_cpu_id, TM_NOTE, o->block, o->at + l->entries, 20 * count);
		finding_say(fd, "the CPUs are not in ascending order");
	}
}

/* Whether the data of the first CPU is at its offset moved by delta. */
static bool buffer_data_at(struct tracedat_walk *w, const struct tracedat_buffer *b, bool compressed, uint64_t delta)
{
	uint64_t at = b->cpus[0].offset + delta;
	if (compressed)
		return tracedat_chunk_begins(w, at + 4, w->source->size);
	const uint8_t *p = tracedat_page_size_ok(w->shape.page_size) ? window_at(&w->window, at, w->shape.page_size) : NULL;
	return p && tracedat_page_plausible(w, p, w->shape.page_size, NULL);
}

/* Whether it is where the option says, in a section of this kind: another section is another buffer's. */
static bool buffer_data_there(struct tracedat_walk *w, const struct tracedat_buffer *b, unsigned id)
{
	bool any[2] = { false, false };

	for (size_t i = 0; i < w->dir.section_count && b->count; i++)
		any[!!(w->dir.sections[i].flags & TRACEDAT_COMPRESSED)] |= w->dir.sections[i].id == id;
	return (any[0] && buffer_data_at(w, b, false, 0)) || (any[1] && buffer_data_at(w, b, true, 0));
}

/* Where options of one kind have a section that is not there, in order. */
struct lost_sections {
	uint64_t *at;
	size_t count, capacity;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Whether an option names the section, or it is nearer to where another one has a section that is not there: it is that buffer's.
 */
static bool section_is_anothers(const struct lost_sections *lost, const struct tracedat_section *section, uint64_t at)
{
	size_t i;
	array_search(i, lost->count, lost->at[i] < section->offset);
	return section->named || (i < lost->count && distance(lost->at[i], section->offset) < distance(at, section->offset)) ||
	       (i && distance(lost->at[i - 1], section->offset) < distance(at, section->offset));
}

/* The section of a buffer whose option has a wrong offset: the one around its data; or, after inserted or removed bytes, one
 * that moved together with its data. */
static int buffer_section_search(struct tracedat_walk *w, struct tracedat_buffer *b, const struct lost_sections *lost, unsigned id,
				 uint64_t at)
{
	int around = -1;
	const bool there = buffer_data_there(w, b, id);
	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *section = &w->dir.sections[i];
		if (section->id != id || section->referenced || section_is_anothers(lost, section, at))
			continue;
		uint64_t delta = section->offset - at;
		if (b->count && !there && delta + 65536 < 131072 &&
		    buffer_data_at(w, b, section->flags & TRACEDAT_COMPRESSED, delta)) {
			for (size_t j = 0; j < b->count; j++) {
				b->cpus[j].offset += delta;
				b->cpus[j].shifted = true;
			}
			return (int)i;
		}
		if (!b->count || (b->cpus[0].offset > section->offset && b->cpus[0].offset < section->offset + 16 + section->size))
			around = (int)i;
	}
	return around;
}

/* Where the data contradicts the flag, the data decides. */
static void buffer_flag(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_section *section)
{
	const struct tracedat_cpu *c = NULL;
	for (size_t i = 0; i < b->count && !c; i++)
		c = b->cpus[i].size ? &b->cpus[i] : NULL;
	if (!c || b->text || w->shape.codec == TRACEDAT_NONE)
		return;
	const uint8_t *p = window_at(&w->window, c->offset, b->page_size);
	bool page = p && tracedat_page_plausible(w, p, b->page_size, NULL);
	bool chunks = tracedat_chunk_begins(w, c->offset + 4, w->source->size);
	if (b->compressed ? chunks || !page : page || !chunks)
		return;
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_section_compress_flag, section->offset + 2, 2,
					     "the data is %scompressed, which contradicts the flag", chunks ? "" : "not ");
	finding_path(fd, "buffer \"%s\"", b->name);
	b->compressed = chunks;
	section->flags ^= TRACEDAT_COMPRESSED;
}

/* Whether plain pages stand where the table has data. */
static bool buffer_plain(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	bool plain = false;
	for (size_t i = 0; i < b->count && i < 64; i++) {
		if (tracedat_chunk_begins(w, b->cpus[i].offset + 4, w->source->size))
			return false;
		const uint8_t *p = b->cpus[i].size ? window_at(&w->window, b->cpus[i].offset, w->shape.page_size) : NULL;
		plain |= p && tracedat_page_plausible(w, p, w->shape.page_size, NULL);
	}
	return plain;
}

static void buffer_section(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_option *o,
			   const struct lost_sections *lost, uint64_t at)
{
	unsigned id = b->text ? TRACEDAT_BUFFER_TEXT : TRACEDAT_BUFFER;
	int index = tracedat_section_at(&w->dir, at);

	if (index < 0 || w->dir.sections[index].id != id) {
		o->rule = TRACEDAT_RULE_v7_buffer_section;
		/* Of an unknown kind: its id was hit. */
		if (index >= 0 && w->dir.sections[index].id > TRACEDAT_ID_LAST)
			w->dir.sections[index].id = (uint16_t)id;
		else
			index = buffer_section_search(w, b, lost, id, at);
		if (index < 0 ||
		    !tracedat_shift_explains(w, o->rule, &w->dir.sections[index], w->dir.sections[index].offset - at)) {
			struct finding *fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_section, o->block, o->at, 8,
								   "no section of event data at 0x%llx", (unsigned long long)at);
			finding_path(fd, "buffer \"%s\"", b->name);
		}
	}
	b->section = index;
	if (index < 0) {
		/* Repair makes a section for it; the data shows whether it is compressed. */
		b->compressed = b->count && w->shape.codec != TRACEDAT_NONE && !buffer_plain(w, b);
		return;
	}
	w->dir.sections[index].referenced = true;
	b->compressed = w->dir.sections[index].flags & TRACEDAT_COMPRESSED;
	buffer_flag(w, b, &w->dir.sections[index]);
	if (b->compressed && w->shape.codec == TRACEDAT_NONE) {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_section_compress_flag, w->dir.sections[index].offset + 2, 2,
				      "event data is marked compressed in a file without a compressor");
		b->compressed = false;
		w->dir.sections[index].flags &= (uint16_t)~1u;
	}
}

/* Whether an earlier option is identical. */
static bool buffer_is_repeated(const struct tracedat_walk *w, size_t index)
{
	const struct tracedat_option *o = &w->dir.options[index];

	for (size_t i = 0; i < w->data.buffer_count; i++) {
		const struct tracedat_option *other = w->data.buffers[i].option < index ? &w->dir.options[w->data.buffers[i].option]
											: NULL;
		if (other && other->id == o->id && other->size == o->size &&
		    !memcmp(other->block->data + other->at, o->block->data + o->at, o->size))
			return true;
	}
	return false;
}

/* The buffer of latency output whose section an earlier option names as well; NULL. */
static struct tracedat_buffer *buffer_of_text(const struct tracedat_walk *w, uint64_t offset)
{
	const int section = tracedat_section_at(&w->dir, offset);

	for (size_t i = 0; i < w->data.buffer_count && section >= 0; i++)
		if (w->data.buffers[i].text && w->data.buffers[i].section == section && w->data.buffers[i].option != SIZE_MAX)
			return &w->data.buffers[i];
	return NULL;
}

/* Whether an entry names data inside of a section of event data. */
static bool entries_lead(const struct tracedat_walk *w, const uint8_t *p, const struct tracedat_buffer_layout *l, bool be)
{
	for (size_t i = 0; i < l->fitting; i++) {
		uint64_t at = load_u64(p + l->entries + 20 * i + 4, be), size = load_u64(p + l->entries + 20 * i + 12, be);
		for (size_t j = 0; j < w->dir.section_count && size; j++) {
			const struct tracedat_section *section = &w->dir.sections[j];
			if (section->id == TRACEDAT_BUFFER && at >= section->offset && at - section->offset < section->size &&
			    size <= section->size)
				return true;
		}
	}
	return false;
}

/* Whether the option was hit so that nothing of it leads to event data: not even its name is what it was. */
static bool buffer_is_garbled(const struct tracedat_walk *w, const uint8_t *p, const struct tracedat_buffer_layout *l, bool be)
{
	return !l->exact && !l->clock_mended && tracedat_section_at(&w->dir, l->offset) < 0 && !entries_lead(w, p, l, be);
}

static struct finding *report_layout(struct tracedat_walk *w, const struct tracedat_option *o,
				     const struct tracedat_buffer_layout *l, bool text)
{
	if (text)
		return tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_layout, o->block, o->at, o->size,
					     "the name and clock of latency output do not fill the %u bytes of the option",
					     o->size);
	return tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_layout, o->block, o->at, o->size,
				     "%u CPUs do not fill the %u bytes of the option; %zu do", l->count, o->size, l->fitting);
}

/* The buffer of an option that was hit, without what that option says of it: another one says it. */
static struct tracedat_buffer *buffer_again(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	tracedat_option_drop(&w->dir.options[b->option], TRACEDAT_RULE_v7_buffer_section, "a buffer that is named twice");
	bytes_free(&b->raw_name);
	bytes_free(&b->clock);
	return b;
}

static void buffer_option(struct tracedat_walk *w, size_t index, const struct lost_sections *lost)
{
	struct tracedat_option *o = &w->dir.options[index];
	const uint8_t *p = o->block->data + o->at;
	struct tracedat_buffer_layout l;
	char shown[TEXT_QUOTE_SIZE];
	struct finding *fd;
	bool text = o->id == TRACEDAT_BUFFER_TEXT, be = w->shape.big_endian;

	if (!tracedat_buffer_layout(p, o->size, be, text, &l)) {
		(void)tracedat_block_report(w, text ? TRACEDAT_RULE_option_buffer_name : TRACEDAT_RULE_v7_buffer_layout, o->block,
					    o->at, o->size, "the name or clock of the buffer has no NUL, or nothing follows them");
		tracedat_option_drop(o, TRACEDAT_RULE_v7_buffer_layout, "a buffer option that cannot be read");
		w->data.errors = true;
		return;
	}
	struct tracedat_buffer *b = text ? buffer_of_text(w, l.offset) : NULL;
	if (buffer_is_repeated(w, index) || (b && (!l.exact || w->dir.options[b->option].rule != TRACEDAT_RULE_v7_buffer_layout))) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_section, o->block, o->at, 8,
					    "an earlier option names the same event data at 0x%llx: readers show its events twice",
					    (unsigned long long)l.offset);
		tracedat_option_drop(o, TRACEDAT_RULE_v7_buffer_section, "a buffer that is named twice");
		return;
	}
	/* Written by trace-cmd on a machine of the other byte order. */
	if (tracedat_section_at(&w->dir, l.offset) < 0 && tracedat_section_at(&w->dir, __builtin_bswap64(l.offset)) >= 0) {
		be = !be;
		(void)tracedat_buffer_layout(p, o->size, be, text, &l);
		if (!findings_count(w->findings, TRACEDAT_RULE_v7_done_host_order)) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_host_order, o->block, o->at, 8,
						    "the numbers of the buffer option are in the other byte order");
		}
		o->rule = TRACEDAT_RULE_v7_done_host_order;
	}
	if (!text && buffer_is_garbled(w, p, &l, be)) {
		(void)tracedat_block_report(
			w, TRACEDAT_RULE_v7_buffer_layout, o->block, o->at, o->size,
			"%u CPUs do not fill the %u bytes of the option, and none of its numbers leads to event data", l.count,
			o->size);
		tracedat_option_drop(o, TRACEDAT_RULE_v7_buffer_layout, "a buffer option that cannot be read");
		w->data.errors = true;
		return;
	}
	const bool instead = b;
	b = instead ? buffer_again(w, b) : tracedat_buffer_add(w);
	if (!b)
		return;
	o->buffer = (int)(b - w->data.buffers);
	b->option = index;
	b->text = text;
	text_sanitise(b->name, sizeof(b->name), text_quote(shown, l.name, l.name_size - 1));
	bytes_append(&b->raw_name, l.name, l.name_size);
	bytes_append(&b->clock, l.clock, l.clock_size);
	b->page_size = l.page_size;
	if (l.clock_mended) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_layout, o->block, o->at + 8 + l.name_size, l.clock_size,
					   "the clock does not end where the numbers begin, expected \"%s\"", l.clock);
		finding_path(fd, "buffer \"%s\"", b->name);
		o->rule = TRACEDAT_RULE_v7_buffer_layout;
	} else if (!l.exact) {
		fd = report_layout(w, o, &l, text);
		finding_path(fd, "buffer \"%s\"", b->name);
		o->rule = TRACEDAT_RULE_v7_buffer_layout;
	}
	if (l.clock_size > 1 && !tracedat_clock_known(l.clock, l.clock_size - 1)) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_clock_unknown, o->block, o->at + 8 + l.name_size,
					   l.clock_size, "the clock is \"%s\", which is not a known clock",
					   text_quote(shown, l.clock, l.clock_size - 1));
		finding_path(fd, "buffer \"%s\"", b->name);
	}
	if (text) {
		if (!instead)
			buffer_section(w, b, o, lost, l.offset);
		return;
	}
	if (w->prefix.page_size_bad && !w->meta.header_page_size && l.name_size == 1 && tracedat_page_size_ok(l.page_size))
		w->shape.page_size = l.page_size;
	bool moved = !l.exact && !l.clock_mended;
	if (!tracedat_page_size_ok(l.page_size) || ((l.name_size == 1 || moved) && l.page_size != w->shape.page_size)) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_page_size, o->block, o->at + 8 + l.name_size + l.clock_size,
					   4, "the page size is %u, expected the %u of the file", l.page_size, w->shape.page_size);
		finding_path(fd, "buffer \"%s\"", b->name);
		o->rule = TRACEDAT_RULE_v7_buffer_page_size;
		b->page_size = w->shape.page_size;
	}
	buffer_cpus(w, b, o, &l, be);
	buffer_section(w, b, o, lost, l.offset);
}

static int order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Marks the sections that options of a kind name, and lists the offsets of the others. */
static void find_lost_sections(struct tracedat_walk *w, unsigned id, struct lost_sections *lost)
{
	struct tracedat_buffer_layout l;
	bool be = w->shape.big_endian;

	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		const uint8_t *p = o->block->data + o->at;
		if (o->id != id || o->dropped || !tracedat_buffer_layout(p, o->size, be, id == TRACEDAT_BUFFER_TEXT, &l))
			continue;
		int section = tracedat_section_at(&w->dir, l.offset);
		if (section >= 0 && w->dir.sections[section].id == id)
			w->dir.sections[section].named = true;
		else if ((id == TRACEDAT_BUFFER_TEXT || !buffer_is_garbled(w, p, &l, be)) &&
			 tracedat_room(w, &lost->at, &lost->capacity, lost->count, sizeof(*lost->at), TRACEDAT_OPTIONS_MAX))
			lost->at[lost->count++] = l.offset;
	}
	if (lost->count)
		qsort(lost->at, lost->count, sizeof(*lost->at), order);
}

void tracedat_v7_buffers(struct tracedat_walk *w)
{
	bool any = false;
	struct lost_sections pages = { 0 }, texts = { 0 };
	find_lost_sections(w, TRACEDAT_BUFFER, &pages);
	find_lost_sections(w, TRACEDAT_BUFFER_TEXT, &texts);
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if ((o->id == TRACEDAT_BUFFER || o->id == TRACEDAT_BUFFER_TEXT) && !o->dropped) {
			any = true;
			buffer_option(w, i, o->id == TRACEDAT_BUFFER ? &pages : &texts);
		}
	}
	free(pages.at);
	free(texts.at);
	bool section = false;
	for (size_t i = 0; i < w->dir.section_count; i++) {
		struct tracedat_section *sec = &w->dir.sections[i];
		if ((sec->id != TRACEDAT_BUFFER && sec->id != TRACEDAT_BUFFER_TEXT) || sec->referenced)
			continue;
		section = true;
		w->data.errors = true;
		if (any)
			continue;
		if (!tracedat_cut_explains(w, w->dir.chain_cut))
			(void)tracedat_report(w, TRACEDAT_RULE_v7_buffer_missing, sec->offset, 16,
					      "event data of %llu bytes that no option names", (unsigned long long)sec->size);
		any = true;
	}
	if (!any && !section && !w->dir.alone && !tracedat_cut_explains(w, w->dir.chain_cut)) {
		struct finding *fd = tracedat_milder(w, TRACEDAT_RULE_v7_buffer_missing, TM_NOTE, w->source->size, 0);
		finding_say(fd, "the file has metadata only, no event data");
	}
}
