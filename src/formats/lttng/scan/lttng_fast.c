/* The fast path: plain events in tight loops. A loop stops before the first event that is not plain, which lttng_walk.c takes.
 *
 * Where an event ends is known only when its type and its text are, so one walk waits for memory most of the time. Two walks at
 * once fill the gaps: lane 0 is the block that lttng_walk.c is at, lane 1 the block behind it, whose walk goes on from where the
 * lane came when its turn comes. What a lane did depends only on the bytes and on the types known so far, so it does not matter
 * when. */
#include <stdlib.h>
#include <string.h>

#include "core/inline.h"
#include "formats/lttng/scan/lttng_walk.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Bytes that are asked for; all that the window has are used. */
#define CHUNK 4096u
#define ROOM 32u     /* bytes that a header takes at most, and in which a text must end for the loops */
#define EXTENDED 32u /* entries of ids that do not fit an event word come behind those that do */
#define TYPES (EXTENDED + 65536u)
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

struct fast_types {
	struct plain plain[TYPES];
	struct behind behind[TYPES][2];
};

/* How far the block behind the one in work has been walked already. */
struct ahead {
	struct window window;
	uint32_t serial;		  /* of its file; 0: none */
	uint64_t base, begin, end, limit; /* limit 0: there is no such block */
	struct lttng_position at;
};

struct lttng_fast {
	struct fast_types types; /* by id, of the file in work */
	struct ahead ahead;
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

void lttng_fast_learn(struct lttng_trace *t, const struct lttng_file *f, struct lttng_marker *m)
{
	struct plain p = { 0 };
	struct behind behind[2] = { { 0 } };
	uint32_t id = m->type.id, entry = t->coding.layout->era <= LTTNG_MARKERS || id < LTTNG_FORM_FULL ? id : id + EXTENDED;

	if (m->ready == f->serial)
		return;
	m->ready = f->serial;
	if (!t->fast)
		t->fast = calloc(1, sizeof(*t->fast)); /* only the pages of ids in use are ever touched */
	if (!t->fast)
		(void)lttng_no_memory(t);
	else if (compile(&p, behind, &m->type.shape, f->serial)) {
		memcpy(t->fast->types.behind[entry], behind, sizeof(behind));
		t->fast->types.plain[entry] = p;
	}
}

void lttng_fast_free(struct lttng_fast *fast)
{
	if (fast && fast->ahead.window.source)
		window_close(&fast->ahead.window);
	free(fast);
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

enum loop { LOOP_PACKED, LOOP_WORDS, LOOP_OLD, LOOP_OLD_FULL, LOOP_COMPACT, LOOP_NONE };

/* What holds for all events of a file. */
struct rules {
	const struct fast_types *types;
	const struct lttng_table *table;
	uint32_t serial, fixed, texts; /* of the file; and ready_for() it */
	enum loop loop;
	uint64_t align, full_align; /* of headers, and of full stamps in them; less one */
	uint64_t lap;		    /* bits of a stamp that change with a full stamp only; 0: the trace does not announce wraps */
	bool big, facilities;
	bool leave_full; /* full stamps are for the walk, which remembers them */
	/* Compact events: bits of the stamp in a word, which are these of the stamp, and of the id behind it; and what ids are
	 * added to. */
	unsigned tscbits, truncate;
	uint64_t stamp_mask;
	uint32_t id_mask, id_base;
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

/* The end of a payload of type `entry`. False: it is not known here. */
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

	if (unlikely(!word) || unlikely(((stamp ^ h->stamp) & r->lap) != 0)) /* may be padding; may be damage */
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

/* The stamp that the few bits of a compact word mean: the next one at or after that of the event before. */
static ALWAYS_INLINE uint64_t compact_stamp(const struct hot *h, const struct rules *r, uint32_t word)
{
	uint64_t value = (uint64_t)word << r->truncate & r->stamp_mask, stamp = (h->stamp & ~r->stamp_mask) | value;
	return value < (h->stamp & r->stamp_mask) ? stamp + r->stamp_mask + (UINT64_C(1) << r->truncate) : stamp;
}

static ALWAYS_INLINE uint32_t compact_id(const struct rules *r, uint32_t word)
{
	return r->id_base | ((uint32_t)((uint64_t)word >> r->tscbits) & r->id_mask);
}

/* 0.8 and 1.0: time, id and data in one word, and no size. */
static ALWAYS_INLINE bool step_compact(struct hot *h, const struct rules *r, const bool big)
{
	uint64_t start = align_up(h->at, r->align), end;
	if (unlikely((int64_t)start > h->room))
		return false;
	uint32_t word = load_u32(h->data + start, big);
	if (unlikely(!word) || !plain_end(h, r, compact_id(r, word), start + 4, false, &end) ||
	    !zero_padding(h->data + h->at, start - h->at))
		return false;
	return hot_step(h, start, end, compact_stamp(h, r, word));
}

static ALWAYS_INLINE bool step(struct hot *h, const struct rules *r, const enum loop loop, const bool big)
{
	if (loop == LOOP_COMPACT)
		return step_compact(h, r, big);
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
static ALWAYS_INLINE struct hot *loop_run(struct hot *first, struct hot *second, const struct rules *r)
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
		LOOP(LOOP_COMPACT, false);
		LOOP(LOOP_COMPACT, true);
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
	case LOOP_COMPACT:
		return step(h, r, LOOP_COMPACT, r->big);
	case LOOP_NONE:
		break;
	}
	return false;
}

/* ---- a lane ---- */

struct lane {
	struct hot h;
	struct window *own, *near; /* near: the other lane's, or NULL */
	uint64_t base, from;	   /* of the block; of h.data in it */
	uint64_t first_stamp;
};

/* Gives the loops what the window has from the next event on. False: they had that already. */
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
	struct window *w = near ? l->near : l->own;
	l->h.data = window_upto(w, l->base + l->from, left < CHUNK ? (size_t)left : CHUNK, &got);
	l->h.room = (l->h.data ? (int64_t)(w->base + w->length - (l->base + l->from)) : 0) - (int64_t)ROOM;
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

	if (form != LTTNG_FORM_FULL && (*stamp ^ h->stamp) & r->lap)
		return false;
	if (form < LTTNG_FORM_FULL)
		return true;
	if (form == LTTNG_FORM_FULL && r->leave_full)
		return false;
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

/* The header of an event: what the loops read of it, and more. */
struct fast_header {
	uint64_t start, end; /* end: behind it */
	uint64_t stamp;
	uint32_t id, size; /* size LTTNG_SIZE_ESCAPE: it has none */
	uint64_t align;	   /* of its payload, less one, up to 1.0 */
	bool by_type;	   /* its payload is aligned by its type */
};

static bool header_word(const struct hot *h, const struct rules *r, const uint8_t *p, struct fast_header *e)
{
	uint32_t word = load_u32(p, r->big);

	e->id = word >> LTTNG_TIME_BITS;
	e->end = e->start + 4;
	e->stamp = h->stamp + ((word - h->stamp) & LTTNG_TIME_MASK);
	e->by_type = true;
	/* A zero word may be padding. */
	return word && word_header(h, r, e->id, &e->end, &e->id, &e->size, &e->stamp);
}

static bool header_old(const struct hot *h, const struct rules *r, const uint8_t *p, struct fast_header *e)
{
	const bool full = r->loop == LOOP_OLD_FULL;
	const unsigned width = full ? 8 : 4;

	e->id = r->facilities ? (uint32_t)p[width] << 8 | p[width + 1] : load_u16(p + width, r->big);
	e->size = load_u16(p + width + 2, r->big);
	e->stamp = full ? load_u64(p, r->big) : h->stamp + ((load_u32(p, r->big) - h->stamp) & UINT32_MAX);
	e->end = e->start + width + 4;
	e->align = r->align;
	return e->size != LTTNG_SIZE_ESCAPE && e->stamp >= h->stamp;
}

static bool header_compact(const struct hot *h, const struct rules *r, const uint8_t *p, struct fast_header *e)
{
	uint32_t word = load_u32(p, r->big);

	e->end = e->start + 4;
	e->stamp = compact_stamp(h, r, word);
	e->id = compact_id(r, word);
	return word != 0;
}

/* One event that the loops leave: its texts are longer, or more, than they handle, or its size follows the event word. */
static bool lane_event(struct lane *l, const struct rules *r)
{
	struct hot *h = &l->h;
	struct fast_header e = { .start = align_up(h->at, r->align), .size = LTTNG_SIZE_ESCAPE };

	if (!h->data || e.start >= h->limit || (int64_t)e.start > h->room)
		return false;
	const uint8_t *p = h->data + e.start;
	bool fine = r->loop == LOOP_COMPACT ? header_compact(h, r, p, &e)
		    : r->loop >= LOOP_OLD   ? header_old(h, r, p, &e)
					    : header_word(h, r, p, &e);
	const struct lttng_marker *m = fine ? lttng_table_get(r->table, e.id) : NULL;
	if (!m || m->ready != r->serial)
		return false;
	const struct lttng_shape *shape = &m->type.shape;
	uint64_t payload = align_up(e.end, e.by_type ? shape->align - 1u : e.align);
	if (!zero_padding(h->data + h->at, e.start - h->at) || !zero_padding(h->data + e.end, payload - e.end))
		return false;
	uint64_t end = measure(h, shape, payload);
	return end && (e.size == LTTNG_SIZE_ESCAPE || end - payload == e.size) && hot_step(h, e.start, end, e.stamp);
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

/* Opens the block behind by its header, which was not judged yet: if the walk of that block finds other values, what was done ahead
 * is forgotten. */
static void ahead_open(struct lttng_trace *t, const struct lttng_walk *w)
{
	struct ahead *a = &t->fast->ahead;
	const struct lttng_file *f = w->file;
	const struct lttng_layout *l = t->coding.layout;
	uint64_t offset = w->in.base + w->room, left = f->source->size > offset ? f->source->size - offset : 0;
	struct lttng_header h;

	if (a->serial == f->serial && a->base > w->in.base)
		return;
	if (a->window.source != f->source)
		window_reset(&a->window, f->source);
	a->serial = f->serial;
	a->base = offset;
	a->limit = 0;
	struct window *window = window_holds(&t->window, f->source, offset, l->size) ? &t->window : &a->window;
	const uint8_t *p = left >= l->size ? window_at(window, offset, l->size) : NULL;
	if (!p)
		return;
	lttng_header_load(&h, l, t->coding.big_endian, p);
	uint64_t size = l->variable ? h.v[LF_SIZE] : f->block_size, data = lttng_header_data_end(l, &h, size);
	if (h.v[LF_MAGIC] != LTTNG_MAGIC || size > left || data < l->size || data > size || h.v[LF_BEGIN] > h.v[LF_END])
		return;
	a->limit = data;
	a->begin = h.v[LF_BEGIN];
	a->end = h.v[LF_END] | lttng_stamp_slack(&t->coding, f->compact);
	a->at = (struct lttng_position){ .rel = l->size, .last = l->size, .stamp = a->begin, .before = a->begin };
}

/* The walk of this block where the lane behind left it. */
static void ahead_take(struct lttng_trace *t, struct lttng_walk *w)
{
	struct ahead *a = &t->fast->ahead;
	if (a->serial != w->file->serial || a->base != w->in.base)
		return;
	a->serial = 0;
	if (w->at.events || w->at.rel != t->coding.layout->size || a->limit != w->limit || a->begin != w->begin ||
	    a->end != w->due || !a->at.events)
		return;
	w->at = a->at;
	w->at.kept = w->at.rel;
	if (!window_holds(&t->window, w->file->source, w->in.base + w->at.rel, 1)) {
		struct window window = t->window;
		t->window = a->window;
		a->window = window;
	}
}

/* ---- both blocks ---- */

static struct lane lane_open(const struct lttng_position *at, uint64_t base, uint64_t limit, uint64_t end)
{
	return (struct lane){ .h = { .at = at->rel,
				     .limit = limit,
				     .stamp = at->stamp,
				     .end = end,
				     .last = at->last,
				     .before = at->before,
				     .events = at->events },
			      .base = base,
			      .first_stamp = at->first_stamp };
}

static void lane_close(const struct lane *l, struct lttng_position *at)
{
	at->rel = l->from + l->h.at;
	if (l->h.events > at->events)
		at->kept = at->rel;
	at->last = l->from + l->h.last;
	at->stamp = l->h.stamp;
	at->before = l->h.before;
	at->events = l->h.events;
	at->first_stamp = l->first_stamp;
}

/* The bit fields of compact events. LOOP_NONE: they do not fit a word. */
static void compact_rules(const struct lttng_coding *c, struct rules *r)
{
	bool fit = c->tscbits <= 32 && c->tscbits + c->truncate <= 63 && (r->facilities || c->shift <= 63);

	r->loop = fit && (!r->facilities || c->compact_facility != UINT32_MAX) ? LOOP_COMPACT : LOOP_NONE;
	r->tscbits = (unsigned)c->tscbits;
	r->truncate = (unsigned)c->truncate;
	r->stamp_mask = fit ? ((UINT64_C(1) << c->tscbits) - 1) << c->truncate : 0;
	r->id_mask = lttng_compact_ids(c);
	r->id_base = r->facilities ? c->compact_facility << 8 : 0;
}

/* What holds for all events of the file. */
static struct rules rules_open(struct lttng_trace *t, const struct lttng_file *f)
{
	const struct lttng_coding *c = &t->coding;
	const uint64_t align = lttng_event_align(c, f->compact), full = lttng_stamp_align(c);
	struct rules r = {
		.types = &t->fast->types,
		.table = f->channel->table,
		.serial = f->serial,
		.fixed = ready_for(f->serial, false),
		.texts = ready_for(f->serial, true),
		.big = c->big_endian,
		.facilities = c->layout->era == LTTNG_FACILITIES,
		.lap = c->layout->era >= LTTNG_TRACE_MARKERS && t->laps != LAPS_SILENT ? ~LTTNG_TIME_MASK : 0,
		.leave_full = t->s->plan != NULL,
		.align = align ? align - 1 : 0,
		.full_align = full ? full - 1 : 0,
		.loop = c->layout->era <= LTTNG_MARKERS ? (c->heartbeat ? LOOP_OLD : LOOP_OLD_FULL)
			: c->alignment			? LOOP_WORDS
							: LOOP_PACKED,
	};
	if (f->compact)
		compact_rules(c, &r);
	return r;
}

void lttng_fast(struct lttng_trace *t, struct lttng_walk *w)
{
	const uint64_t was = w->at.events;

	if (!t->fast)
		return;
	const struct rules r = rules_open(t, w->file); /* const: or the loops would load it again and again */
	if (r.loop == LOOP_NONE)
		return;
	ahead_take(t, w);
	ahead_open(t, w);
	struct ahead *ahead = &t->fast->ahead;
	struct lane a = lane_open(&w->at, w->in.base, w->limit, w->due);
	struct lane b = lane_open(&ahead->at, ahead->base, ahead->limit, ahead->end);
	a.own = &t->window;
	b.own = &ahead->window;
	b.near = &t->window;
	/* This block first: a window that then holds the block behind as well holds all of this one, and stays where it is. */
	bool go = lane_begin(&a, &r), both = ahead->limit != 0 && lane_begin(&b, &r);
	while (go) {
		if (loop_run(&a.h, both ? &b.h : NULL, &r) == &b.h)
			both = lane_serve(&b, &r);
		else
			go = lane_serve(&a, &r);
	}
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	lane_close(&a, &w->at);
	lane_close(&b, &ahead->at);
	w->fast += w->at.events - was;
	w->laps.blind &= w->at.events == was;
}

/* ---- the contract ---- */

/* Each rule, and why the loops cannot hide it: FAST_LEAVES what is not plain to the walk, FAST_KEEPS in struct lttng_position what
 * is judged behind the last event. All others are about headers, names, declarations, and what is behind the data. */
enum {
	FAST_trace_dir_missing = FAST_ELSEWHERE,
	FAST_no_metadata_file = FAST_ELSEWHERE,
	FAST_control_dir_missing = FAST_ELSEWHERE,
	FAST_eventdefs_missing = FAST_ELSEWHERE,
	FAST_control_dir_unexpected = FAST_ELSEWHERE,
	FAST_file_name_grammar = FAST_ELSEWHERE,
	FAST_cpu_leading_zero = FAST_ELSEWHERE,
	FAST_cpu_number_range = FAST_ELSEWHERE,
	FAST_duplicate_channel_cpu = FAST_ELSEWHERE,
	FAST_cpu_gap = FAST_ELSEWHERE,
	FAST_channel_cpu_without_metadata_cpu = FAST_ELSEWHERE,
	FAST_channel_cpu_missing = FAST_ELSEWHERE,
	FAST_flight_prefix_on_metadata = FAST_ELSEWHERE,
	FAST_flight_flag_mismatch = FAST_ELSEWHERE,
	FAST_normal_prefix = FAST_ELSEWHERE,
	FAST_empty_file = FAST_ELSEWHERE,
	FAST_file_shorter_than_header = FAST_ELSEWHERE,
	FAST_text_transcoded = FAST_ELSEWHERE,
	FAST_bad_magic_first_block = FAST_ELSEWHERE,
	FAST_foreign_format = FAST_ELSEWHERE,
	FAST_unsupported_version = FAST_ELSEWHERE,
	FAST_magic_lost_in_block = FAST_ELSEWHERE,
	FAST_byte_order_mixed = FAST_ELSEWHERE,
	FAST_version_mixed = FAST_ELSEWHERE,
	FAST_buf_size_zero = FAST_ELSEWHERE,
	FAST_buf_size_not_constant = FAST_ELSEWHERE,
	FAST_sb_size_misleads = FAST_ELSEWHERE,
	FAST_buf_size_not_power_of_two = FAST_ELSEWHERE,
	FAST_buf_size_below_page = FAST_ELSEWHERE,
	FAST_sb_size_not_page_multiple = FAST_ELSEWHERE,
	FAST_sb_size_not_minimal = FAST_ELSEWHERE,
	FAST_file_size_not_multiple = FAST_ELSEWHERE,
	FAST_block_beyond_eof = FAST_ELSEWHERE,
	FAST_trailing_garbage = FAST_ELSEWHERE,
	FAST_zero_block = FAST_ELSEWHERE,
	FAST_lost_size_range = FAST_ELSEWHERE,
	FAST_data_size_range = FAST_ELSEWHERE,
	FAST_unterminated_block = FAST_ELSEWHERE,
	FAST_unterminated_not_last = FAST_ELSEWHERE,
	FAST_arch_size_invalid = FAST_ELSEWHERE,
	FAST_arch_type_unknown = FAST_ELSEWHERE,
	FAST_arch_type_size_conflict = FAST_ELSEWHERE,
	FAST_arch_variant_nonzero = FAST_ELSEWHERE,
	FAST_float_word_order_value = FAST_ELSEWHERE,
	FAST_flag_not_boolean = FAST_ELSEWHERE,
	FAST_alignment_invalid = FAST_ELSEWHERE,
	FAST_compact_fields_invalid = FAST_ELSEWHERE,
	FAST_compact_without_heartbeat = FAST_ELSEWHERE,
	FAST_freq_zero = FAST_ELSEWHERE,
	FAST_freq_scale_zero = FAST_ELSEWHERE,
	FAST_freq_implausible = FAST_ELSEWHERE,
	FAST_block_freq_differs = FAST_ELSEWHERE,
	FAST_start_time_subsecond_range = FAST_ELSEWHERE,
	FAST_start_time_implausible = FAST_ELSEWHERE,
	FAST_start_monotonic_nonzero = FAST_ELSEWHERE,
	FAST_header_field_differs = FAST_ELSEWHERE,
	FAST_vendor_0_8_loss_fields = FAST_ELSEWHERE,
	FAST_seed_literal_start_time = FAST_ELSEWHERE,
	FAST_end_before_begin = FAST_ELSEWHERE,
	FAST_end_stamp_zero = FAST_ELSEWHERE,
	FAST_stamp_beyond_clocks = FAST_ELSEWHERE,
	FAST_block_recorded_twice = FAST_ELSEWHERE,
	FAST_blocks_overlap = FAST_ELSEWHERE,
	FAST_first_begin_differs = FAST_ELSEWHERE,
	FAST_start_tsc_mismatch = FAST_ELSEWHERE,
	FAST_blocks_not_sorted = FAST_ELSEWHERE,
	FAST_block_switch_first_event = FAST_KEEPS, /* first_stamp */
	FAST_appended_sessions = FAST_ELSEWHERE,
	FAST_events_lost_decreases = FAST_ELSEWHERE,
	FAST_events_lost = FAST_ELSEWHERE,
	FAST_subbuf_corrupt = FAST_ELSEWHERE,
	FAST_data_end_mid_event = FAST_LEAVES,	/* an event that goes on behind the limit */
	FAST_data_end_in_padding = FAST_LEAVES, /* an event that begins with zeros */
	FAST_zero_hole = FAST_LEAVES,		/* an event that begins with zeros */
	FAST_padding_not_zero = FAST_ELSEWHERE,
	FAST_event_before_begin = FAST_LEAVES,	    /* a full stamp before the begin, where the stamp of the event before starts */
	FAST_event_after_end = FAST_LEAVES,	    /* a stamp behind the end */
	FAST_tsc_not_monotonic = FAST_LEAVES,	    /* a full stamp before that of the event before, or a stamp behind the end */
	FAST_unannounced_wraps = FAST_LEAVES,	    /* a wrap without a full stamp, and all events close behind it */
	FAST_full_stamp_low_bits = FAST_LEAVES,	    /* word_header() compares them */
	FAST_wrap_without_heartbeat = FAST_KEEPS,   /* stamp */
	FAST_heartbeat_in_nohb_trace = FAST_LEAVES, /* heartbeats are learned only where the header has them */
	FAST_header_truncated = FAST_LEAVES,	    /* an event that goes on behind the limit */
	FAST_payload_truncated = FAST_LEAVES,	    /* an event that goes on behind the limit */
	FAST_event_alignment_nonzero_pad = FAST_LEAVES, /* zero_padding() checks them */
	FAST_reserved_id_used = FAST_LEAVES,		/* ids in the long form have entries of their own, from 29 on */
	FAST_dangling_event_id = FAST_LEAVES,		/* a type that is not learned */
	FAST_dangling_facility_id = FAST_LEAVES,	/* a type that is not learned */
	FAST_event_id_out_of_facility = FAST_LEAVES,	/* a type that is not learned */
	FAST_event_without_format = FAST_LEAVES,	/* a type that is not learned */
	FAST_event_size_mismatch = FAST_LEAVES,		/* the size is that of the description */
	FAST_event_size_escape_small = FAST_LEAVES,	/* LTTNG_SIZE_ESCAPE is left */
	FAST_string_not_terminated = FAST_LEAVES,	/* an event that goes on behind the limit */
	FAST_core_id_in_data_file = FAST_LEAVES,	/* a type that is not learned */
	FAST_non_core_in_facilities = FAST_ELSEWHERE,
	FAST_reserved_id_range = FAST_ELSEWHERE,
	FAST_metadata_payload_length = FAST_ELSEWHERE,
	FAST_declared_sizes_implausible = FAST_ELSEWHERE,
	FAST_declared_sizes_vary = FAST_ELSEWHERE,
	FAST_duplicate_declaration = FAST_ELSEWHERE,
	FAST_id_redefined = FAST_ELSEWHERE,
	FAST_name_with_two_ids = FAST_ELSEWHERE,
	FAST_format_conflict = FAST_ELSEWHERE,
	FAST_format_syntax = FAST_ELSEWHERE,
	FAST_format_qualifier_8_ambiguous = FAST_ELSEWHERE,
	FAST_format_unnamed_field = FAST_ELSEWHERE,
	FAST_unknown_channel_in_metadata = FAST_ELSEWHERE,
	FAST_undeclared_channel = FAST_ELSEWHERE,
	FAST_declaration_after_use = FAST_KEEPS, /* judged at the first event of the type in each file, which is not learned then */
	FAST_facility_checksum = FAST_ELSEWHERE,
	FAST_facility_record_conflict = FAST_ELSEWHERE,
	FAST_misnumbered_facility = FAST_ELSEWHERE,
	FAST_user_facility_prefix = FAST_ELSEWHERE,
	FAST_eventdefs_syntax = FAST_ELSEWHERE,
	FAST_reader_abort_risk = FAST_ELSEWHERE,
	FAST_legacy_info_files = FAST_ELSEWHERE,
};

const uint8_t lttng_fast_contract[LTTNG_RULE_COUNT] = {
#define RULE(sym, ...) [LTTNG_RULE_##sym] = (uint8_t)FAST_##sym,
#include "formats/lttng/lttng_rules.def"
#undef RULE
};
