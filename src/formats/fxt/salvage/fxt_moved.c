/* Recorders number what they register: an index that is the next one of provider A, and not of B, in a section of B, is A's where A
 * turns out to lack it. The section record of A was cut out then. */
#include "formats/fxt/salvage/fxt_moved.h"

#include "formats/fxt/salvage/fxt_again.h"
#include "formats/fxt/scan/fxt_hash.h"
#include "formats/fxt/scan/fxt_missing.h"

struct moved {
	struct fxt_resync *y;
	struct fxt_registry *reg;
	struct plan *plan;
	struct source *source;
	const struct fxt_missing *missing[FXT_MOVED_MISSING_MAX];
	unsigned missing_count;
	const struct fxt_block *blocks;
	unsigned block_count;
	struct {
		uint32_t highest[2]; /* index of a string, of a thread */
		uint32_t sessions;   /* how often it was introduced */
	} providers[FXT_MOVED_PROVIDERS_MAX];
	unsigned current; /* place in reg->list */
	struct fxt_again again;
	uint64_t section; /* where the current section begins, and how it is read again */
	struct fxt_again of_section;
	bool registered;    /* it registers something */
	bool out;	    /* and a registration in it is another provider's */
	struct map entries; /* registrations of such sections that are in force */
	struct map known;   /* what is registered elsewhere, by hashes; none where it is too much */
	bool full, unknown;
};

static void doubt(const struct moved *m, uint64_t from, uint64_t until, const char *why)
{
	if (from >= until)
		return;
	plan_doubt(m->plan, m->source, from, until - from, why);
	plan_lost_other(m->plan);
}

static uint64_t entry_key(const struct moved *m, bool thread, uint32_t index)
{
	return (uint64_t)m->providers[m->current].sessions << 32 | (uint64_t)m->current << 17 | (uint64_t)thread << 16 | index;
}

/* The place of a provider in the list, or FXT_MOVED_PROVIDERS_MAX. */
static unsigned place_of(const struct moved *m, uint32_t id)
{
	unsigned n = 0;

	while (n < m->reg->count && n < FXT_MOVED_PROVIDERS_MAX && (m->reg->list[n]->anonymous || m->reg->list[n]->id != id))
		n++;
	return n < m->reg->count ? n : FXT_MOVED_PROVIDERS_MAX;
}

static bool registers(const struct fxt_record *r)
{
	return fxt_registers(r->type) && r->known && r->id;
}

/* Whether the registration at `at` is out of sequence, and the next one of a provider that lacks it later. */
static bool is_anothers(const struct moved *m, const struct fxt_record *r, uint64_t at)
{
	const bool thread = r->type == FXT_THREAD;

	if (r->id == m->providers[m->current].highest[thread] + 1)
		return false;
	for (unsigned i = 0; i < m->missing_count; i++) {
		const struct fxt_missing *x = m->missing[i];
		if (x->thread != thread || x->index != r->id || x->offset < at)
			continue;
		const unsigned n = place_of(m, x->provider->id);
		if (n < FXT_MOVED_PROVIDERS_MAX && n != m->current && m->providers[n].highest[thread] + 1 == r->id)
			return true;
	}
	return false;
}

static uint32_t content_of(const struct fxt_record *r)
{
	const struct fxt_thread_ref *t = &r->threads[0];
	const uint64_t hash = r->type == FXT_THREAD ? fxt_hash_mix(fxt_hash_mix(FXT_HASH_SEED, t->process), t->thread)
						    : fxt_hash(r->data + r->text_at, (size_t)r->text_length);
	return (uint32_t)(hash >> 33);
}

/* Notes the value of a registration. False: there is no room. */
static bool note(struct moved *m, struct map *map, const struct fxt_record *r, uint32_t value)
{
	const uint64_t key = entry_key(m, r->type == FXT_THREAD, r->id);

	return fxt_report_room(m->reg->report, map_set(map, key, value, FXT_MOVED_ENTRIES_MAX));
}

static void learn(struct moved *m, const struct fxt_record *r)
{
	m->unknown = m->unknown || !note(m, &m->known, r, content_of(r));
}

/* A registration that says what another one said before does no harm. */
static void take_entry(struct moved *m, const struct fxt_record *r)
{
	if (!m->unknown && map_get(&m->known, entry_key(m, r->type == FXT_THREAD, r->id)) == content_of(r))
		return;
	m->full = m->full || !note(m, &m->entries, r, 1);
}

/* Takes what the section from m->section to `until` registered. */
static void each_registration(struct moved *m, uint64_t until, void (*take)(struct moved *m, const struct fxt_record *r))
{
	const struct fxt_record *r = &m->y->other;

	for (uint64_t at = m->section; !m->full && fxt_again_next(&m->of_section, &at, until); at += r->words * FXT_WORD)
		if (registers(r))
			take(m, r);
}

static void end_section(struct moved *m, uint64_t until)
{
	if (m->out) {
		doubt(m, m->section, until,
		      "may be another provider's: it registers what that one lacks, and the record that changes to it may be lost");
		each_registration(m, until, take_entry);
		if (m->full)
			doubt(m, m->section, m->source->size,
			      "what it refers to may be another provider's, or registered in a block from elsewhere");
	} else if (m->registered && !m->unknown) {
		each_registration(m, until, learn);
	}
	m->out = m->registered = false;
}

static bool is_in_block(const struct moved *m, uint64_t at)
{
	for (unsigned i = 0; i < m->block_count; i++)
		if (at >= m->blocks[i].from && at < m->blocks[i].until)
			return true;
	return false;
}

/* Where a block begins in [from, until); `until` where none does. */
static uint64_t block_within(const struct moved *m, uint64_t from, uint64_t until)
{
	for (unsigned i = 0; i < m->block_count; i++)
		if (m->blocks[i].from >= from && m->blocks[i].from < until)
			until = m->blocks[i].from;
	return until;
}

static bool refers(const struct moved *m, const struct fxt_record *r)
{
	for (unsigned n = 0; n < r->string_count; n++)
		if (map_get(&m->entries, entry_key(m, false, r->strings[n].ref)) != MAP_NONE)
			return true;
	for (unsigned n = 0; n < r->thread_count; n++)
		if (map_get(&m->entries, entry_key(m, true, r->threads[n].ref)) != MAP_NONE)
			return true;
	return false;
}

static void look_at(struct moved *m, const struct fxt_record *r, uint64_t at)
{
	const uint64_t end = at + r->words * FXT_WORD;

	if (r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_PROVIDER_SECTION)) {
		const bool introduces = r->subtype == FXT_PROVIDER_INFO;
		const unsigned next = place_of(m, r->id);
		end_section(m, at); /* which reads others */
		m->section = end;
		m->of_section = m->again;
		m->current = next;
		if (m->current < FXT_MOVED_PROVIDERS_MAX && introduces) {
			m->providers[m->current].highest[0] = m->providers[m->current].highest[1] = 0;
			m->providers[m->current].sessions++;
		}
	} else if (m->current < FXT_MOVED_PROVIDERS_MAX && registers(r)) {
		uint32_t *highest = &m->providers[m->current].highest[r->type == FXT_THREAD];
		m->out = m->out || is_anothers(m, r, at);
		*highest = r->id > *highest ? r->id : *highest;
		m->registered = true;
		if (!m->out)
			map_remove(&m->entries, entry_key(m, r->type == FXT_THREAD, r->id));
	} else if (m->current < FXT_MOVED_PROVIDERS_MAX && m->entries.count && refers(m, r)) {
		doubt(m, at, end, "what it refers to may be another provider's, or registered in a block from elsewhere");
	}
}

/* The records of a row in a block, from `at` on: it may begin in the middle of a record. Returns where to go on. */
static uint64_t look_in_block(struct moved *m, uint64_t at)
{
	const struct fxt_record *r = &m->y->other;
	const uint64_t row = fxt_next_row(m->y, at, m->source->size);

	for (at = row; is_in_block(m, at); at += r->words * FXT_WORD) {
		if (!fxt_decode_other(m->y, at) || !fxt_is_exact(r))
			return at + FXT_WORD;
		if (registers(r) && m->current < FXT_MOVED_PROVIDERS_MAX)
			take_entry(m, r);
	}
	/* A record that its end cuts goes on in what is not its own. */
	return at == row ? at : fxt_next_row(m->y, at, m->source->size);
}

void fxt_moved_doubt(struct fxt_resync *y, struct fxt_registry *reg, struct plan *plan, struct source *source,
		     const struct fxt_block *blocks, unsigned block_count)
{
	struct moved m = { .y = y, .reg = reg, .plan = plan, .source = source, .blocks = blocks, .block_count = block_count };

	m.again = m.of_section = (struct fxt_again){ .resync = y, .plan = plan };

	for (size_t i = 0; i < reg->missing_count && m.missing_count < FXT_MOVED_MISSING_MAX; i++)
		if (reg->missing[i].elsewhere)
			m.missing[m.missing_count++] = &reg->missing[i];
	if (reg->count <= 2)
		m.missing_count = 0;
	if (!m.missing_count && !block_count)
		return;
	for (uint64_t at = 0; !m.full && fxt_again_next(&m.again, &at, source->size);) {
		if (is_in_block(&m, at)) {
			at = look_in_block(&m, at);
			continue;
		}
		const uint64_t next = block_within(&m, at + FXT_WORD, at + y->other.words * FXT_WORD);
		look_at(&m, &y->other, at);
		at = next;
	}
	end_section(&m, source->size);
	map_free(&m.entries);
	map_free(&m.known);
}
