/* Version 7: sections, the chain of options that names them, and buffers (MAN7 "OPTIONS", "SECTIONS"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

/* ---- the chain ---- */

static void options_section(struct tracedat_walk *w, unsigned index)
{
	struct tracedat_section *s = &w->dir.sections[index];
	s->reached = s->referenced = true;
	s->done = SIZE_MAX;
	if (!tracedat_section_load(w, s))
		return;
	s->first_option = w->dir.option_count;
	size_t after = tracedat_options(w, &s->block, 0, s->block.size, index);
	s = &w->dir.sections[index];
	s->option_count = w->dir.option_count - s->first_option;
	if (after != SIZE_MAX && after < s->block.size) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_not_last, &s->block, after, s->block.size - after,
					    "%zu bytes after the end of the options", s->block.size - after);
		w->out.lost_other = true;
		tracedat_drop_block(w, &s->block, after, s->block.size - after, TRACEDAT_RULE_v7_done_not_last,
				    "bytes after the end of the options");
	}
}

/* Where the chain goes on: 0: nowhere. */
static uint64_t chain_next(const struct tracedat_walk *w, const struct tracedat_section *s)
{
	if (!s->has_done)
		return UINT64_MAX;
	const uint8_t *p = s->block.data + s->done;
	bool swapped = load_u32(p + 2, w->shape.big_endian) == 0x08000000;
	uint64_t next = load_u64(p + 6, w->shape.big_endian);
	return swapped && tracedat_section_at(&w->dir, next) < 0 ? __builtin_bswap64(next) : next;
}

static void chain_follow(struct tracedat_walk *w)
{
	uint64_t at = w->prefix.options_offset;
	bool broken = false;

	if (w->prefix.options_at) {
		int first = tracedat_section_at(&w->dir, at);
		if (first < 0 || w->dir.sections[first].id != TRACEDAT_DONE) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_options_offset, w->prefix.options_at, 8,
					      "the first options should be at 0x%llx, where there is no options section",
					      (unsigned long long)at);
			broken = true;
			at = 0;
		}
	} else {
		broken = true;
		at = 0;
	}
	while (at && w->status == TM_OK) {
		int index = tracedat_section_at(&w->dir, at);
		options_section(w, (unsigned)index);
		const struct tracedat_section *s = &w->dir.sections[index];
		uint64_t next = chain_next(w, s);
		if (next == UINT64_MAX) {
			broken = true;
			break;
		}
		if (!next)
			break;
		int target = tracedat_section_at(&w->dir, next);
		if (target < 0 || w->dir.sections[target].id != TRACEDAT_DONE) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_target, &s->block, s->done + 6, 8,
						    "the next options should be at 0x%llx, where there is no options section",
						    (unsigned long long)next);
			broken = true;
			break;
		}
		if (w->dir.sections[target].reached) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_cycle, &s->block, s->done + 6, 8,
						    "the next options at 0x%llx were read already", (unsigned long long)next);
			broken = true;
			break;
		}
		at = next;
	}
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++) {
		struct tracedat_section *s = &w->dir.sections[i];
		if (s->id != TRACEDAT_DONE || s->reached)
			continue;
		if (!broken) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_done_target, s->offset, 16 + s->size,
					      "options that the chain leaves out");
		}
		broken = true;
		options_section(w, (unsigned)i);
	}
}

/* ---- options that name sections ---- */

/* Whether the content is what an option of that id would lead to. */
static bool section_could_be(struct tracedat_walk *w, const struct tracedat_section *s, unsigned id)
{
	if (s->id == id)
		return true;
	for (size_t i = 0; i < w->dir.section_count; i++)
		if (w->dir.sections[i].id == id)
			return false;
	if (id == TRACEDAT_BTF_FILE || id == TRACEDAT_MODULES)
		return false;
	/* The id itself is damaged, or says nothing of its own. */
	return s->id > TRACEDAT_ID_LAST || (s->id != TRACEDAT_DONE && s->id != TRACEDAT_BUFFER && !s->referenced);
}

static int section_of_id(const struct tracedat_walk *w, unsigned id)
{
	for (size_t i = w->dir.section_count; i-- > 0;)
		if (w->dir.sections[i].id == id)
			return (int)i;
	return -1;
}

static void pointer_judge(struct tracedat_walk *w, struct tracedat_option *o, int last[TRACEDAT_ID_LAST + 1])
{
	struct finding *fd;
	int other = section_of_id(w, o->id);

	if (o->size != 8) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_option_section_size, o->block, o->at - 6, 6 + (size_t)o->size,
					   "the option has %u bytes, expected the 8 of an offset", o->size);
		finding_path(fd, "options > %s", tracedat_id_name(o->id));
		if (other < 0) {
			tracedat_option_drop(o, TRACEDAT_RULE_v7_option_section_size, "an option whose section is not found");
			return;
		}
		w->dir.sections[other].referenced = true;
		last[o->id] = other;
		o->rule = TRACEDAT_RULE_v7_option_section_size;
		o->why = "the offset of the section";
		return;
	}
	uint64_t at = load_u64(o->block->data + o->at, w->shape.big_endian);
	int index = tracedat_section_at(&w->dir, at);
	if (index >= 0 && w->dir.sections[index].id == o->id) {
		w->dir.sections[index].referenced = true;
		last[o->id] = index;
		return;
	}
	if (o->id == TRACEDAT_BTF_FILE || o->id == TRACEDAT_MODULES) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_dangling_23_25, o->block, o->at, 8, "no %s section at 0x%llx",
					    tracedat_id_name(o->id), (unsigned long long)at);
		return;
	}
	fd = tracedat_block_finding(w, TRACEDAT_RULE_v7_section_id_mismatch, o->block, o->at, 8);
	finding_path(fd, "options > %s", tracedat_id_name(o->id));
	if (index < 0)
		finding_say(fd, "there is no section at 0x%llx", (unsigned long long)at);
	else
		finding_say(fd, "the section at 0x%llx has id %u, expected %u", (unsigned long long)at, w->dir.sections[index].id,
			    o->id);
	o->rule = TRACEDAT_RULE_v7_section_id_mismatch;
	o->why = "the offset of the section";
	if (index >= 0 && section_could_be(w, &w->dir.sections[index], o->id)) {
		w->dir.sections[index].id = o->id;
		w->dir.sections[index].referenced = true;
		w->dir.sections[index].rule = TRACEDAT_RULE_v7_section_id_mismatch;
		last[o->id] = index;
	} else if (other >= 0) {
		w->dir.sections[other].referenced = true;
		last[o->id] = other;
	} else {
		tracedat_option_drop(o, TRACEDAT_RULE_v7_section_id_mismatch, "an option whose section is not found");
	}
}

static void part_parse(struct tracedat_walk *w, struct tracedat_section *s)
{
	const struct tracedat_block *b = &s->block;
	struct findings *findings = w->findings;
	bool lists = s->id == TRACEDAT_FTRACE_EVENTS || s->id == TRACEDAT_EVENT_FORMATS;

	w->meta.blocks[s->id - TRACEDAT_HEADER_INFO] = b;
	if (s->damage) {
		/* That the rest is missing is told already. */
		w->findings = w->scratch;
		w->events.lost |= lists;
		if (lists && !w->events.finding)
			w->events.finding = s->damage;
	}
	switch (s->id) {
	case TRACEDAT_HEADER_INFO:
		tracedat_header(w, b, 0, b->size);
		break;
	case TRACEDAT_FTRACE_EVENTS:
		tracedat_ftrace(w, b, 0, b->size);
		break;
	case TRACEDAT_EVENT_FORMATS:
		tracedat_systems(w, b, 0, b->size);
		break;
	case TRACEDAT_KALLSYMS:
		tracedat_kallsyms(w, b, 0, b->size);
		break;
	case TRACEDAT_PRINTK:
		tracedat_printk(w, b, 0, b->size);
		break;
	default:
		tracedat_cmdlines(w, b, 0, b->size);
		break;
	}
	w->findings = findings;
}

static void metadata(struct tracedat_walk *w)
{
	int last[TRACEDAT_ID_LAST + 1];
	struct finding *fd;

	for (size_t i = 0; i <= TRACEDAT_ID_LAST; i++)
		last[i] = -1;
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++)
		if (tracedat_id_is_pointer(w->dir.options[i].id) && !w->dir.options[i].dropped)
			pointer_judge(w, &w->dir.options[i], last);
	for (unsigned id = TRACEDAT_HEADER_INFO; id <= TRACEDAT_CMDLINES && w->status == TM_OK; id++) {
		int index = last[id] >= 0 ? last[id] : section_of_id(w, id);
		if (last[id] < 0) {
			bool data = section_of_id(w, TRACEDAT_BUFFER) >= 0;
			enum tracemend_severity severity = id == TRACEDAT_HEADER_INFO	  ? TM_ERROR
							   : id == TRACEDAT_EVENT_FORMATS ? (data ? TM_ERROR : TM_WARNING)
											  : TM_NOTE;
			/* What is there and not named is lost to readers just as well. */
			if (index >= 0 && severity == TM_NOTE)
				severity = TM_WARNING;
			fd = tracedat_milder(w, TRACEDAT_RULE_v7_mandatory_section, severity,
					     index >= 0 ? w->dir.sections[index].offset : w->source->size, index >= 0 ? 16 : 0);
			finding_say(fd, index >= 0 ? "no option names the section of %s" : "there is no section of %s",
				    tracedat_id_name(id));
			if (id == TRACEDAT_EVENT_FORMATS && index < 0 && !w->events.finding) {
				w->events.finding = fd;
				w->events.lost = true;
			}
		}
		if (index >= 0 && tracedat_section_load(w, &w->dir.sections[index])) {
			part_parse(w, &w->dir.sections[index]);
			if (!w->repair)
				tracedat_block_free(&w->dir.sections[index].block);
		} else if (index >= 0 && (id == TRACEDAT_EVENT_FORMATS || id == TRACEDAT_FTRACE_EVENTS)) {
			w->events.lost = true;
			if (!w->events.finding) {
				w->events.finding = tracedat_milder(w, TRACEDAT_RULE_v7_mandatory_section, TM_NOTE,
								    w->dir.sections[index].offset, 16);
				finding_say(w->events.finding, "the content of the section of %s is lost", tracedat_id_name(id));
			}
		}
	}
}

/* ---- strings and what else is to say of sections ---- */

static bool string_begins(const struct tracedat_walk *w, int32_t at)
{
	const struct bytes *b = &w->dir.strings;
	return at >= 0 && (size_t)at < b->size && (at == 0 || !b->data[at - 1]);
}

static void strings(struct tracedat_walk *w)
{
	bool any = false;

	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++) {
		struct tracedat_section *s = &w->dir.sections[i];
		if (s->id != TRACEDAT_STRINGS)
			continue;
		any = true;
		s->referenced = true;
		if (!tracedat_section_load(w, s))
			continue;
		if (!s->block.size || s->block.data[s->block.size - 1]) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_strings_nul, &s->block,
						    s->block.size ? s->block.size - 1 : 0, 1,
						    "the last string does not end in NUL");
		}
		bytes_append(&w->dir.strings, s->block.data, s->block.size);
	}
	if (!any) {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_strings_missing, w->source->size, 0, "there is no strings section");
	}
	uint32_t seen = 0;
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++) {
		const struct tracedat_section *s = &w->dir.sections[i];
		if (s->id > TRACEDAT_ID_LAST) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_id_unknown, s->offset, 16, "section %u of %llu bytes",
					      s->id, (unsigned long long)s->size);
			continue;
		}
		if (s->flags > 1) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_flags, s->offset + 2, 2,
					      "the flags are 0x%x, expected 0 or 1", s->flags);
		}
		if (any && s->description != -1 && !string_begins(w, s->description)) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_desc, s->offset + 4, 4,
					      "the description is string %d, which is not the beginning of one", s->description);
		}
		bool many = s->id == TRACEDAT_DONE || s->id == TRACEDAT_BUFFER || s->id == TRACEDAT_STRINGS ||
			    s->id == TRACEDAT_BUFFER_TEXT;
		if (seen & 1u << s->id && !many) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_duplicate, s->offset, 16, "a second section of %s",
					      tracedat_id_name(s->id));
		}
		seen |= 1u << s->id;
		if ((s->id == TRACEDAT_BTF_FILE || s->id == TRACEDAT_MODULES) && w->shape.codec == TRACEDAT_NONE) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_btf_modules_none, s->offset, 16,
					      "a %s section in a file without compression", tracedat_id_name(s->id));
		}
	}
}

/* ---- buffers ---- */

static void buffer_cpus(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_option *o,
			const struct tracedat_buffer_layout *l, bool be)
{
	uint8_t seen[TRACEDAT_CPUS_MAX / 8] = { 0 };
	const uint8_t *p = o->block->data + o->at + l->entries;
	size_t count = l->count < l->fitting ? l->count : l->fitting;
	int64_t last = -1;
	bool ordered = true;
	struct finding *fd;

	if (!l->exact)
		count = l->fitting;
	for (size_t i = 0; i < count && w->status == TM_OK; i++, p += 20) {
		uint32_t cpu = load_u32(p, be);
		bool twice = cpu < TRACEDAT_CPUS_MAX && seen[cpu / 8] & 1u << cpu % 8;
		if (cpu >= TRACEDAT_CPUS_MAX || twice) {
			fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_cpu_id, o->block, (size_t)(p - o->block->data), 4,
						   twice ? "CPU %u comes twice" : "CPU %u, expected a number below 8192", cpu);
			finding_path(fd, "buffer \"%s\" > entry %zu", b->name, i);
			o->rule = TRACEDAT_RULE_v7_buffer_cpu_id;
			w->data.errors = true;
			continue;
		}
		seen[cpu / 8] |= (uint8_t)(1u << cpu % 8);
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
	if (!ordered) {
		fd = tracedat_block_milder(w, TRACEDAT_RULE_v7_buffer_cpu_id, TM_NOTE, o->block, o->at + l->entries, 20 * count);
		finding_say(fd, "CPUs are not listed in their order");
	}
}

/* Whether the data of the first CPU is at its offset moved by delta. */
static bool buffer_data_at(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_section *s,
			   uint64_t delta)
{
	uint64_t at = b->cpus[0].offset + delta;
	if (s->flags & TRACEDAT_COMPRESSED)
		return tracedat_chunk_begins(w, at + 4, w->source->size);
	const uint8_t *p = tracedat_page_size_ok(w->shape.page_size) ? window_at(&w->window, at, w->shape.page_size) : NULL;
	return p && tracedat_page_plausible(w, p, w->shape.page_size, NULL);
}

/* The section of a buffer whose option leads nowhere: the one around its data; or, where bytes were inserted or removed before,
 * one that moved together with its data. */
static int buffer_section_search(struct tracedat_walk *w, struct tracedat_buffer *b, unsigned id, uint64_t at)
{
	int around = -1;
	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *s = &w->dir.sections[i];
		if (s->id != id || s->referenced)
			continue;
		uint64_t delta = s->offset - at;
		if (b->count && delta + 65536 < 131072 && buffer_data_at(w, b, s, delta)) {
			for (size_t j = 0; j < b->count; j++) {
				b->cpus[j].offset += delta;
				b->cpus[j].shifted = true;
			}
			return (int)i;
		}
		if (!b->count || (b->cpus[0].offset > s->offset && b->cpus[0].offset < s->offset + 16 + s->size))
			around = (int)i;
	}
	return around;
}

/* Where the data does not look as the flag says, and does as it denies, the data tells. */
static void buffer_flag(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_section *s)
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
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_section_compress_flag, s->offset + 2, 2,
					     "the data is %scompressed, the flag says otherwise", chunks ? "" : "not ");
	finding_path(fd, "buffer \"%s\"", b->name);
	b->compressed = chunks;
	s->flags ^= TRACEDAT_COMPRESSED;
}

static void buffer_section(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_option *o, uint64_t at)
{
	unsigned id = b->text ? TRACEDAT_BUFFER_TEXT : TRACEDAT_BUFFER;
	int index = tracedat_section_at(&w->dir, at);

	if (index < 0 || w->dir.sections[index].id != id) {
		struct finding *fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_section, o->block, o->at, 8,
							   "no section of event data at 0x%llx", (unsigned long long)at);
		finding_path(fd, "buffer \"%s\"", b->name);
		o->rule = TRACEDAT_RULE_v7_buffer_section;
		index = buffer_section_search(w, b, id, at);
	}
	b->section = index;
	if (index < 0) {
		/* Repair makes a section for it; whether its data is compressed the data tells. */
		b->compressed = b->count && w->shape.codec != TRACEDAT_NONE &&
				tracedat_chunk_begins(w, b->cpus[0].offset + 4, w->source->size);
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

/* Whether an option before it says the same, of the same event data. */
static bool buffer_is_told(const struct tracedat_walk *w, size_t index)
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

static void buffer_option(struct tracedat_walk *w, size_t index)
{
	struct tracedat_option *o = &w->dir.options[index];
	const uint8_t *p = o->block->data + o->at;
	struct tracedat_buffer_layout l;
	char shown[TEXT_QUOTE_SIZE];
	struct finding *fd;
	bool text = o->id == TRACEDAT_BUFFER_TEXT, be = w->shape.big_endian;

	if (!tracedat_buffer_layout(p, o->size, be, text, &l)) {
		(void)tracedat_block_report(w, text ? TRACEDAT_RULE_option_buffer_name : TRACEDAT_RULE_v7_buffer_layout, o->block,
					    o->at, o->size,
					    "name and clock of the buffer do not end in NUL, or nothing follows them");
		tracedat_option_drop(o, TRACEDAT_RULE_v7_buffer_layout, "a buffer option that cannot be read");
		w->data.errors = true;
		return;
	}
	if (buffer_is_told(w, index)) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_section, o->block, o->at, 8,
					    "the event data at 0x%llx is that of an option before: readers show its events twice",
					    (unsigned long long)l.offset);
		tracedat_option_drop(o, TRACEDAT_RULE_v7_buffer_section, "a buffer that is named twice");
		return;
	}
	/* Written by trace-cmd on a machine of the other byte order: section 4 of its own output it cannot read. */
	if (tracedat_section_at(&w->dir, l.offset) < 0 && tracedat_section_at(&w->dir, __builtin_bswap64(l.offset)) >= 0) {
		be = !be;
		(void)tracedat_buffer_layout(p, o->size, be, text, &l);
		if (!findings_count(w->findings, TRACEDAT_RULE_v7_done_host_order)) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_host_order, o->block, o->at, 8,
						    "the numbers of the buffer option are in the other byte order");
		}
		o->rule = TRACEDAT_RULE_v7_done_host_order;
	}
	struct tracedat_buffer *b = tracedat_buffer_add(w);
	if (!b)
		return;
	o->buffer = (int)w->data.buffer_count - 1;
	b->option = index;
	b->text = text;
	text_sanitise(b->name, sizeof(b->name), text_quote(shown, l.name, l.name_size - 1));
	bytes_append(&b->raw_name, l.name, l.name_size);
	bytes_append(&b->clock, l.clock, l.clock_size);
	b->page_size = l.page_size;
	if (!l.exact) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_layout, o->block, o->at, o->size,
					   "%u CPUs do not fill the %u bytes of the option; %zu do", l.count, o->size, l.fitting);
		finding_path(fd, "buffer \"%s\"", b->name);
		o->rule = TRACEDAT_RULE_v7_buffer_layout;
	}
	if (l.clock_size > 1 && !tracedat_clock_known(l.clock, l.clock_size - 1)) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_clock_unknown, o->block, o->at + 8 + l.name_size,
					   l.clock_size, "the clock is \"%s\"", text_quote(shown, l.clock, l.clock_size - 1));
		finding_path(fd, "buffer \"%s\"", b->name);
	}
	if (text) {
		buffer_section(w, b, o, l.offset);
		return;
	}
	if (w->prefix.page_size_bad && !w->meta.header_page_size && l.name_size == 1 && tracedat_page_size_ok(l.page_size))
		w->shape.page_size = l.page_size;
	if (!tracedat_page_size_ok(l.page_size) || (l.name_size == 1 && l.page_size != w->shape.page_size)) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_buffer_page_size, o->block, o->at + 8 + l.name_size + l.clock_size,
					   4, "the page size is %u, the file has %u", l.page_size, w->shape.page_size);
		finding_path(fd, "buffer \"%s\"", b->name);
		o->rule = TRACEDAT_RULE_v7_buffer_page_size;
		b->page_size = w->shape.page_size;
	}
	buffer_cpus(w, b, o, &l, be);
	buffer_section(w, b, o, l.offset);
}

static void buffers(struct tracedat_walk *w)
{
	bool any = false;
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++)
		if ((w->dir.options[i].id == TRACEDAT_BUFFER || w->dir.options[i].id == TRACEDAT_BUFFER_TEXT) &&
		    !w->dir.options[i].dropped) {
			any = true;
			buffer_option(w, i);
		}
	bool section = false;
	for (size_t i = 0; i < w->dir.section_count; i++) {
		struct tracedat_section *s = &w->dir.sections[i];
		if ((s->id != TRACEDAT_BUFFER && s->id != TRACEDAT_BUFFER_TEXT) || s->referenced)
			continue;
		section = true;
		w->data.errors = true;
		if (any)
			continue;
		(void)tracedat_report(w, TRACEDAT_RULE_v7_buffer_missing, s->offset, 16,
				      "event data of %llu bytes that no option names", (unsigned long long)s->size);
		any = true;
	}
	if (!any && !section) {
		struct finding *fd = tracedat_milder(w, TRACEDAT_RULE_v7_buffer_missing, TM_NOTE, w->source->size, 0);
		finding_say(fd, "the file has metadata only, no event data");
	}
}

void tracedat_v7(struct tracedat_walk *w)
{
	tracedat_sections_find(w);
	if (w->status == TM_OK)
		chain_follow(w);
	if (w->status == TM_OK)
		metadata(w);
	if (w->status == TM_OK)
		strings(w);
	if (!w->shape.long_size)
		w->shape.long_size = w->prefix.user_long == 4 ? 4 : 8;
	if (!tracedat_page_size_ok(w->shape.page_size))
		w->shape.page_size = w->meta.header_page_size ? w->meta.header_page_size : 4096;
	if (w->status == TM_OK)
		buffers(w);
}
