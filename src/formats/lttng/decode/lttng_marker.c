/* Format strings, which describe the payloads of markers. */
#include "formats/lttng/decode/lttng_type.h"

#include <stdlib.h>

/* ---- conversions ---- */

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
static uint32_t conversion_size(const struct lttng_sizes *sizes, const struct conversion *c)
{
	switch (c->letter) {
	case 's':
		return 0;
	case 'c':
		return 1;
	case 'p':
		return sizes->v[SIZE_POINTER];
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
		return sizes->v[SIZE_LONG];
	case 'z':
	case 'Z':
		return sizes->v[SIZE_SIZE_T];
	case 't':
		return sizes->v[SIZE_POINTER];
	default:
		return sizes->v[SIZE_INT];
	}
}

/* One field: '#' type '%' type, or '%' type; *p is at the mark. */
static bool parse_field(const struct lttng_coding *coding, struct lttng_budget *b, const char **p, struct lttng_shape *shape,
			unsigned *flaws, bool *bad)
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
	if (compact && coding->layout->era == LTTNG_MARKERS)
		return true;
	/* A C string is one whatever is said of the wire. */
	uint32_t size = conversion_size(&coding->sizes, typed && c.letter != 's' ? &wire : &c);
	if (typed && wire.qualifier == '8' && c.letter != 's' && conversion_size(&coding->sizes, &c) != 8)
		*flaws |= FORMAT_EIGHT;
	struct lttng_step step = {
		.kind = size ? STEP_FIXED : STEP_STRING, .align = lttng_value_align(coding, size), .pad = 1, .size = size
	};
	return lttng_shape_add(b, shape, step);
}

bool lttng_format_parse(const struct lttng_coding *c, struct lttng_budget *b, const char *format, struct lttng_shape *shape,
			unsigned *flaws, size_t *at)
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
		if (!bad && !parse_field(c, b, &p, shape, flaws, &bad))
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
