/* P7 for a report: every finding lies within its file, and every text is escaped. */
#include <string.h>

#include "oracle_parts.h"

static bool rule_is_of(const struct tracemend_rule *rule, const char *format)
{
	return rule && (!strcmp(rule->format, format) || !strcmp(rule->format, "container")) &&
	       tracemend_rule_find(rule->id) == rule;
}

/* The offsets of the finding lie within its file, and its context is in the file. */
static void finding_lies_within(const struct tracemend_finding *fd, const struct capture_file *f)
{
	const char *id = fd->rule->id;
	uint64_t size = f->size;

	if (fd->offset > size || fd->length > size - fd->offset)
		oracle_broken("P7", "%s: [%llu, +%llu) is outside of %s (%llu bytes)", id, (unsigned long long)fd->offset,
			      (unsigned long long)fd->length, fd->file, (unsigned long long)size);
	if (fd->field_length && (fd->field_offset > size || fd->field_length > size - fd->field_offset))
		oracle_broken("P7", "%s: its field [%llu, +%u) is outside of %s (%llu bytes)", id,
			      (unsigned long long)fd->field_offset, fd->field_length, fd->file, (unsigned long long)size);
	if (!fd->context_length)
		return;
	if (fd->context_length > TRACEMEND_CONTEXT || fd->context_offset > size || fd->context_length > size - fd->context_offset)
		oracle_broken("P7", "%s: its context is outside of %s", id, fd->file);
	if (f->role == TM_ROLE_INPUT && memcmp(fd->context, f->data + fd->context_offset, fd->context_length) != 0)
		oracle_broken("P7", "%s: its context is not what %s has there", id, fd->file);
}

/* Files whose names are escaped are not looked up. */
static void finding_is_sane(const struct tracemend_finding *fd, const char *format, const struct capture *c)
{
	if (!rule_is_of(fd->rule, format))
		oracle_broken("P7", "a finding's rule is not one of %s", format);
	const char *id = fd->rule->id;
	oracle_text_is_sane(id, fd->file);
	oracle_text_is_sane(id, fd->path);
	oracle_text_is_sane(id, fd->message);
	if (fd->field_length)
		oracle_text_is_sane(id, fd->field);
	if (!*fd->message)
		oracle_broken("P7", "%s: a finding without a message", id);
	if (fd->severity != TM_NOTE && fd->severity != TM_WARNING && fd->severity != TM_ERROR)
		oracle_broken("P7", "%s: severity %d", id, (int)fd->severity);
	if (fd->severity > fd->rule->severity)
		oracle_broken("P7", "%s is reported with a higher severity than its row's", id);
	const struct capture_file *f = c ? capture_find_shown(c, TM_ROLE_INPUT, fd->file) : NULL;
	if (!f && c)
		f = capture_find_shown(c, TM_ROLE_EXTRA, fd->file);
	if (f)
		finding_lies_within(fd, f);
}

void oracle_report_print(struct oracle_text *t, const struct tracemend_report *report)
{
	const struct tracemend_summary *s = tracemend_report_summary(report);
	oracle_text_add(t, "format %s version %s size %llu records %llu errors %llu warnings %llu notes %llu complete %d %s\n",
			s->format, s->format_version, (unsigned long long)s->size, (unsigned long long)s->records,
			(unsigned long long)s->errors, (unsigned long long)s->warnings, (unsigned long long)s->notes, s->complete,
			s->incomplete);
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		oracle_text_add(
			t, "%s %d file '%s' at %llu+%llu path '%s' message '%s' explains %llu field %llu+%u '%s' context %llu ",
			fd->rule->id, (int)fd->severity, fd->file, (unsigned long long)fd->offset, (unsigned long long)fd->length,
			fd->path, fd->message, (unsigned long long)fd->explains, (unsigned long long)fd->field_offset,
			fd->field_length, fd->field_length ? fd->field : "", (unsigned long long)fd->context_offset);
		oracle_text_hex(t, fd->context, fd->context_length);
		oracle_text_add(t, "\n");
	}
	for (size_t i = 0; i < tracemend_report_fact_count(report); i++) {
		const struct tracemend_fact *fact = tracemend_report_fact(report, i);
		oracle_text_add(t, "fact %s = %s\n", fact->key, fact->value);
	}
}

void oracle_report_is_sane(const struct tracemend_report *report, const struct capture *c)
{
	const struct tracemend_summary *s = tracemend_report_summary(report);
	uint64_t counts[3] = { 0 };
	uint64_t kept = 0;
	oracle_text_is_sane("format version", s->format_version);
	oracle_text_is_sane("reason of incompleteness", s->incomplete);
	if (s->complete == (*s->incomplete != '\0'))
		oracle_broken("P8", "complete is %d and the reason is '%s'", s->complete, s->incomplete);
	/* A capture that was copied as text is read, and reported on, without the bytes that were put in. */
	const struct tracemend_rule *as_text = tracemend_rule_find("container/line-ends");
	if (as_text && tracemend_report_rule_count(report, as_text))
		c = NULL;
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		finding_is_sane(fd, s->format, c);
		counts[fd->severity]++;
		kept++;
		if (!tracemend_report_rule_count(report, fd->rule))
			oracle_broken("P7", "%s is listed and counted zero times", fd->rule->id);
	}
	if (kept > s->errors + s->warnings + s->notes || counts[TM_ERROR] > s->errors || counts[TM_WARNING] > s->warnings ||
	    counts[TM_NOTE] > s->notes)
		oracle_broken("P7", "more findings are listed than counted");
	for (size_t i = 0; i < tracemend_report_fact_count(report); i++) {
		oracle_text_is_sane("fact", tracemend_report_fact(report, i)->key);
		oracle_text_is_sane("fact", tracemend_report_fact(report, i)->value);
		const struct tracemend_fact *fact = tracemend_report_fact(report, i);
		for (size_t j = 0; j < fact->field_count; j++)
			if (fact->fields[j].text)
				oracle_text_is_sane("fact", fact->fields[j].text);
	}
}
