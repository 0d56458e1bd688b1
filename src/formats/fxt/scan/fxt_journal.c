#include "formats/fxt/scan/fxt_journal.h"

#include <stdlib.h>

static void change_forget(struct fxt_registry *reg, struct fxt_change *c)
{
	if (c->before) {
		fxt_tables_free(reg, c->before);
		free(c->before);
		reg->journal.saved--;
	}
	*c = (struct fxt_change){ 0 };
}

static void forget_oldest(struct fxt_registry *reg)
{
	struct fxt_journal *j = &reg->journal;

	change_forget(reg, &j->list[j->first]);
	j->first = (j->first + 1) % FXT_JOURNAL_MAX;
	j->count--;
}

static void forget_old(struct fxt_registry *reg)
{
	struct fxt_journal *j = &reg->journal;
	while (j->count && reg->report->here.at - j->list[j->first].at > FXT_JOURNAL_BYTES)
		forget_oldest(reg);
}

void fxt_journal_close(struct fxt_registry *reg)
{
	while (reg->journal.count)
		forget_oldest(reg);
}

unsigned fxt_journal_recent(struct fxt_registry *reg)
{
	forget_old(reg);
	return reg->journal.count;
}

struct fxt_change *fxt_journal_last(struct fxt_registry *reg, unsigned n)
{
	struct fxt_journal *j = &reg->journal;
	return &j->list[(j->first + j->count - n) % FXT_JOURNAL_MAX];
}

static struct fxt_change *add(struct fxt_registry *reg, enum fxt_change_kind kind, struct fxt_provider *provider)
{
	struct fxt_journal *j = &reg->journal;

	forget_old(reg);
	if (j->count == FXT_JOURNAL_MAX)
		forget_oldest(reg);
	j->count++;
	j->redefined += kind == FXT_CHANGE_STRING || kind == FXT_CHANGE_THREAD;
	struct fxt_change *c = fxt_journal_last(reg, 1);
	*c = (struct fxt_change){ .kind = (uint8_t)kind, .at = reg->report->here.at, .provider = provider };
	return c;
}

void fxt_journal_enter(struct fxt_registry *reg, const struct fxt_provider *next)
{
	if (next != reg->provider)
		add(reg, FXT_CHANGE_ENTER, reg->provider);
}

void fxt_journal_reset(struct fxt_registry *reg, struct fxt_provider *provider)
{
	struct fxt_change *c = provider->records ? add(reg, FXT_CHANGE_RESET, provider) : NULL;

	/* Without room for its tables that is a change that cannot be undone. */
	if (c && reg->journal.saved < FXT_JOURNAL_SAVED_MAX)
		c->before = malloc(sizeof(*c->before));
	if (c && c->before) {
		*c->before = *provider;
		reg->journal.saved++;
		provider->tables = &reg->no_tables;
	}
	fxt_tables_free(reg, provider);
}

void fxt_journal_rate(struct fxt_registry *reg, uint64_t ticks)
{
	struct fxt_provider *provider = reg->provider;

	if (provider->ticks == ticks || !(provider->initialized || provider->timed))
		return;
	struct fxt_change *c = add(reg, FXT_CHANGE_RATE, provider);
	c->rate = (struct fxt_rate){ provider->ticks, provider->tick_limit, provider->rate_offset, provider->initialized };
}

void fxt_journal_string(struct fxt_registry *reg, uint32_t index, uint64_t hash)
{
	const struct fxt_string_page *page = reg->provider->tables->pages[index / FXT_PAGE];
	uint32_t n = index % FXT_PAGE;

	if (!(page->state[n] & (FXT_REGISTERED | FXT_DANGLING)) || page->hash[n] == hash)
		return;
	struct fxt_change *c = add(reg, FXT_CHANGE_STRING, reg->provider);
	c->index = (uint16_t)index;
	c->string.state = page->state[n];
	c->string.hash = page->hash[n];
	c->string.offset = page->offset[n];
}

void fxt_journal_thread(struct fxt_registry *reg, uint32_t index, uint64_t process, uint64_t thread)
{
	const struct fxt_thread_entry *e = &reg->provider->tables->threads[index];

	if (!(e->state & (FXT_REGISTERED | FXT_DANGLING)) || (e->process == process && e->thread == thread))
		return;
	struct fxt_change *c = add(reg, FXT_CHANGE_THREAD, reg->provider);
	c->index = (uint16_t)index;
	c->thread = *e;
}

static void undo_reset(struct fxt_registry *reg, struct fxt_change *c)
{
	struct fxt_provider *p = c->provider;

	if (!c->before)
		return;
	fxt_tables_free(reg, p);
	*p = *c->before;
	p->introduced = true;
	free(c->before);
	c->before = NULL;
	reg->journal.saved--;
}

/* Pages that all providers share are never written to: the tables that had the string may not have been kept. */
static void undo_string(struct fxt_registry *reg, const struct fxt_change *c)
{
	struct fxt_string_page *page = c->provider->tables->pages[c->index / FXT_PAGE];
	uint32_t n = c->index % FXT_PAGE;

	if (page == reg->no_tables.pages[c->index / FXT_PAGE])
		return;
	page->state[n] = c->string.state;
	page->hash[n] = c->string.hash;
	page->offset[n] = c->string.offset;
}

static void undo(struct fxt_registry *reg, struct fxt_change *c)
{
	struct fxt_provider *p = c->provider;

	switch (c->kind) {
	case FXT_CHANGE_ENTER:
		fxt_provider_enter(reg, p);
		break;
	case FXT_CHANGE_RESET:
		undo_reset(reg, c);
		break;
	case FXT_CHANGE_RATE:
		p->ticks = c->rate.ticks;
		p->tick_limit = c->rate.limit;
		p->rate_offset = c->rate.offset;
		p->initialized = c->rate.initialized;
		break;
	case FXT_CHANGE_STRING:
		undo_string(reg, c);
		break;
	case FXT_CHANGE_THREAD:
		if (p->tables != &reg->no_tables)
			p->tables->threads[c->index] = c->thread;
		break;
	default:
		break;
	}
	p->version = ++reg->versions;
}

void fxt_journal_undo(struct fxt_registry *reg, unsigned n)
{
	for (; n && reg->journal.count; n--) {
		struct fxt_change *c = fxt_journal_last(reg, 1);
		undo(reg, c);
		change_forget(reg, c);
		reg->journal.count--;
	}
}

void fxt_journal_unregister(struct fxt_registry *reg, uint64_t header, uint64_t at)
{
	struct fxt_tables *t = reg->provider->tables;

	if (!fxt_registers(header & 15) || t == &reg->no_tables)
		return;
	if (reg->journal.count && fxt_journal_last(reg, 1)->at == at) {
		fxt_journal_undo(reg, 1);
		return;
	}
	const uint32_t index = (uint32_t)fxt_bits(header, 16, (header & 15) == FXT_THREAD ? 8 : 15);
	if ((header & 15) == FXT_THREAD)
		t->threads[index].state = 0;
	else if (index && t->pages[index / FXT_PAGE] != reg->no_tables.pages[index / FXT_PAGE])
		t->pages[index / FXT_PAGE]->state[index % FXT_PAGE] = 0;
	reg->provider->version = ++reg->versions;
}
