/* The parts of a ktrace file: chunks and what they hold, or the four pieces of a RAW file. */
#include "formats/ktrace/outline/ktrace_outline.h"

#include "formats/ktrace/decode/ktrace_kind.h"
#include "formats/ktrace/salvage/ktrace_form.h"

struct sketch {
	struct outline *o;
	const uint8_t *data;
	uint64_t size;
	bool is_64;
};

/* ---- entries and records ---- */

static void event(const struct sketch *s, uint64_t at)
{
	unsigned word = s->is_64 ? 8 : 4;

	(void)outline_open(s->o, PART_RECORD, "event", at, 0);
	if (s->is_64) {
		(void)outline_field(s->o, "time", FIELD_TIME, at, 8);
	} else {
		(void)outline_bits(s->o, "time", FIELD_TIME, at, 8, 0, 56);
		(void)outline_bits(s->o, "cpu", FIELD_VALUE, at, 8, 56, 8);
	}
	for (unsigned i = 0; i < 4; i++)
		(void)outline_field(s->o, "argument", FIELD_VALUE, at + 8 + i * word, word);
	(void)outline_field(s->o, "tid", FIELD_REFERENCE, at + 8 + 4 * word, word);
	uint64_t id = at + 8 + 5 * word;
	(void)outline_bits(s->o, "function", FIELD_FLAGS, id, 4, 0, 2);
	(void)outline_bits(s->o, "code", FIELD_TAG, id, 4, 2, 14);
	(void)outline_bits(s->o, "class", FIELD_TAG, id, 4, 16, 16);
	if (s->is_64) {
		(void)outline_field(s->o, "cpu", FIELD_VALUE, at + 52, 4);
		(void)outline_field(s->o, "unused", FIELD_VALUE, at + 56, 8);
	}
	outline_close(s->o, at + ktrace_event_size(s->is_64));
}

static uint64_t events(const struct sketch *s, uint64_t at, uint64_t end)
{
	uint32_t size = ktrace_event_size(s->is_64);
	for (; at <= end && end - at >= size && s->o->status == TM_OK; at += size)
		event(s, at);
	return at;
}

/* Entries of `entry` bytes that end in a name of `name` bytes. */
static void entries(const struct sketch *s, const char *what, uint64_t at, uint64_t end, uint64_t entry, uint64_t name)
{
	bool thread = name == KTRACE_NAME;

	for (; at <= end && end - at >= entry && s->o->status == TM_OK; at += entry) {
		uint64_t text = at + entry - name;
		(void)outline_open(s->o, PART_RECORD, what, at, 0);
		(void)outline_field(s->o, thread ? "tid" : "cpu", FIELD_ID, at, text - 4 - at);
		(void)outline_field(s->o, thread ? "pid" : "flags", thread ? FIELD_ID : FIELD_FLAGS, text - 4, 4);
		outline_fix(s->o, outline_field(s->o, "name", FIELD_TEXT, text, name));
		outline_close(s->o, at + entry);
	}
}

/* ---- payloads ---- */

static void cpu_map(const struct sketch *s, uint64_t at, uint64_t end)
{
	uint64_t size = end - at, entry = 16;
	uint32_t first = size >= 8 ? load_u32(s->data + at, false) : 0, count = size >= 8 ? load_u32(s->data + at + 4, false) : 0;
	uint32_t field = OUTLINE_NONE;

	if (first == 1 && size >= 8 && size - 8 == 40 * (uint64_t)count)
		entry = 40;
	if (entry == 40 || first == KTRACE_MAGIC_RAW1) {
		(void)outline_field(s->o, "map form", FIELD_TAG, at, 4);
		field = outline_field(s->o, "cpu count", FIELD_COUNT, at + 4, 4);
		at += 8;
	}
	uint32_t group = outline_open(s->o, PART_GROUP, entry == 40 ? "long cpus" : "cpus", at, 0);
	outline_measure(s->o, field, MEASURE_COUNT, group, 1, 0);
	entries(s, "cpu", at, end, entry, entry - 8);
	outline_close(s->o, end);
}

/* Text of the size that the chunk has: property lists, code tables, whatever is not known. */
static void opaque(const struct sketch *s, uint64_t at, uint64_t end)
{
	(void)outline_field(s->o, "payload", FIELD_TEXT, at, end - at);
}

static void fixed(const struct sketch *s, uint64_t at, uint64_t end)
{
	for (; end - at >= 8; at += 8)
		(void)outline_field(s->o, "word", FIELD_VALUE, at, 8);
	if (end - at >= 4)
		(void)outline_field(s->o, "half word", FIELD_VALUE, at, 4);
}

static void chunks(const struct sketch *s, uint64_t at, uint64_t limit, unsigned depth);

static void payload(const struct sketch *s, const struct ktrace_chunk *c, uint64_t at, uint64_t end, unsigned depth)
{
	const struct ktrace_kind *kind = ktrace_kind_find(c->tag);

	if (c->major & KTRACE_SUBCHUNKS && depth < KTRACE_SUBCHUNK_DEPTH_MAX) {
		chunks(s, at, end, depth + 1);
	} else if (c->tag == KTRACE_EVENTS && end - at >= 8) {
		(void)outline_field(s->o, "future time", FIELD_TIME, at, 8);
		(void)outline_open(s->o, PART_GROUP, s->is_64 ? "events 64" : "events 32", at + 8, 0);
		outline_close(s->o, events(s, at + 8, end));
	} else if (c->tag == KTRACE_THREAD_MAP) {
		(void)outline_open(s->o, PART_GROUP, s->is_64 ? "threads 64" : "threads 32", at, 0);
		entries(s, "thread", at, end, ktrace_thread_size(s->is_64), KTRACE_NAME);
		outline_close(s->o, end);
	} else if (c->tag == KTRACE_CPU_MAP) {
		cpu_map(s, at, end);
	} else if (ktrace_kind_fixed_size(kind)) {
		fixed(s, at, end);
	} else {
		opaque(s, at, end);
	}
}

/* ---- chunks ---- */

static void chunk(const struct sketch *s, const struct ktrace_chunk *c, uint64_t end, int64_t bias, unsigned depth)
{
	const struct ktrace_kind *kind = ktrace_kind_find(c->tag);
	uint64_t data = c->offset + KTRACE_CHUNK_HEADER;
	uint32_t part = outline_open(s->o, PART_RECORD, kind ? kind->name : "chunk", c->offset, 0);

	outline_align(s->o, part, 8);
	(void)outline_field(s->o, "tag", FIELD_TAG, c->offset, 4);
	(void)outline_field(s->o, "major version", FIELD_TAG, c->offset + 4, 2);
	(void)outline_field(s->o, "minor version", FIELD_TAG, c->offset + 6, 2);
	uint32_t size = outline_field(s->o, "chunk size", FIELD_SIZE, c->offset + 8, 8);
	uint32_t body = outline_open(s->o, PART_GROUP, kind ? kind->name : "payload", data, PART_FIXED);
	payload(s, c, data, end, depth);
	outline_close(s->o, end);
	outline_measure(s->o, size, MEASURE_LENGTH, body, 1, bias);
	outline_close(s->o, end);
}

static bool chunk_at(const struct sketch *s, uint64_t at, uint64_t limit, struct ktrace_chunk *c)
{
	if (at > limit || limit - at < KTRACE_CHUNK_HEADER)
		return false;
	*c = ktrace_chunk_decode(s->data + at, at);
	return c->tag && c->tag != KTRACE_TAG_UNFINISHED && ktrace_chunk_versions_are_small(c) &&
	       (c->size <= limit - at - KTRACE_CHUNK_HEADER || c->size == KTRACE_SIZE_UNFINISHED);
}

/* Chunks up to limit, or up to the first that is none: what follows is bytes. */
static void chunks(const struct sketch *s, uint64_t at, uint64_t limit, unsigned depth)
{
	struct ktrace_chunk c, next;
	uint64_t last = at;

	while (s->o->status == TM_OK && chunk_at(s, ktrace_align(at), limit, &c)) {
		if (at < c.offset)
			(void)outline_padding(s->o, at, c.offset, 8, OUTLINE_NONE);
		uint64_t data = c.offset + KTRACE_CHUNK_HEADER, end = c.size == KTRACE_SIZE_UNFINISHED ? limit : data + c.size;
		int64_t bias = 0;
		/* The kernel's own events chunks leave the 8 bytes before the records out of their size. */
		if (c.tag == KTRACE_EVENTS && c.size && c.size % ktrace_event_size(s->is_64) == 0 && limit - end >= 8 &&
		    !chunk_at(s, ktrace_align(end), limit, &next)) {
			end += 8;
			bias = -8;
		}
		chunk(s, &c, end, bias, depth);
		last = at = end;
	}
	if (last < limit && ktrace_align(last) <= limit && bytes_are_zero(s->data + last, (size_t)(ktrace_align(last) - last)))
		(void)outline_padding(s->o, last, ktrace_align(last), 8, OUTLINE_NONE);
}

static void version_3(struct sketch *s)
{
	static const struct {
		const char *name;
		uint8_t kind, at, length;
	} fields[] = {
		{ "file magic", FIELD_MAGIC, 0, 4 },	{ "file major", FIELD_TAG, 4, 2 },   { "file minor", FIELD_TAG, 6, 2 },
		{ "header size", FIELD_SIZE, 8, 8 },	{ "numerator", FIELD_VALUE, 16, 4 }, { "denominator", FIELD_VALUE, 20, 4 },
		{ "time", FIELD_TIME, 24, 8 },		{ "seconds", FIELD_TIME, 32, 8 },    { "microseconds", FIELD_VALUE, 40, 4 },
		{ "minutes west", FIELD_VALUE, 44, 4 }, { "daylight", FIELD_VALUE, 48, 4 },  { "flags", FIELD_FLAGS, 52, 4 },
	};
	uint64_t header = load_u64(s->data + 8, false), end = KTRACE_HEADER;
	uint32_t size = OUTLINE_NONE;

	if (header >= KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED && header <= s->size - KTRACE_HEADER_UNCOUNTED)
		end = header + KTRACE_HEADER_UNCOUNTED;
	s->is_64 = load_u32(s->data + 52, false) & KTRACE_FLAG_64;
	uint32_t group = outline_open(s->o, PART_GROUP, "header", 0, PART_FIXED);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint32_t field = outline_field(s->o, fields[i].name, (enum field_kind)fields[i].kind, fields[i].at,
					       fields[i].length);
		size = fields[i].at == 8 ? field : size;
	}
	outline_measure(s->o, size, MEASURE_LENGTH, group, 1, -(int64_t)KTRACE_HEADER_UNCOUNTED);
	(void)outline_leaf(s->o, PART_BYTES, "structure", KTRACE_HEADER, 0, PART_FIXED);
	chunks(s, KTRACE_HEADER, end, 0);
	outline_close(s->o, end);
	if (ktrace_align(end) <= s->size)
		(void)outline_padding(s->o, end, ktrace_align(end), 8, OUTLINE_NONE);
	chunks(s, ktrace_align(end), s->size, 0);
}

/* ---- RAW ---- */

static void raw(struct sketch *s, unsigned version, uint64_t map, uint32_t threads)
{
	uint64_t entry = ktrace_thread_size(s->is_64), map_end = map + threads * entry, at;
	uint32_t count = OUTLINE_NONE;

	if (version) {
		(void)outline_field(s->o, "file magic", FIELD_MAGIC, 0, 4);
		count = outline_field(s->o, "thread count", FIELD_COUNT, 4, 4);
		if (version == 2) {
			(void)outline_field(s->o, "flags", FIELD_FLAGS, 20, 4);
			(void)outline_field(s->o, "frequency", FIELD_VALUE, 24, 8);
		} else {
			(void)outline_field(s->o, "seconds", FIELD_TIME, 8, 8);
		}
	} else {
		count = outline_field(s->o, "thread count", FIELD_COUNT, 0, 4);
	}
	uint32_t group = outline_open(s->o, PART_GROUP, s->is_64 ? "threads 64" : "threads 32", map, 0);
	outline_measure(s->o, count, MEASURE_COUNT, group, 1, 0);
	entries(s, "thread", map, map_end < s->size ? map_end : s->size, entry, KTRACE_NAME);
	outline_close(s->o, map_end);
	/* Without an entry a file of version 0 has nothing that readers could know it by. */
	if (!version && threads == 1 && group != OUTLINE_NONE)
		outline_fix(s->o, s->o->parts[group].first);
	at = map_end < s->size ? map_end : s->size;
	if (version) {
		uint64_t page = (at + KTRACE_PAGE - 1) & ~(uint64_t)(KTRACE_PAGE - 1);
		if (page > s->size)
			return;
		/* A CPU map may stand in the gap: it is a part of the bytes that fill it. */
		if (bytes_are_zero(s->data + at, (size_t)(page - at)))
			(void)outline_padding(s->o, at, page, KTRACE_PAGE, OUTLINE_NONE);
		for (at = page; s->size - at >= KTRACE_PAGE && bytes_are_zero(s->data + at, KTRACE_PAGE); at += KTRACE_PAGE)
			;
	}
	(void)outline_open(s->o, PART_GROUP, s->is_64 ? "events 64" : "events 32", at, 0);
	outline_close(s->o, events(s, at, s->size));
}

static void raw_1(struct sketch *s, uint32_t threads)
{
	struct window w = { 0 };
	window_open(&w, bundle_single(s->o->in));
	struct ktrace_raw1 form = ktrace_raw1_find(&w, threads, NULL);
	if (w.status != TM_OK)
		s->o->status = w.status;
	window_close(&w);
	s->is_64 = form.is_64;
	if (s->size >= 24)
		raw(s, 1, form.map, threads);
}

static void raw_0(struct sketch *s, uint32_t threads)
{
	struct window w = { 0 };
	window_open(&w, bundle_single(s->o->in));
	uint32_t entry = ktrace_raw0_find(&w, threads, NULL).entry;
	if (w.status != TM_OK)
		s->o->status = w.status;
	window_close(&w);
	s->is_64 = entry == ktrace_thread_size(true);
	if (entry)
		raw(s, 0, 4, threads);
}

enum tracemend_status ktrace_outline(struct outline *o, const char *profile)
{
	(void)profile;
	if (o->file_count != 1 || !bundle_single(o->in) || o->files[0].size < 8)
		return TM_OK;
	struct sketch s = { .o = o, .data = o->files[0].data, .size = o->files[0].size };
	uint32_t magic = load_u32(s.data, false), second = load_u32(s.data + 4, false);

	(void)outline_open_file(o, 0, "trace", 0);
	if (magic == KTRACE_MAGIC_RAW1 || magic == KTRACE_MAGIC_RAW1_OLD) {
		raw_1(&s, second);
	} else if (magic == KTRACE_MAGIC_RAW2) {
		s.is_64 = s.size >= KTRACE_RAW2_HEADER && load_u32(s.data + 20, false) & 0xff;
		if (s.size >= KTRACE_RAW2_HEADER)
			raw(&s, 2, KTRACE_RAW2_HEADER, second);
	} else if (magic == KTRACE_MAGIC || magic == KTRACE_MAGIC_KERNEL) {
		if (s.size >= KTRACE_HEADER)
			version_3(&s);
	} else {
		raw_0(&s, magic);
	}
	outline_close_file(o);
	return TM_OK;
}
