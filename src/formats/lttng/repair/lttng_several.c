/* Two recordings in one folder. Each header repeats the time at which its recording was started, so that files of which several
 * agree on another time than those of the trace are of another recording: one damaged header agrees with no other. Numbers of types
 * are those of their own recording, and the second one's declarations have no name that a reader knows, so that its events would be
 * read by those of the first. */
#include <stdlib.h>

#include "core/text.h"
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Files that make a recording: one with declarations, and one with events. */
#define FILES_MIN 2u

static int start_order(const void *left, const void *right)
{
	const struct lttng_file *a = *(const struct lttng_file *const *)left, *b = *(const struct lttng_file *const *)right;
	static const enum lttng_field fields[] = { LF_MAJOR, LF_MINOR, LF_SEC, LF_SUBSEC };
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (a->first.v[fields[i]] != b->first.v[fields[i]])
			return a->first.v[fields[i]] < b->first.v[fields[i]] ? -1 : 1;
	return 0;
}

static bool has_start(const struct lttng_trace *t, const struct lttng_header *h)
{
	return h->v[LF_SEC] == t->constants.want.v[LF_SEC] && h->v[LF_SUBSEC] == t->constants.want.v[LF_SUBSEC] &&
	       h->v[LF_MAJOR] == t->constants.want.v[LF_MAJOR] && h->v[LF_MINOR] == t->constants.want.v[LF_MINOR];
}

/* The first file of the largest recording but the one that the headers of the trace agree on; NULL: there is none. *own: the first
 * file of that one. starts: by start_order(). */
static const struct lttng_file *find_other(const struct lttng_trace *t, struct lttng_file **starts, size_t count,
					   const struct lttng_file **own)
{
	const struct lttng_file *other = NULL;
	size_t most = FILES_MIN - 1;

	*own = NULL;
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && !start_order(&starts[from], &starts[to]); to++)
			;
		if (has_start(t, &starts[from]->first)) {
			*own = to - from >= FILES_MIN ? starts[from] : NULL;
		} else if (to - from > most) {
			most = to - from;
			other = starts[from];
		}
	}
	return *own ? other : NULL;
}

bool lttng_repair_refuses(struct lttng_trace *t)
{
	struct lttng_file **starts = malloc((t->files.count + 1) * sizeof(struct lttng_file *));
	const struct lttng_file *own, *other;
	char first[TEXT_QUOTE_SIZE], second[TEXT_QUOTE_SIZE];
	size_t count = 0;

	if (!starts)
		return !lttng_no_memory(t);
	for (size_t i = 0; i < t->files.count; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && f->layout && lttng_header_plausible(f->layout, &f->first, true))
			starts[count++] = f;
	}
	if (count)
		qsort(starts, count, sizeof(*starts), start_order);
	other = find_other(t, starts, count, &own);
	free(starts);
	if (!other)
		return false;
	t->status = fault_set(
		&t->s->in->error, TM_USAGE,
		"%s: has files of two recordings, and one is wanted: that of %s, which started at %llu s, and that of %s, "
		"at %llu s. Give each a folder of its own",
		t->s->in->path, text_quote(first, own->source->name, strlen(own->source->name)),
		(unsigned long long)own->first.v[LF_SEC], text_quote(second, other->source->name, strlen(other->source->name)),
		(unsigned long long)other->first.v[LF_SEC]);
	return true;
}
