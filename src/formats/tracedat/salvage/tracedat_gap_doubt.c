/* Pages between which time leaps. The ring buffer fills a page to its end, and the next event begins the next page: the time
 * between two pages is that between two events. Where a page is missing, where the end of one page has the place of that of
 * another, or where a page stands among those of another CPU, that time is much longer, or negative. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* A leap is at least so many times the median, and a quarter of the longest one. */
#define LEAP_MEDIAN 8u
#define LEAP_LONGEST 4u

struct page_span {
	uint64_t first, last; /* times of the page and of its last record */
	bool sound;	      /* its words lead to its end */
	bool tail;	      /* there is more than zeros behind that */
};

struct gaps {
	uint64_t count, longest;
	uint64_t shares[65]; /* gaps of so many bits */
};

/* False: the page has no header, or no data. */
static bool span_read(struct tracedat_walk *w, uint64_t at, uint32_t size, struct page_span *s)
{
	const uint8_t *page = window_at(&w->window, at, size);
	uint32_t length, offset = 0;
	struct tracedat_word word;
	bool be = w->shape.big_endian;

	if (!page || !tracedat_page_length(&w->shape, page, size, &length) || !length)
		return false;
	const uint8_t *data = page + tracedat_page_data(&w->shape);
	s->first = s->last = load_u64(page, be);
	for (; length - offset >= 4 && tracedat_word_read(data, offset, length, be, &word); offset += word.total) {
		uint64_t high = word.type >= TRACEDAT_WORD_EXTEND ? (uint64_t)load_u32(data + offset + 4, be) << 27 : 0;
		if (word.type == TRACEDAT_WORD_STAMP)
			s->last = ((high + word.delta) & TRACEDAT_WORD_STAMP_MASK) | (s->last & ~TRACEDAT_WORD_STAMP_MASK);
		else if (word.type != TRACEDAT_WORD_PADDING || word.delta != 1)
			s->last += high + word.delta;
	}
	s->sound = offset == length;
	s->tail = !tracedat_page_tail_zero(&w->shape, page, size);
	return true;
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static uint64_t gaps_median(const struct gaps *g)
{
	uint64_t sum = 0;
	for (unsigned bits = 0; bits < 64; bits++) {
		sum += g->shares[bits];
		if (2 * sum >= g->count)
			return UINT64_C(1) << bits;
	}
	return UINT64_MAX;
}

static void gaps_measure(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c, struct gaps *g)
{
	struct page_span before = { 0 }, s;
	bool known = false;

	for (uint64_t at = c->from, left = c->length; left >= b->page_size && w->status == TM_OK;
	     at += b->page_size, left -= b->page_size) {
		if (!span_read(w, at, b->page_size, &s)) {
			known = false;
			continue;
		}
		if (known && s.first >= before.last) {
			uint64_t gap = s.first - before.last;
			g->count++;
			g->longest = gap > g->longest ? gap : g->longest;
			g->shares[bits_of(gap)]++;
		}
		before = s;
		known = true;
	}
}

unsigned tracedat_gaps_doubt(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c,
			     enum tracedat_leaps which)
{
	struct gaps g = { 0 };
	struct page_span before = { 0 }, s;
	bool known = false;
	unsigned leaps = 0;
	uint32_t size = b->page_size;

	gaps_measure(w, b, c, &g);
	uint64_t least = g.longest / LEAP_LONGEST, median = gaps_median(&g);
	least = median < UINT64_MAX / LEAP_MEDIAN && least < LEAP_MEDIAN * median ? LEAP_MEDIAN * median : least;
	for (uint64_t at = c->from, left = c->length; left >= size && w->status == TM_OK; at += size, left -= size) {
		bool there = span_read(w, at, size, &s);
		bool leap = there && known && (s.first < before.last || s.first - before.last > least);
		if (leap && (which != TRACEDAT_LEAPS_TAILS || before.tail)) {
			plan_doubt(w->s->plan, w->source, at - size, which == TRACEDAT_LEAPS_BOTH ? 2 * (uint64_t)size : size,
				   "time leaps behind this page, or in front of it, and a page is missing or has the place of "
				   "another");
			leaps++;
		}
		if (there && !s.sound && which != TRACEDAT_LEAPS_TAILS) {
			plan_doubt(w->s->plan, w->source, at, size,
				   "the records of the page do not lead to its end, and a page is missing or has the place of "
				   "another");
			leaps++;
		}
		before = s;
		known = there;
	}
	return leaps;
}

uint64_t tracedat_gaps_overlap(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	struct page_span before = { 0 }, s;
	uint64_t least = UINT64_MAX;
	bool known = false;

	for (uint64_t at = c->from, left = c->length; left >= b->page_size && w->status == TM_OK;
	     at += b->page_size, left -= b->page_size) {
		bool there = span_read(w, at, b->page_size, &s);
		if (there && known && s.first < before.last && before.last - s.first < least)
			least = before.last - s.first;
		before = s;
		known = there;
	}
	return least;
}

void tracedat_gaps_doubt_over(struct tracedat_walk *w, const struct tracedat_buffer *b, const struct tracedat_cpu *c,
			      uint64_t least)
{
	struct page_span before = { 0 }, s;
	bool known = false;

	for (uint64_t at = c->from, left = c->length; left >= b->page_size && w->status == TM_OK;
	     at += b->page_size, left -= b->page_size) {
		bool there = span_read(w, at, b->page_size, &s);
		/* Behind the last page of a CPU no step back shows that it is the other one itself. */
		bool last = left < 2 * (uint64_t)b->page_size;
		if (there && known && s.first >= before.last && s.first - before.last >= least)
			plan_doubt(w->s->plan, w->source, at - b->page_size, b->page_size * (last ? 2 : 1),
				   "time leaps behind this page by as much as another page steps back: a block of one may be in "
				   "the other");
		before = s;
		known = there;
	}
}
