/* The model of a generated recording: programs, sessions, tasks, calls. */
#ifndef UFTRACE_GEN_MODEL_H
#define UFTRACE_GEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	UFTRACE_GEN_TASKS_MAX = 24,
	UFTRACE_GEN_SESSIONS_MAX = 12,
	UFTRACE_GEN_MODULES_MAX = 12,
	UFTRACE_GEN_SYMBOLS_MAX = 28, /* of one module */
	UFTRACE_GEN_MAPS_MAX = 10,    /* modules of one session */
	UFTRACE_GEN_SPECS_MAX = 24,
	UFTRACE_GEN_ITEMS_MAX = 5,  /* arguments of one function */
	UFTRACE_GEN_LINES_MAX = 96, /* of task.txt */
	UFTRACE_GEN_CALLS_MAX = 96, /* functions that a task can call */
	UFTRACE_GEN_FRAMES_MAX = 2400,
	UFTRACE_GEN_INHERITED_MAX = 16, /* open frames that a forked child starts with */
	UFTRACE_GEN_MARKS_MAX = 4096,	/* records that breakers can choose from */
};

/* One value of a payload. */
struct uftrace_gen_item {
	enum { UFTRACE_GEN_BITS, UFTRACE_GEN_TEXT } kind;
	uint16_t size; /* of UFTRACE_GEN_BITS, bytes; 0 is an empty struct */
	char text[40]; /* "arg1/x32" */
};

/* Arguments and return value of the functions of one name, or of all whose names start so. */
struct uftrace_gen_spec {
	char name[64];
	bool family;
	struct uftrace_gen_item items[UFTRACE_GEN_ITEMS_MAX];
	unsigned count;
	bool returns;
	struct uftrace_gen_item value;
	enum { UFTRACE_GEN_BY_USER, UFTRACE_GEN_BY_TABLE, UFTRACE_GEN_BY_DEBUG } source;
};

struct uftrace_gen_symbol {
	uint64_t address; /* from the start of the module */
	uint32_t size;
	char type;
	uint8_t hook; /* from the symbol to the address that is recorded */
	int8_t spec;  /* index into specs, -1: none */
	char name[64];
};

struct uftrace_gen_module {
	char path[96];
	char file[64];	   /* its symbol file without ".sym"; "" when it has none */
	char build_id[41]; /* "" when it has none */
	uint64_t length;
	struct uftrace_gen_symbol symbols[UFTRACE_GEN_SYMBOLS_MAX];
	unsigned symbol_count;
	bool program, debug;
	bool used; /* part of a session: only then its symbols are saved */
};

struct uftrace_gen_session {
	char sid[17];
	unsigned program; /* module */
	struct {
		unsigned module;
		uint64_t base;
	} maps[UFTRACE_GEN_MAPS_MAX]; /* ascending by base */
	unsigned map_count;
	uint64_t stack_start, stack_end;
	uint64_t plugin_base; /* where dlopen() puts things */
};

/* A line of task.txt. */
struct uftrace_gen_line {
	enum { UFTRACE_GEN_SESS, UFTRACE_GEN_TASK, UFTRACE_GEN_FORKED, UFTRACE_GEN_DLOP } kind;
	uint64_t time;
	int pid, other; /* SESS: pid. TASK: tid, pid. FORK: pid, ppid. DLOP: tid */
	unsigned session, module;
	uint64_t base;
};

struct uftrace_gen_frame {
	uint64_t address;
	const struct uftrace_gen_symbol *symbol; /* NULL: unknown */
};

struct uftrace_gen_task {
	int tid, pid;
	unsigned session;
	uint64_t time;	   /* of its next record at the earliest; after the run, of its last */
	bool forked, exec; /* starts with the exit of fork(); goes on to exec */
	struct uftrace_gen_frame inherited[UFTRACE_GEN_INHERITED_MAX];
	unsigned inherited_count;
	uint64_t records;
};

/* Where a record is, for breakers. */
struct uftrace_gen_mark {
	uint64_t offset, time, address;
	uint32_t length; /* with payload */
	uint16_t depth;	 /* as simulated: may pass 1023 */
	uint8_t task, type;
	bool more;  /* has a payload, which may be empty */
	bool first; /* of its .dat, or of a new image, or after LOST */
	bool text;  /* the payload starts with a string */
	const struct uftrace_gen_symbol *symbol;
};

#endif
