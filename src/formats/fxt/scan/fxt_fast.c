/* The fast path: runs of plain events, which are nearly all of most traces, and plain string records between them. An event is
 * plain when its thread is known, its strings are registered or printable ASCII, its size is that of its content, and no rule
 * applies to it. It is then taken into account here, from the bytes of the window; any other record ends the run and is left to
 * the walk. Both must report the same: see the contract at the end.
 *
 * Headers have most of the information, and repeat: each is examined once, and the result is kept (struct fxt_shape). */
#include "core/inline.h"
#include "formats/fxt/scan/fxt_hash.h"
#include "formats/fxt/scan/fxt_walk.h"

/* Flags of the references of an event's header. */
#define TEXTS ((uint64_t)FXT_STRING_INLINE << 32 | (uint64_t)FXT_STRING_INLINE << 48)

/* A string index that is registered. *used keeps FXT_USED when it is known to be used, too. */
static ALWAYS_INLINE bool string_plain(const struct fxt_tables *t, uint64_t index, unsigned *used)
{
	unsigned state = fxt_string_state(t, (uint32_t)index);
	*used &= state;
	return state & FXT_REGISTERED;
}

static ALWAYS_INLINE uint64_t string_hash(const struct fxt_tables *t, uint64_t index)
{
	return t->pages[index / FXT_PAGE]->hash[index % FXT_PAGE];
}

static NEVER_INLINE bool words_plain_long(const uint8_t *text, uint64_t length)
{
	return fxt_text_is_plain(text, length);
}

/* Whether inline text is plain: printable ASCII, and the unused bytes of its last word are zero. All words are in the window;
 * mostly it is one. */
static ALWAYS_INLINE bool words_plain(const uint8_t *text, unsigned words, uint64_t ref)
{
	if (__builtin_expect(words > 1, 0))
		return words_plain_long(text, ref & FXT_STRING_INDEX_MAX);
	const uint64_t w = load_u64(text, false), unused = fxt_unused_bytes[ref % FXT_WORD];
	return !(fxt_word_not_ascii(w | (UINT64_C(0x2020202020202020) & unused)) | (w & unused));
}

static NEVER_INLINE uint64_t words_hash_long(const uint8_t *text, uint64_t length)
{
	return fxt_hash_padded(text, length);
}

static ALWAYS_INLINE uint64_t words_hash(const uint8_t *text, unsigned words, uint64_t ref)
{
	if (__builtin_expect(words > 1, 0))
		return words_hash_long(text, ref & FXT_STRING_INDEX_MAX);
	uint64_t h = fxt_hash_mix((ref & FXT_STRING_INDEX_MAX) * FXT_HASH_SEED, load_u64(text, false));
	return h ? h : 1;
}

/* Words of inline text; 0: it is not inline, or is left to the slower functions. */
static unsigned words_short(uint64_t ref)
{
	uint64_t words = ref & FXT_STRING_INLINE ? ((ref & FXT_STRING_INDEX_MAX) + FXT_WORD - 1) / FXT_WORD : 0;
	return words <= UINT8_MAX ? (unsigned)words : 0;
}

/* Where inline text of any length ends. NULL: it is not plain, or continues behind `end`. */
static ALWAYS_INLINE const uint8_t *inline_plain(const uint8_t *text, const uint8_t *end, uint64_t ref)
{
	uint64_t length = ref & FXT_STRING_INDEX_MAX, size = (length + FXT_WORD - 1) & ~(uint64_t)(FXT_WORD - 1);
	bool fits = length && length <= FXT_STRING_BYTES_ADVISED && size <= (uint64_t)(end - text);
	return fits && fxt_text_is_plain(text, length) ? text + size : NULL;
}

/* ---- arguments ---- */

/* Types of arguments that can be plain; and those that a counter may have, without double, whose value may be not a number. */
#define TYPES_PLAIN ((1u << FXT_ARG_BLOB) - 1)
#define TYPES_COUNTED (1u << FXT_ARG_INT32 | 1u << FXT_ARG_UINT32 | 1u << FXT_ARG_INT64 | 1u << FXT_ARG_UINT64)

/* Looks the lower half of an argument's header up: type, size, name. NULL: it is not plain, or its name is long, or it is the
 * first to use its name. */
static NEVER_INLINE struct fxt_argument_shape *argument_shape_make(struct fxt_walk *w, uint64_t h)
{
	const struct fxt_tables *t = w->registry.provider->tables;
	uint64_t name = fxt_bits(h, 16, 16);
	unsigned type = (unsigned)(h & 15), used = FXT_USED, words = words_short(name);
	const struct fxt_argument_layout *layout = &fxt_argument_layouts[type];
	if (!(TYPES_PLAIN >> type & 1) || fxt_bits(h, 4, 12) != layout->words + words)
		return NULL;
	if (name & FXT_STRING_INLINE ? !words : !name || !string_plain(t, name, &used) || !used)
		return NULL;
	struct fxt_argument_shape *shape = fxt_argument_shape_of(&w->fast, (uint32_t)h);
	*shape = (struct fxt_argument_shape){
		.header = (uint32_t)h,
		.version = w->registry.provider->version,
		.name = words ? 0 : string_hash(t, name),
		.size = (uint16_t)((layout->words + words) * FXT_WORD),
		.words = (uint8_t)words,
		.reserved = layout->reserved,
		.string = type == FXT_ARG_STRING,
	};
	if (shape->string)
		shape->reserved |= (uint64_t)FXT_STRING_INLINE << 32;
	return shape;
}

/* A plain argument of any kind. What follows it, or NULL, and the hash of its name. */
static NEVER_INLINE const uint8_t *argument_slow(const struct fxt_tables *t, const uint8_t *p, const uint8_t *end, uint64_t h,
						 uint64_t *hash, unsigned *used)
{
	uint64_t size = fxt_bits(h, 4, 12) * FXT_WORD, name = fxt_bits(h, 16, 16), value = fxt_bits(h, 32, 16);
	unsigned type = (unsigned)(h & 15);
	const struct fxt_argument_layout *layout = &fxt_argument_layouts[type];
	if (!(TYPES_PLAIN >> type & 1) || h & layout->reserved || size < FXT_WORD || size > (uint64_t)(end - p))
		return NULL;
	end = p + size;
	p += FXT_WORD;
	if (name & FXT_STRING_INLINE) {
		const uint8_t *text = p;
		p = inline_plain(text, end, name);
		if (!p)
			return NULL;
		*hash = fxt_hash_padded(text, name & FXT_STRING_INDEX_MAX);
	} else {
		if (!name || !string_plain(t, name, used))
			return NULL;
		*hash = string_hash(t, name);
	}
	if (type == FXT_ARG_STRING && value & FXT_STRING_INLINE)
		p = inline_plain(p, end, value);
	else if (type == FXT_ARG_STRING && !string_plain(t, value, used))
		return NULL;
	return p && (uint64_t)(end - p) == (layout->words - 1u) * FXT_WORD ? end : NULL;
}

/* Where a plain argument ends. NULL: it is not plain, or of none of the `types`. hash: of its name, where that is not NULL. */
static ALWAYS_INLINE const uint8_t *argument_plain(struct fxt_walk *w, const struct fxt_tables *t, const uint8_t *p,
						   const uint8_t *end, unsigned types, uint64_t version, unsigned *used,
						   uint64_t *hash, const bool big_endian)
{
	if (p == end)
		return NULL;
	uint64_t h = load_u64(p, big_endian);
	struct fxt_argument_shape *shape = fxt_argument_shape_of(&w->fast, (uint32_t)h);
	if (!(types >> (h & 15) & 1))
		return NULL;
	if (shape->header != (uint32_t)h || shape->version != version)
		shape = argument_shape_make(w, h);
	if (shape && !(h & shape->reserved)) {
		if (shape->size > end - p || (shape->words && !words_plain(p + FXT_WORD, shape->words, h >> 16)) ||
		    (shape->string && !string_plain(t, fxt_bits(h, 32, 16), used)))
			return NULL;
		if (hash)
			*hash = shape->words ? words_hash(p + FXT_WORD, shape->words, h >> 16) : shape->name;
		p += shape->size;
	} else {
		uint64_t unasked;
		p = argument_slow(t, p, end, h, hash ? hash : &unasked, used);
		if (!p)
			return NULL;
	}
	return fxt_integer_fits_32((unsigned)(h & 15), load_u64(p - FXT_WORD, big_endian)) ? NULL : p;
}

/* Where several arguments end. NULL: they are not plain, or two have the same name. */
static NEVER_INLINE const uint8_t *arguments_plain(struct fxt_walk *w, const struct fxt_tables *t, const uint8_t *p,
						   const uint8_t *end, const struct fxt_shape *shape, unsigned *used,
						   bool big_endian)
{
	uint64_t hashes[FXT_ARGUMENTS_MAX];
	const uint64_t version = shape->version;
	for (unsigned n = 0; p && n < shape->arguments; n++) {
		p = argument_plain(w, t, p, end, shape->types, version, used, &hashes[n], big_endian);
		/* Two references may be of the same name. */
		for (unsigned k = 0; p && k < n; k++)
			if (hashes[k] == hashes[n])
				return NULL;
	}
	return p;
}

/* ---- headers ---- */

/* Examines a header, by its key, and keeps the result. NULL: no such event is plain. */
static NEVER_INLINE struct fxt_shape *shape_make(struct fxt_walk *w, uint64_t key)
{
	const struct fxt_tables *t = w->registry.provider->tables;
	const uint64_t ref = fxt_bits(key, 24, 8);
	const struct fxt_thread_entry *thread = &t->threads[ref];
	unsigned event = (unsigned)fxt_bits(key, 16, 4), arguments = (unsigned)fxt_bits(key, 20, 4);
	unsigned used = ref ? thread->state : FXT_USED;
	uint64_t refs[2] = { fxt_bits(key, 32, 16), key >> 48 };

	if ((key & 15) != FXT_EVENT || event >= FXT_EVENT_TYPES || (ref && !(thread->state & FXT_REGISTERED)) ||
	    (event == FXT_COUNTER && !arguments) || (event > FXT_DURATION_COMPLETE && ref && !thread->track))
		return NULL;
	struct fxt_shape made = {
		.key = key,
		.version = w->registry.provider->version,
		.track = ref ? thread->track : NULL,
		.event = (uint8_t)event,
		.arguments = (uint8_t)arguments,
		.tail = (uint8_t)(fxt_event_tails[event] * FXT_WORD),
		.types = event == FXT_COUNTER ? TYPES_COUNTED : TYPES_PLAIN,
	};
	for (unsigned i = 0; i < 2; i++) {
		made.words[i] = (uint8_t)words_short(refs[i]);
		if (refs[i] & FXT_STRING_INLINE ? !made.words[i] : !string_plain(t, refs[i], &used))
			return NULL;
	}
	if (!made.words[1])
		made.name = string_hash(t, refs[1]);
	made.used = (uint8_t)used;
	uint64_t least = 2u + (ref ? 0 : 2) + made.words[0] + made.words[1] + arguments + fxt_event_tails[event];
	if (arguments ? fxt_size(key) < least : fxt_size(key) != least)
		return NULL;
	struct fxt_shape *shape = fxt_shape_of(&w->fast, key);
	*shape = made;
	return shape;
}

/* Marks what a plain event refers to as used. */
static NEVER_INLINE void mark_used(struct fxt_tables *t, struct fxt_shape *shape, uint64_t h, const uint8_t *arguments,
				   bool big_endian)
{
	uint64_t refs[2 + 2 * FXT_ARGUMENTS_MAX] = { fxt_bits(h, 32, 16), h >> 48 };
	unsigned count = 2;
	for (uint64_t n = shape->arguments; n; n--) {
		uint64_t a = load_u64(arguments, big_endian);
		refs[count++] = fxt_bits(a, 16, 16);
		if ((a & 15) == FXT_ARG_STRING)
			refs[count++] = fxt_bits(a, 32, 16);
		arguments += fxt_bits(a, 4, 12) * FXT_WORD;
	}
	for (unsigned i = 0; i < count; i++)
		/* Index 0 is always used, and in a page that all providers share. */
		if (refs[i] && !(refs[i] & FXT_STRING_INLINE))
			t->pages[refs[i] / FXT_PAGE]->state[refs[i] % FXT_PAGE] |= FXT_USED;
	if (fxt_bits(h, 24, 8))
		t->threads[fxt_bits(h, 24, 8)].state |= FXT_USED;
	shape->used |= FXT_USED;
}

/* ---- events ---- */

/* Takes a begin or an end that comes in order of time and needs no memory. */
static ALWAYS_INLINE bool duration_plain(struct fxt_thread *track, unsigned event, uint64_t time, uint64_t offset, uint64_t name)
{
	if (!track)
		return true; /* too many threads: noted already */
	if (!track->steady)
		return track->given_up && !track->fresh; /* not tracked any more: noted already */
	if (time < track->newest)
		return false;
	uint32_t depth = track->depth;
	if (event == FXT_DURATION_BEGIN) {
		if (depth >= track->open_capacity)
			return false;
		track->open[depth] = (struct fxt_open){ time, offset, name };
		track->depth = depth + 1;
	} else {
		if (!depth || (name && track->open[depth - 1].name != name))
			return false;
		track->depth = depth - 1;
	}
	track->newest = time;
	return true;
}

/* Inline koids, where they are not known. NULL: they are not plain, or the thread is new. The walk notes the first wide koid. */
static NEVER_INLINE const struct fxt_koids *koids_make(struct fxt_walk *w, uint64_t process, uint64_t thread)
{
	unsigned wide = fxt_koid_is_wide(process) + (unsigned)fxt_koid_is_wide(thread);
	if ((wide && !w->report.tallies[FXT_RULE_koid_exceeds_32_bits].count) || fxt_thread_is_unknown(process, thread))
		return NULL;
	struct fxt_thread *track = fxt_nesting_find(&w->nesting, process, thread);
	struct fxt_koids *known = fxt_koids_of(&w->fast, thread);
	if (track)
		*known = (struct fxt_koids){ process, thread, track, wide };
	return track ? known : NULL;
}

static ALWAYS_INLINE const struct fxt_koids *koids_plain(struct fxt_walk *w, uint64_t process, uint64_t thread)
{
	const struct fxt_koids *known = fxt_koids_of(&w->fast, thread);
	return known->track && known->thread == thread && known->process == process ? known : koids_make(w, process, thread);
}

/* One event in the loop. */
struct event {
	uint64_t h, time, at;
	const struct fxt_shape *shape;
	const uint8_t *text, *arguments; /* text: of an inline name, behind that of an inline category */
	struct fxt_thread *track;
	uint64_t name; /* hash; of an inline one only when it is needed */
	unsigned used;
	uint64_t records; /* accepted before it */
	uint64_t wide, wide_before,
		wide_at; /* wide koids of the run; and without the event at wide_at, the last one that has some */
};

/* Finds the parts of an event up to its arguments. False: its thread, its category or its name is not plain. last_category: of the
 * event before. */
static ALWAYS_INLINE bool event_parts(struct fxt_walk *w, const struct fxt_tables *t, struct event *e, const uint8_t *p,
				      uint64_t *last_category, const bool big_endian)
{
	const struct fxt_shape *shape = e->shape;

	e->text = e->arguments = p + 2 * FXT_WORD;
	e->track = shape->track;
	e->used = shape->used;
	if (__builtin_expect(!fxt_bits(e->h, 24, 8), 0)) {
		const struct fxt_koids *koids = koids_plain(w, load_u64(e->text, big_endian),
							    load_u64(e->text + FXT_WORD, big_endian));
		e->text = e->arguments = p + 4 * FXT_WORD;
		if (!koids)
			return false;
		e->track = koids->track;
		e->wide_before = e->wide;
		e->wide += koids->wide;
		e->wide_at = e->at;
	}
	if (e->h & TEXTS) {
		if (shape->words[0] && !words_plain(e->text, shape->words[0], e->h >> 32))
			return false;
		e->text += shape->words[0] * FXT_WORD;
		if (shape->words[1] && !words_plain(e->text, shape->words[1], e->h >> 48))
			return false;
		e->arguments = e->text + shape->words[1] * FXT_WORD;
		e->name = shape->name;
		return true;
	}
	uint64_t category = fxt_bits(e->h, 32, 16), index = e->h >> 48;
	if (category != *last_category && !string_plain(t, category, &e->used))
		return false;
	const struct fxt_string_page *page = t->pages[index / FXT_PAGE];
	const unsigned state = page->state[index % FXT_PAGE];
	e->used &= state;
	e->name = page->hash[index % FXT_PAGE];
	*last_category = category;
	return state & FXT_REGISTERED;
}

/* Async operations and flows are tracked by the functions of the walk. text: of the inline name, behind that of the category. */
static NEVER_INLINE bool event_operation(struct fxt_walk *w, const struct fxt_shape *shape, uint64_t h, uint64_t time, uint64_t at,
					 const uint8_t *text, struct fxt_thread *track, uint64_t id)
{
	const struct fxt_tables *t = w->registry.provider->tables;
	const uint64_t last = w->registry.provider->last, latest = time > last ? time : last;

	if (shape->event >= FXT_FLOW_BEGIN) {
		fxt_flow(&w->operations, shape->event, id, time, latest, at, track);
		return w->report.status == TM_OK;
	}
	const uint8_t *first = text - shape->words[0] * FXT_WORD;
	const uint64_t category = shape->words[0] ? words_hash(first, shape->words[0], h >> 32)
						  : string_hash(t, fxt_bits(h, 32, 16));
	const uint64_t name = shape->words[1] ? words_hash(text, shape->words[1], h >> 48) : string_hash(t, h >> 48);
	fxt_async(&w->operations, shape->event, (const uint64_t[4]){ track->process, category, name, id }, time, latest, at);
	return w->report.status == TM_OK;
}

/* Tracks the durations, operations and flows of a plain event. False: a rule may apply, or memory is needed; nothing is changed
 * then. */
static ALWAYS_INLINE bool event_meaning(struct fxt_walk *w, struct event *e, const uint8_t *next, const bool big_endian)
{
	const struct fxt_shape *shape = e->shape;
	const unsigned event = shape->event;

	/* Not a switch: a jump table is mispredicted more often than these branches. */
	if (event == FXT_DURATION_BEGIN || event == FXT_DURATION_END) {
		if (shape->words[1])
			e->name = words_hash(e->text, shape->words[1], e->h >> 48);
		return duration_plain(e->track, event, e->time, e->at, e->name);
	}
	if (event == FXT_DURATION_COMPLETE) {
		if (load_u64(next - FXT_WORD, big_endian) < e->time)
			return false;
		if (e->track)
			e->track->completes = true;
	} else if (event > FXT_DURATION_COMPLETE) {
		w->report.here.records = e->records;
		return event_operation(w, shape, e->h, e->time, e->at, e->text, e->track, load_u64(next - FXT_WORD, big_endian));
	}
	return true;
}

/* The highest timestamp that cannot be an overflow or an outlier: a lower bound for all events of the run. */
static uint64_t highest_plain(const struct fxt_provider *provider)
{
	uint64_t previous = provider->previous, step = provider->step_max;
	uint64_t highest = step < UINT64_MAX - previous ? previous + step : UINT64_MAX;
	return highest > provider->tick_limit ? provider->tick_limit : highest;
}

static ALWAYS_INLINE bool events_run(struct fxt_walk *w, const bool big_endian)
{
	struct fxt_position *here = &w->report.here;
	struct fxt_provider *provider = w->registry.provider;
	struct fxt_tables *t = provider->tables;
	const uint8_t *p = w->window.buffer + (here->at - w->window.base), *end = w->window.buffer + w->window.length;
	const uint64_t version = provider->version, before = here->records, highest = highest_plain(provider);
	uint64_t previous = provider->previous, header = w->previous.header, last_category = 0;
	struct event e = { .at = here->at, .records = before, .wide_at = UINT64_MAX };

	/* From the second event on, the one before is of this provider. */
	if (!provider->timed || (end - p >= (ptrdiff_t)(2 * FXT_WORD) && load_u64(p, big_endian) == header &&
				 load_u64(p + FXT_WORD, big_endian) == w->previous.time))
		return false;
	while (end - p >= (ptrdiff_t)(2 * FXT_WORD)) {
		e.h = load_u64(p, big_endian);
		e.time = load_u64(p + FXT_WORD, big_endian);
		uint64_t size = fxt_bits(e.h, 4, 12) * FXT_WORD, key = e.h & TEXTS ? e.h : (uint32_t)e.h;
		struct fxt_shape *shape = fxt_shape_of(&w->fast, key);
		if (shape->key != key || shape->version != version) {
			shape = shape_make(w, key);
			if (!shape)
				break;
		}
		e.shape = shape;
		if (size > (uint64_t)(end - p) || e.time < previous || e.time > highest || !((e.time ^ previous) | (e.h ^ header)))
			break;
		const uint8_t *next = p + size;
		if (!event_parts(w, t, &e, p, &last_category, big_endian))
			break;
		if (shape->arguments) {
			const uint8_t *last = next - shape->tail, *a = e.arguments;
			unsigned used = e.used; /* its address is given away: that of the event would keep it out of registers */
			/* Mostly it is one. */
			a = shape->arguments == 1 ? argument_plain(w, t, a, last, shape->types, version, &used, NULL, big_endian)
						  : arguments_plain(w, t, a, last, shape, &used, big_endian);
			if (a != last)
				break;
			e.used = used;
		}
		/* Whichever path takes it, such an event is accepted. */
		if (!(e.used & FXT_USED))
			mark_used(t, shape, e.h, e.arguments, big_endian);
		if (!event_meaning(w, &e, next, big_endian))
			break;
		w->totals.by_event[shape->event]++;
		here->recent[e.records++ % FXT_RECENT] = e.at;
		header = e.h;
		previous = e.time;
		e.at += size;
		p = next;
	}
	const uint64_t count = e.records - before;
	here->records = e.records;
	if (!count)
		return false;
	w->s->fast += count;
	w->report.tallies[FXT_RULE_koid_exceeds_32_bits].count += e.wide_at == e.at ? e.wide_before : e.wide;
	here->at = e.at;
	w->previous.header = header;
	w->previous.time = provider->previous = previous;
	/* Time did not step back. */
	if (previous > provider->last)
		provider->last = previous;
	provider->timed += count;
	provider->records += count;
	w->totals.by_type[FXT_EVENT] += count;
	return true;
}

static bool events(struct fxt_walk *w)
{
	/* Two copies of the loop, each with a constant byte order. */
	return w->decoder.big_endian ? events_run(w, true) : events_run(w, false);
}

/* ---- strings ---- */

static bool string(struct fxt_walk *w, uint64_t h)
{
	uint64_t index = fxt_bits(h, 16, 16), length = fxt_bits(h, 32, 32), size = fxt_bits(h, 4, 12) * FXT_WORD;
	/* The reserved bits above index and length are part of the values, so that a set bit makes them too large. */
	if (!index || index > FXT_STRING_INDEX_MAX || length - 1 >= FXT_STRING_BYTES_ADVISED ||
	    size != (1 + fxt_words(length)) * FXT_WORD || fxt_string_state(w->registry.provider->tables, (uint32_t)index))
		return false;
	const uint8_t *p = window_at(&w->window, w->report.here.at, (size_t)size);
	if (!p || !fxt_text_is_plain(p + FXT_WORD, length))
		return false;
	fxt_string_register(&w->registry, (uint32_t)index, fxt_hash_padded(p + FXT_WORD, length), w->report.here.at, size);
	w->totals.by_type[FXT_STRING]++;
	w->registry.provider->records++;
	fxt_position_accept(&w->report.here, w->report.here.at);
	w->s->fast++;
	w->report.here.at += size;
	return true;
}

bool fxt_fast_run(struct fxt_walk *w, uint64_t header)
{
	switch (header & 15) {
	case FXT_EVENT:
		return events(w);
	case FXT_STRING:
		return string(w, header);
	default:
		return false;
	}
}

/* ---- the contract ---- */

/* Of events and strings the fast path takes those that are plain in all of this; whatever else it meets it leaves to the walk. A
 * new rule about events, arguments or strings belongs here: test for it in the code above, or in a function that both share. */
/* About records of other types, and about the file. */
#define FAST_missing_magic FAST_ELSEWHERE
#define FAST_magic_not_first FAST_ELSEWHERE
#define FAST_duplicate_magic FAST_ELSEWHERE
#define FAST_bad_magic_size FAST_ELSEWHERE
#define FAST_bad_magic_value FAST_ELSEWHERE
#define FAST_big_endian_trace FAST_ELSEWHERE
#define FAST_file_size_not_multiple_of_8 FAST_ELSEWHERE
#define FAST_zero_filled_tail FAST_ELSEWHERE
#define FAST_zero_word_padding FAST_ELSEWHERE
#define FAST_unknown_record_type FAST_ELSEWHERE
#define FAST_unknown_metadata_type FAST_ELSEWHERE
#define FAST_unknown_trace_info_type FAST_ELSEWHERE
#define FAST_unknown_provider_event FAST_ELSEWHERE
#define FAST_unknown_scheduling_type FAST_ELSEWHERE
#define FAST_unknown_profiler_type FAST_ELSEWHERE
#define FAST_unknown_large_type FAST_ELSEWHERE
#define FAST_unknown_blob_format FAST_ELSEWHERE
#define FAST_unknown_blob_type FAST_ELSEWHERE
#define FAST_blob_size_shifted FAST_ELSEWHERE
#define FAST_large_record_over_4095_words FAST_ELSEWHERE
#define FAST_large_record_over_256k FAST_ELSEWHERE
#define FAST_unnecessary_large_record FAST_ELSEWHERE
#define FAST_filler_blob FAST_ELSEWHERE
#define FAST_nonstandard_inline_thread FAST_ELSEWHERE
#define FAST_thread_index_zero FAST_ELSEWHERE
#define FAST_thread_redefinition FAST_ELSEWHERE
#define FAST_duplicate_provider_info FAST_ELSEWHERE
#define FAST_provider_name_changed FAST_ELSEWHERE
#define FAST_unknown_provider_section FAST_ELSEWHERE
#define FAST_unknown_provider_event_id FAST_ELSEWHERE
#define FAST_provider_name_length_mismatch FAST_ELSEWHERE
#define FAST_buffer_full FAST_ELSEWHERE
#define FAST_zero_tick_rate FAST_ELSEWHERE
#define FAST_implausible_tick_rate FAST_ELSEWHERE
#define FAST_thread_object_without_process FAST_ELSEWHERE
#define FAST_process_argument_wrong_type FAST_ELSEWHERE
#define FAST_unknown_object_type FAST_ELSEWHERE
#define FAST_invalid_thread_state FAST_ELSEWHERE
#define FAST_outgoing_state_running FAST_ELSEWHERE
#define FAST_cpu_number_implausible FAST_ELSEWHERE
#define FAST_weight_argument_wrong_type FAST_ELSEWHERE
#define FAST_context_switch_order FAST_ELSEWHERE
#define FAST_blob_name_type_mix FAST_ELSEWHERE
#define FAST_perfetto_blob_invalid FAST_ELSEWHERE

/* Judged from what the walk and the fast path keep in the same way. */
#define FAST_no_events FAST_KEEPS	      /* counts by type */
#define FAST_unused_string FAST_KEEPS	      /* marks what is referred to */
#define FAST_unused_thread FAST_KEEPS	      /* the same */
#define FAST_late_initialization FAST_KEEPS   /* counts timestamps */
#define FAST_unclosed_duration FAST_KEEPS     /* keeps the list of open durations */
#define FAST_unmatched_async_begin FAST_KEEPS /* fxt_async() judges */
#define FAST_unmatched_async_end FAST_KEEPS   /* the same */
#define FAST_async_instant_outside FAST_KEEPS /* the same */
#define FAST_unmatched_flow_begin FAST_KEEPS  /* fxt_flow() judges */
#define FAST_flow_without_begin FAST_KEEPS    /* the same */
#define FAST_koid_exceeds_32_bits FAST_KEEPS  /* counts further ones of an inline thread, the first is left to the walk */
#define FAST_flow_id_reused FAST_KEEPS	      /* the same */
#define FAST_flow_outside_duration FAST_KEEPS /* the same */
#define FAST_semantic_bound_reached \
	FAST_KEEPS /* fxt_async() and fxt_flow() judge; a list of durations that is full is left to the walk */

/* A record that has it is not plain. */
#define FAST_truncated_record FAST_LEAVES /* the record is whole in the window */
#define FAST_mixed_endianness FAST_LEAVES /* arguments that do not decode */
#define FAST_record_size_zero FAST_LEAVES /* the size is that of the content */
#define FAST_record_size_too_small FAST_LEAVES
#define FAST_record_content_overrun FAST_LEAVES
#define FAST_record_past_end FAST_LEAVES
#define FAST_swallowed_records FAST_LEAVES  /* the same; and nothing in it can be anything */
#define FAST_misaligned_records FAST_LEAVES /* the next record begins where this one ends, and is checked in its turn */
#define FAST_unreadable_bytes FAST_LEAVES
#define FAST_record_trailing_words FAST_LEAVES
#define FAST_known_extension FAST_LEAVES /* its word makes the record longer than its content */
#define FAST_reserved_bits_set FAST_LEAVES
#define FAST_unknown_event_type FAST_LEAVES
#define FAST_unknown_argument_type FAST_LEAVES
#define FAST_newer_feature FAST_LEAVES	 /* blob arguments */
#define FAST_nonzero_padding FAST_LEAVES /* texts are printable ASCII, and padded with zeros */
#define FAST_invalid_utf8 FAST_LEAVES
#define FAST_string_too_long FAST_LEAVES
#define FAST_embedded_nul FAST_LEAVES
#define FAST_control_character_in_string FAST_LEAVES
#define FAST_string_index_zero FAST_LEAVES
#define FAST_string_flag_bit_set FAST_LEAVES
#define FAST_empty_string_record FAST_LEAVES
#define FAST_zero_length_inline_string FAST_LEAVES
#define FAST_string_redefinition FAST_LEAVES /* only indexes that are new */
#define FAST_duplicate_string_registration FAST_LEAVES
#define FAST_dangling_string_ref FAST_LEAVES /* references are registered */
#define FAST_forward_string_ref FAST_LEAVES  /* the same; a string that is missed is registered by the walk */
#define FAST_cross_provider_string_ref FAST_LEAVES
#define FAST_dangling_thread_ref FAST_LEAVES /* the thread is registered */
#define FAST_forward_thread_ref FAST_LEAVES
#define FAST_cross_provider_thread_ref FAST_LEAVES
#define FAST_unknown_inline_thread FAST_LEAVES	/* fxt_thread_is_unknown() */
#define FAST_missing_initialization FAST_LEAVES /* the first timestamp of a provider */
#define FAST_initialization_in_other_context FAST_LEAVES
#define FAST_timestamp_overflow FAST_LEAVES	/* highest_plain() */
#define FAST_unmatched_duration_end FAST_LEAVES /* an end without a begin */
#define FAST_duration_end_name_mismatch FAST_LEAVES
#define FAST_complete_end_before_start FAST_LEAVES
#define FAST_counter_without_arguments FAST_LEAVES
#define FAST_counter_non_numeric FAST_LEAVES
#define FAST_counter_nan FAST_LEAVES		  /* doubles of counters */
#define FAST_non_monotonic_timestamps FAST_LEAVES /* a timestamp before that of the event before */
#define FAST_timestamp_outlier FAST_LEAVES	  /* highest_plain() */
#define FAST_suspicious_repeat FAST_LEAVES	  /* equal header and time */
#define FAST_duplicate_argument_name FAST_LEAVES
#define FAST_empty_argument_name FAST_LEAVES
#define FAST_bool_value_bits FAST_LEAVES
#define FAST_argument_size_zero FAST_LEAVES
#define FAST_argument_overrun FAST_LEAVES
#define FAST_argument_trailing_words FAST_LEAVES
#define FAST_argument_count_mismatch FAST_LEAVES
#define FAST_wide_integer_not_needed FAST_LEAVES /* fxt_integer_fits_32() */

const uint8_t fxt_fast_contract[FXT_RULE_COUNT] = {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) [FXT_RULE_##sym] = FAST_##sym,
#include "formats/fxt/fxt_rules.def"
#undef RULE
};
