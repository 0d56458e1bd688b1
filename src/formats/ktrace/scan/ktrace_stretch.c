/* Which records of a stretch are kept: runs between damaged ranges. Records beside damage may have been hit and are listed as
 * doubtful. */
#include "formats/ktrace/scan/ktrace_stretch.h"

#include <inttypes.h>

#include "formats/ktrace/repair/ktrace_odd.h"

/* Records beside damage that count as doubtful although they pass the tests. */
#define MARGIN 2u
/* At most so many: where more are odd, a map that they refer to is missing. */
#define MARGIN_MOST 32u
/* Records between two regions of damage that may be a block from elsewhere. */
#define ISLAND_BYTES 65536u
/* Gaps of a stretch that are looked for one by one. */
#define GAPS_MOST 16u
/* Records behind a gap by which it is told whether they are in step. */
#define SHIFTED_RECORDS 16u
/* One record in so many, at most, may follow a leap in time for a gap to be found by it. */
#define LEAP_SHARE 16u

struct ktrace_keep ktrace_keep_begin(struct ktrace_walk *w, const struct ktrace_stretch *stretch)
{
	uint64_t end = stretch->end;
	struct ktrace_keep keep = {
		.walk = w, .stretch = stretch, .from = stretch->offset, .gap = { end, end }, .unaligned_from = end
	};

	if (!stretch->resized || (end - stretch->offset) % ktrace_event_size(w->in.is_64) == 0)
		return keep;
	/* Where no record is aligned with its end, the end may have been cut. */
	struct ktrace_gap gap = ktrace_records_gap(&w->in, stretch);
	if (gap.until < end)
		keep.gap = gap;
	else
		keep.unaligned_from = gap.from;
	return keep;
}

/* How many records at one end of the run [from, until) are doubtful: up to the last one with an anomaly before KTRACE_RUN without,
 * and MARGIN more. */
static uint64_t keep_margin(struct ktrace_keep *keep, uint64_t from, uint64_t until, bool at_its_end)
{
	uint32_t size = ktrace_event_size(keep->walk->in.is_64);
	uint64_t records = (until - from) / size, margin = MARGIN, clean = 0, i;

	for (i = 0; i < records && i < MARGIN_MOST && clean < KTRACE_RUN; i++) {
		uint64_t at = at_its_end ? until - (i + 1) * size : from + i * size;
		clean = ktrace_record_anomalies(&keep->walk->in, at) ? 0 : clean + 1;
		if (!clean)
			margin = i + MARGIN;
	}
	return margin < records ? margin : records;
}

/* Records are missing from [from, until), a whole number of them: the first and the last of those that are left may stand in one.
 * Time leaps there: by a quarter of what so many records take on average, or more. Where that is so at many places, none can be
 * told. */
static void keep_doubt_missing(struct ktrace_keep *keep, uint64_t from, uint64_t until)
{
	struct ktrace_input *in = &keep->walk->in;
	struct ktrace_odd odd = { .repair = &keep->walk->repair };
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t records = (until - from) / size,
		 missing = keep->stretch->surplus < 0 ? (uint64_t)-keep->stretch->surplus / size : 0;
	uint64_t first = ktrace_record_time(in, from), last = ktrace_record_time(in, until - size), leaps = 0, before = first;
	uint64_t leap = records > 1 && last > first ? (last - first) / (records - 1) * missing / 4 : 0;

	for (uint64_t at = from; leap && at < until && leaps <= records / LEAP_SHARE; at += size) {
		uint64_t time = ktrace_record_time(in, at);
		leaps += time > before && time - before >= leap;
		before = time;
	}
	if (!leap || leaps > records / LEAP_SHARE) {
		ktrace_repair_doubt(odd.repair, from, until, "records of a chunk that is damaged");
		return;
	}
	/* Or before the first one, or after the last. */
	ktrace_odd_add(&odd, from, from + 2 * (uint64_t)size < until ? from + 2 * (uint64_t)size : until);
	before = first;
	for (uint64_t at = from; at < until; at += size) {
		uint64_t time = ktrace_record_time(in, at);
		if (time > before && time - before >= leap)
			ktrace_odd_add(&odd, at - 2 * (uint64_t)size > from ? at - 2 * (uint64_t)size : from, at + size);
		before = time;
	}
	ktrace_odd_add(&odd, until - size, until);
	ktrace_odd_end(&odd);
}

/* Whether the records from `from` on, but for the first ones, are verified by what they say: in the order of time, and each of a
 * CPU and a thread of the maps. Those that are read from a few bytes too early have other threads. */
static bool run_is_verified(const struct ktrace_keep *keep, uint64_t from, uint64_t until)
{
	struct ktrace_input *in = &keep->walk->in;
	uint32_t size = ktrace_event_size(in->is_64);
	unsigned good = 0;

	for (uint64_t at = from;
	     in->thread_map && good < KTRACE_IN_ORDER_MAX && at - from < MARGIN_MOST * size && until - at >= size; at += size)
		good = ktrace_record_anomalies(in, at) ? 0 : good + 1;
	return good == KTRACE_IN_ORDER_MAX;
}

/* Whether the run that is kept now, which begins earlier than the damage before it, goes on from before an island in front of that
 * damage: then it is that island, and those behind it, that belong elsewhere, and are doubtful. */
static bool is_behind_island(struct ktrace_keep *keep, uint64_t time)
{
	const struct ktrace_island *last = &keep->islands[(keep->island_count - 1) % KTRACE_ISLANDS];

	for (uint64_t i = keep->island_count; i && keep->island_count - i < KTRACE_ISLANDS; i--) {
		const struct ktrace_island *island = &keep->islands[(i - 1) % KTRACE_ISLANDS];
		if (last->until - island->from > ISLAND_BYTES)
			return false;
		bool late = time < island->time_before; /* the last records before it are not in order, either */
		if (late && (island->before.from == island->before.until || time < island->before.time))
			continue;
		ktrace_repair_doubt(&keep->walk->repair, late ? island->before.from : island->from, last->until,
				    "records between two regions of damage that are later than those behind them");
		return true;
	}
	return false;
}

/* The same where the last records before the damage are later than those before them. */
static bool is_behind_late_records(struct ktrace_keep *keep, uint64_t time)
{
	if (keep->before.from == keep->before.until || time < keep->before.time)
		return false;
	ktrace_repair_doubt(&keep->walk->repair, keep->before.from, keep->before.until,
			    "records before damage that are later than those behind it");
	return true;
}

/* The first or the last records of a run, by which it is judged when it begins or ends: in noise some pass for records. */
#define TIMES 32u

/* The middle one of the first times of [from, until), since what damaged the bytes beside it may have hit some of them. 0: there is
 * none. */
static uint64_t run_time(struct ktrace_input *in, uint64_t from, uint64_t until)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t times[TIMES];
	unsigned count = 0;

	for (; count < TIMES && until - from >= size; from += size, count++) {
		uint64_t time = ktrace_record_time(in, from);
		unsigned at = count;
		for (; at && times[at - 1] > time; at--)
			times[at] = times[at - 1];
		times[at] = time;
	}
	return count ? times[(count - 1) / 2] : 0;
}

/* Lists the unverified records of the run [keep->from, until). Records have no checksum; that they are whole is verified by their
 * offset: a whole number of records from the start of the stretch, or from its end; or else by what many of them say. last: it is
 * the last run. */
static void keep_doubt(struct ktrace_keep *keep, uint64_t until, bool last)
{
	const struct ktrace_stretch *stretch = keep->stretch;
	struct ktrace_input *in = &keep->walk->in;
	struct ktrace_repair *r = &keep->walk->repair;
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t from = keep->from;
	bool aligned = (from - stretch->offset) % size == 0 || (stretch->end - from) % size == 0;
	uint64_t time = keep->damaged ? run_time(in, from, until) : UINT64_MAX;
	bool back = time < keep->time_before && !is_behind_late_records(keep, time) && !is_behind_island(keep, time);

	aligned = aligned || ((last || until - from > ISLAND_BYTES) && run_is_verified(keep, from, until));
	if (!aligned || back) {
		ktrace_repair_doubt(r, from, until, "records after damage that are not aligned with those before it");
		/* A block that is doubled may go on in the next chunk. */
		if (back && last && stretch->end == until)
			keep->walk->events.block = keep->before.time;
		return;
	}
	if (stretch->resized && last && !keep->damaged && stretch->end == until && !keep->odd) {
		keep_doubt_missing(keep, from, until);
		return;
	}
	/* The damage of the size may reach into the first record. */
	bool hit = stretch->headless || stretch->rule == KTRACE_RULE_chunk_size_damaged ||
		   stretch->rule == KTRACE_RULE_chunk_size_overflow;
	uint64_t head = keep->damaged || hit ? from + size * keep_margin(keep, from, until, false) : from, tail = until;
	if (!last || stretch->resized)
		tail -= size * keep_margin(keep, from, until, true);
	if (last && keep->unaligned_from < tail)
		tail = keep->unaligned_from;
	ktrace_repair_doubt(r, from, head, "the first records after damage, or of a chunk whose size is damaged");
	ktrace_repair_doubt(r, tail > head ? tail : head, until, "the last records before damage");
}

/* Keeps the run [keep->from, until). */
static void keep_run(struct ktrace_keep *keep, uint64_t until, bool last)
{
	struct ktrace_walk *w = keep->walk;
	uint64_t length = until - keep->from;

	if (!length)
		return;
	if (w->head.length < sizeof(w->head.bytes) && !w->head.whole) {
		size_t room = sizeof(w->head.bytes) - w->head.length, n = length < room ? (size_t)length : room;
		if (source_read(w->in.source, keep->from, w->head.bytes + w->head.length, n) == TM_OK)
			w->head.length += n;
	}
	keep->kept += length;
	ktrace_repair_kept(&w->repair, length / ktrace_event_size(w->in.is_64));
	if (w->scan->plan)
		keep_doubt(keep, until, last);
}

/* The CPU map of a chunk or of version 1 begins as the header of version 1 does: its first entry is CPU 0, with a name. */
static bool foreign_is_raw1(const uint8_t *p)
{
	return load_u32(p, false) == KTRACE_MAGIC_RAW1 && (load_u32(p + 8, false) || load_u32(p + 12, false) > 1 || p[16] < 0x20);
}

/* The kernel's magic number is an ordinary number as well: a timebase follows. */
static bool foreign_is_v3(const uint8_t *p, uint64_t left)
{
	uint32_t magic = load_u32(p, false), numer = load_u32(p + 16, false), denom = load_u32(p + 20, false);

	if (load_u64(p + 8, false) > left)
		return false;
	if (magic == KTRACE_MAGIC_KERNEL)
		return load_u32(p + 4, false) == 1 && load_u64(p + 8, false) >= KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED && numer &&
		       denom && numer < 1u << 16 && denom < 1u << 16;
	return magic == KTRACE_MAGIC && load_u16(p + 4, false) <= 1;
}

void ktrace_foreign_find(struct ktrace_walk *w, uint64_t from, uint64_t until)
{
	if (!w->repair.plan || w->foreign)
		return;
	/* A header may reach into what looks like a record or a chunk behind it. */
	for (uint64_t at = from; at < until && w->in.source->size - at >= KTRACE_HEADER; at++) {
		const uint8_t *p = window_at(&w->in.window, at, 24);
		uint32_t magic = p ? load_u32(p, false) : 0;
		if (magic == KTRACE_MAGIC_RAW2 || (p && (foreign_is_raw1(p) || foreign_is_v3(p, w->in.source->size - at)))) {
			ktrace_foreign_doubt(w, at);
			return;
		}
	}
}

/* Reports and drops [offset, resume), which holds no records. */
static void keep_drop(struct ktrace_keep *keep, uint64_t offset, uint64_t resume)
{
	struct ktrace_walk *w = keep->walk;
	struct finding *fd = finding_report(w->scan->findings, KTRACE_RULE_events_damaged, w->in.source, offset, resume - offset,
					    "%" PRIu64 " bytes are not records: %s", resume - offset,
					    resume < keep->stretch->end ? "valid ones follow"
									: "no valid ones follow in this chunk");

	finding_path(fd, "%s", keep->stretch->where);
	keep_run(keep, offset, false);
	const struct ktrace_before before = keep->before;
	if (keep->from < offset) {
		uint64_t last = TIMES * (uint64_t)ktrace_event_size(w->in.is_64);
		keep->before.from = offset - keep->from < last ? keep->from : offset - last;
		keep->before.until = offset;
		keep->before.time = run_time(&w->in, keep->before.from, offset);
	}
	/* Few records in front of the first damage may not be some. */
	if (keep->from < offset && (keep->damaged || keep->before.from == keep->from))
		keep->islands[keep->island_count++ % KTRACE_ISLANDS] = (struct ktrace_island){ keep->from, offset,
											       keep->time_before, before };
	/* A chunk that ends where its size says goes on behind a block of another file. */
	if (keep->stretch->rule != KTRACE_RULE_COUNT)
		ktrace_foreign_find(w, offset, resume);
	ktrace_repair_drop(&w->repair, offset, resume, KTRACE_RULE_events_damaged, "not records");
	ktrace_repair_lost(&w->repair);
	keep->damaged = true;
	keep->time_before = w->in.last_time;
	keep->from = resume;
}

/* Records go on at `resume`, inside of the gap: the next one is in front of its end. */
static void keep_next_gap(struct ktrace_keep *keep, uint64_t resume, uint64_t until)
{
	struct ktrace_input *in = &keep->walk->in;
	const uint32_t size = ktrace_event_size(in->is_64);
	struct ktrace_stretch rest = *keep->stretch;

	rest.offset = resume;
	rest.end = until;
	/* Each takes time in proportion to what is left. */
	if ((until - resume) % size && keep->gaps++ < GAPS_MOST) {
		keep->gap = ktrace_records_gap(in, &rest);
		return;
	}
	/* Where the next record would reach out of the gap, it ends. */
	keep->gap.from = until - size + 1;
	keep->gap.until = until;
}

/* How many of the first records at `at` have an anomaly; all where there are fewer. */
static unsigned shifted_anomalies(struct ktrace_keep *keep, uint64_t at)
{
	const uint32_t size = ktrace_event_size(keep->walk->in.is_64);
	unsigned odd = 0;

	if (at > keep->stretch->end || keep->stretch->end - at < SHIFTED_RECORDS * (uint64_t)size)
		return SHIFTED_RECORDS;
	for (unsigned i = 0; i < SHIFTED_RECORDS; i++)
		odd += ktrace_record_anomalies(&keep->walk->in, at + i * (uint64_t)size) != 0;
	return odd;
}

/* Records behind a gap are in step with the end of the stretch. Where most of them are odd, and those a few bytes further are not,
 * another gap follows behind these. Returns where they begin. */
static uint64_t keep_shifted(struct ktrace_keep *keep, uint64_t until)
{
	const uint32_t size = ktrace_event_size(keep->walk->in.is_64);

	if (keep->gaps >= GAPS_MOST || shifted_anomalies(keep, until) < SHIFTED_RECORDS * 3 / 4)
		return until;
	for (uint64_t at = until + 1; at < until + size; at++)
		if (shifted_anomalies(keep, at) <= SHIFTED_RECORDS / 8)
			return at;
	return until;
}

uint64_t ktrace_keep_gap(struct ktrace_keep *keep, uint64_t offset)
{
	uint32_t size = ktrace_event_size(keep->walk->in.is_64);
	uint64_t until = keep->gap.until, resume = until;

	/* Several places may be damaged: records between them are in step with neither side. */
	if (offset < until && until - offset > KTRACE_IN_ORDER_MAX * (uint64_t)size)
		resume = ktrace_records_resync_strict(&keep->walk->in, offset, until);
	if (resume < until) {
		keep_drop(keep, offset, resume);
		keep_next_gap(keep, resume, until);
		return resume;
	}
	const uint64_t end = keep->stretch->end;
	resume = offset <= until ? keep_shifted(keep, until) : until;
	if (resume > until) {
		keep_drop(keep, offset, resume);
		keep_next_gap(keep, resume, end);
		return resume;
	}
	if (offset < until)
		keep_drop(keep, offset, until);
	keep->gap.from = keep->gap.until = keep->stretch->end;
	return offset < until ? until : offset;
}

uint64_t ktrace_keep_resume(struct ktrace_keep *keep, uint64_t offset)
{
	uint64_t until = keep->gap.from > offset ? keep->gap.from : keep->stretch->end;
	uint64_t resume = ktrace_records_resync(&keep->walk->in, offset, until, &keep->lenient);

	if (resume == until && until == keep->gap.from) {
		resume = keep->gap.until;
		keep->gap.from = keep->gap.until = keep->stretch->end;
	}
	keep_drop(keep, offset, resume);
	return resume;
}

uint64_t ktrace_keep_end(struct ktrace_keep *keep, uint64_t offset)
{
	const struct ktrace_stretch *stretch = keep->stretch;
	struct ktrace_walk *w = keep->walk;

	keep_run(keep, offset, true);
	if (offset < stretch->end) {
		ktrace_repair_drop(&w->repair, offset, stretch->end,
				   stretch->rule == KTRACE_RULE_COUNT ? KTRACE_RULE_events_damaged : stretch->rule,
				   "part of a record");
		ktrace_repair_lost(&w->repair);
	}
	w->head.whole |= keep->kept >= 64;
	if (!w->head.whole)
		w->head.length = 0;
	return keep->kept;
}
