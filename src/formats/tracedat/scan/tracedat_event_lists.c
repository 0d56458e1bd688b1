/* The lists of event formats: "FTRACE EVENT FORMATS" and "EVENT FORMATS" of MAN6. Where a size or a count is wrong, the
 * texts show where formats begin and end. */
#include "core/text.h"
#include "formats/tracedat/decode/tracedat_format_list.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/scan/tracedat_format.h"

#include <stdio.h>

/* Bytes of the name of a system that readers survive. */
#define SYSTEM_NAME_READERS 8192u
#define SYSTEM_EVENTS_MAX 65536u
/* Bytes that are searched for the end of a format text, and how many searches may fail. */
#define MEASURE_MAX (256u * 1024)
#define MEASURES_MAX 2048u
/* Bytes that are removed from a text, or inserted into it, at once. */
#define SIZE_NEAR 4096u

static const char unknown_system[] = "unknown";

struct list {
	struct tracedat_walk *w;
	const struct tracedat_block *b;
	size_t end;
	bool exact;	 /* counts and sizes lead exactly to the end: they are taken as correct */
	bool systems;	 /* a system header may follow an entry */
	bool miscounted; /* the last walk found another number of formats than stated */
	struct tracedat_pieces *out;
	char system[64];
};

/* A system header: its name's length with the NUL, or 0. */
static size_t system_begins(const struct list *l, size_t at)
{
	const uint8_t *data = l->b->data;
	size_t left = l->end - at, steps = 0;
	size_t first = 0;

	if (l->exact)
		return strlen((const char *)data + at) + 1;
	while (left >= 5 && steps < 4) {
		const uint8_t *nul = memchr(data + at, 0, left < TRACEDAT_SYSTEM_NAME_MAX ? left : TRACEDAT_SYSTEM_NAME_MAX);
		if (!nul)
			return 0;
		size_t length = (size_t)(nul - (data + at)) + 1;
		if (left - length < 4)
			return 0;
		uint32_t events = load_u32(data + at + length, l->w->shape.big_endian);
		first = first ? first : length;
		if (tracedat_format_begins(data, at + length + 4, l->end))
			return first;
		/* An empty system must have a printable name, and be followed by another system or the end. */
		if (events || length < 2 || length > 256)
			return 0;
		for (size_t i = 0; i + 1 < length; i++)
			if (data[at + i] < 0x21 || data[at + i] > 0x7e)
				return 0;
		at += length + 4;
		left = l->end - at;
		if (!left)
			return first;
		steps++;
	}
	return 0;
}

static bool entry_may_end(const struct list *l, size_t at)
{
	return at == l->end || tracedat_format_begins(l->b->data, at, l->end) || (l->systems && system_begins(l, at));
}

/* The length of the format text at `text`, going by its last line; 0: it has none. */
static size_t text_measure(const struct list *l, size_t text)
{
	const uint8_t *data = l->b->data;
	size_t room = l->end - text < MEASURE_MAX ? l->end - text : MEASURE_MAX;
	if (room < 16 || l->w->events.measures >= MEASURES_MAX)
		return 0;
	const uint8_t *print = memmem(data + text, room, "\nprint fmt:", 11);
	const uint8_t *next = memmem(data + text + 5, room - 5, "\nID:", 4);
	next = next ? memmem(next + 4, room - (size_t)(next + 4 - (data + text)), "\nID:", 4) : NULL;
	if (!print || (next && next < print)) {
		l->w->events.measures++;
		return 0;
	}
	size_t at = (size_t)(print + 1 - (data + text));
	const uint8_t *lf = memchr(print + 1, '\n', room - at);
	return lf ? (size_t)(lf - (data + text)) + 1 : 0;
}

/* Whether the entry or system at `at` is torn by the end of a file that is cut: it begins as one, and has more bytes than are left.
 */
static bool entry_is_torn(const struct list *l, size_t at)
{
	static const char name[] = "name: ";
	const uint8_t *data = l->b->data;
	size_t left = l->end - at;

	if (left < 8)
		return true;
	uint64_t size = load_u64(data + at, l->w->shape.big_endian);
	return size > left - 8 && size <= TRACEDAT_FORMAT_MAX && !memcmp(data + at + 8, name, left - 8 < 6 ? left - 8 : 6);
}

/* The same for a name of a system and the number of its formats. */
static bool system_is_torn(const struct list *l, size_t at)
{
	const uint8_t *data = l->b->data + at;
	size_t left = l->end - at, length = 0;

	while (length < left && length < 256 && data[length] > 0x20 && data[length] < 0x7f)
		length++;
	return length && (length == left || (!data[length] && left - length < 5 + 8 + 5));
}

static void entry_lost(struct list *l, size_t at, size_t length, unsigned rule)
{
	l->w->events.lost = true;
	l->w->out.lost_other |= length > 8;
	tracedat_drop_block(l->w, l->b, at, length, rule, "an event format that cannot be read");
}

/* Parses a format of known offset and length. */
static bool entry_parse(struct list *l, size_t at, size_t text, size_t size, unsigned *count)
{
	struct tracedat_walk *w = l->w;
	struct bytes changed = { .big_endian = w->shape.big_endian };
	uint8_t number[8];
	unsigned errors = tracedat_format_parse(w, l->b, text, size, l->system, &changed);

	w->out.lost_other |= errors != 0;
	if ((w->events.doubtful || w->events.text_hit) && w->s->plan && w->findings != w->scratch)
		plan_doubt(w->s->plan, w->source, l->b->compressed ? l->b->offset : l->b->offset + at,
			   l->b->compressed ? l->b->stored : 8 + size,
			   w->events.doubtful ? "the name of its system was hit" : "the text of this format was hit");
	if (w->repair) {
		if (!errors) {
			store_u64(number, size, w->shape.big_endian);
			(void)tracedat_pieces_field(l->out, NULL, at, number, 8, TRACEDAT_RULE_format_size_mismatch,
						    "the size of the text");
			tracedat_pieces_copy(l->out, NULL, text, size);
			(*count)++;
		} else if (changed.size) {
			store_u64(number, changed.size, w->shape.big_endian);
			(void)tracedat_pieces_literal(l->out, number, 8, TRACEDAT_RULE_format_size_mismatch,
						      "the size of the repaired text");
			(void)tracedat_pieces_literal(l->out, changed.data, changed.size, TRACEDAT_RULE_field_syntax,
						      "the format without its invalid lines");
			tracedat_drop_block(w, l->b, at, 8 + size, TRACEDAT_RULE_field_syntax,
					    "replaced by the format without its errors");
			(*count)++;
		} else {
			tracedat_drop_block(w, l->b, at, text + size - at, TRACEDAT_RULE_format_text_bytes,
					    "an event format that cannot be used");
		}
	} else {
		(*count)++;
	}
	bytes_free(&changed);
	return errors == 0;
}

/* Whether the text, whose last line ends early, has lost bytes: what the size adds to it is the beginning of what follows. */
static bool text_is_short(const struct list *l, size_t text, size_t size)
{
	const uint8_t *data = l->b->data;
	struct list loose = *l;

	if (!size || data[text + size - 1] == '\n')
		return false;
	size_t measured = text_measure(l, text);
	loose.exact = false;
	return measured && measured < size && size - measured <= SIZE_NEAR && entry_may_end(&loose, text + measured);
}

/* One entry of a list. Returns the offset after it; SIZE_MAX: there is no entry that can be read. */
static size_t list_entry(struct list *l, size_t at, unsigned *count)
{
	struct tracedat_walk *w = l->w;
	const uint8_t *data = l->b->data;
	struct finding *fd;

	if (l->end - at < 8)
		return SIZE_MAX;
	uint64_t size = load_u64(data + at, w->shape.big_endian);
	size_t text = at + 8;
	bool fits = size && size <= TRACEDAT_FORMAT_MAX && size <= l->end - text;
	bool begins = tracedat_format_begins(data, at, l->end);
	if ((l->exact || (fits && entry_may_end(l, text + (size_t)size))) && !text_is_short(l, text, (size_t)size)) {
		(void)entry_parse(l, at, text, (size_t)size, count);
		return text + (size_t)size;
	}
	size_t measured = begins ? text_measure(l, text) : 0;
	if (measured && measured == size) {
		/* The entry is intact; the one behind it is damaged. */
		(void)entry_parse(l, at, text, measured, count);
		return text + measured;
	}
	if (measured) {
		unsigned rule = size ? TRACEDAT_RULE_format_size_mismatch : TRACEDAT_RULE_format_size_zero;
		if (!tracedat_garbled_explains(w, l->b) && (!size || !tracedat_size_explained(w, rule, l->b, measured - size))) {
			fd = tracedat_block_report(w, rule, l->b, at, 8,
						   "the size of this format is %llu, expected the %zu bytes of its text",
						   (unsigned long long)size, measured);
			finding_path(fd, "%s > %s", l->b->name, l->system);
			tracedat_shift_note(w, fd, measured - size);
			tracedat_garbled_note(w, l->b, fd);
		}
		/* A size that is nearly right: it may be the text that was hit. */
		w->events.size_near = size < measured ? measured - size <= SIZE_NEAR : size - measured <= SIZE_NEAR;
		(void)entry_parse(l, at, text, measured, count);
		w->events.size_near = false;
		return text + measured;
	}
	if (!size && entry_may_end(l, text)) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_format_size_zero, l->b, at, 8, "the size of this format is 0");
		finding_path(fd, "%s > %s", l->b->name, l->system);
		entry_lost(l, at, 8, TRACEDAT_RULE_format_size_zero);
		return text;
	}
	return SIZE_MAX;
}

/* The next offset, from `at` on, at which an entry or a system header begins; the end if there is none. */
static size_t list_resync(const struct list *l, size_t at)
{
	const uint8_t *data = l->b->data;
	for (size_t from = at;;) {
		const uint8_t *found = memmem(data + from, l->end - from, "name:", 5);
		if (!found)
			return l->end;
		size_t text = (size_t)(found - data);
		from = text + 5;
		if (text < at + 8)
			continue;
		/* "name:" inside a text follows a letter or a blank; at the beginning of a text it follows the bytes of a
		 * size. */
		if (data[text - 1] == ' ' || data[text - 1] == '\t' || data[text - 1] == '"')
			continue;
		if (l->systems && text >= at + 8 + 4 + 2 && data[text - 13] == 0) {
			size_t name = text - 13;
			while (name > at && name > text - 13 - 255 && data[name - 1] > 0x20 && data[name - 1] < 0x7f)
				name--;
			if (name < text - 13 && load_u32(data + text - 12, l->w->shape.big_endian) <= SYSTEM_EVENTS_MAX)
				return name;
		}
		return text - 8;
	}
}

/* Reports bytes that are not an event format. */
static void entry_report(struct list *l, size_t at, size_t stop)
{
	struct tracedat_walk *w = l->w;
	struct finding *fd = w->dir.truncated;

	if (tracedat_garbled_explains(w, l->b)) {
		fd = w->events.garbled;
	} else if (!entry_is_torn(l, at) || !tracedat_tail_explained(w, l->b, stop)) {
		fd = tracedat_block_report(w, TRACEDAT_RULE_format_size_mismatch, l->b, at, stop - at,
					   "%zu bytes that are not an event format", stop - at);
		finding_path(fd, "%s > %s", l->b->name, l->system);
		tracedat_garbled_note(w, l->b, fd);
	}
	if (!w->events.finding)
		w->events.finding = fd;
}

/* Parses entries from `at` on. claimed: their number as the file states it. Returns where they end, their number in *found,
 * and the number of kept ones in *count. */
static size_t list_walk(struct list *l, size_t at, uint32_t claimed, unsigned *count, uint32_t *found)
{
	struct tracedat_walk *w = l->w;
	bool damaged = false;

	*found = 0;
	while (at < l->end && w->status == TM_OK) {
		bool begins = tracedat_format_begins(l->b->data, at, l->end);
		if (l->exact ? *found == claimed : !begins && ((l->systems && system_begins(l, at)) || *found >= claimed))
			break;
		size_t next = list_entry(l, at, count);
		if (next == SIZE_MAX) {
			size_t stop = list_resync(l, at + 1);
			entry_report(l, at, stop);
			entry_lost(l, at, stop - at, TRACEDAT_RULE_format_size_mismatch);
			damaged = true;
			next = stop;
			if (l->systems && !tracedat_format_begins(l->b->data, stop, l->end)) {
				at = next;
				break;
			}
		}
		at = next;
		(*found)++;
	}
	l->miscounted = *found != claimed && !damaged && w->status == TM_OK;
	return at;
}

/* Reports that the list that ends at `at` has another number of formats than stated. */
#define list_count_report(l, rule, ...) ((void)PLACE(rule), list_count_report_at((l), (rule), __VA_ARGS__))
static void list_count_report_at(const struct list *l, unsigned rule, size_t at, uint32_t claimed, uint32_t found)
{
	if (found < claimed && tracedat_tail_explained(l->w, l->b, at))
		return;
	struct finding *fd = tracedat_block_report_at(l->w, rule, l->b, at, 0, "the number of formats is %u, expected %u", claimed,
						      found);
	finding_path(fd, "%s > %s", l->b->name, l->system);
}

/* Whether a name ends in front of `at`, as that of a system does: the list of version 6 was lost, and this is one of the system. */
static bool name_ends(const struct tracedat_block *b, size_t at)
{
	return at > 1 && !b->data[at - 1] && b->data[at - 2] > 0x20 && b->data[at - 2] < 0x7f;
}

void tracedat_ftrace_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct list l = { .w = w, .b = b, .end = end, .out = &w->meta.parts[1], .system = "ftrace" };
	uint8_t number[4] = { 0 };
	unsigned kept = 0;
	uint32_t found;

	w->meta.seen[1] = true;
	w->events.garbled = NULL;
	if (end - at < 4) {
		(void)tracedat_pieces_literal(l.out, number, 4, TRACEDAT_RULE_ftrace_count_implausible,
					      "no ftrace formats are left");
		return;
	}
	size_t count = tracedat_pieces_field(l.out, NULL, at, number, 4, TRACEDAT_RULE_ftrace_count_implausible,
					     "the number of ftrace formats that are kept");
	uint32_t claimed = load_u32(b->data + at, w->shape.big_endian);
	l.exact = tracedat_formats_end(w->shape.big_endian, b->data, at + 4, end, claimed) == end;
	w->events.doubtful = name_ends(b, at);
	size_t stop = list_walk(&l, at + 4, claimed, &kept, &found);
	/* Their number may be among what was hit. */
	if (!l.exact && !l.miscounted && stop < end && list_resync(&l, stop) < end)
		stop = list_walk(&l, stop, UINT32_MAX, &kept, &found);
	else if (l.miscounted)
		list_count_report(&l, TRACEDAT_RULE_ftrace_count_implausible, stop, claimed, found);
	w->events.doubtful = false;
	if (stop < end && w->status == TM_OK) {
		w->out.lost_other |= !bytes_are_zero(b->data + stop, end - stop);
		(void)tracedat_block_report(w, TRACEDAT_RULE_ftrace_count_implausible, b, stop, end - stop,
					    "%zu bytes after the last ftrace format", end - stop);
		tracedat_drop_block(w, b, stop, end - stop, TRACEDAT_RULE_ftrace_count_implausible, "bytes after the last format");
	}
	store_u32(number, kept, w->shape.big_endian);
	tracedat_pieces_fill(l.out, count, number);
}

/* Bytes in front of a system that may be the beginning of its name. */
#define NAME_HIT_MAX 64u

/* Takes `length` bytes at `at` for the name of a system, without those that are not text. Returns how many these are. */
static size_t system_name_clean(struct list *l, size_t at, size_t length)
{
	size_t n = length < sizeof(l->system) ? length : sizeof(l->system) - 1, hit = 0;
	for (size_t i = 0; i < n; i++) {
		uint8_t c = l->b->data[at + i];
		bool text = c > 0x20 && c < 0x7f;
		l->system[i] = text ? (char)c : '_';
		hit += !text;
	}
	l->system[n] = 0;
	return hit;
}

/* A name with a NUL inside, which was hit: writes it without that. */
static void system_name_repair(struct list *l, size_t at, size_t length)
{
	(void)system_name_clean(l, at, length - 1);
	(void)tracedat_pieces_literal(l->out, l->system, strlen(l->system) + 1, TRACEDAT_RULE_system_name_bad,
				      "a name without the bytes that were hit");
	l->w->out.lost_other = true;
	tracedat_drop_block(l->w, l->b, at, length, TRACEDAT_RULE_system_name_bad, "a name that was hit");
}

/* Name and events of one system. Returns the offset after them. */
static size_t system_parse(struct tracedat_walk *w, struct list *l, size_t at, size_t length, uint64_t *seen, size_t *seen_count)
{
	const uint8_t *data = l->b->data;
	const char *name = (const char *)data + at;
	uint8_t number[4] = { 0 };
	unsigned kept = 0;
	uint32_t found;
	bool odd = length < 2 || length > 256, overflows = length >= SYSTEM_NAME_READERS;
	bool cut = memchr(name, 0, length - 1) != NULL; /* by a NUL inside of it */

	(void)snprintf(l->system, sizeof(l->system), "%.60s", name);
	for (size_t i = 0; i + 1 < length; i++)
		odd |= name[i] < 0x21 || name[i] > 0x7e || name[i] == '/';
	if (odd) {
		char shown[TEXT_QUOTE_SIZE];
		struct finding *fd = tracedat_block_milder(w, TRACEDAT_RULE_system_name_bad,
							   overflows || cut ? TM_ERROR : TM_WARNING, l->b, at, length);
		finding_say(fd, "the name of the system is \"%s\" (%zu bytes)", text_quote(shown, name, length - 1), length - 1);
	}
	if (!strcmp(l->system, "ftrace")) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_system_ftrace_in_events, l->b, at, length,
					    "the system ftrace is listed here, expected only in its own block");
	}
	w->events.doubtful = odd;
	/* The text of a format that lost its beginning. */
	w->events.lost |= memchr(name, '\n', length - 1) != NULL;
	const uint64_t hash = text_hash(name, length);
	/* Kernels have about 150 systems; the comparison is bounded for hostile files. */
	for (size_t i = 0; i < *seen_count; i++)
		if (seen[i] == hash) {
			struct finding *fd = tracedat_block_finding(w, TRACEDAT_RULE_system_duplicate, l->b, at, length);
			char shown[TEXT_QUOTE_SIZE];
			finding_say(fd, "a second list for the system %s", text_quote(shown, name, length - 1));
			break;
		}
	if (*seen_count < 512)
		seen[(*seen_count)++] = hash;
	if (overflows) {
		(void)tracedat_pieces_literal(l->out, unknown_system, sizeof(unknown_system), TRACEDAT_RULE_system_name_bad,
					      "a name that fits the buffers of readers");
		tracedat_drop_block(w, l->b, at, length, TRACEDAT_RULE_system_name_bad,
				    "a name that overflows the buffers of readers");
	} else if (cut) {
		system_name_repair(l, at, length);
	} else {
		tracedat_pieces_copy(l->out, NULL, at, length);
	}
	at += length;
	size_t count = tracedat_pieces_field(l->out, NULL, at, number, 4, TRACEDAT_RULE_system_count_implausible,
					     "the number of event formats of the system that are kept");
	uint32_t claimed = load_u32(data + at, w->shape.big_endian);
	at = list_walk(l, at + 4, claimed, &kept, &found);
	if (l->miscounted)
		list_count_report(l, TRACEDAT_RULE_system_count_implausible, at, claimed, found);
	w->events.doubtful = false;
	store_u32(number, kept, w->shape.big_endian);
	tracedat_pieces_fill(l->out, count, number);
	return at;
}

/* Whether the last byte of the number of systems was hit, beside which the name of the first one begins. damaged: how many there
 * were is not known. */
static bool count_reaches_name(const struct tracedat_walk *w, const uint8_t *number, size_t systems, bool damaged)
{
	if (!w->shape.big_endian)
		return number[3] != 0;
	return load_u32(number, true) > TRACEDAT_SYSTEMS_MAX || (!damaged && number[3] != (uint8_t)systems);
}

/* Lists the first system, of which the name may have been hit. */
static void system_doubt(struct list *l, size_t from, size_t to, size_t events)
{
	struct tracedat_walk *w = l->w;

	if (!w->s->plan || w->findings == w->scratch)
		return;
	for (size_t i = events; i < w->events.count && w->events.list[i].text < to; i++)
		if (w->events.list[i].block == l->b)
			tracedat_event_hit(w, &w->events.list[i]);
	plan_doubt(w->s->plan, w->source, l->b->compressed ? l->b->offset : l->b->offset + from,
		   l->b->compressed ? l->b->stored : to - from, "the number in front of the name of its system was hit");
}

void tracedat_systems_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct list l = { .w = w, .b = b, .end = end, .systems = true, .out = &w->meta.parts[2] };
	uint8_t number[4] = { 0 };
	uint64_t seen[512];
	size_t seen_count = 0, systems = 0, first_events = w->events.count, first_end = 0;
	bool damaged = false;

	w->meta.seen[2] = true;
	w->events.garbled = NULL;
	if (end - at < 4) {
		(void)tracedat_pieces_literal(l.out, number, 4, TRACEDAT_RULE_system_count_implausible,
					      "no event formats are left");
		return;
	}
	size_t total = tracedat_pieces_field(l.out, NULL, at, number, 4, TRACEDAT_RULE_system_count_implausible,
					     "the number of event systems that are kept");
	uint32_t claimed = load_u32(b->data + at, w->shape.big_endian);
	size_t begin = at;
	l.exact = tracedat_systems_end(w->shape.big_endian, b->data, at, end) == end;
	at += 4;
	while (at < end && w->status == TM_OK) {
		if (systems == TRACEDAT_SYSTEMS_MAX) {
			/* No capture shows this: a header of version 6 with such a list is not taken for one
			 * (tracedat_systems_end()), and generated ones of version 7 compress theirs. */
			(void)tracedat_block_report(w, TRACEDAT_RULE_system_count_implausible, b, at, end - at,
						    "more than the maximum of %u event systems", TRACEDAT_SYSTEMS_MAX);
			entry_lost(&l, at, end - at, TRACEDAT_RULE_system_count_implausible);
			damaged = true;
			break;
		}
		size_t length = system_begins(&l, at);
		if (length) {
			at = system_parse(w, &l, at, length, seen, &seen_count);
			systems++;
			first_end = first_end ? first_end : at;
			continue;
		}
		size_t stop = list_resync(&l, at);
		length = stop < end && stop - at <= NAME_HIT_MAX ? system_begins(&l, stop) : 0;
		if (length) {
			at = system_parse(w, &l, at, stop - at + length, seen, &seen_count);
			systems++;
			continue;
		}
		struct finding *fd = w->dir.truncated;
		if (!system_is_torn(&l, at) || !tracedat_tail_explained(w, b, stop))
			fd = tracedat_block_report(w, TRACEDAT_RULE_system_count_implausible, b, at, stop - at,
						   "%zu bytes that are not an event system", stop - at);
		if (!w->events.finding)
			w->events.finding = fd;
		entry_lost(&l, at, stop - at, TRACEDAT_RULE_system_count_implausible);
		w->out.lost_other = true; /* of a name, maybe */
		damaged = true;
		if (stop < end && !system_begins(&l, stop)) {
			/* Formats whose system is lost are put into a system "unknown", unless only its NUL or count was hit. */
			unsigned kept = 0;
			uint32_t found;
			size_t length_hit = stop - at < 6 || stop - at > NAME_HIT_MAX ? 0 : stop - at - 5;
			/* Bytes may be missing of the count, or of the end of the name. */
			const uint8_t *nul = memchr(b->data + at, 0, stop - at);
			bool shorter = nul && stop - at <= NAME_HIT_MAX && (size_t)(nul - b->data) - at > length_hit;
			if (shorter)
				length_hit = (size_t)(nul - b->data) - at;
			size_t hit = length_hit ? system_name_clean(&l, at, length_hit) + shorter : 1;
			if (2 * hit > length_hit)
				(void)snprintf(l.system, sizeof(l.system), "%s", unknown_system);
			(void)tracedat_pieces_literal(l.out, l.system, strlen(l.system) + 1, TRACEDAT_RULE_system_count_implausible,
						      "the name with its NUL, or one instead of a lost one");
			w->events.doubtful = hit != 0;
			size_t count = tracedat_pieces_literal(l.out, number, 4, TRACEDAT_RULE_system_count_implausible,
							       "the number of its formats");
			size_t next = list_walk(&l, stop, UINT32_MAX, &kept, &found);
			w->events.doubtful = false;
			store_u32(number, kept, w->shape.big_endian);
			tracedat_pieces_fill(l.out, count, number);
			stop = next > stop ? next : end;
			systems++;
		}
		at = stop;
	}
	if (count_reaches_name(w, b->data + begin, systems, damaged))
		system_doubt(&l, begin, first_end, first_events);
	if (systems != claimed && !damaged && w->status == TM_OK && !(systems < claimed && tracedat_tail_explained(w, b, at))) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_system_count_implausible, b, begin, 4,
					    "the number of systems is %u, expected %zu", claimed, systems);
	}
	w->events.systems = systems;
	store_u32(number, (uint32_t)systems, w->shape.big_endian);
	tracedat_pieces_fill(l.out, total, number);
}
