/* Compressed chunks: of pages, or of lines of latency output (MAN7 "CPU DATA"). */
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
};

static bool chunk_room(struct tracedat_walk *w, size_t room)
{
	if (w->pages.chunk_capacity >= room)
		return true;
	uint8_t *grown = realloc(w->pages.chunk, room);
	if (!grown) {
		tracedat_no_memory(w);
		return false;
	}
	w->pages.chunk = grown;
	w->pages.chunk_capacity = room;
	return true;
}

/* Decodes the frame at c->at + 8 from at most `size` bytes. */
static bool chunk_try(struct tracedat_walk *w, struct chunk *c, size_t size, uint32_t page_size)
{
	size_t room = 10 * (size_t)page_size + page_size;
	uint8_t *owned;
	struct tracedat_decoded d = { 0 };
	const uint8_t *p = chunk_bytes(w, c->at + 8, size, &owned);
	bool fine = false;

	if (c->usize > room && c->usize <= TRACEDAT_CHUNK_MAX)
		room = c->usize;
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
	if (fine && w->status == TM_OK && tracedat_bomb(w, c->at, d.consumed, d.fits ? d.size : (uint64_t)d.size + 1))
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
};

#define chunk_report(s, rule, ...) ((void)PLACE(rule), chunk_report_at((s), (rule), __VA_ARGS__))
static void chunk_report_at(struct chunks *s, unsigned rule, uint64_t at, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
static void chunk_report_at(struct chunks *s, unsigned rule, uint64_t at, uint64_t length, const char *format, ...)
{
	struct finding *fd = tracedat_finding_at(s->w, rule, at, length);
	const char *name = s->stream->buffer->name;
	va_list arguments;
	if (s->stream->text)
		finding_path(fd, "%s%stext > chunk %u", name, *name ? " > " : "", s->count);
	else
		finding_path(fd, "%s%sCPU %u > chunk %u", name, *name ? " > " : "", s->stream->cpu->cpu, s->count);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

/* A chunk in the output: as it is, or made anew of other content. */
static void chunk_put(struct chunks *s, const struct chunk *c, const struct bytes *content, unsigned rule, const char *why)
{
	struct tracedat_walk *w = s->w;
	uint8_t number[4];

	if (!content) {
		store_u32(number, (uint32_t)c->frame, w->shape.big_endian);
		(void)tracedat_field(&w->out.pieces, w->source, c->at, number, 4, TRACEDAT_RULE_v7_chunk_csize,
				     "the size that the frame has");
		store_u32(number, (uint32_t)c->size, w->shape.big_endian);
		(void)tracedat_field(&w->out.pieces, w->source, c->at + 4, number, 4, TRACEDAT_RULE_v7_chunk_usize,
				     "the size that comes out");
		tracedat_copy(&w->out.pieces, w->source, c->at + 8, c->frame);
		s->kept++;
		return;
	}
	struct bytes frame = { .big_endian = w->shape.big_endian };
	bytes_u32(&frame, 0);
	bytes_u32(&frame, (uint32_t)content->size);
	if (content->size && tracedat_encode(w->shape.codec, content->data, content->size, &frame) && !frame.failed) {
		store_u32(frame.data, (uint32_t)(frame.size - 8), w->shape.big_endian);
		(void)tracedat_literal(&w->out.pieces, frame.data, frame.size, rule, why);
		s->kept++;
	}
	if (content->failed || frame.failed)
		tracedat_no_memory(w);
	tracedat_drop(w, c->at, 8 + c->frame, rule, why);
	bytes_free(&frame);
}

/* The lines of a decoded chunk. */
static void chunk_lines(struct chunks *s, const struct chunk *c)
{
	struct tracedat_text *l = s->stream->text;
	struct bytes whole = { 0 };

	if (!s->w->emitting) {
		tracedat_text_count(s->w, l, s->w->pages.chunk, c->size);
		return;
	}
	if (l->torn)
		tracedat_text_whole(l, s->w->pages.chunk, c->size, &whole);
	chunk_put(s, c, l->torn ? &whole : NULL, TRACEDAT_RULE_v7_chunk_decode,
		  "the chunk is compressed anew with whole lines only");
	if (l->carry.failed)
		tracedat_no_memory(s->w);
	bytes_free(&whole);
}

/* The pages of a decoded chunk. */
static void chunk_pages(struct chunks *s, const struct chunk *c)
{
	struct tracedat_walk *w = s->w;
	uint32_t size = s->stream->page_size, left = (uint32_t)(c->size % size), pages = (uint32_t)(c->size / size) + (left != 0);
	struct bytes out = { .big_endian = w->shape.big_endian };
	bool changed = false;

	if (left && !chunk_room(w, (size_t)pages * size))
		return;
	if (left)
		memset(w->pages.chunk + c->size, 0, size - left);
	for (uint32_t i = 0; i < pages && w->status == TM_OK; i++, s->stream->index++) {
		const uint8_t *page = w->pages.chunk + (size_t)i * size;
		struct tracedat_place_of where = { .offset = c->at,
						   .length = 8 + c->frame,
						   .in_chunk = true,
						   .in = i * size,
						   .available = i + 1 == pages ? left : 0 };
		uint32_t records, bad;
		if (where.available && where.available < tracedat_page_data(&w->shape) + 4) {
			changed = true;
			continue;
		}
		enum tracedat_verdict verdict = tracedat_page(w, s->stream, page, &where, &records, &bad);
		if (!w->emitting) {
			w->pages.records += records;
			continue;
		}
		changed |= verdict != TRACEDAT_KEEP || where.available;
		if (verdict == TRACEDAT_KEEP)
			edits_clear(&w->pages.edits);
		if (verdict != TRACEDAT_LEAVE)
			edits_apply_bytes(&w->pages.edits, page, size, &out);
		tracedat_page_account(w, verdict, records, bad);
	}
	static const char why[] = "the chunk is compressed anew with its pages mended";
	if (w->emitting)
		chunk_put(s, c, changed ? &out : NULL, TRACEDAT_RULE_page_commit_length, why);
	if (w->emitting && changed)
		plan_doubt(w->s->plan, w->source, c->at, 8 + c->frame,
			   "the chunk has errors, and no checksum that tells whether the rest of it is as it was");
	bytes_free(&out);
}

static void chunk_lose(struct chunks *s, uint64_t from, uint64_t to)
{
	s->lost = true;
	s->stream->pending_missed = true;
	if (s->stream->text)
		tracedat_text_break(s->stream->text);
	if (s->w->emitting) {
		s->w->out.lost_is = TM_UNKNOWN_COUNT;
		tracedat_drop(s->w, from, to - from, TRACEDAT_RULE_v7_chunk_decode, "a chunk that cannot be decompressed");
	}
}

/* Decodes the chunk by its own count; where that is wrong, by where its frame ends. */
static void chunk_decode(struct chunks *s, struct chunk *c, bool begins, uint64_t room)
{
	struct tracedat_walk *w = s->w;
	uint32_t page = s->stream->page_size;
	size_t most = room < TRACEDAT_CHUNK_MAX ? (size_t)room : TRACEDAT_CHUNK_MAX;
	bool fits = c->csize && c->csize <= most;

	if (!begins || (fits && chunk_try(w, c, c->csize, page) && c->frame == c->csize))
		return;
	if (!w->stopped && most && chunk_try(w, c, most, page))
		chunk_report(s, TRACEDAT_RULE_v7_chunk_csize, c->at, 4, "the compressed size is %u, the frame has %llu bytes",
			     c->csize, (unsigned long long)c->frame);
}

/* Passes a chunk that cannot be decoded. False where nothing behind it can be read. */
static bool chunk_pass(struct chunks *s, const struct chunk *c, bool begins, uint64_t room)
{
	struct tracedat_walk *w = s->w;
	uint64_t next = s->at + 8 + c->csize;
	bool chained = c->csize && c->csize <= room &&
		       (next == s->limit || s->count + 1 == s->declared || tracedat_chunk_begins(w, next, s->limit));

	if (!chained)
		next = chunk_resync(w, s->at + 1, s->limit, s->stream->page_size);
	if (!begins && !chained && next == s->limit)
		return false;
	if (next == s->limit && s->stream->cpu->clipped && !chained) {
		chunk_lose(s, s->at, next);
		s->at = next;
		return false;
	}
	chunk_report(s, begins || chained ? TRACEDAT_RULE_v7_chunk_decode : TRACEDAT_RULE_v7_chunk_csize, s->at, next - s->at,
		     "a chunk of %llu bytes cannot be decompressed", (unsigned long long)(next - s->at));
	chunk_lose(s, s->at, next);
	s->at = next;
	s->count++;
	return true;
}

static void chunk_size_judge(struct chunks *s, const struct chunk *c)
{
	uint32_t page = s->stream->page_size;

	if (c->size != c->usize || c->size % page) {
		chunk_report(s, TRACEDAT_RULE_v7_chunk_usize, c->at + 4, 4,
			     "the decompressed size is stated as %u; %zu bytes come out, pages have %u", c->usize, c->size, page);
	} else if (c->size > 10 * (size_t)page && !s->w->emitting && !s->stream->text) {
		struct finding *fd = tracedat_milder(s->w, TRACEDAT_RULE_v7_chunk_usize, TM_NOTE, c->at + 4, 4);
		finding_say(fd, "a chunk of %zu pages; trace-cmd writes 10", c->size / page);
	}
}

/* One chunk at s->at. False at the end of what can be read. */
static bool chunk_next(struct chunks *s)
{
	struct tracedat_walk *w = s->w;
	const uint8_t *p = window_at(&w->window, s->at, 8);
	struct chunk c = { .at = s->at };
	uint64_t room = s->limit - s->at - 8;

	if (!p)
		return false;
	c.csize = load_u32(p, w->shape.big_endian);
	c.usize = load_u32(p + 4, w->shape.big_endian);
	bool begins = tracedat_chunk_begins(w, s->at, s->limit);
	chunk_decode(s, &c, begins, room);
	if (w->status != TM_OK)
		return false;
	if (!c.decoded)
		return chunk_pass(s, &c, begins, room);
	if (!w->shape.old_ring && !s->stream->text && !tracedat_chunk_vouched(w, w->pages.chunk, c.size, s->stream->page_size)) {
		chunk_report(s, TRACEDAT_RULE_v7_chunk_decode, c.at, 8 + c.frame,
			     "the chunk unfolds to %zu bytes that contradict themselves: its frame is damaged inside", c.size);
		chunk_lose(s, c.at, c.at + 8 + c.frame);
	} else {
		chunk_size_judge(s, &c);
		if (s->stream->text)
			chunk_lines(s, &c);
		else
			chunk_pages(s, &c);
	}
	s->at += 8 + c.frame;
	s->count++;
	return true;
}

void tracedat_chunks(struct tracedat_walk *w, struct tracedat_stream *stream)
{
	struct tracedat_cpu *cpu = stream->cpu;
	struct chunks s = { .w = w, .stream = stream, .at = cpu->from + 4, .limit = cpu->limit };
	const uint8_t *p = window_at(&w->window, cpu->from, 4);
	size_t piece = SIZE_MAX;
	uint8_t number[4] = { 0 };

	if (!p)
		return;
	s.declared = load_u32(p, w->shape.big_endian);
	uint64_t end = cpu->from + cpu->length;
	if (w->emitting)
		piece = tracedat_field(&w->out.pieces, w->source, cpu->from, number, 4, TRACEDAT_RULE_v7_chunk_count,
				       "the number of chunks that are kept");
	while (s.limit > s.at && s.limit - s.at >= 8 && w->status == TM_OK && !w->stopped) {
		/* What the count covers ends it, unless the size of the data says that there is more. */
		if (s.count >= s.declared && (s.at >= end || !tracedat_chunk_begins(w, s.at, s.limit)) && (s.declared || s.count))
			break;
		if (!chunk_next(&s))
			break;
	}
	store_u32(number, s.kept, w->shape.big_endian);
	tracedat_fill(&w->out.pieces, piece, number);
	cpu->end = s.at;
	if (w->emitting || w->stopped || w->status != TM_OK || s.lost || cpu->clipped)
		return;
	struct finding *fd;
	cpu->fewer = s.count < s.declared || s.at < end;
	if (s.count != s.declared) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_chunk_count, cpu->from, 4, "%u chunks are claimed, %u are there",
				     s.declared, s.count);
		finding_path(fd, "CPU %u", cpu->cpu);
	} else if (s.at == end + 4) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_buffer_size_minus_four, cpu->declared_at, 20,
				     "the size of the compressed data is stated as %llu, it is %llu",
				     (unsigned long long)cpu->length, (unsigned long long)(s.at - cpu->from));
		finding_path(fd, "CPU %u", cpu->cpu);
	} else if (s.at != end && !cpu->found) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_chunk_count, stream->text ? cpu->from : cpu->declared_at,
				     stream->text ? 4 : 20,
				     "the size of the compressed data is stated as %llu, its %u chunks have %llu bytes",
				     (unsigned long long)cpu->length, s.count, (unsigned long long)(s.at - cpu->from));
		finding_path(fd, "CPU %u", cpu->cpu);
	}
}
