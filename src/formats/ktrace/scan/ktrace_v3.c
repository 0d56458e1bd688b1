/* Version 3: the header structure, then chunks, and bytes between them that are not chunks. */
#include "formats/ktrace/scan/ktrace_v3.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/ktrace/repair/ktrace_odd.h"
#include "formats/ktrace/repair/ktrace_repair_v3.h"
#include "formats/ktrace/salvage/ktrace_extent.h"
#include "formats/ktrace/salvage/ktrace_map_find.h"
#include "formats/ktrace/salvage/ktrace_resync.h"
#include "formats/ktrace/scan/ktrace_chunk.h"
#include "formats/ktrace/scan/ktrace_chunk_walk.h"
#include "formats/ktrace/scan/ktrace_event.h"
#include "formats/ktrace/scan/ktrace_header_check.h"

/* Reports bytes that are not a chunk where one should be. */
#define region_report(w, rule, ...) ((void)PLACE(rule), region_report_at((w), (rule), __VA_ARGS__))
static void region_report_at(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t from, uint64_t events, uint64_t until)
{
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->in.source, from,
					    events < until ? events - from : until - from);

	if (events == from)
		finding_say(fd, "records of events stand where a chunk header should be");
	else if (events < until)
		finding_say(fd, "%" PRIu64 " bytes are not a chunk; records of events without a chunk header follow at 0x%" PRIx64,
			    events - from, events);
	else if (rule != KTRACE_RULE_chunk_garbage)
		finding_say(fd, "the last %" PRIu64 " bytes are not a chunk", until - from);
	else
		finding_say(fd, "%" PRIu64 " bytes are not a chunk; the next one starts at 0x%" PRIx64, until - from, until);
}

/* Where events begin among bytes that are not a chunk; until: there are none. */
static uint64_t region_events(struct ktrace_walk *w, uint64_t from, uint64_t until)
{
	/* Where the next chunk is not aligned to 8 bytes, bytes were inserted or removed: records may begin at any byte. */
	unsigned step = until % 8 ? 1 : 8;
	return ktrace_events_find(&w->in, step == 8 ? ktrace_align(from) : from, until, step);
}

/* Records among bytes that are not a chunk get a new chunk header; the other bytes are dropped. */
static void region_salvage(struct ktrace_walk *w, struct ktrace_chunks *c, enum ktrace_rule rule, uint64_t from, uint64_t events,
			   uint64_t until)
{
	struct ktrace_repair *r = &w->repair;

	ktrace_chunk_doubt_last(w, c);
	ktrace_foreign_find(w, from, events);
	if (from < events) {
		ktrace_repair_drop(r, from, events, rule, "not a chunk");
		ktrace_repair_lost(r);
	}
	if (events < until) {
		ktrace_repair_pad(r, events, 8, rule, "padding");
		w->events.seen = true;
		struct ktrace_stretch stretch = { .offset = events,
						  .end = until,
						  .where = "events without a chunk header",
						  .rule = rule,
						  .resized = (until - events) % ktrace_event_size(w->in.is_64) != 0,
						  .headless = true };
		uint64_t kept = ktrace_events_walk(w, &stretch);
		ktrace_repair_events_header(r, events, kept, rule);
		w->chunks++;
	}
	if (!c->in_header)
		ktrace_repair_write(r, until);
}

/* The last bytes of a region, too few for a chunk header: padding, or a truncated one. */
static void region_tail(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t at, uint64_t limit)
{
	uint8_t tail[KTRACE_CHUNK_HEADER];
	size_t n = (size_t)(limit - at);

	if (source_read(w->in.source, at, tail, n) != TM_OK || bytes_are_zero(tail, n))
		return;
	uint64_t events = region_events(w, at, limit);
	ktrace_chunk_island(w, c, at, limit);
	region_report(w, KTRACE_RULE_chunk_header_truncated, at, events, limit);
	region_salvage(w, c, KTRACE_RULE_chunk_header_truncated, at, events, limit);
}

/* There is no chunk at `at`. Returns where the next one is, or limit. */
static uint64_t region_garbage(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t at, uint64_t limit)
{
	uint64_t next = ktrace_chunk_find_next(&w->in, at + 1, limit), until = next == UINT64_MAX ? limit : next;
	uint64_t strange = ktrace_chunk_find_strange(&w->in, at + 1, until, limit, false);
	if (strange < until)
		next = until = strange;
	uint64_t events = region_events(w, at, until);

	ktrace_chunk_island(w, c, at, events);
	if (c->in_header && at <= KTRACE_HEADER)
		ktrace_repair_doubt(&w->repair, 0, KTRACE_HEADER, "a header in front of bytes that are not a chunk");
	/* What hit them may have hit the beginning of the next one. */
	c->broken = true;
	if (next == UINT64_MAX) {
		region_report(w, KTRACE_RULE_trailing_garbage, at, events, until);
		region_salvage(w, c, KTRACE_RULE_trailing_garbage, at, events, until);
	} else {
		region_report(w, KTRACE_RULE_chunk_garbage, at, events, until);
		region_salvage(w, c, KTRACE_RULE_chunk_garbage, at, events, until);
	}
	return until;
}

/* Readers skip a chunk of a kind that they do not know, and its data may look like records. A tag that differs in more than a byte
 * from that of events, in a header that is one otherwise, may be right, unless the records go on where those before them end. */
static bool tag_may_be(struct ktrace_walk *w, const struct ktrace_chunk *chunk)
{
	if (!chunk->tag || !ktrace_chunk_versions_are_small(chunk) || bytes_apart(chunk->tag, KTRACE_EVENTS) <= 1)
		return true;
	if (w->events.seen && ktrace_record_time(&w->in, ktrace_chunk_data(chunk) + 8) < w->in.last_time)
		return false;
	ktrace_repair_doubt(&w->repair, chunk->offset, ktrace_chunk_data(chunk) + chunk->size,
			    "events in a chunk of an unknown kind: its tag may have been hit");
	return true;
}

/* Whether a chunk of an unknown kind, whose size leads on, is one of events, or the CPU map or thread map of a file without one in
 * front of its events: its tag was hit. It gets that tag. */
static bool tag_is_hit(struct ktrace_walk *w, const struct ktrace_chunks *c, struct ktrace_chunk *chunk, uint64_t limit)
{
	if (ktrace_kind_find(chunk->tag) || chunk->tag == KTRACE_TAG_UNFINISHED || chunk->tag == KTRACE_MAGIC ||
	    !ktrace_chunk_is_chained(w->in.source, chunk->offset, limit, w->in.is_64))
		return false;
	if (c->in_header && !w->cpu_map && ktrace_chunk_was_cpus(&w->in, chunk))
		chunk->tag = KTRACE_CPU_MAP;
	else if (c->in_header)
		return false;
	else if (ktrace_chunk_lost_tag(w->in.source, chunk, w->in.is_64) && tag_may_be(w, chunk))
		chunk->tag = KTRACE_EVENTS;
	else if (!w->in.thread_map && !w->events.seen && ktrace_chunk_was_threads(&w->in, chunk))
		chunk->tag = KTRACE_THREAD_MAP;
	else
		return false;
	return true;
}

/* Chunks from offset to limit. */
static void region_walk(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t at, uint64_t limit)
{
	struct ktrace_chunk chunk;

	while (at < limit && w->in.source->bundle->error.status == TM_OK) {
		if (limit - at < KTRACE_CHUNK_HEADER) {
			region_tail(w, c, at, limit);
			return;
		}
		if (!ktrace_chunk_read(w->in.source, at, &chunk))
			return;
		const uint32_t stored = chunk.tag;
		bool retag = stored == KTRACE_TAG_UNFINISHED && (ktrace_chunk_is_placeholder(&chunk) ||
								 ktrace_chunk_is_chained(w->in.source, at, limit, w->in.is_64) ||
								 ktrace_chunk_accepted(w->in.source, at, limit, w->in.is_64));
		if (retag)
			chunk.tag = ktrace_map_run(&w->in, ktrace_chunk_data(&chunk), w->in.source->size, 2) == 2
					    ? KTRACE_THREAD_MAP
				    : ktrace_chunk_holds_events(w->in.source, &chunk) ? KTRACE_EVENTS
				    : ktrace_chunk_holds_threads(&w->in, &chunk)      ? KTRACE_THREAD_MAP
										      : KTRACE_NULL;
		else if (tag_is_hit(w, c, &chunk, limit))
			retag = true;
		if (retag) {
			chunk.major = ktrace_chunk_first_major(chunk.tag);
			chunk.minor = 0;
		}
		if (!retag && !ktrace_chunk_accepted(w->in.source, at, limit, w->in.is_64)) {
			at = region_garbage(w, c, at, limit);
			continue;
		}
		struct ktrace_extent x = ktrace_chunk_extent(&w->in, &chunk, limit);
		x.retagged = retag;
		x.stored = stored;
		if (x.next <= at)
			return; /* cannot be: a chunk has a header */
		ktrace_chunk_walk(w, c, &chunk, &x);
		at = x.next;
	}
}

static void v3_finish(struct ktrace_walk *w)
{
	struct findings *f = w->scan->findings;

	if (!w->events.seen)
		finding_report(f, KTRACE_RULE_no_events, w->in.source, 0, 0, "the file has no events");
	else if (!w->cpu_map)
		finding_report(f, KTRACE_RULE_cpumap_missing, w->in.source, 0, 0, "the file has no CPU map");
	if (!w->clock.summary_offset || w->clock.summary_time >= w->in.last_time)
		return;
	finding_report(f, KTRACE_RULE_summary_before_last_event, w->in.source, w->clock.summary_offset, 8,
		       "the summary gives tick %" PRIu64 " as the time of the last event; one is at %" PRIu64,
		       w->clock.summary_time, w->in.last_time);
	ktrace_odd_report(&w->repair, KTRACE_RULE_summary_before_last_event, w->clock.summary_offset, w->clock.summary_offset + 8);
	ktrace_odd_report(&w->repair, KTRACE_RULE_summary_before_last_event, w->events.last,
			  w->events.last + ktrace_event_size(w->in.is_64));
}

#define HEAD_BYTES 16384u /* of a block of another capture that may stand at the beginning */

/* What a recorder leaves that ended early: nothing was hit. */
static const enum ktrace_rule ends[] = { KTRACE_RULE_chunk_size_unknown, KTRACE_RULE_chunk_size_past_eof,
					 KTRACE_RULE_chunk_unfinished, KTRACE_RULE_summary_before_last_event };

/* Where something was hit, a chunk of an unknown kind may be one whose tag was. odd: findings that cast doubt. */
static void v3_doubt_strange(struct ktrace_walk *w, uint64_t odd)
{
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		odd -= findings_count(w->scan->findings, ends[i]);
	for (uint32_t i = 0; odd && i < w->strange_count; i++)
		ktrace_repair_doubt(&w->repair, w->strange[i].from, w->strange[i].until,
				    "a chunk of an unknown kind, where something else is damaged: its tag may have been hit");
}

/* Where something is wrong, and the header was written days before or after the events, it may be that of another capture; where a
 * field of it was hit, that was its time. A wrong width beside a wrong time are two. body: where the chunks of events begin. */
static void v3_doubt(struct ktrace_walk *w, const struct ktrace_header *h, uint64_t body)
{
	const struct ktrace_event first = { .time = w->events.first_time }, last = { .time = w->in.last_time };
	bool hit = w->header_hit && !(h->flags & KTRACE_FLAG_64) == !w->in.is_64;
	uint64_t odd = 0;

	for (unsigned rule = 0; rule < KTRACE_RULE_COUNT; rule++)
		odd += ktrace_rule_casts_doubt(rule) ? findings_count(w->scan->findings, rule) : 0;
	/* The first of the events may be from that other capture, too. */
	bool head = w->events.leap && w->events.leap < HEAD_BYTES;
	if (odd && head)
		ktrace_repair_doubt(&w->repair, 0, w->in.source->size,
				    "the time of the events leaps near the beginning of the file");
	else if (odd && w->events.leap)
		ktrace_repair_doubt(&w->repair, w->events.leap, w->in.source->size, "events behind a leap in their time");
	if (odd && w->clock.header_time && first.time && ktrace_record_leaps(&first, w->clock.header_time) &&
	    ktrace_record_leaps(&last, w->clock.header_time))
		ktrace_repair_doubt(&w->repair, 0, hit ? KTRACE_HEADER : w->in.source->size,
				    "a header whose time is far from that of the events");
	v3_doubt_strange(w, odd);
	if (w->clock.doubtful)
		ktrace_repair_doubt(&w->repair, body, w->in.source->size, "events whose timebase may be damaged");
}

enum tracemend_status ktrace_v3_walk(struct ktrace_walk *w)
{
	struct scan *s = w->scan;
	struct ktrace_chunks c = { .in_header = true };
	struct ktrace_header h;
	struct ktrace_header_end end;
	uint64_t file = w->in.source->size;

	(void)snprintf(s->version, sizeof(s->version), "3");
	if (file < KTRACE_HEADER) {
		finding_report(s->findings, KTRACE_RULE_header_truncated, w->in.source, 0, file,
			       "the file has %" PRIu64 " bytes; its header needs %u", file, KTRACE_HEADER);
		return s->plan ? TM_NOTHING : TM_OK;
	}
	enum tracemend_status status = ktrace_header_check(w, &h, &end);
	if (status != TM_OK)
		return status;
	/* Where the header structure was shifted or lost, its chunks begin anywhere, and padding counts from there. */
	const uint64_t body = end.chunks + ktrace_align(end.end - end.chunks);
	c.body = body < file ? body : file;
	uint64_t errors = findings_errors(s->findings);
	region_walk(w, &c, end.chunks, end.end);
	/* What hit it may have put chunks of another file behind it, which do not go on where the rest begins. */
	if (w->header_hit && findings_errors(s->findings) != errors)
		ktrace_repair_doubt(&w->repair, KTRACE_HEADER, end.end, "chunks of a header that is odd");
	ktrace_repair_header_end(&w->repair, h.size, end.size_rule, end.chunks, end.end, c.body);
	ktrace_repair_write(&w->repair, c.body);
	c.in_header = false;
	region_walk(w, &c, c.body, file);
	ktrace_chunk_part_end(w, &c, file);
	ktrace_events_finish(w);
	ktrace_header_finish(w, &h, &end);
	v3_finish(w);
	v3_doubt(w, &h, c.body);
	/* The output must not be read in the other width. */
	if (s->plan && findings_errors(s->findings) && ktrace_records_other_width(w->head.bytes, w->head.length, w->in.is_64)) {
		(void)snprintf(s->incomplete, sizeof(s->incomplete), "%s",
			       "from the remaining events it cannot be known whether they are 32-bit or 64-bit ones");
		return TM_NOTHING;
	}
	return TM_OK;
}
