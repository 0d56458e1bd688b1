/* What is known of a function from elsewhere than its records: its name, and the specification that the debug information or the
 * table of library functions has. */
#include <stdlib.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_library.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_sym.h"

/* The program of a mapping, by its path; made when it is new. UFTRACE_NONE: too many, or no memory. */
static uint32_t program_of(struct uftrace_walk *w, struct uftrace_mapping *m)
{
	struct uftrace_infer *n = w->infer;

	if (m->program != UFTRACE_NONE)
		return m->program;
	for (uint32_t i = 0; i < n->program_count; i++)
		if (uftrace_str_equal(n->programs[i].path, m->path)) {
			if (n->programs[i].size < m->end - m->start)
				n->programs[i].size = m->end - m->start;
			return m->program = i;
		}
	if (n->program_count >= UFTRACE_INFER_PROGRAMS_MAX ||
	    !uftrace_walk_room(w, &n->programs, &n->program_capacity, n->program_count, sizeof(*n->programs)))
		return UFTRACE_NONE;
	struct uftrace_infer_program *p = &n->programs[n->program_count];
	*p = (struct uftrace_infer_program){
		.path = m->path, .build_id = m->build_id, .size = m->end - m->start, .module = UFTRACE_NONE, .dbg = UFTRACE_NONE
	};
	if (!uftrace_sym_is_empty(w->symbols, m->module))
		p->module = m->module;
	for (uint32_t i = 0; i < w->symbols->dbg_count; i++) {
		const struct uftrace_dbg *d = &w->symbols->dbgs[i];
		bool same = !m->build_id.length || uftrace_str_equal(d->build_id, m->build_id);
		if (d->count && uftrace_str_equal(d->path, m->path) && same)
			p->dbg = i;
	}
	return m->program = (uint32_t)n->program_count++;
}

/* The debug information of the function that has this address: it begins at most a prologue before it. */
static const struct uftrace_dbg_function *debug_of(const struct uftrace_walk *w, const struct uftrace_infer_program *p,
						   uint64_t address)
{
	size_t i;

	if (p->dbg == UFTRACE_NONE)
		return NULL;
	const struct uftrace_dbg *d = &w->symbols->dbgs[p->dbg];
	array_search(i, d->count, d->list[i].address <= address);
	return i && address - d->list[i - 1].address <= UFTRACE_PROLOGUE_MAX ? &d->list[i - 1] : NULL;
}

static const struct uftrace_spec *spec_of(struct uftrace_walk *w, struct uftrace_str items, bool retval)
{
	struct uftrace_item list[UFTRACE_ITEMS_MAX];
	size_t count = 0;
	bool any = false;
	struct uftrace_argspec_of of = uftrace_spec_for(w, UFTRACE_NONE, UFTRACE_NONE);

	if (!items.length || uftrace_argspec_items(items, &of, retval, list, &count, &any) != UFTRACE_ARGSPEC_TAKEN || !count)
		return NULL;
	const struct uftrace_spec *spec = uftrace_argspec_known(list, count);
	if (!spec)
		uftrace_walk_fail(w, TM_NO_MEMORY);
	return spec;
}

static void describe(struct uftrace_walk *w, struct uftrace_infer_function *f)
{
	const struct uftrace_infer_program *p = &w->infer->programs[f->program];

	uint32_t symbol = UFTRACE_NONE;

	f->dbg = debug_of(w, p, f->address);
	if (p->module != UFTRACE_NONE) {
		const struct uftrace_module *m = &w->symbols->modules[p->module];
		symbol = uftrace_sym_find(m, f->address);
		if (symbol != UFTRACE_NONE)
			f->name = (struct uftrace_str){ m->names + m->symbols[symbol].name, m->symbols[symbol].length };
		if (f->dbg && (symbol == UFTRACE_NONE || f->dbg->address < m->symbols[symbol].address))
			f->dbg = NULL;
	}
	for (unsigned retval = 0; retval < 2; retval++) {
		/* What info still says holds, also where it is not understood here. */
		const struct uftrace_spec *given = symbol != UFTRACE_NONE ? uftrace_spec_of(w, p->module, symbol, retval) : NULL;
		f->sides[retval].given = given && given->state != UFTRACE_SPEC_NONE && w->infer->damaged;
		if (f->sides[retval].given) {
			f->sides[retval].spec = given->state == UFTRACE_SPEC_KNOWN ? given : NULL;
			continue;
		}
		if (f->dbg)
			f->sides[retval].spec = spec_of(w, retval ? f->dbg->retval : f->dbg->args, retval);
		if (f->sides[retval].spec || !f->name.length)
			continue;
		f->library_items[retval] = uftrace_library_items(f->name, retval);
		if (f->library_items[retval])
			f->sides[retval].spec = spec_of(
				w, (struct uftrace_str){ f->library_items[retval], strlen(f->library_items[retval]) }, retval);
	}
}

struct uftrace_infer_function *uftrace_infer_function_at(struct uftrace_walk *w, struct uftrace_mapping *m, uint64_t address)
{
	struct uftrace_infer *n = w->infer;
	uint32_t program = m->path.text[0] == '[' ? UFTRACE_NONE : program_of(w, m);

	if (program == UFTRACE_NONE)
		return NULL;
	uint64_t relative = address - m->start;
	int64_t key = (int64_t)((uint64_t)program << UFTRACE_ADDRESS_BITS | relative);
	uint32_t found = map_get(&n->by_address, (uint64_t)key);
	if (found != UFTRACE_NONE)
		return &n->functions[found];
	if (n->function_count >= UFTRACE_INFER_FUNCTIONS_MAX ||
	    !uftrace_walk_room(w, &n->functions, &n->function_capacity, n->function_count, sizeof(*n->functions)) ||
	    !uftrace_walk_set(w, &n->by_address, key, (uint32_t)n->function_count))
		return NULL;
	struct uftrace_infer_function *f = &n->functions[n->function_count++];
	*f = (struct uftrace_infer_function){ .address = relative, .program = program };
	describe(w, f);
	return f;
}
