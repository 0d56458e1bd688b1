/* What is inside of chunks. These checks report and never edit: the manual page leaves payloads to their writers. */
#include "formats/ktrace/ktrace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/text.h"

/* Reports something inside of a chunk. */
#define payload_report(w, rule, ...) ((void)PLACE(rule), payload_report_at((w), (rule), __VA_ARGS__))
static struct finding *payload_report_at(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
					 uint64_t offset, uint64_t length, const char *format, ...) PRINTF_LIKE(6, 7);

static struct finding *payload_report_at(struct ktrace_walk *w, enum ktrace_rule rule, const struct ktrace_chunk *chunk,
					 uint64_t offset, uint64_t length, const char *format, ...)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->source, offset, length);
	va_list arguments;

	finding_path(fd, "chunk at 0x%" PRIx64 " (%s, tag 0x%" PRIx32 ")", chunk->offset, kind ? kind->name : "unknown",
		     chunk->tag);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

static uint64_t data_of(const struct ktrace_chunk *chunk)
{
	return chunk->offset + KTRACE_CHUNK_HEADER;
}

/* ---- CPU map: three layouts under one tag ---- */

struct cpu_form {
	uint32_t prefix, entry, name; /* bytes */
	uint64_t count;
};

static void cpumap_entries(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct cpu_form *form)
{
	uint8_t seen[KTRACE_CPUS_MAX / 8] = { 0 };
	bool ordered = true;

	for (uint64_t i = 0; i < form->count && i < KTRACE_CPUS_MAX; i++) {
		uint64_t at = data_of(chunk) + form->prefix + i * form->entry;
		const uint8_t *p = window_at(&w->window, at, form->entry);
		struct finding *fd;
		if (!p)
			return;
		uint32_t id = load_u32(p, false), flags = load_u32(p + 4, false);
		if (id >= form->count) {
			fd = payload_report(w, KTRACE_RULE_cpumap_id_out_of_range, chunk, at, form->entry,
					    "entry %" PRIu64 " is for CPU %" PRIu32 ", but the map has %" PRIu64 " entries", i, id,
					    form->count);
			finding_field(fd, at, 4, "CPU number %" PRIu32, id);
		} else if (id < KTRACE_CPUS_MAX && (seen[id / 8] >> (id % 8)) & 1) {
			fd = payload_report(w, KTRACE_RULE_cpumap_duplicate_id, chunk, at, form->entry,
					    "entry %" PRIu64 " is for CPU %" PRIu32 ", which an earlier entry is for", i, id);
			finding_field(fd, at, 4, "CPU number %" PRIu32, id);
		} else if (id < KTRACE_CPUS_MAX) {
			seen[id / 8] = (uint8_t)(seen[id / 8] | 1u << (id % 8));
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
		const uint8_t *end = memchr(p + 8, 0, form->name);
		size_t length = end ? (size_t)(end - (p + 8)) : form->name;
		bool control = false;
		for (size_t j = 0; j < length; j++)
			control |= p[8 + j] < 0x20;
		if (!end || control) {
			fd = payload_report(w, KTRACE_RULE_cpumap_name_unterminated, chunk, at, form->entry,
					    "the name of CPU %" PRIu32 " %s", id,
					    end ? "has control bytes" : "has no NUL at its end");
			finding_field(fd, at + 8, form->name, "name");
		}
	}
}

/* The layout by its content: an extended map starts with 1, an older one with a RAW magic, the kernel's with an entry. */
static void cpumap_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	struct cpu_form form = { 0 };
	const uint8_t *p = size >= 8 ? window_at(&w->window, data_of(chunk), 8) : NULL;
	uint32_t word = p ? load_u32(p, false) : 0, count = p ? load_u32(p + 4, false) : 0;
	struct finding *fd;

	w->seen_cpu_map = true;
	if (p && word == 1 && (size - 8) % 40 == 0) {
		form = (struct cpu_form){ .prefix = 8, .entry = 40, .name = 32, .count = (size - 8) / 40 };
	} else if (p && word == KTRACE_MAGIC_RAW1) {
		form = (struct cpu_form){ .prefix = 8, .entry = 16, .name = 8, .count = (size - 8) / 16 };
	} else if (p && size % 16 == 0 && word == 0) {
		form = (struct cpu_form){ .entry = 16, .name = 8, .count = size / 16 };
		payload_report(w, KTRACE_RULE_cpumap_bare, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "%" PRIu64 " entries without a count before them", form.count);
	} else {
		payload_report(w, KTRACE_RULE_cpumap_form, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "%" PRIu64 " bytes that start with 0x%" PRIx32 " are none of the three layouts", size, word);
		return;
	}
	if (form.prefix && count != form.count) {
		fd = payload_report(w, KTRACE_RULE_cpumap_count_mismatch, chunk, data_of(chunk), 8,
				    "the map says %" PRIu32 " entries and has room for %" PRIu64, count, form.count);
		finding_field(fd, data_of(chunk) + 4, 4, "count = %" PRIu32, count);
		if (count < form.count)
			form.count = count;
	}
	if (!form.count) {
		payload_report(w, KTRACE_RULE_cpumap_empty, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "the CPU map names no CPU");
	}
	w->cpus = form.count < UINT32_MAX ? (uint32_t)form.count : UINT32_MAX;
	cpumap_entries(w, chunk, &form);
}

/* ---- thread map ---- */

/* One finding a map, with the first entry and the count. */
#define THREAD_COUNTED(ROW) \
	ROW(threadmap_name_unterminated, "a name without a NUL at its end") \
	ROW(threadmap_name_control_bytes, "a name with control bytes") \
	ROW(threadmap_name_not_utf8, "a name that is not UTF-8") \
	ROW(threadmap_name_residue, "bytes behind the end of the name") \
	ROW(threadmap_zero_tid, "thread id 0") \
	ROW(threadmap_unused_entry, "process id 0, which marks an unused entry") \
	ROW(threadmap_negative_pid, "a process id that is negative or above 99999") \
	ROW(threadmap_duplicate_tid, "a thread id that an earlier entry has") \
	ROW(threadmap_pid_name_conflict, "a process id that an earlier entry has under another name")

enum {
#define ROW(symbol, what) COUNT_##symbol,
	THREAD_COUNTED(ROW)
#undef ROW
		THREAD_COUNTS
};

static const struct {
	enum ktrace_rule rule;
	const char *what;
} thread_rules[THREAD_COUNTS] = {
#define ROW(symbol, what) { KTRACE_RULE_##symbol, what },
	THREAD_COUNTED(ROW)
#undef ROW
};

#define thread_count(counts, symbol, offset) \
	((void)PLACE(KTRACE_RULE_##symbol), thread_count_at((counts), COUNT_##symbol, (offset)))
static void thread_count_at(struct ktrace_count *counts, unsigned what, uint64_t offset)
{
	if (!place_silenced() && !counts[what].count++)
		counts[what].first = offset;
}

static uint64_t name_hash(const uint8_t *name, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ name[i]) * UINT64_C(0x100000001b3);
	return hash | 1;
}

static void thread_name(struct ktrace_count *counts, const uint8_t *name, uint64_t offset, size_t *length)
{
	const uint8_t *end = memchr(name, 0, KTRACE_NAME);
	*length = end ? (size_t)(end - name) : KTRACE_NAME;
	if (!end)
		thread_count(counts, threadmap_name_unterminated, offset);
	else if (!bytes_are_zero(end, (size_t)(name + KTRACE_NAME - end)))
		thread_count(counts, threadmap_name_residue, offset);
	for (size_t i = 0; i < *length; i++)
		if (name[i] < 0x20) {
			thread_count(counts, threadmap_name_control_bytes, offset);
			break;
		}
	/* A full name may be cut inside of a character. */
	size_t valid = utf8_valid_prefix(name, *length);
	if (valid < *length && !(*length >= KTRACE_NAME - 1 && *length - valid <= 3))
		thread_count(counts, threadmap_name_not_utf8, offset);
}

void ktrace_threads_check(struct ktrace_walk *w, uint64_t offset, uint64_t count, bool filler_is_normal)
{
	struct ktrace_count counts[THREAD_COUNTS] = { { 0 } };
	struct ktrace_set here = { .max = KTRACE_THREADS_MAX }, names = { .max = KTRACE_THREADS_MAX };
	uint32_t size = ktrace_thread_size(w->is_64);

	w->seen_thread_map = true;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = offset + i * size;
		const uint8_t *p = window_at(&w->window, at, size);
		if (!p)
			break;
		uint64_t tid = w->is_64 ? load_u64(p, false) : load_u32(p, false);
		int32_t pid = (int32_t)load_u32(p + (w->is_64 ? 8 : 4), false);
		const uint8_t *name = p + size - KTRACE_NAME;
		size_t length;
		if (!tid && !pid && filler_is_normal)
			continue;
		thread_name(counts, name, at, &length);
		if (!pid)
			thread_count(counts, threadmap_unused_entry, at);
		else if (pid < 0 || pid > KTRACE_PID_MAX)
			thread_count(counts, threadmap_negative_pid, at);
		if (!tid) {
			if (pid)
				thread_count(counts, threadmap_zero_tid, at);
			continue;
		}
		uint64_t *known = ktrace_set_put(&w->threads, tid, &w->no_memory);
		if (known)
			*known = 1;
		uint64_t *twice = ktrace_set_put(&here, tid, &w->no_memory);
		if (twice && (*twice)++)
			thread_count(counts, threadmap_duplicate_tid, at);
		/* Process id 1 stands for launchd and for the kernel. */
		uint64_t hash = name_hash(name, length);
		uint64_t *named = pid > 1 ? ktrace_set_put(&names, (uint64_t)(uint32_t)pid, &w->no_memory) : NULL;
		if (named && *named && *named != hash)
			thread_count(counts, threadmap_pid_name_conflict, at);
		else if (named)
			*named = hash;
	}
	for (unsigned i = 0; i < THREAD_COUNTS; i++) {
		if (!counts[i].count)
			continue;
		struct finding *fd = finding_new(w->scan->findings, thread_rules[i].rule, w->source, counts[i].first, size);
		finding_path(fd, "thread map at 0x%" PRIx64 " > entry %" PRIu64, offset, (counts[i].first - offset) / size);
		finding_say(fd, "%" PRIu64 " entr%s of the thread map %s %s; this is the first", counts[i].count,
			    counts[i].count == 1 ? "y" : "ies", counts[i].count == 1 ? "has" : "have", thread_rules[i].what);
	}
	ktrace_set_free(&here);
	ktrace_set_free(&names);
}

/* ---- property lists ---- */

/* The trailer of a binary property list: sizes of offsets and references, number of objects, the top one, where the table
 * of offsets starts. All must point into the list. */
static void plist_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= 8 ? window_at(&w->window, data_of(chunk), 8) : NULL;
	struct finding *fd;

	if (!p || (memcmp(p, "bplist00", 8) != 0 && memcmp(p, "<?xml", 5) != 0 && memcmp(p, "<plist", 6) != 0 && p[0] != '{')) {
		fd = payload_report(w, KTRACE_RULE_plist_magic, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
				    "the payload should be a property list and starts with other bytes");
		finding_field(fd, data_of(chunk), size < 8 ? (uint32_t)size : 8, "\"bplist00\" or \"<?xml\" expected");
		return;
	}
	if (memcmp(p, "bplist00", 8) != 0)
		return;
	p = size >= 8 + 32 ? window_at(&w->window, data_of(chunk) + size - 32, 32) : NULL;
	bool sound = false;
	if (p) {
		uint64_t offset_size = p[6], objects = load_u64(p + 8, true), top = load_u64(p + 16, true),
			 table = load_u64(p + 24, true);
		uint64_t room = size - 32;
		sound = offset_size >= 1 && offset_size <= 8 && p[7] >= 1 && p[7] <= 8 && objects && top < objects && table >= 8 &&
			table <= room && objects <= (room - table) / offset_size;
	}
	if (!sound) {
		payload_report(w, KTRACE_RULE_plist_trailer, chunk, data_of(chunk) + (size >= 32 ? size - 32 : 0),
			       size >= 32 ? 32 : size, "the trailer of the property list does not fit its %" PRIu64 " bytes", size);
	}
}

/* ---- others ---- */

static void codes_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	uint64_t length = size < KTRACE_PAYLOAD_MAX ? size : KTRACE_PAYLOAD_MAX;
	const char *p = (const char *)window_at(&w->window, data_of(chunk), (size_t)length);
	const char *end = p ? p + length : NULL;

	for (const char *line = p, *next; line && line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		next = stop ? stop + 1 : end;
		size_t n = (size_t)((stop ? stop : end) - line);
		if (!n || (!stop && length < size) || line[0] == '\0')
			continue;
		uint64_t code;
		const char *gap = memchr(line, ' ', n), *tab = memchr(line, '\t', n);
		if (!gap || (tab && tab < gap))
			gap = tab;
		bool sound = gap && n > 3 && line[0] == '0' && (line[1] == 'x' || line[1] == 'X') &&
			     text_parse_hex(line + 2, (size_t)(gap - line - 2), &code) && (size_t)(gap - line) + 1 < n;
		if (!sound) {
			char quoted[TEXT_QUOTE_SIZE];
			payload_report(w, KTRACE_RULE_trace_codes_syntax, chunk, data_of(chunk) + (uint64_t)(line - p), n,
				       "a line of the trace codes is not \"0xHEX name\": %s", text_quote(quoted, line, n));
			return; /* one is enough: the table is of one writer */
		}
	}
}

static void fixed_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, const struct ktrace_kind *kind, uint64_t size)
{
	struct finding *fd;
	const uint8_t *p;

	if (size < kind->size_min) {
		payload_report(w, KTRACE_RULE_fixed_payload_short, chunk, chunk->offset, KTRACE_CHUNK_HEADER + size,
			       "the payload has %" PRIu64 " bytes and its layout needs %" PRIu32, size, kind->size_min);
		return;
	}
	if (size > kind->size_min && size - kind->size_min < 8 && size % 8 == 0) {
		uint8_t rest[8];
		size_t n = (size_t)(size - kind->size_min);
		if (source_read(w->source, data_of(chunk) + kind->size_min, rest, n) == TM_OK && bytes_are_zero(rest, n)) {
			payload_report(w, KTRACE_RULE_chunk_size_includes_padding, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
				       "the size is %" PRIu64 ": the payload has %" PRIu32 " bytes and the rest is padding", size,
				       kind->size_min);
		}
	}
	p = window_at(&w->window, data_of(chunk), kind->size_min);
	if (!p)
		return;
	if (chunk->tag == KTRACE_SUMMARY) {
		w->summary_time = load_u64(p, false);
		w->summary_offset = data_of(chunk);
	} else if (chunk->tag == KTRACE_TIME_SYNC && (chunk->major & ~KTRACE_SUBCHUNKS) == 1) {
		uint32_t numer = load_u32(p + 16, false), denom = load_u32(p + 20, false);
		w->seen_time_sync = true;
		if (w->numer && w->denom && (uint64_t)numer * w->denom != (uint64_t)w->numer * denom) {
			fd = payload_report(w, KTRACE_RULE_timesync_conflict, chunk, data_of(chunk), 48,
					    "the time sync says %" PRIu32 "/%" PRIu32 " and the file header %" PRIu32 "/%" PRIu32,
					    numer, denom, w->numer, w->denom);
			finding_field(fd, data_of(chunk) + 16, 8, "timebase %" PRIu32 "/%" PRIu32, numer, denom);
		}
	}
}

static void subchunks_check(struct ktrace_walk *w, const struct ktrace_chunk *parent, uint64_t size, unsigned depth)
{
	uint64_t end = data_of(parent) + size, at = data_of(parent);
	struct ktrace_chunk child;
	struct finding *fd;
	bool first = true;

	if (depth >= KTRACE_SUBCHUNK_DEPTH_MAX) {
		payload_report(w, KTRACE_RULE_subchunk_depth, parent, parent->offset, KTRACE_CHUNK_HEADER,
			       "sub-chunks nested more than %u deep are not followed", KTRACE_SUBCHUNK_DEPTH_MAX);
		return;
	}
	while (at < end && end - at >= KTRACE_CHUNK_HEADER && ktrace_chunk_read(w->source, at, &child)) {
		uint64_t data = at + KTRACE_CHUNK_HEADER;
		if (child.size > end - data)
			break;
		if (first && child.tag == KTRACE_SUBFILE_ID && child.size >= 4) {
			const uint8_t *p = window_at(&w->window, data, 4);
			uint64_t id = p ? load_u32(p, false) : 0;
			if (p && parent->tag == KTRACE_SUBFILE_HEADER) {
				(void)ktrace_set_put(&w->subfiles, id, &w->no_memory);
			} else if (p && !ktrace_set_get(&w->subfiles, id)) {
				fd = payload_report(w, KTRACE_RULE_subfile_id_unmatched, parent, data, 4,
						    "sub-file 0x%" PRIx64 " has a body but no header before it", id);
				finding_field(fd, data, 4, "sub-file id = 0x%" PRIx64, id);
			}
		}
		first = false;
		ktrace_payload_check(w, &child, child.size, depth + 1);
		at = ktrace_align(data + child.size);
	}
	if (at < end) {
		payload_report(w, KTRACE_RULE_subchunk_walk_failed, parent, at, end - at,
			       "%" PRIu64 " bytes at the end of this chunk are no sub-chunk", end - at);
	}
}

static void nested_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= KTRACE_HEADER ? window_at(&w->window, data_of(chunk), KTRACE_HEADER) : NULL;
	uint64_t header = p ? load_u64(p + 8, false) : 0;
	bool sound = p && load_u32(p, false) == KTRACE_MAGIC && header >= 40 && header <= size - KTRACE_HEADER_UNCOUNTED;
	if (!sound) {
		payload_report(w, KTRACE_RULE_nested_ktrace_invalid, chunk, data_of(chunk), size, "the nested file %s",
			       !p ? "is shorter than a file header" : "has no sound file header");
	}
}

static void compressed_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size)
{
	const uint8_t *p = size >= 12 ? window_at(&w->window, data_of(chunk), 12) : NULL;
	uint64_t count = p ? load_u32(p + 8, false) : 0, stream = p ? size - 12 : 0;

	w->seen_events = true;
	if (p && (3 * count > stream || stream > 65 * count)) {
		struct finding *fd = payload_report(w, KTRACE_RULE_compressed_count, chunk, data_of(chunk), 12,
						    "%" PRIu64 " compressed events cannot have %" PRIu64 " bytes", count, stream);
		finding_field(fd, data_of(chunk) + 8, 4, "count = %" PRIu64, count);
	}
	scan_fact(w->scan, "compressed events", "%" PRIu64 " (not decoded)", count);
}

void ktrace_payload_check(struct ktrace_walk *w, const struct ktrace_chunk *chunk, uint64_t size, unsigned depth)
{
	const struct ktrace_kind *kind = ktrace_kind_find(chunk->tag);
	uint16_t major = chunk->major & (uint16_t)~KTRACE_SUBCHUNKS;
	struct finding *fd;
	const uint8_t *p;

	if (chunk->major & KTRACE_SUBCHUNKS) {
		if (chunk->tag == KTRACE_SUBFILE_HEADER || chunk->tag == KTRACE_SUBFILE_BODY) {
			subchunks_check(w, chunk, size, depth);
			return;
		}
		fd = payload_report(w, KTRACE_RULE_chunk_reserved_version_bit, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
				    "the version 0x%04x of this chunk says that it holds sub-chunks", chunk->major);
		finding_field(fd, chunk->offset + 4, 2, "major version = 0x%04x", chunk->major);
	}
	if (!kind)
		return;
	if (kind->major_max != 0xffff && major > kind->major_max) {
		fd = payload_report(w, KTRACE_RULE_chunk_unsupported_major, chunk, chunk->offset, KTRACE_CHUNK_HEADER,
				    "version %u; readers know up to %u", major, kind->major_max);
		finding_field(fd, chunk->offset + 4, 2, "major version = %u", major);
		return;
	}
	if (kind->content == KTRACE_PLIST)
		plist_check(w, chunk, size);
	else if (kind->content == KTRACE_FIXED)
		fixed_check(w, chunk, kind, size);
	else if (chunk->tag == KTRACE_CPU_MAP)
		cpumap_check(w, chunk, size);
	else if (chunk->tag == KTRACE_THREAD_MAP)
		ktrace_threads_check(w, data_of(chunk), size / ktrace_thread_size(w->is_64), false);
	else if (chunk->tag == KTRACE_TRACE_CODES)
		codes_check(w, chunk, size);
	else if (chunk->tag == KTRACE_NESTED)
		nested_check(w, chunk, size);
	else if (chunk->tag == KTRACE_EVENTS_COMPRESSED)
		compressed_check(w, chunk, size);
	else if (chunk->tag == KTRACE_NULL) {
		size_t n = size < KTRACE_PAYLOAD_MAX ? (size_t)size : KTRACE_PAYLOAD_MAX;
		p = window_at(&w->window, data_of(chunk), n);
		if (p && !bytes_are_zero(p, n)) {
			payload_report(w, KTRACE_RULE_null_chunk_nonzero, chunk, data_of(chunk), size,
				       "the filler of a null chunk is not zero");
		}
	} else if (chunk->tag == KTRACE_STACKSHOT && size >= 4) {
		p = window_at(&w->window, data_of(chunk), 4);
		uint32_t word = p ? load_u32(p, false) : 0;
		if (p && word != 0x59a25807 && word != 0xde17a59a && word != 0x434f4d50) {
			fd = payload_report(w, KTRACE_RULE_stackshot_magic, chunk, data_of(chunk), 4,
					    "the stackshot starts with 0x%08" PRIx32, word);
			finding_field(fd, data_of(chunk), 4, "0x59a25807 expected");
		}
	}
}
