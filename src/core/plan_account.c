/* P4: every byte of the input is kept or dropped, once; and P2: the plan that changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/plan_parts.h"

/* Copies and drops of a list that ascend in the input, items [item, end): as they mostly do, so that there are few of these. An
 * item of a run stands alone, `left` times. */
struct stretch {
	uint64_t from, left; /* from: of the item */
	uint32_t source;
	uint32_t list; /* the output, or their number: dropped */
	uint32_t item, end;
};

static int stretch_order(const struct stretch *a, const struct stretch *b)
{
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static const struct pieces *plan_list(const struct plan *p, size_t list)
{
	return list < p->output_count ? &p->outputs[list].pieces : &p->dropped;
}

/* Whether the item accounts for bytes of the input. */
static bool piece_accounts(const struct piece *piece)
{
	return piece->source != LITERAL && !piece->again;
}

/* The stretches of a list, counted, or put into out. */
static size_t list_stretches(const struct plan *p, size_t index, struct stretch *out)
{
	const struct pieces *list = plan_list(p, index);
	struct stretch last = { 0 };
	size_t n = 0, run = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct piece *piece = &list->items[i];
		while (run < list->run_count && i >= list->runs[run].first + list->runs[run].size)
			run++;
		bool in_run = run < list->run_count && i >= list->runs[run].first;
		if (!piece_accounts(piece))
			continue;
		struct stretch here = { piece->from,   in_run ? list->runs[run].times : 1,
					piece->source, (uint32_t)index,
					(uint32_t)i,   (uint32_t)i + 1 };
		bool goes_on = n && !in_run && last.left == 1 && stretch_order(&last, &here) < 0 && last.source == here.source;
		n += !goes_on;
		if (out && !goes_on)
			out[n - 1] = here;
		else if (out)
			out[n - 1].end = here.end;
		last = here;
	}
	return n;
}

static size_t plan_stretches(const struct plan *p, struct stretch *out)
{
	size_t n = 0;

	for (size_t i = 0; i <= p->output_count; i++)
		n += list_stretches(p, i, out ? out + n : NULL);
	return n;
}

/* ---- a heap of stretches: the first has the first byte ---- */

struct stretches {
	const struct plan *plan;
	struct stretch *heap;
	size_t count;
};

static void stretches_sink(struct stretches *q, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < q->count; i = child) {
		if (child + 1 < q->count && stretch_order(&q->heap[child + 1], &q->heap[child]) < 0)
			child++;
		if (stretch_order(&q->heap[i], &q->heap[child]) <= 0)
			return;
		struct stretch swap = q->heap[i];
		q->heap[i] = q->heap[child];
		q->heap[child] = swap;
	}
}

/* Takes the next item of that source, of *length bytes from *from on. False: there is none. */
static bool stretches_next(struct stretches *q, uint32_t source, uint64_t *from, uint64_t *length)
{
	struct stretch *first = q->heap;

	if (!q->count || first->source != source)
		return false;
	const struct pieces *list = plan_list(q->plan, first->list);
	*from = first->from;
	*length = list->items[first->item].length;
	if (--first->left) {
		first->from += pieces_run_of(list, first->item)->step;
	} else {
		do
			first->item++;
		while (first->item < first->end && !piece_accounts(&list->items[first->item]));
		if (first->item < first->end) {
			first->from = list->items[first->item].from;
			first->left = 1;
		} else {
			*first = q->heap[--q->count];
		}
	}
	stretches_sink(q, 0);
	return true;
}

/* One source: its copies and drops, in order, must follow each other from 0 to its end. Of a donor only parts are used. */
static enum tracemend_status plan_verify_source(const struct source *s, struct stretches *q, struct tracemend_error *error)
{
	uint64_t at = 0;
	for (uint64_t from, length; stretches_next(q, s->index, &from, &length);) {
		if (from > s->size || length > s->size - from)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes past the end are used at 0x%llx", s->name,
					 (unsigned long long)from);
		if (s->role == TM_ROLE_DONOR)
			continue;
		if (from != at)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes at 0x%llx are %s", s->name,
					 (unsigned long long)(from < at ? from : at),
					 from < at ? "accounted for twice" : "not accounted for");
		at += length;
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
	struct stretches queue = { .plan = p, .count = plan_stretches(p, NULL) };
	enum tracemend_status status = TM_OK;

	queue.heap = malloc((queue.count + 1) * sizeof(*queue.heap));
	if (!queue.heap)
		return fault_memory(error);
	(void)plan_stretches(p, queue.heap);
	for (size_t i = queue.count / 2; i-- > 0;)
		stretches_sink(&queue, i);
	for (size_t i = 0; i < p->in->count && status == TM_OK; i++)
		status = plan_verify_source(p->in->sources[i], &queue, error);
	free(queue.heap);
	/* Second copies are exempt from the count, not from the bounds. */
	for (size_t i = 0; i < p->output_count && status == TM_OK; i++)
		status = plan_verify_output(p, &p->outputs[i], error);
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
