/* The programs and libraries of a generated uftrace directory: modules, symbols, argument specs, sessions. */
#include "formats/uftrace/gen/uftrace_gen.h"

#include <stdio.h>
#include <stdlib.h>

/* Library functions that programs call, with the arguments and return values that --auto-args knows. */
static const struct library_call {
	const char *name, *args, *value;
	uint64_t needed_by; /* features whose story calls it; 0: any program may */
} library_calls[] = {
	{ "malloc", "arg1/u", "retval/p", 0 },
	{ "free", "arg1/p", NULL, 0 },
	{ "puts", "arg1/s", "retval/d32", 0 },
	{ "strlen", "arg1/s", "retval/u", 0 },
	{ "memcpy", "arg1/p,arg2/p,arg3/u", NULL, 0 },
	{ "getenv", "arg1/s", "retval/s", 0 },
	{ "atof", "arg1/s", "retval/f64", 0 },
	{ "strchr", "arg1/s,arg2/c", "retval/s", 0 },
	{ "pthread_create", "arg1/p,arg2/p,arg3/p,arg4/p", "retval/d32", UFTRACE_GEN_THREADS },
	{ "fork", NULL, "retval/i32", UFTRACE_GEN_FORK | UFTRACE_GEN_FORK_EXEC },
	{ "execve", "arg1/s", "retval/d32", UFTRACE_GEN_EXEC | UFTRACE_GEN_FORK_EXEC },
	{ "posix_spawn", NULL, NULL, UFTRACE_GEN_SPAWN },
	{ "dlopen", "arg1/s,arg2/e:uft_dlopen_flag", "retval/p", UFTRACE_GEN_DLOPEN },
	{ "_setjmp", NULL, NULL, UFTRACE_GEN_LONGJMP },
	{ "longjmp", NULL, NULL, UFTRACE_GEN_LONGJMP },
};

void uftrace_gen_hex_digits(struct uftrace_gen *g, char *text, size_t digits)
{
	for (size_t i = 0; i < digits; i++)
		text[i] = "0123456789abcdef"[choices_below(g->g->choices, 16)];
	text[digits] = '\0';
}

/* ---- specs ---- */

/* The value that a spec item stands for. The items are our own: only what spec_item() and the tables above write. */
static struct uftrace_gen_item item_parse(const struct uftrace_gen *g, const char *text, size_t length)
{
	struct uftrace_gen_item item = { .kind = UFTRACE_GEN_BITS, .size = (uint16_t)uftrace_gen_long_size(g) };

	(void)snprintf(item.text, sizeof(item.text), "%.*s", (int)length, text);
	const char *format = strchr(item.text, '/');
	bool floating = strncmp(item.text, "fparg", 5) == 0;

	if (floating)
		item.size = 8;
	if (!format)
		return item;
	format++;
	if (*format == 's' || *format == 'S') {
		item.kind = UFTRACE_GEN_TEXT;
	} else if (*format == 'c') {
		item.size = 1;
	} else if (*format == 't') {
		item.size = (uint16_t)strtoul(format + 1, NULL, 10);
	} else if (*format != 'e' && *format != 'p') {
		unsigned long bits = strtoul(floating ? format : format + 1, NULL, 10);

		if (*format == 'f')
			item.size = 8;
		if (bits)
			item.size = (uint16_t)(bits / 8);
	}
	return item;
}

static struct uftrace_gen_spec *spec_named(struct uftrace_gen *g, const char *name)
{
	for (unsigned i = 0; i < g->spec_count; i++)
		if (strcmp(g->specs[i].name, name) == 0)
			return &g->specs[i];
	if (g->spec_count == UFTRACE_GEN_SPECS_MAX)
		return NULL;

	struct uftrace_gen_spec *spec = &g->specs[g->spec_count++];

	(void)snprintf(spec->name, sizeof(spec->name), "%s", name);
	return spec;
}

static void spec_add_args(struct uftrace_gen *g, struct uftrace_gen_spec *spec, const char *args)
{
	while (*args && spec->count < UFTRACE_GEN_ITEMS_MAX) {
		size_t length = strcspn(args, ",");

		spec->items[spec->count++] = item_parse(g, args, length);
		args += length + (args[length] == ',');
	}
}

static void spec_add_value(struct uftrace_gen *g, struct uftrace_gen_spec *spec, const char *value)
{
	spec->returns = true;
	spec->value = item_parse(g, value, strlen(value));
}

/* A structure, with or without its name; one that is returned is of at most two words. */
static void structure_format(struct uftrace_gen *g, char *text, size_t room, bool value)
{
	unsigned bytes = value ? 8 * uftrace_gen_below(g, 3) : uftrace_gen_below(g, 41);

	(void)snprintf(text, room, "/t%u%s", bytes, uftrace_gen_below(g, 2) ? "" : ":pair");
}

/* The format of a value, with its slash; empty for the plain one. */
static void item_format(struct uftrace_gen *g, char *text, size_t room, bool value)
{
	static const char letters[] = "xdiu";
	unsigned bits = 8u << uftrace_gen_below(g, 4);

	switch (uftrace_gen_below(g, 11)) {
	case 0:
		text[0] = '\0';
		break;
	case 1:
		(void)snprintf(text, room, "/%c", letters[uftrace_gen_below(g, 4)]);
		break;
	case 2:
		(void)snprintf(text, room, "/%c%u", letters[uftrace_gen_below(g, 4)], bits);
		break;
	case 3:
		(void)snprintf(text, room, "/c");
		break;
	case 4:
		(void)snprintf(text, room, "/s");
		break;
	case 5:
		(void)snprintf(text, room, "/%s", g->version >= 81 ? "p" : "x");
		break;
	case 6:
		if (g->version >= 100)
			structure_format(g, text, room, value);
		else
			(void)snprintf(text, room, "/u%u", bits);
		break;
	case 7:
		(void)snprintf(text, room, "/%s", g->version >= 90 ? "e:color" : "d32");
		break;
	case 8:
		(void)snprintf(text, room, "/%s", g->version >= 80 ? "S" : "s");
		break;
	case 9:
		(void)snprintf(text, room, "/%s", g->version >= 160 ? "o" : "x64");
		break;
	default:
		if (value) /* a floating argument has an item of its own */
			(void)snprintf(text, room, "/f%u", uftrace_gen_below(g, 2) ? 32u : 64u);
		else
			(void)snprintf(text, room, "/i%u", bits);
		break;
	}
	if (value && uftrace_gen_below(g, 12) == 11 && uftrace_gen_long_size(g) == 8)
		(void)snprintf(text, room, "/f80");
}

static void spec_invent(struct uftrace_gen *g, struct uftrace_gen_spec *spec, bool args, bool value)
{
	char format[24], text[40];
	unsigned count = args ? 1 + uftrace_gen_below(g, UFTRACE_GEN_ITEMS_MAX) : 0;
	unsigned floating = 0, plain = 0;

	for (unsigned i = 0; i < count; i++) {
		bool on_stack;

		if (uftrace_gen_below(g, 6) == 5) {
			static const char *const widths[] = { "", "/32", "/64", "/80" };
			unsigned width = uftrace_gen_below(g, uftrace_gen_long_size(g) == 8 ? 4 : 3);

			(void)snprintf(text, sizeof(text), "fparg%u%s", ++floating, widths[width]);
			on_stack = width == 3;
		} else {
			item_format(g, format, sizeof(format), false);
			(void)snprintf(text, sizeof(text), "arg%u%s", ++plain, format);
			on_stack = format[0] && uftrace_gen_below(g, 8) == 7;
		}
		if (on_stack) { /* each in a place of its own: readers distinguish arguments by it */
			size_t length = strlen(text);

			(void)snprintf(text + length, sizeof(text) - length, "%%stack+%u", 1 + 2 * i);
		}
		spec_add_args(g, spec, text);
	}
	if (value) {
		item_format(g, format, sizeof(format), true);
		(void)snprintf(text, sizeof(text), "retval%s", format);
		spec_add_value(g, spec, text);
	}
}

const struct uftrace_gen_spec *uftrace_gen_spec_of(const struct uftrace_gen *g, const struct uftrace_gen_symbol *symbol)
{
	return symbol && symbol->spec >= 0 ? &g->specs[symbol->spec] : NULL;
}

static bool is_function(const struct uftrace_gen_symbol *symbol)
{
	return symbol->type == 'T' || symbol->type == 't' || symbol->type == 'w';
}

static void make_table_specs(struct uftrace_gen *g)
{
	for (size_t i = 0; i < sizeof(library_calls) / sizeof(library_calls[0]); i++) {
		const struct library_call *call = &library_calls[i];
		struct uftrace_gen_spec *spec = call->args || call->value ? spec_named(g, call->name) : NULL;

		if (!spec)
			continue;
		spec->source = UFTRACE_GEN_BY_TABLE;
		if (call->args)
			spec_add_args(g, spec, call->args);
		if (call->value)
			spec_add_value(g, spec, call->value);
	}
}

/* A spec by pattern, for what another program calls its functions. */
static void make_family_spec(struct uftrace_gen *g)
{
	struct uftrace_gen_spec *spec;

	if (g->version < 90 || g->pattern == UFTRACE_GEN_SIMPLE || g->module_count < 2 || !g->modules[1].program ||
	    !uftrace_gen_below(g, 2))
		return;
	spec = spec_named(g, "worker_");
	if (!spec)
		return;
	spec->family = true;
	spec->source = UFTRACE_GEN_BY_USER;
	spec_invent(g, spec, uftrace_gen_has(g, UFTRACE_GEN_ARGS), uftrace_gen_has(g, UFTRACE_GEN_RETVALS));
}

/* The spec that a symbol has so far; -1: none. */
static int8_t find_spec(const struct uftrace_gen *g, const struct uftrace_gen_symbol *symbol)
{
	for (unsigned i = 0; i < g->spec_count; i++) {
		const struct uftrace_gen_spec *spec = &g->specs[i];

		if (spec->family ? is_function(symbol) && strncmp(symbol->name, spec->name, strlen(spec->name)) == 0
				 : strcmp(symbol->name, spec->name) == 0)
			return (int8_t)i;
	}
	return -1;
}

/* Gives some functions of a module specs of the user's, or of the debug information. */
static void make_module_specs(struct uftrace_gen *g, unsigned index)
{
	struct uftrace_gen_module *module = &g->modules[index];
	bool user = uftrace_gen_has(g, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS);
	/* Libraries that are loaded late have specs since 0.17 only. */
	bool debug = uftrace_gen_has(g, UFTRACE_GEN_AUTO) && module->debug &&
		     ((int)index != uftrace_gen_plugin(g) || g->version >= 170);
	unsigned taken = 0;

	for (unsigned s = 0; s < module->symbol_count; s++) {
		struct uftrace_gen_symbol *symbol = &module->symbols[s];
		bool by_user = user && module->program && ((index == 0 && taken == 0) || uftrace_gen_below(g, 2));
		struct uftrace_gen_spec *spec = NULL;

		symbol->spec = find_spec(g, symbol);
		if (symbol->spec >= 0 || !is_function(symbol) || strncmp(symbol->name, "_Z", 2) == 0 || taken == 3)
			continue;
		if (by_user || debug)
			spec = spec_named(g, symbol->name);
		if (!spec)
			continue;
		if (by_user) {
			spec->source = UFTRACE_GEN_BY_USER;
			spec_invent(g, spec, uftrace_gen_has(g, UFTRACE_GEN_ARGS), uftrace_gen_has(g, UFTRACE_GEN_RETVALS));
		} else {
			unsigned which = uftrace_gen_below(g, 3);

			spec->source = UFTRACE_GEN_BY_DEBUG;
			spec_invent(g, spec, which != 1, which != 2);
		}
		symbol->spec = find_spec(g, symbol);
		taken++;
	}
}

static void make_specs(struct uftrace_gen *g)
{
	if (uftrace_gen_has(g, UFTRACE_GEN_AUTO))
		make_table_specs(g);
	if (uftrace_gen_has(g, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS))
		make_family_spec(g);
	for (unsigned m = 0; m < g->module_count; m++)
		make_module_specs(g, m);
}

/* ---- modules ---- */

static struct uftrace_gen_symbol *add_symbol(struct uftrace_gen_module *module, uint64_t address, uint32_t size, char type)
{
	if (module->symbol_count == UFTRACE_GEN_SYMBOLS_MAX)
		return NULL;

	struct uftrace_gen_symbol *symbol = &module->symbols[module->symbol_count++];

	*symbol = (struct uftrace_gen_symbol){ .address = address, .size = size, .type = type, .spec = -1 };
	return symbol;
}

static struct uftrace_gen_module *add_module(struct uftrace_gen *g, const char *path, bool program)
{
	struct uftrace_gen_module *module = &g->modules[g->module_count++];
	const char *name = strrchr(path, '/');

	*module = (struct uftrace_gen_module){ .program = program };
	(void)snprintf(module->path, sizeof(module->path), "%s", path);
	(void)snprintf(module->file, sizeof(module->file), "%s", name ? name + 1 : path);
	uftrace_gen_hex_digits(g, module->build_id, 40);
	module->debug = uftrace_gen_has(g, UFTRACE_GEN_DEBUG);
	return module;
}

/* Fills in the symbols of a module: library calls, functions, variables, ascending. stem distinguishes its names from those of
 * other modules, because a spec goes by name. */
static void make_symbols(struct uftrace_gen *g, struct uftrace_gen_module *module, const char *stem, unsigned functions)
{
	static const char *const verbs[] = { "open", "read_line", "parse", "find", "merge", "flush", "on_signal", "close" };
	static const char *const classes[] = { "list", "queue", "order" };
	uint64_t address = 0x1000;
	bool variables = g->version >= 93 && uftrace_gen_below(g, 2);
	/* Breakers need functions without a spec. */
	unsigned count = g->g->rule >= 0 ? 4 + functions / 4 : functions;
	uint8_t hook = (uint8_t)(uftrace_gen_below(g, 2) ? 4 + uftrace_gen_below(g, 14) : 0);

	if (variables && uftrace_gen_below(g, 2)) {
		struct uftrace_gen_symbol *symbol = add_symbol(module, 0x37c, 0x20, 'd');

		if (symbol)
			(void)snprintf(symbol->name, sizeof(symbol->name), "%s_abi_tag", stem);
	}
	for (size_t i = 0; module->program && i < sizeof(library_calls) / sizeof(library_calls[0]); i++) {
		const struct library_call *call = &library_calls[i];
		struct uftrace_gen_symbol *symbol;

		if (!uftrace_gen_has(g, UFTRACE_GEN_LIBCALL))
			break;
		if (call->needed_by ? !uftrace_gen_has(g, call->needed_by) : uftrace_gen_below(g, 2) == 0 && g->g->rule < 0)
			continue;
		symbol = add_symbol(module, address, 16, 'P');
		if (symbol)
			(void)snprintf(symbol->name, sizeof(symbol->name), "%s", call->name);
		address += 16;
	}
	for (unsigned i = 0; i < count; i++) {
		uint32_t paragraphs = 2 + uftrace_gen_below(g, 30);
		uint32_t size = 16 * paragraphs + uftrace_gen_below(g, 16);
		struct uftrace_gen_symbol *symbol = add_symbol(module, address, size, "Ttw"[uftrace_gen_below(g, 3)]);

		if (!symbol)
			break;
		symbol->hook = hook;
		if (i == 0 && module->program) {
			symbol->type = 'T';
			(void)snprintf(symbol->name, sizeof(symbol->name), module == g->modules ? "main" : "%s_main", stem);
		} else if (uftrace_gen_below(g, 5) == 4 && g->g->rule < 0) {
			const char *name = classes[uftrace_gen_below(g, 3)];

			(void)snprintf(symbol->name, sizeof(symbol->name), "_ZN%zu%s%zu%s4add%uEii", strlen(stem), stem,
				       strlen(name), name, i % 10);
		} else {
			(void)snprintf(symbol->name, sizeof(symbol->name), "%s_%s%u", stem, verbs[uftrace_gen_below(g, 8)], i);
		}
		address += (size + 15) & ~15u;
	}
	if (variables) {
		address = (address + 0xfff) & ~(uint64_t)0xfff;
		for (unsigned i = 1 + uftrace_gen_below(g, 3); i; i--) {
			struct uftrace_gen_symbol *symbol = add_symbol(module, address, 8 * i, "Ddvu"[uftrace_gen_below(g, 4)]);

			if (symbol)
				(void)snprintf(symbol->name, sizeof(symbol->name), "%s_state.%u", stem, i);
			address += 8 * i;
		}
	}
	module->length = (address + 0x1fff) & ~(uint64_t)0xfff;
}

/* A module of 1 to most functions, besides what make_symbols() gives every one. */
static void make_module(struct uftrace_gen *g, const char *path, bool program, const char *stem, unsigned most)
{
	unsigned functions = 1 + uftrace_gen_below(g, most);

	make_symbols(g, add_module(g, path, program), stem, functions);
}

/* Two libraries of one name. Symbol files are written in descending order of the path: the first gets the plain name,
 * the second the first digits of its build-id, or of the sum of the bytes of its path where it has none. */
static void make_colliding(struct uftrace_gen *g)
{
	struct uftrace_gen_module *late = add_module(g, "/opt/shop/lib/two/libplug.so", false);
	struct uftrace_gen_module *early = add_module(g, "/opt/shop/lib/one/libplug.so", false);

	make_symbols(g, late, "plugtwo", 1 + uftrace_gen_below(g, 3));
	make_symbols(g, early, "plugone", 1 + uftrace_gen_below(g, 3));
	late->build_id[0] = '4';
	early->build_id[0] = 'd';
	(void)snprintf(early->file, sizeof(early->file), "libplug.so-%.4s", early->build_id);
	if (uftrace_gen_below(g, 4) == 3) { /* built without build-ids */
		unsigned sum = 0;

		for (const char *p = early->path; *p; p++)
			sum += (unsigned char)*p;
		early->build_id[0] = late->build_id[0] = '\0';
		(void)snprintf(early->file, sizeof(early->file), "libplug.so-%04x", sum & 0xffff);
	}
}

void uftrace_gen_make_world(struct uftrace_gen *g)
{
	bool more = uftrace_gen_has(g, UFTRACE_GEN_FORK_EXEC | UFTRACE_GEN_SPAWN | UFTRACE_GEN_EXEC | UFTRACE_GEN_ORPHAN);

	make_module(g, uftrace_gen_has(g, UFTRACE_GEN_FOREIGN) ? "/opt/shop/bin/guest" : "/opt/shop/bin/shop", true, "shop", 9);
	if (more)
		make_module(g, "/opt/shop/libexec/worker", true, "worker", 6);
	if (more && uftrace_gen_below(g, 2))
		make_module(g, "/usr/bin/till", true, "till", 4);
	if (uftrace_gen_has(g, UFTRACE_GEN_LIBRARIES)) {
		make_module(g, "/opt/shop/lib/libcart.so.1", false, "cart", 6);
		if (uftrace_gen_below(g, 2))
			make_module(g, "/usr/lib/libstock-2.0.so", false, "stock", 4);
		if (uftrace_gen_has(g, UFTRACE_GEN_COLLIDE))
			make_colliding(g);
		if (uftrace_gen_below(g, 2)) { /* the tracer's own library is never symbolised */
			struct uftrace_gen_module *mcount = add_module(g, "/usr/lib/uftrace/libmcount.so", false);

			mcount->length = 0x42000;
			mcount->file[0] = '\0';
			mcount->debug = false;
		}
	}
	if (uftrace_gen_has(g, UFTRACE_GEN_DLOPEN))
		make_module(g, "/opt/shop/plugins/pay.so", false, "pay", 4);
	make_specs(g);
}

unsigned uftrace_gen_other_program(struct uftrace_gen *g)
{
	unsigned programs = 0;

	while (programs < g->module_count && g->modules[programs].program)
		programs++;
	return programs < 2 ? 0 : 1 + uftrace_gen_below(g, programs - 1);
}

int uftrace_gen_plugin(struct uftrace_gen *g)
{
	return uftrace_gen_has(g, UFTRACE_GEN_DLOPEN) ? (int)g->module_count - 1 : -1;
}

/* Where things are in memory. */
static const struct layout {
	uint64_t fixed; /* of a program that cannot be moved */
	uint64_t program, libraries, stack;
} layouts[] = {
	{ 0x400000, 0x555500000000, 0x7f3a00000000, 0x7ffd00000000 },
	{ 0x400000, 0x5500000000, 0x7f80000000, 0x7fe0000000 }, /* 39 bits, as on small ARM systems */
	{ 0x8048000, 0x56555000, 0xb6000000, 0xbf800000 },
};

unsigned uftrace_gen_make_session(struct uftrace_gen *g, unsigned program)
{
	if (g->session_count == UFTRACE_GEN_SESSIONS_MAX)
		return g->session_count - 1;

	struct uftrace_gen_session *session = &g->sessions[g->session_count];
	const struct layout *layout = &layouts[uftrace_gen_has(g, UFTRACE_GEN_NARROW) ? 2 : g->arm];
	uint64_t slide = uftrace_gen_below(g, 0x400);
	uint64_t base = layout->libraries + slide * 0x1000;

	*session = (struct uftrace_gen_session){ .program = program };
	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN)) {
		(void)snprintf(session->sid, sizeof(session->sid), "0");
	} else { /* distinguished by the first digit: they must differ */
		uftrace_gen_hex_digits(g, session->sid, 16);
		session->sid[0] = "0123456789abcdef"[g->session_count];
	}
	session->maps[0].module = program;
	session->maps[0].base = g->version < 60 ? layout->fixed : layout->program + slide * 0x1000;
	session->map_count = 1;
	session->plugin_base = base;
	base += 0x400000;
	for (unsigned m = 0; m < g->module_count; m++) {
		if (g->modules[m].program || (int)m == uftrace_gen_plugin(g) || session->map_count == UFTRACE_GEN_MAPS_MAX)
			continue;
		g->modules[m].used = true;
		session->maps[session->map_count].module = m;
		session->maps[session->map_count++].base = base;
		base += g->modules[m].length + 0x1000 * (uint64_t)uftrace_gen_below(g, 16);
	}
	session->stack_start = layout->stack + slide * 0x1000;
	session->stack_end = session->stack_start + 0x21000;
	return g->session_count++;
}
