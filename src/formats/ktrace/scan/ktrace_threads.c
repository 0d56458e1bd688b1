/* Thread maps. Layout: kd_threadmap of xnu's bsd/sys/kdebug.h. */
#include "formats/ktrace/scan/ktrace_threads.h"

#include <inttypes.h>

#include "core/text.h"
#include "formats/ktrace/decode/ktrace_thread.h"
#include "formats/ktrace/repair/ktrace_odd.h"

/* One finding a map, with the first entry and the count. */
#define THREAD_COUNTED(ROW) \
	ROW(threadmap_name_unterminated, "a name without a NUL at its end") \
	ROW(threadmap_name_control_bytes, "a name with control bytes") \
	ROW(threadmap_name_not_utf8, "a name that is not UTF-8") \
	ROW(threadmap_name_residue, "bytes after the end of the name") \
	ROW(threadmap_zero_tid, "thread id 0") \
	ROW(threadmap_unused_entry, "process id 0, which marks an unused entry") \
	ROW(threadmap_negative_pid, "a process id that is negative or above 99999") \
	ROW(threadmap_duplicate_tid, "a thread id that an earlier entry has") \
	ROW(threadmap_pid_name_conflict, "a process id that an earlier entry has under another name")

enum {
#define ROW(symbol, what) COUNT_##symbol,
	THREAD_COUNTED(ROW)
#undef ROW
		THREAD_COUNTS
};

static const struct {
	enum ktrace_rule rule;
	const char *what;
} thread_rules[THREAD_COUNTS] = {
#define ROW(symbol, what) { KTRACE_RULE_##symbol, what },
	THREAD_COUNTED(ROW)
#undef ROW
};

struct thread_walk {
	struct ktrace_walk *walk;
	uint64_t map, end; /* offset of the first entry, and behind the last one */
	struct ktrace_count counts[THREAD_COUNTS];
	struct ktrace_table here;  /* thread ids of this map -> number of the entry */
	struct ktrace_table names; /* process id -> hash of its first name */
	struct ktrace_table first; /* process id -> number of the entry with it */
	struct ktrace_odd odd;
	uint64_t not_utf8; /* behind the last entry whose name is not UTF-8 */
};

#define thread_count(t, symbol, offset) ((void)PLACE(KTRACE_RULE_##symbol), thread_count_at((t), COUNT_##symbol, (offset)))
static void thread_count_at(struct thread_walk *t, unsigned what, uint64_t offset)
{
	if (place_silenced())
		return;
	if (!t->counts[what].count++)
		t->counts[what].first = offset;
	if (ktrace_rule_casts_doubt(thread_rules[what].rule))
		ktrace_odd_add(&t->odd, offset, offset + ktrace_thread_size(t->walk->in.is_64));
}

static uint32_t name_hash(const uint8_t *name, size_t length)
{
	const uint64_t hash = text_hash(name, length);
	return (uint32_t)(hash ^ hash >> 32) >> 1; /* never MAP_NONE */
}

/* What an earlier, longer name left is text. */
static bool residue_is_text(const uint8_t *p, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (p[i] && (p[i] < 0x20 || p[i] >= 0x7f))
			return false;
	return true;
}

/* Returns the length of the name. */
static size_t thread_name(struct thread_walk *t, const struct ktrace_thread *thread, uint64_t offset)
{
	const uint8_t *end = memchr(thread->name, 0, KTRACE_NAME);
	size_t length = end ? (size_t)(end - thread->name) : KTRACE_NAME;

	const bool residue = end && !bytes_are_zero(end, KTRACE_NAME - length);
	/* A full name may be cut inside of a character. */
	const size_t valid = utf8_valid_prefix(thread->name, length);
	const bool foreign = valid < length && !(length >= KTRACE_NAME - 1 && length - valid <= 3);

	if (!end)
		thread_count(t, threadmap_name_unterminated, offset);
	else if (residue)
		thread_count(t, threadmap_name_residue, offset);
	/* What hit the last bytes may have hit the next entry, whose id has no form of its own. A name of another encoding, and
	 * what an earlier name left: each is rare, both at once are noise. */
	uint64_t next = offset + ktrace_thread_size(t->walk->in.is_64);
	const uint8_t last = thread->name[KTRACE_NAME - 1];
	bool odd = (last && !residue_is_text(thread->name + length, KTRACE_NAME - length)) || (residue && foreign);
	if (next < t->end && (!end || odd))
		ktrace_odd_add(&t->odd, next, next + ktrace_thread_size(t->walk->in.is_64));
	if (odd)
		ktrace_odd_add(&t->odd, offset, next);
	if (ktrace_thread_name_has_control(thread))
		thread_count(t, threadmap_name_control_bytes, offset);
	if (foreign) {
		thread_count(t, threadmap_name_not_utf8, offset);
		t->not_utf8 = next;
	}
	return length;
}

/* Of two entries that contradict each other, either may be damaged: this is the earlier one. */
static void thread_doubt_other(struct thread_walk *t, uint32_t entry)
{
	uint32_t size = ktrace_thread_size(t->walk->in.is_64);
	uint64_t at = t->map + (uint64_t)entry * size;

	if (entry != MAP_NONE)
		ktrace_odd_add(&t->odd, at, at + size);
}

/* Ids that earlier entries have, too. */
static void thread_ids(struct thread_walk *t, const struct ktrace_thread *thread, size_t length, uint64_t offset)
{
	uint64_t number = (offset - t->map) / ktrace_thread_size(t->walk->in.is_64);
	uint32_t entry = number < MAP_NONE ? (uint32_t)number : MAP_NONE - 1, other = ktrace_table_get(&t->here, thread->tid);

	if (thread->tid > t->walk->in.highest_thread && !(thread->tid >> KTRACE_TID_BITS))
		t->walk->in.highest_thread = thread->tid;
	(void)ktrace_table_set(&t->walk->in.threads, thread->tid, offset / 4 < MAP_NONE ? (uint32_t)(offset / 4) : 0);
	if (other != MAP_NONE) {
		thread_count(t, threadmap_duplicate_tid, offset);
		thread_doubt_other(t, other);
	} else {
		(void)ktrace_table_set(&t->here, thread->tid, entry);
	}
	if (thread->pid <= 1)
		return; /* launchd and the kernel share the process id 1 */
	uint32_t hash = name_hash(thread->name, length), named = ktrace_table_get(&t->names, (uint32_t)thread->pid);
	if (named == MAP_NONE) {
		(void)ktrace_table_set(&t->names, (uint32_t)thread->pid, hash);
		(void)ktrace_table_set(&t->first, (uint32_t)thread->pid, entry);
	} else if (named != hash) {
		thread_count(t, threadmap_pid_name_conflict, offset);
		thread_doubt_other(t, ktrace_table_get(&t->first, (uint32_t)thread->pid));
	}
}

/* What hit the first fields of an entry may have hit the end of the one before. */
static void thread_doubt_before(struct thread_walk *t, uint64_t offset)
{
	if (offset > t->map)
		ktrace_odd_add(&t->odd, offset - ktrace_thread_size(t->walk->in.is_64), offset);
}

static void thread_check(struct thread_walk *t, const struct ktrace_thread *thread, uint64_t offset)
{
	size_t length = thread_name(t, thread, offset);

	if (!thread->pid) {
		thread_count(t, threadmap_unused_entry, offset);
		/* What a hole left of an entry; it may begin in the one before. */
		const bool left = thread->name[0] ? !thread->tid : thread->tid || !bytes_are_zero(thread->name, KTRACE_NAME);
		if (left && !thread->tid)
			thread_doubt_before(t, offset);
		if (left)
			ktrace_odd_add(&t->odd, offset, offset + ktrace_thread_size(t->walk->in.is_64));
	}
	if (thread->pid < 0 || thread->pid > KTRACE_PID_MAX) {
		thread_count(t, threadmap_negative_pid, offset);
		thread_doubt_before(t, offset);
	}
	if (thread->tid >> KTRACE_TID_BITS)
		ktrace_odd_add(&t->odd, offset, offset + ktrace_thread_size(t->walk->in.is_64));
	if (thread->tid) {
		thread_ids(t, thread, length, offset);
	} else if (thread->pid) {
		thread_count(t, threadmap_zero_tid, offset);
		thread_doubt_before(t, offset);
	}
}

/* Zeros, and the entries beside them: they may be a hole, and a thread that it held is missing. before: whether the entry before is
 * zeros. */
static bool thread_is_hole(struct thread_walk *t, const uint8_t *entry, uint64_t offset, bool before)
{
	struct ktrace_input *in = &t->walk->in;
	uint32_t size = ktrace_thread_size(in->is_64);
	bool hole = bytes_are_zero(entry, size);

	if (hole && !before && in->hole_count < KTRACE_HOLES_MAX)
		in->holes[in->hole_count++].from = offset > t->map ? offset - size : offset;
	if ((hole || before) && in->hole_count)
		in->holes[in->hole_count - 1].until = offset + size;
	return hole;
}

void ktrace_threads_check(struct ktrace_walk *w, uint64_t offset, uint64_t count, bool filler_is_normal)
{
	struct thread_walk t = { .walk = w,
				 .map = offset,
				 .end = offset + count * ktrace_thread_size(w->in.is_64),
				 .here.max = KTRACE_THREADS_MAX,
				 .names.max = KTRACE_THREADS_MAX,
				 .first.max = KTRACE_THREADS_MAX,
				 .odd.repair = &w->repair };
	uint32_t size = ktrace_thread_size(w->in.is_64);

	bool hole = false;

	w->in.thread_map = true;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = offset + i * size;
		const uint8_t *p = window_at(&w->in.window, at, size);
		if (!p)
			break;
		hole = thread_is_hole(&t, p, at, hole);
		struct ktrace_thread thread = ktrace_thread_decode(p, w->in.is_64);
		if (thread.tid || thread.pid || !filler_is_normal)
			thread_check(&t, &thread, at);
		/* Beside what is odd, a name that is not UTF-8 is damaged rather than of another language. */
		if (t.not_utf8 == at && at && t.odd.until > at)
			ktrace_odd_add(&t.odd, at - size, at);
	}
	ktrace_odd_end(&t.odd);
	for (unsigned i = 0; i < THREAD_COUNTS; i++) {
		const struct ktrace_count *c = &t.counts[i];
		if (!c->count)
			continue;
		struct finding *fd = finding_report(w->scan->findings, thread_rules[i].rule, w->in.source, c->first, size,
						    "%" PRIu64 " entr%s of the thread map %s %s; this is the first", c->count,
						    c->count == 1 ? "y" : "ies", c->count == 1 ? "has" : "have",
						    thread_rules[i].what);
		finding_path(fd, "thread map at 0x%" PRIx64 " > entry %" PRIu64, offset, (c->first - offset) / size);
	}
	w->in.threads.failed |= t.here.failed || t.names.failed || t.first.failed;
	ktrace_table_free(&t.here);
	ktrace_table_free(&t.names);
	ktrace_table_free(&t.first);
}
