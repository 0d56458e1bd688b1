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

static void event(const struct sketch *k, uint64_t at)
{
	unsigned word = k->is_64 ? 8 : 4;

	(void)outline_open(k->o, PART_RECORD, "event", at, 0);
	if (k->is_64) {
		(void)outline_field(k->o, "time", FIELD_TIME, at, 8);
	} else {
		(void)outline_bits(k->o, "time", FIELD_TIME, at, 8, 0, 56);
		(void)outline_bits(k->o, "cpu", FIELD_VALUE, at, 8, 56, 8);
	}
	for (unsigned i = 0; i < 4; i++)
		(void)outline_field(k->o, "argument", FIELD_VALUE, at + 8 + i * word, word);
	(void)outline_field(k->o, "tid", FIELD_REFERENCE, at + 8 + 4 * word, word);
	uint64_t id = at + 8 + 5 * word;
	(void)outline_bits(k->o, "function", FIELD_FLAGS, id, 4, 0, 2);
	(void)outline_bits(k->o, "code", FIELD_TAG, id, 4, 2, 14);
	(void)outline_bits(k->o, "class", FIELD_TAG, id, 4, 16, 16);
	if (k->is_64) {
		(void)outline_field(k->o, "cpu", FIELD_VALUE, at + 52, 4);
		(void)outline_field(k->o, "unused", FIELD_VALUE, at + 56, 8);
	}
	outline_close(k->o, at + ktrace_event_size(k->is_64));
}

static uint64_t events(const struct sketch *k, uint64_t at, uint64_t end)
{
	uint32_t size = ktrace_event_size(k->is_64);
	for (; at <= end && end - at >= size && k->o->status == TM_OK; at += size)
		event(k, at);
	return at;
}

/* Entries of `entry` bytes that end in a name of `name` bytes. */
static void entries(const struct sketch *k, const char *what, uint64_t at, uint64_t end, uint64_t entry, uint64_t name)
{
	bool thread = name == KTRACE_NAME;

	for (; at <= end && end - at >= entry && k->o->status == TM_OK; at += entry) {
		uint64_t text = at + entry - name;
		(void)outline_open(k->o, PART_RECORD, what, at, 0);
		(void)outline_field(k->o, thread ? "tid" : "cpu", FIELD_ID, at, text - 4 - at);
		(void)outline_field(k->o, thread ? "pid" : "flags", thread ? FIELD_ID : FIELD_FLAGS, text - 4, 4);
		outline_fix(k->o, outline_field(k->o, "name", FIELD_TEXT, text, name));
		outline_close(k->o, at + entry);
	}
}

/* ---- payloads ---- */

static void cpu_map(const struct sketch *k, uint64_t at, uint64_t end)
{
	uint64_t size = end - at, entry = 16;
	uint32_t first = size >= 8 ? load_u32(k->data + at, false) : 0, count = size >= 8 ? load_u32(k->data + at + 4, false) : 0;
	uint32_t field = OUTLINE_NONE;

	if (first == 1 && size >= 8 && size - 8 == 40 * (uint64_t)count)
		entry = 40;
	if (entry == 40 || first == KTRACE_MAGIC_RAW1) {
		(void)outline_field(k->o, "map form", FIELD_TAG, at, 4);
		field = outline_field(k->o, "cpu count", FIELD_COUNT, at + 4, 4);
		at += 8;
	}
	uint32_t group = outline_open(k->o, PART_GROUP, entry == 40 ? "long cpus" : "cpus", at, 0);
	outline_measure(k->o, field, MEASURE_COUNT, group, 1, 0);
	entries(k, "cpu", at, end, entry, entry - 8);
	outline_close(k->o, end);
}

/* Text of the size that the chunk has: property lists, code tables, whatever is not known. */
static void opaque(const struct sketch *k, uint64_t at, uint64_t end)
{
	(void)outline_field(k->o, "payload", FIELD_TEXT, at, end - at);
}

static void fixed(const struct sketch *k, uint64_t at, uint64_t end)
{
	for (; end - at >= 8; at += 8)
		(void)outline_field(k->o, "word", FIELD_VALUE, at, 8);
	if (end - at >= 4)
		(void)outline_field(k->o, "half word", FIELD_VALUE, at, 4);
}

static void chunks(const struct sketch *k, uint64_t at, uint64_t limit, unsigned depth);

static void payload(const struct sketch *k, const struct ktrace_chunk *c, uint64_t at, uint64_t end, unsigned depth)
{
	const struct ktrace_kind *kind = ktrace_kind_find(c->tag);

	if (c->major & KTRACE_SUBCHUNKS && depth < KTRACE_SUBCHUNK_DEPTH_MAX) {
		chunks(k, at, end, depth + 1);
	} else if (c->tag == KTRACE_EVENTS && end - at >= 8) {
		(void)outline_field(k->o, "future time", FIELD_TIME, at, 8);
		(void)outline_open(k->o, PART_GROUP, k->is_64 ? "events 64" : "events 32", at + 8, 0);
		outline_close(k->o, events(k, at + 8, end));
	} else if (c->tag == KTRACE_THREAD_MAP) {
		(void)outline_open(k->o, PART_GROUP, k->is_64 ? "threads 64" : "threads 32", at, 0);
		entries(k, "thread", at, end, ktrace_thread_size(k->is_64), KTRACE_NAME);
		outline_close(k->o, end);
	} else if (c->tag == KTRACE_CPU_MAP) {
		cpu_map(k, at, end);
	} else if (ktrace_kind_fixed_size(kind)) {
		fixed(k, at, end);
	} else {
		opaque(k, at, end);
	}
}

/* ---- chunks ---- */

static void chunk(const struct sketch *k, const struct ktrace_chunk *c, uint64_t end, int64_t bias, unsigned depth)
{
	const struct ktrace_kind *kind = ktrace_kind_find(c->tag);
	uint64_t data = c->offset + KTRACE_CHUNK_HEADER;
	uint32_t part = outline_open(k->o, PART_RECORD, kind ? kind->name : "chunk", c->offset, 0);

	outline_align(k->o, part, 8);
	(void)outline_field(k->o, "tag", FIELD_TAG, c->offset, 4);
	(void)outline_field(k->o, "major version", FIELD_TAG, c->offset + 4, 2);
	(void)outline_field(k->o, "minor version", FIELD_TAG, c->offset + 6, 2);
	uint32_t size = outline_field(k->o, "chunk size", FIELD_SIZE, c->offset + 8, 8);
	uint32_t body = outline_open(k->o, PART_GROUP, kind ? kind->name : "payload", data, PART_FIXED);
	payload(k, c, data, end, depth);
	outline_close(k->o, end);
	outline_measure(k->o, size, MEASURE_LENGTH, body, 1, bias);
	outline_close(k->o, end);
}

static bool chunk_at(const struct sketch *k, uint64_t at, uint64_t limit, struct ktrace_chunk *c)
{
	if (at > limit || limit - at < KTRACE_CHUNK_HEADER)
		return false;
	*c = ktrace_chunk_decode(k->data + at, at);
	return c->tag && c->tag != KTRACE_TAG_UNFINISHED && ktrace_chunk_versions_are_small(c) &&
	       (c->size <= limit - at - KTRACE_CHUNK_HEADER || c->size == KTRACE_SIZE_UNFINISHED);
}

/* Chunks up to limit, or up to the first that is none: what follows is bytes. */
static void chunks(const struct sketch *k, uint64_t at, uint64_t limit, unsigned depth)
{
	struct ktrace_chunk c, next;
	uint64_t last = at;

	while (k->o->status == TM_OK && chunk_at(k, ktrace_align(at), limit, &c)) {
		if (at < c.offset)
			(void)outline_padding(k->o, at, c.offset, 8, OUTLINE_NONE);
		uint64_t data = c.offset + KTRACE_CHUNK_HEADER, end = c.size == KTRACE_SIZE_UNFINISHED ? limit : data + c.size;
		int64_t bias = 0;
		/* The kernel's own events chunks leave the 8 bytes before the records out of their size. */
		if (c.tag == KTRACE_EVENTS && c.size && c.size % ktrace_event_size(k->is_64) == 0 && limit - end >= 8 &&
		    !chunk_at(k, ktrace_align(end), limit, &next)) {
			end += 8;
			bias = -8;
		}
		chunk(k, &c, end, bias, depth);
		last = at = end;
	}
	if (last < limit && ktrace_align(last) <= limit && bytes_are_zero(k->data + last, (size_t)(ktrace_align(last) - last)))
		(void)outline_padding(k->o, last, ktrace_align(last), 8, OUTLINE_NONE);
}

static void version_3(struct sketch *k)
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
	uint64_t header = load_u64(k->data + 8, false), end = KTRACE_HEADER;
	uint32_t size = OUTLINE_NONE;

	if (header >= KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED && header <= k->size - KTRACE_HEADER_UNCOUNTED)
		end = header + KTRACE_HEADER_UNCOUNTED;
	k->is_64 = load_u32(k->data + 52, false) & KTRACE_FLAG_64;
	uint32_t group = outline_open(k->o, PART_GROUP, "header", 0, PART_FIXED);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint32_t field = outline_field(k->o, fields[i].name, (enum field_kind)fields[i].kind, fields[i].at,
					       fields[i].length);
		size = fields[i].at == 8 ? field : size;
	}
	outline_measure(k->o, size, MEASURE_LENGTH, group, 1, -(int64_t)KTRACE_HEADER_UNCOUNTED);
	(void)outline_leaf(k->o, PART_BYTES, "structure", KTRACE_HEADER, 0, PART_FIXED);
	chunks(k, KTRACE_HEADER, end, 0);
	outline_close(k->o, end);
	if (ktrace_align(end) <= k->size)
		(void)outline_padding(k->o, end, ktrace_align(end), 8, OUTLINE_NONE);
	chunks(k, ktrace_align(end), k->size, 0);
}

/* ---- RAW ---- */

static void raw(struct sketch *k, unsigned version, uint64_t map, uint32_t threads)
{
	uint64_t entry = ktrace_thread_size(k->is_64), map_end = map + threads * entry, at;
	uint32_t count = OUTLINE_NONE;

	if (version) {
		(void)outline_field(k->o, "file magic", FIELD_MAGIC, 0, 4);
		count = outline_field(k->o, "thread count", FIELD_COUNT, 4, 4);
		if (version == 2) {
			(void)outline_field(k->o, "flags", FIELD_FLAGS, 20, 4);
			(void)outline_field(k->o, "frequency", FIELD_VALUE, 24, 8);
		} else {
			(void)outline_field(k->o, "seconds", FIELD_TIME, 8, 8);
		}
	} else {
		count = outline_field(k->o, "thread count", FIELD_COUNT, 0, 4);
	}
	uint32_t group = outline_open(k->o, PART_GROUP, k->is_64 ? "threads 64" : "threads 32", map, 0);
	outline_measure(k->o, count, MEASURE_COUNT, group, 1, 0);
	entries(k, "thread", map, map_end < k->size ? map_end : k->size, entry, KTRACE_NAME);
	outline_close(k->o, map_end);
	/* Without an entry a file of version 0 has nothing that readers could know it by. */
	if (!version && threads == 1 && group != OUTLINE_NONE)
		outline_fix(k->o, k->o->parts[group].first);
	at = map_end < k->size ? map_end : k->size;
	if (version) {
		uint64_t page = (at + KTRACE_PAGE - 1) & ~(uint64_t)(KTRACE_PAGE - 1);
		if (page > k->size)
			return;
		/* A CPU map may stand in the gap: it is a part of the bytes that fill it. */
		if (bytes_are_zero(k->data + at, (size_t)(page - at)))
			(void)outline_padding(k->o, at, page, KTRACE_PAGE, OUTLINE_NONE);
		for (at = page; k->size - at >= KTRACE_PAGE && bytes_are_zero(k->data + at, KTRACE_PAGE); at += KTRACE_PAGE)
			;
	}
	(void)outline_open(k->o, PART_GROUP, k->is_64 ? "events 64" : "events 32", at, 0);
	outline_close(k->o, events(k, at, k->size));
}

static void raw_1(struct sketch *k, uint32_t threads)
{
	struct window w = { 0 };
	window_open(&w, bundle_single(k->o->in));
	struct ktrace_raw1 form = ktrace_raw1_find(&w, threads, NULL);
	if (w.status != TM_OK)
		k->o->status = w.status;
	window_close(&w);
	k->is_64 = form.is_64;
	if (k->size >= 24)
		raw(k, 1, form.map, threads);
}

static void raw_0(struct sketch *k, uint32_t threads)
{
	struct window w = { 0 };
	window_open(&w, bundle_single(k->o->in));
	uint32_t entry = ktrace_raw0_find(&w, threads, NULL).entry;
	if (w.status != TM_OK)
		k->o->status = w.status;
	window_close(&w);
	k->is_64 = entry == ktrace_thread_size(true);
	if (entry)
		raw(k, 0, 4, threads);
}

enum tracemend_status ktrace_outline(struct outline *o, const char *profile)
{
	(void)profile;
	if (o->file_count != 1 || !bundle_single(o->in) || o->files[0].size < 8)
		return TM_OK;
	struct sketch k = { .o = o, .data = o->files[0].data, .size = o->files[0].size };
	uint32_t magic = load_u32(k.data, false), second = load_u32(k.data + 4, false);

	(void)outline_open_file(o, 0, "trace", 0);
	if (magic == KTRACE_MAGIC_RAW1 || magic == KTRACE_MAGIC_RAW1_OLD) {
		raw_1(&k, second);
	} else if (magic == KTRACE_MAGIC_RAW2) {
		k.is_64 = k.size >= KTRACE_RAW2_HEADER && load_u32(k.data + 20, false) & 0xff;
		if (k.size >= KTRACE_RAW2_HEADER)
			raw(&k, 2, KTRACE_RAW2_HEADER, second);
	} else if (magic == KTRACE_MAGIC || magic == KTRACE_MAGIC_KERNEL) {
		if (k.size >= KTRACE_HEADER)
			version_3(&k);
	} else {
		raw_0(&k, magic);
	}
	outline_close_file(o);
	return TM_OK;
}
