/* Recorders number what they register: an index that is the next one of provider A, and not of B, in a section of B, is A's where A
 * turns out to lack it. The section record of A was cut out then. */
#include "formats/fxt/salvage/fxt_moved.h"

struct moved {
	struct fxt_resync *y;
	struct fxt_registry *reg;
	struct plan *plan;
	struct source *source;
	const struct fxt_missing *missing[FXT_MOVED_MISSING_MAX];
	unsigned missing_count;
	struct {
		uint32_t highest[2]; /* index of a string, of a thread */
	} providers[FXT_MOVED_PROVIDERS_MAX];
	unsigned current;   /* place in reg->list */
	uint64_t section;   /* where the current section begins */
	bool out;	    /* a registration in it is another provider's */
	struct map entries; /* registrations of such sections that are in force */
	bool full;
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
	return (uint64_t)m->current << 17 | (uint64_t)thread << 16 | index;
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
	return (r->type == FXT_STRING || r->type == FXT_THREAD) && r->known && r->id;
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
		const unsigned n = place_of(m, x->provider);
		if (n < FXT_MOVED_PROVIDERS_MAX && n != m->current && m->providers[n].highest[thread] + 1 == r->id)
			return true;
	}
	return false;
}

/* What the section from m->section to `until` registered. */
static void take_entries(struct moved *m, uint64_t until)
{
	const struct fxt_record *r = &m->y->other;

	for (uint64_t at = m->section; at < until && !m->full; at += FXT_WORD) {
		if (!fxt_decode_other(m->y, at))
			continue;
		if (registers(r))
			m->full = map_set(&m->entries, entry_key(m, r->type == FXT_THREAD, r->id), 1, FXT_MOVED_ENTRIES_MAX) !=
				  TM_OK;
		at += (r->words - 1) * FXT_WORD;
	}
	if (m->full)
		doubt(m, m->section, m->source->size, "what it refers to may be another provider's");
}

static void end_section(struct moved *m, uint64_t until)
{
	if (m->out) {
		doubt(m, m->section, until,
		      "may be another provider's: it registers what that one lacks, and the record that changes to it may be lost");
		take_entries(m, until);
	}
	m->out = false;
	m->section = until;
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
		end_section(m, at);
		m->section = end;
		m->current = place_of(m, r->id);
		if (m->current < FXT_MOVED_PROVIDERS_MAX && r->subtype == FXT_PROVIDER_INFO)
			m->providers[m->current].highest[0] = m->providers[m->current].highest[1] = 0;
	} else if (m->current < FXT_MOVED_PROVIDERS_MAX && registers(r)) {
		uint32_t *highest = &m->providers[m->current].highest[r->type == FXT_THREAD];
		m->out = m->out || is_anothers(m, r, at);
		*highest = r->id > *highest ? r->id : *highest;
		if (!m->out)
			map_remove(&m->entries, entry_key(m, r->type == FXT_THREAD, r->id));
	} else if (m->current < FXT_MOVED_PROVIDERS_MAX && m->entries.count && refers(m, r)) {
		doubt(m, at, end, "what it refers to may be another provider's");
	}
}

void fxt_moved_doubt(struct fxt_resync *y, struct fxt_registry *reg, struct plan *plan, struct source *source)
{
	struct moved m = { .y = y, .reg = reg, .plan = plan, .source = source };

	for (size_t i = 0; i < reg->missing_count && m.missing_count < FXT_MOVED_MISSING_MAX; i++)
		if (reg->missing[i].elsewhere)
			m.missing[m.missing_count++] = &reg->missing[i];
	if (!m.missing_count || reg->count <= 2)
		return;
	uint64_t at = 0;
	while (at < source->size && !m.full) {
		if (fxt_decode_other(y, at)) {
			const uint64_t words = y->other.words;
			look_at(&m, &y->other, at);
			at += words * FXT_WORD;
		} else {
			at += FXT_WORD;
		}
	}
	end_section(&m, source->size);
	map_free(&m.entries);
}
