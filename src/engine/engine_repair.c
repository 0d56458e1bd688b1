/* Repair: makes the plan, verifies it (P1 to P4), and publishes the output. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/container.h"
#include "core/path.h"
#include "core/publish.h"
#include "core/text.h"
#include "engine/engine.h"

struct tracemend_repair {
	struct tracemend_input *input; /* shared with the caller */
	struct bundle *in;	       /* its bundle */
	struct tracemend_options options;
	struct tracemend_report *report;
	struct plan *plan;
	struct tracemend_outcome outcome;
	struct tracemend_member *members;
	struct tracemend_output *outputs;
};

void tracemend_repair_free(struct tracemend_repair *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->members && i < r->in->count; i++) {
		free((void *)(uintptr_t)r->members[i].path);
		free((void *)(uintptr_t)r->members[i].file);
	}
	for (size_t i = 0; r->outputs && i < plan_output_count(r->plan); i++)
		free((void *)(uintptr_t)r->outputs[i].file);
	free(r->members);
	free(r->outputs);
	plan_free(r->plan);
	tracemend_report_free(r->report);
	tracemend_close(r->input);
	free(r);
}

/* The lists for the manifest. */
static enum tracemend_status repair_list(struct tracemend_repair *r, struct tracemend_error *error)
{
	size_t outputs = plan_output_count(r->plan);

	r->members = calloc(r->in->count + 1, sizeof(*r->members));
	r->outputs = calloc(outputs + 1, sizeof(*r->outputs));
	if (!r->members || !r->outputs)
		return fault_memory(error);
	for (size_t i = 0; i < r->in->count; i++) {
		const struct source *s = r->in->sources[i];
		r->members[i] = (struct tracemend_member){
			.path = text_name(s->origin), .file = text_name(s->name), .role = s->role, .size = s->size
		};
		if (!r->members[i].path || !r->members[i].file)
			return fault_memory(error);
	}
	for (size_t i = 0; i < outputs; i++) {
		r->outputs[i] = (struct tracemend_output){ .file = text_name(plan_output_name(r->plan, i)),
							   .size = plan_size(r->plan, (unsigned)i),
							   .segment_count = plan_segment_count(r->plan, i) };
		if (!r->outputs[i].file)
			return fault_memory(error);
	}
	return TM_OK;
}

/* The result of some work on the input; but TM_IO when the input changed meanwhile, which makes the rest meaningless. */
static enum tracemend_status repair_of_changing(const struct tracemend_repair *r, enum tracemend_status status,
						struct tracemend_error *error)
{
	struct tracemend_error changed = { 0 };

	if ((status == TM_OK || status == TM_BUG) && bundle_unchanged(r->in, &changed) != TM_OK) {
		*error = changed;
		return changed.status;
	}
	return status;
}

/* P1: the bundle must check without error. TM_BUG and *error name the first error. */
static enum tracemend_status repair_recheck(const struct tracemend_repair *r, struct bundle *b, struct tracemend_error *error)
{
	enum tracemend_status status;
	struct tracemend_options options = { .profile = r->options.profile, .window = r->options.window, .max_findings = 1 };

	struct tracemend_report *report = engine_scan(b, r->report->format, &options, NULL, &status, error);
	if (report && status == TM_OK && report_own_errors(report)) {
		const struct tracemend_finding *first = NULL;
		for (size_t i = 0; i < tracemend_report_finding_count(report) && !first; i++)
			if (tracemend_report_finding(report, i)->severity == TM_ERROR)
				first = tracemend_report_finding(report, i);
		status = fault_set(error, TM_BUG, "%s: the repaired capture would still have an error: %s at 0x%llx: %s", b->path,
				   first ? first->rule->id : "?", first ? (unsigned long long)first->offset : 0,
				   first ? first->message : "");
	}
	tracemend_report_free(report);
	return status;
}

/* Repairs the output of the plan, and appends that repair to the plan. *error says why this was refused; it is empty after
 * success. That this pass finds nothing to salvage is no verdict on the input, unless what is left does not show what it is. */
static enum tracemend_status repair_once_more(struct tracemend_repair *r, struct bundle *written, struct tracemend_error *error)
{
	const struct format *f = r->report->format;
	struct tracemend_error failure = { 0 };
	enum tracemend_status status = TM_OK;
	struct plan *next = plan_new(written, f->rules, f->rule_count);
	struct tracemend_report *report = next ? engine_scan(written, f, &r->options, next, &status, &failure) : NULL;
	const bool unknowable = status == TM_NOTHING && report && report->reasoned;

	tracemend_report_free(report);
	if (!next)
		status = fault_memory(&failure);
	if (status == TM_OK)
		status = plan_verify(next, &failure);
	if (status == TM_OK && plan_compose(r->plan, next, written) != TM_OK)
		status = fault_set(&failure, plan_status(r->plan), "%s: the repair could not be planned", r->in->path);
	plan_free(next);
	if (status == TM_OK || unknowable || failure.status == TM_IO || failure.status == TM_NO_MEMORY ||
	    failure.status == TM_LIMIT)
		*error = failure;
	return error->status;
}

/* Verifies the plan (P4) and its output (P1). One defect may hide another from the scan; then the output is repaired in a further
 * pass. */
static enum tracemend_status repair_settle(struct tracemend_repair *r, struct tracemend_error *error)
{
	for (unsigned pass = 1;; pass++) {
		enum tracemend_status status = plan_verify(r->plan, error);
		if (status != TM_OK || (pass == 1 && plan_is_identity(r->plan)))
			return status;
		struct bundle *written = plan_bundle(r->plan, &r->options, error);
		if (!written)
			return error->status;
		status = repair_recheck(r, written, error);
		bool again = status == TM_BUG && pass < REPAIR_PASSES_MAX;
		if (again)
			status = repair_once_more(r, written, error);
		bundle_free(written);
		if (!again || status != TM_OK)
			return status;
	}
}

static bool bundle_has_extras(const struct bundle *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->sources[i]->role == TM_ROLE_EXTRA)
			return true;
	return false;
}

/* Plans the repair of what was copied as text: without these bytes first. */
static enum tracemend_status repair_plan_text(struct tracemend_repair *r, struct engine_text *text, const struct format *f,
					      struct tracemend_error *error)
{
	enum tracemend_status status = TM_OK;

	r->plan = text->undo;
	text->undo = NULL;
	struct plan *next = plan_new(text->view, f->rules, f->rule_count);
	if (!next)
		return fault_memory(error);
	r->report = engine_scan(text->view, f, &r->options, next, &status, error);
	/* A capture without errors in which there is nothing to salvage is copied, too. */
	if ((status == TM_OK || status == TM_NOTHING) && r->report && !findings_errors(r->report->findings)) {
		*error = (struct tracemend_error){ 0 };
		status = plan_make_identity(next);
	}
	if (status == TM_OK)
		status = plan_verify(next, error);
	if (status == TM_OK && plan_compose(r->plan, next, text->view) != TM_OK)
		status = fault_set(error, plan_status(r->plan), "%s: the repair could not be planned", r->in->path);
	plan_free(next);
	return status;
}

static enum tracemend_status repair_plan_bytes(struct tracemend_repair *r, const struct format *f, struct tracemend_error *error)
{
	enum tracemend_status status = TM_OK;

	r->plan = plan_new(r->in, f->rules, f->rule_count);
	if (!r->plan)
		return fault_memory(error);
	r->report = engine_scan(r->in, f, &r->options, r->plan, &status, error);
	/* A capture without errors in which there is nothing to salvage is copied as it is. */
	if (status == TM_NOTHING && r->report && !report_own_errors(r->report) && !bundle_has_extras(r->in) &&
	    r->in->error.status == TM_OK) {
		tracemend_report_free(r->report);
		*error = (struct tracemend_error){ 0 };
		r->report = engine_scan(r->in, f, &r->options, NULL, &status, error);
		if (status == TM_OK && report_own_errors(r->report))
			status = fault_set(error, TM_NOTHING, "%s: nothing can be salvaged", r->in->path);
	}
	if (status != TM_OK)
		return status;
	if (!report_own_errors(r->report) && !bundle_has_extras(r->in)) {
		status = plan_make_identity(r->plan); /* P2 */
		if (status != TM_OK)
			return fault_set(error, status, "%s: the repair could not be planned", r->in->path);
	}
	return TM_OK;
}

/* Where blocks are out of place, the repair is to put them back, and nothing else. */
static enum tracemend_status repair_plan_blocks(struct tracemend_repair *r, const struct format *f, bool nothing,
						struct tracemend_error *error)
{
	struct plan *plan;
	enum tracemend_status status = engine_blocks(&plan, r->in, f, nothing, &r->options, error);

	if (status == TM_OK && plan) {
		plan_free(r->plan);
		r->plan = plan;
	}
	return status;
}

/* Whether blocks are looked for: in what has errors, also where nothing could be salvaged otherwise. */
static bool blocks_may_be_out_of_place(const struct tracemend_repair *r, enum tracemend_status status)
{
	return r->report && report_own_errors(r->report) && r->in->error.status == TM_OK &&
	       (status == TM_OK || status == TM_NOTHING);
}

static enum tracemend_status repair_plan(struct tracemend_repair *r, const struct format *f, struct tracemend_error *error)
{
	struct engine_text text = { 0 };
	enum tracemend_status status = engine_text_open(&text, r->in, f, &r->options, error);
	if (status == TM_OK)
		status = text.view ? repair_plan_text(r, &text, f, error) : repair_plan_bytes(r, f, error);
	if (!text.view && blocks_may_be_out_of_place(r, status)) {
		struct tracemend_error failure = { 0 };
		const struct plan *without = r->plan;
		enum tracemend_status placed = repair_plan_blocks(r, f, status == TM_NOTHING, &failure);
		if (placed != TM_OK || r->plan != without) {
			status = placed;
			*error = failure;
		}
	}
	engine_text_close(&text);
	if (status != TM_OK)
		return status;
	if (*r->in->damage)
		plan_lost(r->plan, 0, TM_UNKNOWN_COUNT);
	if (!plan_output_count(r->plan))
		return fault_set(error, TM_NOTHING, "%s: nothing can be salvaged", r->in->path);
	status = repair_of_changing(r, repair_settle(r, error), error);
	r->outcome = plan_outcome(r->plan);
	return status;
}

struct tracemend_repair *tracemend_repair(struct tracemend_input *input, const struct tracemend_options *options,
					  struct tracemend_error *error)
{
	struct tracemend_error fallback, ignored = { 0 };
	struct tracemend_options own;

	error = engine_begin(error, &fallback);
	if (!input)
		return engine_null(error, "input");
	if (!engine_options(&own, options, error))
		return NULL;
	input_progress(input, &own);
	const struct format *f = format_recognise(input->bundle, &own, error);
	struct tracemend_repair *r = f ? calloc(1, sizeof(*r)) : NULL;
	if (!r) {
		if (f)
			(void)fault_memory(error);
		return NULL;
	}
	r->input = input_share(input);
	r->in = input->bundle;
	r->options = own;
	if (repair_plan(r, f, error) != TM_OK || repair_list(r, error) != TM_OK) {
		tracemend_repair_free(r);
		return NULL;
	}
	/* The caller's texts need not live longer than this call. */
	r->options.format = NULL;
	r->options.profile = format_profile(f, own.profile, &ignored);
	return r;
}

/* ---- digests ---- */

#define DIGEST_STEP (1u << 18)

static void digest_print(struct sha256_ctx *hash, char out[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	sha256_digest(hash, sizeof(digest), digest);
	text_hex(out, digest, sizeof(digest));
}

enum tracemend_status tracemend_repair_digest(struct tracemend_repair *r, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct sha256_ctx hash;

	error = engine_begin(error, &fallback);
	if (!r) {
		(void)engine_null(error, "repair");
		return error->status;
	}
	uint8_t *buffer = malloc(DIGEST_STEP);
	enum tracemend_status status = buffer ? TM_OK : fault_memory(error);

	for (size_t i = 0; i < r->in->count && status == TM_OK; i++) {
		struct source *s = r->in->sources[i];
		sha256_init(&hash);
		for (uint64_t at = 0; at < s->size && status == TM_OK;) {
			size_t n = s->size - at < DIGEST_STEP ? (size_t)(s->size - at) : DIGEST_STEP;
			status = source_read(s, at, buffer, n);
			if (status == TM_OK)
				sha256_update(&hash, n, buffer);
			at += n;
		}
		digest_print(&hash, r->members[i].sha256);
	}
	for (size_t i = 0; i < plan_output_count(r->plan) && status == TM_OK; i++) {
		uint64_t size = plan_size(r->plan, (unsigned)i);
		sha256_init(&hash);
		for (uint64_t at = 0; at < size && status == TM_OK;) {
			size_t n = size - at < DIGEST_STEP ? (size_t)(size - at) : DIGEST_STEP;
			status = plan_read(r->plan, i, at, buffer, n);
			if (status == TM_OK)
				sha256_update(&hash, n, buffer);
			at += n;
		}
		digest_print(&hash, r->outputs[i].sha256);
	}
	free(buffer);
	if (status != TM_OK)
		(void)fault_set(error, status, "%s",
				r->in->error.status != TM_OK ? r->in->error.message : "the digest could not be computed");
	return status;
}

/* ---- publishing ---- */

static bool is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Removes the last name of a path. False when there is none, or nothing before it. */
static bool path_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == path ? 1 : 0] = '\0';
	return true;
}

/* The directory that contains `path`, without symbolic links. NULL: it does not exist, or *status is TM_NO_MEMORY. */
static char *real_parent(const char *path, enum tracemend_status *status)
{
	char *parent = path_parent(path), *resolved = parent ? realpath(parent, NULL) : NULL;

	if (!parent)
		*status = TM_NO_MEMORY;
	free(parent);
	return resolved;
}

/* TM_USAGE when `path` is an input or lies inside an input directory. A path that does not exist yet is judged by its parent. */
static enum tracemend_status output_is_apart(const struct bundle *b, const char *path, struct tracemend_error *error)
{
	struct stat in;
	enum tracemend_status status = TM_OK;

	for (size_t i = 0; i < b->count && status == TM_OK; i++) {
		const char *origin = b->sources[i]->origin;
		if (i && !strcmp(origin, b->sources[i - 1]->origin))
			continue;
		if (stat(origin, &in) < 0)
			continue; /* memory, standard input */
		if (is_file(path, &in))
			return fault_set(error, TM_USAGE, "%s: is the input; repair never writes to it", path);
		/* Go up from the output to the root: is one of the directories the input? */
		char *parent = real_parent(path, &status);
		if (status != TM_OK)
			return fault_memory(error);
		bool more = parent != NULL;
		while (more && status == TM_OK) {
			if (is_file(parent, &in))
				status = fault_set(error, TM_USAGE, "%s: lies inside the input", path);
			more = path_up(parent);
		}
		free(parent);
	}
	return status;
}

/* Copies an output that is a file of the input, as it is, without looking at its bytes. False: not this one, or not this way. */
static bool repair_write_whole(struct tracemend_repair *r, size_t output, struct publication *p)
{
	struct source *s = *r->outputs[output].sha256 ? NULL : plan_whole_copy(r->plan, output);
	int from = s ? source_descriptor(s) : -1;

	return from >= 0 && publication_copy(p, from, s->size);
}

/* Writes an output. Where its digest was promised by the manifest, what is written must have it. */
static enum tracemend_status repair_write_output(struct tracemend_repair *r, size_t output, struct publication *p, uint8_t *buffer,
						 struct tracemend_error *error)
{
	uint64_t size = plan_size(r->plan, (unsigned)output);
	enum tracemend_status status = publication_file(p, plan_output_name(r->plan, output));
	bool digested = *r->outputs[output].sha256 != '\0';
	char digest[sizeof(r->outputs[output].sha256)];
	struct sha256_ctx hash;

	if (status != TM_OK || repair_write_whole(r, output, p) || publication_status(p) != TM_OK)
		return publication_status(p);
	sha256_init(&hash);
	for (uint64_t at = 0; at < size && status == TM_OK;) {
		size_t n = size - at < DIGEST_STEP ? (size_t)(size - at) : DIGEST_STEP;
		status = plan_read(r->plan, output, at, buffer, n);
		if (status != TM_OK)
			return fault_set(error, status, "%s", r->in->error.message);
		if (digested)
			sha256_update(&hash, n, buffer);
		status = publication_write(p, buffer, n);
		at += n;
	}
	digest_print(&hash, digest);
	if (status == TM_OK && digested && strcmp(digest, r->outputs[output].sha256) != 0)
		return fault_set(error, TM_IO, "%s: was written to while it was read", r->in->path);
	return status;
}

static enum tracemend_status repair_write(struct tracemend_repair *r, struct publication *p, struct tracemend_error *error)
{
	uint8_t *buffer = malloc(DIGEST_STEP);
	enum tracemend_status status = buffer ? TM_OK : fault_memory(error);

	for (size_t i = 0; i < plan_output_count(r->plan) && status == TM_OK; i++)
		status = repair_write_output(r, i, p, buffer, error);
	free(buffer);
	return status;
}

/* Whether the files of a bundle are those of the plan: no more and no less, byte for byte. */
static bool repair_is_as_planned(struct tracemend_repair *r, struct bundle *written, uint8_t *planned, uint8_t *found)
{
	bool same = written->count == plan_output_count(r->plan);

	for (size_t i = 0; i < plan_output_count(r->plan) && same; i++) {
		struct source *s = bundle_find(written, TM_ROLE_INPUT, plan_output_name(r->plan, i));
		uint64_t size = plan_size(r->plan, (unsigned)i);
		same = s && s->kind == SOURCE_FILE && s->size == size;
		for (uint64_t at = 0; at < size && same;) {
			size_t n = size - at < DIGEST_STEP ? (size_t)(size - at) : DIGEST_STEP;
			same = plan_read(r->plan, i, at, planned, n) == TM_OK && source_read(s, at, found, n) == TM_OK &&
			       !memcmp(planned, found, n);
			at += n;
		}
	}
	return same;
}

/* Asks the caller about the output. A program that reads it may have written to it, too: what is published is what was planned. */
static enum tracemend_status repair_ask(struct tracemend_repair *r, struct publication *p,
					bool (*accept)(void *ctx, const char *temporary), void *ctx, struct tracemend_error *error)
{
	const char *temporary = publication_named_temporary(p);

	if (!temporary)
		return publication_status(p);
	if (!accept(ctx, temporary))
		return fault_set(error, TM_CANCELLED, "%s: not accepted; nothing was written", publication_path(p));
	uint8_t *buffer = malloc((size_t)2 * DIGEST_STEP);
	if (!buffer)
		return fault_memory(error);
	struct bundle *written = bundle_open(temporary, &r->options, error);
	bool same = written && repair_is_as_planned(r, written, buffer, buffer + DIGEST_STEP);
	bundle_free(written);
	free(buffer);
	if (same)
		return TM_OK;
	return fault_set(error, TM_IO, "%s: was changed by a program that read it; nothing was written", publication_path(p));
}

/* A directory is replaced only if it is empty. The rename makes sure of that; here it is noticed before anything is written. */
static enum tracemend_status output_has_room(const char *path, struct tracemend_error *error)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	while (directory && empty && (entry = readdir(directory)) != NULL)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (directory)
		(void)closedir(directory);
	return empty ? TM_OK : fault_set(error, TM_USAGE, "%s: exists and is not empty", path);
}

enum tracemend_status tracemend_repair_publish(struct tracemend_repair *r, const char *path, struct tracemend_error *error)
{
	return tracemend_repair_publish_with(r, path, NULL, error);
}

enum tracemend_status tracemend_repair_publish_if(struct tracemend_repair *r, const char *path,
						  bool (*accept)(void *ctx, const char *temporary), void *ctx,
						  struct tracemend_error *error)
{
	const struct tracemend_publish publish = { .size = sizeof(publish), .accept = accept, .ctx = ctx };

	return tracemend_repair_publish_with(r, path, &publish, error);
}

/* Checks the output as it was written. */
static enum tracemend_status repair_check_written(struct tracemend_repair *r, struct publication *p, struct tracemend_error *error)
{
	const char *temporary = publication_temporary(p);
	struct bundle *written = publication_status(p) == TM_OK ? bundle_open(temporary, &r->options, error) : NULL;
	enum tracemend_status status = written ? repair_recheck(r, written, error) : publication_status(p);

	if (!written && status == TM_OK)
		status = error->status;
	bundle_free(written);
	return status;
}

enum tracemend_status tracemend_repair_publish_with(struct tracemend_repair *r, const char *path,
						    const struct tracemend_publish *publish, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_publish own;

	error = engine_begin(error, &fallback);
	if (!r || !path) {
		(void)engine_null(error, r ? "path" : "repair");
		return error->status;
	}
	if (!engine_take(&own, sizeof(own), sizeof(own), publish, publish ? publish->size : 0, error))
		return error->status;
	enum tracemend_status status = output_is_apart(r->in, path, error);
	if (status == TM_OK && tracemend_repair_is_directory(r))
		status = output_has_room(path, error);
	if (status != TM_OK)
		return status;
	struct publication *p = publication_begin(path, tracemend_repair_is_directory(r), error);
	if (!p)
		return error->status;
	status = repair_write(r, p, error);
	if (status == TM_OK && r->outcome.changed)
		status = repair_check_written(r, p, error);
	if (status == TM_OK && own.accept)
		status = repair_ask(r, p, own.accept, own.ctx, error);
	status = repair_of_changing(r, status, error);
	if (status == TM_OK && own.ready && !own.ready(own.ctx))
		status = fault_set(error, TM_CANCELLED, "%s: not accepted; nothing was written", path);
	if (status == TM_OK)
		return publication_commit(p, error);
	if (error->status == TM_OK)
		(void)fault_set(error, status, "%s", publication_message(p));
	publication_abandon(p);
	return status;
}

/* ---- access ---- */

const struct tracemend_outcome *tracemend_repair_outcome(const struct tracemend_repair *r)
{
	static const struct tracemend_outcome none;

	return r ? &r->outcome : &none;
}

const struct tracemend_report *tracemend_repair_report(const struct tracemend_repair *r)
{
	return r ? r->report : NULL;
}

bool tracemend_repair_is_directory(const struct tracemend_repair *r)
{
	return r && !(plan_output_count(r->plan) == 1 && !*plan_output_name(r->plan, 0));
}

size_t tracemend_repair_member_count(const struct tracemend_repair *r)
{
	return r ? r->in->count : 0;
}

const struct tracemend_member *tracemend_repair_member(const struct tracemend_repair *r, size_t index)
{
	return index < tracemend_repair_member_count(r) ? &r->members[index] : NULL;
}

size_t tracemend_repair_output_count(const struct tracemend_repair *r)
{
	return r ? plan_output_count(r->plan) : 0;
}

const struct tracemend_output *tracemend_repair_output(const struct tracemend_repair *r, size_t index)
{
	return index < tracemend_repair_output_count(r) ? &r->outputs[index] : NULL;
}

struct tracemend_segment tracemend_repair_segment(const struct tracemend_repair *r, size_t output, size_t index)
{
	const struct tracemend_output *o = tracemend_repair_output(r, output);

	return o && index < o->segment_count ? plan_segment_at(r->plan, output, index) : (struct tracemend_segment){ .why = "" };
}

size_t tracemend_repair_dropped_count(const struct tracemend_repair *r)
{
	return r ? plan_dropped_count(r->plan) : 0;
}

struct tracemend_range tracemend_repair_dropped(const struct tracemend_repair *r, size_t index)
{
	return index < tracemend_repair_dropped_count(r) ? plan_dropped_at(r->plan, index) : (struct tracemend_range){ .why = "" };
}

size_t tracemend_repair_doubtful_count(const struct tracemend_repair *r)
{
	return r ? plan_doubtful_count(r->plan) : 0;
}

struct tracemend_range tracemend_repair_doubtful(const struct tracemend_repair *r, size_t index)
{
	return index < tracemend_repair_doubtful_count(r) ? plan_doubtful_at(r->plan, index)
							  : (struct tracemend_range){ .why = "" };
}

enum tracemend_status tracemend_repair_read(struct tracemend_repair *r, size_t output, uint64_t offset, void *buffer, size_t length)
{
	const struct tracemend_output *o = tracemend_repair_output(r, output);

	if (!o || (!buffer && length) || offset > o->size || length > o->size - offset)
		return TM_USAGE;
	return plan_read(r->plan, output, offset, buffer, length);
}

void *tracemend_repair_bytes(struct tracemend_repair *r, size_t output, size_t *size, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	const struct tracemend_output *o = tracemend_repair_output(r, output);

	error = engine_begin(error, &fallback);
	if (!o || !size) {
		(void)fault_set(error, TM_USAGE, "there is no such output, or size is NULL");
		return NULL;
	}
	uint8_t *bytes = o->size < SIZE_MAX ? malloc((size_t)o->size + 1) : NULL;
	if (!bytes) {
		(void)fault_memory(error);
		return NULL;
	}
	enum tracemend_status status = plan_read(r->plan, output, 0, bytes, (size_t)o->size);
	if (status != TM_OK) {
		(void)fault_set(error, status, "%s",
				r->in->error.status != TM_OK ? r->in->error.message : "the output could not be read");
		free(bytes);
		return NULL;
	}
	*size = (size_t)o->size;
	return bytes;
}
