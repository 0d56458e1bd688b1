/* Version 3: sizes and tags, which are known after the chunks that they describe were walked. */
#include "formats/ktrace/repair/ktrace_repair_v3.h"

void ktrace_repair_header_field(struct ktrace_repair *r, enum ktrace_header_field field, uint64_t value, enum ktrace_rule rule,
				const char *why)
{
	size_t length = field == KTRACE_AT_SIZE || field == KTRACE_AT_SECONDS ? 8 : 4;
	uint8_t bytes[8];

	store_u64(bytes, value, false);
	if (r->header_anew)
		memcpy(r->header + field, bytes, length);
	else
		ktrace_repair_replace(r, field, bytes, length, rule, why);
}

void ktrace_repair_header_anew(struct ktrace_repair *r, const uint8_t header[KTRACE_HEADER], uint64_t length)
{
	memcpy(r->header, header, KTRACE_HEADER);
	r->header_length = length;
	r->header_anew = true;
	r->added += KTRACE_HEADER;
	r->removed += length;
	ktrace_repair_doubt(r, 0, length, "a header structure that is written anew");
}

/* The size, and the padding behind the header. */
static void header_end(struct ktrace_repair *r, uint64_t stored, enum ktrace_rule rule, uint64_t chunks, uint64_t end,
		       uint64_t body)
{
	uint64_t place = ktrace_repair_place(r, end), padded = body < r->source->size ? ktrace_align(place) : place;

	if (rule == KTRACE_RULE_COUNT && place == stored + KTRACE_HEADER_UNCOUNTED)
		return;
	if (rule == KTRACE_RULE_COUNT)
		rule = r->header_anew		? KTRACE_RULE_header_shifted
		       : chunks > KTRACE_HEADER ? KTRACE_RULE_header_size_64_structure
						: KTRACE_RULE_header_size_splits_chunk;
	ktrace_repair_header_field(r, KTRACE_AT_SIZE, padded - KTRACE_HEADER_UNCOUNTED, rule, "size of the header as written");
	if (body - end == padded - place)
		return;
	ktrace_repair_drop(r, end, body, rule, "padding of a header that is rewritten");
	if (body < r->source->size)
		ktrace_repair_pad(r, body, 8, rule, "padding");
}

void ktrace_repair_header_end(struct ktrace_repair *r, uint64_t stored, enum ktrace_rule rule, uint64_t chunks, uint64_t end,
			      uint64_t body)
{
	if (!r->plan)
		return;
	header_end(r, stored, rule, chunks, end, body);
	if (r->header_anew)
		edits_add(&r->edits, 0, r->header_length, r->header, KTRACE_HEADER, KTRACE_RULE_header_shifted,
			  "the header structure by its fields");
}

void ktrace_repair_chunk_tag(struct ktrace_repair *r, const struct ktrace_chunk *chunk, uint32_t tag, enum ktrace_rule rule)
{
	uint8_t bytes[8] = { 0 };

	store_u32(bytes, tag, false);
	store_u16(bytes + 4, ktrace_chunk_first_major(tag), false);
	ktrace_repair_replace(r, chunk->offset, bytes, sizeof(bytes), rule,
			      tag == KTRACE_EVENTS	 ? "tag of the data: events"
			      : tag == KTRACE_CPU_MAP	 ? "tag of the data: a CPU map"
			      : tag == KTRACE_THREAD_MAP ? "tag of the data: a thread map"
							 : "tag of a chunk that readers skip");
}

void ktrace_repair_chunk_end(struct ktrace_repair *r, const struct ktrace_chunk *chunk, uint64_t kept, uint64_t end, uint64_t next,
			     enum ktrace_rule rule)
{
	uint8_t size[8];

	if (rule == KTRACE_RULE_COUNT && kept == chunk->size)
		return; /* with its own padding */
	if (kept != chunk->size) {
		store_u64(size, kept, false);
		ktrace_repair_replace(r, chunk->offset + 8, size, sizeof(size), rule, "size of the chunk");
	}
	ktrace_repair_drop(r, end, next, rule, "after the end of the chunk's payload");
	if (next < r->source->size)
		ktrace_repair_pad(r, next, 8, rule, "padding");
}

void ktrace_repair_events_header(struct ktrace_repair *r, uint64_t at, uint64_t kept, enum ktrace_rule rule)
{
	uint8_t bytes[KTRACE_CHUNK_HEADER + 8] = { 0 };

	store_u32(bytes, KTRACE_EVENTS, false);
	store_u64(bytes + 8, 8 + kept, false);
	ktrace_repair_insert(r, at, bytes, sizeof(bytes), rule, "header of the events chunk");
}
