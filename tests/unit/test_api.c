/* The public header's promises about NULL, indices, sizes of structures, and who must outlive whom. Under ASan, a use after free
 * ends the test. */
#include "unit.h"

#include "tracemend.h"

static struct tracemend_sample *sample_of(const char *format, enum tracemend_damage damage)
{
	struct tracemend_sample *s = tracemend_generate(
		&(struct tracemend_recipe){ .format = format, .seed = 56, .size = 12000, .damage = damage }, NULL);

	assert_non_null(s);
	return s;
}

/* Each function, with NULL where it takes a pointer. */
static void null_is_an_error(void **state)
{
	struct tracemend_error error;
	size_t size = 7;
	const uint8_t *data = (const uint8_t *)"x";

	(void)state;
	assert_null(tracemend_open(NULL, NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_null(tracemend_open(NULL, NULL, NULL));
	assert_null(tracemend_open_memory(NULL, "", 0, NULL, &error));
	assert_null(tracemend_open_memory("x", NULL, 1, NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_null(tracemend_open_files("x", NULL, 1, NULL, &error));
	assert_null(tracemend_open_files("x", &(struct tracemend_file){ .data = "" }, 1, NULL, &error));
	assert_null(tracemend_open_files("x", &(struct tracemend_file){ .name = "a", .size = 1 }, 1, NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_int_equal(tracemend_add(NULL, "x", TM_ROLE_EXTRA, NULL), TM_USAGE);
	tracemend_close(NULL);
	assert_null(tracemend_check(NULL, NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_string_equal(tracemend_report_summary(NULL)->format, "");
	assert_false(tracemend_report_summary(NULL)->complete);
	assert_int_equal(tracemend_report_finding_count(NULL), 0);
	assert_null(tracemend_report_finding(NULL, 0));
	assert_int_equal(tracemend_report_rule_count(NULL, NULL), 0);
	assert_int_equal(tracemend_report_fact_count(NULL), 0);
	assert_null(tracemend_report_fact(NULL, 0));
	assert_int_equal(tracemend_report_advice_count(NULL), 0);
	assert_string_equal(tracemend_report_advice(NULL, 0).text, "");
	tracemend_report_free(NULL);
	assert_null(tracemend_repair(NULL, NULL, NULL));
	assert_false(tracemend_repair_outcome(NULL)->changed);
	assert_null(tracemend_repair_report(NULL));
	assert_false(tracemend_repair_is_directory(NULL));
	assert_int_equal(tracemend_repair_digest(NULL, NULL), TM_USAGE);
	assert_int_equal(tracemend_repair_member_count(NULL), 0);
	assert_null(tracemend_repair_member(NULL, 0));
	assert_int_equal(tracemend_repair_output_count(NULL), 0);
	assert_null(tracemend_repair_output(NULL, 0));
	assert_string_equal(tracemend_repair_segment(NULL, 0, 0).why, "");
	assert_int_equal(tracemend_repair_dropped_count(NULL) + tracemend_repair_doubtful_count(NULL), 0);
	assert_string_equal(tracemend_repair_dropped(NULL, 0).why, "");
	assert_string_equal(tracemend_repair_doubtful(NULL, 0).why, "");
	assert_int_equal(tracemend_repair_read(NULL, 0, 0, &size, 1), TM_USAGE);
	assert_null(tracemend_repair_bytes(NULL, 0, &size, NULL));
	assert_int_equal(tracemend_repair_publish(NULL, "x", NULL), TM_USAGE);
	assert_int_equal(tracemend_repair_publish_if(NULL, "x", NULL, NULL, NULL), TM_USAGE);
	assert_int_equal(tracemend_repair_publish_with(NULL, "x", NULL, NULL), TM_USAGE);
	tracemend_repair_free(NULL);
	assert_null(tracemend_generate(NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_string_equal(tracemend_sample_name(NULL), "");
	assert_false(tracemend_sample_is_directory(NULL));
	assert_int_equal(tracemend_sample_file_count(NULL) + tracemend_sample_records(NULL) + tracemend_sample_expect_count(NULL),
			 0);
	assert_null(tracemend_sample_file(NULL, 0, &data, &size));
	assert_null(data);
	assert_int_equal(size, 0);
	assert_null(tracemend_sample_expect(NULL, 0));
	assert_null(tracemend_open_sample(NULL, NULL, NULL));
	assert_int_equal(tracemend_sample_write(NULL, "x", NULL), TM_USAGE);
	assert_int_equal(tracemend_sample_write_as(NULL, "x", NULL), TM_USAGE);
	tracemend_sample_free(NULL);
	assert_null(tracemend_sample_of(NULL, NULL));
	assert_null(tracemend_reduce(NULL, NULL, NULL, NULL));
	assert_int_equal(tracemend_print(NULL, NULL, 0, NULL, NULL), TM_USAGE);
	assert_int_equal(tracemend_print(stdout, NULL, 1, NULL, NULL), TM_USAGE);
	assert_int_equal(tracemend_print_manifest(stdout, NULL, NULL), TM_USAGE);
	assert_null(tracemend_report_text(NULL, NULL, &error));
	assert_null(tracemend_manifest_text(NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	tracemend_free(NULL);
	assert_non_null(tracemend_formats(NULL));
	assert_null(tracemend_rule_find(NULL));
	assert_string_equal(tracemend_rule_url(NULL, NULL, 0), "");
	assert_null(tracemend_rule_at("fxt", SIZE_MAX));
	assert_null(tracemend_rule_at(NULL, SIZE_MAX));
	tracemend_escape(NULL, 0, NULL);
	assert_false(tracemend_is_tree(NULL));
	assert_false(tracemend_name_expected(NULL));
	assert_int_equal(tracemend_split(NULL, NULL, NULL, NULL), 0);
	assert_null(tracemend_part(NULL, 0, NULL));
	assert_null(tracemend_recognise(NULL, NULL, NULL));
	assert_null(tracemend_report_make(NULL, 0, &error));
	assert_null(tracemend_report_select(NULL, 0, NULL, NULL, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_int_equal(tracemend_report_add(NULL, NULL), TM_USAGE);
	assert_int_equal(tracemend_report_add_unlisted(NULL, NULL, 1), TM_USAGE);
}

static void values_beyond_the_last_are_safe(void **state)
{
	struct tracemend_sample *s = sample_of("fxt", TM_DAMAGE_HOLE);
	struct tracemend_input *input = tracemend_open_sample(s, NULL, NULL);
	struct tracemend_options options = TRACEMEND_OPTIONS_INIT;
	struct tracemend_error error;
	char byte;
	size_t size;

	(void)state;
	options.facts = true;
	struct tracemend_repair *r = tracemend_repair(input, &options, NULL);
	const struct tracemend_report *report = tracemend_repair_report(r);
	assert_non_null(tracemend_report_finding(report, tracemend_report_finding_count(report) - 1));
	assert_null(tracemend_report_finding(report, tracemend_report_finding_count(report)));
	assert_null(tracemend_report_finding(report, SIZE_MAX));
	assert_non_null(tracemend_report_fact(report, 0));
	assert_null(tracemend_report_fact(report, tracemend_report_fact_count(report)));
	assert_int_equal(tracemend_report_rule_count(report, NULL), 0);
	assert_int_equal(tracemend_report_rule_count(report, tracemend_rule_at("ktrace", 0)), 0);
	assert_null(tracemend_repair_member(r, tracemend_repair_member_count(r)));
	assert_null(tracemend_repair_output(r, tracemend_repair_output_count(r)));
	size_t segments = tracemend_repair_output(r, 0)->segment_count;
	assert_int_not_equal(tracemend_repair_segment(r, 0, segments - 1).times, 0);
	assert_int_equal(tracemend_repair_segment(r, 0, segments).times, 0);
	assert_int_equal(tracemend_repair_segment(r, 1, 0).times, 0);
	assert_int_equal(tracemend_repair_dropped(r, tracemend_repair_dropped_count(r)).times, 0);
	assert_int_equal(tracemend_repair_doubtful(r, tracemend_repair_doubtful_count(r)).times, 0);
	uint64_t all = tracemend_repair_output(r, 0)->size;
	assert_int_equal(tracemend_repair_read(r, 0, all, &byte, 1), TM_USAGE);
	assert_int_equal(tracemend_repair_read(r, 0, UINT64_MAX, &byte, 1), TM_USAGE);
	assert_int_equal(tracemend_repair_read(r, 0, all - 1, &byte, 1), TM_OK);
	assert_int_equal(tracemend_repair_read(r, 1, 0, &byte, 1), TM_USAGE);
	assert_null(tracemend_repair_bytes(r, 1, &size, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_null(tracemend_sample_expect(s, tracemend_sample_expect_count(s)));
	assert_null(tracemend_sample_file(s, 1, NULL, NULL));
	assert_non_null(tracemend_sample_file(s, 0, NULL, NULL));
	assert_string_equal(tracemend_severity_name((enum tracemend_severity)17), "");
	assert_string_equal(tracemend_severity_name(TM_IGNORE), "ignore");
	assert_true(TM_IGNORE < TM_NOTE && TM_WARNING < TM_ERROR);
	assert_string_equal(tracemend_damage_name((enum tracemend_damage)99), "");
	assert_null(tracemend_generate(&(struct tracemend_recipe){ .format = "fxt", .damage = (enum tracemend_damage)99 }, &error));
	assert_int_equal(error.status, TM_USAGE);
	assert_null(tracemend_print_format(1000));
	assert_int_equal(tracemend_add(input, "/", TM_ROLE_INPUT, &error), TM_USAGE);
	tracemend_repair_free(r);
	tracemend_close(input);
	tracemend_sample_free(s);
}

static bool counts(void *ctx, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	++*(unsigned *)ctx;
	return true;
}

/* A repair is used after its input was closed, and after the options and their texts are gone. */
static void a_repair_keeps_its_input(void **state)
{
	struct tracemend_sample *s = sample_of("fxt", TM_DAMAGE_HOLE);
	struct tracemend_input *input = tracemend_open_sample(s, NULL, NULL);
	struct tracemend_options *options = calloc(1, sizeof(*options));
	unsigned called = 0;
	char folder[64], path[80];

	(void)state;
	scratch_make(folder);
	(void)snprintf(path, sizeof(path), "%s/out.fxt", folder);
	*options = (struct tracemend_options){ .size = sizeof(*options), .progress = counts, .progress_ctx = &called };
	options->format = strdup("fxt");
	options->profile = strdup("latest");
	assert_non_null(options->format);
	assert_non_null(options->profile);
	struct tracemend_repair *r = tracemend_repair(input, options, NULL);
	assert_non_null(r);
	free((void *)(uintptr_t)options->format);
	free((void *)(uintptr_t)options->profile);
	free(options);
	struct tracemend_error error;
	assert_int_equal(tracemend_add(input, folder, TM_ROLE_EXTRA, &error), TM_USAGE);
	tracemend_close(input);
	assert_true(tracemend_repair_outcome(r)->changed);
	size_t size = 0;
	uint8_t *bytes = tracemend_repair_bytes(r, 0, &size, NULL);
	assert_non_null(bytes);
	assert_int_equal(size, tracemend_repair_output(r, 0)->size);
	uint8_t *pieces = malloc(size);
	for (size_t at = 0; at < size; at += 100)
		assert_int_equal(tracemend_repair_read(r, 0, at, pieces + at, size - at < 100 ? size - at : 100), TM_OK);
	assert_memory_equal(bytes, pieces, size);
	free(pieces);
	assert_int_equal(tracemend_repair_publish(r, path, NULL), TM_OK);
	char *manifest = tracemend_manifest_text(r, NULL);
	assert_non_null(strstr(manifest, "\"sha256\""));
	assert_int_equal(strlen(tracemend_repair_output(r, 0)->sha256), 64);
	tracemend_free(manifest);
	assert_true(called > 0);
	tracemend_repair_free(r);
	/* What was written is what was made in memory, and is clean. */
	struct tracemend_input *again = tracemend_open_memory("again.fxt", bytes, size, NULL, NULL);
	struct tracemend_report *report = tracemend_check(again, NULL, NULL);
	assert_int_equal(tracemend_report_summary(report)->errors, 0);
	tracemend_close(again);
	assert_int_equal(tracemend_report_finding_count(report),
			 tracemend_report_summary(report)->warnings + tracemend_report_summary(report)->notes);
	tracemend_report_free(report);
	tracemend_free(bytes);
	tracemend_sample_free(s);
	scratch_remove(folder);
}

static bool stops(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx, (void)done, (void)total;
	return false;
}

static void check_asks_its_own_progress(void **state)
{
	struct tracemend_sample *s = sample_of("fxt", TM_DAMAGE_NONE);
	struct tracemend_input *input = tracemend_open_sample(s, NULL, NULL);
	struct tracemend_options options = { .progress = stops };
	struct tracemend_error error;
	unsigned called = 0;

	(void)state;
	struct tracemend_options counting = { .progress = counts, .progress_ctx = &called };
	struct tracemend_report *report = tracemend_check(input, &counting, &error);
	assert_int_equal(error.status, TM_OK);
	assert_true(called > 0);
	tracemend_report_free(report);
	unsigned before = called;
	tracemend_report_free(tracemend_check(input, NULL, &error));
	assert_int_equal(called, before);
	tracemend_close(input);
	input = tracemend_open_sample(s, NULL, NULL);
	report = tracemend_check(input, &options, &error);
	assert_int_equal(error.status, TM_CANCELLED);
	assert_false(tracemend_report_summary(report)->complete);
	tracemend_report_free(report);
	tracemend_close(input);
	tracemend_sample_free(s);
}

static void several_files_from_memory(void **state)
{
	struct tracemend_sample *s = sample_of("uftrace", TM_DAMAGE_NONE);
	size_t count = tracemend_sample_file_count(s);
	struct tracemend_file *files = calloc(count, sizeof(*files));
	struct tracemend_error error;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *data;
		files[i].name = tracemend_sample_file(s, i, &data, &files[i].size);
		files[i].data = data;
	}
	struct tracemend_input *input = tracemend_open_files("there", files, count, NULL, &error),
			       *same = tracemend_open_sample(s, NULL, NULL);
	assert_non_null(input);
	struct tracemend_report *a = tracemend_check(input, NULL, NULL), *b = tracemend_check(same, NULL, NULL);
	assert_string_equal(tracemend_report_summary(a)->format, "uftrace");
	assert_int_equal(tracemend_report_summary(a)->records, tracemend_report_summary(b)->records);
	assert_int_equal(tracemend_report_summary(a)->errors, 0);
	assert_string_equal(tracemend_report_summary(a)->path, "there");
	tracemend_report_free(a);
	tracemend_report_free(b);
	tracemend_close(input);
	tracemend_close(same);
	static const char *const bad[] = { "", "/etc", "a//b", "../a", "a/..", "a/./b", "a/" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(tracemend_open_files("there", &(struct tracemend_file){ .name = bad[i] }, 1, NULL, &error));
		assert_int_equal(error.status, TM_USAGE);
	}
	input = tracemend_open_files("there", NULL, 0, NULL, &error);
	assert_null(tracemend_check(input, NULL, &error));
	assert_int_equal(error.status, TM_UNRECOGNISED);
	tracemend_close(input);
	free(files);
	tracemend_sample_free(s);
}

/* An older caller's structure is shorter: what lies behind it is not read. A newer caller's is longer. */
static void structures_may_grow(void **state)
{
	struct {
		struct tracemend_options known;
		uint64_t later;
	} newer = { .known = { .size = sizeof(newer) } };
	struct tracemend_options older = { .size = offsetof(struct tracemend_options, profile),
					   .format = "fxt",
					   .profile = "nonsense" };
	struct tracemend_sample *s = sample_of("fxt", TM_DAMAGE_NONE);
	struct tracemend_error error;

	(void)state;
	struct tracemend_input *input = tracemend_open_sample(s, &newer.known, &error);
	assert_non_null(input);
	struct tracemend_report *report = tracemend_check(input, &older, &error);
	assert_int_equal(error.status, TM_OK);
	tracemend_report_free(report);
	older.size = sizeof(older);
	report = tracemend_check(input, &older, &error);
	assert_int_equal(error.status, TM_USAGE);
	tracemend_report_free(report);
	newer.later = 1;
	assert_null(tracemend_check(input, &newer.known, &error));
	assert_int_equal(error.status, TM_USAGE);
	tracemend_close(input);
	tracemend_sample_free(s);
	assert_string_equal(tracemend_version(), TRACEMEND_VERSION);
	assert_int_equal(tracemend_version_number(), TRACEMEND_VERSION_NUMBER);
}

/* Reports of elsewhere are made of structures that the caller fills. */
static void made_reports_take_older_and_newer_structures(void **state)
{
	struct {
		struct tracemend_summary known;
		uint64_t later;
	} summary = { .known = { .struct_size = sizeof(summary), .format = "fxt", .errors = 1 } };
	struct {
		struct tracemend_finding known;
		uint64_t later;
	} finding = { .known = { .struct_size = sizeof(finding),
				 .rule = tracemend_rule_find("fxt/truncated-record"),
				 .severity = TM_ERROR,
				 .offset = 5,
				 .context_length = TRACEMEND_CONTEXT } };
	struct tracemend_error error;

	(void)state;
	struct tracemend_report *report = tracemend_report_make(&summary.known, 0, &error);
	assert_non_null(report);
	const struct tracemend_summary *made = tracemend_report_summary(report);
	assert_int_equal(made->struct_size, sizeof(*made));
	assert_string_equal(made->path, "");
	assert_int_equal(tracemend_report_add(report, &finding.known), TM_OK);
	finding.later = 1;
	assert_int_equal(tracemend_report_add(report, &finding.known), TM_USAGE);
	/* An older one ends before the context. */
	finding.known.struct_size = offsetof(struct tracemend_finding, field_offset);
	finding.known.offset = 6;
	assert_int_equal(tracemend_report_add(report, &finding.known), TM_OK);
	finding.known.struct_size = 0;
	finding.known.context_length = TRACEMEND_CONTEXT + 1;
	assert_int_equal(tracemend_report_add(report, &finding.known), TM_USAGE);
	assert_int_equal(tracemend_report_finding_count(report), 2);
	const struct tracemend_finding *added = tracemend_report_finding(report, 1);
	assert_int_equal(added->struct_size, sizeof(*added));
	assert_int_equal(added->offset, 6);
	assert_int_equal(added->context_length, 0);
	assert_string_equal(added->message, "");
	tracemend_report_free(report);
	summary.later = 1;
	assert_null(tracemend_report_make(&summary.known, 0, &error));
	assert_int_equal(error.status, TM_USAGE);
	summary.known.struct_size = offsetof(struct tracemend_summary, size);
	report = tracemend_report_make(&summary.known, 0, &error);
	assert_int_equal(tracemend_report_summary(report)->errors, 0);
	tracemend_report_free(report);
	summary.known.struct_size = 0;
	summary.known.format = NULL;
	assert_null(tracemend_report_make(&summary.known, 0, &error));
}

struct asked {
	char out[96];
	unsigned accepted, ready;
	bool answer;
};

static bool accepts(void *ctx, const char *temporary)
{
	struct asked *asked = ctx;

	(void)temporary;
	assert_int_equal(asked->ready, 0);
	asked->accepted++;
	return true;
}

static bool is_ready(void *ctx)
{
	struct asked *asked = ctx;

	assert_int_equal(access(asked->out, F_OK), -1);
	asked->ready++;
	return asked->answer;
}

static void the_caller_is_told_before_the_output_has_its_name(void **state)
{
	char folder[64];

	(void)state;
	scratch_make(folder);
	for (unsigned i = 0; i < 4; i++) {
		struct tracemend_sample *s = sample_of(i & 1 ? "uftrace" : "fxt", TM_DAMAGE_TRUNCATE);
		struct tracemend_input *input = tracemend_open_sample(s, NULL, NULL);
		struct tracemend_repair *r = tracemend_repair(input, NULL, NULL);
		struct asked asked = { .answer = i & 2 };
		struct tracemend_publish publish = { .size = sizeof(publish), .accept = accepts, .ready = is_ready, .ctx = &asked };
		(void)snprintf(asked.out, sizeof(asked.out), "%s/out-%u", folder, i);
		assert_non_null(r);
		assert_int_equal(tracemend_repair_publish_with(r, asked.out, &publish, NULL), asked.answer ? TM_OK : TM_CANCELLED);
		assert_int_equal(asked.accepted, 1);
		assert_int_equal(asked.ready, 1);
		assert_int_equal(access(asked.out, F_OK), asked.answer ? 0 : -1);
		/* A directory that is there is noticed before anything is asked. */
		if (asked.answer && i & 1) {
			assert_int_equal(tracemend_repair_publish_with(r, asked.out, &publish, NULL), TM_USAGE);
			assert_int_equal(asked.accepted + asked.ready, 2);
		}
		tracemend_repair_free(r);
		tracemend_close(input);
		tracemend_sample_free(s);
	}
	scratch_remove(folder);
}

static void all_printers_print(void **state)
{
	struct tracemend_sample *s = sample_of("fxt", TM_DAMAGE_HOLE);
	struct tracemend_input *input = tracemend_open_sample(s, NULL, NULL);
	struct tracemend_report *report = tracemend_check(input, NULL, NULL);
	struct tracemend_error error;

	(void)state;
	for (size_t i = 0; tracemend_print_format(i); i++) {
		struct tracemend_print print = { .size = sizeof(print), .format = tracemend_print_format(i) };
		char *text = tracemend_report_text(report, &print, &error);
		assert_non_null(text);
		assert_non_null(strstr(text, "0056"));
		tracemend_free(text);
	}
	char *text = tracemend_report_text(report, NULL, NULL);
	assert_non_null(strstr(text, ": error: "));
	tracemend_free(text);
	assert_null(tracemend_report_text(report, &(struct tracemend_print){ .format = "nonsense" }, &error));
	assert_int_equal(error.status, TM_USAGE);
	FILE *full = fopen("/dev/full", "w");
	if (full) {
		(void)setvbuf(full, NULL, _IONBF, 0);
		const struct tracemend_report *const one[] = { report };
		assert_int_equal(tracemend_print(full, one, 1, NULL, &error), TM_IO);
		(void)fclose(full);
	}
	tracemend_report_free(report);
	tracemend_close(input);
	tracemend_sample_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_is_an_error),
		cmocka_unit_test(values_beyond_the_last_are_safe),
		cmocka_unit_test(a_repair_keeps_its_input),
		cmocka_unit_test(check_asks_its_own_progress),
		cmocka_unit_test(several_files_from_memory),
		cmocka_unit_test(structures_may_grow),
		cmocka_unit_test(all_printers_print),
		cmocka_unit_test(made_reports_take_older_and_newer_structures),
		cmocka_unit_test(the_caller_is_told_before_the_output_has_its_name),
	};
	return RUN(tests);
}
