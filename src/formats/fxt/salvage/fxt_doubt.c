/* Doubtful records are kept, and listed in the manifest: they decode, but are next to damage, or refer to something that is not
 * registered. */
#include "formats/fxt/salvage/fxt_doubt.h"

static void doubt(struct fxt_doubt *d, uint64_t at, uint64_t length, const char *why)
{
	plan_doubt(d->plan, d->source, at, length, why);
}

/* Bytes of the record at `at`, by its header. */
static uint64_t length_at(struct fxt_doubt *d, uint64_t at)
{
	const uint8_t *p = window_at(&d->resync->window, at, FXT_WORD);
	return p ? fxt_size(load_u64(p, d->resync->decoder->big_endian)) * FXT_WORD : 0;
}

/* Whether there are zeros on both sides of an offset: a hole may be smaller than a word. */
static bool is_within_zeros(struct fxt_doubt *d, uint64_t at)
{
	const uint8_t *p = at && window_left(&d->resync->window, at) ? window_at(&d->resync->window, at - 1, 2) : NULL;
	return p && bytes_are_zero(p, 2);
}

/* Words that a record of this kind has at most. */
static uint64_t most_words(const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_METADATA:
		return 1 + fxt_words(FXT_PROVIDER_NAME_MAX);
	case FXT_INITIALIZATION:
		return 4;
	case FXT_THREAD:
		return 3;
	case FXT_SCHEDULING:
		return r->subtype == FXT_SWITCH_LEGACY ? 6 : FXT_RECORD_WORDS_MAX;
	default:
		return UINT32_MAX;
	}
}

/* Whether the bytes at the end of the file are the beginning of a record: sound up to the end of the file, and all references
 * are registered. */
static bool is_beginning(struct fxt_doubt *d, uint64_t at)
{
	struct fxt_record *o = &d->resync->other;
	size_t got;
	const uint8_t *p = window_upto(&d->resync->window, at, FXT_DECODE_SPAN, &got);
	bool all;
	if (!p || got < FXT_WORD || fxt_decode(d->resync->decoder, o, p, got, d->here->size - at, FXT_DECODE_IGNORE_SIZE))
		return false; /* a record that ends before the end of the file was not cut by it */
	for (uint32_t i = 0; i < o->issues.count; i++)
		if (o->issues.list[i].severity != TM_NOTE)
			return false;
	(void)fxt_refs_known(d->registry->provider, o, &all);
	return o->known && all && fxt_size(o->header) <= most_words(o);
}

/* Whether the record at `at` is of an unassigned type, so that its content is not known. */
static bool is_unknown(struct fxt_doubt *d, uint64_t at)
{
	const uint8_t *p = window_at(&d->resync->window, at, FXT_WORD);
	return p && fxt_decode(d->resync->decoder, &d->resync->other, p, FXT_WORD, d->here->size - at, 0) &&
	       !d->resync->other.known;
}

/* A record that ends where damage begins, at `from`, has the right size, but may contain bytes of other records; where bytes
 * are shifted, so may the record before it. */
void fxt_doubt_before(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost)
{
	const char *why = NULL;
	bool shifted = rule == FXT_RULE_misaligned_records || (until - from) % FXT_WORD;

	if (!d->plan || !d->here->records)
		return;
	uint64_t last = fxt_position_recent(d->here, 1), before = fxt_position_recent(d->here, 2);
	if (rule == FXT_RULE_truncated_record && d->here->size - from >= FXT_WORD)
		why = is_beginning(d, from) ? NULL : "precedes bytes that are not the beginning of a record";
	else if (is_within_zeros(d, from))
		why = "ends in zeros and precedes zeros: its end may be lost";
	else if (shifted)
		why = "precedes bytes that are off the 8-byte grid";
	else if (lost == TM_AT_LEAST || rule == FXT_RULE_record_past_end)
		why = "precedes bytes that are not a record";
	else if (last < from && is_unknown(d, last))
		why = "is of an unassigned type and precedes damage";
	/* The last record is not adjacent when other damage is in between. */
	if (!why || last >= from || length_at(d, last) != from - last)
		return;
	if (shifted && before < last && length_at(d, before) == last - before)
		doubt(d, before, last - before, why);
	doubt(d, last, from - last, why);
}

static void doubt_behind_zeros(struct fxt_doubt *d, uint64_t at)
{
	uint64_t length = d->plan && is_within_zeros(d, at) ? length_at(d, at) : 0;
	if (length && length <= d->here->size - at)
		doubt(d, at, length, "begins with zeros and follows zeros: its beginning may be lost");
}

void fxt_doubt_region(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, const struct fxt_record *r,
		      enum tracemend_exactness lost)
{
	if (!d->gapped && (lost != TM_EXACT || !r || r->type == FXT_STRING || r->type == FXT_THREAD)) {
		d->gapped = true;
		d->gap = until;
	}
	fxt_doubt_before(d, rule, from, until, lost);
	doubt_behind_zeros(d, until);
	if (lost != TM_EXACT)
		d->uncounted = until;
}

/* String and thread records are distinctive. A record that may be an argument of one whose beginning is lost, or that has no
 * references to verify, is not. */
static bool is_verified(struct fxt_doubt *d, const struct fxt_record *r)
{
	bool all;
	if (fxt_may_be_argument(r))
		return false;
	if (r->type == FXT_METADATA)
		return r->words > 1 || (r->subtype == FXT_PROVIDER_SECTION && fxt_provider_find(d->registry, r->id));
	return (fxt_refs_known(d->registry->provider, r, &all) && all) || r->type == FXT_STRING || r->type == FXT_THREAD;
}

void fxt_doubt_record(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic)
{
	if (!d->plan)
		return;
	if (!d->here->at && wrote_magic && !r->known)
		doubt(d, d->here->at, r->words * FXT_WORD, "is of an unassigned type, where the magic number is expected");
	if (d->here->at && d->here->at == d->uncounted)
		d->unverified = d->here->at;
	/* The first verified record behind damage verifies those that follow it. */
	if (d->here->at && (d->here->at == d->unverified || d->here->at == d->faulty) && !is_verified(d, r)) {
		doubt(d, d->here->at, r->words * FXT_WORD,
		      d->here->at == d->faulty ? "follows a faulty record, and refers to nothing that is registered"
		      : fxt_may_be_argument(r) ? "follows bytes that are not a record, and may be an argument of a record"
					       : "follows bytes that are not a record, and refers to nothing that is registered");
		d->unverified = d->here->at + r->words * FXT_WORD;
	}
}

void fxt_doubt_provider(struct fxt_doubt *d, uint32_t missing)
{
	for (unsigned bit = 0; bit < 32 && d->plan; bit++) {
		const struct fxt_provider *p = fxt_provider_find(d->registry, missing ^ UINT32_C(1) << bit);
		if (p && p->introduced && !p->placeholder)
			doubt(d, p->offset, length_at(d, p->offset),
			      "introduces a provider whose id differs by one bit from one that is missing");
	}
}

/* An unused registration whose index differs by one bit from one that is missing. */
static void doubt_registration(struct fxt_doubt *d, const struct fxt_missing *m)
{
	const struct fxt_provider *p = fxt_provider_find(d->registry, m->provider);
	const struct fxt_tables *t = p ? p->tables : d->registry->list[0]->tables;
	for (unsigned bit = 0; bit < (m->thread ? 8 : 15); bit++) {
		uint32_t index = m->index ^ 1u << bit;
		const struct fxt_string_page *page = t->pages[index / FXT_PAGE];
		uint8_t state = m->thread ? t->threads[index].state : page->state[index % FXT_PAGE];
		uint64_t offset = m->thread ? t->threads[index].offset : page->offset[index % FXT_PAGE];
		if ((state & (FXT_REGISTERED | FXT_USED)) == FXT_REGISTERED)
			doubt(d, offset, length_at(d, offset),
			      "registers an unused index that differs by one bit from one that is missing");
	}
}

/* An index that is not registered before its use and that one record alone refers to may be a damaged reference as well as a
 * lost registration. Where a registration was cut out, the records before its first use may be composed of pieces of others. */
void fxt_doubt_missing(struct fxt_doubt *d)
{
	const struct fxt_missing *last = NULL;
	for (size_t i = 0; d->plan && i < d->registry->missing_count; i++) {
		const struct fxt_missing *m = &d->registry->missing[i];
		if (m->cause)
			continue;
		doubt_registration(d, m);
		if (!last && m->before < m->offset)
			doubt(d, m->before, m->offset - m->before,
			      "precedes the first use of an index that is not registered: a registration may be missing here");
		if (m->count == 1 && (!last || last->offset != m->offset))
			doubt(d, m->offset, m->length,
			      "is the only record that refers to an index that is not registered: the reference may be damaged");
		last = m;
	}
}

void fxt_doubt_stale(struct fxt_doubt *d)
{
	bool redefined = false;
	for (size_t i = 0; i < d->registry->count; i++)
		redefined = redefined || d->registry->list[i]->redefined;
	if (d->gapped && redefined && d->gap < d->here->size)
		doubt(d, d->gap, d->here->size - d->gap,
		      "strings or threads are registered several times, and a registration may have been lost before here: "
		      "a reference may resolve to an older one");
}
