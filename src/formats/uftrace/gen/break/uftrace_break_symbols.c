/* Breakers of the rules about symbol files and debug files. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>

/* A line that no real program has, at an address of the module. */
struct added_symbol {
	uint64_t address;
	uint32_t size;
	char type;
	const char *name;
};

static void format_symbol(const struct uftrace_gen *g, char *text, size_t room, bool sized, const struct added_symbol *added)
{
	unsigned long long address = added->address;

	if (sized && uftrace_gen_has(g, UFTRACE_GEN_FOREIGN))
		(void)snprintf(text, room, "%012llx %012x %c %s\n", address, added->size, added->type, added->name);
	else if (sized)
		(void)snprintf(text, room, "%016llx %08x %c %s\n", address, added->size, added->type, added->name);
	else
		(void)snprintf(text, room, "%016llx %c %s\n", address, added->type, added->name);
}

static bool is_sized(const struct uftrace_gen *g)
{
	return g->version >= 140 || uftrace_gen_has(g, UFTRACE_GEN_FOREIGN);
}

/* In a map, and with symbols. */
static bool is_mapped(struct uftrace_gen *g, unsigned module)
{
	return g->modules[module].used && g->modules[module].symbol_count && (int)module != uftrace_gen_plugin(g);
}

/* One of the modules that have symbols, and its symbol file; NULL: none. */
static struct bytes *any_symbols(struct uftrace_gen *g, const struct uftrace_gen_module **module)
{
	unsigned count = 0;
	char name[80];

	for (unsigned i = 0; i < g->module_count; i++)
		count += is_mapped(g, i);
	if (!count)
		return NULL;
	count = uftrace_gen_below(g, count);
	for (unsigned i = 0; i < g->module_count; i++) {
		if (!is_mapped(g, i) || count--)
			continue;
		*module = &g->modules[i];
		(void)snprintf(name, sizeof(name), "%s.sym", g->modules[i].file);
		return uftrace_genfile(g, name);
	}
	return NULL;
}

/* The line of a symbol. */
static struct uftrace_row symbol_line(const struct uftrace_gen *g, const struct bytes *b, const struct uftrace_gen_module *m,
				      unsigned symbol)
{
	char text[96];
	const struct uftrace_gen_symbol *s = &m->symbols[symbol];
	struct added_symbol added = { s->address, s->size, s->type, s->name };

	if (g->version < 60 && m == g->modules)
		added.address += g->sessions[0].maps[0].base;
	format_symbol(g, text, sizeof(text), is_sized(g), &added);
	return uftrace_row_find(b, text, 0);
}

/* The header counts a symbol more. */
static void count_one_more(struct uftrace_gen *g, struct bytes *b, const struct uftrace_gen_module *m)
{
	struct uftrace_row l = uftrace_row_find(b, "# symbols:", 0);

	(void)g;
	uftrace_row_replace(b, l, "# symbols: %u\n", m->symbol_count + 1);
}

static void insert_symbol(struct uftrace_gen *g, struct bytes *b, const struct uftrace_gen_module *m, size_t at,
			  struct added_symbol added)
{
	char text[96];

	if (g->version < 60 && m == g->modules)
		added.address += g->sessions[0].maps[0].base;
	format_symbol(g, text, sizeof(text), is_sized(g), &added);
	bytes_insert(b, at, text, strlen(text));
	count_one_more(g, b, m);
}

/* The first line after the comments. */
static size_t first_symbol(const struct bytes *b)
{
	struct uftrace_row l = uftrace_row_at(b, 0);

	while (l.found && b->data[l.at] == '#')
		l = uftrace_row_at(b, l.at + l.length);
	return l.at;
}

/* Where a symbol can be added in order: before the sentinel at the end, or at the end. */
static size_t last_place(const struct uftrace_gen *g, const struct bytes *b, const struct uftrace_gen_module *m)
{
	struct uftrace_row l = symbol_line(g, b, m, m->symbol_count - 1);

	return l.at + l.length;
}

static uint64_t last_address(const struct uftrace_gen_module *m)
{
	return m->symbols[m->symbol_count - 1].address + m->symbols[m->symbol_count - 1].size;
}

void uftrace_break_sym_missing(struct uftrace_gen *g)
{
	char name[80];

	if (!uftrace_gen_made(g, 0, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS | UFTRACE_GEN_AUTO | UFTRACE_GEN_FOREIGN))
		return;
	(void)snprintf(name, sizeof(name), "%s.sym", g->modules[0].file);
	gen_file_remove(g->g, name);
}

void uftrace_break_sym_mismatched_identity(struct uftrace_gen *g)
{
	struct bytes *b;

	uftrace_gen_versions(g, 100, 999);
	if (!uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN))
		return;
	b = gen_file(g->g, "libelsewhere.so.sym");
	if (b)
		bytes_printf(b, "# symbols: 0\n# path name: /usr/lib/libelsewhere.so\n# build-id: "
				"00112233445566778899aabbccddeeff00112233\n");
}

void uftrace_break_sym_wrong_suffix(struct uftrace_gen *g)
{
	uftrace_gen_versions(g, 100, 999);
	if (uftrace_gen_made(g, UFTRACE_GEN_LIBRARIES, UFTRACE_GEN_DEBUG))
		uftrace_genfile_rename(g, "libcart.so.1.sym", uftrace_gen_below(g, 2) ? "libcart.so.1-xyzw.sym" : "cart.sym");
}

void uftrace_break_sym_count_mismatch(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 93, 999);
	b = uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN) ? any_symbols(g, &m) : NULL;
	if (b)
		uftrace_row_replace(b, uftrace_row_find(b, "# symbols:", 0), "# symbols: %u\n",
				    uftrace_gen_below(g, 2) ? m->symbol_count + 1 : m->symbol_count - 1);
}

void uftrace_break_sym_count_dangerous(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 93, 999);
	b = uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN) ? any_symbols(g, &m) : NULL;
	if (!b)
		return;
	if (uftrace_gen_below(g, 2))
		uftrace_row_insert(b, b->size, "# symbols: 1\n");
	else
		uftrace_row_replace(b, uftrace_row_find(b, "# symbols:", 0), "# symbols: %u99999999\n",
				    1 + uftrace_gen_below(g, 9));
}

void uftrace_break_sym_line_malformed(struct uftrace_gen *g)
{
	static const char *const wrong[] = { "not a symbol\n", "00000000000012zz T shop_zz\n", "0000000000001200\tT\tshop_tabs\n" };
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = uftrace_gen_made(g, 0, 0) ? any_symbols(g, &m) : NULL;

	if (b) {
		const char *text = wrong[uftrace_gen_below(g, 3)];

		uftrace_row_insert(b, symbol_line(g, b, m, uftrace_gen_below(g, m->symbol_count)).at, "%s", text);
	}
}

void uftrace_break_sym_mixed_format(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;
	char text[96];
	struct added_symbol added = { 0, 4, 'T', "between_forms" };

	uftrace_gen_versions(g, 60, 999);
	b = uftrace_gen_made(g, 0, 0) ? any_symbols(g, &m) : NULL;
	if (!b)
		return;
	added.address = last_address(m);
	format_symbol(g, text, sizeof(text), !is_sized(g), &added);
	bytes_insert(b, last_place(g, b, m), text, strlen(text));
	count_one_more(g, b, m);
}

void uftrace_break_sym_unsorted(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 60, 130);
	b = uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN) ? any_symbols(g, &m) : NULL;
	if (b)
		insert_symbol(g, b, m, last_place(g, b, m),
			      (struct added_symbol){ 0x10 + uftrace_gen_below(g, 0x300), 4, 'T', "too_late" });
}

void uftrace_break_sym_leading_sentinels(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 60, 130);
	b = uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN) ? any_symbols(g, &m) : NULL;
	if (b)
		uftrace_row_insert(b, first_symbol(b), "0000000000000%03x ? __sym_end\n0000000000000%03x ? __sym_end\n", 0x200,
				   0x200);
}

void uftrace_break_sym_missing_sentinel(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 60, 130);
	b = uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN) ? any_symbols(g, &m) : NULL;
	if (b)
		uftrace_row_remove(b, uftrace_row_at(b, last_place(g, b, m)));
}

void uftrace_break_sym_type_unknown(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = uftrace_gen_made(g, 0, 0) ? any_symbols(g, &m) : NULL;

	if (b)
		insert_symbol(g, b, m, last_place(g, b, m),
			      (struct added_symbol){ last_address(m), 4, "WBzx"[uftrace_gen_below(g, 4)], "odd_type" });
}

void uftrace_break_sym_overlap(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 140, 999);
	b = uftrace_gen_made(g, 0, 0) ? any_symbols(g, &m) : NULL;
	for (unsigned i = 0; b && i < m->symbol_count; i++) {
		const struct uftrace_gen_symbol *s = &m->symbols[i];
		struct uftrace_row l = symbol_line(g, b, m, i);

		if (!strchr("Ttw", s->type))
			continue;
		insert_symbol(g, b, m, l.at + l.length,
			      (struct added_symbol){ s->address + s->size - 2, 4, s->type, "inside_another" });
		return;
	}
}

void uftrace_break_sym_outside_map(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;

	uftrace_gen_versions(g, 60, 999);
	b = uftrace_gen_made(g, 0, UFTRACE_GEN_FOREIGN) ? any_symbols(g, &m) : NULL;
	if (!b)
		return;
	if (!is_sized(g)) { /* a sentinel ends it */
		uftrace_row_replace(b, uftrace_row_at(b, last_place(g, b, m)), "%016llx ? __sym_end\n",
				    (unsigned long long)m->length + 0x2020);
	}
	insert_symbol(g, b, m, last_place(g, b, m), (struct added_symbol){ m->length + 0x2000, 0x20, 'T', "far_away" });
}

void uftrace_break_sym_name_too_long(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = uftrace_gen_made(g, 0, 0) ? any_symbols(g, &m) : NULL;
	struct uftrace_row l;

	if (!b)
		return;
	insert_symbol(g, b, m, last_place(g, b, m), (struct added_symbol){ last_address(m), 4, 'T', "long_name" });
	l = uftrace_row_at(b, last_place(g, b, m));
	for (unsigned i = 1030 + uftrace_gen_below(g, 300); i; i -= i < 10 ? i : 10)
		bytes_insert(b, l.at + uftrace_row_at(b, l.at).length - 1, "_abcdefghi", i < 10 ? i : 10);
}

void uftrace_break_sym_crlf(struct uftrace_gen *g)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = uftrace_gen_made(g, 0, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS | UFTRACE_GEN_AUTO) ? any_symbols(g, &m)
													    : NULL;
	struct uftrace_row l;

	if (!b)
		return;
	l = symbol_line(g, b, m, uftrace_gen_below(g, m->symbol_count));
	if (l.found)
		bytes_insert(b, l.at + l.length - 1, "\r", 1);
}

/* ---- debug files ---- */

void uftrace_break_dbg_malformed(struct uftrace_gen *g)
{
	static const char *const wrong[] = { "Z: what is this\n", "F 1000 nothing\n", "\n", "A @arg1\n" };
	struct bytes *b = uftrace_gen_made(g, UFTRACE_GEN_DEBUG, UFTRACE_GEN_AUTO) ? uftrace_genfile_any(g, "", ".dbg", NULL)
										   : NULL;
	struct uftrace_row l = b ? uftrace_row_any(g, b, "F: ") : (struct uftrace_row){ 0, 0, false };

	if (l.found)
		uftrace_row_insert(b, l.at, "%s", wrong[uftrace_gen_below(g, 4)]);
}

void uftrace_break_dbg_func_unknown(struct uftrace_gen *g)
{
	struct bytes *b;

	uftrace_gen_versions(g, 100, 999); /* with the path in the head */
	b = uftrace_gen_made(g, UFTRACE_GEN_DEBUG, 0) ? uftrace_genfile_any(g, "", ".dbg", NULL) : NULL;
	if (b)
		uftrace_row_insert(b, b->size, "F: %x nowhere\nL: 1 nowhere.c\n", 0x700000 + uftrace_gen_below(g, 0x1000));
}
