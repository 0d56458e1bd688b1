/* Providers and what they register: #string-references, #thread-references, #provider-section-metadata. */
#include "formats/fxt/scan/fxt_table.h"

#include <stdlib.h>

#include "core/array.h"

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

static void missing_forward(struct fxt_registry *reg, uint32_t n);

void fxt_string_register(struct fxt_registry *reg, uint32_t index, uint64_t hash, uint64_t offset, uint64_t length)
{
	struct fxt_string_page *page = page_own(reg, index);
	if (!page)
		return;
	uint8_t *state = &page->state[index % FXT_PAGE];
	uint64_t *known = &page->hash[index % FXT_PAGE];

	if (*state & FXT_DANGLING) {
		missing_forward(reg, (uint32_t)*known);
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
		missing_forward(reg, e->missing);
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

/* ---- references without a registration ---- */

/* Notes the first use of an index; the index into reg->missing, or of the last entry when there are too many. */
static uint32_t missing_add(struct fxt_registry *reg, const struct fxt_record *r, bool thread, uint16_t index, uint64_t field)
{
	struct fxt_position *here = &reg->report->here;

	if (reg->missing_count == FXT_DANGLING_MAX) {
		reg->missing[reg->missing_count - 1].count++;
		return (uint32_t)reg->missing_count - 1;
	}
	if (array_room(&reg->missing, &reg->missing_capacity, reg->missing_count, sizeof(*reg->missing), FXT_DANGLING_MAX) !=
	    TM_OK) {
		fxt_report_no_memory(reg->report);
		return UINT32_MAX;
	}
	reg->missing[reg->missing_count] = (struct fxt_missing){
		.provider = reg->provider,
		.index = index,
		.thread = thread,
		.type = r->type,
		.subtype = r->subtype,
		.elsewhere = thread ? reg->anywhere_threads[index] : reg->anywhere_strings[index],
		.record = here->records,
		.offset = here->at,
		.length = r->words * FXT_WORD,
		.field = here->at + field,
		.count = 1,
		.cause = reg->report->damage,
		.nobody = reg->provider->cause,
		.no_magic = !reg->report->magic_seen,
		.before = here->records ? fxt_position_recent(here, FXT_RECENT) : here->at,
	};
	return (uint32_t)reg->missing_count++;
}

bool fxt_refs_rare(const struct fxt_registry *reg, const struct fxt_record *r)
{
	const struct fxt_tables *t = reg->provider->tables;
	bool rare = false;

	for (unsigned i = 0; i < r->string_count; i++) {
		const uint16_t ref = r->strings[i].ref;
		if (!(ref & FXT_STRING_INLINE) && fxt_string_state(t, ref) & FXT_DANGLING)
			rare |= reg->missing[t->pages[ref / FXT_PAGE]->hash[ref % FXT_PAGE]].count == 1;
	}
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++)
		if (t->threads[r->threads[i].ref].state & FXT_DANGLING)
			rare |= reg->missing[t->threads[r->threads[i].ref].missing].count == 1;
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
	uint32_t n = page ? missing_add(reg, r, false, (uint16_t)index, ref->field) : UINT32_MAX;
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
	uint32_t n = t ? missing_add(reg, r, true, ref, 0) : UINT32_MAX;
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

static const char *role_name(const struct fxt_missing *m)
{
	static const char *const names[] = { "reference", "category", "name", "argument name", "argument value" };
	return m->thread ? "thread" : names[m->role];
}

/* The finding that explains it; NULL: none. */
static struct finding *missing_cause(const struct fxt_registry *reg, const struct fxt_missing *m)
{
	if (m->cause)
		return m->cause;
	if (m->elsewhere && m->nobody)
		return m->nobody;
	return m->no_magic ? reg->report->no_magic : NULL;
}

/* Indexes so near each other are lost together, where none between them is registered: writers count them up. */
#define NEIGHBOURS 8u

/* The neighbour of the index in the direction of `step` that is missing as it is; NULL: none. */
static struct fxt_missing *missing_neighbour(const struct fxt_registry *reg, const struct fxt_missing *m, int step)
{
	const struct fxt_tables *t = m->provider->tables;
	const uint32_t last = m->thread ? FXT_THREAD_INDEX_MAX : FXT_STRING_INDEX_MAX;

	/* Below 0, the index is beyond the last one. */
	for (uint32_t index = m->index + (uint32_t)step, i = 0; i < NEIGHBOURS && index && index <= last;
	     index += (uint32_t)step, i++) {
		const struct fxt_string_page *page = t->pages[m->thread ? 0 : index / FXT_PAGE];
		const uint8_t state = m->thread ? t->threads[index].state : page->state[index % FXT_PAGE];
		if (state & FXT_REGISTERED)
			return NULL;
		if (!(state & FXT_DANGLING))
			continue;
		struct fxt_missing *n = &reg->missing[m->thread ? t->threads[index].missing : page->hash[index % FXT_PAGE]];
		const bool same = n->provider == m->provider && n->index == index && !n->reported && !n->forward &&
				  n->elsewhere == m->elsewhere;
		return same && !missing_cause(reg, n) ? n : NULL;
	}
	return NULL;
}

/* Indexes that one finding reports: those of an entry and of its neighbours. */
struct missing_run {
	unsigned low, high, count;
	uint64_t uses;
};

static struct missing_run missing_run_take(struct fxt_registry *reg, struct fxt_missing *m)
{
	struct missing_run run = { m->index, m->index, 1, m->count };

	m->reported = true;
	for (int step = -1; !m->forward && step <= 1; step += 2)
		for (struct fxt_missing *n = m; (n = missing_neighbour(reg, n, step)) != NULL;) {
			n->reported = true;
			run.low = step < 0 ? n->index : run.low;
			run.high = step > 0 ? n->index : run.high;
			run.count++;
			run.uses += n->count;
		}
	return run;
}

static void missing_say(struct finding *fd, const struct fxt_missing *m, const struct missing_run *run)
{
	const char *kind = m->thread ? "thread" : "string", *many = run->count > 1 ? "are" : "is";
	const int digits = m->thread ? 2 : 4;
	char indexes[80];

	if (run->count > 1)
		snprintf(indexes, sizeof(indexes), "%u %s indexes from 0x%0*x to 0x%0*x", run->count, kind, digits, run->low,
			 digits, run->high);
	else
		snprintf(indexes, sizeof(indexes), "%s index 0x%0*x", kind, digits, run->low);
	if (m->forward)
		finding_say(fd, "%s is used before its registration", indexes);
	else if (m->elsewhere)
		finding_say(fd, "%s %s registered by another provider only", indexes, many);
	else
		finding_say(fd, "%s %s not registered", indexes, many);
}

static void missing_report(struct fxt_registry *reg, struct fxt_missing *m)
{
	static const uint8_t rules[2][3] = {
		{ FXT_RULE_dangling_string_ref, FXT_RULE_forward_string_ref, FXT_RULE_cross_provider_string_ref },
		{ FXT_RULE_dangling_thread_ref, FXT_RULE_forward_thread_ref, FXT_RULE_cross_provider_thread_ref },
	};

	m->cause = missing_cause(reg, m);
	if (m->cause) {
		m->reported = true;
		finding_explains(m->cause, m->count);
		return;
	}
	const struct missing_run run = missing_run_take(reg, m);
	struct finding *fd = finding_new(reg->report->s->findings,
					 rules[m->thread][m->forward	 ? 1
							  : m->elsewhere ? 2
									 : 0],
					 reg->report->source, m->offset, m->length);
	if (!finding_kept(fd))
		return;
	missing_say(fd, m, &run);
	struct fxt_record r = { .type = m->type, .subtype = m->subtype };
	char record[64];
	fxt_describe(&r, record, sizeof(record));
	if (m->argument >= 0 && !m->thread)
		finding_path(fd, "provider %u > record %llu (%s) > argument %d > %s", m->provider->id,
			     (unsigned long long)m->record, record, m->argument + 1, role_name(m));
	else
		finding_path(fd, "provider %u > record %llu (%s) > %s", m->provider->id, (unsigned long long)m->record, record,
			     role_name(m));
	finding_field(fd, m->field, m->thread ? 1 : 2, "%s = 0x%0*x", role_name(m), m->thread ? 2 : 4, (unsigned)m->index);
	finding_explains(fd, run.uses - 1);
}

static void missing_forward(struct fxt_registry *reg, uint32_t n)
{
	struct fxt_missing *m = &reg->missing[n];
	m->forward = true;
	/* In a file without a magic number missing registrations are reported at the end, when it is known whether it has one. */
	if (!m->reported && !m->no_magic)
		missing_report(reg, m);
}

void fxt_missing_report(struct fxt_registry *reg)
{
	for (size_t i = 0; i < reg->missing_count; i++)
		if (!reg->missing[i].reported)
			missing_report(reg, &reg->missing[i]);
}
