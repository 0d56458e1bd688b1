/* What breakers share: finding and editing files, lines and records of a generated uftrace directory. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- shape ---- */

void uftrace_gen_need(struct uftrace_gen *g, uint64_t want, uint64_t refuse)
{
	g->want |= want;
	g->refuse |= refuse;
}

void uftrace_gen_versions(struct uftrace_gen *g, unsigned low, unsigned high)
{
	g->version_low = low;
	g->version_high = high;
}

void uftrace_gen_unused(struct uftrace_gen *g, unsigned n)
{
	(void)uftrace_gen_below(g, n);
}

/* ---- files ---- */

struct bytes *uftrace_genfile(struct uftrace_gen *g, const char *name)
{
	for (size_t i = 0; i < g->g->file_count; i++)
		if (strcmp(g->g->files[i].name, name) == 0)
			return &g->g->files[i].bytes;
	return NULL;
}

static bool name_fits(const char *name, const char *prefix, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return strncmp(name, prefix, strlen(prefix)) == 0 && length >= tail && strcmp(name + length - tail, suffix) == 0;
}

struct bytes *uftrace_genfile_any(struct uftrace_gen *g, const char *prefix, const char *suffix, const char **name)
{
	unsigned count = 0;

	for (size_t i = 0; i < g->g->file_count; i++)
		count += g->g->files[i].bytes.size && name_fits(g->g->files[i].name, prefix, suffix);
	if (!count)
		return NULL;
	count = uftrace_gen_below(g, count);
	for (size_t i = 0; i < g->g->file_count; i++) {
		if (!g->g->files[i].bytes.size || !name_fits(g->g->files[i].name, prefix, suffix))
			continue;
		if (count--)
			continue;
		if (name)
			*name = g->g->files[i].name;
		return &g->g->files[i].bytes;
	}
	return NULL;
}

void uftrace_genfile_remove(struct uftrace_gen *g, const char *suffix)
{
	for (size_t i = g->g->file_count; i--;)
		if (name_fits(g->g->files[i].name, "", suffix))
			gen_file_remove(g->g, g->g->files[i].name);
}

struct bytes *uftrace_genfile_dat(struct uftrace_gen *g, unsigned task)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "%d.dat", g->tasks[task].tid);
	return uftrace_genfile(g, name);
}

void uftrace_genfile_rename(struct uftrace_gen *g, const char *from, const char *to)
{
	struct bytes *b = gen_file(g->g, to);
	struct bytes *old = uftrace_genfile(g, from);

	if (b && old) {
		bytes_append(b, old->data, old->size);
		gen_file_remove(g->g, from);
	}
}

/* ---- lines ---- */

struct uftrace_row uftrace_row_at(const struct bytes *b, size_t at)
{
	const uint8_t *end = at < b->size ? memchr(b->data + at, '\n', b->size - at) : NULL;

	return (struct uftrace_row){ at, end ? (size_t)(end - b->data) + 1 - at : b->size - at, at < b->size };
}

static size_t text_start(const struct bytes *b)
{
	return b->size >= 40 && memcmp(b->data, "Ftrace!", 8) == 0 ? 40 : 0; /* info starts with a binary header */
}

struct uftrace_row uftrace_row_find(const struct bytes *b, const char *prefix, unsigned n)
{
	size_t length = strlen(prefix);

	for (struct uftrace_row l = uftrace_row_at(b, text_start(b)); l.found; l = uftrace_row_at(b, l.at + l.length))
		if (l.length >= length && memcmp(b->data + l.at, prefix, length) == 0 && n-- == 0)
			return l;
	return (struct uftrace_row){ 0, 0, false };
}

unsigned uftrace_row_count(const struct bytes *b, const char *prefix)
{
	unsigned n = 0;

	while (uftrace_row_find(b, prefix, n).found)
		n++;
	return n;
}

struct uftrace_row uftrace_row_any(struct uftrace_gen *g, const struct bytes *b, const char *prefix)
{
	unsigned count = uftrace_row_count(b, prefix);

	return count ? uftrace_row_find(b, prefix, uftrace_gen_below(g, count)) : (struct uftrace_row){ 0, 0, false };
}

void uftrace_row_remove(struct bytes *b, struct uftrace_row line)
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

void uftrace_row_insert(struct bytes *b, size_t at, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	insert_formatted(b, at, format, arguments);
	va_end(arguments);
}

void uftrace_row_insert_any(struct uftrace_gen *g, struct bytes *b, const char *const texts[], unsigned count)
{
	const char *text = texts[uftrace_gen_below(g, count)];

	uftrace_row_insert(b, uftrace_row_any(g, b, "").at, "%s", text);
}

void uftrace_row_replace(struct bytes *b, struct uftrace_row line, const char *format, ...)
{
	va_list arguments;

	if (!line.found)
		return;
	uftrace_row_remove(b, line);
	va_start(arguments, format);
	insert_formatted(b, line.at, format, arguments);
	va_end(arguments);
}

void uftrace_row_swap(struct bytes *b, struct uftrace_row line)
{
	struct uftrace_row next = uftrace_row_at(b, line.at + line.length);
	char text[512];

	if (!line.found || !next.found || next.length >= sizeof(text))
		return;
	memcpy(text, b->data + next.at, next.length);
	bytes_remove(b, next.at, next.length);
	bytes_insert(b, line.at, text, next.length);
}

void uftrace_row_copy(const struct bytes *b, struct uftrace_row line, char *text, size_t room)
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

bool uftrace_row_replace_text(struct bytes *b, size_t at, const char *from, const char *to)
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

void uftrace_geninfo_set_u16(struct uftrace_gen *g, size_t offset, uint16_t value)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b && b->size >= offset + 2)
		store_u16(b->data + offset, value, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
}

void uftrace_geninfo_mask(struct uftrace_gen *g, size_t offset, uint64_t set, uint64_t clear)
{
	struct bytes *b = uftrace_genfile(g, "info");
	bool big = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);

	if (b && b->size >= offset + 8)
		store_u64(b->data + offset, (load_u64(b->data + offset, big) | set) & ~clear, big);
}

/* ---- records ---- */

const struct uftrace_gen_mark *uftrace_mark_any(struct uftrace_gen *g,
						bool (*test)(const struct uftrace_gen *, const struct uftrace_gen_mark *))
{
	unsigned count = 0;

	for (unsigned i = 0; i < g->mark_count; i++)
		count += test(g, &g->marks[i]);
	if (!count)
		return NULL;
	count = uftrace_gen_below(g, count);
	for (unsigned i = 0; i < g->mark_count; i++)
		if (test(g, &g->marks[i]) && count-- == 0)
			return &g->marks[i];
	return NULL;
}

const struct uftrace_gen_mark *uftrace_mark_next(const struct uftrace_gen *g, const struct uftrace_gen_mark *mark)
{
	return mark + 1 < g->marks + g->mark_count && mark[1].task == mark->task ? mark + 1 : NULL;
}

const struct uftrace_gen_mark *uftrace_mark_previous(const struct uftrace_gen *g, const struct uftrace_gen_mark *mark)
{
	return mark > g->marks && mark[-1].task == mark->task ? mark - 1 : NULL;
}

uint64_t uftrace_record_word(struct uftrace_gen *g, const struct uftrace_gen_mark *mark)
{
	struct bytes *b = uftrace_genfile_dat(g, mark->task);

	return b ? load_u64(b->data + mark->offset + 8, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN)) : 0;
}

void uftrace_record_set(struct uftrace_gen *g, const struct uftrace_gen_mark *mark, uint64_t time, uint64_t word)
{
	struct bytes *b = uftrace_genfile_dat(g, mark->task);

	if (b) {
		store_u64(b->data + mark->offset, time, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
		store_u64(b->data + mark->offset + 8, word, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
	}
}

void uftrace_record_insert(struct uftrace_gen *g, unsigned task, size_t at, uint64_t time, uint64_t word)
{
	struct bytes *b = uftrace_genfile_dat(g, task);
	uint8_t record[16];

	store_u64(record, time, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
	store_u64(record + 8, word, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
	if (b)
		bytes_insert(b, at, record, sizeof(record));
}

uint64_t uftrace_record_make(unsigned type, unsigned depth, uint64_t value)
{
	return type | 5 << 3 | (uint64_t)depth << 6 | value << 16;
}
