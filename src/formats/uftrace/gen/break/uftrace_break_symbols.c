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

BREAKER_OF(sym_missing, GEN_BYTES,
	   uftrace_gen_need(g, 0, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS | UFTRACE_GEN_AUTO | UFTRACE_GEN_FOREIGN))
{
	char name[80];

	(void)snprintf(name, sizeof(name), "%s.sym", g->modules[0].file);
	gen_file_remove(g->g, name);
}

BREAKER_OF(sym_mismatched_identity, GEN_BYTES, uftrace_gen_versions(g, 100, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = gen_file(g->g, "libelsewhere.so.sym");

	if (b)
		bytes_printf(b, "# symbols: 0\n# path name: /usr/lib/libelsewhere.so\n# build-id: "
				"00112233445566778899aabbccddeeff00112233\n");
}

BREAKER_OF(sym_wrong_suffix, GEN_BYTES, uftrace_gen_versions(g, 100, 999),
	   uftrace_gen_need(g, UFTRACE_GEN_LIBRARIES, UFTRACE_GEN_DEBUG))
{
	uftrace_genfile_rename(g, "libcart.so.1.sym", uftrace_gen_below(g, 2) ? "libcart.so.1-xyzw.sym" : "cart.sym");
}

BREAKER_OF(sym_count_mismatch, GEN_BYTES, uftrace_gen_versions(g, 93, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (b)
		uftrace_row_replace(b, uftrace_row_find(b, "# symbols:", 0), "# symbols: %u\n",
				    uftrace_gen_below(g, 2) ? m->symbol_count + 1 : m->symbol_count - 1);
}

BREAKER_OF(sym_count_dangerous, GEN_BYTES, uftrace_gen_versions(g, 93, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (!b)
		return;
	if (uftrace_gen_below(g, 2))
		uftrace_row_insert(b, b->size, "# symbols: 1\n");
	else
		uftrace_row_replace(b, uftrace_row_find(b, "# symbols:", 0), "# symbols: %u99999999\n",
				    1 + uftrace_gen_below(g, 9));
}

BREAKER(sym_line_malformed, GEN_BYTES)
{
	static const char *const wrong[] = { "not a symbol\n", "00000000000012zz T shop_zz\n", "0000000000001200\tT\tshop_tabs\n" };
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (b) {
		const char *text = wrong[uftrace_gen_below(g, 3)];

		uftrace_row_insert(b, symbol_line(g, b, m, uftrace_gen_below(g, m->symbol_count)).at, "%s", text);
	}
}

BREAKER_OF(sym_mixed_format, GEN_BYTES, uftrace_gen_versions(g, 60, 999))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b;
	char text[96];
	struct added_symbol added = { 0, 4, 'T', "between_forms" };

	b = any_symbols(g, &m);
	if (!b)
		return;
	added.address = last_address(m);
	format_symbol(g, text, sizeof(text), !is_sized(g), &added);
	bytes_insert(b, last_place(g, b, m), text, strlen(text));
	count_one_more(g, b, m);
}

BREAKER_OF(sym_unsorted, GEN_BYTES, uftrace_gen_versions(g, 60, 130), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (b)
		insert_symbol(g, b, m, last_place(g, b, m),
			      (struct added_symbol){ 0x10 + uftrace_gen_below(g, 0x300), 4, 'T', "too_late" });
}

BREAKER_OF(sym_leading_sentinels, GEN_BYTES, uftrace_gen_versions(g, 60, 130), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (b)
		uftrace_row_insert(b, first_symbol(b), "0000000000000%03x ? __sym_end\n0000000000000%03x ? __sym_end\n", 0x200,
				   0x200);
}

/* Without it the last function has no size, and what it passes and returns is no known function's. */
BREAKER_OF(sym_missing_sentinel, GEN_BYTES, uftrace_gen_versions(g, 60, 130),
	   uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (b)
		uftrace_row_remove(b, uftrace_row_at(b, last_place(g, b, m)));
}

BREAKER(sym_type_unknown, GEN_BYTES)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (b)
		insert_symbol(g, b, m, last_place(g, b, m),
			      (struct added_symbol){ last_address(m), 4, "WBzx"[uftrace_gen_below(g, 4)], "odd_type" });
}

BREAKER_OF(sym_overlap, GEN_BYTES, uftrace_gen_versions(g, 140, 999))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

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

BREAKER_OF(sym_outside_map, GEN_BYTES, uftrace_gen_versions(g, 60, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);

	if (!b)
		return;
	if (!is_sized(g)) { /* a sentinel ends it */
		uftrace_row_replace(b, uftrace_row_at(b, last_place(g, b, m)), "%016llx ? __sym_end\n",
				    (unsigned long long)m->length + 0x2020);
	}
	insert_symbol(g, b, m, last_place(g, b, m), (struct added_symbol){ m->length + 0x2000, 0x20, 'T', "far_away" });
}

BREAKER(sym_name_too_long, GEN_BYTES)
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);
	struct uftrace_row l;

	if (!b)
		return;
	insert_symbol(g, b, m, last_place(g, b, m), (struct added_symbol){ last_address(m), 4, 'T', "long_name" });
	l = uftrace_row_at(b, last_place(g, b, m));
	for (unsigned i = 1030 + uftrace_gen_below(g, 300); i; i -= i < 10 ? i : 10)
		bytes_insert(b, l.at + uftrace_row_at(b, l.at).length - 1, "_abcdefghi", i < 10 ? i : 10);
}

BREAKER_OF(sym_crlf, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS | UFTRACE_GEN_AUTO))
{
	const struct uftrace_gen_module *m = NULL;
	struct bytes *b = any_symbols(g, &m);
	struct uftrace_row l;

	if (!b)
		return;
	l = symbol_line(g, b, m, uftrace_gen_below(g, m->symbol_count));
	if (l.found)
		bytes_insert(b, l.at + l.length - 1, "\r", 1);
}

/* ---- debug files ---- */

BREAKER_OF(dbg_malformed, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_DEBUG, UFTRACE_GEN_AUTO))
{
	static const char *const wrong[] = { "Z: what is this\n", "F 1000 nothing\n", "\n", "A @arg1\n" };
	struct bytes *b = uftrace_genfile_any(g, "", ".dbg", NULL);
	struct uftrace_row l = b ? uftrace_row_any(g, b, "F: ") : (struct uftrace_row){ 0, 0, false };

	if (l.found)
		uftrace_row_insert(b, l.at, "%s", wrong[uftrace_gen_below(g, 4)]);
}

/* Of versions with the path in the head. */
BREAKER_OF(dbg_func_unknown, GEN_BYTES, uftrace_gen_versions(g, 100, 999), uftrace_gen_need(g, UFTRACE_GEN_DEBUG, 0))
{
	struct bytes *b = uftrace_genfile_any(g, "", ".dbg", NULL);

	if (b)
		uftrace_row_insert(b, b->size, "F: %x nowhere\nL: 1 nowhere.c\n", 0x700000 + uftrace_gen_below(g, 0x1000));
}
