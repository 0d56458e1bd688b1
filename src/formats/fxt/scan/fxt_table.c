/* Providers and what they register: #string-references, #thread-references, #provider-section-metadata. */
#include "formats/fxt/scan/fxt_table.h"

#include <stdlib.h>

#include "core/array.h"
#include "formats/fxt/scan/fxt_missing.h"

void fxt_tables_free(struct fxt_registry *reg, struct fxt_provider *provider)
{
	struct fxt_tables *t = provider->tables;
	if (t == &reg->no_tables)
		return;
	for (size_t i = 0; i < sizeof(t->pages) / sizeof(t->pages[0]); i++)
		if (t->pages[i] != reg->no_tables.pages[i]) {
			free(t->pages[i]);
			reg->table_bytes -= sizeof(struct fxt_string_page);
		}
	free(t);
	reg->table_bytes -= sizeof(struct fxt_tables);
	provider->tables = &reg->no_tables;
}

void fxt_registry_close(struct fxt_registry *reg)
{
	for (size_t i = 0; i < reg->count; i++) {
		fxt_tables_free(reg, reg->list[i]);
		free(reg->list[i]);
	}
	free(reg->list);
	free(reg->missing);
	map_free(&reg->ids);
}

/* ---- providers ---- */

struct fxt_provider *fxt_provider_find(const struct fxt_registry *reg, uint32_t id)
{
	uint32_t n = map_get(&reg->ids, id);
	return n == MAP_NONE ? NULL : reg->list[n];
}

/* At the end of the list; not in the map. */
static struct fxt_provider *provider_add(struct fxt_registry *reg, uint32_t id)
{
	struct fxt_report *report = reg->report;
	struct fxt_provider *provider = NULL;
	enum tracemend_status status = array_room(&reg->list, &reg->capacity, reg->count, sizeof(struct fxt_provider *),
						  FXT_PROVIDERS_MAX);

	if (status == TM_LIMIT || reg->count == FXT_PROVIDERS_MAX) {
		report->status = scan_limit(report->s, "the trace names more than %u providers", FXT_PROVIDERS_MAX);
		return NULL;
	}
	if (status == TM_OK)
		provider = calloc(1, sizeof(*provider));
	if (!provider) {
		fxt_report_no_memory(report);
		return NULL;
	}
	provider->id = id;
	provider->tables = &reg->no_tables;
	provider->ticks = FXT_TICKS_DEFAULT;
	provider->tick_limit = INT64_MAX;
	provider->version = ++reg->versions;
	reg->list[reg->count++] = provider;
	return provider;
}

struct fxt_provider *fxt_provider_get(struct fxt_registry *reg, uint32_t id)
{
	struct fxt_provider *provider = fxt_provider_find(reg, id);

	if (provider)
		return provider;
	provider = provider_add(reg, id);
	if (provider && map_set(&reg->ids, id, (uint32_t)reg->count - 1, FXT_PROVIDERS_MAX) != TM_OK) {
		fxt_report_no_memory(reg->report);
		return NULL;
	}
	return provider;
}

void fxt_provider_enter(struct fxt_registry *reg, struct fxt_provider *provider)
{
	reg->provider = provider;
	reg->report->here.provider = provider->id;
	reg->report->here.anonymous = provider->anonymous;
}

static void unused_report(struct fxt_registry *reg, const struct fxt_provider *provider)
{
	uint64_t strings = 0, threads = 0, unused_strings = 0, unused_threads = 0, string = UINT64_MAX, thread = UINT64_MAX;
	for (uint32_t i = 1; i <= FXT_STRING_INDEX_MAX; i++) {
		const struct fxt_string_page *page = provider->tables->pages[i / FXT_PAGE];
		if (page == reg->no_tables.pages[i / FXT_PAGE]) {
			i |= FXT_PAGE - 1;
			continue;
		}
		uint8_t state = page->state[i % FXT_PAGE];
		strings += (state & FXT_REGISTERED) != 0;
		if ((state & (FXT_REGISTERED | FXT_USED)) != FXT_REGISTERED)
			continue;
		unused_strings++;
		string = page->offset[i % FXT_PAGE] < string ? page->offset[i % FXT_PAGE] : string;
	}
	for (uint32_t i = 1; i <= FXT_THREAD_INDEX_MAX && provider->tables != &reg->no_tables; i++) {
		uint8_t state = provider->tables->threads[i].state;
		threads += (state & FXT_REGISTERED) != 0;
		if ((state & (FXT_REGISTERED | FXT_USED)) != FXT_REGISTERED)
			continue;
		unused_threads++;
		thread = provider->tables->threads[i].offset < thread ? provider->tables->threads[i].offset : thread;
	}
	struct finding *fd = NULL;
	if (unused_strings)
		fd = fxt_note(reg->report, FXT_RULE_unused_string, string, FXT_WORD,
			      "%llu of %llu strings are never referred to; this is the first", (unsigned long long)unused_strings,
			      (unsigned long long)strings);
	if (fd)
		finding_path(fd, "provider %u", provider->id);
	fd = NULL;
	if (unused_threads)
		fd = fxt_note(reg->report, FXT_RULE_unused_thread, thread, FXT_WORD,
			      "%llu of %llu threads are never referred to; this is the first", (unsigned long long)unused_threads,
			      (unsigned long long)threads);
	if (fd)
		finding_path(fd, "provider %u", provider->id);
}

void fxt_unused_report(struct fxt_registry *reg)
{
	for (size_t i = 0; i < reg->count; i++)
		unused_report(reg, reg->list[i]);
}

void fxt_provider_reset(struct fxt_registry *reg, struct fxt_provider *provider)
{
	unused_report(reg, provider);
	provider->version = ++reg->versions;
}

bool fxt_registry_open(struct fxt_registry *reg, struct fxt_report *report, struct fxt_nesting *nesting, struct fxt_repair *repair)
{
	reg->report = report;
	reg->nesting = nesting;
	reg->repair = repair;
	reg->zero_page.state[0] = FXT_REGISTERED | FXT_USED;
	for (size_t i = 0; i < sizeof(reg->no_tables.pages) / sizeof(reg->no_tables.pages[0]); i++)
		reg->no_tables.pages[i] = i ? &reg->no_page : &reg->zero_page;
	struct fxt_provider *provider = provider_add(reg, 0);
	if (!provider)
		return false;
	provider->anonymous = true;
	fxt_provider_enter(reg, provider);
	return true;
}

/* ---- tables ---- */

static bool table_room(struct fxt_registry *reg, size_t bytes)
{
	if (bytes > FXT_TABLE_BYTES_MAX - reg->table_bytes) {
		reg->report->status = scan_limit(reg->report->s,
						 "the string and thread tables of all providers need more than %u bytes",
						 FXT_TABLE_BYTES_MAX);
		return false;
	}
	return true;
}

/* Tables of the current provider that can be written to. */
static struct fxt_tables *tables_own(struct fxt_registry *reg)
{
	struct fxt_provider *provider = reg->provider;
	if (provider->tables != &reg->no_tables)
		return provider->tables;
	if (!table_room(reg, sizeof(struct fxt_tables)))
		return NULL;
	struct fxt_tables *t = malloc(sizeof(*t));
	if (!t) {
		fxt_report_no_memory(reg->report);
		return NULL;
	}
	*t = reg->no_tables;
	reg->table_bytes += sizeof(*t);
	provider->tables = t;
	return t;
}

static struct fxt_string_page *page_own(struct fxt_registry *reg, uint32_t index)
{
	struct fxt_tables *t = tables_own(reg);
	uint32_t n = index / FXT_PAGE;
	if (!t)
		return NULL;
	if (t->pages[n] != reg->no_tables.pages[n])
		return t->pages[n];
	if (!table_room(reg, sizeof(struct fxt_string_page)))
		return NULL;
	struct fxt_string_page *page = malloc(sizeof(*page));
	if (!page) {
		fxt_report_no_memory(reg->report);
		return NULL;
	}
	*page = *reg->no_tables.pages[n];
	reg->table_bytes += sizeof(*page);
	t->pages[n] = page;
	return page;
}

void fxt_string_register(struct fxt_registry *reg, uint32_t index, uint64_t hash, uint64_t offset, uint64_t length)
{
	struct fxt_string_page *page = page_own(reg, index);
	if (!page)
		return;
	uint8_t *state = &page->state[index % FXT_PAGE];
	uint64_t *known = &page->hash[index % FXT_PAGE];

	if (*state & FXT_DANGLING) {
		fxt_missing_forward(reg, (uint32_t)*known);
	} else if (*state & FXT_REGISTERED) {
		bool same = *known == hash;
		fxt_note(reg->report, same ? FXT_RULE_duplicate_string_registration : FXT_RULE_string_redefinition, offset, length,
			 same ? "string index 0x%04x is registered again with the same text"
			      : "string index 0x%04x is registered again with another text",
			 index);
		reg->provider->redefined = reg->provider->redefined || !same;
		if (!same)
			reg->provider->version = ++reg->versions;
	} else {
		reg->provider->strings++;
	}
	*state = (uint8_t)(FXT_REGISTERED | (*state & FXT_USED));
	*known = hash;
	page->offset[index % FXT_PAGE] = offset;
	reg->anywhere_strings[index] = 1;
}

void fxt_thread_register(struct fxt_registry *reg, uint32_t index, uint64_t process, uint64_t thread, uint64_t offset)
{
	struct fxt_tables *t = tables_own(reg);
	if (!t)
		return;
	struct fxt_thread_entry *e = &t->threads[index];
	if (e->state & FXT_DANGLING) {
		fxt_missing_forward(reg, e->missing);
	} else if (e->state & FXT_REGISTERED) {
		if (e->process != process || e->thread != thread) {
			fxt_note(reg->report, FXT_RULE_thread_redefinition, offset, 3 * FXT_WORD,
				 "thread index 0x%02x was process %llu, thread %llu and is registered again as process %llu, "
				 "thread %llu",
				 index, (unsigned long long)e->process, (unsigned long long)e->thread, (unsigned long long)process,
				 (unsigned long long)thread);
			reg->provider->redefined = true;
			reg->provider->version = ++reg->versions;
		}
	} else {
		reg->provider->threads++;
	}
	e->state = (uint8_t)(FXT_REGISTERED | (e->state & FXT_USED));
	e->process = process;
	e->thread = thread;
	e->offset = offset;
	e->track = fxt_nesting_thread(reg->nesting, process, thread);
	if (e->track) {
		e->track->registrations++;
		e->track->registered = offset;
		e->track->provider = reg->provider->id;
		e->track->anonymous = reg->provider->anonymous;
	}
	if (e->track && e->track->session != reg->provider->sessions) {
		e->track->session = reg->provider->sessions;
		e->track->fresh = true;
		e->track->steady = false;
	}
	reg->anywhere_threads[index] = 1;
}

bool fxt_string_known(const struct fxt_provider *provider, uint16_t ref)
{
	return ref & FXT_STRING_INLINE || fxt_string_state(provider->tables, ref) & (FXT_REGISTERED | FXT_DANGLING);
}

bool fxt_thread_known(const struct fxt_provider *provider, uint8_t ref)
{
	return !ref || provider->tables->threads[ref].state & (FXT_REGISTERED | FXT_DANGLING);
}

unsigned fxt_refs_known(const struct fxt_provider *provider, const struct fxt_record *r, bool *all)
{
	unsigned known = 0;
	*all = true;
	for (unsigned i = 0; i < r->string_count; i++) {
		uint16_t ref = r->strings[i].ref;
		if (!fxt_string_known(provider, ref))
			*all = false;
		else
			known += ref && ref < FXT_STRING_INLINE;
	}
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++) {
		if (!fxt_thread_known(provider, r->threads[i].ref))
			*all = false;
		else
			known += r->threads[i].ref != 0;
	}
	return known;
}

/* ---- times ---- */

bool fxt_is_timed(const struct fxt_provider *p, const struct fxt_record *r)
{
	return r->has_timestamp && p->timed >= FXT_TIMES_KNOWN;
}

bool fxt_time_fits(const struct fxt_provider *p, const struct fxt_record *r)
{
	const uint64_t range = p->last - p->first;

	return !fxt_is_timed(p, r) || (r->timestamp >= p->first - (range < p->first ? range : p->first) &&
				       (r->timestamp <= p->last || r->timestamp - p->last <= range));
}

/* ---- references ---- */

/* Whether it is missing, and used once. */
static bool is_rare(const struct fxt_registry *reg, struct fxt_entry e)
{
	return e.state & FXT_DANGLING && reg->missing[e.missing].count == 1;
}

bool fxt_refs_rare(const struct fxt_registry *reg, const struct fxt_record *r)
{
	const struct fxt_tables *t = reg->provider->tables;
	bool rare = false;

	for (unsigned i = 0; i < r->string_count; i++)
		rare |= !(r->strings[i].ref & FXT_STRING_INLINE) && is_rare(reg, fxt_entry_of(t, false, r->strings[i].ref));
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++)
		rare |= is_rare(reg, fxt_entry_of(t, true, r->threads[i].ref));
	return rare;
}

uint64_t fxt_string_use(struct fxt_registry *reg, const struct fxt_record *r, const struct fxt_string_ref *ref)
{
	uint32_t index = ref->ref;
	if (index & FXT_STRING_INLINE)
		return fxt_hash(r->data + ref->at, index & FXT_STRING_INDEX_MAX);
	struct fxt_string_page *page = reg->provider->tables->pages[index / FXT_PAGE];
	uint8_t state = page->state[index % FXT_PAGE];
	if (state & FXT_REGISTERED) {
		if (!(state & FXT_USED))
			page->state[index % FXT_PAGE] = state | FXT_USED;
		return page->hash[index % FXT_PAGE];
	}
	if (state & FXT_DANGLING) {
		reg->missing[page->hash[index % FXT_PAGE]].count++;
		return FXT_HASH_SEED + index;
	}
	page = page_own(reg, index);
	uint32_t n = page ? fxt_missing_add(reg, r, false, (uint16_t)index, ref->field) : UINT32_MAX;
	if (n == UINT32_MAX)
		return 0;
	reg->missing[n].role = ref->role;
	reg->missing[n].argument = ref->argument;
	page->state[index % FXT_PAGE] = FXT_DANGLING | FXT_USED;
	page->hash[index % FXT_PAGE] = n;
	fxt_repair_insert_string(reg->repair, reg->report->here.at, (uint16_t)index);
	return FXT_HASH_SEED + index;
}

struct fxt_thread_entry *fxt_thread_use(struct fxt_registry *reg, const struct fxt_record *r, uint8_t ref)
{
	struct fxt_thread_entry *e = &reg->provider->tables->threads[ref];
	if (e->state & FXT_REGISTERED) {
		e->state |= FXT_USED;
		return e;
	}
	if (e->state & FXT_DANGLING) {
		reg->missing[e->missing].count++;
		return e;
	}
	struct fxt_tables *t = tables_own(reg);
	uint32_t n = t ? fxt_missing_add(reg, r, true, ref, 0) : UINT32_MAX;
	if (n == UINT32_MAX)
		return NULL;
	e = &t->threads[ref];
	e->state = FXT_DANGLING | FXT_USED;
	e->missing = n;
	e->process = 0;
	e->thread = UINT64_C(0xffffffff00000000) + ref;
	/* Tracked as a separate thread of this provider, since two lost threads need not be the same. */
	e->track = fxt_nesting_thread(reg->nesting, UINT64_C(0xffffffff00000000) + reg->provider->id, e->thread);
	fxt_repair_insert_thread(reg->repair, reg->report->here.at, ref);
	return e;
}
