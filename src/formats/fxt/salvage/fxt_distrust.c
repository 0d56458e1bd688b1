/* Tables, providers and clocks of which damage, or a record that is doubtful, leaves it open what they are: see fxt_distrust.h. */
#include "formats/fxt/salvage/fxt_distrust.h"

#include "formats/fxt/salvage/fxt_inner.h"
#include "formats/fxt/scan/fxt_clock.h"

/* An initialization record so near behind damage may be two words of another record. */
#define RATE_CLEAR 64u
/* Bytes between the seam of a block and the region that it makes. */
#define SEAM_SLACK 64u
/* An index that is registered again so near behind damage may be another provider's. */
#define GAP_NEAR 128u
/* A registration has two words or more. */
#define REGISTRATION_BYTES 16u
/* A record of no assigned kind that is longer than so many words is not looked through for one that was taken in. */
#define SECTION_WORDS 64u
/* Providers that may have had a section in a region of damage; of many, most have not. */
#define FXT_PROVIDERS_SEVERAL 64u

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
bool fxt_rate_is_round(uint64_t ticks)
{
	return fxt_rate_is_plausible(ticks) && !(ticks % 1000);
}

/* The record at `at`, which was accepted, is doubtful: so is what it registers. */
void fxt_distrust(struct fxt_doubt *d, uint64_t at)
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
		provider->distrust.clock |= provider->rate_offset != at || !fxt_rate_is_round(provider->ticks);
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
		const enum fxt_verdict verdict = fxt_stale_judge(&d->stale, p, w, d->room);
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
void fxt_distrust_settle(struct fxt_doubt *d)
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

/* Why the record is doubtful though nothing about itself is; NULL: it is not. */
const char *fxt_distrust_why(struct fxt_doubt *d, const struct fxt_record *r)
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

void fxt_distrust_context(struct fxt_doubt *d, uint64_t from)
{
	struct fxt_provider *p = d->registry->provider;

	if (!p->anonymous && p->introduced && p->offset >= from)
		p->distrust.info = true;
	else if (d->entered >= from && d->entered)
		d->context = true;
}

/* What records from `from` to `until` registered is doubtful; and which providers they introduced, and what rates they set, of
 * whichever provider. */
void fxt_distrust_range(struct fxt_doubt *d, uint64_t from, uint64_t until)
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
void fxt_distrust_region(struct fxt_doubt *d, uint64_t until, struct fxt_loss loss)
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
	if ((p->anonymous && p->records <= 1) || fxt_doubt_has_several(d))
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
	fxt_distrust_range(d, change, until);
}

void fxt_doubt_foreign(struct fxt_doubt *d, uint64_t from, uint64_t until)
{
	if (!d->plan || from >= until)
		return;
	fxt_doubt_block(d, from, from, until);
	if (!fxt_doubt_is_undone(d, from, until))
		fxt_distrust_context(d, from);
}

void fxt_doubt_leave(struct fxt_doubt *d, uint64_t at)
{
	struct fxt_provider *p = d->registry->provider;

	if (!d->plan)
		return;
	/* With a second provider it turns out that a record may have been lost that changes to it. */
	if (d->section_gap && fxt_doubt_has_several(d) && d->section_gap < at) {
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

/* Where a block of a disk begins that has the byte at `at` and may end in [from, until]; FXT_NO_BLOCK: there is none. */
static uint64_t block_to_seam(uint64_t at, uint64_t from, uint64_t until)
{
	for (uint64_t size = FXT_SECTOR_BYTES; size <= FXT_BLOCK_BYTES; size *= 2) {
		const uint64_t end = (at / size + 1) * size;
		if (end >= from && end <= until)
			return end - size;
	}
	return FXT_NO_BLOCK;
}

/* Registrations turn out to be missing behind the last region of damage. Where they are more than it has room for, it is the seam
 * of a block that took their place, or there is another one; the same where the record that begins the region has a size of which
 * it may have been cut by the end of a block. Where the provider is introduced in that block, it may be another capture's. */
void fxt_distrust_replaced(struct fxt_doubt *d)
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
void fxt_distrust_section(struct fxt_doubt *d)
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
void fxt_distrust_rate(struct fxt_doubt *d)
{
	struct fxt_provider *p = d->registry->provider;

	if (p->rate_offset && d->here->records && p->rate_offset >= fxt_position_recent(d->here, FXT_RECENT) &&
	    !fxt_rate_is_round(p->ticks))
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

/* Whether a record that is kept takes in one that says whose the records behind it are. */
static bool takes_section_in(const struct fxt_doubt *d, const struct fxt_record *r)
{
	const uint64_t at = d->here->at;
	uint64_t end = at + 2 * FXT_WORD;

	if (r->words > SECTION_WORDS)
		return false;
	while (end <= at + r->words * FXT_WORD && fxt_inner_section(d->resync, d->registry, at, end) == end)
		end += FXT_WORD;
	return end <= at + r->words * FXT_WORD;
}

static void distrust_another(struct fxt_doubt *d, const struct fxt_record *r)
{
	const uint64_t bytes = r->words * FXT_WORD, until = d->here->at + bytes;

	d->context = d->context || takes_section_in(d, r);
	const struct fxt_loss rest = fxt_lost(d->resync, d->registry, d->here->at, until);

	/* It may be an event as well. */
	if (rest.registrations || rest.others)
		fxt_distrust_region(d, until, (struct fxt_loss){ .registrations = r->words > 1, .bytes = bytes, .others = true });
}

static bool is_doubtful_rate(const struct fxt_doubt *d, const struct fxt_record *r)
{
	const uint64_t rate = d->registry->provider->distrust.rate;
	return fxt_is_hit(r) || (!fxt_rate_is_round(r->tail) && d->seam && d->here->at - d->seam < RATE_CLEAR) ||
	       (d->active && rate && rate != r->tail);
}

/* A provider gives an index where it may be another one, whose index still has what was registered before. */
static void distrust_namesakes(struct fxt_doubt *d, const struct fxt_record *r)
{
	for (size_t i = 0; i < d->registry->count && i <= FXT_PROVIDERS_SEVERAL; i++)
		if (d->registry->list[i] == d->registry->provider)
			continue;
		else if (r->type == FXT_STRING)
			distrust_string(d->registry->list[i], r->id);
		else
			distrust_thread(d->registry->list[i], r->id);
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
	bool redefines = fxt_registers(r->type) && p->version != d->version;
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
		fxt_distrust(d, d->here->at);
	/* Whatever index it was meant for still has what was registered before. */
	if (fxt_registers(r->type) && !r->id)
		fxt_distrust_region(d, d->here->at + r->words * FXT_WORD,
				    (struct fxt_loss){ .registrations = 1, .bytes = REGISTRATION_BYTES });
	if (fxt_registers(r->type) && (p->placeholder || d->context || (d->section_gap && fxt_doubt_has_several(d))))
		distrust_namesakes(d, r);
	distrust_hit_type(d, r);
	note_filled(d, r);
	if (may_be_another(d, r))
		distrust_another(d, r);
	if (r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_TRACE_INFO) && d->here->at)
		fxt_doubt_repeat(d, d->here->at, d->here->at);
	/* Redefinitions turn out to be made: one may have been lost in each region of damage before. */
	p->distrust.redefined = p->distrust.redefined || (redefines && !doubtful && d->here->at != d->uncounted);
}
