/* Doubtful records are kept, and listed in the manifest: they decode, but are next to damage, or refer to something that is not
 * registered. */
#include "formats/fxt/salvage/fxt_doubt.h"

#include "formats/fxt/salvage/fxt_lost.h"
#include "formats/fxt/salvage/fxt_moved.h"
#include "formats/fxt/salvage/fxt_strange.h"
#include "formats/fxt/salvage/fxt_unpaired.h"
#include "formats/fxt/scan/fxt_clock.h"

/* Ranges that are listed one by one. Beyond it a range takes in what is between it and the last one, so that the list does not grow
 * with the file. */
#define DOUBTS_LISTED 65536u
/* A block, and the records that are cut by its ends; and regions that one block makes. */
#define ISLAND_BYTES FXT_JOURNAL_BYTES
#define ISLAND_REGIONS 4u
/* An initialization record so near behind damage may be two words of another record. */
#define RATE_CLEAR 64u
/* Blocks that were written twice: sizes are powers of two. */
#define BLOCK_MOST FXT_BLOCK_BYTES
#define BLOCK_LEAST 64u
/* Bytes in front of damage in which another archive may begin. */
#define JOIN_BYTES 512u
/* Bytes between the seam of a block and the region that it makes. */
#define SEAM_SLACK 64u
/* An index that is registered again so near behind damage may be another provider's. */
#define GAP_NEAR 128u
/* A registration has two words or more. */
#define REGISTRATION_BYTES 16u
/* Providers that may have had a section in a region of damage; of many, most have not. */
#define FXT_PROVIDERS_SEVERAL 64u

void fxt_doubt_list(struct fxt_doubt *d, uint64_t at, uint64_t length, const char *why)
{
	d->active = true;
	plan_doubt(d->plan, d->source, at, length, why);
	plan_lost_other(d->plan);
}

/* The same for records in the order of the walk. */
static void doubt_in_order(struct fxt_doubt *d, uint64_t at, uint64_t length, const char *why)
{
	if (at != d->listed_until && d->listed++ >= DOUBTS_LISTED && at > d->listed_until) {
		length += at - d->listed_until;
		at = d->listed_until;
	}
	d->listed_until = at + length;
	fxt_doubt_list(d, at, length, why);
}

uint64_t fxt_doubt_header_at(struct fxt_doubt *d, uint64_t at)
{
	const uint8_t *p = window_at(&d->resync->window, at, FXT_WORD);
	return p ? load_u64(p, d->resync->decoder->big_endian) : 0;
}

uint64_t fxt_doubt_length_at(struct fxt_doubt *d, uint64_t at)
{
	return fxt_size(fxt_doubt_header_at(d, at)) * FXT_WORD;
}

bool fxt_doubt_is_undone(const struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	for (unsigned i = 0; i < d->undone_count; i++)
		if (from >= d->undone_blocks[i].from && until <= d->undone_blocks[i].until)
			return true;
	return false;
}

/* Whether there are two providers or more, which only a block from elsewhere does not have. */
static bool has_several(const struct fxt_doubt *d)
{
	const struct fxt_registry *reg = d->registry;
	size_t here = 0;

	if (!d->undone_count)
		return reg->count > 2;
	for (size_t i = 0; i < reg->count && here <= 2; i++)
		here += !fxt_doubt_is_undone(d, reg->list[i]->offset, reg->list[i]->offset) || reg->list[i]->anonymous;
	return here > 2;
}

static void distrust(struct fxt_doubt *d, uint64_t at);

/* Lists the record before the position, where it ends there; hit: and what it registers. */
static void doubt_last(struct fxt_doubt *d, bool hit, const char *why)
{
	uint64_t last = d->here->records ? fxt_position_recent(d->here, 1) : d->here->at;
	uint64_t header = last < d->here->at ? fxt_doubt_header_at(d, last) : FXT_MAGIC;

	/* Each bit of the magic number is known. */
	if (header == FXT_MAGIC || fxt_size(header) * FXT_WORD != d->here->at - last)
		return;
	if (hit && ((header & 15) == FXT_STRING || (header & 15) == FXT_THREAD))
		distrust(d, last);
	fxt_doubt_list(d, last, d->here->at - last, why);
}

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

/* ---- what depends on doubtful records ---- */

static void distrust_string(struct fxt_provider *p, uint32_t index)
{
	struct fxt_string_page *page = p->tables->pages[index / FXT_PAGE];
	if (index && page->state[index % FXT_PAGE] & FXT_REGISTERED)
		page->state[index % FXT_PAGE] |= FXT_DOUBTFUL;
}

static void distrust_thread(struct fxt_provider *p, uint32_t index)
{
	if (index && p->tables->threads[index].state & FXT_REGISTERED)
		p->tables->threads[index].state |= FXT_DOUBTFUL;
}

/* Whether a tick rate is one that recorders write: numbers of other fields, and such as were hit, are seldom whole thousands. */
static bool is_round_rate(uint64_t ticks)
{
	return fxt_rate_is_plausible(ticks) && !(ticks % 1000);
}

/* The record at `at`, which was accepted, is doubtful: so is what it registers. */
static void distrust(struct fxt_doubt *d, uint64_t at)
{
	struct fxt_provider *provider = d->registry->provider;
	uint64_t header = fxt_doubt_header_at(d, at);

	switch (header & 15) {
	case FXT_METADATA:
		/* Of the last provider or section record; and whoever it was not read for is unknown as well. */
		d->context = d->context || fxt_bits(header, 16, 4) == FXT_PROVIDER_SECTION;
		provider->distrust.info = provider->distrust.info || fxt_bits(header, 16, 4) == FXT_PROVIDER_INFO;
		break;
	case FXT_INITIALIZATION:
		provider->distrust.clock |= provider->rate_offset != at || !is_round_rate(provider->ticks);
		break;
	case FXT_STRING:
		distrust_string(provider, (uint32_t)fxt_bits(header, 16, 15));
		break;
	case FXT_THREAD:
		distrust_thread(provider, (uint32_t)fxt_bits(header, 16, 8));
		break;
	default:
		break;
	}
}

/* Whether an entry of a table may not be what the recorder registered last. */
enum entry { ENTRY_GOOD, ENTRY_OLD, ENTRY_DOUBTFUL }; /* old: another one may have been lost since */

static enum entry entry_of(const struct fxt_doubt *d, const struct fxt_provider *p, uint8_t state, uint64_t offset)
{
	if (!(state & FXT_REGISTERED) || state & FXT_DOUBTFUL || (offset >= p->distrust.from && offset < p->distrust.until))
		return ENTRY_DOUBTFUL; /* not registered: of a placeholder */
	return offset < p->distrust.gap && p->distrust.gap > d->settled ? ENTRY_OLD : ENTRY_GOOD;
}

/* The worst of the entries that the record refers to. */
static enum entry entries_of(const struct fxt_doubt *d, const struct fxt_provider *p, const struct fxt_record *r)
{
	enum entry worst = ENTRY_GOOD;

	for (unsigned i = 0; i < r->string_count; i++) {
		uint32_t ref = r->strings[i].ref;
		const struct fxt_string_page *page = ref < FXT_STRING_INLINE ? p->tables->pages[ref / FXT_PAGE] : NULL;
		enum entry e = ref && page ? entry_of(d, p, page->state[ref % FXT_PAGE], page->offset[ref % FXT_PAGE]) : ENTRY_GOOD;
		worst = e > worst ? e : worst;
	}
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++) {
		const struct fxt_thread_entry *t = &p->tables->threads[r->threads[i].ref];
		enum entry e = r->threads[i].ref ? entry_of(d, p, t->state, t->offset) : ENTRY_GOOD;
		worst = e > worst ? e : worst;
	}
	return worst;
}

static const char stale[] =
	"an index that it refers to may have been registered again in the damage: the recorder does so, or too little "
	"is left to tell";

/* Registrations without one that gives an index away, for each that is missing, by which a recorder is known not to do so: the
 * chance that it did in the damage is one in so many. */
#define KEEPS_INDEXES 64u

/* Whether the provider took indexes of strings one after the other, from 1 on: such a recorder has no need to give one away. */
static bool counts_up(const struct fxt_provider *p)
{
	uint32_t highest = 0, registered = 0;

	for (uint32_t i = 1; i < FXT_STRING_INLINE; i++)
		if (fxt_string_state(p->tables, (uint16_t)i) & FXT_REGISTERED) {
			highest = i;
			registered++;
		}
	return highest <= 2 * registered;
}

/* Whether the recorder may have given indexes away in the damage. */
static bool may_redefine(const struct fxt_doubt *d, const struct fxt_provider *p)
{
	return p->distrust.redefined || ((p->strings + p->threads) / KEEPS_INDEXES < d->registry->missing_count && !counts_up(p));
}

/* The record refers to what may have been registered again in a region of damage. Returns why it is doubtful at once, or NULL. */
static const char *wait_to_settle(struct fxt_doubt *d, const struct fxt_record *r)
{
	struct fxt_distrust *trust = &d->registry->provider->distrust;

	if (trust->group != d->stale.group) {
		trust->waiting = trust->last = 0;
		trust->unlisted = 0;
		trust->group = d->stale.group;
	}
	if (trust->unlisted || fxt_stale_wait(&d->stale, r, d->here->at, trust->gap))
		return NULL;
	if (trust->redefined)
		return stale;
	trust->unlisted = d->here->at;
	return NULL;
}

void fxt_doubt_forget(struct fxt_doubt *d, struct fxt_provider *p)
{
	struct fxt_distrust *trust = &p->distrust;
	uint64_t from = 0, until = 0;

	if (!d->plan || trust->group != d->stale.group)
		return;
	const bool redefines = trust->waiting && may_redefine(d, p);
	for (uint32_t i = trust->waiting; i; i = d->stale.waiting[i - 1].next) {
		const struct fxt_waiting *w = &d->stale.waiting[i - 1];
		const enum fxt_verdict verdict = fxt_stale_judge(&d->stale, p, w);
		if (verdict == FXT_STALE_CLEARED || (verdict == FXT_STALE_OPEN && !redefines))
			continue;
		if (w->at != until) {
			if (until)
				fxt_doubt_list(d, from, until - from, stale);
			from = w->at;
		}
		until = w->at + w->words * (uint64_t)FXT_WORD;
	}
	if (until)
		fxt_doubt_list(d, from, until - from, stale);
	if (trust->unlisted && trust->unlisted < d->here->at && (redefines || trust->redefined))
		fxt_doubt_list(d, trust->unlisted, d->here->at - trust->unlisted, stale);
	trust->waiting = trust->last = 0;
	trust->unlisted = 0;
}

/* In front of the next region, or at the end of the file: what the regions so far may have held is what is missing. */
static void settle(struct fxt_doubt *d)
{
	uint64_t missing = d->registry->missing_count - d->missing;

	if (!d->room || d->room == UINT64_MAX)
		return;
	if (missing > d->room)
		d->room = UINT64_MAX;
	if (missing != d->room)
		return;
	d->settled = d->region_end;
	d->room = 0;
	fxt_stale_settle(&d->stale);
}

/* A region of damage in front of the position that may have held registrations, at most so many. */
static void open_region(struct fxt_doubt *d, uint64_t registrations)
{
	if (!d->room)
		d->missing = d->registry->missing_count;
	d->room = registrations > UINT64_MAX - d->room ? UINT64_MAX : d->room + registrations;
}

void fxt_doubt_close(struct fxt_doubt *d)
{
	fxt_stale_close(&d->stale);
}

/* Why the record is doubtful though nothing about itself is; NULL: it is not. */
static const char *why_by_context(struct fxt_doubt *d, const struct fxt_record *r)
{
	const struct fxt_provider *p = d->registry->provider;
	bool enters = r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_PROVIDER_SECTION);

	if (enters && r->subtype == FXT_PROVIDER_SECTION && (p = fxt_provider_find(d->registry, r->id)) && p->distrust.info)
		return "the provider record that it refers to is doubtful";
	/* Of a provider that nothing introduces but 0, which may be the context before any provider, a record is made up. */
	if (enters && r->subtype == FXT_PROVIDER_SECTION && !p && !r->id && d->seam && !d->registry->introduced)
		return "the provider record that it refers to may be lost";
	/* An event of a provider names it; but it may be from elsewhere, as what surrounds it. */
	if (r->type == FXT_METADATA)
		return d->context && r->subtype == FXT_PROVIDER_EVENT ? "is among records whose provider may be lost" : NULL;
	if (d->context)
		return "the record that says whose it is may be lost";
	if (p->distrust.info)
		return "the provider record that it belongs to is doubtful";
	if (r->has_timestamp && p->distrust.clock)
		return "the tick rate of its provider may be lost, or is doubtful";
	enum entry e = entries_of(d, p, r);
	if (e == ENTRY_OLD)
		return wait_to_settle(d, r);
	return e == ENTRY_DOUBTFUL ? "it refers to a string or thread whose registration is doubtful, or may be lost" : NULL;
}

static void distrust_context(struct fxt_doubt *d, uint64_t from)
{
	struct fxt_provider *p = d->registry->provider;

	if (!p->anonymous && p->introduced && p->offset >= from)
		p->distrust.info = true;
	else if (d->entered >= from && d->entered)
		d->context = true;
}

/* What records from `from` to `until` registered is doubtful; and which providers they introduced, and what rates they set, of
 * whichever provider. */
static void distrust_range(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < d->registry->count && i <= FXT_PROVIDERS_SEVERAL; i++) {
		struct fxt_provider *p = d->registry->list[i];
		struct fxt_distrust *trust = &p->distrust;
		/* With a section in it, of any provider. */
		if (p == d->registry->provider || d->entered >= from) {
			trust->from = trust->until && trust->from < from ? trust->from : from;
			trust->until = until;
		}
		trust->info = trust->info || (!p->anonymous && p->introduced && p->offset >= from && p->offset < until);
		trust->clock = trust->clock || (p->rate_offset && p->rate_offset >= from && p->rate_offset < until);
	}
}

/* What is between two regions that are no further apart than a block of a disk may be from elsewhere: another capture, or another
 * place of this one. Where there are many regions, single bytes were hit. */
static void doubt_island(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	if (d->regions++ && d->regions <= ISLAND_REGIONS && from > d->region_end && from - d->region_end <= ISLAND_BYTES) {
		fxt_doubt_list(d, d->region_end, from - d->region_end,
			       "is between two regions of damage, and may be from elsewhere");
		d->island = d->region_end;
		distrust_range(d, d->region_end, from);
		distrust_context(d, d->region_end);
	}
	d->region_end = until;
}

/* Whether the bytes at `seam` repeat those before: lists them. */
static bool doubt_copy(struct fxt_doubt *d, uint64_t seam, uint64_t size)
{
	const uint8_t *p;

	if (seam < size || seam > d->here->size || d->here->size - seam < size)
		return false;
	p = window_at(&d->resync->window, seam - size, (size_t)(2 * size));
	/* Where a word is repeated all over it is a fill. */
	if (!p || memcmp(p, p + size, (size_t)size) || !memcmp(p, p + FXT_WORD, (size_t)size - FXT_WORD))
		return false;
	fxt_doubt_list(d, seam, size, "repeats the bytes before it: a block may have been written twice");
	return true;
}

/* Whether a block was written twice, and its second copy has bytes at `from`, or begins or ends in [from, until]: lists that copy.
 * Returns the size of one that begins in it, or 0. */
static uint64_t doubt_repeat(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	for (uint64_t size = BLOCK_MOST; size >= BLOCK_LEAST; size /= 2) {
		uint64_t seam = from / size * size, next = seam + size;
		if (doubt_copy(d, seam, size))
			return seam == from ? size : 0;
		if (next <= until && doubt_copy(d, next, size))
			return size;
		if (seam == from && seam && doubt_copy(d, seam - size, size))
			return 0;
	}
	return 0;
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

static void gap(struct fxt_provider *p, uint64_t until)
{
	p->distrust.gap = until;
	p->distrust.gap_seen = p->distrust.seen;
}

static void distrust_gap(struct fxt_doubt *d, uint64_t until, uint64_t bytes)
{
	gap(d->registry->provider, until);
	/* There may have been sections of others in it. */
	for (size_t i = 1; bytes >= FXT_WORD + REGISTRATION_BYTES && i < d->registry->count && i <= FXT_PROVIDERS_SEVERAL; i++)
		gap(d->registry->list[i], until);
}

/* A region of damage ends at `until`: what it may have held has its effect behind it. */
static void distrust_region(struct fxt_doubt *d, uint64_t until, struct fxt_loss loss)
{
	struct fxt_provider *p = d->registry->provider;

	d->active = true;
	fxt_stale_begin(&d->stale, d->here->at);
	/* Whatever they registered is not known. */
	for (unsigned i = 0; i < loss.known_count; i++) {
		if (loss.known[i].thread)
			distrust_thread(p, loss.known[i].index);
		else
			distrust_string(p, loss.known[i].index);
	}
	if (loss.registrations) {
		open_region(d, loss.registrations);
		distrust_gap(d, until, loss.bytes);
	}
	if (!loss.others)
		return;
	if (!p->initialized && !p->timed)
		p->distrust.clock = true;
	/* One record: the magic number. */
	if ((p->anonymous && p->records <= 1) || has_several(d))
		d->context = true;
	d->section_gap = d->section_gap ? d->section_gap : until;
}

void fxt_doubt_block(struct fxt_doubt *d, uint64_t from, uint64_t change, uint64_t until)
{
	struct fxt_distrust *trust = &d->registry->provider->distrust;

	if (!d->plan || from >= until)
		return;
	fxt_doubt_list(d, from, until - from, "may be a block from elsewhere");
	trust->from = trust->until && trust->from < from ? trust->from : from;
	trust->until = until;
	distrust_range(d, change, until);
}

void fxt_doubt_foreign(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	if (!d->plan || from >= until)
		return;
	fxt_doubt_block(d, from, from, until);
	if (!fxt_doubt_is_undone(d, from, until))
		distrust_context(d, from);
}

void fxt_doubt_leave(struct fxt_doubt *d, uint64_t at)
{
	struct fxt_provider *p = d->registry->provider;

	if (!d->plan)
		return;
	/* With a second provider it turns out that a record may have been lost that changes to it. */
	if (d->section_gap && has_several(d) && d->section_gap < at) {
		fxt_doubt_list(d, d->section_gap, at - d->section_gap, "the record that says whose it is may be lost");
		p->distrust.from = p->distrust.until ? p->distrust.from : d->section_gap;
		p->distrust.until = at;
	}
	if (p->anonymous && !d->entered)
		d->anonymous = at;
	if (p->anonymous && !d->entered && d->headless && at)
		fxt_doubt_list(d, 0, at,
			       "precedes any provider, in a file whose beginning is lost: the record that says whose it is may be "
			       "elsewhere");
	d->context = false;
	d->section_gap = 0;
	d->entered = at;
}

/* Whether something that the record refers to is registered by another provider only. */
static bool refers_elsewhere(const struct fxt_registry *reg, const struct fxt_record *r)
{
	for (unsigned i = 0; i < r->string_count; i++)
		if (!fxt_string_known(reg->provider, r->strings[i].ref) && reg->anywhere_strings[r->strings[i].ref])
			return true;
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++)
		if (!fxt_thread_known(reg->provider, r->threads[i].ref) && reg->anywhere_threads[r->threads[i].ref])
			return true;
	return false;
}

/* Where a block of a disk begins that has the byte at `at` and may end in [from, until]; FXT_NO_BLOCK: there is none. */
static uint64_t block_to_seam(uint64_t at, uint64_t from, uint64_t until)
{
	for (uint64_t size = FXT_SECTOR_BYTES; size <= BLOCK_MOST; size *= 2) {
		const uint64_t end = (at / size + 1) * size;
		if (end >= from && end <= until)
			return end - size;
	}
	return FXT_NO_BLOCK;
}

/* Registrations turn out to be missing behind the last region of damage. Where they are more than it has room for, it is the seam
 * of a block that took their place, or there is another one; the same where the record that begins the region has a size of which
 * it may have been cut by the end of a block. Where the provider is introduced in that block, it may be another capture's. */
static void distrust_replaced(struct fxt_doubt *d)
{
	static const char why[] =
		"more registrations are missing behind damage than it had room for: a block may be from elsewhere";
	struct fxt_provider *p = d->registry->provider;
	const uint64_t missing = d->registry->missing_count - d->seam_missing, from = d->seam - d->seam_length;
	const bool full = missing * REGISTRATION_BYTES > d->seam_length + REGISTRATION_BYTES;
	uint64_t few = fxt_position_recent(d->here, FXT_RECENT), begin;

	if (!d->seam || (!full && d->seam_stated >= d->seam))
		return;
	/* The other seam may be near. */
	few = few < d->seam ? d->seam : few;
	if (full && d->here->records && few < d->here->at)
		fxt_doubt_list(d, few, d->here->at - few, why);
	if (p->distrust.info || p->anonymous || p->offset > d->seam)
		return;
	begin = full && from > SEAM_SLACK ? block_to_seam(p->offset, from - SEAM_SLACK, d->seam + SEAM_SLACK)
					  : block_to_seam(p->offset, from + 1, d->seam_stated - 1);
	if (begin == FXT_NO_BLOCK)
		return;
	p->distrust.info = true;
	fxt_doubt_list(d, begin, d->here->at - begin, why);
}

/* Records up to here may be another provider's, since some record before this one. */
static void distrust_section(struct fxt_doubt *d)
{
	struct fxt_provider *p = d->registry->provider;
	uint64_t at = d->here->at;

	if (d->context || d->entered >= at)
		return;
	fxt_doubt_list(
		d, d->entered, at - d->entered,
		"a record after it refers to what another provider registered: the record that changes to that one may be lost");
	p->distrust.from = p->distrust.until ? p->distrust.from : d->entered;
	p->distrust.until = at;
	d->context = true;
}

/* A registration is missing in front of the position: a tick rate near by that no recorder writes may have bytes of other records.
 */
static void distrust_rate(struct fxt_doubt *d)
{
	struct fxt_provider *p = d->registry->provider;

	if (p->rate_offset && d->here->records && p->rate_offset >= fxt_position_recent(d->here, FXT_RECENT) &&
	    !is_round_rate(p->ticks))
		p->distrust.clock = true;
}

/* Whether the record may be in a block from elsewhere that begins in the last region of damage: what it cut of a record is short,
 * and what is longer is the damage itself. */
static bool begins_block(const struct fxt_doubt *d)
{
	const uint64_t block = d->seam / FXT_SECTOR_BYTES * FXT_SECTOR_BYTES;
	return d->seam && d->seam_length < FXT_SECTOR_BYTES / 2 && block + d->seam_length >= d->seam &&
	       d->here->at - block < FXT_BLOCK_BYTES;
}

/* Whether the record, which is kept, may be what says whose the records are, or at what rate, with its type damaged. */
static bool may_be_another(const struct fxt_doubt *d, const struct fxt_record *r)
{
	return !r->known && (r->type == FXT_METADATA || (r->type > FXT_PROFILER && r->type < FXT_LARGE)) &&
	       d->strange < FXT_STRANGE_HABIT;
}

static void distrust_another(struct fxt_doubt *d, const struct fxt_record *r)
{
	const uint64_t bytes = r->words * FXT_WORD, until = d->here->at + bytes;
	const struct fxt_loss rest = fxt_lost(d->resync, d->registry, d->here->at, until);

	/* It may be an event as well. */
	if (rest.registrations || rest.others)
		distrust_region(d, until, (struct fxt_loss){ .registrations = r->words > 1, .bytes = bytes, .others = true });
}

static bool is_doubtful_rate(const struct fxt_doubt *d, const struct fxt_record *r)
{
	const uint64_t rate = d->registry->provider->distrust.rate;
	return fxt_is_hit(r) || (!is_round_rate(r->tail) && d->seam && d->here->at - d->seam < RATE_CLEAR) ||
	       (d->active && rate && rate != r->tail);
}

/* A record of no assigned kind may be a registration whose type was hit: its index still has what was registered before. */
static void distrust_hit_type(struct fxt_doubt *d, const struct fxt_record *r)
{
	const struct fxt_record *o = &d->resync->other;

	if (r->known || r->type == FXT_METADATA || !fxt_type_damaged(d->resync, d->registry->provider, d->here->at, r))
		return;
	if (o->type == FXT_STRING)
		distrust_string(d->registry->provider, o->id);
	else if (o->type == FXT_THREAD)
		distrust_thread(d->registry->provider, o->id);
}

/* A block of a disk that took the place of one inside of a payload shows by its records, where there is other damage. */
static void note_filled(struct fxt_doubt *d, const struct fxt_record *r)
{
	const uint64_t at = d->here->at, from = at + r->payload_at, until = from + r->payload_length;

	if (r->payload_length >= FXT_SECTOR_BYTES && d->filled_count < FXT_FILLED_MAX &&
	    fxt_inner_records(d->resync, from - FXT_WORD, until) < until)
		d->filled[d->filled_count++] = (struct fxt_block){ at, at + r->words * FXT_WORD };
}

void fxt_doubt_accepted(struct fxt_doubt *d, const struct fxt_record *r, bool doubtful)
{
	struct fxt_provider *p = d->registry->provider;

	if (!d->plan)
		return;
	fxt_stale_accepted(&d->stale, r, d->here->at, p->distrust.gap > d->settled ? p->distrust.gap : 0);
	bool redefines = (r->type == FXT_STRING || r->type == FXT_THREAD) && p->version != d->version;
	if (r->type == FXT_INITIALIZATION)
		p->distrust.clock = is_doubtful_rate(d, r);
	if (redefines && !doubtful && !p->distrust.redefined && begins_block(d)) {
		const uint64_t sector = d->here->at / FXT_SECTOR_BYTES * FXT_SECTOR_BYTES;
		doubtful = true;
		fxt_doubt_block(d, d->seam, d->here->at, sector + FXT_SECTOR_BYTES);
		fxt_doubt_list(d, d->here->at, r->words * FXT_WORD,
			       "registers an index again, which its recorder did not do before, and is near damage");
	}
	if (redefines && !p->distrust.redefined && d->section_gap && d->here->at - d->section_gap <= GAP_NEAR)
		d->context = true;
	if (doubtful)
		distrust(d, d->here->at);
	/* Whatever index it was meant for still has what was registered before. */
	if ((r->type == FXT_STRING || r->type == FXT_THREAD) && !r->id)
		distrust_region(d, d->here->at + r->words * FXT_WORD,
				(struct fxt_loss){ .registrations = 1, .bytes = REGISTRATION_BYTES });
	distrust_hit_type(d, r);
	note_filled(d, r);
	if (may_be_another(d, r))
		distrust_another(d, r);
	if (r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_TRACE_INFO) && d->here->at)
		doubt_repeat(d, d->here->at, d->here->at);
	/* Redefinitions turn out to be made: one may have been lost in each region of damage before. */
	p->distrust.redefined = p->distrust.redefined || (redefines && !doubtful && d->here->at != d->uncounted);
}

/* ---- next to damage ---- */

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
		distrust(d, before);
		fxt_doubt_list(d, before, last - before, why);
	}
	/* Damage that begins with it may reach into it, but not into a header. */
	if (loose || (fxt_doubt_header_at(d, last) & 15) == FXT_STRING || (fxt_doubt_header_at(d, last) & 15) == FXT_THREAD ||
	    takes_header_in(d, last))
		distrust(d, last);
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
		settle(d);
		doubt_joined(d, from, until);
		doubt_island(d, from, until);
		fxt_doubt_foreign(d, fxt_seam_add(&d->seams, from, until, true), from);
		doubt_foreign_block(d, from, until);
		uint64_t copy = doubt_repeat(d, d->here->records ? fxt_position_recent(d->here, 2) : 0, until);
		distrust_region(d, until,
				is_inserted(d, from, until, copy) ? (struct fxt_loss){ 0 }
								  : fxt_lost(d->resync, d->registry, from, until));
	}
}

/* String and thread records are distinctive. A record that may be an argument of one whose beginning is lost, or that has no
 * references to verify, is not. */
static bool is_verified(struct fxt_doubt *d, const struct fxt_record *r)
{
	bool all;
	/* No argument has its header, but two words of a payload may; no clock rate is as odd as such words. */
	if (r->type == FXT_INITIALIZATION)
		return is_round_rate(r->tail);
	if (fxt_may_be_argument(r))
		return false;
	if (r->type == FXT_METADATA)
		return r->words > 1 || (r->subtype == FXT_PROVIDER_SECTION && fxt_provider_find(d->registry, r->id));
	return (fxt_refs_known(d->registry->provider, r, &all) && all) || r->type == FXT_STRING || r->type == FXT_THREAD;
}

static const char strange[] =
	"has content that the format document does not describe, or a time that cannot be or is far from all others";

/* Why the record is doubtful by itself or its place; NULL: it is not. */
static const char *why_by_place(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic)
{
	uint64_t at = d->here->at;

	if (!at && wrote_magic && !r->known)
		return "is of an unassigned type, where the magic number is expected";
	if (fxt_is_hit(r))
		return "was corrected in place: what else of it was hit is not known";
	if (at && at == d->seam)
		d->unverified = at;
	/* The first verified record behind damage verifies those that follow it. */
	if (!at || (at != d->unverified && at != d->faulty) || is_verified(d, r))
		return NULL;
	d->unverified = at + r->words * FXT_WORD;
	if (at == d->faulty)
		return "follows a faulty record, and refers to nothing that is registered";
	return fxt_may_be_argument(r) ? "follows bytes that are not a record, and may be an argument of a record"
				      : "follows bytes that are not a record, and refers to nothing that is registered";
}

/* A timestamp is lower than that of the record before: one of the two is out of order, and if it is alone it may be damaged. */
static void note_step_back(struct fxt_doubt *d, const struct fxt_record *r)
{
	const struct fxt_provider *p = d->registry->provider;
	uint64_t last = fxt_position_recent(d->here, 1), before = fxt_position_recent(d->here, 2);

	d->steps_back++;
	fxt_leaps_add(&d->leaps, p->previous - r->timestamp, d->here->at);
	if (d->steps_back <= FXT_STEPS_BACK)
		doubt_repeat(d, last, d->here->at + r->words * FXT_WORD);
	if (d->step_count == FXT_STEPS_BACK || d->here->records < 3 || d->here->at - last > UINT16_MAX)
		return;
	struct fxt_step *step = &d->steps[d->step_count++];
	if (p->outlier_open && p->outlier_before <= r->timestamp) {
		*step = (struct fxt_step){ p->outlier_offset, fxt_doubt_length_at(d, p->outlier_offset), true };
		return;
	}
	/* Time of an event record: the second word. */
	const uint8_t *w = window_at(&d->resync->window, before, 2 * FXT_WORD);
	bool high = w && (fxt_doubt_header_at(d, before) & 15) == FXT_EVENT && p->timed > 2 &&
		    load_u64(w + FXT_WORD, d->resync->decoder->big_endian) <= r->timestamp;
	*step = (struct fxt_step){ high ? last : d->here->at, high ? d->here->at - last : r->words * FXT_WORD, false };
}

/* No recorder changes its rate: the record that introduces another provider may be lost, or this one is in a block from elsewhere.
 */
static void note_rate(struct fxt_doubt *d)
{
	struct fxt_distrust *trust = &d->registry->provider->distrust;

	d->context = d->context || d->section_gap;
	if (!trust->rate)
		trust->rate = d->registry->provider->ticks;
	if (!d->active && !d->other_rate)
		d->other_rate = d->here->at;
}

bool fxt_doubt_record(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic, bool unknown_refs)
{
	const char *why;
	const struct fxt_provider *p = d->registry->provider;

	if (!d->plan)
		return false;
	if (unknown_refs && has_several(d) && refers_elsewhere(d->registry, r))
		distrust_section(d);
	fxt_doubt_foreign(d, fxt_seam_pass(&d->seams, d->registry, d->here->at), d->here->at);
	if (fxt_is_hit(r))
		fxt_doubt_foreign(d, fxt_seam_hit(&d->seams, d->here, r), d->here->at);
	if (unknown_refs) {
		fxt_doubt_foreign(d, fxt_seam_missing(&d->seams, d->registry, d->here->at, d->seam), d->here->at);
		distrust_rate(d);
		distrust_replaced(d);
	}
	if (r->type == FXT_INITIALIZATION && p->initialized && r->tail != p->ticks && (p->timed || d->section_gap))
		note_rate(d);
	d->version = p->version;
	d->headless = wrote_magic;
	why = why_by_place(d, r, wrote_magic);
	if (!why && fxt_is_strange(r, d->registry->provider, d->active)) {
		why = strange;
		if (d->strange++ < FXT_STRANGE_HABIT)
			doubt_repeat(d, d->here->at, d->here->at + r->words * FXT_WORD);
		d->faulty = d->here->at + r->words * FXT_WORD;
	}
	if (!why && (r->type == FXT_STRING || r->type == FXT_THREAD) && !r->id) {
		why = "registers index 0, which readers ignore: the index may be damaged";
		d->strange++;
	}
	if (!why)
		why = why_by_context(d, r);
	if (r->has_timestamp && p->timed && r->timestamp < p->previous)
		note_step_back(d, r);
	/* Damage that begins with the record may begin in the one before. */
	if (fxt_is_hit(r) || unknown_refs || fxt_refs_rare(d->registry, r) ||
	    (fxt_is_strange_header(r) && d->strange <= (d->regions + 1) * FXT_STRANGE_HABIT))
		doubt_last(d, fxt_is_hit(r), "precedes a record that is damaged");
	if (why)
		doubt_in_order(d, d->here->at, r->words * FXT_WORD, why);
	return why;
}

void fxt_doubt_odd(struct fxt_doubt *d, const struct fxt_record *r)
{
	if (!d->plan)
		return;
	d->strange++;
	doubt_in_order(d, d->here->at, r->words * FXT_WORD, strange);
}

void fxt_doubt_pair(struct fxt_doubt *d, uint64_t one, uint64_t other, const char *why)
{
	if (!d->plan)
		return;
	fxt_doubt_list(d, one, fxt_doubt_length_at(d, one), why);
	fxt_doubt_list(d, other, fxt_doubt_length_at(d, other), why);
}

/* Moves blocks of which what they changed is undone to the end of the list; returns how many. */
static unsigned undone_of(const struct fxt_doubt *d, struct fxt_block *blocks, unsigned count)
{
	unsigned undone = 0;

	for (unsigned i = count; i--;)
		if (fxt_doubt_is_undone(d, blocks[i].from, blocks[i].until)) {
			const struct fxt_block b = blocks[i];
			blocks[i] = blocks[count - ++undone];
			blocks[count - undone] = b;
		}
	return undone;
}

/* Blocks from elsewhere by their times, and what was registered for others; returns how many blocks. */
static unsigned doubt_out_of_place(struct fxt_doubt *d, bool errors)
{
	struct fxt_block blocks[FXT_UNTIMELY_MAX];
	unsigned count = fxt_untimely_find(d->resync, d->here->size, &d->leaps, blocks);

	if (!errors)
		count = fxt_untimely_rare(&d->leaps, blocks, count);

	for (unsigned i = 0; i < count; i++)
		fxt_doubt_list(d, blocks[i].from, blocks[i].until - blocks[i].from,
			       "may be a block from elsewhere: its times are far from those on both sides");
	/* Behind those that are undone all is as it was in front of them. */
	const unsigned left = count - undone_of(d, blocks, count);
	fxt_moved_doubt(d->resync, d->registry, d->plan, d->source, blocks, left);
	return count;
}

void fxt_doubt_finish(struct fxt_doubt *d, const struct fxt_report *report)
{
	const bool errors = findings_errors(report->s->findings);

	settle(d);
	for (size_t i = 0; i < d->registry->count; i++)
		fxt_doubt_forget(d, d->registry->list[i]);
	if (d->plan && errors && d->other_rate)
		fxt_doubt_list(d, d->other_rate, d->here->at - d->other_rate,
			       "a provider gets another tick rate here, in front of damage: what sets it may be from elsewhere");
	const unsigned blocks = d->plan ? doubt_out_of_place(d, errors) : 0;
	const struct fxt_unpaired u = { d->resync, d->registry->nesting, d->plan, d->source };
	fxt_unpaired_doubt(&u, findings_errors(report->s->findings), report);
	for (unsigned i = 0; d->plan && errors && i < d->filled_count; i++)
		fxt_doubt_list(d, d->filled[i].from, d->filled[i].until - d->filled[i].from,
			       "has records in its payload: a block from elsewhere may be in it");
	/* Something may have been lost where no byte shows it: a begin without an end, an archive behind one that may be cut. */
	if (report->unpaired || findings_count(report->s->findings, FXT_RULE_duplicate_magic))
		plan_lost(d->plan, 0, TM_UNKNOWN_COUNT);
	/* The last times of a file that was cut: the same. */
	for (size_t i = 0; d->plan && (errors || report->unpaired) && i < d->registry->count; i++)
		if (d->registry->list[i]->outlier_open && d->registry->list[i]->outlier_offset == fxt_position_recent(d->here, 1))
			fxt_doubt_list(d, d->registry->list[i]->outlier_offset,
				       fxt_doubt_length_at(d, d->registry->list[i]->outlier_offset), strange);
	/* Single timestamps out of order: where there is damage, or durations have no end, they may be damaged as well. */
	const bool rare = d->steps_back <= FXT_STEPS_BACK &&
			  (d->steps_back <= FXT_STEPS_FEW || d->steps_back * FXT_STEPS_RARE <= d->here->records);
	for (unsigned i = 0; (errors || report->unpaired) && i < d->step_count; i++)
		if (rare || d->steps[i].far)
			fxt_doubt_list(d, d->steps[i].at, d->steps[i].length, "its timestamp is out of order, which is rare here");
	/* What is strange again and again is how the recorder writes, unless there is damage. */
	if (!errors && (blocks || d->strange < FXT_STRANGE_HABIT))
		plan_keep_doubts(d->plan);
}
