/* Events: records of 64 or 32 bytes. Layout: kd_buf of xnu's bsd/sys/kdebug.h. */
#include "ktrace.h"

#include <inttypes.h>

/* Records in a row that must fail, or pass, before a stretch counts as damaged, or as sound again. One record alone proves
 * nothing: noise passes the tests now and then, and real records may be odd. */
#define RUN 4u

static struct ktrace_event event_decode(const uint8_t *p, bool is_64)
{
	struct ktrace_event e = { 0 };
	uint64_t time = load_u64(p, false);
	if (is_64) {
		e.time = time;
		for (unsigned i = 0; i < 4; i++)
			e.args[i] = load_u64(p + 8 + 8 * i, false);
		e.tid = load_u64(p + 40, false);
		e.debugid = load_u32(p + 48, false);
		e.cpu = load_u32(p + 52, false);
		e.unused = load_u64(p + 56, false);
	} else {
		e.time = time & ((UINT64_C(1) << 56) - 1);
		e.cpu = (uint32_t)(time >> 56);
		for (unsigned i = 0; i < 4; i++)
			e.args[i] = load_u32(p + 8 + 4 * i, false);
		e.tid = load_u32(p + 24, false);
		e.debugid = load_u32(p + 28, false);
	}
	return e;
}

/* Classes of xnu's kdebug.h, as bits. */
static bool class_exists(uint32_t debugid)
{
	static const uint64_t classes[4] = {
		UINT64_C(0x007e7fffc0101ffe) /* 1-12, 20, 30-36 ... 54 */,
		0,
		UINT64_C(0x3ff), /* 128-137 */
		UINT64_C(1) << 63, /* 255 */
	};
	uint32_t class = debugid >> 24;
	return (classes[class / 64] >> (class % 64)) & 1;
}

/* How many of the tests that real records pass this one fails. */
static unsigned event_failures(const struct ktrace_event *e, bool is_64)
{
	/* A debug id of 0 has no class: it fails once. */
	unsigned failures = e->time ? 0u : 1u;
	failures += class_exists(e->debugid) ? 0u : 1u;
	if (is_64) {
		failures += e->unused ? 1u : 0u;
		failures += e->cpu >= 4096 ? 1u : 0u;
		failures += e->time >> 56 ? 1u : 0u;
		failures += e->tid >> 48 ? 1u : 0u;
	}
	return failures;
}

/* Whether a record that passes as one is suspicious all the same where it stands at the edge of a damaged stretch. */
static bool event_is_ragged(const struct ktrace_event *e, bool is_64)
{
	return event_failures(e, is_64) > (e->debugid && !class_exists(e->debugid) ? 1u : 0u);
}

static bool event_is_bad(const uint8_t *p, bool is_64)
{
	struct ktrace_event e = event_decode(p, is_64);
	return event_failures(&e, is_64) >= 2;
}

static unsigned records_failures(const uint8_t *p, size_t length, bool is_64, unsigned count)
{
	uint32_t size = ktrace_event_size(is_64);
	unsigned failures = 0;

	for (unsigned i = 0; i < count && length >= size; i++, p += size, length -= size) {
		struct ktrace_event e = event_decode(p, is_64);
		failures += event_failures(&e, is_64);
	}
	return failures;
}

unsigned ktrace_events_failures(struct source *s, uint64_t offset, uint64_t limit, bool is_64, unsigned count)
{
	uint8_t head[KTRACE_HEAD];
	uint64_t there = offset < limit ? limit - offset : 0;
	size_t length = there < sizeof(head) ? (size_t)there : sizeof(head);

	if (length && source_read(s, offset, head, length) != TM_OK)
		return UINT32_MAX;
	return records_failures(head, length, is_64, count);
}

bool ktrace_events_other_width(const uint8_t *head, size_t length, bool is_64)
{
	return records_failures(head, length, is_64, 8) >= 3 && !records_failures(head, length, !is_64, 8);
}

bool ktrace_events_plausible(struct source *s, uint64_t offset, uint64_t limit, bool is_64, unsigned count)
{
	uint8_t record[64];
	uint32_t size = ktrace_event_size(is_64);

	for (unsigned i = 0; i < count; i++, offset += size) {
		if (offset > limit || limit - offset < size)
			return i > 0;
		if (source_read(s, offset, record, size) != TM_OK || event_is_bad(record, is_64))
			return false;
	}
	return true;
}

/* ---- rules that count ---- */

enum counted {
	COUNT_FUTURE, COUNT_UNUSED, COUNT_DEBUGID, COUNT_TIME_ZERO, COUNT_TIME_LARGE, COUNT_ORDER, COUNT_ORDER_CPU,
	COUNT_HEADER_TIME, COUNT_CPU, COUNT_TID_ZERO, COUNT_BOTH, COUNT_LOST, COUNT_LATE, COUNT_STRING, COUNT_STRING_ID,
	COUNT_STRING_UNKNOWN, COUNT_STRING_LONG, COUNTS,
};

static const struct {
	enum ktrace_rule rule;
	const char *what;
} counted[COUNTS] = {
	[COUNT_FUTURE] = { KTRACE_RULE_event_before_future_timestamp, "older than the time an earlier chunk promised" },
	[COUNT_UNUSED] = { KTRACE_RULE_event_unused_nonzero, "with bytes in the unused word" },
	[COUNT_DEBUGID] = { KTRACE_RULE_event_debugid_zero, "with debug id 0" },
	[COUNT_TIME_ZERO] = { KTRACE_RULE_event_timestamp_zero, "with time 0" },
	[COUNT_TIME_LARGE] = { KTRACE_RULE_event_timestamp_implausible, "with a time of 2^56 ticks or more" },
	[COUNT_ORDER] = { KTRACE_RULE_event_timestamp_order, "earlier than the one before" },
	[COUNT_ORDER_CPU] = { KTRACE_RULE_event_timestamp_order_cpu, "earlier than the one before on the same CPU" },
	[COUNT_HEADER_TIME] = { KTRACE_RULE_event_before_header_timestamp, "earlier than the header's timestamp" },
	[COUNT_CPU] = { KTRACE_RULE_event_cpu_out_of_map, "of a CPU that is not in the CPU map" },
	[COUNT_TID_ZERO] = { KTRACE_RULE_event_tid_zero, "with thread id 0" },
	[COUNT_BOTH] = { KTRACE_RULE_event_start_end_both, "with both START and END" },
	[COUNT_LOST] = { KTRACE_RULE_events_lost, "telling of lost events" },
	[COUNT_LATE] = { KTRACE_RULE_events_retrograde, "telling of late events" },
	[COUNT_STRING] = { KTRACE_RULE_string_sequence_broken, "continuing a string that has no beginning" },
	[COUNT_STRING_ID] = { KTRACE_RULE_string_id_signature, "with a string id that the kernel does not give" },
	[COUNT_STRING_UNKNOWN] = { KTRACE_RULE_string_id_unknown, "removing a string that was never defined" },
	[COUNT_STRING_LONG] = { KTRACE_RULE_string_too_long, "making a string longer than the kernel does" },
};

struct events {
	struct ktrace_walk *walk;
	const char *where;
	struct ktrace_count counts[COUNTS];
	uint64_t known[256]; /* thread ids found known lately, by their low bits */
	uint64_t kept_from;  /* start of the run of records not yet given to the plan */
	uint64_t kept;	     /* bytes */
	bool damaged;	     /* a stretch was dropped: what follows is doubtful */
};

static void count_one(struct events *ev, enum counted what, uint64_t offset)
{
	if (!ev->counts[what].count++)
		ev->counts[what].first = offset;
}

/* ---- meaning of single events ---- */

static uint64_t pair_key(const struct ktrace_event *e)
{
	return (e->tid << 32) ^ (e->tid >> 32) ^ (e->debugid & ~KTRACE_FUNC_MASK);
}

/* Starts and ends pair by thread and event id. */
static void event_pair(struct events *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	if (w->open.full)
		return;
	if (e->debugid & KTRACE_FUNC_START) {
		uint64_t *open = ktrace_set_put(&w->open, pair_key(e), &w->no_memory);
		if (!open)
			return;
		if (!w->open_starts++)
			w->starts_first = offset;
		(*open)++;
		return;
	}
	uint64_t *open = ktrace_set_get(&w->open, pair_key(e));
	if (open && *open) {
		(*open)--;
		w->open_starts--;
	} else if (!w->lone_ends++) {
		w->lone_ends_first = offset;
	}
}

/* Strings span several events of a thread: the first has START, the last END. Pieces: xnu bsd/kern/kdebug.c. */
static void event_string(struct events *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	uint32_t id = e->debugid & ~KTRACE_FUNC_MASK;
	bool global = id == KTRACE_STRING_GLOBAL;
	uint64_t word = w->is_64 ? 8 : 4, piece = 4 * word;
	uint64_t *span;

	if (e->debugid & KTRACE_FUNC_START) {
		if (global) {
			uint64_t string = e->args[1];
			/* In 32-bit records the signature is cut off. */
			if (w->is_64 && (string >> 48 != 0x70ac || !(string & 0xffffffffffff)))
				count_one(ev, COUNT_STRING_ID, offset);
			bool removes = (e->debugid & KTRACE_FUNC_END) && !e->args[2] && !e->args[3];
			if (removes && !w->strings.full && !ktrace_set_get(&w->strings, string))
				count_one(ev, COUNT_STRING_UNKNOWN, offset);
			else if (!removes)
				(void)ktrace_set_put(&w->strings, string, &w->no_memory);
			piece = 2 * word;
		} else if (id == KTRACE_VFS_LOOKUP || id == KTRACE_VFS_LOOKUP_DONE) {
			piece = 3 * word;
		}
		if (!(e->debugid & KTRACE_FUNC_END)) {
			span = ktrace_set_put(&w->spans, pair_key(e), &w->no_memory);
			if (span)
				*span = piece + 1;
		}
		return;
	}
	span = ktrace_set_get(&w->spans, pair_key(e));
	if (!span || !*span) {
		if (!w->spans.full)
			count_one(ev, COUNT_STRING, offset);
		return;
	}
	*span += piece;
	uint64_t max = global ? KTRACE_STRING_GLOBAL_MAX : KTRACE_STRING_SIMPLE_MAX;
	if ((global || id == KTRACE_STRING_THREADNAME || id == KTRACE_STRING_THREADNAME_PREV) && *span - 1 > max + piece)
		count_one(ev, COUNT_STRING_LONG, offset);
	if (e->debugid & KTRACE_FUNC_END)
		*span = 0;
}

static void event_meaning(struct events *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;

	switch (e->debugid & ~KTRACE_FUNC_MASK) {
	case KTRACE_NEWTHREAD: {
		uint64_t *known = ktrace_set_put(&w->threads, e->args[0], &w->no_memory);
		if (known)
			*known = 1;
		return;
	}
	case KTRACE_LOST_EVENTS:
		w->lost_events = true;
		count_one(ev, COUNT_LOST, offset);
		return;
	case KTRACE_RETROGRADE:
	case KTRACE_PAST:
		count_one(ev, COUNT_LATE, offset);
		return;
	case KTRACE_STRING_GLOBAL:
	case KTRACE_STRING_THREADNAME:
	case KTRACE_STRING_THREADNAME_PREV:
	case KTRACE_VFS_LOOKUP:
	case KTRACE_VFS_LOOKUP_DONE:
		event_string(ev, e, offset);
		return;
	default:
		break;
	}
	switch (e->debugid & KTRACE_FUNC_MASK) {
	case KTRACE_FUNC_START:
	case KTRACE_FUNC_END:
		event_pair(ev, e, offset);
		break;
	case KTRACE_FUNC_MASK:
		count_one(ev, COUNT_BOTH, offset);
		break;
	default:
		break;
	}
}

/* A thread is known from a thread map or from the event of its creation, which may come later in the file. */
static void event_thread(struct events *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	uint64_t *cached = &ev->known[(e->tid ^ e->tid >> 8) & 255];

	if (!e->tid) {
		count_one(ev, COUNT_TID_ZERO, offset);
	} else if (*cached != e->tid) {
		if (!ktrace_set_get(&w->threads, e->tid)) {
			uint64_t *first = ktrace_set_put(&w->unknown, e->tid, &w->no_memory);
			if (first && !*first)
				*first = offset + 1;
		}
		*cached = e->tid;
	}
}

static void event_check(struct events *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;

	if (__builtin_expect(!w->scan->records++, 0))
		w->first_time = e->time;
	else if (__builtin_expect(e->time < w->last_time, 0))
		count_one(ev, COUNT_ORDER, offset);
	if (e->cpu < 256) {
		if (__builtin_expect(e->time < w->time_of_cpu[e->cpu], 0))
			count_one(ev, COUNT_ORDER_CPU, offset);
		w->time_of_cpu[e->cpu] = e->time;
	}
	w->last_time = e->time;
	if (__builtin_expect(e->time - 1 >= (UINT64_C(1) << 56) - 1, 0))
		count_one(ev, e->time ? COUNT_TIME_LARGE : COUNT_TIME_ZERO, offset);
	if (__builtin_expect(e->time < w->future, 0))
		count_one(ev, COUNT_FUTURE, offset);
	if (__builtin_expect(e->time < w->header_time, 0))
		count_one(ev, COUNT_HEADER_TIME, offset);
	if (__builtin_expect(w->cpus && e->cpu >= w->cpus, 0))
		count_one(ev, COUNT_CPU, offset);
	if (__builtin_expect(e->unused != 0, 0))
		count_one(ev, COUNT_UNUSED, offset);
	if (__builtin_expect(!e->debugid, 0))
		count_one(ev, COUNT_DEBUGID, offset);
	event_thread(ev, e, offset);
	if (e->debugid & KTRACE_FUNC_MASK || e->debugid >> 24 == 7 || e->debugid >> 16 == 0x0301)
		event_meaning(ev, e, offset);
}

/* ---- the walk ---- */

static void events_keep(struct events *ev, uint64_t until)
{
	struct ktrace_walk *w = ev->walk;
	uint64_t length = until - ev->kept_from;

	if (!length)
		return;
	if (w->head_length < sizeof(w->head) && !w->head_whole) {
		size_t room = sizeof(w->head) - w->head_length, n = length < room ? (size_t)length : room;
		if (source_read(w->source, ev->kept_from, w->head + w->head_length, n) == TM_OK)
			w->head_length += n;
	}
	ev->kept += length;
	if (w->scan->plan) {
		plan_copy(w->scan->plan, w->output, w->source, ev->kept_from, length);
		plan_kept(w->scan->plan, length / ktrace_event_size(w->is_64));
		if (ev->damaged)
			plan_doubt(w->scan->plan, w->source, ev->kept_from, length, "records behind a damaged stretch of the same chunk");
	}
}

/* Whether RUN records from offset on, or as many as are left, look real; at least one. */
static bool events_sound(struct ktrace_walk *w, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(w->is_64);
	unsigned run = 0;

	for (; run < RUN && end - offset >= size; run++, offset += size) {
		const uint8_t *p = window_at(&w->window, offset, size);
		if (!p || event_is_bad(p, w->is_64))
			return false;
	}
	/* Fewer than RUN only if they fill the rest exactly. */
	return run == RUN || (run && offset == end);
}

unsigned ktrace_events_in_order(struct ktrace_walk *w, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(w->is_64);
	uint64_t previous = 0;
	unsigned run = 0;

	for (; run < 3 * RUN && end - offset >= size; run++, offset += size) {
		const uint8_t *p = window_at(&w->window, offset, size);
		if (!p)
			return 0;
		struct ktrace_event e = event_decode(p, w->is_64);
		if (event_failures(&e, w->is_64) || e.time < previous || (run && (e.time - previous) >> 40))
			break;
		previous = e.time;
	}
	return run >= RUN ? run : 0;
}

/* What is odd about the first records from offset on: tests that they fail, and times that go back or leap. */
static unsigned events_oddities(struct ktrace_walk *w, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(w->is_64);
	uint64_t previous = 0;
	unsigned oddities = 0;

	for (unsigned i = 0; i < 4 * RUN && end - offset >= size; i++, offset += size) {
		const uint8_t *p = window_at(&w->window, offset, size);
		if (!p)
			break;
		struct ktrace_event e = event_decode(p, w->is_64);
		oddities += event_failures(&e, w->is_64);
		oddities += previous && (e.time < previous || (e.time - previous) >> 44) ? 1u : 0u;
		previous = e.time;
	}
	return oddities;
}

uint64_t ktrace_events_find(struct ktrace_walk *w, uint64_t offset, uint64_t end, unsigned step)
{
	uint32_t size = ktrace_event_size(w->is_64);
	uint64_t best = end;
	unsigned fewest = UINT32_MAX;

	while (offset < end && end - offset >= RUN * size && !events_sound(w, offset, end))
		offset += step;
	/* Records looked at a few bytes early often pass: the best place within one record counts. */
	for (uint64_t at = offset; at < offset + size && at < end && end - at >= RUN * size; at += step) {
		unsigned oddities = events_oddities(w, at, end);
		if (oddities < fewest && events_sound(w, at, end)) {
			fewest = oddities;
			best = at;
		}
	}
	return best;
}

/* From the first record of a damaged stretch: where sound records begin again, or end. They may begin at any byte, but
 * a record looked at a few bytes early often passes the tests, too: the old stride is preferred where it holds. */
static uint64_t events_resume(struct ktrace_walk *w, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(w->is_64);
	for (uint64_t at = offset + 1; at < end && end - at >= size; at++) {
		if (!events_sound(w, at, end))
			continue;
		uint64_t on_stride = at + (size - (at - offset) % size) % size;
		if (on_stride < end && events_sound(w, on_stride, end))
			at = on_stride;
		/* The first one may have lost its beginning. */
		const uint8_t *p = window_at(&w->window, at, size);
		struct ktrace_event e = p ? event_decode(p, w->is_64) : (struct ktrace_event){ 0 };
		bool ragged = p && event_is_ragged(&e, w->is_64);
		return ragged && (end - at == size || events_sound(w, at + size, end)) ? at + size : at;
	}
	return end;
}

/* How many records from offset on are bad, up to RUN: so many begin a damaged stretch. Fewer do when one of them is all
 * zeros, which is no record but a hole. */
static unsigned events_bad_run(struct ktrace_walk *w, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(w->is_64);
	bool hole = false;
	unsigned run = 0;

	for (; run < RUN && end - offset >= size; run++, offset += size) {
		const uint8_t *p = window_at(&w->window, offset, size);
		if (!p || !event_is_bad(p, w->is_64))
			break;
		hole |= bytes_are_zero(p, size);
	}
	return hole ? RUN : run;
}

static uint64_t events_damaged(struct events *ev, uint64_t offset, uint64_t end)
{
	struct ktrace_walk *w = ev->walk;
	uint32_t size = ktrace_event_size(w->is_64);
	uint64_t resume = events_resume(w, offset, end), records = (resume - offset) / size;
	struct finding *fd = finding_new(w->scan->findings, KTRACE_RULE_events_damaged, w->source, offset, resume - offset);

	finding_path(fd, "%s", ev->where);
	finding_say(fd, "%" PRIu64 " bytes hold no records: %s", resume - offset,
		    resume < end ? "sound ones follow at the end of the stretch" : "nothing sound follows in this chunk");
	events_keep(ev, offset);
	if (w->scan->plan) {
		if (offset >= ev->kept_from + size && !ev->damaged)
			plan_doubt(w->scan->plan, w->source, offset - size, size, "the last record before a damaged stretch");
		plan_drop(w->scan->plan, w->source, offset, resume - offset, KTRACE_RULE_events_damaged, "no plausible records");
		plan_lost(w->scan->plan, records ? records : 1, TM_AT_LEAST);
	}
	ev->damaged = true;
	ev->kept_from = resume;
	return resume;
}

static void events_report(struct events *ev)
{
	struct ktrace_walk *w = ev->walk;
	uint32_t size = ktrace_event_size(w->is_64);

	for (unsigned i = 0; i < COUNTS; i++) {
		if (!ev->counts[i].count)
			continue;
		struct finding *fd = finding_new(w->scan->findings, counted[i].rule, w->source, ev->counts[i].first, size);
		finding_path(fd, "%s", ev->where);
		finding_say(fd, "%" PRIu64 " event%s %s; this is the first", ev->counts[i].count,
			    ev->counts[i].count == 1 ? "" : "s", counted[i].what);
	}
}

uint64_t ktrace_events_walk(struct ktrace_walk *w, uint64_t offset, uint64_t end, const char *where)
{
	struct events ev = { .walk = w, .where = where, .kept_from = offset };
	uint32_t size = ktrace_event_size(w->is_64);
	unsigned run = 0;

	while (end - offset >= size) {
		const uint8_t *p = window_at(&w->window, offset, size);
		if (!p)
			break;
		struct ktrace_event e = event_decode(p, w->is_64);
		unsigned failures = event_failures(&e, w->is_64);
		/* Look ahead before anything is said of a doubtful record: it may begin a damaged stretch, or have lost its end to it. */
		if (__builtin_expect(failures != 0 && !run, 0)) {
			bool bad = failures >= 2;
			uint64_t next = bad ? offset : offset + size;
			run = bad || event_is_ragged(&e, w->is_64) ? events_bad_run(w, next, end) : 0;
			if (run == RUN) {
				offset = events_damaged(&ev, offset, end);
				run = 0;
				continue;
			}
			run += bad ? 0 : 1;
		}
		run -= run ? 1 : 0;
		event_check(&ev, &e, offset);
		offset += size;
	}
	events_keep(&ev, offset);
	/* Records that go on at another stride leave a rest. */
	if (offset < end && w->scan->plan)
		plan_drop(w->scan->plan, w->source, offset, end - offset, KTRACE_RULE_events_damaged, "part of a record");
	events_report(&ev);
	w->head_whole |= ev.kept >= 64;
	if (!w->head_whole)
		w->head_length = 0;
	return ev.kept;
}

void ktrace_events_finish(struct ktrace_walk *w)
{
	struct findings *f = w->scan->findings;
	uint64_t threads = 0, first = UINT64_MAX, tid = 0;
	struct finding *fd;

	for (size_t i = 0; i < w->unknown.capacity; i++) {
		const struct ktrace_slot *slot = &w->unknown.slots[i];
		if (!slot->used || ktrace_set_get(&w->threads, slot->key))
			continue;
		threads++;
		if (slot->value - 1 < first) {
			first = slot->value - 1;
			tid = slot->key;
		}
	}
	if (threads && w->seen_thread_map && !w->threads.full && !w->unknown.full) {
		fd = finding_new_as(f, KTRACE_RULE_event_tid_dangling, w->lost_events ? TM_NOTE : TM_WARNING, w->source, first,
				    ktrace_event_size(w->is_64));
		finding_say(fd, "events name %" PRIu64 " thread%s that no thread map has and whose creation no event tells; the first is 0x%" PRIx64,
			    threads, threads == 1 ? "" : "s", tid);
	}
	if (w->lone_ends && !w->open.full) {
		fd = finding_new(f, KTRACE_RULE_event_end_without_start, w->source, w->lone_ends_first, ktrace_event_size(w->is_64));
		finding_say(fd, "events with END whose START is not in the file: %" PRIu64 "; this is the first", w->lone_ends);
	}
	if (w->open_starts && !w->open.full) {
		fd = finding_new(f, KTRACE_RULE_event_start_unclosed, w->source, w->starts_first, ktrace_event_size(w->is_64));
		finding_say(fd, "events with START whose END is not in the file: %" PRIu64 "; the first START of all is here", w->open_starts);
	}
	if (w->seen_events && !w->seen_thread_map) {
		fd = finding_new(f, KTRACE_RULE_threadmap_missing, w->source, 0, 0);
		finding_say(fd, "no thread map: the %" PRIu64 " events name their threads by number only", w->scan->records);
	}
	if (w->open.full || w->threads.full || w->unknown.full)
		scan_fact(w->scan, "not judged", "pairs or thread references: more than %u are told apart at a time",
			  w->open.full ? KTRACE_OPEN_MAX : KTRACE_THREADS_MAX);
}
