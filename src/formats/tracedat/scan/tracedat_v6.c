/* Version 6: one sequence without a table of contents, read forward by its sizes. */
#include "formats/tracedat/decode/tracedat_format_list.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_v6.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_LOAD (1u << 20)
#define CLOCK_MAX 4096u
/* The tables of instances begin behind pages. */
#define INSTANCE_AWAY 1024u
/* Walks over the file for instances whose table is lost. */
#define SEARCHES_MAX 4u

static unsigned tag_kind(const uint8_t *p)
{
	return !memcmp(p, "options", 7) ? 1 : !memcmp(p, "flyrecord", 9) ? 2 : !memcmp(p, "latency", 7) ? 3 : 0;
}

static bool tag_exact(const uint8_t *p)
{
	return !memcmp(p, "options  ", 10) || !memcmp(p, "flyrecord", 10) || !memcmp(p, "latency  ", 10);
}

/* ---- forward ---- */

static bool forward_header(struct v6 *v)
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
	/* The number of ftrace formats, then the first of them; or of none, the systems. */
	if (!tracedat_format_begins(d, at + 4, v->size) && load_u32(d + at, v->w->shape.big_endian))
		return false;
	v->m.ftrace = at;
	return true;
}

static bool forward_formats(struct v6 *v)
{
	const struct tracedat_walk *w = v->w;
	size_t at = v->m.ftrace;
	size_t systems = tracedat_formats_hop(w->shape.big_endian, v->data, at + 4, v->size,
					      load_u32(v->data + at, w->shape.big_endian));
	size_t end = systems != V6_UNKNOWN ? tracedat_systems_hop(w->shape.big_endian, v->data, systems, v->size) : V6_UNKNOWN;
	if (end == V6_UNKNOWN || v->size - end < 4)
		return false;
	v->m.systems = systems;
	v->m.kallsyms = end;
	return true;
}

/* Whether another system stands where the formats should end: their number lies, and kallsyms comes later. */
static bool more_formats(const struct v6 *v)
{
	size_t at = v->m.kallsyms;
	const uint8_t *name = memchr(v->data + at, 0, v->size - at < 256 ? v->size - at : 256);
	return name && tracedat_format_begins(v->data, (size_t)(name - v->data) + 5, v->size);
}

static bool forward_texts(struct v6 *v)
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
	if (!tag_kind(d + cpus + 4))
		return false;
	v->m.printk = printk;
	v->m.cmdlines = cmdlines;
	v->m.cpus = cpus;
	v->m.tag = cpus + 4;
	return true;
}

static bool forward(struct v6 *v)
{
	struct v6_map *m = &v->m;
	*m = (struct v6_map){
		(size_t)v->w->prefix.end, V6_UNKNOWN, V6_UNKNOWN, V6_UNKNOWN, V6_UNKNOWN, V6_UNKNOWN, V6_UNKNOWN, V6_UNKNOWN
	};
	if (forward_header(v) && forward_formats(v) && forward_texts(v))
		return true;
	if (m->kallsyms != V6_UNKNOWN && more_formats(v))
		m->kallsyms = V6_UNKNOWN;
	/* Counts and sizes of 0 lead on through any zeros: without a tag at the end they vouch for nothing. */
	if (m->kallsyms != V6_UNKNOWN && !load_u32(v->data + m->kallsyms, v->w->shape.big_endian))
		m->kallsyms = V6_UNKNOWN;
	if (m->systems != V6_UNKNOWN && !load_u32(v->data + m->systems, v->w->shape.big_endian))
		m->systems = m->kallsyms = V6_UNKNOWN;
	if (m->ftrace != V6_UNKNOWN && !load_u32(v->data + m->ftrace, v->w->shape.big_endian))
		m->ftrace = m->systems = m->kallsyms = V6_UNKNOWN;
	return false;
}

/* ---- loading ---- */

static bool load(struct tracedat_walk *w, struct v6 *v, uint64_t size)
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

/* Loads as much as the metadata needs; all that may be loaded when it does not tell. */
static bool load_metadata(struct tracedat_walk *w, struct v6 *v)
{
	uint64_t whole = w->source->size < TRACEDAT_BLOCK_MAX ? w->source->size : TRACEDAT_BLOCK_MAX;
	uint64_t size = whole < FIRST_LOAD ? whole : FIRST_LOAD;
	for (;;) {
		if (!load(w, v, size))
			return false;
		if (forward(v) || size == whole)
			return true;
		size = 4 * size < whole ? 4 * size : whole;
	}
}

/* ---- the rest of the header ---- */

/* The name in a clock block at `at`, whose length with its size is *size; NULL: none stands there. It has no mark: only its
 * own look tells. */
static const char *clock_at(struct tracedat_walk *w, uint64_t at, uint64_t *size, size_t *name_length)
{
	const uint8_t *p = window_at(&w->window, at, 9);
	uint64_t length = p ? load_u64(p, w->shape.big_endian) : 0;
	if (!p || length < 1 || length > CLOCK_MAX || length > window_left(&w->window, at + 8))
		return NULL;
	p = window_at(&w->window, at + 8, (size_t)length);
	*size = 8 + length;
	*name_length = 0;
	const char *name = p ? tracedat_clock_name((const char *)p, (size_t)length, name_length) : NULL;
	return *name_length ? name : NULL;
}

/* MAN6 "REST OF TRACE-CMD HEADER": the table of one buffer, and the clock behind it. */
static void table_read(struct tracedat_walk *w, unsigned index, uint64_t at, uint32_t count)
{
	struct tracedat_buffer *b = &w->data.buffers[index];
	bool cut = false;
	b->table_at = at;
	if (at + 16ull * count > w->source->size) {
		(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, at, 16ull * count,
				      "the file ends inside the CPU table of %u entries", count);
		w->data.errors = cut = true;
		count = at < w->source->size ? (uint32_t)((w->source->size - at) / 16) : 0;
	}
	for (uint32_t i = 0; i < count && w->status == TM_OK; i++) {
		const uint8_t *p = window_at(&w->window, at + 16ull * i, 16);
		struct tracedat_cpu *c = p ? tracedat_cpu_add(w, b) : NULL;
		if (!c)
			return;
		c->cpu = i;
		c->offset = load_u64(p, w->shape.big_endian);
		c->size = load_u64(p + 8, w->shape.big_endian);
		c->declared_at = at + 16ull * i;
	}
	at += 16ull * count;
	b->clock_at = at;
	if (cut)
		return;
	uint64_t size;
	size_t length;
	const char *name = clock_at(w, at, &size, &length);
	b->clock_bad = !name;
	if (!name)
		return;
	b->clock_size = size;
	bytes_append(&b->clock, name, length);
	bytes_u8(&b->clock, 0);
	if (b->clock.failed)
		tracedat_no_memory(w);
}

/* Entries that a table seems to have: up to the clock block, or to the first that is none. */
static uint32_t table_measure(struct tracedat_walk *w, uint64_t at)
{
	uint32_t n = 0;
	for (; n < TRACEDAT_CPUS_MAX; n++) {
		const uint8_t *p = window_at(&w->window, at + 16ull * n, 16);
		if (!p)
			break;
		uint64_t offset = load_u64(p, w->shape.big_endian), size = load_u64(p + 8, w->shape.big_endian);
		if (offset < at || offset > (w->source->size | 0xfff) + TRACEDAT_PAGE_MAX || size > w->source->size)
			break;
	}
	return n;
}

static uint32_t cpu_count_settle(struct tracedat_walk *w, uint64_t table)
{
	uint32_t count = w->data.cpu_count;
	bool bad = count == 0 || count > TRACEDAT_CPUS_MAX;

	if (bad) {
		struct finding *fd = tracedat_finding(w, TRACEDAT_RULE_cpu_count_range, w->data.cpu_count_at, 4);
		count = table_measure(w, table);
		finding_say(fd, "%u CPUs, expected 1 to %u; the table seems to have %u", w->data.cpu_count, TRACEDAT_CPUS_MAX,
			    count);
	}
	if (w->dir.cpucount_option >= 0) {
		const struct tracedat_option *o = &w->dir.options[w->dir.cpucount_option];
		uint32_t other = o->size == 4 ? load_u32(o->block->data + o->at, w->shape.big_endian) : count;
		if (other && other <= TRACEDAT_CPUS_MAX && !bad && other != count) {
			/* It overrides the count; whether it may, the table tells. */
			uint32_t measured = table_measure(w, table);
			count = measured == other ? other : count;
		}
	}
	/* The clock right behind the entries that make sense tells how many there are. */
	uint64_t size;
	size_t length;
	if (!bad && !clock_at(w, table + 16ull * count, &size, &length)) {
		uint32_t measured = table_measure(w, table);
		if (measured && measured != count && clock_at(w, table + 16ull * measured, &size, &length)) {
			(void)tracedat_report(w, TRACEDAT_RULE_cpu_count_range, w->data.cpu_count_at, 4,
					      "%u CPUs, but the table has %u entries before the clock", count, measured);
			return measured;
		}
	}
	return count;
}

static struct tracedat_buffer *flyrecord(struct tracedat_walk *w, uint64_t tag, const char *name)
{
	struct tracedat_buffer *b = tracedat_buffer_add(w);
	if (!b)
		return NULL;
	text_sanitise(b->name, sizeof(b->name), name);
	b->record_at = tag;
	b->page_size = 0;
	return b;
}

/* The next word that begins the table of an instance, and that no buffer has; 0: there is none. Records of instances begin right
 * behind other data; the word itself is rare enough to look for. */
static uint64_t orphan_table(struct tracedat_walk *w)
{
	if (w->data.searches++ >= SEARCHES_MAX)
		return 0;
	for (uint64_t look = w->meta.stop; look + TRACEDAT_TAG_SIZE <= w->source->size;) {
		size_t got;
		const uint8_t *bytes = window_upto(&w->window, look, 65536, &got);
		const uint8_t *p = bytes ? memmem(bytes, got, "flyrecord", 10) : NULL;
		bool taken = false;
		if (!p && (!bytes || got <= TRACEDAT_TAG_SIZE))
			return 0;
		uint64_t at = p ? look + (uint64_t)(p - bytes) : 0;
		for (size_t i = 0; i < w->data.buffer_count; i++)
			taken |= w->data.buffers[i].record_at == at;
		if (p && !taken)
			return at;
		look = p ? at + TRACEDAT_TAG_SIZE : look + got - TRACEDAT_TAG_SIZE;
	}
	return 0;
}

/* The buffers that BUFFER options point at. */
static void instances(struct tracedat_walk *w, uint32_t count)
{
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		if (o->id != TRACEDAT_BUFFER || o->size < 9 || o->dropped)
			continue;
		const uint8_t *data = o->block->data + o->at;
		uint64_t at = load_u64(data, w->shape.big_endian);
		const uint8_t *tag = window_at(&w->window, at, TRACEDAT_TAG_SIZE);
		char name[TEXT_QUOTE_SIZE];
		(void)text_quote(name, data + 8, strnlen((const char *)data + 8, o->size - 8));
		if (!tag || tag_kind(tag) != 2) {
			uint64_t swapped = __builtin_bswap64(at);
			tag = window_at(&w->window, swapped, TRACEDAT_TAG_SIZE);
			bool host = tag && tag_kind(tag) == 2;
			uint64_t found = host ? 0 : orphan_table(w);
			(void)tracedat_block_report(w, TRACEDAT_RULE_v6_buffer_offset, o->block, o->at, 8,
						    "instance %s should have its table at 0x%llx, where there is none%s", name,
						    (unsigned long long)at,
						    host    ? "; the bytes of the offset are swapped"
						    : found ? "; one is found elsewhere"
							    : "");
			at = host ? swapped : found;
			if (!at) {
				tracedat_option_drop(o, TRACEDAT_RULE_v6_buffer_offset, "an instance whose data is not found");
				continue;
			}
		}
		struct tracedat_buffer *b = flyrecord(w, at, name);
		if (!b)
			return;
		b->option = i;
		o->buffer = (int)w->data.buffer_count - 1;
		table_read(w, (unsigned)w->data.buffer_count - 1, at + TRACEDAT_TAG_SIZE, count);
	}
}

/* The tables that options named which are lost. */
static void nameless_instances(struct tracedat_walk *w, uint32_t count)
{
	for (unsigned number = 1; w->status == TM_OK; number++) {
		uint64_t at = orphan_table(w);
		char name[16];
		if (!at || !table_measure(w, at + TRACEDAT_TAG_SIZE))
			return;
		(void)snprintf(name, sizeof(name), "lost_%u", number);
		(void)tracedat_report(w, TRACEDAT_RULE_v6_buffer_offset, at, TRACEDAT_TAG_SIZE,
				      "the table of an instance whose option is lost: it comes back as %s", name);
		if (!flyrecord(w, at, name))
			return;
		table_read(w, (unsigned)w->data.buffer_count - 1, at + TRACEDAT_TAG_SIZE, count);
	}
}

/* A tag that is none: what is behind it tells what it was. */
static unsigned tag_guess(const struct v6 *v, size_t tag)
{
	const struct tracedat_walk *w = v->w;
	size_t at = tag + TRACEDAT_TAG_SIZE;
	size_t fly = tracedat_v6_find(v, at, "flyrecord", 10);
	if (fly != V6_UNKNOWN && tracedat_options_lead(&w->shape, v->data, at, fly) != SIZE_MAX)
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

static unsigned tag_judge(struct v6 *v, size_t tag, bool first)
{
	struct tracedat_walk *w = v->w;
	const uint8_t *p = v->data + tag;
	char shown[TEXT_QUOTE_SIZE];
	unsigned kind = tag_kind(p);

	if (kind && tag_exact(p))
		return kind;
	unsigned rule = kind ? TRACEDAT_RULE_data_tag_padding : TRACEDAT_RULE_data_tag_invalid;
	if (!kind)
		kind = first ? tag_guess(v, tag) : 2;
	(void)tracedat_report(w, rule, tag, TRACEDAT_TAG_SIZE,
			      "the word here is \"%s\", expected options, latency or flyrecord, padded to 10 bytes",
			      text_quote(shown, p, TRACEDAT_TAG_SIZE));
	return kind;
}

/* An option says that the table of an instance begins there. */
static bool is_of_instance(const struct tracedat_walk *w, size_t tag)
{
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (o->id == TRACEDAT_BUFFER && o->size >= 8 && load_u64(o->block->data + o->at, w->shape.big_endian) == tag)
			return true;
	}
	return false;
}

/* The options, and where the tag behind them is. */
static size_t options_read(struct v6 *v, size_t at)
{
	struct tracedat_walk *w = v->w;
	size_t after = tracedat_options(w, &w->meta.v6, at, v->size, 0);

	if (after != V6_UNKNOWN && v->size - after >= TRACEDAT_TAG_SIZE && tag_kind(v->data + after))
		return after;
	size_t fly = tracedat_v6_find(v, at, "flyrecord", 10), latency = tracedat_v6_find(v, at, "latency  ", 10);
	size_t tag = fly < latency ? fly : latency;
	if (after == V6_UNKNOWN || tag == V6_UNKNOWN || tag <= after)
		return tag != V6_UNKNOWN ? tag : after;
	/* Zeros end the options. Where more lead to the tag, the zeros were something else. */
	size_t more = tracedat_options_lead(&w->shape, v->data, after, tag), stop = more != SIZE_MAX ? more : tag;
	if (is_of_instance(w, tag) || (more == SIZE_MAX && tag - after >= INSTANCE_AWAY && tag % INSTANCE_AWAY == 0))
		return after; /* that is not ours, which was hit */
	struct finding *fd = tracedat_finding(w, TRACEDAT_RULE_option_size, after, stop - after);
	if (more == SIZE_MAX)
		finding_say(fd, "%zu bytes after the end of the options", stop - after);
	else
		finding_say(fd, "%zu bytes after what looks like the end of the options, and more options behind them",
			    stop - after);
	w->out.lost_other = true;
	tracedat_drop(w, after, stop - after, TRACEDAT_RULE_option_size,
		      more == SIZE_MAX ? "bytes after the end of the options" : "no option");
	if (more != SIZE_MAX)
		(void)tracedat_options(w, &w->meta.v6, more, v->size, 0);
	return tag;
}

static void clock_judge(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	if (w->dir.clock_option < 0) {
		if (b->clock_size) {
			(void)tracedat_report(w, TRACEDAT_RULE_v6_clock_block_orphan, b->clock_at, b->clock_size,
					      "the clock [%s] is named here, but no TRACECLOCK option announces it",
					      (const char *)b->clock.data);
		}
		for (size_t i = 0; i < w->dir.option_count; i++)
			if (w->dir.options[i].id == TRACEDAT_CPUSTAT)
				return;
		if (b->clock_size && b == &w->data.buffers[0]) {
			(void)tracedat_report(w, TRACEDAT_RULE_restored_without_clock, b->clock_at, b->clock_size,
					      "a clock after the table, and neither a clock option nor statistics");
		}
		return;
	}
	const struct tracedat_option *o = &w->dir.options[w->dir.clock_option];
	if (b->clock_bad) {
		/* Up to 2.3 trace-cmd let the first page of data overwrite the end of the block. */
		(void)tracedat_report(w, TRACEDAT_RULE_v6_clock_block_missing, b->clock_at, 8,
				      "a TRACECLOCK option announces a clock after the CPU table, but there is none");
		return;
	}
	size_t length;
	const char *name = tracedat_clock_name((const char *)o->block->data + o->at, o->size, &length);
	if (name && length && (b->clock.size - 1 != length || memcmp(name, b->clock.data, length))) {
		char shown[TEXT_QUOTE_SIZE];
		(void)tracedat_report(w, TRACEDAT_RULE_v6_clock_conflict, b->clock_at, b->clock_size,
				      "the clock after the table is [%s], the option selects [%s]", (const char *)b->clock.data,
				      text_quote(shown, name, length));
	}
}

static void rest_of_header(struct v6 *v)
{
	struct tracedat_walk *w = v->w;
	size_t tag = v->m.tag;

	w->data.cpu_count_at = v->m.cpus;
	w->data.cpu_count = load_u32(v->data + v->m.cpus, w->shape.big_endian);
	w->dir.tag_at = tag;
	unsigned kind = tag_judge(v, tag, true);
	if (kind == 1) {
		w->dir.tag_seen = true;
		tag = options_read(v, tag + TRACEDAT_TAG_SIZE);
		if (tag == V6_UNKNOWN || v->size - tag < TRACEDAT_TAG_SIZE) {
			(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, v->size, 0,
					      "the file ends inside the options: no CPU table follows");
			w->data.errors = true;
			w->meta.stop = v->size;
			return;
		}
		kind = tag_judge(v, tag, false);
		if (kind == 1) {
			(void)tracedat_report(w, TRACEDAT_RULE_options_tag_twice, tag, TRACEDAT_TAG_SIZE,
					      "a second block of options; latency or flyrecord must come here");
			size_t first = w->dir.option_count;
			size_t next = options_read(v, tag + TRACEDAT_TAG_SIZE);
			for (size_t i = first; i < w->dir.option_count; i++)
				tracedat_option_drop(&w->dir.options[i], TRACEDAT_RULE_options_tag_twice,
						     "a second block of options");
			tracedat_drop(w, tag, next != V6_UNKNOWN ? next - tag : TRACEDAT_TAG_SIZE, TRACEDAT_RULE_options_tag_twice,
				      "a second block of options");
			tag = next;
			if (tag == V6_UNKNOWN || v->size - tag < TRACEDAT_TAG_SIZE)
				return;
			kind = tag_judge(v, tag, false);
		}
	}
	w->data.tag_at = tag;
	if (kind == 3) {
		w->data.latency = true;
		w->data.latency_at = tag + TRACEDAT_TAG_SIZE;
		w->meta.stop = w->data.latency_at;
		if (w->dir.clock_option >= 0) {
			struct tracedat_option *o = &w->dir.options[w->dir.clock_option];
			(void)tracedat_block_report(
				w, TRACEDAT_RULE_v6_latency_with_clock_option, o->block, o->at - 6, 6,
				"a TRACECLOCK option: readers take the first 8 bytes of the text for the size of a clock");
			tracedat_option_drop(o, TRACEDAT_RULE_v6_latency_with_clock_option, "a clock option in a latency trace");
		}
		return;
	}
	struct tracedat_buffer *b = flyrecord(w, tag, "");
	if (!b)
		return;
	uint32_t count = cpu_count_settle(w, tag + TRACEDAT_TAG_SIZE);
	table_read(w, 0, tag + TRACEDAT_TAG_SIZE, count);
	w->meta.stop = w->data.buffers[0].clock_at + w->data.buffers[0].clock_size;
	instances(w, count);
	if (w->dir.tag_seen &&
	    FINDINGS_ANY(w->findings, TRACEDAT_RULE_option_size, TRACEDAT_RULE_option_missing_done, TRACEDAT_RULE_data_tag_invalid))
		nameless_instances(w, count);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++)
		clock_judge(w, &w->data.buffers[i]);
}

void tracedat_v6(struct tracedat_walk *w)
{
	struct v6 v = { .w = w };
	struct v6_map *m = &v.m;

	if (!load_metadata(w, &v))
		return;
	bool whole = m->tag != V6_UNKNOWN;
	if (!whole)
		tracedat_v6_salvage(&v);
	if (!whole && m->tag == V6_UNKNOWN && w->source->size > TRACEDAT_BLOCK_MAX) {
		w->status = scan_limit(w->s, "the metadata is larger than %u bytes, or its end is not found", TRACEDAT_BLOCK_MAX);
		return;
	}
	uint64_t errors = findings_errors(w->findings);
	const size_t stops[] = { m->ftrace, m->systems, m->kallsyms, m->printk, m->cmdlines, m->cpus, v.size };
	size_t end[6];
	for (size_t i = 0; i < 6; i++) {
		size_t j = i;
		while (stops[j] == V6_UNKNOWN)
			j++;
		end[i] = stops[j];
	}
	for (size_t i = 0; i < TRACEDAT_PARTS; i++)
		w->meta.blocks[i] = &w->meta.v6;
	w->meta.v6.name = "header";
	tracedat_header(w, &w->meta.v6, m->header, end[0]);
	w->meta.v6.name = "ftrace formats";
	if (m->ftrace != V6_UNKNOWN)
		tracedat_ftrace(w, &w->meta.v6, m->ftrace, end[1]);
	w->meta.v6.name = "event formats";
	if (m->systems != V6_UNKNOWN)
		tracedat_systems(w, &w->meta.v6, m->systems, end[2]);
	w->meta.v6.name = "kallsyms";
	if (m->kallsyms != V6_UNKNOWN)
		tracedat_kallsyms(w, &w->meta.v6, m->kallsyms, end[3]);
	w->meta.v6.name = "printk formats";
	if (m->printk != V6_UNKNOWN)
		tracedat_printk(w, &w->meta.v6, m->printk, end[4]);
	w->meta.v6.name = "command lines";
	if (m->cmdlines != V6_UNKNOWN)
		tracedat_cmdlines(w, &w->meta.v6, m->cmdlines, end[5]);
	w->meta.v6.name = "options";
	if (m->cpus != V6_UNKNOWN && v.size - m->cpus >= 14) {
		rest_of_header(&v);
	} else {
		(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, v.size, 0, "the file ends before the CPU table");
		w->meta.stop = v.size;
		w->data.errors = true;
	}
	if (!w->data.buffer_count && !w->data.latency && w->status == TM_OK) {
		/* The table is lost: what is behind may still be data. */
		w->data.errors = true;
		if (!w->meta.stop)
			w->meta.stop = w->data.tag_at ? w->data.tag_at : w->prefix.end;
		(void)flyrecord(w, 0, "");
	}
	if (!whole && findings_errors(w->findings) == errors && w->status == TM_OK) {
		(void)tracedat_report(w, TRACEDAT_RULE_system_count_implausible, m->header, end[5] - m->header,
				      "the sizes of the blocks of the header do not lead to each other");
	}
}
