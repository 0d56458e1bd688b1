/* Bytes that are there twice: a part of a file that was written again right behind itself. The bytes at some distance from each
 * other are equal then, for as long as that distance, stamps included, which no two events share. Whichever of the two is left out,
 * the rest is what was recorded. */
#include "core/bytes.h"
#include "formats/lttng/salvage/lttng_salvage.h"

#define STEP 4096u
/* Shorter parts may be equal by chance, and events keep their alignment for multiples of it only. */
#define REPEAT_UNIT 8u

static bool is_possible(const struct lttng_trace *t, uint64_t distance)
{
	return !t->s->outline && distance && distance % REPEAT_UNIT == 0;
}

/* Reads the next bytes of two places, up to STEP. 0: there is none, or t->status. */
static size_t read_pair(struct lttng_trace *t, struct lttng_file *f, uint64_t a, uint64_t b, uint64_t left, uint8_t two[2][STEP])
{
	const size_t n = left < STEP ? (size_t)left : STEP;
	return n && lttng_file_read(t, f, a, two[0], n) && lttng_file_read(t, f, b, two[1], n) ? n : 0;
}

bool lttng_repeat_find(struct lttng_trace *t, struct lttng_file *f, uint64_t from, uint64_t to, uint64_t distance,
		       struct lttng_repeat *found)
{
	uint8_t two[2][STEP];
	uint64_t run = 0, at = from;
	bool content = false;
	size_t n;

	if (!is_possible(t, distance) || to - from < 2 * distance)
		return false;
	while (at < to - distance && (n = read_pair(t, f, at, at + distance, to - distance - at, two)) != 0) {
		for (size_t i = 0; i < n; i++) {
			const bool same = two[0][i] == two[1][i];
			if (!same && run >= distance && content) {
				*found = (struct lttng_repeat){ .from = at + i - run - from,
								.to = at + i - from,
								.length = distance };
				return true;
			}
			content = same && ((run && content) || two[0][i]);
			run = same ? run + 1 : 0;
		}
		at += n;
	}
	*found = (struct lttng_repeat){ .from = at - run - from, .to = at - from, .length = distance };
	return run >= distance && content && t->status == TM_OK;
}

bool lttng_repeat_before(struct lttng_trace *t, struct lttng_file *f, uint64_t at, uint64_t length)
{
	uint8_t two[2][STEP];
	uint64_t done = 0;
	size_t n;

	while (done < length && (n = read_pair(t, f, at - length + done, at + done, length - done, two)) != 0 &&
	       !memcmp(two[0], two[1], n))
		done += n;
	return done == length;
}

static bool headers_are_equal(struct lttng_trace *t, struct lttng_file *f, uint64_t at, uint64_t distance)
{
	uint8_t a[LTTNG_HEADER_MAX], b[LTTNG_HEADER_MAX];
	const size_t n = t->coding.layout->size;

	return f->source->size >= distance + n && at <= f->source->size - distance - n && lttng_file_read(t, f, at, a, n) &&
	       lttng_file_read(t, f, at + distance, b, n) && !memcmp(a, b, n);
}

bool lttng_repeat_header(struct lttng_trace *t, struct lttng_file *f, uint64_t at, uint64_t distance)
{
	const uint64_t size = f->source->size, before = at < distance ? at : distance;
	struct lttng_repeat found;

	if (!is_possible(t, distance) || !headers_are_equal(t, f, at, distance))
		return false;
	const uint64_t to = size - at < 2 * distance ? size : at + 2 * distance;
	return lttng_repeat_find(t, f, at - before, to, distance, &found) && found.from <= before && before < found.to;
}

/* Leaves out one of the two, where an event begins in the first that begins in the second as well. */
void lttng_repeat_skip(struct lttng_walk *w)
{
	const struct lttng_repeat *r = &w->repeat;
	const uint64_t at = w->at.rel;
	const struct lttng_doubt none = { 0 };

	if (!r->length || w->repeated || at < r->from || at > r->to || at >= w->limit ||
	    !lttng_edits_add(w->edits, at, r->length, NULL, 0, LTTNG_RULE_trailing_garbage, &none))
		return;
	w->edits->edits.list[w->edits->edits.count - 1].why = "these bytes are there twice";
	w->repeated = true;
	w->at.rel += r->length;
	w->limit += r->length;
	w->room += r->length;
	w->search.limit += r->length;
}
