#include "formats/fxt/salvage/fxt_inner.h"

/* Words in which records that end with another one are looked for, and how many of them. */
#define INNER_WORDS 64u
#define INNER_RECORDS 8u

/* Whether a word may be the header of an argument: its name is inline, or registered, or there is none. */
static bool may_be_named(const struct fxt_registry *reg, uint64_t word)
{
	const uint16_t name = (uint16_t)fxt_bits(word, 16, 16);
	return !name || name & FXT_STRING_INLINE || fxt_string_known(reg->provider, name);
}

/* Whether what the record refers to is registered, and that is something. */
static bool is_known(const struct fxt_registry *reg, const struct fxt_record *r)
{
	bool all;

	if (r->type == FXT_METADATA)
		return r->subtype == FXT_PROVIDER_SECTION && fxt_provider_find(reg, r->id);
	return fxt_refs_known(reg->provider, r, &all) && all;
}

bool fxt_inner_is_told(const struct fxt_registry *reg, const struct fxt_record *r)
{
	return !may_be_named(reg, r->header) && is_known(reg, r);
}

/* Whether sound records go from `at` to `until`. */
static bool ends_with(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t at, uint64_t until)
{
	const struct fxt_record *o = &y->other;

	for (unsigned n = 0; n < INNER_RECORDS && at < until; n++) {
		if (!fxt_decode_other(y, at) || !fxt_is_strict(o) || o->late_padding || o->words > (until - at) / FXT_WORD)
			return false;
		/* The first one is told, or distinct; the others follow it. */
		if (!n && !fxt_inner_is_told(reg, o) &&
		    (o->words < 2 || fxt_may_be_argument(o) ||
		     (o->type != FXT_STRING && o->type != FXT_THREAD && !is_known(reg, o))))
			return false;
		at += o->words * FXT_WORD;
	}
	return at == until;
}

bool fxt_inner_swallowed(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t at, const struct fxt_record *r,
			 uint64_t *first)
{
	*first = at + r->content * FXT_WORD;
	return r->words - r->content <= INNER_WORDS && fxt_decode_other(y, *first) && fxt_inner_is_told(reg, &y->other) &&
	       ends_with(y, reg, *first, at + r->words * FXT_WORD);
}

uint64_t fxt_inner_last(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t until)
{
	uint64_t at = from + FXT_WORD;

	if (until - from > INNER_WORDS * FXT_WORD)
		return until;
	while (until - at >= 2 * FXT_WORD && y->window.status == TM_OK && !ends_with(y, reg, at, until))
		at += FXT_WORD;
	return until - at >= 2 * FXT_WORD ? at : until;
}

uint64_t fxt_inner_section(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t first)
{
	const uint64_t at = first - FXT_WORD;
	const bool section = first > from + FXT_WORD && fxt_decode_other(y, at) && fxt_is_strict(&y->other) &&
			     y->other.words == 1 && y->other.type == FXT_METADATA && fxt_inner_is_told(reg, &y->other);

	return section ? at : first;
}

/* Whether a record that was decoded strictly is evidence by itself: it registers something, or it is no argument, refers to nothing
 * but what is registered, and to something, or has a time. */
static bool stands_alone(const struct fxt_registry *reg, const struct fxt_record *r)
{
	const struct fxt_provider *p = reg->provider;
	bool all;

	if (!fxt_is_strict(r) || r->late_padding)
		return false;
	if (r->type == FXT_METADATA)
		return fxt_inner_is_told(reg, r);
	if (fxt_registers(r->type))
		return r->words > 1 && r->id;
	return !fxt_may_be_argument(r) && (fxt_refs_known(p, r, &all) || fxt_is_timed(p, r)) && all && fxt_time_fits(p, r);
}

/* Decodes the record at `at`, as long as the bytes suffice that may be examined for single records. */
static bool decode_single(struct fxt_resync *y, uint64_t at)
{
	const bool decoded = y->single_budget && fxt_decode_other(y, at);
	const uint64_t work = y->other.work;

	y->single_budget -= work < y->single_budget ? work : y->single_budget;
	return decoded;
}

uint64_t fxt_inner_single(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t until)
{
	const struct fxt_record *o = &y->other;

	y->single_budget += (until - from) * FXT_BUDGET_FACTOR;
	for (uint64_t at = from + FXT_WORD; at < until && until - at >= FXT_WORD && y->window.status == TM_OK; at += FXT_WORD)
		if (decode_single(y, at) && o->words <= (until - at) / FXT_WORD && stands_alone(reg, o))
			return at;
	return until;
}

uint64_t fxt_inner_torn(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t last, uint64_t end)
{
	const struct fxt_record *o = &y->other;

	if (end - last > INNER_WORDS * FXT_WORD)
		return end;
	y->single_budget += (end - last) * FXT_BUDGET_FACTOR;
	for (uint64_t at = last + FXT_WORD; at < end && y->window.status == TM_OK; at += FXT_WORD)
		if (decode_single(y, at) && o->words > (end - at) / FXT_WORD && stands_alone(reg, o) &&
		    fxt_next_is_sound(y, at + o->words * FXT_WORD))
			return at;
	return end;
}
