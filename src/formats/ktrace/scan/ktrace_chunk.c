/* What counts as a chunk where one should be. */
#include "formats/ktrace/scan/ktrace_chunk.h"

#include <limits.h>

#include "formats/ktrace/decode/ktrace_record.h"

/* The signature of the payload, for kinds that have one. data: where it starts; size: bytes of it that are there. */
static bool chunk_signature(struct source *source, const struct ktrace_chunk *chunk, uint64_t data, uint64_t size, bool is_64)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint8_t head[8];

	if (ktrace_kind_fixed_size(kind))
		return size >= kind->size_min && size <= 4096;
	if (size < sizeof(head))
		return true;
	if (source_read(source, data, head, sizeof(head)) != TM_OK)
		return false;
	if (ktrace_kind_is_plist(kind))
		return !memcmp(head, "bplist", 6) || !memcmp(head, "<?xml", 5);
	if (chunk->tag == KTRACE_STACKSHOT)
		return ktrace_stackshot_begins(load_u32(head, false));
	if (chunk->tag == KTRACE_EVENTS)
		return size < 8 + 64 || ktrace_events_plausible(source, data + 8, data + size, is_64, 1) ||
		       ktrace_events_plausible(source, data + 8, data + size, !is_64, 1);
	if (chunk->tag == KTRACE_CPU_MAP)
		return size < 1u << 20;
	if (chunk->tag == KTRACE_NULL)
		return load_u64(head, false) == 0;
	return true;
}

/* Tags are allocated in ranges; one outside of those seen so far is more likely noise. */
static bool chunk_tag_in_range(uint32_t tag)
{
	return (tag >= 0x1a00 && tag < 0x3000) || (tag >= 0x5000 && tag < 0x6000) || (tag >= 0x8000 && tag < 0xa000) ||
	       (tag >= 0x12000 && tag < 0x20000) || tag == KTRACE_TAG_UNFINISHED;
}

bool ktrace_chunk_plausible(struct source *source, uint64_t offset, uint64_t limit, bool is_64)
{
	struct ktrace_chunk chunk;

	if (limit < KTRACE_CHUNK_HEADER || offset > limit - KTRACE_CHUNK_HEADER || !ktrace_chunk_read(source, offset, &chunk))
		return false;
	uint64_t data = offset + KTRACE_CHUNK_HEADER, left = limit - data;
	if (ktrace_chunk_is_placeholder(&chunk))
		return true; /* whatever its versions */
	if (!ktrace_chunk_versions_are_small(&chunk))
		return false;
	if (chunk.size > left && chunk.size != KTRACE_SIZE_UNFINISHED)
		return false;
	if (!ktrace_kind_find(chunk.tag) && !chunk_tag_in_range(chunk.tag))
		return false;
	return chunk_signature(source, &chunk, data, chunk.size > left ? left : chunk.size, is_64);
}

/* A tag that readers know, in a version that could be. */
static bool chunk_is_known(struct source *source, const struct ktrace_chunk *chunk, uint64_t limit, bool is_64)
{
	return (ktrace_kind_find(chunk->tag) || chunk->tag == KTRACE_TAG_UNFINISHED) &&
	       (ktrace_chunk_versions_are_small(chunk) || ktrace_chunk_plausible(source, chunk->offset, limit, is_64));
}

#define IN_RECORDS 4u /* records that show it */

/* Whether records in a row, but for one that may have been hit, are within hours of each other: in 32 bits other bytes pass all
 * other tests too often. */
static bool times_are_near(const uint8_t *records, bool is_64)
{
	const uint32_t size = ktrace_event_size(is_64);
	unsigned near = 0;

	for (unsigned hit = 0; hit < IN_RECORDS && near < IN_RECORDS - 1; hit++) {
		uint64_t previous = 0;
		near = 0;
		for (unsigned i = 0; i < IN_RECORDS; i++) {
			struct ktrace_event e = ktrace_record_decode(records + i * (size_t)size, is_64);
			if (i == hit)
				continue;
			near += !ktrace_record_leaps(&e, previous);
			previous = e.time;
		}
	}
	return near == IN_RECORDS - 1;
}

static bool chunk_times_are_near(struct source *source, uint64_t at, bool is_64)
{
	uint8_t records[64 * IN_RECORDS];
	return source_read(source, at, records, IN_RECORDS * (size_t)ktrace_event_size(is_64)) == TM_OK &&
	       times_are_near(records, is_64);
}

/* Whether records lie there: some begin so few bytes before that the first one reaches to `at`. Their numbers look like small
 * chunks. Read at once, since this is asked of many places. */
static bool chunk_is_in_records(struct source *source, uint64_t at, uint64_t limit, bool is_64)
{
	uint8_t bytes[64 * (IN_RECORDS + 1)];
	const uint64_t size = ktrace_event_size(is_64), room = IN_RECORDS * size;
	const uint64_t most = at < size - 8 ? at / 8 * 8 : size - 8, left = limit - (at - most);
	const size_t there = (size_t)(left < room + most ? left : room + most);

	if (there < room || source_read(source, at - most, bytes, there) != TM_OK)
		return false;
	for (uint64_t begin = 0; begin <= most && there - begin >= room; begin += 8)
		if (!ktrace_records_failures(bytes + begin, (size_t)room, is_64, IN_RECORDS) &&
		    times_are_near(bytes + begin, is_64))
			return true;
	return false;
}

/* How many of the first records at `at` are none, of `count`, or of as many as are looked at. */
static unsigned records_odd(struct source *source, uint64_t at, uint64_t count, bool is_64)
{
	uint8_t records[KTRACE_HEAD];
	const size_t size = ktrace_event_size(is_64), most = sizeof(records) / size;
	const size_t looked = count < most ? (size_t)count : most;
	unsigned odd = 0;

	if (source_read(source, at, records, looked * size) != TM_OK)
		return UINT_MAX;
	for (size_t i = 0; i < looked; i++) {
		const struct ktrace_event e = ktrace_record_decode(records + i * size, is_64);
		odd += ktrace_record_failures(&e, is_64) || !e.time || !e.debugid;
	}
	return odd;
}

bool ktrace_chunk_lost_tag(struct source *source, const struct ktrace_chunk *chunk, bool is_64)
{
	const uint64_t records = ktrace_chunk_data(chunk) + 8, size = ktrace_event_size(is_64);
	/* Of a version that no writer has counted to, the header was hit for certain. */
	const bool hit = !ktrace_chunk_versions_are_small(chunk);
	const unsigned least = !chunk->tag ? 1 : hit && is_64 ? 2 : IN_RECORDS;

	if (chunk->size < 8 + least * size || (chunk->size - 8) % size != 0)
		return false;
	const uint64_t count = (chunk->size - 8) / size;
	return (!ktrace_events_failures(source, records, records + chunk->size - 8, is_64, IN_RECORDS) ||
		/* What hit the header may have hit a record. In 32 bits too much else passes for one. */
		(is_64 && count > least && records_odd(source, records, count, is_64) <= 1)) &&
	       (!chunk->tag || hit || chunk_times_are_near(source, records, is_64));
}

bool ktrace_chunk_may_be_events(struct source *source, const struct ktrace_chunk *chunk, bool is_64)
{
	const uint64_t size = ktrace_event_size(is_64), count = chunk->size < 8 ? 0 : (chunk->size - 8) / size;

	return count && (chunk->size - 8) % size == 0 &&
	       !records_odd(source, ktrace_chunk_data(chunk) + 8, count < IN_RECORDS ? count : IN_RECORDS, is_64);
}

/* A tag of 0 is what a hole leaves, unless the rest of the header is one. */
static bool chunk_is_hole(const struct ktrace_chunk *chunk)
{
	return !chunk->tag && (!chunk->size || !ktrace_chunk_versions_are_small(chunk));
}

/* Whether a chunk of a known kind stands where its data end, and not behind padding, which its writer left out. */
static bool chunk_is_unpadded(struct source *source, const struct ktrace_chunk *chunk, uint64_t limit, bool is_64)
{
	const uint64_t end = ktrace_chunk_data(chunk) + chunk->size;
	struct ktrace_chunk after;

	return chunk->size % 8 && ktrace_chunk_versions_are_small(chunk) && ktrace_chunk_read(source, end, &after) &&
	       ktrace_kind_find(after.tag) && ktrace_chunk_plausible(source, end, limit, is_64);
}

#define CHAIN 16u /* sizes in a row that lead from one chunk to the next */

bool ktrace_chunk_accepted(struct source *source, uint64_t offset, uint64_t limit, bool is_64)
{
	bool plausible = true; /* the one before */

	/* ktrace(5): "unrecognized chunks should be skipped". Their sizes must lead to the end, to a known chunk, or on and on. */
	for (unsigned links = 0; links < CHAIN; links++) {
		struct ktrace_chunk chunk;
		if (limit - offset < KTRACE_CHUNK_HEADER || !ktrace_chunk_read(source, offset, &chunk) || chunk_is_hole(&chunk))
			return false;
		if (chunk_is_known(source, &chunk, limit, is_64))
			return plausible || chunk.tag != KTRACE_TAG_UNFINISHED;
		plausible = ktrace_chunk_plausible(source, offset, limit, is_64);
		if (chunk.size > limit - offset - KTRACE_CHUNK_HEADER || chunk_is_in_records(source, offset, limit, is_64))
			return false;
		if (chunk_is_unpadded(source, &chunk, limit, is_64))
			return true;
		offset = ktrace_chunk_next(offset, chunk.size);
		if (offset >= limit || limit - offset < KTRACE_CHUNK_HEADER)
			return true;
	}
	return true;
}

bool ktrace_chunk_is_chained(struct source *source, uint64_t offset, uint64_t limit, bool is_64)
{
	struct ktrace_chunk chunk;

	if (limit - offset < KTRACE_CHUNK_HEADER || !ktrace_chunk_read(source, offset, &chunk) || chunk_is_hole(&chunk) ||
	    chunk.size > limit - offset - KTRACE_CHUNK_HEADER)
		return false;
	offset = ktrace_chunk_next(offset, chunk.size);
	return offset >= limit || limit - offset < KTRACE_CHUNK_HEADER || ktrace_chunk_accepted(source, offset, limit, is_64);
}

bool ktrace_chunk_is_confirmed(struct source *source, uint64_t offset, uint64_t limit, bool is_64)
{
	struct ktrace_chunk chunk;
	return ktrace_chunk_plausible(source, offset, limit, is_64) && ktrace_chunk_read(source, offset, &chunk) &&
	       (ktrace_kind_find(chunk.tag) || ktrace_chunk_is_chained(source, offset, limit, is_64));
}
