/* Version 6: one sequence without a table of contents, read forward by its sizes. */
#include "core/text.h"
#include "formats/tracedat/decode/tracedat_format_list.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_v6.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_LOAD (1u << 20)
/* Kernels have about 150 event systems; with far more their number is damage. */
#define SYSTEMS_USUAL 1024u
/* The tables of instances begin behind pages. */
#define INSTANCE_AWAY 1024u

/* Bytes of zeros that hit the beginning of a text, and of a line of symbols. */
#define ZEROS_MOST 4096u
#define LINE_MOST 256u

static bool tag_exact(const uint8_t *p)
{
	return !memcmp(p, "options  ", 10) || !memcmp(p, "flyrecord", 10) || !memcmp(p, "latency  ", 10);
}

/* ---- forward ---- */

static bool forward_header(struct tracedat_v6 *v)
{
	const uint8_t *d = v->data;
	size_t at = v->m.header;
	if (v->size < at + 20 || memcmp(d + at, "header_page", 12))
		return false;
	uint64_t size = load_u64(d + at + 12, v->w->shape.big_endian);
	if (size > TRACEDAT_HEADER_MAX || v->size - at - 20 < size + 21 || memcmp(d + at + 20 + size, "header_event", 13))
		return false;
	at += 20 + (size_t)size + 13;
	size = load_u64(d + at, v->w->shape.big_endian);
	if (size > TRACEDAT_HEADER_MAX || v->size - at - 8 < size + 4)
		return false;
	at += 8 + (size_t)size;
	/* The number of ftrace formats, then the first of them; or 0, and the systems. */
	if (!tracedat_format_begins(d, at + 4, v->size) && load_u32(d + at, v->w->shape.big_endian))
		return false;
	v->m.ftrace = at;
	return true;
}

static bool forward_formats(struct tracedat_v6 *v)
{
	const struct tracedat_walk *w = v->w;
	size_t at = v->m.ftrace;
	size_t systems = tracedat_formats_end(w->shape.big_endian, v->data, at + 4, v->size,
					      load_u32(v->data + at, w->shape.big_endian));
	if (systems != TRACEDAT_V6_UNKNOWN && tracedat_format_begins(v->data, systems, v->size))
		return false; /* more than counted */
	size_t end = systems != TRACEDAT_V6_UNKNOWN ? tracedat_systems_end(w->shape.big_endian, v->data, systems, v->size)
						    : TRACEDAT_V6_UNKNOWN;
	if (end == TRACEDAT_V6_UNKNOWN || v->size - end < 4) {
		/* The file may end inside of the next number. */
		if (systems != TRACEDAT_V6_UNKNOWN && (v->size - systems < 4 || end != TRACEDAT_V6_UNKNOWN)) {
			v->m.systems = systems;
			v->m.kallsyms = end;
			return false;
		}
		/* Behind ftrace formats that are whole; the first system is damaged. */
		bool counted = systems != TRACEDAT_V6_UNKNOWN && load_u32(v->data + at, w->shape.big_endian) &&
			       v->size - systems >= 4 && load_u32(v->data + systems, w->shape.big_endian) - 1 < SYSTEMS_USUAL;
		v->m.systems = counted ? systems : v->m.systems;
		return false;
	}
	v->m.systems = systems;
	v->m.kallsyms = end;
	return true;
}

/* Whether another system begins where the formats should end: their number is wrong, and kallsyms comes later. */
static bool more_formats(const struct tracedat_v6 *v)
{
	size_t at = v->m.kallsyms;
	const uint8_t *name = memchr(v->data + at, 0, v->size - at < 256 ? v->size - at : 256);
	return name && tracedat_format_begins(v->data, (size_t)(name - v->data) + 5, v->size);
}

static bool forward_texts(struct tracedat_v6 *v)
{
	const uint8_t *d = v->data;
	bool be = v->w->shape.big_endian;
	size_t at = v->m.kallsyms;
	uint64_t size = load_u32(d + at, be);
	if (size > v->size - at - 4 || v->size - at - 4 - size < 4)
		return false;
	size_t printk = at + 4 + (size_t)size;
	size = load_u32(d + printk, be);
	if (size > v->size - printk - 4 || v->size - printk - 4 - size < 8)
		return false;
	size_t cmdlines = printk + 4 + (size_t)size;
	size = load_u64(d + cmdlines, be);
	if (size > v->size - cmdlines - 8 || v->size - cmdlines - 8 - size < 14)
		return false;
	size_t cpus = cmdlines + 8 + (size_t)size;
	if (!tracedat_v6_tag(d + cpus + 4))
		return false;
	v->m.printk = printk;
	v->m.cmdlines = cmdlines;
	v->m.cpus = cpus;
	v->m.tag = cpus + 4;
	return true;
}

/* Whether the number there is 0; one that the end of the file cuts is not. */
static bool number_is_zero(const struct tracedat_v6 *v, size_t at)
{
	return at != TRACEDAT_V6_UNKNOWN && v->size - at >= 4 && !load_u32(v->data + at, v->w->shape.big_endian);
}

/* Whether the zeros at `at`, of a size that was hit and some bytes of the first line, end in front of lines of symbols. */
static bool symbols_follow(const struct tracedat_v6 *v, size_t at)
{
	const size_t first = at;

	while (at < v->size && at - first < ZEROS_MOST && !v->data[at])
		at++;
	const size_t room = v->size - at < LINE_MOST ? v->size - at : LINE_MOST;
	const uint8_t *lf = memchr(v->data + at, '\n', room);
	size_t line = lf ? (size_t)(lf - v->data) + 1 : v->size, digits = 0;
	while (v->size - line > digits + 3 && digits < 16 && isxdigit(v->data[line + digits]))
		digits++;
	const uint8_t *p = v->data + line + digits;
	return (digits == 8 || digits == 16) && p[0] == ' ' && isalpha(p[1]) && p[2] == ' ';
}

static bool forward(struct tracedat_v6 *v)
{
	struct tracedat_v6_map *m = &v->m;
	*m = (struct tracedat_v6_map){ (size_t)v->w->prefix.end, TRACEDAT_V6_UNKNOWN, TRACEDAT_V6_UNKNOWN, TRACEDAT_V6_UNKNOWN,
				       TRACEDAT_V6_UNKNOWN,	 TRACEDAT_V6_UNKNOWN, TRACEDAT_V6_UNKNOWN, TRACEDAT_V6_UNKNOWN };
	if (forward_header(v) && forward_formats(v) && forward_texts(v))
		return true;
	/* Systems follow their number, which is wrong. */
	bool counted_zero = m->kallsyms != TRACEDAT_V6_UNKNOWN && more_formats(v);
	if (counted_zero)
		m->kallsyms = TRACEDAT_V6_UNKNOWN;
	/* Counts and sizes of 0 lead through any zeros: without a tag at the end they are not accepted. */
	if (number_is_zero(v, m->kallsyms) && !symbols_follow(v, m->kallsyms))
		m->kallsyms = TRACEDAT_V6_UNKNOWN;
	if (number_is_zero(v, m->systems) && !counted_zero)
		m->systems = m->kallsyms = TRACEDAT_V6_UNKNOWN;
	if (number_is_zero(v, m->ftrace))
		m->ftrace = m->systems = m->kallsyms = TRACEDAT_V6_UNKNOWN;
	return false;
}

/* The metadata ends at `size`: blocks beyond it are another file's. */
static void map_cut(struct tracedat_v6 *v, size_t size)
{
	size_t *const places[] = {
		&v->m.ftrace, &v->m.systems, &v->m.kallsyms, &v->m.printk, &v->m.cmdlines, &v->m.cpus, &v->m.tag
	};
	v->size = size;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (*places[i] > size || size - *places[i] < 4)
			*places[i] = TRACEDAT_V6_UNKNOWN;
}

/* Whether the file ends inside of the number of CPUs at `at`, or the tag behind it. */
static bool count_is_cut(const struct tracedat_v6 *v, size_t at)
{
	static const char tags[][TRACEDAT_TAG_SIZE] = { "options  ", "flyrecord", "latency  " };
	size_t left = v->size - at;

	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags) && left < 4 + TRACEDAT_TAG_SIZE; i++)
		if (left <= 4 || !memcmp(v->data + at + 4, tags[i], left - 4))
			return true;
	return false;
}

/* Whether the file ends inside of one of the texts: sizes lead from one to the next, and the last one is larger than the rest of
 * the file, which is text. */
static bool texts_cut(struct tracedat_v6 *v)
{
	struct tracedat_v6_map *m = &v->m;
	bool be = v->w->shape.big_endian;
	size_t *const places[] = { &m->kallsyms, &m->printk, &m->cmdlines };
	struct tracedat_v6_map before = *m;

	for (size_t i = 0, at = m->kallsyms; i < 3 && at != TRACEDAT_V6_UNKNOWN; i++) {
		size_t width = i == 2 ? 8 : 4;
		*places[i] = at;
		if (v->size - at < width)
			return true;
		uint64_t size = width == 8 ? load_u64(v->data + at, be) : load_u32(v->data + at, be);
		at += width;
		if (size > v->size - at) {
			if (size <= TRACEDAT_BLOCK_MAX && !memchr(v->data + at, 0, v->size - at))
				return true;
			break;
		}
		at += (size_t)size;
		if (i == 2 && count_is_cut(v, at)) {
			m->cpus = at;
			return true;
		}
	}
	*m = before;
	return false;
}

/* ---- loading ---- */

static bool load(struct tracedat_walk *w, struct tracedat_v6 *v, uint64_t size)
{
	struct tracedat_block *b = &w->meta.v6;
	uint8_t *grown = realloc(b->data, (size_t)size + 16);
	if (!grown) {
		tracedat_no_memory(w);
		return false;
	}
	b->data = grown;
	if (source_read(w->source, b->size, b->data + b->size, (size_t)size - b->size) != TM_OK) {
		w->status = w->source->bundle->error.status;
		return false;
	}
	memset(b->data + size, 0, 16);
	b->size = (size_t)size;
	b->stored = size;
	b->name = "metadata";
	v->data = b->data;
	v->size = b->size;
	return true;
}

/* Whether the options that follow the tag, if it is theirs, end in what is loaded, and the next tag as well. */
static bool options_loaded(const struct tracedat_v6 *v)
{
	bool be = v->w->shape.big_endian;
	size_t at = v->m.tag + TRACEDAT_TAG_SIZE;

	if (tracedat_v6_tag(v->data + v->m.tag) != 1)
		return true;
	while (v->size - at >= TRACEDAT_OPTION_HEADER && load_u16(v->data + at, be)) {
		uint32_t size = load_u32(v->data + at + 2, be);
		at += TRACEDAT_OPTION_HEADER;
		if (size > v->size - at)
			return false;
		at += size;
	}
	return v->size - at >= 2 + TRACEDAT_TAG_SIZE;
}

/* Loads as much as the metadata needs, or as the limit allows if its end is unknown. */
static bool load_metadata(struct tracedat_walk *w, struct tracedat_v6 *v)
{
	uint64_t whole = w->source->size < TRACEDAT_BLOCK_MAX ? w->source->size : TRACEDAT_BLOCK_MAX;
	uint64_t size = whole < FIRST_LOAD ? whole : FIRST_LOAD;
	for (;;) {
		if (!load(w, v, size))
			return false;
		if ((forward(v) && options_loaded(v)) || size == whole)
			return true;
		size = 4 * size < whole ? 4 * size : whole;
	}
}

/* The kind of an invalid tag, by what follows it. */
static unsigned tag_infer(const struct tracedat_v6 *v, size_t tag)
{
	const struct tracedat_walk *w = v->w;
	size_t at = tag + TRACEDAT_TAG_SIZE;
	size_t fly = tracedat_v6_find(v, at, "flyrecord", 10);
	/* The first may be one that nobody knows. */
	if (fly != TRACEDAT_V6_UNKNOWN &&
	    (tracedat_options_fit(&w->shape, v->data, at, fly) || tracedat_options_lead(&w->shape, v->data, at, fly) != SIZE_MAX))
		return 1;
	if (v->size - at >= 16) {
		uint64_t offset = load_u64(v->data + at, w->shape.big_endian);
		if (offset >= at && offset <= w->source->size + TRACEDAT_PAGE_MAX && !(offset % 1024))
			return 2;
	}
	size_t text = at;
	while (text < v->size && text < at + 64 &&
	       (v->data[text] == '\n' || v->data[text] == '\t' || (v->data[text] >= ' ' && v->data[text] < 0x7f)))
		text++;
	return text == at + 64 || (text == v->size && text > at) ? 3 : 0;
}

static unsigned tag_read(struct tracedat_v6 *v, size_t tag, bool first)
{
	struct tracedat_walk *w = v->w;
	const uint8_t *p = v->data + tag;
	char shown[TEXT_QUOTE_SIZE];
	unsigned kind = tracedat_v6_tag(p);

	if (kind && tag_exact(p))
		return kind;
	unsigned rule = kind ? TRACEDAT_RULE_data_tag_padding : TRACEDAT_RULE_data_tag_invalid;
	if (!kind)
		kind = first ? tag_infer(v, tag) : 2;
	(void)tracedat_report(w, rule, tag, TRACEDAT_TAG_SIZE,
			      "the tag is \"%s\", expected options, latency or flyrecord, padded to 10 bytes",
			      text_quote(shown, p, TRACEDAT_TAG_SIZE));
	return kind;
}

/* Whether an option says that the table of an instance begins there. */
static bool is_instance_table(const struct tracedat_walk *w, size_t tag)
{
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (o->id == TRACEDAT_BUFFER && o->size >= 8 && load_u64(o->block->data + o->at, w->shape.big_endian) == tag)
			return true;
	}
	return false;
}

/* Whether the file ends inside of the options at `at`: items lead to one that is larger than the rest of the file. */
static bool options_are_cut(const struct tracedat_v6 *v, size_t at)
{
	const struct tracedat_walk *w = v->w;

	if (v->size != w->source->size || tracedat_v6_find(v, at, "flyrecord", 10) != TRACEDAT_V6_UNKNOWN)
		return false;
	while (v->size - at >= TRACEDAT_OPTION_HEADER) {
		unsigned id = load_u16(v->data + at, w->shape.big_endian);
		uint32_t size = load_u32(v->data + at + 2, w->shape.big_endian);
		if (!id || id > TRACEDAT_ID_LATER || size > TRACEDAT_BLOCK_MAX)
			return false;
		if (size > v->size - at - TRACEDAT_OPTION_HEADER)
			return true;
		at += TRACEDAT_OPTION_HEADER + size;
	}
	return v->size - at < 2 || load_u16(v->data + at, w->shape.big_endian);
}

/* Says once that no table follows the options, as the file ends there. */
static void options_cut(struct tracedat_walk *w, size_t at)
{
	if (!w->dir.truncated)
		w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, at, 0,
						   "the file ends inside the options: no CPU table follows");
	w->data.errors = true;
}

/* The options, and where the tag behind them is. */
static size_t options_read(struct tracedat_v6 *v, size_t at)
{
	struct tracedat_walk *w = v->w;
	size_t after = tracedat_options_parse(w, &w->meta.v6, at, v->size, 0);

	if (after != TRACEDAT_V6_UNKNOWN && v->size - after >= TRACEDAT_TAG_SIZE && tracedat_v6_tag(v->data + after))
		return after;
	size_t fly = tracedat_v6_find(v, at, "flyrecord", 10), latency = tracedat_v6_find(v, at, "latency  ", 10);
	size_t tag = fly < latency ? fly : latency;
	if (after == TRACEDAT_V6_UNKNOWN && tag != TRACEDAT_V6_UNKNOWN && is_instance_table(w, tag))
		return after; /* ours is damaged as well */
	if (after == TRACEDAT_V6_UNKNOWN || tag == TRACEDAT_V6_UNKNOWN || tag <= after)
		return tag != TRACEDAT_V6_UNKNOWN ? tag : after;
	/* Zeros end the options. Where further options lead to the tag, the zeros were damage. */
	size_t more = tracedat_options_lead(&w->shape, v->data, after, tag), stop = more != SIZE_MAX ? more : tag;
	if (is_instance_table(w, tag) || (more == SIZE_MAX && tag - after >= INSTANCE_AWAY && tag % INSTANCE_AWAY == 0))
		return after; /* that tag belongs to an instance; ours is damaged */
	tracedat_option_suspect(w, &w->meta.v6, after - 2);
	struct finding *fd = tracedat_finding(w, TRACEDAT_RULE_option_size, after, stop - after);
	if (more == SIZE_MAX)
		finding_say(fd, "%zu bytes after the end of the options", stop - after);
	else
		finding_say(fd, "%zu bytes after zeros that are not the end of the options: more options follow", stop - after);
	w->out.lost_other = true;
	tracedat_drop(w, after, stop - after, TRACEDAT_RULE_option_size,
		      more == SIZE_MAX ? "bytes after the end of the options" : "not an option");
	if (more != SIZE_MAX)
		(void)tracedat_options_parse(w, &w->meta.v6, more, v->size, 0);
	return tag;
}

/* Whether options were hit: with them the table behind them may be lost. */
static bool options_hit(const struct tracedat_walk *w)
{
	return TRACEDAT_ANY(w, TRACEDAT_RULE_option_size, TRACEDAT_RULE_option_missing_done, TRACEDAT_RULE_data_tag_invalid);
}

static void rest_of_header(struct tracedat_v6 *v)
{
	struct tracedat_walk *w = v->w;
	size_t tag = v->m.tag;

	w->data.cpu_count_at = v->m.cpus;
	w->data.cpu_count = load_u32(v->data + v->m.cpus, w->shape.big_endian);
	w->dir.tag_at = tag;
	unsigned kind = tag_read(v, tag, true);
	if (kind == 1) {
		w->dir.tag_seen = true;
		if (options_are_cut(v, tag + TRACEDAT_TAG_SIZE))
			options_cut(w, v->size);
		tag = options_read(v, tag + TRACEDAT_TAG_SIZE);
		size_t table = tag == TRACEDAT_V6_UNKNOWN ? tracedat_v6_table_find(v, v->m.tag + TRACEDAT_TAG_SIZE)
							  : TRACEDAT_V6_UNKNOWN;
		if (table != TRACEDAT_V6_UNKNOWN)
			tag = table - TRACEDAT_TAG_SIZE;
		if (tag == TRACEDAT_V6_UNKNOWN || v->size - tag < TRACEDAT_TAG_SIZE) {
			options_cut(w, v->size);
			/* Pages may follow. */
			w->meta.stop = v->m.tag + TRACEDAT_TAG_SIZE;
			return;
		}
		if (!tracedat_v6_tag(v->data + tag))
			tracedat_option_suspect(w, &w->meta.v6, tag - 2);
		kind = tag_read(v, tag, false);
		if (kind == 1) {
			(void)tracedat_report(w, TRACEDAT_RULE_options_tag_twice, tag, TRACEDAT_TAG_SIZE,
					      "the tag is a second \"options\", expected latency or flyrecord");
			size_t first = w->dir.option_count;
			size_t next = options_read(v, tag + TRACEDAT_TAG_SIZE);
			for (size_t i = first; i < w->dir.option_count; i++)
				tracedat_option_drop(&w->dir.options[i], TRACEDAT_RULE_options_tag_twice,
						     "a second block of options");
			tracedat_drop(w, tag, next != TRACEDAT_V6_UNKNOWN ? next - tag : TRACEDAT_TAG_SIZE,
				      TRACEDAT_RULE_options_tag_twice, "a second block of options");
			tag = next;
			if (tag == TRACEDAT_V6_UNKNOWN || v->size - tag < TRACEDAT_TAG_SIZE)
				return;
			kind = tag_read(v, tag, false);
		}
	}
	w->data.tag_at = tag;
	tracedat_options_identify(w);
	tracedat_headings_read(w);
	if (kind == 3) {
		w->data.latency = true;
		w->data.latency_at = tag + TRACEDAT_TAG_SIZE;
		w->meta.stop = w->data.latency_at;
		if (w->dir.clock_option >= 0) {
			struct tracedat_option *o = &w->dir.options[w->dir.clock_option];
			(void)tracedat_block_report(w, TRACEDAT_RULE_v6_latency_with_clock_option, o->block, o->at - 6, 6,
						    "there is a TRACECLOCK option: readers interpret the first 8 bytes of the text "
						    "as the size of a clock");
			tracedat_option_drop(o, TRACEDAT_RULE_v6_latency_with_clock_option, "a clock option in a latency trace");
		}
		return;
	}
	struct tracedat_buffer *b = tracedat_v6_buffer_add(w, tag, "");
	if (!b)
		return;
	uint32_t count = tracedat_v6_cpu_count(w, tag + TRACEDAT_TAG_SIZE);
	/* The first tag that is left may be that of an instance, whose tables begin behind pages. */
	b->name_doubtful = tag % INSTANCE_AWAY == 0 && (w->dir.tag_seen ? options_hit(w) : count != w->data.cpu_count);
	tracedat_v6_table_read(w, 0, tag + TRACEDAT_TAG_SIZE, count);
	w->meta.stop = w->data.buffers[0].clock_at + w->data.buffers[0].clock_size;
	tracedat_v6_instances(w, count);
	if (w->dir.tag_seen && options_hit(w))
		tracedat_v6_unnamed(w, count);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++)
		tracedat_v6_clock_check(w, &w->data.buffers[i]);
}

/* Bytes of text at the end of a file without tags that are taken for latency output. */
#define LATENCY_LEAST 1024u

/* Whether one of the last two lines behind `from` is one of an event format, which the end of the file cuts. */
static bool format_is_last(const struct tracedat_v6 *v, size_t from)
{
	size_t end = v->size;
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *lf = end > from ? text_last_byte(v->data + from, '\n', end - from) : NULL;
		if (!lf)
			return false;
		size_t line = (size_t)(lf - v->data) + 1;
		if ((v->size - line >= 7 && !memcmp(v->data + line, "\tfield:", 7)) ||
		    (v->size - line >= 10 && !memcmp(v->data + line, "print fmt:", 10)))
			return true;
		end = line - 1;
	}
	return false;
}

/* Where the lines begin that fill the file up to its end; 0: its end is not text. */
static size_t latency_tail(const struct tracedat_v6 *v)
{
	size_t at = v->size;
	while (at && (v->data[at - 1] == '\n' || v->data[at - 1] == '\t' || (v->data[at - 1] >= ' ' && v->data[at - 1] < 0x7f)))
		at--;
	const uint8_t *lf = at && v->size - at >= LATENCY_LEAST && v->size == v->w->source->size
				    ? memchr(v->data + at, '\n', v->size - at)
				    : NULL;
	return lf && lf + 1 < v->data + v->size && !format_is_last(v, at) ? (size_t)(lf - v->data) + 1 : 0;
}

/* Whether options lead to a tag in front of `stop`. */
static bool options_lead_to_tag(const struct tracedat_v6 *v, size_t stop)
{
	size_t at = v->m.tag + TRACEDAT_TAG_SIZE;

	while (at < stop && stop - at >= TRACEDAT_OPTION_HEADER && load_u16(v->data + at, v->w->shape.big_endian)) {
		uint64_t size = load_u32(v->data + at + 2, v->w->shape.big_endian);
		if (size > stop - at - TRACEDAT_OPTION_HEADER)
			return false;
		at += TRACEDAT_OPTION_HEADER + (size_t)size;
	}
	return at < stop && stop - at >= 2 + TRACEDAT_TAG_SIZE && tracedat_v6_tag(v->data + at + 2);
}

/* Where the metadata is cut, another trace.dat may follow: nothing of that is ours. */
static void other_cut(struct tracedat_v6 *v)
{
	bool whole = v->m.tag != TRACEDAT_V6_UNKNOWN;
	size_t from = whole ? v->m.tag : v->m.header < v->size ? v->m.header : v->size;
	const uint8_t *other = memmem(v->data + from, v->size - from, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE);
	uint64_t behind = other ? tracedat_foreign_block(v->w, (uint64_t)(other - v->data)) : 0;
	if (behind) {
		/* Nothing of that block is ours. */
		size_t at = (size_t)(other - v->data), stop = behind < v->size ? (size_t)behind : v->size;
		memset(v->w->meta.v6.data + at, 0, stop - at);
		return;
	}
	if (!other || (whole && (tracedat_v6_tag(v->data + v->m.tag) != 1 || options_lead_to_tag(v, (size_t)(other - v->data)))))
		return;
	v->w->meta.other = (uint64_t)(other - v->data);
	map_cut(v, (size_t)(other - v->data));
}

/* Finds the blocks to which no sizes lead. */
static void blocks_find(struct tracedat_v6 *v)
{
	struct tracedat_walk *w = v->w;
	w->out.lost_other |= v->m.ftrace == TRACEDAT_V6_UNKNOWN; /* formats may have been there */
	w->meta.cut = !w->meta.other && v->size == w->source->size && texts_cut(v);
	if (!w->meta.cut)
		tracedat_v6_salvage(v);
}

void tracedat_v6_read(struct tracedat_walk *w)
{
	struct tracedat_v6 v = { .w = w };
	struct tracedat_v6_map *m = &v.m;

	if (!load_metadata(w, &v))
		return;
	other_cut(&v);
	bool whole = m->tag != TRACEDAT_V6_UNKNOWN;
	if (!whole)
		blocks_find(&v);
	if (!whole && m->tag == TRACEDAT_V6_UNKNOWN && w->source->size > TRACEDAT_BLOCK_MAX) {
		w->status = scan_limit(w->s, "the metadata is larger than %u bytes, or its end is not found", TRACEDAT_BLOCK_MAX);
		return;
	}
	uint64_t errors = findings_errors(w->findings);
	bool table = m->cpus != TRACEDAT_V6_UNKNOWN && v.size - m->cpus >= 14, latency = !table && !w->meta.cut && latency_tail(&v);
	if (!table && !latency) {
		w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, v.size, 0,
						   "the file ends before the CPU table");
		w->meta.stop = v.size;
		w->data.errors = true;
	}
	const size_t stops[] = { m->ftrace, m->systems, m->kallsyms, m->printk, m->cmdlines, m->cpus, v.size };
	size_t end[6];
	for (size_t i = 0; i < 6; i++) {
		size_t j = i;
		while (stops[j] == TRACEDAT_V6_UNKNOWN)
			j++;
		end[i] = stops[j];
	}
	for (size_t i = 0; i < TRACEDAT_PARTS; i++)
		w->meta.blocks[i] = &w->meta.v6;
	w->meta.v6.name = "header";
	tracedat_header_parse(w, &w->meta.v6, m->header, end[0]);
	w->meta.v6.name = "ftrace formats";
	w->meta.v6.formats_end = end[2];
	if (m->ftrace != TRACEDAT_V6_UNKNOWN)
		tracedat_ftrace_parse(w, &w->meta.v6, m->ftrace, end[1]);
	w->meta.v6.name = "event formats";
	if (m->systems != TRACEDAT_V6_UNKNOWN)
		tracedat_systems_parse(w, &w->meta.v6, m->systems, end[2]);
	w->meta.v6.name = "kallsyms";
	if (m->kallsyms != TRACEDAT_V6_UNKNOWN)
		tracedat_kallsyms_parse(w, &w->meta.v6, m->kallsyms, end[3]);
	w->meta.v6.name = "printk formats";
	if (m->printk != TRACEDAT_V6_UNKNOWN)
		tracedat_printk_parse(w, &w->meta.v6, m->printk, end[4]);
	w->meta.v6.name = "command lines";
	if (m->cmdlines != TRACEDAT_V6_UNKNOWN)
		tracedat_cmdlines_parse(w, &w->meta.v6, m->cmdlines, end[5]);
	w->meta.v6.name = "options";
	if (table) {
		rest_of_header(&v);
	} else if (latency) {
		w->data.latency = true;
		w->data.latency_at = w->meta.stop = latency_tail(&v);
		w->out.lost_other = true;
		(void)tracedat_report(w, TRACEDAT_RULE_data_tag_invalid, w->data.latency_at, v.size - w->data.latency_at,
				      "no data tag is left; %zu bytes of text at the end are taken for latency output",
				      v.size - (size_t)w->data.latency_at);
	}
	if (!w->data.buffer_count && !w->data.latency && w->status == TM_OK) {
		/* The table is lost; CPU data may follow. */
		w->data.errors = true;
		if (!w->meta.stop)
			w->meta.stop = w->data.tag_at ? w->data.tag_at : w->prefix.end;
		(void)tracedat_v6_buffer_add(w, 0, "");
	}
	if (!whole && findings_errors(w->findings) == errors && w->status == TM_OK) {
		/* No capture shows this: what breaks the chain of sizes is an error of its block as well; the place is a net, so
		 * that a header that is not whole is never called clean. */
		(void)tracedat_report(w, TRACEDAT_RULE_system_count_implausible, m->header, end[5] - m->header,
				      "the sizes of the blocks of the header do not lead to each other");
	}
}
