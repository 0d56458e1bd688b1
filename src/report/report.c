/* What the printers share. */
#include "report/report.h"

#include <stdlib.h>

struct tracemend_summary report_summary(const struct report_entry *entry)
{
	struct tracemend_summary s = { .format = "", .format_version = "", .incomplete = "" };

	if (entry->report)
		s = *tracemend_report_summary(entry->report);
	else
		s.incomplete = entry->error->message;
	s.path = entry->shown;
	return s;
}

bool report_fails(const struct report_run *run, const struct tracemend_summary *s)
{
	switch (run->fail_on) {
	case TM_NOTE:
		return s->errors || s->warnings || s->notes;
	case TM_WARNING:
		return s->errors || s->warnings;
	case TM_ERROR:
		return s->errors;
	case TM_IGNORE:
		break;
	}
	return false;
}

static bool rule_is_silenced(const struct report_run *run, const struct tracemend_rule *rule)
{
	const struct tracemend_options *o = run->options;

	return (rule->preview && !(o && o->preview)) ||
	       (o && o->grade && o->grade(o->grade_ctx, rule, rule->severity) == TM_IGNORE);
}

/* Appends the rules of a table ("container", or a format) that were reported. */
static size_t tally_table(struct report_run *run, const struct tracemend_report *report, const char *table,
			  struct report_tally *tally)
{
	size_t count = tracemend_rule_count(table), used = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(table, i);
		uint64_t met = tracemend_report_rule_count(report, rule);
		if (met && !rule_is_silenced(run, rule))
			tally[used++] = (struct report_tally){ .rule = rule, .count = met, .last = SIZE_MAX };
	}
	return used;
}

struct report_tally *report_tally(struct report_run *run, const struct report_entry *entry, size_t *count)
{
	*count = 0;
	if (!entry->report)
		return NULL;
	const struct tracemend_summary *s = tracemend_report_summary(entry->report);
	size_t room = tracemend_rule_count("container") + tracemend_rule_count(s->format), used = 0;
	struct report_tally *tally = calloc(room ? room : 1, sizeof(*tally));
	if (!tally) {
		run->failed = true;
		return NULL;
	}
	used = tally_table(run, entry->report, "container", tally);
	used += tally_table(run, entry->report, s->format, tally + used);
	size_t findings = tracemend_report_finding_count(entry->report), at = 0;
	for (size_t i = 0; i < findings; i++) {
		const struct tracemend_rule *rule = tracemend_report_finding(entry->report, i)->rule;
		if (at >= used || tally[at].rule != rule) /* findings of a rule are often adjacent */
			for (at = 0; at < used && tally[at].rule != rule; at++)
				;
		if (at < used) {
			tally[at].kept++;
			tally[at].last = i;
		}
	}
	*count = used;
	return tally;
}

void report_count(FILE *out, const char *before, uint64_t n, const char *noun)
{
	char counted[TEXT_COUNT_SIZE];

	fprintf(out, "%s%s", before, text_count(counted, n, noun));
}

void report_counts(FILE *out, const struct tracemend_summary *s)
{
	report_count(out, "", s->errors, "error");
	report_count(out, ", ", s->warnings, "warning");
	report_count(out, ", ", s->notes, "note");
}
