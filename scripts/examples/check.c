/* Checks captures, and repairs those with errors into NAME.mended.
 *
 *     cc check.c $(pkg-config --cflags --libs libtracemend) -o check */
#include <stdio.h>
#include <tracemend.h>

static int repair(struct tracemend_input *input, const char *path)
{
	struct tracemend_error error;
	struct tracemend_repair *repair = tracemend_repair(input, NULL, &error);
	char out[4096];

	if (!repair || snprintf(out, sizeof(out), "%s.mended", path) >= (int)sizeof(out) ||
	    tracemend_repair_publish(repair, out, &error) != TM_OK) {
		fprintf(stderr, "%s\n", error.message);
		tracemend_repair_free(repair);
		return 1;
	}
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(repair);
	printf("%s: %llu records kept%s\n", out, (unsigned long long)outcome->kept, outcome->lost ? "; content was lost" : "");
	tracemend_repair_free(repair);
	return 0;
}

static int check(const char *path)
{
	struct tracemend_options options = TRACEMEND_OPTIONS_INIT;
	struct tracemend_error error;
	struct tracemend_input *input = tracemend_open(path, NULL, &error);
	struct tracemend_report *report;
	int failed = 0;

	options.max_findings = 3;
	report = input ? tracemend_check(input, &options, &error) : NULL;
	if (!report) {
		fprintf(stderr, "%s\n", error.message);
		tracemend_close(input);
		return 1;
	}
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		printf("%s:0x%llx: %s: %s [%s]\n", tracemend_report_summary(report)->path, (unsigned long long)f->offset,
		       tracemend_severity_name(f->severity), f->message, f->rule->id);
	}
	if (tracemend_report_summary(report)->errors)
		failed = repair(input, path);
	tracemend_report_free(report);
	tracemend_close(input);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("libtracemend %s\n", tracemend_version());
	for (int i = 1; i < argc; i++)
		failed |= check(argv[i]);
	return failed;
}
