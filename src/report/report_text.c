/* text and concise: for people. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static const char *text_severity_color(enum tracemend_severity severity)
{
	switch (severity) {
	case TM_ERROR:
		return "\033[1;31m";
	case TM_WARNING:
		return "\033[1;33m";
	case TM_NOTE:
		return "\033[1;36m";
	case TM_IGNORE:
		break;
	}
	return "";
}

/* "file:0x41c0: error: message [rule]" */
static void text_headline(const struct report_run *run, const struct report_entry *entry, const struct tracemend_finding *f)
{
	const char *bold = run->color ? "\033[1m" : "", *off = run->color ? "\033[0m" : "";
	char message[REPORT_MESSAGE_SIZE];

	fprintf(run->out, "%s%s%s%s:0x%llx:%s ", bold, entry->shown, *f->file ? "/" : "", f->file, (unsigned long long)f->offset,
		off);
	fprintf(run->out, "%s%s:%s %s [%s]\n", run->color ? text_severity_color(f->severity) : "",
		tracemend_severity_name(f->severity), off, report_message(f->message, message), f->rule->id);
}

/* Prints text of a rule or a finding in lines of 100 columns after a label. */
static void text_line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "  %-8s %s\n", label, text);
}

static void text_put(FILE *out, const char *text)
{
	fputs(text, out);
}

/* first: the first that is listed of its rule. Of the others, what is the same is not said again, and of warnings and notes the
 * bytes are left out. */
static void text_finding(const struct report_run *run, const struct report_entry *entry, const struct tracemend_finding *f,
			 bool first)
{
	text_headline(run, entry, f);
	if (*f->path)
		fprintf(run->out, "  %s\n", f->path);
	first |= run->verbose;
	if (first || f->severity == TM_ERROR)
		report_hex(run->out, f, run->color, text_put);
	/* The hex rows show the beginning of the finding, not its extent. */
	if (f->length > TRACEMEND_CONTEXT) {
		report_count(run->out, "  length   ", f->length, "byte");
		fprintf(run->out, ", up to 0x%llx\n", (unsigned long long)(f->offset + f->length - 1));
	}
	if (first && *f->rule->clause)
		text_line(run->out, "because", f->rule->clause);
	if (run->verbose && *f->rule->explanation)
		text_line(run->out, "means", f->rule->explanation);
	if (first && *f->rule->repair)
		text_line(run->out, "repair", f->rule->repair);
	if (f->explains) {
		report_count(run->out, "  explains ", f->explains, "further finding");
		fputc('\n', run->out);
	}
}

/* The findings that are listed: errors and warnings, and notes where they are asked for or make the input fail; in the order of the
 * files and of the offsets in them. */
struct text_list {
	size_t *order; /* indices of findings */
	size_t count;
	struct report_tally *tally;
	size_t tallies;
	bool *begun; /* by tally: a finding of its rule was listed */
	bool notes;
};

static bool text_shows_notes(const struct report_run *run)
{
	return run->verbose || run->fail_on == TM_NOTE;
}

struct text_place {
	const char *file;
	uint64_t offset;
	size_t index;
};

static int text_compare(const void *a, const void *b)
{
	const struct text_place *p = a, *q = b;
	int files = strcmp(p->file, q->file);

	if (files)
		return files;
	if (p->offset != q->offset)
		return p->offset < q->offset ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

static void text_list_free(struct text_list *list)
{
	free(list->order);
	free(list->tally);
	free(list->begun);
}

static void text_list_make(struct report_run *run, const struct report_entry *entry, struct text_list *list)
{
	size_t findings = entry->report ? tracemend_report_finding_count(entry->report) : 0;
	struct text_place *places = calloc(findings ? findings : 1, sizeof(*places));

	*list = (struct text_list){ .notes = text_shows_notes(run) };
	list->order = calloc(findings ? findings : 1, sizeof(*list->order));
	if (!places || !list->order) {
		run->failed = true;
		free(places);
		return;
	}
	list->tally = report_tally(run, entry, &list->tallies);
	list->begun = calloc(list->tallies ? list->tallies : 1, sizeof(*list->begun));
	if (!list->begun) {
		run->failed = true;
		free(places);
		return;
	}
	for (size_t k = 0; k < list->tallies; k++)
		list->tally[k].last = SIZE_MAX; /* set by text_list_ends() */
	for (size_t i = 0; i < findings; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, i);
		if (f->severity != TM_NOTE || list->notes)
			places[list->count++] = (struct text_place){ .file = f->file, .offset = f->offset, .index = i };
	}
	qsort(places, list->count, sizeof(*places), text_compare);
	for (size_t i = 0; i < list->count; i++)
		list->order[i] = places[i].index;
	free(places);
}

/* The tally of a rule; NULL: it has none, as all its findings are listed elsewhere. */
static struct report_tally *text_tally(const struct text_list *list, const struct tracemend_rule *rule)
{
	for (size_t k = 0; k < list->tallies; k++)
		if (list->tally[k].rule == rule)
			return &list->tally[k];
	return NULL;
}

/* Sets `last` of every tally to the place of its rule's last finding in the list. */
static void text_list_ends(struct text_list *list, const struct report_entry *entry)
{
	struct report_tally *t = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct tracemend_rule *rule = tracemend_report_finding(entry->report, list->order[i])->rule;
		t = t && t->rule == rule ? t : text_tally(list, rule);
		if (t)
			t->last = i;
	}
}

static void text_cut(const struct report_run *run, const struct report_tally *t, bool named)
{
	if (t->count <= t->kept)
		return;
	char number[32];
	fprintf(run->out, "  and %s more of this rule%s%s%s: %s\n", text_number(number, t->count - t->kept), named ? " [" : "",
		named ? t->rule->id : "", named ? "]" : "",
		run->options && run->options->max_findings ? "--max-findings 0 shows all" : "the report is full");
}

/* "1 error, 0 warnings, 4 notes (-v lists them)" */
static void text_verdict(const struct report_run *run, const struct tracemend_summary *s, uint64_t known)
{
	bool hidden = s->notes && !text_shows_notes(run);

	if (s->errors || s->warnings || (s->notes && !s->complete)) {
		fputs(": ", run->out);
		report_counts(run->out, s);
	} else if (s->complete) {
		fputs(known ? ": nothing new" : ": clean", run->out);
		if (s->notes)
			report_count(run->out, ", ", s->notes, "note");
	} else {
		fputs(": nothing found", run->out);
	}
	if (known)
		report_count(run->out, ", ", known, "known finding");
	if (hidden)
		fprintf(run->out, " (-v lists %s)", s->notes == 1 ? "it" : "them");
}

/* "magic.fxt: fxt, 35,463 records, 992,384 bytes: 1 error, 0 warnings, 4 notes" */
static void text_summary(const struct report_run *run, const struct report_entry *entry)
{
	struct tracemend_summary s = report_summary(entry);
	FILE *out = run->out;

	if (!entry->report)
		return; /* standard error says why */
	/* A bare number would be read as the version of a tool. */
	bool bare = *s.format_version >= '0' && *s.format_version <= '9';
	fprintf(out, "%s: %s%s%s%s", s.path, s.format, bare ? " format" : "", *s.format_version ? " " : "", s.format_version);
	report_count(out, ", ", s.records, "record");
	report_count(out, ", ", s.size, "byte");
	text_verdict(run, &s, entry->known);
	if (!s.complete) {
		size_t prefix = strlen(s.path); /* it is in the line already */
		bool named = !strncmp(s.incomplete, s.path, prefix) && !strncmp(s.incomplete + prefix, ": ", 2);
		fprintf(out, "; INCOMPLETE, not everything was checked: %s", s.incomplete + (named ? prefix + 2 : 0));
	}
	fputc('\n', out);
}

static void text_entry(struct report_run *run, const struct report_entry *entry)
{
	struct text_list list;

	text_list_make(run, entry, &list);
	text_list_ends(&list, entry);
	for (size_t i = 0; i < list.count; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(entry->report, list.order[i]);
		const struct report_tally *t = text_tally(&list, f->rule);
		text_finding(run, entry, f, !t || !list.begun[t - list.tally]);
		if (t)
			list.begun[t - list.tally] = true;
		if (t && t->last == i)
			text_cut(run, t, false);
		fputc('\n', run->out);
	}
	for (size_t k = 0; k < list.tallies; k++)
		if (!list.tally[k].kept)
			text_cut(run, &list.tally[k], true);
	text_list_free(&list);
	if (entry->report && (!run->quiet || !tracemend_report_summary(entry->report)->complete))
		text_summary(run, entry);
}

/* The last line of a report on several inputs. */
static void text_end(struct report_run *run)
{
	if ((run->printed < 2 && !run->passed_over) || run->quiet)
		return;
	report_count(run->out, "", run->printed, "input");
	char number[32];
	fprintf(run->out, ": %s with errors", text_number(number, run->with_errors));
	if (run->incomplete)
		fprintf(run->out, ", %s not checked completely", text_number(number, run->incomplete));
	if (run->passed_over)
		report_count(run->out, "; passed over ", run->passed_over, "other file");
	fputc('\n', run->out);
}

const struct report_printer report_text = { .name = "text", .people = true, .entry = text_entry, .end = text_end };

static void concise_entry(struct report_run *run, const struct report_entry *entry)
{
	struct text_list list;

	text_list_make(run, entry, &list);
	for (size_t i = 0; i < list.count; i++)
		text_headline(run, entry, tracemend_report_finding(entry->report, list.order[i]));
	text_list_ends(&list, entry);
	for (size_t k = 0; k < list.tallies; k++) {
		const struct report_tally *t = &list.tally[k];
		if (t->count <= t->kept || (t->kept && t->last == SIZE_MAX))
			continue;
		char number[32];
		fprintf(run->out, "%s: and %s more [%s]\n", entry->shown, text_number(number, t->count - t->kept), t->rule->id);
	}
	text_list_free(&list);
	if (entry->report && (!run->quiet || !tracemend_report_summary(entry->report)->complete))
		text_summary(run, entry);
}

const struct report_printer report_concise = { .name = "concise", .entry = concise_entry, .end = text_end };
