/* The pages of each CPU, plain or in compressed chunks (MAN6, MAN7 "CPU DATA"). */
#include "formats/tracedat/tracedat.h"

#include <stdlib.h>

/* Looks at statistics of CPUs: enough for 4,000 CPUs in two buffers. */
#define STAT_LOOKS_MAX (UINT64_C(1) << 26)

static const uint8_t zeros[4096];

static void put_zeros(struct tracedat_pieces *out, uint64_t n, unsigned rule, const char *why)
{
	while (n) {
		size_t step = n < sizeof(zeros) ? (size_t)n : sizeof(zeros);
		(void)tracedat_literal(out, zeros, step, rule, why);
		n -= step;
	}
}

void tracedat_page_account(struct tracedat *t, enum tracedat_verdict verdict, uint32_t records, uint32_t bad)
{
	if (verdict == TRACEDAT_KEEP) {
		t->kept += records;
	} else if (verdict == TRACEDAT_PATCH) {
		t->kept += records;
		t->lost += bad;
		if (bad && t->lost_is == TM_EXACT)
			t->lost_is = TM_AT_LEAST;
	} else {
		t->lost += records + bad;
		t->lost_is = TM_UNKNOWN_COUNT;
	}
}

/* ---- emission ---- */

static bool edit_is_empty(const struct tracedat_edit *e)
{
	return !e->remove && !e->length && !e->zeros;
}

/* A page of the file with its edits. n: bytes of it that are there. */
static void emit_plain(struct tracedat *t, uint64_t offset, uint32_t n)
{
	uint32_t at = 0;
	for (size_t i = 0; i < t->edit_count; i++) {
		const struct tracedat_edit *e = &t->edits[i];
		if (edit_is_empty(e))
			continue;
		uint32_t upto = e->at < n ? e->at : n;
		tracedat_copy(&t->out, t->source, offset + at, upto - at);
		uint32_t end = e->at + e->remove < n ? e->at + e->remove : n;
		tracedat_drop(t, offset + upto, end > upto ? end - upto : 0, e->rule, e->why);
		if (e->length)
			(void)tracedat_field(&t->out, t->source, e->length == e->remove ? offset + e->at : TRACEDAT_NO_OLD,
					     e->bytes, e->length, e->rule, e->why);
		put_zeros(&t->out, e->zeros, e->rule, e->why);
		at = end > at ? end : at;
	}
	tracedat_copy(&t->out, t->source, offset + at, n - at);
}

/* A page of a chunk with its edits. */
static void emit_bytes(const struct tracedat *t, const uint8_t *page, uint32_t size, struct bytes *to)
{
	uint32_t at = 0;
	for (size_t i = 0; i < t->edit_count; i++) {
		const struct tracedat_edit *e = &t->edits[i];
		if (edit_is_empty(e))
			continue;
		bytes_append(to, page + at, e->at - at);
		bytes_append(to, e->bytes, e->length);
		(void)bytes_grow(to, e->zeros);
		at = e->at + e->remove;
	}
	bytes_append(to, page + at, size - at);
}

/* ---- plain pages ---- */

/* The last piece of a range that is no whole page: it is completed with zeros. */
static const uint8_t *partial_page(struct tracedat *t, uint64_t at, uint32_t n, uint32_t size)
{
	if (t->chunk_capacity < size) {
		uint8_t *grown = realloc(t->chunk, size);
		if (!grown) {
			tracedat_no_memory(t);
			return NULL;
		}
		t->chunk = grown;
		t->chunk_capacity = size;
	}
	const uint8_t *p = window_at(&t->window, at, n);
	if (!p)
		return NULL;
	memcpy(t->chunk, p, n);
	memset(t->chunk + n, 0, size - n);
	return t->chunk;
}

static void plain_partial(struct tracedat *t, struct tracedat_walk *w, uint64_t at, uint32_t n)
{
	uint32_t size = w->page_size, records = 0, bad = 0;
	struct tracedat_place_of where = { .offset = at, .length = n, .available = n };
	struct findings *findings = t->findings;
	const uint8_t *page = n >= tracedat_page_data(t) + 4 ? partial_page(t, at, n, size) : NULL;
	enum tracedat_verdict verdict = TRACEDAT_LEAVE;

	if (page && t->scratch) {
		/* That the page is cut is told already. */
		t->findings = t->scratch;
		verdict = tracedat_page(t, w, page, &where, &records, &bad);
		t->findings = findings;
	}
	t->records += t->emitting ? 0 : records;
	if (!t->emitting)
		return;
	static const char why[] = "completes the page that was cut";
	if (verdict == TRACEDAT_LEAVE || !records) {
		tracedat_drop(t, at, n, TRACEDAT_RULE_cpu_size_not_page_multiple, "the beginning of a page without a whole record");
		t->lost_is = TM_UNKNOWN_COUNT;
		return;
	}
	if (verdict == TRACEDAT_KEEP)
		t->edit_count = 0;
	/* Zeros that an edit adds at the end cover what is missing of the page. */
	uint64_t before = t->out.size;
	emit_plain(t, at, n);
	if (t->out.size - before < size)
		put_zeros(&t->out, size - (t->out.size - before), TRACEDAT_RULE_cpu_size_not_page_multiple, why);
	tracedat_page_account(t, TRACEDAT_PATCH, records, bad);
	t->lost_is = TM_UNKNOWN_COUNT;
}

static void walk_plain(struct tracedat *t, struct tracedat_walk *w)
{
	struct tracedat_cpu *c = w->cpu;
	uint32_t size = w->page_size;

	bool sound = true;
	for (uint64_t at = c->from, end = c->from + c->length; at < end && t->status == TM_OK; at += size, w->index++) {
		/* Behind a bad page the next one may stand elsewhere: bytes were inserted or removed. */
		const uint8_t *next = sound || end - at < size ? NULL : window_at(&t->window, at, size);
		if (next && !tracedat_page_plausible(t, next, size, NULL) && !bytes_are_zero(next, size)) {
			uint64_t place = tracedat_slide(t, at, size, at - size + 4, c->limit > end ? c->limit : end);
			if (place != UINT64_MAX) {
				struct finding *fd = tracedat_report(
					t, TRACEDAT_RULE_cpu_offset_alignment, place, size,
					"the pages go on at 0x%llx, not at 0x%llx: bytes were inserted or removed before",
					(unsigned long long)place, (unsigned long long)at);
				finding_path(fd, "CPU %u > page %llu", c->cpu, (unsigned long long)w->index);
				if (place > at)
					tracedat_drop(t, at, place - at, TRACEDAT_RULE_cpu_offset_alignment,
						      "bytes between two pages");
				/* What was removed moves the end as well. */
				end = place > at ? end + (place - at) : end - (at - place);
				if (end > c->limit && c->limit)
					end = c->limit;
				c->end = end;
				at = place;
				if (at >= end)
					break;
			}
		}
		if (end - at < size) {
			plain_partial(t, w, at, (uint32_t)(end - at));
			break;
		}
		const uint8_t *page = window_at(&t->window, at, size);
		struct tracedat_place_of where = { .offset = at, .length = size };
		uint32_t records, bad;
		if (!page)
			return;
		enum tracedat_verdict verdict = tracedat_page(t, w, page, &where, &records, &bad);
		sound = w->sound;
		if (!t->emitting) {
			t->records += records;
			continue;
		}
		if (verdict == TRACEDAT_KEEP)
			tracedat_copy(&t->out, t->source, at, size);
		else if (verdict == TRACEDAT_PATCH)
			emit_plain(t, at, size);
		else
			tracedat_drop(t, at, size, TRACEDAT_RULE_page_commit_length, "a page of which no record can be read");
		tracedat_page_account(t, verdict, records, bad);
	}
}

/* ---- chunks ---- */

/* Bytes of the file, wherever they fit. *owned is to be freed. */
static const uint8_t *chunk_bytes(struct tracedat *t, uint64_t at, size_t size, uint8_t **owned)
{
	*owned = NULL;
	if (size <= WINDOW_SPAN_MAX)
		return window_at(&t->window, at, size);
	*owned = malloc(size);
	if (!*owned) {
		tracedat_no_memory(t);
		return NULL;
	}
	if (source_read(t->source, at, *owned, size) == TM_OK)
		return *owned;
	t->status = t->source->bundle->error.status;
	return NULL;
}

bool tracedat_chunk_begins(struct tracedat *t, uint64_t at, uint64_t limit)
{
	const uint8_t *p = limit > at && limit - at >= 12 ? window_at(&t->window, at, 12) : NULL;
	return p && tracedat_frame_begins(t->codec, p + 8, 4);
}

struct chunk {
	uint64_t at; /* of its two sizes */
	uint32_t csize, usize;
	uint64_t frame; /* real bytes */
	size_t size;	/* decoded */
	bool decoded;
};

static bool chunk_room(struct tracedat *t, size_t room)
{
	if (t->chunk_capacity >= room)
		return true;
	uint8_t *grown = realloc(t->chunk, room);
	if (!grown) {
		tracedat_no_memory(t);
		return false;
	}
	t->chunk = grown;
	t->chunk_capacity = room;
	return true;
}

/* Decodes the frame at c->at + 8 from at most `size` bytes. */
static bool chunk_try(struct tracedat *t, struct chunk *c, size_t size, uint32_t page_size)
{
	size_t room = 10 * (size_t)page_size + page_size;
	uint8_t *owned;
	struct tracedat_decoded d = { 0 };
	const uint8_t *p = chunk_bytes(t, c->at + 8, size, &owned);
	bool fine = false;

	if (c->usize > room && c->usize <= TRACEDAT_CHUNK_MAX)
		room = c->usize;
	while (p && t->status == TM_OK) {
		if (!chunk_room(t, room))
			break;
		fine = tracedat_decode(t, t->codec, p, size, t->chunk, room, &d);
		if (!fine || d.fits || room == TRACEDAT_CHUNK_MAX)
			break;
		room = TRACEDAT_CHUNK_MAX;
	}
	free(owned);
	c->frame = d.consumed;
	c->size = d.size;
	c->decoded = fine && d.fits && t->status == TM_OK;
	if (fine && t->status == TM_OK && tracedat_bomb(t, c->at, d.consumed, d.fits ? d.size : (uint64_t)d.size + 1))
		c->decoded = false;
	t->decoded += t->emitting ? 0 : d.size;
	return c->decoded;
}

/* A chunk header by which the next one can be found after damage. */
static uint64_t chunk_resync(struct tracedat *t, uint64_t at, uint64_t limit, uint32_t page_size)
{
	while (limit > at && limit - at >= 12) {
		size_t got;
		const uint8_t *p = window_upto(&t->window, at, limit - at < 65536 ? (size_t)(limit - at) : 65536, &got);
		if (!p || got < 12)
			break;
		size_t i = 0;
		for (; i + 12 <= got; i++) {
			if (!tracedat_frame_begins(t->codec, p + i + 8, 4))
				continue;
			uint32_t csize = load_u32(p + i, t->big_endian), usize = load_u32(p + i + 4, t->big_endian);
			if (csize && csize <= limit - at - i - 8 && usize && usize % page_size == 0 && usize <= TRACEDAT_CHUNK_MAX)
				return at + i;
		}
		at += i;
	}
	return limit;
}

bool tracedat_chunk_pages(struct tracedat *t, uint64_t at, uint64_t limit, uint32_t page_size)
{
	struct chunk c = { .at = at };
	const uint8_t *p = limit > at + 8 ? window_at(&t->window, at, 8) : NULL;
	c.csize = p ? load_u32(p, t->big_endian) : 0;
	return c.csize && c.csize <= limit - at - 8 && c.csize <= TRACEDAT_CHUNK_MAX && chunk_try(t, &c, c.csize, page_size) &&
	       c.size >= page_size && tracedat_page_plausible(t, t->chunk, page_size, NULL);
}

struct chunks {
	struct tracedat *t;
	struct tracedat_walk *w;
	uint64_t at, limit;
	uint32_t declared, count, kept;
	bool lost;
};

#define chunk_report(s, rule, ...) ((void)PLACE(rule), chunk_report_at((s), (rule), __VA_ARGS__))
static void chunk_report_at(struct chunks *s, unsigned rule, uint64_t at, uint64_t length, const char *format, ...)
	PRINTF_LIKE(5, 6);
static void chunk_report_at(struct chunks *s, unsigned rule, uint64_t at, uint64_t length, const char *format, ...)
{
	struct finding *fd = tracedat_finding_at(s->t, rule, at, length);
	const char *name = s->w->buffer->name;
	va_list arguments;
	if (s->w->text)
		finding_path(fd, "%s%stext > chunk %u", name, *name ? " > " : "", s->count);
	else
		finding_path(fd, "%s%sCPU %u > chunk %u", name, *name ? " > " : "", s->w->cpu->cpu, s->count);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

/* A chunk in the output: as it is, or made anew of other content. */
static void chunk_put(struct chunks *s, const struct chunk *c, const struct bytes *content, unsigned rule, const char *why)
{
	struct tracedat *t = s->t;
	uint8_t number[4];

	if (!content) {
		store_u32(number, (uint32_t)c->frame, t->big_endian);
		(void)tracedat_field(&t->out, t->source, c->at, number, 4, TRACEDAT_RULE_v7_chunk_csize,
				     "the size that the frame has");
		store_u32(number, (uint32_t)c->size, t->big_endian);
		(void)tracedat_field(&t->out, t->source, c->at + 4, number, 4, TRACEDAT_RULE_v7_chunk_usize,
				     "the size that comes out");
		tracedat_copy(&t->out, t->source, c->at + 8, c->frame);
		s->kept++;
		return;
	}
	struct bytes frame = { .big_endian = t->big_endian };
	bytes_u32(&frame, 0);
	bytes_u32(&frame, (uint32_t)content->size);
	if (content->size && tracedat_encode(t->codec, content->data, content->size, &frame) && !frame.failed) {
		store_u32(frame.data, (uint32_t)(frame.size - 8), t->big_endian);
		(void)tracedat_literal(&t->out, frame.data, frame.size, rule, why);
		s->kept++;
	}
	if (content->failed || frame.failed)
		tracedat_no_memory(t);
	tracedat_drop(t, c->at, 8 + c->frame, rule, why);
	bytes_free(&frame);
}

/* The lines of a decoded chunk. */
static void chunk_lines(struct chunks *s, const struct chunk *c)
{
	struct tracedat_text *l = s->w->text;
	struct bytes whole = { 0 };

	if (!s->t->emitting) {
		tracedat_text_count(s->t, l, s->t->chunk, c->size);
		return;
	}
	if (l->torn)
		tracedat_text_whole(l, s->t->chunk, c->size, &whole);
	chunk_put(s, c, l->torn ? &whole : NULL, TRACEDAT_RULE_v7_chunk_decode,
		  "the chunk is compressed anew with whole lines only");
	if (l->carry.failed)
		tracedat_no_memory(s->t);
	bytes_free(&whole);
}

/* The pages of a decoded chunk. */
static void chunk_pages(struct chunks *s, const struct chunk *c)
{
	struct tracedat *t = s->t;
	uint32_t size = s->w->page_size, left = (uint32_t)(c->size % size), pages = (uint32_t)(c->size / size) + (left != 0);
	struct bytes out = { .big_endian = t->big_endian };
	bool changed = false;

	if (left && !chunk_room(t, (size_t)pages * size))
		return;
	if (left)
		memset(t->chunk + c->size, 0, size - left);
	for (uint32_t i = 0; i < pages && t->status == TM_OK; i++, s->w->index++) {
		const uint8_t *page = t->chunk + (size_t)i * size;
		struct tracedat_place_of where = { .offset = c->at,
						   .length = 8 + c->frame,
						   .in_chunk = true,
						   .in = i * size,
						   .available = i + 1 == pages ? left : 0 };
		uint32_t records, bad;
		if (where.available && where.available < tracedat_page_data(t) + 4) {
			changed = true;
			continue;
		}
		enum tracedat_verdict verdict = tracedat_page(t, s->w, page, &where, &records, &bad);
		if (!t->emitting) {
			t->records += records;
			continue;
		}
		changed |= verdict != TRACEDAT_KEEP || where.available;
		if (verdict == TRACEDAT_KEEP)
			t->edit_count = 0;
		if (verdict != TRACEDAT_LEAVE)
			emit_bytes(t, page, size, &out);
		tracedat_page_account(t, verdict, records, bad);
	}
	static const char why[] = "the chunk is compressed anew with its pages mended";
	if (t->emitting)
		chunk_put(s, c, changed ? &out : NULL, TRACEDAT_RULE_page_commit_length, why);
	if (t->emitting && changed)
		plan_doubt(t->scan->plan, t->source, c->at, 8 + c->frame,
			   "the chunk has errors, and no checksum that tells whether the rest of it is as it was");
	bytes_free(&out);
}

static void chunk_lose(struct chunks *s, uint64_t from, uint64_t to)
{
	s->lost = true;
	s->w->pending_missed = true;
	if (s->w->text)
		tracedat_text_break(s->w->text);
	if (s->t->emitting) {
		s->t->lost_is = TM_UNKNOWN_COUNT;
		tracedat_drop(s->t, from, to - from, TRACEDAT_RULE_v7_chunk_decode, "a chunk that cannot be decompressed");
	}
}

/* One chunk at s->at. False at the end of what can be read. */
static bool chunk_next(struct chunks *s)
{
	struct tracedat *t = s->t;
	uint32_t page = s->w->page_size;
	const uint8_t *p = window_at(&t->window, s->at, 8);
	struct chunk c = { .at = s->at };
	uint64_t room = s->limit - s->at - 8;
	struct finding *fd;

	if (!p)
		return false;
	c.csize = load_u32(p, t->big_endian);
	c.usize = load_u32(p + 4, t->big_endian);
	bool begins = tracedat_chunk_begins(t, s->at, s->limit);
	bool fits = c.csize && c.csize <= room;
	size_t most = room < TRACEDAT_CHUNK_MAX ? (size_t)room : TRACEDAT_CHUNK_MAX;
	if (begins && fits && c.csize <= TRACEDAT_CHUNK_MAX && chunk_try(t, &c, c.csize, page) && c.frame == c.csize) {
		/* as it should be */
	} else if (begins && !t->stopped && most && chunk_try(t, &c, most, page)) {
		chunk_report(s, TRACEDAT_RULE_v7_chunk_csize, c.at, 4, "the compressed size is %u, the frame has %llu bytes",
			     c.csize, (unsigned long long)c.frame);
	}
	if (t->status != TM_OK)
		return false;
	if (c.decoded && !t->old_ring && !s->w->text && !tracedat_chunk_vouched(t, t->chunk, c.size, page)) {
		chunk_report(s, TRACEDAT_RULE_v7_chunk_decode, c.at, 8 + c.frame,
			     "the chunk unfolds to %zu bytes that contradict themselves: its frame is damaged inside", c.size);
		chunk_lose(s, c.at, c.at + 8 + c.frame);
		s->at += 8 + c.frame;
		s->count++;
		return true;
	}
	if (!c.decoded) {
		uint64_t next = s->at + 8 + c.csize;
		bool chained = fits &&
			       (next == s->limit || s->count + 1 == s->declared || tracedat_chunk_begins(t, next, s->limit));
		if (!chained)
			next = chunk_resync(t, s->at + 1, s->limit, page);
		if (!begins && !chained && next == s->limit)
			return false;
		if (next == s->limit && s->w->cpu->clipped && !chained) {
			chunk_lose(s, s->at, next);
			s->at = next;
			return false;
		}
		chunk_report(s, begins || chained ? TRACEDAT_RULE_v7_chunk_decode : TRACEDAT_RULE_v7_chunk_csize, s->at,
			     next - s->at, "a chunk of %llu bytes cannot be decompressed", (unsigned long long)(next - s->at));
		chunk_lose(s, s->at, next);
		s->at = next;
		s->count++;
		return true;
	}
	if (c.size != c.usize || c.size % page) {
		chunk_report(s, TRACEDAT_RULE_v7_chunk_usize, c.at + 4, 4,
			     "the decompressed size is stated as %u; %zu bytes come out, pages have %u", c.usize, c.size, page);
	} else if (c.size > 10 * (size_t)page && !t->emitting && !s->w->text) {
		fd = tracedat_milder(t, TRACEDAT_RULE_v7_chunk_usize, TM_NOTE, c.at + 4, 4);
		finding_say(fd, "a chunk of %zu pages; trace-cmd writes 10", c.size / page);
	}
	if (s->w->text)
		chunk_lines(s, &c);
	else
		chunk_pages(s, &c);
	s->at += 8 + c.frame;
	s->count++;
	return true;
}

void tracedat_chunks(struct tracedat *t, struct tracedat_walk *w)
{
	struct tracedat_cpu *cpu = w->cpu;
	struct chunks s = { .t = t, .w = w, .at = cpu->from + 4, .limit = cpu->limit };
	const uint8_t *p = window_at(&t->window, cpu->from, 4);
	size_t piece = SIZE_MAX;
	uint8_t number[4] = { 0 };

	if (!p)
		return;
	s.declared = load_u32(p, t->big_endian);
	uint64_t end = cpu->from + cpu->length;
	if (t->emitting)
		piece = tracedat_field(&t->out, t->source, cpu->from, number, 4, TRACEDAT_RULE_v7_chunk_count,
				       "the number of chunks that are kept");
	while (s.limit > s.at && s.limit - s.at >= 8 && t->status == TM_OK && !t->stopped) {
		/* What the count covers ends it, unless the size of the data says that there is more. */
		if (s.count >= s.declared && (s.at >= end || !tracedat_chunk_begins(t, s.at, s.limit)) && (s.declared || s.count))
			break;
		if (!chunk_next(&s))
			break;
	}
	store_u32(number, s.kept, t->big_endian);
	tracedat_fill(&t->out, piece, number);
	cpu->end = s.at;
	if (t->emitting || t->stopped || t->status != TM_OK || s.lost || cpu->clipped)
		return;
	struct finding *fd;
	cpu->fewer = s.count < s.declared || s.at < end;
	if (s.count != s.declared) {
		fd = tracedat_report(t, TRACEDAT_RULE_v7_chunk_count, cpu->from, 4, "%u chunks are claimed, %u are there",
				     s.declared, s.count);
		finding_path(fd, "CPU %u", cpu->cpu);
	} else if (s.at == end + 4) {
		fd = tracedat_report(t, TRACEDAT_RULE_v7_buffer_size_minus_four, cpu->declared_at, 20,
				     "the size of the compressed data is stated as %llu, it is %llu",
				     (unsigned long long)cpu->length, (unsigned long long)(s.at - cpu->from));
		finding_path(fd, "CPU %u", cpu->cpu);
	} else if (s.at != end && !cpu->found) {
		fd = tracedat_report(t, TRACEDAT_RULE_v7_chunk_count, w->text ? cpu->from : cpu->declared_at, w->text ? 4 : 20,
				     "the size of the compressed data is stated as %llu, its %u chunks have %llu bytes",
				     (unsigned long long)cpu->length, s.count, (unsigned long long)(s.at - cpu->from));
		finding_path(fd, "CPU %u", cpu->cpu);
	}
}

/* ---- all ---- */

void tracedat_cpu_walk(struct tracedat *t, struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	struct tracedat_walk w = { .buffer = b, .cpu = c, .page_size = b->page_size };
	c->end = c->from + c->length;
	if (!c->length || t->status != TM_OK || t->stopped)
		return;
	if (b->compressed)
		tracedat_chunks(t, &w);
	else
		walk_plain(t, &w);
}

static const struct tracedat_stat *stat_find(struct tracedat *t, const struct tracedat_buffer *b, uint32_t cpu)
{
	/* A capture has one for each CPU; what has many more is not compared to the end. */
	for (size_t i = 0; i < t->stat_count && t->looks < STAT_LOOKS_MAX; i++) {
		const struct tracedat_stat *s = &t->stats[i];
		t->looks++;
		if (s->cpu != cpu)
			continue;
		if (s->buffer_name < 0) {
			if (!*b->name)
				return s;
			continue;
		}
		const struct tracedat_option *o = &t->options[s->buffer_name];
		const char *text = (const char *)o->block->data + o->at;
		const char *name = memmem(text, o->size, "Buffer: ", 8);
		size_t length = strlen(b->name);
		if (name && *b->name && (size_t)(name - text) + 8 + length < o->size && !memcmp(name + 8, b->name, length) &&
		    name[8 + length] == '\n')
			return s;
	}
	return NULL;
}

/* What the kernel counted beside what is there. */
static void cpu_compare(struct tracedat *t, const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	const struct tracedat_stat *s = stat_find(t, b, c->cpu);
	struct finding *fd;

	if (!s || t->stopped)
		return;
	const struct tracedat_option *o = &t->options[s->option];
	unsigned long long counted = s->entries + s->read;
	if (s->known && counted != c->records) {
		fd = tracedat_block_report(t, TRACEDAT_RULE_cpustat_event_count, o->block, o->at, o->size,
					   "the kernel counted %llu events, the capture has %llu", counted,
					   (unsigned long long)c->records);
		finding_path(fd, "%s%sCPU %u", b->name, *b->name ? " > " : "", c->cpu);
	}
	if (s->overrun && !c->missed) {
		(void)tracedat_block_report(t, TRACEDAT_RULE_cpustat_overrun_no_missed, o->block, o->at, o->size,
					    "CPU %u: %llu events were overwritten", c->cpu, (unsigned long long)s->overrun);
	}
	if (s->now_us && c->records && c->last_time / 1000 > s->now_us + 1) {
		(void)tracedat_block_report(t, TRACEDAT_RULE_cpustat_time_range, o->block, o->at, o->size,
					    "CPU %u: the last event is at %llu us, the statistics were taken at %llu us", c->cpu,
					    (unsigned long long)(c->last_time / 1000), (unsigned long long)s->now_us);
	}
}

void tracedat_cpus(struct tracedat *t)
{
	for (size_t i = 0; i < t->buffer_count && t->status == TM_OK; i++) {
		struct tracedat_buffer *b = &t->buffers[i];
		if (b->text) {
			tracedat_latency_section(t, b);
			continue;
		}
		for (size_t j = 0; j < b->count && t->status == TM_OK; j++) {
			tracedat_cpu_walk(t, b, &b->cpus[j]);
			cpu_compare(t, b, &b->cpus[j]);
		}
	}
	if (t->latency && t->status == TM_OK)
		t->latency_stop = tracedat_latency_text(t, t->latency_at, t->source->size);
}
