/* The composed output becomes the plan: copies, literals, and what is dropped. */
#include "formats/tracedat/repair/tracedat_repair.h"

#include <stdlib.h>

static bool bytes_agree(struct tracedat_walk *w, const struct tracedat_pieces *p, const struct tracedat_piece *piece)
{
	/* TRACEDAT_NO_OLD is beyond the end of any file. */
	if (piece->source != w->source || piece->old > w->source->size || piece->length > w->source->size - piece->old)
		return false;
	const uint8_t *old = window_at(&w->window, piece->old, (size_t)piece->length);
	return old && !memcmp(old, p->literals.data + piece->from, (size_t)piece->length);
}

struct kept {
	const struct source *source;
	uint64_t from, to;
	size_t piece;
};

static int kept_order(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;
	if (a->source != b->source)
		return a->source->index < b->source->index ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->piece < b->piece ? -1 : a->piece > b->piece;
}

static int drop_order(const void *left, const void *right)
{
	const struct tracedat_drop *a = left, *b = right;
	if (a->source != b->source)
		return a->source->index < b->source->index ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->length > b->length ? -1 : a->length < b->length;
}

struct flush {
	struct tracedat_walk *w;
	struct plan *plan;
	size_t drop, remade; /* the next noted reason: any, and one of those that go in front of others */
};

/* The first noted reason of a source, from *next on, that does not end in front of `from`; NULL: none. remade: of these only. */
static const struct tracedat_drop *drop_next(const struct tracedat_output *out, size_t *next, const struct source *source,
					     uint64_t from, bool remade)
{
	for (; *next < out->drop_count; ++*next) {
		const struct tracedat_drop *d = &out->drops[*next];
		bool passed = d->source->index < source->index || (d->source == source && d->from + d->length <= from);
		if (!passed && (d->remade || !remade))
			return d->source == source ? d : NULL;
	}
	return NULL;
}

/* Drops what no piece keeps: with the noted reason, or a general one. */
static void flush_gap(struct flush *f, const struct source *from_source, uint64_t from, uint64_t to)
{
	struct tracedat_walk *w = f->w;
	while (from < to) {
		const struct tracedat_drop *d = drop_next(&w->out, &f->remade, from_source, from, true);
		uint64_t stop = to;
		if (!d || d->from > from) {
			stop = d && d->from < to ? d->from : to;
			d = drop_next(&w->out, &f->drop, from_source, from, false);
		}
		if (d && d->from > from) {
			stop = d->from < stop ? d->from : stop;
			d = NULL;
		} else if (d) {
			stop = d->from + d->length < stop ? d->from + d->length : stop;
		}
		plan_drop(f->plan, from_source, from, stop - from, d ? d->rule : TRACEDAT_RULE_truncated_file,
			  d ? d->why : "replaced in the repaired file, or of no use without lost data");
		from = stop;
	}
}

static void flush_source(struct flush *f, const struct source *from_source, const struct kept *kept, size_t count)
{
	uint64_t at = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept[i].source != from_source)
			continue;
		if (kept[i].from > at)
			flush_gap(f, from_source, at, kept[i].from);
		at = kept[i].to > at ? kept[i].to : at;
	}
	if (at < from_source->size)
		flush_gap(f, from_source, at, from_source->size);
}

/* Hands the pieces to the plan. */
enum tracemend_status tracedat_output_plan(struct tracedat_walk *w)
{
	struct tracedat_pieces *p = &w->out.pieces;
	struct plan *plan = w->s->plan;
	struct flush f = { .w = w, .plan = plan };
	unsigned output = plan_output(plan, "");

	if (p->failed || w->status != TM_OK)
		return w->status != TM_OK ? w->status : TM_NO_MEMORY;
	struct kept *kept = calloc(p->count + 1, sizeof(*kept));
	if (!kept)
		return TM_NO_MEMORY;
	size_t n = 0;
	for (size_t i = 0; i < p->count; i++) {
		struct tracedat_piece *piece = &p->list[i];
		if (piece->literal && bytes_agree(w, p, piece)) {
			piece->literal = false;
			piece->from = piece->old;
		} else if (piece->literal && piece->old != TRACEDAT_NO_OLD && piece->why) {
			tracedat_drop(w, piece->old, piece->length, piece->rule, piece->why);
		}
		if (!piece->literal && piece->source->role != TM_ROLE_DONOR)
			kept[n++] = (struct kept){ piece->source, piece->from, piece->from + piece->length, i };
	}
	qsort(kept, n, sizeof(*kept), kept_order);
	/* A range that is used twice is kept by the first and copied again by the other. */
	size_t unique = 0;
	for (size_t i = 0; i < n; i++) {
		if (unique && kept[unique - 1].source == kept[i].source && kept[i].from < kept[unique - 1].to) {
			p->list[kept[i].piece].copied = true;
			continue;
		}
		kept[unique++] = kept[i];
	}
	for (size_t i = 0; i < p->count; i++) {
		const struct tracedat_piece *piece = &p->list[i];
		if (piece->literal)
			(void)plan_literal(plan, output, p->literals.data + piece->from, (size_t)piece->length, piece->rule,
					   piece->why ? piece->why : "required by the format");
		else if (piece->copied)
			plan_copy_again(plan, output, piece->source, piece->from, piece->length, TRACEDAT_RULE_cpu_range_overlap,
					"another part of the file uses these bytes as well");
		else
			plan_copy(plan, output, piece->source, piece->from, piece->length);
	}
	if (w->out.drop_count)
		qsort(w->out.drops, w->out.drop_count, sizeof(*w->out.drops), drop_order);
	const struct bundle *b = w->s->in;
	for (size_t i = 0; i < b->count; i++)
		if (b->sources[i]->role != TM_ROLE_DONOR && b->sources[i]->kind == SOURCE_FILE)
			flush_source(&f, b->sources[i], kept, unique);
	free(kept);
	if (w->status != TM_OK)
		return w->status;
	return w->window.status != TM_OK ? w->window.status : plan_status(plan);
}
