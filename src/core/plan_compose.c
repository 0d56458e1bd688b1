/* Two plans, one behind the other, as one. */
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/plan_parts.h"

/* What is to become of a range of the first plan's output. */
enum fate { FATE_KEPT, FATE_DROPPED, FATE_DOUBTFUL };

struct composition {
	struct plan *first, *next;
	const struct bundle *written;
	struct plan both;
	size_t literals; /* of the first plan: those of the second follow them */
};

/* A part of a piece of the first plan, under what the second says of it. */
static void compose_part(struct composition *c, enum fate fate, unsigned output, struct piece part, const struct piece *said)
{
	struct plan *both = &c->both;

	if (fate == FATE_KEPT) {
		if (said->again && part.source != LITERAL && !part.again) {
			part.again = true;
			part.rule = said->rule;
			part.why = said->why;
		}
		plan_append(both, output, part);
		return;
	}
	/* Bytes that the first plan made, or copied once more, are no loss of the input. */
	if (part.source == LITERAL || part.again)
		return;
	part.rule = said->rule;
	part.why = said->why;
	(void)pieces_add(both, fate == FATE_DROPPED ? &both->dropped : &both->doubtful, part);
}

/* A range of the second plan's input, as the ranges of the first's input that it came from. */
static void compose_range(struct composition *c, enum fate fate, unsigned output, const struct piece *said)
{
	const struct plan_source *from = c->written->sources[said->source]->data;
	struct output *o = &c->first->outputs[from->output];
	uint64_t at = said->from, left = said->length;

	if (!left || !output_index(c->first, o))
		return;
	while (left && c->both.status == TM_OK) {
		uint64_t skip;
		struct piece part = output_piece(o, at, &skip);
		part.from += skip;
		part.length = part.length - skip < left ? part.length - skip : left;
		compose_part(c, fate, output, part, said);
		at += part.length;
		left -= part.length;
	}
}

static void compose_outputs(struct composition *c)
{
	for (size_t i = 0; i < c->next->output_count; i++) {
		const struct output *o = &c->next->outputs[i];
		unsigned output = plan_output(&c->both, o->name);
		struct pieces_walk walk = { .list = &o->pieces };
		for (struct piece piece; pieces_next(&walk, &piece);) {
			if (piece.source == LITERAL) {
				piece.from += c->literals;
				plan_append(&c->both, output, piece);
			} else {
				compose_range(c, FATE_KEPT, output, &piece);
			}
		}
	}
}

/* What the first plan said of its input still holds; what the second says of its own is added. */
static void compose_ranges(struct composition *c, enum fate fate, struct pieces *both, const struct pieces *first,
			   const struct pieces *next)
{
	struct pieces_walk walk = { .list = first };
	for (struct piece piece; pieces_next(&walk, &piece);)
		(void)pieces_add(&c->both, both, piece);
	walk = (struct pieces_walk){ .list = next };
	for (struct piece piece; pieces_next(&walk, &piece);)
		compose_range(c, fate, 0, &piece);
}

/* The second plan counts what the first wrote. Which of those it lost is not told: records that the first added are no loss, and
 * then nobody knows how many are. */
static struct tracemend_outcome compose_outcome(const struct tracemend_outcome *a, const struct tracemend_outcome *b)
{
	struct tracemend_outcome o = { 0 };
	uint64_t total = b->kept + b->patched + b->added;

	o.added = a->added + b->added < total ? a->added + b->added : total;
	o.patched = a->patched + b->patched < total - o.added ? a->patched + b->patched : total - o.added;
	o.kept = total - o.added - o.patched;
	o.passes = a->passes + 1;
	o.lost = a->lost || b->lost;
	o.dropped = a->dropped + b->dropped;
	o.dropped_is = a->dropped_is > b->dropped_is ? a->dropped_is : b->dropped_is;
	if (a->added && b->dropped)
		o.dropped_is = TM_UNKNOWN_COUNT;
	return o;
}

/* The reasons belong to the plans that gave them; the new one outlives both. */
static void compose_whys(struct plan *both, struct plan *from)
{
	for (size_t i = 0; i < from->why_count; i++) {
		if (!plan_room(both, &both->whys, &both->why_capacity, both->why_count, sizeof(*both->whys),
			       2 * (size_t)PLAN_RANGES_MAX))
			return;
		both->whys[both->why_count++] = from->whys[i];
		from->whys[i] = NULL;
	}
}

enum tracemend_status plan_compose(struct plan *p, struct plan *next, const struct bundle *written)
{
	struct composition c = { .first = p,
				 .next = next,
				 .written = written,
				 .literals = p->literals.size,
				 .both = { .in = p->in, .table = p->table, .rules = p->rules, .status = p->status } };

	/* The literals of both, of which the composition compares some, belong to it from here on. */
	c.both.literals = p->literals;
	c.both.shared = true;
	p->literals = (struct bytes){ 0 };
	if (next->literals.size > PLAN_LITERALS_MAX - c.literals)
		plan_fail(&c.both, TM_LIMIT);
	else
		bytes_append(&c.both.literals, next->literals.data, next->literals.size);
	if (c.both.literals.failed)
		plan_fail(&c.both, TM_NO_MEMORY);
	compose_outputs(&c);
	compose_ranges(&c, FATE_DROPPED, &c.both.dropped, &p->dropped, &next->dropped);
	compose_ranges(&c, FATE_DOUBTFUL, &c.both.doubtful, &p->doubtful, &next->doubtful);
	c.both.outcome = compose_outcome(&p->outcome, &next->outcome);
	compose_whys(&c.both, p);
	compose_whys(&c.both, next);
	if (p->status != TM_OK)
		plan_fail(&c.both, p->status);
	if (c.both.status != TM_OK) {
		/* Literals and reasons went with what is cleared here: after a failure nothing of p is shown. */
		plan_fail(p, c.both.status);
		plan_clear(&c.both);
		return p->status;
	}
	plan_clear(p);
	*p = c.both;
	return TM_OK;
}
