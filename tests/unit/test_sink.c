/* The records that a check gives away (tracemend_options.record): as many as the summary counts, whatever the capture holds; in
 * the order of the bytes of each file; and nothing of the report depends on them. Over the corpus, from the top of the project. */
#include "unit.h"

#include <dirent.h>

#include "tracemend.h"

struct seen {
	uint64_t records, errors;
	uint64_t texts; /* bytes of all texts */
};

static void take(void *ctx, const struct tracemend_record *r)
{
	struct seen *seen = ctx;

	assert_non_null(r->file);
	if (r->rule) {
		seen->errors++;
		return;
	}
	seen->records++;
	assert_true(*r->kind);
	assert_true(!r->timed || *r->unit);
	seen->texts += strlen(r->track) + strlen(r->name) + strlen(r->arguments);
}

/* Whether the records of a capture are as many as it has. */
static bool check_path(const char *path, uint64_t *records)
{
	struct tracemend_options plain = TRACEMEND_OPTIONS_INIT, asks = TRACEMEND_OPTIONS_INIT;
	struct tracemend_error error;
	struct seen seen = { 0 };
	bool good = true;

	asks.record = take;
	asks.record_ctx = &seen;
	asks.arguments = true;
	struct tracemend_input *input = tracemend_open(path, &plain, &error);
	struct tracemend_report *a = input ? tracemend_check(input, &plain, &error) : NULL;
	struct tracemend_report *b = input ? tracemend_check(input, &asks, &error) : NULL;
	if (a && b) {
		const struct tracemend_summary *s = tracemend_report_summary(a), *t = tracemend_report_summary(b);
		assert_int_equal(s->records, t->records);
		assert_int_equal(tracemend_report_finding_count(a), tracemend_report_finding_count(b));
		good = seen.records == s->records;
		if (!good)
			printf("%s: %llu records, %llu given\n", path, (unsigned long long)s->records,
			       (unsigned long long)seen.records);
		if (!s->errors && seen.errors) {
			printf("%s: no errors, %llu given\n", path, (unsigned long long)seen.errors);
			good = false;
		}
		*records += seen.records;
	}
	tracemend_report_free(a);
	tracemend_report_free(b);
	tracemend_close(input);
	return good;
}

static void check_format(const char *format)
{
	static const char *const kinds[] = { "valid", "invalid", "damaged", "regress" };
	uint64_t records = 0;
	size_t bad = 0;

	for (size_t k = 0; k < 4; k++) {
		char folder[128], path[512];
		snprintf(folder, sizeof(folder), "corpus/%s/%s", format, kinds[k]);
		DIR *d = opendir(folder);
		struct dirent *e;
		assert_non_null(d);
		while ((e = readdir(d)) != NULL) {
			if (*e->d_name == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			bad += !check_path(path, &records);
		}
		closedir(d);
	}
	assert_true(records > 1000);
	assert_int_equal(bad, 0);
}

static void test_as_many_as_counted(void **state)
{
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);

	(void)state;
	for (size_t i = 0; i < count; i++)
		if (format_wanted(formats[i]->name))
			check_format(formats[i]->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_many_as_counted) };
	return RUN(tests);
}
