/* NAME.sym and NAME.dbg: symbols and debug information. */
#ifndef UFTRACE_SYM_H
#define UFTRACE_SYM_H

#include "formats/uftrace/decode/uftrace_str.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_spec;

struct uftrace_symbol {
	uint64_t address, end; /* relative; [address, end) */
	uint32_t name;	       /* offset in the module's names */
	uint32_t length : 24, type : 8;
};

struct uftrace_module {
	uint32_t file;			   /* UFTRACE_NONE: made by repair */
	struct uftrace_str path, build_id; /* of its head; in names */
	struct uftrace_str mapped_id;	   /* the build id in the map */
	char *names;			   /* owned: the bytes of the file */
	struct uftrace_symbol *symbols;	   /* owned, ascending */
	size_t count;
	bool sized, headed, matched, mapped;
	const struct uftrace_spec **specs; /* owned; by symbol, two each; NULL: not asked yet */
};

struct uftrace_dbg_function {
	uint64_t address;
	struct uftrace_str name;
	struct uftrace_str args, retval; /* texts after "@" */
};

struct uftrace_dbg {
	uint32_t file;
	struct uftrace_str path, build_id;
	bool lost;			   /* readers do not find the file */
	char *text;			   /* owned */
	struct uftrace_dbg_function *list; /* owned, ascending */
	size_t count;
};

/* A name that repair gives a symbol file: everything else sees it under this. */
struct uftrace_sym_name {
	char name[512];
	uint32_t module;
};

struct uftrace_symbols {
	struct uftrace_module *modules; /* owned */
	size_t module_count;
	struct uftrace_dbg *dbgs; /* owned */
	size_t dbg_count;
	size_t count, bytes; /* of all symbols; of all symbol files */
	struct uftrace_sym_name renamed[64];
	size_t renamed_count;
};

/* uftrace_sym.c */
bool uftrace_sym_walk(struct uftrace_walk *w);
/* The index of the first symbol behind that address. */
size_t uftrace_sym_behind(const struct uftrace_module *m, uint64_t relative);
/* Adds the symbols of a text that is made anew; *module: their index. */
bool uftrace_sym_add(struct uftrace_walk *w, const char *text, size_t size, uint32_t *module);
/* Index of the symbol at an address from the start of its module; UFTRACE_NONE. */
uint32_t uftrace_sym_find(const struct uftrace_module *module, uint64_t relative);
/* Whether there is no such module, or not one symbol is in its file. */
bool uftrace_sym_is_empty(const struct uftrace_symbols *symbols, uint32_t module);
void uftrace_sym_free(struct uftrace_symbols *symbols);

/* uftrace_sym_link.c: which mapping a symbol file belongs to */
/* Whether a map or a loaded library has the program of a symbol file: else a warning. */
void uftrace_sym_belongs(struct uftrace_walk *w, const struct uftrace_module *module);
/* A file of symbols or debug information, and what its head says of the program. */
struct uftrace_program {
	struct source *source;
	struct uftrace_str path, build_id;
	const char *extension; /* ".sym", ".dbg" */
	uint32_t module;       /* UFTRACE_NONE: the file has no symbols */
};
/* The name under which readers look for the file: its own, unless that is wrong. False: another file has that name, and readers
 * do not find this one. */
bool uftrace_sym_name(struct uftrace_walk *w, const struct uftrace_program *p, char *out, size_t size);
bool uftrace_sym_link(struct uftrace_walk *w);

/* uftrace_dbg.c */
bool uftrace_dbg_walk(struct uftrace_walk *w);

#endif
