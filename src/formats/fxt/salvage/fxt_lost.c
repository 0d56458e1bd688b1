/* What a region of damage may have held: a registration or a section that is lost makes what follows doubtful, an event does not.
 */
#include "formats/fxt/salvage/fxt_lost.h"

#include <string.h>

/* Records behind the region among which one must have a time. */
#define LOOK_RECORDS 6u
/* Mean steps by which times may go on across the region: where a block is missing, it is more. */
#define STEPS_MOST 16u
/* Words of a record into which bytes may have been inserted. */
#define INSERTED_WORDS_MAX 64u
/* Providers whose section records are looked for; of many, most have none near. */
#define SECTION_PROVIDERS 64u
/* Bytes of a section record that a cut left: of fewer, any zeros fit. */
#define SECTION_REST 4u

/* A region, and the times before and behind it. */
struct lost {
	struct fxt_resync *y;
	const struct fxt_provider *provider;
	uint64_t until, low, high; /* low > high: times are not known */
};

static uint64_t word_at(const struct lost *l, uint64_t at)
{
	const uint8_t *p = window_at(&l->y->window, at, FXT_WORD);
	return p ? load_u64(p, l->y->decoder->big_endian) : 0;
}

/* Whether times go on across the region as they do elsewhere. */
static bool times_go_on(struct lost *l)
{
	const struct fxt_provider *p = l->provider;
	const struct fxt_record *r = &l->y->other;
	uint64_t at = l->until;

	if (p->timed < FXT_TIMES_KNOWN || p->outlier_open)
		return false;
	for (unsigned n = 0; n < LOOK_RECORDS; n++, at += r->words * FXT_WORD) {
		if (!fxt_decode_other(l->y, at) || !fxt_is_exact(r) ||
		    (r->type == FXT_METADATA && r->subtype != FXT_PROVIDER_EVENT))
			return false;
		if (!r->has_timestamp)
			continue;
		l->low = p->previous < r->timestamp ? p->previous : r->timestamp;
		l->high = p->previous < r->timestamp ? r->timestamp : p->previous;
		return (l->high - l->low) / STEPS_MOST <= (p->last - p->first) / p->timed;
	}
	return false;
}

static bool is_time(const struct lost *l, uint64_t word)
{
	return word >= l->low && word <= l->high;
}

/* Whether the bytes of a word may be the only or the first ones of a text. */
static bool may_be_text(uint64_t word, bool big_endian)
{
	uint8_t bytes[FXT_WORD];
	unsigned n = 0;

	store_u64(bytes, word, big_endian);
	while (n < FXT_WORD && bytes[n] >= ' ')
		n++;
	return bytes_are_zero(bytes + n, FXT_WORD - n);
}

/* The strings and the thread that the header of an event refers to; false: it has no time. */
static bool header_refs(uint64_t header, uint16_t strings[2], uint8_t threads[2])
{
	strings[0] = strings[1] = 0;
	threads[0] = threads[1] = 0;
	switch (header & 15) {
	case FXT_EVENT:
		threads[0] = (uint8_t)fxt_bits(header, 24, 8);
		strings[0] = (uint16_t)fxt_bits(header, 32, 16);
		strings[1] = (uint16_t)fxt_bits(header, 48, 16);
		return fxt_bits(header, 16, 4) < FXT_EVENT_TYPES;
	case FXT_SCHEDULING:
		if (header >> 60 == FXT_SWITCH_LEGACY) {
			threads[0] = (uint8_t)fxt_bits(header, 28, 8);
			threads[1] = (uint8_t)fxt_bits(header, 36, 8);
		}
		return header >> 60 <= FXT_WAKEUP;
	case FXT_LOG:
		threads[0] = (uint8_t)fxt_bits(header, 32, 8);
		return !(header >> 40);
	case FXT_PROFILER:
		threads[0] = (uint8_t)fxt_bits(header, 20, 8);
		return fxt_bits(header, 16, 4) <= FXT_PROFILER_BACKTRACE;
	default:
		return false;
	}
}

/* Whether an event begins at `at`: its header was not hit. */
static bool begins_event(const struct lost *l, uint64_t at)
{
	uint64_t header = word_at(l, at), words = fxt_size(header);
	uint16_t strings[2];
	uint8_t threads[2];

	if (words < 2 || !header_refs(header, strings, threads) || !is_time(l, word_at(l, at + FXT_WORD)))
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (!fxt_string_known(l->provider, strings[i]) || !fxt_thread_known(l->provider, threads[i]))
			return false;
	return true;
}

/* Whether a registration may be inside the region from `at` on. */
static bool has_registration(struct lost *l, uint64_t at)
{
	struct fxt_resync *y = l->y;

	for (; l->until - at >= FXT_WORD; at += FXT_WORD) {
		unsigned type = word_at(l, at) & 15;
		if (type != FXT_STRING && type != FXT_THREAD)
			continue;
		if (!y->lost_budget || (fxt_decode_other(y, at) && fxt_is_exact(&y->other)))
			return true;
		y->lost_budget -= y->other.work < y->lost_budget ? y->other.work : y->lost_budget;
	}
	return false;
}

/* Whether the time of an event is at `at`, behind a header that was hit or cut out, and no other record is in the rest. */
static bool is_headless_event(struct lost *l, uint64_t at)
{
	uint64_t time = l->until - at >= FXT_WORD ? word_at(l, at) : 0;

	return l->until - at >= FXT_WORD && is_time(l, time) && !may_be_text(time, l->y->decoder->big_endian) &&
	       !has_registration(l, at);
}

/* Whether an argument of the record that begins at `x` or behind it has a name that is registered. */
static bool is_structured(const struct lost *l, const struct fxt_record *r, uint64_t x)
{
	for (unsigned n = 0; n < r->argument_count; n++)
		if (r->arguments[n].at >= x && r->arguments[n].name.ref && fxt_string_known(l->provider, r->arguments[n].name.ref))
			return true;
	return false;
}

/* Whether the event at `at` is exact without some bytes in it, as many as the region is too long for it. */
static bool is_torn_event(struct lost *l, uint64_t at)
{
	struct fxt_resync *y = l->y;
	uint64_t words = fxt_size(word_at(l, at)), length = words * FXT_WORD, more = l->until - at - length;
	uint8_t bytes[INSERTED_WORDS_MAX * FXT_WORD];
	bool all;

	if (words > INSERTED_WORDS_MAX || more > FXT_JOURNAL_BYTES)
		return false;
	const uint8_t *p = window_at(&y->window, at, (size_t)(length + more));
	if (!p)
		return false;
	memcpy(bytes, p + more, (size_t)length);
	memcpy(bytes, p, FXT_WORD);
	for (uint64_t x = FXT_WORD; x < length && y->lost_budget >= length; bytes[x] = p[x], x++) {
		y->lost_budget -= length;
		if (fxt_decode(y->decoder, &y->other, bytes, length, length, FXT_DECODE_STRICT) && fxt_is_exact(&y->other) &&
		    fxt_refs_known(l->provider, &y->other, &all) && all && is_structured(l, &y->other, x))
			return true;
	}
	return false;
}

/* Whether the header of a registration is left at `at`: which. */
static bool begins_registration(const struct lost *l, uint64_t at, struct fxt_lost_entry *e)
{
	uint64_t header = word_at(l, at), words = fxt_size(header), length = header >> 32;

	e->thread = (header & 15) == FXT_THREAD;
	e->index = (uint16_t)fxt_bits(header, 16, e->thread ? 8 : 16);
	if (e->thread)
		return words == 3 && e->index && !(header >> 24);
	return (header & 15) == FXT_STRING && e->index && e->index <= FXT_STRING_INDEX_MAX && length &&
	       length <= FXT_STRING_INDEX_MAX && words == 1 + fxt_words(length);
}

/* Whether the header of a blob is left at `at`. */
static bool begins_blob(const struct lost *l, uint64_t at)
{
	uint64_t header = word_at(l, at), words = fxt_size(header), ref = fxt_bits(header, 16, 16),
		 format = fxt_bits(header, 48, 8);

	return (header & 15) == FXT_BLOB && !(header >> 56) && !(header >> 47 & 1) && format && format <= FXT_BLOB_PERFETTO &&
	       words == 1 + (ref & FXT_STRING_INLINE ? fxt_words(ref & FXT_STRING_INDEX_MAX) : 0) +
				fxt_words(fxt_bits(header, 32, 15)) &&
	       words > 1 && fxt_string_known(l->provider, (uint16_t)ref);
}

/* Bytes of a record whose header is left at `at`; 0: there is none. */
static uint64_t left_record(struct lost *l, uint64_t at, struct fxt_loss *loss)
{
	struct fxt_lost_entry e;

	if (begins_registration(l, at, &e)) {
		if (loss->known_count == FXT_LOST_KNOWN)
			return 0;
		loss->known[loss->known_count++] = e;
	} else if (!begins_event(l, at) && !begins_blob(l, at)) {
		return 0;
	}
	return fxt_size(word_at(l, at)) * FXT_WORD;
}

/* Whether a word is not one that records have as a rule: a small number, a negative one, a text, a time. */
static bool is_noisy(const struct lost *l, uint64_t word)
{
	return word >> 32 && word >> 32 != UINT32_MAX && !may_be_text(word, l->y->decoder->big_endian) && !is_time(l, word);
}

/* The byte of a word that comes first in the file. */
static uint8_t first_byte(const struct lost *l, uint64_t word)
{
	return (uint8_t)(l->y->decoder->big_endian ? word >> 56 : word);
}

/* How many of the words from `at` on may have been hit, of which the first was. */
static uint64_t hit_words(const struct lost *l, uint64_t at)
{
	const uint64_t first = word_at(l, at), words = (l->until - at) / FXT_WORD;
	uint64_t hit = 1;

	/* A fill is the same word again and again. */
	if (first && ~first && (words < 2 || word_at(l, at + FXT_WORD) != first)) {
		for (uint64_t n = 1; n < words; n++)
			if (is_noisy(l, word_at(l, at + n * FXT_WORD)))
				hit = n + 1;
		return hit;
	}
	while (hit < words && word_at(l, at + hit * FXT_WORD) == first)
		hit++;
	/* The next one perhaps in part, if it begins as the fill does. */
	if (hit < words && (hit > 1 || !first))
		hit += first_byte(l, word_at(l, at + hit * FXT_WORD)) == first_byte(l, first);
	return hit;
}

/* Whether [at, until) may be the text of a string record, or the end of it. */
static bool ends_text(const struct lost *l, uint64_t at)
{
	bool full = true;

	for (; l->until - at >= FXT_WORD; at += FXT_WORD) {
		const uint64_t word = word_at(l, at);
		if (!word || !full || !may_be_text(word, l->y->decoder->big_endian))
			return false;
		full = word >> 56 && word & 0xff;
	}
	return true;
}

/* What may have been in the rest of the region, whose first word is a header that was hit; or whose first bytes, up to a word, are
 * off the grid of the record behind it. */
static void rest_of(struct lost *l, uint64_t at, struct fxt_loss *loss)
{
	const uint64_t odd = (l->until - at) % FXT_WORD, words = (l->until - at) / FXT_WORD,
		       hit = hit_words(l, at + odd) + (odd != 0);
	const uint64_t behind = at + odd + (hit - (odd != 0)) * FXT_WORD, tail = words + (odd != 0) - hit;

	loss->bytes = l->until - at;
	loss->others = true;
	if (!tail) {
		loss->registrations = (hit + (odd != 0)) / 2;
		return;
	}
	/* The record that has the words behind what was hit begins in it. */
	loss->others = hit > 1;
	loss->registrations = (hit - 1) / 2 + (tail <= 2 || ends_text(l, behind));
}

/* Whether the bytes at `at`, less than a word, are what a cut left of the section record of a provider: half of it or more, for
 * fewer bytes are rather inserted ones. */
static bool is_section_rest(const struct lost *l, const struct fxt_registry *reg, uint64_t at)
{
	const size_t rest = (size_t)(l->until - at);
	const uint8_t *p = window_at(&l->y->window, at, rest);
	uint8_t section[FXT_WORD];

	for (size_t i = 0; p && rest >= SECTION_REST && i < reg->count && i <= SECTION_PROVIDERS; i++) {
		store_u64(section,
			  fxt_header(FXT_METADATA, 1) | fxt_field(16, 4, FXT_PROVIDER_SECTION) |
				  fxt_field(20, 32, reg->list[i]->id),
			  l->y->decoder->big_endian);
		for (size_t front = 0; front <= rest; front++)
			if (!memcmp(p, section, front) && !memcmp(p + front, section + FXT_WORD - (rest - front), rest - front))
				return true;
	}
	return false;
}

struct fxt_loss fxt_lost(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t until)
{
	struct lost l = { .y = y, .provider = reg->provider, .until = until, .low = 1 };
	struct fxt_loss loss = { 0 };
	struct fxt_lost_entry e;
	uint64_t at = from, length;
	const bool timed = times_go_on(&l);

	y->lost_budget += (until - from) * FXT_BUDGET_FACTOR;
	while (until - at >= FXT_WORD && (length = left_record(&l, at, &loss)) != 0) {
		/* Up to a word is missing, where times go on. */
		if (length > until - at) {
			if (timed && length - (until - at) <= FXT_WORD)
				return loss;
			loss.registrations = loss.bytes = UINT64_MAX;
			loss.others = true;
			return loss;
		}
		if (until - at - length >= FXT_WORD && !begins_registration(&l, at, &e) && is_torn_event(&l, at))
			return loss;
		at += length;
	}
	if (until - at < FXT_WORD) {
		loss.others = is_section_rest(&l, reg, at);
		return loss;
	}
	if (!timed) {
		loss.registrations = loss.bytes = UINT64_MAX;
		loss.others = true;
		return loss;
	}
	const uint64_t odd = (until - at) % FXT_WORD, first = at + odd;
	if (is_headless_event(&l, first) || is_headless_event(&l, first + FXT_WORD) || (odd && begins_event(&l, first)))
		return loss;
	rest_of(&l, at, &loss);
	return loss;
}
