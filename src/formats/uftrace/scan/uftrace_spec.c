/* Argument specifications: what the bytes after a record are. "name@arg1,arg2/s;other@retval/i32". */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>

#include "core/text.h"
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
	bool compiled, unusable;
	regex_t regex;
};

static unsigned long_size(const struct uftrace_walk *w)
{
	return w->info->head.class == UFTRACE_64 ? 8 : 4;
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
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count = 0;
	if (!uftrace_argspec_items(spec.items, long_size(w), false, items, &count)) {
		spec.unusable = true;
		char shown[TEXT_QUOTE_SIZE];
		finding_report(w->findings, UFTRACE_RULE_argspec_unparsable, w->dir->files[w->dir->info].source, offset, t.length,
			       "the specification '%s' is not understood", text_quote(shown, t.text, t.length));
	}
	if (!uftrace_walk_room(w, &a->list, &a->capacity, a->count, sizeof(*a->list)))
		return false;
	a->list[a->count++] = spec;
	return true;
}

bool uftrace_spec_line(struct uftrace_walk *w, struct uftrace_str key, struct uftrace_str value, uint64_t offset)
{
	enum spec_source source;

	offset += key.length + 1;
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
	for (size_t at = 0; at < value.length;) {
		const char *end = memchr(value.text + at, ';', value.length - at);
		struct uftrace_str one = { value.text + at, end ? (size_t)(end - value.text) - at : value.length - at };
		if (one.length && !spec_add(w, one, source, offset + at))
			return false;
		at += one.length + 1;
	}
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

static enum match spec_match(struct uftrace_walk *w, struct uftrace_function_spec *f, struct uftrace_str name)
{
	struct uftrace_specs *a = w->specs;
	bool mangled = name.length > 2 && name.text[0] == '_' && name.text[1] == 'Z';
	char copy[PATTERN_LENGTH_MAX * 2 + 1], pattern[PATTERN_LENGTH_MAX + 1];

	if (++a->work > UFTRACE_MATCH_WORK_MAX)
		return MATCH_MAYBE;
	if (uftrace_str_equal(f->pattern, name))
		return MATCH_YES;
	/* Readers match the demangled name, which is not known here. */
	bool automatic = f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO;
	if (!f->meta || automatic || w->info->pattern_type == UFTRACE_PATTERN_SIMPLE)
		return mangled && !automatic ? MATCH_MAYBE : MATCH_NO;
	if (mangled || w->info->pattern_type == UFTRACE_PATTERN_UNKNOWN || name.length >= sizeof(copy) ||
	    f->pattern.length >= sizeof(pattern))
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

/* Items of all specifications of these sources that match. False: one of them cannot be known. */
static bool collect(struct uftrace_walk *w, struct uftrace_str name, bool automatic, bool retval, struct uftrace_item *items,
		    size_t *count)
{
	struct uftrace_specs *a = w->specs;
	bool certain = true;

	for (size_t i = 0; i < a->count; i++) {
		struct uftrace_function_spec *f = &a->list[i];
		bool is_auto = f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO;
		if (is_auto != automatic)
			continue;
		enum match match = spec_match(w, f, name);
		if (match == MATCH_NO)
			continue;
		if (match == MATCH_MAYBE || f->unusable || !uftrace_argspec_items(f->items, long_size(w), retval, items, count))
			certain = false;
	}
	return certain;
}

/* By the path in their heads; files without a head belong together by their names. */
static bool dbg_belongs(const struct uftrace_walk *w, const struct uftrace_dbg *d, const struct uftrace_module *m)
{
	if (m->headed && d->path.length)
		return uftrace_str_equal(d->path, m->path);
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
		size_t low = 0, high = d->count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (d->list[middle].address < symbol->address)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < d->count && d->list[low].address < symbol->end)
			return &d->list[low];
	}
	return NULL;
}

const struct uftrace_spec *uftrace_spec_of(struct uftrace_walk *w, uint32_t module, uint32_t symbol, bool retval)
{
	struct uftrace_specs *a = w->specs;
	struct uftrace_item items[UFTRACE_ITEMS_MAX];
	size_t count = 0;

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
	const struct uftrace_spec *known = *slot;
	if (known)
		return known;
	const struct uftrace_symbol *entry = &m->symbols[symbol];
	struct uftrace_str name = { m->names + entry->name, entry->length };
	bool certain = collect(w, name, false, retval, items, &count);
	if (certain && !count && w->specs->auto_args) {
		const struct uftrace_dbg_function *d = dbg_function(w, m, entry);
		struct uftrace_str text = d ? (retval ? d->retval : d->args) : (struct uftrace_str){ NULL, 0 };
		if (text.length)
			certain = uftrace_argspec_items(text, long_size(w), retval, items, &count);
		else
			certain = collect(w, name, true, retval, items, &count);
	}
	if (!certain || !count) {
		*slot = certain ? &spec_none : &spec_unknown;
		return *slot;
	}
	if (!uftrace_walk_room(w, &a->made, &a->made_capacity, a->made_count, sizeof(*a->made)))
		return NULL;
	struct uftrace_spec *spec = malloc(sizeof(*spec) + count * sizeof(items[0]));
	if (!spec) {
		uftrace_walk_fail(w, TM_NO_MEMORY);
		return NULL;
	}
	spec->state = UFTRACE_SPEC_KNOWN;
	spec->count = count;
	memcpy(spec->items, items, count * sizeof(items[0]));
	a->made[a->made_count++] = spec;
	*slot = spec;
	return spec;
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
