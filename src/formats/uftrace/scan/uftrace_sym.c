/* NAME.sym: the symbols of a program or library, and which mapping they belong to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_sym_line.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_sym.h"

#define PAGE 4096u
#define PATH_LINE_MAX 4096u

struct sym_walk {
	struct uftrace_walk *w;
	struct uftrace_module *m;
	struct source *source;
	struct uftrace_file *file;
	const char *text;
	size_t size, capacity;
	uint64_t claimed; /* of the head */
	uint64_t count_offset;
	size_t count_raw;
	uint64_t id_offset;   /* of the line that has the build id, or had one */
	size_t id_raw;	      /* 0: there is none */
	uint64_t path_offset; /* of the line that has the path, or had one */
	size_t path_raw;      /* 0: there is none */
	unsigned count_lines; /* how many heads */
	uint64_t lines, real; /* data lines; those that are symbols */
	size_t digits;	      /* the most that an address has: writers fill it up with zeros */
	uint64_t malformed, unknown, unsized, sized, cr;
	uint64_t doubtful; /* lines that were hit: each may have been two */
	uint64_t repeated; /* symbols that are there twice */
	uint64_t doubted;  /* behind the line that was hit last */
	uint64_t before;   /* the data line before */
	size_t before_raw; /* 0: there is none */
	bool overlap;
	uint64_t previous, last_end; /* last_end: where the last symbol ends without an end marker */
	struct {
		uint64_t number, offset, address, previous; /* number 0: there is none */
		size_t raw;
	} unsorted;			/* the first line that is out of order */
	bool ended;			/* the last data line was an end mark */
	struct uftrace_sym_line *order; /* kept when plan: to sort */
	struct edits edits;
	uint64_t first_data, sentinel_address;
	bool first_sentinel;
};

static bool is_build_id(const char *text, size_t length)
{
	return length > 12 && !memcmp(text, "# build-id: ", 12);
}

static void comment(struct sym_walk *sym, const char *text, size_t length, uint64_t offset, size_t raw)
{
	struct uftrace_walk *w = sym->w;

	if (length > 11 && !memcmp(text, "# symbols: ", 11)) {
		uint64_t count = 0;
		bool number = text_parse_u64(text + 11, length - 11, &count);
		if (sym->count_lines++) {
			finding_report(w->findings, UFTRACE_RULE_sym_count_dangerous, sym->source, offset, raw,
				       "a second '# symbols' line: readers shrink their table under the symbols in it, and crash");
			uftrace_edit_add(w, &sym->edits, offset, raw, NULL, 0, UFTRACE_RULE_sym_count_dangerous, "a second header");
			return;
		}
		sym->claimed = number ? count : UINT64_MAX;
		sym->count_offset = offset;
		sym->count_raw = raw;
	} else if (length > 13 && !memcmp(text, "# path name: ", 13)) {
		sym->m->path = (struct uftrace_str){ text + 13, length - 13 };
		sym->m->headed = true;
		sym->path_offset = offset;
		sym->path_raw = raw;
	} else if (is_build_id(text, length)) {
		sym->m->build_id = (struct uftrace_str){ text + 12, length - 12 };
	}
}

static bool keep_symbol(struct sym_walk *sym, const struct uftrace_sym_line *line)
{
	struct uftrace_walk *w = sym->w;
	struct uftrace_module *m = sym->m;

	if (w->symbols->count >= UFTRACE_SYMBOLS_MAX)
		return uftrace_walk_limit(w, "symbols", UFTRACE_SYMBOLS_MAX);
	if (!uftrace_walk_room(w, &m->symbols, &sym->capacity, m->count, sizeof(*m->symbols)))
		return false;
	struct uftrace_symbol *list = m->symbols;
	size_t length = line->name.length < (1u << 24) ? line->name.length : (1u << 24) - 1;
	uint64_t end = line->sized ? line->address + line->size : UINT64_MAX;
	list[m->count++] = (struct uftrace_symbol){ .address = line->address,
						    .end = end < line->address ? UINT64_MAX : end,
						    .name = (uint32_t)(line->name.text - sym->text),
						    .length = (unsigned)length & 0xffffffu,
						    .type = (uint8_t)line->type };
	w->symbols->count++;
	return true;
}

/* Of a line that was hit. */
static void doubt_line(struct sym_walk *sym, uint64_t at, size_t raw)
{
	sym->doubtful += sym->doubted != at + raw;
	sym->doubted = at + raw;
	uftrace_repair_doubt(sym->w, sym->source, at, raw);
}

/* Fewer are not the address of a symbol: writers fill it up with zeros. */
#define ADDRESS_DIGITS 8u

/* Whether a name goes on as another line does: what ended this one was hit. */
static bool holds_line(struct uftrace_str name)
{
	size_t digits = 0;

	for (size_t i = 0; i + 3 < name.length; i++) {
		if (digits >= ADDRESS_DIGITS && name.text[i] == ' ' && name.text[i + 2] == ' ' &&
		    strchr(UFTRACE_SYM_TYPES, name.text[i + 1]))
			return true;
		digits = uftrace_hex_digits(name.text + i, 1) ? digits + 1 : 0;
	}
	return false;
}

/* Whether it is a name with a blank in it that no language has: the ends of two lines, or what hit the blank in front of it. */
static bool has_odd_blank(struct uftrace_str name)
{
	static const char *const demangled[] = { "operator", "vtable ", "typeinfo ", "guard ", "VTT ", "non-virtual ", "virtual " };

	if (!memchr(name.text, ' ', name.length))
		return false;
	for (size_t i = 0; i < name.length; i++)
		if (strchr("(<[{:*&.", name.text[i]))
			return false;
	for (size_t i = 0; i < sizeof(demangled) / sizeof(demangled[0]); i++)
		if (name.length > strlen(demangled[i]) && !memcmp(name.text, demangled[i], strlen(demangled[i])))
			return false;
	return true;
}

/* A line that readers take for a symbol without a name, or with one that is no text: records of the function find no
 * specification. */
static void report_nameless(struct sym_walk *sym, const struct uftrace_sym_line *line, uint64_t line_number)
{
	doubt_line(sym, line->offset, line->raw);
	if (sym->malformed++)
		return;
	struct finding *fd = finding_report(sym->w->findings, UFTRACE_RULE_sym_line_malformed, sym->source, line->offset, line->raw,
					    "the symbol at %llx has %s", (unsigned long long)line->address,
					    line->name.length ? "a name that is not text" : "no name");
	finding_path(fd, "line %llu", (unsigned long long)line_number);
}

static bool walk_data(struct sym_walk *sym, const struct uftrace_sym_line *line, uint64_t line_number)
{
	struct uftrace_walk *w = sym->w;
	struct finding *fd;
	bool sentinel = line->type == '?';

	if (!strchr(UFTRACE_SYM_TYPES, line->type) || !line->type) {
		doubt_line(sym, line->offset, line->raw);
		if (!sym->unknown++) {
			fd = finding_report(w->findings, UFTRACE_RULE_sym_type_unknown, sym->source, line->offset, line->raw,
					    "type '%c' is none of " UFTRACE_SYM_TYPES "; readers skip the symbol", line->type);
			finding_path(fd, "line %llu", (unsigned long long)line_number);
		}
		return true;
	}
	if (!sym->lines) {
		sym->first_sentinel = sentinel;
		sym->sentinel_address = line->address;
		sym->first_data = line->offset;
	} else if (sym->lines == 1 && sym->first_sentinel && sentinel && line->address == sym->sentinel_address) {
		fd = finding_report(
			w->findings, UFTRACE_RULE_sym_leading_sentinels, sym->source, sym->first_data,
			line->offset + line->raw - sym->first_data,
			"the first two symbols are end markers of one address: readers go before the start of their table");
		uftrace_edit_add(w, &sym->edits, line->offset, line->raw, NULL, 0, UFTRACE_RULE_sym_leading_sentinels,
				 "a second end marker at the beginning");
		sym->lines--; /* further ones are as bad */
	}
	sym->lines++;
	sym->real += !sentinel;
	if (!sentinel && sym->before_raw == line->raw && !memcmp(sym->text + sym->before, sym->text + line->offset, line->raw)) {
		sym->repeated++;
		uftrace_repair_doubt(w, sym->source, line->offset, line->raw);
	}
	sym->before = line->offset;
	sym->before_raw = line->raw;
	sym->ended = sentinel;
	if (line->sized)
		sym->sized++;
	else if (!sentinel)
		sym->unsized++;
	if (line->address < sym->previous && !sym->unsorted.number) {
		sym->unsorted.number = line_number;
		sym->unsorted.offset = line->offset;
		sym->unsorted.raw = line->raw;
		sym->unsorted.address = line->address;
		sym->unsorted.previous = sym->previous;
	}
	sym->previous = line->address;
	if (!line->name.length || !uftrace_str_is_text(line->name))
		report_nameless(sym, line, line_number);
	if (holds_line(line->name) || has_odd_blank(line->name))
		doubt_line(sym, line->offset, line->raw);
	if (line->name.length > UFTRACE_SYM_NAME_ADVISED) {
		fd = finding_report(w->findings, UFTRACE_RULE_sym_name_too_long, sym->source, line->offset, line->raw,
				    "the name has %zu bytes", line->name.length);
		finding_path(fd, "line %llu", (unsigned long long)line_number);
	}
	return keep_symbol(sym, line);
}

/* A comment of text; and what is said to be a build id is one. */
static bool comment_is_sound(struct uftrace_str line)
{
	static const char key[] = "# build-id: ";
	const size_t length = sizeof(key) - 1;

	if (!uftrace_str_is_text(line))
		return false;
	if (line.length < length || memcmp(line.text, key, length) != 0)
		return true;
	struct uftrace_str id = { line.text + length, line.length - length };
	return id.length == 40 && uftrace_str_is_hex(id);
}

/* A second build id: readers do not use a file that has two. True: it goes; else the first one does, which is none. */
static bool second_id(struct sym_walk *sym, struct uftrace_str line, uint64_t at, size_t raw)
{
	const char *first = sym->text + sym->id_offset;
	bool twice = sym->id_raw == raw && !memcmp(first, line.text, raw);
	bool this = twice || comment_is_sound((struct uftrace_str){ first, sym->id_raw - 1 }) || !comment_is_sound(line);

	finding_report(sym->w->findings, UFTRACE_RULE_sym_mismatched_identity, sym->source, at, raw,
		       "a second '# build-id' line: readers do not use the file");
	if (twice)
		uftrace_edit_add(sym->w, &sym->edits, at, raw, NULL, 0, UFTRACE_RULE_sym_mismatched_identity,
				 "a line that is there twice");
	else
		uftrace_edit_lose(sym->w, &sym->edits, this ? at : sym->id_offset, this ? raw : sym->id_raw,
				  UFTRACE_RULE_sym_mismatched_identity, "one of two build ids");
	return this;
}

static void report_line(struct sym_walk *sym, const char *text, size_t length, uint64_t at, size_t raw, uint64_t line_number)
{
	char shown[TEXT_QUOTE_SIZE];

	/* The line before may end where this one begins because of the hit, unless this one begins as a line does. */
	if (at && uftrace_hex_digits(text, length) < ADDRESS_DIGITS)
		uftrace_repair_doubt_line(sym->w, sym->source, sym->text, sym->size, (size_t)(at - 1));
	doubt_line(sym, at, raw);
	if (sym->malformed++)
		return;
	struct finding *fd = finding_report(sym->w->findings, UFTRACE_RULE_sym_line_malformed, sym->source, at, raw,
					    "'%s' is not a symbol; readers skip it", text_quote(shown, text, length));
	finding_path(fd, "line %llu", (unsigned long long)line_number);
}

static bool walk_lines(struct sym_walk *sym)
{
	uint64_t line_number = 0;

	for (size_t at = 0; at < sym->size;) {
		const char *text = sym->text + at;
		const char *end = memchr(text, '\n', sym->size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : sym->size - at, length = end ? raw - 1 : raw;
		struct uftrace_sym_line line = { .offset = at, .raw = raw };
		line_number++;
		size_t ends = length;
		length = uftrace_line_length(text, length);
		if (length < ends) {
			if (!sym->cr++)
				finding_report(sym->w->findings, UFTRACE_RULE_sym_crlf, sym->source, at, raw,
					       "lines end in CR LF: the CR becomes a part of each name");
			uftrace_edit_add(sym->w, &sym->edits, at + length, ends - length, NULL, 0, UFTRACE_RULE_sym_crlf, "a CR");
		}
		if (!end) /* cut, perhaps within the name */
			doubt_line(sym, at, raw);
		if (is_build_id(text, length)) {
			if (sym->id_raw && second_id(sym, (struct uftrace_str){ text, length }, at, raw)) {
				at += raw;
				continue;
			}
			sym->id_offset = at;
			sym->id_raw = raw;
		} else if (line_number == 2 && !sym->m->headed) {
			sym->path_offset = at;
			sym->path_raw = raw;
		}
		if (length && text[0] == '#' && comment_is_sound((struct uftrace_str){ text, length })) {
			comment(sym, text, length, at, raw);
			/* Writers have comments at the head, of three kinds: another one may have been a symbol. */
			if (sym->lines && (length < 2 || text[1] != ' '))
				doubt_line(sym, at, raw);
		} else if (uftrace_sym_line_read(text, length, &line)) {
			const char *behind = line.name.text + line.name.length; /* a tab ends it */
			size_t left = length - (size_t)(behind - text);
			size_t digits = uftrace_hex_digits(text, length);
			bool cut = digits < sym->digits;	 /* its beginning may be gone */
			if (digits > sym->digits && sym->digits) /* that of the first one is */
				uftrace_repair_doubt_line(sym->w, sym->source, sym->text, sym->size, (size_t)sym->first_data);
			sym->digits = digits > sym->digits ? digits : sym->digits;
			if (cut || (left && !uftrace_str_is_text((struct uftrace_str){ behind + 1, left - 1 })))
				doubt_line(sym, at, raw);
			if (!walk_data(sym, &line, line_number))
				return false;
		} else {
			report_line(sym, text, length, at, raw, line_number);
		}
		at += raw;
	}
	return true;
}

/* Symbols beside those that are not in their place, [last + 1, last + 1 + run), which contradict these: where they are hardly more,
 * these may be in their place, and they not. */
static void doubt_contradicted(struct sym_walk *sym, uint32_t last, uint32_t run)
{
	const struct uftrace_symbol *list = sym->m->symbols;
	const uint32_t from = last + 1, upto = from + run, most = 4 * run;
	uint32_t front = 0, behind = 0;

	while (front <= most && front <= last && list[last - front].address > list[from].address)
		front++;
	while (behind <= most && upto + behind < sym->m->count && list[upto + behind].address < list[upto - 1].address)
		behind++;
	for (uint32_t i = 0; front <= most && i < front; i++)
		uftrace_repair_doubt_line(sym->w, sym->source, sym->text, sym->size, list[last - i].name);
	for (uint32_t i = 0; behind <= most && i < behind; i++)
		uftrace_repair_doubt_line(sym->w, sym->source, sym->text, sym->size, list[upto + i].name);
}

/* Writers sort symbols. Those that are not in the longest row of ascending addresses are doubtful: it is found by patience sorting
 * (Schensted 1961). */
static bool doubt_unsorted(struct sym_walk *sym)
{
	const struct uftrace_symbol *list = sym->m->symbols;
	size_t count = sym->m->count, longest = 0;
	uint32_t *ends = count ? malloc(2 * count * sizeof(*ends))
			       : NULL; /* of rows, by length - 1; and what is in front of each */

	if (!ends)
		return !count || uftrace_walk_fail(sym->w, TM_NO_MEMORY);
	uint32_t *before = ends + count;
	for (uint32_t i = 0; i < count; i++) {
		size_t k;
		array_search(k, longest, list[ends[k]].address <= list[i].address);
		before[i] = k ? ends[k - 1] : UFTRACE_NONE;
		ends[k] = i;
		longest += k == longest;
	}
	uint32_t next = ends[longest - 1], run = 0;
	for (uint32_t i = (uint32_t)count; i-- > 0;) {
		/* The one in front may go on as the first of what does not belong there. */
		if (i != next || run)
			uftrace_repair_doubt_line(sym->w, sym->source, sym->text, sym->size, list[i].name);
		if (i == next && run)
			doubt_contradicted(sym, i, run);
		run = i != next ? run + 1 : 0;
		if (i == next)
			next = before[i];
	}
	free(ends);
	return true;
}

static int symbol_compare(const void *a, const void *b)
{
	const struct uftrace_symbol *x = a, *sym = b;
	if (x->address != sym->address)
		return x->address < sym->address ? -1 : 1;
	return x->name < sym->name ? -1 : x->name > sym->name;
}

static void close_symbols(struct sym_walk *sym)
{
	struct uftrace_module *m = sym->m;

	m->sized = sym->sized > 0;
	if (m->count)
		qsort(m->symbols, m->count, sizeof(*m->symbols), symbol_compare);
	for (size_t i = 0; i < m->count; i++) {
		struct uftrace_symbol *symbol = &m->symbols[i];
		if (symbol->end == UINT64_MAX && i + 1 < m->count)
			symbol->end = m->symbols[i + 1].address;
		else if (symbol->end == UINT64_MAX && sym->last_end != UINT64_MAX)
			symbol->end = sym->last_end;
		else if (i + 1 < m->count && symbol->end > m->symbols[i + 1].address && !sym->overlap &&
			 m->symbols[i + 1].address > symbol->address && m->symbols[i + 1].type == symbol->type) {
			sym->overlap = true;
			finding_report(sym->w->findings, UFTRACE_RULE_sym_overlap, sym->source, symbol->name, symbol->length,
				       "the symbol at %llx reaches beyond the next one", (unsigned long long)symbol->address);
		}
	}
}

/* Lines of the other form than nearly all of a file have one that was hit: then they say nothing of it. */
#define MIXED_MIN 8u

static void check_mixed(struct sym_walk *sym)
{
	struct uftrace_walk *w = sym->w;
	bool few_sized = sym->sized <= sym->unsized / MIXED_MIN, few_unsized = sym->unsized <= sym->sized / MIXED_MIN;

	if (!sym->sized || !sym->unsized)
		return;
	finding_report(w->findings, UFTRACE_RULE_sym_mixed_format, sym->source, 0, 0, "%llu symbols with a size, %llu without",
		       (unsigned long long)sym->sized, (unsigned long long)sym->unsized);
	for (size_t i = 0; w->plan && (few_sized || few_unsized) && i < sym->m->count; i++) {
		const struct uftrace_symbol *symbol = &sym->m->symbols[i];
		if (symbol->type != '?' && (symbol->end != UINT64_MAX) == few_sized)
			uftrace_repair_doubt_line(w, sym->source, sym->text, sym->size, symbol->name);
	}
	if (few_sized)
		sym->sized = 0;
}

/* The last symbol of a file without sizes has one by the end marker only. Where all others are there it is made anew, at the end of
 * the page: the mapping reaches that far. Where some are lost as well, nobody knows how far the last one reaches. */
static void check_end(struct sym_walk *sym)
{
	struct uftrace_walk *w = sym->w;
	bool whole = sym->count_lines == 1 && sym->claimed == sym->real && !sym->malformed && !sym->unknown &&
		     !sym->unsorted.number && sym->previous < UINT64_MAX - PAGE;
	struct finding *fd;
	char text[40];

	fd = whole ? finding_new(w->findings, UFTRACE_RULE_sym_missing_sentinel, sym->source, sym->size, 0)
		   : finding_milder(w->findings, UFTRACE_RULE_sym_missing_sentinel, TM_WARNING, sym->source, sym->size, 0);
	finding_say(fd, "the file does not end with an end marker (type '?'), so the last symbol has no size");
	sym->last_end = 0;
	if (whole) {
		sym->last_end = (sym->previous + PAGE) & ~(uint64_t)(PAGE - 1);
		bool lf = sym->size && sym->text[sym->size - 1] == '\n';
		int n = snprintf(text, sizeof(text), "%s%016llx ? __sym_end\n", lf ? "" : "\n", (unsigned long long)sym->last_end);
		uftrace_edit_add(w, &sym->edits, sym->size, 0, text, (size_t)n, UFTRACE_RULE_sym_missing_sentinel,
				 "an end marker at the end of the page");
	}
	if (w->plan)
		plan_lost_other(w->plan);
}

static void check_head(struct sym_walk *sym)
{
	struct uftrace_walk *w = sym->w;
	struct finding *fd;

	if (sym->count_lines && sym->claimed != sym->real) {
		uint64_t most = (sym->lines + sym->malformed + 1) * 4;
		bool dangerous = sym->claimed > most;
		fd = finding_new(w->findings, dangerous ? UFTRACE_RULE_sym_count_dangerous : UFTRACE_RULE_sym_count_mismatch,
				 sym->source, sym->count_offset, sym->count_raw);
		if (sym->claimed == UINT64_MAX)
			finding_say(fd, "the number of symbols is not a number; there are %llu", (unsigned long long)sym->real);
		else
			finding_say(fd, "the header says %llu symbols; there are %llu", (unsigned long long)sym->claimed,
				    (unsigned long long)sym->real);
		if (dangerous) {
			char text[48];
			int n = snprintf(text, sizeof(text), "# symbols: %llu\n", (unsigned long long)sym->real);
			uftrace_edit_add(w, &sym->edits, sym->count_offset, sym->count_raw, text, (size_t)n,
					 UFTRACE_RULE_sym_count_dangerous, "the number of symbols that are there");
		}
		/* Of two lines in one nothing may show, unless as many were hit. */
		bool twice = sym->real > sym->claimed && sym->real - sym->claimed == sym->repeated;
		if (w->plan && !twice)
			plan_lost_other(w->plan);
		if (!twice && (sym->real > sym->claimed || sym->claimed - sym->real != sym->doubtful))
			uftrace_repair_doubt(w, sym->source, sym->first_data, sym->size - sym->first_data);
	}
	if (sym->unsorted.number) {
		fd = sym->sized ? finding_milder(w->findings, UFTRACE_RULE_sym_unsorted, TM_NOTE, sym->source, sym->unsorted.offset,
						 sym->unsorted.raw)
				: finding_new(w->findings, UFTRACE_RULE_sym_unsorted, sym->source, sym->unsorted.offset,
					      sym->unsorted.raw);
		finding_say(fd, "address %llx comes after %llx", (unsigned long long)sym->unsorted.address,
			    (unsigned long long)sym->unsorted.previous);
		finding_path(fd, "line %llu", (unsigned long long)sym->unsorted.number);
	}
	if (sym->real && !sym->sized && !sym->ended && !w->info->foreign)
		check_end(sym);
}

/* A line of a map that names the program of a symbol file otherwise than the file does. */
struct other_name {
	const struct uftrace_map *map; /* NULL: there is none, or one has the name of the file */
	const struct uftrace_mapping *mapping;
	unsigned count; /* of such lines */
};

/* Where only one map says so, it may be the one that was hit. */
static void doubt_other(struct sym_walk *sym, const struct other_name *other)
{
	if (other->count == 1)
		uftrace_map_doubt(sym->w, other->map, other->mapping);
}

/* Another build id of the file's program. */
static struct other_name other_id(const struct uftrace_walk *w, const struct uftrace_module *m)
{
	struct other_name found = { 0 };

	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			const struct uftrace_mapping *map = &w->maps->list[i].list[k];
			if (map->build_id.length != 40 || !uftrace_str_equal(map->path, m->path) ||
			    !uftrace_str_is_hex(map->build_id))
				continue;
			if (uftrace_str_equal(map->build_id, m->build_id))
				return (struct other_name){ 0 };
			found = (struct other_name){ &w->maps->list[i], map, found.count + 1 };
		}
	return found;
}

/* A build id that is none, or the one of the maps but for a few digits, is damaged: readers do not use the file. */
static void mend_build_id(struct sym_walk *sym)
{
	struct uftrace_module *m = sym->m;
	unsigned differ = 0;
	char line[64];

	if (!sym->id_raw || !m->path.length || sym->w->info->foreign ||
	    (m->build_id.length == 40 && uftrace_str_is_hex(m->build_id) && uftrace_map_has(sym->w, m->path, m->build_id)))
		return;
	struct other_name other = other_id(sym->w, m);
	struct uftrace_str id = other.map ? other.mapping->build_id : (struct uftrace_str){ NULL, 0 };
	for (size_t i = 0; i < id.length && i < m->build_id.length; i++)
		differ += id.text[i] != m->build_id.text[i];
	if (!id.length || differ > 4)
		return;
	finding_report(sym->w->findings, UFTRACE_RULE_sym_mismatched_identity, sym->source, sym->id_offset, sym->id_raw,
		       "the maps have another build id of the program: readers do not use the file");
	int n = snprintf(line, sizeof(line), "# build-id: %.*s\n", (int)id.length, id.text);
	uftrace_edit_add(sym->w, &sym->edits, sym->id_offset, sym->id_raw, line, (size_t)n, UFTRACE_RULE_sym_mismatched_identity,
			 "the build id of the map");
	doubt_other(sym, &other);
	m->build_id = id;
	if (sym->w->plan)
		plan_lost_other(sym->w->plan);
}

static void report_map_id(struct uftrace_walk *w, const struct uftrace_map *map, const struct uftrace_mapping *line)
{
	char shown[TEXT_QUOTE_SIZE];

	text_quote(shown, line->path.text, line->path.length);
	struct finding *fd = finding_new(w->findings, UFTRACE_RULE_sym_mismatched_identity, w->dir->files[map->file].source,
					 (uint64_t)(line->path.text - map->text), line->path.length);
	if (line->build_id.length)
		finding_say(fd,
			    "the mapping of '%s' has a build id of %zu bytes, and its symbol file has one of 40 digits: readers do "
			    "not use the file",
			    shown, line->build_id.length);
	else
		finding_say(fd, "behind the mapping of '%s' stands something else than a build id, and its symbol file has one",
			    shown);
	uftrace_map_doubt(w, map, line);
}

/* The lines of maps that have the file's path, and behind it no build id but something else, where others of the map have theirs.
 * Readers take a file for that of a mapping without a build id. */
static void mend_map_ids(struct sym_walk *sym)
{
	const struct uftrace_module *m = sym->m;

	if (!m->headed || m->build_id.length != 40 || !uftrace_str_is_hex(m->build_id) || sym->w->info->foreign ||
	    !sym->w->maps->ids_lost)
		return;
	for (size_t i = 0; i < sym->w->maps->count; i++)
		for (size_t k = 0; sym->w->maps->list[i].build_ids && k < sym->w->maps->list[i].count; k++) {
			struct uftrace_mapping *line = &sym->w->maps->list[i].list[k];
			if (!line->id_lost || !uftrace_str_equal(line->path, m->path))
				continue;
			report_map_id(sym->w, &sym->w->maps->list[i], line);
			uftrace_map_identify(sym->w, &sym->w->maps->list[i], line, m->build_id,
					     UFTRACE_RULE_sym_mismatched_identity);
		}
}

/* Whether readers look for the symbols of the program in a file of this name: NAME.sym, or NAME-XXXX.sym where several have one
 * name. */
static bool is_file_of(const char *file, struct uftrace_str path)
{
	struct uftrace_str base = uftrace_basename(path);

	if (!base.length || strlen(file) <= base.length || memcmp(file, base.text, base.length) != 0)
		return false;
	const char *rest = file + base.length;
	return !strcmp(rest, ".sym") || (rest[0] == '-' && strlen(rest) == 9 && !strcmp(rest + 5, ".sym"));
}

/* Another path of the program with the file's build id, which has the file's name. */
static struct other_name other_path(const struct uftrace_walk *w, const struct uftrace_module *m, const char *file)
{
	struct other_name found = { 0 };

	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			const struct uftrace_mapping *map = &w->maps->list[i].list[k];
			if (!uftrace_str_equal(map->build_id, m->build_id))
				continue;
			if (uftrace_str_equal(map->path, m->path))
				return (struct other_name){ 0 };
			if (is_file_of(file, map->path))
				found = (struct other_name){ &w->maps->list[i], map, found.count + 1 };
		}
	return found;
}

/* A head whose path no map has, while one has its build id and the name of its file, is damaged: readers do not use the file. The
 * line is the second one, of three. */
static void mend_path(struct sym_walk *sym)
{
	struct uftrace_module *m = sym->m;

	if (m->build_id.length != 40 || sym->w->info->foreign || uftrace_map_has(sym->w, m->path, m->build_id))
		return;
	struct other_name other = other_path(sym->w, m, sym->source->name);
	struct uftrace_str path = other.map ? other.mapping->path : (struct uftrace_str){ NULL, 0 };
	if (!path.length || path.length > PATH_LINE_MAX || !uftrace_str_is_text(path))
		return;
	bool there = m->headed || (sym->path_raw && sym->path_offset + sym->path_raw == sym->id_offset);
	uint64_t at = there ? sym->path_offset : sym->id_offset;
	size_t raw = there ? sym->path_raw : 0;
	char line[PATH_LINE_MAX + 32];
	finding_report(sym->w->findings, UFTRACE_RULE_sym_mismatched_identity, sym->source, at, raw,
		       "the maps have another path of the program with this build id: readers do not use the file");
	int n = snprintf(line, sizeof(line), "# path name: %.*s\n", (int)path.length, path.text);
	uftrace_edit_add(sym->w, &sym->edits, at, raw, line, (size_t)n, UFTRACE_RULE_sym_mismatched_identity,
			 "the path of the map");
	doubt_other(sym, &other);
	m->path = path;
	m->headed = true;
	if (sym->w->plan)
		plan_lost_other(sym->w->plan);
}

/* The only program in the maps that has a symbol file of this name. */
static struct other_name only_program(const struct uftrace_walk *w, const char *file)
{
	struct other_name found = { 0 };

	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			const struct uftrace_mapping *map = &w->maps->list[i].list[k];
			if (!is_file_of(file, map->path))
				continue;
			if (found.map && !(uftrace_str_equal(found.mapping->path, map->path) &&
					   uftrace_str_equal(found.mapping->build_id, map->build_id)))
				return (struct other_name){ 0 };
			found = (struct other_name){ &w->maps->list[i], map, found.count + 1 };
		}
	return found;
}

/* A head whose lines are both gone in one: readers take what is left for the path of another program. */
static void mend_head(struct sym_walk *sym)
{
	static const char key[] = "# path name: ";
	struct uftrace_module *m = sym->m;
	const char *text = sym->text + sym->path_offset;

	if (m->headed || m->build_id.length || sym->path_raw < sizeof(key) || memcmp(text, key, sizeof(key) - 1) != 0 ||
	    sym->w->info->foreign)
		return;
	struct other_name other = only_program(sym->w, sym->source->name);
	struct uftrace_str path = other.map ? other.mapping->path : (struct uftrace_str){ NULL, 0 };
	struct uftrace_str id = other.map ? other.mapping->build_id : path;
	if (!path.length || path.length > PATH_LINE_MAX || !uftrace_str_is_text(path) || id.length != 40 || !uftrace_str_is_hex(id))
		return;
	char line[PATH_LINE_MAX + 96];
	finding_report(sym->w->findings, UFTRACE_RULE_sym_mismatched_identity, sym->source, sym->path_offset, sym->path_raw,
		       "the lines of the path and of the build id are damaged: readers do not use the file");
	int n = snprintf(line, sizeof(line), "# path name: %.*s\n# build-id: %.*s\n", (int)path.length, path.text, (int)id.length,
			 id.text);
	uftrace_edit_add(sym->w, &sym->edits, sym->path_offset, sym->path_raw, line, (size_t)n,
			 UFTRACE_RULE_sym_mismatched_identity, "the program of the maps that has the name of the file");
	m->path = path;
	m->build_id = id;
	m->headed = true;
	if (sym->w->plan)
		plan_lost_other(sym->w->plan);
}

static bool walk_file(struct uftrace_walk *w, struct sym_walk *sym, uint32_t index)
{
	struct uftrace_file *file = &w->dir->files[index];
	char output[512];
	size_t size = 0;

	if (file->source->size > UFTRACE_SYMBOL_BYTES_MAX - w->symbols->bytes)
		return uftrace_walk_limit(w, "bytes of symbol files", UFTRACE_SYMBOL_BYTES_MAX);
	sym->file = file;
	sym->source = file->source;
	sym->m->file = index;
	if (!uftrace_walk_slurp(w, sym->source, &sym->m->names, &size))
		return false;
	w->symbols->bytes += size;
	sym->text = sym->m->names;
	sym->size = size;
	if (!walk_lines(sym))
		return false;
	check_mixed(sym);
	check_head(sym);
	if (w->plan && sym->unsorted.number && !sym->sized && !doubt_unsorted(sym))
		return false;
	close_symbols(sym);
	mend_build_id(sym);
	mend_path(sym);
	mend_head(sym);
	mend_map_ids(sym);
	if (!uftrace_place_map(w, sym->m))
		return false;
	uftrace_sym_belongs(w, sym->m);
	(void)uftrace_sym_name(w,
			       &(struct uftrace_program){ sym->source, sym->m->headed ? sym->m->path : (struct uftrace_str){ 0 },
							  sym->m->build_id, ".sym", (uint32_t)(sym->m - w->symbols->modules) },
			       output, sizeof(output));
	if (!w->plan)
		return true;
	if (sym->unsorted.number && !sym->sized)
		return uftrace_repair_symbols(w, file, sym->text, sym->size, &sym->edits, output);
	uftrace_edit_apply(w, &sym->edits, file, output);
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
		struct sym_walk sym = { .w = w, .m = &w->symbols->modules[w->symbols->module_count++], .last_end = UINT64_MAX };
		bool good = walk_file(w, &sym, (uint32_t)i);
		edits_free(&sym.edits);
		if (!good)
			return false;
	}
	return true;
}

bool uftrace_sym_add(struct uftrace_walk *w, const char *text, size_t size, uint32_t *module)
{
	struct uftrace_symbols *symbols = w->symbols;
	struct uftrace_module *list = realloc(symbols->modules, (symbols->module_count + 1) * sizeof(*list));

	if (!list)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	symbols->modules = list;
	struct uftrace_module *m = &list[symbols->module_count];
	*m = (struct uftrace_module){ .file = UFTRACE_NONE, .names = malloc(size + 1) };
	*module = (uint32_t)symbols->module_count++;
	if (!m->names)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	memcpy(m->names, text, size);
	m->names[size] = '\0';
	struct sym_walk sym = {
		.w = w, .m = m, .source = w->in->sources[0], .text = m->names, .size = size, .last_end = UINT64_MAX
	};
	bool good = walk_lines(&sym);
	close_symbols(&sym);
	edits_free(&sym.edits);
	return good;
}

size_t uftrace_sym_behind(const struct uftrace_module *m, uint64_t relative)
{
	size_t i;

	array_search(i, m->count, m->symbols[i].address <= relative);
	return i;
}

uint32_t uftrace_sym_find(const struct uftrace_module *m, uint64_t relative)
{
	size_t low = uftrace_sym_behind(m, relative);

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

bool uftrace_sym_is_empty(const struct uftrace_symbols *symbols, uint32_t module)
{
	return module == UFTRACE_NONE || !symbols->modules[module].count;
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
