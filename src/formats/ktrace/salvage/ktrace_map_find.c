/* Resynchronising to the entries of a thread map. */
#include "formats/ktrace/salvage/ktrace_map_find.h"

#include "formats/ktrace/decode/ktrace_thread.h"

#define MAP_RUN 4u	/* entries in a row that are in step again */
#define MAP_BAD 2u	/* of those that are out of step, so many in a row are no entries */
#define MAP_GAP 8192u	/* bytes that may be inserted */
#define MAP_ROOM 65536u /* bytes after the map that may belong to it */

/* A thread, with a name that is padded with zeros, as kernels write it. */
static bool map_entry_is_strict(struct ktrace_input *in, uint64_t at, uint64_t limit)
{
	uint32_t size = ktrace_thread_size(in->is_64);
	const uint8_t *p = at <= limit && limit - at >= size ? window_at(&in->window, at, size) : NULL;

	if (!p)
		return false;
	struct ktrace_thread thread = ktrace_thread_decode(p, in->is_64);
	const uint8_t *end = memchr(thread.name, 0, KTRACE_NAME);
	return thread.tid && !(thread.tid >> KTRACE_TID_BITS) && thread.pid > 0 && thread.pid <= KTRACE_PID_MAX && thread.name[0] &&
	       end && !ktrace_thread_name_has_control(&thread) && bytes_are_zero(end, KTRACE_NAME - (size_t)(end - thread.name));
}

static bool map_entry_is_filler(struct ktrace_input *in, uint64_t at)
{
	uint32_t size = ktrace_thread_size(in->is_64);
	const uint8_t *p = window_at(&in->window, at, size);
	return p && bytes_are_zero(p, size);
}

unsigned ktrace_map_run(struct ktrace_input *in, uint64_t at, uint64_t limit, unsigned most)
{
	unsigned run = 0;
	while (run < most && map_entry_is_strict(in, at + (uint64_t)run * ktrace_thread_size(in->is_64), limit))
		run++;
	return run;
}

bool ktrace_map_goes_on(struct ktrace_input *in, uint64_t at, uint64_t limit)
{
	/* Fillers at the end are no damage, nor is an entry that is odd by itself. */
	return map_entry_is_strict(in, at, limit) || map_entry_is_filler(in, at) ||
	       ktrace_map_run(in, at + ktrace_thread_size(in->is_64), limit, MAP_BAD) == MAP_BAD;
}

/* The end of the entries from `at` on. */
static uint64_t map_end(struct ktrace_input *in, uint64_t at, uint64_t limit)
{
	uint32_t size = ktrace_thread_size(in->is_64);
	uint64_t end = at;

	/* One that is damaged may be among them. */
	for (unsigned bad = 0; bad < MAP_RUN && at < limit && limit - at >= size; at += size) {
		bool good = map_entry_is_strict(in, at, limit);
		bad = good ? 0 : bad + 1;
		end = good ? at + size : end;
	}
	return end;
}

struct ktrace_map_gap ktrace_map_gap_find(struct ktrace_input *in, uint64_t map, uint64_t threads, uint64_t limit)
{
	uint32_t size = ktrace_thread_size(in->is_64);
	uint64_t stated = map + threads * size, most = stated < limit && limit - stated > MAP_ROOM ? stated + MAP_ROOM : limit;
	struct ktrace_map_gap gap = { stated, stated, stated };
	uint64_t at = map;

	while (at < stated && ktrace_map_goes_on(in, at, limit))
		at += size;
	if (at >= stated || at == map)
		return gap;
	for (uint64_t from = at + 1; from < most && from - at <= MAP_GAP; from++) {
		if (ktrace_map_run(in, from, most, MAP_RUN) < MAP_RUN)
			continue;
		uint64_t end = map_end(in, from, most);
		/* Entries that end where the map does were overwritten in place. */
		if ((from - at) % size == 0 && end <= stated)
			return gap;
		return (struct ktrace_map_gap){ at, from, end };
	}
	return gap;
}

uint64_t ktrace_map_rest(struct ktrace_input *in, uint64_t limit, uint64_t *end)
{
	const uint32_t size = ktrace_thread_size(in->is_64);
	uint64_t map = 0;

	while (map < size && ktrace_map_run(in, map, limit, MAP_RUN) < MAP_RUN)
		map++;
	*end = map;
	for (uint64_t at = map; map < size && limit - at >= size && ktrace_map_goes_on(in, at, limit); at += size)
		if (map_entry_is_strict(in, at, limit))
			*end = at + size;
	return map;
}
