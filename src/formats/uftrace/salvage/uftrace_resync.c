/* Where records go on: whether bytes are a record, by what surrounds them. */
#include "formats/uftrace/salvage/uftrace_resync.h"

#include "core/text.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_stream.h"

/* Whether bytes are a record is also judged by their time, which is at most so far ahead: about 19 hours. */
#define HORIZON (UINT64_C(1) << 46)

static bool event_known(const struct uftrace_walk *w, uint64_t id)
{
	unsigned min, max;
	return uftrace_event_length(id, 8, &min, &max) || (id >= UFTRACE_E_USER_FIRST && id < UFTRACE_E_EXTERN) ||
	       map_get(&w->records->event_ids, id) != UFTRACE_NONE;
}

/* Whether lines of the map are damaged that any address may be of. */
static bool is_open(const struct uftrace_map *map)
{
	return map->unreadable || map->nowhere;
}

/* Whether a record of that time can have that address. After exec another map holds. */
static bool place_fits(struct uftrace_stream *t, uint64_t time, uint64_t address)
{
	struct uftrace_walk *w = t->w;

	if (time >= t->session.since && time < t->session.next) {
		enum uftrace_place place = t->session.map ? uftrace_place_of(t, address) : UFTRACE_PLACE_UNCHECKED;
		return place == UFTRACE_PLACE_UNMAPPED ? is_open(t->session.map) || uftrace_map_has_orphan(w, address)
						       : place != UFTRACE_PLACE_KERNEL;
	}
	uint32_t session = uftrace_session_at(w->sessions, w->tasks, t->pid, time);
	uint32_t index = session != UFTRACE_NONE ? w->sessions->list[session].map : UFTRACE_NONE;
	const struct uftrace_map *map = index != UFTRACE_NONE ? &w->maps->list[index] : NULL;
	return !map || !uftrace_map_useful(map) || uftrace_map_find(map, address) || is_open(map) || w->sessions->library_count ||
	       uftrace_map_has_orphan(w, address);
}

uint64_t uftrace_resync_horizon(const struct uftrace_walk *w)
{
	return w->info->elapsed && w->info->elapsed < HORIZON / 10 ? w->info->elapsed * 10 : HORIZON;
}

/* What is expected of the next record of a row. */
struct row {
	uint64_t time; /* at or after this; 0: any */
	int depth;     /* of a call; -1: any */
	bool ended;    /* where this record ends is not known: the row ends well */
};

static bool row_lost(struct row *r, uint64_t time, uint64_t word)
{
	uint64_t count = uftrace_word_address(word);

	r->depth = -1;
	return !time && !uftrace_word_more(word) && count && !(count >> 40);
}

static bool row_call(struct uftrace_stream *t, struct row *r, uint64_t time, uint64_t word)
{
	uint64_t address = uftrace_word_address(word);
	int depth = (int)uftrace_word_depth(word);
	bool entry = uftrace_word_type(word) == UFTRACE_ENTRY;

	if (!address || !place_fits(t, time, address))
		return false;
	if (time >= t->session.next)
		r->depth = -1; /* exec starts over at depth 0 */
	if (r->depth >= 0 && depth != (entry ? r->depth : (r->depth - 1) & 1023) && !t->w->info->foreign)
		return false;
	r->depth = entry ? (depth + 1) & 1023 : depth;
	return true;
}

/* Whether p is record i of a row. */
static bool row_takes(struct uftrace_stream *t, struct row *r, const uint8_t *p, unsigned i)
{
	bool big = t->w->info->head.big_endian;
	uint64_t time = load_u64(p, big), word = load_u64(p + 8, big);
	enum uftrace_type type = uftrace_word_type(word);

	if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC)
		return false;
	if (type == UFTRACE_LOST)
		return row_lost(r, time, word);
	if (!time || time >= UFTRACE_TIME_MAX || (r->time && (time < r->time || time - r->time > uftrace_resync_horizon(t->w))))
		return false;
	r->time = time;
	r->ended = uftrace_word_more(word); /* the size of its payload is not checked here */
	if (type == UFTRACE_EVENT)
		return event_known(t->w, uftrace_word_address(word));
	return row_call(t, r, time, word) && (!r->ended || t->w->specs->present || i > 0);
}

/* Whether what looks like a mark of lost records is eight zeros of values, and the time of a call behind them. */
static bool are_zeros_and_call(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time)
{
	const uint8_t *p = end - at >= UFTRACE_RECORD_SIZE + 8 ? window_at(&t->window, at, UFTRACE_RECORD_SIZE + 8) : NULL;
	const bool big = t->w->info->head.big_endian;
	struct row r = { .time = time, .depth = -1 };

	return p && uftrace_word_type(load_u64(p + 8, big)) == UFTRACE_LOST &&
	       uftrace_word_type(load_u64(p + 16, big)) <= UFTRACE_EXIT && row_takes(t, &r, p + 8, 0);
}

static bool row(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, unsigned chain)
{
	struct row r = { .time = time, .depth = -1 };

	for (unsigned i = 0; i < chain && !r.ended; i++, at += UFTRACE_RECORD_SIZE) {
		if (at >= end || end - at < UFTRACE_RECORD_SIZE)
			return i > 0 || at == end;
		const uint8_t *p = window_at(&t->window, at, UFTRACE_RECORD_SIZE);
		if (!p || !row_takes(t, &r, p, i) || (!i && are_zeros_and_call(t, at, end, time)))
			return false;
	}
	return true;
}

uint64_t uftrace_resync_time(const struct uftrace_stream *t)
{
	uint64_t time = t->suspect ? t->back.time : t->time;

	return time && time < UFTRACE_TIME_MAX ? time : t->begin;
}

bool uftrace_resync_plausible(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, unsigned chain)
{
	uint64_t before = uftrace_resync_time(t);

	/* The time itself may be what is damaged. */
	return row(t, at, end, time, chain) || (before != time && row(t, at, end, before, chain));
}

bool uftrace_resync_goes_on(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, unsigned chain)
{
	return uftrace_resync_plausible(t, at, end, time, chain) ||
	       (t->begin && t->begin < time && row(t, at, end, t->begin, chain));
}

uint64_t uftrace_resync(struct uftrace_stream *t, uint64_t at, uint64_t limit, uint64_t end, uint64_t time)
{
	for (; at < limit && end - at >= UFTRACE_RECORD_SIZE; at++) {
		const uint8_t *p = window_at(&t->window, at, UFTRACE_RECORD_SIZE);
		if (!p)
			break;
		/* Cheap first: the magic. */
		uint64_t when = load_u64(p, t->w->info->head.big_endian), word = load_u64(p + 8, t->w->info->head.big_endian);
		bool again = t->started && when == t->last_time && word == t->last_word;
		if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC || again)
			continue;
		if (uftrace_resync_plausible(t, at, end, time, 3))
			return at;
		/* What comes before in time may be of a block at the wrong place, or be there a second time. */
		if (when < time && uftrace_resync_goes_on(t, at, end, time, 3) && !uftrace_copy_is_there(t, at))
			return at;
	}
	return end;
}

/* The size of a payload by search: the first after which records go on. -1: none. */
int uftrace_resync_payload(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, bool may_be_empty)
{
	for (unsigned size = may_be_empty ? 0 : 8; size <= UFTRACE_PAYLOAD_MAX && size <= end - at; size += 8)
		if (uftrace_resync_goes_on(t, at + size, end, time, 2))
			return (int)size;
	return -1;
}
