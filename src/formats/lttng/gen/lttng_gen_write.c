/* Blocks, events and declarations of generated traces. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

struct lttng_made_file *lttng_gen_file(struct lttng_gen *k, const char *name)
{
	if (k->file_count == LTTNG_GEN_FILES) {
		k->failed = true; /* cannot be: there is room for all channels of all cpus */
		return &k->files[0];
	}
	struct lttng_made_file *f = &k->files[k->file_count++];
	*f = (struct lttng_made_file){ .big = k->big, .first_event = true };
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	f->b.big_endian = k->big;
	return f;
}

void lttng_gen_open(struct lttng_gen *k, struct lttng_made_file *f, uint64_t begin)
{
	f->block = f->b.size;
	f->begin = f->stamp = begin;
	f->end = f->block + k->l->size;
	k->last_written = 0;
	k->open_first = k->open_last_at = 0;
	(void)bytes_grow(&f->b, k->l->size);
}

void lttng_gen_close(struct lttng_gen *k, struct lttng_made_file *f, uint64_t end)
{
	const struct lttng_layout *l = k->l;
	uint64_t data = f->b.size - f->block, size = l->variable ? lttng_align(data, LTTNG_PAGE) : f->limit;
	struct lttng_header h = k->h;

	if (data < size)
		(void)bytes_grow(&f->b, (size_t)(size - data));
	if (f->b.failed)
		return;
	if (k->losses && choices_chance(k->c, 1, 6))
		f->lost += 1 + (uint32_t)choices_below(k->c, 3000);
	h.v[LF_BEGIN] = f->begin;
	h.v[LF_END] = end;
	h.v[LF_BEGIN_FREQ] = h.v[LF_END_FREQ] = choices_chance(k->c, 1, 2) ? h.v[LF_FREQ] : 0;
	h.v[LF_BEGIN_SEC] = h.v[LF_END_SEC] = h.v[LF_SEC];
	h.v[LF_UNUSED] = l->variable ? data : size - data;
	h.v[LF_SIZE] = size;
	h.v[LF_EVENTS_LOST] = f->lost;
	h.v[LF_CORRUPT] = f->corrupt;
	for (unsigned i = 0; i < LF_COUNT; i++)
		lttng_header_store(f->b.data + f->block, l, f->big, (enum lttng_field)i, h.v[i]);
	if (k->block_count == k->block_capacity) {
		size_t capacity = k->block_capacity ? 2 * k->block_capacity : 64;
		struct lttng_made_block *blocks = realloc(k->blocks, capacity * sizeof(*blocks));
		if (!blocks) {
			k->failed = true;
			return;
		}
		k->blocks = blocks;
		k->block_capacity = capacity;
	}
	k->blocks[k->block_count++] = (struct lttng_made_block){ .file = (unsigned)(f - k->files),
								 .number = f->blocks++,
								 .at = f->block,
								 .size = size,
								 .data = data,
								 .begin = f->begin,
								 .end = end,
								 .first_stamp = k->open_first,
								 .last_stamp = k->last_written ? f->stamp : 0,
								 .last_event = k->open_last_at,
								 .events = k->last_written };
}

/* ---- events ---- */

static void align_to(struct lttng_made_file *f, uint64_t alignment)
{
	uint64_t rel = f->b.size - f->block, to = lttng_align(rel, alignment);
	if (to > rel)
		(void)bytes_grow(&f->b, (size_t)(to - rel));
}

/* Id as it is on the wire: two bytes in the order of their names up to 0.8. */
static void put_id(struct lttng_gen *k, struct lttng_made_file *f, uint32_t id)
{
	if (k->l->era == LTTNG_FACILITIES) {
		bytes_u8(&f->b, (uint8_t)(id >> 8));
		bytes_u8(&f->b, (uint8_t)id);
	} else {
		bytes_u16(&f->b, (uint16_t)id);
	}
}

static void put_size(struct lttng_gen *k, struct lttng_made_file *f, const struct lttng_put *put)
{
	uint64_t size = k->scratch.size + (uint64_t)(int64_t)put->size_error;
	bool escape = put->escape || size >= LTTNG_SIZE_ESCAPE;
	bytes_u16(&f->b, escape ? LTTNG_SIZE_ESCAPE : (uint16_t)size);
	if (escape && k->l->era > LTTNG_MARKERS)
		bytes_u32(&f->b, (uint32_t)size);
}

static uint64_t word_align(const struct lttng_gen *k)
{
	return k->alignment < 4 ? k->alignment : 4;
}

static void put_compact(struct lttng_gen *k, struct lttng_made_file *f, const struct lttng_put *put)
{
	unsigned bits = (unsigned)k->h.v[LF_TSCBITS], cut = (unsigned)k->h.v[LF_TRUNCATE];
	uint64_t mask = ((UINT64_C(1) << bits) - 1) << cut;
	uint64_t value = put->stamp & mask, stamp = (f->stamp & ~mask) | value;
	if (value < (f->stamp & mask))
		stamp += mask + (UINT64_C(1) << cut);
	bytes_u32(&f->b, (uint32_t)(value >> cut) | (put->id & 0xff) << bits);
	f->stamp = stamp;
}

/* 2.x. */
static void put_word(struct lttng_gen *k, struct lttng_made_file *f, const struct lttng_put *put)
{
	uint32_t form = put->form >= 0									     ? (uint32_t)put->form
			: f->first_event || put->stamp < f->stamp || put->stamp - f->stamp > LTTNG_TIME_MASK ? LTTNG_FORM_FULL
			: put->id >= LTTNG_FORM_FULL							     ? LTTNG_FORM_ID
													     : put->id;
	bytes_u32(&f->b, (form << LTTNG_TIME_BITS | (uint32_t)(put->stamp & LTTNG_TIME_MASK)) ^ put->word_xor);
	if (form >= LTTNG_FORM_FULL)
		put_id(k, f, put->id);
	if (form == LTTNG_FORM_FULL || form == LTTNG_FORM_SIZE)
		put_size(k, f, put);
	if (form == LTTNG_FORM_FULL) {
		align_to(f, k->alignment ? (k->l->natural ? 8 : k->alignment) : 0);
		bytes_u64(&f->b, put->stamp);
	}
	f->stamp = put->stamp;
}

void lttng_gen_put(struct lttng_gen *k, struct lttng_made_file *f, const struct lttng_put *put)
{
	bool old = k->l->era <= LTTNG_MARKERS;
	struct lttng_made_event e = { .file = (unsigned)(f - k->files), .before = f->b.size };

	align_to(f, old && !f->compact ? k->alignment : word_align(k));
	e.start = f->b.size;
	if (f->compact) {
		put_compact(k, f, put);
		e.header_end = f->b.size;
	} else if (!old) {
		put_word(k, f, put);
		e.header_end = f->b.size;
		align_to(f, put->align);
	} else {
		if (k->heartbeat)
			bytes_u32(&f->b, (uint32_t)put->stamp ^ put->word_xor);
		else
			bytes_u64(&f->b, put->stamp);
		put_id(k, f, put->id);
		put_size(k, f, put);
		e.header_end = f->b.size;
		align_to(f, k->alignment);
		f->stamp = put->stamp;
	}
	e.payload = f->b.size;
	bytes_append(&f->b, k->scratch.data, k->scratch.size);
	if (put->cut && f->b.size > f->block + put->cut)
		f->b.size = f->block + put->cut;
	e.end = f->end = f->b.size;
	f->first_event = false;
	if (!k->last_written++)
		k->open_first = f->stamp;
	k->open_last_at = e.start;
	k->g->records++;
	if (!f->metadata && k->event_count < LTTNG_GEN_EVENTS)
		k->events[k->event_count++] = e;
}

uint32_t lttng_gen_id(const struct lttng_gen *k, unsigned channel, unsigned kind)
{
	return k->first_id[channel] + kind;
}

/* A jump in time that stamps of 32 bits cannot tell: a heartbeat with the whole stamp. */
static bool put_heartbeat(struct lttng_gen *k, struct lttng_made_file *f, uint64_t stamp)
{
	bool full = k->l->minor == 8 || k->l->era == LTTNG_MARKERS;
	struct lttng_put put = { .id = full ? 3 : 2, .form = -1, .stamp = stamp };

	k->scratch.size = 0;
	k->scratch.big_endian = f->big;
	if (full)
		bytes_u64(&k->scratch, stamp);
	lttng_gen_put(k, f, &put);
	return full;
}

static uint64_t event_room(const struct lttng_gen *k)
{
	return k->scratch.size + 48u;
}

/* A string that ends with the block, which then has no padding at all. Packed traces only. */
static void fill_exactly(struct lttng_gen *k, struct lttng_made_file *f)
{
	const unsigned kind = LTTNG_KIND_PRINTK;
	struct lttng_put put = { .id = lttng_gen_id(k, f->channel, kind), .form = -1, .align = 1, .stamp = f->stamp };
	uint64_t header = k->l->era <= LTTNG_MARKERS ? (k->heartbeat ? 8 : 12) : put.id >= LTTNG_FORM_FULL ? 6 : 4;
	uint64_t room = f->limit - (f->b.size - f->block);

	if (k->alignment || f->compact || k->kind_count <= kind || !k->last_written || room <= header ||
	    room - header >= LTTNG_SIZE_ESCAPE)
		return;
	k->scratch.size = 0;
	uint8_t *p = bytes_grow(&k->scratch, (size_t)(room - header));
	if (p)
		memset(p, 'x', (size_t)(room - header) - 1);
	lttng_gen_put(k, f, &put);
}

/* In large traces as in real ones: 97 and 99 of 100 events have no text in a capture of 2.6 and in one of 2.3, and no event has a
 * size in its header. In small ones all kinds alike. */
static bool is_plain(struct lttng_gen *k)
{
	return lttng_gen_is_large(k) && !k->breaking && choices_chance(k->c, 15, 16);
}

void lttng_gen_event(struct lttng_gen *k, struct lttng_made_file *f, uint64_t stamp, bool flush)
{
	const bool plain = is_plain(k);
	unsigned kind = (unsigned)choices_below(k->c, k->kind_count);
	if (plain && strchr(lttng_kinds[kind].fields, 's'))
		kind = 0; /* has none */
	struct lttng_put put = { .id = lttng_gen_id(k, f->channel, kind), .form = -1, .stamp = stamp };
	const struct lttng_kind *type = &lttng_kinds[kind];

	if (f->compact)
		put.id = k->l->era == LTTNG_MARKERS ? 8 + kind : kind;
	/* An event word of zeros is padding to a reader. */
	if (!(put.stamp & LTTNG_TIME_MASK))
		put.stamp++;
	if (!plain && k->l->era > LTTNG_MARKERS && choices_chance(k->c, 1, 24))
		put.form = (int)LTTNG_FORM_SIZE;
	if (put.form >= 0 && (f->first_event || put.stamp - f->stamp > LTTNG_TIME_MASK))
		put.form = -1;
	put.align = lttng_gen_payload(k, type);
	if (flush || f->b.size - f->block + event_room(k) > f->limit) {
		uint64_t end = put.stamp, begin = put.stamp;
		if (!flush && !k->breaking && choices_chance(k->c, 1, 3)) {
			fill_exactly(k, f);
			put.align = lttng_gen_payload(k, type);
		}
		if (choices_chance(k->c, 1, 4)) {
			end = f->stamp + choices_below(k->c, put.stamp - f->stamp + 1);
			begin = end == put.stamp ? end : put.stamp - choices_below(k->c, put.stamp - end);
		}
		lttng_gen_close(k, f, end);
		lttng_gen_open(k, f, begin);
		if (f->b.failed)
			return;
	}
	if (k->l->era <= LTTNG_MARKERS && k->heartbeat && !f->compact && !k->breaking && choices_chance(k->c, 1, 40)) {
		(void)put_heartbeat(k, f, put.stamp);
		put.align = lttng_gen_payload(k, type);
		if (f->b.size - f->block + event_room(k) > f->limit)
			return;
	}
	lttng_gen_put(k, f, &put);
}

/* ---- declarations ---- */

void lttng_gen_sizes(const struct lttng_gen *k, uint8_t sizes[5])
{
	sizes[SIZE_INT] = 4;
	sizes[SIZE_LONG] = sizes[SIZE_POINTER] = sizes[SIZE_SIZE_T] = k->arch;
	sizes[SIZE_ALIGNMENT] = k->alignment;
}

static void declaration_begin(struct lttng_gen *k, struct lttng_made_file *f, const char *channel, const char *name)
{
	k->scratch.size = 0;
	k->scratch.big_endian = f->big;
	if (k->l->era == LTTNG_CHANNEL_MARKERS) {
		bytes_text(&k->scratch, channel);
		bytes_u8(&k->scratch, 0);
	}
	bytes_text(&k->scratch, name);
	bytes_u8(&k->scratch, 0);
}

static void declaration_end(struct lttng_gen *k, struct lttng_made_file *f, uint32_t id, uint8_t align)
{
	/* The first event is one tick behind the begin, as exactly as its stamp can say. */
	k->declare_stamp += (k->early ? 1000 : 1) + choices_below(k->c, k->early ? 5000 : 50);
	if (!(k->declare_stamp & LTTNG_TIME_MASK))
		k->declare_stamp++;
	if (f->b.size - f->block + event_room(k) > f->limit) {
		lttng_gen_close(k, f, k->declare_stamp);
		lttng_gen_open(k, f, k->declare_stamp);
		if (f->b.failed)
			return;
	}
	struct lttng_put put = { .id = id, .form = -1, .align = align, .stamp = k->declare_stamp };
	lttng_gen_put(k, f, &put);
}

void lttng_gen_declare_id(struct lttng_gen *k, struct lttng_made_file *f, const char *channel, const char *name, uint32_t id,
			  const uint8_t sizes[5])
{
	uint8_t align = k->alignment > 1 || (k->alignment && k->l->natural) ? 2 : 1;
	declaration_begin(k, f, channel, name);
	bytes_align(&k->scratch, align);
	bytes_u16(&k->scratch, (uint16_t)id);
	bytes_append(&k->scratch, sizes, 5);
	declaration_end(k, f, 0, align);
}

void lttng_gen_declare_format(struct lttng_gen *k, struct lttng_made_file *f, const char *channel, const char *name,
			      const char *format)
{
	declaration_begin(k, f, channel, name);
	bytes_text(&k->scratch, format);
	bytes_u8(&k->scratch, 0);
	declaration_end(k, f, 1, 1);
}

void lttng_gen_load(struct lttng_gen *k, struct lttng_made_file *f, const char *name, uint32_t id, uint32_t checksum,
		    const uint8_t sizes[5])
{
	declaration_begin(k, f, "", name);
	if (k->alignment)
		bytes_align(&k->scratch, 4);
	bytes_u32(&k->scratch, checksum);
	bytes_u32(&k->scratch, id);
	for (unsigned i = 0; i < 5; i++)
		bytes_u32(&k->scratch, sizes[i]);
	declaration_end(k, f, 0, 1);
}
