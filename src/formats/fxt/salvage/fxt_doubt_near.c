/* Records and blocks next to a region of damage. */
#include "formats/fxt/salvage/fxt_distrust.h"
#include "formats/fxt/salvage/fxt_doubt.h"

/* A block, and the records that are cut by its ends; and regions that one block makes. */
#define ISLAND_BYTES FXT_JOURNAL_BYTES
#define ISLAND_REGIONS 4u
/* Bytes in front of damage in which another archive may begin. */
#define JOIN_BYTES 512u

/* Whether there are zeros on both sides of an offset: a hole may be smaller than a word. */
static bool is_within_zeros(struct fxt_doubt *d, uint64_t at)
{
	const uint8_t *p = at && window_left(&d->resync->window, at) ? window_at(&d->resync->window, at - 1, 2) : NULL;
	return p && bytes_are_zero(p, 2);
}

/* Whether the zeros at the end of the record, which was accepted, are nothing but the padding of a text that does not end in zeros.
 */
static bool ends_in_padding(struct fxt_doubt *d, uint64_t at)
{
	const struct fxt_record *o = &d->resync->other;

	if (!fxt_decode_other(d->resync, at) || !fxt_is_exact(o) || !o->text_length)
		return false;
	uint64_t last = o->text_at + o->text_length - 1;
	return last / FXT_WORD + 1 == o->words && o->data[last];
}

/* Whether the text of the record, which is in resync.other, has control characters: where bytes were cut out of a text, it takes
 * the header of the next record in, which has zeros. */
static bool has_controls(const struct fxt_record *o)
{
	for (uint64_t i = 0; i < o->text_length; i++)
		if (o->data[o->text_at + i] < ' ')
			return true;
	return false;
}

/* Whether damage behind the record cannot have begun in it: it ends in the padding of its text. Bytes that were overwritten would
 * seldom be zero there; an insertion would move the end of the text there, and a deletion the header of the next record. */
static bool is_closed(struct fxt_doubt *d, uint64_t at)
{
	const struct fxt_record *o = &d->resync->other;
	return ends_in_padding(d, at) && (o->text_at + o->text_length) % FXT_WORD && !has_controls(o);
}

/* Whether the record at `at` has a text that took in the header of the next record. */
static bool takes_header_in(struct fxt_doubt *d, uint64_t at)
{
	const struct fxt_record *o = &d->resync->other;
	return fxt_decode_other(d->resync, at) && fxt_is_exact(o) && o->text_length && has_controls(o);
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

/* What is between two regions that are no further apart than a block of a disk may be from elsewhere: another capture, or another
 * place of this one. Where there are many regions, single bytes were hit. */
static void doubt_island(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	if (d->regions++ && d->regions <= ISLAND_REGIONS && from > d->region_end && from - d->region_end <= ISLAND_BYTES) {
		fxt_doubt_list(d, d->region_end, from - d->region_end,
			       "is between two regions of damage, and may be from elsewhere");
		d->island = d->region_end;
		fxt_distrust_range(d, d->region_end, from);
		fxt_distrust_context(d, d->region_end);
	}
	d->region_end = until;
}

/* Whether a second copy of so many bytes that begins in [from, until) took no bytes away: the record at `from` goes on behind it.
 * And nothing in it changes to another provider. */
static bool is_inserted(struct fxt_doubt *d, uint64_t from, uint64_t until, uint64_t size)
{
	uint64_t again = from + size, block = until > size ? until - size : 0;

	return size && until - from <= size && d->entered < block && d->registry->provider->offset < block &&
	       fxt_decode_other(d->resync, again) && fxt_is_exact(&d->resync->other) &&
	       fxt_next_is_sound(d->resync, again + d->resync->other.words * FXT_WORD);
}

/* A record that ends where damage begins, at `from`, has the right size, but may contain bytes of other records; where bytes
 * are shifted, so may the record before it. */
void fxt_doubt_before(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost)
{
	const char *why = NULL;
	bool shifted = rule == FXT_RULE_misaligned_records || (until - from) % FXT_WORD, loose = true;

	if (!d->plan || !d->here->records)
		return;
	uint64_t last = fxt_position_recent(d->here, 1), before = fxt_position_recent(d->here, 2);
	if (rule == FXT_RULE_truncated_record && d->here->size - from >= FXT_WORD)
		why = is_beginning(d, from) ? NULL : "precedes bytes that are not the beginning of a record";
	else if (is_within_zeros(d, from) && !ends_in_padding(d, last))
		why = "ends in zeros and precedes zeros: its end may be lost";
	else if (shifted)
		why = "precedes bytes that are off the 8-byte grid";
	else if (rule != FXT_RULE_file_size_not_multiple_of_8) {
		why = "precedes bytes that are not a record";
		loose = lost == TM_AT_LEAST || rule == FXT_RULE_record_past_end;
	}
	/* The last record is not adjacent when other damage is in between. */
	if (!why || last >= from || fxt_doubt_length_at(d, last) != from - last || is_closed(d, last))
		return;
	if (shifted && before < last && fxt_doubt_length_at(d, before) == last - before) {
		fxt_distrust(d, before);
		fxt_doubt_list(d, before, last - before, why);
	}
	/* Damage that begins with it may reach into it, but not into a header. */
	if (loose || fxt_registers(fxt_doubt_header_at(d, last) & 15) || takes_header_in(d, last))
		fxt_distrust(d, last);
	fxt_doubt_list(d, last, from - last, why);
}

static void doubt_behind_zeros(struct fxt_doubt *d, uint64_t at)
{
	uint64_t length = d->plan && is_within_zeros(d, at) ? fxt_doubt_length_at(d, at) : 0;
	if (length && length <= d->here->size - at)
		fxt_doubt_list(d, at, length, "begins with zeros and follows zeros: its beginning may be lost");
}

/* A block of a disk that ends in the region of damage, or in the record before it, may be from elsewhere. */
static void doubt_foreign_block(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	const uint64_t last = d->here->records ? fxt_position_recent(d->here, 1) : from;
	const bool adjacent = last < from && fxt_doubt_length_at(d, last) == from - last;
	const uint64_t begin = fxt_block_foreign(d->registry, d->archive, adjacent ? last : from, until);

	if (begin == FXT_NO_BLOCK)
		return;
	fxt_doubt_block(d, begin, begin, from);
	/* It ends in the seam: none begins there. */
	d->seams.bytes = 0;
}

/* Where a magic number begins in the last bytes of a region of damage, or in the records in front of it: an archive that was cut,
 * and another one behind it. */
static void doubt_joined(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	const uint64_t reach = from > JOIN_BYTES ? from - JOIN_BYTES : 0,
		       first = until - reach > 2 * JOIN_BYTES ? until - 2 * JOIN_BYTES : reach;
	const size_t length = (size_t)(until - first);
	const uint8_t *p = d->joined || !first ? NULL : window_at(&d->resync->window, first, length);

	/* At the beginning of a sector it may be that of a block. */
	for (size_t i = 0; p && i + FXT_WORD <= length && !d->joined; i++)
		d->joined = (first + i) % FXT_SECTOR_BYTES && load_u64(p + i, d->resync->decoder->big_endian) == FXT_MAGIC;
	if (d->joined && p)
		fxt_doubt_list(d, first, d->here->size - first,
			       "another archive begins in damage, and what follows may be its own");
}

void fxt_doubt_region(struct fxt_doubt *d, unsigned rule, uint64_t from, uint64_t until, enum tracemend_exactness lost,
		      uint64_t stated)
{
	fxt_doubt_before(d, rule, from, until, lost);
	doubt_behind_zeros(d, until);
	d->before = (struct fxt_seam){ d->seam - d->seam_length, d->seam, true };
	d->seam = until;
	d->seam_length = until - from;
	d->seam_stated = stated;
	d->seam_missing = d->registry->missing_count;
	for (unsigned i = d->unknown_count; i-- && !d->unknown[i].next;)
		d->unknown[i].next = from;
	if (lost != TM_EXACT)
		d->uncounted = until;
	if (d->plan) {
		fxt_distrust_settle(d);
		doubt_joined(d, from, until);
		doubt_island(d, from, until);
		fxt_doubt_foreign(d, fxt_seam_add(&d->seams, from, until, true), from);
		doubt_foreign_block(d, from, until);
		uint64_t copy = fxt_doubt_repeat(d, d->here->records ? fxt_position_recent(d->here, 2) : 0, until);
		fxt_distrust_region(d, until,
				    is_inserted(d, from, until, copy) ? (struct fxt_loss){ 0 }
								      : fxt_lost(d->resync, d->registry, from, until));
	}
}
