/* Valid traces of every version, and the stages at which breakers take part. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape ---- */

static void choose_version(struct lttng_gen *k)
{
	unsigned fit[LV_COUNT] = { 0 }, count = 0;
	uint32_t mask = k->versions ? k->versions : LV_ALL;

	if (!strcmp(k->g->profile ? k->g->profile : "wire", "literal") && (mask & LTTNG_V(LV_1_0)))
		mask = LTTNG_V(LV_LITERAL);
	for (unsigned i = LV_COUNT; i-- > 0;)
		if (mask & LTTNG_V(i))
			fit[count++] = i;
	unsigned i = fit[choices_below(k->c, count)];
	k->l = &lttng_layouts[i];
	k->arch = choices_chance(k->c, 1, 2) ? 8 : 4;
	/* The size of a pointer decides which header 2.0 has. */
	if (i == LV_2_0)
		k->arch = 4;
	if (i == LV_2_0_64)
		k->arch = 8;
	if (k->want_exact_arch && i != LV_2_0_64)
		k->arch = 4;
}

static void choose_machine(struct lttng_gen *k)
{
	bool facilities = k->l->era == LTTNG_FACILITIES, old = k->l->era <= LTTNG_MARKERS;
	bool aligned = choices_chance(k->c, 1, 2), heartbeat = choices_chance(k->c, 3, 4);

	k->big = choices_chance(k->c, 1, 3);
	k->alignment = (k->want_aligned < 0 ? aligned : k->want_aligned > 0) ? k->arch : 0;
	/* Tracers write the size of a pointer; the format has all powers of two. */
	if (k->alignment && !k->breaking && choices_chance(k->c, 1, 5))
		k->alignment = (uint8_t)(1u << choices_below(k->c, 3));
	k->heartbeat = old && (k->want_heartbeat < 0 ? heartbeat : k->want_heartbeat > 0);
	k->compact = k->want_compact || (!k->breaking && k->heartbeat && lttng_has(k->l, LF_TSCBITS) && choices_chance(k->c, 1, 3));
	k->flight = !k->breaking && choices_chance(k->c, 1, 5);
	k->losses = !k->breaking && lttng_has(k->l, LF_EVENTS_LOST) && choices_chance(k->c, 1, 6);
	k->huge = !k->breaking && (!k->g->size || k->g->size >= (4u << 20)) && choices_chance(k->c, 1, 40);
	k->kind_count = 1 + (unsigned)choices_below(k->c, lttng_kind_count);
	if (k->breaking && k->kind_count < 5)
		k->kind_count = 5;
	if (facilities && k->kind_count > 12)
		k->kind_count = 12;
	k->begin = UINT64_C(1000003) + choices_below(k->c, UINT64_C(1) << 44);
}

static void choose_header(struct lttng_gen *k)
{
	static const uint8_t types_32[] = { 1, 2, 3, 5, 6, 11 }, types_64[] = { 8, 7, 5, 11 };
	uint64_t *v = k->h.v;

	v[LF_MAGIC] = LTTNG_MAGIC;
	v[LF_MAJOR] = k->l->major;
	v[LF_MINOR] = k->l->minor;
	v[LF_ARCH_SIZE] = k->arch;
	v[LF_ARCH_TYPE] = k->arch == 4 ? types_32[choices_below(k->c, sizeof(types_32))]
				       : types_64[choices_below(k->c, sizeof(types_64))];
	v[LF_FLOAT_ORDER] = choices_chance(k->c, 1, 8) ? 1234 : 0;
	v[LF_HEARTBEAT] = k->heartbeat;
	v[LF_ALIGNMENT] = k->alignment;
	v[LF_HAS_TSC] = 1;
	v[LF_TRUNCATE] = k->compact ? 8 : 0;
	v[LF_TSCBITS] = k->compact ? 21 : 32;
	v[LF_SHIFT] = k->compact ? 28 : 0;
	v[LF_FREQ] = 100000000 + choices_below(k->c, UINT64_C(3000000000));
	v[LF_SCALE] = 1;
	if (k->l->era == LTTNG_MARKERS && choices_chance(k->c, 1, 4)) {
		v[LF_FREQ] /= 1000;
		v[LF_SCALE] = 1000;
	}
	if (!lttng_has(k->l, LF_SCALE))
		v[LF_FREQ] /= 1000; /* 0.6 counts kHz */
	v[LF_TSC] = k->begin;
	v[LF_SEC] = UINT64_C(1120000000) + choices_below(k->c, 180000000);
	v[LF_SUBSEC] = choices_below(k->c, k->l->nanoseconds ? 1000000000 : 1000000);
}

/* A trace of user space: one directory a process below that of the recording, one channel, and microseconds for a clock. */
static void choose_user_space(struct lttng_gen *k)
{
	if (k->breaking || k->flight || k->l->era != LTTNG_CHANNEL_MARKERS || !choices_chance(k->c, 1, 8))
		return;
	unsigned unique = (unsigned)choices_below(k->c, 1000000);
	unsigned pid = 2 + (unsigned)choices_below(k->c, 32766);
	unsigned day = 1 + (unsigned)choices_below(k->c, 28);
	unsigned month = 1 + (unsigned)choices_below(k->c, 12);
	(void)snprintf(k->home, sizeof(k->home), "host-2010%02u%02u153000/%u_%u/", month, day, pid, unique);
	k->h.v[LF_FREQ] = 1000000;
	k->h.v[LF_SCALE] = 1;
}

static void choose_channels(struct lttng_gen *k)
{
	static const char *const old[] = { "cpu", "control/processes", "control/interrupts", "control/network", "control/modules" };
	static const char *const middle[] = { "kernel", "control/task_state", "fs", "net", "control/fd_state" };
	static const char *const channel[] = { "kernel", "fs", "task_state", "net", "userspace" };
	static const uint32_t first[] = { 0, 20, 28, 40, 300 };
	const char *const *names = k->l->era <= LTTNG_MARKERS ? old : k->l->era == LTTNG_TRACE_MARKERS ? middle : channel;
	uint32_t base = k->l->era == LTTNG_FACILITIES ? 0x100
			: k->l->era == LTTNG_MARKERS  ? 128 + (uint32_t)choices_below(k->c, 600)
						      : 2 + (uint32_t)choices_below(k->c, 60);

	k->channel_count = (unsigned)choices_below(k->c, k->home[0] ? 2 : 4);
	if (!k->channel_count && (k->breaking || k->g->size))
		k->channel_count = 1;
	if (k->want_control && k->channel_count < 2)
		k->channel_count = 2;
	k->cpu_count = 1 + (unsigned)(choices_chance(k->c, 1, 2) ? choices_below(k->c, k->breaking ? 3 : LTTNG_GEN_CPUS) : 0);
	if (k->cpu_count < k->min_cpus)
		k->cpu_count = k->min_cpus;
	/* A trace of a given size has no more files than have room in it. */
	for (uint64_t most = k->g->size / (4 * LTTNG_PAGE); k->g->size && !k->breaking;) {
		if (k->cpu_count > 1 && (uint64_t)k->cpu_count * k->channel_count > most)
			k->cpu_count--;
		else if (k->channel_count > 1 && k->channel_count > most)
			k->channel_count--;
		else
			break;
	}
	for (unsigned i = 0; i < k->channel_count; i++) {
		(void)snprintf(k->channels[i], sizeof(k->channels[i]), "%s%s", k->prefix ? k->prefix : "",
			       k->home[0] ? "ust" : names[i]);
		k->first_id[i] = k->l->era == LTTNG_CHANNEL_MARKERS ? first[choices_below(k->c, 5)] : base;
		k->channel_flight[i] = k->flight && !strchr(names[i], '/');
	}
	if (k->compact) {
		(void)snprintf(k->channels[k->channel_count], sizeof(k->channels[0]), "compact");
		k->channel_flight[k->channel_count++] = k->flight;
	}
	bool gap = k->want_gap || (!k->breaking && choices_chance(k->c, 1, 8));
	for (unsigned i = 0; i < k->cpu_count; i++)
		k->cpus[i] = i + (gap && i + 1 == k->cpu_count && i ? 1 + (unsigned)choices_below(k->c, 5) : 0);
	bool any = false;
	for (unsigned i = 0; i < k->channel_count; i++)
		any |= k->channel_flight[i];
	k->h.v[LF_FLIGHT] = any ? 1 + choices_below(k->c, 2) : 0;
}

/* ---- declarations ---- */

static struct lttng_made_file *declaration_file(struct lttng_gen *k)
{
	return &k->files[choices_below(k->c, k->cpu_count)];
}

static void declare_facilities(struct lttng_gen *k)
{
	const struct lttng_kind *kinds[32];
	uint8_t sizes[5];
	unsigned count = 0;
	struct lttng_made_file *f;
	uint32_t crc;

	lttng_gen_sizes(k, sizes);
	for (unsigned i = 0; i < k->kind_count; i++)
		kinds[count++] = &lttng_kinds[i];
	if (k->compact) {
		f = lttng_gen_file(k, "eventdefs/compact.xml");
		crc = lttng_gen_xml(k, &f->b, "compact", kinds, count);
		lttng_gen_load(k, declaration_file(k), "compact", 2, crc, sizes);
	}
	if (k->breaking) {
		kinds[count++] = &lttng_kind_wide;
		kinds[count++] = &lttng_kind_text;
	}
	f = lttng_gen_file(k, "eventdefs/kernel.xml");
	crc = lttng_gen_xml(k, &f->b, "kernel", kinds, count);
	lttng_gen_load(k, declaration_file(k), "kernel", 1, crc ^ k->checksum_xor, sizes);
	f = lttng_gen_file(k, "eventdefs/core.xml");
	(void)lttng_gen_xml(k, &f->b, "core", kinds, 0);
}

static void declare_kind(struct lttng_gen *k, const char *channel, const struct lttng_kind *kind, uint32_t id)
{
	uint8_t sizes[5];
	bool id_first = !choices_chance(k->c, 1, 4);
	lttng_gen_sizes(k, sizes);
	if (id_first)
		lttng_gen_declare_id(k, declaration_file(k), channel, kind->name, id, sizes);
	lttng_gen_declare_format(k, declaration_file(k), channel, kind->name, kind->format);
	if (!id_first)
		lttng_gen_declare_id(k, declaration_file(k), channel, kind->name, id, sizes);
}

static void declare_markers(struct lttng_gen *k)
{
	bool own = k->l->era == LTTNG_CHANNEL_MARKERS;
	uint8_t sizes[5];

	lttng_gen_sizes(k, sizes);
	if (own && k->channel_count && choices_chance(k->c, 1, 3)) {
		/* Tracers declare the declarations, too. */
		lttng_gen_declare_id(k, &k->files[0], "metadata", "core_marker_format", 1, sizes);
		lttng_gen_declare_format(k, &k->files[0], "metadata", "core_marker_format", "channel %s name %s format %s");
	}
	/* Up to 2.2 ids are those of the trace; the last channel is the compact one. */
	unsigned plain = k->channel_count - k->compact;
	for (unsigned c = 0; c < (own ? plain : plain ? 1u : 0u); c++) {
		for (unsigned i = 0; i < k->kind_count; i++)
			declare_kind(k, k->channels[c], &lttng_kinds[i], lttng_gen_id(k, c, i));
		if (k->breaking) {
			declare_kind(k, k->channels[c], &lttng_kind_wide, lttng_gen_id(k, c, k->kind_count));
			declare_kind(k, k->channels[c], &lttng_kind_text, lttng_gen_id(k, c, k->kind_count + 1));
		}
	}
	for (unsigned i = 0; k->compact && i < k->kind_count; i++) {
		struct lttng_kind kind = lttng_kinds[i];
		char name[48];
		(void)snprintf(name, sizeof(name), "compact_%s", kind.name);
		kind.name = name;
		declare_kind(k, "", &kind, 8 + i);
	}
}

static uint64_t sub_buffer(struct lttng_gen *k)
{
	uint64_t least = k->huge ? 131072 : lttng_gen_is_large(k) ? 65536 : LTTNG_PAGE;
	return k->block_size ? k->block_size : least << (lttng_gen_is_large(k) ? choices_below(k->c, 3) : 0);
}

static void make_declarations(struct lttng_gen *k)
{
	static const char *const names[] = { "control/facilities", "control/facilities", "control/metadata", "metadata" };
	char name[64];
	for (unsigned i = 0; i < k->cpu_count; i++) {
		(void)snprintf(name, sizeof(name), "%s_%u", names[k->l->era], k->cpus[i]);
		struct lttng_made_file *f = lttng_gen_file(k, name);
		f->metadata = f->tracefile = true;
		f->cpu = k->cpus[i];
		f->limit = k->block_size ? k->block_size : LTTNG_PAGE;
	}
	/* Their blocks are open side by side: the places of events are only those of data files. */
	for (unsigned i = 0; i < k->cpu_count; i++)
		lttng_gen_open(k, &k->files[i], k->begin);
	k->declare_stamp = k->begin;
	if (k->l->era == LTTNG_FACILITIES)
		declare_facilities(k);
	else
		declare_markers(k);
	if (k->breaking)
		lttng_break(k, LTTNG_DECLARE);
	for (unsigned i = 0; i < k->cpu_count; i++)
		lttng_gen_close(k, &k->files[i], k->declare_stamp + choices_below(k->c, 1000));
}

/* ---- data ---- */

static uint64_t time_step(struct lttng_gen *k)
{
	if (!k->breaking && choices_chance(k->c, 1, 60))
		return k->l->era <= LTTNG_MARKERS ? choices_below(k->c, 1u << 28) : choices_below(k->c, 1u << 29);
	return 2 + choices_below(k->c, 2000);
}

static void make_data(struct lttng_gen *k, struct lttng_made_file *f)
{
	uint64_t count = k->breaking ? 24 + choices_below(k->c, 30) : choices_below(k->c, 40), done = 0;
	uint64_t flush = k->min_blocks > 1 ? count / k->min_blocks : 0;
	uint64_t plant = f == k->plant ? 2 + choices_below(k->c, count > 8 ? count - 8 : 1) : UINT64_MAX;
	/* Readers of compact stamps know them to some 256 ticks. */
	uint64_t at = k->early ? k->begin : k->declare_stamp + (f->compact ? 512 : 0);

	f->limit = sub_buffer(k);
	if (k->l->variable && lttng_gen_is_large(k))
		f->limit = 65536 + 4096 * choices_below(k->c, 64);
	if (f->big != k->big)
		f->b.big_endian = f->big;
	lttng_gen_open(k, f, k->channel_flight[f->channel] ? k->begin + choices_below(k->c, 1000) : k->begin);
	for (; (k->budget ? f->b.size < k->budget : done < count) && !f->b.failed && !k->failed; done++) {
		at = (at > f->stamp ? at : f->stamp) + (k->early && !done ? 1 : time_step(k));
		bool cut = flush ? done && done % flush == 0 && f->blocks + 1 < k->min_blocks
				 : !k->budget && choices_chance(k->c, 1, 40);
		if (done == plant || done == plant + 1)
			cut = false;
		lttng_gen_event(k, f, at, cut);
		if (done == plant)
			lttng_break(k, LTTNG_PLANT);
	}
	lttng_gen_close(k, f, f->stamp + 1 + choices_below(k->c, 1000));
}

static void make_channels(struct lttng_gen *k)
{
	k->data_first = k->file_count;
	for (unsigned c = 0; c < k->channel_count; c++)
		for (unsigned i = 0; i < k->cpu_count; i++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "%s%s_%u", k->channel_flight[c] ? "flight-" : "", k->channels[c],
				       k->cpus[i]);
			struct lttng_made_file *f = lttng_gen_file(k, name);
			f->channel = c;
			f->cpu = k->cpus[i];
			f->tracefile = true;
			f->compact = !strcmp(k->channels[c], "compact");
		}
	unsigned count = k->file_count - k->data_first;
	if (!count)
		return;
	if (k->g->size)
		k->budget = k->g->size / count + 1;
	if (k->breaking && k->g->size < (1u << 20))
		k->budget = 0;
	k->plant = k->breaking ? &k->files[k->data_first] : NULL;
	if (k->flip)
		k->files[k->data_first].big = !k->big;
	for (unsigned i = k->data_first; i < k->data_first + count && !k->failed; i++)
		make_data(k, &k->files[i]);
}

/* ---- side files ---- */

static void make_side_files(struct lttng_gen *k)
{
	if (!k->breaking && choices_chance(k->c, 1, 6)) {
		struct lttng_made_file *f = lttng_gen_file(k, "info/system.xml");
		bytes_printf(&f->b,
			     "<system node_name=\"thales\" domainname=\"(none)\" cpu=\"%u\" arch_size=\"%s\" endian=\"%s\" "
			     "kernel_name=\"Linux\" kernel_release=\"2.6.%u\" kernel_version=\"#1 SMP\" machine=\"%s\">\nA "
			     "trace\n</system>\n",
			     k->cpu_count, k->arch == 8 ? "LP64" : "ILP32", k->big ? "big" : "little",
			     12 + (unsigned)choices_below(k->c, 20), k->arch == 8 ? "x86_64" : "i686");
	}
	if (!k->breaking && choices_chance(k->c, 1, 8)) {
		struct lttng_made_file *f = lttng_gen_file(k, "bookmarks.xml");
		bytes_printf(&f->b,
			     "<bookmarks>\n<location name=\"start\" cpu=\"0\" cycle=\"%llu\"/>\n<location "
			     "time=\"%u.5\">here</location>\n"
			     "</bookmarks>\n",
			     (unsigned long long)k->begin, (unsigned)choices_below(k->c, 100));
	}
}

static void hand_over(struct lttng_gen *k)
{
	for (unsigned i = 0; i < k->file_count; i++) {
		struct lttng_made_file *f = &k->files[i];
		char name[sizeof(k->home) + sizeof(f->name)];
		(void)snprintf(name, sizeof(name), "%s%s", k->home, f->name);
		struct bytes *to = f->name[0] ? gen_file(k->g, name) : NULL;
		k->failed |= f->b.failed;
		if (to) {
			bytes_free(to);
			*to = f->b;
		} else {
			bytes_free(&f->b);
		}
	}
}

enum tracemend_status lttng_generate(struct gen *g)
{
	/* Who reads by the document is not told that the trace is as the document says. */
	if (g->rule == LTTNG_RULE_seed_literal_start_time && g->profile && !strcmp(g->profile, "literal"))
		return TM_USAGE;
	struct lttng_gen *k = calloc(1, sizeof(*k));
	if (!k)
		return TM_NO_MEMORY;
	k->g = g;
	k->c = g->choices;
	k->breaking = g->rule >= 0;
	k->want_heartbeat = k->want_aligned = -1;
	if (k->breaking)
		lttng_break(k, LTTNG_SHAPE);
	choose_version(k);
	choose_machine(k);
	choose_header(k);
	choose_user_space(k);
	choose_channels(k);
	make_declarations(k);
	if (!k->failed)
		make_channels(k);
	make_side_files(k);
	bool failed = k->failed || k->scratch.failed;
	for (unsigned i = 0; i < k->file_count; i++)
		failed |= k->files[i].b.failed;
	k->failed = failed;
	if (k->breaking && !failed)
		lttng_break(k, LTTNG_FINISH);
	hand_over(k);
	g->failed |= k->failed;
	bytes_free(&k->scratch);
	free(k->blocks);
	free(k);
	return g->failed ? TM_NO_MEMORY : TM_OK;
}
