/* Blocks, events and declarations of generated traces. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <string.h>

#include "core/array.h"

/* ---- blocks ---- */

struct lttng_made_file *lttng_gen_file(struct lttng_gen *g, const char *name)
{
	if (g->file_count == LTTNG_GEN_FILES) {
		g->failed = true; /* cannot be: there is room for all channels of all cpus */
		return &g->files[0];
	}
	struct lttng_made_file *f = &g->files[g->file_count++];
	*f = (struct lttng_made_file){ .big = g->big, .first_event = true };
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	f->b.big_endian = g->big;
	return f;
}

void lttng_gen_open(struct lttng_gen *g, struct lttng_made_file *f, uint64_t begin)
{
	f->block = f->b.size;
	f->begin = f->stamp = begin;
	f->end = f->block + g->l->size;
	g->last_written = 0;
	g->open_first = g->open_last_at = 0;
	(void)bytes_grow(&f->b, g->l->size);
}

void lttng_gen_close(struct lttng_gen *g, struct lttng_made_file *f, uint64_t end)
{
	const struct lttng_layout *l = g->l;
	uint64_t data = f->b.size - f->block, size = l->variable ? lttng_align(data, LTTNG_PAGE) : f->limit;
	struct lttng_header h = g->h;

	if (data < size)
		(void)bytes_grow(&f->b, (size_t)(size - data));
	if (f->b.failed)
		return;
	if (g->losses && choices_chance(g->c, 1, 6))
		f->lost += 1 + (uint32_t)choices_below(g->c, 3000);
	h.v[LF_BEGIN] = f->begin;
	h.v[LF_END] = end;
	h.v[LF_BEGIN_FREQ] = h.v[LF_END_FREQ] = choices_chance(g->c, 1, 2) ? h.v[LF_FREQ] : 0;
	h.v[LF_BEGIN_SEC] = h.v[LF_END_SEC] = h.v[LF_SEC];
	h.v[LF_UNUSED] = l->variable ? data : size - data;
	h.v[LF_SIZE] = size;
	h.v[LF_EVENTS_LOST] = f->lost;
	h.v[LF_CORRUPT] = f->corrupt;
	for (unsigned i = 0; i < LF_COUNT; i++)
		lttng_header_store(f->b.data + f->block, l, f->big, (enum lttng_field)i, h.v[i]);
	if (array_room(&g->blocks, &g->block_capacity, g->block_count, sizeof(*g->blocks), SIZE_MAX) != TM_OK) {
		g->failed = true;
		return;
	}
	g->blocks[g->block_count++] = (struct lttng_made_block){ .file = (unsigned)(f - g->files),
								 .number = f->blocks++,
								 .at = f->block,
								 .size = size,
								 .data = data,
								 .begin = f->begin,
								 .end = end,
								 .first_stamp = g->open_first,
								 .last_stamp = g->last_written ? f->stamp : 0,
								 .last_event = g->open_last_at,
								 .events = g->last_written };
}

/* ---- events ---- */

static void align_to(struct lttng_made_file *f, uint64_t alignment)
{
	uint64_t rel = f->b.size - f->block, to = lttng_align(rel, alignment);
	if (to > rel)
		(void)bytes_grow(&f->b, (size_t)(to - rel));
}

/* Id as it is on the wire: two bytes in the order of their names up to 0.8. */
static void put_id(struct lttng_gen *g, struct lttng_made_file *f, uint32_t id)
{
	if (g->l->era == LTTNG_FACILITIES) {
		bytes_u8(&f->b, (uint8_t)(id >> 8));
		bytes_u8(&f->b, (uint8_t)id);
	} else {
		bytes_u16(&f->b, (uint16_t)id);
	}
}

static void put_size(struct lttng_gen *g, struct lttng_made_file *f, const struct lttng_put *put)
{
	uint64_t size = g->scratch.size + (uint64_t)(int64_t)put->size_error;
	bool escape = put->escape || size >= LTTNG_SIZE_ESCAPE;
	bytes_u16(&f->b, escape ? LTTNG_SIZE_ESCAPE : (uint16_t)size);
	if (escape && g->l->era > LTTNG_MARKERS)
		bytes_u32(&f->b, (uint32_t)size);
}

static uint64_t word_align(const struct lttng_gen *g)
{
	return g->alignment < 4 ? g->alignment : 4;
}

static void put_compact(struct lttng_gen *g, struct lttng_made_file *f, const struct lttng_put *put)
{
	unsigned bits = (unsigned)g->h.v[LF_TSCBITS], cut = (unsigned)g->h.v[LF_TRUNCATE];
	uint64_t mask = ((UINT64_C(1) << bits) - 1) << cut;
	uint64_t value = put->stamp & mask, stamp = (f->stamp & ~mask) | value;
	if (value < (f->stamp & mask))
		stamp += mask + (UINT64_C(1) << cut);
	bytes_u32(&f->b, (uint32_t)(value >> cut) | (put->id & 0xff) << bits);
	f->stamp = stamp;
}

/* 2.x. */
static void put_word(struct lttng_gen *g, struct lttng_made_file *f, const struct lttng_put *put)
{
	uint32_t form = put->form >= 0									     ? (uint32_t)put->form
			: f->first_event || put->stamp < f->stamp || put->stamp - f->stamp > LTTNG_TIME_MASK ? LTTNG_FORM_FULL
			: put->id >= LTTNG_FORM_FULL							     ? LTTNG_FORM_ID
													     : put->id;
	bytes_u32(&f->b, (form << LTTNG_TIME_BITS | (uint32_t)(put->stamp & LTTNG_TIME_MASK)) ^ put->word_xor);
	if (form >= LTTNG_FORM_FULL)
		put_id(g, f, put->id);
	if (form == LTTNG_FORM_FULL || form == LTTNG_FORM_SIZE)
		put_size(g, f, put);
	if (form == LTTNG_FORM_FULL) {
		align_to(f, g->alignment ? (g->l->natural ? 8 : g->alignment) : 0);
		bytes_u64(&f->b, put->stamp);
	}
	f->stamp = put->stamp;
}

void lttng_gen_put(struct lttng_gen *g, struct lttng_made_file *f, const struct lttng_put *put)
{
	bool old = g->l->era <= LTTNG_MARKERS;
	struct lttng_made_event e = { .file = (unsigned)(f - g->files), .before = f->b.size };

	align_to(f, old && !f->compact ? g->alignment : word_align(g));
	e.start = f->b.size;
	if (f->compact) {
		put_compact(g, f, put);
		e.header_end = f->b.size;
	} else if (!old) {
		put_word(g, f, put);
		e.header_end = f->b.size;
		align_to(f, put->align);
	} else {
		if (g->heartbeat)
			bytes_u32(&f->b, (uint32_t)put->stamp ^ put->word_xor);
		else
			bytes_u64(&f->b, put->stamp);
		put_id(g, f, put->id);
		put_size(g, f, put);
		e.header_end = f->b.size;
		align_to(f, g->alignment);
		f->stamp = put->stamp;
	}
	e.payload = f->b.size;
	bytes_append(&f->b, g->scratch.data, g->scratch.size);
	if (put->cut && f->b.size > f->block + put->cut)
		f->b.size = (size_t)(f->block + put->cut);
	e.end = f->end = f->b.size;
	f->first_event = false;
	if (!g->last_written++)
		g->open_first = f->stamp;
	g->open_last_at = e.start;
	g->g->records++;
	if (!f->metadata && g->event_count < LTTNG_GEN_EVENTS)
		g->events[g->event_count++] = e;
}

uint32_t lttng_gen_id(const struct lttng_gen *g, unsigned channel, unsigned kind)
{
	return g->first_id[channel] + kind;
}

/* A jump in time that stamps of 32 bits cannot tell: a heartbeat with the whole stamp. */
static bool put_heartbeat(struct lttng_gen *g, struct lttng_made_file *f, uint64_t stamp)
{
	bool full = g->l->minor == 8 || g->l->era == LTTNG_MARKERS;
	struct lttng_put put = { .id = full ? 3 : 2, .form = -1, .stamp = stamp };

	g->scratch.size = 0;
	g->scratch.big_endian = f->big;
	if (full)
		bytes_u64(&g->scratch, stamp);
	lttng_gen_put(g, f, &put);
	return full;
}

static uint64_t event_room(const struct lttng_gen *g)
{
	return g->scratch.size + 48u;
}

/* A string that ends with the block, which then has no padding at all. Packed traces only. */
static void fill_exactly(struct lttng_gen *g, struct lttng_made_file *f)
{
	const unsigned kind = LTTNG_KIND_PRINTK;
	struct lttng_put put = { .id = lttng_gen_id(g, f->channel, kind), .form = -1, .align = 1, .stamp = f->stamp };
	uint64_t header = g->l->era <= LTTNG_MARKERS ? (g->heartbeat ? 8 : 12) : put.id >= LTTNG_FORM_FULL ? 6 : 4;
	uint64_t room = f->limit - (f->b.size - f->block);

	if (g->alignment || f->compact || g->kind_count <= kind || !g->last_written || room <= header ||
	    room - header >= LTTNG_SIZE_ESCAPE)
		return;
	g->scratch.size = 0;
	uint8_t *p = bytes_grow(&g->scratch, (size_t)(room - header));
	if (p)
		memset(p, 'x', (size_t)(room - header) - 1);
	lttng_gen_put(g, f, &put);
}

/* In large traces as in real ones: 97 and 99 of 100 events have no text in a capture of 2.6 and in one of 2.3, and no event has a
 * size in its header. In small ones all kinds alike. */
static bool is_plain(struct lttng_gen *g)
{
	return lttng_gen_is_large(g) && !g->breaking && choices_chance(g->c, 15, 16);
}

/* Closes the block and opens the next one before an event of that stamp; the payload of a `type` is in g->scratch, before and
 * after. */
static void next_block(struct lttng_gen *g, struct lttng_made_file *f, const struct lttng_kind *type, struct lttng_put *put,
		       bool flush)
{
	uint64_t end = put->stamp, begin = put->stamp;
	if (!flush && !g->breaking && choices_chance(g->c, 1, 3)) {
		fill_exactly(g, f);
		put->align = lttng_gen_payload(g, type);
	}
	if (choices_chance(g->c, 1, 4)) {
		end = f->stamp + choices_below(g->c, put->stamp - f->stamp + 1);
		begin = end == put->stamp ? end : put->stamp - choices_below(g->c, put->stamp - end);
	}
	lttng_gen_close(g, f, end);
	lttng_gen_open(g, f, begin);
}

/* The form of an event that a tracer could have given its size; -1: as it would by itself. */
static int choose_form(struct lttng_gen *g, const struct lttng_made_file *f, const struct lttng_put *put)
{
	bool sized = g->l->era > LTTNG_MARKERS && choices_chance(g->c, 1, 24);
	return sized && !f->first_event && put->stamp - f->stamp <= LTTNG_TIME_MASK ? (int)LTTNG_FORM_SIZE : -1;
}

static bool event_fits(const struct lttng_gen *g, const struct lttng_made_file *f)
{
	return f->b.size - f->block + event_room(g) <= f->limit;
}

void lttng_gen_event(struct lttng_gen *g, struct lttng_made_file *f, uint64_t stamp, bool flush)
{
	const bool plain = is_plain(g);
	unsigned kind = (unsigned)choices_below(g->c, g->kind_count);
	if (plain && strchr(lttng_kinds[kind].fields, 's'))
		kind = 0; /* has none */
	const struct lttng_kind *type = &lttng_kinds[kind];
	/* An event word of zeros is padding to a reader. */
	struct lttng_put put = { .id = lttng_gen_id(g, f->channel, kind),
				 .form = -1,
				 .stamp = stamp & LTTNG_TIME_MASK ? stamp : stamp + 1 };

	if (f->compact)
		put.id = g->l->era == LTTNG_MARKERS ? 8 + kind : kind;
	if (!plain)
		put.form = choose_form(g, f, &put);
	put.align = lttng_gen_payload(g, type);
	if (flush || !event_fits(g, f)) {
		next_block(g, f, type, &put, flush);
		if (f->b.failed)
			return;
	}
	if (g->l->era <= LTTNG_MARKERS && g->heartbeat && !f->compact && !g->breaking && choices_chance(g->c, 1, 40)) {
		(void)put_heartbeat(g, f, put.stamp);
		put.align = lttng_gen_payload(g, type);
		if (!event_fits(g, f))
			return;
	}
	lttng_gen_put(g, f, &put);
}

/* ---- declarations ---- */

void lttng_gen_sizes(const struct lttng_gen *g, uint8_t sizes[5])
{
	sizes[SIZE_INT] = 4;
	sizes[SIZE_LONG] = sizes[SIZE_POINTER] = sizes[SIZE_SIZE_T] = g->arch;
	sizes[SIZE_ALIGNMENT] = g->alignment;
}

static void declaration_begin(struct lttng_gen *g, struct lttng_made_file *f, const char *channel, const char *name)
{
	g->scratch.size = 0;
	g->scratch.big_endian = f->big;
	if (g->l->era == LTTNG_CHANNEL_MARKERS) {
		bytes_text(&g->scratch, channel);
		bytes_u8(&g->scratch, 0);
	}
	bytes_text(&g->scratch, name);
	bytes_u8(&g->scratch, 0);
}

static void declaration_end(struct lttng_gen *g, struct lttng_made_file *f, uint32_t id, uint8_t align)
{
	/* The first event is one tick behind the begin, as exactly as its stamp can say. */
	g->declare_stamp += (g->early ? 1000 : 1) + choices_below(g->c, g->early ? 5000 : 50);
	if (!(g->declare_stamp & LTTNG_TIME_MASK))
		g->declare_stamp++;
	if (f->b.size - f->block + event_room(g) > f->limit) {
		lttng_gen_close(g, f, g->declare_stamp);
		lttng_gen_open(g, f, g->declare_stamp);
		if (f->b.failed)
			return;
	}
	struct lttng_put put = { .id = id, .form = -1, .align = align, .stamp = g->declare_stamp };
	lttng_gen_put(g, f, &put);
}

void lttng_gen_declare_id(struct lttng_gen *g, struct lttng_made_file *f, const char *channel, const char *name, uint32_t id,
			  const uint8_t sizes[5])
{
	uint8_t align = g->alignment > 1 || (g->alignment && g->l->natural) ? 2 : 1;
	declaration_begin(g, f, channel, name);
	bytes_align(&g->scratch, align);
	bytes_u16(&g->scratch, (uint16_t)id);
	bytes_append(&g->scratch, sizes, 5);
	declaration_end(g, f, 0, align);
}

void lttng_gen_declare_format(struct lttng_gen *g, struct lttng_made_file *f, const char *channel, const char *name,
			      const char *format)
{
	declaration_begin(g, f, channel, name);
	bytes_text(&g->scratch, format);
	bytes_u8(&g->scratch, 0);
	declaration_end(g, f, 1, 1);
}

void lttng_gen_load(struct lttng_gen *g, struct lttng_made_file *f, const char *name, uint32_t id, uint32_t checksum,
		    const uint8_t sizes[5])
{
	declaration_begin(g, f, "", name);
	if (g->alignment)
		bytes_align(&g->scratch, 4);
	bytes_u32(&g->scratch, checksum);
	bytes_u32(&g->scratch, id);
	for (unsigned i = 0; i < 5; i++)
		bytes_u32(&g->scratch, sizes[i]);
	declaration_end(g, f, 0, 1);
	g->load = f;
	g->load_number = f->b.size - (1 + 5) * sizeof(uint32_t);
}
