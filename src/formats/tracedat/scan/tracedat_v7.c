/* Version 7: sections and the chain of options that names them (MAN7 "OPTIONS", "SECTIONS"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

/* ---- the chain ---- */

static void options_section(struct tracedat_walk *w, unsigned index)
{
	struct tracedat_section *section = &w->dir.sections[index];
	section->reached = section->referenced = true;
	section->done = SIZE_MAX;
	if (!tracedat_section_load(w, section))
		return;
	section->first_option = w->dir.option_count;
	struct findings *findings = w->findings;
	if (section->cut) {
		/* That the rest is missing is reported already. */
		w->findings = w->scratch;
		w->dir.chain_cut = true;
	}
	size_t after = tracedat_options_parse(w, &section->block, 0, section->block.size, index);
	w->findings = findings;
	section = &w->dir.sections[index];
	section->option_count = w->dir.option_count - section->first_option;
	if (after != SIZE_MAX && after < section->block.size) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_not_last, &section->block, after, section->block.size - after,
					    "%zu bytes after the end of the options", section->block.size - after);
		w->out.lost_other = true;
		tracedat_drop_block(w, &section->block, after, section->block.size - after, TRACEDAT_RULE_v7_done_not_last,
				    "bytes after the end of the options");
	}
}

/* The offset of the next options section; 0: the chain ends; UINT64_MAX: it is broken. */
static uint64_t chain_next(const struct tracedat_walk *w, const struct tracedat_section *section)
{
	if (!section->has_done)
		return UINT64_MAX;
	const uint8_t *p = section->block.data + section->done;
	bool swapped = load_u32(p + 2, w->shape.big_endian) == 0x08000000;
	uint64_t next = load_u64(p + 6, w->shape.big_endian);
	return swapped && tracedat_section_at(&w->dir, next) < 0 ? __builtin_bswap64(next) : next;
}

/* Sections of unknown kind whose content is options: their id was hit. */
static void options_find(struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->dir.section_count; i++) {
		struct tracedat_section *section = &w->dir.sections[i];
		const uint8_t *p = !tracedat_id_is_section(section->id) && !(section->flags & TRACEDAT_COMPRESSED) &&
						   section->size <= WINDOW_SPAN_MAX
					   ? window_at(&w->window, section->offset + TRACEDAT_SECTION_SIZE, (size_t)section->size)
					   : NULL;
		if (!p || !tracedat_options_fit(&w->shape, p, 0, (size_t)section->size))
			continue;
		(void)tracedat_report(w, TRACEDAT_RULE_v7_section_id_mismatch, section->offset, 2,
				      "the section has id %u, its content is options", section->id);
		section->id = TRACEDAT_DONE;
		section->rule = TRACEDAT_RULE_v7_section_id_mismatch;
	}
}

/* Whether an option says that a section of another kind begins there: the id of the section was hit. */
static bool pointer_names(const struct tracedat_walk *w, uint64_t offset)
{
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (o->size == 8 && tracedat_id_is_pointer(o->id) &&
		    load_u64(o->block->data + o->at, w->shape.big_endian) == offset)
			return true;
	}
	return false;
}

/* Whether the options at an offset, where there are none, were behind the end of a file that is cut. Where that is not known
 * yet, a file without strings and with no other options is: they come last. */
static bool chain_is_cut(struct tracedat_walk *w, uint64_t at)
{
	if (at < w->source->size && w->source->size - at >= TRACEDAT_SECTION_SIZE)
		return false;
	for (size_t i = 0; i < w->dir.section_count && !w->dir.truncated; i++)
		if (w->dir.sections[i].id == TRACEDAT_STRINGS ||
		    (w->dir.sections[i].id == TRACEDAT_DONE && !w->dir.sections[i].reached))
			return false;
	if (!tracedat_cut_explains(w, w->dir.truncated))
		w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, w->source->size, 0,
						   "the file ends before the options at 0x%llx", (unsigned long long)at);
	w->dir.chain_cut = true;
	return true;
}

/* The index of the options section that the chain means by an offset; -1: there is none. */
static int chain_target(struct tracedat_walk *w, unsigned rule, uint64_t at)
{
	int index = tracedat_section_at(&w->dir, at);

	if (index >= 0 && w->dir.sections[index].id == TRACEDAT_DONE)
		return index;
	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *section = &w->dir.sections[i];
		if (section->id == TRACEDAT_DONE && tracedat_shift_explains(w, rule, section, section->offset - at))
			return (int)i;
	}
	return -1;
}

/* Reports that the first options are not at their offset. Where all that follows is moved, they are what shows it. */
static void first_missing(struct tracedat_walk *w, uint64_t at)
{
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_options_offset, w->prefix.options_at, 8,
					     "the offset of the first options is 0x%llx, where there is no options section",
					     (unsigned long long)at);
	for (size_t i = 0; i < w->dir.section_count; i++)
		if (w->dir.sections[i].id == TRACEDAT_DONE) {
			tracedat_shift_note(w, fd, w->dir.sections[i].offset - at);
			break;
		}
}

static void chain_follow(struct tracedat_walk *w)
{
	uint64_t at = w->prefix.options_offset;
	bool broken = false;

	if (w->prefix.options_at) {
		int first = chain_target(w, TRACEDAT_RULE_v7_options_offset, at);
		if (first >= 0) {
			at = w->dir.sections[first].offset;
		} else {
			if (!chain_is_cut(w, at))
				first_missing(w, at);
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
		const struct tracedat_section *section = &w->dir.sections[index];
		uint64_t next = chain_next(w, section);
		if (next == UINT64_MAX) {
			broken = true;
			break;
		}
		if (!next)
			break;
		int target = chain_target(w, TRACEDAT_RULE_v7_done_target, next);
		if (target < 0) {
			if (!chain_is_cut(w, next))
				(void)tracedat_block_report(
					w, TRACEDAT_RULE_v7_done_target, &section->block, section->done + 6, 8,
					"the offset of the next options is 0x%llx, where there is no options section",
					(unsigned long long)next);
			broken = true;
			break;
		}
		if (w->dir.sections[target].reached) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_cycle, &section->block, section->done + 6, 8,
						    "the offset of the next options is 0x%llx, which is a cycle",
						    (unsigned long long)next);
			broken = true;
			break;
		}
		at = w->dir.sections[target].offset;
	}
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++) {
		struct tracedat_section *section = &w->dir.sections[i];
		if (section->id != TRACEDAT_DONE || section->reached || pointer_names(w, section->offset))
			continue;
		if (!broken) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_done_target, section->offset, 16 + section->size,
					      "an options section that is not in the chain");
		}
		broken = true;
		options_section(w, (unsigned)i);
	}
}

/* ---- options that name sections ---- */

/* Whether the section may be the one that an option of that id means. */
static bool section_could_be(struct tracedat_directory *dir, const struct tracedat_section *section, unsigned id)
{
	if (section->id == id)
		return true;
	for (size_t i = 0; i < dir->section_count; i++)
		if (dir->sections[i].id == id)
			return false;
	if (id == TRACEDAT_BTF_FILE || id == TRACEDAT_MODULES)
		return false;
	/* Its id is damaged, or no option names it. */
	return section->id > TRACEDAT_ID_LAST ||
	       ((section->id != TRACEDAT_DONE || !section->reached) && section->id != TRACEDAT_BUFFER && !section->referenced);
}

/* What options say of the sections of each kind. */
struct named {
	int last[TRACEDAT_ID_LAST + 1];			/* index of the last that is named; -1: none is */
	struct finding *dangling[TRACEDAT_ID_LAST + 1]; /* reports an offset without such a section; NULL: there is none */
};

static void pointer_check(struct tracedat_walk *w, struct tracedat_option *o, struct named *named)
{
	struct finding *fd;
	int other = tracedat_section_of(&w->dir, o->id);

	if (o->size != 8) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_v7_option_section_size, o->block, o->at - 6, 6 + (size_t)o->size,
					   "the size of the option is %u, expected 8", o->size);
		finding_path(fd, "options > %s", tracedat_id_name(o->id));
		if (other < 0) {
			tracedat_option_drop(o, TRACEDAT_RULE_v7_option_section_size, "an option whose section is not found");
			return;
		}
		w->dir.sections[other].referenced = true;
		named->last[o->id] = other;
		o->rule = TRACEDAT_RULE_v7_option_section_size;
		o->why = "the offset of the section";
		return;
	}
	uint64_t at = load_u64(o->block->data + o->at, w->shape.big_endian);
	int index = tracedat_section_at(&w->dir, at);
	if (index >= 0 && w->dir.sections[index].id == o->id) {
		w->dir.sections[index].referenced = true;
		named->last[o->id] = index;
		return;
	}
	if (o->id == TRACEDAT_BTF_FILE || o->id == TRACEDAT_MODULES) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_dangling_23_25, o->block, o->at, 8, "no %s section at 0x%llx",
					    tracedat_id_name(o->id), (unsigned long long)at);
		return;
	}
	o->rule = TRACEDAT_RULE_v7_section_id_mismatch;
	o->why = "the offset of the section";
	if (other >= 0 && tracedat_shift_explains(w, o->rule, &w->dir.sections[other], w->dir.sections[other].offset - at)) {
		w->dir.sections[other].referenced = true;
		named->last[o->id] = other;
		return;
	}
	fd = tracedat_block_finding(w, TRACEDAT_RULE_v7_section_id_mismatch, o->block, o->at, 8);
	finding_path(fd, "options > %s", tracedat_id_name(o->id));
	if (index < 0)
		finding_say(fd, "there is no section at 0x%llx", (unsigned long long)at);
	else
		finding_say(fd, "the section at 0x%llx has id %u, expected %u", (unsigned long long)at, w->dir.sections[index].id,
			    o->id);
	if (index >= 0 && section_could_be(&w->dir, &w->dir.sections[index], o->id)) {
		w->dir.sections[index].id = o->id;
		w->dir.sections[index].referenced = true;
		w->dir.sections[index].rule = TRACEDAT_RULE_v7_section_id_mismatch;
		named->last[o->id] = index;
	} else if (other >= 0) {
		w->dir.sections[other].referenced = true;
		named->last[o->id] = other;
		tracedat_shift_note(w, fd, w->dir.sections[other].offset - at);
	} else {
		tracedat_option_drop(o, TRACEDAT_RULE_v7_section_id_mismatch, "an option whose section is not found");
		named->dangling[o->id] = fd;
	}
}

static void part_parse(struct tracedat_walk *w, struct tracedat_section *section)
{
	const struct tracedat_block *b = &section->block;
	struct findings *findings = w->findings;
	bool lists = section->id == TRACEDAT_FTRACE_EVENTS || section->id == TRACEDAT_EVENT_FORMATS;

	w->meta.blocks[section->id - TRACEDAT_HEADER_INFO] = b;
	if (section->damage || section->cut) {
		/* That the rest is missing is reported already. */
		w->findings = w->scratch;
		w->events.lost |= lists;
		if (lists && !w->events.finding)
			w->events.finding = section->damage ? section->damage : w->dir.truncated;
	}
	switch (section->id) {
	case TRACEDAT_HEADER_INFO:
		tracedat_header_parse(w, b, 0, b->size);
		break;
	case TRACEDAT_FTRACE_EVENTS:
		tracedat_ftrace_parse(w, b, 0, b->size);
		break;
	case TRACEDAT_EVENT_FORMATS:
		tracedat_systems_parse(w, b, 0, b->size);
		break;
	case TRACEDAT_KALLSYMS:
		tracedat_kallsyms_parse(w, b, 0, b->size);
		break;
	case TRACEDAT_PRINTK:
		tracedat_printk_parse(w, b, 0, b->size);
		break;
	default:
		tracedat_cmdlines_parse(w, b, 0, b->size);
		break;
	}
	w->findings = findings;
}

/* Reports a section that no option names, or that is not there. index: of one with that id, or -1. dangling: an offset that leads
 * to none was reported. */
static void part_unnamed(struct tracedat_walk *w, unsigned id, int index, struct finding *dangling)
{
	bool data = tracedat_section_of(&w->dir, TRACEDAT_BUFFER) >= 0, there = index >= 0;
	if (tracedat_cut_explains(w, w->dir.chain_cut)) {
		if (id == TRACEDAT_EVENT_FORMATS && !there && !w->events.finding) {
			w->events.finding = w->dir.truncated;
			w->events.lost = true;
		}
		return;
	}
	/* Without event data readers need neither headers nor formats, and only the options are mandatory. */
	enum tracemend_severity severity = id == TRACEDAT_HEADER_INFO ? (data || w->dir.section_count > 1 ? TM_ERROR : TM_WARNING)
					   : id == TRACEDAT_EVENT_FORMATS ? (data ? TM_ERROR : TM_WARNING)
									  : TM_NOTE;
	/* Readers do not find a section that no option names. */
	if (there && severity == TM_NOTE)
		severity = TM_WARNING;
	struct finding *fd = dangling;
	if (dangling) {
		tracedat_follows(w, TRACEDAT_RULE_v7_mandatory_section, dangling);
	} else {
		fd = tracedat_milder(w, TRACEDAT_RULE_v7_mandatory_section, severity,
				     there ? w->dir.sections[index].offset : w->source->size, there ? 16 : 0);
		finding_say(fd, there ? "no option names the section of %s" : "there is no section of %s", tracedat_id_name(id));
	}
	if (id == TRACEDAT_EVENT_FORMATS && !there && !w->events.finding) {
		w->events.finding = fd;
		w->events.lost = true;
	}
}

/* Loads and parses a part; without its content, records of unknown events are explained by that. */
static void part_read(struct tracedat_walk *w, unsigned id, struct tracedat_section *section)
{
	if (tracedat_section_load(w, section)) {
		part_parse(w, section);
		/* A sink reads the formats of events again. */
		if (!w->repair && !w->s->sink)
			tracedat_block_free(&section->block);
		return;
	}
	if (id != TRACEDAT_EVENT_FORMATS && id != TRACEDAT_FTRACE_EVENTS)
		return;
	w->events.lost = true;
	if (w->events.finding)
		return;
	w->events.finding = tracedat_milder(w, TRACEDAT_RULE_v7_mandatory_section, TM_NOTE, section->offset, 16);
	finding_say(w->events.finding, "the content of the section of %s is lost", tracedat_id_name(id));
}

/* Whether the file has options, none of which names a section, and no other section. */
static bool options_stand_alone(const struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->dir.section_count; i++)
		if (w->dir.sections[i].id != TRACEDAT_DONE)
			return false;
	for (size_t i = 0; i < w->dir.option_count; i++)
		if (tracedat_id_is_pointer(w->dir.options[i].id) || w->dir.options[i].id == TRACEDAT_BUFFER ||
		    w->dir.options[i].id == TRACEDAT_BUFFER_TEXT)
			return false;
	return w->dir.section_count && !w->dir.chain_cut && !w->dir.truncated;
}

static void metadata(struct tracedat_walk *w)
{
	struct named named = { 0 };

	w->dir.alone = options_stand_alone(w);
	if (w->dir.alone) {
		w->events.finding = tracedat_milder(w, TRACEDAT_RULE_v7_mandatory_section, TM_WARNING, w->source->size, 0);
		finding_say(w->events.finding, "the file has options only: no headers, formats, strings or event data");
		w->events.lost = true;
		return;
	}
	for (size_t i = 0; i <= TRACEDAT_ID_LAST; i++)
		named.last[i] = -1;
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++)
		if (tracedat_id_is_pointer(w->dir.options[i].id) && !w->dir.options[i].dropped)
			pointer_check(w, &w->dir.options[i], &named);
	for (unsigned id = TRACEDAT_HEADER_INFO; id <= TRACEDAT_CMDLINES && w->status == TM_OK; id++) {
		int index = named.last[id] >= 0 ? named.last[id] : tracedat_section_of(&w->dir, id);
		if (named.last[id] < 0)
			part_unnamed(w, id, index, named.dangling[id]);
		if (index >= 0)
			part_read(w, id, &w->dir.sections[index]);
	}
}

/* ---- strings and checks of all sections ---- */

static bool string_begins(const struct tracedat_directory *dir, int32_t at)
{
	const struct bytes *b = &dir->strings;
	return at >= 0 && (size_t)at < b->size && (at == 0 || !b->data[at - 1]);
}

static void strings(struct tracedat_walk *w)
{
	bool any = false, cut = false;

	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++) {
		struct tracedat_section *section = &w->dir.sections[i];
		if (section->id != TRACEDAT_STRINGS)
			continue;
		any = true;
		cut |= section->cut;
		section->referenced = true;
		if (!tracedat_section_load(w, section))
			continue;
		if (!section->cut && (!section->block.size || section->block.data[section->block.size - 1])) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_v7_strings_nul, &section->block,
						    section->block.size ? section->block.size - 1 : 0, 1,
						    "the last string does not end in NUL");
		}
		bytes_append(&w->dir.strings, section->block.data, section->block.size);
	}
	if (!any && !w->dir.alone && !tracedat_cut_explains(w, w->dir.truncated))
		(void)tracedat_report(w, TRACEDAT_RULE_v7_strings_missing, w->source->size, 0, "there is no strings section");
	uint32_t seen = 0;
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++) {
		const struct tracedat_section *section = &w->dir.sections[i];
		if (section->id > TRACEDAT_ID_LAST) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_id_unknown, section->offset, 16,
					      "unknown section %u of %llu bytes", section->id, (unsigned long long)section->size);
			continue;
		}
		if (section->flags > 1) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_flags, section->offset + 2, 2,
					      "the flags are 0x%x, expected 0 or 1", section->flags);
		}
		if (any && section->description != -1 && !string_begins(&w->dir, section->description)) {
			if (tracedat_cut_explains(w, cut))
				continue;
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_desc, section->offset + 4, 4,
					      "the description is at %d of the strings, which is not the beginning of one",
					      section->description);
		}
		bool many = section->id == TRACEDAT_DONE || section->id == TRACEDAT_BUFFER || section->id == TRACEDAT_STRINGS ||
			    section->id == TRACEDAT_BUFFER_TEXT;
		if (seen & 1u << section->id && !many) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_duplicate, section->offset, 16, "a second section of %s",
					      tracedat_id_name(section->id));
		}
		seen |= 1u << section->id;
		if ((section->id == TRACEDAT_BTF_FILE || section->id == TRACEDAT_MODULES) && w->shape.codec == TRACEDAT_NONE) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_btf_modules_none, section->offset, 16,
					      "a %s section in a file without compression", tracedat_id_name(section->id));
		}
	}
}

void tracedat_v7_read(struct tracedat_walk *w)
{
	tracedat_sections_find(w);
	options_find(w);
	if (w->status == TM_OK)
		chain_follow(w);
	if (w->status == TM_OK)
		tracedat_options_identify(w);
	if (w->status == TM_OK)
		tracedat_headings_read(w);
	if (w->status == TM_OK)
		metadata(w);
	if (w->status == TM_OK)
		strings(w);
	if (!w->shape.long_size)
		w->shape.long_size = w->prefix.user_long == 4 ? 4 : 8;
	if (!tracedat_page_size_ok(w->shape.page_size))
		w->shape.page_size = w->meta.header_page_size ? w->meta.header_page_size : 4096;
	if (w->status == TM_OK)
		tracedat_v7_buffers(w);
}
