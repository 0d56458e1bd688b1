/* RAW files, versions 0 to 2: a header, a thread map, padding to a page, events to the end of the file. Layouts: xnu's
 * RAW_header in bsd/sys/kdebug.h; version 2 by kperf's device streams. Nothing in them has a size field. */
#include "formats/ktrace/scan/ktrace_raw.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/ktrace/repair/ktrace_repair_raw.h"
#include "formats/ktrace/salvage/ktrace_raw_find.h"
#include "formats/ktrace/scan/ktrace_event.h"
#include "formats/ktrace/scan/ktrace_threads.h"

#define USEC_PER_SEC 1000000u
/* Ticks per second: those of Apple's machines, and more than any clock has. */
#define FREQUENCY_ARM 24000000u
#define FREQUENCY_INTEL 1000000000u
#define FREQUENCY_MAX UINT64_C(10000000000)

/* The CPU map that kernels since xnu 2422 put into the gap of version 1. *at: where the gap begins, and then where the map ends.
 * False when it cannot end. */
static bool raw_gap_cpu_map(struct ktrace_walk *w, const struct ktrace_raw *raw, uint64_t *at)
{
	uint64_t room = raw->events - *at;
	const uint8_t *p = raw->version == 1 && room >= 8 ? window_at(&w->in.window, *at, 8) : NULL;

	if (!p || load_u32(p, false) != KTRACE_MAGIC_RAW1)
		return true;
	uint32_t cpus = load_u32(p + 4, false);
	w->cpu_map = true;
	if (cpus > 1000 || 8 + 16 * (uint64_t)cpus > room) {
		struct finding *fd = finding_report(w->scan->findings, KTRACE_RULE_raw_cpumap_count, w->in.source, *at, 8,
						    "the count of the CPU map is %" PRIu32 "; there is room for %" PRIu64, cpus,
						    (room - 8) / 16);
		finding_field(fd, *at + 4, 4, "count = %" PRIu32, cpus);
		return false;
	}
	w->in.cpus = cpus;
	*at += 8 + 16 * (uint64_t)cpus;
	return true;
}

/* What hit the gap may have hit the last entry of the thread map. */
static void raw_doubt_last_entry(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	if (raw->threads)
		ktrace_repair_doubt(&w->repair, raw->map_end - ktrace_thread_size(w->in.is_64), raw->map_end,
				    "an entry of the thread map beside damage");
}

/* Bytes were cut out of the thread map, or put into it, nobody knows where. */
static void raw_doubt_map(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	ktrace_repair_doubt(&w->repair, raw->map, raw->map_end,
			    "entries of a thread map in which bytes are missing, or were inserted");
	ktrace_repair_lost_threads(&w->repair);
}

static void raw_gap(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	uint64_t at = raw->map_end, page = ktrace_page_up(raw->map_end);

	if (!raw_gap_cpu_map(w, raw, &at))
		return;
	uint64_t stop = at < raw->events ? window_skip_zeros(&w->in.window, at) : raw->events;
	if (stop < raw->events) {
		finding_report(w->scan->findings, KTRACE_RULE_raw_pad_nonzero, w->in.source, stop, raw->events - stop,
			       "the gap between thread map and events is not all zeros");
		/* Events that begin too early. */
		const uint8_t *p = raw->events - stop >= 8 ? window_at(&w->in.window, raw->events - 8, 8) : NULL;
		if (!p || load_u64(p, false)) {
			raw_doubt_last_entry(w, raw);
			ktrace_repair_doubt(&w->repair, raw->events, raw->events + ktrace_event_size(w->in.is_64),
					    "the first event behind padding that was hit");
		}
	}
	if (raw->version == 1 && raw->events > page && page == raw->map_end) {
		finding_report(w->scan->findings, KTRACE_RULE_raw_extra_page, w->in.source, page, raw->events - page,
			       "the thread map ends at a page, and a whole page of zeros follows before the events");
	}
	if (raw->version == 2 && raw->events > page && (raw->events - page) % KTRACE_PAGE == 0) {
		finding_report(w->scan->findings, KTRACE_RULE_events_damaged, w->in.source, page, raw->events - page,
			       "%" PRIu64 " bytes of zeros stand where readers look for the first event", raw->events - page);
		ktrace_repair_drop(&w->repair, page, raw->events, KTRACE_RULE_events_damaged, "zeros in front of the events");
		ktrace_repair_doubt(&w->repair, raw->events, raw->events + ktrace_event_size(w->in.is_64),
				    "the first event behind zeros");
		raw_doubt_last_entry(w, raw);
		ktrace_repair_lost(&w->repair);
	}
	if (raw->version == 2) {
		uint64_t rest = (raw->map_end - raw->map) % KTRACE_PAGE;
		if (rest == 0 || rest > KTRACE_PAGE - KTRACE_RAW2_HEADER) {
			finding_report(w->scan->findings, KTRACE_RULE_v2_event_offset_ambiguous, w->in.source, raw->map,
				       raw->map_end - raw->map,
				       "with %" PRIu64 " threads one of Apple's readers expects events at 0x%" PRIx64
				       ", the other at 0x%" PRIx64,
				       raw->threads, ktrace_page_up(raw->map_end), ktrace_page_up(raw->map_end - raw->map));
		}
	}
}

static void raw2_width(struct ktrace_walk *w, struct ktrace_raw *raw, uint32_t flag)
{
	struct findings *f = w->scan->findings;
	struct finding *fd;

	w->in.is_64 = flag & 0xff;
	const char *stated = w->in.is_64 ? "64" : "32", *other = w->in.is_64 ? "32" : "64";
	struct ktrace_raw2_width width = ktrace_raw2_width_find(&w->in, raw);
	if (!width.other) {
		if (flag > 1) {
			fd = finding_report(f, KTRACE_RULE_flags_bitness_mismatch, w->in.source, 20, 4,
					    "the flag for 64-bit events is 0x%" PRIx32
					    ", neither 0 nor 1; its events are %s-bit ones",
					    flag, stated);
			finding_field(fd, 20, 4, "64-bit flag = %" PRIu32, flag);
			ktrace_repair_raw2_width(&w->repair, w->in.is_64);
		}
		return;
	}
	if (width.events)
		fd = finding_report(f, KTRACE_RULE_flags_bitness_mismatch, w->in.source, 20, 4,
				    "the header says %s-bit events; those at 0x%" PRIx64 " are valid only as %s-bit ones", stated,
				    width.events, other);
	else
		fd = finding_report(f, KTRACE_RULE_flags_bitness_mismatch, w->in.source, 20, 4,
				    "the header says %s-bit events; its thread map is valid only as one of %s-bit files", stated,
				    other);
	finding_field(fd, 20, 4, "64-bit flag = %" PRIu32, flag);
	w->in.is_64 = !w->in.is_64;
	raw->flipped = true;
}

/* The header of version 2, at p. hit: its wall time was. */
static void raw2_header(struct ktrace_walk *w, struct ktrace_raw *raw, const uint8_t *p, bool hit)
{
	const uint64_t frequency = load_u64(p + 24, false);
	const uint32_t flag = load_u32(p + 20, false);
	const bool reserved = !bytes_are_zero(p + 32, 256);

	raw->version = 2;
	raw->map = KTRACE_RAW2_HEADER;
	raw->count_offset = 4;
	raw->threads = load_u32(p + 4, false);
	raw2_width(w, raw, flag); /* and p is gone: it moves the window */
	hit |= flag > 1 || raw->flipped;
	if (!frequency) {
		finding_report(w->scan->findings, KTRACE_RULE_v2_frequency_zero, w->in.source, 24, 8,
			       "the number of ticks per second is 0");
	} else {
		scan_fact(w->scan, "ticks per second", "%" PRIu64, frequency);
	}
	if (hit)
		ktrace_repair_doubt(&w->repair, 0, KTRACE_RAW2_HEADER, "a header of which a field was hit");
	/* What hit another field may have hit the frequency: those of Apple's machines are known. */
	if (!frequency || frequency > FREQUENCY_MAX || (hit && frequency != FREQUENCY_ARM && frequency != FREQUENCY_INTEL))
		ktrace_repair_doubt(&w->repair, 0, w->in.source->size, "events whose frequency may be damaged");
	if (w->repair.plan && ktrace_raw2_is_shifted(&w->in.window, raw->threads))
		ktrace_repair_doubt(&w->repair, 0, w->in.source->size,
				    "bytes were inserted in the header, or removed: all behind them moved");
	if (reserved) {
		ktrace_repair_doubt(&w->repair, 0, KTRACE_RAW2_HEADER, "a header whose reserved bytes are set");
		finding_report(w->scan->findings, KTRACE_RULE_v2_reserved_nonzero, w->in.source, 32, 256,
			       "the reserved area of the header is not all zeros");
	}
}

/* The wall time in the header of versions 1 and 2, at p. Whether it was hit. */
static bool raw_walltime(struct ktrace_walk *w, const uint8_t *p)
{
	const uint64_t seconds = load_u64(p + 8, false);
	const uint32_t usec = load_u32(p + 16, false);

	if (usec < USEC_PER_SEC)
		return false;
	struct finding *fd = finding_report(w->scan->findings, KTRACE_RULE_walltime_usec_range, w->in.source, 16, 4,
					    "the microseconds of the wall time are %" PRIu32 "; they are below 1000000", usec);
	finding_field(fd, 16, 4, "microseconds = %" PRIu32, usec);
	ktrace_repair_raw_walltime(&w->repair, seconds + usec / USEC_PER_SEC, usec % USEC_PER_SEC);
	ktrace_repair_doubt(&w->repair, 8, 20, "a wall time that cannot be");
	return true;
}

/* Fills raw and the width; the header, at p, is known to be there. */
static void raw_header(struct ktrace_walk *w, struct ktrace_raw *raw, const uint8_t *p, uint32_t magic)
{
	if (magic == KTRACE_MAGIC_RAW2) {
		const bool hit = raw_walltime(w, p);
		raw2_header(w, raw, p, hit);
	} else if (magic == KTRACE_MAGIC_RAW1 || magic == KTRACE_MAGIC_RAW1_OLD) {
		(void)raw_walltime(w, p);
		raw->version = 1;
		raw->count_offset = 4;
		raw->threads = load_u32(p + 4, false);
		struct ktrace_raw1 form = ktrace_raw1_find(&w->in.window, raw->threads, NULL);
		raw->map = form.map;
		w->in.is_64 = form.is_64;
		raw->guessed = !form.certain;
	} else {
		raw->version = 0;
		raw->map = 4;
		raw->threads = magic;
		w->in.is_64 = ktrace_raw0_find(&w->in.window, magic, NULL).entry == ktrace_thread_size(true);
	}
}

/* Whether the entries of the map are out of step at a place; then the bytes there are dropped. stored: the count in the file, where
 * raw->threads is what there is room for. */
static bool raw_map_resync(struct ktrace_walk *w, struct ktrace_raw *raw, uint64_t stored)
{
	struct ktrace_repair *r = &w->repair;
	uint32_t entry = ktrace_thread_size(w->in.is_64);
	uint64_t file = w->in.source->size;
	struct ktrace_map_gap gap = ktrace_map_gap_find(&w->in, raw->map, raw->threads, file);

	if (gap.from == gap.until)
		return false;
	raw->gap = gap;
	raw->stated_end = raw->map_end;
	raw->threads = (gap.from - raw->map + gap.end - gap.until) / entry;
	raw->map_end = gap.end;
	struct finding *fd =
		finding_report(w->scan->findings, KTRACE_RULE_raw_thread_count, w->in.source, gap.from, gap.until - gap.from,
			       "%" PRIu64 " bytes of the thread map are not whole entries; %" PRIu64 " entries before and %" PRIu64
			       " after them are, and the thread count is %" PRIu64,
			       gap.until - gap.from, (gap.from - raw->map) / entry, (gap.end - gap.until) / entry, stored);
	finding_field(fd, raw->count_offset, 4, "thread count = %" PRIu64, stored);
	if (raw->magic_lost)
		ktrace_repair_raw_magic(r, raw->magic);
	if (raw->flipped)
		ktrace_repair_raw2_width(r, w->in.is_64);
	if (raw->threads != stored)
		ktrace_repair_raw_threads(r, raw->count_offset, raw->threads, KTRACE_RULE_raw_thread_count);
	ktrace_repair_drop(r, gap.from, gap.until, KTRACE_RULE_raw_thread_count, "not whole entries of the thread map");
	ktrace_repair_doubt(r, gap.from - entry, gap.from, "an entry of the thread map beside bytes that are none");
	ktrace_repair_doubt(r, gap.until, gap.until + entry, "an entry of the thread map beside bytes that are none");
	ktrace_repair_lost_threads(r);
	return true;
}

/* Entries beside a hole may have been hit by what made it. Zeros at the end are entries that nobody uses. */
static void raw_map_doubt_holes(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	uint32_t entry = ktrace_thread_size(w->in.is_64);
	uint64_t from = raw->map;
	bool before = false;

	for (uint64_t at = raw->map; w->repair.plan && at < raw->map_end; at += entry) {
		const uint8_t *p = window_at(&w->in.window, at, entry);
		bool hole = p && bytes_are_zero(p, entry);
		w->map_damaged |= hole;
		if (hole && !before) {
			from = at;
			if (at > raw->map)
				ktrace_repair_doubt(&w->repair, at - entry, at, "an entry of the thread map beside a hole");
		} else if (before && !hole) {
			ktrace_repair_doubt(&w->repair, from, at + entry, "a hole in the thread map, and the entry behind it");
		}
		before = hole;
	}
}

/* The thread map, which may have fewer whole entries than the header gives. */
static void raw_map(struct ktrace_walk *w, struct ktrace_raw *raw)
{
	struct ktrace_repair *r = &w->repair;
	struct findings *f = w->scan->findings;
	uint32_t entry = ktrace_thread_size(w->in.is_64);
	uint64_t file = w->in.source->size, there = (file - raw->map) / entry, stored = raw->threads;
	uint64_t found = ktrace_raw_threads_find(&w->in, raw);
	struct finding *fd;

	raw->threads = found != UINT64_MAX ? found : stored <= there ? stored : there;
	raw->map_end = raw->map + raw->threads * entry;
	if (raw_map_resync(w, raw, stored))
		return;
	/* Entries at its beginning were overwritten by zeros. */
	const uint64_t begins = raw->threads ? ktrace_map_after_hole(&w->in.window, raw->map, entry) : raw->map;
	if (r->plan && begins != raw->map) {
		ktrace_repair_doubt(r, raw->map, begins < raw->map_end ? begins : raw->map_end,
				    "a hole at the beginning of the thread map");
		ktrace_repair_lost_threads(r);
	}
	if (raw->magic_lost)
		ktrace_repair_raw_magic(r, raw->magic);
	if (raw->flipped)
		ktrace_repair_raw2_width(r, w->in.is_64);
	if (raw->threads == stored)
		return;
	if (found != UINT64_MAX) {
		fd = finding_report(f, KTRACE_RULE_raw_thread_count, w->in.source, raw->map, raw->map_end - raw->map,
				    "the thread count is %" PRIu64 "; the thread map has %" PRIu64
				    " entries before the events begin",
				    stored, raw->threads);
		ktrace_repair_raw_threads(r, raw->count_offset, raw->threads, KTRACE_RULE_raw_thread_count);
		raw_map_doubt_holes(w, raw);
		/* What hit the count may have hit the entry behind it. */
		if (!raw->version)
			ktrace_repair_doubt(r, raw->map, raw->map + entry,
					    "an entry of the thread map beside its count, which was hit");
		/* As many bytes are missing in front of the events as in the map: it is the map that lacks them. */
		uint64_t stated = raw->map + stored * entry;
		if (stored > raw->threads && raw->version &&
		    stated - raw->map_end == ktrace_page_up(stated) - ktrace_page_up(raw->map_end))
			raw_doubt_map(w, raw);
	} else {
		fd = finding_report(f, KTRACE_RULE_raw_threadmap_truncated, w->in.source, raw->map, raw->map_end - raw->map,
				    "the thread count is %" PRIu64 "; the file ends after %" PRIu64 " entries", stored, there);
		ktrace_repair_raw_threads(r, raw->count_offset, raw->threads, KTRACE_RULE_raw_threadmap_truncated);
		ktrace_repair_drop(r, raw->map_end, file, KTRACE_RULE_raw_threadmap_truncated, "part of a thread map entry");
		ktrace_repair_lost(r);
		raw->events = file;
	}
	finding_field(fd, raw->count_offset, 4, "thread count = %" PRIu64, stored);
}

/* Events, up to the end of the file. */
static void raw_records(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	uint32_t size = ktrace_event_size(w->in.is_64);
	uint64_t file = w->in.source->size, whole = raw->events + (file - raw->events) / size * size;
	struct ktrace_stretch stretch = { .offset = raw->events,
					  .end = file,
					  .where = "events",
					  .rule = KTRACE_RULE_raw_events_partial,
					  .resized = whole != file };

	w->events.seen = raw->events < whole;
	(void)ktrace_events_walk(w, &stretch);
	if (whole != file)
		finding_report(w->scan->findings, KTRACE_RULE_raw_events_partial, w->in.source, whole, file - whole,
			       "the file ends %" PRIu64 " bytes into a record of %" PRIu32, file - whole, size);
}

/* Events are early by whole entries, and as many at the end of the map are zeros: these are the gap, and the map lacks others. */
static bool raw_map_lacks(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	const uint32_t entry = ktrace_thread_size(w->in.is_64);
	const uint64_t missing = ktrace_page_up(raw->map_end) - raw->events;

	return missing < KTRACE_PAGE && missing <= raw->threads * entry &&
	       window_skip_zeros_to(&w->in.window, raw->map_end - missing, raw->map_end) == raw->map_end;
}

/* The gap and the events. */
static void raw_events(struct ktrace_walk *w, struct ktrace_raw *raw)
{
	struct findings *f = w->scan->findings;
	uint32_t size = ktrace_event_size(w->in.is_64);

	ktrace_raw_events_find(&w->in, raw);
	raw_gap(w, raw);
	uint64_t file = w->in.source->size, whole = raw->events + (file - raw->events) / size * size;
	bool cut = raw->version > 0 && raw->events == file && ktrace_page_up(raw->map_end) > file; /* in the gap */
	if (raw->flipped)
		ktrace_repair_doubt(&w->repair, raw->events, whole, "records whose width was found by their content");
	if (raw->early)
		finding_report(f, KTRACE_RULE_events_damaged, w->in.source, raw->events, size,
			       "events begin at 0x%" PRIx64 ", before the page at which readers look for them: bytes are missing",
			       raw->events);
	if (raw->early || ktrace_events_failures(w->in.source, raw->events, file, w->in.is_64, 1))
		raw_doubt_last_entry(w, raw);
	if (w->repair.plan && raw->version && (raw->early ? raw_map_lacks(w, raw) : ktrace_raw_events_are_late(&w->in, raw)))
		raw_doubt_map(w, raw);
	/* As it is written, the gap is there, so that readers find the events. */
	if (raw->unpadded || cut)
		ktrace_repair_raw_gap(&w->repair, raw->events, cut);
	if (cut) {
		finding_report(f, KTRACE_RULE_raw_events_partial, w->in.source, raw->map_end, file - raw->map_end,
			       "the file ends %" PRIu64 " bytes before its events start, at 0x%" PRIx64,
			       ktrace_page_up(raw->map_end) - file, ktrace_page_up(raw->map_end));
		ktrace_repair_lost(&w->repair);
		return;
	}
	raw_records(w, raw);
}

/* Entries of a thread map that are left: directly in front of the records in version 0, else at the beginning of the file, and the
 * page is filled up behind them. */
static void raw_rest_map(struct ktrace_walk *w, struct ktrace_raw *raw)
{
	const uint32_t entry = ktrace_thread_size(w->in.is_64);
	const uint64_t events = raw->events;
	uint64_t threads = 0;

	while (threads < KTRACE_RAW0_THREADS_MAX && events >= (threads + 1) * entry &&
	       ktrace_map_run(&w->in, events - (threads + 1) * entry, events, 1))
		threads++;
	raw->map_end = events;
	raw->map = events - threads * entry;
	if (!threads || events % KTRACE_PAGE == 0)
		raw->map = ktrace_map_rest(&w->in, events, &raw->map_end);
	raw->threads = (raw->map_end - raw->map) / entry;
	if (raw->threads > KTRACE_RAW0_THREADS_MAX || !raw->threads) {
		raw->threads = 0;
		raw->map = raw->map_end = events;
	}
	/* Without a map, readers know records by their order alone. */
	if (raw->threads && w->in.is_64)
		raw->events = ktrace_raw_rest_before(&w->in.window, events, raw->map_end);
}

/* Whether only version 0, which states no rate of a clock, has records at such a place: in other versions of RAW they begin with a
 * page, in version 3 with a word of 8 bytes. */
static bool raw_rest_is_raw0(const struct ktrace_raw_rest *rest)
{
	return rest->events % 8;
}

/* Of a file whose beginning is lost: written as version 0, which needs no more than a count of threads. */
static void raw_rest(struct ktrace_walk *w, const struct ktrace_raw_rest *rest, struct ktrace_raw *raw)
{
	struct ktrace_repair *r = &w->repair;
	uint8_t count[4];

	w->in.is_64 = rest->is_64;
	raw->events = rest->events;
	raw_rest_map(w, raw);
	w->head.moved = true;
	w->head.map = raw->map;
	(void)snprintf(w->scan->version, sizeof(w->scan->version), "RAW");
	finding_report(w->scan->findings, KTRACE_RULE_bad_magic, w->in.source, 0, raw->map ? raw->map : 4,
		       "the beginning of the file is lost; %s-bit records of events begin at 0x%" PRIx64, rest->is_64 ? "64" : "32",
		       raw->events);
	ktrace_foreign_find(w, 0, raw->map);
	store_u32(count, (uint32_t)raw->threads, false);
	ktrace_repair_insert(r, 0, count, sizeof(count), KTRACE_RULE_bad_magic, "number of entries of the thread map");
	ktrace_repair_drop(r, 0, raw->map, KTRACE_RULE_bad_magic, "not records");
	ktrace_repair_lost(r);
	ktrace_repair_lost_threads(r);
	if (raw->threads) {
		/* What hit the beginning may have hit the first of them. */
		ktrace_repair_doubt(r, raw->map, raw->map + ktrace_thread_size(rest->is_64), "the first entry that is left");
		ktrace_threads_check(w, raw->map, raw->threads, false);
		ktrace_repair_drop(r, raw->map_end, raw->events, KTRACE_RULE_bad_magic,
				   "what filled a page up behind the thread map");
	}
	if (raw->map_end < raw->events || (!raw->threads && !raw_rest_is_raw0(rest))) {
		/* What their times are counted in is lost, if the file said so. */
		ktrace_repair_doubt(r, raw->events, w->in.source->size,
				    "records whose header is lost, and with it the rate of their clock");
	} else if (!raw->threads) {
		ktrace_repair_doubt(r, rest->events, rest->events + ktrace_event_size(rest->is_64),
				    "the first record that is left");
	}
	raw_records(w, raw);
}

/* Whether readers would take what is written for something else. */
static enum tracemend_status raw_outcome(struct ktrace_walk *w, const struct ktrace_raw *raw)
{
	struct scan *s = w->scan;

	if (!raw->guessed && ktrace_raw_is_unambiguous(&w->in, raw, &w->head))
		return TM_OK;
	(void)snprintf(s->incomplete, sizeof(s->incomplete), "%s",
		       raw->version == 2 ? "from the remaining events it cannot be known whether they are 32-bit or 64-bit ones"
					 : "versions 0 and 1 do not store the width of their records, and it cannot be known from "
					   "the remaining ones");
	return TM_NOTHING;
}

enum tracemend_status ktrace_raw_walk(struct ktrace_walk *w, const struct ktrace_form *form)
{
	struct ktrace_raw raw = { 0 };
	struct scan *s = w->scan;
	const uint32_t magic = form->magic;
	uint64_t file = w->in.source->size;
	size_t need = magic == KTRACE_MAGIC_RAW2 ? KTRACE_RAW2_HEADER : magic >> 16 ? 24 : 4;

	if (form->lost) {
		raw_rest(w, &form->rest, &raw);
		ktrace_events_finish(w);
		return s->plan ? raw_outcome(w, &raw) : TM_OK;
	}
	const uint8_t *p = window_at(&w->in.window, 0, need);
	if (!p) {
		finding_report(s->findings, KTRACE_RULE_header_truncated, w->in.source, 0, file,
			       "the file has %" PRIu64 " bytes; its header needs %zu", file, need);
		return s->plan ? TM_NOTHING : TM_OK;
	}
	uint32_t stored = load_u32(p, false);
	raw_header(w, &raw, p, magic);
	(void)snprintf(s->version, sizeof(s->version), "RAW %u", raw.version);
	finding_report(s->findings, KTRACE_RULE_legacy_raw_file, w->in.source, 0, need,
		       "RAW version %u, %s-bit, %" PRIu64 " threads in its map", raw.version, w->in.is_64 ? "64" : "32",
		       raw.threads);
	uint64_t errors = findings_errors(s->findings);
	raw.magic_lost = stored != magic;
	raw.magic = magic;
	if (raw.magic_lost)
		finding_report(s->findings, KTRACE_RULE_bad_magic, w->in.source, 0, 4,
			       "the magic number is 0x%08" PRIx32 " instead of 0x%08" PRIx32, stored, magic);
	/* The last byte tells the two of version 1 apart. */
	if (raw.version == 1 && (stored ^ magic) & 0xff)
		ktrace_repair_doubt(&w->repair, 0, 4, "a magic number that may have been another");
	raw_map(w, &raw);
	if (raw.gap.from < raw.gap.until) {
		uint32_t entry = ktrace_thread_size(w->in.is_64);
		ktrace_threads_check(w, raw.map, (raw.gap.from - raw.map) / entry, raw.version == 1);
		ktrace_threads_check(w, raw.gap.until, (raw.gap.end - raw.gap.until) / entry, raw.version == 1);
	} else {
		ktrace_threads_check(w, raw.map, raw.threads, raw.version == 1);
	}
	if (raw.map_end < file && raw.events < file)
		raw_events(w, &raw);
	ktrace_events_finish(w);
	/* Where the file was cut in front of its events, another one may go on. */
	if (raw.version != 1) /* whose CPU map has such a mark */
		ktrace_foreign_find(w, 4, raw.events && raw.events < file ? raw.events : file);
	bool changed = raw.flipped || findings_errors(s->findings) != errors;
	return s->plan && changed ? raw_outcome(w, &raw) : TM_OK;
}
