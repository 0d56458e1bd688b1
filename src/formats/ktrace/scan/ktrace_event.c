/* Events: records of 64 or 32 bytes. Layout: kd_buf of xnu's bsd/sys/kdebug.h. */
#include "formats/ktrace/decode/ktrace_record.h"

#include <inttypes.h>

/* ---- rules that count ---- */

/* One finding a stretch of records, with the first record and the count. */
#define EVENT_COUNTED(ROW) \
	ROW(event_before_future_timestamp, "older than the time an earlier chunk promised") \
	ROW(event_unused_nonzero, "with bytes in the unused word") \
	ROW(event_debugid_zero, "with debug id 0") \
	ROW(event_timestamp_zero, "with time 0") \
	ROW(event_timestamp_implausible, "with a time of 2^56 ticks or more") \
	ROW(event_timestamp_order, "earlier than the one before") \
	ROW(event_timestamp_order_cpu, "earlier than the one before on the same CPU") \
	ROW(event_before_header_timestamp, "earlier than the header's timestamp") \
	ROW(event_cpu_out_of_map, "of a CPU that is not in the CPU map") \
	ROW(event_tid_zero, "with thread id 0") \
	ROW(event_start_end_both, "with both START and END") \
	ROW(events_lost, "telling of lost events") \
	ROW(events_retrograde, "telling of late events") \
	ROW(string_sequence_broken, "continuing a string that has no beginning") \
	ROW(string_id_signature, "with a string id that the kernel does not give") \
	ROW(string_id_unknown, "removing a string that was never defined") \
	ROW(string_too_long, "making a string longer than the kernel does")

enum counted {
#define ROW(symbol, what) COUNT_##symbol,
	EVENT_COUNTED(ROW)
#undef ROW
		COUNTS
};

static const struct {
	enum ktrace_rule rule;
	const char *what;
} counted[COUNTS] = {
#define ROW(symbol, what) { KTRACE_RULE_##symbol, what },
	EVENT_COUNTED(ROW)
#undef ROW
};

struct events {
	struct ktrace_walk *walk;
	const struct ktrace_stretch *stretch;
	struct ktrace_count counts[COUNTS];
	uint64_t known[256];   /* thread ids found known lately, by their low bits */
	uint64_t kept_from;    /* start of the run of records not yet given to the plan */
	uint64_t kept;	       /* bytes */
	uint64_t time_before;  /* of the last record before that run */
	struct ktrace_gap gap; /* where the stretch lost its step; at its end: nowhere, or further on than the walk */
	uint64_t torn_from;    /* where records that may be out of step begin, if they reach the end */
	bool anywhere;	       /* see ktrace_records_resume() */
	bool damaged;	       /* something was dropped before that run */
};

#define event_count(ev, symbol, offset) ((void)PLACE(KTRACE_RULE_##symbol), event_count_at((ev), COUNT_##symbol, (offset)))
static void event_count_at(struct events *ev, enum counted what, uint64_t offset)
{
	if (!place_silenced() && !ev->counts[what].count++)
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
				event_count(ev, string_id_signature, offset);
			bool removes = (e->debugid & KTRACE_FUNC_END) && !e->args[2] && !e->args[3];
			if (removes && !w->strings.full && !ktrace_set_get(&w->strings, string))
				event_count(ev, string_id_unknown, offset);
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
			event_count(ev, string_sequence_broken, offset);
		return;
	}
	*span += piece;
	uint64_t max = global ? KTRACE_STRING_GLOBAL_MAX : KTRACE_STRING_SIMPLE_MAX;
	if ((global || id == KTRACE_STRING_THREADNAME || id == KTRACE_STRING_THREADNAME_PREV) && *span - 1 > max + piece)
		event_count(ev, string_too_long, offset);
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
		event_count(ev, events_lost, offset);
		return;
	case KTRACE_RETROGRADE:
	case KTRACE_PAST:
		event_count(ev, events_retrograde, offset);
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
		event_count(ev, event_start_end_both, offset);
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
		event_count(ev, event_tid_zero, offset);
	} else if (*cached != e->tid) {
		if (!ktrace_set_get(&w->threads, e->tid)) {
			uint64_t *first = ktrace_set_put(&w->unknown, e->tid, &w->no_memory);
			if (first && !*first)
				*first = offset + 1;
		}
		*cached = e->tid;
	}
}

static void event_time_odd(struct events *ev, uint64_t time, uint64_t offset)
{
	if (time)
		event_count(ev, event_timestamp_implausible, offset);
	else
		event_count(ev, event_timestamp_zero, offset);
}

static void event_check(struct events *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;

	if (__builtin_expect(!w->scan->records++, 0))
		w->first_time = e->time;
	else if (__builtin_expect(e->time < w->last_time, 0))
		event_count(ev, event_timestamp_order, offset);
	if (e->cpu < 256) {
		if (__builtin_expect(e->time < w->time_of_cpu[e->cpu], 0))
			event_count(ev, event_timestamp_order_cpu, offset);
		w->time_of_cpu[e->cpu] = e->time;
	}
	w->last_time = e->time;
	if (__builtin_expect(e->time - 1 >= (UINT64_C(1) << 56) - 1, 0))
		event_time_odd(ev, e->time, offset);
	if (__builtin_expect(e->time < w->future, 0))
		event_count(ev, event_before_future_timestamp, offset);
	if (__builtin_expect(e->time < w->header_time, 0))
		event_count(ev, event_before_header_timestamp, offset);
	if (__builtin_expect(w->cpus && e->cpu >= w->cpus, 0))
		event_count(ev, event_cpu_out_of_map, offset);
	if (__builtin_expect(e->unused != 0, 0))
		event_count(ev, event_unused_nonzero, offset);
	if (__builtin_expect(!e->debugid, 0))
		event_count(ev, event_debugid_zero, offset);
	event_thread(ev, e, offset);
	if (e->debugid & KTRACE_FUNC_MASK || e->debugid >> 24 == 7 || e->debugid >> 16 == 0x0301)
		event_meaning(ev, e, offset);
}

/* ---- the walk ---- */

/* Records beside damage that may have been hit by it and still pass. */
#define MARGIN 2u

static void events_doubt(struct events *ev, uint64_t from, uint64_t until, const char *why)
{
	if (from < until)
		plan_doubt(ev->walk->scan->plan, ev->walk->source, from, until - from, why);
}

/* How many records on one side of damage may have been hit by it and still pass: up to the last suspicious one before several
 * that are not. [from, until): the run; step: from which end of it. */
static uint64_t events_margin(struct events *ev, uint64_t from, uint64_t until, bool at_its_end)
{
	uint32_t size = ktrace_event_size(ev->walk->is_64);
	uint64_t records = (until - from) / size, margin = MARGIN, clean = 0, i;

	for (i = 0; i < records && clean < KTRACE_RUN; i++) {
		uint64_t at = at_its_end ? until - (i + 1) * size : from + i * size;
		clean = ktrace_record_suspicion(ev->walk, at) ? 0 : clean + 1;
		if (!clean)
			margin = i + MARGIN;
	}
	return margin < records ? margin : records;
}

/* Which records of the run [ev->kept_from, until) nothing vouches for. A record has nothing to tell whether it is whole; its
 * place does: a whole number of records from the start of the stretch, or from its end. last: the stretch ends with them. */
static void events_vouch(struct events *ev, uint64_t until, bool last)
{
	const struct ktrace_stretch *s = ev->stretch;
	uint32_t size = ktrace_event_size(ev->walk->is_64);
	uint64_t from = ev->kept_from;
	bool in_step = (from - s->offset) % size == 0 || (s->end - from) % size == 0;
	const uint8_t *p = ev->damaged ? window_at(&ev->walk->window, from, size) : NULL;
	bool back = p && ktrace_record_decode(p, ev->walk->is_64).time < ev->time_before;

	if (!in_step || back) {
		events_doubt(ev, from, until, "records behind a damaged stretch, and not in step with those before");
		return;
	}
	if (s->resized && last && !ev->damaged && s->end == until) {
		/* Where a whole number of records is missing or too many, the place shows in nothing. */
		events_doubt(ev, from, until, "records of a chunk that is damaged");
		return;
	}
	/* What hit the size may have reached the first record. */
	bool hit = s->rule == KTRACE_RULE_chunk_size_damaged || s->rule == KTRACE_RULE_chunk_size_overflow ||
		   s->rule == KTRACE_RULE_chunk_size_unknown;
	uint64_t head = ev->damaged || hit ? from + size * events_margin(ev, from, until, false) : from, tail = until;
	if (!last || s->resized)
		tail -= size * events_margin(ev, from, until, true);
	if (last && ev->torn_from < tail)
		tail = ev->torn_from;
	events_doubt(ev, from, head, "the first records of a damaged stretch");
	events_doubt(ev, tail > head ? tail : head, until, "the last records before a damaged stretch");
}

static void events_keep(struct events *ev, uint64_t until, bool last)
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
		events_vouch(ev, until, last);
	}
}

/* [offset, resume) holds no records. */
static uint64_t events_damaged(struct events *ev, uint64_t offset, uint64_t resume)
{
	struct ktrace_walk *w = ev->walk;
	uint64_t end = ev->stretch->end;
	struct finding *fd = finding_new(w->scan->findings, KTRACE_RULE_events_damaged, w->source, offset, resume - offset);

	finding_path(fd, "%s", ev->stretch->where);
	finding_say(fd, "%" PRIu64 " bytes hold no records: %s", resume - offset,
		    resume < end ? "sound ones follow at the end of the stretch" : "nothing sound follows in this chunk");
	events_keep(ev, offset, false);
	if (w->scan->plan) {
		plan_drop(w->scan->plan, w->source, offset, resume - offset, KTRACE_RULE_events_damaged, "no plausible records");
		plan_lost(w->scan->plan, 0, TM_UNKNOWN_COUNT);
	}
	ev->damaged = true;
	ev->time_before = w->last_time;
	ev->kept_from = resume;
	return resume;
}

/* What is left behind the last whole record. */
static void events_rest(struct events *ev, uint64_t from)
{
	const struct ktrace_stretch *s = ev->stretch;
	struct ktrace_walk *w = ev->walk;

	if (from == s->end || !w->scan->plan)
		return;
	plan_drop(w->scan->plan, w->source, from, s->end - from,
		  s->rule == KTRACE_RULE_COUNT ? KTRACE_RULE_events_damaged : s->rule, "part of a record");
	plan_lost(w->scan->plan, 0, TM_UNKNOWN_COUNT);
}

static void events_report(struct events *ev)
{
	struct ktrace_walk *w = ev->walk;
	uint32_t size = ktrace_event_size(w->is_64);

	for (unsigned i = 0; i < COUNTS; i++) {
		if (!ev->counts[i].count)
			continue;
		struct finding *fd = finding_new(w->scan->findings, counted[i].rule, w->source, ev->counts[i].first, size);
		finding_path(fd, "%s", ev->stretch->where);
		finding_say(fd, "%" PRIu64 " event%s %s; this is the first", ev->counts[i].count,
			    ev->counts[i].count == 1 ? "" : "s", counted[i].what);
	}
}

/* Where records go on behind a run of bad ones at offset, or behind the place where the stretch lost its step. */
static uint64_t events_resume(struct events *ev, uint64_t offset)
{
	uint64_t until = ev->gap.from > offset ? ev->gap.from : ev->stretch->end;
	uint64_t resume = ktrace_records_resume(ev->walk, offset, until, &ev->anywhere);

	if (resume == until && until == ev->gap.from) {
		resume = ev->gap.until;
		ev->gap.from = ev->gap.until = ev->stretch->end;
	}
	return resume;
}

/* Finds out where the stretch lost its step, if it did. Where nothing is in step with its end, it may have been cut. */
static void events_tear(struct events *ev)
{
	const struct ktrace_stretch *s = ev->stretch;

	ev->gap = (struct ktrace_gap){ s->end, s->end };
	ev->torn_from = s->end;
	if (!s->resized || (s->end - s->offset) % ktrace_event_size(ev->walk->is_64) == 0)
		return;
	struct ktrace_gap gap = ktrace_records_gap(ev->walk, s);
	if (gap.until < s->end)
		ev->gap = gap;
	else
		ev->torn_from = gap.from;
}

uint64_t ktrace_events_walk(struct ktrace_walk *w, const struct ktrace_stretch *stretch)
{
	struct events ev = { .walk = w, .stretch = stretch, .kept_from = stretch->offset };
	uint32_t size = ktrace_event_size(w->is_64);
	uint64_t offset = stretch->offset, end = stretch->end, previous = w->last_time;
	unsigned run = 0;

	events_tear(&ev);
	while (end - offset >= size) {
		if (__builtin_expect(offset >= ev.gap.from, 0)) {
			if (offset < ev.gap.until)
				offset = events_damaged(&ev, offset, ev.gap.until);
			ev.gap.from = ev.gap.until = end;
			run = 0;
			continue;
		}
		const uint8_t *p = window_at(&w->window, offset, size);
		if (!p)
			break;
		struct ktrace_event e = ktrace_record_decode(p, w->is_64);
		unsigned failures = ktrace_record_failures(&e, w->is_64) + ktrace_record_leaps(&e, previous);
		/* Look ahead before anything is said of a doubtful record: it may begin a damaged stretch, or have lost its end to
		 * it. */
		if (__builtin_expect(failures != 0 && !run, 0)) {
			bool bad = failures >= 2;
			uint64_t next = bad ? offset : offset + size;
			run = bad || ktrace_record_is_ragged(&e, w->is_64)
				      ? ktrace_records_bad_run(w, next, ev.gap.from, bad ? previous : e.time)
				      : 0;
			/* Bad ones right before what is left out would meet others behind it. */
			if (run == KTRACE_RUN || (run && ev.gap.from < end && next + run * size == ev.gap.from)) {
				offset = events_damaged(&ev, offset, events_resume(&ev, offset));
				run = 0;
				continue;
			}
			run += bad ? 0 : 1;
		}
		run -= run ? 1 : 0;
		previous = e.time;
		event_check(&ev, &e, offset);
		offset += size;
	}
	events_keep(&ev, offset, true);
	events_rest(&ev, offset);
	events_report(&ev);
	w->head_whole |= ev.kept >= 64;
	if (!w->head_whole)
		w->head_length = 0;
	return ev.kept;
}

void ktrace_events_finish(struct ktrace_walk *w)
{
	struct findings *f = w->scan->findings;
	uint32_t size = ktrace_event_size(w->is_64);
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
		fd = w->lost_events ? finding_milder(f, KTRACE_RULE_event_tid_dangling, TM_NOTE, w->source, first, size)
				    : finding_new(f, KTRACE_RULE_event_tid_dangling, w->source, first, size);
		finding_say(fd,
			    "events name %" PRIu64
			    " thread%s that no thread map has and whose creation no event tells; the first is 0x%" PRIx64,
			    threads, threads == 1 ? "" : "s", tid);
	}
	if (w->lone_ends && !w->open.full) {
		finding_report(f, KTRACE_RULE_event_end_without_start, w->source, w->lone_ends_first, ktrace_event_size(w->is_64),
			       "events with END whose START is not in the file: %" PRIu64 "; this is the first", w->lone_ends);
	}
	if (w->open_starts && !w->open.full) {
		finding_report(f, KTRACE_RULE_event_start_unclosed, w->source, w->starts_first, ktrace_event_size(w->is_64),
			       "events with START whose END is not in the file: %" PRIu64 "; the first START of all is here",
			       w->open_starts);
	}
	if (w->seen_events && !w->seen_thread_map) {
		finding_report(f, KTRACE_RULE_threadmap_missing, w->source, 0, 0,
			       "no thread map: the %" PRIu64 " events name their threads by number only", w->scan->records);
	}
	if (w->open.full || w->threads.full || w->unknown.full)
		scan_fact(w->scan, "not judged", "pairs or thread references: more than %u are told apart at a time",
			  w->open.full ? KTRACE_OPEN_MAX : KTRACE_THREADS_MAX);
}
