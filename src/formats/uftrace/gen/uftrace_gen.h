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

/* What a capture can contain: UFTRACE_FEATURE_LIBCALL, ... Each is switched on or off for a whole capture, so that every
 * combination occurs. Most of the generator knows them as bits: UFTRACE_GEN_LIBCALL. */
enum uftrace_feature {
#define FEATURE(symbol, ...) UFTRACE_FEATURE_##symbol,
#include "formats/uftrace/gen/uftrace_features.def"
#undef FEATURE
	UFTRACE_FEATURE_COUNT
};

#define UFTRACE_GEN_LIBCALL FEATURE_BIT(UFTRACE_FEATURE_LIBCALL)
#define UFTRACE_GEN_THREADS FEATURE_BIT(UFTRACE_FEATURE_THREADS)
#define UFTRACE_GEN_FORK FEATURE_BIT(UFTRACE_FEATURE_FORK)
#define UFTRACE_GEN_FORK_EXEC FEATURE_BIT(UFTRACE_FEATURE_FORK_EXEC)
#define UFTRACE_GEN_SPAWN FEATURE_BIT(UFTRACE_FEATURE_SPAWN)
#define UFTRACE_GEN_EXEC FEATURE_BIT(UFTRACE_FEATURE_EXEC)
#define UFTRACE_GEN_DLOPEN FEATURE_BIT(UFTRACE_FEATURE_DLOPEN)
#define UFTRACE_GEN_ARGS FEATURE_BIT(UFTRACE_FEATURE_ARGS)
#define UFTRACE_GEN_RETVALS FEATURE_BIT(UFTRACE_FEATURE_RETVALS)
#define UFTRACE_GEN_AUTO FEATURE_BIT(UFTRACE_FEATURE_AUTO)
#define UFTRACE_GEN_DEBUG FEATURE_BIT(UFTRACE_FEATURE_DEBUG)
#define UFTRACE_GEN_LOST FEATURE_BIT(UFTRACE_FEATURE_LOST)
#define UFTRACE_GEN_EVENTS FEATURE_BIT(UFTRACE_FEATURE_EVENTS)
#define UFTRACE_GEN_PROBES FEATURE_BIT(UFTRACE_FEATURE_PROBES)
#define UFTRACE_GEN_PERF FEATURE_BIT(UFTRACE_FEATURE_PERF)
#define UFTRACE_GEN_KERNEL FEATURE_BIT(UFTRACE_FEATURE_KERNEL)
#define UFTRACE_GEN_EXTERN FEATURE_BIT(UFTRACE_FEATURE_EXTERN)
#define UFTRACE_GEN_NOTE FEATURE_BIT(UFTRACE_FEATURE_NOTE)
#define UFTRACE_GEN_OPTS FEATURE_BIT(UFTRACE_FEATURE_OPTS)
#define UFTRACE_GEN_DEEP FEATURE_BIT(UFTRACE_FEATURE_DEEP)
#define UFTRACE_GEN_OPEN FEATURE_BIT(UFTRACE_FEATURE_OPEN)
#define UFTRACE_GEN_LONGJMP FEATURE_BIT(UFTRACE_FEATURE_LONGJMP)
#define UFTRACE_GEN_ESTIMATE FEATURE_BIT(UFTRACE_FEATURE_ESTIMATE)
#define UFTRACE_GEN_INTERRUPTED FEATURE_BIT(UFTRACE_FEATURE_INTERRUPTED)
#define UFTRACE_GEN_ORPHAN FEATURE_BIT(UFTRACE_FEATURE_ORPHAN)
#define UFTRACE_GEN_COLLIDE FEATURE_BIT(UFTRACE_FEATURE_COLLIDE)
#define UFTRACE_GEN_FOREIGN FEATURE_BIT(UFTRACE_FEATURE_FOREIGN)
#define UFTRACE_GEN_BIG_ENDIAN FEATURE_BIT(UFTRACE_FEATURE_BIG_ENDIAN)
#define UFTRACE_GEN_NARROW FEATURE_BIT(UFTRACE_FEATURE_NARROW)
#define UFTRACE_GEN_LIBRARIES FEATURE_BIT(UFTRACE_FEATURE_LIBRARIES)
/* Those whose calls or returns have values. */
#define UFTRACE_GEN_PAYLOADS (UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS | UFTRACE_GEN_AUTO)

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
