/* Runs of plain events: nearly all of any trace. An event is plain when its thread is registered, its strings are, too,
 * or are printable ASCII, its size is that of its content, and nothing about it is worth a finding. It is then taken
 * into account right here, from the bytes of the window; anything else ends the run, and the general road decides. Both
 * must come to the same verdict.
 *
 * Headers say nearly everything, and repeat: what one says but for its strings is looked up once (struct fxt_shape).
 * Plain string records, which stand between the events that need them, are registered here as well. */
#include "formats/fxt/scan/fxt_hash.h"
#include "formats/fxt/scan/fxt_walk.h"

#define ALWAYS static inline __attribute__((always_inline))
/* Rare enough to stay out of a loop that needs its registers. */
#define ASIDE static __attribute__((noinline))

/* Flags of the references of an event's header. */
#define TEXTS ((uint64_t)FXT_STRING_INLINE << 32 | (uint64_t)FXT_STRING_INLINE << 48)

/* A string index that is registered. *used keeps FXT_USED when it is known to be used, too. */
ALWAYS bool string_plain(const struct fxt_tables *t, uint64_t index, unsigned *used)
{
	unsigned state = fxt_string_state(t, (uint32_t)index);
	*used &= state;
	return state & FXT_REGISTERED;
}

ALWAYS uint64_t string_hash(const struct fxt_tables *t, uint64_t index)
{
	return t->pages[index / FXT_PAGE]->hash[index % FXT_PAGE];
}

ASIDE bool words_plain_long(const uint8_t *text, uint64_t length)
{
	return fxt_text_is_plain(text, length);
}

/* Whether nothing is to be said of inline text: it is printable ASCII, and the unused bytes of its last word are zero. All words
 * are there; mostly they are one. */
ALWAYS bool words_plain(const uint8_t *text, unsigned words, uint64_t ref)
{
	if (__builtin_expect(words > 1, 0))
		return words_plain_long(text, ref & FXT_STRING_INDEX_MAX);
	const uint64_t w = load_u64(text, false), unused = fxt_unused_bytes[ref % FXT_WORD];
	return !(fxt_word_strangeness(w | (UINT64_C(0x2020202020202020) & unused)) | (w & unused));
}

ASIDE uint64_t words_hash_long(const uint8_t *text, uint64_t length)
{
	return fxt_hash_padded(text, length);
}

ALWAYS uint64_t words_hash(const uint8_t *text, unsigned words, uint64_t ref)
{
	if (__builtin_expect(words > 1, 0))
		return words_hash_long(text, ref & FXT_STRING_INDEX_MAX);
	uint64_t h = fxt_hash_mix((ref & FXT_STRING_INDEX_MAX) * FXT_HASH_SEED, load_u64(text, false));
	return h ? h : 1;
}

/* Words that inline text takes; 0: it is none, or is worth a finding or a longer look. */
static unsigned words_short(uint64_t ref)
{
	uint64_t words = ref & FXT_STRING_INLINE ? ((ref & FXT_STRING_INDEX_MAX) + FXT_WORD - 1) / FXT_WORD : 0;
	return words <= UINT8_MAX ? (unsigned)words : 0;
}

/* The same of a text of any length: what follows it. NULL: there is something, or it goes on behind `end`. */
ALWAYS const uint8_t *inline_plain(const uint8_t *text, const uint8_t *end, uint64_t ref)
{
	uint64_t length = ref & FXT_STRING_INDEX_MAX, size = (length + FXT_WORD - 1) & ~(uint64_t)(FXT_WORD - 1);
	bool fits = length && length <= FXT_STRING_BYTES_ADVISED && size <= (uint64_t)(end - text);
	return fits && fxt_text_is_plain(text, length) ? text + size : NULL;
}

/* ---- arguments ---- */

/* Types of values that are plain, as far as their header goes; and those that a counter may have, less double, which may be
 * no number. */
#define TYPES_PLAIN ((1u << FXT_ARG_BLOB) - 1)
#define TYPES_COUNTED (1u << FXT_ARG_INT32 | 1u << FXT_ARG_UINT32 | 1u << FXT_ARG_INT64 | 1u << FXT_ARG_UINT64)

/* Looks the lower half of an argument's header up: type, size, name. NULL: it is not plain, or its name is long, or it is the
 * first to use its name. */
ASIDE struct fxt_argument_shape *argument_shape_make(struct fxt_walk *w, uint64_t h)
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
ASIDE const uint8_t *argument_aside(const struct fxt_tables *t, const uint8_t *p, const uint8_t *end, uint64_t h, uint64_t *hash,
				    unsigned *used)
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

/* Where the arguments of a plain event end. NULL: they are not plain, or one is of none of the `types`. */
ALWAYS const uint8_t *arguments_plain(struct fxt_walk *w, const struct fxt_tables *t, const uint8_t *p, const uint8_t *end,
				      unsigned count, unsigned types, unsigned *all_used, const bool big_endian)
{
	uint64_t hashes[FXT_ARGUMENTS_MAX];
	const uint64_t version = w->registry.provider->version;
	unsigned used = *all_used;
	for (unsigned n = 0; n < count; n++) {
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
			    (shape->string && !string_plain(t, fxt_bits(h, 32, 16), &used)))
				return NULL;
			/* Only names of several are compared. */
			if (count > 1)
				hashes[n] = shape->words ? words_hash(p + FXT_WORD, shape->words, h >> 16) : shape->name;
			p += shape->size;
		} else {
			p = argument_aside(t, p, end, h, &hashes[n], &used);
			if (!p)
				return NULL;
		}
		/* Two references may stand for the same name. */
		for (unsigned k = 0; k < n; k++)
			if (hashes[k] == hashes[n])
				return NULL;
		/* A number that fits 32 bits is worth a note. */
		if (((h & 15) == FXT_ARG_INT64 || (h & 15) == FXT_ARG_UINT64) &&
		    load_u64(p - FXT_WORD, big_endian) + UINT64_C(0x80000000) <= UINT64_C(0x17fffffff))
			return NULL;
	}
	*all_used = used;
	return p;
}

/* ---- headers ---- */

/* Looks up what a header says, by its key. NULL: no such event is plain. */
ASIDE struct fxt_shape *shape_make(struct fxt_walk *w, uint64_t key)
{
	const struct fxt_tables *t = w->registry.provider->tables;
	const struct fxt_thread_entry *thread = &t->threads[fxt_bits(key, 24, 8)];
	unsigned event = (unsigned)fxt_bits(key, 16, 4), arguments = (unsigned)fxt_bits(key, 20, 4), used = thread->state;
	uint64_t refs[2] = { fxt_bits(key, 32, 16), key >> 48 };

	if ((key & 15) != FXT_EVENT || event > FXT_DURATION_COMPLETE || !(thread->state & FXT_REGISTERED) ||
	    (event == FXT_COUNTER && !arguments))
		return NULL;
	struct fxt_shape made = {
		.key = key,
		.version = w->registry.provider->version,
		.track = thread->track,
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
	uint64_t least = 2u + made.words[0] + made.words[1] + arguments + fxt_event_tails[event];
	if (arguments ? fxt_size(key) < least : fxt_size(key) != least)
		return NULL;
	struct fxt_shape *shape = fxt_shape_of(&w->fast, key);
	*shape = made;
	return shape;
}

/* Marks what a plain event refers to as used. */
ASIDE void mark_used(struct fxt_tables *t, struct fxt_shape *shape, uint64_t h, const uint8_t *arguments, bool big_endian)
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
		/* Index 0 is used by birth, and in a page that all share. */
		if (refs[i] && !(refs[i] & FXT_STRING_INLINE))
			t->pages[refs[i] / FXT_PAGE]->state[refs[i] % FXT_PAGE] |= FXT_USED;
	t->threads[fxt_bits(h, 24, 8)].state |= FXT_USED;
	shape->used |= FXT_USED;
}

/* ---- events ---- */

/* Takes a begin or an end that comes in order of time and needs no memory. */
ALWAYS bool duration_plain(struct fxt_thread *track, unsigned event, uint64_t time, uint64_t offset, uint64_t name)
{
	if (!track)
		return true; /* too many threads: said already */
	if (!track->steady)
		return track->lost && !track->fresh; /* too late an event, or too many: said already */
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

ALWAYS bool events_run(struct fxt_walk *w, const bool big_endian)
{
	const uint8_t *p = w->window.buffer + (w->report.here.at - w->window.base), *end = w->window.buffer + w->window.length;
	struct fxt_provider *provider = w->registry.provider;
	struct fxt_tables *t = provider->tables;
	const uint64_t version = provider->version, records = w->report.here.records;
	uint64_t previous = provider->previous, at = w->report.here.at, last_category = 0;
	/* Beyond this a timestamp is too high, or is one to look at; a lower bound than that of each event by itself. */
	uint64_t highest = provider->step_max < UINT64_MAX - previous ? previous + provider->step_max : UINT64_MAX;
	if (highest > provider->tick_limit)
		highest = provider->tick_limit;

	/* From the second event on, the one before is of this provider. */
	if (!provider->timed || (end - p >= (ptrdiff_t)(2 * FXT_WORD) && load_u64(p, big_endian) == w->previous.header &&
				 load_u64(p + FXT_WORD, big_endian) == w->previous.time))
		return false;
	while (end - p >= (ptrdiff_t)(2 * FXT_WORD)) {
		uint64_t h = load_u64(p, big_endian), time = load_u64(p + FXT_WORD, big_endian);
		uint64_t size = fxt_bits(h, 4, 12) * FXT_WORD;
		uint64_t texts = h & TEXTS, key = texts ? h : (uint32_t)h, name;
		struct fxt_shape *shape = fxt_shape_of(&w->fast, key);
		if (shape->key != key || shape->version != version) {
			shape = shape_make(w, key);
			if (!shape)
				break;
		}
		if (size > (uint64_t)(end - p) || time < previous || time > highest ||
		    !((time ^ previous) | (h ^ w->previous.header)))
			break;
		const uint8_t *next = p + size, *text = p + 2 * FXT_WORD, *arguments = text;
		unsigned event = shape->event, used = shape->used;
		if (texts) {
			if (shape->words[0] && !words_plain(text, shape->words[0], h >> 32))
				break;
			text += shape->words[0] * FXT_WORD;
			if (shape->words[1] && !words_plain(text, shape->words[1], h >> 48))
				break;
			arguments = text + shape->words[1] * FXT_WORD;
			name = shape->name;
		} else {
			uint64_t category = fxt_bits(h, 32, 16), index = h >> 48;
			if ((category != last_category && !string_plain(t, category, &used)) || !string_plain(t, index, &used))
				break;
			name = string_hash(t, index);
			last_category = category;
		}
		if (shape->arguments && arguments_plain(w, t, arguments, next - shape->tail, shape->arguments, shape->types, &used,
							big_endian) != next - shape->tail)
			break;
		/* Whatever road it takes from here on, such an event is accepted. */
		if (!(used & FXT_USED))
			mark_used(t, shape, h, arguments, big_endian);
		if (event == FXT_DURATION_BEGIN || event == FXT_DURATION_END) {
			if (shape->words[1])
				name = words_hash(text, shape->words[1], h >> 48);
			if (!duration_plain(shape->track, event, time, at, name))
				break;
		} else if (event == FXT_DURATION_COMPLETE) {
			if (load_u64(next - FXT_WORD, big_endian) < time)
				break;
			if (shape->track)
				shape->track->completes = true;
		}
		w->totals.by_event[event]++;
		fxt_position_took(&w->report.here, at);
		w->previous.header = h;
		previous = time;
		at += size;
		p = next;
	}
	uint64_t count = w->report.here.records - records;
	if (!count)
		return false;
	w->s->fast += count;
	w->report.here.at = at;
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
	/* Two copies of the loop, each with its byte order built in. */
	return w->decoder.big_endian ? events_run(w, true) : events_run(w, false);
}

/* ---- strings ---- */

static bool string(struct fxt_walk *w, uint64_t h)
{
	uint64_t index = fxt_bits(h, 16, 16), length = fxt_bits(h, 32, 32), size = fxt_bits(h, 4, 12) * FXT_WORD;
	/* Set bits above the index and above the length make them too large. */
	if (!index || index > FXT_STRING_INDEX_MAX || length - 1 >= FXT_STRING_BYTES_ADVISED ||
	    size != (1 + fxt_words(length)) * FXT_WORD || fxt_string_state(w->registry.provider->tables, (uint32_t)index))
		return false;
	const uint8_t *p = window_at(&w->window, w->report.here.at, (size_t)size);
	if (!p || !fxt_text_is_plain(p + FXT_WORD, length))
		return false;
	(void)fxt_string_register(&w->registry, (uint32_t)index, fxt_hash_padded(p + FXT_WORD, length), w->report.here.at, size);
	w->totals.by_type[FXT_STRING]++;
	w->registry.provider->records++;
	fxt_position_took(&w->report.here, w->report.here.at);
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
