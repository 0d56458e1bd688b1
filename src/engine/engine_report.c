/* Reports that are made of other reports, or of what was read elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "core/container.h"
#include "core/text.h"
#include "engine/engine.h"

struct tracemend_report *tracemend_report_make(const struct tracemend_summary *summary, size_t max_findings,
					       struct tracemend_error *error)
{
	struct tracemend_options options = { .max_findings = max_findings };
	struct tracemend_error fallback;
	struct tracemend_summary own;

	error = engine_begin(error, &fallback);
	if (!summary)
		return engine_null(error, "summary");
	/* The size of version 0.1.0: as long as there is no other version, all of it. */
	if (!engine_take(&own, sizeof(own), sizeof(own), summary, summary->struct_size, error))
		return NULL;
	const struct format *f = format_find(own.format);
	if (!f) {
		(void)fault_set(error, TM_USAGE, "unknown format: %s", own.format ? own.format : "");
		return NULL;
	}
	struct tracemend_report *report = calloc(1, sizeof(*report));
	if (report) {
		report->format = f;
		report->path = strdup(own.path ? own.path : "");
		report->container = findings_new(container_rules, CONTAINER_RULE_COUNT, &options);
		report->findings = findings_new(f->rules, f->rule_count, &options);
	}
	if (!report || !report->path || !report->container || !report->findings) {
		(void)fault_memory(error);
		tracemend_report_free(report);
		return NULL;
	}
	report->summary = own;
	report->summary.struct_size = sizeof(own);
	report->summary.path = report->path;
	report->summary.format = f->public.name;
	/* Not cut inside a character: they may come from elsewhere. */
	text_sanitise(report->version, sizeof(report->version), own.format_version ? own.format_version : "");
	text_sanitise(report->incomplete, sizeof(report->incomplete), own.incomplete ? own.incomplete : "");
	report->summary.format_version = report->version;
	report->summary.incomplete = report->incomplete;
	return report;
}

/* The findings to which a rule belongs, and its index in their table. NULL: to none of this report. */
static struct findings *report_table(const struct tracemend_report *report, const struct tracemend_rule *rule, unsigned *index)
{
	if (rule >= container_rules && rule < container_rules + CONTAINER_RULE_COUNT) {
		*index = (unsigned)(rule - container_rules);
		return report->container;
	}
	const struct tracemend_rule *first = report->format->rules;
	if (rule < first || rule >= first + report->format->rule_count)
		return NULL;
	*index = (unsigned)(rule - first);
	return report->findings;
}

enum tracemend_status tracemend_report_add(struct tracemend_report *report, const struct tracemend_finding *finding)
{
	struct tracemend_finding own;
	struct tracemend_error error;
	unsigned index;

	if (!report || !finding || !engine_take(&own, sizeof(own), sizeof(own), finding, finding->struct_size, &error))
		return TM_USAGE;
	const char **texts[] = { &own.file, &own.path, &own.message, &own.field };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = *texts[i] ? *texts[i] : "";
	struct findings *f = report_table(report, own.rule, &index);
	if (!f || own.context_length > TRACEMEND_CONTEXT)
		return TM_USAGE;
	findings_copy(f, index, &own);
	return findings_status(f);
}

enum tracemend_status tracemend_report_add_unlisted(struct tracemend_report *report, const struct tracemend_rule *rule,
						    uint64_t count)
{
	unsigned index;
	struct findings *f = report ? report_table(report, rule, &index) : NULL;

	if (!f)
		return TM_USAGE;
	findings_count_more(f, index, count);
	return TM_OK;
}

/* Counts of a table that are not of kept findings. */
static void select_unlisted(struct tracemend_report *copy, const struct tracemend_report *from, const struct tracemend_rule *rules,
			    size_t count, const uint64_t *kept)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t all = tracemend_report_rule_count(from, &rules[i]);
		if (all > kept[i])
			(void)tracemend_report_add_unlisted(copy, &rules[i], all - kept[i]);
	}
}

static bool select_findings(struct tracemend_report *copy, const struct tracemend_report *from, uint64_t *kept,
			    bool (*keep)(void *ctx, const struct tracemend_finding *finding), void *ctx)
{
	uint64_t *totals[] = { &copy->summary.notes, &copy->summary.warnings, &copy->summary.errors };
	bool good = true;

	for (size_t i = 0; i < tracemend_report_finding_count(from) && good; i++) {
		const struct tracemend_finding *f = tracemend_report_finding(from, i);
		unsigned index = 0;
		kept[report_table(copy, f->rule, &index) == copy->container ? index : CONTAINER_RULE_COUNT + index]++;
		if (!keep || keep(ctx, f))
			good = tracemend_report_add(copy, f) == TM_OK;
		else if (f->severity >= TM_NOTE && f->severity <= TM_ERROR)
			--*totals[f->severity - TM_NOTE];
	}
	select_unlisted(copy, from, container_rules, CONTAINER_RULE_COUNT, kept);
	select_unlisted(copy, from, from->format->rules, from->format->rule_count, kept + CONTAINER_RULE_COUNT);
	return good;
}

struct tracemend_report *tracemend_report_select(const struct tracemend_report *report, size_t max_findings,
						 bool (*keep)(void *ctx, const struct tracemend_finding *finding), void *ctx,
						 struct tracemend_error *error)
{
	struct tracemend_error fallback;

	error = engine_begin(error, &fallback);
	if (!report)
		return engine_null(error, "report");
	struct tracemend_report *copy = tracemend_report_make(&report->summary, max_findings, error);
	uint64_t *kept = copy ? calloc(CONTAINER_RULE_COUNT + report->format->rule_count, sizeof(*kept)) : NULL;
	bool good = kept && select_findings(copy, report, kept, keep, ctx);
	free(kept);
	if (good)
		return copy;
	(void)fault_memory(error);
	tracemend_report_free(copy);
	return NULL;
}
