/* The info file of a generated uftrace directory: header, and the text blocks that its writer's version knew. */
#include "formats/uftrace/gen/uftrace_gen.h"

#include <stdio.h>

enum { NANOSECONDS = 1000000000 };

uint64_t uftrace_gen_feat_mask(const struct uftrace_gen *g)
{
	static const struct {
		uint64_t feature;
		unsigned bit;
	} bits[] = {
		{ UFTRACE_GEN_LIBCALL, 0 }, { UFTRACE_GEN_KERNEL, 2 }, { UFTRACE_GEN_ARGS, 3 },	  { UFTRACE_GEN_RETVALS, 4 },
		{ UFTRACE_GEN_PROBES, 7 },  { UFTRACE_GEN_PERF, 8 },   { UFTRACE_GEN_DEBUG, 10 }, { UFTRACE_GEN_ESTIMATE, 11 },
	};
	uint64_t mask = 1 << 1;

	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN))
		return 0x1263;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (uftrace_gen_has(g, bits[i].feature))
			mask |= (uint64_t)1 << bits[i].bit;
	if (g->by_trigger)
		mask &= ~(uint64_t)(3 << 3);
	if (uftrace_gen_has(g, UFTRACE_GEN_AUTO))
		mask |= 3 << 3;
	if (g->version >= 60)
		mask |= 1 << 5 | 1 << 6;
	if (g->version >= 82)
		mask |= 1 << 9;
	if (g->version >= 140)
		mask |= 1 << 12;
	if (g->version >= 200 && uftrace_gen_has(g, UFTRACE_GEN_EVENTS))
		mask |= 1 << 13;
	return mask;
}

/* ---- arguments ---- */

/* A name, or the pattern for all names that start so. */
static void write_name(const struct uftrace_gen *g, struct bytes *b, const struct uftrace_gen_spec *spec, bool *any)
{
	bytes_printf(b, "%s%s%s%s", *any ? ";" : "", spec->family && g->pattern == UFTRACE_GEN_REGEX ? "^" : "", spec->name,
		     spec->family && g->pattern == UFTRACE_GEN_GLOB ? "*" : "");
	*any = true;
}

static void write_specs(const struct uftrace_gen *g, struct bytes *b, int source, bool values)
{
	bool any = false;

	for (unsigned i = 0; i < g->spec_count; i++) {
		const struct uftrace_gen_spec *spec = &g->specs[i];

		if ((int)spec->source != source)
			continue;
		if (!values && spec->count) {
			write_name(g, b, spec, &any);
			for (unsigned k = 0; k < spec->count; k++)
				bytes_printf(b, "%c%s", k ? ',' : '@', spec->items[k].text);
		}
		if (values && spec->returns) {
			write_name(g, b, spec, &any);
			bytes_printf(b, "@%s", spec->value.text);
		}
	}
	if (source == UFTRACE_GEN_BY_TABLE && any)
		bytes_text(b, ";");
}

/* Returns whether there was anything to say. */
static bool write_arguments(struct uftrace_gen *g, struct bytes *b)
{
	bool args = uftrace_gen_has(g, UFTRACE_GEN_ARGS), values = uftrace_gen_has(g, UFTRACE_GEN_RETVALS),
	     automatic = uftrace_gen_has(g, UFTRACE_GEN_AUTO);

	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN) || (!args && !values && !automatic))
		return false;
	if (g->version <= 80) { /* one line for both */
		bytes_text(b, "argspec:");
		write_specs(g, b, UFTRACE_GEN_BY_USER, false);
		if (values) {
			bytes_text(b, args ? ";" : "");
			write_specs(g, b, UFTRACE_GEN_BY_USER, true);
		}
		bytes_text(b, "\n");
		return true;
	}
	bytes_printf(b, "argspec:lines=%d\n", args + values + (g->version >= 82 ? 3 + automatic : 0));
	if (args) {
		bytes_text(b, "argspec:");
		write_specs(g, b, UFTRACE_GEN_BY_USER, false);
		bytes_text(b, "\n");
	}
	if (values) {
		bytes_text(b, "retspec:");
		write_specs(g, b, UFTRACE_GEN_BY_USER, true);
		bytes_text(b, "\n");
	}
	if (g->version >= 82) {
		bytes_text(b, "argauto:");
		write_specs(g, b, UFTRACE_GEN_BY_TABLE, false);
		bytes_text(b, "\nretauto:");
		write_specs(g, b, UFTRACE_GEN_BY_TABLE, true);
		bytes_text(b, "\nenumauto:enum uft_dlopen_flag {RTLD_LOCAL = 0,RTLD_LAZY = 1,RTLD_NOW = 2,};"
			      "enum color {RED, GREEN = 5, BLUE,};\n");
		if (automatic)
			bytes_text(b, "auto-args:1\n");
	}
	return true;
}

/* ---- blocks ---- */

static void write_taskinfo(struct uftrace_gen *g, struct bytes *b)
{
	int tids[UFTRACE_GEN_TASKS_MAX];
	unsigned count = uftrace_gen_tids(g, tids);

	bytes_printf(b, "taskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=", count);
	for (unsigned i = 0; i < count; i++)
		bytes_printf(b, "%s%d", i ? "," : "", tids[i]);
	bytes_text(b, "\n");
}

static void write_usage(struct uftrace_gen *g, struct bytes *b)
{
	unsigned writes = uftrace_gen_below(g, 1000);
	unsigned reads = uftrace_gen_below(g, 1000);
	unsigned minor_faults = uftrace_gen_below(g, 2000);
	unsigned major_faults = uftrace_gen_below(g, 5);
	unsigned resident = 4000 + uftrace_gen_below(g, 9000);
	unsigned involuntary = uftrace_gen_below(g, 100);
	unsigned voluntary = uftrace_gen_below(g, 100);
	unsigned user_microseconds = uftrace_gen_below(g, 1000000);
	unsigned user_seconds = uftrace_gen_below(g, 5);
	unsigned system_microseconds = 1 + uftrace_gen_below(g, 999999);

	bytes_printf(b,
		     "usageinfo:lines=6\nusageinfo:systime=0.%06u\nusageinfo:usrtime=%u.%06u\n"
		     "usageinfo:ctxsw=%u / %u (voluntary / involuntary)\nusageinfo:maxrss=%u\n"
		     "usageinfo:pagefault=%u / %u (major / minor)\nusageinfo:iops=%u / %u (read / write)\n",
		     system_microseconds, user_seconds, user_microseconds, voluntary, involuntary, resident, major_faults,
		     minor_faults, reads, writes);
}

static void write_machine(struct uftrace_gen *g, struct bytes *b)
{
	static const char *const commands[] = {
		"uftrace record ./shop",
		"uftrace record --no-event -D 12 ./shop --stock \\\"blue paint\\\" x=1",
		"uftrace record -P . ./shop\targument with a tab",
	};

	bytes_printf(b, "cmdline:%s\n", commands[uftrace_gen_below(g, 3)]);
	bytes_printf(b, "cpuinfo:lines=2\ncpuinfo:nr_cpus=%u / %u (online/possible)\ncpuinfo:desc=%s\n", g->cpus,
		     g->cpus + uftrace_gen_below(g, 3), "A processor @ 2.4 GHz");

	unsigned tenths = uftrace_gen_below(g, 10);
	unsigned gigabytes = uftrace_gen_below(g, 23);

	bytes_printf(b, "meminfo:%u.%u / 23.5 GB (free / total)\n", gigabytes, tenths);
	bytes_text(b, "osinfo:lines=3\nosinfo:kernel=Linux 6.1.0\nosinfo:hostname=till\nosinfo:distro=\"Debian GNU/Linux 12 "
		      "(bookworm)\"\n");
}

static void write_load(struct uftrace_gen *g, struct bytes *b)
{
	unsigned fifteen_minutes = uftrace_gen_below(g, 100);
	unsigned five_minutes = uftrace_gen_below(g, 100);
	unsigned one_minute = uftrace_gen_below(g, 100);

	bytes_printf(b, "loadinfo:0.%02u / 0.%02u / 1.%02u\n", one_minute, five_minutes, fifteen_minutes);
}

static const char *version_text(unsigned version)
{
	switch (version) {
	case 90:
		return "v0.9";
	case 92:
		return "v0.9.2";
	case 93:
		return "v0.9.3";
	case 100:
		return "v0.10";
	case 140:
		return "v0.14";
	case 170:
		return "v0.17";
	case 190:
		return "v0.19";
	case 200:
		return "v0.19-55-g3af1";
	default:
		return "v0.13";
	}
}

static uint64_t write_blocks(struct uftrace_gen *g, struct bytes *b)
{
	static const char *const patterns[] = { "regex", "simple", "glob" };
	const struct uftrace_gen_module *program = &g->modules[0];
	uint64_t mask = 0x2ff; /* exe, build-id, exit status, command line, cpu, memory, os, tasks; load */
	uint64_t elapsed = g->end - g->start + 1000000 + uftrace_gen_below(g, 1000000);

	bytes_printf(b, "exename:%s\nbuild_id:%s\nexit_status:%d\n", program->path, program->build_id, g->exit_status);
	write_machine(g, b);
	write_taskinfo(g, b);
	if (!uftrace_gen_has(g, UFTRACE_GEN_INTERRUPTED)) {
		write_usage(g, b);
		mask |= 1 << 8;
	}
	write_load(g, b);
	if (write_arguments(g, b))
		mask |= 1 << 10;
	if (g->version >= 80) {
		bytes_printf(b, "record_date:Sat Nov 21 %02u:25:54 2026\nelapsed_time:%llu.%09llu sec\n", uftrace_gen_below(g, 24),
			     (unsigned long long)(elapsed / NANOSECONDS), (unsigned long long)(elapsed % NANOSECONDS));
		mask |= 1 << 11;
	}
	if (g->version >= 90) {
		bytes_printf(b, "pattern_type:%s\nuftrace_version:%s ( x86_64 dwarf tui perf sched dynamic )\n",
			     patterns[g->pattern], version_text(g->version));
		mask |= 3 << 12;
	}
	if (g->version >= 170) {
		bytes_printf(b, "utc_offset:%u\n", 1700000000 + uftrace_gen_below(g, 1000000));
		mask |= 1 << 14;
	}
	if (g->version >= 200) {
		bytes_text(b, "sysctl:perf_event_paranoid=2 kptr_restrict=1\n");
		mask |= 1 << 15;
	}
	return mask;
}

/* The QEMU plugin has nothing to say but says it line by line. */
static uint64_t write_foreign_blocks(struct uftrace_gen *g, struct bytes *b)
{
	bytes_text(b, "exename:\nbuild_id:0000000000000000000000000000000000000000\nexit_status:\ncmdline:\ncpuinfo:lines=2\n"
		      "cpuinfo:nr_cpus=\ncpuinfo:desc=\nmeminfo:\nosinfo:lines=3\nosinfo:kernel=\nosinfo:hostname=\n"
		      "osinfo:distro=\n");
	write_taskinfo(g, b);
	bytes_text(b, "usageinfo:lines=6\nusageinfo:systime=\nusageinfo:usrtime=\nusageinfo:ctxsw=\nusageinfo:maxrss=\n"
		      "usageinfo:pagefault=\nusageinfo:iops=\nloadinfo:\nrecord_date:\nelapsed_time:\npattern_type:regex\n"
		      "uftrace_version:\nutc_offset:\n");
	return 0x7bff;
}

void uftrace_gen_write_info(struct uftrace_gen *g)
{
	struct bytes *b = gen_file(g->g, "info");
	uint64_t mask;

	if (!b)
		return;
	b->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
	bytes_append(b, "Ftrace!", 8);
	bytes_u32(b, g->version < 60 ? 3 : 4);
	bytes_u16(b, 40);
	bytes_u8(b, uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN) ? 2 : 1);
	bytes_u8(b, uftrace_gen_has(g, UFTRACE_GEN_NARROW) ? 1 : 2);
	bytes_u64(b, uftrace_gen_feat_mask(g));
	bytes_u64(b, 0); /* info_mask: as writers do, when the text is complete */
	bytes_u16(b, (uint16_t)(g->version < 60 ? 0 : g->max_stack));
	bytes_u16(b, 0);
	bytes_u32(b, 0);
	mask = uftrace_gen_has(g, UFTRACE_GEN_FOREIGN) ? write_foreign_blocks(g, b) : write_blocks(g, b);
	if (!b->failed)
		store_u64(b->data + 24, mask, b->big_endian);
}
