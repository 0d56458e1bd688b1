/* P4: every byte of the input is kept or dropped, once; and P2: the plan that changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/plan_parts.h"

struct span {
	uint64_t from, length;
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

/* What accounts for input bytes: first copies and drops. */
static size_t plan_spans(const struct plan *p, struct span *spans)
{
	size_t n = 0;
	for (size_t i = 0; i < p->output_count; i++)
		for (size_t j = 0; j < p->outputs[i].pieces.count; j++) {
			const struct piece *piece = &p->outputs[i].pieces.items[j];
			if (piece->source == LITERAL || piece->again)
				continue;
			if (spans)
				spans[n] = (struct span){ piece->from, piece->length, piece->source, true };
			n++;
		}
	for (size_t i = 0; i < p->dropped.count; i++, n++)
		if (spans)
			spans[n] = (struct span){ p->dropped.items[i].from, p->dropped.items[i].length, p->dropped.items[i].source,
						  false };
	return n;
}

/* One source: its spans, sorted, must follow each other from 0 to its end. Of a donor only parts are used. */
static enum tracemend_status plan_verify_source(const struct source *s, const struct span *spans, size_t count,
						struct tracemend_error *error)
{
	uint64_t at = 0;
	for (size_t i = 0; i < count; i++) {
		if (spans[i].from > s->size || spans[i].length > s->size - spans[i].from)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes past the end are used at 0x%llx", s->name,
					 (unsigned long long)spans[i].from);
		if (s->role == TM_ROLE_DONOR)
			continue;
		if (spans[i].from != at)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes at 0x%llx are %s", s->name,
					 (unsigned long long)(spans[i].from < at ? spans[i].from : at),
					 spans[i].from < at ? "accounted for twice" : "not accounted for");
		at += spans[i].length;
	}
	if (s->role != TM_ROLE_DONOR && s->kind == SOURCE_FILE && at != s->size)
		return fault_set(error, TM_BUG, "repair plan of %s: bytes at 0x%llx are not accounted for", s->name,
				 (unsigned long long)at);
	return TM_OK;
}

static enum tracemend_status plan_verify_output(struct plan *p, struct output *o, struct tracemend_error *error)
{
	for (size_t i = 0; i < o->pieces.count; i++) {
		const struct piece *piece = &o->pieces.items[i];
		uint64_t size = p->literals.size;
		if (piece->source != LITERAL && piece->source >= p->in->count)
			return fault_set(error, TM_BUG, "repair plan of %s: no such source", o->name);
		if (piece->source != LITERAL)
			size = p->in->sources[piece->source]->size;
		if (piece->from > size || piece->length > size - piece->from)
			return fault_set(error, TM_BUG, "repair plan of %s: bytes past the end are used", o->name);
	}
	return output_index(p, o) ? TM_OK : fault_memory(error);
}

enum tracemend_status plan_verify(struct plan *p, struct tracemend_error *error)
{
	size_t count = plan_spans(p, NULL), at = 0;
	struct span *spans = malloc((count ? count : 1) * sizeof(*spans));
	enum tracemend_status status = TM_OK;

	if (!spans)
		return fault_memory(error);
	(void)plan_spans(p, spans);
	qsort(spans, count, sizeof(*spans), span_order);
	for (size_t i = 0; i < p->in->count && status == TM_OK; i++) {
		size_t first = at;
		while (at < count && spans[at].source == i)
			at++;
		status = plan_verify_source(p->in->sources[i], spans + first, at - first, error);
	}
	/* Second copies are exempt from the count, not from the bounds. */
	for (size_t i = 0; i < p->output_count && status == TM_OK; i++)
		status = plan_verify_output(p, &p->outputs[i], error);
	free(spans);
	return status;
}

enum tracemend_status plan_make_identity(struct plan *p)
{
	uint64_t records = p->outcome.kept + p->outcome.patched + p->outcome.dropped;
	plan_clear(p);
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
