/* sid-<sid>.map: what was mapped where in a session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_sym.h"

static int mapping_compare(const void *a, const void *b)
{
	const struct uftrace_mapping *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static bool is_stack(struct uftrace_str path)
{
	return path.length >= 6 && !memcmp(path.text, "[stack", 6);
}

static uint64_t identity_key(struct uftrace_str path, struct uftrace_str build_id)
{
	return text_hash_more(text_hash(path.text, path.length), build_id.text, build_id.length);
}

/* As of a build id that none is. */
static uint64_t path_key(struct uftrace_str path)
{
	return identity_key(path, (struct uftrace_str){ "\xff", 1 });
}

bool uftrace_map_has(const struct uftrace_walk *w, struct uftrace_str path, struct uftrace_str build_id)
{
	return map_get(&w->maps->identities, identity_key(path, build_id)) != MAP_NONE;
}

bool uftrace_map_has_path(const struct uftrace_walk *w, struct uftrace_str path)
{
	return map_get(&w->maps->identities, path_key(path)) != MAP_NONE;
}

static bool set_identity(struct uftrace_walk *w, const struct uftrace_mapping *m)
{
	struct map *set = &w->maps->identities;

	w->maps->ids_lost |= m->id_lost;
	return uftrace_walk_set(w, set, (int64_t)identity_key(m->path, m->build_id), 0) &&
	       uftrace_walk_set(w, set, (int64_t)path_key(m->path), 0);
}

static bool add_mapping(struct uftrace_walk *w, struct uftrace_map *map, const struct uftrace_map_line *m)
{
	struct uftrace_mapping *last = map->count ? &map->list[map->count - 1] : NULL;

	/* Lines of one file in a row are one mapping (older writers copy them all). */
	if (last && uftrace_str_equal(last->path, m->path) && m->start >= last->start && m->path.text[0] != '[') {
		if (m->end > last->end)
			last->end = m->end;
		last->lines++;
		return true;
	}
	if (w->maps->mappings >= UFTRACE_MAPPINGS_MAX)
		return uftrace_walk_limit(w, "lines in maps", UFTRACE_MAPPINGS_MAX);
	if (!uftrace_walk_room(w, &map->list, &map->capacity, map->count, sizeof(*map->list)))
		return false;
	struct uftrace_mapping *list = map->list;
	list[map->count++] = (struct uftrace_mapping){ .start = m->start,
						       .end = m->end,
						       .path = m->path,
						       .build_id = m->build_id,
						       .module = UFTRACE_NONE,
						       .program = UFTRACE_NONE,
						       .column = m->column,
						       .lines = 1,
						       .id_lost = m->id_lost };
	w->maps->mappings++;
	return set_identity(w, &list[map->count - 1]);
}

static bool has_wrong_id(const struct uftrace_map_line *line)
{
	return line->build_id.text && (line->build_id.length != 40 || !uftrace_str_is_hex(line->build_id));
}

/* Whether what stands behind the path can be replaced by a build id. Where nothing does, the program may have none. */
static bool id_is_lost(const struct uftrace_map_line *line, enum uftrace_map_state state)
{
	return state == UFTRACE_MAP_GOOD && line->path.text[0] == '/' && (line->build_id.text ? has_wrong_id(line) : line->rest);
}

static uint64_t address_top(const struct uftrace_walk *w)
{
	return w->info->head.class == UFTRACE_32 ? UINT64_C(1) << 32 : UINT64_C(1) << 48;
}

bool uftrace_map_is_somewhere(const struct uftrace_walk *w, uint64_t start, uint64_t end)
{
	return start < end && start < address_top(w);
}

static void check_mapping(struct uftrace_walk *w, struct uftrace_map *map, const struct uftrace_map_line *m, uint64_t offset,
			  size_t raw)
{
	struct source *source = w->dir->files[map->file].source;

	/* The kernel's own pages, and the stand-ins of other writers for the stack, lie elsewhere. */
	bool special = m->path.text[0] == '[';
	map->nowhere += !special && !uftrace_map_is_somewhere(w, m->start, m->end);
	if (!special && (m->start >= m->end || m->end > address_top(w))) {
		finding_report(w->findings, UFTRACE_RULE_map_range_invalid, source, offset, raw, "the range %llx-%llx %s",
			       (unsigned long long)m->start, (unsigned long long)m->end,
			       m->start >= m->end ? "is empty" : "is beyond the address space");
		uftrace_repair_doubt(w, source, offset, raw);
	}
	if (has_wrong_id(m)) {
		char shown[TEXT_QUOTE_SIZE];
		finding_report(w->findings, UFTRACE_RULE_map_buildid_format, source, offset, raw,
			       "build id '%s' is not 40 hexadecimal digits",
			       text_quote(shown, m->build_id.text, m->build_id.length));
	}
}

static void report_long(struct uftrace_walk *w, struct uftrace_map *map, const struct uftrace_map_line *line,
			enum uftrace_map_state state, uint64_t offset, size_t raw, size_t length)
{
	const bool id = state == UFTRACE_MAP_LONG_ID, prot = line->prot > 4, path = line->path.length > UFTRACE_PATH_MAX;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_map_field_too_long, w->dir->files[map->file].source, offset,
					    raw, "the %s has %zu bytes; readers have room for %u",
					    id	   ? "build id"
					    : prot ? "protection"
					    : path ? "path"
						   : "file name in the path",
					    id	   ? line->build_id.length
					    : prot ? line->prot
					    : path ? line->path.length
						   : uftrace_basename(line->path).length,
					    id	   ? 40
					    : prot ? 4
					    : path ? (unsigned)UFTRACE_PATH_MAX
						   : (unsigned)UFTRACE_PROGRAM_MAX);
	if (id) {
		uftrace_edit_lose(w, &map->edits, offset + line->id_at, length - line->id_at, UFTRACE_RULE_map_field_too_long,
				  "a build id that cannot be one");
		return;
	}
	map->cut = map->cut ? map->cut : fd;
	uftrace_edit_lose(w, &map->edits, offset, raw, UFTRACE_RULE_map_field_too_long, "a line that crashes readers");
}

static void add_stack(struct uftrace_walk *w, struct source *source, struct uftrace_map *map, struct edits *edits)
{
	static const char line64[] = "\n7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n";
	static const char line32[] = "\nbffdf000-bffff000 rw-p 00000000 00:00 0                                  [stack]\n";
	const char *line = w->info->head.class == UFTRACE_32 ? line32 : line64;
	bool ended = !map->size || map->text[map->size - 1] == '\n';

	struct finding *fd =
		finding_report(w->findings, UFTRACE_RULE_map_no_stack, source, map->size, 0,
			       "no line for [stack]: readers take every address for one of the kernel and resolve no name");
	if (!map->size && !map->cut)
		map->cut = fd;
	uftrace_edit_add(w, edits, map->size, 0, line + ended, strlen(line) - ended, UFTRACE_RULE_map_no_stack,
			 "a stack at its usual place");
	if (w->plan) /* every writer puts it last: the map was cut, and what else was? */
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	if (!ended)
		uftrace_repair_doubt_line(w, source, map->text, map->size, map->size);
}

static void check_order(struct uftrace_walk *w, struct source *source, struct uftrace_map *map)
{
	bool unsorted = false, told = false;

	for (size_t i = 1; i < map->count && !unsorted; i++)
		unsorted = map->list[i].start < map->list[i - 1].start;
	if (unsorted) {
		finding_report(w->findings, UFTRACE_RULE_map_unsorted, source, 0, 0, "mappings are not in ascending order");
		qsort(map->list, map->count, sizeof(*map->list), mapping_compare);
	}
	for (size_t i = 1; i < map->count; i++) {
		const struct uftrace_mapping *a = &map->list[i - 1], *b = &map->list[i];
		if (b->start >= a->end || uftrace_str_equal(a->path, b->path) || b->path.text[0] == '[' || a->path.text[0] == '[')
			continue;
		uftrace_map_doubt(w, map, a);
		uftrace_map_doubt(w, map, b);
		if (told)
			continue;
		finding_report(w->findings, UFTRACE_RULE_map_overlap, source, (uint64_t)(b->path.text - map->text), b->path.length,
			       "the mapping at %llx begins before the one in front of it ends (%llx)", (unsigned long long)b->start,
			       (unsigned long long)a->end);
		told = true;
	}
}

static struct finding *report_line(struct uftrace_walk *w, struct source *source, uint64_t offset, size_t raw, uint64_t number)
{
	struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_map_line_malformed, TM_WARNING, source, offset, raw);

	finding_path(fd, "line %llu", (unsigned long long)number);
	return fd;
}

/* A line that is not a mapping. True: it is one again, but for fields that nobody needs. */
static bool mend_line(struct uftrace_walk *w, struct uftrace_map *map, uint64_t offset, size_t raw, uint64_t number,
		      struct uftrace_map_line *line)
{
	static const char fields[] = " 00000000 00:00 0 ";
	struct source *source = w->dir->files[map->file].source;
	const char *text = map->text + offset;
	size_t length = raw - (text[raw - 1] == '\n'), at, size;
	char shown[TEXT_QUOTE_SIZE];

	if (!uftrace_map_line_recover(text, length, line, &at, &size)) {
		finding_say(report_line(w, source, offset, raw, number), "'%s' is not a mapping; readers skip it",
			    text_quote(shown, text, length));
		return false;
	}
	struct finding *fd =
		finding_report(w->findings, UFTRACE_RULE_map_line_malformed, source, offset, raw,
			       "between the flags and the path '%s' are not the fields of a mapping: readers skip the line",
			       text_quote(shown, line->path.text, line->path.length));
	finding_path(fd, "line %llu", (unsigned long long)number);
	uftrace_edit_add(w, &map->edits, offset + at, size, fields, sizeof(fields) - 1, UFTRACE_RULE_map_line_malformed,
			 "fields of a mapping");
	return true;
}

#define COLUMN_LINES 3u /* so many lines have the column of the rest */

static uint32_t behind_addresses(const struct uftrace_mapping *m)
{
	return m->column - (uint32_t)strcspn(m->path.text - m->column, " ");
}

/* Writers fill lines up with blanks, so that all paths are in one column: of the line, as the kernel, or from the addresses on,
 * which are shorter in a program that is not position-independent. */
static void check_columns(struct uftrace_walk *w, const struct uftrace_map *map)
{
	const struct uftrace_mapping *most = NULL;
	size_t count = 0, agree = 0;

	/* One that has the column of most of them, if there is one (Boyer and Moore 1981). */
	for (size_t i = 0; i < map->count; i++) {
		const struct uftrace_mapping *m = &map->list[i];
		if (m->path.text[0] != '/')
			continue;
		count++;
		most = agree ? most : m;
		agree = m->column == most->column ? agree + 1 : agree - 1;
	}
	agree = 0;
	for (size_t i = 0; i < map->count; i++)
		agree += map->list[i].path.text[0] == '/' && map->list[i].column == most->column;
	if (agree < COLUMN_LINES || agree <= count / 2 || !most->column)
		return;
	for (size_t i = 0; i < map->count; i++) {
		const struct uftrace_mapping *m = &map->list[i];
		if (m->path.text[0] == '/' && m->column && m->column != most->column &&
		    behind_addresses(m) != behind_addresses(most))
			uftrace_map_doubt(w, map, m);
	}
}

static bool map_parse(struct uftrace_walk *w, struct uftrace_map *map)
{
	struct edits *edits = &map->edits;
	struct source *source = w->dir->files[map->file].source;
	size_t at = 0;
	uint64_t line_number = 0;

	while (at < map->size) {
		const char *text = map->text + at;
		const char *end = memchr(text, '\n', map->size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : map->size - at, length = end ? raw - 1 : raw;
		size_t seen = strnlen(text, length); /* a line ends at a NUL, for readers */
		struct uftrace_map_line line = { 0 };
		enum uftrace_map_state state = uftrace_map_line_read(text, seen, &line);
		line_number++;
		if (seen < length && state != UFTRACE_MAP_BAD)
			finding_say(report_line(w, source, at + seen, length - seen, line_number),
				    "readers do not see what follows this NUL byte");
		map->unreadable |= state == UFTRACE_MAP_BAD && length;
		if (state == UFTRACE_MAP_BAD || seen < length || line.odd || has_wrong_id(&line))
			uftrace_repair_doubt(w, source, at, raw);
		if (line.odd && state != UFTRACE_MAP_BAD)
			finding_say(report_line(w, source, at, raw, line_number),
				    "the addresses, the flags or the path of the mapping are not as a system writes them");
		if (state == UFTRACE_MAP_BAD) {
			if (mend_line(w, map, at, raw, line_number, &line))
				state = UFTRACE_MAP_GOOD;
		} else if (state == UFTRACE_MAP_LONG || state == UFTRACE_MAP_LONG_ID) {
			report_long(w, map, &line, state, at, raw, length);
			line.build_id = (struct uftrace_str){ NULL, 0 };
		}
		line.column = state == UFTRACE_MAP_GOOD ? (uint32_t)(line.path.text - text) : 0;
		line.id_lost = seen == length && !line.odd && id_is_lost(&line, state);
		if (state == UFTRACE_MAP_GOOD || state == UFTRACE_MAP_LONG_ID) {
			check_mapping(w, map, &line, at, raw);
			map->stack |= is_stack(line.path);
			map->build_ids |= line.build_id.text != NULL;
			if (!add_mapping(w, map, &line))
				return false;
		}
		at += raw;
	}
	if (!map->stack)
		add_stack(w, source, map, edits);
	check_columns(w, map);
	check_order(w, source, map);
	return true;
}

uint32_t uftrace_map_load(struct uftrace_walk *w, uint32_t file)
{
	if (!uftrace_walk_room(w, &w->maps->list, &w->maps->capacity, w->maps->count, sizeof(*w->maps->list)))
		return UFTRACE_NONE;
	struct uftrace_map *map = &w->maps->list[w->maps->count++];
	*map = (struct uftrace_map){ .file = file };
	if (!uftrace_walk_slurp(w, w->dir->files[file].source, &map->text, &map->size))
		return UFTRACE_NONE;
	w->dir->files[file].planned = true;
	return map_parse(w, map) && w->status == TM_OK ? (uint32_t)(w->maps->count - 1) : UFTRACE_NONE;
}

void uftrace_map_identify(struct uftrace_walk *w, struct uftrace_map *map, struct uftrace_mapping *m, struct uftrace_str build_id,
			  unsigned rule)
{
	char text[64];
	if (m->path.text < map->text || m->path.text >= map->text + map->size)
		return; /* it was added */
	int n = snprintf(text, sizeof(text), " build-id:%.*s", (int)build_id.length, build_id.text);
	const char *behind = m->path.text + m->path.length;
	size_t left = map->size - (size_t)(behind - map->text);
	const char *end = memchr(behind, '\n', left);
	size_t remove = end ? (size_t)(end - behind) : left;

	uftrace_edit_add(w, &map->edits, (uint64_t)(behind - map->text), remove, text, (size_t)n, rule,
			 "the build id that its symbols or its debug information have");
	m->build_id = build_id;
	m->id_lost = false;
}

void uftrace_map_doubt(struct uftrace_walk *w, const struct uftrace_map *map, const struct uftrace_mapping *m)
{
	/* One that was added is not in the text. */
	if (m->path.text >= map->text && m->path.text < map->text + map->size)
		uftrace_repair_doubt_line(w, w->dir->files[map->file].source, map->text, map->size,
					  (size_t)(m->path.text - map->text));
}

bool uftrace_map_add(struct uftrace_walk *w, struct uftrace_map *map, const struct uftrace_map_line *line)
{
	if (!add_mapping(w, map, line))
		return false;
	qsort(map->list, map->count, sizeof(*map->list), mapping_compare);
	return true;
}

uint64_t uftrace_map_line_at(const struct uftrace_map *map, const struct uftrace_mapping *m)
{
	const char *path = m->path.text;

	if (path < map->text || path >= map->text + map->size)
		return map->size; /* it was added */
	while (path > map->text && path[-1] != '\n')
		path--;
	return (uint64_t)(path - map->text);
}

void uftrace_map_move(struct uftrace_walk *w, struct uftrace_map *map, struct uftrace_mapping *m, uint64_t start, uint64_t end)
{
	if (map->nowhere && !uftrace_map_is_somewhere(w, m->start, m->end))
		map->nowhere--;
	m->start = start;
	m->end = end;
	qsort(map->list, map->count, sizeof(*map->list), mapping_compare);
}

bool uftrace_map_write(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->maps->count; i++) {
		struct uftrace_map *map = &w->maps->list[i];
		struct uftrace_file *f = &w->dir->files[map->file];
		/* One that the recorder was writing takes the place of the map. */
		size_t length = strlen(uftrace_dir_name(f)) - (f->kind == UFTRACE_FILE_MAP_TMP ? 4 : 0);
		char *output = strndup(uftrace_dir_name(f), length);
		if (!output)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
		bool good = uftrace_edit_apply(w, &map->edits, f, output);
		free(output);
		if (!good)
			return false;
	}
	return true;
}

/* Without a header the word size is that of the addresses: more than eight digits are 64 bit. */
static bool infer_class(struct uftrace_walk *w)
{
	bool wide = false, any = false;

	for (size_t i = 0; i < w->dir->count && !wide; i++) {
		char *text = NULL;
		size_t size = 0, run = 0;
		if (w->dir->files[i].kind != UFTRACE_FILE_MAP)
			continue;
		if (!uftrace_walk_slurp(w, w->dir->files[i].source, &text, &size))
			return false;
		for (size_t at = 0; at < size; at++) {
			bool hex = text[at] && strchr("0123456789abcdef", text[at]);
			wide |= text[at] == '-' && run > 8 && run <= 16;
			any |= text[at] == '-' && run == 8;
			run = hex ? run + 1 : 0;
			if (text[at] == ' ')
				while (at + 1 < size && text[at + 1] != '\n')
					at++;
		}
		free(text);
	}
	if (any && !wide)
		w->info->head.class = UFTRACE_32;
	return true;
}

/* Readers take a word size that is none for 32 bit: it does harm where it was 64. */
static void report_class(struct uftrace_walk *w)
{
	const struct uftrace_head *h = &w->info->head;
	const struct source *source = w->dir->files[w->dir->info].source;
	const bool wrong = h->class == UFTRACE_64;
	struct finding *fd = wrong ? finding_new(w->findings, UFTRACE_RULE_info_class_invalid, source, UFTRACE_H_CLASS, 1)
				   : finding_milder(w->findings, UFTRACE_RULE_info_class_invalid, TM_WARNING, source,
						    UFTRACE_H_CLASS, 1);

	finding_say(fd, "word size %u; 1 is 32 bit and 2 is 64 bit%s", h->wrong_class,
		    wrong ? ", which the addresses have: readers take it for 32" : "");
	finding_field(fd, UFTRACE_H_CLASS, 1, "class = %u", h->wrong_class);
	if (wrong)
		uftrace_info_blame(w->info, UFTRACE_RULE_info_class_invalid, "the word size of the addresses");
}

bool uftrace_map_walk(struct uftrace_walk *w)
{
	uint64_t bytes = 0;

	if ((!w->info->head.present || w->info->head.class_lost) && !infer_class(w))
		return false;
	if (w->info->head.class_lost && w->info->head.present)
		report_class(w);
	for (size_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		if (f->kind != UFTRACE_FILE_MAP)
			continue;
		bytes += f->source->size;
		if (bytes > UFTRACE_TEXT_BYTES_MAX)
			return uftrace_walk_limit(w, "bytes of maps", UFTRACE_TEXT_BYTES_MAX);
		if (uftrace_map_load(w, (uint32_t)i) == UFTRACE_NONE)
			return false;
	}
	w->maps->sorted = w->maps->count;
	return true;
}

uint32_t uftrace_map_of(const struct uftrace_walk *w, struct uftrace_str sid)
{
	char name[UFTRACE_SID_LENGTH + 16];

	if (sid.length > UFTRACE_SID_LENGTH)
		return UFTRACE_NONE;
	(void)snprintf(name, sizeof(name), "sid-%.*s.map", (int)sid.length, sid.text);
	uint32_t file = uftrace_dir_find(w->dir, name);
	size_t i; /* maps are loaded in the order of their files */
	array_search(i, w->maps->sorted, w->maps->list[i].file < file);
	return i < w->maps->sorted && w->maps->list[i].file == file ? (uint32_t)i : UFTRACE_NONE;
}

struct uftrace_mapping *uftrace_map_find(const struct uftrace_map *map, uint64_t address)
{
	size_t i;

	array_search(i, map->count, map->list[i].start <= address);
	return i && address < map->list[i - 1].end ? &map->list[i - 1] : NULL;
}

static bool ignored_module(struct uftrace_str path)
{
	struct uftrace_str base = uftrace_basename(path);
	return !base.length || path.text[0] == '[' || (base.length >= 9 && !memcmp(base.text, "libmcount", 9)) ||
	       (base.length >= 9 && !memcmp(base.text, "libstdc++", 9));
}

/* What the maps announce of the other files; after the records, which show which mappings are used. */
bool uftrace_map_check(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->maps->count; i++) {
		struct uftrace_map *map = &w->maps->list[i];
		struct source *source = w->dir->files[map->file].source;
		if (!map->referenced) {
			if (w->dir->files[map->file].kind == UFTRACE_FILE_MAP)
				finding_report(w->findings, UFTRACE_RULE_map_orphan, source, 0, 0,
					       "no session of task.txt names this map");
			continue;
		}
		if (!map->build_ids && w->info->version_number >= 1000 && map->count > 1 && !w->info->foreign)
			finding_report(w->findings, UFTRACE_RULE_map_buildid_missing, source, 0, 0,
				       "no mapping has a build id, which recorders of this version add at the end");
		size_t ids = 0;
		for (size_t k = 0; k < map->count; k++)
			ids += map->list[k].build_id.text != NULL;
		for (size_t k = 0; k < map->count; k++) {
			struct uftrace_mapping *m = &map->list[k];
			const bool emptied = m->module != UFTRACE_NONE && !w->symbols->modules[m->module].headed &&
					     uftrace_sym_is_empty(w->symbols, m->module);
			if ((m->module != UFTRACE_NONE && !emptied) || ignored_module(m->path) || w->info->foreign)
				continue;
			/* All others have a build id: the rest of the path may be another line's. */
			if (ids >= COLUMN_LINES && !m->build_id.text && !w->info->recorder_died)
				uftrace_map_doubt(w, map, m);
			if (!m->used)
				continue;
			if (w->info->recorder_died) {
				finding_explains(w->info->recorder_died, 1);
				continue;
			}
			char shown[TEXT_QUOTE_SIZE];
			finding_report(w->findings, UFTRACE_RULE_sym_missing, source, (uint64_t)(m->path.text - map->text),
				       m->path.length, "records have addresses in %s, and %s",
				       text_quote(shown, m->path.text, m->path.length),
				       emptied ? "its symbol file has no symbol" : "there is no symbol file for it");
			/* The symbols are missing, or the path is not theirs. */
			uftrace_map_doubt(w, map, m);
		}
	}
	return true;
}

bool uftrace_map_useful(const struct uftrace_map *map)
{
	for (size_t i = 0; map && i < map->count; i++)
		if (map->list[i].path.text[0] != '[')
			return true;
	return false;
}

bool uftrace_map_has_orphan(const struct uftrace_walk *w, uint64_t address)
{
	for (unsigned i = 0; i < w->maps->orphan_count; i++)
		if (uftrace_map_find(&w->maps->list[w->maps->orphans[i]], address))
			return true;
	return false;
}

void uftrace_map_free(struct uftrace_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		free(maps->list[i].text);
		free(maps->list[i].list);
		edits_free(&maps->list[i].edits);
	}
	free(maps->list);
	map_free(&maps->identities);
}
