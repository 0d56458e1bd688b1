/* Breakers: the defects of events and declarations. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <string.h>

/* Says what trace is needed, and whether this is the stage in which the breaker adds its own. */
static bool plants(struct lttng_gen *g, uint32_t versions, enum gen_stage stage)
{
	if (g->g->stage == GEN_SHAPE)
		g->versions = versions;
	return g->g->stage == stage;
}

/* An event of a kind that the channel has, a moment after the last one. */
static struct lttng_put an_event(struct lttng_gen *g)
{
	unsigned kind = (unsigned)choices_below(g->c, g->kind_count);
	struct lttng_put put = { .id = lttng_gen_id(g, g->plant->channel, kind), .form = -1, .stamp = g->plant->stamp + 1 };
	put.align = lttng_gen_payload(g, &lttng_kinds[kind]);
	return put;
}

static void raw(struct lttng_gen *g, uint64_t n)
{
	g->scratch.size = 0;
	uint8_t *p = bytes_grow(&g->scratch, (size_t)n);
	for (uint64_t i = 0; p && i < n; i++)
		p[i] = (uint8_t)(1 + choices_below(g->c, 255));
}

static uint32_t wide_id(const struct lttng_gen *g)
{
	return lttng_gen_id(g, g->plant->channel, g->kind_count);
}

/* ---- events ---- */

void lttng_break_zero_hole(struct lttng_gen *g)
{
	if (plants(g, LV_ALL, GEN_PLANT))
		(void)bytes_grow(&g->plant->b, (size_t)(80 + choices_below(g->c, 200)));
}

void lttng_break_event_before_begin(struct lttng_gen *g)
{
	g->want_heartbeat = 0;
	if (!plants(g, LV_ALL, GEN_PLANT))
		return;
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.stamp = g->plant->begin - 1 - choices_below(g->c, 999);
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_tsc_not_monotonic(struct lttng_gen *g)
{
	g->want_heartbeat = 0;
	if (!plants(g, LV_ALL, GEN_PLANT))
		return;
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	if (g->plant->stamp == g->plant->begin) {
		put.stamp++; /* the block has but one event yet: another one before the step back */
		lttng_gen_put(g, g->plant, &put);
	}
	put.stamp = g->plant->begin + choices_below(g->c, g->plant->stamp - g->plant->begin);
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_full_stamp_low_bits(struct lttng_gen *g)
{
	if (!plants(g, LV_NEW, GEN_PLANT))
		return;
	struct lttng_put put = an_event(g);
	put.form = (int)LTTNG_FORM_FULL;
	put.word_xor = UINT32_C(1) << choices_below(g->c, LTTNG_TIME_BITS);
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_heartbeat_in_nohb_trace(struct lttng_gen *g)
{
	g->want_heartbeat = 0;
	if (!plants(g, LV_OLD, GEN_PLANT))
		return;
	struct lttng_put put = { .id = 2, .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, 0);
	lttng_gen_put(g, g->plant, &put);
}

/* Fills the block, up to an event that does not end in it. */
static void cross_end(struct lttng_gen *g, uint32_t id, uint8_t align)
{
	struct lttng_made_file *f = g->plant;
	uint64_t stamp = f->stamp;
	while (!f->b.failed && f->limit - (f->b.size - f->block) > 300)
		lttng_gen_event(g, f, ++stamp, false);
	stamp++;
	struct lttng_put put = { .id = id, .form = -1, .align = align, .stamp = stamp, .cut = f->limit };
	raw(g, 320);
	lttng_gen_put(g, f, &put);
	lttng_gen_close(g, f, stamp + 1);
	lttng_gen_open(g, f, stamp + 1);
}

void lttng_break_payload_truncated(struct lttng_gen *g)
{
	if (plants(g, LV_ALL, GEN_PLANT))
		cross_end(g, wide_id(g), g->alignment ? (g->l->natural ? 8 : g->alignment) : 1);
}

void lttng_break_string_not_terminated(struct lttng_gen *g)
{
	if (plants(g, LV_ALL, GEN_PLANT))
		cross_end(g, wide_id(g) + 1, 1);
}

/* An id that fits the event word and that no event type of the first channel has; 0: its first type has a low one itself. */
static uint32_t low_id(const struct lttng_gen *g)
{
	uint32_t first = g->first_id[0];
	return 19 < first || 19 >= first + g->kind_count + 2 ? 19 : 0;
}

void lttng_break_reserved_id_used(struct lttng_gen *g)
{
	if (g->g->stage == GEN_MODEL && low_id(g)) {
		uint8_t sizes[5];
		lttng_gen_sizes(g, sizes);
		lttng_gen_declare_id(g, &g->files[0], g->channels[0], "low", low_id(g), sizes);
		lttng_gen_declare_format(g, &g->files[0], g->channels[0], "low", " ");
	}
	if (!plants(g, LV_NEW, GEN_PLANT))
		return;
	struct lttng_put put = { .id = low_id(g), .form = (int)LTTNG_FORM_ID, .align = 1, .stamp = g->plant->stamp + 1 };
	raw(g, 0);
	if (!put.id) {
		put.id = lttng_gen_id(g, 0, 0);
		put.align = lttng_gen_payload(g, &lttng_kinds[0]);
	}
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_dangling_event_id(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_PLANT))
		return;
	struct lttng_put put = { .id = 30000 + (uint32_t)choices_below(g->c, 30000), .form = -1, .stamp = g->plant->stamp + 1 };
	if (g->l->era > LTTNG_MARKERS && choices_chance(g->c, 1, 2))
		put.form = (int)LTTNG_FORM_SIZE;
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_dangling_facility_id(struct lttng_gen *g)
{
	if (!plants(g, LV_FACILITIES, GEN_PLANT))
		return;
	struct lttng_put put = { .id = 0xc000 + (uint32_t)choices_below(g->c, 0x3000), .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_event_id_out_of_facility(struct lttng_gen *g)
{
	if (!plants(g, LV_FACILITIES, GEN_PLANT))
		return;
	struct lttng_put put = { .id = 0x100 + 100 + (uint32_t)choices_below(g->c, 100), .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_event_size_mismatch(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL, GEN_PLANT))
		return;
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.size_error = choices_chance(g->c, 1, 2) && g->scratch.size ? -1 : 1 + (int)choices_below(g->c, 900);
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_event_size_escape_small(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL, GEN_PLANT))
		return;
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.escape = true;
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_core_id_in_data_file(struct lttng_gen *g)
{
	if (!plants(g, LV_ONE | LV_TRACE, GEN_PLANT))
		return;
	struct lttng_put put = { .id = (uint32_t)choices_below(g->c, 2), .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, 4 + choices_below(g->c, 20));
	lttng_gen_put(g, g->plant, &put);
}

/* ---- declarations ---- */

static struct lttng_made_file *declarations(struct lttng_gen *g)
{
	return &g->files[choices_below(g->c, g->cpu_count)];
}

/* The file that is read last, so that what contradicts the others does so. */
static struct lttng_made_file *last_declarations(struct lttng_gen *g)
{
	return &g->files[g->cpu_count - 1];
}

/* One more event type, which no event has. */
static void declare(struct lttng_gen *g, const char *channel, const char *name, uint32_t id, const char *format)
{
	uint8_t sizes[5];
	struct lttng_made_file *f = last_declarations(g);
	lttng_gen_sizes(g, sizes);
	lttng_gen_declare_id(g, f, channel, name, id, sizes);
	if (format)
		lttng_gen_declare_format(g, f, channel, name, format);
}

static uint32_t free_id(struct lttng_gen *g)
{
	return 20000 + (uint32_t)choices_below(g->c, 10000);
}

void lttng_break_event_without_format(struct lttng_gen *g)
{
	if (g->g->stage == GEN_MODEL)
		declare(g, g->channels[0], "nothing", 20000, NULL);
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_PLANT) || choices_chance(g->c, 1, 3))
		return;
	struct lttng_put put = { .id = 20000, .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

void lttng_break_non_core_in_facilities(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL, GEN_MODEL))
		return;
	struct lttng_put put = { .id = lttng_gen_id(g, 0, 4) + 0x100, .form = -1, .stamp = g->declare_stamp + 1 };
	if (g->l->era > LTTNG_MARKERS && choices_chance(g->c, 1, 2))
		put.form = (int)LTTNG_FORM_FULL;
	raw(g, choices_below(g->c, 20));
	g->declare_stamp++;
	lttng_gen_put(g, declarations(g), &put);
}

void lttng_break_reserved_id_range(struct lttng_gen *g)
{
	if (plants(g, LV_ONE, GEN_MODEL))
		declare(g, "", "reserved", 4 + (uint32_t)choices_below(g->c, 4), " ");
}

void lttng_break_metadata_payload_length(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		return;
	struct lttng_made_file *f = declarations(g);
	uint64_t extra = 1 + choices_below(g->c, 30);
	struct lttng_put put = {
		.id = 1, .form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1, .align = 1, .stamp = ++g->declare_stamp
	};
	g->scratch.size = 0;
	if (g->l->era == LTTNG_CHANNEL_MARKERS)
		bytes_append(&g->scratch, g->channels[0], strlen(g->channels[0]) + 1);
	bytes_append(&g->scratch, "long\0value %d", sizeof("long\0value %d"));
	for (uint64_t i = 0; i < extra; i++)
		bytes_u8(&g->scratch, 'x');
	lttng_gen_put(g, f, &put);
}

/* A declaration whose sizes are not those of the machine. */
static void declare_sizes(struct lttng_gen *g, const uint8_t sizes[5])
{
	struct lttng_made_file *f = declarations(g);
	if (g->l->era == LTTNG_FACILITIES) {
		lttng_gen_load(g, f, "core", 0, 0, sizes);
		return;
	}
	lttng_gen_declare_id(g, f, g->channels[0], "machine", free_id(g), sizes);
	lttng_gen_declare_format(g, f, g->channels[0], "machine", " ");
}

void lttng_break_declared_sizes_implausible(struct lttng_gen *g)
{
	uint8_t sizes[5];
	if (!plants(g, LV_ALL, GEN_MODEL))
		return;
	lttng_gen_sizes(g, sizes);
	uint8_t size = (uint8_t)(9 + choices_below(g->c, 200));
	sizes[choices_below(g->c, 4)] = size;
	declare_sizes(g, sizes);
}

void lttng_break_declared_sizes_vary(struct lttng_gen *g)
{
	uint8_t sizes[5];
	if (!plants(g, LV_ALL, GEN_MODEL))
		return;
	lttng_gen_sizes(g, sizes);
	sizes[choices_chance(g->c, 1, 2) ? SIZE_LONG : SIZE_SIZE_T] = g->arch == 8 ? 4 : 8;
	declare_sizes(g, sizes);
}

void lttng_break_duplicate_declaration(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		return;
	unsigned kind = (unsigned)choices_below(g->c, g->kind_count);
	declare(g, g->channels[0], lttng_kinds[kind].name, lttng_gen_id(g, 0, kind), lttng_kinds[kind].format);
}

void lttng_break_id_redefined(struct lttng_gen *g)
{
	if (plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		declare(g, g->channels[0], "other", lttng_gen_id(g, 0, (unsigned)choices_below(g->c, g->kind_count)), NULL);
}

void lttng_break_name_with_two_ids(struct lttng_gen *g)
{
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		return;
	uint32_t id = free_id(g);
	declare(g, g->channels[0], lttng_kinds[choices_below(g->c, g->kind_count)].name, id, NULL);
}

void lttng_break_format_conflict(struct lttng_gen *g)
{
	if (plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		lttng_gen_declare_format(g, last_declarations(g), g->channels[0],
					 lttng_kinds[choices_below(g->c, g->kind_count)].name, "other %c");
}

void lttng_break_format_syntax(struct lttng_gen *g)
{
	static const char *const texts[] = { "a %f", "a %d b %*d", "a %n", "a #3u%u", "count %5u", "a %", "b #2u" };
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		return;
	const char *text = texts[choices_below(g->c, 7)];
	declare(g, g->channels[0], "strange", free_id(g), text);
}

void lttng_break_format_qualifier_8_ambiguous(struct lttng_gen *g)
{
	static const char *const texts[] = { "a #8u%u", "time #8d%d", "x %d y #8x%hx" };
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		return;
	const char *text = texts[choices_below(g->c, 3)];
	declare(g, g->channels[0], "eight", free_id(g), text);
}

void lttng_break_format_unnamed_field(struct lttng_gen *g)
{
	static const char *const texts[] = { "%d", "a %d%u", "#4u%u", "a %s %lu" };
	if (!plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL))
		return;
	const char *text = texts[choices_below(g->c, 4)];
	declare(g, g->channels[0], "unnamed", free_id(g), text);
}

void lttng_break_unknown_channel_in_metadata(struct lttng_gen *g)
{
	static const char *const names[] = { "ghost", "kprobe_state", "ext4" };
	if (!plants(g, LV_CHANNEL, GEN_MODEL))
		return;
	uint32_t id = (uint32_t)choices_below(g->c, 100);
	declare(g, names[choices_below(g->c, 3)], "unseen", id, " ");
}

void lttng_break_undeclared_channel(struct lttng_gen *g)
{
	if (!plants(g, LV_CHANNEL, GEN_BYTES))
		return;
	struct lttng_made_file *f = &g->files[g->data_first + choices_below(g->c, g->channel_count * g->cpu_count)];
	(void)snprintf(f->name, sizeof(f->name), "orphan_%u", f->cpu);
}

void lttng_break_declaration_after_use(struct lttng_gen *g)
{
	g->early = true;
	(void)plants(g, LV_ALL & ~LV_FACILITIES, GEN_MODEL);
}

void lttng_break_facility_checksum(struct lttng_gen *g)
{
	if (g->g->stage == GEN_SHAPE)
		g->checksum_xor = 1 + (uint32_t)choices_below(g->c, UINT32_MAX);
	(void)plants(g, LV_FACILITIES, GEN_MODEL);
}

void lttng_break_facility_record_conflict(struct lttng_gen *g)
{
	uint8_t sizes[5];
	if (!plants(g, LV_FACILITIES, GEN_MODEL))
		return;
	lttng_gen_sizes(g, sizes);
	uint32_t checksum = (uint32_t)choices_u64(g->c);
	lttng_gen_load(g, last_declarations(g), choices_chance(g->c, 1, 2) ? "other" : "kernel", 1, checksum, sizes);
}

void lttng_break_user_facility_prefix(struct lttng_gen *g)
{
	static const struct lttng_kind *const none;
	uint8_t sizes[5];
	if (!plants(g, LV_FACILITIES, GEN_MODEL))
		return;
	lttng_gen_sizes(g, sizes);
	uint32_t crc = lttng_gen_xml(g, &lttng_gen_file(g, "eventdefs/user_tasks.xml")->b, "user_tasks", &none, 0);
	uint32_t id = 5 + (uint32_t)choices_below(g->c, 100);
	lttng_gen_load(g, declarations(g), "tasks", id, crc, sizes);
}
