/* RAW files: their width, thread map and events, by content. */
#include "formats/ktrace/salvage/ktrace_raw_find.h"

#include "formats/ktrace/salvage/ktrace_records.h"

/* Whether the first of so many entries of the map, behind a hole at its beginning, are plausible ones of a width. What is behind
 * the map is no evidence: repair may leave it out, and its output is asked the same. */
static bool raw2_map_is_of(struct ktrace_input *in, const struct ktrace_raw *raw, uint64_t threads, bool is_64)
{
	const uint32_t entry = ktrace_thread_size(is_64);
	const uint64_t hole = (ktrace_map_after_hole(&in->window, raw->map, entry) - raw->map) / entry;

	return threads <= hole || ktrace_map_is_of(&in->window, raw->map, threads - hole, entry);
}

struct ktrace_raw2_width ktrace_raw2_width_find(struct ktrace_input *in, const struct ktrace_raw *raw)
{
	uint64_t file = in->source->size, page[2];
	const struct ktrace_raw2_width as_stated = { 0 };
	uint8_t head[KTRACE_HEAD];

	/* The entries are tested before the records, since entries may pass for records. */
	bool stated = raw2_map_is_of(in, raw, raw->threads, in->is_64), other = raw2_map_is_of(in, raw, raw->threads, !in->is_64);
	/* The count may be in a hole as well: of a map without entries, zeros are behind it. */
	if (!raw->threads) {
		stated = ktrace_map_is_of(&in->window, raw->map, KTRACE_MAP_SAMPLE, ktrace_thread_size(in->is_64));
		other = ktrace_map_is_of(&in->window, raw->map, KTRACE_MAP_SAMPLE, ktrace_thread_size(!in->is_64));
	}
	/* Where the records of another file say otherwise, what repair writes would be read by its map again. */
	if (stated != other)
		return (struct ktrace_raw2_width){ .other = other };
	for (unsigned i = 0; i < 2; i++)
		page[i] = ktrace_page_up(raw->map + raw->threads * ktrace_thread_size(i));
	/* Or the records at the page of the other width are valid, and those at the page of the stated width are not. */
	uint64_t at = page[!in->is_64], there = at < file ? file - at : 0;
	size_t length = there < sizeof(head) ? (size_t)there : sizeof(head);
	if (!length || source_read(in->source, at, head, length) != TM_OK || !ktrace_records_other_width(head, length, in->is_64))
		return as_stated;
	if (page[in->is_64] < file && !ktrace_events_failures(in->source, page[in->is_64], file, in->is_64, 8))
		return as_stated;
	return (struct ktrace_raw2_width){ .other = true, .events = at };
}

/* Whether records begin at a page, at least one. */
static bool raw_records_at(struct ktrace_input *in, uint64_t page)
{
	uint64_t file = in->source->size;
	return page < file && file - page >= ktrace_event_size(in->is_64) &&
	       !ktrace_events_failures(in->source, page, file, in->is_64, in->is_64 ? 8 : 16);
}

/* The first page behind `from` and up to `last` at which records begin; UINT64_MAX: there is none. */
static uint64_t raw_first_page(struct ktrace_input *in, uint64_t from, uint64_t last)
{
	for (uint64_t page = ktrace_page_up(from); page <= last; page += KTRACE_PAGE)
		if (raw_records_at(in, page))
			return page;
	return UINT64_MAX;
}

/* How many entries of a thread map, with names, stand at `at`, if there are only zeros behind them up to the page. */
static uint64_t raw_entries_at(struct ktrace_input *in, uint64_t at, uint64_t page, uint32_t entry)
{
	uint64_t count = 0;

	for (; page - at >= entry; at += entry, count++) {
		const uint8_t *p = window_at(&in->window, at, entry);
		if (!p || !load_u32(p, false) || !p[entry - KTRACE_NAME] || !ktrace_map_is_of(&in->window, at, 1, entry))
			break;
	}
	return count && window_skip_zeros_to(&in->window, at, page) == page ? count : 0;
}

uint64_t ktrace_raw_threads_find(struct ktrace_input *in, const struct ktrace_raw *raw)
{
	uint32_t entry = ktrace_thread_size(in->is_64);
	uint64_t file = in->source->size, end = raw->map + raw->threads * entry, page = ktrace_page_up(end), threads = 0;

	if (raw->version == 0) {
		struct ktrace_raw0 found = ktrace_raw0_find(&in->window, (uint32_t)raw->threads, NULL);
		return found.counted ? found.threads : UINT64_MAX;
	}
	uint64_t first_page = raw_first_page(in, raw->map, page < file ? page : file);
	if (first_page == page) {
		const uint64_t more = raw_entries_at(in, end, page, entry);
		return more ? raw->threads + more : UINT64_MAX;
	}
	/* The count is too small only if another entry follows, and records do not. */
	if (first_page == UINT64_MAX && end < file &&
	    (!ktrace_map_is_of(&in->window, end, 1, entry) || ktrace_events_plausible(in->source, end, file, in->is_64, 1)))
		return UINT64_MAX;
	page = first_page != UINT64_MAX ? first_page : raw_first_page(in, raw->map, file);
	if (page == UINT64_MAX)
		return UINT64_MAX;
	uint64_t first = ktrace_map_after_hole(&in->window, raw->map, entry);
	threads = (first - raw->map) / entry;
	for (uint64_t at = first, count = threads; at <= page && page - at >= entry; at += entry) {
		const uint8_t *p = window_at(&in->window, at, entry);
		const bool filled = p && load_u32(p, false);
		if (!p || (raw->version == 1 && ktrace_raw1_has_cpu_map(&in->window, at)) ||
		    (count >= raw->threads && !ktrace_map_goes_on(in, at, page)))
			break;
		/* Entries of zeros may be a hole: more follow. */
		bool adjacent = count++ == threads;
		if (filled && (adjacent || ktrace_map_is_of(&in->window, at, 1, entry)))
			threads = count;
	}
	return threads == raw->threads ? UINT64_MAX : threads;
}

/* Where the gap begins: after the CPU map that kernels since xnu 2422 write there in version 1, or after the thread map. */
static uint64_t raw_gap_start(struct ktrace_input *in, const struct ktrace_raw *raw)
{
	const uint8_t *p = raw->version == 1 ? window_at(&in->window, raw->map_end, 8) : NULL;
	uint64_t cpus = p && load_u32(p, false) == KTRACE_MAGIC_RAW1 ? load_u32(p + 4, false) : 0;
	uint64_t end = raw->map_end + (cpus ? 8 + 16 * cpus : 0);
	return cpus <= 1000 && end <= ktrace_page_up(raw->map_end) ? end : raw->map_end + (p && cpus ? 8 : 0);
}

/* Version 0: after the map. Else at the next page, or a page or more later where writers pad more than is needed. Where most of the
 * bytes up to the page are not zero, there is no gap: streams that were cut out of their transport lack it. */
/* Records in front of the page at which they should begin, in step with those there: bytes of the padding are missing. */
static uint64_t raw_records_before(struct ktrace_input *in, uint64_t from, uint64_t page)
{
	uint32_t size = ktrace_event_size(in->is_64);
	uint64_t time = ktrace_record_time(in, page);

	while (page - from >= size) {
		const uint8_t *p = window_at(&in->window, page - size, size);
		struct ktrace_event e = p ? ktrace_record_decode(p, in->is_64) : (struct ktrace_event){ 0 };
		if (!p || ktrace_record_failures(&e, in->is_64) || !e.debugid || e.time > time || (time - e.time) >> 40)
			break;
		time = e.time;
		page -= size;
	}
	return page;
}

static bool raw_records_begin(struct ktrace_input *in, uint64_t at)
{
	return at < in->source->size && in->source->size - at >= ktrace_event_size(in->is_64) &&
	       !ktrace_events_failures(in->source, at, in->source->size, in->is_64, 4);
}

/* Behind a thread map with a gap events are as far from their page as the map's end is from where it was; or at the end of the
 * zeros. */
static uint64_t raw_events_shifted(struct ktrace_input *in, const struct ktrace_raw *raw)
{
	uint64_t page = ktrace_page_up(raw->stated_end), at = page + raw->gap.end - raw->stated_end;
	uint64_t stop = window_skip_zeros(&in->window, raw->gap.end);

	if (raw_records_begin(in, at))
		return at;
	/* The lowest bytes of a time may be zeros. */
	for (at = stop; at + 8 > stop && at >= raw->gap.end; at--)
		if (raw_records_begin(in, at))
			return at;
	return stop;
}

/* Whether records begin directly at `from`, and what is there up to `until`, where they should begin, is no padding. */
static bool raw_gap_is_filled(struct ktrace_input *in, uint64_t from, uint64_t until)
{
	const uint64_t file = in->source->size, stop = until < file ? until : file;
	uint64_t filled = 0;

	for (uint64_t at = from; at < stop; at++) {
		const uint8_t *p = window_at(&in->window, at, 1);
		filled += p && *p;
	}
	if (from < stop && filled * 8 < stop - from)
		return false;
	return until < file ? !raw_records_begin(in, until) || raw_records_begin(in, from) : raw_records_begin(in, from);
}

void ktrace_raw_events_find(struct ktrace_input *in, struct ktrace_raw *raw)
{
	uint64_t file = in->source->size, from = raw_gap_start(in, raw), page = ktrace_page_up(raw->map_end);
	uint64_t stop = window_skip_zeros(&in->window, from);

	if (raw->version == 0) {
		raw->events = raw->map_end;
		return;
	}
	if (raw->gap.from < raw->gap.until) {
		const uint64_t shifted = raw_events_shifted(in, raw);
		raw->events = shifted;
		raw->unpadded = true;
		/* What is written is asked as below, with the padding that it has. */
		if (shifted < file && from < shifted && raw_records_begin(in, shifted)) {
			const bool filled = raw_gap_is_filled(in, from, shifted);
			raw->events = filled ? from : raw_records_before(in, from, shifted);
			raw->early = !filled && raw->events < shifted;
		}
	} else if (stop >= page) {
		raw->events = stop < file ? stop & ~(uint64_t)(KTRACE_PAGE - 1) : page;
	} else {
		raw->unpadded = raw_gap_is_filled(in, from, page);
		raw->events = raw->unpadded ? from : page;
		if (!raw->unpadded && page < file) {
			raw->events = raw_records_before(in, from, page);
			raw->unpadded = raw->early = raw->events < page;
		}
	}
	if (raw->events > file)
		raw->events = file;
}

bool ktrace_raw_events_are_late(struct ktrace_input *in, const struct ktrace_raw *raw)
{
	const uint32_t size = ktrace_event_size(in->is_64);
	size_t got;

	if (raw_records_begin(in, raw->events))
		return false;
	for (uint64_t late = 1; late < KTRACE_PAGE; late++) {
		const uint8_t *p = window_upto(&in->window, raw->events + late, 4 * (size_t)size, &got);
		if (p && got >= size && !ktrace_records_failures(p, got, in->is_64, 4))
			return late % size || ktrace_raw_rest_begins(&in->window, raw->events + late, in->is_64);
	}
	return false;
}

bool ktrace_raw_is_unambiguous(struct ktrace_input *in, const struct ktrace_raw *raw, const struct ktrace_head *kept)
{
	if (raw->version == 0) {
		struct ktrace_head head = *kept;
		head.end = raw->threads * ktrace_thread_size(in->is_64);
		return ktrace_raw0_find(&in->window, (uint32_t)raw->threads, &head).entry == ktrace_thread_size(in->is_64);
	}
	if (raw->version == 2) {
		/* The count may be another than the one that the width was found with. */
		const uint64_t whole = raw->gap.from < raw->gap.until ? (raw->gap.from - raw->map) / ktrace_thread_size(in->is_64)
								      : raw->threads;
		return raw2_map_is_of(in, raw, whole, in->is_64) >= raw2_map_is_of(in, raw, whole, !in->is_64) &&
		       !ktrace_records_other_width(kept->bytes, kept->length, in->is_64);
	}
	struct ktrace_raw1 form = ktrace_raw1_find(&in->window, raw->threads, kept);
	return form.certain && form.map == raw->map && form.is_64 == in->is_64;
}
