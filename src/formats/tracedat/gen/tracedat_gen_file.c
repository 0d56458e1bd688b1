/* A capture being made: its bytes. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void put_sized(struct bytes *o, const struct bytes *text, int64_t delta, unsigned width)
{
	uint64_t size = text->size + (uint64_t)delta;
	if (width == 4)
		bytes_u32(o, (uint32_t)size);
	else
		bytes_u64(o, size);
	bytes_append(o, text->data, text->size);
}

static void put_header(struct tracedat_gen *g, struct bytes *o)
{
	bytes_append(o, "header_page", 12);
	put_sized(o, &g->header_page, g->hp_delta, 8);
	g->at.header_event = o->size;
	bytes_append(o, "header_event", 13);
	put_sized(o, &g->header_event, g->he_delta, 8);
}

static bool in_ftrace(const struct tracedat_gen_format *f)
{
	return !strcmp(f->system, "ftrace");
}

static void put_ftrace(struct tracedat_gen *g, struct bytes *o)
{
	uint32_t count = 0;
	while (count < g->format_count && in_ftrace(&g->formats[count]))
		count++;
	bytes_u32(o, (uint32_t)(count + g->ftrace_delta));
	for (uint32_t i = 0; i < count; i++)
		put_sized(o, &g->formats[i].text, g->formats[i].size_delta, 8);
}

static void put_systems(struct tracedat_gen *g, struct bytes *o)
{
	uint32_t systems = 0;
	size_t first = 0;
	while (first < g->format_count && in_ftrace(&g->formats[first]))
		first++;
	for (size_t i = first; i < g->format_count; i++)
		systems += i == first || strcmp(g->formats[i].system, g->formats[i - 1].system) != 0;
	bytes_u32(o, (uint32_t)(systems + g->systems_delta));
	for (size_t i = first; i < g->format_count;) {
		size_t end = i + 1;
		while (end < g->format_count && !strcmp(g->formats[i].system, g->formats[end].system))
			end++;
		/* "demo#2" is a second list for demo */
		char name[300];
		(void)snprintf(name, sizeof(name), "%s", g->formats[i].system);
		name[strcspn(name, "#")] = '\0';
		bytes_append(o, name, strlen(name) + 1);
		bytes_u32(o, (uint32_t)(end - i + (i == first ? (uint64_t)g->events_delta : 0)));
		for (; i < end; i++)
			put_sized(o, &g->formats[i].text, g->formats[i].size_delta, 8);
	}
}

static void put_part(struct tracedat_gen *g, struct bytes *o, unsigned id)
{
	switch (id) {
	case TRACEDAT_HEADER_INFO:
		put_header(g, o);
		break;
	case TRACEDAT_FTRACE_EVENTS:
		put_ftrace(g, o);
		break;
	case TRACEDAT_EVENT_FORMATS:
		put_systems(g, o);
		break;
	case TRACEDAT_KALLSYMS:
		put_sized(o, &g->kallsyms, g->kallsyms_delta, 4);
		break;
	case TRACEDAT_PRINTK:
		put_sized(o, &g->printk, g->printk_delta, 4);
		break;
	default:
		put_sized(o, &g->cmdlines, g->cmdlines_delta, 8);
		break;
	}
}

static void put_prefix(struct tracedat_gen *g)
{
	struct bytes *o = g->out;
	bytes_append(o, "\x17\x08\x44tracing", 10);
	bytes_u8(o, (uint8_t)('0' + g->version));
	bytes_u8(o, 0);
	bytes_u8(o, g->big_endian);
	bytes_u8(o, g->user_long);
	bytes_u32(o, g->page_size);
}

static void put_option(struct tracedat_gen *g, struct tracedat_gen_option *opt)
{
	struct bytes *o = g->out;
	opt->at = o->size;
	bytes_u16(o, (uint16_t)opt->id);
	bytes_u32(o, (uint32_t)opt->data.size);
	bytes_append(o, opt->data.data, opt->data.size);
}

/* ---- version 6 ---- */

static void put_clock(struct bytes *o, const struct tracedat_gen_buffer *buffer)
{
	bytes_u64(o, strlen(buffer->clock) + 2);
	bytes_printf(o, "[%s]", buffer->clock);
}

static void put_cpus(struct tracedat_gen *g, struct tracedat_gen_buffer *buffer)
{
	struct bytes *o = g->out;
	for (size_t j = 0; j < buffer->count; j++) {
		struct tracedat_gen_cpu *c = &buffer->cpus[j];
		size_t pad = (size_t)(tracedat_align(o->size, g->page_size) - o->size);
		(void)bytes_grow(o, pad);
		c->at = o->size;
		c->size = c->pages.size;
		bytes_append(o, c->pages.data, c->pages.size);
	}
}

static void v6_buffer(struct tracedat_gen *g, struct tracedat_gen_buffer *buffer, bool clock)
{
	struct bytes *o = g->out;
	buffer->record_at = o->size;
	bytes_append(o, "flyrecord", 10);
	buffer->table_at = o->size;
	(void)bytes_grow(o, 16 * buffer->count);
	buffer->clock_at = o->size;
	if (clock)
		put_clock(o, buffer);
	if (buffer == &g->buffers[0])
		g->at.stop = o->size;
	put_cpus(g, buffer);
	for (size_t j = 0; j < buffer->count; j++) {
		tracedat_gen_u64(g, buffer->table_at + 16 * j, buffer->cpus[j].at);
		tracedat_gen_u64(g, buffer->table_at + 16 * j + 8, buffer->cpus[j].size);
	}
}

static void v6_options(struct tracedat_gen *g)
{
	bytes_append(g->out, "options  ", 10);
	g->at.options = g->out->size;
	for (size_t i = 0; i < g->option_count; i++)
		put_option(g, &g->options[i]);
	g->at.options_end = g->out->size;
	if (!g->no_done)
		bytes_u16(g->out, 0);
	if (g->twice) {
		bytes_append(g->out, "options  ", 10);
		bytes_u16(g->out, 0);
	}
}

static void serialise_v6(struct tracedat_gen *g)
{
	struct bytes *o = g->out;
	size_t *places[] = { &g->at.header, &g->at.ftrace, &g->at.systems, &g->at.kallsyms, &g->at.printk, &g->at.cmdlines };

	put_prefix(g);
	for (unsigned k = 0; k < 6; k++) {
		*places[k] = o->size;
		put_part(g, o, TRACEDAT_HEADER_INFO + k);
	}
	g->at.cpus = o->size;
	bytes_u32(o, g->buffer_count ? (uint32_t)g->buffers[0].count : 1);
	g->at.tag = o->size;
	if (!g->no_options)
		v6_options(g);
	g->at.flyrecord = o->size;
	if (g->latency) {
		bytes_append(o, "latency  ", 10);
		bytes_append(o, g->text.data, g->text.size);
		return;
	}
	for (size_t i = 0; i < g->buffer_count; i++) {
		if (i && g->no_options)
			break;
		v6_buffer(g, &g->buffers[i], !g->no_clock_block);
		for (size_t k = 0; i && k < g->option_count; k++)
			if (g->options[k].buffer == (int)i)
				tracedat_gen_u64(g, g->options[k].at + 6, g->buffers[i].record_at);
	}
}

/* ---- version 7 ---- */

struct strings {
	struct bytes text;
};

static int32_t string_add(struct strings *s, const char *text)
{
	size_t at = s->text.size;
	bytes_append(&s->text, text, strlen(text) + 1);
	return (int32_t)at;
}

static size_t section_begin(struct tracedat_gen *g, struct strings *s, unsigned id, bool compressed, const char *text)
{
	size_t at = g->out->size;
	if (id <= TRACEDAT_ID_LAST && !g->at.section[id])
		g->at.section[id] = at;
	bytes_u16(g->out, (uint16_t)id);
	bytes_u16(g->out, compressed);
	bytes_u32(g->out, (uint32_t)string_add(s, text));
	bytes_u64(g->out, 0);
	return at;
}

static void section_end(struct tracedat_gen *g, size_t at)
{
	tracedat_gen_u64(g, at + 8, g->out->size - at - 16);
}

static void put_section(struct tracedat_gen *g, struct strings *s, unsigned id, const char *text, const struct bytes *content)
{
	struct bytes *o = g->out;
	bool compressed = g->codec != TRACEDAT_NONE;
	size_t at = section_begin(g, s, id, compressed, text);
	g->g->failed |= content->failed;
	if (compressed) {
		size_t size_at = o->size;
		bytes_u32(o, 0);
		bytes_u32(o, (uint32_t)content->size);
		if (!tracedat_encode(g->codec, content->data, content->size, o))
			g->g->failed = true;
		tracedat_gen_u32(g, size_at, (uint32_t)(o->size - size_at - 8));
		if (g->slack && id == TRACEDAT_KALLSYMS)
			(void)bytes_grow(o, 12);
	} else {
		bytes_append(o, content->data, content->size);
	}
	section_end(g, at);
}

/* All chunks, and what of the content is in none so far. */
static void put_chunks(struct tracedat_gen *g, struct tracedat_gen_chunks *chunks, struct bytes *content, size_t step)
{
	while (content->size && !content->failed)
		tracedat_gen_pack(g, chunks, content, content->size < step ? content->size : step);
	bytes_u32(g->out, chunks->count);
	bytes_append(g->out, chunks->bytes.data, chunks->bytes.size);
	bytes_free(&chunks->bytes);
}

static void v7_buffer(struct tracedat_gen *g, struct strings *s, struct tracedat_gen_buffer *buffer)
{
	struct bytes *o = g->out;
	char text[64];
	(void)snprintf(text, sizeof(text), "buffer flyrecord %s", buffer->name);
	buffer->section_at = section_begin(g, s, TRACEDAT_BUFFER, g->codec != TRACEDAT_NONE, text);
	for (size_t j = 0; j < buffer->count; j++) {
		struct tracedat_gen_cpu *c = &buffer->cpus[j];
		(void)bytes_grow(o, (size_t)(tracedat_align(o->size, g->page_size) - o->size));
		c->at = o->size;
		if (g->codec == TRACEDAT_NONE)
			bytes_append(o, c->pages.data, c->pages.size);
		else
			put_chunks(g, &c->chunks, &c->pages, (size_t)g->chunk_pages * g->page_size);
		c->size = o->size - c->at - (g->minus_four ? 4 : 0);
	}
	section_end(g, buffer->section_at);
}

static void v7_buffer_option(struct tracedat_gen *g, struct tracedat_gen_buffer *buffer)
{
	struct bytes *o = g->out;
	size_t at = o->size;
	bytes_u16(o, TRACEDAT_BUFFER);
	bytes_u32(o, 0);
	buffer->option_at = o->size;
	bytes_u64(o, buffer->section_at);
	bytes_append(o, buffer->name, strlen(buffer->name) + 1);
	bytes_append(o, buffer->clock, strlen(buffer->clock) + 1);
	bytes_u32(o, g->page_size);
	bytes_u32(o, (uint32_t)buffer->count);
	for (size_t j = 0; j < buffer->count; j++) {
		bytes_u32(o, buffer->cpus[j].cpu);
		bytes_u64(o, buffer->cpus[j].at);
		bytes_u64(o, buffer->cpus[j].size);
	}
	tracedat_gen_u32(g, at + 2, (uint32_t)(o->size - at - 6));
}

/* Latency output (MAN7 "BUFFER_TEXT"): its section, and the option that names it. */
static void v7_text(struct tracedat_gen *g, struct strings *s)
{
	g->at.section[TRACEDAT_BUFFER_TEXT] = section_begin(g, s, TRACEDAT_BUFFER_TEXT, g->codec != TRACEDAT_NONE,
							    "buffer latency");
	if (g->codec == TRACEDAT_NONE)
		bytes_append(g->out, g->text.data, g->text.size);
	else
		put_chunks(g, &g->text_chunks, &g->text, TRACEDAT_GEN_TEXT_CHUNK);
	section_end(g, g->at.section[TRACEDAT_BUFFER_TEXT]);
}

static void v7_text_option(struct tracedat_gen *g)
{
	struct bytes *o = g->out;
	static const char names[] = "\0local"; /* of the top buffer and its clock */
	bytes_u16(o, TRACEDAT_BUFFER_TEXT);
	bytes_u32(o, 8 + sizeof(names));
	bytes_u64(o, g->at.section[TRACEDAT_BUFFER_TEXT]);
	bytes_append(o, names, sizeof(names));
}

static void put_pointer(struct tracedat_gen *g, unsigned id, uint64_t value)
{
	bytes_u16(g->out, (uint16_t)id);
	bytes_u32(g->out, 8);
	bytes_u64(g->out, value);
}

static void v7_options(struct tracedat_gen *g, struct strings *s, unsigned nth)
{
	struct bytes *o = g->out;
	size_t at = section_begin(g, s, TRACEDAT_DONE, false, "options");
	if (nth == 0) {
		tracedat_gen_u64(g, g->at.options_offset, at);
		g->at.options = o->size;
		for (unsigned id = TRACEDAT_HEADER_INFO; id <= TRACEDAT_CMDLINES; id++)
			if (id == g->short_pointer) {
				bytes_u16(o, (uint16_t)id);
				bytes_u32(o, 4);
				bytes_u32(o, (uint32_t)g->at.section[id]);
			} else if (!g->omit[id]) {
				put_pointer(g, id, g->at.section[id]);
			}
		for (size_t i = 0; i < g->option_count; i++)
			put_option(g, &g->options[i]);
		if (g->with_btf)
			put_pointer(g, TRACEDAT_BTF_FILE, g->at.section[TRACEDAT_BTF_FILE]);
		if (g->with_modules)
			put_pointer(g, TRACEDAT_MODULES, g->at.section[TRACEDAT_MODULES]);
	} else {
		tracedat_gen_u64(g, g->at.done[0] + 6, at);
		if (!g->omit[TRACEDAT_BUFFER])
			for (size_t i = 0; i < g->buffer_count; i++)
				v7_buffer_option(g, &g->buffers[i]);
		if (g->latency)
			v7_text_option(g);
	}
	g->at.done[nth] = o->size;
	put_pointer(g, TRACEDAT_DONE, 0);
	if (nth && g->junk_after_done)
		bytes_text(o, "leftover");
	section_end(g, at);
}

/* A section that is a file of the recording machine. */
static void put_file(struct tracedat_gen *g, struct strings *s, unsigned id, const char *title, const char *text)
{
	struct bytes content = { .big_endian = g->big_endian };
	bytes_text(&content, text);
	put_section(g, s, id, title, &content);
	bytes_free(&content);
}

static void serialise_v7(struct tracedat_gen *g)
{
	static const char *const names[] = { "none", "zstd", "zlib" };
	static const char *const titles[] = { "headers", "ftrace events", "events format", "kallsyms", "printk", "command lines" };
	struct bytes *o = g->out;
	struct strings s = { .text = { .big_endian = g->big_endian } };

	put_prefix(g);
	bytes_append(o, names[g->codec], 5);
	bytes_append(o, tracedat_codec_version(g->codec), strlen(tracedat_codec_version(g->codec)) + 1);
	g->at.options_offset = o->size;
	bytes_u64(o, 0);
	for (unsigned k = 0; k < 6; k++) {
		struct bytes content = { .big_endian = g->big_endian };
		if (g->omit[TRACEDAT_HEADER_INFO + k])
			continue;
		put_part(g, &content, TRACEDAT_HEADER_INFO + k);
		put_section(g, &s, TRACEDAT_HEADER_INFO + k, titles[k], &content);
		bytes_free(&content);
	}
	if (g->extra_section) {
		struct bytes content = { .big_endian = g->big_endian };
		if (g->extra_id == TRACEDAT_KALLSYMS)
			put_part(g, &content, g->extra_id);
		else
			bytes_text(&content, "some content of its own");
		put_section(g, &s, g->extra_id, "extra", &content);
		bytes_free(&content);
	}
	if (g->with_btf)
		put_file(g, &s, TRACEDAT_BTF_FILE, "btf", "\x9f\xeb\x01 types of the kernel");
	if (g->with_modules)
		put_file(g, &s, TRACEDAT_MODULES, "modules", "demo 16384 0 - Live 0xffffffffc0000000\n");
	v7_options(g, &s, 0);
	for (size_t i = 0; i < g->buffer_count; i++)
		v7_buffer(g, &s, &g->buffers[i]);
	if (g->latency)
		v7_text(g, &s);
	v7_options(g, &s, 1);
	if (!g->omit[TRACEDAT_STRINGS]) {
		size_t all = s.text.size;
		(void)string_add(&s, "strings");
		struct strings last = { .text = { 0 } };
		put_section(g, &last, TRACEDAT_STRINGS, "", &s.text);
		tracedat_gen_u32(g, g->at.section[TRACEDAT_STRINGS] + 4, (uint32_t)all);
		g->g->failed |= last.text.failed;
		bytes_free(&last.text);
	}
	if (g->extra_at_end) {
		size_t at = section_begin(g, &s, 99, false, "extra");
		uint8_t *p = bytes_grow(o, tracedat_gen_extra(g));
		if (p)
			memset(p, 'x', tracedat_gen_extra(g));
		section_end(g, at);
		tracedat_gen_u32(g, at + 4, UINT32_MAX);
	}
	g->g->failed |= s.text.failed;
	bytes_free(&s.text);
}

void tracedat_gen_serialise(struct tracedat_gen *g)
{
	if (g->version == 6)
		serialise_v6(g);
	else
		serialise_v7(g);
}
