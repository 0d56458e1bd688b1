/* Generates uftrace directories: chooses the shape, has the model made and written, and lets a breaker do its work. */
#include "formats/uftrace/gen/uftrace_gen.h"
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdlib.h>

#define ALONE (~(uint64_t)(UFTGEN_FOREIGN | UFTGEN_NOTE | UFTGEN_BIG_ENDIAN))

/* What a feature asks of the rest of the capture, and how often it is there. Later rows give way to earlier ones. */
static const struct feature {
	uint64_t feature, needs, excludes;
	unsigned since; /* writer version */
	unsigned one_in;
} features[] = {
	{ UFTGEN_FOREIGN, 0, ALONE, 140, 24 },
	{ UFTGEN_BIG_ENDIAN, 0, 0, 0, 8 },
	{ UFTGEN_NARROW, 0, 0, 0, 8 },
	{ UFTGEN_DEEP, 0, 0, 60, 32 },
	{ UFTGEN_EXEC, UFTGEN_LIBCALL, UFTGEN_THREADS, 60, 6 },
	{ UFTGEN_THREADS, UFTGEN_LIBCALL, 0, 0, 3 },
	{ UFTGEN_FORK, UFTGEN_LIBCALL, 0, 0, 4 },
	{ UFTGEN_FORK_EXEC, UFTGEN_LIBCALL, 0, 0, 6 },
	{ UFTGEN_SPAWN, UFTGEN_LIBCALL, 0, 0, 8 },
	{ UFTGEN_DLOPEN, UFTGEN_LIBCALL, 0, 62, 4 },
	{ UFTGEN_LONGJMP, UFTGEN_LIBCALL, 0, 0, 8 },
	{ UFTGEN_COLLIDE, UFTGEN_LIBRARIES, 0, 100, 8 },
	{ UFTGEN_DEBUG, 0, 0, 90, 4 },
	{ UFTGEN_AUTO, UFTGEN_LIBCALL, 0, 82, 4 },
	{ UFTGEN_ARGS, 0, 0, 60, 3 },
	{ UFTGEN_RETVALS, 0, 0, 60, 4 },
	{ UFTGEN_LOST, 0, 0, 60, 6 },
	{ UFTGEN_EVENTS, 0, 0, 80, 4 },
	{ UFTGEN_PROBES, 0, 0, 80, 6 },
	{ UFTGEN_PERF, 0, 0, 80, 2 },
	{ UFTGEN_KERNEL, 0, 0, 60, 12 },
	{ UFTGEN_EXTERN, 0, 0, 90, 8 },
	{ UFTGEN_NOTE, 0, 0, 90, 8 },
	{ UFTGEN_OPTS, 0, 0, 93, 2 },
	{ UFTGEN_OPEN, 0, 0, 0, 6 },
	{ UFTGEN_ESTIMATE, 0, 0, 100, 12 },
	{ UFTGEN_INTERRUPTED, 0, 0, 0, 12 },
	{ UFTGEN_ORPHAN, 0, 0, 60, 12 },
	{ UFTGEN_LIBRARIES, 0, 0, 0, 2 },
	{ UFTGEN_LIBCALL, 0, 0, 0, 2 },
};

enum { FEATURE_COUNT = sizeof(features) / sizeof(features[0]) };

/* Versions of writers, the usual one first. */
static const unsigned versions[] = { 130, 100, 130, 93, 140, 92, 130, 90, 82, 170, 81, 80, 200, 62, 60, 130, 190, 50 };

enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]) };

static void choose_version(struct uftrace_gen *u)
{
	unsigned low = u->version_low, count = 0;

	for (size_t i = 0; i < FEATURE_COUNT; i++) /* what is wished for needs what it needs */
		if (u->want & features[i].feature)
			u->want |= features[i].needs;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if ((u->want & features[i].feature) && features[i].since > low)
			low = features[i].since;
	for (size_t i = 0; i < VERSION_COUNT; i++)
		count += versions[i] >= low && versions[i] <= u->version_high;
	u->version = versions[0];
	if (!count)
		return;
	count = uftgen_below(u, count);
	for (size_t i = 0; i < VERSION_COUNT; i++) {
		if (versions[i] < low || versions[i] > u->version_high)
			continue;
		u->version = versions[i];
		if (!count--)
			return;
	}
}

static void choose_features(struct uftrace_gen *u)
{
	u->features = u->want;
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const struct feature *f = &features[i];
		/* Beside a defect there is less to look at. */
		bool drawn = choices_chance(u->c, 1, u->g->rule >= 0 ? 3 * f->one_in : f->one_in);

		if (drawn && f->since <= u->version && !(f->feature & u->refuse) && !(f->needs & u->refuse) &&
		    !(f->excludes & u->want))
			u->features |= f->feature;
	}
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if (u->features & features[i].feature)
			u->features = (u->features & ~features[i].excludes) | features[i].needs;
	u->features |= u->want;
	if (uftgen_has(u, UFTGEN_FOREIGN))
		u->version = 190;
}

static void choose_numbers(struct uftrace_gen *u)
{
	static const unsigned stacks[] = { 1024, 1024, 1024, 16, 100, 1023 };
	static const int statuses[] = { 0, 0, 256, 9, 11, 139, 134, 15 };

	u->max_stack = stacks[uftgen_below(u, 6)];
	if (uftgen_has(u, UFTGEN_DEEP))
		u->max_stack = uftgen_below(u, 2) ? 65535 : 2000;
	if (u->version < 60)
		u->max_stack = 1024;
	u->cpus = 1 + uftgen_below(u, 3);
	u->arm = choices_chance(u->c, 1, 8);
	u->by_trigger = choices_chance(u->c, 1, 8);
	if (u->version >= 90) {
		/* With debug information the names of --auto-args are one pattern for everything, and so no simple one.
		 */
		unsigned pattern = uftgen_below(u, uftgen_has(u, UFTGEN_DEBUG) ? 2 : 3);

		u->pattern = pattern == 0 ? UFTGEN_REGEX : pattern == 1 ? UFTGEN_GLOB : UFTGEN_SIMPLE;
	}
	u->exit_status = statuses[uftgen_below(u, 8)];
	if (uftgen_has(u, UFTGEN_INTERRUPTED))
		u->exit_status = uftgen_below(u, 2) ? -1 : 65536;
}

static void make_capture(struct uftrace_gen *u)
{
	choose_version(u);
	choose_features(u);
	choose_numbers(u);
	uftgen_make_world(u);
	uftgen_make_calls(u);
	if (uftgen_has(u, UFTGEN_ORPHAN))
		(void)uftgen_make_session(u, uftgen_other_program(u));
	uftgen_write_info(u);
	uftgen_write_tasks(u);
	uftgen_write_maps(u);
	uftgen_write_symbols(u);
	uftgen_write_debug(u);
	uftgen_write_side_files(u);
}

bool uftgen_ready(struct uftrace_gen *u, uint64_t want, uint64_t refuse)
{
	if (!u->wishing)
		return true;
	u->want |= want;
	u->refuse |= refuse;
	return false;
}

void uftgen_versions(struct uftrace_gen *u, unsigned low, unsigned high)
{
	u->version_low = low;
	u->version_high = high;
}

#define RULE(sym, id, severity, class, title, clause, explanation, repair) uftrace_break_##sym,

static void (*const breakers[])(struct uftrace_gen *) = {
#include "formats/uftrace/uftrace_rules.def"
};

#undef RULE

enum tracemend_status uftrace_generate(struct gen *g)
{
	struct uftrace_gen *u = calloc(1, sizeof(*u));

	if (!u) {
		g->failed = true;
		return TM_NO_MEMORY;
	}
	u->g = g;
	u->c = g->choices;
	u->version_high = 999;
	if (g->rule >= 0) {
		u->wishing = true;
		breakers[g->rule](u);
		u->wishing = false;
	}
	make_capture(u);
	for (size_t i = 0; i < g->file_count; i++)
		g->failed |= g->files[i].bytes.failed;
	if (g->rule >= 0 && !g->failed)
		breakers[g->rule](u);
	free(u);
	for (size_t i = 0; i < g->file_count; i++)
		g->failed |= g->files[i].bytes.failed;
	return g->failed ? TM_NO_MEMORY : TM_OK;
}
