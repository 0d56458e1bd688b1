/* Calls and returns: what an address is, and whether a record fits the calls that are open. */
#include "formats/uftrace/scan/uftrace_dat.h"

struct finding *uftrace_fold_at(struct uftrace_tape *t, struct uftrace_fold *fold, enum uftrace_rule rule,
				enum tracemend_severity severity, uint64_t offset, uint64_t length, const char *format, ...)
{
	va_list arguments;

	if (place_silenced())
		return NULL;
	fold->count++;
	if (fold->finding) {
		finding_explains(fold->finding, 1);
		return NULL;
	}
	fold->finding = finding_milder_at(t->w->findings, rule, severity, t->s, offset, length);
	va_start(arguments, format);
	finding_say_list(fold->finding, format, arguments);
	va_end(arguments);
	return fold->finding;
}

void uftrace_symbol_of(struct uftrace_tape *t, uint64_t address, uint32_t *module, uint32_t *symbol)
{
	struct uftrace_walk *w = t->w;

	*module = *symbol = UFTRACE_NONE;
	struct uftrace_mapping *m = t->map ? uftrace_map_find(t->map, address) : NULL;
	if (m) {
		m->used = true;
		*module = m->module;
		if (m->module != UFTRACE_NONE)
			*symbol = uftrace_sym_find(&w->modules[m->module], address - m->start);
		return;
	}
	for (size_t i = w->library_count; i-- > 0 && w->work < (1u << 26);) {
		const struct uftrace_library *l = &w->libraries[i];
		w->work++;
		if (l->session != t->session || address < l->base || l->module == UFTRACE_NONE)
			continue;
		uint32_t found = uftrace_sym_find(&w->modules[l->module], address - l->base);
		if (found == UFTRACE_NONE)
			continue;
		*module = l->module;
		*symbol = found;
		return;
	}
}

/* Libraries whose symbols are not there: anything near their base may be theirs. */
static bool in_nameless_library(struct uftrace_tape *t, uint64_t address)
{
	struct uftrace_walk *w = t->w;

	for (size_t i = 0; i < w->library_count && w->work < (1u << 26); i++) {
		const struct uftrace_library *l = &w->libraries[i];
		w->work++;
		if (l->session == t->session && address >= l->base && address - l->base < (64u << 20))
			return true;
	}
	return false;
}

bool uftrace_map_useful(const struct uftrace_map *map)
{
	for (size_t i = 0; map && i < map->count; i++)
		if (map->list[i].path.text[0] != '[')
			return true;
	return false;
}

static enum uftrace_place place_find(struct uftrace_tape *t, uint64_t address)
{
	struct uftrace_walk *w = t->w;
	uint32_t module, symbol;

	if (!uftrace_map_useful(t->map))
		return UFTRACE_PLACE_UNCHECKED;
	struct uftrace_mapping *m = uftrace_map_find(t->map, address);
	uftrace_symbol_of(t, address, &module, &symbol);
	if (module != UFTRACE_NONE)
		return symbol == UFTRACE_NONE ? UFTRACE_PLACE_NO_SYMBOL : UFTRACE_PLACE_MAPPED;
	if (m || in_nameless_library(t, address))
		return UFTRACE_PLACE_MAPPED;
	if (address < (1u << 20) && uftrace_dir_find(w, "python.fake.sym", 15) != UFTRACE_NONE)
		return UFTRACE_PLACE_MAPPED; /* line numbers of a Python program stand for addresses */
	if (w->head.class == UFTRACE_64 && address >= UINT64_C(1) << 47)
		return UFTRACE_PLACE_KERNEL;
	return UFTRACE_PLACE_UNMAPPED;
}

enum uftrace_place uftrace_place_of(struct uftrace_tape *t, uint64_t address)
{
	struct uftrace_known *known = uftrace_known_at(t, address);

	if (!address)
		return place_find(t, address); /* not remembered: it is never beyond doubt */
	if (known->key != (address | t->era))
		*known = (struct uftrace_known){ .key = address | t->era, .place = place_find(t, address) };
	return known->place;
}

/* Forgets what is known of addresses. */
static void era_begin(struct uftrace_tape *t)
{
	t->era += UINT64_C(1) << UFTRACE_ADDRESS_BITS;
	if (!t->era) {
		memset(t->places, 0, UFTRACE_PLACES * sizeof(*t->places));
		t->era = UINT64_C(1) << UFTRACE_ADDRESS_BITS;
	}
}

void uftrace_session_of(struct uftrace_tape *t, uint64_t time)
{
	struct uftrace_walk *w = t->w;

	if (time >= t->session_since && time < t->session_next)
		return;
	uint32_t session = uftrace_session_at(w, t->pid, time);
	t->session_since = session != UFTRACE_NONE ? w->sessions[session].time : 0;
	t->session_next = uftrace_session_next(w, t->pid, time);
	if (t->session_found && session == t->session)
		return;
	t->session_changed = t->started;
	t->session_found = true;
	t->session = session;
	t->map = session != UFTRACE_NONE && w->sessions[session].map != UFTRACE_NONE ? &w->maps[w->sessions[session].map] : NULL;
	era_begin(t);
}

/* Whether the name of the function at an address has these letters. */
static bool name_has(struct uftrace_tape *t, uint64_t address, const char *part)
{
	uint32_t module, symbol;

	if (address == UFTRACE_ANY)
		return false;
	uftrace_symbol_of(t, address, &module, &symbol);
	if (symbol == UFTRACE_NONE)
		return false;
	const struct uftrace_module *m = &t->w->modules[module];
	const struct uftrace_symbol *s = &m->symbols[symbol];
	return s->length && memmem(m->names + s->name, s->length, part, strlen(part)) != NULL;
}

/* The depth that a record means. Ten bits are stored; deeper ones are told by what is open. */
static unsigned depth_meant(const struct uftrace_tape *t, uint64_t word, unsigned expected)
{
	unsigned stored = uftrace_word_depth(word);

	if (!t->wrap)
		return stored;
	unsigned base = expected & ~UFTRACE_DEPTH_MASK, best = base | stored;
	if (best > expected + 512 && base)
		best -= 1024;
	else if (best + 512 < expected && best + 1024 < UFTRACE_FRAMES_MAX)
		best += 1024;
	return best;
}

static void seed(struct uftrace_tape *t, unsigned depth)
{
	t->depth = t->unsure = depth;
	t->seek = false;
}

static uint64_t frame(const struct uftrace_tape *t, unsigned index)
{
	return index < t->unsure ? UFTRACE_ANY : t->frames[index];
}

static bool nest_entry(struct uftrace_tape *t, uint64_t offset, uint64_t word, unsigned depth)
{
	struct finding *fd;
	bool fits = depth == t->depth;

	if (depth > t->depth) {
		fd = uftrace_fold(t, &t->gap, UFTRACE_RULE_dat_depth_gap, offset, UFTRACE_RECORD_SIZE,
				  "a call at depth %u, and %u calls are open", depth, t->depth);
		if (fd)
			finding_field(fd, offset + 8, 2, "depth = %u", depth);
		seed(t, depth);
	} else if (depth < t->depth) {
		/* exec starts over at depth 0; longjmp takes all frames above its target away. */
		bool jump = t->session_changed || name_has(t, frame(t, t->depth - 1), "jmp") ||
			    name_has(t, frame(t, t->depth - 1), "exec");
		fits = jump;
		if (!jump) {
			fd = uftrace_fold(t, &t->closed, UFTRACE_RULE_dat_implicit_close, offset, UFTRACE_RECORD_SIZE,
					  "a call at depth %u, and %u calls are open: some ended without a return", depth,
					  t->depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		t->depth = depth;
		if (t->unsure > depth)
			t->unsure = depth;
	}
	if (t->depth < UFTRACE_FRAMES_MAX)
		t->frames[t->depth++] = uftrace_word_address(word);
	return fits;
}

static bool nest_exit(struct uftrace_tape *t, uint64_t offset, uint64_t word, unsigned depth)
{
	struct finding *fd;
	uint64_t address = uftrace_word_address(word);
	bool fits = depth + 1 == t->depth;

	if (depth >= t->depth) {
		bool again = name_has(t, address, "jmp");
		fits = again;
		if (!again) {
			fd = uftrace_fold(t, &t->without_entry, UFTRACE_RULE_dat_exit_without_entry, offset, UFTRACE_RECORD_SIZE,
					  "a return at depth %u, and %u calls are open", depth, t->depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		seed(t, depth);
		return fits;
	}
	bool jump = name_has(t, address, "jmp");
	if (!fits) {
		jump = jump || name_has(t, frame(t, t->depth - 1), "jmp") || name_has(t, frame(t, t->depth - 1), "exec");
		fits = jump;
		if (!jump) {
			fd = uftrace_fold(t, &t->closed, UFTRACE_RULE_dat_implicit_close, offset, UFTRACE_RECORD_SIZE,
					  "a return at depth %u, and %u calls are open: those within it ended without a return",
					  depth, t->depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
	}
	uint64_t open = frame(t, depth);
	t->depth = depth;
	if (t->unsure > depth)
		t->unsure = depth;
	if (open != UFTRACE_ANY && open != address && !jump) {
		fd = uftrace_fold(t, &t->mismatch, UFTRACE_RULE_dat_exit_addr_mismatch, offset, UFTRACE_RECORD_SIZE,
				  "a return of 0x%llx, and the call that is open at depth %u is 0x%llx",
				  (unsigned long long)address, depth, (unsigned long long)open);
		if (fd)
			finding_field(fd, offset + 10, 6, "address = 0x%llx", (unsigned long long)address);
		return false;
	}
	return fits;
}

bool uftrace_nest(struct uftrace_tape *t, uint64_t offset, uint64_t word)
{
	struct uftrace_walk *w = t->w;
	struct finding *fd;
	bool entry = uftrace_word_type(word) == UFTRACE_ENTRY, seek = t->seek;
	unsigned expected = entry ? t->depth : t->depth ? t->depth - 1 : 0;
	unsigned depth = depth_meant(t, word, expected);
	bool fits = true;

	if (w->foreign) { /* other writers count from 1, and returns differ */
		t->seek = false;
		return true;
	}
	if (!t->started && t->dat->forked && (entry || !t->map || !name_has(t, uftrace_word_address(word), "fork"))) {
		if (entry || (t->map && !name_has(t, uftrace_word_address(word), "daemon") &&
			      uftrace_place_of(t, uftrace_word_address(word)) == UFTRACE_PLACE_MAPPED)) {
			fd = finding_report(w->findings, UFTRACE_RULE_dat_fork_prefix, t->s, offset, UFTRACE_RECORD_SIZE,
					    "the first record of this forked process is %s, not the return of fork",
					    entry ? "a call" : "another return");
		}
	}
	if (seek) {
		if (!t->started && !entry && !t->dat->forked) {
			fd = uftrace_fold(t, &t->without_entry, UFTRACE_RULE_dat_exit_without_entry, offset, UFTRACE_RECORD_SIZE,
					  "the first record of the task is a return");
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		if (!t->started && entry && depth && !t->dat->forked) {
			fd = uftrace_fold(t, &t->gap, UFTRACE_RULE_dat_depth_gap, offset, UFTRACE_RECORD_SIZE,
					  "the first record of the task is a call at depth %u", depth);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
		seed(t, entry ? depth : depth + 1);
	}
	unsigned limit = w->head.max_stack;
	fits = entry ? nest_entry(t, offset, word, depth) : nest_exit(t, offset, word, depth);
	if (depth >= limit && w->head.present) {
		if (fits && !seek) {
			if (depth + 1 > w->deepest)
				w->deepest = depth + 1;
		} else {
			fd = uftrace_fold_milder(t, &t->too_deep, UFTRACE_RULE_dat_depth_exceeds_max_stack, TM_WARNING, offset,
						 UFTRACE_RECORD_SIZE, "depth %u, and info allows %u", depth, limit);
			if (fd)
				finding_field(fd, offset + 8, 2, "depth = %u", depth);
		}
	}
	if (depth > UFTRACE_DEPTH_MASK) {
		fd = uftrace_fold(t, &t->wrapped, UFTRACE_RULE_dat_depth_wrap, offset, UFTRACE_RECORD_SIZE,
				  "depth %u does not fit its ten bits: %u is stored, and the address is %u too high", depth,
				  uftrace_word_depth(word), depth >> UFTRACE_DEPTH_BITS);
		if (fd)
			finding_field(fd, offset + 8, 8, "depth = %u", uftrace_word_depth(word));
	}
	return fits;
}
