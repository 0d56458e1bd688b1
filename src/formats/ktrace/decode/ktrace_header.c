/* The header structure of version 3: its fields, and where it ends. */
#include "formats/ktrace/scan/ktrace_v3.h"

#include <inttypes.h>

struct ktrace_header ktrace_header_decode(const uint8_t bytes[KTRACE_HEADER])
{
	struct ktrace_header h = { .size_rule = KTRACE_RULE_COUNT, .chunks = KTRACE_HEADER };
	struct cursor c = cursor_make(bytes, KTRACE_HEADER, false);
	memcpy(h.bytes, bytes, KTRACE_HEADER);
	h.magic = cursor_u32(&c);
	h.major = cursor_u16(&c);
	h.minor = cursor_u16(&c);
	h.size = cursor_u64(&c);
	h.numer = cursor_u32(&c);
	h.denom = cursor_u32(&c);
	h.time = cursor_u64(&c);
	h.seconds = cursor_u64(&c);
	h.usec = cursor_u32(&c);
	h.west = (int32_t)cursor_u32(&c);
	h.dst = cursor_u32(&c);
	h.flags = cursor_u32(&c);
	return h;
}

/* Reports a field of the header structure. */
#define header_report(w, rule, ...) ((void)PLACE(rule), header_report_at((w), (rule), __VA_ARGS__))
static void header_report_at(struct ktrace_walk *w, enum ktrace_rule rule, uint32_t offset, uint32_t length, const char *format,
			     ...) PRINTF_LIKE(5, 6);

static void header_report_at(struct ktrace_walk *w, enum ktrace_rule rule, uint32_t offset, uint32_t length, const char *format,
			     ...)
{
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->source, 0, KTRACE_HEADER);
	va_list arguments;

	finding_path(fd, "file header");
	finding_field(fd, offset, length, "%s", offset == 8 ? "header size" : offset == 52 ? "flags" : "");
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

void ktrace_header_fix(struct ktrace_walk *w, struct ktrace_header *h, uint32_t offset, uint64_t value, uint32_t length,
		       enum ktrace_rule rule, const char *why)
{
	if (length == 8)
		store_u64(h->bytes + offset, value, false);
	else
		store_u32(h->bytes + offset, (uint32_t)value, false);
	if (w->scan->plan)
		plan_amend(w->scan->plan, w->output, offset, h->bytes + offset, length, rule, why);
}

void ktrace_header_fields(struct ktrace_walk *w, struct ktrace_header *h)
{

	if (h->magic == KTRACE_MAGIC_KERNEL) {
		header_report(w, KTRACE_RULE_kernel_v3_magic, 0, 4,
			      "the file starts with 0x1000, as the kernel writes it, where 0x55aa0300 is usual");
	} else if (h->magic != KTRACE_MAGIC) {
		header_report(w, KTRACE_RULE_bad_magic, 0, 4, "the file starts with 0x%08" PRIx32 " instead of 0x55aa0300",
			      h->magic);
		ktrace_header_fix(w, h, 0, KTRACE_MAGIC, 4, KTRACE_RULE_bad_magic, "the magic number");
	}
	if (h->major > 1 && h->magic != KTRACE_MAGIC_KERNEL) {
		header_report(w, KTRACE_RULE_header_major_unsupported, 4, 2, "the header has version %u.%u; 0 and 1 are known",
			      h->major, h->minor);
	}
	if (h->minor) {
		header_report(w, KTRACE_RULE_header_minor_nonzero, 6, 2, "the minor version of the header is %u", h->minor);
	}
	if (h->numer && h->denom && ((uint64_t)h->numer > (uint64_t)h->denom * 1000000 || (uint64_t)h->numer * 1000 < h->denom)) {
		header_report(w, KTRACE_RULE_timebase_implausible, 16, 8, "a tick of %" PRIu32 "/%" PRIu32 " nanoseconds", h->numer,
			      h->denom);
	}
	if (h->usec >= 1000000) {
		header_report(w, KTRACE_RULE_walltime_usec_range, 40, 4, "the wall time has %" PRIu32 " microseconds", h->usec);
		ktrace_header_fix(w, h, 40, h->usec % 1000000, 4, KTRACE_RULE_walltime_usec_range, "microseconds below a second");
		ktrace_header_fix(w, h, 32, h->seconds + h->usec / 1000000, 8, KTRACE_RULE_walltime_usec_range,
				  "seconds carried over");
	}
	if (h->seconds && h->seconds < 946684800) {
		header_report(w, KTRACE_RULE_walltime_before_2000, 32, 8, "the wall time is %" PRIu64 " seconds after 1970",
			      h->seconds);
	}
	if (h->west < -840 || h->west > 720) {
		header_report(w, KTRACE_RULE_minutes_west_range, 44, 4, "the time zone is %" PRId32 " minutes west of Greenwich",
			      h->west);
	}
	if (h->dst > 6) {
		header_report(w, KTRACE_RULE_dst_range, 48, 4, "the daylight saving type is %" PRIu32, h->dst);
	}
	if (h->flags & ~KTRACE_FLAG_64) {
		header_report(w, KTRACE_RULE_flags_reserved_bits, 52, 4, "the flags are 0x%08" PRIx32 "; only bit 0 is defined",
			      h->flags);
	}
	w->header_time = h->time;
	w->numer = h->numer;
	w->denom = h->denom;
}

static void header_flip_width(struct ktrace_walk *w, struct ktrace_header *h, uint64_t events)
{
	header_report(w, KTRACE_RULE_flags_bitness_mismatch, 52, 4,
		      "the flags say %s-bit events, and those at 0x%" PRIx64 " make sense as %s-bit ones only",
		      w->is_64 ? "64" : "32", events, w->is_64 ? "32" : "64");
	w->is_64 = !w->is_64;
	ktrace_header_fix(w, h, 52, h->flags ^ KTRACE_FLAG_64, 4, KTRACE_RULE_flags_bitness_mismatch, "width of the events");
}

/* Where records of that width begin that go on without a fault up to `until`; until: nowhere. */
static uint64_t header_events(struct ktrace_walk *w, uint64_t from, uint64_t until, bool is_64)
{
	bool stated = w->is_64;

	w->is_64 = is_64;
	uint64_t events = ktrace_events_find(w, ktrace_align(from), until, 8), least = (is_64 ? 2 : 8) * ktrace_event_size(is_64);
	/* The first one may have lost its beginning. */
	if (until - events >= least && !ktrace_records_fill(w, events, until))
		events += ktrace_event_size(is_64);
	bool sure = until - events >= least && ktrace_records_fill(w, events, until);
	w->is_64 = stated;
	return sure ? events : until;
}

void ktrace_header_width(struct ktrace_walk *w, struct ktrace_header *h)
{
	uint64_t at = h->chunks, file = w->source->size;
	struct ktrace_chunk chunk;
	uint8_t head[KTRACE_HEAD];

	w->is_64 = h->flags & KTRACE_FLAG_64;
	/* The first events chunk decides; a broken chain is taken up again as the walk itself will. */
	for (unsigned i = 0; i < 4096 && at < file; i++) {
		bool sound = ktrace_chunk_read(w->source, at, &chunk) && chunk.tag;
		uint64_t data = at + KTRACE_CHUNK_HEADER, left = sound ? file - data : 0;
		uint64_t size = chunk.size < left ? chunk.size : left;
		if (sound && size >= 8 + 64 && ktrace_chunk_holds_events(w, &chunk)) {
			size_t length = size - 8 < sizeof(head) ? (size_t)(size - 8) : sizeof(head);
			if (source_read(w->source, data + 8, head, length) == TM_OK &&
			    ktrace_events_other_width(head, length, w->is_64))
				header_flip_width(w, h, data + 8);
			return;
		}
		if (sound && ktrace_chunk_lands(w->source, at, file, w->is_64)) {
			at = ktrace_chunk_next(at, chunk.size);
			continue;
		}
		/* Or the first ones whose chunk header is lost. */
		uint64_t next = ktrace_chunk_find_next(w, at + 1, file), until = next < file ? next : file;
		if (header_events(w, at, until, w->is_64) < until)
			return;
		uint64_t events = header_events(w, at, until, !w->is_64);
		if (events < until) {
			header_flip_width(w, h, events);
			return;
		}
		at = next;
	}
}

/* Where the header ends. The size field is believed when it ends at a chunk of the chain that starts behind the header
 * structure (with or without that chunk's padding: writers differ), or when that chain is broken and a chunk starts there. */
void ktrace_header_extent(struct ktrace_walk *w, struct ktrace_header *h)
{
	uint64_t file = w->source->size, at, last = KTRACE_HEADER, before = KTRACE_HEADER;
	uint64_t stored = h->size > file ? UINT64_MAX : h->size + KTRACE_HEADER_UNCOUNTED;
	bool believed = stored == KTRACE_HEADER, broken = false;
	struct ktrace_chunk chunk;

	if (!ktrace_chunk_plausible(w->source, KTRACE_HEADER, file, w->is_64) && stored >= 64 + KTRACE_CHUNK_HEADER &&
	    ktrace_chunk_read(w->source, 64, &chunk) && ktrace_kind_find(chunk.tag) &&
	    ktrace_chunk_plausible(w->source, 64, file, w->is_64) && ktrace_chunk_lands(w->source, 64, file, w->is_64)) {
		finding_report(w->scan->findings, KTRACE_RULE_header_size_64_structure, w->source, KTRACE_HEADER, 8,
			       "the first chunk must start at 56, where the header structure ends; it starts at 64, behind 8 "
			       "surplus bytes");
		h->chunks = last = 64;
		believed = stored == 64;
	}
	for (at = h->chunks; !believed && at < file; at = ktrace_chunk_next(at, chunk.size)) {
		if (!ktrace_chunk_accepted(w->source, at, file, w->is_64) || !ktrace_chunk_read(w->source, at, &chunk) ||
		    chunk.size > file - at - KTRACE_CHUNK_HEADER) {
			broken = true;
			break;
		}
		const struct ktrace_kind *kind = ktrace_kind_find(chunk.tag);
		uint64_t end = at + KTRACE_CHUNK_HEADER + chunk.size;
		uint64_t padded = ktrace_align(end) < file ? ktrace_align(end) : file;
		if (stored == end || stored == padded)
			believed = true;
		else if (kind && kind->place == KTRACE_IN_HEADER && last == at)
			last = end;
		else if (stored <= at || stored == UINT64_MAX)
			break;
		before = at;
		if (last == end)
			last = ktrace_align(end) == ktrace_chunk_next(at, chunk.size) ? ktrace_align(end) : last;
	}
	if (!believed && broken && stored <= file && stored > before &&
	    (stored == file || ktrace_chunk_accepted(w->source, ktrace_align(stored), file, w->is_64)))
		believed = true;
	h->end = believed ? stored : last < file ? last : file;
	if (believed)
		return;
	h->size_rule = h->size == KTRACE_SIZE_UNFINISHED ? KTRACE_RULE_header_size_unfinished
		       : h->size < 40			 ? KTRACE_RULE_header_size_below_minimum
		       : stored > file			 ? KTRACE_RULE_header_size_past_eof
							 : KTRACE_RULE_header_size_splits_chunk;
	if (w->scan->plan && h->size_rule == KTRACE_RULE_header_size_past_eof) /* cut within its header, or the size is wrong */
		plan_lost(w->scan->plan, 0, TM_UNKNOWN_COUNT);
	header_report(w, h->size_rule, 8, 8, "the header size is %" PRIu64 "; the chunks behind the header say %" PRIu64, h->size,
		      h->end - KTRACE_HEADER_UNCOUNTED);
}

void ktrace_header_finish(struct ktrace_walk *w, const struct ktrace_header *h)
{

	if ((!h->numer || !h->denom) && !w->seen_time_sync) {
		header_report(w, KTRACE_RULE_timebase_zero, 16, 8,
			      "the timebase is %" PRIu32 "/%" PRIu32 " and no time sync chunk gives another", h->numer, h->denom);
	}
	if (!h->seconds && !w->seen_time_sync) {
		header_report(w, KTRACE_RULE_walltime_missing, 32, 8, "the wall time is 0: nobody can say when this was recorded");
	}
	if (h->size % 8 && h->size_rule == KTRACE_RULE_COUNT) {
		header_report(w, KTRACE_RULE_header_size_not_multiple_of_8, 8, 8, "the header size is %" PRIu64, h->size);
	}
}
