/* Argument specifications: what the bytes after a record are. "name@arg1,arg2/s;other@retval/i32". */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_demangle.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_sym.h"

static const struct uftrace_spec spec_unknown = { .state = UFTRACE_SPEC_UNKNOWN };
static const struct uftrace_spec spec_none = { .state = UFTRACE_SPEC_NONE };

#define PATTERN_LENGTH_MAX 256u /* bytes of a regular expression that is compiled */

enum spec_source { SPEC_ARG, SPEC_RET, SPEC_ARG_AUTO, SPEC_RET_AUTO };

struct uftrace_function_spec {
	struct uftrace_str pattern, items;
	enum spec_source source;
	bool meta; /* the pattern has metacharacters */
	bool compiled;
	regex_t regex;
};

struct uftrace_argspec_of uftrace_spec_for(const struct uftrace_walk *w, uint32_t module, uint32_t symbol)
{
	unsigned version = w->info->version_number;
	struct uftrace_argspec_of of = { .long_size = w->info->head.class == UFTRACE_64 ? 8 : 4,
					 .machine = w->info->machine,
					 .octal = !version || version >= 1600 };

	if (module == UFTRACE_NONE)
		return of;
	const struct uftrace_module *m = &w->symbols->modules[module];
	if (m->headed && m->path.length) {
		of.module = uftrace_basename(m->path);
	} else if (m->file != UFTRACE_NONE) {
		const char *name = w->dir->files[m->file].source->name;
		of.module = (struct uftrace_str){ name, strlen(name) - 4 };
	}
	of.plt = m->symbols[symbol].type == 'P';
	return of;
}

bool uftrace_spec_is_refused(const struct uftrace_walk *w, struct uftrace_str one)
{
	const char *sign = memchr(one.text, '@', one.length);
	struct uftrace_argspec_of of = uftrace_spec_for(w, UFTRACE_NONE, UFTRACE_NONE);
	struct uftrace_str text = { NULL, 0 };
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count = 0;
	bool any = false;

	if (sign)
		text = (struct uftrace_str){ sign + 1, one.length - (size_t)(sign - one.text) - 1 };
	return uftrace_argspec_items(text, &of, false, items, &count, &any) == UFTRACE_ARGSPEC_REFUSED ||
	       uftrace_argspec_items(text, &of, true, items, &count, &any) == UFTRACE_ARGSPEC_REFUSED;
}

static bool spec_add(struct uftrace_walk *w, struct uftrace_str t, enum spec_source source, uint64_t offset)
{
	struct uftrace_specs *a = w->specs;
	const char *sign = memchr(t.text, '@', t.length);
	struct uftrace_function_spec spec = { .pattern = t, .source = source };

	if (a->count >= UFTRACE_SPECS_MAX) {
		a->overflow = true;
		return true;
	}
	if (sign) {
		spec.pattern.length = (size_t)(sign - t.text);
		spec.items = (struct uftrace_str){ sign + 1, t.length - spec.pattern.length - 1 };
	}
	for (size_t i = 0; i < spec.pattern.length; i++)
		spec.meta |= spec.pattern.text[i] && strchr(".?*+^$|()[]{}\\", spec.pattern.text[i]) != NULL;
	if (uftrace_spec_is_refused(w, t)) {
		a->refused = true;
		char shown[TEXT_QUOTE_SIZE];
		if (offset)
			finding_report(w->findings, UFTRACE_RULE_argspec_unparsable, w->dir->files[w->dir->info].source, offset,
				       t.length, "the specification '%s' is not understood", text_quote(shown, t.text, t.length));
	}
	if (!uftrace_walk_room(w, &a->list, &a->capacity, a->count, sizeof(*a->list)))
		return false;
	a->list[a->count++] = spec;
	return true;
}

/* Whether a pattern of letters and of what a glob has as well has a star or question mark where a regular expression hardly has
 * one. */
static bool is_glob(struct uftrace_str pattern)
{
	bool star = false;

	for (size_t i = 0; i < pattern.length; i++) {
		if (memchr(".+^$|()", pattern.text[i], 7))
			return false;
		star |= (pattern.text[i] == '*' || pattern.text[i] == '?') && (!i || pattern.text[i - 1] != ']');
	}
	return star;
}

/* With debug information readers take one pattern for all names that are recorded automatically: no simple one is. */
static bool matches_all(const struct uftrace_walk *w)
{
	return w->specs->auto_args && (w->info->head.feat & UFTRACE_BIT(UFTRACE_F_DEBUG_INFO));
}

unsigned uftrace_spec_patterns(const struct uftrace_walk *w)
{
	unsigned found = matches_all(w) ? UFTRACE_PATTERN_REGEX : UFTRACE_PATTERN_SIMPLE;

	for (size_t i = 0; i < w->specs->count; i++) {
		const struct uftrace_function_spec *f = &w->specs->list[i];
		if (!f->meta || f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO)
			continue;
		if (!is_glob(f->pattern))
			return UFTRACE_PATTERN_REGEX;
		found = UFTRACE_PATTERN_GLOB; /* also of what is recorded automatically */
	}
	return found;
}

bool uftrace_spec_line(struct uftrace_walk *w, struct uftrace_str key, struct uftrace_str value, uint64_t offset)
{
	enum spec_source source;

	offset += offset ? key.length + 1 : 0;
	if (uftrace_str_is(key, "argspec"))
		source = SPEC_ARG;
	else if (uftrace_str_is(key, "retspec"))
		source = SPEC_RET;
	else if (uftrace_str_is(key, "argauto"))
		source = SPEC_ARG_AUTO;
	else if (uftrace_str_is(key, "retauto"))
		source = SPEC_RET_AUTO;
	else {
		w->specs->auto_args |= uftrace_str_is(key, "auto-args") && value.length && value.text[0] == '1';
		return true;
	}
	if (source == SPEC_ARG && value.length >= 6 && !memcmp(value.text, "lines=", 6))
		return true;
	/* A line ends at a NUL, for readers. */
	struct uftrace_str rest = { value.text, strnlen(value.text, value.length) }, one;
	while (uftrace_str_next(&rest, ';', &one))
		if (one.length && !spec_add(w, one, source, offset ? offset + (uint64_t)(one.text - value.text) : 0))
			return false;
	return true;
}

enum match { MATCH_NO, MATCH_YES, MATCH_MAYBE };

static enum match match_regex(struct uftrace_walk *w, struct uftrace_function_spec *f, const char *name)
{
	struct uftrace_specs *a = w->specs;

	if (!f->compiled) {
		char text[PATTERN_LENGTH_MAX + 1];
		/* Back references, counts and deep nesting can make a match slow beyond all bounds. */
		bool hostile = f->pattern.length > PATTERN_LENGTH_MAX || a->regexes >= UFTRACE_REGEX_MAX ||
			       memchr(f->pattern.text, '{', f->pattern.length) ||
			       memchr(f->pattern.text, '\\', f->pattern.length) || memchr(f->pattern.text, '\0', f->pattern.length);
		unsigned groups = 0;
		for (size_t i = 0; i < f->pattern.length; i++)
			groups += f->pattern.text[i] == '(' || f->pattern.text[i] == '*' || f->pattern.text[i] == '+';
		if (hostile || groups > 8)
			return MATCH_MAYBE;
		memcpy(text, f->pattern.text, f->pattern.length);
		text[f->pattern.length] = '\0';
		if (regcomp(&f->regex, text, REG_EXTENDED | REG_NOSUB) != 0)
			return MATCH_NO; /* readers take no function then */
		f->compiled = true;
		a->regexes++;
	}
	int result = regexec(&f->regex, name, 0, NULL, 0);
	return result == 0 ? MATCH_YES : result == REG_NOMATCH ? MATCH_NO : MATCH_MAYBE;
}

/* The name that readers know a function by. False: it is mangled, and not understood here. */
static bool name_shown(struct uftrace_str name, char *out, size_t size, struct uftrace_str *shown)
{
	*shown = name;
	if (name.length < 3 || name.text[0] != '_' || name.text[1] != 'Z')
		return true;
	return uftrace_demangle(name, out, size, shown);
}

static enum match spec_match(struct uftrace_walk *w, struct uftrace_function_spec *f, struct uftrace_str name, bool sure)
{
	struct uftrace_specs *a = w->specs;
	char copy[PATTERN_LENGTH_MAX * 2 + 1], pattern[PATTERN_LENGTH_MAX * 2 + 1];
	struct uftrace_str wanted;

	if (++a->work > UFTRACE_MATCH_WORK_MAX)
		return MATCH_MAYBE;
	if (uftrace_str_equal(f->pattern, name))
		return MATCH_YES;
	bool automatic = f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO;
	bool mangled = f->pattern.length > 2 && f->pattern.text[0] == '_' && f->pattern.text[1] == 'Z';
	if (!f->meta || automatic || mangled || w->info->pattern_type == UFTRACE_PATTERN_SIMPLE) {
		/* A pattern may be mangled, too: it stands for all functions of that name. */
		a->work += mangled ? 16 : 0;
		if (mangled && name_shown(f->pattern, pattern, sizeof(pattern), &wanted) && uftrace_str_equal(wanted, name))
			return MATCH_YES;
		return sure || (automatic && !mangled) ? MATCH_NO : MATCH_MAYBE;
	}
	if (!sure || w->info->pattern_type == UFTRACE_PATTERN_UNKNOWN || name.length >= sizeof(copy) ||
	    f->pattern.length > PATTERN_LENGTH_MAX)
		return MATCH_MAYBE;
	a->work += 16;
	memcpy(copy, name.text, name.length);
	copy[name.length] = '\0';
	if (w->info->pattern_type != UFTRACE_PATTERN_GLOB)
		return match_regex(w, f, copy);
	memcpy(pattern, f->pattern.text, f->pattern.length);
	pattern[f->pattern.length] = '\0';
	unsigned stars = 0;
	for (size_t i = 0; i < f->pattern.length; i++)
		stars += pattern[i] == '*';
	if (stars > 8)
		return MATCH_MAYBE;
	return fnmatch(pattern, copy, 0) == 0 ? MATCH_YES : MATCH_NO;
}

/* A function, and what its specifications say of one of its sides. */
struct wanted {
	struct uftrace_str name;
	bool sure; /* of the name */
	struct uftrace_argspec_of of;
	bool retval, any;
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count;
};

/* Items of all specifications of these sources that match. False: one of them cannot be known. */
static bool collect(struct uftrace_walk *w, struct wanted *x, bool automatic)
{
	struct uftrace_specs *a = w->specs;
	bool certain = true, other = false;

	for (size_t i = 0; i < a->count; i++) {
		struct uftrace_function_spec *f = &a->list[i];
		bool is_auto = f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO;
		if (is_auto != automatic)
			continue;
		enum match match = spec_match(w, f, x->name, x->sure);
		if (match == MATCH_YES)
			(void)uftrace_argspec_items(f->items, &x->of, x->retval, x->items, &x->count,
						    f->source == SPEC_ARG ? &x->any : &other);
		certain &= match != MATCH_MAYBE;
	}
	return certain;
}

/* By the path in their heads, and the build id, which the map must have, too (libraries that were loaded later are in no map);
 * files without a head belong together by their names. */
static bool dbg_belongs(const struct uftrace_walk *w, const struct uftrace_dbg *d, const struct uftrace_module *m)
{
	if (d->lost)
		return false;
	if (m->headed && d->path.length)
		return uftrace_str_equal(d->path, m->path) && (!m->mapped || uftrace_str_equal(d->build_id, m->mapped_id));
	if (m->file == UFTRACE_NONE)
		return false;
	const char *sym = w->dir->files[m->file].source->name, *dbg = w->dir->files[d->file].source->name;
	return strlen(sym) == strlen(dbg) && !strncmp(sym, dbg, strlen(sym) - 4);
}

static const struct uftrace_dbg_function *dbg_function(const struct uftrace_walk *w, const struct uftrace_module *m,
						       const struct uftrace_symbol *symbol)
{
	for (size_t i = 0; i < w->symbols->dbg_count; i++) {
		const struct uftrace_dbg *d = &w->symbols->dbgs[i];
		if (!d->count || !dbg_belongs(w, d, m))
			continue;
		size_t k;
		array_search(k, d->count, d->list[k].address < symbol->address);
		if (k < d->count && d->list[k].address == symbol->address)
			return &d->list[k];
	}
	return NULL;
}

/* Its specifications: those by name, or else those that are recorded automatically. False: one of them cannot be known. */
static bool find_items(struct uftrace_walk *w, struct wanted *x, const struct uftrace_module *m,
		       const struct uftrace_symbol *symbol)
{
	if (!collect(w, x, false))
		return false;
	if (x->count || !w->specs->auto_args || (matches_all(w) && w->info->pattern_type == UFTRACE_PATTERN_SIMPLE))
		return true;
	const struct uftrace_dbg_function *d = dbg_function(w, m, symbol);
	struct uftrace_str text = d ? (x->retval ? d->retval : d->args) : (struct uftrace_str){ NULL, 0 };
	if (!text.length)
		return collect(w, x, true);
	bool other = false;
	(void)uftrace_argspec_items(text, &x->of, x->retval, x->items, &x->count, &other);
	return true;
}

const struct uftrace_spec *uftrace_spec_of(struct uftrace_walk *w, uint32_t module, uint32_t symbol, bool retval)
{
	struct uftrace_specs *a = w->specs;

	if (module == UFTRACE_NONE || symbol == UFTRACE_NONE || a->overflow)
		return &spec_unknown;
	struct uftrace_module *m = &w->symbols->modules[module];
	if (!m->specs) {
		m->specs = calloc(m->count * 2, sizeof(struct uftrace_spec *));
		if (!m->specs) {
			uftrace_walk_fail(w, TM_NO_MEMORY);
			return NULL;
		}
	}
	const struct uftrace_spec **slot = &m->specs[symbol * 2 + retval];
	if (*slot)
		return *slot;
	const struct uftrace_symbol *entry = &m->symbols[symbol];
	struct wanted x = { .of = uftrace_spec_for(w, module, symbol), .retval = retval };
	char shown[UFTRACE_DEMANGLE_MAX];
	x.sure = name_shown((struct uftrace_str){ m->names + entry->name, entry->length }, shown, sizeof(shown), &x.name);
	if (!x.sure)
		x.name = (struct uftrace_str){ m->names + entry->name, entry->length };
	bool certain = find_items(w, &x, m, entry);
	/* A call whose specification names only its value has no bytes. */
	if (!certain || (!x.count && !(x.any && !retval))) {
		*slot = certain ? &spec_none : &spec_unknown;
		return *slot;
	}
	if (!uftrace_walk_room(w, &a->made, &a->made_capacity, a->made_count, sizeof(*a->made)))
		return NULL;
	struct uftrace_spec *spec = uftrace_argspec_known(x.items, x.count);
	if (!spec) {
		uftrace_walk_fail(w, TM_NO_MEMORY);
		return NULL;
	}
	a->made[a->made_count++] = spec;
	*slot = spec;
	return spec;
}

void uftrace_spec_clear(struct uftrace_walk *w)
{
	uftrace_spec_free(w->specs);
	*w->specs = (struct uftrace_specs){ .present = w->specs->present };
	for (size_t i = 0; i < w->symbols->module_count; i++) {
		free(w->symbols->modules[i].specs);
		w->symbols->modules[i].specs = NULL;
	}
}

void uftrace_spec_free(struct uftrace_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		if (specs->list[i].compiled)
			regfree(&specs->list[i].regex);
	for (size_t i = 0; i < specs->made_count; i++)
		free((void *)(uintptr_t)specs->made[i]);
	free(specs->made);
	free(specs->list);
}
