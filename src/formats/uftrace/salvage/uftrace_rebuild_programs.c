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

#define BACK_MAX (UFTRACE_RECORD_SIZE + UFTRACE_PAYLOAD_MAX) /* from a record to the one in front of it */

struct search {
	struct window window;
	const struct uftrace_dat *dat;
	uint32_t maps[UFTRACE_ORPHANS_MAX]; /* those that no session names; UFTRACE_NONE: one does by now */
	size_t count;
	const struct uftrace_map *map; /* what holds in [since, next); NULL: nothing */
	uint64_t since, next;
};

/* The session of the process that task.txt has at that time. */
static void follow_lines(struct uftrace_walk *w, struct search *s, uint64_t time)
{
	const int64_t pid = (int64_t)s->dat->tid;
	const uint32_t session = uftrace_session_at(w->sessions, w->tasks, pid, time);
	const uint32_t map = session != UFTRACE_NONE ? uftrace_map_of(w, w->sessions->list[session].sid) : UFTRACE_NONE;

	s->map = map != UFTRACE_NONE ? &w->maps->list[map] : NULL;
	s->since = session != UFTRACE_NONE ? w->sessions->list[session].time : time;
	s->next = uftrace_session_next(w->sessions, pid, time);
}

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

/* The time of the call that is the record in front of `at`; 0: that is none, or records were lost between, or the depth comes
 * round. Records lie at multiples of eight; of values that look like one, the address or the time is hardly right. */
static uint64_t call_before(const struct uftrace_walk *w, struct search *s, uint64_t at, uint64_t time)
{
	const bool big = w->info->head.big_endian;
	const uint64_t first = at > BACK_MAX ? at - BACK_MAX : 0;
	const uint8_t *p = window_at(&s->window, first, (size_t)(at - first));

	for (uint64_t back = UFTRACE_RECORD_SIZE; p && back <= at - first; back += 8) {
		const uint8_t *record = p + (at - first - back);
		const uint64_t when = load_u64(record, big), word = load_u64(record + 8, big);
		const enum uftrace_type type = uftrace_word_type(word);
		if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC)
			continue;
		if (type == UFTRACE_LOST && !when)
			return 0;
		if (type > UFTRACE_EXIT || !uftrace_map_find(s->map, uftrace_word_address(word)))
			continue;
		return type == UFTRACE_ENTRY && uftrace_word_depth(word) != UFTRACE_DEPTH_MASK && when >= s->since && when <= time
			       ? when
			       : 0;
	}
	return 0;
}

static bool search_source(struct uftrace_walk *w, struct search *s, struct source *source)
{
	const bool big = w->info->head.big_endian;

	for (uint64_t at = 0; at < source->size && source->size - at >= UFTRACE_RECORD_SIZE; at += 8) {
		const uint8_t *p = window_at(&s->window, at, UFTRACE_RECORD_SIZE);
		if (!p)
			break;
		const uint64_t time = load_u64(p, big), word = load_u64(p + 8, big);
		if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC || uftrace_word_type(word) != UFTRACE_ENTRY ||
		    uftrace_word_depth(word) || time < s->since || time - s->since > uftrace_resync_horizon(w))
			continue;
		if (time >= s->next)
			follow_lines(w, s, time);
		const size_t k = s->map ? other_program(w, s, uftrace_word_address(word)) : s->count;
		const uint64_t before = k < s->count ? call_before(w, s, at, time) : 0;
		if (!before)
			continue;
		if (!uftrace_rebuild_program(w, s->maps[k], s->dat, at, before < time ? time - 1 : time))
			return false;
		s->map = &w->maps->list[s->maps[k]];
		s->maps[k] = UFTRACE_NONE;
		s->since = time;
	}
	return s->window.status == TM_OK || uftrace_walk_fail(w, s->window.status);
}

bool uftrace_rebuild_programs(struct uftrace_walk *w)
{
	struct search s = { 0 };
	bool good = true;

	if (!w->info->foreign && !w->tasks->legacy_text)
		s.count = uftrace_rebuild_maps_left(w, s.maps, UFTRACE_ORPHANS_MAX);
	for (size_t i = 0; s.count && good && i < w->records->dat_count; i++) {
		const struct uftrace_dat *dat = &w->records->dats[i];
		const uint32_t session = dat->file != UFTRACE_NONE ? uftrace_rebuild_first_session(w, dat) : UFTRACE_NONE;
		const uint32_t map = session != UFTRACE_NONE ? uftrace_map_of(w, w->sessions->list[session].sid) : UFTRACE_NONE;
		if (map == UFTRACE_NONE)
			continue;
		struct source *source = w->dir->files[dat->file].source;
		s.dat = dat;
		s.map = &w->maps->list[map];
		s.since = dat->first_time;
		s.next = uftrace_session_next(w->sessions, (int64_t)dat->tid, dat->first_time);
		if (s.window.source)
			window_reset(&s.window, source);
		else
			window_open(&s.window, source);
		good = search_source(w, &s, source);
	}
	if (s.window.source)
		window_close(&s.window);
	return good && w->status == TM_OK;
}
