/* Records that are kept although nothing vouches for them: they decode, and stand next to damage, or refer to what is not
 * there. The manifest lists them. */
#include "formats/fxt/scan/fxt_walk.h"

static void doubt(struct fxt_walk *x, uint64_t at, uint64_t length, const char *why)
{
	plan_doubt(x->s->plan, x->source, at, length, why);
}

/* Bytes of the record at `at`, by its header. */
static uint64_t length_at(struct fxt_walk *x, uint64_t at)
{
	const uint8_t *p = window_at(&x->peek, at, FXT_WORD);
	return p ? fxt_size(load_u64(p, x->decoder.big_endian)) * FXT_WORD : 0;
}

/* Whether zeros stand on both sides of an offset: a hole may be smaller than a word. */
static bool is_within_zeros(struct fxt_walk *x, uint64_t at)
{
	const uint8_t *p = at && window_left(&x->peek, at) ? window_at(&x->peek, at - 1, 2) : NULL;
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

/* Whether what is left of a record at the end of the file is the beginning of one: sound as far as it goes, and of what
 * is registered. */
static bool is_beginning(struct fxt_walk *x, uint64_t at)
{
	struct fxt_record *o = &x->other;
	size_t got;
	const uint8_t *p = window_upto(&x->peek, at, FXT_DECODE_SPAN, &got);
	bool all;
	if (!p || got < FXT_WORD || fxt_decode(&x->decoder, o, p, got, x->size - at, FXT_DECODE_IGNORE_SIZE))
		return false; /* what ends before the file does is not what was cut */
	for (uint32_t i = 0; i < o->issues.count; i++)
		if (o->issues.list[i].severity != TM_NOTE)
			return false;
	(void)fxt_known_refs(x, o, &all);
	return o->known && all && fxt_size(o->header) <= most_words(o);
}

/* Whether the record at `at` is skipped by its size: nothing is known of what it is made of. */
static bool is_unknown(struct fxt_walk *x, uint64_t at)
{
	const uint8_t *p = window_at(&x->peek, at, FXT_WORD);
	return p && fxt_decode(&x->decoder, &x->other, p, FXT_WORD, x->size - at, 0) && !x->other.known;
}

/* A record that ends where damage begins, at `from`, has the right size, and may yet be made of other bytes; and where
 * these are shifted, so may the one before it. */
void fxt_doubt_before(struct fxt_walk *x, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost)
{
	const char *why = NULL;
	bool shifted = rule == FXT_RULE_misaligned_records || (until - from) % FXT_WORD;

	if (!x->s->plan || !x->records)
		return;
	uint64_t last = fxt_recent(x, 1), before = fxt_recent(x, 2);
	if (rule == FXT_RULE_truncated_record && x->size - from >= FXT_WORD)
		why = is_beginning(x, from) ? NULL : "stands right before bytes that begin no record";
	else if (is_within_zeros(x, from))
		why = "ends in zeros, right before zeros: its end may be gone";
	else if (shifted)
		why = "stands right before shifted bytes";
	else if (lost == TM_AT_LEAST || rule == FXT_RULE_record_past_end)
		why = "stands right before bytes that are no record";
	else if (last < from && is_unknown(x, last))
		why = "is of no known kind, and stands right before damage";
	/* What stands before other damage is not the neighbour of this. */
	if (!why || last >= from || length_at(x, last) != from - last)
		return;
	if (shifted && before < last && length_at(x, before) == last - before)
		doubt(x, before, last - before, why);
	doubt(x, last, from - last, why);
}

void fxt_doubt_behind_zeros(struct fxt_walk *x, uint64_t at)
{
	uint64_t length = x->s->plan && is_within_zeros(x, at) ? length_at(x, at) : 0;
	if (length && length <= x->size - at)
		doubt(x, at, length, "begins with zeros, right behind zeros: its beginning may be gone");
}

/* Strings and threads are recognised by what they are; what may be an argument of a record whose beginning is lost, and what
 * refers to nothing, are hardly. */
static bool is_vouched_for(struct fxt_walk *x, const struct fxt_record *r)
{
	bool all;
	if (fxt_may_be_argument(r))
		return false;
	if (r->type == FXT_METADATA)
		return r->words > 1 || (r->subtype == FXT_PROVIDER_SECTION && fxt_provider_find(x, r->id));
	return (fxt_known_refs(x, r, &all) && all) || r->type == FXT_STRING || r->type == FXT_THREAD;
}

void fxt_doubt_record(struct fxt_walk *x, const struct fxt_record *r)
{
	if (!x->s->plan)
		return;
	if (!x->at && x->magic_written && !r->known)
		doubt(x, x->at, r->words * FXT_WORD, "stands where the magic number should, and is of no known kind");
	if (x->at && x->at == x->torn)
		x->unvouched = x->at;
	/* The first record that is vouched for, vouches for what follows it. */
	if (x->at && (x->at == x->unvouched || x->at == x->faulty) && !is_vouched_for(x, r)) {
		doubt(x, x->at, r->words * FXT_WORD,
		      x->at == x->faulty       ? "stands right behind a faulty record, and refers to nothing known"
		      : fxt_may_be_argument(r) ? "stands right behind bytes that are no record, and may be an argument of one"
					       : "stands right behind bytes that are no record, and refers to nothing known");
		x->unvouched = x->at + r->words * FXT_WORD;
	}
}

void fxt_doubt_provider(struct fxt_walk *x, uint32_t missing)
{
	for (unsigned bit = 0; bit < 32 && x->s->plan; bit++) {
		const struct fxt_provider *p = fxt_provider_find(x, missing ^ UINT32_C(1) << bit);
		if (p && p->introduced && !p->made_up)
			doubt(x, p->offset, length_at(x, p->offset), "introduces a provider, one bit away from what is missing");
	}
}

/* A registration that nothing uses, of an index that differs by a bit from one that is missing. */
static void doubt_registration(struct fxt_walk *x, const struct fxt_missing *m)
{
	const struct fxt_provider *p = fxt_provider_find(x, m->provider);
	const struct fxt_tables *t = p ? p->tables : x->first->tables;
	for (unsigned bit = 0; bit < (m->thread ? 8 : 15); bit++) {
		uint32_t index = m->index ^ 1u << bit;
		const struct fxt_string_page *page = t->pages[index / FXT_PAGE];
		uint8_t state = m->thread ? t->threads[index].state : page->state[index % FXT_PAGE];
		uint64_t offset = m->thread ? t->threads[index].offset : page->offset[index % FXT_PAGE];
		if ((state & (FXT_REGISTERED | FXT_USED)) == FXT_REGISTERED)
			doubt(x, offset, length_at(x, offset),
			      "registers what nothing refers to, one bit away from what is missing");
	}
}

/* What nothing registers before its use, and one record alone refers to by then, may as well be a damaged reference as a lost
 * registration. And where a registration was cut out unseen, the records before its first use may be pieced together. */
void fxt_doubt_missing(struct fxt_walk *x)
{
	const struct fxt_missing *last = NULL;
	for (uint32_t i = 0; i < x->missing_count; i++) {
		const struct fxt_missing *m = &x->missing[i];
		if (m->cause)
			continue;
		doubt_registration(x, m);
		if (!last && m->before < m->offset)
			doubt(x, m->before, m->offset - m->before,
			      "stands before the first use of what is not registered so far: bytes may be missing here");
		if (m->count == 1 && (!last || last->offset != m->offset))
			doubt(x, m->offset, m->length,
			      "refers to what is not registered so far, as no other record does: the reference may be damaged");
		last = m;
	}
}

void fxt_doubt_stale(struct fxt_walk *x)
{
	bool redefined = false;
	for (struct fxt_provider *p = x->first; p; p = p->next)
		redefined = redefined || p->redefined;
	if (x->gapped && redefined && x->gap < x->size)
		doubt(x, x->gap, x->size - x->gap,
		      "strings or threads are registered several times, and a registration may have been lost before here: "
		      "a reference may show an older one");
}
