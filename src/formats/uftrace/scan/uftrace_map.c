/* sid-<sid>.map: what was mapped where in a session. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

static bool take_hex(const char *text, size_t length, size_t *at, uint64_t *value)
{
	size_t n = 0;

	while (*at + n < length && strchr("0123456789abcdefABCDEF", text[*at + n]) && text[*at + n])
		n++;
	if (!n || n > 16 || !text_parse_hex(text + *at, n, value))
		return false;
	*at += n;
	return true;
}

/* As scanf("%s") has it. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct uftrace_str take_word(const char *text, size_t length, size_t *at)
{
	while (*at < length && is_blank(text[*at]))
		++*at;
	struct uftrace_str word = { text + *at, 0 };
	while (*at < length && !is_blank(text[*at])) {
		++*at;
		word.length++;
	}
	return word;
}

enum line_state { LINE_GOOD, LINE_ANONYMOUS, LINE_SKIPPED, LINE_BAD, LINE_LONG, LINE_LONG_ID };

struct map_line {
	struct uftrace_mapping m;
	size_t id_at; /* where the build id begins, with the blank before it */
};

static enum line_state line_parse(const char *text, size_t length, struct map_line *out)
{
	size_t at = 0;

	if (!length || text[0] == '#')
		return length ? LINE_SKIPPED : LINE_BAD;
	if (!take_hex(text, length, &at, &out->m.start) || at >= length || text[at++] != '-' ||
	    !take_hex(text, length, &at, &out->m.end) || at >= length || text[at] != ' ')
		return LINE_BAD;
	struct uftrace_str prot = take_word(text, length, &at);
	struct uftrace_str offset = take_word(text, length, &at), device = take_word(text, length, &at);
	struct uftrace_str inode = take_word(text, length, &at);
	if (prot.length > 4)
		return LINE_LONG;
	uint64_t ignored;
	size_t colon = device.length ? (size_t)strcspn(device.text, ":") : 0;
	if (prot.length != 4 || !text_parse_hex(offset.text, offset.length, &ignored) || colon >= device.length ||
	    !text_parse_hex(device.text, colon, &ignored) ||
	    !text_parse_hex(device.text + colon + 1, device.length - colon - 1, &ignored) ||
	    !text_parse_u64(inode.text, inode.length, &ignored))
		return LINE_BAD;
	out->m.path = take_word(text, length, &at);
	if (!out->m.path.length)
		return LINE_ANONYMOUS;
	if (out->m.path.length > UFTRACE_PATH_MAX)
		return LINE_LONG;
	out->id_at = at;
	struct uftrace_str id = take_word(text, length, &at);
	if (id.length >= 9 && !memcmp(id.text, "build-id:", 9)) {
		out->m.build_id = (struct uftrace_str){ id.text + 9, id.length - 9 };
		if (id.length > 49)
			return LINE_LONG_ID;
	}
	return LINE_GOOD;
}

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

static bool hex_only(struct uftrace_str s)
{
	for (size_t i = 0; i < s.length; i++)
		if (!s.text[i] || !strchr("0123456789abcdefABCDEF", s.text[i]))
			return false;
	return true;
}

static bool add_mapping(struct uftrace_walk *w, struct uftrace_map *map, const struct uftrace_mapping *m)
{
	struct uftrace_mapping *last = map->count ? &map->list[map->count - 1] : NULL;

	/* Lines of one file in a row are one mapping (older writers copy them all). */
	if (last && uftrace_str_equal(last->path, m->path) && m->start >= last->start && m->path.text[0] != '[') {
		if (m->end > last->end)
			last->end = m->end;
		return true;
	}
	if (w->mapping_count >= UFTRACE_MAPPINGS_MAX)
		return uftrace_walk_limit(w, "lines in maps", UFTRACE_MAPPINGS_MAX);
	struct uftrace_mapping *list = uftrace_grow(w, map->list, &map->capacity, map->count, sizeof(*list));
	if (!list)
		return false;
	map->list = list;
	list[map->count] = *m;
	list[map->count++].module = UFTRACE_NONE;
	w->mapping_count++;
	return true;
}

static void check_mapping(struct uftrace_walk *w, struct source *s, const struct uftrace_mapping *m, uint64_t offset, size_t raw)
{
	uint64_t top = w->head.class == UFTRACE_32 ? UINT64_C(1) << 32 : UINT64_C(1) << 48;

	/* The kernel's own pages, and the stand-ins of other writers for the stack, lie elsewhere. */
	bool special = m->path.text[0] == '[';
	if (!special && (m->start >= m->end || m->end > top)) {
		finding_report(w->findings, UFTRACE_RULE_map_range_invalid, s, offset, raw, "the range %llx-%llx %s",
			       (unsigned long long)m->start, (unsigned long long)m->end,
			       m->start >= m->end ? "is empty" : "is beyond the address space");
	}
	if (m->build_id.text && (m->build_id.length != 40 || !hex_only(m->build_id))) {
		char shown[TEXT_QUOTE_SIZE];
		finding_report(w->findings, UFTRACE_RULE_map_buildid_format, s, offset, raw,
			       "build id '%s' is not 40 hexadecimal digits",
			       text_quote(shown, m->build_id.text, m->build_id.length));
	}
}

static void report_long(struct uftrace_walk *w, struct source *s, struct uftrace_edits *edits, enum line_state state,
			uint64_t offset, size_t raw, size_t length, size_t id_at)
{
	finding_report(w->findings, UFTRACE_RULE_map_field_too_long, s, offset, raw,
		       state == LINE_LONG_ID ? "the build id is longer than the 40 digits that readers have room for"
					     : "the protection or the path is longer than what readers have room for");
	if (state == LINE_LONG_ID)
		uftrace_edit_lose(w, edits, offset + id_at, length - id_at, UFTRACE_RULE_map_field_too_long,
				  "a build id that cannot be one");
	else
		uftrace_edit_lose(w, edits, offset, raw, UFTRACE_RULE_map_field_too_long, "a line that crashes readers");
}

static void add_stack(struct uftrace_walk *w, struct source *s, struct uftrace_map *map, struct uftrace_edits *edits)
{
	static const char line64[] = "\n7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n";
	static const char line32[] = "\nbffdf000-bffff000 rw-p 00000000 00:00 0                                  [stack]\n";
	const char *line = w->head.class == UFTRACE_32 ? line32 : line64;
	bool ended = !map->size || map->text[map->size - 1] == '\n';

	finding_report(w->findings, UFTRACE_RULE_map_no_stack, s, map->size, 0,
		       "no line for [stack]: readers take every address "
		       "for one of the kernel and resolve no name");
	uftrace_edit_add(w, edits, map->size, 0, line + ended, strlen(line) - ended, UFTRACE_RULE_map_no_stack,
			 "a stack at its usual place");
	if (w->plan) /* every writer puts it last: the map was cut, and what else was? */
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
}

static void check_order(struct uftrace_walk *w, struct source *s, struct uftrace_map *map)
{
	bool unsorted = false;

	for (size_t i = 1; i < map->count && !unsorted; i++)
		unsorted = map->list[i].start < map->list[i - 1].start;
	if (unsorted) {
		finding_report(w->findings, UFTRACE_RULE_map_unsorted, s, 0, 0, "mappings are not in ascending order");
		qsort(map->list, map->count, sizeof(*map->list), mapping_compare);
	}
	for (size_t i = 1; i < map->count; i++) {
		const struct uftrace_mapping *a = &map->list[i - 1], *b = &map->list[i];
		if (b->start >= a->end || uftrace_str_equal(a->path, b->path) || b->path.text[0] == '[' || a->path.text[0] == '[')
			continue;
		finding_report(w->findings, UFTRACE_RULE_map_overlap, s, (uint64_t)(b->path.text - map->text), b->path.length,
			       "the mapping at %llx begins before the one in front of it ends (%llx)", (unsigned long long)b->start,
			       (unsigned long long)a->end);
		break;
	}
}

static bool map_parse(struct uftrace_walk *w, struct uftrace_map *map, struct uftrace_edits *edits)
{
	struct source *s = w->files[map->file].source;
	size_t at = 0;
	uint64_t line_number = 0;

	while (at < map->size) {
		const char *text = map->text + at;
		const char *end = memchr(text, '\n', map->size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : map->size - at, length = end ? raw - 1 : raw;
		size_t seen = strnlen(text, length); /* a line ends at a NUL, for readers */
		struct map_line line = { .m = { .module = UFTRACE_NONE } };
		enum line_state state = line_parse(text, seen, &line);
		line_number++;
		if (seen < length && state != LINE_BAD) {
			struct finding *fd = finding_report(w->findings, UFTRACE_RULE_map_line_malformed, s, at + seen,
							    length - seen, "readers do not see what is behind this NUL byte");
			finding_path(fd, "line %llu", (unsigned long long)line_number);
		}
		map->unreadable |= state == LINE_BAD && length;
		if (state == LINE_BAD) {
			struct finding *fd = finding_new(w->findings, UFTRACE_RULE_map_line_malformed, s, at, raw);
			char shown[TEXT_QUOTE_SIZE];
			finding_say(fd, "'%s' is not a mapping; readers skip it", text_quote(shown, text, length));
			finding_path(fd, "line %llu", (unsigned long long)line_number);
		} else if (state == LINE_LONG || state == LINE_LONG_ID) {
			report_long(w, s, edits, state, at, raw, length, line.id_at);
			line.m.build_id = (struct uftrace_str){ NULL, 0 };
		}
		if (state == LINE_GOOD || state == LINE_LONG_ID) {
			check_mapping(w, s, &line.m, at, raw);
			map->stack |= is_stack(line.m.path);
			map->build_ids |= line.m.build_id.text != NULL;
			if (!add_mapping(w, map, &line.m))
				return false;
		}
		at += raw;
	}
	if (!map->stack)
		add_stack(w, s, map, edits);
	check_order(w, s, map);
	return true;
}

uint32_t uftrace_map_load(struct uftrace_walk *w, uint32_t file, const char *output)
{
	struct uftrace_map *list = uftrace_grow(w, w->maps, &w->map_capacity, w->map_count, sizeof(*list));
	struct uftrace_edits edits = { 0 };

	if (!list)
		return UFTRACE_NONE;
	w->maps = list;
	struct uftrace_map *map = &list[w->map_count++];
	*map = (struct uftrace_map){ .file = file };
	if (!uftrace_slurp(w, w->files[file].source, &map->text, &map->size))
		return UFTRACE_NONE;
	bool good = map_parse(w, map, &edits);
	if (good)
		uftrace_edits_apply(w, &edits, &w->files[file], output);
	uftrace_edits_free(&edits);
	return good && w->status == TM_OK ? (uint32_t)(w->map_count - 1) : UFTRACE_NONE;
}

/* Without a header the word size is that of the addresses: more than eight digits are 64 bit. */
static bool infer_class(struct uftrace_walk *w)
{
	bool wide = false, any = false;

	for (size_t i = 0; i < w->file_count && !wide; i++) {
		char *text = NULL;
		size_t size = 0, run = 0;
		if (w->files[i].kind != UFTRACE_FILE_MAP)
			continue;
		if (!uftrace_slurp(w, w->files[i].source, &text, &size))
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
		w->head.class = UFTRACE_32;
	return true;
}

bool uftrace_map_walk(struct uftrace_walk *w)
{
	uint64_t bytes = 0;

	if (!w->head.present && !infer_class(w))
		return false;
	for (size_t i = 0; i < w->file_count; i++) {
		struct uftrace_file *f = &w->files[i];
		if (f->kind != UFTRACE_FILE_MAP)
			continue;
		bytes += f->source->size;
		if (bytes > UFTRACE_TEXT_BYTES_MAX)
			return uftrace_walk_limit(w, "bytes of maps", UFTRACE_TEXT_BYTES_MAX);
		if (uftrace_map_load(w, (uint32_t)i, f->source->name) == UFTRACE_NONE)
			return false;
	}
	w->map_sorted = w->map_count;
	return true;
}

uint32_t uftrace_map_of(struct uftrace_walk *w, struct uftrace_str sid)
{
	char name[UFTRACE_SID_LENGTH + 16];

	if (sid.length > UFTRACE_SID_LENGTH)
		return UFTRACE_NONE;
	int n = snprintf(name, sizeof(name), "sid-%.*s.map", (int)sid.length, sid.text);
	uint32_t file = uftrace_dir_find(w, name, (size_t)n);
	size_t low = 0, high = file == UFTRACE_NONE ? 0 : w->map_sorted;
	while (low < high) { /* maps are loaded in the order of their files */
		size_t middle = low + (high - low) / 2;
		if (w->maps[middle].file == file)
			return (uint32_t)middle;
		if (w->maps[middle].file < file)
			low = middle + 1;
		else
			high = middle;
	}
	return UFTRACE_NONE;
}

struct uftrace_mapping *uftrace_map_find(const struct uftrace_map *map, uint64_t address)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (map->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= map->list[low - 1].end)
		return NULL;
	return &map->list[low - 1];
}

static bool ignored_module(struct uftrace_str path)
{
	struct uftrace_str base = uftrace_basename(path);
	return !base.length || path.text[0] == '[' || (base.length >= 9 && !memcmp(base.text, "libmcount", 9)) ||
	       (base.length >= 9 && !memcmp(base.text, "libstdc++", 9));
}

/* What the maps promise of the other files; after the records, which tell what is used. */
bool uftrace_map_check(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->map_count; i++) {
		struct uftrace_map *map = &w->maps[i];
		struct source *s = w->files[map->file].source;
		if (!map->referenced) {
			if (w->files[map->file].kind == UFTRACE_FILE_MAP)
				finding_report(w->findings, UFTRACE_RULE_map_orphan, s, 0, 0,
					       "no session of task.txt names this map");
			continue;
		}
		if (!map->build_ids && w->version_number >= 1000 && map->count > 1 && !w->foreign)
			finding_report(w->findings, UFTRACE_RULE_map_buildid_missing, s, 0, 0,
				       "no mapping has a build id, which "
				       "recorders of this version add at the end");
		for (size_t k = 0; k < map->count; k++) {
			struct uftrace_mapping *m = &map->list[k];
			if (!m->used || m->module != UFTRACE_NONE || ignored_module(m->path) || w->foreign)
				continue;
			if (w->recorder_died) {
				finding_explains(w->recorder_died, 1);
				continue;
			}
			char shown[TEXT_QUOTE_SIZE];
			finding_report(w->findings, UFTRACE_RULE_sym_missing, s, (uint64_t)(m->path.text - map->text),
				       m->path.length, "records have addresses in %s, and there is no symbol file for it",
				       text_quote(shown, m->path.text, m->path.length));
		}
	}
	return true;
}
