/* A capture being made: the model. Choices that are used up give the smallest: version 6, one CPU, one page. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void gen_wide(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	uint8_t p[208] = { 0 };
	tracedat_gen_common(g, p, 302, 42);
	for (size_t i = 8; i < sizeof(p); i++)
		p[i] = (uint8_t)choices_below(g->choices, 256);
	tracedat_gen_record(g, c, p, sizeof(p), (uint32_t)choices_between(g->choices, 100, 100000));
}

static void gen_function(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	uint8_t p[24] = { 0 };
	uint64_t base = g->long_size == 8 ? UINT64_C(0xffffffff81000000) : 0xc1000000u;
	tracedat_gen_common(g, p, 1, 1);
	if (g->long_size == 8) {
		store_u64(p + 8, base + 0x10, g->big_endian);
		store_u64(p + 16, base + 0x110, g->big_endian);
	} else {
		store_u32(p + 8, (uint32_t)base + 0x10, g->big_endian);
		store_u32(p + 12, (uint32_t)base + 0x110, g->big_endian);
	}
	tracedat_gen_record(g, c, p, 8u + 2u * g->long_size, (uint32_t)choices_between(g->choices, 100, 100000));
}

static void gen_any(struct tracedat_gen *g, struct tracedat_gen_cpu *c)
{
	static const char *const names[] = { "a", "label", "some longer label", "x y z", "" };
	if (choices_chance(g->choices, 2, 3) && tracedat_gen_event(g, c))
		return;
	switch (choices_below(g->choices, 12)) {
	case 1:
	case 2:
		tracedat_gen_label(g, c, names[choices_below(g->choices, 5)]);
		break;
	case 3:
		gen_wide(g, c);
		break;
	case 4:
		gen_function(g, c);
		break;
	case 5:
		/* Time words stand before a record of their page. */
		if (c->used && c->used + 64 < g->page_size)
			tracedat_gen_stamp(g, c, 30, choices_between(g->choices, 1u << 27, UINT64_C(1) << 30));
		tracedat_gen_tick(g, c);
		break;
	case 6:
		if (c->used && c->used + 64 < g->page_size)
			tracedat_gen_stamp(g, c, 31, c->last + choices_below(g->choices, 1u << 20));
		tracedat_gen_tick(g, c);
		break;
	case 7: {
		/* A discarded record: padding with a length. */
		uint32_t none = 0;
		if (c->used && c->used + 64 < g->page_size) {
			uint8_t *at = tracedat_gen_room(g, c, 16, &none);
			if (at) {
				store_u32(at, tracedat_gen_word(g, 29, 1), g->big_endian);
				store_u32(at + 4, 12, g->big_endian);
			}
		}
		tracedat_gen_tick(g, c);
		break;
	}
	default:
		tracedat_gen_tick(g, c);
		break;
	}
}

/* ---- texts ---- */

static void make_formats(struct tracedat_gen *g)
{
	char fields[600];
	unsigned l = g->long_size;

	(void)snprintf(fields, sizeof(fields),
		       "\tfield:unsigned long ip;\toffset:8;\tsize:%u;\tsigned:0;\n"
		       "\tfield:unsigned long parent_ip;\toffset:%u;\tsize:%u;\tsigned:0;\n",
		       l, 8 + l, l);
	tracedat_gen_format_add(g, "ftrace", "function", 1, fields, "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip");
	(void)snprintf(fields, sizeof(fields),
		       "\tfield:unsigned long ip;\toffset:8;\tsize:%u;\tsigned:0;\n"
		       "\tfield:const char * fmt;\toffset:%u;\tsize:%u;\tsigned:0;\n"
		       "\tfield:u32 buf[];\toffset:%u;\tsize:0;\tsigned:0;\n",
		       l, 8 + l, l, 8 + 2 * l);
	tracedat_gen_format_add(g, "ftrace", "bprint", 6, fields, "\"%ps: %s\", (void *)REC->ip, REC->fmt");
	tracedat_gen_event_formats(g, true);
	tracedat_gen_format_add(g, "demo", "tick", 300,
				"\tfield:u32 count;\toffset:8;\tsize:4;\tsigned:0;\n"
				"\tfield:u64 value;\toffset:16;\tsize:8;\tsigned:0;\n",
				"\"count=%u value=%llu\", REC->count, REC->value");
	tracedat_gen_format_add(g, "demo", "label", 301,
				"\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
				"\tfield:int weight;\toffset:12;\tsize:4;\tsigned:1;\n",
				"\"name=%s weight=%d\", __get_str(name), REC->weight");
	tracedat_gen_format_add(g, "wide", "wide", 302, "\tfield:u8 bytes[200];\toffset:8;\tsize:200;\tsigned:0;\n",
				"\"first=%u\", REC->bytes[0]");
	tracedat_gen_event_formats(g, false);
}

static void make_texts(struct tracedat_gen *g)
{
	static const char *const names[] = { "_text", "demo_tick", "demo_label", "schedule", "_etext" };
	uint64_t base = g->long_size == 8 ? UINT64_C(0xffffffff81000000) : 0xc1000000u;

	tracedat_header_page_text(&g->header_page, g->long_size, g->header_page_size);
	tracedat_header_event_text(&g->header_event);
	for (size_t i = 0; i < 5; i++)
		bytes_printf(&g->kallsyms, "%0*llx T %s\n", 2 * g->long_size, (unsigned long long)base + 0x100 * i, names[i]);
	bytes_printf(&g->kallsyms, "%0*llx t demo_init\t[demo]\n", 2 * g->long_size, (unsigned long long)base + 0x1000);
	bytes_printf(&g->printk, "0x%llx : \"count %%d\\n\"\n", (unsigned long long)base + 0x400);
	bytes_text(&g->cmdlines, "1 init\n42 demo task\n");
}

/* ---- options ---- */

static void option_text(struct tracedat_gen *g, unsigned id, const char *text)
{
	(void)tracedat_gen_option_add(g, id, text, strlen(text) + 1);
}

/* What pairs a host's recording with those of its guests: clocks, CPUs, conversions. */
static void make_peers(struct tracedat_gen *g)
{
	struct choices *c = g->choices;
	struct bytes *o;

	if (gen_has(g->g, TRACEDAT_FEATURE_TIME_SHIFT, choices_chance(c, 1, 8))) {
		uint32_t cpus = (uint32_t)choices_between(c, 1, 3), samples = (uint32_t)choices_between(c, 1, 4);
		bool fractions = choices_chance(c, 1, 2); /* since 3.0 */
		o = &tracedat_gen_option_add(g, TRACEDAT_TIME_SHIFT, "", 0)->data;
		bytes_u64(o, choices_u64(c));
		bytes_u32(o, (uint32_t)choices_below(c, 2));
		bytes_u32(o, cpus);
		for (uint32_t i = 0; i < cpus; i++) {
			bytes_u32(o, samples);
			for (uint32_t k = 0; k < samples; k++)
				bytes_u64(o, 1000000 * (k + 1) + choices_below(c, 1000000));
			for (uint32_t k = 0; k < 2 * samples; k++)
				bytes_u64(o, k < samples ? choices_below(c, 100000) : 1);
		}
		for (uint32_t k = 0; fractions && k < cpus * samples; k++)
			bytes_u64(o, 0);
	}
	for (uint64_t i = gen_has(g->g, TRACEDAT_FEATURE_GUESTS, choices_chance(c, 1, 8)) ? choices_between(c, 1, 2) : 0; i > 0;
	     i--) {
		uint32_t cpus = (uint32_t)choices_between(c, 1, 4);
		o = &tracedat_gen_option_add(g, TRACEDAT_GUEST, "guest", i == 1 ? 6 : 0)->data;
		if (i != 1)
			bytes_append(o, "other guest", 12);
		bytes_u64(o, choices_u64(c));
		bytes_u32(o, cpus);
		for (uint32_t k = 0; k < cpus; k++) {
			bytes_u32(o, k);
			bytes_u32(o, 1000 + k);
		}
	}
	if (gen_has(g->g, TRACEDAT_FEATURE_TSC2NSEC, choices_chance(c, 1, 8))) {
		o = &tracedat_gen_option_add(g, TRACEDAT_TSC2NSEC, "", 0)->data;
		bytes_u32(o, (uint32_t)choices_between(c, 1, 1u << 30));
		bytes_u32(o, (uint32_t)choices_below(c, 33));
		bytes_u64(o, choices_below(c, 1u << 30));
	}
}

/* What trace-cmd 3.1.6 does not know, and says so: later options and those of nobody. */
static void make_later(struct tracedat_gen *g)
{
	struct choices *c = g->choices;
	/* Files of version 7 that are not compressed cannot have these sections: readers refuse them. */
	const bool sections = g->version == 7 && g->codec != TRACEDAT_NONE;
	const bool boot = choices_chance(c, 1, 8);
	const bool btf = sections && choices_chance(c, 1, 6), modules = sections && choices_chance(c, 1, 6);
	uint64_t unknown = choices_chance(c, 1, 8) ? choices_between(c, 1, 3) : 0;
	const bool later = gen_has(g->g, TRACEDAT_FEATURE_LATER, boot || unknown);

	g->with_btf = sections && gen_has(g->g, TRACEDAT_FEATURE_BTF, btf);
	g->with_modules = sections && gen_has(g->g, TRACEDAT_FEATURE_MODULES, modules);
	if (later && (boot || !unknown))
		option_text(g, TRACEDAT_LAST_BOOT, "boot_mapped:0 ffffffff81000000\n");
	for (; later && unknown; unknown--) {
		static const unsigned ids[] = { 26, 27, 30, 99, 1000 };
		(void)tracedat_gen_option_add(g, ids[choices_below(c, 5)], "a later option's content",
					      (size_t)choices_below(c, 25));
	}
}

static void make_options(struct tracedat_gen *g)
{
	char clock[64];
	uint8_t number[8];
	uint32_t cpus = 0;
	bool broken = g->g->rule >= 0;

	(void)snprintf(clock, sizeof(clock), "%s global [%s] x86-tsc\n", strcmp(g->buffers[0].clock, "local") ? "local" : "perf",
		       g->buffers[0].clock);
	option_text(g, TRACEDAT_TRACECLOCK, clock);
	option_text(g, TRACEDAT_UNAME, "Linux demo 6.1.0 x86_64");
	option_text(g, TRACEDAT_VERSION, "3.1.6 generated");
	store_u64(number, choices_u64(g->choices), g->big_endian);
	(void)tracedat_gen_option_add(g, TRACEDAT_TRACEID, number, 8);
	for (size_t i = 0; i < g->buffer_count; i++) {
		if (i) {
			char text[64];
			(void)snprintf(text, sizeof(text), "\nBuffer: %s\n\n", g->buffers[i].name);
			option_text(g, TRACEDAT_CPUSTAT, text);
		}
		for (size_t j = 0; j < g->buffers[i].count; j++) {
			option_text(g, TRACEDAT_CPUSTAT, "CPU: 0\n");
			if (g->buffers[i].cpus[j].cpu + 1 > cpus)
				cpus = g->buffers[i].cpus[j].cpu + 1;
		}
	}
	tracedat_gen_stats(g);
	if (g->version == 7) {
		store_u32(number, cpus, g->big_endian);
		(void)tracedat_gen_option_add(g, TRACEDAT_CPUCOUNT, number, 4);
	}
	bool date = choices_chance(g->choices, 1, 4);
	if (broken ? date : gen_has(g->g, TRACEDAT_FEATURE_DATE, date))
		option_text(g, TRACEDAT_DATE, "0x5f0e3d");
	bool offset = choices_chance(g->choices, 1, 4);
	if (broken ? offset : gen_has(g->g, TRACEDAT_FEATURE_OFFSET, offset))
		option_text(g, TRACEDAT_OFFSET, "-1000");
	bool maps = choices_chance(g->choices, 1, 4);
	if (broken ? maps : gen_has(g->g, TRACEDAT_FEATURE_PROCMAPS, maps))
		option_text(g, TRACEDAT_PROCMAPS, "2a 1 demo\n400000 401000 /usr/bin/demo\n");
	bool hooks = !broken && gen_has(g->g, TRACEDAT_FEATURE_HOOKS, choices_chance(g->choices, 1, 8));
	for (uint64_t i = hooks ? choices_between(g->choices, 1, 2) : 0; i > 0; i--)
		option_text(g, TRACEDAT_HOOK,
			    i == 1 ? "sched:sched_switch,prev_pid/sched:sched_switch,next_pid,p"
				   : "tick,count,common_pid/tick,count");
	if (!broken)
		make_peers(g);
	if (!broken)
		make_later(g);
	if (g->version == 6)
		for (size_t i = 1; i < g->buffer_count; i++) {
			struct tracedat_gen_option *o = tracedat_gen_option_add(g, TRACEDAT_BUFFER, "\0\0\0\0\0\0\0", 8);
			o->buffer = (int)i;
			bytes_append(&o->data, g->buffers[i].name, strlen(g->buffers[i].name) + 1);
		}
}

/* ---- buffers ---- */

/* Measures how well the content compresses. */
static void measure(struct tracedat_gen *g, const struct bytes *content)
{
	struct bytes compressed_size = { 0 };
	if (g->codec != TRACEDAT_NONE && content->size &&
	    tracedat_encode(g->codec, content->data, content->size, &compressed_size)) {
		g->compressed_size = compressed_size.size;
		g->decompressed_size = content->size;
	}
	g->g->failed |= compressed_size.failed;
	bytes_free(&compressed_size);
}

/* About how many bytes the content takes in the file, as chunks if it is compressed. */
static uint64_t packed_size(const struct tracedat_gen *g, const struct tracedat_gen_chunks *chunks, const struct bytes *content)
{
	if (g->codec == TRACEDAT_NONE)
		return content->size;
	return 4 + chunks->bytes.size +
	       (g->decompressed_size ? content->size * g->compressed_size / g->decompressed_size : content->size / 4);
}

static uint64_t cpu_size(const struct tracedat_gen *g, const struct tracedat_gen_cpu *cpu)
{
	return packed_size(g, &cpu->chunks, &cpu->pages);
}

/* About how many bytes of the file are no CPU data: texts and some 300 a CPU for its options. */
static uint64_t metadata_size(const struct tracedat_gen *g, size_t cpus)
{
	uint64_t size = g->header_page.size + g->header_event.size + g->kallsyms.size + g->printk.size + g->cmdlines.size;
	for (size_t i = 0; i < g->format_count; i++)
		size += g->formats[i].text.size;
	return (g->codec == TRACEDAT_NONE ? size : size / 3) + 300 * cpus + 800;
}

/* Whether the pages of a CPU are about as large as wanted. What was estimated so far is measured then. */
static bool is_large(struct tracedat_gen *g, const struct tracedat_gen_cpu *cpu, uint64_t wanted)
{
	const uint64_t half = g->codec == TRACEDAT_NONE ? g->page_size / 2 : 256;
	if (cpu_size(g, cpu) + half < wanted)
		return false;
	if (wanted)
		measure(g, &cpu->pages);
	return cpu_size(g, cpu) + half >= wanted;
}

/* The pages of a CPU: some records, then more until there are enough. */
static void make_cpu(struct tracedat_gen *g, struct tracedat_gen_cpu *cpu, uint64_t wanted)
{
	struct choices *c = g->choices;
	bool broken = g->g->rule >= 0;
	uint64_t records = 3 + choices_below(c, 12);
	/* Some recorders are read out often: many pages, of which each is left early. */
	unsigned end = !broken && choices_chance(c, 1, 8) ? 4 : 40;
	if (end == 4)
		records *= 2;

	for (uint64_t k = 0; k < records || !is_large(g, cpu, wanted); k++) {
		if (cpu->pages.failed || g->g->failed)
			break;
		if (broken)
			k & 1 ? tracedat_gen_label(g, cpu, "sample") : tracedat_gen_tick(g, cpu);
		else
			gen_any(g, cpu);
		if (!broken && choices_chance(c, 1, end)) {
			if (choices_chance(c, 1, 6) && g->g->has & FEATURE_BIT(TRACEDAT_FEATURE_LOST))
				tracedat_gen_missed(g, cpu, choices_chance(c, 1, 2) ? choices_between(c, 1, 1000) : 0);
			tracedat_gen_page_end(g, cpu);
		}
	}
}

static void make_buffers(struct tracedat_gen *g)
{
	static const char *const clocks[] = { "local", "mono", "global", "x86-tsc", "boot" };
	bool broken = g->g->rule >= 0;
	struct choices *c = g->choices;
	const char *clock = broken ? "local" : clocks[choices_below(c, 5)];
	/* Only options name instances. */
	size_t instances = broken ? g->instances : g->no_options ? 0 : (size_t)choices_below(c, 3);
	if (!broken && !g->no_options && !gen_has(g->g, TRACEDAT_FEATURE_INSTANCES, instances))
		instances = 0;
	else if (!broken && !g->no_options && !instances)
		instances = 1;
	(void)gen_has(g->g, TRACEDAT_FEATURE_LOST, !broken);
	size_t cpus = broken ? 2 : (size_t)choices_between(c, 1, 3);
	/* What is left of the wanted size, and the CPUs that share it. */
	size_t left = cpus * (1 + instances);
	uint64_t at = tracedat_align(metadata_size(g, left), g->page_size);

	g->buffer_count = 1 + instances;
	g->time = 1000000000;
	for (size_t i = 0; i < g->buffer_count; i++) {
		struct tracedat_gen_buffer *buffer = &g->buffers[i];
		if (i)
			(void)snprintf(buffer->name, sizeof(buffer->name), "inst%zu", i);
		(void)snprintf(buffer->clock, sizeof(buffer->clock), "%s", clock);
		/* Version 6 has an entry for each CPU, version 7 only for those with data, which may be far apart. */
		buffer->count = cpus;
		for (size_t j = 0; j < cpus; j++, left--) {
			struct tracedat_gen_cpu *cpu = &buffer->cpus[j];
			bool sparse = g->version == 7 && !broken && choices_chance(c, 1, 4);
			cpu->cpu = j ? buffer->cpus[j - 1].cpu + 1 + (sparse ? 4 : 0) : 0;
			cpu->last = UINT64_C(5000000000) + 1000 * j;
			bool empty = !broken && g->version == 6 && choices_chance(c, 1, 5);
			uint64_t wanted = g->g->size > at ? (g->g->size - at) / (left + g->extra_at_end) : 0;
			if (!empty || (left == 1 && wanted))
				make_cpu(g, cpu, wanted);
			at = tracedat_align(at + cpu_size(g, cpu), g->page_size);
		}
	}
}

size_t tracedat_gen_extra(const struct tracedat_gen *g)
{
	return g->buffers[0].cpus[1].pages.size + 3 * (size_t)g->page_size;
}

/* The text of a latency tracer instead of pages. */
static void make_latency(struct tracedat_gen *g)
{
	uint64_t lines = 1 + choices_below(g->choices, 40);

	bytes_text(&g->text, "# tracer: wakeup\n#\n# wakeup latency trace\n");
	uint64_t other = metadata_size(g, 1);
	for (uint64_t i = 0; i < lines || other + packed_size(g, &g->text_chunks, &g->text) < g->g->size; i++) {
		bytes_printf(&g->text, "  demo-42      0d..3 %4lluus+: demo_tick <-_text\n", (unsigned long long)i);
		g->g->records++;
		if (g->codec != TRACEDAT_NONE && g->text.size >= TRACEDAT_GEN_TEXT_CHUNK)
			tracedat_gen_pack(g, &g->text_chunks, &g->text, TRACEDAT_GEN_TEXT_CHUNK);
		if (g->text.failed || g->g->failed)
			break;
	}
}

void tracedat_gen_model(struct tracedat_gen *g)
{
	if (g->g->rule < 0)
		tracedat_gen_event_choose(g);
	make_formats(g);
	make_texts(g);
	if (g->latency) {
		make_latency(g);
		option_text(g, TRACEDAT_UNAME, "Linux demo 6.1.0 x86_64");
		return;
	}
	make_buffers(g);
	make_options(g);
}
