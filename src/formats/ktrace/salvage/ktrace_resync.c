/* Finding chunks again in a damaged file. */
#include "formats/ktrace/salvage/ktrace_resync.h"

#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/scan/ktrace_chunk.h"

/* Whether the header of a chunk stands there whose kind readers skip, whatever its tag (ktrace(5)). */
static bool chunk_is_skipped(struct ktrace_input *in, uint64_t offset, uint64_t limit, struct ktrace_chunk *chunk)
{
	return offset < limit && limit - offset >= KTRACE_CHUNK_HEADER && ktrace_chunk_read(in->source, offset, chunk) &&
	       chunk->tag && ktrace_chunk_versions_are_small(chunk) && chunk->size <= limit - ktrace_chunk_data(chunk);
}

#define SKIPPED 4u /* chunks of unknown kinds between those of a chain */

/* A candidate counts only with three more plausible chunks after it: records can contain the pattern of any chunk header. Chunks of
 * unknown kinds may stand between those, behind one of a known kind. */
static bool chunk_chain_holds(struct ktrace_input *in, uint64_t offset, uint64_t limit)
{
	bool known = false;

	for (unsigned links = 0, skipped = 0; links < 4;) {
		struct ktrace_chunk chunk;
		if (!ktrace_chunk_plausible(in->source, offset, limit, in->is_64)) {
			if (!known || skipped++ == SKIPPED || !chunk_is_skipped(in, offset, limit, &chunk))
				return false;
			offset = ktrace_chunk_next(offset, chunk.size);
			if (offset >= limit)
				return true;
			continue;
		}
		if (!ktrace_chunk_read(in->source, offset, &chunk))
			return false;
		links++;
		if (chunk.size == KTRACE_SIZE_UNFINISHED)
			return known || chunk.tag == KTRACE_EVENTS;
		known |= ktrace_kind_find(chunk.tag) != NULL;
		uint64_t next = ktrace_chunk_next(offset, chunk.size);
		if (next >= limit)
			return true;
		/* The kernel's events chunks are 8 short. */
		if (chunk.tag == KTRACE_EVENTS && !ktrace_chunk_plausible(in->source, next, limit, in->is_64) &&
		    (ktrace_chunk_plausible(in->source, next + 8, limit, in->is_64) || !chunk_is_skipped(in, next, limit, &chunk)))
			next += 8;
		offset = next;
	}
	return true;
}

/* Whether a chunk with a chain starts there; cheap tests come first: versions are small, tags have few bits, sizes fit. */
static bool chunk_candidate(struct ktrace_input *in, const uint8_t *p, uint64_t at, uint64_t limit)
{
	const uint32_t tag = load_u32(p, false);
	const uint64_t size = load_u64(p + 8, false);
	const bool fits = size <= limit - at - KTRACE_CHUNK_HEADER || size == KTRACE_SIZE_UNFINISHED ||
			  tag == KTRACE_TAG_UNFINISHED;

	return tag && fits && load_u16(p + 6, false) <= 16 && (load_u16(p + 4, false) & ~KTRACE_SUBCHUNKS) <= 16 &&
	       (tag <= 0x20000 || tag == KTRACE_TAG_UNFINISHED || ktrace_kind_find(tag)) && chunk_chain_holds(in, at, limit);
}

/* The first offset at or after from (in steps of `step` bytes) at which a plausible chunk starts that leads to the limit or to
 * three more; UINT64_MAX: none. In a long run of records some bytes always look like a chunk: records that are in order are passed
 * whole, and chunks are searched for only where one of them begins. */
static uint64_t chunk_resync(struct ktrace_input *in, uint64_t from, uint64_t limit, unsigned step)
{
	uint32_t record = ktrace_event_size(in->is_64);
	uint64_t in_order = 0; /* end of the records known to be in order */

	for (uint64_t at = from; limit >= KTRACE_CHUNK_HEADER && at <= limit - KTRACE_CHUNK_HEADER;) {
		const uint8_t *p = window_at(&in->window, at, KTRACE_CHUNK_HEADER);
		if (!p)
			return UINT64_MAX;
		if (chunk_candidate(in, p, at, limit))
			return at;
		if (at >= in_order)
			in_order = at + ktrace_events_in_order(in, at, limit) * record;
		/* Neither a tag nor the time of a record is zero. */
		at = at < in_order ? at + record : window_pass_zeros(&in->window, at + step, limit, step, 8);
	}
	return UINT64_MAX;
}

/* ---- chunks of unknown kinds ---- */

#define STRANGE_LINKS 4096u /* that are followed at least, in bytes that are none */

/* Whether a chunk of an unknown kind stands there, and sizes lead from it to exactly `until`. An empty one is not told from other
 * bytes. *budget: chunks that may be read. */
static bool chunk_is_strange(struct ktrace_input *in, const uint8_t *p, uint64_t at, uint64_t until, uint64_t limit,
			     uint64_t *budget)
{
	struct ktrace_chunk chunk = ktrace_chunk_decode(p, at);

	if (ktrace_kind_find(chunk.tag))
		return false;
	for (unsigned links = 0; links < KTRACE_STRANGE_CHAIN; links++) {
		if (!chunk.tag || !chunk.size || !ktrace_chunk_versions_are_small(&chunk) ||
		    until - chunk.offset < KTRACE_CHUNK_HEADER || chunk.size > until - ktrace_chunk_data(&chunk))
			return false;
		const uint64_t next = ktrace_chunk_next(chunk.offset, chunk.size);
		if (next >= until)
			return (next == until || until == limit) && ktrace_chunk_accepted(in->source, at, limit, in->is_64);
		if (!*budget || !ktrace_chunk_read(in->source, next, &chunk))
			return false;
		--*budget;
	}
	return false;
}

/* Whether a record begins there that passes every test, not earlier than `previous`. *time becomes its time. */
static bool record_goes_on(struct ktrace_input *in, uint64_t at, uint64_t until, uint64_t *time)
{
	const uint32_t size = ktrace_event_size(in->is_64);
	const uint8_t *p = until - at >= size ? window_at(&in->window, at, size) : NULL;
	const struct ktrace_event e = p ? ktrace_record_decode(p, in->is_64) : (struct ktrace_event){ 0 };

	if (!p || ktrace_record_failures(&e, in->is_64) || e.time < *time || ktrace_record_leaps(&e, *time))
		return false;
	*time = e.time;
	return true;
}

uint64_t ktrace_chunk_find_strange(struct ktrace_input *in, uint64_t from, uint64_t until, uint64_t limit, bool records)
{
	const uint32_t record = ktrace_event_size(in->is_64);
	uint64_t in_order = records ? ktrace_align(from) : 0;			  /* where records that are in order end ... */
	uint64_t time = 0;							  /* ... and the time of the last one */
	uint64_t budget = until > from ? STRANGE_LINKS + (until - from) / 64 : 0; /* chains are not read again from each place */

	for (uint64_t at = ktrace_align(from); at < until && until - at > KTRACE_CHUNK_HEADER;) {
		if (at > in_order) {
			in_order = at + ktrace_events_in_order(in, at, until) * record;
			time = in_order > at ? ktrace_record_time(in, in_order - record) : 0;
		}
		if (at == in_order && (time || records) && record_goes_on(in, at, until, &time))
			in_order = at + record;
		const uint8_t *p = at < in_order ? NULL : window_at(&in->window, at, KTRACE_CHUNK_HEADER);
		if (p && chunk_is_strange(in, p, at, until, limit, &budget))
			return at;
		records &= at < in_order;
		at = at < in_order ? at + record : window_pass_zeros(&in->window, at + 8, until, 8, 8);
	}
	return until;
}

/* ---- of any kind ---- */

uint64_t ktrace_chunk_find_next(struct ktrace_input *in, uint64_t from, uint64_t limit)
{
	uint64_t next = chunk_resync(in, ktrace_align(from), limit, 8);
	/* Bytes may have been inserted or lost: try off the grid, too. */
	return next == UINT64_MAX ? chunk_resync(in, from, limit, 1) : next;
}
