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

static void put_header(struct tracedat_gen *b, struct bytes *o)
{
	bytes_append(o, "header_page", 12);
	put_sized(o, &b->header_page, b->hp_delta, 8);
	b->at.header_event = o->size;
	bytes_append(o, "header_event", 13);
	put_sized(o, &b->header_event, b->he_delta, 8);
}

static bool in_ftrace(const struct gen_format_text *f)
{
	return !strcmp(f->system, "ftrace");
}

static void put_ftrace(struct tracedat_gen *b, struct bytes *o)
{
	uint32_t count = 0;
	while (count < b->format_count && in_ftrace(&b->formats[count]))
		count++;
	bytes_u32(o, (uint32_t)(count + b->ftrace_delta));
	for (uint32_t i = 0; i < count; i++)
		put_sized(o, &b->formats[i].text, b->formats[i].size_delta, 8);
}

static void put_systems(struct tracedat_gen *b, struct bytes *o)
{
	uint32_t systems = 0;
	size_t first = 0;
	while (first < b->format_count && in_ftrace(&b->formats[first]))
		first++;
	for (size_t i = first; i < b->format_count; i++)
		systems += i == first || strcmp(b->formats[i].system, b->formats[i - 1].system) != 0;
	bytes_u32(o, (uint32_t)(systems + b->systems_delta));
	for (size_t i = first; i < b->format_count;) {
		size_t end = i + 1;
		while (end < b->format_count && !strcmp(b->formats[i].system, b->formats[end].system))
			end++;
		/* "demo#2" is a second list for demo */
		char name[300];
		(void)snprintf(name, sizeof(name), "%s", b->formats[i].system);
		name[strcspn(name, "#")] = '\0';
		bytes_append(o, name, strlen(name) + 1);
		bytes_u32(o, (uint32_t)(end - i + (i == first ? (uint64_t)b->events_delta : 0)));
		for (; i < end; i++)
			put_sized(o, &b->formats[i].text, b->formats[i].size_delta, 8);
	}
}

static void put_part(struct tracedat_gen *b, struct bytes *o, unsigned id)
{
	switch (id) {
	case TRACEDAT_HEADER_INFO:
		put_header(b, o);
		break;
	case TRACEDAT_FTRACE_EVENTS:
		put_ftrace(b, o);
		break;
	case TRACEDAT_EVENT_FORMATS:
		put_systems(b, o);
		break;
	case TRACEDAT_KALLSYMS:
		put_sized(o, &b->kallsyms, b->kallsyms_delta, 4);
		break;
	case TRACEDAT_PRINTK:
		put_sized(o, &b->printk, b->printk_delta, 4);
		break;
	default:
		put_sized(o, &b->cmdlines, b->cmdlines_delta, 8);
		break;
	}
}

static void put_prefix(struct tracedat_gen *b)
{
	struct bytes *o = b->out;
	bytes_append(o, "\x17\x08\x44tracing", 10);
	bytes_u8(o, (uint8_t)('0' + b->version));
	bytes_u8(o, 0);
	bytes_u8(o, b->big_endian);
	bytes_u8(o, b->user_long);
	bytes_u32(o, b->page_size);
}

static void put_option(struct tracedat_gen *b, struct gen_option *opt)
{
	struct bytes *o = b->out;
	opt->at = o->size;
	bytes_u16(o, (uint16_t)opt->id);
	bytes_u32(o, (uint32_t)opt->data.size);
	bytes_append(o, opt->data.data, opt->data.size);
}

/* ---- version 6 ---- */

static void put_clock(struct bytes *o, const struct gen_buffer *buffer)
{
	bytes_u64(o, strlen(buffer->clock) + 2);
	bytes_printf(o, "[%s]", buffer->clock);
}

static void put_cpus(struct tracedat_gen *b, struct gen_buffer *buffer)
{
	struct bytes *o = b->out;
	for (size_t j = 0; j < buffer->count; j++) {
		struct gen_cpu *c = &buffer->cpus[j];
		size_t pad = (size_t)(tracedat_align(o->size, b->page_size) - o->size);
		(void)bytes_grow(o, pad);
		c->at = o->size;
		c->size = c->pages.size;
		bytes_append(o, c->pages.data, c->pages.size);
	}
}

static void v6_buffer(struct tracedat_gen *b, struct gen_buffer *buffer, bool clock)
{
	struct bytes *o = b->out;
	buffer->record_at = o->size;
	bytes_append(o, "flyrecord", 10);
	buffer->table_at = o->size;
	(void)bytes_grow(o, 16 * buffer->count);
	buffer->clock_at = o->size;
	if (clock)
		put_clock(o, buffer);
	if (buffer == &b->buffers[0])
		b->at.stop = o->size;
	put_cpus(b, buffer);
	for (size_t j = 0; j < buffer->count; j++) {
		tracedat_gen_u64(b, buffer->table_at + 16 * j, buffer->cpus[j].at);
		tracedat_gen_u64(b, buffer->table_at + 16 * j + 8, buffer->cpus[j].size);
	}
}

static void v6_options(struct tracedat_gen *b)
{
	bytes_append(b->out, "options  ", 10);
	b->at.options = b->out->size;
	for (size_t i = 0; i < b->option_count; i++)
		put_option(b, &b->options[i]);
	b->at.options_end = b->out->size;
	if (!b->no_done)
		bytes_u16(b->out, 0);
	if (b->twice) {
		bytes_append(b->out, "options  ", 10);
		bytes_u16(b->out, 0);
	}
}

static void serialise_v6(struct tracedat_gen *b)
{
	struct bytes *o = b->out;
	size_t *places[] = { &b->at.header, &b->at.ftrace, &b->at.systems, &b->at.kallsyms, &b->at.printk, &b->at.cmdlines };

	put_prefix(b);
	for (unsigned k = 0; k < 6; k++) {
		*places[k] = o->size;
		put_part(b, o, TRACEDAT_HEADER_INFO + k);
	}
	b->at.cpus = o->size;
	bytes_u32(o, b->buffer_count ? (uint32_t)b->buffers[0].count : 1);
	b->at.tag = o->size;
	if (!b->no_options)
		v6_options(b);
	b->at.flyrecord = o->size;
	if (b->latency) {
		bytes_append(o, "latency  ", 10);
		bytes_append(o, b->text.data, b->text.size);
		return;
	}
	for (size_t i = 0; i < b->buffer_count; i++) {
		if (i && b->no_options)
			break;
		v6_buffer(b, &b->buffers[i], !b->no_clock_block);
		for (size_t k = 0; i && k < b->option_count; k++)
			if (b->options[k].buffer == (int)i)
				tracedat_gen_u64(b, b->options[k].at + 6, b->buffers[i].record_at);
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

static size_t section_begin(struct tracedat_gen *b, struct strings *s, unsigned id, bool compressed, const char *text)
{
	size_t at = b->out->size;
	if (id <= TRACEDAT_ID_LAST && !b->at.section[id])
		b->at.section[id] = at;
	bytes_u16(b->out, (uint16_t)id);
	bytes_u16(b->out, compressed);
	bytes_u32(b->out, (uint32_t)string_add(s, text));
	bytes_u64(b->out, 0);
	return at;
}

static void section_end(struct tracedat_gen *b, size_t at)
{
	tracedat_gen_u64(b, at + 8, b->out->size - at - 16);
}

static void put_section(struct tracedat_gen *b, struct strings *s, unsigned id, const char *text, const struct bytes *content)
{
	struct bytes *o = b->out;
	bool compressed = b->codec != TRACEDAT_NONE;
	size_t at = section_begin(b, s, id, compressed, text);
	b->g->failed |= content->failed;
	if (compressed) {
		size_t size_at = o->size;
		bytes_u32(o, 0);
		bytes_u32(o, (uint32_t)content->size);
		if (!tracedat_encode(b->codec, content->data, content->size, o))
			b->g->failed = true;
		tracedat_gen_u32(b, size_at, (uint32_t)(o->size - size_at - 8));
		if (b->slack && id == TRACEDAT_KALLSYMS)
			(void)bytes_grow(o, 12);
	} else {
		bytes_append(o, content->data, content->size);
	}
	section_end(b, at);
}

/* All chunks, and what of the content is in none so far. */
static void put_chunks(struct tracedat_gen *b, struct gen_chunks *chunks, struct bytes *content, size_t step)
{
	while (content->size && !content->failed)
		tracedat_gen_pack(b, chunks, content, content->size < step ? content->size : step);
	bytes_u32(b->out, chunks->count);
	bytes_append(b->out, chunks->bytes.data, chunks->bytes.size);
	bytes_free(&chunks->bytes);
}

static void v7_buffer(struct tracedat_gen *b, struct strings *s, struct gen_buffer *buffer)
{
	struct bytes *o = b->out;
	char text[64];
	(void)snprintf(text, sizeof(text), "buffer flyrecord %s", buffer->name);
	buffer->section_at = section_begin(b, s, TRACEDAT_BUFFER, b->codec != TRACEDAT_NONE, text);
	for (size_t j = 0; j < buffer->count; j++) {
		struct gen_cpu *c = &buffer->cpus[j];
		(void)bytes_grow(o, (size_t)(tracedat_align(o->size, b->page_size) - o->size));
		c->at = o->size;
		if (b->codec == TRACEDAT_NONE)
			bytes_append(o, c->pages.data, c->pages.size);
		else
			put_chunks(b, &c->chunks, &c->pages, (size_t)b->chunk_pages * b->page_size);
		c->size = o->size - c->at - (b->minus_four ? 4 : 0);
	}
	section_end(b, buffer->section_at);
}

static void v7_buffer_option(struct tracedat_gen *b, struct gen_buffer *buffer)
{
	struct bytes *o = b->out;
	size_t at = o->size;
	bytes_u16(o, TRACEDAT_BUFFER);
	bytes_u32(o, 0);
	buffer->option_at = o->size;
	bytes_u64(o, buffer->section_at);
	bytes_append(o, buffer->name, strlen(buffer->name) + 1);
	bytes_append(o, buffer->clock, strlen(buffer->clock) + 1);
	bytes_u32(o, b->page_size);
	bytes_u32(o, (uint32_t)buffer->count);
	for (size_t j = 0; j < buffer->count; j++) {
		bytes_u32(o, buffer->cpus[j].cpu);
		bytes_u64(o, buffer->cpus[j].at);
		bytes_u64(o, buffer->cpus[j].size);
	}
	tracedat_gen_u32(b, at + 2, (uint32_t)(o->size - at - 6));
}

/* Latency output (MAN7 "BUFFER_TEXT"): its section, and the option that names it. */
static void v7_text(struct tracedat_gen *b, struct strings *s)
{
	b->at.section[TRACEDAT_BUFFER_TEXT] = section_begin(b, s, TRACEDAT_BUFFER_TEXT, b->codec != TRACEDAT_NONE,
							    "buffer latency");
	if (b->codec == TRACEDAT_NONE)
		bytes_append(b->out, b->text.data, b->text.size);
	else
		put_chunks(b, &b->text_chunks, &b->text, GEN_TEXT_CHUNK);
	section_end(b, b->at.section[TRACEDAT_BUFFER_TEXT]);
}

static void v7_text_option(struct tracedat_gen *b)
{
	struct bytes *o = b->out;
	static const char names[] = "\0local"; /* of the top buffer and its clock */
	bytes_u16(o, TRACEDAT_BUFFER_TEXT);
	bytes_u32(o, 8 + sizeof(names));
	bytes_u64(o, b->at.section[TRACEDAT_BUFFER_TEXT]);
	bytes_append(o, names, sizeof(names));
}

static void put_pointer(struct tracedat_gen *b, unsigned id, uint64_t value)
{
	bytes_u16(b->out, (uint16_t)id);
	bytes_u32(b->out, 8);
	bytes_u64(b->out, value);
}

static void v7_options(struct tracedat_gen *b, struct strings *s, unsigned nth)
{
	struct bytes *o = b->out;
	size_t at = section_begin(b, s, TRACEDAT_DONE, false, "options");
	if (nth == 0) {
		tracedat_gen_u64(b, b->at.options_offset, at);
		b->at.options = o->size;
		for (unsigned id = TRACEDAT_HEADER_INFO; id <= TRACEDAT_CMDLINES; id++)
			if (id == b->short_pointer) {
				bytes_u16(o, (uint16_t)id);
				bytes_u32(o, 4);
				bytes_u32(o, (uint32_t)b->at.section[id]);
			} else if (!b->omit[id]) {
				put_pointer(b, id, b->at.section[id]);
			}
		for (size_t i = 0; i < b->option_count; i++)
			put_option(b, &b->options[i]);
	} else {
		tracedat_gen_u64(b, b->at.done[0] + 6, at);
		if (!b->omit[TRACEDAT_BUFFER])
			for (size_t i = 0; i < b->buffer_count; i++)
				v7_buffer_option(b, &b->buffers[i]);
		if (b->latency)
			v7_text_option(b);
	}
	b->at.done[nth] = o->size;
	put_pointer(b, TRACEDAT_DONE, 0);
	if (nth && b->junk_after_done)
		bytes_text(o, "leftover");
	section_end(b, at);
}

static void serialise_v7(struct tracedat_gen *b)
{
	static const char *const names[] = { "none", "zstd", "zlib" };
	static const char *const titles[] = { "headers", "ftrace events", "events format", "kallsyms", "printk", "command lines" };
	struct bytes *o = b->out;
	struct strings s = { .text = { .big_endian = b->big_endian } };

	put_prefix(b);
	bytes_append(o, names[b->codec], 5);
	bytes_append(o, tracedat_codec_version(b->codec), strlen(tracedat_codec_version(b->codec)) + 1);
	b->at.options_offset = o->size;
	bytes_u64(o, 0);
	for (unsigned k = 0; k < 6; k++) {
		struct bytes content = { .big_endian = b->big_endian };
		if (b->omit[TRACEDAT_HEADER_INFO + k])
			continue;
		put_part(b, &content, TRACEDAT_HEADER_INFO + k);
		put_section(b, &s, TRACEDAT_HEADER_INFO + k, titles[k], &content);
		bytes_free(&content);
	}
	if (b->extra_section) {
		struct bytes content = { .big_endian = b->big_endian };
		if (b->extra_id == TRACEDAT_KALLSYMS)
			put_part(b, &content, b->extra_id);
		else
			bytes_text(&content, "some content of its own");
		put_section(b, &s, b->extra_id, "extra", &content);
		bytes_free(&content);
	}
	v7_options(b, &s, 0);
	for (size_t i = 0; i < b->buffer_count; i++)
		v7_buffer(b, &s, &b->buffers[i]);
	if (b->latency)
		v7_text(b, &s);
	v7_options(b, &s, 1);
	if (!b->omit[TRACEDAT_STRINGS]) {
		size_t all = s.text.size;
		(void)string_add(&s, "strings");
		struct strings last = { .text = { 0 } };
		put_section(b, &last, TRACEDAT_STRINGS, "", &s.text);
		tracedat_gen_u32(b, b->at.section[TRACEDAT_STRINGS] + 4, (uint32_t)all);
		b->g->failed |= last.text.failed;
		bytes_free(&last.text);
	}
	if (b->extra_at_end) {
		size_t at = section_begin(b, &s, 99, false, "extra");
		uint8_t *p = bytes_grow(o, tracedat_gen_extra(b));
		if (p)
			memset(p, 'x', tracedat_gen_extra(b));
		section_end(b, at);
		tracedat_gen_u32(b, at + 4, UINT32_MAX);
	}
	b->g->failed |= s.text.failed;
	bytes_free(&s.text);
}

void tracedat_gen_serialise(struct tracedat_gen *b)
{
	if (b->version == 6)
		serialise_v6(b);
	else
		serialise_v7(b);
}
