/* NAME.sym: the symbols of a program or library, and which mapping they belong to. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

struct sym_line {
	uint64_t address, size;
	bool sized;
	char type;
	struct uftrace_str name;
	uint64_t offset;
	size_t raw;
};

struct sym_walk {
	struct uftrace_walk *w;
	struct uftrace_module *m;
	struct source *s;
	struct uftrace_file *file;
	const char *text;
	size_t size, capacity;
	uint64_t said; /* of the head */
	uint64_t said_offset;
	size_t said_raw;
	unsigned said_lines;  /* how many heads */
	uint64_t lines, real; /* data lines; those that are symbols */
	uint64_t malformed, unknown, unsized, sized, cr;
	bool unsorted, overlap;
	uint64_t previous;
	bool ended;		/* the last data line was an end mark */
	struct sym_line *order; /* kept when plan: to sort */
	struct uftrace_edits edits;
	uint64_t first_data, sentinel_address;
	bool first_sentinel;
};

static bool data_line(const char *text, size_t length, struct sym_line *out)
{
	size_t n = 0;

	while (n < length && text[n] && strchr("0123456789abcdefABCDEF", text[n]))
		n++;
	if (!n || n > 16 || n + 3 >= length || text[n] != ' ' || !text_parse_hex(text, n, &out->address))
		return false;
	size_t at = n + 1;
	out->sized = text[at] >= '0' && text[at] <= '9'; /* as the loader decides */
	out->size = 0;
	if (out->sized) {
		size_t k = 0;
		while (at + k < length && text[at + k] && strchr("0123456789abcdefABCDEF", text[at + k]))
			k++;
		if (k > 16 || at + k >= length || text[at + k] != ' ' || !text_parse_hex(text + at, k, &out->size))
			return false;
		at += k + 1;
	}
	if (at + 2 >= length || text[at + 1] != ' ')
		return false;
	out->type = text[at];
	out->name = (struct uftrace_str){ text + at + 2, length - at - 2 };
	const char *tab = memchr(out->name.text, '\t', out->name.length);
	if (tab)
		out->name.length = (size_t)(tab - out->name.text);
	return true;
}

static void comment(struct sym_walk *y, const char *text, size_t length, uint64_t offset, size_t raw)
{
	struct uftrace_walk *w = y->w;

	if (length > 11 && !memcmp(text, "# symbols: ", 11)) {
		uint64_t count = 0;
		bool number = text_parse_u64(text + 11, length - 11, &count);
		if (y->said_lines++) {
			finding_report(w->findings, UFTRACE_RULE_sym_count_dangerous, y->s, offset, raw,
				       "a second '# symbols' line: readers shrink their table under the symbols in it, and crash");
			uftrace_edit_add(w, &y->edits, offset, raw, NULL, 0, UFTRACE_RULE_sym_count_dangerous, "a second head");
			return;
		}
		y->said = number ? count : UINT64_MAX;
		y->said_offset = offset;
		y->said_raw = raw;
	} else if (length > 13 && !memcmp(text, "# path name: ", 13)) {
		y->m->path = (struct uftrace_str){ text + 13, length - 13 };
		y->m->headed = true;
	} else if (length > 12 && !memcmp(text, "# build-id: ", 12)) {
		y->m->build_id = (struct uftrace_str){ text + 12, length - 12 };
	}
}

static bool keep_symbol(struct sym_walk *y, const struct sym_line *line)
{
	struct uftrace_walk *w = y->w;
	struct uftrace_module *m = y->m;

	if (w->symbol_count >= UFTRACE_SYMBOLS_MAX)
		return uftrace_walk_limit(w, "symbols", UFTRACE_SYMBOLS_MAX);
	struct uftrace_symbol *list = uftrace_grow(w, m->symbols, &y->capacity, m->count, sizeof(*list));
	if (!list)
		return false;
	m->symbols = list;
	size_t length = line->name.length < (1u << 24) ? line->name.length : (1u << 24) - 1;
	uint64_t end = line->sized ? line->address + line->size : UINT64_MAX;
	list[m->count++] = (struct uftrace_symbol){ .address = line->address,
						    .end = end < line->address ? UINT64_MAX : end,
						    .name = (uint32_t)(line->name.text - y->text),
						    .length = (unsigned)length & 0xffffffu,
						    .type = (uint8_t)line->type };
	w->symbol_count++;
	return true;
}

static bool walk_data(struct sym_walk *y, const struct sym_line *line, uint64_t line_number)
{
	struct uftrace_walk *w = y->w;
	struct finding *fd;
	bool sentinel = line->type == '?';

	if (!strchr(UFTRACE_SYM_TYPES, line->type) || !line->type) {
		if (!y->unknown++) {
			fd = finding_report(w->findings, UFTRACE_RULE_sym_type_unknown, y->s, line->offset, line->raw,
					    "type '%c' is none of " UFTRACE_SYM_TYPES "; readers skip the symbol", line->type);
			finding_path(fd, "line %llu", (unsigned long long)line_number);
		}
		return true;
	}
	if (!y->lines) {
		y->first_sentinel = sentinel;
		y->sentinel_address = line->address;
		y->first_data = line->offset;
	} else if (y->lines == 1 && y->first_sentinel && sentinel && line->address == y->sentinel_address) {
		fd = finding_report(w->findings, UFTRACE_RULE_sym_leading_sentinels, y->s, y->first_data,
				    line->offset + line->raw - y->first_data,
				    "the first two symbols are end marks of one address: readers step in front of their table");
		uftrace_edit_add(w, &y->edits, line->offset, line->raw, NULL, 0, UFTRACE_RULE_sym_leading_sentinels,
				 "an end mark with nothing in front of it");
		y->lines--; /* further ones are as bad */
	}
	y->lines++;
	y->real += !sentinel;
	y->ended = sentinel;
	if (line->sized)
		y->sized++;
	else if (!sentinel)
		y->unsized++;
	if (line->address < y->previous && !y->unsorted) {
		y->unsorted = true;
		bool old = !y->sized;
		fd = old ? finding_new(w->findings, UFTRACE_RULE_sym_unsorted, y->s, line->offset, line->raw)
			 : finding_milder(w->findings, UFTRACE_RULE_sym_unsorted, TM_NOTE, y->s, line->offset, line->raw);
		finding_say(fd, "address %llx comes after %llx", (unsigned long long)line->address,
			    (unsigned long long)y->previous);
		finding_path(fd, "line %llu", (unsigned long long)line_number);
	}
	y->previous = line->address;
	if (line->name.length > UFTRACE_SYM_NAME_ADVISED) {
		fd = finding_report(w->findings, UFTRACE_RULE_sym_name_too_long, y->s, line->offset, line->raw,
				    "the name has %zu bytes", line->name.length);
		finding_path(fd, "line %llu", (unsigned long long)line_number);
	}
	return keep_symbol(y, line);
}

static bool walk_lines(struct sym_walk *y)
{
	uint64_t line_number = 0;

	for (size_t at = 0; at < y->size;) {
		const char *text = y->text + at;
		const char *end = memchr(text, '\n', y->size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : y->size - at, length = end ? raw - 1 : raw;
		struct sym_line line = { .offset = at, .raw = raw };
		line_number++;
		if (length && text[length - 1] == '\r') {
			if (!y->cr++)
				finding_report(y->w->findings, UFTRACE_RULE_sym_crlf, y->s, at, raw,
					       "lines end in CR LF: the CR "
					       "becomes a part of each name");
			length--;
			uftrace_edit_add(y->w, &y->edits, at + length, 1, NULL, 0, UFTRACE_RULE_sym_crlf, "a CR");
		}
		if (length && text[0] == '#')
			comment(y, text, length, at, raw);
		else if (data_line(text, length, &line)) {
			if (!walk_data(y, &line, line_number))
				return false;
		} else if (!y->malformed++) {
			char shown[TEXT_QUOTE_SIZE];
			struct finding *fd = finding_report(y->w->findings, UFTRACE_RULE_sym_line_malformed, y->s, at, raw,
							    "'%s' is not a symbol; readers skip it",
							    text_quote(shown, text, length));
			finding_path(fd, "line %llu", (unsigned long long)line_number);
		}
		at += raw;
	}
	return true;
}

static int order_compare(const void *a, const void *b)
{
	const struct sym_line *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The lines of the old form in ascending order: comments first, as they are. Other edits of the file wait for the next
 * repair... which is not allowed to find any: so CRs and heads are dealt with here too. */
static bool plan_sorted(struct sym_walk *y, const char *output)
{
	struct uftrace_walk *w = y->w;
	struct sym_line *list = NULL;
	size_t count = 0, capacity = 0, heads = 0;
	unsigned out = plan_output(w->plan, output);

	for (size_t at = 0; at < y->size;) {
		const char *text = y->text + at;
		const char *end = memchr(text, '\n', y->size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : y->size - at, length = end ? raw - 1 : raw;
		struct sym_line line = { .offset = at, .raw = raw };
		if (length && text[length - 1] == '\r')
			length--;
		bool data = data_line(text, length, &line) && text[0] != '#';
		struct sym_line *grown = uftrace_grow(w, list, &capacity, count, sizeof(*list));
		if (!grown) {
			free(list);
			return false;
		}
		list = grown;
		line.offset = at;
		line.raw = raw;
		line.address = data ? line.address : 0;
		list[count++] = line;
		heads += !data && count == heads + 1;
		at += raw;
	}
	/* Lines that are no symbols stay at the front, in their order: address 0 and the lowest offsets come first. */
	if (count > heads)
		qsort(list + heads, count - heads, sizeof(*list), order_compare);
	bool second = false;
	uint64_t marks = 0, mark_address = 0, data_lines = 0;
	for (size_t i = 0; i < count; i++) {
		const char *text = y->text + list[i].offset;
		size_t raw = list[i].raw;
		bool lf = raw && text[raw - 1] == '\n', cr = raw > 1 && lf && text[raw - 2] == '\r';
		struct sym_line parsed = { 0 };
		bool data = text[0] != '#' && data_line(text, raw - lf - cr, &parsed);
		bool mark = data && parsed.type == '?';
		if (raw > 11 && !memcmp(text, "# symbols: ", 11)) {
			if (second) {
				plan_drop(w->plan, y->s, list[i].offset, raw, UFTRACE_RULE_sym_count_dangerous, "a second head");
				continue;
			}
			second = true;
		}
		if (mark && marks == data_lines && (!marks || mark_address == parsed.address) && marks) {
			plan_drop(w->plan, y->s, list[i].offset, raw, UFTRACE_RULE_sym_leading_sentinels, "an end mark too many");
			continue;
		}
		if (data && marks == data_lines && mark) {
			marks++;
			mark_address = parsed.address;
		}
		data_lines += data;
		plan_copy(w->plan, out, y->s, list[i].offset, raw - lf - cr);
		if (cr)
			plan_drop(w->plan, y->s, list[i].offset + raw - 2, 1, UFTRACE_RULE_sym_crlf, "a CR");
		if (lf)
			plan_copy(w->plan, out, y->s, list[i].offset + raw - 1, 1);
		else if (i + 1 < count)
			plan_literal(w->plan, out, "\n", 1, UFTRACE_RULE_sym_unsorted, "the end of a line that was the last");
	}
	free(list);
	y->file->planned = true;
	return true;
}

static int symbol_compare(const void *a, const void *b)
{
	const struct uftrace_symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void close_symbols(struct sym_walk *y)
{
	struct uftrace_module *m = y->m;

	m->sized = y->sized > 0;
	if (m->count)
		qsort(m->symbols, m->count, sizeof(*m->symbols), symbol_compare);
	for (size_t i = 0; i < m->count; i++) {
		struct uftrace_symbol *symbol = &m->symbols[i];
		if (symbol->end == UINT64_MAX && i + 1 < m->count)
			symbol->end = m->symbols[i + 1].address;
		else if (i + 1 < m->count && symbol->end > m->symbols[i + 1].address && !y->overlap &&
			 m->symbols[i + 1].address > symbol->address && m->symbols[i + 1].type == symbol->type) {
			y->overlap = true;
			finding_report(y->w->findings, UFTRACE_RULE_sym_overlap, y->s, symbol->name, symbol->length,
				       "the symbol at %llx reaches beyond the next one", (unsigned long long)symbol->address);
		}
	}
}

static void check_head(struct sym_walk *y)
{
	struct uftrace_walk *w = y->w;
	struct finding *fd;

	if (y->said_lines && y->said != y->real) {
		uint64_t most = (y->lines + y->malformed + 1) * 4;
		bool dangerous = y->said > most;
		fd = finding_new(w->findings, dangerous ? UFTRACE_RULE_sym_count_dangerous : UFTRACE_RULE_sym_count_mismatch, y->s,
				 y->said_offset, y->said_raw);
		if (y->said == UINT64_MAX)
			finding_say(fd, "the number of symbols is not a number; there are %llu", (unsigned long long)y->real);
		else
			finding_say(fd, "the head says %llu symbols; there are %llu", (unsigned long long)y->said,
				    (unsigned long long)y->real);
		if (dangerous) {
			char text[48];
			int n = snprintf(text, sizeof(text), "# symbols: %llu\n", (unsigned long long)y->real);
			uftrace_edit_add(w, &y->edits, y->said_offset, y->said_raw, text, (size_t)n,
					 UFTRACE_RULE_sym_count_dangerous, "the number of symbols that are there");
		}
	}
	if (y->sized && y->unsized)
		finding_report(w->findings, UFTRACE_RULE_sym_mixed_format, y->s, 0, 0, "%llu symbols with a size, %llu without",
			       (unsigned long long)y->sized, (unsigned long long)y->unsized);
	if (y->real && !y->sized && !y->ended && !w->foreign)
		finding_report(w->findings, UFTRACE_RULE_sym_missing_sentinel, y->s, y->size, 0,
			       "the file does not end with an end "
			       "mark (type '?'), so the last symbol has no size");
}

/* The output name of a symbol file: that under which readers look for it. */
static void right_name(struct uftrace_walk *w, struct sym_walk *y, char *out, size_t size);

static bool walk_file(struct uftrace_walk *w, struct sym_walk *y, uint32_t index)
{
	struct uftrace_file *file = &w->files[index];
	char output[512];
	size_t size = 0;

	if (file->source->size > UFTRACE_SYMBOL_BYTES_MAX - w->symbol_bytes)
		return uftrace_walk_limit(w, "bytes of symbol files", UFTRACE_SYMBOL_BYTES_MAX);
	y->file = file;
	y->s = file->source;
	y->m->file = index;
	if (!uftrace_slurp(w, y->s, &y->m->names, &size))
		return false;
	w->symbol_bytes += size;
	y->text = y->m->names;
	y->size = size;
	if (!walk_lines(y))
		return false;
	check_head(y);
	close_symbols(y);
	right_name(w, y, output, sizeof(output));
	if (!w->plan)
		return true;
	if (y->unsorted && !y->sized)
		return plan_sorted(y, output);
	uftrace_edits_apply(w, &y->edits, file, output);
	return w->status == TM_OK;
}

bool uftrace_sym_walk(struct uftrace_walk *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->file_count; i++)
		count += w->files[i].kind == UFTRACE_FILE_SYM;
	w->modules = calloc(count + 1, sizeof(*w->modules));
	if (!w->modules)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->file_count; i++) {
		if (w->files[i].kind != UFTRACE_FILE_SYM)
			continue;
		struct sym_walk y = { .w = w, .m = &w->modules[w->module_count++] };
		bool good = walk_file(w, &y, (uint32_t)i);
		uftrace_edits_free(&y.edits);
		if (!good)
			return false;
	}
	return true;
}

/* ---- which mapping a symbol file belongs to ---- */

static uint32_t module_of_name(const struct uftrace_walk *w, struct uftrace_str base, const char *suffix)
{
	char name[512];
	size_t low = 0, high = w->module_count;

	if (base.length + strlen(suffix) + 5 > sizeof(name))
		return UFTRACE_NONE;
	int n = snprintf(name, sizeof(name), "%.*s%s.sym", (int)base.length, base.text, suffix);
	uint32_t file = uftrace_dir_find(w, name, (size_t)n);
	while (file != UFTRACE_NONE && low < high) {
		size_t middle = low + (high - low) / 2;
		if (w->modules[middle].file == file)
			return (uint32_t)middle;
		if (w->modules[middle].file < file)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; file == UFTRACE_NONE && i < w->renamed_count; i++)
		if (!strcmp(w->renamed[i].name, name))
			return w->renamed[i].module;
	return UFTRACE_NONE;
}

static void path_suffix(struct uftrace_str path, struct uftrace_str build_id, char out[6])
{
	if (build_id.length >= 4) {
		snprintf(out, 6, "-%.4s", build_id.text);
		return;
	}
	unsigned sum = 0;
	for (size_t i = 0; i < path.length; i++)
		sum += (uint8_t)path.text[i];
	snprintf(out, 6, "-%04x", sum & 0xffff);
}

static bool identity_fits(const struct uftrace_module *m, struct uftrace_str path, struct uftrace_str build_id)
{
	if (!m->headed)
		return true;
	if (!uftrace_str_equal(m->path, path))
		return false;
	return !m->build_id.length || !build_id.length || uftrace_str_equal(m->build_id, build_id);
}

static uint32_t find_module(struct uftrace_walk *w, struct uftrace_str path, struct uftrace_str build_id)
{
	struct uftrace_str base = uftrace_basename(path);
	char suffix[6];
	uint32_t found = module_of_name(w, base, "");

	if (found != UFTRACE_NONE && identity_fits(&w->modules[found], path, build_id))
		return found;
	path_suffix(path, build_id, suffix);
	uint32_t second = module_of_name(w, base, suffix);
	if (second != UFTRACE_NONE && identity_fits(&w->modules[second], path, build_id))
		return second;
	return UFTRACE_NONE;
}

/* Looks for the mapping or library whose path and build id the head names. */
static bool find_identity(const struct uftrace_walk *w, const struct uftrace_module *m, struct uftrace_str *build_id)
{
	for (size_t i = 0; i < w->map_count; i++)
		for (size_t k = 0; k < w->maps[i].count; k++) {
			const struct uftrace_mapping *map = &w->maps[i].list[k];
			if (identity_fits(m, map->path, map->build_id)) {
				*build_id = map->build_id;
				return true;
			}
		}
	for (size_t i = 0; i < w->library_count; i++)
		if (uftrace_str_equal(w->libraries[i].name, m->path)) {
			*build_id = m->build_id;
			return true;
		}
	return false;
}

/* Renaming is for a file that matches something mapped, and is under neither of the two names that are looked at. */
static void right_name(struct uftrace_walk *w, struct sym_walk *y, char *out, size_t size)
{
	const char *own = y->s->name;
	struct uftrace_str build_id = { 0 };
	char suffix[6], wanted[512];

	snprintf(out, size, "%s", own);
	if (!y->m->headed || w->foreign || strlen(own) >= sizeof(wanted) || !y->m->path.length)
		return;
	struct uftrace_str base = uftrace_basename(y->m->path);
	if (!base.length || base.length + 16 > sizeof(wanted) || memchr(base.text, '\0', base.length))
		return;
	if (!find_identity(w, y->m, &build_id)) {
		char shown[TEXT_QUOTE_SIZE];
		finding_report(w->findings, UFTRACE_RULE_sym_mismatched_identity, y->s, 0, 0,
			       "no map and no loaded library has "
			       "'%s' with this build id",
			       text_quote(shown, y->m->path.text, y->m->path.length));
		return;
	}
	path_suffix(y->m->path, build_id, suffix);
	int n = snprintf(wanted, sizeof(wanted), "%.*s.sym", (int)base.length, base.text);
	if (!strcmp(own, wanted))
		return;
	uint32_t plain = uftrace_dir_find(w, wanted, (size_t)n);
	char second[512];
	int k = snprintf(second, sizeof(second), "%.*s%s.sym", (int)base.length, base.text, suffix);
	if (!strcmp(own, second))
		return;
	uint32_t other = uftrace_dir_find(w, second, (size_t)k);
	const char *target = plain == UFTRACE_NONE ? wanted : other == UFTRACE_NONE ? second : NULL;
	bool taken = !target;
	/* Two files must not get one name: the first in order takes it. */
	for (size_t i = 0; target && i < w->renamed_count; i++)
		taken |= !strcmp(w->renamed[i].name, target);
	if (w->renamed_count >= sizeof(w->renamed) / sizeof(w->renamed[0]))
		taken = true;
	struct finding *fd = taken ? finding_milder(w->findings, UFTRACE_RULE_sym_wrong_suffix, TM_WARNING, y->s, 0, 0)
				   : finding_new(w->findings, UFTRACE_RULE_sym_wrong_suffix, y->s, 0, 0);
	char shown[TEXT_QUOTE_SIZE], shown_wanted[TEXT_QUOTE_SIZE];
	finding_say(fd, "readers look for the symbols of '%s' in '%s'", text_quote(shown, y->m->path.text, y->m->path.length),
		    text_quote(shown_wanted, target ? target : second, strlen(target ? target : second)));
	if (taken)
		return;
	snprintf(out, size, "%s", target);
	snprintf(w->renamed[w->renamed_count].name, sizeof(w->renamed[0].name), "%s", target);
	w->renamed[w->renamed_count++].module = (uint32_t)(y->m - w->modules);
}

uint32_t uftrace_sym_find(const struct uftrace_module *m, uint64_t relative)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->symbols[middle].address <= relative)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of symbols at one address the first that is a function. */
	for (unsigned back = 0; low > 0 && back < 16; low--, back++) {
		const struct uftrace_symbol *symbol = &m->symbols[low - 1];
		if (symbol->type == '?' || symbol->type == 'D' || symbol->type == 'd' || symbol->type == 'v' || symbol->type == 'u')
			continue;
		uint64_t end = symbol->end;
		if (!m->sized) /* several of one address: the end is that of the last */
			for (size_t k = low; k < m->count && end == symbol->address && k < low + 16; k++)
				end = m->symbols[k].end;
		return relative < end ? (uint32_t)(low - 1) : UFTRACE_NONE;
	}
	return UFTRACE_NONE;
}

bool uftrace_sym_link(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->map_count; i++)
		for (size_t k = 0; k < w->maps[i].count; k++) {
			struct uftrace_mapping *m = &w->maps[i].list[k];
			if (m->path.text[0] == '[')
				continue;
			m->module = find_module(w, m->path, m->build_id);
			if (m->module == UFTRACE_NONE)
				continue;
			struct uftrace_module *module = &w->modules[m->module];
			if (module->matched || !module->count || !w->maps[i].referenced)
				continue;
			module->matched = true;
			/* Data reach beyond the file's mapping; functions do not. */
			size_t n = module->count;
			while (n > 1 && !strchr("TtwP", module->symbols[n - 1].type))
				n--;
			const struct uftrace_symbol *last = &module->symbols[n - 1];
			if (!strchr("TtwP", last->type))
				continue;
			uint64_t room = m->end > m->start ? m->end - m->start : 0;
			if (last->address > room || (module->sized && last->end != UINT64_MAX && last->end > room))
				finding_report(w->findings, UFTRACE_RULE_sym_outside_map, w->files[module->file].source, last->name,
					       last->length, "address %llx is beyond the %llx bytes of the mapping",
					       (unsigned long long)last->address, (unsigned long long)room);
		}
	for (size_t i = 0; i < w->library_count; i++) {
		struct uftrace_str none = { 0 };
		w->libraries[i].module = find_module(w, w->libraries[i].name, none);
	}
	return true;
}
