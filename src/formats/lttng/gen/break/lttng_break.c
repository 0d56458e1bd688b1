/* Breakers: the table, and the defects of names and side files. */
#include "formats/lttng/gen/break/lttng_target.h"

#include <stdio.h>
#include <string.h>

#define BREAKERS_TABLE
#define BREAKERS_FORMAT lttng
#define BREAKERS_RULES "formats/lttng/lttng_rules.def"
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

void lttng_break_trace_dir_missing(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	/* Hidden files are none. */
	static const char *const prefixes[] = { ".old/", ".trace/", ".Trash/1/" };
	const char *prefix = prefixes[choices_below(g->c, 3)];
	for (unsigned i = 0; i < g->file_count; i++)
		file_rename(&g->files[i], prefix, 0, "");
}

void lttng_break_no_metadata_file(struct lttng_gen *g)
{
	g->want_control = true;
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	for (unsigned i = 0; i < g->file_count; i++)
		if (g->files[i].metadata)
			file_remove(&g->files[i]);
}

void lttng_break_control_dir_missing(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_OLD, 1))
		return;
	for (unsigned i = 0; i < g->file_count; i++)
		if (starts_with(g->files[i].name, "control/"))
			file_remove(&g->files[i]);
}

void lttng_break_eventdefs_missing(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_FACILITIES, 1))
		return;
	for (unsigned i = 0; i < g->file_count; i++)
		if (starts_with(g->files[i].name, "eventdefs/"))
			file_remove(&g->files[i]);
}

void lttng_break_control_dir_unexpected(struct lttng_gen *g)
{
	g->prefix = "control/";
	(void)lttng_target_shape(g, LV_CHANNEL, 1);
}

void lttng_break_file_name_grammar(struct lttng_gen *g)
{
	static const char *const names[] = { "README", "notes.txt", "kernel", "trace_x.log", "core.dump" };
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	bytes_text(&lttng_gen_file(g, names[choices_below(g->c, 5)])->b, "This trace is of a Tuesday.\n");
}

void lttng_break_cpu_leading_zero(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
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

void lttng_break_cpu_number_range(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_target_file(g);
	char digits[24];
	if (choices_chance(g->c, 1, 2))
		(void)snprintf(digits, sizeof(digits), "-%u", 1 + (unsigned)choices_below(g->c, 9));
	else
		(void)snprintf(digits, sizeof(digits), "%u", 4096 + (unsigned)choices_below(g->c, 4000000000));
	file_rename(f, "", cpu_digits(f), digits);
}

void lttng_break_duplicate_channel_cpu(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
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

void lttng_break_cpu_gap(struct lttng_gen *g)
{
	g->want_gap = true;
	g->min_cpus = 2;
	(void)lttng_target_shape(g, LV_ALL, 1);
}

void lttng_break_channel_cpu_without_metadata_cpu(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_target_file(g);
	char name[64];
	(void)snprintf(name, sizeof(name), "%.*s%u", (int)strlen(f->name) - cpu_digits(f), f->name,
		       16 + (unsigned)choices_below(g->c, 99));
	bytes_append(&lttng_gen_file(g, name)->b, f->b.data, f->b.size);
}

void lttng_break_channel_cpu_missing(struct lttng_gen *g)
{
	g->min_cpus = 2;
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	file_remove(lttng_target_file(g));
}

void lttng_break_flight_prefix_on_metadata(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	char name[64];
	struct lttng_made_file *f = &g->files[choices_below(g->c, g->cpu_count)];
	const char *slash = strchr(f->name, '/');
	(void)snprintf(name, sizeof(name), "%.*sflight-%s", slash ? (int)(slash + 1 - f->name) : 0, f->name,
		       slash ? slash + 1 : f->name);
	memcpy(f->name, name, sizeof(name));
}

void lttng_break_flight_flag_mismatch(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_OLD, 1))
		return;
	lttng_target_set_all(g, LF_FLIGHT, 1 + choices_below(g->c, 2));
}

void lttng_break_normal_prefix(struct lttng_gen *g)
{
	g->prefix = "normal-";
	(void)lttng_target_shape(g, LV_CHANNEL, 1);
}

void lttng_break_empty_file(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	bytes_free(&lttng_target_file(g)->b);
}

void lttng_break_file_shorter_than_header(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	size_t size = 1 + (size_t)choices_below(g->c, g->l->size - 1u);
	lttng_target_file(g)->b.size = size;
}

void lttng_break_text_transcoded(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
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

void lttng_break_foreign_format(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_target_file(g);
	bool big = choices_chance(g->c, 1, 2);
	f->b.size = 0;
	f->b.big_endian = big;
	bytes_u32(&f->b, UINT32_C(0xC1FC1FC1));
	lttng_target_junk(g, &f->b, 16);
	bytes_u32(&f->b, 0);
	(void)bytes_grow(&f->b, LTTNG_PAGE - 24);
}

void lttng_break_unsupported_version(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	bool small = g->l->major == 2;
	lttng_target_set_all(g, LF_MINOR, (small ? 7 : 9) + choices_below(g->c, 200));
}

/* ---- side files ---- */

void lttng_break_eventdefs_syntax(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_FACILITIES, 1))
		return;
	for (unsigned i = 0; i < g->file_count; i++) {
		struct lttng_made_file *f = &g->files[i];
		if (!strcmp(f->name, "eventdefs/kernel.xml"))
			f->b.size = 1 + choices_below(g->c, f->b.size - 16);
	}
}

void lttng_break_reader_abort_risk(struct lttng_gen *g)
{
	g->min_cpus = 2;
	g->want_gap = true;
	(void)lttng_target_shape(g, LV_ALL, 1);
}

void lttng_break_legacy_info_files(struct lttng_gen *g)
{
	if (lttng_target_shape(g, LV_ALL, 1))
		return;
	if (choices_chance(g->c, 1, 2))
		bytes_printf(&lttng_gen_file(g, "bookmarks.xml")->b,
			     "<bookmarks><location cpu=\"0\" time=\"%u.25\"/></bookmarks>\n", (unsigned)choices_below(g->c, 1000));
	else
		bytes_printf(&lttng_gen_file(g, "info/system.xml")->b,
			     "<system node_name=\"n%u\" cpu=\"1\" arch_size=\"ILP32\" endian=\"little\" "
			     "kernel_name=\"Linux\" kernel_release=\"2.5\"></system>\n",
			     (unsigned)choices_below(g->c, 1000));
}
