/* Breakers: the table, and the defects of names, files and block headers. */
#include "lttng_gen.h"

#include <stdio.h>
#include <string.h>

static void (*const breakers[LTTNG_RULE_COUNT])(struct lttng_gen *) = {
#define RULE(symbol, ...) [LTTNG_RULE_##symbol] = lttng_break_##symbol,
#include "lttng_rules.def"
#undef RULE
};

void lttng_break(struct lttng_gen *k, enum lttng_stage stage)
{
	k->stage = stage;
	breakers[k->g->rule](k);
}

/* Says what trace is needed; true when the breaker has nothing else to do in this stage. */
static bool shape(struct lttng_gen *k, uint32_t versions, unsigned blocks)
{
	if (k->stage == LTTNG_SHAPE) {
		k->versions = versions;
		k->min_blocks = blocks;
	}
	return k->stage != LTTNG_FINISH;
}

/* ---- places ---- */

enum { ANY_BLOCK = 0, WITH_PADDING = 1, NOT_LAST = 2, LAST = 4, WITH_EVENTS = 8 };

static bool block_fits(const struct lttng_gen *k, const struct lttng_made_block *b, unsigned least, unsigned kind)
{
	bool last = b->number + 1 == k->files[b->file].blocks;
	return b->file >= k->data_first && b->number >= least && (!(kind & WITH_PADDING) || b->size - b->data >= 128) &&
	       (!(kind & NOT_LAST) || !last) && (!(kind & LAST) || last) && (!(kind & WITH_EVENTS) || b->events >= 2);
}

/* A block of a data file, of at least that number; the shape sees to it that there is one. */
static struct lttng_made_block *any_block(struct lttng_gen *k, unsigned least, unsigned kind)
{
	size_t count = 0;
	for (size_t i = 0; i < k->block_count; i++)
		count += block_fits(k, &k->blocks[i], least, kind);
	size_t nth = choices_below(k->c, count ? count : 1);
	for (size_t i = 0; i < k->block_count; i++)
		if (block_fits(k, &k->blocks[i], least, kind) && !nth--)
			return &k->blocks[i];
	return &k->blocks[k->block_count - 1];
}

static struct lttng_made_file *any_file(struct lttng_gen *k)
{
	unsigned count = k->channel_count * k->cpu_count;
	return &k->files[k->data_first + choices_below(k->c, count)];
}

static uint8_t *block_bytes(struct lttng_gen *k, const struct lttng_made_block *b)
{
	return k->files[b->file].b.data + b->at;
}

static void set(struct lttng_gen *k, const struct lttng_made_block *b, enum lttng_field field, uint64_t value)
{
	lttng_header_store(block_bytes(k, b), k->l, k->files[b->file].big, field, value);
}

static void everywhere(struct lttng_gen *k, enum lttng_field field, uint64_t value)
{
	for (size_t i = 0; i < k->block_count; i++)
		set(k, &k->blocks[i], field, value);
}

/* Moves the end of the data. */
static void set_data(struct lttng_gen *k, const struct lttng_made_block *b, uint64_t data)
{
	set(k, b, LF_UNUSED, k->l->variable ? data : b->size - data);
}

static void junk(struct lttng_gen *k, struct bytes *b, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		bytes_u8(b, (uint8_t)(1 + choices_below(k->c, 255)));
}

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
	if (shape(k, LV_ALL, 1))
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
	if (shape(k, LV_ALL, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++)
		if (k->files[i].metadata)
			file_remove(&k->files[i]);
}

void lttng_break_control_dir_missing(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++)
		if (starts_with(k->files[i].name, "control/"))
			file_remove(&k->files[i]);
}

void lttng_break_eventdefs_missing(struct lttng_gen *k)
{
	if (shape(k, LV_FACILITIES, 1))
		return;
	for (unsigned i = 0; i < k->file_count; i++)
		if (starts_with(k->files[i].name, "eventdefs/"))
			file_remove(&k->files[i]);
}

void lttng_break_control_dir_unexpected(struct lttng_gen *k)
{
	k->prefix = "control/";
	(void)shape(k, LV_CHANNEL, 1);
}

void lttng_break_file_name_grammar(struct lttng_gen *k)
{
	static const char *const names[] = { "README", "notes.txt", "kernel", "trace_x.log", "core.dump" };
	if (shape(k, LV_ALL, 1))
		return;
	bytes_text(&lttng_gen_file(k, names[choices_below(k->c, 5)])->b, "This trace is of a Tuesday.\n");
}

void lttng_break_cpu_leading_zero(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = any_file(k);
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
	if (shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = any_file(k);
	char digits[24];
	if (choices_chance(k->c, 1, 2))
		(void)snprintf(digits, sizeof(digits), "-%u", 1 + (unsigned)choices_below(k->c, 9));
	else
		(void)snprintf(digits, sizeof(digits), "%u", 4096 + (unsigned)choices_below(k->c, 4000000000));
	file_rename(f, "", cpu_digits(f), digits);
}

void lttng_break_duplicate_channel_cpu(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = any_file(k);
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
	(void)shape(k, LV_ALL, 1);
}

void lttng_break_channel_cpu_without_metadata_cpu(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = any_file(k);
	char name[64];
	(void)snprintf(name, sizeof(name), "%.*s%u", (int)strlen(f->name) - cpu_digits(f), f->name, 16 + (unsigned)choices_below(k->c, 99));
	bytes_append(&lttng_gen_file(k, name)->b, f->b.data, f->b.size);
}

void lttng_break_channel_cpu_missing(struct lttng_gen *k)
{
	k->min_cpus = 2;
	if (shape(k, LV_ALL, 1))
		return;
	file_remove(any_file(k));
}

void lttng_break_flight_prefix_on_metadata(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	char name[64];
	struct lttng_made_file *f = &k->files[choices_below(k->c, k->cpu_count)];
	const char *slash = strchr(f->name, '/');
	(void)snprintf(name, sizeof(name), "%.*sflight-%s", slash ? (int)(slash + 1 - f->name) : 0, f->name, slash ? slash + 1 : f->name);
	memcpy(f->name, name, sizeof(name));
}

void lttng_break_flight_flag_mismatch(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_FLIGHT, 1 + choices_below(k->c, 2));
}

void lttng_break_normal_prefix(struct lttng_gen *k)
{
	k->prefix = "normal-";
	(void)shape(k, LV_CHANNEL, 1);
}

void lttng_break_empty_file(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	bytes_free(&any_file(k)->b);
}

void lttng_break_file_shorter_than_header(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	any_file(k)->b.size = 1 + choices_below(k->c, k->l->size - 1u);
}

void lttng_break_text_transcoded(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = any_file(k);
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
	if (shape(k, LV_ALL, 1))
		return;
	struct lttng_made_file *f = any_file(k);
	bool big = choices_chance(k->c, 1, 2);
	f->b.size = 0;
	f->b.big_endian = big;
	bytes_u32(&f->b, UINT32_C(0xC1FC1FC1));
	junk(k, &f->b, 16);
	bytes_u32(&f->b, 0);
	(void)bytes_grow(&f->b, LTTNG_PAGE - 24);
}

void lttng_break_unsupported_version(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	bool small = k->l->major == 2;
	everywhere(k, LF_MINOR, (small ? 7 : 9) + choices_below(k->c, 200));
}

/* ---- where blocks begin and end ---- */

static uint64_t wrong_magic(struct lttng_gen *k)
{
	return choices_chance(k->c, 1, 3) ? 0 : LTTNG_MAGIC ^ (UINT64_C(1) << choices_below(k->c, 32));
}

void lttng_break_bad_magic_first_block(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1 + (unsigned)(k->stage == LTTNG_SHAPE ? choices_below(k->c, 3) : 0)))
		return;
	const struct lttng_made_file *f = any_file(k);
	for (size_t i = 0; i < k->block_count; i++)
		if (k->blocks[i].file == (unsigned)(f - k->files) && !k->blocks[i].number)
			set(k, &k->blocks[i], LF_MAGIC, wrong_magic(k));
}

void lttng_break_magic_lost_in_block(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	set(k, any_block(k, 1, ANY_BLOCK), LF_MAGIC, wrong_magic(k));
}

void lttng_break_byte_order_mixed(struct lttng_gen *k)
{
	k->flip = true;
	(void)shape(k, LV_ALL, 1);
}

void lttng_break_version_mixed(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	set(k, any_block(k, 1, ANY_BLOCK), LF_MINOR, (uint64_t)k->l->minor + 1 + choices_below(k->c, 9));
}

void lttng_break_buf_size_zero(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	set(k, any_block(k, 0, ANY_BLOCK), LF_SIZE, 0);
}

void lttng_break_buf_size_not_constant(struct lttng_gen *k)
{
	if (shape(k, LV_FIXED, 3))
		return;
	const struct lttng_made_block *b = any_block(k, 1, ANY_BLOCK);
	set(k, b, LF_SIZE, choices_chance(k->c, 1, 2) ? 2 * b->size : b->size + 1 + choices_below(k->c, 9999));
}

void lttng_break_sb_size_misleads(struct lttng_gen *k)
{
	if (shape(k, LV_VARIABLE, 3))
		return;
	const struct lttng_made_block *b = any_block(k, 0, NOT_LAST);
	uint64_t left = k->files[b->file].b.size - b->at;
	set(k, b, LF_SIZE, left + LTTNG_PAGE * (1 + choices_below(k->c, 1000)));
}

void lttng_break_buf_size_not_power_of_two(struct lttng_gen *k)
{
	if (k->stage == LTTNG_SHAPE)
		k->block_size = LTTNG_PAGE * (3 + 2 * choices_below(k->c, 5));
	(void)shape(k, LV_FIXED, 1);
}

void lttng_break_buf_size_below_page(struct lttng_gen *k)
{
	if (k->stage == LTTNG_SHAPE)
		k->block_size = UINT64_C(1024) << choices_below(k->c, 2);
	(void)shape(k, LV_FIXED, 1);
}

void lttng_break_sb_size_not_page_multiple(struct lttng_gen *k)
{
	if (shape(k, LV_VARIABLE, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, ANY_BLOCK);
	set(k, b, LF_SIZE, b->size + 1 + choices_below(k->c, LTTNG_PAGE - 1));
}

void lttng_break_sb_size_not_minimal(struct lttng_gen *k)
{
	if (shape(k, LV_VARIABLE, 1 + (unsigned)(k->stage == LTTNG_SHAPE ? choices_below(k->c, 3) : 0)))
		return;
	const struct lttng_made_block *b = any_block(k, 0, LAST);
	uint64_t pages = b->size / LTTNG_PAGE + 1 + choices_below(k->c, 5);
	while (!(pages & (pages - 1)))
		pages++;
	(void)bytes_grow(&k->files[b->file].b, (size_t)(pages * LTTNG_PAGE - b->size));
	if (!k->files[b->file].b.failed)
		set(k, b, LF_SIZE, pages * LTTNG_PAGE);
}

void lttng_break_file_size_not_multiple(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	junk(k, &any_file(k)->b, 1 + choices_below(k->c, k->l->size - 1u));
}

void lttng_break_block_beyond_eof(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 1, LAST);
	k->files[b->file].b.size = b->at + k->l->size + choices_below(k->c, LTTNG_PAGE - k->l->size);
}

void lttng_break_trailing_garbage(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	junk(k, &any_file(k)->b, k->l->size + choices_below(k->c, 3000));
}

void lttng_break_zero_block(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	(void)bytes_grow(&any_file(k)->b, LTTNG_PAGE * (size_t)(1 + choices_below(k->c, 3)));
}

void lttng_break_lost_size_range(struct lttng_gen *k)
{
	if (shape(k, LV_FIXED, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, ANY_BLOCK);
	set(k, b, LF_UNUSED, b->size - k->l->size + 1 + choices_below(k->c, UINT32_C(0xffff0000)));
}

void lttng_break_data_size_range(struct lttng_gen *k)
{
	if (shape(k, LV_VARIABLE, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, ANY_BLOCK);
	set(k, b, LF_UNUSED, choices_chance(k->c, 1, 2) ? choices_below(k->c, k->l->size) : b->size + 1 + choices_below(k->c, 1u << 30));
}

static void leave_open(struct lttng_gen *k, const struct lttng_made_block *b)
{
	set(k, b, LF_UNUSED, LTTNG_OPEN);
	if (choices_chance(k->c, 3, 4))
		set(k, b, LF_SIZE, LTTNG_OPEN);
	set(k, b, LF_END, 0);
}

void lttng_break_unterminated_block(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1 + (unsigned)(k->stage == LTTNG_SHAPE ? choices_below(k->c, 3) : 0)))
		return;
	leave_open(k, any_block(k, 0, LAST));
}

void lttng_break_unterminated_not_last(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	leave_open(k, any_block(k, 0, NOT_LAST));
}

/* ---- constants of the header ---- */

void lttng_break_arch_size_invalid(struct lttng_gen *k)
{
	static const uint8_t sizes[] = { 0, 1, 2, 3, 5, 6, 7, 16, 32, 64 };
	k->want_aligned = 0;
	if (shape(k, LV_ALL & ~LTTNG_V(LV_2_0_64), 1))
		return;
	everywhere(k, LF_ARCH_SIZE, sizes[choices_below(k->c, sizeof(sizes))]);
}

void lttng_break_arch_type_unknown(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_ARCH_TYPE, choices_chance(k->c, 1, 4) ? 0 : 13 + choices_below(k->c, 9999));
}

void lttng_break_arch_type_size_conflict(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_ARCH_TYPE, (k->arch == 8 ? 1 : 7) + choices_below(k->c, 2));
}

void lttng_break_arch_variant_nonzero(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_ARCH_VARIANT, 1 + choices_below(k->c, 9));
}

void lttng_break_float_word_order_value(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_FLOAT_ORDER, 1 + choices_below(k->c, 1000));
}

void lttng_break_flag_not_boolean(struct lttng_gen *k)
{
	k->want_heartbeat = 1;
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, choices_chance(k->c, 1, 2) ? LF_FLIGHT : LF_HEARTBEAT, 3 + choices_below(k->c, 253));
}

void lttng_break_alignment_invalid(struct lttng_gen *k)
{
	static const uint8_t values[] = { 3, 5, 6, 7, 9, 12, 16, 32, 255 };
	k->want_aligned = 0;
	if (shape(k, LV_ALL, 1))
		return;
	everywhere(k, LF_ALIGNMENT, values[choices_below(k->c, sizeof(values))]);
}

void lttng_break_compact_fields_invalid(struct lttng_gen *k)
{
	if (shape(k, LTTNG_V(LV_0_8) | LV_ONE, 1))
		return;
	everywhere(k, LF_TSCBITS, choices_chance(k->c, 1, 3) ? 0 : 33 + choices_below(k->c, 200));
}

void lttng_break_compact_without_heartbeat(struct lttng_gen *k)
{
	k->want_compact = true;
	k->want_heartbeat = 0;
	(void)shape(k, LTTNG_V(LV_0_8) | LV_ONE, 1);
}

void lttng_break_freq_zero(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	everywhere(k, LF_FREQ, 0);
}

void lttng_break_freq_scale_zero(struct lttng_gen *k)
{
	/* 0.6 has none; in 0.8 a scale of 0 marks blocks of some vendors. */
	if (shape(k, LV_ALL & ~(LTTNG_V(LV_0_6) | LTTNG_V(LV_0_8)), 1))
		return;
	everywhere(k, LF_SCALE, 0);
}

void lttng_break_freq_implausible(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	everywhere(k, LF_FREQ, (UINT64_C(1) << 50) + choices_u64(k->c) / 2);
}

void lttng_break_block_freq_differs(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 2))
		return;
	set(k, any_block(k, 0, ANY_BLOCK), choices_chance(k->c, 1, 2) ? LF_BEGIN_FREQ : LF_END_FREQ, k->h.v[LF_FREQ] + 1 + choices_below(k->c, 999));
}

void lttng_break_start_time_subsecond_range(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	everywhere(k, LF_SUBSEC, 1000000000 + choices_below(k->c, 1000000000));
}

void lttng_break_start_time_implausible(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	everywhere(k, LF_SEC, choices_chance(k->c, 1, 2) ? choices_below(k->c, 1000000000) : 2000000000 + choices_below(k->c, 99999999));
}

void lttng_break_start_monotonic_nonzero(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_MONOTONIC, 1 + choices_u64(k->c) / 2);
}

void lttng_break_header_field_differs(struct lttng_gen *k)
{
	static const enum lttng_field fields[] = { LF_FREQ, LF_SUBSEC, LF_ARCH_TYPE, LF_MONOTONIC, LF_ALIGNMENT };
	if (shape(k, LV_ALL, 3))
		return;
	enum lttng_field field = fields[choices_below(k->c, 5)];
	if (!lttng_has(k->l, field))
		field = LF_FREQ;
	set(k, any_block(k, 1, ANY_BLOCK), field, k->h.v[field] + 1 + choices_below(k->c, 90));
}

void lttng_break_vendor_0_8_loss_fields(struct lttng_gen *k)
{
	if (shape(k, LTTNG_V(LV_0_8), 3))
		return;
	for (size_t i = 0; i < k->block_count; i++)
		if (k->blocks[i].number) {
			set(k, &k->blocks[i], LF_SCALE, 0);
			set(k, &k->blocks[i], LF_FREQ, choices_below(k->c, 50));
		}
}

void lttng_break_seed_literal_start_time(struct lttng_gen *k)
{
	(void)shape(k, LTTNG_V(LV_LITERAL), 1);
}

/* ---- stamps and counters of blocks ---- */

void lttng_break_end_before_begin(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, ANY_BLOCK);
	set(k, b, LF_END, b->begin - 1 - choices_below(k->c, 1000000));
}

void lttng_break_end_stamp_zero(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	set(k, any_block(k, 0, ANY_BLOCK), LF_END, 0);
}

/* The block before it in its file. */
static const struct lttng_made_block *before(const struct lttng_made_block *b)
{
	return b - 1;
}

void lttng_break_blocks_overlap(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	const struct lttng_made_block *b = any_block(k, 1, ANY_BLOCK), *a = before(b);
	set(k, b, LF_BEGIN, a->begin + choices_below(k->c, a->end - a->begin));
}

void lttng_break_first_begin_differs(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	const struct lttng_made_file *f = any_file(k);
	for (size_t i = 0; i < k->block_count; i++) {
		const struct lttng_made_block *b = &k->blocks[i];
		if (b->file == (unsigned)(f - k->files) && !b->number)
			set(k, b, LF_BEGIN, b->begin + 1 + choices_below(k->c, b->first_stamp - b->begin));
	}
}

void lttng_break_start_tsc_mismatch(struct lttng_gen *k)
{
	if (shape(k, LV_OLD, 1))
		return;
	everywhere(k, LF_TSC, k->begin - 1 - choices_below(k->c, 999999));
}

void lttng_break_blocks_not_sorted(struct lttng_gen *k)
{
	k->block_size = LTTNG_PAGE;
	if (shape(k, LV_ALL, 4))
		return;
	struct lttng_made_block *b = any_block(k, 2, ANY_BLOCK);
	const struct lttng_made_block *a = before(b);
	uint8_t *p = block_bytes(k, a), *q = block_bytes(k, b);
	for (uint64_t i = 0; i < LTTNG_PAGE; i++) {
		uint8_t byte = p[i];
		p[i] = q[i];
		q[i] = byte;
	}
}

void lttng_break_block_switch_first_event(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	const struct lttng_made_block *b = any_block(k, 1, WITH_EVENTS);
	set(k, before(b), LF_END, b->first_stamp - 1);
	set(k, b, LF_BEGIN, b->first_stamp - 1);
}

void lttng_break_appended_sessions(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 3))
		return;
	struct lttng_made_file *f = any_file(k);
	for (size_t i = 0; i < k->block_count; i++) {
		struct lttng_made_block b = k->blocks[i];
		if (b.file != (unsigned)(f - k->files) || b.number)
			continue;
		uint8_t *p = bytes_grow(&f->b, (size_t)b.size);
		if (!p)
			return;
		memcpy(p, f->b.data + b.at, (size_t)b.size);
		b.at = f->b.size - b.size;
		set(k, &b, LF_SEC, k->h.v[LF_SEC] + 1 + choices_below(k->c, 100000));
		return;
	}
}

/* A counter from a block of the file on. */
static void count_from(struct lttng_gen *k, const struct lttng_made_block *b, enum lttng_field field, uint64_t value)
{
	for (const struct lttng_made_block *p = b; p < k->blocks + k->block_count && p->file == b->file; p++)
		set(k, p, field, value);
}

void lttng_break_events_lost_decreases(struct lttng_gen *k)
{
	if (shape(k, LV_LOSS, 3))
		return;
	const struct lttng_made_block *b = any_block(k, 1, ANY_BLOCK);
	enum lttng_field field = choices_chance(k->c, 1, 2) ? LF_EVENTS_LOST : LF_CORRUPT;
	uint64_t value = 1 + choices_below(k->c, 100000);
	count_from(k, before(b), field, value);
	count_from(k, b, field, choices_below(k->c, value));
}

void lttng_break_events_lost(struct lttng_gen *k)
{
	if (shape(k, LV_LOSS, 3))
		return;
	count_from(k, any_block(k, 0, ANY_BLOCK), LF_EVENTS_LOST, 1 + choices_below(k->c, 100000));
}

void lttng_break_subbuf_corrupt(struct lttng_gen *k)
{
	if (shape(k, LV_LOSS, 3))
		return;
	count_from(k, any_block(k, 0, ANY_BLOCK), LF_CORRUPT, 1 + choices_below(k->c, 100));
}

/* ---- ends of data ---- */

void lttng_break_data_end_mid_event(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, WITH_PADDING | WITH_EVENTS);
	uint64_t start = b->last_event - b->at;
	set_data(k, b, start + 1 + choices_below(k->c, b->data - start - 1));
}

void lttng_break_data_end_in_padding(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, WITH_PADDING | WITH_EVENTS);
	set_data(k, b, b->data + 80 + choices_below(k->c, b->size - b->data - 79));
}

void lttng_break_padding_not_zero(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, WITH_PADDING);
	uint64_t at = b->data + choices_below(k->c, b->size - b->data);
	block_bytes(k, b)[at] = (uint8_t)(1 + choices_below(k->c, 255));
}

void lttng_break_header_truncated(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, WITH_PADDING | WITH_EVENTS);
	set_data(k, b, b->data + 1 + choices_below(k->c, 3));
}

void lttng_break_event_after_end(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, WITH_EVENTS);
	set(k, b, LF_END, b->last_stamp - 1);
}

void lttng_break_wrap_without_heartbeat(struct lttng_gen *k)
{
	k->want_heartbeat = 1;
	if (shape(k, LV_OLD, 2))
		return;
	const struct lttng_made_block *b = any_block(k, 0, LAST);
	set(k, b, LF_END, b->end + (UINT64_C(1) << 32) + choices_below(k->c, UINT64_C(1) << 34));
}

void lttng_break_event_alignment_nonzero_pad(struct lttng_gen *k)
{
	k->want_aligned = 1;
	if (shape(k, LV_ALL, 1))
		return;
	unsigned first = (unsigned)choices_below(k->c, k->event_count ? k->event_count : 1);
	for (unsigned i = 0; i < k->event_count; i++) {
		const struct lttng_made_event *e = &k->events[(first + i) % k->event_count];
		uint8_t *data = k->files[e->file].b.data;
		uint64_t at = e->before < e->start ? e->before : e->header_end < e->payload ? e->header_end : 0;
		if (!at)
			continue;
		data[at] = (uint8_t)(1 + choices_below(k->c, 255));
		return;
	}
}

/* ---- side files ---- */

void lttng_break_eventdefs_syntax(struct lttng_gen *k)
{
	if (shape(k, LV_FACILITIES, 1))
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
	(void)shape(k, LV_ALL, 1);
}

void lttng_break_legacy_info_files(struct lttng_gen *k)
{
	if (shape(k, LV_ALL, 1))
		return;
	if (choices_chance(k->c, 1, 2))
		bytes_printf(&lttng_gen_file(k, "bookmarks.xml")->b, "<bookmarks><location cpu=\"0\" time=\"%u.25\"/></bookmarks>\n",
			     (unsigned)choices_below(k->c, 1000));
	else
		bytes_printf(&lttng_gen_file(k, "info/system.xml")->b, "<system node_name=\"n%u\" cpu=\"1\" arch_size=\"ILP32\" endian=\"little\" "
			     "kernel_name=\"Linux\" kernel_release=\"2.5\"></system>\n", (unsigned)choices_below(k->c, 1000));
}
