/* Finding the next sound record after one that is not.
 *
 * Record headers have little redundancy: four of five words of a real trace could be one. So an offset counts only where a
 * whole record decodes strictly and a second one follows. Work is linear in the file: every byte is tried as a beginning once,
 * the bytes that a trial may examine are taken from a budget that grows with the bytes passed, and reads far ahead are rationed
 * by offset, so that the size of a window changes no result. */
#include "formats/fxt/salvage/fxt_resync.h"

/* Bytes that are searched on the 8-byte grid before the seven other alignments are. */
#define BLOCK (64u * 1024)
/* A resume point further than this from the damage is weighed against the other alignments first. */
#define GRID_TRUST 256u
#define CHAIN 2u
#define CHAIN_SHIFTED 6u
/* Odd records (struct fxt_record) that may be between the strict ones of a chain. */
#define CHAIN_ODD 4u
/* So many strict records in a row inside another record are not chance. */
#define CHAIN_INNER 6u
/* The middle of a record seldom passes for so many. */
#define CHAIN_ROW 4u
/* Further records that a chain of nothing but possible arguments must have. */
#define CHAIN_MORE 2u
#define BUDGET_START (1024u * 1024)
#define WORDS_CHEAP 16u
/* The next record beyond this distance needs a read of its own. */
#define NEAR (64u * 1024)
#define FAR_READS_START 128u
#define FAR_READS_EVERY (32u * 1024)
/* Records at the beginning of a file among which two must be strict. */
#define BEGINNING_RECORDS 8u
/* Records that are tried for two that fit; those of an unassigned type do not count. */
#define FIT_DEPTH 5u

/* Records, and bytes, by which it is judged whose they are; how often that is asked; records that must speak against it. */
#define LOOK_RECORDS 24u
#define LOOK_BYTES 4096u
#define LOOK_EVERY 64u
#define LOOKS_START 256u
#define LOOK_AGAINST 2u
#define LOOK_AGAINST_SURE 4u
/* Registrations that are missing, at most. */
#define LOOK_MISSING 64u

struct search {
	uint64_t budget; /* bytes of text that may still be examined */
};

/* Reading far ahead moves the window, so it is allowed once for each FAR_READS_EVERY bytes of the file, and FAR_READS_START times
 * more. A large record in a chain takes two: to decode it, and to go on behind it. */
static bool may_read_far(struct fxt_resync *y, uint64_t distance, uint64_t at)
{
	if (distance <= NEAR)
		return true;
	if (y->far_reads >= FAR_READS_START + at / FAR_READS_EVERY)
		return false;
	y->far_reads++;
	return true;
}

/* Decodes the record at `at` into y->other. False where nothing decodes. */
static bool decode_at(struct fxt_resync *y, uint64_t at, unsigned flags)
{
	uint64_t left = window_left(&y->window, at);
	const uint8_t *p = left >= FXT_WORD ? window_at(&y->window, at, FXT_WORD) : NULL;
	if (!p)
		return false;
	uint64_t words = fxt_size(load_u64(p, y->decoder->big_endian));
	/* What bytes of another record say of its size may be anything. */
	if (!words || words > left / FXT_WORD || !may_read_far(y, fxt_span(words), at))
		return false;
	p = window_at(&y->window, at, fxt_span(words));
	return p && fxt_decode(y->decoder, &y->other, p, fxt_span(words), left, flags);
}

/* True when the window of the walk has the record at `at`. */
static bool walk_holds(const struct fxt_resync *y, uint64_t at)
{
	const struct window *w = y->walk;

	if (!window_holds(w, w->source, at, FXT_WORD))
		return false;
	uint64_t words = fxt_size(load_u64(w->buffer + (at - w->base), y->decoder->big_endian));
	return window_holds(w, w->source, at, fxt_span(words));
}

/* The same from the window of the walk where that has the record: the other window would have to move. */
static bool decode_near(struct fxt_resync *y, uint64_t at, unsigned flags)
{
	const struct window *w = y->walk;

	if (!walk_holds(y, at))
		return decode_at(y, at, flags);
	const uint8_t *p = w->buffer + (at - w->base);
	uint64_t words = fxt_size(load_u64(p, y->decoder->big_endian)), left = y->size - at;
	return words && words <= left / FXT_WORD && may_read_far(y, fxt_span(words), at) &&
	       fxt_decode(y->decoder, &y->other, p, fxt_span(words), left, flags);
}

/* Whether the padding of a payload is zero that was not in the window. */
static bool late_padding_is_zero(struct fxt_resync *y, uint64_t at)
{
	uint64_t from = at + y->other.payload_at + y->other.payload_length;
	uint64_t length = fxt_words(y->other.payload_length) * FXT_WORD - y->other.payload_length;
	const uint8_t *p = window_at(&y->window, from, (size_t)length);
	return p && bytes_are_zero(p, (size_t)length);
}

bool fxt_may_be_argument(const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_METADATA:
	case FXT_STRING:
		return r->words == 1 && !(r->header >> 32);
	case FXT_INITIALIZATION: /* a number between 0 and 2^16 in a value or payload */
		return true;
	case FXT_EVENT:
		return !(r->header >> 48);
	case FXT_USERSPACE:
	case FXT_KERNEL:
		return !r->argument_count;
	case FXT_SCHEDULING:
		return r->subtype == FXT_SWITCH_LEGACY;
	case FXT_PROFILER:
		return r->words == 1 + fxt_words(r->header >> 32);
	default:
		return false;
	}
}

/* True when `chain` strict records follow each other from `at`, or fewer that end with the file. Where `more` is not 0, and all
 * of them may be arguments, so many further ones must follow, or fewer up to one that cannot be an argument. The bytes are
 * taken from the budget of the search, which may be NULL. */
static bool chain_at(struct fxt_resync *y, uint64_t at, unsigned chain, unsigned more, struct search *s)
{
	bool anchored = !more;
	unsigned odd = 0;
	for (unsigned k = 0; k < chain || (!anchored && k < chain + more);) {
		if (at == y->size)
			return k > 0;
		const uint8_t *p = window_left(&y->window, at) >= FXT_WORD ? window_at(&y->window, at, FXT_WORD) : NULL;
		if (!p)
			return false;
		uint64_t header = load_u64(p, y->decoder->big_endian);
		if (!header)
			return false;
		if (s && !s->budget && fxt_size(header) > WORDS_CHEAP)
			return false;
		bool good = decode_at(y, at, FXT_DECODE_STRICT) && fxt_is_exact(&y->other);
		if (s)
			s->budget -= y->other.work < s->budget ? y->other.work : s->budget;
		/* An odd record does not count, but it does not end the chain. */
		if (!good || (y->other.odd && (!k || odd++ == CHAIN_ODD)))
			return false;
		k += !y->other.odd;
		uint64_t length = y->other.words * FXT_WORD;
		if (!may_read_far(y, length, at))
			return false;
		if (y->other.late_padding && !late_padding_is_zero(y, at))
			return false;
		anchored = anchored || !fxt_may_be_argument(&y->other);
		at += length;
	}
	return true;
}

/* Whether CHAIN_INNER strict records, or as many as there are up to `until`, follow each other from `at`, of which two cannot
 * be arguments. */
static bool chain_within(struct fxt_resync *y, uint64_t at, uint64_t until, struct search *s)
{
	unsigned anchors = 0, odd = 0;
	for (unsigned k = 0; k < CHAIN_INNER;) {
		if (until - at < FXT_WORD || !s->budget || !decode_at(y, at, FXT_DECODE_STRICT) || !fxt_is_exact(&y->other) ||
		    y->other.late_padding)
			return false;
		s->budget -= y->other.work < s->budget ? y->other.work : s->budget;
		uint64_t length = y->other.words * FXT_WORD;
		if (length > until - at)
			return false;
		/* An odd record does not count, but it does not end the chain. */
		if (y->other.odd && (!k || odd++ == CHAIN_ODD))
			return false;
		k += !y->other.odd;
		anchors += !y->other.odd && !fxt_may_be_argument(&y->other);
		at += length;
		if (at == until)
			break;
	}
	return anchors >= CHAIN;
}

uint64_t fxt_inner_records(struct fxt_resync *y, uint64_t from, uint64_t until)
{
	/* One budget for all records: it grows with the bytes that are passed, not with the calls. */
	struct search s = { .budget = y->inner_budget };
	if (until > y->inner_until) {
		s.budget += (until - (from > y->inner_until ? from : y->inner_until)) * FXT_BUDGET_FACTOR;
		y->inner_until = until;
	}
	uint64_t at = from + FXT_WORD;
	while (at < until && until - at >= 2 * CHAIN * FXT_WORD && y->window.status == TM_OK && !chain_within(y, at, until, &s))
		at += FXT_WORD;
	y->inner_budget = s.budget;
	return at < until && until - at >= 2 * CHAIN * FXT_WORD ? at : until;
}

/* Where the exact records that follow each other from `at` end. across: they go on across `end`, by two strict ones or to the
 * end of the file. */
static uint64_t chain_end(struct fxt_resync *y, uint64_t at, uint64_t end, bool *across)
{
	unsigned beyond = 0, anchors = 0, odd = 0;
	*across = false;
	while (at != end && at < y->size) {
		if (!decode_at(y, at, FXT_DECODE_STRICT) || !fxt_is_exact(&y->other) || y->other.late_padding)
			return at;
		anchors += !y->other.odd && !fxt_may_be_argument(&y->other);
		beyond += !y->other.odd && at > end;
		/* Odd records are passed as well, but only a few. */
		odd += y->other.odd && at > end;
		if (odd > CHAIN_ODD)
			return at;
		if (!may_read_far(y, y->other.words * FXT_WORD, at))
			return at;
		at += y->other.words * FXT_WORD;
		*across = at > end && anchors >= CHAIN && (beyond >= CHAIN || at == y->size);
		if (*across)
			return at;
	}
	return at;
}

/* Whether the next record is strict, or two sound ones follow. */
static bool behind_is_sound(struct fxt_resync *y, uint64_t at)
{
	return (decode_near(y, at, FXT_DECODE_STRICT) && fxt_is_strict(&y->other)) || fxt_next_is_sound(y, at);
}

/* Whether the record is faulty, or may be longer than its content. */
static bool is_loose(const struct fxt_record *r)
{
	return !r->known || (r->content < r->words && !r->extended) || r->issues.worst == TM_ERROR;
}

/* Whether the record has content of which no byte can be checked, or that is not what it should be. */
static bool is_opaque(const struct fxt_record *r)
{
	bool opaque = is_loose(r) || r->payload_length;
	for (unsigned n = 0; n < r->argument_count && !opaque; n++)
		opaque = r->arguments[n].type >= FXT_ARG_BLOB;
	return opaque;
}

/* Whether the word has the type and the size of a record and nothing else: a small number, or a letter, looks so as well. */
static bool is_bare(struct fxt_resync *y, uint64_t at)
{
	const uint8_t *p = window_at(&y->window, at, FXT_WORD);
	const uint64_t header = p ? load_u64(p, y->decoder->big_endian) : 0;
	return !(header >> 16) && (header & 15) != FXT_INITIALIZATION;
}

uint64_t fxt_hidden_records(struct fxt_resync *y, const struct fxt_record *r, uint64_t from)
{
	uint64_t length = r->words * FXT_WORD, end = from + length;
	struct search s = { .budget = BUDGET_START };
	bool across;

	/* Frames of a backtrace are no records: those in it were behind bytes that are missing. */
	const bool frames = r->type == FXT_PROFILER && r->subtype == FXT_PROFILER_BACKTRACE;
	if (!is_opaque(r) && !frames)
		return end;
	if (is_loose(r) || frames) {
		uint64_t first = fxt_inner_records(y, from, end);
		if (first < end)
			return first;
	}
	/* The bytes behind a faulty record may be sound by chance. */
	if (!may_read_far(y, length, from) || (r->issues.worst != TM_ERROR && behind_is_sound(y, end)))
		return end;
	/* Bytes that were inserted in front of a record pass for the header of one. */
	for (uint64_t at = from + 1; at < end && y->window.status == TM_OK; at++) {
		s.budget += FXT_BUDGET_FACTOR;
		if (!chain_at(y, at, CHAIN_INNER, 0, &s) || is_bare(y, at))
			continue;
		uint64_t until = chain_end(y, at, end, &across);
		if (across)
			return at;
		at = until;
	}
	return end;
}

/* Searches [from, until) on the 8-byte grid. until when there is no chain. */
static uint64_t search_grid(struct fxt_resync *y, struct search *s, uint64_t from, uint64_t until, unsigned chain)
{
	for (uint64_t at = from; at < until && y->window.status == TM_OK; at += FXT_WORD) {
		s->budget += FXT_WORD * FXT_BUDGET_FACTOR;
		if (chain_at(y, at, chain, CHAIN_MORE, s))
			return at;
	}
	return until;
}

/* Searches [from, until) at every byte that is not on the grid of `grid`. */
static uint64_t search_shifted(struct fxt_resync *y, struct search *s, uint64_t from, uint64_t until, uint64_t grid)
{
	for (uint64_t at = from; at < until && y->window.status == TM_OK; at++) {
		s->budget += FXT_BUDGET_FACTOR;
		if (at % FXT_WORD == grid)
			continue;
		if (chain_at(y, at, CHAIN_SHIFTED, 0, s))
			return at;
	}
	return until;
}

/* True when [from, until) is all zeros; at most a block long. */
static bool zero_range(struct fxt_resync *y, uint64_t from, uint64_t until)
{
	const uint8_t *p = window_at(&y->window, from, (size_t)(until - from));
	return p && bytes_are_zero(p, (size_t)(until - from));
}

/* Where the record at `bad` would end by its size, if that is right: at is `bad` where it is not. */
static struct fxt_resume resume_by_size(struct fxt_resync *y, uint64_t bad, const struct fxt_record *r)
{
	struct fxt_resume resume = { .at = bad };
	uint64_t length = r->words && r->words <= (y->size - bad) / FXT_WORD ? r->words * FXT_WORD : 0;

	if (length && r->header && may_read_far(y, length, bad) && chain_at(y, bad + length, CHAIN, 0, NULL)) {
		/* Where other records are in between, the size is right by chance: the bytes here are the middle of a record. */
		resume.at = fxt_inner_records(y, bad, bad + length);
		resume.exactly_one = resume.at == bad + length;
	}
	return resume;
}

/* Where it would end by its content, if its size is all that is wrong with it: at is `bad` where it is not. */
static struct fxt_resume resume_by_content(struct fxt_resync *y, uint64_t bad, const struct fxt_record *r)
{
	struct fxt_resume resume = { .at = bad };
	const struct fxt_record *o = &y->other;
	uint64_t left = y->size - bad, have = left < NEAR ? left : NEAR;
	const uint8_t *p = r->header ? window_at(&y->window, bad, (size_t)have) : NULL;

	if (!p || !fxt_decode(y->decoder, &y->other, p, have, left, FXT_DECODE_IGNORE_SIZE | FXT_DECODE_STRICT) || !o->known ||
	    o->issues.worst != TM_NOTE || o->content > have / FXT_WORD)
		return resume;
	uint64_t length = o->content * FXT_WORD;
	if (chain_at(y, bad + length, CHAIN, 0, NULL)) {
		resume.at = fxt_inner_records(y, bad, bad + length);
		resume.exactly_one = resume.at == bad + length;
	}
	return resume;
}

/* Searches for records block by block: on the 8-byte grid of `bad`, and then off it, unless the grid led to some near by. */
static struct fxt_resume resume_by_search(struct fxt_resync *y, uint64_t bad)
{
	struct search s = { .budget = BUDGET_START };
	uint64_t grid = bad % FXT_WORD, shifted_from = bad + 1;

	for (uint64_t from = bad + FXT_WORD; from < y->size && y->window.status == TM_OK;) {
		uint64_t until = y->size - from > BLOCK ? from + BLOCK : y->size;
		if (!zero_range(y, from, until)) {
			uint64_t at = search_grid(y, &s, from, until, CHAIN);
			if (at - bad > GRID_TRUST || at == until) {
				uint64_t shifted = search_shifted(y, &s, shifted_from, at, grid);
				if (shifted < at)
					return (struct fxt_resume){ .at = shifted, .shifted = true };
			}
			if (at < until)
				return (struct fxt_resume){ .at = at };
		}
		from = shifted_from = until;
	}
	return (struct fxt_resume){ .at = y->size };
}

/* The same, once for all that is broken up to where it leads: single records may be in between. */
static struct fxt_resume resume_by_last_search(struct fxt_resync *y, uint64_t bad)
{
	struct fxt_search *f = &y->found;

	if (bad <= f->from || bad >= f->resume.at || (bad - f->from) % FXT_WORD) {
		f->from = bad;
		f->resume = resume_by_search(y, bad);
	}
	return f->resume;
}

struct fxt_resume fxt_resync(struct fxt_resync *y, uint64_t bad, const struct fxt_record *r)
{
	struct fxt_resume resume = resume_by_size(y, bad, r);

	if (resume.at == bad)
		resume = resume_by_content(y, bad, r);
	return resume.at == bad ? resume_by_last_search(y, bad) : resume;
}

void fxt_resync_open(struct fxt_resync *y, struct source *source, const struct window *walk, const struct fxt_decoder *decoder)
{
	window_open(&y->window, source);
	y->walk = walk;
	y->decoder = decoder;
	y->size = source->size;
	y->inner_budget = y->lost_budget = y->single_budget = BUDGET_START;
}

void fxt_resync_close(struct fxt_resync *y)
{
	window_close(&y->window);
}

bool fxt_next_is_sound(struct fxt_resync *y, uint64_t at)
{
	return at == y->size || chain_at(y, at, CHAIN, 0, NULL);
}

bool fxt_begins_sound(struct fxt_resync *y)
{
	uint64_t at = 0;
	unsigned strict = 0;
	for (unsigned n = 0; n < BEGINNING_RECORDS && strict < CHAIN && at < y->size; n++) {
		if (!decode_at(y, at, FXT_DECODE_STRICT) || y->other.issues.worst == TM_ERROR)
			return false;
		strict += fxt_is_strict(&y->other);
		at += y->other.words * FXT_WORD;
	}
	return strict == CHAIN || (strict && at == y->size);
}

bool fxt_next_fits(struct fxt_resync *y, uint64_t at, uint64_t distance, bool faults)
{
	unsigned fits = 0;
	for (unsigned depth = 0; depth < FIT_DEPTH; depth++) {
		if (y->size - at < FXT_WORD || !may_read_far(y, distance, at))
			return true;
		const uint8_t *p = window_at(&y->window, at, FXT_WORD);
		if (!p)
			return false;
		uint64_t header = load_u64(p, y->decoder->big_endian), words = fxt_size(header);
		/* A hole, or a record that is cut by the end of the file, is no evidence against the record before it. */
		if (!header || (words > (y->size - at) / FXT_WORD && words <= FXT_RECORD_WORDS_MAX))
			return true;
		if (!decode_at(y, at, 0) || (!faults && y->other.issues.worst == TM_ERROR))
			return false;
		/* A single one may be an argument that has the form of a record. One of an unassigned type, or one that is too
		 * long, does not count. */
		if (y->other.known && (y->other.content == y->other.words || y->other.extended) && ++fits == CHAIN)
			return true;
		distance = y->other.words * FXT_WORD;
		at += distance;
	}
	return true;
}

static bool may_have_arguments(const struct fxt_record *r)
{
	return r->type == FXT_EVENT || r->type == FXT_USERSPACE || r->type == FXT_KERNEL || r->type == FXT_LARGE ||
	       (r->type == FXT_SCHEDULING && r->subtype != FXT_SWITCH_LEGACY);
}

bool fxt_swallows(struct fxt_resync *y, uint64_t at, const struct fxt_record *r, uint64_t *first)
{
	uint64_t end = at + r->words * FXT_WORD, next = at + r->content * FXT_WORD;
	bool anchored = !may_have_arguments(r);

	*first = next;
	while (next < end) {
		if (!decode_at(y, next, FXT_DECODE_STRICT) || !fxt_is_strict(&y->other) || y->other.late_padding ||
		    y->other.words > (end - next) / FXT_WORD)
			return false;
		anchored = anchored || !fxt_may_be_argument(&y->other);
		if (y->other.words > 1 && anchored)
			return true;
		next += y->other.words * FXT_WORD;
	}
	return anchored;
}

/* A blob whose size fits where it is stored has the type that it says. */
static bool has_shifted_size(const struct fxt_record *r)
{
	for (uint32_t i = 0; i < r->issues.count; i++)
		if (r->issues.list[i].rule == FXT_RULE_blob_size_shifted)
			return true;
	return false;
}

/* Whether the record at `next` registers a string or thread that r refers to and lacks: they changed places. */
static bool registered_next(struct fxt_resync *y, const struct fxt_provider *provider, uint64_t next, const struct fxt_record *r)
{
	const uint8_t *p = y->size - next >= FXT_WORD ? window_at(&y->window, next, FXT_WORD) : NULL;
	const uint64_t header = p ? load_u64(p, y->decoder->big_endian) : 0;
	const uint64_t string = (header & 15) == FXT_STRING ? fxt_bits(header, 16, 15) : 0,
		       thread = (header & 15) == FXT_THREAD ? fxt_bits(header, 16, 8) : 0;
	bool found = false;

	for (unsigned i = 0; string && i < r->string_count; i++)
		found |= r->strings[i].ref == string && !fxt_string_known(provider, r->strings[i].ref);
	for (unsigned i = 0; thread && i < r->thread_count; i++)
		found |= r->threads[i].ref == thread && !fxt_thread_known(provider, r->threads[i].ref);
	return found;
}

/* Whether the time of `o` lets it stand for r, which lacks a reference. Where that is all that r lacks, the time must speak for it:
 * of a few times, no more is known than how large they are. */
static bool is_likely_in_time(const struct fxt_provider *p, const struct fxt_record *r, const struct fxt_record *o)
{
	if (!o->has_timestamp || fxt_is_timed(p, o) || r->issues.worst > TM_NOTE)
		return fxt_time_fits(p, o);
	return p->timed && o->timestamp >= p->first / 2 && o->timestamp / 2 <= p->last;
}

bool fxt_type_damaged(struct fxt_resync *y, const struct fxt_provider *provider, uint64_t at, const struct fxt_record *r)
{
	struct fxt_decoder d = *y->decoder;
	struct fxt_record *o = &y->other;
	uint64_t left = y->size - at, have = r->words * FXT_WORD;
	bool all;

	if (have > FXT_RECORD_WORDS_MAX * FXT_WORD || r->type == FXT_LARGE || has_shifted_size(r))
		return false;
	/* A record whose only fault is an unknown reference is given up only for a type with more known references, and whose
	 * time is likely; one of no assigned kind for any. */
	unsigned evidence = r->issues.worst == TM_ERROR || !r->known ? 0 : fxt_refs_known(provider, r, &all) + 1;
	if (evidence && registered_next(y, provider, at + have, r))
		return false;
	for (unsigned bit = 0; bit < 4; bit++) {
		d.flip = UINT64_C(1) << bit;
		if (((r->header ^ d.flip) & 15) == FXT_LARGE)
			continue;
		if (fxt_decode(&d, o, r->data, have, left, 0) && fxt_is_strict(o) && o->words == r->words &&
		    fxt_refs_known(provider, o, &all) >= evidence && all && (!evidence || is_likely_in_time(provider, r, o)))
			return true;
	}
	return false;
}

bool fxt_decode_other(struct fxt_resync *y, uint64_t at)
{
	return decode_at(y, at, FXT_DECODE_STRICT);
}

uint64_t fxt_next_row(struct fxt_resync *y, uint64_t at, uint64_t until)
{
	struct search s = { .budget = BUDGET_START };
	return search_grid(y, &s, at, until, CHAIN_ROW);
}

/* What fxt_resync_provider() compares. */
struct look {
	const struct fxt_provider *current, *other;
	uint64_t since;
	uint32_t news[LOOK_RECORDS]; /* registered by the records: string indexes, and thread indexes above them */
	unsigned news_count;
	uint32_t missing[LOOK_MISSING]; /* what `current` lacks, in the same way; the first ones */
	unsigned missing_count;
	unsigned refs, lacking; /* of the record: to what was registered before, and to what `current` lacks of that */
};

#define NEWS_THREAD 0x10000u

static bool is_new(const struct look *k, uint32_t index)
{
	for (unsigned i = 0; i < k->news_count; i++)
		if (k->news[i] == index)
			return true;
	return false;
}

/* Notes what `current` lacks: however many records refer to it, it is one registration. */
static void note_missing(struct look *k, uint32_t index)
{
	for (unsigned i = 0; i < k->missing_count; i++)
		if (k->missing[i] == index)
			return;
	if (k->missing_count < LOOK_MISSING)
		k->missing[k->missing_count++] = index;
}

/* Takes a reference into account; false: nobody registered that index. */
static bool look_at(struct look *k, uint32_t index, uint8_t current, uint64_t offset, uint8_t other)
{
	if (is_new(k, index) || (current & FXT_REGISTERED && offset >= k->since))
		return true;
	k->refs++;
	if (!(current & FXT_REGISTERED)) {
		k->lacking++;
		note_missing(k, index);
	}
	return other & FXT_REGISTERED;
}

static bool look_at_record(struct look *k, const struct fxt_record *r)
{
	k->refs = k->lacking = 0;
	for (unsigned i = 0; i < r->string_count; i++) {
		uint16_t ref = r->strings[i].ref;
		const struct fxt_string_page *page = k->current->tables->pages[(ref & FXT_STRING_INDEX_MAX) / FXT_PAGE];
		if (ref && !(ref & FXT_STRING_INLINE) &&
		    !look_at(k, ref, page->state[ref % FXT_PAGE], page->offset[ref % FXT_PAGE],
			     fxt_string_state(k->other->tables, ref)))
			return false;
	}
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++) {
		uint8_t ref = r->threads[i].ref;
		const struct fxt_thread_entry *e = &k->current->tables->threads[ref];
		if (ref && !look_at(k, NEWS_THREAD + ref, e->state, e->offset, k->other->tables->threads[ref].state))
			return false;
	}
	return true;
}

bool fxt_resync_provider(struct fxt_resync *y, uint64_t at, uint64_t since, const struct fxt_provider *current,
			 const struct fxt_provider *other, bool sure, uint64_t room)
{
	struct look k = { .current = current, .other = other, .since = since };
	const uint64_t start = at;
	const struct fxt_record *r = &y->other;
	unsigned against = 0, pro = 0;

	/* Rationed by offset, so that the work is linear. */
	if (y->looks >= LOOKS_START + at / LOOK_EVERY)
		return false;
	y->looks++;
	for (unsigned n = 0; n < LOOK_RECORDS && at < y->size && at - start < LOOK_BYTES; n++) {
		if (!decode_at(y, at, FXT_DECODE_STRICT) || !fxt_is_exact(r) || r->words * FXT_WORD > LOOK_BYTES)
			break;
		if (r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_PROVIDER_SECTION))
			break;
		if (fxt_registers(r->type))
			k.news[k.news_count++] = r->id + (r->type == FXT_THREAD ? NEWS_THREAD : 0);
		else if (!look_at_record(&k, r))
			return false;
		else if (k.lacking)
			against++;
		else if (k.refs)
			pro++;
		at += r->words * FXT_WORD;
	}
	/* What damage has room for may have been registered in it. */
	if (k.missing_count <= room && k.missing_count < LOOK_MISSING)
		return false;
	return sure ? against >= LOOK_AGAINST_SURE && !pro : against >= LOOK_AGAINST && against > pro;
}
