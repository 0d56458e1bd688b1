/* Where the records of a page go on behind damage (MAN6 "CPU DATA"). */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_record.h"

/* Records in a row that are accepted as the continuation of a page. Two events in 65,536 have a format, and sizes, processes and
 * flags have to fit as well: three do not follow each other by chance. */
#define CHAIN_MIN 3u
/* Words of such a row, with those of time and of discarded records: a row is looked for at each place of a page. */
#define CHAIN_WORDS_MAX 64u

/* Whether the payload is one that the format of its event allows. */
static bool payload_sound(const struct tracedat_page *p, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_walk *w = p->w;
	uint32_t id = size >= TRACEDAT_COMMON_MIN ? load_u16(payload, p->be) : 0;
	if (!id || load_u32(payload + 4, p->be) > TRACEDAT_PID_MAX || tracedat_flags_impossible(payload))
		return false;
	const struct tracedat_event *e = tracedat_event_of(&w->events, id);
	if (!e)
		return id == w->events.blk_id ||
		       (w->events.lost && (!w->texts.cmdlines || tracedat_pid_known(&w->texts, load_u32(payload + 4, p->be))));
	return !tracedat_size_odd(e, size) && tracedat_arrays_sound(&w->events, e, payload, size, p->be);
}

bool tracedat_page_chain(const struct tracedat_page *p, uint32_t at, bool open)
{
	uint32_t records = 0, words = 0;
	struct tracedat_word word;
	bool known = false;

	for (; p->limit - at >= 4 && records < CHAIN_MIN && words < CHAIN_WORDS_MAX; at += word.total, words++) {
		/* Without a length the data ends in zeros. */
		if (open && records && !load_u32(p->data + at, p->be))
			return (records > 1 || known) && bytes_are_zero(p->data + at, p->capacity - at);
		if (!tracedat_word_read(p->data, at, p->limit, p->be, &word))
			return false;
		const uint8_t *payload = p->data + at + word.skip;
		if (word.type >= TRACEDAT_WORD_PADDING ? !records : !payload_sound(p, payload, word.total - word.skip))
			return false;
		if (word.type >= TRACEDAT_WORD_PADDING)
			continue;
		known = tracedat_pid_known(&p->w->texts, load_u32(payload + 4, p->be));
		records++;
	}
	return records >= CHAIN_MIN || (at == p->limit && (records > 1 || (records && known)));
}

bool tracedat_page_record_whole(const struct tracedat_page *p, uint32_t at)
{
	struct tracedat_word word;
	return p->capacity - at >= 4 && tracedat_word_read(p->data, at, p->capacity, p->be, &word) &&
	       word.type < TRACEDAT_WORD_PADDING && payload_sound(p, p->data + at + word.skip, word.total - word.skip);
}

bool tracedat_page_record_begins(const struct tracedat_page *p, uint32_t at)
{
	if (p->capacity < at || p->capacity - at < 4 + TRACEDAT_COMMON_MIN)
		return false;
	const uint8_t *payload = p->data + at + 4;
	uint32_t word = load_u32(p->data + at, p->be), type = p->be ? word >> 27 : word & 31, pid = load_u32(payload + 4, p->be);
	const struct tracedat_event *e = tracedat_event_of(&p->w->events, load_u16(payload, p->be));
	return e && type && type < TRACEDAT_WORD_PADDING && 4 * type >= e->fixed && !tracedat_flags_impossible(payload) &&
	       pid <= TRACEDAT_PID_MAX && tracedat_pid_known(&p->w->texts, pid);
}

/* The first such row at `at`, or a multiple of four bytes behind it; UINT32_MAX: there is none. What was found is kept for the next
 * search, so that all of them together take time that is linear in the page. */
static uint32_t chain_find(struct tracedat_page *p, uint32_t at, bool open)
{
	struct tracedat_chains *c = &p->chains;
	uint32_t *next = &c->next[at & 3];

	if (c->limit != p->limit || c->open != open)
		*c = (struct tracedat_chains){ .limit = p->limit, .open = open };
	if (*next >= at)
		return *next;
	for (*next = UINT32_MAX; at < p->limit && p->limit - at >= 4 + TRACEDAT_COMMON_MIN; at += 4)
		if (tracedat_page_chain(p, at, open)) {
			*next = at;
			break;
		}
	return *next;
}

uint32_t tracedat_page_resync(struct tracedat_page *p, uint32_t at, bool open)
{
	uint32_t best = chain_find(p, at + 4, open);

	/* Where bytes were inserted or removed, records are not at multiples of four any more. */
	for (uint32_t step = 1; step < 4 && (best == UINT32_MAX || p->where->shift); step++) {
		const uint32_t found = chain_find(p, at + 4 + step, open);
		best = found < best ? found : best;
	}
	return best == UINT32_MAX ? 0 : best;
}

bool tracedat_page_goes_on(struct tracedat_page *p, uint32_t at, uint32_t id)
{
	struct tracedat_word word;

	for (; at > p->trusted && p->limit - at >= 4; at += word.total) {
		if (!tracedat_word_read(p->data, at, p->limit, p->be, &word))
			return false;
		const uint8_t *payload = p->data + at + word.skip;
		uint32_t size = word.total - word.skip;
		if (word.type >= TRACEDAT_WORD_PADDING)
			continue;
		if (payload_sound(p, payload, size))
			break;
		if (size < TRACEDAT_COMMON_MIN || load_u32(payload + 4, p->be) > TRACEDAT_PID_MAX)
			return false;
		/* Of two formats with its ID the record may have the other one. */
		const struct tracedat_event *e = tracedat_event_of(&p->w->events, load_u16(payload, p->be));
		if (load_u16(payload, p->be) != id && !(e && e->contested))
			return false;
	}
	p->trusted = at > p->trusted ? at : p->trusted;
	return true;
}
