/* Generates uftrace directories: chooses the shape, has the model made and written, and lets a breaker do its work. */
#include "formats/uftrace/gen/uftrace_gen.h"

#include <stdlib.h>

#define ALONE (~(uint64_t)(UFTRACE_GEN_FOREIGN | UFTRACE_GEN_NOTE | UFTRACE_GEN_BIG_ENDIAN))

/* What a feature asks of the rest of the capture, and how often it is there. Later rows give way to earlier ones. */
static const struct feature {
	uint64_t feature, needs, excludes;
	unsigned since; /* writer version */
	unsigned one_in;
} features[] = {
	{ UFTRACE_GEN_FOREIGN, 0, ALONE, 140, 24 },
	{ UFTRACE_GEN_BIG_ENDIAN, 0, 0, 0, 8 },
	{ UFTRACE_GEN_NARROW, 0, 0, 0, 8 },
	{ UFTRACE_GEN_DEEP, 0, 0, 60, 32 },
	{ UFTRACE_GEN_EXEC, UFTRACE_GEN_LIBCALL, UFTRACE_GEN_THREADS, 60, 6 },
	{ UFTRACE_GEN_THREADS, UFTRACE_GEN_LIBCALL, 0, 0, 3 },
	{ UFTRACE_GEN_FORK, UFTRACE_GEN_LIBCALL, 0, 0, 4 },
	{ UFTRACE_GEN_FORK_EXEC, UFTRACE_GEN_LIBCALL, 0, 0, 6 },
	{ UFTRACE_GEN_SPAWN, UFTRACE_GEN_LIBCALL, 0, 0, 8 },
	{ UFTRACE_GEN_DLOPEN, UFTRACE_GEN_LIBCALL, 0, 62, 4 },
	{ UFTRACE_GEN_LONGJMP, UFTRACE_GEN_LIBCALL, 0, 0, 8 },
	{ UFTRACE_GEN_COLLIDE, UFTRACE_GEN_LIBRARIES, 0, 100, 8 },
	{ UFTRACE_GEN_DEBUG, 0, 0, 90, 4 },
	{ UFTRACE_GEN_AUTO, UFTRACE_GEN_LIBCALL, 0, 82, 4 },
	{ UFTRACE_GEN_ARGS, 0, 0, 60, 3 },
	{ UFTRACE_GEN_RETVALS, 0, 0, 60, 4 },
	{ UFTRACE_GEN_LOST, 0, 0, 60, 6 },
	{ UFTRACE_GEN_EVENTS, 0, 0, 80, 4 },
	{ UFTRACE_GEN_PROBES, 0, 0, 80, 6 },
	{ UFTRACE_GEN_PERF, 0, 0, 80, 2 },
	{ UFTRACE_GEN_KERNEL, 0, 0, 60, 12 },
	{ UFTRACE_GEN_EXTERN, 0, 0, 90, 8 },
	{ UFTRACE_GEN_NOTE, 0, 0, 90, 8 },
	{ UFTRACE_GEN_OPTS, 0, 0, 93, 2 },
	{ UFTRACE_GEN_OPEN, 0, 0, 0, 6 },
	{ UFTRACE_GEN_ESTIMATE, 0, 0, 100, 12 },
	{ UFTRACE_GEN_INTERRUPTED, 0, 0, 0, 12 },
	{ UFTRACE_GEN_ORPHAN, 0, 0, 60, 12 },
	{ UFTRACE_GEN_LIBRARIES, 0, 0, 0, 2 },
	{ UFTRACE_GEN_LIBCALL, 0, 0, 0, 2 },
};

enum { FEATURE_COUNT = sizeof(features) / sizeof(features[0]) };

/* Only where they are asked for: of these a check warns, with reason, and what is said to be valid has no warning. They are drawn
 * all the same, so that a seed gives what it gave before. */
#define ASKED_FOR UFTRACE_GEN_DEEP

/* Versions of writers, the usual one first. */
static const unsigned versions[] = { 130, 100, 130, 93, 140, 92, 130, 90, 82, 170, 81, 80, 200, 62, 60, 130, 190, 50 };

/* The last one that writes symbols without sizes, which is that of Debian 12. And the first that writes files of version 4. */
#define LAST_VERSION 130u
#define FILE_4_VERSION 60u

enum { VERSION_COUNT = sizeof(versions) / sizeof(versions[0]) };

static void choose_version(struct uftrace_gen *g)
{
	unsigned low = g->version_low, count = 0;

	for (size_t i = 0; i < FEATURE_COUNT; i++) /* a feature that is asked for brings what it needs */
		if (g->want & features[i].feature)
			g->want |= features[i].needs;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if ((g->want & features[i].feature) && features[i].since > low)
			low = features[i].since;
	for (size_t i = 0; i < VERSION_COUNT; i++)
		count += versions[i] >= low && versions[i] <= g->version_high;
	g->version = versions[0];
	if (!count)
		return;
	count = uftrace_gen_below(g, count);
	for (size_t i = 0; i < VERSION_COUNT; i++) {
		if (versions[i] < low || versions[i] > g->version_high)
			continue;
		g->version = versions[i];
		if (!count--)
			return;
	}
}

static void choose_features(struct uftrace_gen *g)
{
	g->features = g->want;
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const struct feature *f = &features[i];
		/* A capture with a defect has fewer features, so that the defect stands alone. */
		bool drawn = choices_chance(g->g->choices, 1, g->g->rule >= 0 ? 3 * f->one_in : f->one_in);

		if (drawn && !(f->feature & ASKED_FOR) && f->since <= g->version && !(f->feature & g->refuse) &&
		    !(f->needs & g->refuse) && !(f->excludes & g->want))
			g->features |= f->feature;
	}
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if (g->features & features[i].feature)
			g->features = (g->features & ~features[i].excludes) | features[i].needs;
	g->features |= g->want;
	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN))
		g->version = 190;
}

static void choose_numbers(struct uftrace_gen *g)
{
	static const unsigned stacks[] = { 1024, 1024, 1024, 16, 100, 1023 };
	static const int statuses[] = { 0, 0, 256, 9, 11, 139, 134, 15 };

	g->max_stack = stacks[uftrace_gen_below(g, 6)];
	if (uftrace_gen_has(g, UFTRACE_GEN_DEEP))
		g->max_stack = uftrace_gen_below(g, 2) ? 65535 : 2000;
	if (g->version < 60)
		g->max_stack = 1024;
	g->cpus = 1 + uftrace_gen_below(g, 3);
	g->arm = choices_chance(g->g->choices, 1, 8);
	g->by_trigger = choices_chance(g->g->choices, 1, 8);
	if (g->version >= 90) {
		/* With debug information the names of --auto-args are one pattern for everything, and so no simple one.
		 */
		unsigned pattern = uftrace_gen_below(g, uftrace_gen_has(g, UFTRACE_GEN_DEBUG) ? 2 : 3);

		g->pattern = pattern == 0 ? UFTRACE_GEN_REGEX : pattern == 1 ? UFTRACE_GEN_GLOB : UFTRACE_GEN_SIMPLE;
	}
	g->exit_status = statuses[uftrace_gen_below(g, 8)];
	if (uftrace_gen_has(g, UFTRACE_GEN_INTERRUPTED))
		g->exit_status = uftrace_gen_below(g, 2) ? -1 : 65536;
}

static void make_capture(struct uftrace_gen *g)
{
	choose_version(g);
	choose_features(g);
	choose_numbers(g);
	uftrace_gen_make_world(g);
	uftrace_gen_make_calls(g);
	if (uftrace_gen_has(g, UFTRACE_GEN_ORPHAN))
		(void)uftrace_gen_make_session(g, uftrace_gen_other_program(g));
	uftrace_gen_write_info(g);
	uftrace_gen_write_tasks(g);
	uftrace_gen_write_maps(g);
	uftrace_gen_write_symbols(g);
	uftrace_gen_write_debug(g);
	uftrace_gen_write_side_files(g);
}

/* What the recipe says of features; what the defect needs stays, and what is asked for gives way to what was before. */
static void ask(struct uftrace_gen *g)
{
	const uint64_t newer = FEATURE_BIT(UFTRACE_FEATURE_NEWER), old = FEATURE_BIT(UFTRACE_FEATURE_OLD_FILES);
	const uint64_t with = g->g->with, without = g->g->without;

	g->refuse |= without & ~g->want & ~(newer | old);
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const struct feature *f = &features[i];
		bool excluded = false;
		for (size_t k = 0; k < FEATURE_COUNT; k++)
			excluded |= (g->want & features[k].feature) && (features[k].excludes & (f->feature | f->needs));
		if ((with & f->feature) && !excluded && !((f->feature | f->needs) & g->refuse) && !(f->excludes & g->want))
			g->want |= f->feature | f->needs;
	}
	if ((without & newer) && g->version_low <= LAST_VERSION && g->version_high > LAST_VERSION)
		g->version_high = LAST_VERSION;
	if ((without & old) && g->version_low < FILE_4_VERSION && g->version_high >= FILE_4_VERSION)
		g->version_low = FILE_4_VERSION;
	if ((with & newer) && g->version_high > LAST_VERSION && g->version_low <= LAST_VERSION)
		g->version_low = LAST_VERSION + 1;
	if ((with & old) && g->version_low < FILE_4_VERSION && g->version_high >= FILE_4_VERSION)
		g->version_high = FILE_4_VERSION - 1;
}

enum tracemend_status uftrace_generate(struct gen *gen)
{
	struct uftrace_gen *g = calloc(1, sizeof(*g));

	if (!g) {
		gen->failed = true;
		return TM_NO_MEMORY;
	}
	g->g = gen;
	g->version_high = 999;
	uftrace_break(g, GEN_SHAPE);
	ask(g);
	make_capture(g);
	gen->has = g->features;
	gen->has |= g->version > LAST_VERSION ? FEATURE_BIT(UFTRACE_FEATURE_NEWER) : 0;
	gen->has |= g->version < FILE_4_VERSION ? FEATURE_BIT(UFTRACE_FEATURE_OLD_FILES) : 0;
	for (size_t i = 0; i < gen->file_count; i++)
		gen->failed |= gen->files[i].bytes.failed;
	if (!gen->failed)
		uftrace_break(g, GEN_BYTES);
	free(g);
	for (size_t i = 0; i < gen->file_count; i++)
		gen->failed |= gen->files[i].bytes.failed;
	return gen->failed ? TM_NO_MEMORY : TM_OK;
}
