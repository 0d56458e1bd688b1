/* RAW files, versions 0 to 2: a header, a thread map, padding to a page, events to the end of the file. Layouts: xnu's
 * RAW_header in bsd/sys/kdebug.h; version 2 by kperf's device streams. Nothing in them has a size field. */
#include "formats/ktrace/ktrace.h"

#include <inttypes.h>
#include <stdio.h>

/* Entries of a thread map that tell how wide they are. */
#define MAP_SURE 8u
#define MAP_HOLE 1024u /* bytes of zeros among them */

struct raw {
	unsigned version;
	uint32_t count_offset; /* of the thread count */
	uint64_t threads;      /* as stored */
	uint64_t map;	       /* offset of the thread map */
	uint64_t map_end;      /* behind the last whole entry that is there */
	uint64_t events;
	bool unpadded; /* events follow the map directly, where a page was to be filled up */
	bool guessed;  /* the width of the records is not certain, or would not be of what repair leaves */
	bool flipped;  /* version 2: it is not the one that the header says */
	bool magic_lost;
};

/* Whether the first entries of a thread map at `map` look like ones of that width; limit: end of the bytes that count. */
static bool map_plausible(struct window *w, uint64_t map, uint64_t threads, uint32_t entry, uint64_t limit)
{
	for (uint64_t i = 0; i < threads && i < 100; i++) {
		uint64_t at = map + i * entry;
		const uint8_t *p = at + entry <= limit ? window_at(w, at, entry) : NULL;
		if (!p)
			return i > 0;
		/* Where the count is damaged, the CPU map of version 1 may come first. */
		if (i && load_u32(p, false) == KTRACE_MAGIC_RAW1)
			return true;
		const uint8_t *name = p + entry - KTRACE_NAME;
		uint64_t tid = entry == 32 ? load_u64(p, false) : load_u32(p, false);
		int32_t pid = (int32_t)load_u32(name - 4, false);
		if ((!tid && (name[0] || !i)) || tid >> 48 || pid < 0 || pid > KTRACE_PID_MAX)
			return false;
		for (unsigned j = 0; j < KTRACE_NAME && name[j]; j++)
			if (name[j] < 0x20)
				return false;
	}
	return true;
}

/* The first whole entry behind zeros that a hole may have left; `at` where there are none, or more. */
static uint64_t map_behind_hole(struct window *w, uint64_t at, uint32_t entry)
{
	uint64_t zeros = at < w->source->size ? window_skip_zeros(w, at) - at : 0;
	return zeros <= MAP_HOLE ? at + (zeros + entry - 1) / entry * entry : at;
}

static bool map_is_of(struct window *w, uint64_t map, uint64_t threads, uint32_t entry)
{
	return map_plausible(w, map_behind_hole(w, map, entry), threads, entry, w->source->size);
}

bool ktrace_raw2_begins(struct window *w)
{
	const uint8_t *p = window_at(w, 0, KTRACE_RAW2_HEADER);
	return p && bytes_are_zero(p + 32, 256) &&
	       map_is_of(w, KTRACE_RAW2_HEADER, MAP_SURE, 28) != map_is_of(w, KTRACE_RAW2_HEADER, MAP_SURE, 32);
}

static uint64_t page_up(uint64_t offset)
{
	return (offset + KTRACE_PAGE - 1) & ~(uint64_t)(KTRACE_PAGE - 1);
}

/* The page at which events start behind a map that ends there; some writers fill up more pages than are needed. */
static uint64_t raw1_events(struct ktrace_walk *w, uint64_t map_end)
{
	uint64_t page = page_up(map_end);
	uint64_t stop = page < w->source->size ? window_skip_zeros(&w->window, page) : page;
	return stop < w->source->size ? stop & ~(uint64_t)(KTRACE_PAGE - 1) : page;
}

/* Where the count leads out of the file: the first page at which records of either width begin. */
static uint64_t raw1_events_by_content(struct ktrace_walk *w, uint64_t limit)
{
	for (uint64_t page = KTRACE_PAGE; page < limit; page += KTRACE_PAGE)
		if (!ktrace_events_failures(w->source, page, limit, true, 8) ||
		    !ktrace_events_failures(w->source, page, limit, false, 16))
			return page;
	return limit;
}

static bool raw1_has_cpu_map(struct ktrace_walk *w, uint64_t at)
{
	const uint8_t *p = window_at(&w->window, at, 8);
	return p && load_u32(p, false) == KTRACE_MAGIC_RAW1 && load_u32(p + 4, false) <= 1000;
}

/* Apple's readers probe 28-byte entries at 20, then at 24, then 32-byte ones at 24; of what passes, the one whose events
 * look real is taken. It is certain when no other passes, when a CPU map follows where this one's thread map ends, or when
 * the events of the others look much worse. */
struct ktrace_raw1 ktrace_raw1_probe(struct ktrace_walk *w, uint64_t threads, uint64_t limit, bool kept)
{
	static const struct ktrace_raw1 forms[] = { { 20, false, false }, { 24, false, false }, { 24, true, false } };
	struct ktrace_raw1 best = { 24, false, false };
	unsigned found = 0, fewest = UINT32_MAX, second = UINT32_MAX, marks = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t entry = ktrace_thread_size(forms[i].is_64);
		uint64_t map_end = forms[i].map + threads * entry;
		if (!map_plausible(&w->window, forms[i].map, threads, entry, limit))
			continue;
		bool mark = raw1_has_cpu_map(w, map_end);
		/* Pairs of 32-byte records can look like 64-byte ones and the other way round: fewest failures decide. */
		unsigned records = forms[i].is_64 ? 8 : 16, failures;
		if (kept)
			failures = ktrace_records_failures(w->head, w->head_length, forms[i].is_64, records);
		else
			failures = ktrace_events_failures(
				w->source, map_end < limit ? raw1_events(w, map_end) : raw1_events_by_content(w, limit), limit,
				forms[i].is_64, records);
		if (mark ? !marks : !marks && failures < fewest) {
			second = fewest;
			fewest = failures;
			best = forms[i];
		} else if (failures < second && best.is_64 != forms[i].is_64) {
			second = failures;
		}
		marks += mark;
		found++;
	}
	best.certain = found == 1 || marks == 1 || (!marks && second != UINT32_MAX && second > 3 * fewest + 3);
	return best;
}

/* Whether what repair leaves is read in the same way: it must not tell another story than what it was given. */
static bool raw_stays(struct ktrace_walk *w, const struct raw *r)
{
	if (r->version == 0)
		return ktrace_raw0_find(&w->window, (uint32_t)r->threads, w).entry == ktrace_thread_size(w->is_64);
	if (r->version == 2)
		return !ktrace_events_other_width(w->head, w->head_length, w->is_64);
	struct ktrace_raw1 form = ktrace_raw1_probe(w, r->threads, w->source->size, true);
	return form.certain && form.map == r->map && form.is_64 == w->is_64;
}

/* Behind the CPU map that kernels since xnu 2422 put into the gap of version 1, or behind the thread map. */
static uint64_t raw_gap_start(struct ktrace_walk *w, const struct raw *r)
{
	const uint8_t *p = r->version == 1 ? window_at(&w->window, r->map_end, 8) : NULL;
	uint64_t cpus = p && load_u32(p, false) == KTRACE_MAGIC_RAW1 ? load_u32(p + 4, false) : 0;
	uint64_t end = r->map_end + (cpus ? 8 + 16 * cpus : 0);
	return cpus <= 1000 && end <= page_up(r->map_end) ? end : r->map_end + (p && cpus ? 8 : 0);
}

/* Where the events start. Version 0: behind the map. Else at the next page, or a page or more later where writers pad more
 * than is needed. A gap that is full of bytes is no gap: streams cut out of their transport lack it. */
static void raw_events_find(struct ktrace_walk *w, struct raw *r)
{
	uint64_t file = w->source->size, from = raw_gap_start(w, r), page = page_up(r->map_end), filled = 0;
	uint64_t stop = window_skip_zeros(&w->window, from);

	if (r->version == 0) {
		r->events = r->map_end;
		return;
	}
	if (stop >= page) {
		r->events = stop < file ? stop & ~(uint64_t)(KTRACE_PAGE - 1) : page;
	} else {
		for (uint64_t at = from; at < page && at < file; at++) {
			const uint8_t *p = window_at(&w->window, at, 1);
			filled += p && *p;
		}
		r->unpadded = filled * 8 >= page - from;
		r->events = r->unpadded ? from : page;
	}
	if (r->events > file)
		r->events = file;
}

static void raw_gap(struct ktrace_walk *w, const struct raw *r)
{
	uint64_t at = r->map_end, page = page_up(r->map_end);
	struct finding *fd;
	const uint8_t *p;

	/* Kernels since xnu 2422 put a CPU map there. */
	if (r->version == 1 && r->events - at >= 8 && (p = window_at(&w->window, at, 8)) != NULL &&
	    load_u32(p, false) == KTRACE_MAGIC_RAW1) {
		uint32_t cpus = load_u32(p + 4, false);
		w->seen_cpu_map = true;
		if (cpus > 1000 || 8 + 16 * (uint64_t)cpus > r->events - at) {
			fd = finding_report(w->scan->findings, KTRACE_RULE_raw_cpumap_count, w->source, at, 8,
					    "the CPU map says %" PRIu32 " entries; there is room for %" PRIu64, cpus,
					    (r->events - at - 8) / 16);
			finding_field(fd, at + 4, 4, "count = %" PRIu32, cpus);
			return;
		}
		w->cpus = cpus;
		at += 8 + 16 * (uint64_t)cpus;
	}
	uint64_t stop = at < r->events ? window_skip_zeros(&w->window, at) : r->events;
	if (stop < r->events) {
		finding_report(w->scan->findings, KTRACE_RULE_raw_pad_nonzero, w->source, stop, r->events - stop,
			       "the gap between thread map and events has bytes other than zero");
	}
	if (r->version == 1 && r->events > page && page == r->map_end) {
		finding_report(w->scan->findings, KTRACE_RULE_raw_extra_page, w->source, page, r->events - page,
			       "the thread map ends at a page, and a whole page of zeros follows before the events");
	}
	if (r->version == 2) {
		uint64_t rest = (r->map_end - r->map) % KTRACE_PAGE;
		if (rest == 0 || rest > KTRACE_PAGE - KTRACE_RAW2_HEADER) {
			finding_report(w->scan->findings, KTRACE_RULE_v2_event_offset_ambiguous, w->source, r->map,
				       r->map_end - r->map,
				       "with %" PRIu64 " threads one of Apple's readers looks for events at 0x%" PRIx64
				       ", the other at 0x%" PRIx64,
				       r->threads, page_up(r->map_end), page_up(r->map_end - r->map));
		}
	}
}

static void raw2_flip(struct ktrace_walk *w, struct raw *r, struct finding *fd, uint32_t flag)
{
	finding_field(fd, 20, 4, "64-bit flag = %" PRIu32, flag);
	w->is_64 = !w->is_64;
	r->flipped = true;
}

/* Version 2 says how wide its records are. Where the thread map, or the records at the page of the other width, make sense in
 * that one only, and those at the page of the stated one do not, the header is wrong. */
static void raw2_width(struct ktrace_walk *w, struct raw *r, uint32_t flag)
{
	uint64_t file = w->source->size, page[2], threads = r->threads < MAP_SURE ? MAP_SURE : r->threads;
	uint8_t head[KTRACE_HEAD];

	w->is_64 = flag & 0xff;
	/* Entries tell without their count, which may be damaged, too; and they may pass for records. */
	if (!map_is_of(&w->window, r->map, threads, ktrace_thread_size(w->is_64)) &&
	    map_is_of(&w->window, r->map, threads, ktrace_thread_size(!w->is_64))) {
		struct finding *fd =
			finding_report(w->scan->findings, KTRACE_RULE_flags_bitness_mismatch, w->source, 20, 4,
				       "the header says %s-bit events, and its thread map makes sense as one of %s-bit ones only",
				       w->is_64 ? "64" : "32", w->is_64 ? "32" : "64");
		raw2_flip(w, r, fd, flag);
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		page[i] = page_up(r->map + r->threads * ktrace_thread_size(i));
	uint64_t at = page[!w->is_64], there = at < file ? file - at : 0;
	size_t length = there < sizeof(head) ? (size_t)there : sizeof(head);
	if (!length || source_read(w->source, at, head, length) != TM_OK || !ktrace_events_other_width(head, length, w->is_64) ||
	    (page[w->is_64] < file && !ktrace_events_failures(w->source, page[w->is_64], file, w->is_64, 8)))
		return;
	struct finding *fd = finding_report(w->scan->findings, KTRACE_RULE_flags_bitness_mismatch, w->source, 20, 4,
					    "the header says %s-bit events, and those at 0x%" PRIx64
					    " make sense as %s-bit ones only",
					    w->is_64 ? "64" : "32", at, w->is_64 ? "32" : "64");
	raw2_flip(w, r, fd, flag);
}

/* Fills r and the width; the header is known to be there. */
static void raw_header(struct ktrace_walk *w, struct raw *r, const uint8_t *p, uint32_t magic)
{

	if (magic == KTRACE_MAGIC_RAW2) {
		uint64_t frequency = load_u64(p + 24, false);
		bool reserved = !bytes_are_zero(p + 32, 256);
		r->version = 2;
		r->map = KTRACE_RAW2_HEADER;
		r->count_offset = 4;
		r->threads = load_u32(p + 4, false);
		raw2_width(w, r, load_u32(p + 20, false));
		if (!frequency) {
			finding_report(w->scan->findings, KTRACE_RULE_v2_frequency_zero, w->source, 24, 8,
				       "the header does not say how many ticks a second has");
		} else {
			scan_fact(w->scan, "ticks per second", "%" PRIu64, frequency);
		}
		if (reserved) {
			finding_report(w->scan->findings, KTRACE_RULE_v2_reserved_nonzero, w->source, 32, 256,
				       "the reserved area of the header has bytes other than zero");
		}
	} else if (magic == KTRACE_MAGIC_RAW1 || magic == KTRACE_MAGIC_RAW1_OLD) {
		r->version = 1;
		r->count_offset = 4;
		r->threads = load_u32(p + 4, false);
		struct ktrace_raw1 form = ktrace_raw1_probe(w, r->threads, w->source->size, false);
		r->map = form.map;
		w->is_64 = form.is_64;
		r->guessed = !form.certain;
	} else {
		r->version = 0;
		r->map = 4;
		r->threads = magic;
		w->is_64 = ktrace_raw0_find(&w->window, magic, NULL).entry == 32;
	}
}

/* Whether records begin at a page, at least one. */
static bool raw_records_at(struct ktrace_walk *w, uint64_t page)
{
	uint64_t file = w->source->size;
	return page < file && file - page >= ktrace_event_size(w->is_64) &&
	       !ktrace_events_failures(w->source, page, file, w->is_64, w->is_64 ? 8 : 16);
}

/* How many entries the thread map has by its content, when the count is damaged: those before the first empty one, or
 * before the page at which records begin. UINT64_MAX: nothing says that the count is wrong. */
static uint64_t raw_threads_there(struct ktrace_walk *w, const struct raw *r)
{
	uint32_t entry = ktrace_thread_size(w->is_64);
	uint64_t file = w->source->size, end = r->map + r->threads * entry, page = page_up(end), threads = 0;

	if (r->version == 0) {
		struct ktrace_raw0 found = ktrace_raw0_find(&w->window, (uint32_t)r->threads, NULL);
		return found.counted ? found.threads : UINT64_MAX;
	}
	if (raw_records_at(w, page))
		return UINT64_MAX;
	/* The count is too small only if another entry follows, and records do not. */
	if (end < file && (!map_is_of(&w->window, end, 1, entry) || ktrace_events_plausible(w->source, end, file, w->is_64, 1)))
		return UINT64_MAX;
	for (page = page_up(r->map); page < file; page += KTRACE_PAGE)
		if (raw_records_at(w, page))
			break;
	if (page >= file)
		return UINT64_MAX;
	uint64_t first = map_behind_hole(&w->window, r->map, entry);
	threads = (first - r->map) / entry;
	for (uint64_t at = first; at <= page && page - at >= entry; at += entry, threads++) {
		const uint8_t *p = window_at(&w->window, at, entry);
		if (!p || !load_u32(p, false) || (r->version == 1 && raw1_has_cpu_map(w, at)))
			break;
	}
	return threads == r->threads ? UINT64_MAX : threads;
}

/* The thread map, whole entries of which may be fewer than the header says. */
static void raw_map(struct ktrace_walk *w, struct raw *r)
{
	uint32_t entry = ktrace_thread_size(w->is_64);
	uint64_t file = w->source->size, there = (file - r->map) / entry, counted = raw_threads_there(w, r), stored = r->threads;
	enum ktrace_rule rule = counted == UINT64_MAX ? KTRACE_RULE_raw_threadmap_truncated : KTRACE_RULE_raw_thread_count;
	struct plan *plan = w->scan->plan;
	uint8_t count[4]; /* or the flag, or the magic number */

	r->threads = counted != UINT64_MAX ? counted : stored <= there ? stored : there;
	r->map_end = r->map + r->threads * entry;
	if (plan)
		plan_copy(plan, w->output, w->source, 0, r->map_end);
	if (plan && r->threads && map_behind_hole(&w->window, r->map, entry) != r->map) /* entries, and nothing asks for more */
		plan_lost_other(plan);
	if (plan && r->magic_lost) {
		store_u32(count, KTRACE_MAGIC_RAW2, false);
		plan_amend(plan, w->output, 0, count, 4, KTRACE_RULE_bad_magic, "the magic number");
	}
	if (plan && r->flipped) {
		store_u32(count, w->is_64, false);
		plan_amend(plan, w->output, 20, count, 4, KTRACE_RULE_flags_bitness_mismatch,
			   "width of the records, by their content");
	}
	if (r->threads == stored)
		return;
	struct finding *fd;
	if (counted != UINT64_MAX)
		fd = finding_report(w->scan->findings, rule, w->source, r->map, r->map_end - r->map,
				    "the file says %" PRIu64 " threads; its thread map has %" PRIu64 " before the events begin",
				    stored, r->threads);
	else
		fd = finding_report(w->scan->findings, rule, w->source, r->map, r->map_end - r->map,
				    "the file says %" PRIu64 " threads and ends after %" PRIu64 " of them", stored, there);
	finding_field(fd, r->count_offset, 4, "thread count = %" PRIu64, stored);
	store_u32(count, (uint32_t)r->threads, false);
	if (plan)
		plan_amend(plan, w->output, r->count_offset, count, 4, rule, "number of threads that are there");
	if (counted != UINT64_MAX)
		return;
	if (plan) {
		plan_drop(plan, w->source, r->map_end, file - r->map_end, rule, "part of a thread map entry");
		plan_lost(plan, 0, TM_UNKNOWN_COUNT);
	}
	r->events = file;
}

/* The gap and the events, up to the end of the file. */
static void raw_events(struct ktrace_walk *w, struct raw *r)
{
	struct plan *plan = w->scan->plan;
	uint32_t size = ktrace_event_size(w->is_64);

	raw_events_find(w, r);
	raw_gap(w, r);
	uint64_t file = w->source->size, whole = r->events + (file - r->events) / size * size;
	bool cut = r->version > 0 && r->events == file && page_up(r->map_end) > file; /* in the gap */
	w->seen_events = r->events < whole;
	if (plan && r->flipped)
		plan_doubt(plan, w->source, r->events, whole - r->events, "records whose width is told by their content");
	if (plan) {
		plan_copy(plan, w->output, w->source, r->map_end, r->events - r->map_end);
		/* As it is written, the gap is there, so that readers find the events. */
		static const uint8_t zeros[KTRACE_PAGE];
		uint64_t at = plan_size(plan, w->output);
		if (r->unpadded || cut)
			(void)plan_literal(plan, w->output, zeros, (size_t)(page_up(at) - at),
					   cut ? KTRACE_RULE_raw_events_partial : KTRACE_RULE_events_damaged,
					   "padding up to the page at which readers look for events");
	}
	if (cut) {
		finding_report(w->scan->findings, KTRACE_RULE_raw_events_partial, w->source, r->map_end, file - r->map_end,
			       "the file ends %" PRIu64 " bytes before its events start, at 0x%" PRIx64, page_up(r->map_end) - file,
			       page_up(r->map_end));
		if (plan)
			plan_lost(plan, 0, TM_UNKNOWN_COUNT);
		return;
	}
	struct ktrace_stretch stretch = { r->events, file, "events", KTRACE_RULE_raw_events_partial, whole != file };
	(void)ktrace_events_walk(w, &stretch);
	if (whole == file)
		return;
	finding_report(w->scan->findings, KTRACE_RULE_raw_events_partial, w->source, whole, file - whole,
		       "the file ends %" PRIu64 " bytes into a record of %" PRIu32, file - whole, size);
}

enum tracemend_status ktrace_raw_walk(struct ktrace_walk *w, uint32_t magic)
{
	struct raw r = { 0 };
	struct plan *plan = w->scan->plan;
	uint64_t file = w->source->size;
	size_t need = magic == KTRACE_MAGIC_RAW2 ? KTRACE_RAW2_HEADER : magic >> 16 ? 24 : 4;
	const uint8_t *p = window_at(&w->window, 0, need);

	if (!p) {
		finding_report(w->scan->findings, KTRACE_RULE_header_truncated, w->source, 0, file,
			       "the file has %" PRIu64 " bytes, and its header alone needs %zu", file, need);
		return plan ? TM_NOTHING : TM_OK;
	}
	uint32_t stored = load_u32(p, false);
	raw_header(w, &r, p, magic); /* and p is gone: it moves the window */
	(void)snprintf(w->scan->version, sizeof(w->scan->version), "RAW %u", r.version);
	finding_report(w->scan->findings, KTRACE_RULE_legacy_raw_file, w->source, 0, need,
		       "RAW version %u, %s-bit, %" PRIu64 " threads in its map", r.version, w->is_64 ? "64" : "32", r.threads);
	uint64_t errors = findings_errors(w->scan->findings);
	r.magic_lost = stored != magic;
	if (r.magic_lost) {
		finding_report(w->scan->findings, KTRACE_RULE_bad_magic, w->source, 0, 4,
			       "the file starts with 0x%08" PRIx32 " instead of 0x%08" PRIx32, stored, magic);
	}
	raw_map(w, &r);
	ktrace_threads_check(w, r.map, r.threads, r.version == 1);
	if (r.map_end < file && r.events < file)
		raw_events(w, &r);
	ktrace_events_finish(w);
	if (plan && (r.flipped || findings_errors(w->scan->findings) != errors) && (r.guessed || !raw_stays(w, &r))) {
		(void)snprintf(
			w->scan->incomplete, sizeof(w->scan->incomplete), "%s",
			r.version == 2
				? "what is left of the events does not tell whether they are 32-bit or 64-bit ones"
				: "versions 0 and 1 do not store the width of their records, and what is left does not tell it");
		return TM_NOTHING;
	}
	return TM_OK;
}
