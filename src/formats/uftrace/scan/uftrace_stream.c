/* TID.dat: the records of a task, streamed. The fast path takes most of them; the rest is checked one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/uftrace/repair/uftrace_repair_dat.h"
#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_task.h"

/* Entries of the cache of addresses, fewer for a small capture; powers of two. */
#define PLACES_MIN 256u
#define PLACES_MAX 8192u

/* ---- one item ---- */

/* By so much times of returns that were estimated, halfway between two records, may cross: most calls are shorter. */
#define CROSSING_MOST (UINT64_C(1000) * 1000)

/* *suspect: it may be a part of the damage behind it; *odd: it is wrong itself. */
static void check_time(struct uftrace_stream *t, uint64_t at, uint64_t time, bool *suspect, bool *odd)
{
	struct uftrace_walk *w = t->w;
	const bool ahead = t->ahead;
	struct finding *fd;

	t->ahead = false;
	if (!time) {
		uftrace_fold(t, &t->folds.zero, UFTRACE_RULE_dat_time_zero, at, 8, "the record has time 0");
		*suspect = *odd = true;
		return;
	}
	if (t->started && time < t->time) {
		bool estimated = w->info->head.feat & UFTRACE_BIT(UFTRACE_F_ESTIMATE_RETURN);
		/* The jump ahead that came before it is the cause. */
		if (ahead && t->last_time == t->time && time >= t->back.time) {
			finding_explains(t->folds.far.finding, 1);
		} else {
			/* Times of returns that were estimated may cross. */
			enum tracemend_severity severity = estimated ? TM_NOTE : TM_WARNING;
			fd = uftrace_fold_milder(t, &t->folds.backward, UFTRACE_RULE_dat_time_backward, severity, at,
						 UFTRACE_RECORD_SIZE,
						 "time %llu ns is before that of the record in front of it, %llu ns",
						 (unsigned long long)time, (unsigned long long)t->time);
			if (fd)
				finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
			/* Which of the two is wrong is not known. */
			*odd = !estimated || t->time - time > CROSSING_MOST;
			if (*odd)
				uftrace_repair_doubt_last(t, at);
		}
		*suspect = true;
	}
	uint64_t span = w->info->elapsed && w->info->elapsed < UINT64_MAX / 10 ? w->info->elapsed * 10 : UINT64_C(1) << 62;
	if (time >= UFTRACE_TIME_MAX || (t->started && time > t->time && time - t->time > span)) {
		fd = uftrace_fold(t, &t->folds.far, UFTRACE_RULE_dat_time_far, at, UFTRACE_RECORD_SIZE,
				  "time %llu ns is far ahead of the record in front of it", (unsigned long long)time);
		if (fd)
			finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
		*suspect = *odd = t->ahead = true;
	}
	if (!t->started && t->begin && time < t->begin) {
		fd = finding_milder(w->findings, UFTRACE_RULE_dat_time_before_task, TM_WARNING, t->source, at, UFTRACE_RECORD_SIZE);
		finding_say(fd, "the first record has time %llu ns, and task.txt begins the task at %llu ns",
			    (unsigned long long)time, (unsigned long long)t->begin);
		finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
		*odd = true;
	}
}

static void check_place(struct uftrace_stream *t, uint64_t at, uint64_t address, bool *placed)
{
	struct finding *fd;

	switch (uftrace_place_of(t, address)) {
	case UFTRACE_PLACE_UNMAPPED:
		*placed = false;
		fd = uftrace_fold(t, &t->folds.unmapped, UFTRACE_RULE_dat_address_unmapped, at, UFTRACE_RECORD_SIZE,
				  "no mapping has the address 0x%llx", (unsigned long long)address);
		if (fd)
			finding_field(fd, uftrace_word_at(t->w, at, 2, 6), 6, "address = 0x%llx", (unsigned long long)address);
		break;
	case UFTRACE_PLACE_KERNEL:
		*placed = false;
		fd = uftrace_fold(t, &t->folds.kernel, UFTRACE_RULE_dat_address_kernel_range, at, UFTRACE_RECORD_SIZE,
				  "address 0x%llx is not one of a program", (unsigned long long)address);
		if (fd)
			finding_field(fd, uftrace_word_at(t->w, at, 2, 6), 6, "address = 0x%llx", (unsigned long long)address);
		break;
	case UFTRACE_PLACE_NO_SYMBOL:
		uftrace_fold(t, &t->folds.no_symbol, UFTRACE_RULE_dat_address_unsymbolised, at, UFTRACE_RECORD_SIZE,
			     "no symbol has the address 0x%llx", (unsigned long long)address);
		break;
	case UFTRACE_PLACE_MAPPED:
	case UFTRACE_PLACE_UNCHECKED:
		break;
	}
}

static uint64_t walk_lost(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word)
{
	uint64_t count = uftrace_word_address(word), next = at + UFTRACE_RECORD_SIZE;
	struct finding *fd;

	if (uftrace_word_more(word)) {
		if (!uftrace_resync_plausible(t, next, end, t->time, 2))
			return 0;
		fd = uftrace_fold(t, &t->folds.lost_more, UFTRACE_RULE_dat_lost_more, at, UFTRACE_RECORD_SIZE,
				  "a record of lost events says that it has arguments: readers stop here");
		if (fd)
			finding_field(fd, uftrace_word_at(t->w, at, 0, 1), 1, "more = 1");
		uftrace_repair_strip(t, at, next, word, UFTRACE_RULE_dat_lost_more);
	} else if (!count) {
		uftrace_fold_milder(t, &t->folds.lost_more, UFTRACE_RULE_dat_lost_more, TM_WARNING, at, UFTRACE_RECORD_SIZE,
				    "a record of lost events that counts none");
	}
	if (time) {
		finding_report(t->w->findings, UFTRACE_RULE_dat_lost, t->source, at, UFTRACE_RECORD_SIZE,
			       "a record of lost events has time %llu; recorders store 0", (unsigned long long)time);
		t->suspect = true;
		uftrace_repair_doubt_record(t, at, next);
	} else {
		uftrace_fold_milder(t, &t->folds.lost, UFTRACE_RULE_dat_lost, TM_NOTE, at, UFTRACE_RECORD_SIZE,
				    "the recorder lost %llu record%s here", (unsigned long long)count, uftrace_plural(count));
	}
	t->lost_records += count;
	t->unknown = t->depth;
	t->find_depth = true;
	return next;
}

/* What walk_item() goes back to when a record turns out to be a part of the damage behind it. */
static void remember(struct uftrace_stream *t, uint64_t at)
{
	t->back.behind_values = t->back.at + UFTRACE_RECORD_SIZE < at;
	t->back.at = at;
	t->back.time = t->time;
	t->back.last_time = t->last_time;
	t->back.last_word = t->last_word;
}

/* No record follows that makes sense: it is cut off at the end, or damaged. Returns where records go on. */
static uint64_t walk_incomplete(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time)
{
	if (t->window.status != TM_OK)
		return end;
	if (end - at > UFTRACE_RECORD_SIZE + UFTRACE_PAYLOAD_MAX || uftrace_resync(t, at + 1, end, end, time) != end)
		return uftrace_damage(t, at, end);
	struct finding *fd = finding_report(t->w->findings, UFTRACE_RULE_dat_trailing_bytes, t->source, at, end - at,
					    "the arguments of the last record are incomplete");
	finding_path(fd, "task %llu > record %llu", (unsigned long long)t->dat->tid, (unsigned long long)t->dat->records);
	uftrace_repair_leave(t, at, end, UFTRACE_RULE_dat_trailing_bytes, "an incomplete record");
	t->output.lost_some = true;
	return end;
}

/* A call, a return or an event that is a record, up to `next`. rule: its payload goes; UFTRACE_RULE_COUNT: it stays. */
static void walk_record(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word, unsigned rule)
{
	unsigned depth = t->depth, unknown = t->unknown;
	bool suspect = false, odd = false, placed = true;

	t->dat->records++;
	if (t->w->s->sink)
		uftrace_record_give(t, at, next, time, word);
	check_time(t, at, time, &suspect, &odd);
	if (uftrace_word_type(word) != UFTRACE_EVENT) {
		check_place(t, at, uftrace_word_address(word), &placed);
		bool nested = uftrace_nest(t, at, word);
		odd |= !placed || !nested;
		suspect |= !placed || !nested;
	}
	if (odd) {
		/* What begins at the wrong record may have begun in the values before it. */
		if (t->started && t->back.at + UFTRACE_RECORD_SIZE < at)
			uftrace_repair_doubt_values(t, t->back.at, at);
		uftrace_repair_doubt_record(t, at, next);
	}
	if (!placed)
		uftrace_repair_doubt_behind(t, next);
	t->started = true;
	t->session.changed = false;
	if (rule != UFTRACE_RULE_COUNT)
		uftrace_repair_strip(t, at, next, word, rule);
	remember(t, at);
	t->suspect = suspect && next == at + UFTRACE_RECORD_SIZE;
	t->back.depth = depth;
	t->back.unknown = unknown;
	/* A time from before the task, among those of it, is not one to go on from: it is a part of another recording. */
	bool stray = t->begin && time < t->begin && t->time >= t->begin;
	if (!stray)
		t->time = time;
	t->last_time = time;
	t->last_word = word;
	/* From here on the fast path may go, up to what would be a new session or a jump; but not behind a time that is itself in
	 * doubt, or that the session does not cover. */
	uint64_t limit = time + uftrace_resync_horizon(t->w);
	t->time_limit = limit < t->session.next ? limit : t->session.next;
	if (t->time_limit > UFTRACE_TIME_MAX)
		t->time_limit = UFTRACE_TIME_MAX;
	if (!time || time >= UFTRACE_TIME_MAX || time < t->session.since || stray)
		t->time_limit = 0;
	if (time > t->dat->last_time && time < UFTRACE_TIME_MAX)
		t->dat->last_time = time;
}

/* Whether the line of the task comes too late, and not the first record, at `at`, too early: the next one is as early. */
static bool line_is_late(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t end, uint64_t time)
{
	struct uftrace_walk *w = t->w;

	if (t->started || !time || time >= t->begin || !w->specs->present || next >= end ||
	    uftrace_session_reaches(w->tasks, (int64_t)t->dat->tid, time) || !uftrace_resync_plausible(t, next, end, time, 2))
		return false;
	const uint8_t *p = window_at(&t->window, next, 8);
	return p && load_u64(p, w->info->head.big_endian) < t->begin &&
	       uftrace_rebuild_task_time(w, t->dat->tid, t->source, at, time);
}

/* Where the record that is no mark of lost ones ends; 0: nowhere. *rule: see uftrace_payload() and uftrace_event(). */
static uint64_t behind_record(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word, unsigned *rule)
{
	if (uftrace_word_type(word) == UFTRACE_EVENT)
		return uftrace_event(t, at, end, time, word, rule);
	return uftrace_word_more(word) ? uftrace_payload(t, at, end, time, word, rule) : at + UFTRACE_RECORD_SIZE;
}

/* One item at `at`: what the fast path does not take. Returns where the next one begins; what is damaged is dealt with. */
static uint64_t walk_item(struct uftrace_stream *t, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= UFTRACE_RECORD_SIZE ? window_at(&t->window, at, UFTRACE_RECORD_SIZE) : NULL;
	bool big = t->w->info->head.big_endian;

	if (!p)
		return t->window.status == TM_OK ? uftrace_damage(t, at, end) : end;
	uint64_t time = load_u64(p, big), word = load_u64(p + 8, big), next = at + UFTRACE_RECORD_SIZE;
	enum uftrace_type type = uftrace_word_type(word);
	bool call = type == UFTRACE_ENTRY || type == UFTRACE_EXIT;
	unsigned rule = UFTRACE_RULE_COUNT;
	if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC)
		return uftrace_damage(t, at, end);
	if (type == UFTRACE_LOST) {
		next = walk_lost(t, at, end, time, word);
		if (!next)
			return uftrace_damage(t, at, end);
		t->dat->records++;
		if (t->w->s->sink)
			uftrace_record_give(t, at, next, time, word);
		return next;
	}
	if (t->started && time < t->time) {
		uint64_t after = uftrace_damage_repeated(t, at, end);
		if (after)
			return uftrace_damage_drop_repeated(t, at, after);
	}
	/* A time that cannot be says nothing of the session. */
	uint64_t sound = time && time >= t->begin && time < UFTRACE_TIME_MAX ? time : uftrace_resync_time(t);
	if (call)
		uftrace_place_session(t, sound);
	next = behind_record(t, at, end, time, word, &rule);
	if (!next)
		return walk_incomplete(t, at, end, time);
	if (call && rule == UFTRACE_RULE_dat_duplicate_block)
		return uftrace_damage_drop_repeated(t, at, next);
	if (line_is_late(t, at, next, end, time))
		t->begin = sound = time;
	if (call && time != sound && uftrace_word_more(word) && rule == UFTRACE_RULE_COUNT)
		rule = uftrace_payload_strayed(t, at, next, time, word);
	if (call && t->started && uftrace_is_again(time, word, t->last_time, t->last_word))
		return uftrace_damage_drop_repeated(t, at, next);
	if (rule != UFTRACE_RULE_COUNT && !call) {
		if (t->suspect)
			uftrace_repair_doubt_before(t, at);
		uftrace_repair_leave(t, at, next, rule, "an event whose data cannot be read");
		t->output.lost_some = true;
		return next;
	}
	uftrace_place_session(t, sound);
	walk_record(t, at, next, time, word, rule);
	return next;
}

/* Records of [at, end) of the source. */
static bool walk_range(struct uftrace_stream *t, struct source *source, uint64_t at, uint64_t end)
{
	bool fast = !t->w->s->slow;

	t->source = source;
	window_reset(&t->window, source);
	if (t->other_open) {
		window_close(&t->other);
		t->other_open = false;
	}
	t->output.kept_from = at;
	t->output.doubted = 0;
	t->suspect = false;
	t->reread = source->size > UINT64_MAX / 8 ? UINT64_MAX : source->size * 4 + UFTRACE_REREAD_MAX;
	t->recall = t->reread;
	while (at < end && t->window.status == TM_OK && t->w->status == TM_OK) {
		size_t got = 0;
		uint64_t left = end - at;
		if (fast && t->started && !t->find_depth && t->time_limit && left >= UFTRACE_RECORD_SIZE) {
			const uint8_t *p = window_upto(&t->window, at, left < UFTRACE_CHUNK ? (size_t)left : UFTRACE_CHUNK, &got);
			size_t done = p ? uftrace_fast(t, at, p, got) : 0;
			at += done;
			if (done && got - done < UFTRACE_RECORD_SIZE)
				continue;
			if (at >= end)
				break;
		}
		at = walk_item(t, at, end);
	}
	if (t->window.status != TM_OK)
		return uftrace_walk_fail(t->w, t->window.status);
	uftrace_repair_keep(t, end);
	return t->w->status == TM_OK;
}

/* ---- leftover buffers ---- */

/* How many bytes at the end of the file the buffer begins with: the recorder died while it wrote them. */
static bool find_overlap(struct uftrace_stream *t, struct source *dat, struct source *source, uint64_t *have)
{
	uint8_t head[4];

	if (source_read(source, 0, head, sizeof(head)) != TM_OK)
		return uftrace_walk_fail(t->w, source->bundle->error.status);
	uint64_t size = load_u32(head, t->w->info->head.big_endian);
	uint64_t back = dat->size < size + UFTRACE_RECORD_SIZE ? dat->size : size + UFTRACE_RECORD_SIZE;
	char *tail = NULL, *data = NULL;

	*have = 0;
	if (back < UFTRACE_RECORD_SIZE || back > WINDOW_SPAN_MAX || size > WINDOW_SPAN_MAX)
		return true;
	tail = malloc((size_t)back);
	data = malloc((size_t)size);
	enum tracemend_status status = tail && data ? source_read(dat, dat->size - back, tail, (size_t)back) : TM_NO_MEMORY;
	if (status == TM_OK)
		status = source_read(source, UFTRACE_SHM_HEADER_SIZE, data, (size_t)size);
	const char *found = status == TM_OK ? memmem(tail, (size_t)back, data, UFTRACE_RECORD_SIZE) : NULL;
	if (found) {
		size_t n = (size_t)(tail + back - found);
		n = n < size ? n : (size_t)size;
		if (!memcmp(found, data, n))
			*have = n;
	}
	free(tail);
	free(data);
	return status == TM_OK || uftrace_walk_fail(t->w, status);
}

static bool walk_leftover(struct uftrace_stream *t, struct uftrace_file *f)
{
	struct uftrace_walk *w = t->w;
	struct source *source = f->source;
	uint8_t head[4];

	if (source_read(source, 0, head, sizeof(head)) != TM_OK)
		return uftrace_walk_fail(w, source->bundle->error.status);
	uint64_t size = load_u32(head, w->info->head.big_endian);
	uint64_t begin = UFTRACE_SHM_HEADER_SIZE, end = UFTRACE_SHM_HEADER_SIZE + size;
	if (w->plan) {
		plan_drop(w->plan, source, 0, begin, UFTRACE_RULE_shm_leftover, "the header of the buffer");
		if (end < source->size)
			plan_drop(w->plan, source, end, source->size - end, UFTRACE_RULE_shm_leftover,
				  "the unused part of the buffer");
	}
	f->planned = true;
	return walk_range(t, source, begin, end);
}

/* ---- a task ---- */

static void finish(struct uftrace_stream *t)
{
	struct uftrace_walk *w = t->w;
	struct uftrace_dat *dat = t->dat;

	if (t->depth && dat->records && !w->info->foreign) {
		finding_report(w->findings, UFTRACE_RULE_dat_open_frames, t->source, t->source->size, 0,
			       "%u call%s of task %llu %s open at the end", t->depth, uftrace_plural(t->depth),
			       (unsigned long long)dat->tid, t->depth == 1 ? "is" : "are");
	}
	if (t->folds.unmapped.count > 1)
		finding_path(t->folds.unmapped.finding, "task %llu > %llu records", (unsigned long long)dat->tid,
			     (unsigned long long)t->folds.unmapped.count);
	if (t->folds.lost.count > 1)
		finding_say(t->folds.lost.finding, "the recorder lost %llu records at %llu places",
			    (unsigned long long)t->lost_records, (unsigned long long)t->folds.lost.count);
	w->records->count += dat->records;
	if (dat->records && dat->first_time && (!w->records->first_time || dat->first_time < w->records->first_time))
		w->records->first_time = dat->first_time;
	if (dat->last_time > w->records->last_time)
		w->records->last_time = dat->last_time;
	if (!w->plan)
		return;
	plan_kept(w->plan, dat->records - t->output.patched);
	plan_patched(w->plan, t->output.patched);
	if (t->output.lost_some)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
}

struct uftrace_stream *uftrace_stream_new(struct uftrace_walk *w)
{
	struct uftrace_stream *t = calloc(1, sizeof(*t));
	uint64_t bytes = 0, places = PLACES_MIN;

	for (size_t i = 0; i < w->dir->count; i++)
		bytes += w->dir->files[i].source->size;
	while (places < PLACES_MAX && places < bytes / 2)
		places *= 2;
	if (t) {
		t->w = w;
		t->frame_max = w->info->head.max_stack > UFTRACE_DEPTH_MASK + 1 ? UFTRACE_FRAMES_MAX : UFTRACE_DEPTH_MASK + 1;
		t->frames = calloc(t->frame_max, sizeof(*t->frames));
		t->places = calloc((size_t)places, sizeof(*t->places));
		t->place_mask = places - 1;
	}
	if (t && t->frames && t->places)
		return t;
	uftrace_stream_free(t);
	uftrace_walk_fail(w, TM_NO_MEMORY);
	return NULL;
}

void uftrace_stream_free(struct uftrace_stream *t)
{
	if (!t)
		return;
	window_close(&t->window);
	free(t->frames);
	free(t->places);
	free(t);
}

void uftrace_stream_begin(struct uftrace_stream *t, struct uftrace_dat *dat)
{
	struct uftrace_walk *w = t->w;

	*t = (struct uftrace_stream){ .w = w,
				      .dat = dat,
				      .frames = t->frames,
				      .frame_max = t->frame_max,
				      .places = t->places,
				      .place_mask = t->place_mask,
				      .era = t->era,
				      .window = t->window,
				      .find_depth = true,
				      .session = { .index = UFTRACE_NONE } };
	t->wrap = w->info->head.max_stack > 1024;
	t->pid = uftrace_task_process(w->tasks, dat->tid);
}

bool uftrace_stream_walk(struct uftrace_stream *t, struct uftrace_dat *dat)
{
	struct uftrace_walk *w = t->w;
	char name[32];

	uftrace_stream_begin(t, dat);
	uint32_t first = map_get(&w->tasks->known_first, dat->tid);
	if (first != UFTRACE_NONE) {
		t->begin = w->tasks->lines[first].time;
		dat->forked = w->tasks->lines[first].kind == UFTRACE_LINE_FORK;
	}
	struct uftrace_file *file = dat->file != UFTRACE_NONE ? &w->dir->files[dat->file] : NULL;
	snprintf(name, sizeof(name), "%llu.dat", (unsigned long long)dat->tid);
	if (w->plan) {
		t->output.out = plan_output(w->plan, name);
		t->output.planned = true;
	}
	bool good = true;
	if (file) {
		/* Of what both have the buffer's is taken: the file may end within a record. */
		uint64_t both = 0;
		if (dat->shm_count && !find_overlap(t, file->source, w->dir->files[w->records->shm[dat->shm_first]].source, &both))
			return false;
		file->planned = true;
		good = walk_range(t, file->source, 0, file->source->size - both);
		if (good && w->plan && both)
			plan_drop(w->plan, file->source, file->source->size - both, both, UFTRACE_RULE_shm_leftover,
				  "the beginning of a buffer, which is there whole");
	}
	for (uint32_t i = 0; good && i < dat->shm_count; i++)
		good = walk_leftover(t, &w->dir->files[w->records->shm[dat->shm_first + i]]);
	if (good && (file || dat->shm_count))
		finish(t);
	if (t->other_open)
		window_close(&t->other);
	return good;
}
