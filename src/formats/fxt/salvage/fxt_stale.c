/* Which indexes still have what they had before damage: see fxt_stale.h. */
#include "formats/fxt/salvage/fxt_stale.h"

#include <stdlib.h>

#include "core/array.h"
#include "formats/fxt/scan/fxt_hash.h"

/* An index that was referred to `uses` times in `records` records is not needed in the next `after` ones, by chance, once in
 * (1 + after / records)^uses. So rare must that be, as a power of two, for it to be evidence that it was not given away; where
 * there was room for few registrations, few indexes were, and less will do. */
#define EVIDENCE_BITS_MOST 8u
#define EVIDENCE_BITS_LEAST 6u
#define EVIDENCE_BITS_ONE 4u /* where there was room for one */
#define FRACTION 16u
/* Registrations of one text that are looked at. */
#define FRESH_STEPS 64u

void fxt_stale_close(struct fxt_stale *s)
{
	map_free(&s->keys);
	map_free(&s->texts);
	map_free(&s->fresh_keys);
	free(s->uses);
	free(s->suspects);
	free(s->waiting);
	free(s->refs);
	free(s->fresh);
}

void fxt_stale_mark(struct fxt_stale *s, uint64_t at)
{
	if (at - s->marks[1].at < FXT_USES_BYTES && s->marks[1].provider)
		return;
	s->marks[0] = s->marks[1].provider ? s->marks[1] : (struct fxt_mark){ at, s->registry->provider };
	s->marks[1] = (struct fxt_mark){ at, s->registry->provider };
}

static bool had_room(struct fxt_stale *s, enum tracemend_status status)
{
	const bool room = fxt_report_room(s->registry->report, status);

	s->full = s->full || !room;
	return room;
}

/* ---- uses ---- */

static uint64_t provider_key(const struct fxt_provider *p)
{
	return (uint64_t)p->id << 1 | p->anonymous;
}

/* The uses of what is registered at `offset` under that index. NULL: there is no room. */
static struct fxt_use *use_of(struct fxt_stale *s, const struct fxt_provider *p, bool thread, uint32_t index, uint64_t offset)
{
	const uint64_t key = provider_key(p) << 16 | (uint64_t)thread << 15 | index;
	uint32_t n = map_get(&s->keys, key);

	if (n == MAP_NONE) {
		n = (uint32_t)s->use_count;
		if (!had_room(s, array_room(&s->uses, &s->use_capacity, s->use_count, sizeof(*s->uses), FXT_USES_MAX)) ||
		    !had_room(s, map_set(&s->keys, key, n, FXT_USES_MAX)))
			return NULL;
		s->uses[s->use_count++] = (struct fxt_use){ .offset = UINT64_MAX };
	}
	struct fxt_use *u = &s->uses[n];
	if (u->offset != offset)
		*u = (struct fxt_use){ .offset = offset, .born = p->distrust.seen };
	return u;
}

/* What an index refers to, if it is registered. */
struct entry {
	bool thread;
	uint32_t index;
	uint64_t offset, hash;
};

static uint64_t thread_hash(uint64_t process, uint64_t thread)
{
	return fxt_hash_mix(fxt_hash_mix(FXT_HASH_SEED, process), thread);
}

static bool string_entry(const struct fxt_provider *p, uint32_t ref, struct entry *e)
{
	const struct fxt_string_page *page = ref && ref < FXT_STRING_INLINE ? p->tables->pages[ref / FXT_PAGE] : NULL;

	if (!page || !(page->state[ref % FXT_PAGE] & FXT_REGISTERED))
		return false;
	*e = (struct entry){ false, ref, page->offset[ref % FXT_PAGE], page->hash[ref % FXT_PAGE] };
	return true;
}

static bool thread_entry(const struct fxt_provider *p, uint32_t ref, struct entry *e)
{
	const struct fxt_thread_entry *t = &p->tables->threads[ref];

	if (!ref || !(t->state & FXT_REGISTERED))
		return false;
	*e = (struct entry){ true, ref, t->offset, thread_hash(t->process, t->thread) };
	return true;
}

/* The n-th reference of a record to what is registered. False: that one is not. */
static bool entry_at(const struct fxt_provider *p, const struct fxt_record *r, unsigned n, struct entry *e)
{
	return n < r->string_count ? string_entry(p, r->strings[n].ref, e)
				   : thread_entry(p, r->threads[n - r->string_count].ref, e);
}

/* How something was met: written inline, in front of the damage and behind it; registered in front of it; under several indexes. */
enum { INLINE_BEFORE = 1, INLINE_BEHIND = 2, REGISTERED_ONCE = 4, REGISTERED_OFTEN = 8 };

static uint64_t text_key(const struct fxt_provider *p, bool thread, uint64_t hash)
{
	uint64_t key = fxt_hash_mix(hash, provider_key(p) << 1 | thread);
	return key >> 1;
}

static void note_text(struct fxt_stale *s, const struct fxt_provider *p, bool thread, uint64_t hash, unsigned where)
{
	const uint64_t key = text_key(p, thread, hash);
	uint32_t known = map_get(&s->texts, key);

	known = known == MAP_NONE ? 0 : known;
	if (known & where & REGISTERED_ONCE)
		where = REGISTERED_OFTEN;
	if (!(known & where))
		(void)had_room(s, map_set(&s->texts, key, known | where, FXT_TEXTS_MAX));
}

static void note_inlines(struct fxt_stale *s, const struct fxt_provider *p, const struct fxt_record *r, unsigned where)
{
	for (unsigned n = 0; n < r->string_count; n++)
		if (r->strings[n].ref & FXT_STRING_INLINE)
			note_text(s, p, false, fxt_hash(r->data + r->strings[n].at, r->strings[n].ref & FXT_STRING_INDEX_MAX),
				  where);
	for (unsigned n = 0; n < r->thread_count; n++)
		if (!r->threads[n].ref && !r->threads[n].process_only)
			note_text(s, p, true, thread_hash(r->threads[n].process, r->threads[n].thread), where);
}

/* Counts what the record at `at` refers to, but for registrations in front of `old`. */
static void count(struct fxt_stale *s, struct fxt_provider *p, const struct fxt_record *r, uint64_t at, uint64_t old)
{
	struct entry e;

	p->distrust.seen++;
	note_inlines(s, p, r, s->walking ? INLINE_BEHIND : INLINE_BEFORE);
	for (unsigned n = 0; n < r->string_count + r->thread_count; n++) {
		if (!entry_at(p, r, n, &e) || e.offset > at || e.offset < old)
			continue;
		struct fxt_use *u = use_of(s, p, e.thread, e.index, e.offset);
		if (!u || u->last == p->distrust.seen)
			continue;
		u->last = p->distrust.seen;
		u->uses++;
	}
}

static bool registers(const struct fxt_record *r)
{
	return fxt_registers(r->type) && r->known;
}

/* The record at `at` has just registered something. */
static void registered(struct fxt_stale *s, struct fxt_provider *p, const struct fxt_record *r, uint64_t at)
{
	struct entry e;

	if (!r->id || !(r->type == FXT_STRING ? string_entry(p, r->id, &e) : thread_entry(p, r->id, &e)) || e.offset != at)
		return;
	const uint64_t key = provider_key(p) << 16 | (uint64_t)e.thread << 15 | e.index;
	uint32_t n = map_get(&s->keys, key);
	struct fxt_use *u = n == MAP_NONE ? NULL : &s->uses[n];
	for (uint32_t i = u && u->group == s->group ? u->suspect : 0; i && s->suspects[i - 1].open; i = s->suspects[i - 1].before) {
		struct fxt_suspect *x = &s->suspects[i - 1];
		x->open = false;
		x->until = p->distrust.seen;
		x->again = at;
	}
	(void)use_of(s, p, e.thread, e.index, at);
	if (!s->walking) {
		note_text(s, p, e.thread, e.hash, REGISTERED_ONCE);
		return;
	}
	const uint64_t text = text_key(p, e.thread, e.hash);
	uint32_t prev = map_get(&s->fresh_keys, text);
	if (!had_room(s, array_room(&s->fresh, &s->fresh_capacity, s->fresh_count, sizeof(*s->fresh), FXT_FRESH_MAX)) ||
	    !had_room(s, map_set(&s->fresh_keys, text, (uint32_t)s->fresh_count + 1, FXT_FRESH_MAX)))
		return;
	s->fresh[s->fresh_count++] = (struct fxt_fresh){ at, prev == MAP_NONE ? 0 : prev };
}

void fxt_stale_begin(struct fxt_stale *s, uint64_t from)
{
	struct fxt_provider *p = s->marks[0].provider;
	const struct fxt_record *r = &s->resync->other;

	if (s->counting)
		return;
	s->counting = true;
	for (uint64_t at = s->marks[0].at; p && at < from && fxt_decode_other(s->resync, at); at += r->words * FXT_WORD) {
		if (r->type == FXT_METADATA && (r->subtype == FXT_PROVIDER_INFO || r->subtype == FXT_PROVIDER_SECTION)) {
			struct fxt_provider *next = fxt_provider_find(s->registry, r->id);
			p = next ? next : s->registry->list[0];
			/* Behind an earlier introduction it registered other things. */
			if (r->subtype == FXT_PROVIDER_INFO)
				p->distrust.seen = 0;
		} else if (r->type != FXT_METADATA && at >= p->offset) {
			if (registers(r))
				registered(s, p, r, at);
			else if (r->known)
				count(s, p, r, at, 0);
		}
	}
	s->walking = true;
}

void fxt_stale_accepted(struct fxt_stale *s, const struct fxt_record *r, uint64_t at, uint64_t old)
{
	struct fxt_provider *p = s->registry->provider;

	if (!s->counting || r->type == FXT_METADATA || !r->known)
		return;
	if (registers(r))
		registered(s, p, r, at);
	else
		count(s, p, r, at, old);
}

/* ---- what waits ---- */

/* The suspect of an entry; 0: there is no room. */
static uint32_t suspect_of(struct fxt_stale *s, const struct fxt_provider *p, const struct entry *e, uint64_t gap)
{
	struct fxt_use *u = use_of(s, p, e->thread, e->index, e->offset);
	uint32_t before = u && u->group == s->group ? u->suspect : 0;

	if (!u || (before && s->suspects[before - 1].gap == gap))
		return before;
	if (!had_room(s, array_room(&s->suspects, &s->suspect_capacity, s->suspect_count, sizeof(*s->suspects), FXT_SUSPECTS_MAX)))
		return 0;
	struct fxt_suspect *x = &s->suspects[s->suspect_count++];
	*x = (struct fxt_suspect){ .hash = e->hash, .offset = e->offset, .gap = gap, .again = UINT64_MAX, .uses = u->uses };
	x->from = p->distrust.gap_seen;
	x->records = before ? s->suspects[before - 1].records : x->from - u->born;
	x->before = before;
	x->thread = e->thread;
	x->open = true;
	u->suspect = (uint32_t)s->suspect_count;
	u->group = s->group;
	return u->suspect;
}

bool fxt_stale_wait(struct fxt_stale *s, const struct fxt_record *r, uint64_t at, uint64_t gap)
{
	const struct fxt_provider *p = s->registry->provider;
	struct fxt_distrust *trust = &s->registry->provider->distrust;
	struct fxt_waiting w = { .at = at, .words = (uint32_t)r->words, .refs = (uint32_t)s->ref_count };
	struct entry e;

	for (unsigned n = 0; n < r->string_count + r->thread_count; n++) {
		if (!entry_at(p, r, n, &e) || e.offset >= gap)
			continue;
		uint32_t suspect = suspect_of(s, p, &e, gap);
		if (!suspect ||
		    !had_room(s, array_room(&s->refs, &s->ref_capacity, s->ref_count, sizeof(*s->refs), FXT_WAITING_REFS_MAX)))
			return false;
		s->refs[s->ref_count++] = suspect;
		w.ref_count++;
	}
	if (!had_room(s, array_room(&s->waiting, &s->waiting_capacity, s->waiting_count, sizeof(*s->waiting), FXT_WAITING_MAX)))
		return false;
	s->waiting[s->waiting_count++] = w;
	*(trust->last ? &s->waiting[trust->last - 1].next : &trust->waiting) = (uint32_t)s->waiting_count;
	trust->last = (uint32_t)s->waiting_count;
	return true;
}

void fxt_stale_settle(struct fxt_stale *s)
{
	s->waiting_count = s->suspect_count = s->ref_count = 0;
	s->group++;
}

/* ---- what is known in the end ---- */

/* Whether the recorder has no index left for what it has to register, so that it writes it inline. */
static bool is_exhausted(const struct fxt_provider *p, bool thread)
{
	return (thread ? p->tables->threads[FXT_THREAD_INDEX_MAX].state : fxt_string_state(p->tables, FXT_STRING_INDEX_MAX)) &
	       FXT_REGISTERED;
}

/* Whether what the suspect had need not be registered again: it has another index; or it is written inline, as it was not in front
 * of the damage, or there is no index left. */
static bool is_elsewhere(const struct fxt_stale *s, const struct fxt_provider *p, const struct fxt_suspect *x)
{
	uint32_t met = map_get(&s->texts, text_key(p, x->thread, x->hash));

	met = met == MAP_NONE ? 0 : met;
	return met & REGISTERED_OFTEN || (met & INLINE_BEHIND && (!(met & INLINE_BEFORE) || is_exhausted(p, x->thread)));
}

/* Whether what the suspect had was registered again behind the damage, while the index was not. */
static bool is_replaced(const struct fxt_stale *s, const struct fxt_provider *p, const struct fxt_suspect *x)
{
	uint32_t n = map_get(&s->fresh_keys, text_key(p, x->thread, x->hash));

	n = n == MAP_NONE ? 0 : n;
	for (unsigned steps = 0; n && s->fresh[n - 1].at >= x->again; n = s->fresh[n - 1].prev)
		if (++steps > FRESH_STEPS)
			return true;
	return n && s->fresh[n - 1].at > x->offset;
}

/* uses * log2(1 + after / records), from below. */
static uint64_t evidence_bits(uint64_t uses, uint64_t records, uint64_t after)
{
	uint64_t all = (records ? records : 1) + after, low = records ? records : 1, bits = 0;

	for (; all / 2 >= low; low *= 2)
		bits++;
	return uses * ((bits << FRACTION) + (((all - low) << FRACTION) / low)) >> FRACTION;
}

static uint64_t bits_needed(uint64_t room)
{
	uint64_t bits = EVIDENCE_BITS_ONE;

	for (; room > 1 && bits < EVIDENCE_BITS_MOST; room /= 2)
		bits++;
	return bits < EVIDENCE_BITS_LEAST ? EVIDENCE_BITS_LEAST : bits;
}

enum fxt_verdict fxt_stale_judge(struct fxt_stale *s, const struct fxt_provider *p, const struct fxt_waiting *w, uint64_t room)
{
	const uint64_t needed = bits_needed(room);
	enum fxt_verdict verdict = s->full ? FXT_STALE_OPEN : FXT_STALE_CLEARED;

	for (uint32_t n = 0; n < w->ref_count; n++) {
		const struct fxt_suspect *x = &s->suspects[s->refs[w->refs + n] - 1];
		const uint64_t after = (x->open ? p->distrust.seen : x->until) - x->from;
		if (is_replaced(s, p, x))
			return FXT_STALE_REPLACED;
		if (evidence_bits(x->uses, x->records, after) < needed || is_elsewhere(s, p, x))
			verdict = FXT_STALE_OPEN;
	}
	return verdict;
}
