/* Compressed chunks: of pages, or of lines of latency output (MAN7 "CPU DATA"). */
#include "formats/tracedat/scan/tracedat_ahead.h"
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

/* Bytes of the file, wherever they fit. *owned is to be freed. */
static const uint8_t *chunk_bytes(struct tracedat_walk *w, uint64_t at, size_t size, uint8_t **owned)
{
	*owned = NULL;
	if (size <= WINDOW_SPAN_MAX)
		return window_at(&w->window, at, size);
	*owned = malloc(size);
	if (!*owned) {
		tracedat_no_memory(w);
		return NULL;
	}
	if (source_read(w->source, at, *owned, size) == TM_OK)
		return *owned;
	w->status = w->source->bundle->error.status;
	return NULL;
}

bool tracedat_chunk_begins(struct tracedat_walk *w, uint64_t at, uint64_t limit)
{
	const uint8_t *p = limit > at && limit - at >= 12 ? window_at(&w->window, at, 12) : NULL;
	return p && tracedat_frame_begins(w->shape.codec, p + 8, 4);
}

struct chunk {
	uint64_t at; /* of its two sizes */
	uint32_t csize, usize;
	uint64_t frame; /* real bytes */
	size_t size;	/* decoded */
	bool decoded;
	bool judged, plain; /* by a thread: as tracedat_chunk_plain() does */
};

static bool chunk_room(struct tracedat_walk *w, size_t room)
{
	const bool there = tracedat_bytes_room(&w->pages.chunk, &w->pages.chunk_capacity, room);

	if (!there)
		tracedat_no_memory(w);
	return there;
}

/* Decodes the frame at c->at + 8 from at most `size` bytes. */
static bool chunk_try(struct tracedat_walk *w, struct chunk *c, size_t size, uint32_t page_size)
{
	size_t room = tracedat_chunk_space(c->usize, page_size);
	uint8_t *owned = NULL;
	struct tracedat_chunk ahead = { .fine = false };
	bool done = tracedat_ahead_take(w, c->at, size, room, &ahead), fine = ahead.fine;
	struct tracedat_decoded d = ahead.decoded;

	if (done && fine && !d.fits && room != TRACEDAT_CHUNK_MAX) {
		done = false;
		room = TRACEDAT_CHUNK_MAX;
	}
	c->judged = done;
	c->plain = done && ahead.plain;
	const uint8_t *p = done ? NULL : chunk_bytes(w, c->at + 8, size, &owned);
	while (p && w->status == TM_OK) {
		if (!chunk_room(w, room))
			break;
		fine = tracedat_decompress(w, p, size, w->pages.chunk, room, &d);
		if (!fine || d.fits || room == TRACEDAT_CHUNK_MAX)
			break;
		room = TRACEDAT_CHUNK_MAX;
	}
	free(owned);
	c->frame = d.consumed;
	c->size = d.size;
	c->decoded = fine && d.fits && w->status == TM_OK;
	if (fine && w->status == TM_OK && tracedat_ratio_exceeded(w, c->at, d.consumed, d.fits ? d.size : (uint64_t)d.size + 1))
		c->decoded = false;
	w->pages.decoded += w->emitting ? 0 : d.size;
	return c->decoded;
}

/* A chunk header by which the next one can be found after damage. */
static uint64_t chunk_resync(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size)
{
	while (limit > at && limit - at >= 12) {
		size_t got;
		const uint8_t *p = window_upto(&w->window, at, limit - at < 65536 ? (size_t)(limit - at) : 65536, &got);
		if (!p || got < 12)
			break;
		size_t i = 0;
		for (; i + 12 <= got; i++) {
			if (!tracedat_frame_begins(w->shape.codec, p + i + 8, 4))
				continue;
			uint32_t csize = load_u32(p + i, w->shape.big_endian), usize = load_u32(p + i + 4, w->shape.big_endian);
			if (csize && csize <= limit - at - i - 8 && usize && usize % page_size == 0 && usize <= TRACEDAT_CHUNK_MAX)
				return at + i;
		}
		at += i;
	}
	return limit;
}

bool tracedat_chunk_pages(struct tracedat_walk *w, uint64_t at, uint64_t limit, uint32_t page_size)
{
	struct chunk c = { .at = at };
	const uint8_t *p = limit > at + 8 ? window_at(&w->window, at, 8) : NULL;
	c.csize = p ? load_u32(p, w->shape.big_endian) : 0;
	return c.csize && c.csize <= limit - at - 8 && c.csize <= TRACEDAT_CHUNK_MAX && chunk_try(w, &c, c.csize, page_size) &&
	       c.size >= page_size && tracedat_page_plausible(w, w->pages.chunk, page_size, NULL);
}

struct chunks {
	struct tracedat_walk *w;
	struct tracedat_stream *stream;
	uint64_t at, limit;
	uint32_t declared, count, kept;
	bool lost;
	bool plain; /* what the fast path takes of the chunk at hand is known: w->pages.runs */
	/* Of the last chunk, which is kept where its length is not 0: the one in front of it is lost as well. */
	uint64_t last, last_length;
	bool lone, behind_lost;
};

#define chunk_report(s, rule, ...) ((void)PLACE(rule), chunk_report_at((s), (rule), __VA_ARGS__))
static void chunk_report_at(struct chunks *s, unsigned rule, uint64_t at, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
static void chunk_report_at(struct chunks *set, unsigned rule, uint64_t at, uint64_t length, const char *format, ...)
{
	struct finding *fd = tracedat_finding_at(set->w, rule, at, length);
	const char *name = set->stream->buffer->name;
	va_list arguments;
	if (set->stream->text)
		finding_path(fd, "%s%stext > chunk %u", name, *name ? " > " : "", set->count);
	else
		finding_path(fd, "%s%sCPU %u > chunk %u", name, *name ? " > " : "", set->stream->cpu->cpu, set->count);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

/* Writes a chunk to the output: as it is, or compressed again with other content. */
static void chunk_put(struct chunks *set, const struct chunk *c, const struct bytes *content, unsigned rule, const char *why)
{
	struct tracedat_walk *w = set->w;
	uint8_t number[4];

	if (!content) {
		store_u32(number, (uint32_t)c->frame, w->shape.big_endian);
		(void)tracedat_pieces_field(&w->out.pieces, w->source, c->at, number, 4, TRACEDAT_RULE_v7_chunk_csize,
					    "the size of the frame");
		store_u32(number, (uint32_t)c->size, w->shape.big_endian);
		(void)tracedat_pieces_field(&w->out.pieces, w->source, c->at + 4, number, 4, TRACEDAT_RULE_v7_chunk_usize,
					    "the decompressed size");
		tracedat_pieces_copy(&w->out.pieces, w->source, c->at + 8, c->frame);
		set->kept++;
		return;
	}
	struct bytes frame = { .big_endian = w->shape.big_endian };
	bytes_u32(&frame, 0);
	bytes_u32(&frame, (uint32_t)content->size);
	if (content->size && tracedat_encode(w->shape.codec, content->data, content->size, &frame) && !frame.failed) {
		store_u32(frame.data, (uint32_t)(frame.size - 8), w->shape.big_endian);
		(void)tracedat_pieces_literal(&w->out.pieces, frame.data, frame.size, rule, why);
		set->kept++;
	}
	if (content->failed || frame.failed)
		tracedat_no_memory(w);
	tracedat_drop_remade(w, c->at, 8 + c->frame, rule, why);
	bytes_free(&frame);
}

/* The lines of a decoded chunk. */
static void chunk_lines(struct chunks *set, const struct chunk *c)
{
	struct tracedat_text_lines *l = set->stream->text;
	struct bytes whole = { 0 };

	if (!set->w->emitting) {
		tracedat_text_count(set->w, l, set->w->pages.chunk, c->size, c->at);
		return;
	}
	if (l->torn)
		tracedat_text_whole_lines(l, set->w->pages.chunk, c->size, &whole);
	chunk_put(set, c, l->torn ? &whole : NULL, TRACEDAT_RULE_v7_chunk_decode,
		  "the chunk is compressed again with whole lines only");
	if (l->carry.failed)
		tracedat_no_memory(set->w);
	bytes_free(&whole);
}

/* The pages of a decoded chunk. */
static void chunk_pages(struct chunks *set, const struct chunk *c)
{
	struct tracedat_walk *w = set->w;
	uint32_t size = set->stream->page_size, left = (uint32_t)(c->size % size), pages = (uint32_t)(c->size / size) + (left != 0);
	struct bytes out = { .big_endian = w->shape.big_endian };
	bool changed = false;

	set->stream->doubtful = NULL;
	if (left && !chunk_room(w, (size_t)pages * size))
		return;
	if (left)
		memset(w->pages.chunk + c->size, 0, size - left);
	for (uint32_t i = 0; i < pages && w->status == TM_OK; i++, set->stream->index++) {
		const uint8_t *page = w->pages.chunk + (size_t)i * size;
		struct tracedat_page_place where = { .offset = c->at,
						     .length = 8 + c->frame,
						     .in_chunk = true,
						     .in = i * size,
						     .available = i + 1 == pages ? left : 0,
						     .more = i + 2 < pages || (i + 2 == pages && !left),
						     .run = set->plain ? &w->pages.runs[i] : NULL };
		uint32_t records, bad;
		if (where.available && where.available < tracedat_page_data(&w->shape) + 4) {
			changed = true;
			continue;
		}
		enum tracedat_verdict verdict = tracedat_page_check(w, set->stream, page, &where, &records, &bad);
		if (!w->emitting) {
			w->pages.records += records;
			continue;
		}
		changed |= verdict != TRACEDAT_KEEP || where.available;
		if (verdict == TRACEDAT_KEEP)
			edits_clear(&w->pages.edits);
		if (verdict != TRACEDAT_LEAVE)
			edits_apply_bytes(&w->pages.edits, page, size, &out);
		tracedat_page_account(&w->out, verdict, records, bad);
	}
	static const char why[] = "the chunk is compressed again with its repaired pages";
	if (w->emitting)
		chunk_put(set, c, changed ? &out : NULL, TRACEDAT_RULE_page_commit_length, why);
	if (w->emitting && changed)
		plan_doubt(w->s->plan, w->source, c->at, 8 + c->frame,
			   "the chunk has errors; without a checksum the rest of it cannot be verified");
	else if (w->emitting && set->stream->doubtful)
		plan_doubt(w->s->plan, w->source, c->at, 8 + c->frame, set->stream->doubtful);
	bytes_free(&out);
}

/* zstd has no checksum here: where the chunks on both sides are lost, no time beside it shows that one was hit. */
static void lone_doubt(struct chunks *set)
{
	const struct tracedat_walk *w = set->w;

	if (w->emitting && set->last_length && set->lone && w->shape.codec == TRACEDAT_ZSTD && !set->stream->text)
		plan_doubt(w->s->plan, w->source, set->last, set->last_length,
			   "the chunks on both sides are lost; without a checksum nothing shows whether this one was hit");
	set->last_length = 0;
	set->behind_lost = true;
}

static void lone_keep(struct chunks *set, const struct chunk *c)
{
	set->last = c->at;
	set->last_length = 8 + c->frame;
	set->lone = set->behind_lost;
	set->behind_lost = false;
}

/* usize: its bytes, as it says; 0: nothing says that. */
static void chunk_lose(struct chunks *set, uint64_t from, uint64_t to, uint32_t usize)
{
	uint32_t most = TRACEDAT_CHUNK_PAGES * set->stream->page_size;

	lone_doubt(set);
	set->lost = true;
	set->w->pages.chunks_lost += !set->w->emitting;
	if (set->stream->cpu && !set->w->emitting)
		set->stream->cpu->room += (usize && usize < most ? usize : most) / TRACEDAT_RECORD_LEAST;
	set->stream->pending_missed = true;
	if (set->stream->text)
		tracedat_text_break(set->stream->text);
	if (set->w->emitting) {
		set->w->out.lost_is = TM_UNKNOWN_COUNT;
		tracedat_drop(set->w, from, to - from, TRACEDAT_RULE_v7_chunk_decode, "a chunk that cannot be decompressed");
	}
}

/* Decodes the chunk by its own count; where that is wrong, by where its frame ends. */
static void chunk_decode(struct chunks *set, struct chunk *c, bool begins, uint64_t room)
{
	struct tracedat_walk *w = set->w;
	uint32_t page = set->stream->page_size;
	size_t most = room < TRACEDAT_CHUNK_MAX ? (size_t)room : TRACEDAT_CHUNK_MAX;
	bool fits = c->csize && c->csize <= most;

	if (!begins || (fits && chunk_try(w, c, c->csize, page) && c->frame == c->csize))
		return;
	if (!w->stopped && most && chunk_try(w, c, most, page))
		chunk_report(set, TRACEDAT_RULE_v7_chunk_csize, c->at, 4,
			     "the compressed size is %u, expected the %llu bytes of the frame", c->csize,
			     (unsigned long long)c->frame);
}

/* Skips a chunk that cannot be decoded. False: nothing behind it can be read. */
static bool chunk_pass(struct chunks *set, const struct chunk *c, bool begins, uint64_t room)
{
	struct tracedat_walk *w = set->w;
	uint64_t next = set->at + 8 + c->csize;
	/* A count that was hit, too, ends the chunks in front of where the data ends. */
	bool last = set->count + 1 == set->declared && next + 8 >= set->stream->cpu->from + set->stream->cpu->length;
	bool chained = c->csize && c->csize <= room && (next == set->limit || last || tracedat_chunk_begins(w, next, set->limit));

	set->stream->cpu->unchained |= !chained && !set->stream->cpu->clipped;
	if (!chained)
		next = chunk_resync(w, set->at + 1, set->limit, set->stream->page_size);
	if (!begins && !chained && next == set->limit)
		return false;
	if (next == set->limit && set->stream->cpu->clipped && !chained) {
		chunk_lose(set, set->at, next, 0);
		set->at = next;
		return false;
	}
	/* What stands inside of it may be whole: a part of the file that came twice. Where the chunk's size leads to one that is
	 * whole, nothing was inserted: it is a part of another CPU. */
	if (!chained || !tracedat_chunk_pages(w, next, set->limit, set->stream->page_size)) {
		uint64_t inside = chunk_resync(w, set->at + 1, set->limit, set->stream->page_size);
		if (inside < next && tracedat_chunk_pages(w, inside, set->limit, set->stream->page_size))
			next = inside;
	}
	chunk_report(set, begins || chained ? TRACEDAT_RULE_v7_chunk_decode : TRACEDAT_RULE_v7_chunk_csize, set->at, next - set->at,
		     "a chunk of %llu bytes cannot be decompressed", (unsigned long long)(next - set->at));
	chunk_lose(set, set->at, next, chained ? c->usize : 0);
	set->at = next;
	set->count++;
	return true;
}

static void chunk_size_check(struct chunks *set, const struct chunk *c)
{
	uint32_t page = set->stream->page_size;

	if (c->size != c->usize || c->size % page) {
		chunk_report(set, TRACEDAT_RULE_v7_chunk_usize, c->at + 4, 4,
			     "the decompressed size is stated as %u, expected %zu and a multiple of the page size %u", c->usize,
			     c->size, page);
	} else if (c->size > TRACEDAT_CHUNK_PAGES * (size_t)page && !set->w->emitting && !set->stream->text) {
		struct finding *fd = tracedat_milder(set->w, TRACEDAT_RULE_v7_chunk_usize, TM_NOTE, c->at + 4, 4);
		finding_say(fd, "the chunk has %zu pages, expected at most %u", c->size / page, TRACEDAT_CHUNK_PAGES);
	}
}

/* One chunk at s->at. False at the end of what can be read. */
static bool chunk_next(struct chunks *set)
{
	struct tracedat_walk *w = set->w;
	const uint8_t *p = window_at(&w->window, set->at, 8);
	struct chunk c = { .at = set->at };
	uint64_t room = set->limit - set->at - 8;

	if (!p)
		return false;
	c.csize = load_u32(p, w->shape.big_endian);
	c.usize = load_u32(p + 4, w->shape.big_endian);
	bool begins = tracedat_chunk_begins(w, set->at, set->limit);
	tracedat_ahead_give(w, set->at, set->limit, set->stream->page_size);
	chunk_decode(set, &c, begins, room);
	if (w->status != TM_OK)
		return false;
	if (!c.decoded)
		return chunk_pass(set, &c, begins, room);
	/* What zlib decodes has a checksum. */
	bool pages = !w->shape.old_ring && !set->stream->text, frail = pages && w->shape.codec == TRACEDAT_ZSTD;
	set->plain = c.judged ? pages && c.plain
			      : frail && tracedat_chunk_plain(w, w->pages.chunk, c.size, set->stream->page_size, w->pages.runs);
	if (frail && !set->plain && !tracedat_chunk_consistent(w, w->pages.chunk, c.size, set->stream->page_size)) {
		chunk_report(set, TRACEDAT_RULE_v7_chunk_decode, c.at, 8 + c.frame,
			     "the %zu decompressed bytes of the chunk are inconsistent: its frame is damaged", c.size);
		chunk_lose(set, c.at, c.at + 8 + c.frame, (uint32_t)c.size);
	} else {
		lone_keep(set, &c);
		chunk_size_check(set, &c);
		if (set->stream->text)
			chunk_lines(set, &c);
		else
			chunk_pages(set, &c);
	}
	set->at += 8 + c.frame;
	set->count++;
	return true;
}

void tracedat_chunks_walk(struct tracedat_walk *w, struct tracedat_stream *stream)
{
	struct tracedat_cpu *cpu = stream->cpu;
	struct chunks set = { .w = w, .stream = stream, .at = cpu->from + 4, .limit = cpu->limit };
	const uint8_t *p = window_at(&w->window, cpu->from, 4);
	size_t piece = SIZE_MAX;
	uint8_t number[4] = { 0 };

	if (!p)
		return;
	set.declared = load_u32(p, w->shape.big_endian);
	uint64_t end = cpu->from + cpu->length;
	if (w->emitting)
		piece = tracedat_pieces_field(&w->out.pieces, w->source, cpu->from, number, 4, TRACEDAT_RULE_v7_chunk_count,
					      "the number of chunks that are kept");
	while (set.limit > set.at && set.limit - set.at >= 8 && w->status == TM_OK && !w->stopped) {
		/* The chunks end with their count, unless the size of the data covers more. */
		if (set.count >= set.declared && (set.at >= end || !tracedat_chunk_begins(w, set.at, set.limit)) &&
		    (set.declared || set.count))
			break;
		if (!chunk_next(&set))
			break;
	}
	store_u32(number, set.kept, w->shape.big_endian);
	tracedat_pieces_fill(&w->out.pieces, piece, number);
	cpu->end = set.at;
	if (w->emitting || w->stopped || w->status != TM_OK || set.lost || cpu->clipped)
		return;
	struct finding *fd;
	cpu->fewer = set.count < set.declared || set.at < end;
	if (set.count != set.declared) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_chunk_count, cpu->from, 4, "the chunk count is %u, expected %u",
				     set.declared, set.count);
		finding_path(fd, "CPU %u", cpu->cpu);
	} else if (set.at == end + 4) {
		/* A habit of the writer: it is in all CPUs or in none. */
		if (w->pages.four_finding) {
			finding_explains(w->pages.four_finding, 1);
			return;
		}
		fd = tracedat_report(w, TRACEDAT_RULE_v7_buffer_size_minus_four, cpu->declared_at, 20,
				     "the size of the compressed data is stated as %llu, expected %llu",
				     (unsigned long long)cpu->length, (unsigned long long)(set.at - cpu->from));
		finding_path(fd, "CPU %u", cpu->cpu);
		w->pages.four_finding = fd;
	} else if (set.at != end && !cpu->found) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_chunk_count, stream->text ? cpu->from : cpu->declared_at,
				     stream->text ? 4 : 20,
				     "the size of the compressed data is stated as %llu; its %u chunks have %llu bytes",
				     (unsigned long long)cpu->length, set.count, (unsigned long long)(set.at - cpu->from));
		finding_path(fd, "CPU %u", cpu->cpu);
	}
}
