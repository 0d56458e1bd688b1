/* Chunks: their kinds, and finding them again in a damaged file. */
#include "formats/ktrace/ktrace.h"

#define ANY_MAJOR 0xffff

static const struct ktrace_kind kinds[] = {
	{ KTRACE_RESERVED_1A, KTRACE_IN_HEADER, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "reserved" },
	{ KTRACE_CONFIG_KERNEL, KTRACE_ANYWHERE, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "kernel config" },
	{ KTRACE_CPU_MAP, KTRACE_IN_HEADER, KTRACE_OPAQUE, 1, 0, true, "CPU map" },
	{ KTRACE_THREAD_MAP, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "thread map" },
	{ KTRACE_EVENTS, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "events" },
	{ KTRACE_EVENTS_COMPRESSED, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "compressed events" },
	{ KTRACE_NULL, KTRACE_ANYWHERE, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "null" },
	{ 0x5001, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "artrace info" },
	{ 0x5002, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "artrace extended info" },
	{ 0x51f6, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "artrace events" },
	{ 0x51f9, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "log content" },
	{ 0x51fa, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "signposts" },
	{ 0x51fb, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "log content" },
	{ 0x51fe, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "artrace stackshot" },
	{ 0x51ff, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "device tree" },
	{ KTRACE_NESTED, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "nested ktrace file" },
	{ 0x8001, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "dyld modules" },
	{ KTRACE_STACKSHOT, KTRACE_IN_BODY, KTRACE_OPAQUE, 1, 0, false, "stackshot" },
	{ KTRACE_IMAGES, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "images" },
	{ 0x8005, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "kernel extensions" },
	{ KTRACE_CONFIG, KTRACE_IN_BODY, KTRACE_PLIST, 1, 0, true, "config" },
	{ KTRACE_SUMMARY, KTRACE_IN_BODY, KTRACE_FIXED, 0, 8, false, "summary" },
	{ 0x8008, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "report config" },
	{ 0x8009, KTRACE_ANYWHERE, KTRACE_PLIST, 0, 0, false, "sub-file relationship" },
	{ KTRACE_SUBFILE_HEADER, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "sub-file header" },
	{ KTRACE_SUBFILE_BODY, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "sub-file body" },
	{ KTRACE_SUBFILE_ID, KTRACE_ANYWHERE, KTRACE_FIXED, 0, 4, false, "sub-file id" },
	{ KTRACE_SUBFILE_FILE_HEADER, KTRACE_ANYWHERE, KTRACE_FIXED, 0, 56, false, "sub-file file header" },
	{ KTRACE_REMOTE_TIME, KTRACE_IN_BODY, KTRACE_FIXED, ANY_MAJOR, 24, false, "remote time" },
	{ KTRACE_TRACE_CODES, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "trace codes" },
	{ 0x8010, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "processes" },
	{ 0x8011, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "log events" },
	{ 0x8012, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "log strings" },
	{ KTRACE_TIME_SYNC, KTRACE_IN_BODY, KTRACE_FIXED, 1, 48, true, "time sync" },
	{ KTRACE_CATALOG, KTRACE_IN_BODY, KTRACE_OPAQUE, 1, 0, true, "catalog" },
	{ KTRACE_PASSIVE_INTERVAL, KTRACE_IN_BODY, KTRACE_FIXED, ANY_MAJOR, 48, false, "passive interval" },
	{ KTRACE_MACHINE, KTRACE_IN_HEADER, KTRACE_PLIST, ANY_MAJOR, 0, true, "machine" },
	{ KTRACE_UUID, KTRACE_IN_HEADER, KTRACE_FIXED, 0, 16, true, "file identifier" },
	{ KTRACE_TRIMMED, KTRACE_IN_HEADER, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "trim mark" },
	{ 0x9000, KTRACE_IN_BODY, KTRACE_OPAQUE, 0, 0, false, "wrapped stackshot" },
	{ 0x9008, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "log chunk" },
	{ 0x9009, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "log chunk" },
	{ 0x900a, KTRACE_IN_BODY, KTRACE_PLIST, ANY_MAJOR, 0, false, "time" },
	{ 0x12001, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "system call map" },
	{ 0xe001e001, KTRACE_IN_BODY, KTRACE_OPAQUE, ANY_MAJOR, 0, false, "malloc replay" },
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) <= 64, "ktrace_walk.singles has a bit a kind");

const struct ktrace_kind *ktrace_kind_find(uint32_t tag)
{
	size_t low = 0, high = sizeof(kinds) / sizeof(kinds[0]);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (kinds[middle].tag == tag)
			return &kinds[middle];
		if (kinds[middle].tag < tag)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

unsigned ktrace_kind_index(const struct ktrace_kind *kind)
{
	return (unsigned)(kind - kinds);
}

bool ktrace_chunk_read(struct source *s, uint64_t offset, struct ktrace_chunk *chunk)
{
	uint8_t bytes[KTRACE_CHUNK_HEADER];
	if (offset > s->size || s->size - offset < sizeof(bytes) || source_read(s, offset, bytes, sizeof(bytes)) != TM_OK)
		return false;
	struct cursor c = cursor_make(bytes, sizeof(bytes), false);
	chunk->offset = offset;
	chunk->tag = cursor_u32(&c);
	chunk->major = cursor_u16(&c);
	chunk->minor = cursor_u16(&c);
	chunk->size = cursor_u64(&c);
	return true;
}

/* The payload's own mark, for kinds that have one. data is where it starts, size what is there of it. */
static bool chunk_signature(struct source *s, const struct ktrace_chunk *chunk, uint64_t data, uint64_t size, bool is_64)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint8_t head[8];

	if (kind && kind->content == KTRACE_FIXED)
		return size >= kind->size_min && size <= 4096;
	if (size < sizeof(head))
		return true;
	if (source_read(s, data, head, sizeof(head)) != TM_OK)
		return false;
	if (kind && kind->content == KTRACE_PLIST)
		return !memcmp(head, "bplist", 6) || !memcmp(head, "<?xml", 5);
	if (chunk->tag == KTRACE_STACKSHOT) {
		uint32_t word = load_u32(head, false);
		return word == 0x59a25807 || word == 0xde17a59a || word == 0x434f4d50;
	}
	if (chunk->tag == KTRACE_EVENTS)
		return size < 8 + 64 || ktrace_events_plausible(s, data + 8, data + size, is_64, 1) ||
		       ktrace_events_plausible(s, data + 8, data + size, !is_64, 1);
	if (chunk->tag == KTRACE_CPU_MAP)
		return size < 1u << 20;
	if (chunk->tag == KTRACE_NULL)
		return load_u64(head, false) == 0;
	return true;
}

bool ktrace_chunk_plausible(struct source *s, uint64_t offset, uint64_t limit, bool is_64)
{
	struct ktrace_chunk chunk;

	if (limit < KTRACE_CHUNK_HEADER || offset > limit - KTRACE_CHUNK_HEADER || !ktrace_chunk_read(s, offset, &chunk))
		return false;
	uint64_t data = offset + KTRACE_CHUNK_HEADER, left = limit - data;
	if (chunk.tag == KTRACE_TAG_UNFINISHED && chunk.size == KTRACE_SIZE_UNFINISHED)
		return true; /* a placeholder, whatever its versions */
	if ((chunk.major & ~KTRACE_SUBCHUNKS) > 16 || chunk.minor > 16)
		return false;
	if (chunk.size > left && chunk.size != KTRACE_SIZE_UNFINISHED)
		return false;
	if (!ktrace_kind_find(chunk.tag)) {
		/* Tags are allotted by ranges; what lies outside of those seen so far is more likely noise. */
		bool in_range = (chunk.tag >= 0x1a00 && chunk.tag < 0x3000) || (chunk.tag >= 0x5000 && chunk.tag < 0x6000) ||
				(chunk.tag >= 0x8000 && chunk.tag < 0xa000) || (chunk.tag >= 0x12000 && chunk.tag < 0x20000) ||
				chunk.tag == KTRACE_TAG_UNFINISHED;
		if (!in_range)
			return false;
	}
	return chunk_signature(s, &chunk, data, chunk.size > left ? left : chunk.size, is_64);
}

/* A tag that readers know, in a version that could be. */
static bool chunk_is_known(struct source *s, const struct ktrace_chunk *chunk, uint64_t limit, bool is_64)
{
	return (ktrace_kind_find(chunk->tag) || chunk->tag == KTRACE_TAG_UNFINISHED) &&
	       (((chunk->major & ~KTRACE_SUBCHUNKS) <= 16 && chunk->minor <= 16) ||
		ktrace_chunk_plausible(s, chunk->offset, limit, is_64));
}

bool ktrace_chunk_accepted(struct source *s, uint64_t offset, uint64_t limit, bool is_64)
{
	/* Numbers in records often look like unknown tags: of such a chunk the size must lead to the end or to a known one. Through
	 * further unknown ones only where its tag lies where tags are allotted. */
	for (unsigned links = 0; links < 4; links++) {
		struct ktrace_chunk chunk, next;
		if (limit - offset < KTRACE_CHUNK_HEADER || !ktrace_chunk_read(s, offset, &chunk) || !chunk.tag)
			return false;
		if (chunk_is_known(s, &chunk, limit, is_64))
			return true;
		if (chunk.size > limit - offset - KTRACE_CHUNK_HEADER)
			return false;
		uint64_t end = ktrace_chunk_next(offset, chunk.size);
		if (end >= limit || limit - end < KTRACE_CHUNK_HEADER)
			return true;
		if (!ktrace_chunk_read(s, end, &next))
			return false;
		bool plausible = ktrace_chunk_plausible(s, offset, limit, is_64);
		if (chunk_is_known(s, &next, limit, is_64) && (plausible || next.tag != KTRACE_TAG_UNFINISHED))
			return true;
		if (!plausible)
			return false;
		offset = end;
	}
	return true;
}

bool ktrace_chunk_lands(struct source *s, uint64_t offset, uint64_t limit, bool is_64)
{
	struct ktrace_chunk chunk;

	if (limit - offset < KTRACE_CHUNK_HEADER || !ktrace_chunk_read(s, offset, &chunk) || !chunk.tag ||
	    chunk.size > limit - offset - KTRACE_CHUNK_HEADER)
		return false;
	offset = ktrace_chunk_next(offset, chunk.size);
	return offset >= limit || limit - offset < KTRACE_CHUNK_HEADER || ktrace_chunk_accepted(s, offset, limit, is_64);
}

bool ktrace_chunk_stands(struct source *s, uint64_t offset, uint64_t limit, bool is_64)
{
	struct ktrace_chunk chunk;
	return ktrace_chunk_plausible(s, offset, limit, is_64) && ktrace_chunk_read(s, offset, &chunk) &&
	       (ktrace_kind_find(chunk.tag) || ktrace_chunk_lands(s, offset, limit, is_64));
}

/* A candidate counts only when the chain behind it holds: records can contain the pattern of any chunk header. */
static bool chunk_chain_holds(struct ktrace_walk *w, uint64_t offset, uint64_t limit)
{
	bool known = false;

	for (unsigned links = 0; links < 4; links++) {
		struct ktrace_chunk chunk;
		if (!ktrace_chunk_plausible(w->source, offset, limit, w->is_64) || !ktrace_chunk_read(w->source, offset, &chunk))
			return false;
		if (chunk.size == KTRACE_SIZE_UNFINISHED)
			return known || chunk.tag == KTRACE_EVENTS;
		known |= ktrace_kind_find(chunk.tag) != NULL;
		uint64_t next = ktrace_chunk_next(offset, chunk.size);
		if (next >= limit)
			return true;
		/* The kernel's events chunks are 8 short. */
		if (chunk.tag == KTRACE_EVENTS && !ktrace_chunk_plausible(w->source, next, limit, w->is_64))
			next += 8;
		offset = next;
	}
	return true;
}

/* Whether a chunk that a chain holds on to starts there; cheap refusals first: versions are small, tags have few bits. */
static bool chunk_candidate(struct ktrace_walk *w, const uint8_t *p, uint64_t at, uint64_t limit)
{
	uint32_t tag = load_u32(p, false);
	return tag && load_u16(p + 6, false) <= 16 && (load_u16(p + 4, false) & ~KTRACE_SUBCHUNKS) <= 16 &&
	       (tag <= 0x20000 || tag == KTRACE_TAG_UNFINISHED || ktrace_kind_find(tag)) && chunk_chain_holds(w, at, limit);
}

/* In a long run of records there is always something that looks like a chunk: records in order are stepped over whole, and
 * only where one begins can a chunk begin, too. */
uint64_t ktrace_chunk_resync(struct ktrace_walk *w, uint64_t from, uint64_t limit, unsigned step)
{
	uint32_t record = ktrace_event_size(w->is_64);
	uint64_t in_order = 0; /* end of the records known to be in order */

	for (uint64_t at = from; limit >= KTRACE_CHUNK_HEADER && at <= limit - KTRACE_CHUNK_HEADER;) {
		const uint8_t *p = window_at(&w->window, at, KTRACE_CHUNK_HEADER);
		if (!p)
			return UINT64_MAX;
		if (chunk_candidate(w, p, at, limit))
			return at;
		if (at >= in_order)
			in_order = at + ktrace_events_in_order(w, at, limit) * record;
		at += at < in_order ? record : step;
	}
	return UINT64_MAX;
}

uint64_t ktrace_chunk_find_next(struct ktrace_walk *w, uint64_t from, uint64_t limit)
{
	uint64_t next = ktrace_chunk_resync(w, ktrace_align(from), limit, 8);
	/* Bytes may have been inserted or lost: try off the grid, too. */
	return next == UINT64_MAX ? ktrace_chunk_resync(w, from, limit, 1) : next;
}
