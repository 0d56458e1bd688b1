/* The contract of fast paths (src/README.md): a fast path passes only records about which the walk would say nothing. Whatever a
 * capture holds, its findings, its counts and its repair are the same with it and without it (struct scan.slow), and with threads
 * (scan.threads); and it is not dead: of plain captures it takes nine records in ten.
 *
 * Over the corpus (from the top of the project), over damaged copies of its valid captures, over each breaker's defect among ten
 * thousand plain records, over captures of ten seeds, and over the real ones where SAMPLES names their folder. */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../tools/sweep.h"
#include "core/choices.h"
#include "engine/engine.h"

#define SEEDS 10u
#define COPIES 16u /* damaged, of each valid capture of the corpus */
/* Bytes of a generated capture; of any format they hold more than ten thousand records. */
#define PLAIN_BYTES (768u * 1024)
/* Bytes of one that shows how much the fast path takes: what comes once, at its beginning, no longer counts. */
#define LARGE_BYTES (2u * 1024 * 1024)
#define PLAIN_RECORDS 10000u
/* Threads beside the walk, and bytes of a capture of which they work on something. */
#define THREADS 4u
#define CODED_BYTES (3u * 1024 * 1024)

struct result {
	enum tracemend_status status;
	uint64_t records, fast;
	bool sound;
	char *text; /* owned: findings, and where there is a plan all of it */
	size_t size;
};

static void result_findings(FILE *out, const struct findings *f)
{
	for (size_t i = 0; i < findings_kept_count(f); i++) {
		const struct tracemend_finding *x = findings_kept_at(f, i);
		fprintf(out, "%s %d %s 0x%llx+%llu %s | %s | %s, explains %llu\n", x->rule->id, (int)x->severity, x->file,
			(unsigned long long)x->offset, (unsigned long long)x->length, x->path, x->message, x->field,
			(unsigned long long)x->explains);
	}
}

static void result_range(FILE *out, const char *what, struct tracemend_range r)
{
	fprintf(out, "%s %zu 0x%llx+%llu x %llu %s %s\n", what, r.input, (unsigned long long)r.from, (unsigned long long)r.length,
		(unsigned long long)r.times, r.rule ? r.rule->id : "", r.why);
}

static void result_plan(FILE *out, const struct plan *p)
{
	for (size_t o = 0; o < plan_output_count(p); o++) {
		fprintf(out, "output '%s'\n", plan_output_name(p, o));
		for (size_t i = 0; i < plan_segment_count(p, o); i++) {
			struct tracemend_segment s = plan_segment_at(p, o, i);
			fprintf(out, "%llu x %llu, input %zu from 0x%llx %s %s ", (unsigned long long)s.length,
				(unsigned long long)s.times, s.input, (unsigned long long)s.from, s.rule ? s.rule->id : "", s.why);
			for (uint64_t k = 0; s.bytes && k < s.length; k++)
				fprintf(out, "%02x", s.bytes[k]);
			fputc('\n', out);
		}
	}
	for (size_t i = 0; i < plan_dropped_count(p); i++)
		result_range(out, "dropped", plan_dropped_at(p, i));
	for (size_t i = 0; i < plan_doubtful_count(p); i++)
		result_range(out, "doubtful", plan_doubtful_at(p, i));
	struct tracemend_outcome outcome = plan_outcome(p);
	fprintf(out, "kept %llu patched %llu added %llu dropped %llu (%d) lost %d\n", (unsigned long long)outcome.kept,
		(unsigned long long)outcome.patched, (unsigned long long)outcome.added, (unsigned long long)outcome.dropped,
		(int)outcome.dropped_is, outcome.lost);
}

/* How a capture is walked. */
enum way { FAST, SLOW, WITH_THREADS, WAYS };
static const char *const ways[WAYS] = { "by itself", "without the fast path", "with threads" };

static struct result walk(const struct format *f, struct bundle *b, enum way way, bool repair)
{
	struct tracemend_error ignored = { 0 };
	struct tracemend_options options = { 0 };
	struct scan s = { .in = b, .slow = way == SLOW, .threads = way == WITH_THREADS ? THREADS : 0 };
	struct result r = { 0 };

	s.profile = format_profile(f, NULL, &ignored);
	s.findings = findings_new(f->rules, f->rule_count, &options);
	s.plan = repair ? plan_new(b, f->rules, f->rule_count) : NULL;
	assert_non_null(s.findings);
	b->error = (struct tracemend_error){ 0 };
	r.status = f->scan(&s);
	r.records = s.records;
	r.fast = s.fast;
	r.sound = r.status == TM_OK && !findings_errors(s.findings);
	FILE *out = open_memstream(&r.text, &r.size);
	assert_non_null(out);
	fprintf(out, "status %d, %llu records, '%s'\n", (int)r.status, (unsigned long long)s.records, s.incomplete);
	result_findings(out, s.findings);
	if (s.plan && r.status == TM_OK)
		result_plan(out, s.plan);
	assert_int_equal(fclose(out), 0);
	findings_free(s.findings);
	plan_free(s.plan);
	b->error = (struct tracemend_error){ 0 };
	return r;
}

static void same(const struct result *one, const struct result *other, const char *name, const char *how)
{
	size_t at = 0;

	if (!strcmp(one->text, other->text))
		return;
	while (one->text[at] == other->text[at])
		at++;
	while (at && one->text[at - 1] != '\n')
		at--;
	fail_msg("%s: by itself\n%.300s\n%s\n%.300s", name, one->text + at, how, other->text + at);
}

/* Walks the capture each way. Returns what the fast path took of the records; *records is their number, 0 of a capture that is not
 * sound. */
static uint64_t compare(const struct format *f, struct bundle *b, const char *name, uint64_t *records)
{
	uint64_t fast = 0;

	for (unsigned repair = 0; repair < 2; repair++) {
		struct result quick = walk(f, b, FAST, repair);
		for (enum way way = SLOW; way < WAYS; way++) {
			struct result other = walk(f, b, way, repair);
			same(&quick, &other, name, ways[way]);
			if (way == SLOW && other.fast)
				fail_msg("%s: %llu records are taken by the fast path that was switched off", name,
					 (unsigned long long)other.fast);
			free(other.text);
		}
		if (quick.fast > quick.records)
			fail_msg("%s: %llu records are taken of %llu", name, (unsigned long long)quick.fast,
				 (unsigned long long)quick.records);
		if (!repair) {
			fast = quick.fast;
			*records = quick.sound ? quick.records : 0;
		}
		free(quick.text);
	}
	return fast;
}

static uint64_t compare_path(const struct format *f, const char *path, uint64_t *records)
{
	struct tracemend_error error = { 0 };
	struct tracemend_input *input = tracemend_open(path, NULL, &error);

	*records = 0;
	if (!input)
		return 0; /* not every file of the corpus can be opened */
	struct bundle *b = input_bundle(input);
	const struct format *bids = format_recognise(b, NULL, &error);
	/* What another format claims, or none, is walked as well where it is a single file: a fast path has no excuse. */
	uint64_t fast = bids == f || (!b->directory && b->count == 1) ? compare(f, b, path, records) : 0;
	tracemend_close(input);
	return fast;
}

/* ---- the corpus, and real captures ---- */

static unsigned compare_folder(const struct format *f, const char *folder, bool plain)
{
	unsigned count = 0;
	DIR *d = opendir(folder);

	if (!d)
		return 0;
	for (struct dirent *e; (e = readdir(d));) {
		char path[4096];
		uint64_t records;
		if (e->d_name[0] == '.' || strstr(e->d_name, ".jsonl") || strstr(e->d_name, ".md"))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		uint64_t fast = compare_path(f, path, &records);
		if (plain && records >= PLAIN_RECORDS && fast < records / 10 * 9)
			fail_msg("%s: the fast path takes %llu of %llu records", path, (unsigned long long)fast,
				 (unsigned long long)records);
		count++;
	}
	closedir(d);
	return count;
}

static void over_the_corpus(void **state)
{
	static const char *const folders[] = { "valid", "invalid", "damaged", "regress" };

	(void)state;
	for (size_t i = 0; i < formats_count; i++) {
		unsigned count = 0;
		if (!formats[i]->fast || !format_wanted(formats[i]->public.name))
			continue;
		for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
			char folder[256];
			(void)snprintf(folder, sizeof(folder), "corpus/%s/%s", formats[i]->public.name, folders[k]);
			count += compare_folder(formats[i], folder, false);
		}
		assert_true(count > 50);
	}
}

static void over_real_captures(void **state)
{
	const char *samples = getenv("SAMPLES");

	(void)state;
	if (!samples)
		skip();
	for (size_t i = 0; i < formats_count; i++) {
		char folder[4096];
		if (!formats[i]->fast || !format_wanted(formats[i]->public.name))
			continue;
		(void)snprintf(folder, sizeof(folder), "%s/%s", samples, formats[i]->public.name);
		(void)compare_folder(formats[i], folder, true);
	}
}

/* ---- damaged copies ---- */

static void compare_copies(const struct format *f, const char *path)
{
	struct stat st;
	struct sweep sweep;
	FILE *in = fopen(path, "rb");

	assert_true(in && !fstat(fileno(in), &st));
	size_t size = (size_t)st.st_size;
	uint8_t *data = malloc(size + 1);
	assert_true(data && fread(data, 1, size, in) == size);
	fclose(in);
	sweep_open(&sweep, f->public.name, NULL, data, size);
	for (uint64_t seed = 1; seed <= COPIES; seed++) {
		struct tracemend_error ignored = { 0 };
		struct capture copy;
		char name[4096];
		uint64_t records;
		sweep_copy(&sweep, seed + size, &copy);
		struct bundle *b = capture_bundle(&copy, NULL, NULL);
		struct tracemend_input *input = b ? input_from_bundle(b, &ignored) : NULL;
		(void)snprintf(name, sizeof(name), "%s, copy %llu", path, (unsigned long long)seed);
		if (input)
			(void)compare(f, input_bundle(input), name, &records);
		tracemend_close(input);
		capture_free(&copy);
	}
	sweep_close(&sweep);
	free(data);
}

static void over_damaged_copies(void **state)
{
	(void)state;
	for (size_t i = 0; i < formats_count; i++) {
		char folder[256], path[4096];
		unsigned count = 0;
		if (!formats[i]->fast || !format_wanted(formats[i]->public.name))
			continue;
		(void)snprintf(folder, sizeof(folder), "corpus/%s/valid", formats[i]->public.name);
		DIR *d = opendir(folder);
		assert_non_null(d);
		for (struct dirent *e; (e = readdir(d));) {
			if (e->d_name[0] == '.' || strstr(e->d_name, ".jsonl") || strstr(e->d_name, ".md"))
				continue;
			(void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			compare_copies(formats[i], path);
			count++;
		}
		closedir(d);
		assert_true(count > 10);
	}
}

/* ---- generated captures ---- */

static uint64_t compare_generated(const struct format *f, const struct tracemend_recipe *recipe, uint64_t *records)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	char name[256];

	if (!sample)
		fail_msg("%s: %s", recipe->rule ? recipe->rule : recipe->format, error.message);
	struct tracemend_input *input = tracemend_open_sample(sample, NULL, &error);
	assert_non_null(input);
	(void)snprintf(name, sizeof(name), "%s seed %llu", recipe->rule ? recipe->rule : recipe->format,
		       (unsigned long long)recipe->seed);
	uint64_t fast = compare(f, input_bundle(input), name, records);
	tracemend_close(input);
	tracemend_sample_free(sample);
	return fast;
}

static void plain_captures_are_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < formats_count; i++) {
		if (!formats[i]->fast || !format_wanted(formats[i]->public.name))
			continue;
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct tracemend_recipe recipe = { .format = formats[i]->public.name, .seed = seed, .size = LARGE_BYTES };
			uint64_t records, fast = compare_generated(formats[i], &recipe, &records);
			if (fast < records / 10 * 9)
				fail_msg("%s: of seed %llu the fast path takes %llu of %llu records", recipe.format,
					 (unsigned long long)seed, (unsigned long long)fast, (unsigned long long)records);
		}
	}
}

static void each_defect_among_plain_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < formats_count; i++) {
		const struct format *f = formats[i];
		uint64_t most = 0;
		if (!f->fast || !format_wanted(f->public.name))
			continue;
		for (size_t rule = 0; rule < f->rule_count; rule++) {
			struct tracemend_recipe recipe = {
				.format = f->public.name, .rule = f->rules[rule].id, .seed = rule + 1, .size = PLAIN_BYTES
			};
			uint64_t records;
			assert_in_range(f->fast[rule], FAST_LEAVES, FAST_ELSEWHERE);
			uint64_t taken = compare_generated(f, &recipe, &records);
			most += taken >= PLAIN_RECORDS;
		}
		/* Some defects leave nothing that is a record: a lost header, an empty file. */
		if (most < f->rule_count / 10 * 7)
			fail_msg("%s: only %llu of %zu defects are among %u records that the fast path takes", f->public.name,
				 (unsigned long long)most, f->rule_count, PLAIN_RECORDS);
	}
}

/* ---- threads ---- */

/* The capture, in a file of `folder`, with so many bytes changed. */
static void compare_hit(const struct format *f, const char *folder, const uint8_t *data, size_t size, unsigned hits,
			struct choices *c, const char *name)
{
	struct tracemend_error error = { 0 };
	uint8_t *hit = malloc(size);
	char path[128];
	uint64_t records;

	assert_non_null(hit);
	memcpy(hit, data, size);
	for (unsigned n = 0; n < hits; n++)
		hit[choices_below(c, size)] ^= (uint8_t)(1 + choices_below(c, 255));
	file_write(folder, "hit.dat", hit, size);
	free(hit);
	(void)snprintf(path, sizeof(path), "%s/hit.dat", folder);
	struct tracemend_input *input = tracemend_open(path, NULL, &error);
	assert_non_null(input);
	(void)compare(f, input_bundle(input), name, &records);
	tracemend_close(input);
}

/* Captures of which threads decode chunks, or read pages, ahead of the walk, sound and hit. */
static void threads_over_data_of_cpus(void **state)
{
	static const char *const codings[][2] = { { "zstd" }, { "zlib" }, { "plain" } };
	const struct format *f = format_find("tracedat");
	char folder[64];

	(void)state;
	scratch_make(folder);
	for (unsigned i = 0; i < 3 && format_wanted("tracedat"); i++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct tracemend_recipe recipe = {
				.format = "tracedat", .seed = seed, .size = CODED_BYTES, .with = codings[i]
			};
			struct tracemend_error error = { 0 };
			struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
			const uint8_t *data;
			size_t size;
			struct choices c = choices_from_seed(seed);
			assert_non_null(sample);
			(void)tracemend_sample_file(sample, 0, &data, &size);
			for (unsigned hits = 0; hits <= 256; hits = hits ? hits * 4 : 1) {
				char name[64];
				(void)snprintf(name, sizeof(name), "%s, seed %llu, %u hits", codings[i][0],
					       (unsigned long long)seed, hits);
				compare_hit(f, folder, data, size, hits, &c, name);
			}
			tracemend_sample_free(sample);
		}
	scratch_remove(folder);
}

/* The list over all rules exists for each of the formats that are to have a fast path. */
static void formats_with_a_fast_path(void **state)
{
	static const char *const names[] = { "fxt", "uftrace", "tracedat", "ktrace", "lttng" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct format *f = format_find(names[i]);
		assert_non_null(f);
		assert_non_null(f->fast);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_with_a_fast_path),  cmocka_unit_test(over_the_corpus),
		cmocka_unit_test(over_real_captures),	     cmocka_unit_test(over_damaged_copies),
		cmocka_unit_test(plain_captures_are_taken),  cmocka_unit_test(each_defect_among_plain_records),
		cmocka_unit_test(threads_over_data_of_cpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
