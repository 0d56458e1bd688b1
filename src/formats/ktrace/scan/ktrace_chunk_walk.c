/* One chunk: what is said of it, and what repair keeps of it. */
#include "formats/ktrace/scan/ktrace_v3.h"

#include <inttypes.h>
#include <stdio.h>

static const char *chunk_name(uint32_t tag)
{
	const struct ktrace_kind *kind = ktrace_kind_find(tag);
	return kind ? kind->name : "unknown";
}

/* Reports a chunk, from its header on. */
#define chunk_report(w, rule, ...) ((void)PLACE(rule), chunk_report_at((w), (rule), __VA_ARGS__))
static struct finding *chunk_report_at(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
				       uint64_t length, const char *format, ...) PRINTF_LIKE(5, 6);

static struct finding *chunk_report_at(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
				       uint64_t length, const char *format, ...)
{
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->source, chunk->offset, length);
	va_list arguments;

	finding_path(fd, "chunk %" PRIu32 " (%s, tag 0x%" PRIx32 ")", w->chunks, chunk_name(chunk->tag), chunk->tag);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

/* Where chunks may stand. */
static void chunk_place(struct ktrace_walk *w, const struct ktrace_chunk *chunk, bool retagged)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	struct finding *fd;

	if (retagged || chunk->tag == KTRACE_TAG_UNFINISHED) {
		fd = chunk_report(w, KTRACE_RULE_chunk_unfinished, chunk, KTRACE_CHUNK_HEADER,
				  "the chunk still has the tag 0xffffffff of one that is being written%s",
				  !retagged			? ""
				  : chunk->tag == KTRACE_EVENTS ? "; its data are events"
								: "; its data are no events");
		finding_field(fd, chunk->offset, 4, "tag = 0xffffffff");
	}
	if (!kind) {
		if (chunk->tag == KTRACE_TAG_UNFINISHED)
			return;
		chunk_report(w, KTRACE_RULE_chunk_unknown_tag, chunk, KTRACE_CHUNK_HEADER,
			     "tag 0x%" PRIx32 " is not known; readers skip its %" PRIu64 " bytes", chunk->tag, chunk->size);
		return;
	}
	if (kind->place == KTRACE_IN_HEADER && !w->in_header) {
		bool directly = chunk->offset == w->body;
		chunk_report(w, directly ? KTRACE_RULE_header_size_excludes_header_chunk : KTRACE_RULE_header_chunk_in_body, chunk,
			     KTRACE_CHUNK_HEADER, "a %s chunk belongs into the header and lies %s", kind->name,
			     directly ? "directly behind it" : "in the body");
	} else if (kind->place == KTRACE_IN_BODY && w->in_header) {
		bool data = chunk->tag == KTRACE_THREAD_MAP || chunk->tag == KTRACE_EVENTS ||
			    chunk->tag == KTRACE_EVENTS_COMPRESSED;
		chunk_report(w, data ? KTRACE_RULE_header_size_includes_body_chunk : KTRACE_RULE_body_chunk_in_header, chunk,
			     KTRACE_CHUNK_HEADER, "a %s chunk belongs into the body and lies within the header size", kind->name);
	}
	uint64_t bit = UINT64_C(1) << ktrace_kind_index(kind);
	if (kind->single && w->singles & bit) {
		chunk_report(w, KTRACE_RULE_duplicate_singleton_chunk, chunk, KTRACE_CHUNK_HEADER, "a second %s chunk", kind->name);
	}
	w->singles |= bit;
}

static void chunk_say_size(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x, uint64_t whole)
{
	struct finding *fd;

	if (x->rule == KTRACE_RULE_chunk_header_misaligned) {
		chunk_report(w, x->rule, chunk, KTRACE_CHUNK_HEADER,
			     "the chunk behind this one starts at 0x%" PRIx64 ", which is no multiple of 8", x->next);
		return;
	}
	if (chunk->size == KTRACE_SIZE_UNFINISHED)
		fd = chunk_report(w, x->rule, chunk, KTRACE_CHUNK_HEADER,
				  "the size was never filled in: the recorder died while it wrote this chunk; %" PRIu64
				  " bytes are there",
				  whole);
	else
		fd = chunk_report(
			w, x->rule, chunk, KTRACE_CHUNK_HEADER, "the size says %" PRIu64 " bytes; %s%" PRIu64, chunk->size,
			x->rule == KTRACE_RULE_chunk_size_past_eof ? "the file ends after " : "what follows says ", whole);
	finding_field(fd, chunk->offset + 8, 8, "data size = %" PRIu64, chunk->size);
}

/* The plan's side of the end of a chunk of which `kept` bytes of payload are kept and everything before `end` is accounted
 * for: a new size, the rest left out, padding made anew. */
static void chunk_settle(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t header_at, uint64_t kept, uint64_t end,
			 const struct ktrace_extent *x, enum ktrace_rule rule)
{
	struct plan *plan = w->scan->plan;
	static const uint8_t zeros[8];
	uint8_t size[8];

	if (!plan)
		return;
	if (rule == KTRACE_RULE_COUNT && kept == chunk->size) {
		plan_copy(plan, w->output, w->source, end, x->next - end); /* its own padding */
		return;
	}
	if (kept != chunk->size) {
		store_u64(size, kept, false);
		plan_amend(plan, w->output, header_at + 8, size, sizeof(size), rule, "size of the chunk");
	}
	plan_drop(plan, w->source, end, x->next - end, rule, "behind the end of the chunk's payload");
	if (plan_size(plan, w->output) % 8 && x->next < w->source->size)
		(void)plan_literal(plan, w->output, zeros, 8 - plan_size(plan, w->output) % 8, rule, "padding");
}

static void chunk_padding(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x)
{
	uint64_t end = chunk->offset + KTRACE_CHUNK_HEADER + x->size;
	uint8_t pad[8];
	size_t n = x->next > end && x->next - end < sizeof(pad) ? (size_t)(x->next - end) : 0;

	if (n && source_read(w->source, end, pad, n) == TM_OK && !bytes_are_zero(pad, n)) {
		struct finding *fd = chunk_report(w, KTRACE_RULE_chunk_padding_nonzero, chunk, KTRACE_CHUNK_HEADER + x->size + n,
						  "the %zu bytes of padding behind this chunk are not zero", n);
		finding_field(fd, end, (uint32_t)n, "padding");
	}
	if (x->next < w->source->size || w->in_header)
		return;
	if (!x->size) {
		chunk_report(w, KTRACE_RULE_chunk_size_zero_at_eof, chunk, KTRACE_CHUNK_HEADER,
			     "the last chunk of the file is empty");
	} else if (end == w->source->size && end % 8) {
		chunk_report(w, KTRACE_RULE_chunk_padding_missing_at_eof, chunk, KTRACE_CHUNK_HEADER + x->size,
			     "the file ends with the payload of its last chunk, %" PRIu64 " bytes before a multiple of 8",
			     8 - end % 8);
	}
}

/* Whether bytes may have come in or gone missing inside of an events chunk whose size does not fit. A size that no writer
 * gives was hit itself, or never filled in. */
static bool events_resized(const struct ktrace_walk *w, const struct ktrace_chunk *chunk, enum ktrace_rule rule)
{
	if (rule == KTRACE_RULE_COUNT || rule == KTRACE_RULE_events_size_excludes_future ||
	    rule == KTRACE_RULE_chunk_size_includes_header)
		return false;
	return rule == KTRACE_RULE_events_partial_record || rule == KTRACE_RULE_chunk_header_misaligned ||
	       (chunk->size >= 8 && chunk->size >> 62 == 0 && ktrace_chunk_whole(w, chunk, chunk->size) == chunk->size);
}

/* Events: the 8-byte prefix, then records. Returns the bytes of payload kept; all are accounted for. */
static uint64_t chunk_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x,
			     enum ktrace_rule *rule)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, whole = ktrace_chunk_whole(w, chunk, x->size);
	const uint8_t *p = window_at(&w->window, data, 8);
	uint64_t future = p ? load_u64(p, false) : 0;
	struct finding *fd;
	char where[64];

	w->seen_events = true;
	if (whole != x->size && *rule == KTRACE_RULE_COUNT) {
		*rule = KTRACE_RULE_events_partial_record;
		chunk_report(w, *rule, chunk, KTRACE_CHUNK_HEADER + x->size,
			     "%" PRIu64 " bytes are left over behind the last whole record", x->size - whole);
	}
	if (whole == 8) {
		chunk_report(w, KTRACE_RULE_events_empty, chunk, KTRACE_CHUNK_HEADER + x->size, "the chunk holds no events");
	}
	if (future) {
		fd = chunk_report(w, KTRACE_RULE_events_future_timestamp_set, chunk, KTRACE_CHUNK_HEADER + 8,
				  "later events are promised not to be before tick %" PRIu64, future);
		finding_field(fd, data, 8, "future events timestamp");
	}
	if (w->scan->plan)
		plan_copy(w->scan->plan, w->output, w->source, data, 8);
	(void)snprintf(where, sizeof(where), "chunk %" PRIu32 " (events)", w->chunks);
	struct ktrace_stretch stretch = { data + 8, data + x->size, where, *rule, events_resized(w, chunk, *rule) };
	uint64_t kept = 8 + ktrace_events_walk(w, &stretch);
	if (kept != x->size && *rule == KTRACE_RULE_COUNT)
		*rule = KTRACE_RULE_events_damaged;
	if (future > w->future)
		w->future = future;
	return kept;
}

void ktrace_chunk_doubt_last(struct ktrace_walk *w)
{
	if (w->scan->plan && w->last_size)
		plan_doubt(w->scan->plan, w->source, w->last_data, w->last_size, "payload of the chunk before damage");
	w->last_size = 0;
}

void ktrace_chunk_walk(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x)
{
	struct plan *plan = w->scan->plan;
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, kept, header_at = 0;
	static const uint8_t zeros[8];
	enum ktrace_rule rule = x->rule;
	bool events = chunk->tag == KTRACE_EVENTS;

	if (x->rule != KTRACE_RULE_COUNT) {
		ktrace_chunk_doubt_last(w);
		chunk_say_size(w, chunk, x, ktrace_chunk_whole(w, chunk, x->size));
	}
	/* Of what was cut off, or out, nobody can know how much there was, and the size may be what is wrong. */
	if (plan && (x->rule == KTRACE_RULE_chunk_size_past_eof || x->rule == KTRACE_RULE_chunk_size_damaged))
		plan_lost(plan, 0, TM_UNKNOWN_COUNT);
	chunk_place(w, chunk, x->retagged);
	bool short_of_events = (events && x->size < 8) || (chunk->tag == KTRACE_EVENTS_COMPRESSED && x->size < 12);
	if (short_of_events) {
		chunk_report(w, KTRACE_RULE_events_size_short, chunk, KTRACE_CHUNK_HEADER + x->size,
			     "the chunk has %" PRIu64 " byte%s of data; an events chunk needs %u at least", x->size,
			     x->size == 1 ? "" : "s", events ? 8u : 12u);
	}
	if (plan) {
		if (plan_size(plan, w->output) % 8)
			(void)plan_literal(plan, w->output, zeros, 8 - plan_size(plan, w->output) % 8,
					   KTRACE_RULE_chunk_header_misaligned, "padding");
		header_at = plan_size(plan, w->output);
		plan_copy(plan, w->output, w->source, chunk->offset, KTRACE_CHUNK_HEADER);
		if (x->retagged || short_of_events) {
			uint8_t tag[8] = { 0 };
			store_u32(tag, short_of_events ? KTRACE_NULL : chunk->tag, false);
			plan_amend(plan, w->output, header_at, tag, sizeof(tag),
				   short_of_events ? KTRACE_RULE_events_size_short : KTRACE_RULE_chunk_unfinished,
				   events && !short_of_events ? "tag of what the data is: events"
							      : "tag of a chunk that readers skip");
		}
	}
	if (events && !short_of_events) {
		kept = chunk_events(w, chunk, x, &rule);
		chunk_settle(w, chunk, header_at, kept, data + x->size, x, rule);
	} else {
		kept = x->guessed || chunk->tag == KTRACE_THREAD_MAP ? ktrace_chunk_whole(w, chunk, x->size) : x->size;
		if (chunk->tag == KTRACE_THREAD_MAP && kept != x->size && rule == KTRACE_RULE_COUNT) {
			rule = KTRACE_RULE_threadmap_size;
			chunk_report(w, rule, chunk, KTRACE_CHUNK_HEADER + x->size,
				     "%" PRIu64 " bytes are left over behind the last whole entry of the thread map",
				     x->size - kept);
		}
		if (plan)
			plan_copy(plan, w->output, w->source, data, kept);
		if (!short_of_events)
			ktrace_payload_check(w, chunk, kept, 0);
		if (plan && x->guessed)
			plan_doubt(plan, w->source, data, kept, "payload of a chunk whose size was damaged");
		chunk_settle(w, chunk, header_at, kept, data + kept, x, rule);
	}
	if (rule == KTRACE_RULE_COUNT)
		chunk_padding(w, chunk, x);
	w->last_data = data;
	w->last_size = kept;
	w->chunks++;
}
