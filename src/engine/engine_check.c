/* Inputs and reports. */
#include <stdlib.h>
#include <string.h>

#include "core/container.h"
#include "core/line_ends.h"
#include "core/sink.h"
#include "core/text.h"
#include "engine/engine.h"

void tracemend_escape(char *out, size_t size, const char *text)
{
	if (out && size)
		text_sanitise(out, size, text ? text : "");
}

/* ---- inputs ---- */

struct tracemend_input *input_from_bundle(struct bundle *b, struct tracemend_error *error)
{
	struct tracemend_input *input = b ? calloc(1, sizeof(*input)) : NULL;
	if (!input) {
		(void)fault_memory(error);
		bundle_free(b);
		return NULL;
	}
	*input = (struct tracemend_input){ .bundle = b, .users = 1 };
	return input;
}

struct tracemend_input *input_share(struct tracemend_input *input)
{
	input->users++;
	return input;
}

void input_progress(struct tracemend_input *input, const struct tracemend_options *options)
{
	if (options->progress) {
		input->bundle->progress = options->progress;
		input->bundle->progress_ctx = options->progress_ctx;
	}
}

struct bundle *input_bundle(struct tracemend_input *input)
{
	return input->bundle;
}

struct tracemend_input *tracemend_open(const char *path, const struct tracemend_options *options, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_options own;

	error = engine_begin(error, &fallback);
	if (!path)
		return engine_null(error, "path");
	if (!engine_options(&own, options, error))
		return NULL;
	return input_from_bundle(bundle_open(path, &own, error), error);
}

struct tracemend_input *tracemend_open_memory(const char *name, const void *data, size_t size,
					      const struct tracemend_options *options, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_options own;

	error = engine_begin(error, &fallback);
	if (!name || (!data && size))
		return engine_null(error, name ? "data" : "name");
	if (!engine_options(&own, options, error))
		return NULL;
	return input_from_bundle(bundle_open_memory(name, data, size, &own, error), error);
}

/* Relative, and without empty parts, "." and "..". */
static bool file_name_is_plain(const char *name)
{
	for (const char *part = name;; part++) {
		size_t length = strcspn(part, "/");
		if (!length || (length == 1 && *part == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part += length;
		if (!*part)
			return true;
	}
}

static bool files_are_sound(const struct tracemend_file *files, size_t count, struct tracemend_error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (!files[i].name || (!files[i].data && files[i].size)) {
			(void)engine_null(error, files[i].name ? "the data of a file" : "the name of a file");
			return false;
		}
		if (!file_name_is_plain(files[i].name)) {
			(void)fault_set(error, TM_USAGE, "%s: is not a path below the directory", files[i].name);
			return false;
		}
	}
	return true;
}

struct tracemend_input *tracemend_open_files(const char *name, const struct tracemend_file *files, size_t count,
					     const struct tracemend_options *options, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_options own;

	error = engine_begin(error, &fallback);
	if (!name || (!files && count))
		return engine_null(error, name ? "files" : "name");
	if (!files_are_sound(files, count, error) || !engine_options(&own, options, error))
		return NULL;
	struct bundle *b = bundle_new(name, &own);
	if (!b) {
		(void)fault_memory(error);
		return NULL;
	}
	b->directory = true;
	for (size_t i = 0; i < count && b->error.status == TM_OK; i++)
		(void)bundle_add_memory(b, files[i].name, files[i].size ? files[i].data : "", files[i].size);
	bundle_sort(b);
	if (b->error.status != TM_OK) {
		*error = b->error;
		bundle_free(b);
		return NULL;
	}
	return input_from_bundle(b, error);
}

enum tracemend_status tracemend_add(struct tracemend_input *input, const char *path, enum tracemend_role role,
				    struct tracemend_error *error)
{
	struct tracemend_error fallback;

	error = engine_begin(error, &fallback);
	if (!input || !path)
		(void)engine_null(error, input ? "path" : "input");
	else if (role != TM_ROLE_EXTRA && role != TM_ROLE_DONOR)
		(void)fault_set(error, TM_USAGE, "only extra pieces and donors are added");
	else if (input->users > 1)
		(void)fault_set(error, TM_USAGE, "nothing is added to an input while there is a repair of it");
	if (error->status != TM_OK || !input)
		return error->status;
	struct bundle *b = input->bundle;
	enum tracemend_status status = bundle_add_path(b, path, role);
	bundle_sort(b);
	*error = b->error;
	return status;
}

size_t tracemend_input_count(struct tracemend_input *input)
{
	return input ? input->bundle->count : 0;
}

bool tracemend_input_file(struct tracemend_input *input, size_t index, enum tracemend_role *role, uint64_t *bytes, char *name,
			  size_t size)
{
	if (index >= tracemend_input_count(input))
		return false;
	const struct source *s = input->bundle->sources[index];
	if (role)
		*role = s->role;
	if (bytes)
		*bytes = s->size;
	if (name && size)
		text_sanitise(name, size, s->name);
	return s->kind == SOURCE_FILE;
}

void tracemend_close(struct tracemend_input *input)
{
	if (!input || --input->users)
		return;
	for (size_t i = 0; i < input->part_count; i++)
		tracemend_close(input->parts[i]);
	free(input->parts);
	bundle_free(input->bundle);
	free(input);
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
static enum tracemend_status scan_outcome(const struct bundle *b, const struct scan *s, const struct findings *container,
					  enum tracemend_status walked)
{
	if (b->error.status != TM_OK)
		return b->error.status;
	if (walked != TM_OK)
		return walked;
	if (findings_status(container) != TM_OK)
		return findings_status(container);
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

	sum->struct_size = sizeof(*sum);
	sum->path = report->path;
	sum->format = report->format->public.name;
	text_sanitise(report->version, sizeof(report->version), s->version);
	sum->format_version = report->version;
	for (size_t i = 0; i < b->count; i++)
		if (b->sources[i]->role == TM_ROLE_INPUT)
			sum->size += b->sources[i]->size;
	sum->records = s->records;
	memcpy(report->advice, s->advice, sizeof(report->advice));
	report->advice_count = s->advice_count;
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
	struct sink sink;

	if (!report) {
		*status = fault_memory(error);
		return NULL;
	}
	struct tracemend_error profile_error = { 0 };
	s.profile = format_profile(f, options ? options->profile : NULL, &profile_error);
	s.findings = report->findings;
	s.threads = options ? options->threads : 0;
	s.facts = options && options->facts ? &report->facts : NULL;
	if (options && options->record && !plan) {
		memset(&sink, 0, sizeof(sink));
		sink.take = options->record;
		sink.ctx = options->record_ctx;
		sink.arguments = options->arguments;
		s.sink = &sink;
		s.slow = true;
		findings_observe(report->findings, &sink);
	}
	if (options && options->observe && !plan) {
		findings_tell(report->container, options->observe, options->observe_ctx);
		findings_tell(report->findings, options->observe, options->observe_ctx);
	}
	if (options && options->skip_findings) {
		findings_skip(report->container, SIZE_MAX);
		findings_skip(report->findings, options->skip_findings);
	}
	container_report(b, report->container);
	/* The profile of another format is ignored, unless the format was chosen by name. */
	bool refused = profile_error.status != TM_OK && options && options->format;
	*status = refused ? profile_error.status : scan_outcome(b, &s, report->container, f->scan(&s));
	report_summarise(report, b, &s);
	if (s.sink) {
		sink_flush(&sink);
		findings_observe(report->findings, NULL);
	}
	findings_tell(report->container, NULL, NULL);
	findings_tell(report->findings, NULL, NULL);
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
	report->reasoned = *s.incomplete;
	return report;
}

/* ---- captures that were copied as text ---- */

/* Errors of a walk; UINT64_MAX: nothing could be read. Anything but TM_OK, with *error, ends the work. */
static enum tracemend_status engine_errors(struct bundle *b, const struct format *f, const struct tracemend_options *given,
					   uint64_t *errors, struct tracemend_error *error)
{
	struct tracemend_options options = { .profile = given->profile, .window = given->window, .max_findings = 1 };
	struct tracemend_error failure = { 0 };
	enum tracemend_status status;

	struct tracemend_report *report = engine_scan(b, f, &options, NULL, &status, &failure);
	bool walked = report && (status == TM_OK || status == TM_LIMIT);
	*errors = walked ? findings_errors(report->findings) : UINT64_MAX;
	tracemend_report_free(report);
	if (walked || status == TM_UNRECOGNISED || status == TM_USAGE)
		return TM_OK;
	*error = failure;
	return status;
}

void engine_text_close(struct engine_text *text)
{
	bundle_free(text->view);
	plan_free(text->undo);
	*text = (struct engine_text){ 0 };
}

/* The same of the bundle without the bytes that were put in. */
static enum tracemend_status text_undo(struct engine_text *text, struct bundle *b, const struct format *f,
				       const struct tracemend_options *options, uint64_t *errors, struct tracemend_error *error)
{
	*errors = UINT64_MAX;
	text->undo = plan_new(b, f->rules, f->rule_count);
	if (!text->undo)
		return fault_memory(error);
	uint64_t bytes = line_ends_undo(b, text->undo, PLAN_CONTAINER + CONTAINER_RULE_line_ends);
	if (b->error.status != TM_OK) {
		*error = b->error;
		return error->status;
	}
	if (plan_status(text->undo) == TM_NO_MEMORY)
		return fault_memory(error);
	if (!bytes)
		return TM_OK;
	enum tracemend_status status = plan_verify(text->undo, error);
	if (status != TM_OK)
		return status;
	text->view = plan_bundle(text->undo, options, error);
	if (!text->view)
		return error->status;
	status = engine_errors(text->view, f, options, errors, error);
	text->view->line_ends = bytes;
	return status;
}

enum tracemend_status engine_text_open(struct engine_text *text, struct bundle *b, const struct format *f,
				       const struct tracemend_options *options, struct tracemend_error *error)
{
	uint64_t before = 0, behind = 0;
	enum tracemend_status status = TM_OK;

	*text = (struct engine_text){ 0 };
	/* A sound capture may have such bytes. */
	if (line_ends_suspected(b))
		status = engine_errors(b, f, options, &before, error);
	if (status == TM_OK && before)
		status = text_undo(text, b, f, options, &behind, error);
	if (status != TM_OK || behind >= before)
		engine_text_close(text);
	return status;
}

struct tracemend_report *tracemend_check(struct tracemend_input *input, const struct tracemend_options *options,
					 struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_options own;
	enum tracemend_status status;

	error = engine_begin(error, &fallback);
	if (!input)
		return engine_null(error, "input");
	if (!engine_options(&own, options, error))
		return NULL;
	struct bundle *b = input->bundle;
	bool (*progress)(void *ctx, uint64_t done, uint64_t total) = b->progress;
	void *progress_ctx = b->progress_ctx;
	input_progress(input, &own);
	const struct format *f = format_recognise(b, &own, error);
	struct engine_text text = { 0 };
	struct tracemend_report *report = NULL;
	if (f && engine_text_open(&text, b, f, &own, error) == TM_OK)
		report = engine_scan(text.view ? text.view : b, f, &own, NULL, &status, error);
	engine_text_close(&text);
	b->progress = progress;
	b->progress_ctx = progress_ctx;
	return report;
}

/* ---- access ---- */

const struct tracemend_summary *tracemend_report_summary(const struct tracemend_report *report)
{
	static const struct tracemend_summary none = { .path = "", .format = "", .format_version = "", .incomplete = "" };

	return report ? &report->summary : &none;
}

size_t tracemend_report_finding_count(const struct tracemend_report *report)
{
	return report ? findings_kept_count(report->container) + findings_kept_count(report->findings) : 0;
}

const struct tracemend_finding *tracemend_report_finding(const struct tracemend_report *report, size_t index)
{
	if (index >= tracemend_report_finding_count(report))
		return NULL;
	size_t first = findings_kept_count(report->container);
	return index < first ? findings_kept_at(report->container, index) : findings_kept_at(report->findings, index - first);
}

bool tracemend_report_is_full(const struct tracemend_report *report)
{
	return report && (findings_full(report->container) || findings_full(report->findings));
}

uint64_t tracemend_report_rule_count(const struct tracemend_report *report, const struct tracemend_rule *rule)
{
	if (!report || !rule)
		return 0;
	if (rule >= container_rules && rule < container_rules + CONTAINER_RULE_COUNT)
		return findings_count(report->container, (unsigned)(rule - container_rules));
	const struct tracemend_rule *first = report->format->rules;
	if (rule >= first && rule < first + report->format->rule_count)
		return findings_count(report->findings, (unsigned)(rule - first));
	return 0;
}

size_t tracemend_report_fact_count(const struct tracemend_report *report)
{
	return report ? report->facts.count : 0;
}

const struct tracemend_fact *tracemend_report_fact(const struct tracemend_report *report, size_t index)
{
	return index < tracemend_report_fact_count(report) ? &report->facts.list[index] : NULL;
}

size_t tracemend_report_advice_count(const struct tracemend_report *report)
{
	return report ? report->advice_count : 0;
}

struct tracemend_advice tracemend_report_advice(const struct tracemend_report *report, size_t index)
{
	if (index >= tracemend_report_advice_count(report))
		return (struct tracemend_advice){ .path = "", .text = "" };
	const struct advice *a = &report->advice[index];
	return (struct tracemend_advice){ .role = a->role, .path = a->path, .text = a->text };
}

uint64_t report_own_errors(const struct tracemend_report *report)
{
	return findings_errors(report->container) + findings_errors(report->findings);
}
