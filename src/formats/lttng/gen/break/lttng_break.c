/* Breakers: the table, and the defects of names and side files. */
#include "formats/lttng/gen/break/lttng_target.h"

#include <stdio.h>
#include <string.h>

#define BREAKERS_TABLE
#include "core/breakers.h"

/* ---- names ---- */

static bool starts_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

static void file_remove(struct lttng_made_file *f)
{
	bytes_free(&f->b);
	f->name[0] = '\0';
}

static void file_rename(struct lttng_made_file *f, const char *prefix, int strip, const char *suffix)
{
	char name[64];
	(void)snprintf(name, sizeof(name), "%s%.*s%s", prefix, (int)strlen(f->name) - strip, f->name, suffix);
	memcpy(f->name, name, sizeof(name));
}

/* Digits of the cpu at the end of a name. */
static int cpu_digits(const struct lttng_made_file *f)
{
	const char *bar = strrchr(f->name, '_');
	return bar ? (int)strlen(bar + 1) : 0;
}

/* ---- the directory ---- */

BREAKER_OF(trace_dir_missing, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	/* Hidden files are none. */
	static const char *const prefixes[] = { ".old/", ".trace/", ".Trash/1/" };
	const char *prefix = prefixes[choices_below(g->c, 3)];
	for (unsigned i = 0; i < g->file_count; i++)
		file_rename(&g->files[i], prefix, 0, "");
}

BREAKER_OF(no_metadata_file, GEN_BYTES, g->want_control = true, lttng_target_shape(g, LV_ALL, 1))
{
	for (unsigned i = 0; i < g->file_count; i++)
		if (g->files[i].metadata)
			file_remove(&g->files[i]);
}

BREAKER_OF(control_dir_missing, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	for (unsigned i = 0; i < g->file_count; i++)
		if (starts_with(g->files[i].name, "control/"))
			file_remove(&g->files[i]);
}

BREAKER_OF(eventdefs_missing, GEN_BYTES, lttng_target_shape(g, LV_FACILITIES, 1))
{
	for (unsigned i = 0; i < g->file_count; i++)
		if (starts_with(g->files[i].name, "eventdefs/"))
			file_remove(&g->files[i]);
}

BREAKER(control_dir_unexpected, GEN_SHAPE)
{
	g->prefix = "control/";
	lttng_target_shape(g, LV_CHANNEL, 1);
}

BREAKER_OF(file_name_grammar, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	static const char *const names[] = { "README", "notes.txt", "kernel", "trace_x.log", "core.dump" };
	bytes_text(&lttng_gen_file(g, names[choices_below(g->c, 5)])->b, "This trace is of a Tuesday.\n");
}

BREAKER_OF(cpu_leading_zero, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	struct lttng_made_file *f = lttng_target_file(g);
	if (choices_chance(g->c, 1, 2)) {
		char digits[24];
		int n = cpu_digits(f);
		(void)snprintf(digits, sizeof(digits), "0%u", f->cpu);
		file_rename(f, "", n, digits);
	} else {
		file_rename(f, "", 0, ".old");
	}
}

BREAKER_OF(cpu_number_range, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	struct lttng_made_file *f = lttng_target_file(g);
	char digits[24];
	if (choices_chance(g->c, 1, 2))
		(void)snprintf(digits, sizeof(digits), "-%u", 1 + (unsigned)choices_below(g->c, 9));
	else
		(void)snprintf(digits, sizeof(digits), "%u", 4096 + (unsigned)choices_below(g->c, 4000000000));
	file_rename(f, "", cpu_digits(f), digits);
}

BREAKER_OF(duplicate_channel_cpu, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	struct lttng_made_file *f = lttng_target_file(g);
	if (choices_chance(g->c, 1, 2) || strchr(f->name, '/')) {
		char name[64], digits[24];
		(void)snprintf(digits, sizeof(digits), "0%u", f->cpu);
		(void)snprintf(name, sizeof(name), "%.*s%s", (int)strlen(f->name) - cpu_digits(f), f->name, digits);
		struct lttng_made_file *copy = lttng_gen_file(g, name);
		bytes_append(&copy->b, f->b.data, f->b.size);
	} else {
		char name[sizeof(f->name) + 8];
		(void)snprintf(name, sizeof(name), "flight-%s", f->name);
		struct lttng_made_file *copy = lttng_gen_file(g, name);
		bytes_append(&copy->b, f->b.data, f->b.size);
	}
}

BREAKER(cpu_gap, GEN_SHAPE)
{
	g->want_gap = true;
	g->min_cpus = 2;
	lttng_target_shape(g, LV_ALL, 1);
}

BREAKER_OF(channel_cpu_without_metadata_cpu, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	struct lttng_made_file *f = lttng_target_file(g);
	char digits[24];
	(void)snprintf(digits, sizeof(digits), "%u", 16 + (unsigned)choices_below(g->c, 99));
	file_rename(f, "", cpu_digits(f), digits);
	gen_expect(g->g, LTTNG_RULE_channel_cpu_missing);
}

BREAKER_OF(channel_cpu_missing, GEN_BYTES, g->min_cpus = 2, lttng_target_shape(g, LV_ALL, 1))
{
	file_remove(lttng_target_file(g));
}

BREAKER_OF(flight_prefix_on_metadata, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	char name[64];
	struct lttng_made_file *f = &g->files[choices_below(g->c, g->cpu_count)];
	const char *slash = strchr(f->name, '/');
	(void)snprintf(name, sizeof(name), "%.*sflight-%s", slash ? (int)(slash + 1 - f->name) : 0, f->name,
		       slash ? slash + 1 : f->name);
	memcpy(f->name, name, sizeof(name));
}

BREAKER_OF(flight_flag_mismatch, GEN_BYTES, lttng_target_shape(g, LV_OLD, 1))
{
	lttng_target_set_all(g, LF_FLIGHT, 1 + choices_below(g->c, 2));
}

BREAKER(normal_prefix, GEN_SHAPE)
{
	g->prefix = "normal-";
	lttng_target_shape(g, LV_CHANNEL, 1);
}

BREAKER_OF(empty_file, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	bytes_free(&lttng_target_file(g)->b);
}

BREAKER_OF(file_shorter_than_header, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	size_t size = 1 + (size_t)choices_below(g->c, g->l->size - 1u);
	lttng_target_file(g)->b.size = size;
}

BREAKER_OF(text_transcoded, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	struct lttng_made_file *f = lttng_target_file(g);
	struct bytes out = { 0 };
	for (size_t i = 0; i < f->b.size; i++) {
		if (f->b.data[i] < 0x80)
			bytes_u8(&out, f->b.data[i]);
		else
			bytes_text(&out, "\xef\xbf\xbd");
	}
	bytes_free(&f->b);
	f->b = out;
}

BREAKER_OF(foreign_format, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	struct lttng_made_file *f = lttng_target_file(g);
	bool big = choices_chance(g->c, 1, 2);
	f->b.size = 0;
	f->b.big_endian = big;
	bytes_u32(&f->b, UINT32_C(0xC1FC1FC1));
	lttng_target_junk(g, &f->b, 16);
	bytes_u32(&f->b, 0);
	(void)bytes_grow(&f->b, LTTNG_PAGE - 24);
}

BREAKER_OF(unsupported_version, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	bool small = g->l->major == 2;
	lttng_target_set_all(g, LF_MINOR, (small ? 7 : 9) + choices_below(g->c, 200));
}

/* ---- side files ---- */

BREAKER_OF(eventdefs_syntax, GEN_BYTES, lttng_target_shape(g, LV_FACILITIES, 1))
{
	for (unsigned i = 0; i < g->file_count; i++) {
		struct lttng_made_file *f = &g->files[i];
		if (!strcmp(f->name, "eventdefs/kernel.xml"))
			f->b.size = 1 + (size_t)choices_below(g->c, f->b.size - 16);
	}
}

BREAKER(reader_abort_risk, GEN_SHAPE)
{
	g->min_cpus = 2;
	g->want_gap = true;
	lttng_target_shape(g, LV_ALL, 1);
}

BREAKER_OF(legacy_info_files, GEN_BYTES, lttng_target_shape(g, LV_ALL, 1))
{
	if (choices_chance(g->c, 1, 2))
		bytes_printf(&lttng_gen_file(g, "bookmarks.xml")->b,
			     "<bookmarks><location cpu=\"0\" time=\"%u.25\"/></bookmarks>\n", (unsigned)choices_below(g->c, 1000));
	else
		bytes_printf(&lttng_gen_file(g, "info/system.xml")->b,
			     "<system node_name=\"n%u\" cpu=\"1\" arch_size=\"ILP32\" endian=\"little\" "
			     "kernel_name=\"Linux\" kernel_release=\"2.5\"></system>\n",
			     (unsigned)choices_below(g->c, 1000));
}
