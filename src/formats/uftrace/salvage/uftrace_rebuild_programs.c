/* Programs that a process began (exec), and whose session task.txt does not have: where the records of its task start over at depth
 * 0, directly behind a call, with an address of a program that another map has there.
 */
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"

#include "core/window.h"

struct search {
	const struct uftrace_dat *dat;
	uint32_t maps[UFTRACE_ORPHANS_MAX]; /* those that no session names; UFTRACE_NONE: one does by now */
	size_t count;
	const struct uftrace_map *map; /* what holds */
	uint64_t time, behind;	       /* of the last record, and where it ends */
	bool call;		       /* it is one */
};

/* The map that has another program at that address than the one that holds; s->count: none. */
static size_t other_program(const struct uftrace_walk *w, const struct search *s, uint64_t address)
{
	const struct uftrace_mapping *now = uftrace_map_find(s->map, address);
	size_t k = 0;

	for (; k < s->count; k++) {
		const struct uftrace_mapping *m = s->maps[k] == UFTRACE_NONE
							  ? NULL
							  : uftrace_map_find(&w->maps->list[s->maps[k]], address);
		if (m && m->path.text[0] != '[' && !(now && uftrace_str_equal(now->path, m->path)))
			break;
	}
	return k;
}

/* Records lie at multiples of eight; of values that look like one, the time is hardly right. */
static bool search_source(struct uftrace_walk *w, struct search *s, struct window *window, struct source *source)
{
	const bool big = w->info->head.big_endian;

	window_reset(window, source);
	for (uint64_t at = 0; at < source->size && source->size - at >= UFTRACE_RECORD_SIZE; at += 8) {
		const uint8_t *p = window_at(window, at, UFTRACE_RECORD_SIZE);
		if (!p)
			return window->status == TM_OK || uftrace_walk_fail(w, window->status);
		const uint64_t time = load_u64(p, big), word = load_u64(p + 8, big), address = uftrace_word_address(word);
		if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC || uftrace_word_type(word) > UFTRACE_EXIT || time < s->time ||
		    time - s->time > uftrace_resync_horizon(w))
			continue;
		const bool call = uftrace_word_type(word) == UFTRACE_ENTRY;
		const bool over = call && s->call && !uftrace_word_depth(word) && at - s->behind <= UFTRACE_PAYLOAD_MAX;
		const size_t k = over ? other_program(w, s, address) : s->count;
		if (k < s->count) {
			if (!uftrace_rebuild_program(w, s->maps[k], s->dat, time > s->time ? time - 1 : time))
				return false;
			s->map = &w->maps->list[s->maps[k]];
			s->maps[k] = UFTRACE_NONE;
		} else if (!uftrace_map_find(s->map, address)) {
			continue;
		}
		s->time = time;
		s->call = call;
		s->behind = at + UFTRACE_RECORD_SIZE;
		at += UFTRACE_RECORD_SIZE - 8;
	}
	return window->status == TM_OK || uftrace_walk_fail(w, window->status);
}

bool uftrace_rebuild_programs(struct uftrace_walk *w)
{
	struct search s = { 0 };
	struct window window = { 0 };
	bool good = true;

	if (w->tasks->damage && !w->info->foreign && !w->tasks->legacy_text)
		s.count = uftrace_rebuild_maps_left(w, s.maps, UFTRACE_ORPHANS_MAX);
	for (size_t i = 0; s.count && good && i < w->records->dat_count; i++) {
		const struct uftrace_dat *dat = &w->records->dats[i];
		const uint32_t session = dat->file != UFTRACE_NONE ? uftrace_rebuild_first_session(w, dat) : UFTRACE_NONE;
		const uint32_t map = session != UFTRACE_NONE ? uftrace_map_of(w, w->sessions->list[session].sid) : UFTRACE_NONE;
		if (map == UFTRACE_NONE)
			continue;
		s.dat = dat;
		s.map = &w->maps->list[map];
		s.time = dat->first_time;
		s.call = false;
		struct source *source = w->dir->files[dat->file].source;
		if (!window.source)
			window_open(&window, source);
		good = search_source(w, &s, &window, source);
	}
	if (window.source)
		window_close(&window);
	return good && w->status == TM_OK;
}
