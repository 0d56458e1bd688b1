/* Changes within a block. */
#include "formats/lttng/scan/lttng_edits.h"

#include "core/array.h"

const char *lttng_loss_why(unsigned rule, bool unsearched)
{
	const bool type = rule == LTTNG_RULE_dangling_event_id || rule == LTTNG_RULE_event_without_format ||
			  rule == LTTNG_RULE_undeclared_channel;
	return type && unsearched ? "the declaration of a type here is lost, and the search for its size reached its limit"
				  : lttng_rules[rule].title;
}

bool lttng_edits_add(struct lttng_edits *e, uint64_t rel, uint64_t drop, const void *bytes, size_t length, unsigned rule,
		     const struct lttng_doubt *doubt)
{
	size_t n = e->edits.count;

	if (n == LTTNG_EDITS_MAX)
		return false;
	edits_add(&e->edits, rel, drop, bytes, length, rule, lttng_loss_why(rule, e->unsearched));
	if (e->edits.failed)
		return false;
	e->doubts[n] = doubt ? *doubt : (struct lttng_doubt){ 0 };
	return true;
}

enum tracemend_status lttng_edits_guess(struct lttng_edits *e, uint64_t from, uint64_t to, uint64_t align, const char *why)
{
	struct lttng_guess *last = e->guess_count ? &e->guesses[e->guess_count - 1] : NULL;
	/* Neighbours are one range; what was taken back after it was kept comes again. An event between them is longer than
	 * padding. */
	if (last && last->why == why && from <= last->to + (align ? align - 1 : 0)) {
		last->from = from < last->from ? from : last->from;
		last->to = to > last->to ? to : last->to;
		return TM_OK;
	}
	enum tracemend_status status = array_room(&e->guesses, &e->guess_capacity, e->guess_count, sizeof(e->guesses[0]),
						  SIZE_MAX / 64);
	if (status == TM_OK)
		e->guesses[e->guess_count++] = (struct lttng_guess){ .from = from, .to = to, .why = why };
	return status;
}

struct lttng_guess lttng_edits_guessed(const struct lttng_edits *e)
{
	return e->guess_count ? e->guesses[e->guess_count - 1] : (struct lttng_guess){ 0 };
}

void lttng_edits_unguess(struct lttng_edits *e, size_t count, struct lttng_guess last)
{
	e->guess_count = count;
	if (count)
		e->guesses[count - 1] = last;
}

void lttng_edits_cut(struct lttng_edits *e, size_t count)
{
	e->edits.count = count;
}

void lttng_edits_trim(struct lttng_edits *e, uint64_t rel)
{
	while (e->edits.count && e->edits.list[e->edits.count - 1].at >= rel)
		e->edits.count--;
}

uint64_t lttng_edits_size(const struct lttng_edits *e, uint64_t size)
{
	for (size_t i = 0; i < e->edits.count; i++)
		size -= e->edits.list[i].remove - e->edits.list[i].length;
	return size;
}
