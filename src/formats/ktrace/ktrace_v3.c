/* Version 3: the header structure, then chunks. */
#include "ktrace.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the header structure ---- */

struct header {
	uint8_t bytes[KTRACE_HEADER]; /* as repair would write it */
	uint32_t magic, numer, denom, usec, flags, dst;
	int32_t west;
	uint16_t major, minor;
	uint64_t size, time, seconds;
	uint64_t chunks;	/* offset of the first header chunk */
	uint64_t end;		/* offset behind the last one; what the size field should say, plus 16 */
	enum ktrace_rule size_rule; /* KTRACE_RULE_COUNT: the size is fine */
};

static struct header header_decode(const uint8_t bytes[KTRACE_HEADER])
{
	struct header h = { .size_rule = KTRACE_RULE_COUNT, .chunks = KTRACE_HEADER };
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

static struct finding *header_finding(struct ktrace_walk *w, enum ktrace_rule rule, uint32_t offset, uint32_t length)
{
	struct finding *fd = finding_new(w->scan->findings, rule, w->source, 0, KTRACE_HEADER);
	finding_path(fd, "file header");
	finding_field(fd, offset, length, "%s", offset == 8 ? "header size" : offset == 52 ? "flags" : "");
	return fd;
}

/* Changes a field of the header, in the copy that the plan will write. */
static void header_fix(struct ktrace_walk *w, struct header *h, uint32_t offset, uint64_t value, uint32_t length,
		       enum ktrace_rule rule, const char *why)
{
	if (length == 8)
		store_u64(h->bytes + offset, value, false);
	else
		store_u32(h->bytes + offset, (uint32_t)value, false);
	if (w->scan->plan)
		plan_amend(w->scan->plan, w->output, offset, h->bytes + offset, length, rule, why);
}

/* Fields that stand alone. */
static void header_fields(struct ktrace_walk *w, struct header *h)
{
	struct finding *fd;

	if (h->magic == KTRACE_MAGIC_KERNEL) {
		fd = header_finding(w, KTRACE_RULE_kernel_v3_magic, 0, 4);
		finding_say(fd, "the file starts with 0x1000, as the kernel writes it, where 0x55aa0300 is usual");
	} else if (h->magic != KTRACE_MAGIC) {
		fd = header_finding(w, KTRACE_RULE_bad_magic, 0, 4);
		finding_say(fd, "the file starts with 0x%08" PRIx32 " instead of 0x55aa0300", h->magic);
		header_fix(w, h, 0, KTRACE_MAGIC, 4, KTRACE_RULE_bad_magic, "the magic number");
	}
	if (h->major > 1 && h->magic != KTRACE_MAGIC_KERNEL) {
		fd = header_finding(w, KTRACE_RULE_header_major_unsupported, 4, 2);
		finding_say(fd, "the header has version %u.%u; 0 and 1 are known", h->major, h->minor);
	}
	if (h->minor) {
		fd = header_finding(w, KTRACE_RULE_header_minor_nonzero, 6, 2);
		finding_say(fd, "the minor version of the header is %u", h->minor);
	}
	if (h->numer && h->denom && ((uint64_t)h->numer > (uint64_t)h->denom * 1000000 || (uint64_t)h->numer * 1000 < h->denom)) {
		fd = header_finding(w, KTRACE_RULE_timebase_implausible, 16, 8);
		finding_say(fd, "a tick of %" PRIu32 "/%" PRIu32 " nanoseconds", h->numer, h->denom);
	}
	if (h->usec >= 1000000) {
		fd = header_finding(w, KTRACE_RULE_walltime_usec_range, 40, 4);
		finding_say(fd, "the wall time has %" PRIu32 " microseconds", h->usec);
		header_fix(w, h, 40, h->usec % 1000000, 4, KTRACE_RULE_walltime_usec_range, "microseconds below a second");
		header_fix(w, h, 32, h->seconds + h->usec / 1000000, 8, KTRACE_RULE_walltime_usec_range, "seconds carried over");
	}
	if (h->seconds && h->seconds < 946684800) {
		fd = header_finding(w, KTRACE_RULE_walltime_before_2000, 32, 8);
		finding_say(fd, "the wall time is %" PRIu64 " seconds after 1970", h->seconds);
	}
	if (h->west < -840 || h->west > 720) {
		fd = header_finding(w, KTRACE_RULE_minutes_west_range, 44, 4);
		finding_say(fd, "the time zone is %" PRId32 " minutes west of Greenwich", h->west);
	}
	if (h->dst > 6) {
		fd = header_finding(w, KTRACE_RULE_dst_range, 48, 4);
		finding_say(fd, "the daylight saving type is %" PRIu32, h->dst);
	}
	if (h->flags & ~KTRACE_FLAG_64) {
		fd = header_finding(w, KTRACE_RULE_flags_reserved_bits, 52, 4);
		finding_say(fd, "the flags are 0x%08" PRIx32 "; only bit 0 is defined", h->flags);
	}
	w->header_time = h->time;
	w->numer = h->numer;
	w->denom = h->denom;
}

/* A placeholder that a writer puts where it will write the header of the chunk that it has begun: all ones. */
static bool chunk_is_placeholder(const struct ktrace_chunk *chunk)
{
	return chunk->tag == KTRACE_TAG_UNFINISHED && chunk->size == KTRACE_SIZE_UNFINISHED;
}

/* Whether an events chunk it is, or the placeholder of one. */
static bool chunk_holds_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk)
{
	uint64_t records = chunk->offset + KTRACE_CHUNK_HEADER + 8, file = w->source->size;

	return chunk->tag == KTRACE_EVENTS ||
	       (chunk_is_placeholder(chunk) && (ktrace_events_plausible(w->source, records, file, true, 4) ||
						ktrace_events_plausible(w->source, records, file, false, 8)));
}

/* The flag for 64-bit events against the first events there are. */
static void header_width(struct ktrace_walk *w, struct header *h)
{
	struct ktrace_chunk chunk;
	uint64_t at = h->chunks;

	w->is_64 = h->flags & KTRACE_FLAG_64;
	/* The first events chunk decides; a broken chain is taken up again as the walk itself will. */
	for (unsigned i = 0; i < 4096 && at < w->source->size; i++) {
		bool sound = ktrace_chunk_read(w->source, at, &chunk) && chunk.tag;
		uint64_t data = at + KTRACE_CHUNK_HEADER, left = sound ? w->source->size - data : 0;
		uint64_t size = chunk.size < left ? chunk.size : left;
		if (sound && size >= 8 + 64 && chunk_holds_events(w, &chunk)) {
			uint8_t head[KTRACE_HEAD];
			size_t length = size - 8 < sizeof(head) ? (size_t)(size - 8) : sizeof(head);
			if (source_read(w->source, data + 8, head, length) == TM_OK &&
			    ktrace_events_other_width(head, length, w->is_64)) {
				struct finding *fd = header_finding(w, KTRACE_RULE_flags_bitness_mismatch, 52, 4);
				finding_say(fd, "the flags say %s-bit events, and those at 0x%" PRIx64 " make sense as %s-bit ones only",
					    w->is_64 ? "64" : "32", data + 8, w->is_64 ? "32" : "64");
				w->is_64 = !w->is_64;
				header_fix(w, h, 52, h->flags ^ KTRACE_FLAG_64, 4, KTRACE_RULE_flags_bitness_mismatch,
					   "width of the events");
			}
			return;
		}
		at = sound && ktrace_chunk_lands(w->source, at, w->source->size, w->is_64) ?
			     ktrace_chunk_next(at, chunk.size) :
			     ktrace_chunk_find_next(w, at, w->source->size);
	}
}

/* Where the header ends. The size field is believed when it ends at a chunk of the chain that starts behind the header
 * structure (with or without that chunk's padding: writers differ), or when that chain is broken and a chunk starts there. */
static void header_extent(struct ktrace_walk *w, struct header *h)
{
	uint64_t file = w->source->size, at, last = KTRACE_HEADER, before = KTRACE_HEADER;
	uint64_t stored = h->size > file ? UINT64_MAX : h->size + KTRACE_HEADER_UNCOUNTED;
	bool believed = stored == KTRACE_HEADER, broken = false;
	struct ktrace_chunk chunk;

	if (!ktrace_chunk_plausible(w->source, KTRACE_HEADER, file, w->is_64) && stored >= 64 + KTRACE_CHUNK_HEADER &&
	    ktrace_chunk_read(w->source, 64, &chunk) && ktrace_kind_find(chunk.tag) &&
	    ktrace_chunk_plausible(w->source, 64, file, w->is_64) && ktrace_chunk_lands(w->source, 64, file, w->is_64)) {
		struct finding *fd = finding_new(w->scan->findings, KTRACE_RULE_header_size_64_structure, w->source, KTRACE_HEADER, 8);
		finding_say(fd, "the first chunk must start at 56, where the header structure ends; it starts at 64, behind 8 surplus bytes");
		h->chunks = last = 64;
		believed = stored == 64;
	}
	for (at = h->chunks; !believed && at < file; at = ktrace_chunk_next(at, chunk.size)) {
		if (!ktrace_chunk_plausible(w->source, at, file, w->is_64) || !ktrace_chunk_read(w->source, at, &chunk) ||
		    chunk.size == KTRACE_SIZE_UNFINISHED) {
			broken = true;
			break;
		}
		const struct ktrace_kind *kind = ktrace_kind_find(chunk.tag);
		uint64_t end = at + KTRACE_CHUNK_HEADER + chunk.size;
		if (stored == end || stored == ktrace_align(end))
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
	    (stored == file || ktrace_chunk_plausible(w->source, ktrace_align(stored), file, w->is_64)))
		believed = true;
	h->end = believed ? stored : last < file ? last : file;
	if (believed)
		return;
	h->size_rule = h->size == KTRACE_SIZE_UNFINISHED ? KTRACE_RULE_header_size_unfinished :
		       h->size < 40			 ? KTRACE_RULE_header_size_below_minimum :
		       stored > file			 ? KTRACE_RULE_header_size_past_eof :
							   KTRACE_RULE_header_size_splits_chunk;
	struct finding *fd = header_finding(w, h->size_rule, 8, 8);
	finding_say(fd, "the header size is %" PRIu64 "; the chunks behind the header say %" PRIu64, h->size,
		    h->end - KTRACE_HEADER_UNCOUNTED);
}

/* ---- one chunk ---- */

/* What is decided of a chunk before its payload is looked at. */
struct extent {
	uint64_t size; /* bytes of payload that belong to it */
	uint64_t next; /* where the next chunk starts */
	enum ktrace_rule rule; /* what is wrong with the size; KTRACE_RULE_COUNT: nothing */
	bool guessed;  /* the end of the payload is known to within its padding only */
	bool retagged; /* the chunk's tag and version are not the stored ones, but those its placeholder is to get */
};

static uint64_t chunk_whole(const struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint32_t event = ktrace_event_size(w->is_64), thread = ktrace_thread_size(w->is_64);

	if (chunk->tag == KTRACE_EVENTS && size >= 8)
		return size - (size - 8) % event;
	if (chunk->tag == KTRACE_THREAD_MAP)
		return size - size % thread;
	if (kind && kind->content == KTRACE_FIXED && size > kind->size_min)
		return kind->size_min;
	return size;
}

/* The chunk's own size does not lead to another chunk. What does? */
static struct extent chunk_search(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, left = limit - data;
	bool fits = chunk->size <= left, events = chunk->tag == KTRACE_EVENTS;
	uint64_t end = fits ? data + chunk->size : limit;
	struct extent x = { .size = chunk->size, .next = fits ? ktrace_chunk_next(chunk->offset, chunk->size) : limit,
			    .rule = KTRACE_RULE_COUNT };

	if (fits && events && chunk->size && left - chunk->size >= 8 && chunk->size % ktrace_event_size(w->is_64) == 0 &&
	    (x.next + 8 >= limit || ktrace_chunk_stands(w->source, x.next + 8, limit, w->is_64)))
		return (struct extent){ chunk->size + 8, x.next + 8, KTRACE_RULE_events_size_excludes_future, false, false };
	if (fits && chunk->size >= 16 && ktrace_chunk_stands(w->source, x.next - 16, limit, w->is_64))
		return (struct extent){ chunk->size - 16, x.next - 16, KTRACE_RULE_chunk_size_includes_header, false, false };
	if (fits && end % 8 && ktrace_chunk_stands(w->source, end, limit, w->is_64))
		return (struct extent){ chunk->size, end, KTRACE_RULE_chunk_header_misaligned, false, false };
	uint64_t found = ktrace_chunk_resync(w, data, limit, 8);
	uint64_t beyond = chunk->size < 8 ? data + 8 : end;
	bool more = events && fits && limit - data >= 8 && beyond + ktrace_event_size(w->is_64) <= limit &&
		    !ktrace_events_failures(w->source, beyond, limit, w->is_64, 4);
	if (found == UINT64_MAX && fits && !more)
		return x; /* what follows is no chunk: said at its own place */
	if (found == UINT64_MAX) {
		x.size = left;
		x.next = limit;
		x.rule = chunk->size == KTRACE_SIZE_UNFINISHED ? KTRACE_RULE_chunk_size_unknown :
			 fits				       ? KTRACE_RULE_chunk_size_damaged :
			 chunk->size >> 62		       ? KTRACE_RULE_chunk_size_overflow :
								 KTRACE_RULE_chunk_size_past_eof;
		return x;
	}
	if (fits && found > x.next && chunk->size && !more)
		return x; /* the size may be right and the next chunk's header lost */
	x.size = found - data;
	x.next = found;
	x.guessed = true;
	x.rule = chunk->size == KTRACE_SIZE_UNFINISHED ? KTRACE_RULE_chunk_size_unknown :
		 chunk->size >> 62		       ? KTRACE_RULE_chunk_size_overflow :
							 KTRACE_RULE_chunk_size_damaged;
	return x;
}

/* A size that is a little too small makes padding of what completes a record. */
static void chunk_complete(struct ktrace_walk *w, const struct ktrace_chunk *chunk, struct extent *x)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, whole = chunk_whole(w, chunk, chunk->size);
	bool events = chunk->tag == KTRACE_EVENTS;
	uint32_t unit = events ? ktrace_event_size(w->is_64) : ktrace_thread_size(w->is_64);
	uint8_t id[4];

	if (whole == chunk->size || (!events && chunk->tag != KTRACE_THREAD_MAP) || x->next - data < whole + unit)
		return;
	bool sound = events ? !ktrace_events_failures(w->source, data + whole, x->next, w->is_64, 1) :
			      source_read(w->source, data + whole, id, sizeof(id)) == TM_OK && !bytes_are_zero(id, sizeof(id));
	if (sound) {
		x->size = whole + unit;
		x->rule = KTRACE_RULE_chunk_size_damaged;
	}
}

static struct extent chunk_extent(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t limit)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER;
	uint64_t next = ktrace_chunk_next(chunk->offset, chunk->size);

	if (chunk->size <= limit - data && (next >= limit || limit - next < KTRACE_CHUNK_HEADER ||
					    ktrace_chunk_lands(w->source, chunk->offset, limit, w->is_64))) {
		struct extent x = { chunk->size, next < limit ? next : limit, KTRACE_RULE_COUNT, false, false };
		chunk_complete(w, chunk, &x);
		return x;
	}
	return chunk_search(w, chunk, limit);
}

static const char *chunk_name(uint32_t tag)
{
	const struct ktrace_kind *kind = ktrace_kind_find(tag);
	return kind ? kind->name : "unknown";
}

static struct finding *chunk_finding(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
				     uint64_t length)
{
	struct finding *fd = finding_new(w->scan->findings, rule, w->source, chunk->offset, length);
	finding_path(fd, "chunk %" PRIu32 " (%s, tag 0x%" PRIx32 ")", w->chunks, chunk_name(chunk->tag), chunk->tag);
	return fd;
}

/* Where chunks may stand. */
static void chunk_place(struct ktrace_walk *w, const struct ktrace_chunk *chunk, bool retagged)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	struct finding *fd;

	if (retagged || chunk->tag == KTRACE_TAG_UNFINISHED) {
		fd = chunk_finding(w, KTRACE_RULE_chunk_unfinished, chunk, KTRACE_CHUNK_HEADER);
		finding_say(fd, "the chunk still has the tag 0xffffffff of one that is being written%s",
			    !retagged ? "" : chunk->tag == KTRACE_EVENTS ? "; its data are events" : "; its data are no events");
		finding_field(fd, chunk->offset, 4, "tag = 0xffffffff");
	}
	if (!kind) {
		if (chunk->tag == KTRACE_TAG_UNFINISHED)
			return;
		fd = chunk_finding(w, KTRACE_RULE_chunk_unknown_tag, chunk, KTRACE_CHUNK_HEADER);
		finding_say(fd, "tag 0x%" PRIx32 " is not known; readers skip its %" PRIu64 " bytes", chunk->tag, chunk->size);
		return;
	}
	if (kind->place == KTRACE_IN_HEADER && !w->in_header) {
		bool directly = chunk->offset == w->body;
		fd = chunk_finding(w, directly ? KTRACE_RULE_header_size_excludes_header_chunk : KTRACE_RULE_header_chunk_in_body, chunk,
				   KTRACE_CHUNK_HEADER);
		finding_say(fd, "a %s chunk belongs into the header and lies %s", kind->name,
			    directly ? "directly behind it" : "in the body");
	} else if (kind->place == KTRACE_IN_BODY && w->in_header) {
		bool data = chunk->tag == KTRACE_THREAD_MAP || chunk->tag == KTRACE_EVENTS || chunk->tag == KTRACE_EVENTS_COMPRESSED;
		fd = chunk_finding(w, data ? KTRACE_RULE_header_size_includes_body_chunk : KTRACE_RULE_body_chunk_in_header, chunk,
				   KTRACE_CHUNK_HEADER);
		finding_say(fd, "a %s chunk belongs into the body and lies within the header size", kind->name);
	}
	uint64_t bit = UINT64_C(1) << ktrace_kind_index(kind);
	if (kind->single && w->singles & bit) {
		fd = chunk_finding(w, KTRACE_RULE_duplicate_singleton_chunk, chunk, KTRACE_CHUNK_HEADER);
		finding_say(fd, "a second %s chunk", kind->name);
	}
	w->singles |= bit;
}

static void chunk_say_size(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct extent *x, uint64_t whole)
{
	struct finding *fd = chunk_finding(w, x->rule, chunk, KTRACE_CHUNK_HEADER);

	if (x->rule == KTRACE_RULE_chunk_header_misaligned) {
		finding_say(fd, "the chunk behind this one starts at 0x%" PRIx64 ", which is no multiple of 8", x->next);
		return;
	}
	if (chunk->size == KTRACE_SIZE_UNFINISHED)
		finding_say(fd, "the size was never filled in: the recorder died while it wrote this chunk; %" PRIu64 " bytes are there", whole);
	else
		finding_say(fd, "the size says %" PRIu64 " bytes; %s%" PRIu64, chunk->size,
			    x->rule == KTRACE_RULE_chunk_size_past_eof ? "the file ends after " : "what follows says ", whole);
	finding_field(fd, chunk->offset + 8, 8, "data size = %" PRIu64, chunk->size);
}

/* The plan's side of a chunk whose payload ends at data + kept: a new size, the rest left out, padding made anew. */
static void chunk_settle(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t header_at, uint64_t kept,
			 const struct extent *x, enum ktrace_rule rule)
{
	struct plan *plan = w->scan->plan;
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER;
	static const uint8_t zeros[8];
	uint8_t size[8];

	if (!plan)
		return;
	if (rule == KTRACE_RULE_COUNT && kept == chunk->size) {
		plan_copy(plan, w->output, w->source, data + kept, x->next - data - kept); /* its own padding */
		return;
	}
	if (kept != chunk->size) {
		store_u64(size, kept, false);
		plan_amend(plan, w->output, header_at + 8, size, sizeof(size), rule, "size of the chunk");
	}
	if (x->guessed)
		plan_doubt(plan, w->source, data, kept, "payload of a chunk whose size was damaged");
	plan_drop(plan, w->source, data + kept, x->next - data - kept, rule, "behind the end of the chunk's payload");
	if (plan_size(plan, w->output) % 8 && x->next < w->source->size)
		(void)plan_literal(plan, w->output, zeros, 8 - plan_size(plan, w->output) % 8, rule, "padding");
}

static void chunk_padding(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct extent *x)
{
	uint64_t end = chunk->offset + KTRACE_CHUNK_HEADER + x->size;
	uint8_t pad[8];
	size_t n = x->next > end && x->next - end < sizeof(pad) ? (size_t)(x->next - end) : 0;

	if (n && source_read(w->source, end, pad, n) == TM_OK && !bytes_are_zero(pad, n)) {
		struct finding *fd = chunk_finding(w, KTRACE_RULE_chunk_padding_nonzero, chunk, KTRACE_CHUNK_HEADER + x->size + n);
		finding_say(fd, "the %zu bytes of padding behind this chunk are not zero", n);
		finding_field(fd, end, (uint32_t)n, "padding");
	}
	if (x->next < w->source->size || w->in_header)
		return;
	if (!x->size) {
		struct finding *fd = chunk_finding(w, KTRACE_RULE_chunk_size_zero_at_eof, chunk, KTRACE_CHUNK_HEADER);
		finding_say(fd, "the last chunk of the file is empty");
	} else if (end == w->source->size && end % 8) {
		struct finding *fd = chunk_finding(w, KTRACE_RULE_chunk_padding_missing_at_eof, chunk, KTRACE_CHUNK_HEADER + x->size);
		finding_say(fd, "the file ends with the payload of its last chunk, %" PRIu64 " bytes before a multiple of 8",
			    8 - end % 8);
	}
}

/* Events: the 8-byte prefix, then records. Returns the bytes of payload kept. */
static uint64_t chunk_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct extent *x, enum ktrace_rule *rule)
{
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, whole = chunk_whole(w, chunk, x->size);
	const uint8_t *p = window_at(&w->window, data, 8);
	uint64_t future = p ? load_u64(p, false) : 0;
	struct finding *fd;
	char where[64];

	w->seen_events = true;
	if (whole != x->size && *rule == KTRACE_RULE_COUNT) {
		*rule = KTRACE_RULE_events_partial_record;
		fd = chunk_finding(w, *rule, chunk, KTRACE_CHUNK_HEADER + x->size);
		finding_say(fd, "%" PRIu64 " bytes are left over behind the last whole record", x->size - whole);
	}
	if (whole == 8) {
		fd = chunk_finding(w, KTRACE_RULE_events_empty, chunk, KTRACE_CHUNK_HEADER + x->size);
		finding_say(fd, "the chunk holds no events");
	}
	if (future) {
		fd = chunk_finding(w, KTRACE_RULE_events_future_timestamp_set, chunk, KTRACE_CHUNK_HEADER + 8);
		finding_say(fd, "later events are promised not to be before tick %" PRIu64, future);
		finding_field(fd, data, 8, "future events timestamp");
	}
	if (w->scan->plan) {
		plan_copy(w->scan->plan, w->output, w->source, data, 8);
		if (whole != x->size)
			plan_lost(w->scan->plan, 1, TM_EXACT);
	}
	(void)snprintf(where, sizeof(where), "chunk %" PRIu32 " (events)", w->chunks);
	uint64_t kept = 8 + ktrace_events_walk(w, data + 8, data + whole, where);
	if (kept != whole && *rule == KTRACE_RULE_COUNT)
		*rule = KTRACE_RULE_events_damaged;
	/* A record has nothing to tell whether it is whole: where bytes came in or went missing, any may be shifted. */
	if (w->scan->plan && *rule != KTRACE_RULE_COUNT)
		plan_doubt(w->scan->plan, w->source, data + 8, whole - 8, "records of a chunk that is damaged");
	if (future > w->future)
		w->future = future;
	return kept;
}

/* Drops inside of the events are in the plan already: what is behind the last kept byte begins at data + whole. */
static void chunk_settle_events(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t header_at, uint64_t kept,
				struct extent x, enum ktrace_rule rule)
{
	struct plan *plan = w->scan->plan;
	uint64_t whole = chunk_whole(w, chunk, x.size);
	uint8_t size[8];

	if (!plan)
		return;
	if (kept == whole) {
		x.guessed = false; /* the walk judged each record */
		chunk_settle(w, chunk, header_at, kept, &x, rule);
		return;
	}
	store_u64(size, kept, false);
	plan_amend(plan, w->output, header_at + 8, size, sizeof(size), rule, "size of the chunk without what was left out");
	uint64_t from = chunk->offset + KTRACE_CHUNK_HEADER + whole;
	plan_drop(plan, w->source, from, x.next - from, rule, "behind the last whole record");
}

/* Where a chunk does not stand where the one before ends, bytes may have come in or gone missing in that one. */
static void chunk_doubt_last(struct ktrace_walk *w)
{
	if (w->scan->plan && w->last_size)
		plan_doubt(w->scan->plan, w->source, w->last_data, w->last_size, "payload of the chunk before damage");
	w->last_size = 0;
}

static void chunk_walk(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct extent *x)
{
	struct plan *plan = w->scan->plan;
	uint64_t data = chunk->offset + KTRACE_CHUNK_HEADER, kept, header_at = 0;
	static const uint8_t zeros[8];
	enum ktrace_rule rule = x->rule;
	bool events = chunk->tag == KTRACE_EVENTS;

	if (x->rule != KTRACE_RULE_COUNT)
		chunk_doubt_last(w);
	if (x->rule != KTRACE_RULE_COUNT)
		chunk_say_size(w, chunk, x, chunk_whole(w, chunk, x->size));
	chunk_place(w, chunk, x->retagged);
	if ((events && x->size < 8) || (chunk->tag == KTRACE_EVENTS_COMPRESSED && x->size < 12)) {
		struct finding *fd = chunk_finding(w, KTRACE_RULE_events_size_short, chunk, KTRACE_CHUNK_HEADER + x->size);
		finding_say(fd, "the chunk has %" PRIu64 " byte%s of data; an events chunk needs %u at least", x->size, x->size == 1 ? "" : "s",
			    events ? 8u : 12u);
		if (plan) {
			plan_drop(plan, w->source, chunk->offset, x->next - chunk->offset, KTRACE_RULE_events_size_short, "an events chunk without room for events");
			plan_lost(plan, 0, TM_UNKNOWN_COUNT);
		}
		return;
	}
	if (plan) {
		if (plan_size(plan, w->output) % 8)
			(void)plan_literal(plan, w->output, zeros, 8 - plan_size(plan, w->output) % 8,
					   KTRACE_RULE_chunk_header_misaligned, "padding");
		header_at = plan_size(plan, w->output);
		plan_copy(plan, w->output, w->source, chunk->offset, KTRACE_CHUNK_HEADER);
		if (x->retagged) {
			uint8_t tag[8] = { 0 };
			store_u32(tag, chunk->tag, false);
			plan_amend(plan, w->output, header_at, tag, sizeof(tag), KTRACE_RULE_chunk_unfinished,
				   events ? "tag of what the data is: events" : "tag of a chunk that readers skip");
		}
	}
	if (events) {
		kept = chunk_events(w, chunk, x, &rule);
		chunk_settle_events(w, chunk, header_at, kept, *x, rule);
	} else {
		kept = x->guessed || chunk->tag == KTRACE_THREAD_MAP ? chunk_whole(w, chunk, x->size) : x->size;
		if (chunk->tag == KTRACE_THREAD_MAP && kept != x->size && rule == KTRACE_RULE_COUNT) {
			rule = KTRACE_RULE_threadmap_size;
			struct finding *fd = chunk_finding(w, rule, chunk, KTRACE_CHUNK_HEADER + x->size);
			finding_say(fd, "%" PRIu64 " bytes are left over behind the last whole entry of the thread map", x->size - kept);
		}
		if (plan)
			plan_copy(plan, w->output, w->source, data, kept);
		ktrace_payload_check(w, chunk, kept, 0);
		chunk_settle(w, chunk, header_at, kept, x, rule);
	}
	if (rule == KTRACE_RULE_COUNT)
		chunk_padding(w, chunk, x);
	w->last_data = data;
	w->last_size = kept;
	w->chunks++;
}

/* ---- regions ---- */

static void garbage_drop(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t from, uint64_t until)
{
	struct plan *plan = w->scan->plan;

	if (plan && from < until) {
		plan_drop(plan, w->source, from, until - from, rule, "no chunk");
		plan_lost(plan, 0, TM_UNKNOWN_COUNT);
	}
}

/* Bytes where a chunk should be and none is. Events among them, whose chunk header was lost, get a new one. */
static void region_garbage(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t from, uint64_t until, bool rest)
{
	struct plan *plan = w->scan->plan;
	uint32_t size = ktrace_event_size(w->is_64);
	/* Where the next chunk is off the grid, bytes were lost or put in: records may be anywhere. */
	unsigned step = until % 8 ? 1 : 8;
	uint64_t events = ktrace_events_find(w, step == 8 ? ktrace_align(from) : from, until, step), end = events + (until - events) / size * size;
	struct finding *fd = finding_new(w->scan->findings, rule, w->source, from, events < until ? events - from : until - from);
	size_t header = 0;

	chunk_doubt_last(w);
	if (events == from)
		finding_say(fd, "records of events follow where a chunk header should be");
	else if (events < until)
		finding_say(fd, "%" PRIu64 " bytes are no chunk; records of events whose chunk header is lost follow at 0x%" PRIx64,
			    events - from, events);
	else if (rest)
		finding_say(fd, "the last %" PRIu64 " bytes form no chunk", until - from);
	else
		finding_say(fd, "%" PRIu64 " bytes are no chunk; the next one starts at 0x%" PRIx64, until - from, until);
	garbage_drop(w, rule, from, events);
	if (events == until)
		return;
	uint8_t bytes[KTRACE_CHUNK_HEADER + 8] = { 0 };
	store_u32(bytes, KTRACE_EVENTS, false);
	if (plan) {
		if (plan_size(plan, w->output) % 8)
			(void)plan_literal(plan, w->output, bytes + KTRACE_CHUNK_HEADER, 8 - plan_size(plan, w->output) % 8, rule, "padding");
		header = plan_literal(plan, w->output, bytes, sizeof(bytes), rule, "header of the events chunk");
	}
	w->seen_events = true;
	uint64_t kept = ktrace_events_walk(w, events, end, "events without a chunk header");
	if (plan) {
		store_u64(bytes + 8, 8 + kept, false);
		plan_fill(plan, header, bytes, sizeof(bytes));
		plan_doubt(plan, w->source, events, end - events, "records whose chunk header is lost");
	}
	garbage_drop(w, rule, end, until);
	w->chunks++;
}

/* Chunks from offset to limit. */
static void region_walk(struct ktrace_walk *w, uint64_t at, uint64_t limit)
{
	struct ktrace_chunk chunk;

	while (at < limit && w->source->bundle->error.status == TM_OK) {
		if (limit - at < KTRACE_CHUNK_HEADER) {
			uint8_t tail[KTRACE_CHUNK_HEADER];
			size_t n = (size_t)(limit - at);
			if (source_read(w->source, at, tail, n) != TM_OK)
				return;
			if (!bytes_are_zero(tail, n))
				region_garbage(w, KTRACE_RULE_chunk_header_truncated, at, limit, true);
			else if (w->scan->plan)
				plan_copy(w->scan->plan, w->output, w->source, at, n);
			return;
		}
		if (!ktrace_chunk_read(w->source, at, &chunk))
			return;
		bool retag = chunk_is_placeholder(&chunk);
		if (retag) {
			chunk.tag = chunk_holds_events(w, &chunk) ? KTRACE_EVENTS : KTRACE_NULL;
			chunk.major = chunk.minor = 0;
		}
		const struct ktrace_kind *kind = ktrace_kind_find(chunk.tag);
		bool versions = (chunk.major & ~KTRACE_SUBCHUNKS) <= 16 && chunk.minor <= 16;
		if (!chunk.tag || !((kind || chunk.tag == KTRACE_TAG_UNFINISHED) && versions)) {
			/* Unknown, so it counts only when it leads to something known. */
			if (!chunk.tag || !ktrace_chunk_lands(w->source, at, limit, w->is_64)) {
				uint64_t next = ktrace_chunk_find_next(w, at, limit);
				bool rest = next == UINT64_MAX;
				region_garbage(w, rest ? KTRACE_RULE_trailing_garbage : KTRACE_RULE_chunk_garbage, at, rest ? limit : next, rest);
				at = rest ? limit : next;
				continue;
			}
		}
		struct extent x = chunk_extent(w, &chunk, limit);
		x.retagged = retag;
		if (x.next <= at)
			return; /* cannot be: a chunk has a header */
		chunk_walk(w, &chunk, &x);
		at = x.next;
	}
}

static void v3_finish(struct ktrace_walk *w, struct header *h)
{
	struct findings *f = w->scan->findings;
	struct finding *fd;

	ktrace_events_finish(w);
	if ((!h->numer || !h->denom) && !w->seen_time_sync) {
		fd = header_finding(w, KTRACE_RULE_timebase_zero, 16, 8);
		finding_say(fd, "the timebase is %" PRIu32 "/%" PRIu32 " and no time sync chunk gives another", h->numer, h->denom);
	}
	if (!h->seconds && !w->seen_time_sync) {
		fd = header_finding(w, KTRACE_RULE_walltime_missing, 32, 8);
		finding_say(fd, "the wall time is 0: nobody can say when this was recorded");
	}
	if (h->size % 8 && h->size_rule == KTRACE_RULE_COUNT) {
		fd = header_finding(w, KTRACE_RULE_header_size_not_multiple_of_8, 8, 8);
		finding_say(fd, "the header size is %" PRIu64, h->size);
	}
	if (!w->seen_events) {
		fd = finding_new(f, KTRACE_RULE_no_events, w->source, 0, 0);
		finding_say(fd, "the file has no events");
	} else if (!w->seen_cpu_map) {
		fd = finding_new(f, KTRACE_RULE_cpumap_missing, w->source, 0, 0);
		finding_say(fd, "the file has no CPU map");
	}
	if (w->summary_offset && w->summary_time < w->last_time) {
		fd = finding_new(f, KTRACE_RULE_summary_before_last_event, w->source, w->summary_offset, 8);
		finding_say(fd, "the summary says that the last event was at tick %" PRIu64 ", but one is at %" PRIu64, w->summary_time,
			    w->last_time);
	}
}

enum tracemend_status ktrace_v3_walk(struct ktrace_walk *w)
{
	struct plan *plan = w->scan->plan;
	uint64_t file = w->source->size;
	uint8_t bytes[KTRACE_HEADER];

	(void)snprintf(w->scan->version, sizeof(w->scan->version), "3");
	if (file < KTRACE_HEADER) {
		struct finding *fd = finding_new(w->scan->findings, KTRACE_RULE_header_truncated, w->source, 0, file);
		finding_say(fd, "the file has %" PRIu64 " bytes, and its header alone needs %u", file, KTRACE_HEADER);
		return plan ? TM_NOTHING : TM_OK;
	}
	enum tracemend_status status = source_read(w->source, 0, bytes, sizeof(bytes));
	if (status != TM_OK)
		return status;
	struct header h = header_decode(bytes);
	if (plan)
		plan_copy(plan, w->output, w->source, 0, KTRACE_HEADER);
	header_fields(w, &h);
	header_width(w, &h);
	header_extent(w, &h);
	w->body = ktrace_align(h.end) < file ? ktrace_align(h.end) : file;
	if (plan && h.chunks > KTRACE_HEADER)
		plan_drop(plan, w->source, KTRACE_HEADER, h.chunks - KTRACE_HEADER, KTRACE_RULE_header_size_64_structure,
			  "bytes between the header structure and its first chunk");
	w->in_header = true;
	region_walk(w, h.chunks, h.end);
	if (plan) {
		/* The size counts what was kept. Padding behind the last header chunk may be counted or not. */
		uint64_t end = plan_size(plan, w->output), stored = h.size + KTRACE_HEADER_UNCOUNTED;
		if (h.size_rule != KTRACE_RULE_COUNT || end != stored)
			header_fix(w, &h, 8, end - KTRACE_HEADER_UNCOUNTED, 8,
				   h.size_rule != KTRACE_RULE_COUNT ? h.size_rule :
				   h.chunks > KTRACE_HEADER	    ? KTRACE_RULE_header_size_64_structure :
								      KTRACE_RULE_header_size_splits_chunk,
				   "size of the header as it is written");
		plan_copy(plan, w->output, w->source, h.end, w->body - h.end);
	}
	w->in_header = false;
	region_walk(w, w->body, file);
	v3_finish(w, &h);
	/* What is left must not tell another story than what was there. */
	if (plan && findings_errors(w->scan->findings) && ktrace_events_other_width(w->head, w->head_length, w->is_64)) {
		(void)snprintf(w->scan->incomplete, sizeof(w->scan->incomplete), "%s",
			       "what is left of the events does not tell whether they are 32-bit or 64-bit ones");
		return TM_NOTHING;
	}
	return TM_OK;
}
