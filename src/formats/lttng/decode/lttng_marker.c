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
static void parse_field(const struct lttng_coding *coding, const char **p, struct lttng_format_field *f)
{
	struct conversion wire = { 0 }, c;
	bool typed = false, compact = false;

	f->flaws |= FORMAT_BAD;
	if (**p == '#') {
		(*p)++;
		for (; **p == 'n' || **p == 'b'; (*p)++)
			compact |= **p == 'b';
		if (**p != '%') {
			typed = true;
			if (!parse_conversion(p, true, &wire))
				return;
		}
		if (**p != '%')
			return;
	}
	(*p)++;
	while (**p && strchr("-+ #0", **p))
		(*p)++;
	if (!parse_conversion(p, false, &c))
		return;
	f->flaws &= ~(unsigned)FORMAT_BAD;
	f->letter = c.letter;
	/* Compact data of 1.0 is in the event word. */
	f->elsewhere = compact && coding->layout->era == LTTNG_MARKERS;
	if (f->elsewhere)
		return;
	/* A C string is one whatever is said of the wire. */
	uint32_t size = conversion_size(&coding->sizes, typed && c.letter != 's' ? &wire : &c);
	if (typed && wire.qualifier == '8' && c.letter != 's' && conversion_size(&coding->sizes, &c) != 8)
		f->flaws |= FORMAT_EIGHT;
	f->step = (struct lttng_step){
		.kind = size ? STEP_FIXED : STEP_STRING, .align = lttng_value_align(coding, size), .pad = 1, .size = size
	};
}

bool lttng_format_next(const struct lttng_coding *c, const char **at, struct lttng_format_field *f)
{
	/* The name: a word that ends with a blank before the mark. */
	const char *word = *at + strspn(*at, " \t"), *p = *at;

	while (*p && ((*p != '#' && *p != '%') || p[1] == p[0]))
		p += *p == '#' || *p == '%' ? 2 : 1;
	*at = p;
	if (!*p)
		return false;
	*f = (struct lttng_format_field){ .name = word, .mark = p, .name_length = word < p ? (size_t)(p - word) : 0 };
	if (!f->name_length || !memchr(word, ' ', f->name_length))
		f->flaws |= FORMAT_UNNAMED;
	while (f->name_length && (word[f->name_length - 1] == ' ' || word[f->name_length - 1] == '\t'))
		f->name_length--;
	/* Other text may stand in front of it. */
	for (size_t i = f->name_length; i && f->name == word; i--)
		if (word[i - 1] == ' ' || word[i - 1] == '\t')
			f->name = word + i;
	f->name_length -= (size_t)(f->name - word);
	parse_field(c, at, f);
	return true;
}

bool lttng_format_parse(const struct lttng_coding *c, struct lttng_budget *b, const char *format, struct lttng_shape *shape,
			unsigned *flaws, size_t *at)
{
	const char *p = format;
	struct lttng_format_field f;
	unsigned fields = 0;

	*flaws = 0;
	*shape = (struct lttng_shape){ 0 };
	while (lttng_format_next(c, &p, &f)) {
		*at = (size_t)(f.mark - format);
		*flaws |= f.flaws;
		if (++fields > LTTNG_FIELDS_MAX)
			*flaws |= FORMAT_BAD;
		if (*flaws & FORMAT_BAD) {
			shape->known = false;
			return true;
		}
		if (!f.elsewhere && !lttng_shape_add(b, shape, f.step))
			return false;
	}
	lttng_shape_finish(shape);
	return true;
}
