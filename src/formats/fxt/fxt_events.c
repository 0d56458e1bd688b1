/* Runs of plain events: nearly all of any trace. An event is plain when its thread is registered, its strings are, too,
 * or are printable ASCII, its size is that of its content, and nothing about it is worth a finding. It is then taken
 * into account right here, from the bytes of the window; anything else ends the run, and the general road decides. Both
 * must come to the same verdict.
 *
 * A header says nearly everything, and headers repeat: what one says is looked up once and remembered (struct fxt_shape).
 * Plain string records, which stand between the events that need them, are registered here as well. */
#include "fxt_walk.h"

#define ALWAYS static inline __attribute__((always_inline))
/* Rare enough to stay out of a loop that needs its registers. */
#define ASIDE static __attribute__((noinline))

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

/* Inline text that nothing is to be said of: what follows it. NULL: there is something, or it goes on behind `end`. */
ALWAYS const uint8_t *inline_plain(const uint8_t *text, const uint8_t *end, uint64_t ref)
{
	uint64_t length = ref & FXT_STRING_INDEX_MAX, size = (length + FXT_WORD - 1) & ~(uint64_t)(FXT_WORD - 1);
	if (length - 1 >= FXT_STRING_BYTES_ADVISED || size > (uint64_t)(end - text) || !fxt_text_is_plain(text, length))
		return NULL;
	return text + size;
}

/* ---- arguments ---- */

/* Types of values that are plain, as far as their header goes; and those that a counter may have, less double, which may be
 * no number. */
#define TYPES_PLAIN ((1u << FXT_ARG_BLOB) - 1)
#define TYPES_COUNTED (1u << FXT_ARG_INT32 | 1u << FXT_ARG_UINT32 | 1u << FXT_ARG_INT64 | 1u << FXT_ARG_UINT64)

/* Looks the lower half of an argument's header up: type, size, name. NULL: it is not plain, or has inline text, or is the
 * first to use its name. */
ASIDE struct fxt_argument_shape *argument_shape_make(struct fxt_walk *x, uint64_t h)
{
	const struct fxt_tables *t = x->provider->tables;
	uint64_t name = fxt_bits(h, 16, 16);
	unsigned type = (unsigned)(h & 15), used = FXT_USED;
	const struct fxt_argument_layout *layout = &fxt_argument_layouts[type];
	if (!(TYPES_PLAIN >> type & 1) || fxt_bits(h, 4, 12) != layout->words || !name || name & FXT_STRING_INLINE ||
	    !string_plain(t, name, &used) || !used)
		return NULL;
	struct fxt_argument_shape *shape = fxt_argument_shape_of(x, (uint32_t)h);
	*shape = (struct fxt_argument_shape){
		.header = (uint32_t)h, .version = x->provider->version, .name = string_hash(t, name),
		.size = (uint8_t)(layout->words * FXT_WORD), .reserved = layout->reserved,
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
ALWAYS const uint8_t *arguments_plain(struct fxt_walk *x, const struct fxt_tables *t, const uint8_t *p, const uint8_t *end,
				      unsigned count, unsigned types, unsigned *all_used, const bool big_endian)
{
	uint64_t hashes[FXT_ARGUMENTS_MAX];
	const uint64_t version = x->provider->version;
	unsigned used = *all_used;
	for (unsigned n = 0; n < count; n++) {
		if (p == end)
			return NULL;
		uint64_t h = load_u64(p, big_endian);
		struct fxt_argument_shape *shape = fxt_argument_shape_of(x, (uint32_t)h);
		if (shape->header != (uint32_t)h || shape->version != version)
			shape = argument_shape_make(x, h);
		if (!(types >> (h & 15) & 1))
			return NULL;
		if (shape && !(h & shape->reserved)) {
			if (shape->size > end - p || (shape->string && !string_plain(t, fxt_bits(h, 32, 16), &used)))
				return NULL;
			hashes[n] = shape->name;
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

/* Looks a header up, of a provider that has that version of its tables. NULL: no such event is plain. */
ASIDE struct fxt_shape *shape_make(struct fxt_walk *x, uint64_t h)
{
	const struct fxt_tables *t = x->provider->tables;
	const struct fxt_thread_entry *thread = &t->threads[fxt_bits(h, 24, 8)];
	uint64_t category = fxt_bits(h, 32, 16), name = h >> 48;
	unsigned event = (unsigned)fxt_bits(h, 16, 4), used = thread->state;

	if ((h & 15) != FXT_EVENT || fxt_size(h) < 2 || event > FXT_DURATION_COMPLETE || !(thread->state & FXT_REGISTERED) ||
	    (event == FXT_COUNTER && !fxt_bits(h, 20, 4)))
		return NULL;
	if ((!(category & FXT_STRING_INLINE) && !string_plain(t, category, &used)) ||
	    (!(name & FXT_STRING_INLINE) && !string_plain(t, name, &used)))
		return NULL;
	struct fxt_shape *shape = fxt_shape_of(x, h);
	*shape = (struct fxt_shape){
		.header = h, .version = x->provider->version, .track = thread->track, .used = (uint8_t)used,
		.name = name & FXT_STRING_INLINE ? 0 : string_hash(t, name), .inlined = (category | name) & FXT_STRING_INLINE,
		.event = (uint8_t)event, .tail = fxt_event_tails[event] * FXT_WORD, .arguments = (uint8_t)fxt_bits(h, 20, 4),
		.types = event == FXT_COUNTER ? TYPES_COUNTED : TYPES_PLAIN,
	};
	shape->whole = !shape->inlined && !shape->arguments && used & FXT_USED && fxt_size(h) == 2u + fxt_event_tails[event];
	return shape;
}

/* Inline category and name of an event: what follows them, or NULL, and the hash of the name. */
ASIDE const uint8_t *texts_plain(const uint8_t *p, const uint8_t *end, uint64_t h, uint64_t *hash)
{
	uint64_t category = fxt_bits(h, 32, 16), name = h >> 48;
	if (category & FXT_STRING_INLINE)
		p = inline_plain(p, end, category);
	if (p && name & FXT_STRING_INLINE) {
		const uint8_t *text = p;
		p = inline_plain(text, end, name);
		if (p)
			*hash = fxt_hash_padded(text, name & FXT_STRING_INDEX_MAX);
	}
	return p;
}

/* Marks what a plain event refers to as used. */
ASIDE void mark_used(struct fxt_tables *t, struct fxt_shape *shape, const uint8_t *arguments, bool big_endian)
{
	uint64_t refs[2 + 2 * FXT_ARGUMENTS_MAX] = { fxt_bits(shape->header, 32, 16), shape->header >> 48 };
	unsigned count = 2;
	for (uint64_t n = fxt_bits(shape->header, 20, 4); n; n--) {
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
	t->threads[fxt_bits(shape->header, 24, 8)].state |= FXT_USED;
	shape->version = 0; /* looked up anew */
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

/* What an event has between timestamp and tail, which its header does not say all of. The tail, or NULL. */
ALWAYS const uint8_t *content_plain(struct fxt_walk *x, const uint8_t *p, const uint8_t *end, struct fxt_shape *shape, uint64_t *name,
				    const bool big_endian)
{
	struct fxt_tables *t = x->provider->tables;
	unsigned used = shape->used;
	if (shape->inlined)
		p = texts_plain(p, end, shape->header, name);
	const uint8_t *arguments = p;
	if (p && shape->arguments)
		p = arguments_plain(x, t, p, end, shape->arguments, shape->types, &used, big_endian);
	if (!p || (uint64_t)(end - p) != shape->tail)
		return NULL;
	/* Whatever road it takes from here on, such an event is accepted. */
	if (!(used & FXT_USED))
		mark_used(t, shape, arguments, big_endian);
	return p;
}

ALWAYS bool events_run(struct fxt_walk *x, const bool big_endian)
{
	const uint8_t *p = x->window.buffer + (x->at - x->window.base), *end = x->window.buffer + x->window.length;
	struct fxt_provider *provider = x->provider;
	const uint64_t version = provider->version, records = x->records;
	uint64_t previous = provider->previous, at = x->at;
	/* Beyond this a timestamp is too high, or is one to look at; a lower bound than that of each event by itself. */
	uint64_t highest = provider->step_max < UINT64_MAX - previous ? previous + provider->step_max : UINT64_MAX;
	if (highest > provider->tick_limit)
		highest = provider->tick_limit;

	/* From the second event on, the one before is of this provider. */
	if (!provider->timed || (end - p >= (ptrdiff_t)(2 * FXT_WORD) && load_u64(p, big_endian) == x->previous_header &&
				 load_u64(p + FXT_WORD, big_endian) == x->previous_time))
		return false;
	while (end - p >= (ptrdiff_t)(2 * FXT_WORD)) {
		uint64_t h = load_u64(p, big_endian), time = load_u64(p + FXT_WORD, big_endian);
		uint64_t size = fxt_bits(h, 4, 12) * FXT_WORD;
		struct fxt_shape *shape = fxt_shape_of(x, h);
		if (shape->header != h || shape->version != version) {
			shape = shape_make(x, h);
			if (!shape)
				break;
		}
		if (size > (uint64_t)(end - p) || time < previous || time > highest ||
		    !((time ^ previous) | (h ^ x->previous_header)))
			break;
		const uint8_t *tail = p + 2 * FXT_WORD;
		uint64_t name = shape->name;
		if (!shape->whole) {
			tail = content_plain(x, tail, p + size, shape, &name, big_endian);
			if (!tail)
				break;
		}
		unsigned event = shape->event;
		if (event == FXT_DURATION_BEGIN || event == FXT_DURATION_END) {
			if (!duration_plain(shape->track, event, time, at, name))
				break;
		} else if (event == FXT_DURATION_COMPLETE) {
			if (load_u64(tail, big_endian) < time)
				break;
			if (shape->track)
				shape->track->completes = true;
		}
		x->by_event[event]++;
		fxt_took(x, at);
		x->previous_header = h;
		previous = time;
		at += size;
		p += size;
	}
	uint64_t count = x->records - records;
	if (!count)
		return false;
	x->at = at;
	x->previous_time = provider->previous = previous;
	/* Time did not step back. */
	if (previous > provider->last)
		provider->last = previous;
	provider->timed += count;
	provider->records += count;
	x->by_type[FXT_EVENT] += count;
	return true;
}

bool fxt_events_run(struct fxt_walk *x)
{
	/* Two copies of the loop, each with its byte order built in. */
	return x->decoder.big_endian ? events_run(x, true) : events_run(x, false);
}

/* ---- strings ---- */

bool fxt_string_plain(struct fxt_walk *x, uint64_t h)
{
	uint64_t index = fxt_bits(h, 16, 16), length = fxt_bits(h, 32, 32), size = fxt_bits(h, 4, 12) * FXT_WORD;
	/* Set bits above the index and above the length make them too large. */
	if (!index || index > FXT_STRING_INDEX_MAX || length - 1 >= FXT_STRING_BYTES_ADVISED ||
	    size != (1 + fxt_words(length)) * FXT_WORD || fxt_string_state(x->provider->tables, (uint32_t)index))
		return false;
	const uint8_t *p = window_at(&x->window, x->at, (size_t)size);
	if (!p || !fxt_text_is_plain(p + FXT_WORD, length))
		return false;
	(void)fxt_string_register(x, (uint32_t)index, fxt_hash_padded(p + FXT_WORD, length), x->at, size);
	x->by_type[FXT_STRING]++;
	x->provider->records++;
	fxt_took(x, x->at);
	x->at += size;
	return true;
}
