/* One page of the ring buffer: its header, and whether it is kept, patched or left out. tracedat_fast.c and
 * tracedat_record.c walk its records. */
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

#define HOUR UINT64_C(3600000000000)
/* Clocks step back a little. A record later than the next page by more than this has a wrong time. */
#define STEP_BACK UINT64_C(1000000000)
/* Bytes that are hit together. */
#define HIT_REACH 8u

static bool page_is_filled(const uint8_t *page, uint32_t size, uint8_t with)
{
	return page[0] == with && !memcmp(page, page + 1, size - 1);
}

/* Compares only where time and length are those of the page before. */
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

/* The page behind this one; NULL: there is none. */
static const uint8_t *page_next(struct tracedat_page *p)
{
	struct tracedat_walk *w = p->w;
	uint32_t size = p->stream->page_size;

	if (!p->where->more)
		return NULL;
	if (p->where->in_chunk)
		return p->bytes + size;
	if (!w->pages.next)
		w->pages.next = malloc(TRACEDAT_PAGE_MAX);
	if (!w->pages.next)
		tracedat_no_memory(w);
	else if (source_read(w->source, p->where->offset + p->where->length, w->pages.next, size) == TM_OK)
		return w->pages.next;
	return NULL;
}

static bool next_is_plausible(const struct tracedat_page *p, const uint8_t *next)
{
	const struct tracedat_run *run = p->where->in_chunk ? p->where->run : NULL;

	/* The runs of a chunk's pages are side by side. */
	return (run && tracedat_run_is_whole(&run[1])) || tracedat_page_plausible(p->w, next, p->stream->page_size, NULL);
}

/* A time that no record of the page can have; UINT64_MAX: nothing is known; 0: the page itself is too late. */
static uint64_t page_latest(struct tracedat_page *p, uint64_t ts)
{
	const struct tracedat_stat *stat = p->stream->cpu->stat;
	uint64_t latest = UINT64_MAX;
	const uint8_t *next = page_next(p);

	if (next && load_u64(next, p->be) >= ts && next_is_plausible(p, next))
		latest = load_u64(next, p->be);
	else if (stat && stat->now_us && stat->now_us < UINT64_MAX / 2000)
		latest = stat->now_us * 1000 + HOUR;
	if (latest < ts)
		return 0;
	return latest < UINT64_MAX - STEP_BACK ? latest + STEP_BACK : UINT64_MAX;
}

/* The page in the output is not what it seems. */
static void page_suspect(struct tracedat_page *p, const char *why)
{
	if (p->w->s->plan)
		plan_doubt(p->w->s->plan, p->w->source, p->where->offset, p->where->length, why);
}

/* Whether the next page shows that the time of this one is wrong, and not that of the page before. Where this one only begins
 * before the end of that page, deltas in that page may be wrong as well. */
static bool page_is_culprit(struct tracedat_page *p, uint64_t ts)
{
	const uint8_t *next = page_next(p);
	uint64_t after = next ? load_u64(next, p->be) : 0;
	return next && after >= p->stream->last && (after < ts || ts < p->stream->page_time) && next_is_plausible(p, next);
}

static void page_backwards(struct tracedat_page *p, uint64_t ts)
{
	struct tracedat_stream *stream = p->stream;

	(void)tracedat_page_report(p, TRACEDAT_RULE_page_time_backwards, 0, 8,
				   "the page begins at time %llu, before the end of the previous page at %llu",
				   (unsigned long long)ts, (unsigned long long)stream->last);
	stream->cpu->backwards = true;
	p->strange = page_is_culprit(p, ts);
	page_suspect(p, "the page is earlier than the one before: the time of either, or its place, may be wrong");
	if (!p->strange && !p->repeated && p->w->s->plan)
		plan_doubt(p->w->s->plan, p->w->source, stream->before, stream->before_length,
			   "the next page is earlier: the time of either, or its place, may be wrong");
}

static void page_times(struct tracedat_page *p, uint64_t ts, uint64_t commit)
{
	struct tracedat_stream *stream = p->stream;
	bool first = !stream->started;

	if (p->emitting)
		return;
	/* Of a page that comes twice, the second is the one too many. */
	p->repeated = !first && ts == stream->page_time && commit == stream->page_commit && page_is_previous(p);
	if (!ts) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_timestamp_zero, 0, 8,
					   "the timestamp of the page is 0, but it has events");
		page_suspect(p, "the timestamp of the page is 0");
	} else if (ts >> 63) {
		/* Times of its events overflow, and look early again. */
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_time_jump, 0, 8, "the page begins after 2^63 ns, or 292 years");
		p->strange = true;
		page_suspect(p, "the time of the page cannot be");
	} else if (!first && ts < stream->last) {
		page_backwards(p, ts);
	} else if (!first && stream->last && ts - stream->last > STEP_BACK) {
		if (ts - stream->last > HOUR)
			(void)tracedat_page_report(p, TRACEDAT_RULE_page_time_jump, 0, 8,
						   "the page begins %llu s after the previous page",
						   (unsigned long long)((ts - stream->last) / 1000000000));
		p->strange = page_is_culprit(p, ts) || page_latest(p, ts) == 0;
		if (p->strange)
			page_suspect(p, "the time of the page is after that of the next one, or of the statistics");
	}
	if (p->repeated) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_duplicate, 0, stream->page_size,
					   "the page is identical to the previous page");
		page_suspect(p, "the page is identical to the one before");
	}
}

/* A page whose length was hit: its time may have been hit as well, and is only known where a page beside it has nearly the same. */
static void page_header_hit(struct tracedat_page *p, uint64_t ts)
{
	struct tracedat_stream *stream = p->stream;
	const uint8_t *next = p->emitting ? NULL : page_next(p);
	uint64_t after = next && next_is_plausible(p, next) ? load_u64(next, p->be) : 0;
	bool behind = stream->started && ts >= stream->last, before = after >= ts;

	if (p->emitting)
		return;
	p->strange = !(behind && ts - stream->last <= STEP_BACK && (before || !after)) &&
		     !(before && after - ts <= STEP_BACK && (behind || !stream->started));
	if (p->strange)
		page_suspect(p, "the length of the page was hit, and no page beside it has nearly the same time");
}

/* Not a number of lost events. */
static bool missed_impossible(uint64_t count)
{
	return count == 0 || count > UINT64_C(1) << 40;
}

/* The count of lost events, where there is one. */
static void page_missed(struct tracedat_page *p, uint64_t *commit, uint32_t length)
{
	unsigned long_size = p->w->shape.long_size;
	bool stored = *commit & TRACEDAT_COMMIT_MISSED_STORED, missed = *commit & TRACEDAT_COMMIT_MISSED_EVENTS;
	struct finding *fd;

	if (stored && !missed) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_missed_stored_alone, 8, long_size,
					   "bit 30 of the commit word is set without bit 31");
		*commit &= ~(uint64_t)TRACEDAT_COMMIT_MISSED_STORED;
	} else if (stored && p->capacity - length < long_size) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_missed_no_room, 8, long_size,
					   "bit 30 of the commit word is set, but only %u bytes of the page are left for the count",
					   p->capacity - length);
		*commit &= ~(uint64_t)TRACEDAT_COMMIT_MISSED_STORED;
	} else if (stored) {
		uint64_t count = tracedat_long(&p->w->shape, p->data + length);
		if (!p->emitting && missed_impossible(count)) {
			(void)tracedat_page_report(p, TRACEDAT_RULE_page_missed_count, p->head + length, long_size,
						   "the count of lost events is %lld", (long long)count);
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

/* Inserts zeros in front of `at` and removes `remove` bytes there. */
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
	bool extended = high == UINT32_MAX && commit & TRACEDAT_COMMIT_MISSED_EVENTS;
	if (!(commit & TRACEDAT_COMMIT_RESERVED) && (!high || extended))
		return commit;
	(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_reserved, 8, p->w->shape.long_size,
				   "the commit word is 0x%llx; bits 27 to 29 and 32 to 63 are reserved",
				   (unsigned long long)commit);
	return commit & ~(uint64_t)TRACEDAT_COMMIT_RESERVED & (extended ? UINT64_MAX : UINT32_MAX);
}

/* Ends the page at `end` of its data. */
static enum tracedat_verdict page_end(struct tracedat_page *p, uint64_t commit, uint32_t end, unsigned rule)
{
	uint32_t kept = end - p->removed;

	if (!p->records || kept > p->room)
		return TRACEDAT_LEAVE;
	commit_edit(p,
		    kept | (commit & TRACEDAT_COMMIT_MISSED_EVENTS
				    ? (commit & ~(uint64_t)(TRACEDAT_COMMIT_LENGTH | TRACEDAT_COMMIT_MISSED_STORED))
				    : 0),
		    rule, "the length up to which the records are valid");
	zeros_edit(p, p->head + end, p->capacity - end, p->room - kept, rule, "zeros after the last valid record");
	return TRACEDAT_PATCH;
}

/* The same where records are lost behind it. */
static enum tracedat_verdict page_trim(struct tracedat_page *p, uint64_t commit, uint32_t end, unsigned rule)
{
	p->stream->pending_missed = true;
	p->w->out.lost_is = TM_UNKNOWN_COUNT;
	return page_end(p, commit, end, rule);
}

/* A length that ends inside a record: where records of known events continue and only zeros follow them, the length was too
 * small. Returns where the records end. */
static uint32_t page_continue(struct tracedat_page *p, uint32_t at)
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
	if (p->emitting && p->records && !p->strange)
		stream->last = p->time;
	if (p->emitting)
		return;
	if (!c->records && p->records)
		c->first_time = ts;
	stream->before = p->where->offset;
	stream->before_length = p->where->length;
	if (p->records)
		c->last_time = p->time - p->dangling;
	/* A time that is wrong is no measure for the next page. */
	if (!p->strange && (p->records || ts))
		stream->last = p->records ? p->time : ts;
	c->records += p->records;
	c->repeated += p->repeated ? p->records : 0;
	c->read_whole |= c->stat && c->records == c->stat->read;
	stream->page_time = ts;
	stream->page_commit = commit;
	stream->started = true;
}

/* A valid page; with edits it is a patched one. */
static enum tracedat_verdict page_finish(struct tracedat_page *p, uint64_t commit, uint64_t old, uint32_t length)
{
	struct tracedat_walk *w = p->w;
	if (!p->emitting)
		return TRACEDAT_KEEP;
	/* A chunk is not compressed again for that: its events would no longer be those of the file. */
	bool mark = p->stream->pending_missed && !(commit & TRACEDAT_COMMIT_MISSED_EVENTS) && !p->where->in_chunk;
	p->stream->pending_missed = false;
	if (mark)
		commit |= TRACEDAT_COMMIT_MISSED_EVENTS;
	if (p->removed) {
		if (!p->records)
			return TRACEDAT_LEAVE;
		uint32_t stored = commit & TRACEDAT_COMMIT_MISSED_STORED ? w->shape.long_size : 0;
		zeros_edit(p, p->head + length + stored, 0, p->removed, TRACEDAT_RULE_record_unknown_event_id,
			   "zeros in place of the records that were removed");
		commit -= p->removed;
	}
	if (commit != old)
		commit_edit(p, commit, mark ? TRACEDAT_RULE_v7_chunk_decode : TRACEDAT_RULE_page_commit_reserved,
			    mark ? "marks that events were lost before this page" : "the commit word as the kernel writes it");
	bool patched = w->pages.edits.count != 0;
	return patched ? TRACEDAT_PATCH : TRACEDAT_KEEP;
}

/* Whether records stand in a page without a length, which hits may have cut short at its beginning. */
static bool page_has_records(struct tracedat_page *p)
{
	p->limit = p->where->available ? (p->where->available - p->head) & ~3u : p->capacity;
	return tracedat_page_chain(p, 0, true) || tracedat_page_resync(p, 0, true);
}

/* Records of a page whose header is lost: all that is known of their time is that they are after those of the page before, and
 * before the next page. */
static enum tracedat_verdict page_headless(struct tracedat_page *p)
{
	struct tracedat_stream *stream = p->stream;
	const uint8_t *next = page_next(p);
	uint64_t after = next && next_is_plausible(p, next) ? load_u64(next, p->be) : 0;
	uint64_t ts = after && stream->last > after ? after : stream->last;

	p->garbled = p->strange = true;
	p->time = p->sync_time = ts;
	page_suspect(p, "the header of the page was hit: its time is not known");
	uint32_t end = tracedat_page_walk(p, 0, true);
	if (!ts && p->time < after) {
		ts = after - p->time;
		p->time = after;
	}
	page_remember(p, ts, 0);
	if (!p->emitting)
		return TRACEDAT_KEEP;
	uint8_t stamp[8];
	store_u64(stamp, ts, p->be);
	tracedat_page_edit(p, 0, 8, stamp, 8, TRACEDAT_RULE_page_commit_length,
			   "a time between the pages beside it: its own is lost");
	return page_trim(p, 0, end, TRACEDAT_RULE_page_commit_length);
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
							    "all bytes of the page are 0");
		}
		return TRACEDAT_KEEP;
	}
	(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 0, p->head,
				   "timestamp and length of the page are 0, but its data is not empty");
	if (page_has_records(p))
		return page_headless(p);
	stream->pending_missed = true;
	p->garbled = true;
	return TRACEDAT_LEAVE;
}

static enum tracedat_verdict page_empty(struct tracedat_page *p, uint64_t ts, uint64_t commit, uint64_t old)
{
	/* Readers do not see records behind a length of 0. */
	if (!bytes_are_zero(p->data, p->capacity) && page_has_records(p)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 8, p->w->shape.long_size,
					   "the length of the page is 0, but records follow");
		p->time = p->sync_time = ts;
		page_header_hit(p, ts);
		uint32_t end = tracedat_page_walk(p, 0, true);
		page_remember(p, ts, commit);
		return p->emitting ? page_trim(p, commit, end, TRACEDAT_RULE_page_commit_length) : TRACEDAT_KEEP;
	}
	uint32_t tail = commit & TRACEDAT_COMMIT_MISSED_STORED ? p->w->shape.long_size : 0;
	if (!bytes_are_zero(p->data + tail, p->capacity - tail)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 8, p->w->shape.long_size,
					   "the length of the page is 0, but its data is not empty");
		p->stream->pending_missed = true;
		p->garbled = true;
		return TRACEDAT_LEAVE;
	}
	if (!p->emitting && !(commit & TRACEDAT_COMMIT_MISSED_EVENTS)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_empty, 0, p->head, "the page has timestamp %llu and no data",
					   (unsigned long long)ts);
	}
	page_remember(p, ts, commit);
	return page_finish(p, commit, old, 0);
}

/* With a wrong length only records of known events count. */
static enum tracedat_verdict page_wrong_length(struct tracedat_page *p, uint64_t ts, uint64_t commit, uint64_t old)
{
	p->garbled = true;
	p->limit = p->where->available ? (p->where->available - p->head) & ~3u : p->capacity;
	page_header_hit(p, ts);
	uint32_t end = tracedat_page_walk(p, 0, true);
	page_remember(p, ts, old);
	if (!p->emitting)
		return TRACEDAT_KEEP;
	return page_trim(p, commit & ~(uint64_t)TRACEDAT_COMMIT_MISSED_STORED, end, TRACEDAT_RULE_page_commit_length);
}

static enum tracedat_verdict page_too_long(struct tracedat_page *p, uint64_t ts, uint64_t commit, uint64_t old)
{
	(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_length, 8, p->w->shape.long_size,
				   "the length of the page is %u, expected at most %u", (uint32_t)(commit & TRACEDAT_COMMIT_LENGTH),
				   p->capacity);
	return page_wrong_length(p, ts, commit, old);
}

/* Forgets a walk over the records, before another one. */
static void page_restart(struct tracedat_page *p, uint64_t ts)
{
	edits_clear(&p->w->pages.edits);
	p->w->pages.given_count = 0;
	p->time = p->sync_time = ts;
	p->records = p->bad = p->removed = p->cleared = p->last = p->sync = p->trusted = p->sure = 0;
	p->carry = 0;
	p->chains = (struct tracedat_chains){ 0 };
	p->unsure = UINT32_MAX;
	p->cut = p->holed = false;
}

/* Walks the records; again and with a bound where they are later than the next page. */
static uint32_t page_walk_bounded(struct tracedat_page *p, uint64_t ts)
{
	bool failed = p->failed;
	uint32_t end = tracedat_page_walk(p, 0, false);

	if (p->time <= ts || p->time - ts <= STEP_BACK)
		return end;
	p->latest = page_latest(p, ts);
	if (!p->latest || p->time <= p->latest)
		return end;
	page_restart(p, ts);
	p->failed = failed;
	p->bounded = true;
	return tracedat_page_walk(p, 0, false);
}

/* The bytes behind the data of a page that was read to its end. */
static void page_tail(struct tracedat_page *p, uint64_t commit, uint32_t length)
{
	uint32_t tail = length + (commit & TRACEDAT_COMMIT_MISSED_STORED ? p->w->shape.long_size : 0);
	p->tail_hit = tail < p->capacity && !bytes_are_zero(p->data + tail, p->capacity - tail);
	if (p->tail_hit && !p->emitting) {
		p->stream->cpu->tail_hit = true;
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_tail_not_zero, p->head + tail, p->capacity - tail,
					   "%u bytes after the data of the page are not zero", p->capacity - tail);
	}
	p->stream->edge_hit = p->capacity - tail >= HIT_REACH && !bytes_are_zero(p->data + p->capacity - HIT_REACH, HIT_REACH);
	if (tail == length && tracedat_page_record_begins(p, tail))
		tracedat_page_doubt(p, 0, tail,
				    "a record stands behind the end of the page: its length, or its end, is that of another");
	else if (tail == length ? p->capacity - tail >= 4 && load_u32(p->data + tail, p->be)
				: missed_impossible(tracedat_long(&p->w->shape, p->data + length)))
		tracedat_page_doubt_before(p, length);
}

/* Bytes inside of the page were inserted or removed: its data ends elsewhere than its length says. */
static enum tracedat_verdict page_uneven(struct tracedat_page *p, uint64_t ts, uint64_t commit, uint64_t old)
{
	const uint32_t there = p->where->available ? p->where->available - p->head : p->capacity;
	const int64_t limit = (int64_t)p->limit + p->where->shift;

	p->limit = limit < 0 ? 0 : limit < there ? (uint32_t)limit : there;
	uint32_t end = page_walk_bounded(p, ts);
	/* The walk went on as if nothing was there. */
	if (!p->holed)
		tracedat_page_doubt(p, 0, end, "bytes of this page were inserted or removed, and nothing shows where");
	p->holed = true;
	page_remember(p, ts, old);
	return p->emitting
		       ? page_trim(p, commit & ~(uint64_t)TRACEDAT_COMMIT_MISSED_STORED, end, TRACEDAT_RULE_cpu_offset_alignment)
		       : TRACEDAT_KEEP;
}

static enum tracedat_verdict page_check(struct tracedat_page *p)
{
	struct tracedat_walk *w = p->w;
	uint64_t ts = load_u64(p->bytes, p->be), old = tracedat_long(&p->w->shape, p->bytes + 8), commit = old;

	if (ts == UINT64_MAX && page_is_filled(p->bytes, p->stream->page_size, 0xff)) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_all_ones, 0, p->stream->page_size,
					   "all bytes of the page are 0xff");
		p->stream->pending_missed = true;
		return TRACEDAT_LEAVE;
	}
	commit = commit_clean(p, commit);
	const bool cleaned = commit != old;
	if (!ts && !commit)
		return page_blank(p);
	uint32_t length = (uint32_t)(commit & TRACEDAT_COMMIT_LENGTH);
	p->time = p->sync_time = ts;
	if (length > p->room)
		return page_too_long(p, ts, commit, old);
	page_missed(p, &commit, length);
	if (!length)
		return page_empty(p, ts, commit, old);
	page_times(p, ts, old);
	/* Bytes that were hit at the end of the page before may be the first ones of this time as well. */
	if (p->stream->edge_hit)
		p->unsure = 0;
	p->stream->edge_hit = false;
	if (length & 3) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_page_commit_unaligned, 8, w->shape.long_size,
					   "the length of the page is %u, expected a multiple of 4", length);
		p->failed = true;
	}
	bool unaligned = p->failed;
	p->limit = length & ~3u;
	if (p->where->shift && !p->where->ends && !unaligned)
		return page_uneven(p, ts, commit, old);
	/* Of a cut page only the existing bytes count; the cut is reported already. */
	uint32_t there = p->where->available ? p->where->available - p->head : p->capacity;
	if (p->limit > there) {
		p->limit = there & ~3u;
		p->failed = true;
	}
	uint32_t end = page_walk_bounded(p, ts);
	/* The length is none: a record may stand in its place. */
	if (!p->records && (unaligned || cleaned) && page_has_records(p)) {
		page_restart(p, ts);
		return page_wrong_length(p, ts, commit, old);
	}
	if (p->cut && !p->where->available)
		end = page_continue(p, end);
	else
		p->cut = false;
	page_remember(p, ts, old);
	if (p->cut && p->emitting)
		return page_end(p, commit & ~(uint64_t)TRACEDAT_COMMIT_MISSED_STORED, end, TRACEDAT_RULE_page_commit_mid_record);
	if (p->failed)
		return p->emitting
			       ? page_trim(p, commit, end,
					   unaligned ? TRACEDAT_RULE_page_commit_unaligned : TRACEDAT_RULE_page_commit_mid_record)
			       : TRACEDAT_KEEP;
	page_tail(p, commit, length);
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
			if (p->w->s->sink)
				tracedat_record_note(p, at, 4 + ((size + 3) & ~3u), units ? 4 : 8, false);
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

/* zstd has no checksum here: what contradicts a chunk that decompresses makes all of it doubtful. */
static void chunk_doubt(struct tracedat_page *p)
{
	if (p->blind > p->records / 2)
		p->stream->doubtful = "the formats of most events are lost: nothing shows whether the chunk was hit";
	else if (p->blind && p->w->pages.chunks_lost)
		p->stream->doubtful =
			"the format of an event is lost, and other chunks were hit: nothing shows whether this one was";
	else if (p->tail_hit)
		p->stream->doubtful = "bytes behind the data of a page are not zero: the chunk was hit";
}

enum tracedat_verdict tracedat_page_check(struct tracedat_walk *w, struct tracedat_stream *stream, const uint8_t *page,
					  const struct tracedat_page_place *where, uint32_t *records, uint32_t *bad)
{
	struct tracedat_page p = { .w = w,
				   .stream = stream,
				   .bytes = page,
				   .where = where,
				   .head = tracedat_page_data(&w->shape),
				   .be = w->shape.big_endian,
				   .room = tracedat_page_capacity(&w->shape, stream->page_size),
				   .unsure = UINT32_MAX,
				   .latest = UINT64_MAX,
				   .emitting = w->emitting };
	enum tracedat_verdict verdict = TRACEDAT_KEEP;

	p.data = page + p.head;
	p.capacity = p.room + (where->shift > 0 ? (uint32_t)where->shift : 0);
	edits_clear(&w->pages.edits);
	if (w->shape.old_ring)
		old_ring_walk(&p);
	else
		verdict = page_check(&p);
	*records = p.records;
	if (w->s->sink)
		tracedat_page_give(&p);
	if (!w->emitting)
		w->pages.fast += p.fast < p.records ? p.fast : p.records;
	*bad = p.bad;
	if (w->emitting && where->in_chunk && w->shape.codec == TRACEDAT_ZSTD)
		chunk_doubt(&p);
	stream->sound = !p.failed && !p.garbled && !p.holed;
	stream->last_at = where->offset + p.head + p.last;
	stream->holed = p.holed;
	stream->cpu->begin_bad |= !stream->index && !stream->sound;
	if (!w->emitting && !stream->sound && p.capacity / TRACEDAT_RECORD_LEAST > p.records)
		stream->cpu->room += p.capacity / TRACEDAT_RECORD_LEAST - p.records;
	if (w->pages.edits.failed) {
		tracedat_no_memory(w);
		return TRACEDAT_LEAVE;
	}
	return verdict;
}
