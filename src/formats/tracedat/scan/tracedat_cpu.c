/* The pages of each CPU, plain or in compressed chunks (MAN6, MAN7 "CPU DATA"), and their statistics. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_ahead.h"

#include <stdlib.h>

/* n bytes that are no whole page: they are completed with zeros. */
static const uint8_t *uneven_page(struct tracedat_walk *w, uint64_t at, uint32_t n, uint32_t size)
{
	const uint32_t room = n > size ? n : size;

	if (w->pages.chunk_capacity < room) {
		uint8_t *grown = realloc(w->pages.chunk, room);
		if (!grown) {
			tracedat_no_memory(w);
			return NULL;
		}
		w->pages.chunk = grown;
		w->pages.chunk_capacity = room;
	}
	const uint8_t *p = window_at(&w->window, at, n);
	if (!p)
		return NULL;
	memcpy(w->pages.chunk, p, n);
	memset(w->pages.chunk + n, 0, room - n);
	return w->pages.chunk;
}

/* Bytes were inserted or removed in front of the next page: in a sound one that is in its last record, or behind it. */
static void last_is_hit(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t end)
{
	if (!w->emitting && w->s->plan && stream->sound && stream->last_at < end)
		plan_doubt(w->s->plan, w->source, stream->last_at, end - stream->last_at,
			   "bytes were inserted or removed in front of the next page, and nothing shows where");
}

static void plain_partial(struct tracedat_walk *w, struct tracedat_stream *stream, uint64_t at, uint32_t n)
{
	uint32_t size = stream->page_size, records = 0, bad = 0;
	struct tracedat_cpu *c = stream->cpu;
	struct tracedat_page_place where = { .offset = at, .length = n, .available = n };
	struct findings *findings = w->findings;
	const uint8_t *page = n >= tracedat_page_data(&w->shape) + 4 ? uneven_page(w, at, n, size) : NULL;
	enum tracedat_verdict verdict = TRACEDAT_LEAVE;

	if (page && w->scratch) {
		/* The data of another CPU, or a table, begins too early: the file is not cut there. */
		const bool uneven = c->clipped && !(c->size % size) && at + n < tracedat_file_end(w);
		const bool whole = uneven && tracedat_page_plausible(w, page, size, NULL);
		where.ends = !uneven;
		where.shift = whole ? 0 : (int32_t)n - (int32_t)size;
		/* That the page is cut is reported already. */
		w->findings = w->scratch;
		verdict = tracedat_page_check(w, stream, page, &where, &records, &bad);
		w->findings = findings;
		if (whole)
			last_is_hit(w, stream, at + n);
	}
	w->pages.records += w->emitting ? 0 : records;
	if (!w->emitting)
		return;
	static const char why[] = "completes the page that was cut";
	if (verdict == TRACEDAT_LEAVE || !records) {
		tracedat_drop(w, at, n, TRACEDAT_RULE_cpu_size_not_page_multiple,
			      "the beginning of a page without a complete record");
		w->out.lost_is = TM_UNKNOWN_COUNT;
		return;
	}
	if (verdict == TRACEDAT_KEEP)
		edits_clear(&w->pages.edits);
	/* Zeros that an edit adds at the end complete the page. */
	uint64_t before = w->out.pieces.size;
	tracedat_page_emit(w, at, n);
	if (w->out.pieces.size - before < size)
		tracedat_pieces_zeros(&w->out.pieces, size - (w->out.pieces.size - before),
				      TRACEDAT_RULE_cpu_size_not_page_multiple, why);
	tracedat_page_account(&w->out, TRACEDAT_PATCH, records, bad);
	w->out.lost_is = TM_UNKNOWN_COUNT;
}

/* Whether a page begins there that goes on from the one before: it is at its place, and what is wrong is inside of it. */
static bool page_begins(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= stream->page_size ? window_at(&w->window, at, stream->page_size) : NULL;

	return p && load_u64(p, w->shape.big_endian) >= stream->page_time &&
	       tracedat_page_cut_sound(&w->shape, tracedat_known(w), p, stream->page_size, stream->page_size);
}

/* Whether a whole page is there, or zeros in its place. */
static bool page_stands(struct tracedat_walk *w, uint64_t at, uint32_t size)
{
	const uint8_t *p = window_at(&w->window, at, size);
	return p && (tracedat_page_plausible(w, p, size, NULL) || bytes_are_zero(p, size));
}

/* Where the page that should be at `at` is, less than a page away: bytes were inserted or removed in front of it, behind `low`.
 * UINT64_MAX: it is there, or nowhere. */
static uint64_t page_moved(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at, uint64_t low, uint64_t end)
{
	const struct tracedat_cpu *c = stream->cpu;
	const uint32_t size = stream->page_size;
	const bool there = at <= w->source->size && w->source->size - at >= size;

	/* Of a CPU that ends inside of a page, the next one may begin too early. */
	if (there ? page_stands(w, at, size) : stream->sound || !c->clipped)
		return UINT64_MAX;
	if (end < at + size && !c->clipped)
		return UINT64_MAX;
	return tracedat_page_shifted(w, at, size, end > at ? (end - at) / size : 0, low, c->limit > end ? c->limit : end);
}

/* Bytes are missing in the page, and nothing inside of it shows where. */
static void page_is_short(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at, uint64_t length)
{
	if (!w->emitting && w->s->plan && !stream->holed)
		plan_doubt(w->s->plan, w->source, at, length, "bytes of this page are missing, and nothing shows where");
}

/* A walk over the plain pages of a CPU. */
struct plain {
	struct tracedat_walk *w;
	struct tracedat_stream *stream;
	uint64_t at, end, whole; /* whole: where its data would end, had no other begun before */
};

/* The page that should be at `from` is at `to`, and what follows moved with it. */
static void plain_move(struct plain *s, uint64_t from, uint64_t to)
{
	struct tracedat_cpu *c = s->stream->cpu;
	struct finding *fd = tracedat_report(s->w, TRACEDAT_RULE_cpu_offset_alignment, to, s->stream->page_size,
					     "the pages continue at 0x%llx, expected 0x%llx: bytes were inserted or removed before",
					     (unsigned long long)to, (unsigned long long)from);

	finding_path(fd, "CPU %u > page %llu", c->cpu, (unsigned long long)s->stream->index);
	c->stepped = true;
	/* What was removed moves the end as well, unless it was found already. */
	s->whole += to - from;
	s->end = to > from ? s->end + (to - from) : s->whole < s->end ? s->whole : s->end;
	if (s->end > c->limit && c->limit)
		s->end = c->limit;
	c->end = s->end;
}

/* No page begins at s->at: goes to where the next one does, less than a page away. */
static void plain_seek(struct plain *s)
{
	const uint32_t size = s->stream->page_size;
	const uint64_t place = page_moved(s->w, s->stream, s->at, s->at - size + 4, s->end);

	if (place == UINT64_MAX)
		return;
	plain_move(s, s->at, place);
	if (place > s->at) {
		tracedat_drop(s->w, s->at, place - s->at, TRACEDAT_RULE_cpu_offset_alignment, "bytes between two pages");
		last_is_hit(s->w, s->stream, s->at);
	} else {
		page_is_short(s->w, s->stream, s->at - size, size - (s->at - place));
	}
	s->at = place;
}

/* Of a page that begins at s->at, the bytes up to the next one: more or fewer where bytes of it were inserted or removed. */
static uint32_t plain_span(struct plain *s, bool whole)
{
	struct tracedat_walk *w = s->w;
	const uint32_t size = s->stream->page_size;
	const uint64_t limit = s->stream->cpu->limit;

	/* What follows its last page stands where it does. */
	if (s->end - s->at == size)
		return !whole && limit > s->end && limit - s->end < size ? size + (uint32_t)(limit - s->end) : size;
	const uint64_t place = page_moved(w, s->stream, s->at + size, s->at + tracedat_page_data(&w->shape) + 4, s->end);
	if (place == UINT64_MAX || (whole && place > s->at + size))
		return size;
	plain_move(s, s->at + size, place);
	return (uint32_t)(place - s->at);
}

/* n: bytes of the page that are there; where they are more or fewer than it should have, its records are not at their places, or
 * (whole) only zeros behind them are missing. page: its bytes, where it was read; run: of its records, if that is known. */
static void plain_page(struct plain *s, uint32_t n, bool whole, const uint8_t *page, const struct tracedat_run *run)
{
	struct tracedat_walk *w = s->w;
	const uint32_t size = s->stream->page_size;
	struct tracedat_page_place where = { .offset = s->at,
					     .length = n,
					     .available = n < size ? n : 0,
					     .shift = whole ? 0 : (int32_t)n - (int32_t)size,
					     .more = s->end - s->at >= (uint64_t)n + size,
					     .run = run };
	uint32_t records, bad;

	if (!page)
		page = n == size ? window_at(&w->window, s->at, size) : uneven_page(w, s->at, n, size);
	if (!page)
		return;
	enum tracedat_verdict verdict = tracedat_page_check(w, s->stream, page, &where, &records, &bad);
	if (!w->emitting) {
		w->pages.records += records;
		return;
	}
	uint64_t before = w->out.pieces.size;
	if (verdict == TRACEDAT_KEEP)
		tracedat_pieces_copy(&w->out.pieces, w->source, s->at, n);
	else if (verdict == TRACEDAT_PATCH)
		tracedat_page_emit(w, s->at, n);
	else
		tracedat_drop(w, s->at, n, TRACEDAT_RULE_page_commit_length, "a page without a readable record");
	if (n < size && w->out.pieces.size > before && w->out.pieces.size - before < size)
		tracedat_pieces_zeros(&w->out.pieces, size - (w->out.pieces.size - before), TRACEDAT_RULE_cpu_offset_alignment,
				      "completes a page of which bytes were removed");
	tracedat_page_account(&w->out, verdict, records, bad);
}

/* The page at s->at, or where it is. */
static void plain_next(struct plain *s)
{
	struct tracedat_walk *w = s->w;
	const uint32_t size = s->stream->page_size;
	uint32_t n = size, length = 0;
	const struct tracedat_run *run = NULL;
	const uint8_t *p = s->end - s->at >= size ? tracedat_ahead_page(w, s->at, s->end, size, &run) : NULL;

	if (p) {
		plain_page(s, size, true, p, run);
		s->at += size;
		return;
	}
	p = s->end - s->at >= size ? window_at(&w->window, s->at, size) : NULL;
	bool whole = p && tracedat_page_plausible(w, p, size, NULL);

	if (p && (whole ? tracedat_page_tail_zero(&w->shape, p, size) : bytes_are_zero(p, size))) {
		plain_page(s, size, true, p, NULL);
		s->at += size;
		return;
	}
	if (!whole && s->stream->index && !page_begins(w, s->stream, s->at, s->end)) {
		plain_seek(s);
		p = s->at < s->end && s->end - s->at >= size ? window_at(&w->window, s->at, size) : NULL;
		whole = p && tracedat_page_plausible(w, p, size, NULL);
	}
	if (s->at >= s->end)
		return;
	if (s->end - s->at < size) {
		plain_partial(w, s->stream, s->at, (uint32_t)(s->end - s->at));
		s->at = s->end;
		return;
	}
	if (whole || page_begins(w, s->stream, s->at, s->end))
		n = plain_span(s, whole);
	p = n < size && whole ? window_at(&w->window, s->at, size) : NULL;
	whole = p && tracedat_page_length(&w->shape, p, size, &length) && length <= n - tracedat_page_data(&w->shape);
	plain_page(s, n, n == size || whole, NULL, NULL);
	if (whole)
		last_is_hit(w, s->stream, s->at + n);
	s->at += n;
}

static void walk_plain(struct tracedat_walk *w, struct tracedat_stream *stream)
{
	const struct tracedat_cpu *c = stream->cpu;
	struct plain s = { w, stream, c->from, c->from + c->length, c->from + (c->size > c->length ? c->size : c->length) };

	for (; s.at < s.end && w->status == TM_OK && w->window.status == TM_OK; stream->index++)
		plain_next(&s);
}

void tracedat_cpu_walk(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	struct tracedat_stream stream = { .buffer = b, .cpu = c, .page_size = b->page_size };
	c->end = c->from + c->length;
	if (!w->emitting) {
		c->stat = tracedat_stat_of(&w->dir, b->name, c->cpu);
		c->read_whole = c->stat && !c->stat->read;
	}
	if (!c->length || w->status != TM_OK || w->stopped)
		return;
	if (b->compressed)
		tracedat_chunks_walk(w, &stream);
	else
		walk_plain(w, &stream);
	tracedat_ahead_stop(w->pages.ahead);
}

/* The kernel takes the number of entries in the buffer first, and the number of read events later. In between the recorder may read
 * whole pages, whose events are in both. */
static bool stat_agrees(const struct tracedat_stat *stat, const struct tracedat_cpu *c)
{
	uint64_t records = c->records - c->repeated;
	uint64_t most = stat->entries + stat->read, least = stat->entries > stat->read ? stat->entries : stat->read;
	return records == most || (records >= least && records < most && c->read_whole);
}

/* Whether the kernel can have recorded as many events up to the time of its statistics: fewer than a hundred a microsecond. Numbers
 * that were hit may be larger. */
static bool is_possible(const struct tracedat_stat *stat, uint64_t events)
{
	return !stat->now_us || events / 100 <= stat->now_us;
}

/* Compares the kernel's statistics with the data. */
static void cpu_compare(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	const struct tracedat_stat *stat = c->stat;
	struct finding *fd;

	if (!stat || w->stopped)
		return;
	const struct tracedat_option *o = &w->dir.options[stat->option];
	c->agrees = stat->known && stat_agrees(stat, c);
	if (stat->known && !c->agrees) {
		unsigned long long least = stat->entries > stat->read ? stat->entries : stat->read,
				   most = stat->entries + stat->read;
		c->missing = c->records - c->repeated < least && is_possible(stat, least) ? least - (c->records - c->repeated) : 0;
		fd = tracedat_block_finding(w, TRACEDAT_RULE_cpustat_event_count, o->block, o->at, o->size);
		if (least == most || stat->entries == 0 || stat->read == 0)
			finding_say(fd, "the kernel counted %llu events, the capture has %llu", most,
				    (unsigned long long)c->records);
		else
			finding_say(fd, "the kernel counted %llu to %llu events, the capture has %llu", least, most,
				    (unsigned long long)c->records);
		finding_path(fd, "%s%sCPU %u", b->name, *b->name ? " > " : "", c->cpu);
	}
	if (stat->overrun && !c->missed) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_cpustat_overrun_no_missed, o->block, o->at, o->size,
					    "CPU %u: %llu events were overwritten", c->cpu, (unsigned long long)stat->overrun);
	}
	c->late = stat->now_us && c->records && c->last_time / 1000 > stat->now_us + 1;
	if (c->late) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_cpustat_time_range, o->block, o->at, o->size,
					    "CPU %u: the last event is at %llu us, the statistics were taken at %llu us", c->cpu,
					    (unsigned long long)(c->last_time / 1000), (unsigned long long)stat->now_us);
	}
}

void tracedat_cpus_walk(struct tracedat_walk *w)
{
	w->events.trusted = !findings_errors(w->findings);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (b->text) {
			tracedat_latency_section(w, b);
			continue;
		}
		for (size_t j = 0; j < b->count && w->status == TM_OK; j++) {
			tracedat_cpu_walk(w, b, &b->cpus[j]);
			cpu_compare(w, b, &b->cpus[j]);
		}
	}
	tracedat_pages_compare(w);
	if (w->data.latency && w->status == TM_OK)
		w->data.latency_stop = tracedat_latency_text(w, w->data.latency_at, w->source->size);
}
