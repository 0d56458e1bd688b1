#include "formats/fxt/salvage/fxt_splice.h"

#include "formats/fxt/scan/fxt_journal.h"

/* Registrations that may be written again at first; later as many more as there are words passed. */
#define AGAIN_START 4096u
/* What was undone is in one block, and so many bytes behind it at most refer to it; or it was no block. */
#define RECORD_NEAR 64u
/* Blocks whose times are looked at. */
#define UNDONE_TRIES 64u
/* Registrations behind a block that can be carried over to the provider that they are meant for. */
#define CARRIED_MAX 64u

/* Writes the record at `from` again in front of the position, if it is that registration, and sound. */
static bool write_again(struct fxt_walk *w, uint64_t from, enum fxt_type type, uint32_t id)
{
	struct fxt_resync *y = &w->resync;
	const struct fxt_record *o = &y->other;

	if (!fxt_decode_other(y, from) || !fxt_is_exact(o) || o->type != type || (type != FXT_INITIALIZATION && o->id != id))
		return false;
	fxt_repair_copy(&w->repair, w->report.here.at, from, o->words * FXT_WORD, FXT_RULE_duplicate_provider_info,
			"registered again as it was: what changed it seems to be from elsewhere");
	return true;
}

static void write_rate(struct fxt_walk *w, struct fxt_provider *p)
{
	if (p->initialized && !write_again(w, p->rate_offset, FXT_INITIALIZATION, 0))
		p->distrust.clock = true;
}

/* An entry whose record cannot be written again is registered no more. */
static void write_string(struct fxt_walk *w, struct fxt_provider *p, uint32_t index)
{
	struct fxt_string_page *page = p->tables->pages[index / FXT_PAGE];
	uint32_t n = index % FXT_PAGE;

	if (page != w->registry.no_tables.pages[index / FXT_PAGE] &&
	    (!(page->state[n] & FXT_REGISTERED) || !write_again(w, page->offset[n], FXT_STRING, index)))
		page->state[n] = 0;
}

static void write_thread(struct fxt_walk *w, struct fxt_provider *p, uint32_t index)
{
	struct fxt_thread_entry *e = &p->tables->threads[index];

	if (p->tables != &w->registry.no_tables && (!(e->state & FXT_REGISTERED) || !write_again(w, e->offset, FXT_THREAD, index)))
		e->state = 0;
}

/* Whether the record that introduced the provider can be written again. It is in w->resync.other then. */
static bool may_introduce(struct fxt_walk *w, const struct fxt_provider *p)
{
	return !p->placeholder && fxt_decode_other(&w->resync, p->offset) && fxt_is_exact(&w->resync.other);
}

/* The provider, and all that it registered. */
static void write_provider(struct fxt_walk *w, struct fxt_provider *p)
{
	if (!may_introduce(w, p)) {
		p->distrust.info = true;
		return;
	}
	fxt_repair_copy(&w->repair, w->report.here.at, p->offset, w->resync.other.words * FXT_WORD,
			FXT_RULE_duplicate_provider_info,
			"introduced again: the record that introduced it anew seems to be from elsewhere");
	write_rate(w, p);
	for (uint32_t i = 1; i <= FXT_STRING_INDEX_MAX; i++) {
		const struct fxt_string_page *page = p->tables->pages[i / FXT_PAGE];
		if (page == &w->registry.no_page)
			i |= FXT_PAGE - 1;
		else if (page->state[i % FXT_PAGE])
			write_string(w, p, i);
	}
	for (uint32_t i = 1; i <= FXT_THREAD_INDEX_MAX && p->tables != &w->registry.no_tables; i++)
		if (p->tables->threads[i].state)
			write_thread(w, p, i);
}

static void write_change(struct fxt_walk *w, const struct fxt_change *c)
{
	switch (c->kind) {
	case FXT_CHANGE_RESET:
		write_provider(w, c->provider);
		break;
	case FXT_CHANGE_RATE:
		write_rate(w, c->provider);
		break;
	case FXT_CHANGE_STRING:
		write_string(w, c->provider, c->index);
		break;
	case FXT_CHANGE_THREAD:
		write_thread(w, c->provider, c->index);
		break;
	default:
		break;
	}
}

/* Whether the i-th of the changes is made up for when its provider is introduced again. */
static bool is_within_reset(const struct fxt_change *changes, unsigned n, unsigned i)
{
	for (unsigned k = 0; k < n; k++)
		if (changes[k].kind == FXT_CHANGE_RESET && changes[k].provider == changes[i].provider)
			return true;
	return false;
}

static void write_section(struct fxt_walk *w, const struct fxt_provider *p)
{
	uint64_t section = fxt_header(FXT_METADATA, 1) | fxt_field(16, 4, FXT_PROVIDER_SECTION) | fxt_field(20, 32, p->id);

	fxt_repair_insert(&w->repair, w->report.here.at, &section, 1, FXT_RULE_duplicate_provider_info,
			  "changes back to the provider: the record that changed to another one seems to be from elsewhere");
}

/* What the current provider registered behind the block, by records that are meant for the one before it. */
struct carried {
	struct {
		uint32_t index;
		bool thread;
		uint64_t hash, offset, process, koid;
	} list[CARRIED_MAX];
	unsigned count;
};

/* False: it is too much. */
static bool carry(const struct fxt_registry *reg, uint64_t since, struct carried *c)
{
	const struct fxt_tables *t = reg->provider->tables;

	for (uint32_t i = 1; i <= FXT_STRING_INDEX_MAX && t != &reg->no_tables; i++) {
		const struct fxt_string_page *page = t->pages[i / FXT_PAGE];
		uint32_t n = i % FXT_PAGE;
		if (page == &reg->no_page) {
			i |= FXT_PAGE - 1;
		} else if (page->state[n] & FXT_REGISTERED && page->offset[n] >= since) {
			if (c->count == CARRIED_MAX)
				return false;
			c->list[c->count].thread = false;
			c->list[c->count].index = i;
			c->list[c->count].hash = page->hash[n];
			c->list[c->count++].offset = page->offset[n];
		}
	}
	for (uint32_t i = 1; i <= FXT_THREAD_INDEX_MAX && t != &reg->no_tables; i++) {
		const struct fxt_thread_entry *e = &t->threads[i];
		if (!(e->state & FXT_REGISTERED) || e->offset < since)
			continue;
		if (c->count == CARRIED_MAX)
			return false;
		c->list[c->count].thread = true;
		c->list[c->count].index = i;
		c->list[c->count].process = e->process;
		c->list[c->count].koid = e->thread;
		c->list[c->count++].offset = e->offset;
	}
	return true;
}

static void write_carried(struct fxt_walk *w, const struct carried *c)
{
	for (unsigned i = 0; i < c->count && w->report.status == TM_OK; i++) {
		uint32_t index = c->list[i].index;
		uint64_t offset = c->list[i].offset;
		if (!write_again(w, offset, c->list[i].thread ? FXT_THREAD : FXT_STRING, index))
			continue;
		if (c->list[i].thread)
			fxt_thread_register(&w->registry, index, c->list[i].process, c->list[i].koid, offset);
		else
			fxt_string_register(&w->registry, index, c->list[i].hash, offset, w->resync.other.words * FXT_WORD);
	}
}

/* Undoes the last n changes. Registrations from `since` on stay. */
static bool undo(struct fxt_walk *w, unsigned n, uint64_t since)
{
	struct fxt_change undone[FXT_JOURNAL_MAX];
	struct fxt_provider *written = w->registry.provider;
	struct carried carried = { .count = 0 };

	if (!carry(&w->registry, since, &carried))
		return false;
	for (unsigned i = 0; i < n; i++)
		undone[i] = *fxt_journal_last(&w->registry, i + 1);
	fxt_journal_undo(&w->registry, n);
	for (unsigned i = n; i--;) {
		const struct fxt_change *c = &undone[i];
		if (c->kind == FXT_CHANGE_ENTER || (c->kind != FXT_CHANGE_RESET && is_within_reset(undone, n, i)))
			continue;
		if (c->kind != FXT_CHANGE_RESET && c->provider != written)
			write_section(w, c->provider);
		write_change(w, c);
		written = c->provider;
	}
	if (written != w->registry.provider)
		write_section(w, w->registry.provider);
	write_carried(w, &carried);
	return true;
}

/* The provider that was current before the n-th last change, as it was then. NULL: that change is none of providers, or that is not
 * known. */
static const struct fxt_provider *current_before(struct fxt_registry *reg, unsigned n)
{
	const struct fxt_provider *then = reg->provider;
	const struct fxt_change *c = fxt_journal_last(reg, n);

	if (c->kind != FXT_CHANGE_ENTER && c->kind != FXT_CHANGE_RESET)
		return NULL;
	for (unsigned k = 1; k <= n; k++) {
		c = fxt_journal_last(reg, k);
		if (c->kind == FXT_CHANGE_ENTER)
			then = c->provider;
	}
	/* It may have been introduced again since. */
	for (unsigned k = n; k; k--) {
		c = fxt_journal_last(reg, k);
		if (c->kind == FXT_CHANGE_RESET && c->provider == then)
			return c->before;
	}
	return then;
}

/* Whether the n-th last change sets another tick rate for the current provider, which no recorder does; and not one for a rate that
 * is none. */
static bool is_odd_rate(struct fxt_registry *reg, unsigned n)
{
	const struct fxt_change *c = fxt_journal_last(reg, n);
	return c->kind == FXT_CHANGE_RATE && c->rate.initialized && c->provider == reg->provider &&
	       fxt_rate_is_plausible(c->rate.ticks);
}

/* Whether the last n changes are nothing but sections, which change to providers as a rule. */
static bool is_section(struct fxt_registry *reg, unsigned n)
{
	for (unsigned k = 1; k <= n; k++)
		if (fxt_journal_last(reg, k)->kind == FXT_CHANGE_RESET)
			return false;
	return reg->provider->offset < fxt_journal_last(reg, n)->at;
}

/* Registrations behind the n-th last change that damage may have had at most: the last region has room for some, and of one more an
 * index or a size may be hit. Whose they are is not said by that they are missing. */
static uint64_t room_behind(struct fxt_walk *w, unsigned n)
{
	const struct fxt_doubt *d = &w->doubt;
	const uint64_t change = fxt_journal_last(&w->registry, n)->at, from = d->seam - d->seam_length;
	/* Between two regions no further apart than a block it is the block that is from elsewhere. */
	const bool block = d->before.until && change >= d->before.until && from - d->before.until <= FXT_JOURNAL_BYTES,
		   between = d->seam > change && !block;

	return 1 + (between ? d->seam_length / (2 * FXT_WORD) : 0);
}

/* How many of the last changes must be undone for the records from `at` on to refer to what is registered; 0: that is not so. */
static unsigned changes_against(struct fxt_walk *w, uint64_t at, uint64_t since, bool behind)
{
	struct fxt_registry *reg = &w->registry;
	unsigned count = fxt_journal_recent(reg);

	for (unsigned n = 1; n <= count; n++) {
		const struct fxt_provider *then = current_before(reg, n);
		if (behind && is_odd_rate(reg, n))
			return n;
		if (then && then->records &&
		    fxt_resync_provider(&w->resync, at, since, reg->provider, then, is_section(reg, n), room_behind(w, n)))
			return n;
	}
	return 0;
}

/* Whether a block that begins there cut a record: one of the last two regions of damage has its first byte. */
static bool begins_in_damage(const struct fxt_doubt *d, uint64_t from)
{
	return (d->seam && from >= d->seam - d->seam_length && from <= d->seam) ||
	       (d->before.until && from >= d->before.from && from <= d->before.until);
}

/* How many of the last changes are in a block that ends in the last region of damage or among the last records, and is from
 * elsewhere by its times: what follows it is not meant for what it registered. 0: there is none. */
static unsigned changes_in_block(struct fxt_walk *w, bool behind, struct fxt_block *b)
{
	struct fxt_doubt *d = &w->doubt;
	struct fxt_registry *reg = &w->registry;
	const unsigned count = fxt_journal_recent(reg);
	/* Its end may cut a long record, and the first ones behind it may refer to nothing. */
	const uint64_t at = w->report.here.at,
		       from = behind ? at - d->seam_length : fxt_position_recent(&w->report.here, FXT_RECENT);

	for (uint64_t size = FXT_SECTOR_BYTES; size <= FXT_BLOCK_BYTES; size *= 2) {
		unsigned n = 0;
		b->until = (behind ? at + RECORD_NEAR : at) / size * size;
		b->from = b->until - size;
		if (b->until < from || b->until < size)
			return 0;
		while (n < count && fxt_journal_last(reg, n + 1)->at >= b->from)
			n++;
		/* Of so many the first ones may be forgotten. */
		if (!n || n == FXT_JOURNAL_MAX)
			continue;
		if (d->undone_count == FXT_UNTIMELY_MAX || d->undone_tries++ >= UNDONE_TRIES)
			return 0;
		if (fxt_is_untimely(&w->resync, w->report.here.size, b, begins_in_damage(d, b->from) ? 1 : FXT_TIMES_LEAST))
			return n;
	}
	return 0;
}

/* Lists what is in front of the position and may be from elsewhere: a block that has the record at `change`. */
static void doubt_block(struct fxt_walk *w, uint64_t change)
{
	uint64_t until = w->report.here.at, from = change & ~(uint64_t)(FXT_BLOCK_BYTES - 1), end = w->doubt.region_end;

	if (end > from && end <= change)
		from = end;
	/* The beginning of another capture. */
	if (w->doubt.archive >= from && w->doubt.archive <= change)
		change = w->doubt.archive;
	fxt_doubt_block(&w->doubt, from, change, until);
}

/* Whether the last n changes can be undone by records: the providers that they introduced anew can be introduced as they were, and
 * the context before any provider has no number where there is a provider 0. Else the records behind would still refer to the new
 * ones. */
static bool may_undo(struct fxt_walk *w, unsigned n)
{
	struct fxt_registry *reg = &w->registry;
	const struct fxt_provider *unnamed = fxt_provider_find(reg, 0) ? reg->list[0] : NULL;

	for (unsigned i = 1; i <= n; i++) {
		const struct fxt_change *c = fxt_journal_last(reg, i);
		if ((unnamed && c->provider == unnamed) ||
		    (c->kind == FXT_CHANGE_RESET && (!c->before || !may_introduce(w, c->before))))
			return false;
	}
	return true;
}

/* Whether as many registrations may be written again as undoing the last n changes asks for. */
static bool may_write(struct fxt_walk *w, unsigned n)
{
	struct fxt_registry *reg = &w->registry;
	uint64_t again = reg->provider->strings + reg->provider->threads;

	for (unsigned i = 1; i <= n; i++) {
		const struct fxt_provider *before = fxt_journal_last(reg, i)->before;
		again += before ? before->strings + before->threads : 0;
	}
	if (w->repair.again + again > AGAIN_START + w->report.here.at / FXT_WORD)
		return false;
	w->repair.again += again;
	return true;
}

/* Whether there is a provider besides the current one that was introduced in front of `change`: what is lost may be the record that
 * changes to that one. */
static bool has_third(const struct fxt_registry *reg, uint64_t change)
{
	for (size_t i = 1; i < reg->count; i++) {
		const struct fxt_provider *p = reg->list[i];
		if (p != reg->provider && p->introduced && !p->placeholder && p->offset < change)
			return true;
	}
	return false;
}

/* Whether the record refers to something that is not registered now, and was in front of the n-th last change. */
static bool refers_before(struct fxt_registry *reg, const struct fxt_record *r, unsigned n)
{
	const struct fxt_provider *then = current_before(reg, n);
	bool found = !then; /* nothing is known of it */

	for (unsigned i = 0; i < r->string_count && !found; i++) {
		const uint16_t ref = r->strings[i].ref;
		found = ref && !(ref & FXT_STRING_INLINE) && !(fxt_string_state(reg->provider->tables, ref) & FXT_REGISTERED) &&
			fxt_string_state(then->tables, ref) & FXT_REGISTERED;
	}
	for (unsigned i = 0; i < r->thread_count && !found; i++) {
		const uint8_t ref = r->threads[i].ref;
		found = ref && !(reg->provider->tables->threads[ref].state & FXT_REGISTERED) &&
			then->tables->threads[ref].state & FXT_REGISTERED;
	}
	return found;
}

/* As changes_in_block(); of a record that refers to nothing that undoing them would bring back it says nothing. */
static unsigned changes_inside(struct fxt_walk *w, const struct fxt_record *r, bool behind, struct fxt_block *b)
{
	const unsigned n = changes_in_block(w, behind, b);
	return n && !behind && !refers_before(&w->registry, r, n) ? 0 : n;
}

bool fxt_splice_undo(struct fxt_walk *w, const struct fxt_record *r, bool unknown_refs)
{
	struct fxt_registry *reg = &w->registry;
	uint64_t at = w->report.here.at, since = at;
	bool behind = w->doubt.seam == at && at;

	/* Once for each region of damage: where it is not the last time, it was no block. */
	if ((!unknown_refs && !behind) || !fxt_journal_recent(reg) || (w->doubt.seam && w->doubt.seam == w->doubt.undone))
		return false;
	if (w->doubt.seam > fxt_journal_last(reg, 1)->at)
		since = w->doubt.seam;
	struct fxt_block block;
	const unsigned inside = changes_inside(w, r, behind, &block);
	unsigned n = inside ? inside : changes_against(w, at, since, behind);
	uint64_t change = n ? fxt_journal_last(reg, n)->at : 0;
	struct finding *cause = reg->provider->cause;
	bool introduced = !reg->provider->placeholder; /* else what it registered may be lost with the record that introduces it */
	if (!n)
		return false;
	if (!may_undo(w, n) || !may_write(w, n) || !undo(w, n, since)) {
		if (!w->doubt.context)
			doubt_block(w, change);
		w->doubt.context = true;
		return false;
	}
	if (unknown_refs && !behind && cause)
		finding_explains(cause, 1);
	else if (unknown_refs && !behind)
		fxt_report(&w->report, FXT_RULE_cross_provider_string_ref, at, r->words * FXT_WORD,
			   "records refer to what was registered before offset %llu, and not to what was registered since",
			   (unsigned long long)change);
	w->doubt.undone = w->doubt.seam;
	fxt_doubt_leave(&w->doubt, at);
	if (inside) {
		w->doubt.undone_blocks[w->doubt.undone_count++] = block;
		w->doubt.context = has_third(reg, change);
		/* Whose they are was said in front of it. */
		w->doubt.entered = block.from;
		fxt_doubt_block(&w->doubt, block.from, change, at);
		return true;
	}
	/* A change in front of the block is not the block's. */
	const bool before = w->doubt.island > change && reg->count > 2;
	/* What is missing behind a change next to the damage may have been registered in it. */
	const bool adjacent = behind && at - w->doubt.seam_length - change <= RECORD_NEAR;
	w->doubt.context = at - change > FXT_BLOCK_BYTES + RECORD_NEAR || has_third(reg, change) || (!introduced && !behind) ||
			   before || adjacent;
	doubt_block(w, change);
	if (w->doubt.other_rate >= change)
		w->doubt.other_rate = 0;
	return true;
}
