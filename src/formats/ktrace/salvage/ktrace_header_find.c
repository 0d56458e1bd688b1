/* Where the header of version 3 ends, and how wide its records are, by what follows. */
#include "formats/ktrace/salvage/ktrace_header_find.h"

#include "formats/ktrace/salvage/ktrace_extent.h"
#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/salvage/ktrace_resync.h"
#include "formats/ktrace/scan/ktrace_chunk.h"

/* ---- the width ---- */

/* Where records of that width begin that all pass the tests up to `until`; until: nowhere. */
static uint64_t header_events(struct ktrace_input *in, uint64_t from, uint64_t until, bool is_64)
{
	bool stated = in->is_64;

	in->is_64 = is_64;
	uint64_t events = ktrace_events_find(in, ktrace_align(from), until, 8), least = (is_64 ? 2 : 8) * ktrace_event_size(is_64);
	/* The first one may have lost its beginning. */
	if (until - events >= least && !ktrace_records_fill(in, events, until))
		events += ktrace_event_size(is_64);
	bool sure = until - events >= least && ktrace_records_fill(in, events, until);
	in->is_64 = stated;
	return sure ? events : until;
}

/* Of an events chunk with so many bytes of payload. */
static struct ktrace_width header_chunk_width(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t size)
{
	struct ktrace_width width = { .events = ktrace_chunk_data(chunk) + 8 };
	uint8_t head[KTRACE_HEAD];
	size_t length = size - 8 < sizeof(head) ? (size_t)(size - 8) : sizeof(head);

	width.other = source_read(in->source, width.events, head, length) == TM_OK &&
		      ktrace_records_other_width(head, length, in->is_64);
	return width;
}

struct ktrace_width ktrace_header_width_find(struct ktrace_input *in, uint64_t first)
{
	uint64_t at = first, file = in->source->size;
	struct ktrace_chunk chunk;

	/* The first events chunk decides; where the chain of chunks is broken, it is resynchronised as the walk does. */
	for (unsigned i = 0; i < 4096 && at < file; i++) {
		bool valid = ktrace_chunk_read(in->source, at, &chunk) && chunk.tag;
		uint64_t left = valid ? file - ktrace_chunk_data(&chunk) : 0;
		uint64_t size = valid && chunk.size < left ? chunk.size : left;
		if (valid && size >= 8 + 64 && ktrace_chunk_holds_events(in->source, &chunk))
			return header_chunk_width(in, &chunk, size);
		if (valid && ktrace_chunk_is_chained(in->source, at, file, in->is_64)) {
			at = ktrace_chunk_next(at, chunk.size);
			continue;
		}
		/* Or the first records without a chunk header. */
		uint64_t next = ktrace_chunk_find_next(in, at + 1, file), until = next < file ? next : file;
		if (header_events(in, at, until, in->is_64) < until)
			break;
		uint64_t events = header_events(in, at, until, !in->is_64);
		if (events < until)
			return (struct ktrace_width){ true, events };
		at = next;
	}
	return (struct ktrace_width){ 0 };
}

/* ---- the end ---- */

/* The chain of chunks after the header structure. */
struct header_chain {
	uint64_t stored; /* end of the header by its size; UINT64_MAX: past the end of the file */
	uint64_t last;	 /* end of the last header chunk */
	uint64_t before; /* offset of the last chunk of the chain */
	bool believed;	 /* the size ends at a chunk of the chain */
	bool broken;	 /* the chain ends before the file does */
};

/* Whether the first chunk is at 64, after 8 surplus bytes, as in the sample layout of the manual page. */
static bool header_has_surplus(struct ktrace_input *in, uint64_t stored)
{
	uint64_t file = in->source->size;
	struct ktrace_chunk chunk;

	return !ktrace_chunk_plausible(in->source, KTRACE_HEADER, file, in->is_64) && stored >= 64 + KTRACE_CHUNK_HEADER &&
	       ktrace_chunk_read(in->source, 64, &chunk) && ktrace_kind_find(chunk.tag) &&
	       ktrace_chunk_plausible(in->source, 64, file, in->is_64) && ktrace_chunk_is_chained(in->source, 64, file, in->is_64);
}

/* Whether the header ends by its size where the CPU map does by its count, and the size of the map is another. */
static bool header_ends_with_map(struct ktrace_input *in, const struct header_chain *c, const struct ktrace_chunk *chunk)
{
	uint8_t head[8];

	if (chunk->tag != KTRACE_CPU_MAP || c->stored >= in->source->size ||
	    source_read(in->source, ktrace_chunk_data(chunk), head, sizeof(head)) != TM_OK || load_u32(head, false) != 1)
		return false;
	const uint64_t end = ktrace_chunk_data(chunk) + 8 + 40 * (uint64_t)load_u32(head + 4, false);
	return (c->stored == end || c->stored == ktrace_align(end)) &&
	       ktrace_chunk_is_confirmed(in->source, ktrace_align(end), in->source->size, in->is_64);
}

/* Reads the chunk at *at and moves to the next one. False: the chain ends, or the rest of it gives no evidence. */
static bool header_chain_step(struct ktrace_input *in, struct header_chain *c, uint64_t *at)
{
	uint64_t file = in->source->size;
	struct ktrace_chunk chunk;

	if (!ktrace_chunk_accepted(in->source, *at, file, in->is_64) || !ktrace_chunk_read(in->source, *at, &chunk) ||
	    chunk.size > file - *at - KTRACE_CHUNK_HEADER) {
		c->broken = true;
		return false;
	}
	const struct ktrace_kind *kind = ktrace_kind_find(chunk.tag);
	uint64_t end = ktrace_chunk_data(&chunk) + chunk.size, next = ktrace_chunk_next(*at, chunk.size);
	uint64_t padded = ktrace_align(end) < file ? ktrace_align(end) : file;
	if (c->stored == end || c->stored == padded || header_ends_with_map(in, c, &chunk))
		c->believed = true;
	else if (kind && kind->place == KTRACE_IN_HEADER && c->last == *at)
		c->last = end;
	else if (c->stored <= *at || c->stored == UINT64_MAX)
		return false;
	c->before = *at;
	if (c->last == end && ktrace_align(end) == next)
		c->last = ktrace_align(end);
	*at = next;
	return true;
}

static enum ktrace_rule header_size_rule(uint64_t size, bool past_eof)
{
	if (size == KTRACE_SIZE_UNFINISHED)
		return KTRACE_RULE_header_size_unfinished;
	if (size < KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED)
		return KTRACE_RULE_header_size_below_minimum;
	return past_eof ? KTRACE_RULE_header_size_past_eof : KTRACE_RULE_header_size_splits_chunk;
}

/* The size field is accepted when the header then ends with a chunk of the chain that starts after the header structure (with or
 * without the padding of that chunk: writers differ), or when the chain is broken and a chunk starts there. */
struct ktrace_header_end ktrace_header_end_find(struct ktrace_input *in, uint64_t size, uint64_t first)
{
	uint64_t file = in->source->size;
	/* It counts from where the structure ends. */
	uint64_t stored = size > file ? UINT64_MAX : size + KTRACE_HEADER_UNCOUNTED + first - KTRACE_HEADER;
	struct ktrace_header_end e = { .chunks = first == KTRACE_HEADER && header_has_surplus(in, stored) ? 64 : first,
				       .size_rule = KTRACE_RULE_COUNT };
	struct header_chain c = { .stored = stored, .last = e.chunks, .before = first, .believed = stored == e.chunks };

	for (uint64_t at = e.chunks; !c.believed && at < file && header_chain_step(in, &c, &at);)
		;
	if (c.broken && stored <= file && stored > c.before &&
	    (stored == file || ktrace_chunk_accepted(in->source, ktrace_align(stored), file, in->is_64)))
		c.believed = true;
	e.end = c.believed ? stored : c.last < file ? c.last : file;
	if (!c.believed)
		e.size_rule = header_size_rule(size, stored > file);
	return e;
}
