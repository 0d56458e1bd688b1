/* The parts of a uftrace directory. Nothing but the bytes of each file and the byte order that info names: what would take
 * a session to know (the sizes of arguments) is found by looking where the next record begins, see payload_end(). */
#include <string.h>

#include "core/bytes.h"
#include "core/outline.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_name.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/uftrace.h"

struct sketch {
	struct outline *o;
	const uint8_t *data; /* of the open file */
	uint64_t size;
	bool big_endian;
	uint32_t page_size, long_size; /* of kernel_header; 0: not known */
};

/* ---- text ---- */

/* The offset after the line at `at`, its LF included. */
static uint64_t line_end(const struct sketch *sk, uint64_t at)
{
	const uint8_t *lf = memchr(sk->data + at, '\n', (size_t)(sk->size - at));
	return lf ? (uint64_t)(lf - sk->data) + 1 : sk->size;
}

static bool begins(const struct sketch *sk, uint64_t at, const char *text)
{
	size_t n = strlen(text);
	return sk->size - at >= n && !memcmp(sk->data + at, text, n);
}

static void line(const struct sketch *sk, enum part_kind kind, const char *name, uint64_t at, uint64_t end, unsigned flags)
{
	(void)outline_open(sk->o, kind, name, at, flags);
	outline_words(sk->o, at, end);
	outline_close(sk->o, end);
}

/* Lines that can be left out one by one. */
static void lines(const struct sketch *sk, const char *name)
{
	for (uint64_t at = 0, end; at < sk->size && sk->o->status == TM_OK; at = end) {
		end = line_end(sk, at);
		line(sk, PART_RECORD, name, at, end, 0);
	}
}

static void task_lines(const struct sketch *sk)
{
	static const char *const names[] = { "SESS", "TASK", "FORK", "DLOP" };
	for (uint64_t at = 0, end; at < sk->size && sk->o->status == TM_OK; at = end) {
		const char *name = "line";
		end = line_end(sk, at);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			name = begins(sk, at, names[i]) ? names[i] : name;
		line(sk, PART_RECORD, name, at, end, 0);
	}
}

/* A symbol of type '?': the last one has its end from it. */
static bool is_end_marker(const struct sketch *sk, uint64_t at, uint64_t end)
{
	while (at < end && sk->data[at] != ' ')
		at++;
	return end - at > 2 && sk->data[at + 1] == '?' && sk->data[at + 2] == ' ';
}

/* Comments in front, of which "# symbols: " counts the lines after them. */
static void symbol_lines(const struct sketch *sk, const char *name)
{
	uint32_t count = OUTLINE_NONE;
	uint64_t at = 0, end;

	for (; at < sk->size && sk->data[at] == '#'; at = end) {
		end = line_end(sk, at);
		(void)outline_open(sk->o, PART_GROUP, "comment", at, PART_FIXED);
		if (begins(sk, at, "# symbols: ") && sk->data[end - 1] == '\n') {
			count = outline_field(sk->o, "symbols", FIELD_COUNT, at + 11, end - 1 - (at + 11));
			outline_coding(sk->o, count, CODING_DECIMAL);
		} else {
			outline_words(sk->o, at, end);
		}
		outline_close(sk->o, end);
	}
	uint32_t group = outline_open(sk->o, PART_GROUP, "symbols", at, 0);
	outline_measure(sk->o, count, MEASURE_COUNT, group, 1, 0);
	for (; at < sk->size && sk->o->status == TM_OK; at = end) {
		end = line_end(sk, at);
		line(sk, PART_RECORD, name, at, end, end == sk->size && is_end_marker(sk, at, end) ? PART_FIXED : 0);
	}
	outline_close(sk->o, sk->size);
}

/* ---- info ---- */

static void info(const struct sketch *sk)
{
	static const struct {
		const char *name;
		enum field_kind kind;
		uint8_t at, length;
	} fields[] = {
		{ "magic", FIELD_MAGIC, UFTRACE_H_MAGIC, 8 },
		{ "version", FIELD_TAG, UFTRACE_H_VERSION, 4 },
		{ "header size", FIELD_SIZE, UFTRACE_H_HEADER_SIZE, 2 },
		{ "byte order", FIELD_TAG, UFTRACE_H_ENDIAN, 1 },
		{ "class", FIELD_TAG, UFTRACE_H_CLASS, 1 },
		{ "features", FIELD_FLAGS, UFTRACE_H_FEAT_MASK, 8 },
		{ "info mask", FIELD_FLAGS, UFTRACE_H_INFO_MASK, 8 },
		{ "max stack", FIELD_VALUE, UFTRACE_H_MAX_STACK, 2 },
	};
	if (sk->size < UFTRACE_HEADER_SIZE)
		return;
	(void)outline_open(sk->o, PART_GROUP, "header", 0, PART_FIXED);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		(void)outline_field(sk->o, fields[i].name, fields[i].kind, fields[i].at, fields[i].length);
	outline_close(sk->o, UFTRACE_HEADER_SIZE);
	/* Each line is asked for by a bit, or counted by the line before it. */
	for (uint64_t at = UFTRACE_HEADER_SIZE, end; at < sk->size && sk->o->status == TM_OK; at = end) {
		end = line_end(sk, at);
		line(sk, PART_GROUP, "info line", at, end, PART_FIXED);
	}
}

/* ---- TID.dat ---- */

static bool is_record(const struct sketch *sk, uint64_t at, uint64_t time)
{
	if (sk->size - at < UFTRACE_RECORD_SIZE)
		return at == sk->size;
	uint64_t when = load_u64(sk->data + at, sk->big_endian), word = load_u64(sk->data + at + 8, sk->big_endian);
	if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC)
		return false;
	if (uftrace_word_type(word) == UFTRACE_LOST)
		return !when && !uftrace_word_more(word);
	return when >= time && when - time < UINT64_C(1) << 46 && uftrace_word_address(word);
}

/* Where the bytes after a record with `more` end. An event says it; else the first place where two records follow. */
static uint64_t payload_end(const struct sketch *sk, uint64_t at, uint64_t word)
{
	uint64_t body = at + UFTRACE_RECORD_SIZE, time = load_u64(sk->data + at, sk->big_endian);

	if (uftrace_word_type(word) == UFTRACE_EVENT && sk->size - body >= 2) {
		uint64_t end = body + ((load_u16(sk->data + body, sk->big_endian) + 2u + 7) & ~7u);
		return end <= sk->size ? end : sk->size;
	}
	for (uint64_t end = body; end <= sk->size && end - body <= UFTRACE_PAYLOAD_MAX; end += 8) {
		if (!is_record(sk, end, time))
			continue;
		if (end == sk->size || sk->size - end < 2 * UFTRACE_RECORD_SIZE ||
		    uftrace_word_more(load_u64(sk->data + end + 8, sk->big_endian)) ||
		    is_record(sk, end + UFTRACE_RECORD_SIZE, time))
			return end;
	}
	return body;
}

static bool is_plain(const uint8_t *p, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return true;
}

/* Values at multiples of 4: a length and that many characters, or a number. */
static void arguments(const struct sketch *sk, uint32_t record, uint64_t at, uint64_t end)
{
	uint64_t start = at;
	while (end - at >= 4) {
		uint64_t length = load_u16(sk->data + at, sk->big_endian), slot = (length + 2 + 3) & ~UINT64_C(3);
		if (length && length <= UFTRACE_STRING_MAX && slot <= end - at && is_plain(sk->data + at + 2, length)) {
			uint32_t size = outline_field(sk->o, "string length", FIELD_SIZE, at, 2);
			outline_measure(sk->o, size, MEASURE_LENGTH, outline_field(sk->o, "string", FIELD_TEXT, at + 2, length), 1,
					0);
			(void)outline_padding(sk->o, at + 2 + length, at + slot, 4, record);
			at += slot;
			continue;
		}
		if (end - at == 4 && (at - start) % 8 == 4 && bytes_are_zero(sk->data + at, 4))
			break;
		(void)outline_field(sk->o, "argument", FIELD_VALUE, at, 4);
		at += 4;
	}
	(void)outline_padding(sk->o, at, end, 8, record);
}

static void event_data(const struct sketch *sk, uint32_t record, uint64_t at, uint64_t end)
{
	uint64_t length = end - at >= 2 ? load_u16(sk->data + at, sk->big_endian) : 0;
	uint32_t size = outline_field(sk->o, "data length", FIELD_SIZE, at, 2);
	if (length + 2 > end - at)
		return;
	uint32_t data = outline_field(sk->o, "event data", FIELD_TEXT, at + 2, length);
	outline_measure(sk->o, size, MEASURE_LENGTH, data, 1, 0);
	(void)outline_padding(sk->o, at + 2 + length, end, 8, record);
}

/* The offset after the record at `at`; there are 16 bytes with the magic. */
static uint64_t record(const struct sketch *sk, uint64_t at)
{
	static const char *const names[] = { "entry", "exit", "lost", "event" };
	uint64_t word = load_u64(sk->data + at + 8, sk->big_endian), body = at + UFTRACE_RECORD_SIZE, end = body;
	enum uftrace_type type = uftrace_word_type(word);
	bool more = uftrace_word_more(word);

	uint32_t part = outline_open(sk->o, PART_RECORD, names[type], at, 0);
	(void)outline_field(sk->o, "time", FIELD_TIME, at, 8);
	(void)outline_bits(sk->o, "type", FIELD_TAG, at + 8, 8, 0, 2);
	(void)outline_bits(sk->o, "more", FIELD_FLAGS, at + 8, 8, 2, 1);
	(void)outline_bits(sk->o, "magic", FIELD_MAGIC, at + 8, 8, 3, 3);
	(void)outline_bits(sk->o, "depth", FIELD_VALUE, at + 8, 8, 6, 10);
	(void)outline_bits(sk->o,
			   type == UFTRACE_LOST	   ? "lost count"
			   : type == UFTRACE_EVENT ? "event id"
						   : "address",
			   type == UFTRACE_LOST ? FIELD_VALUE : FIELD_REFERENCE, at + 8, 8, 16, 48);
	if (more)
		end = payload_end(sk, at, word);
	if (end > body && type == UFTRACE_EVENT)
		event_data(sk, part, body, end);
	else if (end > body)
		arguments(sk, part, body, end);
	outline_close(sk->o, end);
	return end;
}

static uint64_t records(const struct sketch *sk, uint64_t at, uint64_t end)
{
	while (at <= end && end - at >= UFTRACE_RECORD_SIZE && sk->o->status == TM_OK) {
		uint64_t word = load_u64(sk->data + at + 8, sk->big_endian);
		at = uftrace_word_magic(word) == UFTRACE_RECORD_MAGIC ? record(sk, at) : at + 8;
	}
	return at;
}

/* A buffer that was left in shared memory: its header counts the bytes of its records. */
static void leftover(const struct sketch *sk)
{
	if (sk->size < UFTRACE_SHM_HEADER_SIZE)
		return;
	uint64_t used = load_u32(sk->data, sk->big_endian), end = UFTRACE_SHM_HEADER_SIZE + used;
	uint32_t size = outline_field(sk->o, "data size", FIELD_SIZE, 0, 4);
	(void)outline_field(sk->o, "flag", FIELD_FLAGS, 4, 4);
	uint32_t group = outline_open(sk->o, PART_GROUP, "records", UFTRACE_SHM_HEADER_SIZE, 0);
	outline_measure(sk->o, size, MEASURE_LENGTH, group, 1, 0);
	(void)records(sk, UFTRACE_SHM_HEADER_SIZE, end < sk->size ? end : sk->size);
	outline_close(sk->o, end < sk->size ? end : sk->size);
}

/* ---- perf, the kernel, the legacy task file ---- */

static void perf_records(const struct sketch *sk)
{
	for (uint64_t at = 0; sk->size - at >= UFTRACE_PERF_HEADER_SIZE && sk->o->status == TM_OK;) {
		uint64_t size = load_u16(sk->data + at + 6, sk->big_endian);
		if (size < UFTRACE_PERF_HEADER_SIZE || size > sk->size - at)
			break;
		uint32_t part = outline_open(sk->o, PART_RECORD, "perf record", at, 0);
		(void)outline_field(sk->o, "perf type", FIELD_TAG, at, 4);
		(void)outline_field(sk->o, "misc", FIELD_FLAGS, at + 4, 2);
		outline_measure(sk->o, outline_field(sk->o, "size", FIELD_SIZE, at + 6, 2), MEASURE_LENGTH, part, 1, 0);
		if (size >= UFTRACE_PERF_HEADER_SIZE + 16) {
			uint64_t id = at + size - 16; /* of every record, #9: pid, tid, time */
			if (id > at + UFTRACE_PERF_HEADER_SIZE)
				(void)outline_field(sk->o, "body", FIELD_VALUE, at + UFTRACE_PERF_HEADER_SIZE,
						    id - at - UFTRACE_PERF_HEADER_SIZE);
			(void)outline_field(sk->o, "pid", FIELD_ID, id, 4);
			(void)outline_field(sk->o, "tid", FIELD_ID, id + 4, 4);
			(void)outline_field(sk->o, "time", FIELD_TIME, id + 8, 8);
		}
		outline_close(sk->o, at + size);
		at += size;
	}
}

static uint64_t number_after(const struct sketch *sk, uint64_t at, uint64_t end, const char *key)
{
	uint64_t value = 0, from = at + strlen(key);
	if (!begins(sk, at, key) || from >= end || !text_parse_u64((const char *)sk->data + from, (size_t)(end - 1 - from), &value))
		return 0;
	return value;
}

static void kernel_header(struct sketch *sk)
{
	uint64_t at = 0, end;

	for (unsigned i = 0; i < 3 && at < sk->size; i++, at = end) {
		end = line_end(sk, at);
		uint64_t page = number_after(sk, at, end, "PAGE_SIZE: "), word = number_after(sk, at, end, "LONG_SIZE: ");
		if (page >= 64 && page <= UFTRACE_KERNEL_PAGE_MAX)
			sk->page_size = (uint32_t)page;
		if (word == 4 || word == 8)
			sk->long_size = (uint32_t)word;
		line(sk, PART_GROUP, "header line", at, end, PART_FIXED);
	}
	for (; at < sk->size && begins(sk, at, "TRACEFS: ") && sk->o->status == TM_OK; at = end) {
		uint64_t text = line_end(sk, at), bytes;
		const uint8_t *colon = text_last_byte(sk->data + at, ':', (size_t)(text - at));
		uint64_t from = (uint64_t)(colon - sk->data) + 2;
		if (text - at < 12 || from >= text - 1 ||
		    !text_parse_u64((const char *)sk->data + from, (size_t)(text - 1 - from), &bytes) || bytes > sk->size - text)
			break;
		end = text + bytes;
		(void)outline_open(sk->o, PART_RECORD, "block", at, 0);
		uint32_t size = outline_field(sk->o, "block size", FIELD_SIZE, from, text - 1 - from);
		outline_coding(sk->o, size, CODING_DECIMAL);
		uint32_t body = outline_open(sk->o, PART_GROUP, "format text", text, PART_FIXED);
		outline_words(sk->o, text, end);
		outline_close(sk->o, end);
		outline_measure(sk->o, size, MEASURE_LENGTH, body, 1, 0);
		outline_close(sk->o, end);
	}
}

static void kernel_pages(const struct sketch *sk)
{
	for (uint64_t at = 0; sk->page_size && sk->long_size && sk->size - at >= sk->page_size && sk->o->status == TM_OK;
	     at += sk->page_size) {
		(void)outline_open(sk->o, PART_RECORD, "page", at, 0);
		(void)outline_field(sk->o, "time", FIELD_TIME, at, 8);
		(void)outline_bits(sk->o, "commit", FIELD_SIZE, at + 8, sk->long_size, 0, 27);
		outline_close(sk->o, at + sk->page_size);
	}
}

static void legacy_tasks(const struct sketch *sk)
{
	for (uint64_t at = 0; sk->size - at >= UFTRACE_TASK_HEADER_SIZE && sk->o->status == TM_OK;) {
		uint64_t body = at + UFTRACE_TASK_HEADER_SIZE, length = load_u32(sk->data + at + 4, sk->big_endian);
		if (load_u16(sk->data + at, sk->big_endian) != UFTRACE_TASK_MAGIC || length > sk->size - body)
			break;
		(void)outline_open(sk->o, PART_RECORD, "message", at, 0);
		(void)outline_field(sk->o, "message magic", FIELD_MAGIC, at, 2);
		(void)outline_field(sk->o, "message type", FIELD_TAG, at + 2, 2);
		uint32_t size = outline_field(sk->o, "message length", FIELD_SIZE, at + 4, 4);
		outline_measure(sk->o, size, MEASURE_LENGTH, outline_field(sk->o, "message body", FIELD_TEXT, body, length), 1, 0);
		outline_close(sk->o, body + length);
		at = body + length;
	}
}

/* ---- the directory ---- */

static void outline_file(struct sketch *sk, uint32_t file, enum uftrace_kind kind, const char *name, unsigned flags)
{
	sk->data = sk->o->files[file].data;
	sk->size = sk->o->files[file].size;
	(void)outline_open_file(sk->o, file, name, flags);
	switch (kind) {
	case UFTRACE_FILE_INFO:
		info(sk);
		break;
	case UFTRACE_FILE_TASK_TXT:
		task_lines(sk);
		break;
	case UFTRACE_FILE_MAP:
	case UFTRACE_FILE_MAP_TMP:
		lines(sk, "mapping");
		break;
	case UFTRACE_FILE_SYM:
		symbol_lines(sk, "symbol");
		break;
	case UFTRACE_FILE_DBG:
		symbol_lines(sk, "debug line");
		break;
	case UFTRACE_FILE_KALLSYMS:
		lines(sk, "symbol");
		break;
	case UFTRACE_FILE_EVENTS:
	case UFTRACE_FILE_OPTS:
	case UFTRACE_FILE_EXTERN:
		lines(sk, "line");
		break;
	case UFTRACE_FILE_DAT:
		(void)records(sk, 0, sk->size);
		break;
	case UFTRACE_FILE_SHM:
		leftover(sk);
		break;
	case UFTRACE_FILE_PERF:
		perf_records(sk);
		break;
	case UFTRACE_FILE_KERNEL_HEADER:
		kernel_header(sk);
		break;
	case UFTRACE_FILE_KERNEL_DAT:
		kernel_pages(sk);
		break;
	case UFTRACE_FILE_TASK:
		legacy_tasks(sk);
		break;
	case UFTRACE_FILE_UNKNOWN:
	case UFTRACE_FILE_DAT_ODD:
	case UFTRACE_FILE_NOTE:
	case UFTRACE_FILE_CHANNEL:
		break;
	}
	outline_close_file(sk->o);
}

/* Files of one kind have one name, so that parts go from one to the other. */
static const char *file_name(enum uftrace_kind kind)
{
	static const char *const names[] = { [UFTRACE_FILE_INFO] = "info",
					     [UFTRACE_FILE_TASK_TXT] = "task.txt",
					     [UFTRACE_FILE_TASK] = "task",
					     [UFTRACE_FILE_MAP] = "map",
					     [UFTRACE_FILE_SYM] = "symbols",
					     [UFTRACE_FILE_DBG] = "debug",
					     [UFTRACE_FILE_DAT] = "dat",
					     [UFTRACE_FILE_PERF] = "perf",
					     [UFTRACE_FILE_KERNEL_HEADER] = "kernel header",
					     [UFTRACE_FILE_KERNEL_DAT] = "kernel",
					     [UFTRACE_FILE_EVENTS] = "events",
					     [UFTRACE_FILE_SHM] = "leftover" };
	return (size_t)kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "file";
}

enum tracemend_status uftrace_outline(struct outline *o, const char *profile)
{
	struct sketch sk = { .o = o };
	(void)profile;

	/* info first, then kernel_header: they say how the others are to be read. */
	for (unsigned pass = 0; pass < 3; pass++)
		for (uint32_t i = 0; i < o->file_count && o->status == TM_OK; i++) {
			struct uftrace_name name = { 0 };
			enum uftrace_kind kind = uftrace_name_read(&name, o->files[i].name);
			unsigned turn = kind == UFTRACE_FILE_INFO ? 0 : kind == UFTRACE_FILE_KERNEL_HEADER ? 1 : 2;
			if (turn != pass)
				continue;
			if (!pass && o->files[i].size > UFTRACE_H_ENDIAN)
				sk.big_endian = o->big_endian = o->files[i].data[UFTRACE_H_ENDIAN] == UFTRACE_BIG;
			outline_file(&sk, i, kind, file_name(kind),
				     kind == UFTRACE_FILE_INFO || kind == UFTRACE_FILE_TASK_TXT ? PART_FIXED : PART_LOOSE);
		}
	return TM_OK;
}
