/* NAME.sym: the symbols of a program or library, and which mapping they belong to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_sym_line.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_sym.h"

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
	bool ended;			/* the last data line was an end mark */
	struct uftrace_sym_line *order; /* kept when plan: to sort */
	struct edits edits;
	uint64_t first_data, sentinel_address;
	bool first_sentinel;
};

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

static bool keep_symbol(struct sym_walk *y, const struct uftrace_sym_line *line)
{
	struct uftrace_walk *w = y->w;
	struct uftrace_module *m = y->m;

	if (w->symbols->count >= UFTRACE_SYMBOLS_MAX)
		return uftrace_walk_limit(w, "symbols", UFTRACE_SYMBOLS_MAX);
	if (!uftrace_walk_room(w, &m->symbols, &y->capacity, m->count, sizeof(*m->symbols)))
		return false;
	struct uftrace_symbol *list = m->symbols;
	size_t length = line->name.length < (1u << 24) ? line->name.length : (1u << 24) - 1;
	uint64_t end = line->sized ? line->address + line->size : UINT64_MAX;
	list[m->count++] = (struct uftrace_symbol){ .address = line->address,
						    .end = end < line->address ? UINT64_MAX : end,
						    .name = (uint32_t)(line->name.text - y->text),
						    .length = (unsigned)length & 0xffffffu,
						    .type = (uint8_t)line->type };
	w->symbols->count++;
	return true;
}

static bool walk_data(struct sym_walk *y, const struct uftrace_sym_line *line, uint64_t line_number)
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
		struct uftrace_sym_line line = { .offset = at, .raw = raw };
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
		else if (uftrace_sym_line_read(text, length, &line)) {
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
	if (y->real && !y->sized && !y->ended && !w->info->foreign)
		finding_report(w->findings, UFTRACE_RULE_sym_missing_sentinel, y->s, y->size, 0,
			       "the file does not end with an end "
			       "mark (type '?'), so the last symbol has no size");
}

static bool walk_file(struct uftrace_walk *w, struct sym_walk *y, uint32_t index)
{
	struct uftrace_file *file = &w->dir->files[index];
	char output[512];
	size_t size = 0;

	if (file->source->size > UFTRACE_SYMBOL_BYTES_MAX - w->symbols->bytes)
		return uftrace_walk_limit(w, "bytes of symbol files", UFTRACE_SYMBOL_BYTES_MAX);
	y->file = file;
	y->s = file->source;
	y->m->file = index;
	if (!uftrace_walk_slurp(w, y->s, &y->m->names, &size))
		return false;
	w->symbols->bytes += size;
	y->text = y->m->names;
	y->size = size;
	if (!walk_lines(y))
		return false;
	check_head(y);
	close_symbols(y);
	uftrace_sym_name(w, y->m, output, sizeof(output));
	if (!w->plan)
		return true;
	if (y->unsorted && !y->sized)
		return uftrace_repair_symbols(w, file, y->text, y->size, output);
	uftrace_edit_apply(w, &y->edits, file, output);
	return w->status == TM_OK;
}

bool uftrace_sym_walk(struct uftrace_walk *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->dir->count; i++)
		count += w->dir->files[i].kind == UFTRACE_FILE_SYM;
	w->symbols->modules = calloc(count + 1, sizeof(*w->symbols->modules));
	if (!w->symbols->modules)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->dir->count; i++) {
		if (w->dir->files[i].kind != UFTRACE_FILE_SYM)
			continue;
		struct sym_walk y = { .w = w, .m = &w->symbols->modules[w->symbols->module_count++] };
		bool good = walk_file(w, &y, (uint32_t)i);
		edits_free(&y.edits);
		if (!good)
			return false;
	}
	return true;
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

void uftrace_sym_free(struct uftrace_symbols *symbols)
{
	for (size_t i = 0; i < symbols->module_count; i++) {
		free(symbols->modules[i].names);
		free(symbols->modules[i].symbols);
		free(symbols->modules[i].specs);
	}
	for (size_t i = 0; i < symbols->dbg_count; i++) {
		free(symbols->dbgs[i].text);
		free(symbols->dbgs[i].list);
	}
	free(symbols->modules);
	free(symbols->dbgs);
}
