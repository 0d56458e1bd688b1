/* Doubt about registrations that are missing, at the end of the file. */
#include "formats/fxt/salvage/fxt_doubt.h"

#include "formats/fxt/scan/fxt_journal.h"
#include "formats/fxt/scan/fxt_missing.h"

/* Strings that are missing at the front of a trace. */
#define FRONT_MISSING 3u

/* An unused registration whose index differs by one bit from one that is missing. */
static void doubt_registration(struct fxt_doubt *d, const struct fxt_missing *m)
{
	const struct fxt_tables *t = m->provider->tables;

	for (unsigned bit = 0; bit < (m->thread ? 8 : 15); bit++) {
		uint32_t index = m->index ^ 1u << bit;
		const struct fxt_entry e = fxt_entry_of(t, m->thread, index);
		if ((e.state & (FXT_REGISTERED | FXT_USED)) == FXT_REGISTERED)
			fxt_doubt_list(d, e.offset, fxt_doubt_length_at(d, e.offset),
				       "registers an unused index that differs by one bit from one that is missing");
	}
}

/* The last registration in front of the position that took an index away from another text, and whose index differs in one byte
 * from a string that is missing: it may be that string's. */
static const struct fxt_change *mistaken_for(struct fxt_doubt *d, uint32_t missing)
{
	const unsigned count = fxt_journal_recent(d->registry);

	for (unsigned n = 1; n <= count; n++) {
		const struct fxt_change *c = fxt_journal_last(d->registry, n);
		if (c->kind == FXT_CHANGE_STRING && c->provider == d->registry->provider && bytes_apart(c->index, missing) <= 1)
			return c;
	}
	return NULL;
}

void fxt_doubt_mistaken(struct fxt_doubt *d, const struct fxt_record *r, bool unknown_refs)
{
	struct fxt_provider *p = d->registry->provider;

	for (unsigned i = 0; d->plan && unknown_refs && i < r->string_count; i++) {
		const struct fxt_change *c = fxt_string_known(p, r->strings[i].ref) ? NULL : mistaken_for(d, r->strings[i].ref);
		struct fxt_string_page *page = c ? p->tables->pages[c->index / FXT_PAGE] : NULL;
		if (!page || page->offset[c->index % FXT_PAGE] != c->at || page->state[c->index % FXT_PAGE] & FXT_DOUBTFUL)
			continue;
		page->state[c->index % FXT_PAGE] |= FXT_DOUBTFUL;
		fxt_doubt_list(d, c->at, d->here->at - c->at,
			       "an index is registered again whose number differs by one byte from one that is missing");
	}
}

/* The index of the string that is registered first. */
static uint32_t first_string(const struct fxt_provider *p)
{
	uint64_t least = UINT64_MAX;
	uint32_t first = 0;

	for (uint32_t i = 1; i <= FXT_STRING_INDEX_MAX; i++) {
		const struct fxt_string_page *page = p->tables->pages[i / FXT_PAGE];
		if (page->state[i % FXT_PAGE] & FXT_REGISTERED && page->offset[i % FXT_PAGE] < least) {
			least = page->offset[i % FXT_PAGE];
			first = i;
		}
	}
	return first;
}

/* Recorders count indexes up. Where several are missing that are lower than the first one, the front of the trace was cut out,
 * with the magic number or behind it, and with it the record that said whose what follows is, if no record does. */
static void doubt_front(struct fxt_doubt *d)
{
	const struct fxt_provider *p = d->registry->list[0];
	const uint64_t end = d->registry->introduced ? d->anonymous : d->here->at;
	const uint64_t from = d->headless ? 0 : FXT_WORD;
	uint32_t first, lower = 0;

	if (!p->anonymous || d->registry->missing_count < FRONT_MISSING || end <= from ||
	    (!d->headless && fxt_doubt_header_at(d, 0) != FXT_MAGIC))
		return;
	first = first_string(p);
	for (size_t i = 0; i < d->registry->missing_count; i++) {
		const struct fxt_missing *m = &d->registry->missing[i];
		lower += !m->thread && !m->cause && m->provider == p && m->index < first;
	}
	if (lower >= FRONT_MISSING)
		fxt_doubt_list(d, from, end - from, "what was in front of it may be cut out, and the record that says whose it is");
}

/* An index that is not registered before its use and that one record alone refers to may be a damaged reference as well as a
 * lost registration. Where a registration was cut out, the records before its first use may be composed of pieces of others. */
void fxt_doubt_missing(struct fxt_doubt *d)
{
	const struct fxt_missing *last = NULL;
	if (d->plan)
		doubt_front(d);
	for (size_t i = 0; d->plan && i < d->registry->missing_count; i++) {
		const struct fxt_missing *m = &d->registry->missing[i];
		if (m->cause)
			continue;
		doubt_registration(d, m);
		if (!last && m->before < m->offset)
			fxt_doubt_list(
				d, m->before, m->offset - m->before,
				"precedes the first use of an index that is not registered: a registration may be missing here");
		if (m->count == 1 && (!last || last->offset != m->offset))
			fxt_doubt_list(
				d, m->offset, m->length,
				"is the only record that refers to an index that is not registered: the reference may be damaged");
		last = m;
	}
}
