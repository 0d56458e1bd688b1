/* Runs of plain events: nearly all of any trace. An event is plain when its thread is registered, its strings are, too,
 * or are printable ASCII, its size is that of its content, and nothing about it is worth a finding. It is then taken
 * into account right here, from the bytes of the window; anything else ends the run, and the general road decides. Both
 * must come to the same verdict. */
#include "fxt_walk.h"

#define PLAIN (FXT_REGISTERED | FXT_USED)
/* Types of values that a counter may have, less double, which may be no number. */
#define COUNTER_PLAIN (1u << FXT_ARG_INT32 | 1u << FXT_ARG_UINT32 | 1u << FXT_ARG_INT64 | 1u << FXT_ARG_UINT64)

/* A string index that is registered, and known to be used. */
static inline bool string_plain(const struct fxt_tables *t, uint64_t ref)
{
	return ref <= FXT_STRING_INDEX_MAX && (fxt_string_state(t, (uint32_t)ref) & PLAIN) == PLAIN;
}

static inline uint64_t string_hash(const struct fxt_tables *t, uint64_t ref)
{
	return t->pages[ref / FXT_PAGE]->hash[ref % FXT_PAGE];
}

/* Inline text that nothing is to be said of: its words. 0: there is something, or it has no `left` words. */
static inline uint64_t inline_plain(const uint8_t *text, uint64_t ref, uint64_t left)
{
	uint64_t length = ref & FXT_STRING_INDEX_MAX, words = fxt_words(length);
	if (!length || length > FXT_STRING_BYTES_ADVISED || words > left || !fxt_text_is_plain(text, length))
		return 0;
	return words;
}

/* Words up to the end of the arguments, which begin after `at` words; 0: they are not plain. */
static inline __attribute__((always_inline)) uint64_t arguments_plain(const struct fxt_tables *t, const uint8_t *p,
								      uint64_t at, uint64_t count, uint64_t words,
								      unsigned event, const bool big_endian)
{
	uint64_t hashes[FXT_ARGUMENTS_MAX];
	for (uint64_t n = 0; n < count; n++) {
		if (at >= words)
			return 0;
		uint64_t h = load_u64(p + at * FXT_WORD, big_endian);
		unsigned type = (unsigned)(h & 15);
		const struct fxt_argument_layout *layout = &fxt_argument_layouts[type];
		uint64_t name = fxt_bits(h, 16, 16), size = fxt_bits(h, 4, 12), value = fxt_bits(h, 32, 16), text = 0;
		if (type >= FXT_ARG_BLOB || h & layout->reserved || !name || size < layout->words || size > words - at ||
		    (event == FXT_COUNTER && !((1u << type) & COUNTER_PLAIN)))
			return 0;
		const uint8_t *body = p + (at + 1) * FXT_WORD;
		if (name & FXT_STRING_INLINE) {
			text = inline_plain(body, name, size - layout->words);
			if (!text)
				return 0;
			hashes[n] = count > 1 ? fxt_hash(body, name & FXT_STRING_INDEX_MAX) : n;
			body += text * FXT_WORD;
		} else if (string_plain(t, name)) {
			hashes[n] = string_hash(t, name);
		} else {
			return 0;
		}
		/* Two references may stand for the same name. */
		for (uint64_t k = 0; k < n; k++)
			if (hashes[k] == hashes[n])
				return 0;
		if (type == FXT_ARG_STRING && value & FXT_STRING_INLINE) {
			uint64_t more = inline_plain(body, value, size - layout->words - text);
			if (!more)
				return 0;
			text += more;
		} else if (type == FXT_ARG_STRING && !string_plain(t, value)) {
			return 0;
		}
		if (size != layout->words + text)
			return 0;
		/* One that fits 32 bits is worth a note. */
		if ((type == FXT_ARG_INT64 || type == FXT_ARG_UINT64) &&
		    load_u64(body, big_endian) + UINT64_C(0x80000000) <= UINT64_C(0x17fffffff))
			return 0;
		at += size;
	}
	return at;
}

/* Takes a begin or an end that comes in order of time and needs no memory. */
static inline __attribute__((always_inline)) bool duration_plain(struct fxt_thread *track, unsigned event, uint64_t time,
								 uint64_t offset, uint64_t name)
{
	if (!track || (track->lost && !track->fresh))
		return true; /* too many threads, or too late an event: said already */
	if (time < track->newest)
		return false;
	if (event == FXT_DURATION_BEGIN) {
		/* Room in the list of begins means that there was a begin before. */
		if (track->depth >= track->open_capacity)
			return false;
		track->open[track->depth++] = (struct fxt_open){ time, offset, name };
	} else {
		if (!track->depth || (name && track->open[track->depth - 1].name != name))
			return false;
		track->depth--;
	}
	track->newest = time;
	return true;
}

static inline __attribute__((always_inline)) uint64_t events_run(struct fxt_walk *x, const bool big_endian)
{
	const struct window *w = &x->window;
	struct fxt_provider *provider = x->provider;
	const struct fxt_tables *t = provider->tables;
	const uint8_t *start = w->buffer + (x->at - w->base), *end = w->buffer + w->length, *p = start;
	uint64_t previous = provider->previous, last = provider->last, count = 0;
	uint64_t previous_header = x->previous_header, previous_time = x->previous_time, last_category = 0;
	const uint64_t step_max = provider->step_max, tick_limit = provider->tick_limit;

	while (end - p >= (ptrdiff_t)(2 * FXT_WORD)) {
		uint64_t h = load_u64(p, big_endian);
		uint64_t time = load_u64(p + FXT_WORD, big_endian);
		uint64_t words = fxt_bits(h, 4, 12), category = fxt_bits(h, 32, 16), name = h >> 48;
		uint64_t arguments = fxt_bits(h, 20, 4);
		unsigned event = (unsigned)fxt_bits(h, 16, 4);
		const struct fxt_thread_entry *thread = &t->threads[fxt_bits(h, 24, 8)];

		if ((h & 15) != FXT_EVENT || words < 2 || words * FXT_WORD > (uint64_t)(end - p) || event > FXT_DURATION_COMPLETE ||
		    thread->state != PLAIN)
			break;
		if (time < previous || time - previous > step_max || time > tick_limit ||
		    (h == previous_header && time == previous_time))
			break;
		uint64_t at = 2;
		if (category & FXT_STRING_INLINE) {
			uint64_t text = inline_plain(p + at * FXT_WORD, category, words - at);
			if (!text)
				break;
			at += text;
		} else if (category != last_category) {
			if (!string_plain(t, category))
				break;
			last_category = category;
		}
		const uint8_t *inline_name = p + at * FXT_WORD;
		if (name & FXT_STRING_INLINE) {
			uint64_t text = inline_plain(inline_name, name, words - at);
			if (!text)
				break;
			at += text;
		} else if (!string_plain(t, name)) {
			break;
		}
		if (arguments)
			at = arguments_plain(t, p, at, arguments, words, event, big_endian);
		if (!at || at + fxt_event_tails[event] != words || (event == FXT_COUNTER && !arguments))
			break;
		if (event == FXT_DURATION_BEGIN || event == FXT_DURATION_END) {
			uint64_t hash = name & FXT_STRING_INLINE ? fxt_hash(inline_name, name & FXT_STRING_INDEX_MAX)
								 : string_hash(t, name);
			if (!duration_plain(thread->track, event, time, x->at + (uint64_t)(p - start), hash))
				break;
		} else if (event == FXT_DURATION_COMPLETE) {
			if (load_u64(p + at * FXT_WORD, big_endian) < time)
				break;
			if (thread->track)
				thread->track->completes = true;
		}
		x->by_event[event]++;
		previous_header = h;
		previous = previous_time = time;
		last = time > last ? time : last;
		x->last_record = (uint64_t)(p - start);
		p += words * FXT_WORD;
		count++;
	}
	if (!count)
		return 0;
	x->last_record += x->at;
	x->previous_header = previous_header;
	x->previous_time = previous_time;
	provider->previous = previous;
	provider->last = last;
	provider->timed += count;
	provider->records += count;
	x->by_type[FXT_EVENT] += count;
	x->records += count;
	x->at += (uint64_t)(p - start);
	return count;
}

bool fxt_events_run(struct fxt_walk *x)
{
	/* Two copies of the loop, each with its byte order built in. */
	return (x->decoder.big_endian ? events_run(x, true) : events_run(x, false)) > 0;
}
