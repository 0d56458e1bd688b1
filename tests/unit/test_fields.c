/* What a finding says of the field that it underlines is what the bytes there hold, for each finding of the corpus (from the top of
 * the project): a value "NAME = NUMBER" is an integer of that length in one of the byte orders, a part of its bits, or digits; a
 * line that a path names is the one at that offset. */
#include "unit.h"

#include <dirent.h>
#include <inttypes.h>

#include "engine/engine.h"

static unsigned fields_checked, lines_checked;

/* Whether `value` is the integer of `length` bytes in either byte order, or, of so many bits as it has, a part of that. */
static bool holds_integer(const uint8_t *p, uint32_t length, uint64_t value)
{
	for (unsigned order = 0; order < 2; order++) {
		uint64_t number = 0;
		for (uint32_t i = 0; i < length; i++)
			number = number << 8 | p[order ? i : length - 1 - i];
		if (number == value)
			return true;
		for (unsigned shift = 0; shift < 8 * length; shift++)
			for (unsigned width = 1; width + shift <= 8 * length && width < 64; width++)
				if ((number >> shift & ((UINT64_C(1) << width) - 1)) == value)
					return true;
	}
	return false;
}

static bool holds_digits(const uint8_t *p, uint32_t length, uint64_t value)
{
	uint64_t number = 0;
	for (uint32_t i = 0; i < length; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		number = number * 10 + (p[i] - '0');
	}
	return number == value;
}

static void check_field(struct source *source, const struct tracemend_finding *f, const char *name)
{
	uint8_t bytes[64];
	const char *equal = strstr(f->field, " = ");
	char *end;

	/* A thread of fxt is underlined where its record begins: its place differs by type. */
	if (!equal || !f->field_length || f->field_length > 8 || !strncmp(f->field, "thread = ", 9))
		return;
	uint64_t value = strtoull(equal + 3, &end, 0);
	if (end == equal + 3)
		return;
	assert_int_equal(source_read(source, f->field_offset, bytes, f->field_length), TM_OK);
	if (!holds_integer(bytes, f->field_length, value) && !holds_digits(bytes, f->field_length, value))
		fail_msg("%s, %s: the %u bytes at 0x%" PRIx64 " are not '%s'", name, f->rule->id, f->field_length, f->field_offset,
			 f->field);
	fields_checked++;
}

/* "line N" of a text. The header of uftrace's info is binary and has no lines; those of the binary file "task" are of what it is
 * translated to. */
static void check_line(struct source *source, const struct tracemend_finding *f, const char *name)
{
	static uint8_t bytes[1 << 20];
	size_t start = !strcmp(f->file, "info") ? 40 : 0;
	uint64_t line;

	if (sscanf(f->path, "line %" SCNu64, &line) != 1 || f->offset > sizeof(bytes) || f->offset < start ||
	    !strcmp(f->file, "task"))
		return;
	assert_int_equal(source_read(source, 0, bytes, (size_t)f->offset), TM_OK);
	uint64_t number = 1;
	for (size_t i = start; i < f->offset; i++)
		number += bytes[i] == '\n';
	if (number != line)
		fail_msg("%s, %s: 0x%" PRIx64 " of '%s' is in line %" PRIu64 ", not '%s'", name, f->rule->id, f->offset, f->file,
			 number, f->path);
	lines_checked++;
}

static void check_capture(const struct format *format, const char *path)
{
	struct tracemend_error error = { 0 };
	struct tracemend_options options = { .format = format->public.name };
	struct tracemend_input *input = tracemend_open(path, NULL, &error);

	if (!input)
		return; /* not every file of the corpus can be opened */
	struct tracemend_report *report = tracemend_check(input, &options, &error);
	for (size_t i = 0; report && i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		struct bundle *b = input_bundle(input);
		struct source *source = *f->file ? bundle_find(b, TM_ROLE_INPUT, f->file) : bundle_single(b);
		if (!source)
			continue;
		check_field(source, f, path);
		check_line(source, f, path);
	}
	if (report)
		tracemend_report_free(report);
	tracemend_close(input);
}

static void over_the_corpus(void **state)
{
	static const char *const folders[] = { "invalid", "damaged", "regress" };

	(void)state;
	for (size_t i = 0; i < formats_count; i++) {
		if (!format_wanted(formats[i]->public.name))
			continue;
		for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
			char folder[256], path[512];
			(void)snprintf(folder, sizeof(folder), "corpus/%s/%s", formats[i]->public.name, folders[k]);
			DIR *d = opendir(folder);
			assert_non_null(d);
			for (struct dirent *e; (e = readdir(d));) {
				(void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
				if (e->d_name[0] != '.')
					check_capture(formats[i], path);
			}
			closedir(d);
		}
	}
	/* Of each format that says such things. */
	const char *only = getenv("TEST_FORMAT");
	assert_true(fields_checked >= 3 || (only && *only));
	assert_true(lines_checked >= 40 || !format_wanted("uftrace"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(over_the_corpus) };
	return RUN(tests);
}
