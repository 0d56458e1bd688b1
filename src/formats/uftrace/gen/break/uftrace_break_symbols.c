/* Breakers of the rules about symbol files and debug files. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>

/* A line that no real program has, at an address of the module. */
struct odd {
	uint64_t address;
	uint32_t size;
	char type;
	const char *name;
};

static void format_symbol(const struct uftrace_gen *u, char *text, size_t room, bool sized, const struct odd *odd)
{
	unsigned long long address = odd->address;

	if (sized && uftgen_has(u, UFTGEN_FOREIGN))
		(void)snprintf(text, room, "%012llx %012x %c %s\n", address, odd->size, odd->type, odd->name);
	else if (sized)
		(void)snprintf(text, room, "%016llx %08x %c %s\n", address, odd->size, odd->type, odd->name);
	else
		(void)snprintf(text, room, "%016llx %c %s\n", address, odd->type, odd->name);
}

static bool is_sized(const struct uftrace_gen *u)
{
	return u->version >= 140 || uftgen_has(u, UFTGEN_FOREIGN);
}

/* In a map, and with symbols. */
static bool is_mapped(struct uftrace_gen *u, unsigned module)
{
	return u->modules[module].used && u->modules[module].symbol_count && (int)module != uftgen_plugin(u);
}

/* One of the modules that have symbols, and its symbol file; NULL: none. */
static struct bytes *any_symbols(struct uftrace_gen *u, const struct uftgen_module **module)
{
	unsigned count = 0;
	char name[80];

	for (unsigned i = 0; i < u->module_count; i++)
		count += is_mapped(u, i);
	if (!count)
		return NULL;
	count = uftgen_below(u, count);
	for (unsigned i = 0; i < u->module_count; i++) {
		if (!is_mapped(u, i) || count--)
			continue;
		*module = &u->modules[i];
		(void)snprintf(name, sizeof(name), "%s.sym", u->modules[i].file);
		return break_file(u, name);
	}
	return NULL;
}

/* The line of a symbol. */
static struct row symbol_line(const struct uftrace_gen *u, const struct bytes *b, const struct uftgen_module *m, unsigned symbol)
{
	char text[96];
	const struct uftgen_symbol *s = &m->symbols[symbol];
	struct odd odd = { s->address, s->size, s->type, s->name };

	if (u->version < 60 && m == u->modules)
		odd.address += u->sessions[0].maps[0].base;
	format_symbol(u, text, sizeof(text), is_sized(u), &odd);
	return row_find(b, text, 0);
}

/* The header counts a symbol more. */
static void count_one_more(struct uftrace_gen *u, struct bytes *b, const struct uftgen_module *m)
{
	struct row l = row_find(b, "# symbols:", 0);

	(void)u;
	row_replace(b, l, "# symbols: %u\n", m->symbol_count + 1);
}

static void insert_odd(struct uftrace_gen *u, struct bytes *b, const struct uftgen_module *m, size_t at, struct odd odd)
{
	char text[96];

	if (u->version < 60 && m == u->modules)
		odd.address += u->sessions[0].maps[0].base;
	format_symbol(u, text, sizeof(text), is_sized(u), &odd);
	bytes_insert(b, at, text, strlen(text));
	count_one_more(u, b, m);
}

/* The first line after the comments. */
static size_t first_symbol(const struct bytes *b)
{
	struct row l = row_at(b, 0);

	while (l.found && b->data[l.at] == '#')
		l = row_at(b, l.at + l.length);
	return l.at;
}

/* Where a symbol can be added in order: before the sentinel at the end, or at the end. */
static size_t last_place(const struct uftrace_gen *u, const struct bytes *b, const struct uftgen_module *m)
{
	struct row l = symbol_line(u, b, m, m->symbol_count - 1);

	return l.at + l.length;
}

static uint64_t last_address(const struct uftgen_module *m)
{
	return m->symbols[m->symbol_count - 1].address + m->symbols[m->symbol_count - 1].size;
}

void uftrace_break_sym_missing(struct uftrace_gen *u)
{
	char name[80];

	if (!uftgen_ready(u, 0, UFTGEN_ARGS | UFTGEN_RETVALS | UFTGEN_AUTO | UFTGEN_FOREIGN))
		return;
	(void)snprintf(name, sizeof(name), "%s.sym", u->modules[0].file);
	gen_file_remove(u->g, name);
}

void uftrace_break_sym_mismatched_identity(struct uftrace_gen *u)
{
	struct bytes *b;

	uftgen_versions(u, 100, 999);
	if (!uftgen_ready(u, 0, UFTGEN_FOREIGN))
		return;
	b = gen_file(u->g, "libelsewhere.so.sym");
	if (b)
		bytes_printf(b, "# symbols: 0\n# path name: /usr/lib/libelsewhere.so\n# build-id: "
				"00112233445566778899aabbccddeeff00112233\n");
}

void uftrace_break_sym_wrong_suffix(struct uftrace_gen *u)
{
	uftgen_versions(u, 100, 999);
	if (uftgen_ready(u, UFTGEN_LIBRARIES, UFTGEN_DEBUG))
		break_rename(u, "libcart.so.1.sym", uftgen_below(u, 2) ? "libcart.so.1-xyzw.sym" : "cart.sym");
}

void uftrace_break_sym_count_mismatch(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 93, 999);
	b = uftgen_ready(u, 0, UFTGEN_FOREIGN) ? any_symbols(u, &m) : NULL;
	if (b)
		row_replace(b, row_find(b, "# symbols:", 0), "# symbols: %u\n",
			    uftgen_below(u, 2) ? m->symbol_count + 1 : m->symbol_count - 1);
}

void uftrace_break_sym_count_dangerous(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 93, 999);
	b = uftgen_ready(u, 0, UFTGEN_FOREIGN) ? any_symbols(u, &m) : NULL;
	if (!b)
		return;
	if (uftgen_below(u, 2))
		row_insert(b, b->size, "# symbols: 1\n");
	else
		row_replace(b, row_find(b, "# symbols:", 0), "# symbols: %u99999999\n", 1 + uftgen_below(u, 9));
}

void uftrace_break_sym_line_malformed(struct uftrace_gen *u)
{
	static const char *const wrong[] = { "not a symbol\n", "00000000000012zz T shop_zz\n", "0000000000001200\tT\tshop_tabs\n" };
	const struct uftgen_module *m = NULL;
	struct bytes *b = uftgen_ready(u, 0, 0) ? any_symbols(u, &m) : NULL;

	if (b) {
		const char *text = wrong[uftgen_below(u, 3)];

		row_insert(b, symbol_line(u, b, m, uftgen_below(u, m->symbol_count)).at, "%s", text);
	}
}

void uftrace_break_sym_mixed_format(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;
	char text[96];
	struct odd odd = { 0, 4, 'T', "between_forms" };

	uftgen_versions(u, 60, 999);
	b = uftgen_ready(u, 0, 0) ? any_symbols(u, &m) : NULL;
	if (!b)
		return;
	odd.address = last_address(m);
	format_symbol(u, text, sizeof(text), !is_sized(u), &odd);
	bytes_insert(b, last_place(u, b, m), text, strlen(text));
	count_one_more(u, b, m);
}

void uftrace_break_sym_unsorted(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 60, 130);
	b = uftgen_ready(u, 0, UFTGEN_FOREIGN) ? any_symbols(u, &m) : NULL;
	if (b)
		insert_odd(u, b, m, last_place(u, b, m), (struct odd){ 0x10 + uftgen_below(u, 0x300), 4, 'T', "too_late" });
}

void uftrace_break_sym_leading_sentinels(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 60, 130);
	b = uftgen_ready(u, 0, UFTGEN_FOREIGN) ? any_symbols(u, &m) : NULL;
	if (b)
		row_insert(b, first_symbol(b), "0000000000000%03x ? __sym_end\n0000000000000%03x ? __sym_end\n", 0x200, 0x200);
}

void uftrace_break_sym_missing_sentinel(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 60, 130);
	b = uftgen_ready(u, 0, UFTGEN_FOREIGN) ? any_symbols(u, &m) : NULL;
	if (b)
		row_remove(b, row_at(b, last_place(u, b, m)));
}

void uftrace_break_sym_type_unknown(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b = uftgen_ready(u, 0, 0) ? any_symbols(u, &m) : NULL;

	if (b)
		insert_odd(u, b, m, last_place(u, b, m),
			   (struct odd){ last_address(m), 4, "WBzx"[uftgen_below(u, 4)], "odd_type" });
}

void uftrace_break_sym_overlap(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 140, 999);
	b = uftgen_ready(u, 0, 0) ? any_symbols(u, &m) : NULL;
	for (unsigned i = 0; b && i < m->symbol_count; i++) {
		const struct uftgen_symbol *s = &m->symbols[i];
		struct row l = symbol_line(u, b, m, i);

		if (!strchr("Ttw", s->type))
			continue;
		insert_odd(u, b, m, l.at + l.length, (struct odd){ s->address + s->size - 2, 4, s->type, "inside_another" });
		return;
	}
}

void uftrace_break_sym_outside_map(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b;

	uftgen_versions(u, 60, 999);
	b = uftgen_ready(u, 0, UFTGEN_FOREIGN) ? any_symbols(u, &m) : NULL;
	if (!b)
		return;
	if (!is_sized(u)) { /* a sentinel ends it */
		row_replace(b, row_at(b, last_place(u, b, m)), "%016llx ? __sym_end\n", (unsigned long long)m->length + 0x2020);
	}
	insert_odd(u, b, m, last_place(u, b, m), (struct odd){ m->length + 0x2000, 0x20, 'T', "far_away" });
}

void uftrace_break_sym_name_too_long(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b = uftgen_ready(u, 0, 0) ? any_symbols(u, &m) : NULL;
	struct row l;

	if (!b)
		return;
	insert_odd(u, b, m, last_place(u, b, m), (struct odd){ last_address(m), 4, 'T', "long_name" });
	l = row_at(b, last_place(u, b, m));
	for (unsigned i = 1030 + uftgen_below(u, 300); i; i -= i < 10 ? i : 10)
		bytes_insert(b, l.at + row_at(b, l.at).length - 1, "_abcdefghi", i < 10 ? i : 10);
}

void uftrace_break_sym_crlf(struct uftrace_gen *u)
{
	const struct uftgen_module *m = NULL;
	struct bytes *b = uftgen_ready(u, 0, UFTGEN_ARGS | UFTGEN_RETVALS | UFTGEN_AUTO) ? any_symbols(u, &m) : NULL;
	struct row l;

	if (!b)
		return;
	l = symbol_line(u, b, m, uftgen_below(u, m->symbol_count));
	if (l.found)
		bytes_insert(b, l.at + l.length - 1, "\r", 1);
}

/* ---- debug files ---- */

void uftrace_break_dbg_malformed(struct uftrace_gen *u)
{
	static const char *const wrong[] = { "Z: what is this\n", "F 1000 nothing\n", "\n", "A @arg1\n" };
	struct bytes *b = uftgen_ready(u, UFTGEN_DEBUG, UFTGEN_AUTO) ? break_any_file(u, "", ".dbg", NULL) : NULL;
	struct row l = b ? row_any(u, b, "F: ") : (struct row){ 0, 0, false };

	if (l.found)
		row_insert(b, l.at, "%s", wrong[uftgen_below(u, 4)]);
}

void uftrace_break_dbg_func_unknown(struct uftrace_gen *u)
{
	struct bytes *b;

	uftgen_versions(u, 100, 999); /* with the path in the head */
	b = uftgen_ready(u, UFTGEN_DEBUG, 0) ? break_any_file(u, "", ".dbg", NULL) : NULL;
	if (b)
		row_insert(b, b->size, "F: %x nowhere\nL: 1 nowhere.c\n", 0x700000 + uftgen_below(u, 0x1000));
}
