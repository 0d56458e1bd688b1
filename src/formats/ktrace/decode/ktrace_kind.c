/* The table of known kinds of chunks, and chunk headers. */
#include "formats/ktrace/decode/ktrace_kind.h"

#include "core/array.h"
#include "core/cursor.h"

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
	{ KTRACE_SUBFILE_RELATION, KTRACE_ANYWHERE, KTRACE_PLIST, 0, 0, false, "sub-file relationship" },
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
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) <= 64, "ktrace_chunks.singles has a bit a kind");

const struct ktrace_kind *ktrace_kind_find(uint32_t tag)
{
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);
	size_t i;
	array_search(i, count, kinds[i].tag < tag);
	return i < count && kinds[i].tag == tag ? &kinds[i] : NULL;
}

unsigned ktrace_kind_index(const struct ktrace_kind *kind)
{
	return (unsigned)(kind - kinds);
}

const char *ktrace_kind_name(uint32_t tag)
{
	const struct ktrace_kind *kind = ktrace_kind_find(tag);
	return kind ? kind->name : "unknown";
}

bool ktrace_kind_is_plist(const struct ktrace_kind *kind)
{
	return kind && kind->content == KTRACE_PLIST;
}

uint32_t ktrace_kind_fixed_size(const struct ktrace_kind *kind)
{
	return kind && kind->content == KTRACE_FIXED ? kind->size_min : 0;
}

struct ktrace_chunk ktrace_chunk_decode(const uint8_t bytes[KTRACE_CHUNK_HEADER], uint64_t offset)
{
	struct cursor c = cursor_make(bytes, KTRACE_CHUNK_HEADER, false);
	struct ktrace_chunk chunk = { .offset = offset };

	chunk.tag = cursor_u32(&c);
	chunk.major = cursor_u16(&c);
	chunk.minor = cursor_u16(&c);
	chunk.size = cursor_u64(&c);
	return chunk;
}

bool ktrace_chunk_is_placeholder(const struct ktrace_chunk *chunk)
{
	return chunk->tag == KTRACE_TAG_UNFINISHED && chunk->size == KTRACE_SIZE_UNFINISHED;
}

uint16_t ktrace_chunk_first_major(uint32_t tag)
{
	return tag == KTRACE_CPU_MAP ? 1 : 0;
}

bool ktrace_chunk_versions_are_small(const struct ktrace_chunk *chunk)
{
	return (chunk->major & ~KTRACE_SUBCHUNKS) <= 16 && chunk->minor <= 16;
}

uint64_t ktrace_chunk_whole(const struct ktrace_chunk *chunk, uint64_t size, bool is_64)
{
	uint32_t fixed = ktrace_kind_fixed_size(ktrace_kind_find(chunk->tag));

	if (chunk->tag == KTRACE_EVENTS && size >= 8)
		return size - (size - 8) % ktrace_event_size(is_64);
	if (chunk->tag == KTRACE_THREAD_MAP)
		return size - size % ktrace_thread_size(is_64);
	return fixed && size > fixed ? fixed : size;
}

bool ktrace_stackshot_begins(uint32_t word)
{
	return word == 0x59a25807 || word == 0xde17a59a || word == 0x434f4d50;
}
