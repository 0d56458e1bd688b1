/* TID.dat: the records of a task, streamed. What is sound goes by in a tight loop; everything else gets a second look. */
#include <stdlib.h>

#include "uftrace_dat.h"

#define CHUNK (64u * 1024)
/* How far back a block that is there twice is looked for. */
#define LOOK_BACK (1024u * 1024)

/* ---- the first record of each, before anything else is read ---- */

/* Finds the records by which the task is known, where the walk will find them: the tape has no map yet. */
static bool probe(struct uftrace_tape *t, struct uftrace_dat *dat, struct source *s, uint64_t at, uint64_t end)
{
	struct uftrace_walk *w = t->w;
	uint8_t record[UFTRACE_RECORD_SIZE];

	for (unsigned i = 0; i < 256 && at < end && end - at >= sizeof(record); i++) {
		if (source_read(s, at, record, sizeof(record)) != TM_OK)
			return uftrace_walk_fail(w, s->bundle->error.status);
		uint64_t time = load_u64(record, w->head.big_endian), word = load_u64(record + 8, w->head.big_endian);
		if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC) {
			window_reset(&t->window, s);
			at = uftrace_resync(t, at + 1, end, end, 0);
			if (t->window.status != TM_OK)
				return uftrace_walk_fail(w, t->window.status);
			continue;
		}
		dat->has_records = true;
		/* Not one to tell the time by. */
		if (time >> 62 || (!time && uftrace_word_type(word) == UFTRACE_LOST)) {
			at += sizeof(record);
			continue;
		}
		dat->first_time = time;
		dat->first_type = uftrace_word_type(word);
		dat->first_address = uftrace_word_address(word);
		return true;
	}
	return true;
}

static int dat_compare(const void *a, const void *b)
{
	const struct uftrace_dat *x = a, *y = b;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Leftover buffers: of tasks that have no file yet, or nothing in it. */
static bool probe_leftovers(struct uftrace_tape *t)
{
	struct uftrace_walk *w = t->w;
	struct uftrace_ids tids = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < w->dat_count && good; i++)
		good = uftrace_ids_set(&tids, (int64_t)w->dats[i].tid, i) || uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->file_count && good; i++) {
		const struct uftrace_file *f = &w->files[i];
		if (f->kind != UFTRACE_FILE_SHM || !f->number || (f->source->role != TM_ROLE_EXTRA && !w->recorder_died) ||
		    f->source->size < 2 * UFTRACE_SHM_HEADER_SIZE)
			continue;
		uint32_t index = uftrace_ids_get(&tids, (int64_t)f->number);
		struct uftrace_dat *dat = &w->dats[index == UFTRACE_NONE ? w->dat_count : index];
		if (index == UFTRACE_NONE)
			*dat = (struct uftrace_dat){ .tid = f->number, .file = UFTRACE_NONE };
		if (!dat->has_records)
			good = probe(t, dat, f->source, UFTRACE_SHM_HEADER_SIZE, f->source->size);
		if (good && index == UFTRACE_NONE && dat->has_records)
			good = uftrace_ids_set(&tids, (int64_t)dat->tid, (uint32_t)w->dat_count++) || uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	uftrace_ids_free(&tids);
	return good;
}

bool uftrace_dat_probe(struct uftrace_walk *w)
{
	struct uftrace_tape *t = calloc(1, sizeof(*t));
	size_t own = w->dat_count;
	bool good = t || uftrace_walk_fail(w, TM_NO_MEMORY);

	if (!good)
		return false;
	t->w = w;
	t->session_next = UINT64_MAX;
	for (size_t i = 0; i < own && good; i++) {
		struct source *s = w->files[w->dats[i].file].source;
		good = probe(t, &w->dats[i], s, 0, s->size);
	}
	good = good && probe_leftovers(t);
	if (t->window.source)
		window_close(&t->window);
	free(t);
	if (w->dat_count > own)
		qsort(w->dats, w->dat_count, sizeof(*w->dats), dat_compare);
	return good;
}

/* ---- what is written ---- */

static void flush(struct uftrace_tape *t, uint64_t upto)
{
	if (t->w->plan && t->planned && upto > t->kept_from)
		plan_copy(t->w->plan, t->out, t->s, t->kept_from, upto - t->kept_from);
	t->kept_from = upto;
}

static void drop(struct uftrace_tape *t, uint64_t from, uint64_t upto, unsigned rule, const char *why)
{
	flush(t, from);
	if (t->w->plan && upto > from)
		plan_drop(t->w->plan, t->s, from, upto - from, rule, why);
	t->kept_from = upto;
}

/* Copies the record at `at` with `more` cleared, and leaves its payload out. */
static void strip(struct uftrace_tape *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word, unsigned rule)
{
	uint8_t record[UFTRACE_RECORD_SIZE];

	if (!t->w->plan)
		return;
	flush(t, at);
	store_u64(record, time, t->w->head.big_endian);
	store_u64(record + 8, word & ~UINT64_C(4), t->w->head.big_endian);
	if (t->planned) {
		plan_replace(t->w->plan, t->out, t->s, at, sizeof(record), record, sizeof(record), rule,
			     "the record, without arguments");
		if (next > at + sizeof(record))
			plan_drop(t->w->plan, t->s, at + sizeof(record), next - at - sizeof(record), rule,
				  "arguments that cannot be read");
	}
	t->kept_from = next;
	t->patched++;
}

/* ---- damage ---- */

/* The record before is a part of what follows: take it back. */
static uint64_t take_back(struct uftrace_tape *t, uint64_t at)
{
	if (!t->odd || t->odd_at + UFTRACE_RECORD_SIZE != at || t->odd_at < t->kept_from)
		return at;
	t->odd = false;
	t->depth = t->odd_depth;
	t->unsure = t->odd_unsure;
	t->time = t->odd_time;
	t->last_time = t->odd_last_time;
	t->last_word = t->odd_last_word;
	t->time_limit = 0;
	t->dat->records--;
	return t->odd_at;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void put_lost(struct uftrace_tape *t, uint64_t count)
{
	uint8_t record[UFTRACE_RECORD_SIZE] = { 0 };

	if (!t->w->plan || !t->planned)
		return;
	store_u64(record + 8, uftrace_word(UFTRACE_LOST, false, 0, count), t->w->head.big_endian);
	plan_literal(t->w->plan, t->out, record, sizeof(record), UFTRACE_RULE_dat_bad_magic,
		     "a record of lost events where damaged bytes were; how many is estimated from their length");
	plan_added(t->w->plan, 1);
}

/* What stands directly before damage may be hit, too, where nothing shows it: the values behind a record. */
static void doubt_before(struct uftrace_tape *t, uint64_t at)
{
	uint64_t start = at < UFTRACE_RECORD_SIZE ? 0 : at - UFTRACE_RECORD_SIZE;

	if (t->started && t->odd_at < start && at - t->odd_at <= UFTRACE_RECORD_SIZE + UFTRACE_PAYLOAD_MAX)
		start = t->odd_at;
	if (start < t->kept_from)
		start = t->kept_from;
	if (t->w->plan && t->planned && start < at)
		plan_doubt(t->w->plan, t->s, start, at - start, "directly before damaged bytes");
}

/* Bytes at `at` that are no record. Returns where records go on, or end. */
static uint64_t damage(struct uftrace_tape *t, uint64_t at, uint64_t end)
{
	struct finding *fd;
	unsigned long long tid = t->dat->tid;

	uint64_t zeros = window_skip_zeros(&t->window, at);
	if (zeros > end)
		zeros = end;
	if (zeros == end && end - at >= UFTRACE_RECORD_SIZE) {
		fd = uftrace_report(t->w, UFTRACE_RULE_dat_zero_tail, t->s, at, end - at);
		finding_say(fd, "the last %llu bytes are zero: they never reached the disk", (unsigned long long)(end - at));
		finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
		doubt_before(t, at);
		drop(t, at, end, UFTRACE_RULE_dat_zero_tail, "zeros that are no records");
		t->dropped_unsure = true;
		return end;
	}
	uint64_t from = take_back(t, at);
	uftrace_session_of(t, uftrace_time_before(t)); /* not that of a damaged time */
	t->session_changed = false;
	uint64_t next = uftrace_resync(t, from + 1, end, end, uftrace_time_before(t));
	if (next == end && end - from < UFTRACE_RECORD_SIZE) {
		fd = uftrace_report(t->w, UFTRACE_RULE_dat_trailing_bytes, t->s, from, end - from);
		finding_say(fd, "%llu bytes at the end are less than a record", (unsigned long long)(end - from));
		finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
		drop(t, from, end, UFTRACE_RULE_dat_trailing_bytes, "an incomplete record");
		t->dropped++;
		return end;
	}
	uint64_t count = (next - from) / UFTRACE_RECORD_SIZE;
	count += count == 0;
	fd = uftrace_report(t->w, UFTRACE_RULE_dat_bad_magic, t->s, from, next - from);
	finding_say(fd, "%llu bytes are no record%s%s", (unsigned long long)(next - from), plural(count),
		    next < end ? ": readers stop here and drop the rest of the task, which is sound" : ", up to the end of the file");
	finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
	finding_field(fd, at + 8 < end ? at + 8 : at, 1, "magic, bits 3 to 5: must be 5");
	doubt_before(t, from);
	drop(t, from, next, UFTRACE_RULE_dat_bad_magic, "no record begins here");
	t->dropped += count;
	t->dropped_unsure |= t->w->has_argspec || (next - from) % UFTRACE_RECORD_SIZE;
	if (next < end) {
		put_lost(t, count);
		t->seek = true;
		t->unsure = t->depth;
	}
	t->time_limit = 0;
	return next;
}

/* Time goes back at `at`: is it a block that is there twice? Returns the offset after it, or 0. */
static uint64_t repeated(struct uftrace_tape *t, uint64_t at, uint64_t end)
{
	uint8_t first[UFTRACE_RECORD_SIZE];
	const uint8_t *p = window_at(&t->window, at, sizeof(first));
	uint64_t back = at < LOOK_BACK ? at : LOOK_BACK;
	size_t got = 0;

	if (!p || back < sizeof(first) || t->look_back < back)
		return 0;
	memcpy(first, p, sizeof(first));
	t->look_back -= back;
	if (!t->other_open) {
		window_open(&t->other, t->s);
		t->other_open = true;
	}
	p = window_upto(&t->other, at - back, (size_t)back, &got);
	const uint8_t *found = p && got == back ? memmem(p, (size_t)back, first, sizeof(first)) : NULL;
	/* The last one: the copy is as short as it can be. */
	for (const uint8_t *more = found; more; found = more ? more : found)
		more = memmem(found + 8, back - (size_t)(found + 8 - p), first, sizeof(first));
	if (!found)
		return 0;
	uint64_t from = at - back + (uint64_t)(found - p), length = at - from, same = 0;
	if (length > end - at)
		length = end - at;
	if (t->look_back < 2 * length)
		return 0;
	t->look_back -= 2 * length;
	while (same < length) {
		size_t n = length - same < CHUNK ? (size_t)(length - same) : CHUNK;
		const uint8_t *a = window_at(&t->other, from + same, n);
		const uint8_t *b = a ? window_at(&t->window, at + same, n) : NULL;
		if (!b || memcmp(a, b, n) != 0)
			return 0;
		same += n;
	}
	return at + length;
}

static uint64_t drop_repeated(struct uftrace_tape *t, uint64_t at, uint64_t next)
{
	struct finding *fd = uftrace_report(t->w, UFTRACE_RULE_dat_duplicate_block, t->s, at, next - at);

	finding_say(fd, "%llu bytes are the same as those in front of them: they were written twice", (unsigned long long)(next - at));
	finding_path(fd, "task %llu > after record %llu", (unsigned long long)t->dat->tid, (unsigned long long)t->dat->records);
	drop(t, at, next, UFTRACE_RULE_dat_duplicate_block, "a copy of the records in front of it");
	return next;
}

/* ---- one item ---- */

static void check_time(struct uftrace_tape *t, uint64_t at, uint64_t time, bool *odd)
{
	struct uftrace_walk *w = t->w;
	struct finding *fd;

	if (!time) {
		if (uftrace_fold(t, &t->zero, UFTRACE_RULE_dat_time_zero, TM_WARNING, at, 8, &fd))
			finding_say(fd, "the record has time 0");
		*odd = true;
		return;
	}
	if (t->started && time < t->time) {
		bool estimated = w->head.feat & UFTRACE_BIT(UFTRACE_F_ESTIMATE_RETURN);
		/* The jump ahead that came before it is the cause. */
		if (t->far.finding && t->last_time == t->time && t->odd)
			finding_explains(t->far.finding, 1);
		else if (uftrace_fold(t, &t->backward, UFTRACE_RULE_dat_time_backward, estimated ? TM_NOTE : TM_WARNING, at,
				      UFTRACE_RECORD_SIZE, &fd)) {
			finding_say(fd, "time %llu ns is before that of the record in front of it, %llu ns", (unsigned long long)time,
				    (unsigned long long)t->time);
			finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
		}
		*odd = true;
	}
	uint64_t span = w->elapsed && w->elapsed < UINT64_MAX / 10 ? w->elapsed * 10 : UINT64_C(1) << 62;
	if (time >> 62 || (t->started && time > t->time && time - t->time > span)) {
		if (uftrace_fold(t, &t->far, UFTRACE_RULE_dat_time_far, TM_WARNING, at, UFTRACE_RECORD_SIZE, &fd)) {
			finding_say(fd, "time %llu ns is far ahead of the record in front of it", (unsigned long long)time);
			finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
		}
		*odd = true;
	}
	if (!t->started && t->begin && time < t->begin) {
		fd = uftrace_report(w, UFTRACE_RULE_dat_time_before_task, t->s, at, UFTRACE_RECORD_SIZE);
		finding_say(fd, "the first record has time %llu ns, and task.txt begins the task at %llu ns", (unsigned long long)time,
			    (unsigned long long)t->begin);
		finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
	}
}

static void check_place(struct uftrace_tape *t, uint64_t at, uint64_t address, bool *odd)
{
	struct finding *fd;

	switch (uftrace_place_of(t, address)) {
	case UFTRACE_PLACE_UNMAPPED:
		*odd = true;
		if (uftrace_fold(t, &t->unmapped, UFTRACE_RULE_dat_address_unmapped, TM_WARNING, at, UFTRACE_RECORD_SIZE, &fd)) {
			finding_say(fd, "no mapping has the address 0x%llx", (unsigned long long)address);
			finding_field(fd, at + 10, 6, "address = 0x%llx", (unsigned long long)address);
		}
		break;
	case UFTRACE_PLACE_KERNEL:
		*odd = true;
		if (uftrace_fold(t, &t->kernel, UFTRACE_RULE_dat_address_kernel_range, TM_WARNING, at, UFTRACE_RECORD_SIZE, &fd)) {
			finding_say(fd, "address 0x%llx is not one of a program", (unsigned long long)address);
			finding_field(fd, at + 10, 6, "address = 0x%llx", (unsigned long long)address);
		}
		break;
	case UFTRACE_PLACE_NO_SYMBOL:
		if (uftrace_fold(t, &t->no_symbol, UFTRACE_RULE_dat_address_unsymbolised, TM_NOTE, at, UFTRACE_RECORD_SIZE, &fd))
			finding_say(fd, "no symbol has the address 0x%llx", (unsigned long long)address);
		break;
	case UFTRACE_PLACE_MAPPED:
	case UFTRACE_PLACE_UNCHECKED:
		break;
	}
}

static uint64_t walk_lost(struct uftrace_tape *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word)
{
	uint64_t count = uftrace_word_address(word), next = at + UFTRACE_RECORD_SIZE;
	struct finding *fd;

	if (uftrace_word_more(word)) {
		if (!uftrace_plausible(t, next, end, t->time, 2))
			return 0;
		if (uftrace_fold(t, &t->lost_more, UFTRACE_RULE_dat_lost_more, TM_ERROR, at, UFTRACE_RECORD_SIZE, &fd)) {
			finding_say(fd, "a record of lost events says that it has arguments: readers stop here");
			finding_field(fd, at + 8, 1, "more = 1");
		}
		strip(t, at, next, time, word, UFTRACE_RULE_dat_lost_more);
	} else if (!count) {
		if (uftrace_fold(t, &t->lost_more, UFTRACE_RULE_dat_lost_more, TM_WARNING, at, UFTRACE_RECORD_SIZE, &fd))
			finding_say(fd, "a record of lost events that counts none");
	}
	if (time) {
		fd = uftrace_report_as(t->w, UFTRACE_RULE_dat_lost, TM_WARNING, t->s, at, UFTRACE_RECORD_SIZE);
		finding_say(fd, "a record of lost events has time %llu; recorders store 0", (unsigned long long)time);
		t->odd = true;
	} else if (uftrace_fold(t, &t->lost, UFTRACE_RULE_dat_lost, TM_NOTE, at, UFTRACE_RECORD_SIZE, &fd)) {
		finding_say(fd, "the recorder lost %llu record%s here", (unsigned long long)count, plural(count));
	}
	t->lost_records += count;
	t->unsure = t->depth;
	t->seek = true;
	return next;
}

/* One item at `at`, looked at in full. Returns where the next one begins; what is damaged is dealt with. */
static uint64_t walk_item(struct uftrace_tape *t, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= UFTRACE_RECORD_SIZE ? window_at(&t->window, at, UFTRACE_RECORD_SIZE) : NULL;

	if (!p)
		return t->window.status == TM_OK ? damage(t, at, end) : end;
	uint64_t time = load_u64(p, t->w->head.big_endian), word = load_u64(p + 8, t->w->head.big_endian);
	if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC)
		return damage(t, at, end);
	enum uftrace_type type = uftrace_word_type(word);
	uint64_t next = at + UFTRACE_RECORD_SIZE, back_time = t->time;
	unsigned rule = UFTRACE_RULE_COUNT, back_depth = t->depth, back_unsure = t->unsure;
	bool odd = false, call = type == UFTRACE_ENTRY || type == UFTRACE_EXIT;

	if (type != UFTRACE_LOST && t->started && time < t->time) {
		uint64_t after = repeated(t, at, end);
		if (after)
			return drop_repeated(t, at, after);
	}
	if (type == UFTRACE_LOST) {
		next = walk_lost(t, at, end, time, word);
		if (!next)
			return damage(t, at, end);
		t->dat->records++;
		return next;
	}
	if (call)
		uftrace_session_of(t, time);
	if (type == UFTRACE_EVENT)
		next = uftrace_event(t, at, end, time, word, &rule);
	else if (uftrace_word_more(word))
		next = uftrace_payload(t, at, end, time, word, &rule);
	if (!next) {
		if (t->window.status != TM_OK)
			return end;
		/* Nothing follows that makes sense. Cut off at the end, or damaged. */
		if (end - at <= UFTRACE_RECORD_SIZE + UFTRACE_PAYLOAD_MAX && uftrace_resync(t, at + 1, end, end, time) == end) {
			struct finding *fd = uftrace_report(t->w, UFTRACE_RULE_dat_trailing_bytes, t->s, at, end - at);
			finding_say(fd, "the arguments of the last record are incomplete");
			finding_path(fd, "task %llu > record %llu", (unsigned long long)t->dat->tid, (unsigned long long)t->dat->records);
			drop(t, at, end, UFTRACE_RULE_dat_trailing_bytes, "an incomplete record");
			t->dropped++;
			return end;
		}
		return damage(t, at, end);
	}
	if (call && t->started && time == t->last_time && (word & ~UINT64_C(4)) == (t->last_word & ~UINT64_C(4)))
		return drop_repeated(t, at, next);
	if (rule != UFTRACE_RULE_COUNT && !call) {
		if (t->odd)
			doubt_before(t, at);
		drop(t, at, next, rule, "an event whose data cannot be read");
		t->dropped++;
		return next;
	}
	uftrace_session_of(t, time);
	t->dat->records++;
	check_time(t, at, time, &odd);
	if (call) {
		check_place(t, at, uftrace_word_address(word), &odd);
		odd |= !uftrace_nest(t, at, word);
	}
	t->started = true;
	t->session_changed = false;
	if (rule != UFTRACE_RULE_COUNT)
		strip(t, at, next, time, word, rule);
	t->odd = odd && next == at + UFTRACE_RECORD_SIZE;
	t->odd_at = at;
	t->odd_time = back_time;
	t->odd_last_time = t->last_time;
	t->odd_last_word = t->last_word;
	t->odd_depth = back_depth;
	t->odd_unsure = back_unsure;
	t->time = t->last_time = time;
	t->last_word = word;
	/* From here on the tight loop may go, up to what would be a new session or a jump. */
	uint64_t span = t->w->elapsed && t->w->elapsed < UINT64_MAX / 10 ? t->w->elapsed * 10 : UINT64_C(1) << 61;
	t->time_limit = time >> 62 ? 0 : time + (span >> 62 ? UINT64_C(1) << 61 : span);
	if (t->time_limit > t->session_next)
		t->time_limit = t->session_next;
	if (time > t->dat->last_time && !(time >> 62))
		t->dat->last_time = time;
	return next;
}

/* Records that are as they should be. Returns how many bytes went by. */
static size_t walk_fast(struct uftrace_tape *t, const uint8_t *p, size_t size)
{
	bool big = t->w->head.big_endian;
	uint64_t time = t->time, limit = t->time_limit, *frames = t->frames, when = time, word = 0;
	unsigned depth = t->depth, unsure = t->unsure, top = t->w->head.max_stack < 1024 ? t->w->head.max_stack : 1024;
	size_t at = 0;

	for (; size - at >= UFTRACE_RECORD_SIZE; at += UFTRACE_RECORD_SIZE) {
		uint64_t now = load_u64(p + at, big), w = load_u64(p + at + 8, big);
		/* An ENTRY or EXIT without arguments, in order. */
		if ((w & 0x3e) != UFTRACE_RECORD_MAGIC << 3 || now < when || now >= limit)
			break;
		uint64_t address = w >> 16;
		if (!(w & 1)) {
			if (uftrace_word_depth(w) != depth || depth >= top)
				break;
			size_t slot = (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 52) & (UFTRACE_CACHE_SIZE - 1);
			if (t->cache[slot].address != address || (t->cache[slot].place != UFTRACE_PLACE_MAPPED + 1 &&
								  t->cache[slot].place != UFTRACE_PLACE_UNCHECKED + 1))
				break;
			frames[depth++] = address;
		} else {
			if (depth <= unsure || uftrace_word_depth(w) != depth - 1 || frames[depth - 1] != address)
				break;
			depth--;
		}
		when = now;
		word = w;
	}
	if (at) {
		t->depth = depth;
		t->time = t->last_time = when;
		t->last_word = word;
		t->odd = false;
		t->dat->records += at / UFTRACE_RECORD_SIZE;
		if (when > t->dat->last_time)
			t->dat->last_time = when;
	}
	return at;
}

/* Records of [at, end) of the source. */
static bool walk_range(struct uftrace_tape *t, struct source *s, uint64_t at, uint64_t end)
{
	t->s = s;
	window_reset(&t->window, s);
	if (t->other_open) {
		window_close(&t->other);
		t->other_open = false;
	}
	t->kept_from = at;
	t->odd = false;
	t->look_back = s->size > UINT64_MAX / 8 ? UINT64_MAX : s->size * 4 + LOOK_BACK;
	while (at < end && t->window.status == TM_OK && t->w->status == TM_OK) {
		size_t got = 0;
		uint64_t left = end - at;
		if (t->started && !t->seek && !t->w->foreign && t->time_limit && left >= UFTRACE_RECORD_SIZE) {
			const uint8_t *p = window_upto(&t->window, at, left < CHUNK ? (size_t)left : CHUNK, &got);
			size_t done = p ? walk_fast(t, p, got) : 0;
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
	flush(t, end);
	return t->w->status == TM_OK;
}

/* ---- leftover buffers ---- */

/* How many bytes at the beginning of data are in the file already: the recorder died while it wrote them. */
static bool find_overlap(struct uftrace_tape *t, struct source *dat, struct source *s, uint64_t size, uint64_t *have)
{
	uint64_t back = dat->size < size + UFTRACE_RECORD_SIZE ? dat->size : size + UFTRACE_RECORD_SIZE;
	char *tail = NULL, *data = NULL;

	*have = 0;
	if (back < UFTRACE_RECORD_SIZE || back > WINDOW_SPAN_MAX || size > WINDOW_SPAN_MAX)
		return true;
	tail = malloc((size_t)back);
	data = malloc((size_t)size);
	enum tracemend_status status = tail && data ? source_read(dat, dat->size - back, tail, (size_t)back) : TM_NO_MEMORY;
	if (status == TM_OK)
		status = source_read(s, UFTRACE_SHM_HEADER_SIZE, data, (size_t)size);
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

static bool walk_leftover(struct uftrace_tape *t, struct uftrace_file *f, struct source *dat, uint64_t partial)
{
	struct uftrace_walk *w = t->w;
	struct source *s = f->source;
	uint8_t head[4];
	uint64_t have = 0;

	if (source_read(s, 0, head, sizeof(head)) != TM_OK)
		return uftrace_walk_fail(w, s->bundle->error.status);
	uint64_t size = load_u32(head, w->head.big_endian);
	if (dat && !find_overlap(t, dat, s, size, &have))
		return false;
	/* An incomplete record at the end of the file was cut off there: it is whole here. */
	have = have > partial ? have - partial : 0;
	uint64_t begin = UFTRACE_SHM_HEADER_SIZE + have, end = UFTRACE_SHM_HEADER_SIZE + size;
	if (w->plan) {
		plan_drop(w->plan, s, 0, begin, UFTRACE_RULE_shm_leftover,
			  have ? "the head of the buffer, and records that the file has already" : "the head of the buffer");
		if (end < s->size)
			plan_drop(w->plan, s, end, s->size - end, UFTRACE_RULE_shm_leftover, "the unused part of the buffer");
	}
	f->planned = true;
	return walk_range(t, s, begin, end);
}

/* ---- a task ---- */

static void finish(struct uftrace_tape *t)
{
	struct uftrace_walk *w = t->w;
	struct uftrace_dat *dat = t->dat;
	struct finding *fd;

	if (t->depth && dat->records && !w->foreign) {
		fd = uftrace_report(w, UFTRACE_RULE_dat_open_frames, t->s, t->s->size, 0);
		finding_say(fd, "%u call%s of task %llu %s open at the end", t->depth, plural(t->depth), (unsigned long long)dat->tid,
			    t->depth == 1 ? "is" : "are");
	}
	if (t->unmapped.count > 1)
		finding_path(t->unmapped.finding, "task %llu > %llu records", (unsigned long long)dat->tid,
			     (unsigned long long)t->unmapped.count);
	if (t->lost.count > 1)
		finding_say(t->lost.finding, "the recorder lost %llu records at %llu places", (unsigned long long)t->lost_records,
			    (unsigned long long)t->lost.count);
	w->records += dat->records;
	if (dat->records && dat->first_time && (!w->first_time || dat->first_time < w->first_time))
		w->first_time = dat->first_time;
	if (dat->last_time > w->last_time)
		w->last_time = dat->last_time;
	if (!w->plan)
		return;
	plan_kept(w->plan, dat->records - t->patched);
	plan_patched(w->plan, t->patched);
	if (t->dropped || t->dropped_unsure)
		plan_lost(w->plan, t->dropped, t->dropped_unsure ? TM_AT_LEAST : TM_EXACT);
}

static bool walk_task(struct uftrace_tape *t, struct uftrace_dat *dat)
{
	struct uftrace_walk *w = t->w;
	uint64_t *frames = t->frames;
	struct window window = t->window;
	char name[32];

	*t = (struct uftrace_tape){ .w = w, .dat = dat, .frames = frames, .window = window, .seek = true,
				    .session = UFTRACE_NONE };
	t->wrap = w->head.max_stack > 1024;
	uint32_t line = uftrace_ids_get(&w->known, (int64_t)dat->tid), first = uftrace_ids_get(&w->known_first, (int64_t)dat->tid);
	t->pid = line == UFTRACE_NONE ? (int64_t)dat->tid
		 : w->lines[line].kind == UFTRACE_LINE_TASK ? w->lines[line].parent : w->lines[line].id;
	if (first != UFTRACE_NONE) {
		t->begin = w->lines[first].time;
		dat->forked = w->lines[first].kind == UFTRACE_LINE_FORK;
	}
	struct uftrace_file *file = dat->file != UFTRACE_NONE ? &w->files[dat->file] : NULL;
	snprintf(name, sizeof(name), "%llu.dat", (unsigned long long)dat->tid);
	if (w->plan) {
		t->out = plan_output(w->plan, name);
		t->planned = true;
	}
	uint64_t partial = 0;
	bool good = true;
	if (file) {
		file->planned = true;
		good = walk_range(t, file->source, 0, file->source->size);
		/* What the walk cut off at the end, if it is less than a record. */
		if (good && w->plan && plan_size(w->plan, t->out) < file->source->size &&
		    file->source->size % UFTRACE_RECORD_SIZE && !w->has_argspec)
			partial = file->source->size % UFTRACE_RECORD_SIZE;
	}
	for (uint32_t i = 0; good && i < dat->shm_count; i++)
		good = walk_leftover(t, &w->files[w->shm[dat->shm_first + i]], i == 0 && file ? file->source : NULL, partial);
	if (good && (file || dat->shm_count))
		finish(t);
	if (t->other_open)
		window_close(&t->other);
	return good;
}

bool uftrace_dat_walk(struct uftrace_walk *w)
{
	struct uftrace_tape *t = calloc(1, sizeof(*t));
	uint64_t *frames = malloc(UFTRACE_FRAMES_MAX * sizeof(*frames));
	bool good = t && frames, buffers = w->dat_count > 0;

	if (!good) {
		free(t);
		free(frames);
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	t->w = w;
	t->frames = frames;
	for (size_t i = 0; i < w->dat_count && good; i++) {
		if (w->dats[i].file == UFTRACE_NONE && !w->dats[i].shm_count)
			continue;
		if (!t->window.source)
			window_open(&t->window, w->dats[i].file != UFTRACE_NONE ? w->files[w->dats[i].file].source
										: w->files[w->shm[w->dats[i].shm_first]].source);
		good = walk_task(t, &w->dats[i]);
		buffers &= w->dats[i].shm_count > 0;
	}
	if (t->window.source)
		window_close(&t->window);
	free(frames);
	free(t);
	/* What looked like records at first was none. */
	if (good && w->plan && !w->records && !(w->has_kernel && w->kernel_header != UFTRACE_NONE))
		return uftrace_walk_fail(w, TM_NOTHING);
	/* The recorder died: what its buffers held is known only if they are here, all of them. */
	if (good && w->plan && w->recorder_died && !buffers)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	if (good && w->unresolved_payloads && w->has_argspec) {
		struct finding *fd = uftrace_report_as(w, UFTRACE_RULE_argspec_unparsable, TM_NOTE, w->files[w->info].source, 0, 0);
		finding_say(fd, "the arguments of %llu records were skipped without their specification, which could not be told",
			    (unsigned long long)w->unresolved_payloads);
	}
	return good;
}
