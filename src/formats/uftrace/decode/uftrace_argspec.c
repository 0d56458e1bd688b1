/* Argument specifications: what the bytes after a record are. "name@arg1,arg2/s;other@retval/i32". */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

static const struct uftrace_spec spec_unknown = { .state = UFTRACE_SPEC_UNKNOWN };
static const struct uftrace_spec spec_none = { .state = UFTRACE_SPEC_NONE };

#define ITEMS_MAX 64u		/* of one function */
#define PATTERN_LENGTH_MAX 256u /* bytes of a regular expression that is compiled */

enum spec_source { SPEC_ARG, SPEC_RET, SPEC_ARG_AUTO, SPEC_RET_AUTO };

struct function_spec {
	struct uftrace_str pattern, items;
	enum spec_source source;
	bool meta; /* the pattern has metacharacters */
	bool compiled, unusable;
	regex_t regex;
};

struct uftrace_argspecs {
	struct function_spec *list;
	size_t count, capacity;
	unsigned regexes;
	uint64_t work;
	bool overflow;
	const struct uftrace_spec **made; /* all specs, to free them */
	size_t made_count, made_capacity;
};

static bool item_parse(struct uftrace_str t, unsigned long_size, struct uftrace_item *item, bool *ignored)
{
	size_t at = 0;
	bool fp = false;

	*item = (struct uftrace_item){ .size = (uint16_t)long_size };
	*ignored = false;
	if (t.length >= 6 && !memcmp(t.text, "retval", 6)) {
		item->retval = true;
		at = 6;
	} else if ((t.length > 3 && !memcmp(t.text, "arg", 3)) || (t.length > 5 && !memcmp(t.text, "fparg", 5))) {
		fp = t.text[0] == 'f';
		at = fp ? 5 : 3;
		unsigned index = 0;
		while (at < t.length && t.text[at] >= '0' && t.text[at] <= '9' && index < 1000)
			index = index * 10 + (unsigned)(t.text[at++] - '0');
		if (!index)
			return false;
		item->index = (uint16_t)index;
		item->floating = fp;
		if (fp)
			item->size = 8;
	} else {
		*ignored = true; /* a module, or another trigger */
		return true;
	}
	if (at >= t.length || t.text[at] == '%')
		return true;
	if (t.text[at++] != '/')
		return false;
	char format = 0;
	if (at < t.length && !(t.text[at] >= '0' && t.text[at] <= '9'))
		format = t.text[at++];
	if (format == 's' || format == 'S') {
		item->string = true;
		return true;
	}
	if (format == 'e')
		return at < t.length && t.text[at] == ':';
	unsigned bits = 0;
	bool digits = false;
	while (at < t.length && t.text[at] >= '0' && t.text[at] <= '9' && bits < 100000) {
		bits = bits * 10 + (unsigned)(t.text[at++] - '0');
		digits = true;
	}
	switch (format) {
	case 0:
	case 'f':
		if (format == 'f' || fp)
			item->size = 8;
		if (digits && bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 80)
			return false;
		if (digits)
			item->size = (uint16_t)(bits / 8);
		return true;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'o':
		if (digits && bits != 8 && bits != 16 && bits != 32 && bits != 64)
			return false;
		if (digits)
			item->size = (uint16_t)(bits / 8);
		return true;
	case 'c':
		item->size = 1;
		return true;
	case 'p':
		return true;
	case 't':
		if (!digits || bits > UFTRACE_PAYLOAD_MAX)
			return false;
		item->size = (uint16_t)bits;
		return true;
	default:
		return false;
	}
}

/* Splits at the commas; false at the first item that is not understood. */
static bool items_parse(struct uftrace_str t, unsigned long_size, bool retval, struct uftrace_item *items, size_t *count)
{
	for (size_t at = 0; at < t.length;) {
		const char *comma = memchr(t.text + at, ',', t.length - at);
		struct uftrace_str one = { t.text + at, comma ? (size_t)(comma - t.text) - at : t.length - at };
		struct uftrace_item item;
		bool ignored;
		at += one.length + 1;
		if (!one.length)
			continue;
		if (!item_parse(one, long_size, &item, &ignored))
			return false;
		if (ignored || item.retval != retval)
			continue;
		size_t k = 0;
		while (k < *count && (items[k].index != item.index || items[k].floating != item.floating))
			k++;
		if (k == *count && *count < ITEMS_MAX)
			++*count;
		if (k < ITEMS_MAX)
			items[k] = item;
	}
	return true;
}

static unsigned long_size(const struct uftrace_walk *w)
{
	return w->head.class == UFTRACE_64 ? 8 : 4;
}

static bool spec_add(struct uftrace_walk *w, struct uftrace_str t, enum spec_source source, uint64_t offset)
{
	struct uftrace_argspecs *a = w->argspecs;
	const char *sign = memchr(t.text, '@', t.length);
	struct function_spec spec = { .pattern = t, .source = source };

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
	struct uftrace_item items[ITEMS_MAX];
	size_t count = 0;
	if (!items_parse(spec.items, long_size(w), false, items, &count)) {
		spec.unusable = true;
		char shown[TEXT_QUOTE_SIZE];
		finding_report(w->findings, UFTRACE_RULE_argspec_unparsable, w->files[w->info].source, offset, t.length,
			       "the specification '%s' is not understood", text_quote(shown, t.text, t.length));
	}
	struct function_spec *list = uftrace_grow(w, a->list, &a->capacity, a->count, sizeof(*list));
	if (!list)
		return false;
	a->list = list;
	list[a->count++] = spec;
	return true;
}

bool uftrace_argspec_walk(struct uftrace_walk *w, struct uftrace_str key, struct uftrace_str value, uint64_t offset)
{
	enum spec_source source;

	if (!w->argspecs) {
		w->argspecs = calloc(1, sizeof(*w->argspecs));
		if (!w->argspecs)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
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
		w->auto_args |= uftrace_str_is(key, "auto-args") && value.length && value.text[0] == '1';
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

bool uftrace_argspec_ready(struct uftrace_walk *w)
{
	if (!w->argspecs)
		w->argspecs = calloc(1, sizeof(*w->argspecs));
	if (!w->argspecs)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	return true;
}

enum match { MATCH_NO, MATCH_YES, MATCH_MAYBE };

static enum match match_regex(struct uftrace_walk *w, struct function_spec *f, const char *name)
{
	struct uftrace_argspecs *a = w->argspecs;

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

static enum match spec_match(struct uftrace_walk *w, struct function_spec *f, struct uftrace_str name)
{
	struct uftrace_argspecs *a = w->argspecs;
	bool mangled = name.length > 2 && name.text[0] == '_' && name.text[1] == 'Z';
	char copy[PATTERN_LENGTH_MAX * 2 + 1], pattern[PATTERN_LENGTH_MAX + 1];

	if (++a->work > UFTRACE_MATCH_WORK_MAX)
		return MATCH_MAYBE;
	if (uftrace_str_equal(f->pattern, name))
		return MATCH_YES;
	/* Readers match the demangled name, which is not known here. */
	bool automatic = f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO;
	if (!f->meta || automatic || w->pattern_type == 0)
		return mangled && !automatic ? MATCH_MAYBE : MATCH_NO;
	if (mangled || w->pattern_type == 3 || name.length >= sizeof(copy) || f->pattern.length >= sizeof(pattern))
		return MATCH_MAYBE;
	a->work += 16;
	memcpy(copy, name.text, name.length);
	copy[name.length] = '\0';
	if (w->pattern_type != 2)
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
	struct uftrace_argspecs *a = w->argspecs;
	bool certain = true;

	for (size_t i = 0; i < a->count; i++) {
		struct function_spec *f = &a->list[i];
		bool is_auto = f->source == SPEC_ARG_AUTO || f->source == SPEC_RET_AUTO;
		if (is_auto != automatic)
			continue;
		enum match match = spec_match(w, f, name);
		if (match == MATCH_NO)
			continue;
		if (match == MATCH_MAYBE || f->unusable || !items_parse(f->items, long_size(w), retval, items, count))
			certain = false;
	}
	return certain;
}

/* By the path in their heads; files without a head belong together by their names. */
static bool dbg_belongs(const struct uftrace_walk *w, const struct uftrace_dbg *d, const struct uftrace_module *m)
{
	if (m->headed && d->path.length)
		return uftrace_str_equal(d->path, m->path);
	const char *sym = w->files[m->file].source->name, *dbg = w->files[d->file].source->name;
	return strlen(sym) == strlen(dbg) && !strncmp(sym, dbg, strlen(sym) - 4);
}

static const struct uftrace_dbg_function *dbg_function(const struct uftrace_walk *w, const struct uftrace_module *m,
						       const struct uftrace_symbol *symbol)
{
	for (size_t i = 0; i < w->dbg_count; i++) {
		const struct uftrace_dbg *d = &w->dbgs[i];
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

const struct uftrace_spec *uftrace_argspec_of(struct uftrace_walk *w, uint32_t module, uint32_t symbol, bool retval)
{
	struct uftrace_argspecs *a = w->argspecs;
	struct uftrace_item items[ITEMS_MAX];
	size_t count = 0;

	if (module == UFTRACE_NONE || symbol == UFTRACE_NONE || a->overflow)
		return &spec_unknown;
	struct uftrace_module *m = &w->modules[module];
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
	const struct uftrace_symbol *s = &m->symbols[symbol];
	struct uftrace_str name = { m->names + s->name, s->length };
	bool certain = collect(w, name, false, retval, items, &count);
	if (certain && !count && w->auto_args) {
		const struct uftrace_dbg_function *d = dbg_function(w, m, s);
		struct uftrace_str text = d ? (retval ? d->retval : d->args) : (struct uftrace_str){ NULL, 0 };
		if (text.length)
			certain = items_parse(text, long_size(w), retval, items, &count);
		else
			certain = collect(w, name, true, retval, items, &count);
	}
	if (!certain || !count) {
		*slot = certain ? &spec_none : &spec_unknown;
		return *slot;
	}
	const struct uftrace_spec **made = uftrace_grow(w, a->made, &a->made_capacity, a->made_count, sizeof(*made));
	if (!made)
		return NULL;
	a->made = made;
	struct uftrace_spec *spec = malloc(sizeof(*spec) + count * sizeof(items[0]));
	if (!spec) {
		uftrace_walk_fail(w, TM_NO_MEMORY);
		return NULL;
	}
	spec->state = UFTRACE_SPEC_KNOWN;
	spec->count = count;
	memcpy(spec->items, items, count * sizeof(items[0]));
	made[a->made_count++] = spec;
	*slot = spec;
	return spec;
}

int uftrace_argspec_size(const struct uftrace_spec *spec, const uint8_t *data, size_t size, bool big_endian, unsigned *longest)
{
	size_t at = 0;

	*longest = 0;
	for (size_t i = 0; i < spec->count; i++) {
		size_t length = spec->items[i].size;
		if (spec->items[i].string) {
			if (at + 2 > size)
				return -1;
			length = load_u16(data + at, big_endian);
			if (length > *longest)
				*longest = (unsigned)length;
			length += 2;
		}
		at += (length + 3) & ~(size_t)3;
		if (at > UFTRACE_PAYLOAD_MAX)
			return -1;
	}
	at = (at + 7) & ~(size_t)7;
	return at > size ? -1 : (int)at;
}

void uftrace_argspec_free(struct uftrace_walk *w)
{
	struct uftrace_argspecs *a = w->argspecs;

	if (!a)
		return;
	for (size_t i = 0; i < a->count; i++)
		if (a->list[i].compiled)
			regfree(&a->list[i].regex);
	for (size_t i = 0; i < a->made_count; i++)
		free((void *)(uintptr_t)a->made[i]);
	free(a->made);
	free(a->list);
	free(a);
}
