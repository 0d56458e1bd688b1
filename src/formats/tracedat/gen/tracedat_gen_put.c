/* Pieces of the model and of the file: for the model, its writer and the breakers. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

void tracedat_gen_text(struct bytes *b, const char *text)
{
	b->size = 0;
	bytes_text(b, text);
}

struct bytes *tracedat_gen_format_of(struct tracedat_gen *g, const char *name)
{
	char line[64];
	(void)snprintf(line, sizeof(line), "name: %s\n", name);
	for (size_t i = 0; i < g->format_count; i++)
		if (g->formats[i].text.size > strlen(line) && !memcmp(g->formats[i].text.data, line, strlen(line)))
			return &g->formats[i].text;
	return &g->formats[0].text;
}

void tracedat_gen_swap(struct bytes *text, const char *what, const char *with)
{
	const uint8_t *p = text->size ? memmem(text->data, text->size, what, strlen(what)) : NULL;
	if (!p)
		return;
	size_t at = (size_t)(p - text->data);
	bytes_remove(text, at, strlen(what));
	bytes_insert(text, at, with, strlen(with));
}

struct tracedat_gen_option *tracedat_gen_option(struct tracedat_gen *g, unsigned id)
{
	for (size_t i = 0; i < g->option_count; i++)
		if (g->options[i].id == id)
			return &g->options[i];
	return &g->options[TRACEDAT_GEN_OPTIONS - 1];
}

struct tracedat_gen_option *tracedat_gen_option_add(struct tracedat_gen *g, unsigned id, const void *data, size_t size)
{
	struct tracedat_gen_option *o =
		&g->options[g->option_count < TRACEDAT_GEN_OPTIONS - 1 ? g->option_count++ : TRACEDAT_GEN_OPTIONS - 1];
	bytes_free(&o->data);
	*o = (struct tracedat_gen_option){ .id = id, .buffer = -1, .data = { .big_endian = g->big_endian } };
	bytes_append(&o->data, data, size);
	return o;
}

void tracedat_gen_option_remove(struct tracedat_gen *g, unsigned id)
{
	for (size_t i = g->option_count; i-- > 0;)
		if (g->options[i].id == id) {
			bytes_free(&g->options[i].data);
			memmove(&g->options[i], &g->options[i + 1], (g->option_count - i - 1) * sizeof(*g->options));
			g->option_count--;
			g->options[g->option_count].data = (struct bytes){ 0 };
		}
}

static bool inside(const struct tracedat_gen *g, size_t at, size_t size)
{
	return at <= g->out->size && size <= g->out->size - at;
}

void tracedat_gen_u16(struct tracedat_gen *g, size_t at, uint16_t value)
{
	if (inside(g, at, 2))
		store_u16(g->out->data + at, value, g->big_endian);
}

void tracedat_gen_u32(struct tracedat_gen *g, size_t at, uint32_t value)
{
	if (inside(g, at, 4))
		store_u32(g->out->data + at, value, g->big_endian);
}

void tracedat_gen_u64(struct tracedat_gen *g, size_t at, uint64_t value)
{
	if (inside(g, at, 8))
		store_u64(g->out->data + at, value, g->big_endian);
}

uint32_t tracedat_gen_get32(struct tracedat_gen *g, size_t at)
{
	return inside(g, at, 4) ? load_u32(g->out->data + at, g->big_endian) : 0;
}

uint64_t tracedat_gen_get64(struct tracedat_gen *g, size_t at)
{
	return inside(g, at, 8) ? load_u64(g->out->data + at, g->big_endian) : 0;
}

void tracedat_gen_pack(struct tracedat_gen *g, struct tracedat_gen_chunks *chunks, struct bytes *content, size_t size)
{
	struct bytes *o = &chunks->bytes;
	size_t at = o->size;
	o->big_endian = g->big_endian;
	bytes_u32(o, 0);
	bytes_u32(o, (uint32_t)size);
	if (!tracedat_encode(g->codec, content->data, size, o))
		g->g->failed = true;
	else
		store_u32(o->data + at, (uint32_t)(o->size - at - 8), g->big_endian);
	g->compressed_size = o->size - at;
	g->decompressed_size = size;
	bytes_remove(content, 0, size);
	chunks->count++;
}

uint8_t *tracedat_gen_page(struct tracedat_gen *g, struct tracedat_gen_cpu *c, size_t index)
{
	return index < c->pages.size / g->page_size ? c->pages.data + index * g->page_size : NULL;
}

uint8_t *tracedat_gen_last_page(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	return tracedat_gen_page(g, c, c->pages.size / g->page_size - 1);
}

uint64_t tracedat_gen_commit(struct tracedat_gen *g, const uint8_t *page)
{
	return g->long_size == 8 ? load_u64(page + 8, g->big_endian) : load_u32(page + 8, g->big_endian);
}

void tracedat_gen_commit_set(struct tracedat_gen *g, uint8_t *page, uint64_t commit)
{
	if (g->long_size == 8)
		store_u64(page + 8, commit, g->big_endian);
	else
		store_u32(page + 8, (uint32_t)commit, g->big_endian);
}

void tracedat_gen_missed(struct tracedat_gen *g, struct tracedat_gen_cpu *c, uint64_t count)
{
	uint8_t *page = c->used ? tracedat_gen_last_page(g, c) : NULL;
	if (!page)
		return;
	uint64_t commit = tracedat_gen_commit(g, page) | UINT64_C(1) << 31;
	if (count && g->page_size - c->used >= g->long_size) {
		if (g->long_size == 8)
			store_u64(page + c->used, count, g->big_endian);
		else
			store_u32(page + c->used, (uint32_t)count, g->big_endian);
		commit |= 1u << 30;
	}
	tracedat_gen_commit_set(g, page, commit);
	c->missed += count ? count : 1;
}

void tracedat_gen_page_end(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	(void)g;
	c->used = 0;
}

/* Room for total bytes in a page; a new page takes the time of the next record, whose delta is then 0. */
uint8_t *tracedat_gen_room(struct tracedat_gen *g, struct tracedat_gen_cpu *c, uint32_t total, uint32_t *delta)
{
	uint32_t head = 8u + g->long_size;
	if (!c->used || c->used + total > g->page_size) {
		size_t chunk = (size_t)g->chunk_pages * g->page_size;
		if (g->codec != TRACEDAT_NONE && c->pages.size == chunk)
			tracedat_gen_pack(g, &c->chunks, &c->pages, chunk);
		uint8_t *page = bytes_grow(&c->pages, g->page_size);
		if (!page)
			return NULL;
		c->page_records = 0;
		c->last += *delta;
		*delta = 0;
		store_u64(page, c->last, g->big_endian);
		c->used = head;
	} else {
		c->last += *delta;
	}
	uint8_t *page = c->pages.data + c->pages.size - g->page_size, *at = page + c->used;
	c->used += total;
	tracedat_gen_commit_set(g, page, c->used - head);
	return at;
}

uint32_t tracedat_gen_word(const struct tracedat_gen *g, uint32_t type, uint32_t delta)
{
	return g->big_endian ? type << 27 | delta : delta << 5 | type;
}

void tracedat_gen_record(struct tracedat_gen *g, struct tracedat_gen_cpu *c, const void *payload, uint32_t size, uint32_t delta)
{
	uint32_t room = (size + 3) & ~3u;
	/* The kernel never reserves 8 bytes of payload: it takes 12. */
	if (room == 8 && !g->keep_small)
		room = 12;
	bool large = room > 112;
	uint8_t *at = tracedat_gen_room(g, c, room + (large ? 8 : 4), &delta);
	if (!at)
		return;
	store_u32(at, tracedat_gen_word(g, large ? 0 : room / 4, delta), g->big_endian);
	if (large)
		store_u32(at + 4, room + 4, g->big_endian);
	memcpy(at + (large ? 8 : 4), payload, size);
	c->records++;
	c->page_records++;
	if (c->last > g->time)
		g->time = c->last;
}

void tracedat_gen_stamp(struct tracedat_gen *g, struct tracedat_gen_cpu *c, uint32_t type, uint64_t value)
{
	uint32_t none = 0;
	uint8_t *at = tracedat_gen_room(g, c, 8, &none);
	if (!at)
		return;
	store_u32(at, tracedat_gen_word(g, type, (uint32_t)(value & 0x7ffffff)), g->big_endian);
	store_u32(at + 4, (uint32_t)(value >> 27), g->big_endian);
	if (type == 30)
		c->last += value;
	else if (type == 31)
		c->last = value;
}

void tracedat_gen_common(struct tracedat_gen *g, uint8_t *payload, unsigned id, uint32_t pid)
{
	store_u16(payload, (uint16_t)id, g->big_endian);
	payload[2] = payload[3] = 0;
	store_u32(payload + 4, pid, g->big_endian);
}

void tracedat_gen_tick(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	uint8_t p[24] = { 0 };
	tracedat_gen_common(g, p, 300, choices_chance(g->choices, 1, 2) ? 42 : 1);
	store_u32(p + 8, (uint32_t)c->records, g->big_endian);
	store_u64(p + 16, choices_number(g->choices), g->big_endian);
	tracedat_gen_record(g, c, p, sizeof(p), (uint32_t)choices_between(g->choices, 100, 100000));
}

void tracedat_gen_label(struct tracedat_gen *g, struct tracedat_gen_cpu *c, const char *name)
{
	uint8_t p[128] = { 0 };
	uint32_t length = (uint32_t)strnlen(name, 80) + 1;
	tracedat_gen_common(g, p, 301, 42);
	store_u32(p + 8, length << 16 | 16, g->big_endian);
	store_u32(p + 12, (uint32_t)choices_below(g->choices, 1000), g->big_endian);
	memcpy(p + 16, name, length - 1);
	tracedat_gen_record(g, c, p, 16 + length, (uint32_t)choices_between(g->choices, 100, 100000));
}

static const char common_fields[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

void tracedat_gen_format_add(struct tracedat_gen *g, const char *system, const char *name, unsigned id, const char *fields,
			     const char *print)
{
	struct tracedat_gen_format *f = &g->formats[g->format_count++];
	(void)snprintf(f->system, sizeof(f->system), "%s", system);
	bytes_printf(&f->text, "name: %s\nID: %u\nformat:\n%s%s\nprint fmt: %s\n", name, id, common_fields, fields, print);
}

void tracedat_gen_stats(struct tracedat_gen *g)
{
	size_t nth = 0;
	for (size_t i = 0; i < g->buffer_count; i++)
		for (size_t j = 0; j < g->buffers[i].count; j++) {
			const struct tracedat_gen_cpu *c = &g->buffers[i].cpus[j];
			for (; nth < g->option_count; nth++) {
				const struct bytes *d = &g->options[nth].data;
				if (g->options[nth].id == TRACEDAT_CPUSTAT && d->size && memmem(d->data, d->size, "CPU:", 4))
					break;
			}
			if (nth == g->option_count)
				return;
			struct bytes *d = &g->options[nth++].data;
			uint64_t now = g->time / 1000 + 1000;
			d->size = 0;
			bytes_printf(
				d,
				"CPU: %u\nentries: 0\noverrun: %llu\ncommit overrun: 0\nbytes: 0\noldest event ts: %5llu.%06llu\n"
				"now ts: %5llu.%06llu\ndropped events: 0\nread events: %llu\n",
				c->cpu, (unsigned long long)c->missed, 0ull, 0ull, (unsigned long long)(now / 1000000),
				(unsigned long long)(now % 1000000), (unsigned long long)c->records);
			bytes_u8(d, 0);
		}
}
