/* Files whose names were changed: which of the missing ones they are, by their names and their content. */
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_task.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

#define HEAD_BYTES 128u /* of a file, by which it is known */

/* Whether the file may be one that has lost its name. */
static bool is_nameless(const struct uftrace_file *f)
{
	return (f->kind == UFTRACE_FILE_UNKNOWN || f->kind == UFTRACE_FILE_DAT_ODD) && f->source->role == TM_ROLE_INPUT &&
	       f->source->kind == SOURCE_FILE && f->source->size && !strchr(f->source->name, '/');
}

static bool read_head(struct uftrace_walk *w, const struct uftrace_file *f, uint8_t *head, size_t *size)
{
	*size = f->source->size < HEAD_BYTES ? (size_t)f->source->size : HEAD_BYTES;
	return source_read(f->source, 0, head, *size) == TM_OK || uftrace_walk_fail(w, f->source->bundle->error.status);
}

/* Whether a name is the other one with something added: "perf-cpu0-copy.dat", "info.bak". */
static bool is_variant(const char *name, const char *of)
{
	const char *dot = strrchr(of, '.');
	size_t stem = dot ? (size_t)(dot - of) : strlen(of);

	return strncmp(name, of, stem) == 0 && name[stem] && strchr("-_. (~", name[stem]) && (!dot || strstr(name + stem, dot));
}

static void adopt(struct uftrace_walk *w, uint32_t index, const char *name, const char *what)
{
	struct uftrace_file *f = &w->dir->files[index];
	char shown[TEXT_QUOTE_SIZE];

	if (w->dir->adopted_count >= UFTRACE_ADOPTED_MAX)
		return;
	finding_report(w->findings, UFTRACE_RULE_file_renamed, f->source, 0, 0, "'%s' %s: readers look for it as '%s'",
		       text_quote(shown, f->source->name, strlen(f->source->name)), what, name);
	uftrace_dir_adopt(w->dir, index, name);
}

/* ---- files of which there is one, and files of a CPU ---- */

/* The content of info or task.txt; NULL: of neither, or of a file that is there. */
static const char *name_by_content(const struct uftrace_walk *w, const uint8_t *head, size_t size)
{
	const struct uftrace_dir *dir = w->dir;
	struct uftrace_task_parsed line = { 0 };
	const char *text = (const char *)head, *end = memchr(head, '\n', size);

	if (size >= UFTRACE_HEADER_SIZE && !memcmp(head, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE))
		return dir->info == UFTRACE_NONE && !dir->irregular_info ? "info" : NULL;
	line.kind = uftrace_task_keyword(text, size);
	if (!end || line.kind == UFTRACE_LINE_OTHER || !uftrace_task_line_read(text, (size_t)(end - text), &line))
		return NULL;
	return dir->task_txt == UFTRACE_NONE && dir->task_legacy == UFTRACE_NONE && !dir->irregular_task ? "task.txt" : NULL;
}

/* The name of a file that is missing, of which this is a variant. */
static bool name_by_name(const struct uftrace_walk *w, const char *name, char out[48])
{
	static const char *const fixed[] = { "kernel_header", "kallsyms", "events.txt", "extern.dat", "default.opts", "note.txt" };
	static const char *const numbered[] = { "perf-cpu", "kernel-cpu" };

	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		size_t n = strlen(numbered[i]),
		       digits = strspn(name + (strncmp(name, numbered[i], n) ? strlen(name) : n), "0123456789");
		if (!digits || digits > 6)
			continue;
		(void)snprintf(out, 48, "%.*s.dat", (int)(n + digits), name);
		return is_variant(name, out) && uftrace_dir_find(w->dir, out) == UFTRACE_NONE;
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		(void)snprintf(out, 48, "%s", fixed[i]);
		if (is_variant(name, out))
			return uftrace_dir_find(w->dir, out) == UFTRACE_NONE;
	}
	return false;
}

bool uftrace_adopt_heads(struct uftrace_walk *w)
{
	uint8_t head[HEAD_BYTES];
	char name[48];
	size_t size;

	for (uint32_t i = 0; i < w->dir->count; i++) {
		if (!is_nameless(&w->dir->files[i]))
			continue;
		if (!read_head(w, &w->dir->files[i], head, &size))
			return false;
		const char *found = name_by_content(w, head, size);
		if (found)
			adopt(w, i, found, "has the content of a file that is missing");
		else if (name_by_name(w, w->dir->files[i].source->name, name))
			adopt(w, i, name, "has the name of a missing file, with something added");
	}
	return true;
}

/* ---- maps ---- */

static bool session_named(const struct uftrace_walk *w, struct uftrace_str sid)
{
	for (size_t i = 0; i < w->sessions->count && i < UFTRACE_ADOPTED_MAX; i++)
		if (uftrace_str_equal(w->sessions->list[i].sid, sid))
			return true;
	return false;
}

/* "sid-<sid>-copy.map" of a session without a map. */
static void adopt_map(struct uftrace_walk *w, uint32_t index)
{
	const struct uftrace_file *f = &w->dir->files[index];
	const char *name = f->source->name;
	char wanted[48];

	if (strncmp(name, "sid-", 4) != 0)
		return;
	struct uftrace_str sid = { name + 4, strspn(name + 4, "0123456789abcdef") };
	if (sid.length > UFTRACE_SID_LENGTH)
		return;
	(void)snprintf(wanted, sizeof(wanted), "sid-%.*s.map", (int)sid.length, sid.text);
	if (is_variant(name, wanted) && session_named(w, sid) && uftrace_dir_find(w->dir, wanted) == UFTRACE_NONE)
		adopt(w, index, wanted, "is the map of a session that has none");
}

/* ---- records of tasks ---- */

/* Whether the file begins with records, in either byte order; *time: of the first of them. */
static bool has_records(struct uftrace_walk *w, const uint8_t *head, size_t size, uint64_t *time)
{
	bool big = w->info->head.big_endian;
	unsigned records = 0, all = 0;

	*time = 0;
	for (size_t at = 0; at + UFTRACE_RECORD_SIZE <= size && all < 4; at += UFTRACE_RECORD_SIZE, all++) {
		uint64_t when = load_u64(head + at, big);
		bool record = uftrace_word_magic(load_u64(head + at + 8, big)) == UFTRACE_RECORD_MAGIC && when < UINT64_C(1) << 62;
		records += record;
		if (record && !*time)
			*time = when;
	}
	return records && *time;
}

/* Tasks that should have a file, and have none. */
static bool is_without_file(const struct uftrace_walk *w, const struct uftrace_task_line *line)
{
	if ((line->kind != UFTRACE_LINE_TASK && line->kind != UFTRACE_LINE_FORK) || line->id <= 0 || line->id > INT32_MAX)
		return false;
	if (w->taskinfo->count && map_get(&w->taskinfo->listed, (uint64_t)line->id) == UFTRACE_NONE)
		return false;
	return !uftrace_records_of(w->records, (uint64_t)line->id);
}

/* The only task without a file, if it began before that time; 0. */
static int64_t only_task(const struct uftrace_walk *w, uint64_t time)
{
	int64_t found = 0;

	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if (line->id == found || !is_without_file(w, line))
			continue;
		if (found || line->time > time)
			return 0;
		found = line->id;
	}
	return found;
}

/* The task whose number the name begins with, if it has no file; 0. ids: of task.txt -> a line. */
static int64_t named_task(const struct uftrace_walk *w, const struct map *ids, const char *name)
{
	uint64_t tid = 0;
	size_t digits = strspn(name, "0123456789");

	if (!digits || !text_parse_u64(name, digits, &tid))
		return 0;
	uint32_t line = map_get(ids, tid);
	return line != UFTRACE_NONE && is_without_file(w, &w->tasks->lines[line]) ? (int64_t)tid : 0;
}

static bool read_ids(struct uftrace_walk *w, struct map *ids)
{
	for (uint32_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if ((line->kind == UFTRACE_LINE_TASK || line->kind == UFTRACE_LINE_FORK) && !uftrace_walk_set(w, ids, line->id, i))
			return false;
	}
	return true;
}

/* Gives the file to a task, whose records it has. */
static bool adopt_records(struct uftrace_walk *w, uint32_t index, int64_t tid)
{
	struct uftrace_records *records = w->records;
	struct uftrace_file *f = &w->dir->files[index];
	char name[48];

	(void)snprintf(name, sizeof(name), "%lld.dat", (long long)tid);
	if (w->dir->adopted_count >= UFTRACE_ADOPTED_MAX)
		return true;
	struct uftrace_dat *dat = f->kind == UFTRACE_FILE_DAT ? uftrace_records_of(records, f->name.number) : NULL;
	if (dat)
		dat->tid = (uint64_t)tid;
	else
		records->dats[records->dat_count++] = (struct uftrace_dat){ .tid = (uint64_t)tid, .file = index };
	adopt(w, index, name, "has the records of a task whose file is missing");
	uftrace_records_sort(records);
	return true;
}

/* A file of records that no task is known of. */
static bool is_ownerless(const struct uftrace_walk *w, const struct map *ids, const struct uftrace_file *f)
{
	return f->kind == UFTRACE_FILE_DAT && f->source->kind == SOURCE_FILE && f->source->size && !f->as[0] &&
	       map_get(ids, f->name.number) == UFTRACE_NONE && map_get(&w->taskinfo->listed, f->name.number) == UFTRACE_NONE;
}

static bool adopt_files(struct uftrace_walk *w, const struct map *ids)
{
	uint32_t only = UFTRACE_NONE, candidates = 0;
	uint64_t first_time = 0;

	for (uint32_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		uint8_t head[HEAD_BYTES];
		uint64_t time;
		size_t size;
		bool map = f->kind == UFTRACE_FILE_MAP && f->source->kind == SOURCE_FILE && f->name.sid_length > UFTRACE_SID_LENGTH;
		if (map || is_nameless(f))
			adopt_map(w, i);
		if (!is_ownerless(w, ids, f) && !is_nameless(f))
			continue;
		if (!read_head(w, f, head, &size))
			return false;
		if (!has_records(w, head, size, &time))
			continue;
		int64_t tid = named_task(w, ids, f->source->name);
		if (tid && !adopt_records(w, i, tid))
			return false;
		if (tid)
			continue;
		candidates++;
		only = i;
		first_time = time;
	}
	int64_t tid = candidates == 1 ? only_task(w, first_time) : 0;
	return !tid || adopt_records(w, only, tid);
}

bool uftrace_adopt_rest(struct uftrace_walk *w)
{
	struct map ids = { 0 };

	bool good = read_ids(w, &ids) && adopt_files(w, &ids);
	map_free(&ids);
	return good;
}
