/* Providers and what they register: #string-references, #thread-references, #provider-section-metadata. */
#include "formats/fxt/scan/fxt_walk.h"

#include <stdlib.h>

#define BUCKETS 4096u

/* Decides about notes and nesting only, so a collision costs no verdict. The empty text is 0. */
uint64_t fxt_hash(const void *data, size_t length)
{
	const uint8_t *p = data;
	uint64_t h = length * FXT_HASH_SEED, rest = 0;
	if (!length)
		return 0;
	for (; length >= FXT_WORD; length -= FXT_WORD, p += FXT_WORD)
		h = fxt_hash_mix(h, load_u64(p, false));
	for (size_t i = 0; i < length; i++)
		rest |= (uint64_t)p[i] << (8 * i);
	if (length)
		h = fxt_hash_mix(h, rest);
	return h ? h : 1;
}

bool fxt_tables_open(struct fxt_walk *x)
{
	x->zero_page.state[0] = FXT_REGISTERED | FXT_USED;
	for (size_t i = 0; i < sizeof(x->no_tables.pages) / sizeof(x->no_tables.pages[0]); i++)
		x->no_tables.pages[i] = i ? &x->no_page : &x->zero_page;
	x->tail = &x->first;
	x->buckets = calloc(BUCKETS, sizeof(struct fxt_provider *));
	return x->buckets != NULL;
}

static void tables_free(struct fxt_walk *x, struct fxt_provider *p)
{
	struct fxt_tables *t = p->tables;
	if (t == &x->no_tables)
		return;
	for (size_t i = 0; i < sizeof(t->pages) / sizeof(t->pages[0]); i++)
		if (t->pages[i] != x->no_tables.pages[i]) {
			free(t->pages[i]);
			x->table_bytes -= sizeof(struct fxt_string_page);
		}
	free(t);
	x->table_bytes -= sizeof(struct fxt_tables);
	p->tables = &x->no_tables;
}

void fxt_tables_close(struct fxt_walk *x)
{
	while (x->first) {
		struct fxt_provider *p = x->first;
		x->first = p->next;
		tables_free(x, p);
		free(p);
	}
	free(x->buckets);
	free(x->missing);
}

/* ---- providers ---- */

static size_t bucket(uint32_t id)
{
	return (id * UINT32_C(2654435761)) >> 20;
}

struct fxt_provider *fxt_provider_find(const struct fxt_walk *x, uint32_t id)
{
	struct fxt_provider *p = x->buckets[bucket(id)];
	while (p && (p->id != id || p->anonymous))
		p = p->chain;
	return p;
}

struct fxt_provider *fxt_provider_get(struct fxt_walk *x, uint32_t id)
{
	struct fxt_provider *p = fxt_provider_find(x, id);
	if (p)
		return p;
	if (x->provider_count == FXT_PROVIDERS_MAX) {
		x->status = scan_limit(x->s, "the trace names more than %u providers", FXT_PROVIDERS_MAX);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		x->status = fault_memory(&x->s->in->error);
		return NULL;
	}
	p->id = id;
	p->tables = &x->no_tables;
	p->ticks = FXT_TICKS_DEFAULT;
	p->tick_limit = INT64_MAX;
	p->version = ++x->versions;
	p->chain = x->buckets[bucket(id)];
	x->buckets[bucket(id)] = p;
	*x->tail = p;
	x->tail = &p->next;
	x->provider_count++;
	return p;
}

void fxt_provider_reset(struct fxt_walk *x, struct fxt_provider *p)
{
	fxt_unused_report(x, p);
	tables_free(x, p);
	p->version = ++x->versions;
}

/* ---- tables ---- */

static bool table_room(struct fxt_walk *x, size_t bytes)
{
	if (bytes > FXT_TABLE_BYTES_MAX - x->table_bytes) {
		x->status = scan_limit(x->s, "string and thread tables of all providers need more than %u bytes",
				       FXT_TABLE_BYTES_MAX);
		return false;
	}
	return true;
}

/* Tables of the current provider that can be written to. */
static struct fxt_tables *tables_own(struct fxt_walk *x)
{
	struct fxt_provider *p = x->provider;
	if (p->tables != &x->no_tables)
		return p->tables;
	if (!table_room(x, sizeof(struct fxt_tables)))
		return NULL;
	struct fxt_tables *t = malloc(sizeof(*t));
	if (!t) {
		x->status = fault_memory(&x->s->in->error);
		return NULL;
	}
	*t = x->no_tables;
	x->table_bytes += sizeof(*t);
	p->tables = t;
	return t;
}

static struct fxt_string_page *page_own(struct fxt_walk *x, uint32_t index)
{
	struct fxt_tables *t = tables_own(x);
	uint32_t n = index / FXT_PAGE;
	if (!t)
		return NULL;
	if (t->pages[n] != x->no_tables.pages[n])
		return t->pages[n];
	if (!table_room(x, sizeof(struct fxt_string_page)))
		return NULL;
	struct fxt_string_page *page = malloc(sizeof(*page));
	if (!page) {
		x->status = fault_memory(&x->s->in->error);
		return NULL;
	}
	*page = *x->no_tables.pages[n];
	x->table_bytes += sizeof(*page);
	t->pages[n] = page;
	return page;
}

static void missing_forward(struct fxt_walk *x, uint32_t n);

bool fxt_string_register(struct fxt_walk *x, uint32_t index, uint64_t hash, uint64_t offset, uint64_t length)
{
	struct fxt_string_page *page = page_own(x, index);
	if (!page)
		return false;
	uint8_t *state = &page->state[index % FXT_PAGE];
	uint64_t *known = &page->hash[index % FXT_PAGE];

	if (*state & FXT_DANGLING) {
		missing_forward(x, (uint32_t)*known);
	} else if (*state & FXT_REGISTERED) {
		bool same = *known == hash;
		fxt_note(x, same ? FXT_RULE_duplicate_string_registration : FXT_RULE_string_redefinition, offset, length,
			 same ? "string index 0x%04x is registered again with the same text"
			      : "string index 0x%04x gets another text than before",
			 index);
		x->provider->redefined = x->provider->redefined || !same;
		if (!same)
			x->provider->version = ++x->versions;
	} else {
		x->provider->strings++;
	}
	*state = (uint8_t)(FXT_REGISTERED | (*state & FXT_USED));
	*known = hash;
	page->offset[index % FXT_PAGE] = offset;
	x->anywhere_strings[index] = 1;
	return true;
}

bool fxt_thread_register(struct fxt_walk *x, uint32_t index, uint64_t process, uint64_t thread, uint64_t offset)
{
	struct fxt_tables *t = tables_own(x);
	if (!t)
		return false;
	struct fxt_thread_entry *e = &t->threads[index];
	if (e->state & FXT_DANGLING) {
		missing_forward(x, e->missing);
	} else if (e->state & FXT_REGISTERED) {
		if (e->process != process || e->thread != thread) {
			fxt_note(x, FXT_RULE_thread_redefinition, offset, 3 * FXT_WORD,
				 "thread index 0x%02x changes from process %llu, thread %llu to %llu, %llu", index,
				 (unsigned long long)e->process, (unsigned long long)e->thread, (unsigned long long)process,
				 (unsigned long long)thread);
			x->provider->redefined = true;
			x->provider->version = ++x->versions;
		}
	} else {
		x->provider->threads++;
	}
	e->state = (uint8_t)(FXT_REGISTERED | (e->state & FXT_USED));
	e->process = process;
	e->thread = thread;
	e->offset = offset;
	e->track = fxt_thread_track(x, process, thread);
	if (e->track && e->track->session != x->provider->sessions) {
		e->track->session = x->provider->sessions;
		e->track->fresh = true;
		e->track->steady = false;
	}
	x->anywhere_threads[index] = 1;
	return x->status == TM_OK;
}

bool fxt_string_known(const struct fxt_provider *p, uint16_t ref)
{
	return ref & FXT_STRING_INLINE || fxt_string_state(p->tables, ref) & (FXT_REGISTERED | FXT_DANGLING);
}

bool fxt_thread_known(const struct fxt_provider *p, uint8_t ref)
{
	return !ref || p->tables->threads[ref].state & (FXT_REGISTERED | FXT_DANGLING);
}

/* ---- references without a registration ---- */

/* Notes the first use of an index; the index into x->missing, or of the last entry when there are too many. */
static uint32_t missing_add(struct fxt_walk *x, const struct fxt_record *r, bool thread, uint16_t index, uint64_t field)
{
	if (x->missing_count == FXT_DANGLING_MAX) {
		x->missing[x->missing_count - 1].count++;
		return x->missing_count - 1;
	}
	if (x->missing_count == x->missing_capacity) {
		uint32_t capacity = x->missing_capacity ? 2 * x->missing_capacity : 16;
		struct fxt_missing *list = realloc(x->missing, capacity * sizeof(*list));
		if (!list) {
			x->status = fault_memory(&x->s->in->error);
			return UINT32_MAX;
		}
		x->missing = list;
		x->missing_capacity = capacity;
	}
	x->missing[x->missing_count] = (struct fxt_missing){
		.provider = x->provider->id,
		.index = index,
		.thread = thread,
		.type = r->type,
		.subtype = r->subtype,
		.elsewhere = thread ? x->anywhere_threads[index] : x->anywhere_strings[index],
		.record = x->records,
		.offset = x->at,
		.length = r->words * FXT_WORD,
		.field = x->at + field,
		.count = 1,
		.cause = x->damage,
		.headless = !x->magic_seen,
		.before = x->records ? fxt_recent(x, FXT_RECENT) : x->at,
	};
	return x->missing_count++;
}

uint64_t fxt_string_use(struct fxt_walk *x, const struct fxt_record *r, const struct fxt_string_ref *ref)
{
	uint32_t index = ref->ref;
	if (index & FXT_STRING_INLINE)
		return fxt_hash(r->data + ref->at, index & FXT_STRING_INDEX_MAX);
	struct fxt_string_page *page = x->provider->tables->pages[index / FXT_PAGE];
	uint8_t state = page->state[index % FXT_PAGE];
	if (state & FXT_REGISTERED) {
		if (!(state & FXT_USED))
			page->state[index % FXT_PAGE] = state | FXT_USED;
		return page->hash[index % FXT_PAGE];
	}
	if (state & FXT_DANGLING) {
		x->missing[page->hash[index % FXT_PAGE]].count++;
		return FXT_HASH_SEED + index;
	}
	page = page_own(x, index);
	uint32_t n = page ? missing_add(x, r, false, (uint16_t)index, ref->field) : UINT32_MAX;
	if (n == UINT32_MAX)
		return 0;
	x->missing[n].role = ref->role;
	x->missing[n].argument = ref->argument;
	page->state[index % FXT_PAGE] = FXT_DANGLING | FXT_USED;
	page->hash[index % FXT_PAGE] = n;
	fxt_insert_string(x, x->at, (uint16_t)index);
	return FXT_HASH_SEED + index;
}

struct fxt_thread_entry *fxt_thread_use(struct fxt_walk *x, const struct fxt_record *r, uint8_t ref, uint64_t field)
{
	struct fxt_thread_entry *e = &x->provider->tables->threads[ref];
	if (e->state & FXT_REGISTERED) {
		e->state |= FXT_USED;
		return e;
	}
	if (e->state & FXT_DANGLING) {
		x->missing[e->missing].count++;
		return e;
	}
	struct fxt_tables *t = tables_own(x);
	uint32_t n = t ? missing_add(x, r, true, ref, field) : UINT32_MAX;
	if (n == UINT32_MAX)
		return NULL;
	e = &t->threads[ref];
	e->state = FXT_DANGLING | FXT_USED;
	e->missing = n;
	e->process = 0;
	e->thread = UINT64_C(0xffffffff00000000) + ref;
	/* Followed by provider, as a thread of its own: nothing says that two lost threads are one. */
	e->track = fxt_thread_track(x, UINT64_C(0xffffffff00000000) + x->provider->id, e->thread);
	fxt_insert_thread(x, x->at, ref);
	return e;
}

static const char *role_name(const struct fxt_missing *m)
{
	static const char *const names[] = { "reference", "category", "name", "argument name", "argument value" };
	return m->thread ? "thread" : names[m->role];
}

static void missing_say(struct fxt_walk *x, struct fxt_missing *m)
{
	static const uint8_t rules[2][3] = {
		{ FXT_RULE_dangling_string_ref, FXT_RULE_forward_string_ref, FXT_RULE_cross_provider_string_ref },
		{ FXT_RULE_dangling_thread_ref, FXT_RULE_forward_thread_ref, FXT_RULE_cross_provider_thread_ref },
	};
	const char *kind = m->thread ? "thread" : "string";
	int digits = m->thread ? 2 : 4;

	bool forward = m->forward;

	m->settled = true;
	if (m->headless && !m->cause)
		m->cause = x->headless;
	if (m->cause) {
		finding_explains(m->cause, m->count);
		return;
	}
	struct finding *fd = finding_new(x->s->findings,
					 rules[m->thread][forward	 ? 1
							  : m->elsewhere ? 2
									 : 0],
					 x->source, m->offset, m->length);
	if (!finding_kept(fd))
		return;
	finding_say(fd,
		    forward	   ? "%s index 0x%0*x is used before its registration"
		    : m->elsewhere ? "%s index 0x%0*x was registered by another provider only"
				   : "%s index 0x%0*x was never registered",
		    kind, digits, (unsigned)m->index);
	struct fxt_record r = { .type = m->type, .subtype = m->subtype };
	char record[64];
	fxt_describe(&r, record, sizeof(record));
	if (m->argument >= 0 && !m->thread)
		finding_path(fd, "provider %u > record %llu (%s) > argument %d > %s", m->provider, (unsigned long long)m->record,
			     record, m->argument + 1, role_name(m));
	else
		finding_path(fd, "provider %u > record %llu (%s) > %s", m->provider, (unsigned long long)m->record, record,
			     role_name(m));
	finding_field(fd, m->field, m->thread ? 1 : 2, "%s = 0x%0*x", role_name(m), digits, (unsigned)m->index);
	finding_explains(fd, m->count - 1);
}

static void missing_forward(struct fxt_walk *x, uint32_t n)
{
	struct fxt_missing *m = &x->missing[n];
	m->forward = true;
	/* What a file without beginning misses is judged at its end, when it is known whether it has one. */
	if (!m->settled && !m->headless)
		missing_say(x, m);
}

void fxt_missing_report(struct fxt_walk *x)
{
	if (x->s->plan)
		fxt_doubt_missing(x);
	for (uint32_t i = 0; i < x->missing_count; i++)
		if (!x->missing[i].settled)
			missing_say(x, &x->missing[i]);
}

void fxt_unused_report(struct fxt_walk *x, struct fxt_provider *p)
{
	uint64_t strings = 0, threads = 0, unused_strings = 0, unused_threads = 0;
	for (uint32_t i = 1; i <= FXT_STRING_INDEX_MAX; i++) {
		const struct fxt_string_page *page = p->tables->pages[i / FXT_PAGE];
		if (page == x->no_tables.pages[i / FXT_PAGE]) {
			i |= FXT_PAGE - 1;
			continue;
		}
		uint8_t state = page->state[i % FXT_PAGE];
		strings += (state & FXT_REGISTERED) != 0;
		unused_strings += (state & (FXT_REGISTERED | FXT_USED)) == FXT_REGISTERED;
	}
	for (uint32_t i = 1; i <= FXT_THREAD_INDEX_MAX && p->tables != &x->no_tables; i++) {
		uint8_t state = p->tables->threads[i].state;
		threads += (state & FXT_REGISTERED) != 0;
		unused_threads += (state & (FXT_REGISTERED | FXT_USED)) == FXT_REGISTERED;
	}
	struct finding *fd = NULL;
	if (unused_strings)
		fd = fxt_note(x, FXT_RULE_unused_string, 0, 0, "%llu of %llu strings are never referred to",
			      (unsigned long long)unused_strings, (unsigned long long)strings);
	if (fd)
		finding_path(fd, "provider %u", p->id);
	fd = NULL;
	if (unused_threads)
		fd = fxt_note(x, FXT_RULE_unused_thread, 0, 0, "%llu of %llu threads are never referred to",
			      (unsigned long long)unused_threads, (unsigned long long)threads);
	if (fd)
		finding_path(fd, "provider %u", p->id);
}
