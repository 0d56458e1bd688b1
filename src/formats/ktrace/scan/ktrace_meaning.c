/* What single events mean: starts and ends, strings, threads that are created. Ids: xnu bsd/sys/kdebug.h. */
#include "formats/ktrace/scan/ktrace_event_walk.h"

void ktrace_event_count(struct stretch_walk *ev, enum counted what, enum ktrace_rule rule, uint64_t offset)
{
	if (place_silenced())
		return;
	if (!ev->counts[what].count++)
		ev->counts[what].first = offset;
	ev->is_odd |= ktrace_rule_casts_doubt(rule);
}

static uint64_t pair_key(const struct ktrace_event *e)
{
	return (e->tid << 32) ^ (e->tid >> 32) ^ (e->debugid & ~KTRACE_FUNC_MASK);
}

/* The value of a key, 0 where it has none. */
static uint32_t table_count(const struct ktrace_table *t, uint64_t key)
{
	uint32_t value = ktrace_table_get(t, key);
	return value == MAP_NONE ? 0 : value;
}

/* Starts and ends pair by thread and event id. */
static void event_pair(struct ktrace_events *k, const struct ktrace_event *e, uint64_t offset)
{
	if (k->open.full)
		return;
	const uint64_t key = pair_key(e);
	uint32_t *open = map_at(&k->open.map, key);
	if (e->debugid & KTRACE_FUNC_START) {
		if (open && *open < MAP_NONE - 1)
			++*open;
		else if (open || !ktrace_table_set(&k->open, key, 1))
			return;
		if (!k->open_starts++)
			k->starts_first = offset;
	} else if (open && *open) {
		--*open;
		k->open_starts--;
	} else if (!k->lone_ends++) {
		k->lone_ends_first = offset;
	}
}

/* Bytes of the first piece of a string. */
static uint32_t string_begin(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset, uint32_t word)
{
	struct ktrace_events *k = &ev->walk->events;
	uint32_t id = e->debugid & ~KTRACE_FUNC_MASK;
	uint64_t string = e->args[1];

	if (id == KTRACE_VFS_LOOKUP || id == KTRACE_VFS_LOOKUP_DONE)
		return 3 * word;
	if (id != KTRACE_STRING_GLOBAL)
		return 4 * word;
	/* In 32-bit records the signature is cut off. */
	if (ev->walk->in.is_64 && (string >> 48 != 0x70ac || !(string & 0xffffffffffff)))
		event_count(ev, string_id_signature, offset);
	bool removes = (e->debugid & KTRACE_FUNC_END) && !e->args[2] && !e->args[3];
	if (!removes)
		(void)ktrace_table_set(&k->strings, string, 0);
	else if (!k->strings.full && !ktrace_table_has(&k->strings, string))
		event_count(ev, string_id_unknown, offset);
	return 2 * word;
}

/* Strings span several events of a thread: the first has START, the last END. Pieces: xnu bsd/kern/kdebug.c. */
static void event_string(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_events *k = &ev->walk->events;
	uint32_t id = e->debugid & ~KTRACE_FUNC_MASK, word = ev->walk->in.is_64 ? 8 : 4, piece = 4 * word;
	bool global = id == KTRACE_STRING_GLOBAL, ends = e->debugid & KTRACE_FUNC_END;

	if (e->debugid & KTRACE_FUNC_START) {
		piece = string_begin(ev, e, offset, word);
		if (!ends)
			(void)ktrace_table_set(&k->spans, pair_key(e), piece + 1);
		return;
	}
	uint32_t span = table_count(&k->spans, pair_key(e));
	if (!span) {
		if (!k->spans.full)
			event_count(ev, string_sequence_broken, offset);
		return;
	}
	/* Saturates far above the bounds below. */
	span = span < UINT32_MAX / 2 ? span + piece : span;
	uint32_t max = global ? KTRACE_STRING_GLOBAL_MAX : KTRACE_STRING_SIMPLE_MAX;
	if ((global || id == KTRACE_STRING_THREADNAME || id == KTRACE_STRING_THREADNAME_PREV) && span - 1 > max + piece)
		event_count(ev, string_too_long, offset);
	(void)ktrace_table_set(&k->spans, pair_key(e), ends ? 0 : span);
}

void ktrace_event_meaning(struct stretch_walk *ev, const struct ktrace_event *e, uint64_t offset)
{
	struct ktrace_walk *w = ev->walk;

	switch (e->debugid & ~KTRACE_FUNC_MASK) {
	case KTRACE_NEWTHREAD:
		if (!ktrace_table_has(&w->in.threads, e->args[0]))
			(void)ktrace_table_set(&w->in.threads, e->args[0], 0);
		if (w->events.born_count < KTRACE_BORN_MAX)
			w->events.born[w->events.born_count++] = (struct ktrace_born){ offset, e->args[0] };
		return;
	case KTRACE_LOST_EVENTS:
		w->events.lost = true;
		event_count(ev, events_lost, offset);
		return;
	case KTRACE_RETROGRADE:
	case KTRACE_PAST:
		event_count(ev, events_retrograde, offset);
		return;
	case KTRACE_STRING_GLOBAL:
	case KTRACE_STRING_THREADNAME:
	case KTRACE_STRING_THREADNAME_PREV:
	case KTRACE_VFS_LOOKUP:
	case KTRACE_VFS_LOOKUP_DONE:
		event_string(ev, e, offset);
		return;
	default:
		break;
	}
	switch (e->debugid & KTRACE_FUNC_MASK) {
	case KTRACE_FUNC_START:
	case KTRACE_FUNC_END:
		event_pair(&w->events, e, offset);
		break;
	case KTRACE_FUNC_MASK:
		event_count(ev, event_start_end_both, offset);
		break;
	default:
		break;
	}
}
