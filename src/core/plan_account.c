/* P4: every byte of the input is kept or dropped, once; and P2: the plan that changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/plan_parts.h"

/* Copies and drops of a list that ascend in the input, items [item, end): as they mostly do, so that there are few of these. An
 * item of a run stands alone, `left` times. */
struct stretch {
	uint64_t from, left; /* from: of the item */
	uint32_t source;
	uint32_t list; /* the output, or their number: dropped, or behind it: doubtful */
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
	if (list < p->output_count)
		return &p->outputs[list].pieces;
	return list == p->output_count ? &p->dropped : &p->doubtful;
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

static size_t stretches_count(const struct plan *p, size_t first, size_t end, struct stretch *out)
{
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		n += list_stretches(p, i, out ? out + n : NULL);
	return n;
}

/* Of the lists [first, end). False: no memory. */
static bool stretches_open(struct stretches *q, const struct plan *p, size_t first, size_t end)
{
	*q = (struct stretches){ .plan = p, .count = stretches_count(p, first, end, NULL) };
	q->heap = malloc((q->count + 1) * sizeof(*q->heap));
	if (!q->heap)
		return false;
	(void)stretches_count(p, first, end, q->heap);
	for (size_t i = q->count / 2; i-- > 0;)
		stretches_sink(q, i);
	return true;
}

/* Takes the next item of that source, as it stands in its place. False: there is none. */
static bool stretches_next(struct stretches *q, uint32_t source, struct piece *piece)
{
	struct stretch *first = q->heap;

	if (!q->count || first->source != source)
		return false;
	const struct pieces *list = plan_list(q->plan, first->list);
	*piece = list->items[first->item];
	piece->from = first->from;
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
	for (struct piece piece; stretches_next(q, s->index, &piece);) {
		uint64_t from = piece.from, length = piece.length;
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

/* Doubts come from checks that know nothing of each other. In the end each byte is doubted once, for the first reason in the order
 * of the file. False: no memory. */
static bool plan_settle_doubts(struct plan *p)
{
	struct pieces settled = { 0 };
	struct stretches queue;

	if (p->doubtful.count < 2)
		return true;
	if (!stretches_open(&queue, p, p->output_count + 1, p->output_count + 2))
		return false;
	for (uint32_t i = 0; i < p->in->count; i++) {
		uint64_t end = 0;
		for (struct piece piece; stretches_next(&queue, i, &piece);) {
			uint64_t passed = piece.from < end ? end - piece.from : 0;
			if (passed >= piece.length)
				continue;
			piece.from += passed;
			piece.length -= passed;
			end = piece.from + piece.length;
			struct piece *last = settled.count ? &settled.items[settled.count - 1] : NULL;
			/* Runs that are apart in different steps can be more pieces than they were: what is too many is one. */
			if (last && last->source == i && settled.count + p->in->count >= PLAN_RANGES_MAX)
				last->length = end - last->from;
			else
				(void)pieces_add(p, &settled, piece);
		}
	}
	free(queue.heap);
	pieces_free(&p->doubtful);
	p->doubtful = settled;
	return p->status != TM_NO_MEMORY;
}

enum tracemend_status plan_verify(struct plan *p, struct tracemend_error *error)
{
	struct stretches queue;
	enum tracemend_status status = TM_OK;

	if (!plan_settle_doubts(p) || !stretches_open(&queue, p, 0, p->output_count + 1))
		return fault_memory(error);
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
