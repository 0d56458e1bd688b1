/* What is inside of chunks. These checks report and never edit, since the manual page leaves payloads to their writers; but for the
 * prefix of a CPU map, without which readers give up. */
#include "formats/ktrace/scan/ktrace_payload.h"

#include <inttypes.h>

#include "core/bytes.h"
#include "core/text.h"
#include "formats/ktrace/repair/ktrace_odd.h"
#include "formats/ktrace/salvage/ktrace_extent.h"
#include "formats/ktrace/scan/ktrace_threads.h"

/* Reports something inside of a chunk; payload_report_as(): with a severity below that of the rule. */
#define payload_report(w, rule, ...) payload_report_as((w), (rule), TM_ERROR, __VA_ARGS__)
#define payload_report_as(w, rule, ...) ((void)PLACE(rule), payload_report_at((w), (rule), __VA_ARGS__))
static struct finding *payload_report_at(struct ktrace_walk *w, enum ktrace_rule rule, enum tracemend_severity severity,
					 const struct ktrace_chunk *chunk, uint64_t offset, uint64_t length, const char *format,
					 ...) PRINTF_LIKE(7, 8);

static struct finding *payload_report_at(struct ktrace_walk *w, enum ktrace_rule rule, enum tracemend_severity severity,
					 const struct ktrace_chunk *chunk, uint64_t offset, uint64_t length, const char *format,
					 ...)
{
	struct finding *fd = finding_milder_at(w->scan->findings, rule, severity, w->in.source, offset, length);
	va_list arguments;

	finding_path(fd, "chunk at 0x%" PRIx64 " (%s, tag 0x%" PRIx32 ")", chunk->offset, ktrace_kind_name(chunk->tag), chunk->tag);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	if (!place_silenced())
		ktrace_odd_report(&w->repair, rule, offset, offset + length);
	return fd;
}

/* ---- CPU map: three layouts under one tag ---- */

struct cpu_form {
	uint32_t prefix, entry, name; /* bytes */
	uint64_t count;
};

static void cpumap_entry_name(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct cpu_form *form, uint64_t at,
			      const uint8_t *entry)
{
	const uint8_t *name = entry + 8, *end = memchr(name, 0, form->name);
	size_t length = end ? (size_t)(end - name) : form->name;
	bool control = false;

	for (size_t i = 0; i < length; i++)
		control |= name[i] < 0x20;
	if (end && !control)
		return;
	struct finding *fd = payload_report(w, KTRACE_RULE_cpumap_name_unterminated, chunk, at, form->entry,
					    "the name of CPU %" PRIu32 " %s", load_u32(entry, false),
					    end ? "has control bytes" : "has no NUL at its end");
	finding_field(fd, at + 8, form->name, "name");
}

static void cpumap_entries(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct cpu_form *form)
{
	uint16_t seen[KTRACE_CPUS_MAX] = { 0 }; /* CPU number -> the entry for it, counted from 1 */
	bool ordered = true;

	for (uint64_t i = 0; i < form->count && i < KTRACE_CPUS_MAX; i++) {
		uint64_t at = ktrace_chunk_data(chunk) + form->prefix + i * form->entry;
		const uint8_t *p = window_at(&w->in.window, at, form->entry);
		struct finding *fd;
		if (!p)
			return;
		uint32_t id = load_u32(p, false), flags = load_u32(p + 4, false);
		if (id >= form->count) {
			fd = payload_report(w, KTRACE_RULE_cpumap_id_out_of_range, chunk, at, form->entry,
					    "entry %" PRIu64 " is for CPU %" PRIu32 ", the map has %" PRIu64 " entries", i, id,
					    form->count);
			finding_field(fd, at, 4, "CPU number %" PRIu32, id);
		} else if (id < KTRACE_CPUS_MAX && seen[id]) {
			fd = payload_report(w, KTRACE_RULE_cpumap_duplicate_id, chunk, at, form->entry,
					    "entry %" PRIu64 " is for CPU %" PRIu32 ", which an earlier entry is for", i, id);
			finding_field(fd, at, 4, "CPU number %" PRIu32, id);
			/* Either of the two may be damaged, and what is beside them. */
			uint64_t other = ktrace_chunk_data(chunk) + form->prefix + (seen[id] - 1u) * (uint64_t)form->entry;
			ktrace_odd_report(&w->repair, KTRACE_RULE_cpumap_duplicate_id, other, other + form->entry);
			ktrace_odd_report(&w->repair, KTRACE_RULE_cpumap_duplicate_id, at - form->entry,
					  i + 1 < form->count ? at + 2 * (uint64_t)form->entry : at + form->entry);
		} else if (id < KTRACE_CPUS_MAX) {
			seen[id] = (uint16_t)(i + 1);
		}
		if (id != i && id < form->count && ordered) {
			ordered = false;
			payload_report(w, KTRACE_RULE_cpumap_order, chunk, at, form->entry, "entry %" PRIu64 " is for CPU %" PRIu32,
				       i, id);
		}
		if (flags & ~1u) {
			fd = payload_report(w, KTRACE_RULE_cpumap_flags, chunk, at, form->entry,
					    "the flags of CPU %" PRIu32 " are 0x%" PRIx32 "; only bit 0 is defined", id, flags);
			finding_field(fd, at + 4, 4, "flags = 0x%" PRIx32, flags);
		}
		cpumap_entry_name(w, chunk, form, at, p);
	}
}

/* Entries for the CPUs 0, 1, 2 and so on. */
static bool cpumap_is_bare(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	for (uint64_t i = 0; size % 16 == 0 && i < size / 16 && i < KTRACE_CPUS_MAX; i++) {
		const uint8_t *p = window_at(&w->in.window, ktrace_chunk_data(chunk) + 16 * i, 4);
		if (!p || load_u32(p, false) != i)
			return false;
	}
	return size && size % 16 == 0;
}

/* Of a map with a prefix, by its content: an extended one starts with 1, an older one with a RAW magic. Where its first word is
 * neither, the layout of its entries. The kernel's has no prefix; entry = 0: it has none of them. */
static struct cpu_form cpumap_form(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size, uint32_t word)
{
	const struct cpu_form extended = { .prefix = KTRACE_CPUS_PREFIX, .entry = KTRACE_CPU_EXTENDED, .name = 32 },
			      old = { .prefix = KTRACE_CPUS_PREFIX, .entry = KTRACE_CPU, .name = 8 };
	const uint64_t room = size - KTRACE_CPUS_PREFIX, at = ktrace_chunk_data(chunk) + KTRACE_CPUS_PREFIX;

	if (size < KTRACE_CPUS_PREFIX)
		return (struct cpu_form){ 0 };
	if (word == 1 && room % extended.entry == 0)
		return extended;
	if (word == KTRACE_MAGIC_RAW1)
		return old;
	if (cpumap_is_bare(w, chunk, size))
		return (struct cpu_form){ .entry = KTRACE_CPU, .name = 8 };
	if (room % extended.entry == 0 && ktrace_cpus_are_sane(&w->in, at, room / extended.entry, extended.entry))
		return extended;
	return room % old.entry == 0 && ktrace_cpus_are_sane(&w->in, at, room / old.entry, old.entry) ? old
												      : (struct cpu_form){ 0 };
}

/* Writes the prefix that the entries of a map show. */
static void cpumap_mend(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct cpu_form *form, enum ktrace_rule rule)
{
	uint8_t prefix[KTRACE_CPUS_PREFIX];

	store_u32(prefix, form->entry == KTRACE_CPU_EXTENDED ? 1 : KTRACE_MAGIC_RAW1, false);
	store_u32(prefix + 4, (uint32_t)form->count, false);
	ktrace_repair_replace(&w->repair, ktrace_chunk_data(chunk), prefix, sizeof(prefix), rule,
			      "prefix of the CPU map by its entries");
}

/* The count of a map is not that of its entries, of which some may be missing, or stand there twice. */
static void cpumap_count(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size, struct cpu_form *form,
			 uint32_t count)
{
	const uint64_t at = ktrace_chunk_data(chunk);
	const bool sane = (size - form->prefix) % form->entry == 0 &&
			  ktrace_cpus_are_sane(&w->in, at + form->prefix, form->count, form->entry);
	struct finding *fd = payload_report_as(w, KTRACE_RULE_cpumap_count_mismatch, sane ? TM_ERROR : TM_WARNING, chunk, at, 8,
					       "the count is %" PRIu32 "; the size of the map gives %" PRIu64, count, form->count);

	finding_field(fd, at + 4, 4, "count = %" PRIu32, count);
	ktrace_odd_report(&w->repair, KTRACE_RULE_cpumap_count_mismatch, chunk->offset, at + size);
	if (sane)
		cpumap_mend(w, chunk, form, KTRACE_RULE_cpumap_count_mismatch);
	else if (count < form->count)
		form->count = count;
}

static void cpumap_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= 8 ? window_at(&w->in.window, ktrace_chunk_data(chunk), 8) : NULL;
	const uint32_t word = p ? load_u32(p, false) : 0, count = p ? load_u32(p + 4, false) : 0;
	struct cpu_form form = cpumap_form(w, chunk, size, word);

	w->cpu_map = true;
	if (!form.entry) {
		payload_report_as(w, KTRACE_RULE_cpumap_form, TM_WARNING, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
				  "%" PRIu64 " bytes that start with 0x%" PRIx32 " have none of the three layouts", size, word);
		return;
	}
	form.count = (size - form.prefix) / form.entry;
	if (!form.prefix) {
		payload_report(w, KTRACE_RULE_cpumap_bare, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "%" PRIu64 " entries without a count before them", form.count);
	} else if (word != 1 && word != KTRACE_MAGIC_RAW1) {
		payload_report(w, KTRACE_RULE_cpumap_form, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "the map starts with 0x%" PRIx32 ", as none does; its entries are those of %" PRIu64 " CPUs", word,
			       form.count);
		cpumap_mend(w, chunk, &form, KTRACE_RULE_cpumap_form);
	} else if (count != form.count) {
		cpumap_count(w, chunk, size, &form, count);
	}
	if (!form.count) {
		payload_report(w, KTRACE_RULE_cpumap_empty, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "the CPU map has no entries");
	}
	w->in.cpus = form.count < UINT32_MAX ? (uint32_t)form.count : UINT32_MAX;
	cpumap_entries(w, chunk, &form);
}

/* ---- property lists ---- */

/* p: the trailer of a binary property list: sizes of offsets and references, number of objects, the top one, where the table of
 * offsets starts. All must point into the list, which has `room` bytes before the trailer. */
static bool plist_trailer_is_valid(const uint8_t *p, uint64_t room)
{
	uint64_t offset_size = p[6], objects = load_u64(p + 8, true), top = load_u64(p + 16, true), table = load_u64(p + 24, true);

	return offset_size >= 1 && offset_size <= 8 && p[7] >= 1 && p[7] <= 8 && objects && top < objects && table >= 8 &&
	       table <= room && objects <= (room - table) / offset_size;
}

static void plist_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= 8 ? window_at(&w->in.window, ktrace_chunk_data(chunk), 8) : NULL;
	struct finding *fd;

	if (!p || (memcmp(p, "bplist00", 8) != 0 && memcmp(p, "<?xml", 5) != 0 && memcmp(p, "<plist", 6) != 0 && p[0] != '{')) {
		fd = payload_report(w, KTRACE_RULE_plist_magic, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
				    "the payload is not a property list: it starts with neither \"bplist00\" nor \"<?xml\"");
		finding_field(fd, ktrace_chunk_data(chunk), size < 8 ? (uint32_t)size : 8, "\"bplist00\" or \"<?xml\" expected");
		return;
	}
	if (memcmp(p, "bplist00", 8) != 0)
		return;
	p = size >= 8 + 32 ? window_at(&w->in.window, ktrace_chunk_data(chunk) + size - 32, 32) : NULL;
	if (!p || !plist_trailer_is_valid(p, size - 32)) {
		payload_report(w, KTRACE_RULE_plist_trailer, chunk, ktrace_chunk_data(chunk) + (size >= 32 ? size - 32 : 0),
			       size >= 32 ? 32 : size, "the trailer of the property list points outside its %" PRIu64 " bytes",
			       size);
	}
}

/* ---- others ---- */

/* "0xHEX name" */
static bool codes_line_is_valid(const char *line, size_t length)
{
	const char *gap = memchr(line, ' ', length), *tab = memchr(line, '\t', length);
	uint64_t code;

	if (!gap || (tab && tab < gap))
		gap = tab;
	return gap && length > 3 && line[0] == '0' && (line[1] == 'x' || line[1] == 'X') &&
	       text_parse_hex(line + 2, (size_t)(gap - line - 2), &code) && (size_t)(gap - line) + 1 < length;
}

static void codes_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	uint64_t length = size < KTRACE_PAYLOAD_MAX ? size : KTRACE_PAYLOAD_MAX;
	const char *p = (const char *)window_at(&w->in.window, ktrace_chunk_data(chunk), (size_t)length);
	const char *end = p ? p + length : NULL;

	for (const char *line = p, *next; line && line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		next = stop ? stop + 1 : end;
		size_t n = (size_t)((stop ? stop : end) - line);
		if (!n || (!stop && length < size) || line[0] == '\0')
			continue;
		if (!codes_line_is_valid(line, n)) {
			char quoted[TEXT_QUOTE_SIZE];
			payload_report(w, KTRACE_RULE_trace_codes_syntax, chunk, ktrace_chunk_data(chunk) + (uint64_t)(line - p), n,
				       "a line of the trace codes is not \"0xHEX name\": %s", text_quote(quoted, line, n));
			return; /* one is enough: the table is of one writer */
		}
	}
}

static void timesync_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const uint8_t *p)
{
	uint32_t numer = load_u32(p + 16, false), denom = load_u32(p + 20, false);

	w->clock.synced = true;
	if (!w->clock.numer || !w->clock.denom || (uint64_t)numer * w->clock.denom == (uint64_t)w->clock.numer * denom)
		return;
	struct finding *fd = payload_report(w, KTRACE_RULE_timesync_conflict, chunk, ktrace_chunk_data(chunk), 48,
					    "the timebase of the time sync is %" PRIu32 "/%" PRIu32
					    ", that of the file header %" PRIu32 "/%" PRIu32,
					    numer, denom, w->clock.numer, w->clock.denom);
	/* That of another file behind this one says nothing of what is in front of it. */
	if (!w->foreign)
		ktrace_repair_doubt(&w->repair, 0, w->in.source->size, "events of which two timebases are stated");
	finding_field(fd, ktrace_chunk_data(chunk) + 16, 8, "timebase %" PRIu32 "/%" PRIu32, numer, denom);
}

static void fixed_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_kind *kind, uint64_t size)
{
	const uint8_t *p;

	if (size < kind->size_min) {
		payload_report(w, KTRACE_RULE_fixed_payload_short, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "the payload has %" PRIu64 " bytes; its layout needs %" PRIu32, size, kind->size_min);
		return;
	}
	if (size > kind->size_min && size - kind->size_min < 8 && size % 8 == 0) {
		uint8_t rest[8];
		size_t n = (size_t)(size - kind->size_min);
		if (source_read(w->in.source, ktrace_chunk_data(chunk) + kind->size_min, rest, n) == TM_OK &&
		    bytes_are_zero(rest, n)) {
			payload_report(w, KTRACE_RULE_chunk_size_includes_padding, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
				       "the size is %" PRIu64 ": the payload has %" PRIu32 " bytes and the rest is padding", size,
				       kind->size_min);
		}
	}
	p = window_at(&w->in.window, ktrace_chunk_data(chunk), kind->size_min);
	if (p && chunk->tag == KTRACE_SUMMARY) {
		w->clock.summary_time = load_u64(p, false);
		w->clock.summary_offset = ktrace_chunk_data(chunk);
	} else if (p && chunk->tag == KTRACE_TIME_SYNC && (chunk->major & ~KTRACE_SUBCHUNKS) == 1) {
		timesync_check(w, chunk, p);
	}
}

/* The first sub-chunk of a sub-file's header and body says which sub-file it is. */
static void subfile_id_check(struct ktrace_walk *w, const struct ktrace_chunk *parent, uint64_t at)
{
	const uint8_t *p = window_at(&w->in.window, at, 4);
	uint32_t id = p ? load_u32(p, false) : 0;

	if (p && parent->tag == KTRACE_SUBFILE_HEADER) {
		(void)ktrace_table_set(&w->subfiles, id, 0);
	} else if (p && !ktrace_table_has(&w->subfiles, id)) {
		struct finding *fd = payload_report(w, KTRACE_RULE_subfile_id_unmatched, parent, at, 4,
						    "sub-file 0x%" PRIx32 " has a body but no header before it", id);
		finding_field(fd, at, 4, "sub-file id = 0x%" PRIx32, id);
	}
}

static void subchunks_check(struct ktrace_walk *w, const struct ktrace_chunk *parent, uint64_t size, unsigned depth)
{
	uint64_t end = ktrace_chunk_data(parent) + size, at = ktrace_chunk_data(parent);
	struct ktrace_chunk child;
	bool first = true;

	if (depth >= KTRACE_SUBCHUNK_DEPTH_MAX) {
		payload_report(w, KTRACE_RULE_subchunk_depth, parent, parent->offset, KTRACE_CHUNK_HEADER,
			       "sub-chunks are nested more than %u deep; deeper ones are not checked", KTRACE_SUBCHUNK_DEPTH_MAX);
		return;
	}
	while (at < end && end - at >= KTRACE_CHUNK_HEADER && ktrace_chunk_read(w->in.source, at, &child)) {
		uint64_t data = at + KTRACE_CHUNK_HEADER;
		if (child.size > end - data)
			break;
		if (first && child.tag == KTRACE_SUBFILE_ID && child.size >= 4)
			subfile_id_check(w, parent, data);
		first = false;
		ktrace_payload_check(w, &child, child.size, depth + 1);
		at = ktrace_align(data + child.size);
	}
	if (at < end) {
		payload_report(w, KTRACE_RULE_subchunk_walk_failed, parent, at, end - at,
			       "%" PRIu64 " bytes at the end of this chunk are not a sub-chunk", end - at);
	}
}

static void nested_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= KTRACE_HEADER ? window_at(&w->in.window, ktrace_chunk_data(chunk), KTRACE_HEADER) : NULL;
	uint64_t header = p ? load_u64(p + 8, false) : 0;
	bool valid = p && load_u32(p, false) == KTRACE_MAGIC && header >= 40 && header <= size - KTRACE_HEADER_UNCOUNTED;
	if (!valid) {
		payload_report(w, KTRACE_RULE_nested_ktrace_invalid, chunk, ktrace_chunk_data(chunk), size, "the nested file %s",
			       !p ? "is shorter than a file header" : "has no valid file header");
	}
}

static void compressed_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= 12 ? window_at(&w->in.window, ktrace_chunk_data(chunk), 12) : NULL;
	uint64_t count = p ? load_u32(p + 8, false) : 0, stream = p ? size - 12 : 0;

	w->events.seen = true;
	if (p && (3 * count > stream || stream > 65 * count)) {
		struct finding *fd = payload_report(
			w, KTRACE_RULE_compressed_count, chunk, ktrace_chunk_data(chunk), 12,
			"%" PRIu64 " compressed events cannot take %" PRIu64 " bytes: each takes 3 to 65", count, stream);
		finding_field(fd, ktrace_chunk_data(chunk) + 8, 4, "count = %" PRIu64, count);
	}
	scan_fact(w->scan, "compressed events", "%" PRIu64 " (not decoded)", count);
	scan_fact_name(w->scan, "compressed events");
	scan_fact_number(w->scan, "count", count);
}

static void null_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	size_t n = size < KTRACE_PAYLOAD_MAX ? (size_t)size : KTRACE_PAYLOAD_MAX;
	const uint8_t *p = window_at(&w->in.window, ktrace_chunk_data(chunk), n);

	if (p && !bytes_are_zero(p, n))
		payload_report(w, KTRACE_RULE_null_chunk_nonzero, chunk, ktrace_chunk_data(chunk), size,
			       "the payload of a null chunk is not all zeros");
}

/* Records of a sub-file, which are kept as they are: those that are damaged are listed. It may be of the other width. */
static void subfile_events_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	struct ktrace_odd odd = { .repair = &w->repair };
	const uint64_t from = ktrace_chunk_data(chunk) + 8;
	size_t n = size > 8 ? (size_t)(size - 8 < KTRACE_HEAD ? size - 8 : KTRACE_HEAD) : 0;
	const uint8_t *p = w->repair.plan && n ? window_at(&w->in.window, from, n) : NULL;

	if (!p)
		return;
	const bool is_64 = ktrace_records_other_width(p, n, w->in.is_64) ? !w->in.is_64 : w->in.is_64;
	const uint32_t record = ktrace_event_size(is_64);
	for (uint64_t i = 0; i < (size - 8) / record; i++) {
		const uint64_t at = from + i * record;
		p = window_at(&w->in.window, at, record);
		struct ktrace_event e = p ? ktrace_record_decode(p, is_64) : (struct ktrace_event){ 0 };
		if (p && ktrace_record_is_suspect(&e, is_64))
			ktrace_odd_add(&odd, i ? at - record : at, at + 2 * (uint64_t)record);
	}
	ktrace_odd_end(&odd);
}

static void stackshot_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= 4 ? window_at(&w->in.window, ktrace_chunk_data(chunk), 4) : NULL;
	uint32_t word = p ? load_u32(p, false) : 0;

	if (!p || ktrace_stackshot_begins(word))
		return;
	struct finding *fd = payload_report(w, KTRACE_RULE_stackshot_magic, chunk, ktrace_chunk_data(chunk), 4,
					    "the stackshot starts with 0x%08" PRIx32 " instead of 0x59a25807", word);
	finding_field(fd, ktrace_chunk_data(chunk), 4, "0x59a25807 expected");
}

static void payload_content(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_kind *kind, uint64_t size)
{
	if (kind->content == KTRACE_PLIST)
		plist_check(w, chunk, size);
	else if (kind->content == KTRACE_FIXED)
		fixed_check(w, chunk, kind, size);
	else if (chunk->tag == KTRACE_CPU_MAP)
		cpumap_check(w, chunk, size);
	else if (chunk->tag == KTRACE_THREAD_MAP)
		ktrace_threads_check(w, ktrace_chunk_data(chunk), size / ktrace_thread_size(w->in.is_64), false);
	else if (chunk->tag == KTRACE_EVENTS)
		subfile_events_check(w, chunk, size);
	else if (chunk->tag == KTRACE_TRACE_CODES)
		codes_check(w, chunk, size);
	else if (chunk->tag == KTRACE_NESTED)
		nested_check(w, chunk, size);
	else if (chunk->tag == KTRACE_EVENTS_COMPRESSED)
		compressed_check(w, chunk, size);
	else if (chunk->tag == KTRACE_NULL)
		null_check(w, chunk, size);
	else if (chunk->tag == KTRACE_STACKSHOT)
		stackshot_check(w, chunk, size);
}

bool ktrace_version_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint16_t major = chunk->major & (uint16_t)~KTRACE_SUBCHUNKS;
	struct finding *fd;

	if (!kind && !ktrace_chunk_versions_are_small(chunk)) {
		fd = payload_report(w, KTRACE_RULE_chunk_unsupported_major, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
				    "version %u.%u of a chunk of an unknown kind: no writer has counted so far", chunk->major,
				    chunk->minor);
		finding_field(fd, chunk->offset + 4, 4, "version = %u.%u", chunk->major, chunk->minor);
		return true;
	}
	if (chunk->major & KTRACE_SUBCHUNKS) {
		fd = payload_report(w, KTRACE_RULE_chunk_reserved_version_bit, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
				    "version 0x%04x has the bit of chunks with sub-chunks", chunk->major);
		finding_field(fd, chunk->offset + 4, 2, "major version = 0x%04x", chunk->major);
	}
	if (!kind || kind->major_max == 0xffff || major <= kind->major_max)
		return true;
	fd = payload_report(w, KTRACE_RULE_chunk_unsupported_major, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
			    "version %u; readers know up to %u", major, kind->major_max);
	finding_field(fd, chunk->offset + 4, 2, "major version = %u", major);
	return false;
}

void ktrace_payload_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size, unsigned depth)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);

	if (chunk->major & KTRACE_SUBCHUNKS && (chunk->tag == KTRACE_SUBFILE_HEADER || chunk->tag == KTRACE_SUBFILE_BODY))
		subchunks_check(w, chunk, size, depth);
	else if (ktrace_version_check(w, chunk) && kind)
		payload_content(w, chunk, kind, size);
}
