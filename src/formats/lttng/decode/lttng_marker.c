/* Event types: their table, and the format strings that describe them. */
#include "formats/lttng/lttng.h"

#include <stdlib.h>

/* ---- the table ---- */

struct lttng_marker *lttng_table_get(const struct lttng_table *table, uint32_t id)
{
	struct lttng_marker **page = table ? table->pages[id >> 8 & 0xff] : NULL;
	return page && id <= 0xffff ? page[id & 0xff] : NULL;
}

struct lttng_marker *lttng_table_make(struct lttng_trace *t, struct lttng_table *table, uint32_t id)
{
	struct lttng_marker *m = lttng_table_get(table, id);
	if (m)
		return m;
	struct lttng_marker ***page = &table->pages[id >> 8 & 0xff];
	if (!*page)
		*page = lttng_table_alloc(t, 256 * sizeof(struct lttng_marker *));
	m = *page ? lttng_table_alloc(t, sizeof(*m)) : NULL;
	if (!m)
		return NULL;
	m->id = id;
	(*page)[id & 0xff] = m;
	if (id > table->highest)
		table->highest = id;
	return m;
}

/* ---- shapes ---- */

uint8_t lttng_value_align(const struct lttng_trace *t, uint32_t size)
{
	if (!t->alignment || size <= 1)
		return 1;
	if (t->layout->natural)
		return (uint8_t)(size > 8 ? 8 : size);
	return (uint8_t)(size < t->alignment ? size : t->alignment);
}

bool lttng_shape_add(struct lttng_trace *t, struct lttng_shape *shape, struct lttng_step step)
{
	struct lttng_step *last = shape->count ? &shape->steps[shape->count - 1] : NULL;
	if (step.align > shape->align)
		shape->align = step.align;
	if (last && last->kind == STEP_FIXED && step.kind == STEP_FIXED && step.size <= UINT32_MAX - last->size &&
	    (step.align == 1 || (step.align <= last->align && last->size % step.align == 0))) {
		last->size += step.size;
		return true;
	}
	if (!(shape->count & (shape->count - 1))) {
		/* Doubled at each power of two; the table's budget counts it. */
		size_t capacity = shape->count ? 2u * shape->count : 1u;
		struct lttng_step *steps = lttng_table_alloc(t, capacity * sizeof(*steps));
		if (!steps)
			return false;
		if (shape->count)
			memcpy(steps, shape->steps, shape->count * sizeof(*steps));
		free(shape->steps);
		shape->steps = steps;
	}
	shape->steps[shape->count++] = step;
	return true;
}

void lttng_shape_finish(struct lttng_shape *shape)
{
	uint64_t size = 0;
	shape->known = true;
	shape->is_fixed = true;
	if (!shape->align)
		shape->align = 1;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct lttng_step *s = &shape->steps[i];
		if (s->kind != STEP_FIXED)
			shape->is_fixed = false;
		size = lttng_align(size, s->align) + s->size;
	}
	if (size > UINT32_MAX)
		shape->is_fixed = false;
	shape->fixed = shape->is_fixed ? (uint32_t)size : 0;
}

/* ---- format strings ---- */

struct conversion {
	char letter, qualifier; /* qualifier 'q' is ll */
};

static bool is_conversion(char c)
{
	return c && strchr("cspdiouxX", c) != NULL;
}

/* [qualifier] letter; the position moves behind it. */
static bool parse_conversion(const char **p, bool trace_type, struct conversion *c)
{
	*c = (struct conversion){ 0 };
	if (**p == 'l' && (*p)[1] == 'l') {
		c->qualifier = 'q';
		*p += 2;
	} else if (**p && strchr(trace_type ? "hlLZzt1248" : "hlLZzt", **p)) {
		c->qualifier = *(*p)++;
	} else if (**p == 'S') {
		(*p)++;
	}
	/* Tracers leave the letter out where the size says all: "#1%d". */
	if (trace_type && c->qualifier && **p == '%')
		return true;
	if (!is_conversion(**p))
		return false;
	c->letter = *(*p)++;
	return true;
}

/* Bytes of a value; 0: a string. */
static uint32_t conversion_size(const struct lttng_trace *t, const struct conversion *c)
{
	switch (c->letter) {
	case 's':
		return 0;
	case 'c':
		return 1;
	case 'p':
		return t->sizes.v[SIZE_POINTER];
	default:
		break;
	}
	switch (c->qualifier) {
	case 'h':
	case '2':
		return 2;
	case '1':
		return 1;
	case '4':
		return 4;
	case '8':
	case 'q':
	case 'L':
		return 8;
	case 'l':
		return t->sizes.v[SIZE_LONG];
	case 'z':
	case 'Z':
		return t->sizes.v[SIZE_SIZE_T];
	case 't':
		return t->sizes.v[SIZE_POINTER];
	default:
		return t->sizes.v[SIZE_INT];
	}
}

/* One field: '#' type '%' type, or '%' type; *p is at the mark. */
static bool parse_field(struct lttng_trace *t, const char **p, struct lttng_shape *shape, unsigned *flaws, bool *bad)
{
	struct conversion wire = { 0 }, c;
	bool typed = false, compact = false;

	if (**p == '#') {
		(*p)++;
		for (; **p == 'n' || **p == 'b'; (*p)++)
			compact |= **p == 'b';
		if (**p != '%') {
			typed = true;
			if (!parse_conversion(p, true, &wire)) {
				*bad = true;
				return true;
			}
		}
		if (**p != '%') {
			*bad = true;
			return true;
		}
	}
	(*p)++;
	while (**p && strchr("-+ #0", **p))
		(*p)++;
	if (!parse_conversion(p, false, &c)) {
		*bad = true;
		return true;
	}
	/* Compact data of 1.0 is in the event word. */
	if (compact && t->layout->era == LTTNG_MARKERS)
		return true;
	/* A C string is one whatever is said of the wire. */
	uint32_t size = conversion_size(t, typed && c.letter != 's' ? &wire : &c);
	if (typed && wire.qualifier == '8' && c.letter != 's' && conversion_size(t, &c) != 8)
		*flaws |= FORMAT_EIGHT;
	struct lttng_step step = {
		.kind = size ? STEP_FIXED : STEP_STRING, .align = lttng_value_align(t, size), .pad = 1, .size = size
	};
	return lttng_shape_add(t, shape, step);
}

bool lttng_format_parse(struct lttng_trace *t, const char *format, struct lttng_shape *shape, unsigned *flaws, size_t *at)
{
	const char *p = format, *from = format; /* from: behind the last conversion */
	unsigned fields = 0;

	*flaws = 0;
	*shape = (struct lttng_shape){ 0 };
	while (*p) {
		if ((p[0] == '#' || p[0] == '%') && p[1] == p[0]) {
			p += 2;
			continue;
		}
		if (*p != '#' && *p != '%') {
			p++;
			continue;
		}
		/* The name: a word that ends with a blank before the mark. */
		const char *word = from;
		while (word < p && (*word == ' ' || *word == '\t'))
			word++;
		if (word == p || !memchr(word, ' ', (size_t)(p - word)))
			*flaws |= FORMAT_UNNAMED;
		*at = (size_t)(p - format);
		bool bad = ++fields > LTTNG_FIELDS_MAX;
		if (!bad && !parse_field(t, &p, shape, flaws, &bad))
			return false;
		if (bad) {
			*flaws |= FORMAT_BAD;
			shape->known = false;
			return true;
		}
		from = p;
	}
	lttng_shape_finish(shape);
	return true;
}
