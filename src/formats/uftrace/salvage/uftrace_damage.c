/* TID.dat: bytes that are no records, records that are there twice, and what is written of the rest. */
#include "formats/uftrace/scan/uftrace_dat.h"

/* ---- what is written ---- */

void uftrace_tape_flush(struct uftrace_tape *t, uint64_t upto)
{
	if (t->w->plan && t->planned && upto > t->kept_from)
		plan_copy(t->w->plan, t->out, t->s, t->kept_from, upto - t->kept_from);
	t->kept_from = upto;
}

void uftrace_tape_drop(struct uftrace_tape *t, uint64_t from, uint64_t upto, unsigned rule, const char *why)
{
	uftrace_tape_flush(t, from);
	if (t->w->plan && upto > from)
		plan_drop(t->w->plan, t->s, from, upto - from, rule, why);
	t->kept_from = upto;
}

void uftrace_tape_strip(struct uftrace_tape *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word, unsigned rule)
{
	uint8_t record[UFTRACE_RECORD_SIZE];

	if (!t->w->plan)
		return;
	uftrace_tape_flush(t, at);
	store_u64(record, time, t->w->head.big_endian);
	store_u64(record + 8, word & ~UINT64_C(4), t->w->head.big_endian);
	if (t->planned) {
		plan_replace(t->w->plan, t->out, t->s, at, sizeof(record), record, sizeof(record), rule,
			     "the record, without arguments");
		if (next > at + sizeof(record))
			plan_drop(t->w->plan, t->s, at + sizeof(record), next - at - sizeof(record), rule,
				  "arguments that cannot be read");
	}
	t->lost_some = true; /* arguments, and what was found behind them may be another record than the next */
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

void uftrace_doubt_before(struct uftrace_tape *t, uint64_t at)
{
	uint64_t start = at < UFTRACE_RECORD_SIZE ? 0 : at - UFTRACE_RECORD_SIZE;

	if (t->started && t->odd_at < start && at - t->odd_at <= UFTRACE_RECORD_SIZE + UFTRACE_PAYLOAD_MAX)
		start = t->odd_at;
	if (start < t->kept_from)
		start = t->kept_from;
	if (t->w->plan && t->planned && start < at)
		plan_doubt(t->w->plan, t->s, start, at - start, "directly before damaged bytes");
}

/* What hit the bytes before it may have hit the low bytes of its time, which nothing tells. */
static void doubt_behind(struct uftrace_tape *t, uint64_t at)
{
	if (t->w->plan && t->planned)
		plan_doubt(t->w->plan, t->s, at, UFTRACE_RECORD_SIZE, "directly behind damaged bytes");
}

uint64_t uftrace_damage(struct uftrace_tape *t, uint64_t at, uint64_t end)
{
	struct finding *fd;
	unsigned long long tid = t->dat->tid;

	uint64_t zeros = window_skip_zeros(&t->window, at);
	if (zeros > end)
		zeros = end;
	if (zeros == end && end - at >= UFTRACE_RECORD_SIZE) {
		fd = finding_report(t->w->findings, UFTRACE_RULE_dat_zero_tail, t->s, at, end - at,
				    "the last %llu bytes are zero: they never reached the disk", (unsigned long long)(end - at));
		finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
		uftrace_doubt_before(t, at);
		uftrace_tape_drop(t, at, end, UFTRACE_RULE_dat_zero_tail, "zeros that are no records");
		t->lost_some = true;
		return end;
	}
	uint64_t from = take_back(t, at);
	uftrace_session_of(t, uftrace_time_before(t)); /* not that of a damaged time */
	t->session_changed = false;
	uint64_t next = uftrace_resync(t, from + 1, end, end, uftrace_time_before(t));
	if (next == end && end - from < UFTRACE_RECORD_SIZE) {
		fd = finding_report(t->w->findings, UFTRACE_RULE_dat_trailing_bytes, t->s, from, end - from,
				    "%llu bytes at the end are less than a record", (unsigned long long)(end - from));
		finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
		uftrace_tape_drop(t, from, end, UFTRACE_RULE_dat_trailing_bytes, "an incomplete record");
		t->lost_some = true;
		return end;
	}
	uint64_t count = (next - from) / UFTRACE_RECORD_SIZE;
	count += count == 0;
	fd = finding_report(t->w->findings, UFTRACE_RULE_dat_bad_magic, t->s, from, next - from, "%llu bytes are no record%s%s",
			    (unsigned long long)(next - from), uftrace_plural(count),
			    next < end ? ": readers stop here and drop the rest of the task, which is sound"
				       : ", up to the end of the file");
	finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
	finding_field(fd, at + 8 < end ? at + 8 : at, 1, "magic, bits 3 to 5: must be 5");
	uftrace_doubt_before(t, from);
	uftrace_tape_drop(t, from, next, UFTRACE_RULE_dat_bad_magic, "no record begins here");
	t->lost_some = true;
	if (next < end) {
		put_lost(t, count);
		doubt_behind(t, next);
		t->seek = true;
		t->unsure = t->depth;
	}
	t->time_limit = 0;
	return next;
}

/* How many bytes are the same from both offsets on, in whole records. */
static uint64_t common_length(struct uftrace_tape *t, uint64_t from, uint64_t at, uint64_t length)
{
	for (uint64_t same = 0; same < length;) {
		size_t n = length - same < UFTRACE_CHUNK ? (size_t)(length - same) : UFTRACE_CHUNK, i = 0;
		const uint8_t *a = window_at(&t->other, from + same, n);
		const uint8_t *b = a ? window_at(&t->window, at + same, n) : NULL;
		if (b && !memcmp(a, b, n)) {
			same += n;
			continue;
		}
		while (b && a[i] == b[i])
			i++;
		return (same + i) / UFTRACE_RECORD_SIZE * UFTRACE_RECORD_SIZE;
	}
	return length;
}

/* Whether a copy that began at `at` was cut short: from `stop` on there are no records. */
static bool nothing_behind(struct uftrace_tape *t, uint64_t at, uint64_t stop, uint64_t end)
{
	const uint8_t *last = stop > at ? window_at(&t->window, stop - UFTRACE_RECORD_SIZE, UFTRACE_RECORD_SIZE) : NULL;

	if (!last || t->look_back < end - stop)
		return false;
	uint64_t next = uftrace_resync(t, stop, end, end, load_u64(last, t->w->head.big_endian));
	t->look_back -= next - stop;
	return next == end;
}

uint64_t uftrace_repeated(struct uftrace_tape *t, uint64_t at, uint64_t end)
{
	uint8_t first[UFTRACE_RECORD_SIZE];
	const uint8_t *p = window_at(&t->window, at, sizeof(first));
	uint64_t back = at < UFTRACE_LOOK_BACK ? at : UFTRACE_LOOK_BACK;
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
	uint64_t from = at - back + (uint64_t)(found - p), length = at - from, same;
	if (length > end - at)
		length = end - at;
	if (t->look_back < 2 * length)
		return 0;
	t->look_back -= 2 * length;
	same = common_length(t, from, at, length);
	return same >= UFTRACE_COPY_MIN && (same == length || nothing_behind(t, at, at + same, end)) ? at + same : 0;
}

uint64_t uftrace_drop_repeated(struct uftrace_tape *t, uint64_t at, uint64_t next)
{
	struct finding *fd = finding_report(t->w->findings, UFTRACE_RULE_dat_duplicate_block, t->s, at, next - at,
					    "%llu bytes are the same as those in front of them: they were written twice",
					    (unsigned long long)(next - at));
	finding_path(fd, "task %llu > after record %llu", (unsigned long long)t->dat->tid, (unsigned long long)t->dat->records);
	uftrace_tape_drop(t, at, next, UFTRACE_RULE_dat_duplicate_block, "a copy of the records in front of it");
	return next;
}
