/* Texts of the metadata: one change of equal length each, and the rule that it breaks. These are places that no capture of the
 * corpus reaches. */
#include "unit.h"

#include "tracemend.h"

struct change {
	const char *from, *to, *rule;
	unsigned times; /* how often the rule is then reported */
};

static const struct change changes[] = {
	{ "value=%llu\"", "value=%lln\"", "tracedat/print-fmt-width", 1 },
	{ ", REC->weight", ", 1/0 + 10000", "tracedat/print-fmt-const-div-zero", 1 },
	{ ", REC->weight", ", 1/0x0+ 1000", "tracedat/print-fmt-const-div-zero", 1 },
	{ ", REC->weight", ", 1/0X0+ 1000", "tracedat/print-fmt-const-div-zero", 1 },
	{ ", REC->weight", ", 1/00UL+ 100", "tracedat/print-fmt-const-div-zero", 1 },
	{ ", REC->weight", ", 1/((0)) + 1", "tracedat/print-fmt-const-div-zero", 1 },
	{ ", REC->weight", ", 1/0x1+ 1000", "tracedat/print-fmt-const-div-zero", 0 },
	{ ", REC->weight", ", 1/10 + 1000", "tracedat/print-fmt-const-div-zero", 0 },
	{ ", REC->weight", ", 1/01 + 1000", "tracedat/print-fmt-const-div-zero", 0 },
	{ ", REC->weight", ", 1/-1+ 10000", "tracedat/print-fmt-const-div-zero", 1 },
	{ "weight=%d", "weight=%s", "tracedat/print-fmt-arg-type", 1 },
	{ ", REC->weight", ", \"text text\"", "tracedat/print-fmt-arg-type", 1 },
	/* A blank line in front of the common fields does not end them. */
	{ "format:\n\tfield:unsigned short common_type", "format:\n\nfield:unsigned short common_type",
	  "tracedat/common-fields-differ", 0 },
	{ "int overwrite;\toffset:8;\tsize:1", "int overwrite;\toffset:8;\tsize:2", "tracedat/header-page-fields", 1 },
};

/* Hooks: EVENT,MATCH[,LAST]/EVENT,MATCH[,FLAGS]. */
static const struct change hooks[] = {
	{ "no hook", "a,b/c,d", "tracedat/option-hook-syntax", 0 }, { "no hook", "a,b,c/d", "tracedat/option-hook-syntax", 1 },
	{ "no hook", "a,b/,cd", "tracedat/option-hook-syntax", 1 }, { "no hook", "a,b/cd,", "tracedat/option-hook-syntax", 1 },
	{ "no hook", "abc/d,e", "tracedat/option-hook-syntax", 1 }, { "no hook", ",ab/c,d", "tracedat/option-hook-syntax", 1 },
	{ "no hook", "a,b,c,d", "tracedat/option-hook-syntax", 1 },
};

/* The smallest capture, or the smallest with a defect of that rule: version 6, whose metadata is plain. */
static void change_texts(const char *rule, const struct change *list, size_t count)
{
	const struct tracemend_recipe recipe = { .format = "tracedat", .rule = rule, .choices = (const uint8_t *)"" };
	struct tracemend_error error;
	struct tracemend_sample *sample = tracemend_generate(&recipe, &error);
	const uint8_t *data;
	size_t size;

	assert_non_null(sample);
	(void)tracemend_sample_file(sample, 0, &data, &size);
	for (size_t i = 0; i < count; i++) {
		const struct change *c = &list[i];
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
		uint64_t times = tracemend_report_rule_count(r, tracemend_rule_find(c->rule));
		if (times != c->times)
			fail_msg("\"%s\": %s is reported %llu times, not %u", c->to, c->rule, (unsigned long long)times, c->times);
		tracemend_report_free(r);
		tracemend_close(in);
		free(copy);
	}
	tracemend_sample_free(sample);
}

static void changed_texts(void **state)
{
	(void)state;
	change_texts(NULL, changes, sizeof(changes) / sizeof(*changes));
}

static void changed_hooks(void **state)
{
	(void)state;
	change_texts("tracedat/option-hook-syntax", hooks, sizeof(hooks) / sizeof(*hooks));
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(changed_texts), cmocka_unit_test(changed_hooks),
					    cmocka_unit_test(prefixes) };
	return RUN(tests);
}
