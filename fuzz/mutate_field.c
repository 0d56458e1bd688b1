/* Edits of fields according to their meaning: boundaries of numbers, other registered ids, times that jump, overlong text. */
#include "core/choices.h"
#include "mutate.h"

#include <string.h>

#define TEXT_LONG_MAX 4096u
/* Number of fields from which one is chosen. */
#define SAMPLE 6u

static bool is_field(const struct outline *o, uint32_t part)
{
	/* A field that was dropped while the outline was built has no leaf. */
	return o->parts[part].kind == PART_FIELD && o->parts[part].parent != OUTLINE_NONE &&
	       !(o->parts[o->parts[part].parent].flags & PART_REPLACED);
}

static bool is_free(const struct outline *o, uint32_t part)
{
	return is_field(o, part) && !o->parts[part].measure;
}

static bool is_measure(const struct outline *o, uint32_t part)
{
	return is_field(o, part) && o->parts[part].measure && !(o->parts[part].flags & PART_SET);
}

static unsigned field_width(const struct part *f)
{
	return f->width ? f->width : f->coding != CODING_BINARY || f->length >= 8 ? 64 : 8 * f->length;
}

/* Another field of the same name: a registered id, an earlier time. */
static bool value_of_another(const struct outline *o, uint32_t field, struct choices *c, uint64_t *value)
{
	bool reference = o->parts[field].field == FIELD_REFERENCE;
	uint32_t start = (uint32_t)choices_below(c, o->count);
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t other = start + i < o->count ? start + i : start + i - o->count;
		const struct part *p = &o->parts[other];
		if (other == field || p->kind != PART_FIELD || p->parent == OUTLINE_NONE)
			continue;
		if (!strcmp(p->name, o->parts[field].name) || (reference && p->field == FIELD_ID && i % 2)) {
			*value = outline_value(o, other);
			return true;
		}
	}
	return false;
}

static uint64_t boundary(struct choices *c, unsigned width, uint64_t value)
{
	uint64_t top = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX, half = top / 2;
	switch (choices_below(c, 10)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return top;
	case 3:
		return half;
	case 4:
		return half + 1;
	case 5:
		return value + 1;
	case 6:
		return value - 1;
	case 7:
		return value * 2;
	case 8:
		return UINT64_C(1) << choices_below(c, width);
	default:
		return choices_number(c);
	}
}

static uint64_t time_value(struct choices *c, unsigned width, uint64_t value)
{
	static const uint64_t jumps[] = {
		1, 1000, 1000000, 1000000000, UINT64_C(3600000000000), UINT64_C(1) << 27, UINT64_C(1) << 32, UINT64_C(1) << 63
	};
	uint64_t jump = jumps[choices_below(c, sizeof(jumps) / sizeof(jumps[0]))];
	switch (choices_below(c, 4)) {
	case 0:
		return value + jump;
	case 1:
		return value - jump;
	default:
		return boundary(c, width, value);
	}
}

static void number_edit(struct outline *o, uint32_t field, struct choices *c)
{
	const struct part *f = &o->parts[field];
	uint64_t value = outline_value(o, field), other;
	unsigned width = field_width(f);

	if (choices_chance(c, 1, f->field == FIELD_REFERENCE || f->field == FIELD_ID ? 2 : 4) &&
	    value_of_another(o, field, c, &other)) {
		outline_set(o, field, other);
		return;
	}
	switch ((enum field_kind)f->field) {
	case FIELD_FLAGS:
		value ^= UINT64_C(1) << choices_below(c, width);
		break;
	case FIELD_TAG:
		value = choices_chance(c, 2, 3) ? choices_below(c, width < 5 ? UINT64_C(1) << width : 32)
						: boundary(c, width, value);
		break;
	case FIELD_TIME:
		value = time_value(c, width, value);
		break;
	case FIELD_MAGIC:
		value ^= UINT64_C(1) << choices_below(c, width);
		break;
	case FIELD_SIZE:
	case FIELD_COUNT:
	case FIELD_OFFSET:
	case FIELD_REFERENCE:
	case FIELD_ID:
	case FIELD_VALUE:
	case FIELD_TEXT:
	case FIELD_CHECKSUM:
	case FIELD_KINDS:
	default:
		value = boundary(c, width, value);
		break;
	}
	outline_set(o, field, value);
}

/* Texts that are known to break readers. */
static void text_new(struct choices *c, struct bytes *text)
{
	static const char *const words[] = { "",
					     "%n%s%s%s",
					     "../../../../etc/passwd",
					     "\xff\xfe\x80",
					     "\xed\xa0\x80",
					     "\n",
					     "\"",
					     "\x1b[31m",
					     "0",
					     "-1",
					     "4294967296",
					     "\t",
					     " ",
					     "18446744073709551616",
					     "0x",
					     "[",
					     "{",
					     "(",
					     ":",
					     "=",
					     ";",
					     ",",
					     "@",
					     "<",
					     "a b",
					     "NaN" };
	switch (choices_below(c, 4)) {
	case 0:
		bytes_text(text, words[choices_below(c, sizeof(words) / sizeof(words[0]))]);
		break;
	case 1: {
		size_t length = (size_t)choices_number(c) % TEXT_LONG_MAX;
		uint8_t *p = bytes_grow(text, length);
		if (p)
			memset(p, (int)('A' + choices_below(c, 26)), length);
		break;
	}
	case 2:
		for (uint64_t n = 1 + choices_below(c, 24); n; n--)
			bytes_u8(text, (uint8_t)choices_below(c, 256));
		break;
	default:
		for (uint64_t n = 1 + choices_below(c, 12); n; n--)
			bytes_u8(text, (uint8_t)('a' + choices_below(c, 26)));
		break;
	}
}

/* Other bytes of the same length. */
static void bytes_edit(struct choices *c, struct bytes *text)
{
	for (uint64_t n = 1 + choices_below(c, 4); n && text->size; n--) {
		uint8_t *p = &text->data[choices_below(c, text->size)];
		if (choices_chance(c, 1, 2))
			*p = (uint8_t)choices_below(c, 256);
		else
			*p = (uint8_t)(*p ^ 1u << choices_below(c, 8));
	}
}

static void text_edit(struct outline *o, uint32_t field, struct choices *c)
{
	const struct part *f = &o->parts[field];
	const uint8_t *old = outline_bytes(o, field);
	struct bytes text = { 0 };

	if (!(f->flags & PART_FIXED) && f->field == FIELD_TEXT && choices_chance(c, 2, 3)) {
		uint64_t keep = choices_chance(c, 1, 2) ? choices_below(c, (uint64_t)f->length + 1) : 0;
		if (old)
			bytes_append(&text, old, (size_t)keep);
		text_new(c, &text);
	} else if (old) {
		bytes_append(&text, old, f->length);
		bytes_edit(c, &text);
	}
	if (!text.failed)
		outline_replace(o, field, text.data, text.size);
	bytes_free(&text);
}

/* Chooses among a few fields the one with the rarest name, since otherwise the fields of every record would nearly always be
 * chosen. Magic numbers and tags, which decide whether a reader goes on, and words of text, which are many, count as common. */
static uint32_t pick_field(const struct outline *o, struct choices *c)
{
	uint32_t fields[SAMPLE], pick = OUTLINE_NONE;
	unsigned fewest = UINT32_MAX;

	for (unsigned i = 0; i < SAMPLE; i++) {
		fields[i] = mutate_pick(o, c, is_free);
		if (fields[i] == OUTLINE_NONE)
			return OUTLINE_NONE;
	}
	for (unsigned i = 0; i < SAMPLE; i++) {
		const struct part *f = &o->parts[fields[i]];
		bool word = f->coding != CODING_BINARY || !strcmp(f->name, "word");
		unsigned count = f->field == FIELD_MAGIC || f->field == FIELD_TAG || f->field == FIELD_CHECKSUM || word ? SAMPLE / 2
															: 0;
		for (unsigned k = 0; k < SAMPLE; k++)
			count += !strcmp(o->parts[fields[k]].name, f->name);
		if (count < fewest) {
			fewest = count;
			pick = fields[i];
		}
	}
	return pick;
}

const char *mutate_edit(struct outline *o, struct choices *c)
{
	uint32_t field = pick_field(o, c);
	if (field == OUTLINE_NONE)
		return NULL;
	if (outline_is_number(&o->parts[field]))
		number_edit(o, field, c);
	else
		text_edit(o, field, c);
	return o->parts[field].name;
}

const char *mutate_fault(struct outline *o, struct choices *c)
{
	uint32_t field = mutate_pick(o, c, is_measure);
	if (field == OUTLINE_NONE)
		return NULL;
	outline_set(o, field, boundary(c, field_width(&o->parts[field]), outline_value(o, field)));
	return o->parts[field].name;
}
