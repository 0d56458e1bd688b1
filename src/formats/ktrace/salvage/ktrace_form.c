/* Which form a file has, and what RAW files do not store. */
#include "formats/ktrace/salvage/ktrace_form.h"

#include <string.h>

#include "formats/ktrace/decode/ktrace_thread.h"
#include "formats/ktrace/salvage/ktrace_header_shift.h"
#include "formats/ktrace/scan/ktrace_chunk.h"

#define ODD_SHARE 4u	      /* one entry in so many, at most, was hit */
#define PIDS_LOOKED 8u	      /* entries whose process ids are looked at */
#define HEAD_RECORDS 8u	      /* behind the thread map, that are tested */
#define KTRACE_MAP_HOLE 1024u /* bytes of zeros among the entries of a thread map */

/* ---- version 0 ---- */

static bool entry_is_plausible(struct window *window, uint64_t at, uint32_t entry)
{
	const uint8_t *p = window_at(window, at, entry);
	if (!p || !load_u32(p, false))
		return false;
	struct ktrace_thread thread = ktrace_thread_decode(p, entry == ktrace_thread_size(true));
	return thread.name[0] && !ktrace_thread_name_has_control(&thread);
}

/* Whether the first entries of the map look like ones: an id that is not 0, and a name without control bytes before its end.
 * *hole: some are all zeros, or few are none. */
static bool raw0_plausible(struct window *window, uint64_t map, uint32_t threads, uint32_t entry, bool *hole)
{
	uint32_t odd = 0, seen = threads < 100 ? threads : 100;

	if (!threads || threads > KTRACE_RAW0_THREADS_MAX || window->source->size < map + (uint64_t)threads * entry)
		return false;
	for (uint32_t i = 0; i < threads && i < 100; i++) {
		if (entry_is_plausible(window, map + (uint64_t)i * entry, entry))
			continue;
		/* A map of one entry is that entry. */
		const uint8_t *p = threads > 1 ? window_at(window, map + (uint64_t)i * entry, entry) : NULL;
		if (!p || (!bytes_are_zero(p, entry) && odd++ > seen / ODD_SHARE))
			return false;
		*hole = true;
	}
	return true;
}

/* Process ids are small, but for one entry that may have been hit. */
static bool raw0_pids_are_small(struct window *window, uint64_t map, uint32_t threads, uint32_t entry)
{
	const uint32_t looked = threads < PIDS_LOOKED ? threads : PIDS_LOOKED;
	uint32_t odd = 0;

	for (uint32_t i = 0; i < looked || !i; i++) {
		const uint8_t *p = window_at(window, map + ((uint64_t)i + 1) * entry - KTRACE_NAME - 4, 4);
		odd += !p || load_u32(p, false) > KTRACE_PID_MAX;
	}
	return odd <= (looked > 1 ? 1u : 0u);
}

/* Where the thread map is, or (kept) that of the output. */
static uint64_t raw0_map(const struct ktrace_head *kept)
{
	return kept && kept->moved ? kept->map : 4;
}

/* What the output has behind so many bytes of its thread map: the end of the map, or not all of the records that are kept. */
static size_t kept_behind(struct window *window, const struct ktrace_head *kept, uint64_t map, uint64_t behind,
			  uint8_t bytes[KTRACE_HEAD])
{
	const uint64_t skip = behind > kept->end ? behind - kept->end : 0, left = behind < kept->end ? kept->end - behind : 0;
	const size_t before = left < KTRACE_HEAD ? (size_t)left : KTRACE_HEAD;
	const size_t there = skip < kept->length ? kept->length - (size_t)skip : 0;
	const size_t length = there < KTRACE_HEAD - before ? there : KTRACE_HEAD - before;

	if (before && source_read(window->source, map + behind, bytes, before) != TM_OK)
		return 0;
	memcpy(bytes + before, kept->bytes + (length ? skip : 0), length);
	return before + length;
}

/* How many tests the first eight records after the map fail; where there are none, as many as zeros do. kept: tests these records
 * instead. */
static unsigned raw0_failures(struct window *window, uint32_t threads, uint32_t entry, const struct ktrace_head *kept)
{
	bool is_64 = entry == 32;
	uint64_t at = 4 + (uint64_t)threads * entry, file = window->source->size;
	/* After a hole, aligned with the records before it. */
	uint64_t zeros = kept || at >= file ? 0 : window_skip_zeros(window, at) - at, size = ktrace_event_size(is_64);
	if (zeros >= size)
		at += (zeros + size - 1) / size * size; /* NOLINT(clang-analyzer-core.DivideZero): it is 32 or 64 */
	const uint64_t map = raw0_map(kept);
	uint8_t head[KTRACE_HEAD];
	uint64_t there = kept ? kept_behind(window, kept, map, (uint64_t)threads * entry, head) : at < file ? file - at : 0;
	unsigned records = there / size < HEAD_RECORDS ? (unsigned)(there / size) : HEAD_RECORDS;
	unsigned failures = kept ? ktrace_records_failures(head, (size_t)there, is_64, HEAD_RECORDS)
				 : ktrace_events_failures(window->source, at, file, is_64, HEAD_RECORDS);
	unsigned odd = raw0_pids_are_small(window, map, threads, entry) ? 0 : 64;
	return (records ? failures * HEAD_RECORDS / records : 2 * HEAD_RECORDS) + odd;
}

/* Process ids and the ends of names keep text from passing. */
static bool entry_is_strict(struct window *window, uint64_t at, uint32_t entry)
{
	const uint8_t *p = entry_is_plausible(window, at, entry) ? window_at(window, at, entry) : NULL;
	return p && load_u32(p + entry - KTRACE_NAME - 4, false) <= KTRACE_PID_MAX && !p[entry - 1];
}

/* How many entries there are before records begin; 0: unknown. A plausible entry is not a record. */
static uint32_t raw0_count(struct window *window, uint32_t entry)
{
	bool more = entry_is_strict(window, 4, entry);
	for (uint32_t count = 1; count <= KTRACE_RAW0_THREADS_MAX && more; count++) {
		more = entry_is_strict(window, 4 + (uint64_t)count * entry, entry);
		if (window->source->size - (4 + (uint64_t)count * entry) < ktrace_event_size(entry == 32))
			return 0;
		if (!more && !raw0_failures(window, count, entry, NULL))
			return count;
	}
	return 0;
}

struct ktrace_raw0 ktrace_raw0_find(struct window *window, uint32_t stored, const struct ktrace_head *kept)
{
	struct ktrace_raw0 found = { 0 };
	unsigned fewest = UINT32_MAX;
	const uint64_t map = raw0_map(kept);

	/* Without threads nothing but records can show what it is. */
	for (unsigned is_64 = 2; !stored && is_64--;) {
		uint32_t size = ktrace_event_size(is_64);
		if (kept ? kept->length >= size && !ktrace_records_failures(kept->bytes, kept->length, is_64, KTRACE_HEAD / size)
			 : ktrace_raw_rest_begins(window, 4, is_64))
			return (struct ktrace_raw0){ .entry = ktrace_thread_size(is_64) };
	}
	/* Where both widths look right, the events decide. */
	for (uint32_t entry = 28; entry <= 32; entry += 4) {
		bool hole = false;
		unsigned failures = raw0_plausible(window, map, stored, entry, &hole) ? raw0_failures(window, stored, entry, kept)
										      : UINT32_MAX;
		if (failures < fewest && !(hole && failures)) {
			found = (struct ktrace_raw0){ .entry = entry, .threads = stored };
			fewest = failures;
		}
	}
	if (!fewest || kept)
		return found;
	for (uint32_t entry = 28; entry <= 32; entry += 4) {
		uint32_t threads = raw0_count(window, entry);
		if (threads && threads != stored)
			return (struct ktrace_raw0){ .entry = entry, .threads = threads, .counted = true };
	}
	return found;
}

bool ktrace_raw0_is_sure(struct window *window, uint32_t stored)
{
	for (uint32_t entry = 28; entry <= 32; entry += 4) {
		const uint64_t records = (uint64_t)HEAD_RECORDS * ktrace_event_size(entry == 32);
		bool hole = false;
		if (window_left(window, 4 + (uint64_t)stored * entry) >= records &&
		    raw0_plausible(window, 4, stored, entry, &hole) && !hole && !raw0_failures(window, stored, entry, NULL))
			return true;
	}
	return false;
}

/* ---- thread maps ---- */

/* Whether the first entries of a thread map at `map` look like ones of that width, but for so many. */
static bool map_plausible(struct window *window, uint64_t map, uint64_t threads, uint32_t entry, uint64_t odd)
{
	for (uint64_t i = 0; i < threads && i < 100; i++) {
		uint64_t at = map + i * entry;
		const uint8_t *p = at + entry <= window->source->size ? window_at(window, at, entry) : NULL;
		if (!p)
			return i > 0;
		/* Where the count is damaged, the CPU map of version 1 may come first. */
		if (i && load_u32(p, false) == KTRACE_MAGIC_RAW1)
			return true;
		struct ktrace_thread thread = ktrace_thread_decode(p, entry == ktrace_thread_size(true));
		if (((!thread.tid && (thread.name[0] || !i)) || thread.tid >> KTRACE_TID_BITS || thread.pid < 0 ||
		     thread.pid > KTRACE_PID_MAX || ktrace_thread_name_has_control(&thread)) &&
		    !odd--)
			return false;
	}
	return true;
}

uint64_t ktrace_map_after_hole(struct window *window, uint64_t at, uint32_t entry)
{
	uint64_t zeros = at < window->source->size ? window_skip_zeros(window, at) - at : 0;
	/* Less than a thread id is the lower end of one. */
	if (zeros < (entry == ktrace_thread_size(true) ? 8 : 4))
		return at;
	return zeros <= KTRACE_MAP_HOLE ? at + (zeros + entry - 1) / entry * entry : at;
}

bool ktrace_map_is_of(struct window *window, uint64_t map, uint64_t threads, uint32_t entry)
{
	return map_plausible(window, ktrace_map_after_hole(window, map, entry), threads, entry, 0);
}

/* ---- version 1 ---- */

/* The page at which events start after a map that ends there; some writers add more pages of padding than are needed. */
static uint64_t raw1_events(struct window *window, uint64_t map_end)
{
	uint64_t page = ktrace_page_up(map_end);
	uint64_t stop = page < window->source->size ? window_skip_zeros(window, page) : page;
	return stop < window->source->size ? stop & ~(uint64_t)(KTRACE_PAGE - 1) : page;
}

/* Where the count leads out of the file: the first page at which records of either width begin. */
static uint64_t raw1_events_by_content(struct window *window, uint64_t limit)
{
	for (uint64_t page = KTRACE_PAGE; page < limit; page += KTRACE_PAGE)
		if (!ktrace_events_failures(window->source, page, limit, true, 8) ||
		    !ktrace_events_failures(window->source, page, limit, false, 16))
			return page;
	return limit;
}

bool ktrace_raw1_has_cpu_map(struct window *window, uint64_t at)
{
	const uint8_t *p = window_at(window, at, 8);
	return p && load_u32(p, false) == KTRACE_MAGIC_RAW1 && load_u32(p + 4, false) <= 1000;
}

/* Apple's readers probe 28-byte entries at 20, then at 24, then 32-byte ones at 24; of what passes, the one whose events
 * look real is taken. It is certain when no other passes, when a CPU map follows where this one's thread map ends, or when
 * the events of the others look much worse. */
static struct ktrace_raw1 raw1_find(struct window *window, uint64_t threads, const struct ktrace_head *kept, uint64_t odd)
{
	static const struct ktrace_raw1 forms[] = { { .map = 20 }, { .map = 24 }, { .map = 24, .is_64 = true } };
	struct ktrace_raw1 best = { .map = 24 };
	uint64_t limit = window->source->size;
	unsigned found = 0, fewest = UINT32_MAX, second = UINT32_MAX, marks = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t entry = ktrace_thread_size(forms[i].is_64);
		uint64_t map_end = forms[i].map + threads * entry;
		if (!map_plausible(window, forms[i].map, threads, entry, odd))
			continue;
		bool mark = ktrace_raw1_has_cpu_map(window, map_end);
		/* Pairs of 32-byte records can look like 64-byte ones and the other way round: fewest failures decide. */
		unsigned records = forms[i].is_64 ? 8 : 16, failures;
		if (kept)
			failures = ktrace_records_failures(kept->bytes, kept->length, forms[i].is_64, records);
		else
			failures = ktrace_events_failures(window->source,
							  map_end < limit ? raw1_events(window, map_end)
									  : raw1_events_by_content(window, limit),
							  limit, forms[i].is_64, records);
		if (mark ? !marks : !marks && failures < fewest) {
			second = fewest;
			fewest = failures;
			best = forms[i];
		} else if (failures < second && best.is_64 != forms[i].is_64) {
			second = failures;
		}
		marks += mark;
		found++;
	}
	best.certain = found == 1 || marks == 1 || (!marks && second != UINT32_MAX && second > 3 * fewest + 3);
	best.found = found != 0;
	return best;
}

struct ktrace_raw1 ktrace_raw1_find(struct window *window, uint64_t threads, const struct ktrace_head *kept)
{
	struct ktrace_raw1 found = raw1_find(window, threads, kept, 0);
	return found.found || threads < 2 ? found
					  : raw1_find(window, threads, kept, (threads < 100 ? threads : 100) / ODD_SHARE + 1);
}

/* ---- version 2 ---- */

#define SHIFT_MAX 64u /* bytes that were inserted in the header, or removed */

/* How many of the first `looked` entries of a thread map at `map` are strict ones of that width. */
static unsigned entries_strict(struct window *window, uint64_t map, unsigned looked, uint32_t entry)
{
	unsigned strict = 0;

	for (uint32_t i = 0; i < looked; i++)
		strict += entry_is_strict(window, map + (uint64_t)i * entry, entry);
	return strict;
}

bool ktrace_raw2_is_shifted(struct window *window, uint64_t threads)
{
	const unsigned looked = threads && threads < KTRACE_MAP_SAMPLE ? (unsigned)threads : KTRACE_MAP_SAMPLE;

	for (uint32_t entry = 28; entry <= 32; entry += 4)
		if (entries_strict(window, KTRACE_RAW2_HEADER, looked, entry) > looked / 4)
			return false;
	for (uint64_t map = KTRACE_RAW2_HEADER - SHIFT_MAX; map <= KTRACE_RAW2_HEADER + SHIFT_MAX; map++)
		for (uint32_t entry = 28; entry <= 32; entry += 4)
			if (map != KTRACE_RAW2_HEADER && entries_strict(window, map, looked, entry) > looked * 3 / 4)
				return true;
	return false;
}

/* ---- recognition ---- */

/* Whether the file looks like one of version 2, but for its first 32 bytes. */
static bool raw2_begins(struct window *window)
{
	const uint8_t *p = window_at(window, 0, KTRACE_RAW2_HEADER);
	return p && bytes_are_zero(p + 32, 256) &&
	       ktrace_map_is_of(window, KTRACE_RAW2_HEADER, KTRACE_MAP_SAMPLE, 28) !=
		       ktrace_map_is_of(window, KTRACE_RAW2_HEADER, KTRACE_MAP_SAMPLE, 32);
}

/* Whether the file looks like one of version 1, but for a byte of its magic number: a thread map, and records at the page behind.
 */
static bool raw1_begins(struct window *window, uint32_t word)
{
	const uint8_t *p = window_at(window, 0, 24);
	uint32_t threads = p ? load_u32(p + 4, false) : 0;

	if ((bytes_apart(word, KTRACE_MAGIC_RAW1) > 1 && bytes_apart(word, KTRACE_MAGIC_RAW1_OLD) > 1) || !threads ||
	    load_u32(p + 16, false) >= 1000000)
		return false;
	struct ktrace_raw1 form = raw1_find(window, threads, NULL, 0);
	uint64_t end = form.map + (uint64_t)threads * ktrace_thread_size(form.is_64), limit = window->source->size;
	return form.found && end < limit && !ktrace_events_failures(window->source, raw1_events(window, end), limit, form.is_64, 4);
}

/* Whether a valid header of version 3 follows the magic, and a chunk follows the header. Where the size of the header is none, two
 * known chunks must. */
static bool v3_header_is_valid(struct window *window)
{
	uint64_t file = window->source->size;
	const uint8_t *p = window_at(window, 0, KTRACE_HEADER);
	struct ktrace_chunk chunk;

	if (!p || !load_u32(p + 20, false) || load_u32(p + 40, false) >= 1000000)
		return false;
	bool is_64 = load_u32(p + 52, false) & KTRACE_FLAG_64,
	     sized = load_u64(p + 8, false) >= 40 && load_u64(p + 8, false) < file;
	if (!ktrace_chunk_plausible(window->source, KTRACE_HEADER, file, is_64) ||
	    !ktrace_chunk_read(window->source, KTRACE_HEADER, &chunk) || !ktrace_kind_find(chunk.tag) ||
	    !ktrace_chunk_is_chained(window->source, KTRACE_HEADER, file, is_64))
		return false;
	uint64_t next = ktrace_chunk_next(KTRACE_HEADER, chunk.size);
	return sized || (ktrace_chunk_plausible(window->source, next, file, is_64) &&
			 ktrace_chunk_read(window->source, next, &chunk) && ktrace_kind_find(chunk.tag));
}

struct ktrace_form ktrace_form_find(struct window *window, uint32_t word)
{
	if (word == KTRACE_MAGIC)
		return (struct ktrace_form){ .magic = word, .bits = 32 };
	if (word == KTRACE_MAGIC_RAW2 || word == KTRACE_MAGIC_RAW1 || word == KTRACE_MAGIC_RAW1_OLD)
		return (struct ktrace_form){ .magic = word, .raw = true, .bits = 32 };
	if (word == KTRACE_MAGIC_KERNEL) {
		const uint8_t *p = window_at(window, 0, KTRACE_HEADER);
		if (p && load_u16(p + 4, false) <= KTRACE_MAJOR_KERNEL && load_u64(p + 8, false) >= 40)
			return (struct ktrace_form){ .magic = word, .bits = 24 };
	}
	if (v3_header_is_valid(window))
		return (struct ktrace_form){ .magic = word, .bits = 12 };
	if (raw2_begins(window))
		return (struct ktrace_form){ .magic = KTRACE_MAGIC_RAW2, .raw = true, .bits = 12 };
	if (raw1_begins(window, word))
		return (struct ktrace_form){ .magic = bytes_apart(word, KTRACE_MAGIC_RAW1) <= 1 ? KTRACE_MAGIC_RAW1
												: KTRACE_MAGIC_RAW1_OLD,
					     .raw = true,
					     .bits = 12 };
	struct ktrace_raw0 raw0 = ktrace_raw0_find(window, word, NULL);
	if (raw0.entry)
		return (struct ktrace_form){ .magic = word, .raw = true, .bits = raw0.counted ? 8 : !word ? 20 : 17 };
	if (ktrace_first_chunk_find(window) != UINT64_MAX)
		return (struct ktrace_form){ .magic = word, .bits = 12 };
	struct ktrace_raw_rest rest = ktrace_raw_rest_find(window);
	if (rest.events == UINT64_MAX)
		return (struct ktrace_form){ .magic = word };
	return (struct ktrace_form){ .magic = word, .raw = true, .bits = 20, .lost = true, .rest = rest };
}
