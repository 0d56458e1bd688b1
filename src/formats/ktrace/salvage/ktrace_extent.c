/* How far a chunk reaches: by its size or, where that cannot be right, by what follows. */
#include "formats/ktrace/salvage/ktrace_extent.h"

#include "formats/ktrace/salvage/ktrace_map_find.h"
#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/salvage/ktrace_resync.h"
#include "formats/ktrace/scan/ktrace_chunk.h"

bool ktrace_chunk_holds_events(struct source *source, const struct ktrace_chunk *chunk)
{
	uint64_t records = ktrace_chunk_data(chunk) + 8;

	return chunk->tag == KTRACE_EVENTS ||
	       (chunk->tag == KTRACE_TAG_UNFINISHED && (ktrace_events_plausible(source, records, source->size, true, 4) ||
							ktrace_events_plausible(source, records, source->size, false, 8)));
}

bool ktrace_chunk_holds_threads(struct ktrace_input *in, const struct ktrace_chunk *chunk)
{
	uint64_t data = ktrace_chunk_data(chunk), second = data + ktrace_thread_size(in->is_64);

	/* What hit the header may have hit the first entry. */
	return ktrace_map_run(in, data, in->source->size, 2) == 2 || ktrace_map_run(in, second, in->source->size, 2) == 2;
}

#define THREADS_LOOKED 8u /* entries by which a thread map is told */

bool ktrace_chunk_was_threads(struct ktrace_input *in, const struct ktrace_chunk *chunk)
{
	const uint32_t entry = ktrace_thread_size(in->is_64);
	const uint64_t data = ktrace_chunk_data(chunk), count = chunk->size / entry;
	const uint64_t looked = count < THREADS_LOOKED ? count : THREADS_LOOKED;
	uint64_t good = 0;

	if (chunk->size % entry)
		return false;
	if (count >= 3 && ktrace_chunk_holds_threads(in, chunk))
		return true;
	for (uint64_t i = 0; i < looked; i++)
		good += ktrace_map_run(in, data + i * entry, data + chunk->size, 1);
	return good && good + 1 >= looked && !ktrace_chunk_versions_are_small(chunk);
}

bool ktrace_cpus_are_sane(struct ktrace_input *in, uint64_t at, uint64_t count, uint32_t entry)
{
	unsigned odd = 0;

	for (uint64_t i = 0; i < count && odd <= 1; i++) {
		const uint8_t *p = window_at(&in->window, at + i * entry, 8);
		odd += !p || load_u32(p, false) != i || load_u32(p + 4, false) > 1;
	}
	return count && count <= KTRACE_CPUS_MAX && odd <= (count > 2 ? 1u : 0u);
}

bool ktrace_chunk_was_cpus(struct ktrace_input *in, const struct ktrace_chunk *chunk)
{
	const uint64_t data = ktrace_chunk_data(chunk);
	const uint8_t *p = chunk->size > KTRACE_CPUS_PREFIX ? window_at(&in->window, data, KTRACE_CPUS_PREFIX) : NULL;
	const uint32_t word = p ? load_u32(p, false) : 0, count = p ? load_u32(p + 4, false) : 0;
	const uint32_t entry = word == 1 ? KTRACE_CPU_EXTENDED : word == KTRACE_MAGIC_RAW1 ? KTRACE_CPU : 0;

	/* The prefix says what it is; an entry may have been hit. */
	return entry && chunk->size == KTRACE_CPUS_PREFIX + (uint64_t)count * entry &&
	       (count <= 2 || ktrace_cpus_are_sane(in, data + KTRACE_CPUS_PREFIX, count, entry));
}

/* Whether the entries of a thread map at `data` go on at `at`, where their names look like records. */
static bool is_among_entries(struct ktrace_input *in, uint64_t data, uint64_t at, uint64_t reach)
{
	uint32_t size = ktrace_thread_size(in->is_64);
	uint64_t entry = at - (at - data) % size;

	return ktrace_map_run(in, entry > data ? entry - size : entry, reach, 2) == 2;
}

/* How much of the bytes up to `reach` is the payload of a chunk whose size is lost: all but what exceeds the fixed size of its
 * kind, and but for records of events, which belong to a chunk whose header is lost as well. */
static uint64_t chunk_guess(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t reach)
{
	uint32_t fixed = ktrace_kind_fixed_size(ktrace_kind_find(chunk->tag));
	uint64_t data = ktrace_chunk_data(chunk), room = reach - data;
	uint32_t before = KTRACE_CHUNK_HEADER + 8; /* the bytes of an events chunk before its records */

	if (chunk->tag == KTRACE_EVENTS || chunk->tag == KTRACE_NESTED || chunk->major & KTRACE_SUBCHUNKS)
		return room;
	if (fixed && room > fixed)
		return fixed;
	uint64_t events = ktrace_events_find(in, data, reach, reach % 8 ? 1 : 8);
	if (chunk->tag == KTRACE_THREAD_MAP && events < reach && is_among_entries(in, data, events, reach))
		events = reach;
	if (events == reach)
		return room;
	return ktrace_chunk_whole(chunk, events - data > before ? events - data - before : 0, in->is_64);
}

/* Whether a property list begins in a chunk whose size has no room for one. */
static bool chunk_hides_list(struct source *source, const struct ktrace_chunk *chunk)
{
	uint8_t head[8];

	return ktrace_kind_is_plist(ktrace_kind_find(chunk->tag)) && chunk->size < sizeof(head) &&
	       source->size - chunk->offset >= KTRACE_CHUNK_HEADER + sizeof(head) &&
	       source_read(source, ktrace_chunk_data(chunk), head, sizeof(head)) == TM_OK && !memcmp(head, "bplist", 6);
}

/* Whether a chunk is there: one of a known kind, or of another whose size leads on. */
static bool chunk_is_there(struct ktrace_input *in, uint64_t at, uint64_t limit)
{
	struct ktrace_chunk chunk;

	return ktrace_chunk_is_confirmed(in->source, at, limit, in->is_64) ||
	       (at < limit && ktrace_chunk_read(in->source, at, &chunk) && chunk.tag && ktrace_chunk_versions_are_small(&chunk) &&
		ktrace_chunk_accepted(in->source, at, limit, in->is_64));
}

/* The known errors of writers: the next chunk is 8 or 16 bytes, or the padding, away from where the size leads. False: none of
 * them. */
static bool chunk_search_near(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit, struct ktrace_extent *x)
{
	uint64_t end = ktrace_chunk_data(chunk) + chunk->size;
	bool whole = chunk->size && chunk->size % ktrace_event_size(in->is_64) == 0;
	uint32_t fixed = ktrace_kind_fixed_size(ktrace_kind_find(chunk->tag));

	if (chunk->tag == KTRACE_EVENTS && whole && chunk_is_there(in, x->next + 8, limit)) {
		*x = (struct ktrace_extent){ .size = chunk->size + 8,
					     .next = x->next + 8,
					     .rule = KTRACE_RULE_events_size_excludes_future };
		return true;
	}
	if (chunk->size >= 16 && (!fixed || chunk->size == fixed + KTRACE_CHUNK_HEADER) &&
	    ktrace_chunk_is_confirmed(in->source, x->next - 16, limit, in->is_64)) {
		*x = (struct ktrace_extent){ .size = chunk->size - 16,
					     .next = x->next - 16,
					     .rule = KTRACE_RULE_chunk_size_includes_header };
		return true;
	}
	if (end % 8 && ktrace_chunk_is_confirmed(in->source, end, limit, in->is_64)) {
		*x = (struct ktrace_extent){ .size = chunk->size, .next = end, .rule = KTRACE_RULE_chunk_header_misaligned };
		return true;
	}
	return false;
}

/* Whether the payload continues after the size, which fits into the file; reach: where the next chunk is. */
static bool chunk_has_more(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit, uint64_t reach, uint64_t next)
{
	uint32_t record = ktrace_event_size(in->is_64);
	uint64_t data = ktrace_chunk_data(chunk), beyond = chunk->size < 8 ? data + 8 : data + chunk->size;

	if (chunk->tag == KTRACE_EVENTS) {
		if (beyond + record <= limit && !ktrace_events_failures(in->source, beyond, limit, in->is_64, 4))
			return true;
		/* Where records were inserted, the last ones are after the end that the size gives. */
		if (reach > next && reach - data >= 8 + record && ktrace_records_fill(in, reach - record, reach))
			return true;
	}
	return chunk_hides_list(in->source, chunk);
}

#define PARTS 64u /* sub-chunks of a chunk by which its size is confirmed */

/* Whether sub-chunks, of which the first one is of a known kind, end where the chunk does by its size. */
static bool chunk_parts_fill(struct ktrace_input *in, const struct ktrace_chunk *chunk)
{
	const uint64_t end = ktrace_chunk_data(chunk) + chunk->size;
	struct ktrace_chunk part;

	if (!(chunk->major & KTRACE_SUBCHUNKS) || !ktrace_kind_find(chunk->tag))
		return false;
	uint64_t at = ktrace_chunk_data(chunk);
	for (unsigned parts = 0; parts < PARTS && at < end && end - at >= KTRACE_CHUNK_HEADER; parts++) {
		if (!ktrace_chunk_read(in->source, at, &part) || !ktrace_chunk_versions_are_small(&part) || !part.tag ||
		    part.size > end - ktrace_chunk_data(&part) || (!parts && !ktrace_kind_find(part.tag)))
			return false;
		if (ktrace_chunk_data(&part) + part.size == end)
			return true;
		at = ktrace_chunk_next(at, part.size);
	}
	return at == end;
}

static enum ktrace_rule chunk_size_rule(uint64_t size, bool past_eof)
{
	if (size == KTRACE_SIZE_UNFINISHED)
		return KTRACE_RULE_chunk_size_unknown;
	if (size >> 62)
		return KTRACE_RULE_chunk_size_overflow;
	return past_eof ? KTRACE_RULE_chunk_size_past_eof : KTRACE_RULE_chunk_size_damaged;
}

/* Whether the chunk ends by its size in front of the padding up to `reach`. */
static bool chunk_is_padded(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t reach)
{
	const uint64_t end = ktrace_chunk_data(chunk) + chunk->size;
	uint8_t pad[8];

	return chunk->size <= reach - ktrace_chunk_data(chunk) && reach == ktrace_chunk_next(chunk->offset, chunk->size) &&
	       source_read(in->source, end, pad, (size_t)(reach - end)) == TM_OK && bytes_are_zero(pad, (size_t)(reach - end));
}

/* The chunk's size does not lead to another chunk: searches for the next one. */
static struct ktrace_extent chunk_search(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = ktrace_chunk_data(chunk);
	bool fits = chunk->size <= limit - data;
	struct ktrace_extent x = { .size = chunk->size,
				   .next = fits ? ktrace_chunk_next(chunk->offset, chunk->size) : limit,
				   .rule = KTRACE_RULE_COUNT };

	if (fits && (chunk_search_near(in, chunk, limit, &x) || chunk_parts_fill(in, chunk)))
		return x;
	uint64_t found = ktrace_chunk_find_next(in, data, limit), reach = found == UINT64_MAX ? limit : found;
	bool events = chunk->tag == KTRACE_EVENTS, within = events || !fits || reach < x.next;
	uint64_t strange = ktrace_chunk_find_strange(in, !within ? x.next : events ? data + 8 : data, reach, limit, events);
	if (strange < reach)
		found = reach = strange;
	if (fits && !chunk_has_more(in, chunk, limit, reach, x.next) &&
	    /* The bytes that follow are not a chunk, which is reported there; or the header of the next chunk is lost. */
	    (found == UINT64_MAX || (found > x.next && chunk->size)))
		return x;
	x.rule = chunk_size_rule(chunk->size, found == UINT64_MAX && !fits);
	x.guessed = found != UINT64_MAX;
	x.size = chunk_guess(in, chunk, reach);
	x.next = ktrace_chunk_next(chunk->offset, x.size);
	x.next = x.size == reach - data || x.next > reach ? reach : x.next; /* its padding may be cut as well */
	/* The bytes that follow are not a chunk, or only padding is between that and its last record or entry. */
	if (x.size == chunk->size ||
	    (ktrace_chunk_whole(chunk, x.size, in->is_64) == chunk->size && chunk_is_padded(in, chunk, reach))) {
		x.size = chunk->size;
		x.rule = KTRACE_RULE_COUNT;
		x.guessed = false;
	}
	return x;
}

/* Where the size is too small by less than the padding, the padding is the end of a record or of an entry. */
static void chunk_complete(struct ktrace_input *in, const struct ktrace_chunk *chunk, struct ktrace_extent *x)
{
	uint64_t data = ktrace_chunk_data(chunk), whole = ktrace_chunk_whole(chunk, chunk->size, in->is_64);
	bool events = chunk->tag == KTRACE_EVENTS;
	uint32_t unit = events ? ktrace_event_size(in->is_64) : ktrace_thread_size(in->is_64);
	uint8_t id[4];

	if (whole == chunk->size || (!events && chunk->tag != KTRACE_THREAD_MAP) || x->next - data < whole + unit)
		return;
	bool valid = events ? !ktrace_events_failures(in->source, data + whole, x->next, in->is_64, 1)
			    : source_read(in->source, data + whole, id, sizeof(id)) == TM_OK && !bytes_are_zero(id, sizeof(id));
	if (valid) {
		x->size = whole + unit;
		x->rule = KTRACE_RULE_chunk_size_damaged;
	}
}

/* Whether a record is where the last one of an events chunk ends by its size, and neither a known chunk is
 * there nor the placeholder that a killed recorder leaves. */
static bool chunk_goes_on(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = ktrace_chunk_data(chunk), next = ktrace_chunk_next(chunk->offset, chunk->size);
	uint64_t beyond = data + 8 +
			  (chunk->size < 8 ? 0 : chunk->size - 8) / ktrace_event_size(in->is_64) * ktrace_event_size(in->is_64);
	struct ktrace_chunk after;

	if (chunk->tag != KTRACE_EVENTS || !ktrace_chunk_read(in->source, next, &after) || ktrace_kind_find(after.tag) ||
	    ktrace_chunk_is_placeholder(&after))
		return false;
	return beyond <= limit && limit - beyond >= ktrace_event_size(in->is_64) &&
	       !ktrace_events_failures(in->source, beyond, limit, in->is_64, 1);
}

#define HIDDEN_MAX 64u /* bytes before the end of a chunk, by its size, in which the next one may begin */

/* Whether a chunk of a known kind begins in the payload and reaches behind `next`, where one of an unknown kind seems to begin:
 * bytes of the payload are missing. */
static bool chunk_hides_header(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t next, uint64_t limit)
{
	struct ktrace_chunk after;

	if (!ktrace_chunk_read(in->source, next, &after) || ktrace_kind_find(after.tag) || ktrace_chunk_is_placeholder(&after))
		return false;
	for (uint64_t at = next - 1; at >= ktrace_chunk_data(chunk) && next - at <= HIDDEN_MAX; at--) {
		const uint8_t *p = window_at(&in->window, at, 4);
		if (p && ktrace_kind_find(load_u32(p, false)) && ktrace_chunk_read(in->source, at, &after) &&
		    ktrace_chunk_next(at, after.size) > next && ktrace_chunk_plausible(in->source, at, limit, in->is_64) &&
		    ktrace_chunk_is_chained(in->source, at, limit, in->is_64))
			return true;
	}
	return false;
}

#define SWALLOWED_BYTES 4096u /* of the end of a thread map, by its size, in which chunks may be */
#define SWALLOWED_CHUNKS 8u   /* of those */

/* Whether chunks of known kinds lead from `at` to exactly `next`. */
static bool chunks_lead_to(struct ktrace_input *in, uint64_t at, uint64_t next)
{
	struct ktrace_chunk chunk;

	for (unsigned links = 0; at < next && links < SWALLOWED_CHUNKS; links++) {
		if (!ktrace_chunk_read(in->source, at, &chunk) || !ktrace_kind_find(chunk.tag) ||
		    !ktrace_chunk_plausible(in->source, at, next, in->is_64))
			return false;
		at = ktrace_chunk_next(at, chunk.size);
	}
	return at == next;
}

/* Whether a thread map has chunks at its end, where an entry would not be one: entries are missing, by its size. */
static bool map_swallows(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t next)
{
	const uint64_t data = ktrace_chunk_data(chunk), unit = ktrace_thread_size(in->is_64);

	if (chunk->tag != KTRACE_THREAD_MAP || next > in->source->size)
		return false;
	for (uint64_t at = next; at - data >= KTRACE_CHUNK_HEADER && next - at < SWALLOWED_BYTES;) {
		at -= 8;
		const uint8_t *p = window_at(&in->window, at, 4);
		if (p && next - at >= KTRACE_CHUNK_HEADER && ktrace_kind_find(load_u32(p, false)) && chunks_lead_to(in, at, next) &&
		    !ktrace_map_run(in, at - (at - data) % unit, next, 1))
			return true;
	}
	return false;
}

/* Whether the data behind the fields of a fixed size are chunks, which lead to where the chunk ends by its size, or to the limit.
 */
static bool fields_swallow(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t next, uint64_t limit)
{
	const uint32_t fixed = ktrace_kind_fixed_size(ktrace_kind_find(chunk->tag));
	const uint64_t at = ktrace_chunk_next(chunk->offset, fixed);

	return fixed && chunk->size >= fixed + KTRACE_CHUNK_HEADER && at < next && next <= limit &&
	       (chunks_lead_to(in, at, next) || (limit - next < KTRACE_CHUNK_HEADER && chunks_lead_to(in, at, limit)));
}

#define SHIFT_RECORDS 4u /* the last ones of a chunk, by which it is told that they are shifted */

/* Whether each of the last records before `end` is odd, or any of them: of a CPU or a thread that there is not, or one that fails
 * other tests. */
static bool chunk_ends_oddly(struct ktrace_input *in, uint64_t end, bool any)
{
	uint32_t size = ktrace_event_size(in->is_64);
	unsigned odd = 0;

	for (unsigned i = 1; i <= SHIFT_RECORDS; i++)
		odd += ktrace_record_anomalies(in, end - i * (uint64_t)size) != 0;
	return any ? odd : odd == SHIFT_RECORDS;
}

/* Whether the last records of the last chunk end with the file, and not where its size says: bytes were inserted, less than a chunk
 * header. */
static bool chunk_is_shifted(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t end = ktrace_chunk_data(chunk) + chunk->size;

	return chunk->tag == KTRACE_EVENTS && limit > end && limit - end < KTRACE_CHUNK_HEADER &&
	       chunk->size >= 8 + SHIFT_RECORDS * (uint64_t)ktrace_event_size(in->is_64) && chunk_ends_oddly(in, end, false) &&
	       !chunk_ends_oddly(in, limit, true);
}

struct ktrace_extent ktrace_chunk_extent(struct ktrace_input *in, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = ktrace_chunk_data(chunk), next = ktrace_chunk_next(chunk->offset, chunk->size);

	if (chunk->size <= limit - data && chunk_is_shifted(in, chunk, limit))
		return (struct ktrace_extent){ .size = limit - data, .next = limit, .rule = KTRACE_RULE_chunk_size_damaged };
	if (chunk->size <= limit - data &&
	    (next >= limit || limit - next < KTRACE_CHUNK_HEADER ||
	     ktrace_chunk_is_chained(in->source, chunk->offset, limit, in->is_64)) &&
	    !chunk_hides_list(in->source, chunk) && !chunk_goes_on(in, chunk, limit) &&
	    !chunk_hides_header(in, chunk, next, limit) && !map_swallows(in, chunk, next) &&
	    !fields_swallow(in, chunk, next, limit)) {
		struct ktrace_extent x = { .size = chunk->size, .next = next < limit ? next : limit, .rule = KTRACE_RULE_COUNT };
		chunk_complete(in, chunk, &x);
		return x;
	}
	return chunk_search(in, chunk, limit);
}
