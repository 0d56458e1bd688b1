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
	{ "pthread_create", "arg1/p,arg2/p,arg3/p,arg4/p", "retval/d32", UFTGEN_THREADS },
	{ "fork", NULL, "retval/i32", UFTGEN_FORK | UFTGEN_FORK_EXEC },
	{ "execve", "arg1/s", "retval/d32", UFTGEN_EXEC | UFTGEN_FORK_EXEC },
	{ "posix_spawn", NULL, NULL, UFTGEN_SPAWN },
	{ "dlopen", "arg1/s,arg2/e:uft_dlopen_flag", "retval/p", UFTGEN_DLOPEN },
	{ "_setjmp", NULL, NULL, UFTGEN_LONGJMP },
	{ "longjmp", NULL, NULL, UFTGEN_LONGJMP },
};

void uftgen_hex_digits(struct uftrace_gen *u, char *text, size_t digits)
{
	for (size_t i = 0; i < digits; i++)
		text[i] = "0123456789abcdef"[choices_below(u->c, 16)];
	text[digits] = '\0';
}

/* ---- specs ---- */

/* The value that a spec item stands for. The items are our own: only what spec_item() and the tables above write. */
static struct uftgen_item item_parse(const struct uftrace_gen *u, const char *text, size_t length)
{
	struct uftgen_item item = { .kind = UFTGEN_BITS, .size = (uint16_t)uftgen_long_size(u) };

	(void)snprintf(item.text, sizeof(item.text), "%.*s", (int)length, text);
	const char *format = strchr(item.text, '/');
	bool floating = strncmp(item.text, "fparg", 5) == 0;

	if (floating)
		item.size = 8;
	if (!format)
		return item;
	format++;
	if (*format == 's' || *format == 'S') {
		item.kind = UFTGEN_TEXT;
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

static struct uftgen_spec *spec_named(struct uftrace_gen *u, const char *name)
{
	for (unsigned i = 0; i < u->spec_count; i++)
		if (strcmp(u->specs[i].name, name) == 0)
			return &u->specs[i];
	if (u->spec_count == UFTGEN_SPECS_MAX)
		return NULL;

	struct uftgen_spec *spec = &u->specs[u->spec_count++];

	(void)snprintf(spec->name, sizeof(spec->name), "%s", name);
	return spec;
}

static void spec_add_args(struct uftrace_gen *u, struct uftgen_spec *spec, const char *args)
{
	while (*args && spec->count < UFTGEN_ITEMS_MAX) {
		size_t length = strcspn(args, ",");

		spec->items[spec->count++] = item_parse(u, args, length);
		args += length + (args[length] == ',');
	}
}

static void spec_add_value(struct uftrace_gen *u, struct uftgen_spec *spec, const char *value)
{
	spec->returns = true;
	spec->value = item_parse(u, value, strlen(value));
}

/* A structure, with or without its name; one that is returned is of at most two words. */
static void structure_format(struct uftrace_gen *u, char *text, size_t room, bool value)
{
	unsigned bytes = value ? 8 * uftgen_below(u, 3) : uftgen_below(u, 41);

	(void)snprintf(text, room, "/t%u%s", bytes, uftgen_below(u, 2) ? "" : ":pair");
}

/* The format of a value, with its slash; empty for the plain one. */
static void item_format(struct uftrace_gen *u, char *text, size_t room, bool value)
{
	static const char letters[] = "xdiu";
	unsigned bits = 8u << uftgen_below(u, 4);

	switch (uftgen_below(u, 11)) {
	case 0:
		text[0] = '\0';
		break;
	case 1:
		(void)snprintf(text, room, "/%c", letters[uftgen_below(u, 4)]);
		break;
	case 2:
		(void)snprintf(text, room, "/%c%u", letters[uftgen_below(u, 4)], bits);
		break;
	case 3:
		(void)snprintf(text, room, "/c");
		break;
	case 4:
		(void)snprintf(text, room, "/s");
		break;
	case 5:
		(void)snprintf(text, room, "/%s", u->version >= 81 ? "p" : "x");
		break;
	case 6:
		if (u->version >= 100)
			structure_format(u, text, room, value);
		else
			(void)snprintf(text, room, "/u%u", bits);
		break;
	case 7:
		(void)snprintf(text, room, "/%s", u->version >= 90 ? "e:color" : "d32");
		break;
	case 8:
		(void)snprintf(text, room, "/%s", u->version >= 80 ? "S" : "s");
		break;
	case 9:
		(void)snprintf(text, room, "/%s", u->version >= 160 ? "o" : "x64");
		break;
	default:
		if (value) /* a floating argument has an item of its own */
			(void)snprintf(text, room, "/f%u", uftgen_below(u, 2) ? 32u : 64u);
		else
			(void)snprintf(text, room, "/i%u", bits);
		break;
	}
	if (value && uftgen_below(u, 12) == 11 && uftgen_long_size(u) == 8)
		(void)snprintf(text, room, "/f80");
}

static void spec_invent(struct uftrace_gen *u, struct uftgen_spec *spec, bool args, bool value)
{
	char format[24], text[40];
	unsigned count = args ? 1 + uftgen_below(u, UFTGEN_ITEMS_MAX) : 0;
	unsigned floating = 0, plain = 0;

	for (unsigned i = 0; i < count; i++) {
		bool on_stack;

		if (uftgen_below(u, 6) == 5) {
			static const char *const widths[] = { "", "/32", "/64", "/80" };
			unsigned width = uftgen_below(u, uftgen_long_size(u) == 8 ? 4 : 3);

			(void)snprintf(text, sizeof(text), "fparg%u%s", ++floating, widths[width]);
			on_stack = width == 3;
		} else {
			item_format(u, format, sizeof(format), false);
			(void)snprintf(text, sizeof(text), "arg%u%s", ++plain, format);
			on_stack = format[0] && uftgen_below(u, 8) == 7;
		}
		if (on_stack) { /* each in a place of its own: readers tell arguments apart by it */
			size_t length = strlen(text);

			(void)snprintf(text + length, sizeof(text) - length, "%%stack+%u", 1 + 2 * i);
		}
		spec_add_args(u, spec, text);
	}
	if (value) {
		item_format(u, format, sizeof(format), true);
		(void)snprintf(text, sizeof(text), "retval%s", format);
		spec_add_value(u, spec, text);
	}
}

const struct uftgen_spec *uftgen_spec_of(const struct uftrace_gen *u, const struct uftgen_symbol *symbol)
{
	return symbol && symbol->spec >= 0 ? &u->specs[symbol->spec] : NULL;
}

static bool is_function(const struct uftgen_symbol *symbol)
{
	return symbol->type == 'T' || symbol->type == 't' || symbol->type == 'w';
}

static void make_table_specs(struct uftrace_gen *u)
{
	for (size_t i = 0; i < sizeof(library_calls) / sizeof(library_calls[0]); i++) {
		const struct library_call *call = &library_calls[i];
		struct uftgen_spec *spec = call->args || call->value ? spec_named(u, call->name) : NULL;

		if (!spec)
			continue;
		spec->source = UFTGEN_BY_TABLE;
		if (call->args)
			spec_add_args(u, spec, call->args);
		if (call->value)
			spec_add_value(u, spec, call->value);
	}
}

/* A spec by pattern, for what another program calls its functions. */
static void make_family_spec(struct uftrace_gen *u)
{
	struct uftgen_spec *spec;

	if (u->version < 90 || u->pattern == UFTGEN_SIMPLE || u->module_count < 2 || !u->modules[1].program || !uftgen_below(u, 2))
		return;
	spec = spec_named(u, "worker_");
	if (!spec)
		return;
	spec->family = true;
	spec->source = UFTGEN_BY_USER;
	spec_invent(u, spec, uftgen_has(u, UFTGEN_ARGS), uftgen_has(u, UFTGEN_RETVALS));
}

/* The spec that a symbol has so far; -1: none. */
static int8_t find_spec(const struct uftrace_gen *u, const struct uftgen_symbol *symbol)
{
	for (unsigned i = 0; i < u->spec_count; i++) {
		const struct uftgen_spec *spec = &u->specs[i];

		if (spec->family ? is_function(symbol) && strncmp(symbol->name, spec->name, strlen(spec->name)) == 0
				 : strcmp(symbol->name, spec->name) == 0)
			return (int8_t)i;
	}
	return -1;
}

/* Gives some functions of a module specs of the user's, or of the debug information. */
static void make_module_specs(struct uftrace_gen *u, unsigned index)
{
	struct uftgen_module *module = &u->modules[index];
	bool user = uftgen_has(u, UFTGEN_ARGS | UFTGEN_RETVALS);
	/* Libraries that are loaded late have specs since 0.17 only. */
	bool debug = uftgen_has(u, UFTGEN_AUTO) && module->debug && ((int)index != uftgen_plugin(u) || u->version >= 170);
	unsigned taken = 0;

	for (unsigned s = 0; s < module->symbol_count; s++) {
		struct uftgen_symbol *symbol = &module->symbols[s];
		bool by_user = user && module->program && ((index == 0 && taken == 0) || uftgen_below(u, 2));
		struct uftgen_spec *spec = NULL;

		symbol->spec = find_spec(u, symbol);
		if (symbol->spec >= 0 || !is_function(symbol) || strncmp(symbol->name, "_Z", 2) == 0 || taken == 3)
			continue;
		if (by_user || debug)
			spec = spec_named(u, symbol->name);
		if (!spec)
			continue;
		if (by_user) {
			spec->source = UFTGEN_BY_USER;
			spec_invent(u, spec, uftgen_has(u, UFTGEN_ARGS), uftgen_has(u, UFTGEN_RETVALS));
		} else {
			unsigned which = uftgen_below(u, 3);

			spec->source = UFTGEN_BY_DEBUG;
			spec_invent(u, spec, which != 1, which != 2);
		}
		symbol->spec = find_spec(u, symbol);
		taken++;
	}
}

static void make_specs(struct uftrace_gen *u)
{
	if (uftgen_has(u, UFTGEN_AUTO))
		make_table_specs(u);
	if (uftgen_has(u, UFTGEN_ARGS | UFTGEN_RETVALS))
		make_family_spec(u);
	for (unsigned m = 0; m < u->module_count; m++)
		make_module_specs(u, m);
}

/* ---- modules ---- */

static struct uftgen_symbol *add_symbol(struct uftgen_module *module, uint64_t address, uint32_t size, char type)
{
	if (module->symbol_count == UFTGEN_SYMBOLS_MAX)
		return NULL;

	struct uftgen_symbol *symbol = &module->symbols[module->symbol_count++];

	*symbol = (struct uftgen_symbol){ .address = address, .size = size, .type = type, .spec = -1 };
	return symbol;
}

static struct uftgen_module *add_module(struct uftrace_gen *u, const char *path, bool program)
{
	struct uftgen_module *module = &u->modules[u->module_count++];
	const char *name = strrchr(path, '/');

	*module = (struct uftgen_module){ .program = program };
	(void)snprintf(module->path, sizeof(module->path), "%s", path);
	(void)snprintf(module->file, sizeof(module->file), "%s", name ? name + 1 : path);
	uftgen_hex_digits(u, module->build_id, 40);
	module->debug = uftgen_has(u, UFTGEN_DEBUG);
	return module;
}

/* Fills in the symbols of a module: library calls, functions, variables, ascending. stem tells its names from those of
 * other modules, because a spec goes by name. */
static void make_symbols(struct uftrace_gen *u, struct uftgen_module *module, const char *stem, unsigned functions)
{
	static const char *const verbs[] = { "open", "read_line", "parse", "find", "merge", "flush", "on_signal", "close" };
	static const char *const classes[] = { "list", "queue", "order" };
	uint64_t address = 0x1000;
	bool variables = u->version >= 93 && uftgen_below(u, 2);
	/* Breakers look for functions without a spec. */
	unsigned count = u->g->rule >= 0 ? 4 + functions / 4 : functions;
	uint8_t hook = (uint8_t)(uftgen_below(u, 2) ? 4 + uftgen_below(u, 14) : 0);

	if (variables && uftgen_below(u, 2)) {
		struct uftgen_symbol *symbol = add_symbol(module, 0x37c, 0x20, 'd');

		if (symbol)
			(void)snprintf(symbol->name, sizeof(symbol->name), "%s_abi_tag", stem);
	}
	for (size_t i = 0; module->program && i < sizeof(library_calls) / sizeof(library_calls[0]); i++) {
		const struct library_call *call = &library_calls[i];
		struct uftgen_symbol *symbol;

		if (!uftgen_has(u, UFTGEN_LIBCALL))
			break;
		if (call->needed_by ? !uftgen_has(u, call->needed_by) : uftgen_below(u, 2) == 0 && u->g->rule < 0)
			continue;
		symbol = add_symbol(module, address, 16, 'P');
		if (symbol)
			(void)snprintf(symbol->name, sizeof(symbol->name), "%s", call->name);
		address += 16;
	}
	for (unsigned i = 0; i < count; i++) {
		uint32_t paragraphs = 2 + uftgen_below(u, 30);
		uint32_t size = 16 * paragraphs + uftgen_below(u, 16);
		struct uftgen_symbol *symbol = add_symbol(module, address, size, "Ttw"[uftgen_below(u, 3)]);

		if (!symbol)
			break;
		symbol->hook = hook;
		if (i == 0 && module->program) {
			symbol->type = 'T';
			(void)snprintf(symbol->name, sizeof(symbol->name), module == u->modules ? "main" : "%s_main", stem);
		} else if (uftgen_below(u, 5) == 4 && u->g->rule < 0) {
			const char *name = classes[uftgen_below(u, 3)];

			(void)snprintf(symbol->name, sizeof(symbol->name), "_ZN%zu%s%zu%s3add%uEii", strlen(stem), stem,
				       strlen(name), name, i % 10);
		} else {
			(void)snprintf(symbol->name, sizeof(symbol->name), "%s_%s%u", stem, verbs[uftgen_below(u, 8)], i);
		}
		address += (size + 15) & ~15u;
	}
	if (variables) {
		address = (address + 0xfff) & ~(uint64_t)0xfff;
		for (unsigned i = 1 + uftgen_below(u, 3); i; i--) {
			struct uftgen_symbol *symbol = add_symbol(module, address, 8 * i, "Ddvu"[uftgen_below(u, 4)]);

			if (symbol)
				(void)snprintf(symbol->name, sizeof(symbol->name), "%s_state.%u", stem, i);
			address += 8 * i;
		}
	}
	module->length = (address + 0x1fff) & ~(uint64_t)0xfff;
}

/* A module of 1 to most functions, besides what make_symbols() gives every one. */
static void make_module(struct uftrace_gen *u, const char *path, bool program, const char *stem, unsigned most)
{
	unsigned functions = 1 + uftgen_below(u, most);

	make_symbols(u, add_module(u, path, program), stem, functions);
}

/* Two libraries of one name. Symbol files are written in descending order of the path: the first gets the plain name,
 * the second the first digits of its build-id, or of the sum of the bytes of its path where it has none. */
static void make_colliding(struct uftrace_gen *u)
{
	struct uftgen_module *late = add_module(u, "/opt/shop/lib/two/libplug.so", false);
	struct uftgen_module *early = add_module(u, "/opt/shop/lib/one/libplug.so", false);

	make_symbols(u, late, "plugtwo", 1 + uftgen_below(u, 3));
	make_symbols(u, early, "plugone", 1 + uftgen_below(u, 3));
	late->build_id[0] = '4';
	early->build_id[0] = 'd';
	(void)snprintf(early->file, sizeof(early->file), "libplug.so-%.4s", early->build_id);
	if (uftgen_below(u, 4) == 3) { /* built without build-ids */
		unsigned sum = 0;

		for (const char *p = early->path; *p; p++)
			sum += (unsigned char)*p;
		early->build_id[0] = late->build_id[0] = '\0';
		(void)snprintf(early->file, sizeof(early->file), "libplug.so-%04x", sum & 0xffff);
	}
}

void uftgen_make_world(struct uftrace_gen *u)
{
	bool more = uftgen_has(u, UFTGEN_FORK_EXEC | UFTGEN_SPAWN | UFTGEN_EXEC | UFTGEN_ORPHAN);

	make_module(u, uftgen_has(u, UFTGEN_FOREIGN) ? "/opt/shop/bin/guest" : "/opt/shop/bin/shop", true, "shop", 9);
	if (more)
		make_module(u, "/opt/shop/libexec/worker", true, "worker", 6);
	if (more && uftgen_below(u, 2))
		make_module(u, "/usr/bin/till", true, "till", 4);
	if (uftgen_has(u, UFTGEN_LIBRARIES)) {
		make_module(u, "/opt/shop/lib/libcart.so.1", false, "cart", 6);
		if (uftgen_below(u, 2))
			make_module(u, "/usr/lib/libstock-2.0.so", false, "stock", 4);
		if (uftgen_has(u, UFTGEN_COLLIDE))
			make_colliding(u);
		if (uftgen_below(u, 2)) { /* the tracer's own library is never symbolised */
			struct uftgen_module *mcount = add_module(u, "/usr/lib/uftrace/libmcount.so", false);

			mcount->length = 0x42000;
			mcount->file[0] = '\0';
			mcount->debug = false;
		}
	}
	if (uftgen_has(u, UFTGEN_DLOPEN))
		make_module(u, "/opt/shop/plugins/pay.so", false, "pay", 4);
	make_specs(u);
}

unsigned uftgen_other_program(struct uftrace_gen *u)
{
	unsigned programs = 0;

	while (programs < u->module_count && u->modules[programs].program)
		programs++;
	return programs < 2 ? 0 : 1 + uftgen_below(u, programs - 1);
}

int uftgen_plugin(struct uftrace_gen *u)
{
	return uftgen_has(u, UFTGEN_DLOPEN) ? (int)u->module_count - 1 : -1;
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

unsigned uftgen_make_session(struct uftrace_gen *u, unsigned program)
{
	if (u->session_count == UFTGEN_SESSIONS_MAX)
		return u->session_count - 1;

	struct uftgen_session *session = &u->sessions[u->session_count];
	const struct layout *layout = &layouts[uftgen_has(u, UFTGEN_NARROW) ? 2 : u->arm];
	uint64_t slide = uftgen_below(u, 0x400);
	uint64_t base = layout->libraries + slide * 0x1000;

	*session = (struct uftgen_session){ .program = program };
	if (uftgen_has(u, UFTGEN_FOREIGN)) {
		(void)snprintf(session->sid, sizeof(session->sid), "0");
	} else { /* told apart by the first digit: they must differ */
		uftgen_hex_digits(u, session->sid, 16);
		session->sid[0] = "0123456789abcdef"[u->session_count];
	}
	session->maps[0].module = program;
	session->maps[0].base = u->version < 60 ? layout->fixed : layout->program + slide * 0x1000;
	session->map_count = 1;
	session->plugin_base = base;
	base += 0x400000;
	for (unsigned m = 0; m < u->module_count; m++) {
		if (u->modules[m].program || (int)m == uftgen_plugin(u) || session->map_count == UFTGEN_MAPS_MAX)
			continue;
		u->modules[m].used = true;
		session->maps[session->map_count].module = m;
		session->maps[session->map_count++].base = base;
		base += u->modules[m].length + 0x1000 * (uint64_t)uftgen_below(u, 16);
	}
	session->stack_start = layout->stack + slide * 0x1000;
	session->stack_end = session->stack_start + 0x21000;
	return u->session_count++;
}
