/* Inputs and reports. */
#include <stdlib.h>
#include <string.h>

#include "core/container.h"
#include "core/text.h"
#include "engine/engine.h"

void tracemend_escape(char *out, size_t size, const char *text)
{
	text_sanitise(out, size, text);
}

/* ---- inputs ---- */

struct tracemend_input *input_from_bundle(struct bundle *b, struct tracemend_error *error)
{
	struct tracemend_input *input = b ? malloc(sizeof(*input)) : NULL;
	if (!input) {
		(void)fault_memory(error);
		bundle_free(b);
		return NULL;
	}
	input->bundle = b;
	return input;
}

struct bundle *input_bundle(struct tracemend_input *input)
{
	return input->bundle;
}

struct tracemend_input *tracemend_open(const char *path, const struct tracemend_options *options, struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	return input_from_bundle(bundle_open(path, options, error), error);
}

struct tracemend_input *tracemend_open_memory(const char *name, const void *data, size_t size,
					      const struct tracemend_options *options, struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	return input_from_bundle(bundle_open_memory(name, data, size, options, error), error);
}

enum tracemend_status tracemend_add(struct tracemend_input *input, const char *path, enum tracemend_role role,
				    struct tracemend_error *error)
{
	struct bundle *b = input->bundle;
	enum tracemend_status status = bundle_add_path(b, path, role);
	bundle_sort(b);
	if (error)
		*error = b->error;
	return status;
}

void tracemend_close(struct tracemend_input *input)
{
	if (input) {
		bundle_free(input->bundle);
		free(input);
	}
}

/* ---- the walk ---- */

void tracemend_report_free(struct tracemend_report *report)
{
	if (!report)
		return;
	findings_free(report->container);
	findings_free(report->findings);
	facts_free(&report->facts);
	free(report->path);
	free(report);
}

static struct tracemend_report *report_new(struct bundle *b, const struct format *f, const struct tracemend_options *options)
{
	struct tracemend_report *report = calloc(1, sizeof(*report));
	if (!report)
		return NULL;
	size_t room = 4 * strlen(b->path) + 8;
	report->format = f;
	report->path = malloc(room);
	report->container = findings_new(container_rules, CONTAINER_RULE_COUNT, options);
	report->findings = findings_new(f->rules, f->rule_count, options);
	if (!report->path || !report->container || !report->findings) {
		tracemend_report_free(report);
		return NULL;
	}
	text_sanitise(report->path, room, b->path);
	return report;
}

/* The outcome of the walk: the first failure of the walk, its sources or its findings. */
static enum tracemend_status scan_outcome(const struct bundle *b, const struct scan *s, enum tracemend_status walked)
{
	if (b->error.status != TM_OK)
		return b->error.status;
	if (walked != TM_OK)
		return walked;
	if (findings_status(s->findings) != TM_OK)
		return findings_status(s->findings);
	if (s->plan && plan_status(s->plan) != TM_OK)
		return plan_status(s->plan);
	if (s->facts && s->facts->failed)
		return TM_NO_MEMORY;
	return *s->incomplete ? TM_LIMIT : TM_OK;
}

static void report_summarise(struct tracemend_report *report, const struct bundle *b, const struct scan *s)
{
	struct tracemend_summary *sum = &report->summary;
	uint64_t errors, warnings, notes;

	sum->path = report->path;
	sum->format = report->format->public.name;
	text_sanitise(report->version, sizeof(report->version), s->version);
	sum->format_version = report->version;
	for (size_t i = 0; i < b->count; i++)
		if (b->sources[i]->role == TM_ROLE_INPUT)
			sum->size += b->sources[i]->size;
	sum->records = s->records;
	findings_totals(report->container, &sum->errors, &sum->warnings, &sum->notes);
	findings_totals(report->findings, &errors, &warnings, &notes);
	sum->errors += errors;
	sum->warnings += warnings;
	sum->notes += notes;
}

struct tracemend_report *engine_scan(struct bundle *b, const struct format *f, const struct tracemend_options *options,
				     struct plan *plan, enum tracemend_status *status, struct tracemend_error *error)
{
	struct tracemend_report *report = report_new(b, f, options);
	struct scan s = { .in = b, .plan = plan };

	if (!report) {
		*status = fault_memory(error);
		return NULL;
	}
	struct tracemend_error profile_error = { 0 };
	s.profile = format_profile(f, options ? options->profile : NULL, &profile_error);
	s.findings = report->findings;
	s.facts = options && options->facts ? &report->facts : NULL;
	container_report(b, report->container);
	/* The profile of another format is ignored, unless the format was chosen by name. */
	bool refused = profile_error.status != TM_OK && options && options->format;
	*status = refused ? profile_error.status : scan_outcome(b, &s, f->scan(&s));
	report_summarise(report, b, &s);
	report->summary.complete = *status == TM_OK;
	if (*status == TM_NOTHING)
		(void)fault_set(error, TM_NOTHING, "%s: nothing can be salvaged%s%s", b->path, *s.incomplete ? ": " : "",
				s.incomplete);
	else if (refused)
		(void)fault_set(error, *status, "%s", profile_error.message);
	else if (b->error.status != TM_OK)
		(void)fault_set(error, b->error.status, "%s", b->error.message);
	else if (*status == TM_NO_MEMORY)
		(void)fault_memory(error);
	else if (*status != TM_OK)
		(void)fault_set(error, *status, "%s: %s", b->path, *s.incomplete ? s.incomplete : "a limit was reached");
	if (*status != TM_OK)
		text_sanitise(report->incomplete, sizeof(report->incomplete), error->message);
	report->summary.incomplete = report->incomplete;
	return report;
}

struct tracemend_report *tracemend_check(struct tracemend_input *input, const struct tracemend_options *options,
					 struct tracemend_error *error)
{
	struct tracemend_error fallback = { 0 };
	enum tracemend_status status;

	error = error ? error : &fallback;
	*error = (struct tracemend_error){ 0 };
	const struct format *f = format_recognise(input->bundle, options, error);
	return f ? engine_scan(input->bundle, f, options, NULL, &status, error) : NULL;
}

/* ---- access ---- */

const struct tracemend_summary *tracemend_report_summary(const struct tracemend_report *report)
{
	return &report->summary;
}

size_t tracemend_report_finding_count(const struct tracemend_report *report)
{
	return findings_kept_count(report->container) + findings_kept_count(report->findings);
}

const struct tracemend_finding *tracemend_report_finding(const struct tracemend_report *report, size_t index)
{
	size_t first = findings_kept_count(report->container);
	return index < first ? findings_kept_at(report->container, index) : findings_kept_at(report->findings, index - first);
}

uint64_t tracemend_report_rule_count(const struct tracemend_report *report, const struct tracemend_rule *rule)
{
	if (rule >= container_rules && rule < container_rules + CONTAINER_RULE_COUNT)
		return findings_count(report->container, (unsigned)(rule - container_rules));
	const struct tracemend_rule *first = report->format->rules;
	if (rule >= first && rule < first + report->format->rule_count)
		return findings_count(report->findings, (unsigned)(rule - first));
	return 0;
}

size_t tracemend_report_fact_count(const struct tracemend_report *report)
{
	return report->facts.count;
}

const struct tracemend_fact *tracemend_report_fact(const struct tracemend_report *report, size_t index)
{
	return &report->facts.list[index];
}

uint64_t report_own_errors(const struct tracemend_report *report)
{
	return findings_errors(report->container) + findings_errors(report->findings);
}
