/* NAME.dbg: argument types and source lines of functions. */
#include <stdlib.h>

#include "core/map.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_sym.h"

struct dbg_walk {
	struct uftrace_walk *w;
	struct uftrace_dbg *d;
	struct source *source;
	size_t capacity;
	struct map by_address; /* of d->list */
	uint32_t function;     /* which one of d->list the lines are of */
	struct edits edits;
	bool skipping;	   /* a function whose F line is bad, or was in a bad line: its other lines go with it */
	bool hit;	   /* a line of this function was bad */
	size_t last;	   /* the place of its last line in LINE_ORDER */
	const char *first; /* of two lines for one address, where they differ; else NULL */
	bool has_specs;
	uint64_t cr;
	struct finding *bad;
};

/* A function may begin twice: readers add to what they have of its address. */
static bool begin_function(struct dbg_walk *dbg, uint64_t address, struct uftrace_str name)
{
	dbg->function = map_get(&dbg->by_address, address);
	if (dbg->function != MAP_NONE)
		return true;
	if (!uftrace_walk_room(dbg->w, &dbg->d->list, &dbg->capacity, dbg->d->count, sizeof(*dbg->d->list)))
		return false;
	struct uftrace_dbg_function *list = dbg->d->list;
	if (dbg->w->symbols->count++ >= UFTRACE_SYMBOLS_MAX)
		return uftrace_walk_limit(dbg->w, "symbols", UFTRACE_SYMBOLS_MAX);
	dbg->function = (uint32_t)dbg->d->count;
	list[dbg->d->count++] = (struct uftrace_dbg_function){ .address = address, .name = name };
	return uftrace_walk_set(dbg->w, &dbg->by_address, (int64_t)address, dbg->function);
}

/* The lines of a function, as writers order them. */
static const char LINE_ORDER[] = "FLAR";

/* Whether a line is of another function than the one before: behind a bad line it begins anew without an F line, which was in that.
 */
static bool line_is_lost(struct dbg_walk *dbg, const char *text, size_t length)
{
	const char *found = length > 1 && text[1] == ':' ? memchr(LINE_ORDER, text[0], sizeof(LINE_ORDER) - 1) : NULL;
	size_t before = dbg->last;

	if (!found)
		return false;
	dbg->last = (size_t)(found - LINE_ORDER);
	if (!dbg->last)
		dbg->hit = false;
	return dbg->last && (dbg->skipping || (dbg->hit && dbg->last <= before));
}

enum dbg_state { DBG_GOOD, DBG_BAD, DBG_TWICE, DBG_FUNCTION };

/* The arguments or the value of a function. Readers take types from behind an "@" only, and stop at the second line for one
 * address. */
static enum dbg_state walk_types(struct dbg_walk *dbg, char which, struct uftrace_str types)
{
	struct uftrace_dbg_function *f = &dbg->d->list[dbg->function];
	struct uftrace_str *into = which == 'A' ? &f->args : &f->retval;

	dbg->has_specs = true;
	bool taken = types.text[0] == '@';
	struct uftrace_str said = { types.text + taken, taken ? types.length - 1 : 0 };
	dbg->first = into->text && !uftrace_str_equal(*into, said) ? into->text : NULL;
	if (into->text)
		return DBG_TWICE;
	*into = said;
	return DBG_GOOD;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A text, and where reading it has come to. */
struct reading {
	const char *at, *end;
};

static void skip_blanks(struct reading *c)
{
	while (c->at < c->end && *c->at == ' ')
		c->at++;
}

static bool takes(struct reading *c, char wanted)
{
	skip_blanks(c);
	if (c->at >= c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static struct uftrace_str take_word(struct reading *c)
{
	skip_blanks(c);
	struct uftrace_str word = { c->at, 0 };
	while (c->at < c->end && is_word(*c->at)) {
		c->at++;
		word.length++;
	}
	return word;
}

static bool take_number(struct reading *c)
{
	uint64_t value;

	(void)takes(c, '-');
	struct uftrace_str n = take_word(c);
	if (n.length > 2 && n.text[0] == '0' && n.text[1] == 'x')
		return text_parse_hex(n.text + 2, n.length - 2, &value);
	return text_parse_u64(n.text, n.length, &value);
}

/* "enum name {A,B=5,C}": readers stop at what they do not take for one. */
static bool is_enumeration(struct uftrace_str text)
{
	static const char key[] = "enum ";
	struct reading c = { text.text + sizeof(key) - 1, text.text + text.length };

	if (text.length < sizeof(key) || memcmp(text.text, key, sizeof(key) - 1) != 0)
		return false;
	const char *name = c.at;
	while (c.at < c.end && *c.at != '{' && *c.at != ' ')
		c.at++;
	if (c.at == name || !takes(&c, '{'))
		return false;
	while (!takes(&c, '}')) {
		if (!take_word(&c).length || (takes(&c, '=') && !take_number(&c)))
			return false;
		if (!takes(&c, ',') && (c.at >= c.end || *c.at != '}'))
			return false;
	}
	(void)takes(&c, ';');
	skip_blanks(&c);
	return c.at == c.end;
}

static bool walk_line(struct dbg_walk *dbg, const char *text, size_t length, enum dbg_state *state)
{
	struct uftrace_str rest = { text + 3, length - 3 };

	*state = DBG_BAD;
	if (length < 4 || text[1] != ':' || text[2] != ' ')
		return true;
	if (text[0] == 'F') {
		size_t n = 0;
		uint64_t address = 0;
		if (rest.length > 2 && rest.text[0] == '0' && rest.text[1] == 'x') { /* other writers */
			rest.text += 2;
			rest.length -= 2;
		}
		while (n < rest.length && rest.text[n] && strchr("0123456789abcdefABCDEF", rest.text[n]))
			n++;
		if (!n || n > 16 || n + 1 >= rest.length || rest.text[n] != ' ' || !text_parse_hex(rest.text, n, &address))
			return true;
		*state = DBG_FUNCTION;
		return begin_function(dbg, address, (struct uftrace_str){ rest.text + n + 1, rest.length - n - 1 });
	}
	if (text[0] == 'E') {
		*state = is_enumeration(rest) ? DBG_GOOD : DBG_BAD;
		return true;
	}
	if (!dbg->d->count || !memchr("ARL", text[0], 3))
		return true;
	*state = text[0] == 'L' ? DBG_GOOD : walk_types(dbg, text[0], rest);
	return true;
}

static void report_bad(struct dbg_walk *dbg, const char *text, uint64_t offset, size_t raw, uint64_t line_number, bool twice,
		       bool error)
{
	struct uftrace_walk *w = dbg->w;

	if (dbg->bad) {
		finding_explains(dbg->bad, 1);
	} else {
		char shown[TEXT_QUOTE_SIZE];
		dbg->bad = error ? finding_new(w->findings, UFTRACE_RULE_dbg_malformed, dbg->source, offset, raw)
				 : finding_milder(w->findings, UFTRACE_RULE_dbg_malformed, TM_WARNING, dbg->source, offset, raw);
		finding_say(dbg->bad, "'%s' %s: readers stop here%s", text_quote(shown, text, raw ? raw - 1 : 0),
			    twice ? "is the second of its address" : "cannot be read",
			    error ? " and forget all argument types" : "");
		finding_path(dbg->bad, "line %llu", (unsigned long long)line_number);
	}
	if (!error)
		uftrace_repair_doubt(w, dbg->source, offset, raw);
	else
		uftrace_edit_lose(w, &dbg->edits, offset, raw, UFTRACE_RULE_dbg_malformed, "a line that readers stop at");
}

static bool walk_text(struct dbg_walk *dbg, const char *data, size_t size, bool error)
{
	uint64_t line_number = 0;

	for (size_t at = 0; at < size;) {
		const char *text = data + at;
		const char *end = memchr(text, '\n', size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : size - at, length = end ? raw - 1 : raw;
		line_number++;
		size_t ends = length;
		length = uftrace_line_length(text, length);
		if (length < ends) {
			if (!dbg->cr++)
				finding_report(dbg->w->findings, UFTRACE_RULE_dbg_malformed, dbg->source, at, raw,
					       "lines end in CR LF: the CR becomes a part of each name and type");
			uftrace_edit_add(dbg->w, &dbg->edits, at + length, ends - length, NULL, 0, UFTRACE_RULE_dbg_malformed,
					 "a CR");
		}
		if (length > 13 && !memcmp(text, "# path name: ", 13))
			dbg->d->path = (struct uftrace_str){ text + 13, length - 13 };
		else if (length > 12 && !memcmp(text, "# build-id: ", 12))
			dbg->d->build_id = (struct uftrace_str){ text + 12, length - 12 };
		else if (!length || text[0] != '#') {
			enum dbg_state state;
			bool lost = line_is_lost(dbg, text, length);
			if (lost)
				state = DBG_BAD;
			else if (!walk_line(dbg, text, length, &state))
				return false;
			dbg->skipping = state == DBG_BAD && (lost || !length || !memchr("ARLE", text[0], 4));
			dbg->hit |= state == DBG_BAD || !uftrace_str_is_text((struct uftrace_str){ text, length });
			/* The second one may be of another function, or the first. */
			if (state == DBG_TWICE && dbg->first)
				uftrace_repair_doubt_line(dbg->w, dbg->source, data, size, (size_t)(dbg->first - data));
			if (state == DBG_BAD || state == DBG_TWICE)
				report_bad(dbg, text, at, raw, line_number, state == DBG_TWICE, error);
			else if (!uftrace_str_is_text((struct uftrace_str){ text, length }))
				report_bad(dbg, text, at, raw, line_number, false, false);
			else if (!end) /* cut, perhaps within the name */
				uftrace_repair_doubt(dbg->w, dbg->source, at, raw);
		}
		at += raw;
	}
	return true;
}

static int function_compare(const void *a, const void *b)
{
	const struct uftrace_dbg_function *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void check_functions(struct dbg_walk *dbg)
{
	struct uftrace_walk *w = dbg->w;

	for (size_t i = 0; i < w->symbols->module_count; i++) {
		const struct uftrace_module *m = &w->symbols->modules[i];
		if (!m->headed || !uftrace_str_equal(m->path, dbg->d->path) || !m->count)
			continue;
		for (size_t k = 0; k < dbg->d->count; k++) {
			uint32_t symbol = uftrace_sym_find(m, dbg->d->list[k].address);
			if (symbol != UFTRACE_NONE)
				continue;
			finding_report(w->findings, UFTRACE_RULE_dbg_func_unknown, dbg->source, 0, 0,
				       "no symbol has the address %llx of a function", (unsigned long long)dbg->d->list[k].address);
			return;
		}
	}
}

bool uftrace_dbg_walk(struct uftrace_walk *w)
{
	size_t count = 0, bytes = 0;

	for (size_t i = 0; i < w->dir->count; i++)
		count += w->dir->files[i].kind == UFTRACE_FILE_DBG;
	w->symbols->dbgs = calloc(count + 1, sizeof(*w->symbols->dbgs));
	if (!w->symbols->dbgs)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		size_t size = 0;
		if (f->kind != UFTRACE_FILE_DBG)
			continue;
		struct dbg_walk dbg = { .w = w, .d = &w->symbols->dbgs[w->symbols->dbg_count++], .source = f->source };
		dbg.d->file = (uint32_t)i;
		if (!uftrace_walk_slurp(w, f->source, &dbg.d->text, &size))
			return false;
		bytes += size;
		if (bytes > UFTRACE_SYMBOL_BYTES_MAX)
			return uftrace_walk_limit(w, "bytes of debug information", UFTRACE_SYMBOL_BYTES_MAX);
		/* It matters to readers when arguments were recorded by these types. */
		bool specs = w->specs->auto_args && size >= 4 &&
			     (memmem(dbg.d->text, size, "\nA: ", 4) || memmem(dbg.d->text, size, "\nR: ", 4));
		bool walked = walk_text(&dbg, dbg.d->text, size, specs);
		map_free(&dbg.by_address);
		if (!walked) {
			edits_free(&dbg.edits);
			return false;
		}
		if (dbg.d->count)
			qsort(dbg.d->list, dbg.d->count, sizeof(*dbg.d->list), function_compare);
		check_functions(&dbg);
		char output[512];
		dbg.d->lost = !uftrace_sym_name(
			w, &(struct uftrace_program){ f->source, dbg.d->path, dbg.d->build_id, ".dbg", UFTRACE_NONE }, output,
			sizeof(output));
		uftrace_edit_apply(w, &dbg.edits, f, output);
		edits_free(&dbg.edits);
	}
	return true;
}
