/* What breakers share: finding and editing files, lines and records of a generated uftrace directory. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- files ---- */

struct bytes *break_file(struct uftrace_gen *u, const char *name)
{
	for (size_t i = 0; i < u->g->file_count; i++)
		if (strcmp(u->g->files[i].name, name) == 0)
			return &u->g->files[i].bytes;
	return NULL;
}

static bool name_fits(const char *name, const char *prefix, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return strncmp(name, prefix, strlen(prefix)) == 0 && length >= tail && strcmp(name + length - tail, suffix) == 0;
}

struct bytes *break_any_file(struct uftrace_gen *u, const char *prefix, const char *suffix, const char **name)
{
	unsigned count = 0;

	for (size_t i = 0; i < u->g->file_count; i++)
		count += u->g->files[i].bytes.size && name_fits(u->g->files[i].name, prefix, suffix);
	if (!count)
		return NULL;
	count = uftgen_below(u, count);
	for (size_t i = 0; i < u->g->file_count; i++) {
		if (!u->g->files[i].bytes.size || !name_fits(u->g->files[i].name, prefix, suffix))
			continue;
		if (count--)
			continue;
		if (name)
			*name = u->g->files[i].name;
		return &u->g->files[i].bytes;
	}
	return NULL;
}

void break_remove_files(struct uftrace_gen *u, const char *suffix)
{
	for (size_t i = u->g->file_count; i--;)
		if (name_fits(u->g->files[i].name, "", suffix))
			gen_file_remove(u->g, u->g->files[i].name);
}

struct bytes *break_dat(struct uftrace_gen *u, unsigned task)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "%d.dat", u->tasks[task].tid);
	return break_file(u, name);
}

void break_rename(struct uftrace_gen *u, const char *from, const char *to)
{
	struct bytes *b = gen_file(u->g, to);
	struct bytes *old = break_file(u, from);

	if (b && old) {
		bytes_append(b, old->data, old->size);
		gen_file_remove(u->g, from);
	}
}

/* ---- lines ---- */

struct row row_at(const struct bytes *b, size_t at)
{
	const uint8_t *end = at < b->size ? memchr(b->data + at, '\n', b->size - at) : NULL;

	return (struct row){ at, end ? (size_t)(end - b->data) + 1 - at : b->size - at, at < b->size };
}

static size_t text_start(const struct bytes *b)
{
	return b->size >= 40 && memcmp(b->data, "Ftrace!", 8) == 0 ? 40 : 0; /* info starts with a binary header */
}

struct row row_find(const struct bytes *b, const char *prefix, unsigned n)
{
	size_t length = strlen(prefix);

	for (struct row l = row_at(b, text_start(b)); l.found; l = row_at(b, l.at + l.length))
		if (l.length >= length && memcmp(b->data + l.at, prefix, length) == 0 && n-- == 0)
			return l;
	return (struct row){ 0, 0, false };
}

unsigned row_count(const struct bytes *b, const char *prefix)
{
	unsigned n = 0;

	while (row_find(b, prefix, n).found)
		n++;
	return n;
}

struct row row_any(struct uftrace_gen *u, const struct bytes *b, const char *prefix)
{
	unsigned count = row_count(b, prefix);

	return count ? row_find(b, prefix, uftgen_below(u, count)) : (struct row){ 0, 0, false };
}

void row_remove(struct bytes *b, struct row line)
{
	if (line.found)
		bytes_remove(b, line.at, line.length);
}

static PRINTF_LIKE(3, 0) void insert_formatted(struct bytes *b, size_t at, const char *format, va_list arguments)
{
	char text[1024];
	int length = vsnprintf(text, sizeof(text), format, arguments);

	if (length > 0 && (size_t)length < sizeof(text) && !b->failed)
		bytes_insert(b, at, text, (size_t)length);
}

void row_insert(struct bytes *b, size_t at, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	insert_formatted(b, at, format, arguments);
	va_end(arguments);
}

void row_insert_any(struct uftrace_gen *u, struct bytes *b, const char *const texts[], unsigned count)
{
	const char *text = texts[uftgen_below(u, count)];

	row_insert(b, row_any(u, b, "").at, "%s", text);
}

void row_replace(struct bytes *b, struct row line, const char *format, ...)
{
	va_list arguments;

	if (!line.found)
		return;
	row_remove(b, line);
	va_start(arguments, format);
	insert_formatted(b, line.at, format, arguments);
	va_end(arguments);
}

void row_swap(struct bytes *b, struct row line)
{
	struct row next = row_at(b, line.at + line.length);
	char text[512];

	if (!line.found || !next.found || next.length >= sizeof(text))
		return;
	memcpy(text, b->data + next.at, next.length);
	bytes_remove(b, next.at, next.length);
	bytes_insert(b, line.at, text, next.length);
}

void row_copy(const struct bytes *b, struct row line, char *text, size_t room)
{
	size_t length = line.length;

	if (length && b->data[line.at + length - 1] == '\n')
		length--;
	if (length >= room)
		length = room - 1;
	if (length)
		memcpy(text, b->data + line.at, length);
	text[length] = '\0';
}

bool text_replace(struct bytes *b, size_t at, const char *from, const char *to)
{
	size_t length = strlen(from);

	for (; at + length <= b->size; at++) {
		if (memcmp(b->data + at, from, length) != 0)
			continue;
		bytes_remove(b, at, length);
		bytes_insert(b, at, to, strlen(to));
		return true;
	}
	return false;
}

/* ---- info ---- */

void info_set_u16(struct uftrace_gen *u, size_t offset, uint16_t value)
{
	struct bytes *b = break_file(u, "info");

	if (b && b->size >= offset + 2)
		store_u16(b->data + offset, value, uftgen_has(u, UFTGEN_BIG_ENDIAN));
}

void info_mask(struct uftrace_gen *u, size_t offset, uint64_t set, uint64_t clear)
{
	struct bytes *b = break_file(u, "info");
	bool big = uftgen_has(u, UFTGEN_BIG_ENDIAN);

	if (b && b->size >= offset + 8)
		store_u64(b->data + offset, (load_u64(b->data + offset, big) | set) & ~clear, big);
}

/* ---- records ---- */

const struct uftgen_mark *mark_any(struct uftrace_gen *u, bool (*test)(const struct uftrace_gen *, const struct uftgen_mark *))
{
	unsigned count = 0;

	for (unsigned i = 0; i < u->mark_count; i++)
		count += test(u, &u->marks[i]);
	if (!count)
		return NULL;
	count = uftgen_below(u, count);
	for (unsigned i = 0; i < u->mark_count; i++)
		if (test(u, &u->marks[i]) && count-- == 0)
			return &u->marks[i];
	return NULL;
}

const struct uftgen_mark *mark_next(const struct uftrace_gen *u, const struct uftgen_mark *mark)
{
	return mark + 1 < u->marks + u->mark_count && mark[1].task == mark->task ? mark + 1 : NULL;
}

const struct uftgen_mark *mark_previous(const struct uftrace_gen *u, const struct uftgen_mark *mark)
{
	return mark > u->marks && mark[-1].task == mark->task ? mark - 1 : NULL;
}

uint64_t record_word(struct uftrace_gen *u, const struct uftgen_mark *mark)
{
	struct bytes *b = break_dat(u, mark->task);

	return b ? load_u64(b->data + mark->offset + 8, uftgen_has(u, UFTGEN_BIG_ENDIAN)) : 0;
}

void record_set(struct uftrace_gen *u, const struct uftgen_mark *mark, uint64_t time, uint64_t word)
{
	struct bytes *b = break_dat(u, mark->task);

	if (b) {
		store_u64(b->data + mark->offset, time, uftgen_has(u, UFTGEN_BIG_ENDIAN));
		store_u64(b->data + mark->offset + 8, word, uftgen_has(u, UFTGEN_BIG_ENDIAN));
	}
}

void record_insert(struct uftrace_gen *u, unsigned task, size_t at, uint64_t time, uint64_t word)
{
	struct bytes *b = break_dat(u, task);
	uint8_t record[16];

	store_u64(record, time, uftgen_has(u, UFTGEN_BIG_ENDIAN));
	store_u64(record + 8, word, uftgen_has(u, UFTGEN_BIG_ENDIAN));
	if (b)
		bytes_insert(b, at, record, sizeof(record));
}

uint64_t record_make(unsigned type, unsigned depth, uint64_t value)
{
	return type | 5 << 3 | (uint64_t)depth << 6 | value << 16;
}
