/* The file with edits. */
#include "formats/ktrace/repair/ktrace_repair.h"

#include "core/limits.h"

static const uint8_t zeros[KTRACE_PAGE];

void ktrace_repair_open(struct ktrace_repair *r, struct plan *plan, const struct source *source)
{
	*r = (struct ktrace_repair){ .plan = plan, .source = source };
	if (!plan)
		return;
	r->output = plan_output(plan, "");
	plan_keep_doubts(plan);
}

enum tracemend_status ktrace_repair_finish(struct ktrace_repair *r)
{
	ktrace_repair_write(r, r->source->size);
	if (!r->edits.failed)
		return TM_OK;
	if (r->edits.count < PLAN_RANGES_MAX)
		return TM_NO_MEMORY;
	return fault_set(&r->source->bundle->error, TM_LIMIT, "the repair of %s needs more than %u separate changes",
			 r->source->bundle->path, PLAN_RANGES_MAX);
}

void ktrace_repair_free(struct ktrace_repair *r)
{
	edits_free(&r->edits);
}

void ktrace_repair_drop(struct ktrace_repair *r, uint64_t from, uint64_t until, enum ktrace_rule rule, const char *why)
{
	if (!r->plan || from >= until)
		return;
	plan_drop(r->plan, r->source, from, until - from, rule, why);
	edits_skip(&r->edits, from, until - from);
	r->removed += until - from;
}

void ktrace_repair_insert(struct ktrace_repair *r, uint64_t at, const void *bytes, size_t length, enum ktrace_rule rule,
			  const char *why)
{
	if (!r->plan)
		return;
	edits_add(&r->edits, at, 0, bytes, length, rule, why);
	r->added += length;
}

void ktrace_repair_replace(struct ktrace_repair *r, uint64_t at, const void *bytes, size_t length, enum ktrace_rule rule,
			   const char *why)
{
	ktrace_repair_insert(r, at, bytes, length, rule, why);
	ktrace_repair_drop(r, at, at + length, rule, why);
}

void ktrace_repair_pad(struct ktrace_repair *r, uint64_t at, uint64_t unit, enum ktrace_rule rule, const char *why)
{
	uint64_t short_of = -ktrace_repair_place(r, at) & (unit - 1);

	if (short_of)
		ktrace_repair_insert(r, at, zeros, (size_t)short_of, rule, why);
}

uint64_t ktrace_repair_place(const struct ktrace_repair *r, uint64_t at)
{
	return at + r->added - r->removed;
}

void ktrace_repair_write(struct ktrace_repair *r, uint64_t until)
{
	if (!r->plan || r->edits.failed)
		return;
	edits_apply(&r->edits, r->plan, r->output, r->source, 0, r->done, until);
	edits_clear(&r->edits);
	r->done = until;
}

void ktrace_repair_doubt(struct ktrace_repair *r, uint64_t from, uint64_t until, const char *why)
{
	if (!r->plan || from >= until)
		return;
	plan_doubt(r->plan, r->source, from, until - from, why);
	plan_lost_other(r->plan); /* whether anything is lost is not known */
}

void ktrace_repair_kept(struct ktrace_repair *r, uint64_t records)
{
	if (r->plan)
		plan_kept(r->plan, records);
}

void ktrace_repair_lost(struct ktrace_repair *r)
{
	if (r->plan)
		plan_lost(r->plan, 0, TM_UNKNOWN_COUNT);
}

void ktrace_repair_lost_threads(struct ktrace_repair *r)
{
	if (r->plan)
		plan_lost_other(r->plan);
}
