/* Records of events in damaged files: where they begin again, and where a stretch of them lost its step. */
#include "formats/ktrace/salvage/ktrace_records.h"

/* Whether the record at p passes every test, and could be of this walk: its CPU, and its time beside the last one seen. */
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

/* Whether sound records begin at offset: KTRACE_RUN that look real, or fewer that fill the rest and pass every test. */
static bool records_sound(struct ktrace_input *in, uint64_t offset, uint64_t end)
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

/* What is odd about the first records from offset on: tests that they fail, and times that go back or leap. */
static unsigned records_oddities(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t previous = in->last_time;
	unsigned oddities = 0;

	for (unsigned i = 0; i < 4 * KTRACE_RUN && end - offset >= size; i++, offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		if (!p)
			break;
		struct ktrace_event e = ktrace_record_decode(p, in->is_64);
		oddities += ktrace_record_failures(&e, in->is_64);
		oddities += previous && (e.time < previous || ktrace_record_leaps(&e, previous)) ? 1u : 0u;
		previous = e.time;
	}
	return oddities;
}

/* Records looked at a few bytes early often pass: of the places within one record, the least odd one counts, and among
 * equals the first in step with `stride`. */
static uint64_t records_best(struct ktrace_input *in, uint64_t from, uint64_t end, unsigned step, uint64_t stride)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t best = from;
	unsigned fewest = UINT32_MAX;

	for (uint64_t at = from; at < from + size && at < end && end - at >= size; at += step) {
		if (!records_sound(in, at, end))
			continue;
		/* In step with the records before, or with what follows the last one. */
		bool in_step = (at - stride) % size == 0 || (end - at) % size == 0;
		unsigned oddities = 2 * records_oddities(in, at, end) + !in_step;
		if (oddities < fewest) {
			fewest = oddities;
			best = at;
		}
	}
	return best;
}

uint64_t ktrace_events_find(struct ktrace_input *in, uint64_t offset, uint64_t end, unsigned step)
{
	uint32_t size = ktrace_event_size(in->is_64);

	/* 32-bit records have little that tells them from anything else: the first ones must be without fault. */
	for (; offset < end && end - offset >= size; offset += step)
		if (records_sound(in, offset, end) &&
		    (in->is_64 || ktrace_events_in_order(in, offset, end) || ktrace_records_fill(in, offset, end)))
			return records_best(in, offset, end, step, offset);
	return end;
}

/* What overwrites records does not move those behind it: they are in step. Others must be many, without any fault and near in
 * time; and as records looked at a few bytes early often pass, those in step are preferred all the same. */
static uint64_t records_resume_surely(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	uint32_t size = ktrace_event_size(in->is_64), step = 1;

	for (uint64_t at = offset + 1; at < end && end - at >= size; at++, step = step + 1 == size ? 0 : step + 1) {
		if (!step && records_sound(in, at, end))
			return at;
		if (!step || ktrace_events_in_order(in, at, end) != KTRACE_IN_ORDER_MAX)
			continue;
		uint64_t in_step = at + size - step;
		return in_step < end && records_sound(in, in_step, end) ? in_step : records_best(in, at, end, 1, offset);
	}
	return UINT64_MAX;
}

static uint64_t records_resume_anywhere(struct ktrace_input *in, uint64_t offset, uint64_t end)
{
	for (uint64_t at = offset + 1; at < end && end - at >= ktrace_event_size(in->is_64); at++)
		if (records_sound(in, at, end))
			return records_best(in, at, end, 1, offset);
	return end;
}

uint64_t ktrace_records_resume(struct ktrace_input *in, uint64_t offset, uint64_t end, bool *anywhere)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t at = *anywhere ? UINT64_MAX : records_resume_surely(in, offset, end);

	if (at == UINT64_MAX) {
		*anywhere = true;
		at = records_resume_anywhere(in, offset, end);
	}
	/* The first one may have lost its beginning. */
	const uint8_t *p = at < end ? window_at(&in->window, at, size) : NULL;
	struct ktrace_event e = p ? ktrace_record_decode(p, in->is_64) : (struct ktrace_event){ 0 };
	bool ragged = p && ktrace_record_is_ragged(&e, in->is_64);
	return ragged && (end - at == size || records_sound(in, at + size, end)) ? at + size : at;
}

unsigned ktrace_records_bad_run(struct ktrace_input *in, uint64_t offset, uint64_t end, uint64_t previous)
{
	uint32_t size = ktrace_event_size(in->is_64);
	bool hole = false;
	unsigned run = 0;

	for (; run < KTRACE_RUN && end - offset >= size; run++, offset += size) {
		const uint8_t *p = window_at(&in->window, offset, size);
		struct ktrace_event e = p ? ktrace_record_decode(p, in->is_64) : (struct ktrace_event){ 0 };
		/* One that is only suspicious goes with those before it. */
		if (!p || !(ktrace_record_is_bad(p, in->is_64, previous) || (run && ktrace_record_is_ragged(&e, in->is_64))))
			break;
		previous = e.time;
		hole |= bytes_are_zero(p, size);
	}
	return hole ? KTRACE_RUN : run;
}

/* ---- where records lose their step ---- */

/* What speaks against the record at p, whose neighbour in time is `beside`: the one before it, or behind it. */
static unsigned record_suspicion(const struct ktrace_input *in, const uint8_t *p, uint64_t beside, bool before)
{
	struct ktrace_event e = ktrace_record_decode(p, in->is_64);
	unsigned suspicion = ktrace_record_failures(&e, in->is_64) + ktrace_record_leaps(&e, beside);

	suspicion += !e.time && !e.debugid ? 1u : 0u; /* zeros */
	suspicion += beside && (before ? e.time < beside : e.time > beside) ? 1u : 0u;
	suspicion += e.cpu >= (in->cpus ? in->cpus + KTRACE_CPUS_LATE : 256) ? 1u : 0u;
	suspicion += in->thread_map && !ktrace_table_has(&in->threads, e.tid) ? 1u : 0u;
	return suspicion;
}

static unsigned suspicion_at(struct ktrace_input *in, uint64_t offset, uint64_t end, uint64_t *beside, bool before)
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
	unsigned suspicion = record_suspicion(in, record, *beside, before);
	*beside = ktrace_record_decode(record, in->is_64).time;
	return suspicion;
}

unsigned ktrace_record_suspicion(struct ktrace_input *in, uint64_t offset)
{
	const uint8_t *p = window_at(&in->window, offset, ktrace_event_size(in->is_64));
	return p ? record_suspicion(in, p, 0, true) : 0;
}

/* A record looked at k bytes early passes most tests, and its time is 256^k times what it was. */
static bool time_is_scaled(uint64_t before, uint64_t behind)
{
	return before && behind && (behind / 4 > before || before / 4 > behind);
}

/* Records are in step with the start of the stretch before the place that was hit, and in step with its end behind it. Of all
 * pairs of places (the first in step with the start, the second with the end), the one is taken that costs least: for what lies
 * between them one a byte, for what speaks against a record that is kept half a record, and for times that do not go on eight. */
struct ktrace_gap ktrace_records_gap(struct ktrace_input *in, const struct ktrace_stretch *stretch)
{
	uint32_t size = ktrace_event_size(in->is_64), rest = (uint32_t)((stretch->end - stretch->offset) % size);
	uint64_t count = (stretch->end - stretch->offset) / size, before = in->last_time, behind = 0, from = stretch->offset,
		 time = before;
	int64_t head = 0, tail = 0, open = 0, least = INT64_MAX, half = size / 2;
	struct ktrace_gap gap = { stretch->end, stretch->end };

	for (uint64_t i = 0; i < count; i++)
		tail += half * suspicion_at(in, stretch->offset + rest + i * size, stretch->end, &behind, false);
	for (uint64_t i = 0; i <= count; i++) {
		uint64_t at = stretch->offset + i * size;
		int64_t passed = (int64_t)(i * size);
		if (!i || head - passed <= open) {
			open = head - passed;
			from = at;
			time = before;
		}
		int64_t suspicion = i < count ? half * suspicion_at(in, at + rest, stretch->end, &behind, false) : 0;
		int64_t cost = open + passed + rest + tail + (i < count && time_is_scaled(time, behind) ? 8 * (int64_t)size : 0);
		if (cost < least) {
			least = cost;
			gap = (struct ktrace_gap){ from, at + rest };
		}
		if (i < count)
			head += half * suspicion_at(in, at, stretch->end, &before, true);
		tail -= suspicion;
	}
	return gap;
}
