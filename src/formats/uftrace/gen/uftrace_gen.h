/* The generator of uftrace directories: a model of what was recorded (programs, sessions, tasks, calls), written out as
 * the files of a directory. A breaker asks for the features that it needs at GEN_SHAPE, and puts its defect into the finished
 * files at GEN_BYTES.
 *
 * Everything lives in one allocation of bounded size; only the files themselves grow with the capture.
 */
#ifndef UFTRACE_GEN_H
#define UFTRACE_GEN_H

#include "core/format.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/gen/uftrace_gen_model.h"
#include "formats/uftrace/uftrace.h"

/* What a capture can contain. Each is switched on or off for a whole capture, so that every combination occurs. */
enum uftrace_gen_feature {
	UFTRACE_GEN_LIBCALL = 1 << 0, /* library calls are traced (feat bit 0) */
	UFTRACE_GEN_THREADS = 1 << 1,
	UFTRACE_GEN_FORK = 1 << 2,	/* children that go on with the same image */
	UFTRACE_GEN_FORK_EXEC = 1 << 3, /* children that exec */
	UFTRACE_GEN_SPAWN = 1 << 4,	/* processes without a FORK line (posix_spawn, system) */
	UFTRACE_GEN_EXEC = 1 << 5,	/* exec without fork, at the end of the first process */
	UFTRACE_GEN_DLOPEN = 1 << 6,
	UFTRACE_GEN_ARGS = 1 << 7,    /* argspec: */
	UFTRACE_GEN_RETVALS = 1 << 8, /* retspec: */
	UFTRACE_GEN_AUTO = 1 << 9,    /* auto-args:1 and the argauto, retauto and enumauto lists */
	UFTRACE_GEN_DEBUG = 1 << 10,  /* .dbg files */
	UFTRACE_GEN_LOST = 1 << 11,
	UFTRACE_GEN_EVENTS = 1 << 12, /* built-in events */
	UFTRACE_GEN_PROBES = 1 << 13, /* user events and events.txt */
	UFTRACE_GEN_PERF = 1 << 14,
	UFTRACE_GEN_KERNEL = 1 << 15,
	UFTRACE_GEN_EXTERN = 1 << 16,
	UFTRACE_GEN_NOTE = 1 << 17,
	UFTRACE_GEN_OPTS = 1 << 18, /* default.opts; with content or empty */
	UFTRACE_GEN_DEEP = 1 << 19, /* nesting beyond the 1024 levels that the depth field can say */
	UFTRACE_GEN_OPEN = 1 << 20, /* frames stay open at the end */
	UFTRACE_GEN_LONGJMP = 1 << 21,
	UFTRACE_GEN_ESTIMATE = 1 << 22,
	UFTRACE_GEN_INTERRUPTED = 1 << 23, /* the recorder was told to stop: exit_status -1, no usage block */
	UFTRACE_GEN_ORPHAN = 1 << 24,	   /* a map of an image that never called a traced function */
	UFTRACE_GEN_COLLIDE = 1 << 25,	   /* two libraries of one name: the second symbol file has a suffix */
	UFTRACE_GEN_FOREIGN = 1 << 26,	   /* the QEMU plugin wrote it */
	UFTRACE_GEN_BIG_ENDIAN = 1 << 27,
	UFTRACE_GEN_NARROW = 1 << 28,	 /* 32-bit addresses and longs */
	UFTRACE_GEN_LIBRARIES = 1 << 29, /* libraries beside the program, with calls into them */
};

struct uftrace_gen {
	struct gen *g;

	/* What a breaker asks for at GEN_SHAPE: see uftrace_gen_need(). */
	uint64_t want, refuse;
	unsigned version_low, version_high;

	/* The shape of the capture. */
	uint64_t features;
	unsigned version; /* of the writer: 50 is 0.5, 82 is 0.8.2, 130 is 0.13, 200 is what follows 0.19 */
	unsigned max_stack;
	unsigned cpus;
	bool arm;	 /* 39 bits of addresses */
	bool by_trigger; /* arguments were asked for with -T, which leaves their feature bits clear */
	enum { UFTRACE_GEN_REGEX, UFTRACE_GEN_SIMPLE, UFTRACE_GEN_GLOB } pattern;
	int exit_status;
	uint64_t budget; /* bytes of .dat a task */

	/* What was recorded. */
	struct uftrace_gen_module modules[UFTRACE_GEN_MODULES_MAX];
	unsigned module_count;
	struct uftrace_gen_session sessions[UFTRACE_GEN_SESSIONS_MAX];
	unsigned session_count;
	struct uftrace_gen_spec specs[UFTRACE_GEN_SPECS_MAX];
	unsigned spec_count;
	struct uftrace_gen_task tasks[UFTRACE_GEN_TASKS_MAX];
	unsigned task_count;
	struct uftrace_gen_line lines[UFTRACE_GEN_LINES_MAX];
	unsigned line_count;
	uint64_t start, end; /* time of the first line of task.txt and of the last record */
	int next_pid;
	unsigned probes; /* user events */

	struct uftrace_gen_frame frames[UFTRACE_GEN_FRAMES_MAX]; /* of the task that runs */
	struct uftrace_gen_mark marks[UFTRACE_GEN_MARKS_MAX];	 /* kept only where a rule is broken */
	unsigned mark_count;
};

static inline bool uftrace_gen_has(const struct uftrace_gen *g, uint64_t feature)
{
	return (g->features & feature) != 0;
}

static inline unsigned uftrace_gen_below(struct uftrace_gen *g, unsigned n)
{
	return (unsigned)choices_below(g->g->choices, n);
}

static inline unsigned uftrace_gen_long_size(const struct uftrace_gen *g)
{
	return uftrace_gen_has(g, UFTRACE_GEN_NARROW) ? 4 : 8;
}

/* ---- uftrace_gen_world.c: programs, libraries, symbols, specs, sessions ---- */

/* Makes the modules and the specs of the capture. */
void uftrace_gen_make_world(struct uftrace_gen *g);
/* A new session of a program; returns its index. The last one again when there is no room. */
unsigned uftrace_gen_make_session(struct uftrace_gen *g, unsigned program);
/* Another program than the first, for exec. */
unsigned uftrace_gen_other_program(struct uftrace_gen *g);
/* A library that no session maps, for dlopen; -1: none. */
int uftrace_gen_plugin(struct uftrace_gen *g);
/* The spec of a name; NULL: none. */
const struct uftrace_gen_spec *uftrace_gen_spec_of(const struct uftrace_gen *g, const struct uftrace_gen_symbol *symbol);
void uftrace_gen_hex_digits(struct uftrace_gen *g, char *text, size_t digits);

/* ---- uftrace_gen_calls.c: what the tasks did ---- */

/* Runs all tasks, which makes the .dat files and the lines of task.txt. */
void uftrace_gen_make_calls(struct uftrace_gen *g);

/* ---- uftrace_gen_text.c, uftrace_gen_info.c, uftrace_gen_side.c: the other files ---- */

void uftrace_gen_write_info(struct uftrace_gen *g);
void uftrace_gen_write_tasks(struct uftrace_gen *g);
void uftrace_gen_write_maps(struct uftrace_gen *g);
void uftrace_gen_write_symbols(struct uftrace_gen *g);
void uftrace_gen_write_debug(struct uftrace_gen *g);
/* perf, kernel, events.txt, extern.dat, note.txt, default.opts */
void uftrace_gen_write_side_files(struct uftrace_gen *g);
/* The tids of the capture, ascending, each once; returns how many. */
unsigned uftrace_gen_tids(const struct uftrace_gen *g, int tids[static UFTRACE_GEN_TASKS_MAX]);
/* Feature bits of the header. */
uint64_t uftrace_gen_feat_mask(const struct uftrace_gen *g);

/* ---- break/: the breakers ---- */

#define BREAKERS_FORMAT uftrace
#define BREAKERS_RULES "formats/uftrace/uftrace_rules.def"
#include "core/breakers.h"

#endif
