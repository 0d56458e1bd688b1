/* Records of events in damaged files: resynchronising, and locating the gap in a stretch that is not a whole number of records. */
#include "formats/ktrace/salvage/ktrace_records.h"

/* Whether a record passes every test, has a CPU of the map, and a time near that of the last record. */
static bool record_is_strict(const struct ktrace_input *in, const struct ktrace_event *e)
{
	return !ktrace_record_failures(e, in->is_64) && e->cpu < (in->cpus ? in->cpus + KTRACE_CPUS_LATE : 256) &&
	       !ktrace_record_leaps(e, in->last_time);
}

bool ktrace_records_fill(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t previous = 0;

	if (offset >= end || (end - offset) % size)
		return false;
	for (; offset < end; offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		if (!p)
			return false;
		struct ktrace_event e = ktrace_record_decode(p, in->is_64);
		if (!record_is_strict(in, &e) || e.time < previous)
			return false;
		previous = e.time;
	}
	return true;
}

/* Whether valid records begin at offset: KTRACE_RUN plausible ones, or fewer that fill the rest and pass every test. */
static bool records_are_valid(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t previous = 0;

	if (end - offset < KTRACE_RUN * size)
		return ktrace_records_fill(in, offset, end);
	for (unsigned run = 0; run < KTRACE_RUN; run++, offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		if (!p || ktrace_record_is_bad(p, in->is_64, previous))
			return false;
		previous = ktrace_record_decode(p, in->is_64).time;
	}
	return true;
}

unsigned ktrace_events_in_order(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t previous = 0;
	unsigned run = 0;

	for (; run < KTRACE_IN_ORDER_MAX && end - offset >= size; run++, offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		if (!p)
			return 0;
		struct ktrace_event e = ktrace_record_decode(p, in->is_64);
		if (ktrace_record_failures(&e, in->is_64) || e.time < previous || (run && (e.time - previous) >> 40))
			break;
		previous = e.time;
	}
	return run >= KTRACE_RUN ? run : 0;
}

/* Anomalies of the first records from offset on: failed tests, and times that go back or leap. */
static unsigned records_anomalies(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t previous = in->last_time;
	unsigned anomalies = 0;

	for (unsigned i = 0; i < 4 * KTRACE_RUN && end - offset >= size; i++, offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		if (!p)
			break;
		struct ktrace_event e = ktrace_record_decode(p, in->is_64);
		anomalies += ktrace_record_failures(&e, in->is_64);
		anomalies += previous && (e.time < previous || ktrace_record_leaps(&e, previous)) ? 1u : 0u;
		previous = e.time;
	}
	return anomalies;
}

/* Records that are read from a few bytes too early often pass the tests: of the offsets within one record, the one with the fewest
 * anomalies is taken, and among equals the first that is aligned with `stride`. */
static uint64_t records_best(struct ktrace_input *in, uint64_t from, uint64_t end, unsigned step, uint64_t stride)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t best = from;
	unsigned fewest = UINT32_MAX;

	for (uint64_t at = from; at < from + size && at < end && end - at >= size; at += step) {
		if (!records_are_valid(in, at, end))
			continue;
		/* A whole number of records away from those before, or from the end. */
		bool aligned = (at - stride) % size == 0 || (end - at) % size == 0;
		unsigned anomalies = 2 * records_anomalies(in, at, end) + !aligned;
		if (anomalies < fewest) {
			fewest = anomalies;
			best = at;
		}
	}
	return best;
}

uint64_t ktrace_events_find(struct ktrace_input *in, uint64_t offset, uint64_t end, unsigned step)
{
	uint32_t size = ktrace_event_size(in->is_64);

	/* 32-bit records have few fields that can be tested: the first ones must pass every test. */
	for (; offset < end && end - offset >= size && in->window.status == TM_OK;
	     offset = window_pass_zeros(&in->window, offset + step, end, step, size))
		if (records_are_valid(in, offset, end) &&
		    (in->is_64 || ktrace_events_in_order(in, offset, end) || ktrace_records_fill(in, offset, end)))
			return records_best(in, offset, end, step, offset);
	return end;
}

/* Overwriting does not move the records after it: they stay aligned with `offset`. Unaligned ones must be KTRACE_IN_ORDER_MAX that
 * pass every test with times in order. Since records read from a few bytes too early often pass, an aligned offset within the next
 * record is preferred. */
uint64_t ktrace_records_resync_strict(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64);

	for (uint64_t at = offset + 1; at < end && end - at >= size && in->window.status == TM_OK;
	     at = window_pass_zeros(&in->window, at + 1, end, 1, size)) {
		uint64_t step = (at - offset) % size;
		if (!step && records_are_valid(in, at, end))
			return at;
		if (!step || ktrace_events_in_order(in, at, end) != KTRACE_IN_ORDER_MAX)
			continue;
		uint64_t aligned = at + size - step;
		return aligned < end && records_are_valid(in, aligned, end) ? aligned : records_best(in, at, end, 1, offset);
	}
	return UINT64_MAX;
}

static uint64_t records_resync_lenient(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	for (uint64_t at = offset + 1; at < end && end - at >= ktrace_event_size(in->is_64) && in->window.status == TM_OK; at++)
		if (records_are_valid(in, at, end))
			return records_best(in, at, end, 1, offset);
	return end;
}

uint64_t ktrace_records_resync(struct ktrace_input *in, uint64_t offset, uint64_t end, bool *lenient)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t at = *lenient ? UINT64_MAX : ktrace_records_resync_strict(in, offset, end);

	if (at == UINT64_MAX) {
		*lenient = true;
		at = records_resync_lenient(in, offset, end);
	}
	/* The beginning of the first one may be overwritten. */
	const uint8_t *p = at < end ? window_at(&in->window, at, size) : NULL;
	struct ktrace_event e = p ? ktrace_record_decode(p, in->is_64) : (struct ktrace_event){ 0 };
	bool suspect = p && ktrace_record_is_suspect(&e, in->is_64);
	return suspect && (end - at == size || records_are_valid(in, at + size, end)) ? at + size : at;
}

unsigned ktrace_records_bad_run(struct ktrace_input *in, uint64_t offset, uint64_t end, uint64_t previous)
{
	uint32_t size = ktrace_event_size(in->is_64);
	bool hole = false;
	unsigned run = 0;

	for (; run < KTRACE_RUN && end - offset >= size; run++, offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		struct ktrace_event e = p ? ktrace_record_decode(p, in->is_64) : (struct ktrace_event){ 0 };
		/* A suspect record is bad where a bad one precedes it. */
		if (!p || !(ktrace_record_is_bad(p, in->is_64, previous) || (run && ktrace_record_is_suspect(&e, in->is_64))))
			break;
		previous = e.time;
		hole |= bytes_are_zero(p, size);
	}
	return hole ? KTRACE_RUN : run;
}

/* ---- the gap in a stretch that is not a whole number of records ---- */

/* Anomalies of the record at p. beside: the time of the record before it, or after it; 0: unknown. */
static unsigned record_anomalies(const struct ktrace_input *in, const uint8_t *p, uint64_t beside, bool before)
{
	struct ktrace_event e = ktrace_record_decode(p, in->is_64);
	unsigned anomalies = ktrace_record_failures(&e, in->is_64) + ktrace_record_leaps(&e, beside);

	anomalies += !e.time && !e.debugid ? 1u : 0u; /* zeros */
	anomalies += beside && (before ? e.time < beside : e.time > beside) ? 1u : 0u;
	anomalies += e.cpu >= (in->cpus ? in->cpus + KTRACE_CPUS_LATE : 256) ? 1u : 0u;
	anomalies += in->thread_map && !ktrace_table_has(&in->threads, e.tid) ? 1u : 0u;
	return anomalies;
}

static unsigned anomalies_at(struct ktrace_input *in, uint64_t offset, uint64_t end, uint64_t *beside, bool before)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint8_t record[64];
	const uint8_t *p = window_at(&in->window, offset, size);

	if (!p)
		return 0;
	memcpy(record, p, size);
	p = before || end - offset < 2 * (uint64_t)size ? NULL : window_at(&in->window, offset + size, size);
	if (!before)
		*beside = p ? ktrace_record_decode(p, in->is_64).time : 0;
	unsigned anomalies = record_anomalies(in, record, *beside, before);
	*beside = ktrace_record_decode(record, in->is_64).time;
	return anomalies;
}

/* Whether the records at a and b are the same. */
static bool records_equal(struct ktrace_input *in, uint64_t a, uint64_t b)
{
	uint8_t one[64], two[64];
	uint32_t size = ktrace_event_size(in->is_64);
	return source_read(in->source, a, one, size) == TM_OK && source_read(in->source, b, two, size) == TM_OK &&
	       !memcmp(one, two, size);
}

uint64_t ktrace_records_later(struct ktrace_input *in, uint64_t run, uint64_t offset)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t time = ktrace_record_time(in, offset), low = 0, high = (offset - run) / size;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (ktrace_record_time(in, run + middle * size) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return run + low * size;
}

uint64_t ktrace_records_doubled(struct ktrace_input *in, const struct ktrace_stretch *stretch, uint64_t original, uint64_t offset)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t copy = offset;

	while (copy < stretch->end && stretch->end - copy >= size && original < offset && records_equal(in, original, copy)) {
		original += size;
		copy += size;
	}
	return copy;
}

uint64_t ktrace_record_time(struct ktrace_input *in, uint64_t offset)
{
	const uint8_t *p = window_at(&in->window, offset, 8);
	uint64_t time = p ? load_u64(p, false) : 0;
	return in->is_64 ? time : time & KTRACE_TIME_MAX;
}

unsigned ktrace_record_anomalies(struct ktrace_input *in, uint64_t offset)
{
	const uint8_t *p = window_at(&in->window, offset, ktrace_event_size(in->is_64));
	return p ? record_anomalies(in, p, 0, true) : 0;
}

/* A record that is read from k bytes too early passes most tests, and its time is 256^k times the real one. */
static bool time_is_shifted(uint64_t before, uint64_t after)
{
	return before && after && (after / 4 > before || before / 4 > after);
}

/* Before the gap records are aligned with the start of the stretch, after it with its end. Of all pairs of offsets (the first
 * aligned with the start, the second with the end) the one of least cost is taken: a byte between them costs 1, an anomaly of a
 * record that is kept half a record, times that do not continue eight records. It is found in linear time from prefix and suffix
 * sums, with the best start so far carried along as in Kadane's algorithm (Bentley, Programming Pearls, column 8): `head` and
 * `tail` are the costs of the records kept before and after the gap, `open` is the least cost of all starts so far. */
struct ktrace_gap ktrace_records_gap(struct ktrace_input *in, const struct ktrace_stretch *stretch)
{
	uint32_t size = ktrace_event_size(in->is_64), rest = (uint32_t)((stretch->end - stretch->offset) % size);
	uint64_t count = (stretch->end - stretch->offset) / size, before = in->last_time, after = 0, from = stretch->offset,
		 time = before;
	int64_t head = 0, tail = 0, open = 0, least = INT64_MAX, half = size / 2;
	struct ktrace_gap gap = { stretch->end, stretch->end };

	for (uint64_t i = 0; i < count; i++)
		tail += half * anomalies_at(in, stretch->offset + rest + i * size, stretch->end, &after, false);
	for (uint64_t i = 0; i <= count; i++) {
		uint64_t at = stretch->offset + i * size;
		int64_t passed = (int64_t)(i * size);
		if (!i || head - passed <= open) {
			open = head - passed;
			from = at;
			time = before;
		}
		int64_t anomalies = i < count ? half * anomalies_at(in, at + rest, stretch->end, &after, false) : 0;
		int64_t cost = open + passed + rest + tail + (i < count && time_is_shifted(time, after) ? 8 * (int64_t)size : 0);
		if (cost < least) {
			least = cost;
			gap = (struct ktrace_gap){ from, at + rest };
		}
		if (i < count)
			head += half * anomalies_at(in, at, stretch->end, &before, true);
		tail -= anomalies;
	}
	return gap;
}
