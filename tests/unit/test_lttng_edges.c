/* formats/lttng: values of block headers at the edges of what is accepted, and the facts of generated traces against their files.
 */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/facts.h"
#include "engine/engine.h"
#include "formats/lttng/decode/lttng_layout.h"
#include "formats/lttng/lttng.h"
#include "formats/lttng/salvage/lttng_salvage.h"

extern const struct format lttng_format;

static struct tracemend_sample *sample;
static struct capture c;
static struct facts facts;
static uint64_t records;
static char first[300]; /* what is said first of a type without a format */

/* A generated trace, whose files can be changed. */
static void begin(uint64_t seed)
{
	const struct tracemend_recipe recipe = { .format = "lttng", .profile = "wire", .seed = seed, .size = 60000 };
	struct tracemend_error error = { 0 };

	sample = tracemend_generate(&recipe, &error);
	assert_non_null(sample);
	capture_from_sample(&c, sample);
	for (size_t i = 0; i < c.count; i++) {
		struct capture_file *f = &c.files[i];
		f->owned = malloc(f->size + 1);
		assert_non_null(f->owned);
		memcpy(f->owned, f->data, f->size);
		f->data = f->owned;
	}
}

static void end(void)
{
	facts_free(&facts);
	capture_free(&c);
	tracemend_sample_free(sample);
}

static uint64_t reported(enum lttng_rule rule)
{
	struct tracemend_options options = { 0 };
	struct scan s = { .in = capture_bundle(&c, NULL, NULL), .profile = "wire", .facts = &facts };

	facts_free(&facts);
	facts = (struct facts){ 0 };
	assert_non_null(s.in);
	s.findings = findings_new(lttng_format.rules, lttng_format.rule_count, &options);
	assert_non_null(s.findings);
	assert_int_equal(lttng_format.scan(&s), TM_OK);
	uint64_t count = findings_count(s.findings, rule);
	records = s.records;
	*first = '\0';
	for (size_t i = findings_kept_count(s.findings); i-- > 0;)
		if (findings_kept_at(s.findings, i)->rule == &lttng_format.rules[LTTNG_RULE_event_without_format])
			(void)snprintf(first, sizeof(first), "%s", findings_kept_at(s.findings, i)->message);
	findings_free(s.findings);
	bundle_free(s.in);
	return count;
}

static const char *fact(const char *key)
{
	for (size_t i = 0; i < facts.count; i++)
		if (!strcmp(facts.list[i].key, key))
			return facts.list[i].value;
	fail_msg("no fact '%s'", key);
	return NULL;
}

/* The layout of a file that has blocks; NULL: it is another one. */
static const struct lttng_layout *layout_of(const struct capture_file *f, bool *big)
{
	int major, minor;
	return strchr(f->name, '_') && !strstr(f->name, ".xml") ? lttng_identify(f->data, f->size, big, &major, &minor) : NULL;
}

/* Bytes of the block at an offset of a sound file. */
static uint64_t block_size(const struct capture_file *f, size_t at, const struct lttng_layout *l, bool big)
{
	struct lttng_header h;
	lttng_header_load(&h, l, big, f->data + at);
	return h.v[LF_SIZE];
}

/* Sets a field in the header of every block of the trace. */
static void set_all(enum lttng_field field, uint64_t value)
{
	for (size_t i = 0; i < c.count; i++) {
		struct capture_file *f = &c.files[i];
		bool big;
		const struct lttng_layout *l = layout_of(f, &big);
		for (size_t at = 0; l && at < f->size; at += block_size(f, at, l, big))
			lttng_header_store(f->owned + at, l, big, field, value);
	}
}

/* The start time has less than a second beside its seconds, in microseconds. */
static void fractions_of_a_second(void **state)
{
	unsigned seen = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		bool big;
		begin(seed);
		const struct lttng_layout *l = NULL;
		for (size_t i = 0; i < c.count && !l; i++)
			l = layout_of(&c.files[i], &big);
		if (l && lttng_has(l, LF_SUBSEC)) {
			seen++;
			set_all(LF_SUBSEC, 999999);
			assert_int_equal(reported(LTTNG_RULE_start_time_subsecond_range), 0);
			set_all(LF_SUBSEC, 1000000);
			assert_int_equal(reported(LTTNG_RULE_start_time_subsecond_range), 1);
		}
		end();
	}
	assert_true(seen > 10);
}

/* A file of nothing but the magic number of CTF, or of less than that. */
static void a_magic_number_is_enough(void **state)
{
	static const uint32_t magics[] = { UINT32_C(0xC1FC1FC1), UINT32_C(0xC11FFCC1) };
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool big;
		begin(1);
		struct capture_file *f = NULL;
		for (size_t k = 0; k < c.count && !f; k++)
			if (layout_of(&c.files[k], &big) && !strstr(c.files[k].name, "metadata") &&
			    !strstr(c.files[k].name, "facilities"))
				f = &c.files[k];
		if (!f)
			fail_msg("no file of a channel");
		else
			f->size = 4 - i % 2, store_u32(f->owned, magics[i / 2], false);
		assert_int_equal(reported(LTTNG_RULE_foreign_format), 1 - i % 2);
		end();
	}
}

/* From 2.5 on a header says how many bytes of its block are data, itself included. */
static void data_within_its_block(void **state)
{
	unsigned seen = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		begin(seed);
		for (size_t i = 0; i < c.count; i++) {
			struct capture_file *f = &c.files[i];
			bool big;
			const struct lttng_layout *l = layout_of(f, &big);
			if (!l || !l->variable || f->size < 2 * LTTNG_PAGE || strstr(f->name, "metadata"))
				continue;
			uint64_t size = block_size(f, 0, l, big);
			if (size >= f->size)
				continue;
			const uint64_t good[] = { l->size, size }, bad[] = { l->size - 1u, size + 1 };
			for (unsigned k = 0; k < 2; k++) {
				lttng_header_store(f->owned, l, big, LF_UNUSED, good[k]);
				assert_int_equal(reported(LTTNG_RULE_data_size_range), 0);
				lttng_header_store(f->owned, l, big, LF_UNUSED, bad[k]);
				assert_int_equal(reported(LTTNG_RULE_data_size_range), 1);
			}
			seen++;
			break;
		}
		end();
	}
	assert_true(seen >= 3);
}

/* Files, CPUs, blocks, events, byte order: against names, sizes and headers. */
static void facts_are_those_of_the_files(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		unsigned long long files = 0, blocks = 0, cpus = 0;
		bool big = false;
		begin(seed);
		for (size_t i = 0; i < c.count; i++) {
			const struct capture_file *f = &c.files[i];
			const struct lttng_layout *l = layout_of(f, &big);
			if (!l)
				continue;
			unsigned long long cpu = strtoull(strrchr(f->name, '_') + 1, NULL, 10);
			cpus = cpu + 1 > cpus ? cpu + 1 : cpus;
			files++;
			for (size_t at = 0; at < f->size; at += block_size(f, at, l, big))
				blocks++;
		}
		(void)reported(0);
		assert_int_equal(strtoull(fact("files"), NULL, 10), files);
		assert_int_equal(strtoull(fact("cpus"), NULL, 10), cpus);
		assert_int_equal(strtoull(fact("blocks"), NULL, 10), blocks);
		assert_int_equal(strtoull(fact("events"), NULL, 10), records);
		assert_string_equal(fact("byte order"), big ? "big-endian" : "little-endian");
		end();
	}
}

/* Declarations count where the version has them, and under the name that it has for them: else there are none. */
static void declarations_have_their_place(void **state)
{
	unsigned eras = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++)
		for (unsigned how = 0; how < 3; how++) {
			bool moved = false;
			begin(seed);
			for (size_t i = 0; i < c.count; i++) {
				struct capture_file *f = &c.files[i];
				bool big;
				const struct lttng_layout *l = layout_of(f, &big);
				char *word = strstr(f->name, "metadata_"), *other = strstr(f->name, "facilities_");
				if (!l || (!word && !other))
					continue;
				if (l->era == LTTNG_CHANNEL_MARKERS && strchr(f->name, '/'))
					continue; /* of user space, in a directory of its own */
				char cpu[16], name[64];
				(void)snprintf(cpu, sizeof(cpu), "%s", strrchr(f->name, '_') + 1);
				bool old = l->era <= LTTNG_MARKERS, control = l->era != LTTNG_CHANNEL_MARKERS;
				eras |= 1u << l->era;
				assert_int_equal(old, other != NULL);
				if (how == 1)
					old = !old;
				if (how == 2)
					control = !control;
				(void)snprintf(name, sizeof(name), "%s%s_%s", control ? "control/" : "",
					       old ? "facilities" : "metadata", cpu);
				assert_true(how || strstr(f->name, name));
				(void)snprintf(f->name, sizeof(f->name), "%s", name);
				moved = how > 0;
			}
			bool none = reported(LTTNG_RULE_no_metadata_file) || reported(LTTNG_RULE_control_dir_missing);
			if (none != moved)
				fail_msg("seed %u, names %u: %d", (unsigned)seed, how, none);
			end();
		}
	assert_true(eras == 15);
}

/* A facility whose only event has a type of so many containers, one in the other. */
static bool nested_fails(const char *open, const char *close, size_t depth)
{
	static const char head[] = "<facility name=\"kernel\"><event name=\"e\"><field name=\"f\">";
	static const char tail[] = "</field></event></facility>";
	struct bytes text = { 0 };
	bool fails = false;

	for (uint64_t seed = 1; seed <= 40 && !text.size; seed++) {
		begin(seed);
		for (size_t i = 0; i < c.count && !text.size; i++) {
			struct capture_file *f = &c.files[i];
			if (!strstr(f->name, "eventdefs/kernel.xml"))
				continue;
			bytes_text(&text, head);
			for (size_t k = 0; k < depth; k++)
				bytes_text(&text, open);
			bytes_text(&text, "<uint_fixed size=\"1\"/>");
			for (size_t k = 0; k < depth; k++)
				bytes_text(&text, close);
			bytes_text(&text, tail);
			assert_false(text.failed);
			f->data = text.data;
			f->size = text.size;
			fails = reported(LTTNG_RULE_eventdefs_syntax) > 0;
			/* One that is too large is not read, which is said. */
			assert_int_equal(text.size > LTTNG_XML_MAX, strstr(first, "at most 1048576 are read") != NULL);
		}
		end();
	}
	assert_true(text.size > 0);
	bytes_free(&text);
	return fails;
}

static void types_are_nested_so_deep(void **state)
{
	static const struct {
		const char *open, *close;
	} containers[] = {
		{ "<array size=\"1\">", "</array>" },
		{ "<struct><field name=\"x\">", "</field></struct>" },
		{ "<sequence><uint_fixed size=\"1\"/>", "</sequence>" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
		assert_false(nested_fails(containers[i].open, containers[i].close, 1));
		/* Elements of a sequence have one size, and a sequence has none. */
		assert_int_equal(nested_fails(containers[i].open, containers[i].close, 15), i == 2);
		assert_true(nested_fails(containers[i].open, containers[i].close, 40));
		assert_true(nested_fails(containers[i].open, containers[i].close, 20000));
		(void)nested_fails(containers[i].open, containers[i].close, 60000); /* more than 1 MiB */
	}
}

/* Where the last event was taken back, the full stamp that announced a wrap may be in what was left out: one wrap is allowed behind
 * it, and not three. */
static void a_wrap_behind_a_hole(void **state)
{
	const struct lttng_trace t = { .laps = LAPS_ANNOUNCED };
	struct lttng_walk w = { .at.stamp = LTTNG_TIME_MASK - 5, .laps.blind = true };
	const struct lttng_event e = { .stamp = LTTNG_TIME_MASK + 10 };
	(void)state;

	assert_true(lttng_laps_back(&t, w.at.stamp, &e));
	assert_true(lttng_laps_allow(&t, &w, &e));
	w.laps.wraps = 2;
	assert_false(lttng_laps_allow(&t, &w, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fractions_of_a_second),	cmocka_unit_test(data_within_its_block),
		cmocka_unit_test(facts_are_those_of_the_files), cmocka_unit_test(declarations_have_their_place),
		cmocka_unit_test(types_are_nested_so_deep),	cmocka_unit_test(a_magic_number_is_enough),
		cmocka_unit_test(a_wrap_behind_a_hole),
	};
	return RUN(tests);
}
