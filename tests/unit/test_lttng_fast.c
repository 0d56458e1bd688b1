/* The fast path of LTTng: whatever damage a capture has, its findings and its repair plan are the same without it. Here over random
 * damage, at windows of several sizes and by both profiles of 1.0, which tests/unit/test_fast.c does not go over;
 * FAST_CAPTURES=10000 in the environment asks for more. And it is not dead: it takes nine in ten of the events of each kind of
 * trace that has a loop of its own. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/choices.h"
#include "core/format.h"
#include "engine/engine.h"

#define CAPTURES_DEFAULT 900u
#define PLAIN_BYTES (512u * 1024)

extern const struct format lttng_format;

struct result {
	uint64_t records, fast, errors;
	char *text; /* owned */
	size_t size;
	bool repaired;
};

static void print_findings(FILE *out, const struct findings *f)
{
	for (size_t i = 0; i < findings_kept_count(f); i++) {
		const struct tracemend_finding *x = findings_kept_at(f, i);
		fprintf(out, "%s %d %s 0x%llx+%llu %s | %s, explains %llu\n", x->rule->id, (int)x->severity, x->file,
			(unsigned long long)x->offset, (unsigned long long)x->length, x->path, x->message,
			(unsigned long long)x->explains);
	}
}

static void print_plan(FILE *out, const struct plan *p)
{
	for (size_t o = 0; o < plan_output_count(p); o++) {
		fprintf(out, "output '%s'\n", plan_output_name(p, o));
		for (size_t i = 0; i < plan_segment_count(p, o); i++) {
			struct tracemend_segment s = plan_segment_at(p, o, i);
			fprintf(out, "%llu, input %zu from 0x%llx %s ", (unsigned long long)s.length, s.input,
				(unsigned long long)s.from, s.why);
			for (uint64_t k = 0; s.bytes && k < s.length; k++)
				fprintf(out, "%02x", s.bytes[k]);
			fputc('\n', out);
		}
	}
	for (size_t i = 0; i < plan_dropped_count(p); i++)
		fprintf(out, "dropped 0x%llx+%llu\n", (unsigned long long)plan_dropped_at(p, i).from,
			(unsigned long long)plan_dropped_at(p, i).length);
	for (size_t i = 0; i < plan_doubtful_count(p); i++)
		fprintf(out, "doubtful 0x%llx+%llu %s\n", (unsigned long long)plan_doubtful_at(p, i).from,
			(unsigned long long)plan_doubtful_at(p, i).length, plan_doubtful_at(p, i).why);
	struct tracemend_outcome outcome = plan_outcome(p);
	fprintf(out, "kept %llu patched %llu added %llu dropped %llu\n", (unsigned long long)outcome.kept,
		(unsigned long long)outcome.patched, (unsigned long long)outcome.added, (unsigned long long)outcome.dropped);
}

/* One walk with a repair plan. */
static struct result walk(struct bundle *b, const char *profile, bool slow)
{
	struct tracemend_options options = { .max_findings = 64 };
	struct scan s = { .in = b, .profile = profile, .slow = slow };
	struct result r = { 0 };
	uint64_t warnings, notes;

	s.findings = findings_new(lttng_format.rules, lttng_format.rule_count, &options);
	s.plan = plan_new(b, lttng_format.rules, lttng_format.rule_count);
	assert_non_null(s.findings);
	assert_non_null(s.plan);
	enum tracemend_status status = lttng_format.scan(&s);
	FILE *out = open_memstream(&r.text, &r.size);
	assert_non_null(out);
	fprintf(out, "status %d, %llu records, '%s'\n", (int)status, (unsigned long long)s.records, s.incomplete);
	print_findings(out, s.findings);
	if (status == TM_OK)
		print_plan(out, s.plan);
	assert_int_equal(fclose(out), 0);
	findings_totals(s.findings, &r.errors, &warnings, &notes);
	r.records = s.records;
	r.fast = s.fast;
	r.repaired = status == TM_OK && !plan_is_identity(s.plan);
	findings_free(s.findings);
	plan_free(s.plan);
	return r;
}

/* The capture each way. Returns the walk with the fast path; its text is freed. */
static struct result compare(const struct capture *c, const char *profile, size_t window)
{
	const struct tracemend_options options = { .window = window };
	struct bundle *one = capture_bundle(c, &options, NULL), *other = capture_bundle(c, &options, NULL);

	assert_non_null(one);
	assert_non_null(other);
	struct result with = walk(one, profile, false), without = walk(other, profile, true);
	assert_string_equal(with.text, without.text);
	assert_int_equal(without.fast, 0);
	assert_in_range(with.fast, 0, with.records);
	free(with.text);
	free(without.text);
	bundle_free(one);
	bundle_free(other);
	return with;
}

/* Other values for a few bytes, at places that the seed names; sometimes for all of a short range. */
static void damage(struct capture *c, uint64_t seed)
{
	struct choices d = choices_from_seed(seed);
	for (uint64_t left = 1 + choices_below(&d, 4); left; left--) {
		struct capture_file *f = &c->files[choices_below(&d, c->count)];
		if (!f->size)
			continue;
		if (!f->owned) {
			f->owned = malloc(f->size);
			assert_non_null(f->owned);
			memcpy(f->owned, f->data, f->size);
			f->data = f->owned;
		}
		size_t at = (size_t)choices_below(&d, f->size), length = choices_below(&d, 4) ? 1 : (size_t)choices_below(&d, 64);
		uint8_t value = (uint8_t)choices_below(&d, 256);
		for (size_t i = at; i < at + length && i < f->size; i++)
			f->owned[i] = value;
	}
}

static struct tracemend_sample *generate(const struct tracemend_recipe *recipe)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	if (!sample && error.status != TM_USAGE) /* a rule that the profile does not have */
		fail_msg("seed %llu: %s", (unsigned long long)recipe->seed, error.message);
	return sample;
}

static void damaged_captures_are_the_same(void **state)
{
	static const uint64_t sizes[] = { 0, 6000, 40000 };
	static const size_t windows[] = { 0, 1, 4096, 65536 };
	const char *text = getenv("FAST_CAPTURES");
	unsigned count = text ? (unsigned)strtoul(text, NULL, 10) : CAPTURES_DEFAULT, repaired = 0;
	size_t rules = tracemend_rule_count("lttng");
	uint64_t errors = 0, fast = 0;
	(void)state;

	for (unsigned i = 0; i < count; i++) {
		/* Valid, with a rule broken, with one of the recorder's damages; most with bytes changed. */
		unsigned kind = i % 6, round = i / 6;
		const char *profile = i % 5 ? "wire" : "literal";
		struct tracemend_recipe recipe = { .format = "lttng", .profile = profile, .seed = i, .size = sizes[round % 3] };
		if (kind == 1)
			recipe.rule = tracemend_rule_at("lttng", round % rules)->id;
		if (kind == 2)
			recipe.damage = (enum tracemend_damage)(1 + round % (TM_DAMAGE_COUNT - 1));
		struct tracemend_sample *sample = generate(&recipe);
		if (!sample)
			continue;
		struct capture c;
		capture_from_sample(&c, sample);
		if (kind > 2)
			damage(&c, i);
		struct result r = compare(&c, profile, windows[round / 3 % 4]);
		errors += r.errors;
		fast += r.fast;
		repaired += r.repaired;
		capture_free(&c);
		tracemend_sample_free(sample);
	}
	assert_true(errors > count / 4);
	assert_true(repaired > count / 4);
	assert_true(fast > count);
}

/* Seeds 1 to 24 have traces of all versions, packed and aligned, with compact channels and without, of both byte orders. */
static void plain_events_are_taken(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		const struct tracemend_recipe recipe = { .format = "lttng", .profile = "wire", .seed = seed, .size = PLAIN_BYTES };
		struct tracemend_sample *sample = generate(&recipe);
		assert_non_null(sample);
		struct capture c;
		capture_from_sample(&c, sample);
		struct result r = compare(&c, "wire", 0);
		assert_true(r.records > 1000);
		if (r.fast < r.records / 10 * 9)
			fail_msg("seed %llu: the fast path takes %llu of %llu events", (unsigned long long)seed,
				 (unsigned long long)r.fast, (unsigned long long)r.records);
		capture_free(&c);
		tracemend_sample_free(sample);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_captures_are_the_same),
		cmocka_unit_test(plain_events_are_taken),
	};
	return RUN(tests);
}
