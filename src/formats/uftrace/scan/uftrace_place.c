/* What an address is: by the map and the symbols of the session that holds at the time. */
#include <string.h>

#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_sym.h"

/* Files written before 0.6 have absolute addresses of the program's symbols. */
static uint32_t find_symbol(const struct uftrace_walk *w, const struct uftrace_mapping *m, uint64_t address)
{
	const struct uftrace_module *of = &w->symbols->modules[m->module];
	uint32_t found = uftrace_sym_find(of, address - m->start);
	bool absolute = w->info->head.present && !(w->info->head.feat & UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR));

	return found == UFTRACE_NONE && absolute ? uftrace_sym_find(of, address) : found;
}

void uftrace_place_symbol(struct uftrace_stream *t, uint64_t address, uint32_t *module, uint32_t *symbol)
{
	struct uftrace_walk *w = t->w;

	*module = *symbol = UFTRACE_NONE;
	struct uftrace_mapping *m = t->session.map ? uftrace_map_find(t->session.map, address) : NULL;
	if (m) {
		m->used = true;
		*module = m->module;
		if (m->module != UFTRACE_NONE)
			*symbol = find_symbol(w, m, address);
		return;
	}
	for (size_t i = w->sessions->library_count; i-- > 0 && w->sessions->work < (1u << 26);) {
		const struct uftrace_library *l = &w->sessions->libraries[i];
		w->sessions->work++;
		if (l->session != t->session.index || address < l->base || l->module == UFTRACE_NONE)
			continue;
		uint32_t found = uftrace_sym_find(&w->symbols->modules[l->module], address - l->base);
		if (found == UFTRACE_NONE)
			continue;
		*module = l->module;
		*symbol = found;
		return;
	}
}

/* Libraries whose symbols are not there: anything near their base may be theirs. */
static bool in_nameless_library(struct uftrace_stream *t, uint64_t address)
{
	struct uftrace_walk *w = t->w;

	for (size_t i = 0; i < w->sessions->library_count && w->sessions->work < (1u << 26); i++) {
		const struct uftrace_library *l = &w->sessions->libraries[i];
		w->sessions->work++;
		if (l->session == t->session.index && address >= l->base && address - l->base < (64u << 20))
			return true;
	}
	return false;
}

static enum uftrace_place place_find(struct uftrace_stream *t, uint64_t address)
{
	struct uftrace_walk *w = t->w;
	uint32_t module, symbol;

	if (!uftrace_map_useful(t->session.map))
		return UFTRACE_PLACE_UNCHECKED;
	struct uftrace_mapping *m = uftrace_map_find(t->session.map, address);
	uftrace_place_symbol(t, address, &module, &symbol);
	if (module != UFTRACE_NONE)
		return symbol == UFTRACE_NONE ? UFTRACE_PLACE_NO_SYMBOL : UFTRACE_PLACE_MAPPED;
	if (m || in_nameless_library(t, address))
		return UFTRACE_PLACE_MAPPED;
	if (address < (1u << 20) && uftrace_dir_find(w->dir, "python.fake.sym") != UFTRACE_NONE)
		return UFTRACE_PLACE_MAPPED; /* line numbers of a Python program stand for addresses */
	if (w->info->head.class == UFTRACE_64 && address >= UINT64_C(1) << 47)
		return UFTRACE_PLACE_KERNEL;
	return UFTRACE_PLACE_UNMAPPED;
}

enum uftrace_place uftrace_place_of(struct uftrace_stream *t, uint64_t address)
{
	struct uftrace_known *known = uftrace_known_at(t, address);

	if (!address)
		return place_find(t, address); /* not remembered: it is never beyond doubt */
	if (known->key != (address | t->era))
		*known = (struct uftrace_known){ .key = address | t->era, .place = place_find(t, address) };
	return known->place;
}

void uftrace_place_forget(struct uftrace_stream *t)
{
	t->era += UINT64_C(1) << UFTRACE_ADDRESS_BITS;
	if (!t->era) {
		memset(t->places, 0, (size_t)(t->place_mask + 1) * sizeof(*t->places));
		t->era = UINT64_C(1) << UFTRACE_ADDRESS_BITS;
	}
}

void uftrace_place_session(struct uftrace_stream *t, uint64_t time)
{
	struct uftrace_walk *w = t->w;

	if (time >= t->session.since && time < t->session.next)
		return;
	uint32_t session = uftrace_session_at(w->sessions, w->tasks, t->pid, time);
	t->session.since = session != UFTRACE_NONE ? w->sessions->list[session].time : 0;
	if (session != UFTRACE_NONE && t->pid == (int64_t)t->dat->tid)
		w->sessions->list[session].used = true;
	t->session.next = uftrace_session_next(w->sessions, t->pid, time);
	if (t->session.found && session == t->session.index)
		return;
	t->session.changed = t->started;
	t->session.found = true;
	t->session.index = session;
	t->session.map = session != UFTRACE_NONE && w->sessions->list[session].map != UFTRACE_NONE
				 ? &w->maps->list[w->sessions->list[session].map]
				 : NULL;
	uftrace_place_forget(t);
}

/* Whether the name of the function at an address has these letters. */
bool uftrace_place_has_name(struct uftrace_stream *t, uint64_t address, const char *part)
{
	uint32_t module, symbol;

	if (address == UFTRACE_ANY)
		return false;
	uftrace_place_symbol(t, address, &module, &symbol);
	if (symbol == UFTRACE_NONE)
		return false;
	const struct uftrace_module *m = &t->w->symbols->modules[module];
	const struct uftrace_symbol *entry = &m->symbols[symbol];
	return entry->length && memmem(m->names + entry->name, entry->length, part, strlen(part)) != NULL;
}
