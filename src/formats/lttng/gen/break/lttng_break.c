/* Breakers: the table, and the defects of names and side files. */
#include "formats/lttng/gen/break/lttng_spoil.h"

#include <stdio.h>
#include <string.h>

static void (*const breakers[LTTNG_RULE_COUNT])(struct lttng_gen *) = {
#define RULE(symbol, ...) [LTTNG_RULE_##symbol] = lttng_break_##symbol,
#include "formats/lttng/lttng_rules.def"
#undef RULE
};

void lttng_break(struct lttng_gen *k, enum lttng_stage stage)
{
	k->stage = stage;
	breakers[k->g->rule](k);
}

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

void lttng_break_trace_dir_missing(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	/* Hidden files are none. */
	static const char *const prefixes[] = { ".old/", ".trace/", ".Trash/1/" };
	const char *prefix = prefixes[choices_below(k->c, 3)];
	for (unsigned i = 0; i < k->file_count; i++)
		file_rename(&k->files[i], prefix, 0, "");
}

void lttng_break_no_metadata_file(struct lttng_gen *k)
{
	k->want_control = true;
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++)
		if (k->files[i].metadata)
			file_remove(&k->files[i]);
}

void lttng_break_control_dir_missing(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_OLD, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++)
		if (starts_with(k->files[i].name, "control/"))
			file_remove(&k->files[i]);
}

void lttng_break_eventdefs_missing(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_FACILITIES, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++)
		if (starts_with(k->files[i].name, "eventdefs/"))
			file_remove(&k->files[i]);
}

void lttng_break_control_dir_unexpected(struct lttng_gen *k)
{
	k->prefix = "control/";
	(void)lttng_spoil_shape(k, LV_CHANNEL, 1);
}

void lttng_break_file_name_grammar(struct lttng_gen *k)
{
	static const char *const names[] = { "README", "notes.txt", "kernel", "trace_x.log", "core.dump" };
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	bytes_text(&lttng_gen_file(k, names[choices_below(k->c, 5)])->b, "This trace is of a Tuesday.\n");
}

void lttng_break_cpu_leading_zero(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_spoil_file(k);
	if (choices_chance(k->c, 1, 2)) {
		char digits[24];
		int n = cpu_digits(f);
		(void)snprintf(digits, sizeof(digits), "0%u", f->cpu);
		file_rename(f, "", n, digits);
	} else {
		file_rename(f, "", 0, ".old");
	}
}

void lttng_break_cpu_number_range(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_spoil_file(k);
	char digits[24];
	if (choices_chance(k->c, 1, 2))
		(void)snprintf(digits, sizeof(digits), "-%u", 1 + (unsigned)choices_below(k->c, 9));
	else
		(void)snprintf(digits, sizeof(digits), "%u", 4096 + (unsigned)choices_below(k->c, 4000000000));
	file_rename(f, "", cpu_digits(f), digits);
}

void lttng_break_duplicate_channel_cpu(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_spoil_file(k);
	if (choices_chance(k->c, 1, 2) || strchr(f->name, '/')) {
		char name[64], digits[24];
		(void)snprintf(digits, sizeof(digits), "0%u", f->cpu);
		(void)snprintf(name, sizeof(name), "%.*s%s", (int)strlen(f->name) - cpu_digits(f), f->name, digits);
		struct lttng_made_file *copy = lttng_gen_file(k, name);
		bytes_append(&copy->b, f->b.data, f->b.size);
	} else {
		char name[sizeof(f->name) + 8];
		(void)snprintf(name, sizeof(name), "flight-%s", f->name);
		struct lttng_made_file *copy = lttng_gen_file(k, name);
		bytes_append(&copy->b, f->b.data, f->b.size);
	}
}

void lttng_break_cpu_gap(struct lttng_gen *k)
{
	k->want_gap = true;
	k->min_cpus = 2;
	(void)lttng_spoil_shape(k, LV_ALL, 1);
}

void lttng_break_channel_cpu_without_metadata_cpu(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_spoil_file(k);
	char name[64];
	(void)snprintf(name, sizeof(name), "%.*s%u", (int)strlen(f->name) - cpu_digits(f), f->name,
		       16 + (unsigned)choices_below(k->c, 99));
	bytes_append(&lttng_gen_file(k, name)->b, f->b.data, f->b.size);
}

void lttng_break_channel_cpu_missing(struct lttng_gen *k)
{
	k->min_cpus = 2;
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	file_remove(lttng_spoil_file(k));
}

void lttng_break_flight_prefix_on_metadata(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	char name[64];
	struct lttng_made_file *f = &k->files[choices_below(k->c, k->cpu_count)];
	const char *slash = strchr(f->name, '/');
	(void)snprintf(name, sizeof(name), "%.*sflight-%s", slash ? (int)(slash + 1 - f->name) : 0, f->name,
		       slash ? slash + 1 : f->name);
	memcpy(f->name, name, sizeof(name));
}

void lttng_break_flight_flag_mismatch(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_OLD, 1))
		return;
	lttng_spoil_everywhere(k, LF_FLIGHT, 1 + choices_below(k->c, 2));
}

void lttng_break_normal_prefix(struct lttng_gen *k)
{
	k->prefix = "normal-";
	(void)lttng_spoil_shape(k, LV_CHANNEL, 1);
}

void lttng_break_empty_file(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	bytes_free(&lttng_spoil_file(k)->b);
}

void lttng_break_file_shorter_than_header(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	size_t size = 1 + (size_t)choices_below(k->c, k->l->size - 1u);
	lttng_spoil_file(k)->b.size = size;
}

void lttng_break_text_transcoded(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_spoil_file(k);
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

void lttng_break_foreign_format(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = lttng_spoil_file(k);
	bool big = choices_chance(k->c, 1, 2);
	f->b.size = 0;
	f->b.big_endian = big;
	bytes_u32(&f->b, UINT32_C(0xC1FC1FC1));
	lttng_spoil_junk(k, &f->b, 16);
	bytes_u32(&f->b, 0);
	(void)bytes_grow(&f->b, LTTNG_PAGE - 24);
}

void lttng_break_unsupported_version(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	bool small = k->l->major == 2;
	lttng_spoil_everywhere(k, LF_MINOR, (small ? 7 : 9) + choices_below(k->c, 200));
}

/* ---- side files ---- */

void lttng_break_eventdefs_syntax(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_FACILITIES, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++) {
		struct lttng_made_file *f = &k->files[i];
		if (!strcmp(f->name, "eventdefs/kernel.xml"))
			f->b.size = 1 + choices_below(k->c, f->b.size - 16);
	}
}

void lttng_break_reader_abort_risk(struct lttng_gen *k)
{
	k->min_cpus = 2;
	k->want_gap = true;
	(void)lttng_spoil_shape(k, LV_ALL, 1);
}

void lttng_break_legacy_info_files(struct lttng_gen *k)
{
	if (lttng_spoil_shape(k, LV_ALL, 1))
		return;
	if (choices_chance(k->c, 1, 2))
		bytes_printf(&lttng_gen_file(k, "bookmarks.xml")->b,
			     "<bookmarks><location cpu=\"0\" time=\"%u.25\"/></bookmarks>\n", (unsigned)choices_below(k->c, 1000));
	else
		bytes_printf(&lttng_gen_file(k, "info/system.xml")->b,
			     "<system node_name=\"n%u\" cpu=\"1\" arch_size=\"ILP32\" endian=\"little\" "
			     "kernel_name=\"Linux\" kernel_release=\"2.5\"></system>\n",
			     (unsigned)choices_below(k->c, 1000));
}
