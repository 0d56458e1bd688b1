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
	view->trial = true;
	struct tracemend_report *report = engine_scan(view, f, &options, NULL, &status, &failure);
	view->progress = NULL;
	view->trial = false;
	*sound = report && status == TM_OK && !trial.failed && !report_own_errors(report);
	tracemend_report_free(report);
	return status == TM_CANCELLED ? TM_OK : trial_failure(status, &failure, error);
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

/* What all trials may read. */
static uint64_t read_most(uint64_t size)
{
	return (size < BLOCKS_READ_MOST / BLOCKS_READ_TIMES ? size * BLOCKS_READ_TIMES : BLOCKS_READ_MOST) / SEARCH_SHARE;
}

/* Tries what may have been moved. *found: the plan for the one that makes the capture sound, if no other one does. */
static enum tracemend_status try_moves(struct plan **found, const struct source *s, const struct format *f,
				       const struct tracemend_options *options, const struct block_move *moves, unsigned count,
				       const struct places *places, struct tracemend_error *error)
{
	const uint64_t until = s->bundle->bytes_read + read_most(s->size);
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

/* ---- the first block of the file ---- */

/* Blocks that may be the first one, of a file in which another one is; with more it is not told which. */
#define HEADS_MOST 4u
/* Bytes of a block that are shown to a format. */
#define HEAD_BYTES 512u

/* The file from some place on. */
struct rest {
	struct source *whole;
	uint64_t from;
};

static enum tracemend_status rest_read(struct source *s, uint64_t offset, void *buffer, size_t length,
				       struct tracemend_error *error)
{
	const struct rest *rest = s->data;
	enum tracemend_status status = source_read(rest->whole, rest->from + offset, buffer, length);

	return status == TM_OK ? TM_OK : fault_set(error, status, "%s", rest->whole->bundle->error.message);
}

static const struct source_ops rest_ops = { .read = rest_read };

/* Whether the file is one of the format's from there on. */
static bool begins_at(struct source *s, const struct format *f, uint64_t at)
{
	struct rest rest = { s, at };
	struct source view = *s;
	struct window w;

	view.ops = &rest_ops;
	view.data = &rest;
	view.fd = -1;
	view.size = s->size - at < HEAD_BYTES ? s->size - at : HEAD_BYTES;
	window_open(&w, &view);
	bool begins = f->magic(&w) >= BID_CERTAIN;
	window_close(&w);
	return begins;
}

/* Exchanges of the first block with one that looks like the first. Returns how many. */
static unsigned moves_of_heads(struct source *s, const struct format *f, struct block_move out[HEADS_MOST * BLOCKS_SIZES])
{
	uint64_t heads[HEADS_MOST];
	unsigned count = 0, moves = 0;

	if (!f->magic || begins_at(s, f, 0))
		return 0;
	for (uint64_t at = BLOCKS_LEAST; at < s->size && s->bundle->error.status == TM_OK; at += BLOCKS_LEAST) {
		if (!begins_at(s, f, at))
			continue;
		if (count == HEADS_MOST)
			return 0;
		heads[count++] = at;
	}
	for (unsigned i = 0; i < count; i++)
		moves += blocks_first(s, heads[i], out + moves);
	return moves;
}

enum tracemend_status engine_blocks(struct plan **plan, struct bundle *b, const struct format *f, bool nothing,
				    const struct tracemend_options *given, struct tracemend_error *error)
{
	struct source *s = bundle_single(b);
	struct places places = { .format = f };
	struct tracemend_options options = { .profile = given->profile, .window = given->window, .max_findings = 1 };
	struct tracemend_options watched = options;
	struct block_move moves[HEADS_MOST * BLOCKS_SIZES + BLOCKS_TRIALS_MOST];
	unsigned count = 0;
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
	if (status == TM_OK && b->error.status == TM_OK && places.errors) {
		count = moves_of_heads(s, f, moves);
		if (!count && !nothing)
			count = blocks_moved(s, places.list, places.count, moves);
	}
	if (b->error.status != TM_OK) {
		*error = b->error;
		return error->status;
	}
	return count ? try_moves(plan, s, f, &options, moves, count, &places, error) : TM_OK;
}
