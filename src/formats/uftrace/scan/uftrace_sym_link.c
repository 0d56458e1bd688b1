/* Which mapping or library a symbol file belongs to, and under which name readers look for it. */
#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_sym.h"

static uint32_t module_of_name(const struct uftrace_walk *w, struct uftrace_str base, const char *suffix)
{
	char name[512];
	const struct uftrace_module *modules = w->symbols->modules;
	size_t i;

	if (base.length + strlen(suffix) + 5 > sizeof(name))
		return UFTRACE_NONE;
	(void)snprintf(name, sizeof(name), "%.*s%s.sym", (int)base.length, base.text, suffix);
	uint32_t file = uftrace_dir_find(w->dir, name);
	if (file != UFTRACE_NONE) {
		array_search(i, w->symbols->module_count, modules[i].file < file);
		return i < w->symbols->module_count && modules[i].file == file ? (uint32_t)i : UFTRACE_NONE;
	}
	for (i = 0; i < w->symbols->renamed_count; i++)
		if (!strcmp(w->symbols->renamed[i].name, name))
			return w->symbols->renamed[i].module;
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

static bool ids_fit(struct uftrace_str a, struct uftrace_str b)
{
	return !a.length || !b.length || uftrace_str_equal(a, b);
}

static bool identity_fits(const struct uftrace_module *m, struct uftrace_str path, struct uftrace_str build_id)
{
	return !m->headed || (uftrace_str_equal(m->path, path) && ids_fit(m->build_id, build_id));
}

static uint32_t find_module(struct uftrace_walk *w, struct uftrace_str path, struct uftrace_str build_id)
{
	struct uftrace_str base = uftrace_basename(path);
	char suffix[6];
	uint32_t found = module_of_name(w, base, "");

	if (found != UFTRACE_NONE && identity_fits(&w->symbols->modules[found], path, build_id))
		return found;
	path_suffix(path, build_id, suffix);
	uint32_t second = module_of_name(w, base, suffix);
	if (second != UFTRACE_NONE && identity_fits(&w->symbols->modules[second], path, build_id))
		return second;
	return UFTRACE_NONE;
}

/* Looks for the mapping or library of that path and build id. */
static bool find_identity(const struct uftrace_walk *w, struct uftrace_str path, struct uftrace_str id,
			  struct uftrace_str *build_id)
{
	if (id.length && uftrace_map_has(w, path, id) && !uftrace_map_has(w, path, (struct uftrace_str){ NULL, 0 })) {
		*build_id = id;
		return true;
	}
	const size_t maps = uftrace_map_has_path(w, path) ? w->maps->count : 0;
	for (size_t i = 0; i < maps; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			const struct uftrace_mapping *map = &w->maps->list[i].list[k];
			if (uftrace_str_equal(map->path, path) && ids_fit(map->build_id, id)) {
				*build_id = map->build_id;
				return true;
			}
		}
	for (size_t i = 0; i < w->sessions->library_count; i++)
		if (uftrace_str_equal(w->sessions->libraries[i].name, path)) {
			*build_id = id;
			return true;
		}
	return false;
}

/* A mapping that has the path or the build id of the symbol file, and not both: one of them is wrong. */
static void doubt_identity(struct uftrace_walk *w, const struct uftrace_module *m)
{
	const struct source *source = w->dir->files[m->file].source;

	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			const struct uftrace_map *map = &w->maps->list[i];
			const struct uftrace_mapping *line = &map->list[k];
			bool id = m->build_id.length && uftrace_str_equal(line->build_id, m->build_id);
			if (!id && !uftrace_str_equal(line->path, m->path))
				continue;
			uftrace_repair_doubt_line(w, w->dir->files[map->file].source, map->text, map->size,
						  (size_t)(line->path.text - map->text));
			struct uftrace_str own = id ? m->path : m->build_id;
			if (own.length)
				uftrace_repair_doubt_line(w, source, m->names, (size_t)source->size, (size_t)(own.text - m->names));
			return;
		}
	if (w->plan)
		plan_lost_other(w->plan); /* of its mapping */
}

void uftrace_sym_belongs(struct uftrace_walk *w, const struct uftrace_module *m)
{
	const struct source *source = w->dir->files[m->file].source;
	struct uftrace_str base = uftrace_basename(m->path), build_id;
	char shown[TEXT_QUOTE_SIZE];

	if (!m->headed || w->info->foreign || !base.length || find_identity(w, m->path, m->build_id, &build_id))
		return;
	finding_say(finding_milder(w->findings, UFTRACE_RULE_sym_mismatched_identity, TM_WARNING, source, 0, 0),
		    "no map and no loaded library has '%s' with this build id", text_quote(shown, m->path.text, m->path.length));
	doubt_identity(w, m);
}

/* The two names under which readers look for a file of that program: as the program is called, and with digits of its build id. */
struct names {
	char plain[512], second[512];
};

static bool names_of(const struct uftrace_program *p, struct uftrace_str build_id, struct names *names)
{
	struct uftrace_str base = uftrace_basename(p->path);
	char suffix[6];

	if (!base.length || base.length + 16 > sizeof(names->plain) || memchr(base.text, '\0', base.length))
		return false;
	path_suffix(p->path, build_id, suffix);
	snprintf(names->plain, sizeof(names->plain), "%.*s%s", (int)base.length, base.text, p->extension);
	snprintf(names->second, sizeof(names->second), "%.*s%s%s", (int)base.length, base.text, suffix, p->extension);
	return true;
}

static bool is_there(const struct uftrace_walk *w, const char *name)
{
	return uftrace_dir_find(w->dir, name) != UFTRACE_NONE;
}

/* Whether another file gets that name: two must not, the first in order takes it. */
static bool is_given(const struct uftrace_symbols *symbols, const char *name)
{
	bool given = false;

	for (size_t i = 0; i < symbols->renamed_count; i++)
		given |= !strcmp(symbols->renamed[i].name, name);
	return given;
}

bool uftrace_sym_name(struct uftrace_walk *w, const struct uftrace_program *p, char *out, size_t size)
{
	struct uftrace_symbols *symbols = w->symbols;
	const char *own = p->source->name;
	struct uftrace_str build_id = { 0 };
	struct names names;

	snprintf(out, size, "%s", own);
	if (w->info->foreign || strlen(own) >= sizeof(names.plain) || !p->path.length ||
	    !find_identity(w, p->path, p->build_id, &build_id) || !names_of(p, build_id, &names) || !strcmp(own, names.plain))
		return true;
	bool first = !is_there(w, names.plain);
	/* The second name is for symbols where the first one is there. */
	if (!strcmp(own, names.second) && (!first || p->module == UFTRACE_NONE || is_given(symbols, names.plain)))
		return true;
	const char *target = first ? names.plain : !is_there(w, names.second) ? names.second : NULL;
	bool taken = !target || is_given(symbols, target) ||
		     symbols->renamed_count >= sizeof(symbols->renamed) / sizeof(symbols->renamed[0]);
	struct finding *fd = taken ? finding_milder(w->findings, UFTRACE_RULE_sym_wrong_suffix, TM_WARNING, p->source, 0, 0)
				   : finding_new(w->findings, UFTRACE_RULE_sym_wrong_suffix, p->source, 0, 0);
	char shown[TEXT_QUOTE_SIZE], shown_wanted[TEXT_QUOTE_SIZE];
	if (!target)
		target = names.second;
	finding_say(fd, "readers look for the %s of '%s' in '%s'", p->module == UFTRACE_NONE ? "debug information" : "symbols",
		    text_quote(shown, p->path.text, p->path.length), text_quote(shown_wanted, target, strlen(target)));
	if (taken)
		return false;
	snprintf(out, size, "%s", target);
	snprintf(symbols->renamed[symbols->renamed_count].name, sizeof(symbols->renamed[0].name), "%s", target);
	symbols->renamed[symbols->renamed_count++].module = p->module;
	return true;
}

bool uftrace_sym_link(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			struct uftrace_mapping *m = &w->maps->list[i].list[k];
			if (m->path.text[0] == '[')
				continue;
			m->module = find_module(w, m->path, m->build_id);
			if (m->module == UFTRACE_NONE)
				continue;
			struct uftrace_module *module = &w->symbols->modules[m->module];
			module->mapped = true;
			if (!module->mapped_id.length)
				module->mapped_id = m->build_id;
			/* Files written before 0.6 have absolute addresses. */
			bool absolute = w->info->head.present && !(w->info->head.feat & UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR));
			if (module->matched || !module->count || !w->maps->list[i].referenced || absolute)
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
				finding_report(w->findings, UFTRACE_RULE_sym_outside_map, w->dir->files[module->file].source,
					       last->name, last->length, "address %llx is beyond the %llx bytes of the mapping",
					       (unsigned long long)last->address, (unsigned long long)room);
		}
	for (size_t i = 0; i < w->sessions->library_count; i++) {
		struct uftrace_str none = { 0 };
		w->sessions->libraries[i].module = find_module(w, w->sessions->libraries[i].name, none);
	}
	return true;
}
