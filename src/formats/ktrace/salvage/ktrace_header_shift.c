/* Where bytes were inserted into the header structure of version 3, or removed from it, and whether it is lost. */
#include "formats/ktrace/salvage/ktrace_header_shift.h"

#include "formats/ktrace/salvage/ktrace_header_find.h"
#include "formats/ktrace/scan/ktrace_chunk.h"

#define SHIFT_MAX 4096u /* bytes that may be inserted */
#define LOST_MAX 65536u /* bytes in front of the first chunk where the header is lost */
#define LOST_KNOWN 3u	/* chunks of known kinds that show that chunks begin; with the end of the file one less */
#define LOST_LINKS 16u

/* Whether a chunk of a known kind is there that is followed by another, or by the end. */
static bool shift_chunk_at(struct ktrace_input *in, uint64_t at)
{
	struct ktrace_chunk chunk;
	const uint8_t *p = window_at(&in->window, at, 4);

	return p && ktrace_kind_find(load_u32(p, false)) && ktrace_chunk_read(in->source, at, &chunk) &&
	       ktrace_chunk_plausible(in->source, at, in->source->size, in->is_64) &&
	       ktrace_chunk_is_chained(in->source, at, in->source->size, in->is_64);
}

/* Whether a header of that size ends at a chunk, or with the file, when all behind the structure is `first` - 56 bytes late. */
static bool shift_size_fits(struct ktrace_input *in, uint64_t size, uint64_t first)
{
	uint64_t file = in->source->size;

	if (size < KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED || size > file)
		return false;
	uint64_t body = ktrace_align(size + KTRACE_HEADER_UNCOUNTED) + first - KTRACE_HEADER;
	return body == file || (body < file && ktrace_chunk_accepted(in->source, body, file, in->is_64));
}

/* Decodes a header. How many of its fields are odd. */
static unsigned header_oddities(const uint8_t bytes[KTRACE_HEADER], struct ktrace_header *h)
{
	struct issue list[KTRACE_HEADER_ISSUES];
	struct issues issues = { .list = list, .room = KTRACE_HEADER_ISSUES };

	*h = ktrace_header_decode(bytes, &issues);
	return issues.count - (h->magic == KTRACE_MAGIC_KERNEL);
}

/* How much of a header is as writers write it; 0 for one that cannot be the right one: its timebase or its size is another, or
 * bytes that are all there are odd. */
static unsigned shift_score(struct ktrace_input *in, const uint8_t bytes[KTRACE_HEADER], uint64_t first)
{
	struct ktrace_header h;
	unsigned odd = header_oddities(bytes, &h);

	/* Ticks since the machine was booted, and seconds since 1970. */
	odd = odd + (h.time >> 56 != 0) + (h.seconds >> 33 != 0);

	if (!ktrace_timebase_is_known(&h) || !shift_size_fits(in, h.size, first) || (odd && first >= KTRACE_HEADER))
		return 0;
	return KTRACE_HEADER_ISSUES + 2 - odd;
}

/* The header without the bytes inserted at `at`, or with zeros for those removed. */
static void shift_apply(const uint8_t *there, uint64_t first, uint64_t at, uint8_t header[KTRACE_HEADER])
{
	uint64_t missing = first < KTRACE_HEADER ? KTRACE_HEADER - first : 0, surplus = first - KTRACE_HEADER + missing;

	memcpy(header, there, (size_t)at);
	memset(header + at, 0, (size_t)missing);
	memcpy(header + at + missing, there + at + surplus, (size_t)(KTRACE_HEADER - at - missing));
}

/* The first chunk from `from` on; 0: none that is near. */
static uint64_t shift_first_chunk(struct ktrace_input *in)
{
	for (uint64_t at = KTRACE_HEADER / 2; at <= KTRACE_HEADER + SHIFT_MAX; at++)
		if (shift_chunk_at(in, at))
			return at;
	return 0;
}

/* ---- a header that is lost ---- */

static bool lost_chain_holds(struct source *source, uint64_t at)
{
	uint64_t file = source->size;
	unsigned known = 0;

	for (unsigned links = 0; links < LOST_LINKS && known < LOST_KNOWN; links++) {
		struct ktrace_chunk chunk;
		if (at >= file || file - at < KTRACE_CHUNK_HEADER)
			return known >= LOST_KNOWN - 1;
		if (!ktrace_chunk_accepted(source, at, file, true) || !ktrace_chunk_read(source, at, &chunk) ||
		    chunk.size > file - at - KTRACE_CHUNK_HEADER)
			return false;
		known += ktrace_kind_find(chunk.tag) && ktrace_chunk_plausible(source, at, file, true);
		at = ktrace_chunk_next(at, chunk.size);
	}
	return known == LOST_KNOWN;
}

uint64_t ktrace_first_chunk_find(struct window *window)
{
	for (uint64_t at = 0; at < LOST_MAX; at++) {
		const uint8_t *p = window_at(window, at, 4);
		if (!p)
			break;
		if (ktrace_kind_find(load_u32(p, false)) && lost_chain_holds(window->source, at))
			return at;
	}
	return UINT64_MAX;
}

/* The size of a header of which nothing is known, by its chunks, which begin at `first`. */
static uint64_t chunks_size(struct ktrace_input *in, uint64_t first)
{
	uint64_t end = ktrace_header_end_find(in, KTRACE_SIZE_UNFINISHED, first).end;
	return end - first + KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED;
}

static struct ktrace_header_shift lost_find(struct ktrace_input *in, const uint8_t header[KTRACE_HEADER])
{
	struct ktrace_header_shift lost = { .first = KTRACE_HEADER };
	uint32_t magic = load_u32(header, false);
	uint64_t first = magic == KTRACE_MAGIC || magic == KTRACE_MAGIC_KERNEL ? UINT64_MAX : ktrace_first_chunk_find(&in->window);

	if (first == UINT64_MAX || first == KTRACE_HEADER)
		return lost;
	lost = (struct ktrace_header_shift){ .first = first, .lost = true };
	in->is_64 = true;
	in->is_64 = !ktrace_header_width_find(in, first).other;
	store_u32(lost.header + KTRACE_AT_MAGIC, KTRACE_MAGIC, false);
	store_u64(lost.header + KTRACE_AT_SIZE, chunks_size(in, first), false);
	store_u32(lost.header + KTRACE_AT_FLAGS, in->is_64 ? KTRACE_FLAG_64 : 0, false);
	return lost;
}

/* ---- both ---- */

/* How many bytes of ones there are around `at`: what was inserted may look like the mark of a chunk that is being written. */
static uint64_t ones_around(struct ktrace_input *in, uint64_t at)
{
	const uint8_t *p = window_at(&in->window, 0, (size_t)at);
	uint64_t from = at, until = at;

	while (p && from && p[from - 1] == 0xff)
		from--;
	for (; until < at + SHIFT_MAX; until++) {
		p = window_at(&in->window, until, 1);
		if (!p || *p != 0xff)
			break;
	}
	return until - from;
}

/* Whether a chunk begins where the header should end. That of a moved header passes for an empty one of no known kind. */
static bool shift_is_none(struct ktrace_input *in, const uint8_t header[KTRACE_HEADER])
{
	struct ktrace_chunk chunk;
	struct ktrace_header h;

	if (shift_chunk_at(in, KTRACE_HEADER))
		return true;
	if (!ktrace_chunk_accepted(in->source, KTRACE_HEADER, in->source->size, in->is_64) ||
	    !ktrace_chunk_read(in->source, KTRACE_HEADER, &chunk))
		return false;
	if (!header_oddities(header, &h))
		return true;
	if (chunk.tag == KTRACE_TAG_UNFINISHED)
		return !shift_chunk_at(in, KTRACE_HEADER + ones_around(in, KTRACE_HEADER));
	return ktrace_kind_find(chunk.tag) || chunk.size;
}

static struct ktrace_header_shift shift_find(struct ktrace_input *in, const uint8_t header[KTRACE_HEADER])
{
	struct ktrace_header_shift none = { .first = KTRACE_HEADER }, best = none;
	uint8_t there[KTRACE_HEADER + SHIFT_MAX];
	bool agree = true;

	if (shift_is_none(in, header))
		return none;
	uint64_t first = shift_first_chunk(in), last = first < KTRACE_HEADER ? first : KTRACE_HEADER - 1;
	if (!first || source_read(in->source, 0, there, (size_t)(first < KTRACE_HEADER ? KTRACE_HEADER : first)) != TM_OK)
		return none;
	unsigned most = shift_score(in, header, first);
	uint64_t missing = first < KTRACE_HEADER ? KTRACE_HEADER - first : 0, size = missing ? chunks_size(in, first) : 0;
	for (uint64_t at = 0; at <= last; at++) {
		struct ktrace_header_shift s = { .first = first, .at = at };
		shift_apply(there, first, at, s.header);
		if (at < KTRACE_AT_TIMEBASE && at + missing > KTRACE_AT_SIZE && missing)
			store_u64(s.header + KTRACE_AT_SIZE, size, false);
		unsigned score = shift_score(in, s.header, first);
		if (score > most) {
			best = s;
			most = score;
			agree = true;
		} else if (score == most && best.first != KTRACE_HEADER) {
			agree &= !memcmp(s.header + KTRACE_AT_TIMEBASE, best.header + KTRACE_AT_TIMEBASE, 8) &&
				 !memcmp(s.header + KTRACE_AT_FLAGS, best.header + KTRACE_AT_FLAGS, 4);
		}
	}
	return agree ? best : none;
}

struct ktrace_header_shift ktrace_header_shift_find(struct ktrace_input *in, const uint8_t header[KTRACE_HEADER])
{
	struct ktrace_header_shift s = shift_find(in, header);
	return s.first == KTRACE_HEADER ? lost_find(in, header) : s;
}
