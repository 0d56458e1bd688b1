/* Argument specifications where info has none and records have values, as after a recorder that was killed.
 *
 * They come from the debug information (NAME.dbg), which the traced program writes at its start; from the table of library
 * functions, where the name is known; else from the values themselves (uftrace_guess.c). Readers find them by names, so that a
 * program without symbols gets a symbol file of the functions that are known by their debug information or by their records.
 *
 * circle: which program has no symbols and needs some, and whether records have values that info denies, is only seen in the walk
 * over the records, which learning walks again. */
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_demangle.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_donor.h"
#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_sym.h"

/* Records of a function that must agree with its specification, out of all that it has. */
#define MISFITS_MAX 50u /* one in so many */

/* Records whose values are longer than nothing, where both masks of info say that there are none. A single one may be a record that
 * was hit, with another damaged one behind it. */
#define UNANNOUNCED_MIN 3u

/* ---- whether anything is to be inferred ---- */

/* Whether a record up to the first with values has some. Up to there all records have 16 bytes. */
static bool has_values(struct uftrace_walk *w, struct source *source, uint64_t at, bool *values)
{
	struct window window;
	bool big = w->info->head.big_endian;

	window_open(&window, source);
	while (!*values && source->size - at >= UFTRACE_RECORD_SIZE) {
		const uint8_t *p = window_at(&window, at, UFTRACE_RECORD_SIZE);
		if (!p)
			break;
		uint64_t word = load_u64(p + 8, big);
		bool record = uftrace_word_magic(word) == UFTRACE_RECORD_MAGIC;
		*values = record && uftrace_word_more(word) && uftrace_word_type(word) <= UFTRACE_EXIT;
		at += record ? UFTRACE_RECORD_SIZE : 8;
	}
	enum tracemend_status status = window.status;
	window_close(&window);
	return status == TM_OK || uftrace_walk_fail(w, status);
}

/* Whether the header of info says, in both of its masks, that no record has values. To look at all of them takes as long as the
 * check itself. */
static bool none_are_announced(const struct uftrace_info *info)
{
	const struct uftrace_head *h = &info->head;
	const uint64_t has_values = UFTRACE_BIT(UFTRACE_F_ARGUMENT) | UFTRACE_BIT(UFTRACE_F_RETVAL);

	/* Every recorder sets the bit of sessions: a header without it was hit. */
	return h->present && !info->recorder_died && !info->lines.damage &&
	       (h->feat & (has_values | UFTRACE_BIT(UFTRACE_F_TASK_SESSION))) == UFTRACE_BIT(UFTRACE_F_TASK_SESSION) &&
	       !(h->mask & UFTRACE_BIT(UFTRACE_I_ARG_SPEC));
}

bool uftrace_infer_begin(struct uftrace_walk *w)
{
	bool values = false, good = true;

	w->infer->damaged = w->specs->present && (w->specs->refused || uftrace_info_lost(w->info, UFTRACE_I_ARG_SPEC));
	if (w->specs->present ? !w->infer->damaged : none_are_announced(w->info))
		return true;
	for (size_t i = 0; i < w->dir->count && good && !values; i++) {
		const struct uftrace_file *f = &w->dir->files[i];
		if (f->kind == UFTRACE_FILE_DAT && f->source->kind == SOURCE_FILE)
			good = has_values(w, f->source, 0, &values);
		else if (f->kind == UFTRACE_FILE_SHM && f->source->kind == SOURCE_FILE && f->source->size > UFTRACE_SHM_HEADER_SIZE)
			good = has_values(w, f->source, UFTRACE_SHM_HEADER_SIZE, &values);
	}
	w->infer->wanted = values;
	w->specs->auto_args |= values && !w->infer->damaged; /* the debug information matters */
	return good && (!values || uftrace_donor_specs(w, &w->infer->donor));
}

/* ---- symbol files ---- */

static int function_compare(const void *a, const void *b)
{
	const struct uftrace_infer_function *x = a, *y = b;
	if (x->program != y->program)
		return x->program < y->program ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static bool is_name(struct uftrace_str t)
{
	bool good = t.length > 0 && t.length <= UFTRACE_SYM_NAME_ADVISED;

	for (size_t i = 0; i < t.length; i++)
		good &= (unsigned char)t.text[i] > ' ' && t.text[i] != 127;
	return good;
}

/* The name by which a function without symbol is known: its address, with a number for each program but the first, since a
 * specification is for all functions of a name. */
static void name_by_address(char out[48], uint32_t program, uint64_t address)
{
	if (program)
		snprintf(out, 48, "unknown_%u_%llx", program + 1, (unsigned long long)address);
	else
		snprintf(out, 48, "unknown_%llx", (unsigned long long)address);
}

/* Whether readers will find the file: nothing else has its name. */
static bool name_file(struct uftrace_walk *w, struct uftrace_infer_program *p)
{
	struct uftrace_str base = uftrace_basename(p->path);

	if (!is_name(p->path) || !base.length || base.length > sizeof(p->symbols_name) - 8)
		return false;
	(void)snprintf(p->symbols_name, sizeof(p->symbols_name), "%.*s.sym", (int)base.length, base.text);
	for (size_t i = 0; i < w->infer->program_count; i++)
		if (&w->infer->programs[i] != p && !strcmp(w->infer->programs[i].symbols_name, p->symbols_name)) {
			p->symbols_name[0] = '\0';
			return false;
		}
	uint32_t file = uftrace_dir_find(w->dir, p->symbols_name);
	bool taken = file != UFTRACE_NONE;
	for (size_t i = 0; taken && i < w->symbols->module_count; i++)
		if (w->symbols->modules[i].file == file && !w->symbols->modules[i].count) {
			taken = false; /* they come behind what is left of it */
			p->behind = w->dir->files[file].source->size > 0;
		}
	for (size_t i = 0; i < w->symbols->renamed_count; i++)
		taken |= !strcmp(w->symbols->renamed[i].name, p->symbols_name);
	if (taken)
		p->symbols_name[0] = '\0';
	return !taken;
}

/* The functions of the debug information, and those of the records beside them; list[count] are those of the program, ascending. */
static void make_symbols(struct uftrace_walk *w, struct uftrace_infer_program *p, const struct uftrace_infer_function *list,
			 size_t count)
{
	const struct uftrace_dbg *d = p->dbg != UFTRACE_NONE ? &w->symbols->dbgs[p->dbg] : NULL;
	struct bytes lines = { 0 };
	size_t symbols = 0, i = 0, k = 0, known = d ? d->count : 0;
	uint64_t last = 0;

	while (i < known || k < count) {
		char name[48];
		bool own = i < known && (k >= count || d->list[i].address <= list[k].address);
		if (!own && list[k].dbg) { /* the function stands there already */
			k++;
			continue;
		}
		if (own && !(is_name(d->list[i].name) && (!symbols || d->list[i].address > last))) {
			i++;
			continue;
		}
		uint64_t address = own ? d->list[i].address : list[k].address;
		if (!own)
			name_by_address(name, list[k].program, address);
		struct uftrace_str shown = own ? d->list[i].name : (struct uftrace_str){ name, strlen(name) };
		bytes_printf(&lines, "%016llx T %.*s\n", (unsigned long long)address, (int)shown.length, shown.text);
		symbols++;
		last = address;
		i += own;
		k += !own;
	}
	if (!symbols)
		return;
	uint64_t end = last + 1 > p->size ? last + 1 : p->size;
	bytes_printf(&p->symbols, "# symbols: %zu\n# path name: %.*s\n", symbols, (int)p->path.length, p->path.text);
	struct uftrace_str id = p->build_id.length ? p->build_id : d ? d->build_id : p->build_id;
	if (id.length == 40 && uftrace_str_is_hex(id))
		bytes_printf(&p->symbols, "# build-id: %.*s\n", (int)id.length, id.text);
	bytes_append(&p->symbols, lines.data, lines.size);
	bytes_printf(&p->symbols, "%016llx ? __sym_end\n", (unsigned long long)end);
	p->symbols.failed |= lines.failed;
	bytes_free(&lines);
}

/* Programs that have no symbols get some. */
static bool add_symbols(struct uftrace_walk *w)
{
	struct uftrace_infer *n = w->infer;

	for (size_t i = 0, end; i < n->function_count; i = end) {
		struct uftrace_infer_program *p = &n->programs[n->functions[i].program];
		for (end = i; end < n->function_count && n->functions[end].program == n->functions[i].program;)
			end++;
		if (p->module != UFTRACE_NONE || !name_file(w, p))
			continue;
		make_symbols(w, p, &n->functions[i], end - i);
		if (p->symbols.failed)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
		if (p->symbols.size && !uftrace_sym_add(w, (const char *)p->symbols.data, p->symbols.size, &p->module))
			return false;
	}
	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			struct uftrace_mapping *m = &w->maps->list[i].list[k];
			if (m->program != UFTRACE_NONE && uftrace_sym_is_empty(w->symbols, m->module))
				m->module = n->programs[m->program].module;
		}
	return true;
}

/* ---- specifications ---- */

/* Whether readers take the name for a pattern of this function, and of others of its name: overloaded ones. */
static bool is_plain(struct uftrace_str t)
{
	bool good = t.length > 0 && t.length < 256;

	for (size_t i = 0; i < t.length; i++)
		good &= t.text[i] == '_' || (t.text[i] >= '0' && t.text[i] <= '9') || (t.text[i] >= 'a' && t.text[i] <= 'z') ||
			(t.text[i] >= 'A' && t.text[i] <= 'Z');
	return good;
}

static bool has_values_of(const struct uftrace_infer_side *side)
{
	return side->guess.any || side->fits;
}

static bool spec_fits(const struct uftrace_infer *n, const struct uftrace_infer_side *side)
{
	if (side->given) /* what info says is overruled only where it was hit, and is mostly wrong */
		return n->nameless || !side->spec || side->misfits <= side->fits;
	return side->spec && side->misfits * MISFITS_MAX <= side->fits;
}

/* The name by which a function is specified. */
static struct uftrace_str function_name(const struct uftrace_infer_function *f, char buffer[48])
{
	if (f->name.length)
		return f->name;
	if (f->dbg)
		return f->dbg->name;
	name_by_address(buffer, f->program, f->address);
	return (struct uftrace_str){ buffer, strlen(buffer) };
}

/* What is added for the function: nothing, where something else says it or nothing can be said. */
static void decide_side(struct uftrace_walk *w, struct uftrace_infer_function *f, bool retval)
{
	struct uftrace_infer_side *side = &f->sides[retval];
	char buffer[48];

	if (!has_values_of(side) || spec_fits(w->infer, side))
		return;
	if (!is_plain(function_name(f, buffer)) || w->infer->programs[f->program].module == UFTRACE_NONE ||
	    !uftrace_guess_items(&side->guess, retval, w->info->head.big_endian, side->items))
		side->items[0] = '\0';
}

static uint64_t name_hash(const struct uftrace_infer_function *f, bool retval)
{
	char buffer[48], simple[UFTRACE_DEMANGLE_MAX];
	struct uftrace_str name = function_name(f, buffer), shown;

	if (uftrace_demangle(name, simple, sizeof(simple), &shown))
		name = shown;
	return text_hash(name.text, name.length) + retval;
}

/* A specification by name holds for all functions of that name: they must agree. */
static bool find_conflicts(struct uftrace_walk *w)
{
	struct uftrace_infer *n = w->infer;
	struct map first = { 0 };
	bool good = true;

	for (uint32_t i = 0; good && i < n->function_count * 2; i++) {
		struct uftrace_infer_side *side = &n->functions[i / 2].sides[i & 1];
		if (!has_values_of(side))
			continue;
		uint64_t key = name_hash(&n->functions[i / 2], i & 1);
		uint32_t other = map_get(&first, key);
		if (other == UFTRACE_NONE) {
			good = uftrace_walk_set(w, &first, (int64_t)key, i);
			continue;
		}
		struct uftrace_infer_side *before = &n->functions[other / 2].sides[other & 1];
		before->conflict |= strcmp(before->items, side->items) != 0;
		side->conflict = before->conflict;
	}
	for (uint32_t i = 0; good && i < n->function_count * 2; i++) {
		struct uftrace_infer_side *side = &n->functions[i / 2].sides[i & 1];
		uint32_t other = has_values_of(side) ? map_get(&first, name_hash(&n->functions[i / 2], i & 1)) : UFTRACE_NONE;
		if (other != UFTRACE_NONE && n->functions[other / 2].sides[other & 1].conflict)
			side->items[0] = '\0';
	}
	map_free(&first);
	return good;
}

static void add_spec(struct bytes *b, struct uftrace_str name, const char *items)
{
	if (b->size)
		bytes_text(b, ";");
	bytes_append(b, name.text, name.length);
	bytes_printf(b, "@%s", items);
}

/* Returns whether something is added. own: those by name; known: those of library functions. */
static bool add_side(struct uftrace_walk *w, const struct uftrace_infer_function *f, bool retval, struct bytes *own,
		     struct bytes *known)
{
	const struct uftrace_infer_side *side = &f->sides[retval];
	char buffer[48];

	if (!has_values_of(side) || (spec_fits(w->infer, side) && side->given))
		return false;
	if (side->items[0]) {
		add_spec(own, function_name(f, buffer), side->items);
		w->infer->guessed++;
	} else if (spec_fits(w->infer, side) && f->library_items[retval])
		add_spec(known, f->name, f->library_items[retval]);
	else if (spec_fits(w->infer, side))
		w->infer->programs[f->program].dbg_used = true;
	else
		return false;
	return true;
}

/* Adds the specifications of a line but for those that readers refuse: a block that has them again would be damaged again. */
static void take_specs(const struct uftrace_walk *w, struct bytes *to, struct uftrace_str value)
{
	struct uftrace_str one;

	while (uftrace_str_next(&value, ';', &one))
		if (one.length && !uftrace_spec_is_refused(w, one)) {
			bytes_text(to, to->size ? ";" : "");
			bytes_append(to, one.text, one.length);
		}
}

static void take_line(const struct uftrace_walk *w, struct uftrace_str key, struct uftrace_str value, struct bytes own[2],
		      struct bytes known[2], struct bytes *enums)
{
	struct bytes *to = uftrace_str_is(key, "argspec")    ? &own[0]
			   : uftrace_str_is(key, "retspec")  ? &own[1]
			   : uftrace_str_is(key, "argauto")  ? &known[0]
			   : uftrace_str_is(key, "retauto")  ? &known[1]
			   : uftrace_str_is(key, "enumauto") ? enums
							     : NULL;
	bool head = to == &own[0] && uftrace_str_begins(value, "lines=");

	if (!to || head)
		return;
	if (to != enums) {
		take_specs(w, to, value);
		return;
	}
	if (to->size && value.length)
		bytes_text(to, ";");
	bytes_append(to, value.text, value.length);
}

/* The lines that info has already, and "auto-args:1", are taken along. */
static void take_lines(struct uftrace_walk *w, struct bytes own[2], struct bytes known[2], struct bytes *enums)
{
	struct uftrace_lines *l = &w->info->lines;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		const char *text = w->info->text + line->offset;
		if (line->drop || line->bit != UFTRACE_I_ARG_SPEC)
			continue;
		struct uftrace_str key = { text, line->length - line->value.length - 1 };
		take_line(w, key, line->value, own, known, enums);
		line->drop = true;
		line->rule = UFTRACE_RULE_argspec_missing;
		line->why = "written anew, with what was missing";
	}
}

/* The lines of a donor's info. */
static void take_donor(struct uftrace_walk *w, struct bytes own[2], struct bytes known[2], struct bytes *enums)
{
	struct uftrace_str rest = { (const char *)w->infer->donor.data, w->infer->donor.size }, line;

	while (uftrace_str_next(&rest, '\n', &line)) {
		struct uftrace_str key = { line.text, 0 };
		while (key.length < line.length && key.text[key.length] != ':')
			key.length++;
		if (key.length == line.length)
			continue;
		struct uftrace_str value = { line.text + key.length + 1, line.length - key.length - 1 };
		take_line(w, key, value, own, known, enums);
	}
}

static void print_block(struct uftrace_walk *w, struct bytes own[2], struct bytes known[2], struct bytes *enums)
{
	struct bytes *b = &w->infer->block;
	unsigned lines = 4u + (own[0].size > 0) + (own[1].size > 0);

	bytes_printf(b, "argspec:lines=%u\n", lines);
	for (unsigned retval = 0; retval < 2; retval++)
		if (own[retval].size) {
			bytes_text(b, retval ? "retspec:" : "argspec:");
			bytes_append(b, own[retval].data, own[retval].size);
			bytes_text(b, "\n");
		}
	for (unsigned retval = 0; retval < 2; retval++) {
		bytes_text(b, retval ? "retauto:" : "argauto:");
		bytes_append(b, known[retval].data, known[retval].size);
		bytes_text(b, "\n");
	}
	bytes_text(b, "enumauto:");
	bytes_append(b, enums->data, enums->size);
	bytes_text(b, "\nauto-args:1\n");
	for (unsigned i = 0; i < 2; i++)
		b->failed |= own[i].failed || known[i].failed;
	b->failed |= enums->failed;
}

/* The walk sees the specifications as a check of the result will. */
static bool read_block(struct uftrace_walk *w, const struct bytes *block)
{
	const char *text = (const char *)block->data;
	size_t size = block->size;

	for (size_t at = 0; at < size;) {
		const char *line = text + at, *end = memchr(line, '\n', size - at), *colon = memchr(line, ':', size - at);
		if (!end || !colon || colon > end)
			break;
		struct uftrace_str key = { line, (size_t)(colon - line) }, value = { colon + 1, (size_t)(end - colon) - 1 };
		if (uftrace_str_is(key, "pattern_type") && !(w->info->head.new_mask & UFTRACE_BIT(UFTRACE_I_PATTERN_TYPE))) {
			w->info->pattern_type = uftrace_info_pattern_type(value);
			w->info->pattern_lost = w->info->pattern_type != UFTRACE_PATTERN_UNKNOWN;
		}
		if (!uftrace_spec_line(w, key, value, 0))
			return false;
		at += (size_t)(end - line) + 1;
	}
	return true;
}

/* Readers take debug information only where the map has its build id. */
static void add_build_ids(struct uftrace_walk *w)
{
	const struct uftrace_infer *n = w->infer;

	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			struct uftrace_mapping *m = &w->maps->list[i].list[k];
			const struct uftrace_infer_program *p = m->program != UFTRACE_NONE ? &n->programs[m->program] : NULL;
			if (p && p->dbg_used && !m->build_id.length && w->symbols->dbgs[p->dbg].build_id.length == 40)
				uftrace_map_identify(w, &w->maps->list[i], m, w->symbols->dbgs[p->dbg].build_id,
						     UFTRACE_RULE_map_buildid_missing);
			if (m->module == UFTRACE_NONE)
				continue;
			w->symbols->modules[m->module].mapped = true;
			if (!w->symbols->modules[m->module].mapped_id.length)
				w->symbols->modules[m->module].mapped_id = m->build_id;
		}
}

/* What is missing, as the lines of info. Leaves the block empty where nothing is. */
static bool make_block(struct uftrace_walk *w)
{
	struct uftrace_infer *n = w->infer;
	struct bytes own[2] = { 0 }, known[2] = { 0 }, enums = { 0 };
	bool more = !n->damaged || n->donor.size;

	if (n->donor.size)
		take_donor(w, own, known, &enums);
	for (size_t i = 0; n->donor.size && i < n->program_count; i++) /* what they mean includes the debug information */
		n->programs[i].dbg_used |= n->programs[i].dbg != UFTRACE_NONE;

	for (size_t i = 0; i < n->function_count; i++)
		for (unsigned retval = 0; retval < 2; retval++)
			more |= add_side(w, &n->functions[i], retval, &own[retval], &known[retval]);
	if (more && n->damaged)
		take_lines(w, own, known, &enums);
	if (more)
		print_block(w, own, known, &enums);
	for (unsigned i = 0; i < 2; i++) {
		bytes_free(&own[i]);
		bytes_free(&known[i]);
	}
	bytes_free(&enums);
	return !n->block.failed || uftrace_walk_fail(w, TM_NO_MEMORY);
}

static bool decide(struct uftrace_walk *w)
{
	struct uftrace_infer *n = w->infer;

	if (n->function_count)
		qsort(n->functions, n->function_count, sizeof(*n->functions), function_compare);
	if (!add_symbols(w))
		return false;
	for (size_t i = 0; i < n->function_count; i++)
		for (unsigned retval = 0; retval < 2; retval++)
			decide_side(w, &n->functions[i], retval);
	return find_conflicts(w) && make_block(w);
}

static void report_lost(struct uftrace_walk *w)
{
	struct uftrace_infer *n = w->infer;

	if (w->info->recorder_died || (n->damaged && !n->nameless && w->info->lines.damage)) {
		n->cause = w->info->recorder_died ? w->info->recorder_died : w->info->lines.damage;
		finding_explains(n->cause, 1);
		return;
	}
	n->cause = finding_report(w->findings, UFTRACE_RULE_argspec_missing, n->first, n->first_at, UFTRACE_RECORD_SIZE,
				  n->nameless  ? "a record has arguments, and its program has no symbols: unless readers find the "
						 "program itself, they stop here"
				  : n->damaged ? "records have arguments that no specification of info is for: readers stop there"
					       : "a record has arguments, and info has no argument specifications: readers stop "
						 "everything here");
	finding_field(n->cause, uftrace_word_at(w, n->first_at, 0, 1), 1, "more = 1");
	if (!n->nameless)
		finding_explains(n->cause, n->values - 1);
}

/* The walk goes on with what was found. */
static bool use_block(struct uftrace_walk *w)
{
	uftrace_spec_clear(w);
	if (!read_block(w, &w->infer->block))
		return false;
	add_build_ids(w);
	w->info->head.new_mask |= UFTRACE_BIT(UFTRACE_I_ARG_SPEC);
	w->info->head.new_feat |= UFTRACE_BIT(UFTRACE_F_ARGUMENT) | UFTRACE_BIT(UFTRACE_F_RETVAL) |
				  UFTRACE_BIT(UFTRACE_F_AUTO_ARGS) |
				  (w->symbols->dbg_count ? UFTRACE_BIT(UFTRACE_F_DEBUG_INFO) : 0);
	return true;
}

bool uftrace_infer_walk(struct uftrace_walk *w)
{
	struct uftrace_infer *n = w->infer;

	if (!n->wanted)
		return true;
	w->specs->present = true;
	if (n->donor.size) {
		n->damaged = true; /* what the donor says holds */
		if (!read_block(w, &n->donor))
			return false;
	}
	if (!uftrace_learn(w))
		return false;
	if (!n->values || n->sized < n->needed) {
		w->specs->present = n->damaged && !n->needed;
		return true;
	}
	if (!decide(w))
		return false;
	if (!n->block.size)
		return true;
	report_lost(w);
	return use_block(w);
}

bool uftrace_infer_nameless(struct uftrace_walk *w, struct source *source, uint64_t at)
{
	struct uftrace_infer *n = w->infer;

	n->wanted = n->damaged = n->nameless = true;
	n->first = source;
	n->first_at = at;
	return uftrace_infer_walk(w);
}

bool uftrace_infer_unannounced(struct uftrace_walk *w)
{
	w->infer->wanted = true;
	w->infer->needed = UNANNOUNCED_MIN;
	return uftrace_donor_specs(w, &w->infer->donor) && uftrace_infer_walk(w);
}

bool uftrace_infer_is_weak(const struct uftrace_walk *w, const struct uftrace_mapping *m, uint64_t address, bool retval)
{
	const struct uftrace_infer *n = w->infer;
	const struct uftrace_infer_function key = { .address = address - m->start, .program = m->program };

	if (!n->cause || !n->function_count || m->program == UFTRACE_NONE)
		return false;
	const struct uftrace_infer_function *f = bsearch(&key, n->functions, n->function_count, sizeof(*n->functions),
							 function_compare);
	return f && f->sides[retval].items[0] && f->sides[retval].guess.count < UFTRACE_GUESS_STRAY;
}

void uftrace_infer_write(struct uftrace_walk *w)
{
	if (w->plan && w->infer->nameless && w->infer->cause)
		plan_lost_other(w->plan); /* names */
	for (size_t i = 0; w->plan && i < w->infer->program_count; i++) {
		const struct uftrace_infer_program *p = &w->infer->programs[i];
		if (!p->symbols.size)
			continue;
		unsigned out = plan_output(w->plan, p->symbols_name);
		if (p->behind)
			plan_literal(w->plan, out, "\n", 1, UFTRACE_RULE_argspec_missing, "the end of a line");
		plan_literal(w->plan, out, p->symbols.data, p->symbols.size, UFTRACE_RULE_argspec_missing,
			     "symbols of the functions that records and debug information show");
	}
}

void uftrace_infer_free(struct uftrace_infer *n)
{
	for (size_t i = 0; i < n->function_count; i++)
		for (unsigned retval = 0; retval < 2; retval++)
			if (!n->functions[i].sides[retval].given)
				free((void *)(uintptr_t)n->functions[i].sides[retval].spec);
	for (size_t i = 0; i < n->program_count; i++)
		bytes_free(&n->programs[i].symbols);
	free(n->functions);
	free(n->programs);
	map_free(&n->by_address);
	bytes_free(&n->block);
	bytes_free(&n->donor);
}
