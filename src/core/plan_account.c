/* P4: every byte of the input is kept or dropped, once; and P2: the plan that changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/plan_parts.h"

/* What accounts for input bytes: a copy or a drop, or a run of them that are `step` apart. */
struct span {
	uint64_t from, length;
	uint64_t times, step;
	uint32_t source;
	bool kept;
};

static int span_order(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->kept < b->kept ? -1 : a->kept > b->kept;
}

static size_t pieces_spans(const struct pieces *list, struct span *spans, bool kept)
{
	size_t n = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct piece *piece = &list->items[i];
		if (piece->source == LITERAL || piece->again)
			continue;
		if (spans) {
			const struct piece_run *run = pieces_run_of(list, i);
			spans[n] = (struct span){ piece->from,	       piece->length, run ? run->times : 1,
						  run ? run->step : 0, piece->source, kept };
		}
		n++;
	}
	return n;
}

/* First copies and drops of all outputs, counted, or put into spans. */
static size_t plan_spans(const struct plan *p, struct span *spans)
{
	size_t n = 0;
	for (size_t i = 0; i < p->output_count; i++)
		n += pieces_spans(&p->outputs[i].pieces, spans ? spans + n : NULL, true);
	return n + pieces_spans(&p->dropped, spans ? spans + n : NULL, false);
}

/* ---- spans in order: those that are left of begun runs are a heap, those that nothing was taken from are sorted ---- */

struct span_queue {
	struct span *sorted, *heap;
	size_t count, next, open;
};

static void queue_sink(struct span_queue *q, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < q->open; i = child) {
		if (child + 1 < q->open && span_order(&q->heap[child + 1], &q->heap[child]) < 0)
			child++;
		if (span_order(&q->heap[i], &q->heap[child]) <= 0)
			return;
		struct span swap = q->heap[i];
		q->heap[i] = q->heap[child];
		q->heap[child] = swap;
	}
}

static void queue_push(struct span_queue *q, struct span span)
{
	size_t i = q->open++;
	for (; i && span_order(&span, &q->heap[(i - 1) / 2]) < 0; i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = span;
}

/* The next span of that source. False: there is none. */
static bool queue_next(struct span_queue *q, uint32_t source, struct span *span)
{
	bool of_heap = q->open && (q->next == q->count || span_order(&q->heap[0], &q->sorted[q->next]) < 0);

	if (!of_heap && q->next == q->count)
		return false;
	*span = of_heap ? q->heap[0] : q->sorted[q->next];
	if (span->source != source)
		return false;
	struct span rest = *span;
	rest.from += rest.step;
	rest.times--;
	if (!of_heap) {
		q->next++;
		if (rest.times)
			queue_push(q, rest);
	} else {
		q->heap[0] = rest.times ? rest : q->heap[--q->open];
		queue_sink(q, 0);
	}
	return true;
}

/* One source: its spans, in order, must follow each other from 0 to its end. Of a donor only parts are used. */
static enum tracemend_status plan_verify_source(const struct source *s, struct span_queue *q, struct tracemend_error *error)
{
	uint64_t at = 0;
	for (struct span span; queue_next(q, s->index, &span);) {
		if (span.from > s->size || span.length > s->size - span.from)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes past the end are used at 0x%llx", s->name,
					 (unsigned long long)span.from);
		if (s->role == TM_ROLE_DONOR)
			continue;
		if (span.from != at)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes at 0x%llx are %s", s->name,
					 (unsigned long long)(span.from < at ? span.from : at),
					 span.from < at ? "accounted for twice" : "not accounted for");
		at += span.length;
	}
	if (s->role != TM_ROLE_DONOR && s->kind == SOURCE_FILE && at != s->size)
		return fault_set(error, TM_BUG, "repair plan of %s: bytes at 0x%llx are not accounted for", s->name,
				 (unsigned long long)at);
	return TM_OK;
}

static enum tracemend_status plan_verify_output(struct plan *p, struct output *o, struct tracemend_error *error)
{
	struct pieces_walk walk = { .list = &o->pieces };
	for (struct piece piece; pieces_next(&walk, &piece);) {
		uint64_t size = p->literals.size;
		if (piece.source != LITERAL && piece.source >= p->in->count)
			return fault_set(error, TM_BUG, "repair plan of %s: no such source", o->name);
		if (piece.source != LITERAL)
			size = p->in->sources[piece.source]->size;
		if (piece.from > size || piece.length > size - piece.from)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes past the end are used", o->name);
	}
	return output_index(p, o) ? TM_OK : fault_memory(error);
}

enum tracemend_status plan_verify(struct plan *p, struct tracemend_error *error)
{
	size_t count = plan_spans(p, NULL);
	struct span *spans = malloc((count ? 2 * count : 1) * sizeof(*spans));
	enum tracemend_status status = TM_OK;

	if (!spans)
		return fault_memory(error);
	(void)plan_spans(p, spans);
	qsort(spans, count, sizeof(*spans), span_order);
	struct span_queue queue = { .sorted = spans, .heap = spans + count, .count = count };
	for (size_t i = 0; i < p->in->count && status == TM_OK; i++)
		status = plan_verify_source(p->in->sources[i], &queue, error);
	/* Second copies are exempt from the count, not from the bounds. */
	for (size_t i = 0; i < p->output_count && status == TM_OK; i++)
		status = plan_verify_output(p, &p->outputs[i], error);
	free(spans);
	return status;
}

enum tracemend_status plan_make_identity(struct plan *p)
{
	uint64_t records = p->outcome.kept + p->outcome.patched + p->outcome.dropped;
	struct pieces doubtful = { 0 };
	struct tracemend_outcome outcome = p->outcome;
	bool stay = p->doubts_stay;

	if (stay) {
		doubtful = p->doubtful;
		p->doubtful = (struct pieces){ 0 };
	}
	plan_clear(p);
	p->doubtful = doubtful;
	if (stay) {
		p->outcome.lost = outcome.lost;
		p->outcome.dropped_is = outcome.dropped_is;
	}
	for (size_t i = 0; i < p->in->count; i++) {
		const struct source *s = p->in->sources[i];
		if (s->role == TM_ROLE_INPUT && s->kind == SOURCE_FILE)
			plan_copy(p, plan_output(p, s->name), s, 0, s->size);
	}
	plan_kept(p, records);
	return p->status;
}

bool plan_is_identity(const struct plan *p)
{
	if (p->dropped.count)
		return false;
	size_t files = 0;
	for (size_t i = 0; i < p->in->count; i++) {
		const struct source *s = p->in->sources[i];
		files += s->role == TM_ROLE_INPUT && s->kind == SOURCE_FILE;
	}
	if (files != p->output_count)
		return false;
	for (size_t i = 0; i < p->output_count; i++) {
		const struct output *o = &p->outputs[i];
		const struct source *s = bundle_find(p->in, TM_ROLE_INPUT, o->name);
		if (!s || s->size != o->size || o->pieces.count > 1)
			return false;
		if (o->pieces.count && (o->pieces.items[0].source != s->index || o->pieces.items[0].from != 0))
			return false;
	}
	return true;
}

struct source *plan_whole_copy(const struct plan *p, size_t output)
{
	const struct output *o = &p->outputs[output];

	if (o->pieces.count != 1 || o->pieces.items[0].source == LITERAL || o->pieces.items[0].from != 0)
		return NULL;
	struct source *s = p->in->sources[o->pieces.items[0].source];
	return s->size == o->size ? s : NULL;
}

struct tracemend_outcome plan_outcome(const struct plan *p)
{
	struct tracemend_outcome outcome = p->outcome;
	outcome.passes++;
	outcome.changed = !plan_is_identity(p);
	outcome.lost |= outcome.dropped || outcome.dropped_is != TM_EXACT;
	if (!outcome.dropped && outcome.dropped_is == TM_AT_LEAST)
		outcome.dropped_is = TM_UNKNOWN_COUNT; /* at least none says nothing */
	return outcome;
}
