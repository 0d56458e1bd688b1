/* Version 3: the header structure, then chunks, and what lies where chunks should be. */
#include "formats/ktrace/scan/ktrace_v3.h"

#include <inttypes.h>
#include <stdio.h>

static void garbage_drop(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t from, uint64_t until)
{
	struct plan *plan = w->scan->plan;

	if (plan && from < until) {
		plan_drop(plan, w->source, from, until - from, rule, "no chunk");
		plan_lost(plan, 0, TM_UNKNOWN_COUNT);
	}
}

/* Bytes where a chunk should be and none is. Events among them, whose chunk header was lost, get a new one. */
#define region_garbage(w, rule, ...) ((void)PLACE(rule), region_garbage_at((w), (rule), __VA_ARGS__))
static void region_garbage_at(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t from, uint64_t until, bool rest)
{
	struct plan *plan = w->scan->plan;
	/* Where the next chunk is off the grid, bytes were lost or put in: records may be anywhere. */
	unsigned step = until % 8 ? 1 : 8;
	uint64_t events = ktrace_events_find(w, step == 8 ? ktrace_align(from) : from, until, step);
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->source, from,
					    events < until ? events - from : until - from);
	size_t header = 0;

	ktrace_chunk_doubt_last(w);
	if (events == from)
		finding_say(fd, "records of events follow where a chunk header should be");
	else if (events < until)
		finding_say(fd, "%" PRIu64 " bytes are no chunk; records of events whose chunk header is lost follow at 0x%" PRIx64,
			    events - from, events);
	else if (rest)
		finding_say(fd, "the last %" PRIu64 " bytes form no chunk", until - from);
	else
		finding_say(fd, "%" PRIu64 " bytes are no chunk; the next one starts at 0x%" PRIx64, until - from, until);
	garbage_drop(w, rule, from, events);
	if (events == until)
		return;
	uint8_t bytes[KTRACE_CHUNK_HEADER + 8] = { 0 };
	store_u32(bytes, KTRACE_EVENTS, false);
	if (plan) {
		if (plan_size(plan, w->output) % 8)
			(void)plan_literal(plan, w->output, bytes + KTRACE_CHUNK_HEADER, 8 - plan_size(plan, w->output) % 8, rule,
					   "padding");
		header = plan_literal(plan, w->output, bytes, sizeof(bytes), rule, "header of the events chunk");
	}
	w->seen_events = true;
	struct ktrace_stretch stretch = { events, until, "events without a chunk header", rule, true };
	uint64_t kept = ktrace_events_walk(w, &stretch);
	if (plan) {
		store_u64(bytes + 8, 8 + kept, false);
		plan_fill(plan, header, bytes, sizeof(bytes));
		plan_doubt(plan, w->source, events, until - events, "records whose chunk header is lost");
	}
	w->chunks++;
}

/* Chunks from offset to limit. */
static void region_walk(struct ktrace_walk *w, uint64_t at, uint64_t limit)
{
	struct ktrace_chunk chunk;

	while (at < limit && w->source->bundle->error.status == TM_OK) {
		if (limit - at < KTRACE_CHUNK_HEADER) {
			uint8_t tail[KTRACE_CHUNK_HEADER];
			size_t n = (size_t)(limit - at);
			if (source_read(w->source, at, tail, n) != TM_OK)
				return;
			if (!bytes_are_zero(tail, n))
				region_garbage(w, KTRACE_RULE_chunk_header_truncated, at, limit, true);
			else if (w->scan->plan)
				plan_copy(w->scan->plan, w->output, w->source, at, n);
			return;
		}
		if (!ktrace_chunk_read(w->source, at, &chunk))
			return;
		bool retag = ktrace_chunk_is_placeholder(&chunk);
		if (retag) {
			chunk.tag = ktrace_chunk_holds_events(w, &chunk) ? KTRACE_EVENTS : KTRACE_NULL;
			chunk.major = chunk.minor = 0;
		}
		if (!retag && !ktrace_chunk_accepted(w->source, at, limit, w->is_64)) {
			uint64_t next = ktrace_chunk_find_next(w, at + 1, limit);
			bool rest = next == UINT64_MAX;
			if (rest)
				region_garbage(w, KTRACE_RULE_trailing_garbage, at, limit, true);
			else
				region_garbage(w, KTRACE_RULE_chunk_garbage, at, next, false);
			at = rest ? limit : next;
			continue;
		}
		struct ktrace_extent x = ktrace_chunk_extent(w, &chunk, limit);
		x.retagged = retag;
		if (x.next <= at)
			return; /* cannot be: a chunk has a header */
		ktrace_chunk_walk(w, &chunk, &x);
		at = x.next;
	}
}

static void v3_finish(struct ktrace_walk *w)
{
	struct findings *f = w->scan->findings;

	if (!w->seen_events) {
		finding_report(f, KTRACE_RULE_no_events, w->source, 0, 0, "the file has no events");
	} else if (!w->seen_cpu_map) {
		finding_report(f, KTRACE_RULE_cpumap_missing, w->source, 0, 0, "the file has no CPU map");
	}
	if (w->summary_offset && w->summary_time < w->last_time) {
		finding_report(f, KTRACE_RULE_summary_before_last_event, w->source, w->summary_offset, 8,
			       "the summary says that the last event was at tick %" PRIu64 ", but one is at %" PRIu64,
			       w->summary_time, w->last_time);
	}
}

/* The end of the header, as repair leaves it: as it was where nothing before it changed. Else the size counts what was kept and
 * the padding behind it, which is made anew. */
static void header_settle(struct ktrace_walk *w, struct ktrace_header *h)
{
	struct plan *plan = w->scan->plan;
	uint64_t there = w->body - h->end, end = plan_size(plan, w->output);
	uint64_t padded = w->body < w->source->size ? ktrace_align(end) : end;
	static const uint8_t zeros[8];

	if (h->size_rule == KTRACE_RULE_COUNT && end == h->size + KTRACE_HEADER_UNCOUNTED) {
		plan_copy(plan, w->output, w->source, h->end, there);
		return;
	}
	enum ktrace_rule rule = h->size_rule != KTRACE_RULE_COUNT ? h->size_rule
				: h->chunks > KTRACE_HEADER	  ? KTRACE_RULE_header_size_64_structure
								  : KTRACE_RULE_header_size_splits_chunk;
	ktrace_header_fix(w, h, 8, padded - KTRACE_HEADER_UNCOUNTED, 8, rule, "size of the header as it is written");
	if (there == padded - end) {
		plan_copy(plan, w->output, w->source, h->end, there);
		return;
	}
	if (there)
		plan_drop(plan, w->source, h->end, there, rule, "padding of a header that is written anew");
	if (padded > end)
		(void)plan_literal(plan, w->output, zeros, padded - end, rule, "padding");
}

enum tracemend_status ktrace_v3_walk(struct ktrace_walk *w)
{
	struct plan *plan = w->scan->plan;
	uint64_t file = w->source->size;
	uint8_t bytes[KTRACE_HEADER];

	(void)snprintf(w->scan->version, sizeof(w->scan->version), "3");
	if (file < KTRACE_HEADER) {
		finding_report(w->scan->findings, KTRACE_RULE_header_truncated, w->source, 0, file,
			       "the file has %" PRIu64 " bytes, and its header alone needs %u", file, KTRACE_HEADER);
		return plan ? TM_NOTHING : TM_OK;
	}
	enum tracemend_status status = source_read(w->source, 0, bytes, sizeof(bytes));
	if (status != TM_OK)
		return status;
	struct ktrace_header h = ktrace_header_decode(bytes);
	if (plan)
		plan_copy(plan, w->output, w->source, 0, KTRACE_HEADER);
	ktrace_header_fields(w, &h);
	ktrace_header_width(w, &h);
	ktrace_header_extent(w, &h);
	w->body = ktrace_align(h.end) < file ? ktrace_align(h.end) : file;
	if (plan && h.chunks > KTRACE_HEADER)
		plan_drop(plan, w->source, KTRACE_HEADER, h.chunks - KTRACE_HEADER, KTRACE_RULE_header_size_64_structure,
			  "bytes between the header structure and its first chunk");
	w->in_header = true;
	region_walk(w, h.chunks, h.end);
	if (plan)
		header_settle(w, &h);
	w->in_header = false;
	region_walk(w, w->body, file);
	ktrace_events_finish(w);
	ktrace_header_finish(w, &h);
	v3_finish(w);
	/* What is left must not tell another story than what was there. */
	if (plan && findings_errors(w->scan->findings) && ktrace_events_other_width(w->head, w->head_length, w->is_64)) {
		(void)snprintf(w->scan->incomplete, sizeof(w->scan->incomplete), "%s",
			       "what is left of the events does not tell whether they are 32-bit or 64-bit ones");
		return TM_NOTHING;
	}
	return TM_OK;
}
