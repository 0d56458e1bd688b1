/* Events that are fine, in tight loops. Each stops before the first event that is anything but plain; lttng_walk.c looks at that. */
#include "lttng_walk.h"

/* Bytes that are asked for; all that the window has are used. */
#define CHUNK 4096u

struct chunk {
	const uint8_t *data; /* of rel `from` */
	uint64_t from, to;
};

static bool chunk_at(struct lttng_trace *t, const struct lttng_walk *k, uint64_t rel, struct chunk *c)
{
	uint64_t left = k->limit - rel;
	size_t got;
	c->data = window_upto(&t->w, k->base + rel, left < CHUNK ? (size_t)left : CHUNK, &got);
	if (!c->data)
		return false;
	uint64_t have = t->w.base + t->w.length - (k->base + rel);
	c->from = rel;
	c->to = rel + (have < left ? have : left);
	return true;
}

/* End of a payload that lies within the chunk; 0: not there. */
static uint64_t chunk_measure(const struct chunk *c, const struct lttng_shape *shape, uint64_t rel)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct lttng_step *s = &shape->steps[i];
		at = lttng_align(at, s->align);
		if (s->kind == STEP_FIXED) {
			at += s->size;
			continue;
		}
		if (s->kind == STEP_SEQUENCE || rel + at >= c->to)
			return 0;
		const uint8_t *p = c->data + (rel + at - c->from);
		const uint8_t *nul = memchr(p, 0, (size_t)(c->to - rel - at));
		if (!nul)
			return 0;
		at = lttng_align(at + (uint64_t)(nul - p) + 1, s->pad);
	}
	return rel + at;
}

/* How far a loop came. */
struct run {
	uint64_t rel, last, stamp, before, events;
};

static struct run run_begin(const struct lttng_walk *k)
{
	return (struct run){ .rel = k->rel, .last = k->last, .stamp = k->stamp, .before = k->before };
}

static inline void run_event(struct run *r, uint64_t start, uint64_t end, uint64_t stamp)
{
	r->last = start;
	r->rel = end;
	r->before = r->stamp;
	r->stamp = stamp;
	r->events++;
}

static void run_end(struct lttng_walk *k, struct run r)
{
	k->rel = r.rel;
	k->stamp = r.stamp;
	k->before = r.before;
	if (!r.events)
		return;
	k->last = r.last;
	k->kept = r.rel;
	k->events += r.events;
}

/* Whether padding within the chunk is zero; at most 7 bytes. */
static bool chunk_zero(const struct chunk *c, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (c->data[from - c->from])
			return false;
	return true;
}

/* Where the parts of a plain event are. */
struct plain {
	uint64_t start, header_end, payload, end, stamp;
};

static inline uint64_t plain_end(const struct chunk *c, const struct lttng_shape *shape, uint64_t payload)
{
	if (shape->is_fixed)
		return payload + shape->fixed;
	return payload <= c->to ? chunk_measure(c, shape, payload) : 0;
}

/* 2.x, the short form and form 31. */
static inline bool plain_word(const struct lttng_trace *t, const struct lttng_file *f, const struct chunk *c, const struct run *r,
			      bool packed, struct plain *e)
{
	const struct lttng_table *table = f->channel->table;
	struct lttng_marker *const *types = table->pages[0];
	const uint8_t *p = c->data + (e->start - c->from);
	uint32_t word = load_u32(p, t->big_endian), id = word >> LTTNG_TIME_BITS;
	const struct lttng_marker *m = NULL;

	e->header_end = e->start + 4;
	if (id < LTTNG_FORM_FULL) {
		m = word ? types[id] : NULL;
	} else if (id == LTTNG_FORM_ID) {
		id = load_u16(p + 4, t->big_endian);
		e->header_end += 2;
		if (id >= LTTNG_FORM_FULL) /* others are noted by the slow path */
			m = id < 256 ? types[id] : lttng_table_get(table, id);
	}
	if (!m || m->ready != f->serial)
		return false;
	e->stamp = r->stamp + ((word - r->stamp) & LTTNG_TIME_MASK);
	/* By the types alone where the layout is natural: also where events stand unaligned. */
	e->payload = packed ? e->header_end : lttng_align(e->header_end, m->shape.align);
	e->end = plain_end(c, &m->shape, e->payload);
	return e->end != 0;
}

/* To 1.0, with stamps of 32 bits and a size that is that of the description. */
static inline bool plain_old(const struct lttng_trace *t, const struct lttng_file *f, const struct chunk *c, const struct run *r,
			     uint64_t align, struct plain *e)
{
	const uint8_t *p = c->data + (e->start - c->from);
	uint32_t id = t->layout->era == LTTNG_FACILITIES ? (uint32_t)p[4] << 8 | p[5] : load_u16(p + 4, t->big_endian);
	uint32_t size = load_u16(p + 6, t->big_endian);
	const struct lttng_marker *m = lttng_table_get(f->channel->table, id);

	if (!m || m->ready != f->serial || size == LTTNG_SIZE_ESCAPE)
		return false;
	e->stamp = r->stamp + ((load_u32(p, t->big_endian) - r->stamp) & UINT32_MAX);
	e->header_end = e->start + 8;
	e->payload = lttng_align(e->header_end, align);
	e->end = plain_end(c, &m->shape, e->payload);
	return e->end && e->end - e->payload == size;
}

#define HEADER_ROOM 24u /* bytes that a header and what aligns it take at most */

/* The loop, of which the compiler makes a copy for each kind of trace. */
static inline __attribute__((always_inline)) void fast_events(struct lttng_trace *t, struct lttng_walk *k, const bool old,
							       const bool packed)
{
	const struct lttng_file *f = k->file;
	const uint64_t align = packed ? 1 : old || t->alignment < 4 ? t->alignment : 4, limit = k->limit, end = k->end;
	struct run r = run_begin(k);
	struct chunk c;

	while (r.rel < limit && chunk_at(t, k, r.rel, &c)) {
		const uint64_t before = r.rel;
		while (r.rel + HEADER_ROOM <= c.to) {
			struct plain e = { .start = packed ? r.rel : lttng_align(r.rel, align) };
			if (!(old ? plain_old(t, f, &c, &r, align, &e) : plain_word(t, f, &c, &r, packed, &e)))
				goto out;
			if (e.stamp > end || e.end > limit)
				goto out;
			if (!packed && (!chunk_zero(&c, r.rel, e.start) || !chunk_zero(&c, e.header_end, e.payload)))
				goto out;
			run_event(&r, e.start, e.end, e.stamp);
		}
		if (r.rel == before)
			break;
	}
out:
	run_end(k, r);
}

void lttng_fast(struct lttng_trace *t, struct lttng_walk *k)
{
	const struct lttng_table *table = k->file->channel->table;
	bool old = t->layout->era <= LTTNG_MARKERS;

	if (!table || (!old && !table->pages[0]))
		return;
	if (old)
		fast_events(t, k, true, false);
	else if (t->alignment)
		fast_events(t, k, false, false);
	else
		fast_events(t, k, false, true);
}
