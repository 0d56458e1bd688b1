/* Breakers: the defects of events and declarations. */
#include "formats/lttng/gen/break/lttng_target.h"

#include <stdio.h>
#include <string.h>

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

BREAKER_OF(zero_hole, GEN_PLANT, g->versions = LV_ALL)
{
	(void)bytes_grow(&g->plant->b, (size_t)(80 + choices_below(g->c, 200)));
}

BREAKER_OF(event_before_begin, GEN_PLANT, g->want_heartbeat = 0, g->versions = LV_ALL)
{
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.stamp = g->plant->begin - 1 - choices_below(g->c, 999);
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(tsc_not_monotonic, GEN_PLANT, g->want_heartbeat = 0, g->versions = LV_ALL)
{
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	if (g->plant->stamp == g->plant->begin) {
		put.stamp++; /* the block has but one event yet: another one before the step back */
		lttng_gen_put(g, g->plant, &put);
	}
	put.stamp = g->plant->begin + choices_below(g->c, g->plant->stamp - g->plant->begin);
	lttng_gen_put(g, g->plant, &put);
}

/* Wraps with a full stamp, so many that the trace is known to announce them; then some without. */
BREAKER_OF(unannounced_wraps, GEN_PLANT, g->want_exact_arch = true, g->versions = LV_NEW & ~LTTNG_V(LV_2_0_64))
{
	for (unsigned i = 0; i < 48; i++) {
		struct lttng_put put = an_event(g);
		put.stamp += LTTNG_TIME_MASK - (UINT64_C(1) << 24) - choices_below(g->c, 999);
		put.form = i < 40 ? (int)LTTNG_FORM_FULL : put.id >= LTTNG_FORM_FULL ? (int)LTTNG_FORM_ID : (int)put.id;
		lttng_gen_put(g, g->plant, &put);
	}
}

BREAKER_OF(full_stamp_low_bits, GEN_PLANT, g->versions = LV_NEW)
{
	struct lttng_put put = an_event(g);
	put.form = (int)LTTNG_FORM_FULL;
	put.word_xor = UINT32_C(1) << choices_below(g->c, LTTNG_TIME_BITS);
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(heartbeat_in_nohb_trace, GEN_PLANT, g->want_heartbeat = 0, g->versions = LV_OLD)
{
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

BREAKER_OF(payload_truncated, GEN_PLANT, g->versions = LV_ALL)
{
	cross_end(g, wide_id(g), g->alignment ? (g->l->natural ? 8 : g->alignment) : 1);
}

BREAKER_OF(string_not_terminated, GEN_PLANT, g->versions = LV_ALL)
{
	cross_end(g, wide_id(g) + 1, 1);
}

/* An id that fits the event word and that no event type of the first channel has; 0: its first type has a low one itself. */
static uint32_t low_id(const struct lttng_gen *g)
{
	uint32_t first = g->first_id[0];
	return 19 < first || 19 >= first + g->kind_count + 2 ? 19 : 0;
}

static void new_versions(struct lttng_gen *g)
{
	g->versions = LV_NEW;
}

static void declare_low_id(struct lttng_gen *g)
{
	uint8_t sizes[5];
	if (!low_id(g))
		return;
	lttng_gen_sizes(g, sizes);
	lttng_gen_declare_id(g, &g->files[0], g->channels[0], "low", low_id(g), sizes);
	lttng_gen_declare_format(g, &g->files[0], g->channels[0], "low", " ");
}

static void use_low_id(struct lttng_gen *g)
{
	struct lttng_put put = { .id = low_id(g), .form = (int)LTTNG_FORM_ID, .align = 1, .stamp = g->plant->stamp + 1 };
	raw(g, 0);
	if (!put.id) {
		put.id = lttng_gen_id(g, 0, 0);
		put.align = lttng_gen_payload(g, &lttng_kinds[0]);
	}
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_STAGES(reserved_id_used, [GEN_SHAPE] = new_versions, [GEN_MODEL] = declare_low_id, [GEN_PLANT] = use_low_id)

static void aligned(struct lttng_gen *g)
{
	g->versions = LV_ALL;
	g->want_aligned = 1;
	g->min_blocks = 1;
}

/* A text of one letter, behind which the next event cannot begin at once. In 0.x texts are padded, and headers are not. */
static void put_letter(struct lttng_gen *g)
{
	struct lttng_put put = { .id = wide_id(g) + 1, .form = -1, .align = 1, .stamp = g->plant->stamp + 1 };
	if (g->l->era == LTTNG_FACILITIES)
		return;
	raw(g, 1);
	bytes_u8(&g->scratch, 0);
	lttng_gen_put(g, g->plant, &put);
}

static void fill_gap(struct lttng_gen *g)
{
	unsigned first = (unsigned)choices_below(g->c, g->event_count ? g->event_count : 1);
	for (unsigned i = 0; i < g->event_count; i++) {
		const struct lttng_made_event *e = &g->events[(first + i) % g->event_count];
		uint8_t *data = g->files[e->file].b.data;
		uint64_t at = e->before < e->start ? e->before : e->header_end < e->payload ? e->header_end : 0;
		if (!at)
			continue;
		data[at] = (uint8_t)(1 + choices_below(g->c, 255));
		return;
	}
}

BREAKER_STAGES(event_alignment_nonzero_pad, [GEN_SHAPE] = aligned, [GEN_PLANT] = put_letter, [GEN_BYTES] = fill_gap)

BREAKER_OF(dangling_event_id, GEN_PLANT, g->versions = LV_ALL & ~LV_FACILITIES)
{
	struct lttng_put put = { .id = 30000 + (uint32_t)choices_below(g->c, 30000), .form = -1, .stamp = g->plant->stamp + 1 };
	if (g->l->era > LTTNG_MARKERS && choices_chance(g->c, 1, 2))
		put.form = (int)LTTNG_FORM_SIZE;
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(dangling_facility_id, GEN_PLANT, g->versions = LV_FACILITIES)
{
	struct lttng_put put = { .id = 0xc000 + (uint32_t)choices_below(g->c, 0x3000), .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(event_id_out_of_facility, GEN_PLANT, g->versions = LV_FACILITIES)
{
	struct lttng_put put = { .id = 0x100 + 100 + (uint32_t)choices_below(g->c, 100), .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(event_size_mismatch, GEN_PLANT, g->versions = LV_ALL)
{
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.size_error = choices_chance(g->c, 1, 2) && g->scratch.size ? -1 : 1 + (int)choices_below(g->c, 900);
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(event_size_escape_small, GEN_PLANT, g->versions = LV_ALL)
{
	struct lttng_put put = an_event(g);
	put.form = g->l->era > LTTNG_MARKERS ? (int)LTTNG_FORM_FULL : -1;
	put.escape = true;
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_OF(core_id_in_data_file, GEN_PLANT, g->versions = LV_ONE | LV_TRACE)
{
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

static void with_markers(struct lttng_gen *g)
{
	g->versions = LV_ALL & ~LV_FACILITIES;
}

static void declare_without_format(struct lttng_gen *g)
{
	declare(g, g->channels[0], "nothing", 20000, NULL);
}

static void use_without_format(struct lttng_gen *g)
{
	if (choices_chance(g->c, 1, 3))
		return;
	struct lttng_put put = { .id = 20000, .form = -1, .stamp = g->plant->stamp + 1 };
	raw(g, choices_below(g->c, 40));
	lttng_gen_put(g, g->plant, &put);
}

BREAKER_STAGES(
	event_without_format, [GEN_SHAPE] = with_markers, [GEN_MODEL] = declare_without_format, [GEN_PLANT] = use_without_format)

BREAKER_OF(non_core_in_facilities, GEN_MODEL, g->versions = LV_ALL)
{
	struct lttng_put put = { .id = lttng_gen_id(g, 0, 4) + 0x100, .form = -1, .stamp = g->declare_stamp + 1 };
	if (g->l->era > LTTNG_MARKERS && choices_chance(g->c, 1, 2))
		put.form = (int)LTTNG_FORM_FULL;
	raw(g, choices_below(g->c, 20));
	g->declare_stamp++;
	lttng_gen_put(g, declarations(g), &put);
}

BREAKER_OF(reserved_id_range, GEN_MODEL, g->versions = LV_ONE)
{
	declare(g, "", "reserved", 4 + (uint32_t)choices_below(g->c, 4), " ");
}

BREAKER_OF(metadata_payload_length, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
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

BREAKER_OF(declared_sizes_implausible, GEN_MODEL, g->versions = LV_ALL)
{
	uint8_t sizes[5];
	lttng_gen_sizes(g, sizes);
	uint8_t size = (uint8_t)(9 + choices_below(g->c, 200));
	sizes[choices_below(g->c, 4)] = size;
	declare_sizes(g, sizes);
}

BREAKER_OF(declared_sizes_vary, GEN_MODEL, g->versions = LV_ALL)
{
	uint8_t sizes[5];
	lttng_gen_sizes(g, sizes);
	sizes[choices_chance(g->c, 1, 2) ? SIZE_LONG : SIZE_SIZE_T] = g->arch == 8 ? 4 : 8;
	declare_sizes(g, sizes);
}

BREAKER_OF(duplicate_declaration, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	unsigned kind = (unsigned)choices_below(g->c, g->kind_count);
	declare(g, g->channels[0], lttng_kinds[kind].name, lttng_gen_id(g, 0, kind), lttng_kinds[kind].format);
}

BREAKER_OF(id_redefined, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	declare(g, g->channels[0], "other", lttng_gen_id(g, 0, (unsigned)choices_below(g->c, g->kind_count)), NULL);
}

BREAKER_OF(name_with_two_ids, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	uint32_t id = free_id(g);
	declare(g, g->channels[0], lttng_kinds[choices_below(g->c, g->kind_count)].name, id, NULL);
}

BREAKER_OF(format_conflict, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	lttng_gen_declare_format(g, last_declarations(g), g->channels[0], lttng_kinds[choices_below(g->c, g->kind_count)].name,
				 "other %c");
}

BREAKER_OF(format_syntax, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	static const char *const texts[] = { "a %f", "a %d b %*d", "a %n", "a #3u%u", "count %5u", "a %", "b #2u" };
	const char *text = texts[choices_below(g->c, 7)];
	declare(g, g->channels[0], "strange", free_id(g), text);
}

BREAKER_OF(format_qualifier_8_ambiguous, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	static const char *const texts[] = { "a #8u%u", "time #8d%d", "x %d y #8x%hx" };
	const char *text = texts[choices_below(g->c, 3)];
	declare(g, g->channels[0], "eight", free_id(g), text);
}

BREAKER_OF(format_unnamed_field, GEN_MODEL, g->versions = LV_ALL & ~LV_FACILITIES)
{
	static const char *const texts[] = { "%d", "a %d%u", "#4u%u", "a %s %lu" };
	const char *text = texts[choices_below(g->c, 4)];
	declare(g, g->channels[0], "unnamed", free_id(g), text);
}

BREAKER_OF(unknown_channel_in_metadata, GEN_MODEL, g->versions = LV_CHANNEL)
{
	static const char *const names[] = { "ghost", "kprobe_state", "ext4" };
	uint32_t id = (uint32_t)choices_below(g->c, 100);
	declare(g, names[choices_below(g->c, 3)], "unseen", id, " ");
}

BREAKER_OF(undeclared_channel, GEN_BYTES, g->versions = LV_CHANNEL)
{
	struct lttng_made_file *f = &g->files[g->data_first + choices_below(g->c, g->channel_count * g->cpu_count)];
	(void)snprintf(f->name, sizeof(f->name), "orphan_%u", f->cpu);
}

BREAKER(declaration_after_use, GEN_SHAPE)
{
	g->early = true;
	g->versions = LV_ALL & ~LV_FACILITIES;
}

BREAKER(facility_checksum, GEN_SHAPE)
{
	g->checksum_xor = 1 + (uint32_t)choices_below(g->c, UINT32_MAX);
	g->versions = LV_FACILITIES;
}

BREAKER_OF(facility_record_conflict, GEN_MODEL, g->versions = LV_FACILITIES)
{
	uint8_t sizes[5];
	lttng_gen_sizes(g, sizes);
	uint32_t checksum = (uint32_t)choices_u64(g->c);
	lttng_gen_load(g, last_declarations(g), choices_chance(g->c, 1, 2) ? "other" : "kernel", 1, checksum, sizes);
}

BREAKER_OF(misnumbered_facility, GEN_BYTES, lttng_target_shape(g, LV_FACILITIES, 3))
{
	const uint32_t number = 3 + (uint32_t)choices_below(g->c, 250);
	if (!g->load->b.failed)
		store_u32(g->load->b.data + g->load_number, number, g->big);
}

BREAKER_OF(user_facility_prefix, GEN_MODEL, g->versions = LV_FACILITIES)
{
	static const struct lttng_kind *const none;
	uint8_t sizes[5];
	lttng_gen_sizes(g, sizes);
	uint32_t crc = lttng_gen_xml(g, &lttng_gen_file(g, "eventdefs/user_tasks.xml")->b, "user_tasks", &none, 0);
	uint32_t id = 5 + (uint32_t)choices_below(g->c, 100);
	lttng_gen_load(g, declarations(g), "tasks", id, crc, sizes);
}
