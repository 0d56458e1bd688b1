/* Breakers: the defects of events and declarations. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <string.h>

/* Says what trace is needed, and whether this is the stage in which the breaker adds its own. */
static bool plants(struct lttng_gen *k, uint32_t versions, enum lttng_stage stage)
{
	if (k->stage == LTTNG_SHAPE)
		k->versions = versions;
	return k->stage == stage;
}

/* An event of a kind that the channel has, a moment after the last one. */
static struct lttng_put an_event(struct lttng_gen *k)
{
	unsigned kind = (unsigned)choices_below(k->c, k->kind_count);
	struct lttng_put put = { .id = lttng_gen_id(k, k->plant->channel, kind), .form = -1, .stamp = k->plant->stamp + 1 };
	put.align = lttng_gen_payload(k, &lttng_kinds[kind]);
	return put;
}

static void raw(struct lttng_gen *k, uint64_t n)
{
	k->scratch.size = 0;
	uint8_t *p = bytes_grow(&k->scratch, (size_t)n);
	for (uint64_t i = 0; p && i < n; i++)
		p[i] = (uint8_t)(1 + choices_below(k->c, 255));
}

static uint32_t wide_id(const struct lttng_gen *k)
{
	return lttng_gen_id(k, k->plant->channel, k->kind_count);
}

/* ---- events ---- */

void lttng_break_zero_hole(struct lttng_gen *k)
{
	if (plants(k, LV_ALL, LTTNG_PLANT))
		(void)bytes_grow(&k->plant->b, (size_t)(80 + choices_below(k->c, 200)));
}

void lttng_break_event_before_begin(struct lttng_gen *k)
{
	k->want_heartbeat = 0;
	if (!plants(k, LV_ALL, LTTNG_PLANT))
		return;
	struct lttng_put put = an_event(k);
	put.form = k->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.stamp = k->plant->begin - 1 - choices_below(k->c, 999);
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_tsc_not_monotonic(struct lttng_gen *k)
{
	k->want_heartbeat = 0;
	if (!plants(k, LV_ALL, LTTNG_PLANT))
		return;
	struct lttng_put put = an_event(k);
	put.form = k->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	if (k->plant->stamp == k->plant->begin) {
		put.stamp++; /* the block has but one event yet: another one before the step back */
		lttng_gen_put(k, k->plant, &put);
	}
	put.stamp = k->plant->begin + choices_below(k->c, k->plant->stamp - k->plant->begin);
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_full_stamp_low_bits(struct lttng_gen *k)
{
	if (!plants(k, LV_NEW, LTTNG_PLANT))
		return;
	struct lttng_put put = an_event(k);
	put.form = (int)LTTNG_FORM_FULL;
	put.word_xor = UINT32_C(1) << choices_below(k->c, LTTNG_TIME_BITS);
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_heartbeat_in_nohb_trace(struct lttng_gen *k)
{
	k->want_heartbeat = 0;
	if (!plants(k, LV_OLD, LTTNG_PLANT))
		return;
	struct lttng_put put = { .id = 2, .form = -1, .stamp = k->plant->stamp + 1 };
	raw(k, 0);
	lttng_gen_put(k, k->plant, &put);
}

/* Fills the block, up to an event that does not end in it. */
static void cross_end(struct lttng_gen *k, uint32_t id, uint8_t align)
{
	struct lttng_made_file *f = k->plant;
	uint64_t stamp = f->stamp;
	while (!f->b.failed && f->limit - (f->b.size - f->block) > 300)
		lttng_gen_event(k, f, ++stamp, false);
	stamp++;
	struct lttng_put put = { .id = id, .form = -1, .align = align, .stamp = stamp, .cut = f->limit };
	raw(k, 320);
	lttng_gen_put(k, f, &put);
	lttng_gen_close(k, f, stamp + 1);
	lttng_gen_open(k, f, stamp + 1);
}

void lttng_break_payload_truncated(struct lttng_gen *k)
{
	if (plants(k, LV_ALL, LTTNG_PLANT))
		cross_end(k, wide_id(k), k->alignment ? (k->l->natural ? 8 : k->alignment) : 1);
}

void lttng_break_string_not_terminated(struct lttng_gen *k)
{
	if (plants(k, LV_ALL, LTTNG_PLANT))
		cross_end(k, wide_id(k) + 1, 1);
}

/* An id that fits the event word and that no event type of the first channel has; 0: its first type has a low one itself. */
static uint32_t low_id(const struct lttng_gen *k)
{
	uint32_t first = k->first_id[0];
	return 19 < first || 19 >= first + k->kind_count + 2 ? 19 : 0;
}

void lttng_break_reserved_id_used(struct lttng_gen *k)
{
	if (k->stage == LTTNG_DECLARE && low_id(k)) {
		uint8_t sizes[5];
		lttng_gen_sizes(k, sizes);
		lttng_gen_declare_id(k, &k->files[0], k->channels[0], "low", low_id(k), sizes);
		lttng_gen_declare_format(k, &k->files[0], k->channels[0], "low", " ");
	}
	if (!plants(k, LV_NEW, LTTNG_PLANT))
		return;
	struct lttng_put put = { .id = low_id(k), .form = (int)LTTNG_FORM_ID, .align = 1, .stamp = k->plant->stamp + 1 };
	raw(k, 0);
	if (!put.id) {
		put.id = lttng_gen_id(k, 0, 0);
		put.align = lttng_gen_payload(k, &lttng_kinds[0]);
	}
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_dangling_event_id(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_PLANT))
		return;
	struct lttng_put put = { .id = 30000 + (uint32_t)choices_below(k->c, 30000), .form = -1, .stamp = k->plant->stamp + 1 };
	if (k->l->era > LTTNG_MARKERS && choices_chance(k->c, 1, 2))
		put.form = (int)LTTNG_FORM_SIZE;
	raw(k, choices_below(k->c, 40));
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_dangling_facility_id(struct lttng_gen *k)
{
	if (!plants(k, LV_FACILITIES, LTTNG_PLANT))
		return;
	struct lttng_put put = { .id = 0xc000 + (uint32_t)choices_below(k->c, 0x3000), .form = -1, .stamp = k->plant->stamp + 1 };
	raw(k, choices_below(k->c, 40));
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_event_id_out_of_facility(struct lttng_gen *k)
{
	if (!plants(k, LV_FACILITIES, LTTNG_PLANT))
		return;
	struct lttng_put put = { .id = 0x100 + 100 + (uint32_t)choices_below(k->c, 100), .form = -1, .stamp = k->plant->stamp + 1 };
	raw(k, choices_below(k->c, 40));
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_event_size_mismatch(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL, LTTNG_PLANT))
		return;
	struct lttng_put put = an_event(k);
	put.form = k->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.size_error = choices_chance(k->c, 1, 2) && k->scratch.size ? -1 : 1 + (int)choices_below(k->c, 900);
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_event_size_escape_small(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL, LTTNG_PLANT))
		return;
	struct lttng_put put = an_event(k);
	put.form = k->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.escape = true;
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_core_id_in_data_file(struct lttng_gen *k)
{
	if (!plants(k, LV_ONE | LV_TRACE, LTTNG_PLANT))
		return;
	struct lttng_put put = { .id = (uint32_t)choices_below(k->c, 2), .form = -1, .stamp = k->plant->stamp + 1 };
	raw(k, 4 + choices_below(k->c, 20));
	lttng_gen_put(k, k->plant, &put);
}

/* ---- declarations ---- */

static struct lttng_made_file *declarations(struct lttng_gen *k)
{
	return &k->files[choices_below(k->c, k->cpu_count)];
}

/* The file that is read last, so that what contradicts the others does so. */
static struct lttng_made_file *last_declarations(struct lttng_gen *k)
{
	return &k->files[k->cpu_count - 1];
}

/* One more event type, which no event has. */
static void declare(struct lttng_gen *k, const char *channel, const char *name, uint32_t id, const char *format)
{
	uint8_t sizes[5];
	struct lttng_made_file *f = last_declarations(k);
	lttng_gen_sizes(k, sizes);
	lttng_gen_declare_id(k, f, channel, name, id, sizes);
	if (format)
		lttng_gen_declare_format(k, f, channel, name, format);
}

static uint32_t free_id(struct lttng_gen *k)
{
	return 20000 + (uint32_t)choices_below(k->c, 10000);
}

void lttng_break_event_without_format(struct lttng_gen *k)
{
	if (k->stage == LTTNG_DECLARE)
		declare(k, k->channels[0], "nothing", 20000, NULL);
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_PLANT) || choices_chance(k->c, 1, 3))
		return;
	struct lttng_put put = { .id = 20000, .form = -1, .stamp = k->plant->stamp + 1 };
	raw(k, choices_below(k->c, 40));
	lttng_gen_put(k, k->plant, &put);
}

void lttng_break_non_core_in_facilities(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL, LTTNG_DECLARE))
		return;
	struct lttng_put put = { .id = lttng_gen_id(k, 0, 4) + 0x100, .form = -1, .stamp = k->declare_stamp + 1 };
	if (k->l->era > LTTNG_MARKERS && choices_chance(k->c, 1, 2))
		put.form = (int)LTTNG_FORM_FULL;
	raw(k, choices_below(k->c, 20));
	k->declare_stamp++;
	lttng_gen_put(k, declarations(k), &put);
}

void lttng_break_reserved_id_range(struct lttng_gen *k)
{
	if (plants(k, LV_ONE, LTTNG_DECLARE))
		declare(k, "", "reserved", 4 + (uint32_t)choices_below(k->c, 4), " ");
}

void lttng_break_metadata_payload_length(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		return;
	struct lttng_made_file *f = declarations(k);
	uint64_t extra = 1 + choices_below(k->c, 30);
	struct lttng_put put = {
		.id = 1, .form = k->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1, .align = 1, .stamp = ++k->declare_stamp
	};
	k->scratch.size = 0;
	if (k->l->era == LTTNG_CHANNEL_MARKERS)
		bytes_append(&k->scratch, k->channels[0], strlen(k->channels[0]) + 1);
	bytes_append(&k->scratch, "long\0value %d", sizeof("long\0value %d"));
	for (uint64_t i = 0; i < extra; i++)
		bytes_u8(&k->scratch, 'x');
	lttng_gen_put(k, f, &put);
}

/* A declaration whose sizes are not those of the machine. */
static void declare_sizes(struct lttng_gen *k, const uint8_t sizes[5])
{
	struct lttng_made_file *f = declarations(k);
	if (k->l->era == LTTNG_FACILITIES) {
		lttng_gen_load(k, f, "core", 0, 0, sizes);
		return;
	}
	lttng_gen_declare_id(k, f, k->channels[0], "machine", free_id(k), sizes);
	lttng_gen_declare_format(k, f, k->channels[0], "machine", " ");
}

void lttng_break_declared_sizes_implausible(struct lttng_gen *k)
{
	uint8_t sizes[5];
	if (!plants(k, LV_ALL, LTTNG_DECLARE))
		return;
	lttng_gen_sizes(k, sizes);
	uint8_t size = (uint8_t)(9 + choices_below(k->c, 200));
	sizes[choices_below(k->c, 4)] = size;
	declare_sizes(k, sizes);
}

void lttng_break_declared_sizes_vary(struct lttng_gen *k)
{
	uint8_t sizes[5];
	if (!plants(k, LV_ALL, LTTNG_DECLARE))
		return;
	lttng_gen_sizes(k, sizes);
	sizes[choices_chance(k->c, 1, 2) ? SIZE_LONG : SIZE_SIZE_T] = k->arch == 8 ? 4 : 8;
	declare_sizes(k, sizes);
}

void lttng_break_duplicate_declaration(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		return;
	unsigned kind = (unsigned)choices_below(k->c, k->kind_count);
	declare(k, k->channels[0], lttng_kinds[kind].name, lttng_gen_id(k, 0, kind), lttng_kinds[kind].format);
}

void lttng_break_id_redefined(struct lttng_gen *k)
{
	if (plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		declare(k, k->channels[0], "other", lttng_gen_id(k, 0, (unsigned)choices_below(k->c, k->kind_count)), NULL);
}

void lttng_break_name_with_two_ids(struct lttng_gen *k)
{
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		return;
	uint32_t id = free_id(k);
	declare(k, k->channels[0], lttng_kinds[choices_below(k->c, k->kind_count)].name, id, NULL);
}

void lttng_break_format_conflict(struct lttng_gen *k)
{
	if (plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		lttng_gen_declare_format(k, last_declarations(k), k->channels[0],
					 lttng_kinds[choices_below(k->c, k->kind_count)].name, "other %c");
}

void lttng_break_format_syntax(struct lttng_gen *k)
{
	static const char *const texts[] = { "a %f", "a %d b %*d", "a %n", "a #3u%u", "count %5u", "a %", "b #2u" };
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		return;
	const char *text = texts[choices_below(k->c, 7)];
	declare(k, k->channels[0], "strange", free_id(k), text);
}

void lttng_break_format_qualifier_8_ambiguous(struct lttng_gen *k)
{
	static const char *const texts[] = { "a #8u%u", "time #8d%d", "x %d y #8x%hx" };
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		return;
	const char *text = texts[choices_below(k->c, 3)];
	declare(k, k->channels[0], "eight", free_id(k), text);
}

void lttng_break_format_unnamed_field(struct lttng_gen *k)
{
	static const char *const texts[] = { "%d", "a %d%u", "#4u%u", "a %s %lu" };
	if (!plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE))
		return;
	const char *text = texts[choices_below(k->c, 4)];
	declare(k, k->channels[0], "unnamed", free_id(k), text);
}

void lttng_break_unknown_channel_in_metadata(struct lttng_gen *k)
{
	static const char *const names[] = { "ghost", "kprobe_state", "ext4" };
	if (!plants(k, LV_CHANNEL, LTTNG_DECLARE))
		return;
	uint32_t id = (uint32_t)choices_below(k->c, 100);
	declare(k, names[choices_below(k->c, 3)], "unseen", id, " ");
}

void lttng_break_undeclared_channel(struct lttng_gen *k)
{
	if (!plants(k, LV_CHANNEL, LTTNG_FINISH))
		return;
	struct lttng_made_file *f = &k->files[k->data_first + choices_below(k->c, k->channel_count * k->cpu_count)];
	(void)snprintf(f->name, sizeof(f->name), "orphan_%u", f->cpu);
}

void lttng_break_declaration_after_use(struct lttng_gen *k)
{
	k->early = true;
	(void)plants(k, LV_ALL & ~LV_FACILITIES, LTTNG_DECLARE);
}

void lttng_break_facility_checksum(struct lttng_gen *k)
{
	if (k->stage == LTTNG_SHAPE)
		k->checksum_xor = 1 + (uint32_t)choices_below(k->c, UINT32_MAX);
	(void)plants(k, LV_FACILITIES, LTTNG_DECLARE);
}

void lttng_break_facility_record_conflict(struct lttng_gen *k)
{
	uint8_t sizes[5];
	if (!plants(k, LV_FACILITIES, LTTNG_DECLARE))
		return;
	lttng_gen_sizes(k, sizes);
	uint32_t checksum = (uint32_t)choices_u64(k->c);
	lttng_gen_load(k, last_declarations(k), choices_chance(k->c, 1, 2) ? "other" : "kernel", 1, checksum, sizes);
}

void lttng_break_user_facility_prefix(struct lttng_gen *k)
{
	static const struct lttng_kind *const none;
	uint8_t sizes[5];
	if (!plants(k, LV_FACILITIES, LTTNG_DECLARE))
		return;
	lttng_gen_sizes(k, sizes);
	uint32_t crc = lttng_gen_xml(k, &lttng_gen_file(k, "eventdefs/user_tasks.xml")->b, "user_tasks", &none, 0);
	uint32_t id = 5 + (uint32_t)choices_below(k->c, 100);
	lttng_gen_load(k, declarations(k), "tasks", id, crc, sizes);
}
