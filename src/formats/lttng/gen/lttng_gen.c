/* Valid traces of every version, and the stages at which breakers take part. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape ---- */

/* The feature of a version. */
static unsigned version_feature(unsigned version)
{
	return version < LV_LITERAL ? version : version - 1;
}

static bool asked_for(const struct lttng_gen *g, enum lttng_feature feature)
{
	return !g->breaking && g->g->with & FEATURE_BIT(feature);
}

/* The versions that have what the recipe asks for, as far as the defect leaves a choice. */
static void ask(struct lttng_gen *g)
{
	static const struct {
		enum lttng_feature feature;
		uint32_t versions;
	} since[] = {
		{ LTTNG_FEATURE_HEARTBEAT, LV_OLD },
		{ LTTNG_FEATURE_COMPACT, LTTNG_V(LV_0_8) | LV_ONE },
		{ LTTNG_FEATURE_LOSSES, LV_LOSS },
		{ LTTNG_FEATURE_USER, LV_CHANNEL },
		{ LTTNG_FEATURE_NARROW, LV_ALL & ~LTTNG_V(LV_2_0_64) },
	};
	uint32_t mask = g->versions ? g->versions : LV_ALL, left = 0;
	const uint64_t chosen = gen_choice(g->g, FEATURE_BIT(LTTNG_FEATURE_BIG_ENDIAN) - 1);

	for (unsigned i = 0; i < LV_COUNT; i++)
		left |= i != LV_LITERAL && chosen & FEATURE_BIT(version_feature(i)) ? LTTNG_V(i) : 0;
	mask = mask & left ? mask & left : mask;
	for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++)
		if (asked_for(g, since[i].feature) && mask & since[i].versions)
			mask &= since[i].versions;
	if (g->g->without & FEATURE_BIT(LTTNG_FEATURE_NARROW) && mask & ~LTTNG_V(LV_2_0))
		mask &= ~LTTNG_V(LV_2_0);
	g->versions = mask;
	if (asked_for(g, LTTNG_FEATURE_GAP))
		g->min_cpus = 2;
}

static void choose_version(struct lttng_gen *g)
{
	unsigned fit[LV_COUNT] = { 0 }, count = 0;
	uint32_t mask = g->versions ? g->versions : LV_ALL;

	if (!strcmp(g->g->profile ? g->g->profile : "wire", "literal") && (mask & LTTNG_V(LV_1_0)))
		mask = LTTNG_V(LV_LITERAL);
	for (unsigned i = LV_COUNT; i-- > 0;)
		if (mask & LTTNG_V(i))
			fit[count++] = i;
	unsigned i = fit[choices_below(g->c, count)];
	g->l = &lttng_layouts[i];
	g->g->has |= FEATURE_BIT(version_feature(i));
	bool wide = choices_chance(g->c, 1, 2);
	g->arch = asked_for(g, LTTNG_FEATURE_NARROW) ? 4 : wide || g->g->without & FEATURE_BIT(LTTNG_FEATURE_NARROW) ? 8 : 4;
	/* The size of a pointer decides which header 2.0 has. */
	if (i == LV_2_0)
		g->arch = 4;
	if (i == LV_2_0_64)
		g->arch = 8;
	if (g->want_exact_arch && i != LV_2_0_64)
		g->arch = 4;
	g->g->has |= g->arch == 4 ? FEATURE_BIT(LTTNG_FEATURE_NARROW) : 0;
}

static void choose_machine(struct lttng_gen *g)
{
	bool facilities = g->l->era == LTTNG_FACILITIES, old = g->l->era <= LTTNG_MARKERS;
	bool aligned = choices_chance(g->c, 1, 2), heartbeat = choices_chance(g->c, 3, 4);

	g->big = gen_has(g->g, LTTNG_FEATURE_BIG_ENDIAN, choices_chance(g->c, 1, 3));
	aligned = g->want_aligned < 0 ? gen_has(g->g, LTTNG_FEATURE_ALIGNED, aligned) : g->want_aligned > 0;
	g->alignment = aligned ? g->arch : 0;
	/* Tracers write the size of a pointer; the format has all powers of two. */
	if (g->alignment && !g->breaking && choices_chance(g->c, 1, 5))
		g->alignment = (uint8_t)(1u << choices_below(g->c, 3));
	heartbeat |= asked_for(g, LTTNG_FEATURE_COMPACT);
	g->heartbeat = old && (g->want_heartbeat < 0 ? gen_has(g->g, LTTNG_FEATURE_HEARTBEAT, heartbeat) : g->want_heartbeat > 0);
	g->compact = g->want_compact || (!g->breaking && g->heartbeat && lttng_has(g->l, LF_TSCBITS) &&
					 gen_has(g->g, LTTNG_FEATURE_COMPACT, choices_chance(g->c, 1, 3)));
	bool flight = !g->breaking && choices_chance(g->c, 1, 5);
	g->flight = !g->breaking && gen_has(g->g, LTTNG_FEATURE_FLIGHT, flight && !asked_for(g, LTTNG_FEATURE_USER));
	g->losses = !g->breaking && lttng_has(g->l, LF_EVENTS_LOST) &&
		    gen_has(g->g, LTTNG_FEATURE_LOSSES, choices_chance(g->c, 1, 6));
	g->huge = !g->breaking && (!g->g->size || g->g->size >= (4u << 20)) &&
		  gen_has(g->g, LTTNG_FEATURE_HUGE, choices_chance(g->c, 1, 40));
	g->kind_count = 1 + (unsigned)choices_below(g->c, lttng_kind_count);
	if (g->breaking && g->kind_count < 5)
		g->kind_count = 5;
	if (facilities && g->kind_count > 12)
		g->kind_count = 12;
	g->begin = UINT64_C(1000003) + choices_below(g->c, UINT64_C(1) << 44);
}

static void choose_header(struct lttng_gen *g)
{
	static const uint8_t types_32[] = { 1, 2, 3, 5, 6, 11 }, types_64[] = { 8, 7, 5, 11 };
	uint64_t *v = g->h.v;

	v[LF_MAGIC] = LTTNG_MAGIC;
	v[LF_MAJOR] = g->l->major;
	v[LF_MINOR] = g->l->minor;
	v[LF_ARCH_SIZE] = g->arch;
	v[LF_ARCH_TYPE] = g->arch == 4 ? types_32[choices_below(g->c, sizeof(types_32))]
				       : types_64[choices_below(g->c, sizeof(types_64))];
	v[LF_FLOAT_ORDER] = choices_chance(g->c, 1, 8) ? 1234 : 0;
	v[LF_HEARTBEAT] = g->heartbeat;
	v[LF_ALIGNMENT] = g->alignment;
	v[LF_HAS_TSC] = 1;
	v[LF_TRUNCATE] = g->compact ? 8 : 0;
	v[LF_TSCBITS] = g->compact ? 21 : 32;
	v[LF_SHIFT] = g->compact ? 28 : 0;
	v[LF_FREQ] = 100000000 + choices_below(g->c, UINT64_C(3000000000));
	v[LF_SCALE] = 1;
	if (g->l->era == LTTNG_MARKERS && choices_chance(g->c, 1, 4)) {
		v[LF_FREQ] /= 1000;
		v[LF_SCALE] = 1000;
	}
	if (!lttng_has(g->l, LF_SCALE))
		v[LF_FREQ] /= 1000; /* 0.6 counts kHz */
	v[LF_TSC] = g->begin;
	v[LF_SEC] = UINT64_C(1120000000) + choices_below(g->c, 180000000);
	v[LF_SUBSEC] = choices_below(g->c, g->l->nanoseconds ? 1000000000 : 1000000);
}

/* A trace of user space: one directory a process below that of the recording, one channel, and microseconds for a clock. */
static void choose_user_space(struct lttng_gen *g)
{
	if (g->breaking || g->flight || g->l->era != LTTNG_CHANNEL_MARKERS ||
	    !gen_has(g->g, LTTNG_FEATURE_USER, choices_chance(g->c, 1, 8)))
		return;
	unsigned unique = (unsigned)choices_below(g->c, 1000000);
	unsigned pid = 2 + (unsigned)choices_below(g->c, 32766);
	unsigned day = 1 + (unsigned)choices_below(g->c, 28);
	unsigned month = 1 + (unsigned)choices_below(g->c, 12);
	(void)snprintf(g->home, sizeof(g->home), "host-2010%02u%02u153000/%u_%u/", month, day, pid, unique);
	g->h.v[LF_FREQ] = 1000000;
	g->h.v[LF_SCALE] = 1;
}

/* How many channels and cpus. */
static void choose_counts(struct lttng_gen *g)
{
	g->channel_count = (unsigned)choices_below(g->c, g->home[0] ? 2 : 4);
	if (!g->channel_count && (g->breaking || g->g->size))
		g->channel_count = 1;
	if (g->want_control && g->channel_count < 2)
		g->channel_count = 2;
	g->cpu_count = 1 + (unsigned)(choices_chance(g->c, 1, 2) ? choices_below(g->c, g->breaking ? 3 : LTTNG_GEN_CPUS) : 0);
	if (g->cpu_count < g->min_cpus)
		g->cpu_count = g->min_cpus;
	/* A trace of a given size has no more files than have room in it. */
	for (uint64_t most = g->g->size / (4 * LTTNG_PAGE); g->g->size && !g->breaking;) {
		if (g->cpu_count > 1 && (uint64_t)g->cpu_count * g->channel_count > most)
			g->cpu_count--;
		else if (g->channel_count > 1 && g->channel_count > most)
			g->channel_count--;
		else
			break;
	}
}

static void choose_channels(struct lttng_gen *g)
{
	static const char *const names[][5] = {
		{ "cpu", "control/processes", "control/interrupts", "control/network", "control/modules" },
		{ "cpu", "control/processes", "control/interrupts", "control/network", "control/modules" },
		{ "kernel", "control/task_state", "fs", "net", "control/fd_state" },
		{ "kernel", "fs", "task_state", "net", "userspace" },
	};
	static const uint32_t first[] = { 0, 20, 28, 40, 300 };
	const char *const *of = names[g->l->era];
	uint32_t base = g->l->era == LTTNG_FACILITIES ? 0x100
			: g->l->era == LTTNG_MARKERS  ? 128 + (uint32_t)choices_below(g->c, 600)
						      : 2 + (uint32_t)choices_below(g->c, 60);
	bool any = false;

	choose_counts(g);
	for (unsigned i = 0; i < g->channel_count; i++) {
		(void)snprintf(g->channels[i], sizeof(g->channels[i]), "%s%s", g->prefix ? g->prefix : "",
			       g->home[0] ? "ust" : of[i]);
		g->first_id[i] = g->l->era == LTTNG_CHANNEL_MARKERS ? first[choices_below(g->c, 5)] : base;
		g->channel_flight[i] = g->flight && !strchr(of[i], '/');
	}
	if (g->compact) {
		(void)snprintf(g->channels[g->channel_count], sizeof(g->channels[0]), "compact");
		g->channel_flight[g->channel_count++] = g->flight;
	}
	bool gap = g->want_gap || (!g->breaking && gen_has(g->g, LTTNG_FEATURE_GAP, choices_chance(g->c, 1, 8)));
	for (unsigned i = 0; i < g->cpu_count; i++)
		g->cpus[i] = i + (gap && i + 1 == g->cpu_count && i ? 1 + (unsigned)choices_below(g->c, 5) : 0);
	for (unsigned i = 0; i < g->channel_count; i++)
		any |= g->channel_flight[i];
	g->h.v[LF_FLIGHT] = any ? 1 + choices_below(g->c, 2) : 0;
}

/* ---- declarations ---- */

static struct lttng_made_file *declaration_file(struct lttng_gen *g)
{
	return &g->files[choices_below(g->c, g->cpu_count)];
}

static void declare_facilities(struct lttng_gen *g)
{
	const struct lttng_kind *kinds[32];
	uint8_t sizes[5];
	unsigned count = 0;
	struct lttng_made_file *f;
	uint32_t crc;

	lttng_gen_sizes(g, sizes);
	for (unsigned i = 0; i < g->kind_count; i++)
		kinds[count++] = &lttng_kinds[i];
	if (g->compact) {
		f = lttng_gen_file(g, "eventdefs/compact.xml");
		crc = lttng_gen_xml(g, &f->b, "compact", kinds, count);
		lttng_gen_load(g, declaration_file(g), "compact", 2, crc, sizes);
	}
	if (g->breaking) {
		kinds[count++] = &lttng_kind_wide;
		kinds[count++] = &lttng_kind_text;
	}
	f = lttng_gen_file(g, "eventdefs/kernel.xml");
	crc = lttng_gen_xml(g, &f->b, "kernel", kinds, count);
	lttng_gen_load(g, declaration_file(g), "kernel", 1, crc ^ g->checksum_xor, sizes);
	f = lttng_gen_file(g, "eventdefs/core.xml");
	(void)lttng_gen_xml(g, &f->b, "core", kinds, 0);
}

static void declare_kind(struct lttng_gen *g, const char *channel, const struct lttng_kind *kind, uint32_t id)
{
	uint8_t sizes[5];
	bool id_first = !choices_chance(g->c, 1, 4);
	lttng_gen_sizes(g, sizes);
	if (id_first)
		lttng_gen_declare_id(g, declaration_file(g), channel, kind->name, id, sizes);
	lttng_gen_declare_format(g, declaration_file(g), channel, kind->name, kind->format);
	if (!id_first)
		lttng_gen_declare_id(g, declaration_file(g), channel, kind->name, id, sizes);
}

static void declare_markers(struct lttng_gen *g)
{
	bool own = g->l->era == LTTNG_CHANNEL_MARKERS;
	uint8_t sizes[5];

	lttng_gen_sizes(g, sizes);
	if (own && g->channel_count && choices_chance(g->c, 1, 3)) {
		/* Tracers declare the core types, too. */
		lttng_gen_declare_id(g, &g->files[0], "metadata", "core_marker_format", 1, sizes);
		lttng_gen_declare_format(g, &g->files[0], "metadata", "core_marker_format", "channel %s name %s format %s");
	}
	/* Up to 2.2 ids are those of the trace; the last channel is the compact one. */
	unsigned plain = g->channel_count - g->compact;
	for (unsigned c = 0; c < (own ? plain : plain ? 1u : 0u); c++) {
		for (unsigned i = 0; i < g->kind_count; i++)
			declare_kind(g, g->channels[c], &lttng_kinds[i], lttng_gen_id(g, c, i));
		if (g->breaking) {
			declare_kind(g, g->channels[c], &lttng_kind_wide, lttng_gen_id(g, c, g->kind_count));
			declare_kind(g, g->channels[c], &lttng_kind_text, lttng_gen_id(g, c, g->kind_count + 1));
		}
	}
	for (unsigned i = 0; g->compact && i < g->kind_count; i++) {
		struct lttng_kind kind = lttng_kinds[i];
		char name[48];
		(void)snprintf(name, sizeof(name), "compact_%s", kind.name);
		kind.name = name;
		declare_kind(g, "", &kind, 8 + i);
	}
}

static uint64_t sub_buffer(struct lttng_gen *g)
{
	uint64_t least = g->huge ? 131072 : lttng_gen_is_large(g) ? 65536 : LTTNG_PAGE;
	return g->block_size ? g->block_size : least << (lttng_gen_is_large(g) ? choices_below(g->c, 3) : 0);
}

static void make_declarations(struct lttng_gen *g)
{
	static const char *const names[] = { "control/facilities", "control/facilities", "control/metadata", "metadata" };
	char name[64];
	for (unsigned i = 0; i < g->cpu_count; i++) {
		(void)snprintf(name, sizeof(name), "%s_%u", names[g->l->era], g->cpus[i]);
		struct lttng_made_file *f = lttng_gen_file(g, name);
		f->metadata = f->tracefile = true;
		f->cpu = g->cpus[i];
		f->limit = g->block_size ? g->block_size : LTTNG_PAGE;
	}
	/* Their blocks are open side by side: the places of events are only those of data files. */
	for (unsigned i = 0; i < g->cpu_count; i++)
		lttng_gen_open(g, &g->files[i], g->begin);
	g->declare_stamp = g->begin;
	if (g->l->era == LTTNG_FACILITIES)
		declare_facilities(g);
	else
		declare_markers(g);
	lttng_break(g, GEN_MODEL);
	for (unsigned i = 0; i < g->cpu_count; i++)
		lttng_gen_close(g, &g->files[i], g->declare_stamp + choices_below(g->c, 1000));
}

/* ---- data ---- */

static uint64_t time_step(struct lttng_gen *g)
{
	if (!g->breaking && choices_chance(g->c, 1, 60))
		return g->l->era <= LTTNG_MARKERS ? choices_below(g->c, 1u << 28) : choices_below(g->c, 1u << 29);
	return 2 + choices_below(g->c, 2000);
}

/* Whether a new block begins before the n-th event. flush: events of a block; 0: any number. */
static bool ends_block(struct lttng_gen *g, const struct lttng_made_file *f, uint64_t n, uint64_t flush)
{
	if (flush)
		return n && n % flush == 0 && f->blocks + 1 < g->min_blocks;
	return !g->budget && choices_chance(g->c, 1, 40);
}

/* Whether the file is to have more events. */
static bool wants_events(const struct lttng_gen *g, const struct lttng_made_file *f, uint64_t done, uint64_t count)
{
	return (g->budget ? f->b.size < g->budget : done < count) && !f->b.failed && !g->failed;
}

static void make_data(struct lttng_gen *g, struct lttng_made_file *f)
{
	uint64_t count = g->breaking ? 24 + choices_below(g->c, 30) : choices_below(g->c, 40), done = 0;
	uint64_t flush = g->min_blocks > 1 ? count / g->min_blocks : 0;
	uint64_t plant = f == g->plant ? 2 + choices_below(g->c, count > 8 ? count - 8 : 1) : UINT64_MAX;
	/* Readers of compact stamps know them to some 256 ticks. */
	uint64_t at = g->early ? g->begin : g->declare_stamp + (f->compact ? 512 : 0);

	f->limit = sub_buffer(g);
	if (g->l->variable && lttng_gen_is_large(g))
		f->limit = 65536 + 4096 * choices_below(g->c, 64);
	if (f->big != g->big)
		f->b.big_endian = f->big;
	lttng_gen_open(g, f, g->channel_flight[f->channel] ? g->begin + choices_below(g->c, 1000) : g->begin);
	for (; wants_events(g, f, done, count); done++) {
		at = (at > f->stamp ? at : f->stamp) + (g->early && !done ? 1 : time_step(g));
		bool cut = ends_block(g, f, done, flush) && done != plant && done != plant + 1;
		lttng_gen_event(g, f, at, cut);
		if (done == plant)
			lttng_break(g, GEN_PLANT);
	}
	/* No two cpus end at once: files of theirs are never equal. */
	lttng_gen_close(g, f, (f->stamp / 16 + 1 + choices_below(g->c, 62)) * 16 + f->cpu);
}

static void make_channels(struct lttng_gen *g)
{
	g->data_first = g->file_count;
	for (unsigned c = 0; c < g->channel_count; c++)
		for (unsigned i = 0; i < g->cpu_count; i++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "%s%s_%u", g->channel_flight[c] ? "flight-" : "", g->channels[c],
				       g->cpus[i]);
			struct lttng_made_file *f = lttng_gen_file(g, name);
			f->channel = c;
			f->cpu = g->cpus[i];
			f->tracefile = true;
			f->compact = !strcmp(g->channels[c], "compact");
		}
	unsigned count = g->file_count - g->data_first;
	if (!count)
		return;
	if (g->g->size)
		g->budget = g->g->size / count + 1;
	if (g->breaking && g->g->size < (1u << 19))
		g->budget = 0;
	g->plant = g->breaking ? &g->files[g->data_first] : NULL;
	if (g->flip)
		g->files[g->data_first].big = !g->big;
	for (unsigned i = g->data_first; i < g->data_first + count && !g->failed; i++)
		make_data(g, &g->files[i]);
}

/* ---- side files ---- */

static void make_side_files(struct lttng_gen *g)
{
	if (!g->breaking && gen_has(g->g, LTTNG_FEATURE_SYSTEM, choices_chance(g->c, 1, 6))) {
		struct lttng_made_file *f = lttng_gen_file(g, "info/system.xml");
		bytes_printf(&f->b,
			     "<system node_name=\"thales\" domainname=\"(none)\" cpu=\"%u\" arch_size=\"%s\" endian=\"%s\" "
			     "kernel_name=\"Linux\" kernel_release=\"2.6.%u\" kernel_version=\"#1 SMP\" machine=\"%s\">\nA "
			     "trace\n</system>\n",
			     g->cpu_count, g->arch == 8 ? "LP64" : "ILP32", g->big ? "big" : "little",
			     12 + (unsigned)choices_below(g->c, 20), g->arch == 8 ? "x86_64" : "i686");
	}
	if (!g->breaking && gen_has(g->g, LTTNG_FEATURE_BOOKMARKS, choices_chance(g->c, 1, 8))) {
		struct lttng_made_file *f = lttng_gen_file(g, "bookmarks.xml");
		bytes_printf(&f->b,
			     "<bookmarks>\n<location name=\"start\" cpu=\"0\" cycle=\"%llu\"/>\n<location "
			     "time=\"%u.5\">here</location>\n"
			     "</bookmarks>\n",
			     (unsigned long long)g->begin, (unsigned)choices_below(g->c, 100));
	}
}

static void hand_over(struct lttng_gen *g)
{
	for (unsigned i = 0; i < g->file_count; i++) {
		struct lttng_made_file *f = &g->files[i];
		char name[sizeof(g->home) + sizeof(f->name)];
		(void)snprintf(name, sizeof(name), "%s%s", g->home, f->name);
		struct bytes *to = f->name[0] ? gen_file(g->g, name) : NULL;
		g->failed |= f->b.failed;
		if (to) {
			bytes_free(to);
			*to = f->b;
		} else {
			bytes_free(&f->b);
		}
	}
}

enum tracemend_status lttng_generate(struct gen *gen)
{
	/* The rule notes the layout of the document, which that profile takes for granted. */
	if (gen->rule == LTTNG_RULE_seed_literal_start_time && gen->profile && !strcmp(gen->profile, "literal"))
		return TM_USAGE;
	struct lttng_gen *g = calloc(1, sizeof(*g));
	if (!g)
		return TM_NO_MEMORY;
	g->g = gen;
	g->c = gen->choices;
	g->breaking = gen->rule >= 0;
	g->want_heartbeat = g->want_aligned = -1;
	lttng_break(g, GEN_SHAPE);
	ask(g);
	choose_version(g);
	choose_machine(g);
	choose_header(g);
	choose_user_space(g);
	choose_channels(g);
	make_declarations(g);
	if (!g->failed)
		make_channels(g);
	make_side_files(g);
	bool failed = g->failed || g->scratch.failed;
	for (unsigned i = 0; i < g->file_count; i++)
		failed |= g->files[i].b.failed;
	g->failed = failed;
	if (!failed)
		lttng_break(g, GEN_BYTES);
	hand_over(g);
	gen->failed |= g->failed;
	bytes_free(&g->scratch);
	free(g->blocks);
	free(g);
	return gen->failed ? TM_NO_MEMORY : TM_OK;
}
