/* info: what a capture is. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report.h"

/* A value that is nothing but a number, with a unit or without. */
struct info_digits {
	size_t fraction;  /* of its length, the point and what follows; 0: whole */
	const char *unit; /* behind it: empty, or a blank and a word */
};

/* Whether the value of a fact is one. */
static bool info_digits(const struct tracemend_fact *fact, struct info_digits *d)
{
	const char *digits = fact->value + (*fact->value == '-');
	size_t whole = strspn(digits, "0123456789");

	d->fraction = digits[whole] == '.' ? 1 + strspn(digits + whole + 1, "0123456789") : 0;
	d->unit = digits + whole + d->fraction;
	/* 2.10 is another version than 2.1. */
	return strcmp(fact->key, "version") != 0 && whole && whole <= 18 && d->fraction != 1 &&
	       (!*d->unit || (*d->unit == ' ' && !strchr(d->unit + 1, ' ') && !strpbrk(d->unit, ",:(")));
}

static void info_fact(const struct tracemend_fact *fact)
{
	struct info_digits digits;
	char number[32];

	if (info_digits(fact, &digits) && !digits.fraction && *fact->value != '-')
		printf("  %-16s %s%s\n", fact->key, text_number(number, strtoull(fact->value, NULL, 10)), digits.unit);
	else
		printf("  %-16s %s\n", fact->key, fact->value);
}

static void info_text(const struct tracemend_report *report, const char *shown, const struct cli_histogram *histogram, bool color)
{
	const struct tracemend_summary *s = tracemend_report_summary(report);
	char a[64], b[64], c[64];

	printf("%s%s%s\n", color ? "\033[1m" : "", shown, color ? "\033[0m" : "");
	printf("  %-16s %s%s%s\n", "format", s->format, *s->format_version ? " " : "", s->format_version);
	printf("  %-16s %s\n", "size", text_count(a, s->size, "byte"));
	printf("  %-16s %s\n", "records", text_number(a, s->records));
	printf("  %-16s %s, %s, %s%s\n", "findings", text_count(a, s->errors, "error"), text_count(b, s->warnings, "warning"),
	       text_count(c, s->notes, "note"), s->errors || s->warnings ? " ('tracemend check' lists them)" : "");
	for (size_t i = 0; i < tracemend_report_fact_count(report); i++) {
		const struct tracemend_fact *fact = tracemend_report_fact(report, i);
		info_fact(fact);
	}
	cli_histogram_print(histogram);
	if (!s->complete)
		printf("  %-16s %s\n", "incomplete", s->incomplete);
}

/* A fact as a number: "number", and "unit". Fractions are exact to the nanosecond in "value" only. */
static bool info_number(json_t *object, const struct tracemend_fact *fact)
{
	struct info_digits digits;

	if (!info_digits(fact, &digits))
		return true;
	if (!report_json_set(object, "number",
			     digits.fraction ? json_real(strtod(fact->value, NULL)) : json_integer(strtoll(fact->value, NULL, 10))))
		return false;
	return !*digits.unit || report_json_set(object, "unit", json_string(digits.unit + 1));
}

/* A fact in parts: "name", and "fields". */
static bool info_fields(json_t *object, const struct tracemend_fact *fact)
{
	json_t *fields;

	if (!fact->field_count)
		return true;
	if (!report_json_set(object, "name", json_string(fact->name)) || !(fields = json_object()))
		return false;
	for (size_t i = 0; i < fact->field_count; i++) {
		const struct tracemend_fact_field *field = &fact->fields[i];
		char digits[24];
		json_t *value;
		/* Of what a JSON reader takes for an integer, nothing is larger. */
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)field->number);
		if (!field->text && field->number <= INT64_MAX)
			value = json_integer((json_int_t)field->number);
		else
			value = json_string(field->text ? field->text : digits);
		if (!report_json_set(fields, field->name, value)) {
			json_decref(fields);
			return false;
		}
	}
	return report_json_set(object, "fields", fields);
}

/* Facts are a list: a key may occur more than once. */
static void info_json(struct report_run *run, const struct report_entry *entry)
{
	json_t *object = report_json_summary(entry), *facts = json_array();
	size_t count = entry->report ? tracemend_report_fact_count(entry->report) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct tracemend_fact *fact = tracemend_report_fact(entry->report, i);
		json_t *one = json_pack("{s:s,s:s}", "key", fact->key, "value", fact->value);
		if (!one || !info_number(one, fact) || !info_fields(one, fact) || json_array_append(facts, one))
			run->failed = true;
		json_decref(one);
	}
	if (!report_json_set(object, "facts", facts))
		run->failed = true;
	report_json_print(run, object);
}

int cli_info(struct cli_options *o)
{
	struct report_run run = { .out = stdout, .options = &o->library };
	struct cli_histogram histogram;
	bool json = !strcmp(o->format, "json");
	int code = CLI_CLEAN;

	if (!o->paths.count)
		return cli_usage("info needs a file or directory");
	o->library.facts = true;
	/* Giving the records away takes time: somebody must be looking. */
	if (!json && (o->verbose || (!o->quiet && isatty(STDOUT_FILENO)))) {
		o->library.record = cli_histogram_add;
		o->library.record_ctx = &histogram;
	}
	if (json)
		printf("{\"tool\":\"tracemend\",\"version\":\"%s\",\"inputs\":[", TRACEMEND_VERSION);
	struct cli_progress *progress = cli_progress_new(o, 1, o->paths.count);
	cli_progress_attach(progress, 0, &o->library);
	for (size_t i = 0; i < o->paths.count && !cli_signals_caught(); i++) {
		struct tracemend_error error = { 0 };
		char shown[CLI_TEXT_MAX];
		histogram = (struct cli_histogram){ 0 };
		struct tracemend_input *input = tracemend_open(o->paths.items[i], &o->library, &error);
		struct tracemend_report *report = input ? tracemend_check(input, &o->library, &error) : NULL;
		struct report_entry entry = {
			.path = o->paths.items[i], .shown = cli_show(shown, o->paths.items[i]), .report = report, .error = &error
		};
		cli_progress_finished(progress, 0);
		cli_progress_hide(progress);
		if (json) {
			fputs(i ? ",\n" : "\n", stdout);
			info_json(&run, &entry);
		} else if (report) {
			info_text(report, shown, &histogram, cli_colored(o, stdout));
		}
		fflush(stdout);
		int several = error.status == TM_UNRECOGNISED ? cli_refuse_several(o->paths.items[i], input, &o->library)
							      : CLI_CLEAN;
		if (several || error.status != TM_OK)
			code = cli_worse(code, several ? several : cli_fail(&error));
		cli_progress_show(progress);
		tracemend_report_free(report);
		tracemend_close(input);
	}
	cli_progress_free(progress);
	if (json)
		fputs("\n]}\n", stdout);
	if (run.failed) {
		cli_error("out of memory: the report is incomplete");
		code = cli_worse(code, CLI_LIMIT);
	}
	return cli_signals_caught() ? CLI_SIGNAL + cli_signals_caught() : code;
}
