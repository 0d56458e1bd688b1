/* What the printers share. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

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

/* The rules that were reported; `kept` is 0. */
static struct report_tally *tally_rules(struct report_run *run, const struct report_entry *entry, size_t *count)
{
	*count = 0;
	if (!entry->report)
		return NULL;
	const struct tracemend_summary *s = tracemend_report_summary(entry->report);
	size_t room = tracemend_rule_count("container") + tracemend_rule_count(s->format);
	struct report_tally *tally = calloc(room ? room : 1, sizeof(*tally));
	if (!tally) {
		run->failed = true;
		return NULL;
	}
	*count = tally_table(run, entry->report, "container", tally);
	*count += tally_table(run, entry->report, s->format, tally + *count);
	return tally;
}

/* Counts the finding of that index. at: where the last one was found: findings of a rule are often adjacent. */
static void tally_count(struct report_tally *tally, size_t count, size_t *at, const struct tracemend_rule *rule, size_t index)
{
	if (*at >= count || tally[*at].rule != rule)
		for (*at = 0; *at < count && tally[*at].rule != rule; ++*at)
			;
	if (*at < count) {
		tally[*at].kept++;
		tally[*at].last = index;
	}
}

struct report_tally *report_tally(struct report_run *run, const struct report_entry *entry, size_t *count)
{
	struct report_tally *tally = tally_rules(run, entry, count);
	size_t findings = tally ? tracemend_report_finding_count(entry->report) : 0, at = 0;

	for (size_t i = 0; i < findings; i++)
		tally_count(tally, *count, &at, tracemend_report_finding(entry->report, i)->rule, i);
	return tally;
}

void report_read(struct report_reading *r, struct report_run *run, const struct report_entry *entry)
{
	*r = (struct report_reading){ .run = run, .entry = entry, .report = entry->report };
	r->tally = tally_rules(run, entry, &r->tallies);
}

/* Goes on to the findings behind those that the report had room for. */
static bool read_more(struct report_reading *r)
{
	if (!r->entry->more || !tracemend_report_is_full(r->report))
		return false;
	struct tracemend_report *more = r->entry->more(r->entry->more_ctx, r->skip);
	tracemend_report_free(r->own);
	r->report = r->own = more;
	r->index = 0;
	return tracemend_report_finding_count(more) > 0;
}

const struct tracemend_finding *report_read_next(struct report_reading *r)
{
	if (r->run->failed || (r->index >= tracemend_report_finding_count(r->report) && !read_more(r)))
		return NULL;
	const struct tracemend_finding *f = tracemend_report_finding(r->report, r->index);
	tally_count(r->tally, r->tallies, &r->last, f->rule, r->index++);
	r->skip += strcmp(f->rule->format, "container") != 0;
	return f;
}

void report_read_end(struct report_reading *r)
{
	tracemend_report_free(r->own);
	free(r->tally);
}

/* Whether a count of these begins the text: " bytes, of which". */
static bool message_counts(const char *text)
{
	static const char *const nouns[] = { "blocks", "bytes",	  "calls",   "entries", "events", "files",   "lines", "pages",
					     "places", "records", "strings", "symbols", "tasks",  "threads", "ticks", "words" };

	for (size_t i = 0; *text == ' ' && i < sizeof(nouns) / sizeof(nouns[0]); i++) {
		size_t length = strlen(nouns[i]);
		if (!strncmp(text + 1, nouns[i], length) && !(text[1 + length] >= 'a' && text[1 + length] <= 'z'))
			return true;
	}
	return false;
}

const char *report_message(const char *message, char out[REPORT_MESSAGE_SIZE])
{
	size_t at = 0;

	/* Each byte takes two at the most. */
	for (const char *p = message; *p && at + 2 < REPORT_MESSAGE_SIZE;) {
		size_t digits = p == message || p[-1] == ' ' || p[-1] == '(' ? strspn(p, "0123456789") : 0;
		bool grouped = digits > 3 && message_counts(p + digits);
		size_t length = digits ? digits : 1;
		for (size_t i = 0; i < length && at + 2 < REPORT_MESSAGE_SIZE; i++) {
			if (grouped && i && (digits - i) % 3 == 0)
				out[at++] = ',';
			out[at++] = p[i];
		}
		p += length;
	}
	out[at] = '\0';
	return out;
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
