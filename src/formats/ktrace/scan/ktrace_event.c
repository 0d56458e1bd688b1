/* Events: records of 64 or 32 bytes. Layout: kd_buf of xnu's bsd/sys/kdebug.h. */
#include "formats/ktrace/scan/ktrace_event.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/array.h"
#include "formats/ktrace/scan/ktrace_event_walk.h"
#include "formats/ktrace/scan/ktrace_stretch.h"

void ktrace_events_open(struct ktrace_events *k)
{
	k->block = UINT64_MAX;
	k->unknown_index.max = k->met.max = KTRACE_THREADS_MAX;
	k->open.max = k->strings.max = k->spans.max = KTRACE_OPEN_MAX;
}

void ktrace_events_free(struct ktrace_events *k)
{
	free(k->unknown);
	ktrace_table_free(&k->unknown_index);
	ktrace_table_free(&k->met);
	ktrace_table_free(&k->open);
	ktrace_table_free(&k->strings);
	ktrace_table_free(&k->spans);
}

bool ktrace_events_failed(const struct ktrace_events *k)
{
	return k->unknown_index.failed || k->met.failed || k->open.failed || k->strings.failed || k->spans.failed;
}

/* ---- rules that count ---- */

static const struct {
	enum ktrace_rule rule;
	const char *what;
} counted[COUNTS] = {
#define ROW(symbol, what) { KTRACE_RULE_##symbol, what },
	EVENT_COUNTED(ROW)
#undef ROW
};

/* ---- the fields of events ---- */

static void event_thread_unknown(struct ktrace_events *k, uint64_t tid, uint64_t offset)
{
	uint32_t known = ktrace_table_get(&k->unknown_index, tid);

	if (known != MAP_NONE) {
		k->unknown[known].count++;
		k->unknown[known].last = offset;
	}
	if (known != MAP_NONE || k->unknown_index.full)
		return;
	enum tracemend_status status = array_room(&k->unknown, &k->unknown_capacity, k->unknown_count, sizeof(*k->unknown),
						  KTRACE_THREADS_MAX);
	k->unknown_index.full |= status == TM_LIMIT;
	k->unknown_index.failed |= status == TM_NO_MEMORY;
	if (status == TM_OK && ktrace_table_set(&k->unknown_index, tid, (uint32_t)k->unknown_count))
		k->unknown[k->unknown_count++] = (struct ktrace_unknown){ tid, offset, offset, 1 };
}

/* A thread is known from a thread map or from the event of its creation, which may come later in the file. */
static void event_thread(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	uint64_t *met = &ev->met[ktrace_met_slot(e->tid)];

	if (!e->tid) {
		event_count(ev, event_tid_zero, offset);
	} else if (*met != e->tid) {
		if (w->repair.plan)
			(void)ktrace_table_set(&w->events.met, e->tid, 1);
		if (ktrace_table_has(&w->in.threads, e->tid))
			*met = e->tid;
		else
			event_thread_unknown(&w->events, e->tid, offset);
	}
}

static void event_time_count(struct stretch_walk *ev, uint64_t time, uint64_t offset)
{
	if (time)
		event_count(ev, event_timestamp_implausible, offset);
	else
		event_count(ev, event_timestamp_zero, offset);
}

/* Instruments begins its streams with one sample of the profiler that is later than what follows: records of one class and thread.
 */
#define SAMPLE_MAX 16u
#define SAMPLE_CLASS 0x25u

static void event_first(struct stretch_walk *ev, const struct ktrace_event *e)
{
	struct ktrace_walk *w = ev->walk;
	struct ktrace_events *k = &w->events;
	uint64_t apart = e->time - k->first_time;

	if (w->scan->records == 1) {
		k->first_time = e->time;
		k->sampled = e->debugid >> 24 == SAMPLE_CLASS;
	} else if (k->sampled && e->time >= w->in.last_time) {
		k->sampled = e->debugid >> 24 == SAMPLE_CLASS && apart < 1u << 16;
	}
}

/* Earlier than the one before. */
static void event_order(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	struct ktrace_events *k = &w->events;
	bool odd = ev->is_odd;

	ev->back = true;
	k->earliest = !k->earliest || e->time < k->earliest ? e->time : k->earliest;
	k->latest = w->in.last_time > k->latest ? w->in.last_time : k->latest;
	ev->late = w->in.last_time;
	ev->peak = ev->peak == UINT64_MAX || w->in.last_time > ev->peak ? w->in.last_time : ev->peak;
	event_count(ev, event_timestamp_order, offset);
	if (w->scan->records > SAMPLE_MAX || !k->sampled)
		return;
	/* Every CPU begins anew. */
	k->sampled = false;
	ev->is_odd = odd;
	ev->peak = UINT64_MAX;
	for (unsigned i = 0; i < KTRACE_CPUS_TIMED; i++)
		if (k->time_of_cpu[i] > e->time && i != e->cpu)
			k->time_of_cpu[i] = 0;
	if (e->cpu < KTRACE_CPUS_TIMED && k->time_of_cpu[e->cpu] > e->time) {
		event_count(ev, event_timestamp_order_cpu, offset);
		k->time_of_cpu[e->cpu] = 0;
		ev->is_odd = odd;
	}
}

static void event_check(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	struct ktrace_events *k = &w->events;

	if (__builtin_expect(w->scan->records++ < SAMPLE_MAX, 0))
		event_first(ev, e);
	if (__builtin_expect(e->time < w->in.last_time, 0))
		event_order(ev, e, offset);
	if (e->cpu < KTRACE_CPUS_TIMED) {
		if (__builtin_expect(e->time < k->time_of_cpu[e->cpu], 0))
			event_count(ev, event_timestamp_order_cpu, offset);
		k->time_of_cpu[e->cpu] = e->time;
	}
	w->in.last_time = e->time;
	if (__builtin_expect(e->time - 1 >= KTRACE_TIME_MAX, 0))
		event_time_count(ev, e->time, offset);
	if (__builtin_expect(e->time < k->future, 0)) {
		event_count(ev, event_before_future_timestamp, offset);
		if (ev->counts[COUNT_event_before_future_timestamp].count == 1)
			ktrace_repair_doubt(&w->repair, k->future_at, k->future_at + KTRACE_CHUNK_HEADER + 8,
					    "a lower bound that is later than the events");
	}
	/* The chunk before ended in a block that is doubled, or belongs elsewhere: it may go on here. */
	if (__builtin_expect(offset == ev->start && ev->block != UINT64_MAX && e->time <= ev->block, 0))
		ev->is_odd = ev->back = true;
	if (__builtin_expect(e->time > ev->peak, 0)) {
		/* In order again, where a block in front of this belongs elsewhere. */
		ev->is_odd |= ev->peak != 0;
		ev->peak = UINT64_MAX;
	}
	if (__builtin_expect(e->time > ev->block, 0))
		ev->block = UINT64_MAX;
	if (__builtin_expect(e->time < w->clock.header_time, 0))
		event_count(ev, event_before_header_timestamp, offset);
	if (__builtin_expect((w->in.cpus && e->cpu >= w->in.cpus) || e->cpu >= KTRACE_CPUS_MAX, 0))
		event_count(ev, event_cpu_out_of_map, offset);
	if (__builtin_expect(e->unused != 0, 0))
		event_count(ev, event_unused_nonzero, offset);
	if (__builtin_expect(!e->debugid, 0))
		event_count(ev, event_debugid_zero, offset);
	event_thread(ev, e, offset);
	if (ktrace_event_means(e->debugid))
		ktrace_event_meaning(ev, e, offset);
}

/* Its time is days away from `previous`, that of the record before. Where time comes back from an earlier leap, the records between
 * are a block of another capture, or were hit. */
static void event_leap(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t previous, uint64_t offset)
{
	const uint32_t size = ktrace_event_size(ev->walk->in.is_64);
	const bool lone = offset - ev->since <= size;

	ev->since = offset;
	for (unsigned i = 0; i < ev->leap_count; i++) {
		if (ktrace_record_leaps(e, ev->leaps[i].time))
			continue;
		/* A record begins with its time: what hit that may have hit the end of the one before. */
		const uint64_t from = ev->leaps[i].offset;
		ktrace_odd_add(&ev->odd, from - ev->start < size ? ev->start : from - size, offset);
		ev->leap_count = i;
		return;
	}
	/* Noise leaps at each record. Where it began must be known at its end: the latest leaps give way. */
	ev->leap_count -= ev->leap_count == LEAPS;
	ev->leaps[ev->leap_count].lone = lone;
	ev->leaps[ev->leap_count].offset = offset;
	ev->leaps[ev->leap_count++].time = previous;
}

/* ---- the walk ---- */

static void events_report(struct stretch_walk *ev, const char *where)
{
	struct ktrace_walk *w = ev->walk;
	uint32_t size = ktrace_event_size(w->in.is_64);

	for (unsigned i = 0; i < COUNTS; i++) {
		if (!ev->counts[i].count)
			continue;
		struct finding *fd = finding_new(w->scan->findings, counted[i].rule, w->in.source, ev->counts[i].first, size);
		finding_path(fd, "%s", where);
		finding_say(fd, "%" PRIu64 " event%s %s; this is the first", ev->counts[i].count,
			    ev->counts[i].count == 1 ? "" : "s", counted[i].what);
	}
}

/* A block of so many bytes stands in front of the earlier record at `offset`. Behind a leap, no time says where the block would
 * end. */
static void event_block(struct stretch_walk *ev, uint64_t offset, uint64_t bytes)
{
	const struct ktrace_event e = { .time = ktrace_record_time(&ev->walk->in, offset) };

	if (ktrace_record_leaps(&e, ev->late) || (ev->block != UINT64_MAX && ev->late <= ev->block))
		return;
	ev->block = ev->late;
	ev->block_end = bytes < UINT64_MAX - offset ? offset + bytes : UINT64_MAX;
}

#define BLOCK_RECORDS 2u /* so many that are later than the next one may have been hit; more are a block */

/* What hit an odd record may have hit those beside it as well, and out of order is one of two. */
static void event_odd(struct stretch_walk *ev, const struct ktrace_stretch *stretch, uint64_t offset)
{
	uint32_t size = ktrace_event_size(ev->walk->in.is_64);
	uint64_t from = offset - stretch->offset < size ? stretch->offset : offset - size;
	uint64_t until = stretch->end - offset < 2 * (uint64_t)size ? stretch->end : offset + 2 * (uint64_t)size;

	/* A recording that ends here, and the header of another behind it, which the last records have taken in. */
	uint64_t header = stretch->end - stretch->offset < KTRACE_HEADER ? stretch->offset : stretch->end - KTRACE_HEADER;
	if (header < offset + size)
		ktrace_foreign_find(ev->walk, header > offset ? header : offset, offset + size);
	ev->is_odd = false;
	if (ev->back && offset == stretch->offset && ev->peak != UINT64_MAX) {
		/* A chunk that begins before the end of the one in front of it: a block with its header was doubled, or belongs
		 * elsewhere. */
		if (ktrace_record_time(&ev->walk->in, offset) < ev->walk->events.but_one) {
			ev->block = ev->peak;
			ev->block_end = UINT64_MAX;
		}
		while (ev->block != UINT64_MAX && until < stretch->end && stretch->end - until >= size &&
		       ktrace_record_time(&ev->walk->in, until) <= ev->block)
			until += size;
	} else if (ev->back) {
		uint64_t block = ktrace_records_later(&ev->walk->in, ev->run, offset);
		if (offset - block > BLOCK_RECORDS * (uint64_t)size)
			event_block(ev, offset, offset - block);
		from = from - stretch->offset < size ? stretch->offset : from - size;
		uint64_t doubled = ktrace_records_doubled(&ev->walk->in, stretch, block, offset);
		until = doubled > until ? doubled : until;
		/* Where a block that belongs elsewhere begins, a record of two pieces may stand; or what hit the time of one hit
		 * the end of the one before. */
		if (block <= from)
			ktrace_odd_add(&ev->odd,
				       block - stretch->offset < 2 * (uint64_t)size ? stretch->offset : block - 2 * (uint64_t)size,
				       block + size);
	}
	ktrace_odd_add(&ev->odd, from, until);
}

/* What is known of the records up to `offset` when the next chunk is walked. */
static void walk_end(struct stretch_walk *ev, const struct ktrace_stretch *stretch, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;
	uint32_t size = ktrace_event_size(w->in.is_64);

	/* Where a block that belongs elsewhere ends with the chunk, a record of two pieces may stand. */
	w->events.block = ev->block_end < offset ? UINT64_MAX : ev->block;
	if (w->events.block != UINT64_MAX && offset > stretch->offset)
		ktrace_odd_add(&ev->odd, offset - size, offset);
	w->events.but_one = offset - stretch->offset >= 2 * (uint64_t)size ? ktrace_record_time(&w->in, offset - 2 * (uint64_t)size)
									   : 0;
	for (unsigned i = 0; i < ev->leap_count && !w->events.leap; i++)
		w->events.leap = ev->leaps[i].lone || offset - ev->leaps[i].offset <= size ? 0 : ev->leaps[i].offset;
}

/* Whether the fast path may go on behind the record at hand. previous: the time of that record. */
static bool is_plain_so_far(const struct stretch_walk *ev, uint64_t previous)
{
	const struct ktrace_walk *w = ev->walk;
	return !w->scan->slow && !w->scan->sink && !ev->is_odd && !ev->back && previous == w->in.last_time &&
	       w->scan->records >= SAMPLE_MAX;
}

uint64_t ktrace_events_walk(struct ktrace_walk *w, const struct ktrace_stretch *stretch)
{
	struct stretch_walk ev = { .walk = w,
				   .odd.repair = &w->repair,
				   .start = stretch->offset,
				   .run = stretch->offset,
				   .since = stretch->offset,
				   .peak = w->events.block,
				   .block = w->events.block,
				   .block_end = UINT64_MAX };
	struct ktrace_keep keep = ktrace_keep_begin(w, stretch);
	uint32_t size = ktrace_event_size(w->in.is_64);
	uint64_t offset = stretch->offset, end = stretch->end, previous = w->in.last_time;
	unsigned run = 0;

	while (end - offset >= size) {
		if (__builtin_expect(offset >= keep.gap.from, 0)) {
			offset = ktrace_keep_gap(&keep, offset);
			run = 0;
			continue;
		}
		const uint8_t *p = window_at(&w->in.window, offset, size);
		if (!p)
			break;
		struct ktrace_event e = ktrace_record_decode(p, w->in.is_64);
		unsigned failures = ktrace_record_failures(&e, w->in.is_64) + ktrace_record_leaps(&e, previous);
		/* Look ahead before anything is reported of a bad or suspect record: it may begin a damaged range, or be cut by it.
		 */
		if (__builtin_expect(failures != 0 && !run, 0)) {
			bool bad = failures >= 2;
			uint64_t next = bad ? offset : offset + size;
			run = bad || ktrace_record_is_suspect(&e, w->in.is_64)
				      ? ktrace_records_bad_run(&w->in, next, keep.gap.from, bad ? previous : e.time)
				      : 0;
			/* Bad records directly before the gap are dropped with it: else those after it would join them. */
			if (run == KTRACE_RUN || (run && keep.gap.from < end && next + run * size == keep.gap.from)) {
				offset = ktrace_keep_resume(&keep, offset);
				run = 0;
				continue;
			}
			run += bad ? 0 : 1;
		}
		run -= run ? 1 : 0;
		if (__builtin_expect(failures != 0, 0) && e.time && ktrace_record_leaps(&e, previous))
			event_leap(&ev, &e, previous, offset);
		previous = e.time ? e.time : previous;
		event_check(&ev, &e, offset);
		if (__builtin_expect(w->scan->sink != NULL, 0))
			ktrace_event_give(w, &e, offset);
		offset += size;
		if (!run && is_plain_so_far(&ev, previous)) {
			offset = ktrace_fast(&ev, offset, end < keep.gap.from ? end : keep.gap.from);
			previous = w->in.last_time;
		}
		if (__builtin_expect(ev.is_odd, 0)) {
			event_odd(&ev, stretch, offset - size);
			keep.odd = true;
		}
		if (__builtin_expect(ev.back, 0)) {
			ev.back = false;
			ev.run = offset - size;
		}
	}
	walk_end(&ev, stretch, offset);
	ktrace_odd_end(&ev.odd);
	uint64_t kept = ktrace_keep_end(&keep, offset);
	events_report(&ev, stretch->where);
	return kept;
}

/* Threads that nothing names and that are searched for. */
#define KTRACE_THREADS_LOST 16u
/* Threads that nothing names, and that are what is left of damaged ids, are so rare. */
#define LONE_SHARE 16u
/* An id is far above another one that it exceeds by so many bits. */
#define FAR_BITS 8u
/* Events that create threads, one of which may have named it. */
#define BIRTHS_DOUBTED 4u
/* Damage that reaches over several records leaves the same id in all of them. */
#define LONE_RECORDS 4u

/* Whether a thread that nothing names is what is left of a damaged id: real threads have more events than two, and not beside each
 * other. */
static bool thread_is_lone(const struct ktrace_walk *w, const struct ktrace_unknown *thread)
{
	return thread->count <= 2 || thread->last - thread->first < LONE_RECORDS * (uint64_t)ktrace_event_size(w->in.is_64);
}

static void events_doubt_lone(struct ktrace_walk *w, uint64_t lone)
{
	const struct ktrace_events *k = &w->events;
	struct ktrace_odd odd = { .repair = &w->repair };
	uint64_t size = ktrace_event_size(w->in.is_64);

	/* Where many are, a thread map is missing. */
	if (lone > w->scan->records / LONE_SHARE + LONE_SHARE)
		return;
	for (size_t i = 0; i < k->unknown_count; i++) {
		const struct ktrace_unknown *thread = &k->unknown[i];
		if (!thread_is_lone(w, thread) || ktrace_table_has(&w->in.threads, thread->tid))
			continue;
		bool together = thread->last - thread->first < LONE_RECORDS * size;
		ktrace_odd_add(&odd, thread->first - size, (together ? thread->last : thread->first) + 2 * size);
		if (!together)
			ktrace_repair_doubt(odd.repair, thread->last - size, thread->last + 2 * size,
					    "records beside one of a thread that nothing names");
	}
	ktrace_odd_end(&odd);
}

/* Whether the thread has no events, as the one that a damaged id names. */
static bool thread_is_idle(const struct ktrace_walk *w, uint64_t tid)
{
	return w->events.met.full || !ktrace_table_has(&w->events.met, tid);
}

/* A thread with several events that nothing names: what named it is damaged. That is an entry of a thread map whose id differs in
 * one byte, or an event that creates a thread; what is left there names a thread without events. Whether there is such an entry. */
static bool events_doubt_entries(struct ktrace_walk *w, uint64_t tid)
{
	uint32_t entry = ktrace_thread_size(w->in.is_64);
	bool found = false;

	for (unsigned byte = 0; byte < (w->in.is_64 ? 6u : 4u); byte++)
		for (uint64_t bits = 1; bits < 256; bits++) {
			uint64_t other = tid ^ bits << (8 * byte);
			uint32_t at = ktrace_table_get(&w->in.threads, other);
			if (at == MAP_NONE || !at || !thread_is_idle(w, other))
				continue;
			ktrace_repair_doubt(&w->repair, 4 * (uint64_t)at, 4 * (uint64_t)at + entry,
					    "an entry like that of a thread which no thread map has");
			found = true;
		}
	return found;
}

/* A new thread acts soon: the last few that were created before its first event. */
static void events_doubt_births(struct ktrace_walk *w, uint64_t first)
{
	const struct ktrace_events *k = &w->events;
	unsigned births = 0;

	for (unsigned i = k->born_count; i && births < BIRTHS_DOUBTED; i--) {
		if (k->born[i - 1].offset >= first || !thread_is_idle(w, k->born[i - 1].tid))
			continue;
		ktrace_repair_doubt(&w->repair, k->born[i - 1].offset, k->born[i - 1].offset + ktrace_event_size(w->in.is_64),
				    "creates a thread without events, where another one has them that nothing creates");
		births++;
	}
}

/* Ids are counted up: one that is far above those of all maps is no thread's. */
static void events_doubt_far_births(struct ktrace_walk *w)
{
	const struct ktrace_events *k = &w->events;

	for (unsigned i = 0; i < k->born_count; i++)
		if (k->born[i].tid >> FAR_BITS > w->in.highest_thread && thread_is_idle(w, k->born[i].tid))
			ktrace_repair_doubt(&w->repair, k->born[i].offset, k->born[i].offset + ktrace_event_size(w->in.is_64),
					    "creates a thread whose id is far above all others");
}

static void events_doubt_threads(struct ktrace_walk *w, uint64_t threads, uint64_t lone)
{
	const struct ktrace_events *k = &w->events;

	events_doubt_lone(w, lone);
	/* Where a thread map is damaged, it named them. */
	if (threads - lone > KTRACE_THREADS_LOST || w->map_damaged)
		return;
	for (unsigned i = 0; threads > lone && i < w->in.hole_count; i++)
		ktrace_repair_doubt(&w->repair, w->in.holes[i].from, w->in.holes[i].until,
				    "a hole in the thread map, and the entries beside it");
	for (size_t i = 0; i < k->unknown_count; i++) {
		const struct ktrace_unknown *u = &k->unknown[i];
		const bool is_lone = thread_is_lone(w, u);
		if (ktrace_table_has(&w->in.threads, u->tid) || (is_lone && lone > KTRACE_THREADS_LOST))
			continue;
		if (!events_doubt_entries(w, u->tid) && !is_lone)
			events_doubt_births(w, u->first);
	}
}

static void events_finish_threads(struct ktrace_walk *w)
{
	const struct ktrace_events *k = &w->events;
	struct findings *f = w->scan->findings;
	uint32_t size = ktrace_event_size(w->in.is_64);
	uint64_t threads = 0, lone = 0, events = 0;
	struct ktrace_unknown first = { .first = UINT64_MAX };

	for (size_t i = 0; i < k->unknown_count; i++) {
		if (ktrace_table_has(&w->in.threads, k->unknown[i].tid))
			continue;
		threads++;
		events += k->unknown[i].count;
		lone += thread_is_lone(w, &k->unknown[i]);
		if (k->unknown[i].first < first.first)
			first = k->unknown[i];
	}
	/* A thread map that was lost cannot tell which ids are damaged. */
	if (lone <= w->scan->records / LONE_SHARE && !w->in.thread_map && w->repair.plan && findings_errors(f) &&
	    !k->unknown_index.full)
		events_doubt_lone(w, lone);
	if (!threads || !w->in.thread_map || w->in.threads.full || k->unknown_index.full)
		return;
	struct finding *fd = k->lost ? finding_milder(f, KTRACE_RULE_event_tid_dangling, TM_NOTE, w->in.source, first.first, size)
				     : finding_new(f, KTRACE_RULE_event_tid_dangling, w->in.source, first.first, size);
	if (!k->lost && w->repair.plan)
		events_doubt_threads(w, threads, lone);
	/* Bytes that were put in front of the records, or are missing there, leave a part of one at the end. Where the first
	 * records did not pass, those that do were searched for. */
	if (events > w->scan->records / 2 && findings_count(f, KTRACE_RULE_raw_events_partial) &&
	    !findings_count(f, KTRACE_RULE_events_damaged))
		ktrace_repair_doubt(&w->repair, 0, w->in.source->size,
				    "most events are of threads that nothing names: they may be read from the wrong byte");
	finding_say(fd, "events name %" PRIu64 " thread%s that no thread map has and no event creates; the first is 0x%" PRIx64,
		    threads, threads == 1 ? "" : "s", first.tid);
}

void ktrace_events_finish(struct ktrace_walk *w)
{
	const struct ktrace_events *k = &w->events;
	struct findings *f = w->scan->findings;
	uint32_t size = ktrace_event_size(w->in.is_64);

	if (w->repair.plan && w->in.thread_map)
		events_doubt_far_births(w);
	events_finish_threads(w);
	if (k->lone_ends && !k->open.full)
		finding_report(f, KTRACE_RULE_event_end_without_start, w->in.source, k->lone_ends_first, size,
			       "%" PRIu64 " events with END have no START in the file; this is the first", k->lone_ends);
	if (k->open_starts && !k->open.full)
		finding_report(f, KTRACE_RULE_event_start_unclosed, w->in.source, k->starts_first, size,
			       "%" PRIu64 " events with START have no END in the file; the first START of all is here",
			       k->open_starts);
	if (k->seen && !w->in.thread_map)
		finding_report(f, KTRACE_RULE_threadmap_missing, w->in.source, 0, 0,
			       "no thread map: the %" PRIu64 " events name their threads by number only", w->scan->records);
	if (k->open.full || w->in.threads.full || k->unknown_index.full) {
		scan_fact(w->scan, "not judged", "pairs of START and END, or thread references: there are more than %u",
			  k->open.full ? KTRACE_OPEN_MAX : KTRACE_THREADS_MAX);
		scan_fact_name(w->scan, "not judged");
		scan_fact_number(w->scan, "more_than", k->open.full ? KTRACE_OPEN_MAX : KTRACE_THREADS_MAX);
	}
}
