/* fuzz/mutate.h: mutants of the valid corpus. The same seed gives the same bytes; nearly all get past the structure of the
 * format; the name of a mutant is one that a file can have. */
#include "unit.h"

#include <dirent.h>

#include "../../fuzz/mutate.h"
#include "engine/engine.h"

/* Of each format; MUTANTS=1000 in the environment asks for more (tests/tools/mutators.sh). */
#define MUTANTS_DEFAULT 200u
/* In a hundred, of the mutants that break no rule and leave no measure wrong on purpose: those without a structural error. Field
 * edits may still break a structure: a length that readers take for a boundary of another kind, text without its NUL, and in lttng
 * the text of a declaration that is no format any more. */
static unsigned sound_least(const char *format)
{
	return !strcmp(format, "fxt") || !strcmp(format, "ktrace") ? 90
	       : !strcmp(format, "uftrace")			   ? 70
	       : !strcmp(format, "lttng")			   ? 69
								   : 60;
}
#define FILES_MAX 64u

struct corpus {
	uint8_t *data[FILES_MAX];
	size_t size[FILES_MAX];
	size_t count;
};

static void corpus_load(struct corpus *c, const char *format)
{
	char folder[256], path[512];
	struct dirent **list;

	*c = (struct corpus){ 0 };
	snprintf(folder, sizeof(folder), "corpus/%s/valid", format);
	int n = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		FILE *f = list[i]->d_name[0] != '.' && c->count < FILES_MAX ? fopen(path, "rb") : NULL;
		free(list[i]);
		if (!f)
			continue;
		assert_int_equal(fseek(f, 0, SEEK_END), 0);
		c->size[c->count] = (size_t)ftell(f);
		rewind(f);
		c->data[c->count] = malloc(c->size[c->count] + 1);
		assert_non_null(c->data[c->count]);
		assert_int_equal(fread(c->data[c->count], 1, c->size[c->count], f), c->size[c->count]);
		c->count++;
		fclose(f);
	}
	if (n >= 0)
		free(list);
	assert_true(c->count > 0);
}

static void corpus_free(struct corpus *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->data[i]);
}

static bool is_sound(const struct mutation *m)
{
	const struct tracemend_options options = { .format = m->of->public.name, .max_findings = 0 };
	enum tracemend_status status;
	struct tracemend_error error;
	struct capture c;
	bool sound = true;

	capture_parse(&c, m->result.data, m->result.size);
	struct bundle *b = capture_bundle(&c, &options, NULL);
	assert_non_null(b);
	struct tracemend_report *report = engine_scan(b, m->of, &options, NULL, &status, &error);
	assert_non_null(report);
	for (size_t i = 0; i < tracemend_report_finding_count(report) && sound; i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		const char *k = fd->rule->class_name;
		sound = fd->severity != TM_ERROR || (strcmp(k, "malformed") != 0 && strcmp(k, "size") != 0 &&
						     strcmp(k, "alignment") != 0 && strcmp(k, "truncation") != 0);
		if (!sound && getenv("MUTATE_SHOW")) {
			char name[256];
			struct mutation copy = *m;
			print_message("%s: %s at %llu of '%s': %s\n", mutation_describe(&copy, name, sizeof(name)), fd->rule->id,
				      (unsigned long long)fd->offset, fd->file, fd->message);
		}
	}
	tracemend_report_free(report);
	bundle_free(b);
	capture_free(&c);
	return sound;
}

static unsigned mutants(void)
{
	const char *text = getenv("MUTANTS");
	return text ? (unsigned)strtoul(text, NULL, 10) : MUTANTS_DEFAULT;
}

static void check_format(const struct format *f)
{
	struct corpus c;
	struct mutation m = { .no_fault = true }, again = { .no_fault = true };
	unsigned sound = 0, counted = 0, changed = 0, used[MUTATE_OPERATORS] = { 0 };
	char name[256];

	unsigned count = mutants();
	corpus_load(&c, f->public.name);
	for (unsigned i = 0; i < count; i++) {
		size_t one = i % c.count, two = (i * 7 + 3) % c.count;
		m.format = i % 2 ? f->public.name : NULL;
		m.data = c.data[one];
		m.size = c.size[one];
		m.other = c.data[two];
		m.other_size = c.size[two];
		m.seed = i;
		assert_true(mutation_make(&m));
		assert_true(m.of == f);
		struct bytes kept = again.result;
		again = m;
		again.result = kept;
		assert_true(mutation_make(&again));
		assert_int_equal(m.result.size, again.result.size);
		assert_memory_equal(m.result.data, again.result.data, m.result.size);
		changed += m.result.size != m.size || memcmp(m.result.data, m.data, m.size) != 0;
		for (unsigned k = 0; k < MUTATE_OPERATORS; k++)
			used[k] += m.operators >> k & 1;
		if (!m.rule) {
			counted++;
			sound += is_sound(&m);
		}
		if (i % 50 == 0) {
			mutation_describe(&m, name, sizeof(name));
			assert_int_equal(strncmp(name, "op:", 3), 0);
			assert_null(strpbrk(name, "/ \n\t"));
		}
	}
	print_message("mutate: %s: %u of %u without structural error (%u %%), %u of %u differ from their input\n", f->public.name,
		      sound, counted, 100 * sound / counted, changed, count);
	assert_true(100 * sound >= sound_least(f->public.name) * counted);
	assert_true(changed >= count * 92 / 100);
	for (unsigned k = 0; k < MUTATE_FAULT; k++)
		assert_true(used[k] > 0);
	mutation_free(&m);
	mutation_free(&again);
	corpus_free(&c);
}

static void test_formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < formats_count; i++)
		if (format_wanted(formats[i]->public.name))
			check_format(formats[i]);
}

/* With faults, about one in a hundred has one. */
static void test_faults(void **state)
{
	struct corpus c;
	struct mutation m = { .format = "fxt" };
	unsigned faults = 0;
	(void)state;

	corpus_load(&c, "fxt");
	for (unsigned i = 0; i < 1500; i++) {
		m.data = c.data[i % c.count];
		m.size = c.size[i % c.count];
		m.seed = i;
		assert_true(mutation_make(&m));
		faults += m.operators >> MUTATE_FAULT & 1;
	}
	assert_in_range(faults, 4, 40);
	mutation_free(&m);
	corpus_free(&c);
}

/* What is no capture is answered with one; size_max holds. */
static void test_garbage(void **state)
{
	static const uint8_t garbage[700] = { 1, 2, 3 };
	struct mutation m = { .data = garbage, .size = sizeof(garbage) };
	(void)state;

	assert_false(mutation_make(&m));
	for (size_t i = 0; i < formats_count; i++)
		for (unsigned seed = 0; seed < 20; seed++) {
			m.format = formats[i]->public.name;
			m.size = seed % 2 ? sizeof(garbage) : 0;
			m.seed = seed;
			m.size_max = seed < 10 ? 0 : 600;
			if (!mutation_make(&m))
				fail_msg("%s: seed %u", m.format, seed);
			assert_true(!m.size_max || m.result.size <= m.size_max);
		}
	mutation_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_garbage),
	};
	return RUN(tests);
}
