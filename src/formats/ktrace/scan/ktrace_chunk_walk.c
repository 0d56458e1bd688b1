/* One chunk: its checks, and what repair keeps of it. */
#include "formats/ktrace/scan/ktrace_chunk.h"
#include "formats/ktrace/scan/ktrace_chunk_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/ktrace/repair/ktrace_odd.h"
#include "formats/ktrace/repair/ktrace_repair_v3.h"
#include "formats/ktrace/scan/ktrace_event.h"
#include "formats/ktrace/scan/ktrace_payload.h"

/* Blocks that were written twice: sizes are powers of two. */
#define BLOCK_LEAST 64u
#define BLOCK_MOST 4096u

/* Doubt about its header. Of a chunk whose size does not fit, chunk_payload() and ktrace_events_walk() know more. */
static void chunk_doubt(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk, uint64_t length)
{
	if (rule == KTRACE_RULE_header_chunk_in_body || rule == KTRACE_RULE_header_size_includes_body_chunk ||
	    rule == KTRACE_RULE_body_chunk_in_header || rule == KTRACE_RULE_duplicate_singleton_chunk)
		ktrace_odd_report(&w->repair, rule, chunk->offset, chunk->offset + length);
}

/* Reports a chunk, from its header on. */
#define chunk_report(w, rule, ...) ((void)PLACE(rule), chunk_report_at((w), (rule), __VA_ARGS__))
static struct finding *chunk_report_at(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
				       uint64_t length, const char *format, ...) PRINTF_LIKE(5, 6);

static struct finding *chunk_report_at(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
				       uint64_t length, const char *format, ...)
{
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->in.source, chunk->offset, length);
	va_list arguments;

	finding_path(fd, "chunk %" PRIu32 " (%s, tag 0x%" PRIx32 ")", w->chunks, ktrace_kind_name(chunk->tag), chunk->tag);
	if (!place_silenced())
		chunk_doubt(w, rule, chunk, length);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

/* A size that was never filled in is an error by itself. */
static void chunk_unfinished(struct ktrace_walk *w, const struct ktrace_chunk *chunk, bool retagged)
{
	struct findings *f = w->scan->findings;
	struct finding *fd = chunk->size == KTRACE_SIZE_UNFINISHED
				     ? finding_milder(f, KTRACE_RULE_chunk_unfinished, TM_WARNING, w->in.source, chunk->offset,
						      KTRACE_CHUNK_HEADER)
				     : finding_new(f, KTRACE_RULE_chunk_unfinished, w->in.source, chunk->offset,
						   KTRACE_CHUNK_HEADER);

	finding_path(fd, "chunk %" PRIu32, w->chunks);
	finding_field(fd, chunk->offset, 4, "tag = 0xffffffff");
	finding_say(fd, "the chunk still has the tag 0xffffffff of one that is being written%s",
		    !retagged			      ? ""
		    : chunk->tag == KTRACE_EVENTS     ? "; its data are events"
		    : chunk->tag == KTRACE_THREAD_MAP ? "; its data are a thread map"
						      : "; its data are not events");
}

/* A chunk comes again so many bytes behind the first one: lists the block that it is in, if that repeats the block before. */
static void chunk_doubt_copy(struct ktrace_walk *w, uint64_t offset, uint64_t size)
{
	uint8_t before[BLOCK_MOST], block[BLOCK_MOST];

	if (!w->repair.plan || size < BLOCK_LEAST || size > BLOCK_MOST || size & (size - 1))
		return;
	const uint64_t at = offset / size * size;
	if (at < size || size > w->in.source->size - at || source_read(w->in.source, at - size, before, (size_t)size) != TM_OK ||
	    source_read(w->in.source, at, block, (size_t)size) != TM_OK || memcmp(before, block, (size_t)size) != 0)
		return;
	ktrace_repair_doubt(&w->repair, at, at + size, "repeats the bytes before it: a block may have been written twice");
}

/* A chunk of an unknown kind, which may be one of a known kind whose tag was hit. */
static void chunk_unknown(struct ktrace_walk *w, const struct ktrace_chunk *chunk)
{
	const uint64_t until = chunk->offset + KTRACE_CHUNK_HEADER + chunk->size;

	if (chunk->tag == KTRACE_MAGIC) {
		chunk_report(w, KTRACE_RULE_file_header_in_body, chunk, KTRACE_CHUNK_HEADER + chunk->size,
			     "the header of another file is here: this and all that follows belongs to another capture");
		ktrace_foreign_doubt(w, chunk->offset);
		return;
	}
	chunk_report(w, KTRACE_RULE_chunk_unknown_tag, chunk, KTRACE_CHUNK_HEADER,
		     "tag 0x%" PRIx32 " is not known; readers skip its %" PRIu64 " bytes", chunk->tag, chunk->size);
	if (!chunk->tag) {
		w->map_damaged = true;
		ktrace_repair_doubt(&w->repair, chunk->offset, until, "a chunk with tag 0, which may have lost its tag");
	} else if (ktrace_chunk_may_be_events(w->in.source, chunk, w->in.is_64)) {
		ktrace_repair_doubt(&w->repair, chunk->offset, until,
				    "a chunk of an unknown kind that has nothing but records: its tag may have been hit");
	} else if (!ktrace_chunk_versions_are_small(chunk)) {
		ktrace_repair_doubt(&w->repair, chunk->offset, until,
				    "a chunk of an unknown kind whose version is no writer's: its header may have been hit");
	} else if (w->strange_count < KTRACE_STRANGE) {
		w->strange[w->strange_count].from = chunk->offset;
		w->strange[w->strange_count++].until = until;
	}
}

/* Where a chunk of its kind may be. */
static void chunk_place(struct ktrace_walk *w, struct ktrace_chunks *c, const struct ktrace_chunk *chunk,
			const struct ktrace_extent *x)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);

	if (x->retagged && x->stored != KTRACE_TAG_UNFINISHED)
		chunk_report(w, KTRACE_RULE_chunk_garbage, chunk, KTRACE_CHUNK_HEADER,
			     "tag 0x%" PRIx32 " is not known, and the data of the chunk are %s: its tag was hit", x->stored,
			     chunk->tag == KTRACE_EVENTS    ? "events"
			     : chunk->tag == KTRACE_CPU_MAP ? "a CPU map"
							    : "a thread map");
	else if (x->retagged || chunk->tag == KTRACE_TAG_UNFINISHED)
		chunk_unfinished(w, chunk, x->retagged);
	/* What hit a tag from its first byte on may have hit the bytes in front of it. A recorder that ended leaves no chunk
	 * behind. */
	if (((x->retagged || chunk->tag == KTRACE_TAG_UNFINISHED) && (x->retagged ? x->stored : chunk->tag) & 0xff &&
	     x->next < w->in.source->size) ||
	    !chunk->tag)
		ktrace_repair_doubt(&w->repair, chunk->offset - 8, chunk->offset,
				    "the end of a chunk in front of one whose tag was hit");
	if (!kind) {
		if (chunk->tag != KTRACE_TAG_UNFINISHED)
			chunk_unknown(w, chunk);
		return;
	}
	if (kind->place == KTRACE_IN_HEADER && !c->in_header) {
		if (chunk->offset == c->body)
			chunk_report(w, KTRACE_RULE_header_size_excludes_header_chunk, chunk, KTRACE_CHUNK_HEADER,
				     "a %s chunk belongs in the header; it directly follows the header", kind->name);
		else
			chunk_report(w, KTRACE_RULE_header_chunk_in_body, chunk, KTRACE_CHUNK_HEADER,
				     "a %s chunk belongs in the header; it is in the body", kind->name);
	} else if (kind->place == KTRACE_IN_BODY && c->in_header) {
		if (chunk->tag == KTRACE_THREAD_MAP || chunk->tag == KTRACE_EVENTS || chunk->tag == KTRACE_EVENTS_COMPRESSED)
			chunk_report(w, KTRACE_RULE_header_size_includes_body_chunk, chunk, KTRACE_CHUNK_HEADER,
				     "a %s chunk belongs in the body; it is within the header size", kind->name);
		else
			chunk_report(w, KTRACE_RULE_body_chunk_in_header, chunk, KTRACE_CHUNK_HEADER,
				     "a %s chunk belongs in the body; it is within the header size", kind->name);
	}
	uint64_t bit = UINT64_C(1) << ktrace_kind_index(kind);
	if (c->singles & bit)
		chunk_doubt_copy(w, chunk->offset, chunk->offset - c->first[ktrace_kind_index(kind)]);
	if (kind->single && c->singles & bit) {
		const uint64_t first = c->first[ktrace_kind_index(kind)];
		chunk_report(w, KTRACE_RULE_duplicate_singleton_chunk, chunk, KTRACE_CHUNK_HEADER, "a second %s chunk", kind->name);
		/* The tag of either may have been hit. */
		ktrace_odd_report(&w->repair, KTRACE_RULE_duplicate_singleton_chunk, first, first + KTRACE_CHUNK_HEADER);
	} else
		c->first[ktrace_kind_index(kind)] = chunk->offset;
	c->singles |= bit;
}

static void chunk_say_size(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x, uint64_t whole)
{
	struct finding *fd;

	if (x->rule == KTRACE_RULE_chunk_header_misaligned) {
		chunk_report(w, x->rule, chunk, KTRACE_CHUNK_HEADER,
			     "the chunk after this one starts at 0x%" PRIx64 ", which is not a multiple of 8", x->next);
		return;
	}
	if (chunk->size == KTRACE_SIZE_UNFINISHED)
		fd = chunk_report(w, x->rule, chunk, KTRACE_CHUNK_HEADER,
				  "the size was never filled in: the recorder ended while it wrote this chunk; %" PRIu64
				  " bytes are there",
				  whole);
	else
		fd = chunk_report(w, x->rule, chunk, KTRACE_CHUNK_HEADER, "the size is %" PRIu64 "; %s%" PRIu64, chunk->size,
				  x->rule == KTRACE_RULE_chunk_size_past_eof ? "the file ends after " : "the chunk after it gives ",
				  whole);
	finding_field(fd, chunk->offset + 8, 8, "data size = %" PRIu64, chunk->size);
}

static void chunk_padding(struct ktrace_walk *w, const struct ktrace_chunks *c, const struct ktrace_chunk *chunk,
			  const struct ktrace_extent *x)
{
	uint64_t end = ktrace_chunk_data(chunk) + x->size;
	uint8_t pad[8];
	size_t n = x->next > end && x->next - end < sizeof(pad) ? (size_t)(x->next - end) : 0;

	if (n && source_read(w->in.source, end, pad, n) == TM_OK && !bytes_are_zero(pad, n)) {
		struct finding *fd = chunk_report(w, KTRACE_RULE_chunk_padding_nonzero, chunk, KTRACE_CHUNK_HEADER + x->size + n,
						  "the %zu bytes of padding after this chunk are not zero", n);
		finding_field(fd, end, (uint32_t)n, "padding");
		/* What hit it may have hit the end of the data, or the size, by which this is padding, and the next header. */
		ktrace_repair_doubt(&w->repair, chunk->offset,
				    x->next < w->in.source->size ? x->next + KTRACE_CHUNK_HEADER : x->next,
				    "a chunk in front of padding that is not zero, or behind it");
	} else if (n) {
		w->padded = true;
	}
	if (x->next < w->in.source->size || c->in_header)
		return;
	if (!x->size) {
		chunk_report(w, KTRACE_RULE_chunk_size_zero_at_eof, chunk, KTRACE_CHUNK_HEADER,
			     "the last chunk of the file is empty");
	} else if (end == w->in.source->size && end % 8) {
		chunk_report(w, KTRACE_RULE_chunk_padding_missing_at_eof, chunk, KTRACE_CHUNK_HEADER + x->size,
			     "the file ends with the payload of its last chunk, %" PRIu64 " bytes before a multiple of 8",
			     8 - end % 8);
	}
}

/* Whether bytes may have been inserted into, or removed from, an events chunk whose size does not fit. A size that no writer gives
 * is damaged itself, or was never filled in. */
static bool events_resized(const struct ktrace_walk *w, const struct ktrace_chunk *chunk, enum ktrace_rule rule)
{
	if (rule == KTRACE_RULE_COUNT || rule == KTRACE_RULE_events_size_excludes_future ||
	    rule == KTRACE_RULE_chunk_size_includes_header)
		return false;
	return rule == KTRACE_RULE_events_partial_record || rule == KTRACE_RULE_chunk_header_misaligned ||
	       (chunk->size >= 8 && chunk->size >> 62 == 0 && ktrace_chunk_whole(chunk, chunk->size, w->in.is_64) == chunk->size);
}

/* Events: the 8-byte prefix, then records. Returns the bytes of payload kept; all are edited. */
static uint64_t chunk_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x,
			     enum ktrace_rule *rule)
{
	uint64_t data = ktrace_chunk_data(chunk), whole = ktrace_chunk_whole(chunk, x->size, w->in.is_64);
	const uint8_t *p = window_at(&w->in.window, data, 8);
	uint64_t future = p ? load_u64(p, false) : 0;
	char where[64];

	w->events.seen = true;
	(void)ktrace_version_check(w, chunk);
	if (whole != x->size && *rule == KTRACE_RULE_COUNT) {
		*rule = KTRACE_RULE_events_partial_record;
		chunk_report(w, KTRACE_RULE_events_partial_record, chunk, KTRACE_CHUNK_HEADER + x->size,
			     "%" PRIu64 " bytes are left after the last whole record", x->size - whole);
	}
	if (whole == 8)
		chunk_report(w, KTRACE_RULE_events_empty, chunk, KTRACE_CHUNK_HEADER + x->size, "the chunk holds no events");
	if (future) {
		struct finding *fd = chunk_report(w, KTRACE_RULE_events_future_timestamp_set, chunk, KTRACE_CHUNK_HEADER + 8,
						  "later events are stated to be at tick %" PRIu64 " or after", future);
		finding_field(fd, data, 8, "future events timestamp");
	}
	(void)snprintf(where, sizeof(where), "chunk %" PRIu32 " (events)", w->chunks);
	struct ktrace_stretch stretch = {
		.offset = data + 8, .end = data + x->size, .where = where, .rule = *rule, .resized = events_resized(w, chunk, *rule)
	};
	/* What the stored size says, where it is one. */
	if (stretch.resized && ktrace_chunk_whole(chunk, chunk->size, w->in.is_64) == chunk->size && chunk->size >> 62 == 0)
		stretch.surplus = (int64_t)x->size - (int64_t)chunk->size;
	uint64_t kept = 8 + ktrace_events_walk(w, &stretch);
	if (kept > 8)
		w->events.last = data + kept - ktrace_event_size(w->in.is_64);
	if (kept != x->size && *rule == KTRACE_RULE_COUNT)
		*rule = KTRACE_RULE_events_damaged;
	/* Every writer that is known stores 0. What hit its last byte may have hit the record behind it. */
	if (future && (x->rule != KTRACE_RULE_COUNT || future > w->in.last_time))
		ktrace_repair_doubt(&w->repair, chunk->offset,
				    data + (future >> 56 && kept > 8 ? 8 + ktrace_event_size(w->in.is_64) : 8),
				    "a lower bound that is later than the events");
	if (future > w->events.future) {
		w->events.future = future;
		w->events.future_at = chunk->offset;
	}
	return kept;
}

/* Whether the size of a chunk is wrong as no writer makes it so: it was hit, or bytes behind it are missing or were inserted. */
static bool size_is_hit(enum ktrace_rule rule)
{
	return rule == KTRACE_RULE_chunk_size_past_eof || rule == KTRACE_RULE_chunk_size_damaged ||
	       rule == KTRACE_RULE_chunk_size_overflow;
}

/* Any other payload. Returns the bytes of it that are kept. */
static uint64_t chunk_payload(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x, bool check,
			      enum ktrace_rule *rule)
{
	bool map = chunk->tag == KTRACE_THREAD_MAP;
	uint64_t data = ktrace_chunk_data(chunk);
	uint64_t kept = x->guessed || map ? ktrace_chunk_whole(chunk, x->size, w->in.is_64) : x->size;

	if (map && kept != x->size && *rule == KTRACE_RULE_COUNT) {
		*rule = KTRACE_RULE_threadmap_size;
		chunk_report(w, KTRACE_RULE_threadmap_size, chunk, KTRACE_CHUNK_HEADER + x->size,
			     "%" PRIu64 " bytes are left after the last whole entry of the thread map", x->size - kept);
	}
	/* What is cut in a map may be followed by another file. */
	if (map && *rule != KTRACE_RULE_COUNT)
		ktrace_foreign_find(w, data, data + x->size);
	w->map_damaged |= map && x->guessed;
	if (check)
		ktrace_payload_check(w, chunk, kept, 0);
	/* The entries of a CPU map have a form by its size. What was hit up to the next chunk may reach into its tag. */
	if (x->guessed || size_is_hit(x->rule) || x->rule == KTRACE_RULE_chunk_size_unknown ||
	    (chunk->tag == KTRACE_CPU_MAP && *rule != KTRACE_RULE_COUNT))
		ktrace_repair_doubt(&w->repair, chunk->offset, data + kept + (x->guessed && data + kept == x->next),
				    "a chunk whose size was damaged");
	/* So it is too where 16 bytes less are missing than are in the chunk behind it. */
	else if (x->rule == KTRACE_RULE_chunk_size_includes_header && !ktrace_kind_fixed_size(ktrace_kind_find(chunk->tag)))
		ktrace_repair_doubt(&w->repair, chunk->offset, data + kept,
				    "a chunk whose size is 16 too large: bytes may be missing in it");
	return kept;
}

void ktrace_chunk_doubt_last(struct ktrace_walk *w, struct ktrace_chunks *c)
{
	uint64_t end = c->last_data + c->last_size, records = KTRACE_RUN * ktrace_event_size(w->in.is_64);

	/* It may begin with what was taken for the last byte of the chunk's header, or for padding. */
	ktrace_foreign_find(w, c->last_data ? c->last_data - 1 : 0, ktrace_align(end));
	/* Records were tested one by one: what ends the chunk can have hit the last ones only. */
	if (c->last_events && c->last_size > records)
		ktrace_repair_doubt(&w->repair, end - records, end, "the last records before damage");
	else
		ktrace_repair_doubt(&w->repair, c->last_data - (c->last_data && !c->last_size ? KTRACE_CHUNK_HEADER : 0), end,
				    "payload of the chunk before damage");
	c->last_size = 0;
}

void ktrace_chunk_part_end(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t until)
{
	if (c->part)
		ktrace_repair_doubt(&w->repair, c->part, until,
				    "a part of a sub-file outside of one, and what follows: its events may be of that sub-file");
	c->part = 0;
}

void ktrace_chunk_island(struct ktrace_walk *w, struct ktrace_chunks *c, uint64_t at, uint64_t until)
{
	if (c->island && at > c->island && at - c->island <= BLOCK_MOST)
		ktrace_repair_doubt(&w->repair, c->island, at, "chunks between two regions of damage");
	c->island = until;
}

/* Whether an events chunk is shorter than the prefix before its records. */
static bool chunk_is_short(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_extent *x)
{
	unsigned least = chunk->tag == KTRACE_EVENTS ? 8 : chunk->tag == KTRACE_EVENTS_COMPRESSED ? 12 : 0;
	uint64_t size = x->size;

	if (size >= least)
		return false;
	/* What cut it off was reported. */
	if (x->rule != KTRACE_RULE_COUNT)
		return true;
	chunk_report(w, KTRACE_RULE_events_size_short, chunk, KTRACE_CHUNK_HEADER + size,
		     "the chunk has %" PRIu64 " byte%s of data; an events chunk needs %u at least", size, size == 1 ? "" : "s",
		     least);
	return true;
}

/* Notes a part of a sub-file that stands outside of one, up to the next sub-file. */
static void note_part(struct ktrace_walk *w, struct ktrace_chunks *c, const struct ktrace_chunk *chunk)
{
	if (findings_errors(w->scan->findings) &&
	    (chunk->tag == KTRACE_SUBFILE_ID || chunk->tag == KTRACE_SUBFILE_FILE_HEADER || chunk->tag == KTRACE_SUBFILE_RELATION))
		c->part = c->part ? c->part : chunk->offset;
	else if (chunk->tag == KTRACE_SUBFILE_HEADER || chunk->tag == KTRACE_SUBFILE_BODY)
		ktrace_chunk_part_end(w, c, chunk->offset);
}

void ktrace_chunk_walk(struct ktrace_walk *w, struct ktrace_chunks *c, const struct ktrace_chunk *chunk,
		       const struct ktrace_extent *x)
{
	struct ktrace_repair *r = &w->repair;
	uint64_t data = ktrace_chunk_data(chunk), kept, end;
	enum ktrace_rule rule = x->rule;

	if (x->rule != KTRACE_RULE_COUNT) {
		ktrace_chunk_island(w, c, data, x->next);
		ktrace_foreign_find(w, chunk->offset + 1, x->next);
		/* A header of a known kind is where the chunk before ends. */
		if (!ktrace_kind_find(chunk->tag))
			ktrace_chunk_doubt_last(w, c);
		chunk_say_size(w, chunk, x, ktrace_chunk_whole(chunk, x->size, w->in.is_64));
	}
	if (c->broken && !ktrace_kind_find(chunk->tag))
		ktrace_repair_doubt(r, chunk->offset, x->next, "a chunk of an unknown kind behind one whose size is wrong");
	note_part(w, c, chunk);
	/* How much was cut off, or out, is unknown; and the size itself may be what is wrong. A recorder that ended while it wrote
	 * the chunk had more to write. */
	if (size_is_hit(x->rule) || x->rule == KTRACE_RULE_chunk_size_unknown)
		ktrace_repair_lost(r);
	chunk_place(w, c, chunk, x);
	bool is_short = chunk_is_short(w, chunk, x);
	ktrace_repair_pad(r, chunk->offset, 8, KTRACE_RULE_chunk_header_misaligned, "padding");
	c->broken = is_short || x->rule != KTRACE_RULE_COUNT;
	/* What becomes a null chunk is lost to readers. */
	if (is_short || (x->retagged && chunk->tag == KTRACE_NULL && x->size))
		ktrace_repair_lost(r);
	if (is_short) {
		ktrace_repair_chunk_tag(r, chunk, KTRACE_NULL,
					x->rule == KTRACE_RULE_COUNT ? KTRACE_RULE_events_size_short : x->rule);
	} else if (x->retagged)
		ktrace_repair_chunk_tag(r, chunk, chunk->tag,
					x->stored == KTRACE_TAG_UNFINISHED ? KTRACE_RULE_chunk_unfinished
									   : KTRACE_RULE_chunk_garbage);
	if (chunk->tag == KTRACE_EVENTS && !is_short) {
		kept = chunk_events(w, chunk, x, &rule);
		end = data + x->size;
		/* Bytes may be missing in it: then what follows is not where its size says. */
		c->broken |= kept != x->size;
	} else {
		kept = chunk_payload(w, chunk, x, !is_short, &rule);
		if (w->events.block != UINT64_MAX)
			ktrace_repair_doubt(r, chunk->offset, data + kept,
					    "a chunk in a block that is doubled, or belongs elsewhere");
		end = data + kept;
	}
	if (rule != x->rule && end < x->next)
		ktrace_foreign_find(w, end, x->next);
	ktrace_repair_chunk_end(r, chunk, kept, end, x->next, rule);
	if (!c->in_header)
		ktrace_repair_write(r, x->next);
	if (rule == KTRACE_RULE_COUNT)
		chunk_padding(w, c, chunk, x);
	else if (rule == KTRACE_RULE_chunk_header_misaligned && w->padded)
		ktrace_repair_doubt(r, chunk->offset, x->next, "a chunk without padding, where others have it: bytes may be gone");
	c->last_data = data;
	c->last_size = kept;
	c->last_events = chunk->tag == KTRACE_EVENTS && !is_short;
	w->chunks++;
}
