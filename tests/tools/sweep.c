#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "core/choices.h"

/* Room for what the hits of one copy insert. */
#define ROOM 16384u
#define LINE_MAX_LENGTH 400u
/* Names of parts. */
#define GROUPS_MAX 4096u

/* ---- targets ---- */

/* A part with bytes, in a file or a stream. */
static bool is_target(const struct outline *o, uint32_t part)
{
	const struct part *p = &o->parts[part];
	return p->length && (p->parent != OUTLINE_NONE || p->kind == PART_FILE);
}

/* Groups the parts by name, so that a part of which there is one is hit as often as one of which there are thousands. */
static void group_parts(struct sweep *s)
{
	const struct outline *o = &s->in.outline;
	const char **names = calloc(GROUPS_MAX, sizeof(*names));

	s->group = calloc(o->count + 1, sizeof(*s->group));
	s->members = calloc(GROUPS_MAX + 1, sizeof(*s->members));
	if (!names || !s->group || !s->members)
		abort();
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t g = 0;
		if (!is_target(o, i))
			continue;
		while (g < s->groups && names[g] != o->parts[i].name && strcmp(names[g], o->parts[i].name) != 0)
			g++;
		if (g == GROUPS_MAX)
			continue;
		if (g == s->groups)
			names[s->groups++] = o->parts[i].name;
		s->group[i] = (uint16_t)(g + 1);
		s->members[g + 1]++;
	}
	free(names);
}

/* A part: of each name as often. OUTLINE_NONE: there is none. */
static uint32_t target(const struct sweep *s, struct choices *c)
{
	uint32_t g = (uint32_t)choices_below(c, s->groups) + 1;
	uint64_t left = s->groups ? choices_below(c, s->members[g]) : 0;

	for (uint32_t i = 0; s->groups && i < s->in.outline.count; i++)
		if (s->group[i] == g && !left--)
			return i;
	return OUTLINE_NONE;
}

void sweep_open(struct sweep *s, const char *format, const char *profile, const uint8_t *data, size_t size)
{
	*s = (struct sweep){ .format = format, .profile = profile, .data = data, .size = size };
	if (mutation_open(&s->in, format, profile, data, size, true))
		group_parts(s);
}

void sweep_close(struct sweep *s)
{
	free(s->group);
	free(s->members);
	mutation_close(&s->in);
}

/* ---- hits on bytes ---- */

static size_t some_length(struct choices *c)
{
	static const size_t lengths[] = { 1, 2, 4, 8, 16, 64, 512 };
	return lengths[choices_below(c, sizeof(lengths) / sizeof(lengths[0]))];
}

/* Adds a small number to an integer of 1, 2, 4 or 8 bytes: to a size, a count, a time, or a digit of a text. */
static void hit_add(struct choices *c, uint8_t *bytes, size_t left)
{
	static const int64_t deltas[] = { 1, -1, 8, -8, 2, -2, 4, -4, 7, -7, 16, -16, 64, -64 };
	size_t width = (size_t)1 << choices_below(c, 4);
	uint64_t delta = (uint64_t)deltas[choices_below(c, choices_chance(c, 1, 2) ? 2 : sizeof(deltas) / sizeof(deltas[0]))];
	bool big = choices_chance(c, 1, 3);

	for (size_t i = 0; i < width && i < left; i++) {
		uint8_t *p = bytes + (big && width <= left ? width - 1 - i : i);
		uint64_t sum = *p + (delta & 0xff);
		*p = (uint8_t)sum;
		delta = (uint64_t)((int64_t)delta >> 8) + (sum >> 8);
	}
}

static void noise(struct choices *c, uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)choices_u64(c);
}

static void take_out(struct bytes *b, size_t at, size_t length)
{
	memmove(b->data + at, b->data + at + length, b->size - at - length);
	b->size -= length;
}

/* Makes room for length bytes. False: none is left. */
static bool put_in(struct bytes *b, size_t at, size_t length)
{
	if (length > b->capacity - b->size)
		return false;
	memmove(b->data + at + length, b->data + at, b->size - at);
	b->size += length;
	return true;
}

static void exchange(uint8_t *a, uint8_t *b, size_t length)
{
	for (; length; length--, a++, b++) {
		uint8_t was = *a;
		*a = *b;
		*b = was;
	}
}

/* One hit on [at, at + length), some of them with the bytes at `from`. */
static void hit(struct choices *c, struct bytes *b, size_t at, size_t length, size_t from)
{
	uint8_t *p = b->data + at;

	switch (choices_below(c, 17)) {
	case 0:
	case 1:
		*p ^= (uint8_t)(1u << choices_below(c, 8));
		break;
	case 2:
		memset(p, 0, length);
		break;
	case 3:
		memset(p, 0xff, length);
		break;
	case 4:
		noise(c, p, length);
		break;
	case 5:
		take_out(b, at, length);
		break;
	case 6:
		if (put_in(b, at, length))
			noise(c, p, length);
		break;
	case 7:
		b->size = at;
		break;
	case 8:
		*p = (uint8_t)choices_number(c);
		break;
	case 9:
	case 10:
		memmove(p, b->data + from, length); /* equal to another place */
		break;
	case 11: /* doubled */
		if (put_in(b, at, length))
			memmove(p, p + length, length);
		break;
	case 12: /* exchanged with what follows, or with another place */
		if (choices_chance(c, 1, 2))
			from = b->size - at >= 2 * length ? at + length : at;
		if (from >= at + length || at >= from + length)
			exchange(p, b->data + from, length);
		break;
	default:
		hit_add(c, p, b->size - at);
		break;
	}
}

/* Somewhere. Half of the hits are at words: what is compared with what often lies there. */
static void hit_anywhere(struct choices *c, struct bytes *b)
{
	size_t length = some_length(c), at, from;

	at = choices_below(c, choices_chance(c, 1, 4) && b->size > 128 ? 128 : b->size); /* heads are small, and matter most */
	from = choices_below(c, b->size);
	if (choices_chance(c, 1, 2)) {
		at &= ~(size_t)7;
		from &= ~(size_t)7;
	}
	if (length > b->size - at)
		length = b->size - at;
	if (from > b->size - length)
		from = b->size - length;
	hit(c, b, at, length, from);
}

/* On a part of the file, or at its end. */
static void hit_part(struct choices *c, struct bytes *b, const struct part *p, const struct part *other)
{
	size_t at = p->offset, from = other->offset, length = choices_chance(c, 1, 2) ? p->length : some_length(c);

	if (choices_chance(c, 1, 4))
		at += p->length - choices_below(c, 2);
	if (choices_chance(c, 1, 8) && at)
		at--;
	if (at >= b->size) {
		hit_anywhere(c, b);
		return;
	}
	if (length > b->size - at)
		length = b->size - at;
	if (length > 512)
		length = 512;
	if (!length)
		length = 1;
	if (from > b->size - length)
		from = b->size - length;
	hit(c, b, at, length, from);
}

/* ---- hits on lines of text ---- */

/* The line at *at, with its end of line. False: the file is binary there. */
static bool line_at(const struct bytes *b, size_t *at, size_t *length)
{
	size_t from = *at, end = *at;

	while (from && b->data[from - 1] != '\n' && *at - from < LINE_MAX_LENGTH)
		from--;
	while (end < b->size && b->data[end] != '\n' && end - *at < LINE_MAX_LENGTH)
		end++;
	if (end < b->size && b->data[end] == '\n')
		end++;
	for (size_t i = from; i < end; i++)
		if ((b->data[i] < 0x20 && b->data[i] != '\n' && b->data[i] != '\t') || b->data[i] >= 0x7f)
			return false;
	*at = from;
	*length = end - from;
	return end - from >= 2;
}

static bool in_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '%';
}

/* The word behind at, within 64 bytes. False: there is none. */
static bool word_at(const struct bytes *b, size_t at, size_t *from, size_t *length)
{
	size_t end = at + 64 < b->size ? at + 64 : b->size;

	while (at < end && !in_word(b->data[at]))
		at++;
	*from = at;
	while (at < end && in_word(b->data[at]))
		at++;
	*length = at - *from;
	return *length > 0;
}

/* Puts another word of the file in the place of one, or one that texts treat in their own ways. */
static void hit_word(struct choices *c, struct bytes *b, size_t at)
{
	static const char *const words[] = { "0",   "1",      "-1",	   "0x0",	 "4294967296", "18446744073709551615",
					     "00",  "0x",     "%n",	   "%s",	 "%d",	       "%*p",
					     "%%",  "[4]",    "[]",	   "/ 0",	 "/ 0x0",      "* 1.5",
					     "<<",  "->",     "? 1 : 2",   "(u64)",	 "(",	       ")",
					     "{",   "\"",     "\\",	   "\"a\"",	 "unsigned",   "const char *",
					     "int", "REC->x", "sizeof(u)", "__data_loc", "size:0;",    "offset:65535;",
					     "@",   "arg1",   "ffffffff",  "deadbeef",	 "\t[m]",      "#" };
	size_t from, length, other, size;
	uint8_t copy[64];

	if (!word_at(b, at, &from, &length))
		return;
	if (choices_chance(c, 1, 2)) {
		const char *word = words[choices_below(c, sizeof(words) / sizeof(words[0]))];
		size = strlen(word);
		memcpy(copy, word, size);
	} else if (word_at(b, choices_below(c, b->size), &other, &size)) {
		memcpy(copy, b->data + other, size);
	} else {
		return;
	}
	if (choices_chance(c, 1, 4))
		length = 0; /* before it */
	if (size > length && size - length > b->capacity - b->size)
		return;
	take_out(b, from, length);
	if (put_in(b, from, size))
		memcpy(b->data + from, copy, size);
}

static void hit_line(struct choices *c, struct bytes *b)
{
	static const char marks[] = "\n\t :;,.=-+[]{}()<>\"'%/@#0123456789abcdefx_AZ";
	size_t at = choices_below(c, b->size), length = 0, next, after;
	uint8_t line[2 * LINE_MAX_LENGTH + 1];

	if (!line_at(b, &at, &length)) {
		hit_anywhere(c, b);
		return;
	}
	size_t inside = at + choices_below(c, length);
	uint8_t mark = (uint8_t)marks[choices_below(c, sizeof(marks) - 1)];
	switch (choices_below(c, 18)) {
	case 0:
		take_out(b, at, length);
		break;
	case 1: /* doubled */
		if (put_in(b, at, length))
			memmove(b->data + at, b->data + at + length, length);
		break;
	case 2: /* the next one comes first */
		next = at + length;
		if (next < b->size && line_at(b, &next, &after) && next == at + length) {
			memcpy(line, b->data + at, length);
			memmove(b->data + at, b->data + next, after);
			memcpy(b->data + at + after, line, length);
		}
		break;
	case 3: /* cut within */
		take_out(b, inside, at + length - inside);
		break;
	case 4: /* joined with the next */
		take_out(b, at + length - 1, 1);
		break;
	case 5: /* the start is lost */
		take_out(b, at, inside - at);
		break;
	case 6:
		memset(b->data + at, 0, length);
		break;
	case 7:
		take_out(b, inside, 1);
		break;
	case 8:
	case 9:
		if (put_in(b, inside, 1))
			b->data[inside] = mark;
		break;
	case 10:
	case 11:
		b->data[inside] = mark;
		break;
	default:
		hit_word(c, b, inside);
		break;
	}
}

/* ---- changes of the outline ---- */

/* A number near the one that is there, or that of another field of the name. */
static void number_change(const struct sweep *s, struct outline *o, uint32_t field, struct choices *c)
{
	uint64_t value = outline_value(o, field);
	uint32_t other = field;

	switch (choices_below(c, 12)) {
	case 0:
		value = 0;
		break;
	case 1:
		value = UINT64_MAX;
		break;
	case 2:
		value = choices_number(c);
		break;
	case 3:
		value ^= UINT64_C(1) << choices_below(c, o->parts[field].width ? o->parts[field].width : 32);
		break;
	case 4:
	case 5:
	case 6: /* equal to another one: the first one behind it */
		for (uint32_t i = 1; i < o->count && other == field; i++) {
			uint32_t next = field + i < s->in.outline.count ? field + i : field + i - s->in.outline.count;
			if (s->group[next] == s->group[field] && outline_value(o, next) != value)
				other = next;
		}
		value = outline_value(o, other) + (choices_chance(c, 1, 4) ? choices_below(c, 3) - 1 : 0);
		break;
	case 7:
		value += choices_below(c, 64);
		break;
	case 8:
		value -= choices_below(c, 64);
		break;
	case 9:
		value--;
		break;
	default:
		value++;
		break;
	}
	outline_set(o, field, value);
}

static void text_change(struct outline *o, uint32_t field, struct choices *c)
{
	const uint8_t *old = outline_bytes(o, field);
	size_t length = o->parts[field].length, at = choices_below(c, length ? length : 1);
	struct bytes text = { 0 };
	bool fixed = o->parts[field].flags & PART_FIXED;

	if (!old || !length)
		return;
	bytes_append(&text, old, length);
	if (text.failed)
		abort();
	switch (choices_below(c, fixed ? 3 : 8)) {
	case 0:
		text.data[at] ^= (uint8_t)(1u << choices_below(c, 8));
		break;
	case 1:
		text.data[at] = (uint8_t)choices_number(c);
		break;
	case 2:
		text.data[at]++;
		break;
	case 3:
		text.size = at;
		break;
	case 4:
		take_out(&text, at, 1);
		break;
	case 5:
		text.size = 0;
		break;
	case 6:
		bytes_append(&text, old, length);
		break;
	default:
		bytes_u8(&text, (uint8_t)choices_number(c));
		break;
	}
	if (!text.failed)
		outline_replace(o, field, text.data, text.size);
	bytes_free(&text);
}

static void part_change(const struct sweep *s, struct outline *o, struct choices *c)
{
	uint32_t part = target(s, c);

	if (part == OUTLINE_NONE)
		return;
	if (o->parts[part].kind != PART_FIELD) {
		if (mutation_may_move(o, part) && o->parts[part].kind != PART_FILE)
			outline_delete(o, part);
	} else if (outline_is_number(&o->parts[part])) {
		number_change(s, o, part, c);
	} else {
		text_change(o, part, c);
	}
}

static void structure_change(struct outline *o, struct choices *c)
{
	switch (choices_below(c, 6)) {
	case 0:
		(void)mutate_delete(o, c);
		break;
	case 1:
		(void)mutate_duplicate(o, c);
		break;
	case 2:
		(void)mutate_swap(o, c);
		break;
	case 3:
		(void)mutate_fault(o, c);
		break;
	default:
		(void)mutate_edit(o, c);
		break;
	}
}

/* Writes the capture anew with some parts changed, all sizes and offsets corrected. */
static void change_outline(const struct sweep *s, struct choices *c, struct capture *copy)
{
	struct mutation_input in;
	bool structure = choices_chance(c, 1, 3);

	if (!mutation_open(&in, s->format, s->profile, s->data, s->size, true))
		return;
	struct outline *o = &in.outline;
	for (uint64_t times = choices_between(c, 1, 4); times && o->status == TM_OK; times--) {
		if (structure)
			structure_change(o, c);
		else
			part_change(s, o, c);
	}
	struct outline_output *files = calloc(o->file_count + 1, sizeof(*files));
	if (!files)
		abort();
	bool ok = outline_write(o, files, NULL) == TM_OK;
	for (uint32_t i = 0; i < o->file_count; i++) {
		const struct capture_file *found = capture_find(copy, TM_ROLE_INPUT, o->files[i].name);
		struct capture_file *f = found ? &copy->files[found - copy->files] : NULL;
		if (!ok || !f) {
			bytes_free(&files[i].bytes);
		} else if (files[i].deleted) {
			bytes_free(&files[i].bytes);
			f->size = 0;
		} else {
			f->data = f->owned = files[i].bytes.data;
			f->size = files[i].bytes.size;
		}
	}
	free(files);
	mutation_close(&in);
}

/* ---- a copy ---- */

static void hit_file(const struct sweep *s, struct choices *c, struct capture_file *f, uint32_t index)
{
	struct bytes b = { .size = f->size, .capacity = f->size + ROOM };
	unsigned kind = (unsigned)choices_below(c, 3);

	f->owned = b.data = malloc(b.capacity);
	if (!b.data)
		abort();
	memcpy(b.data, f->data, f->size);
	/* Those of texts rarely mask each other. */
	for (uint64_t hits = choices_between(c, 1, kind == 2 ? 8 : 3); hits && b.size; hits--) {
		uint32_t part = kind == 1 ? target(s, c) : OUTLINE_NONE;
		for (unsigned tries = 0; tries < 8 && part != OUTLINE_NONE && s->in.outline.parts[part].file != index; tries++)
			part = target(s, c);
		if (part != OUTLINE_NONE && s->in.outline.parts[part].file == index) {
			uint32_t other = target(s, c);
			hit_part(c, &b, &s->in.outline.parts[part], &s->in.outline.parts[other]);
		} else if (kind == 2) {
			hit_line(c, &b);
		} else {
			hit_anywhere(c, &b);
		}
	}
	f->data = b.data;
	f->size = b.size;
}

/* A file is lost, is empty, or has the content of another. */
static void lose_file(struct choices *c, struct capture *copy, size_t which)
{
	struct capture_file *f = &copy->files[which], *other = &copy->files[choices_below(c, copy->count)];

	switch (choices_below(c, 4)) {
	case 0:
		f->size = 0;
		break;
	case 1:
		if (other->kind == SOURCE_FILE && !other->owned) {
			free(f->owned);
			f->owned = NULL;
			f->data = other->data;
			f->size = other->size;
		}
		break;
	default:
		free(f->owned);
		memmove(f, f + 1, (copy->count - which - 1) * sizeof(*f));
		copy->count--;
		break;
	}
}

/* Adds the undamaged capture as a donor. */
static void add_donor(const struct sweep *s, struct capture *copy)
{
	struct capture *whole = malloc(sizeof(*whole));

	if (!whole)
		abort();
	capture_parse(whole, s->data, s->size);
	for (size_t i = 0; i < whole->count && copy->count < CAPTURE_FILES_MAX; i++) {
		if (whole->files[i].role != TM_ROLE_INPUT || whole->files[i].owned)
			continue;
		copy->files[copy->count] = whole->files[i];
		copy->files[copy->count++].role = TM_ROLE_DONOR;
	}
	capture_free(whole);
	free(whole);
}

void sweep_copy(const struct sweep *s, uint64_t seed, struct capture *copy)
{
	struct choices c = choices_from_seed(seed);

	capture_parse(copy, s->data, s->size);
	if (!copy->count)
		return;
	size_t which = choices_below(&c, copy->count);
	struct capture_file *f = &copy->files[which];
	if (s->in.open && choices_chance(&c, 2, 5)) {
		change_outline(s, &c, copy);
	} else if (f->kind == SOURCE_FILE && f->size) {
		uint32_t index = 0;
		while (s->in.open && index < s->in.outline.file_count && strcmp(s->in.outline.files[index].name, f->name) != 0)
			index++;
		hit_file(s, &c, f, index);
	}
	if (copy->count > 1 && choices_chance(&c, 1, 12))
		lose_file(&c, copy, which);
	if (choices_chance(&c, 1, 8))
		add_donor(s, copy);
	else if (copy->count > 1 && choices_chance(&c, 1, 16))
		copy->files[which].role = TM_ROLE_EXTRA;
}
