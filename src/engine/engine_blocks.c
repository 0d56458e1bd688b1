/* Captures in which blocks of the disk are out of place: what they were before, where that can be told. */
#include "core/blocks.h"
#include "engine/engine.h"

struct places {
	struct block_place list[BLOCKS_PLACES_MOST];
	unsigned count;
	uint64_t errors, warnings;
	unsigned rule; /* of the first one */
	const struct format *format;
};

/* What is odd only may be the other end of a block. */
static void take_place(void *ctx, const struct tracemend_finding *finding)
{
	struct places *p = ctx;
	const struct tracemend_rule *rules = p->format->rules;

	/* Not those about archives. */
	if (finding->severity < TM_WARNING || p->count == BLOCKS_PLACES_MOST || finding->rule < rules ||
	    finding->rule >= rules + p->format->rule_count)
		return;
	if (finding->severity == TM_ERROR && !p->errors++)
		p->rule = (unsigned)(finding->rule - rules);
	p->list[p->count++] = (struct block_place){ finding->offset, finding->length };
}

/* A walk that ends at the first error. */
struct trial {
	struct bundle *view;
	uint64_t warnings, warnings_most;
	bool failed;
};

static void take_error(void *ctx, const struct tracemend_finding *finding)
{
	struct trial *t = ctx;

	t->warnings += finding->severity == TM_WARNING;
	t->failed |= finding->severity == TM_ERROR || t->warnings > t->warnings_most;
	/* The next read is asked whether the walk goes on. */
	if (t->failed)
		t->view->progress_next = 0;
}

static bool goes_on(void *ctx, uint64_t done, uint64_t total)
{
	const struct trial *t = ctx;

	(void)done;
	(void)total;
	return !t->failed;
}

/* TM_OK, or a failure that ends all trials. */
static enum tracemend_status trial_failure(enum tracemend_status status, const struct tracemend_error *failure,
					   struct tracemend_error *error)
{
	if (status != TM_IO && status != TM_NO_MEMORY && status != TM_CANCELLED)
		return TM_OK;
	*error = *failure;
	return status;
}

/* Whether check finds no error in the view, and no more warnings than before. */
static enum tracemend_status is_sound(struct bundle *view, const struct format *f, const struct tracemend_options *given,
				      uint64_t warnings, bool *sound, struct tracemend_error *error)
{
	struct trial trial = { .view = view, .warnings_most = warnings };
	struct tracemend_options options = *given;
	struct tracemend_error failure = { 0 };
	enum tracemend_status status;

	options.observe = take_error;
	options.observe_ctx = &trial;
	view->progress = goes_on;
	view->progress_ctx = &trial;
	struct tracemend_report *report = engine_scan(view, f, &options, NULL, &status, &failure);
	view->progress = NULL;
	*sound = report && status == TM_OK && !trial.failed && !report_own_errors(report);
	tracemend_report_free(report);
	return trial.failed && status == TM_CANCELLED ? TM_OK : trial_failure(status, &failure, error);
}

/* Where there is nothing to repair in the view, nor to doubt: plans that. */
static enum tracemend_status plan_sound(struct plan *next, struct bundle *view, const struct format *f,
					const struct tracemend_options *options, bool *sound, struct tracemend_error *error)
{
	struct tracemend_error failure = { 0 };
	enum tracemend_status status;

	struct tracemend_report *report = engine_scan(view, f, options, next, &status, &failure);
	*sound = report && status == TM_OK && !report_own_errors(report);
	tracemend_report_free(report);
	status = trial_failure(status, &failure, error);
	if (status != TM_OK)
		return status;
	if (!*sound)
		return TM_OK;
	status = plan_make_identity(next);
	if (status != TM_OK)
		return fault_memory(error);
	const struct tracemend_outcome outcome = plan_outcome(next);
	*sound = !outcome.lost && outcome.dropped_is == TM_EXACT && !plan_doubtful_count(next);
	return plan_verify(next, error);
}

/* Plans the capture with the blocks back in their places. *plan stays NULL where it is not wholly sound then. */
static enum tracemend_status try_move(struct plan **plan, const struct source *s, const struct format *f,
				      const struct tracemend_options *options, const struct block_move *m, unsigned rule,
				      uint64_t warnings, struct tracemend_error *error)
{
	struct plan *undo = plan_new(s->bundle, f->rules, f->rule_count), *next = NULL;
	struct bundle *view = NULL;
	enum tracemend_status status = undo ? TM_OK : fault_memory(error);
	bool sound = false;

	if (undo) {
		blocks_undo(undo, s, m, rule);
		status = plan_status(undo) == TM_OK ? plan_verify(undo, error) : fault_memory(error);
	}
	if (status == TM_OK && !(view = plan_bundle(undo, options, error)))
		status = error->status;
	if (status == TM_OK)
		status = is_sound(view, f, options, warnings, &sound, error);
	if (status == TM_OK && sound && !(next = plan_new(view, f->rules, f->rule_count)))
		status = fault_memory(error);
	if (status == TM_OK && sound)
		status = plan_sound(next, view, f, options, &sound, error);
	if (status == TM_OK && sound)
		plan_kept(undo, plan_outcome(next).kept);
	plan_free(next);
	bundle_free(view);
	if (status == TM_OK && sound)
		*plan = undo;
	else
		plan_free(undo);
	return status;
}

/* Tries what may have been moved. *found: the plan for the one that makes the capture sound, if no other one does. */
static enum tracemend_status try_moves(struct plan **found, const struct source *s, const struct format *f,
				       const struct tracemend_options *options, const struct block_move *moves, unsigned count,
				       const struct places *places, struct tracemend_error *error)
{
	const uint64_t until = s->bundle->bytes_read +
			       (s->size < BLOCKS_READ_MOST / BLOCKS_READ_TIMES ? s->size * BLOCKS_READ_TIMES : BLOCKS_READ_MOST);
	enum tracemend_status status = TM_OK;
	bool sure = true;

	for (unsigned i = 0; i < count && s->bundle->bytes_read < until && status == TM_OK && sure; i++) {
		struct plan *plan = NULL;
		if (*found && moves[i].twice)
			continue;
		status = try_move(&plan, s, f, options, &moves[i], places->rule, places->warnings, error);
		/* Two ways: neither is known to be the right one. */
		sure = !plan || !*found;
		if (sure && plan)
			*found = plan;
		else
			plan_free(plan);
	}
	if (status != TM_OK || !sure) {
		plan_free(*found);
		*found = NULL;
	}
	return status;
}

enum tracemend_status engine_blocks(struct plan **plan, struct bundle *b, const struct format *f,
				    const struct tracemend_options *given, struct tracemend_error *error)
{
	struct source *s = bundle_single(b);
	struct places places = { .format = f };
	struct tracemend_options options = { .profile = given->profile, .window = given->window, .max_findings = 1 };
	struct tracemend_options watched = options;
	struct block_move moves[BLOCKS_TRIALS_MOST];
	struct tracemend_error failure = { 0 };
	enum tracemend_status status;

	*plan = NULL;
	if (!s || b->count != 1 || *b->damage || s->size > BLOCKS_READ_MOST)
		return TM_OK;
	watched.observe = take_place;
	watched.observe_ctx = &places;
	struct tracemend_report *report = engine_scan(b, f, &watched, NULL, &status, &failure);
	places.warnings = report ? report->summary.warnings : 0;
	tracemend_report_free(report);
	if (status == TM_NO_MEMORY || status == TM_CANCELLED) {
		*error = failure;
		return status;
	}
	const unsigned count = status == TM_OK && b->error.status == TM_OK && places.errors
				       ? blocks_moved(s, places.list, places.count, moves)
				       : 0;
	if (b->error.status != TM_OK) {
		*error = b->error;
		return error->status;
	}
	return count ? try_moves(plan, s, f, &options, moves, count, &places, error) : TM_OK;
}
