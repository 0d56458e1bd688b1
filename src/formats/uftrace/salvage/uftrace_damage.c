/* TID.dat: bytes that are not records, records that are there twice, and what is written of the rest. */
#include "core/sink.h"
#include "formats/uftrace/repair/uftrace_repair_dat.h"
#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_stream.h"

/* The smallest duplicated block: fewer records may have become equal by the repair of what is around them. */
#define COPY_MIN (8u * UFTRACE_RECORD_SIZE)

/* ---- damage ---- */

/* The record before is a part of the damage that follows: it is withdrawn. */
static uint64_t withdraw_last(struct uftrace_stream *t, uint64_t at)
{
	if (!t->suspect || t->back.at + UFTRACE_RECORD_SIZE != at || t->back.at < t->output.kept_from)
		return at;
	t->suspect = false;
	t->depth = t->back.depth;
	t->unknown = t->back.unknown;
	t->time = t->back.time;
	t->last_time = t->back.last_time;
	t->last_word = t->back.last_word;
	t->time_limit = 0;
	t->dat->records--;
	if (t->w->s->sink)
		sink_retract(t->w->s->sink);
	return t->back.at;
}

uint64_t uftrace_damage(struct uftrace_stream *t, uint64_t at, uint64_t end)
{
	struct finding *fd;
	unsigned long long tid = t->dat->tid;

	uint64_t zeros = window_skip_zeros(&t->window, at);
	if (zeros > end)
		zeros = end;
	if (zeros == end && end - at >= UFTRACE_RECORD_SIZE) {
		fd = finding_report(t->w->findings, UFTRACE_RULE_dat_zero_tail, t->source, at, end - at,
				    "the last %llu bytes are zero: they never reached the disk", (unsigned long long)(end - at));
		finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
		uftrace_repair_doubt_before(t, at);
		uftrace_repair_leave(t, at, end, UFTRACE_RULE_dat_zero_tail, "zeros, which are not records");
		t->output.lost_some = true;
		return end;
	}
	uint64_t from = withdraw_last(t, at);
	uftrace_place_session(t, uftrace_resync_time(t)); /* not that of a damaged time */
	t->session.changed = false;
	uint64_t next = uftrace_resync(t, from + 1, end, end, uftrace_resync_time(t));
	if (next == end && end - from < UFTRACE_RECORD_SIZE) {
		fd = finding_report(t->w->findings, UFTRACE_RULE_dat_trailing_bytes, t->source, from, end - from,
				    "%llu bytes at the end are less than a record", (unsigned long long)(end - from));
		finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
		uftrace_repair_leave(t, from, end, UFTRACE_RULE_dat_trailing_bytes, "an incomplete record");
		t->output.lost_some = true;
		return end;
	}
	uint64_t count = (next - from) / UFTRACE_RECORD_SIZE;
	count += count == 0;
	fd = finding_report(t->w->findings, UFTRACE_RULE_dat_bad_magic, t->source, from, next - from,
			    "%llu bytes that are not %s%s", (unsigned long long)(next - from), count > 1 ? "records" : "a record",
			    next < end ? ": readers stop here and drop the rest of the task, which is sound"
				       : ", up to the end of the file");
	finding_path(fd, "task %llu > after record %llu", tid, (unsigned long long)t->dat->records);
	finding_field(fd, at + UFTRACE_RECORD_SIZE <= end ? uftrace_word_at(t->w, at, 0, 1) : at, 1,
		      "magic, bits 3 to 5: must be 5");
	uftrace_repair_doubt_before(t, from);
	uftrace_repair_leave(t, from, next, UFTRACE_RULE_dat_bad_magic, "not a record");
	t->output.lost_some = true;
	if (next < end) {
		uftrace_repair_lost(t, count);
		uftrace_repair_doubt_behind(t, next);
		t->find_depth = true;
		t->unknown = t->depth;
	}
	t->time_limit = 0;
	return next;
}

/* How many bytes are the same from both offsets on, in whole records. */
static uint64_t common_length(struct uftrace_stream *t, uint64_t from, uint64_t at, uint64_t length)
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
static bool nothing_behind(struct uftrace_stream *t, uint64_t at, uint64_t stop, uint64_t end)
{
	const uint8_t *last = stop > at ? window_at(&t->window, stop - UFTRACE_RECORD_SIZE, UFTRACE_RECORD_SIZE) : NULL;

	if (!last || t->reread < end - stop)
		return false;
	uint64_t next = uftrace_resync(t, stop, end, end, load_u64(last, t->w->info->head.big_endian));
	t->reread -= next - stop;
	return next == end;
}

uint64_t uftrace_damage_repeated(struct uftrace_stream *t, uint64_t at, uint64_t end)
{
	bool unread;
	const uint64_t before = t->reread, from = uftrace_copy_find(t, at, &unread);
	uint64_t length = at - from;

	if (length > end - at)
		length = end - at;
	if (!length || t->reread < 2 * length)
		return 0;
	t->reread -= 2 * length;
	uint64_t same = common_length(t, from, at, length);
	if (same < COPY_MIN || (same != length && !nothing_behind(t, at, at + same, end)))
		return 0;
	/* Only what was read in vain counts: else the copies behind the last one that can be afforded would stay. */
	if (same == length)
		t->reread = before;
	return at + same;
}

/* Blocks of a disk. */
#define BLOCK_LEAST 512u
#define BLOCK_MOST 4096u

/* Whether the block in front of the seam is there again behind it. */
static bool is_twice(struct uftrace_stream *t, uint64_t seam, uint64_t size)
{
	const uint8_t *a = window_at(&t->other, seam - size, UFTRACE_RECORD_SIZE),
		      *b = window_at(&t->window, seam, UFTRACE_RECORD_SIZE);

	/* The other window goes along with this one: only what is compared in vain counts. */
	if (!a || !b || memcmp(a, b, UFTRACE_RECORD_SIZE) != 0 || t->reread < 2 * size)
		return false;
	const bool twice = common_length(t, seam - size, seam, size) == size;
	t->reread -= twice ? 0 : 2 * size;
	return twice;
}

uint64_t uftrace_damage_straddling(struct uftrace_stream *t, uint64_t at, uint64_t until, uint64_t end)
{
	uftrace_stream_open_other(t);
	for (uint64_t seam = (at / BLOCK_LEAST + 1) * BLOCK_LEAST; seam <= until && seam < end; seam += BLOCK_LEAST)
		for (uint64_t size = BLOCK_MOST; size >= BLOCK_LEAST; size /= 2)
			if (at + size >= seam && seam >= size && end - seam >= size && is_twice(t, seam, size))
				return at + size;
	return 0;
}

uint64_t uftrace_damage_drop_repeated(struct uftrace_stream *t, uint64_t at, uint64_t next)
{
	struct finding *fd = finding_report(t->w->findings, UFTRACE_RULE_dat_duplicate_block, t->source, at, next - at,
					    "%llu bytes are the same as those in front of them: they were written twice",
					    (unsigned long long)(next - at));
	finding_path(fd, "task %llu > after record %llu", (unsigned long long)t->dat->tid, (unsigned long long)t->dat->records);
	uftrace_repair_leave(t, at, next, UFTRACE_RULE_dat_duplicate_block, "a copy of the records in front of it");
	return next;
}
