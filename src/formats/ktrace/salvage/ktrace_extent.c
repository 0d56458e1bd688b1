/* How far a chunk reaches: by its size, or by what follows where the size cannot be right. */
#include "formats/ktrace/scan/ktrace_v3.h"

bool ktrace_chunk_is_placeholder(const struct ktrace_chunk *chunk)
{
	return chunk->tag == KTRACE_TAG_UNFINISHED && chunk->size == KTRACE_SIZE_UNFINISHED;
}

bool ktrace_chunk_holds_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk)
{
	uint64_t records = chunk->offset + KTRACE_CHUNK_HEADER + 8, file = w->source->size;

	return chunk->tag == KTRACE_EVENTS ||
	       (ktrace_chunk_is_placeholder(chunk) && (ktrace_events_plausible(w->source, records, file, true, 4) ||
						       ktrace_events_plausible(w->source, records, file, false, 8)));
}

uint64_t ktrace_chunk_whole(const struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint32_t event = ktrace_event_size(w->is_64), thread = ktrace_thread_size(w->is_64);

	if (chunk->tag == KTRACE_EVENTS && size >= 8)
		return size - (size - 8) % event;
	if (chunk->tag == KTRACE_THREAD_MAP)
		return size - size % thread;
	if (kind && kind->content == KTRACE_FIXED && size > kind->size_min)
		return kind->size_min;
	return size;
}

/* How much of the bytes up to `reach` is the payload of a chunk whose size is lost: all, but for what its kind is too short
 * for, and for events, which are those of a chunk whose header is lost, too. */
static uint64_t chunk_guess(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t reach)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, room = reach - data;
	uint32_t before = KTRACE_CHUNK_HEADER + 8; /* the bytes of an events chunk before its records */

	if (chunk->tag == KTRACE_EVENTS || chunk->tag == KTRACE_NESTED || chunk->major & KTRACE_SUBCHUNKS)
		return room;
	if (kind && kind->content == KTRACE_FIXED && room > kind->size_min)
		return kind->size_min;
	uint64_t events = ktrace_events_find(w, data, reach, reach % 8 ? 1 : 8);
	if (events == reach)
		return room;
	return ktrace_chunk_whole(w, chunk, events - data > before ? events - data - before : 0);
}

/* Whether a property list begins in a chunk whose size has no room for one. */
static bool chunk_hides_list(struct ktrace_walk *w, const struct ktrace_chunk *chunk)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint8_t head[8];

	return kind && kind->content == KTRACE_PLIST && chunk->size < sizeof(head) &&
	       w->source->size - chunk->offset >= KTRACE_CHUNK_HEADER + sizeof(head) &&
	       source_read(w->source, chunk->offset + KTRACE_CHUNK_HEADER, head, sizeof(head)) == TM_OK &&
	       !memcmp(head, "bplist", 6);
}

/* The chunk's own size does not lead to another chunk. What does? */
static struct ktrace_extent chunk_search(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, left = limit - data;
	bool fits = chunk->size <= left, events = chunk->tag == KTRACE_EVENTS;
	uint64_t end = fits ? data + chunk->size : limit;
	struct ktrace_extent x = { .size = chunk->size,
				   .next = fits ? ktrace_chunk_next(chunk->offset, chunk->size) : limit,
				   .rule = KTRACE_RULE_COUNT };

	if (fits && events && chunk->size && left - chunk->size >= 8 && chunk->size % ktrace_event_size(w->is_64) == 0 &&
	    (x.next + 8 >= limit || ktrace_chunk_stands(w->source, x.next + 8, limit, w->is_64)))
		return (struct ktrace_extent){ chunk->size + 8, x.next + 8, KTRACE_RULE_events_size_excludes_future, false, false };
	if (fits && chunk->size >= 16 && ktrace_chunk_stands(w->source, x.next - 16, limit, w->is_64))
		return (struct ktrace_extent){ chunk->size - 16, x.next - 16, KTRACE_RULE_chunk_size_includes_header, false,
					       false };
	if (fits && end % 8 && ktrace_chunk_stands(w->source, end, limit, w->is_64))
		return (struct ktrace_extent){ chunk->size, end, KTRACE_RULE_chunk_header_misaligned, false, false };
	uint64_t found = ktrace_chunk_find_next(w, data, limit);
	uint64_t beyond = chunk->size < 8 ? data + 8 : end, reach = found == UINT64_MAX ? limit : found;
	bool more = events && fits && limit - data >= 8 && beyond + ktrace_event_size(w->is_64) <= limit &&
		    !ktrace_events_failures(w->source, beyond, limit, w->is_64, 4);
	/* Records that came in make the last ones stand behind the end. */
	more |= events && fits && reach > x.next && reach - data >= 8 + ktrace_event_size(w->is_64) &&
		ktrace_records_fill(w, reach - ktrace_event_size(w->is_64), reach);
	more |= chunk_hides_list(w, chunk);
	if (found == UINT64_MAX && fits && !more)
		return x; /* what follows is no chunk: said at its own place */
	if (found != UINT64_MAX && fits && found > x.next && chunk->size && !more)
		return x; /* the size may be right and the next chunk's header lost */
	x.rule = chunk->size == KTRACE_SIZE_UNFINISHED ? KTRACE_RULE_chunk_size_unknown
		 : chunk->size >> 62		       ? KTRACE_RULE_chunk_size_overflow
		 : found == UINT64_MAX && !fits	       ? KTRACE_RULE_chunk_size_past_eof
						       : KTRACE_RULE_chunk_size_damaged;
	x.guessed = found != UINT64_MAX;
	x.size = chunk_guess(w, chunk, reach);
	x.next = ktrace_chunk_next(chunk->offset, x.size);
	x.next = x.size == reach - data || x.next > reach ? reach : x.next; /* its padding may be cut as well */
	if (x.size == chunk->size) {					    /* and what follows is no chunk */
		x.rule = KTRACE_RULE_COUNT;
		x.guessed = false;
	}
	return x;
}

/* A size that is a little too small makes padding of what completes a record. */
static void chunk_complete(struct ktrace_walk *w, const struct ktrace_chunk *chunk, struct ktrace_extent *x)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, whole = ktrace_chunk_whole(w, chunk, chunk->size);
	bool events = chunk->tag == KTRACE_EVENTS;
	uint32_t unit = events ? ktrace_event_size(w->is_64) : ktrace_thread_size(w->is_64);
	uint8_t id[4];

	if (whole == chunk->size || (!events && chunk->tag != KTRACE_THREAD_MAP) || x->next - data < whole + unit)
		return;
	bool sound = events ? !ktrace_events_failures(w->source, data + whole, x->next, w->is_64, 1)
			    : source_read(w->source, data + whole, id, sizeof(id)) == TM_OK && !bytes_are_zero(id, sizeof(id));
	if (sound) {
		x->size = whole + unit;
		x->rule = KTRACE_RULE_chunk_size_damaged;
	}
}

struct ktrace_extent ktrace_chunk_extent(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER;
	uint64_t next = ktrace_chunk_next(chunk->offset, chunk->size);

	if (chunk->size <= limit - data &&
	    (next >= limit || limit - next < KTRACE_CHUNK_HEADER ||
	     ktrace_chunk_lands(w->source, chunk->offset, limit, w->is_64)) &&
	    !chunk_hides_list(w, chunk)) {
		struct ktrace_extent x = { chunk->size, next < limit ? next : limit, KTRACE_RULE_COUNT, false, false };
		chunk_complete(w, chunk, &x);
		return x;
	}
	return chunk_search(w, chunk, limit);
}
