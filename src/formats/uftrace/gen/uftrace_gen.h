/* The generator of uftrace directories: a model of what was recorded (programs, sessions, tasks, calls), written out as
 * the files of a directory. A breaker of a rule wishes for the features that it needs before the model is made, and
 * puts its one defect into the finished files.
 *
 * Everything lives in one allocation of bounded size; only the files themselves grow with the capture.
 */
#ifndef UFTRACE_GEN_H
#define UFTRACE_GEN_H

#include "core/format.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/uftrace.h"

/* What a capture can contain. Each is switched on or off for a whole capture, so that every combination occurs. */
enum uftgen_feature {
	UFTGEN_LIBCALL = 1 << 0, /* library calls are traced (feat bit 0) */
	UFTGEN_THREADS = 1 << 1,
	UFTGEN_FORK = 1 << 2,	   /* children that go on with the same image */
	UFTGEN_FORK_EXEC = 1 << 3, /* children that exec */
	UFTGEN_SPAWN = 1 << 4,	   /* processes without a FORK line (posix_spawn, system) */
	UFTGEN_EXEC = 1 << 5,	   /* exec without fork, at the end of the first process */
	UFTGEN_DLOPEN = 1 << 6,
	UFTGEN_ARGS = 1 << 7,	 /* argspec: */
	UFTGEN_RETVALS = 1 << 8, /* retspec: */
	UFTGEN_AUTO = 1 << 9,	 /* auto-args:1 and the argauto, retauto and enumauto lists */
	UFTGEN_DEBUG = 1 << 10,	 /* .dbg files */
	UFTGEN_LOST = 1 << 11,
	UFTGEN_EVENTS = 1 << 12, /* built-in events */
	UFTGEN_PROBES = 1 << 13, /* user events and events.txt */
	UFTGEN_PERF = 1 << 14,
	UFTGEN_KERNEL = 1 << 15,
	UFTGEN_EXTERN = 1 << 16,
	UFTGEN_NOTE = 1 << 17,
	UFTGEN_OPTS = 1 << 18, /* default.opts; with content or empty */
	UFTGEN_DEEP = 1 << 19, /* nesting beyond the 1024 levels that the depth field can say */
	UFTGEN_OPEN = 1 << 20, /* frames stay open at the end */
	UFTGEN_LONGJMP = 1 << 21,
	UFTGEN_ESTIMATE = 1 << 22,
	UFTGEN_INTERRUPTED = 1 << 23, /* the recorder was told to stop: exit_status -1, no usage block */
	UFTGEN_ORPHAN = 1 << 24,      /* a map of an image that never called a traced function */
	UFTGEN_COLLIDE = 1 << 25,     /* two libraries of one name: the second symbol file has a suffix */
	UFTGEN_FOREIGN = 1 << 26,     /* the QEMU plugin wrote it */
	UFTGEN_BIG_ENDIAN = 1 << 27,
	UFTGEN_NARROW = 1 << 28,    /* 32-bit addresses and longs */
	UFTGEN_LIBRARIES = 1 << 29, /* libraries beside the program, with calls into them */
};

enum {
	UFTGEN_TASKS_MAX = 24,
	UFTGEN_SESSIONS_MAX = 12,
	UFTGEN_MODULES_MAX = 12,
	UFTGEN_SYMBOLS_MAX = 28, /* of one module */
	UFTGEN_MAPS_MAX = 10,	 /* modules of one session */
	UFTGEN_SPECS_MAX = 24,
	UFTGEN_ITEMS_MAX = 5,  /* arguments of one function */
	UFTGEN_LINES_MAX = 96, /* of task.txt */
	UFTGEN_CALLS_MAX = 96, /* functions that a task can call */
	UFTGEN_FRAMES_MAX = 2400,
	UFTGEN_INHERITED_MAX = 16, /* open frames that a forked child starts with */
	UFTGEN_MARKS_MAX = 4096,   /* records that breakers can choose from */
};

/* One value of a payload. */
struct uftgen_item {
	enum { UFTGEN_BITS, UFTGEN_TEXT } kind;
	uint16_t size; /* of UFTGEN_BITS, bytes; 0 is an empty struct */
	char text[40]; /* "arg1/x32" */
};

/* Arguments and return value of the functions of one name, or of all whose names start so. */
struct uftgen_spec {
	char name[64];
	bool family;
	struct uftgen_item items[UFTGEN_ITEMS_MAX];
	unsigned count;
	bool returns;
	struct uftgen_item value;
	enum { UFTGEN_BY_USER, UFTGEN_BY_TABLE, UFTGEN_BY_DEBUG } source;
};

struct uftgen_symbol {
	uint64_t address; /* from the start of the module */
	uint32_t size;
	char type;
	uint8_t hook; /* from the symbol to the address that is recorded */
	int8_t spec;  /* index into specs, -1: none */
	char name[64];
};

struct uftgen_module {
	char path[96];
	char file[64];	   /* its symbol file without ".sym"; "" when it has none */
	char build_id[41]; /* "" when it has none */
	uint64_t length;
	struct uftgen_symbol symbols[UFTGEN_SYMBOLS_MAX];
	unsigned symbol_count;
	bool program, debug;
	bool used; /* part of a session: only then its symbols are saved */
};

struct uftgen_session {
	char sid[17];
	unsigned program; /* module */
	struct {
		unsigned module;
		uint64_t base;
	} maps[UFTGEN_MAPS_MAX]; /* ascending by base */
	unsigned map_count;
	uint64_t stack_start, stack_end;
	uint64_t plugin_base; /* where dlopen() puts things */
};

/* A line of task.txt. */
struct uftgen_line {
	enum { UFTGEN_SESS, UFTGEN_TASK, UFTGEN_FORKED, UFTGEN_DLOP } kind;
	uint64_t time;
	int pid, other; /* SESS: pid. TASK: tid, pid. FORK: pid, ppid. DLOP: tid */
	unsigned session, module;
	uint64_t base;
};

struct uftgen_frame {
	uint64_t address;
	const struct uftgen_symbol *symbol; /* NULL: unknown */
};

struct uftgen_task {
	int tid, pid;
	unsigned session;
	uint64_t time;	   /* of its next record at the earliest; after the run, of its last */
	bool forked, exec; /* starts with the exit of fork(); goes on to exec */
	struct uftgen_frame inherited[UFTGEN_INHERITED_MAX];
	unsigned inherited_count;
	uint64_t records;
};

/* Where a record is, for breakers. */
struct uftgen_mark {
	uint64_t offset, time, address;
	uint32_t length; /* with payload */
	uint16_t depth;	 /* as simulated: may pass 1023 */
	uint8_t task, type;
	bool more;  /* has a payload, which may be empty */
	bool first; /* of its .dat, or of a new image, or after LOST */
	bool text;  /* the payload starts with a string */
	const struct uftgen_symbol *symbol;
};

struct uftrace_gen {
	struct gen *g;
	struct choices *c;

	/* The wishes of a breaker; see uftgen_ready(). */
	bool wishing;
	uint64_t want, refuse;
	unsigned version_low, version_high;

	/* The shape of the capture. */
	uint64_t features;
	unsigned version; /* of the writer: 50 is 0.5, 82 is 0.8.2, 130 is 0.13, 200 is what follows 0.19 */
	unsigned max_stack;
	unsigned cpus;
	bool arm;	 /* 39 bits of addresses */
	bool by_trigger; /* arguments were asked for with -T, which leaves their feature bits clear */
	enum { UFTGEN_REGEX, UFTGEN_SIMPLE, UFTGEN_GLOB } pattern;
	int exit_status;
	uint64_t budget; /* bytes of .dat a task */

	/* What was recorded. */
	struct uftgen_module modules[UFTGEN_MODULES_MAX];
	unsigned module_count;
	struct uftgen_session sessions[UFTGEN_SESSIONS_MAX];
	unsigned session_count;
	struct uftgen_spec specs[UFTGEN_SPECS_MAX];
	unsigned spec_count;
	struct uftgen_task tasks[UFTGEN_TASKS_MAX];
	unsigned task_count;
	struct uftgen_line lines[UFTGEN_LINES_MAX];
	unsigned line_count;
	uint64_t start, end; /* time of the first line of task.txt and of the last record */
	int next_pid;
	unsigned probes; /* user events */

	struct uftgen_frame frames[UFTGEN_FRAMES_MAX]; /* of the task that runs */
	struct uftgen_mark marks[UFTGEN_MARKS_MAX];    /* kept only where a rule is broken */
	unsigned mark_count;
};

static inline bool uftgen_has(const struct uftrace_gen *u, uint64_t feature)
{
	return (u->features & feature) != 0;
}

static inline unsigned uftgen_below(struct uftrace_gen *u, unsigned n)
{
	return (unsigned)choices_below(u->c, n);
}

static inline unsigned uftgen_long_size(const struct uftrace_gen *u)
{
	return uftgen_has(u, UFTGEN_NARROW) ? 4 : 8;
}

/* ---- uftrace_gen_world.c: programs, libraries, symbols, specs, sessions ---- */

/* Makes the modules and the specs of the capture. */
void uftgen_make_world(struct uftrace_gen *u);
/* A new session of a program; returns its index. The last one again when there is no room. */
unsigned uftgen_make_session(struct uftrace_gen *u, unsigned program);
/* Another program than the first, for exec. */
unsigned uftgen_other_program(struct uftrace_gen *u);
/* A library that no session maps, for dlopen; -1: none. */
int uftgen_plugin(struct uftrace_gen *u);
/* The spec of a name; NULL: none. */
const struct uftgen_spec *uftgen_spec_of(const struct uftrace_gen *u, const struct uftgen_symbol *symbol);
void uftgen_hex_digits(struct uftrace_gen *u, char *text, size_t digits);

/* ---- uftrace_gen_calls.c: what the tasks did ---- */

/* Runs all tasks, which makes the .dat files and the lines of task.txt. */
void uftgen_make_calls(struct uftrace_gen *u);

/* ---- uftrace_gen_text.c, uftrace_gen_info.c, uftrace_gen_side.c: the other files ---- */

void uftgen_write_info(struct uftrace_gen *u);
void uftgen_write_tasks(struct uftrace_gen *u);
void uftgen_write_maps(struct uftrace_gen *u);
void uftgen_write_symbols(struct uftrace_gen *u);
void uftgen_write_debug(struct uftrace_gen *u);
/* perf, kernel, events.txt, extern.dat, note.txt, default.opts */
void uftgen_write_side_files(struct uftrace_gen *u);
/* The tids of the capture, ascending, each once; returns how many. */
unsigned uftgen_tids(const struct uftrace_gen *u, int tids[static UFTGEN_TASKS_MAX]);
/* Feature bits of the header. */
uint64_t uftgen_feat_mask(const struct uftrace_gen *u);

#endif
