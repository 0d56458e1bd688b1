/* Events that are fine, in tight loops. A loop stops before the first event that is anything but plain; lttng_walk.c looks at that.
 *
 * Where an event ends is known only when its type and its text are, so one walk waits for memory most of the time. Two walks at
 * once fill the gaps: lane 0 is the block that lttng_walk.c is at, lane 1 the block behind it, whose walk goes on from where it
 * came when its turn comes. What a lane did follows from the bytes and the types known so far alone, so it does not matter when. */
#include "formats/lttng/scan/lttng_walk.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Bytes that are asked for; all that the window has are used. */
#define CHUNK 4096u
#define ROOM 32u     /* bytes that a header takes at most, and that texts are looked for in; longer ones are measured one by one */
#define EXTENDED 32u /* entries of ids that do not fit an event word come behind those that do */
#define TYPES (EXTENDED + 65536u)
#define ALWAYS_INLINE inline __attribute__((always_inline)) /* or the state of a lane would live in memory */
#define likely(x) __builtin_expect((x), 1)
#define unlikely(x) __builtin_expect((x), 0)

/* A type of event whose payload is fixed parts with up to two texts between them, compiled from its steps. Small, as the next event
 * waits for it. */
struct plain {
	uint32_t ready;	 /* ready_for() the file for which the entry holds */
	uint16_t before; /* bytes of the first fixed part */
	uint8_t align;	 /* of the payload's start, less one */
	uint8_t second;	 /* 1: there are two texts */
};

/* The fixed part behind a text. */
struct behind {
	uint16_t size, round; /* bytes; of where it begins, less one */
};

struct lttng_types {
	struct plain plain[TYPES];
	struct behind behind[TYPES][2];
};

/* What the loops need of a lane; offsets are in `data`, which begins at a multiple of 8 of the block. */
struct hot {
	const uint8_t *data;
	uint64_t at, limit;
	int64_t room; /* up to here ROOM bytes are there */
	uint64_t stamp, end;
	uint64_t last, before, events;
};

/* ---- types ---- */

/* What the entries of a file have in `ready`: one comparison tells that an event is known and that it has no text. */
static uint32_t ready_for(uint32_t serial, bool texts)
{
	return serial << 1 | texts;
}

static bool compile(struct plain *p, struct behind behind[2], const struct lttng_shape *shape, uint32_t serial)
{
	const struct lttng_step *s = shape->steps, *stop = shape->count ? s + shape->count : s;
	uint16_t *const part[] = { &p->before, &behind[0].size, &behind[1].size };

	p->align = (uint8_t)(shape->align ? shape->align - 1 : 0);
	p->ready = ready_for(serial, !shape->is_fixed);
	if (shape->is_fixed) {
		p->before = (uint16_t)shape->fixed;
		return shape->fixed <= UINT16_MAX;
	}
	for (unsigned texts = 0, align = 1;; texts++) {
		uint32_t size = s < stop && s->kind == STEP_FIXED ? s->size : 0;
		if (texts)
			behind[texts - 1].round = (uint16_t)((size && s->align > align ? s->align : align) - 1u);
		*part[texts] = (uint16_t)size;
		s += size != 0;
		if (size > UINT16_MAX || s == stop)
			return s == stop && size <= UINT16_MAX;
		if (s->kind != STEP_STRING || s->align > 1 || texts == 2)
			return false;
		align = s->pad ? s->pad : 1;
		p->second = texts == 1;
		s++;
	}
}

void lttng_fast_learn(struct lttng_trace *t, const struct lttng_file *f, struct lttng_marker *m, uint32_t id)
{
	struct plain p = { 0 };
	struct behind behind[2] = { { 0 } };
	uint32_t entry = t->layout->era <= LTTNG_MARKERS || id < LTTNG_FORM_FULL ? id : id + EXTENDED;

	if (m->ready == f->serial)
		return;
	m->ready = f->serial;
	if (!t->types)
		t->types = calloc(1, sizeof(*t->types)); /* only the pages of ids in use are ever touched */
	if (!t->types)
		(void)lttng_no_memory(t);
	else if (compile(&p, behind, &m->shape, f->serial)) {
		memcpy(t->types->behind[entry], behind, sizeof(behind));
		t->types->plain[entry] = p;
	}
}

/* ---- one event ---- */

/* A bit for each of ROOM bytes: whether it is zero. */
static ALWAYS_INLINE uint32_t zero_bytes(const uint8_t *p)
{
#if defined(__SSE2__)
	const __m128i none = _mm_setzero_si128();
	__m128i low = _mm_loadu_si128((const __m128i *)(const void *)p),
		high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, none)) | (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, none))
										<< 16;
#else
	const uint8_t *nul = memchr(p, 0, ROOM);
	return nul ? UINT32_C(1) << (nul - p) : 0;
#endif
}

/* Whether the n < 8 bytes are zero; 8 are there. */
static ALWAYS_INLINE bool zero_padding(const uint8_t *p, uint64_t n)
{
	return !(load_u64(p, false) & ((UINT64_C(1) << 8 * n) - 1));
}

static ALWAYS_INLINE uint64_t align_up(uint64_t v, uint64_t less_one)
{
	return (v + less_one) & ~less_one;
}

enum loop { LOOP_PACKED, LOOP_WORDS, LOOP_OLD, LOOP_OLD_FULL };

/* What holds for all events of a file. */
struct rules {
	const struct lttng_types *types;
	const struct lttng_table *table;
	uint32_t serial, fixed, texts; /* of the file; and ready_for() it */
	enum loop loop;
	uint64_t align, full_align; /* of headers, and of full stamps in them; less one */
	bool big, facilities;
};

/* Behind a text and the fixed part after it. False: the text is long, or not all there. */
static ALWAYS_INLINE bool text_end(const struct hot *h, const struct behind *behind, uint64_t payload, const bool packed,
				   uint64_t *at)
{
	if (unlikely((int64_t)*at > h->room))
		return false;
	uint32_t zeros = zero_bytes(h->data + *at);
	uint64_t end = *at + (unsigned)__builtin_ctz(zeros | UINT32_C(1) << 31) + 1u;
	*at = (packed ? end : payload + align_up(end - payload, behind->round)) + behind->size;
	return likely(zeros != 0);
}

/* The end of a payload of type `entry`. False: nothing here tells it. */
static ALWAYS_INLINE bool plain_end(const struct hot *h, const struct rules *r, uint64_t entry, uint64_t payload, const bool packed,
				    uint64_t *end)
{
	const struct plain *p = &r->types->plain[entry];
	const struct behind *behind = r->types->behind[entry];

	*end = payload + p->before;
	if (likely(p->ready == r->fixed))
		return true;
	return p->ready == r->texts && text_end(h, behind, payload, packed, end) &&
	       (likely(!p->second) || text_end(h, behind + 1, payload, packed, end));
}

static ALWAYS_INLINE bool hot_step(struct hot *h, uint64_t start, uint64_t end, uint64_t stamp)
{
	if (unlikely(stamp > h->end) || unlikely(end > h->limit))
		return false;
	h->last = start;
	h->at = end;
	h->before = h->stamp;
	h->stamp = stamp;
	return true;
}

/* 2.x. */
static ALWAYS_INLINE bool step_word(struct hot *h, const struct rules *r, const bool packed, const bool big)
{
	uint64_t start = packed ? h->at : align_up(h->at, r->align);
	if (unlikely((int64_t)start > h->room))
		return false;
	const uint8_t *p = h->data + start;
	uint32_t word = load_u32(p, big), form = word >> LTTNG_TIME_BITS, wide = load_u16(p + 4, big);
	const bool extended = form == LTTNG_FORM_ID;
	uint64_t entry = extended ? wide + EXTENDED : form;
	uint64_t header = start + (extended ? 6 : 4), end;
	uint64_t stamp = h->stamp + ((word - h->stamp) & LTTNG_TIME_MASK);
	/* By the types alone where the layout is natural: also where events stand unaligned. */
	uint64_t payload = packed ? header : align_up(header, r->types->plain[entry].align);

	if (unlikely(!word)) /* may be no event */
		return false;
	if (!plain_end(h, r, entry, payload, packed,
		       &end)) /* as where the word says that a size follows: no type has these numbers */
		return false;
	if (!packed && (!zero_padding(h->data + h->at, start - h->at) || !zero_padding(h->data + header, payload - header)))
		return false;
	return hot_step(h, start, end, stamp);
}

/* To 1.0: a size that is that of the description. */
static ALWAYS_INLINE bool step_old(struct hot *h, const struct rules *r, const bool full, const bool big)
{
	uint64_t start = align_up(h->at, r->align);
	const unsigned width = full ? 8 : 4;
	if (unlikely((int64_t)start > h->room))
		return false;
	const uint8_t *p = h->data + start;
	uint32_t id = r->facilities ? (uint32_t)p[width] << 8 | p[width + 1] : load_u16(p + width, big);
	uint32_t size = load_u16(p + width + 2, big);
	uint64_t header = start + width + 4, payload = align_up(header, r->align), end;
	uint64_t stamp = full ? load_u64(p, big) : h->stamp + ((load_u32(p, big) - h->stamp) & UINT32_MAX);
	/* The next event is where the size says; that the description says so, too, need not be known by then. */
	if (!plain_end(h, r, id, payload, false, &end) || unlikely(end != payload + size) || unlikely(size == LTTNG_SIZE_ESCAPE) ||
	    stamp < h->stamp)
		return false;
	if (!zero_padding(h->data + h->at, start - h->at) || !zero_padding(h->data + header, payload - header))
		return false;
	return hot_step(h, start, payload + size, stamp);
}

static ALWAYS_INLINE bool step(struct hot *h, const struct rules *r, const enum loop loop, const bool big)
{
	return loop <= LOOP_WORDS ? step_word(h, r, loop == LOOP_PACKED, big) : step_old(h, r, loop == LOOP_OLD_FULL, big);
}

/* Until one of them stops: which. The compiler makes a copy for each kind of trace. */
static ALWAYS_INLINE struct hot *loop_both(struct hot *first, struct hot *second, const struct rules *r, const enum loop loop,
					   const bool big)
{
	struct hot a = *first, b = *second;
	uint64_t events = 0;
	bool go;
	for (; (go = step(&a, r, loop, big)) && step(&b, r, loop, big); events++)
		;
	a.events += events + go;
	b.events += events;
	*first = a;
	*second = b;
	return go ? second : first;
}

static ALWAYS_INLINE void loop_one(struct hot *only, const struct rules *r, const enum loop loop, const bool big)
{
	struct hot a = *only;
	for (; step(&a, r, loop, big); a.events++)
		;
	*only = a;
}

/* Both lanes, or only the first. Returns the one that stopped. */
static struct hot *loop_run(struct hot *first, struct hot *second, const struct rules *r)
{
#define LOOP(kind, big) \
	case (kind) << 1 | (big): \
		if (second) \
			return loop_both(first, second, r, kind, big); \
		loop_one(first, r, kind, big); \
		return first
	switch ((unsigned)r->loop << 1 | r->big) {
		LOOP(LOOP_PACKED, false);
		LOOP(LOOP_PACKED, true);
		LOOP(LOOP_WORDS, false);
		LOOP(LOOP_WORDS, true);
		LOOP(LOOP_OLD, false);
		LOOP(LOOP_OLD, true);
		LOOP(LOOP_OLD_FULL, false);
		LOOP(LOOP_OLD_FULL, true);
	}
	return first;
#undef LOOP
}

static bool loop_step(struct hot *h, const struct rules *r)
{
	switch (r->loop) {
	case LOOP_PACKED:
		return step(h, r, LOOP_PACKED, r->big);
	case LOOP_WORDS:
		return step(h, r, LOOP_WORDS, r->big);
	case LOOP_OLD:
		return step(h, r, LOOP_OLD, r->big);
	case LOOP_OLD_FULL:
		return step(h, r, LOOP_OLD_FULL, r->big);
	}
	return false;
}

/* ---- a lane ---- */

struct lane {
	struct hot h;
	struct window *own, *near; /* near: the other lane's, or NULL */
	struct window *w;	   /* the one that h.data is in */
	uint64_t base, from;	   /* of the block; of h.data in it */
	uint64_t first_stamp;
};

/* Gives the loops what the window has from the next event on. False: that is no more than they had. */
static bool lane_refill(struct lane *l)
{
	uint64_t rel = l->from + l->h.at, limit = l->from + l->h.limit, last = l->from + l->h.last;
	int64_t had = l->h.room - (int64_t)l->h.at;
	size_t got;

	if (l->h.at >= l->h.limit || l->h.room + (int64_t)ROOM >= (int64_t)l->h.limit)
		return false;
	l->from = rel & ~UINT64_C(7);
	uint64_t left = limit - l->from;
	bool near = l->near && window_holds(l->near, l->own->source, l->base + l->from, left < CHUNK ? left : CHUNK);
	l->w = near ? l->near : l->own;
	l->h.data = window_upto(l->w, l->base + l->from, left < CHUNK ? (size_t)left : CHUNK, &got);
	l->h.room = (l->h.data ? (int64_t)(l->w->base + l->w->length - (l->base + l->from)) : 0) - (int64_t)ROOM;
	l->h.at = rel - l->from;
	l->h.limit = limit - l->from;
	l->h.last = last - l->from; /* may lie before the data: only ever added to `from` again */
	return l->h.room - (int64_t)l->h.at > had;
}

/* End of a payload within the data; 0: it is not there. */
static uint64_t measure(const struct hot *h, const struct lttng_shape *shape, uint64_t payload)
{
	uint64_t at = 0, have = (uint64_t)h->room + ROOM, to = have < h->limit ? have : h->limit;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct lttng_step *s = &shape->steps[i];
		at = lttng_align(at, s->align);
		if (s->kind == STEP_FIXED) {
			at += s->size;
			continue;
		}
		if (s->kind == STEP_SEQUENCE || payload + at >= to)
			return 0;
		const uint8_t *p = h->data + payload + at, *nul = memchr(p, 0, (size_t)(to - payload - at));
		if (!nul)
			return 0;
		at = lttng_align(at + (uint64_t)(nul - p) + 1, s->pad);
	}
	return payload + at;
}

/* What follows an event word: the id where it does not fit, the size, and the whole stamp. False: not here, or not what it should
 * be. */
static bool word_header(const struct hot *h, const struct rules *r, uint32_t form, uint64_t *header, uint32_t *id, uint32_t *size,
			uint64_t *stamp)
{
	const uint8_t *p = h->data + *header;

	if (form < LTTNG_FORM_FULL)
		return true;
	*id = load_u16(p, r->big);
	*header += 2;
	if (form == LTTNG_FORM_ID)
		return *id >= LTTNG_FORM_FULL;
	*size = load_u16(p + 2, r->big);
	*header += 2;
	if (form == LTTNG_FORM_FULL) {
		uint64_t at = align_up(*header, r->full_align), full = load_u64(h->data + at, r->big);
		if ((full ^ *stamp) & LTTNG_TIME_MASK || full < h->stamp || !zero_padding(h->data + *header, at - *header))
			return false;
		*header = at + 8;
		*stamp = full;
	}
	return *size != LTTNG_SIZE_ESCAPE;
}

/* One event that the loops leave: its texts are longer, or more, than they look at, or its size follows the event word. */
static bool lane_event(struct lane *l, const struct rules *r)
{
	struct hot *h = &l->h;
	const bool old = r->loop >= LOOP_OLD;
	uint64_t start = align_up(h->at, r->align);
	if (!h->data || start >= h->limit || (int64_t)start > h->room)
		return false;
	const uint8_t *p = h->data + start;
	uint32_t word = load_u32(p, r->big), id = word >> LTTNG_TIME_BITS, size = LTTNG_SIZE_ESCAPE;
	uint64_t header = start + 4, stamp = h->stamp + ((word - h->stamp) & (old ? UINT32_MAX : LTTNG_TIME_MASK));
	bool fine;

	if (old) {
		unsigned width = r->loop == LOOP_OLD_FULL ? 8 : 4;
		id = r->facilities ? (uint32_t)p[width] << 8 | p[width + 1] : load_u16(p + width, r->big);
		size = load_u16(p + width + 2, r->big);
		stamp = width == 8 ? load_u64(p, r->big) : stamp;
		header = start + width + 4;
		fine = size != LTTNG_SIZE_ESCAPE && stamp >= h->stamp;
	} else
		fine = word && word_header(h, r, id, &header, &id, &size, &stamp); /* a zero word may be no event */
	const struct lttng_marker *m = fine ? lttng_table_get(r->table, id) : NULL;
	if (!m || m->ready != r->serial)
		return false;
	uint64_t payload = align_up(header, old ? r->align : m->shape.align - 1u);
	if (!zero_padding(h->data + h->at, start - h->at) || !zero_padding(h->data + header, payload - header))
		return false;
	uint64_t end = measure(h, &m->shape, payload);
	return end && (size == LTTNG_SIZE_ESCAPE || end - payload == size) && hot_step(h, start, end, stamp);
}

/* A lane that the loops have left: whether it can go on. */
static bool lane_serve(struct lane *l, const struct rules *r)
{
	if (l->h.room - (int64_t)l->h.at < (int64_t)CHUNK && lane_refill(l))
		return true;
	bool go = lane_event(l, r);
	l->h.events += go;
	return go;
}

/* The first event of the block by itself: its stamp is wanted. */
static bool lane_begin(struct lane *l, const struct rules *r)
{
	if (l->h.events)
		return lane_serve(l, r);
	(void)lane_refill(l);
	bool go = loop_step(&l->h, r) || lane_event(l, r);
	l->h.events += go;
	l->first_stamp = l->h.stamp;
	return go;
}

/* ---- the block behind ---- */

/* What the header behind the block says of the next one. Where it lies, nobody goes by it. */
static void ahead_open(struct lttng_trace *t, const struct lttng_walk *k)
{
	struct lttng_ahead *a = &t->ahead;
	const struct lttng_file *f = k->file;
	const struct lttng_layout *l = t->layout;
	uint64_t offset = k->base + k->room, left = f->source->size > offset ? f->source->size - offset : 0;
	struct lttng_header h;

	if (a->serial == f->serial && a->base > k->base)
		return;
	if (a->w.source != f->source)
		window_reset(&a->w, f->source);
	a->serial = f->serial;
	a->base = offset;
	a->limit = 0;
	struct window *w = window_holds(&t->w, f->source, offset, l->size) ? &t->w : &a->w;
	const uint8_t *p = left >= l->size ? window_at(w, offset, l->size) : NULL;
	if (!p)
		return;
	lttng_header_load(&h, l, t->big_endian, p);
	uint64_t size = l->variable ? h.v[LF_SIZE] : f->block_size, data = lttng_header_data_end(l, &h, size);
	if (h.v[LF_MAGIC] != LTTNG_MAGIC || size > left || data < l->size || data > size || h.v[LF_BEGIN] > h.v[LF_END])
		return;
	a->limit = data;
	a->begin = a->stamp = a->before = h.v[LF_BEGIN];
	a->end = h.v[LF_END];
	a->rel = a->last = l->size;
	a->events = 0;
}

/* The walk of this block where the lane behind left it. */
static void ahead_take(struct lttng_trace *t, struct lttng_walk *k)
{
	struct lttng_ahead *a = &t->ahead;
	if (a->serial != k->file->serial || a->base != k->base)
		return;
	a->serial = 0;
	if (k->events || k->rel != t->layout->size || a->limit != k->limit || a->begin != k->begin || a->end != k->end ||
	    !a->events)
		return;
	k->rel = k->kept = a->rel;
	k->last = a->last;
	k->stamp = a->stamp;
	k->before = a->before;
	k->events = a->events;
	k->first_stamp = a->first_stamp;
	if (!window_holds(&t->w, k->file->source, k->base + k->rel, 1)) {
		struct window w = t->w;
		t->w = a->w;
		a->w = w;
	}
}

static struct lane ahead_lane(struct lttng_trace *t)
{
	const struct lttng_ahead *a = &t->ahead;
	return (struct lane){
		.h = { .at = a->rel,
		       .limit = a->limit,
		       .stamp = a->stamp,
		       .end = a->end,
		       .last = a->last,
		       .before = a->before,
		       .events = a->events },
		.own = &t->ahead.w,
		.near = &t->w,
		.base = a->base,
		.first_stamp = a->first_stamp,
	};
}

void lttng_fast(struct lttng_trace *t, struct lttng_walk *k)
{
	const bool old = t->layout->era <= LTTNG_MARKERS;
	const uint64_t align = lttng_event_align(t, k->file);
	const struct rules r = {
		.types = t->types,
		.table = k->file->channel->table,
		.serial = k->file->serial,
		.fixed = ready_for(k->file->serial, false),
		.texts = ready_for(k->file->serial, true),
		.big = t->big_endian,
		.facilities = t->layout->era == LTTNG_FACILITIES,
		.align = align ? align - 1 : 0,
		.full_align = !t->alignment	   ? 0
			      : t->layout->natural ? 7
						   : t->alignment - 1u,
		.loop = old	       ? (t->heartbeat ? LOOP_OLD : LOOP_OLD_FULL)
			: t->alignment ? LOOP_WORDS
				       : LOOP_PACKED,
	};
	if (!t->types)
		return;
	ahead_take(t, k);
	ahead_open(t, k);
	struct lane a = {
		.h = { .at = k->rel,
		       .limit = k->limit,
		       .stamp = k->stamp,
		       .end = k->end,
		       .last = k->last,
		       .before = k->before,
		       .events = k->events },
		.own = &t->w,
		.base = k->base,
		.first_stamp = k->first_stamp,
	};
	struct lane b = ahead_lane(t);
	bool both = t->ahead.limit != 0 && lane_begin(&b, &r);
	for (bool go = lane_begin(&a, &r); go;) {
		if (loop_run(&a.h, both ? &b.h : NULL, &r) == &b.h) {
			both = lane_serve(&b, &r);
			continue;
		}
		const uint8_t *data = a.h.data;
		go = lane_serve(&a, &r);
		if (both && b.w == a.w && a.h.data != data) { /* the window moved away from below the other lane */
			b.h.room = INT64_MIN / 2;
			both = lane_refill(&b);
		}
	}
	if (t->w.status != TM_OK)
		t->status = t->w.status;
	k->rel = a.from + a.h.at;
	if (a.h.events > k->events)
		k->kept = k->rel;
	k->last = a.from + a.h.last;
	k->stamp = a.h.stamp;
	k->before = a.h.before;
	k->events = a.h.events;
	k->first_stamp = a.first_stamp;
	t->ahead.rel = b.from + b.h.at;
	t->ahead.last = b.from + b.h.last;
	t->ahead.stamp = b.h.stamp;
	t->ahead.before = b.h.before;
	t->ahead.events = b.h.events;
	t->ahead.first_stamp = b.first_stamp;
}
