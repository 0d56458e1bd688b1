/* When records were: bins of time, whose width doubles until all records fit. The range of the times is not known beforehand, and
 * a damaged time may be anything: what is far from the others is counted on a scale of its own, and joined only if it is many. */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "report/report_map.h"

/* A time is far when the bins would have to be so much wider, as a power of two. */
#define FAR_SHIFT 3u
/* Scales are joined where the bins become wider by no more than so much, or where so large a part of the records is far: a smaller
 * one does if these are near each other, since damaged times are everywhere. */
#define JOIN_SHIFT 2u
#define JOIN_PART 8u
#define JOIN_PART_NEAR 64u

uint64_t report_hash(const char *text)
{
	uint64_t hash = text_hash(text, strlen(text));

	return hash == MAP_NONE ? 0 : hash;
}

void report_times_free(struct report_times *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->tracks[i].name);
	free(t->tracks);
	map_free(&t->names);
}

/* ---- scales ---- */

/* By how much the bins become wider if a time is to fit. */
static unsigned scale_wider(const struct report_scale *s, uint64_t time)
{
	uint64_t first = s->first << s->shift, last = first;
	unsigned shift = s->shift;

	if (!s->total)
		return 0;
	if (s->first + REPORT_TRACK_BINS - 1 <= UINT64_MAX >> s->shift)
		last = (s->first + REPORT_TRACK_BINS - 1) << s->shift;
	else
		last = UINT64_MAX;
	if (time >= first && time >> shift <= last >> shift)
		return 0;
	/* From the earlier end to the later one. Below, the last bin stays the last. */
	uint64_t low = time < first ? time : first, high = time < first ? last : time;
	while (shift < 63 && (high >> shift) - (low >> shift) >= REPORT_TRACK_BINS)
		shift++;
	return shift - s->shift;
}

/* Moves the bins of one track to a scale that is wider. */
static void track_widen(struct report_track *k, unsigned of, const struct report_scale *from, const struct report_scale *to)
{
	uint32_t counts[REPORT_TRACK_BINS] = { 0 };
	uint8_t flags[REPORT_TRACK_BINS] = { 0 };

	for (uint64_t i = 0; i < REPORT_TRACK_BINS; i++) {
		uint64_t bin = ((from->first + i) >> (to->shift - from->shift)) - to->first;
		if (bin >= REPORT_TRACK_BINS)
			continue; /* beyond the last time: nothing is in it */
		counts[bin] += k->counts[of][i];
		flags[bin] |= k->flags[of][i];
	}
	memcpy(k->counts[of], counts, sizeof(counts));
	memcpy(k->flags[of], flags, sizeof(flags));
}

/* Makes room for a time. */
static void scale_widen(struct report_times *t, unsigned of, uint64_t time)
{
	struct report_scale *s = &t->scale[of], to = *s;

	if (!s->total) {
		*s = (struct report_scale){ .first = time };
		return;
	}
	unsigned wider = scale_wider(s, time);
	if (!wider && time >> s->shift >= s->first)
		return;
	for (to.shift += wider;; to.shift++) {
		uint64_t low = s->first >> (to.shift - s->shift), at = time >> to.shift;
		to.first = at < low ? at : low;
		/* The last bin in use is the last one there is, at worst. */
		uint64_t end = (s->first + REPORT_TRACK_BINS - 1) >> (to.shift - s->shift);
		end = at > end ? at : end;
		if (end - to.first < REPORT_TRACK_BINS || to.shift >= 63)
			break;
	}
	for (size_t i = 0; i < t->count; i++)
		track_widen(&t->tracks[i], of, s, &to);
	*s = to;
}

static void scales_swap(struct report_times *t)
{
	struct report_scale scale = t->scale[0];

	t->scale[0] = t->scale[1];
	t->scale[1] = scale;
	for (size_t i = 0; i < t->count; i++) {
		struct report_track *k = &t->tracks[i];
		for (size_t b = 0; b < REPORT_TRACK_BINS; b++) {
			uint32_t count = k->counts[0][b];
			uint8_t flag = k->flags[0][b];
			k->counts[0][b] = k->counts[1][b];
			k->flags[0][b] = k->flags[1][b];
			k->counts[1][b] = count;
			k->flags[1][b] = flag;
		}
	}
}

/* The scale for a time. */
static unsigned times_scale(struct report_times *t, uint64_t time)
{
	unsigned of = scale_wider(&t->scale[0], time) > FAR_SHIFT;

	scale_widen(t, of, time);
	t->scale[of].total++;
	if (t->scale[1].total > t->scale[0].total) {
		scales_swap(t);
		of = !of;
	}
	return of;
}

/* First and last bin in use of a scale. */
static bool scale_extent(const struct report_times *t, unsigned of, uint64_t *first, uint64_t *last)
{
	bool any = false;

	for (size_t i = 0; i < t->count; i++)
		for (uint64_t b = 0; b < REPORT_TRACK_BINS; b++) {
			if (!t->tracks[i].counts[of][b])
				continue;
			*first = !any || b < *first ? b : *first;
			*last = !any || b > *last ? b : *last;
			any = true;
		}
	*first += t->scale[of].first;
	*last += t->scale[of].first;
	return any;
}

/* How far times are from a scale that has none of them; 0: they are around it. */
static uint64_t scale_distance(const struct report_scale *s, uint64_t first, uint64_t last)
{
	uint64_t begin = s->first << s->shift, end = begin + ((uint64_t)(REPORT_TRACK_BINS - 1) << s->shift);

	return last < begin ? begin - last : first > end && end >= begin ? first - end : 0;
}

void report_times_settle(struct report_times *t)
{
	uint64_t first = 0, last = 0;

	if (!t->scale[1].total || !scale_extent(t, 1, &first, &last))
		return;
	unsigned shift = t->scale[1].shift;
	first <<= shift;
	last <<= shift;
	unsigned wider = scale_wider(&t->scale[0], first), other = scale_wider(&t->scale[0], last);
	wider = wider > other ? wider : other;
	bool near = last - first <= scale_distance(&t->scale[0], first, last);
	if (wider > JOIN_SHIFT && t->scale[1].total < t->scale[0].total / (near ? JOIN_PART_NEAR : JOIN_PART))
		return;
	scale_widen(t, 0, first);
	scale_widen(t, 0, last);
	while (t->scale[0].shift < shift) { /* bins of the other scale are wider: they have only one place then */
		struct report_scale to = { t->scale[0].first >> 1, t->scale[0].total, t->scale[0].shift + 1 };
		for (size_t i = 0; i < t->count; i++)
			track_widen(&t->tracks[i], 0, &t->scale[0], &to);
		t->scale[0] = to;
	}
	for (size_t i = 0; i < t->count; i++)
		for (uint64_t b = 0; b < REPORT_TRACK_BINS; b++) {
			struct report_track *k = &t->tracks[i];
			uint64_t bin = (((t->scale[1].first + b) << shift) >> t->scale[0].shift) - t->scale[0].first;
			if (bin >= REPORT_TRACK_BINS)
				continue;
			k->counts[0][bin] += k->counts[1][b];
			k->flags[0][bin] |= k->flags[1][b];
			k->counts[1][b] = 0;
			k->flags[1][b] = 0;
		}
	t->scale[0].total += t->scale[1].total;
	t->scale[1].total = 0;
}

/* ---- tracks ---- */

/* The track of that name; beyond REPORT_TRACKS the last one, for all others. UINT32_MAX: out of memory. */
static uint32_t times_track(struct report_times *t, const char *name)
{
	if (t->count && !strcmp(t->tracks[t->current].name, name))
		return t->current;
	uint64_t hash = report_hash(name);
	uint32_t index = map_get(&t->names, hash);
	if (index != MAP_NONE)
		return index;
	bool rest = t->count >= REPORT_TRACKS;
	if (!rest || t->count == REPORT_TRACKS) {
		if (array_room(&t->tracks, &t->capacity, t->count, sizeof(*t->tracks), REPORT_TRACKS + 1) != TM_OK)
			return UINT32_MAX;
		char *copy = strdup(rest ? "" : name);
		if (!copy)
			return UINT32_MAX;
		memset(&t->tracks[t->count], 0, sizeof(*t->tracks));
		t->tracks[t->count++].name = copy;
	}
	index = (uint32_t)(rest ? REPORT_TRACKS : t->count - 1);
	/* So many names are told apart; further ones are counted again when they come back. */
	enum tracemend_status status = map_set(&t->names, hash, index, 65536);
	if (status == TM_NO_MEMORY)
		return UINT32_MAX;
	t->merged += rest && status == TM_OK;
	return index;
}

static void times_gap(struct report_times *t, uint32_t track, unsigned of, uint64_t time, enum report_gap_why why, uint64_t lost)
{
	struct report_track *k = &t->tracks[track];
	const struct report_scale *s = &t->scale[of];
	uint64_t from = k->timed && k->last <= time ? k->last : time;
	uint64_t end = (time >> s->shift) - s->first, begin = from >> s->shift;

	begin = begin > s->first ? begin - s->first : 0;
	for (uint64_t b = begin; b <= end && b < REPORT_TRACK_BINS; b++)
		k->flags[of][b] |= (uint8_t)(1u << why);
	k->gaps++;
	t->gaps++;
	if (t->listed < REPORT_GAPS)
		t->list[t->listed++] = (struct report_gap){ track, why, from, time, lost };
}

static void times_lose(struct report_track *k, uint64_t lost)
{
	bool unknown = lost == TM_LOST_UNKNOWN;

	k->waits = true;
	k->lost_some |= unknown;
	if (unknown)
		return;
	k->lost = lost > UINT64_MAX - k->lost ? UINT64_MAX : k->lost + lost;
	k->waiting = lost > UINT64_MAX - k->waiting ? UINT64_MAX : k->waiting + lost;
}

bool report_times_take(struct report_times *t, const struct tracemend_record *r, bool gap)
{
	if (r->rule) {
		t->damaged = true;
		t->damaged_file = report_hash(r->file);
		return true;
	}
	t->dropped |= gap;
	uint32_t track = times_track(t, r->track);
	if (track == UINT32_MAX)
		return false;
	struct report_track *k = &t->tracks[track];
	t->current = track;
	k->total++;
	if (r->lost)
		times_lose(k, r->lost);
	if (!r->timed) {
		t->untimed++;
		return true;
	}
	t->unit = r->unit;
	unsigned of = times_scale(t, r->time);
	const struct report_scale *s = &t->scale[of];
	uint64_t bin = (r->time >> s->shift) - s->first;
	if (bin < REPORT_TRACK_BINS && k->counts[of][bin] < UINT32_MAX)
		k->counts[of][bin]++;
	if (k->waits)
		times_gap(t, track, of, r->time, REPORT_GAP_RECORDER, k->waiting);
	bool damaged = t->damaged && t->damaged_file == report_hash(r->file);
	if (t->dropped)
		times_gap(t, track, of, r->time, REPORT_GAP_DROPPED, 0);
	else if (damaged)
		times_gap(t, track, of, r->time, REPORT_GAP_DAMAGE, 0);
	t->damaged &= !damaged;
	t->dropped = k->waits = false;
	k->waiting = 0;
	k->last = r->time;
	k->timed = true;
	return true;
}
