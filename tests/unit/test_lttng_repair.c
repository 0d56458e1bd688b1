/* Headers that repair of LTTng makes up: where a block's own is gone, and for declarations that are written again. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "formats/lttng/decode/lttng_layout.h"
#include "formats/lttng/repair/lttng_repair.h"
#include "tracemend.h"

extern const struct format lttng_format;

static const struct lttng_layout *layout_2_6(void)
{
	for (size_t i = 0; i < lttng_layout_count; i++)
		if (lttng_layouts[i].major == 2 && lttng_layouts[i].minor == 6)
			return &lttng_layouts[i];
	fail();
	return NULL;
}

/* The block of declarations follows the last one in time: it begins when that ends, and ends with its own last event. */
static void a_block_that_is_made_up(void **state)
{
	static uint8_t block[LTTNG_PAGE];
	struct capture c = { .count = 1, .directory = true };
	struct scan s = { .profile = "wire" };
	struct lttng_trace t = { .s = &s, .coding = { .layout = layout_2_6(), .big_endian = true } };
	struct lttng_file f = { .has_last = true };
	struct lttng_header h;
	uint8_t head[LTTNG_HEADER_MAX];
	(void)state;

	strcpy(c.files[0].name, "metadata_0");
	s.in = capture_bundle(&c, NULL, NULL);
	assert_non_null(s.in);
	s.plan = plan_new(s.in, lttng_format.rules, lttng_format.rule_count);
	assert_non_null(s.plan);
	f.output = plan_output(s.plan, "metadata_0");
	f.last.v[LF_MAGIC] = LTTNG_MAGIC;
	f.last.v[LF_BEGIN] = 100;
	f.last.v[LF_END] = 2000;
	lttng_repair_new_block(&t, &f, block, t.coding.layout->size + 100u, 2345, LTTNG_RULE_dangling_event_id);
	assert_int_equal(plan_size(s.plan, f.output), LTTNG_PAGE);
	assert_int_equal(plan_read(s.plan, f.output, 0, head, t.coding.layout->size), TM_OK);
	lttng_header_load(&h, t.coding.layout, true, head);
	assert_int_equal(h.v[LF_MAGIC], LTTNG_MAGIC);
	assert_int_equal(h.v[LF_BEGIN], 2000);
	assert_int_equal(h.v[LF_END], 2345);
	assert_int_equal(h.v[LF_SIZE], LTTNG_PAGE);
	assert_int_equal(h.v[LF_UNUSED], t.coding.layout->size + 100u);
	/* The next one follows this one. */
	assert_int_equal(f.last.v[LF_BEGIN], 2000);
	assert_int_equal(f.last.v[LF_END], 2345);
	plan_free(s.plan);
	bundle_free(s.in);
}

/* The first data file with three blocks of one size, in a generated trace of a version with a block size; NULL: there is none. */
static struct capture_file *find_file(struct capture *c, const struct lttng_layout **l, bool *big, struct lttng_header h[3])
{
	for (size_t i = 0; i < c->count; i++) {
		struct capture_file *f = &c->files[i];
		int major, minor;
		if (strstr(f->name, "metadata") || strstr(f->name, "facilities") || strstr(f->name, "compact"))
			continue;
		*l = lttng_identify(f->data, f->size, big, &major, &minor);
		if (!*l || (*l)->variable)
			continue;
		lttng_header_load(&h[0], *l, *big, f->data);
		uint64_t size = h[0].v[LF_SIZE];
		if (size < LTTNG_PAGE || f->size < 3 * size)
			continue;
		lttng_header_load(&h[1], *l, *big, f->data + size);
		lttng_header_load(&h[2], *l, *big, f->data + 2 * size);
		/* Enough events for a block without a header to count as one. */
		if (size - h[1].v[LF_UNUSED] > (*l)->size + 500u)
			return f;
	}
	return NULL;
}

/* A block whose header is gone begins when the block before it ends, and ends no later than the next one begins. */
static void a_header_that_is_gone(void **state)
{
	unsigned found = 0;
	(void)state;

	for (uint64_t seed = 1; seed <= 40 && found < 8; seed++) {
		const struct tracemend_recipe recipe = { .format = "lttng", .seed = seed, .size = 60000 };
		struct tracemend_error error = { 0 };
		struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
		const struct lttng_layout *l;
		struct lttng_header h[3], made;
		struct capture c;
		bool big;
		assert_non_null(sample);
		capture_from_sample(&c, sample);
		struct capture_file *f = find_file(&c, &l, &big, h);
		if (f) {
			const uint64_t at = h[0].v[LF_SIZE];
			uint8_t head[LTTNG_HEADER_MAX];
			f->owned = malloc(f->size);
			assert_non_null(f->owned);
			memcpy(f->owned, f->data, f->size);
			memset(f->owned + at, 0xa5, l->size);
			f->data = f->owned;
			struct scan s = { .in = capture_bundle(&c, NULL, NULL), .profile = "wire" };
			struct tracemend_options options = { 0 };
			assert_non_null(s.in);
			s.findings = findings_new(lttng_format.rules, lttng_format.rule_count, &options);
			s.plan = plan_new(s.in, lttng_format.rules, lttng_format.rule_count);
			assert_int_equal(lttng_format.scan(&s), TM_OK);
			assert_int_equal(findings_count(s.findings, LTTNG_RULE_magic_lost_in_block), 1);
			unsigned output = plan_output(s.plan, f->name);
			assert_int_equal(plan_read(s.plan, output, at, head, l->size), TM_OK);
			lttng_header_load(&made, l, big, head);
			assert_int_equal(made.v[LF_MAGIC], LTTNG_MAGIC);
			assert_int_equal(made.v[LF_BEGIN], h[0].v[LF_END]);
			assert_in_range(made.v[LF_END], made.v[LF_BEGIN], h[2].v[LF_BEGIN]);
			assert_int_equal(made.v[LF_SIZE], h[1].v[LF_SIZE]);
			found++;
			findings_free(s.findings);
			plan_free(s.plan);
			bundle_free(s.in);
		}
		capture_free(&c);
		tracemend_sample_free(sample);
	}
	assert_true(found >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_is_made_up),
		cmocka_unit_test(a_header_that_is_gone),
	};
	return RUN(tests);
}
