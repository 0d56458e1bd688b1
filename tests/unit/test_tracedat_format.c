/* Texts of the metadata: one change of equal length each, and the rule that it breaks. These are places that no capture of the
 * corpus reaches. */
#include "unit.h"

#include "tracemend.h"

struct change {
	const char *from, *to, *rule;
};

static const struct change changes[] = {
	{ "value=%llu\"", "value=%lln\"", "tracedat/print-fmt-width" },
	{ ", REC->weight", ", 1/0 + 10000", "tracedat/print-fmt-const-div-zero" },
	{ ", REC->weight", ", 1/-1+ 10000", "tracedat/print-fmt-const-div-zero" },
	{ "weight=%d", "weight=%s", "tracedat/print-fmt-arg-type" },
	{ ", REC->weight", ", \"text text\"", "tracedat/print-fmt-arg-type" },
	{ "int overwrite;\toffset:8;\tsize:1", "int overwrite;\toffset:8;\tsize:2", "tracedat/header-page-fields" },
};

static void changed_texts(void **state)
{
	(void)state;
	/* No choice at all makes the smallest capture: version 6, whose metadata is plain. */
	const struct tracemend_recipe recipe = { .format = "tracedat", .choices = (const uint8_t *)"" };
	struct tracemend_error error;
	struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
	const uint8_t *data;
	size_t size;

	assert_non_null(sample);
	(void)tracemend_sample_file(sample, 0, &data, &size);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		const struct change *c = &changes[i];
		size_t length = strlen(c->from);
		uint8_t *copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, data, size);
		uint8_t *at = memmem(copy, size, c->from, length);
		assert_non_null(at);
		assert_int_equal(strlen(c->to), length);
		memcpy(at, c->to, length);
		struct tracemend_input *in = tracemend_open_memory("text.dat", copy, size, NULL, &error);
		struct tracemend_report *r = tracemend_check(in, NULL, &error);
		assert_non_null(r);
		if (tracemend_report_rule_count(r, tracemend_rule_find(c->rule)) != 1)
			fail_msg("\"%s\": %s is not reported once", c->to, c->rule);
		tracemend_report_free(r);
		tracemend_close(in);
		free(copy);
	}
	tracemend_sample_free(sample);
}

/* The one finding of that rule, whose message has that text. */
static void expect_in(const uint8_t *data, size_t size, const char *rule, const char *text)
{
	struct tracemend_error error;
	struct tracemend_input *in = tracemend_open_memory("prefix.dat", data, size, NULL, &error);
	struct tracemend_report *r = tracemend_check(in, NULL, &error);
	unsigned found = 0;
	assert_non_null(r);
	for (size_t i = 0; i < tracemend_report_finding_count(r); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(r, i);
		found += !strcmp(f->rule->id, rule) && strstr(f->message, text);
	}
	assert_int_equal(found, 1);
	tracemend_report_free(r);
	tracemend_close(in);
}

static void prefixes(void **state)
{
	(void)state;
	/* A version without its NUL has two bytes, whatever digits follow. */
	uint8_t data[4096] = "\x17\x08\x44tracing+6666666header_page";
	expect_in(data, sizeof(data), "tracedat/version-not-canonical", "version 6");
	/* The numbers behind the compressor's version, which is empty, show the byte order. */
	static const char seven[] = "\x17\x08\x44tracing7\0\2\x08\0\0\x10\0none\0\0\0\0\0\0\0\0\0\x20\0\x10";
	memset(data, 0, sizeof(data));
	memcpy(data, seven, sizeof(seven));
	expect_in(data, sizeof(data), "tracedat/endian-flag-invalid", "big-endian");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(changed_texts), cmocka_unit_test(prefixes) };
	return RUN(tests);
}
