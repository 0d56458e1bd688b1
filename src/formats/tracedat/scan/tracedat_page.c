/* One page of the ring buffer: its header, and what becomes of it. tracedat_fast.c and tracedat_record.c walk its records. */
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

#define HOUR UINT64_C(3600000000000)

static bool page_is_filled(const uint8_t *page, uint32_t size, uint8_t with)
{
	return page[0] == with && !memcmp(page, page + 1, size - 1);
}

/* Looked at only where time and length are those of the page before. */
static bool page_is_previous(struct tracedat_page *p)
{
	struct tracedat_walk *w = p->w;
	uint32_t size = p->stream->page_size;

	if (p->where->in_chunk)
		return p->where->in >= size && !memcmp(p->bytes - size, p->bytes, size);
	if (p->where->offset < p->stream->cpu->from + size)
		return false;
	if (!w->pages.previous)
		w->pages.previous = malloc(TRACEDAT_PAGE_MAX);
	if (!w->pages.previous) {
		tracedat_no_memory(w);
		return false;
	}
	return source_read(w->source, p->where->offset - size, w->pages.previous, size) == TM_OK &&
	       !memcmp(w->pages.previous, p->bytes, size);
}

static void page_times(struct tracedat_page *p, uint64_t ts, uint64_t commit)
{
	struct tracedat_stream *stream = p->stream;

	if (p->emitting)
		return;
	if (!ts) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_timestamp_zero, 0, 8, "the page has events and time 0");
	} else if (stream->started && ts < stream->last) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_time_backwards, 0, 8,
					   "the page begins at %llu, the one before ended at %llu", (unsigned long long)ts,
					   (unsigned long long)stream->last);
		if (!stream->sound && p->w->s->plan && !p->where->in_chunk)
			plan_doubt(p->w->s->plan, p->w->source, p->where->offset, p->where->length,
				   "the page steps back in time, and the one before is damaged: its time may be, too");
	} else if (stream->started && stream->last && ts - stream->last > HOUR) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_time_jump, 0, 8, "the page begins %llu s after the one before",
					   (unsigned long long)((ts - stream->last) / 1000000000));
	}
	if (stream->started && ts == stream->page_time && commit == stream->page_commit && page_is_previous(p)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_duplicate, 0, stream->page_size,
					   "the page is the same as the one before");
	}
}

/* The count of lost events, where there is one. */
static void page_missed(struct tracedat_page *p, uint64_t *commit, uint32_t length)
{
	unsigned long_size = p->w->shape.long_size;
	bool stored = *commit & PAGE_MISSED_STORED, missed = *commit & PAGE_MISSED_EVENTS;
	struct finding *fd;

	if (stored && !missed) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_missed_stored_alone, 8, long_size,
					   "bit 30 of the commit word is set without bit 31");
		*commit &= ~(uint64_t)PAGE_MISSED_STORED;
	} else if (stored && p->capacity - length < long_size) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_missed_no_room, 8, long_size,
					   "a count of lost events is announced, but %u bytes are left of the page",
					   p->capacity - length);
		*commit &= ~(uint64_t)PAGE_MISSED_STORED;
	} else if (stored) {
		uint64_t count = tracedat_long(&p->w->shape, p->data + length);
		if (!p->emitting && (count == 0 || count > UINT64_C(1) << 40)) {
			(void)tracedat_page_report(p, TRACEDAT_RULE_page_missed_count, p->head + length, long_size,
						   "%lld events are said to be lost", (long long)count);
		}
	}
	if (missed) {
		p->stream->cpu->missed = true;
		if (!p->emitting) {
			fd = tracedat_page_finding(p, TRACEDAT_RULE_page_missed_events, 8, long_size);
			if (stored && p->capacity - length >= long_size)
				finding_say(fd, "%llu events were lost before this page",
					    (unsigned long long)tracedat_long(&p->w->shape, p->data + length));
			else
				finding_say(fd, "events were lost before this page");
		}
	}
}

static void commit_edit(struct tracedat_page *p, uint64_t commit, unsigned rule, const char *why)
{
	uint8_t word[8];
	if (p->w->shape.long_size == 8)
		store_u64(word, commit, p->be);
	else
		store_u32(word, (uint32_t)commit, p->be);
	tracedat_page_edit(p, 8, p->w->shape.long_size, word, p->w->shape.long_size, rule, why);
}

/* Zeros in front of `at`, and `remove` bytes there taken away. */
static void zeros_edit(struct tracedat_page *p, uint32_t at, uint32_t remove, uint32_t zeros, unsigned rule, const char *why)
{
	struct bytes filling = { 0 };
	if (zeros && bytes_grow(&filling, zeros))
		tracedat_page_edit(p, at, 0, filling.data, zeros, rule, why);
	if (remove)
		tracedat_page_edit(p, at, remove, NULL, 0, rule, why);
	p->w->pages.edits.failed |= filling.failed;
	bytes_free(&filling);
}

/* The kernel keeps bits 32 to 63 clear, or copies bit 31 into them. */
static uint64_t commit_clean(struct tracedat_page *p, uint64_t commit)
{
	uint64_t high = p->w->shape.long_size == 8 ? commit >> 32 : 0;
	bool extended = high == UINT32_MAX && commit & PAGE_MISSED_EVENTS;
	if (!(commit & PAGE_RESERVED_BITS) && (!high || extended))
		return commit;
	(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_reserved, 8, p->w->shape.long_size,
				   "the commit word is 0x%llx; bits 27 to 29 and 32 to 63 are reserved",
				   (unsigned long long)commit);
	return commit & ~(uint64_t)PAGE_RESERVED_BITS & (extended ? UINT64_MAX : UINT32_MAX);
}

/* Ends the page at `end` of its data. */
static enum tracedat_verdict page_end(struct tracedat_page *p, uint64_t commit, uint32_t end, unsigned rule)
{
	uint32_t kept = end - p->removed;

	if (!p->records)
		return TRACEDAT_LEAVE;
	commit_edit(p, kept | (commit & PAGE_MISSED_EVENTS ? (commit & ~(uint64_t)(PAGE_LENGTH_MASK | PAGE_MISSED_STORED)) : 0),
		    rule, "the length up to which the records are sound");
	zeros_edit(p, p->head + end, p->capacity - end, p->capacity - kept, rule, "zeros after the last sound record");
	return TRACEDAT_PATCH;
}

/* The same where records are lost behind it. */
static enum tracedat_verdict page_trim(struct tracedat_page *p, uint64_t commit, uint32_t end, unsigned rule)
{
	p->stream->pending_missed = true;
	p->w->out.lost_is = TM_UNKNOWN_COUNT;
	return page_end(p, commit, end, rule);
}

/* A length that ends inside of a record, which no writer leaves: where records of known events go on up to nothing but zeros
 * the length was too small. Returns where they end. */
static uint32_t page_go_on(struct tracedat_page *p, uint32_t at)
{
	uint32_t records,
		end = at + tracedat_page_prefix(&p->w->shape, tracedat_known(p->w), p->data + at, p->capacity - at, true, &records);
	p->cut = records && bytes_are_zero(p->data + end, p->capacity - end);
	if (!p->cut)
		return at;
	p->limit = end;
	return tracedat_page_walk(p, at, true);
}

static void page_remember(struct tracedat_page *p, uint64_t ts, uint64_t commit)
{
	struct tracedat_stream *stream = p->stream;
	struct tracedat_cpu *c = stream->cpu;
	if (p->emitting)
		return;
	if (!c->records && p->records)
		c->first_time = ts;
	if (p->records) {
		c->last_time = p->time;
		stream->last = p->time;
	} else if (ts) {
		stream->last = ts;
	}
	c->records += p->records;
	stream->page_time = ts;
	stream->page_commit = commit;
	stream->started = true;
}

/* Sound so far: what edits there are make it a patched one. */
static enum tracedat_verdict page_finish(struct tracedat_page *p, uint64_t commit, uint64_t old, uint32_t length)
{
	struct tracedat_walk *w = p->w;
	if (!p->emitting)
		return TRACEDAT_KEEP;
	bool mark = p->stream->pending_missed && !(commit & PAGE_MISSED_EVENTS);
	p->stream->pending_missed = false;
	if (mark)
		commit |= PAGE_MISSED_EVENTS;
	if (p->removed) {
		if (!p->records)
			return TRACEDAT_LEAVE;
		uint32_t stored = commit & PAGE_MISSED_STORED ? w->shape.long_size : 0;
		zeros_edit(p, p->head + length + stored, 0, p->removed, TRACEDAT_RULE_record_unknown_event_id,
			   "zeros in place of the records that were removed");
		commit -= p->removed;
	}
	if (commit != old)
		commit_edit(p, commit, mark ? TRACEDAT_RULE_v7_chunk_decode : TRACEDAT_RULE_page_commit_reserved,
			    mark ? "marks that events were lost before this page" : "the commit word as the kernel would write it");
	bool patched = w->pages.edits.count != 0;
	return patched ? TRACEDAT_PATCH : TRACEDAT_KEEP;
}

/* A page with time 0 and length 0. */
static enum tracedat_verdict page_blank(struct tracedat_page *p)
{
	struct tracedat_stream *stream = p->stream;

	if (bytes_are_zero(p->bytes, stream->page_size)) {
		if (p->emitting)
			return TRACEDAT_KEEP;
		if (stream->zero) {
			finding_explains(stream->zero, 1);
		} else {
			stream->zero = tracedat_page_report(p, TRACEDAT_RULE_page_all_zero, 0, stream->page_size,
							    "a page of zeros");
		}
		return TRACEDAT_KEEP;
	}
	(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 0, p->head,
				   "time and length of the page are 0, but it is not empty");
	stream->pending_missed = true;
	p->garbled = true;
	return TRACEDAT_LEAVE;
}

static enum tracedat_verdict page_empty(struct tracedat_page *p, uint64_t ts, uint64_t commit, uint64_t old)
{
	/* Records behind a length of 0 are lost to readers. */
	uint32_t records = 0;
	if (!bytes_are_zero(p->data, p->capacity) && tracedat_page_plausible(p->w, p->bytes, p->stream->page_size, &records) &&
	    records) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 8, p->w->shape.long_size,
					   "the length of the page is 0, but %u records follow", records);
		p->limit = p->capacity;
		p->time = ts;
		uint32_t end = tracedat_page_walk(p, 0, true);
		page_remember(p, ts, commit);
		return p->emitting ? page_trim(p, commit, end, TRACEDAT_RULE_page_commit_length) : TRACEDAT_KEEP;
	}
	uint32_t tail = commit & PAGE_MISSED_STORED ? p->w->shape.long_size : 0;
	if (!bytes_are_zero(p->data + tail, p->capacity - tail)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 8, p->w->shape.long_size,
					   "the length of the page is 0, but it is not empty");
		p->stream->pending_missed = true;
		p->garbled = true;
		return TRACEDAT_LEAVE;
	}
	if (!p->emitting && !(commit & PAGE_MISSED_EVENTS)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_empty, 0, p->head, "a page with time %llu and no data",
					   (unsigned long long)ts);
	}
	page_remember(p, ts, commit);
	return page_finish(p, commit, old, 0);
}

static enum tracedat_verdict page_judge(struct tracedat_page *p)
{
	struct tracedat_walk *w = p->w;
	uint64_t ts = load_u64(p->bytes, p->be), old = tracedat_long(&p->w->shape, p->bytes + 8), commit = old;

	if (ts == UINT64_MAX && page_is_filled(p->bytes, p->stream->page_size, 0xff)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_all_ones, 0, p->stream->page_size,
					   "every byte of the page is 0xff");
		p->stream->pending_missed = true;
		return TRACEDAT_LEAVE;
	}
	commit = commit_clean(p, commit);
	if (!ts && !commit)
		return page_blank(p);
	uint32_t length = (uint32_t)(commit & PAGE_LENGTH_MASK);
	p->time = ts;
	if (length > p->capacity) {
		p->garbled = true;
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 8, w->shape.long_size,
					   "the length of the page is %u, at most %u fit", length, p->capacity);
		/* With a length that lies only records of known events count. */
		uint32_t there = p->where->available ? (p->where->available - p->head) & ~3u : p->capacity;
		p->limit = tracedat_page_prefix(&w->shape, tracedat_known(w), p->data, there, true, NULL);
		uint32_t end = tracedat_page_walk(p, 0, true);
		page_remember(p, ts, old);
		return p->emitting ? page_trim(p, commit & ~(uint64_t)PAGE_MISSED_STORED, end, TRACEDAT_RULE_page_commit_length)
				   : TRACEDAT_KEEP;
	}
	page_missed(p, &commit, length);
	if (!length)
		return page_empty(p, ts, commit, old);
	page_times(p, ts, old);
	if (length & 3) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_unaligned, 8, w->shape.long_size,
					   "the length of the page is %u, not a multiple of 4", length);
		p->failed = true;
	}
	bool unaligned = p->failed;
	p->limit = length & ~3u;
	/* Of a page that is cut only what is there counts; whoever cut it is reported already. */
	uint32_t there = p->where->available ? p->where->available - p->head : p->capacity;
	if (p->limit > there) {
		p->limit = there & ~3u;
		p->failed = true;
	}
	uint32_t end = tracedat_page_walk(p, 0, false);
	if (p->cut && !p->where->available)
		end = page_go_on(p, end);
	else
		p->cut = false;
	page_remember(p, ts, old);
	if (p->cut && p->emitting)
		return page_end(p, commit & ~(uint64_t)PAGE_MISSED_STORED, end, TRACEDAT_RULE_page_commit_mid_record);
	if (p->failed)
		return p->emitting
			       ? page_trim(p, commit, end,
					   unaligned ? TRACEDAT_RULE_page_commit_unaligned : TRACEDAT_RULE_page_commit_mid_record)
			       : TRACEDAT_KEEP;
	uint32_t tail = length + (commit & PAGE_MISSED_STORED ? w->shape.long_size : 0);
	if (tail < p->capacity && !p->emitting && !bytes_are_zero(p->data + tail, p->capacity - tail)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_tail_not_zero, p->head + tail, p->capacity - tail,
					   "%u bytes after the data of the page are not zero", p->capacity - tail);
	}
	return page_finish(p, commit, old, length);
}

/* ---- the encoding of Linux 2.6.30 and before ---- */

static void old_ring_walk(struct tracedat_page *p)
{
	uint64_t ts = load_u64(p->bytes, p->be);
	uint32_t length = (uint32_t)tracedat_long(&p->w->shape, p->bytes + 8), at = 0;

	p->time = ts;
	if (length > p->capacity)
		length = p->capacity;
	while (length - at >= 4) {
		uint32_t word = load_u32(p->data + at, p->be);
		uint32_t type = p->be ? word >> 30 : word & 3, units = p->be ? word >> 27 & 7 : word >> 2 & 7;
		if (type == 0)
			break;
		if (type == 3) {
			uint32_t size = units ? 4 * units : length - at >= 8 ? load_u32(p->data + at + 4, p->be) : 0;
			if (!size || size > length - at)
				break;
			p->records++;
			at += 4 + ((size + 3) & ~3u);
		} else {
			at += type == 1 ? 8 : 16;
		}
		if (at > length)
			break;
	}
	page_remember(p, ts, length);
}

/* ---- outside ---- */

enum tracedat_verdict tracedat_page(struct tracedat_walk *w, struct tracedat_stream *stream, const uint8_t *page,
				    const struct tracedat_place_of *where, uint32_t *records, uint32_t *bad)
{
	struct tracedat_page p = { .w = w,
				   .stream = stream,
				   .bytes = page,
				   .where = where,
				   .head = tracedat_page_data(&w->shape),
				   .be = w->shape.big_endian,
				   .capacity = tracedat_page_capacity(&w->shape, stream->page_size),
				   .emitting = w->emitting };
	enum tracedat_verdict verdict = TRACEDAT_KEEP;

	p.data = page + p.head;
	edits_clear(&w->pages.edits);
	if (w->shape.old_ring)
		old_ring_walk(&p);
	else
		verdict = page_judge(&p);
	*records = p.records;
	if (!w->emitting)
		w->pages.fast += p.fast < p.records ? p.fast : p.records;
	*bad = p.bad;
	stream->sound = !p.failed && !p.garbled;
	if (w->pages.edits.failed) {
		tracedat_no_memory(w);
		return TRACEDAT_LEAVE;
	}
	return verdict;
}
